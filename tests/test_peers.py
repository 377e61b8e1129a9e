#!/usr/bin/env python3
"""test_peers.py - the real servers work: smtp-sink, Postfix, Dovecot."""

import os
import smtplib
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

import messages
from peers import Dovecot, PASSWORD, Postfix, SmtpSink, make_ca, parse_dump
from tap import Skip, Tap, is_listening

COUNT = 50
HOST = "127.0.0.1"


def message(number, to):
    """A small message with fragile lines: dots, From, trailing blanks."""
    return (
        "Date: Sat, 21 Nov 2026 07:30:00 +0100\r\n"
        "From: paperboy <paperboy@example.org>\r\n"
        f"To: {to}\r\n"
        f"Subject: number {number}\r\n"
        f"Message-ID: <number.{number}@example.org>\r\n"
        "MIME-Version: 1.0\r\n"
        "Content-Type: text/plain; charset=utf-8\r\n"
        "Content-Transfer-Encoding: 7bit\r\n"
        "\r\n"
        f".a dot {number}\r\n..two dots\r\n.\r\nFrom here\r\nX-Mail-Args: no\r\n\r\n"
    ).encode()


def bodies(mails):
    return [raw.split(b"\r\n\r\n", 1)[1] for raw in mails]


def test_sink_keeps(directory):
    """smtp-sink returns sender, recipients and unmodified bytes"""
    with SmtpSink(directory) as sink:
        with smtplib.SMTP(HOST, sink.port) as client:
            for number in range(3):
                client.sendmail(
                    f"bounce+{number}@example.org",
                    ["a@example.net", "b@example.net"],
                    message(number, "a@example.net"),
                    mail_options=["RET=HDRS"],
                    rcpt_options=["NOTIFY=FAILURE"],
                )
        found = sorted(sink.wait_messages(3))
        for number, one in enumerate(found):
            assert one.sender == f"bounce+{number}@example.org", one
            assert one.recipients == ["a@example.net", "b@example.net"], one
            assert one.raw == message(number, "a@example.net"), one
            assert "RET=HDRS" in one.mail_args and "NOTIFY=FAILURE" in one.rcpt_args[1]
            assert messages.check(one.raw, is_alternative=False) == []
        sink.clear()
        assert sink.messages() == []
    assert not is_listening(sink.port)


def test_sink_null_sender(directory):
    """smtp-sink knows the null sender"""
    with SmtpSink(directory) as sink:
        with smtplib.SMTP(HOST, sink.port) as client:
            client.sendmail("", ["a@example.net"], message(1, "a@example.net"))
        assert sink.wait_messages(1)[0].sender == ""


def test_sink_refuses(directory):
    """smtp-sink rejects according to its options"""
    with SmtpSink(directory, ["-f", "RCPT", "-B", "550 5.1.1 nobody here"]) as sink:
        with smtplib.SMTP(HOST, sink.port) as client:
            try:
                to = "b@example.net"
                client.sendmail("a@example.org", [to], message(1, to))
                raise RuntimeError("it was accepted")
            except smtplib.SMTPRecipientsRefused as refused:
                assert refused.recipients["b@example.net"][0] == 550, refused
        assert sink.messages() == []


def test_dump_is_whole():
    """an incomplete file of smtp-sink is not a message"""
    whole = (
        b"X-Client-Addr: 127.0.0.1\nX-Mail-Args: <a@b.c>\nX-Rcpt-Args: <d@e.f>\n"
        b"Received: from x ([127.0.0.1])\n\tby smtp-sink\n\tSat\nSubject: s\n\nhi\n\n"
    )
    assert parse_dump(whole).raw == b"Subject: s\r\n\r\nhi\r\n"
    assert parse_dump(whole[:-1]) is None
    assert parse_dump(whole[:40]) is None
    assert parse_dump(b"") is None


def test_dovecot(directory, ca):
    """Dovecot stores a mail and returns it over verified TLS"""
    with Dovecot(directory, ca) as dovecot:
        assert dovecot.mails("reader@example.org") == []
        raw = message(1, "reader@example.org")
        dovecot.put("reader@example.org", raw)
        assert dovecot.wait_mails("reader@example.org", 1) == [raw]
        assert dovecot.mails("other@example.org") == []
    assert not is_listening(dovecot.imap_port) and not is_listening(dovecot.imaps_port)


def test_whole_way(tap, ca):
    """50 mails pass Postfix with AUTH and TLS to Dovecot, and are read by IMAP"""
    with Dovecot(tap.subdirectory("dv"), ca) as dovecot:
        with Postfix(
            tap.subdirectory("pf"), ca, lmtp=dovecot.lmtp, sasl=dovecot.sasl
        ) as postfix:
            with smtplib.SMTP("localhost", postfix.port) as client:
                client.starttls(context=ca.client_context())
                client.login("paperboy@example.org", PASSWORD)
                for number in range(COUNT):
                    to = f"person-{number % 2}@example.org"
                    client.sendmail("b@example.org", [to], message(number, to))
            for person in range(2):
                address = f"person-{person}@example.org"
                mails = dovecot.wait_mails(address, COUNT // 2)
                assert sorted(bodies(mails)) == sorted(
                    bodies(message(n, address) for n in range(person, COUNT, 2))
                )
                sender = b"Return-Path: <b@example.org>"
                assert all(raw.startswith(sender) for raw in mails)
                assert len({messages.subject(raw) for raw in mails}) == COUNT // 2
            postfix.wait_empty()
    assert not is_listening(postfix.port)


def test_queue(tap, ca):
    """Postfix without a mailbox keeps mail in its queue, other domains go to a sink"""
    with SmtpSink(tap.subdirectory("relay")) as sink, Postfix(
        tap.subdirectory("q"), ca, relay_to=(HOST, sink.port)
    ) as postfix:
        with smtplib.SMTP(HOST, postfix.port) as client:
            for number, to in enumerate(("p@example.org", "p@example.net"), 1):
                client.sendmail("a@example.org", [to], message(number, to))
        (relayed,) = sink.wait_messages(1)
        assert relayed.recipients == ["p@example.net"]
        assert bodies([relayed.raw]) == bodies([message(2, "p@example.net")])
        postfix.child.wait_line(r"status=deferred")
        (queued,) = postfix.wait_queued(1)
        assert queued["recipients"][0]["address"] == "p@example.org", queued
        postfix.drop_queue()
        postfix.wait_empty()


def test_settings(tap, ca):
    """settings of a test take precedence: Postfix requires authentication"""
    with Postfix(
        tap.subdirectory("s"), ca, settings={"smtpd_relay_restrictions": "reject"}
    ) as postfix:
        with smtplib.SMTP(HOST, postfix.port) as client:
            try:
                client.sendmail("a@example.org", ["p@example.org"], message(1, "p@x"))
                raise RuntimeError("it was accepted")
            except smtplib.SMTPRecipientsRefused as refused:
                assert refused.recipients["p@example.org"][0] == 554, refused


def main():
    with Tap() as tap:
        tap.run(test_dump_is_whole)
        tap.run(test_sink_keeps, tap.subdirectory("s1"))
        tap.run(test_sink_null_sender, tap.subdirectory("s2"))
        tap.run(test_sink_refuses, tap.subdirectory("s3"))
        try:
            ca = make_ca(tap.subdirectory("ca"))
        except Skip as reason:
            tap.skip("servers with TLS", reason)
            return
        tap.run(test_dovecot, tap.subdirectory("d"), ca)
        tap.run(test_whole_way, tap, ca)
        tap.run(test_queue, tap, ca)
        tap.run(test_settings, tap, ca)


if __name__ == "__main__":
    main()
