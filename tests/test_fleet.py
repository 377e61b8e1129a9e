#!/usr/bin/env python3
#
# test_fleet.py - three machines on one database: killed at any time, no digest is lost.
#
# One machine is stopped and one cut off from the server beyond their leases, and a third
# killed while it takes over what they held.  PAPERBOY_LONG=1: each in turn, 1,000 kills
# while 20,000 digests are sent, and each machine without network; else 15 kills and 500.
# PAPERBOY_SEED=N repeats the choices of a run.

import collections
import contextlib
import os
import random
import shutil
import signal
import smtplib
import sqlite3
import threading
import time

import lib  # the path
import digest_views
from clock import Clock
from copies import (
    CONNECTIONS, IN_DOUBT, Basket, delivered_is_what_was_sent, duplicates_hold, pause)
from daemon import RUN_S, Instance, at_hour, papers_of, parse
from machines import Site
from peers import SmtpSink
from postgresql import NAME, Server
from tap import IS_LONG, Skip, Tap, read_text, save, top_builddir, wait_until

SEED = int(os.environ.get("PAPERBOY_SEED") or (random.randrange(1 << 30) if IS_LONG else 1))
KILLS = 1000 if IS_LONG else 15
SERVER_KILLS = 100  # in a row
GROWTH = 10  # of files and megabytes of a daemon meanwhile, at most
BATCH = 25  # digests that become due before each kill
RETRIES = 0.1  # of the kills, before which what may have arrived is sent again
START_S = 0.3  # of a daemon, or a server: about that
NUMBERS = range(3)  # of the made-up papers
NAMES = ("one", "two", "three")
HOME = "paperboy@news.example"
DAY = "2026-11-20"
LINES = 40  # of logs, after a failure
TRANSACTIONS_PER_S = 300  # of machines that wait
IN_FLIGHT = "(SELECT holder FROM outbox WHERE state = 'SENDING')"
TRIES = 1000  # of a client whose server is being started
STARTS = 10  # of a daemon whose server is being started


Use = collections.namedtuple("Use", "at files memory_mb cpu_s lines")


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

    def launch(self):
        self.child = self.fleet.tap.enter(self.instance.start(self.fleet.clock.now()))

    def wait_started(self):
        """Start the daemon again if the database did not answer yet."""
        for _ in range(STARTS):
            try:
                self.child.wait_line("paperboyd .* started")
                return
            except AssertionError:
                self.kill()
                self.launch()
        raise AssertionError(f"{self.name} does not start")

    def kill(self):
        status = self.child.kill()
        self.lines += self.child.lines
        return status == -signal.SIGKILL

    def holder(self):
        """The id of its lease; None without one."""
        rows = self.fleet.rows("SELECT id FROM instance WHERE name LIKE"
                               f" '%:{self.instance.state}' ORDER BY id DESC")
        return rows[0] if rows else None

    def count_in_flight(self):
        """Messages that it, or its process before, holds."""
        (count,) = self.fleet.rows(
            "SELECT count(*) FROM outbox o JOIN instance i ON i.id = o.holder"
            f" WHERE o.state = 'SENDING' AND i.name LIKE '%:{self.instance.state}'")
        return int(count)

    def find_sessions(self, condition="true"):
        """The processes of the server for this machine."""
        return set(self.fleet.rows("SELECT pid FROM pg_stat_activity WHERE client_addr ="
                                   f" '{self.host.address}' AND {condition}"))

    def use(self):
        """Its resources."""
        pid = self.child.pid
        ticks = read_text(f"/proc/{pid}/stat").rpartition(")")[2].split()[11:13]
        pages = int(read_text(f"/proc/{pid}/statm").split()[1])
        return Use(at=time.monotonic(), files=len(os.listdir(f"/proc/{pid}/fd")),
                   memory_mb=pages * os.sysconf("SC_PAGE_SIZE") / 1e6,
                   cpu_s=sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK"),
                   lines=len(self.child.lines))


class Fleet:
    """Three machines, the server of their database, and a relay."""

    def __init__(self, tap):
        self.tap = tap
        self.clock = Clock(at_hour(DAY, 6))
        self.site = tap.enter(Site())
        self.server = tap.enter(Server(tap.subdirectory("postgresql"), self.site.add("db")))
        self.sink = tap.enter(SmtpSink(tap.subdirectory("sink"), host=self.site.add("relay")))
        self.basket = Basket(self.sink, "person-")
        self.papers = tap.subdirectory("papers")
        self.people = 0
        self.nodes = []
        key = None  # made by the first
        for name in NAMES:
            node = Node(self, name, key)
            if not key:
                node.instance.write_day(DAY, NUMBERS)
            node.launch()
            node.wait_started()
            key = os.path.join(node.instance.state, "key")
            self.nodes.append(node)

    def rows(self, sql):
        """Rows as text."""
        return self.server.run(sql + ";").split()

    def states(self):
        return set(self.rows("SELECT DISTINCT state FROM outbox"))

    def find_busy(self, work):
        """The machines that hold work: a table, or a query."""
        names = self.rows("SELECT DISTINCT i.name FROM instance i"
                          f" JOIN {work} AS work ON work.holder = i.id")
        return [node for node in self.nodes
                if any(name.endswith(f":{node.instance.state}") for name in names)]

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
        """The number of people who have a digest."""
        return len({message.recipients[0] for message in self.basket.update()})


# ---- mails to the machines ----------------------------------------------------


ACCEPTED = 250


def hand_in(node, sender, timeout_s=5):
    """Hand in a mail.  @return the last reply, or the name of an error"""
    try:
        with smtplib.LMTP(node.socket, timeout=timeout_s) as lmtp:
            lmtp.sendmail(sender, [HOME], format_mail(sender))
        return ACCEPTED
    except (OSError, smtplib.SMTPException) as problem:
        code = getattr(problem, "smtp_code", 0)
        for reply in getattr(problem, "recipients", {}).values():
            code = reply[0]
        return code or type(problem).__name__


def format_mail(sender):
    return (f"From: {sender}\r\nTo: {HOME}\r\nSubject: help\r\n"
            f"Message-ID: <{sender}>\r\n\r\nhelp\r\n")


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
            for _ in range(TRIES):
                reply = hand_in(rng.choice(self.nodes), sender)
                if reply == ACCEPTED:
                    self.sent.append(sender)
                    break
                self.refusals[reply] += 1
                if str(reply).startswith("5"):
                    self.problem = f"{sender}: {reply}"
                pause(0.05)
            else:
                self.problem = f"{sender} was never accepted: {self.refusals}"
            pause(0.5)

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


def wait_handled(fleet):
    wait_until(lambda: not fleet.rows("SELECT id FROM inbox WHERE state <> 'done'"),
               "all mail is handled")


@contextlib.contextmanager
def held_relay(fleet, _, node, count=BATCH):
    """Messages are in flight, since the relay does not reply."""
    fleet.sink.child.signal(signal.SIGSTOP)
    try:
        fleet.add_people(node, count)
        wait_until(lambda: fleet.find_busy(IN_FLIGHT), "a message in flight", RUN_S)
        yield
    finally:
        fleet.sink.child.signal(signal.SIGCONT)


@contextlib.contextmanager
def held_nothing(fleet, rng, node):
    before = fleet.count_arrived()
    fleet.add_people(node, BATCH)
    wait_arrivals(fleet, before + rng.randint(0, BATCH // 2))
    yield


@contextlib.contextmanager
def held_store(fleet, rng, node):
    """Messages have arrived whose results are not recorded, since the store is locked."""
    with held_nothing(fleet, rng, node), fleet.server.hold("LOCK TABLE outbox IN SHARE MODE"):
        yield


def choose(fleet, rng, nodes):
    """A victim: the server, or a machine, mostly one that works."""
    work = rng.choice((None, "job", IN_FLIGHT, "server"))
    if work == "server" or not nodes:
        return fleet.server
    busy = fleet.find_busy(work) if work else []
    return rng.choice([node for node in nodes if node in busy] or nodes)


def kill(fleet, victim):
    """@return whether it was running"""
    is_hit = victim.kill()
    if victim is not fleet.server:
        held = victim.count_in_flight()
        assert held <= IN_DOUBT, f"{victim.name} held {held} messages"
    return is_hit


def restart(fleet, rng, nodes, victim):
    """Start a victim, perhaps after a kill during that: of the server's recovery, or of a
    machine that takes over.  @return kills"""
    victim.launch()
    if rng.random() < 0.75:
        victim.wait_started()
        return 0
    pause(rng.uniform(0, START_S))
    other = rng.choice([fleet.server, *nodes])
    hits = other.kill()
    if fleet.server in (victim, other):
        if other is fleet.server:
            other.launch()
        fleet.server.wait_started()
    if other is not fleet.server:
        other.launch()
        other.wait_started()
    if victim not in (other, fleet.server):
        victim.wait_started()
    return hits


def kill_one(fleet, rng, nodes):
    """Kill a victim while a batch is sent.  @return kills"""
    node = rng.choice(nodes or fleet.nodes)
    if rng.random() < RETRIES:  # messages that may have arrived, again
        node.instance.ctl("queue", "retry", "all", wanted=tuple(range(256)))
    hold = rng.choice((held_relay, held_store, held_nothing))
    with hold(fleet, rng, node):
        victim = choose(fleet, rng, nodes)
        pause(rng.expovariate(1 / 0.01))
        hits = kill(fleet, victim)
    return hits + restart(fleet, rng, nodes, victim)


# ---- leases -------------------------------------------------------------------


def isolate(fleet, node, begin, end):
    """Stop or cut off a machine that holds messages, and no locks in the database."""

    def is_idle():
        return not node.find_sessions("state <> 'idle'")

    def is_isolated():
        # More than the other machines can hold.
        with held_relay(fleet, None, node, IN_DOUBT * len(NAMES)):
            wait_until(node.count_in_flight, f"messages in flight of {node.name}", RUN_S)
            wait_until(is_idle, f"no transaction of {node.name}", RUN_S)
            begin()
            # One that has not sent yet holds one.
            if node.count_in_flight() > 1 and is_idle():
                return True
            end()
        return False

    wait_until(is_isolated, f"{node.name} with messages in flight", RUN_S)


def is_taken_over(fleet, holders):
    return not set(holders) & set(fleet.rows("SELECT id FROM instance"))


def kill_takeover(fleet, rng, node, holders):
    """Kill a machine, or the server, in the transaction that ends others' leases."""
    victim = rng.choice((node, fleet.server))

    def is_started():
        return node.find_sessions("wait_event_type = 'Lock'") or is_taken_over(fleet, holders)

    with fleet.server.hold("SELECT id FROM outbox WHERE state = 'SENDING' AND holder IN"
                           f" ({', '.join(holders)}) FOR UPDATE"):
        wait_until(is_started, "a takeover", RUN_S)
        victim.kill()
    victim.launch()
    victim.wait_started()


def wait_fenced(node, holder):
    """The results of what it sent are not recorded, and it begins a new lease."""
    node.child.wait_line("outbox fenced", RUN_S)
    wait_until(lambda: node.holder() not in (None, holder), "a new lease", RUN_S)


def assert_waits(before, after):
    """A machine whose database is away does not loop; what was in flight is logged."""
    seconds = after.at - before.at
    assert after.cpu_s - before.cpu_s < 1 + seconds / 4, (before, after)
    assert after.lines - before.lines < 2 * IN_DOUBT + seconds, (before, after)


def lose_leases(fleet, rng, nodes):
    """A machine is stopped beyond its lease, another cut off from the server."""
    stopped, cut, third = nodes
    isolate(fleet, stopped, lambda: stopped.child.signal(signal.SIGSTOP),
            lambda: stopped.child.signal(signal.SIGCONT))
    isolate(fleet, cut, lambda: cut.host.separate(fleet.server.host),
            lambda: cut.host.join(fleet.server.host))
    holders = [stopped.holder(), cut.holder()]
    before, sessions = cut.use(), cut.find_sessions()
    kill_takeover(fleet, rng, third, holders)
    wait_until(lambda: is_taken_over(fleet, holders), "the end of leases", RUN_S)
    wait_until(lambda: not sessions & cut.find_sessions(), "the end of its sessions")
    reply = hand_in(cut, "refused@people.example", RUN_S)
    assert reply == 451, reply
    assert_waits(before, cut.use())
    stopped.child.signal(signal.SIGCONT)
    cut.host.join(fleet.server.host)
    for node, holder in zip((stopped, cut), holders):
        wait_fenced(node, holder)


def cut_off(fleet, rng, node):
    """A machine without network beyond its lease, while others are killed."""
    holder = node.holder()
    node.host.disconnect()
    others = [each for each in fleet.nodes if each is not node]
    hits = 0
    while not is_taken_over(fleet, [holder]):
        hits += kill_one(fleet, rng, others)
    node.host.connect()
    wait_until(node.holder, "a new lease", RUN_S)
    return hits


def lose_server(tap, fleet, rng):
    """The server is killed again and again: warm machines need no more for that."""
    hits, uses = 0, []
    while hits < SERVER_KILLS:
        hits += kill_one(fleet, rng, [])
        uses.append([node.use() for node in fleet.nodes])
    for node, old, new in zip(fleet.nodes, uses[len(uses) // 2], uses[-1]):
        tap.diag(f"{node.name}: {old} {new}")
        assert new.files < old.files + GROWTH and new.memory_mb < old.memory_mb + GROWTH
    return hits


# ---- arrivals -------------------------------------------------------------------


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


def copies_hold(fleet, copies):
    """No more copies than the store knows of."""
    rows = fleet.rows("SELECT coalesce(o.recipient, s.address), o.possible_copies"
                      " FROM outbox o LEFT JOIN subscriber s ON s.id = o.subscriber_id"
                      " WHERE o.recipient IS NULL OR o.recipient LIKE 'sender-%'")
    assert len(rows) == len(copies), (len(rows), len(copies))
    for recipient, possible in (row.split("|") for row in rows):
        assert len(copies[recipient]) <= 1 + int(possible), recipient


def replies_hold(fleet, senders, kills):
    """Each mail has one reply, or identical copies."""
    assert not senders.problem, senders.problem
    wait_handled(fleet)
    settle(fleet)
    copies = collections.defaultdict(list)
    for message in fleet.sink.messages():
        if message.recipients[0].startswith("sender-"):
            copies[message.recipients[0]].append((message.raw, message.mail_args))
    assert set(copies) == set(senders.sent), set(senders.sent) ^ set(copies)
    return duplicates_hold(copies, len(senders.sent), kills), copies


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
        copies[message.recipients[0]].append((message.raw, message.mail_args))
        assert papers_of(message.raw) == list(NUMBERS), message.recipients
    for each in copies.values():
        assert len({parse(raw)["Message-ID"] for raw, _ in each}) == 1
    duplicates = duplicates_hold(copies, fleet.people, kills)
    delivered = delivered_is_what_was_sent(Contents(fleet))
    assert delivered == fleet.people * len(NUMBERS), delivered
    return duplicates, copies


def lose_all(tap, fleet, rng):
    """@return kills, and machines that lost their leases otherwise"""
    nodes = collections.deque(fleet.nodes)
    rounds = len(nodes) if IS_LONG else 1
    hits = 0
    for done in range(1, rounds + 1):
        lose_leases(fleet, rng, nodes)
        hits += 1
        while hits < KILLS * done // rounds:
            hits += kill_one(fleet, rng, fleet.nodes)
        nodes.rotate()
        tap.diag(f"{hits} kills, {fleet.people} digests")
    if not IS_LONG:
        return hits, 2
    for node in fleet.nodes:
        hits += cut_off(fleet, rng, node)
    return hits + lose_server(tap, fleet, rng), 3 * len(nodes)


def share(fleet):
    """work that one machine adds is done, though another holds the jobs"""
    for node in fleet.nodes:
        assert hand_in(node, f"first-{node.name}@people.example") == ACCEPTED
        wait_handled(fleet)
        fleet.add_people(node, 1)
        wait_arrivals(fleet, fleet.people)


def wait_for_locks(tap, fleet):
    """machines do not claim in a loop while another session locks what is due"""

    def measure(before=(0, 0)):
        (count,) = fleet.rows("SELECT xact_commit + xact_rollback FROM pg_stat_database"
                              f" WHERE datname = '{NAME}'")
        return int(count) - before[0], time.monotonic() - before[1]

    def find_expiry():
        return fleet.rows("SELECT min(expires_at) FROM instance")

    node = fleet.nodes[0]
    with contextlib.ExitStack() as locks:
        # More than all can hold, so that some are left to lock.
        with held_relay(fleet, None, node, (IN_DOUBT + BATCH) * len(NAMES)):
            wait_until(lambda: fleet.rows("SELECT id FROM outbox WHERE state = 'NEW'"),
                       "queued messages", RUN_S)
            locks.enter_context(fleet.server.hold(
                "SELECT id FROM outbox WHERE state = 'NEW' FOR UPDATE"))
        before, expiry = measure(), find_expiry()
        wait_until(lambda: find_expiry() != expiry, "a renewal", RUN_S)
        count, seconds = measure(before)
    wait_arrivals(fleet, fleet.people)
    tap.diag(f"{count} transactions in {seconds:.1f} s")
    assert count < seconds * TRANSACTIONS_PER_S, (count, seconds)


def fleet_survives(tap, fleet):
    rng = random.Random(SEED)
    started = time.monotonic()
    with Senders(fleet.nodes) as senders:
        hits, others = lose_all(tap, fleet, rng)
    settle(fleet)
    replies, copies = replies_hold(fleet, senders, hits + others)
    duplicates, digests = digests_hold(fleet, hits + others)
    copies_hold(fleet, copies | digests)
    tap.diag(f"{hits} kills, {fleet.people} digests, {duplicates} duplicates;"
             f" {len(senders.sent)} mails, {replies} duplicates of replies, refused:"
             f" {dict(senders.refusals)}; {time.monotonic() - started:.1f} s")


def survive(tap, fleet):
    """machines and server are killed, stopped and cut off beyond leases: all arrives once"""
    try:
        fleet_survives(tap, fleet)
    except BaseException:
        for node in fleet.nodes:
            lines = [*node.lines, *node.child.lines]
            tap.diag("\n".join([f"{node.name}:", *lines[-LINES:]]))
            save(os.path.join(node.instance.directory, "log"), "\n".join(lines))
        raise


with Tap() as tap:
    tap.diag(f"PAPERBOY_SEED={SEED}")
    try:
        fleet = Fleet(tap)
    except Skip as reason:
        tap.skip("three machines", reason)
    else:
        tap.run(share, fleet)
        tap.run(wait_for_locks, tap, fleet)
        tap.run(survive, tap, fleet)
