#!/usr/bin/env python3
"""test_real_days.py - run the programs through stored days of real papers.

PAPERBOY_LONG=1: through all, else through those of four weeks.
"""

import collections
import datetime
import os
import re

import lib  # the path
import messages
import plain_scan
from normalize import normalize
from oracle import Paper, match_all, parse
from papers import load_papers
from programs import Paperboy, as_sent, write_day
from tap import IS_LONG, Skip, Tap, real_data, real_files

ONE_DAY = datetime.timedelta(days=1)
# Votes can change for this long, and a weekly digest is due within.
QUIET_DAYS = 16

Person = collections.namedtuple("Person", "filter settings")
PEOPLE = {
    "words@example.org": Person("diffusion model", {}),
    "phrase@example.org": Person('"large language model*" OR "state space"', {}),
    "votes@example.org": Person("upvotes:>=20", {}),
    "not@example.org": Person("agent -survey -title:benchmark", {"zone": "UTC"}),
    "prefix@example.org": Person(
        "quantiz* OR distill*", {"zone": "America/Los_Angeles", "at": "18:15"}
    ),
    "author@example.org": Person('author:"J. Zhang" OR author:Wang', {"max": 3}),
    "weekly@example.org": Person(
        "(video OR image) upvotes:>=10", {"cadence": "weekly:mon,thu"}
    ),
    "few@example.org": Person("reasoning -upvotes:>=30", {"cadence": "weekdays"}),
    "nothing@example.org": Person("zymurgy", {}),
}
# Subscribers whose digest is due daily at 07:30 UTC.
DAILY = ("words@example.org", "phrase@example.org", "votes@example.org",
         "not@example.org", "author@example.org")

Day = collections.namedtuple("Day", "same later")  # paths, or None
Mail = collections.namedtuple("Mail", "run recipient ids raw")


def load_calendar():
    """Days with files, by date."""
    days = {}
    for path in real_files("daily_papers-????-??-??.json"):
        date = re.search(r"\d{4}-\d\d-\d\d", os.path.basename(path))[0]
        if not IS_LONG and not "2025-07-14" <= date <= "2025-08-08":
            continue
        later = path.replace(".json", ".next-day.json")
        days[datetime.date.fromisoformat(date)] = Day(
            path, later if os.path.exists(later) else None
        )
    return dict(sorted(days.items()))


def versions(days):
    """All files in the order in which the source listed them: [(time, path)]."""
    found = []
    for date, day in days.items():
        found.append((f"{date}T09:00", day.same))
        if day.later:
            found.append((f"{date + ONE_DAY}T02:30", day.later))
    return sorted(found)


class RealDays:
    """All days with files, the quiet days after them, and the mails of each run."""

    def __init__(self, directory):
        self.days = load_calendar()
        self.source = os.path.join(directory, "source")
        os.mkdir(self.source)
        self.paperboy = Paperboy(directory, f"file://{self.source}")
        self.mails = []
        self.runs = 0

    def run_all(self):
        first = min(self.days)
        for address, person in PEOPLE.items():
            self.paperboy.add(address, [person.filter], now=f"{first}T00:00:00Z",
                              **{"zone": "UTC", "at": "07:30"} | person.settings)
        for date in self.dates():
            before = self.days.get(date - ONE_DAY)
            if before and before.later:
                write_day(self.source, date - ONE_DAY, before.later)
                self.run(f"{date}T02:30")
            if date in self.days:
                write_day(self.source, date, self.days[date].same)
            self.run(f"{date}T09:00")

    def dates(self):
        """All simulated dates; there are gaps of weeks between them."""
        return sorted({date + number * ONE_DAY for date in self.days
                       for number in range(QUIET_DAYS + 1)})

    def run(self, time):
        self.paperboy.run_once(f"{time}:00Z")
        self.runs += 1
        for raw in self.paperboy.new_mails():
            raw = as_sent(raw)
            recipient = str(messages.parse(raw)["To"])
            self.mails.append(Mail(time, recipient, messages.paper_ids(raw), raw))

    def mails_to(self, address):
        return [mail for mail in self.mails if mail.recipient == address]


def test_runs(tap, calendar):
    """all days run"""
    calendar.run_all()
    seconds = calendar.paperboy.seconds
    tap.diag(f"{len(calendar.days)} days with papers, {calendar.runs} runs in "
             f"{sum(seconds):.1f} s, the slowest {max(seconds) * 1000:.0f} ms; "
             f"{len(calendar.mails)} mails")


def test_store_holds_all(tap, calendar):
    """the store has exactly the distinct papers of all files"""
    wanted = {paper["id"] for _, path in versions(calendar.days) for paper in
              load_papers(path)}
    got = [row[0] for row in calendar.paperboy.rows("SELECT id FROM paper")]
    tap.diag(f"{len(got)} papers")
    assert len(got) == len(set(got)) and set(got) == wanted
    listed = set(calendar.paperboy.rows(
        "SELECT day, id FROM listing JOIN paper ON seq = paper_seq"))
    pairs = {(os.path.basename(path)[13:23], paper["id"])
             for _, path in versions(calendar.days) for paper in load_papers(path)}
    assert listed == pairs, len(listed ^ pairs)


def test_texts(tap, calendar):
    """titles, abstracts and authors are exactly those of the files"""
    last = {paper["id"]: paper for _, path in versions(calendar.days)
            for paper in load_papers(path)}
    rows = calendar.paperboy.rows("SELECT id, title, abstract, authors FROM paper")
    bad = []
    for name, *texts in rows:
        paper = last[name]
        authors = "\n".join(map(normalize, paper["authors"]))
        wanted = [normalize(paper["title"]), normalize(paper["abstract"]), authors]
        bad += [(name, *pair) for pair in zip(texts, wanted) if pair[0] != pair[1]]
    tap.diag(f"{len(rows)} papers with {sum(row[3].count(chr(10)) + 1 for row in rows)}"
             " authors")
    assert not bad, f"{len(bad)} differ, such as: {bad[:3]}"


def test_votes(calendar):
    """the final votes are those of the last file with the paper"""
    wanted = {paper["id"]: paper["upvotes"] for _, path in versions(calendar.days)
              for paper in load_papers(path)}
    got = dict(calendar.paperboy.rows("SELECT id, upvotes FROM paper"))
    bad = {name: (got[name], votes) for name, votes in wanted.items()
           if got[name] != votes}
    assert not bad, bad


def test_digests_are_right(tap, calendar):
    """each subscriber got exactly the papers of the filter, each once"""
    shown = [Paper(paper) for _, path in versions(calendar.days)
             for paper in load_papers(path)]
    for address, person in PEOPLE.items():
        tree = parse(person.filter)
        wanted = {paper.id for paper in shown if tree.truth(paper)}
        got = [name for mail in calendar.mails_to(address) for name in mail.ids]
        tap.diag(f"{address}: {len(got)} papers in {len(calendar.mails_to(address))} mails")
        again = [name for name, count in collections.Counter(got).items() if count > 1]
        assert not again, (address, again)
        assert set(got) == wanted, (address, sorted(wanted ^ set(got)))
        assert bool(wanted) == (address != "nothing@example.org"), address
    assert {mail.recipient for mail in calendar.mails} <= set(PEOPLE)


def test_late_papers(tap, calendar):
    """papers that were listed late are in the next digest"""
    mailed = collections.defaultdict(set)
    for mail in calendar.mails:
        mailed[mail.recipient, mail.run].update(mail.ids)
    late = hits = 0
    for date, day in calendar.days.items():
        if not day.later:
            continue
        early = {paper["id"] for paper in load_papers(day.same)}
        fresh = [Paper(paper) for paper in load_papers(day.later)
                 if paper["id"] not in early]
        late += len(fresh)
        for address in DAILY:
            tree = parse(PEOPLE[address].filter)
            wanted = {paper.id for paper in fresh if tree.truth(paper)}
            hits += len(wanted)
            missing = wanted - mailed[address, f"{date + ONE_DAY}T09:00"]
            assert not missing, (address, date, missing)
    tap.diag(f"{late} late papers, {hits} times in the next digest")
    assert late > 100 and hits > 30


def test_risen_papers(tap, calendar):
    """papers that reached the votes overnight are in the next digest"""
    risen = 0
    for date, day in calendar.days.items():
        if not day.later:
            continue
        before = {paper["id"]: paper["upvotes"] for paper in load_papers(day.same)}
        for paper in load_papers(day.later):
            if before.get(paper["id"], 20) < 20 <= paper["upvotes"]:
                risen += 1
                runs = [mail.run for mail in calendar.mails_to("votes@example.org")
                        if paper["id"] in mail.ids]
                assert runs == [f"{date + ONE_DAY}T09:00"], (paper["id"], runs)
    tap.diag(f"{risen} papers rose to 20 votes overnight")
    assert risen > 10


def test_schedule(calendar):
    """digests come by schedule: daily, on Mondays and Thursdays, by zone"""
    dates = calendar.dates()
    # After a gap, a digest that was due in it is made late.
    awake = [str(date) for date in dates if date - ONE_DAY in dates]
    for address, person in PEOPLE.items():
        runs = [mail.run for mail in calendar.mails_to(address)]
        assert len(runs) == len(set(runs)), address
        days = {datetime.date.fromisoformat(run[:10]).isoweekday() for run in runs
                if run[:10] in awake}
        if person.settings.get("cadence") == "weekly:mon,thu":
            assert days == {1, 4}, days
        if person.settings.get("cadence") == "weekdays":
            assert days <= {1, 2, 3, 4, 5}, days
    # 18:15 in Los Angeles is after midnight in UTC: the run at half past two
    runs = {mail.run[11:] for mail in calendar.mails_to("prefix@example.org")}
    assert runs == {"02:30", "09:00"}, runs


def test_messages(calendar):
    """every message is well formed and has a unique id"""
    for mail in calendar.mails:
        problems = messages.check(mail.raw, messages.DIGEST)
        assert not problems, (mail.recipient, mail.run, problems)
    ids = [str(messages.parse(mail.raw)["Message-ID"]) for mail in calendar.mails]
    assert len(ids) == len(set(ids)) > 0


def test_seed_papers(tap):
    """a filter on the 71 seed papers finds the same as the oracle and a plain scan"""
    papers = load_papers(real_data("seed-papers.json"))
    papers = [dict(paper, id=f"2604.{number:05d}", authors=["Ada Example"], upvotes=1)
              for number, paper in enumerate(papers, 1)]
    directory = tap.subdirectory("seed")
    write_day(directory, "2026-04-15", papers)
    paperboy = Paperboy(directory, f"file://{directory}")
    paperboy.add("reader@example.org", [plain_scan.FILTER], now="2026-04-15T08:00:00Z",
                 max=200)
    paperboy.run_once("2026-04-15T09:00:00Z")
    (raw,) = paperboy.new_mails()
    got = sorted(messages.paper_ids(as_sent(raw)))
    tap.diag(f"{len(papers)} papers, {len(got)} found")
    assert messages.check(as_sent(raw), messages.DIGEST) == []
    assert got == sorted(plain_scan.plain_scan(papers))
    assert got == sorted(match_all([plain_scan.FILTER], papers)[0])
    assert 0 < len(got) < len(papers)


def main():
    with Tap() as tap:
        try:
            calendar = RealDays(tap.subdirectory("days"))
        except Skip as reason:
            tap.skip("all real days run", reason)
            return
        tap.run(test_runs, tap, calendar)
        for test in (test_store_holds_all, test_texts, test_digests_are_right,
                     test_late_papers, test_risen_papers):
            tap.run(test, tap, calendar)
        for test in (test_votes, test_schedule, test_messages):
            tap.run(test, calendar)
        tap.run(test_seed_papers, tap)


if __name__ == "__main__":
    main()
