#!/usr/bin/env python3
"""test_other_relays.py - pipelining with Postfix, OpenSMTPD and Exim, with rejections."""

import os

import lib  # the path
import relays
from peers import Ca, Dovecot, Postfix, SmtpSink
from smtp_fixture import send
from tap import Tap, read, save

COUNT = 7


def write_messages(tap, name):
    directory = tap.subdirectory(name)
    paths = []
    for number in range(COUNT):
        path = os.path.join(directory, f"m{number}")
        save(path, b"From: <a@example.org>\r\nTo: <b@example.org>\r\n"
                   b"Date: Sat, 21 Nov 2026 07:30:00 +0100\r\n"
                   b"Message-ID: <%d@example.org>\r\nSubject: %d\r\n\r\n"
                   b"..number %d\r\n.\r\n" % (number, number, number)
                   + b"x" * 70 * (number % 2) + b"\r\n" * 2000)
        paths.append(path)
    return paths


def people(*refused):
    return [relays.REFUSED if n in refused else f"p{n}@example.org" for n in range(COUNT)]


def check_relay(tap, name, relay, sink):
    """All but the rejected ones arrive once, unmodified, over one connection."""
    paths = write_messages(tap, f"{name}-messages")
    for refused in ((), (0,), (3,), (2, 3), (COUNT - 1,), (0, 2, 4, 6), tuple(range(COUNT))):
        sink.clear()
        to = people(*refused)
        found = send("--host", "127.0.0.1", "--port", relay.port, "--from",
                     "b@example.org", "--to", ",".join(to), *paths, wait_ms=30000)
        outcomes = [one.outcome for one in found]
        wanted = ["failed" if n in refused else "sent" for n in range(COUNT)]
        # A relay may report "relay access denied" as policy (5.7.1): deferred.
        assert [o.replace("deferred", "failed") for o in outcomes] == wanted, (
            name, refused, [(o.outcome, o.text) for o in found])
        for number in refused:
            assert found[number].fields["stage"] == "rcpt", found[number].fields
        wanted = COUNT - len(refused)
        arrived = sink.wait_messages(wanted) if wanted else sink.messages()
        got = sorted((one.recipients[0], one.raw.split(b"\r\n\r\n", 1)[1])
                     for one in arrived)
        sent = []
        for number, path in enumerate(paths):
            if number not in refused:
                sent.append((to[number], read(path).split(b"\r\n\r\n", 1)[1]))
        assert got == sorted(sent), (name, refused, [who for who, _ in got])


def routes(sink):
    return {"example.org": ("smtp", sink.port)}


def postfix(tap):
    """Postfix accepts pipelined groups with rejections"""
    with SmtpSink(tap.subdirectory("postfix-sink")) as sink:
        with Postfix(tap.subdirectory("postfix"), Ca(tap.subdirectory("ca")), settings={
            "relay_domains": "example.org", "virtual_mailbox_domains": "",
            "relay_transport": f"smtp:[127.0.0.1]:{sink.port}",
            "smtpd_relay_restrictions": "reject_unauth_destination",
            "smtpd_recipient_restrictions": "reject_unauth_destination",
        }) as relay:
            check_relay(tap, "Postfix", relay, sink)


def opensmtpd(tap):
    """OpenSMTPD accepts pipelined groups with rejections"""
    with SmtpSink(tap.subdirectory("opensmtpd-sink")) as sink:
        with relays.OpenSmtpd(tap.subdirectory("opensmtpd"), routes(sink)) as relay:
            check_relay(tap, "OpenSMTPD", relay, sink)


def exim(tap):
    """Exim accepts pipelined groups with rejections"""
    with SmtpSink(tap.subdirectory("exim-sink")) as sink:
        with relays.Exim(tap.subdirectory("exim"), routes(sink)) as relay:
            check_relay(tap, "Exim", relay, sink)


def dovecot_lmtp(tap):
    """Dovecot accepts messages over LMTP on a socket, each once"""
    with Dovecot(tap.subdirectory("dovecot"), Ca(tap.subdirectory("lmtp-ca"))) as dovecot:
        found = send("--lmtp", "--host", dovecot.lmtp, "--from", "b@example.org", "--to",
                     "person@example.org", *write_messages(tap, "lmtp-messages"))
        assert [one.outcome for one in found] == ["sent"] * COUNT, found[0].text
        dovecot.wait_mails("person@example.org", COUNT)


with Tap() as tap:
    for test in (postfix, opensmtpd, exim, dovecot_lmtp):
        tap.run(test, tap)
