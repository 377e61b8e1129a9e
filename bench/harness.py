"""harness.py - what the benchmarks share: running programs, input, the table, a sink."""

import collections
import glob
import json
import os
import random
import re
import shutil
import socket
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tests", "lib"))

from generate import generate
from papers import load_papers
from tap import Child, Skip, free_port, need_programs, top_builddir, top_srcdir

DAY = "2026-11-20"  # as in input.h
EARLIER = "2026-09-01"  # too old for any digest
PAPERS = 100
MADE_UP_EARLIER = 2000
ABSTRACT_WORDS = 180
HOST = "127.0.0.1"
FAR_MS = 20  # of a relay

Figure = collections.namedtuple("Figure", "wall cpu peak_kb values")


class Different(Exception):
    """Two programs that are compared have not done the same work."""


# ---- running ----------------------------------------------------------------


def program(name):
    return os.path.join(top_builddir(), "bench", name)


def read_values(output):
    return {name: float(value) for name, value in re.findall(r"(\w+)=(\S+)", output)}


def call(*arguments):
    """Run a program.  @return its results, printed as NAME=NUMBER"""
    done = subprocess.run([str(a) for a in arguments], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True, check=True)
    return read_values(done.stdout)


def figure(runs):
    """Medians of several runs."""
    values = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
    values["fastest"] = min(run["wall"] for run in runs)
    values["slowest"] = max(run["wall"] for run in runs)
    return Figure(values.pop("wall"), values.pop("cpu"), values.pop("peak_kb"), values)


def alternate(count, *calls):
    """Medians of each call; calls alternate, so that load affects all of them."""
    runs = [[one() for one in calls] for _ in range(count)]
    return [figure([run[n] for run in runs]) for n in range(len(calls))]


def scaled(figure, factor):
    """Scale to another number of repetitions."""
    return figure._replace(wall=figure.wall * factor, cpu=figure.cpu * factor)


def run_once(instance, hour):
    """One run of the daemon; an unreachable relay is not a failure.  @return as call()"""
    command = [program("timed"), *instance.once_command(f"{DAY}T{hour:02}:00:00Z")]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False)
    if done.returncode not in (0, os.EX_TEMPFAIL):
        raise Different(f"paperboyd ended with {done.returncode}")
    return read_values(done.stdout)


def same(name, *figures):
    found = {figure.values[name] for figure in figures}
    if len(found) != 1:
        raise Different(f"{name} differ: {sorted(found)}")


# ---- input ---------------------------------------------------


def real_elements(directory):
    """Elements of real days, oldest first, without duplicates."""
    seen = {}
    for path in sorted(glob.glob(os.path.join(directory, "daily_papers-????-??-??.json"))):
        with open(path, encoding="utf-8") as file:
            for element in json.load(file):
                seen.setdefault(element["paper"]["id"], element)
    return list(seen.values())


def chain(texts):
    """Followers of each word with repetition; None marks both ends of a text."""
    follows = collections.defaultdict(list)
    for text in texts:
        words = [None, *text.split(), None]
        for one, next_one in zip(words, words[1:]):
            follows[one].append(next_one)
    return follows


def walk(rng, follows, wanted):
    """A text of this number of words, each after a word that it really follows."""
    words, at = [], None
    while len(words) < wanted:
        at = rng.choice(follows[at])
        if at is not None:
            words.append(at)
    return " ".join(words)


def made_up_day(rng, samples):
    """A day of elements and earlier ones, both with words of the samples."""
    elements = [e for path in samples for e in json.load(open(path, encoding="utf-8"))]
    papers = [paper for path in samples for paper in load_papers(path)]
    titles = chain([paper["title"] for paper in papers])
    abstracts = chain([paper["abstract"] for paper in papers])
    made = []
    for number in range(PAPERS + MADE_UP_EARLIER):
        element = json.loads(json.dumps(elements[number % len(elements)]))
        element["paper"]["id"] = f"2611.{10000 + number}"
        element["paper"]["title"] = walk(rng, titles, rng.randint(6, 13))
        element["paper"]["summary"] = walk(rng, abstracts, ABSTRACT_WORDS)
        made.append(element)
    return made[:PAPERS], made[PAPERS:]


def prepare_day(directory, is_made_up):
    """Write the day. @return titles for generating filters, and a line that describes them"""
    samples = sorted(glob.glob(os.path.join(top_srcdir(), "samples", "*.json")))
    real = real_elements(os.path.join(top_srcdir(), "..", "shared", "data"))
    if is_made_up or len(real) < 4 * PAPERS:
        day, earlier = made_up_day(random.Random(1), samples)
        line = "made up from the words of samples/"
    else:
        # Subscribers have not seen this day: their filters have words of earlier ones.
        day, earlier = real[-PAPERS:], real[:-PAPERS]
        line = f"real; filters from the titles of {len(earlier)} earlier ones"
    for name, elements in ((DAY, day), (EARLIER, earlier)):
        with open(os.path.join(directory, f"daily_papers-{name}.json"), "w",
                  encoding="utf-8") as file:
            json.dump(elements, file)
    return [" ".join(e["paper"]["title"].split()) for e in earlier], line


class Store:
    """A store with this number of subscribers, and copies of it for each run."""

    def __init__(self, directory, people, titles):
        self.directory = directory
        self.people = people
        table = os.path.join(directory, f"{people}.tsv")
        with open(table, "w", encoding="utf-8") as file:
            for person in generate(titles, people):
                for number, text in enumerate(person["filters"], 1):
                    print(person["address"], person["zone"], number, text, sep="\t",
                          file=file)
        self.path = os.path.join(directory, f"{people}.db")
        self.values = call(program("fill"), self.path, directory, table)
        self.matched = os.path.join(directory, f"{people}-matched.db")
        self.made = os.path.join(directory, f"{people}-made.db")

    def remove(self):
        """Free disk space: stores can be large."""
        for name in ("", "-*"):
            for path in glob.glob(f"{self.directory}/{self.people}{name}.db*"):
                os.unlink(path)

    def copy(self, path, name):
        """A copy to write to; the previous one is removed."""
        copy = os.path.join(self.directory, f"{self.people}-{name}.db")
        for old in glob.glob(copy + "*"):
            os.unlink(old)
        return shutil.copy(path, copy)  # with its mode: a store must not be readable by others


# ---- the table --------------------------------------------------------------


HEAD = """
                                            wall                     CPU             peak MB
                                     ours  theirs   times    ours  theirs   times  ours theirs
"""


def number(value):
    """A run has a precision of three digits."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value >= 1 else f"{value:.2g}"


def print_row(what, unit, scale, ours, theirs=None, skip=None):
    """One line; scale turns seconds into the unit."""

    def times(get):
        return f"{get(theirs) / get(ours):.2g}x" if theirs else "-"

    def cells(get, form, width):
        other = form(get(theirs)) if theirs else "-"
        return f"{form(get(ours)):>{width}}{other:>{width}}"

    def timed(get):
        return cells(get, lambda value: number(value * scale), 8) + f"{times(get):>8}"

    peak = cells(lambda one: one.peak_kb, lambda kb: f"{kb / 1024:.0f}", 6)
    note = f"  SKIP: {skip}" if skip else ""
    print(f"  {what:<28} {unit:<2}{timed(lambda one: one.wall)}"
          f"{timed(lambda one: one.cpu)}{peak}{note}", flush=True)


def section(title, peer):
    print(f"\n{title}\n  beside {peer}")


# ---- the sink ----------------------------------------------------------------


class Sink:
    """smtp-sink that discards mail, on a free port.

    @param counts  a file for its counters; or None
    """

    def __init__(self, counts=None):
        self.counts = counts

    def __enter__(self):
        sink, self.source = need_programs("smtp-sink", "smtp-source")
        self.port = free_port()
        command = [sink, *(["-u", "nobody"] if os.geteuid() == 0 else [])]
        if self.counts:
            # The counters are one endless line.
            shell = 'exec >"$0" "$@"'
            command = ["/bin/sh", "-c", shell, self.counts, *command, "-c"]
        self.child = Child([*command, f"{HOST}:{self.port}", "256"], cwd="/")
        self.child.wait_port(self.port)
        return self

    def __exit__(self, *_):
        self.child.stop()

    def count(self):
        """Messages so far."""
        with open(self.counts, "rb") as file:
            file.seek(max(os.path.getsize(self.counts) - 100, 0))
            found = re.findall(rb"mesg=(\d+)", file.read())
        return int(found[-1]) if found else 0


def count_connections(count):
    return f"{count} connection{'s' if count > 1 else ''}"


class Distance:
    """A port that forwards to another one with this delay, both ways."""

    def __init__(self, port, delay_ms):
        self.port, self.to, self.delay_ms = free_port(), port, delay_ms

    def __enter__(self):
        self.child = subprocess.Popen(
            [program("distance"), str(self.port), str(self.to), str(self.delay_ms)],
            stdin=subprocess.PIPE)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            try:
                socket.create_connection((HOST, self.port)).close()
                return self
            except ConnectionRefusedError:
                time.sleep(0.01)
        raise Skip("the forwarder does not come up")

    def __exit__(self, *_):
        self.child.stdin.close()
        self.child.wait()
