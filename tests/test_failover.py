#!/usr/bin/env python3
"""test_failover.py - a streaming standby takes over from the primary server.

Two machines with PostgreSQL and paperboyd, set up and promoted by the commands of
paperboy-machines(7).  PAPERBOY_LONG=1: more subscribers, and the first machine is cut off
instead of killed.
"""

import collections
import glob
import os
import smtplib
import threading
import time

import lib  # the path
from conversations import CONFIRM, HOME, SUBSCRIBE, compose, find_recipient
from daemon import parse, papers_of
from installation import CONFIG, STATE, USER
from machines import NOBODY
from postgresql import PROGRAMS
from recipe import Recipe, add_servers, install_certificate
from smtp_fixture import Relay
from tap import IS_LONG, Skip, Tap, wait_until

PEOPLE = 2000 if IS_LONG else 100
RUN_S = 300
PSQL = max(glob.glob(f"{PROGRAMS}/psql"), default="psql")  # that of /usr/bin starts Perl
LINES = 60  # of logs, after a failure
SOCKET = f"{STATE}/lmtp"
SETTINGS = """\
commands: {{ address = "{home}"; }};
receive: {{ lmtp_socket = "{socket}"; parser = "{programs}/paperboy-parser"; }};
"""
HELP = SUBSCRIBE._replace(subject="help", text="")


def query(machine, sql, database="paperboy"):
    return machine.run(f"sudo -u postgres {PSQL} -XAtqc \"{sql}\" {database}").split()


def wait_standby(primary, state):
    wait_until(lambda: query(primary, "SELECT sync_state FROM pg_stat_replication") == [state],
               f"a standby that is {state}")


def wait_same(machine, other, sql):
    """Wait until a standby answers as its primary server does."""
    wait_until(lambda: query(machine, sql) == query(other, sql), f"replication: {sql}")


def identify(raw):
    return parse(raw)["Message-ID"]


class Sending:
    """Two daemons on one database that send to a relay on a host of its own."""

    def __init__(self, tap, recipe):
        self.tap = tap
        self.recipe = recipe
        self.count = 0
        host = recipe.installation.site.add("relay")
        self.relay = tap.enter(Relay(listener=host.listen()))
        self.relay.act = self.act
        self.gate = threading.Event()
        self.gate.set()
        self.limit = 0
        self.mails = 0
        self.times = {}  # {recipient: when the first message was accepted}
        settings = SETTINGS.format(home=HOME, socket=SOCKET,
                                   programs=recipe.installation.installed)
        recipe.configure(f'smtp: {{ host = "{host.address}"; port = {self.relay.port};'
                         f' tls = "off"; shutdown_timeout_s = 1; }};\n{settings}')

    def act(self, verb, text):
        """Accept no more than a part of the messages before the gate is opened."""
        if verb == "BODY" and len(self.relay.arrived) >= self.limit:
            self.gate.wait()
        if verb == ".":
            self.times.setdefault(text, time.monotonic())

    def add_people(self, machine):
        """Add subscribers, whose first digest is due at once."""
        people = [f"person-{self.count + number}@example.org" for number in range(PEOPLE)]
        self.count += PEOPLE
        lines = ["address,filters", *(f"{each},paper" for each in people)]
        machine.run("paperboyctl subscriber import - --first --consent 'asked for it'",
                    stdin="\n".join(lines).encode() + b"\n")
        return set(people)

    def close_gate(self):
        self.limit = len(self.relay.arrived) + PEOPLE // 4
        self.gate.clear()

    def copies(self):
        """{recipient: {Message-ID: [each copy]}}"""
        found = collections.defaultdict(lambda: collections.defaultdict(list))
        for recipient, raw in self.relay.accepted():
            found[recipient][identify(raw)].append(raw)
        return found

    def wait(self, people, count=PEOPLE):
        """Wait until count of the people have a digest."""
        wait_until(lambda: len(people & self.copies().keys()) >= count, f"{count} digests",
                   RUN_S)

    # -- received mail --

    def hand_in(self, machine, step):
        """Hand a mail to paperboyd, as an MTA.  @return whether it was accepted"""
        mails = [parse(raw) for to, raw in self.relay.accepted() if to == step.sender]
        recipient = find_recipient(step, mails, HOME)
        self.mails += 1
        path = f"/proc/{machine.holder.pid}/root{SOCKET}"
        try:
            with smtplib.LMTP(path, timeout=RUN_S) as lmtp:
                lmtp.sendmail(step.sender, [recipient],
                              bytes(compose(self.mails, step, recipient)))
            return True
        except (OSError, smtplib.SMTPException):
            return False

    def subscribe(self, machine, address):
        """Subscribe somebody, who is asked for a confirmation."""
        before = len(self.relay.accepted())
        assert self.hand_in(machine, SUBSCRIBE._replace(sender=address))
        wait_until(lambda: len(self.relay.accepted()) > before, "a request to confirm")

    def confirm(self, machine, address):
        assert self.hand_in(machine, CONFIRM._replace(sender=address))
        wait_until(lambda: is_active(machine, address), f"{address} is active", RUN_S)


class Mails:
    """A thread that hands in mails, each until a machine accepts it."""

    def __init__(self, sending, machines):
        self.sending = sending
        self.machines = machines
        self.accepted = []  # senders
        self.is_ended = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        number = 0
        while not self.is_ended.wait(0.1):
            step = HELP._replace(sender=f"sender-{number}@example.org")
            for machine in self.machines:
                if self.sending.hand_in(machine, step):
                    self.accepted.append(step.sender)
                    self.machines.append(self.machines.pop(0))
                    number += 1
                    break

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_ended.set()
        self.thread.join()


def is_active(machine, address):
    return query(machine, "SELECT count(*) FROM subscriber WHERE state = 'active'"
                          f" AND address = '{address}'") == ["1"]


def load_sent(machine):
    return set(map(int, query(machine, "SELECT id FROM outbox WHERE state = 'SENT'")))


def follow_block(recipe, subsection, number, primary):
    """Execute a block that the manual has for a primary server on one, or on two after
    the failover, on any machine."""
    rest = recipe.blocks
    recipe.begin(subsection)
    del recipe.blocks[:number]
    recipe.follow(1, is_swapped=primary is (
        recipe.one if subsection == "Failover" else recipe.two))
    recipe.blocks = rest


def follow_failover(sending, machine, killed_at):
    """Promote the server of a machine, and wait for its paperboyd.

    @return {event: time since the kill}
    """
    follow_block(sending.recipe, "Failover", 0, machine)
    times = {"promoted": time.monotonic()}
    fresh = f"fresh{sending.mails}@{machine.name}"
    mail = HELP._replace(sender=fresh)
    machine.run(f"paperboyctl subscriber add {fresh} --filter paper --consent 'asked for it'")
    machine.daemon.wait_line("store replaced", RUN_S)
    times["noticed"] = time.monotonic()
    machine.daemon.wait_line("paperboyd .* started", RUN_S)
    times["started"] = time.monotonic()
    times["first new message"] = wait_until(
        lambda: sending.times.get(fresh), "a new message", RUN_S)
    wait_until(lambda: sending.hand_in(machine, mail), "a mail is accepted", RUN_S)
    times["first mail accepted"] = time.monotonic()
    return {event: at - killed_at for event, at in times.items()}


def report(sending, times):
    sending.tap.diag("seconds after the end of the primary server: " + ", ".join(
        f"{event} {after:.1f}" for event, after in times.items()))


def read_digest(raw):
    """@return (date, papers)"""
    return parse(raw)["Date"], papers_of(raw)


def settle(machine, sending, people, again=frozenset()):
    """Send what is in doubt now, and check the copies.

    again: people for whom a digest may have been built twice: the same message, with
    another date
    """

    def is_settled():
        states = query(machine, "SELECT DISTINCT state FROM outbox")
        if "HELD" in states:
            machine.run("paperboyctl queue release all --yes")
        elif states != ["SENT"]:
            machine.run("paperboyctl queue retry all", wanted=range(256))
        waiting = query(machine, "SELECT count(*) FROM inbox WHERE state = 'new'")
        return states == ["SENT"] and waiting == ["0"]

    wait_until(is_settled, "everything is sent", RUN_S)
    copies = sending.copies()
    assert people <= copies.keys(), sorted(people - copies.keys())
    for person, messages in copies.items():
        texts = max(len(set(each)) for each in messages.values())
        assert texts <= 1 + (person in again), f"{texts} texts: {person}"
    more = sum(len(each) - 1 for messages in copies.values() for each in messages.values())
    sending.tap.diag(f"{more} copies of {sum(map(len, copies.values()))} messages")
    return copies


def synchronous(recipe, sending):
    """synchronous: no result is lost, no confirmation and no mail that was accepted"""
    one, two = recipe.one, recipe.two
    recipe.follow(1)
    wait_standby(one, "sync")
    sending.subscribe(one, "eva@example.org")
    sending.close_gate()
    people = sending.add_people(one)
    sending.wait(people, PEOPLE // 4)
    wait_until(lambda: load_sent(one), "results")
    with Mails(sending, [one, two]) as mails:
        sending.confirm(one, "eva@example.org")
        wait_until(lambda: mails.accepted, "a mail is accepted", RUN_S)
        recorded = load_sent(one)
        if IS_LONG:
            one.host.disconnect()
        else:
            one.kill()
        killed_at = time.monotonic()
        sending.gate.set()
        del recipe.blocks[:2]  # to go on without the standby; the failover
        times = follow_failover(sending, two, killed_at)
        mails.machines.remove(one)
    report(sending, times)
    one.kill()
    lost = recorded - load_sent(two)
    assert not lost, lost
    assert is_active(two, "eva@example.org")
    one.host.connect()
    copies = settle(two, sending, people | set(mails.accepted))
    twice = [person for person in people if len(copies[person]) != 1]
    assert not twice, f"two digests: {twice}"


def asynchronous(recipe, sending):
    """asynchronous: lost and sent again is what the manual says"""
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
    sending.subscribe(two, "carol@example.org")
    sending.close_gate()
    built = sending.add_people(two)
    wait_until(lambda: query(one, "SELECT count(*) FROM outbox WHERE state <> 'SENT'") >= ["1"]
               and len(query(one, "SELECT id FROM digest")) >= 2 * PEOPLE, "digests are built")
    sending.wait(built, PEOPLE // 4)
    one.stop()
    two.stop()
    due = sending.add_people(two)
    wait_same(one, two, "SELECT count(*) FROM subscriber")
    lose_commits(sending, built, due)
    recorded, newest = load_sent(two), max(map(int, query(two, "SELECT id FROM digest")))
    received = due & sending.copies().keys()
    two.kill()
    times = follow_failover(sending, one, time.monotonic())
    report(sending, times)
    assert recorded - load_sent(one), "nothing was lost"
    copies = settle(one, sending, built | due, due)
    assert {len(copies[person]) for person in built | due} == {1}
    for person in received:
        (texts,) = copies[person].values()
        (date, papers), (date_again, papers_again) = map(read_digest, dict.fromkeys(texts))
        assert date != date_again and papers == papers_again == [1], person
    # No number of a lost digest is used again.
    assert int(query(one, "SELECT max(id) FROM digest")[0]) > newest + PEOPLE
    check_people(sending, one, built)


def lose_commits(sending, built, due):
    """Send digests, and change subscribers, without replication."""
    one, two = sending.recipe.one, sending.recipe.two
    query(two, "ALTER ROLE replicator NOLOGIN")
    query(two, "SELECT pg_terminate_backend(pid) FROM pg_stat_replication")
    sending.gate.set()
    one.start()
    two.start()
    sending.confirm(two, "carol@example.org")
    two.run("paperboyctl subscriber add dora@example.org --consent 'asked for it'")
    two.run(f"paperboyctl subscriber forget {min(built)} --yes")
    sending.wait(built, PEOPLE // 2)
    sending.wait(due, PEOPLE // 2)


def check_people(sending, machine, built):
    """Lost: a confirmation, which may be repeated, a new subscriber, and an erasure."""
    assert not is_active(machine, "carol@example.org")
    sending.confirm(machine, "carol@example.org")
    assert not query(machine, "SELECT id FROM subscriber WHERE address = 'dora@example.org'")
    assert is_active(machine, min(built))


def old_primary(recipe, sending):
    """an old primary server that comes back is refused"""
    one, two = recipe.one, recipe.two
    two.run("pg_ctlcluster 15 main start")
    one.run("pg_ctlcluster 15 main stop -m immediate", wanted=(0, 2))
    one.daemon.wait_line("must not run", RUN_S)
    assert query(two, "SELECT count(*) FROM pg_stat_activity WHERE"
                      " backend_xid IS NOT NULL AND usename = 'paperboy'") == ["0"]
    for command in ("subscriber add fay@example.org --consent 'asked for it'",
                    "subscriber list"):
        text = " ".join(one.run(f"paperboyctl {command}", range(1, 256)).split())
        assert f"{two.name}: the database server was replaced" in text, text
    one.run("pg_ctlcluster 15 main start")
    sending.wait(sending.add_people(one))


def dead_address(recipe, _sending):
    """an address of the server that is cut off is not waited for"""
    one = recipe.one
    one.host.run(["-n", one.host.name, "address", "add", "fd00::1/64", "dev", "eth0", "nodad"])
    one.host.run(["-n", one.host.name, "neighbour", "replace", "fd00::2", "lladdr", NOBODY,
                  "nud", "permanent", "dev", "eth0"])
    hosts = one.read("/etc/hosts")
    one.write("/etc/hosts", hosts + f"fd00::2 {one.name}\n")
    first, *others = one.run(f"getent ahosts {one.name}").splitlines()
    assert first.startswith("fd00::2 ") and others, (first, others)
    assert "eva@example.org" in one.run("paperboyctl subscriber list")
    one.write("/etc/hosts", hosts)


def fail_over_again(recipe, sending):
    """a standby that was made with synchronous replication takes over, in each direction"""
    query(recipe.one, "ALTER ROLE replicator LOGIN")
    for primary, standby in ((recipe.one, recipe.two), (recipe.two, recipe.one)):
        follow_block(recipe, "Synchronous replication", 0, primary)
        follow_block(recipe, "Failover", 1, primary)
        wait_standby(primary, "sync")
        if not (standby.daemon and standby.daemon.is_running):
            standby.start()
        sending.wait(sending.add_people(primary))
        primary.kill()
        report(sending, follow_failover(sending, standby, time.monotonic()))
        primary.stop()


def standby_is_gone(recipe, _sending):
    """status and paperboyd say that each commit waits for a standby"""
    one, two = recipe.one, recipe.two
    follow_block(recipe, "Synchronous replication", 0, one)
    follow_block(recipe, "Failover", 1, one)
    wait_standby(one, "sync")
    one.stop()
    two.run("pg_ctlcluster 15 main stop -m immediate", wanted=(0, 2))
    wait_until(lambda: not query(one, "SELECT pid FROM pg_stat_replication"), "no standby")
    paperboyd = os.path.join(recipe.installation.installed, "paperboyd")
    for command in ("paperboyctl status", f"{paperboyd} --once -c {CONFIG}"):
        text = " ".join(one.run(command, range(1, 256), user=USER).split())
        assert ("each commit waits for a standby that is not connected" in text
                and "synchronous_standby_names" in text), text
    follow_block(recipe, "Synchronous replication", 1, one)
    assert "each commit" not in one.run("paperboyctl status", (0, 1, 2))


def certificates(recipe, _sending):
    """a certificate that has expired, or has another name, is refused"""
    one, two = recipe.one, recipe.two
    two.run("pg_ctlcluster 15 main stop -m immediate", wanted=(0, 2))
    for name, days, problem in ((one.name, -1, "it has expired"),
                                (two.name, 2, "does not match host name")):
        install_certificate(recipe, one, name, days)
        one.run("pg_ctlcluster 15 main restart -m immediate")
        paperboyd = os.path.join(recipe.installation.installed, "paperboyd")
        for command in ("paperboyctl doctor", f"{paperboyd} --once -c {CONFIG}"):
            text = " ".join(two.run(command, range(1, 256), user=USER).split())
            assert problem in text and one.name in text, text


def show_logs(tap, machine):
    tap.diag(f"{machine.name}, paperboyd:")
    tap.diag("\n".join(machine.daemon.lines[-LINES:] if machine.daemon else ""))
    tap.diag(f"{machine.name}, PostgreSQL:")
    tap.diag(machine.run(f"tail -n {LINES} /var/log/postgresql/postgresql-15-main.log",
                         range(256)))


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
        for test in (synchronous, asynchronous, old_primary, dead_address,
                     fail_over_again, standby_is_gone, certificates):
            tap.run(test, recipe, sending)
            if tap.failed:
                for machine in (recipe.one, recipe.two):
                    show_logs(tap, machine)
                return
        tap.equal(recipe.blocks, [], "all commands were executed")


main()
