#!/usr/bin/env python3
#
# test_doctor.py - doctor reports every kind of damage with an action.

import contextlib
import json
import os
import sqlite3
import subprocess

import lib  # the path
from daemon import Instance, at_hour
from smtp_fixture import Server
from tap import Tap

DAY = "2026-11-20"
NOW = at_hour(DAY, 9)
OK, PROBLEMS, DATA = 0, 1, 65
NOW_S = 1795165200  # NOW


class Ward:
    """An intact instance with sent and queued mail, copied for each kind of damage."""

    def __init__(self, tap):
        self.tap = tap
        relay = Server()
        self.sound = Instance(tap.subdirectory("sound"), port=relay.port)
        self.sound.write_day(DAY, range(3))
        self.sound.add_people(4, now=at_hour(DAY, 6))
        self.sound.add_person("votes@example.org", now=at_hour(DAY, 6),
                              query="paper upvotes:>=99")
        relay.act = lambda verb, text: (
            b"450 4.7.1 later\r\n" if verb == "RCPT" and "0004" in text else None)
        self.sound.once(at_hour(DAY))
        relay.close()
        self.sound.db.checkpoint()

    def copy(self, name):
        instance = Instance(self.tap.subdirectory(name), papers=self.sound.papers, port=1)
        instance.take_state(self.sound)
        return instance


def findings(instance, now=NOW):
    """{check: its row} of the problems, and the exit status."""
    said = instance.ctl("--json", "doctor", now=now, wanted=(OK, PROBLEMS, DATA))
    rows = json.loads(said)
    wrong = {row["check"]: row for row in rows if not row["ok"]}
    has_damage = any(row["damage"] for row in wrong.values())
    instance.ctl("doctor", now=now,
                 wanted=DATA if has_damage else PROBLEMS if wrong else OK)
    assert all(row["action"] for row in wrong.values()), wrong
    return wrong


def sound(ward):
    """an intact store has no problem, also beside a running daemon"""
    assert findings(ward.sound) == {}
    lines = ward.sound.ctl("doctor", "--all", now=NOW).splitlines()
    assert len(lines) >= 22 and all(line.startswith("ok     ") for line in lines), lines
    assert ward.sound.ctl("doctor", now=NOW) == f"{len(lines)} ok\n"
    instance = ward.copy("running")
    with instance.start() as child:
        for _ in range(2):  # in either order
            child.wait_line("paperboyd .* started|collector done")
        said = instance.ctl("doctor", "--all", wanted=(OK, PROBLEMS, DATA))
        assert "ok     pages" in said and "ok     drafts" in said, said
    before = sorted(os.listdir(ward.sound.state))
    findings(ward.sound)
    assert sorted(os.listdir(ward.sound.state)) == before


MESSAGE = ("INSERT INTO inbox (key, receiver, size, raw, state, started, next_try_at, ended_at,"
          f" received_at) VALUES ('{1:064}', 'lmtp', 1, x'78', {{}})")
CONFIRMATION = ("INSERT INTO confirmation (hash, purpose, address, address_key, recipient, action,"
          f" made_at, expires_at) VALUES ('{1:064}', 'confirm', 'a@b.example',"
          " 'a@b.example', 'a@b.example', 'add x', 1, {})")

# SQL that breaks an invariant, and the check that reports it.
BROKEN_ROWS = [
    ("digest-without-message",
     "DELETE FROM outbox WHERE state = 'DEFERRED'"),
    ("message-without-end",
     "UPDATE outbox SET state = 'FAILED', ended_at = 5, next_try_at = NULL"
     " WHERE state = 'DEFERRED'"),
    ("digest-ended-early",
     "UPDATE digest SET state = 'failed' WHERE state = 'live'"),
    ("digest-damaged",
     "DROP TRIGGER digest_is_frozen; UPDATE digest SET contents = x'0100' WHERE id = 1"),
    ("digest-damaged",
     "DROP TRIGGER digest_is_frozen; UPDATE digest SET papers = papers + 1 WHERE id = 1"),
    ("digest-damaged",
     "DROP TRIGGER paper_deleted_unmerged; DELETE FROM listing; DELETE FROM paper_alias;"
     " DELETE FROM delivered; DELETE FROM match_pending; DELETE FROM digest_rejected;"
     " DELETE FROM paper"),
    ("digest-damaged",
     "UPDATE delivered SET papers = x'0102'"),
    ("taste-damaged",
     "INSERT INTO taste VALUES (1, 1, x'0100')"),
    ("sent-not-delivered",
     "DELETE FROM delivered WHERE subscriber_id = 1"),
    ("delivered-without-digest",
     "UPDATE delivered SET digest_id = 999 WHERE subscriber_id = 1"),
    ("no-due-time",
     "UPDATE subscriber SET next_due_at = NULL WHERE id = 2"),
    ("far-due-time",
     f"UPDATE subscriber SET next_due_at = {NOW_S + 16 * 86400} WHERE id = 2"),
    ("filter-unused",
     "DELETE FROM subscription WHERE subscriber_id = 5;"
     " UPDATE filter SET created_at = 1 WHERE canonical LIKE '%99%';"
     " UPDATE cursor SET value = 1 WHERE name = 'upkeep'"),
    (None,  # filters of a subscriber who has just left are deleted daily
     "DELETE FROM subscription WHERE subscriber_id = 5;"
     " UPDATE filter SET created_at = 1 WHERE canonical LIKE '%99%'"),
    ("filter-not-indexed",
     "DELETE FROM filter_term WHERE filter_id = 2"),
    ("match-pending-too-long",
     "UPDATE paper SET last_day = '2026-11-01'"),
    ("sending-too-long",
     "UPDATE outbox SET state = 'SENDING', next_try_at = NULL, claimed_at = 1"
     " WHERE state = 'DEFERRED'"),
    ("inbox-waiting", MESSAGE.format(f"'new', 0, 5, NULL, {NOW_S - 3601}")),
    (None, MESSAGE.format(f"'new', 1, 5, NULL, {NOW_S - 3599}")),
    ("inbox-crashes", MESSAGE.format(f"'new', 2, 5, NULL, {NOW_S}")),
    ("inbox-quarantined", MESSAGE.format(f"'quarantined', 0, NULL, {NOW_S}, {NOW_S}")),
    ("inbox-too-old", MESSAGE.format(
        f"'quarantined', 0, NULL, {NOW_S - 16 * 86400 - 1}, {NOW_S - 20 * 86400}")),
    ("confirmation-too-old", CONFIRMATION.format(NOW_S - 9 * 86400 - 1)),
    (None, CONFIRMATION.format(NOW_S - 9 * 86400)),
    (None, CONFIRMATION.format(NOW_S + 8 * 86400)),
    ("confirmation-far", CONFIRMATION.format(NOW_S + 8 * 86400 + 1)),
    ("filters",
     "UPDATE filter SET canonical = 'abstract:\"' WHERE id = 1"),
    ("filters",
     "UPDATE filter SET hash = replace(hash, 'a', 'b') WHERE id = 1"),
    ("zones",
     "UPDATE subscriber SET zone = 'Mars/Olympus' WHERE id = 3"),
    ("index",
     "UPDATE cursor SET value = value - 1 WHERE name = 'archive papers'"),
    ("clock",
     f"UPDATE source_fetch SET fetched_at = {NOW_S + 7200}"),
    ("references",
     "DELETE FROM subscriber WHERE id = 1"),
    ("references",
     "INSERT INTO match VALUES (99999, 0, '1')"),
    ("message-without-digest",
     "UPDATE outbox SET digest_id = 777 WHERE id = 1"),
]


def broken_rows(ward):
    """each broken invariant is reported with an action"""
    for number, (check, sql) in enumerate(BROKEN_ROWS):
        instance = ward.copy(f"row-{number}")
        instance.db.damage(sql)
        # The server checks references, and the index of the archive is a copy.
        if instance.db.url and check in ("references", "message-without-digest", "index"):
            continue
        found = findings(instance)
        if check == "message-without-digest":  # reported first by the check of references
            check = "references"
        assert check in found if check else not found, (check, found)
        assert len(found) <= 3, (check, found)


def broken_files(ward):
    """modes, leftover files, a large log, a lost key and damaged pages are reported"""

    def mode_store(state):
        os.chmod(os.path.join(state, "paperboy.db"), 0o640)

    def mode_directory(state):
        os.chmod(state, 0o755)

    def mode_key(state):
        os.chmod(os.path.join(state, "key"), 0o644)

    def stray(state):
        ended = subprocess.Popen(["true"])
        ended.wait()
        with open(os.path.join(state, f"paperboy.db.new.{ended.pid}"), "w"):
            pass
        os.chmod(os.path.join(state, f"paperboy.db.new.{ended.pid}"), 0o600)

    def at_work(state):  # not a leftover: the process that writes it is running
        path = os.path.join(state, f"paperboy.db.new.{os.getpid()}")
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))

    def grown(state):
        path = os.path.join(state, "paperboy.db-wal")
        with open(path, "wb") as file:
            os.truncate(file.fileno(), 65 * 2**20)
        os.chmod(path, 0o600)

    def lost_key(state):
        os.unlink(os.path.join(state, "key"))

    def short_key(state):
        os.truncate(os.path.join(state, "key"), 31)

    def rubbish(state):
        path = os.path.join(state, "paperboy.db")
        with contextlib.closing(sqlite3.connect(path)) as db:
            (page,) = db.execute("SELECT rootpage FROM sqlite_schema"
                                 " WHERE name = 'outbox'").fetchone()
        with open(path, "r+b") as file:
            file.seek((page - 1) * 4096)
            file.write(b"\x55" * 4096)

    def header(state):
        with open(os.path.join(state, "paperboy.db"), "r+b") as file:
            file.write(b"\0")

    def gone(state):
        os.unlink(os.path.join(state, "paperboy.db"))

    def newer(state):
        with contextlib.closing(sqlite3.connect(
                os.path.join(state, "paperboy.db"))) as db:
            db.execute("PRAGMA user_version = 99")

    def emptied(state):
        os.truncate(os.path.join(state, "paperboy.db"), 0)

    for check, damage in (
        ("files", mode_store), ("directory", mode_directory), ("files", mode_key),
        ("drafts", stray), (None, at_work), ("wal", grown), ("key", lost_key),
        ("key", short_key), ("pages", rubbish), ("store", header), ("store", gone),
        ("store", emptied), ("store", newer),
    ):
        instance = ward.copy(damage.__name__)
        damage(instance.state)
        found = findings(instance)
        if check is None:
            assert found == {}, found
            continue
        assert check in found, (damage.__name__, found)
        if check in ("pages", "store"):
            assert "paperboyctl restore FILE" in found[check]["action"], found
        # a wrong mode or version is not answered with a restore
        if damage in (newer, mode_key):
            row = found["store" if damage is newer else "key"]
            assert row["action"].startswith("follow the advice of the message"), row
            assert "install that version" in row["found"] or "chmod 600" in row["found"]


def lowest_disk(ward):
    """a disk that is nearly full is reported"""
    said = ward.sound.ctl("--json", "doctor", now=NOW)
    row = [row for row in json.loads(said) if row["check"] == "disk"]
    assert row[0]["ok"] and "free" in row[0]["found"], row


with Tap() as tap:
    ward = Ward(tap)
    for test in (sound, broken_rows, broken_files, lowest_disk):
        tap.run(test, ward)
