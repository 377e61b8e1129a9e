#!/usr/bin/env python3
"""test_calendar.py - simulated weeks and quarters, compared with models of the rules.

tests/lib/simulation.py runs the scenarios; each names its papers, subscribers, events
and checks:

  days       every stored day is read, and its papers are those in the file
  week       three sources list the same papers, whichever lists them first
  fortnight  votes, links and categories of real papers arrive later
  quarter    the clock is set, sources and relay fail, the machine sleeps for a week,
             and a kill -9 ends the program each day; digests are computed
             independently, with Python's time zones (lib/slots.py) and the second
             implementation of the filters (lib/oracle.py)
  year       `paperboyctl why` is asked about random subscribers and papers of all
             ages, and compared with the Maildir

PAPERBOY_LONG=1: more subscribers, both halves of the year, several seeds, and 5,000
questions of the year.
PAPERBOY_SEED=N repeats a run.
"""

import collections
import copy
import datetime
import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import zlib

import lib  # the path
import slots
import stores
from oracle import Paper, parse
from papers import load_papers
from simulation import (
    HOUR_S, Digest, Event, Instant, Simulation, Subscriber, daily_checks,
)
from slots import DAY_S, utc
from tap import (
    IS_LONG, Child, Tap, read, real_data, real_files, save, top_builddir, top_srcdir,
)

SEED = int(os.environ.get("PAPERBOY_SEED") or (random.randrange(1 << 30) if IS_LONG else 1))


def day_of(at):
    return datetime.datetime.fromtimestamp(at, datetime.timezone.utc).date().isoformat()


def write_file(directory, name, text):
    save(os.path.join(directory, name), text)


# ---- days -------------------------------------------------------------------


def fetch_day(path, day):
    """Read a file as the source does: (status, count, [[id, title]])."""
    program = os.path.join(top_builddir(), "tests", "fetchday")
    with tempfile.TemporaryDirectory() as directory:
        os.symlink(path, os.path.join(directory, f"daily_papers-{day}.json"))
        result = subprocess.run([program, "file://" + directory, day], text=True,
                                capture_output=True, check=False)
    assert result.returncode == 0, result.stderr.strip()
    lines = [line.split(" ", 2) for line in result.stdout.splitlines()]
    values = {line[0]: line[1] for line in lines if line[0] != "paper"}
    papers = [line[1:] for line in lines if line[0] == "paper"]
    return values["status"], int(values["count"]), papers


def check_day(path):
    day = re.search(r"daily_papers-(\d{4}-\d\d-\d\d)", path)[1]
    elements = json.loads(read(path))
    titles = {}
    for element in elements:
        titles[element["paper"]["id"]] = element["paper"]["title"]
    status, count, papers = fetch_day(path, day)
    assert status == ("ok" if titles else "empty"), (path, status)
    assert count == len(titles), (path, count, len(titles))
    assert [paper for paper, _ in papers] == list(titles), path
    for paper, title in papers:
        plain = " ".join(titles[paper].split())
        if not set(plain) & set("\\${"):
            assert title == plain, (path, paper, title)


def check_days(tap, paths):
    for path in paths:
        check_day(os.path.abspath(path))
    tap.diag(f"{len(paths)} files")


def test_sample_days(tap):
    """all made-up days are read whole"""
    directory = os.path.join(top_srcdir(), "samples")
    check_days(tap, sorted(glob.glob(f"{directory}/**/daily_papers-*.json",
                                     recursive=True)))


def test_real_days(tap):
    """all real days are read whole"""
    check_days(tap, real_files("daily_papers-*.json"))


# ---- week -------------------------------------------------------------------


class Week:
    """Hugging Face, arXiv and a feed list the same papers, in a given order.

    Of the papers of a day Hugging Face does not have the last, and the feed has it under
    its DOI; only its category is in arXiv's list.  The API knows all categories, comments
    and DOIs.
    """

    begin, end = utc("2026-11-16T00:00"), utc("2026-11-21T12:00")  # from a Monday
    seed = 0
    papers_per_day = 4
    days = 5

    def __init__(self, directory, source_order, server):
        self.source_order = source_order
        papers = os.path.join(directory, "papers")
        self.settings = {
            "collect__interval_s": HOUR_S // 2, "collect__wait_min": 0,
            "sources__arxiv__kind": "arxiv", "sources__arxiv__categories": ["cs.CL"],
            "sources__arxiv__url": f"file://{papers}",
            **{f"enrich__{service}{option}": value for service, mode in (
                ("arxiv", "feed-api"), ("europepmc", "find-articles"),
                ("crossref", "find-works"))
               for option, value in (
                   ("", True), ("_url", f"{server}/{mode}"), ("_interval_s", 0))},
            "sources__group__kind": "feed",
            "sources__group__url": f"file://{papers}/group.xml",
        }
        span = (self.begin, self.end)
        self.subscribers = [
            Subscriber(address, "UTC", "daily", slots.ALL, 9 * 60, [text], span)
            for address, text in (("ada@example.org", "mamba"),
                                  ("bo@example.org", "mamba cat:cs.LG"),
                                  ("cy@example.org", "mamba -cs.LG"),
                                  ("di@example.org", "mamba co:neurips"),
                                  ("ed@example.org", "mamba NOT co:neurips"))]
        os.makedirs(papers)
        self.write_arxiv(papers, "13", "")
        self.write_feed(papers, "")

    def get_events(self):
        events = [Event(self.begin, 4, "join", who) for who in self.subscribers]
        for day in range(self.days):
            at = self.begin + day * DAY_S + 6 * HOUR_S
            events += [Event(at, 1, "call", self.listing(source, day))
                       for source in (self.huggingface, self.arxiv, self.feed)]
        return events + daily_checks(self.begin, self.end)

    @staticmethod
    def listing(source, day):
        """A call that writes a day's list of one source."""
        return lambda simulation: source(simulation.instance.papers, day)

    @staticmethod
    def title(day, number):
        return f"Mamba of the made-up day {16 + day}, paper {number}"

    def huggingface(self, directory, day):
        elements = [
            {"paper": {"id": f"2611.{16 + day}00{number}", "title": self.title(day, number),
                       "summary": "Of hf.", "upvotes": number,
                       "authors": [{"name": "Ada Example"}]}}
            for number in range(self.papers_per_day - 1)]
        write_file(directory, f"daily_papers-2026-11-{16 + day}.json",
                   json.dumps(elements))

    @staticmethod
    def write_arxiv(directory, day, items):
        write_file(directory, "cs.CL.xml",
                   "<rss xmlns:dc='http://purl.org/dc/elements/1.1/' version='2.0'>"
                   f"<channel><pubDate>{day} Nov 2026 00:00:00 -0500</pubDate>{items}"
                   "</channel></rss>")

    def arxiv(self, directory, day):
        last = self.papers_per_day - 1
        self.write_arxiv(directory, 16 + day, "".join(
            f"<item><title>{self.title(day, number)}</title>"
            f"<description>arXiv:2611.{16 + day}00{number}v1 Announce Type: new \n"
            f"Abstract: Of arXiv.</description>"
            f"<guid>oai:arXiv.org:2611.{16 + day}00{number}v1</guid>"
            f"{'<category>cs.CL</category>' if number == last else ''}"
            "<dc:creator>Ada Example, Bo Li</dc:creator></item>"
            for number in range(self.papers_per_day)))

    @staticmethod
    def write_feed(directory, items):
        write_file(directory, "group.xml",
                   f"<rss version='2.0'><channel>{items}</channel></rss>")

    def feed(self, directory, day):
        """The papers can be recognised by title and author alone."""
        self.write_feed(directory, "".join(
            f"<item><title>{self.title(day, number)}</title><author>Ada Example</author>"
            f"<link>https://example.org/{day}/{number}</link></item>"
            for number in range(self.papers_per_day - 1))
            + "<item><title>A published paper</title>"
              f"<link>https://doi.org/10.1000/2611.{16 + day}00{self.papers_per_day - 1}</link></item>")


def check_week(week, simulation):
    """Each paper is one row and one delivery, with the best of each source."""
    rows, value = simulation.instance.rows, simulation.instance.value
    total = week.days * week.papers_per_day
    assert not rows("SELECT * FROM source_fetch WHERE status NOT IN"
                    " ('ok', 'empty', 'unchanged', 'not-yet')"), rows(
                        "SELECT source, status, count(*) FROM source_fetch GROUP BY 1, 2")
    assert value("SELECT count(*) FROM paper") == total
    assert value("SELECT count(*) FROM paper WHERE id GLOB '2611.*' AND abstract ="
                 " 'Of arXiv.' AND authors = 'Ada Example' || char(10) || 'Bo Li'"
                 ) == total
    assert rows("SELECT source, count(*) FROM listing GROUP BY 1 ORDER BY 1") == [
        ("arxiv/cs.CL", 20), ("group", 20), ("hf", 15)]
    votes = rows("SELECT upvotes FROM paper WHERE id GLOB '2611.16*' ORDER BY id")
    assert votes == [(0,), (1,), (2,), (None,)], votes
    assert rows("SELECT categories, count(*) FROM paper GROUP BY 1 ORDER BY 1") == [
        ("cs.CL", 5), ("cs.LG\nstat.ML", 15)]
    assert value("SELECT count(*) FROM paper WHERE comment = 'Accepted at NeurIPS'"
                 " AND doi = '10.1000/' || id AND awaited = 0") == total
    assert rows("SELECT journal, mesh, pmcid = 'PMC' || pmid, count(*) FROM paper"
                " GROUP BY 1, 2, 3 ORDER BY 4") == [
        (None, None, None, week.days),
        ("Made-Up Letters\nLett. Made Up", "Alzheimer Disease", 1, total - week.days)]
    assert value("SELECT count(*) FROM match_pending") == 0
    for subscriber, expected in zip(week.subscribers, (20, 15, 5, 20, 0)):
        counts = simulation.delivered(subscriber)
        assert len(counts) == expected, (subscriber.address, len(counts))
        assert set(counts.values()) <= {1}, (subscriber.address, counts)


def test_week(tap):
    """a paper of three sources is one row and one delivery, whichever lists it first"""
    server = tap.enter(Child([sys.executable, "-B", os.path.join(
        top_srcdir(), "tests", "lib", "paperserver.py")], stdin=subprocess.PIPE))
    port = server.wait_line(r"^port (\d+)")[1]
    orders = ("hf arxiv/cs.CL group", "arxiv/cs.CL hf group", "group arxiv/cs.CL hf",
              "group hf arxiv/cs.CL")
    for number, order in enumerate(orders):
        directory = tap.subdirectory(f"week-{number}")
        week = Week(directory, order, f"http://127.0.0.1:{port}")
        simulation = Simulation(directory, week)
        simulation.run()
        check_week(week, simulation)
        check_mail(simulation)


# ---- fortnight --------------------------------------------------------------


# Records each decision about a match.
DECISIONS = """
CREATE TABLE decision (filter_id, paper_seq, what);
CREATE TRIGGER decided_first AFTER INSERT ON match_pending BEGIN
    INSERT INTO decision VALUES (NEW.filter_id, NEW.paper_seq, 'pending'); END;
CREATE TRIGGER decided_yes AFTER INSERT ON match BEGIN
    INSERT INTO decision SELECT NEW.filter_id, value, 'yes'
        FROM json_each('[' || NEW.papers || ']'); END;
CREATE TRIGGER decided_more AFTER UPDATE ON match BEGIN
    INSERT INTO decision SELECT NEW.filter_id, value, 'yes'
        FROM json_each('[' || substr(NEW.papers, length(OLD.papers) + 2) || ']'); END;
CREATE TRIGGER decided_no AFTER DELETE ON match_pending BEGIN
    INSERT INTO decision VALUES (OLD.filter_id, OLD.paper_seq, 'settled'); END;
"""
DECISIONS_SERVER = """
CREATE TABLE decision (filter_id BIGINT, paper_seq BIGINT, what TEXT);
CREATE FUNCTION decide() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO decision VALUES (NEW.filter_id, NEW.paper_seq, 'pending');
    RETURN NULL; END $$;
CREATE FUNCTION decide_yes() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO decision SELECT NEW.filter_id, CAST(value AS BIGINT), 'yes'
        FROM string_to_table(substr(NEW.papers, CASE TG_OP WHEN 'UPDATE'
            THEN length(OLD.papers) + 2 ELSE 1 END), ',') value;
    RETURN NULL; END $$;
CREATE FUNCTION decide_no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO decision VALUES (OLD.filter_id, OLD.paper_seq, 'settled');
    RETURN NULL; END $$;
CREATE TRIGGER decided_first AFTER INSERT ON match_pending FOR EACH ROW
    EXECUTE FUNCTION decide();
CREATE TRIGGER decided_yes AFTER INSERT OR UPDATE ON match FOR EACH ROW
    EXECUTE FUNCTION decide_yes();
CREATE TRIGGER decided_no AFTER DELETE ON match_pending FOR EACH ROW
    EXECUTE FUNCTION decide_no();
"""


class Fortnight:
    """Two weeks of real days with their files of the next day, and made-up categories.

    A paper's categories arrive in time, too late, or never.
    """

    first, last = datetime.date(2025, 7, 14), datetime.date(2025, 7, 25)
    begin = utc(f"{first}T00:00")
    end = utc(f"{last}T09:00") + 17 * DAY_S  # until nothing is pending
    seed = 0
    source_order = ""
    settings = {"collect__interval_s": DAY_S, "collect__wait_min": 0}
    category_lists = ("cs.CV", "cs.CL cs.LG", "cs.LG cs.CV", "cs.RO")
    # A filter for each field that arrives later, and its terms.
    filters = {
        "votes": ("model upvotes:>=20", "model"),
        "few": ("model NOT upvotes:>=20", "model"),
        "code": ("video has:code", "video"),
        "vision": ("model cat:cs.CV", "model"),
        "other": ("model NOT cat:cs.LG", "model"),
        "plain": ("diffusion", "diffusion"),
    }

    def __init__(self):
        span = (self.begin, self.end)
        self.subscribers = [
            Subscriber(f"{name}@example.org", "UTC", "daily", slots.ALL, 12 * 60, [text],
                       span) for name, (text, _) in self.filters.items()]
        self.versions = collections.defaultdict(list)  # id: papers as listed
        self.lists = []
        for number in range((self.last - self.first).days + 1):
            date = self.first + datetime.timedelta(days=number)
            if date.isoweekday() <= 5:
                at = utc(f"{date}T09:00")
                self.lists.append((at, date, real_data(f"daily_papers-{date}.json")))
                self.lists.append((at + 17 * HOUR_S + 1800, date,
                                   real_data(f"daily_papers-{date}.next-day.json")))
        self.lists.sort()

    @classmethod
    def plan(cls, paper):
        """(hours after the paper was first listed, or None; categories)."""
        number = zlib.crc32(paper.encode())
        categories = cls.category_lists[number // 3 % len(cls.category_lists)]
        return (0.5, 5, None)[number % 3], categories

    def get_events(self):
        events = [Event(self.begin, 4, "join", who) for who in self.subscribers]
        events.append(Event(self.begin + HOUR_S, 1, "call", self.add_triggers))
        for at, date, path in self.lists:
            events.append(Event(at, 1, "call", self.listing(date, path)))
            linked = {element["paper"]["id"] for element in json.loads(read(path))
                      if element["paper"].get("githubRepo")}
            for paper in load_papers(path):
                paper["code"] = paper["id"] in linked
                if paper["id"] not in self.versions:
                    hours, categories = self.plan(paper["id"])
                    if hours:
                        events.append(Event(at + int(hours * HOUR_S), 1, "call",
                                            self.enrichment(paper["id"], categories)))
                self.versions[paper["id"]].append(paper)
        return events + daily_checks(self.begin, self.end)

    @staticmethod
    def add_triggers(simulation):
        simulation.instance.change(
            DECISIONS_SERVER if stores.is_database() else DECISIONS)

    @staticmethod
    def listing(date, path):
        return lambda simulation: shutil.copy(path, os.path.join(
            simulation.instance.papers, f"daily_papers-{date}.json"))

    @staticmethod
    def enrichment(paper, categories):
        """A call that saves the categories of a paper."""
        program = os.path.join(top_builddir(), "tests", "helper_enrich")

        def enrich(simulation):
            now = datetime.datetime.fromtimestamp(simulation.clock, datetime.timezone.utc)
            subprocess.run([program, simulation.instance.db.location,
                            f"{now:%Y-%m-%dT%H:%M:%S}Z"], check=True, text=True,
                           input=f"{paper} {categories}\n", capture_output=True)
        return enrich

    def expected(self, name):
        """Papers that a filter finds, by the oracle and the table below."""
        terms = parse(self.filters[name][1])
        papers = set()
        for paper, versions in self.versions.items():
            if not any(terms.truth(Paper(version)) for version in versions):
                continue
            hours, categories = self.plan(paper)
            votes = [version["upvotes"] for version in versions]
            categories = categories.split() if hours else []
            is_match = {
                "plain": True,
                "votes": max(votes) >= 20,
                "few": min(votes) < 20,  # at any time: a match stays one
                "code": any(version["code"] for version in versions),
                "vision": "cs.CV" in categories,
                # categories that come too late do not undo the decision
                "other": hours != 0.5 or "cs.LG" not in categories,
            }[name]
            if is_match:
                papers.add(paper)
        return papers


def check_late_fields(tap, fortnight, simulation):
    """votes, links and categories that come later find their papers, mailed once"""
    for name, subscriber in zip(fortnight.filters, fortnight.subscribers):
        found = {paper for (paper,) in simulation.instance.rows(
            "SELECT p.id FROM match m, json_each('[' || m.papers || ']') j"
            " JOIN paper p ON p.seq = j.value"
            " JOIN subscription s ON s.filter_id = m.filter_id"
            " WHERE s.subscriber_id = ?", subscriber.id)}
        expected = fortnight.expected(name)
        tap.diag(f"{subscriber.filters[0]}: {len(found)} papers")
        assert found == expected, (name, sorted(found ^ expected))
        assert expected, name
        assert simulation.delivered(subscriber) == collections.Counter(expected), name


def check_decisions(tap, simulation):
    """each pending match is decided once, and none stays pending"""
    instance = simulation.instance
    assert instance.rows("SELECT count(*) FROM match_pending") == [(0,)]
    decisions = collections.defaultdict(list)
    for filter_id, seq, what in instance.change(
            "DELETE FROM decision RETURNING filter_id, paper_seq, what"):
        decisions[filter_id, seq].append(what)
    counts = collections.Counter(" ".join(what) for what in decisions.values())
    tap.diag(f"{dict(counts)}")
    # Only categories that come too late turn a "no" into a "yes".
    to_yes, to_no = "pending yes settled", "pending settled"
    assert set(counts) <= {"yes", to_yes, to_no, to_no + " yes"}, counts
    assert counts[to_yes] > 20 and counts[to_no] > 20
    late = [key for key, what in decisions.items() if what[-1] == "yes" and what[1:]]
    ids = dict(instance.rows("SELECT seq, id FROM paper"))
    assert all(Fortnight.plan(ids[seq])[0] == 5 for _, seq in late), late


def test_fortnight(tap):
    """a fortnight of real days passes, and all know their next digest"""
    fortnight = Fortnight()
    simulation = Simulation(tap.subdirectory("fortnight"), fortnight)
    simulation.run()
    tap.run(check_late_fields, tap, fortnight, simulation)
    tap.run(check_decisions, tap, simulation)
    check_mail(simulation)


# ---- quarter ----------------------------------------------------------------


POLL_S = 4 * HOUR_S
EXPIRE_S = 6 * HOUR_S
FIRST_DAYS = 3  # days that the first digest of a subscriber covers
ELIGIBLE_DAYS = 30  # days after its listing for which a paper is in digests
WAIT_DAYS = 14  # days for which the votes of a paper may change the verdict
# After a gap of more than JUMP_S between two runs votes do not become final for DISTRUST_S.
JUMP_S, DISTRUST_S = 26 * HOUR_S, 23 * HOUR_S

# Zones north and south, with half and quarter hours, across the date line; where
# midnight is skipped (Havana, Beirut, the Azores, Santiago, Cairo) or repeated; that
# change by half an hour (Lord Howe) or two hours (Troll), in winter (Dublin), or for a
# month (Casablanca).
ZONES = """
    UTC Europe/Berlin Europe/London Europe/Dublin Atlantic/Azores America/New_York
    America/Los_Angeles America/St_Johns America/Havana America/Santiago America/Nuuk
    America/Sao_Paulo Asia/Tokyo Asia/Kolkata Asia/Kathmandu Asia/Beirut Asia/Jerusalem
    Asia/Tehran Africa/Cairo Africa/Casablanca Australia/Sydney Australia/Adelaide
    Australia/Lord_Howe Australia/Eucla Pacific/Auckland Pacific/Chatham
    Pacific/Kiritimati Pacific/Pago_Pago Pacific/Apia Antarctica/Troll Etc/GMT+12
    US/Eastern
""".split()

WORDS = """
    agent attention bandit benchmark causal cluster code contrast corpus dataset
    diffusion distillation embedding entropy evaluation exploration feature flow forest
    graph gradient image inference kernel language latent layer learning memory mixture
    model neuron noise optimizer parser planning policy prior prompt pruning query
    reasoning retrieval reward robot sampling scaling segment sequence speech survey
    token transformer translation tree uncertainty video vision zebra
""".split()
NAMES = "Ada Lovelace;Alan Turing;Grace Hopper;Emmy Noether;Edsger Dijkstra".split(";")

FILTERS = """
    diffusion;robot;speech;zebra;"language model";"graph neuron";agent OR bandit
    title:video;title:"latent flow" OR title:noise;reasoning -survey;reward policy
    transl*;optimi* OR prun*;author:Turing;(image OR video) vision;kernel entropy
    retrieval -title:benchmark;upvotes:>=20;upvotes:>=35;code upvotes:>=10
    (agent OR token) upvotes:>=15;memory OR upvotes:>=45;zymurgy;"xylem phloem"
""".replace("\n", ";").split(";")
FILTERS = [text.strip() for text in FILTERS if text.strip()]

# Epochs that begin with the clock ten days ahead, and after the sleep.
JUMP, WAKE = 3, 5

LISTING_TIMES = ((8, 10), (15, 40), (26, 20))  # hour and minute, from the day's midnight


class MadeUpPaper:
    """A paper with random words, the time it is listed at, and its rising votes."""

    def __init__(self, rng, day, number):
        at = utc(f"{day}T00:00")
        self.id = f"{day[2:4]}{day[5:7]}.{number:05}"
        self.title = " ".join(rng.choices(WORDS, k=rng.randint(3, 7)))
        self.abstract = " ".join(rng.choices(WORDS, k=12))
        self.authors = rng.sample(NAMES, 2)
        hour, minute = rng.choices(LISTING_TIMES, (5, 3, 2))[0]
        self.listed_at = at + hour * HOUR_S + minute * 60
        if rng.random() < 0.03:  # listed days late
            self.listed_at += rng.randint(2, 9) * DAY_S
        self.votes = [(0, rng.choice((0, 1, 3, 9)))]
        for _ in range(rng.choice((0, 1, 2, 4))):
            risen = self.votes[-1][1] + rng.choice((1, 6, 11, 17))
            self.votes.append((at + rng.randint(0, 11 * DAY_S), risen))
        self.votes.sort()
        self.oracle = Paper({"id": self.id, "title": self.title, "upvotes": 0,
                             "abstract": self.abstract, "authors": self.authors})

    def votes_at(self, at):
        return max(votes for since, votes in self.votes if since <= at)

    def element(self, at):
        return {"paper": {"id": self.id, "title": self.title, "summary": self.abstract,
                          "authors": [{"name": name} for name in self.authors],
                          "publishedAt": "2026-01-01T00:00:00.000Z",
                          "upvotes": self.votes_at(at)}, "numComments": 0}


class Quarter:
    """A quarter of a year with clock changes, outages and kills."""

    length = 92  # days
    people = 800 if IS_LONG else 40
    settings = {
        # No digest waits for a late list; tests/test_coverage.c covers these waits.
        "collect__interval_s": POLL_S, "collect__wait_min": 0,
        "delivery__expire_h": EXPIRE_S // HOUR_S,
    }

    def __init__(self, begin, seed):
        self.begin = utc(f"{begin}T00:00")
        self.end = self.begin + self.length * DAY_S
        self.seed = seed
        rng = random.Random(seed)
        self.days = {}
        number = 1
        for at in range(self.begin, self.end, DAY_S):
            day = day_of(at)
            if datetime.date.fromisoformat(day).weekday() < 5:
                count = rng.choice((0, 4, 8, 12, 16, 20)) if number > 20 else 12
                self.days[day] = [MadeUpPaper(rng, day, number + n) for n in range(count)]
                number += count
        self.papers = {paper.id: paper for day in self.days.values() for paper in day}
        self.day_of = {paper.id: day for day, papers in self.days.items()
                       for paper in papers}
        self.subscribers = [self.make_subscriber(rng, n) for n in range(self.people)]
        self.events = self.plan(rng)

    def make_subscriber(self, rng, number):
        span = (self.begin, self.end)
        zone = ZONES[number % len(ZONES)]
        minute = rng.randrange(24 * 60)
        changes = slots.changes(slots.zone_of(zone), *span)
        if changes and number % 3:  # within the hour that is skipped or repeated
            when, moved = rng.choice(changes)
            local = when + slots.offset_at(slots.zone_of(zone), when)
            if moved > 0:
                minute = (local // 60 - rng.randint(0, moved)) % (24 * 60)
            else:
                minute = (local // 60 + rng.randint(0, -moved)) % (24 * 60)
        frequency = rng.choice(("daily", "daily", "weekdays", "weekly"))
        days = {"daily": slots.ALL, "weekdays": slots.WORKING,
                "weekly": rng.choice((1, 0x40, 0x09, 0x12, 0x61, rng.randint(1, 127)))}
        filters = rng.sample(FILTERS, rng.randint(1, 4))
        return Subscriber(f"person-{number:04}@example.org", zone, frequency,
                          days[frequency], minute, filters, span)

    def plan(self, rng):
        """Events by true time; no outage overlaps another one of its kind."""

        def at(day, low=0, high=23):
            return self.begin + day * DAY_S + rng.randint(low * 60, high * 60) * 60

        events = daily_checks(self.begin, self.end)
        for day in range(self.length):
            start = self.begin + day * DAY_S
            for hour, minute in LISTING_TIMES:
                events.append(Event(start + hour * HOUR_S + minute * 60, 1, "show", None))
            events.append(Event(start + rng.randrange(DAY_S), 5, "kill", None))
        self.asleep = (at(68), at(75))
        self.outages = [("papers", at(12), at(13)), ("papers", at(55), at(62)),
                        ("Maildir", at(30, 3, 8), at(30, 10, 15)),
                        ("Maildir", at(36), at(39)), ("Maildir", at(80), at(81))]
        for name, start, end in self.outages:
            events += [Event(start, 2, "remove", name), Event(end, 2, "restore", name)]
        jump = (at(44, 6, 14), at(44, 16, 23))
        events += [Event(at(20), 3, "clock", -DAY_S), Event(at(23), 3, "clock", 0)]
        events += [Event(jump[0], 3, "clock", 10 * DAY_S), Event(jump[1], 3, "clock", 0)]
        events += [Event(self.asleep[0], 3, "sleep", None),
                   Event(self.asleep[1], 3, "wake", None)]
        late = self.subscribers[-self.people // 10:]
        during = late[: len(late) // 4]  # while the clock is ten days ahead
        for subscriber in self.subscribers[: -len(late)]:
            events.append(Event(self.begin + DAY_S + 12 * HOUR_S, 4, "join", subscriber))
        for subscriber in late:
            when = at(rng.randint(5, 65))
            if subscriber in during:
                when = rng.randint(jump[0] // 60 + 30, jump[1] // 60 - 30) * 60
            events.append(Event(when, 4, "join", subscriber))
        return [event for event in events if event.at <= self.end]

    def get_events(self):
        return self.events

    def show(self, at, directory):
        """Write the lists of the last two weeks."""
        for age in range(16):
            day = day_of(at - age * DAY_S)
            if at >= utc(f"{day}T08:10") and day in self.days:
                listed = [paper.element(at) for paper in self.days[day]
                          if paper.listed_at <= at]
                write_file(directory, f"daily_papers-{day}.json", json.dumps(listed))


class Model:
    """Computes from the rules which papers each subscriber gets, and when."""

    def __init__(self, quarter, simulation):
        self.quarter = quarter
        self.simulation = simulation
        self.trusted_at = self.find_trusted_at()
        self.found = {text: self.find(text) for text in FILTERS}
        self.left = {}  # subscriber: papers that were in no digest, or in a failed one

    def find_trusted_at(self):
        """The time from which votes become final, for each epoch."""
        times, jumped_at, last = [], 0, self.simulation.epochs[0][0]
        for begin, end in self.simulation.epochs:
            if begin - last > JUMP_S or jumped_at > begin:
                jumped_at = begin
            times.append(jumped_at and jumped_at + DISTRUST_S)
            last = end
        return times

    def settled(self, due, since):
        """When a "no" that is due becomes final; None: not before the end."""
        for epoch, (begin, end) in enumerate(self.simulation.epochs):
            if epoch < since.epoch:
                continue
            start = since.clock if epoch == since.epoch else begin
            if max(due, start) < end:
                due = max(due, self.trusted_at[epoch])
            if max(due, start) < end:
                return Instant(epoch, max(due, start), False)
        return None

    def find(self, text):
        """When a filter could first find each of its papers: {id: Instant}."""
        tree = parse(text)
        found = {}
        for paper in self.quarter.papers.values():
            truths = {votes: self.is_match(tree, paper, votes) for _, votes in paper.votes}
            instant = any(truths.values()) and self.find_paper(paper, truths)
            if instant:
                found[paper.id] = instant
        return found

    def find_paper(self, paper, truths):
        """When the votes were first reported with which a filter matches; None: too late."""
        day = utc(f"{self.quarter.day_of[paper.id]}T00:00")
        known = settled = None
        for fetch in self.simulation.fetches[self.quarter.day_of[paper.id]]:
            instant, shown_at = fetch.instant, self.last_shown(fetch.at)
            if paper.listed_at > shown_at or known == paper.votes_at(shown_at):
                continue
            if known is None:
                final = min(max(instant.clock, day), day + DAY_S)
                final += WAIT_DAYS * DAY_S - final % HOUR_S
            elif settled and settled < instant:
                return None
            known = paper.votes_at(shown_at)
            if truths[known]:
                return instant
            settled = self.settled(final, instant)
        return None

    @staticmethod
    def last_shown(at):
        """When the source's files were last written before a time."""
        day = at // DAY_S * DAY_S
        times = [day - late + hour * HOUR_S + minute * 60 for late in (0, DAY_S)
                 for hour, minute in LISTING_TIMES]
        return max(time for time in times if time <= at)

    @staticmethod
    def is_match(tree, paper, votes):
        seen = copy.copy(paper.oracle)
        seen.numbers = dict(seen.numbers, upvotes=votes)
        return tree.truth(seen) is True

    def days_of(self, paper):
        """[(day for which a source lists the paper, since when)]."""
        day = self.quarter.day_of[paper]
        return [(day, 0), *(row for row in self.simulation.listings[paper].items()
                            if row[0] > day)]

    def papers_for(self, subscriber):
        """[(Instant, id)] in the order in which the papers can be mailed."""
        oldest = day_of(subscriber.joined.clock - FIRST_DAYS * DAY_S)
        earliest = subscriber.joined
        if earliest.epoch == JUMP:  # joined by a wrong clock, which is then corrected
            back = self.simulation.epochs[JUMP + 1][0]
            oldest = day_of(back - FIRST_DAYS * DAY_S)
            earliest = Instant(JUMP + 1, back, False)
        known = {}
        for text in subscriber.filters:
            for paper, instant in self.found[text].items():
                listed = [seen_at for day, seen_at in self.days_of(paper) if day >= oldest]
                if listed:
                    instant = max(instant, earliest)
                    instant = instant._replace(clock=max(instant.clock, min(listed)))
                    known[paper] = min(instant, known.get(paper, instant))
        return sorted((instant, paper) for paper, instant in known.items())

    def due_times(self, subscriber):
        """When digests are due: [(slot, Instant)]."""
        joined = subscriber.joined
        due, slot, found = joined.clock, f"first-{joined.clock}", []
        for epoch, (begin, end) in enumerate(self.simulation.epochs):
            if epoch < joined.epoch:
                continue
            if epoch > joined.epoch:
                due, slot = min((due, slot), subscriber.schedule.next_after(begin - 1))
                if due < begin:
                    due, slot = begin, subscriber.schedule.latest_at(begin)[1]
            while due < end:
                found.append((slot, Instant(epoch, due, False)))
                due, slot = subscriber.schedule.next_after(due)
        return found

    def digests_for(self, subscriber, got, ends):
        """Expected digests, given those that were made and the end of each."""
        got_at = {digest.instant for digest in got}
        waiting = self.papers_for(subscriber)
        used, expected = set(), []
        for slot, instant in self.due_times(subscriber):
            after = instant._replace(clock=instant.clock + 1)
            if instant in self.simulation.kills and after in got_at:
                instant = after
                if slot.startswith("first"):
                    slot = f"first-{after.clock}"
            for begin, end in self.simulation.delays:
                if begin <= instant.clock < end:
                    instant = min((one for one in got_at if end <= one.clock < end + HOUR_S),
                                  default=instant)
            oldest = day_of(instant.clock - ELIGIBLE_DAYS * DAY_S)
            ready = {paper for since, paper in waiting
                     if since <= instant and any(
                         day >= oldest and seen_at <= instant.clock
                         for day, seen_at in self.days_of(paper))}
            if slot in used or not ready:
                continue
            used.add(slot)
            waiting = [row for row in waiting if row[1] not in ready]
            state, end = (ends[len(expected)] if len(expected) < len(ends)
                          else ("SENT", instant))
            if state == "FAILED":
                waiting = sorted(waiting + [(end, paper) for paper in ready])
            expected.append(Digest(slot, instant, frozenset(ready)))
        self.left[subscriber] = {paper for _, paper in waiting}
        return expected


def compare_digests(simulation, model):
    """Compare all digests with the model.  @return the digests"""
    found = []
    for subscriber in simulation.scenario.subscribers:
        rows = simulation.digests[subscriber.id]
        ends = [simulation.ends[number] for number, _ in rows if number in simulation.ends]
        got = [digest for _, digest in rows]
        expected = model.digests_for(subscriber, got, ends)
        for one, other in zip(got + [None], expected + [None]):
            assert one == other, f"{subscriber.row} {subscriber.filters}\n{one}\n{other}"
        names = [digest.slot for digest in got]
        assert len(names) == len(set(names)), (subscriber.row, names)
        found += got
    return found


def check_digests(tap, simulation, model):
    """each slot has one digest, on time, with exactly the papers that are due"""
    found = compare_digests(simulation, model)
    papers = sum(len(digest.papers) for digest in found)
    waking = Instant(WAKE, simulation.scenario.asleep[1], False)
    woken = sum(digest.instant == waking for digest in found)
    tap.diag(f"{len(found)} digests with {papers} papers, {woken} of them on waking up")
    count = len(simulation.scenario.subscribers)
    assert len(found) > 10 * count and woken > count // 2


def check_papers(tap, simulation, model):
    """each paper that a subscriber's filters find is delivered, and none twice"""
    hits = 0
    for subscriber in simulation.scenario.subscribers:
        got = simulation.delivered(subscriber)
        again = [paper for paper, count in got.items() if count > 1]
        assert not again, (subscriber.row, again)
        last = subscriber.schedule.latest_at(simulation.clock - DAY_S)[0]
        expected = {paper for since, paper in model.papers_for(subscriber)
                    if since.clock < last - 7 * DAY_S or since.epoch < simulation.epoch}
        # Those of failed digests may have become too old.
        oldest = day_of(last - ELIGIBLE_DAYS * DAY_S)
        old = {paper for paper in model.left[subscriber]
               if model.quarter.day_of[paper] < oldest}
        assert expected <= set(got) | old, (
            subscriber.row, subscriber.filters, expected - set(got) - old)
        hits += len(expected)
    tap.diag(f"{hits} papers delivered to {len(simulation.scenario.subscribers)}"
             " subscribers, each once")


def check_mail(simulation):
    """The files in the Maildir are the digests that were sent, each once."""
    sent = collections.Counter()
    for subscriber in simulation.scenario.subscribers:
        for number, digest in simulation.digests[subscriber.id]:
            if simulation.has_arrived(number):
                sent[subscriber.address, digest.instant.clock, digest.papers] += 1
    got = collections.Counter(read_mail(path) for path in
                              glob.glob(os.path.join(simulation.maildir, "new", "*")))
    assert not got - sent, list((got - sent).items())[:2]
    missing = len(list((sent - got).elements()))
    doubtful = [state for state, _ in simulation.ends.values() if state == "UNKNOWN"]
    assert missing <= len(doubtful), list((sent - got).items())[:2]
    return got


def read_mail(path):
    """The recipient, the time and the papers of a digest."""
    raw = read(path)
    to = re.search(rb"^Delivered-To: (\S+)", raw, re.M)[1].decode()
    date = re.search(rb"^Date: (.*)", raw, re.M)[1].decode().strip()
    at = datetime.datetime.strptime(date, "%a, %d %b %Y %H:%M:%S %z")
    text = raw.replace(b"=\r\n", b"").replace(b"=\n", b"")
    papers = frozenset(paper.decode() for paper in
                       re.findall(rb"(?:papers|abs)/(\d{4}\.\d{5})", text))
    return to, int(at.timestamp()), papers


def check_quarter_mail(tap, simulation):
    """the mails in the Maildir are the digests that were sent"""
    got = check_mail(simulation)
    addresses = {mail[0] for mail in got}
    kills = len(simulation.kills)
    tap.diag(f"{len(got)} mails; {kills} kills, {simulation.busy_kills} of them at work;"
             f" {simulation.due_checked} due times checked; {simulation.seconds:.1f} s")
    assert len(addresses) > len(simulation.scenario.subscribers) // 2
    assert simulation.busy_kills > 0


def check_failures(tap, simulation):
    """only digests that waited too long for the relay have failed"""
    outages = [row[1:] for row in simulation.scenario.outages if row[0] == "Maildir"]
    longest = max(end - start for start, end in outages)
    states = collections.Counter(state for state, _ in simulation.ends.values())
    for rows in simulation.digests.values():
        for number, digest in rows:
            if number not in simulation.ends:
                assert digest.instant.clock > simulation.scenario.end - DAY_S
                continue
            state, instant = simulation.ends[number]
            late_s = instant.clock - digest.instant.clock
            assert late_s <= longest + HOUR_S, late_s
            if state in ("FAILED", "UNKNOWN"):
                assert late_s > EXPIRE_S - 60, late_s  # the last retry is within a minute
                assert any(start < instant.clock < end for start, end in outages)
            else:
                assert state == "SENT", state
    tap.diag(f"ends: {dict(states)}")
    assert states["FAILED"] > 10


def run_quarter(tap, begin, seed):
    tap.diag(f"the quarter from {begin}, PAPERBOY_SEED={seed}")
    quarter = Quarter(begin, seed)
    simulation = Simulation(tap.subdirectory(f"{begin}-{seed}"), quarter)

    def run():
        """a quarter passes, with a kill each day, and all know their next digest"""
        simulation.run()

    failed = tap.failed
    tap.run(run)
    if tap.failed > failed:
        return
    model = Model(quarter, simulation)
    tap.run(check_digests, tap, simulation, model)
    tap.run(check_papers, tap, simulation, model)
    tap.run(check_quarter_mail, tap, simulation)
    tap.run(check_failures, tap, simulation)


# ---- year -------------------------------------------------------------------


QUESTIONS = 5000 if IS_LONG else 48
STORED_DAYS = 3 * 365  # deliveries are stored for so long


class Year(Quarter):
    """A year, or four months, with an outage of the relay and with questions."""

    length = 365 if IS_LONG else 120
    people = 20
    source_order = ""
    settings = Quarter.settings | {"collect__interval_s": DAY_S // 2}
    asked_on = range(20, length, 33)  # days, one of them in the outage

    def plan(self, rng):
        self.rng = rng
        self.mailed = collections.defaultdict(list)  # (address, paper): times
        self.read = set()  # names of files
        self.outcomes = collections.Counter()
        events = daily_checks(self.begin, self.end)
        for start in range(self.begin, self.end, DAY_S):
            events.append(Event(start + LISTING_TIMES[0][0] * HOUR_S + 600, 1, "show", None))
        events += [Event(self.begin + 85 * DAY_S, 2, "remove", "Maildir"),
                   Event(self.begin + 88 * DAY_S, 2, "restore", "Maildir")]
        for number, subscriber in enumerate(self.subscribers):
            day = rng.randint(2, self.length * 3 // 4) if number % 3 == 0 else 1
            events.append(Event(self.begin + day * DAY_S + 12 * HOUR_S, 4, "join",
                                subscriber))
        return events + [Event(self.begin + day * DAY_S + 20 * HOUR_S, 5, "call", self.ask)
                         for day in self.asked_on]

    def read_mails(self, simulation):
        for path in glob.glob(os.path.join(simulation.maildir + "*", "new", "*")):
            if os.path.basename(path) not in self.read:
                self.read.add(os.path.basename(path))
                to, at, papers = read_mail(path)
                for paper in papers:
                    self.mailed[to, paper].append(at)

    def ask(self, simulation):
        """Ask why about random pairs: half of them of the last months."""
        now = simulation.clock
        self.read_mails(simulation)
        joined = [one for one in self.subscribers if one.joined]
        listed = [one for one in self.papers.values() if one.listed_at < now - 2 * DAY_S]
        recent = [one for one in listed if one.listed_at > now - 75 * DAY_S]
        for number in range(-(-QUESTIONS // len(self.asked_on))):
            subscriber = self.rng.choice(joined)
            paper = self.rng.choice(listed if number % 2 else recent)
            time = datetime.datetime.fromtimestamp(now, datetime.timezone.utc)
            answer = json.loads(simulation.instance.ctl(
                "--json", "why", subscriber.address, paper.id,
                now=f"{time:%Y-%m-%dT%H:%M:%SZ}"))
            problem = self.find_problem(subscriber, paper, now, answer)
            assert not problem, (problem, subscriber.row, subscriber.filters, paper.id,
                                 day_of(now), answer["outcome"], answer["sentence"])
            self.outcomes[answer["outcome"]] += 1

    def find_problem(self, subscriber, paper, now, answer):
        """The mistake in an answer, or None."""
        outcome = answer["outcome"]
        times = self.mailed[subscriber.address, paper.id]
        oldest = now - STORED_DAYS * DAY_S
        listed_at = utc(f"{self.day_of[paper.id]}T00:00")
        if outcome == "sent":
            is_right = any(at <= answer["at"] <= at + EXPIRE_S for at in times)
            return None if is_right else "not mailed at that time"
        if any(at >= oldest for at in times):
            return "mailed, and still recorded"
        # A list is read up to half a day later, and old rows are deleted once a day.
        if outcome == "not-stored":
            is_old = max(paper.listed_at, subscriber.joined.clock) < oldest
            return None if is_old else "recent enough to be recorded"
        if times:
            return "mailed, and nothing says that this is not recorded"
        if outcome in ("not-matched-yet", "read", "refused", "too-late"):
            return "nothing of the kind has happened"
        if outcome == "no-clause":
            until = min(now - DAY_S, listed_at + 13 * DAY_S)
            votes = {votes for since, votes in paper.votes if since <= until}
            for text in subscriber.filters:
                if any(Model.is_match(parse(text), paper, number) for number in votes):
                    return f"{text} matches it"
        return None


def test_year(tap):
    """why agrees with what was mailed, as far as that is recorded"""
    year = Year("2026-01-15", SEED)
    simulation = Simulation(tap.subdirectory("year"), year)
    simulation.run()
    tap.diag(f"{sum(year.outcomes.values())} answers in {simulation.seconds:.0f} s:"
             f" {dict(year.outcomes.most_common())}")
    assert {"sent", "no-clause", "not-subscribed"} <= set(year.outcomes)
    check_mail(simulation)


def main():
    runs = [("2026-09-01", SEED)]
    if IS_LONG:
        runs = [(begin, SEED + more) for begin in ("2026-09-01", "2027-02-15")
                for more in range(3)]
    with Tap() as tap:
        tap.run(test_sample_days, tap)
        tap.run(test_real_days, tap)
        tap.run(test_week, tap)
        tap.run(test_fortnight, tap)
        tap.run(test_year, tap)
        for begin, seed in runs:
            run_quarter(tap, begin, seed)


if __name__ == "__main__":
    main()
