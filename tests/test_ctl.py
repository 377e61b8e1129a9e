#!/usr/bin/env python3
#
# test_ctl.py - command lines of paperboyctl and paperboyd: output, JSON, exit status.

import contextlib
import fcntl
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import stat
import struct
import subprocess
import termios

import lib  # the path
import stores
from programs import install
from smalldisk import small_disk
from tap import (
    Child, Skip, Tap, need_programs, read, read_text, run, save, top_builddir,
    top_srcdir,
)

CTL = os.path.join(top_builddir(), "paperboyctl")
DAEMON = os.path.join(top_builddir(), "paperboyd")
TEMPLATES = os.path.join(top_srcdir(), "etc", "templates")
SAMPLES = os.path.join(top_srcdir(), "samples")
NOW = "2026-11-20T18:00:00Z"
LATER = "2026-11-20T18:05:00Z"  # the simulated clock advances while a program runs

OK, USAGE, DATA, NOUSER, UNAVAILABLE, TEMPFAIL, CONFIG = 0, 64, 65, 67, 69, 75, 78
IOERR = 74
FAILING = 2  # exit status of status

GOOD = """\
state_dir = "{directory}/state";
template_dir = "{templates}";
mail: {{ from = "paperboy@news.example"; owner = "owner@example.org"; }};
delivery: {{ method = "maildir"; maildir = "{directory}/Maildir"; }};
sources = ( {{ name = "hf"; kind = "huggingface"; url = "file://{samples}"; }} );
enrich: {{ arxiv = false; europepmc = false; crossref = false; }};
{store}
{more}
"""


class Done:
    """Output and status of a command."""

    def __init__(self, program, arguments, **popen):
        done = subprocess.run(
            [program, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
            timeout=300, **popen)
        self.status = done.returncode
        self.out = done.stdout.decode()
        self.err = done.stderr.decode("utf-8", "replace")
        self.text = f"{arguments}: {self.status}\n{self.out}--\n{self.err}"

    def expect(self, status, out="", err=""):
        """Check status and output; err="": no error output."""
        assert self.status == status, self.text
        for words in [out] if isinstance(out, str) else out:
            assert words in self.out, f"no {words!r} in {self.text}"
        for words in [err] if isinstance(err, str) else err:
            assert words in self.err, f"no {words!r} in {self.text}"
        if not err:
            assert self.err == "", self.text
        return self


class CtlFixture:
    """A directory with a configuration, a state directory and a mailbox."""

    def __init__(self, tap, name, more=""):
        self.directory = tap.subdirectory(name)
        os.mkdir(os.path.join(self.directory, "state"), 0o700)
        self.config = os.path.join(self.directory, "paperboy.conf")
        self.program = CTL
        self.db = stores.create(os.path.join(self.directory, "state", "paperboy.db"))
        self.write(self.format(more=more))

    def format(self, samples=SAMPLES, more="", templates=TEMPLATES):
        return GOOD.format(directory=self.directory, templates=templates, samples=samples,
                           store=self.db.config, more=more)

    def install(self):
        """Use a program and files that every user can read."""
        installed = install(os.path.join(self.directory, "installed"))
        self.program = os.path.join(installed, "paperboyctl")
        self.write(self.format(samples=os.path.join(installed, "samples"),
                               templates=os.path.join(installed, "templates")))

    def write(self, text):
        save(self.config, text)

    def ctl(self, *arguments, **popen):
        return Done(self.program, ["-c", self.config, "--now", NOW, *arguments], **popen)

    def json(self, *arguments):
        """The output; without a running daemon status ends with 2."""
        wanted = FAILING if arguments == ("status",) else OK
        return json.loads(self.ctl("--json", *arguments).expect(wanted).out)

    def daemon(self, *arguments):
        return Done(DAEMON, ["-c", self.config, *arguments])

    def add(self, address="ada@example.org", *more):
        return self.ctl("subscriber", "add", address, "--consent", "by phone", *more)


# ---- usage and help ---------------------------------------------------------

COMMANDS = [
    ("subscriber", "add"), ("subscriber", "list"), ("subscriber", "show"),
    ("subscriber", "set"), ("subscriber", "pause"), ("subscriber", "resume"), ("subscriber", "known"),
    ("subscriber", "remove"), ("subscriber", "forget"), ("subscriber", "import"),
    ("subscriber", "export"), ("invite",), ("filter", "add"), ("filter", "list"), ("filter", "edit"),
    ("filter", "move"), ("filter", "rename"), ("filter", "test"),
    ("filter", "suggest"), ("filter", "explain"), ("filter", "remove"), ("share", "list"), ("share", "remove"), ("search",), ("why",),
    ("work", "show"), ("work", "join"), ("work", "split"),
    ("confirmation", "list"), ("suppression", "list"), ("suppression", "add"), ("suppression", "import"), ("suppression", "remove"),
    ("config",), ("log",), ("preview",), ("source", "list"), ("source", "fetch"),
    ("source", "replay"), ("digest", "list"), ("digest", "show"), ("queue", "list"),
    ("queue", "show"), ("queue", "retry"), ("queue", "hold"), ("queue", "release"),
    ("queue", "drop"), ("queue",), ("delivery", "pause"), ("delivery", "resume"), ("bounce", "list"), ("bounce", "show"),
    ("bounce", "forget"), ("bounce", "explain"), ("backup",), ("restore",), ("doctor",), ("status",),
    ("metrics",), ("reload",),
]


def test_help():
    """the help lists every command, and each command has its own help"""
    everything = Done(CTL, ["--help"]).expect(OK)
    for command in COMMANDS:
        words = " ".join(command)
        assert f"  paperboyctl {words}" in everything.out, words
        for option in ("--help", "-h"):
            one = Done(CTL, [*command, option]).expect(OK, f"usage: paperboyctl {words}")
            assert len(one.out.splitlines()) >= 3, one.text
    Done(CTL, ["subscriber", "add", "x", "--help"]).expect(
        OK, ["--consent TEXT", "--max N"])
    Done(CTL, ["filter", "--help"]).expect(
        OK, ["usage: paperboyctl filter add", "paperboyctl filter remove"])
    for line in everything.out.splitlines():
        # the path of the configuration in the help is the configured one
        assert len(line) <= 80 or "/paperboy.conf" in line, line


def test_version():
    """both programs print the same version"""
    ctl = Done(CTL, ["--version"]).expect(OK, "paperboyctl ").out.split()
    daemon = Done(DAEMON, ["--version"]).expect(OK, "paperboyd ").out.split()
    assert ctl[1] == daemon[1] and len(ctl) == 2


def test_usage(ctl_fixture):
    """wrong usage prints the usage of the command, status 64"""
    rows = [
        ([], "Manages subscribers and filters"),
        (["bogus"], ["unknown command 'bogus'", "Try 'paperboyctl --help'"]),
        (["statsu"], "unknown command 'statsu': did you mean 'status'?"),
        (["serach", "a b"], "did you mean 'search'?"),
        (["queue", "relase", "1"], "did you mean 'queue release'?"),
        (["subscribers", "lst"], "did you mean 'subscriber list'?"),
        (["subscriber", "frob"], "unknown command 'subscriber frob'\nusage: "),
        (["subscriber"], ["unknown command 'subscriber'", "subscriber list"]),
        (["subscriber", "delete", "x"], ["unknown command 'subscriber delete'",
                                         "subscriber remove ADDRESS"]),
        (["subscriber", "show"], ["missing argument", "usage: "]),
        (["subscriber", "show", "a@b.example", "more"], "unexpected argument 'more'"),
        (["subscriber", "list", "--loud"], "Unknown option --loud"),
        (["subscriber", "add", "a@b.example"], "--consent is missing"),
        (["subscriber", "add", "--consent", "x"], "missing argument"),
        (["subscriber", "add", "a@b.example", "--consent"], "Missing argument"),
        (["subscriber", "add", "a@b.example", "--consent", "x", "--max", "ten"],
         "Cannot parse integer value"),
        (["subscriber", "set", "a@b.example"], "nothing to set: give --zone, --at"),
        (["config", "a", "b"], "unexpected argument 'b'"),
        (["filter", "add", "a@b.example"], "missing argument"),
        (["filter", "add", "a@b.example", "-survey"], ["write -- before", "-survey"]),
        (["queue", "all"], ["unknown command 'queue all'", "usage: paperboyctl queue list"]),
        (["fetch"], "unknown command 'fetch'"),
        (["source", "fetch", "hf", "now"], "unexpected argument 'now'"),
        (["queue", "drop", "1", "--state", "HELD", "--yes"], "--state needs 'all'"),
        (["queue", "retry", "all", "1"], "'all' cannot be combined"),
    ]
    for arguments, words in rows:
        done = ctl_fixture.ctl(*arguments).expect(USAGE, "", words)
        assert done.out == "", done.text
        assert len(done.err.splitlines()) < 180, done.text
    for time in ("noon", "2026-11-20", "2026-13-01T00:00:00Z", ""):
        Done(CTL, ["-c", ctl_fixture.config, "--now", time, "status"]).expect(
            USAGE, "", f"'{time}' is not a time (expected 2026-11-20T09:00:00Z)")
    Done(CTL, ["--loud", "status"]).expect(USAGE, "", "--loud")
    # after the command, too; what follows -- is an argument
    first, last = (json.loads(ctl_fixture.ctl(*words).expect(OK).out) for words in (
        ["--json", "search", "--limit", "3", "json"], ["search", "json", "--limit", "3", "--json"]))
    assert first == last, last
    assert json.loads(ctl_fixture.ctl("subscriber", "list", "--json").expect(OK).out) == []
    ctl_fixture.ctl("search", "--", "--json").expect(DATA, "", "invalid filter")


# ---- people and filters -----------------------------------------------------


def test_known(ctl_fixture):
    """the works in a file of a reference manager are known to a subscriber"""
    ctl_fixture.add().expect(OK)
    path = os.path.join(ctl_fixture.directory, "mine.bib")
    save(path, "@article{a, doi = {10.5555/1}}\n@misc{b, title = {Untitled}}\n")
    for new in (1, 0):
        assert ctl_fixture.json("subscriber", "known", "ada@example.org", path) == {
            "address": "ada@example.org", "works": 1, "new": new, "not_here": 1, "skipped": 1}
    assert ctl_fixture.db.rows("SELECT name FROM known") == [("doi:10.5555/1",)]
    save(path, "nothing")
    ctl_fixture.ctl("subscriber", "known", "ada@example.org", path).expect(
        DATA, "", "has no entries of BibTeX or RIS")


def test_subscriber_csv(ctl_fixture):
    """people are added, shown, listed and removed"""
    ctl_fixture.ctl("subscriber", "list").expect(OK, "No subscribers")
    assert ctl_fixture.json("subscriber", "list") == []
    ctl_fixture.add("Ada Example <ada@EXAMPLE.org>", "--zone", "Europe/Berlin", "--at",
               "6:05", "--cadence", "weekly:thu,mon", "--max", "5").expect(
        OK, ["ada@example.org added", "No filters, so no papers will match"])
    ctl_fixture.ctl("subscriber", "show", "ada@example.org").expect(
        OK, ["address      ada@example.org\n", "name         Ada Example\n",
             "state        active\n",
             "schedule     weekly on mon,thu at 06:05 Europe/Berlin\n",
             "max          5 papers", "next digest  2026-11-20 18:00 UTC\n",
             "consent      2026-11-20 18:00 UTC: by phone\n"])
    shown = ctl_fixture.json("subscriber", "show", "ada@example.org")
    assert shown == {
        "address": "ada@example.org", "name": "Ada Example", "state": "active",
        "paused_until": None, "schedule": "weekly on mon,thu at 06:05 Europe/Berlin",
        "cadence": "weekly:mon,thu", "at": "06:05", "zone": "Europe/Berlin", "max": 5,
        "next_due_at": 1795197600, "created_at": 1795197600, "consent_at": 1795197600,
        "wrote_at": None, "consent": "by phone", "filters": [],
        "preferences": {
            "order": "score", "abstract": "brief", "format": "both", "quiet": "off",
            "updates": "off", "crosslist": "on", "attach": "none", "group": "off",
            "feedback": "off",
            "checkup": "on", "versions": "one", "retractions": "digest",
            "language": None},
        "bounces": {"dead": 0, "full": 0, "temporary": 0, "sender": 0, "complaint": 0},
        "answers": {"liked": 0, "hidden": 0, "words": 0},
    }, shown
    ctl_fixture.ctl("subscriber", "set", "ada@example.org", "--quiet", "note",
               "--attach", "bibtex", "--language", "de", "--order", "date",
               "--abstract", "short", "--format", "text", "--updates", "on",
               "--crosslist", "off", "--group", "on", "--feedback", "on", "--checkup", "off",
               "--versions", "all", "--retractions", "mail")
    assert ctl_fixture.json("subscriber", "show", "ada@example.org")["preferences"] == {
        "order": "date", "abstract": "short", "format": "text", "quiet": "note",
        "updates": "on", "crosslist": "off", "attach": "bibtex", "group": "on",
        "feedback": "on",
        "checkup": "off", "versions": "all", "retractions": "mail",
        "language": "de"}
    added = json.loads(ctl_fixture.ctl(
        "--json", "subscriber", "add", "bob@example.org", "--consent", "on paper",
        "--filter", "mamba", "--filter", "model or train",
    ).expect(OK, "", 'warning: column 7: "or" is searched as a word').out)
    assert added == {"address": "bob@example.org", "filters": 2}, added
    lines = ctl_fixture.ctl("subscriber", "list").expect(OK).out.splitlines()
    assert lines[0].split() == ["ADDRESS", "STATE", "NEXT", "DIGEST", "SCHEDULE", "LAST",
                                "WROTE"]
    assert [line.split()[0] for line in lines[1:]] == [
        "ada@example.org", "bob@example.org"]
    assert len({line.index(word) for line, word in
                zip(lines, ("STATE", "active", "active"))}) == 1
    ctl_fixture.add("ADA@example.org").expect(DATA, "", "is already subscribed")
    ctl_fixture.ctl("subscriber", "remove", "ada@example.org", "--yes").expect(
        OK, "ada@example.org removed; no more mail is sent to it")
    ctl_fixture.ctl("subscriber", "remove", "ada@example.org", "--yes").expect(
        NOUSER, "", "ada@example.org is not a subscriber")
    assert ctl_fixture.json("subscriber", "remove", "bob@example.org", "--yes") == {
        "removed": "bob@example.org"}
    ctl_fixture.add("ada@example.org").expect(OK, "ada@example.org added")


def test_refusals(ctl_fixture):
    """an invalid argument is reported in one line, status 65"""
    rows = [
        (["nobody"], "address has no '@'"),
        (["a@b\n.example"], "address"),
        (["a@b.example", "--zone", "../../etc/passwd"], "unknown time zone"),
        (["a@b.example", "--at", "25:00"], "'25:00' is not a time of day (expected HH:MM"),
        (["a@b.example", "--cadence", "hourly"], "daily, weekdays or weekly"),
        (["a@b.example", "--cadence", "weekly:noday"], "is not a day of the week"),
        (["a@b.example", "--max", "0"], "max must be from 1 to 200"),
        (["a@b.example", "--max", "201"], "max must be from 1 to 200"),
        (["a@b.example", "--max", "-1"], "max must be from 1 to 200"),
        (["a@b.example", "--name", "A\x1b[2J"], "name contains a control character"),
        (["a@b.example", "--name", ""], "name is empty"),
    ]
    for arguments, words in rows:
        done = ctl_fixture.add(*arguments).expect(DATA, "", words)
        assert len(done.err.splitlines()) == 1, done.text
        assert done.err.startswith("paperboyctl: "), done.text
        assert "\x1b" not in done.err, done.text
    ctl_fixture.ctl("subscriber", "add", "a@b.example", "--consent", "").expect(
        DATA, "", "missing consent")
    ctl_fixture.ctl("subscriber", "add", "a@b.example", "--consent", "a\nb").expect(
        DATA, "", "the consent contains a control character")
    assert ctl_fixture.json("subscriber", "list") == []


def test_bytes(ctl_fixture):
    """invalid UTF-8 is rejected, and output is always UTF-8"""
    bad = b"gr\xf6\xdfe"
    ctl_fixture.add().expect(OK, "added")
    for arguments in (
        [b"filter", b"add", b"ada@example.org", bad],
        [b"filter", b"add", b"ada@example.org", b"word", b"--name", bad],
        [b"subscriber", b"add", b"c@example.org", b"--consent", bad],
        [b"subscriber", b"add", bad + b"@example.org", b"--consent", b"x"],
        [b"subscriber", b"show", bad + b"@example.org"],
        [b"digest", b"show", bad],
    ):
        done = ctl_fixture.ctl(*arguments)
        assert done.status in (USAGE, DATA), done.text
        assert done.out == "" and done.err, done.text
    assert len(ctl_fixture.json("subscriber", "list")) == 1
    assert ctl_fixture.json("filter", "list", "ada@example.org") == []


def test_filters(ctl_fixture):
    """filters are added, listed in canonical form, and removed"""
    ctl_fixture.add().expect(OK)
    ctl_fixture.ctl("filter", "add", "ada@example.org", '"State Spaces" | mamba').expect(
        OK, "filter 1: ")
    ctl_fixture.ctl("filter", "add", "ada@example.org", "cat or dog").expect(
        OK, "filter 2: ", 'warning: column 5: "or" is searched as a word: did you mean OR?')
    # A query that starts with "-", after "--" at any position.
    ctl_fixture.ctl("filter", "add", "ada@example.org", "--", "-survey mamba").expect(
        OK, "filter 3: mamba NOT survey")
    ctl_fixture.ctl("filter", "add", "--", "ada@example.org", "-review mamba").expect(
        OK, "filter 4: mamba NOT review")
    ctl_fixture.ctl("filter", "add", "ada@example.org", "--name", "x y", "--",
               "-news mamba").expect(OK, "filter 5: mamba NOT news")
    ctl_fixture.ctl("filter", "add", "ada@example.org", "Größe 量子", "--name",
               "Größe").expect(OK, "filter 6: größe")
    listed = ctl_fixture.json("filter", "list", "ada@example.org")
    assert [one["number"] for one in listed] == [1, 2, 3, 4, 5, 6], listed
    assert set(listed[0]) == {"number", "block", "name", "text", "canonical", "since",
                              "max", "note"}
    assert listed[5]["text"] == "Größe 量子" and listed[5]["name"] == "Größe"
    assert listed[4]["name"] == "x y" and listed[0]["name"] is None
    assert listed[0]["since"] == "2026-11-17", listed[0]
    table = ctl_fixture.ctl("filter", "list", "ada@example.org").expect(
        OK, ["NO", "NAME", "FILTER", "MEANS", "Größe", "-survey mamba"])
    assert len(table.out.splitlines()) == 7, table.text
    assert ctl_fixture.json("filter", "remove", "ada@example.org", "2", "--yes") == {"removed": 2}
    ctl_fixture.ctl("filter", "remove", "ada@example.org", "1", "--yes").expect(
        OK, "filter 1 removed")
    ctl_fixture.ctl("filter", "remove", "ada@example.org", "1", "--yes").expect(
        NOUSER, "", "no such filter: 1")
    for number in ("0", "x", "99999", "1.5", ""):
        ctl_fixture.ctl("filter", "remove", "ada@example.org", number).expect(
            DATA, "", "invalid filter number")
    added = ctl_fixture.json("filter", "add", "ada@example.org", "mamba")
    assert added == {"number": 1, "block": False, "canonical": "mamba"}, added
    ctl_fixture.ctl("filter", "add", "ada@example.org", "survey", "--block").expect(
        OK, "block 2: survey")
    ctl_fixture.ctl("filter", "list", "ada@example.org").expect(OK, ["KIND", "2   block"])
    assert [one["block"] for one in ctl_fixture.json("filter", "list", "ada@example.org")
            ] == [False, True, False, False, False, False]


def test_archive(ctl_fixture):
    """filters are tested and explained, papers are searched and explained"""
    ctl_fixture.add("ada@example.org", "--filter", "mamba", "--filter", "diffusion").expect(OK)
    ctl_fixture.ctl("filter", "add", "ada@example.org", "memory", "--block").expect(OK)
    ctl_fixture.ctl("source", "fetch").expect(OK)
    tested = ctl_fixture.json("filter", "test", "state space")
    assert set(tested) == {"canonical", "days", "covered_days", "found", "a_day",
                           "known", "blocked", "forecast", "newest", "notes"}, tested
    assert tested["found"] == len(tested["newest"]) > 0 and tested["days"] == 30
    assert "2611.11340" in [paper["id"] for paper in tested["newest"]]
    text = ctl_fixture.ctl("filter", "test", "state space", "--days", "7").expect(
        OK, ["space AND state\n7 days: ", "The archive covers 3 of these days.", "Newest:",
             "  2026-11-18  2611.11340  Riverbed"])
    assert len(text.out) < 3000, text.text
    ctl_fixture.ctl("filter", "test", "mbmaa or qwertz").expect(
        OK, ["0 papers", 'Note: column 7: "or"', "qwertz: in no paper"])
    suggested = ctl_fixture.json("filter", "suggest", "state space")
    assert set(suggested) == {"suggestions"}, suggested
    for one in suggested["suggestions"]:
        found = ctl_fixture.json("filter", "test", one["filter"])["found"]
        assert found == tested["found"] + one["papers"] > tested["found"], one
    ctl_fixture.ctl("filter", "suggest", "nowhere").expect(OK, "No suggestions")
    ctl_fixture.ctl("filter", "suggest", "--address", "ada@example.org", "9").expect(
        NOUSER, "", "no such filter: 9")
    # By number it is compared with the subscriber's other filters, without itself.
    mine = ctl_fixture.json("filter", "test", "--address", "ada@example.org", "1")
    other = ctl_fixture.json("filter", "test", "--address", "ada@example.org", "mamba")
    assert mine["canonical"] == "mamba" and mine["known"] < other["known"], other
    assert other["known"] == other["found"] > 0 and other["blocked"] > 0, other
    ctl_fixture.ctl("filter", "test", "--address", "ada@example.org", "3").expect(
        OK, "match other filters and would be blocked")
    ctl_fixture.ctl("filter", "test", "--address", "ada@example.org", "9").expect(
        NOUSER, "", "no such filter: 9")
    for days in ("0", "367"):
        ctl_fixture.ctl("filter", "test", "mamba", "--days", days).expect(
            DATA, "", "--days must be from 1 to 365")
    ctl_fixture.ctl("filter", "test", "ti:").expect(DATA, "", "column 4")

    ctl_fixture.ctl("filter", "explain", "mamba^3 OR cat:cs.CL").expect(
        OK, ["cat:cs.CL OR mamba^3\n  OR\n    cat:cs.CL\n    mamba^3\n"])
    ctl_fixture.ctl("filter", "explain", "mamba cat:cs.CL", "arXiv:2611.11340v2").expect(
        OK, ["2611.11340  Riverbed", ": unknown\n", "abstract: Mamba"])
    explained = ctl_fixture.json("filter", "explain", "mamba", "2611.11340")
    assert explained["truth"] == "true"
    assert explained["steps"][0]["hits"][0]["words"] == "Mamba", explained
    ctl_fixture.ctl("filter", "explain", "--", "-survey mamba", "2611.11340").expect(
        OK, "mamba NOT survey\n2611.11340 ")
    ctl_fixture.ctl("filter", "explain", "--", "-survey mamba").expect(
        OK, "mamba NOT survey\n")
    ctl_fixture.ctl("filter", "explain", "mamba", "2611.99999").expect(
        NOUSER, "", "no source has listed a paper '2611.99999' yet")

    found = ctl_fixture.json("search", "mamba OR diffusion", "--limit", "2")
    assert len(found["results"]) == 2 < found["found"], found
    assert not found["more"] and not found["cut"], found
    scores = [result["score"] for result in found["results"]]
    assert scores == sorted(scores, reverse=True)
    ctl_fixture.ctl("search", "mamba").expect(OK, ["papers\n", "2611.11340  Riverbed"])
    none = ctl_fixture.json("search", "mamba", "--since", "2026-11-21")
    assert none["found"] == 0 and none["results"] == []
    ctl_fixture.ctl("search", "mamba", "--since", "today").expect(DATA, "", "invalid day")
    for limit in ("0", "201"):
        ctl_fixture.ctl("search", "mamba", "--limit", limit).expect(DATA, "", "1 to 200")

    ctl_fixture.ctl("preview", "ada@example.org").expect(OK)
    templates = os.path.join(ctl_fixture.directory, "other-templates")
    shutil.copytree(TEMPLATES, templates)
    with open(os.path.join(templates, "digest.txt"), "a", encoding="utf-8") as file:
        file.write("Another look.\n")
    for more in ([], ["--raw"]):
        ctl_fixture.ctl("preview", "ada@example.org", "--templates", templates, *more).expect(
            OK, "Another look.")
    ctl_fixture.ctl("preview", "ada@example.org", "--templates", "/missing").expect(
        NOUSER, "", "/missing/")
    why = ctl_fixture.ctl("why", "ada@example.org", "2611.11340").expect(
        OK, ["answer   block 3 excludes it", "listed   hf on 2026-11-18 as new",
             "filter 1, mamba: true; matched at 2026-11-20", "block 3, memory: true",
             "filter 2, diffusion: false"])
    assert all(len(line) <= 160 for line in why.out.splitlines()), why.text
    reason = ctl_fixture.json("why", "ada@example.org", "2611.11340v1")
    assert reason["outcome"] == "blocked" and len(reason["filters"]) == 3
    # By its title, or words of it.
    title = ctl_fixture.json("search", "id:2611.11340")["results"][0]["title"]
    for words in (title, title.upper(), " ".join(title.split()[:2])):
        same = ctl_fixture.ctl("why", "ada@example.org", words)
        assert same.out == why.out, same.text
    ctl_fixture.ctl("why", "ada@example.org", "no such title").expect(
        NOUSER, "", "no paper has these words in its title: no such title")
    ctl_fixture.ctl("why", "ada@example.org", "language model").expect(DATA, "", ["several papers", ", 26"])
    ctl_fixture.ctl("why", "nobody@example.org", "2611.11340").expect(
        NOUSER, "", "is not a subscriber")


def test_tex(ctl_fixture):
    """TeX is found as the source wrote it, and shown as text"""
    directory = os.path.join(ctl_fixture.directory, "papers")
    shutil.copytree(SAMPLES, directory)
    title = "Sorting in $\\mathcal{O}(n \\log n)$~Time, \\eg Riverbed$_2$"
    shown = "Sorting in 𝒪(n log n) Time, e.g. Riverbed₂"
    path = os.path.join(directory, "daily_papers-2026-11-18.json")
    os.chmod(path, 0o644)
    papers = json.loads(read(path))
    with open(path, "w", encoding="utf-8") as file:
        for paper in papers:
            if paper["paper"]["id"] == "2611.11340":
                paper["title"] = paper["paper"]["title"] = title
        json.dump(papers, file)
    ctl_fixture.write(ctl_fixture.format(samples=directory))
    ctl_fixture.add("ada@example.org", "--filter", '"n log n"').expect(OK)
    ctl_fixture.ctl("source", "fetch").expect(OK)
    for words in "mathcal", '"n log n"':
        found = ctl_fixture.json("search", words)["results"]
        assert [paper["title"] for paper in found] == [title], found
        assert words != "mathcal" or found[0]["words"] == "mathcal in the title", found
        ctl_fixture.ctl("search", words).expect(OK, "2611.11340  " + shown)
        ctl_fixture.ctl("filter", "test", words).expect(OK, "2611.11340  " + shown)
    ctl_fixture.ctl("why", "ada@example.org", "2611.11340").expect(OK, shown)
    ctl_fixture.ctl("filter", "explain", "mathcal", "2611.11340").expect(OK, shown)
    preview = ctl_fixture.json("preview", "ada@example.org")
    assert preview[0]["reasons"][0]["words"] == '"n \\log n" in the title', preview
    ctl_fixture.ctl("preview", "ada@example.org").expect(OK, [shown, '"n log n" in the title'])


def test_shares(ctl_fixture):
    """the operator lists shared filters and ends the sharing of one"""
    ctl_fixture.ctl("share", "list").expect(OK, "No filter is shared.")
    ctl_fixture.add().expect(OK)
    ctl_fixture.ctl("filter", "add", "ada@example.org", "diffusion").expect(OK)
    ctl_fixture.db.change("INSERT INTO share (name, subscription_id, version, created_at)"
                          " SELECT 'weather-news', id, 1, 0 FROM subscription")
    (listed,) = ctl_fixture.json("share", "list")
    assert listed == {"name": "weather-news", "owner": "ada@example.org", "filter": 1,
                      "version": 1, "created_at": 0,
                      "query": "diffusion"}, listed
    ctl_fixture.ctl("share", "list").expect(OK, ["weather-news", "ada@example.org"])
    ctl_fixture.ctl("share", "remove", "other", "--yes").expect(
        NOUSER, err='no shared filter "other"')
    ctl_fixture.ctl("share", "remove", "Weather-News", "--yes").expect(
        OK, "no longer shared")
    assert ctl_fixture.json("share", "list") == []
    ctl_fixture.ctl("filter", "list", "ada@example.org").expect(OK, "diffusion")


def test_filter_errors(ctl_fixture):
    """a syntax error in a filter is shown with a caret, and nothing is stored"""
    ctl_fixture.add().expect(OK)
    rows = [
        ("upvotes:>=ten diffusion", 11),
        ("diffusion OR", 11),
        ('"open', 1),
        ("größe (mamba", 7),
        ("größe nofield:x", 7),
    ]
    for query, column in rows:
        for done in (ctl_fixture.ctl("filter", "add", "ada@example.org", query),
                     ctl_fixture.add("new@example.org", "--filter", "good", "--filter",
                                query)):
            done.expect(DATA, "", "invalid filter")
            lines = done.err.splitlines()
            assert lines[0].startswith(f"error  column {column}: "), done.text
            at = next(i for i, line in enumerate(lines) if line.strip() == "^")
            assert lines[at].index("^") - lines[at - 1].index(query) == column - 1, \
                done.text
            assert lines[-1].startswith("paperboyctl: "), done.text
            assert done.out == "", done.text
    assert len(ctl_fixture.json("subscriber", "list")) == 1
    ctl_fixture.ctl("filter", "add", "ada@example.org", "x" * 513).expect(
        DATA, "", "512")
    ctl_fixture.ctl("filter", "add", "ada@example.org", "a\x1b[2Jb").expect(DATA, "", "control")
    assert "\x1b" not in ctl_fixture.ctl("filter", "add", "ada@example.org", "a\x1bb").err
    ctl_fixture.ctl("filter", "add", "ada@example.org", "mamba").expect(OK)
    ctl_fixture.ctl("filter", "add", "ada@example.org", "MAMBAS").expect(
        DATA, "", "filter 1 is the same: mamba")


def test_unknown_people(ctl_fixture):
    """every command with a subscriber reports an unknown one, status 67"""
    for arguments in (["subscriber", "show"], ["subscriber", "remove"],
                      ["filter", "list"], ["filter", "add"], ["filter", "remove"],
                      ["preview"], ["bounce", "show"], ["bounce", "forget"]):
        more = {"add": ["query"], "remove": ["1"]}.get(arguments[-1], [])
        if arguments[0] == "subscriber":
            more = []
        ctl_fixture.ctl(*arguments, "none@example.org", *more).expect(
            NOUSER, "", "paperboyctl: none@example.org is not a subscriber\n")
        ctl_fixture.ctl(*arguments, "none", *more).expect(DATA, "", "address has no '@'")


def test_invite(ctl_fixture):
    """invitations are mailed, but not to subscribers; subscribe.max holds for all"""
    ctl_fixture.add().expect(OK)
    ctl_fixture.ctl("invite", "eva@example.org").expect(DATA, "", "commands.address is not set")
    more = 'commands: { address = "paperboy@news.example"; };\n'
    ctl_fixture.write(ctl_fixture.format(more=more))
    ctl_fixture.ctl("invite", "a@b@c", "eva@example.org", "ada@example.org",
                    "paperboy@news.example").expect(
        1, "1 address invited\n", ["a@b@c: not invited: address has more than one '@'\n",
                                   "ada@example.org: not invited: already subscribed\n",
                                   "paperboy@news.example: not invited: our own address\n"])
    ctl_fixture.ctl("invite", "a@b@c").expect(DATA, "", "a@b@c: address has more than one '@'")
    (mail,) = ctl_fixture.json("queue")
    assert (mail["recipient"], mail["kind"]) == ("eva@example.org", "confirmation"), mail
    (invited,) = ctl_fixture.json("confirmation", "list")
    assert (invited["purpose"], invited["address"]) == ("invitation", "eva@example.org"), invited
    ctl_fixture.write(ctl_fixture.format(more=more + "subscribe: { max = 2; };\n"))
    ctl_fixture.add("bob@example.org").expect(OK)
    ctl_fixture.add("carl@example.org").expect(DATA, "", "subscribe.max is reached: 2\n")
    people = os.path.join(ctl_fixture.directory, "people.csv")
    save(people, "address\nada@example.org\ndora@example.org\n")
    ctl_fixture.ctl("subscriber", "import", people, "--consent", "by phone").expect(
        OK, ["0 added\n", "1 not added: subscribe.max is reached\n"])
    ctl_fixture.write(ctl_fixture.format(more='subscribe: { policy = "domains"; };\n'))
    ctl_fixture.daemon("--check").expect(
        CONFIG, "", "subscribe.domains: must be set for the policy domains\n")
    ctl_fixture.write(ctl_fixture.format(more='subscribe: { domains = "example.org a..b"; };\n'))
    ctl_fixture.daemon("--check").expect(CONFIG, "", "subscribe.domains: 'a..b': ")


def test_bulk(ctl_fixture):
    """a list of another program is imported; blocked addresses are suppressed in bulk"""
    people = os.path.join(ctl_fixture.directory, "listmonk.csv")
    save(people, "uuid,email,name,status\n1,ada@example.org,Ada,enabled\n"
                 "2,bob@example.org,Bob,blocklisted\n")
    ctl_fixture.ctl("subscriber", "import", people, "--consent", "by phone").expect(
        OK, ["1 added\n", "1 not added: blocked there (suppression import keeps it)\n",
             "ignored columns: uuid\n", "1 without a filter: "])
    ctl_fixture.ctl("suppression", "import", people).expect(DATA, "", "--yes")
    assert ctl_fixture.json("suppression", "list") == []
    ctl_fixture.ctl("suppression", "import", people, "--yes").expect(
        OK, "1 suppressed\n", "1 not suppressed: their state is not blocked\n")
    ctl_fixture.add("bob@example.org").expect(DATA, "", "is suppressed since")
    save(people, "Ada <ada@example.org>\ncarl@example.org\nno address\n")
    ctl_fixture.ctl("suppression", "import", people, "--yes").expect(
        DATA, "", [f"{people}:3: column address: ", "1 line is invalid in "])
    save(people, "ada@example.org\n\0\ncarl@example.org\n")
    ctl_fixture.ctl("suppression", "import", people, "--yes").expect(
        DATA, "", [f"{people}:2: invalid UTF-8", "1 line is invalid in "])
    save(people, "Ada <ada@example.org>\ncarl@example.org\n")
    ctl_fixture.ctl("suppression", "import", people, "--yes", "--reason", "complaint").expect(
        OK, "2 suppressed\n")
    assert len(ctl_fixture.json("suppression", "list")) == 3
    ctl_fixture.ctl("subscriber", "list").expect(OK, "No subscribers")


# ---- papers, digests and the queue ------------------------------------------


def test_work(ctl_fixture):
    """papers are fetched, previewed, mailed and shown again"""
    ctl_fixture.ctl("status").expect(
        FAILING, ["paperboyd    not running", "source hf    never polled yet",
                  "papers       0", "subscribers  0 active; next digest due -",
                  "TO DO        paperboyd is not running, so nothing is collected, sent "
                  "or received: systemctl start paperboyd",
                  "             source hf was never polled: start paperboyd"])
    ctl_fixture.ctl("queue").expect(OK, "The queue is empty.")
    assert ctl_fixture.json("queue") == []
    ctl_fixture.ctl("digest", "show", "last").expect(NOUSER, "", "no digests yet")
    ctl_fixture.add("ada@example.org", "--filter", "diffusion OR GPU* OR model").expect(
        OK, ["MEANS", "diffusion OR gpu* OR model"])
    ctl_fixture.ctl("preview", "ada@example.org").expect(OK, "No new papers for ada@example.org")
    assert ctl_fixture.json("preview", "ada@example.org") == []
    fetched = ctl_fixture.json("source", "fetch")
    assert set(fetched) == {"fetched", "failed", "new", "changed", "matches"}
    assert fetched["fetched"] == 15 and fetched["failed"] == 0, fetched
    assert fetched["new"] > 20 and fetched["matches"] > 5, fetched
    ctl_fixture.ctl("source", "fetch").expect(OK, "0 new papers, ")

    preview = ctl_fixture.json("preview", "ada@example.org")
    assert set(preview[0]) == {"id", "title", "url", "day", "upvotes", "reasons"}
    assert preview[0]["reasons"][0]["filter"] == "diffusion"
    text = ctl_fixture.ctl("preview", "ada@example.org").expect(
        OK, [preview[0]["title"][:30], " in the title"]).out
    ctl_fixture.ctl("preview", "ada@example.org", "--html").expect(OK, ["<html", "</html>"])
    raw = ctl_fixture.ctl("preview", "ada@example.org", "--raw").expect(
        OK, ["To: ", "ada@example.org", "Message-ID: <"]).out
    assert "MIME-Version: 1.0" in raw

    ctl_fixture.daemon("--once", "--now", LATER).expect(OK, "", "digests=1 sent=1")
    assert len(os.listdir(os.path.join(ctl_fixture.directory, "Maildir", "new"))) == 1
    ctl_fixture.ctl("digest", "show", "last").expect(OK, text)
    ctl_fixture.ctl("digest", "show", "1", "--html").expect(OK, "<html")
    assert ctl_fixture.json("digest", "show", "last") == preview
    for number in ("0", "-1", "x", "1x", ""):
        ctl_fixture.ctl("digest", "show", "--", number).expect(
            DATA, "", f"invalid digest '{number}' (expected a number or 'last')")
    ctl_fixture.ctl("digest", "show", "77").expect(NOUSER, "", "no such digest")

    ctl_fixture.ctl("queue").expect(OK, "The queue is empty.")
    table = ctl_fixture.ctl("queue", "--all").expect(
        OK, ["SENT", "ada@example.org"]).out.splitlines()
    assert table[0].split()[:5] == ["ID", "KIND", "DIGEST", "STATE", "ATTEMPTS"], table
    row = ctl_fixture.json("queue", "--all")[0]
    assert set(row) == {"id", "kind", "digest", "recipient", "state", "attempts", "queued_at",
                        "next_try_at", "ended_at", "code", "reply", "held_why",
                        "possible_copies", "crashes"}, row
    assert row["state"] == "SENT" and row["attempts"] == 1 and row["next_try_at"] is None

    status = ctl_fixture.json("status")
    assert set(status) == {
        "running", "sources", "coverage", "papers", "subscribers", "filters", "matches",
        "waiting", "next_digest_at", "queue", "started_at", "collected_at", "delivered_at", "relay",
        "people", "oldest", "restore", "backup_at", "disk_free_bytes", "store_bytes",
        "wal_bytes", "problems", "receivers", "inbox", "confirmations", "bounces",
        "limits", "state", "paused_since", *({"instances"} if ctl_fixture.db.url else ())}, status
    assert status["people"] == {"pending": 0, "active": 1, "paused": 0, "suspended": 0,
                                "gone": 0}
    assert [one["check"] for one in status["problems"]] == ["daemon"], status
    assert status["state"] == "failing" and status["restore"] is None, status
    assert status["running"] is False and status["subscribers"] == 1
    assert set(status["sources"][0]) == {"source", "day", "status", "fetched_at", "good_at",
                                         "error", "papers_day", "papers", "audit_day", "missed"}
    assert status["queue"] == {"new": 0, "sending": 0, "deferred": 0, "unknown": 0,
                               "held": 0, "failed": 0}
    ctl_fixture.ctl("status").expect(
        FAILING, ["source hf    ok at 2026-11-20 18:05 UTC; newest day 2026-11-20 with 12",
             "next digest due 2026-11-21 07:30 UTC", "queue        0 new"])


def test_failed_source(ctl_fixture):
    """a failing source is reported by fetch and status"""
    directory = os.path.join(ctl_fixture.directory, "papers")
    shutil.copytree(SAMPLES, directory)
    path = os.path.join(directory, "daily_papers-2026-11-19.json")
    os.chmod(path, 0o644)
    save(path, '[{"paper": \n')
    ctl_fixture.write(ctl_fixture.format(samples=directory))
    ctl_fixture.ctl("source", "fetch").expect(
        TEMPFAIL, "15 days fetched, 1 failed",
        ["fetch failed source=hf day=2026-11-19", "a source failed: see paperboyctl source list"])
    ctl_fixture.ctl("status").expect(
        FAILING, ["source hf    FAILED", "2026-11-19: ", "last success at",
                  "             source hf fails: paperboyctl source list"])
    ctl_fixture.ctl("source", "list").expect(OK, ["on, FAILING", "error        2026-11-19: "])
    status = ctl_fixture.json("status")
    assert status["sources"][0]["error"].startswith("2026-11-19: ")
    # The other days are fetched.
    assert status["papers"] > 15
    shutil.copy(os.path.join(SAMPLES, os.path.basename(path)), path)
    ctl_fixture.ctl("source", "fetch").expect(OK, "0 failed")
    ctl_fixture.ctl("status").expect(FAILING, "source hf    ok")
    save(path, "[]")
    ctl_fixture.ctl("source", "fetch").expect(
        TEMPFAIL, "1 failed", "a source failed: see paperboyctl source list")
    ctl_fixture.ctl("status").expect(
        FAILING, ["source hf    FAILED", "the list of 2026-11-19 is empty but had "])
    ctl_fixture.ctl("source", "replay", "hf", "2026-11-19").expect(DATA, "", "is empty but had")


def test_wrong_source(ctl_fixture):
    """source list reports a source with an error, and how to repair it"""
    repair = "change that line (paperboy.conf(5), SOURCES), then run paperboyd --check"
    wrong = ctl_fixture.format().replace('kind = "huggingface"', 'kind = "hugingface"')
    problem = 'source "hf": unknown kind "hugingface": did you mean "huggingface"?'
    ctl_fixture.write(wrong)
    done = ctl_fixture.ctl("source", "list").expect(CONFIG, "", [problem, repair])
    assert re.search(r"conf:\d+: source", done.err) and not done.out
    assert json.loads(ctl_fixture.ctl("--json", "source", "list").expect(
        CONFIG, "", problem).out) == []
    # The others are listed.
    ctl_fixture.write(ctl_fixture.format().replace(
        "sources = (", 'sources = ( { name = "one"; kind = "arxiv"; },'))
    ctl_fixture.ctl("source", "list").expect(CONFIG, "hf\n", [
        'source "one": categories is missing: the kind arxiv needs it', repair])
    ctl_fixture.write(re.sub(r"(?s)sources = \(.*?\);", "sources = ();", ctl_fixture.format()))
    ctl_fixture.ctl("source", "list").expect(OK, "No sources are enabled")


def test_late_list(ctl_fixture):
    """a source without the list of the day is late, and status reports it"""
    ctl_fixture.ctl("source", "fetch").expect(OK)
    ctl_fixture.ctl("status").expect(FAILING, "source hf    ok")
    # Monday's list is expected by 10:00.
    for time, words in (
            ("09:59", "source hf    ok"),
            ("10:01", [
                "source hf    LATE",
                "             source hf is late: it answers, but its list of 2026-11-23 is missing"])):
        now = f"2026-11-23T{time}:00Z"
        ctl_fixture.ctl("--now", now, "source", "fetch").expect(OK)
        ctl_fixture.ctl("--now", now, "status").expect(FAILING, words)
    ctl_fixture.ctl("--now", now, "source", "list").expect(
        OK, ["on, LATE", "missing      the list of 2026-11-23"])


def test_waiting_mail(ctl_fixture):
    """an undeliverable message is reported by --once, status and queue"""
    ctl_fixture.write(ctl_fixture.format().replace(
        'method = "maildir"; maildir = "', 'method = "maildir"; maildir = "/proc/none'))
    ctl_fixture.add("ada@example.org", "--filter", "model").expect(OK)
    ctl_fixture.daemon("--once", "--now", LATER).expect(TEMPFAIL, "", "sent=0")
    # It was just tried and is not due, but is still queued.
    ctl_fixture.daemon("--once", "--now", LATER).expect(TEMPFAIL, "", "sent=0")
    ctl_fixture.ctl("queue").expect(OK, ["DEFERRED", "ada@example.org", "/proc/none"])
    ctl_fixture.ctl("status").expect(
        FAILING, ["1 deferred", "see paperboyctl queue",
             "the oldest, message 1, waits since 2026-11-20 18:05 UTC",
             "message 1 is deferred: ", "/proc/none"])


# ---- configuration ----------------------------------------------------------


def test_check(tap):
    """the sample configuration is valid, but its addresses are rejected"""
    directory = tap.subdirectory("check")
    path = os.path.join(directory, "paperboy.conf")
    shipped = read_text(os.path.join(top_srcdir(), "etc", "paperboy.conf"))
    save(path, f'template_dir = "{TEMPLATES}";\n{shipped}')
    said = "mail.from or mail.owner is still the shipped default"
    done = Done(DAEMON, ["--check", "-c", path]).expect(CONFIG, "", said)
    assert done.out == "", done.text
    own = shipped.replace("paperboy@example.org", "papers@news.example", 1)
    for text, wanted in ((own, said),
                         (own.replace("postmaster@example.org", "ada@news.example"), "")):
        save(path, f'template_dir = "{TEMPLATES}";\n{text}')
        assert Done(DAEMON, ["--check", "-c", path]).expect(
            CONFIG if wanted else OK, "", wanted).out == ""
    # The settings in comments are valid, too.
    lines = [re.sub(r"^(\s*)# (\w+ = .*;)$", r"\1\2", line)
             for line in shipped.splitlines()]
    password = os.path.join(directory, "password")
    with open(os.open(password, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
        file.write("secret\n")
    save(path, f'template_dir = "{TEMPLATES}";\n' + "\n".join(lines).replace(
        "/etc/paperboy/store-password", password))
    Done(DAEMON, ["--check", "-c", path]).expect(CONFIG, "", said)
    assert len(set(lines) - set(shipped.splitlines())) > 15


def test_many_errors(ctl_fixture):
    """each error of a configuration is reported with file and line, status 78"""
    ctl_fixture.write('colour = "red";\nstate_dir = 3;\nsmtp: { port = 99999; };\n'
                 'mail: { from = "a@b.example"; };\n'
                 f'template_dir = "{TEMPLATES}";\n{ctl_fixture.db.config}\n')
    for done in (ctl_fixture.daemon("--check"), ctl_fixture.ctl("queue"), ctl_fixture.daemon("--once", "--now", NOW)):
        done.expect(CONFIG, "", [
            f'{ctl_fixture.config}:1: unknown setting "colour"',
            f"{ctl_fixture.config}:2: state_dir must be a quoted text",
            f"{ctl_fixture.config}:3: smtp.port must be from 1 to 65535",
            f"{ctl_fixture.config}: mail.owner is not set"])
        assert len(done.err.splitlines()) == 4, done.text
    # Each value is of the right type, but invalid.
    ctl_fixture.write(f'template_dir = "{TEMPLATES}";\n'
                 'mail: { from = "nobody"; owner = "a@b@c"; envelope_from = "<>";\n'
                 'domain = "-x-"; };\n'
                 'digest: { zone = "posix/UTC"; at = "7.30"; };\n'
                 'smtp: { user = "u"; password_file = "relay"; };\n'
                 'sources = ( { name = "hf"; kind = "huggingface"; url = "hf.co"; } );\n')
    done = ctl_fixture.daemon("--check").expect(CONFIG, "", [
        f"{ctl_fixture.config}:{line}: {name}: " for line, name in (
            (2, "mail.from"), (2, "mail.owner"), (2, "mail.envelope_from"),
            (3, "mail.domain"), (4, "digest.zone"), (4, "digest.at"),
            (5, "smtp.password_file"), (6, 'source "hf": url'))])
    assert len(done.err.splitlines()) == 8, done.text
    ctl_fixture.write('template_dir = "/nonexistent";\n'
                 'mail: { from = "a@b.example"; owner = "o@b.example"; };\n')
    ctl_fixture.daemon("--check").expect(CONFIG, "", ":1: template_dir: no such directory: '/nonexistent'")
    os.unlink(ctl_fixture.config)
    ctl_fixture.ctl("queue").expect(
        CONFIG, "", f"{ctl_fixture.config}: cannot read the file: No such file or directory")


def test_daemon_usage(ctl_fixture):
    """paperboyd reports errors of its command line, status 64"""
    for arguments, words in (
        (["--once", "--now", "yesterday"], "'yesterday' is not a time"),
        (["--once", "--now", "2026-11-20"], "'2026-11-20' is not a time"),
        (["--once", "--now"], "Missing argument for --now"),
        (["--now", NOW, "--daemon"], "Unknown option --daemon"),
        (["--now", NOW, "start"], "unexpected argument 'start'"),
    ):
        ctl_fixture.daemon(*arguments).expect(USAGE, "", [words, "Try 'paperboyd --help'"])
    Done(DAEMON, ["--help"]).expect(OK, ["--check", "--once", "Exit status"])


def test_state_directory(ctl_fixture):
    """an unusable state directory or store is reported, status 69"""
    state = os.path.join(ctl_fixture.directory, "state")
    os.rmdir(state)
    said = [f"cannot use the state directory '{state}'", "paperboyd creates it"]
    ctl_fixture.ctl("queue").expect(UNAVAILABLE, "", said)
    ctl_fixture.ctl("status").expect(FAILING, ["FAILING: cannot use", *said])
    ctl_fixture.ctl("status", "--json").expect(FAILING, "", said)
    ctl_fixture.daemon("--once", "--now", LATER).expect(OK, "", "run done")
    assert stat.S_IMODE(os.stat(state).st_mode) == 0o700
    os.chmod(state, 0o755)
    ctl_fixture.daemon("--once", "--now", LATER).expect(UNAVAILABLE, "", "chmod 700")
    os.chmod(state, 0o700)
    for name in os.listdir(state):
        os.unlink(os.path.join(state, name))
    with open(os.path.join(state, "paperboy.db"), "w", encoding="ascii"):
        pass
    for done in (ctl_fixture.ctl("queue"), ctl_fixture.daemon("--once", "--now", LATER)):
        done.expect(UNAVAILABLE, "", "paperboy.db' is empty, so it is not a store")
        assert len(done.err.splitlines()) == 1, done.text


def test_owner(ctl_fixture):
    """run by root, paperboyctl becomes the owner of the state directory"""
    if os.geteuid() != 0:
        raise Skip("not root")
    ctl_fixture.install()
    state = os.path.join(ctl_fixture.directory, "state")
    os.chown(state, 65534, 65534)
    ctl_fixture.add("ada@example.org", "--filter", "model").expect(OK)
    ctl_fixture.ctl("preview", "ada@example.org").expect(OK)
    ctl_fixture.ctl("source", "fetch").expect(OK)
    ctl_fixture.ctl("preview", "ada@example.org").expect(OK, "model")
    names = os.listdir(state)
    assert "key" in names and ctl_fixture.db.names & set(names), names
    for name in names:
        status = os.stat(os.path.join(state, name))
        assert (status.st_uid, status.st_gid) == (65534, 65534), name
        assert stat.S_IMODE(status.st_mode) == 0o600, name
    # a table that only root can read
    table = os.path.join(ctl_fixture.directory, "people.csv")
    with open(os.open(table, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
        file.write("address\nbob@example.org\n")
    ctl_fixture.ctl("subscriber", "import", table, "--consent", "x").expect(OK, "1 added")
    ctl_fixture.ctl("subscriber", "export", table, "--yes").expect(
        DATA, "", "writes as the owner of the state directory")


def test_other_user(ctl_fixture):
    """run by another user, the error names the owner of the state directory"""
    if os.geteuid() != 0:
        raise Skip("not root")
    os.chmod(ctl_fixture.directory, 0o755)
    ctl_fixture.install()
    ctl_fixture.ctl("queue", user="nobody").expect(
        UNAVAILABLE, "",
        "is owned by root, but this process runs as nobody: try sudo paperboyctl")


# Commands that change nothing, for two subscribers with a filter and a digest.
READING = [
    ["subscriber", "list"], ["subscriber", "show", "bob@example.org"],
    ["subscriber", "export"], ["filter", "list", "bob@example.org"],
    ["filter", "test", "language model"],
    ["filter", "test", "model", "--address", "bob@example.org"],
    ["filter", "explain", "language", "2611.10718"], ["search", "language"],
    ["why", "bob@example.org", "2611.10718"], ["suppression", "list"],
    ["confirmation", "list"], ["log"], ["source", "list"],
    ["digest", "list"], ["digest", "show", "last"], ["queue", "list", "--all"],
    ["queue", "show", "1"], ["inbox", "list"], ["status"], ["metrics"],
]


def test_read_only(tap):
    """on a read-only file system read-only commands work, others report the reason"""
    ctl_fixture = CtlFixture(tap, "read-only")
    ctl_fixture.add("ada@example.org").expect(OK)
    ctl_fixture.add("bob@example.org", "--filter", "language").expect(OK)
    ctl_fixture.ctl("source", "fetch")
    assert ctl_fixture.daemon("--once", "--now", NOW).status == OK
    state = os.path.join(ctl_fixture.directory, "state")
    wanted = [ctl_fixture.ctl(*words) for words in READING]
    (mount,) = need_programs("mount")
    for has_log in (False, True):
        with small_disk(tap, f"disk-{has_log}", 400) as disk, contextlib.ExitStack() as open_:
            if has_log:  # as a crash leaves it
                base = open_.enter_context(contextlib.closing(
                    sqlite3.connect(os.path.join(state, "paperboy.db"))))
                base.execute("UPDATE subscriber SET name = 'Bob' WHERE id = 2")
                base.commit()
            for name in os.listdir(state):
                if not stat.S_ISSOCK(os.stat(os.path.join(state, name)).st_mode):
                    shutil.copy(os.path.join(state, name), disk)
            assert has_log == os.path.exists(os.path.join(disk, "paperboy.db-wal"))
            run([mount, "-o", "remount,ro", disk])
            ctl_fixture.write(ctl_fixture.format().replace(state, disk))
            for words, before in zip(READING, wanted):
                done = ctl_fixture.ctl(*words)
                assert done.status == before.status, done.text
                assert has_log or words in (["status"], ["metrics"]) or (
                    done.out == before.out), done.text + before.text
            if has_log:
                ctl_fixture.ctl("subscriber", "show", "bob@example.org").expect(OK, "Bob")
            ctl_fixture.add("eve@example.org").expect(UNAVAILABLE, "", "readonly database")
            ctl_fixture.ctl("doctor").expect(OK, " ok\n")


def test_lost_output(ctl_fixture):
    """lost output is a failure; a closed pipe is not"""
    ctl_fixture.add().expect(OK)
    command = [CTL, "-c", ctl_fixture.config, "--now", NOW]
    ctl_fixture.add("bob@example.org", "--filter", "language").expect(OK)
    ctl_fixture.ctl("source", "fetch")
    ctl_fixture.ctl("suppression", "add", "eve@example.org", "--yes").expect(OK)
    assert ctl_fixture.daemon("--once", "--now", NOW).status == OK
    # for any output of any size
    for words in (*READING, ["config"], ["--help"], ["--version"], ["filter", "--help"],
                  ["--json", "status"], ["--json", "subscriber", "export", "--filters"],
                  ["subscriber", "export", "-"], ["subscriber", "export", "--filters"],
                  ["preview", "bob@example.org"], ["preview", "bob@example.org", "--raw"],
                  ["digest", "show", "last", "--raw"]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([*command, *words], stdout=full, stderr=subprocess.PIPE,
                                  check=False, timeout=300)
        assert done.returncode == IOERR, (words, done)
        assert done.stderr.startswith(
            b"paperboyctl: cannot write to standard output: "), (words, done)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*command, "config"], stdout=writer, stderr=subprocess.PIPE,
                          check=False, timeout=300)
    os.close(writer)
    assert done.returncode == OK and done.stderr == b"", done


def on_terminal(command, columns, **variables):
    """The output of a command on a terminal, without that of progress."""
    terminal, child = os.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
    with open(os.devnull, "wb") as null:
        process = subprocess.Popen(command, stdin=child, stdout=child, stderr=null,
                                   env=os.environ | variables)
    os.close(child)
    parts = []
    try:
        while part := os.read(terminal, 4096):
            parts.append(part)
    except OSError:  # EIO: the program has ended
        pass
    os.close(terminal)
    process.wait(300)
    return b"".join(parts).decode().replace("\r\n", "\n")


def test_terminal(ctl_fixture):
    """on a terminal tables fit, and verdicts have a colour; elsewhere nothing is cut"""
    long = "a-person-with-a-long-name-and-a-longer-one@a-long-domain.example.org"
    ctl_fixture.add(long).expect(OK)
    whole = ctl_fixture.ctl("subscriber", "list").expect(OK, long).out
    command = [CTL, "-c", ctl_fixture.config, "--now", NOW]
    shown = on_terminal([*command, "subscriber", "list"], 70)
    assert max(map(len, shown.splitlines())) == 70 and "a-person-with" in shown, shown
    assert "…" in shown and long not in shown, shown
    for wide in ([*command, "--wide", "subscriber", "list"],
                 [*command, "subscriber", "list", "--wide"]):
        assert on_terminal(wide, 70) == whole
    assert on_terminal([*command, "subscriber", "list"], 200) == whole
    doctor = [*command, "doctor", "--all"]
    assert "\033[32mok    \033[0m" in on_terminal(doctor, 80, NO_COLOR="")
    assert "\033" not in on_terminal(doctor, 80, NO_COLOR="1")
    assert "\033" not in ctl_fixture.ctl("doctor", "--all").out


def test_newest(ctl_fixture):
    """a list that may be longer says how to see more"""
    for number in range(3):
        ctl_fixture.add(f"person{number}@example.org").expect(OK)
    assert "more with --limit" not in ctl_fixture.ctl("log").out
    ctl_fixture.ctl("log", "--limit", "2").expect(OK, "The newest 2; more with --limit.")


def test_unknown_fields(ctl_fixture):
    """a filter on a field that no source reports yet is stored with a warning"""
    words = "no data from arXiv yet"
    ctl_fixture.add("ada@example.org", "--filter", "cs.LG mamba").expect(OK, "cat:cs.LG", words)
    ctl_fixture.ctl("filter", "add", "ada@example.org", "mamba co:neurips").expect(
        OK, "filter 2", words)
    ctl_fixture.ctl("filter", "edit", "ada@example.org", "2", "mamba").expect(OK)
    ctl_fixture.ctl("filter", "edit", "ada@example.org", "2", "mamba -cs.CV").expect(
        OK, "filter 2", words)
    assert any(words in note for note in ctl_fixture.json(
        "filter", "test", "mamba cs.LG")["notes"])


def test_late_clauses(ctl_fixture):
    """a filter whose papers can be days late is stored with a warning"""
    words = "up to 14 days late"
    ctl_fixture.add("ada@example.org", "--filter", "mamba date:7d.. -has:code").expect(
        OK, "ada@example.org added", words)
    ctl_fixture.ctl("filter", "add", "ada@example.org", "mamba date:7d has:code").expect(
        OK, "filter 2", words)
    ctl_fixture.ctl("filter", "edit", "ada@example.org", "2", "mamba -org:x").expect(
        OK, "filter 2", words)
    ctl_fixture.ctl("filter", "test", "mamba -upvotes:>9").expect(OK, words)
    plain = ctl_fixture.ctl("filter", "add", "ada@example.org", "mamba has:code").expect(OK)
    assert "days late" not in plain.text, plain.text
    ctl_fixture.ctl("search", "mamba date:7d..").expect(OK, "", "measured from the day")


def test_no_room(ctl_fixture):
    """a full disk is reported as such, not as a damaged store"""
    ctl_fixture.add().expect(OK)

    def allow_no_byte():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    done = ctl_fixture.ctl("queue", preexec_fn=allow_no_byte).expect(
        UNAVAILABLE, "", "is the disk full?")
    assert "sound" not in done.err and "backup" not in done.err, done.text


# ---- with a daemon ----------------------------------------------------------


def test_running(ctl_fixture):
    """a running daemon is detected, woken by changes, and the only one"""
    state = os.path.join(ctl_fixture.directory, "state")
    with Child([DAEMON, "-c", ctl_fixture.config, "--now", NOW]) as daemon:
        for _ in range(2):  # in either order
            daemon.wait_line("paperboyd .* started|collector done")
        daemon.wait_socket(os.path.join(state, "control"))
        head, running = ctl_fixture.ctl("status").expect(OK).out.splitlines()[:2]
        assert head == "OK: 0 active subscribers, 0 messages queued", head
        assert running.startswith("paperboyd    running since "), running
        status = json.loads(ctl_fixture.ctl("--json", "status").expect(OK).out)
        assert status["running"] and status["relay"] == "not tried yet", status
        assert status["started_at"] <= status["collected_at"], status
        ctl_fixture.add("ada@example.org", "--filter", "model").expect(OK)
        daemon.wait_line("digests built due=1")
        ctl_fixture.daemon("--once", "--now", NOW).expect(TEMPFAIL, "", f"another paperboyd is running in '{state}'")
        ctl_fixture.ctl("subscriber", "remove", "ada@example.org", "--yes").expect(OK)
        assert daemon.stop() == 0, daemon.output
        daemon.wait_line("paperboyd ended")
    assert not os.path.exists(os.path.join(state, "control"))
    said = ctl_fixture.ctl("status").expect(FAILING, "paperboyd    not running").out
    assert said.startswith("FAILING: paperboyd is not running, so nothing is "), said


def test_killed(ctl_fixture):
    """leftovers of a killed daemon do no harm"""
    with Child([DAEMON, "-c", ctl_fixture.config, "--now", NOW]) as daemon:
        daemon.wait_line("paperboyd .* started")
        daemon.kill()
    assert os.path.exists(os.path.join(ctl_fixture.directory, "state", "control"))
    assert "paperboyd    not running" in ctl_fixture.ctl("status").out
    ctl_fixture.add().expect(OK, "ada@example.org added")
    with Child([DAEMON, "-c", ctl_fixture.config, "--now", NOW]) as daemon:
        daemon.wait_line("paperboyd .* started")
        assert "paperboyd    running" in ctl_fixture.ctl("status").out


with Tap() as tap:
    tap.run(test_help)
    tap.run(test_version)
    tap.run(test_check, tap)
    tap.run(test_read_only, tap)
    for test in (
        test_usage, test_subscriber_csv, test_known, test_refusals, test_bytes, test_filters, test_shares, test_archive,
        test_tex, test_filter_errors, test_unknown_people, test_invite, test_bulk, test_work, test_failed_source,
        test_wrong_source, test_late_list, test_waiting_mail, test_many_errors, test_daemon_usage, test_state_directory,
        test_owner, test_other_user, test_lost_output, test_terminal, test_newest,
        test_unknown_fields, test_late_clauses, test_no_room, test_running,
        test_killed,
    ):
        tap.run(test, CtlFixture(tap, test.__name__))
