#!/usr/bin/env python3
#
# test_metrics.py - metrics are valid and correct.

import re

import lib  # the path
from daemon import Instance, at_hour
from peers import SmtpSink
from tap import Tap

DAY = "2026-11-20"
SAMPLE = re.compile(r'(paperboy_[a-z_]+)(?:\{([a-z]+)="([^"\\]*)"\})? (-?[0-9]+)')


def read(text):
    """{name or (name, label): value}; each sample must belong to its family."""
    found, family = {}, None
    for line in text.splitlines():
        if line.startswith("# HELP "):
            family = line.split()[2]
            assert not any(key[0] == family for key in found), f"{family} comes twice"
            continue
        if line.startswith("# TYPE "):
            assert line.split()[2:] in ([family, "gauge"], [family, "counter"]), line
            assert (line.endswith("counter")) == family.endswith("_total"), line
            continue
        sample = SAMPLE.fullmatch(line)
        assert sample, line
        assert sample.group(1) == family, (line, family)
        key = (family, sample.group(3))
        assert key not in found, line
        found[key] = int(sample.group(4))
    return found


def numbers_are_right(tap):
    """metrics of the store are printed with and without a daemon"""
    with SmtpSink(tap.subdirectory("sink")) as sink:
        instance = Instance(tap.subdirectory("home"), port=sink.port)
        instance.write_day(DAY, range(3))
        instance.add_people(5, now=at_hour(DAY, 6))
        instance.once(at_hour(DAY), wanted=0)
        found = read(instance.ctl("metrics", now=at_hour(DAY)))
        assert found["paperboy_up", None] == 0
        assert found["paperboy_subscribers", "active"] == 5
        assert found["paperboy_papers", None] == 3
        assert found["paperboy_messages", "new"] == 0
        assert found["paperboy_source_papers", "hf"] == 3
        assert found["paperboy_source_failing", "hf"] == 0
        assert ("paperboy_sent_total", None) not in found
        with instance.start() as child:
            child.wait_line("started")
            instance.add_person("late@example.org")
            child.wait_fact(
                lambda: read(instance.ctl("metrics"))["paperboy_subscribers", "active"] == 6,
                "the sixth")
            found = read(instance.ctl("metrics"))
            assert found["paperboy_up", None] == found["paperboy_relay_up", None] == 1
            assert found["paperboy_threads_overdue", None] == 0
            assert found["paperboy_start_time_seconds", None] > 0
            child.wait_fact(
                lambda: read(instance.ctl("metrics"))["paperboy_collects_total", None] >= 1,
                "a look at the sources")


with Tap() as tap:
    tap.run(numbers_are_right, tap)
