#!/usr/bin/env python3
"""test_postgresql.py - the schema and the statements of the store on PostgreSQL.

The schema and the statements are written for SQLite.  This keeps them common to both.
"""

import collections
import glob
import itertools
import json
import os
import random
import re
import sqlite3

import lib  # the path
from postgresql import NAME, Server, migrate, translate_statement
from postgresql_schema import (
    LOCAL, find_checks, load_schema, quote, translate, translate_migration,
    translate_schema,
)
from tap import Skip, Tap, read, top_builddir, top_srcdir


# ---- keys and columns -------------------------------------------------------

TYPES = {"INTEGER": "bigint", "TEXT": "text", "BLOB": "bytea"}


def describe_sqlite(store):
    """Lines about columns, keys, indexes, triggers and the number of checks."""
    lines = set()
    for table, sql in load_schema(store, "table").items():
        keys = {}
        for _, name, type_name, is_required, default, key in store.execute(
                f"PRAGMA table_info({table})"):
            required = "not null" if is_required or key else "null"
            lines.add(f"{table}.{name} {TYPES[type_name]} {required} {default or ''}")
            keys |= {key: name} if key else {}
        lines.add(f"{table} primary key {[keys[number] for number in sorted(keys)]}")
        for _, name, is_unique, origin, is_partial in store.execute(
                f"PRAGMA index_list({table})"):
            columns = [row[2] for row in store.execute(f"PRAGMA index_info({name})")]
            if LOCAL.match(name):
                continue
            if origin == "c":
                lines.add(f"{table} index {name} {columns} {bool(is_partial)}")
            elif origin == "u":
                lines.add(f"{table} unique {columns}")
        for row in store.execute(f"PRAGMA foreign_key_list({table})"):
            lines.add(f"{table} foreign key [{row[3]!r}] {row[2]} {row[6].lower()}")
        checks = [check for check in find_checks(sql) if "char(0)" not in check]
        lines.add(f"{table} {len(checks)} checks")
    for name, sql in load_schema(store, "trigger").items():
        table = re.search(r"\bON (\w+)", sql)[1]
        lines.add(f"{table} trigger {name}")
    return lines


DESCRIBE = r"""
SELECT format('%s.%s %s %s %s', c.relname, a.attname, format_type(a.atttypid, NULL),
	CASE WHEN a.attnotnull THEN 'not null' ELSE 'null' END,
	regexp_replace(pg_get_expr(d.adbin, d.adrelid), '::text$', ''))
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
UNION SELECT format('%s %s %s%s', k.conrelid::regclass,
	CASE k.contype WHEN 'p' THEN 'primary key' WHEN 'u' THEN 'unique' ELSE 'foreign key' END,
	(SELECT '[' || string_agg(quote_literal(a.attname), ', ' ORDER BY n) || ']'
	 FROM unnest(k.conkey) WITH ORDINALITY AS u (number, n)
	 JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.number),
	CASE WHEN k.contype = 'f' THEN ' ' || k.confrelid::regclass ||
	 CASE k.confdeltype WHEN 'c' THEN ' cascade' ELSE ' no action' END END)
FROM pg_constraint k WHERE k.contype IN ('p', 'u', 'f')
	AND k.connamespace = 'public'::regnamespace
UNION SELECT format('%s %s checks', c.relname, (SELECT count(*) FROM pg_constraint k
	WHERE k.conrelid = c.oid AND k.contype = 'c'))
FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
UNION SELECT format('%s index %s %s %s', i.indrelid::regclass, i.indexrelid::regclass,
	(SELECT '[' || string_agg(quote_literal(a.attname), ', ' ORDER BY n) || ']'
	 FROM unnest(i.indkey::int[]) WITH ORDINALITY AS u (number, n)
	 JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = u.number),
	CASE WHEN i.indpred IS NULL THEN 'False' ELSE 'True' END)
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE c.relnamespace = 'public'::regnamespace AND NOT i.indisunique
UNION SELECT format('%s trigger %s', t.tgrelid::regclass, t.tgname)
FROM pg_trigger t WHERE NOT t.tgisinternal;
"""


def compare_schema(tap, server, store, database):
    wanted = describe_sqlite(store)
    found = set(filter(None, server.run(DESCRIBE, database).split("\n")))
    for line in sorted(wanted ^ found):
        tap.diag(f"{'only in SQLite' if line in wanted else 'only in PostgreSQL'}: {line}")
    assert wanted == found


def test_same_schema(tap, server, store):
    "tables, columns, keys, indexes and triggers are the same as those of SQLite"
    compare_schema(tap, server, store, NAME)


MIGRATION = """
-- Each kind of change.
CREATE TABLE sample ( -- with a comment
	id   INTEGER PRIMARY KEY AUTOINCREMENT,
	name TEXT NOT NULL UNIQUE CHECK (name GLOB '[a-z]*'),
	data BLOB
) STRICT;
CREATE INDEX sample_data ON sample (data) WHERE data IS NOT NULL;
CREATE TRIGGER sample_is_logged AFTER INSERT ON sample
WHEN NEW.name = 'x'
BEGIN
	INSERT INTO cursor (name, value) VALUES ('sample; x', 1)
	ON CONFLICT (name) DO UPDATE SET value = value + 1;
END;
ALTER TABLE subscriber ADD COLUMN sample TEXT NOT NULL DEFAULT 'off' CHECK (sample <> '');
ALTER TABLE rate_log RENAME COLUMN kind TO sort;
DROP TRIGGER share_ends;
DROP INDEX follow_news;
DROP TABLE share_change;
CREATE INDEX paper_value_more ON paper (seq, comment);
UPDATE subscriber SET sample = 'on' WHERE id > 7;
"""


def test_migration(tap, server, _):
    "a migration makes the same changes as in SQLite"
    store = migrate()
    server.run("CREATE DATABASE migrated", "postgres")
    server.run(translate_schema(store), "migrated")
    store.executescript(MIGRATION)
    server.run(translate_migration(MIGRATION), "migrated")
    compare_schema(tap, server, store, "migrated")


# ---- checks -----------------------------------------------------------------

TEXTS = [
    None, "", "a", "z9-", "A", "de", "d", "x y", "a\nb", "a\x01b", "a\x1fb", "a\x7fb",
    "a@b.c", "@b.c", "a@bc", "a@b.", "ü@b.c", "a <@b.c", "a@b.c\t", "a" * 251 + "@b.c",
    "ü" * 126 + "@b.c", "a" * 64, "a" * 63, "a" * 128, "1,2", ",1", "0,1", "2026-11-20",
    "2026-11-2", "x2026-11-20", "http://a", "https://", "ftp://a", "httpx", "digest-7",
    "digest-0", "mail-12", "mail-", "complaint",
]
NUMBERS = [None, -1, 0, 1, 2, 3, 4, 5, 126, 127, 128, 200, 201, 1439, 1440, 9999, 10000]
BLOBS = [None, b"", b"a", b"\x00", b"a" * 262144, b"a" * 262145]
COMBINATIONS = 300


def make_samples(check, columns):
    """Rows of values for the columns of an expression."""
    texts = TEXTS + re.findall(r"'([^'*?\[]*)'", check)
    blobs = BLOBS if "length" in check else BLOBS[:3]
    values = {"TEXT": texts, "INTEGER": NUMBERS, "BLOB": blobs}
    rows = list(itertools.product(*(values[kind] for _, kind in columns)))
    random.Random(1).shuffle(rows)
    return rows[:COMBINATIONS]


def check_sqlite(store, check, columns, rows):
    names = ", ".join(f"?{number} AS {name}"
                      for number, (name, _) in enumerate(columns, 1))
    results = {None: "?", 0: "f", 1: "t"}
    return "".join(results[store.execute(
        f"SELECT {check} FROM (SELECT {names})", row).fetchone()[0]] for row in rows)


def format_check(check, columns, rows):
    """A statement that returns the results of a check for rows in PostgreSQL."""
    names = [name for name, _ in columns]
    typed = ", ".join(f"CAST({name} AS {TYPES[kind]}) AS {name}" for name, kind in columns)
    values = ", ".join(f"({number}, {', '.join(map(quote, row))})"
                       for number, row in enumerate(rows))
    return (f"SELECT string_agg(CASE WHEN ({translate(check)}) THEN 't' WHEN"
            f" ({translate(check)}) IS NULL THEN '?' ELSE 'f' END, '' ORDER BY row_number)"
            f" FROM (SELECT row_number, {typed} FROM (VALUES {values})"
            f" AS v (row_number, {', '.join(names)})) AS t")


def test_same_checks(tap, server, store):
    "a CHECK accepts and rejects the same values as in SQLite"
    cases = []
    for table, sql in load_schema(store, "table").items():
        kinds = {row[1]: row[2] for row in store.execute(f"PRAGMA table_info({table})")}
        for check in find_checks(sql):
            words = set(re.findall(r"\w+", re.sub(r"'[^']*'", "", check)))
            columns = [(name, kinds[name]) for name in kinds if name in words]
            if "char(0)" not in check:
                cases.append((table, check, columns, make_samples(check, columns)))
    found = server.run_each(format_check(*case[1:]) for case in cases)
    are_same = True
    for (table, check, columns, rows), results in zip(cases, found):
        wanted = check_sqlite(store, check, columns, rows)
        if results != [wanted]:
            are_same = False
            tap.diag(f"{table}: {check}: {results[0][:200]}")
            tap.diag([row for row, one, other in zip(rows, wanted, results[0])
                      if one != other][:5])
    assert are_same and len(cases) > 100


# ---- triggers ---------------------------------------------------------------

PAPER = ("INSERT INTO paper (seq, id, title, abstract, authors, url, fetched_at,"
         " first_seen_at, last_day, revision) VALUES ({0}, 'p{0}', 't', '', '',"
         " 'http://p', 1, 1, '2026-11-20', {0})")
PERSON = ("INSERT INTO subscriber (id, address, address_key, state, frequency, weekdays,"
          " minute, zone, max_full, created_at, consent_at, consent_text) VALUES"
          " ({0}, 'a{0}@b.c', 'a{0}@b.c', '{1}', 'daily', 1, 0, 'UTC', 1, 1, 1, 'x')")
DIGEST = ("INSERT INTO digest (id, subscriber_id, slot, date, message_token, created_at,"
          " state, papers, newest_day, contents) VALUES ({0}, {0}, 's', 'd',"
          " '12345678901234567', 1, 'live', 0, 'd', {1})")
FILTER = ("INSERT INTO filter (id, canonical, hash, created_at) VALUES ({0}, 'f{0}',"
          " '" + "{0}" * 64 + "', 1)")
OWN = ("INSERT INTO subscription (id, subscriber_id, number, filter_id, text, since_day,"
       " created_at) VALUES ({0}, {0}, 1, 1, 'f', 'd', 1)")
MATCH = "INSERT INTO match (filter_id, decided_at, papers) VALUES ({}, 1, '{}')"
MAIL = ("INSERT INTO outbox (id, kind, recipient, address_key, sender, message, state,"
        " queued_at, next_try_at) VALUES ({}, 'answer', 'a@b.c', 'a@b.c', '', {},"
        " 'NEW', 1, 1)")
BLOB = "x'78'"

# Statements, and the message of the error that is expected.
STEPS = [
    *((PAPER.format(number), "") for number in (1, 2, 3)),
    ("UPDATE paper SET upvotes = 3 WHERE seq < 3", ""),
    ("DELETE FROM paper WHERE seq = 3", "only a merged paper is deleted"),
    ("INSERT INTO paper_moved (old_seq, new_seq) VALUES (3, 1)", ""),
    ("DELETE FROM paper WHERE seq = 3", ""),
    (PERSON.format(1, "active"), ""),
    (PERSON.format(2, "pending"), ""),
    (PERSON.format(3, "active"), ""),
    ("UPDATE subscriber SET is_next_held = 1 WHERE id <> 2", ""),
    ("UPDATE subscriber SET state = 'gone' WHERE id = 3", ""),
    ("DELETE FROM subscriber WHERE id = 3", ""),
    *((FILTER.format(number), "") for number in (1, 2)),
    (MATCH.format(1, "1,2"), ""),
    (MATCH.format(2, "1"), ""),
    ("UPDATE match SET papers = '1,2,3' WHERE filter_id = 1", ""),
    ("UPDATE match SET papers = '3' WHERE filter_id = 1", "a match that was decided stays"),
    ("INSERT INTO paper_duplicate (one_seq, other_seq) VALUES (1, 2)", ""),
    ("INSERT INTO paper_link (paper_seq, name, is_same) VALUES (1, 'doi:10.1/x', 1)", ""),
    ("UPDATE match SET papers = '1,3' WHERE filter_id = 1", ""),
    ("INSERT INTO match_pending (filter_id, paper_seq, decided_at, due_at)"
     " VALUES (2, 1, 1, 1)", ""),
    ("DELETE FROM filter WHERE id = 2", ""),
    (DIGEST.format(2, BLOB), "a digest is only for a subscriber who is active"),
    (DIGEST.format(1, BLOB), ""),
    ("UPDATE digest SET slot = 't' WHERE id = 1", "a digest is frozen"),
    ("UPDATE digest SET state = 'failed' WHERE id = 1", ""),
    ("UPDATE digest SET state = 'live' WHERE id = 1",
     "a digest that has ended stays as it is"),
    *((MAIL.format(number, BLOB), "") for number in (1, 2, 3)),
    ("UPDATE outbox SET message = x'79' WHERE id = 1", "the content of a message is frozen"),
    ("UPDATE outbox SET state = 'SENT', ended_at = 1, message = NULL, next_try_at = NULL,"
     " claimed_at = 1 WHERE id = 1", "only a claimed message can be sent"),
    ("UPDATE outbox SET state = 'SENDING', attempt = 1, claimed_at = 1,"
     " next_try_at = NULL WHERE id < 3", ""),
    ("UPDATE outbox SET state = 'SENT', ended_at = 1, message = NULL WHERE id = 1", ""),
    ("UPDATE outbox SET state = 'FAILED', ended_at = 1, message = NULL WHERE id = 2", ""),
    ("UPDATE outbox SET ended_at = 2 WHERE id = 1", "a message that has ended stays as it is"),
    ("UPDATE outbox SET state = 'HELD', held_why = 'operator', held_from = 'NEW',"
     " next_try_at = NULL WHERE id = 3", ""),
    (OWN.format(1), ""),
    (OWN.format(2), ""),
    ("INSERT INTO share (id, name, subscription_id, version, created_at)"
     " VALUES (1, 'n', 1, 1, 1)", ""),
    ("INSERT INTO follow (subscription_id, subscriber_id, share_id, version, is_fork)"
     " VALUES (2, 2, 1, 1, 0)", ""),
    ("DELETE FROM subscription WHERE id = 1", ""),
    ("INSERT INTO inbox (id, key, receiver, received_at, size, state, ended_at) VALUES"
     " (1, '" + "k" * 64 + "', 'lmtp', 1, 1, 'done', 1)", ""),
    ("UPDATE inbox SET state = 'quarantined', raw = x'78' WHERE id = 1",
     "an inbound message that was handled stays done"),
]
RESULTS = [
    "SELECT name, value FROM cursor ORDER BY name",
    "SELECT kind, filter_id FROM filter_term ORDER BY filter_id",
    "SELECT filter_id, papers FROM match ORDER BY filter_id",
    "SELECT subscription_id, coalesce(share_id, 0), news FROM follow",
    "SELECT count(*), coalesce(max(id), 0) FROM share",
]


def run_sqlite(store, sql):
    """@return the message of an error, or rows as text"""
    try:
        return ["|".join("" if cell is None else str(cell) for cell in row)
                for row in store.execute(sql)]
    except sqlite3.Error as error:
        return [f"ERROR:  {error}"]


def test_same_triggers(tap, server, store):
    "triggers count, reject and cascade as in SQLite"
    statements = [sql for sql, _ in STEPS] + RESULTS
    found = server.run_each(
        re.sub(r"\bx'(\d\d)'", r"'\\x\1'", sql) for sql in statements)
    store.execute("PRAGMA foreign_keys = ON")
    for sql, lines, message in itertools.zip_longest(
            statements, found, [message for _, message in STEPS]):
        lines = [re.sub(r"^psql:[^ ]* ", "", line) for line in lines
                 if line and not line.startswith("CONTEXT")]
        wanted = run_sqlite(store, sql)
        assert lines == wanted, f"{sql}: {lines}, SQLite: {wanted}"
        if message is not None:
            assert wanted == ([f"ERROR:  {message}"] if message else []), wanted


# ---- statements -------------------------------------------------------------

# Objects with statements of one engine and for the index of the archive.
FILES = ("archive", "backup", "carry_over", "migrate", "postgresql",
         "postgresql_module", "sqlite", "store_copy", "tokenizer")

# Row values of a statement for the local archive.
LOCAL_PART = b" IS NOT ("

VERBS = rb"(?:SELECT|INSERT|UPDATE|DELETE|WITH) "
TEXT = rb"[\t\n\x20-\xf7]"


def load_statements():
    """Statements in the objects of src/store."""
    found = set()
    for source in glob.glob(os.path.join(top_srcdir(), "src", "store", "**", "*.c"),
                            recursive=True):
        path = os.path.relpath(source, top_srcdir())[:-2] + ".o"
        if os.path.basename(source)[:-2] in FILES:
            continue
        data = read(os.path.join(top_builddir(), path))
        found |= {match[0].decode() for match in re.finditer(
            rb"(?<!" + TEXT + rb")" + VERBS + TEXT + rb"*(?=\0)", data)
            if LOCAL_PART not in match[0]}
    return sorted(found)


def prepare(server, statements):
    """Prepare statements with types of parameters.  @return errors by statement

    The driver knows that a number is a bigint.  The others may be inferred.
    """
    types = {sql: dict.fromkeys(
        map(int, re.findall(r"_(?:id|seq) = \?(\d+)", sql)), "bigint")
        for sql in statements}
    errors, rest = {}, list(statements)
    while rest:
        lines = server.run_each(
            f"PREPARE s{number} ({', '.join(declare(sql, types[sql]))}) AS"
            f" {translate_statement(sql)};\nSELECT parameter_types FROM"
            f" pg_prepared_statements WHERE name = 's{number}'".replace(" ()", "")
            for number, sql in enumerate(rest))
        again = []
        for sql, result in zip(rest, lines):
            unknown = re.search(r"determine data type of parameter \$(\d+)", result[0])
            if unknown and int(unknown[1]) not in types[sql]:
                types[sql][int(unknown[1])] = "text"
                again.append(sql)
            elif "ERROR" in result[0]:
                errors[sql] = re.sub(r".*(ERROR: )", r"\1", result[0])
            else:
                numbers = {at: "bigint" for at, name in enumerate(
                    result[0].strip("{}").split(","), 1)
                    if name in ("integer", "boolean", "numeric")}
                if numbers:
                    types[sql] |= numbers
                    again.append(sql)
        rest = again
    return errors


def declare(sql, types):
    count = max(map(int, re.findall(r"\?(\d+)", sql)), default=0)
    return [types.get(at, "unknown") for at in range(1, count + 1)] if types else []


def test_statements(tap, server, _):
    "PostgreSQL prepares all statements"
    statements = load_statements()
    errors = prepare(server, statements)
    assert not errors, "\n".join(f"{error}: {sql}" for sql, error in errors.items())
    assert len(statements) > 400


# ---- results ----------------------------------------------------------------

NOW = 1795176000
DAYS = [f"2026-11-{day}" for day in range(17, 24)]
NAMES = ["a", "B", "b", "Z", "\u00e4", "", "a@b.c", "A@B.C", "c@d.e", "x%_y", "1,2", "on",
         "2611.00001", "2611.0000x", "hep-ex/0307015", "hep-ex/", "arxiv/cs.CL", "arxiv",
         "generation", "matched", "paper changes", "NEW", "digest-3", "mail-2"]
ROWS = 60
RUNS = 10


def get_pool(table, name, kind, checks):
    """Values of a column, few enough for joins to find rows."""
    if (table, name) == ("match", "papers"):
        return ["1", "2,3", "4,1,5", "11,2"]
    if kind == "BLOB":
        return [b"\x01", b"a@b.c", b"x"]
    if kind == "TEXT":
        words = [word for check in checks if re.search(rf"\b{name}\b", check)
                 for word in re.findall(r"'([\w-]+)'", check)]
        return words or (DAYS if re.search(r"day|date|until$", name) else NAMES)
    if name.startswith("is_") or name == "news":
        return [0, 1]
    if re.search(r"(^|_)at$|since|until", name):
        return [NOW - 100 * 86400, NOW - 86400, NOW - 3600, NOW, NOW + 1, NOW + 86400]
    return list(range(13))


def fill(store, rng):
    """Random rows, the same on each run.  @return values by the name of a column"""
    values = collections.defaultdict(set)
    for table, sql in load_schema(store, "table").items():
        checks = find_checks(sql)
        columns = [(row[1], get_pool(table, row[1], row[2], checks),
                    not row[3] and not row[5])
                   for row in store.execute(f"PRAGMA table_info({table})")]
        marks = ", ".join("?" * len(columns))
        for _ in range(ROWS):
            row = [None if is_optional and rng.random() < 0.3 else rng.choice(pool)
                   for _, pool, is_optional in columns]
            store.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", row)
        for name, pool, _ in columns:
            values[name] |= set(pool)
    return {name: sorted(pool, key=repr) for name, pool in values.items()}


def literal(value, kind):
    text = quote(value) if isinstance(value, (bytes, str)) or value is None else str(value)
    return f"CAST({text} AS {kind})"


def choose(sql, kinds, values, rng):
    """A value for each parameter, mostly of the column with which it is compared."""
    chosen = []
    for at, kind in enumerate(kinds, 1):
        names = re.findall(rf"(\w+) (?:=|<>|<=?|>=?|IN \() *\?{at}\b", sql)
        pool = [value for name in names for value in values.get(name, ())]
        types = {"bigint": int, "bytea": bytes}
        pool = [value for value in pool if isinstance(value, types.get(kind, str))]
        if not pool:
            pool = {"bigint": [0, 1, 2, 3, 5, 12, 50, NOW, NOW - 86400],
                    "bytea": [b"x"]}.get(kind, NAMES + DAYS)
        chosen.append(rng.choice(pool))
    return chosen


def find_kinds(server, statements):
    """Types of parameters as the driver gives them."""
    lines = server.run_each(
        f"PREPARE s{number} AS {translate_statement(sql)};\nSELECT parameter_types"
        f" FROM pg_prepared_statements WHERE name = 's{number}'"
        for number, sql in enumerate(statements))
    kinds = {}
    for sql, result in zip(statements, lines):
        count = max(map(int, re.findall(r"\$(\d+)", translate_statement(sql))), default=0)
        known = result[0].strip("{}").split(",") if result[0].startswith("{") else []
        kinds[sql] = [
            "bigint" if name in ("integer", "boolean", "numeric", "bigint") else
            "bytea" if name == "bytea" else "text"
            for name in known] if len(known) == count else [
                "text" if f"?{number} IS NULL" in sql else "bigint"
                for number in range(1, count + 1)]
    return kinds


def plain(value):
    if isinstance(value, bytes):
        return f"\\x{value.hex()}"
    return int(value) if isinstance(value, bool) else value


def insert_literals(sql, row, kinds):
    return re.sub(r"\$(\d+)", lambda m: literal(row[int(m[1]) - 1], kinds[int(m[1]) - 1]),
                  translate_statement(sql))


def copy_rows(store, server):
    """Make the rows in PostgreSQL, without checks and triggers."""
    made = ["SET session_replication_role = replica;"]
    for table in load_schema(store, "table"):
        for check in server.run(
                "SELECT conname FROM pg_constraint WHERE contype = 'c'"
                f" AND conrelid = '{table}'::regclass").split():
            made.append(f"ALTER TABLE {table} DROP CONSTRAINT {check};")
        made.append(f"DELETE FROM {table};")
        for row in store.execute(f"SELECT * FROM {table}"):
            cells = ", ".join(quote(value) if value is not None else "NULL" for value in row)
            made.append(f"INSERT INTO {table} VALUES ({cells});")
    server.run("\n".join(made))


def test_same_results(tap, server, store):
    "PostgreSQL selects the same rows"
    store = migrate()
    store.execute("PRAGMA ignore_check_constraints = ON")
    for name in load_schema(store, "trigger"):
        store.execute(f"DROP TRIGGER {name}")
    values = fill(store, random.Random(1))
    copy_rows(store, server)
    statements = [sql for sql in load_statements()
                  if re.match(r"SELECT|WITH(?!.*\b(?:UPDATE|INSERT) )", sql, re.DOTALL)]
    kinds = find_kinds(server, statements)
    cases = []
    for sql in statements:
        own = random.Random(sql)  # other statements do not change its values
        for _ in range(RUNS if kinds[sql] else 1):
            cases.append((sql, choose(sql, kinds[sql], values, own)))
    found = server.run_each(
        "SELECT coalesce(json_agg(row_to_json(q)), '[]') FROM"
        f" ({insert_literals(sql, row, kinds[sql])}) AS q" for sql, row in cases)
    wrong, with_rows = {}, set()
    for (sql, row), lines in zip(cases, found):
        if "division by zero" in lines[0]:
            continue
        try:
            wanted = [[plain(cell) for cell in cells] for cells in store.execute(sql, row)]
        except sqlite3.Error as error:
            if re.search("syntax|no such function|no such table: pg_", str(error)):
                continue  # of PostgreSQL only
            wanted = [str(error)]
        text = "\n".join(lines)
        rows = [text] if "ERROR" in text else [
            [plain(cell) for cell in cells] for cells in json.loads(
                text, object_pairs_hook=lambda pairs: [value for _, value in pairs])]
        if not re.search(r"\bORDER BY\b", sql):
            wanted, rows = sorted(wanted, key=repr), sorted(rows, key=repr)
            if " LIMIT ?" in sql and len(wanted) == len(rows):
                continue  # any of them
        if rows and any(cell not in (None, 0) for cell in rows[0]):
            with_rows.add(sql)
        if wanted != rows:
            wrong[sql] = (row, wanted[:4], rows[:4])
    tap.diag(f"{len(statements)} statements, {len(with_rows)} found something")
    for sql, (row, wanted, rows) in wrong.items():
        tap.diag(f"{sql}\n  {row}\n  SQLite:     {wanted}\n  PostgreSQL: {rows}")
    assert not wrong
    assert len(with_rows) > len(statements) / 2


with Tap() as tap:
    store = migrate()
    try:
        server = tap.enter(Server(tap.subdirectory("postgresql")))
    except Skip as reason:
        tap.skip("the schema and the statements on a server", reason)
    else:
        server.run(translate_schema(store))
        for test in (test_same_schema, test_migration, test_same_checks, test_same_triggers,
                     test_statements, test_same_results):
            tap.run(test, tap, server, store)
