#!/usr/bin/env python3
"""test_forecast_real.py - forecasts hold on later days of real papers.

Filters are the examples of the filter language and words of real titles.  At several
dates the program forecasts them from the papers until then; the days after that date
are counted by a second implementation of the language.
"""

import collections
import datetime
import json
import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

from oracle import Paper, parse
from programs import Paperboy, write_day
from tap import Skip, Tap, real_data

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


def run_forecasts(tap, days, filters):
    """@return {(date, filter): forecast}"""
    directory = tap.subdirectory("days")
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


def test_forecasts(tap):
    """for nine of ten filters the count of a later day is inside the interval"""
    days = load_days()
    filters = make_filters(days)
    forecasts = run_forecasts(tap, days, filters)
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
    tap.diag(f"{len(filters)} filters at {len(DATES)} dates, {LATER_DAYS} later days")
    tap.diag(f"weekdays inside the 90 % Poisson interval of their weekday: {by_day}")
    # Of exact intervals and ten independent days, 74 % would have nine inside.
    tap.diag(f"filters with 90 % of the days inside: {by_filter}")
    tap.diag(f"totals of a week inside the 90 % Poisson interval: {by_week}")
    for span, score in sorted(said.items()):
        tap.diag(f"inside the interval that is shown, span {span}: {score}")
    assert by_day.share >= INSIDE
    assert all(score.share >= INSIDE for score in said.values())


def main():
    with Tap() as tap:
        try:
            real_data("corpus-before-2025-10.jsonl")
        except Skip as reason:
            tap.skip("forecasts hold on later days", reason)
            return
        tap.run(test_forecasts, tap)


if __name__ == "__main__":
    main()
