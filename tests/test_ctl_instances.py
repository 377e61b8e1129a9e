#!/usr/bin/env python3
"""test_ctl_instances.py - paperboyctl and a daemon on a store that instances share."""

import contextlib
import json
import os
import re
import shutil
import smtplib
import sqlite3
import time

import lib  # the path
import stores
from daemon import Instance
from postgresql import Server
from tap import Child, Skip, Tap, read, wait_until

LATE = 9999999999  # s
PROBLEMS = (0, 1, 2)
TRANSACTIONS_PER_S = 1000  # in a loop ten times as many


def load(machine):
    return json.loads(machine.ctl("--json", "status", wanted=PROBLEMS))["instances"]


def nobody(machine, _server):
    "no instance has registered"
    assert load(machine) == []
    assert "instances    none\n" in machine.ctl("status", wanted=PROBLEMS)


def leases(machine, server):
    "instances are shown with the rest of their leases and their jobs"
    with machine.start() as child:
        child.wait_line("started")
        child.wait_fact(lambda: "collector" in load(machine)[0]["jobs"], "its job")
        server.run("INSERT INTO instance (name, program, started_at, expires_at) VALUES"
                   f" ('other:/state', '9.9', 1, {LATE})")
        own, other = load(machine)
        assert own["name"].endswith(f":{machine.state}"), own
        assert 0 < own["lease_left_s"] <= 30 and own["version"], own
        assert other["jobs"] == [] and other["lease_left_s"] > 1000, other
        # Work of the daemon is not done beside it.
        for arguments in (("fetch",), ("replay", "hf", "2026-11-20")):
            refused = machine.ctl("source", *arguments, wanted=75)
            assert "the job collector" in refused, refused
        assert len(load(machine)) == 2
        text = machine.ctl("status", wanted=PROBLEMS)
        assert f"instance {own['id']:<3} {own['name']}, {own['version']}, since " in text, text
        assert "other:/state, 9.9, since 1970-01-01 00:00 UTC; lease for " in text, text
        assert f"             holds {', '.join(own['jobs'])}\n" in text, text


def second(machine, _server):
    "a machine that does not poll the sources shows no poll in progress"
    other = Instance(os.path.join(machine.directory, "second"),
                     store__url=machine.settings["store.url"])
    shutil.copy(os.path.join(machine.state, "key"), other.state)
    with machine.start() as child:
        child.wait_fact(lambda: "collector" in load(machine)[-1]["jobs"], "its job")
        with other.start() as child:
            child.wait_line("started")
            line = other.ctl("status", wanted=PROBLEMS).split("\n", 2)[1]
            assert re.match("paperboyd    running since [^;]+$", line), line


def runs_elsewhere(machine, server):
    "a daemon on another machine is one that runs: the key is not changed beside it"
    assert "paperboyd    not running on this machine\n" in machine.ctl(
        "status", wanted=PROBLEMS)
    path = os.path.join(machine.state, "key")
    key = read(path)
    refused = machine.ctl("key", "rotate", "--yes", wanted=75)
    assert "paperboyd runs on other:/state: " in refused, refused
    server.run("DELETE FROM instance")
    assert "paperboyd    not running: " in machine.ctl("status", wanted=PROBLEMS)
    assert f"Copy {path} to the other machines" in machine.ctl("key", "rotate", "--yes")
    assert read(path)[len(key):] == key


def collects(machine, server):
    "without a daemon source fetch takes the jobs, and gives them back"
    machine.write_day(machine.clock.now()[:10], range(3))
    assert "3 new papers" in machine.ctl("source", "fetch")
    assert load(machine) == []
    assert server.run("SELECT string_agg(name, ' ' ORDER BY name) FROM job"
                      " WHERE holder = (SELECT max(holder) FROM job)") == "collector matching\n"


PAPERS = 5000  # many more than a commit copies


def ends_while_copying(machine, server):
    "a daemon that ends while it copies papers to its archive reports no failure"
    path = os.path.join(machine.state, "archive.db")
    columns = stores.columns("paper", "seq", "id", "revision")
    server.run(f"INSERT INTO paper (id, revision, {columns}) SELECT id || '.' || n,"
               f" revision + 10 * n, {columns} FROM paper, generate_series(1, {PAPERS}) n"
               " WHERE revision = (SELECT max(revision) FROM paper)")

    def count_copied():
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as archive:
            return archive.execute("SELECT count(*) FROM paper").fetchone()[0]

    before = count_copied()
    with machine.start() as child:
        child.wait_fact(lambda: count_copied() > before, "a copy")
        assert child.stop() == 0
    assert "scheduler failed" not in child.output, child.output


def waits(machine, server):
    "digests of subscribers that another session has locked are not tried in a loop"

    def measure(before=(0, 0)):
        count = server.run("SELECT xact_commit + xact_rollback FROM pg_stat_database"
                           " WHERE datname = current_database()")
        return int(count) - before[0], time.monotonic() - before[1]

    def find_expiry():
        return server.run("SELECT expires_at FROM instance")

    def count_digests():
        return int(server.run("SELECT count(*) FROM digest"))

    machine.add_person("ada@example.org")
    with contextlib.ExitStack() as lock:
        lock.enter_context(server.hold("SELECT id FROM subscriber FOR UPDATE"))
        with machine.start() as child:
            child.wait_line("started")
            before, expiry = measure(), find_expiry()
            wait_until(lambda: find_expiry() != expiry, "a renewal")
            count, seconds = measure(before)
            assert count_digests() == 0
            lock.close()
            child.wait_fact(lambda: count_digests() == 1, "the digest")
    assert count < seconds * TRANSACTIONS_PER_S, (count, seconds)


MESSAGES = 250  # more than two pages
FIRST = 1000  # the number of the first one
INSERT = f"""
    INSERT INTO outbox (id, kind, recipient, address_key, sender, message, state, queued_at,
        next_try_at) SELECT n, 'notice', 'a@b.example', 'a@b.example', '', 'x', 'DEFERRED',
        extract(epoch FROM TIMESTAMP '%s'), {LATE} FROM generate_series({FIRST}, {FIRST + MESSAGES - 1}) n"""
CHANGE = f"""
    DO $$ BEGIN FOR i IN 1..2000000000 LOOP
        UPDATE outbox SET code = i WHERE id = {FIRST} + i % {MESSAGES};
        COMMIT;
    END LOOP; END $$"""


def busy(machine, server):
    "commands on all messages succeed while another session changes each message all the time"
    server.run(INSERT % machine.clock.now().strip("Z"))
    count = int(server.run("SELECT count(*) FROM outbox WHERE ended_at IS NULL"))
    with Child([*server.client(), "-c", CHANGE, "paperboy"]) as session:
        wait_until(lambda: server.run(f"SELECT code FROM outbox WHERE id = {FIRST}").strip(), "changes")
        for words, wanted in ((["retry", "all"], "due now"),
                              (["hold", "all"], "held until you release it"),
                              (["release", "all", "--yes"], "due now"),
                              (["drop", "all", "--yes"], "dropped; its papers")):
            found = machine.ctl("queue", *words)
            assert found.startswith(f"{count} messages: {wanted}"), (words, found)
        assert session.is_running


def silent(machine, server):
    "an LMTP client gets 451 from a database server that is silent, and 250 later"

    def send():
        with smtplib.LMTP(path) as lmtp:
            lmtp.sendmail("eva@people.example", ["paperboy@news.example"],
                          b"Subject: x\r\nMessage-ID: <a@people.example>\r\n\r\nlist\r\n")

    path = os.path.join(machine.directory, "lmtp")
    machine.set(receive__lmtp_socket=path)
    with machine.start() as child:
        child.wait_socket(path)
        child.wait_line("started")
        with server.stopped():
            try:
                send()
            except smtplib.SMTPDataError as refusal:
                assert refusal.smtp_code == 451, refusal
            else:
                raise AssertionError("it was taken")
        send()
        child.stop()
    machine.set(receive__lmtp_socket=None)


def expired(machine, server):
    "an instance whose lease has ended is shown until it is recovered, and not counted"
    server.run("DELETE FROM instance; INSERT INTO instance (name, program, started_at,"
               f" expires_at) VALUES ('one:/state', '9.9', 1, {LATE}),"
               " ('ended:/state', '9.9', 1, 1)")
    server.run("DELETE FROM job; INSERT INTO job SELECT 'imap', max(id) FROM instance")
    found = load(machine)
    assert [row["jobs"] for row in found] == [[], ["imap"]], found
    assert found[1]["lease_left_s"] < 0, found
    text = machine.ctl("status", wanted=PROBLEMS)
    assert "; lease EXPIRED\n             holds imap\n" in text, text
    assert "\npaperboy_instances 1\n" in machine.ctl("metrics")


def file_is_the_servers(machine, _server):
    "what concerns the file of a store is left to the server"
    assert "store        on a database server; " in machine.ctl("status", wanted=PROBLEMS)
    assert machine.ctl("doctor", "--all", wanted=PROBLEMS).count(
        " checked by the database server\n") == 2
    path = os.path.join(machine.directory, "backup.db")
    assert "pg_dump" in machine.ctl("backup", path, wanted=65)
    assert not os.path.exists(path)
    local = Instance(os.path.join(machine.directory, "local"))
    local.ctl("subscriber", "list")
    local.ctl("backup", path)
    before = os.listdir(machine.state)
    assert "restore a dump there" in machine.ctl("restore", path, "--yes", wanted=65)
    assert os.listdir(machine.state) == before
    server.run("ALTER TABLE outbox RENAME TO moved")
    found = machine.ctl("doctor", wanted=65)
    server.run("ALTER TABLE moved RENAME TO outbox")
    assert "restore a dump there" in found and "paperboyctl restore" not in found, found


def standbys(machine, server):
    "a standby that is missing is a problem, as is a commit that waits for one"

    def find():
        said = json.loads(machine.ctl("--json", "status", wanted=PROBLEMS))["problems"]
        return [one["text"] for one in said if one["check"] == "standby"]

    assert find() == []
    assert "paperboy_standbys_missing 0\n" in machine.ctl("metrics")
    server.run("SELECT pg_create_physical_replication_slot('two', true)")
    (text,) = find()
    assert text.startswith("1 standby is not connected to the database server and "), text
    said = machine.ctl("metrics")
    assert "paperboy_standbys_missing 1\n" in said and "paperboy_standby_behind_bytes " in said, said
    assert 'problems{check="standby"} 1\n' in said, said
    server.run("SELECT pg_drop_replication_slot('two')")
    assert find() == []
    # Nothing is committed then: each command says so.
    server.run("ALTER SYSTEM SET synchronous_standby_names = 'two'")
    server.run("SELECT pg_reload_conf()")
    wait_until(lambda: "each commit waits for a standby that is not connected" in machine.ctl(
        "status", wanted=(*PROBLEMS, 69)), "the setting")
    server.run("ALTER SYSTEM RESET synchronous_standby_names")
    server.run("SELECT pg_reload_conf()")
    wait_until(lambda: "paperboyd" in machine.ctl("status", wanted=(*PROBLEMS, 69)), "the setting")


def wrong_settings(machine, server):
    "a missing right or password file is named, and no key is missed then"
    server.run("CREATE ROLE reader LOGIN")
    url = f"postgresql:///paperboy?host={server.directory}&user=reader&options=-csearch_path%3Dmy"
    other = Instance(os.path.join(machine.directory, "other"), store__url=url)
    found = other.ctl("queue", wanted=69)
    assert "cannot create the tables (the role must own the database): " in found, found
    assert "WRONG  key " not in other.ctl("doctor", wanted=65)
    other = Instance(os.path.join(machine.directory, "no-password"), store__url=url,
                     store__password_file="/missing")
    found = other.ctl("subscriber", "list", wanted=65)
    assert "store.password_file: '/missing': " in found, found


with Tap() as tap:
    try:
        server = tap.enter(Server(tap.subdirectory("postgresql")))
    except Skip as reason:
        tap.skip("instances on PostgreSQL", reason)
    else:
        machine = Instance(
            tap.subdirectory("machine"),
            store__url=f"postgresql:///paperboy?host={server.directory}&user=postgres")
        for test in (nobody, leases, second, runs_elsewhere, collects,
                     waits, ends_while_copying, busy, silent, expired,
                     file_is_the_servers, standbys, wrong_settings):
            tap.run(test, machine, server)
