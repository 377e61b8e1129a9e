"""generate.py - made-up subscribers with realistic filters.

Deterministic by seed.  Each has 1 to 8 filters, 2.84 on average; kinds and weights of
words follow the table below; words come from the given titles.
"""

import itertools
import random
import re
from collections import Counter

# A truncated geometric distribution over 1..8 whose mean is 2.84.
COUNTS = range(1, 9)
COUNT_WEIGHTS = [0.7**count for count in COUNTS]

KINDS = {
    "word": 30, "phrase": 30, "and": 12, "title": 8, "or": 8, "not": 6, "prefix": 6,
}

# Origin of a random word or phrase, in per cent.
POPULAR, TAIL, MADE_UP = 64, 30, 6
POPULAR_POWER = 0.8  # weight = count ** 0.8

ZONES = (
    "UTC", "Europe/Berlin", "Europe/London", "America/New_York", "America/Los_Angeles",
    "America/Sao_Paulo", "Asia/Tokyo", "Asia/Shanghai", "Asia/Kolkata",
    "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Nairobi",
)

STOP_WORDS = frozenset(
    """a an and are as at be by can do does for from how in into is it its not of on
    or over s that the their to toward towards under up via we what when where which
    who why with without you your""".split()
)
SYLLABLES = "za ko mi rel vex qui dro pla nu tor xy bem".split()


class Vocabulary:
    """Words and phrases (two or three words) of titles, by how often they occur."""

    def __init__(self, titles):
        words, phrases = Counter(), Counter()
        for title in titles:
            row = re.findall(r"[^\W_]+", title.lower())
            words.update(w for w in row if is_topic(w))
            for size in (2, 3):
                for at in range(len(row) - size + 1):
                    part = row[at : at + size]
                    if is_topic(part[0]) and is_topic(part[-1]):
                        phrases.update([" ".join(part)])
        if not words or not phrases:
            raise ValueError("the titles hold no words to draw from")
        self.words = Urn(words)
        self.phrases = Urn(phrases)


def is_topic(word):
    is_plain = word.isascii() and word.isalpha()
    return is_plain and len(word) > 2 and word not in STOP_WORDS


class Urn:
    """Random terms: mostly popular ones, some of the tail, some made up."""

    def __init__(self, counts):
        rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
        self.terms = [term for term, _ in rows]
        self.weights = list(itertools.accumulate(n**POPULAR_POWER for _, n in rows))
        tail = [term for term, n in rows if n == rows[-1][1]]
        self.tail = tail

    def pick(self, rng):
        kind = rng.choices(("popular", "tail", "made up"), (POPULAR, TAIL, MADE_UP))[0]
        if kind == "popular":
            return rng.choices(self.terms, cum_weights=self.weights)[0]
        if kind == "tail":
            return rng.choice(self.tail)
        return "".join(rng.choice(SYLLABLES) for _ in range(4)) + "qx"


def quoted(term):
    return f'"{term}"' if " " in term else term


def random_filter(rng, vocabulary):
    """One filter as typed: (kind, text)."""

    def word():
        return vocabulary.words.pick(rng)

    def phrase():
        return quoted(vocabulary.phrases.pick(rng))

    def either():
        return phrase() if rng.random() < 0.5 else word()

    kind = rng.choices(list(KINDS), list(KINDS.values()))[0]
    if kind == "word":
        return kind, word()
    if kind == "phrase":
        return kind, phrase()
    if kind == "and":
        return kind, f"{word()} {either()}"
    if kind == "title":
        return kind, f"title:{either()}"
    if kind == "or":
        return kind, f"{either()} OR {either()}"
    if kind == "not":
        return kind, f"{either()} -{word()}"
    stem = word()
    return kind, stem[: max(3, min(6, len(stem) - 2))] + "*"


def sameness(text):
    """Equal for two filters that may be one to the program, and for some others."""
    words = re.findall(r"[^\W_]+\*?", text.lower())
    folded = (word.rstrip("es") for word in words if word not in ("or", "title"))
    return frozenset(word[:-1] + "i" if word.endswith("y") else word for word in folded)


def generate(titles, people, seed=1):
    """Subscribers as dicts {address, zone, filters: [text, ...]}, one by one."""
    vocabulary = Vocabulary(titles)
    rng = random.Random(seed)
    for number in range(1, people + 1):
        zone = rng.choice(ZONES)
        wanted = rng.choices(COUNTS, COUNT_WEIGHTS)[0]
        filters = {}
        for _ in range(wanted):
            for _ in range(20):  # no subscriber has a filter twice
                _, text = random_filter(rng, vocabulary)
                if sameness(text) not in filters:
                    filters[sameness(text)] = text
                    break
        yield {
            "address": f"person-{number:06d}@example.org",
            "zone": zone,
            "filters": list(filters.values()),
        }
