#!/usr/bin/env python3
"""test_many_subscribers.py - many subscribers get exactly their papers of a day.

PAPERBOY_LONG=1: 300, else 90.
"""

import collections
import glob
import os
import random
import time

import lib  # the path
import messages
from generate import Vocabulary, generate
from normalize import normalize
from oracle import match_all
from peers import DOMAIN, Ca, Dovecot, Postfix, SmtpSink
from programs import FROM, Paperboy, as_sent, load_days
from tap import IS_LONG, Skip, Tap, read, real_data, top_srcdir

PEOPLE = 300 if IS_LONG else 90
REAL_DAY = "2026-05-13"
MAX_FULL = 5  # so that many digests list papers by title too

Delivered = collections.namedtuple("Delivered", "recipient raw")


def other_filters(rng, papers, vocabulary):
    """Filters that use more than words of titles."""
    word, phrase = vocabulary.words.pick, vocabulary.phrases.pick
    author = normalize(rng.choice(rng.choice(papers)["authors"]))
    given, _, last = author.rpartition(" ")
    yield f'author:"{author}" OR au:{last}'
    yield f'author:"{last}, {given[:1]}." OR title:{word(rng)}'
    yield f"upvotes:>={rng.randint(1, 80)} {word(rng)}"
    yield f"({word(rng)} OR {word(rng)}) -upvotes:>{rng.randint(1, 80)}"
    yield f"abs:({word(rng)} {word(rng)}) | ti:({word(rng)} OR {word(rng)[:4]}*)"
    yield f'"{phrase(rng)}*" ANDNOT {word(rng)}'
    yield f"{word(rng)} !({word(rng)} | abstract:{word(rng)}) NOT ti:\"{phrase(rng)}\""
    yield f"{phrase(rng).replace(' ', '-')} OR upvotes:{rng.randint(1, 50)}"


def make_people(papers):
    """Made-up subscribers; one in three has another kind of filter, too."""
    rng = random.Random(11)
    vocabulary = Vocabulary([paper["title"] for paper in papers])
    people = list(generate([paper["title"] for paper in papers], PEOPLE, seed=11))
    for person in people[::3]:
        others = list(other_filters(rng, papers, vocabulary))
        person["filters"].append(rng.choice(others))
    return people


class Subscribers:
    """Subscribers in a store, and the papers that each should get."""

    def __init__(self, directory):
        self.directory = directory
        self.is_real = True
        try:
            real_data(f"daily_papers-{REAL_DAY}.json")
            self.source = os.path.join(top_srcdir(), "..", "shared", "data")
            self.now = f"{REAL_DAY}T09:00:00Z"
            wanted = f"daily_papers-{REAL_DAY}.json"
        except Skip:
            self.is_real = False
            self.source = os.path.join(top_srcdir(), "samples")
            self.now = "2026-11-20T18:00:00Z"
            wanted = "daily_papers-*.json"
        paths = glob.glob(os.path.join(self.source, wanted))
        # A first digest also covers the days before.
        self.papers = list(load_days(sorted(self.earlier(paths))).values())
        self.people = make_people(self.papers)
        self.paperboy = Paperboy(directory, self.url)
        self.wanted = {}

    @property
    def early(self):
        return f"{self.now[:11]}06:00:00Z"

    def earlier(self, paths):
        """All files of the four days that a first digest covers."""
        days = os.path.join(self.source, f"daily_papers-{self.now[:8]}??.json")
        first = int(self.now[8:10]) - 3
        return {path for path in glob.glob(days) + paths
                if first <= int(path[-7:-5]) <= int(self.now[8:10])}

    @property
    def url(self):
        return "file://" + os.path.abspath(self.source)

    def fill(self):
        for person in self.people:
            # Earlier, since the clock advances while a program runs.
            self.paperboy.add(person["address"], person["filters"], now=self.early,
                              zone=person["zone"], max=MAX_FULL)

    def compute_expected(self):
        """Compute the papers of each address with the oracle."""
        texts = sorted({text for person in self.people for text in person["filters"]})
        found = dict(zip(texts, map(set, match_all(texts, self.papers))))
        for person in self.people:
            ids = set().union(*(found[text] for text in person["filters"]))
            if ids:
                self.wanted[person["address"]] = sorted(ids)
        return texts

    def send_by(self, name, relay):
        """Send from a copy of the store through a relay.  @return (paperboy, seconds)"""
        directory = os.path.join(self.directory, name)
        os.mkdir(directory)
        paperboy = Paperboy(directory, self.url, relay=relay, connections=4)
        paperboy.take_state(self.paperboy)
        paperboy.run_once(self.now)
        return paperboy, paperboy.seconds[-1]

    def check(self, mails):
        """Check all mails.  @return total number of papers"""
        got = collections.Counter(mail.recipient for mail in mails)
        assert max(got.values()) == 1, got.most_common(3)
        wrong = sorted(set(got) ^ set(self.wanted))
        assert not wrong, f"{len(wrong)} people, such as {wrong[:5]}"
        papers, ids = 0, set()
        for mail in mails:
            problems = messages.check(mail.raw, messages.DIGEST)
            assert not problems, (mail.recipient, problems)
            message = messages.parse(mail.raw)
            assert str(message["To"]) == mail.recipient, (mail.recipient, message["To"])
            ids.add(str(message["Message-ID"]))
            found = sorted(messages.paper_ids(mail.raw))
            assert found == self.wanted[mail.recipient], (
                mail.recipient, set(found) ^ set(self.wanted[mail.recipient]))
            papers += len(found)
        assert len(ids) == len(mails)
        return papers


def check_store(paperboy, subscribers):
    """The store records the same deliveries."""
    states = paperboy.rows("SELECT state, count(*) FROM outbox GROUP BY state")
    assert states == [("SENT", len(subscribers.wanted))], states
    rows = paperboy.rows(
        "SELECT address, p.id FROM delivered_paper d JOIN subscriber s ON s.id = d.subscriber_id"
        " JOIN paper p ON p.seq = paper_seq")
    delivered = collections.defaultdict(list)
    for address, name in rows:
        delivered[address].append(name)
    assert {address: sorted(ids) for address, ids in delivered.items()} == subscribers.wanted


def test_real_day(subscribers):
    """the day has real papers"""
    if not subscribers.is_real:
        real_data(f"daily_papers-{REAL_DAY}.json")


def test_subscribing(tap, subscribers):
    """subscribers are added by paperboyctl"""
    begin = time.monotonic()
    subscribers.fill()
    seconds = time.monotonic() - begin
    (count,) = subscribers.paperboy.rows("SELECT count(*) FROM subscriber")[0]
    assert count == PEOPLE
    begin = time.monotonic()
    texts = subscribers.compute_expected()
    typed = sum(len(person["filters"]) for person in subscribers.people)
    (saved,) = subscribers.paperboy.rows("SELECT count(*) FROM subscription")[0]
    (distinct,) = subscribers.paperboy.rows("SELECT count(*) FROM filter")[0]
    tap.diag(f"{PEOPLE} people added in {seconds:.1f} s; {typed} filters, {len(texts)} "
             f"texts, {distinct} in canonical form")
    tap.diag(f"{len(subscribers.papers)} papers; the oracle took "
             f"{time.monotonic() - begin:.1f} s: {len(subscribers.wanted)} people have "
             f"{sum(map(len, subscribers.wanted.values()))} papers")
    assert saved == typed and distinct <= len(texts)
    assert PEOPLE // 2 < len(subscribers.wanted) < PEOPLE


def test_sink(tap, subscribers):
    """smtp-sink over four connections: all get exactly their papers"""
    with SmtpSink(tap.subdirectory("sink")) as sink:
        paperboy, seconds = subscribers.send_by("by-sink", sink.port)
        sunk = sink.wait_messages(paperboy.count_sent())
        count = len(sunk)
        # No digest is due an hour later, nor after the next morning in all zones.
        hour = subscribers.now.replace(":00:00Z", ":59:00Z")
        morrow = f"{subscribers.now[:8]}{int(subscribers.now[8:10]) + 1:02d}T20:00:00Z"
        for now in (hour, morrow):
            paperboy.run_once(now)
        assert len(sink.messages()) == count
    for mail in sunk:
        assert len(mail.recipients) == 1 and mail.sender == FROM, mail.recipients
    papers = subscribers.check([Delivered(mail.recipients[0], mail.raw) for mail in sunk])
    check_store(paperboy, subscribers)
    content = sum(len(mail.raw) for mail in sunk)
    tap.diag(f"{count} messages, {papers} papers, {content >> 10} KiB in {seconds:.2f} s")


def read_maildirs(dovecot):
    """All messages in all mailboxes."""
    found = []
    for path in glob.glob(os.path.join(dovecot.directory, "mail", "*", "*", "*", "*")):
        parts = path.split(os.sep)
        if parts[-2] not in ("new", "cur", "tmp"):
            continue
        assert parts[-2] == "new", path
        found.append(Delivered(f"{parts[-3]}@{parts[-4]}", as_sent(read(path))))
    return found


def test_postfix(tap, subscribers):
    """Postfix and Dovecot: all find exactly their papers in the mailbox"""
    ca = Ca(tap.subdirectory("ca"))
    with Dovecot(tap.subdirectory("dovecot"), ca) as dovecot:
        postfix = Postfix(tap.subdirectory("postfix"), ca, lmtp=dovecot.lmtp)
        with postfix:
            begin = time.monotonic()
            paperboy, seconds = subscribers.send_by("by-postfix", postfix.port)
            postfix.wait_sent(len(subscribers.wanted))
            whole = time.monotonic() - begin
        mails = read_maildirs(dovecot)
        by_imap = {}
        for mail in mails[::30]:
            by_imap[mail.recipient] = dovecot.mails(mail.recipient)
    for mail in mails:
        assert mail.recipient.endswith("@" + DOMAIN)
        if mail.recipient in by_imap:
            assert by_imap[mail.recipient] == [mail.raw], mail.recipient
    papers = subscribers.check(mails)
    check_store(paperboy, subscribers)
    tap.diag(f"{len(mails)} messages, {papers} papers; Postfix had them in "
             f"{seconds:.1f} s, Dovecot in {whole:.1f} s; {len(by_imap)} mailboxes were "
             "read by IMAP too")


with Tap() as tap:
    subscribers = Subscribers(tap.subdirectory("subscribers"))
    tap.diag(f"the day of {subscribers.now}, {len(subscribers.papers)} papers")
    tap.run(test_real_day, subscribers)
    for test in (test_subscribing, test_sink, test_postfix):
        tap.run(test, tap, subscribers)
