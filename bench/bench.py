#!/usr/bin/env python3
"""bench.py - run the benchmarks and their peers, and print one table.

`make bench` builds the programs of this directory and runs this.  Times are printed and
not checked; programs that are compared are checked to have done the same work.
"""

import argparse
import collections
import datetime
import glob
import json
import os
import platform
import random
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tests", "lib"))
sys.path.insert(0, HERE)

from daemon import Instance
from generate import Vocabulary, generate
from harness import (DAY, FAR_MS, HEAD, HOST, PAPERS, Different, Distance, Sink, Store,
                     alternate, call, count_connections, figure, number, prepare_day, print_row, program,
                     real_elements, run_once, same, scaled, section)
from idle import cpu_s, format_idle, kilobytes, measure
from instances import bench_instances
from nginx import Nginx
from store_engines import bench_engines
from tap import Child, Skip, free_port, need_programs, one_line, top_builddir, top_srcdir
from whole import bench_whole, format_mailing

BODY_BYTES = 8192
PAGE_CLIENTS = 8
MAX_DIGESTS = 100000  # subscribers; with more only matching is measured
ARCHIVE_A_DAY = 400
ARCHIVE_REPEATS = 3
STEPS = ("candidates", "blocks", "digest_rows", "messages", "plans", "commits", "others")

Sizes = collections.namedtuple(
    "Sizes",
    "runs people many subscribers composed queued sent1 sent8 far queries archive pages idle"
    " whole")
FULL = Sizes(runs=5, people=(1000, 10000), many=(100000,), subscribers=100000, composed=4000,
              queued=(10000, 100000), sent1=4000, sent8=16000, far=100, queries=100,
              archive=(12000, 100000), pages=20000, idle=600, whole=(10000,))
QUICK = Sizes(runs=1, people=(100, 200), many=(), subscribers=500, composed=200,
              queued=(200, 400), sent1=200, sent8=400, far=20, queries=10, archive=(400,),
              pages=400, idle=2, whole=(200,))


# ---- the archive's input ----------------------------------------------------


def other_words(rng, text, words):
    """The text with every seventh word or so another one."""
    return " ".join(rng.choice(words) if rng.random() < 0.15 else word
                    for word in text.split())


def write_archive(directory, elements, count, rng):
    """Write count papers: the elements, then copies with other words.

    ARCHIVE_A_DAY, or fewer in 30 days.  @return DAY FILE DAY FILE ..., the oldest first
    """
    words = [word for e in elements for word in e["paper"]["summary"].split()]
    last = datetime.date.fromisoformat(DAY)
    days = [[] for _ in range(max(30, count // ARCHIVE_A_DAY))]
    for number in range(count):
        element = elements[number % len(elements)]
        if number >= len(elements):
            element = json.loads(json.dumps(element))
            for key in ("title", "summary"):
                element["paper"][key] = other_words(rng, element["paper"][key], words)
        element["paper"]["id"] = f"{2500 + number // 10000}.{10000 + number % 10000}"
        days[number % len(days)].append(element)
    arguments = []
    for number, day in reversed(list(enumerate(days))):
        path = os.path.join(directory, f"archive-{count}-{number}.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(day, file)
        arguments += [str(last - datetime.timedelta(days=number)), path]
    return arguments


def archive_elements(directory, is_made_up):
    """All available papers, each once; else those of the made-up day."""
    found = real_elements(os.path.join(top_srcdir(), "..", "shared", "data"))
    if is_made_up or len(found) < 4 * PAPERS:
        with open(os.path.join(directory, f"daily_papers-{DAY}.json"),
                  encoding="utf-8") as file:
            return json.load(file)
    return found


def archive_kinds(elements, titles):
    """Kinds of queries: name, query, whether FTS5 can answer it."""
    vocabulary = Vocabulary(titles)
    words, phrases = vocabulary.words.terms, vocabulary.phrases.terms
    author = elements[0]["paper"]["authors"][0]["name"]
    return (
        ("common word", words[0], True),
        ("rare word", vocabulary.words.tail[0], True),
        ("phrase", f'"{phrases[0]}"', True),
        ("OR of ten words", " OR ".join(words[:10]), True),
        ("OR of twenty words", " OR ".join(words[:20]), True),
        ("OR with others", f"{words[0]} OR ({words[1]} NEAR/5 {words[2]}) OR author:Wang"
         " OR =The", False),
        ("prefix", f"{words[0][:3]}*", True),
        ("NOT", f"{words[0]} -{words[1]} -{words[2]}", True),
        ("NEAR", f"{words[0]} NEAR/5 {words[1]}", False),
        ("author", f'author:"{author}"', True),
        ("frequent author", "author:Wang", False),
        ("date", f"date:{DAY[:7]}", False),
        ("votes", "upvotes:>=100", False),
        ("code link", "has:code", False),
        ("category OR word", f"cat:cs.CL OR {words[0]}", False),
        ("keyword", "kw:reasoning", False),
        ("exact word", "=The", False),
        ("no match", "id:9999.99999", False),
    )


# ---- the benchmarks ---------------------------------------------------------


def bench_matching(store, runs):
    """Make a matched copy for the digests.  @return the results of match_run()"""
    filters = f"{store.values['filters']:,.0f}"
    ours, theirs = alternate(
        runs,
        lambda: call(program("evaluate_filters"), store.path),
        lambda: call(program("fts5"), store.path),
    )
    same("pairs", ours, theirs)
    same("sum", ours, theirs)
    print_row(f"{filters} filters, in all", "ms", 1e3, ours, theirs)

    def alone(figure):
        return figure._replace(wall=figure.values["decide_wall"],
                               cpu=figure.values["decide_cpu"])

    print_row("  decisions alone", "ms", 1e3, alone(ours), alone(theirs))
    return bench_subscribers(store, runs)


def bench_subscribers(store, runs):
    """match_run() and its peers.  @return all results"""
    saved = os.path.join(store.directory, "kept.db")

    def stored():
        for old in glob.glob(saved + "*"):
            os.unlink(old)
        return call(program("fts5"), store.path, saved)

    run, distinct_now, rows, keeping = alternate(
        runs,
        lambda: call(program("match_papers"), store.copy(store.path, "matched")),
        lambda: call(program("fts5"), store.path),
        lambda: call(program("fts5"), store.path, "rows"),
        stored,
    )
    same("pairs", run, distinct_now, rows, keeping)
    print_row(f"match_run, {store.people:,} people", "ms", 1e3, run, distinct_now)
    print_row("  FTS5: a MATCH a person's", "ms", 1e3, run, rows)
    print_row("  FTS5: distinct, stored", "ms", 1e3, run, keeping)
    floors = alternate(
        runs, *(lambda way=way: call(program("floor"), store.copy(store.path, "floor"),
                                     store.matched, way) for way in ("rows", "pairs")))
    print_row("  SQLite storing it alone", "ms", 1e3, run, floors[0])
    print_row("  ... a row for each pair", "ms", 1e3, run, floors[1])
    one = run._replace(wall=run.values["one_wall"], cpu=run.values["one_cpu"])
    print_row("  one paper; times of a day's", "ms", 1e3, one, run)
    (added,) = alternate(
        runs, lambda: call(program("add"), store.copy(store.path, "added"), 200))
    (busy,) = alternate(1, lambda: call(program("busy"), store.copy(store.path, "busy")))
    return {**run.values, "add": added.values, "busy": busy.values}


def bench_digests(store, runs):
    """@return the results of digest_build_run(), also of its steps"""
    scale = 1e3 * 1000 / store.people
    ours, paged, plain = alternate(
        runs,
        lambda: call(program("build_digests"), store.copy(store.matched, "made")),
        lambda: call(program("copy"), store.copy(store.matched, "copied"), store.made),
        lambda: call(program("copy"), store.copy(store.matched, "copied"), store.made,
                     "all"),
    )
    same("digests", ours, paged, plain)
    print_row(f"{store.people:,} people due", "ms", scale, ours, paged)
    print_row("  beside one commit for all", "ms", scale, ours, plain)
    print_row("  SQLite: pages, one commit", "ms", scale, paged, plain)
    learned = store.copy(store.matched, "learned")
    call(program("learn"), learned)
    answers, without = alternate(
        runs,
        lambda: call(program("build_digests"), store.copy(learned, "made")),
        lambda: call(program("build_digests"), store.copy(store.matched, "made")),
    )
    same("papers", answers, without)
    print_row("  all like papers; without", "ms", scale, answers, without)
    steps = call(program("build_digests"), store.copy(store.matched, "stepped"), "steps")
    return {**ours.values, "steps": steps, "likes": answers.cpu / without.cpu}


def bench_composing(store, sizes):
    """@return figures by way, and the peer's"""
    templates = os.path.join(top_srcdir(), "etc", "templates")
    ways = ("warm", "mixed", "cold")
    calls = [
        lambda way=way: call(program("compose_digests"), store.made, templates, way,
                             sizes.composed)
        for way in ways
    ]
    calls.append(lambda: call(program("mailmime"), store.made, templates, sizes.composed))
    figures = alternate(sizes.runs, *calls)
    peer = figures.pop()
    names = ("all papers cached", "as people come", "no paper cached")
    for name, one in zip(names, figures):
        scale = 1e6 / one.values["messages"]
        print_row(name, "us", scale, one,
                  scaled(peer, one.values["messages"] / sizes.composed))
    return dict(zip(ways, figures)), peer


def bench_opening(directory, sizes):
    """The whole program, compared with the sqlite3 shell."""
    (peer,) = need_programs("sqlite3")
    instance = Instance(os.path.join(directory, "opening"))
    instance.add_people(sizes.subscribers)
    ctl = os.path.join(top_builddir(), "paperboyctl")
    ours, theirs = alternate(
        sizes.runs,
        lambda: call(program("timed"), ctl, "-c", instance.config, "--now",
                     instance.clock.now(), "queue"),
        lambda: call(program("timed"), peer, instance.store, "select 1"),
    )
    print_row(f"{sizes.subscribers:,} people, queue", "ms", 1e3, ours, theirs)


def bench_archive(directory, elements, titles, count, sizes):
    """Storing, backtests and searches on count papers."""
    store = os.path.join(directory, f"archive-{count}.db")
    queries = os.path.join(directory, "queries.txt")
    with open(queries, "w", encoding="utf-8") as file:
        for person in generate(titles, sizes.queries):
            print(*person["filters"], sep="\n", file=file)
    days = write_archive(directory, elements, count, random.Random(2))
    filled = figure([call(program("search_archive"), "fill", store, *days)])
    print_row(f"{filled.values['papers']:,.0f} papers: store one", "us",
              1e6 / filled.values["papers"], filled)
    tests, searches, peer = alternate(
        sizes.runs, *(lambda way=way: call(program("search_archive"), way, store, queries)
                      for way in ("backtest", "search", "fts5")))
    scale = 1e3 / tests.values["queries"]
    print_row("  a backtest of 30 days", "ms", scale, tests)
    print_row("  a search, best 20", "ms", scale, searches, peer)
    return count, tests, searches


def print_searches(what, ours, theirs=None):
    """The first search of a process, and the mean of the later ones."""

    def split(one):
        first = one._replace(wall=one.values["first_ms"] / 1e3,
                             cpu=one.values["first_cpu_ms"] / 1e3)
        times = 1 / (ARCHIVE_REPEATS - 1)
        return first, one._replace(wall=(one.wall - first.wall) * times,
                                   cpu=(one.cpu - first.cpu) * times)

    rows = zip((what, "    later ones"), split(ours), split(theirs) if theirs else (None, None))
    for label, *figures in rows:
        print_row(label, "ms", 1e3, *figures)


def bench_archive_kinds(directory, elements, titles, count, sizes):
    """Searches and backtests by kind, in the store of bench_archive()."""
    store = os.path.join(directory, f"archive-{count}.db")
    path = os.path.join(directory, "query.txt")
    for name, query, is_fts5 in archive_kinds(elements, titles):
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"{query}\n" * ARCHIVE_REPEATS)
        tests, searches, *peer = alternate(
            sizes.runs, *(lambda way=way: call(program("search_archive"), way, store, path)
                          for way in ("backtest", "search", "fts5")[:2 + is_fts5]))
        print_searches(f"  search: {name}", searches, *peer)
        print_searches("    backtest", tests)


def bench_sending(sink, connections, count, sizes):
    ours, theirs = alternate(
        sizes.runs,
        lambda: call(program("send"), sink.port, connections, count, BODY_BYTES),
        lambda: call(program("timed"), sink.source, "-d", "-s", connections, "-m", count,
                     "-l", BODY_BYTES, "-f", "paperboy@papers.example.org",
                     "-t", "person@example.org", f"{HOST}:{sink.port}"),
    )
    print_row(count_connections(connections), "us", 1e6 / count, ours, theirs)
    return connections, [count / one.wall for one in (ours, theirs)], ours, count


def bench_sizes(sink, count, sizes):
    """Sizes at which a delayed acknowledgement would cost 40 ms for each message."""
    for size in (7, 8, 9, 20, 100):
        ours = figure([call(program("send"), sink.port, 1, count, size * 1024)])
        print_row(f"1 connection, {size} KB", "us", 1e6 / count, ours)


# A process and a connection for each message, as scripts do it.
BY_MSMTP = """
n=0
while [ $n -lt "$3" ]; do
	"$1" --host=%s --port="$2" --auth=off --tls=off --file=/dev/null \\
		-f "b-$n@papers.example.org" "person-$n@example.org" <"$4" || exit 1
	n=$((n + 1))
done
""" % HOST


def bench_msmtp(directory, far, ours, sizes):
    """@param ours of one reused connection @return messages a second"""
    shell, msmtp = need_programs("sh", "msmtp")
    count = max(sizes.far // 10, 2)
    message = os.path.join(directory, "message")
    with open(message, "w", encoding="ascii", newline="") as file:
        file.write("Subject: x\r\n\r\n" + ("x" * 70 + "\r\n") * (BODY_BYTES // 72))
    theirs = figure([call(program("timed"), shell, "-c", BY_MSMTP, "sh", msmtp, far.port,
                          count, message)])
    print_row("1 connection, beside msmtp", "us", 1e6 / sizes.far, ours,
              scaled(theirs, sizes.far / count))
    return count / theirs.wall


def bench_far(directory, sink, sizes):
    """A round trip of 20 ms, beside libcurl's easy interface in threads."""
    rates = []
    with Distance(sink.port, FAR_MS / 2) as far:
        for connections in (1, 8, 50):
            count = sizes.far * connections
            ours, theirs = alternate(
                min(sizes.runs, 3),
                *(lambda name=name: call(program(name), far.port, connections, count,
                                         BODY_BYTES) for name in ("send", "curlsend")))
            print_row(count_connections(connections), "us", 1e6 / count, ours, theirs)
            rates.append((connections, count / ours.wall, "libcurl", count / theirs.wall))
            if connections > 1:
                continue
            try:
                rates.append((connections, count / ours.wall, "msmtp",
                              bench_msmtp(directory, far, ours, sizes)))
            except Skip as reason:
                print(f"  SKIP: {one_line(reason)}")
    return rates


def bytes_of(directory):
    """Size of a store on disk with its log."""
    return sum(os.path.getsize(path) for path in glob.glob(os.path.join(directory, "*.db*")))


def bench_queue(directory, sink, count):
    """The relay is down while this number of digests is built, then up again."""
    instance = Instance(os.path.join(directory, f"queue-{count}"), port=1, log_level="warning",
                  smtp__connections=8)
    instance.write_day(DAY, range(3))
    instance.add_people(count, now=f"{DAY}T06:00:00Z")
    empty = bytes_of(instance.state)
    made = figure([run_once(instance, 9)])
    queued = bytes_of(instance.state)
    instance.set(smtp__port=sink.port)
    drained = figure([run_once(instance, 12)])
    sent = bytes_of(instance.state)
    if instance.states() != {"SENT": count}:
        raise Different(f"the queue came to {instance.states()}")
    print_row(f"{count:,} digests made", "us", 1e6 / count, made)
    print_row("  and sent, 8 connections", "us", 1e6 / count, drained)
    return (f"a queue of {count:,} digests takes {(queued - empty) / count:,.0f} bytes a"
            f" digest, {(sent - empty) / count:,.0f} when they are sent; drained in"
            f" {drained.wall:.1f} s ({count / drained.wall:,.0f}/s) with"
            f" {drained.peak_kb / 1024:.0f} MB")


NGINX = """
    server {{
        listen {host}:{port};
        access_log off;
        root {directory};
        default_type text/html;
    }}
"""


def bench_page(port, path, count, pids):
    """Request a page; CPU and memory are those of the servers."""
    before = sum(map(cpu_s, pids))
    values = call(program("httpget"), port, PAGE_CLIENTS, count, path)
    values["cpu"] = sum(map(cpu_s, pids)) - before
    values["peak_kb"] = sum(kilobytes(pid, "VmHWM") for pid in pids)
    return values


def fetch(port, path):
    """The body of a page."""
    with urllib.request.urlopen(f"http://{HOST}:{port}{path}") as response:
        return response.read()


def worker_pids(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(child) for child in file.read().split()]


def bench_web(directory, sizes):
    """Pages of paperboy-web and paperboyd, beside files of the same size."""
    need_programs("nginx")
    place = os.path.join(directory, "web")
    instance = Instance(place, port=1, commands__address="commands@news.example",
                        web__url="https://papers.example.org",
                        web__listen=f"{HOST}:{free_port()}",
                        web__socket=os.path.join(place, "daemon"))
    port = int(instance.settings["web.listen"].rpartition(":")[2])
    files = os.path.join(place, "files")
    os.makedirs(files)
    for path in (directory, place):
        os.chmod(path, 0o711)  # nginx runs as another user
    server = os.path.join(top_builddir(), "paperboy-web")
    with instance.start() as daemon, Child([server, "-c", instance.config]) as web:
        daemon.wait_file(instance.settings["web.socket"])
        web.wait_line("started")
        for name, path in (("health", "/healthz"), ("page", "/")):
            with open(os.path.join(files, name), "wb") as file:
                file.write(fetch(port, path))
            os.chmod(file.name, 0o644)
        os.chmod(files, 0o755)
        block = NGINX.format(host=HOST, port=free_port(), directory=files)
        peer = int(re.search(r":(\d+);", block)[1])
        with Nginx(place, block, peer) as nginx:
            pids = worker_pids(nginx.child.pid)
            for what, path, name in (("/healthz", "/healthz", "health"),
                                     ("the page /", "/", "page")):
                ours, theirs = alternate(
                    sizes.runs,
                    lambda: bench_page(port, path, sizes.pages, [daemon.pid, web.pid]),
                    lambda: bench_page(peer, f"/{name}", sizes.pages, pids))
                same("pages", ours, theirs)
                print_row(what, "us", 1e6 / sizes.pages, ours, theirs)
                yield what, [sizes.pages / one.wall for one in (ours, theirs)]


# ---- head and body ----------------------------------------------------------


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


def print_head(directory, line, sizes):
    memory = int(first_match(r"^MemTotal:\s*(\d+)", "/proc/meminfo")) / 2**20
    print(f"Machine: {os.cpu_count()} x {first_match(r'^model name.*: (.*)', '/proc/cpuinfo')},"
          f" {memory:.0f} GB, Linux {platform.release().split('-')[0]},"
          f" fdatasync {sync_us(directory):.0f} us")
    print(f"Built:   {os.environ.get('BENCH_COMPILER', '?')}; SQLite"
          f" {sqlite3.sqlite_version}; {time.strftime('%Y-%m-%d')}")
    print(f"Papers:  {PAPERS}, {line}")
    print(f"Medians of {sizes.runs} run{'s' if sizes.runs > 1 else ''}, ours and theirs in"
          " turn; times: theirs / ours, so 2x is twice as fast.")


def run_whole(directory, titles, sizes, is_quick):
    """@return of Mailing"""
    section("Whole mailings, from papers to the last 250: paperboyd --once",
            "SQLite writing their rows in one commit, then smtp-source sending as many"
            " messages of the\n  same sizes; building beside the same rows in commits for 25"
            " people; medians of 3 runs at most")
    try:
        return [bench_whole(directory, titles, people, is_quick)
                for people in sizes.whole]
    except Skip as reason:
        print(f"  SKIP: {one_line(reason)}")
        return []


def print_whole(mailings):
    for mailing in mailings:
        for line in format_mailing(mailing):
            print(f"  {line}")


def run_engines(directory, titles, sizes):
    section("Stores on PostgreSQL with its default durability; CPU time has the server's",
            "SQLite")
    try:
        for people in sizes:
            store = Store(directory, people, titles)
            call(program("match_papers"), store.copy(store.path, "matched"), "day")
            bench_engines(directory, store)
            store.remove()
    except Skip as reason:
        print(f"  SKIP: {one_line(reason)}")


def run_all(directory, options, sizes):
    titles, line = prepare_day(directory, options.made_up)
    print_head(directory, line, sizes)
    print(HEAD, end="")
    if options.instances:
        section("Sending from PostgreSQL to smtp-sink", "SQLite")
        for people in sizes.whole:
            bench_instances(directory, titles, people, sizes.runs)
        return
    if options.engines:
        run_engines(directory, titles, options.people or sizes.people)
        return
    mailings = run_whole(directory, titles, sizes, options.quick)
    if options.whole:
        print("\nIn numbers")
        print_whole(mailings)
        return
    stores = [Store(directory, people, titles) for people in sizes.people]

    section("Matching a day of papers",
            "FTS5 in memory, one MATCH a distinct filter where nothing else is said;"
            " match_run stores")
    matched = [(store, bench_matching(store, sizes.runs)) for store in stores]
    made = []
    for people in sizes.many:
        store = Store(directory, people, titles)
        matched.append((store, bench_subscribers(store, min(sizes.runs, 2))))
        if people <= MAX_DIGESTS:
            stores.append(store)
        else:
            store.remove()

    section("Editions, per 1,000 people: from matches to committed outbox rows",
            "SQLite alone writing the same rows by as many commits, or by one")
    for store in stores:
        made.append((store, bench_digests(
            store, sizes.runs if store.people in sizes.people else min(sizes.runs, 2))))

    section("Opening a store, whole programs: paperboyctl queue",
            "sqlite3 FILE 'select 1'")
    try:
        bench_opening(directory, sizes)
    except Skip as reason:
        print(f"  SKIP: {one_line(reason)}")

    section("Composing a digest of 5 papers",
            "libetpan's mailmime, which is given both parts as finished texts")
    composed, peer = bench_composing(stores[len(sizes.people) - 1], sizes)

    section(f"Sending a message of {BODY_BYTES // 1024} KB to smtp-sink",
            "smtp-source -d -s CONNECTIONS")
    rates, far_rates = [], []
    try:
        with Sink() as sink:
            rates.append(bench_sending(sink, 1, sizes.sent1, sizes))
            rates.append(bench_sending(sink, 8, sizes.sent8, sizes))
            bench_sizes(sink, sizes.sent1, sizes)
            section(f"The same, {FAR_MS} ms of round trip away",
                    "libcurl's easy SMTP, a thread a connection, or what is named")
            far_rates = bench_far(directory, sink, sizes)
    except Skip as reason:
        print(f"  SKIP: {one_line(reason)}")

    section("A queue after the relay was away, each message with 3 papers", "nothing")
    queues = []
    try:
        with Sink() as sink:
            queues = [bench_queue(directory, sink, count) for count in sizes.queued]
    except Skip as reason:
        print(f"  SKIP: {one_line(reason)}")

    section("The archive: filters tested on 30 days, and searched for",
            "FTS5's own MATCH ... ORDER BY bm25(), which decides nothing else")
    elements = archive_elements(directory, options.made_up)
    archives = [bench_archive(directory, elements, titles, count, sizes)
                for count in sizes.archive]
    bench_archive_kinds(directory, elements, titles, sizes.archive[-1], sizes)

    section(f"The web page, {PAGE_CLIENTS} clients, a connection for each request",
            "nginx, one worker, serving the same bytes from a file")
    pages = []
    try:
        pages = list(bench_web(directory, sizes))
    except Skip as reason:
        print(f"  SKIP: {one_line(reason)}")

    idle_directory = os.path.join(directory, "idle")
    os.makedirs(idle_directory)
    idle = measure(idle_directory, sizes.subscribers, sizes.idle)

    print("\nIn numbers")
    print_whole(mailings)
    for store, values in matched:
        pairs = store.values["filters"] * store.values["papers"]
        print(f"  {store.people:,} people: of {pairs:,.0f} pairs of filter and paper"
              f" {values['shown']:,.0f} are left to the evaluator, {values['pairs']:,.0f} match")
        print(f"    {values['read']:,.0f} filters read, {values['written']:,.0f} rows written;"
              f" {values['pages_read']:,.0f} pages read, {values['pages_written']:,.0f} written;"
              f" a filter more is in force after {values['add']['median_ms']:.2f} ms"
              f" (at most {values['add']['longest_ms']:.2f})")
        steps = ("match", "digest_build", "maintenance")
        locks = "/".join(f"{values['busy'][step + '_ms']:.0f}" for step in steps)
        cpu = "/".join(f"{values['busy'][step + '_cpu_ms']:.0f}" for step in steps)
        mail_waits = "/".join(f"{values['busy'][step + '_mail_ms']:.0f}" for step in steps)
        print(f"    matching/digests/maintenance hold the lock for at most {locks} ms"
              f" ({cpu} of CPU); {values['busy']['mails']:,.0f} mails arrive meanwhile,"
              f" and wait for at most {mail_waits} ms")
    for count, tests, searches in archives:
        print(f"  {count:,} papers: {tests.values['queries']:,.0f} filters find"
              f" {tests.values['found'] / tests.values['queries']:,.0f} papers each; the"
              f" slowest test {tests.values['longest_ms']:.1f} ms, the slowest search"
              f" {searches.values['longest_ms']:.1f} ms")
    for store, values in made:
        print(f"  {store.people:,} people, {store.values['filters']:,.0f} distinct filters:"
              f" {values['digests']:,.0f} digests with {values['papers']:,.0f} papers")
        steps = values["steps"]
        named = {name: steps[name] for name in STEPS}
        print(f"    of {steps['wall']:.2f} s: "
              + ", ".join(f"{name} {value:.2f}" for name, value in named.items())
              + f", planning and explaining {steps['wall'] - sum(named.values()):.2f};"
              f" {values['likes']:.3f} times the CPU time if everybody likes papers")
    for what, one in composed.items():
        count = one.values["messages"]
        print(f"  a digest composed {what}: {one.wall * 1e6 / count:.1f} us, of which"
              f" {one.values['copy_wall'] * 1e6 / count:.1f} us would be a copy of its bytes"
              + (f"; its rows {one.values['load_wall'] * 1e6 / count:.1f} us before"
                 if one.values["load_wall"] else ""))
    for line in queues:
        print(f"  {line}")
    print(f"  a composed digest has {composed['warm'].values['bytes']:,.0f} bytes"
          + f", libetpan's {peer.values['bytes']:,.0f}")
    for connections, (ours, theirs), figure, count in rates:
        print(f"  {connections} connection(s): {ours:,.0f} messages/s"
              f" ({count / figure.values['slowest']:,.0f} to"
              f" {count / figure.values['fastest']:,.0f}), smtp-source {theirs:,.0f};"
              f" {figure.cpu / count * 1e6:,.0f} us of CPU a message")
    for what, (ours, theirs) in pages:
        print(f"  {what}: {ours:,.0f} requests/s, nginx {theirs:,.0f}"
              f" ({ours / theirs:.2f} of that)")
    print(format_idle(idle))
    for connections, ours, whose, theirs in far_rates:
        print(f"  {connections} connection(s), {FAR_MS} ms away: {ours:,.0f} messages/s,"
              f" {whose} {theirs:,.0f}, which is {ours / theirs:.1f} times")


def main(argv):
    parser = argparse.ArgumentParser(description="Compare paperboy with its peers.")
    parser.add_argument("--quick", action="store_true",
                        help="small and once: whether it runs, not how fast")
    parser.add_argument("--made-up", action="store_true",
                        help="made-up papers though real ones are there")
    parser.add_argument("--whole", action="store_true", help="whole mailings only")
    parser.add_argument("--instances", action="store_true",
                        help="sending from PostgreSQL, and by two machines, only")
    parser.add_argument("--engines", action="store_true",
                        help="matching and building on PostgreSQL only")
    parser.add_argument("--people", type=int, nargs="+",
                        help="sizes of the whole mailings or engines, instead of 10000")
    parser.add_argument("--million", action="store_true",
                        help="match for a million people too: many minutes")
    options = parser.parse_args(argv[1:])
    os.umask(0o077)  # a store is opened only if it is not accessible to others
    # Not on a file system in memory, where a commit costs nothing.
    with tempfile.TemporaryDirectory(prefix="bench-", dir=top_builddir()) as directory:
        try:
            sizes = QUICK if options.quick else FULL
            if options.people:
                sizes = sizes._replace(whole=options.people)
            if options.million:
                sizes = sizes._replace(many=(*sizes.many, 1000000))
            run_all(directory, options, sizes)
        except Different as difference:
            print(f"bench.py: {difference}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
