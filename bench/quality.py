#!/usr/bin/env python3
"""quality.py - how good key sentences, forecasts and formulas are on real papers.

quality.py [sentences] [forecasts] [formulas]: measure these, or all.  Key sentences are
compared with labels of people, beside the last sentence of the abstract.  Forecasts of
80 filters at five dates are compared with the matches of the two weeks after, counted by
the second implementation of the filter language.  Formulas are found by pandoc's rule
for dollars: what shows must have the same letters, digits and signs in the same order.

The status is 1 if a figure is worse than its goal.  Reads ../shared/data; needs
`make check TESTS=`, which builds tests/helper_query and tests/helper_tex.
"""

import collections
import csv
import datetime
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import unicodedata
import xml.etree.ElementTree as tree

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tests", "lib"))

from oracle import Paper, parse
from programs import Paperboy, helper_query, write_day
from tap import Skip, real_data, real_files, top_builddir

GAIN = 1.15  # of key sentences over last sentences


def check(is_good, what):
    """Print a figure.  @return whether it reaches its goal"""
    print(what + ("" if is_good else "  WORSE THAN ITS GOAL"), flush=True)
    return is_good


# ---- sentences ---------------------------------------------------------------


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


def measure_sentences():
    """Key sentences overlap a labelled idea or result more often than last sentences."""
    (path,) = real_files("abstract-sentences.csv")
    abstracts = load_abstracts(path)
    found = helper_query("sentence", lines=[" ".join(text.split()) for text in abstracts])
    key = sum(overlaps(text, sentence, spans) for (text, spans), sentence
              in zip(abstracts.items(), found))
    last = sum(overlaps(text, find_last(text), spans) for text, spans in abstracts.items())
    return check(key >= GAIN * last,
                 f"of {len(found)} abstracts: key sentence {key / len(found):.1%}, "
                 f"last sentence {last / len(found):.1%}, ratio {key / last:.2f}")


# ---- forecasts ---------------------------------------------------------------


ONE_DAY = datetime.timedelta(days=1)
FIRST, LAST = "2025-03-01", "2025-09-15"  # no week is missing
DATES = ("2025-03-31", "2025-05-05", "2025-06-16", "2025-07-21", "2025-09-01")
LATER_DAYS = 14
FILTERS = 80
INSIDE = 0.9

EXAMPLES = """diffusion|diffusion model|"diffusion model"|=RAG|quantiz*
    "large language model*" OR LLM|agent -survey -benchmark|title:"state space"
    title:(mamba OR ssm)|upvotes:>=20|reward NEAR/5 hacking|authors:<=3 protein
    NEAR("chain of thought" faithful*, 8)|speech^3 (recognition OR synthesis)
    ti:graph ANDNOT (ti:survey OR abs:molecule)|model|language|author:wang""".replace(
        "\n", "|").split("|")


def load_days():
    """Papers by day."""
    days = collections.defaultdict(list)
    with open(real_data("corpus-before-2025-10.jsonl"), encoding="utf-8") as file:
        for line in file:
            paper = json.loads(line)
            if FIRST <= paper["date"] <= LAST:
                paper["abstract"] = paper.pop("summary")
                days[paper["date"]].append(paper)
    return dict(sorted(days.items()))


def make_filters(days):
    """The examples, and words and phrases of real titles."""
    rand = random.Random(19)
    papers = [paper for day in days.values() for paper in day]
    filters = [text.strip() for text in EXAMPLES]
    while len(filters) < FILTERS:
        words = re.findall("[a-z]{4,}", rand.choice(papers)["title"].lower())
        if len(words) < 2:
            continue
        at = rand.randrange(len(words) - 1)
        one, two = words[at:at + 2]
        text = rand.choice((one, f"{one} {two}", f"title:{one}", f"{one} OR {two}",
                            f'"{one} {two}"'))
        if text not in filters:
            filters.append(text)
    return filters


def count_later(days, text, date):
    """Matches of each of the days after a date."""
    tree = parse(text)
    return [sum(tree.truth(paper) is True for paper in days.get(str(day), ()))
            for day in (date + number * ONE_DAY for number in range(LATER_DAYS))]


class Score:
    """How often counts were inside their intervals."""

    def __init__(self):
        self.inside = self.all = 0

    def add(self, low, count, high):
        self.inside += low <= count <= high
        self.all += 1

    def __str__(self):
        return f"{self.inside} of {self.all} ({100 * self.inside / self.all:.1f} %)"

    @property
    def share(self):
        return self.inside / self.all


def interval(rate):
    """The 90 % interval of a Poisson distribution."""
    term = total = 2.718281828459045 ** -rate
    count, low = 0, None
    while total < 0.95:
        if low is None and total >= 0.05:
            low = count
        count += 1
        term *= rate / count
        total += term
    return count if low is None else low, count


def run_forecasts(directory, days, filters):
    """@return {(date, filter): forecast}"""
    source = os.path.join(directory, "source")
    os.mkdir(source)
    paperboy = Paperboy(directory, f"file://{source}")
    found = {}
    for day, papers in days.items():
        for date in [date for date in DATES if (date, filters[0]) not in found]:
            if date <= day:
                found |= {(date, text): json.loads(paperboy.ctl(
                    "--json", "filter", "test", text,
                    now=f"{date}T00:30:00Z"))["forecast"] for text in filters}
        write_day(source, day, papers)
        paperboy.run_once(f"{day}T22:00:00Z")
    return found


def measure_forecasts():
    """For nine of ten filters the count of a later day is inside the interval."""
    days = load_days()
    filters = make_filters(days)
    with tempfile.TemporaryDirectory() as directory:
        forecasts = run_forecasts(directory, days, filters)
    ready = {day: [Paper(paper) for paper in papers] for day, papers in days.items()}
    by_day, by_filter, by_week = Score(), Score(), Score()
    said = collections.defaultdict(Score)
    for (date, text), forecast in forecasts.items():
        first = datetime.date.fromisoformat(date)
        counts = count_later(ready, text, first)
        own = Score()
        for number, count in enumerate(counts):
            weekday = (first + number * ONE_DAY).weekday()
            rate = forecast["weekdays"][weekday]
            if weekday < 5:
                own.add(interval(rate)[0], count, interval(rate)[1])
                if forecast["span"] == "day":
                    said["day"].add(forecast["low"], count, forecast["high"])
        by_day.inside += own.inside
        by_day.all += own.all
        by_filter.add(INSIDE, own.share, 1)
        for week in range(0, LATER_DAYS, 7):
            count = sum(counts[week:week + 7])
            low, high = interval(forecast["a_week"])
            by_week.add(low, count, high)
            if forecast["span"] in ("week", "rare"):
                said[forecast["span"]].add(forecast["low"], count, forecast["high"])
    print(f"{len(filters)} filters at {len(DATES)} dates, {LATER_DAYS} later days")
    # Of exact intervals and ten independent days, 74 % would have nine inside.
    print(f"filters with 90 % of the days inside: {by_filter}")
    print(f"totals of a week inside the 90 % Poisson interval: {by_week}")
    is_good = check(by_day.share >= INSIDE,
                    f"weekdays inside the 90 % Poisson interval of their weekday: {by_day}")
    for span, score in sorted(said.items()):
        is_good &= check(score.share >= INSIDE,
                         f"inside the interval that is shown, span {span}: {score}")
    return is_good


# ---- formulas ----------------------------------------------------------------


FORMULA = re.compile(
    r"\\\(.+?\\\)|\\\[.+?\\\]|\$\$[^$]+\$\$"
    r"|(?<!\\)\$(?=[^\s$])(?:[^$\\]|\\.)*?(?<=[^\s])\$(?![0-9])"
)
COMMAND = re.compile(r"\\([A-Za-z]+|.)")
# Commands of the real formulas that change the look of letters, and spacing.
NO_TEXT = re.compile(r"\\(mathcal|mathbb|mathbf|mkern-?\d+mu|left|right|[!,;: ])")
SIGNS = {"times": "×", "sqrt": "√", "pm": "±", "leq": "≤", "geq": "≥", "in": "∈",
         "sim": "∼", "approx": "≈", "to": "→", "cdot": "·", "infty": "∞", "ell": "ℓ",
         "log": "log", "max": "max", "min": "min", "circ": "∘"}
JSON_KEYS = ("title", "summary", "abstract", "ai_summary", "name", "comment")
XML_NAMES = ("title", "summary", "description", "name", "creator", "comment")


def json_texts(value):
    """All texts of a decoded document that are shown to people."""
    if isinstance(value, list):
        for item in value:
            yield from json_texts(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key in JSON_KEYS and isinstance(item, str):
                yield item
            elif key in ("authors", "ai_keywords"):
                yield from (text for text in item or [] if isinstance(text, str))
            if key not in ("submittedBy", "user"):
                yield from json_texts(item)


def all_texts():
    for path in real_files("*.json"):
        with open(path, encoding="utf-8") as file:
            yield from json_texts(json.load(file))
    for path in real_files("*.jsonl"):
        with open(path, encoding="utf-8") as file:
            for line in file:
                yield from json_texts(json.loads(line))
    for path in real_files("arxiv-*.xml"):
        if "truncated" not in path:
            for element in tree.parse(path).iter():
                if element.tag.rsplit("}")[-1] in XML_NAMES and element.text:
                    yield element.text
    for path in real_files("reviews/*.csv") + real_files("abstract-sentences.csv"):
        with open(path, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                yield from (row[key] for key in ("title", "abstract", "authors")
                            if row.get(key))


def show(texts):
    """[(stored, shown)]"""
    lines = "".join(" ".join(text.split()) + "\n" for text in texts)
    done = subprocess.run([os.path.join(top_builddir(), "tests", "helper_tex")],
                          input=lines.encode(), capture_output=True, check=True,
                          timeout=120)
    return [tuple(line.split("\t")) for line in done.stdout.decode().splitlines()]


def skeleton(text):
    """Letters, digits and signs, without type style, height and grouping."""
    plain = unicodedata.normalize("NFKC", text).replace("−", "-")
    return re.sub(r"[\s(){}]", "", plain)


def read_formula(formula):
    """The skeleton of a formula, or None if it has a command that is not known here."""
    inner = re.sub(r"^(\$\$?|\\.)|(\$\$?|\\.)$", "", formula)
    inner = NO_TEXT.sub("", inner)

    def sign(match):
        name = match[1]
        if not name.isalpha():
            return name
        if name in SIGNS:
            return SIGNS[name]
        case = "CAPITAL" if name[0].isupper() else "SMALL"
        return unicodedata.lookup(f"GREEK {case} LETTER {name.upper()}")

    try:
        return skeleton(re.sub(r"[\^_{}]", "", COMMAND.sub(sign, inner)))
    except KeyError:
        return None


def check_formulas(stored, shown):
    """@return found, left, and the converted ones that could not be compared

    A formula that is left is the same, as a whole.
    """
    before, after = FORMULA.findall(stored), FORMULA.findall(shown)
    unknown, at = 0, 0
    text = skeleton(FORMULA.sub("", shown))
    rest = list(after)
    for formula in before:
        if rest and rest[0] == formula:
            rest.pop(0)
            continue
        wanted = read_formula(formula)
        if wanted is None:
            unknown += 1
            continue
        found = text.find(wanted, at)
        assert found >= 0, (formula, wanted, shown)
        at = found + len(wanted)
    assert not rest, (rest, stored, shown)
    return len(before), len(after), unknown


def measure_formulas():
    """Real formulas show the same text, and no backslash is outside of others."""
    texts = sorted(set(all_texts()))
    found = left = unknown = backslashes = 0
    for stored, shown in show(texts):
        counts = check_formulas(stored, shown)
        found, left, unknown = (
            a + b for a, b in zip((found, left, unknown), counts))
        backslashes += "\\" in FORMULA.sub("", shown)
    return check(backslashes == 0 and unknown == 0 and left <= found / 2,
                 f"{len(texts)} texts, {found} formulas: {found - left} converted "
                 f"({unknown} not compared), {left} left; texts with a backslash outside "
                 f"of formulas: {backslashes}")


def main(names):
    measures = {"sentences": measure_sentences, "forecasts": measure_forecasts,
                "formulas": measure_formulas}
    is_good = True
    for name in names or measures:
        try:
            is_good &= measures[name]()
        except Skip as reason:
            print(f"SKIP {name}: {reason}")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
