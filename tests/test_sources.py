#!/usr/bin/env python3
"""test_sources.py - a source of each kind that does not work is named to everybody.

It refuses connections, answers with an error, with something else than a list, or too
slowly: status, the digest and the alert name it, and papers of the others are mailed.
"""

import itertools
import os
import subprocess
import sys

import lib  # the path
from daemon import Instance, at_hour, days_after, parse
from clock import DAY
from peers import Child, free_port, write
from tap import Tap, top_srcdir

# Options of each kind besides the URL, and its name in digests.
KINDS = {
    "huggingface": ({}, "huggingface"),
    "arxiv": ({"categories": ["cs.CL"], "request_interval_s": 0}, "arXiv cs.CL"),
    "biorxiv": ({"request_interval_s": 0}, "biorxiv"),
    "medrxiv": ({"request_interval_s": 0}, "medrxiv"),
    "europepmc": ({"query": "asthma", "request_interval_s": 0}, "europepmc"),
    "crossref": ({"issn": "0092-8674", "request_interval_s": 0}, "crossref"),
    "feed": ({}, "feed"),
}
FEED = ("<rss version='2.0'><channel><title>F</title><link>https://example.org/</link>"
        "<item><title>A made-up mamba {0}</title><link>https://example.org/{0}</link>"
        "<guid>{0}</guid></item></channel></rss>")


def texts_of(directory):
    """Subjects and texts of the mails in a Maildir, by recipient."""
    mails = {}
    new = os.path.join(directory, "new")
    for name in sorted(os.listdir(new)):
        with open(os.path.join(new, name), "rb") as file:
            mail = parse(file.read())
        text = f"{mail['Subject']}\n{mail.get_body(('plain',)).get_content()}"
        mails.setdefault(mail["To"].addresses[0].addr_spec, []).append(
            " ".join(text.split()))
    return mails


def check_fault(tap, fault, urls, said):
    """@param urls  of the sources, in turn  @param said  part of an error in the status"""
    directory = tap.subdirectory(fault)
    good = os.path.join(directory, "good.xml")
    sources = {f"sources__{kind}__{option}": value
               for (kind, (options, _)), url in zip(KINDS.items(), itertools.cycle(urls))
               for option, value in {"kind": kind, "url": url, **options}.items()}
    instance = Instance(
        os.path.join(directory, "home"), maildir=os.path.join(directory, "out"),
        mail__alerts=True, collect__timeout_s=1, sources__hf__enabled=False, sources__good__kind="feed",
        sources__good__url=f"file://{good}", **sources)
    write(good, FEED.format(0))
    instance.once(at_hour(DAY, 7))
    instance.add_person("ada@example.org", now=at_hour(DAY, 8, 30), query="mamba")
    for day in range(1, 3):
        write(good, FEED.format(day))
        instance.once(at_hour(days_after(DAY, day), 9))
    status = instance.ctl("status", wanted=(0, 1, 2), now=at_hour(days_after(DAY, 2), 9, 30))
    with instance.start(now=at_hour(days_after(DAY, 2), 10)) as child:
        child.wait_line("alert sent")
        assert child.stop() == 0
    instance.once(at_hour(days_after(DAY, 2), 11))
    mails = texts_of(os.path.join(directory, "out"))
    digests, alerts = mails["ada@example.org"], "".join(mails["owner@news.example"])
    assert len(digests) == 2, digests
    for kind, (_, label) in KINDS.items():
        source = kind.replace("arxiv", "arxiv/cs.CL")
        assert f"source {source} FAILED at 2026-11-22 09:00 UTC: " in " ".join(
            status.split()), status
        assert all(f"{label} has not answered since Friday" in text
                   for text in digests), digests
        assert f"source {source} fails" in alerts, alerts
    assert said in status, status
    assert all("good: 1 new paper checked" in text for text in digests), digests


def offline(tap):
    """sources that refuse connections"""
    check_fault(tap, "offline", [f"http://127.0.0.1:{free_port()}"], "cannot fetch from")


def wrong(tap):
    """sources that answer with an error, a page, half of a list, nothing or too slowly"""
    server = tap.enter(Child([sys.executable, "-B", os.path.join(
        top_srcdir(), "tests", "lib", "paperserver.py")], stdin=subprocess.PIPE))
    port = server.wait_line(r"^port (\d+)")[1]
    for modes, said in (("503", "status 503"), ("429", "status 429"),
                        ("html", "invalid JSON: line 1, column 1"),
                        ("cut", "invalid JSON: line 1, column"),
                        ("bytes-0", "answered without a list"),
                        ("drip hang", "timed out after 1")):
        check_fault(tap, modes, [f"http://127.0.0.1:{port}/{mode}"
                                 for mode in modes.split()], said)


with Tap() as tap:
    for test in (offline, wrong):
        tap.run(test, tap)
