#!/usr/bin/env python3
#
# test_conversation.py - a person and paperboy write to each other, over Postfix.
#
# Letters go in by SMTP and LMTP, answers come back into the person's Maildir, which is
# read over IMAP.

import email.message
import email.utils
import os
import pathlib
import re
import smtplib
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
from clock import DAY
from daemon import Instance, days_after, parse
from peers import PASSWORD, Ca, Dovecot, Postfix
from tap import Tap, free_port, top_builddir, top_srcdir, wait_until

EVA = "eva@example.org"
HOME = "paperboy@news.example"


class Street:
    """Postfix and Dovecot, where people live, and paperboy's house."""

    def __init__(self, tap, name, **settings):
        directory = tap.subdirectory(name)
        for part in ("ca", "dovecot", "postfix", "house"):
            os.makedirs(os.path.join(directory, part), exist_ok=True)
            os.chmod(os.path.join(directory, part), 0o755)
        self.ca = Ca(os.path.join(directory, "ca"))
        self.dovecot = Dovecot(os.path.join(directory, "dovecot"), self.ca)
        self.lmtp_port = free_port()
        self.postfix = Postfix(
            os.path.join(directory, "postfix"), self.ca, lmtp=self.dovecot.lmtp,
            settings={
                "transport_maps":
                    f"inline:{{news.example=lmtp:inet:127.0.0.1:{self.lmtp_port}}}",
                "relay_domains": "news.example",
            },
        )
        self.instance = Instance(
            os.path.join(directory, "house"), port=self.postfix.port,
            commands__address=HOME,
            receive__lmtp_listen=f"127.0.0.1:{self.lmtp_port}",
            receive__parser=os.path.join(top_builddir(), "paperboy-parser"),
            **settings,
        )
        self.daemon = None
        self.count = 0

    def __enter__(self):
        self.dovecot.start()
        self.postfix.start()
        return self

    def start(self):
        self.daemon = self.instance.start()
        self.daemon.wait_port(self.lmtp_port)

    def __exit__(self, *_):
        if self.daemon:
            self.daemon.stop()
        self.postfix.stop()
        self.dovecot.stop()

    def write(self, recipient, subject="", text="", sender=EVA, **headers):
        """A letter; headers by name, "_" for the dash."""
        self.count += 1
        mail = email.message.EmailMessage()
        mail["From"] = headers.pop("from_", sender) or EVA
        mail["To"] = recipient
        mail["Subject"] = subject
        mail["Date"] = email.utils.formatdate()
        mail["Message-ID"] = f"<{self.count}.{os.getpid()}@mail.example.org>"
        for name, value in headers.items():
            mail[name.replace("_", "-")] = value
        mail.set_content(text or "\n")
        with smtplib.SMTP("127.0.0.1", self.postfix.port) as smtp:
            smtp.sendmail(sender, [recipient], mail.as_bytes())
        return mail["Message-ID"]

    def read(self, count, user=EVA):
        """All mails of somebody, once there are so many."""
        return [parse(raw) for raw in self.dovecot.wait_mails(user, count)]

    def wait_verdicts(self, count):
        """What became of all letters, once so many are handled."""
        sql = "SELECT verdict FROM inbox WHERE state = 'done' ORDER BY id"
        wait_until(lambda: len(self.instance.rows(sql)) >= count, "letters are handled")
        return [verdict for (verdict,) in self.instance.rows(sql)]


BOX = "letters@example.org"


class Hosted(Street):
    """Paperboy has a mailbox at a host: IMAP to read, a submission port with a login."""

    def __init__(self, tap, name, **settings):
        super().__init__(tap, name)
        self.postfix = Postfix(
            self.postfix.directory, self.ca, lmtp=self.dovecot.lmtp,
            sasl=self.dovecot.sasl,
            settings={
                # who is logged in sends in the own name alone, +tag and all
                "smtpd_sender_login_maps": f"inline:{{{BOX}={BOX}}}",
                "smtpd_sender_restrictions": "reject_sender_login_mismatch",
            },
        )
        secret = os.path.join(self.instance.directory, "password")
        with open(secret, "w", encoding="ascii") as file:
            file.write(PASSWORD + "\n")
        os.chmod(secret, 0o600)
        login = {
            f"{group}{name}": value
            for group in ("smtp__", "receive__imap_")
            for name, value in {
                "host": "localhost", "ca_file": self.ca.cert, "user": BOX,
                "password_file": secret,
            }.items()
        }
        self.instance.set(
            mail__from=BOX, commands__address=BOX, smtp__port=self.postfix.port,
            smtp__tls="starttls", receive__lmtp_listen=None,
            receive__imap_port=self.dovecot.imaps_port, receive__imap_tls="implicit",
            **login, **settings,
        )

    def start(self):
        self.daemon = self.instance.start()
        self.daemon.wait_line("started")


def text_of(mail):
    part = mail.get_body(("plain",))
    return part.get_content()


def a_stranger_subscribes_tunes_and_leaves_by_mail(tap):
    with Street(tap, "whole") as street:
        for back in range(6):
            street.instance.write_day(days_after(DAY, -back), [back * 10 + 1, back * 10 + 2])
        street.start()

        asked = street.write(
            HOME, "subscribe", 'add name=papers paper\nadd name=none "quite absent"\n'
        )
        (confirmation,) = street.read(1)
        assert confirmation["In-Reply-To"] == asked
        assert confirmation["Auto-Submitted"] == "auto-replied"
        assert confirmation["To"] == EVA
        assert re.match(r"paperboy\+b-[a-z2-7]+@news\.example", confirmation["Return-Path"]
                        .strip("<>")), confirmation["Return-Path"]
        assert confirmation["Reply-To"].startswith("paperboy+c-")
        assert "paper" in text_of(confirmation) and "absent" in text_of(confirmation)
        assert street.instance.value("SELECT count(*) FROM subscriber") == 0

        street.write(confirmation["Reply-To"], "Re: " + confirmation["Subject"], "ok\n")
        mails = street.read(3)
        digest = next(mail for mail in mails if mail["List-Id"])
        welcome = next(
            mail for mail in mails if not mail["List-Id"] and mail != confirmation
            and mail["Message-ID"] != confirmation["Message-ID"]
        )
        assert "papers" in text_of(welcome), text_of(welcome)
        assert street.instance.value("SELECT state FROM subscriber") == "active"
        # Today and three days back, at once; the older ones are not for her.
        assert street.instance.value("SELECT count(*) FROM digest_item") == 8
        assert digest["Reply-To"].startswith("paperboy+r-")
        assert re.fullmatch(
            r"<mailto:paperboy\+u-[a-z2-7]+@news\.example>", digest["List-Unsubscribe"]
        ), digest["List-Unsubscribe"]
        assert re.match(r"<?paperboy\+b-", digest["Return-Path"]), digest["Return-Path"]

        # Her answer to the digest is her own: a change at once.
        street.write(digest["Reply-To"], "Re: " + digest["Subject"], "del none\n")
        mails = street.read(4)
        assert street.instance.value("SELECT count(*) FROM subscription") == 1
        # Forged in her name it is a question, and to her.
        street.write(HOME, "del papers")
        mails = street.read(5)
        assert street.instance.value("SELECT count(*) FROM subscription") == 1
        assert mails[4]["Reply-To"].startswith("paperboy+c-")

        # A robot uses List-Unsubscribe.
        leave = digest["List-Unsubscribe"][len("<mailto:"):-1]
        street.write(
            leave, "unsubscribe", sender="robot@example.org",
            Auto_Submitted="auto-generated",
        )
        verdicts = street.wait_verdicts(5)
        assert verdicts[4] == "unsubscribed in silence: automatic", verdicts
        assert street.instance.value("SELECT state FROM subscriber") == "gone"
        assert len(street.dovecot.mails(EVA)) == 5
        street.instance.check_store()


def a_hosted_mailbox_is_enough(tap):
    """IMAP and a submission port with a login: subscribe, tune and leave."""
    with Hosted(tap, "hosted") as street:
        for back in range(3):
            street.instance.write_day(days_after(DAY, -back), [back])
        street.start()
        street.write(BOX, "subscribe", "add paper\n")
        (asked,) = street.read(1)
        assert asked["From"].endswith(f"{BOX}>"), asked["From"]
        street.write(asked["Reply-To"], "Re: " + asked["Subject"], "ok\n")
        mails = street.read(3)
        digest = next(mail for mail in mails if mail["List-Id"])
        assert street.instance.value("SELECT state FROM subscriber") == "active"
        # What was taken in is marked, and stays.
        assert len(street.dovecot.mails(BOX)) == 2
        street.write(digest["Reply-To"], "Re: " + digest["Subject"], "set max 5\n")
        street.read(4)
        assert street.instance.value("SELECT max_full FROM subscriber") == 5
        leave = digest["List-Unsubscribe"][len("<mailto:"):-1]
        street.write(leave, "unsubscribe")
        street.read(5)
        assert street.instance.value("SELECT state FROM subscriber") == "gone"
        assert any(f"sasl_username={BOX}" in line for line in street.postfix.log)
        street.instance.check_store()


def whoever_wants_to_be_forgotten_is(tap):
    """6.8 the last answer goes out, and then no octet of the person is in the files."""
    with Street(tap, "forgotten") as street:
        street.instance.write_day(DAY, [1])
        street.start()
        street.write(HOME, "subscribe", "add name=quaggaword paper\n")
        (asked,) = street.read(1)
        street.write(asked["Reply-To"], "ok")
        street.read(3)
        street.write(HOME, "forget me")
        mails = street.read(4)
        street.write(mails[3]["Reply-To"], "ok")
        mails = street.read(5)
        assert mails[4]["Return-Path"] == "<>" and "Reply-To" not in mails[4]
        street.daemon.wait_fact(
            lambda: street.instance.value("SELECT count(*) FROM subscriber") == 0
            and street.instance.value(
                "SELECT count(*) FROM cursor WHERE name = 'erasure' AND value = 1") == 0,
            "she is forgotten",
        )
        left = []
        for name in os.listdir(street.instance.state):
            path = os.path.join(street.instance.state, name)
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    content = file.read().lower()
                left += [(name, word) for word in (b"eva@", b"quaggaword")
                         if word in content]
        assert not left, left


def two_paperboys_say_nothing_to_each_other(tap):
    """4.11 two paperboys wired to each other: the exchange dies by itself."""
    with Street(tap, "one") as street:
        street.start()
        # The other one is a subscriber of this one, and this one asks the other.
        other = "paperboy@example.org"
        street.write(HOME, "help", sender=other)
        (answer,) = street.read(1, user=other)
        # It has the marks by which any of us knows it is not to be answered.
        with smtplib.SMTP("127.0.0.1", street.postfix.port) as smtp:
            smtp.sendmail("", [HOME], answer.as_bytes())
        assert street.wait_verdicts(2) == ["answered", "silent: null-sender"]
        answer.replace_header("Message-ID", "<x@example.org>")
        answer.replace_header("From", other)
        with smtplib.SMTP("127.0.0.1", street.postfix.port) as smtp:
            smtp.sendmail(other, [HOME], answer.as_bytes())
        # Its X-Loop is ours; the other's own would be told by Auto-Submitted.
        assert street.wait_verdicts(3)[2] == "silent: loop"
        answer.replace_header("X-Loop", other)
        answer.replace_header("Message-ID", "<y@example.org>")
        with smtplib.SMTP("127.0.0.1", street.postfix.port) as smtp:
            smtp.sendmail(other, [HOME], answer.as_bytes())
        assert street.wait_verdicts(4)[3] == "silent: automatic"
        assert len(street.dovecot.mails(other)) == 1


def answers_end_all_wars(tap):
    """What robots answer to is not answered: the exchange dies by itself."""
    with Street(tap, "wars") as street:
        street.start()
        # A vacation responder answers the help, as one does that knows no manners.
        street.write(HOME, "help")
        (answer,) = street.read(1)
        street.write(
            HOME, "Out of office Re: " + answer["Subject"], "I am away.\n",
            Auto_Submitted="auto-replied", In_Reply_To=answer["Message-ID"],
        )
        # Our own answer comes back from a forwarder, and so does a bounce.
        with smtplib.SMTP("127.0.0.1", street.postfix.port) as smtp:
            smtp.sendmail(EVA, [HOME], answer.as_bytes())
            smtp.sendmail("", [HOME], b"From: mailer-daemon@example.org\r\nTo: " +
                          HOME.encode() + b"\r\nSubject: failed\r\n\r\nfailed\r\n")
        verdicts = street.wait_verdicts(4)
        assert sorted(verdicts) == [
            "answered", "silent: automatic", "silent: null-sender", "silent: our-own",
        ], verdicts
        assert len(street.dovecot.mails(EVA)) == 1


def an_unknown_extension_is_rejected_in_the_smtp_session(tap):
    """The recipe of README: no bounce goes to a sender that may be forged."""
    settings = {
        "smtpd_recipient_restrictions":
            "check_recipient_access inline:{ paperboy@example.org=reject_unverified_recipient }",
        "unverified_recipient_reject_code": "550",
        "address_verify_poll_delay": "1s",
    }
    recipe = pathlib.Path(top_srcdir(), "README").read_text(encoding="utf-8")
    street = Street(tap, "unknown")
    for name, value in settings.items():
        assert f"'{name} = {value}'" in " ".join(recipe.split()), name
        street.postfix.settings[name] = value.replace("paperboy@example.org", HOME)
    with street:
        street.start()
        with smtplib.SMTP("127.0.0.1", street.postfix.port) as smtp:
            smtp.ehlo()
            for extension in ("nonsense", "c-", "x-" + 26 * "a"):
                smtp.mail(EVA)
                code, text = smtp.rcpt(HOME.replace("@", f"+{extension}@"))
                assert code == 550 and b"5.1.1" in text, (code, text)
                smtp.rset()
            smtp.mail(EVA)
            assert smtp.rcpt(HOME.replace("@", "+help@"))[0] == 250
            assert smtp.rcpt(HOME.replace("@", "+c-" + 26 * "a" + "@"))[0] == 250
            smtp.quit()
        street.write(HOME, "help")
        (answer,) = street.read(1)
        assert answer["In-Reply-To"], answer.as_string()
        wait_until(lambda: not street.postfix.queued(), "the queue is empty")
        assert len(street.dovecot.mails(EVA)) == 1


def one_message_to_several_of_our_addresses_is_handled_once(tap):
    """Postfix hands it over with all its recipients; the token among them counts."""
    with Street(tap, "several") as street:
        street.start()
        street.write(HOME, "subscribe", "add paper\n")
        (asked,) = street.read(1)
        mail = email.message.EmailMessage()
        mail["From"] = EVA
        mail["To"] = HOME
        mail["Subject"] = "Re: " + asked["Subject"]
        mail["Message-ID"] = "<several@mail.example.org>"
        mail.set_content("Yes, please.\n")
        with smtplib.SMTP("127.0.0.1", street.postfix.port) as smtp:
            smtp.sendmail(EVA, [
                HOME, asked["Reply-To"],
                HOME.replace("@", "+a-longer-extension-without-any-meaning-at-all@"),
            ], mail.as_bytes())
        street.wait_verdicts(2)
        assert street.instance.rows("SELECT address, state FROM subscriber") == [
            (EVA, "active")]


TESTS = (
    an_unknown_extension_is_rejected_in_the_smtp_session,
    one_message_to_several_of_our_addresses_is_handled_once,
    a_stranger_subscribes_tunes_and_leaves_by_mail,
    a_hosted_mailbox_is_enough,
    answers_end_all_wars,
    two_paperboys_say_nothing_to_each_other,
    whoever_wants_to_be_forgotten_is,
)

with Tap() as tap:
    for test in TESTS:
        tap.run(test, tap)
