#!/usr/bin/env python3
"""test_engines.py - the store and what is built on it, on PostgreSQL.

Runs C programs that `make check` runs with SQLite.  Their fixtures are databases of a
server that this starts, see tests/lib/store_server.h.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

from engines import has_libpq
from postgresql import SLOW_S, USER, Server
from tap import Skip, Tap, run, skip_all, top_builddir

# Tests of each program that are of SQLite only: they use its file, its functions in
# their own SQL, or its interface.
PROGRAMS = {
    "helper_postgresql": (),
    "helper_concurrent": (),
    "test_archive_cache": ("a store searches its copy", "a damaged copy is made again",
                           "damage is noticed by the next copy"),
    "test_store": (
        "new store is complete and private", "schema rejects invalid states",
        "a failure anywhere leaves the store as it was",
        "failed digest is built in the next run"),
    "test_inbox_store": ("failing store leaves no partial change",),
    "test_outbox_mail": ("schema rejects invalid mail",),
    "test_instances": ("instance of a local store ends the others",
                       "restarted instance has ended only its own lease",
                       "fenced digest does not count as delivered",
                       "local store does not record jobs"),
    "test_send_limits": (),
    "test_one_click": (),
    "test_subscribe": (),
}


def run_program(name, sqlite_only, url):
    skips = [part for test in sqlite_only for part in ("-s", f"/{test}")]
    text = run([os.path.join(top_builddir(), "tests", name), *skips], SLOW_S,
               env={**os.environ, "PAPERBOY_TEST_STORE": url})
    assert "\nok 1" in text and "\nnot ok" not in text, text


if __name__ == "__main__":
    with Tap() as tap:
        if not has_libpq():
            skip_all("built without PostgreSQL")
        try:
            server = tap.enter(Server(tap.subdirectory("postgresql")))
        except Skip as reason:
            skip_all(reason)
        url = f"postgresql:///%s?host={server.directory}&user={USER}"
        for program, tests in PROGRAMS.items():
            def test(program=program, tests=tests):
                run_program(program, tests, url)

            test.__doc__ = f"{program} on PostgreSQL"
            tap.run(test)
