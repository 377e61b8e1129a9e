"""harness.py - what the benchmarks share: running programs, input, a sink."""

import collections
import glob
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tests", "lib"))

from generate import generate
from papers import load_papers
from tap import Child, free_port, need_programs, top_builddir, top_srcdir

DAY = "2026-11-20"  # as in input.h
EARLIER = "2026-09-01"  # too old for any digest
PAPERS = 100
MADE_UP_EARLIER = 2000
ABSTRACT_WORDS = 180
HOST = "127.0.0.1"

# A row of the table; peer tells what others take for the same work.
Row = collections.namedtuple("Row", "work value unit budget peer", defaults=("",))


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


def alternate(count, *calls):
    """Medians of the results of each call; calls alternate, so that load affects all."""
    runs = [[one() for one in calls] for _ in range(count)]
    return [{name: statistics.median(run[number][name] for run in runs)
             for name in runs[0][number]} for number in range(len(calls))]


def run_once(instance, prefix=()):
    """One run of the daemon; an unreachable relay is not a failure.  @return as call()"""
    command = [*prefix, program("timed"), *instance.once_command(f"{DAY}T12:00:00Z")]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False)
    if done.returncode not in (0, os.EX_TEMPFAIL):
        raise Different(f"paperboyd ended with {done.returncode}")
    return read_values(done.stdout)


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
        call(program("fill"), self.path, directory, table)

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
