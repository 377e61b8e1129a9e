#!/usr/bin/env python3
"""test_alert_post.py - problems are posted to alerts.url, by a way that mail is not.

The daemon is started again for each check: what was posted is remembered, and what
could not be posted is posted then.
"""

import contextlib
import glob
import hashlib
import hmac
import http.server
import json
import os
import queue
import ssl
import threading

import lib  # the path
from clock import DAY
from daemon import Instance, at_hour
from peers import Ca
from tap import Tap, free_port, run, save, top_srcdir

KEY = "a key of more than a few bytes"
FULL = 1000000  # MB that must be free: more than there are


class Receiver(http.server.ThreadingHTTPServer):
    """Takes requests; status None: answers nothing until it is closed."""

    daemon_threads = True

    def __init__(self, context=None):
        self.requests, self.status = queue.Queue(), 200
        self.closed = threading.Event()
        super().__init__(("127.0.0.1", 0), Request)
        if context:
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.scheme = "https" if context else "http"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self, path):
        return f"{self.scheme}://127.0.0.1:{self.server_port}{path}"

    def close(self):
        self.closed.set()
        self.shutdown()
        self.server_close()

    def handle_error(self, *_):
        pass  # a client that gave up


class Request(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        if self.server.status is None:
            self.server.closed.wait()
            return
        self.server.requests.put((self.path, self.headers, body))
        self.send_response(self.server.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST

    def log_message(self, *_):
        pass


def new_instance(tap, name, receiver, **settings):
    """Mail has no way out, and the disk counts as full."""
    directory = tap.subdirectory(name)
    secret = os.path.join(directory, "alert-key")
    with open(secret, "w", encoding="ascii") as file:
        os.chmod(secret, 0o600)
        file.write(KEY + "\n")
    instance = Instance(os.path.join(directory, "instance"), port=free_port(),
                        sources__hf__enabled=False, receive__min_free_mb=FULL,
                        alerts__url=receiver.url("/post"),
                        alerts__secret_file=secret, **settings)
    instance.add_person("ada@example.org", now=at_hour(DAY, 8))
    return instance


def check(instance, hour, line):
    """Run the daemon until it has written a line of its log."""
    with instance.start(now=at_hour(DAY, hour)) as child:
        child.wait_line(line)
        assert child.stop() == 0


def take(receiver):
    path, headers, body = receiver.requests.get(timeout=60)
    if path == "/post":
        mac = hmac.new(KEY.encode(), body, hashlib.sha256).hexdigest()
        assert headers["X-Hub-Signature"] == f"sha256={mac}", headers
        assert headers["Content-Type"] == "application/json", headers
    return path, body


def posts_once(tap):
    """a problem is posted once, and its end, also across restarts; then it is pinged"""
    with contextlib.closing(Receiver()) as receiver:
        instance = new_instance(tap, "once", receiver)
        check(instance, 9, "alert posted problems=1 ended=0")
        path, body = take(receiver)
        report = json.loads(body)
        problem, = report["problems"]
        assert path == "/post" and report["ended"] == [], report
        assert report["subject"] == "paperboy: the disk is nearly full", report
        assert problem["check"] == "disk" and problem["action"] == "free some space"
        assert "received mail is deferred" in problem["detail"], problem
        instance.set(alerts__ping_url=receiver.url("/ping"))
        with instance.start(now=at_hour(DAY, 10)) as child:
            child.wait_line("started")
            assert child.stop() == 0
        instance.set(receive__min_free_mb=0)
        check(instance, 11, "alert posted problems=0 ended=1")
        # The second run has posted nothing and pinged nothing.
        found = sorted([take(receiver), take(receiver)])
        assert [path for path, _ in found] == ["/ping", "/post"], found
        assert json.loads(found[1][1])["ended"] == ["the disk is nearly full"], found
        assert receiver.requests.empty()


def survives_faults(tap):
    """status 500, no answer and a wrong certificate delay a report: none is lost"""
    ca = Ca(tap.subdirectory("ca"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(ca.make_pair("other.example"))
    with contextlib.closing(Receiver()) as receiver, \
            contextlib.closing(Receiver(context)) as untrusted:
        instance = new_instance(tap, "faults", receiver)
        receiver.status = 500
        check(instance, 9, r"alert not posted next_in=120s.*HTTP 500")
        take(receiver)
        receiver.status = None
        check(instance, 10, "alert not posted next_in=120s")
        instance.set(alerts__url=untrusted.url("/post"))
        check(instance, 11, "alert not posted.*certificate")
        instance.set(alerts__url=f"http://127.0.0.1:{free_port()}/post")
        check(instance, 12, "alert not posted")
        receiver.status = 204
        instance.set(alerts__url=receiver.url("/post"))
        check(instance, 13, "alert posted problems=1 ended=0")
        take(receiver)


def templates_of_services(tap):
    """each template of contrib/alerts gives JSON; a wrong one is refused at the start"""
    paths = sorted(glob.glob(os.path.join(top_srcdir(), "contrib", "alerts", "*.json")))
    assert len(paths) >= 4, paths
    for path in paths:
        with contextlib.closing(Receiver()) as receiver:
            instance = new_instance(tap, os.path.basename(path), receiver,
                                    alerts__template=path)
            check(instance, 9, "alert posted")
            _, body = take(receiver)
            values = "\n".join(str(value) for value in json.loads(body).values())
            assert "the disk is nearly full" in values, body
            assert "free some space" in values, body
    wrong = os.path.join(tap.subdirectory("wrong"), "wrong.json")
    save(wrong, '{"text": "{{subjekt}}"}')
    instance.set(alerts__template=wrong)
    said = run([instance.daemon, "-c", instance.config, "--check"], check=False)
    assert f"{wrong}:1:" in said and "subjekt" in said, said


with Tap() as tap_out:
    for test in (posts_once, survives_faults, templates_of_services):
        tap_out.run(test, tap_out)
