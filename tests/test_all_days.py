#!/usr/bin/env python3
#
# test_all_days.py - every stored day is read, and its papers are those Python finds.

import glob
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

from tap import Tap, real_files, top_builddir, top_srcdir

FETCHDAY = os.path.join(top_builddir(), "tests", "fetchday")


def fetch(path, day):
    """fetchday's answer for a file of any name, as (status, count, papers)."""
    with tempfile.TemporaryDirectory() as directory:
        os.symlink(path, os.path.join(directory, "daily_papers-%s.json" % day))
        answer = subprocess.run([FETCHDAY, "file://" + directory, day], text=True,
                                capture_output=True, check=False)
    if answer.returncode != 0:
        raise AssertionError(answer.stderr.strip())
    lines = [line.split(" ", 2) for line in answer.stdout.splitlines()]
    facts = {line[0]: line[1] for line in lines if line[0] != "paper"}
    return facts["status"], int(facts["count"]), [line[1:] for line in lines
                                                  if line[0] == "paper"]


def check(path):
    day = re.search(r"daily_papers-(\d{4}-\d\d-\d\d)", path)[1]
    with open(path, encoding="utf-8") as file:
        elements = json.load(file)
    ids = list(dict.fromkeys(element["paper"]["id"] for element in elements))
    status, count, papers = fetch(path, day)
    assert status == ("ok" if ids else "empty"), status
    assert count == len(ids), (count, len(ids))
    assert [paper[0] for paper in papers] == ids, "other papers"
    titles = {element["paper"]["id"]: element["paper"]["title"] for element in elements}
    for number, title in papers:
        plain = " ".join(titles[number].split())
        if not set(plain) & set("\\${"):
            assert title == plain, (number, title)


def check_all(tap, paths):
    bad = []
    for path in paths:
        try:
            check(os.path.abspath(path))
        except AssertionError as error:
            bad.append(f"{os.path.basename(path)}: {error}")
    tap.diag(f"{len(paths)} files")
    assert not bad, "\n".join(bad)


def made_up(tap):
    """all made-up days are read whole"""
    directory = os.path.join(top_srcdir(), "samples")
    check_all(tap, sorted(glob.glob(f"{directory}/**/daily_papers-*.json", recursive=True)))


def real(tap):
    """all real days are read whole"""
    check_all(tap, real_files("daily_papers-*.json"))


def main():
    with Tap() as tap:
        tap.run(made_up, tap)
        tap.run(real, tap)


if __name__ == "__main__":
    main()
