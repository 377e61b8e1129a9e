#!/usr/bin/env python3
#
# test_check.py - paperboyctl check, end to end through a real Postfix.

import json
import os
import smtplib
import socketserver
import threading

import lib  # the path
from clock import DAY
from daemon import Instance
from peers import PASSWORD, Ca, Dovecot, Postfix, write
from tap import Tap, free_port, top_builddir

HOME = "paperboy@news.example"
WRONG = 65


class Signer(socketserver.ThreadingTCPServer):
    """An SMTP server that prepends header fields to each message and forwards it."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, fields, onward):
        self.fields = fields
        self.onward = onward
        super().__init__(("127.0.0.1", 0), SmtpConversation)
        self.port = self.server_address[1]

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class SmtpConversation(socketserver.StreamRequestHandler):
    def say(self, line):
        self.wfile.write(line.encode() + b"\r\n")

    def handle(self):
        self.say("220 signer.example")
        while line := self.rfile.readline().decode().strip():
            verb = line.split(":")[0].upper()
            if verb.startswith("MAIL"):
                self.sender = line.split("<")[1].split(">")[0]
            elif verb.startswith("RCPT"):
                self.recipient = line.split("<")[1].split(">")[0]
            if verb.startswith("DATA"):
                self.say("354 go on")
                self.hand_on()
            self.say("221 bye" if verb.startswith("QUIT") else "250 ok")
            if verb.startswith("QUIT"):
                return

    def hand_on(self):
        raw = b""
        while (line := self.rfile.readline()) != b".\r\n":
            raw += line[1:] if line.startswith(b".") else line
        with smtplib.SMTP("127.0.0.1", self.server.onward) as smtp:
            smtp.sendmail(self.sender, [self.recipient],
                          self.server.fields.encode() + raw)


class Street:
    """A Postfix that delivers our mail to us, and an instance of paperboy."""

    def __init__(self, tap, name, signs=None, postfix=None, **settings):
        directory = tap.subdirectory(name)
        for part in ("ca", "postfix", "home"):
            os.makedirs(os.path.join(directory, part))
        self.lmtp_port = free_port()
        self.postfix = tap.enter(Postfix(
            os.path.join(directory, "postfix"), Ca(os.path.join(directory, "ca")),
            settings={
                "transport_maps":
                    f"inline:{{news.example=lmtp:inet:127.0.0.1:{self.lmtp_port}}}",
                "relay_domains": "news.example",
            } | (postfix or {})))
        port = self.postfix.port
        if signs:
            port = tap.enter(Signer(signs, port)).port
        self.instance = Instance(
            os.path.join(directory, "home"), port=port, **{
                "commands__address": HOME,
                "receive__lmtp_listen": f"127.0.0.1:{self.lmtp_port}",
                "receive__parser": os.path.join(top_builddir(), "paperboy-parser"),
            } | settings)
        self.daemon = tap.enter(self.instance.start())
        self.daemon.wait_port(self.lmtp_port)
        self.daemon.wait_socket(os.path.join(self.instance.state, "control"))


def check(instance, *options, wanted=0):
    options = options or ("--wait", "600")
    reported = instance.ctl("--json", "check", *options, wanted=wanted)
    reported = reported if isinstance(reported, str) else reported.output
    return {row["check"]: row for row in json.loads(reported)}


def write_today(instance):
    instance.write_day(DAY, [1])


def finds_that_nobody_signs(tap):
    """the probe mail returns from a Postfix that does not sign, which is reported"""
    street = Street(tap, "unsigned")
    write_today(street.instance)
    found = check(street.instance, wanted=WRONG)
    assert [name for name, row in found.items() if not row["ok"]] == ["signature"], found
    assert "opendkim" in found["signature"]["action"]
    assert found["mail to itself"]["found"] == "received"
    assert "PIPELINING" in found["relay"]["found"], found["relay"]
    # No reply was sent, and nothing is queued.
    assert street.instance.value("SELECT count(*) FROM outbox") == 0
    assert street.instance.value("SELECT verdict FROM inbox").startswith("check ")


def knows_a_signature_that_leaves_something_out(tap):
    """a signature must cover the list headers"""
    for names, missing in ((b"from:to:list-id", "list-unsubscribe, list-unsubscribe-post"),
                           (b"From:List-Id:List-Unsubscribe:List-Unsubscribe-Post", None)):
        street = Street(tap, "signed" + str(bool(missing)), signs=(
            "Authentication-Results: mx.news.example; dkim=pass; spf=pass\r\n"
            f"DKIM-Signature: v=1; a=rsa-sha256; d=news.example; s=x;\r\n"
            f"\th={names.decode()};\r\n\tbh=AAAA; b=BBBB\r\n"))
        write_today(street.instance)
        found = check(street.instance, wanted=WRONG if missing else 0)
        assert found["signature"]["ok"] == (not missing), found
        assert found["signature"]["found"] == (
            "signed by news.example, " + (f"but not: {missing}" if missing else
            "with List-Id, List-Unsubscribe and List-Unsubscribe-Post")), found
        assert found["authentication"]["found"] == "dkim:pass, spf:pass", found


def digests_ask_for_complaints_once_that_is_signed(tap):
    """CFBL-Address is in digests as soon as a signature covers it, and not before"""
    names = "From:List-Id:List-Unsubscribe:List-Unsubscribe-Post"
    for covered in ("", ":CFBL-Address"):
        street = Street(tap, "feedback" + str(len(covered)), signs=(
            f"DKIM-Signature: d=news.example; h={names}{covered}\r\n"))
        write_today(street.instance)
        found = check(street.instance)
        assert found["complaints"]["ok"], found
        assert ("is signed" in found["complaints"]["found"]) == bool(covered), found
        assert os.path.exists(
            os.path.join(street.instance.state, "cfbl-signed")) == bool(covered)


def sees_what_failed_on_the_way(tap):
    """a failure in Authentication-Results is reported"""
    street = Street(tap, "failed", signs=(
        "Authentication-Results: mx.news.example; dkim=fail\r\n"
        "DKIM-Signature: d=news.example; h=list-id:list-unsubscribe:list-unsubscribe-post\r\n"))
    write_today(street.instance)
    found = check(street.instance, wanted=WRONG)
    assert not found["authentication"]["ok"] and "DNS" not in found["authentication"]["found"]


def reports_each_thing_that_is_broken(tap):
    """an unavailable source, relay or mailbox is reported with an action"""
    instance = Instance(tap.subdirectory("broken"), port=free_port(), commands__address=HOME,
                  receive__maildir=os.path.join(tap.directory, "nowhere"),
                  sources__hf__url=f"http://127.0.0.1:{free_port()}")
    instance.add_person("ada@people.example")
    assert "still the shipped default" not in instance.ctl("status", wanted=2)
    instance.set(mail__owner="postmaster@example.org")
    found = check(instance, wanted=WRONG)
    assert "own addresses" in found["configuration"]["action"], found
    assert "still the shipped default" in instance.ctl("status", wanted=2)
    instance.set(mail__owner="owner@news.example")
    found = check(instance, wanted=WRONG)
    wrong = {name for name, row in found.items() if not row["ok"]}
    assert wrong == {"daemon", "source hf", "relay", "receiver maildir"}, found
    for name in wrong:
        assert found[name]["action"], name
    reported = instance.ctl("check", wanted=WRONG)
    reported = reported if isinstance(reported, str) else reported.output
    assert "WRONG  relay" in reported and " -> " in reported, reported


def reports_a_mail_that_does_not_come_back(tap):
    """a mail that the relay loses or rejects is reported"""
    street = Street(tap, "lost", mail__envelope_from="paperboy@news.example")
    write_today(street.instance)
    street.instance.set(commands__address="paperboy@example.org")
    found = check(street.instance, "--wait", "1", wanted=WRONG)
    assert "not received" in found["mail to itself"]["found"], found
    street.instance.set(commands__address="paperboy@foreign.example")
    found = check(street.instance, "--wait", "1", wanted=WRONG)
    assert not found["mail to itself"]["ok"], found
    found = check(street.instance, "--wait", "0")
    assert "mail to itself" not in found


def finds_that_there_are_no_subaddresses(tap):
    """if only mail to subaddresses is rejected, check names the setting to use"""
    street = Street(tap, "plain", postfix={
        "recipient_delimiter": "",
        "smtpd_recipient_restrictions":
            r"check_recipient_access regexp:{{/^paperboy\+/ 550 5.1.1 no}}"})
    write_today(street.instance)
    found = check(street.instance, wanted=WRONG)["mail to itself"]
    assert found["found"] == f"received at {HOME}, but not at its subaddresses (+)", found
    assert 'set commands.delimiter = ""' in found["action"], found
    street.instance.set(commands__delimiter="")
    found = check(street.instance, wanted=WRONG)["mail to itself"]
    assert found["found"] == "received" and found["ok"], found


def checks_an_imap_mailbox(tap):
    """an IMAP mailbox is checked: valid, wrong password, missing folder"""
    directory = tap.subdirectory("imap")
    for part in ("ca", "dovecot", "home"):
        os.makedirs(os.path.join(directory, part))
    ca = Ca(os.path.join(directory, "ca"))
    dovecot = tap.enter(Dovecot(os.path.join(directory, "dovecot"), ca))
    secret = write(os.path.join(directory, "password"), PASSWORD + "\n", 0o600)
    instance = Instance(
        os.path.join(directory, "home"), maildir=os.path.join(directory, "out"),
        commands__address=HOME, receive__imap_host="localhost",
        receive__imap_port=dovecot.imaps_port, receive__imap_tls="implicit",
        receive__imap_ca_file=ca.cert, receive__imap_user="box@example.org",
        receive__imap_password_file=secret)
    instance.add_person("ada@people.example")

    def checked():
        return check(instance, "--wait", "0", wanted=WRONG)["receiver imap"]

    found = checked()
    assert found["ok"], found
    assert found["found"] == (
        "logged in to localhost as box@example.org, folder INBOX exists"), found
    instance.set(receive__imap_folder="Nowhere")
    found = checked()
    assert not found["ok"] and "cannot open the folder 'Nowhere'" in found["found"], found
    write(secret, "guess\n", 0o600)
    found = checked()
    assert not found["ok"] and "login failed" in found["found"], found
    assert "imap_host" in found["action"], found


def main(tap):
    tap.run(finds_that_nobody_signs, tap)
    tap.run(knows_a_signature_that_leaves_something_out, tap)
    tap.run(digests_ask_for_complaints_once_that_is_signed, tap)
    tap.run(sees_what_failed_on_the_way, tap)
    tap.run(reports_each_thing_that_is_broken, tap)
    tap.run(reports_a_mail_that_does_not_come_back, tap)
    tap.run(finds_that_there_are_no_subaddresses, tap)
    tap.run(checks_an_imap_mailbox, tap)


with Tap() as tap:
    main(tap)
