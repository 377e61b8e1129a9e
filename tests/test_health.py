#!/usr/bin/env python3
#
# test_health.py - the health checks in status, doctor, queue and metrics.

import contextlib
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
from daemon import Instance, at_hour
from smtp_fixture import Server
from tap import Tap

OK, PROBLEMS, DATA, CONFIG = 0, 1, 65, 78
DAY = "2026-11-20"
UNAUTHENTICATED = b"550 5.7.26 Unauthenticated email is not accepted due to DMARC\r\n"
DENIED = b"554 5.7.1 <person@example.org>: Relay access denied\r\n"
DENIED_PLAIN = b"554 Relay access denied\r\n"
GREYLISTED = b"450 4.2.0 Greylisted, see https://example.org/\r\n"


def problems_of(instance, command, now=None):
    """{check: action} of the problems that status or doctor reports."""
    said = instance.ctl("--json", command, now=now, wanted=(OK, PROBLEMS, DATA))
    rows = json.loads(said[said.index("{\n" if command == "status" else "[\n"):])
    rows = rows["problems"] if command == "status" else [r for r in rows if not r["ok"]]
    assert all(row["action"] for row in rows), rows
    return {row["check"]: row["action"] for row in rows}


def refused_instance(tap, name, reply, people=1):
    """An instance whose relay has given a reply to each recipient."""
    with contextlib.closing(Server()) as relay:
        instance = Instance(tap.subdirectory(name), port=relay.port)
        instance.write_day(DAY, range(3))
        instance.add_people(people, now=at_hour(DAY, 6))
        relay.act = lambda verb, _: reply if verb == "RCPT" else None
        instance.once(at_hour(DAY))
    return instance


def relay_access_denied(tap):
    """a relay that does not relay for us is a problem with an action"""
    for name, reply in (("denied", DENIED), ("denied-plain", DENIED_PLAIN)):
        instance = refused_instance(tap, name, reply)
        for command in ("status", "doctor"):
            found = problems_of(instance, command, now=at_hour(DAY, 9))
            assert "mynetworks" in found["relay-denied"], found
        said = instance.ctl("status", now=at_hour(DAY, 9), wanted=PROBLEMS)
        assert "Relay access denied" in said[said.index("TO DO"):], said


def greylisting(tap):
    """mail that is greylisted for hours is a problem with an action"""
    instance = refused_instance(tap, "grey", GREYLISTED)
    assert "deferred" not in problems_of(instance, "status", now=at_hour(DAY, 9))
    found = problems_of(instance, "status", now=at_hour(DAY, 11))
    assert "greylisting" in found["deferred"], found
    assert "paperboyctl queue retry 1" in found["deferred"], found
    assert "waiting" not in found, found  # the same message is reported once
    assert "deferred" in problems_of(instance, "doctor", now=at_hour(DAY, 11))


def refusing_domain(tap):
    """a domain that refuses our mail is shown with its reply and advice"""
    instance = refused_instance(tap, "refusing", UNAUTHENTICATED, people=25)
    for command in ("status", "doctor"):
        found = problems_of(instance, command, now=at_hour(DAY, 8))
        assert "SPF, DKIM and DMARC" in found["domain-paused"], found
        assert "failed" not in found, found
    said = instance.ctl("status", now=at_hour(DAY, 8), wanted=PROBLEMS)
    assert "example.org refuses our mail" in said and "550 5.7.26" in said, said
    assert "PAUSED       example.org until 2026-11-20" in said, said
    assert "subscribers  25 active" in said, said


def broken_configuration(tap):
    """status shows the running daemon though the configuration on disk has errors"""
    with contextlib.closing(Server()) as relay:
        instance = Instance(tap.subdirectory("config"), port=relay.port)
        instance.write_day(DAY, range(3))
        instance.add_people(2, now=at_hour(DAY, 6))
        with instance.start() as child:
            child.wait_line("collector done")
            with open(instance.config, "a", encoding="utf-8") as file:
                file.write('\nsmtp: { port = "no number"; };\n')
            instance.ctl("queue", wanted=CONFIG)
            said = instance.ctl("status", wanted=PROBLEMS)
            assert "paperboyd    running since" in said, said
            assert "subscribers  2 active" in said, said
            found = problems_of(instance, "status")
            assert "paperboyctl reload" in found["configuration"], found
            assert child.stop() == 0
        said = instance.ctl("status", wanted=PROBLEMS)
        assert "paperboyd    not running" in said, said
        assert "start paperboyd" in problems_of(instance, "status")["configuration"]


def paused_relay(tap):
    """queue, status and doctor show a relay that is paused"""
    with contextlib.closing(Server()) as relay:
        instance = Instance(tap.subdirectory("paused"), port=relay.port)
        instance.write_day(DAY, range(3))
        instance.add_people(1, now=at_hour(DAY, 6))
        relay.act = lambda verb, _: b"421 4.3.2 closed\r\n" if verb == "CONNECT" else None
        assert "relay " not in instance.ctl("queue")
        with instance.start() as child:
            child.wait_line("relay failed")
            child.wait_fact(
                lambda: "relay        does not accept mail" in instance.ctl("queue"),
                "the relay in the queue")
            said = instance.ctl("queue")
            assert "421 4.3.2" in said and "paperboyctl queue retry all" in said, said
            assert isinstance(json.loads(instance.ctl("--json", "queue")), list)
            for command in ("status", "doctor"):
                found = problems_of(instance, command)
                assert "queue retry all" in found["relay"], (command, found)
            samples = instance.ctl("metrics").splitlines()
            assert 'paperboy_problems{check="relay"} 1' in samples, samples
            assert 'paperboy_problems{check="disk"} 0' in samples, samples
            assert child.stop() == 0


def doctor_covers_the_service(tap):
    """doctor reports sources, receivers and skipped messages beside the store"""
    directory = tap.subdirectory("doctor")
    mailbox = os.path.join(directory, "mailbox")
    for name in ("", "new", "cur", "tmp"):
        os.makedirs(os.path.join(mailbox, name), mode=0o700, exist_ok=True)
    instance = Instance(directory, maildir=os.path.join(directory, "out"),
                        receive__maildir=mailbox)
    instance.add_people(1)
    found = problems_of(instance, "doctor")
    assert "source" in found, found  # never polled
    instance.write_day(DAY, range(3))
    with open(os.path.join(mailbox, "new", "1.large"), "wb") as file:
        os.truncate(file.fileno(), 60 * 2**20)
    with instance.start() as child:
        child.wait_line("inbox skipped")
        found = problems_of(instance, "doctor")
        assert "move or delete" in found["skipped"], found
        os.rename(mailbox, mailbox + ".away")
        child.wait_line("receiver failed receiver=maildir", deadline_s=120)
        found = problems_of(instance, "doctor")
        assert "paperboyctl check" in found["receivers"], found
        child.stop()
    lines = instance.ctl("doctor", wanted=PROBLEMS).splitlines()
    assert any(line.startswith("TO DO  skipped") for line in lines), lines
    assert any(line.startswith("ok     pages") for line in lines), lines


with Tap() as tap:
    for test in (relay_access_denied, greylisting, refusing_domain, broken_configuration,
                 paused_relay, doctor_covers_the_service):
        tap.run(test, tap)
