#!/usr/bin/env python3
"""test_oracle.py - the oracle: examples, errors, agreement with FTS5."""

import itertools
import os
import random
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

import plain_scan
from examples import (
    AGENT, DIFFUSION, EXAMPLES, FIELDS, FULL, LENGTHS, NO, NOT_KNOWN, REFUSED, TODAY,
    UNKNOWN, YES,
)
from normalize import normalize
from oracle import (
    ENRICHED, FINALLY, MAY_CHANGE, NOTHING_SETTLED, FilterError, Paper, match,
    match_all, parse,
)
from oracle_tree import as_day
from papers import load_papers
from tap import Tap, real_data
from words import SqliteWords, TOKENIZE, plural_class, tokens

PLURALS = {
    "models": "model", "gpus": "gpu", "llms": "llm", "agents": "agent",
    "queries": "query", "studies": "study", "ties": "tie", "movies": "movie",
    "boxes": "box", "losses": "loss", "classes": "class", "approaches": "approach",
    "meshes": "mesh", "caches": "cache", "databases": "database", "cases": "case",
    "sizes": "size", "biases": "bias", "lenses": "lens", "analyses": "analysis",
    "hypotheses": "hypothesis", "axes": "axis",
    "news": "news", "bias": "bias", "analysis": "analysis", "lens": "lens",
    "physics": "physics", "loss": "loss", "class": "class", "corpus": "corpus",
    "basis": "basis", "gas": "gas", "its": "its", "was": "was", "series": "series",
    "species": "species", "robotics": "robotics", "dynamics": "dynamics",
    "metrics": "metric", "topics": "topic", "llama2s": "llama2s", "αs": "αs",
    "50ms": "50ms", "3dmms": "3dmm", "heroes": "hero", "shoes": "shoe",
    "matrices": "matrix", "apis": "api", "axis": "axis", "quizzes": "quiz",
}

TEX = {
    r"L\'evy": "Lévy",
    r"Schr{\"o}dinger": "Schrödinger",
    r"$\alpha$": "α",
    r"Pi\v{z}urica and J\"org Kra{\ss}": "Pižurica and Jörg Kraß",
    r"$\mu$LO": "μLO",
    r"Mart\'{\i}n": "Martín",
    r"{\'\i}": "í",
    r"\v Cech": "Čech",
    r"S\o{}ren H{\o}eg \O rsted": "Søren Høeg Ørsted",
    r"{\AA}ngstr\"{o}m": "Ångström",
    r"Erd\H{o}s": "Erdős",
    r"\c{c}a": "ça",
    r"$5 and $6": "$5 and $6",
    r"\textsc{Aiev} and \foo{Bar}": r"Aiev and \foo{Bar}",
    r"\textbf{a \emph{b}} {\it vs.} {\sc Own text}": "a b vs. Own text",
    r"GPT-4o\'s, they\'re and l\'s\'e": "GPT-4o's, they're and l\'s\u00e9",
    r"360{\deg} at 5\,m, e.g.\ so": "360° at 5 m, e.g. so",
    "textit{O}bstacles": "textit{O}bstacles",
    "a\n  b\u00a0 c ": "a b c",
    "e\u0301": "é",
    r"A\&B 5\%": "A&B 5%",
}


def test_examples(tap):
    for source, *wanted in EXAMPLES:
        got = [match(source, paper) for paper in (DIFFUSION, AGENT)]
        tap.equal(got, wanted, f"{source} means what it says")
    full = Paper(FULL, today=TODAY)
    for source, wanted in FIELDS:
        tap.equal(match(source, full), wanted, f"{source} means what it says")


def test_lengths_of_time():
    """relative days follow the calendar, also at the ends of months"""
    for today, length, wanted in LENGTHS:
        assert as_day(length, today) == wanted, (today, length, as_day(length, today))


def test_refusals(tap):
    for source, column in REFUSED:
        try:
            parse(source)
            got = None
        except FilterError as error:
            got = error.column
        tap.equal(got, column, f"{source!r} is refused at column {column}")


def accepts(source):
    try:
        parse(source)
    except FilterError:
        return False
    return True


def test_limits():
    """limits hold exactly"""
    assert accepts("a" * 512) and not accepts("a" * 513)
    assert accepts("ü" * 256) and not accepts("ü" * 256 + "a")
    assert accepts(" ".join(["ab"] * 40)) and not accepts(" ".join(["ab"] * 41))
    assert accepts("(" * 8 + "a" + ")" * 8) and not accepts("(" * 9 + "a" + ")" * 9)
    assert accepts("abc*") and not accepts("ab*")
    assert accepts("upvotes:>=999999999") and not accepts("upvotes:>=1000000000")


def test_three_truths():
    """unknown is neither true nor false, in the whole truth table"""
    values = {"y": YES, "n": NO, "u": UNKNOWN}
    paper = {"title": "yyy", "abstract": None, "upvotes": None}
    leaf = {"y": "title:yyy", "n": "title:nnn", "u": "upvotes:1"}
    for (a, left), (b, right) in itertools.product(leaf.items(), leaf.items()):
        truths = [values[a], values[b]]
        both = NO if NO in truths else UNKNOWN if UNKNOWN in truths else YES
        either = YES if YES in truths else UNKNOWN if UNKNOWN in truths else NO
        assert match(f"{left} {right}", paper) is both, (a, b)
        assert match(f"{left} OR {right}", paper) is either, (a, b)
    assert match("title:yyy -upvotes:1", paper) is UNKNOWN
    # texts, names and listings are always known
    for source in ("nnn", "author:a", "first:a", "source:hf", "type:new", "date:2026"):
        assert match(source, paper) is NO, source


def test_settlements():
    """missing values are unknown, and false once final"""
    paper = Paper({"id": "a", "title": "yyy"})
    levels = (NOTHING_SETTLED, ENRICHED, FINALLY)
    for source, settled in NOT_KNOWN:
        for level in levels:
            wanted = UNKNOWN if level < settled else NO
            assert parse(source).truth(paper, level) is wanted, (source, level)
            negated = parse(f"yyy -{source}").truth(paper, level)
            assert negated is (UNKNOWN if level < settled else YES), (source, level)
    reported = Paper(dict(FULL, comment=None, journal=None, doi=None))
    for source in ("comment:a", "journal:a", "doi:10.1/a", "upvotes:<3", "kw:nothing"):
        assert parse(source).truth(reported) is NO, source
    assert parse("has:video").truth(reported) is UNKNOWN  # a link may be reported later


def test_may_change():
    """mutable values are unknown, though reported, until final"""
    paper = Paper(FULL)
    for source in ("upvotes:>=20", "comments:<3", "stars:5", "has:video"):
        tree = parse(source)
        for level in (NOTHING_SETTLED, ENRICHED):
            assert tree.truth(paper, level, MAY_CHANGE) is UNKNOWN, source
        assert tree.truth(paper, FINALLY, MAY_CHANGE) is tree.truth(paper, FINALLY)
    for source in ("authors:3", "has:code", "cat:cs.CL", "kw:example", "diffusion"):
        assert parse(source).truth(paper, NOTHING_SETTLED, MAY_CHANGE) is YES, source


def test_plurals():
    """plurals fold by the table, and folding is idempotent"""
    for word, wanted in PLURALS.items():
        assert plural_class(word) == wanted, (word, plural_class(word))
        assert plural_class(wanted) == wanted, wanted


def test_tex():
    """text is normalised by the language, and normalising is idempotent"""
    for text, wanted in TEX.items():
        assert normalize(text) == wanted, (text, normalize(text))
        assert normalize(wanted) == wanted, wanted


def test_match_all():
    """match_all keeps the order of filters and names papers by id"""
    papers = [dict(DIFFUSION, id="d"), dict(AGENT, id="a")]
    assert match_all(["agent", "models", "agent"], papers) == [["a"], ["d", "a"], ["a"]]
    assert match_all(["upvotes:20"], papers, truth=None) == [["a"]]


# ---- against SQLite ---------------------------------------------------------


def made_up_papers(rng, count):
    """Few words, many collisions: every operator meets every case."""
    pool = """model models news new lens graph graphs Müller muller self-play GPU
        gpus gpu-based C++ analysis analyses state space π^3 naïve queries query
        大模型 x2""".split()
    for number in range(count):
        yield {
            "id": number,
            "title": " ".join(rng.choices(pool, k=rng.randint(1, 6))),
            "abstract": ", ".join(rng.choices(pool, k=rng.randint(0, 25))),
        }


class Archive:
    """The papers in an FTS5 table; leaves and booleans are SQLite's own."""

    def __init__(self, papers):
        self.db = sqlite3.connect(":memory:")
        self.db.execute(
            f"CREATE VIRTUAL TABLE t USING fts5(title, abstract, tokenize='{TOKENIZE}')"
        )
        for rowid, paper in enumerate(papers):
            row = [normalize(paper[name] or "") for name in ("title", "abstract")]
            self.db.execute("INSERT INTO t(rowid, title, abstract) VALUES (?, ?, ?)",
                            [rowid, *row])
        self.papers = papers
        self.db.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, 'row')")
        self.vocabulary = [term for (term,) in self.db.execute("SELECT term FROM v")]

    def find(self, expression):
        rows = self.db.execute("SELECT rowid FROM t WHERE t MATCH ?", (expression,))
        return sorted(rowid for (rowid,) in rows)


def random_filter(rng, archive, folds, depth=0):
    """The same filter as typed, and for FTS5."""
    if depth < 3 and rng.random() < 0.55:
        left = random_filter(rng, archive, folds, depth + 1)
        right = random_filter(rng, archive, folds, depth + 1)
        kind = rng.choice(("AND", "OR", "NOT"))
        sign = {
            "AND": rng.choice((" ", " AND ", " & ")),
            "OR": rng.choice((" OR ", " | ")),
            "NOT": rng.choice((" NOT ", " -", " !", " ANDNOT ", " AND NOT ", " AND -")),
        }[kind]
        return f"({left[0]}){sign}({right[0]})", f"({left[1]}) {kind} ({right[1]})"
    text = rng.choice(archive.papers)[rng.choice(("title", "abstract"))] or "model"
    row = tokens(normalize(text)) or ["model"]
    field = rng.choice(("", "", "title", "abstract"))
    columns = f"{{{field or 'title abstract'}}} : "
    if rng.random() < 0.2:
        typed, wanted = random_near(rng, archive, folds, row, field)
    else:
        size = rng.choice((1, 1, 1, 2, 3))
        at = rng.randrange(max(1, len(row) - size + 1))
        typed, wanted = random_term(rng, archive, folds, row[at : at + size])
        typed = (f"{field}:" if field else "") + typed
    return typed, " OR ".join(f"({columns}{one})" for one in wanted)


def random_term(rng, archive, folds, part):
    """A word or a phrase: as typed, and all its forms for FTS5."""
    if rng.random() < 0.15:
        rng.shuffle(part)
    typed = " ".join(part)
    is_prefix = len(part[-1]) >= 3 and rng.random() < 0.25
    if is_prefix:
        cut = rng.randint(3, len(part[-1]))
        part = part[:-1] + [part[-1][:cut]]
        typed = " ".join(part) + "*"
    alternatives = []
    for number, word in enumerate(part):
        if folds and not (is_prefix and number == len(part) - 1):
            same = plural_class(word)
            forms = [w for w in archive.vocabulary if plural_class(w) == same]
            alternatives.append(forms or [word])
        else:
            alternatives.append([word])
    wanted = [
        '"' + " ".join(words) + '"' + ("*" if is_prefix else "")
        for words in itertools.product(*alternatives)
    ]
    typed = f'"{typed}"' if len(part) > 1 or rng.random() < 0.3 else typed
    return typed, wanted


def random_near(rng, archive, folds, row, field):
    """Two or three terms about that far apart in a text."""
    distance = rng.choice((1, 1, 2, 3, 5, 8, 10, 20, 99))
    count = rng.choice((2, 2, 2, 3))
    begin = rng.randrange(len(row))
    terms = []
    for _ in range(count):
        at = min(len(row) - 1, begin + rng.randint(0, 2 + distance))
        size = rng.choice((1, 1, 1, 2))
        terms.append(random_term(rng, archive, folds, row[at : at + size]))
    operands = [typed for typed, _ in terms]
    shown = "" if distance == 10 and rng.random() < 0.5 else str(distance)
    group = f"NEAR({' '.join(operands)}{shown and ', ' + shown})"
    chain = f" NEAR{shown and '/' + shown} ".join(operands)
    if field:
        typed = rng.choice((f"{field}:{group}", f"{field}:({chain})"))
    else:
        typed = rng.choice((group, f"({chain})", f"text:{group}"))
    products = itertools.product(*(wanted for _, wanted in terms))
    return typed, [f"NEAR({' '.join(one)}, {distance})" for one in products]


def agree(archive, rng, rounds, folds):
    """Number of filters with matches; any difference is an AssertionError."""
    fold = plural_class if folds else (lambda word: word)
    ready = [Paper(paper, fold) for paper in archive.papers]
    hits = 0
    for _ in range(rounds):
        ours, theirs = random_filter(rng, archive, folds)
        tree = parse(ours)
        got = [number for number, paper in enumerate(ready) if tree.truth(paper)]
        wanted = archive.find(theirs)
        assert got == wanted, f"{ours}\n{theirs}\n{got}\n{wanted}"
        hits += bool(got)
    return hits


def test_made_up_agreement():
    """words, phrases, prefixes, NEAR and booleans agree with FTS5 on made-up papers"""
    rng = random.Random(1)
    archive = Archive(list(made_up_papers(rng, 60)))
    assert agree(archive, rng, 1500, folds=False) > 500


def test_made_up_plurals():
    """folded plurals agree with FTS5 asked for all forms"""
    rng = random.Random(2)
    archive = Archive(list(made_up_papers(rng, 60)))
    assert agree(archive, rng, 1500, folds=True) > 500


def test_real_agreement():
    """the oracle agrees with FTS5 on a day of real papers"""
    papers = load_papers(real_data("daily_papers-2026-08-21.json"))
    papers += load_papers(real_data("daily_papers-2025-07-22.next-day.json"))
    assert len(papers) > 30
    archive, rng = Archive(papers), random.Random(3)
    assert agree(archive, rng, 120, folds=False) > 30
    assert agree(archive, rng, 120, folds=True) > 30


def test_tokens():
    """tokens are those of unicode61 in every alphabet, and in samples beyond"""
    sqlite = SqliteWords()
    points = list(range(1, 0x3100)) + list(range(0x3100, 0xD800, 41))
    points += list(range(0xE000, 0x30000, 41))
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


def main():
    with Tap() as tap:
        test_examples(tap)
        test_refusals(tap)
        for test in (
            test_limits, test_lengths_of_time, test_three_truths, test_settlements,
            test_may_change, test_plurals, test_tex,
            test_match_all, test_tokens, test_made_up_agreement, test_made_up_plurals,
            test_plain_scan_by_hand, test_real_tokens, test_real_agreement,
            test_third_opinion,
        ):
            tap.run(test)


if __name__ == "__main__":
    main()
