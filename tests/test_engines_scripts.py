#!/usr/bin/env python3
"""test_engines_scripts.py - script tests with stores on PostgreSQL.

test_engines_scripts.py [SCRIPT...]: by default some of those that `make check` runs with
files, with PAPERBOY_LONG=1 all but those of tests/lib/engines.py, which --list prints.
"""

import os
import re
import sys

import lib  # the path
import engines
from postgresql import USER, Server
from stores import VARIABLE
from tap import IS_LONG, Skip, Tap, run, top_srcdir

SCRIPT_S = 3600  # on a busy machine
SHORT = ("test_ctl_bounce", "test_daemon", "test_feedback_mail", "test_metrics",
         "test_web_daemon")


def run_script(server, name):
    environment = {**os.environ, "PAPERBOY_LONG": "",
                   VARIABLE: f"postgresql:///%s?host={server.directory}&user={USER}"}
    text = run([sys.executable, "-B", os.path.join(top_srcdir(), "tests", f"{name}.py")],
               SCRIPT_S, env=environment)
    if reason := re.search(r"^1\.\.0 # SKIP (.*)", text):
        raise Skip(reason[1])
    databases = server.run("SELECT datname FROM pg_database WHERE datname LIKE 'test%'").split()
    assert databases, "it uses no store: list it in tests/lib/engines.py"
    for database in databases:
        server.run(f"DROP DATABASE {database} WITH (FORCE)")


def table_is_right():
    """each script that uses a store runs on both engines, or is listed with a reason"""
    names = set(engines.scripts())
    assert len(names) > len(SHORT), names
    for name, reason in engines.SQLITE_ONLY.items():
        assert name in names, name
        assert reason != engines.NO_STORE or not engines.makes_stores(name), name
        for function in reason if isinstance(reason, dict) else ():
            assert re.search(rf"\bdef {function}\b", engines.load_text(f"{name}.py")), function
    unlisted = [name for name in names - set(engines.SQLITE_ONLY)
                if engines.runs_program(name) and "stores" not in engines.find_modules(name)]
    assert not unlisted, f"use tests/lib/stores.py, or list them: {unlisted}"


def run_all(tap, names):
    if not engines.has_libpq():
        raise Skip("built without PostgreSQL")
    server = tap.enter(Server(tap.subdirectory("postgresql")))
    for name in names:
        def test(name=name):
            run_script(server, name)

        test.__doc__ = f"{name} on PostgreSQL"
        tap.run(test)


def main(names):
    if names == ["--list"]:
        print("\n".join(engines.portable()))
        return
    with Tap() as tap:
        tap.run(table_is_right)
        try:
            run_all(tap, names or (engines.portable() if IS_LONG else SHORT))
        except Skip as reason:
            tap.skip("scripts on PostgreSQL", reason)


if __name__ == "__main__":
    main(sys.argv[1:])
