"""whole.py - a whole mailing with the real program, from papers to the relay's last 250.

In all: `paperboyd --once` on a store with a new day of papers, into smtp-sink.  Beside
it, SQLite alone writes the rows of such a mailing (rows.c), then smtp-source sends as
many messages of the same sizes; and a short script (script.py) does the same work.

By step: matching and building with their functions in programs of their own, so that
each has a peak of memory; sending with `paperboyd --once` on a store of built digests.

Latency: while the daemon sends a mailing, a subscriber is added and a command arrives.
Each first digest and reply is timed from its cause to the commit of its result.

Write lock: during a whole mailing another connection begins and ends transactions; the
longest time in which it could not begin one bounds how long the lock is held.
"""

import collections
import contextlib
import os
import shutil
import smtplib
import sqlite3
import sys
import threading
import time

from daemon import Instance
from harness import (DAY, Different, Sink, Store, alternate, call, count_connections, figure,
                     print_row, program, run_once)
from tap import free_port, top_builddir, top_srcdir, wait_until

CONNECTIONS = 8  # of whole mailings
PAGE = 25  # subscribers in a commit, in the revision of mailing.sql
CLASSES = 8  # sizes of messages
SAMPLE = 1000  # subscribers whose messages give the sizes
SCRIPT_SAMPLE = 500  # subscribers of script.py, which is slow
MANY = 100000  # subscribers; with more, one run, and sending by CONNECTIONS alone

COMMANDS = "commands@news.example"
AWAITED = 5  # first digests and replies during a mailing
ANY_PAPER = "source:hf"  # a filter that matches each paper, made-up ones too

Mailing = collections.namedtuple(
    "Mailing", "people digests papers bytes peer_bytes total floor script steps waits blocked_s")


def new_instance(directory, store, **settings):
    """A fresh instance with a copy of a store; it collects no papers."""
    shutil.rmtree(directory, ignore_errors=True)
    instance = Instance(directory, log_level="warning", huggingface__enabled=False,
                        commands__address=COMMANDS,
                        web__url="https://papers.example.org", **settings)
    shutil.copy(store, instance.store)
    return instance


def first_people(table, count, path):
    """Write the rows of the first subscribers of a table.  @return path"""
    seen = set()
    with open(table, encoding="utf-8") as source, open(path, "w", encoding="utf-8") as file:
        for line in source:
            seen.add(line.partition("\t")[0])
            if len(seen) > count:
                break
            file.write(line)
    return path


class Messages:
    """Real messages of the mean size of each class of sizes, for smtp-source."""

    def __init__(self, directory, mailing, people):
        """@param mailing  the store of a mailing, of whose first people they are"""
        table = first_people(f"{mailing.path[:-3]}.tsv", people,
                             os.path.join(directory, "sample.tsv"))
        store = os.path.join(directory, "sample.db")
        call(program("fill"), store, mailing.directory, table)
        maildir = os.path.join(directory, "Maildir")
        run_once(new_instance(os.path.join(directory, "sample"), store, maildir=maildir), 12)
        messages = []
        for entry in os.scandir(os.path.join(maildir, "new")):
            with open(entry.path, "rb") as file:
                _return_path, _delivered_to, message = file.read().split(b"\n", 2)
            messages.append((len(message) + message.count(b"\n"), message))
        messages.sort()
        self.bytes = sum(size for size, _ in messages) / len(messages)
        self.files, sizes = [], []
        for number in range(CLASSES):
            one_class = messages[number * len(messages) // CLASSES:
                                 (number + 1) * len(messages) // CLASSES]
            mean = sum(size for size, _ in one_class) / len(one_class)
            size, message = min(one_class, key=lambda row: abs(row[0] - mean))
            sizes.append(size)
            self.files.append(os.path.join(directory, f"message-{number}"))
            with open(self.files[-1], "wb") as file:
                file.write(message)
        self.peer_bytes = sum(sizes) / CLASSES


class Writer(threading.Thread):
    """Another writer of a store, which changes nothing, until it is joined."""

    PAUSE_S = 0.001

    def __init__(self, path):
        super().__init__()
        self.path, self.blocked_s, self.is_ended = path, 0, False
        self.start()

    def run(self):
        with contextlib.closing(sqlite3.connect(self.path, timeout=0,
                                                isolation_level=None)) as db:
            free_at = time.monotonic()
            while not self.is_ended:
                try:
                    db.execute("BEGIN IMMEDIATE")
                    db.execute("ROLLBACK")
                    self.blocked_s = max(self.blocked_s, time.monotonic() - free_at)
                    time.sleep(self.PAUSE_S)
                    free_at = time.monotonic()
                except sqlite3.OperationalError:  # locked
                    time.sleep(self.PAUSE_S)

    def join(self, timeout=None):
        self.is_ended = True
        super().join(timeout)


def in_all(parts):
    """Results of programs that run one after another."""
    return {"wall": sum(part["wall"] for part in parts),
            "cpu": sum(part["cpu"] for part in parts),
            "peak_kb": max(part["peak_kb"] for part in parts)}


class Runner:
    """The programs that are compared, on one store."""

    def __init__(self, store, sink, messages):
        self.store, self.sink, self.messages = store, sink, messages
        self.place = os.path.join(store.directory, "instance")
        self.digests = self.papers = 0

    def expect(self, before, count):
        """The sink counts a message just after its reply."""
        wait_until(lambda: self.sink.count() - before >= count, f"{count} messages")
        if self.sink.count() - before != count:
            raise Different(f"{self.sink.count() - before} messages, not {count}")

    def match(self):
        return call(program("match_papers"), self.store.copy(self.store.path, "matched"),
                    "day")

    def build(self):
        values = call(program("build_digests"), self.store.copy(self.store.matched, "made"))
        self.digests, self.papers = int(values["digests"]), int(values["papers"])
        return values

    def deliver(self, path, connections, is_watched=False):
        """paperboyd --once: on matched and built digests, it sends only.

        @param is_watched  add "blocked_s" of another writer to the result
        """
        before = self.sink.count()
        instance = new_instance(self.place, path, port=self.sink.port,
                                smtp__connections=connections)
        writer = Writer(instance.store) if is_watched else None
        try:
            values = run_once(instance, 12)
        finally:
            if writer:
                writer.join()
        if writer:
            values["blocked_s"] = writer.blocked_s
        if instance.states() != {"SENT": self.digests}:
            raise Different(f"the outbox came to {instance.states()}")
        self.expect(before, self.digests)
        shutil.rmtree(self.place)
        return values

    def await_state(self, instance, sql, *values):
        """Wait until a message is sent.  @return seconds, and how many digests were not"""
        start = time.monotonic()
        wait_until(lambda: instance.rows(sql, *values) == [("SENT",)], "what is awaited")
        return time.monotonic() - start, instance.value(
            "SELECT count(*) FROM outbox WHERE ended_at IS NULL")

    def wait_for(self, instance, lmtp_port, number):
        """Cause a first digest, then a reply.  @return as await_state(), for each"""
        first, asking = f"first-{number}@example.org", f"asking-{number}@example.org"
        instance.add_person(first, now=f"{DAY}T12:00:00Z", query=ANY_PAPER)
        yield self.await_state(
            instance, "SELECT o.state FROM outbox o JOIN subscriber s"
            " ON s.id = o.subscriber_id WHERE s.address = ?", first)
        with smtplib.LMTP("127.0.0.1", lmtp_port) as lmtp:
            lmtp.sendmail(asking, COMMANDS,
                          f"From: {asking}\nTo: {COMMANDS}\nMessage-ID: <{asking}>\n\nhelp\n")
        yield self.await_state(
            instance, "SELECT state FROM outbox WHERE recipient = ?", asking)

    def latency(self):
        """@return [(seconds, digests not sent then)] of first digests and of replies"""
        before, lmtp_port = self.sink.count(), free_port()
        instance = new_instance(self.place, self.store.made, port=self.sink.port,
                                smtp__connections=CONNECTIONS,
                                web__socket=os.path.join(self.place, "web"),
                                receive__parser=os.path.join(top_builddir(), "paperboy-parser"),
                                receive__lmtp_listen=f"127.0.0.1:{lmtp_port}")
        with contextlib.closing(sqlite3.connect(instance.store)) as db, db:
            db.execute("UPDATE outbox SET priority = 0")  # else all are first digests
        with instance.start(now=f"{DAY}T12:00:00Z") as child:
            wait_until(lambda: self.sink.count() > before, "the first message")
            waits = [list(self.wait_for(instance, lmtp_port, number))
                     for number in range(AWAITED)]
            wait_until(lambda: set(instance.states()) == {"SENT"}, "the end of the mailing",
                       deadline_s=600)
            child.stop()
        shutil.rmtree(self.place)
        return list(zip(*waits))

    def rows(self, *page):
        """@param page  for digests that are built; none for a mailing in one commit"""
        path = os.path.join(self.store.directory, "rows.db")
        values = call(program("rows"), path,
                      os.path.join(top_srcdir(), "bench", "mailing.sql"),
                      self.store.people, self.digests, self.papers, *page)
        for name in ("", "-made"):
            os.unlink(path + name)
        return values

    def smtp_source(self, connections):
        before = self.sink.count()
        parts, sent = [], 0
        for number, file in enumerate(self.messages.files, 1):
            count = self.digests * number // CLASSES - sent
            sent += count
            if count:
                parts.append(call(program("timed"), self.sink.source, "-d",
                                  "-s", min(connections, count), "-m", count, "-F", file,
                                  "-f", "paperboy@papers.example.org",
                                  "-t", "person@example.org", f"127.0.0.1:{self.sink.port}"))
        self.expect(before, self.digests)
        return in_all(parts)

    def floor(self):
        return in_all([self.rows(), self.smtp_source(CONNECTIONS)])

    def script(self, people):
        """@return for as many messages as the mailing has"""
        before = self.sink.count()
        path = self.store.path[:-3]
        table = first_people(f"{path}.tsv", people, f"{path}-script.tsv")
        values = call(program("timed"), sys.executable, "-B",
                      os.path.join(top_srcdir(), "bench", "script.py"),
                      os.path.join(self.store.directory, f"daily_papers-{DAY}.json"), table,
                      self.sink.port)
        factor = self.digests / (self.sink.count() - before)
        return values | {"wall": values["wall"] * factor, "cpu": values["cpu"] * factor}


def bench_whole(directory, titles, people, is_quick):
    """Print the rows of one size.  @return a Mailing"""
    store = Store(directory, people, titles)
    sample = os.path.join(directory, "whole")
    os.makedirs(sample)
    messages = Messages(sample, store, min(people, SAMPLE))
    runs = 1 if is_quick or people > MANY else 2 if people == MANY else 3
    with Sink(os.path.join(sample, "counts")) as sink:
        runner = Runner(store, sink, messages)
        steps = {"matching": figure([runner.match()])}
        building, rows = alternate(runs, runner.build, lambda: runner.rows(PAGE))
        steps["building"] = building
        total, floor, script = alternate(
            runs, lambda: runner.deliver(store.path, CONNECTIONS), runner.floor,
            lambda: runner.script(min(people, 20 if is_quick else SCRIPT_SAMPLE)))
        print_row(f"{people:,} people", "s", 1, total, floor)
        print_row("  beside a script", "s", 1, total, script)
        print_row("  matching", "s", 1, steps["matching"])
        print_row("  building, beside SQLite", "s", 1, building, rows)
        for connections in (1, CONNECTIONS, 50) if people <= MANY else (CONNECTIONS,):
            ours, theirs = alternate(
                runs, lambda: runner.deliver(store.made, connections),
                lambda: runner.smtp_source(connections))
            print_row(f"  sending, {count_connections(connections)}", "s", 1, ours, theirs)
            if connections == CONNECTIONS:
                steps["sending"] = ours
        waits = runner.latency()
        blocked_s = runner.deliver(store.path, CONNECTIONS, is_watched=True)["blocked_s"]
    store.remove()
    shutil.rmtree(sample)
    return Mailing(people, runner.digests, runner.papers, messages.bytes,
                   messages.peer_bytes, total, floor, script, steps, waits, blocked_s)


def format_mailing(mailing):
    """Lines for the end of the report."""
    total = mailing.total
    yield (f"{mailing.people:,} people: {mailing.digests:,} digests with"
           f" {mailing.papers:,} papers, {mailing.bytes / 1000:.1f} KB each"
           f" ({mailing.peer_bytes / 1000:.1f} by smtp-source), take {total.wall:.1f} s from"
           f" the papers to the last 250: {total.wall / mailing.floor.wall:.2f} of SQLite and"
           f" smtp-source, 1/{mailing.script.wall / total.wall:.0f} of the script")
    yield "  " + "; ".join(
        f"{name} {one.wall * 1e6 / mailing.digests:,.0f} us a digest"
        f" ({one.cpu * 1e6 / mailing.digests:,.0f} of CPU), {one.peak_kb / 1024:.0f} MB"
        for name, one in mailing.steps.items())
    for name, waits in zip(("first digests", "replies"), mailing.waits):
        yield (f"  {name} after {', '.join(f'{wait * 1000:,.0f}' for wait, _ in waits)} ms while"
               f" {', '.join(f'{left:,}' for _, left in waits)} digests were queued")
    yield f"  another writer of the store waited at most {mailing.blocked_s * 1000:,.0f} ms"
