#!/usr/bin/env python3
"""test_stem_agreement.py - the program folds plurals as the oracle does."""

import glob
import os
import random

import lib  # the path
from normalize import normalize
from programs import fold_words, load_days
from tap import Tap, real_files, top_srcdir
from words import IRREGULAR, NOT_PLURAL, plural_class, tokens


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
    """Words with all the endings that rules distinguish."""
    ends = """s es ies us is ss oes ches shes sses xes zzes ms ics bias physics dynamics
        ethics informatics as os 5s 5ms""".split()
    stored_messages = "aeioubcdghmnprstxyz5ü"
    for _ in range(count):
        stem = "".join(rng.choices(stored_messages, k=rng.randint(0, 5)))
        yield stem + rng.choice(ends)


def test_plurals_of_tables(tap):
    """plurals fold alike: tables, made-up words, words of the samples"""
    words = set(NOT_PLURAL) | set(IRREGULAR) | set(IRREGULAR.values())
    words |= {word + "s" for word in words} | {word + "es" for word in words}
    words |= set(made_up_words(random.Random(1), 20000))
    words |= words_of(load_days(sample_files()).values())
    tap.diag(f"{fold_alike(words)} words folded alike")


def test_plurals_of_real_papers(tap):
    """plurals fold alike: every word of the real papers"""
    words = words_of(load_days(real_files("*_papers-*")).values())
    assert len(words) > 10000
    tap.diag(f"{fold_alike(words)} words of real papers folded alike")


with Tap() as tap:
    tap.run(test_plurals_of_tables, tap)
    tap.run(test_plurals_of_real_papers, tap)
