#!/usr/bin/env python3
"""test_failover.py - a streaming standby takes over from the primary server.

Two machines with PostgreSQL and paperboyd, set up and promoted by the commands of
paperboy-machines(7).  PAPERBOY_LONG=1: more subscribers, and the first machine is cut off
instead of killed.
"""

import collections
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

from recipe import Recipe, add_servers
from smtp_fixture import Relay
from tap import Skip, Tap, wait_until

IS_LONG = os.environ.get("PAPERBOY_LONG", "") not in ("", "0")
PEOPLE = 2000 if IS_LONG else 100
FAILOVER_S = 60
RUN_S = 300


def query(machine, sql, database="paperboy"):
    return machine.run(f"sudo -u postgres psql -XAtqc \"{sql}\" {database}").split()


def wait_standby(primary, state):
    wait_until(lambda: query(primary, "SELECT sync_state FROM pg_stat_replication") == [state],
               f"a standby that is {state}")


class Sending:
    """Two daemons on one database that send to a relay on a host of its own."""

    def __init__(self, tap, recipe):
        self.recipe = recipe
        self.count = 0
        host = recipe.installation.site.add("relay")
        self.relay = tap.enter(Relay(listener=host.listen()))
        self.relay.act = self.act
        self.gate = threading.Event()
        self.limit = 0
        recipe.configure(f'smtp: {{ host = "{host.address}"; port = {self.relay.port};'
                         ' tls = "off"; };')

    def act(self, verb, _text):
        """Accept no more than a part of the messages before the gate is opened."""
        if verb == "BODY" and len(self.relay.arrived) >= self.limit:
            self.gate.wait()

    def add_people(self, machine):
        """Add subscribers, whose first digest is due at once."""
        self.limit = len(self.relay.arrived) + PEOPLE // 4
        self.gate.clear()
        people = [f"person-{self.count + number}@example.org" for number in range(PEOPLE)]
        self.count += PEOPLE
        lines = ["address,filters", *(f"{each},paper" for each in people)]
        machine.run("paperboyctl subscriber import - --first --consent 'asked for it'",
                    stdin="\n".join(lines).encode() + b"\n")
        return set(people)

    def copies(self):
        found = collections.defaultdict(list)
        for recipient, raw in self.relay.accepted():
            found[recipient].append(raw)
        return found

    def wait(self, people, count=PEOPLE):
        """Wait until count of the people have a digest."""
        wait_until(lambda: len(people & self.copies().keys()) >= count, f"{count} digests",
                   FAILOVER_S)


def load_sent(machine):
    return set(map(int, query(machine, "SELECT id FROM outbox WHERE state = 'SENT'")))


def settle(machine, sending, people):
    """Send what is in doubt now, and check the copies."""

    def is_settled():
        states = query(machine, "SELECT DISTINCT state FROM outbox")
        if "HELD" in states:
            machine.run("paperboyctl queue release all --yes")
        elif states != ["SENT"]:
            machine.run("paperboyctl queue retry all", wanted=range(256))
        return states == ["SENT"]

    wait_until(is_settled, "everything is sent", RUN_S)
    copies = sending.copies()
    assert people <= copies.keys(), sorted(people - copies.keys())
    differing = [person for person, each in copies.items() if len(set(each)) != 1]
    assert not differing, f"two texts for {differing}"
    return sum(map(len, copies.values())) - len(copies)


def synchronous(recipe, sending):
    """synchronous: the other paperboyd goes on, and no result is lost"""
    one, two = recipe.one, recipe.two
    recipe.follow(1)
    wait_standby(one, "sync")
    people = sending.add_people(one)
    sending.wait(people, PEOPLE // 4)
    wait_until(lambda: load_sent(one), "results")
    recorded = load_sent(one)
    if IS_LONG:
        one.host.disconnect()
    else:
        one.kill()
    sending.gate.set()
    recipe.blocks.pop(0)  # to go on without the standby
    recipe.follow(1)
    sending.wait(people, len(people & sending.copies().keys()) + 1)
    one.kill()
    lost = recorded - load_sent(two)
    assert not lost, lost
    one.host.connect()
    return settle(two, sending, people)


def asynchronous(recipe, sending):
    """asynchronous: what was sent after the last replicated commit is sent again"""
    one, two = recipe.one, recipe.two
    one.stop()
    recipe.follow(1)
    wait_standby(two, "async")
    recipe.follow(1)  # a dump
    two.run("sudo -u postgres createdb restored; sudo -u postgres pg_restore -d restored"
            " /var/backups/paperboy-database/dump")
    for table in ("digest", "outbox", "subscriber"):
        counts = [query(two, f"SELECT count(*) FROM {table}", database)
                  for database in ("paperboy", "restored")]
        assert counts[0] == counts[1] != ["0"], (table, counts)
    one.start()
    query(two, "ALTER ROLE replicator NOLOGIN")
    people = sending.add_people(two)
    wait_until(lambda: query(one, "SELECT count(*) FROM outbox") == [str(2 * PEOPLE)],
               "all digests are built")
    query(two, "SELECT pg_terminate_backend(pid) FROM pg_stat_replication")
    sending.gate.set()
    sending.wait(people, PEOPLE // 2)
    recorded = load_sent(two)
    two.kill()
    one.stop()
    one.run("pg_ctlcluster 15 main promote")
    lost = recorded - load_sent(one)
    one.start()
    copies = settle(one, sending, people)
    assert lost, "nothing was lost"
    return copies


def main():
    with Tap() as tap:
        try:
            recipe = Recipe(tap, "TWO DATABASE SERVERS")
            add_servers(recipe)
        except Skip as reason:
            tap.skip("failover", reason)
            return
        sending = Sending(tap, recipe)
        recipe.follow(1)
        recipe.follow(3, {"192.0.2.0/24": "10.214.7.0/24"})
        recipe.follow(3)
        for test in (synchronous, asynchronous):
            tap.run(test, recipe, sending)
            if tap.failed:
                return
        tap.equal(recipe.blocks, [], "all commands were executed")


main()
