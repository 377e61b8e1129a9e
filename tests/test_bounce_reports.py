#!/usr/bin/env python3
"""test_bounce_reports.py - whole reports are read by paperboyctl bounce explain."""
import collections
import csv
import json
import os
import re
import subprocess

import lib  # the path
from tap import Tap, read, real_data, save, top_builddir, top_srcdir

CTL = os.path.abspath(os.path.join(top_builddir(), "paperboyctl"))
KEYS = ["file", "kind", "class", "status", "code", "recipients", "agent", "rule", "line"]
NOINPUT = 65
Sample = collections.namedtuple("Sample", "kind verdict name data")


def load_samples():
    """Reports in the formats of many servers, made up after their documentation.

    The line before each has the kind and the class that a person concludes from the text.
    """
    path = os.path.join(top_srcdir(), "tests", "bounces", "samples.mbox")
    _, *parts = re.split(rb"^From (\w+) (\w+) (.*)\n", read(path), flags=re.M)
    return {name.decode(): Sample(kind.decode(), verdict.decode(), name.decode(), data)
            for kind, verdict, name, data in zip(*[iter(parts)] * 4)}


SAMPLES = load_samples()
DEAD = SAMPLES["RFC 3464, user unknown"].data


def explain(*paths, status=0, data=None):
    """One object per file."""
    done = subprocess.run([CTL, "bounce", "explain", *paths], input=data or b"",
                          capture_output=True, timeout=120)
    assert done.returncode == status, done
    assert bool(done.stderr) == bool(status), done.stderr
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


class Figures:
    """Dead addresses found, and others called dead."""

    def __init__(self):
        self.dead = self.found = self.others = self.called_dead = 0

    def add(self, is_dead, is_called_dead):
        if is_dead:
            self.dead += 1
            self.found += is_called_dead
        else:
            self.others += 1
            self.called_dead += is_called_dead

    def __str__(self):
        return (f"dead found {self.found} of {self.dead}, "
                f"others called dead {self.called_dead} of {self.others}")

    def check(self, found_percent):
        assert self.found * 100 >= self.dead * found_percent, str(self)
        assert self.called_dead * 100 <= self.others, str(self)


def is_called_dead(result):
    return result["kind"] == "bounce" and result["class"] == "dead"


def test_samples(tap, directory):
    """reports in formats of many servers have the kind and the class of their meaning"""
    paths = []
    for number, sample in enumerate(SAMPLES.values()):
        paths.append(os.path.join(directory, f"{number:03}.eml"))
        save(paths[-1], sample.data)
    figures, same = Figures(), 0
    for sample, result in zip(SAMPLES.values(), explain(*paths)):
        figures.add(sample.verdict == "dead", is_called_dead(result))
        is_same = (result["kind"], result["class"]) == (sample.kind, sample.verdict)
        same += is_same
        if not is_same:
            tap.diag(f"{sample.name}: {sample.kind} {sample.verdict}: {result}")
        if sample.kind != "bounce":  # these count for nothing, or at once
            assert is_same, (sample.name, result)
    tap.diag(f"{figures}, same {same} of {len(SAMPLES)}")
    figures.check(90)
    assert same * 100 >= len(SAMPLES) * 99


def read_labels():
    with open(real_data("bounces/labels.tsv"), encoding="utf-8") as file:
        return {row["file"]: row for row in csv.DictReader(file, delimiter="\t")}


def get_vendor(name):
    return name.rsplit("-", 1)[0]


def test_labelled(tap):
    """of real reports most dead addresses are found, and hardly any live one"""
    labels = read_labels()
    directory = os.path.join(os.path.dirname(real_data("bounces/labels.tsv")), "mails")
    names = [name for name in sorted(os.listdir(directory))
             if b"\0" not in open(os.path.join(directory, name), "rb").read()]
    results = explain(*(os.path.join(directory, name) for name in names))
    figures, vendors = Figures(), collections.defaultdict(Figures)
    for name, result in zip(names, results):
        label = labels.get(name)
        if name.startswith("not-"):
            assert result["kind"] != "bounce", result
        if not label or label["hardbounce"] == "-":  # not decided
            continue
        if label["reason"] == "feedback":
            assert result["kind"] == "complaint", result
        for counted in (figures, vendors[get_vendor(name)]):
            counted.add(label["hardbounce"] == "1", is_called_dead(result))
    for vendor in sorted(vendors):
        tap.diag(f"{vendor}: {vendors[vendor]}")
    tap.diag(f"all: {figures}")
    figures.check(92)


def test_fields():
    """an object has the codes, the recipient, the agent, the rule and the line"""
    result, = explain(data=DEAD)
    assert list(result) == KEYS, result
    assert result == {
        "file": "-", "kind": "bounce", "class": "dead", "status": "5.1.1", "code": 550,
        "recipients": ["eva@example.com"], "agent": "mx.example.net",
        "rule": "no-such-user", "line": "550 5.1.1 <eva@example.com> User unknown"}
    result, = explain("-", data=b"Subject: hello\n\nHow are you?\n")
    assert (result["kind"], result["class"]) == ("none", "unknown"), result
    assert [result[key] for key in ("status", "code", "line")] == [None] * 3


def test_rules(directory):
    """an error in the rules ends the program and names the line"""
    good = "guess\n\tperhaps\n"
    for rules, message in (
            ("\tx\n", "1: a pattern before the first block"),
            ("rule a\n", "1: expected: rule NAME CLASS"),
            ("# x\nrule a late\n", "2: unknown class: late"),
            ("rule a dead latest\n", "1: unknown condition: latest"),
            ("rule a dead\n\tx(\n", "1: Error while compiling"),
            ("rule a dead\n\tx${WHO}\n", "1: unknown definition: ${WHO}"),
            ("rule a dead\n\tx\\\nrule b full\n", "3: expected the rest of a pattern"),
            ("rules\n", "1: unexpected block: rules"), ("", "0: no block: guess"),
            (good + good, "3: unexpected block: guess")):
        save(os.path.join(directory, "rules"), rules)
        done = subprocess.run(
            [CTL, "bounce", "explain"], input=DEAD, capture_output=True,
            timeout=120, env={**os.environ, "G_RESOURCE_OVERLAYS":
                              f"/paperboy/bounces={os.path.abspath(directory)}"})
        assert done.returncode < 0, done
        assert f"/paperboy/bounces/rules:{message}" in done.stderr.decode(), done


def test_errors(directory):
    """a file that is missing or that the parser rejects is reported, the others are read"""
    good, bad = (os.path.join(directory, name) for name in ("good", "bad"))
    save(good, DEAD)
    save(bad, b"Subject: \0\n\nx\n")
    results = explain(bad, "/nonexistent", good, status=NOINPUT)
    assert [result["class"] for result in results] == ["unknown", "unknown", "dead"]
    assert [result["kind"] for result in results] == ["none", "none", "bounce"]
    assert [list(result) for result in results] == [[*KEYS, "error"]] * 2 + [KEYS]


def test_large(directory):
    """a report of 10 MB is rejected; hostile text is read in bounded time"""
    path = os.path.join(directory, "large")
    head = DEAD
    save(path, head + b"x" * (10 << 20))
    result, = explain(path, status=NOINPUT)
    assert "error" in result, result
    texts = [b"550 mailbox quota user unknown " * 2000, b"user\n" * 12000,
             b"550 user\n\n" * 6000, b"-->\n" * 15000, b"<" * 60000, b"a@" * 30000,
             (b"-" * 250 + b"a" * 250 + b"x\n") * 120, (b"-" * 4000 + b"\n") * 15,
             (b"@" * 4000 + b"\n\n") * 15]
    for text in texts:
        explain(data=b"From: MAILER-DAEMON@a.example\nReturn-Path: <>\n\n" + text)


with Tap() as tap:
    tap.run(test_samples, tap, tap.subdirectory("samples"))
    tap.run(test_labelled, tap)
    tap.run(test_fields)
    tap.run(test_rules, tap.subdirectory("rules"))
    tap.run(test_errors, tap.subdirectory("errors"))
    tap.run(test_large, tap.subdirectory("large"))
