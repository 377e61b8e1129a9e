#!/usr/bin/env python3
#
# test_stale.py - mail of a database older than the mail that was sent is held.

import json
import os
import shutil
import signal
import threading

import lib  # the path
from daemon import Instance, at_hour, days_after, papers_of, parse
from smtp_fixture import Server
from tap import Tap, save, wait_until

DAY = "2026-11-20"
NEXT = days_after(DAY, 1)
PEOPLE = 40
OK, FAILING, DATA = 0, 2, 65


def new_instance(tap, name, relay):
    instance = Instance(tap.subdirectory(name), port=relay.port, mail__alerts=True)
    instance.write_day(DAY, range(3))
    instance.add_people(PEOPLE, now=at_hour(DAY, 6))
    instance.once(at_hour(DAY), wanted=0)
    instance.write_day(NEXT, range(3, 5))
    return instance


def copy_store(instance, directory):
    os.makedirs(directory)
    for name in ("paperboy.db", "paperboy.db-wal"):
        if os.path.exists(os.path.join(instance.state, name)):
            shutil.copy2(os.path.join(instance.state, name), directory)


def put_back(instance, directory):
    for name in ("paperboy.db", "paperboy.db-wal", "paperboy.db-shm"):
        path = os.path.join(instance.state, name)
        if os.path.exists(path):
            os.unlink(path)
        if os.path.exists(os.path.join(directory, name)):
            shutil.copy2(os.path.join(directory, name), path)


def digests(relay):
    """{recipient: Message-IDs} at the relay, without mail to the owner."""
    found = {}
    for who, raw, _ in relay.arrived:
        if not who.startswith("owner@"):
            found.setdefault(who, []).append(parse(raw)["Message-ID"])
    return found


def check_held(instance, relay, hour):
    """Only an alert is sent; mail that may have been sent is HELD and reported."""
    relay.arrived.clear()
    said = instance.ctl("status", now=at_hour(NEXT, hour), wanted=FAILING)
    assert "older than the mail that was sent" in said, said
    rows = json.loads(instance.ctl("--json", "doctor", now=at_hour(NEXT, hour),
                                wanted=(OK, 1, DATA)))
    (row,) = [row for row in rows if row["check"] == "generation"]
    assert not row["ok"] and "start paperboyd" in row["action"], row
    with instance.start(now=at_hour(NEXT, hour)) as child:
        child.wait_line("store stale")
        child.wait_fact(lambda: instance.states().get("HELD") == PEOPLE, "held digests")
        child.wait_fact(lambda: relay.arrived, "the alert")
        assert child.stop() == 0
    (alert,) = relay.arrived
    assert alert[0] == "owner@news.example", alert
    assert b"older than the mail that was sent" in b" ".join(alert[1].split()), alert[1]
    said = instance.ctl("status", now=at_hour(NEXT, hour), wanted=FAILING)
    assert f"{PEOPLE} messages are held" in said and "queue release" in said, said
    relay.arrived.clear()


def release(instance, hour):
    instance.ctl("queue", "release", "all", "--yes", now=at_hour(NEXT, hour))
    instance.once(at_hour(NEXT, hour), wanted=0)


def yesterdays_copy(tap):
    """after replacing the database by yesterday's, mail is held, and released with the same id"""
    relay = Server()
    instance = new_instance(tap, "copy", relay)
    old = os.path.join(tap.directory, "old")
    copy_store(instance, old)
    relay.arrived.clear()
    instance.once(at_hour(NEXT), wanted=0)
    sent = digests(relay)
    assert len(sent) == PEOPLE
    put_back(instance, old)
    check_held(instance, relay, 10)
    release(instance, 11)
    assert digests(relay) == sent
    assert all(papers_of(raw) == [3, 4] for who, raw, _ in relay.arrived
               if not who.startswith("owner@"))
    # later mail is sent as usual
    relay.arrived.clear()
    instance.write_day(days_after(DAY, 2), [9])
    instance.once(at_hour(days_after(DAY, 2)), wanted=0)
    assert len(digests(relay)) == PEOPLE
    assert not set(sum(digests(relay).values(), [])) & set(sum(sent.values(), []))
    relay.close()


def truncated_log(tap):
    """the same after losing the write-ahead log"""
    relay = Server()
    instance = new_instance(tap, "log", relay)
    relay.arrived.clear()
    with instance.start(now=at_hour(NEXT)) as child:
        child.wait_fact(lambda: len(digests(relay)) == PEOPLE, "the digests")
        child.wait_fact(lambda: instance.states() == {"SENT": 2 * PEOPLE}, "the results")
        child.kill()
    sent = digests(relay)
    assert os.path.getsize(instance.store + "-wal") > 0
    os.truncate(instance.store + "-wal", 0)
    check_held(instance, relay, 10)
    release(instance, 11)
    assert digests(relay) == sent
    relay.close()


class Gate:
    """A relay that holds its replies from one message on, until the gate is moved."""

    def __init__(self, relay, holds_from):
        self.holds_from = holds_from
        self.count = 0
        self.moved = threading.Condition()
        relay.act = self.act

    def act(self, verb, _):
        if verb == ".":
            with self.moved:
                self.count += 1
                number = self.count
                self.moved.wait_for(lambda: number < self.holds_from)

    def move(self, holds_from):
        with self.moved:
            self.holds_from = holds_from
            self.moved.notify_all()


def copy_of_this_mailing(tap):
    """killed in a mailing and replaced by a copy from its middle: mail is held"""
    relay = Server()
    instance = new_instance(tap, "middle", relay)
    old = os.path.join(tap.directory, "middle-old")
    relay.arrived.clear()
    gate = Gate(relay, 10)
    with instance.start(now=at_hour(NEXT)) as child:
        child.wait_fact(lambda: gate.count >= 10, "the middle of the mailing")
        child.wait_fact(lambda: instance.states().get("NEW", 0) > 0, "messages to claim")
        child.signal(signal.SIGSTOP)
        copy_store(instance, old)
        child.signal(signal.SIGCONT)
        gate.move(PEOPLE - 2)
        child.wait_fact(lambda: gate.count >= gate.holds_from, "most of the mailing")
        child.kill()
    gate.move(PEOPLE + 1)
    wait_until(lambda: len(relay.arrived) >= gate.count, "what was in flight")
    put_back(instance, old)
    queued = sum(count for state, count in instance.states().items() if state != "SENT")
    relay.act = lambda verb, text: None
    relay.arrived.clear()
    with instance.start(now=at_hour(NEXT, 10)) as child:
        child.wait_line("store stale")
        child.wait_fact(lambda: instance.states().get("HELD") == queued, "held digests")
        child.wait_fact(lambda: relay.arrived, "the alert")
        assert child.stop() == 0
    assert not digests(relay), digests(relay)
    relay.close()


def first_digest(tap):
    """a first digest that an older copy builds again has the same Message-ID"""
    relay = Server()
    instance = Instance(tap.subdirectory("first"), port=relay.port)
    instance.write_day(DAY, range(3))
    instance.add_people(3, now=at_hour(DAY, 6))
    old = os.path.join(tap.directory, "first-old")
    copy_store(instance, old)
    instance.once(at_hour(DAY), wanted=0)
    sent = digests(relay)
    put_back(instance, old)
    instance.once(at_hour(DAY, 9))
    assert instance.states() == {"HELD": 3}, instance.states()
    instance.ctl("queue", "release", "all", "--yes", now=at_hour(DAY, 10))
    instance.once(at_hour(DAY, 10), wanted=0)
    assert {who: ids * 2 for who, ids in sent.items()} == digests(relay)
    relay.close()


def no_false_alarm(tap):
    """a crash between the claim and the counter, or a lost counter, holds nothing"""
    relay = Server()
    instance = new_instance(tap, "calm", relay)
    counter = os.path.join(instance.state, "generation")
    value = int(open(counter, encoding="ascii").read())
    assert value > 0
    for damage in ("empty", "behind", "lost"):
        if damage == "empty":
            os.truncate(counter, 0)
        elif damage == "behind":
            save(counter, f"{value - 1:020}\n")
        else:
            os.unlink(counter)
        instance.once(at_hour(DAY, 9), wanted=0)
        assert set(instance.states()) == {"SENT"}
        assert int(open(counter, encoding="ascii").read()) >= value
    save(counter, "rubbish")
    run = instance.once(at_hour(DAY, 10))
    assert run.status == 69 and "remove it" in run.output, run
    relay.close()


with Tap() as tap:
    for test in (yesterdays_copy, truncated_log, copy_of_this_mailing, first_digest, no_false_alarm):
        tap.run(test, tap)
