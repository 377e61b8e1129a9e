#!/usr/bin/env python3
"""test_quarter.py - a quarter of a year, with all that befalls clocks and networks.

The daemon's stages live through it in tests/helper_life, which a real kill -9 ends once
each simulated day.  Meanwhile the source is away for a day and for a week, the outlet
for hours and for days; the clock is set back a day and put right, then ten days
forward and back; and the machine sleeps for a week.  What each person should have got
and when is worked out here from the rules alone, with Python's own time zones
(lib/slots.py) and the second implementation of the filters (lib/oracle.py).

PAPERBOY_LONG=1: more people, both halves of the year, several seeds.
PAPERBOY_SEED=N repeats a run.
"""

import collections
import copy
import datetime
import glob
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import slots
from daemon import Instance
from oracle import Paper, parse
from slots import DAY_S, utc
from tap import Tap, top_builddir

IS_LONG = os.environ.get("PAPERBOY_LONG", "") not in ("", "0")
SEED = int(os.environ.get("PAPERBOY_SEED") or (random.randrange(1 << 30) if IS_LONG else 1))
PEOPLE = 800 if IS_LONG else 200
DAYS = 92
HOUR_S = 3600
POLL_S = 4 * HOUR_S
GIVE_UP_S = 6 * HOUR_S
SINCE_DAYS = 3  # a new subscriber's first digest goes back so far

# North and south, half hours and quarters, over the date line; a midnight that is
# skipped (Havana, Beirut, the Azores, Santiago, Cairo) or comes twice; half an hour
# (Lord Howe) and two (Troll); winter as the exception (Dublin); a month (Casablanca).
ZONES = """
    UTC Europe/Berlin Europe/London Europe/Dublin Atlantic/Azores America/New_York
    America/Los_Angeles America/St_Johns America/Havana America/Santiago America/Nuuk
    America/Sao_Paulo Asia/Tokyo Asia/Kolkata Asia/Kathmandu Asia/Beirut Asia/Jerusalem
    Asia/Tehran Africa/Cairo Africa/Casablanca Australia/Sydney Australia/Adelaide
    Australia/Lord_Howe Australia/Eucla Pacific/Auckland Pacific/Chatham
    Pacific/Kiritimati Pacific/Pago_Pago Pacific/Apia Antarctica/Troll Etc/GMT+12
    US/Eastern
""".split()

WORDS = """
    agent attention bandit benchmark causal cluster code contrast corpus dataset
    diffusion distillation embedding entropy evaluation exploration feature flow forest
    graph gradient image inference kernel language latent layer learning memory mixture
    model neuron noise optimizer parser planning policy prior prompt pruning query
    reasoning retrieval reward robot sampling scaling segment sequence speech survey
    token transformer translation tree uncertainty video vision zebra
""".split()
NAMES = "Ada Lovelace;Alan Turing;Grace Hopper;Emmy Noether;Edsger Dijkstra".split(";")

FILTERS = """
    diffusion;robot;speech;zebra;"language model";"graph neuron";agent OR bandit
    title:video;title:"latent flow" OR title:noise;reasoning -survey;reward policy
    transl*;optimi* OR prun*;author:Turing;(image OR video) vision;kernel entropy
    retrieval -title:benchmark;upvotes:>=20;upvotes:>=35;code upvotes:>=10
    (agent OR token) upvotes:>=15;memory OR upvotes:>=45;zymurgy;"xylem phloem"
""".replace("\n", ";").split(";")
FILTERS = [text.strip() for text in FILTERS if text.strip()]

JUMP, WAKE = 3, 5  # lives that begin with the clock ten days ahead, and after the sleep

SHOWN = ((8, 10), (15, 40), (26, 20))  # hour and minute, on a day, at which papers come

Moment = collections.namedtuple("Moment", "life clock late")  # in the order of time
Batch = collections.namedtuple("Batch", "moment at")  # at: the true time
Digest = collections.namedtuple("Digest", "slot moment papers")


def day_of(at):
    return datetime.datetime.fromtimestamp(at, datetime.timezone.utc).date().isoformat()


# ---- papers -----------------------------------------------------------------


class MadeUp:
    """A paper: what it says, since when it is listed, and how its votes rise."""

    def __init__(self, rng, day, number):
        at = utc(f"{day}T00:00")
        self.id = f"{day[2:4]}{day[5:7]}.{number:05}"
        self.title = " ".join(rng.choices(WORDS, k=rng.randint(3, 7)))
        self.abstract = " ".join(rng.choices(WORDS, k=12))
        self.authors = rng.sample(NAMES, 2)
        hour, minute = rng.choices(SHOWN, (5, 3, 2))[0]
        self.listed_at = at + hour * HOUR_S + minute * 60
        if rng.random() < 0.03:  # days too late
            self.listed_at += rng.randint(2, 9) * DAY_S
        self.votes = [(0, rng.choice((0, 1, 3, 9)))]
        for _ in range(rng.choice((0, 1, 2, 4))):
            risen = self.votes[-1][1] + rng.choice((1, 6, 11, 17))
            self.votes.append((at + rng.randint(0, 11 * DAY_S), risen))
        self.votes.sort()
        self.oracle = Paper({"id": self.id, "title": self.title, "upvotes": 0,
                             "abstract": self.abstract, "authors": self.authors})

    def votes_at(self, at):
        return max(votes for since, votes in self.votes if since <= at)

    def element(self, at):
        return {"paper": {"id": self.id, "title": self.title, "summary": self.abstract,
                          "authors": [{"name": name} for name in self.authors],
                          "publishedAt": "2026-01-01T00:00:00.000Z",
                          "upvotes": self.votes_at(at)}, "numComments": 0}


class World:
    """All papers of the quarter, and the folder in which the source shows them."""

    def __init__(self, rng, directory, begin):
        self.directory = directory
        self.days = {}
        number = 1
        for at in range(begin, begin + DAYS * DAY_S, DAY_S):
            day = day_of(at)
            if datetime.date.fromisoformat(day).weekday() < 5:
                count = rng.choice((0, 4, 8, 12, 16, 20)) if number > 20 else 12
                self.days[day] = [MadeUp(rng, day, number + n) for n in range(count)]
                number += count
        self.papers = {paper.id: paper for day in self.days.values() for paper in day}
        self.day_of = {paper.id: day for day, papers in self.days.items()
                       for paper in papers}

    def show(self, at):
        """The source tells what there is now, of two weeks."""
        for age in range(16):
            day = day_of(at - age * DAY_S)
            if at >= utc(f"{day}T08:10") and day in self.days:
                listed = [paper.element(at) for paper in self.days[day]
                          if paper.listed_at <= at]
                path = os.path.join(self.directory, f"daily_papers-{day}.json")
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(listed, file)


# ---- people -----------------------------------------------------------------


class Person:
    """Somebody with a rhythm and some filters, who comes at a time."""

    def __init__(self, rng, number, span):
        self.address = f"person-{number:04}@example.org"
        zone = ZONES[number % len(ZONES)]
        minute = rng.randrange(24 * 60)
        changes = slots.changes(slots.zone_of(zone), *span)
        if changes and number % 3:  # within the hour that is skipped or comes twice
            when, moved = rng.choice(changes)
            local = when + slots.offset_at(slots.zone_of(zone), when)
            minute = (local // 60 - abs(moved)) % (24 * 60)
            if moved > 0:
                minute = (local // 60 - rng.randint(0, moved)) % (24 * 60)
            else:
                minute = (local // 60 + rng.randint(0, -moved)) % (24 * 60)
        cadence = rng.choice(("daily", "daily", "weekdays", "weekly"))
        days = {"daily": slots.ALL, "weekdays": slots.WORKING,
                "weekly": rng.choice((1, 0x40, 0x09, 0x12, 0x61, rng.randint(1, 127)))}
        self.row = [self.address, zone, cadence, str(days[cadence]), str(minute)]
        self.filters = rng.sample(FILTERS, rng.randint(1, 4))
        self.rhythm = slots.Schedule(zone, days[cadence], minute, *span)
        self.came = None  # Moment
        self.id = None


# ---- the quarter ------------------------------------------------------------


class Quarter:
    """Lives through it all and notes what happened in which order."""

    def __init__(self, tap, begin, seed):
        self.tap = tap
        self.rng = random.Random(seed)
        directory = tap.subdirectory(f"{begin}-{seed}")
        self.begin = utc(f"{begin}T00:00")
        self.end = self.begin + DAYS * DAY_S
        self.maildir = os.path.join(directory, "Maildir")
        # Editions wait for no list that is late here: slots are looked at (how long
        # they wait, and for what, is in test_coverage.c).
        self.instance = Instance(directory, maildir=self.maildir, log_level="error",
                           collect__interval_s=POLL_S, collect__wait_min=0,
                           delivery__expire_h=GIVE_UP_S // HOUR_S)
        self.clock_path = os.path.join(directory, "clock")
        self.world = World(self.rng, self.instance.papers, self.begin)
        span = (self.begin, self.end)
        self.people = [Person(self.rng, n, span) for n in range(PEOPLE)]
        self.true = self.begin
        self.ahead = 0  # of the clock, before the true time
        self.life = 0  # counted up when the clock does not simply go on
        self.lives = [(self.begin, None)]  # when each began and ended, by its clock
        self.batches = collections.defaultdict(list)
        self.digests = collections.defaultdict(list)
        self.ends = {}
        self.last_batch = self.last_digest = 0
        self.hits = self.due_checked = 0
        self.kills = set()
        self.process = None
        self.plan()

    # -- what befalls it --

    def plan(self):
        """Events by the true time, none in the night of another."""
        rng = self.rng

        def at(day, low=0, high=23):
            return self.begin + day * DAY_S + rng.randint(low * 60, high * 60) * 60

        events = []
        for day in range(DAYS):
            start = self.begin + day * DAY_S
            for hour, minute in SHOWN:
                events.append((start + hour * HOUR_S + minute * 60, 1, "show", None))
            events.append((start + rng.randrange(DAY_S), 5, "kill", None))
            events.append((start + DAY_S, 9, "look", None))
        self.asleep = (at(68), at(75))
        self.outages = [("papers", at(12), at(13)), ("papers", at(55), at(62)),
                        ("Maildir", at(30, 3, 8), at(30, 10, 15)),
                        ("Maildir", at(36), at(39)), ("Maildir", at(80), at(81))]
        for name, start, end in self.outages:
            events += [(start, 2, "away", name), (end, 2, "back", name)]
        self.jump = (at(44, 6, 14), at(44, 16, 23))
        events += [(at(20), 3, "clock", -DAY_S), (at(23), 3, "clock", 0)]
        events += [(self.jump[0], 3, "clock", 10 * DAY_S), (self.jump[1], 3, "clock", 0)]
        events += [(self.asleep[0], 3, "sleep", None), (self.asleep[1], 3, "wake", None)]
        late = self.people[-PEOPLE // 10:]
        during = late[: len(late) // 4]  # while the clock is ten days ahead
        for person in self.people[: -len(late)]:
            events.append((self.begin + DAY_S + 12 * HOUR_S, 4, "come", person))
        for person in late:
            when = at(rng.randint(5, 65))
            if person in during:
                when = rng.randint(self.jump[0] // 60 + 30, self.jump[1] // 60 - 30) * 60
            events.append((when, 4, "come", person))
        events = [event for event in events if event[0] <= self.end]
        self.events = sorted(events, key=lambda event: event[:2])

    @property
    def clock(self):
        return self.true + self.ahead

    def moment(self, clock=None, late=False):
        return Moment(self.life, self.clock if clock is None else clock, late)

    # -- the process --

    def tell(self, order, wait=True):
        if not self.process:
            self.process = subprocess.Popen(
                [os.path.join(top_builddir(), "tests", "helper_life"),
                 self.instance.config, self.clock_path],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdin.write(order + "\n")
        self.process.stdin.flush()
        if wait:
            answer = self.process.stdout.readline()
            assert answer == "done\n", f"{order}: {answer!r} at {self.true}"

    def kill(self, until):
        """Let it go on, and kill it somewhere on the way."""
        self.tell(f"run {until}", wait=False)
        threading.Event().wait(self.rng.uniform(0, 0.02))
        self.process.send_signal(signal.SIGKILL)
        assert self.process.wait() == -signal.SIGKILL
        self.hits += not self.process.stdout.read()
        self.process = None
        with open(self.clock_path, "r+", encoding="ascii") as file:
            died_at = int(file.read())
            file.seek(0)
            file.write(f"{died_at + 1:011}\n")  # it takes a second to begin again
        self.kills.add(self.moment(died_at))

    def close(self):
        if self.process:
            self.process.stdin.close()
            assert self.process.wait() == 0
            self.process.stdout.close()

    def end_life(self):
        begin, end = self.lives[-1]
        self.lives[-1] = (begin, end or self.clock)

    def set_clock(self, clock, ahead):
        self.note()
        self.end_life()
        self.ahead = ahead
        self.life += 1
        self.lives.append((clock, None))
        self.tell(f"set {clock}")

    # -- what it left in the store --

    def note(self):
        """Rows that are new since the last look, before they are forgotten."""
        for number, day, asked_at, status in self.instance.rows(
                "SELECT id, day, asked_at, status FROM source_fetch WHERE id > ?",
                self.last_batch):
            self.last_batch = number
            if status == "ok":
                self.batches[day].append(
                    Batch(self.moment(asked_at), asked_at - self.ahead))
        for number, person, slot, made_at in self.instance.rows(
                "SELECT id, subscriber_id, slot, created_at FROM digest WHERE id > ?",
                self.last_digest):
            self.last_digest = number
            ids = self.instance.rows("SELECT p.id FROM digest_item JOIN paper p"
                                  " ON p.seq = paper_seq WHERE digest_id = ?", number)
            papers = frozenset(name for (name,) in ids)
            self.digests[person].append(
                (number, Digest(slot, self.moment(made_at), papers)))
        for number, state, ended_at in self.instance.rows(
                "SELECT digest_id, state, ended_at FROM outbox"
                " WHERE ended_at IS NOT NULL"):
            self.ends.setdefault(number, (state, self.moment(ended_at, late=True)))

    def look(self):
        """At midnight: everybody's next edition is the next slot there is."""
        self.note()
        due = dict(self.instance.rows("SELECT address, next_due_at FROM subscriber"))
        for person in self.people:
            if person.came:
                wanted = person.rhythm.next_after(self.clock - 1)
                assert due[person.address] == wanted[0], (
                    person.row, wanted, due[person.address], self.clock)
                self.due_checked += 1

    def has_arrived(self, number):
        """Whether a digest counts as read; one that was in doubt to its end does."""
        return self.ends.get(number, ("",))[0] in ("SENT", "UNKNOWN")

    # -- living --

    def put_away(self, name):
        path = os.path.join(self.instance.directory, name)
        if os.path.isdir(path):
            os.rename(path, path + ".away")
        with open(path, "w", encoding="ascii"):
            pass

    def put_back(self, name):
        path = os.path.join(self.instance.directory, name)
        os.unlink(path)
        if os.path.isdir(path + ".away"):
            os.rename(path + ".away", path)

    def meet(self, kind, what, until):
        if kind == "show":
            away = self.instance.papers + ".away"
            self.world.directory = away if os.path.isdir(away) else self.instance.papers
            self.world.show(self.true)
        elif kind == "away":
            self.put_away(what)
        elif kind == "back":
            self.put_back(what)
        elif kind == "clock":
            self.set_clock(self.true + what, what)
        elif kind == "wake":
            self.set_clock(self.clock, self.ahead)
        elif kind == "come":
            what.came = self.moment()
            self.tell("add " + "\t".join(what.row + what.filters))
        elif kind == "kill":
            self.kill(until)
        elif kind == "look":
            self.look()

    def live(self):
        with open(self.clock_path, "w", encoding="ascii") as file:
            file.write(f"{self.clock:011}\n")
        begun = time.monotonic()
        is_asleep = False
        for number, (at, _, kind, what) in enumerate(self.events):
            if not is_asleep and at > self.true:
                self.tell(f"run {at + self.ahead}")
            elif is_asleep and kind == "sleep":
                raise AssertionError("asleep twice")
            self.true = at
            if is_asleep and kind in ("kill", "look"):
                continue
            if kind == "sleep":
                self.end_life()
            is_asleep = kind == "sleep" or (is_asleep and kind != "wake")
            after = self.events[min(number + 1, len(self.events) - 1)][0]
            self.meet(kind, what, after + self.ahead)
        self.note()
        self.end_life()
        self.instance.check_store()
        self.close()
        self.seconds = time.monotonic() - begun
        ids = dict(self.instance.rows("SELECT address, id FROM subscriber"))
        for person in self.people:
            person.id = ids[person.address]


# ---- what should have come --------------------------------------------------


class Judge:
    """Works out from the rules who gets which papers when."""

    def __init__(self, quarter):
        self.quarter = quarter
        self.world = quarter.world
        self.found = {text: self.find(text) for text in FILTERS}

    def find(self, text):
        """When each paper that a filter ever finds was known to be one: {id: Moment}."""
        tree = parse(text)
        found = {}
        for paper in self.world.papers.values():
            truths = {votes: self.is_hit(tree, paper, votes) for _, votes in paper.votes}
            for batch in self.quarter.batches[self.world.day_of[paper.id]]:
                shown_at = self.last_shown(batch.at)
                if paper.listed_at <= shown_at and truths[paper.votes_at(shown_at)]:
                    found[paper.id] = batch.moment
                    break
        return found

    def last_shown(self, at):
        """When the source's files were last written before a time."""
        day = at // DAY_S * DAY_S
        times = [day - late + hour * HOUR_S + minute * 60 for late in (0, DAY_S)
                 for hour, minute in SHOWN]
        return max(time for time in times if time <= at)

    @staticmethod
    def is_hit(tree, paper, votes):
        seen = copy.copy(paper.oracle)
        seen.numbers = dict(seen.numbers, upvotes=votes)
        return tree.truth(seen) is True

    def wanted_papers(self, person):
        """[(since when, id)] in that order."""
        oldest = day_of(person.came.clock - SINCE_DAYS * DAY_S)
        earliest = person.came
        if person.came.life == JUMP:  # the clock was wrong, and is put right
            back = self.quarter.lives[JUMP + 1][0]
            oldest = day_of(back - SINCE_DAYS * DAY_S)
            earliest = Moment(JUMP + 1, back, False)
        known = {}
        for text in person.filters:
            for name, moment in self.found[text].items():
                if self.world.day_of[name] >= oldest:
                    moment = max(moment, earliest)
                    known[name] = min(moment, known.get(name, moment))
        return sorted((moment, name) for name, moment in known.items())

    def moments(self, person):
        """When an edition is made, if there is anything for it: [(slot, Moment)]."""
        due, name, found = person.came.clock, f"first-{person.came.clock}", []
        for life, (begin, end) in enumerate(self.quarter.lives):
            if life < person.came.life:
                continue
            if life > person.came.life:
                due, name = min((due, name), person.rhythm.next_after(begin - 1))
                if due < begin:
                    due, name = begin, person.rhythm.latest_at(begin)[1]
            while due < end:
                found.append((name, Moment(life, due, False)))
                due, name = person.rhythm.next_after(due)
        return found

    def digests(self, person, got, ends):
        """What is to be made.  got, ends: what was made, and what became of each"""
        late = {digest.moment for digest in got}
        waiting = self.wanted_papers(person)
        used, made = set(), []
        for slot, moment in self.moments(person):
            after = moment._replace(clock=moment.clock + 1)
            if moment in self.quarter.kills and after in late:
                moment = after
                if slot.startswith("first"):
                    slot = f"first-{after.clock}"
            ready = {name for since, name in waiting if since <= moment}
            if slot in used or not ready:
                continue
            used.add(slot)
            waiting = [row for row in waiting if row[1] not in ready]
            state, end = ends[len(made)] if len(made) < len(ends) else ("SENT", moment)
            if state == "FAILED":
                waiting = sorted(waiting + [(end, name) for name in ready])
            made.append(Digest(slot, moment, frozenset(ready)))
        return made


def check_digests(tap, quarter, judge):
    """every slot has one edition, at its hour, with exactly the papers that were due"""
    total = papers = weeks = 0
    for person in quarter.people:
        rows = quarter.digests[person.id]
        ends = [quarter.ends[number] for number, _ in rows if number in quarter.ends]
        got = [digest for _, digest in rows]
        wanted = judge.digests(person, got, ends)
        for one, other in zip(got + [None], wanted + [None]):
            assert one == other, f"{person.row} {person.filters}\n{one}\n{other}"
        names = [digest.slot for digest in got]
        assert len(names) == len(set(names)), (person.row, names)
        total += len(got)
        papers += sum(len(digest.papers) for digest in got)
        weeks += sum(digest.moment == Moment(WAKE, quarter.asleep[1], False)
                     for digest in got)
    tap.diag(f"{total} editions with {papers} papers, {weeks} of them on waking up")
    assert total > 10 * len(quarter.people) and weeks > len(quarter.people) // 2


def check_papers(tap, quarter, judge):
    """every paper that is a person's came to them, and none came twice"""
    hits = 0
    for person in quarter.people:
        got = collections.Counter()
        for number, digest in quarter.digests[person.id]:
            if quarter.has_arrived(number):
                got.update(digest.papers)
        again = [name for name, count in got.items() if count > 1]
        assert not again, (person.row, again)
        last = person.rhythm.latest_at(quarter.clock - DAY_S)[0]
        wanted = {name for since, name in judge.wanted_papers(person)
                  if since.clock < last - 7 * DAY_S or since.life < quarter.life}
        assert wanted <= set(got), (person.row, person.filters, wanted - set(got))
        hits += len(wanted)
    tap.diag(f"{hits} papers came to {len(quarter.people)} people, each once")


def check_mail(tap, quarter):
    """the mail that lies in the folder is that of the digests that were sent"""
    sent = collections.Counter()
    address_of = {person.id: person.address for person in quarter.people}
    for owner, rows in quarter.digests.items():
        for number, digest in rows:
            if quarter.has_arrived(number):
                sent[address_of[owner], digest.moment.clock, digest.papers] += 1
    got = collections.Counter(read_mail(path) for path in
                              glob.glob(os.path.join(quarter.maildir, "new", "*")))
    ids = collections.Counter(mail[0] for mail in got.elements())
    tap.diag(f"{len(got)} mails; {len(quarter.kills)} kills, {quarter.hits} of them at work;"
             f" {quarter.due_checked} next editions seen right; {quarter.seconds:.1f} s")
    assert not got - sent, list((got - sent).items())[:2]
    missing = len(list((sent - got).elements()))
    doubtful = [state for state, _ in quarter.ends.values() if state == "UNKNOWN"]
    assert missing <= len(doubtful), list((sent - got).items())[:2]
    assert len(ids) > len(quarter.people) // 2
    assert quarter.hits > len(quarter.kills) // 3


def read_mail(path):
    """Who it is for, its time, and the papers in it."""
    with open(path, "rb") as file:
        raw = file.read()
    to = re.search(rb"^Delivered-To: (\S+)", raw, re.M)[1].decode()
    date = re.search(rb"^Date: (.*)", raw, re.M)[1].decode().strip()
    at = datetime.datetime.strptime(date, "%a, %d %b %Y %H:%M:%S %z")
    text = raw.replace(b"=\r\n", b"").replace(b"=\n", b"")
    names = frozenset(name.decode() for name in
                      re.findall(rb"papers/(\d{4}\.\d{5})", text))
    return to, int(at.timestamp()), names


def check_failures(tap, quarter):
    """only digests that waited too long for the outlet were given up"""
    outages = [row[1:] for row in quarter.outages if row[0] == "Maildir"]
    longest = max(end - start for start, end in outages)
    states = collections.Counter(state for state, _ in quarter.ends.values())
    for owner, rows in quarter.digests.items():
        for number, digest in rows:
            if number not in quarter.ends:
                assert digest.moment.clock > quarter.end - DAY_S
                continue
            state, moment = quarter.ends[number]
            late_s = moment.clock - digest.moment.clock
            assert late_s <= longest + HOUR_S, late_s
            if state in ("FAILED", "UNKNOWN"):
                assert late_s > GIVE_UP_S - 60, late_s  # less is no more worth a try
                assert any(start < moment.clock < end for start, end in outages)
            else:
                assert state == "SENT", state
    tap.diag(f"ends: {dict(states)}")
    assert states["FAILED"] > 10


def try_quarter(tap, begin, seed):
    tap.diag(f"the quarter from {begin}, PAPERBOY_SEED={seed}")
    quarter = Quarter(tap, begin, seed)

    def lives():
        """a quarter is lived through, killed each day, and all know their next edition"""
        quarter.live()

    tap.run(lives)
    if tap.failed:
        return
    judge = Judge(quarter)
    for check in (check_digests, check_papers):
        tap.run(check, tap, quarter, judge)
    for check in (check_mail, check_failures):
        tap.run(check, tap, quarter)


def main():
    runs = [("2026-09-01", SEED)]
    if IS_LONG:
        runs = [(begin, SEED + more) for begin in ("2026-09-01", "2027-02-15")
                for more in range(3)]
    with Tap() as tap:
        for begin, seed in runs:
            try_quarter(tap, begin, seed)


if __name__ == "__main__":
    main()
