"""simulation.py - run the daemon's stages through simulated time.

A scenario names begin and end, settings, subscribers, events and what its sources list.
Simulation applies the events in the order of time, drives tests/helper_simulate between
them and records the digests, fetches and deliveries that it finds in the store.
"""

import collections
import os
import random
import signal
import subprocess
import threading
import time

import slots
from daemon import Instance
from slots import DAY_S
from tap import save, top_builddir

HOUR_S = 3600

# A time by the simulated clock; epoch counts how often the clock was set.  Instants
# compare in the order in which they happened.
Instant = collections.namedtuple("Instant", "epoch clock is_late")
Fetch = collections.namedtuple("Fetch", "instant at")  # at: the true time
Digest = collections.namedtuple("Digest", "slot instant papers")
# Events of one time happen by rank.
Event = collections.namedtuple("Event", "at rank kind argument")


class Subscriber:
    """A subscriber with a schedule and filters."""

    def __init__(self, address, zone, frequency, weekdays, minute, filters, span):
        self.address = address
        self.row = [address, zone, frequency, str(weekdays), str(minute)]
        self.filters = filters
        self.schedule = slots.Schedule(zone, weekdays, minute, *span)
        self.joined = None  # Instant
        self.id = None


class Simulation:
    """One run of a scenario and the records of it.

    scenario has begin, end (s), seed, settings, subscribers, get_events() and
    show(at, papers): write what the sources list at a time.  An event "call" calls its
    argument and fetches, the sources of source_order first.
    """

    def __init__(self, directory, scenario):
        self.scenario = scenario
        self.rng = random.Random(scenario.seed)
        self.maildir = os.path.join(directory, "Maildir")
        self.instance = Instance(directory, maildir=self.maildir,
                                 **{"log_level": "error", **scenario.settings})
        self.log_path = os.path.join(directory, "log")
        self.clock_path = os.path.join(directory, "clock")
        self.true = scenario.begin  # true time, s
        self.ahead = 0  # of the clock, s
        self.epoch = 0
        self.epochs = [(scenario.begin, None)]  # begin and end of each, by its clock
        self.listings = collections.defaultdict(dict)  # paper: {day: first seen at}
        self.fetches = collections.defaultdict(list)  # day: [Fetch]
        self.digests = collections.defaultdict(list)  # subscriber: [(number, Digest)]
        self.ends = {}  # digest: (state, Instant)
        self.last_fetch = self.last_digest = 0
        self.busy_kills = self.due_checked = 0
        self.kills = set()
        self.power_losses = 0
        self.dark_seed = None  # of the power loss to come
        self.delays = []  # (begin, end) by the clock: nothing could be stored
        self.seconds = 0
        self.process = None

    @property
    def clock(self):
        return self.true + self.ahead

    def instant(self, clock=None, is_late=False):
        return Instant(self.epoch, self.clock if clock is None else clock, is_late)

    # -- the process --

    def send(self, order, wait=True):
        if not self.process:
            with open(self.log_path, "ab") as log:
                self.process = subprocess.Popen(
                    [os.path.join(top_builddir(), "tests", "helper_simulate"),
                     self.instance.config, self.clock_path] + (
                         [str(self.dark_seed)] if self.dark_seed else []),
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
        self.process.stdin.write(order + "\n")
        self.process.stdin.flush()
        if wait:
            reply = self.process.stdout.readline()
            if not reply and self.dark_seed:
                self.power_losses += 1
                self.dark_seed = None
                assert self.process.wait() == 0
                self.end_process()
                self.send(order)
                return
            assert reply == "done\n", (
                f"{order}: {reply!r} at {self.true}; see {self.log_path}")

    def kill(self, until):
        """Start a run and kill the process in it."""
        self.send(f"run {until}", wait=False)
        threading.Event().wait(self.rng.uniform(0, 0.02))
        self.process.send_signal(signal.SIGKILL)
        assert self.process.wait() == -signal.SIGKILL
        self.busy_kills += not self.process.stdout.read()
        self.end_process()

    def lose_power(self):
        """Restart the process; the power fails at one of its next writes."""
        self.close()
        self.dark_seed = self.rng.randrange(1, 1 << 30)

    def end_process(self):
        """A process has died; the next one starts a second later."""
        self.process = None
        with open(self.clock_path, "r+", encoding="ascii") as file:
            died_at = int(file.read())
            file.seek(0)
            file.write(f"{died_at + 1:011}\n")  # a restart takes a second
        self.kills.add(self.instant(died_at))

    def close(self):
        if self.process:
            self.process.stdin.close()
            assert self.process.wait() == 0
            self.process.stdout.close()
            self.process = None

    # -- events --

    def set_clock(self, clock, ahead):
        self.record()
        self.end_epoch()
        self.ahead = ahead
        self.epoch += 1
        self.epochs.append((clock, None))
        self.send(f"set {clock}")

    def end_epoch(self):
        begin, end = self.epochs[-1]
        self.epochs[-1] = (begin, end or self.clock)

    def remove_directory(self, name):
        """A file in place of a directory makes every access fail."""
        path = os.path.join(self.instance.directory, name)
        if os.path.isdir(path):
            os.rename(path, path + ".away")
        with open(path, "w", encoding="ascii"):
            pass

    def restore_directory(self, name):
        path = os.path.join(self.instance.directory, name)
        os.unlink(path)
        if os.path.isdir(path + ".away"):
            os.rename(path + ".away", path)

    def apply(self, kind, argument, until):
        if kind == "show":
            away = self.instance.papers + ".away"
            self.scenario.show(self.true, away if os.path.isdir(away)
                               else self.instance.papers)
        elif kind == "remove":
            self.remove_directory(argument)
        elif kind == "restore":
            self.restore_directory(argument)
        elif kind == "clock":
            self.set_clock(self.true + argument, argument)
        elif kind == "wake":
            self.set_clock(self.clock, self.ahead)
        elif kind == "join":
            argument.joined = self.instant()
            self.send("add " + "\t".join(argument.row + argument.filters))
        elif kind == "kill":
            self.kill(until)
        elif kind == "check":
            self.check_due()
        elif kind == "call":
            argument(self)
            self.send("fetch " + self.scenario.source_order)

    def run(self):
        save(self.clock_path, f"{self.clock:011}\n")
        started = time.monotonic()
        events = sorted(self.scenario.get_events(), key=lambda event: event[:2])
        is_asleep = False
        for number, event in enumerate(events):
            if not is_asleep and event.at > self.true:
                self.send(f"run {event.at + self.ahead}")
            assert not (is_asleep and event.kind == "sleep"), "asleep twice"
            self.true = event.at
            if is_asleep and event.kind in ("kill", "check"):
                continue
            if event.kind == "sleep":
                self.end_epoch()
            is_asleep = event.kind == "sleep" or (is_asleep and event.kind != "wake")
            following = events[min(number + 1, len(events) - 1)]
            self.apply(event.kind, event.argument, following.at + self.ahead)
        self.record()
        self.end_epoch()
        self.instance.check_store()
        self.close()
        self.seconds = time.monotonic() - started
        ids = dict(self.instance.rows("SELECT address, id FROM subscriber"))
        for subscriber in self.scenario.subscribers:
            subscriber.id = ids[subscriber.address]

    # -- records --

    def record(self):
        """Read new rows, before maintenance deletes them or the clock is set."""
        for number, day, fetched_at, status in self.instance.rows(
                "SELECT id, day, fetched_at, status FROM source_fetch WHERE id > ?",
                self.last_fetch):
            self.last_fetch = number
            if status == "ok":
                self.fetches[day].append(
                    Fetch(self.instant(fetched_at), fetched_at - self.ahead))
        for paper, day, seen_at in self.instance.rows(
                "SELECT p.id, l.day, min(l.first_seen_at) FROM listing l JOIN paper p"
                " ON p.seq = l.paper_seq WHERE l.first_seen_at >= ? GROUP BY 1, 2",
                self.clock - 2 * DAY_S):
            self.listings[paper].setdefault(day, seen_at)
        papers = collections.defaultdict(set)
        for number, paper in self.instance.rows(
                "SELECT i.digest_id, p.id FROM digest_item i JOIN paper p"
                " ON p.seq = i.paper_seq WHERE i.digest_id > ?", self.last_digest):
            papers[number].add(paper)
        for number, subscriber, slot, created_at in self.instance.rows(
                "SELECT id, subscriber_id, slot, created_at FROM digest WHERE id > ?",
                self.last_digest):
            self.last_digest = number
            digest = Digest(slot, self.instant(created_at), frozenset(papers[number]))
            self.digests[subscriber].append((number, digest))
        for number, state, ended_at in self.instance.rows(
                "SELECT digest_id, state, ended_at FROM outbox"
                " WHERE ended_at IS NOT NULL"):
            self.ends.setdefault(number, (state, self.instant(ended_at, is_late=True)))

    def check_due(self):
        """Each subscriber's next digest is due at the next slot of the schedule."""
        self.record()
        due = dict(self.instance.rows("SELECT address, next_due_at FROM subscriber"))
        acted = getattr(self.scenario, "acted", ())  # whose schedule may have ended
        for subscriber in self.scenario.subscribers:
            # Somebody who joins at this time gets a first digest at once.
            if subscriber.address in acted:
                continue
            if subscriber.joined and subscriber.joined.clock != self.clock:
                expected = subscriber.schedule.next_after(self.clock - 1)
                assert due[subscriber.address] == expected[0], (
                    subscriber.row, expected, due[subscriber.address], self.clock)
                self.due_checked += 1

    def has_arrived(self, number):
        """Whether a digest counts as delivered; one that ended in doubt does."""
        return self.ends.get(number, ("",))[0] in ("SENT", "UNKNOWN")

    def delivered(self, subscriber):
        """{paper: number of deliveries} of a subscriber."""
        counts = collections.Counter()
        for number, digest in self.digests[subscriber.id]:
            if self.has_arrived(number):
                counts.update(digest.papers)
        return counts


def daily_checks(begin, end):
    """An event at each midnight that checks all next digests."""
    return [Event(at, 9, "check", None) for at in range(begin + DAY_S, end + 1, DAY_S)]
