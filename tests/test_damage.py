#!/usr/bin/env python3
#
# test_damage.py - a damaged store or key is rejected and not changed.

import contextlib
import hashlib
import os
import sqlite3
import stat

import lib  # the path
from daemon import Instance, at_hour, days_after
from peers import is_root
from smtp_fixture import Server
from tap import Skip, Tap, read, save

DAY = "2026-11-20"
NEXT = at_hour(days_after(DAY, 1))
EX_UNAVAILABLE, EX_TEMPFAIL = 69, 75


def snapshot(directory):
    """{path: (mode, hash)} of files that must not change; without lock and index."""
    found = {}
    for place, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(place, name)
            if name == "lock" or name.endswith("-shm") or not os.path.isfile(path):
                continue
            digest = hashlib.sha256(read(path)).hexdigest()
            found[os.path.relpath(path, directory)] = (os.stat(path).st_mode, digest)
    return found


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


class Bench:
    """An intact instance with a queued digest, copied for each kind of damage."""

    def __init__(self, tap):
        self.tap = tap
        self.relay = Server()
        self.sound = Instance(tap.subdirectory("sound"), port=self.relay.port)
        self.sound.write_day(DAY, range(3))
        self.sound.add_people(5, now=at_hour(DAY, 6))
        self.relay.act = lambda verb, _: b"450 4.7.1 later\r\n" if verb == "RCPT" else None
        self.sound.once(at_hour(DAY), wanted=EX_TEMPFAIL)
        self.relay.act = lambda verb, _: None
        self.relay.commands.clear()

    def copy(self, name):
        instance = Instance(self.tap.subdirectory(name), papers=self.sound.papers,
                      port=self.relay.port)
        instance.take_state(self.sound)
        return instance

    def refused(self, instance, *words, asks=("queue",)):
        """Nothing is sent or changed, and all programs report the reason."""
        before = snapshot(instance.state)
        for name, run in (
            ("--once", lambda: instance.once(NEXT)),
            ("daemon", lambda: end_of(instance.start())),
        ):
            done = run()
            assert done[0] == EX_UNAVAILABLE, (name, done)
            for word in words:
                assert word in done[1], (name, word, done)
            assert len(done[1].strip().splitlines()) == 1, (name, done)
        said = instance.ctl(*asks, wanted=EX_UNAVAILABLE)
        for word in words:
            assert word in said, ("paperboyctl", word, said)
        assert snapshot(instance.state) == before, "it changed what it refused"
        assert not self.relay.commands, self.relay.commands

    def works(self, instance, people=5):
        done = instance.once(NEXT, wanted=0)
        assert instance.states() == {"SENT": people}, (instance.states(), done)
        self.relay.commands.clear()
        self.relay.arrived.clear()


def end_of(child):
    try:
        return child.wait_exit(), child.output
    finally:
        child.stop()


def sound_works(bench):
    """the undamaged instance works"""
    bench.works(bench.copy("left"))


def truncated(bench):
    """a truncated store is rejected"""
    size = os.path.getsize(bench.sound.store)
    for length in (1, 15, 16, 99, 100, 4095, 4096, size // 2, size - 4096, size - 1):
        instance = bench.copy(f"cut-{length}")
        os.truncate(instance.store, length)
        bench.refused(instance, instance.store)


def header_flipped(bench):
    """flipped bytes in the header are rejected, or harmless"""
    # magic, page size, versions, reserved, fractions, schema cookie, format, encoding
    for at in (0, 7, 15, 16, 17, 18, 19, 21, 22, 23, 44, 47, 56, 59, 68, 71, 100):
        instance = bench.copy(f"flip-{at}")
        with open(instance.store, "r+b") as file:
            file.seek(at)
            byte = file.read(1)
            file.seek(at)
            file.write(bytes([byte[0] ^ 0xFF]))
        before = snapshot(instance.state)
        done = instance.once(NEXT)
        assert done.status in (0, EX_UNAVAILABLE), (at, done)
        if done.status == 0:
            instance.check_store()
            assert instance.states() == {"SENT": 5}, (at, instance.states())
            bench.relay.commands.clear()
            bench.relay.arrived.clear()
            continue
        assert instance.store in done.output, (at, done)
        assert snapshot(instance.state) == before, at
        assert not bench.relay.commands, (at, bench.relay.commands)


def page_flipped(bench):
    """a damaged page is reported, and nothing is sent"""
    instance = bench.copy("rubbish")
    with contextlib.closing(sqlite3.connect(instance.store)) as db:
        (page,) = db.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'outbox'").fetchone()
        (size,) = db.execute("PRAGMA page_size").fetchone()
    with open(instance.store, "r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\x55" * size)
    done = instance.once(NEXT)
    assert done.status == EX_UNAVAILABLE, done
    assert "malformed" in done.output, done
    assert not bench.relay.commands


def clear(relay):
    relay.commands.clear()
    relay.arrived.clear()


def damage_value(instance, table, column, number, change):
    """Change the bytes of a packed value of a subscriber."""
    value = instance.value(f"SELECT {column} FROM {table} WHERE subscriber_id = ?", number)
    instance.db.damage(f"DROP TRIGGER digest_is_frozen; UPDATE {table}"
                       f" SET {column} = x'{change(value).hex()}' WHERE subscriber_id = {number}")


def flipped(at):
    def flip(value):
        place = at * (len(value) - 1) // 100
        return value[:place] + bytes([value[place] ^ 0xFF]) + value[place + 1:]
    return flip


# Changes to the bytes of a packed value.
DAMAGED_BYTES = [
    lambda value: value[:1],
    lambda value: value[:-1],
    lambda value: b"\x02" + value[1:],                        # unknown version
    lambda value: b"\x01" + b"\xff" * 8 + b"\x7f" + value[2:],  # so many papers
    lambda value: value[:2] + b"\x63" + value[3:],            # an unknown paper
    lambda value: value + b"\0",
    flipped(0), flipped(25), flipped(50), flipped(75), flipped(100),
]


def digest_values(bench):
    """a damaged digest fails, and all others are sent"""
    for number, change in enumerate(DAMAGED_BYTES):
        instance = bench.copy(f"digest-{number}")
        damage_value(instance, "digest", "contents", 2, change)
        done = instance.once(NEXT)
        assert done.status == 0 and "digest broken" in done.output, (number, done)
        assert instance.value("SELECT state FROM outbox WHERE subscriber_id = 2") == "FAILED"
        # its papers may be in another one already
        arrived = [recipient for recipient, _, _ in bench.relay.arrived]
        others = sorted(to for to in arrived if "0002" not in to)
        assert len(others) == 4 and len(set(others)) == 4, (number, arrived)
        clear(bench.relay)
    instance = bench.copy("digest-unknown")
    instance.change("UPDATE outbox SET state = 'UNKNOWN', attempt = 1,"
                    " possible_copies = 1 WHERE subscriber_id = 2")
    damage_value(instance, "digest", "contents", 2, lambda value: value[:-1])
    instance.once(NEXT, wanted=0)
    assert instance.states() == {"SENT": 4, "UNKNOWN": 1}, instance.states()
    assert instance.value("SELECT count(*) FROM delivered WHERE subscriber_id = 2") == 1
    clear(bench.relay)


def delivered_values(bench):
    """a subscriber with damaged deliveries gets no digest, but all others do"""
    for number, change in enumerate(DAMAGED_BYTES[:4]):
        instance = bench.copy(f"delivered-{number}")
        bench.works(instance)
        damage_value(instance, "delivered", "papers", 3, change)
        instance.write_day(days_after(DAY, 2), range(10, 13))
        done = instance.once(at_hour(days_after(DAY, 2)), wanted=0)
        assert "digest skipped subscriber=3" in done.output, done
        assert instance.states() == {"SENT": 9}, instance.states()
        clear(bench.relay)


def empty(bench):
    """an empty store file is rejected, not initialised"""
    instance = bench.copy("empty")
    os.truncate(instance.store, 0)
    bench.refused(instance, "is empty", "backup")


def foreign(bench):
    """a database of another program is rejected"""
    instance = bench.copy("foreign")
    os.unlink(instance.store)
    with contextlib.closing(sqlite3.connect(instance.store)) as db:
        db.executescript("CREATE TABLE bookmark (url TEXT);"
                         "INSERT INTO bookmark VALUES ('https://example.org/');")
    os.chmod(instance.store, 0o600)
    bench.refused(instance, "another program")
    instance = bench.copy("text")
    save(instance.store, "dear diary\n" * 1000)
    bench.refused(instance, instance.store)


def newer(bench):
    """a store of a newer version is rejected, and both versions are reported"""
    instance = bench.copy("newer")
    with contextlib.closing(sqlite3.connect(instance.store)) as db:
        (version,) = db.execute("PRAGMA user_version").fetchone()
        db.execute(f"PRAGMA user_version = {version + 1}")
    bench.refused(instance, "newer paperboy", f"version {version + 1}", f"up to {version}")


def log_without_store(bench):
    """a write-ahead log without its store is rejected"""
    instance = bench.copy("log")
    os.rename(instance.store, instance.store + "-wal")
    bench.refused(instance, "is missing although its key", "backup")
    os.unlink(os.path.join(instance.state, "key"))
    bench.refused(instance, "-wal", "backup")
    assert not os.path.exists(instance.store)


def no_store(bench):
    """a missing store is rejected if its key exists; otherwise a new one is created"""
    instance = bench.copy("new")
    os.unlink(instance.store)
    bench.refused(instance, "is missing although its key", "restore both from a backup")
    assert not os.path.exists(instance.store)
    for name in os.listdir(instance.state):
        os.unlink(os.path.join(instance.state, name))
    instance.once(NEXT, wanted=0)
    assert sorted(os.listdir(instance.state)) == ["key", "lock", "paperboy.db"]
    assert mode_of(instance.store) == 0o600
    assert instance.value("SELECT count(*) FROM subscriber") == 0
    instance.check_store()


def not_a_file(bench):
    """a directory in place of the store is rejected"""
    instance = bench.copy("folder")
    os.unlink(instance.store)
    os.mkdir(instance.store)
    bench.refused(instance, instance.store)


def wrong_modes(bench):
    """directory, store and key must not be accessible to others"""
    for mode in (0o755, 0o770, 0o701):
        instance = bench.copy(f"mode-{mode:o}")
        os.chmod(instance.state, mode)
        done = instance.once(NEXT)
        assert done.status == EX_UNAVAILABLE and "chmod 700" in done.output, done
        assert not bench.relay.commands
        os.chmod(instance.state, 0o700)
        bench.works(instance)
    for name, asks in (("paperboy.db", ["queue"]), ("key", ["digest", "show", "1"])):
        assert mode_of(os.path.join(bench.sound.state, name)) == 0o600, name
        for mode in (0o644, 0o660):
            instance = bench.copy(f"{name}-{mode:o}")
            path = os.path.join(instance.state, name)
            os.chmod(path, mode)
            bench.refused(instance, path, "chmod 600", asks=asks)
            os.chmod(path, 0o600)
            bench.works(instance)


def unreadable(bench):
    """missing permissions are reported as such"""
    # Root may read everything, unless it drops that capability.
    prefix = (
        ("setpriv", "--bounding-set=-dac_override,-dac_read_search") if is_root() else ()
    )
    for name in ("paperboy.db", "key"):
        instance = bench.copy(f"locked-{name}")
        instance.install()
        path = os.path.join(instance.state, name)
        os.chmod(path, 0)
        done = instance.once(NEXT, prefix=prefix)
        assert done.status == EX_UNAVAILABLE and path in done.output, done


def key_is_stored(bench):
    """the key is created once, never overwritten, and a wrong one is rejected"""
    path = os.path.join(bench.sound.state, "key")
    key = read(path)
    bench.sound.ctl("digest", "show", "1")
    instance = bench.copy("key-kept")
    bench.works(instance)
    assert read(os.path.join(instance.state, "key")) == key
    for name, wrong in (("empty", b""), ("short", key[:-1]), ("long", key + b"\n")):
        instance = bench.copy(f"key-{name}")
        save(os.path.join(instance.state, "key"), wrong)
        bench.refused(instance, "is not a key", "backup", asks=["digest", "show", "1"])


def lost_key(bench):
    """a store that has sent mail never gets a new key silently"""
    instance = bench.copy("key-lost")
    os.unlink(os.path.join(instance.state, "key"))
    bench.refused(instance, "key", "backup", asks=["digest", "show", "1"])
    assert not os.path.exists(os.path.join(instance.state, "key"))


def two_daemons(bench):
    """a second daemon beside a running one exits at once"""
    instance = bench.copy("two")
    with instance.start() as first:
        first.wait_line("started")
        second = instance.once(NEXT)
        assert second.status == EX_TEMPFAIL and "another paperboyd" in second.output
        assert first.is_running


def locks_are_held(bench):
    """starting and ending programs do not remove a running daemon's log"""
    instance = bench.copy("locks")
    with instance.start() as child:
        child.wait_line("paperboyd .* started")
        child.wait_fact(lambda: "SENDING" not in instance.states(), "an end of sending")
        for _ in range(3):
            instance.ctl("queue")
            instance.rows("SELECT count(*) FROM paper")
        files, directory = [], f"/proc/{child.pid}/fd"
        if not os.access(directory, os.R_OK):
            raise Skip("only root sees the files of a process with secrets")
        for link in os.listdir(directory):
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                files.append(os.readlink(os.path.join(directory, link)))
        assert instance.store + "-wal" in files, files
        assert not [file for file in files if "(deleted)" in file], files


TESTS = (
    sound_works, truncated, header_flipped, page_flipped, digest_values, delivered_values,
    empty, foreign, newer, log_without_store, no_store, not_a_file, wrong_modes,
    unreadable, key_is_stored, lost_key, two_daemons, locks_are_held,
)

with Tap() as tap:
    bench = Bench(tap)
    for test in TESTS:
        tap.run(test, bench)
    bench.relay.close()
