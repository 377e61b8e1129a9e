#!/usr/bin/env python3
"""test_stability.py - what doc/stability.md promises is as in tests/golden/stability.

The file has a line for each name that others rely on: settings, commands, members of JSON,
metrics, events, variables of templates, exit statuses, installed paths.  A new name is a new
line (GOLDEN_WRITE=1 writes the file); a line that is removed or changed breaks the promise.
"""

import glob
import json
import os
import re

import lib  # the path
from daemon import Instance
from tap import Tap, read_text, run, top_builddir, top_srcdir

GOLDEN = os.path.join(top_srcdir(), "tests", "golden", "stability")
DAY = "2026-11-20"
NOW = f"{DAY}T18:00:00Z"
EVA = "eva@example.org"
READING = (
    ["config"], ["status"], ["subscriber", "list"], ["subscriber", "show", EVA],
    ["filter", "list", EVA], ["filter", "test", "agents"], ["filter", "explain", "agents"],
    ["search", "agents"], ["source", "list"], ["queue", "list"], ["digest", "list"],
    ["inbox", "list"], ["bounce", "list"], ["suppression", "list"], ["share", "list"])


def read(*names):
    return read_text(os.path.join(top_srcdir(), *names))


def list_members(value, path=""):
    """The members of JSON, each with the type of its value; rows of a list are one."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield from list_members(member, f"{path}.{name}")
    elif isinstance(value, list):
        for row in value:
            yield from list_members(row, f"{path}[]")
    elif value is not None:
        yield f"{path} {type(value).__name__}"


def list_json(instance):
    backup = os.path.join(instance.directory, "backup")
    instance.ctl("backup", backup, now=NOW)
    for command in (*READING, ["upgrade", "--dry-run", backup]):
        text = instance.ctl("--json", *command, now=NOW, wanted=(0, 1, 2))
        rows = json.loads(text)
        if command == ["config"]:
            yield from (f"setting {row['name']}" for row in rows)
        yield from (f"json {' '.join(command[:2])} {line.strip()}"
                    for line in list_members(rows))


def list_commands():
    helped = run([os.path.join(top_builddir(), "paperboyctl"), "--help"])
    for usage in re.findall(r"^  paperboyctl (.*)", helped, re.M):
        yield f"paperboyctl {usage}"
    table = re.search(r"command_rows\[\] = \{(.*?)^\};",
                      read("src", "service", "command", "command_table.c"), re.S | re.M)[1]
    for verb, others in re.findall(r'^    \{"([a-z]+)", "([^"]*)"', table, re.M):
        yield f"verb {verb} {others}".rstrip()


def list_events():
    for name, id128 in re.findall(r'X\(([A-Z_]+), [A-Z]+, "([0-9a-f]{32})"',
                                  read("src", "service", "log", "event.h")):
        yield f"event {name.lower().replace('_', '-')} {id128}"


def list_variables():
    for path, array in (("render/entry.c", "entry_names"), ("render/page.c", "page_names"),
                        ("render/renderer.c", "reply_names"), ("web/web_page.c", "value_names")):
        names = re.search(rf"{array}\[\] = \{{(.*?)\}};", read("src", *path.split("/")), re.S)[1]
        for name in re.findall(r'"(\w+)"', names):
            yield f"variable {array[:-len('_names')]} {name}"


def list_statuses():
    for page in ("paperboyd.8", "paperboyctl.8", "paperboy-web.8"):
        text = read("man", f"{page}.in")
        part = re.search(r"^\.Sh EXIT STATUS\n(.*?)^\.Sh ", text, re.S | re.M)
        for status in re.findall(r"^\.It (\d+)$", part[1] if part else "", re.M):
            yield f"status {page[:-2]} {status}"


def list_paths(directory):
    run(["make", "-s", "-C", top_builddir(), f"DESTDIR={directory}", "install"], 300)
    for path in glob.glob(f"{directory}/**/*", recursive=True, include_hidden=True):
        if os.path.isfile(path) and "/share/doc/" not in path:
            yield "path " + re.sub(r".*/(?=(bin|sbin|etc|lib|libexec|share|var)/)", "",
                                   path[len(directory):], count=1)


def nothing_is_lost(tap):
    """every name of the golden file is still there, and new ones are in it"""
    instance = Instance(tap.subdirectory("one"), maildir=tap.subdirectory("Maildir"))
    instance.write_day(DAY, range(3))
    instance.add_person(EVA, now=NOW)
    instance.once(NOW, wanted=0)
    metrics = instance.ctl("metrics", now=NOW, wanted=(0, 1, 2))
    lines = {f"metric {name} {kind}"
             for name, kind in re.findall(r"^# TYPE (\w+) (\w+)", metrics, re.M)}
    lines |= {f"label {name} {label}"
              for name, labels in re.findall(r"^(\w+)\{(.*?)\} ", metrics, re.M)
              for label in re.findall(r'(\w+)="', labels)}
    for some in (list_json(instance), list_commands(), list_events(), list_variables(),
                 list_statuses(), list_paths(tap.subdirectory("root"))):
        lines |= set(some)
    if os.environ.get("GOLDEN_WRITE"):
        with open(GOLDEN, "w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in sorted(lines))
    promised = set(read("tests", "golden", "stability").splitlines())
    assert not promised - lines, f"removed or changed: {sorted(promised - lines)}"
    assert not lines - promised, f"not in tests/golden/stability: {sorted(lines - promised)}"


with Tap() as t:
    t.run(nothing_is_lost, t)
