#!/usr/bin/env python3
"""test_sources_real.py - responses of bioRxiv, Europe PMC and Crossref, read twice.

The second reader is the code below, written from the documentation of the services.  It
reads markup as XML, and compares all texts character by character.
"""

import html
import json
import os
import re
import subprocess
import unicodedata
import xml.etree.ElementTree as tree

import lib  # the path
from tap import Tap, real_data, top_builddir, top_srcdir

DAY = "2026-11-20"
RECORDED = "sources/fastpaper-cli/%s_search.json"
FIELDS = ("id", "type", "version", "day", "authors", "categories", "doi", "title",
          "abstract", "url", "published", "journal", "journal_names", "keywords", "mesh")
MATH = "{http://www.w3.org/1998/Math/MathML}math"


def squeeze(words):
    return " ".join(unicodedata.normalize("NFC", words or "").split())


def flatten(element):
    """The text of an element; paragraphs and headings are apart."""
    inner = (element.text or "") + "".join(
        flatten(child) + (child.tail or "") for child in element)
    tag = element.tag.rpartition("}")[2]
    if tag == "title" and squeeze(inner).lower() == "abstract":
        return ""
    if tag == "alternatives":
        inner = "".join(flatten(child) for child in element if child.tag != MATH)
    if tag == "tex-math":
        inner = re.search(r"\\begin{document}\$\$(.*)\$\$\\end{document}", inner)[1]
        return unicodedata.lookup(f"GREEK SMALL LETTER {inner[1:].upper()}")
    return f" {inner} " if tag in ("p", "title", "sec", "h4") else inner


def read_markup(words):
    """Text with elements and entities, of JATS and HTML."""
    if not words:
        return ""
    return squeeze(flatten(tree.fromstring(
        '<a xmlns:jats="http://jats.nlm.nih.gov" xmlns:mml='
        f'"http://www.w3.org/1998/Math/MathML">{words}</a>')))


def read_greek(words):
    return squeeze(re.sub(
        r"\{(alpha|beta|gamma|delta|kappa|sigma)\}",
        lambda found: unicodedata.lookup(f"GREEK SMALL LETTER {found[1].upper()}"),
        html.unescape(words)))


def identify(doi):
    arxiv = re.fullmatch(r"10\.48550/arxiv\.(.*)", doi, re.I)
    return arxiv[1] if arxiv else f"doi:{doi.lower()}" if doi else ""


def read_biorxiv(document, _):
    newest, first = {}, set()
    for record in document["collection"]:
        version = int(record["version"])
        first |= {record["doi"]} if version == 1 else set()
        if version >= int(newest.get(record["doi"], record)["version"]):
            newest[record["doi"]] = record  # keeps the place of the first one
    for doi, record in newest.items():
        yield {
            "id": identify(doi), "doi": doi.lower(), "version": record["version"],
            "type": "new" if doi in first else "replace",
            "authors": [squeeze(name) for name in record["authors"].split(";")],
            "categories": [record["category"].replace(" ", "-")],
            "title": read_greek(record["title"]), "abstract": read_greek(record["abstract"]),
            "url": f"https://www.biorxiv.org/content/{doi}v{record['version']}",
            "published": record["date"], "journal": "", "journal_names": [], "keywords": [],
            "mesh": [],
        }


def name_of(author):
    """Last name, a comma and initials, where fullName has initials at its end."""
    full = author.get("fullName") or author["collectiveName"]
    if author.get("lastName", "") + " " + author.get("initials", "") != full:
        return full
    initials = re.sub(r"(\w)(?=\w|$)", r"\1. ", author["initials"]).strip()
    return author["lastName"] + ", " + initials.replace("-", ".-")


def name_journal(full, *abbreviations):
    """The name that is shown, and the others, each once."""
    first, *others = list(dict.fromkeys(filter(None, (full, *abbreviations)))) or [""]
    return {"journal": first, "journal_names": others}


def read_europepmc(document, _):
    for record in document["resultList"]["result"]:
        title = read_markup(record["title"])
        people = record.get("authorList", {}).get("author")
        if people is None and "authorString" in record:
            people = []
            for full in record["authorString"].rstrip(".").split(", "):
                last, _, initials = full.rpartition(" ")
                people.append({"fullName": full, "lastName": last, "initials": initials})
        keywords = record.get("keywordList", {}).get("keyword", [])
        mesh = [heading["descriptorName"] for heading in
                record.get("meshHeadingList", {}).get("meshHeading", [])]
        published = record.get("firstPublicationDate", "")
        journal = record.get("journalInfo", {}).get("journal", {})
        yield {
            "id": identify(record.get("doi", "")), "doi": record.get("doi", "").lower(),
            "version": "0", "type": "new", "categories": [],
            "authors": [name_of(person) for person in people or []],
            "title": re.sub(r"(?<!\.)\.$", "", title),
            "abstract": read_markup(record.get("abstractText")),
            "url": f"https://europepmc.org/article/{record['source']}/{record['id']}",
            "published": published if len(published) == 10 else "",
            "keywords": keywords, "mesh": mesh,
            **name_journal(journal.get("title"), journal.get("isoabbreviation"),
                           journal.get("medlineAbbreviation")),
        }


def date_of(item):
    """The most exact of the dates, with 1 for what is missing."""
    dates = [item.get(name, {}).get("date-parts", [[]])[0]
             for name in ("published-online", "created", "issued")]
    best = max(dates, key=lambda parts: len([part for part in parts if part]))
    return "-".join(f"{part:02}" for part in (best + [1, 1])[:3]) if best[:1] else ""


def read_crossref(document, day):
    for item in document["message"]["items"]:
        issued = item.get("issued", {}).get("date-parts", [[None]])[0][0]
        if item.get("update-to") or not item["title"] or (
                issued and issued < int(day[:4]) - 1):
            continue
        yield {
            "id": identify(item["DOI"]), "doi": item["DOI"].lower(), "version": "0",
            "type": "new", "categories": [], "keywords": [], "mesh": [],
            "authors": [squeeze(" ".join((person.get("given", ""), person.get(
                "family", person.get("name", ""))))) for person in item.get("author", [])],
            "title": read_markup(item["title"][0]),
            "abstract": read_markup(item.get("abstract")),
            "url": item.get("URL") or f"https://doi.org/{item['DOI']}",
            "published": date_of(item),
            **name_journal(*(read_markup((item.get(name) or [""])[0])
                             for name in ("container-title", "short-container-title"))),
        }


READERS = {"biorxiv": read_biorxiv, "europepmc": read_europepmc, "crossref": read_crossref}


def ours(kind, path, day):
    done = subprocess.run(
        [os.path.join(top_builddir(), "tests", "fetchlist"), kind, path, day],
        capture_output=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr.decode()
    for line in done.stdout.decode().splitlines():
        paper = dict(zip(FIELDS, line.split("\t"), strict=True))
        for name in ("authors", "journal_names", "keywords", "mesh"):
            paper[name] = paper[name].split("|") if paper[name] else []
        paper["categories"] = paper["categories"].split()
        yield paper


def compare(kind, path, day=DAY):
    """@return the number of papers"""
    with open(path, encoding="utf-8") as file:
        wanted = list(READERS[kind](json.load(file), day))
    papers = list(ours(kind, path, day))
    assert len(papers) == len(wanted), (len(papers), len(wanted))
    for paper, want in zip(papers, wanted):
        want["day"] = day
        if not want["id"]:  # a hash
            want["id"] = re.fullmatch(kind + ":[0-9a-f]{20}", paper["id"])[0]
        different = {name: (paper[name], want[name]) for name in FIELDS
                     if paper[name] != want[name]}
        assert not different, (want["id"], different)
    return len(papers)


def test_recorded_biorxiv():
    """bioRxiv: 100 records of 79 preprints"""
    assert compare("biorxiv", real_data(RECORDED % "biorxiv")) == 79


def test_recorded_europepmc():
    """Europe PMC: three recorded articles"""
    assert compare("europepmc", real_data(RECORDED % "europepmc")) == 3


def test_recorded_crossref():
    """Crossref: three recorded articles, as of days of three years"""
    path = real_data(RECORDED % "crossref")
    days = ("2022-05-01", "2025-12-31", "2026-11-20")
    assert [compare("crossref", path, day) for day in days] == [3, 2, 0]


def test_written():
    """responses written from the documentation: dates, updates, MeSH, markup"""
    data = os.path.join(top_srcdir(), "tests", "data")
    assert compare("crossref", os.path.join(data, "crossref-updates.json")) == 7
    assert compare("europepmc", os.path.join(data, "europepmc-mesh.json")) == 3


with Tap() as tap:
    tap.run(test_written)
    tap.run(test_recorded_biorxiv)
    tap.run(test_recorded_europepmc)
    tap.run(test_recorded_crossref)
