#!/usr/bin/env python3
"""test_without_subaddresses.py - mail at a provider that has no subaddresses.

Postfix and Dovecot have no recipient_delimiter, and Postfix offers no DSN: a bounce is
known by the header that it returns.  The user's mail program replies as all do, with
"Re:" before the subject and In-Reply-To.
"""

import email.utils
import re
import urllib.parse

import lib  # the path
from clock import DAY
from conversations import EVA
from daemon import at_hour, days_after
from mail_network import BOX, HostedNetwork
from peers import HOST, SmtpSink
from tap import Tap, wait_until

GONE, NEVER, MALLORY = "gone@example.org", "never@example.org", "mallory@example.org"
SERVER = "mx.example.org"
NEW = "new@example.org"


def make_network(tap, name, **settings):
    """Mail to two addresses is accepted by the provider, and returned.

    It finds that SPF passes for each envelope sender.
    """
    refuser = tap.enter(SmtpSink(tap.subdirectory(name + "-refuser"), [
        "-f", "RCPT", "-B", "550 5.1.1 no such user"]))
    onward = f"smtp:[{HOST}]:{refuser.port}"
    return HostedNetwork(tap, name, postfix={
        "recipient_delimiter": "",
        "smtpd_discard_ehlo_keywords": "dsn",
        "smtpd_data_restrictions": "check_sender_access regexp:{{"
            f"/(.+)/ prepend Authentication-Results: {SERVER}; spf=pass smtp.mailfrom=$$1}}}}",
        "transport_maps": f"inline:{{{GONE}={onward}, {NEVER}={onward}}}",
    }, dovecot="recipient_delimiter =", **settings)


def text_of(mail):
    return mail.get_body(("plain",)).get_content().replace("\r\n", "\n")


class User:
    """Eva's mailbox, and her mail program."""

    def __init__(self, network):
        self.network = network
        self.mails = []

    def receive(self, count=1):
        """The next mails."""
        before = len(self.mails)
        self.mails = self.network.read(before + count)
        assert len(self.mails) == before + count, [str(mail) for mail in self.mails[before:]]
        for mail in self.mails[before:]:
            # No address of ours has a subaddress.
            fields = (mail["Return-Path"], mail["Reply-To"], mail["List-Unsubscribe"])
            assert "+" not in "".join(str(field) for field in fields), fields
            # Replies are not returned, because of their null sender.
            bounce = mail.get_all("X-Paperboy-Bounce", [])
            assert len(bounce) == (mail["Return-Path"] != "<>"), (mail["Subject"], bounce)
        return self.mails[before:]

    def reply(self, mail, text, sender=EVA, **headers):
        self.network.write(
            email.utils.parseaddr(mail["Reply-To"] or mail["From"])[1],
            "Re: " + mail["Subject"], text, sender=sender,
            In_Reply_To=mail["Message-ID"], **headers)

    def follow(self, link, sender=EVA, **headers):
        """Send the mail of a mailto link, as it is."""
        address, _, query = link.removeprefix("mailto:").partition("?")
        (subject,) = urllib.parse.parse_qs(query)["subject"]
        self.network.write(address, subject, "", sender=sender, **headers)


def everything_works_by_mail(tap):
    """subscribe, confirm, filters, digest, why, pause, unsubscribe, undo, bounces"""
    with make_network(tap, "dialogue", commands__delimiter="",
                      commands__authserv_id=SERVER) as network:
        instance, value = network.instance, network.instance.value
        for back in range(3):
            instance.write_day(days_after(DAY, -back), [back * 2 + 1, back * 2 + 2])
        instance.add_person(GONE, now=at_hour(DAY, 6))
        network.start()
        user = User(network)

        network.write(BOX, "subscribe name=Eva", "add name=papers paper\n")
        (asked,) = user.receive()
        assert re.search(r" \[c-[a-z2-7]{26}\]$", asked["Subject"]), asked["Subject"]
        assert value("SELECT count(*) FROM subscriber WHERE address = ?", EVA) == 0
        user.reply(asked, "Yes, please!\n")
        received = user.receive(2)
        (digest,) = [mail for mail in received if mail["List-Id"]]
        (welcome,) = [mail for mail in received if not mail["List-Id"]]
        assert "[" not in digest["Subject"] + welcome["Subject"]
        assert value("SELECT state FROM subscriber WHERE address = ?", EVA) == "active"

        user.reply(digest, "add name=more diffusion\nset max 5\nwhy 1\n")
        (changed,) = user.receive()
        assert "[" not in changed["Subject"], changed["Subject"]
        assert value("SELECT max_full FROM subscriber WHERE address = ?", EVA) == 5
        assert 'papers' in text_of(changed) and "3 done" in text_of(changed)
        user.reply(changed, "del more\n")
        (changed,) = user.receive()
        assert value("SELECT count(*) FROM subscription s JOIN subscriber ON"
                     " subscriber.id = s.subscriber_id WHERE address = ?", EVA) == 1

        the_links_work(user, digest, value)
        bounces_are_known_by_their_header(network, value)
        forged_mail_changes_nothing(network, user, digest, value)
        the_old_address_gets_a_notice(network, user, digest)
        instance.check_store()


def the_links_work(user, digest, value):
    state = "SELECT state FROM subscriber WHERE address = ?"
    links = re.findall(r'href="(mailto:[^"]*)"', digest.get_body(("html",)).get_content())
    (pause,) = [link for link in links if link.endswith("pause")]
    user.follow(pause)
    (reply,) = user.receive()
    assert value(state, EVA) == "paused"
    user.reply(reply, "resume\n")
    user.receive()
    assert value(state, EVA) == "active"
    # The text part shows the subjects.
    assert re.search(r"^.*: \[w-[a-z2-7]+\]$", text_of(digest), re.MULTILINE)
    user.network.write(
        BOX, re.search(r"\[f-[a-z2-7]+\]", text_of(digest))[0], "", sender=EVA)
    user.receive()
    assert value("SELECT max_full FROM subscriber WHERE address = ?", EVA) == 3
    # One-click unsubscription by a program gets no reply (RFC 3834).
    unsubscribe = digest["List-Unsubscribe"].strip("<>")
    user.follow(unsubscribe, sender="robot@example.org", Auto_Submitted="auto-generated")
    wait_until(lambda: value(state, EVA) == "gone", "she is unsubscribed")
    user.follow(unsubscribe)
    (left,) = user.receive()
    undo = re.search(r"^undo [a-z2-7]{26}$", text_of(left), re.MULTILINE)[0]
    user.network.write(BOX, undo, "")
    user.receive()
    assert value(state, EVA) == "active"


def bounces_are_known_by_their_header(network, value):
    bounced = "SELECT count(*) FROM bounce JOIN subscriber ON" \
        " subscriber.id = bounce.subscriber_id WHERE address = ?"
    wait_until(lambda: value(bounced, GONE) == 1, "the digest is returned")
    network.write(BOX, "subscribe", "add paper\n", sender=NEVER)
    wait_until(lambda: value("SELECT count(*) FROM inbox WHERE state = 'done' AND verdict"
                             " LIKE 'report%'") == 2, "the confirmation is returned")
    assert value("SELECT count(*) FROM confirmation WHERE used_at IS NULL"
                 " AND address = ?", NEVER) == 0


def forged_mail_changes_nothing(network, user, digest, value):
    """Eva's address without a message of hers, and her message with another address."""
    filters = "SELECT count(*) FROM subscription"
    before = value(filters)
    network.write(BOX, "add name=spam lottery", "")
    (asked,) = user.receive()
    assert "[c-" in asked["Subject"]
    user.reply(digest, "del papers\n", sender=MALLORY)
    assert len(network.read(1, user=MALLORY)) == 1
    # Her address in From alone, and the Message-ID of a digest that she forwarded.
    user.reply(digest, "del papers\n", envelope="mallory@mallory.example")
    (asked,) = user.receive()
    assert "[c-" in asked["Subject"]
    assert value(filters) == before


def the_old_address_gets_a_notice(network, user, digest):
    user.reply(digest, f"address {NEW}\n")
    (asked,) = network.read(1, user=NEW)
    assert len(asked.get_all("X-Paperboy-Bounce")) == 1, asked
    user.reply(asked, "yes\n", sender=NEW)
    (notice,) = user.receive()
    assert notice["Return-Path"] == f"<{BOX}>" and NEW in text_of(notice), notice


def check_finds_what_is_missing(tap):
    """check says which setting the provider needs"""
    with make_network(tap, "check") as network:
        network.instance.write_day(DAY, [1])
        network.start()

        def check(wait_s, wanted):
            reported = network.instance.ctl("check", "--wait", str(wait_s), wanted=wanted)
            return getattr(reported, "output", reported)

        found = check(20, 65)
        assert f"received at {BOX}, but not at its subaddresses (+)" in found, found
        assert 'commands.delimiter = ""' in found, found
        network.instance.set(commands__delimiter="")
        assert re.search(r"ok +mail to itself +received$", check(60, 65), re.MULTILINE)


with Tap() as tap:
    tap.run(everything_works_by_mail, tap)
    tap.run(check_finds_what_is_missing, tap)
