#!/usr/bin/env python3
#
# test_ctl.py - paperboyctl and paperboyd on the command line: words, JSON, statuses.

import contextlib
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

from smalldisk import small_disk  # noqa: E402
from tap import (  # noqa: E402
    Child, Skip, Tap, need_programs, run, top_builddir, top_srcdir,
)

CTL = os.path.join(top_builddir(), "paperboyctl")
DAEMON = os.path.join(top_builddir(), "paperboyd")
TEMPLATES = os.path.join(top_srcdir(), "etc", "templates")
SAMPLES = os.path.join(top_srcdir(), "samples")
NOW = "2026-11-20T18:00:00Z"
LATER = "2026-11-20T18:05:00Z"  # a made-up clock goes on while a program runs

OK, USAGE, DATA, NOUSER, UNAVAILABLE, TEMPFAIL, CONFIG = 0, 64, 65, 67, 69, 75, 78
IOERR = 74
WANTED = 1  # of status: something wants a person

GOOD = """\
state_dir = "{folder}/state";
template_dir = "{templates}";
mail: {{ from = "paperboy@news.example"; owner = "owner@example.org"; }};
delivery: {{ method = "maildir"; maildir = "{folder}/Maildir"; }};
huggingface: {{ url = "file://{samples}"; }};
arxiv: {{ enrich = false; }};
{more}
"""


class Done:
    """What a command said and how it ended."""

    def __init__(self, program, arguments, **popen):
        done = subprocess.run(
            [program, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
            timeout=60, **popen)
        self.status = done.returncode
        self.out = done.stdout.decode()
        self.err = done.stderr.decode("utf-8", "replace")
        self.text = f"{arguments}: {self.status}\n{self.out}--\n{self.err}"

    def expect(self, status, out="", err=""):
        """Status, and words in the outputs; "" of err: nothing at all is said."""
        assert self.status == status, self.text
        for words in [out] if isinstance(out, str) else out:
            assert words in self.out, f"no {words!r} in {self.text}"
        for words in [err] if isinstance(err, str) else err:
            assert words in self.err, f"no {words!r} in {self.text}"
        if not err:
            assert self.err == "", self.text
        return self


class Office:
    """A folder with a configuration, a state folder and a mailbox."""

    def __init__(self, tap, name, more=""):
        self.folder = tap.subfolder(name)
        os.mkdir(os.path.join(self.folder, "state"), 0o700)
        self.config = os.path.join(self.folder, "paperboy.conf")
        self.write(GOOD.format(folder=self.folder, templates=TEMPLATES,
                               samples=SAMPLES, more=more))

    def write(self, text):
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(text)

    def ctl(self, *arguments, **popen):
        return Done(CTL, ["-c", self.config, "--now", NOW, *arguments], **popen)

    def json(self, *arguments):
        return json.loads(self.ctl("--json", *arguments).expect(OK).out)

    def daemon(self, *arguments):
        return Done(DAEMON, ["-c", self.config, *arguments])

    def add(self, address="ada@example.org", *more):
        return self.ctl("subscriber", "add", address, "--consent", "by phone", *more)


# ---- usage and help ---------------------------------------------------------

COMMANDS = [
    ("subscriber", "add"), ("subscriber", "list"), ("subscriber", "show"),
    ("subscriber", "set"), ("subscriber", "pause"), ("subscriber", "resume"),
    ("subscriber", "remove"), ("subscriber", "forget"), ("subscriber", "import"),
    ("subscriber", "export"), ("filter", "add"), ("filter", "list"), ("filter", "edit"),
    ("filter", "move"), ("filter", "rename"), ("filter", "test"),
    ("filter", "explain"), ("filter", "remove"), ("search",), ("why",),
    ("ticket", "list"), ("suppression", "list"), ("suppression", "add"), ("suppression", "remove"),
    ("config",), ("log",), ("preview",), ("source", "list"), ("source", "fetch"),
    ("source", "replay"), ("digest", "list"), ("digest", "show"), ("queue", "list"),
    ("queue", "show"), ("queue", "retry"), ("queue", "hold"), ("queue", "release"),
    ("queue", "drop"), ("queue",), ("backup",), ("restore",), ("doctor",), ("status",),
    ("metrics",), ("reload",),
]


def test_help():
    """the help tells every command, and each command's help is about it"""
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
        # where the configuration lies is as long as configure was told
        assert len(line) <= 80 or "/paperboy.conf" in line, line


def test_version():
    """both programs tell one version"""
    ctl = Done(CTL, ["--version"]).expect(OK, "paperboyctl ").out.split()
    daemon = Done(DAEMON, ["--version"]).expect(OK, "paperboyd ").out.split()
    assert ctl[1] == daemon[1] and len(ctl) == 2


def test_usage(office):
    """wrong usage is told with the usage of what was meant, status 64"""
    rows = [
        ([], "Adds subscribers and filters"),
        (["bogus"], ["no command 'bogus'", "Try 'paperboyctl --help'"]),
        (["subscriber"], ["no command 'subscriber'", "subscriber list"]),
        (["subscriber", "delete", "x"], ["no command 'subscriber delete'",
                                         "subscriber remove ADDRESS"]),
        (["subscriber", "show"], ["an argument is missing", "usage: "]),
        (["subscriber", "show", "a@b.example", "more"], "too many: 'more'"),
        (["subscriber", "list", "--loud"], "Unknown option --loud"),
        (["subscriber", "add", "a@b.example"], "--consent is missing"),
        (["subscriber", "add", "--consent", "x"], "an argument is missing"),
        (["subscriber", "add", "a@b.example", "--consent"], "Missing argument"),
        (["subscriber", "add", "a@b.example", "--consent", "x", "--max", "ten"],
         "Cannot parse integer value"),
        (["subscriber", "set", "a@b.example"], "say what to set: --zone, --at"),
        (["config", "a", "b"], "too many: 'b'"),
        (["filter", "add", "a@b.example"], "an argument is missing"),
        (["filter", "add", "a@b.example", "-survey"], ["write -- before", "-survey"]),
        (["queue", "all"], "too many: 'all'"),
        (["fetch"], "no command 'fetch'"),
        (["source", "fetch", "hf", "now"], "too many: 'now'"),
        (["queue", "drop", "1", "--state", "HELD", "--yes"], "--state goes with all"),
        (["queue", "retry", "all", "1"], "'all' stands alone"),
    ]
    for arguments, words in rows:
        done = office.ctl(*arguments).expect(USAGE, "", words)
        assert done.out == "", done.text
        assert len(done.err.splitlines()) < 140, done.text
    for time in ("noon", "2026-11-20", "2026-13-01T00:00:00Z", ""):
        Done(CTL, ["-c", office.config, "--now", time, "status"]).expect(
            USAGE, "", f"'{time}' is no time: 2026-11-20T09:00:00Z is one")
    Done(CTL, ["--loud", "status"]).expect(USAGE, "", "--loud")


# ---- people and filters -----------------------------------------------------


def test_people(office):
    """people are added, shown, listed and removed"""
    office.ctl("subscriber", "list").expect(OK, "There are no subscribers")
    assert office.json("subscriber", "list") == []
    office.add("Ada Example <ada@EXAMPLE.org>", "--zone", "Europe/Berlin", "--at",
               "6:05", "--cadence", "weekly:thu,mon", "--max", "5").expect(
        OK, ["ada@example.org added", "No filters: nothing will be found"])
    office.ctl("subscriber", "show", "ada@example.org").expect(
        OK, ["address      ada@example.org\n", "name         Ada Example\n",
             "state        active\n",
             "rhythm       weekly on mon,thu at 06:05 Europe/Berlin\n",
             "max          5 papers", "next digest  2026-11-20 18:00 UTC\n",
             "consent      2026-11-20 18:00 UTC: by phone\n"])
    shown = office.json("subscriber", "show", "ada@example.org")
    assert shown == {
        "address": "ada@example.org", "name": "Ada Example", "state": "active",
        "paused_until": None, "rhythm": "weekly on mon,thu at 06:05 Europe/Berlin",
        "cadence": "weekly:mon,thu", "at": "06:05", "zone": "Europe/Berlin", "max": 5,
        "next_due_at": 1795197600, "created_at": 1795197600, "consent_at": 1795197600,
        "consent": "by phone", "filters": [],
        "choices": {
            "order": "votes", "abstract": "full", "format": "both", "quiet": "off",
            "updates": "off", "crosslist": "on", "attach": "none", "language": None},
    }, shown
    office.ctl("subscriber", "set", "ada@example.org", "--quiet", "note",
               "--attach", "bibtex", "--language", "de", "--order", "date",
               "--abstract", "short", "--format", "text", "--updates", "on",
               "--crosslist", "off")
    assert office.json("subscriber", "show", "ada@example.org")["choices"] == {
        "order": "date", "abstract": "short", "format": "text", "quiet": "note",
        "updates": "on", "crosslist": "off", "attach": "bibtex", "language": "de"}
    added = json.loads(office.ctl(
        "--json", "subscriber", "add", "bob@example.org", "--consent", "on paper",
        "--filter", "mamba", "--filter", "model or train",
    ).expect(OK, "", 'warning: column 7: "or" is searched as a word').out)
    assert added == {"address": "bob@example.org", "filters": 2}, added
    lines = office.ctl("subscriber", "list").expect(OK).out.splitlines()
    assert lines[0].split() == ["ADDRESS", "STATE", "NEXT", "DIGEST", "RHYTHM"]
    assert [line.split()[0] for line in lines[1:]] == [
        "ada@example.org", "bob@example.org"]
    assert len({line.index(word) for line, word in
                zip(lines, ("STATE", "active", "active"))}) == 1
    office.add("ADA@example.org").expect(DATA, "", "is a subscriber already")
    office.ctl("subscriber", "remove", "ada@example.org", "--yes").expect(
        OK, "ada@example.org removed: no more mail goes there")
    office.ctl("subscriber", "remove", "ada@example.org", "--yes").expect(
        NOUSER, "", "ada@example.org is not a subscriber")
    assert office.json("subscriber", "remove", "bob@example.org", "--yes") == {
        "removed": "bob@example.org"}
    office.add("ada@example.org").expect(OK, "ada@example.org added")


def test_refusals(office):
    """what is wrong about a person is told in one line, status 65"""
    rows = [
        (["nobody"], "address has no '@'"),
        (["a@b\n.example"], "address"),
        (["a@b.example", "--zone", "../../etc/passwd"], "unknown time zone"),
        (["a@b.example", "--at", "25:00"], "'25:00' is not a time of day: HH:MM"),
        (["a@b.example", "--cadence", "hourly"], "daily, weekdays or weekly is wanted"),
        (["a@b.example", "--cadence", "weekly:noday"], "is not a day of the week"),
        (["a@b.example", "--max", "0"], "max must be from 1 to 200"),
        (["a@b.example", "--max", "201"], "max must be from 1 to 200"),
        (["a@b.example", "--max", "-1"], "max must be from 1 to 200"),
        (["a@b.example", "--name", "A\x1b[2J"], "name has a control character"),
        (["a@b.example", "--name", ""], "name is empty"),
    ]
    for arguments, words in rows:
        done = office.add(*arguments).expect(DATA, "", words)
        assert len(done.err.splitlines()) == 1, done.text
        assert done.err.startswith("paperboyctl: "), done.text
        assert "\x1b" not in done.err, done.text
    office.ctl("subscriber", "add", "a@b.example", "--consent", "").expect(
        DATA, "", "the consent")
    office.ctl("subscriber", "add", "a@b.example", "--consent", "a\nb").expect(
        DATA, "", "the consent has a control character")
    assert office.json("subscriber", "list") == []


def test_bytes(office):
    """bytes that are no UTF-8 are refused, and what is shown is always UTF-8"""
    bad = b"gr\xf6\xdfe"
    office.add().expect(OK, "added")
    for arguments in (
        [b"filter", b"add", b"ada@example.org", bad],
        [b"filter", b"add", b"ada@example.org", b"word", b"--name", bad],
        [b"subscriber", b"add", b"c@example.org", b"--consent", bad],
        [b"subscriber", b"add", bad + b"@example.org", b"--consent", b"x"],
        [b"subscriber", b"show", bad + b"@example.org"],
        [b"digest", b"show", bad],
    ):
        done = office.ctl(*arguments)
        assert done.status in (USAGE, DATA), done.text
        assert done.out == "" and done.err, done.text
    assert len(office.json("subscriber", "list")) == 1
    assert office.json("filter", "list", "ada@example.org") == []


def test_filters(office):
    """filters are added, listed and removed, and each shows what it means"""
    office.add().expect(OK)
    office.ctl("filter", "add", "ada@example.org", '"State Spaces" | mamba').expect(
        OK, "filter 1: ")
    office.ctl("filter", "add", "ada@example.org", "cat or dog").expect(
        OK, "filter 2: ", 'warning: column 5: "or" is searched as a word; meant OR?')
    # A query that begins with "-", with the "--" wherever one puts it.
    office.ctl("filter", "add", "ada@example.org", "--", "-survey mamba").expect(
        OK, "filter 3: mamba NOT survey")
    office.ctl("filter", "add", "--", "ada@example.org", "-review mamba").expect(
        OK, "filter 4: mamba NOT review")
    office.ctl("filter", "add", "ada@example.org", "--name", "x y", "--",
               "-news mamba").expect(OK, "filter 5: mamba NOT news")
    office.ctl("filter", "add", "ada@example.org", "Größe 量子", "--name",
               "Größe").expect(OK, "filter 6: große")
    listed = office.json("filter", "list", "ada@example.org")
    assert [one["number"] for one in listed] == [1, 2, 3, 4, 5, 6], listed
    assert set(listed[0]) == {"number", "block", "name", "text", "canonical", "since",
                              "max", "note"}
    assert listed[5]["text"] == "Größe 量子" and listed[5]["name"] == "Größe"
    assert listed[4]["name"] == "x y" and listed[0]["name"] is None
    assert listed[0]["since"] == "2026-11-17", listed[0]
    table = office.ctl("filter", "list", "ada@example.org").expect(
        OK, ["NO", "NAME", "FILTER", "MEANS", "Größe", "-survey mamba"])
    assert len(table.out.splitlines()) == 7, table.text
    assert office.json("filter", "remove", "ada@example.org", "2", "--yes") == {"removed": 2}
    office.ctl("filter", "remove", "ada@example.org", "1", "--yes").expect(
        OK, "filter 1 removed")
    office.ctl("filter", "remove", "ada@example.org", "1", "--yes").expect(
        NOUSER, "", "there is no filter 1")
    for number in ("0", "x", "99999", "1.5", ""):
        office.ctl("filter", "remove", "ada@example.org", number).expect(
            DATA, "", "is no filter number: paperboyctl filter list ada@example.org")
    added = office.json("filter", "add", "ada@example.org", "mamba")
    assert added == {"number": 1, "block": False, "canonical": "mamba"}, added
    office.ctl("filter", "add", "ada@example.org", "survey", "--block").expect(
        OK, "block 2: survey")
    office.ctl("filter", "list", "ada@example.org").expect(OK, ["KIND", "2   block"])
    assert [one["block"] for one in office.json("filter", "list", "ada@example.org")
            ] == [False, True, False, False, False, False]


def test_archive(office):
    """filters are tested and explained, papers searched, and reasons given"""
    office.add("ada@example.org", "--filter", "mamba", "--filter", "diffusion").expect(OK)
    office.ctl("filter", "add", "ada@example.org", "memory", "--block").expect(OK)
    office.ctl("source", "fetch").expect(OK)
    tested = office.json("filter", "test", "state space")
    assert set(tested) == {"canonical", "days", "covered_days", "found", "a_day",
                           "known", "blocked", "newest", "notes"}, tested
    assert tested["found"] == len(tested["newest"]) > 0 and tested["days"] == 30
    assert "2611.11340" in [paper["id"] for paper in tested["newest"]]
    text = office.ctl("filter", "test", "state space", "--days", "7").expect(
        OK, ["space AND state\n7 days: ", "The archive knows 3 of these days.", "Newest:",
             "  2026-11-18  2611.11340  Riverbed"])
    assert len(text.out) < 3000, text.text
    office.ctl("filter", "test", "mbmaa or qwertz").expect(
        OK, ["0 papers", 'Note: column 7: "or"', "qwertz: no paper has it"])
    # By number it is compared with the person's others, and is none of them.
    mine = office.json("filter", "test", "--address", "ada@example.org", "1")
    other = office.json("filter", "test", "--address", "ada@example.org", "mamba")
    assert mine["canonical"] == "mamba" and mine["known"] < other["known"], other
    assert other["known"] == other["found"] > 0 and other["blocked"] > 0, other
    office.ctl("filter", "test", "--address", "ada@example.org", "3").expect(
        OK, "are found by other filters and would go")
    office.ctl("filter", "test", "--address", "ada@example.org", "9").expect(
        NOUSER, "", "there is no filter 9")
    for days in ("0", "367"):
        office.ctl("filter", "test", "mamba", "--days", days).expect(
            DATA, "", "--days must be from 1 to 365")
    office.ctl("filter", "test", "ti:").expect(DATA, "", "column 4")

    office.ctl("filter", "explain", "mamba^3 OR cat:cs.CL").expect(
        OK, ["cat:cs.CL OR mamba^3\n  OR\n    cat:cs.CL\n    mamba^3\n"])
    office.ctl("filter", "explain", "mamba cat:cs.CL", "arXiv:2611.11340v2").expect(
        OK, ["2611.11340  Riverbed", ": unknown\n", "abstract: Mamba"])
    explained = office.json("filter", "explain", "mamba", "2611.11340")
    assert explained["truth"] == "true"
    assert explained["steps"][0]["hits"][0]["words"] == "Mamba", explained
    office.ctl("filter", "explain", "--", "-survey mamba", "2611.11340").expect(
        OK, "mamba NOT survey\n2611.11340 ")
    office.ctl("filter", "explain", "--", "-survey mamba").expect(
        OK, "mamba NOT survey\n")
    office.ctl("filter", "explain", "mamba", "2611.99999").expect(
        NOUSER, "", "no source has listed a paper '2611.99999' yet")

    found = office.json("search", "mamba OR diffusion", "--limit", "2")
    assert len(found["results"]) == 2 < found["found"] and not found["cut"], found
    scores = [result["score"] for result in found["results"]]
    assert scores == sorted(scores, reverse=True)
    office.ctl("search", "mamba").expect(OK, ["papers\n", "2611.11340  Riverbed"])
    none = office.json("search", "mamba", "--since", "2026-11-21")
    assert none["found"] == 0 and none["results"] == []
    office.ctl("search", "mamba", "--since", "today").expect(DATA, "", "is no day")
    for limit in ("0", "201"):
        office.ctl("search", "mamba", "--limit", limit).expect(DATA, "", "1 to 200")

    office.ctl("preview", "ada@example.org").expect(OK)
    why = office.ctl("why", "ada@example.org", "2611.11340").expect(
        OK, ["answer   block 3 takes it away", "listed   hf on 2026-11-18 as new",
             "filter 1, mamba: true; found it at 2026-11-20", "block 3, memory: true",
             "filter 2, diffusion: false"])
    assert all(len(line) <= 160 for line in why.out.splitlines()), why.text
    reason = office.json("why", "ada@example.org", "2611.11340v1")
    assert reason["outcome"] == "blocked" and len(reason["filters"]) == 3
    office.ctl("why", "nobody@example.org", "2611.11340").expect(
        NOUSER, "", "is not a subscriber")


def test_filter_errors(office):
    """a filter that is wrong is shown with a caret, and nothing is stored"""
    office.add().expect(OK)
    rows = [
        ("upvotes:>=ten diffusion", 11),
        ("diffusion OR", 11),
        ('"open', 1),
        ("größe (mamba", 7),
        ("größe nofield:x", 7),
    ]
    for query, column in rows:
        for done in (office.ctl("filter", "add", "ada@example.org", query),
                     office.add("new@example.org", "--filter", "good", "--filter",
                                query)):
            done.expect(DATA, "", "the filter was refused, and nothing was stored")
            lines = done.err.splitlines()
            assert lines[0].startswith(f"error  column {column}: "), done.text
            at = next(i for i, line in enumerate(lines) if line.strip() == "^")
            assert lines[at].index("^") - lines[at - 1].index(query) == column - 1, \
                done.text
            assert lines[-1].startswith("paperboyctl: "), done.text
            assert done.out == "", done.text
    assert len(office.json("subscriber", "list")) == 1
    office.ctl("filter", "add", "ada@example.org", "x" * 513).expect(
        DATA, "", "512")
    office.ctl("filter", "add", "ada@example.org", "a\x1b[2Jb").expect(DATA, "", "control")
    assert "\x1b" not in office.ctl("filter", "add", "ada@example.org", "a\x1bb").err
    office.ctl("filter", "add", "ada@example.org", "mamba").expect(OK)
    office.ctl("filter", "add", "ada@example.org", "MAMBAS").expect(
        DATA, "", "filter 1 is the same: mamba")


def test_unknown_people(office):
    """every command that wants a subscriber says when there is none, status 67"""
    for arguments in (["subscriber", "show"], ["subscriber", "remove"],
                      ["filter", "list"], ["filter", "add"], ["filter", "remove"],
                      ["preview"]):
        more = {"add": ["query"], "remove": ["1"]}.get(arguments[-1], [])
        if arguments[0] == "subscriber":
            more = []
        office.ctl(*arguments, "none@example.org", *more).expect(
            NOUSER, "", "paperboyctl: none@example.org is not a subscriber\n")
        office.ctl(*arguments, "none", *more).expect(DATA, "", "address has no '@'")


# ---- papers, digests and the queue ------------------------------------------


def test_work(office):
    """papers are fetched, previewed, mailed and shown again"""
    office.ctl("status").expect(
        WANTED, ["paperboyd    not running", "source hf    never asked yet",
                 "papers       0", "subscribers  0 active; next digest due -",
                 "TO DO        source hf has never been asked: start paperboyd"])
    office.ctl("queue").expect(OK, "The queue is empty.")
    assert office.json("queue") == []
    office.ctl("digest", "show", "last").expect(NOUSER, "", "no digest was made yet")
    office.add("ada@example.org", "--filter", "diffusion OR GPU* OR model").expect(
        OK, ["MEANS", "diffusion OR gpu* OR model"])
    office.ctl("preview", "ada@example.org").expect(OK, "Nothing new for ada@example.org")
    assert office.json("preview", "ada@example.org") == []
    fetched = office.json("source", "fetch")
    assert set(fetched) == {"answers", "failed", "fresh", "changed", "matches"}
    assert fetched["answers"] == 15 and fetched["failed"] == 0, fetched
    assert fetched["fresh"] > 20 and fetched["matches"] > 5, fetched
    office.ctl("source", "fetch").expect(OK, "0 new papers, ")

    preview = office.json("preview", "ada@example.org")
    assert set(preview[0]) == {"id", "title", "url", "day", "upvotes", "reasons"}
    assert preview[0]["reasons"][0]["filter"] == "diffusion OR GPU* OR model"
    text = office.ctl("preview", "ada@example.org").expect(
        OK, [preview[0]["title"][:30], "Found by"]).out
    office.ctl("preview", "ada@example.org", "--html").expect(OK, ["<html", "</html>"])
    raw = office.ctl("preview", "ada@example.org", "--raw").expect(
        OK, ["To: ", "ada@example.org", "Message-ID: <"]).out
    assert "MIME-Version: 1.0" in raw

    office.daemon("--once", "--now", LATER).expect(OK, "", "digests=1 sent=1")
    assert len(os.listdir(os.path.join(office.folder, "Maildir", "new"))) == 1
    office.ctl("digest", "show", "last").expect(OK, text)
    office.ctl("digest", "show", "1", "--html").expect(OK, "<html")
    assert office.json("digest", "show", "last") == preview
    for number in ("0", "-1", "x", "1x", ""):
        office.ctl("digest", "show", "--", number).expect(
            DATA, "", f"'{number}' is no digest: its number, or last, is wanted")
    office.ctl("digest", "show", "77").expect(NOUSER, "", "no such digest")

    office.ctl("queue").expect(OK, "The queue is empty.")
    table = office.ctl("queue", "--all").expect(
        OK, ["SENT", "ada@example.org"]).out.splitlines()
    assert table[0].split()[:5] == ["ID", "KIND", "DIGEST", "STATE", "TRIES"], table
    row = office.json("queue", "--all")[0]
    assert set(row) == {"id", "kind", "digest", "recipient", "state", "attempts", "queued_at",
                        "next_try_at", "ended_at", "code", "reply", "held_why",
                        "possible_copies", "crashes"}, row
    assert row["state"] == "SENT" and row["attempts"] == 1 and row["next_try_at"] is None

    status = office.json("status")
    assert set(status) == {
        "running", "sources", "lists", "papers", "subscribers", "filters", "matches",
        "waiting", "next_digest_at", "queue", "started_at", "looked_at", "posted_at", "relay",
        "people", "oldest", "restore", "backup_at", "disk_free_bytes", "store_bytes",
        "log_bytes", "problems", "mailboxes", "letters", "tickets"}, status
    assert status["people"] == {"pending": 0, "active": 1, "paused": 0, "suspended": 0,
                                "gone": 0}
    assert status["problems"] == [] and status["restore"] is None, status
    assert status["running"] is False and status["subscribers"] == 1
    assert set(status["sources"][0]) == {"source", "day", "status", "asked_at", "good_at",
                                         "error", "papers_day", "papers"}
    assert status["queue"] == {"new": 0, "sending": 0, "deferred": 0, "unknown": 0,
                               "held": 0, "failed": 0}
    office.ctl("status").expect(
        OK, ["source hf    ok at 2026-11-20 18:05 UTC; newest day 2026-11-20 with 12",
             "next digest due 2026-11-21 07:30 UTC", "queue        0 new"])


def test_failed_source(office):
    """a source that fails is told by fetch, and status tells why"""
    folder = os.path.join(office.folder, "papers")
    shutil.copytree(SAMPLES, folder)
    path = os.path.join(folder, "daily_papers-2026-11-19.json")
    os.chmod(path, 0o644)
    with open(path, "w", encoding="utf-8") as file:
        file.write('[{"paper": \n')
    office.write(GOOD.format(folder=office.folder, templates=TEMPLATES, samples=folder,
                             more=""))
    office.ctl("source", "fetch").expect(
        TEMPFAIL, "asked for 15 days, 1 failed",
        ["batch failed source=hf day=2026-11-19", "a source failed: paperboyctl source list"])
    office.ctl("status").expect(
        WANTED, ["source hf    FAILED", "2026-11-19: ", "last good answer at",
                 "TO DO        source hf fails: paperboyctl source list"])
    office.ctl("source", "list").expect(OK, ["on, FAILS", "why          2026-11-19: "])
    status = json.loads(office.ctl("--json", "status").expect(WANTED).out)
    assert status["sources"][0]["error"].startswith("2026-11-19: ")
    # The other days are there.
    assert status["papers"] > 15
    shutil.copy(os.path.join(SAMPLES, os.path.basename(path)), path)
    office.ctl("source", "fetch").expect(OK, "0 failed")
    office.ctl("status").expect(OK, "source hf    ok")
    with open(path, "w", encoding="utf-8") as file:
        file.write("[]")
    office.ctl("source", "fetch").expect(
        TEMPFAIL, "1 failed", "a source failed: paperboyctl source list tells why")
    office.ctl("status").expect(
        WANTED, ["source hf    FAILED", "the list of 2026-11-19 is empty, and had "])
    office.ctl("source", "replay", "hf", "2026-11-19").expect(DATA, "", "is empty, and had")


def test_late_list(office):
    """a source that answers without the list of the day is late, and status says so"""
    office.ctl("source", "fetch").expect(OK)
    office.ctl("status").expect(OK, "source hf    ok")
    # Monday's list is expected by 10:00.
    for time, code, words in (
            ("09:59", OK, "source hf    ok"),
            ("10:01", WANTED, [
                "source hf    LATE",
                "TO DO        source hf is late: it answers, but its list of 2026-11-23 "
                "has not come"])):
        now = f"2026-11-23T{time}:00Z"
        office.ctl("--now", now, "source", "fetch").expect(OK)
        office.ctl("--now", now, "status").expect(code, words)
    office.ctl("--now", now, "source", "list").expect(
        OK, ["on, LATE", "missing      the list of 2026-11-23"])


def test_waiting_mail(office):
    """a message that cannot go is told by --once, status and queue"""
    office.write(GOOD.format(
        folder=office.folder, templates=TEMPLATES, samples=SAMPLES, more="").replace(
        'method = "maildir"; maildir = "', 'method = "maildir"; maildir = "/proc/none'))
    office.add("ada@example.org", "--filter", "model").expect(OK)
    office.daemon("--once", "--now", LATER).expect(TEMPFAIL, "", "sent=0")
    # It was tried a moment ago and is not due: it waits all the same.
    office.daemon("--once", "--now", LATER).expect(TEMPFAIL, "", "sent=0")
    office.ctl("queue").expect(OK, ["DEFERRED", "ada@example.org", "/proc/none"])
    office.ctl("status").expect(
        OK, ["1 deferred", "paperboyctl queue tells why",
             "the oldest, message 1, waits since 2026-11-20 18:05 UTC",
             "message 1 is deferred: ", "/proc/none"])


# ---- configuration ----------------------------------------------------------


def test_check(tap):
    """the configuration that ships is right, but its addresses are nobody's"""
    folder = tap.subfolder("check")
    path = os.path.join(folder, "paperboy.conf")
    with open(os.path.join(top_srcdir(), "etc", "paperboy.conf"), encoding="utf-8") as file:
        shipped = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'template_dir = "{TEMPLATES}";\n{shipped}')
    said = "mail.from or mail.owner is as it was shipped"
    done = Done(DAEMON, ["--check", "-c", path]).expect(OK, "", said)
    assert done.out == "", done.text
    own = shipped.replace("paperboy@example.org", "papers@news.example", 1)
    for text, wanted in ((own, said),
                         (own.replace("postmaster@example.org", "ada@news.example"), "")):
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'template_dir = "{TEMPLATES}";\n{text}')
        assert Done(DAEMON, ["--check", "-c", path]).expect(OK, "", wanted).out == ""
    # The settings that it shows as comments are right as well.
    lines = [re.sub(r"^(\s*)# (\w+ = .*;)$", r"\1\2", line)
             for line in shipped.splitlines()]
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'template_dir = "{TEMPLATES}";\n' + "\n".join(lines))
    Done(DAEMON, ["--check", "-c", path]).expect(OK, "", said)
    assert len(set(lines) - set(shipped.splitlines())) > 15


def test_many_mistakes(office):
    """a file with many mistakes gives a line for each, with the file, status 78"""
    office.write('colour = "red";\nstate_dir = 3;\nsmtp: { port = 99999; };\n'
                 'mail: { from = "a@b.example"; };\n'
                 f'template_dir = "{TEMPLATES}";\n')
    for done in (office.daemon("--check"), office.ctl("status"), office.daemon("--once", "--now", NOW)):
        done.expect(CONFIG, "", [
            f'{office.config}:1: unknown setting "colour"',
            f"{office.config}:2: state_dir must be a text",
            f"{office.config}:3: smtp.port must be from 1 to 65535",
            f"{office.config}: mail.owner is not set"])
        assert len(done.err.splitlines()) == 4, done.text
    # Each value has the right type, and is wrong.
    office.write(f'template_dir = "{TEMPLATES}";\n'
                 'mail: { from = "nobody"; owner = "a@b@c"; envelope_from = "<>";\n'
                 'domain = "-x-"; };\n'
                 'digest: { zone = "posix/UTC"; at = "7.30"; };\n'
                 'smtp: { user = "u"; password_file = "relay"; };\n'
                 'huggingface: { url = "huggingface.co"; };\n')
    done = office.daemon("--check").expect(CONFIG, "", [
        f"{office.config}:{line}: {name}: " for line, name in (
            (2, "mail.from"), (2, "mail.owner"), (2, "mail.envelope_from"),
            (3, "mail.domain"), (4, "digest.zone"), (4, "digest.at"),
            (5, "smtp.password_file"), (6, "huggingface.url"))])
    assert len(done.err.splitlines()) == 8, done.text
    office.write('template_dir = "/nonexistent";\n'
                 'mail: { from = "a@b.example"; owner = "o@b.example"; };\n')
    office.daemon("--check").expect(CONFIG, "", ":1: template_dir: there is no folder '/nonexistent'")
    os.unlink(office.config)
    office.ctl("status").expect(
        CONFIG, "", f"{office.config}: cannot read it: No such file or directory")


def test_daemon_usage(office):
    """paperboyd says what is wrong with its command line, status 64"""
    for arguments, words in (
        (["--once", "--now", "yesterday"], "'yesterday' is no time"),
        (["--once", "--now", "2026-11-20"], "'2026-11-20' is no time"),
        (["--once", "--now"], "Missing argument for --now"),
        (["--now", NOW, "--daemon"], "Unknown option --daemon"),
        (["--now", NOW, "start"], "no arguments are wanted, and 'start' is one"),
    ):
        office.daemon(*arguments).expect(USAGE, "", [words, "Try 'paperboyd --help'"])
    Done(DAEMON, ["--help"]).expect(OK, ["--check", "--once", "Exit status"])


def test_state_folder(office):
    """a state folder or store that cannot be used is named, status 69"""
    state = os.path.join(office.folder, "state")
    os.rmdir(state)
    office.ctl("status").expect(
        UNAVAILABLE, "", [f"cannot use the state folder '{state}'", "paperboyd makes it"])
    office.daemon("--once", "--now", LATER).expect(OK, "", "run done")
    assert stat.S_IMODE(os.stat(state).st_mode) == 0o700
    os.chmod(state, 0o755)
    office.daemon("--once", "--now", LATER).expect(UNAVAILABLE, "", "chmod 700")
    os.chmod(state, 0o700)
    for name in os.listdir(state):
        os.unlink(os.path.join(state, name))
    with open(os.path.join(state, "paperboy.db"), "w", encoding="ascii"):
        pass
    for done in (office.ctl("status"), office.daemon("--once", "--now", LATER)):
        done.expect(UNAVAILABLE, "", "paperboy.db' is empty, which a store never is")
        assert len(done.err.splitlines()) == 1, done.text


def test_owner(office):
    """asked by root, paperboyctl works as the owner of the state folder"""
    if os.geteuid() != 0:
        raise Skip("not root")
    state = os.path.join(office.folder, "state")
    os.chown(state, 65534, 65534)
    office.add("ada@example.org", "--filter", "model").expect(OK)
    office.ctl("preview", "ada@example.org").expect(OK)
    office.ctl("source", "fetch").expect(OK)
    office.ctl("preview", "ada@example.org").expect(OK, "model")
    names = os.listdir(state)
    assert "paperboy.db" in names and "key" in names, names
    for name in names:
        status = os.stat(os.path.join(state, name))
        assert (status.st_uid, status.st_gid) == (65534, 65534), name
        assert stat.S_IMODE(status.st_mode) == 0o600, name


def test_stranger_to_the_folder(office):
    """who is neither root nor the owner of the state folder is told who may"""
    if os.geteuid() != 0:
        raise Skip("not root")
    os.chmod(office.folder, 0o755)
    office.ctl("status", user="nobody").expect(
        UNAVAILABLE, "",
        "is owned by root, and this process runs as nobody: try sudo paperboyctl")


# Commands that change nothing, for two subscribers with a filter and a digest.
READING = [
    ["subscriber", "list"], ["subscriber", "show", "bob@example.org"],
    ["subscriber", "export"], ["filter", "list", "bob@example.org"],
    ["filter", "test", "language model"],
    ["filter", "test", "model", "--address", "bob@example.org"],
    ["filter", "explain", "language", "2611.10718"], ["search", "language"],
    ["why", "bob@example.org", "2611.10718"], ["suppression", "list"],
    ["ticket", "list"], ["log"], ["source", "list"],
    ["digest", "list"], ["digest", "show", "last"], ["queue", "list", "--all"],
    ["queue", "show", "1"], ["letter", "list"], ["status"], ["metrics"],
]


def test_read_only(tap):
    """on a read-only file system what only reads works, and the rest says why not"""
    office = Office(tap, "read-only")
    office.add("ada@example.org").expect(OK)
    office.add("bob@example.org", "--filter", "language").expect(OK)
    office.ctl("source", "fetch")
    assert office.daemon("--once", "--now", NOW).status == OK
    state = os.path.join(office.folder, "state")
    wanted = [office.ctl(*words) for words in READING]
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
            office.write(GOOD.format(folder=office.folder, templates=TEMPLATES,
                                     samples=SAMPLES, more="").replace(state, disk))
            for words, before in zip(READING, wanted):
                done = office.ctl(*words)
                assert done.status == before.status, done.text
                assert has_log or words in (["status"], ["metrics"]) or (
                    done.out == before.out), done.text + before.text
            if has_log:
                office.ctl("subscriber", "show", "bob@example.org").expect(OK, "Bob")
            office.add("eve@example.org").expect(UNAVAILABLE, "", "readonly database")
            office.ctl("doctor").expect(OK, "ok     ")


def test_lost_output(office):
    """output that cannot be written is no success; who has read enough is content"""
    office.add().expect(OK)
    command = [CTL, "-c", office.config, "--now", NOW]
    office.add("bob@example.org", "--filter", "language").expect(OK)
    office.ctl("source", "fetch")
    office.ctl("suppression", "add", "eve@example.org", "--yes").expect(OK)
    assert office.daemon("--once", "--now", NOW).status == OK
    # whatever is printed, and however much of it
    for words in (*READING, ["config"], ["--help"], ["--version"], ["filter", "--help"],
                  ["--json", "status"], ["--json", "subscriber", "export", "--filters"],
                  ["subscriber", "export", "-"], ["subscriber", "export", "--filters"],
                  ["preview", "bob@example.org"], ["preview", "bob@example.org", "--raw"],
                  ["digest", "show", "last", "--raw"]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([*command, *words], stdout=full, stderr=subprocess.PIPE,
                                  check=False, timeout=60)
        assert done.returncode == IOERR, (words, done)
        assert done.stderr.startswith(
            b"paperboyctl: cannot write to standard output: "), (words, done)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*command, "config"], stdout=writer, stderr=subprocess.PIPE,
                          check=False, timeout=60)
    os.close(writer)
    assert done.returncode == OK and done.stderr == b"", done


def test_untold_fields(office):
    """a filter on what no source tells yet is kept, and that is said"""
    words = "arXiv has told nothing so far"
    office.add("ada@example.org", "--filter", "cs.LG mamba").expect(OK, "cat:cs.LG", words)
    office.ctl("filter", "add", "ada@example.org", "mamba co:neurips").expect(
        OK, "filter 2", words)
    office.ctl("filter", "edit", "ada@example.org", "2", "mamba").expect(OK)
    office.ctl("filter", "edit", "ada@example.org", "2", "mamba -cs.CV").expect(
        OK, "filter 2", words)
    assert any(words in note for note in office.json(
        "filter", "test", "mamba cs.LG")["notes"])


def test_late_clauses(office):
    """a filter whose papers can come days late is kept, and that is said"""
    words = "up to 14 days late"
    office.add("ada@example.org", "--filter", "mamba date:7d.. -has:code").expect(
        OK, "ada@example.org added", words)
    office.ctl("filter", "add", "ada@example.org", "mamba date:7d has:code").expect(
        OK, "filter 2", words)
    office.ctl("filter", "edit", "ada@example.org", "2", "mamba -org:x").expect(
        OK, "filter 2", words)
    office.ctl("filter", "test", "mamba -upvotes:>9").expect(OK, words)
    plain = office.ctl("filter", "add", "ada@example.org", "mamba has:code").expect(OK)
    assert "days late" not in plain.text, plain.text
    office.ctl("search", "mamba date:7d..").expect(OK, "", "measured from the day")


def test_no_room(office):
    """without any room on the disk that is told, and not that the store is damaged"""
    office.add().expect(OK)

    def allow_no_octet():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    done = office.ctl("status", preexec_fn=allow_no_octet).expect(
        UNAVAILABLE, "", "is the disk full?")
    assert "sound" not in done.err and "backup" not in done.err, done.text


# ---- with a daemon ----------------------------------------------------------


def test_running(office):
    """a running daemon is seen, is told of changes at once, and is alone"""
    state = os.path.join(office.folder, "state")
    with Child([DAEMON, "-c", office.config, "--now", NOW]) as daemon:
        daemon.wait_line("paperboyd .* started")
        daemon.wait_file(os.path.join(state, "control"))
        daemon.wait_line("collect done")
        office.ctl("status").expect(OK, "paperboyd    running since ")
        status = json.loads(office.ctl("--json", "status").expect(OK).out)
        assert status["running"] and status["relay"] == "closed", status
        assert status["started_at"] <= status["looked_at"], status
        office.add("ada@example.org", "--filter", "model").expect(OK)
        daemon.wait_line("editions made due=1")
        office.daemon("--once", "--now", NOW).expect(TEMPFAIL, "", f"another paperboyd works in '{state}'")
        office.ctl("subscriber", "remove", "ada@example.org", "--yes").expect(OK)
        assert daemon.stop() == 0, daemon.output
        daemon.wait_line("paperboyd ended")
    assert not os.path.exists(os.path.join(state, "control"))
    office.ctl("status").expect(OK, "paperboyd    not running")


def test_killed(office):
    """what a killed daemon leaves behind is in nobody's way"""
    with Child([DAEMON, "-c", office.config, "--now", NOW]) as daemon:
        daemon.wait_line("paperboyd .* started")
        daemon.kill()
    assert os.path.exists(os.path.join(office.folder, "state", "control"))
    assert "paperboyd    not running" in office.ctl("status").out
    office.add().expect(OK, "ada@example.org added")
    with Child([DAEMON, "-c", office.config, "--now", NOW]) as daemon:
        daemon.wait_line("paperboyd .* started")
        assert "paperboyd    running" in office.ctl("status").out


def main():
    with Tap() as tap:
        tap.run(test_help)
        tap.run(test_version)
        tap.run(test_check, tap)
        tap.run(test_read_only, tap)
        for test in (
            test_usage, test_people, test_refusals, test_bytes, test_filters, test_archive,
            test_filter_errors, test_unknown_people, test_work, test_failed_source,
            test_late_list, test_waiting_mail, test_many_mistakes, test_daemon_usage, test_state_folder,
            test_owner, test_stranger_to_the_folder, test_lost_output,
            test_untold_fields, test_late_clauses, test_no_room, test_running,
            test_killed,
        ):
            tap.run(test, Office(tap, test.__name__))


if __name__ == "__main__":
    main()
