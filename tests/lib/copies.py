"""copies.py - messages that a sink accepted, and their copies after kills."""

import os
import threading

from daemon import is_whole
from peers import parse_dump

CONNECTIONS = 2
IN_DOUBT = 30  # MAILER_IN_FLIGHT_MAX(CONNECTIONS) of src/service/delivery/mailer.h
COPIES = 5  # OUTBOX_COPIES_MAX of src/store/mail/outbox.h


def pause(seconds):
    threading.Event().wait(seconds)


class Basket:
    """All complete digests accepted by a sink, each read once.

    prefix: of their recipients
    """

    def __init__(self, sink, prefix=""):
        self.sink = sink
        self.prefix = prefix
        self.seen = set()
        self.messages = []

    def count_files(self):
        return len(os.listdir(self.sink.dump))

    def update(self):
        for name in set(os.listdir(self.sink.dump)) - self.seen:
            try:
                with open(os.path.join(self.sink.dump, name), "rb") as file:
                    message = parse_dump(file.read())
            except FileNotFoundError:
                continue  # a truncated one, which the sink removes
            is_other = message and not message.recipients[0].startswith(self.prefix)
            if is_other or (message and is_whole(message.raw)):
                self.seen.add(name)
                self.messages += [] if is_other else [message]
        return self.messages


def most_copies(copies):
    return max(len(each) for each in copies.values())


def duplicates_hold(copies, digests, kills):
    """@param copies {recipient: each copy} @return number of duplicates"""
    duplicates = sum(len(each) for each in copies.values()) - len(copies)
    assert len(copies) == digests, f"{len(copies)} of {digests} people have a digest"
    differing = [address for address, each in copies.items() if len(set(each)) != 1]
    assert not differing, f"two texts for {differing}"
    assert duplicates <= kills * IN_DOUBT, duplicates
    assert most_copies(copies) <= COPIES, most_copies(copies)
    return duplicates


def delivered_is_what_was_sent(instance):
    """@return the number of delivered papers"""
    items = instance.rows(
        "SELECT g.subscriber_id, i.paper_seq FROM digest g"
        " JOIN digest_item i ON i.digest_id = g.id WHERE g.state = 'sent'"
    )
    delivered = instance.rows("SELECT subscriber_id, paper_seq FROM delivered_paper")
    assert sorted(items) == sorted(delivered), "delivered differs from what was sent"
    return len(items)
