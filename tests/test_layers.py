#!/usr/bin/env python3
"""test_layers.py - layers and file names, and the checks themselves."""

import glob
import os
import re
import subprocess

import lib  # the path
from layers import (
    HOMES, MAY_USE, check_tree, count_floors, find_cycles, include_graph,
    same_names, source_files, upward_edges,
)
from tap import Skip, Tap, need_programs, read_text, run, save, top_builddir, top_srcdir


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
    ("web/a.c", '#include "service/a.h"', "web may not use service"),
    ("service/health/a.c", '#include "service/log/a.h"', ""),
    ("service/log/a.c", '#include "service/health/a.h"', "(floor 1) may not use"),
    ("service/log/a.c", '#include "service/state/a.h"', "(floor 2)"),
    ("service/a.c", '#include "service/log/a.h"', "is on no floor of service"),
    ("service/log/a.c", '#include "service/shop/a.h"', "is on no floor of service"),
    ("query/eval/a.c", '#include "query/a.h"', ""),
    ("store/a.c", '#include "../net/a.h"', "expected a path from src"),
    ("store/a.c", '#include "nowhere.h"', "expected a path from src"),
    ("store/a.c", '#include "a.c"', ""),
    ("store/a.c", '#include "shop/a.h"', "in no known layer"),
    ("shop/a.c", "", "in no known layer"),
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
    ("render/a.c", "#include <jansson.h>", "belongs to net and sources"),
    ("transport/a.c", "#include <libetpan/mailsmtp.h>", "belongs to parser and"),
    ("service/a.c", "#include <expat.h>", "belongs to sources"),
    ("daemon/a.c", "#include <seccomp.h>", "belongs to base"),
    ("daemon/a.c", "#include <jansson.h>", "belongs to"),
    ("service/a.c", "#include <systemd/sd-daemon.h>", "belongs to base"),
    ("base/a.c", "#include <systemd/sd-daemon.h>", ""),
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
    save(full, contents)
    return check_tree(src)


def test_rules(tap):
    """each broken rule is found, and nothing else"""
    whole = [(path, head(path) + text + "\n", wanted) for path, text, wanted in CASES]
    for number, (path, contents, wanted) in enumerate(whole + HEADS):
        found = problems_of(tap, number, path, contents)
        if wanted:
            assert len(found) == 1 and wanted in found[0], (path, contents[:200], found)
            assert found[0].startswith(f"{path}:"), found
        else:
            assert found == [], (path, contents[:200], found)


def test_tables():
    """the tables have no cycle and no unknown layer"""
    assert all(user not in MAY_USE[used] for user in MAY_USE for used in MAY_USE[user])
    assert all(layer in MAY_USE for layers in HOMES.values() for layer in layers)


def test_names(tap):
    """files with the same name are found"""
    top = tap.subdirectory("names")
    for path in ("src/base/a.c", "src/base/b.c", "tests/b.c", "src/main.c"):
        os.makedirs(os.path.dirname(os.path.join(top, path)), exist_ok=True)
        with open(os.path.join(top, path), "w", encoding="utf-8"):
            pass
    assert same_names(top, ("src", "tests")) == {"b.c": ["src/base/b.c", "tests/b.c"]}
    assert same_names(top, ("src",)) == {}


def test_graph():
    """upward edges, cycles and floors of an include graph"""
    edges = {("service/health", "service/log"): 2, ("service/log", "base"): 1,
             ("ctl", "service/health"): 1}
    assert upward_edges(edges) == [] and find_cycles(edges) == []
    assert count_floors(edges) == 4
    edges["service/log", "service/health"] = 1
    edges["base", "net"] = 1
    assert upward_edges(edges) == [("base", "net"), ("service/log", "service/health")]
    assert find_cycles(edges) == ["service/health", "service/log"]


def test_repository_layers(tap):
    """no include points up, no directories include each other"""
    src = os.path.join(top_srcdir(), "src")
    assert len(source_files(src)) > 3
    edges = include_graph(src)
    upward, cycles = upward_edges(edges), find_cycles(edges)
    directories = {end for edge in edges for end in edge}
    tap.diag(f"{len(directories)} directories, {len(edges)} edges, {len(upward)} upward,"
             f" {len(cycles)} directories in cycles, {0 if cycles else count_floors(edges)}"
             " floors")
    assert not upward and not cycles, (upward, cycles)
    problems = check_tree(src)
    assert not problems, "\n".join(problems)


def test_repository_names():
    """no two files have the same name"""
    doubles = same_names(top_srcdir(), ("src", "tests", "bench", "fuzz"))
    assert not doubles, doubles


def test_module():
    """the programs export the functions that the module with PostgreSQL calls"""
    (nm,) = need_programs("nm")
    core = os.path.join(top_builddir(), "src", "store", "core")
    driver = glob.glob(f"{core}/postgresql*.o")
    if not driver:
        raise Skip("built without PostgreSQL")
    rest = [path for path in glob.glob(f"{top_builddir()}/src/**/*.o", recursive=True)
            if path not in driver and os.path.basename(path) != "main.o"]
    called = set(run([nm, "-u", *driver]).split())
    defined = set(re.findall(r" T (\w+)$", run([nm, *rest]), re.M))
    with open(os.path.join(top_srcdir(), "src", "store", "Makefile.inc"),
              encoding="utf-8") as file:
        exported = re.findall(r"--export-dynamic-symbol=(\w+)", file.read())
    assert sorted(called & defined) == sorted(exported), (called & defined, exported)


def test_users_of_display():
    """only text that people read is shown without TeX: positions are those of stored text"""
    allowed = ("src/base/tex.", "src/message/sanitize.", "src/render/", "src/ctl/",
               "src/service/command/", "src/service/advice/",
               "src/service/web/", "src/web/")
    for path in glob.glob(f"{top_srcdir()}/src/**/*.[ch]", recursive=True):
        is_user = re.search(r"tex_display|sanitize_paper_text\(", read_text(path))
        assert not is_user or os.path.relpath(path, top_srcdir()).startswith(allowed), path


def test_tables_of_cases():
    """a test reads each table of cases"""
    sources = ""
    for path in glob.glob(f"{top_srcdir()}/tests/*.[cp]*"):
        sources += read_text(path)
    tables = {os.path.basename(path).partition(".")[0]
              for path in glob.glob(f"{top_srcdir()}/tests/tables/*")}
    unread = {name for name in tables if f'"{name}"' not in sources}
    assert tables and not unread, unread


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


with Tap() as tap:
    tap.run(test_clock)
    tap.run(test_tables_of_cases)
    tap.run(test_users_of_display)
    tap.run(test_module)
    tap.run(test_rules, tap)
    tap.run(test_tables)
    tap.run(test_graph)
    tap.run(test_names, tap)
    tap.run(test_repository_layers, tap)
    tap.run(test_repository_names)
