#!/usr/bin/env python3
"""test_damaged_rows.py - a damaged value in any column is reported and crashes nothing.

Each column of each table in turn becomes NULL, or a value that the schema excludes, in
all rows, and the number of a row also in the rows that refer to it.  Then all commands
that read the table, and paperboyd --once, must end by themselves.  The short form tries
one value for every third column.  With PAPERBOY_LONG=1 and sanitizers (make check-long) their
reports count as crashes.  An argument selects damages, as in "filter.id = -1".
"""

import concurrent.futures
import contextlib
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import lib  # the path
from daemon import at_hour
from filled import ADA, BOB, DAY, NEXT, make_filled
import postgresql  # the path
from postgresql_schema import load_schema
from stores import unindexed
from tap import IS_LONG, Tap, read_text, save, top_builddir

WORKERS = 2
RUN_S = 120
EX_DATAERR = 65
REPORT = re.compile(r"Sanitizer|runtime error:|CRITICAL \*\*|assertion")

TEXT = ["NULL", "''", "CAST(zeroblob(100) AS TEXT)", f"'{'x' * 70000}'",
        "CAST(x'ff41c3' AS TEXT)", "-1"]
VALUES = {
    "INTEGER": ["NULL", "-1", "0", "9223372036854775807", "-9223372036854775808",
                "34359738368", "'x'"],
    "TEXT": TEXT,
    "number": ["-1", "0", "9223372036854775807", "-9223372036854775808", "34359738368"],
    "BLOB": ["NULL", "x''", "x'ff'", "zeroblob(70000)", "'x'"],
}

# References that follow a damaged number.
REFERENCES = {"paper.seq": "paper_seq", **{f"{table}.id": f"{table}_id" for table in (
    "filter", "subscriber", "subscription", "digest", "outbox", "proposal", "share")}}

# Words of a command, and what it prints of a damage.
REPORTED = [
    ("source_fetch.source", "NULL", ["status"], "damaged row: table source_fetch, row "),
    ("filter.canonical", "NULL", ["doctor"], "damaged row: table filter, row 1 "),
    ("filter.hash", "NULL", ["doctor"], "damaged row: table filter, row 1 "),
    ("filter.id", "-1", ["preview", ADA], "damaged row: table subscription, row "),
    ("backup.key", "NULL", ["--once"], "damaged row: table backup, row "),
]

SHORT = [["status"], ["doctor"], ["--once"]]
COMMANDS = [
    ["status"], ["doctor"], ["--json", "status"], ["metrics"],
    ["subscriber", "list"], ["subscriber", "show", ADA], ["subscriber", "export", "--filters"],
    ["filter", "list", ADA], ["filter", "test", "1", "--address", ADA],
    ["filter", "suggest", "1", "--address", ADA], ["filter", "explain", "made", "2611.00001"],
    ["share", "list"], ["search", "made OR paper"], ["why", ADA, "2611.00001"],
    ["why", BOB, "2611.00001"],
    ["suppression", "list"], ["confirmation", "list"], ["log"], ["preview", ADA],
    ["source", "list"], ["digest", "list"], ["digest", "show", "1"],
    ["queue", "list", "--all"], ["queue", "show", "1"], ["queue", "show", "2"],
    ["inbox", "list"], ["inbox", "show", "1"], ["bounce", "list"], ["bounce", "show", ADA],
    ["--once"],
]


class Rows:
    """An instance with rows in every table and without constraints, to be damaged."""

    def __init__(self, tap):
        self.tap = tap
        self.sound = make_filled(tap.subdirectory("sound"))
        self.sound.change("INSERT INTO backup VALUES (1, 1, hex(zeroblob(32)), NULL)")
        with contextlib.closing(sqlite3.connect(self.sound.store, isolation_level=None)) as db:
            self.columns = remove_constraints(db)
        self.sound.db.checkpoint()
        self.runs = 0
        self.readers = {}
        tables = {table for table, _, _ in self.columns}
        with self.copy() as directory:
            for table in sorted(tables):
                self.readers[table] = (
                    self.find_readers(directory, table) if IS_LONG else SHORT)

    def find_readers(self, directory, table):
        """The commands that miss the table, and paperboyd, which reads all."""
        execute(directory, f"ALTER TABLE {table} RENAME TO hidden")
        found = [words for words in COMMANDS[:-1]
                 if "no such table" in self.call(directory, words)[1]]
        execute(directory, f"ALTER TABLE hidden RENAME TO {table}")
        return [*found, COMMANDS[-1]]

    @contextlib.contextmanager
    def copy(self):
        with tempfile.TemporaryDirectory(dir=self.tap.directory) as directory:
            state = os.path.join(directory, "state")
            shutil.copytree(self.sound.state, state)
            text = read_text(self.sound.config).replace(self.sound.state, state)
            save(os.path.join(directory, "paperboy.conf"), text)
            yield directory

    def damage(self, directory, column, value):
        """@param column  TABLE.COLUMN"""
        for table, name, kind in self.columns:
            if f"{table}.{name}" == column or name == REFERENCES.get(column):
                execute(directory, f"UPDATE OR IGNORE {table} SET {name} = {value}"
                        + (f" WHERE {name} = 1" if kind == "number" else ""))

    def find_crashes(self, damage):
        """Run the commands on a damaged copy.  @return descriptions of crashes"""
        column, value = damage
        with self.copy() as directory:
            self.damage(directory, column, value)
            runs = [self.run(directory, words)
                    for words in self.readers[column.partition(".")[0]]]
        return [f"{column} = {value[:30]}: {run}" for run in runs if run]

    def call(self, directory, words):
        program, now = "paperboyctl", at_hour(DAY, 9)
        if words[0] == "--once":
            program, now = "paperboyd", at_hour(NEXT, 12)
        done = subprocess.run(
            [os.path.join(top_builddir(), program), "-c",
             os.path.join(directory, "paperboy.conf"), "--now", now, *words],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=RUN_S, check=False, cwd=directory)
        self.runs += 1
        return done.returncode, done.stdout.decode("utf-8", "replace")

    def run(self, directory, words):
        """@return a description of a crash, or None"""
        try:
            status, output = self.call(directory, words)
        except subprocess.TimeoutExpired:
            status, output = -1, "it does not end"
        if 0 <= status < 128 and not REPORT.search(output):
            return None
        return f"{' '.join(words)}: status {status}: {output[-3000:]}"


def execute(directory, sql):
    path = os.path.join(directory, "state", "paperboy.db")
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA legacy_alter_table = ON")
        with unindexed(db, sql):
            db.execute(sql)


def remove_constraints(db):
    """Make each table anew without constraints.  @return its columns as (table, column, kind)

    Unique columns stay unique; those of a key may be NULL, except for the number of a row.
    """
    tables = load_schema(db, "table")
    others = db.execute("SELECT tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL"
                        " AND (type = 'index' OR (type = 'trigger'"
                        " AND sql NOT LIKE '%RAISE(%'))").fetchall()
    found = []
    db.execute("PRAGMA foreign_keys = OFF")
    for (name,) in db.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        db.execute(f"DROP TRIGGER {name}")
    for table in [*tables, "vocabulary", "acronym"]:
        found += rebuild(db, table)
    for _, sql in others:
        db.execute(sql)
    return found


def rebuild(db, table):
    columns = db.execute(f"PRAGMA table_info({table})").fetchall()
    (sql,) = db.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
    number = None if "WITHOUT ROWID" in sql else next(
        (name for _, name, kind, _, _, key in columns if key and kind == "INTEGER"), None)
    uniques = [", ".join(row[2] for row in db.execute(f"PRAGMA index_info({index[1]})"))
               for index in db.execute(f"PRAGMA index_list({table})").fetchall()
               if index[3] in ("u", "pk")]
    parts = [f"{name} {kind}{' PRIMARY KEY' if name == number else ''}"
             f"{'' if default is None else f' DEFAULT {default}'}"
             for _, name, kind, _, default, _ in columns]
    parts += [f"UNIQUE ({names})" for names in uniques]
    db.execute("PRAGMA legacy_alter_table = ON")
    db.execute(f"ALTER TABLE {table} RENAME TO sound_{table}")
    db.execute(f"CREATE TABLE {table} ({', '.join(parts)})")
    db.execute(f"INSERT INTO {table} SELECT * FROM sound_{table}")
    (count,) = db.execute(f"SELECT count(*) FROM {table}").fetchone()
    assert count, f"{table} has no rows"
    db.execute(f"DROP TABLE sound_{table}")
    return [(table, name, kind if name != number else "number")
            for _, name, kind, *_ in columns]


def damages_are_reported(rows):
    """a damaged row is reported with its table and key; a daemon ends with 65 at its start"""
    for column, value, words, wanted in REPORTED:
        with rows.copy() as directory:
            rows.damage(directory, column, value)
            status, output = rows.call(directory, words)
            assert wanted in output, (column, value, output)
            assert words != ["--once"] or status == EX_DATAERR, (status, output)


def nothing_crashes(rows):
    """no damaged value crashes a command"""
    damages = []
    for number, (table, name, kind) in enumerate(rows.columns):
        values = VALUES[kind]
        if not IS_LONG:
            values = [] if number % 3 else [values[number // 3 % len(values)]]
        damages += [(f"{table}.{name}", value) for value in values]
    if len(sys.argv) > 1:
        damages = [damage for damage in damages if re.search(sys.argv[1], " = ".join(damage))]
    rows.runs = crashes = 0
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        for found in pool.map(rows.find_crashes, damages):
            for crash in found:
                print("# CRASH", crash.replace("\n", "\n#   "), flush=True)
                crashes += 1
    print(f"# {len(damages)} values in {len(rows.columns)} columns, {rows.runs} runs,"
          f" {crashes} crashes", flush=True)
    assert not crashes


with Tap() as tap:
    rows = Rows(tap)
    tap.run(damages_are_reported, rows)
    tap.run(nothing_crashes, rows)
