#!/usr/bin/env python3
"""test_query_agree.py - the program's filters are the oracle's: words, names, refusals."""

import glob
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

import test_oracle
from generate import generate
from normalize import normalize
from oracle import MAX_BYTES, FilterError, OutOfScope, Paper, parse
from programs import find, fold_words, load_days, write_day
from tap import Skip, Tap, top_srcdir
from words import IRREGULAR, NOT_PLURAL, plural_class, tokens

DAY = "2026-01-01"


def real_files():
    paths = glob.glob(os.path.join(top_srcdir(), "..", "shared", "data", "*_papers-*"))
    if not paths:
        raise Skip("real data is not there: daily_papers-*.json")
    return sorted(paths)


def sample_files():
    return sorted(glob.glob(os.path.join(top_srcdir(), "samples", "daily_papers-*")))


def words_of(papers):
    found = set()
    for paper in papers:
        for text in (paper["title"], paper["abstract"]):
            found.update(tokens(normalize(text or "")))
    return found


# ---- plurals ----------------------------------------------------------------


def fold_alike(words):
    words = sorted(words)
    pairs = zip(words, fold_words(words))
    bad = [(word, got, plural_class(word)) for word, got in pairs
           if got != plural_class(word)]
    assert not bad, f"word, program, oracle: {bad[:20]}"
    return len(words)


def made_up_words(rng, count):
    """Words that end in all the ways that rules look at."""
    ends = """s es ies us is ss oes ches shes sses xes zzes ms ics bias physics dynamics
        ethics informatics as os 5s 5ms""".split()
    letters = "aeioubcdghmnprstxyz5ü"
    for _ in range(count):
        stem = "".join(rng.choices(letters, k=rng.randint(0, 5)))
        yield stem + rng.choice(ends)


def test_plurals_of_tables(tap):
    """plurals fold alike: the tables, made-up words, the words of the samples"""
    words = set(NOT_PLURAL) | set(IRREGULAR) | set(IRREGULAR.values())
    words |= {word + "s" for word in words} | {word + "es" for word in words}
    words |= set(made_up_words(random.Random(1), 20000))
    words |= words_of(load_days(sample_files()).values())
    tap.diag(f"{fold_alike(words)} words folded alike")


def test_plurals_of_real_papers(tap):
    """plurals fold alike: every word of the real papers"""
    words = words_of(load_days(real_files()).values())
    assert len(words) > 10000
    tap.diag(f"{fold_alike(words)} words of real papers folded alike")


# ---- filters ----------------------------------------------------------------


class Bench:
    """Papers, ready for the program and for the oracle."""

    def __init__(self, folder, papers):
        self.folder = folder
        write_day(folder, DAY, papers)
        self.papers = [Paper(paper) for paper in papers]

    def compare(self, filters):
        """AssertionError with the first differences.  @return (compared, hits)"""
        compared = hits = 0
        bad = []
        for source, found in zip(filters, find(self.folder, DAY, filters)):
            try:
                tree = parse(source)
            except OutOfScope:
                continue
            except FilterError:
                tree = None
            if found.is_later:
                continue
            compared += 1
            if tree is None or found.column is not None:
                if tree is not None or found.column is None:
                    bad.append((source, found.reason or "accepted", tree))
                continue
            truths = {paper.id: tree.truth(paper) for paper in self.papers}
            yes = {name for name, truth in truths.items() if truth is True}
            unknown = {name for name, truth in truths.items() if truth is None}
            hits += bool(yes)
            if yes != found.yes or unknown != found.unknown:
                bad.append((source, found.canonical, sorted(yes ^ found.yes)[:5],
                            sorted(unknown ^ found.unknown)[:5]))
        assert not bad, f"{len(bad)} differ, such as: {bad[:10]}"
        return compared, hits

    def check_canonical(self, filters):
        """The canonical text of each is its own, and finds the same."""
        first = [found for found in find(self.folder, DAY, filters)
                 if found.canonical and len(found.canonical.encode()) <= MAX_BYTES]
        texts = [found.canonical for found in first]
        bad = [(text, again.canonical or again.reason)
               for text, found, again in zip(texts, first, find(self.folder, DAY, texts))
               if again != found]
        assert not bad, f"{len(bad)} differ, such as: {bad[:10]}"


def test_examples(tap):
    """the program reads the oracle's examples as the oracle does"""
    pair = [dict(test_oracle.DIFFUSION, id="d"), dict(test_oracle.AGENT, id="a")]
    folder = tap.subfolder("examples")
    write_day(folder, DAY, pair)
    examples = test_oracle.EXAMPLES
    later = 0
    for row, found in zip(examples, find(folder, DAY, [row[0] for row in examples])):
        source, *wanted = row
        later += found.is_later
        if found.is_later:
            continue
        assert found.column is None, (source, found.reason)
        got = [True if name in found.yes else None if name in found.unknown else False
               for name in "da"]
        assert got == wanted, (source, got, wanted)
    assert later <= 5, later
    tap.diag(f"{len(examples) - later} examples, {later} not supported yet")


def test_refusals(tap):
    """the program refuses what the oracle refuses, at the same column"""
    folder = tap.subfolder("refusals")
    write_day(folder, DAY, [])
    rows = [row for row in test_oracle.REFUSED if "\n" not in row[0]]
    for (source, column), found in zip(rows, find(folder, DAY, [r[0] for r in rows])):
        assert found.column == column, (source, column, found.column, found.reason)
    later = test_oracle.OUT_OF_SCOPE
    for source, found in zip(later, find(folder, DAY, later)):
        assert found.is_later, (source, found.reason)


def names_to_ask(rng, papers, count):
    """Names as people type them, made of names on papers."""
    names = [name for paper in papers for name in paper["authors"] or ()]
    for _ in range(count):
        words = normalize(rng.choice(names)).replace('"', "").split() or ["x"]
        given, last = words[:-1], words[-1]
        first = given[0] if given else last
        yield 'author:"%s"' % rng.choice((
            " ".join(words), last, last + ",", f"{first} {last}", f"{first[0]}. {last}",
            f"{last}, {' '.join(given)}", f"{last}, {first[0]}", first,
            f"{words[-2]} {last}" if given else last, f"{last} {first}",
            " ".join(words) + " Jr.", f"Jr, {first}", f"{first} {last} Jr. II", f"{first} {rng.choice(names).split()[-1]}",
            last[:-1], " ".join(words[1:]), first[:2] + " " + last,
        )).replace('"', "").strip()


def random_filters(rng, papers, count):
    """Nested, with every operator, votes and names among the words."""
    archive = test_oracle.Archive(papers)
    names = names_to_ask(rng, papers, count)
    for _ in range(count):
        text, _ = test_oracle.random_filter(rng, archive, folds=False)
        kind = rng.random()
        votes = rng.choice((">=%d", "<%d", "%d", "%d..", "..%d", "=%d", ">%d"))
        votes = "upvotes:" + votes % rng.randint(0, 60)
        if kind < 0.2:
            text = f"({text}) {votes}"
        elif kind < 0.3:
            text = f"({text}) OR {votes}"
        elif kind < 0.4:
            text = f"({text}) -{votes}"
        elif kind < 0.55:
            text = f"({text}) {rng.choice(('OR ', '-', ''))}{next(names)}"
        yield text


def spoilt(rng, filters):
    """Each with a sign too many or one missing: mostly refused."""
    signs = ' ()"-!*:,&|^+#.=' + "ü"
    for text in filters:
        at = rng.randrange(len(text) + 1)
        if rng.random() < 0.5:
            yield text[:at] + rng.choice(signs) + text[at:]
        else:
            yield text[:at] + text[at + 1 :]


def compare_on(tap, name, papers, count):
    bench = Bench(tap.subfolder(name), papers)
    rng = random.Random(5)
    filters = list(random_filters(rng, papers, count))
    people = generate([paper["title"] for paper in papers], count // 3, seed=5)
    filters += [text for person in people for text in person["filters"]]
    filters += list(names_to_ask(rng, papers, count))
    filters += list(spoilt(rng, filters))
    compared, hits = bench.compare(filters)
    bench.check_canonical(filters)
    tap.diag(f"{len(papers)} papers, {len(filters)} filters, {compared} compared, "
             f"{hits} of them found something")
    assert hits > count, hits


def test_sample_filters(tap):
    """random filters find the same, or are refused alike, on the samples"""
    compare_on(tap, "samples", list(load_days(sample_files()).values()), 300)


def test_real_filters(tap):
    """random filters find the same, or are refused alike, on real papers"""
    papers = list(load_days(real_files()).values())
    random.Random(6).shuffle(papers)
    compare_on(tap, "real", papers[:80], 300)


def main():
    with Tap() as tap:
        for test in (
            test_plurals_of_tables, test_plurals_of_real_papers, test_examples,
            test_refusals, test_sample_filters, test_real_filters,
        ):
            tap.run(test, tap)


if __name__ == "__main__":
    main()
