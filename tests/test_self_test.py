#!/usr/bin/env python3
"""test_self_test.py - the self-test of one-click unsubscribing finds each fault.

A relay that signs and delivers our mail to us, and a web server with TLS before
paperboy-web, both in this process, can be given one fault each.
"""

import http.client
import http.server
import json
import os
import smtplib
import socketserver
import ssl
import threading

import lib  # the path
from clock import DAY
from daemon import Instance, at_hour, days_after, parse
from nginx import nginx_of_readme
from peers import Ca
from tap import Child, Tap, free_port, top_builddir

HOME = "paperboy@news.example"
WRONG = 65
CHECK_BYTES = 256 * 1024  # BOUNDS_WEB_CHECK_BYTES
FORMS = 4  # POST requests with a valid link; one with a forged link follows
SIGNED = "From:List-Id:List-Unsubscribe:List-Unsubscribe-Post"


# ---- the relay ----------------------------------------------------------------


class Relay(socketserver.ThreadingTCPServer):
    """An SMTP server: what is for us is changed, signed, and delivered by LMTP."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, lmtp_port):
        self.lmtp_port = lmtp_port
        self.signed = SIGNED
        self.change = lambda raw: raw
        self.results = "Authentication-Results: mx.news.example; dkim=pass\r\n"
        self.others = []  # (recipient, message)
        super().__init__(("127.0.0.1", 0), RelayConversation)
        self.port = self.server_address[1]

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    def take(self, sender, recipient, raw):
        if not recipient.startswith("paperboy+check-"):
            self.others.append((recipient, raw))
            return
        if self.signed is None:
            return
        signature = f"DKIM-Signature: d=news.example; h={self.signed}\r\n"
        with smtplib.LMTP("127.0.0.1", self.lmtp_port) as lmtp:
            lmtp.sendmail(sender, [recipient],
                          (self.results + signature).encode() + self.change(raw))


class RelayConversation(socketserver.StreamRequestHandler):
    def say(self, line):
        self.wfile.write(line.encode() + b"\r\n")

    def handle(self):
        self.say("220 relay.example")
        while line := self.rfile.readline().decode().strip():
            verb = line[:4].upper()
            if verb == "MAIL":
                self.sender = line.split("<")[1].split(">")[0]
            elif verb == "RCPT":
                self.recipient = line.split("<")[1].split(">")[0]
            elif verb == "DATA":
                self.say("354 go on")
                raw = b""
                while (part := self.rfile.readline()) != b".\r\n":
                    raw += part[1:] if part.startswith(b".") else part
                self.server.take(self.sender, self.recipient, raw)
            self.say("221 bye" if verb == "QUIT" else "250 ok")
            if verb == "QUIT":
                return


def edit_link(edit):
    """A change of the value of List-Unsubscribe, of two lines."""

    def change(raw):
        head, mark, rest = raw.partition(b"List-Unsubscribe: ")
        assert mark, raw
        first, comma, rest = rest.partition(b",\r\n")
        assert first.startswith(b"<https://localhost:"), first
        return head + mark + edit(first) + comma + rest

    return change


# ---- the web server -----------------------------------------------------------


class WebServer(http.server.ThreadingHTTPServer):
    """A web server with TLS before paperboy-web."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, cert, onward):
        self.fault = None
        self.posts = 0
        self.onward = onward  # the port of paperboy-web
        self.stopped = threading.Event()
        super().__init__(("127.0.0.1", 0), SiteRequest)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert.cert, cert.key)
        self.socket = context.wrap_socket(
            self.socket, server_side=True, do_handshake_on_connect=False)
        self.url = f"https://localhost:{self.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address):
        """Clients that reject the certificate."""


class SiteRequest(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def hand_on(self, method, body=None):
        """Pass the request on. @return status and body of the response"""
        page = http.client.HTTPConnection("127.0.0.1", self.server.onward)
        names = ("Content-Type", "Content-Length")
        page.request(method, self.path, body, {"Host": self.headers["Host"]} | {
            name: self.headers[name] for name in names if name in self.headers})
        response = page.getresponse()
        return response.status, response.read()

    def do_GET(self):
        if self.server.fault == "acting GET":
            self.hand_on("POST", b"")
        self.answer(*self.hand_on("GET"))

    def do_POST(self):
        fault = self.server.fault
        kind = self.headers.get("Content-Type", "")
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if fault == "slow":
            self.server.stopped.wait()
        elif fault == "redirect":
            self.answer(302, Location="https://www.localhost" + self.path)
        elif isinstance(fault, int):
            self.answer(fault)
        elif fault == "form" and not kind.startswith("application/x-www"):
            self.answer(415)
        elif fault == "page":
            self.answer(200, b"Are you a human?")
        elif fault == "large page":
            self.answer(200, b"." * (CHECK_BYTES + 1))
        elif fault == "cached":
            self.answer(200)
        elif fault == "telling" and self.server.posts == FORMS:
            self.answer(404)
        else:
            self.server.posts += 1
            self.answer(*self.hand_on("POST", body))


# ---- both ---------------------------------------------------------------------


class Site:
    """paperboyd, with a relay and a web server without faults."""

    def __init__(self, tap, name, **settings):
        directory = tap.subdirectory(name)
        for part in ("ca", "home"):
            os.makedirs(os.path.join(directory, part))
        self.ca = Ca(os.path.join(directory, "ca"))
        self.tap = tap
        lmtp_port, self.page_port = free_port(), free_port()
        self.relay = tap.enter(Relay(lmtp_port))
        self.web = self.new_web_server(self.ca.make_cert("localhost"))
        self.instance = Instance(
            os.path.join(directory, "home"), port=self.relay.port, **{
                "commands__address": HOME,
                "receive__lmtp_listen": f"127.0.0.1:{lmtp_port}",
                "receive__parser": os.path.join(top_builddir(), "paperboy-parser"),
                "web__url": self.web.url,
                "web__ca_file": self.ca.cert,
                "web__listen": f"127.0.0.1:{self.page_port}",
                "web__socket": os.path.join(directory, "home", "web"),
            } | settings)
        self.page = tap.enter(Child([os.path.join(top_builddir(), "paperboy-web"),
                                     "-c", self.instance.config]))
        self.page.wait_port(self.page_port)
        self.instance.write_day(DAY, [1])

    def new_web_server(self, cert):
        return self.tap.enter(WebServer(cert, self.page_port))

    def start(self, now=None):
        daemon = self.tap.enter(self.instance.start(now))
        daemon.wait_line("web check passed")
        return daemon

    def check(self, *options):
        reported = self.instance.ctl("--json", "check", *(options or ("--wait", "600")),
                                     wanted=(0, WRONG))
        return {row["check"]: row for row in json.loads(reported)}

    def is_offered(self):
        return "digests offer" in self.check()["one click"]["found"]


# The fault, words of its text, and whether the header is omitted, as it is from then on.

SIGNATURE = "the DKIM signature does not cover the unsubscribe link, or is not valid: "
HTTP = "the page does not answer one-click unsubscribing as providers require: "

MAIL_FAULTS = [
    ({"signed": None}, "did not come back: accepted by the relay", False),
    ({"signed": "From"}, SIGNATURE + "not signed: list-id, "
                         "list-unsubscribe, list-unsubscribe-post", True),
    ({"results": "Authentication-Results: mx.news.example; dkim=fail\r\n"},
     SIGNATURE + "dkim:fail", True),
    ({"change": edit_link(lambda link: link[:-5] + b"\r\n " + link[-5:])},
     "without its unsubscribe link", True),
    ({"change": edit_link(lambda link: b"<https://safe.example/?" + link[1:])},
     "List-Unsubscribe-Post: https://safe.example/?https://localhost:", True),
]

PAGE_FAULTS = [
    ("slow", "the page cannot be reached: ", False),
    ("telling", HTTP + "status 404 for a forged link", True),
    ("redirect", HTTP + "status 302 to https://www.localhost/u/TOKEN", True),
    (500, HTTP + "status 500", True),
    ("form", HTTP + "status 415 for multipart/form-data", True),
    ("acting GET", HTTP + "opening the link already unsubscribes", True),
    ("page", HTTP + "status 200 with a body", True),
    ("large page", "larger than", True),
    ("cached", "did not arrive", True),
]


def finds_what_the_relay_does(tap, site):
    """each fault of the returned mail is found"""
    for fault, words, is_omitted in MAIL_FAULTS:
        before = vars(site.relay).copy()
        vars(site.relay).update(fault)
        row = site.check("--wait", "600" if is_omitted else "1")
        vars(site.relay).update(before)
        found = row["unsubscribe link"]
        assert not found["ok"] and words in found["found"] and found["action"], row
        # In a second a page under load may not respond.
        assert row["page"]["ok"] or not is_omitted, row
        offered = "digests do not offer" if is_omitted else "digests offer"
        assert offered in row["one click"]["found"], row
    assert site.is_offered()


def finds_what_the_web_server_does(tap, site):
    """each fault of the page is found"""
    for fault, words, is_omitted in PAGE_FAULTS:
        site.web.fault, site.web.posts = fault, 0
        row = site.check("--wait", "2" if fault == "slow" else "600")
        site.web.fault = None
        found = row["page"]
        assert not found["ok"] and found["action"], row
        assert words in found["found"], row
        offered = "digests do not offer" if is_omitted else "digests offer"
        assert offered in row["one click"]["found"], row
    assert site.is_offered()


def finds_what_is_wrong_with_name_and_certificate(tap, site):
    """a wrong certificate is told apart from a page that cannot be reached"""
    expired = site.new_web_server(site.ca.make_cert("localhost", days=-1))
    for settings, words, is_omitted in (
            ({"url": expired.url}, "no valid certificate", True),
            ({"url": site.web.url, "ca_file": None}, "no valid certificate", True),
            ({"url": f"https://localhost:{free_port()}"}, "cannot be reached", False)):
        site.instance.set(**{f"web__{name}": value for name, value in settings.items()})
        row = site.check()
        assert not row["page"]["ok"] and words in row["page"]["found"], row
        assert ("do not offer" in row["one click"]["found"]) == is_omitted, row
        site.instance.set(web__url=site.web.url, web__ca_file=site.ca.cert)
    assert site.is_offered()


def nginx_of_the_readme_passes(tap, site):
    """one click works behind nginx as doc/web.md has it, and a stopped page is named"""
    cert = site.ca.make_cert("localhost")
    nginx = tap.enter(nginx_of_readme(tap.subdirectory("nginx"), cert, site.page_port))
    site.instance.set(web__url=nginx.url)
    row = site.check()
    assert row["page"]["ok"], row
    # Without a mail the result is shown, but not saved.
    row = site.check("--wait", "0")
    assert row["page"]["ok"] and "one click" not in row, row
    site.page.stop()
    row = site.check()
    assert "status 502" in row["page"]["found"], row
    assert "/u/" not in nginx.child.output, nginx.child.output
    assert "paperboy-web run" in row["page"]["action"], row


def next_digest(site, day):
    """The digest of a day."""
    site.relay.others.clear()
    site.instance.write_day(day, [int(day[-2:])])
    site.instance.once(at_hour(day), wanted=0)
    return parse(next(raw for to, raw in site.relay.others if to == "ada@people.example"))


def digests_follow_the_test(tap):
    """digests offer one click once the daemon's test has passed, and not while one fails"""
    site = Site(tap, "digests", mail__alerts=True)
    site.instance.add_person("ada@people.example")
    first, second, third = (days_after(DAY, count) for count in (1, 2, 3))
    digest = next_digest(site, first)
    assert digest["List-Unsubscribe"].startswith("<mailto:"), digest["List-Unsubscribe"]
    body = digest.get_body(("plain",)).get_content()
    assert f"\n{site.web.url}/u/" in body, body

    with site.instance.start(at_hour(first, 12)) as daemon:
        daemon.wait_line("web check passed")
        daemon.wait_line("config applied stage=mailer")
        # A check by hand counts as well, and the daemon adopts its result.
        for fault in (503, None):
            site.web.fault = fault
            assert site.is_offered() == (fault is None)
            daemon.wait_line("config applied stage=mailer")
    digest = next_digest(site, second)
    assert digest["List-Unsubscribe"].startswith(f"<{site.web.url}/u/"), digest
    assert digest["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"

    # A day after the first test.
    site.web.fault = "redirect"
    with site.instance.start(at_hour(second, 14)) as daemon:
        daemon.wait_line("web check failed fault=http")
        daemon.wait_line("config applied stage=mailer")
    site.relay.others.clear()
    with site.instance.start() as daemon:
        daemon.wait_line("alert sent")
        daemon.wait_fact(lambda: site.relay.others, "the alert")
        assert "status 302" in site.instance.ctl("status", wanted=1)
    (recipient, alert), = site.relay.others
    assert recipient == "owner@news.example", recipient
    assert b"one-click unsubscribing does not work" in alert, alert
    digest = next_digest(site, third)
    assert digest["List-Unsubscribe"].startswith("<mailto:"), digest["List-Unsubscribe"]
    assert digest["List-Unsubscribe-Post"] is None


def main(tap):
    site = Site(tap, "site")
    site.start()
    assert site.is_offered()
    tap.run(finds_what_the_relay_does, tap, site)
    tap.run(finds_what_the_web_server_does, tap, site)
    tap.run(finds_what_is_wrong_with_name_and_certificate, tap, site)
    tap.run(nginx_of_the_readme_passes, tap, site)
    tap.run(digests_follow_the_test, tap)


with Tap() as tap:
    main(tap)
