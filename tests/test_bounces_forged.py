#!/usr/bin/env python3
"""test_bounces_forged.py - forged, foreign and repeated reports have no effect.

Reports reach a running paperboyd by LMTP and by a Maildir.  "No effect" compares all
tables but the inbox.  PAPERBOY_LONG=1: floods of 10,000 reports.
"""

import collections
import contextlib
import os
import re
import smtplib
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

from clock import DAY
from conversations import HOME, PARSER
from daemon import Instance, at_hour, days_after, parse
from mime_bombs import BOMBS
from smtp_fixture import Relay
from tap import Tap

IS_LONG = os.environ.get("PAPERBOY_LONG", "") not in ("", "0")
FLOOD = 10000 if IS_LONG else 500
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
        with open(path, "wb") as file:
            file.write(f"Return-Path: <>\nDelivered-To: {recipient}\n".encode() + raw)
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
    with open(box.instance.daemon, "rb") as file:
        return b"__asan_init" in file.read()


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
    """a complaint counts with our message, or with DKIM of a known loop"""
    known, other = "arf.mail.yahoo.com", "attacker.example"
    with Box(tap, "complaints") as box:
        eva = box.sent[EVA]
        former = f"Original-Rcpt-To: {EVA}\n"
        forged = f"Message-ID: {flip(eva.message_id, 10)}"
        without = {
            "no message": (FEEDBACK, "", "", former),
            "a forged Message-ID": (FEEDBACK, forged, "", former),
            "a known loop without a token":
                (FEEDBACK, "", results_of(OUR_MX, known), former),
            "our Message-ID, which a public reply discloses":
                (FEEDBACK, f"Message-ID: {eva.message_id}", "", ""),
            "our envelope sender only": (eva.verp, "", "", former),
            "an unknown signer": (eva.verp, "", results_of(OUR_MX, other), ""),
            "an unknown signer, like a known one":
                (eva.verp, "", results_of(OUR_MX, known + "." + other), ""),
            "a failed signature": (eva.verp, "", results_of(OUR_MX, known, "fail"), ""),
            "a user of a provider that has a loop":
                (eva.verp, "", results_of(OUR_MX, "outlook.com"), ""),
            "another subscriber's message": (eva.verp, box.sent[ANN].header, "", ""),
            "another authserv-id":
                (eva.verp, "", results_of("mx.attacker.example", known), ""),
            "ours below another one": (eva.verp, "", results_of(
                "mx.attacker.example", other) + results_of(OUR_MX, known), ""),
        }
        for name, (recipient, returned, results, fields) in without.items():
            with box.unchanged(name):
                box.process(recipient, complaint(box.number(), returned, results, fields))
        # A complaint counts after a bounce of the same digest, too.
        box.process(box.sent[BOB].verp, report(box.number(), BOB, code="452 4.2.2",
                                               text="mailbox full"))
        assert box.evidence(BOB) == [("full", "digest-2")], box.evidence(BOB)
        proven = {
            EVA: (FEEDBACK, f"List-Unsubscribe: <mailto:{eva.unsubscribe}>", "", ""),
            BOB: (FEEDBACK, f"Message-ID: {box.sent[BOB].message_id}",
                  results_of(OUR_MX, known), ""),
            ANN: (FEEDBACK, "", "", f"Original-Mail-From: <{box.sent[ANN].verp}>\n"),
            ZOE: (box.sent[ZOE].verp, "", results_of(OUR_MX, known.upper()), ""),
        }
        for number, (address, (recipient, *rest)) in enumerate(proven.items(), 1):
            verdicts = box.process(recipient, complaint(box.number(), *rest))
            assert box.state(address) == "gone", (address, verdicts)
            assert box.suppressed() == number, (address, verdicts)
        # A suppressed address cannot be added again until the operator permits it.
        box.instance.ctl("subscriber", "add", EVA, "--consent", "x", wanted=65)
        with box.unchanged("a repeated complaint"):
            for recipient, *rest in proven.values():
                box.process(recipient, complaint(box.number(), *rest))
        box.instance.ctl("suppression", "remove", EVA, "--yes")
        box.instance.clock.advance()
        box.instance.add_person(EVA)
        box.daemon.stop()
        box.relay.forget()
        box.instance.clock.set(at_hour(days_after(DAY, 1)))
        box.instance.write_day(days_after(DAY, 1), [2])
        box.start()
        # The row of an earlier complaint does not hide another one.
        box.daemon.wait_fact(lambda: box.relay.recipients() == [EVA], "another digest")
        unsubscribe = box.read_sent()[EVA].unsubscribe
        box.process(FEEDBACK, complaint(
            box.number(), returned=f"List-Unsubscribe: <mailto:{unsubscribe}>"))
        assert box.state(EVA) == "gone"
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
    large_and_nested_reports_do_no_harm,
    floods_take_bounded_memory,
    a_kill_neither_loses_nor_repeats_evidence,
)

with Tap() as tap:
    for test in TESTS:
        tap.run(test, tap)
