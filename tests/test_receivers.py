#!/usr/bin/env python3
"""test_receivers.py - real mail servers deliver to each receiver.

Postfix delivers by LMTP, by a pipe to `paperboyctl receive`, and through Dovecot to a
Maildir; equal mails become equal rows.
"""

import os
import re
import smtplib

import lib  # the path
from conversations import PARSER
from daemon import Instance
from sample_mail import sample_mails
from peers import Ca, Dovecot, Postfix
from tap import IS_LONG, Tap, wait_until

COUNT = 200 if IS_LONG else 60
SENDER = "eva@people.example"
TAGGED = "paperboy+r-mfrggzdf"
RECEIVERS = ("lmtp", "pipe", "maildir")
TRACES = rb"(?mi)^(received|return-path|delivered-to|x-original-to):.*(\n[ \t].*)*\n"

# pipe(8) does not allow user= to be the owner of the mail system
PIPE = """\
paperboy  unix - n n - - pipe flags=DR user=nobody:mail
  argv={ctl} -c {config} --now {now} receive --recipient ${{original_recipient}} --sender ${{sender}}
"""


def new_instance(tap, name, **settings):
    return Instance(tap.subdirectory(name), maildir=os.path.join(tap.directory, name, "out"),
                 **{"receive__parser": PARSER, "sources__hf__enabled": True} | settings)


class Network:
    """Three instances with a receiver each, or one instance with all receivers."""

    def __init__(self, tap, name, parser, is_one):
        self.directory = tap.subdirectory(name)
        self.dovecot_mail = os.path.join(self.directory, "dovecot", "mail", "example.org")
        sockets = {receiver: os.path.join(self.directory, f"{receiver}.sock") for receiver in RECEIVERS}
        # Dovecot delivers mail to the tagged address to the Maildir of the plain one
        inbox = os.path.join(self.dovecot_mail, "paperboy")
        # Dovecot records the recipient in this header
        field = {"receive__recipient_header": "Delivered-To"}
        if is_one:
            instance = new_instance(
                tap, name + "-all", receive__lmtp_socket=sockets["lmtp"],
                receive__lmtp_group="postfix", receive__maildir=inbox,
                receive__parser=parser, **field)
            self.instances = dict.fromkeys(RECEIVERS, instance)
            # the user of the pipe may not write to the socket of the postfix group
            sockets["pipe"] = sockets["lmtp"]
        else:
            self.instances = {
                "lmtp": new_instance(
                    tap, name + "-lmtp", receive__lmtp_socket=sockets["lmtp"],
                    receive__lmtp_group="postfix", receive__parser=parser),
                "pipe": new_instance(
                    tap, name + "-pipe", receive__lmtp_socket=sockets["pipe"],
                    receive__lmtp_group="mail", receive__parser=parser),
                "maildir": new_instance(
                    tap, name + "-maildir", receive__maildir=inbox,
                    receive__parser=parser, **field),
            }
        self.instances["pipe"].install()
        ca = Ca(self.directory)
        os.makedirs(os.path.join(self.directory, "dovecot"))
        self.dovecot = tap.enter(Dovecot(
            os.path.join(self.directory, "dovecot"), ca,
            extra="protocol lmtp {\n  lmtp_save_to_detail_mailbox = no\n}\n"))
        transports = {
            "lmtp.example": f"lmtp:unix:{sockets['lmtp']}",
            "pipe.example": "paperboy:",
            "example.org": f"lmtp:unix:{self.dovecot.lmtp}",
        }
        listed = ", ".join(f"{{{name} = {value}}}" for name, value in transports.items())
        os.makedirs(os.path.join(self.directory, "postfix"))
        self.postfix = tap.enter(Postfix(
            os.path.join(self.directory, "postfix"), ca, lmtp=self.dovecot.lmtp,
            settings={"transport_maps": f"inline:{{{listed}}}",
                      "paperboy_destination_recipient_limit": "1",
                      "message_size_limit": "10485760"},
            services=PIPE.format(
                ctl=os.path.join(self.instances["pipe"].programs, "paperboyctl"),
                config=self.instances["pipe"].config,
                now=self.instances["pipe"].clock.now())))
        self.daemons = {id(instance): instance for instance in self.instances.values()}
        self.children = {key: tap.enter(instance.start())
                         for key, instance in self.daemons.items()}
        for receiver in set(RECEIVERS[:1] if is_one else RECEIVERS) - {"maildir"}:
            self.children[id(self.instances[receiver])].wait_socket(sockets[receiver])

    def send(self, raws, domains=("lmtp.example", "pipe.example", "example.org")):
        with smtplib.SMTP("127.0.0.1", self.postfix.port) as smtp:
            for raw in raws:
                smtp.sendmail(SENDER, [f"{TAGGED}@{domain}" for domain in domains], raw,
                              ["BODY=8BITMIME"])

    def wait(self, receiver, count, state, deadline_s=120):
        instance = self.instances[receiver]
        self.children[id(instance)].wait_fact(
            lambda: instance.value("SELECT count(*) FROM inbox WHERE state = ?", state)
            >= count, f"{count} mails {state} by {receiver}", deadline_s)


def bare(raw):
    """A mail without the headers that receivers add."""
    return re.sub(TRACES, b"", raw.replace(b"\r\n", b"\n")).rstrip(b"\n")


def rows_of(instance):
    return {
        key: (sender, recipient.split("@")[0] if recipient else None, bare(raw))
        for key, sender, recipient, raw in instance.rows(
            "SELECT key, sender, recipient, raw FROM inbox WHERE state = 'new'")
    }


def all_receivers_store_equal_rows(tap):
    """mails of all kinds by LMTP, a pipe and a Maildir become equal rows"""
    network = Network(tap, "equal", "/nonexistent/parser", is_one=False)
    sent = sample_mails(COUNT)
    network.send(sent)
    for receiver in RECEIVERS:
        network.wait(receiver, COUNT, "new")
    rows = {receiver: rows_of(network.instances[receiver]) for receiver in RECEIVERS}
    assert len(rows["lmtp"]) == COUNT, len(rows["lmtp"])
    assert {row[2] for row in rows["lmtp"].values()} == {bare(raw) for raw in sent}
    for receiver in RECEIVERS[1:]:
        assert rows[receiver].keys() == rows["lmtp"].keys(), f"{receiver}: other keys"
        for key, row in rows[receiver].items():
            wanted = rows["lmtp"][key]
            assert row[1:] == wanted[1:], (receiver, row, wanted)
            # a Maildir has the sender in Return-Path only
            assert row[0] == (None if receiver == "maildir" else SENDER), (receiver, row[0])
    assert {row[1] for row in rows["lmtp"].values()} == {TAGGED}
    # no tries were counted while the parser was missing
    for receiver in RECEIVERS:
        instance = network.instances[receiver]
        assert instance.value("SELECT sum(tries) FROM inbox") == 0
        instance.set(receive__parser=PARSER)
        instance.ctl("reload")
    for receiver in RECEIVERS:
        network.wait(receiver, COUNT, "done")
    ends = [
        network.instances[receiver].rows(
            "SELECT key, state, tries, verdict, sender, recipient, raw FROM inbox"
            " ORDER BY key") for receiver in RECEIVERS]
    assert ends[0] == ends[1] == ends[2]
    assert all(row[1:] == ("done", 0, "no handler", None, None, None) for row in ends[0])
    inbox = os.path.join(network.dovecot_mail, "paperboy")
    assert os.listdir(os.path.join(inbox, "new")) == []
    seen = os.listdir(os.path.join(inbox, "cur"))
    assert len(seen) == COUNT and all(name.endswith(":2,S") for name in seen)


def mails_of_two_receivers_are_stored_once(tap):
    """mails that two receivers of an instance get are stored once"""
    network = Network(tap, "once", PARSER, is_one=True)
    network.send(sample_mails(30), ("lmtp.example", "example.org"))
    network.postfix.wait_empty()
    inbox = os.path.join(network.dovecot_mail, "paperboy")
    wait_until(lambda: len(os.listdir(os.path.join(inbox, "cur"))) == 30, "all seen")
    network.wait("lmtp", 30, "done")
    assert network.instances["lmtp"].value("SELECT count(*) FROM inbox") == 30


def mail_waits_while_the_daemon_is_stopped(tap):
    """Postfix queues mails while the daemon is stopped, and delivers them later"""
    network = Network(tap, "away", PARSER, is_one=False)
    daemons = [network.children[id(network.instances[receiver])] for receiver in ("lmtp", "pipe")]
    for daemon in daemons:
        daemon.wait_line("started")
        assert daemon.stop() == 0
    network.send(sample_mails(3), ("lmtp.example", "pipe.example"))
    network.postfix.wait_queued(3)
    wait_until(lambda: sum(" status=deferred " in line for line in network.postfix.log) >= 6,
               "six deferrals")
    assert not any(" status=bounced " in line for line in network.postfix.log)
    for receiver in ("lmtp", "pipe"):
        instance = network.instances[receiver]
        network.children[id(instance)] = tap.enter(instance.start())
        network.children[id(instance)].wait_line("started")
    network.postfix.flush()
    for receiver in ("lmtp", "pipe"):
        network.wait(receiver, 3, "done")
    network.postfix.wait_empty()


with Tap() as tap:
    tap.run(all_receivers_store_equal_rows, tap)
    tap.run(mails_of_two_receivers_are_stored_once, tap)
    tap.run(mail_waits_while_the_daemon_is_stopped, tap)
