#!/usr/bin/env python3
"""test_engines.py - the store and what is built on it, on PostgreSQL.

test_engines.py [PROGRAM...]: C programs that `make check` runs with SQLite, by default
some of them, with PAPERBOY_LONG=1 all.  Their fixtures are databases of a server that this
starts, see tests/lib/store_server.h.  --list prints the names of all.
"""

import glob
import os
import re
import sys

import lib  # the path
from engines import has_libpq
from postgresql import SLOW_S, USER, Server
from tap import IS_LONG, Skip, Tap, read_text, run, skip_all, top_builddir, top_srcdir

# Programs that make check runs; check-long runs all.
SHORT = {
    "helper_postgresql", "helper_concurrent", "test_archive_cache", "test_store",
    "test_inbox_store", "test_instances", "test_send_limits", "test_one_click",
    "test_subscribe", "test_filters", "test_maintenance", "test_works",
}

# Tests that are of SQLite only.
FILE = "use the file of the store"
TRACE = "count or interrupt what SQLite does"
LOCAL = "are of a store that one machine uses"
TESTS = {
    "test_store": {FILE: ["new store is complete and private"]},
    "test_instances": {LOCAL: ["instance of a local store ends the others",
                               "local store does not record jobs"]},
    "test_erase": {FILE: ["file in use is vacuumed later",
                          "interrupted vacuum is repeated by maintenance"]},
    "test_lease": {LOCAL: ["lease on a local store has no end"]},
    "test_percolator": {TRACE: ["batch finds what each filter finds alone"]},
    "test_paper_cache": {TRACE: ["other commits load no papers",
                                 "it holds no more than its bound"]},
    "test_status": {TRACE: ["status does not slow down in a large store"]},
    "test_match": {TRACE: ["stop ends a run after a commit and the next continues"]},
    "test_lock": {FILE: ["a directory that cannot be is reported"]},
}

# Programs that are of SQLite only.
PROGRAMS = {
    "helper_enrich": "a tool of a script",
    "test_archive": "the index of papers is SQLite's, see test_archive_cache",
    "test_backup": "copies the file",
    "test_enumeration": "damages the file",
    "test_power_loss": "loses writes to the file",
    "test_query_plans": "SQLite's plans; see test_postgresql.py",
}

USES_STORE = re.compile(
    r"\bstore_open\(|#include \"lib/(?:store|mailer|web)_fixture\.h\"|"
    r"#include \"lib/conversation\.h\"")


def find_programs():
    """Programs with a store."""
    for path in sorted(glob.glob(os.path.join(top_srcdir(), "tests", "*.c"))):
        if USES_STORE.search(read_text(path)):
            yield os.path.basename(path).removesuffix(".c")


def lists_are_of_programs_and_tests_that_exist(programs):
    "lists are of programs and tests that exist"
    assert SHORT <= programs - PROGRAMS.keys(), SHORT - programs
    assert PROGRAMS.keys() <= programs, PROGRAMS.keys() - programs
    for program, reasons in TESTS.items():
        text = run([os.path.join(top_builddir(), "tests", program), "-l"])
        names = {f"/{test}" for tests in reasons.values() for test in tests}
        assert names <= set(text.splitlines()), names - set(text.splitlines())


def run_program(name, url):
    skips = [part for tests in TESTS.get(name, {}).values() for test in tests
             for part in ("-s", f"/{test}")]
    environment = {name: value for name, value in os.environ.items()
                   if name != "PAPERBOY_LONG"}
    text = run([os.path.join(top_builddir(), "tests", name), *skips], 3 * SLOW_S,
               env={**environment, "PAPERBOY_TEST_STORE": url})
    assert "\nok 1" in text and "\nnot ok" not in text, text


def main(names):
    programs = set(find_programs())
    if names == ["--list"]:
        print("\n".join(sorted(programs - PROGRAMS.keys())))
        return
    with Tap() as tap:
        if not has_libpq():
            skip_all("built without PostgreSQL")
        try:
            server = tap.enter(Server(tap.subdirectory("postgresql")))
        except Skip as reason:
            skip_all(reason)
        url = f"postgresql:///%s?host={server.directory}&user={USER}"
        for program in names or sorted(programs - PROGRAMS.keys() if IS_LONG else SHORT):
            def test(program=program):
                run_program(program, url)

            test.__doc__ = f"{program} on PostgreSQL"
            tap.run(test)
        tap.run(lists_are_of_programs_and_tests_that_exist, programs)


if __name__ == "__main__":
    main(sys.argv[1:])
