#!/usr/bin/env python3
#
# test_fleet.py - three machines on one database: killed at any time, no digest is lost.
#
# PAPERBOY_LONG=1: 1,000 kills while 20,000 digests are sent, and a partition of each
# machine; else 30 and 600.  PAPERBOY_SEED=N repeats the choices of a run.

import collections
import contextlib
import os
import random
import shutil
import signal
import smtplib
import sqlite3
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import digest_views
from clock import Clock
from copies import (
    CONNECTIONS, Basket, delivered_is_what_was_sent, duplicates_hold, pause)
from daemon import RUN_S, Instance, at_hour, papers_of, parse
from machines import Site
from peers import SmtpSink
from postgresql import Server
from tap import Skip, Tap, top_builddir, wait_until

IS_LONG = os.environ.get("PAPERBOY_LONG", "") not in ("", "0")
SEED = int(os.environ.get("PAPERBOY_SEED") or (random.randrange(1 << 30) if IS_LONG else 1))
KILLS = 1000 if IS_LONG else 30
BATCH = 20  # digests that become due before each kill
NUMBERS = range(3)  # of the made-up papers
NAMES = ("one", "two", "three")
HOME = "paperboy@news.example"
DAY = "2026-11-20"
LINES = 40  # of logs, after a failure
TRIES = 1000  # of a client whose server is being started
STARTS = 10  # of a daemon whose server is being started


class Node:
    """A machine with paperboyd."""

    def __init__(self, fleet, name, key):
        self.fleet = fleet
        self.name = name
        self.host = fleet.site.add(name)
        directory = fleet.tap.subdirectory(name)
        self.socket = os.path.join(directory, "lmtp")
        self.instance = Instance(
            directory, port=fleet.sink.port, papers=fleet.papers,
            smtp__host=fleet.sink.host.address, smtp__tls="off",
            smtp__connections=CONNECTIONS,
            store__url=fleet.server.url, receive__lmtp_socket=self.socket,
            commands__address=HOME, commands__delimiter="+",
            receive__parser=os.path.join(top_builddir(), "paperboy-parser"))
        self.instance.prefix = self.host.command([])
        self.instance.clock = fleet.clock
        if key:
            shutil.copy(key, self.instance.state)
        self.child = None
        self.lines = []  # of the daemons before

    def start(self):
        """Start the daemon, again if the database does not answer yet."""
        for _ in range(STARTS):
            self.child = self.fleet.tap.enter(self.instance.start(self.fleet.clock.now()))
            try:
                self.child.wait_line("paperboyd .* started")
                return
            except AssertionError:
                self.lines += self.child.lines
                self.child.stop()
        raise AssertionError(f"{self.name} does not start\n" + "\n".join(self.lines[-20:]))

    def kill(self):
        status = self.child.kill()
        self.lines += self.child.lines
        return status == -signal.SIGKILL

    def holder(self):
        """The id of its lease; None without one."""
        rows = self.fleet.rows("SELECT id FROM instance WHERE name LIKE"
                               f" '%:{self.instance.state}' ORDER BY id DESC")
        return rows[0] if rows else None

    def output(self):
        return "\n".join(self.lines + self.child.lines)


class Fleet:
    """Three machines, the server of their database, and a relay."""

    def __init__(self, tap):
        self.tap = tap
        self.clock = Clock(at_hour(DAY, 6))
        self.site = tap.enter(Site())
        self.server = tap.enter(Server(tap.subdirectory("postgresql"), self.site.add("db")))
        self.sink = tap.enter(SmtpSink(tap.subdirectory("sink"), host=self.site.add("relay")))
        self.basket = Basket(self.sink)
        self.papers = tap.subdirectory("papers")
        self.people = 0
        self.nodes = []
        key = None  # made by the first
        for name in NAMES:
            node = Node(self, name, key)
            if not key:
                node.instance.write_day(DAY, NUMBERS)
            node.start()
            key = os.path.join(node.instance.state, "key")
            self.nodes.append(node)

    def rows(self, sql):
        """Rows as text."""
        return self.server.run(sql + ";").split()

    def states(self):
        return set(self.rows("SELECT DISTINCT state FROM outbox"))

    def add_people(self, node, count):
        """Add subscribers, whose first digest is due at once."""
        path = os.path.join(node.instance.directory, "people.csv")
        numbers = range(self.people + 1, self.people + count + 1)
        with open(path, "w", encoding="utf-8") as file:
            file.write("address,filters\n")
            file.writelines(f"person-{number}@example.org,paper\n" for number in numbers)
        node.instance.ctl("subscriber", "import", path, "--first", "--consent",
                          "asked for it", now=self.clock.now())
        self.people += count

    def count_arrived(self):
        return len({message.recipients[0] for message in self.basket.update()})


# ---- mails to the machines ----------------------------------------------------


class Senders:
    """A thread that hands mails to random machines, as an MTA: until one is accepted."""

    def __init__(self, nodes):
        self.nodes = nodes
        self.sent = []
        self.refusals = collections.Counter()
        self.is_ended = threading.Event()
        self.problem = None
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        rng = random.Random(SEED)
        while not self.is_ended.is_set() and not self.problem:
            sender = f"sender-{len(self.sent)}@people.example"
            raw = (f"From: {sender}\r\nTo: {HOME}\r\nSubject: help\r\n"
                   f"Message-ID: <{len(self.sent)}@people.example>\r\n\r\nhelp\r\n")
            for _ in range(TRIES):
                if self.hand_in(rng.choice(self.nodes), sender, raw):
                    self.sent.append(sender)
                    break
                pause(0.05)
            else:
                self.problem = f"{sender} was never accepted: {self.refusals}"
            pause(0.2)

    def hand_in(self, node, sender, raw):
        try:
            with smtplib.LMTP(node.socket, timeout=5) as lmtp:
                lmtp.sendmail(sender, [HOME], raw)
            return True
        except (OSError, smtplib.SMTPException) as problem:
            code = getattr(problem, "smtp_code", 0)
            for reply in getattr(problem, "recipients", {}).values():
                code = reply[0]
            self.refusals[code or type(problem).__name__] += 1
            if code >= 500:
                self.problem = f"{sender}: {problem}"
            return False

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_ended.set()
        self.thread.join()


# ---- kills --------------------------------------------------------------------


def wait_arrivals(fleet, count):
    wait_until(lambda: fleet.count_arrived() >= count, f"{count} mails", RUN_S,
               pause=lambda _: pause(0.001))


@contextlib.contextmanager
def held_relay(fleet, node):
    """Messages are in flight, since the relay does not reply."""
    fleet.sink.child.signal(signal.SIGSTOP)
    try:
        fleet.add_people(node, BATCH)
        wait_until(lambda: fleet.rows("SELECT id FROM outbox WHERE state = 'SENDING'"),
                   "a message in flight", RUN_S)
        yield
    finally:
        fleet.sink.child.signal(signal.SIGCONT)


def stop_while_sending(fleet, node):
    """Stop a process that holds messages, without locks in the database."""

    def is_stopped():
        with held_relay(fleet, node):
            node.child.signal(signal.SIGSTOP)
            held = fleet.rows("SELECT id FROM outbox WHERE state = 'SENDING' AND holder"
                              f" = {node.holder()}")
            locks = fleet.rows("SELECT pid FROM pg_stat_activity WHERE client_addr ="
                               f" '{node.host.address}' AND xact_start IS NOT NULL")
            if held and not locks:
                return True
            node.child.signal(signal.SIGCONT)
        wait_arrivals(fleet, fleet.people)
        return False

    wait_until(is_stopped, "a stopped process with messages in flight", RUN_S)


def kill_one(fleet, rng, nodes):
    """Kill a daemon, or the server, while a batch is sent. @return whether it was running"""
    node, victim = rng.choice(nodes), rng.choice([*nodes, fleet.server])
    if rng.random() < 0.5:
        with held_relay(fleet, node):
            is_hit = victim.kill()
    else:
        before = fleet.count_arrived()
        fleet.add_people(node, BATCH)
        wait_arrivals(fleet, before + rng.randint(0, BATCH // 2))
        pause(rng.expovariate(1 / 0.01))
        is_hit = victim.kill()
    victim.start()
    return is_hit


def wait_taken_over(fleet, holder):
    wait_until(lambda: not fleet.rows(f"SELECT id FROM instance WHERE id = {holder}"),
               "the end of a lease", RUN_S)


def cut_off(fleet, node):
    """A machine without network beyond its lease."""
    holder = node.holder()
    node.host.disconnect()
    fleet.add_people(fleet.nodes[fleet.nodes.index(node) - 1], BATCH)
    wait_taken_over(fleet, holder)
    node.host.connect()
    wait_until(node.holder, "a new lease", RUN_S)


def settle(fleet):
    """Send what is in doubt now."""

    def is_settled():
        states = fleet.states()
        if "HELD" in states:  # the same message was in flight at five kills
            fleet.nodes[0].instance.ctl("queue", "release", "all", "--yes")
        elif states != {"SENT"}:
            fleet.nodes[0].instance.ctl("queue", "retry", "all", wanted=tuple(range(256)))
        digests = fleet.rows("SELECT count(*) FROM outbox WHERE kind = 'digest'")
        return states == {"SENT"} and digests == [str(fleet.people)]

    wait_until(is_settled, "everything is sent", RUN_S)


def replies_hold(fleet, senders, kills):
    """Each mail has one reply, or identical copies."""
    assert not senders.problem, senders.problem
    wait_until(lambda: fleet.rows("SELECT count(*) FROM inbox WHERE state <> 'done'") == ["0"],
               "all mail is handled", RUN_S)
    settle(fleet)
    copies = collections.defaultdict(list)
    for message in fleet.sink.messages():
        if message.recipients[0].startswith("sender-"):
            copies[message.recipients[0]].append((message.raw, message.mail_args))
    assert set(copies) == set(senders.sent), set(senders.sent) ^ set(copies)
    return duplicates_hold(copies, len(senders.sent), kills)


class Contents:
    """Contents of digests, copied from the database for the views of digest_views."""

    TABLES = {"digest": "id, subscriber_id, state, contents",
              "delivered": "subscriber_id, papers, digest_id, at",
              "paper_moved": "old_seq, new_seq"}

    def __init__(self, fleet):
        self.db = digest_views.create(sqlite3.connect(":memory:"))
        for table, columns in self.TABLES.items():
            self.db.execute(f"CREATE TABLE {table} ({columns})")
            for row in fleet.rows(f"SELECT {columns} FROM {table}"):
                cells = [bytes.fromhex(cell[2:]) if cell.startswith("\\x") else
                         int(cell) if cell.isdigit() else cell for cell in row.split("|")]
                self.db.execute(f"INSERT INTO {table} VALUES"
                                f" ({', '.join('?' * len(cells))})", cells)

    def rows(self, sql):
        return self.db.execute(sql).fetchall()


def digests_hold(fleet, kills):
    copies = collections.defaultdict(list)
    for message in fleet.basket.update():
        if message.recipients[0].startswith("person-"):
            copies[message.recipients[0]].append((message.raw, message.mail_args))
            assert papers_of(message.raw) == list(NUMBERS), message.recipients
    for each in copies.values():
        assert len({parse(raw)["Message-ID"] for raw, _ in each}) == 1
    duplicates = duplicates_hold(copies, fleet.people, kills)
    delivered = delivered_is_what_was_sent(Contents(fleet))
    assert delivered == fleet.people * len(NUMBERS), delivered
    return duplicates


def fleet_survives(tap, fleet):
    rng = random.Random(SEED)
    started = time.monotonic()
    *others, stopped = fleet.nodes
    hits = 0
    with Senders(fleet.nodes) as senders:
        stop_while_sending(fleet, stopped)
        holder = stopped.holder()
        while hits < KILLS // 2:
            hits += kill_one(fleet, rng, others)
        wait_taken_over(fleet, holder)
        stopped.child.signal(signal.SIGCONT)
        stopped.child.wait_line("outbox fenced", RUN_S)
        while hits < KILLS:
            hits += kill_one(fleet, rng, fleet.nodes)
        for node in fleet.nodes if IS_LONG else ():
            cut_off(fleet, node)
    losses = hits + 1 + (len(fleet.nodes) if IS_LONG else 0)
    settle(fleet)
    replies = replies_hold(fleet, senders, losses)
    duplicates = digests_hold(fleet, losses)
    tap.diag(f"{hits} kills, {fleet.people} digests, {duplicates} duplicates;"
             f" {len(senders.sent)} mails, {replies} duplicates of replies, refused:"
             f" {dict(senders.refusals)}; {time.monotonic() - started:.1f} s")


def survive(tap, fleet):
    """machines and server are killed, one is stopped beyond its lease: all arrives once"""
    try:
        fleet_survives(tap, fleet)
    except BaseException:
        for node in fleet.nodes:
            tap.diag(f"{node.name}:")
            for line in [*node.lines, *node.child.lines][-LINES:]:
                tap.diag(line)
        raise


with Tap() as tap:
    tap.diag(f"PAPERBOY_SEED={SEED}")
    try:
        fleet = Fleet(tap)
    except Skip as reason:
        tap.skip("three machines", reason)
    else:
        tap.run(survive, tap, fleet)
