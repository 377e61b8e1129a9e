#!/usr/bin/env python3
"""test_bounces_forged.py - forged, foreign and repeated reports have no effect.

Reports reach a running paperboyd by LMTP, by a Maildir and through a Postfix.  "No
effect" compares all tables but the inbox.  PAPERBOY_LONG=1: floods of 10,000 reports.
"""

import collections
import contextlib
import os
import re
import smtplib
import socket

import lib  # the path
from clock import DAY
from conversations import HOME, PARSER
from daemon import Instance, at_hour, days_after, parse
from mime_bombs import BOMBS
from peers import Ca, Postfix
from smtp_fixture import Relay
from tap import IS_LONG, Tap, free_port, read, save

FLOOD = 10000 if IS_LONG else 200
REPLAYS = 1000
GROWTH_KIB = 64 * 1024
OUR_MX = "mx.news.example"
EVA, BOB, ANN, ZOE = (f"{name}@example.org" for name in ("eva", "bob", "ann", "zoe"))
UNCHANGED = ("bounce", "bounce_probe", "subscriber", "suppression", "confirmation",
             "outbox", "digest", "delivered", "domain_pause", "audit_log")
FEEDBACK = HOME.replace("@", "+fbl@")

# A digest as its relay received it: envelope sender, and the header.
Sent = collections.namedtuple("Sent", "verp reply unsubscribe message_id header")


# ---- reports ----------------------------------------------------------------


def report(number, address, envelope_id="", returned="", code="550 5.1.1",
           text="User unknown"):
    """A delivery report (RFC 3464)."""
    status = code.split()[1]
    envelope = f"Original-Envelope-Id: {envelope_id}\n" if envelope_id else ""
    return f"""\
From: Mail Delivery System <MAILER-DAEMON@mx.example.org>
To: {HOME}
Subject: Undelivered Mail Returned to Sender
Message-ID: <{number}@mx.example.org>
Auto-Submitted: auto-replied
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary="b"

--b
Content-Type: text/plain

<{address}>: host mx.example.org said: {code} {text} (in reply to RCPT TO)

--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.example.org
{envelope}
Final-Recipient: rfc822; {address}
Action: failed
Status: {status}
Diagnostic-Code: smtp; {code} {text}

--b
Content-Type: text/rfc822-headers

{returned}
--b--
""".encode()


def complaint(number, returned="", results="", fields=""):
    """A feedback report (RFC 5965)."""
    return f"""\
{results}From: feedback@provider.example
To: {FEEDBACK}
Subject: complaint
Message-ID: <{number}@provider.example>
MIME-Version: 1.0
Content-Type: multipart/report; report-type=feedback-report; boundary="b"

--b
Content-Type: text/plain

This is an email abuse report.

--b
Content-Type: message/feedback-report

Feedback-Type: abuse
User-Agent: Feedback/1.0
Version: 1
{fields}
--b
Content-Type: message/rfc822

{returned}

the text of the message
--b--
""".encode()


def refusal_of(number, text, returned):
    """A refusal in plain text, with the returned message attached."""
    return f"""\
From: MAILER-DAEMON@mx.example.org
To: {FEEDBACK}
Subject: Undelivered Mail Returned to Sender
Message-ID: <{number}@mx.example.org>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="b"

--b
Content-Type: text/plain

The message could not be delivered: host mx.example.org said: {text} (in reply to RCPT TO)

--b
Content-Type: message/rfc822

{returned}

--b--
""".encode()


def results_of(server, domain, result="pass"):
    return f"Authentication-Results: {server}; dkim={result} header.d={domain}\n"


# ---- fixture ----------------------------------------------------------------


class Box:
    """A running paperboyd that has sent a digest to each subscriber."""

    def __init__(self, tap, name, people=(EVA, BOB, ANN, ZOE), **settings):
        directory = tap.subdirectory(name)
        self.inbox = os.path.join(directory, "inbox")
        for part in ("new", "cur", "tmp"):
            os.makedirs(os.path.join(self.inbox, part))
        self.socket = os.path.join(directory, "lmtp")
        self.relay = tap.enter(Relay())
        home = os.path.join(directory, "home")
        os.makedirs(home)
        self.instance = Instance(
            home, port=self.relay.port, smtp__connections=1, commands__address=HOME,
            commands__authserv_id=OUR_MX, receive__parser=PARSER,
            receive__lmtp_socket=self.socket, receive__maildir=self.inbox,
            receive__recipient_header="Delivered-To", **settings)
        self.instance.write_day(DAY, [1])
        self.people = people
        if len(people) > 100:
            self.instance.add_people(len(people), now=at_hour(DAY, 6))
        else:
            for address in people:
                self.instance.add_person(address, now=at_hour(DAY, 6))
        self.count = 0  # reports

    def start(self):
        self.daemon = self.instance.start()
        self.daemon.wait_fact(self.is_open, "the LMTP socket")

    def is_open(self):
        with socket.socket(socket.AF_UNIX) as client:
            return client.connect_ex(self.socket) == 0

    def __enter__(self):
        self.start()
        self.daemon.wait_fact(lambda: self.relay.recipients() == sorted(self.people),
                              "the digests")
        self.daemon.wait_fact(lambda: self.instance.states() == {"SENT": len(self.people)},
                              "all sent")
        self.sent = self.read_sent()
        return self

    def __exit__(self, *_):
        self.daemon.stop()

    def read_sent(self):
        """{address: Sent} of the digests that the relay received."""
        senders, sender = {}, None
        for _, line in self.relay.commands:
            address = line.partition("<")[2].partition(">")[0]
            if line.startswith("MAIL"):
                sender = address
            elif line.startswith("RCPT"):
                senders[address] = sender
        found = {}
        for address, raw in self.relay.accepted():
            mail = parse(raw)
            if not mail["List-Id"]:
                continue
            found[address] = Sent(
                senders[address], mail["Reply-To"],
                mail["List-Unsubscribe"].removeprefix("<mailto:").removesuffix(">"),
                mail["Message-ID"],
                raw.partition(b"\r\n\r\n")[0].decode().replace("\r\n", "\n"))
        return found

    def number(self):
        self.count += 1
        return f"{self.count}.report"

    def deliver(self, recipient, *raws):
        """By LMTP, in one session, with the null sender."""
        with smtplib.LMTP(self.socket) as lmtp:
            for raw in raws:
                lmtp.sendmail("", [recipient], raw)

    def drop(self, recipient, raw):
        """Into the Maildir, as a delivery agent."""
        name = f"{1000000000 + self.count}.M{self.count}P1.mail"
        path = os.path.join(self.inbox, "tmp", name)
        save(path, f"Return-Path: <>\nDelivered-To: {recipient}\n".encode() + raw)
        os.rename(path, os.path.join(self.inbox, "new", name))

    def wait_done(self, count, deadline_s=120):
        """Wait until so many messages are processed, and none is left."""
        sql = ("SELECT sum(state = 'done') >= ? AND sum(state = 'new') = 0 FROM inbox")
        self.daemon.wait_fact(lambda: self.instance.value(sql, count),
                              f"{count} messages processed", deadline_s)

    def done(self):
        return self.instance.value("SELECT count(*) FROM inbox WHERE state = 'done'")

    def process(self, recipient, *raws):
        """Deliver messages and wait until they are processed. @return their verdicts"""
        before = self.done()
        self.deliver(recipient, *raws)
        self.wait_done(before + len(raws))
        return [verdict for (verdict,) in self.instance.rows(
            "SELECT verdict FROM inbox ORDER BY id DESC LIMIT ?", len(raws))]

    def snapshot(self):
        return {table: self.instance.rows(f"SELECT * FROM {table}") for table in UNCHANGED}

    @contextlib.contextmanager
    def unchanged(self, what):
        before = self.snapshot()
        yield
        after = self.snapshot()
        for table in UNCHANGED:
            assert after[table] == before[table], (what, table, before[table], after[table])

    def evidence(self, address):
        return self.instance.rows(
            "SELECT class, message FROM bounce JOIN subscriber s ON s.id = subscriber_id"
            " WHERE address = ?", address)

    def state(self, address):
        return self.instance.value("SELECT state FROM subscriber WHERE address = ?", address)

    def suppressed(self):
        return self.instance.value("SELECT count(*) FROM suppression")


class PostfixBox(Box):
    """The same; all mail goes through a Postfix, which delivers by LMTP."""

    def __init__(self, tap, name, people):
        self.port = free_port()
        super().__init__(tap, name, people, receive__lmtp_listen=f"127.0.0.1:{self.port}")
        directory = tap.subdirectory(f"{name}-postfix")
        for part in ("ca", "server"):
            os.makedirs(os.path.join(directory, part))
            os.chmod(os.path.join(directory, part), 0o755)
        os.chmod(directory, 0o755)
        home = HOME.rpartition("@")[2]
        self.server = tap.enter(Postfix(
            os.path.join(directory, "server"), Ca(os.path.join(directory, "ca")),
            settings={
                "transport_maps": "inline:{"
                f"{{example.org = smtp:[127.0.0.1]:{self.relay.port}}}, "
                f"{{{home} = lmtp:inet:127.0.0.1:{self.port}}}}}",
                "relay_domains": f"example.org {home}", "virtual_mailbox_domains": "",
                # One session after the other: read_sent() pairs senders and recipients.
                "smtp_destination_concurrency_limit": "1",
            }))
        self.instance.set(smtp__port=self.server.port)

    def deliver(self, recipient, *raws, sender="feedback@provider.example"):
        with smtplib.SMTP("127.0.0.1", self.server.port) as smtp:
            for raw in raws:
                smtp.sendmail(sender, [recipient], raw)

    def write(self, sender, recipient, subject, text=""):
        """Mail of a person. @return the next mail to that person"""
        seen = len(self.mails(sender))
        before = self.done()
        self.deliver(recipient, (
            f"From: {sender}\nTo: {recipient}\nSubject: {subject}\n"
            f"Message-ID: <{self.number()}@example.org>\n\n{text}\n").encode(),
            sender=sender)
        self.wait_done(before + 1)
        return self.next_mail(sender, seen)

    def mails(self, address):
        return [parse(raw) for to, raw in self.relay.accepted() if to == address]

    def next_mail(self, address, seen):
        self.daemon.wait_fact(lambda: len(self.mails(address)) > seen, f"mail to {address}")
        return self.mails(address)[seen]


def token_of(address):
    """The token of one of our addresses."""
    return re.search(r"\+[a-z]+-([a-z2-7]+)@", address)[1]


def verp(token):
    return HOME.replace("@", f"+b-{token}@")


def flip(text, index):
    """Another base32 digit at an index."""
    return text[:index] + ("b" if text[index] == "a" else "a") + text[index + 1:]


def memory(pid, name="VmHWM"):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int(re.search(rf"^{name}:\s+(\d+) kB", file.read(), re.M)[1])


def is_sanitized(box):
    return b"__asan_init" in read(box.instance.daemon)


# ---- tokens -----------------------------------------------------------------


def only_a_valid_token_has_an_effect(tap):
    """reports to forged, foreign and other tokens change nothing, a valid one counts"""
    with Box(tap, "foreign", people=(EVA,)) as foreign:
        foreign_sent = foreign.sent[EVA]
    with Box(tap, "tokens") as box:
        eva = box.sent[EVA]
        token = token_of(eva.verp)
        box.relay.forget()
        with smtplib.LMTP(box.socket) as lmtp:  # a request for a confirmation
            lmtp.sendmail("x@example.org", [HOME.replace("@", "+subscribe@")],
                          b"From: x@example.org\nMessage-ID: <x@example.org>\n\nadd paper\n")
        box.daemon.wait_fact(box.relay.accepted, "the confirmation request")
        confirm = token_of(parse(box.relay.accepted()[0][1])["Reply-To"])
        box.wait_done(1)
        box.daemon.wait_fact(lambda: box.instance.states() == {"SENT": 5}, "all sent")
        tokens = {
            "none": "", "no MAC": token[17:], "wrong MAC": flip(token, 5),
            "last character of the MAC": flip(token, 16), "wrong key": flip(token, 0),
            "another id": token[:17] + flip(token[17:], 0),
            "of a reply": token_of(eva.reply), "to unsubscribe": token_of(eva.unsubscribe),
            "to confirm": confirm, "Message-ID": eva.message_id[8:25],
            "foreign": token_of(foreign_sent.verp), "long": token + "a" * 12,
        }
        for name, other in tokens.items():
            for text in (report(box.number(), EVA, returned=eva.header),
                         report(box.number(), EVA, envelope_id=f"digest-1.{other}")):
                with box.unchanged(name):
                    before = box.done()
                    try:
                        box.deliver(verp(other), text)
                    except smtplib.SMTPRecipientsRefused:
                        continue  # an unknown subaddress
                    box.wait_done(before + 1)
        # A valid token, but not that of an envelope sender.
        for name, recipient in {
            "the address for commands": HOME, "a reply address": eva.reply,
            "the address for feedback": FEEDBACK,
        }.items():
            with box.unchanged(name):
                box.process(recipient, report(box.number(), EVA, returned=eva.header))
        for name, text in {
            "not a report": b"From: x@example.org\nMessage-ID: <n@x>\n\nuser unknown\n",
            "delivered": report(box.number(), EVA).replace(b"Action: failed",
                                                           b"Action: delivered"),
            "delayed": report(box.number(), EVA).replace(b"Action: failed",
                                                         b"Action: delayed"),
        }.items():
            with box.unchanged(name):
                box.process(eva.verp, text)
        # Some servers change the case of the local part.
        local, _, domain = eva.verp.partition("@")
        box.process(f"{local.upper()}@{domain}", report(box.number(), EVA))
        assert box.evidence(EVA) == [("dead", "digest-1")], box.evidence(EVA)
        # LMTP has the null sender in the envelope only.
        box.process(box.sent[BOB].verp, (
            "From: Postbox <postbox@mx.example.org>\nMessage-ID: <null@mx.example.org>\n\n"
            f"Delivery failed:\n\n<{BOB}>: 550 5.1.1 user unknown\n").encode())
        assert box.evidence(BOB) == [("dead", "digest-2")], box.evidence(BOB)
        box.instance.check_store()


def a_repeated_report_counts_once(tap):
    """the same report counts once, a thousand times or by two receivers"""
    with Box(tap, "replayed") as box:
        before = box.done()
        box.deliver(box.sent[EVA].verp, *(
            report(box.number(), EVA) for _ in range(REPLAYS)))
        box.wait_done(before + REPLAYS)
        assert box.evidence(EVA) == [("dead", "digest-1")], box.evidence(EVA)
        # Another class does not replace it.
        box.process(box.sent[EVA].verp, report(box.number(), EVA, code="552 5.2.2",
                                               text="mailbox full"))
        assert box.evidence(EVA) == [("dead", "digest-1")], box.evidence(EVA)
        before = box.done()
        raw = report(box.number(), BOB)
        box.drop(box.sent[BOB].verp, raw)
        box.deliver(box.sent[BOB].verp, raw)
        box.daemon.wait_fact(lambda: not os.listdir(os.path.join(box.inbox, "new")),
                             "an empty Maildir")
        box.wait_done(before + 1)
        assert len(box.evidence(BOB)) == 1, box.evidence(BOB)
        assert box.done() == before + 1, "a copy was processed"
        assert box.instance.value("SELECT count(*) FROM bounce") == 2


def reports_about_former_addresses_have_no_effect(tap):
    """a report about a former address, or an erased subscriber, has no effect"""
    with Box(tap, "former") as box:
        eva, bob = box.sent[EVA], box.sent[BOB]
        # Times have a resolution of one second.
        box.daemon.stop()
        box.instance.clock.set(at_hour(DAY, 14))
        box.start()
        box.relay.forget()
        new = "eva@new.example"
        with smtplib.LMTP(box.socket) as lmtp:
            lmtp.sendmail(EVA, [eva.reply], (
                f"From: {EVA}\nTo: {eva.reply}\nSubject: address {new}\n"
                "Message-ID: <move@example.org>\n\n\n").encode())
        for address in (EVA, new):  # confirmed at both
            box.daemon.wait_fact(
                lambda address=address: any(
                    "+c-" in (parse(raw)["Reply-To"] or "")
                    for to, raw in box.relay.accepted() if to == address),
                f"the confirmation request to {address}")
            (mail,) = [parse(raw) for to, raw in box.relay.accepted() if to == address
                       and "+c-" in (parse(raw)["Reply-To"] or "")]
            with smtplib.LMTP(box.socket) as lmtp:
                lmtp.sendmail(address, [mail["Reply-To"]], (
                    f"From: {address}\nTo: {mail['Reply-To']}\nSubject: Re: yes\n"
                    f"Message-ID: <{address}.yes>\n\nyes\n").encode())
        box.daemon.wait_fact(lambda: box.instance.value(
            "SELECT count(*) FROM subscriber WHERE address = ?", new), "the new address")
        box.wait_done(3)
        box.daemon.wait_fact(lambda: set(box.instance.states()) == {"SENT"}, "all sent")
        with box.unchanged("a bounce from a former address"):
            box.process(eva.verp, report(box.number(), EVA))
        with box.unchanged("a complaint from a former address"):
            box.process(eva.verp, complaint(box.number()))
            box.process(FEEDBACK, complaint(
                box.number(), returned=f"Message-ID: {eva.message_id}"))
            box.process(FEEDBACK, complaint(box.number(), returned=eva.header))
        box.instance.ctl("subscriber", "forget", BOB, "--yes")
        with box.unchanged("an erased subscriber"):
            box.process(bob.verp, report(box.number(), BOB))
            box.process(FEEDBACK, complaint(box.number(), returned=bob.header))
        box.instance.check_store()


# ---- complaints -------------------------------------------------------------


def unproven_complaints_have_no_effect(tap):
    """a complaint counts with our envelope sender, or with DKIM of a known loop"""
    known, other = "arf.mail.yahoo.com", "attacker.example"
    with Box(tap, "complaints") as box:
        eva = box.sent[EVA]
        former = f"Original-Rcpt-To: {EVA}\n"
        forged = f"Message-ID: {flip(eva.message_id, 10)}"
        # A public reply to a digest discloses these.
        public = f"Message-ID: {eva.message_id}\nReply-To: {eva.reply}"
        without = {
            "no message": ("", "", former),
            "a forged Message-ID": (forged, "", former),
            "a forged envelope sender":
                (f"Return-Path: <{flip(eva.verp, 15)}>", "", former),
            "a known loop without a token": ("", results_of(OUR_MX, known), former),
            "our Message-ID and Reply-To": (public, "", ""),
            "an unknown signer": (public, results_of(OUR_MX, other), ""),
            "an unknown signer, like a known one":
                (public, results_of(OUR_MX, known + "." + other), ""),
            "a failed signature": (public, results_of(OUR_MX, known, "fail"), ""),
            "a user of a provider that has a loop":
                (public, results_of(OUR_MX, "outlook.com"), ""),
            "another authserv-id": (public, results_of("mx.attacker.example", known), ""),
            "ours below another one": (public, results_of(
                "mx.attacker.example", other) + results_of(OUR_MX, known), ""),
        }
        for name, rest in without.items():
            with box.unchanged(name):
                box.process(FEEDBACK, complaint(box.number(), *rest))
        # Other reports that quote a digest, whose tokens are not those of a bounce.
        for text in ("550 5.7.1 bad reputation", "550 5.1.1 user unknown"):
            with box.unchanged(text):
                box.process(FEEDBACK, refusal_of(box.number(), text, eva.header))
        with box.unchanged("a failure of authentication"):
            box.process(FEEDBACK, complaint(box.number(), eva.header).replace(
                b"Type: abuse", b"Type: auth-failure"))
        # A complaint counts after a bounce of the same digest, too.
        box.process(box.sent[BOB].verp, report(box.number(), BOB, code="452 4.2.2",
                                               text="mailbox full"))
        assert box.evidence(BOB) == [("full", "digest-2")], box.evidence(BOB)
        proven = {
            EVA: (eva.verp, "", "", former),
            BOB: (FEEDBACK, f"Message-ID: {box.sent[BOB].message_id}",
                  results_of(OUR_MX, known), ""),
            ANN: (FEEDBACK, "", "", f"Original-Mail-From: <{box.sent[ANN].verp}>\n"),
            ZOE: (FEEDBACK, f"List-Unsubscribe: <mailto:{box.sent[ZOE].unsubscribe}>",
                  results_of(OUR_MX, known.upper()), ""),
        }
        for number, (address, (recipient, *rest)) in enumerate(proven.items(), 1):
            verdicts = box.process(recipient, complaint(box.number(), *rest))
            assert box.state(address) == "gone", (address, verdicts)
            assert box.suppressed() == number, (address, verdicts)
        # The operator cannot add a suppressed address.
        box.instance.ctl("subscriber", "add", EVA, "--consent", "x", wanted=65)
        with box.unchanged("a repeated complaint"):
            for recipient, *rest in proven.values():
                box.process(recipient, complaint(box.number(), *rest))
        with box.unchanged("the link to unsubscribe, after a complaint"):
            box.process(eva.unsubscribe, b"From: x@example.org\nMessage-ID: <u@x>\n\n")
        box.instance.ctl("suppression", "remove", ZOE, "--yes")
        box.instance.clock.advance()
        box.instance.add_person(ZOE)
        box.daemon.stop()
        box.relay.forget()
        box.instance.clock.set(at_hour(days_after(DAY, 1)))
        box.instance.write_day(days_after(DAY, 1), [2])
        box.start()
        # The row of an earlier complaint does not hide another one.
        box.daemon.wait_fact(lambda: box.relay.recipients() == [ZOE], "another digest")
        unsubscribe = box.read_sent()[ZOE].unsubscribe
        box.process(FEEDBACK, complaint(
            box.number(), f"List-Unsubscribe: <mailto:{unsubscribe}>",
            results_of(OUR_MX, known)))
        assert box.state(ZOE) == "gone"
        box.instance.check_store()


def text_of(mail):
    return mail.get_body(("plain",)).get_content()


def forged_complaints_through_postfix_can_be_undone(tap):
    """a forged complaint about a forwarded digest is an unsubscription, with notice and undo"""
    with PostfixBox(tap, "forwarded", (EVA, BOB)) as box:
        eva, bob = box.sent[EVA], box.sent[BOB]
        with box.unchanged("a public reply"):
            box.process(FEEDBACK, complaint(
                box.number(), f"Reply-To: {eva.reply}\nMessage-ID: {eva.message_id}"))
        box.process(FEEDBACK, complaint(box.number(), f"X-Footer: {eva.unsubscribe}"))
        notice = text_of(box.next_mail(EVA, 1))
        assert (box.state(EVA), box.suppressed()) == ("gone", 0), notice
        undo = re.search(r"^undo ([a-z2-7]+)\s*$", notice, re.M)[1]
        assert "is subscribed again" in text_of(box.write(EVA, HOME, f"undo {undo}"))
        assert box.state(EVA) == "active"
        # The server of a recipient is believed; its user can come back.
        box.process(FEEDBACK, complaint(box.number(), f"Return-Path: <{bob.verp}>"))
        assert (box.state(BOB), box.suppressed()) == ("gone", 1)
        assert "subscribe" in text_of(box.write(BOB, HOME, "help"))
        request = box.write(BOB, HOME, "subscribe")
        assert (box.state(BOB), box.suppressed()) == ("gone", 1)
        welcome = text_of(box.write(BOB, request["Reply-To"], "Re: yes", "yes"))
        assert (box.state(BOB), box.suppressed()) == ("active", 0), welcome
        box.instance.check_store()


def forged_refusals_through_postfix_pause_nothing(tap):
    """22 of 222 people forge refusals: no pause, and no digest is sent again"""
    people = [f"person-{number:04}@example.org" for number in range(1, 223)]
    with PostfixBox(tap, "refusals", people) as box:
        def refuse(*addresses):
            before = box.done()
            for address in addresses:
                box.deliver(box.sent[address].verp, report(
                    box.number(), address, code="550 5.7.1", text="bad reputation"))
            box.wait_done(before + len(addresses))

        def tests():
            return [to for to, _ in box.relay.accepted()[len(people):]]

        refuse(*people[-22:])
        assert not box.instance.rows("SELECT * FROM domain_pause")
        assert "DEFERRED" not in box.instance.states(), box.instance.states()
        # One message tests it: to the subscriber of longest standing.
        box.next_mail(people[0], 1)
        assert [class_ for class_, _ in box.evidence(people[-1])] == ["sender"]
        refuse(*people[-22:])
        box.daemon.wait_fact(lambda: box.instance.states() == {"SENT": 223}, "all sent")
        assert tests() == people[:1], tests()
        assert not box.instance.rows("SELECT * FROM domain_pause")
        # Only if it is returned is the domain paused, and are digests sent again.
        box.daemon.stop()
        box.instance.clock.set(at_hour(DAY, 20))
        box.relay.act = lambda verb, text: (
            b"550 5.7.1 bad reputation\r\n" if verb == "." else None)
        box.start()
        refuse(people[1])
        box.daemon.wait_fact(lambda: box.instance.rows("SELECT * FROM domain_pause"), "a pause")
        box.daemon.wait_fact(lambda: box.instance.states() == {
            "SENT": 201, "DEFERRED": 23, "NEW": 1}, "digests that are sent again")
        (mail,) = box.instance.rows("SELECT subscriber_id FROM outbox WHERE state = 'NEW'")
        assert mail == (1,), mail
        box.instance.check_store()


# ---- large, nested, many ----------------------------------------------------


def nest(depth, inner):
    """A message in so many multiparts."""
    head = b"".join(b'Content-Type: multipart/mixed; boundary="n%d"\n\n--n%d\n' % (n, n)
                    for n in range(depth))
    tail = b"".join(b"\n--n%d--\n" % n for n in reversed(range(depth)))
    return (b"From: MAILER-DAEMON@mx.example.org\nMIME-Version: 1.0\n"
            b"Message-ID: <nested.%d@x>\n" % depth + head + inner + tail)


def large_and_nested_reports_do_no_harm(tap):
    """reports of 10 MB, nested ones and MIME bombs neither crash nor grow the daemon"""
    with Box(tap, "large") as box:
        eva = box.sent[EVA]
        box.process(box.sent[BOB].verp, report(box.number(), BOB))
        before = memory(box.daemon.pid)
        large = report(box.number(), EVA, returned=eva.header + "\n" + "x" * 70 + "\n")
        large = large.replace(b"\n--b--\n", b"\n" + (b"y" * 76 + b"\n") * 140000 + b"--b--\n")
        assert len(large) > 10_000_000
        with box.unchanged("10 MB by LMTP"):
            try:
                box.deliver(eva.verp, large)
                raise AssertionError("10 MB were accepted")
            except smtplib.SMTPSenderRefused as refusal:  # by its SIZE (RFC 1870)
                assert refusal.smtp_code == 552, refusal
        done = box.done()
        box.drop(eva.verp, large)
        box.wait_done(done + 1)
        assert not box.evidence(EVA), box.evidence(EVA)  # only its header is read
        for depth in (5, 9, 11, 100, 1000):
            inner = report(box.number(), ANN)
            box.deliver(box.sent[ANN].verp, nest(depth, inner[inner.index(b"MIME-"):]))
        for number, (_, make, _) in enumerate(BOMBS):
            raw = make()
            if isinstance(raw, bytes) and len(raw) < 1000000:
                box.deliver(box.sent[ZOE].verp, b"X-Number: %d\n" % number + raw)
        box.daemon.wait_fact(lambda: not box.instance.value(
            "SELECT count(*) FROM inbox WHERE state = 'new' AND tries = 0"), "all tried")
        assert box.daemon.is_running, box.daemon.output
        assert not box.evidence(ZOE), box.evidence(ZOE)
        box.process(box.sent[ANN].verp, report(box.number(), ANN))
        assert box.evidence(ANN) == [("dead", "digest-3")], box.evidence(ANN)
        grown = memory(box.daemon.pid) - before
        tap.diag(f"the daemon has grown by {grown} KiB")
        assert is_sanitized(box) or grown < GROWTH_KIB, grown


def floods_take_bounded_memory(tap):
    """a flood of reports and complaints is processed, with bounded memory"""
    with Box(tap, "flood") as box:
        box.process(box.sent[BOB].verp, report(box.number(), BOB))
        before, done = memory(box.daemon.pid), box.done()
        message_ids = 150 * f"Message-ID: {flip(box.sent[EVA].message_id, 10)}\n"
        for first in range(0, FLOOD, 100):
            for recipient, make in (
                (box.sent[EVA].verp, lambda: report(box.number(), EVA)),
                (verp(flip(token_of(box.sent[EVA].verp), 3)),
                 lambda: report(box.number(), EVA)),
                (FEEDBACK, lambda: complaint(box.number(), returned=message_ids)),
                (HOME, lambda: report(box.number(), EVA)),
            ):
                box.deliver(recipient, *(make() for _ in range(25)))
        box.wait_done(done + FLOOD, 600 if IS_LONG else 120)
        assert box.evidence(EVA) == [("dead", "digest-1")], box.evidence(EVA)
        assert box.instance.value("SELECT count(*) FROM bounce") == 2
        assert box.suppressed() == 0
        grown = memory(box.daemon.pid) - before
        tap.diag(f"{FLOOD} reports: the daemon has grown by {grown} KiB")
        assert is_sanitized(box) or grown < GROWTH_KIB, grown


# ---- kill -9 ----------------------------------------------------------------


def a_kill_neither_loses_nor_repeats_evidence(tap):
    """with kill -9 while reports are processed, each counts once"""
    people = [f"person-{number:02}@example.org" for number in range(40)]
    with Box(tap, "kill", people=people) as box:
        number = kills = 0
        done = box.done()
        for address in people:
            box.deliver(box.sent[address].verp, report(box.number(), address),
                        report(box.number(), address))
            number += 2
            if number % 16 == 0:
                box.daemon.wait_fact(lambda: box.done() > done, "another report processed")
                box.daemon.kill()
                kills += 1
                box.start()
                done = box.done()
        box.wait_done(2 * len(people))
        rows = box.instance.rows("SELECT s.address, b.class, b.message FROM bounce b"
                                 " JOIN subscriber s ON s.id = subscriber_id ORDER BY 1")
        assert [row[0] for row in rows] == people, rows
        assert {row[1] for row in rows} == {"dead"}
        assert kills >= 5, kills
        assert not box.instance.value("SELECT count(*) FROM inbox WHERE state <> 'done'")
        box.instance.check_store()


TESTS = (
    only_a_valid_token_has_an_effect,
    a_repeated_report_counts_once,
    reports_about_former_addresses_have_no_effect,
    unproven_complaints_have_no_effect,
    forged_complaints_through_postfix_can_be_undone,
    forged_refusals_through_postfix_pause_nothing,
    large_and_nested_reports_do_no_harm,
    floods_take_bounded_memory,
    a_kill_neither_loses_nor_repeats_evidence,
)

if __name__ == "__main__":
    with Tap() as tap_:
        for test in TESTS:
            tap_.run(test, tap_)
