#!/usr/bin/env python3
"""test_layers.py - the house is in order, and the checker sees each broken rule."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

from layers import (
    FLOORS, HOMES, MAX_LINES, MAY_USE, check_tree, find_cycles, include_graph, same_names,
    source_files,
)
from tap import Tap, top_builddir, top_srcdir


def head(path):
    return f"/*\n * {os.path.basename(path)} - made up for a test.\n */\n"


# path, contents below the purpose comment, the problem ("" when there is none)
CASES = [
    # arrows
    ("store/a.c", '#include "query/a.h"', ""),
    ("store/core/a.c", '#include "store/core/b.h"', ""),
    ("store/a.c", '#include "net/a.h"', "4: \"net/a.h\": store may not use net"),
    ("base/a.h", '#include "model/a.h"', "base may not use model"),
    ("query/a.c", '  #  include "store/a.h"', "query may not use store"),
    ("parser/a.c", '#include "model/a.h"', "parser may not use model"),
    ("service/a.c", '#include "daemon/a.h"', "service may not use daemon"),
    ("service/a.c", '#include "web/a.h"', "service may not use web"),
    ("ctl/a.c", '#include "web/a.h"', "ctl may not use web"),
    ("daemon/a.c", '#include "web/a.h"\n#include "store/a.h"', ""),
    ("web/a.c", '#include "service/a.h"\n#include "render/a.h"', ""),
    ("service/health/a.c", '#include "service/log/a.h"', ""),
    ("service/log/a.c", '#include "service/health/a.h"', "(floor 1) may not use"),
    ("service/log/a.c", '#include "service/state/a.h"', "(floor 2)"),
    ("service/a.c", '#include "service/log/a.h"', "is on no floor of service"),
    ("service/log/a.c", '#include "service/shop/a.h"', "is on no floor of service"),
    ("query/eval/a.c", '#include "query/a.h"', ""),
    ("store/a.c", '#include "../net/a.h"', "climbs"),
    ("store/a.c", '#include "nowhere.h"', "has no layer"),
    ("store/a.c", '#include "a.c"', ""),
    ("store/a.c", '#include "shop/a.h"', "of no known layer"),
    ("shop/a.c", "", "of no known layer"),
    ("store/a.c", '/* #include "net/a.h" */', ""),
    ("store/a.c", '#include "config.h"', ""),
    # third parties
    ("store/a.c", "#include <sqlite3.h>", ""),
    ("query/a.c", "#include <sqlite3.h>", "<sqlite3.h> belongs to store, not to query"),
    ("query/a.c", '#include "sqlite3.h"', "belongs to store"),
    ("config/a.c", "#include <libconfig.h>", ""),
    ("daemon/a.c", "#include <libconfig.h>", "belongs to config"),
    ("transport/a.c", "#include <curl/curl.h>", "belongs to net"),
    ("ctl/a.c", "#include <jansson.h>", ""),
    ("render/a.c", "#include <jansson.h>", "belongs to sources and ctl"),
    ("transport/a.c", "#include <libetpan/mailsmtp.h>", "belongs to parser and"),
    ("service/a.c", "#include <expat.h>", "belongs to sources"),
    ("daemon/a.c", "#include <seccomp.h>", "belongs to parser"),
    ("daemon/a.c", "#include <microhttpd.h>", "belongs to web"),
    ("service/a.c", "#include <systemd/sd-daemon.h>", "belongs to daemon"),
    ("daemon/a.c", "#include <systemd/sd-daemon.h>", ""),
    ("base/a.c", "#include <glib.h>\n#include <gio/gio.h>", ""),
    ("base/a.c", "#include <glib/gstdio.h>", ""),
    ("base/a.c", "#include <sys/stat.h>\n#include <string.h>", ""),
    ("base/a.c", "#include <libxml/parser.h>", "has no home in the table"),
    # exit
    ("service/a.c", "void f(void) { exit(1); }", "exit() outside a main"),
    ("service/a.c", 'void f(void) { g_warning("x"); }', "log by event_log()"),
    ("service/a.c", "void f(void)\n{\n\texit (1);\n}", "6: exit() outside a main"),
    ("daemon/main.c", "int main(void) { exit(1); }", ""),
    ("service/a.c", "void f(void) { on_exit(1); g_exit(1); s->exit(1); }", ""),
    ("service/a.c", '/* exit(1) */ char *s = "exit(1)";', ""),
    # SQL
    ("store/a.c", 'static const char SQL[] = "SELECT a FROM b";', ""),
    ("service/a.c", 'static const char S[] = "SELECT a FROM b";', "SQL outside"),
    ("service/a.c", 'char *s = "SELECT a "\n\t/* c */ "FROM b";', "4: SQL outside"),
    ("service/a.c", 'char *s = "select a\\nfrom b";', "SQL outside"),
    ("service/a.c", 'char *s = "INSERT OR IGNORE INTO b VALUES (1)";', "SQL outside"),
    ("service/a.c", 'char *s = "UPDATE b SET c = 1";', "SQL outside"),
    ("service/a.c", 'char *s = "DELETE FROM b";', "SQL outside"),
    ("service/a.c", 'char *s = "PRAGMA user_version";', "SQL outside"),
    ("service/a.c", 'char *s = "CREATE UNIQUE INDEX a ON b(c)";', "SQL outside"),
    ("service/a.c", 'char *s = "BEGIN IMMEDIATE";', "SQL outside"),
    ("receive/a.c", 'char *s = "SELECT INBOX";', ""),
    ("service/a.c", 'char *s = "choose papers from the list", *t = "select one";', ""),
    ("service/a.c", '/* SELECT a FROM b */ char *s = "cannot update settings";', ""),
    # shapes
    ("base/a.h", "typedef struct a a;", "typedef struct"),
    ("base/a.h", "typedef  struct\n{ int x; } a;", "typedef struct"),
    ("base/a.h", "typedef int (*a)(struct b *b);", ""),
    ("base/a.c", "int x; // why", "4: a // comment"),
    ("base/a.c", 'char *u = "https://example.org"; /* http://x */', ""),
    ("base/a.c", "char c = '\"'; // why", "a // comment"),
    ("base/a.c", "char *s = \"\\\"\"; // why", "a // comment"),
    # sizes: the head has three lines and the last one ends
    ("base/a.c", "\n".join(["int x;"] * (MAX_LINES - 3)), ""),
    ("base/a.c", "\n".join(["int x;"] * (MAX_LINES - 2)), f"{MAX_LINES + 1} lines, more than {MAX_LINES}"),
]

# path, whole contents, the problem
HEADS = [
    ("base/a.c", "", "the first line"),
    ("base/a.c", "#include <glib.h>\n", "the first line"),
    ("base/a.c", "/* a.c - purpose. */\n", "the first line"),
    ("base/a.c", "/*\n * b.c - purpose.\n */\n", "the second line"),
    ("base/a.c", "/*\n * a.c\n */\n", "the second line"),
    ("base/a.c", "/*\n * a.c - purpose.\n */\n", ""),
]


def problems_of(tap, number, path, contents):
    src = tap.subdirectory(f"tree{number}")
    full = os.path.join(src, path)
    os.makedirs(os.path.dirname(full))
    with open(full, "w", encoding="utf-8") as file:
        file.write(contents)
    return check_tree(src)


def test_rules(tap):
    """each rule is seen when it is broken, and only then"""
    whole = [(path, head(path) + text + "\n", wanted) for path, text, wanted in CASES]
    for number, (path, contents, wanted) in enumerate(whole + HEADS):
        found = problems_of(tap, number, path, contents)
        if wanted:
            assert len(found) == 1 and wanted in found[0], (path, contents[:200], found)
            assert found[0].startswith(f"{path}:"), found
        else:
            assert found == [], (path, contents[:200], found)


def test_tables():
    """the tables have no cycle and no home in a layer that is not there"""
    assert all(user not in MAY_USE[used] for user in MAY_USE for used in MAY_USE[user])
    assert all(layer in MAY_USE for layers in HOMES.values() for layer in layers)


def test_instance(tap):
    src = os.path.join(top_srcdir(), "src")
    files = source_files(src)
    tap.ok(len(files) > 3, "sources are found")
    edges = include_graph(src)
    cycles = find_cycles(edges)
    tap.ok(not cycles, "no directory includes itself through others")
    doubles = same_names(src)
    tap.ok(not doubles, "no two directories have a file of the same name")
    floors = sum(len(floors) for floors in FLOORS.values())
    tap.diag(
        f"{len({end for edge in edges for end in edge})} directories, {len(edges)} edges,"
        f" {len(cycles)} in cycles, {floors} floors inside layers"
    )
    for name, paths in sorted(doubles.items()):
        tap.diag(f"{name}: {' '.join(paths)}")
    problems = check_tree(src)
    if not tap.ok(not problems, "src keeps the layers, the homes and the shapes"):
        tap.diag("\n".join(problems))


def test_clock():
    """a test that starts a program on the real clock fails"""
    for name in ("paperboyd", "paperboyctl"):
        command = [os.path.join(top_builddir(), name), "-c", "/nonexistent"]
        for prefix in ([], ["env"]):
            try:
                subprocess.run([*prefix, *command, "status"], check=False)
            except AssertionError as refused:
                assert "without --now" in str(refused), refused
            else:
                raise AssertionError(f"{name} was started on the real clock")


def main():
    with Tap() as tap:
        tap.run(test_clock)
        tap.run(test_rules, tap)
        tap.run(test_tables)
        test_instance(tap)


if __name__ == "__main__":
    main()
