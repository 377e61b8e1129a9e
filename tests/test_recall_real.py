#!/usr/bin/env python3
"""test_recall_real.py - the estimated part of a subject that filters find.

Papers of systematic reviews are stored; which of the included ones a filter finds is
decided by a second implementation of the language.
"""

import json
import os
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path[:0] = [os.path.join(TOP, "tests", "lib"), os.path.join(TOP, "bench")]

from oracle import Paper, parse
from programs import Paperboy, write_day
from relevance import FILTERS, load_review
from tap import Tap, real_files

DAY = "2026-11-18"
ERROR = 0.15
INSIDE = 0.68  # part of the estimates


def estimate(tap, name, papers):
    """{filter: estimated recall}"""
    directory = tap.subdirectory(name)
    source = os.path.join(directory, "source")
    os.mkdir(source)
    write_day(source, DAY, papers)
    paperboy = Paperboy(directory, f"file://{source}")
    paperboy.run_once(f"{DAY}T22:00:00Z")
    return {text: json.loads(paperboy.ctl("--json", "filter", "suggest", text,
                                          now=f"{DAY}T23:00:00Z"))["recall"]
            for text in FILTERS[name]}


def test_estimates_are_near(tap):
    """seven of ten estimated parts are within .15 of the true ones"""
    errors = []
    count = 0
    for path in real_files("reviews/*.csv"):
        name = os.path.basename(path).removesuffix(".csv")
        rows, wanted = load_review(path)
        papers = [{"id": f"2601.{number:05}", "title": row["title"] or "untitled",
                   "abstract": row["summary"], "authors": [], "upvotes": None}
                  for number, row in enumerate(rows)]
        ready = [Paper(paper) for paper, row in zip(papers, rows) if row["id"] in wanted]
        own = []
        for text, recall in estimate(tap, name, papers).items():
            tree = parse(text)
            found = sum(tree.truth(paper) is True for paper in ready)
            count += 1
            if recall is not None:
                own.append(recall - found / len(ready))
        print(f"# {name}: {sum(abs(error) <= ERROR for error in own)} of {len(own)}")
        errors += own
    inside = sum(abs(error) <= ERROR for error in errors)
    print(f"# {inside} of {len(errors)}, mean error {sum(errors) / len(errors):+.3f}")
    assert len(errors) >= 0.9 * count, (len(errors), count)
    assert inside >= INSIDE * len(errors), (inside, len(errors))


with Tap() as tap:
    tap.run(test_estimates_are_near, tap)
