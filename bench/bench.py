#!/usr/bin/env python3
"""bench.py - measure paperboy against its budgets, and beside its peers.

    bench.py [--quick] [--made-up] [--people N] [--crowd N] [--only NAME]...

`make bench` builds the programs of this directory and runs this.  It prints a row for
each budget: the time or size on this machine, the budget, and what SQLite, FTS5 and
smtp-source take for the same work.  A row beyond its budget is marked; only programs that
do different work are an error.
"""

import argparse
import os
import platform
import re
import sqlite3
import statistics
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tests", "lib"))
sys.path.insert(0, HERE)

from archive import bench_archive
from harness import Different, prepare_day
from idle import bench_idle
from mailing import bench_crowd, bench_mailing, bench_matching, bench_postgresql
from small import bench_small
from tap import Skip, one_line, top_builddir

PARTS = {
    "archive": bench_archive,
    "matching": bench_matching,
    "mailing": bench_mailing,
    "crowd": bench_crowd,
    "idle": bench_idle,
    "postgresql": bench_postgresql,
    "small": bench_small,
}

HEAD = f"{'work':<58}{'measured':>14}{'budget':>12}  beside"


def first_match(pattern, path):
    try:
        with open(path, encoding="utf-8") as file:
            found = re.search(pattern, file.read(), re.MULTILINE)
    except OSError:
        found = None
    return found[1].strip() if found else "?"


def sync_us(directory, count=100):
    """Median time until 4 KB more of a file are on the disk: commits wait for it."""
    times = []
    with tempfile.TemporaryFile(dir=directory) as file:
        for _ in range(count):
            start = time.monotonic()
            os.write(file.fileno(), b"x" * 4096)
            os.fdatasync(file.fileno())
            times.append(time.monotonic() - start)
    return statistics.median(times) * 1e6


def print_head(directory, papers):
    memory = int(first_match(r"^MemTotal:\s*(\d+)", "/proc/meminfo")) / 2**20
    print(f"{os.cpu_count()} x {first_match(r'^model name.*: (.*)', '/proc/cpuinfo')},"
          f" {memory:.0f} GB, Linux {platform.release().split('-')[0]},"
          f" fdatasync {sync_us(directory):.0f} us, load {os.getloadavg()[0]:.1f};"
          f" {os.environ.get('BENCH_COMPILER', '?')}, SQLite {sqlite3.sqlite_version}")
    print(f"papers: {papers}\n\n{HEAD}")


def print_row(row):
    mark = "  OVER BUDGET" if row.value > row.budget else ""
    measured = f"{row.value:.2f} {row.unit}"
    print(f"{row.work:<58}{measured:>14}{f'{row.budget:g} {row.unit}':>12}  {row.peer}{mark}",
          flush=True)


def read_options(argv):
    parser = argparse.ArgumentParser(description="Measure paperboy against its budgets.")
    parser.add_argument("--quick", action="store_true",
                        help="small and once: whether it runs, not how fast")
    parser.add_argument("--made-up", action="store_true",
                        help="made-up papers though real ones are there")
    parser.add_argument("--people", type=int, default=10000, help="of a whole mailing")
    parser.add_argument("--crowd", type=int, nargs="+", default=[100000],
                        help="people of the mailings whose memory is measured")
    parser.add_argument("--small", action="append_const", dest="only", const="small",
                        help="only a quarter of a core and 128 MB")
    parser.add_argument("--only", action="append", choices=PARTS, help="this part")
    options = parser.parse_args(argv[1:])
    options.papers, options.runs, options.idle_s = 100000, 3, 120
    if options.quick:
        options.people, options.crowd, options.papers = 200, [300], 400
        options.runs, options.idle_s = 1, 2
    return options


def main(argv):
    options = read_options(argv)
    os.umask(0o077)  # a store is opened only if it is not accessible to others
    # Not on a file system in memory, where a commit costs nothing.
    with tempfile.TemporaryDirectory(prefix="bench-", dir=top_builddir()) as directory:
        options.directory = directory
        options.titles, papers = prepare_day(directory, options.made_up)
        print_head(directory, papers)
        for name in options.only or PARTS:
            try:
                for row in PARTS[name](options):
                    print_row(row)
            except Skip as reason:
                print(f"{name}: SKIP: {one_line(reason)}")
            except Different as difference:
                print(f"bench.py: {difference}", file=sys.stderr)
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
