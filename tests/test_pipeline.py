#!/usr/bin/env python3
"""test_pipeline.py - the first messages are sent while other digests are built."""

import os

import lib  # the path
from clock import DAY
from daemon import Instance
from peers import SmtpSink
from tap import Tap, free_port

PEOPLE = 4000
PAPERS = range(1, 11)
DIGESTS = "SELECT count(*) FROM digest"


def new_instance(tap, name, **settings):
    """A store with people who are due."""
    instance = Instance(tap.subdirectory(name), **settings)
    instance.write_day(DAY, PAPERS)
    instance.add_people(PEOPLE)
    return instance


def check_early(output):
    """The mailer's first line is before the scheduler's last."""
    tried = output.index("delivery deferred outbox=")
    assert tried < output.index(f"digests built due={PEOPLE}"), output


def test_once(tap):
    """paperboyd --once sends while it builds"""
    instance = new_instance(tap, "once", port=free_port())
    run = instance.once(wanted=os.EX_TEMPFAIL)
    check_early(run.output)
    assert instance.value(DIGESTS) == PEOPLE
    assert "SENT" not in instance.states(), instance.states()
    assert run.output.count("run done") == 1, run.output


def test_sent_meanwhile(tap):
    """what is sent meanwhile is in the reports of the run"""
    with SmtpSink(tap.subdirectory("sink")) as sink:
        instance = new_instance(tap, "sent", port=sink.port)
        run = instance.once(wanted=0)
        assert instance.states() == {"SENT": PEOPLE}, instance.states()
        assert run.output.count("mailer done") == 1, run.output
        assert run.output.count(f"sent={PEOPLE}") == 2, run.output
        assert len(sink.messages()) == PEOPLE
        instance.check_store()


def test_daemon(tap):
    """the daemon sends while it builds"""
    instance = new_instance(tap, "daemon", port=free_port())
    with instance.start() as child:
        child.wait_fact(lambda: "digests built due=" in child.output, "all digests")
        check_early(child.output)
        assert instance.value(DIGESTS) == PEOPLE


with Tap() as tap:
    for test in (test_once, test_sent_meanwhile, test_daemon):
        tap.run(test, tap)
