#!/usr/bin/env python3
"""test_man.py - the manual pages are valid and agree with the programs."""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ.get("top_srcdir", "."), "tests", "lib"))
import tap

BUILD = os.environ.get("top_builddir", ".")
PAGES = ("paperboy.7", "paperboyd.8", "paperboyctl.8", "paperboy.conf.5", "paperboy-commands.7",
         "paperboy-filters.7", "paperboy-machines.7", "paperboy-web.8")
# Our own pages are not installed while they are tested.
HARMLESS = re.compile(r"referenced manual not found|outdated mandoc.db")


def page(name):
    with open(os.path.join(BUILD, "man", name), encoding="utf-8") as file:
        return file.read()


def test_lint(name):
    """mandoc -Tlint reports no problems in a page"""
    tap.need_programs("mandoc")
    path = os.path.join(BUILD, "man", name)
    lint = subprocess.run(["mandoc", "-Tlint", path], capture_output=True, text=True)
    problems = [line for line in lint.stdout.splitlines() if not HARMLESS.search(line)]
    assert not problems, "\n".join(problems)
    assert not re.search(r"@[a-z]+@", page(name)), "a name was not filled in"


def test_commands():
    """every command of paperboyctl is in its page"""
    text = subprocess.run([os.path.join(BUILD, "paperboyctl"), "--help"], check=True,
                          capture_output=True, text=True).stdout
    commands = re.findall(r"^  paperboyctl ([a-z]+(?: [a-z]+)?)", text, re.M)
    assert len(commands) >= 12, commands
    for command in commands:
        assert re.search(r"^\.It (Xo\n\.)?Cm %s\b" % command, page("paperboyctl.8"), re.M), \
            "paperboyctl(8) lacks %s" % command


def ctl_help(*words):
    return subprocess.run([os.path.join(BUILD, "paperboyctl"), *words, "--help"],
                          check=True, capture_output=True, text=True).stdout


def test_fields():
    """every field of paperboy-filters(7) is in the help of filter add"""
    text = ctl_help("filter", "add")
    fields = re.findall(r"^\.It Cm ([a-z]+)(?: , Cm [a-z]+)?$", page("paperboy-filters.7"),
                        re.M)
    assert len(fields) == 23, fields
    for field in fields:
        # text: is what words are without a field.
        assert field == "text" or re.search(r"\b%s:" % field, text), field
    assert max(map(len, text.splitlines())) <= 80, text


def test_filter_limit():
    """the maximum number of filters is in the pages about adding filters"""
    with open(os.path.join(os.environ.get("top_srcdir", "."), "src", "base", "bounds.h"),
              encoding="utf-8") as file:
        most = re.search(r"define BOUNDS_FILTERS_PERSON (\d+)", file.read()).group(1)
    for name in ("paperboy-commands.7", "paperboyctl.8", "paperboy-filters.7"):
        assert re.search(r"\b%s\b[\w ]*\bfilters\b|you can have %s\b" % (most, most),
                         page(name)), name


def test_options():
    """every option of a command is in its help and its page"""
    commands = re.findall(r"^  paperboyctl ([a-z]+(?: [a-z]+)?)", ctl_help(), re.M)
    items = re.split(r"^\.It ", page("paperboyctl.8"), flags=re.M)
    reported = set()
    for command in commands:
        text = "".join(item for item in items
                       if re.match(r"(Xo\n\.)?Cm %s\b" % command, item))
        for option in set(re.findall(r"--([a-z][a-z-]*)", ctl_help(*command.split()))):
            reported.add(option)
            assert re.search(r"Fl -%s\b" % option, text), (command, option)
    # Options that the source accepts, documented or not.
    table = os.path.join(os.environ.get("top_srcdir", "."), "src", "ctl", "commands.c")
    known = set()
    with open(table, encoding="utf-8") as file:
        for names in re.findall(r'\d,\s+-?\d,\s+((?:"[a-z -]*"\s*)+),\s+ctl_run_', file.read()):
            known |= set(re.sub('["\\s]+', " ", names).split())
    assert len(known) > 15 and known == reported, (known - reported, reported - known)


def test_mail_commands():
    """every command by mail is in its page, with aliases and settings"""
    source = os.path.join(os.environ.get("top_srcdir", "."), "src")
    with open(os.path.join(source, "service", "command", "command_table.c"),
              encoding="utf-8") as file:
        rows = re.findall(r'^    \{"([a-z]+)", "([a-z ]*)",', file.read(), re.M)
    assert len(rows) == 39, rows
    text = page("paperboy-commands.7")
    for verb, aliases in rows:
        item = re.search(r"^\.It Cm %s\b.*?(?=^\.It |^\.El)" % verb, text, re.M | re.S)
        assert item, "paperboy-commands(7) lacks %s" % verb
        for alias in aliases.split():
            assert re.search(r"\b%s\b" % alias, item.group()), (verb, alias)
    item = re.search(r"^\.It Cm set\b.*?(?=^\.It )", text, re.M | re.S).group()
    # In, No, At ... are macros of mdoc, and would be run.
    assert not re.search(r"^\.Dl .*(?<![\w&])[A-Z][a-z]\b", item, re.M), item
    assert "\nIn a line of its own a key" in item, item
    for key in ("when days at tz max order abstract format quiet updates crosslist "
                "attach language name").split():
        assert re.search(r"^\.Dl %s " % key, text, re.M), key


def test_markup():
    """no line ends in a backslash, which would make the next macro text"""
    for name in PAGES:
        text = re.sub(r"^\.Bd .*?^\.Ed", "", page(name), flags=re.M | re.S)
        assert not re.search(r"\\$", text, re.M), name


def test_web():
    """paperboy-web(8) has its options, paths and limits"""
    text = page("paperboy-web.8")
    output = subprocess.run([os.path.join(BUILD, "paperboy-web"), "--help"], check=True,
                            capture_output=True, text=True).stdout
    options = set(re.findall(r"--([a-z]+)", output)) - {"help"}
    assert options == set(re.findall(r"Fl -([a-z]+)", text)), options
    source = os.path.join(os.environ.get("top_srcdir", "."), "src")
    with open(os.path.join(source, "web", "routes.c"), encoding="utf-8") as file:
        routes = re.findall(r'^    \{"([a-z/]+)", ROUTE_', file.read(), re.M)
    assert len(routes) == 8, routes
    for route in routes:
        assert re.search(r"^\.It Pa %s( Ns|$)" % route, text, re.M), route
    with open(os.path.join(source, "base", "bounds.h"), encoding="utf-8") as file:
        bounds = file.read()
    for name, words in (("CONNECTIONS", r"(\d+) connections"),
                        ("REQUEST_S", r"within (\d+) seconds")):
        most = re.search(rf"define BOUNDS_WEB_{name}\s+(\d+)", bounds)[1]
        assert re.search(words, text)[1] == most, name


def test_feed_limit():
    """the maximum number of entries of a feed is that of the program"""
    path = os.path.join(os.environ.get("top_srcdir", "."), "src", "base", "bounds.h")
    with open(path, encoding="utf-8") as file:
        most = re.search(r"define BOUNDS_PAPERS_BATCH\s+([0-9]+)", file.read())[1]
    assert f"more than {int(most):,} entries" in page("paperboyd.8"), most


def read_shipped():
    shipped = os.path.join(os.environ.get("top_srcdir", "."), "etc", "paperboy.conf")
    prefix, rows = "", []
    with open(shipped, encoding="utf-8") as file:
        for line in file:
            head = re.match(r"([a-z]+): \{", line)
            if head:
                prefix = head.group(1) + "."
            setting = re.match(r"\t?(?:# )?([a-z_]+) = (.*);$", line)
            if setting:
                rows.append((prefix + setting.group(1), setting.group(2)))
    return rows


def test_settings(t):
    """every setting of the sample file is in its page, with its default"""
    rows = read_shipped()
    assert len(rows) > 15, rows
    path = os.path.join(t.directory, "plain.conf")
    with open(path, "w", encoding="utf-8") as file:
        file.write('mail: { from = "a@b.example"; owner = "o@b.example"; };\n')
    out = subprocess.run([os.path.join(BUILD, "paperboyctl"), "-c", path, "--now",
                          "2026-11-20T12:00:00Z", "--json", "config"], check=True, capture_output=True, text=True).stdout
    usual = {row["name"]: row["default"] for row in json.loads(out)}
    for name, shown in rows:
        assert ".It Cm %s\n" % name in page("paperboy.conf.5"), name
        # Where the default is empty, an example is shown.
        assert usual[name] in ("", shown.strip('"')), (name, shown, usual[name])


def test_hacking():
    """every file, function, test and constant that HACKING and doc/ name exists"""
    source = os.environ.get("top_srcdir", ".")
    text = ""
    for name in ("HACKING", "SECURITY.md", "doc/accessibility.md", "doc/architecture.md",
                 "doc/stability.md"):
        with open(os.path.join(source, name), encoding="utf-8") as file:
            text += file.read()
    code, names = [], set()
    for top in ("src", "tests", "etc", "man", "fuzz", "bench"):
        for directory, _, files in os.walk(os.path.join(source, top)):
            for name in files:
                path = os.path.join(directory, name)
                names.add(os.path.relpath(path, source))
                if path.endswith((".c", ".h", ".sql")):
                    with open(path, encoding="utf-8", errors="replace") as file:
                        code.append(file.read())
    words = set(re.findall(r"\w+", "\n".join(code)))
    for name in re.findall(r"`((?:test|fuzz)_\w+(?:\.py)?)`", text):
        assert any(f"{top}/{name}{end}" in names for top in ("tests", "fuzz")
                   for end in ("", ".c")), name
    for path in re.findall(r"\b(?:src|tests|etc|man|fuzz|bench)/[\w./-]+\.[a-z]+\b", text):
        assert path in names or "NAME" in path, path
    for path in re.findall(r"\b(src/service/[a-z]+|tests/lib|fuzz/corpus)\b", text):
        assert path == "src/service/bounce" or any(
            name.startswith(path + "/") for name in names), path
    for file in re.findall(r"(?<![\w/.])\w+\.[ch]\b", text):
        assert any(name.endswith("/" + file) for name in names), file
    for name in (re.findall(r"\b([a-z_]+)(?:\(\)|\[\])", text)
                 + re.findall(r"\bstruct ([a-z_]+)", text)
                 + re.findall(r"\b(?:MAILER|OUTBOX|HANDLER|SUBADDRESS|CACHE|EVENT)_[A-Z_]+\b",
                              text)):
        assert name in words or name in ("EVENT_", "module_verb_object"), name


with tap.Tap() as t:
    for one in PAGES:
        t.run(test_lint, one)
    t.run(test_commands)
    t.run(test_fields)
    t.run(test_filter_limit)
    t.run(test_options)
    t.run(test_mail_commands)
    t.run(test_markup)
    t.run(test_web)
    t.run(test_feed_limit)
    t.run(test_hacking)
    t.run(test_settings, t)
