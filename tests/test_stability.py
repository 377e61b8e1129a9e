#!/usr/bin/env python3
"""test_stability.py - what doc/stability.md promises is as in tests/golden/stability.

The file has a line for each name that others rely on: settings with their defaults, commands
with options and words, members of JSON with their types, metrics with their labels, events,
variables of templates, exit statuses, paths.  A new name is a new line (GOLDEN_WRITE=1 writes
the file); a line that is removed or changed breaks the promise.
"""

import glob
import json
import os
import re

import lib  # the path
from daemon import at_hour
from filled import ADA, BOB, NEXT, make_filled
from tap import Tap, read_text, run, save, top_builddir, top_srcdir

GOLDEN = os.path.join(top_srcdir(), "tests", "golden", "stability")
NOW = at_hour(NEXT, 12)
# Commands with JSON that need no other configuration; DIRECTORY is the instance's.
WITH_JSON = f"""
status, config, source list, source try huggingface url=file://DIRECTORY/papers
subscriber list, subscriber show {ADA}, filter list {ADA}, filter test zebra, filter test paper
filter explain paper, filter explain made 2611.00001, filter suggest number
search paper, why {ADA} 2611.00001, work show 2611.00001, share list, provider list
digest list, digest show last, preview {ADA}, queue list --all, queue show 1
inbox list --state quarantined, inbox show 1, inbox try DIRECTORY/mail
bounce list, bounce show {ADA}, bounce explain DIRECTORY/mail
suppression list, confirmation list, log, generation, doctor --all, check --wait 0
backup DIRECTORY/backup --yes, backup DIRECTORY/backup --verify
upgrade --dry-run DIRECTORY/backup, status
subscriber add new@example.org --consent yes --filter x, subscriber set {ADA} --max 5
subscriber import DIRECTORY/table --consent yes, subscriber known {ADA} DIRECTORY/bib
subscriber pause {BOB}, subscriber resume {BOB}
filter add {ADA} agents, filter edit {ADA} 1 graph, filter move {ADA} 1 2
filter rename {ADA} 1 name, filter remove {ADA} 1 --yes, share remove news --yes
work join 2611.00001 2611.00002, source fetch, source replay hf {NEXT}
queue hold all, queue release all --yes, queue retry all, queue drop all --yes
delivery pause, delivery resume, inbox retry all, inbox drop all --yes
bounce forget {ADA}, suppression add w@example.org --yes, suppression remove w@example.org --yes
suppression import DIRECTORY/table --yes, invite q@example.org
subscriber remove {BOB} --yes, subscriber forget {BOB} --yes
key restore DIRECTORY/backup, key rotate --yes, restore DIRECTORY/backup --yes
store copy DIRECTORY/state/paperboy.db DIRECTORY/state/copy.db
"""


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
    else:
        yield path, "" if value is None else type(value).__name__


def list_json(instance):
    """Lines of the members of all JSON; of one that is always null without a type."""
    for name, text in (("mail", f"From: {ADA}\n\nonly on fridays\nlist\n"),
                       ("table", "table@example.org\n"),
                       ("bib", "@article{a, title = {Graphs}, doi = {10.1000/182}}\n")):
        save(os.path.join(instance.directory, name), text)
    for line in re.split(", |\n", WITH_JSON.strip()):
        words = line.replace("DIRECTORY", instance.directory).split()
        text = instance.ctl("--json", *words, now=NOW, wanted=(0, 1, 2, 65))
        assert text.startswith(("{", "[")), (line, text)
        rows = json.loads(text)
        if words == ["config"]:
            # Of paths the default depends on configure.
            yield from (f"setting {row['name']} {re.sub('^/(?!run/).*', '', row['default'])}"
                        .rstrip() for row in rows)
        members = set(list_members(rows))
        command = " ".join(words[:2 if len(words) > 1 and words[1].isalpha() else 1])
        for path, kind in members:
            if kind or not any(other == path and one for other, one in members):
                yield f"json {command} {path} {kind}".rstrip()


def help_of(*words):
    return run([os.path.join(top_builddir(), words[0]), *words[1:], "--help"])


def list_commands():
    commands = [("paperboyd",), ("paperboy-web",), ("paperboyctl",)]
    for usage in re.findall(r"^  paperboyctl (.*)", help_of("paperboyctl"), re.M):
        yield f"paperboyctl {usage}"
        commands.append(("paperboyctl", *re.match(r"[a-z]+( [a-z]+)?", usage)[0].split()))
    for words in commands:
        for option in re.findall(r"^  (?:-., )?(--[a-z-]+)", help_of(*words), re.M):
            yield f"option {' '.join(words)} {option}"
    table = re.search(r"command_rows\[\] = \{(.*?)^\};",
                      read("src", "service", "command", "command_table.c"), re.S | re.M)[1]
    for verb, others in re.findall(r'^    \{"([a-z]+)", "([^"]*)"', table, re.M):
        yield f"verb {verb} {others}".rstrip()
    rows = re.search(r"^} rows\[.*?^};", read("src", "model", "preferences.c"), re.S | re.M)[0]
    for row in re.split(r"\n    \[PREFERENCE_", rows)[1:]:
        yield "preference " + " ".join(re.findall(r'"(\w+)"', row))


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


def list_metrics(instance):
    """Metrics and labels of a running daemon, and the files in its state directory."""
    with instance.start(NOW) as child:
        child.wait_socket(os.path.join(instance.state, "control"))
        text = instance.ctl("metrics")
        files = os.listdir(instance.state)
    for name, kind in re.findall(r"^# TYPE (\w+) (\w+)", text, re.M):
        yield f"metric {name} {kind}"
    for name, label, value in re.findall(r'^(\w+)\{(\w+)="([^"]*)"\} ', text, re.M):
        yield f"label {name} {label} {value if label not in ('version', 'source') else ''}".rstrip()
    for name in files:
        if not name.endswith(("-wal", "-shm")):  # of SQLite
            yield f"path STATE_DIR/{name}"


def nothing_is_lost(tap):
    """every name of the golden file is still there, and new ones are in it"""
    instance = make_filled(tap.subdirectory("filled"))
    instance.set(commands__address="paperboy@news.example")
    instance.once(NOW)
    lines = set()
    for some in (list_metrics(instance), list_json(instance), list_commands(), list_events(), list_variables(),
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
