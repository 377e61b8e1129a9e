#!/usr/bin/env python3
"""test_conversation_kill.py - killed behind any step, a command counts once.

Somebody subscribes, confirms, adds a filter and leaves, by letters in a Maildir.  Each
letter is handled by a program that is killed at one call, and then by one that is not:
what is kept is what a life without a kill keeps, and the person has the same mails.
PAPERBOY_LONG=1: at every call, else at some of each.
"""

import collections
import email.message
import os
import random
import shutil
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

from daemon import Instance, parse
from tap import Skip, Tap, need_programs, run, top_builddir

IS_LONG = os.environ.get("PAPERBOY_LONG", "") not in ("", "0")
SEED = int(os.environ.get("PAPERBOY_SEED") or random.randrange(1 << 30))
EVA = "eva@example.org"
HOME = "paperboy@news.example"
DAY = "2026-11-20"
NOON = f"{DAY}T12:00:00Z"
LATER = f"{DAY}T12:30:00Z"  # what had to wait after a kill is due again

# And how many of each are passed over at most, in the short run.
CALLS = {"pwrite64": 40, "fdatasync": 6, "rename": 1, "pipe2": 2, "wait4": 1, "openat": 60,
         "read": 60, "write": 20}

# What is kept, without what a second life numbers or times in another way.
SAVED = {
    "letter": "SELECT state, tries, verdict FROM inbox ORDER BY id",
    "subscriber": "SELECT address, state FROM subscriber ORDER BY id",
    "subscription": "SELECT number, name, text FROM subscription ORDER BY id",
    "ticket": "SELECT purpose, address, action, used_at IS NULL FROM confirmation ORDER BY id",
    "digest": "SELECT d.date, d.state, count(*) FROM digest d LEFT JOIN digest_item i"
              " ON i.digest_id = d.id GROUP BY d.id ORDER BY d.id",
    "outbox": "SELECT kind, state, attempt > 0 FROM outbox ORDER BY id",
    "allowance": "SELECT kind, address_hash FROM rate_log ORDER BY id",
    "change": "SELECT who, what, detail FROM audit_log ORDER BY id",
}


class Life:
    """Paperboy, its Maildir, and that of everybody it writes to."""

    def __init__(self, directory, papers):
        self.directory = directory
        self.inbox = os.path.join(directory, "inbox")
        self.out = os.path.join(directory, "out")
        for part in ("new", "cur", "tmp"):
            os.makedirs(os.path.join(self.inbox, part), exist_ok=True)
        self.instance = Instance(
            directory, maildir=self.out, papers=papers, commands__address=HOME,
            receive__maildir=self.inbox, receive__recipient_header="Delivered-To",
            receive__parser=os.path.join(top_builddir(), "paperboy-parser"))

    def drop(self, number, raw):
        name = f"{1000000000 + number}.M{number}P1.mail"
        with open(os.path.join(self.inbox, "tmp", name), "wb") as file:
            file.write(raw)
        os.rename(os.path.join(self.inbox, "tmp", name),
                  os.path.join(self.inbox, "new", name))

    def copy(self, directory, papers):
        """Another life that goes on from here."""
        other = Life(directory, papers)
        for part in ("inbox", "out", "state"):
            if os.path.isdir(os.path.join(self.directory, part)):
                shutil.rmtree(os.path.join(directory, part), ignore_errors=True)
                shutil.copytree(os.path.join(self.directory, part),
                                os.path.join(directory, part))
        return other

    def saved(self):
        return {name: self.instance.rows(sql) for name, sql in SAVED.items()}

    def mails(self):
        """All that went out, sorted by what it says."""
        mails = []
        directory = os.path.join(self.out, "new")
        for name in os.listdir(directory) if os.path.isdir(directory) else ():
            with open(os.path.join(directory, name), "rb") as file:
                mails.append(parse(file.read()))
        return mails

    def subjects(self):
        return sorted((mail["Subject"], mail["To"]) for mail in self.mails())


def message(number, recipient, subject, text=""):
    mail = email.message.EmailMessage()
    mail["Delivered-To"] = recipient
    mail["Return-Path"] = f"<{EVA}>"
    mail["From"] = EVA
    mail["To"] = recipient
    mail["Subject"] = subject
    mail["Message-ID"] = f"<{number}@mail.example.org>"
    mail.set_content(text or "\n")
    return mail.as_bytes()


def one(life, wanted):
    """The one mail of which something holds."""
    (mail,) = [mail for mail in life.mails() if wanted(mail)]
    return mail


# The conversation: a name, the letter, and how many answers and digests it brings.
STEPS = (
    ("subscribe", 1, lambda life: message(
        1, HOME, "subscribe Eva", "add name=papers paper\nadd absent\n")),
    ("confirm", 2, lambda life: message(
        2, one(life, lambda mail: "+c-" in mail.get("Reply-To", ""))["Reply-To"],
        "Re: yes", "ok\n")),
    ("add", 1, lambda life: message(
        3, one(life, lambda mail: mail["List-Id"])["Reply-To"], "Re: papers",
        "add name=more diffusion\n")),
    ("unsubscribe", 1, lambda life: message(4, HOME, "unsubscribe")),
)


def tracer():
    (strace,) = need_programs("strace")
    probe = run([strace, "-qq", "-e", "trace=none", "true"], check=False)
    if probe.strip():
        raise Skip(f"strace does not work here: {probe}")
    return strace


def kill_at(strace, life, call, number):
    """@return whether there was such a call"""
    done = life.instance.once(NOON, prefix=[
        # who is traced cannot look for its leaks
        strace, "-qq", "-E", "ASAN_OPTIONS=detect_leaks=0", "-o",
        os.path.join(life.directory, "trace"), "-e",
        f"trace={call}", "-e", f"inject={call}:signal=KILL:when={number}"])
    assert done.status in (0, -signal.SIGKILL), done
    return done.status == -signal.SIGKILL


def is_as_wanted(life, saved, subjects):
    life.instance.check_store()
    found = life.saved()
    for name, rows in saved.items():
        assert found[name] == rows, f"{name}: {found[name]}, not {rows}"
    assert life.subjects() == subjects, f"{life.subjects()}, not {subjects}"


class Stage:
    """One letter of the conversation: from where, and what has to come of it."""

    def __init__(self, tap, name, life, papers, raw):
        self.tap, self.name, self.papers = tap, name, papers
        life.drop(len(os.listdir(os.path.join(life.inbox, "cur"))) + 1, raw)
        self.start = life.copy(os.path.join(tap.directory, f"start-{name}"), papers)
        before = len(life.mails())
        life.instance.once(NOON, wanted=0)
        life.instance.once(LATER, wanted=0)
        self.saved, self.subjects = life.saved(), life.subjects()
        self.new_mails = len(self.subjects) - before

    def survives(self, strace, call, number):
        """Killed there and begun again.  @return whether there was such a call"""
        directory = os.path.join(self.tap.directory, "killed")
        life = self.start.copy(directory, self.papers)
        try:
            is_hit = kill_at(strace, life, call, number)
            life.instance.check_store()
            life.instance.once(NOON)  # an answer that was in flight waits a minute
            life.instance.once(LATER, wanted=0)
            is_as_wanted(life, self.saved, self.subjects)
        except AssertionError:
            self.tap.diag(f"{self.name}: killed at {call} number {number}")
            raise
        finally:
            shutil.rmtree(directory)
        return is_hit


def every_kill_has_its_effect_once(tap):
    """7.4 killed behind any step of a command, its effect and its answer come once"""
    strace = tracer()
    rng = random.Random(SEED)
    papers = tap.subdirectory("papers")
    life = Life(tap.subdirectory("whole"), papers)
    life.instance.write_day(DAY, range(3))
    life.instance.once(NOON, wanted=0)
    kills = collections.Counter()
    for name, mails, make in STEPS:
        stage = Stage(tap, name, life, papers, make(life))
        assert stage.new_mails == mails, (name, stage.subjects)
        assert all(row[0] == "done" for row in stage.saved["letter"]), stage.saved
        for call, step in CALLS.items():
            number = 0
            while True:
                number += 1 if IS_LONG else rng.randint(1, step)
                if not stage.survives(strace, call, number):
                    break
                kills[name, call] += 1
    # the conversation came about
    assert stage.saved["subscriber"] == [(EVA, "gone")], stage.saved
    tap.diag(f"{sum(kills.values())} kills: {dict(kills)}")
    assert all(kills[name, "fdatasync"] for name, _, _ in STEPS), kills


with Tap() as tap:
    tap.diag(f"PAPERBOY_SEED={SEED}")
    tap.run(every_kill_has_its_effect_once, tap)
