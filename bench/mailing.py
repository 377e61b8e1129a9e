"""mailing.py - whole mailings with the real program, from papers to the relay's last 250.

`paperboyd --once` runs on a store with a new day of papers, into smtp-sink.  Beside it,
SQLite alone writes the rows of such a mailing (rows.c), then smtp-source sends as many
messages of the same sizes.

Write lock: during the mailing another connection begins and ends transactions; the longest
time in which it could not begin one bounds how long the lock is held.

PostgreSQL: the same mailing from a copy of the store in a database of a local server with
its usual settings: it syncs each commit.
"""

import contextlib
import os
import re
import shutil
import sqlite3
import stat
import tempfile
import threading
import time

from daemon import Instance
from harness import DAY, Different, Row, Sink, Store, alternate, call, program, run_once
from postgresql import USER, Server
from tap import top_srcdir, wait_until

CONNECTIONS = 8
CLASSES = 8  # sizes of messages
SAMPLE = 1000  # subscribers whose messages give the sizes

# Peak memory by people, MB.
PEAK_MB = ((100000, 64), (1000000, 128))


def new_instance(directory, store, **settings):
    """A fresh instance with a copy of a store; it collects no papers."""
    shutil.rmtree(directory, ignore_errors=True)
    instance = Instance(directory, log_level="warning", sources__hf__enabled=False,
                        commands__address="commands@news.example",
                        web__url="https://papers.example.org",
                        smtp__connections=CONNECTIONS, **settings)
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
        run_once(new_instance(os.path.join(directory, "sample"), store, maildir=maildir))
        messages = []
        for entry in os.scandir(os.path.join(maildir, "new")):
            with open(entry.path, "rb") as file:
                _return_path, _delivered_to, message = file.read().split(b"\n", 2)
            messages.append((len(message) + message.count(b"\n"), message))
        messages.sort()
        self.files = []
        for number in range(CLASSES):
            one_class = messages[number * len(messages) // CLASSES:
                                 (number + 1) * len(messages) // CLASSES]
            mean = sum(size for size, _ in one_class) / len(one_class)
            _, message = min(one_class, key=lambda row: abs(row[0] - mean))
            self.files.append(os.path.join(directory, f"message-{number}"))
            with open(self.files[-1], "wb") as file:
                file.write(message)


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


class Runner:
    """The programs that are compared, on one store."""

    def __init__(self, store, sink):
        self.store, self.sink = store, sink
        self.prefix = ()  # words before the command
        self.settings = {}  # beside those of new_instance()
        self.place = os.path.join(store.directory, "instance")
        self.digests = self.papers = 0

    def expect(self, before, count):
        """The sink counts a message just after its reply."""
        wait_until(lambda: self.sink.count() - before >= count, f"{count} messages")
        if self.sink.count() - before != count:
            raise Different(f"{self.sink.count() - before} messages, not {count}")

    def deliver(self, is_watched=False):
        """paperboyd --once.  @param is_watched  add "blocked_s" of another writer"""
        before = self.sink.count()
        instance = new_instance(self.place, self.store.path, port=self.sink.port,
                                **self.settings)
        writer = Writer(instance.store) if is_watched else None
        try:
            values = run_once(instance, self.prefix)
        finally:
            if writer:
                writer.join()
                values["blocked_s"] = writer.blocked_s
        states = instance.states()
        self.digests = states.get("SENT", 0)
        # The papers of a digest are packed: their number is the second byte, below 128.
        self.papers = sum(papers[1] for (papers,) in
                          instance.rows("SELECT papers FROM delivered"))
        if set(states) != {"SENT"}:
            raise Different(f"the outbox came to {states}")
        self.expect(before, self.digests)
        shutil.rmtree(self.place)
        return values

    def rows(self):
        path = os.path.join(self.store.directory, "rows.db")
        values = call(program("rows"), path,
                      os.path.join(top_srcdir(), "bench", "mailing.sql"),
                      self.store.people, self.digests, self.papers)
        for name in ("", "-made"):
            os.unlink(path + name)
        return values

    def smtp_source(self, files):
        before = self.sink.count()
        parts, sent = [], 0
        for number, file in enumerate(files, 1):
            count = self.digests * number // CLASSES - sent
            sent += count
            if count:
                parts.append(call(program("timed"), self.sink.source, "-d",
                                  "-s", min(CONNECTIONS, count), "-m", count, "-F", file,
                                  "-f", "paperboy@papers.example.org",
                                  "-t", "person@example.org", f"127.0.0.1:{self.sink.port}"))
        self.expect(before, self.digests)
        return parts

    def floor(self, files):
        return {"wall": sum(part["wall"] for part in (self.rows(), *self.smtp_source(files)))}


@contextlib.contextmanager
def open_runner(options, people):
    """A Runner of a new store, which is removed afterwards."""
    place = os.path.join(options.directory, "mailing")
    os.makedirs(place)
    store = Store(options.directory, people, options.titles)
    with Sink(os.path.join(place, "counts")) as sink:
        yield Runner(store, sink)
    store.remove()
    shutil.rmtree(place)


def bench_matching(options):
    people = min(options.crowd)
    store = Store(options.directory, people, options.titles)
    (ours,) = alternate(options.runs, lambda: call(program("match_papers"),
                                                   store.copy(store.path, "matched")))
    store.remove()
    yield Row(f"match 100 papers, {people:,} people", ours["wall"], "s", 0.3,
              f"{ours['pairs']:,.0f} pairs")
    yield Row("  peak memory", ours["peak_kb"] / 1024, "MB", 64)


def bench_mailing(options):
    with open_runner(options, options.people) as runner:
        messages = Messages(os.path.join(options.directory, "mailing"), runner.store,
                            min(options.people, SAMPLE))
        runner.deliver()  # tells the peers how many digests there are
        ours, theirs = alternate(options.runs, runner.deliver,
                                 lambda: runner.floor(messages.files))
        yield Row(f"whole mailing, {runner.digests:,} digests for {options.people:,} people",
                  ours["wall"] / theirs["wall"], "x", 1.15,
                  f"SQLite and smtp-source {theirs['wall']:.2f} s, ours {ours['wall']:.2f} s")
        blocked_s = runner.deliver(is_watched=True)["blocked_s"]
        yield Row("  another writer waits at most", blocked_s * 1000, "ms", 100)


def bench_crowd(options):
    for people in options.crowd:
        budget = next((mb for most, mb in PEAK_MB if people <= most), PEAK_MB[-1][1])
        with open_runner(options, people) as runner:
            values = runner.deliver(is_watched=True)
            yield Row(f"peak memory of a mailing, {people:,} people",
                      values["peak_kb"] / 1024, "MB", budget,
                      f"{runner.digests:,} digests in {values['wall']:.1f} s")
            yield Row("  another writer waits at most", values["blocked_s"] * 1000, "ms", 100)


class Database:
    """A server with databases that are copies of one store."""

    def __init__(self, directory, store):
        os.makedirs(directory)
        for one in (directory, os.path.dirname(directory)):
            os.chmod(one, stat.S_IRWXU | stat.S_IXGRP | stat.S_IXOTH)
        self.server = Server(directory, settings=())
        self.directory, self.store = directory, store

    def url(self, name):
        return f"postgresql:///{name}?host={self.directory}&user={USER}"

    def run(self, sql, name="postgres"):
        return self.server.run(sql, database=name)

    def copy_store(self):
        """Copy the store into the database `made`."""
        self.run("CREATE DATABASE made")
        instance = Instance(os.path.join(self.directory, "copy"))
        instance.ctl("store", "copy", self.store.path, self.url("made"))
        shutil.rmtree(instance.directory)
        self.run("VACUUM ANALYZE", "made")

    def deliver(self, runner, archive):
        """@param archive  file of the machine's copy of the papers, kept between runs"""
        self.run("DROP DATABASE IF EXISTS run; CREATE DATABASE run TEMPLATE made; CHECKPOINT")
        before = runner.sink.count()
        instance = new_instance(runner.place, self.store.path, port=runner.sink.port,
                                store__url=self.url("run"))
        os.unlink(instance.store)
        if os.path.exists(archive):
            shutil.copy(archive, instance.state)
        values = run_once(instance)
        states = dict(re.findall(r"(\w+)\|(\d+)", self.run(
            "SELECT state, count(*) FROM outbox GROUP BY 1", "run")))
        if states != {"SENT": str(runner.digests)}:
            raise Different(f"the outbox came to {states}")
        runner.expect(before, runner.digests)
        shutil.copy(os.path.join(instance.state, "archive.db"), archive)
        shutil.rmtree(runner.place)
        return values


def bench_postgresql(options):
    with tempfile.TemporaryDirectory(prefix="bench-") as place, \
            open_runner(options, options.people) as runner:
        database = Database(os.path.join(place, "server"), runner.store)
        archive = os.path.join(place, "archive.db")
        with database.server:
            database.copy_store()
            runner.deliver()
            database.deliver(runner, archive)
            ours, theirs = alternate(options.runs, lambda: database.deliver(runner, archive),
                                     runner.deliver)
        yield Row(f"whole mailing on PostgreSQL, {options.people:,} people",
                  ours["wall"] / theirs["wall"], "x", 2.5,
                  f"SQLite {theirs['wall']:.2f} s, PostgreSQL {ours['wall']:.2f} s")
