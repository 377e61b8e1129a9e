#!/usr/bin/env python3
"""test_web_hostile.py - requests that smuggle others, slow clients and many of them.

PAPERBOY_LONG=1 opens 5,000 connections during 20,000 requests.
"""

import collections
import concurrent.futures
import contextlib
import glob
import os
import re
import resource
import select
import socket
import struct
import threading

import lib  # the path
from clock import DAY
from daemon import Instance
from tap import DEADLINE_S, IS_LONG, Tap, read_text, top_srcdir, wait_until
from web_server import ORIGIN, WebServer, is_sanitized, parse_response, read_all

HELD = 5000 if IS_LONG else 500
REQUESTS = 20000 if IS_LONG else 2000
CLIENTS = 8
THREADS = 8  # of paperboy-web
# WEB_STATUS_OK and an empty page
OK_REPLY = b"\x09\0\0\0" b"\0\0en\0\0\0\0\x05"
MEMORY_KB = 200 * 1024
FEW_FILES = 256

HOST = b"Host: papers.example.org\r\n"
SECOND = b"GET /c/smuggled HTTP/1.1\r\n" + HOST + b"\r\n"
LENGTH = b"Content-Length: %d\r\n" % len(SECOND)

# Name, first request; a second one follows in the same write.
HOSTILE = [
    ("Transfer-Encoding and Content-Length",
     b"POST / HTTP/1.1\r\n" + HOST + LENGTH
     + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ("two different Content-Length",
     b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 0\r\n" + LENGTH + b"\r\n"),
    ("Content-Length: +0",
     b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: +0\r\n\r\n"),
    ("a blank before the colon",
     b"POST / HTTP/1.1\r\n" + HOST + LENGTH.replace(b":", b" :") + b"\r\n"),
    ("chunk size 0x0",
     b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n"),
    ("Transfer-Encoding: xchunked",
     b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: xchunked\r\n\r\n"),
    ("two Hosts", b"GET / HTTP/1.1\r\n" + HOST + b"Host: b\r\n\r\n"),
    ("no Host", b"GET / HTTP/1.1\r\n\r\n"),
    ("lines that end in LF", b"GET / HTTP/1.1\nHost: a\n\n"),
    ("an LF in the header", b"GET / HTTP/1.1\r\n" + HOST + b"X: a\nY: b\r\n\r\n"),
    ("an empty header name", b"GET / HTTP/1.1\r\n" + HOST + b": a\r\n\r\n"),
    ("a header name with a blank", b"GET / HTTP/1.1\r\n" + HOST + b"X Y: a\r\n\r\n"),
    ("NUL in the header", b"GET / HTTP/1.1\r\n" + HOST + b"X: a\0b\r\n\r\n"),
    ("a folded line", b"GET / HTTP/1.1\r\n" + HOST + b"X: a\r\n b\r\n\r\n"),
    ("HTTP/1.9", b"GET / HTTP/1.9\r\n" + HOST + b"\r\n"),
    ("a CR in the header", b"GET / HTTP/1.1\r\n" + HOST + b"X: a\rY: b\r\n\r\n"),
    ("a body of GET", b"GET / HTTP/1.1\r\n" + HOST + LENGTH + b"\r\n"),
    ("two equal Content-Length",
     b"POST / HTTP/1.1\r\n" + HOST + LENGTH + LENGTH + b"\r\n"),
    ("a list of lengths",
     b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 0, 0\r\n\r\n"),
    ("an absolute target", b"GET http://a/ HTTP/1.1\r\n" + HOST + b"\r\n"),
    ("HTTP/0.9", b"GET /\r\n\r\n"),
]


def bound(name):
    path = os.path.join(top_srcdir(), "src", "base", "bounds.h")
    return int(re.search(rf"define BOUNDS_{name}\s+(\d+)", read_text(path))[1])


def smuggles_nothing(web):
    """hostile requests are answered 400, and the requests behind them never"""
    web.asked()
    for name, first in HOSTILE:
        answer = web.send(first + SECOND)
        assert answer.count(b"HTTP/1.1 ") == 1, (name, answer)
        assert parse_response(answer).status == 400, (name, answer)
    assert web.asked() == []


def ignores_a_second_request(web):
    """a valid second request on the same connection is never read"""
    web.asked()
    for first in (b"GET /u/first HTTP/1.1\r\n" + HOST + b"\r\n",
                  b"POST /u/first HTTP/1.1\r\n" + HOST + b"\r\n",
                  b"HEAD /u/first HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"):
        answer = web.send(first + SECOND)
        assert answer.count(b"HTTP/1.1 ") == 1 and parse_response(answer).status == 200
        (asked,) = web.asked()
        assert asked.endswith("token=first"), asked


def keeps_limits(web):
    """requests above a limit get its status, however much follows"""
    for data, status in (
            (b"GET /" + 10**6 * b"a", 414),
            (b"GET / HTTP/1.1\r\n" + HOST + b"X: " + 10**6 * b"a", 431),
            (b"POST /u/abc HTTP/1.1\r\n" + HOST + b"Content-Length: 10000000\r\n\r\n"
             + 10**7 * b"a", 413)):
        assert web.exchange(data).status == status, status


def survives_half_open(web):
    """clients that close or vanish anywhere in a request do no harm"""
    request = b"POST /u/abc HTTP/1.1\r\n" + HOST + b"Content-Length: 3\r\n\r\na=b"
    for size in range(0, len(request), 7):
        with web.connect() as client:
            client.sendall(request[:size])
            client.shutdown(socket.SHUT_WR)
            assert read_all(client) == b"", size
        with web.connect() as client:
            client.sendall(request[:size])
            # closing sends a reset
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                              struct.pack("ii", 1, 0))
    with web.connect() as client:
        client.sendall(b"GET /u/abc HTTP/1.1\r\n" + HOST + b"\r\n")
        client.shutdown(socket.SHUT_WR)
        assert parse_response(read_all(client)).status == 200


def send_slowly(client):
    """Send a byte now and then until the server closes.  @return its answer"""
    endless = b"GET /" + 10**6 * b"a"
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        for at in range(len(endless)):
            client.send(endless[at : at + 1])
            if select.select([client], [], [], 0.1)[0]:
                break
    return read_all(client)


def hang(tap):
    """Status of a request that paperboyd accepts and never answers."""
    place = tap.subdirectory("hang")
    with listen(place), WebServer(place, has_daemon=False) as web:
        return web.request("GET", "/healthz").status


def is_reset(client):
    try:
        client.send(b"a")
    except (BrokenPipeError, ConnectionResetError):
        return True
    return False


def stay(web):
    """Send after the response until the server closes.  @return whether it does"""
    with web.connect() as client:
        client.sendall(b"GET /u/abc HTTP/1.1\r\n" + HOST + b"\r\n")
        assert parse_response(read_all(client)).status == 200
        return wait_until(lambda: is_reset(client), "the end of the connection")


def listen(directory):
    """A socket in place of that of paperboyd."""
    daemon = socket.socket(socket.AF_UNIX)
    daemon.bind(os.path.join(directory, "daemon"))
    daemon.listen(64)
    daemon.settimeout(DEADLINE_S)
    return daemon


def start_requests(web, stack, count):
    """Send requests and do not wait for the responses.  @return their connections"""
    clients = [stack.enter_context(web.connect()) for _ in range(count)]
    for client in clients:
        client.sendall(b"GET /u/abc HTTP/1.1\r\n" + HOST + b"\r\n")
    return clients


def queues_requests(tap):
    """requests wait while paperboyd is busy, up to a limit, and are then answered"""
    most = bound("WEB_WAITING")
    place = tap.subdirectory("queue")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, most + 1000), hard))
    with listen(place) as daemon, WebServer(place, has_daemon=False) as web, \
            contextlib.ExitStack() as stack:
        asked = start_requests(web, stack, THREADS)
        # Each thread is waiting for paperboyd.
        peers = [daemon.accept()[0] for _ in asked]
        asked += start_requests(web, stack, most)
        assert web.request("GET", "/u/abc").status == 503
        for _ in asked:
            with peers.pop() if peers else daemon.accept()[0] as peer:
                peer.recv(65536)
                peer.sendall(OK_REPLY)
        statuses = [parse_response(read_all(client)).status for client in asked]
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert statuses == [200] * len(asked), collections.Counter(statuses)


def memory_kb(web, name):
    with open(f"/proc/{web.child.pid}/status", encoding="ascii") as file:
        return int(re.search(rf"^{name}:\s+(\d+)", file.read(), re.M)[1])


def hold(web, stack, count):
    """Open connections that send half a request."""
    held = []
    for _ in range(count):
        client = stack.enter_context(web.connect())
        client.sendall(b"POST / HTTP/1.1\r\n" + HOST + b"X: " + 4000 * b"a")
        held.append(client)
    return held


def request_many(web, count):
    """Statuses of many requests."""
    return [web.request("GET", "/u/abc").status for _ in range(count)]


def answers_during_a_flood(tap, web):
    """all requests are answered while many connections are open"""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, HELD + 1000), hard))
    with contextlib.ExitStack() as stack, \
            concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        held = hold(web, stack, HELD)
        runs = [pool.submit(request_many, web, REQUESTS // CLIENTS)
                for _ in range(CLIENTS)]
        statuses = [status for one in runs for status in one.result()]
        still = sum(not is_closed(client) for client in held)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert statuses == [200] * REQUESTS, set(statuses)
    peak_kb = memory_kb(web, "VmHWM")
    tap.diag(f"{HELD} connections, {still} at the end, and {REQUESTS} requests:"
             f" at most {peak_kb} KiB")
    assert is_sanitized() or peak_kb < MEMORY_KB, peak_kb


def request_until(web, is_over):
    """Statuses of requests until is_over."""
    statuses = []
    while not is_over.is_set():
        statuses.append(web.request("GET", "/").status)
    return statuses


def delays_no_digest(tap):
    """a digest is built and delivered while pages are requested all the time"""
    place = tap.subdirectory("daemon")
    maildir = os.path.join(place, "Maildir")
    is_over = threading.Event()
    with contextlib.ExitStack() as stack:
        web = WebServer(place, has_daemon=False)
        instance = Instance(os.path.join(place, "instance"), maildir=maildir,
                            commands__address="commands@news.example", web__url=ORIGIN,
                            web__socket=web.daemon_path)
        instance.write_day(DAY, range(3))
        daemon = stack.enter_context(instance.start())
        daemon.wait_socket(web.daemon_path)
        stack.enter_context(web)
        hold(web, stack, HELD // 10)
        pool = stack.enter_context(concurrent.futures.ThreadPoolExecutor(CLIENTS))
        stack.callback(is_over.set)
        runs = [pool.submit(request_until, web, is_over) for _ in range(CLIENTS)]
        instance.add_person("ada@example.org")
        daemon.wait_fact(lambda: glob.glob(os.path.join(maildir, "new", "*")), "a digest")
        is_over.set()
        statuses = [status for one in runs for status in one.result()]
    assert set(statuses) == {200}, set(statuses)
    tap.diag(f"{len(statuses)} pages meanwhile")


def is_closed(client):
    poll = select.poll()  # select() knows no descriptor above 1023
    poll.register(client, select.POLLIN)
    return bool(poll.poll(0)) and client.recv(1) == b""


def closes_the_slowest(tap):
    """with too many connections those that have been slow for longest are closed"""
    most = bound("WEB_CONNECTIONS") if IS_LONG else FEW_FILES - 64
    files = most + 64

    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, most + 1000), hard))
    with WebServer(tap.subdirectory("few"), preexec_fn=limit) as web, \
            contextlib.ExitStack() as stack:
        held = hold(web, stack, most)
        # All are accepted before the next one, in the order in which they came.
        assert not is_closed(held[0])
        assert web.request("GET", "/u/abc").status == 200
        wait_until(lambda: is_closed(held[0]), "the end of the slowest")
        assert not is_closed(held[1])
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


with Tap() as tap, concurrent.futures.ThreadPoolExecutor(3) as background:
    with WebServer(tap.subdirectory("web")) as web, web.connect() as slow, \
            WebServer(tap.subdirectory("other")) as other:
        answer = background.submit(send_slowly, slow)
        hanging = background.submit(hang, tap)
        staying = background.submit(stay, other)
        tap.run(smuggles_nothing, web)
        tap.run(ignores_a_second_request, web)
        tap.run(keeps_limits, web)
        tap.run(survives_half_open, web)
        tap.run(closes_the_slowest, tap)
        tap.run(answers_during_a_flood, tap, web)
        tap.run(delays_no_digest, tap)
        tap.run(queues_requests, tap)
        tap.ok(staying.result(), "a client that does not close is closed")
        tap.equal(hanging.result(), 503, "a paperboyd that hangs is unavailable")
        tap.ok(answer.result() == b"", "a slow sender is closed, whatever it sends")
        tap.ok(web.request("GET", "/healthz").status == 200, "and others are served")
        tap.equal([line for line in web.child.lines if " started" not in line], [],
                  "nothing is logged")
