#!/usr/bin/env python3
"""test_store_copy.py - paperboyctl store copy moves all tables and columns.

The schema itself says what the tables contain: each is filled with random values that
its CHECKs and references accept, until no column is NULL everywhere.
"""

import contextlib
import fcntl
import json
import os
import random
import re
import resource
import signal
import sqlite3
import subprocess

import lib  # the path
from daemon import Instance
from postgresql import Server
from postgresql_schema import find_checks, load_schema
from stores import unindexed
from tap import Child, Skip, Tap, read, read_text, save, top_builddir, wait_until

ROWS = 4
TRIES = 400000
AGAIN = 40000
TEXTS = ["a", "x@example.org", "grüße@example.org", "2026-11-20", "en", "http://a/b",
         "tab\tand\nline", "", "digest-7", "digest-8", "digest-9", "[1]", "1,2",
         *(digit * size for digit in "123456789abcdef" for size in (17, 64))]
NUMBERS = [-1, 0, 1, 2, 3, 4, 5, 63, 1439, 2**37, 1700000000]
BLOBS = [b"", b"\x00\xff", b"x" * 3000, b"letter"]


def find_names(store):
    """Names of all columns."""
    return {row[0] for row in store.execute(
        "SELECT c.name FROM sqlite_schema s, pragma_table_info(s.name) c"
        " WHERE s.name <> 'paper_fts'")}


class Filler:
    """Fills the tables of a store, which have no rows."""

    def __init__(self, store, seed):
        self.store = store
        self.random = random.Random(seed)
        self.tables = load_schema(store, "table")
        self.names = find_names(store)

    def fill(self):
        triggers = self.store.execute("SELECT name, sql FROM sqlite_schema"
                                      " WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            self.store.execute(f"DROP TRIGGER {name}")
        schema = self.store.execute(
            "SELECT name, value FROM cursor WHERE name = 'schema'").fetchone()
        for table, sql in self.tables.items():
            self.store.execute(f"DELETE FROM {table}")
            self.fill_table(table, sql)
        self.store.execute("INSERT INTO cursor VALUES (?, ?)", schema)
        wrong = self.store.execute("PRAGMA foreign_key_check").fetchall()
        assert not wrong, wrong[:5]
        for _, sql in triggers:
            self.store.execute(sql)

    def list_values(self, name, kind, checks):
        """Values that the column's own CHECKs accept."""
        literals = [text for check in checks
                    for text in re.findall(r"'([^'*?\[]*)'", check)]
        values = {"TEXT": TEXTS + literals, "INTEGER": NUMBERS, "BLOB": BLOBS}[kind]
        if kind == "TEXT" and name.endswith("_day"):  # rows are checked when they are read
            values = ["2026-11-20", "2026-11-21"]
        for check in checks:
            words = set(re.findall(r"[a-z_]+", re.sub(r"'[^']*'", "", check)))
            if words & self.names == {name}:
                values = [value for value in values if self.store.execute(
                    f"SELECT ({check}) FROM (SELECT ? AS {name})",
                    (value,)).fetchone()[0]]
        return values

    def fill_table(self, table, sql):
        columns = self.store.execute(f"PRAGMA table_info({table})").fetchall()
        parents = {row[3] for row in self.store.execute(
            f"PRAGMA foreign_key_list({table})")}
        is_numbered = sum(column[5] > 0 and column[2] == "INTEGER" for column in columns)
        values = {}
        for _, name, kind, *_ in columns:
            values[name] = self.list_values(name, kind, find_checks(sql))
            if name in parents:
                values[name] = list(range(1, ROWS + 1))
        missing, accepted = dict.fromkeys(values), []
        left = 1 if table in ("backup", "key_check") else ROWS
        for number in range(1, TRIES):
            if not missing and len(accepted) >= left:
                return
            if number % AGAIN == 0 and len(accepted) >= left:  # no room for others
                self.store.execute(f"DELETE FROM {table}")
                missing, accepted = dict.fromkeys(values), []
            row = self.make_row(columns, values, [*missing, ""], accepted)
            if len(accepted) >= left and not any(
                    value is not None and column[1] in missing
                    for column, value in zip(columns, row)):
                continue  # unique values are few
            if is_numbered == 1 and columns[0][5] and columns[0][1] not in parents:
                row[0] = len(accepted) + 1
            try:
                self.store.execute(
                    f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
            except sqlite3.IntegrityError:
                continue
            accepted.append(row)
            for column, value in zip(columns, row):
                if value is not None:
                    missing.pop(column[1], None)
        raise AssertionError(f"{table}: {len(accepted)} rows, NULL only: {[*missing]}")

    def make_row(self, columns, values, missing, accepted):
        """A random row, or one that differs in part from another."""
        wanted = self.random.choice(missing)
        row = [None if self.random.random() < 0.3 and not column[5]
               and column[1] != wanted else self.random.choice(values[column[1]])
               for column in columns]
        if not accepted or self.random.random() < 0.3:
            return row
        return [value if column[5] or column[1] == wanted or self.random.random() < 0.15
                else other
                for column, value, other in zip(
                    columns, row, self.random.choice(accepted))]


# ---- copies -----------------------------------------------------------------


def dump(path):
    """All rows of all tables, and numbers that are not used again."""
    store = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    tables = [*load_schema(store, "table"), "vocabulary", "acronym"]
    rows = {table: sorted(store.execute(f"SELECT * FROM {table}"), key=repr)
            for table in tables}
    numbers = dict(store.execute("SELECT name, seq FROM sqlite_sequence"))
    others = {kind: load_schema(store, kind) for kind in ("table", "index", "trigger")}
    store.close()
    return rows, numbers, others


class Stores:
    """A filled store and its state directory."""

    def __init__(self, tap):
        self.tap = tap
        self.instance = Instance(tap.subdirectory("filled"))
        self.instance.ctl("subscriber", "list")
        store = sqlite3.connect(self.instance.store)
        Filler(store, 1).fill()
        store.execute("UPDATE sqlite_sequence SET seq = seq + 1000")
        store.execute("DELETE FROM instance")
        store.commit()
        store.close()

    def copy(self, source, target, wanted=0):
        return self.instance.ctl("--json", "store", "copy", source, target,
                                 wanted=wanted)

    def new_path(self, name):
        directory = self.tap.subdirectory(name)
        os.chmod(directory, 0o700)
        return os.path.join(directory, "paperboy.db")


def check_copied(stores, path):
    """The rows are those of the filled store; its index was made again."""
    wanted, found = dump(stores.instance.store), dump(path)
    for table, rows in wanted[0].items():
        if table in ("vocabulary", "acronym"):
            continue
        if table == "cursor":
            rows = [row for row in rows if not row[0].startswith("archive ")]
            found[0][table] = [row for row in found[0][table]
                               if not row[0].startswith("archive ")]
        assert found[0][table] == rows, f"{table}: {rows[:3]} {found[0][table][:3]}"
    assert found[1] == wanted[1], (found[1], wanted[1])
    assert found[2] == wanted[2]
    assert found[0]["vocabulary"]


def test_to_sqlite(tap, stores):
    "a copy in SQLite has all rows, numbers, triggers and an index"
    path = stores.new_path("second")
    tables = json.loads(stores.copy(stores.instance.store, path))
    schema = dump(path)[2]["table"]
    assert {table["table"] for table in tables} == set(schema)
    assert all(table["rows"] for table in tables if table["table"] != "instance")
    check_copied(stores, path)


def test_not_empty(tap, stores):
    "a store with rows is not written to, and stays as it is"
    path = stores.new_path("third")
    stores.copy(stores.instance.store, path)
    before = dump(path)
    assert "is not empty" in stores.copy(stores.instance.store, path, wanted=65)
    said = stores.copy("postgresq://paperboy@db/paperboy", path, wanted=65)
    assert "not a URL" in said and not os.path.exists("postgresq:"), said
    assert dump(path) == before


def test_nul(tap, stores):
    "a text with a NUL character is not cut"
    paths = [stores.new_path(name) for name in ("nul", "nul copied")]
    stores.copy(stores.instance.store, paths[0])
    sql = ("UPDATE paper SET title = 'one' || char(0) || 'two'"
           " WHERE seq = (SELECT min(seq) FROM paper)")
    with (contextlib.closing(sqlite3.connect(paths[0])) as store, store,
          unindexed(store, sql)):
        store.execute(sql)
    said = stores.copy(*paths, wanted=65)
    assert "table 'paper': column 'title' of row " in said, said
    assert "has a NUL character" in said, said


def test_running(tap, stores):
    "a store is not copied while its daemon holds the lock"
    with open(os.path.join(stores.instance.state, "lock"), "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stores.copy(stores.instance.store, stores.new_path("fourth"), wanted=75)
    stores.copy(stores.instance.store, stores.new_path("fifth"))


def make_url(server, database="paperboy", user="postgres"):
    return f"postgresql:///{database}?host={server.directory}&user={user}"


# Keys, references, indexes and triggers.
PARTS = """
SELECT conrelid::regclass, conname, pg_get_constraintdef(oid) FROM pg_constraint
WHERE connamespace = 'public'::regnamespace ORDER BY conrelid::regclass::text, conname;
SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1;
SELECT pg_get_triggerdef(oid), tgenabled FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1;
"""


def test_to_server(tap, stores, server):
    "a copy in PostgreSQL and back has the same checksums and rows"
    url = make_url(server)
    path = stores.new_path("back")
    there = stores.copy(stores.instance.store, url)
    back = stores.copy(url, path)
    assert there == back
    check_copied(stores, path)
    server.run("CREATE DATABASE other_server", "postgres")
    assert stores.copy(url, make_url(server, "other_server")) == there
    # Numbers continue, and triggers work again.
    number = server.run("INSERT INTO filter (canonical, hash, created_at) VALUES"
                        f" ('new', '{'0' * 64}', 1) RETURNING id")
    assert int(number) > 1000, number
    assert server.run(f"SELECT kind FROM filter_term WHERE filter_id = {number}") == "0\n"
    assert "is not empty" in stores.copy(stores.instance.store, url, wanted=65)


def test_parts(tap, stores, server):
    "a copy in PostgreSQL has the keys, references, indexes and triggers of a new store"
    server.run("CREATE DATABASE plain", "postgres")
    Instance(tap.subdirectory("parts"), store__url=make_url(server, "plain")).ctl(
        "subscriber", "list")
    wanted = server.run(PARTS, "plain")
    assert wanted.count("FOREIGN KEY") > 20, wanted
    assert server.run(PARTS) == wanted


# ---- copies that are interrupted --------------------------------------------

# A check of the copied rows waits while another session has this lock.
WAIT = """
CREATE FUNCTION wait() RETURNS bool LANGUAGE plpgsql SET lock_timeout = 0 AS $$
BEGIN PERFORM pg_advisory_lock_shared(7); PERFORM pg_advisory_unlock_shared(7);
RETURN true; END $$;
ALTER TABLE subscription ADD CONSTRAINT wait CHECK (wait());
"""
UNFINISHED = "a copy that did not end"


class Holder:
    """A session that holds a lock."""

    def __init__(self, server, sql, database="paperboy"):
        commands, self.input = os.pipe()
        self.child = Child(
            [server.psql, "-X", "-q", "-h", server.directory, "-U", "postgres", database],
            stdin=commands)
        os.close(commands)
        os.write(self.input, f"{sql};\n\\echo locked\n".encode())
        self.child.wait_line("locked")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.input)
        self.child.wait_exit()
        self.child.stop()


class Copying:
    """A copy that is stopped by a lock."""

    def __init__(self, stores, server, source, target, database="paperboy"):
        self.child = Child([
            os.path.join(top_builddir(), "paperboyctl"), "-c", stores.instance.config,
            "--now", stores.instance.clock.now(), "store", "copy", source, target])
        wait_until(lambda: server.run("SELECT count(*) FROM pg_locks WHERE NOT granted",
                                      database) == "1\n", "a copy that waits")


def test_killed_to_server(tap, stores, server):
    "a database with a copy that was interrupted is not used, and can be written again"
    url = make_url(server, "half")
    machine = Instance(tap.subdirectory("half"), store__url=url)
    server.run("CREATE DATABASE half", "postgres")
    machine.ctl("subscriber", "list")
    server.run(WAIT, "half")
    before = read(stores.instance.store)
    for number in (signal.SIGKILL, signal.SIGINT, None):
        with Holder(server, "SELECT pg_advisory_lock(7)", "half"):
            copying = Copying(stores, server, stores.instance.store, url, "half")
            if number:
                copying.child.signal(number)
            else:
                server.run("SELECT pg_terminate_backend(pid) FROM pg_locks"
                           " WHERE NOT granted", "half")
                wait_until(lambda: server.run(
                    "SELECT count(*) FROM pg_locks WHERE NOT granted", "half") == "1\n",
                    "the next run")
                copying.child.signal(signal.SIGKILL)
            copying.child.wait_exit()
        assert UNFINISHED in machine.ctl("subscriber", "list", wanted=69)
        assert UNFINISHED in stores.copy(url, stores.new_path(f"half{number}"), wanted=69)
        assert server.run("SELECT count(*) FROM subscriber", "half") == "0\n"
    assert read(stores.instance.store) == before
    server.run("ALTER TABLE subscription DROP CONSTRAINT wait", "half")
    stores.copy(stores.instance.store, url)
    machine.ctl("subscriber", "list")


def test_killed_to_sqlite(tap, stores, server):
    "so is a file"
    machine = Instance(tap.subdirectory("half-file"))
    with Holder(server, "BEGIN; LOCK TABLE subscription"):
        copying = Copying(stores, server, make_url(server), machine.store)
        copying.child.signal(signal.SIGKILL)
        copying.child.wait_exit()
    assert UNFINISHED in machine.ctl("subscriber", "list", wanted=69)
    stores.copy(make_url(server), machine.store)
    machine.ctl("subscriber", "list")


def test_full_disk(tap, stores):
    "when the disk is full, the file is not used as a store"
    machine = Instance(tap.subdirectory("full"))
    machine.ctl("subscriber", "list")
    limit = os.path.getsize(machine.store)

    def fill_disk():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = subprocess.run(
        [os.path.join(top_builddir(), "paperboyctl"), "-c", stores.instance.config, "--now",
         stores.instance.clock.now(), "store", "copy", stores.instance.store, machine.store],
        preexec_fn=fill_disk, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode and "full" in done.stderr, done
    assert UNFINISHED in machine.ctl("subscriber", "list", wanted=69)
    stores.copy(stores.instance.store, machine.store)
    check_copied(stores, machine.store)


# ---- servers ----------------------------------------------------------------


def test_password(tap, stores, server):
    "a password is that of the configuration for its URL, or as libpq finds it"
    path = os.path.join(server.data, "pg_hba.conf")
    rules = read_text(path)
    save(path, "local all locked scram-sha-256\n" + rules)
    server.run("CREATE ROLE locked LOGIN PASSWORD 'secret'; SELECT pg_reload_conf()",
               "postgres")
    directory = tap.subdirectory("password")
    files = {"plain": "secret\n", "pgpass": "*:*:*:locked:secret\n"}
    for name, text in files.items():
        files[name] = os.path.join(directory, name)
        with open(files[name], "w", encoding="ascii", opener=lambda path, flags: os.open(
                path, flags, 0o600)) as file:
            file.write(text)
    url = make_url(server, "locked", "locked")
    configured = Instance(tap.subdirectory("configured"), store__url=url,
                          store__password_file=files["plain"])
    for instance, target in ((configured, url),
                             (stores.instance, f"{url}&passfile={files['pgpass']}")):
        server.run("DROP DATABASE IF EXISTS locked", "postgres")
        server.run("CREATE DATABASE locked OWNER locked", "postgres")
        text = stores.copy(stores.instance.store, url, wanted=75)
        assert "no password supplied" in text, text
        there = instance.ctl("--json", "store", "copy", stores.instance.store, target)
        assert there == instance.ctl(
            "--json", "store", "copy", target, stores.new_path(f"back{len(target)}"))
    text = stores.copy(stores.instance.store, f"{url}&password=secret", wanted=65)
    assert "move it to a file" in text, text


def test_search(tap, stores, server):
    "a machine searches its own copy of the papers, which it makes again after damage"
    machine = Instance(tap.subdirectory("machine"), store__url=make_url(server))
    archive = os.path.join(machine.state, "archive.db")
    # Random numbers of changes are replaced by those that the triggers give, and random
    # titles by one with the words of the queries.
    server.run("DELETE FROM paper_change; DELETE FROM cursor WHERE name = 'paper changes';"
               " UPDATE paper SET title = 'Grüße, an example'")
    plain = Instance(tap.subdirectory("plain"))
    stores.copy(make_url(server), plain.store)
    queries = ("grüße", "example", "upvotes:>0")
    wanted = [plain.ctl("--json", "search", query) for query in queries]
    assert [machine.ctl("--json", "search", query) for query in queries] == wanted
    assert all(json.loads(text)["results"] for text in wanted), wanted
    save(archive, b"x" * 100000)
    os.chmod(archive, 0o600)
    assert [machine.ctl("--json", "search", query) for query in queries] == wanted
    server.run("UPDATE paper SET title = 'Zebras', revision = 99 WHERE seq = 1")
    assert '"Zebras"' in machine.ctl("--json", "search", "zebras")


def test_leases(tap, stores, server):
    "a store is not copied while an instance has a lease"
    server.run("INSERT INTO instance (name, program, started_at, expires_at) VALUES"
               " ('other:/state', '1', 1, extract(epoch FROM now()) + 1000)")
    text = stores.copy(make_url(server), stores.new_path("sixth"), wanted=75)
    assert "other:/state" in text, text


def test_schema(tap, stores, server):
    "a database of another program, encoding or a newer version is left alone"
    for name, options, sql, wanted in (
            ("other", "", "CREATE TABLE person (id int)", "table 'person'"),
            ("latin", "ENCODING 'LATIN1' TEMPLATE template0", "", "encoding LATIN1"),
            ("newer", "TEMPLATE paperboy", "INSERT INTO store_version VALUES (999, 1)",
             "store version 999")):
        server.run(f"CREATE DATABASE {name} {options}", "postgres")
        server.run(sql, name)
        before = server.run("SELECT count(*) FROM pg_class", name)
        text = stores.copy(
            stores.instance.store, make_url(server, name), wanted=(65, 69, 74, 78))
        assert wanted in text, text
        assert server.run("SELECT count(*) FROM pg_class", name) == before


def test_at_once(tap, stores, server):
    "of machines that create the schema at once, one does, and the others wait"
    server.run("CREATE DATABASE fresh", "postgres")
    children = []
    for number in range(3):
        target = Instance(tap.subdirectory(f"machine{number}"))
        target.ctl("subscriber", "list")
        children.append(subprocess.Popen(
            [os.path.join(top_builddir(), "paperboyctl"), "-c", target.config, "--now",
             target.clock.now(), "store", "copy", target.store,
             make_url(server, "fresh")], stdout=subprocess.DEVNULL))
    found = {child.wait(600) for child in children}
    assert found <= {0, 65, 75} and 0 in found, found
    assert server.run("SELECT count(*) FROM store_version", "fresh") == "1\n"


with Tap() as tap:
    stores = Stores(tap)
    for test in (test_to_sqlite, test_not_empty, test_nul, test_running, test_full_disk):
        tap.run(test, tap, stores)
    try:
        server = tap.enter(Server(tap.subdirectory("postgresql")))
    except Skip as reason:
        tap.skip("copies in PostgreSQL", reason)
    else:
        for test in (test_to_server, test_parts, test_killed_to_server,
                     test_killed_to_sqlite, test_password, test_search, test_leases,
                     test_schema, test_at_once):
            tap.run(test, tap, stores, server)
