#!/usr/bin/env python3
"""test_upgrade.py - each later program upgrades the stores of all releases.

tests/golden/store-N.sql is a backup of a store of version N with rows in every table, as SQL.
GOLDEN_WRITE=1 writes the file of the present version if its schema has changed.  From version
1.0.0 of paperboy on a file is never written again: 001-first.sql is as it was then, and a
migration comes with the file of the version that it makes.
"""

import contextlib
import glob
import json
import os
import re
import sqlite3

import lib  # the path
from daemon import Instance, at_hour
from filled import ADA, NEXT, make_filled
from tap import Tap, read, run, top_builddir, top_srcdir

GOLDEN = os.path.join(top_srcdir(), "tests", "golden")
DATA, UNAVAILABLE = 65, 69
NOW = at_hour(NEXT, 12)
READING = (["subscriber", "list"], ["subscriber", "show", ADA], ["filter", "list", ADA],
           ["digest", "show", "1"], ["queue", "list", "--all"], ["inbox", "list"],
           ["bounce", "list"], ["share", "list"], ["log"])


def load_version():
    """The version of the store in the sources."""
    return int(re.search(rb"MIGRATE_VERSION (\d+)", read(os.path.join(
        top_srcdir(), "src", "store", "core", "migrate.h")))[1])


def is_released():
    said = run([os.path.join(top_builddir(), "paperboyctl"), "--version"])
    return not said.split()[1].startswith("0.")


def dump(path):
    """A store as SQL.  Python does not know the tokenizer of its index: its shadow tables,
    which have the rows, and the schema itself are written."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        rows = db.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema"
                          " WHERE sql IS NOT NULL ORDER BY type <> 'table', rowid").fetchall()
        for name in ("application_id", "user_version"):
            yield f"PRAGMA {name} = {db.execute(f'PRAGMA {name}').fetchone()[0]};"
        yield "PRAGMA writable_schema = ON;"
        for kind, name, table, sql in rows:
            if sql.startswith("CREATE VIRTUAL"):
                (text,) = db.execute("SELECT quote(?)", (sql,)).fetchone()
                yield ("INSERT INTO sqlite_schema VALUES"
                       f" ('table', '{name}', '{table}', 0, {text});")
                continue
            if name != "sqlite_sequence":
                yield sql + ";"
            if kind != "table":
                continue
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({name})")]
            values = " || ', ' || ".join(f'quote("{column}")' for column in columns)
            for (text,) in db.execute(f"SELECT {values} FROM {name}").fetchall():
                yield f"INSERT INTO {name} VALUES ({text});"


def make_store(sql, path):
    """The file of a store from its SQL."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.executescript(f"BEGIN;{sql}COMMIT")
    os.chmod(path, 0o600)
    return path


def find_schema(path):
    with contextlib.closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT value FROM cursor WHERE name = 'schema'").fetchone()


def write_golden(tap, path):
    instance = make_filled(tap.subdirectory("filled"))
    backup = os.path.join(instance.directory, "backup")
    instance.change("DELETE FROM instance WHERE name <> 'host'")  # the name of this machine
    instance.ctl("backup", backup, now=NOW)
    if os.path.exists(path):
        old = make_store(read(path).decode(), os.path.join(instance.directory, "old"))
        if is_released() or find_schema(old) == find_schema(backup):
            return
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in dump(backup))


def is_upgraded(tap, golden):
    """a store of a release is tried, upgraded by paperboyd, and has all that it had"""
    name = os.path.basename(golden)
    backup = make_store(read(golden).decode(), os.path.join(tap.directory, f"{name}.backup"))
    before = read(backup)
    maildir = tap.subdirectory(f"{name}.Maildir")
    instance = Instance(tap.subdirectory(name), maildir=maildir, receive__parser=os.path.join(
        top_builddir(), "paperboy-parser"))
    tried = json.loads(instance.ctl("--json", "upgrade", "--dry-run", backup, now=NOW))
    assert f"store-{tried['version_from']}.sql" == name and tried["subscribers"] == 3, tried
    assert tried["version_to"] == load_version(), tried
    assert tried["changes"] or tried["version_from"] == load_version(), tried
    said = instance.ctl("upgrade", "--dry-run", backup, now=NOW)
    assert "paperboyctl restore" in said and "subscribers: 3" in said, said
    assert read(backup) == before and not os.listdir(instance.state)
    assert glob.glob(backup + "*") == [backup]
    # The daemon upgrades the store when it starts, and goes on with it.
    os.rename(backup, instance.store)
    instance.write_day(NEXT, range(10, 14))
    instance.once(NOW, wanted=0)
    assert instance.value("SELECT count(*) FROM delivered") > 1
    assert os.listdir(os.path.join(maildir, "new"))
    for command in READING:
        assert instance.ctl(*command, now=NOW), command
    assert "Made-up paper" in instance.ctl("search", "made", now=NOW)
    assert "damage" not in instance.ctl("doctor", now=NOW, wanted=(0, 1))
    instance.check_store()


def overwrite(path, at, data):
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(data)


def change(path, sql):
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute(sql)


# Damage to a backup, the exit status, and the way out that is named.
REFUSED = (
    (lambda path: change(path, f"PRAGMA user_version = {load_version() + 1}"), UNAVAILABLE,
     f"newer paperboy (store version {load_version() + 1}, supported up to {load_version()}):"
     " install that version again"),
    (lambda path: change(path, "UPDATE cursor SET value = 1 WHERE name = 'schema'"),
     UNAVAILABLE, "export the subscribers with that version (paperboyctl subscriber export"),
    (lambda path: change(path, "DELETE FROM backup"), DATA, "not a backup: it contains no key"),
    (lambda path: overwrite(path, 0, b"From: me"), UNAVAILABLE, "restore it from a backup"),
    (lambda path: change(path, "PRAGMA application_id = 1"), UNAVAILABLE, "of another program"),
    (lambda path: os.truncate(path, 0), UNAVAILABLE, "is empty, so it is not a store"),
    (lambda path: os.truncate(path, 5000), UNAVAILABLE, "restore it from a backup"),
    (lambda path: overwrite(path, 3 * 4096, bytes(4096)), UNAVAILABLE,
     "use another backup"),
    (os.unlink, 67, "No such file"),
)


def others_are_refused(tap):
    """a newer, older, damaged or foreign file is refused with the way out"""
    golden = read(os.path.join(GOLDEN, f"store-{load_version()}.sql")).decode()
    instance = Instance(tap.subdirectory("refusing"))
    for number, (spoil, status, wanted) in enumerate(REFUSED):
        path = make_store(golden, os.path.join(tap.directory, f"spoilt-{number}"))
        spoil(path)
        said = instance.ctl("upgrade", "--dry-run", path, now=NOW, wanted=status)
        assert "nothing was changed: " in said and wanted in said, (number, said)
        assert glob.glob(path + ".*") == [] and not os.listdir(instance.state), number
    said = instance.ctl("upgrade", path, wanted=DATA)
    assert "paperboyd upgrades the store when it starts" in said, said
    said = instance.ctl("upgrade", "--dry-run", "postgresql:///paperboy", wanted=DATA)
    assert "is not a file: restore a dump into another database" in said, said


with Tap() as t:
    path = os.path.join(GOLDEN, f"store-{load_version()}.sql")
    if os.environ.get("GOLDEN_WRITE"):
        write_golden(t, path)
    assert os.path.exists(path), f"GOLDEN_WRITE=1 writes {path}"
    for golden in sorted(glob.glob(os.path.join(GOLDEN, "store-*.sql"))):
        t.run(is_upgraded, t, golden)
    t.run(others_are_refused, t)
