#!/usr/bin/env python3
"""test_oracle.py - the oracle has the tokens of SQLite and the matches of a plain scan.

tests/test_language.py compares the oracle, the program and FTS5.
"""

import lib  # the path
import plain_scan
from fts_archive import Archive
from oracle import match_all
from papers import load_papers
from tap import Tap, real_data
from words import SqliteWords, is_unspaced, tokens


def test_tokens():
    """tokens are those of unicode61 in every alphabet with spaces, and in samples"""
    sqlite = SqliteWords()
    points = list(range(1, 0x3100)) + list(range(0x3100, 0xD800, 41))
    points += list(range(0xE000, 0x30000, 41))
    points = [point for point in points if not is_unspaced(chr(point))]
    for start in range(0, len(points), 64):
        row = [chr(point) for point in points[start : start + 64]]
        text = " ".join(f"a{c}b {c}c {c}{c}" for c in row)
        assert tokens(text) == sqlite.tokens(text), hex(points[start])


def test_real_tokens():
    """tokens are those of unicode61 on real papers"""
    sqlite = SqliteWords()
    for paper in load_papers(real_data("daily_papers-2025-07-22.next-day.json")):
        for text in (paper["title"], paper["abstract"], " ".join(paper["authors"])):
            assert tokens(text) == sqlite.tokens(text), text


def test_plain_scan_by_hand():
    """the plain scan finds whole words, phrases and prefixes"""
    texts = {
        "GPU": True, "gpus": True, "GPU-based": True, "a GPUDirect b": True,
        "xgpu": False,
        "HPC": True, "HPCs.": True, "hpcx": False, "high-performance\ncomputing": True,
        "high performance computer": False, "ahigh performance computing": False,
        "performance computing": False, "": False,
    }
    papers = [{"id": text, "title": text, "abstract": None} for text in texts]
    assert plain_scan.plain_scan(papers) == [t for t, is_hit in texts.items() if is_hit]
    assert match_all([plain_scan.FILTER], papers)[0] == plain_scan.plain_scan(papers)


def test_third_opinion():
    """oracle, FTS5 and the plain scan agree on the 71 seed papers"""
    papers = load_papers(real_data("seed-papers.json"))
    assert len(papers) == 71
    scanned = plain_scan.plain_scan(papers)
    assert 0 < len(scanned) < 71
    assert match_all([plain_scan.FILTER], papers)[0] == scanned
    found = Archive(papers).find('"high performance computing" OR HPC OR GPU*')
    assert [papers[rowid]["id"] for rowid in found] == scanned


with Tap() as tap:
    for test in (test_tokens, test_plain_scan_by_hand, test_real_tokens,
                 test_third_opinion):
        tap.run(test)
