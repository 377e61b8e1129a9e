#!/usr/bin/env python3
#
# test_health.py - the health checks in status, doctor, queue and metrics.

import contextlib
import http.server
import json
import os
import threading

import lib  # the path
from daemon import Instance, at_hour
from smtp_fixture import Server
from tap import Tap, top_builddir

OK, PROBLEMS, FAILING, DATA, CONFIG = 0, 1, 2, 65, 78
DAY = "2026-11-20"
EVE = "2026-11-19"
UNAUTHENTICATED = b"550 5.7.26 Unauthenticated email is not accepted due to DMARC\r\n"
DENIED = b"554 5.7.1 <person@example.org>: Relay access denied\r\n"
DENIED_PLAIN = b"554 Relay access denied\r\n"
GREYLISTED = b"450 4.2.0 Greylisted, see https://example.org/\r\n"


def problems_of(instance, command, now=None):
    """{check: action} of the problems that status or doctor reports."""
    said = instance.ctl("--json", command, now=now, wanted=(OK, PROBLEMS, FAILING, DATA))
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
        said = instance.ctl("status", now=at_hour(DAY, 9), wanted=FAILING)
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
    said = instance.ctl("status", now=at_hour(DAY, 8), wanted=FAILING)
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
        said = instance.ctl("status", wanted=FAILING)
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
            assert "alerts to mail" not in instance.ctl("status", wanted=FAILING)
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
    lines = instance.ctl("doctor", "--all", wanted=PROBLEMS).splitlines()
    assert any(line.startswith("TO DO  skipped") for line in lines), lines
    assert any(line.startswith("ok     pages") for line in lines), lines


def exit_status(tap):
    """0 well, 1 warnings, 2 failing; the first line of status says why"""
    with contextlib.closing(Server()) as relay:
        instance = Instance(tap.subdirectory("exit"), port=relay.port, mail__alerts=True)
        instance.write_day(EVE, range(3))
        instance.add_people(1, now=at_hour(EVE, 6))

        def summary(wanted):
            state = json.loads(instance.ctl("status", "--json", wanted=wanted))["state"]
            head = instance.ctl("status", wanted=wanted).splitlines()[0]
            assert head.startswith(state.upper() + ": ") and len(head) < 200, head
            return head

        assert "paperboyd is not running" in summary(FAILING)
        with instance.start(now=at_hour(EVE)) as child:
            child.wait_line("mailer done sent=1")
            assert summary(OK) == "OK: 1 active subscriber, 0 messages queued"
            assert child.stop() == 0
        # The list of a working day is late at 10:01.
        with instance.start(now=f"{DAY}T10:01:00Z") as child:
            child.wait_line("collector done")
            late = instance.ctl("status", wanted=PROBLEMS)
            assert late.startswith("WARNING: source hf is late"), late
            assert child.stop() == 0


def alert_waits(tap):
    """an alert that cannot be sent is reported by status and journal"""
    hold = threading.Event()

    class Source(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            hold.wait()
            self.send_error(503)

        def log_message(self, *_):
            pass

    source = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Source)
    threading.Thread(target=source.serve_forever, daemon=True).start()
    with contextlib.closing(Server()) as relay, contextlib.closing(source.socket):
        instance = refused_instance(tap, "alert", GREYLISTED)
        relay.act = lambda verb, _: b"421 4.3.2 a|b\r\n" if verb == "CONNECT" else None
        instance.set(smtp__port=relay.port, mail__alerts=True, receive__parser="/nonexistent",
                     receive__maildir=os.path.join(tap.directory, "none"),
                     sources__hf__url=f"http://127.0.0.1:{source.server_port}")
        with instance.start(now=at_hour(DAY, 10)) as child:
            child.wait_line("relay failed")
            hold.set()
            child.wait_line("alert waiting.*the same relay")
            said = instance.ctl("status", wanted=FAILING)
            assert "alerts to mail.owner wait, too" in said, said
            assert "|" not in said.splitlines()[0] and "FAILING: " in said, said
            assert child.stop() == 0
        source.shutdown()


def unprocessed_mail(tap):
    """a parser that cannot be run is reported at once, and after a reload no more"""
    directory = tap.subdirectory("parser")
    mailbox = os.path.join(directory, "mailbox")
    for name in ("", "new", "cur", "tmp"):
        os.makedirs(os.path.join(mailbox, name), mode=0o700, exist_ok=True)
    instance = Instance(directory, maildir=os.path.join(directory, "out"),
                        receive__maildir=mailbox, receive__parser="/nonexistent",
                        commands__address="paperboy@news.example")
    instance.write_day(DAY, range(3))
    for command in ("status", "doctor"):
        assert "receive.parser" in problems_of(instance, command)["commands"]
    with instance.start(now=at_hour(DAY)) as child:
        child.wait_line("collector done")
        head = instance.ctl("status", wanted=FAILING).splitlines()[0]
        assert "/nonexistent: No such file" in head, head
        with open(os.path.join(mailbox, "new", "1.help"), "wb") as file:
            file.write(b"From: eva@example.org\r\nSubject: help\r\n\r\n")
        child.wait_line("inbox error")
        # later, too, without other advice
        late = at_hour(DAY, 12)
        for command in ("status", "doctor"):
            found = problems_of(instance, command, now=late)
            assert "receive.parser" in found["commands"], found
            assert "receive.parser" in found["inbox-waiting"], found
        # a program that is there, but cannot be run
        instance.set(receive__parser=instance.config)
        os.chmod(instance.config, 0o700)
        instance.ctl("reload")
        child.wait_line("inbox error.*on this machine")
        found = problems_of(instance, "status")
        assert "inbox-error" in found["commands"], found
        instance.set(receive__parser=os.path.join(top_builddir(), "paperboy-parser"))
        instance.ctl("reload")
        child.wait_line("inbox done handled=1")
        child.wait_fact(lambda: "commands" not in problems_of(instance, "status"), "success")
        assert child.stop() == 0


def shipped_addresses(tap):
    """with the addresses of the shipped configuration no mail is sent or received"""
    directory = tap.subdirectory("shipped")
    socket = os.path.join(directory, "lmtp")
    with contextlib.closing(Server()) as relay:
        instance = Instance(directory, port=relay.port, receive__lmtp_socket=socket,
                            commands__address="paperboy@news.example",
                            receive__parser=os.path.join(top_builddir(), "paperboy-parser"))
        instance.write_day(DAY, range(3))
        instance.add_people(2, now=at_hour(DAY, 6))
        for setting, own in (("mail__from", "paperboy@news.example"),
                             ("mail__owner", "owner@news.example")):
            shipped = {"mail__from": "paperboy@example.org",
                       "mail__owner": "postmaster@example.org"}[setting]
            instance.set(**{setting: shipped})
            run = instance.once(at_hour(DAY), wanted=75)
            assert "still the shipped default" in run.output, run.output
            with instance.start(now=at_hour(DAY)) as child:
                child.wait_line("still the shipped default")
                child.wait_line("collector done")
                head = instance.ctl("status", wanted=FAILING).splitlines()[0]
                assert "so no mail is sent or received" in head, head
                assert relay.commands == [] and not os.path.exists(socket)
                assert instance.states() == {"NEW": 2}
                instance.set(**{setting: own})
                if setting == "mail__owner":
                    instance.ctl("reload")
                    child.wait_fact(lambda: instance.states() == {"SENT": 2}, "digests")
                    child.wait_socket(socket)
                    assert "OK: " in instance.ctl("status")
                    instance.set(**{setting: shipped})
                    instance.ctl("reload")
                    assert not os.path.exists(socket)
                assert child.stop() == 0


def page_needs_the_daemon(tap):
    """paperboyd --once says that its digests offer no one-click unsubscribing"""
    with contextlib.closing(Server()) as relay:
        instance = Instance(tap.subdirectory("page"), port=relay.port,
                            web__url="https://news.example",
                            commands__address="paperboy@news.example")
        instance.write_day(DAY, range(3))
        instance.add_people(1, now=at_hour(DAY, 6))
        run = instance.once(at_hour(DAY), wanted=OK)
        assert "web.url needs a running paperboyd" in run.output, run.output
        (digest,) = relay.messages
        assert b"\nList-Unsubscribe: <mailto:" in digest, digest
        assert b"List-Unsubscribe-Post" not in digest, digest
        instance.set(web__url=None)
        assert "web.url" not in instance.once(at_hour(DAY, 9), wanted=OK).output


def paused_delivery(tap):
    """no digest is built or sent while they are paused, other mail is; then one digest"""
    with contextlib.closing(Server()) as relay:
        instance = Instance(tap.subdirectory("paused-delivery"), port=relay.port,
                            commands__address="paperboy@news.example")
        instance.write_day(DAY, range(3))
        instance.add_people(2, now=at_hour(DAY, 6))
        # One digest waits in the queue.
        relay.act = lambda verb, text: GREYLISTED if verb == "RCPT" and "0001" in text else None
        instance.once(at_hour(DAY))
        assert instance.states() == {"DEFERRED": 1, "SENT": 1}, instance.states()
        relay.act = lambda verb, text: None
        assert "resume; replies" in instance.ctl("delivery", "pause", now=at_hour(DAY, 8))
        assert ", as before\n" in instance.ctl("delivery", "pause", now=at_hour(DAY, 9))
        instance.ctl("invite", "eve@example.org", now=at_hour(DAY, 9))
        instance.write_day("2026-11-21", range(10, 12))
        instance.once(at_hour("2026-11-21", 12), wanted=OK)
        assert len(relay.messages) == 2 and b"To: eve@example.org" in relay.messages[1], relay.messages
        assert instance.value("SELECT count(*) FROM digest") == 2
        for command in ("status", "doctor"):
            found = problems_of(instance, command, now=at_hour("2026-11-21", 12))
            assert "delivery resume" in found["delivery-paused"], found
        said = instance.ctl("status", now=at_hour("2026-11-21", 12), wanted=FAILING)
        assert "digests are paused since 2026-11-20 08:00 UTC" in said, said
        said = json.loads(instance.ctl("--json", "status", wanted=FAILING))
        assert said["paused_since"] == 1795161600, said
        # A running daemon is woken.
        with instance.start(now=at_hour("2026-11-21", 13)) as child:
            child.wait_line("collector done")
            assert 'problems{check="delivery-paused"} 1' in instance.ctl("metrics")
            assert "digests are built and sent\n" in instance.ctl("delivery", "resume")
            child.wait_fact(lambda: instance.states() == {"SENT": 5}, "digests")
            assert child.stop() == 0
        assert "delivery-paused" not in problems_of(instance, "status")
        assert instance.value("SELECT count(*) FROM audit_log WHERE what LIKE 'delivery %'") == 2


def old_backup(tap):
    """a backup that is not made any more is reported, and ends with the next one"""
    instance = Instance(tap.subdirectory("old-backup"))
    instance.add_people(1, now=at_hour(DAY, 6))
    path = os.path.join(instance.state, "..", "backup.db")
    assert "backup" not in problems_of(instance, "status", now=at_hour("2026-12-20"))
    instance.ctl("backup", path, now=at_hour(DAY, 7))
    assert "backup" not in problems_of(instance, "status", now=at_hour("2026-11-28", 6))
    for command in ("status", "doctor"):
        found = problems_of(instance, command, now=at_hour("2026-11-28", 8))
        assert "timer" in found["backup"], found
    assert 'paperboy_problems{check="backup"} 1\n' in instance.ctl(
        "metrics", now=at_hour("2026-11-28", 8))
    instance.set(alerts__backup_days=0)
    assert "backup" not in problems_of(instance, "status", now=at_hour("2026-11-28", 8))
    instance.set(alerts__backup_days=None)
    instance.ctl("backup", path, "--yes", now=at_hour("2026-11-28", 8))
    assert "backup" not in problems_of(instance, "status", now=at_hour("2026-11-28", 9))


with Tap() as tap:
    for test in (old_backup, paused_delivery, relay_access_denied, greylisting, refusing_domain, broken_configuration,
                 paused_relay, doctor_covers_the_service, exit_status, alert_waits, unprocessed_mail,
                 shipped_addresses, page_needs_the_daemon):
        tap.run(test, tap)
