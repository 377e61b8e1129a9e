"""stores.py - stores of instances under test: SQLite's files, or databases.

    store = stores.create(path)
    store.rows("SELECT state FROM outbox WHERE id = ?", 7)
    store.change("UPDATE subscriber SET language = 'de'")

$PAPERBOY_TEST_STORE is the URL of a PostgreSQL server with %s for the name of a database;
without it stores are files.  Queries are SQLite's on both: of a database, the tables that
a query names are copied to a store in memory.  Changes are run as they are.
"""

import contextlib
import csv
import functools
import glob
import os
import re
import sqlite3
import subprocess

import digest_views
from postgresql import PROGRAMS, SLOW_S, migrate
from postgresql_schema import load_schema, quote

VARIABLE = "PAPERBOY_TEST_STORE"
# Tables that the views of digest_views read.
VIEWS = {"digest_item": {"digest", "paper_moved"}, "digest_head": {"digest"},
         "delivered_paper": {"delivered", "paper_moved"}}
ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def is_database():
    return VARIABLE in os.environ


@contextlib.contextmanager
def unindexed(db, sql):
    """SQL may change papers in a file: only paperboy has the tokenizer of their index."""
    triggers = []
    if re.search(r"(UPDATE|IGNORE|FROM) paper\b", sql):
        triggers = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"
                              " AND name GLOB 'paper_fts_*'").fetchall()
    for name, _ in triggers:
        db.execute(f"DROP TRIGGER {name}")
    yield
    for _, sql in triggers:
        db.execute(sql)


class File:
    """A store in a file."""

    url = None
    config = ""
    names = {"paperboy.db", "generation"}  # of its files in the state directory

    def __init__(self, path):
        self.move(path)

    def move(self, path):
        self.path = self.location = path

    def take(self, other):
        """Become a copy of another one, which nobody uses; its directory has been copied."""

    def exists(self):
        return os.path.exists(self.path)

    @contextlib.contextmanager
    def connect(self):
        """A connection; neither it nor its end changes what a killed daemon left."""
        uri = f"file:{self.path}?mode=ro"
        with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=120)) as db:
            yield digest_views.create(db)

    def rows(self, sql, *values):
        with self.connect() as db:
            return db.execute(sql, values).fetchall()

    def change(self, sql, *values):
        """Run statements with the values.  @return rows of RETURNING of one statement"""
        with (contextlib.closing(sqlite3.connect(self.path)) as db, db,
              unindexed(db, sql)):
            if values or "RETURNING" in sql:
                return db.execute(sql, values).fetchall()
            db.executescript(f"BEGIN;{sql};COMMIT")
            return []

    def damage(self, sql):
        """Run statements, the first of which may drop triggers, without other checks."""
        self.change(sql)

    def checkpoint(self):
        with contextlib.closing(sqlite3.connect(self.path)) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextlib.contextmanager
    def locked(self):
        """Nothing can be written."""
        with contextlib.closing(sqlite3.connect(self.path, isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            yield
            db.execute("ROLLBACK")

    def check(self):
        with self.connect() as db:
            found = db.execute("PRAGMA integrity_check").fetchall()
            assert found == [("ok",)], found
            found = db.execute("PRAGMA foreign_key_check").fetchall()
            assert found == [], found


# ---- databases --------------------------------------------------------------


@functools.cache
def load_empty():
    """The tables of a store, a store in memory that has them without rows, and its bytes."""
    store = migrate()
    triggers = store.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
    for (name,) in triggers.fetchall():
        store.execute(f"DROP TRIGGER {name}")
    tables = load_schema(store, "table")
    for name in tables:
        store.execute(f"DELETE FROM {name}")
    store.commit()
    return tables, store, store.serialize()


def columns(table, *without):
    """Columns of a table, with commas."""
    rows = load_empty()[1].execute(f"PRAGMA table_info({table})")
    return ", ".join(row[1] for row in rows if row[1] not in without)


def find_tables(sql):
    tables = load_empty()[0]
    words = set(re.findall(r"\w+", sql))
    return set(tables) & words.union(*(VIEWS[name] for name in words & set(VIEWS)))


def read_cell(text, kind):
    """A cell of COPY's text format."""
    if text == "\\N":
        return None
    if "\\" in text:
        text = re.sub(r"\\(.)", lambda match: ESCAPES.get(match[1], match[1]), text)
    if kind == "BLOB":
        return bytes.fromhex(text.removeprefix("\\x"))
    return int(text) if kind == "INTEGER" else text


def bind(sql, values):
    """A statement with its values as literals; it has no other "?"."""
    rest = iter(values)
    sql = re.sub(r"\bx'(\w*)'", r"CAST('\\x\1' AS BYTEA)", sql)
    return re.sub(r"\?", lambda _: quote(next(rest)), sql)


def make_url(name):
    return os.environ[VARIABLE].replace("%s", name)


class Database:
    """A store in a database, by default a new one."""

    names = {"archive.db", "server"}

    def __init__(self, url=None):
        self.url = self.location = url
        if not url:
            name = f"test_{os.urandom(8).hex()}"
            Database(make_url("postgres")).run(f"CREATE DATABASE {name}")
            self.url = self.location = make_url(name)

    def move(self, _path):
        """It is not in a state directory."""

    @property
    def name(self):
        return os.path.basename(self.url.partition("?")[0])

    @property
    def config(self):
        """The group of a configuration."""
        return f'store: {{ url = "{self.url}"; }};'

    def take(self, other):
        there = Database(make_url("postgres"))
        there.run("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
                  f" WHERE datname = '{other.name}'")  # of a program that was killed
        there.run(f"DROP DATABASE {self.name}")
        there.run(f"CREATE DATABASE {self.name} TEMPLATE {other.name}")

    def command(self, *options):
        program = os.path.join(sorted(glob.glob(PROGRAMS))[-1], "psql")
        return [program, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", *options,
                "-d", self.url]

    def run(self, sql, *options):
        done = subprocess.run(
            self.command(*options), input=sql, text=True, encoding="utf-8",
            capture_output=True, timeout=SLOW_S, check=False)
        assert done.returncode == 0, f"{sql}: {done.stderr}"
        return done.stdout

    def exists(self):
        return self.run("SELECT count(*) FROM pg_tables WHERE tablename = 'outbox'") == "1\n"

    @contextlib.contextmanager
    def connect(self, tables=None):
        """A connection to a copy of tables, by default of all."""
        every, _, empty = load_empty()
        with contextlib.closing(sqlite3.connect(":memory:")) as db:
            db.deserialize(empty)
            kinds = {}
            for name in every if tables is None else tables:
                kinds[name] = [row[1:3] for row in db.execute(f"PRAGMA table_info({name})")]
            self.copy_rows(db, kinds)
            yield digest_views.create(db)

    def copy_rows(self, db, kinds):
        copies = "".join(
            f"\\echo @@{name}\nCOPY {name} ({', '.join(column for column, _ in columns)})"
            " TO STDOUT;\n" for name, columns in kinds.items())
        text = self.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;\n"
                        f"{copies}COMMIT;\n")
        for part in re.split(r"^@@", text, flags=re.M)[1:]:
            name, *lines = part.split("\n")[:-1]
            rows = [[read_cell(cell, kind) for cell, (_, kind) in
                     zip(line.split("\t"), kinds[name])] for line in lines]
            db.executemany(f"INSERT INTO {name} ({', '.join(c for c, _ in kinds[name])})"
                           f" VALUES ({', '.join('?' * len(kinds[name]))})", rows)

    def rows(self, sql, *values):
        with self.connect(find_tables(sql)) as db:
            return db.execute(sql, values).fetchall()

    def change(self, sql, *values):
        text = self.run(f"BEGIN;\n{bind(sql, values)};\nCOMMIT;\n", "--csv")
        return [tuple(int(cell) if cell.isdigit() else cell for cell in row)
                for row in csv.reader(text.splitlines())]

    def damage(self, sql):
        self.change("SET session_replication_role = replica;"  # no triggers, no references
                    + re.sub(r"DROP TRIGGER \w+;", "", sql))

    def checkpoint(self):
        """The server does that."""

    @contextlib.contextmanager
    def locked(self):
        tables = load_empty()[0]
        with subprocess.Popen(self.command(), stdin=subprocess.PIPE, text=True,
                              stdout=subprocess.PIPE) as psql:
            psql.stdin.write(f"BEGIN;\nLOCK {', '.join(tables)} IN EXCLUSIVE MODE;\n"
                             "\\echo locked\n")
            psql.stdin.flush()
            assert psql.stdout.readline() == "locked\n"
            yield
            psql.stdin.write("ROLLBACK;\n")
            psql.communicate(timeout=SLOW_S)

    def check(self):
        """The server checks references; the types and CHECKs of SQLite hold, too."""
        if self.exists():
            with self.connect():
                pass


def create(path, url=None):
    """The store of an instance: that of a URL, else a database or the file."""
    return Database(url) if url or is_database() else File(path)
