#!/usr/bin/env python3
"""test_setup.py - paperboyctl setup, from an empty directory to the first digest.

The mailbox is at a provider made of Postfix and Dovecot.
"""

import email.utils
import filecmp
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import termios
import time
import urllib.request

import lib  # the path
from clock import DAY
from conversations import EVA, PARSER
from daemon import at_hour
from mail_network import BOX, HostedNetwork
from paperserver import FEED, feed_item
from peers import PASSWORD, Ca, write
from tap import Child, Tap, free_port, read_text, run, top_builddir, top_srcdir
from token_server import CLIENT_ID, CLIENT_SECRET, TokenServer

CTL = os.path.join(top_builddir(), "paperboyctl")
USAGE, INPUT = 64, 65

class Site:
    """A provider, an empty directory for the configuration, and lists of papers."""

    def __init__(self, tap, name, dovecot=""):
        self.network = tap.enter(HostedNetwork(tap, name, dovecot=dovecot))
        self.network.instance.write_day(DAY, [1, 2])
        self.directory = tap.subdirectory(name + "-etc")
        self.config = os.path.join(self.directory, "paperboy.conf")
        feeds = tap.subdirectory(name + "-feeds")
        for title, items in (("cs.CL", feed_item(7)), ("Feed error for query: cs.LO", "")):
            feed = FEED % (title, 20, items)
            write(os.path.join(feeds, title.split()[-1] + ".xml"),
                  feed.replace("Wed, 18", "Fri, 20").replace("Wed, 20", "Fri, 20"))
        ca = self.network.ca.cert
        state = os.path.join(self.directory, "state")
        os.mkdir(state, 0o700)
        self.servers = (f"localhost:{self.network.dovecot.imaps_port}"
                        f" localhost:{self.network.postfix.port}")
        self.settings = [
            f"state_dir={state}", f"receive.parser={PARSER}",
            f"template_dir={os.path.join(top_srcdir(), 'etc', 'templates')}",
            "smtp.tls=starttls", f"smtp.ca_file={ca}", "receive.imap_tls=implicit",
            f"receive.imap_ca_file={ca}", "enrich.arxiv=false",
            "enrich.europepmc=false", "enrich.crossref=false",
            f"sources.hf.url=file://{self.network.instance.papers}",
            f"sources.arxiv.url=file://{feeds}",
        ]

    def command(self, *options):
        return [CTL, "-c", self.config, "--now", at_hour(DAY), "setup", *options,
                *(word for setting in self.settings for word in ("--set", setting))]

    def use_tokens(self, server):
        """The addresses of a provider with OAuth 2."""
        self.settings += [
            "smtp.host=localhost", f"smtp.port={self.network.postfix.port}",
            "receive.imap_host=localhost",
            f"receive.imap_port={self.network.dovecot.imaps_port}",
            f"oauth.token_url={server.url}/token", f"oauth.ca_file={server.ca}",
            "oauth.scope=mail"]

    def answer(self, lines, *options):
        """Run it with a file of answers: exit status and output."""
        answers = write(os.path.join(self.directory, "answers"), "\n".join(lines) + "\n")
        done = subprocess.run(
            self.command("--answers", answers, *options), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False)
        return done.returncode, done.stdout.decode()


class Terminal:
    """A program on a pseudo-terminal."""

    def __init__(self, command):
        self.master, slave = pty.openpty()
        # nohup, and a shell's background, leave signals ignored.
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            ["env", "--default-signal=HUP,INT,TERM", *command],
            stdin=slave, stdout=slave, stderr=slave, close_fds=True)
        self.slave = slave
        self.text = ""
        self.consumed = ""

    def read_until(self, pattern):
        """The output up to a match of the pattern, which is consumed."""
        end = time.monotonic() + 120
        while not (match := re.search(pattern, self.text)):
            ready, _, _ = select.select([self.master], [], [], end - time.monotonic())
            assert ready, f"{pattern!r} is not in {self.text!r}"
            self.text += os.read(self.master, 4096).decode().replace("\r\n", "\n")
        before, self.text = self.text[:match.end()], self.text[match.end():]
        self.consumed += before
        return before

    def type(self, prompt, answer, is_hidden=False):
        self.read_until(prompt + r".*[:\]] $")
        assert bool(termios.tcgetattr(self.slave)[3] & termios.ECHO) != is_hidden
        os.write(self.master, answer.encode() + b"\n")

    def close(self):
        status = self.process.wait(timeout=300)
        os.close(self.slave)
        os.close(self.master)
        return status


OWNER, MAILBOX = "Your mail address", "a mailbox of its own"
SERVERS = r"Provider \((?s:.*)IMAP-HOST SMTP-HOST"
USER = "User name of the mailbox"
SHIPPED = os.path.join(top_srcdir(), "etc", "paperboy.conf")
SECRET, WHO = "Password of the mailbox", "anyone who writes"
TIME = "time zone"
SCIENCES, CATEGORIES = "Sciences: (?s:.*)or none", "Sources for them(?s:.*)or none"


def wrong_answers_are_asked_again(tap):
    """each wrong answer on a terminal says why; the right ones lead to a first digest"""
    site = Site(tap, "terminal")
    shutil.copy(SHIPPED, site.config)
    terminal = Terminal(site.command())
    for prompt, answer, shown in (
            (OWNER, "", "wrong: an answer is needed"),
            (OWNER, "eva", "wrong: address has no '@'"),
            (OWNER, "a b@example.org", "wrong: .*address"),
            (OWNER, EVA, "\nok"),
            (MAILBOX, "papers", "wrong: .*address"),
            (MAILBOX, "back", "back"),
            (OWNER, EVA, "\nok"),
            (MAILBOX, BOX, "\nok"),
            (SERVERS, "nowhere", "wrong: expected a provider"),
            (SERVERS, "localhost:imap localhost", "wrong: 'localhost:imap' is not a server"),
            (SERVERS, "[::1]:99999 [::1]:25", "wrong: "),
            (SERVERS, f"localhost [::1]:{free_port()}",
             "wrong: sending: cannot connect to ::1 port .*refused"),
            (SERVERS, f"localhost localhost:{free_port()}", "wrong: sending: "),
            (SERVERS, site.servers, "ok: localhost, TLS"),
            (USER, "nobody@example.org", "\nok"),
            (SECRET, "guess", "wrong: sending: .*login failed: 535 5.7.8 "),
            (USER + r" \[nobody@example.org\]", BOX, "\nok"),
            (SECRET, PASSWORD[:3] + "\0" + PASSWORD[3:], "wrong: control characters"),
            (USER, "back", "back"),
            (SERVERS, site.servers, "ok: localhost, TLS"),
            (USER, "", "\nok"),
            (SECRET, PASSWORD, "ok: .*logged in.*folder INBOX exists"),
            (WHO, "everybody", 'wrong: expected "anyone" or "invited"'),
            (WHO, "invited", "\nok"),
            (TIME, "back", "back"),
            (WHO, "", "\nok"),
            (TIME, "7:30", "wrong: expected a time and a time zone"),
            (TIME, "07:30 Mars/Olympus", "wrong: unknown time zone 'Mars/Olympus'"),
            (TIME, "back", "back"),
            (WHO, "", "\nok"),
            (TIME, "25:30 UTC", "wrong: .*25:30"),
            (TIME, "07:30 Europe/Berlin", "\nok"),
            (SCIENCES, "alchemy", "wrong: 'alchemy' is not one of them"),
            (SCIENCES, "linguistics, mathematics", "\nok"),
            (CATEGORIES + r" \[cs.CL acl math math-ph\]", "back", "back"),
            (SCIENCES, "", "\nok"),
            (CATEGORIES + r" \[none\]", "cs.NO", "wrong: .*cs.NO"),
            (CATEGORIES, "cs.LO", "wrong: source arxiv/cs.LO"),
            (CATEGORIES, "cs.CL", "ok: .*2 papers, arXiv cs.CL: 1 papers"),
    ):
        terminal.type(prompt, answer, is_hidden=prompt == SECRET)
        assert PASSWORD not in terminal.read_until(shown + ".*\n")
    for row in json.loads(run([CTL, "--json", "provider", "list"])):
        assert row["provider"] in terminal.consumed, row
    end = terminal.read_until(r"subscribe.* to " + re.escape(BOX) + "\n")
    assert f"A test mail is on its way to {EVA}" in end, end
    assert terminal.close() == 0
    assert os.stat(os.path.join(site.directory, "password")).st_mode & 0o777 == 0o600
    assert sorted(os.listdir(site.directory)) == [
        "paperboy.conf", "paperboy.conf.old", "password", "state"]
    assert filecmp.cmp(SHIPPED, site.config + ".old", shallow=False)
    the_first_digest_comes(site)


def make_token_site(tap, name):
    ca = Ca(tap.subdirectory(name + "-token"))
    server = tap.enter(TokenServer(ca))
    server.ca = ca.cert
    site = Site(tap, name, server.write_dovecot(tap.subdirectory(name + "-passdb")))
    site.use_tokens(server)
    return site, server


TENANT, CLIENT, LOGIN = "Tenant", "Client id", "Enter to log in with a browser"
CLIENT_KEY, HOW = "Client secret", "Log in by password .an app password"
APP = r"App password \(Gmail: https://myaccount.google.com/apppasswords\)"


def a_login_with_a_code(tap):
    """a provider without passwords: tenant, client and login are asked and tried"""
    site, server = make_token_site(tap, "device")
    site.settings.append(f"oauth.device_url={server.url}/device")
    terminal = Terminal(site.command())
    server.coming = ("other@example.org", [])
    missing = os.path.join(site.directory, "missing")
    for prompt, answer, shown in (
            (OWNER, EVA, "\nok"),
            (MAILBOX, BOX, "\nok"),
            (SERVERS, "microsoft", "ok: localhost, TLS"),
            (USER, "", "\nok"),
            (TENANT, "back", "back"),
            (USER, "", "\nok"),
            (TENANT, "our/tenant", "wrong: expected a domain"),
            (TENANT, "example.org", "\nok"),
            (CLIENT, "client-2", "wrong: refused by the OAuth server .*invalid_client"),
            (CLIENT, "back", "back"),
            (TENANT, "", "\nok"),
            (CLIENT, CLIENT_ID, "\nok"),
            (LOGIN, missing, "wrong: .*No such file"),
            (LOGIN, "", "(?s)enter the code ABCD-EFGH.*wrong: sending: .*check the user name"),
    ):
        terminal.type(prompt, answer)
        terminal.read_until(shown + ".*\n")
    server.coming = (BOX, ["access_denied"])
    terminal.type(LOGIN, "")
    terminal.read_until("wrong: refused by the OAuth server .*access_denied.*\n")
    server.coming = (BOX, ["authorization_pending"])
    terminal.type(LOGIN, "")
    terminal.read_until("(?s)Logged in for imap and smtp.*ok: .*folder INBOX exists.*\n")
    for prompt, shown in ((WHO, "\nok"), (TIME, "\nok"),
                          (SCIENCES, "\nok"), (CATEGORIES, "ok: Hugging Face")):
        terminal.type(prompt, "")
        terminal.read_until(shown + ".*\n")
    terminal.read_until(r"subscribe.* to " + re.escape(BOX) + "\n")
    assert terminal.close() == 0
    assert sorted(os.listdir(site.directory)) == ["paperboy.conf", "state"]
    the_first_digest_comes(site, server.seen)
    assert "tenant" not in read_text(site.config)


def a_login_with_a_browser(tap):
    """a provider with both: an app password is enough; oauth asks for the client's secret"""
    site, server = make_token_site(tap, "browser")
    site.settings.append(f"oauth.authorization_url={server.url}/authorize")
    terminal = Terminal(site.command())
    for prompt, answer, shown in (
            (OWNER, EVA, "\nok"),
            (MAILBOX, "papers@googlemail.com", "\nok"),
            (SERVERS + r".* \[gmail\]", "back", "back"),
            (MAILBOX, BOX, "\nok"),
            (SERVERS, "GMail", "ok: localhost, TLS"),
            (USER, "", "\nok"),
            (HOW, "somehow", 'wrong: expected "password" or "oauth"'),
            (HOW, "", "\nok"),
            (APP, "guess", "wrong: sending: .*login failed"),
            (HOW, "", "\nok"),
            (APP, f"{PASSWORD[:4]} {PASSWORD[4:8]} {PASSWORD[8:]}", "ok: .*logged in"),
            (WHO, "back", "back"),
            (APP, "", "wrong: an answer is needed"),
            (HOW, "oauth", "\nok"),
            (CLIENT, "client-2", "\nok"),
            (CLIENT_KEY, CLIENT_SECRET, "wrong: refused .*invalid_client"),
            (CLIENT, CLIENT_ID, "\nok"),
            (CLIENT_KEY, "wrong\0", "wrong: control characters"),
            (CLIENT, CLIENT_ID, "\nok"),
            (CLIENT_KEY, CLIENT_SECRET, "\nok"),
    ):
        terminal.type(prompt, answer, is_hidden=prompt in (APP, CLIENT_KEY))
        assert CLIENT_SECRET not in terminal.read_until(shown + ".*\n")
    terminal.type(LOGIN, "")
    url = terminal.read_until("https://.*\n").split()[-1]
    with urllib.request.urlopen(server.authorize(url), timeout=120):
        pass
    terminal.read_until("(?s)Logged in.*ok: .*\n")
    for prompt, shown in ((WHO, "\nok"), (TIME, "\nok"),
                          (SCIENCES, "\nok"), (CATEGORIES, "ok: Hugging Face")):
        terminal.type(prompt, "")
        terminal.read_until(shown + ".*\n")
    terminal.read_until(r"subscribe.* to " + re.escape(BOX) + "\n")
    assert terminal.close() == 0
    text = read_text(site.config)
    assert "password_file" not in text and 'provider = "gmail"' in text, text
    secret = os.path.join(site.directory, "client-secret")
    assert read_text(secret) == CLIENT_SECRET + "\n"
    assert os.stat(secret).st_mode & 0o777 == 0o600
    assert sorted(os.listdir(site.directory)) == ["client-secret", "paperboy.conf", "state"]
    run([os.path.join(top_builddir(), "paperboyd"), "-c", site.config, "--check"])
    # The same from a file, with the token of another program.
    token = write(os.path.join(site.directory, "token"), server.grant(BOX) + "\n", 0o600)
    lines = [f"owner: {EVA}", f"mailbox: {BOX}", "servers: google", "login: oauth",
             f"client_id: {CLIENT_ID}", f"client_secret_file: {secret}"]
    status, text = site.answer(lines + ["refresh_token_file: /nowhere"], "--yes")
    assert status == INPUT and "refresh_token_file: '/nowhere'" in text, (status, text)
    status, text = site.answer(lines + [f"refresh_token_file: {token}"], "--yes")
    assert status == 0 and "Logged in for imap and smtp" in text, (status, text)
    write(token, "abc\0def\n", 0o600)
    status, text = site.answer(lines + [f"refresh_token_file: {token}"], "--yes")
    assert status == INPUT and "contains a NUL byte (line 1)" in text, (status, text)


def the_first_digest_comes(site, secrets=(PASSWORD,)):
    network = site.network
    (test,) = network.read(1)
    assert test["Subject"] == "paperboyctl setup" and test["From"].endswith(f"{BOX}>")
    text = read_text(site.config)
    assert not [secret for secret in secrets if secret in text], text
    # The daemon's user has to read it.
    assert os.stat(site.config).st_mode & 0o777 == 0o644
    assert "\t# From address of digests.\n" in text, text
    daemon = Child([os.path.join(top_builddir(), "paperboyd"), "-c", site.config, "--now",
                    at_hour(DAY)])
    try:
        daemon.wait_line("started")
        network.write(BOX, "subscribe", "add paper\n")
        asked = network.read(2)[1]
        network.write(email.utils.parseaddr(asked["Reply-To"])[1],
                      "Re: " + asked["Subject"], "yes\n", In_Reply_To=asked["Message-ID"])
        assert [mail for mail in network.read(4) if mail["List-Id"]]
    finally:
        daemon.stop()


def answers_can_come_from_a_file(tap):
    """a file of answers gives the same; what is wrong in it is named"""
    site = Site(tap, "answers")
    secret = write(os.path.join(site.directory, "secret"), PASSWORD + "\n", 0o600)
    lines = [f"owner: {EVA}", f"mailbox: {BOX}", f"servers: {site.servers}",
             f"password_file: {secret}", "# as it is", "", "time: 07:30 Europe/Berlin",
             "subscribers: invited"]
    for extra, reason in (
            (["time: 7:30 Nowhere"], "time: "),
            (["servers: nowhere"], "servers: expected a provider"),
            (["owner:"], "owner: an answer is needed"),
            (["owner: eva"], "paperboyctl: owner: address has no '@'"),
            ([f"owner: {BOX}", "subscribers: anyone"],
             f"subscribers: {BOX} is your own address"),
            (["password_file: /nowhere"], "/nowhere"),
            (["color: red"], "answers:9: expected"),
            (["servers: [::1]x localhost"], "'[::1]x' is not a server"),
            (["time: 07:30 UTC\0x"], "contains a NUL byte (line 9)"),
    ):
        status, text = site.answer(lines + extra)
        assert status == INPUT and reason in text, (status, text)
        assert not os.path.exists(site.config)
    site.settings.append("template_dir=/nowhere")
    status, text = site.answer(lines)
    assert status == INPUT, text
    site.settings.pop()
    assert text == "paperboyctl: template_dir: no such directory: '/nowhere'\n", text
    status, text = site.answer(lines)
    assert status == 0 and "paperboyctl subscriber add" in text, text
    written = read_text(site.config)
    os.unlink(site.config)
    site.settings += ["smtp.host=localhost", f"smtp.port={site.network.postfix.port}"]
    status, text = site.answer(lines + ["servers: google", "password_file: /nowhere"])
    assert status == INPUT and "/nowhere" in text, text
    site.settings += ["delivery.method=maildir", "receive.lmtp_group=",
                      f"delivery.maildir={os.path.join(site.directory, 'Maildir')}"]
    status, text = site.answer(lines + ["servers: local", "subscribers: anyone"])
    assert status == 0 and f"Postfix deliver mail for {BOX} to /run/paperboy/lmtp" in text, text
    write(site.config, written)
    assert "imap_host" not in written and 'zone = "Europe/Berlin"' in written, written
    run([os.path.join(top_builddir(), "paperboyd"), "-c", site.config, "--check"])


def nothing_is_left_of_an_attempt(tap):
    """a signal at any question leaves no file, and a terminal that shows what is typed"""
    site = Site(tap, "signals")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for is_hidden in (True, False):
            terminal = Terminal(site.command())
            # An answer of any length is one answer.
            terminal.type(OWNER, 3000 * "x" + "@example.org")
            terminal.read_until("wrong: .*\n")
            terminal.type(OWNER, EVA)
            terminal.type(MAILBOX, BOX)
            terminal.type(SERVERS, site.servers)
            terminal.type(USER, "")
            if not is_hidden:
                terminal.type(SECRET, PASSWORD, is_hidden=True)
            terminal.read_until((SECRET if is_hidden else WHO) + r".*[:\]] $")
            terminal.process.send_signal(number)
            assert terminal.process.wait(timeout=300) == -number
            assert termios.tcgetattr(terminal.slave)[3] & termios.ECHO
            terminal.close()
            assert os.listdir(site.directory) == ["state"], os.listdir(site.directory)


def nothing_is_replaced_without_asking(tap):
    """an existing configuration is replaced only if the operator says so, and then kept"""
    site = Site(tap, "replace")
    changed = read_text(SHIPPED) + 'log_level = "debug";\n'
    for mine in (changed, "# mine\n"):
        write(site.config, mine)
        status, text = site.answer([f"owner: {EVA}"])
        assert status == INPUT and "--yes" in text, text
    terminal = Terminal(site.command())
    terminal.type("Replace .*", "no")
    terminal.read_until("not done")
    assert terminal.close() == INPUT
    assert read_text(site.config) == "# mine\n"
    secret = write(os.path.join(site.directory, "secret"), PASSWORD + "\n", 0o600)
    for number in (1, 2):
        status, text = site.answer([
            f"owner: {EVA}", f"mailbox: {BOX}", f"servers: {site.servers}",
            f"password_file: {secret}", f"time: {number}0:00 UTC"], "--yes")
        assert status == 0 and f"The old one is {site.config}.old" in text, text
    for name, text in ((".old", "# mine"), (".old2", '"10:00"'), ("", '"20:00"')):
        assert text in read_text(site.config + name)
        os.unlink(site.config + name)
    # Found before the first question.
    missing = os.path.join(site.directory, "no", "paperboy.conf")
    terminal = Terminal([CTL, "-c", missing, "--now", at_hour(DAY), "setup"])
    terminal.read_until("cannot write to '.*/no': No such file or directory")
    assert terminal.close() not in (0, None)
    # Without an answer nothing is left behind.
    terminal = Terminal(site.command())
    terminal.type("Your mail address", EVA)
    terminal.type("a mailbox of its own", "\x04")
    terminal.read_until("control characters|not done")
    terminal.process.terminate()
    terminal.close()
    assert set(os.listdir(site.directory)) <= {"state", "answers", "secret"}
    status, text = site.answer([], "--bad")
    assert status == USAGE, (status, text)
    done = subprocess.run(site.command(), stdin=subprocess.DEVNULL, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    assert done.returncode == INPUT and b"--answers FILE" in done.stdout, done.stdout


with Tap() as tap:
    tap.run(wrong_answers_are_asked_again, tap)
    tap.run(a_login_with_a_code, tap)
    tap.run(a_login_with_a_browser, tap)
    tap.run(answers_can_come_from_a_file, tap)
    tap.run(nothing_is_left_of_an_attempt, tap)
    tap.run(nothing_is_replaced_without_asking, tap)
