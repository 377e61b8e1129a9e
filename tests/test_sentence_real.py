#!/usr/bin/env python3
"""test_sentence_real.py - key sentences of abstracts whose sentences people labelled."""

import csv
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

from programs import helper_query
from tap import Tap, real_files

GAIN = 1.15  # over the last sentence


def load_abstracts(path):
    """{abstract: [(start, end)]} of labelled ideas and results."""
    abstracts = {}
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            spans = abstracts.setdefault(row["abstract"], [])
            if row["label"] in ("idea", "result"):
                spans.append((int(row["start_idx"]), int(row["end_idx"])))
    return {text: spans for text, spans in abstracts.items() if spans}


def overlaps(text, sentence, spans):
    start = text.find(sentence.rstrip("…"))
    end = start + len(sentence)
    return start >= 0 and any(start < last and first < end for first, last in spans)


def find_last(text):
    """The last sentence, by a simple rule."""
    head, stop, tail = text.rstrip().rstrip(".").rpartition(". ")
    return tail if head and stop else text.rstrip()


def sentences_overlap_labels(tap):
    """key sentences overlap a labelled idea or result more often than last sentences"""
    (path,) = real_files("abstract-sentences.csv")
    abstracts = load_abstracts(path)
    lines = [" ".join(text.split()) for text in abstracts]
    found = helper_query("sentence", lines=lines)
    key = sum(overlaps(text, sentence, spans) for (text, spans), sentence
              in zip(abstracts.items(), found))
    last = sum(overlaps(text, find_last(text), spans) for text, spans in abstracts.items())
    tap.diag(f"of {len(lines)} abstracts: key sentence {key / len(lines):.1%}, "
             f"last sentence {last / len(lines):.1%}, ratio {key / last:.2f}")
    assert key >= GAIN * last, (key, last)


with Tap() as tap:
    tap.run(sentences_overlap_labels, tap)
