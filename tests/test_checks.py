#!/usr/bin/env python3
"""test_checks.py - what other tests rely on finds faults: TAP, the clock, filters, messages."""

import os
import random
import re
import subprocess
import sys
import time

LIB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib")
sys.path.insert(0, LIB)

import language
import messages
from oracle import FilterError, parse
from tap import DEADLINE_S, Tap, run, top_builddir

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


def test_shifted_clock():
    """preload_clock.so shifts the time of day but no waits"""
    library = os.path.join(top_builddir(), "tests", "preload_clock.so")
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


# ---- filters --------------------------------------------------------------


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


with Tap() as tap:
    for test in (test_tap_fails, test_tap_breaks, test_shifted_clock,
                 test_language_covers_everything, test_message_checks,
                 test_message_order, test_message_kinds):
        tap.run(test)
