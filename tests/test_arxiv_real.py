#!/usr/bin/env python3
"""test_arxiv_real.py - real documents of arXiv, compared with a second parser.

The second parser is ElementTree and the code below. It does not decode TeX, so names and
words with TeX are compared by their plain letters.
"""

import os
import re
import subprocess
import unicodedata
import xml.etree.ElementTree as tree

import lib  # the path
from tap import Tap, real_data, real_files, top_builddir

ATOM = "{http://www.w3.org/2005/Atom}"
ARXIV = "{http://arxiv.org/schemas/atom}"
DC = "{http://purl.org/dc/elements/1.1/}"


def text(element, *names):
    for name in names:
        found = element.find(name)
        if found is not None and found.text:
            return found.text
    return ""


def squeeze(words):
    return " ".join(words.split())


def stored_messages(words):
    """A text without TeX, marks and punctuation."""
    plain = unicodedata.normalize("NFKD", words)
    plain = re.sub(r"\\[a-zA-Z]+|\$[^$]*\$|\\.", "", plain)
    return re.sub(r"[^a-z0-9]", "", plain.lower())


def read(path):
    """id, announcement, version, day, number of authors, categories, doi, title, abstract"""
    root = tree.parse(path).getroot()
    is_api = root.find("{http://a9.com/-/spec/opensearch/1.1/}totalResults") is not None
    entries = root.findall(ATOM + "entry") or root.findall("channel/item")
    day = text(root, "channel/pubDate", ATOM + "updated")
    for entry in entries:
        guid = text(entry, ATOM + "id", "guid")
        ident = re.sub(r"^(oai:arXiv\.org:|https?://arxiv\.org/abs/)", "", guid)
        ident, _, version = ident.partition("v")
        summary = text(entry, ATOM + "summary", "description")
        if is_api:
            names = [text(author, ATOM + "name") for author in entry.findall(ATOM + "author")]
        else:
            summary = summary.split("Abstract:", 1)[1]
            creator = re.sub(r"\([^()]*\)", "", text(entry, DC + "creator"))
            names = [name for name in creator.split(",") if name.strip()]
        categories = [c.get("term") or c.text for c in
                      entry.findall(ATOM + "category") + entry.findall("category")]
        yield {
            "id": ident, "type": text(entry, ARXIV + "announce_type") or "new",
            "version": version, "authors": names, "categories": categories,
            "doi": text(entry, ARXIV + "DOI", ARXIV + "doi").lower(),
            "title": squeeze(text(entry, ATOM + "title", "title")),
            "abstract": squeeze(summary), "day": day,
        }


def ours(path):
    done = subprocess.run([os.path.join(top_builddir(), "tests", "fetchlist"), path],
                          capture_output=True, check=False, timeout=300)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def compare(path):
    status, out, err = ours(path)
    assert status == 0, err
    rows = [line.split("\t") for line in out.splitlines()]
    wanted = list(read(path))
    assert len(rows) == len(wanted), (len(rows), len(wanted))
    for row, want in zip(rows, wanted):
        ident, kind, version, _, authors, categories, doi, title, abstract = row
        assert ident == want["id"] and kind == want["type"], (row[:3], want)
        assert version == want["version"] and doi == want["doi"], (row[:3], want)
        assert categories.split() == want["categories"], (categories, want)
        names = authors.split("|")
        assert len(names) == len(want["authors"]), (names, want["authors"])
        for name, other in zip(names, want["authors"]):
            if "\\" in other or "{" in other:
                assert "\\" not in name, name
            else:
                assert stored_messages(name) == stored_messages(other), (name, other)
        for mine, theirs in ((title, want["title"]), (abstract, want["abstract"])):
            if "\\" not in theirs and "$" not in theirs:
                assert stored_messages(mine) == stored_messages(theirs), (mine, theirs)
    return len(rows)


def test_all():
    """counts, types, versions, authors, categories and words are the same"""
    paths = [path for path in real_files("arxiv-*.xml") if "truncated" not in path]
    counts = {os.path.basename(path): compare(path) for path in paths}
    assert sum(counts.values()) > 0
    if "arxiv-atom-cs.AI-2025-08-20.xml" in counts:
        assert counts["arxiv-atom-cs.AI-2025-08-20.xml"] == 86


def test_cut():
    """a document truncated within an entry is rejected, with the position"""
    path = real_data("arxiv-atom-cs.AI-2025-08-20.truncated.xml")
    status, out, err = ours(path)
    assert status == 1 and out == "" and re.match(r"line \d+, column \d+: ", err), err


with Tap() as tap:
    tap.run(test_all)
    tap.run(test_cut)
