#!/usr/bin/env python3
"""test_pipeline.py - the first messages are sent while other digests are built."""

import contextlib
import os
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

from clock import DAY
from daemon import Instance
from peers import HOST, SmtpSink
from tap import Tap, wait_until

PEOPLE = 4000
PAPERS = range(1, 11)
DIGESTS = "SELECT count(*) FROM digest"


class BusyRelay:
    """Counts the digests when it is reached first, and takes no message.

    The store is a path that the thread may open.
    """

    def __init__(self):
        self.listener = socket.create_server((HOST, 0))
        self.port = self.listener.getsockname()[1]
        self.instance = None
        self.digests = None
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                connection, _address = self.listener.accept()
            except OSError:
                return
            if self.digests is None:
                self.digests = self.instance.value(DIGESTS)
            with connection:
                connection.sendall(b"421 4.3.2 too busy\r\n")

    def close(self):
        self.listener.close()


def new_instance(tap, name, stack):
    """A store with people who are due, and a relay that is busy."""
    relay = stack.enter_context(contextlib.closing(BusyRelay()))
    relay.instance = Instance(tap.subdirectory(name), port=relay.port)
    relay.instance.write_day(DAY, PAPERS)
    relay.instance.add_people(PEOPLE)
    return relay.instance, relay


def check_early(relay):
    assert 0 < relay.digests < PEOPLE, f"{relay.digests} digests before the first message"


def test_once(tap):
    """paperboyd --once sends while it builds"""
    with contextlib.ExitStack() as stack:
        instance, relay = new_instance(tap, "once", stack)
        run = instance.once(wanted=os.EX_TEMPFAIL)
        check_early(relay)
        assert instance.value(DIGESTS) == PEOPLE
        assert "SENT" not in instance.states(), instance.states()
        assert run.output.count("run done") == 1, run.output


def test_sent_meanwhile(tap):
    """what is sent meanwhile is in the reports of the run"""
    with contextlib.ExitStack() as stack:
        instance, _relay = new_instance(tap, "sent", stack)
        sink = stack.enter_context(SmtpSink(instance.directory))
        instance.set(smtp__port=sink.port)
        run = instance.once(wanted=0)
        assert instance.states() == {"SENT": PEOPLE}, instance.states()
        assert run.output.count("mailer done") == 1, run.output
        assert run.output.count(f"sent={PEOPLE}") == 2, run.output
        assert len(sink.messages()) == PEOPLE
        instance.check_store()


def test_daemon(tap):
    """the daemon sends while it builds"""
    with contextlib.ExitStack() as stack:
        instance, relay = new_instance(tap, "daemon", stack)
        stack.enter_context(instance.start())
        wait_until(lambda: relay.digests is not None, "a connection")
        check_early(relay)
        wait_until(lambda: instance.value(DIGESTS) == PEOPLE, "all digests")


def main():
    with Tap() as tap:
        for test in (test_once, test_sent_meanwhile, test_daemon):
            tap.run(test, tap)


if __name__ == "__main__":
    main()
