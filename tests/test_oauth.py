#!/usr/bin/env python3
"""test_oauth.py - logins by OAuth 2: Dovecot for IMAP, Postfix for SMTP, a token server.

Dovecot checks each access token with the token server, for Postfix too.
"""

import base64
import concurrent.futures
import configparser
import datetime
import json
import os
import re
import signal
import subprocess
import urllib.error
import urllib.parse
import urllib.request

import lib  # the path
from clock import DAY
from daemon import Instance, at_hour, days_after
from peers import Ca, Dovecot, Postfix
from programs import built
from smtp_fixture import Relay
from tap import (
    Child, Tap, free_port, need_programs, need_strace, run, save, top_builddir,
)
from token_server import CLIENT_ID, CLIENT_SECRET, TokenServer

def message(number):
    return ("From: ada@example.org\r\nTo: papers@example.org\r\n"
            f"Message-ID: <m{number}@example.org>"
            "\r\nSubject: help\r\n\r\nhelp\r\n").encode()


class Bench:
    """Servers shared by the tests."""

    def __init__(self, tap):
        self.tap = tap
        self.ca = Ca(tap.subdirectory("ca"))
        self.server = tap.enter(TokenServer(self.ca))
        self.dovecots = {mechanisms: self.start_dovecot(mechanisms)
                         for mechanisms in ("oauthbearer xoauth2", "xoauth2",
                                            "oauthbearer", "")}
        self.ports = {mechanisms: free_port() for mechanisms in self.dovecots}
        services = [f"127.0.0.1:{self.ports[mechanisms]} inet n - n - - smtpd"
                    f" -o smtpd_sasl_path={dovecot.sasl}"
                    for mechanisms, dovecot in self.dovecots.items()]
        first = self.dovecots["oauthbearer xoauth2"]
        self.postfix = tap.enter(Postfix(
            tap.subdirectory("postfix"), self.ca, lmtp=first.lmtp, sasl=first.sasl,
            services="\n".join(services)))
        self.numbers = iter(range(1000))
        self.outputs = []  # of all programs: they must not contain tokens

    def start_dovecot(self, mechanisms):
        directory = self.tap.subdirectory("d" + mechanisms.replace(" ", "-"))
        return self.tap.enter(Dovecot(
            directory, self.ca, extra=self.server.write_dovecot(directory, mechanisms)))

    def new(self, mechanisms="oauthbearer xoauth2", **settings):
        self.server.reset()
        return Box(self, mechanisms, settings)


class Box(Instance):
    """An instance whose mailbox is on these servers."""

    def __init__(self, bench, mechanisms, settings):
        self.bench = bench
        self.dovecot = bench.dovecots[mechanisms]
        name = f"box{next(bench.numbers)}"
        directory = bench.tap.subdirectory(name)
        self.user = user = f"{name}@example.org"
        settings = {
            "smtp__host": "localhost", "smtp__tls": "starttls",
            "smtp__ca_file": bench.ca.cert, "smtp__user": user, "smtp__login": "oauth",
            "receive__imap_host": "localhost", "receive__imap_tls": "implicit",
            "receive__imap_port": self.dovecot.imaps_port,
            "receive__imap_ca_file": bench.ca.cert, "receive__imap_user": user,
            "receive__imap_login": "oauth", "receive__parser": built("paperboy-parser"),
            "oauth__token_url": bench.server.url + "/token",
            "oauth__client_id": CLIENT_ID, "oauth__ca_file": bench.ca.cert,
            "mail__from": user, "mail__owner": "owner@example.org",
            "commands__address": user, "log_level": "debug",
        } | settings
        super().__init__(directory, port=bench.ports[mechanisms], **settings)
        self.hours = 0

    def later(self, hours=2):
        """The time some hours after the call before, when an access token has expired."""
        self.hours += hours
        return at_hour(DAY, self.hours)

    def ctl(self, *arguments, **options):
        options = {"now": at_hour(DAY, self.hours)} | options
        output = super().ctl(*arguments, **options)
        self.bench.outputs.append(output)
        return output

    def once(self, *arguments, **options):
        done = super().once(*arguments, **options)
        self.bench.outputs.append(done.output)
        return done

    def log_in(self, use="both", **options):
        """Log in with a refresh token.  @return the server's grant"""
        refresh = self.bench.server.grant(self.user, **options)
        path = os.path.join(self.directory, "refresh")
        save(path, refresh + "\n")
        os.chmod(path, 0o600)
        self.ctl("login", use, "--refresh-token", path)
        return self.bench.server.grants[-1]

    def check(self, now=None):
        """{name: text} of the lines about the relay and the receiver."""
        output = self.ctl("--json", "check", "--wait", "0",
                          now=now or at_hour(DAY, self.hours), wanted=(0, 1, 65))
        self.advice = {row["check"]: row["action"] for row in json.loads(output)}
        return {row["check"]: row["found"] for row in json.loads(output)}

    def check_works(self, now=None):
        found = self.check(now)
        assert "logged in" in found["relay"], found
        assert "logged in" in found["receiver imap"], found

    def check_fails(self, pattern, now=None):
        found = self.check(now)
        for name in ("relay", "receiver imap"):
            assert re.search(pattern, found[name]), found

    @property
    def tokens(self):
        """The file of tokens, as a dictionary of groups."""
        file = configparser.ConfigParser(interpolation=None)
        file.read(os.path.join(self.state, "oauth"))
        return file


def logins(bench):
    """both mechanisms log in to both servers, with one access token"""
    for mechanisms in ("oauthbearer", "xoauth2", "oauthbearer xoauth2"):
        box = bench.new(mechanisms)
        box.log_in()
        before = bench.server.count()
        box.check_works()
        assert bench.server.count() == before
        mode = os.stat(os.path.join(box.state, "oauth")).st_mode
        assert mode & 0o777 == 0o600, oct(mode)
    box = bench.new("")
    box.log_in()
    box.check_fails("no supported authentication mechanism .OAUTHBEARER, XOAUTH2.")


def mail_is_sent_and_received(bench):
    """mail is sent and received, and the token is renewed once for all"""
    box = bench.new(smtp__connections=4)
    box.log_in()
    box.write_day(DAY, range(3))
    box.add_people(20, now=at_hour(DAY, 0))
    box.dovecot.put(box.user, message(1))
    before = bench.server.count()
    box.once(box.later(), wanted=0)
    assert box.states()["SENT"] >= 20, box.states()
    assert box.value("SELECT count(*) FROM inbox WHERE receiver = 'imap'") == 1
    assert bench.server.count() == before + 1


def renewed_once(bench):
    """threads and programs that need a token at the same time request it once"""
    box = bench.new()
    box.log_in()
    for _ in range(3):
        before = bench.server.count()
        now = box.later()
        with concurrent.futures.ThreadPoolExecutor() as pool:
            outputs = list(pool.map(
                lambda _, at=now: run([built("tests", "helper_oauth"), box.config, at,
                                       "16"]), range(4)))
        lines = "".join(outputs).splitlines()
        assert len(lines) == 64 and len(set(lines)) == 1, set(lines)
        assert lines[0].startswith("token "), lines[0]
        assert bench.server.count() == before + 1


def rotation(bench):
    """each refresh token is used once; only the newest one is kept"""
    box = bench.new()
    grant = box.log_in()
    used = set()
    for _ in range(4):
        box.check_works(box.later())
        stored = box.tokens["both"]["refresh_token"]
        assert stored == grant.current and stored not in used
        used.add(stored)
    bench.server.rotates = False
    box.check_works(box.later())
    assert box.tokens["both"]["refresh_token"] == grant.current
    bench.server.rotates = True


def two_logins(bench):
    """IMAP and SMTP can have logins of their own; a login for both is divided"""
    box = bench.new()
    box.log_in("both")
    assert box.tokens.sections() == ["both"]
    box.log_in("imap")
    assert sorted(box.tokens.sections()) == ["imap", "smtp"]
    box.check_works(box.later())
    box.log_in()
    assert box.tokens.sections() == ["both"]
    box.set(receive__imap_login="password")
    output = box.ctl("login", "both", "--client-credentials", wanted=65)
    assert 'receive.imap_login = "oauth"' in output, output


def revoked_access(bench):
    """an access token that the servers reject is replaced at once"""
    box = bench.new()
    box.log_in()
    for mechanisms in ("oauthbearer", "xoauth2"):
        other = bench.new(mechanisms)
        other.log_in()
        before = bench.server.count()
        bench.server.revoke_access()
        other.check_works()
        assert bench.server.count() == before + 1


def revoked_grant(bench):
    """a rejected refresh token is not tried again; mail waits for a login"""
    box = bench.new(mail__alerts=True)
    box.log_in()
    bench.server.revoke_grants()
    before = bench.server.count()
    box.write_day(DAY, range(3))
    box.add_people(5, now=at_hour(DAY, 0))
    box.dovecot.put(box.user, message(2))
    now = box.later()
    box.once(now, wanted=75)
    wanted = "invalid_grant: made up for a test: run paperboyctl login both"
    box.check_fails(wanted)
    with box.start(now=box.later(1)) as child:
        child.wait_fact(lambda: box.value(
            "SELECT count(*) FROM outbox WHERE kind = 'notice'"), "an alert")
    assert bench.server.count() == before + 1
    assert "SENT" not in box.states(), box.states()
    for command in ("status", "doctor"):
        output = box.ctl(command, wanted=(1, 2))
        assert "the OAuth login for smtp ended at 2026-11-20 02:00 UTC" in output, output
        assert "run paperboyctl login both" in output, output
        assert "from a backup" not in output, output
    box.log_in()
    box.once(box.later(), wanted=0)
    assert box.states() == {"SENT": 5} or box.states()["SENT"] >= 5, box.states()
    assert box.value("SELECT count(*) FROM inbox") >= 1
    output = box.ctl("doctor", "--all", wanted=(0, 1))
    assert "logged in for smtp since 2026-11-20 03:00 UTC" in output, output


def daemon_continues(bench):
    """a running daemon continues after a login, and after a correction of the client"""
    box = bench.new(mail__alerts=True)
    box.log_in()
    bench.server.revoke_grants()
    box.write_day(DAY, range(3))
    box.add_people(3, now=at_hour(DAY, 0))
    box.dovecot.put(box.user, message(20))
    sent = "SELECT count(*) FROM outbox WHERE state = 'SENT' AND kind = 'digest'"
    received = "SELECT count(*) FROM inbox WHERE receiver = 'imap'"
    box.later(8)
    with box.start(now=at_hour(DAY, 8)) as child:
        child.wait_line("relay auth failed.*run paperboyctl login both")
        child.wait_fact(lambda: "receiver failed receiver=imap: " in child.output,
                        "a failed receiver")
        assert box.value(sent) == box.value(received) == 0
        box.log_in()
        child.wait_fact(lambda: box.value(sent) == 3 and box.value(received) == 1,
                        "digests and the message")
        child.signal(signal.SIGTERM)
        assert child.wait_exit() == 0, child.output
        bench.outputs.append(child.output)
    box.set(oauth__client_id="client-2")
    box.write_day(days_after(DAY, 1), range(3, 6))
    with box.start(now=at_hour(days_after(DAY, 1), 8)) as child:
        child.wait_line("relay auth failed.*another provider or client")
        box.set(oauth__client_id=CLIENT_ID)
        box.ctl("reload")
        child.wait_fact(lambda: box.value(sent) == 6, "digests")
        bench.outputs.append(child.output)


SPEED = 2000


def attempts_are_few(bench):
    """rejected tokens or passwords are tried again a few times an hour, with an alert"""
    tokens = bench.new(mail__alerts=True)
    tokens.log_in(scope="calendar")
    wrong = os.path.join(tokens.directory, "wrong")
    save(wrong, "guess\n")
    os.chmod(wrong, 0o600)
    passwords = bench.new(
        mail__alerts=True, smtp__login=None, smtp__password_file=wrong,
        receive__imap_login=None, receive__imap_password_file=wrong)
    environment = os.environ | {"LD_PRELOAD": built("tests", "preload_clock.so"),
                                "CLOCK_SPEED": str(SPEED)}

    def count(lines, *words):
        return sum(all(word in line for word in words) for line in lines)

    def count_all():
        """Logins and token requests so far, and how many are allowed in an hour."""
        return {
            "tokens": (bench.server.checked.count(tokens.user), 2 + 4),
            "token requests": (bench.server.count(), 1 + 2),
            "imap": (count(tokens.dovecot.child.lines, passwords.user, "auth failed"), 1),
            "smtp": (count(bench.postfix.log, "SASL", "authentication failed",
                           passwords.user), 2),
        }

    for box in (tokens, passwords):
        box.write_day(DAY, range(3))
        box.add_people(20, now=at_hour(DAY, 0))
        box.dovecot.put(box.user, message(1))
    before = count_all()
    with tokens.start(now=at_hour(DAY, 8), env=environment) as one, \
            passwords.start(now=at_hour(DAY, 8), env=environment) as other:
        one.wait_fact(
            lambda: all(value >= before[name][0] + 3 * allowed
                        for name, (value, allowed) in count_all().items()),
            "attempts of three hours", 120)
        after = count_all()
        stamps = [datetime.datetime.fromisoformat(line[:19])
                  for child in (one, other) for line in child.lines if line[19:20] == "Z"]
        hours = (max(stamps) - min(stamps)).total_seconds() / 3600
        for box, child in ((tokens, one), (passwords, other)):
            child.wait_line("relay auth failed next_in=1800s")
            child.wait_fact(lambda box=box: box.value(
                "SELECT count(*) FROM outbox WHERE kind = 'notice'"), "an alert")
            assert "SENT" not in box.states(), box.states()
            bench.outputs.append(child.output)
    for name, (value, allowed) in after.items():
        made = value - before[name][0]
        print(f"# {name}: {made} in {hours:.1f} hours", flush=True)
        assert made <= (hours + 1) * allowed, (name, made, hours)


def no_login(bench):
    """without a login, or with one for another client, the command is named"""
    box = bench.new()
    box.check_fails("no OAuth login yet: run paperboyctl login (imap|smtp)$")
    output = box.ctl("status", wanted=2)
    assert "there is no OAuth login for imap yet" in output, output
    assert "run paperboyctl login imap: each machine needs its own" in output, output
    box.log_in()
    box.set(oauth__client_id="client-2")
    before = bench.server.count()
    box.check_fails("another provider or client: run paperboyctl login both")
    assert bench.server.count() == before


def clock_skew(bench):
    """a clock that is set forward or back, or differs from the server's, does no harm"""
    box = bench.new()
    box.log_in()
    for day in ("2027-11-20", "2026-11-19", "2020-01-01", "2026-11-20"):
        before = bench.server.count()
        box.check_works(at_hour(day, 8))
        box.check_works(at_hour(day, 8, 30))
        assert bench.server.count() == before + 1, day
    bench.server.lifetime_s = 1
    for minute in range(3):
        box.check_works(at_hour(DAY, 9, minute))
    bench.server.lifetime_s = 3600


def server_down(bench):
    """while the token server is down mail waits; a token that is still valid is used"""
    box = bench.new()
    box.log_in()
    box.write_day(DAY, range(3))
    box.add_people(3, now=at_hour(DAY, 0))
    bench.server.error = (503, {"error": "temporarily_unavailable"})
    before = bench.server.count()
    box.check_works(at_hour(DAY, 0, 57))
    assert bench.server.count() > before
    now = box.later()
    box.check_fails("HTTP status 503, temporarily_unavailable", now)
    box.once(now, wanted=75)
    assert "SENT" not in box.states(), box.states()
    for name in ("relay", "receiver imap"):
        assert "oauth.token_url" in box.advice[name], box.advice
        assert "smtp" not in box.advice[name] and "imap" not in box.advice[name], box.advice
    bench.server.error = (200, "<html>not JSON</html>")
    box.check_fails("invalid response of the OAuth server localhost:[0-9]+: not JSON, as from "
                    "another page than oauth.token_url")
    bench.server.error = (200, {"access_token": "one two", "token_type": "Bearer"})
    box.check_fails("no bearer token")
    bench.server.error = (200, {"access_token": "x" * 70000})
    box.check_fails("larger than")
    bench.server.error = (400, {"error": "invalid_client"})
    box.check_fails("refused by the OAuth server localhost:[0-9]+: invalid_client")
    bench.server.error = None
    url = box.settings["oauth.token_url"]
    box.set(oauth__ca_file=None)
    box.check_fails("certificate.*; if its authority is private, set oauth.ca_file")
    box.set(oauth__ca_file=bench.ca.cert)
    box.once(box.later(), wanted=0)
    assert box.states()["SENT"] >= 3, box.states()
    assert box.settings["oauth.token_url"] == url


def wrong_scope(bench):
    """a token without the scope for mail is not renewed in vain"""
    for mechanisms in ("oauthbearer", "xoauth2"):
        box = bench.new(mechanisms)
        box.log_in(scope="calendar")
        before = bench.server.count()
        box.check_fails("failed: (invalid_token|401 .scope mail.); a new one was "
                        "rejected, too: check the user name, and that oauth.scope includes (SMTP|IMAP)$")
        assert "smtp.host" in box.advice["relay"], box.advice
        assert bench.server.count() <= before + 2


def failing_login(challenge):
    """A function for Relay.act: a login that fails with an explanation (RFC 7628)."""
    replies = []

    def act(verb, _):
        if verb in ("CONNECT", "EHLO", "STARTTLS"):
            replies[:] = [b"334 \r\n", b"334 " + base64.b64encode(challenge) + b"\r\n"]
            return None
        return replies.pop(0) if replies else b"535 5.7.8 no\r\n"

    return act


def explained_failures(bench):
    """the explanation of a failed login is decoded; a missing scope is not renewed"""
    explained = {
        b'{"status":"insufficient_scope","scope":"https://mail.example/"}':
            r"insufficient_scope \(scope https://mail.example/\): correct oauth.scope, "
            "then run paperboyctl login$",
        b'{"status":"400","schemes":"Bearer","scope":"x\xc3\xa9\\n"}':
            r"400 \(scope x\?\?\?\); a new one was rejected, too",
        b"not JSON": "failed: no reason given; a new one was rejected, too",
    }
    for challenge, pattern in explained.items():
        for mechanism in ("XOAUTH2", "OAUTHBEARER"):
            with Relay(certificate=bench.ca.make_pair("localhost")) as relay:
                relay.secure_lines = [f"AUTH {mechanism}"]
                relay.act = failing_login(challenge)
                box = bench.new()
                box.log_in()
                box.set(smtp__port=relay.port)
                before = bench.server.count()
                found = box.check()["relay"]
                assert re.search(pattern, found), (mechanism, found)
                renewals = 0 if b"insufficient" in challenge else 1
                assert bench.server.count() == before + renewals


def idle(bench):
    """a token that expires during IDLE is renewed when the server disconnects"""
    (doveadm,) = need_programs("doveadm")
    box = bench.new()
    box.log_in()
    counted = "SELECT count(*) FROM inbox WHERE receiver = 'imap'"

    def wait_mail(child, number):
        child.wait_fact(lambda: box.db.exists() and box.value(counted) >= number,
                        f"{number} messages")

    before = box.dovecot.mails(box.user)
    with box.start(now=at_hour(DAY, 0)) as child:
        wait_mail(child, len(before))
        box.dovecot.put(box.user, message(10))
        wait_mail(child, len(before) + 1)
        for number in range(11, 14):
            count = bench.server.count()
            bench.server.revoke_access()
            run([doveadm, "-c", box.dovecot.config, "kick", box.user])
            box.dovecot.put(box.user, message(number))
            wait_mail(child, len(before) + number - 9)
            assert bench.server.count() == count + 1
        check_process(bench, child)
        child.signal(signal.SIGTERM)
        assert child.wait_exit() == 0, child.output
        assert "receiver failed" not in child.output, child.output
        bench.outputs.append(child.output)


def check_process(bench, child):
    """No token in the arguments or the environment, and no core file."""
    for name in ("cmdline", "environ"):
        with open(f"/proc/{child.pid}/{name}", "rb") as file:
            bench.outputs.append(file.read().decode("utf-8", "replace"))


def no_core(bench):
    """a crash leaves no core file with tokens"""
    box = bench.new()
    box.log_in()
    control = subprocess.Popen(["sh", "-c", "ulimit -c unlimited; kill -ABRT $$"],
                               cwd=box.directory)
    _, status = os.waitpid(control.pid, 0)
    if not os.WCOREDUMP(status):
        print("# this system writes no core files at all", flush=True)
    process = subprocess.Popen(
        ["sh", "-c", 'ulimit -c unlimited; exec "$@"', "sh", box.daemon, "-c",
         box.config, "--now", at_hour(DAY, 0)],
        cwd=box.directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    for line in process.stdout:
        if b"started" in line:
            break
    process.send_signal(signal.SIGABRT)
    process.stdout.read()
    _, status = os.waitpid(process.pid, 0)
    assert os.WTERMSIG(status) == signal.SIGABRT and not os.WCOREDUMP(status)


def client_secrets(bench):
    """a client with a secret, and one that logs in as itself"""
    secret = os.path.join(bench.tap.subdirectory("secret"), "secret")
    save(secret, CLIENT_SECRET + "\n")
    os.chmod(secret, 0o600)
    box = bench.new(oauth__client_secret_file=secret, oauth__scope="mail")
    box.log_in()
    box.check_works(box.later())
    bench.server.is_own_allowed = box.user
    box.ctl("login", "--client-credentials")
    assert "refresh_token" not in box.tokens["both"]
    box.check_works(box.later())
    assert bench.server.count("client_credentials") == 2
    bench.server.is_own_allowed = None
    box.check_fails("unauthorized_client", box.later())
    bench.server.is_own_allowed = box.user
    box.check_works()
    save(secret, "wrong\n")
    box.check_fails("invalid_client", box.later())
    save(secret, CLIENT_SECRET + "\n")
    box.check_works()


def run_login(box, *options, **popen):
    """paperboyctl login, while it waits for a browser."""
    return Child([os.path.join(top_builddir(), "paperboyctl"), "-c", box.config,
                  "--now", at_hour(DAY, box.hours), "login", *options], **popen)


def device_login(bench):
    """a login with a code: authorization_pending, slow_down, access_denied, expired"""
    box = bench.new(oauth__device_url=bench.server.url + "/device", oauth__scope="mail")
    bench.server.coming = (box.user, ["authorization_pending", "slow_down",
                                      "authorization_pending"])
    output = box.ctl("login")
    assert f"Open {bench.server.url}/activate in a browser" in output, output
    assert "enter the code ABCD-EFGH." in output, output
    assert "Logged in for imap and smtp." in output and "warning" not in output, output
    assert not bench.server.is_early
    box.check_works()
    box.check_works(box.later())
    for error in ("access_denied", "expired_token"):
        bench.server.coming = (box.user, [error])
        output = box.ctl("login", "--device", wanted=69)
        assert "refused by the OAuth server localhost:" in output and error in output
    box.check_works()
    bench.server.error = (400, {"error": "invalid_scope"})
    assert "invalid_scope" in box.ctl("login", wanted=65)
    bench.server.reset()
    box.set(oauth__device_url=None, oauth__scope="mail calendar",
            oauth__authorization_url=bench.server.url + "/authorize")
    assert "use --browser" in box.ctl("login", "--device", wanted=65)
    assert "exclude each other" in box.ctl("login", "--device", "--browser", wanted=65)
    # Found before the code is shown.
    box.set(oauth__token_url="http://localhost/token")
    output = box.ctl("login", wanted=65)
    assert "is not an https URL" in output and "Open" not in output, output


def browser_login(bench):
    """a login with a browser: by its redirect, or by the address pasted here"""
    box = bench.new(oauth__scope="mail calendar",
                    oauth__authorization_url=bench.server.url + "/authorize")
    with run_login(box) as child:
        url = child.wait_line("^https://.*$")[0]
        redirect = bench.server.authorize(url)
        assert redirect.startswith("http://127.0.0.1:"), redirect
        port = urllib.parse.urlsplit(redirect).port
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/favicon.ico", timeout=120)
            raise AssertionError("an icon")
        except urllib.error.HTTPError as error:
            assert error.code == 404
        with urllib.request.urlopen(redirect, timeout=120) as page:
            assert b"You can close this page" in page.read()
        assert child.wait_exit() == 0, child.output
        assert "did not grant the scope calendar" in child.output, child.output
        bench.outputs.append(child.output)
    box.check_works()
    port = free_port()
    box.set(oauth__redirect_uri=f"http://localhost:{port}/done")
    with run_login(box) as child:
        redirect = bench.server.authorize(child.wait_line("^https://.*$")[0])
        assert redirect.startswith(f"http://localhost:{port}/done"), redirect
        urllib.request.urlopen(redirect, timeout=120)
        assert child.wait_exit() == 0, child.output
    box.set(oauth__redirect_uri=None)
    read_end, write_end = os.pipe()
    with run_login(box, "smtp", "--browser", stdin=read_end) as child:
        os.close(read_end)
        redirect = bench.server.authorize(child.wait_line("^https://.*$")[0])
        os.write(write_end, b"http://127.0.0.1/\n")
        child.wait_line("This address has no code")
        os.write(write_end, redirect.encode() + b"\n")
        assert child.wait_exit() == 0, child.output
        os.close(write_end)
    box.check_works(box.later())
    for query, wanted in (("code=a&state=b", "not the one to which this login was"),
                          ("error=access_denied&state={state}", "access_denied"),
                          ("code=wrong&state={state}", "invalid_grant")):
        with run_login(box, "imap") as child:
            url = child.wait_line("^https://.*$")[0]
            redirect = bench.server.authorize(url)
            state = urllib.parse.parse_qs(urllib.parse.urlsplit(redirect).query)["state"]
            base = redirect.partition("?")[0]
            urllib.request.urlopen(base + "?" + query.format(state=state[0]), timeout=120)
            assert child.wait_exit() in (65, 69), child.output
            assert wanted in child.output, child.output
    box.check_works()
    bench.server.gives_refresh = False
    with run_login(box, "both") as child:
        urllib.request.urlopen(
            bench.server.authorize(child.wait_line("^https://.*$")[0]), timeout=120)
        assert child.wait_exit() == 65, child.output
        assert "gave no refresh token" in child.output, child.output


def presets(bench):
    """a provider gives the endpoints and scopes; the settings override them"""
    box = bench.new(oauth__token_url=None, oauth__provider="microsoft",
                    oauth__device_url=None)
    with run_login(box, "both", "--browser") as child:
        url = urllib.parse.urlsplit(child.wait_line("^https://.*$")[0])
        query = dict(urllib.parse.parse_qsl(url.query))
        assert url.netloc == "login.microsoftonline.com", url
        assert url.path == "/organizations/oauth2/v2.0/authorize", url
        assert query["scope"] == (
            "https://outlook.office.com/IMAP.AccessAsUser.All "
            "https://outlook.office.com/SMTP.Send offline_access"), query
        assert query["redirect_uri"].startswith("http://localhost:"), query
        assert query["login_hint"] == box.user
    box.set(oauth__provider="google", oauth__redirect_uri="https://paper.example/done")
    with run_login(box, "smtp") as child:
        url = urllib.parse.urlsplit(child.wait_line("^https://.*$")[0])
        query = dict(urllib.parse.parse_qsl(url.query))
        assert query["scope"] == "https://mail.google.com/", query
        assert query["access_type"] == "offline" and query["prompt"] == "consent"
        assert query["redirect_uri"] == "https://paper.example/done"
    for provider, wanted in (("zoho", "uses a password"), ("gmial", "unknown provider")):
        box.set(oauth__provider=provider)
        done = box.once(wanted=78)
        assert wanted in done.output, done.output
    rows = {row["provider"]: row for row in json.loads(box.ctl("--json", "provider",
                                                               "list"))}
    assert set(rows) == {"gmail", "google", "microsoft", "outlook", "fastmail", "yahoo", "zoho",
                         "mailbox.org", "proton"}
    assert rows["google"]["login"] == "app password or oauth, browser"
    assert (rows["gmail"]["per_day"], rows["google"]["per_day"]) == ("500", "2000")
    assert rows["yahoo"]["subaddresses"] == "no" and rows["zoho"]["per_day"] is None
    assert all(row["source"] for row in rows.values())


# Calls of a refresh, and those after the new token was written to a file.
CALLS = ("flock", "unlink", "fallocate", "connect", "sendto", "recvfrom", "pwrite64")
LATE_CALLS = ("ftruncate", "fsync", "rename")


def killed(bench):
    """killed at any step of a refresh, it has a usable refresh token afterwards"""
    strace = need_strace()
    box = bench.new()
    grant = box.log_in()
    helper = built("tests", "helper_oauth")
    n_runs = n_killed = 0
    for call in CALLS + LATE_CALLS:
        # Before, the response may be lost, and the old token has to be valid for longer.
        bench.server.is_strict = call in LATE_CALLS
        for number in range(1, 60):
            n_runs += 1
            now = at_hour(days_after(DAY, n_runs))
            done = subprocess.run(
                [strace, "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e",
                 f"inject={call}:signal=KILL:when={number}", helper, box.config, now,
                 "1"], capture_output=True, check=False)
            if done.returncode == 0:
                break
            n_killed += 1
            before = bench.server.count()
            output = run([helper, box.config, now, "1"])
            assert output.startswith("token "), (call, number, output)
            assert box.tokens["both"]["refresh_token"] == grant.current
            if call in LATE_CALLS:
                assert bench.server.count() == before, (call, number)
        else:
            raise AssertionError(f"too many calls of {call}")
        assert number > 1, f"no call of {call}"
    print(f"# killed {n_killed} times", flush=True)
    assert sorted(os.listdir(box.state)) == ["oauth"], os.listdir(box.state)


def disk_full(bench):
    """without space for the new refresh token the old one is not used up"""
    strace = need_strace()
    box = bench.new()
    grant = box.log_in()
    before = bench.server.count()
    output = run([strace, "-f", "-qq", "-o", "/dev/null", "-e",
                  "inject=fallocate:error=ENOSPC", built("tests", "helper_oauth"),
                  box.config, box.later(), "1"])
    assert "No space left on device" in output or "no space" in output, output
    assert bench.server.count() == before
    assert box.tokens["both"]["refresh_token"] == grant.current


def backups(bench):
    """a backup contains the logins; a restore keeps newer ones"""
    box = bench.new()
    grant = box.log_in()
    box.once(box.later(), wanted=0)
    backup = os.path.join(box.directory, "backup")
    box.ctl("backup", backup)
    first = box.tokens["both"]["refresh_token"]
    box.check_works(box.later())
    box.ctl("restore", backup, "--yes")
    assert box.tokens["both"]["refresh_token"] == grant.current != first
    box.check_works(box.later())
    os.unlink(os.path.join(box.state, "oauth"))
    box.ctl("restore", backup, "--yes")
    assert box.tokens["both"]["refresh_token"] == first
    box.check_fails("invalid_grant", box.later())  # it was replaced
    assert ("run paperboyctl login both: a login from a backup or another machine is"
            " replaced when that uses it") in " ".join(box.ctl("status", wanted=2).split())
    mode = os.stat(os.path.join(box.state, "oauth")).st_mode
    assert mode & 0o777 == 0o600, oct(mode)


def no_token_is_printed(bench):
    """no token or secret is in a log, an output, arguments or the environment"""
    text = "\n".join(bench.outputs)
    assert len(bench.outputs) > 50 and len(bench.server.seen) > 50 and " debug " in text
    found = [token for token in bench.server.seen | {CLIENT_SECRET} if token in text]
    assert not found, found


with Tap() as tap:
    bench = Bench(tap)
    for test in (logins, mail_is_sent_and_received, renewed_once, rotation,
                 two_logins, revoked_access, revoked_grant, daemon_continues,
                 attempts_are_few, no_login, clock_skew,
                 server_down, wrong_scope,
                 explained_failures, idle, no_core, client_secrets, device_login, browser_login,
                 presets, killed,
                 disk_full, backups, no_token_is_printed):
        tap.run(test, bench)
