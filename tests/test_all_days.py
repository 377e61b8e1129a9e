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

SOURCE = os.environ.get("top_srcdir", ".")
BUILD = os.environ.get("top_builddir", ".")
FETCHDAY = os.path.join(BUILD, "tests", "fetchday")


def fetch(path, day):
    """fetchday's answer for a file of any name, as (status, count, papers)."""
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(path, os.path.join(folder, "daily_papers-%s.json" % day))
        answer = subprocess.run([FETCHDAY, "file://" + folder, day], text=True,
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


def main():
    shared = os.path.join(SOURCE, "..", "shared", "data")
    samples = os.path.join(SOURCE, "samples")
    groups = [("made up", samples, "**/daily_papers-*.json"),
              ("real", shared, "daily_papers-*.json")]
    print("1..%d" % len(groups))
    failed = False
    for number, (name, folder, pattern) in enumerate(groups, 1):
        paths = sorted(glob.glob(os.path.join(folder, pattern), recursive=True))
        bad = []
        for path in paths:
            try:
                check(os.path.abspath(path))
            except AssertionError as error:
                bad.append("%s: %s" % (os.path.basename(path), error))
        for line in bad:
            print("# " + line)
        title = "all %s days are read whole" % name
        if not paths:
            print("ok %d - %s # SKIP no real data" % (number, title))
        else:
            print("%s %d - %s (%d files)" % ("not ok" if bad else "ok", number, title,
                                             len(paths)))
        failed = failed or bool(bad)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
