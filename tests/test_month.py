#!/usr/bin/env python3
"""test_month.py - a month with all sources: bioRxiv, medRxiv, arXiv, journals, votes.

2,000 papers a day, made from recorded ones, and 1,000 subscribers.  The fake services
count requests by the simulated clock, which advances while the program pauses before a
request.  PAPERBOY_LONG=1: 30 days, else two, of a tenth of the papers and subscribers.
"""

import collections
import datetime
import functools
import html
import http.server
import json
import os
import random
import re
import threading
import time
from urllib.parse import parse_qs, unquote, urlsplit

import lib  # the path
import paperserver
import slots
from generate import generate
from oracle import match_all
from papers import load_papers
from simulation import HOUR_S, Event, Simulation, Subscriber
from slots import DAY_S, utc
from tap import IS_LONG, Tap, real_data, real_files

DAYS, PART = (30, 1) if IS_LONG else (2, 10)
PEOPLE = 1000 // PART
SAMPLE = 20 if PART > 1 else 4  # people whose papers are compared with the oracle
FIRST = datetime.date(2026, 11, 1)
# Papers of a day.
COUNTS = {"biorxiv": 220 // PART, "medrxiv": 80 // PART, "cs": 780 // PART,
          "stat": 70 // PART, "q-bio": 50 // PART}
JOURNALS, ARTICLES = 20, 40 // PART
PAPERS = sum(COUNTS.values()) + JOURNALS * ARTICLES
VOTED = 40 // PART  # of them at Hugging Face, too
# Most requests of a number of seconds, as the terms of the services have it.
LIMITS = {"biorxiv": (1, 1), "arxiv": (1, 3), "crossref": (3, 1), "europepmc": (10, 1),
          "hf": (500, 300)}


def recorded(name):
    path = real_data(f"sources/fastpaper-cli/{name}_search.json")
    with open(path, encoding="utf-8") as file:
        return json.load(file)


class Papers:
    """The papers of each day: titles and abstracts of recorded ones, newly combined."""

    def __init__(self):
        self.preprints = recorded("biorxiv")["collection"]
        article = recorded("crossref")["message"]["items"][0]
        self.article = {name: article[name] for name in ("author", "created")}
        self.others = [paper for path in real_files("daily_papers-2025-07-??.json")
                       for paper in load_papers(path)]
        self.made = {}  # id: paper, as the oracle has it

    def titles(self):
        return [paper["title"] for paper in self.preprints + self.others]

    @functools.lru_cache(maxsize=None)
    def make(self, day, name):
        """[(number, title, abstract, recorded)], which are all different."""
        first = (datetime.date.fromisoformat(day) - FIRST).days
        names = [*COUNTS, *(f"j{number}" for number in range(JOURNALS))]
        counts = [COUNTS.get(other, ARTICLES) for other in names]
        at = first * PAPERS + sum(counts[:names.index(name)]) + 1
        rng = random.Random(at)
        pool = self.others if name in ("cs", "stat", "q-bio") else self.preprints
        found = []
        for number in range(at, at + counts[names.index(name)]):
            one, other = rng.choice(pool), rng.choice(pool)
            found.append((number, f"{one['title']} ({number})", other["abstract"], one))
            own = (f"2611.{number:05}" if pool is self.others
                   else f"doi:{doi_of(name, number)}")
            self.made[own] = {"id": own, "title": found[-1][1], "abstract": other["abstract"],
                              "authors": None, "upvotes": None, "day": day}
        return found


def doi_of(name, number):
    prefix = "10.64898/2026." if name in COUNTS else f"10.5555/{name}."
    return f"{prefix}{number:08}"


class Month:
    """The scenario, see tests/lib/simulation.py."""

    begin = utc(f"{FIRST}T00:00")
    end = begin + (DAYS + 2) * DAY_S
    seed = 0
    source_order = ""

    def __init__(self, papers, base):
        self.papers = papers
        crossref = {f"sources__j{number}__{option}": value
                    for number in range(JOURNALS)
                    for option, value in (("kind", "crossref"), ("url", f"{base}/crossref"),
                                          ("issn", f"0000-{number:04}"))}
        self.settings = {
            "collect__interval_s": DAY_S, "collect__wait_min": 0,
            "sources__hf__url": f"{base}/hf",
            "sources__biorxiv__kind": "biorxiv", "sources__biorxiv__url": f"{base}/biorxiv",
            "sources__medrxiv__kind": "medrxiv", "sources__medrxiv__url": f"{base}/biorxiv",
            "sources__arxiv__kind": "arxiv", "sources__arxiv__url": f"{base}/arxiv",
            "sources__arxiv__categories": ["cs", "stat", "q-bio"],
            "enrich__arxiv": True, "enrich__arxiv_url": f"{base}/arxiv",
            "enrich__europepmc": True, "enrich__europepmc_url": f"{base}/europepmc",
            "enrich__crossref": True, "enrich__crossref_url": f"{base}/crossref", **crossref}
        span = (self.begin, self.end)
        self.subscribers = [
            Subscriber(person["address"], person["zone"], "daily", slots.ALL, 450,
                       person["filters"], span)
            for person in generate(papers.titles(), PEOPLE, seed=39)]
        self.seconds = []
        self.peak_mb = 0

    def get_events(self):
        joins = [Event(self.begin, 4, "join", who) for who in self.subscribers]
        return joins + [Event(self.begin + hour * HOUR_S, 1, "call", self.poll)
                        for hour in range(5, (DAYS + 2) * 24, 6)]

    def poll(self, simulation):
        """Note what the program has used so far, and what maintenance will delete."""
        simulation.record()
        self.seconds.append(time.monotonic())
        if simulation.process:
            with open(f"/proc/{simulation.process.pid}/status", encoding="ascii") as file:
                self.peak_mb = int(re.search(r"VmHWM:\s*(\d+)", file.read())[1]) / 1024


class Services(paperserver.Handler):
    """All services; the first step of a path is the name of one."""

    papers = None
    clock_path = None
    requests = collections.defaultdict(list)  # service: times

    def do_GET(self):
        parts = urlsplit(self.path)
        self.query = parse_qs(parts.query)
        service, *steps = parts.path.strip("/").split("/")
        with open(self.clock_path, encoding="ascii") as file:
            self.at = int(file.read())
        self.requests[service].append(self.at)
        getattr(self, "serve_" + service)(steps, unquote(parts.query))

    def make(self, day, name):
        """The papers of a day, none of one that is not in the month."""
        is_inside = 0 <= (datetime.date.fromisoformat(day) - FIRST).days < DAYS
        return self.papers.make(day, name) if is_inside else []

    def serve_biorxiv(self, steps, _):
        _, server, day, _, cursor, _ = steps
        made = self.make(day, server)
        page = made[int(cursor):int(cursor) + 100]
        self.reply(200, {
            "messages": [{"status": "ok", "count": len(page), "total": len(made)}
                         if page else {"status": "no posts found"}],
            "collection": [{**recorded, "doi": doi_of(server, number), "title": title,
                            "abstract": abstract, "date": day, "version": "1",
                            "published": "NA"}
                           for number, title, abstract, recorded in page]})

    def serve_crossref(self, _, query):
        day = re.search(r"from-created-date:([\d-]+)", query)
        if not day:
            return self.mode_find_works()
        name = "j%d" % int(re.search(r"issn:0000-(\d+)", query)[1])
        items = [self.papers.article | {
            "DOI": doi_of(name, number), "URL": f"https://doi.org/{doi_of(name, number)}",
            "title": [html.escape(title)], "container-title": [f"Acta {name}"],
            "abstract": f"<jats:p>{html.escape(abstract)}</jats:p>",
        } for number, title, abstract, _ in self.make(day[1], name)]
        return self.reply(200, {"message": {"items": items}})

    def serve_europepmc(self, *_):
        self.mode_find_articles()

    def serve_arxiv(self, steps, query):
        if steps[0] == "api":
            names = re.search("id_list=([^&]*)", query)[1].split(",")
            entries = "".join(
                f"<entry><id>http://arxiv.org/abs/{name}v1</id><title>Told</title>"
                "<category term='cs.LG'/></entry>" for name in names)
            return self.reply(200, ("<feed xmlns='http://www.w3.org/2005/Atom'>"
                                    f"{entries}</feed>").encode())
        at = min(self.at, Month.begin + DAYS * DAY_S - 1)
        date = datetime.datetime.fromtimestamp(at, datetime.timezone.utc).date()
        return self.feed((
            f"<item><title>{html.escape(title)}</title>"
            f"<link>https://arxiv.org/abs/2611.{number:05}</link><description>"
            f"arXiv:2611.{number:05}v1 Announce Type: new \nAbstract: {html.escape(abstract)}"
            "</description><category>cs.LG</category>"
            "<arxiv:announce_type>new</arxiv:announce_type><dc:creator>Ada Example"
            "</dc:creator></item>"
            for number, title, abstract, _ in self.make(str(date), steps[1])), day=date.day)

    def serve_hf(self, _, query):
        day = re.search(r"date=([\d-]+)", query)[1]
        elements = []
        for number, title, abstract, _ in self.make(day, "cs")[:VOTED]:
            element = paperserver.element(number, upvotes=number % 50)
            element["paper"] |= {"id": f"2611.{number:05}", "title": title, "summary": abstract}
            elements.append(element)
        self.reply(200, elements)


def check_requests(tap):
    """no service gets more requests than it allows"""
    for service, times in sorted(Services.requests.items()):
        count, seconds = LIMITS[service]
        tap.diag(f"{service}: {len(times)} requests, {len(times) / (DAYS + 2):.0f} a day")
        for first, later in zip(times, times[count:]):
            assert later - first >= seconds, (service, first, later)
    assert set(Services.requests) == set(LIMITS)


def check_papers(tap, papers, simulation):
    """each paper is stored once, and found by everybody whose filters match it"""
    stored = {name for (name,) in simulation.instance.rows("SELECT id FROM paper")}
    tap.diag(f"{len(stored)} papers, {len(simulation.ends)} digests")
    assert stored == set(papers.made), (len(stored), len(papers.made), sorted(
        stored ^ set(papers.made))[:5])
    found = {person: set().union(*match_all(person.filters, papers.made.values()))
             for person in simulation.scenario.subscribers[:SAMPLE]}
    assert any(found.values())
    for person, wanted in found.items():
        counts = simulation.delivered(person)
        assert max(counts.values(), default=1) == 1, counts.most_common(3)
        assert set(counts) == wanted, (person.filters, sorted(set(counts) ^ wanted)[:5])


def run_month(tap):
    """a month of all sources"""
    papers = Papers()
    directory = tap.subdirectory("month")
    Services.papers, Services.clock_path = papers, os.path.join(directory, "clock")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Services)
    paperserver.say = lambda line: None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    month = Month(papers, f"http://127.0.0.1:{server.server_port}")
    simulation = Simulation(directory, month)
    simulation.run()
    server.shutdown()
    server.server_close()
    took = [later - first for first, later in zip(month.seconds, month.seconds[1:])]
    tap.diag(f"{len(took)} polls and their digests in {simulation.seconds:.0f} s, the slowest"
             f" {max(took):.1f} s; {month.peak_mb:.0f} MB")
    tap.run(check_requests, tap)
    tap.run(check_papers, tap, papers, simulation)
    assert month.peak_mb < 64, month.peak_mb  # of all stages in one process


with Tap() as tap:
    tap.run(run_month, tap)
