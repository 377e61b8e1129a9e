#!/usr/bin/env python3
"""test_language.py - program, oracle and FTS5 agree on the filter language.

The program runs in tests/helper_query; the oracle was written from the description of
the language alone; FTS5 checks the part that it can express.  Numbers of filters are
those of `make check-long`; `make check` uses fewer.
"""

import glob
import json
import os
import random
import time
import unicodedata
import zlib

import lib  # the path
from examples import (
    AGENT, DIFFUSION, EXAMPLES, FIELDS, FULL, LENGTHS, NOT_KNOWN, REFUSED,
)
from fts_archive import Archive, made_up_papers, random_filter
from generate import generate
from language import TODAY, WRONG, Filters, add_values, make_paper
from oracle import (
    AS_REPORTED, ENRICHED, FINALLY, MAY_CHANGE, NOTHING_SETTLED, FilterError, Paper, parse,
)
from oracle_tree import Number
from programs import evaluate, load_days
from tap import IS_LONG, Tap, read_text, top_srcdir
from unspaced import make_filter, make_papers
from words import is_unspaced

FILTERS = 20000 if IS_LONG else 1000  # against 100 papers
WIDE_FILTERS = 2000 if IS_LONG else 40  # against all papers
FTS_FILTERS = 5000 if IS_LONG else 200
UNSPACED_FILTERS = 20000 if IS_LONG else 500  # against 100 papers
SETTLEMENTS = (NOTHING_SETTLED, ENRICHED, FINALLY)
DIGIT = {False: "0", None: "1", True: "2"}

# A line for each paper, and for each filter with its canonical text, the numbers of the
# papers that it finds once all is known, and a checksum of all verdicts.  GOLDEN_WRITE=1
# writes the results again; the filters stay.
FROZEN = os.path.join(top_srcdir(), "tests", "golden", "filters")
FROZEN_FILTERS = 2000

# At each limit, and one beyond it.
LIMITS = [
    "a" * 512, "a" * 513, "ü" * 256, "ü" * 256 + "a", " ".join(["ab"] * 40),
    " ".join(["ab"] * 41), "(" * 8 + "a" + ")" * 8, "(" * 9 + "a" + ")" * 9, "abc*",
    "ab*", "upvotes:>=999999999", "upvotes:>=1000000000",
]

# Edge cases: missing or empty values, words at the ends, words that share prefixes.
CORNERS = [
    {"id": "nothing-known", "title": "a"},
    {"id": "nothing-there", "title": "x", "abstract": "", "authors": [], "keywords": [],
     "categories": [], "upvotes": 0, "comments": 0, "stars": 0, "listings": []},
    {"id": "2608.00001", "title": "one two three", "authors": ["One"],
     "abstract": "three four five six one", "categories": ["astro-ph"], "doi": "10.1/A",
     "listings": [["hf", "2026-08-21", "new"], ["arxiv", "2026-08-20", "replace"]]},
    {"id": "hep-th/9901001", "title": "C++ C# C node.js node. js",
     "abstract": "c++, c#; .c", "categories": ["hep-th", "math-ph"], "comment": "C++",
     "keywords": ["c++", "c", "C#"], "authors": ["Bo O'Neil III", "van der Berg"]},
    {"id": "10.1145/3292500.7", "title": "news new models model Modèles MODEL =model",
     "abstract": "RAG rag Rag RAGs rags. " * 40, "organization": "News Models",
     "categories": ["cs.CL", "cs.AI"], "upvotes": 999999999, "authors": ["Ada"] * 30,
     "code_url": "https://code.example/",
     "listings": [["News", "2024-02-29", "cross"]]},
    {"id": "spread", "title": "begin",
     "abstract": "begin " + "x " * 98 + "middle " + "y " * 100 + "end",
     "listings": [["hf", "2025-08-21", "new"]]},
    {"id": "signs", "title": "a-b a_b a.b a+b a/b",
     "abstract": "π^3 α-mem 大模型 e\u0301tude",
     "keywords": ["", "a b"], "organization": "", "authors": ["", "A.-B. C"]},
]


def real_papers():
    """All real papers with missing values made up; or made-up papers."""
    directory = os.path.join(top_srcdir(), "..", "shared", "data")
    paths = sorted(glob.glob(os.path.join(directory, "*_papers-*")))
    rng = random.Random(4)
    if not paths:
        return [make_paper(rng, number) for number in range(300)]
    papers = [add_values(rng, paper) for paper in load_days(paths).values()]
    rng.shuffle(papers)
    return papers


class Bench:
    """Papers prepared for the program and for the oracle."""

    def __init__(self, directory, papers, today=TODAY):
        self.today = today
        self.path = os.path.join(directory, "papers.jsonl")
        with open(self.path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(paper) + "\n" for paper in papers)
        self.papers = [Paper(paper, today=today) for paper in papers]

    def evaluate(self, filters):
        return evaluate(self.path, self.today, filters)

    def truths(self, tree):
        """Verdicts of the oracle, as the helper program prints them."""
        reported = [settle(tree, paper, AS_REPORTED) for paper in self.papers]
        may = reported
        if has_number(tree):
            may = [settle(tree, paper, MAY_CHANGE) for paper in self.papers]
        return ["".join(DIGIT[row[number]] for row in rows)
                for rows in (reported, may) for number in range(len(SETTLEMENTS))]

    def compare(self, filters):
        """@return (differences as text, number rejected by both, number with matches)"""
        bad, refused, hits = [], 0, 0
        for source, result in zip(filters, self.evaluate(filters)):
            try:
                wanted = self.truths(parse(source))
            except FilterError as error:
                refused += 1
                column = result.column
                if column is None or (error.is_sure and error.column != column):
                    bad.append(f"{source!r}\n  program: {column} {result.reason} "
                               f"{result.canonical!r}\n  oracle: {error}")
                continue
            if result.column is not None or result.again is not None:
                bad.append(f"{source!r}\n  program: {result.column} {result.reason} "
                           f"{result.canonical!r} {result.again!r}\n  oracle: takes it")
                continue
            hits += "2" in wanted[0]
            if result.truths != wanted:
                bad.append(self.describe(source, result, wanted))
            check_settling(source, result.truths)
        return bad, refused, hits

    def describe(self, source, result, wanted):
        """The first papers about which they differ."""
        rows = [f"{source!r}: {result.canonical!r}"]
        for number, paper in enumerate(self.papers):
            got = "".join(text[number] for text in result.truths)
            want = "".join(text[number] for text in wanted)
            if got != want:
                rows.append(f"  {paper.id}: program {got}, oracle {want}")
        return "\n".join(rows[:4])


def settle(tree, paper, mode):
    """Verdict for each finality; a definite one stays (tested below)."""
    first = tree.truth(paper, NOTHING_SETTLED, mode)
    if first is not None:
        return [first] * len(SETTLEMENTS)
    return [first] + [tree.truth(paper, settled, mode) for settled in SETTLEMENTS[1:]]


def has_number(node):
    parts = getattr(node, "parts", [getattr(node, "part", None)])
    if parts == [None]:
        return isinstance(node, Number)
    return any(map(has_number, parts))


def check_settling(source, truths):
    """Definite verdicts stay, all are definite in the end, and fewer are when values
    may change.
    """
    for number, (nothing, enriched, final) in enumerate(zip(*truths[:3])):
        assert nothing in ("1", enriched) and enriched in ("1", final), (source, number)
        assert final != "1", (source, number)
    for reported, may in zip(truths[:3], truths[3:]):
        assert all(b in ("1", a) for a, b in zip(reported, may)), source


def no_difference(bad):
    assert not bad, f"{len(bad)} differ:\n" + "\n".join(bad[:40])


# ---- tests ------------------------------------------------------------------


def test_examples(tap):
    """every example has the same verdicts in the program"""
    full = Bench(tap.subdirectory("full"), [FULL])
    sources = [source for source, _ in FIELDS]
    no_difference(full.compare(sources)[0])
    for (source, wanted), result in zip(FIELDS, full.evaluate(sources)):
        assert result.truths[0] == DIGIT[wanted], (source, result.canonical)
    pair = [dict(paper, id=str(number)) for number, paper in enumerate(
        (DIFFUSION, AGENT))]
    pair = Bench(tap.subdirectory("pair"), pair)
    sources = [source for source, *_ in EXAMPLES]
    no_difference(pair.compare(sources)[0])
    for (source, *wanted), result in zip(EXAMPLES, pair.evaluate(sources)):
        assert result.truths, (source, result.column, result.reason)
        assert list(result.truths[0]) == [DIGIT[one] for one in wanted], source


def find_refusal(source):
    """The column at which the oracle rejects a filter, or None."""
    try:
        parse(source)
    except FilterError as error:
        return error.column
    return None


def test_refusals(tap):
    """the program rejects the filters that the oracle rejects, at the same column"""
    bench = Bench(tap.subdirectory("refusals"), CORNERS)
    filters = [source for source, _ in REFUSED] + WRONG + LIMITS
    no_difference(bench.compare(filters)[0])
    for source, column in REFUSED:
        assert find_refusal(source) == column, (source, find_refusal(source))


def test_missing_values(tap):
    """missing values are unknown, and false once final"""
    for name, (paper, clauses) in NOT_KNOWN.items():
        bench = Bench(tap.subdirectory(f"missing-{name}"), [paper])
        sources = [source for source, _ in clauses]
        no_difference(
            bench.compare(sources + [f"yyy -{source}" for source in sources])[0])
        for (source, settled), result in zip(clauses, bench.evaluate(sources)):
            wanted = ["1" if level < settled else "0" for level in SETTLEMENTS]
            assert result.truths[: len(SETTLEMENTS)] == wanted, (name, source)


def test_lengths_of_time(tap):
    """relative days are the same on every day"""
    for number, (today, (count, unit), day) in enumerate(LENGTHS):
        papers = [{"id": day, "title": "a", "listings": [["hf", day, "new"]]}]
        bench = Bench(tap.subdirectory(f"length-{number}"), papers, today)
        length = f"{count}{unit}"
        no_difference(bench.compare([
            f"date:{length}", f"date:{length}..{length}", f"date:..{length}",
            f"date:{count + 1}{unit}..", f"date:{day}..{length}",
            f"date:{length}..{day}",
        ])[0])


def test_settling():
    """the oracle's definite verdicts stay, and all are definite in the end"""
    rng = random.Random(13)
    papers = [make_paper(rng, number) for number in range(40)]
    generated = Filters(rng, papers)
    ready = [Paper(paper, today=TODAY) for paper in papers]
    for source in [generated.valid() for _ in range(400)]:
        tree = parse(source)
        rows = [[tree.truth(paper, settled, mode) for paper in ready]
                for mode in (AS_REPORTED, MAY_CHANGE) for settled in SETTLEMENTS]
        texts = ["".join(DIGIT[truth] for truth in row) for row in rows]
        check_settling(source, texts)
        assert texts[2] == texts[5], source


def random_filters(papers, count, seed):
    """Mostly valid filters, a third invalid ones, and some of the generator."""
    filters = Filters(random.Random(seed), papers)
    texts = [filters.valid() for _ in range(count * 6 // 10)]
    texts += [filters.broken() for _ in range(count * 3 // 10)]
    people = generate([paper["title"] for paper in papers], count, seed)
    while len(texts) < count:
        texts += next(people)["filters"]
    return texts[:count]


def compare_on(tap, name, papers, count):
    started = time.monotonic()
    bench = Bench(tap.subdirectory(name), papers)
    bad, refused, hits = bench.compare(random_filters(papers, count, 5))
    tap.diag(f"{len(papers)} papers, {count} filters, {refused} of them refused, "
             f"{hits} had matches, {time.monotonic() - started:.1f} s")
    no_difference(bad)
    assert hits > count / 3, hits


def test_some_papers(tap):
    """random filters have the same matches and errors: a hundred papers"""
    compare_on(tap, "some", real_papers()[:100], FILTERS)


def test_made_up_papers(tap):
    """random filters have the same matches and errors: edge cases, made-up papers"""
    rng = random.Random(7)
    papers = CORNERS + [make_paper(rng, number) for number in range(33)]
    papers = [dict(paper, authors=paper.get("authors") or []) for paper in papers]
    compare_on(tap, "made-up", papers, FILTERS // 2)


def test_all_papers(tap):
    """random filters have the same matches and errors: all papers"""
    compare_on(tap, "all", real_papers(), WIDE_FILTERS)


def test_unspaced(tap):
    """random filters in Chinese, Japanese and Thai have the same matches and errors"""
    rng = random.Random(17)
    papers = make_papers(rng, 100)
    bench = Bench(tap.subdirectory("unspaced"), papers)
    filters = [make_filter(rng, papers) for _ in range(UNSPACED_FILTERS)]
    filters = [text for text in filters if len(text.encode()) <= 512]
    bad, refused, hits = bench.compare(filters)
    tap.diag(f"{len(filters)} filters, {refused} of them refused, {hits} had matches")
    no_difference(bad)
    assert hits > len(filters) / 2, hits


def test_runs(tap):
    """a run finds exactly the runs that it is a part of"""
    rng = random.Random(19)
    runs = ["".join(rng.choices("大模型ー๊", k=rng.randint(1, 9))) for _ in range(100)]
    bench = Bench(tap.subdirectory("runs"), [
        {"id": str(number), "title": run} for number, run in enumerate(runs)])
    filters = ["".join(rng.choices("大模型ー๊", k=rng.randint(1, 4))) for _ in range(200)]
    for text, result in zip(filters, bench.evaluate(filters)):
        wanted = "".join(DIGIT[text in run] for run in runs)
        assert result.truths[0] == wanted, (text, result.truths[0], wanted)


def test_unspaced_characters(tap):
    """one character is a prefix exactly in scripts without spaces"""
    bench = Bench(tap.subdirectory("characters"), CORNERS)
    points = [*range(0xE00, 0xE80), *range(0x2E80, 0xA000, 1 if IS_LONG else 13),
              *range(0x3000, 0x3400), *range(0xF8F0, 0xFB10), *range(0xFF00, 0xFFF0),
              *range(0x1AFF0, 0x1B180), *range(0x1FFF0, 0x2FA30, 1 if IS_LONG else 997)]
    filters = [chr(point) + "*" for point in points
               if unicodedata.category(chr(point)) != "Cn"
               and not chr(point).isspace()]
    no_difference(bench.compare(filters)[0])
    assert sum(is_unspaced(text[0]) for text in filters) > 1000


def test_canonical(tap):
    """the canonical text has the same meaning, to the oracle too, and is stable"""
    rng = random.Random(9)
    papers = [make_paper(rng, number) for number in range(40)]
    bench = Bench(tap.subdirectory("canonical"), papers)
    generated = Filters(rng, papers)
    filters = [generated.valid() for _ in range(FILTERS // 5)]
    bad = []
    for source, result in zip(filters, bench.evaluate(filters)):
        text = result.canonical
        try:
            if bench.truths(parse(text, is_limited=False)) != result.truths:
                bad.append(f"{source!r}: {text!r}")
        except FilterError as error:
            bad.append(f"{source!r}: {text!r}: {error}")
    no_difference(bad)


def make_frozen():
    """Papers of a sample day with missing values made up, others, and valid filters."""
    rng = random.Random(42)
    papers = [add_values(rng, paper) for paper in load_days(
        [os.path.join(top_srcdir(), "samples", "daily_papers-2026-11-20.json")]).values()]
    others = make_papers(rng, 10)
    part = FROZEN_FILTERS // 10
    texts = {make_filter(rng, others): None for _ in range(part)}
    texts = {text: None for text in texts if find_refusal(text) is None}
    for person in generate([paper["title"] for paper in papers], part):
        texts |= dict.fromkeys(person["filters"][:1])
    filters = Filters(rng, papers)
    while len(texts) < FROZEN_FILTERS:
        texts[filters.valid()] = None
    return papers + others, list(texts)


def test_frozen(tap):
    """filters that were frozen have the same canonical texts, and find the same papers"""
    papers, lines, rows = [], [], []
    if os.path.exists(FROZEN):
        lines = read_text(FROZEN).split("\n")[:-1]
        papers = [json.loads(line) for line in lines if line.startswith("{")]
        filters = [line.partition("\t")[0] for line in lines[len(papers):]]
    else:
        papers, filters = make_frozen()
    for source, result in zip(filters, Bench(tap.subdirectory("frozen"), papers).evaluate(filters)):
        assert result.truths, (source, result.reason, result.again)
        found = ",".join(str(at) for at, c in enumerate(result.truths[2]) if c == "2")
        sums = zlib.crc32("\n".join(result.truths).encode())
        rows.append(f"{source}\t{result.canonical}\t{found}\t{sums:08x}")
    assert len(rows) == FROZEN_FILTERS, len(rows)
    if os.environ.get("GOLDEN_WRITE"):
        with open(FROZEN, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(paper, ensure_ascii=False) + "\n" for paper in papers)
            file.writelines(row + "\n" for row in rows)
    no_difference([f"{old}\n  now: {new}" for old, new in zip(lines[len(papers):], rows)
                   if old != new])


def test_fts5(tap):
    """program, oracle and FTS5 agree on words, phrases, prefixes and NEAR"""
    rng = random.Random(11)
    made_up = [dict(paper, id=str(paper["id"]))
               for paper in made_up_papers(rng, 60)]
    for name, papers, count in (
        ("fts-made-up", made_up, FTS_FILTERS),
        ("fts-real", real_papers()[:60], FTS_FILTERS // 5),
    ):
        archive = Archive(papers)
        bench = Bench(tap.subdirectory(name), papers)
        pairs = [random_filter(rng, archive, folds=True)
                 for _ in range(count)]
        pairs = [pair for pair in pairs if len(pair[0].encode()) <= 512]
        hits = 0
        for (ours, theirs), result in zip(pairs, bench.evaluate([a for a, _ in pairs])):
            wanted = archive.find(theirs)
            by_oracle = bench.truths(parse(ours))
            by_program = [at for at, c in enumerate(result.truths[0]) if c == "2"]
            assert by_oracle == result.truths and by_program == wanted, (
                ours, theirs, wanted, by_program, by_oracle[0])
            hits += bool(wanted)
        tap.diag(f"{name}: {len(pairs)} filters, {hits} had matches")
        assert hits > count / 3, hits


with Tap() as tap:
    for test in (
        test_examples, test_refusals, test_missing_values, test_lengths_of_time,
        test_some_papers, test_made_up_papers, test_all_papers, test_unspaced,
        test_runs, test_unspaced_characters, test_canonical, test_frozen, test_fts5,
    ):
        tap.run(test, tap)
    tap.run(test_settling)
