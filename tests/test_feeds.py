#!/usr/bin/env python3
#
# test_feeds.py - a post of several feeds, or republished, is mailed once.

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
from daemon import Instance, at_hour, days_after, parse
from clock import DAY
from tap import Tap

ITEM = ("<item><title>{0}</title><link>{1}</link><guid isPermaLink='false'>{2}</guid>"
        "<description>A mamba is a snake.</description></item>")
FEED = ("<rss version='2.0'><channel><title>F</title>"
        "<link>https://example.org/</link>{}</channel></rss>")
LONG = "A made-up post about a snake"


class Feeds:
    """Two feeds in files, and a subscriber to all their posts."""

    def __init__(self, tap, name):
        self.directory = tap.subdirectory(name)
        self.out = os.path.join(self.directory, "out")
        self.days = 0
        self.write("lab")
        self.write("planet")
        self.instance = Instance(
            os.path.join(self.directory, "home"), maildir=self.out,
            huggingface__enabled=False, feeds__urls=" ".join(
                f"{feed}=file://{self.path(feed)}" for feed in ("lab", "planet")))
        self.run()
        self.instance.add_person("ada@example.org", now=at_hour(DAY, 8, 30), query="mamba")

    def path(self, feed):
        return os.path.join(self.directory, f"{feed}.xml")

    def write(self, feed, *items):
        """Write a feed with items (title, link, guid)."""
        with open(self.path(feed), "w", encoding="utf-8") as file:
            file.write(FEED.format("".join(ITEM.format(*item) for item in items)))

    def run(self):
        """The next day.  @return all titles mailed so far, in order"""
        self.instance.once(at_hour(days_after(DAY, self.days), 8), wanted=0)
        self.days += 1
        titles = []
        for digest in self.instance.rows("SELECT id FROM digest ORDER BY id"):
            titles += [title for (title,) in self.instance.rows(
                "SELECT p.title FROM digest_item i JOIN paper p ON p.seq = i.paper_seq"
                " WHERE i.digest_id = ? ORDER BY i.position", digest[0])]
        return titles

    def mails(self):
        directory = os.path.join(self.out, "new")
        return [parse(open(os.path.join(directory, name), "rb").read())
                for name in sorted(os.listdir(directory))]


def two_feeds(tap):
    """one link in two feeds is one paper and one mail, today and later"""
    feeds = Feeds(tap, "two")
    feeds.write("lab", (LONG, "https://example.org/post/1", "1"))
    feeds.write("planet", (f"Elsewhere: {LONG}",
                           "http://www.example.org/post/1/?utm_source=planet#top", "a"))
    assert feeds.run() == [LONG]
    before = feeds.instance.value("SELECT revision FROM paper")
    assert feeds.run() == [LONG]
    # The title does not alternate.
    assert feeds.instance.value("SELECT revision FROM paper") == before
    assert len(feeds.mails()) == 1, feeds.mails()
    # A post listed by one feed today and by the other tomorrow.
    feeds.write("planet", ("Mamba", "https://example.org/post/2", "b"))
    assert feeds.run() == [LONG, "Mamba"]
    feeds.write("lab", ("Mamba again", "https://www.example.org/post/2", "2"))
    assert feeds.run() == [LONG, "Mamba"]
    assert len(feeds.mails()) == 2, feeds.mails()


def two_titles(tap):
    """one DOI with two titles is mailed once, with the first title"""
    feeds = Feeds(tap, "titles")
    feeds.write("planet", (LONG, "https://doi.org/10.1000/x", "a"))
    assert feeds.run() == [LONG]
    feeds.write("lab", ("Another mamba", "https://dx.doi.org/10.1000/X?utm_source=x", "1"))
    assert feeds.run() == [LONG]
    before = feeds.instance.value("SELECT revision FROM paper")
    assert feeds.run() == [LONG]
    assert feeds.instance.value("SELECT revision FROM paper") == before
    # The feed that was first may correct the title.
    feeds.write("planet", ("A corrected mamba", "https://doi.org/10.1000/x", "a"))
    assert feeds.run() == ["A corrected mamba"]
    assert len(feeds.mails()) == 1, feeds.mails()


def republished(tap):
    """a post that was mailed is not mailed again under a new guid and a new link"""
    feeds = Feeds(tap, "republished")
    feeds.write("lab", (LONG, "https://example.org/post/1", "1"))
    assert feeds.run() == [LONG]
    feeds.write("lab", (LONG, "https://example.org/2026/made-up-post", "2"))
    assert feeds.run() == [LONG]
    feeds.write("lab", (LONG, "https://example.org/2026/made-up-post", "2"),
                ("Mamba", "https://example.org/post/2", "3"))
    assert feeds.run() == [LONG, "Mamba"]
    assert len(feeds.mails()) == 2, feeds.mails()


def different(tap):
    """posts that share only the title, or only the page of the feed, are distinct"""
    feeds = Feeds(tap, "different")
    feeds.write("lab", (LONG, "https://example.org/post/1", "1"))
    feeds.write("planet", (LONG, "https://example.net/post/1", "1"))
    assert feeds.run() == [LONG] * 2
    feeds.write("lab", ("Mamba 1", "https://example.org/", "2"))
    feeds.write("planet")
    feeds.run()
    feeds.write("lab", ("Mamba 2", "https://example.org/", "3"))
    assert feeds.run() == [LONG, LONG, "Mamba 1", "Mamba 2"]


with Tap() as tap:
    for test in (two_feeds, two_titles, republished, different):
        tap.run(test, tap)
