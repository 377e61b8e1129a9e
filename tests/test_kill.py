#!/usr/bin/env python3
#
# test_kill.py - killed at any time, no digest is lost, and duplicates are identical.
#
# PAPERBOY_LONG=1: 1,000 kills while 20,000 digests are sent to smtp-sink, 200 while 2,000
# are sent to Postfix or a Maildir, and a kill at every write; else 40 and 800, 10 and
# 150, and at some writes.  PAPERBOY_SEED=N repeats a run.

import collections
import datetime
import glob
import os
import random
import re
import shutil
import signal
import time

import lib  # the path
import stores
from copies import (
    CONNECTIONS, COPIES, IN_DOUBT, Basket, delivered_is_what_was_sent, duplicates_hold,
    most_copies, pause)
from daemon import RUN_S, Instance, at_hour, is_whole, papers_of
from generate import generate
from papers import load_papers
from peers import Ca, Postfix, SmtpSink
from tap import IS_LONG, Tap, need_strace, read, top_srcdir, wait_until

SEED = int(os.environ.get("PAPERBOY_SEED") or (random.randrange(1 << 30) if IS_LONG else 1))
SINK_KILLS, SINK_DIGESTS = (1000, 20000) if IS_LONG else (40, 800)
KILLS, DIGESTS = (200, 2000) if IS_LONG else (10, 150)
NUMBERS = range(3)  # of the made-up papers
CHECK_EVERY = 5 if IS_LONG else 1  # kills: a look at a large store takes its time
STEPS = {"pwrite64": 60, "openat": 40, "sendto": 100, "fdatasync": 14}  # between two calls that are tried, at most
DAY = "2026-11-20"


def sent_addresses(instance):
    rows = instance.rows(
        "SELECT s.address FROM outbox o JOIN subscriber s ON s.id = o.subscriber_id"
        " WHERE o.state = 'SENT'"
    )
    return {address for (address,) in rows}


def advance(instance, seconds):
    """Let time pass between two runs: messages in flight wait before they are sent again."""
    now = datetime.datetime.fromisoformat(instance.clock.now().replace("Z", "+00:00"))
    instance.clock.set((now + datetime.timedelta(seconds=seconds)).isoformat())


def settle(instance, deadline_s=RUN_S):
    """Run until nothing is queued."""
    for _ in range(5):
        last = instance.once(deadline_s=deadline_s)
        if "HELD" in instance.states():  # the same message was in flight at five kills
            instance.ctl("queue", "release", "all", "--yes")
        elif last.status == 0:
            break
        advance(instance, 4000)  # longer than any wait
    assert last.status == 0, last.output
    assert set(instance.states()) == {"SENT"}, instance.states()
    instance.check_store()


# ---- while digests are sent ---------------------------------------------------


# Time between two kills, s; the first test stays within a day, so that no other digest is due.
STEP_S = min(120, 10 * 3600 // SINK_KILLS)


def start(instance, rng):
    return instance.start() if rng.random() < 0.5 else instance.start_once()


def count_untried(instance, total):
    """Messages that the next run sends and that have not arrived yet."""
    if not instance.db.exists():
        return total
    queued, new = instance.rows("SELECT count(*), sum(state = 'NEW') FROM outbox")[0]
    return (new or 0) + total - queued


def kill_while_sending(instance, basket, rng, kills_left, total):
    """One run. @return whether the program was running when killed"""
    advance(instance, STEP_S)
    before = basket.count_files()
    untried = count_untried(instance, total)
    child = start(instance, rng)
    if rng.random() < 0.25:  # in the first steps, before anything is sent
        pause(rng.uniform(0, 0.1))
    else:
        share = 2 * max(total - before, 0) // (kills_left + 1)
        goal = before + rng.randint(0, min(untried, max(share, 1)))
        wait_until(
            lambda: basket.count_files() >= goal or not child.is_running,
            f"{goal} messages", pause=lambda _: pause(0.001),
        )
        pause(rng.expovariate(1 / 0.01))
    return child.kill() == -signal.SIGKILL


def sending_survives(tap):
    """digests are sent under kill -9: all arrive, and duplicates are identical"""
    rng = random.Random(SEED)
    started = time.monotonic()
    hits = most_in_doubt = 0
    with SmtpSink(tap.subdirectory("sink")) as sink:
        instance = Instance(tap.subdirectory("sending"), port=sink.port,
                      smtp__connections=CONNECTIONS)
        instance.clock.set(at_hour(DAY, 6))
        instance.write_day(DAY, NUMBERS)
        instance.add_people(SINK_DIGESTS)
        basket = Basket(sink)
        while hits < SINK_KILLS:
            hits += kill_while_sending(
                instance, basket, rng, SINK_KILLS - hits, SINK_DIGESTS)
            if hits % CHECK_EVERY == 0:
                instance.check_store()
            sent = sent_addresses(instance)
            known = len(basket.messages)
            arrived = {message.recipients[0] for message in basket.update()}
            assert sent <= arrived, f"SENT, not arrived: {sorted(sent - arrived)}"
            newly = {message.recipients[0] for message in basket.messages[known:]}
            in_doubt = len(newly - sent)
            most_in_doubt = max(most_in_doubt, in_doubt)
            assert in_doubt <= IN_DOUBT, in_doubt
        settle(instance, deadline_s=RUN_S + SINK_DIGESTS // 20)
        basket.update()
    copies = collections.defaultdict(list)
    for message in basket.messages:
        copies[message.recipients[0]].append((message.raw, message.mail_args))
    duplicates = duplicates_hold(copies, SINK_DIGESTS, hits)
    tap.diag(
        f"sending: {hits} kills, {len(copies)} digests, {duplicates} duplicates"
        f" ({duplicates / hits:.2f} a kill, {most_in_doubt} at most), at most"
        f" {most_copies(copies)} copies of a message, {time.monotonic() - started:.1f} s"
    )
    assert all(papers_of(m.raw) == list(NUMBERS) for m in basket.messages)
    assert delivered_is_what_was_sent(instance) == SINK_DIGESTS * len(NUMBERS)


# ---- to a relay that queues -------------------------------------------------


QUEUED = re.compile(r"postfix/(\w+)\[\d+\]: ([0-9A-Za-z]+): (.*)")


class Ledger:
    """Mails accepted by a Postfix, from its log, which is read once."""

    def __init__(self, postfix):
        self.postfix = postfix
        self.at = 0
        self.known = collections.defaultdict(dict)

    def update(self):
        """@return {recipient: [(Message-ID, size without Postfix's name of it), ...]}"""
        lines = self.postfix.log
        while self.at < len(lines):
            found = QUEUED.search(lines[self.at])
            self.at += 1
            if not found:
                continue
            message = self.known[found[2]]
            for name, pattern in (("id", r"message-id=(\S+)"), ("size", r"size=(\d+)"),
                                  ("to", r"to=<([^>]+)>.*status=sent")):
                value = re.search(pattern, found[3])
                if value:
                    message[name] = value[1]
        copies = collections.defaultdict(list)
        for name, message in self.known.items():
            if "to" in message:
                copies[message["to"]].append((message["id"], int(message["size"]) - len(name)))
        return copies


def postfix_survives(tap):
    """digests are sent to Postfix under kill -9: all arrive, and duplicates are identical"""
    rng = random.Random(SEED + 4)
    started = time.monotonic()
    hits = lives = 0
    postfix = Postfix(tap.subdirectory("postfix"), Ca(tap.subdirectory("ca")),
                      settings={"virtual_transport": "discard:"})
    with postfix:
        instance = Instance(tap.subdirectory("relayed"), port=postfix.port,
                      smtp__connections=CONNECTIONS)
        instance.write_day(DAY, NUMBERS)
        instance.clock.set(at_hour(DAY, 6))
        instance.add_people(DIGESTS)
        ledger = Ledger(postfix)
        while hits < KILLS and lives < 5 * KILLS:
            lives += 1
            advance(instance, STEP_S)
            before = len(ledger.update())
            share = 2 * (DIGESTS - before) // (KILLS - hits + 1)
            goal = before + rng.randint(
                0, min(count_untried(instance, DIGESTS), max(share, 1)))
            child = start(instance, rng)
            wait_until(
                lambda: len(ledger.update()) >= goal or not child.is_running,
                f"{goal} digests in Postfix", pause=lambda _: pause(0.005),
            )
            pause(rng.uniform(0, 0.02))
            hits += child.kill() == -signal.SIGKILL
            instance.check_store()
            sent = sent_addresses(instance)
            postfix.child.wait_fact(
                lambda: sent <= set(ledger.update()), "what is SENT in Postfix")
        settle(instance)
        postfix.wait_empty()
        postfix.child.wait_fact(
            lambda: len(ledger.update()) >= DIGESTS, "every digest in Postfix")
        duplicates = duplicates_hold(ledger.update(), DIGESTS, hits)
        most = most_copies(ledger.update())
    tap.diag(f"Postfix: {hits} kills, {DIGESTS} digests, {duplicates} duplicates"
             f" ({duplicates / hits:.2f} a kill), at most {most} copies of a message,"
             f" {time.monotonic() - started:.1f} s")
    assert delivered_is_what_was_sent(instance) == DIGESTS * len(NUMBERS)
    assert hits >= KILLS * 3 // 4, f"only {hits} kills met a living program"


# ---- in a crash loop --------------------------------------------------------

# Each message is accepted, and the reply is sent 3 s later.  Without PIPELINING: if one
# write has several commands, smtp-sink replies to the others first.
LATE = ["-p", "-W", ".:3"]


def next_due(instance):
    """Let time pass until something is due.  @return whether anything will be"""
    at, in_flight = instance.rows(
        "SELECT min(next_try_at), sum(state = 'SENDING') FROM outbox")[0]
    if at is None:
        return in_flight > 0
    at = datetime.datetime.fromtimestamp(at + 1, datetime.timezone.utc)
    if at.strftime("%Y-%m-%dT%H:%M:%SZ") > instance.clock.now():
        instance.clock.set(at.isoformat())
    return True


def kill_at_acceptance(instance, basket, wanted):
    """One run, killed when a message in `wanted` is accepted. @return whether it was"""
    known = len(basket.messages)
    child = instance.start_once()
    wait_until(
        lambda: any(wanted(m.recipients[0]) for m in basket.update()[known:])
        or not child.is_running,
        "an acceptance", pause=lambda _: pause(0.002),
    )
    return child.kill() == -signal.SIGKILL


def count_copies(basket):
    return collections.Counter(m.recipients[0] for m in basket.update())


def crash_loop_ends(tap):
    """killed at the first acceptance forty times, no recipient gets more than five copies"""
    people = 8
    with SmtpSink(tap.subdirectory("loop-sink"), LATE) as sink:
        instance = Instance(tap.subdirectory("loop"), port=sink.port,
                      smtp__connections=CONNECTIONS)
        instance.clock.set(at_hour(DAY, 6))
        instance.write_day(DAY, NUMBERS)
        instance.add_people(people)
        basket = Basket(sink)
        for kill in range(40):
            assert kill == 0 or next_due(instance), instance.states()
            assert kill_at_acceptance(instance, basket, lambda _: True), kill
            instance.check_store()
        instance.once()
        copies = count_copies(basket)
        tap.diag(f"crash loop: {sorted(copies.values())} copies")
        assert set(copies.values()) == {COPIES} and len(copies) == people, copies
        assert len({(m.recipients[0], m.raw) for m in basket.messages}) == people
        assert instance.rows("SELECT state, held_why, possible_copies, crashes, count(*)"
                          " FROM outbox GROUP BY 1, 2, 3, 4") == [
            ("HELD", "crash", COPIES, COPIES, people)]
        assert instance.value("SELECT count(*) FROM delivered_paper") == 0
        instance.ctl("queue", "release", "1")
        instance.ctl("queue", "drop", "2", "--yes")
        instance.once()
        assert count_copies(basket)["person-0001@example.org"] == COPIES + 1
        assert instance.states() == {"CANCELLED": 1, "HELD": people - 2, "SENT": 1}
        assert instance.value("SELECT count(*) FROM delivered_paper") == 2 * len(NUMBERS)


def poison_is_found(tap):
    """a message during which it is killed each time is held, and the others arrive"""
    people, poison = 12, "person-0007@example.org"
    with SmtpSink(tap.subdirectory("poison-sink"), LATE) as sink:
        instance = Instance(tap.subdirectory("poison"), port=sink.port,
                      smtp__connections=4, mail__alerts=True)
        instance.clock.set(at_hour(DAY, 6))
        instance.write_day(DAY, NUMBERS)
        instance.add_people(people)
        basket = Basket(sink)
        kills = 0
        while kills == 0 or next_due(instance):
            kills += kill_at_acceptance(instance, basket, lambda to: to == poison)
            instance.check_store()
            assert kills <= COPIES, kills
        copies = count_copies(basket)
        tap.diag(f"poison: {kills} kills, {dict(copies)}")
        assert copies[poison] == kills == COPIES, copies
        # in flight together with it twice, then alone
        assert max(copies[to] for to in copies if to != poison) <= 3, copies
        assert len(copies) == people, copies
        assert instance.rows("SELECT s.address, o.state FROM outbox o JOIN subscriber s"
                          " ON s.id = o.subscriber_id WHERE o.state <> 'SENT'") == [
            (poison, "HELD")]
        child = instance.start()
        child.wait_fact(
            lambda: instance.rows("SELECT recipient FROM outbox WHERE kind = 'notice'")
            == [("owner@news.example",)], "an alert")
        child.kill()


# ---- into a Maildir ---------------------------------------------------------


def read_some(maildir, rng):
    """A mail reader: moves some new messages to cur."""
    for path in glob.glob(os.path.join(maildir, "new", "*")):
        if rng.random() < 0.3:
            name = os.path.basename(path)
            os.rename(path, os.path.join(maildir, "cur", f"{name}:2,S"))


def files_of(maildir):
    return glob.glob(os.path.join(maildir, "new", "*")) + glob.glob(
        os.path.join(maildir, "cur", "*"))


def maildir_survives(tap):
    """every digest arrives exactly once in a Maildir with a mail reader"""
    rng = random.Random(SEED + 1)
    started = time.monotonic()
    hits = lives = 0
    maildir = os.path.join(tap.directory, "Maildir")
    instance = Instance(tap.subdirectory("folder"), maildir=maildir)
    instance.write_day(DAY, NUMBERS)
    instance.clock.set(at_hour(DAY, 6))
    instance.add_people(DIGESTS)
    while hits < KILLS and lives < 3 * KILLS:
        advance(instance, STEP_S)
        before = len(files_of(maildir))
        share = 2 * (DIGESTS - before) // (KILLS - hits + 1)
        # when all are delivered, the daemon is idle and continues to run
        goal = before + rng.randint(0, min(count_untried(instance, DIGESTS), max(share, 1)))
        child = start(instance, rng)
        wait_until(
            lambda: len(files_of(maildir)) >= goal or not child.is_running,
            f"{goal} files", pause=lambda _: pause(0.0005),
        )
        pause(rng.uniform(0, 0.004))
        hits += child.kill() == -signal.SIGKILL
        lives += 1
        instance.check_store()
        if os.path.isdir(os.path.join(maildir, "cur")):
            read_some(maildir, rng)
    settle(instance)
    files = files_of(maildir)
    tap.diag(f"Maildir: {hits} kills, {len(files)} digests, 0 duplicates wanted,"
             f" {time.monotonic() - started:.1f} s")
    addresses = collections.Counter()
    for path in files:
        raw = read(path)
        assert is_whole(raw), path
        addresses[raw.split(b"Delivered-To: ", 1)[1].split(b"\n", 1)[0]] += 1
    assert len(addresses) == DIGESTS, len(addresses)
    assert set(addresses.values()) == {1}, addresses.most_common(3)
    assert os.listdir(os.path.join(maildir, "tmp")) == []
    assert delivered_is_what_was_sent(instance) == DIGESTS * len(NUMBERS)
    assert hits >= KILLS * 3 // 4, f"only {hits} kills met a living program"


TRACED = re.compile(r"\d+ +(\w+)\((?:\d+<([^>]*)>|AT_FDCWD)(?:, (.*))?\) += \d+$")


def traced_calls(path):
    """Lines of strace, in the order in which the calls ended; those of two threads mix."""
    started = {}
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            thread, rest = line.rstrip().split(" ", 1)
            if rest.endswith(" <unfinished ...>"):
                started[thread] = rest.removesuffix(" <unfinished ...>")
                continue
            resumed = re.match(r"\s*<\.\.\. \w+ resumed>(.*)", rest)
            yield f"{thread} {started.pop(thread) + resumed[1] if resumed else rest}"


def maildir_is_synced_in_order(tap):
    """a message is synced before it is in new/, and new/ before it counts as sent"""
    maildir = os.path.join(tap.directory, "Maildir-order")
    instance = Instance(tap.subdirectory("order"), maildir=maildir)
    instance.write_day(DAY, NUMBERS)
    instance.add_people(1)
    trace = os.path.join(instance.directory, "trace")
    strace = need_strace()
    instance.once(wanted=0, prefix=[strace, "-f", "-qq", "-y", "-o", trace, "-e",
                                 "trace=fsync,linkat,pwrite64,sendto", "-s", "8192"])
    on_disk, in_new, links, is_sent = set(), set(), 0, False
    for line in traced_calls(trace):
        found = TRACED.match(line)
        if not found:
            continue
        call, path, rest = found.groups()
        if call == "linkat" and path == os.path.join(maildir, "tmp"):
            name = rest.split('"')[1]
            assert os.path.join(path, name) in on_disk, f"not synced: {line}"
            in_new.add(name)
            links += 1
        elif call == "fsync" and path == os.path.join(maildir, "new"):
            in_new.clear()
        elif call == "fsync":
            on_disk.add(path)
        elif (call == "pwrite64" and path.endswith("-wal") and "SENT" in rest
              or call == "sendto" and "SET state = 'SENT'" in rest):
            is_sent = True
            assert not in_new, f"sent before new/ is synced: {in_new}"
    assert links == 1 and is_sent, (links, is_sent)


# ---- while it collects, matches and builds digests --------------------------


ALL_PAPERS = "SELECT id, title, abstract, authors, upvotes, last_day FROM paper ORDER BY id"
ALL_LISTINGS = (
    "SELECT l.source, l.day, p.id, l.upvotes FROM listing l"
    " JOIN paper p ON p.seq = l.paper_seq ORDER BY 1, 2, 3"
)
ALL_MATCHES = (
    "SELECT f.canonical, p.id, m.state FROM (SELECT filter_id, value AS paper_seq,"
    " 'yes' AS state FROM match, json_each('[' || papers || ']') UNION ALL"
    " SELECT filter_id, paper_seq, 'waiting' FROM match_pending) m"
    " JOIN filter f ON f.id = m.filter_id"
    " JOIN paper p ON p.seq = m.paper_seq ORDER BY 1, 2"
)
ALL_DIGESTS = (
    "SELECT s.address, g.slot, g.date, i.position, p.id, i.shown, i.reasons FROM digest g"
    " JOIN subscriber s ON s.id = g.subscriber_id"
    " JOIN digest_item i ON i.digest_id = g.id"
    " JOIN paper p ON p.seq = i.paper_seq ORDER BY 1, 2, 4"
)
ALL_DUE = "SELECT address, next_due_at, is_first_due FROM subscriber ORDER BY 1"
EVERYTHING = (ALL_PAPERS, ALL_LISTINGS, ALL_MATCHES, ALL_DIGESTS, ALL_DUE)


def describe(instance):
    return [instance.rows(sql) for sql in EVERYTHING]


STAGES = ("nothing", "collecting", "matched", "digests", "sending")


def stage_of(instance):
    """The stage reached."""
    ((papers, behind, digests, due),) = instance.rows(
        "SELECT EXISTS (SELECT 1 FROM paper), EXISTS (SELECT 1 FROM filter"
        "  WHERE coalesce(matched_revision,"
        "   (SELECT value FROM cursor WHERE name = 'matched'), 0)"
        "   < (SELECT coalesce(max(revision), 0) FROM paper)),"
        " EXISTS (SELECT 1 FROM digest),"
        " EXISTS (SELECT 1 FROM subscriber WHERE is_first_due)"
    )
    if not papers:
        return "nothing"
    if behind:
        return "collecting"
    return "sending" if not due else "digests" if digests else "matched"


def prepare(tap):
    """An instance with filters and subscribers, more than for one commit, without papers."""
    samples = os.path.join(top_srcdir(), "samples")
    paths = sorted(glob.glob(os.path.join(samples, "daily_papers-*.json")))
    titles = [paper["title"] for path in paths for paper in load_papers(path)]
    instance = Instance(tap.subdirectory("first"), papers=samples, port=1)
    for person in generate(titles, 240, seed=SEED):
        first, *rest = person["filters"]
        instance.add_person(person["address"], "--zone", person["zone"],
                         *[word for text in rest for word in ("--filter", text)],
                         query=first, now=at_hour(DAY, 6))
    return instance


def fresh_copy(instance, directory):
    """A copy of that instance, before its first paper."""
    copy = Instance(directory, papers=instance.papers, port=1)
    copy.take_state(instance)
    return copy


def difference(instance, wanted):
    """Differences between an instance and the expected rows; "" if equal."""
    for sql, found, right in zip(EVERYTHING, describe(instance), wanted):
        if found != right:
            extra = [row for row in found if row not in right]
            missing = [row for row in right if row not in found]
            return (f"{sql}\n{len(found)} rows, wanted {len(right)};"
                    f" too much: {extra[:5]}; missing: {missing[:5]}")
    return ""


def kill_at(instance, now, goal, share):
    """Run until a stage is reached and some time beyond, and kill. @return where it was
    killed; None if it had ended by itself
    """
    child = instance.start_once(now)
    since = time.monotonic()
    wait_until(
        lambda: STAGES.index(stage_of(instance)) >= STAGES.index(goal)
        or not child.is_running,
        f"a run that comes to {goal!r}", deadline_s=RUN_S,
        pause=lambda _: pause(0.001),
    )
    pause(share * (time.monotonic() - since + 0.01))
    status = child.kill()
    if status == -signal.SIGKILL:
        return stage_of(instance)
    assert status == 75, f"a run that nobody killed: status {status}\n{child.output}"
    return None


def live_and_die(instance, now, rng, wanted, most):
    """Kill some runs, and let the last one end. @return where it was killed"""
    kills = []
    try:
        while len(kills) < most:
            goal = STAGES[rng.randrange(len(STAGES) - 1)]
            stage = kill_at(instance, now, goal, rng.random())
            if stage is None:
                break
            kills.append(stage)
            instance.check_store()
        instance.once(now, wanted=75)
        instance.check_store()
        wrong = difference(instance, wanted)
        assert not wrong, wrong
    except AssertionError as problem:
        raise AssertionError(f"after kills at {kills}: {problem}") from problem
    return kills


def making_survives(tap):
    """killed while collecting, matching or building digests, the result is the same"""
    rng = random.Random(SEED + 2)
    started = time.monotonic()
    now = at_hour(DAY, 18)
    first = prepare(tap)
    whole = fresh_copy(first, tap.subdirectory("whole"))
    whole.once(now, wanted=75)  # the relay is down
    wanted = describe(whole)
    assert all(wanted), [len(rows) for rows in wanted]
    stages, lives = collections.Counter(), 0
    # until it was killed both before and after the papers were stored
    while sum(stages.values()) < KILLS or not (
        (stages["nothing"] or stages["collecting"]) and len(stages) > 2
    ):
        lives += 1
        assert lives <= 20 * KILLS, f"{lives} lives, killed only in {dict(stages)}"
        instance = fresh_copy(first, tap.subdirectory(f"life{lives}"))
        most = max(1, min(KILLS // 4, KILLS - sum(stages.values())))
        stages.update(live_and_die(instance, now, rng, wanted, most))
        shutil.rmtree(instance.directory)
    tap.diag(f"making: {sum(stages.values())} kills, {lives} lives, seen in"
             f" {dict(stages)}, {time.monotonic() - started:.1f} s")


# ---- at every write ---------------------------------------------------------


def fault_at(strace, call, fault, number, directory, files):
    """Command to run a program that is killed at its nth call, or whose nth call fails.

    @param files  only calls on these, unless empty
    """
    return [strace, "-f", "-qq", "-o", os.path.join(directory, "trace"),
            *[word for path in files for word in ("-P", path)],
            "-e", f"trace={call}", "-e", f"inject={call}:{fault}:when={number}"]


def make_edge(tap, first, maildir):
    """A copy of an instance, with an empty Maildir."""
    instance = Instance(os.path.join(tap.directory, "edge"), papers=first.papers, maildir=maildir)
    instance.take_state(first)
    shutil.rmtree(maildir, ignore_errors=True)
    return instance


def find_drafts(tap, first, maildir):
    """The files to which a run writes the messages."""
    instance = make_edge(tap, first, maildir)
    instance.once(at_hour(DAY), wanted=0)
    shutil.rmtree(instance.directory)
    return [os.path.join(maildir, "tmp", name)
            for name in os.listdir(os.path.join(maildir, "new"))]


def edge_holds(tap, strace, call, fault, number, first, maildir, written):
    """Kill or fail at one call, then run again. @return whether there was such a call"""
    instance = make_edge(tap, first, maildir)
    where = f"{fault} at {call} number {number}"
    try:
        done = instance.once(
            at_hour(DAY),
            prefix=fault_at(strace, call, fault, number, instance.directory, written))
        with open(os.path.join(instance.directory, "trace"), encoding="utf-8") as trace:
            is_hit = done.status == -signal.SIGKILL or "(INJECTED)" in trace.read()
        assert done.status >= 0 or done.status == -signal.SIGKILL, (where, done)
        instance.check_store()
        instance.clock.set(at_hour(DAY, 9))  # by then a failed source is polled again
        settle(instance)
        files = files_of(maildir)
        assert len(files) == 3, f"{where}: {len(files)} digests for 3 people"
        assert os.listdir(os.path.join(maildir, "tmp")) == [], where
        assert delivered_is_what_was_sent(instance) == 3 * len(NUMBERS), where
    except AssertionError:
        tap.diag(where)
        raise
    finally:
        shutil.rmtree(instance.directory)
    return is_hit


def try_edges(tap, fault, calls):
    """Every nth call of each kind, from a fresh start each time."""
    strace = need_strace()
    rng = random.Random(SEED + 3)
    started = time.monotonic()
    maildir = os.path.join(tap.directory, f"Maildir-{fault}")
    first = Instance(tap.subdirectory(fault), maildir=maildir)
    first.write_day(DAY, NUMBERS)
    first.add_people(3, now=at_hour(DAY, 6))
    edges = collections.Counter()
    drafts = find_drafts(tap, first, maildir)
    for call in calls:
        # Writes to pipes and wake-ups of threads do not fail.
        written = drafts if call == "write" and "error" in fault else []
        step = 1 if IS_LONG or written else STEPS.get(call, 6)
        number = 0
        while True:
            number += rng.randint(1, step)
            if not edge_holds(tap, strace, call, fault, number, first, maildir, written):
                break
            edges[call] += 1
    tap.diag(f"edges, {fault}: {sum(edges.values())} kills or failures, {dict(edges)},"
             f" {time.monotonic() - started:.1f} s")
    assert edges[calls[0]], edges


def every_kill_holds(tap):
    """killed before any write, sync or link, it continues and delivers once"""
    writes = ("sendto",) if stores.is_database() else ("pwrite64", "fdatasync")
    try_edges(tap, "signal=KILL", (
        *writes, "fsync", "write", "linkat", "unlinkat", "mkdir"))


def every_io_error_holds(tap):
    """one failed sync or link neither loses nor duplicates a digest"""
    try_edges(tap, "error=EIO", ("fdatasync", "fsync", "linkat"))


def every_full_disk_holds(tap):
    """a disk that is full for one write neither loses nor duplicates a digest"""
    try_edges(tap, "error=ENOSPC", ("pwrite64", "write", "openat"))


with Tap() as tap:
    tap.diag(f"PAPERBOY_SEED={SEED}")
    tap.run(sending_survives, tap)
    tap.run(postfix_survives, tap)
    tap.run(crash_loop_ends, tap)
    tap.run(poison_is_found, tap)
    tap.run(maildir_survives, tap)
    tap.run(maildir_is_synced_in_order, tap)
    tap.run(making_survives, tap)
    tap.run(every_kill_holds, tap)
    tap.run(every_io_error_holds, tap)
    tap.run(every_full_disk_holds, tap)
