#!/usr/bin/env python3
"""test_generated_filters.py - tests of TAP, children, generator and message checks."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import unittest.mock
from collections import Counter

LIB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib")
sys.path.insert(0, LIB)

import language
import messages
from generate import KINDS, ZONES, Vocabulary, generate, random_filter, sameness
from oracle import FilterError, parse
from papers import load_papers
from tap import (
    DEADLINE_S, Child, Tap, Timeout, free_port, is_listening, read_process, real_data, run,
    top_builddir, wait_until,
)

PYTHON = [sys.executable, "-B", "-u", "-c"]
PROLOGUE = f"import sys; sys.path.insert(0, {LIB!r})\nfrom tap import *\n"


# ---- tap --------------------------------------------------------------------


def script(body):
    """Run a test script of its own: (exit status, output)."""
    done = subprocess.run(
        [*PYTHON, f"{PROLOGUE}{body}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    return done.returncode, done.stdout


def test_tap_passes():
    """a passing script prints its plan, exits with 0 and removes its directory"""
    status, out = script(
        "with Tap() as tap:\n"
        "    print('#', tap.directory)\n"
        "    tap.ok(True, 'a # b')\n"
        "    tap.skip('c', 'no\\nserver')\n"
    )
    directory, *lines = out.splitlines()
    assert lines == ["ok 1 - a \\# b", "ok 2 - c # SKIP no server", "1..2"], out
    assert status == 0 and not os.path.exists(directory.split()[1])


def test_tap_fails():
    """a failed test is reported, the status is 1, and the directory stays"""
    status, out = script(
        "def one():\n  'sums are right'\n  assert 1 + 1 == 3\n"
        "def two():\n  'is skipped'\n  raise Skip('no root')\n"
        "with Tap() as tap:\n"
        "    tap.directory; tap.run(one); tap.run(two); tap.equal(1, 2, 'three')\n"
    )
    directory = re.search(r"# kept for inspection: (.*)", out)[1]
    os.rmdir(directory)
    assert status == 1, status
    assert "not ok 1 - sums are right" in out and "# AssertionError" in out
    assert "ok 2 - is skipped # SKIP no root" in out
    assert "not ok 3 - three" in out and "\n1..3\n" in out


def test_tap_breaks():
    """a broken script bails out with 99, skip_all ends with 0"""
    status, out = script("with Tap() as tap:\n    tap.ok(True, 'a')\n    1 / 0\n")
    assert status == 99 and "Bail out! division by zero" in out and "1.." not in out
    assert script("skip_all('no root')") == (0, "1..0 # SKIP no root\n")
    assert script("with Tap() as tap:\n  tap.ok(True, 'a')\n  raise Skip('no root')") == (
        0, "ok 1 - a\nok 2 - the rest of the script # SKIP no root\n1..2\n")


def test_tap_is_stopped():
    """SIGTERM ends a script through its context managers"""
    body = (
        f"{PROLOGUE}"
        "with Tap() as tap:\n"
        "  with Child(['cat'], stdin=subprocess.PIPE) as cat:\n"
        "    print(cat.pid, tap.directory)\n"
        "    signal.pause()\n"
    )
    with Child([*PYTHON, body], name="script") as child:
        match = child.wait_line(r"^(\d+) (.*)$")
        child.signal(signal.SIGTERM)
        assert child.wait_exit() == 99
        assert not os.path.exists(f"/proc/{match[1]}") and not os.path.exists(match[2])


# ---- children ---------------------------------------------------------------


def test_child_waits(tap):
    """output, port and file of a child are awaited"""
    port, path = free_port(), os.path.join(tap.directory, "there")
    body = (
        "import socket\n"
        f"print('one'); print('two'); s = socket.create_server(('127.0.0.1', {port}))\n"
        f"open({path!r}, 'w').close()\n"
        "print('three'); s.accept(); s.accept()\n"
    )
    assert not is_listening(port)
    with Child([*PYTHON, body]) as child:
        assert child.wait_line("t(w)o")[1] == "w"
        child.wait_port(port)
        child.wait_file(path)
        child.wait_line("three")
        try:
            child.wait_line("two", deadline_s=0.1)  # seen before: not again
            raise RuntimeError("a line was matched twice")
        except Timeout:
            pass
        assert child.is_running
    assert not is_listening(port) and not child.is_running


def test_shifted_clock():
    """shift_clock.so shifts the time of day but no waits"""
    library = os.path.join(top_builddir(), "tests", "shift_clock.so")
    environment = os.environ | {"LD_PRELOAD": library, "CLOCK_SHIFT_S": "86400000"}
    body = ("import datetime, threading, time\n"
            "threading.Event().wait(0.01); time.sleep(0.01)\n"
            "print(time.time(), datetime.datetime.now().timestamp(), time.monotonic())\n")
    before = time.time() - int(os.environ.get("CLOCK_SHIFT_S", 0))
    reported = run([*PYTHON, body], env=environment | {"TZ": "UTC"}).split()
    for value in reported[:2]:
        assert 0 <= float(value) - before - 86400000 < DEADLINE_S, (reported, before)
    assert abs(float(reported[2]) - time.monotonic()) < DEADLINE_S, reported
    assert abs(int(run(["date", "+%s"], env=environment)) - 86400000 - before) < DEADLINE_S


def test_child_critical():
    """a GLib critical ends a program started by a script"""
    body = ("import ctypes; glib = ctypes.CDLL('libglib-2.0.so.0')\n"
            "glib.g_return_if_fail_warning(None, b'made_up', b'is_sound')\n")
    with Child([*PYTHON, body], name="unsound") as child:
        assert child.wait_exit() in (-signal.SIGTRAP, -signal.SIGABRT), child.output
        assert "'is_sound' failed" in child.output, child.output


def test_child_death():
    """a wait fails at once when the child ends, with its output"""
    for wait in (lambda c: c.wait_line("never"), lambda c: c.wait_file("/nowhere/x")):
        body = "print('sorry'); raise SystemExit(3)"
        with Child([*PYTHON, body], name="poor") as child:
            try:
                wait(child)
                raise RuntimeError("no failure")
            except Timeout:
                raise RuntimeError("waited for the deadline") from None
            except AssertionError as error:
                assert "poor ended" in str(error) and "sorry" in str(error), error
            assert child.wait_exit() == 3
        assert child.stop() == 3


def test_child_group():
    """the whole group ends, even one that ignores SIGTERM"""
    body = (
        "import os, signal\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "os.write(1, b'child %d\\n' % os.fork())\n"  # both write: a line at once
        "signal.pause()\n"
    )
    child = Child([*PYTHON, body])
    grandchild = int(child.wait_line(r"child ([1-9]\d*)")[1])
    assert child.stop(deadline_s=0.1) == -signal.SIGKILL

    wait_until(lambda: read_process(grandchild, "stat").rpartition(")")[2].split()[:1]
               in ([], ["Z"], ["X"]), "the grandchild's end")


def test_process_ends():
    """a process that ends while /proc is read counts as ended"""
    def open_and_end(path, **options):
        file = open(path, **options)
        child.kill()
        child.wait()
        return file

    for name in ("stat", "comm", "status", "cmdline", "task/{}/children"):
        child = subprocess.Popen(["sleep", "infinity"])
        name = name.format(child.pid)
        with unittest.mock.patch("tap.open", open_and_end, create=True):
            assert read_process(child.pid, name) == ""
        assert read_process(child.pid, name) == ""


# ---- generator --------------------------------------------------------------


TITLES = [
    "Diffusion Models for Image Synthesis", "Diffusion Transformers at Scale",
    "Large Language Models as Agents", "Reward Hacking in Language Models",
    "State Space Models: Mamba and Beyond", "Retrieval Augmented Generation",
]


def test_generate_is_deterministic():
    """the same seed gives the same subscribers, another seed others"""
    first = list(generate(TITLES, 200, seed=7))
    assert first == list(generate(TITLES, 200, seed=7))
    assert first != list(generate(TITLES, 200, seed=8))
    assert first == list(generate(TITLES, 300, seed=7))[:200]
    assert [p["address"] for p in first[:2]] == [
        "person-000001@example.org",
        "person-000002@example.org",
    ]


def test_generate_shares():
    """counts and kinds have the expected shares"""
    titles = [
        f"{title} study{chr(97 + number % 26)}"
        for number in range(50)
        for title in TITLES
    ]
    people = list(generate(titles, 4000, seed=1))
    counts = Counter(len(person["filters"]) for person in people)
    mean = sum(size * n for size, n in counts.items()) / len(people)
    assert 2.7 < mean < 2.95 and min(counts) == 1 and max(counts) == 8, (mean, counts)
    assert {person["zone"] for person in people} == set(ZONES)

    rng, vocabulary = random.Random(1), Vocabulary(titles)
    generated = [random_filter(rng, vocabulary) for _ in range(8000)]
    kinds = Counter(kind for kind, _ in generated)
    for kind, percent in KINDS.items():
        assert abs(kinds[kind] * 100 / len(generated) - percent) < 2, (kind, kinds)
    made_up = sum("qx" in text for kind, text in generated if kind == "word")
    assert 0.03 < made_up / kinds["word"] < 0.09


def test_generate_sameness():
    """filters that are equal to the program are recognised"""
    for one, other in (
        ("model", "models"), ("query", "queries"), ("class", "Classes"),
        ("rank OR rank", "rank"), ("a1 b2", "b2 a1"), ("ranks -rank", "rank"),
    ):
        assert sameness(one) == sameness(other), (one, other)
    for one, other in (("model", "modelling"), ("model", "mod*"), ("rank model", "rank")):
        assert sameness(one) != sameness(other), (one, other)


def test_generate_parses(titles=TITLES):
    """every filter is valid, and no subscriber has one twice"""
    for person in generate(titles, 500, seed=3):
        saved = {sameness(text) for text in person["filters"]}
        assert len(saved) == len(person["filters"])
        for text in person["filters"]:
            parse(text)


def test_generate_real():
    """every filter from real titles is valid"""
    papers = load_papers(real_data("daily_papers-2025-07-22.next-day.json"))
    test_generate_parses([paper["title"] for paper in papers])


def test_language_covers_everything():
    """random filters cover the whole language, and are the same for the same seed"""
    papers = [language.make_paper(random.Random(2), number) for number in range(30)]
    generated = language.Filters(random.Random(3), papers)
    again = language.Filters(random.Random(3), papers)
    texts = [generated.valid() for _ in range(1500)]
    assert texts == [again.valid() for _ in range(1500)]
    for text in texts:
        parse(text)
    every = " ".join(texts)
    for field in language.FIELDS:
        assert f"{field}:" in every, field
    for sign in ("NEAR(", " NEAR/", "^", "=", "*", " ANDNOT ", "!", "|", "&", "..", "(("):
        assert sign in every, sign
    refused = 0
    for text in [generated.broken() for _ in range(1500)]:
        try:
            parse(text)
        except FilterError:
            refused += 1
    assert 500 < refused < 1300, refused


def test_generate_command(tap):
    """the command prints TSV and JSON of the same subscribers"""
    path = os.path.join(tap.directory, "titles.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump([{"title": title, "summary": ""} for title in TITLES], file)
    program = os.path.join(LIB, "generate.py")
    command = [sys.executable, "-B", program, "--people", "9", path]
    tsv, array = run(command), run([*command, "--json"])
    rows = [line.split("\t") for line in tsv.splitlines()]
    people = json.loads(array)
    assert len(people) == 9
    assert rows == [
        [person["address"], person["zone"], str(number), text]
        for person in people
        for number, text in enumerate(person["filters"], 1)
    ]


# ---- messages ---------------------------------------------------------------


GOOD = """\
Date: Sat, 21 Nov 2026 07:30:00 +0100
From: paperboy <paperboy@example.org>
To: person-000001@example.org
Subject: =?utf-8?Q?2_papers=3A_Schr=C3=B6dinger?=
Message-ID: <digest.1@example.org>
MIME-Version: 1.0
Content-Type: multipart/alternative; boundary="b1"

--b1
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: quoted-printable

Schr=C3=B6dinger bridges
https://huggingface.co/papers/2608.19880
(see https://arxiv.org/abs/2608.00001v2).

--b1
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: quoted-printable

<p><a href=3D"https://huggingface.co/papers/2608.19880">Schr=C3=B6dinger</a>
<a href=3D"https://arxiv.org/abs/2608.00001v2">x</a>
<a href=3D"mailto:x@example.org">mail</a> &amp;

--b1--
""".replace("\n", "\r\n")

# Defects of GOOD: old text, new text, a word of the problem.
BROKEN = [
    ("Date: Sat, 21 Nov 2026 07:30:00 +0100\r\n", "", "Date: 0 times"),
    ("Date: Sat, 21", "Date: Caturday, 41", "Date"),
    ("To: person", "To: a@example.org\r\nTo: person", "To: 2 times"),
    ("=?utf-8?Q?2_papers=3A_Schr=C3=B6dinger?=", "", "Subject: empty"),
    ("MIME-", "Reply-To: a@b\r\nReply-To: c@d\r\nMIME-", "Reply-To"),
    ("<digest.1@example.org>", "digest.1", "Message-ID"),
    ("\r\n--b1--\r\n", "\r\n--b1--\n", "a line feed without"),
    ("bridges\r\n", "bridges\r", "a carriage return without"),
    ("--b1--\r\n", "--b1--", "not terminated"),
    ("bridges", "b" * 982, "a line of 999 bytes"),
    ("bridges", "brüdges", "not 7-bit"),
    ("bridges", "brid\0ges", "a NUL"),
    ("\r\n\r\n", "\r\n", "no blank line"),
    ("--b1--\r\n", "\r\n", "CloseBoundaryNotFound"),
    ("multipart/alternative", "multipart/mixed", "not multipart/alternative"),
    ("text/plain", "text/html", "not text then html"),
    ("charset=utf-8", "charset=iso-8859-1", "charset iso-8859-1"),
    ("Schr=C3=B6dinger bridges", "Schr=F6dinger bridges", "not utf-8"),
    ("https://arxiv.org/abs/2608.00001v2)", "x)", "link only in the HTML"),
    ("2608.00001v2)", "2608.00001v3)", "link only in the text"),
    ('"https://arxiv.org/abs', '"http://arxiv.org/abs', "link only in"),
    (
        "(see",
        "https://example.org/z (see",
        "link only in the text: https://example.org/z",
    ),
    ("From: paperboy <paperboy@example.org>", "From: paperboy <paper", "defect"),
]


def test_message_checks():
    """a good message has no problem, each defect the expected one"""
    assert messages.check(GOOD.encode()) == [], messages.check(GOOD.encode())
    longest = GOOD.replace("bridges", "b" * 981)  # a line of 998 bytes
    assert messages.check(longest.encode()) == []
    for old, new, problem in BROKEN:
        assert old in GOOD, old
        count = -1 if old == "\r\n\r\n" else 1
        found = messages.check(GOOD.replace(old, new, count).encode())
        assert any(problem in line for line in found), (old, new, found)


def test_message_order():
    """links in another order are a problem, a single link is not"""
    first = "https://huggingface.co/papers/2608.19880"
    swapped = GOOD.replace(first + "\r\n", "", 1)
    swapped = swapped.replace("00001v2).", "00001v2).\r\n" + first)
    assert any("another order" in line for line in messages.check(swapped.encode()))
    twice = GOOD.replace("(see", f"{first} (see")
    assert messages.check(twice.encode()) == []


def test_message_kinds():
    """a digest needs its list headers, a reply may be plain text"""
    problems = messages.check(GOOD.encode(), messages.DIGEST)
    assert [line.split(":")[0] for line in problems] == [
        "List-Id", "List-Unsubscribe", "Auto-Submitted",
    ]
    head = GOOD.split("Content-Type", 1)[0]
    answer = head + "Content-Type: text/plain; charset=utf-8\r\n\r\n> list\r\n"
    assert messages.check(answer.encode(), is_alternative=False) == []
    assert messages.check(answer.encode()) != []


def test_message_contents():
    """subject, links and ids are read from a message"""
    raw = GOOD.encode()
    assert messages.subject(raw) == "2 papers: Schrödinger"
    assert messages.paper_ids(raw) == ["2608.19880", "2608.00001"]
    assert messages.paper_links(raw)[1] == "https://arxiv.org/abs/2608.00001v2"
    assert messages.links_of_text("<https://a.b/c(d)> (https://e.f/g).") == [
        "https://a.b/c(d)", "https://e.f/g",
    ]
    assert messages.links_of_html('<a href="https://a.b/?x=1&amp;y=2">') == [
        "https://a.b/?x=1&y=2"
    ]


def main():
    with Tap() as tap:
        for test in (test_tap_passes, test_tap_fails, test_tap_breaks,
                     test_tap_is_stopped):
            tap.run(test)
        tap.run(test_child_waits, tap)
        tap.run(test_child_critical)
        tap.run(test_shifted_clock)
        tap.run(test_child_death)
        tap.run(test_child_group)
        tap.run(test_process_ends)
        for test in (test_generate_is_deterministic, test_generate_shares,
                     test_generate_sameness, test_generate_parses, test_generate_real,
                     test_language_covers_everything):
            tap.run(test)
        tap.run(test_generate_command, tap)
        for test in (test_message_checks, test_message_order, test_message_kinds,
                     test_message_contents):
            tap.run(test)


if __name__ == "__main__":
    main()
