"""conversations.py - the mail conversations that several tests play.

A conversation is a tuple of steps; each step is a mail from a user, the number of mails
that it causes, and values of the store after it.  play() plays one over any transport.
"""

import collections
import email.message
import os
import shutil

from daemon import Instance, parse
from tap import read, save, top_builddir

EVA = "eva@example.org"
HOME = "paperboy@news.example"
PARSER = os.path.join(os.path.abspath(top_builddir()), "paperboy-parser")

# Recipients of a step, found in the mails before it.
CONFIRMATION = "confirmation"  # Reply-To of the last confirmation request
DIGEST = "digest"  # Reply-To of the digest
UNSUBSCRIBE = "unsubscribe"  # List-Unsubscribe of the digest
COMMANDS = "commands"  # the address for commands

Step = collections.namedtuple("Step", "name to subject text mails values sender headers")


def make_step(name, to, subject, text="", mails=1, values=(), sender=EVA, **headers):
    """mails: number of mails that the step causes; values: (SQL, expected value)."""
    return Step(name, to, subject, text, mails, values, sender, headers)


def count(table, number):
    return f"SELECT count(*) FROM {table}", number


def state(name):
    return "SELECT state FROM subscriber", name


SUBSCRIBE = make_step(
    "subscribe", COMMANDS, "subscribe name=Eva",
    'add name=papers paper\nadd name=none "quite absent"\n', values=(count("subscriber", 0),))
CONFIRM = make_step(
    "confirm", CONFIRMATION, "Re: your subscription", "ok\n", mails=2,
    values=(state("active"), count("subscription", 2)))
TUNE = make_step(
    "tune", DIGEST, "Re: papers", "add name=more diffusion\ndel none\nset max 5\n",
    values=(count("subscription", 2), ("SELECT max_full FROM subscriber", 5)))
# A mail without a token asks for a confirmation, since its sender may be forged.
FORGED = make_step(
    "forged", COMMANDS, "del papers", values=(count("subscription", 2),))
LEAVE = make_step("leave", COMMANDS, "unsubscribe", values=(state("gone"),))
LEAVE_BY_LINK = make_step("leave by link", UNSUBSCRIBE, "unsubscribe",
                          values=(state("gone"),))
# One-click unsubscription by a program gets no reply (RFC 3834).
LEAVE_BY_PROGRAM = make_step(
    "leave by program", UNSUBSCRIBE, "unsubscribe", mails=0, values=(state("gone"),),
    sender="robot@example.org", Auto_Submitted="auto-generated")
ERASE = make_step("erase", COMMANDS, "forget me", values=(state("active"),))
CONFIRM_ERASE = make_step("confirm erasure", CONFIRMATION, "ok")


def compose(number, step, recipient):
    """The mail of a step."""
    mail = email.message.EmailMessage()
    mail["From"] = step.sender
    mail["To"] = recipient
    mail["Subject"] = step.subject
    mail["Message-ID"] = f"<{number}.{os.getpid()}@mail.example.org>"
    for name, value in step.headers.items():
        mail[name.replace("_", "-")] = value
    mail.set_content(step.text or "\n")
    return mail


def find_recipient(step, mails, commands):
    """Find the recipient of a step, given the mails so far."""
    if step.to == COMMANDS:
        return commands
    if step.to == CONFIRMATION:
        return [mail["Reply-To"] for mail in mails if "+c-" in (mail["Reply-To"] or "")][-1]
    (digest,) = [mail for mail in mails if mail["List-Id"]]
    if step.to == DIGEST:
        return digest["Reply-To"]
    return digest["List-Unsubscribe"][len("<mailto:"):-1]


def check_values(step, instance):
    for sql, expected in step.values:
        got = instance.value(sql)
        assert got == expected, (step.name, sql, got, expected)


def play(steps, instance, commands, send, receive):
    """Play a conversation; yields (step, mail sent, all mails received) after each step.

    send(sender, recipient, mail) sends a mail, receive(number) returns all mails once
    there are so many.
    """
    mails = []
    for number, step in enumerate(steps, 1):
        recipient = find_recipient(step, mails, commands)
        mail = compose(number, step, recipient)
        send(step.sender, recipient, mail)
        if step.mails:
            mails = receive(len(mails) + step.mails)
            check_values(step, instance)
        yield step, mail, mails


class Mailbox:
    """Paperboy with a Maildir for its mail, and one for all mail that it sends."""

    def __init__(self, directory, papers=None, **settings):
        self.directory = directory
        self.inbox = os.path.join(directory, "inbox")
        self.out = os.path.join(directory, "out")
        for part in ("new", "cur", "tmp"):
            os.makedirs(os.path.join(self.inbox, part), exist_ok=True)
        self.instance = Instance(
            directory, maildir=self.out, papers=papers, commands__address=HOME,
            receive__maildir=self.inbox, receive__recipient_header="Delivered-To",
            receive__parser=PARSER, **settings)

    def deliver(self, number, step):
        """Put the mail of a step into the Maildir."""
        mail = compose(number, step, find_recipient(step, self.mails(), HOME))
        mail["Delivered-To"] = mail["To"]
        mail["Return-Path"] = f"<{EVA}>"
        name = f"{1000000000 + number}.M{number}P1.mail"
        save(os.path.join(self.inbox, "tmp", name), mail.as_bytes())
        os.rename(os.path.join(self.inbox, "tmp", name),
                  os.path.join(self.inbox, "new", name))

    def copy(self, directory, papers):
        """A copy with the same state."""
        other = Mailbox(directory, papers)
        other.instance.take_state(self.instance)
        for part in ("inbox", "out"):
            if os.path.isdir(os.path.join(self.directory, part)):
                shutil.rmtree(os.path.join(directory, part), ignore_errors=True)
                shutil.copytree(os.path.join(self.directory, part),
                                os.path.join(directory, part))
        return other

    def mails(self):
        """All mails that were sent."""
        mails = []
        directory = os.path.join(self.out, "new")
        for name in os.listdir(directory) if os.path.isdir(directory) else ():
            mails.append(parse(read(os.path.join(directory, name))))
        return mails

    def subjects(self):
        return sorted((mail["Subject"], mail["To"]) for mail in self.mails())
