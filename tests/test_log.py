#!/usr/bin/env python3
#
# test_log.py - the log has what an operator needs, and no personal data.

import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading

import lib  # the path
from clock import DAY
from daemon import Instance, parse
from peers import is_root
from smtp_fixture import DROP, Relay
from tap import Skip, Tap, need_programs, read_text, run, save, top_builddir, top_srcdir

# Strings that cannot be in a log by chance.
PEOPLE = {
    "grete.wolkenstein": "Grete Wolkenstein", "ottokar.vielfrass": "Ottokar Vielfrass",
    "hulda.zwirnlein": "Hulda Zwirnlein", "benno.quastenflosser": "Benno Quastenflosser",
    "adele.murmelbach": "Adele Murmelbach", "kuno.ziegenspeck": "Kuno Ziegenspeck",
    "ilse.dotterblum": "Ilse Dotterblum", "veit.nebelkraehe": "Veit Nebelkraehe",
}
DOMAIN = "wandervogel.example"
LAST = f"nikodemus.haferkorn@{DOMAIN}"
FILTERS = ('"xylograph"', "abstract:perlmuttern", 'author:"Yolanda Quendelhof"')
FILTER_NAME = "Schnickschnack"
CONSENT = "said so at the Kaffeekraenzchen"
TITLE = "Xylograph diffusers of Trapezunt"
ABSTRACT = "A perlmuttern account."
AUTHOR = "Yolanda Quendelhof"
SECRETS = [
    *PEOPLE, "haferkorn", *(word for name in PEOPLE.values() for word in name.split()), DOMAIN,
    "xylograph", "perlmuttern", "Quendelhof", FILTER_NAME, "Kaffeekraenzchen",
    "Trapezunt", "diffusers", "impressum.meyer", "owner@news.example",
    "paperboy@news.example",
]


def element(number):
    paper = {
        "id": f"2611.{number:05}", "title": f"{TITLE}, part {number}",
        "summary": ABSTRACT, "authors": [{"name": AUTHOR, "hidden": False}],
        "publishedAt": "2026-11-17T00:00:00.000Z", "upvotes": 3,
    }
    return {"paper": paper, "publishedAt": "2026-11-16T19:00:00.000Z",
            "title": paper["title"], "numComments": 0}


def write_papers(instance, is_cut=False):
    """Today's papers, or a list truncated within a title."""
    text = json.dumps([element(number) for number in range(3)])
    path = os.path.join(instance.papers, f"daily_papers-{DAY}.json")
    save(path, text[:text.index("Trapezunt, part 2") + 4] if is_cut else text)


def quote(verb, text, seen):
    """Rejections of each kind that quote the recipient's address, or part of it."""
    address = (re.search(r"<(.*?)>", text) or [text, text])[1]
    local = address.partition("@")[0]
    number = list(PEOPLE).index(local) if local in PEOPLE else -1
    replies = {
        ("RCPT", 1): f"550 5.1.1 <{address}>: unknown in local recipient table",
        ("RCPT", 2): f"450 4.2.0 {local}... busy, try again",
        ("RCPT", 3): f"451 4.3.0 cannot look up {address.upper()}",
        ("RCPT", 4): f"550 5.7.1 \"{address}\" may not have mail from you",
        (".", 5): f"554 5.6.0 Subject of {TITLE} for {local} is spam",
        (".", 7): f"450 4.7.0 {local}={DOMAIN}@relay.example later",
    }
    if (verb, number) in seen:
        return None
    seen.add((verb, number))
    if (verb, number) == (".", 6):
        return DROP
    reply = replies.get((verb, number))
    return reply and f"{reply}\r\n".encode()


class Notify:
    """Messages of sd_notify, read at once, since the sender waits."""

    def __init__(self, path):
        self.reported = []
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        self.thread = threading.Thread(target=self.read)

    def read(self):
        while text := self.socket.recv(4096).decode():
            self.reported.append(text)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
            end.sendto(b"", self.socket.getsockname())
        self.thread.join()
        self.socket.close()


def live(tap, name, level):
    """A run of all functions. @return the log, and the tokens in its mail"""
    directory = tap.subdirectory(name)
    templates = os.path.join(directory, "templates")
    run(["cp", "-r", os.path.join(top_srcdir(), "etc", "templates"), templates])
    path = os.path.join(directory, "notify")
    with Relay() as relay, Notify(path) as notify:
        instance = Instance(os.path.join(directory, "home"), port=relay.port, log_level=level,
                      template_dir=templates, smtp__connections=1)
        seen = set()
        relay.act = lambda verb, text: quote(verb, text, seen)
        write_papers(instance, is_cut=True)
        with instance.start(env=os.environ | {"NOTIFY_SOCKET": path}) as child:
            child.wait_line("fetch failed source=hf")
            write_papers(instance)
            instance.ctl("source", "fetch")
            for number, (local, person) in enumerate(PEOPLE.items()):
                instance.ctl("subscriber", "add", f"{local}@{DOMAIN}", "--name", person,
                          "--consent", CONSENT, "--filter", FILTERS[number % 3])
            instance.ctl("filter", "add", f"hulda.zwirnlein@{DOMAIN}", "xylograph AND part",
                      "--name", FILTER_NAME)
            child.wait_fact(
                lambda: sum(instance.states().get(state, 0) for state in (
                    "SENT", "DEFERRED", "FAILED", "UNKNOWN")) == len(PEOPLE),
                "everybody's message tried")
            instance.ctl("subscriber", "remove", "--yes", f"hulda.zwirnlein@{DOMAIN}")
            spoil(instance, child, templates)
            # the relay's greeting and replies have text and a contact address
            relay.act = lambda verb, _: (
                b"554 5.3.2 ask impressum.meyer@relay.example\r\n"
                if verb == "CONNECT" else None)
            instance.set(smtp__connections=2)
            instance.ctl("reload")
            child.wait_line("config applied stage=mailer")
            instance.ctl("subscriber", "add", LAST, "--consent", CONSENT, "--filter",
                      FILTERS[0])
            child.wait_line("relay failed next_in")
            child.signal(signal.SIGTERM)
            assert child.wait_exit() == 0, child.output
        text = child.output + "\n" + "\n".join(notify.reported)
        tokens = {parse(raw)["Message-ID"].strip("<>").partition("@")[0]
                  for _, raw, _ in relay.arrived}
        tokens |= set(re.findall(r"ENVID=\S+", "\n".join(l for _, l in relay.commands)))
    return text, tokens, instance


def spoil(instance, child, templates):
    """Invalid configurations, with addresses and filters in the errors."""
    template = os.path.join(templates, "digest.txt")
    good = read_text(template)
    with open(template, "a", encoding="utf-8") as file:
        file.write("{{impressum.meyer}}\n")
    instance.ctl("reload", wanted=78)
    save(template, good)
    instance.set(mail__owner="Impressum Meyer <impressum.meyer@news.example>",
              mail__envelope_from="impressum.meyer@news.example@x")
    instance.ctl("reload", wanted=78)
    instance.set(mail__owner="owner@news.example", mail__envelope_from=None)
    child.wait_line("config refused problems=2")


def at_info(tap):
    """at level info no address and no text of a person is logged"""
    text, tokens, instance = live(tap, "info", "info")
    found = {word for word in [*SECRETS, *tokens] if word.lower() in text.lower()}
    assert not found, f"{found}\n{text}"
    assert len(tokens) >= 3, tokens
    # but everything that an operator needs
    for pattern in (
        r"info    paperboyd \S+ started", r"warning fetch failed source=hf day=\S+: .*invalid JSON",
        r"info    digests built due=\d", r"info    collector done answers=",
        r"info    deliveries sent sent=\d+ first=1 last=\d+$",
        r"warning delivery failed outbox=\d+ attempt=1 scope=message stage=rcpt "
        r"code=550 status=5.1.1: paperboyctl queue --all",
        r"info    delivery deferred outbox=\d+ attempt=1 scope=message stage=rcpt "
        r"code=450 status=4.2.0 next_in=\d+s",
        r"info    delivery deferred outbox=\d+ attempt=1 scope=relay stage=rcpt "
        r"code=451 status=4.3.0$",
        r"info    delivery unknown outbox=\d+ attempt=1 copies=1 scope=relay stage=dot code=0 "
        r"next_in=\d+s",
        r"error   config error: \S+: template_dir: digest.txt:\d+:\d+: ",
        r"error   config refused problems=\d: the old configuration stays",
        r"info    config applied stage=mailer",
        r"warning relay failed next_in=60s: 554 5.3.2 ask \[address\]$",
        r"info    paperboyd stopping: finishing the work in progress",
        r"info    paperboyd ended",
    ):
        assert re.search(pattern, text, re.M), f"{pattern}\n{text}"
    # the queue shows what the log omits
    assert f"<grete.wolkenstein@{DOMAIN}>" not in text
    assert f"<ottokar.vielfrass@{DOMAIN}>: unknown" in instance.ctl("queue", "--all")


def at_debug(tap):
    """at level debug replies of the relay are logged in full"""
    text, _, _ = live(tap, "debug", "debug")
    assert f"recipient=grete.wolkenstein@{DOMAIN}: 250" in text, text
    assert f"550 5.1.1 <ottokar.vielfrass@{DOMAIN}>: unknown" in text
    rest = "\n".join(line for line in text.splitlines() if " debug   " not in line)
    found = {word for word in SECRETS if word.lower() in rest.lower()}
    assert not found, found


# ---- the journal ------------------------------------------------------------


def read_entry(data):
    """One datagram of the journal's native protocol."""
    fields = {}
    while data:
        line, _, data = data.partition(b"\n")
        name, equals, value = line.partition(b"=")
        if not equals:
            (size,) = struct.unpack("<Q", data[:8])
            value, data = data[8:8 + size], data[9 + size:]
        assert name.decode() not in fields, name
        fields[name.decode()] = value.decode()
    return fields


def play_journal(directory):
    """Runs in its own mount namespace, as the journal for one run of paperboyd."""
    run(["mount", "-t", "tmpfs", "tmpfs", "/run"])
    os.makedirs("/run/systemd/journal")
    journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    journal.bind("/run/systemd/journal/socket")
    journal.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("/run/systemd/journal/stdout")
    listener.listen()
    out = socket.socket(socket.AF_UNIX)
    out.connect("/run/systemd/journal/stdout")
    with Relay() as relay:
        relay.act = lambda verb, text: (
            b"550 5.1.1 no\r\n" if verb == "RCPT" and "0002" in text else
            b"451 4.2.0 later\r\n" if verb == "RCPT" and "0003" in text else None)
        instance = Instance(os.path.join(directory, "home"), port=relay.port)
        instance.write_day(DAY, range(3))
        instance.add_people(3)
        done = subprocess.Popen(instance.once_command(), stdin=subprocess.DEVNULL, stderr=out,
                                stdout=subprocess.PIPE)
        entries = []
        journal.settimeout(0.1)
        while True:
            is_over = done.poll() is not None
            try:
                while True:
                    entries.append(read_entry(journal.recv(65536)))
            except TimeoutError:
                if is_over:
                    break
        assert not done.stdout.read()
        out.close()
        plain = listener.accept()[0].recv(65536).decode()
    print(json.dumps({"entries": entries, "plain": plain}))


def journal(tap):
    """the journal gets a MESSAGE_ID and fields with each line"""
    if not is_root():
        raise Skip("a journal of its own needs root")
    (unshare,) = need_programs("unshare")
    command = [unshare, "--mount", sys.executable, "-B", os.path.abspath(__file__),
               "--journal", tap.subdirectory("journal")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if "unshare failed" in done.stderr or "mount:" in done.stderr:
        raise Skip("no mount namespace here")
    assert done.returncode == 0, done.stderr
    reported = json.loads(done.stdout)
    assert reported["plain"] == "", reported["plain"]  # nothing but entries
    by_name = {}
    for entry in reported["entries"]:
        assert re.fullmatch("[0-9a-f]{32}", entry["MESSAGE_ID"]), entry
        assert entry["SYSLOG_IDENTIFIER"] == "paperboyd"
        by_name[entry["PAPERBOY_EVENT"]] = entry
    failed = by_name["delivery-failed"]
    assert failed["PRIORITY"] == "4" and failed["PAPERBOY_CODE"] == "550", failed
    assert failed["PAPERBOY_STATUS"] == "5.1.1" and failed["PAPERBOY_ATTEMPT"] == "1"
    assert failed["MESSAGE"] == (
        f"delivery failed outbox={failed['PAPERBOY_OUTBOX']} attempt=1 scope=message "
        "stage=rcpt code=550 status=5.1.1: paperboyctl queue --all"), failed
    deferred = by_name["delivery-deferred"]
    assert re.fullmatch(r"\d+", deferred["PAPERBOY_NEXT_IN"]), deferred
    assert f"next_in={deferred['PAPERBOY_NEXT_IN']}s" in deferred["MESSAGE"]
    assert by_name["digests-built"]["PAPERBOY_DIGESTS"] == "3"
    assert by_name["deliveries-sent"]["PRIORITY"] == "6"
    # the manual lists each of them with the same id
    with open(os.path.join(top_builddir(), "man", "paperboyd.8"), encoding="utf-8") as page:
        listed = dict(re.findall(r"^\.It Sy ([a-z-]+) Pq .*?^\.Li ([0-9a-f]{32})$",
                                 page.read(), re.M | re.S))
    assert len(listed) >= 30, listed
    for name, entry in by_name.items():
        assert listed[name] == entry["MESSAGE_ID"], name


if sys.argv[1:2] == ["--journal"]:
    play_journal(sys.argv[2])
else:
    with Tap() as tap:
        for test in (at_info, at_debug, journal):
            tap.run(test, tap)
