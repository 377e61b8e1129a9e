#!/usr/bin/env python3
"""test_daemon.py - the daemon: wake-ups, signals, kills and restarts."""

import collections
import contextlib
import os
import signal
import subprocess
import sys

import lib  # the path
import messages
from clock import DAY
from peers import SmtpSink
from programs import Paperboy, built, write_day
from tap import Child, Tap, free_port, wait_until

SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib",
                      "paperserver.py")
STARTED = r"paperboyd \S+ started"
YESTERDAY = "2026-11-19"


def paper(number, title):
    return {
        "id": f"2611.{number:05d}", "title": title, "abstract": "It was made up.",
        "authors": ["Ada Example"], "upvotes": number,
    }


FIRST = [paper(1, "Owls on rails"), paper(2, "Rails without owls"),
         paper(3, "A lighthouse of paper")]
SECOND = [paper(4, "Owls after dark"), paper(5, "Foghorns, a survey")]


class Instance:
    """A paper server, a relay, and a paperboy between them."""

    def __init__(self, tap, name, papers=FIRST, has_relay=True):
        self.directory = tap.subdirectory(name)
        self.source = os.path.join(self.directory, "source")
        os.mkdir(self.source)
        write_day(self.source, DAY, papers)
        self.stack = contextlib.ExitStack()
        self.server = self.stack.enter_context(
            Child([sys.executable, "-B", SERVER, "--dir", self.source],
                  name="paperserver", stdin=subprocess.PIPE))
        port = self.server.wait_line(r"^port (\d+)")[1]
        self.relay = free_port()
        self.sink = SmtpSink(self.directory, port=self.relay)
        if has_relay:
            self.open_relay()
        self.paperboy = Paperboy(self.directory, f"http://127.0.0.1:{port}",
                                 relay=self.relay, log_level="info")

    def open_relay(self):
        self.stack.enter_context(self.sink)

    def start(self):
        """The daemon, once it has polled the sources."""
        daemon = self.paperboy.start()
        try:
            daemon.wait_line(STARTED)
            daemon.wait_fact(lambda: "collector done" in daemon.output, "papers")
        except BaseException:
            daemon.stop()
            raise
        return daemon

    def wait_mail_to(self, address):
        """The messages to one subscriber, once there is one."""
        return wait_until(lambda: self.mails_to(address), f"mail to {address}")

    def mails_to(self, address):
        return [mail.raw for mail in self.sink.messages()
                if mail.recipients == [address]]

    def wait_all_sent(self, count):
        """The store has recorded it: nothing is in doubt."""
        wait_until(lambda: self.paperboy.count_sent() == count, f"{count} sent")

    def check_no_copies(self, count):
        mails = self.sink.messages()
        ids = collections.Counter(
            str(messages.parse(mail.raw)["Message-ID"]) for mail in mails)
        assert len(mails) == count and max(ids.values()) == 1, ids

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stack.close()


def ids_of(papers):
    return sorted(paper["id"] for paper in papers)


def test_new_subscriber(tap):
    """a subscriber added while it runs gets one first digest at once"""
    with Instance(tap, "subscriber") as instance, instance.start() as daemon:
        instance.paperboy.add("ada@example.org", ["owls OR lighthouse"])
        (raw,) = instance.wait_mail_to("ada@example.org")
        assert messages.check(raw, messages.DIGEST) == []
        assert sorted(messages.paper_ids(raw)) == ids_of(FIRST)
        instance.paperboy.add("bob@example.org", ["title:lighthouse"])
        (raw,) = instance.wait_mail_to("bob@example.org")
        assert messages.paper_ids(raw) == ids_of(FIRST[2:])
        instance.wait_all_sent(2)
        instance.check_no_copies(2)
        # The sources were polled once: a wake-up does not poll them again.
        assert daemon.output.count("collector done") == 1
        asked = [line for line in instance.server.lines if line.startswith("GET")]
        assert len(asked) == 15, asked


def test_end(tap):
    """SIGTERM and SIGINT end it with status 0, and the store is intact"""
    for number in (signal.SIGTERM, signal.SIGINT):
        with Instance(tap, f"end-{number}") as instance:
            with instance.start() as daemon:
                instance.paperboy.add("ada@example.org", ["owls"])
                instance.wait_mail_to("ada@example.org")
                daemon.signal(number)
                assert daemon.wait_exit() == 0, daemon.output
                assert "paperboyd ended" in daemon.output
            left = set(os.listdir(instance.paperboy.state))
            assert left == {"key", "lock", *instance.paperboy.db.names}, left
            assert instance.paperboy.count_sent() == 1
            with instance.start() as daemon:
                instance.paperboy.add("bob@example.org", ["rails"])
                instance.wait_mail_to("bob@example.org")
                instance.check_no_copies(2)


def test_second_instance(tap):
    """a second daemon on the same state directory exits, and the first continues"""
    with Instance(tap, "second") as instance, instance.start() as daemon:
        for options in ([], ["--once"]):
            second = subprocess.run(
                [built("paperboyd"), "-c", instance.paperboy.config, "--now",
                 instance.paperboy.clock.now(), *options],
                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300,
            )
            assert second.returncode == 75, (second.returncode, second.stderr)
            wanted = f"paperboyd: another paperboyd is running in '{instance.paperboy.state}'\n"
            assert second.stderr == wanted, second.stderr
        instance.paperboy.add("ada@example.org", ["owls"])
        instance.wait_mail_to("ada@example.org")
        assert daemon.is_running


def test_next_day(tap):
    """the next day's digest has only new papers"""
    with Instance(tap, "days") as instance:
        os.rename(os.path.join(instance.source, f"daily_papers-{DAY}.json"),
                  os.path.join(instance.source, f"daily_papers-{YESTERDAY}.json"))
        # Yesterday has passed; the next digest is due at midnight.
        at = f"{YESTERDAY}T12:00:00Z"
        instance.paperboy.add("ada@example.org", ["owls"], now=f"{YESTERDAY}T11:00:00Z",
                           at="00:00", zone="UTC")
        instance.paperboy.run_once(at)
        (first,) = instance.wait_mail_to("ada@example.org")
        assert sorted(messages.paper_ids(first)) == ids_of(FIRST[:2])
        write_day(instance.source, DAY, SECOND)
        instance.paperboy.ctl("source", "fetch")
        with instance.start() as daemon:
            wait_until(lambda: len(instance.mails_to("ada@example.org")) == 2, "mail 2")
            instance.wait_all_sent(2)
            daemon.signal(signal.SIGTERM)
            assert daemon.wait_exit() == 0
        reported = [messages.paper_ids(raw) for raw in instance.mails_to("ada@example.org")]
        assert sorted(sum(reported, [])) == ids_of(FIRST[:2] + SECOND[:1]), reported
        instance.check_no_copies(2)


def test_now(tap):
    """--now starts the clock of a daemon, and its timers follow it"""
    with Instance(tap, "now") as instance:
        instance.paperboy.add("ada@example.org", ["owls"], now=f"{YESTERDAY}T11:00:00Z",
                           at="12:00", zone="UTC")
        write_day(instance.source, YESTERDAY, FIRST)
        write_day(instance.source, DAY, SECOND)
        instance.paperboy.run_once(f"{YESTERDAY}T12:00:00Z")
        instance.paperboy.clock.set(f"{DAY}T11:59:50Z")
        with instance.start():
            since = instance.paperboy.ctl("status").split("running since ")[1]
            assert since[:16] in (f"{DAY} 11:59", f"{DAY} 12:00"), since
            wait_until(lambda: len(instance.mails_to("ada@example.org")) == 2, "mail 2")
        (made_at,), = instance.paperboy.rows(
            "SELECT datetime(max(created_at), 'unixepoch') FROM digest")
        assert made_at.startswith(f"{DAY} 12:00:"), made_at


def test_killed_after_sending(tap):
    """killed and restarted, it sends nothing twice"""
    with Instance(tap, "killed") as instance:
        with instance.start() as daemon:
            instance.paperboy.add("ada@example.org", ["owls"])
            instance.wait_mail_to("ada@example.org")
            instance.wait_all_sent(1)
            assert daemon.kill() == -signal.SIGKILL
        # The socket of the killed daemon remains: connecting to it must not hang.
        assert os.path.exists(os.path.join(instance.paperboy.state, "control"))
        instance.paperboy.add("bob@example.org", ["rails"])
        with instance.start():
            instance.wait_mail_to("bob@example.org")
            instance.wait_all_sent(2)
            instance.check_no_copies(2)


def test_killed_while_waiting(tap):
    """killed during an outage of the relay, it sends the queued messages once"""
    with Instance(tap, "waiting", has_relay=False) as instance:
        with instance.start() as daemon:
            instance.paperboy.add("ada@example.org", ["owls"])
            daemon.wait_line(r"delivery deferred .*scope=relay")
            wait_until(lambda: instance.paperboy.rows("SELECT state FROM outbox")
                       == [("DEFERRED",)], "a record of that")
            assert daemon.kill() == -signal.SIGKILL
        instance.open_relay()
        with instance.start():
            (raw,) = instance.wait_mail_to("ada@example.org")
            instance.wait_all_sent(1)
        assert sorted(messages.paper_ids(raw)) == ids_of(FIRST[:2])
        instance.check_no_copies(1)


def test_left_while_waiting(tap):
    """queued mail of a removed subscriber is not sent, that of others is"""
    with Instance(tap, "left", has_relay=False) as instance:
        with instance.start() as daemon:
            for name in ("ada", "bob"):
                instance.paperboy.add(f"{name}@example.org", ["owls"])
            daemon.wait_line(r"delivery deferred .*scope=relay")
            instance.paperboy.ctl("subscriber", "remove", "ada@example.org", "--yes")
            daemon.signal(signal.SIGTERM)
            assert daemon.wait_exit() == 0, daemon.output
        instance.open_relay()
        with instance.start():
            instance.wait_mail_to("bob@example.org")
            instance.wait_all_sent(1)
        assert instance.mails_to("ada@example.org") == []
        instance.check_no_copies(1)


with Tap() as tap:
    for test in (
        test_new_subscriber, test_end, test_second_instance, test_next_day, test_now,
        test_killed_after_sending, test_killed_while_waiting,
        test_left_while_waiting,
    ):
        tap.run(test, tap)
