#!/usr/bin/env python3
"""test_rerun.py - transactions have the same results when they run a second time.

A database server rejects transactions that conflict, and store_transact() runs them
again.  With PAPERBOY_TEST_RERUN each one of these programs is rolled back once.
"""

import os
import re

import lib  # the path
from tap import IS_LONG, Tap, run, top_builddir

DEADLINE_S = 900  # for a busy machine

PROGRAMS = [
    "alerts", "checkup", "clock_watch", "collect", "confirmations",
    "digest_build", "erase", "filters", "handler", "import", "inbox_process",
    "mailer", "maintenance", "match", "profile", "proposals", "sharing", "sharing_mail",
    "subscribe", "token_bucket", "web_handler", "web_preferences",
]
if IS_LONG:
    PROGRAMS += ["bounce", "command"]


def runs_twice(name):
    environment = dict(os.environ, PAPERBOY_TEST_RERUN="1")
    environment.pop("PAPERBOY_LONG", None)
    path = os.path.join(top_builddir(), "tests", f"test_{name}")
    output = run([path, "--tap"], DEADLINE_S, env=environment)
    assert re.search("^ok 1 ", output, re.MULTILINE), output


with Tap() as tap:
    for name in PROGRAMS:
        runs_twice.__doc__ = f"test_{name}"
        tap.run(runs_twice, name)
