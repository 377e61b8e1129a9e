#!/usr/bin/env python3
#
# test_key.py - a key that was changed, lost, separated from its store, or rotated.

import contextlib
import json
import os

import lib  # the path
from daemon import Instance, at_hour, days_after, papers_of
from smtp_fixture import Server
from tap import Tap, read

DAY = "2026-11-20"
DATA, UNAVAILABLE = 65, 69
SUPPRESSED = "person-0002@example.org"


def key_path(instance):
    return os.path.join(instance.state, "key")


def flip_bit(path):
    data = bytearray(read(path))
    data[7] ^= 0x10
    with open(path, "r+b") as file:
        file.write(data)


def new_instance(tap, name, **more):
    """Three subscribers after their first digest; one address is suppressed."""
    instance = Instance(tap.subdirectory(name), maildir=os.path.join(tap.directory, name + "-mail"),
                  **more)
    instance.write_day(DAY, range(3))
    instance.add_people(3, now=at_hour(DAY, 6))
    instance.once(at_hour(DAY), wanted=0)
    instance.ctl("suppression", "add", SUPPRESSED, "--yes", now=at_hour(DAY, 9))
    return instance


def doctor(instance):
    rows = json.loads(instance.ctl("--json", "doctor", now=at_hour(DAY, 12),
                                wanted=(0, 1, DATA)))
    return {row["check"]: row for row in rows if not row["ok"]}


def one_flipped_bit(tap):
    """one flipped bit in the key: nothing starts, and the reason is reported"""
    instance = new_instance(tap, "flipped")
    good = read(key_path(instance))
    flip_bit(key_path(instance))
    run = instance.once(at_hour(days_after(DAY, 1)), wanted=UNAVAILABLE)
    assert "is not the key of this store" in run.output, run.output
    assert "paperboyctl key restore" in run.output, run.output
    with instance.start() as child:
        assert child.wait_exit() == UNAVAILABLE
    said = instance.ctl("suppression", "add", "x@example.org", "--yes", wanted=UNAVAILABLE)
    assert "is not the key of this store" in said, said
    assert "is not the key of this store" in doctor(instance)["key"]["found"]
    assert instance.value("SELECT count(*) FROM suppression") == 1
    with open(key_path(instance), "r+b") as file:
        file.write(good)
    assert "key" not in doctor(instance)
    instance.once(at_hour(days_after(DAY, 1)), wanted=0)


def before_any_digest(tap):
    """a changed key is also detected before the first digest and suppression"""
    instance = Instance(tap.subdirectory("early"), maildir=os.path.join(tap.directory, "early-mail"))
    instance.once(at_hour(DAY), wanted=0)
    flip_bit(key_path(instance))
    instance.once(at_hour(DAY, 9), wanted=UNAVAILABLE)
    os.unlink(key_path(instance))
    run = instance.once(at_hour(DAY, 9), wanted=UNAVAILABLE)
    assert "restore it from a backup" in run.output, run.output
    assert not os.path.exists(key_path(instance))
    assert "key" in doctor(instance)


def missing_store(tap):
    """a key without its store: no empty store is created"""
    instance = new_instance(tap, "missing")
    path = os.path.join(tap.directory, "missing.backup")
    instance.ctl("backup", path, now=at_hour(DAY, 9))
    for name in ("paperboy.db", "paperboy.db-wal", "paperboy.db-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(instance.state, name))
    run = instance.once(at_hour(days_after(DAY, 1)), wanted=UNAVAILABLE)
    assert "paperboyctl restore" in run.output and "move the key away" in run.output
    instance.ctl("subscriber", "list", wanted=UNAVAILABLE)
    assert not os.path.exists(instance.store)
    assert "store" in doctor(instance)
    instance.ctl("restore", path, "--yes", now=at_hour(DAY, 10))
    assert "person-0001" in instance.ctl("subscriber", "list")
    # to start with an empty store, the key must be moved away
    os.unlink(instance.store)
    os.rename(key_path(instance), key_path(instance) + ".old")
    instance.once(at_hour(DAY, 11), wanted=0)
    assert instance.value("SELECT count(*) FROM subscriber") == 0


def key_from_backup(tap):
    """`key restore` restores the key of a backup without changing the store"""
    instance = new_instance(tap, "taken")
    good = read(key_path(instance))
    path = os.path.join(tap.directory, "taken.backup")
    instance.ctl("backup", path, now=at_hour(DAY, 9))
    instance.add_person("later@example.org", now=at_hour(DAY, 10))
    other = new_instance(tap, "other")
    foreign = os.path.join(tap.directory, "foreign.backup")
    other.ctl("backup", foreign, now=at_hour(DAY, 9))
    for damage in (flip_bit, os.unlink):
        damage(key_path(instance))
        said = instance.ctl("key", "restore", foreign, wanted=UNAVAILABLE)
        assert "has the key of another store" in said, said
        instance.ctl("key", "restore", path)
        assert read(key_path(instance)) == good
        assert "later@example.org" in instance.ctl("subscriber", "list")
        instance.ctl("suppression", "remove", SUPPRESSED, "--yes")
        instance.ctl("suppression", "add", SUPPRESSED, "--yes")


def rotation(tap):
    """after `key rotate` suppressions and old tokens are valid, new mail has new tokens"""
    relay = Server()
    instance = Instance(tap.subdirectory("rotated"), port=relay.port)
    instance.write_day(DAY, range(3))
    instance.add_people(3, now=at_hour(DAY, 6))
    instance.once(at_hour(DAY), wanted=0)
    instance.ctl("suppression", "add", SUPPRESSED, "--yes", now=at_hour(DAY, 9))
    old = read(key_path(instance))
    said = instance.ctl("key", "rotate", wanted=DATA)
    assert "--yes" in said, said
    with instance.start() as child:
        child.wait_line("paperboyd .* started")
        said = instance.ctl("key", "rotate", "--yes", wanted=75)
        assert "stop paperboyd first" in said, said
    instance.ctl("key", "rotate", "--yes", now=at_hour(DAY, 10))
    new = read(key_path(instance))
    assert new[32:] == old and len(new) == 64 and new[:32] != old
    assert instance.rows("SELECT * FROM backup") == []
    assert "key" not in doctor(instance)
    # the address is suppressed for every interface
    said = instance.ctl("subscriber", "add", SUPPRESSED, "--consent", "x", wanted=DATA)
    assert "is suppressed since" in said, said
    relay.arrived.clear()
    instance.write_day(days_after(DAY, 1), [7])
    # as if a digest had been queued before the address was suppressed
    instance.change("UPDATE subscriber SET state = 'active', next_due_at ="
                    " (SELECT max(next_due_at) FROM subscriber) WHERE address = ?",
                    SUPPRESSED)
    instance.once(at_hour(days_after(DAY, 1)), wanted=0)
    assert sorted(who for who, _, _ in relay.arrived) == [
        "person-0001@example.org", "person-0003@example.org"], relay.arrived
    assert all(papers_of(raw) == [7] for _, raw, _ in relay.arrived)
    instance.ctl("suppression", "remove", SUPPRESSED, "--yes")
    instance.ctl("subscriber", "remove", SUPPRESSED, "--yes")
    instance.ctl("subscriber", "add", SUPPRESSED, "--consent", "x")
    # a flipped bit of the old key is detected, too
    with open(key_path(instance), "r+b") as file:
        file.seek(40)
        file.write(bytes([new[40] ^ 1]))
    assert "is not the key of this store" in doctor(instance)["key"]["found"]
    relay.close()


def rotation_in_doubt(tap):
    """no rotation while a message is in doubt: it would be sent as a different one"""
    instance = new_instance(tap, "doubt")
    instance.db.damage("DROP TRIGGER outbox_end_is_final; DROP TRIGGER digest_end_is_final;"
                       "UPDATE digest SET state = 'live' WHERE id = 1;"
                       "UPDATE outbox SET state = 'UNKNOWN', ended_at = NULL,"
                       " next_try_at = 1 WHERE digest_id = 1")
    said = instance.ctl("key", "rotate", "--yes", wanted=DATA)
    assert "1 message may have arrived" in said, said


def lost_key(tap):
    """a lost key is replaced only by `key rotate --lost`"""
    instance = new_instance(tap, "lost")
    os.unlink(key_path(instance))
    instance.ctl("key", "rotate", "--yes", wanted=UNAVAILABLE)
    said = instance.ctl("key", "rotate", "--lost", "--yes")
    assert "1 suppressed address" in said, said
    assert len(read(key_path(instance))) == 32
    instance.once(at_hour(days_after(DAY, 1)), wanted=0)


with Tap() as tap:
    for test in (one_flipped_bit, before_any_digest, missing_store, key_from_backup,
                 rotation, rotation_in_doubt, lost_key):
        tap.run(test, tap)
