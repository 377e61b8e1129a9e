#!/usr/bin/env python3
"""test_web_daemon.py - paperboyd serves paperboy-web on its socket."""

import contextlib
import os
import re
import signal
import socket
import stat
import struct
import subprocess
import threading

import lib  # the path
from clock import DAY
from daemon import Instance, at_hour, days_after, parse
from smtp_fixture import Relay
from tap import Tap, free_port, read, save, top_builddir, wait_until

URL = "https://papers.example.org"
PERSON = "person-0001@example.org"

# Numbers of message/web_proto.h.
HEALTH, HOME, SUBSCRIBE, CONFIRM_SHOW, CONFIRM, LEAVE_SHOW, ONE_CLICK, LEAVE = range(8)
OK, NOT_MODIFIED, BAD_REQUEST, FORBIDDEN, NOT_FOUND, LIMITED, UNAVAILABLE = range(7)


class Reply:
    """The output of helper_web_request."""

    def __init__(self, text):
        head, self.values = text.split("\n", 1)
        status, page, _ = head.split(" ", 2)
        self.status, self.page = int(status), int(page)

    def __getitem__(self, name):
        return re.search(rf"'{name}': <'([^']*)'>", self.values)[1]


class Page(Instance):
    """An instance with a page, that sends all mail to a Maildir or to a relay's port."""

    def __init__(self, directory, port=None, **settings):
        self.out = os.path.join(directory, "out")
        self.socket = os.path.join(directory, "web")
        method = {"port": port} if port else {"maildir": self.out}
        super().__init__(
            directory, **method, commands__address="paperboy@news.example", web__url=URL,
            web__socket=self.socket, **settings)

    def ask(self, operation, token="", *fields):
        done = subprocess.run(
            [os.path.join(top_builddir(), "tests", "helper_web_request"), self.socket,
             str(operation), token, *fields],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, check=False)
        if done.returncode:
            raise OSError(done.stderr.decode())
        return Reply(done.stdout.decode())

    def submit(self, operation, show, token, *fields):
        csrf = self.ask(show, token)["csrf"]
        return self.ask(operation, token, f"csrf={csrf}", *fields)

    def mails(self):
        """All mails to people that were sent."""
        mails = []
        directory = os.path.join(self.out, "new")
        for name in os.listdir(directory) if os.path.isdir(directory) else ():
            mails.append(parse(read(os.path.join(directory, name))))
        return [mail for mail in mails if "+check-" not in mail["To"]]

    def leave_token(self):
        """The token of the unsubscribe page in the newest digest."""
        raw = self.ctl("digest", "show", "last", "--raw")
        return re.search(rf"{URL}/u/([a-z2-7]+)", raw.replace("\n ", "").replace("=\n", ""))[1]

    @contextlib.contextmanager
    def running(self, now):
        with self.start(now) as child:
            for _ in range(2):  # in either order
                child.wait_line(r"paperboyd \S+ started|collector done")
            yield child
            child.signal(signal.SIGTERM)
            assert child.wait_exit() == 0, child.output


def make(tap, name, port=None, **settings):
    page = Page(tap.subdirectory(name), port, **settings)
    page.write_day(DAY, range(3))
    return page


def serves(tap):
    """it serves requests, and removes its socket at the end"""
    page = make(tap, "serves")
    with page.running(at_hour(DAY)) as child:
        assert page.ask(HEALTH).status == OK
        assert stat.S_IMODE(os.stat(page.socket).st_mode) == 0o666
        assert "'service': <'paperboy'>" in page.ask(HOME).values
        assert page.ask(200).status == BAD_REQUEST
        reply = page.submit(SUBSCRIBE, HOME, "", "address=ada@example.org", "filter=paper")
        assert reply.status == OK and "'is_sent': <true>" in reply.values
        child.wait_fact(lambda: len(page.mails()) == 1, "the confirmation")
        text = page.mails()[0].get_body(("plain",)).get_content()
        token = re.search(rf"{URL}/c/([a-z2-7]+)", text)[1]
        assert page.submit(CONFIRM, CONFIRM_SHOW, token).status == OK
        # The scheduler is woken and builds the first digest.
        child.wait_fact(lambda: page.value("SELECT count(*) FROM digest") == 1, "a digest")
        assert "ada@" not in child.output and token not in child.output, child.output
    assert not os.path.exists(page.socket)


def socket_errors(tap):
    """a stale socket is replaced, another file is not, and the error names the setting"""
    page = make(tap, "errors")
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(page.socket)
    with page.running(at_hour(DAY)):
        assert page.ask(HEALTH).status == OK
    save(page.socket, "not a socket")
    with page.start(at_hour(DAY, 9)) as child:
        assert child.wait_exit() != 0
        assert f"web.socket: '{page.socket}' exists and is not a socket" in child.output
    for url, problem in (
            ("http://papers.example.org", "web.url: https:// is needed"),
            (f"{URL}/page", "web.url: '"), ("papers.example.org", "web.url: '"),
            (f"{URL}?a=b", "web.url: '")):
        page.set(web__url=url)
        done = subprocess.run([page.daemon, "-c", page.config, "--check"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        assert done.returncode == 78 and problem in done.stdout.decode(), done.stdout
    page.set(web__url=URL, commands__address=None)
    done = subprocess.run([page.daemon, "-c", page.config, "--check"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert "web.url: needs commands.address" in done.stdout.decode(), done.stdout


def reload(tap):
    """a reload turns the page off and on, and moves its socket"""
    page = make(tap, "reload")
    with page.running(at_hour(DAY)) as child:
        page.set(web__url=None)
        page.ctl("reload")
        child.wait_fact(lambda: not os.path.exists(page.socket), "no socket")
        page.set(web__url=URL)
        page.ctl("reload")
        child.wait_socket(page.socket)
        assert page.ask(HEALTH).status == OK
        page.set(mail__from_name="Dailies")
        page.ctl("reload")
        assert "'service': <'Dailies'>" in page.ask(HOME).values


def hostile(tap):
    """hostile frames and silent clients neither stop nor delay it"""
    page = make(tap, "hostile")
    frames = [b"", b"\0", b"\0\0\0\0", b"\xff\xff\xff\xff", struct.pack("<I", 24 * 1024 + 1),
              struct.pack("<I", 8) + b"\xff" * 8, struct.pack("<I", 1) + b"\0",
              struct.pack("<I", 500) + bytes(500), struct.pack("<I", 100) + b"short"]
    with page.running(at_hour(DAY)) as child, contextlib.ExitStack() as stack:
        for frame in frames:
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(120)
                client.connect(page.socket)
                client.sendall(frame)
                client.shutdown(socket.SHUT_WR)
                answer = b""
                with contextlib.suppress(ConnectionError):
                    while part := client.recv(4096):
                        answer += part
                # A whole frame without a request gets 400, others nothing.
                assert not answer or answer[4] == BAD_REQUEST, (frame, answer)
        # Clients that send nothing hold a thread for a few seconds at most.
        for _ in range(4):
            client = stack.enter_context(socket.socket(socket.AF_UNIX))
            client.connect(page.socket)
        assert page.ask(HEALTH).status == OK
        assert child.is_running


def unavailable(tap):
    """while the store is locked, the reply says so, and nothing is changed"""
    page = make(tap, "locked")
    page.add_person(PERSON, now=at_hour(DAY, 7))
    with page.running(at_hour(DAY)) as child:
        child.wait_fact(lambda: page.value("SELECT count(*) FROM digest") == 1, "a digest")
        child.wait_fact(lambda: len(page.mails()) == 1, "the digest")
        token = page.leave_token()
        with page.db.locked():
            assert page.ask(ONE_CLICK, token).status == UNAVAILABLE
            child.wait_line("web failed")
        assert page.value("SELECT state FROM subscriber") == "active"
        assert page.ask(ONE_CLICK, token).status == OK
        child.wait_line("web recovered")
        assert page.value("SELECT state FROM subscriber") == "gone"


def killed(tap):
    """killed right after the reply to one click, it sends no digest any more"""
    page = make(tap, "killed", free_port())
    page.add_person(PERSON, now=at_hour(DAY, 7))
    with page.start(at_hour(DAY)) as child:
        child.wait_line("relay failed")
        assert page.value("SELECT count(*) FROM digest") == 1
        token = page.leave_token()
        assert page.ask(ONE_CLICK, token).status == OK
        child.kill()
    assert page.value("SELECT state FROM subscriber") == "gone"
    page.set(delivery__method="maildir", delivery__maildir=page.out)
    for day in range(3):
        page.write_day(days_after(DAY, day), range(3 * day, 3 * day + 3))
        page.once(at_hour(days_after(DAY, day), 12))
    subjects = [(mail["To"], mail["Auto-Submitted"]) for mail in page.mails()]
    assert subjects == [(PERSON, "auto-generated")], subjects
    assert page.states() == {"CANCELLED": 1, "SENT": 1}
    text = page.mails()[0].get_body(("plain",)).get_content()
    undo = re.search(rf"{URL}/c/([a-z2-7]+)", text)[1]
    with page.running(at_hour(days_after(DAY, 3))) as child:
        assert page.submit(CONFIRM, CONFIRM_SHOW, undo).status == OK
        child.wait_fact(lambda: page.value("SELECT state FROM subscriber") == "active", "undo")


def in_flight(tap):
    """a digest that is being sent may go out, but is not tried again"""
    started, go = threading.Event(), threading.Event()
    state = "SELECT state FROM outbox WHERE digest_id IS NOT NULL"

    def stall(verb, recipient):
        if verb != "." or recipient != PERSON or started.is_set():
            return None
        started.set()
        go.wait(300)
        return b"451 4.3.0 later\r\n"

    with Relay() as relay:
        relay.act = stall
        page = make(tap, "flight", relay.port)
        page.add_person(PERSON, now=at_hour(DAY, 7))
        with page.running(at_hour(DAY)) as child:
            assert started.wait(120)
            assert page.value(state) == "SENDING"
            assert page.ask(ONE_CLICK, page.leave_token()).status == OK
            go.set()
            child.wait_fact(lambda: page.value(state) == "DEFERRED", "the refusal")
            child.wait_fact(lambda: PERSON in relay.recipients(), "the notice")
        page.once(at_hour(days_after(DAY, 1), 12))
        assert page.value(state) == "CANCELLED"
        subjects = [parse(raw)["Subject"] for to, raw in relay.accepted() if to == PERSON]
        assert subjects == ["Your subscription"], subjects


def stops(tap):
    """it ends although a client is connected"""
    page = make(tap, "stops")
    with socket.socket(socket.AF_UNIX) as client:
        with page.running(at_hour(DAY)):
            client.connect(page.socket)
            client.sendall(b"\1")
    wait_until(lambda: not os.path.exists(page.socket), "the socket is removed")


TESTS = (serves, socket_errors, reload, hostile, unavailable, killed, in_flight, stops)

with Tap() as tap_:
    for test in TESTS:
        tap_.run(test, tap_)
