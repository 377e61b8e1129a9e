#!/usr/bin/env python3
"""test_fair_shares.py - no filter crowds out another under max, on real and made-up days.

The digests are checked against a second implementation of the rule, and against what
readers may expect of it, whatever the rule is.  PAPERBOY_LONG=1: on all real days, else
on every fourth.
"""

import collections
import datetime
import os
import random
import re

import lib  # the path
from programs import Paperboy, write_day
from tap import IS_LONG, Skip, Tap, real_files

ONE_DAY = datetime.timedelta(days=1)
FEW = 2  # papers of a filter that must not be cut

# From broad to narrow.
FILTERS = """model|language|benchmark|reasoning|agent -survey|diffusion|video OR image
    "reinforcement learning"|3D|upvotes:>=20|title:video|quantiz* OR distill*|robot*
    "mixture of experts" OR MoE|segmentation|"retrieval augmented" OR =RAG|speech
    protein OR molecule|title:(reward OR preference)|author:Wang|gaussian|"tool use"
    tokenizer*|unlearning|theorem|"state space" OR mamba|safety|translation""".replace(
        "\n", "|").split("|")
FILTERS = [text.strip() for text in FILTERS]

ITEMS = """SELECT s.address, s.max_full, s.sorting, g.id, i.shown, p.id, p.title,
        i.upvotes, i.day, i.reasons
    FROM digest g JOIN subscriber s ON s.id = g.subscriber_id
    JOIN digest_item i ON i.digest_id = g.id JOIN paper p ON p.seq = i.paper_seq
    ORDER BY g.id, i.position"""

Person = collections.namedtuple("Person", "address filters max order")
Item = collections.namedtuple("Item", "shown id upvotes day filters")
Digest = collections.namedtuple("Digest", "person items")


def make_people(rand, filters, count):
    """People in pairs with the same filters and settings."""
    people = []
    for number in range(count):
        chosen = rand.sample(filters, rand.randint(2, 6))
        most, order = rand.randint(1, 12), rand.choice(("score", "votes", "date"))
        people += [Person(f"p{number}{copy}@example.org", chosen, most, order)
                   for copy in "ab"]
    return people


def add_people(paperboy, people, now):
    for person in people:
        paperboy.add(person.address, person.filters, now=now, zone="UTC", at="07:30",
                     max=person.max)
        paperboy.ctl("subscriber", "set", person.address, "--order", person.order,
                     now=now)
        for number in range(1, len(person.filters) + 1):
            paperboy.ctl("filter", "rename", person.address, str(number), f"f{number}",
                         now=now)


def load_digests(paperboy, people):
    """Digests by id; old ones are deleted in time."""
    by_address = {person.address: person for person in people}
    digests = {}
    for address, _, _, digest, shown, paper, _, upvotes, day, reasons in (
            paperboy.rows(ITEMS)):
        filters = [line.split("\t")[0] for line in reasons.split("\n")]
        digests.setdefault(digest, Digest(by_address[address], [])).items.append(
            Item(shown, paper, upvotes, day, filters))
    return digests


def count_papers(digest):
    return collections.Counter(name for item in digest.items for name in item.filters)


def rarity(digest):
    """Key of a filter: the rarest first, then by number."""
    papers = count_papers(digest)
    return lambda name: (papers[name], int(name.removeprefix("f")))


def reading_order(digest):
    """Papers by votes or date, best first."""
    items = sorted(digest.items, key=lambda item: item.id)
    items.sort(key=lambda item: item.day, reverse=True)
    items.sort(key=lambda item: item.upvotes or 0, reverse=True)
    if digest.person.order == "date":
        items.sort(key=lambda item: item.day, reverse=True)
    return items


def fill(digest):
    """The ids to show in full: raise the share of all filters until max is used."""
    queues = collections.defaultdict(list)
    for item in reading_order(digest):
        queues[min(item.filters, key=rarity(digest))].append(item.id)
    most, level = digest.person.max, 0
    share = {name: 0 for name in queues}
    while sum(share.values()) < most and any(share[n] < len(queues[n]) for n in queues):
        level += 1
        for name in sorted(queues, key=rarity(digest)):
            if sum(share.values()) < most:
                share[name] = min(level, len(queues[name]))
    return {paper for name in queues for paper in queues[name][:share[name]]}


def check_digest(digest):
    """@return whether papers were cut"""
    full = [item for item in digest.items if item.shown == 0]
    cut = [item for item in digest.items if item.shown]
    assert len(full) == min(digest.person.max, len(digest.items)), digest
    for item in digest.items:
        assert item.filters[0] == min(item.filters, key=rarity(digest)), (item, digest)
    counted = collections.Counter(item.filters[0] for item in full)
    owners = {item.filters[0] for item in digest.items}
    share = -(-digest.person.max // len(owners))
    papers = count_papers(digest)
    for item in cut:
        if min(papers[name] for name in item.filters) <= FEW:
            greedy = [name for name in counted if counted[name] > share]
            assert not greedy, (item, greedy, digest)
        # Nobody is ahead of the filter that loses a paper.
        assert max(counted.values()) <= counted[item.filters[0]] + 1, (item, digest)
    if digest.person.order != "score":
        assert {item.id for item in full} == fill(digest), digest
    return bool(cut)


def check_all(tap, digests, people):
    cut = few = 0
    for digest in digests:
        is_cut = check_digest(digest)
        papers = count_papers(digest)
        cut += is_cut
        few += is_cut and any(count <= FEW for count in papers.values())
    tap.diag(f"{len(digests)} digests of {len(people)} people; {cut} with papers cut, "
             f"{few} of them with a filter of at most {FEW} papers: none displaced")
    assert cut > 100 and few > 50, (cut, few)
    by_person = collections.defaultdict(list)
    for digest in digests:
        by_person[digest.person.address].append(
            [item._replace(filters=tuple(item.filters)) for item in digest.items])
    for person in people[::2]:
        other = person.address.replace("a@", "b@")
        assert by_person[person.address] == by_person[other], person


def test_real_days(tap):
    """on real days, max is used up and shared fairly, and equally for equals"""
    days = {}
    for path in real_files("daily_papers-????-??-??*.json"):
        days[re.search(r"\d{4}-\d\d-\d\d", os.path.basename(path))[0]] = path
    days = dict(list(days.items())[::1 if IS_LONG else 4])
    directory = tap.subdirectory("real")
    source = os.path.join(directory, "source")
    os.mkdir(source)
    paperboy = Paperboy(directory, f"file://{source}")
    digests = {}
    people = make_people(random.Random(19), FILTERS, 20)
    add_people(paperboy, people, f"{min(days)}T00:00:00Z")
    for day, path in sorted(days.items()):
        write_day(source, day, path)
        paperboy.run_once(f"{datetime.date.fromisoformat(day) + ONE_DAY}T08:00:00Z")
        digests |= load_digests(paperboy, people)
    tap.diag(f"{len(days)} days")
    check_all(tap, digests.values(), people)


def make_papers(rand, day, words):
    """Papers whose titles have one common word and some rarer ones."""
    return [{"id": f"{day[2:4]}{day[5:7]}.{int(day[8:10]):02}{number:03}",
             "title": " ".join(word for rank, word in enumerate(words)
                               if rand.random() < 0.9 / (rank + 1)) or "nothing",
             "abstract": "", "authors": ["Ada Example"],
             "upvotes": rand.choice((None, 0, 1, 1, 7, rand.randint(0, 200)))}
            for number in range(rand.choice((0, 1, 3, 8, 20, 60)))]


def test_made_up_days(tap):
    """on made-up days with common and rare words, max is shared fairly, too"""
    rand = random.Random(7)
    words = ["aardvark", "badger", "cuckoo", "dingo", "egret", "ferret", "gecko", "hare"]
    directory = tap.subdirectory("made-up")
    source = os.path.join(directory, "source")
    os.mkdir(source)
    paperboy = Paperboy(directory, f"file://{source}")
    digests = {}
    people = make_people(rand, words + ["aardvark OR hare", "badger -aardvark"], 10)
    add_people(paperboy, people, "2026-11-01T00:00:00Z")
    for number in range(2, 22):
        day = f"2026-11-{number:02}"
        write_day(source, day, make_papers(rand, day, words))
        paperboy.run_once(f"2026-11-{number + 1:02}T08:00:00Z")
        digests |= load_digests(paperboy, people)
    check_all(tap, digests.values(), people)


def main():
    with Tap() as tap:
        tap.run(test_made_up_days, tap)
        try:
            real_files("daily_papers-*.json")
        except Skip as reason:
            tap.skip("on real days, max is shared fairly", reason)
            return
        tap.run(test_real_days, tap)


if __name__ == "__main__":
    main()
