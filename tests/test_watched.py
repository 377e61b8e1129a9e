#!/usr/bin/env python3
#
# test_watched.py - killed at any time, each event of a watched paper is reported once.
#
# PAPERBOY_LONG=1: 200 kills; else 12.  PAPERBOY_SEED=N repeats a run.

import collections
import json
import os
import random
import re
import signal
import subprocess
import sys
import time

import lib  # the path
import stores
from copies import CONNECTIONS, Basket, pause
from daemon import RUN_S, Instance, at_hour, days_after, parse
from paperserver import FEED, element
from peers import SmtpSink
from tap import IS_LONG, Child, Tap, top_srcdir

SEED = int(os.environ.get("PAPERBOY_SEED") or (random.randrange(1 << 30) if IS_LONG else 1))
KILLS = 200 if IS_LONG else 12
DAY = "2026-11-20"
CODE = "https://github.com/made/up"
DOI = "10.5555/1"
ITEM = """<item><title>Made-up paper number 1</title>
<link>https://arxiv.org/abs/2611.00001</link><description>arXiv:2611.00001v2 Announce Type:
replace \nAbstract: It was made up.</description>
<guid isPermaLink="false">oai:arXiv.org:2611.00001v2</guid><category>cs.CL</category>
<arxiv:announce_type>replace</arxiv:announce_type><dc:creator>Ada Example</dc:creator></item>"""
# Of papers 1 and 3 of Hugging Face and 10.5555/1, in the lists or asked for.
EVENTS = {
    ("2611.00001", "code", 0), ("2611.00001", "version", 2), ("doi:" + DOI, "retracted", 0),
    ("2611.00003", "code", 0), ("2611.00003", "version", 2), ("doi:" + DOI, "published", 0)}


class World:
    """The lists of the sources, and the services that know what became of papers."""

    def __init__(self, tap, port):
        self.services = tap.enter(Child([
            sys.executable, os.path.join(top_srcdir(), "tests", "lib", "paperserver.py")],
            stdin=subprocess.PIPE))  # it ends with its input
        self.url = "http://127.0.0.1:" + self.services.wait_line(r"port (\d+)")[1]
        self.lists = tap.subdirectory("lists")
        self.instance = Instance(
            tap.subdirectory("watched"), port=port, smtp__connections=CONNECTIONS,
            sources__cell__kind="crossref", sources__cell__issn="0092-8674",
            sources__cell__url=f"file://{self.lists}",
            sources__arxiv__kind="arxiv", sources__arxiv__categories=["cs.CL"],
            sources__arxiv__url=f"file://{self.lists}")
        self.write_hf([element(1), element(3)])
        self.write_work({})
        self.write_feed("")
        self.know(0)

    def write(self, name, text):
        """Replace a file at once: a program may be reading it."""
        path = os.path.join(self.lists, name)
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(path + ".new", path)

    def write_hf(self, papers):
        self.write("hf", json.dumps(papers))
        os.replace(os.path.join(self.lists, "hf"), os.path.join(
            self.instance.papers, f"daily_papers-{DAY}.json"))

    def write_work(self, members):
        work = {"DOI": DOI, "title": ["Made-up paper number 9"], **members}
        self.write(f"cell-{DAY}.json", json.dumps({"message": {"items": [work]}}))

    def write_feed(self, item):
        self.write("cs.CL.xml", FEED % ("cs.CL", 18, item))

    def know(self, number):
        self.instance.set(enrich__private=True, **{
            f"enrich__{name}{end}": value
            for name in ("arxiv", "europepmc", "crossref", "huggingface")
            for end, value in (("", True), ("_interval_s", 0),
                               ("_url", f"{self.url}/watched-{number}"))})

    def change(self, stage):
        """What becomes of the papers, one by one."""
        coded = element(1)
        coded["paper"]["githubRepo"] = CODE
        (lambda: self.write_hf([coded, element(3)]),
         lambda: self.write_feed(ITEM),
         lambda: self.know(2),
         lambda: self.know(3),
         lambda: self.write_work({"updated-by": [{"type": "retraction", "DOI": "10.5555/2"}]}),
         lambda: self.know(5))[stage]()


STAGES = 6
LINE = (r'You watch ".*?" \((.*?\): (?:version \d is out|it has code now: \S+|it was retracted'
        r"|it was published))")


def count_lines(basket):
    """{(recipient, line about a watched paper): the messages that have it}"""
    found = collections.defaultdict(set)
    for message in basket.update():
        text = parse(message.raw).get_body(("plain",)).get_content()
        for line in re.findall(LINE, " ".join(text.split())):
            found[message.recipients[0], line].add(
                parse(message.raw)["Message-ID"])
    return found


def events_survive(tap):
    """events of watched papers are noticed and sent under kill -9, each once"""
    rng = random.Random(SEED)
    hits = runs = 0
    with SmtpSink(tap.subdirectory("sink")) as sink:
        world = World(tap, sink.port)
        instance = world.instance
        basket = Basket(sink)
        instance.clock.set(at_hour(DAY, 6))
        for name in ("ada", "bob"):
            instance.add_person(f"{name}@example.org")
        instance.once(wanted=0)
        instance.change(
            "INSERT INTO watch (subscriber_id, paper_seq, since, until)"
            " SELECT s.id, p.seq, 1, 1900000000 FROM subscriber s, paper p")
        instance.once(wanted=0)
        started = time.monotonic()
        instance.once(wanted=0)
        length = time.monotonic() - started
        for stage in range(STAGES):
            day = days_after(DAY, 2 * stage + 1)
            instance.clock.set(at_hour(day, 6))
            instance.once(deadline_s=RUN_S)
            world.change(stage)
            goal, lives = KILLS * (stage + 1) // STAGES, 0
            while hits < goal and lives < 3 * KILLS:
                instance.clock.set(at_hour(day, 7 + lives // 60 % 10, lives % 60))
                lives += 1
                child = instance.start_once() if rng.random() < 0.5 else instance.start()
                pause(rng.uniform(0, 1.2 * length))
                hits += child.kill() == -signal.SIGKILL
                if lives % 5 == 0:
                    instance.check_store()
            runs += lives
            # Messages in flight wait before they are sent again.
            for hour in (2, 7, 12, 18):
                instance.clock.set(at_hour(days_after(day, 1), hour))
                instance.once(deadline_s=RUN_S)
        lines = count_lines(basket)
    tap.diag(f"{hits} kills in {runs} runs, seed {SEED}: {len(lines)} lines")
    found = set(instance.rows("SELECT p.id, e.kind, e.version FROM paper_event e"
                              " JOIN paper p ON p.seq = e.paper_seq"))
    assert found == EVENTS, found
    assert hits >= KILLS * 3 // 4, hits
    for (person, line), messages in sorted(lines.items()):
        assert len(messages) == 1, (person, line, messages)
    for person in ("ada@example.org", "bob@example.org"):
        mine = [line for who, line in lines if who == person]
        assert len(mine) == len(EVENTS), mine


with Tap() as tap:
    tap.diag(f"PAPERBOY_SEED={SEED}, PostgreSQL: {stores.is_database()}")
    tap.run(events_survive, tap)
