#!/usr/bin/env python3
"""test_quote_strip.py - only the author's text of replies by many mail programs remains.

tests/messages/NAME.eml is a message in the shape that a mail program gives it, and
NAME.txt what its writer typed.
"""

import os

import lib  # the path
import parser_output
from tap import Tap, read, read_text, top_srcdir

DIRECTORY = os.path.join(top_srcdir(), "tests", "messages")
LEAST = 60


def main(tap):
    names = sorted(name[:-4] for name in os.listdir(DIRECTORY) if name.endswith(".eml"))
    tap.ok(len(names) >= LEAST, f"there are at least {LEAST} replies")
    for name in names:
        path = os.path.join(DIRECTORY, name)
        result = parser_output.run(read(path + ".eml"))
        wanted = read_text(path + ".txt")
        try:
            tap.equal(result.one("text"), wanted, name.replace("-", " "))
        except ValueError as wrong:
            tap.ok(False, name.replace("-", " "))
            tap.diag(f"{wrong}: status {result.code}, {result.output[:300]!r}")
    tap.diag(f"{len(names)} replies")


with Tap() as tap:
    main(tap)
