#!/usr/bin/env python3
"""test_soak.py - a fortnight, month or year with people who come, act and leave.

Each digest is compared with the model of tests/test_calendar.py.  Six sources list the
papers, each in its rhythm.  Meanwhile sources and relay fail, the disk is full, the power
is lost, the program is killed and restarted, backups are made, verified and restored, and
the key is rotated.  People whose mail changes (who leave, edit, bounce or complain) get
each paper once, which a filter of theirs finds, and none after they left; those who send
any commands get each once.

100 people for 14 days; `make soak` runs 1,000 for a year and 10,000 for a month.
PAPERBOY_SOAK="PEOPLE DAYS" runs another one; PAPERBOY_SEED=N repeats it.
"""

import collections
import datetime
import email.utils
import glob
import os
import random
import re

import lib  # the path
import stores
from simulation import HOUR_S, Event, Simulation, daily_checks
from slots import DAY_S
from tap import Tap, top_builddir
from test_bounces_forged import complaint, report
from test_calendar import (
    EXPIRE_S, LISTING_TIMES, SEED, WORDS, Model, Quarter, check_papers, compare_digests, read_mail,
    write_file,
)

HOME = "paperboy@news.example"
ACTS = ("leave", "edit", "like", "bounce", "complain", "any") + ("none",) * 4
ADDED = "video"  # a filter of some
# Commands, right and wrong, of those who do anything; {paper} is of their last digest.
COMMANDS = """
    add {word};add {word} OR {word};edit 1 {word};del 2;del 1;block {word};unblock 1;list
    set max 3;set time 18:30;set days mon thu;set zone Asia/Tokyo;set zone America/Havana
    set frequency weekly;set frequency daily;set language de;set language zh;set new off
    set versions all;set retractions mail;set quiet on;set checkup off;set abstract full
    pause 2d;pause;resume;resume catchup=5;test {word};search {word};why {paper};more {paper}
    like {paper};hide {paper};watch {paper};unwatch {paper};known {paper};taste;taste forget
    status;share 1 as {word};unshare {word};follow {word};unfollow {word};fork {word};undo 1
    unsubscribe;subscribe;export;help;help set;sources;info;yes;no;more 1;like 1 2;hide 99
    please send me less;what is this?;I only want {word};watch;thanks
""".replace("\n", ";").split(";")
# Ages in days of the oldest rows, with a day until maintenance runs.
RETENTION = {"outbox WHERE ended_at > 0": ("ended_at", 15), "digest": ("created_at", 32),
             "source_fetch": ("fetched_at", 31), "rate_log": ("at", 32),
             "bounce": ("at", 61), "inbox": ("received_at", 31)}
# Feeds that list papers after Hugging Face: days between two issues, days in each.
FEEDS = {"society": (1, 2), "group": (7, 8), "blog": (3, 10), "journal": (30, 31)}
# Events that a soak causes on purpose.
EXPLAINED = re.compile(
    r"fetch failed|source paused|relay |message (deferred|failed)|took over|"
    r"bounce|suspended|held back|disk is full|restored")


class Soak(Quarter):
    """People who act, and one failure or task of operation on most days."""

    source_order = ""

    def __init__(self, directory, begin, seed, people, length):
        self.people, self.length = people, length
        papers = f"file://{directory}/papers"
        self.settings = Quarter.settings | {
            "log_level": "warning", "commands__address": HOME,
            "commands__authserv_id": "mx.news.example",
            "receive__lmtp_socket": "/nonexistent/lmtp",
            "receive__parser": os.path.join(top_builddir(), "paperboy-parser"),
            "sources__arxiv__kind": "arxiv", "sources__arxiv__categories": ["cs.CL"],
            "sources__arxiv__url": papers,
            **{f"sources__{name}__{key}": value for name in FEEDS
               for key, value in (("kind", "feed"), ("url", f"{papers}/{name}.xml"))}}
        self.acted = set()  # addresses
        self.left = {}  # address: when its mail ended
        self.seen = {}  # address: (envelope sender, papers) of its last digest
        self.mails = collections.Counter()
        self.sizes = {}  # by day: memory in kB, descriptors, bytes of the store
        self.count = 0
        super().__init__(begin, seed)

    def plan(self, rng):
        def at(day, low=0, high=23):
            return self.begin + day * DAY_S + rng.randint(low * 60, high * 60) * 60

        self.asleep = None
        self.act_of = {subscriber: ACTS[number % len(ACTS)]
                       for number, subscriber in enumerate(self.subscribers)}
        events = daily_checks(self.begin, self.end)
        for day in range(self.length):
            start = self.begin + day * DAY_S
            for hour, minute in LISTING_TIMES:
                events.append(Event(start + hour * HOUR_S + minute * 60, 1, "show", None))
            events.append(Event(start + DAY_S - 60, 6, "call", self.read_mails))
            if day % 7 == 3:
                events.append(Event(start + rng.randrange(DAY_S), 5, "kill", None))
            if day % 7 == 5:
                events.append(Event(at(day), 5, "call", self.upgrade))
            if day % 30 == 9:
                events += [Event(at(day, 1, 5), 2, "remove", "papers"),
                           Event(at(day, 8, 14), 2, "restore", "papers"),
                           Event(at(day, 15, 17), 2, "remove", "Maildir"),
                           Event(at(day, 18, 19), 2, "restore", "Maildir")]
            if day % 30 == 11:
                events.append(Event(at(day), 5, "call", self.back_up))
            if day % 182 == 7:
                events.append(Event(at(day), 5, "call", Simulation.lose_power))
            if day % 90 == 8 and not stores.is_database():
                full = at(day)
                events += [Event(full, 5, "call", self.fill_disk),
                           Event(full + HOUR_S, 5, "call", self.free_disk)]
            if day % 180 == 12:
                events.append(Event(at(day), 5, "call", self.restore))
            if day > 12:
                events.append(Event(at(day), 5, "call", self.release))
        events.append(Event(self.end - HOUR_S, 5, "call", self.release))
        events.append(Event(at(self.length // 2), 5, "call", self.rotate_key))
        for number, subscriber in enumerate(self.subscribers):
            day = rng.randint(1, self.length // 2) if number % 4 == 0 else 1
            events.append(Event(self.begin + day * DAY_S + 12 * HOUR_S, 4, "join",
                                subscriber))
            day = rng.randint(day + 3, self.length - 2)
            times = {"none": 0, "bounce": 2, "any": self.length // 4}.get(
                self.act_of[subscriber], 1)
            for more in range(times):
                events.append(Event(at(min(day + more, self.length - 1)), 5, "call",
                                    lambda simulation, who=subscriber:
                                    self.act(simulation, who)))
        return [event for event in events if event.at <= self.end]

    # -- papers --

    def show(self, at, directory):
        """The lists of Hugging Face, and what other sources have of them a day later."""
        super().show(at, directory)

        def write(name, days, item):
            listed = [item(paper) for paper in self.papers.values()
                      if at - days * DAY_S <= paper.listed_at + DAY_S <= at]
            date = email.utils.formatdate(at // DAY_S * DAY_S)
            write_file(directory, f"{name}.xml",
                       "<rss xmlns:dc='http://purl.org/dc/elements/1.1/' version='2.0'>"
                       f"<channel><pubDate>{date}</pubDate>{''.join(listed)}</channel></rss>")

        def announced(paper):
            return (f"<item><title>{paper.title}</title><description>arXiv:{paper.id}v1"
                    f" Announce Type: new \nAbstract: {paper.abstract}</description>"
                    f"<guid>oai:arXiv.org:{paper.id}v1</guid><category>cs.CL</category>"
                    f"<dc:creator>{', '.join(paper.authors)}</dc:creator></item>")

        def linked(paper):
            return (f"<item><title>{paper.title}</title><author>{paper.authors[0]}</author>"
                    f"<link>https://arxiv.org/abs/{paper.id}</link></item>")

        day = (at - self.begin) // DAY_S
        weekday = datetime.datetime.fromtimestamp(at, datetime.timezone.utc).weekday()
        if weekday < 5:
            write("cs.CL", 1 if weekday else 3, announced)
        for name, (interval, days) in FEEDS.items():
            if day % interval == 0:
                write(name, days, linked)

    # -- people --

    def read_mails(self, simulation):
        """Take the mail out of the Maildirs, and record sizes each month or week."""
        for path in glob.glob(os.path.join(simulation.maildir + "*", "new", "*")):
            with open(path, "rb") as file:
                head = file.read(4096)
            if b"\nMessage-ID: <digest." in head:
                mail = read_mail(path)
                sender = re.search(rb"^Return-Path: <([^>]+)>", head, re.M)[1].decode()
                self.mails[mail] += 1
                self.seen[mail[0]] = sender, mail[2]
            os.unlink(path)
        day = (simulation.clock - self.begin) // DAY_S
        period = 30 if self.length > 30 else 7
        if day % period == period - 1 and day not in self.sizes and simulation.process:
            with open(f"/proc/{simulation.process.pid}/status", encoding="ascii") as file:
                memory = int(re.search(r"VmRSS:\s+(\d+)", file.read())[1])
            self.sizes[day] = memory, len(os.listdir(
                f"/proc/{simulation.process.pid}/fd")), os.path.getsize(
                    simulation.instance.store) if not stores.is_database() else 0

    def send(self, simulation, sender, recipient, raw):
        self.count += 1
        path = os.path.join(simulation.instance.directory, "received")
        with open(path, "wb") as file:
            file.write(raw)
        simulation.send(f"mail {sender} {recipient} {path}")

    def act(self, simulation, subscriber):
        self.read_mails(simulation)
        address, act = subscriber.address, self.act_of[subscriber]
        sender, papers = self.seen.get(address, ("", ()))
        lines = {"leave": "unsubscribe", "edit": f"add {ADDED}",
                 "like": f"like {min(papers, default='')}"}
        is_full = any(begin <= simulation.clock < end for begin, end in simulation.delays)
        if act == "none" or address in self.left or not sender or is_full:
            return
        if act == "any":
            lines["any"] = "\n".join(
                simulation.rng.choice(COMMANDS).strip().format(
                    word=simulation.rng.choice(WORDS),
                    paper=simulation.rng.choice(sorted(papers) or [1]))
                for _ in range(3))
        self.acted.add(address)
        if act in lines:
            self.send(simulation, address, HOME, (
                "Authentication-Results: mx.news.example; dmarc=pass"
                f" header.from=example.org\nFrom: {address}\nTo: {HOME}\n"
                f"Subject: \nMessage-ID: <{self.count}@example.org>\n\n{lines[act]}\n"
            ).encode())
        else:
            raw = (report(self.count, address) if act == "bounce"
                   else complaint(self.count))
            self.send(simulation, "-", sender, raw)
        if act in ("leave", "complain"):
            self.left[address] = simulation.clock

    # -- operation --

    @staticmethod
    def run_ctl(simulation, *arguments, wanted=0):
        time = datetime.datetime.fromtimestamp(simulation.clock, datetime.timezone.utc)
        return simulation.instance.ctl(*arguments, wanted=wanted,
                                       now=f"{time:%Y-%m-%dT%H:%M:%SZ}")

    @staticmethod
    def upgrade(simulation):
        simulation.close()

    def back_up(self, simulation):
        if stores.is_database():  # its server makes them
            return
        path = os.path.join(simulation.instance.directory, "backup")
        self.run_ctl(simulation, "backup", path, "--yes")
        self.run_ctl(simulation, "backup", path, "--verify")

    def restore(self, simulation):
        """Move to the backup of this moment."""
        if stores.is_database():
            return
        simulation.close()
        self.back_up(simulation)
        self.run_ctl(simulation, "restore",
                     os.path.join(simulation.instance.directory, "backup"), "--yes")

    def release(self, simulation):
        """Send what the restore held: nothing was sent since that backup."""
        if not stores.is_database():
            self.run_ctl(simulation, "queue", "release", "all", "--yes")

    @staticmethod
    def fill_disk(simulation):
        simulation.delays.append((simulation.clock, simulation.clock + HOUR_S))
        simulation.send("disk full")

    @staticmethod
    def free_disk(simulation):
        simulation.send("disk free")

    def rotate_key(self, simulation):
        simulation.close()
        self.run_ctl(simulation, "key", "rotate", "--yes")


def check_actors(soak, simulation, model):
    """The mail of those who act is explained by a filter of theirs, and ends."""
    counts = collections.Counter()
    for subscriber in soak.subscribers:
        act = soak.act_of[subscriber]
        texts = subscriber.filters + [ADDED]
        found = {paper for text in texts for paper in model.found.get(text)
                 or model.found.setdefault(text, model.find(text))}
        got = simulation.delivered(subscriber)
        counts[act] += subscriber.address in soak.left or act not in ("leave", "complain")
        assert act == "any" or set(got) <= found, (subscriber.row, set(got) - found)
        assert not got or max(got.values()) == 1, (subscriber.row, got.most_common(2))
        for _, digest in simulation.digests[subscriber.id]:
            assert digest.instant.clock <= soak.left.get(subscriber.address, soak.end), (
                subscriber.row, digest)
    return counts


def check_rows(soak, simulation):
    """No table has rows that are older than its retention."""
    for table, (column, days) in RETENTION.items():
        oldest = simulation.instance.value(f"SELECT min({column}) FROM {table}")
        assert oldest is None or oldest >= soak.end - days * DAY_S, (table, oldest)
    states = dict(simulation.instance.rows(
        "SELECT state, count(*) FROM outbox GROUP BY 1"))
    assert set(states) <= {"SENT", "FAILED", "CANCELLED", "UNKNOWN", "NEW"}, states


def check_log(simulation):
    with open(simulation.log_path, encoding="utf-8") as file:
        lines = file.readlines()
    assert stores.is_database() or any("disk is full" in line for line in lines)
    lines = [line for line in lines if not EXPLAINED.search(line)]
    assert not lines, sorted({re.sub(r"[0-9]+", "N", line)[:160] for line in lines})


def check_sent(soak, simulation):
    """The mails are the digests that were sent; some in doubt were sent twice."""
    soak.read_mails(simulation)
    sent = collections.Counter(
        (subscriber.address, digest.instant.clock, digest.papers)
        for subscriber in soak.subscribers
        for number, digest in simulation.digests[subscriber.id]
        if simulation.has_arrived(number))
    twice = soak.mails - sent
    assert sum(twice.values()) <= 2 * len(simulation.kills), list(twice.items())[:2]
    assert set(soak.mails) >= set(sent), list(set(sent) - set(soak.mails))[:2]
    return sum(twice.values())


def run_soak(tap, people, length):
    directory = tap.subdirectory(f"{people}-{length}")
    soak = Soak(directory, "2028-01-31" if length > 30 else "2026-10-19", SEED, people,
                length)
    simulation = Simulation(directory, soak)

    def pass_time():
        """people come, act and leave while parts fail; all know their next digest"""
        simulation.run()
        check_rows(soak, simulation)
        check_log(simulation)

    def compare():
        """each delivery is explained by the model, nothing is lost"""
        model = Model(soak, simulation)
        actors = check_actors(soak, simulation, model)
        everybody = soak.subscribers
        soak.subscribers = [one for one in everybody
                            if soak.act_of[one] in ("like", "none")]
        found = compare_digests(simulation, model)
        check_papers(tap, simulation, model)
        soak.subscribers = everybody
        twice = check_sent(soak, simulation)
        tap.diag(f"{len(found)} digests of those who do not act, {sum(soak.mails.values())}"
                 f" mails of all, {twice} twice; {soak.count} received; {dict(actors)};"
                 f" {simulation.power_losses} power losses, {len(simulation.kills)} kills")

    def stay_small():
        """memory and descriptors do not grow"""
        tap.diag(f"memory kB, descriptors, store bytes by day: {soak.sizes}")
        first, *_, last = list(soak.sizes.values())[1:]
        assert last[0] < 1.5 * first[0] and last[1] <= first[1] + 2, soak.sizes

    tap.diag(f"{people} people, {length} days, PAPERBOY_SEED={SEED}")
    failed = tap.failed
    tap.run(pass_time)
    if tap.failed == failed:
        tap.run(compare)
    if len(soak.sizes) > 3:
        tap.run(stay_small)
    tap.diag(f"{simulation.seconds:.0f} s")


with Tap() as tap:
    for size in (os.environ.get("PAPERBOY_SOAK") or "100 14").split(","):
        run_soak(tap, *map(int, size.split()))
