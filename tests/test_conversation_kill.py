#!/usr/bin/env python3
"""test_conversation_kill.py - a kill at any system call does not repeat or lose a command.

A user subscribes, confirms, tunes and leaves by mails in a Maildir.  Each mail is handled
by a program that is killed at a system call, and then by one that is not: the store and
the mails sent are the same as without a kill.
PAPERBOY_LONG=1: kill at every call, else at some, of every other kind for a mail.
"""

import collections
import os
import random
import shutil
import signal

import lib  # the path
from conversations import CONFIRM, EVA, LEAVE, SUBSCRIBE, TUNE, Mailbox, check_values
import stores
from tap import IS_LONG, Tap, need_strace

SEED = int(os.environ.get("PAPERBOY_SEED") or (random.randrange(1 << 30) if IS_LONG else 1))
STEPS = (SUBSCRIBE, CONFIRM, TUNE, LEAVE)
DAY = "2026-11-20"
NOON = f"{DAY}T12:00:00Z"
LATER = f"{DAY}T12:30:00Z"  # retries after a kill are due

# System calls, and how many of each the short run skips at most.
CALLS = {"pwrite64": 120, "fdatasync": 9, "rename": 1, "pipe2": 3, "wait4": 1, "openat": 180,
         "read": 180, "write": 60}
if stores.is_database():
    CALLS |= {"sendto": 120, "fdatasync": 2}

# The state to compare, without numbers and times that a restart changes.
SAVED = {
    "inbox": "SELECT state, tries, verdict FROM inbox ORDER BY id",
    "subscriber": "SELECT address, state FROM subscriber ORDER BY id",
    "subscription": "SELECT number, name, text FROM subscription ORDER BY id",
    "confirmation": "SELECT purpose, address, action, used_at IS NULL FROM confirmation ORDER BY id",
    "digest": "SELECT d.date, d.state, count(*) FROM digest d LEFT JOIN digest_item i"
              " ON i.digest_id = d.id GROUP BY d.id ORDER BY d.id",
    "outbox": "SELECT kind, state, attempt > 0 FROM outbox ORDER BY id",
    "rate_log": "SELECT kind, address_hash FROM rate_log ORDER BY id",
    "audit_log": "SELECT who, what, detail FROM audit_log ORDER BY id",
}


def kill_at(strace, mailbox, call, number):
    """Run and kill at a call.  @return whether there was such a call"""
    done = mailbox.instance.once(NOON, prefix=[
        # LeakSanitizer does not work under ptrace
        strace, "-qq", "-E", "ASAN_OPTIONS=detect_leaks=0", "-o",
        os.path.join(mailbox.directory, "trace"), "-e",
        f"trace={call}", "-e", f"inject={call}:signal=KILL:when={number}"])
    assert done.status in (0, -signal.SIGKILL), done
    return done.status == -signal.SIGKILL


def save(mailbox):
    return {name: mailbox.instance.rows(sql) for name, sql in SAVED.items()}


def check_same(mailbox, saved, subjects):
    mailbox.instance.check_store()
    found = save(mailbox)
    for name, rows in saved.items():
        assert found[name] == rows, f"{name}: {found[name]}, not {rows}"
    assert mailbox.subjects() == subjects, f"{mailbox.subjects()}, not {subjects}"


class Handled:
    """The state before and after the mail of a step, without a kill."""

    def __init__(self, tap, number, step, mailbox, papers):
        self.tap, self.name, self.papers = tap, step.name, papers
        mailbox.deliver(number, step)
        self.start = mailbox.copy(os.path.join(tap.directory, f"start-{number}"), papers)
        before = len(mailbox.mails())
        mailbox.instance.once(NOON, wanted=0)
        mailbox.instance.once(LATER, wanted=0)
        self.saved, self.subjects = save(mailbox), mailbox.subjects()
        self.new_mails = len(self.subjects) - before
        check_values(step, mailbox.instance)

    def survives(self, strace, call, number):
        """Kill at a call and restart.  @return whether there was such a call"""
        directory = os.path.join(self.tap.directory, "killed")
        mailbox = self.start.copy(directory, self.papers)
        try:
            is_hit = kill_at(strace, mailbox, call, number)
            mailbox.instance.check_store()
            mailbox.instance.once(NOON)  # a reply in doubt waits for a minute
            mailbox.instance.once(LATER, wanted=0)
            check_same(mailbox, self.saved, self.subjects)
        except AssertionError:
            self.tap.diag(f"{self.name}: killed at {call} number {number}")
            raise
        finally:
            shutil.rmtree(directory)
        return is_hit


def every_kill_has_its_effect_once(tap):
    """a command that is killed at any system call has its effect and its reply once"""
    strace = need_strace()
    rng = random.Random(SEED)
    papers = tap.subdirectory("papers")
    mailbox = Mailbox(tap.subdirectory("whole"), papers)
    mailbox.instance.write_day(DAY, range(3))
    mailbox.instance.once(NOON, wanted=0)
    kills = collections.Counter()
    for number, step in enumerate(STEPS, 1):
        handled = Handled(tap, number, step, mailbox, papers)
        saved = handled.saved
        assert handled.new_mails == step.mails, (step.name, handled.subjects)
        assert all(row[0] == "done" for row in saved["inbox"]), saved
        for place, (call, most) in enumerate(CALLS.items()):
            if not IS_LONG and call != "fdatasync" and (place + number) % 2:
                continue
            at = 0
            while True:
                at += 1 if IS_LONG else rng.randint(1, most)
                if not handled.survives(strace, call, at):
                    break
                kills[step.name, call] += 1
    assert saved["subscriber"] == [(EVA, "gone")], saved
    tap.diag(f"{sum(kills.values())} kills: {dict(kills)}")
    assert all(kills[step.name, "fdatasync"] for step in STEPS), kills


with Tap() as tap:
    tap.diag(f"PAPERBOY_SEED={SEED}")
    tap.run(every_kill_has_its_effect_once, tap)
