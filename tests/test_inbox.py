#!/usr/bin/env python3
"""test_inbox.py - incoming messages are stored and processed once, whatever happens.

Hostile clients and messages, a large backlog, kills, a full disk; and the commands of the
operator.  PAPERBOY_LONG=1: 10,000 messages wait at start, and a kill at every call.
"""

import collections
import json
import os
import random
import shutil
import signal
import smtplib
import socket
import struct
import subprocess
import time

import lib  # the path
from mime_bombs import BOMBS, CONTROLS
from clock import DAY
import stores
from daemon import Instance, parse
from sample_mail import sample_mails, with_id
from smalldisk import fill, small_disk
from tap import (
    DEADLINE_S, IS_LONG, Tap, free_port, need_strace, read, save, top_builddir,
    wait_until,
)

SEED = int(os.environ.get("PAPERBOY_SEED") or (random.randrange(1 << 30) if IS_LONG else 1))
WAITING = 10000 if IS_LONG else 200
GROWTH_KIB = 64 * 1024  # beside those that the daemon needs anyway
CLIENTS = 32  # BOUNDS_LMTP_CLIENTS
MESSAGE_BYTES = 1024 * 1024  # BOUNDS_LETTER_BYTES
NOON = "2026-11-20T12:00:00Z"
UNSCANNED = os.path.join(top_builddir(), "tests", "helper_parser_unscanned")

Box = collections.namedtuple("Box", "instance inbox socket")


def reader():
    return os.path.join(top_builddir(), "paperboy-parser")


def is_sanitized():
    return b"__asan_init" in read(reader())


def new_box(tap, name, **settings):
    """An instance with an LMTP socket and a Maildir; its papers do not matter."""
    directory = tap.subdirectory(name)
    inbox = os.path.join(directory, "inbox")
    for part in ("new", "cur", "tmp"):
        os.makedirs(os.path.join(inbox, part))
    path = os.path.join(directory, "lmtp")
    home = os.path.join(directory, "home")
    os.makedirs(home)
    instance = Instance(home, maildir=os.path.join(directory, "out"), **{
        "receive__lmtp_socket": path, "receive__maildir": inbox,
        "receive__parser": reader()} | settings)
    return Box(instance, inbox, path)


def drop(box, number, raw):
    """As a delivery agent."""
    name = f"{1000000000 + number}.M{number}P1.mail"
    save(os.path.join(box.inbox, "tmp", name), raw)
    os.rename(os.path.join(box.inbox, "tmp", name), os.path.join(box.inbox, "new", name))


def names(box, part):
    return sorted(os.listdir(os.path.join(box.inbox, part)))


def count(box, state="done"):
    return box.instance.value("SELECT count(*) FROM inbox WHERE state = ?", state)


def start(tap, box):
    daemon = tap.enter(box.instance.start())
    daemon.wait_socket(box.socket)
    daemon.wait_socket(os.path.join(box.instance.state, "control"))
    return daemon


def wait_count(daemon, box, wanted, state="done", deadline_s=DEADLINE_S):
    daemon.wait_fact(lambda: count(box, state) >= wanted, f"{wanted} {state}", deadline_s)


def hand_in(box, raw, recipient="paperboy@news.example", sender="eva@people.example"):
    with smtplib.LMTP(box.socket) as lmtp:
        return lmtp.sendmail(sender, [recipient], raw)


# ---- LMTP ---------------------------------------------------------------------


class Line:
    """A client that can do anything."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(120)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")

    def say(self, content):
        self.socket.sendall(content)

    def hear(self):
        """One reply, its last line."""
        while True:
            line = self.file.readline()
            if line[3:4] != b"-":
                return line.decode().strip()

    def ask(self, line):
        self.say(line + b"\r\n")
        return self.hear()

    def close(self):
        self.file.close()
        self.socket.close()


# The state of a session before the misbehaviour.
STATES = {
    "the greeting": b"",
    "LHLO": b"LHLO x\r\n",
    "MAIL": b"LHLO x\r\nMAIL FROM:<a@b.example>\r\n",
    "RCPT": b"LHLO x\r\nMAIL FROM:<a@b.example>\r\nRCPT TO:<c@d.example>\r\n",
    "DATA": b"LHLO x\r\nMAIL FROM:<a@b.example>\r\nRCPT TO:<c@d.example>\r\nDATA\r\n",
    "half a message": b"LHLO x\r\nMAIL FROM:<a@b.example>\r\nRCPT TO:<c@d.example>\r\n"
                     b"DATA\r\nFrom: a@b.example\r\n\r\nhalf\r\n.y",
}

FLOODS = {
    "a line without end": b"x" * 65536,
    "empty lines": b"\r\n" * 32768,
    "NOOP": b"NOOP\r\n" * 10000,
    "LHLO": b"LHLO x\r\n" * 10000,
    "RCPT": b"RCPT TO:<a@b.example>\r\n" * 3000,
    "noise": bytes(range(256)) * 256,
}


def pour(line, content):
    """Send until everything is sent, or the peer closes. @return number of bytes sent"""
    sent = 0
    line.socket.settimeout(5)
    try:
        while sent < 40_000_000:
            line.say(content)
            sent += len(content)
    except (BrokenPipeError, ConnectionResetError, TimeoutError):
        pass
    return sent


def bad_clients_do_no_harm(tap):
    """clients that disconnect, reset, hang or flood in each state do no harm"""
    box = new_box(tap, "clients")
    daemon = start(tap, box)
    hand_in(box, sample_mails(1)[0])
    wait_count(daemon, box, 1)
    before = memory(daemon.pid, "VmHWM")
    hanging = []
    for said in STATES.values():
        one = Line(box.socket)
        one.say(said)
        one.close()
        one = Line(box.socket)
        one.say(said)
        # RST instead of FIN
        one.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        one.close()
        hanging.append(Line(box.socket))
        hanging[-1].say(said)
        for flood in FLOODS.values():
            one = Line(box.socket)
            one.say(said)
            assert pour(one, flood) < 40_000_000, (said, flood[:20])
            one.close()
    hand_in(box, sample_mails(2)[1])
    wait_count(daemon, box, 2)
    assert box.instance.value("SELECT count(*) FROM inbox") == 2
    grown = memory(daemon.pid, "VmHWM") - before
    tap.diag(f"the daemon has grown by {grown} KiB")
    assert is_sanitized() or grown < GROWTH_KIB
    # idle clients do not block others below the limit on connections
    # once those of closed connections are free
    while len(hanging) < CLIENTS:
        hanging.append(wait_until(lambda: enter(box), "a place"))
    late = Line(box.socket)
    assert late.hear().startswith("421 4.3.2"), "one too many"
    late.close()
    hanging.pop().close()
    wait_until(lambda: enter(box), "a place").close()
    assert daemon.stop() == 0
    # idle clients get a timeout reply
    assert hanging[0].hear().startswith("220")
    assert hanging[0].hear().startswith("421 4.3.2 Service shutting down")
    for one in hanging:
        one.close()
    assert not os.path.exists(box.socket)


def enter(box):
    """A client that is below the limit on connections, or None."""
    one = Line(box.socket)
    if one.hear().startswith("220"):
        return one
    one.close()
    return None


def mails_arrive_unchanged(tap):
    """messages with dots, of all sizes, and pipelined ones are unmodified"""
    box = new_box(tap, "receiver", receive__parser="/nonexistent/reader")
    daemon = start(tap, box)
    raws = sample_mails(60)
    line = Line(box.socket)
    line.hear()
    line.say(b"LHLO x\r\n" + b"".join(
        b"MAIL FROM:<a@b.example>\r\nRCPT TO:<c@d.example>\r\nRCPT TO:<e@d.example>\r\n"
        for _ in range(1)))
    assert line.hear() == "250 ENHANCEDSTATUSCODES"
    for raw in raws:
        stuffed = raw.replace(b"\r\n.", b"\r\n..")
        if not stuffed.endswith(b"\r\n"):
            stuffed += b"\r\n"
        # the next envelope is sent before the replies to a message
        line.say(b"DATA\r\n")
        line.say(stuffed + b".\r\nMAIL FROM:<a@b.example>\r\nRCPT TO:<c@d.example>\r\n"
                 b"RCPT TO:<e@d.example>\r\n")
    answers = [line.hear()[:3] for _ in range(3 + len(raws) * 6)]
    assert answers == ["250"] * 3 + ["354", *["250"] * 5] * len(raws), answers
    line.close()
    stored = [raw for (raw,) in box.instance.rows("SELECT raw FROM inbox ORDER BY id")]
    assert [raw.rstrip(b"\r\n") for raw in stored] == [raw.rstrip(b"\r\n") for raw in raws]
    # at the limit, and one beyond
    for size, code in ((MESSAGE_BYTES, "250"), (MESSAGE_BYTES + 1, "552")):
        line = Line(box.socket)
        line.hear()
        for command in (b"LHLO x", b"MAIL FROM:<>", b"RCPT TO:<c@d.example>", b"DATA"):
            line.ask(command)
        head = b"Message-ID: <%d@b>\r\n\r\n" % size
        line.say(head + b"x" * (size - len(head) - 2) + b"\r\n.\r\n")
        assert line.hear().startswith(code), size
        assert line.ask(b"NOOP").startswith("250")
        line.close()
    assert daemon.stop() == 0


def one_mail_counts_once(tap):
    """a duplicate by any receiver, with other trace fields, is processed once"""
    box = new_box(tap, "once", receive__recipient_header="Delivered-To")
    raw = sample_mails(1)[0]
    drop(box, 1, b"Return-Path: <x@y.example>\nReceived: from a\n" + raw.replace(b"\r\n", b"\n"))
    daemon = start(tap, box)
    wait_count(daemon, box, 1)
    for _ in range(3):
        for recipient in ("paperboy@news.example", "paperboy+u-abc@news.example"):
            hand_in(box, b"Received: from b by c\r\n" + raw, recipient)
    drop(box, 2, raw + b"\r\n\r\n")
    wait_until(lambda: names(box, "new") == [], "an empty folder")
    assert box.instance.rows("SELECT state, tries FROM inbox") == [("done", 0)]
    # another message of the same sender is not a duplicate
    hand_in(box, raw.replace(b"<letter.0@", b"<letter.1@"))
    hand_in(box, raw.replace(b"list", b"stop"))
    wait_count(daemon, box, 3)
    assert daemon.stop() == 0


def later_is_said(tap):
    """a busy store and a full disk cause 451, and messages stay in a Maildir"""
    box = new_box(tap, "later", receive__min_free_mb=1000000)
    daemon = start(tap, box)
    raw = sample_mails(1)[0]
    try:
        hand_in(box, raw)
        raise AssertionError("it was taken")
    except smtplib.SMTPDataError as refusal:
        assert refusal.smtp_code == 451, refusal
    daemon.wait_line("receiver failed receiver=lmtp: the disk of the state directory is nearly full")
    drop(box, 1, raw)
    daemon.wait_line("receiver failed receiver=maildir")
    assert len(names(box, "new")) == 1
    assert "receivers: lmtp:failed,maildir:failed" in box.instance.ctl("status", wanted=(0, 1, 2))
    box.instance.set(receive__min_free_mb=0)
    box.instance.ctl("reload")
    hand_in(box, raw)
    daemon.wait_line("receiver recovered receiver=lmtp")
    wait_count(daemon, box, 1)
    with box.instance.db.locked():
        try:
            hand_in(box, sample_mails(2)[1])
            raise AssertionError("it was taken")
        except smtplib.SMTPDataError as refusal:
            assert refusal.smtp_code == 451, refusal
    hand_in(box, sample_mails(2)[1])
    wait_count(daemon, box, 2)
    assert daemon.stop() == 0


def refuse(box, raw):
    """The message is deferred."""
    try:
        hand_in(box, raw)
    except smtplib.SMTPDataError as refusal:
        assert refusal.smtp_code == 451, refusal
        return
    raise AssertionError("it was taken")


def survives_a_full_disk(tap):
    """with a full disk messages are deferred and digests wait, until there is space"""
    with small_disk(tap, "disk") as disk:
        state = os.path.join(disk, "state")
        box = new_box(tap, "full", receive__min_free_mb=0)
        box.instance.set_state(state)
        box.instance.add_person("ada@people.example")
        daemon = start(tap, box)
        daemon.wait_line("maintenance done")
        # Larger than the free pages of the store.
        large = [with_id(raw, number) + (b"y" * 70 + b"\r\n") * 9000
                 for number, raw in enumerate(sample_mails(3))]
        filler = fill(disk)
        refuse(box, large[0])
        daemon.wait_line("receiver failed receiver=lmtp: .*full")
        drop(box, 1, large[1])
        daemon.wait_line("receiver failed receiver=maildir: .*full")
        box.instance.write_day(DAY, range(40))
        reported = box.instance.ctl("source", "fetch", wanted=(69, 75))
        assert "full" in reported, reported
        refuse(box, large[2])
        assert daemon.is_running, daemon.output
        assert box.instance.value("SELECT count(*) FROM digest") == 0
        assert "disk of the state directory is full" in box.instance.ctl("status", wanted=2)
        assert names(box, "new") and count(box) == 0
        os.unlink(filler)
        wait_count(daemon, box, 1)  # that of the Maildir, without a wake-up
        for raw in large:
            hand_in(box, raw)
        wait_count(daemon, box, 3)
        box.instance.ctl("source", "fetch")  # the daemon does so every half hour
        daemon.wait_fact(lambda: box.instance.states() == {"SENT": 1}, "the digest")
        assert box.instance.rows("SELECT state FROM inbox") == [("done",)] * 3
        box.instance.check_store()
        assert daemon.stop() == 0


def reload_moves_the_socket(tap):
    """a reload opens another socket, and a network port, and closes the old socket"""
    box = new_box(tap, "reload")
    daemon = start(tap, box)
    other = box._replace(socket=box.socket + "2")
    port = free_port()
    box.instance.set(receive__lmtp_socket=other.socket,
                  receive__lmtp_listen=f"127.0.0.1:{port}")
    box.instance.ctl("reload")
    daemon.wait_socket(other.socket)
    daemon.wait_port(port)
    assert not os.path.exists(box.socket)
    hand_in(other, sample_mails(1)[0])
    with smtplib.LMTP("127.0.0.1", port) as lmtp:
        lmtp.sendmail("eva@people.example", ["paperboy@news.example"], sample_mails(2)[1])
    wait_count(daemon, other, 2)
    assert os.stat(other.socket).st_mode & 0o777 == 0o600
    # errors are reported, and none of the settings is used
    box.instance.set(receive__lmtp_listen="192.0.2.1:24", receive__lmtp_group="nosuchgroup")
    reported = box.instance.ctl("reload", wanted=78)
    assert "is not a loopback address" in reported and "nosuchgroup" in reported, reported
    assert daemon.stop() == 0


def a_dead_daemon_leaves_its_socket(tap):
    """the socket of a killed daemon is replaced, that of a running one is not"""
    box = new_box(tap, "stale")
    start(tap, box).kill()
    assert os.path.exists(box.socket)
    daemon = start(tap, box)
    daemon.wait_fact(lambda: is_open(box.socket), "an open socket")
    hand_in(box, sample_mails(1)[0])
    wait_count(daemon, box, 1)
    other = new_box(tap, "stale-other")
    other.instance.set(receive__lmtp_socket=box.socket)
    second = tap.enter(other.instance.start())
    second.wait_line("receiver failed receiver=lmtp: socket")
    hand_in(box, sample_mails(2)[1])
    wait_count(daemon, box, 2)
    assert second.stop() == 0
    assert is_open(box.socket), "the other took it away"
    assert daemon.stop() == 0


def is_open(path):
    with socket.socket(socket.AF_UNIX) as one:
        try:
            one.connect(path)
        except OSError:
            return False
    return True


# ---- Maildir --------------------------------------------------------------------


def a_maildir_appears_and_disappears(tap):
    """a missing Maildir is awaited, and watched once it exists"""
    box = new_box(tap, "folder")
    shutil.rmtree(box.inbox)
    daemon = start(tap, box)
    daemon.wait_line("receiver failed receiver=maildir: cannot open the directory")
    raws = sample_mails(6)

    def make():
        for part in ("tmp", "new"):  # without cur, which is created
            os.makedirs(os.path.join(box.inbox, part))

    make()
    drop(box, 1, raws[1])
    wait_count(daemon, box, 1)
    drop(box, 2, raws[2])
    wait_count(daemon, box, 2)
    # The daemon moves a message, and creates missing directories.
    wait_until(lambda: names(box, "new") == [], "the second moved")
    os.rename(box.inbox, box.inbox + ".gone")
    shutil.rmtree(box.inbox + ".gone")
    daemon.wait_line("receiver failed receiver=maildir: cannot open the directory")
    make()
    drop(box, 3, raws[3])
    wait_count(daemon, box, 3)
    wait_until(lambda: names(box, "new") == [], "the third moved")
    # another directory of the same name
    os.rename(os.path.join(box.inbox, "new"), os.path.join(box.inbox, "old"))
    os.makedirs(os.path.join(box.inbox, "new"))
    drop(box, 4, raws[4])
    wait_count(daemon, box, 4)
    assert daemon.stop() == 0


ODD = {  # names in new, and their messages
    "1000000000.folder": "is a directory",
    "1000000000.link": "is a symbolic link",
    "1000000000.pipe": "is not a regular file",
    "1000000002.M2P1.mail": f"bytes, the limit is {MESSAGE_BYTES}",
}


def what_cannot_be_taken_stays(tap):
    """unreadable and oversized files stay in new and are reported until removed"""
    box = new_box(tap, "odd")
    raws = sample_mails(5)
    drop(box, 1, raws[1])
    fresh = os.path.join(box.inbox, "new")
    os.makedirs(os.path.join(fresh, "1000000000.folder"))
    os.symlink("/etc/hostname", os.path.join(fresh, "1000000000.link"))
    os.mkfifo(os.path.join(fresh, "1000000000.pipe"))
    drop(box, 2, raws[2] + b"x" * MESSAGE_BYTES)
    drop(box, 3, raws[3])
    with open(os.path.join(fresh, ".hidden"), "wb"):
        pass
    for _ in range(2):
        daemon = start(tap, box)
        wait_until(lambda: len(names(box, "cur")) == 2, "two moved")
        wait_until(lambda: box.instance.value("SELECT count(*) FROM skipped_message") == 4,
                   "four skipped")
        assert [name[-1] for name in names(box, "cur")] == ["S", "S"], names(box, "cur")
        assert [name for name in names(box, "new") if name[0] != "."] == sorted(ODD)
        reported = box.instance.ctl("status", wanted=1)
        assert "receivers: lmtp:ok,maildir:ok" in reported, reported
        assert "mail cannot be received" not in reported and "4 skipped" in reported, reported
        found = json.loads(box.instance.ctl("--json", "status", wanted=1))
        assert found["inbox"]["skipped"] == 4, found["inbox"]
        stays = [p for p in found["problems"] if p["action"] == "move or delete it there"]
        assert len(stays) == 3, found["problems"]  # the first few, then a number
        assert "1 more" in reported, reported
        assert daemon.stop() == 0
    reasons = dict(box.instance.rows("SELECT name, reason FROM skipped_message"))
    for name, words in ODD.items():
        assert name in reasons[name] and words in reasons[name], reasons
    daemon = start(tap, box)
    shutil.rmtree(os.path.join(fresh, "1000000000.folder"))
    for name in sorted(ODD)[1:]:
        os.unlink(os.path.join(fresh, name))
    drop(box, 4, raws[4])
    daemon.wait_line("inbox skip cleared")
    wait_until(lambda: box.instance.value("SELECT count(*) FROM skipped_message") == 0,
               "none skipped")
    assert "stays there" not in box.instance.ctl("status", wanted=(0, 1, 2))
    assert daemon.stop() == 0


def large(sender, number, *fields):
    """A message above the size limit."""
    head = [f"From: {sender}", "To: paperboy@news.example", "Subject: add agents",
            f"Message-ID: <large.{number}@people.example>", *fields, "", ""]
    return "\n".join(head).encode() + b"x" * MESSAGE_BYTES


def too_large_is_answered_once(tap):
    """the sender of an oversized message gets one reply, unless it is automatic"""
    box = new_box(tap, "large", commands__address="paperboy@news.example",
                  limits__unknown_sender_per_day=1, receive__recipient_header="Delivered-To")
    drop(box, 1, large("eva@people.example", 1))
    drop(box, 2, large("robot@people.example", 2, "Auto-Submitted: auto-generated"))
    drop(box, 3, large("list@people.example", 3, "List-Id: <x.people.example>"))
    drop(box, 4, large("ada@people.example", 4,
                       "Delivered-To: paperboy+unsubscribe@news.example"))
    drop(box, 5, b"Subject: no end " + b"x" * 2 * MESSAGE_BYTES)
    drop(box, 6, large("eva@people.example", 6))
    sent = "SELECT count(*) FROM outbox WHERE state = 'SENT'"
    for turn in range(2):
        daemon = start(tap, box)
        wait_count(daemon, box, 5)
        wait_until(lambda: box.instance.value(sent) >= 2, "answers")
        if turn:  # the same message elsewhere
            drop(box, 7, large("eva@people.example", 1))
            wait_until(lambda: box.instance.value("SELECT count(*) FROM skipped_message")
                       == 7, "seven skipped")
        assert daemon.stop() == 0
    assert box.instance.value(sent) == 2
    verdicts = [row[0] for row in box.instance.rows("SELECT verdict FROM inbox ORDER BY id")]
    assert verdicts == ["replied", "no reply: automatic", "no reply: list", "replied",
                        "rate limited: unknown-sender-per-day"]
    directory = os.path.join(os.path.dirname(box.inbox), "out", "new")
    texts = {}
    for name in os.listdir(directory):
        mail = parse(read(os.path.join(directory, name)))
        texts[mail["To"]] = mail.get_body(("plain",)).get_content()
    assert "Your message is too large" in texts["eva@people.example"], texts
    assert "limit is 1 MB" in texts["eva@people.example"], texts
    assert "too large" not in texts["ada@people.example"], texts
    assert names(box, "cur") == []


def many_wait_at_start(tap):
    """messages waiting at start are processed in bounded memory"""
    box = new_box(tap, "many")
    raws = sample_mails(WAITING)
    for number, raw in enumerate(raws):
        drop(box, number, raw)
    idle = new_box(tap, "many-idle")
    daemon = start(tap, idle)
    drop(idle, 1, raws[0])
    wait_count(daemon, idle, 1)
    before = memory(daemon.pid, "VmHWM")
    assert daemon.stop() == 0
    started = time.monotonic()
    daemon = tap.enter(box.instance.start())
    daemon.wait_fact(box.instance.db.exists, "a store")
    wait_count(daemon, box, WAITING, deadline_s=1200)
    took = time.monotonic() - started
    peak = memory(daemon.pid, "VmHWM")
    assert daemon.stop() == 0
    tap.diag(f"{WAITING} messages of {sum(map(len, raws))} bytes in {took:.1f} s, "
             f"{WAITING / took:.0f} a second; at most {peak} KiB, {peak - before} more "
             "than for one")
    assert is_sanitized() or peak - before < GROWTH_KIB
    # oldest first
    order = [sent for (sent,) in box.instance.rows("SELECT size FROM inbox ORDER BY id")]
    assert order == [len(raw) for raw in raws]
    assert names(box, "new") == [] and len(names(box, "cur")) == WAITING


def memory(pid, name):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        for line in file:
            if line.startswith(name):
                return int(line.split()[1])
    raise AssertionError(name)


# ---- bombs ------------------------------------------------------------------------


def bombs_are_handled_or_quarantined(tap):
    """every bomb is processed or quarantined, and the daemon continues"""
    box = new_box(tap, "bombs")
    wanted = {}
    for number, (name, make, refusal) in enumerate(BOMBS):
        raw = make()
        if isinstance(raw, bytes) and 0 < len(raw) <= MESSAGE_BYTES:
            drop(box, number, with_number(raw, number))
            wanted[number] = (name, refusal)
    plain = sample_mails(1)[0]
    drop(box, 9999, plain)
    daemon = start(tap, box)
    daemon.wait_fact(lambda: count(box) + count(box, "quarantined") == len(wanted) + 1,
                     "all of them", 600)
    rows = box.instance.rows("SELECT state, tries, verdict, raw FROM inbox ORDER BY id")
    for (name, refusal), (state, tries, verdict, raw) in zip(wanted.values(), rows):
        if refusal:
            assert (state, tries) == ("quarantined", 3), (name, state, tries, verdict)
            assert verdict.startswith("message rejected: "), (name, verdict)
            assert raw is not None
        else:
            assert (state, tries, raw) == ("done", 0, None), (name, state, verdict)
    assert rows[-1][0] == "done"
    assert daemon.stop() == 0


def with_number(raw, number):
    """Only a little, so that each stays distinct and keeps its effect."""
    return b"Message-ID: <bomb.%d@b.example>\n" % number + raw if len(raw) < 1000000 else raw


def a_crashing_parser_quarantines_the_mail(tap):
    """without the prescan the child crashes; quarantined after three tries"""
    box = new_box(tap, "dying", receive__parser=UNSCANNED)
    plain, later = sample_mails(2)
    for number, (_, make) in enumerate(CONTROLS):
        drop(box, number, make()[:MESSAGE_BYTES])
    drop(box, 99, plain)
    run_ = box.instance.once(NOON, wanted=75)
    assert run_.output.count("the parser was killed") == 3 or is_sanitized(), run_.output
    assert count(box, "new") == 3 and count(box) == 1
    assert box.instance.value("SELECT sum(tries) FROM inbox") == 3
    # not before it is due
    box.instance.once(NOON, wanted=75)
    assert box.instance.value("SELECT sum(tries) FROM inbox") == 3
    box.instance.once("2026-11-20T12:01:00Z", wanted=75)
    box.instance.once("2026-11-20T12:10:00Z", wanted=0)
    assert count(box, "quarantined") == 3
    assert box.instance.value("SELECT min(tries) FROM inbox WHERE state <> 'done'") == 3
    # the daemon survives
    box.instance.ctl("inbox", "retry", "all")
    daemon = start(tap, box)
    daemon.wait_line("inbox failed inbox=")
    hand_in(box, later)
    wait_count(daemon, box, 2)
    assert daemon.stop() == 0


# ---- killed -------------------------------------------------------------------------


# Maximum number of calls that the short run skips, by call.
CALLS = {"pwrite64": 30, "fdatasync": 4, "rename": 1, "pipe2": 3, "wait4": 2, "openat": 90,
         "read": 60, "write": 20}
COMMIT = "sendto" if stores.is_database() else "fdatasync"
if stores.is_database():
    CALLS[COMMIT] = 40


def every_kill_counts_once(tap):
    """killed at any step from the Maildir to the commit, each message is processed once"""
    strace = need_strace()
    rng = random.Random(SEED)
    raws = sample_mails(4)
    kills = collections.Counter()
    first = new_box(tap, "kill-first")
    first.instance.once(NOON, wanted=0)
    for call, step in CALLS.items():
        number = 0
        while True:
            number += 1 if IS_LONG else rng.randint(1, step)
            if not kill_at(tap, strace, call, number, first, raws):
                break
            kills[call] += 1
    tap.diag(f"{sum(kills.values())} kills: {dict(kills)}")
    assert kills[COMMIT] >= 2 and kills["rename"] >= 4, kills


def kill_at(tap, strace, call, number, first, raws):
    """@return whether there was such a call"""
    name = f"kill-{call}"
    box = new_box(tap, name)
    box.instance.take_state(first.instance)
    for at, raw in enumerate(raws):
        drop(box, at, raw)
    where = f"killed at {call} number {number}"
    try:
        done = box.instance.once(NOON, prefix=[
            # LeakSanitizer does not work under ptrace
            strace, "-qq", "-E", "ASAN_OPTIONS=detect_leaks=0", "-o",
            os.path.join(box.instance.directory, "trace"), "-e",
            f"trace={call}", "-e", f"inject={call}:signal=KILL:when={number}"])
        assert done.status in (0, -signal.SIGKILL), (where, done)
        box.instance.check_store()
        box.instance.once(NOON, wanted=0)
        rows = box.instance.rows("SELECT state, tries, verdict FROM inbox")
        assert rows == [("done", 0, "no handler")] * len(raws), (where, rows)
        assert names(box, "new") == [] and len(names(box, "cur")) == len(raws), where
    finally:
        shutil.rmtree(os.path.dirname(box.instance.directory))
    return done.status != 0


def kills_lose_no_accepted_mail(tap):
    """killed during LMTP, each message with a 250 is stored once"""
    rng = random.Random(SEED + 1)
    box = new_box(tap, "kill-lmtp")
    waiting = dict(enumerate(sample_mails(400 if IS_LONG else 120)))
    total, kills = len(waiting), 0
    while waiting:
        daemon = tap.enter(box.instance.start())
        daemon.wait_fact(lambda: is_open(box.socket), "an open socket")
        left = rng.randint(1, 40)
        try:
            while waiting and left:
                number = next(iter(waiting))
                left -= 1
                if left == 0:
                    # within this one
                    killer = subprocess.Popen(["kill", "-9", str(daemon.pid)])
                hand_in(box, waiting[number])
                del waiting[number]
        except (OSError, smtplib.SMTPException):
            pass
        if left == 0:
            killer.wait()
            kills += 1
        daemon.kill()
    daemon = start(tap, box)
    wait_count(daemon, box, total)
    assert daemon.stop() == 0
    assert box.instance.value("SELECT count(*) FROM inbox") == total
    tap.diag(f"{kills} kills while {total} messages arrived")
    assert kills >= 2


# ---- the operator ---------------------------------------------------------------------


def an_operator_looks_and_decides(tap):
    """inbox list, show, retry and drop; doctor and status report the quarantine"""
    box = new_box(tap, "operator")
    instance = box.instance
    assert instance.ctl("inbox", "list") == "No new or quarantined messages.\n"
    bad = b"From: eva@people.example\nSubject: a\x1b[2Jb\nX: \0\n\nx\n"
    for number in range(3):
        drop(box, number, b"Message-ID: <%d@b.example>\n" % number + bad)
    instance.once(NOON, wanted=0)
    assert count(box, "quarantined") == 3
    listed = instance.ctl("inbox", "list")
    assert listed.count("quarantined  maildir") == 3 and "message rejected" in listed, listed
    rows = json.loads(instance.ctl("--json", "inbox", "list"))
    assert [row["id"] for row in rows] == [3, 2, 1] and rows[0]["attempts"] == 3, rows
    shown = instance.ctl("inbox", "show", "1")
    assert "From         eva@people.example" in shown and "\x1b" not in shown, shown
    assert instance.ctl("inbox", "show", "1", "--raw").encode() == (
        b"Message-ID: <0@b.example>\n" + bad)
    assert "3 received messages are quarantined: paperboyctl inbox list" in instance.ctl(
        "status", wanted=2)
    assert "3 received messages are quarantined" in instance.ctl("doctor", wanted=1)
    reported = json.loads(instance.ctl("--json", "status", wanted=2))
    assert reported["inbox"] == {
        "new": 0, "quarantined": 3, "skipped": 0, "unanswered": []}, reported
    assert "1 message: due now" in instance.ctl("inbox", "retry", "1", now=NOON)
    assert count(box, "new") == 1
    assert instance.ctl("inbox", "drop", "2", wanted=65).count("--yes") == 1
    assert "1 message: dropped" in instance.ctl("inbox", "drop", "2", "--yes")
    assert "already processed" in instance.ctl("inbox", "retry", "2", wanted=65)
    assert "processed; its text is deleted" in instance.ctl("inbox", "show", "2")
    instance.ctl("inbox", "show", "2", "--raw", wanted=67)
    instance.ctl("inbox", "show", "99", wanted=67)
    instance.ctl("inbox", "list", "--state", "odd", wanted=65)
    assert "2 messages: due now" not in instance.ctl(
        "inbox", "retry", "all", now=NOON)
    instance.once(NOON, wanted=0)
    assert "2 messages: dropped" in instance.ctl("inbox", "drop", "all", "--yes")
    assert instance.ctl("inbox", "drop", "all", "--yes") == "No quarantined messages.\n"
    assert "are quarantined" not in instance.ctl("doctor", wanted=(0, 1))
    assert instance.ctl("inbox", "list", "--state", "done").count("done") == 3
    assert instance.ctl("log").count("message dropped") == 3
    # dropped messages are not stored again
    drop(box, 9, b"Message-ID: <1@b.example>\n" + bad)
    instance.once(NOON, wanted=0)
    assert instance.value("SELECT count(*) FROM inbox") == 3


def waiting_mails_are_reported(tap):
    """messages that wait for an hour are reported by doctor and status"""
    box = new_box(tap, "wait", receive__parser="/nonexistent/reader")
    drop(box, 1, sample_mails(1)[0])
    run_ = box.instance.once("2026-11-20T08:00:00Z", wanted=75)
    assert "inbox error: cannot run the parser: /nonexistent/reader" in run_.output
    late = "2026-11-20T10:00:00Z"
    said = box.instance.ctl("status", now=late, wanted=2)
    assert "not processed: cannot run the parser: /nonexistent/reader" in said, said
    assert "2 hours: install paperboy-parser there" in said, said
    box.instance.set(receive__parser=reader())
    assert "received mail has waited for 2 hours" in box.instance.ctl(
        "doctor", now=late, wanted=1)
    assert "received mail has waited for 2 hours: start paperboyd" in box.instance.ctl(
        "status", now=late, wanted=2)


def erased_subscribers_leave_no_mail(tap):
    """erasing a person erases quarantined messages"""
    box = new_box(tap, "forget")
    for number, text in enumerate((b"Eva.Secret@people.example", b"other@people.example")):
        drop(box, number, b"From: " + text + b"\nX: \0\n\nx\n")
    box.instance.once(NOON, wanted=0)
    assert count(box, "quarantined") == 2
    box.instance.add_person("Eva.Secret@people.example")
    box.instance.ctl("subscriber", "forget", "Eva.Secret@people.example", "--yes")
    assert count(box, "quarantined") == 1
    if not box.instance.db.url:
        assert b"Eva.Secret" not in read(box.instance.store)


# ---- receive ----------------------------------------------------------------------------


def receive(box, raw, *arguments, config=None):
    done = subprocess.run(
        [os.path.join(top_builddir(), "paperboyctl"), "-c", config or box.instance.config,
         "--now", box.instance.clock.now(), "receive", *arguments], input=raw, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=300, check=False)
    return done.returncode, done.stdout.decode()


def a_pipe_hands_in(tap):
    """receive delivers a message from a pipe, with exit statuses for mail servers"""
    box = new_box(tap, "receive", receive__parser="/nonexistent/reader",
                  commands__address="paperboy@news.example")
    raw = sample_mails(1)[0].replace(b"\r\n", b"\n")
    status, text = receive(box, raw)
    assert status == 75 and "cannot connect to" in text, (status, text)
    status, text = receive(box, raw, config="/nonexistent/paperboy.conf")
    assert status == 75, (status, text)
    daemon = start(tap, box)
    for arguments, head, wanted in (
        (["--recipient", "a@news.example", "--sender", "b@c.example"], b"",
         ("b@c.example", "a@news.example")),
        (["--sender", ""], b"", ("", "paperboy@news.example")),
        (["--sender", "<>"], b"", ("", "paperboy@news.example")),
        ([], b"Return-Path: <r@p.example>\n", ("r@p.example", "paperboy@news.example")),
        ([], b"Return-Path: <>\n", ("", "paperboy@news.example")),
        ([], b"From f@l.example Sat Nov 21 09:00:00 2026\n",
         ("f@l.example", "paperboy@news.example")),
        (["--recipient", "\u00e4@news.example"], b"Return-Path: <r@p.example>\n",
         ("r@p.example", "\u00e4@news.example")),
    ):
        number = box.instance.value(
            "SELECT count(*) FROM inbox") if box.instance.db.exists() else 0
        own = with_id(raw, 100 + number).replace(b"\r\n", b"\n")
        assert receive(box, head + own, *arguments) == (0, ""), arguments
        row = box.instance.rows(
            "SELECT sender, recipient, raw FROM inbox ORDER BY id DESC LIMIT 1")[0]
        assert row[:2] == wanted, (row[:2], wanted)
        assert b"\nFrom f@l" not in b"\n" + row[2]
    # A bounce would go to a sender that may be forged: it is logged and dropped.
    number = box.instance.value("SELECT count(*) FROM inbox")
    assert receive(box, with_id(raw, 99), "--recipient",
                   "paperboy+nonsense@news.example") == (0, "")
    daemon.wait_line("inbox rejected.*unknown subaddress")
    assert box.instance.value("SELECT count(*) FROM inbox") == number
    assert receive(box, b"")[0] == 65
    assert receive(box, b"x" * (MESSAGE_BYTES + 1))[0] == 65
    assert receive(box, raw, "--recipient", "two words@news.example")[0] == 65
    assert receive(box, raw, "--socket", "/nonexistent/socket")[0] == 75
    assert receive(box, raw, "--nonsense")[0] == 64
    box.instance.set(receive__min_free_mb=1000000)
    box.instance.ctl("reload")
    status, text = receive(box, raw)
    assert status == 75 and "451 4.3.0" in text, (status, text)
    assert daemon.stop() == 0


with Tap() as tap:
    tap.diag(f"PAPERBOY_SEED={SEED}")
    for function in (
        mails_arrive_unchanged, one_mail_counts_once, bad_clients_do_no_harm,
        later_is_said, survives_a_full_disk, reload_moves_the_socket, a_dead_daemon_leaves_its_socket,
        a_maildir_appears_and_disappears, what_cannot_be_taken_stays, too_large_is_answered_once,
        many_wait_at_start,
        bombs_are_handled_or_quarantined, a_crashing_parser_quarantines_the_mail,
        every_kill_counts_once, kills_lose_no_accepted_mail,
        an_operator_looks_and_decides, waiting_mails_are_reported,
        erased_subscribers_leave_no_mail, a_pipe_hands_in,
    ):
        tap.run(function, tap)
