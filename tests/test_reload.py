#!/usr/bin/env python3
#
# test_reload.py - a running paperboyd applies a new configuration completely or not at all.

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import threading

import lib  # the path
from clock import DAY
from daemon import Instance, at_hour, parse
from peers import Ca
from smtp_fixture import DROP, Relay
from tap import IS_LONG, Skip, Tap, read_text, run, save, top_srcdir, wait_until

RELOADS = 200 if IS_LONG else 50
PEOPLE = 300 if IS_LONG else 75

# Twenty invalid settings, one per line.
MISTAKES = [
    'mail: { from = "paperboy@news.example"; owner = "owner@news.example";',
    'sender = "x@example.org";', 'from_name = 3;', '};',
    'nonsense = 1;', 'log_level = "loud";', 'state_dir = 5;', 'template_dir = "";',
    'digest: {', 'max = 0;', 'zones = "UTC";', 'at = 730;', '};',
    'collect: {', 'interval_s = 1;', 'contact = 9;', '};',
    'sources = ( { name = "hf"; kind = "huggingface"; enabled = "yes"; } );',
    'delivery: {', 'method = "pigeon";', 'expire_h = 1000;', 'maildirs = "";', '};',
    'smtp: {', 'port = 70000;', 'tls = "maybe";', 'connections = 0;', 'user = 7;', '};',
    'feeds = "http://example.org";',
]
MISTAKE_COUNT = 20


def make_instance(tap, name, port, **settings):
    """An instance with its own templates and three papers of today."""
    directory = tap.subdirectory(name)
    templates = os.path.join(directory, "templates")
    shutil.copytree(os.path.join(top_srcdir(), "etc", "templates"), templates)
    os.chmod(templates, 0o755)
    instance = Instance(os.path.join(directory, "home"), port=port, template_dir=templates,
                  **settings)
    instance.write_day(DAY, range(3))
    return instance


def edit(instance, mark):
    """Add a mark to all templates of the digest."""
    for name in ("digest.txt", "digest.html", "digest.subject"):
        source = os.path.join(top_srcdir(), "etc", "templates", name)
        text = read_text(source)
        save(os.path.join(instance.settings["template_dir"], name),
             f"{text.rstrip()} {mark}\n" if name == "digest.subject"
             else f"{text}{mark}\n")


def marks_of(raw):
    """Marks of edit() in subject, text and HTML of a message, without duplicates."""
    message = parse(raw)
    parts = [message["Subject"]]
    parts += [message.get_body((kind,)).get_content() for kind in ("plain", "html")]
    return [sorted(set(re.findall(r"mark-\d+", part))) for part in parts]


@contextlib.contextmanager
def started(instance, **popen):
    with instance.start(**popen) as child:
        for _ in range(2):  # in either order
            child.wait_line(r"paperboyd \S+ started|collector done")
        yield child


def ask(instance, word):
    """Send one line to the control socket. @return the complete response"""
    with socket.socket(socket.AF_UNIX) as one:
        one.settimeout(120)
        one.connect(os.path.join(instance.state, "control"))
        one.sendall(f"{word}\n".encode())
        answer = b""
        while part := one.recv(65536):
            answer += part
        return answer.decode()


def count(child, text):
    return sum(text in line for line in child.lines)


def wait_in_force(child, times=1):
    for stage in ("collector", "scheduler", "mailer"):
        text = f"config applied stage={stage}"
        child.wait_fact(lambda text=text: count(child, text) >= times, text)


def end(child):
    child.signal(signal.SIGTERM)
    assert child.wait_exit() == 0, child.output


# ---- valid configurations -------------------------------------------------------------


def good(tap):
    """a reload changes templates, relay and log level"""
    with Relay() as first, Relay() as second:
        instance = make_instance(tap, "good", first.port)
        with started(instance) as child:
            instance.add_person("ada@example.org")
            wait_until(lambda: first.recipients() == ["ada@example.org"], "mail")
            wait_until(lambda: instance.states() == {"SENT": 1}, "the record")
            assert "debug" not in child.output, child.output
            edit(instance, "mark-1")
            instance.set(smtp__port=second.port, log_level="debug")
            reported = instance.ctl("reload")
            assert "Configuration reloaded" in reported, reported
            wait_in_force(child)
            child.wait_line(r"config reloaded changed=2: log_level, smtp.port")
            instance.add_person("bob@example.org")
            wait_until(lambda: second.recipients() == ["bob@example.org"], "mail")
            child.wait_line(r"debug   delivery reply .*recipient=bob@example.org")
            assert first.recipients() == ["ada@example.org"]
            end(child)
        assert marks_of(first.accepted()[0][1]) == [[], [], []]
        assert marks_of(second.accepted()[0][1]) == [["mark-1"]] * 3
        assert instance.states() == {"SENT": 2}


def edited_template(tap):
    """an edited template is used after SIGHUP, with the same paperboy.conf"""
    with Relay() as relay:
        instance = make_instance(tap, "edited", relay.port)
        with started(instance) as child:
            edit(instance, "mark-7")
            child.signal(signal.SIGHUP)
            wait_in_force(child)
            child.wait_line(r"config reloaded changed=0$")
            instance.add_person("ada@example.org")
            wait_until(relay.accepted, "mail")
            end(child)
        assert marks_of(relay.accepted()[0][1]) == [["mark-7"]] * 3


def new_address(tap):
    """after a reload with another URL a paused source is polled at once, and a new one"""
    with Relay() as relay:
        instance = make_instance(tap, "address", relay.port)
        right = instance.settings["sources.hf.url"]
        instance.set(sources__hf__url=f"{right}-not-there")
        with started(instance) as child:
            instance.set(sources__hf__url=right, sources__more__kind="huggingface",
                         sources__more__url=right)
            child.signal(signal.SIGHUP)
            child.wait_line(r"collector done answers=\d+ failed=0 new=3")
            end(child)
        sources = json.loads(instance.ctl("--json", "source", "list"))
        assert [row["source"] for row in sources] == ["hf", "more"], sources
        for row in sources:
            assert row["error"] is None and row["paused_until"] is None, row


def other_from(tap):
    """another domain of mail.from is another List-Id, which is logged once"""
    with Relay() as relay:
        instance = make_instance(tap, "from", relay.port)
        assert "digest.news.example" not in instance.once(at_hour(DAY, 6)).output
        instance.set(mail__from="paperboy@papers.example")
        said = instance.once(at_hour(DAY, 7)).output
        assert re.search(r"warning list id changed: digest.papers.example: ", said), said
        assert "list id" not in instance.once(at_hour(DAY, 8)).output
        with started(instance) as child:
            instance.set(mail__from="paperboy@letters.example")
            child.signal(signal.SIGHUP)
            child.wait_line("list id changed: digest.letters.example: ")
            end(child)
        instance.set(mail__from="paperboy@news.example", mail__list_id="digest.letters.example")
        assert "list id" not in instance.once().output


def reported_to_systemd(tap):
    """systemd is notified of the start and end of a reload, valid or not"""
    path = os.path.join(tap.directory, "notify")
    with Relay() as relay, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.bind(path)
        notify.settimeout(120)
        instance = make_instance(tap, "notified", relay.port)
        with started(instance, env=os.environ | {"NOTIFY_SOCKET": path}) as child:
            try:
                while notify.recv(4096) != b"READY=1":
                    pass
            except TimeoutError:
                raise Skip("built without systemd") from None
            for is_good in (True, False):
                instance.set(smtp__port=relay.port if is_good else 0)
                child.signal(signal.SIGHUP)
                reported = []
                while reported[-1:] != ["READY=1"]:
                    text = notify.recv(4096).decode()
                    if not text.startswith("STATUS="):
                        reported.append(text)
                assert len(reported) == 2, reported
                assert re.fullmatch(r"RELOADING=1\nMONOTONIC_USEC=\d+", reported[0]), reported
            child.wait_line("config refused problems=1")
            end(child)


def password(tap):
    """a corrected password is tried at once, and queued mail is sent"""
    directory = tap.subdirectory("login")
    ca = Ca(tap.subdirectory("ca"))
    secret = os.path.join(directory, "password")

    def write_secret(text):
        save(secret, text + "\n")
        os.chmod(secret, 0o600)

    write_secret("wrong")
    with Relay(ca.make_pair("localhost")) as relay:
        instance = make_instance(
            tap, "login-instance", relay.port, smtp__host="localhost",
            smtp__tls="starttls", smtp__ca_file=ca.cert, smtp__user="ann",
            smtp__password_file=secret,
        )
        with started(instance) as child:
            instance.add_person("ada@example.org")
            child.wait_line("relay auth failed next_in=1800s")
            # reloads without a change of the login do not retry it, so the account is not locked
            instance.set(digest__max=30)
            assert ask(instance, "reload") == "ok\n"
            wait_in_force(child)
            assert relay.verbs().count("AUTH") == 1, relay.verbs()
            write_secret("secret")
            assert ask(instance, "reload") == "ok\n"
            wait_until(lambda: relay.recipients() == ["ada@example.org"], "mail")
            child.wait_line("relay recovered")
            instance.add_person("bob@example.org")
            wait_until(lambda: len(relay.recipients()) == 2, "the second mail")
            end(child)
        assert count(child, "relay recovered") == 1, child.output
        assert instance.rows("SELECT state, attempt FROM outbox") == [("SENT", 1)] * 2


def alarms(pid):
    """Seconds until each armed timer of a process expires."""
    found = []
    directory = f"/proc/{pid}/fdinfo"
    try:
        for name in os.listdir(directory):
            with contextlib.suppress(FileNotFoundError):
                with open(os.path.join(directory, name), encoding="ascii") as file:
                    match = re.search(r"it_value: \((\d+),", file.read())
                if match and int(match[1]):
                    found.append(int(match[1]))
    except PermissionError:
        raise Skip("only root sees the timers") from None
    return found


def interval(tap):
    """the next poll of the sources is the new interval after the last one"""
    with Relay() as relay:
        instance = make_instance(tap, "interval", relay.port, collect__interval_s=86400)
        with started(instance) as child:
            child.wait_fact(lambda: any(at > 80000 for at in alarms(child.pid)), "alarm")
            instance.set(collect__interval_s=300)
            assert ask(instance, "reload") == "ok\n"
            wait_in_force(child)
            child.wait_fact(lambda: any(at <= 300 for at in alarms(child.pid)), "alarm")
            assert count(child, "collector done") == 1
            instance.set(collect__interval_s=86400)
            assert ask(instance, "reload") == "ok\n"
            child.wait_fact(
                lambda: not any(at <= 300 for at in alarms(child.pid)), "alarm")
            assert count(child, "collector done") == 1
            end(child)


def maildir(tap):
    """a reload changes delivery to a Maildir"""
    directory = os.path.join(tap.directory, "Mail")
    with Relay() as relay:
        instance = make_instance(tap, "maildir", relay.port)
        with started(instance) as child:
            instance.set(delivery__method="maildir", delivery__maildir=directory)
            assert ask(instance, "reload") == "ok\n"
            wait_in_force(child)
            instance.add_person("ada@example.org")
            wait_until(lambda: instance.states() == {"SENT": 1}, "sent")
            end(child)
        assert len(os.listdir(os.path.join(directory, "new"))) == 1
        assert not relay.arrived


# ---- invalid configurations --------------------------------------------------------------


def check_unchanged(instance, relay, child, name):
    """The daemon works as before."""
    instance.add_person(f"{name}@example.org")
    wait_until(lambda: f"{name}@example.org" in relay.recipients(), "mail")
    wait_until(lambda: set(instance.states()) == {"SENT"}, "the record")
    assert child.is_running and count(child, "config applied") == 0


def mistakes(tap):
    """twenty errors are reported with file and line, and nothing changes"""
    with Relay() as relay:
        instance = make_instance(tap, "bad", relay.port)
        with started(instance) as child:
            good_text = read_text(instance.config)
            save(instance.config, "\n".join([*MISTAKES, instance.db.config]) + "\n")
            child.signal(signal.SIGHUP)
            child.wait_line(f"error   config refused problems={MISTAKE_COUNT}: "
                            "the old configuration stays")
            wrong = [line for line in child.lines if "config error" in line]
            assert len(wrong) == MISTAKE_COUNT, wrong
            where = f"error   config error: {re.escape(instance.config)}:"
            lines = {int(re.search(where + r"(\d+): \S", line)[1]) for line in wrong}
            assert len(lines) == MISTAKE_COUNT, lines
            # each client of the control socket gets the same errors
            answer = ask(instance, "reload").splitlines()
            assert answer[0] == "refused" and len(answer) == 1 + MISTAKE_COUNT, answer
            reported = instance.ctl("reload", wanted=78)
            assert all(line in reported for line in answer[1:]), reported
            save(instance.config, good_text)
            check_unchanged(instance, relay, child, "ada")
            assert ask(instance, "reload") == "ok\n"
            wait_in_force(child)
            end(child)


def bad_template(tap):
    """a missing template, secret or file is reported, and nothing changes"""
    with Relay() as relay:
        instance = make_instance(tap, "template", relay.port)
        path = os.path.join(instance.settings["template_dir"], "digest.txt")
        with started(instance) as child:
            edit(instance, "mark-3")
            with open(path, "a", encoding="utf-8") as file:
                file.write("{{nonsense}}\n")
            reported = instance.ctl("reload", wanted=78)
            assert re.search(r"digest.txt:\d+:\d+: ", reported), reported
            assert "keeps the old configuration" in reported, reported
            reported = instance.ctl("--json", "reload", wanted=78)
            reported = json.loads(reported[reported.index("{"):])
            assert reported["reloaded"] is False and len(reported["problems"]) == 1, reported
            os.unlink(path)
            assert path in instance.ctl("reload", wanted=78)
            edit(instance, "mark-3")
            instance.set(smtp__user="ann", smtp__password_file="/nowhere/password")
            assert "/nowhere/password" in instance.ctl("reload", wanted=78)
            instance.set(smtp__user=None, smtp__password_file=None)
            check_unchanged(instance, relay, child, "ada")
            assert marks_of(relay.accepted()[0][1]) == [[], [], []]
            assert json.loads(instance.ctl("--json", "reload")) == {
                "reloaded": True, "problems": []}
            end(child)


def state_directory(tap):
    """another state directory needs a restart, and the reload is rejected"""
    with Relay() as relay:
        instance = make_instance(tap, "state", relay.port)
        with started(instance) as child:
            instance.set(state_dir=os.path.join(tap.directory, "elsewhere"), smtp__port=1)
            child.signal(signal.SIGHUP)
            child.wait_line("config error: .*: state_dir needs a restart")
            child.wait_line("config refused problems=1: the old")
            # paperboyctl uses the new directory, without a daemon
            assert "elsewhere" in instance.ctl("reload", wanted=69)
            assert not os.path.exists(os.path.join(tap.directory, "elsewhere"))
            instance.set(state_dir=instance.state, smtp__port=relay.port)
            check_unchanged(instance, relay, child, "ada")
            end(child)
        assert "no paperboyd is running" in instance.ctl("reload", wanted=75)


# ---- messages in flight --------------------------------------------------


class Stall:
    """A relay that withholds its reply to the dot until released."""

    def __init__(self, answer):
        self.answer = answer
        self.started = threading.Event()
        self.go = threading.Event()

    def __call__(self, verb, _):
        if verb != "." or self.started.is_set():
            return None
        self.started.set()
        self.go.wait(300)
        return self.answer


def stalled(tap, name, answer, is_edited):
    with Relay() as first, Relay() as second:
        first.act = stall = Stall(answer)
        instance = make_instance(tap, name, first.port, smtp__connections=1)
        instance.add_people(5)
        with started(instance) as child:
            assert stall.started.wait(120)
            if is_edited:
                edit(instance, "mark-5")
            instance.set(smtp__port=second.port, smtp__connections=3)
            child.signal(signal.SIGHUP)
            child.wait_line("config applied stage=collector")
            # only the mailer waits for that relay
            instance.add_person("late@example.org")
            assert ask(instance, "wake") == "ok\n"
            assert ask(instance, "reload") == "ok\n"
            wait_until(lambda: instance.states()["SENDING"] == 1, "only one on its way")
            assert count(child, "applied stage=mailer") == 0
            stall.go.set()
            wait_until(lambda: len(second.accepted()) == 5, "the others")
            child.wait_fact(lambda: count(child, "config applied stage=mailer"), "mailer")
            wait_until(lambda: instance.states().get("SENT", 0) >= 5, "the records")
            end(child)
        (mine,) = first.arrived
        assert marks_of(mine[1]) == [[], [], []]
        later = {to: raw for to, raw in second.accepted()}
        assert len(later) == 5 and mine[0] not in later
        wanted = ["mark-5"] if is_edited else []
        assert all(marks_of(raw) == [wanted] * 3 for raw in later.values())
        if answer != DROP:
            assert instance.states() == {"SENT": 6}
            return None
        assert instance.states() == {"SENT": 5, "UNKNOWN": 1}
        again = instance.once(at_hour(DAY, 23))
        assert again.status == 0, again.output
        assert instance.states() == {"SENT": 6} and len(second.accepted()) == 6
        (copy,) = [raw for to, raw in second.accepted() if to == mine[0]]
        assert parse(copy)["Message-ID"] == parse(mine[1])["Message-ID"]
        return mine[1], copy, again.output


def stalled_and_taken(tap):
    """a message without a reply yet is finished first, and sent once"""
    stalled(tap, "taken", b"250 2.0.0 at last\r\n", True)


def stalled_and_cut(tap):
    """one whose connection is lost is sent again with the same bytes and Message-ID"""
    first, copy, _ = stalled(tap, "cut", DROP, False)
    assert first == copy


def stalled_cut_and_edited(tap):
    """with another template the bytes differ, which is logged; same Message-ID"""
    first, copy, output = stalled(tap, "cut-edited", DROP, True)
    assert first != copy and marks_of(copy) == [["mark-5"]] * 3
    assert "digest changed digest=" in output, output


def under_load(tap):
    """many reloads while sending: each digest arrives once, from one configuration"""
    with Relay() as first, Relay() as second:
        relays = (first, second)

        def think(verb, _):
            if verb == ".":
                threading.Event().wait(0.02)

        for relay in relays:
            relay.act = think
        instance = make_instance(tap, "load", first.port, smtp__connections=4)
        instance.add_people(PEOPLE)
        with started(instance) as child:
            wait_until(first.accepted, "the first")
            before = len(first.accepted())
            for number in range(RELOADS):
                edit(instance, f"mark-{number}")
                instance.set(
                    smtp__port=relays[number % 2].port, smtp__connections=1 + number % 5,
                    log_level=("info", "warning")[number % 3 == 0],
                )
                assert ask(instance, "reload") == "ok\n", number
            instance.set(log_level="info", smtp__connections=4)
            assert ask(instance, "reload") == "ok\n"
            during = sum(len(relay.accepted()) for relay in relays) - before
            child.wait_fact(lambda: instance.states() == {"SENT": PEOPLE}, "all", 120)
            end(child)
        arrived = first.arrived + second.arrived
        reported = {to for to, _, _ in arrived}
        assert len(arrived) == len(reported) == PEOPLE, (len(arrived), len(reported))
        assert instance.rows("SELECT DISTINCT state, attempt FROM outbox") == [("SENT", 1)]
        for _, raw, _ in arrived:
            subject, text, html = marks_of(raw)
            assert subject == text == html and len(subject) <= 1
        assert 0 < during, during
        assert second.arrived, "nobody went over to the second relay"
        tap.diag(f"{during} of {PEOPLE} messages went out during {RELOADS} reloads")
        instance.check_store()


# ---- signals at other times -------------------------------------------------


def early(tap):
    """a SIGHUP during start is handled later and does not end it"""
    with Relay() as relay:
        instance = make_instance(tap, "early", relay.port)

        def is_held(child):
            with open(f"/proc/{child.pid}/status", encoding="ascii") as file:
                mask = re.search(r"SigBlk:\s*([0-9a-f]+)", file.read())[1]
            return int(mask, 16) & 1 or "started" in child.output

        with instance.start() as child:
            child.wait_fact(lambda: is_held(child), "that SIGHUP is blocked")
            child.signal(signal.SIGHUP)
            child.wait_line(r"paperboyd \S+ started")
            child.wait_line("config reloaded changed=0")
            end(child)


def at_birth(tap):
    """a SIGHUP before main() is handled later: libraries take time to load"""
    directory = tap.subdirectory("birth")
    source, library = (os.path.join(directory, name) for name in ("hup.c", "hup.so"))
    save(source, "#include <signal.h>\n#include <unistd.h>\n"
                 "__attribute__((constructor)) static void hup(void)"
                 " { kill(getpid(), SIGHUP); }\n")
    run(["cc", "-shared", "-fPIC", "-o", library, source])
    with Relay() as relay:
        instance = make_instance(tap, "early-hup", relay.port)
        with instance.start(env=dict(os.environ, LD_PRELOAD=library)) as child:
            child.wait_line(r"paperboyd \S+ started")
            child.wait_line("config reloaded changed=0")
            end(child)


def once(tap):
    """--once does not reload: SIGHUP ends it, and the next run completes the work"""
    with Relay() as relay:
        relay.act = stall = Stall(None)
        instance = make_instance(tap, "once", relay.port, smtp__connections=1)
        instance.add_people(3)
        with instance.start_once() as child:
            assert stall.started.wait(120)
            child.signal(signal.SIGHUP)
            assert child.wait_exit() == -signal.SIGHUP, child.output
        stall.go.set()
        instance.once(wanted=75)  # the message in flight waits a minute
        again = instance.once(at_hour(DAY, 14), wanted=0)
        assert instance.states() == {"SENT": 3}, again.output


TESTS = (
    good, edited_template, new_address, other_from, reported_to_systemd, password, interval, maildir,
    mistakes, bad_template, state_directory, stalled_and_taken, stalled_and_cut,
    stalled_cut_and_edited, under_load, early, at_birth,
    once,
)

with Tap() as tap:
    for test in TESTS:
        tap.run(test, tap)
