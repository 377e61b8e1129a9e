#!/usr/bin/env python3
#
# test_fortnight.py - fields that are told later: each waiting match is decided once,
# and right.  Two weeks of real days with their files of the next day, and categories
# that are made up here.

import collections
import datetime
import json
import os
import subprocess
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

from daemon import Instance  # noqa: E402
from oracle import Paper, parse  # noqa: E402
from papers import load_papers  # noqa: E402
from tap import Skip, Tap, real_data, top_builddir  # noqa: E402

FIRST, LAST = datetime.date(2025, 7, 14), datetime.date(2025, 7, 25)
HOUR = datetime.timedelta(hours=1)
DAY = datetime.timedelta(days=1)
HELPER = os.path.join(top_builddir(), "tests", "helper_enrich")
CATEGORIES = ("cs.CV", "cs.CL cs.LG", "cs.LG cs.CV", "cs.RO")

# A filter for each kind of waiting, and the words that it stands on.
FILTERS = {
    "votes@example.org": ("model upvotes:>=20", "model"),
    "few@example.org": ("model NOT upvotes:>=20", "model"),
    "code@example.org": ("video has:code", "video"),
    "vision@example.org": ("model cat:cs.CV", "model"),
    "other@example.org": ("model NOT cat:cs.LG", "model"),
    "plain@example.org": ("diffusion", "diffusion"),
}

LOG = """
CREATE TABLE decided (filter_id, paper_seq, what);
CREATE TRIGGER decided_first AFTER INSERT ON match_pending BEGIN
    INSERT INTO decided VALUES (NEW.filter_id, NEW.paper_seq, 'waiting'); END;
CREATE TRIGGER decided_yes AFTER INSERT ON match_found BEGIN
    INSERT INTO decided SELECT NEW.filter_id, value, 'yes'
        FROM json_each('[' || NEW.papers || ']'); END;
CREATE TRIGGER decided_more AFTER UPDATE ON match_found BEGIN
    INSERT INTO decided SELECT NEW.filter_id, value, 'yes'
        FROM json_each('[' || substr(NEW.papers, length(OLD.papers) + 2) || ']'); END;
CREATE TRIGGER decided_no AFTER DELETE ON match_pending BEGIN
    INSERT INTO decided VALUES (OLD.filter_id, OLD.paper_seq, 'waits no more'); END;
"""


def plan(name):
    """When arXiv tells of a paper, in hours after it was first seen, and what."""
    number = zlib.crc32(name.encode())
    return (0.5, 5, None)[number % 3], CATEGORIES[number // 3 % len(CATEGORIES)]


def load_links(path):
    """The ids of the papers that have a code link."""
    with open(path, encoding="utf-8") as file:
        return {element["paper"]["id"] for element in json.load(file)
                if element["paper"].get("githubRepo")}


class Fortnight:
    def __init__(self, directory):
        self.days = []
        date = FIRST
        while date <= LAST:
            if date.isoweekday() <= 5:
                self.days.append((date, real_data(f"daily_papers-{date}.json"),
                                  real_data(f"daily_papers-{date}.next-day.json")))
            date += DAY
        self.instance = Instance(directory, maildir=os.path.join(directory, "out"))
        self.events = collections.defaultdict(list)
        self.seen = {}  # id -> when
        self.versions = collections.defaultdict(list)  # id -> papers as told

    def live(self):
        start = f"{FIRST}T00:00:00Z"
        for address, (text, _) in FILTERS.items():
            self.instance.add_person(address, now=start, query=text)
        subprocess.run([sys.executable, "-c",
                        "import sqlite3, sys; sqlite3.connect(sys.argv[1])"
                        ".executescript(sys.argv[2])", self.instance.store, LOG], check=True)
        for date, same, later in self.days:
            noon = datetime.datetime.combine(date, datetime.time(9))
            self.events[noon].append((date, same))
            self.events[noon + 17.5 * HOUR].append((date, later))
        while self.events:
            self.step(min(self.events))
        # Quiet days, until nobody waits any more.  A clock that leaps so far is not
        # believed for a day.
        end = datetime.datetime.combine(LAST, datetime.time(9))
        self.fetch(end + 16 * DAY)
        self.fetch(end + 17 * DAY)

    def step(self, time):
        for date, what in self.events.pop(time):
            if date is None:
                subprocess.run([HELPER, self.instance.store, f"{time.isoformat()}Z"],
                               input=what, text=True, check=True, capture_output=True)
                continue
            target = os.path.join(self.instance.papers, f"daily_papers-{date}.json")
            with open(what, "rb") as source, open(target, "wb") as file:
                file.write(source.read())
            links = load_links(what)
            for paper in load_papers(what):
                paper["code"] = paper["id"] in links
                self.versions[paper["id"]].append(paper)
                if paper["id"] not in self.seen:
                    self.first_seen(paper["id"], time)
        self.fetch(time)

    def first_seen(self, name, time):
        self.seen[name] = time
        hours, categories = plan(name)
        if hours:
            self.events[time + hours * HOUR].append((None, f"{name} {categories}\n"))
        self.events[time + 2 * HOUR] += []  # somebody looks when the time is up

    def fetch(self, time):
        self.instance.ctl("source", "fetch", now=f"{time.isoformat()}Z")

    def found(self, address):
        return {row[0] for row in self.instance.rows(
            "SELECT p.id FROM match m JOIN paper p ON p.seq = m.paper_seq"
            " JOIN subscription s ON s.filter_id = m.filter_id"
            " JOIN subscriber u ON u.id = s.subscriber_id"
            f" WHERE m.state = 'yes' AND u.address = '{address}'")}


def wanted(fortnight, address):
    """What the filter is to find, by the other reader of its words and this table."""
    words = parse(FILTERS[address][1])
    ids = set()
    for name, versions in fortnight.versions.items():
        if not any(words.truth(Paper(version)) for version in versions):
            continue
        hours, categories = plan(name)
        votes = [version["upvotes"] for version in versions]
        reported = categories.split() if hours else []
        right = {
            "plain": True,
            "votes": max(votes) >= 20,
            # as told at any time: a "yes" stays
            "few": min(votes) < 20,
            "code": any(version["code"] for version in versions),
            "vision": "cs.CV" in reported,
            # told too late, it had been decided already
            "other": hours != 0.5 or "cs.LG" not in reported,
        }[address.split("@")[0]]
        if right:
            ids.add(name)
    return ids


def test_right(tap, fortnight):
    """votes, links and categories that come later find what they are to find"""
    for address in FILTERS:
        got, want = fortnight.found(address), wanted(fortnight, address)
        tap.diag(f"{FILTERS[address][0]}: {len(got)} papers")
        assert got == want, (address, sorted(got ^ want))
        assert want, address


def test_once(tap, fortnight):
    """each waiting match is decided once, and none waits for ever"""
    assert fortnight.instance.rows("SELECT count(*) FROM match WHERE state = 'waiting'"
                                ) == [(0,)]
    rows = fortnight.instance.rows("SELECT filter_id, paper_seq, what FROM decided")
    said = collections.defaultdict(list)
    for filter_id, seq, what in rows:
        said[filter_id, seq].append(what)
    counts = collections.Counter(" ".join(what) for what in said.values())
    tap.diag(f"{dict(counts)}")
    # Only what arXiv told too late is looked at anew, once it had been a no.
    to_yes, to_no = "waiting yes waits no more", "waiting waits no more"
    assert set(counts) <= {"yes", to_yes, to_no, to_no + " yes"}, counts
    assert counts[to_yes] > 20 and counts[to_no] > 20
    late = [key for key, what in said.items() if what[-1] == "yes" and what[1:]]
    ids = {row[0]: row[1] for row in fortnight.instance.rows("SELECT seq, id FROM paper")}
    assert all(plan(ids[seq])[0] == 5 for _, seq in late), late


def main():
    with Tap() as tap:
        try:
            fortnight = Fortnight(tap.subdirectory("fortnight"))
        except Skip as reason:
            tap.skip("a fortnight of real days", reason)
            return
        fortnight.live()
        tap.run(test_right, tap, fortnight)
        tap.run(test_once, tap, fortnight)


if __name__ == "__main__":
    main()
