#!/usr/bin/env python3
"""test_conversation.py - users and paperboy exchange mail over real servers.

Mails go to paperboy through Postfix by LMTP, or through a hosted mailbox by IMAP;
replies go through Postfix into a user's Maildir at Dovecot.
"""

import email.message
import os
import pathlib
import re
import smtplib

import lib  # the path
import conversations
from clock import DAY
from conversations import (
    CONFIRM, CONFIRM_ERASE, ERASE, EVA, FORGED, HOME, LEAVE_BY_LINK, LEAVE_BY_PROGRAM,
    SUBSCRIBE, TUNE,
)
from daemon import days_after
from mail_network import BOX, HostedNetwork, Network
from tap import Tap, read, top_srcdir, wait_until

FULL = (SUBSCRIBE, CONFIRM, TUNE, FORGED, LEAVE_BY_PROGRAM)
HOSTED = (SUBSCRIBE, CONFIRM, TUNE, LEAVE_BY_LINK)
ERASURE = (SUBSCRIBE, CONFIRM, ERASE, CONFIRM_ERASE)


def text_of(mail):
    part = mail.get_body(("plain",))
    return part.get_content()


def a_user_subscribes_tunes_and_leaves_by_mail(tap):
    with Network(tap, "whole") as network:
        for back in range(6):
            network.instance.write_day(days_after(DAY, -back),
                                       [back * 10 + 1, back * 10 + 2])
        network.start()
        for step, sent, mails in network.play(FULL):
            if step == SUBSCRIBE:
                check_confirmation(sent, mails[0])
            elif step == CONFIRM:
                digest = next(mail for mail in mails if mail["List-Id"])
                (welcome,) = [mail for mail in mails[1:] if not mail["List-Id"]]
                assert "papers" in text_of(welcome), text_of(welcome)
                # Papers of today and the three days before.
                assert network.instance.value("SELECT count(*) FROM digest_item") == 8
                check_digest(digest)
            elif step == FORGED:
                assert mails[-1]["Reply-To"].startswith("paperboy+c-")
        verdicts = network.wait_verdicts(5)
        assert verdicts[4] == "replied", verdicts
        conversations.check_values(LEAVE_BY_PROGRAM, network.instance)
        network.dovecot.wait_mails(EVA, 6)  # the last is the notice
        network.instance.check_store()


def check_confirmation(request, confirmation):
    assert confirmation["In-Reply-To"] == request["Message-ID"]
    assert confirmation["Auto-Submitted"] == "auto-replied"
    assert not [name for name in confirmation.keys() if name.startswith("List-")]
    assert confirmation["To"] == EVA
    assert re.match(r"paperboy\+b-[a-z2-7]+@news\.example", confirmation["Return-Path"]
                    .strip("<>")), confirmation["Return-Path"]
    assert confirmation["Reply-To"].startswith("paperboy+c-")
    assert "paper" in text_of(confirmation) and "absent" in text_of(confirmation)


def check_digest(digest):
    assert digest["Reply-To"].startswith("paperboy+r-")
    assert re.fullmatch(r"<mailto:paperboy\+u-[a-z2-7]+@news\.example>",
                        digest["List-Unsubscribe"]), digest["List-Unsubscribe"]
    assert re.match(r"<?paperboy\+b-", digest["Return-Path"]), digest["Return-Path"]


def a_hosted_mailbox_is_enough(tap):
    """IMAP and submission with a login suffice to subscribe, tune and leave"""
    with HostedNetwork(tap, "hosted") as network:
        for back in range(3):
            network.instance.write_day(days_after(DAY, -back), [back])
        network.start()
        for step, _, mails in network.play(HOSTED):
            if step == SUBSCRIBE:
                assert mails[0]["From"].endswith(f"{BOX}>"), mails[0]["From"]
            elif step == CONFIRM:
                # Mails that were read are marked, and stay in the mailbox.
                assert len(network.dovecot.mails(BOX)) == 2
        assert any(f"sasl_username={BOX}" in line for line in network.postfix.log)
        network.instance.check_store()


def erasure_leaves_no_data_in_the_files(tap):
    """after the last reply no byte of an erased subscriber is in the files"""
    with Network(tap, "erasure") as network:
        network.instance.write_day(DAY, [1])
        network.start()
        for _, _, mails in network.play(ERASURE):
            pass
        assert mails[4]["Return-Path"] == "<>" and "Reply-To" not in mails[4]
        network.daemon.wait_fact(
            lambda: network.instance.value("SELECT count(*) FROM subscriber") == 0
            and network.instance.value(
                "SELECT count(*) FROM cursor WHERE name = 'erasure' AND value = 1") == 0,
            "the erasure",
        )
        left = []
        for name in os.listdir(network.instance.state):
            path = os.path.join(network.instance.state, name)
            if os.path.isfile(path):
                content = read(path).lower()
                left += [(name, word) for word in (b"eva@", b"quite absent")
                         if word in content]
        assert not left, left


def two_instances_do_not_reply_to_each_other(tap):
    """mails between two instances end after one reply"""
    with Network(tap, "one") as network:
        network.start()
        # Another instance writes to this one.
        other = "paperboy@example.org"
        network.write(HOME, "help", sender=other)
        (reply,) = network.read(1, user=other)
        # Its reply has the headers by which each instance recognises replies.
        network.send("", HOME, reply)
        assert network.wait_verdicts(2) == ["replied", "no reply: null-sender"]
        reply.replace_header("Message-ID", "<x@example.org>")
        reply.replace_header("From", other)
        network.send(other, HOME, reply)
        # X-Loop has our address; with another one Auto-Submitted suffices.
        assert network.wait_verdicts(3)[2] == "no reply: loop"
        reply.replace_header("X-Loop", other)
        reply.replace_header("Message-ID", "<y@example.org>")
        network.send(other, HOME, reply)
        assert network.wait_verdicts(4)[3] == "no reply: automatic"
        assert len(network.dovecot.mails(other)) == 1


def automatic_mail_gets_no_reply(tap):
    """automatic replies, bounces and our own mails get no reply"""
    with Network(tap, "automatic") as network:
        network.start()
        # A vacation responder replies to the help.
        network.write(HOME, "help")
        (reply,) = network.read(1)
        network.write(
            HOME, "Out of office Re: " + reply["Subject"], "I am away.\n",
            Auto_Submitted="auto-replied", In_Reply_To=reply["Message-ID"],
        )
        # A forwarder returns our own reply, and a bounce arrives.
        network.send(EVA, HOME, reply)
        network.send("", HOME, email.message_from_string(
            f"From: mailer-daemon@example.org\nTo: {HOME}\nSubject: failed\n\nfailed\n"))
        verdicts = network.wait_verdicts(4)
        assert sorted(verdicts) == [
            "no reply: automatic", "no reply: null-sender", "no reply: own-mail", "replied",
        ], verdicts
        assert len(network.dovecot.mails(EVA)) == 1


def an_unknown_extension_is_rejected_in_the_smtp_session(tap):
    """with the recipe of doc/mail.md Postfix rejects an unknown extension at RCPT"""
    settings = {
        "smtpd_recipient_restrictions":
            "check_recipient_access inline:{ paperboy@example.org=reject_unverified_recipient }",
        "unverified_recipient_reject_code": "550",
        "address_verify_poll_delay": "1s",
    }
    recipe = pathlib.Path(top_srcdir(), "doc/mail.md").read_text(encoding="utf-8")
    network = Network(tap, "unknown")
    for name, value in settings.items():
        assert f"'{name} = {value}'" in " ".join(recipe.split()), name
        network.postfix.settings[name] = value.replace("paperboy@example.org", HOME)
    with network:
        network.start()
        with smtplib.SMTP("127.0.0.1", network.postfix.port) as smtp:
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
        network.write(HOME, "help")
        (reply,) = network.read(1)
        assert reply["In-Reply-To"], reply.as_string()
        wait_until(lambda: not network.postfix.queued(), "the queue is empty")
        assert len(network.dovecot.mails(EVA)) == 1


def one_message_to_several_of_our_addresses_is_handled_once(tap):
    """a mail to several of our addresses is handled once, by its token"""
    with Network(tap, "several") as network:
        network.start()
        ((_, _, (asked,)),) = network.play((SUBSCRIBE,))
        mail = email.message.EmailMessage()
        mail["From"] = EVA
        mail["To"] = HOME
        mail["Subject"] = "Re: " + asked["Subject"]
        mail["Message-ID"] = "<several@mail.example.org>"
        mail.set_content("Yes, please.\n")
        network.send(EVA, [
            HOME, asked["Reply-To"],
            HOME.replace("@", "+a-longer-extension-without-any-meaning-at-all@"),
        ], mail)
        network.wait_verdicts(2)
        assert network.instance.rows("SELECT address, state FROM subscriber") == [
            (EVA, "active")]


def the_owner_decides_who_subscribes(tap):
    """a closed service refuses; an invitation, or the owner's yes, opens it"""
    owner, guest = "owner@example.org", "guest@example.org"
    with Network(tap, "policy", subscribe__policy="closed", mail__owner=owner) as network:
        network.start()
        network.write(HOME, "subscribe")
        (refused,) = network.read(1)
        assert owner in text_of(refused) and "by invitation only" in text_of(refused)
        network.instance.ctl("invite", guest)
        (invitation,) = network.read(1, user=guest)
        assert "invites you" in invitation["Subject"], invitation["Subject"]
        network.write(invitation["Reply-To"], "Re: " + invitation["Subject"], "yes\n",
                      sender=guest)
        network.read(2, user=guest)
        network.instance.set(subscribe__policy="approval")
        network.instance.ctl("reload")
        network.write(HOME, "subscribe", "add model\n")
        asked = network.read(2)[-1]
        network.write(asked["Reply-To"], "Re: " + asked["Subject"], "yes\n")
        assert "decides who can subscribe" in text_of(network.read(3)[-1])
        (question,) = network.read(1, user=owner)
        assert question["Subject"] == f"May {EVA} subscribe?", question["Subject"]
        assert "add model" in text_of(question), text_of(question)
        network.write(question["Reply-To"], "Re: " + question["Subject"], "Yes.\n",
                      sender=owner)
        assert "Welcome" in network.read(4)[-1]["Subject"]
        assert network.instance.rows("SELECT address, state FROM subscriber ORDER BY id") == [
            (guest, "active"), (EVA, "active")]


TESTS = (
    the_owner_decides_who_subscribes,
    an_unknown_extension_is_rejected_in_the_smtp_session,
    one_message_to_several_of_our_addresses_is_handled_once,
    a_user_subscribes_tunes_and_leaves_by_mail,
    a_hosted_mailbox_is_enough,
    automatic_mail_gets_no_reply,
    two_instances_do_not_reply_to_each_other,
    erasure_leaves_no_data_in_the_files,
)

with Tap() as tap:
    for test in TESTS:
        tap.run(test, tap)
