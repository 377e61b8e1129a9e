"""archive.py - searches, backtests and commands on an archive of 100,000 papers.

Queries are the filters of made-up people, and one of each kind that is hard for an index.
The peer is FTS5's own MATCH with ORDER BY bm25(), where it can express the query; it
decides nothing else.
"""

import datetime
import json
import os
import random
import smtplib
import statistics
import subprocess
import time

from daemon import Instance
from generate import Vocabulary, generate
from harness import DAY, PAPERS, Row, Sink, call, program, real_elements
from tap import free_port, top_builddir, top_srcdir, wait_until

PAPERS_A_DAY = 400
PEOPLE = 100  # whose filters are queries
REPEATS = 3
COMMANDS = "commands@news.example"


def other_words(rng, text, words):
    """The text with every seventh word or so another one."""
    return " ".join(rng.choice(words) if rng.random() < 0.15 else word
                    for word in text.split())


def write_archive(directory, elements, count):
    """Write count papers: the elements, then copies with other words.

    PAPERS_A_DAY, or fewer in 90 days.  @return DAY FILE DAY FILE ..., the oldest first
    """
    rng = random.Random(2)
    words = [word for e in elements for word in e["paper"]["summary"].split()]
    last = datetime.date.fromisoformat(DAY)
    days = [[] for _ in range(max(90, count // PAPERS_A_DAY))]
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
        path = os.path.join(directory, f"archive-{number}.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(day, file)
        arguments += [str(last - datetime.timedelta(days=number)), path]
    return arguments


def archive_elements(options):
    """All available papers, each once; else those of the made-up day."""
    found = real_elements(os.path.join(top_srcdir(), "..", "shared", "data"))
    if options.made_up or len(found) < 4 * PAPERS:
        with open(os.path.join(options.directory, f"daily_papers-{DAY}.json"),
                  encoding="utf-8") as file:
            return json.load(file)
    return found


def query_kinds(elements, titles):
    """Kinds of queries: name, query."""
    vocabulary = Vocabulary(titles)
    words, phrases = vocabulary.words.terms, vocabulary.phrases.terms
    author = elements[0]["paper"]["authors"][0]["name"]
    return {
        words[0]: "common word",
        vocabulary.words.tail[0]: "rare word",
        f'"{phrases[0]}"': "phrase",
        " OR ".join(words[:20]): "OR of twenty words",
        f"{words[0]} OR ({words[1]} NEAR/5 {words[2]}) OR author:Wang OR =The":
            "OR of words and others",
        f"{words[0][:3]}*": "prefix",
        f"{words[0]} -{words[1]} -{words[2]}": "NOT",
        f"{words[0]} NEAR/5 {words[1]}": "NEAR",
        f'author:"{author}"': "author",
        "author:Wang": "frequent author",
        f"date:{DAY[:7]}": "date",
        "upvotes:>=100": "votes",
        "has:code": "code link",
        f"cat:cs.CL OR {words[0]}": "category OR word",
        "kw:reasoning": "keyword",
        "=The": "exact word",
        "id:9999.99999": "no match",
    }


def ask(way, store, path):
    """@return {query: ms}, the median of several runs of a file of queries"""
    times = {}
    for _ in range(REPEATS):
        done = subprocess.run([program("search_archive"), way, store, path],
                              stdout=subprocess.PIPE, text=True, check=True)
        for line in done.stdout.splitlines():
            query, milliseconds = line.split("\t")
            times.setdefault(query, []).append(float(milliseconds))
    return {query: statistics.median(all_times) for query, all_times in times.items()}


def write_queries(directory, queries):
    path = os.path.join(directory, "queries.txt")
    with open(path, "w", encoding="utf-8") as file:
        print(*queries, sep="\n", file=file)
    return path


def bench_commands(instance, directory, kinds):
    """@return {command: ms} from a mail to the end of its reply's delivery"""
    commands = ["help", "status", "list", "sources",
                *(f"{verb} {query}" for verb in ("test", "search") for query in kinds)]
    times = {}
    with Sink() as sink:
        lmtp_port = free_port()
        instance.set(smtp__port=sink.port, smtp__host="127.0.0.1", commands__address=COMMANDS,
                     web__socket=os.path.join(directory, "web"),
                     receive__parser=os.path.join(top_builddir(), "paperboy-parser"),
                     receive__lmtp_listen=f"127.0.0.1:{lmtp_port}")
        instance.add_people(len(commands), now=f"{DAY}T12:00:00Z")
        instance.change("UPDATE subscriber SET next_due_at = 2000000000")
        instance.once(f"{DAY}T12:00:00Z")  # the papers are new to the daemon
        with instance.start(now=f"{DAY}T12:00:00Z") as child:
            child.wait_port(lmtp_port)
            for number, command in enumerate(commands, 1):
                sender = f"person-{number:04}@example.org"
                start = time.monotonic()
                with smtplib.LMTP("127.0.0.1", lmtp_port) as lmtp:
                    lmtp.sendmail(sender, COMMANDS, f"From: {sender}\nTo: {COMMANDS}\n"
                                  f"Message-ID: <{sender}>\nSubject: {command}\n\n")
                wait_until(lambda: instance.rows(
                    "SELECT state FROM outbox WHERE recipient = ?",
                    sender) == [("SENT",)], command)  # pylint: disable=cell-var-from-loop
                times[command] = (time.monotonic() - start) * 1000
            child.stop()
    return times


def bench_archive(options):
    directory = os.path.join(options.directory, "archive")
    instance = Instance(directory, sources__hf__enabled=False)
    elements = archive_elements(options)
    call(program("search_archive"), "fill", instance.store,
         *write_archive(directory, elements, options.papers))
    filters = [text for person in generate(options.titles, 2 if options.quick else PEOPLE)
               for text in person["filters"]]
    kinds = query_kinds(elements, options.titles)
    people_path = write_queries(options.directory, filters)
    kinds_path = write_queries(directory, kinds)
    for way, work, median_ms, worst_ms in (("search", "search, the best 20", 25, 300),
                                           ("backtest", "filter test, 90 days", 50, 400)):
        ours = ask(way, instance.store, people_path)
        peer = ""
        if way == "search":
            theirs = ask("fts5", instance.store, people_path)
            peer = f"FTS5 {statistics.median(theirs.values()):.2f} ms"
        yield Row(f"{work} of {options.papers:,} papers, median",
                  statistics.median(ours.values()), "ms", median_ms, peer)
        ours = ask(way, instance.store, kinds_path)
        worst = max(ours, key=ours.get)
        yield Row(f"  worst kind of query: {kinds[worst]}", ours[worst], "ms", worst_ms)
    times = bench_commands(instance, directory, list(kinds)[:1 if options.quick else None])
    slowest = max(times, key=times.get)
    verb, _, query = slowest.partition(" ")
    yield Row(f"reply to a command, slowest: {verb} {kinds.get(query, '')}", times[slowest], "ms",
              500, f"median {statistics.median(times.values()):.0f} ms")
