#!/usr/bin/env python3
"""test_work_links.py - which of thousands of made-up records are linked as one work.

The records have titles of series, errata, replies and editorials, authors and years in
common.  A rule below, which shares no code with paperboy, says which of them may be one
work; the records of bioRxiv also come as they were recorded, with their articles.
"""

import json
import os
import random
import re
import unicodedata

import lib  # the path
from clock import DAY
from daemon import Instance, at_hour
from tap import Tap, read, real_data

RECORDS = 3000 if os.environ.get("PAPERBOY_LONG", "") in ("", "0") else 100000
BATCH = 1500
STOCK = ("Editorial: the year in review", "In this issue of the journal",
         "Introduction to the special issue", "Correction to the published article",
         "Author response to the reviewers", "Proceedings of the annual meeting",
         "Preface to the third edition", "Letter to the editor about robots")
HEADS = ("{}", "{}", "{}", "{}", "{}, Part I", "{}, Part II", "{} 1", "{} 2",
         "Erratum: {}", "Correction to: {}", "Reply to \u201c{}\u201d", "Comment on {}",
         "Retracted: {}", "{}: a reply", "{}.", "{} (extended)")
WORDS = (("Deep", "Robust", "Fast", "Sparse"),
         ("models of yeast cells", "control of walking robots", "tests of made-up drugs",
          "maps of the human brain", "folds of small proteins"),
         ("in a noisy world", "with few examples", "under uncertainty", "in old age"))
NAMES = ("Ada Example", "Example, A.", "Bob Made-Up", "Made-Up, B.", "Zo\u00eb van der Meer")
LINKED = "SELECT p.id, q.id FROM paper p JOIN paper q ON q.work = p.work AND q.seq > p.seq"


def make_record(random_source, number):
    """(is preprint, DOI, title, author, year)"""
    title = random_source.choice(HEADS).format(
        " ".join(random_source.choice(words) for words in WORDS))
    if random_source.random() < 0.2:
        title = random_source.choice(STOCK)
    is_preprint = random_source.random() < 0.5
    doi = (f"10.1101/2026.01.01.{number:06}" if is_preprint
           else f"10.5555/made-up.{number}")
    return (is_preprint, doi, title, random_source.choice(NAMES),
            random_source.randrange(2017, 2027))


def format_preprint(record, published="NA"):
    _, doi, title, author, year = record
    return {"doi": doi, "title": title, "authors": author, "version": "1",
            "date": f"{year}-06-01", "category": "neuroscience", "abstract": "Words.",
            "published": published}


def format_article(record):
    _, doi, title, author, year = record
    given, _, last = author.rpartition(" ")
    if "," in author:
        last, _, given = author.partition(", ")
    return {"DOI": doi, "title": [title], "container-title": ["Made Up"],
            "author": [{"family": last, "given": given}],
            "published-online": {"date-parts": [[year, 6, 1]]}}


def fold(words):
    apart = unicodedata.normalize("NFKD", words.casefold())
    return "".join(c for c in apart if c.isalnum())


def last_name(author):
    return fold(author.partition(",")[0] if "," in author else author.split()[-1])


def is_one_work(one, other):
    """Whether two records may be one work, going by what they have in common."""
    about = re.compile(r"\W*(errat|correct|retract|reply|comment|editorial|introduction"
                       r"|in this issue|author|letter|proceedings|preface)", re.I)
    return (one[0] != other[0] and fold(one[2]) == fold(other[2])
            and last_name(one[3]) == last_name(other[3])
            and abs(one[4] - other[4]) <= 2 and not about.match(one[2]))


class Archive:
    """A store that is filled from files of bioRxiv and Crossref."""

    def __init__(self, tap, name):
        self.directory = tap.subdirectory(name)
        self.instance = Instance(
            os.path.join(self.directory, "home"), sources__hf__enabled=False,
            sources__pre__kind="biorxiv", sources__art__kind="crossref",
            sources__art__issn="1234-5678")

    def read(self, source, answer):
        path = os.path.join(self.directory, f"{source}.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(answer, file)
        self.instance.ctl("source", "replay", source, DAY, "--from", path, now=at_hour(DAY, 9))

    def add(self, records):
        preprints = [format_preprint(one) for one in records if one[0]]
        articles = [format_article(one) for one in records if not one[0]]
        self.read("pre", {"messages": [{"status": "ok", "total": str(len(preprints))}],
                          "collection": preprints})
        self.read("art", {"message": {"items": articles}})

    def links(self):
        return {frozenset(pair) for pair in self.instance.rows(LINKED)}


def no_false_link(tap):
    """of records that have titles in common only a preprint and its article are linked"""
    source = random.Random(40)
    records = [make_record(source, number) for number in range(RECORDS)]
    archive = Archive(tap, "made-up")
    for at in range(0, RECORDS, BATCH):
        archive.add(records[at:at + BATCH])
    by_id = {f"doi:{one[1]}": one for one in records}
    assert archive.instance.value("SELECT count(*) FROM paper") == RECORDS
    links = archive.links()
    # Two preprints of one article are one work with it.
    direct = {pair for pair in links if is_one_work(*(by_id[id] for id in pair))}
    for pair in links - direct:
        one, other = (by_id[id] for id in pair)
        assert one[0] == other[0] and fold(one[2]) == fold(other[2]) \
            and last_name(one[3]) == last_name(other[3]), (one, other)
    assert len(direct) > 50, len(direct)
    archive.instance.check_store()


def recorded_pairs(tap):
    """recorded preprints are linked with the articles that bioRxiv names, with any title"""
    path = real_data("sources/fastpaper-cli/biorxiv_search.json")
    answer = json.loads(read(path))
    pairs = {one["doi"].lower(): one["published"].lower() for one in answer["collection"]
             if one["published"] != "NA"}
    for is_article_first in (True, False):
        archive = Archive(tap, f"recorded-{is_article_first}")
        articles = {"message": {"items": [
            format_article((False, doi, f"Another title, number {number}", "Ada Example", 2026))
            for number, doi in enumerate(sorted(set(pairs.values())))]}}
        if is_article_first:
            archive.read("art", articles)
        archive.read("pre", answer)
        if not is_article_first:
            archive.read("art", articles)
        assert {frozenset((f"doi:{one}", f"doi:{other}")) for one, other in pairs.items()} \
            <= archive.links(), is_article_first
        assert len(pairs) >= 40
        archive.instance.check_store()


def operators(tap):
    """an operator shows, splits and joins the records of a work"""
    archive = Archive(tap, "operators")
    archive.add([(True, "10.1101/1", "On a made-up model of robots", "Ada Example", 2025),
                 (False, "10.5555/1", "On a made-up model of robots", "Ada Example", 2026)])
    ctl = archive.instance.ctl
    at = {"now": at_hour(DAY, 10)}
    shown = ctl("work", "show", "doi:10.1101/1", **at)
    assert "doi:10.1101/1" in shown and "doi:10.5555/1" in shown and "Made Up" in shown, shown
    ctl("work", "split", "https://doi.org/10.5555/1", **at)
    assert archive.links() == set()
    shown = ctl("work", "show", "doi:10.1101/1", **at)
    assert shown == "The paper has no other records.\n", shown
    assert "no other records" in ctl("work", "split", "doi:10.1101/1", wanted=65, **at)
    assert "doi:10.5555/1" in ctl("work", "join", "doi:10.5555/1", "doi:10.1101/1", **at)
    assert len(archive.links()) == 1


with Tap() as tap:
    tap.run(no_false_link, tap)
    tap.run(recorded_pairs, tap)
    tap.run(operators, tap)
