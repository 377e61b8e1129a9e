#!/usr/bin/env python3
#
# test_relay.py - with any relay, each digest arrives or its papers are sent again.
#
# Whole runs of paperboyd against relays that are down, slow, rude or full; --now steps
# the time from run to run.

import collections
import os
import re
import signal
import socket
import threading

import lib  # the path
from daemon import Instance, at_hour, days_after, papers_of, parse
from peers import Ca, SmtpSink
from smalldisk import fill, small_disk
from smtp_fixture import DROP, Relay
from tap import Skip, Tap, free_port, read_text, save, top_srcdir, wait_until

DAY = "2026-11-20"
AHEAD = 4  # messages that two connections may have in flight after one is sent


def make_instance(tap, name, port, people=1, **settings):
    """An instance with three papers of today and some subscribers."""
    instance = Instance(tap.subdirectory(name), port=port, **settings)
    instance.write_day(DAY, range(3))
    instance.add_people(people, now=at_hour(DAY, 6))
    return instance


def person(number):
    return f"person-{number:04}@example.org"


def everybody(count):
    return [person(number) for number in range(1, count + 1)]


def attempts(instance):
    return sorted(attempt for (attempt,) in instance.rows("SELECT attempt FROM outbox"))


def count_lines(run_, pattern):
    return len(re.findall(pattern, run_.output))


def first_time(*verbs):
    """A rule for act(): the first command of each kind, or for each person, differs."""
    seen = set()

    def is_first(verb, text):
        key = (verb, text)
        if verb not in verbs or key in seen:
            return False
        seen.add(key)
        return True

    return is_first


def all_sent_once(instance, relay, count):
    assert instance.states() == {"SENT": count}, instance.states()
    assert relay.recipients() == everybody(count), relay.recipients()
    instance.check_store()


# ---- relay down or rejecting us ----------------------------------------------


def relay_down(tap):
    """an outage of the relay costs no attempt, few log lines and no digest"""
    instance = make_instance(tap, "down", free_port(), 20)
    for minute in range(0, 50, 10):
        down = instance.once(at_hour(DAY, 8, minute), wanted=75)
        assert count_lines(down, "delivery ") == 1, down.output
        assert count_lines(down, "relay failed next_in=60s: ") == 1, down.output
        assert attempts(instance) == [0] * 20
    # one attempt per run, none for the other messages
    states = instance.states()
    assert 1 <= states["DEFERRED"] <= 5 and sum(states.values()) == 20, states
    status = instance.ctl("status", now=at_hour(DAY, 9), wanted=2)  # not running
    assert f"{states['NEW']} new" in status, status
    assert f"{states['DEFERRED']} deferred" in status, status
    assert "refused" in instance.ctl("queue"), instance.ctl("queue")
    with Relay() as relay:
        instance.set(smtp__port=relay.port)
        instance.once(at_hour(DAY, 10), wanted=0)
        all_sent_once(instance, relay, 20)
        assert attempts(instance) == [1] * 20


def daemon_relay_down(tap):
    """the daemon reports the outage to systemd, and the breaker opens"""
    path = os.path.join(tap.directory, "notify")
    instance = Instance(tap.subdirectory("outage"), port=free_port())
    instance.write_day(DAY, range(3))
    instance.add_people(20)
    reported = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.bind(path)
        notify.settimeout(120)
        with instance.start(env=os.environ | {"NOTIFY_SOCKET": path}) as child:
            while not any("relay unavailable since" in t for t in reported):
                reported.append(notify.recv(4096).decode())
            if "READY=1" not in "".join(reported):
                raise Skip("built without systemd")
            child.wait_fact(
                lambda: instance.states() == {"DEFERRED": 1, "NEW": 19}, "all waiting")
            child.signal(signal.SIGTERM)
            assert child.wait_exit() == 0, child.output
            assert child.output.count("relay failed") == 1, child.output
            assert child.output.count("delivery ") == 1, child.output
    assert attempts(instance) == [0] * 20


def login_refused(tap):
    """a failed login loses nothing, is not retried, and is reported"""
    directory = tap.subdirectory("login")
    ca = Ca(tap.subdirectory("ca"))
    password = os.path.join(directory, "password")
    write_secret(password, "wrong")
    with Relay(ca.make_pair("localhost")) as relay:
        instance = make_instance(
            tap, "login-instance", relay.port, 20, smtp__host="localhost",
            smtp__tls="starttls", smtp__ca_file=ca.cert, smtp__user="ann",
            smtp__password_file=password,
        )
        refused = instance.once(at_hour(DAY), wanted=75)
        assert relay.verbs().count("AUTH") == 1, relay.verbs()
        assert count_lines(
            refused, "relay auth failed next_in=1800s: 535 5.7.8 wrong user"
        ) == 1, refused.output
        assert "wrong\n" not in refused.output and "d3Jvbmc" not in refused.output
        assert attempts(instance) == [0] * 20
        assert "535 5.7.8" in instance.ctl("queue")
        write_secret(password, "secret")
        instance.once(at_hour(DAY, 9), wanted=0)
        all_sent_once(instance, relay, 20)


def write_secret(path, text):
    save(path, text + "\n")
    os.chmod(path, 0o600)


def starttls_stripped(tap):
    """a remote relay without STARTTLS gets nothing"""
    with Relay() as relay:
        for name, settings in (
            ("auto", {"smtp__host": "relay.localhost"}),
            ("asked", {"smtp__tls": "starttls"}),
        ):
            relay.forget()
            instance = make_instance(tap, f"stripped-{name}", relay.port, 3, **settings)
            refused = instance.once(at_hour(DAY), wanted=75)
            assert "STARTTLS" in refused.output, refused.output
            assert not {"MAIL", "RCPT", "DATA", "AUTH"} & set(relay.verbs())
            assert attempts(instance) == [0] * 3
            # the same if STARTTLS is rejected
            relay.act = lambda verb, _: (
                b"502 5.5.1 no\r\n" if verb == "STARTTLS"
                else b"250-lab\r\n250 STARTTLS\r\n" if verb == "EHLO" else None)
            instance.once(at_hour(DAY, 9), wanted=75)
            assert not {"MAIL", "RCPT", "DATA", "AUTH"} & set(relay.verbs())
            relay.act = lambda verb, _: None


# ---- deferred or failed ------------------------------------------------------


def greylisted(tap):
    """450 at RCPT: DEFERRED, retried on schedule with the same Message-ID"""
    is_first = first_time("RCPT")
    with Relay() as relay:
        relay.act = lambda *words: (
            b"450 4.7.1 come again\r\n" if is_first(*words) else None)
        instance = make_instance(tap, "grey", relay.port, 5)
        instance.once(at_hour(DAY), wanted=75)
        assert instance.states() == {"DEFERRED": 5} and attempts(instance) == [1] * 5
        ids = {
            parse(instance.ctl("digest", "show", str(number), "--raw").encode())["Message-ID"]
            for number in range(1, 6)
        }
        relay.forget()
        instance.once("2026-11-20T08:00:59Z", wanted=75)
        assert not relay.connections
        instance.once(at_hour(DAY, 8, 2), wanted=0)
        all_sent_once(instance, relay, 5)
        assert {parse(raw)["Message-ID"] for _, raw in relay.accepted()} == ids
        assert attempts(instance) == [2] * 5


def later_at_the_dot(tap):
    """450 at the dot: the retry has the same bytes, although the papers change"""
    is_first = first_time(".")
    with Relay() as relay:
        relay.act = lambda *words: b"450 4.2.0 busy\r\n" if is_first(*words) else None
        instance = make_instance(tap, "dot", relay.port, 5)
        instance.once(at_hour(DAY), wanted=75)
        assert instance.states() == {"DEFERRED": 5}
        change_words(instance)
        instance.once(at_hour(DAY, 9), wanted=0)
        all_sent_once(instance, relay, 5)
        check_copies(relay, 5, 2)
        assert instance.value("SELECT count(*) FROM paper WHERE abstract LIKE 'New%'") == 0
        instance.once(at_hour(DAY, 10), wanted=0)
        assert instance.value("SELECT count(*) FROM paper WHERE abstract LIKE 'New%'") == 3


def change_words(instance):
    """The source changes the text of all papers."""
    path = os.path.join(instance.papers, f"daily_papers-{DAY}.json")
    text = read_text(path).replace("It was made up.", "New words.")
    text = text.replace("Ada Example", "Ada Other").replace("Made-up", "Made up")
    save(path, text)


def check_copies(relay, people, copies):
    """Each person has this number of identical copies."""
    texts = collections.defaultdict(list)
    for to, raw, _ in relay.arrived:
        texts[to].append(raw)
    assert sorted(texts) == everybody(people), sorted(texts)
    for to, raws in texts.items():
        assert len(raws) == copies, (to, len(raws))
        assert len(set(raws)) == 1, f"two texts for {to}"


def one_refused(tap):
    """550 at RCPT for one of twenty: nineteen are sent, its papers are sent again"""
    with Relay() as relay:
        relay.act = lambda verb, text: (
            b"550 5.1.1 nobody\r\n" if verb == "RCPT" and person(7) in text else None)
        instance = make_instance(tap, "one", relay.port, 20)
        instance.once(at_hour(DAY), wanted=0)
        assert instance.states() == {"SENT": 19, "FAILED": 1}, instance.states()
        assert person(7) not in relay.recipients()
        assert instance.value("SELECT count(*) FROM delivered_paper") == 19 * 3
        relay.act = lambda verb, text: None
        relay.forget()
        instance.write_day(days_after(DAY, 1), range(3, 5))
        instance.once(at_hour(days_after(DAY, 1)), wanted=0)
        reported = {to: papers_of(raw) for to, raw in relay.accepted()}
        assert len(reported) == 20
        assert reported.pop(person(7)) == [0, 1, 2, 3, 4]
        assert all(papers == [3, 4] for papers in reported.values()), reported


def refused_content(tap):
    """after two rejections for content, a paper is omitted from the third digest"""
    answers = {person(1): b"552 5.3.4 too big\r\n", person(2): b"554 5.6.0 spam\r\n"}
    with Relay() as relay:
        relay.act = lambda verb, text: answers.get(text) if verb == "." else None
        instance = make_instance(tap, "content", relay.port, 3)
        instance.once(at_hour(DAY), wanted=0)
        assert instance.states() == {"SENT": 1, "FAILED": 2}
        # only failures: reported by status
        instance.once(at_hour(days_after(DAY, 1)), wanted=75)
        assert instance.states() == {"SENT": 1, "FAILED": 4}
        assert instance.rows("SELECT DISTINCT times FROM digest_rejected") == [(2,)]
        relay.forget()
        relay.act = lambda verb, text: None
        instance.write_day(days_after(DAY, 2), [7])
        instance.once(at_hour(days_after(DAY, 2)), wanted=0)
        reported = {to: papers_of(raw) for to, raw in relay.accepted()}
        assert reported == {to: [7] for to in everybody(3)}, reported
        relay.forget()
        instance.once(at_hour(days_after(DAY, 3)), wanted=0)
        assert not relay.arrived


def given_up(tap):
    """after expiry at 36 hours, its papers go into the next digest"""
    with Relay() as relay:
        relay.act = lambda verb, _: b"450 4.2.0 full\r\n" if verb == "RCPT" else None
        instance = make_instance(tap, "late", relay.port, 2)
        instance.once(at_hour(DAY), wanted=75)
        for hours in (8, 11, 20, 31, 35):  # of the day, then of the next
            day = days_after(DAY, hours // 24)
            instance.once(at_hour(day, hours % 24, 30), wanted=75)
            assert instance.states() == {"DEFERRED": 2}, (hours, instance.states())
        gone = instance.once(at_hour(days_after(DAY, 1), 20))
        assert instance.states() == {"FAILED": 2}, gone.output
        assert instance.value("SELECT count(*) FROM delivered_paper") == 0
        relay.act = lambda verb, _: None
        instance.write_day(days_after(DAY, 2), [9])
        instance.once(at_hour(days_after(DAY, 2)), wanted=0)
        reported = [papers_of(raw) for _, raw in relay.accepted()]
        assert reported == [[0, 1, 2, 9]] * 2, reported


def given_up_unknown(tap):
    """expired in doubt counts as delivered"""
    with Relay() as relay:
        relay.act = lambda verb, _: DROP if verb == "." else None
        instance = make_instance(tap, "doubt", relay.port, 1)
        instance.once(at_hour(DAY), wanted=75)
        assert instance.states() == {"UNKNOWN": 1}
        instance.once(at_hour(days_after(DAY, 1), 1), wanted=75)
        # a later temporary rejection does not resolve the doubt
        relay.act = lambda verb, _: b"450 4.2.0 full\r\n" if verb == "RCPT" else None
        instance.once(at_hour(days_after(DAY, 1), 3), wanted=75)
        assert instance.states() == {"UNKNOWN": 1}
        instance.once(at_hour(days_after(DAY, 1), 21))
        assert instance.rows("SELECT state, ended_at IS NOT NULL FROM outbox") == [
            ("UNKNOWN", 1)]
        assert instance.value("SELECT count(*) FROM delivered_paper") == 3
        check_copies(relay, 1, 2)
        relay.forget()
        relay.act = lambda verb, _: None
        instance.write_day(days_after(DAY, 2), [9])
        instance.once(at_hour(days_after(DAY, 2)), wanted=0)
        assert [papers_of(raw) for _, raw in relay.accepted()] == [[9]]


def removed_meanwhile(tap):
    """unsubscribing removes queued messages"""
    with Relay() as relay:
        relay.act = lambda verb, _: b"450 4.7.1 later\r\n" if verb == "RCPT" else None
        instance = make_instance(tap, "gone", relay.port, 2)
        instance.once(at_hour(DAY), wanted=75)
        instance.ctl("subscriber", "remove", person(1), "--yes", now=at_hour(DAY, 8, 1))
        assert instance.states() == {"CANCELLED": 1, "DEFERRED": 1}
        relay.act = lambda verb, _: None
        instance.once(at_hour(DAY, 9), wanted=0)
        assert relay.recipients() == [person(2)]
        assert instance.states() == {"CANCELLED": 1, "SENT": 1}
        instance.once(at_hour(days_after(DAY, 1)), wanted=0)
        assert relay.recipients() == [person(2)]


# ---- lost connections --------------------------------------------------------


def cut_after_the_dot(tap):
    """connection lost after the dot: UNKNOWN, then the same Message-ID and bytes"""
    with Relay() as relay:
        relay.act = lambda verb, _: DROP if verb == "." else None
        instance = make_instance(tap, "cut", relay.port, 20)
        doubt = instance.once(at_hour(DAY), wanted=75)
        states = instance.states()
        # five in a row, and messages in progress
        assert 5 <= states["UNKNOWN"] <= 5 + AHEAD, states
        assert states["UNKNOWN"] + states["NEW"] == 20, states
        assert len(relay.arrived) == states["UNKNOWN"]
        assert count_lines(doubt, "delivery unknown") == states["UNKNOWN"]
        change_words(instance)
        relay.act = lambda verb, _: None
        instance.once(at_hour(DAY, 9), wanted=0)
        all_sent_once(instance, relay, 20)
        copies = collections.Counter(to for to, _, _ in relay.arrived)
        assert max(copies.values()) == 2
        assert len({(to, raw) for to, raw, _ in relay.arrived}) == 20


def sink_cuts_after_the_dot(tap):
    """the same against smtp-sink -q ."""
    with SmtpSink(tap.subdirectory("sink-cut"), ["-q", "."]) as sink:
        instance = make_instance(tap, "sink-cut-instance", sink.port, 1)
        instance.once(at_hour(DAY), wanted=75)
        assert instance.states() == {"UNKNOWN": 1}
        first = sink.messages()
    with SmtpSink(tap.subdirectory("sink-whole")) as sink:
        instance.set(smtp__port=sink.port)
        instance.once(at_hour(DAY, 9), wanted=0)
        (second,) = sink.wait_messages(1)
    assert instance.states() == {"SENT": 1}
    assert all(message.raw == second.raw for message in first)


def cut_before_the_dot(tap):
    """connection lost before the dot: no attempt counted, one copy in the end"""
    with Relay() as relay:
        relay.act = lambda verb, _: DROP if verb == "BODY" else None
        instance = make_instance(tap, "half", relay.port, 20)
        instance.once(at_hour(DAY), wanted=75)
        # a loss while writing the end is indistinguishable from one after it
        assert instance.states().get("UNKNOWN", 0) <= 5 + AHEAD, instance.states()
        assert not relay.arrived
        relay.act = lambda verb, _: None
        instance.once(at_hour(DAY, 9), wanted=0)
        all_sent_once(instance, relay, 20)


def closing(tap):
    """421 at any stage closes the connection and counts against no message"""
    for step in ("CONNECT", "EHLO", "MAIL", "RCPT", "DATA", "."):
        with Relay() as relay:
            relay.act = lambda verb, _, step=step: (
                b"421 4.3.2 shutting down\r\n" if verb == step else None)
            instance = make_instance(tap, f"421-{step.strip('.') or 'dot'}", relay.port, 3)
            instance.once(at_hour(DAY), wanted=75)
            # a message written up to its dot counts as an attempt
            tried = 1 if step in ("DATA", ".") else 0
            assert attempts(instance) == [tried] * 3, (step, attempts(instance))
            relay.act = lambda verb, _: None
            instance.once(at_hour(DAY, 9), wanted=0)
            all_sent_once(instance, relay, 3)


def closing_once(tap):
    """an occasionally closed connection is reopened, and all is sent"""
    count = 0

    def act(verb, _):
        nonlocal count
        count += verb == "MAIL"
        return b"421 4.4.2 enough\r\n" if verb == "MAIL" and count % 3 == 0 else None

    with Relay() as relay:
        relay.act = act
        instance = make_instance(tap, "421-often", relay.port, 20)
        instance.once(at_hour(DAY), wanted=0)
        all_sent_once(instance, relay, 20)


def identified_once(tap):
    """without subaddresses each digest has one field that identifies its bounces"""
    with Relay() as relay:
        instance = make_instance(tap, "field", relay.port, 50, smtp__connections=1,
                                 commands__address="papers@news.example",
                                 commands__delimiter="")
        instance.once(at_hour(DAY), wanted=0)
        all_sent_once(instance, relay, 50)
        for _, raw in relay.accepted():
            assert len(parse(raw).get_all("X-Paperboy-Bounce")) == 1, raw


# ---- shutdown and full disk --------------------------------------------------


def ended_at_the_dot(tap):
    """SIGTERM while awaiting the reply to the dot: awaited, recorded, exit 0"""
    with SmtpSink(tap.subdirectory("slow"), ["-W", ".:2"]) as sink:
        instance = Instance(tap.subdirectory("ended"), port=sink.port)
        instance.write_day(DAY, range(3))
        instance.add_people(10)
        with instance.start() as child:
            sink.wait_messages(1)
            child.signal(signal.SIGTERM)
            assert child.wait_exit() == 0, child.output
        taken = sink.messages()
        states = instance.states()
        assert states.get("SENT") == len(taken) < 10, (states, len(taken))
        assert set(states) <= {"SENT", "NEW", "DEFERRED"}, states
        assert sum(attempts(instance)) == len(taken)
    with SmtpSink(tap.subdirectory("quick")) as sink:
        instance.set(smtp__port=sink.port)
        instance.once(wanted=0)
        rest = sink.wait_messages(10 - len(taken))
    assert instance.states() == {"SENT": 10}
    both = [message.recipients[0] for message in taken + rest]
    assert sorted(both) == everybody(10), sorted(both)


class SlowRelay(Relay):
    """Accepts the first message; replies to later ones are held until opened."""

    def __init__(self):
        super().__init__()
        self.clear_lines = ["PIPELINING"]
        self.opened = threading.Event()
        self.held = set()  # recipients of messages without a reply
        self.act = self.hold

    def hold(self, verb, text):
        if verb == "." and self.arrived and not self.opened.is_set():
            self.held.add(text)
            self.opened.wait()
        return None

    def whole(self):
        return {to: raw for to, raw, _ in self.arrived if raw}

    def close(self):
        self.opened.set()
        super().close()


def end_while_held(instance, relay):
    """Stop a daemon with two connections that wait for the relay. @return the daemon, once
    it has requeued messages that were not in flight
    """
    child = instance.start()
    try:
        child.wait_fact(lambda: len(relay.held) == 2, "two messages that wait")
        child.signal(signal.SIGTERM)
        # one reply, and at most two per connection
        child.wait_fact(lambda: instance.states().get("NEW", 0) >= 15, "most given back")
    except BaseException:
        child.stop()
        raise
    return child


def ended_while_slow(tap):
    """SIGTERM with a slow relay: nothing is started, replies are awaited"""
    with SlowRelay() as relay:
        instance = Instance(tap.subdirectory("slow-end"), port=relay.port)
        instance.write_day(DAY, range(3))
        instance.add_people(20)
        with end_while_held(instance, relay) as child:
            assert set(instance.states()) == {"SENT", "SENDING", "NEW"}, instance.states()
            relay.opened.set()
            assert child.wait_exit() == 0, child.output
        started = len(relay.arrived)
        assert started <= 5, started
        assert instance.states() == {"SENT": started, "NEW": 20 - started}, instance.states()
        assert sum(attempts(instance)) == started
        assert relay.verbs().count("MAIL") == started, relay.verbs()
        instance.once(wanted=0)
        all_sent_once(instance, relay, 20)


def ended_while_silent(tap):
    """SIGTERM without replies: in doubt after smtp.shutdown_timeout_s"""
    with SlowRelay() as relay:
        instance = Instance(tap.subdirectory("silent-end"), port=relay.port, smtp__shutdown_timeout_s=1)
        instance.write_day(DAY, range(3))
        instance.add_people(20)
        with end_while_held(instance, relay) as child:
            assert child.wait_exit() == 0, child.output
            assert "ended" in child.output.splitlines()[-1], child.output
        states = collections.Counter(instance.states())
        assert states["SENT"] == 1 and states["UNKNOWN"] == 2, states
        assert states["NEW"] + states["DEFERRED"] == 17, states
        assert sum(attempts(instance)) == 3, attempts(instance)
        instance.check_store()
        relay.opened.set()
        wait_until(lambda: relay.held <= set(relay.whole()), "what it had taken")
        in_doubt = {to: relay.whole()[to] for to in relay.held}
    with Relay() as relay:
        instance.set(smtp__port=relay.port)
        instance.once(at_hour(DAY, 13), wanted=0)
        assert instance.states() == {"SENT": 20}, instance.states()
        again = dict(relay.accepted())
        assert len(relay.accepted()) == len(again) == 19, relay.recipients()
        assert in_doubt.items() <= again.items(), "other bytes than before"


def unit_waits_longer(tap):
    """systemd's stop timeout exceeds the daemon's timeout for the relay"""
    instance = Instance(tap.subdirectory("unit"))
    waits = re.search(r"smtp\.shutdown_timeout_s\D+(\d+)", instance.ctl("config"))
    unit = os.path.join(top_srcdir(), "systemd", "paperboyd.service.in")
    stops = re.search(r"^TimeoutStopSec=(\d+)s$", read_text(unit), re.MULTILINE)
    assert int(waits[1]) + 20 <= int(stops[1]), (waits, stops)


def disk_full(tap):
    """full disk: reported, nothing half done, resumed with space"""
    with small_disk(tap, "disk") as disk, Relay() as relay:
        instance = Instance(tap.subdirectory("full"), port=relay.port)
        instance.set_state(os.path.join(disk, "state"))
        instance.add_people(60, now=at_hour(DAY, 6))
        instance.once(at_hour(DAY, 7), wanted=0)  # creates the key
        instance.write_day(DAY, range(3))
        before = instance.rows("SELECT (SELECT count(*) FROM paper),"
                            " (SELECT count(*) FROM digest)")
        filler = fill(disk)
        full = instance.once(at_hour(DAY))
        assert full.status not in (0, -signal.SIGABRT, -signal.SIGBUS), full
        assert "full" in full.output, full.output
        assert not relay.arrived
        instance.check_store()
        assert instance.rows("SELECT (SELECT count(*) FROM paper),"
                          " (SELECT count(*) FROM digest)") == before
        os.unlink(filler)
        instance.once(at_hour(DAY, 9), wanted=0)
        all_sent_once(instance, relay, 60)


def disk_full_behind_the_dot(tap):
    """no space to record results: the same bytes again, nothing lost"""
    with small_disk(tap, "disk2") as disk, Relay() as relay:
        instance = Instance(tap.subdirectory("full2"), port=relay.port)
        instance.set_state(os.path.join(disk, "state"))
        instance.write_day(DAY, range(3))
        instance.add_people(60, now=at_hour(DAY, 6))

        def act(verb, _):
            if verb == "." and not relay.arrived:
                fill(disk)

        relay.act = act
        full = instance.once(at_hour(DAY))
        assert full.status not in (0, -signal.SIGABRT, -signal.SIGBUS), full
        assert "full" in full.output, full.output
        instance.check_store()
        doubt = len(relay.arrived)
        assert 0 < doubt < 60, doubt
        assert "SENT" not in instance.states(), instance.states()
        relay.act = lambda verb, _: None
        os.unlink(os.path.join(disk, "filler"))
        instance.once(at_hour(DAY, 9), wanted=75)
        instance.once(at_hour(DAY, 9, 5), wanted=0)
        assert instance.states() == {"SENT": 60}
        instance.check_store()
        assert len(relay.arrived) == 60 + doubt
        assert len({(to, raw) for to, raw, _ in relay.arrived}) == 60


def daemon_disk_full(tap):
    """the daemon keeps results until there is space to record them"""
    with small_disk(tap, "disk3") as disk, Relay() as relay:
        instance = Instance(tap.subdirectory("full3"), port=relay.port)
        instance.set_state(os.path.join(disk, "state"))
        instance.write_day(DAY, range(3))
        instance.add_people(60)

        def act(verb, _):
            if verb == "." and not relay.arrived:
                fill(disk)

        relay.act = act
        with instance.start() as child:
            child.wait_line("mailer failed .*full")
            relay.act = lambda verb, _: None
            os.unlink(os.path.join(disk, "filler"))
            instance.ctl("source", "fetch")  # wakes it
            child.wait_fact(lambda: instance.states() == {"SENT": 60}, "all sent")
            child.signal(signal.SIGTERM)
            assert child.wait_exit() == 0, child.output
        all_sent_once(instance, relay, 60)


TESTS = (
    relay_down, daemon_relay_down, login_refused, starttls_stripped, greylisted,
    later_at_the_dot, one_refused, refused_content, given_up, given_up_unknown,
    removed_meanwhile, cut_after_the_dot, sink_cuts_after_the_dot, cut_before_the_dot,
    closing, closing_once, identified_once, ended_at_the_dot, ended_while_slow,
    ended_while_silent, unit_waits_longer, disk_full, disk_full_behind_the_dot,
    daemon_disk_full,
)

with Tap() as tap:
    for test in TESTS:
        tap.run(test, tap)
