# test_stream.py - connections are verified and authenticated, or nothing is sent.
import contextlib
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from peers import Ca
from smtp_fixture import Server, contains, equal, send
from tap import Tap, save

MODES = ("starttls", "implicit")


class Bench:
    """Certificates, passwords and a message."""

    def __init__(self, tap):
        self.directory = tap.directory
        self.ca = Ca(tap.subdirectory("ca"))
        self.other_ca = Ca(tap.subdirectory("other-ca"))
        self.good = self.ca.make_pair("localhost")
        self.other = self.ca.make_pair("other.example")
        self.message = self.write("message", b"Subject: t\r\n\r\n.dot\r\n")
        self.login, self.wrong_login = (
            ("--user", "ann", "--password-file", self.write(name, name.encode() + b"\n"))
            for name in ("secret", "guess"))

    def write(self, name, content):
        path = os.path.join(self.directory, name)
        save(path, content)
        return path

    def server(self, mode, certificate=None):
        return contextlib.closing(
            Server(certificate or self.good, implicit=mode == "implicit"))

    def send_one(self, machine, mode, *arguments, host="localhost", trusted=None):
        return send("--host", host, "--port", machine.port, "--tls", mode,
                    "--ca", trusted or self.ca.cert, *arguments, self.message)[0]


def says_nothing(machine):
    """Neither commands after TLS nor a password were sent."""
    equal([verb for verb in machine.verbs() if verb not in ("EHLO", "STARTTLS")], [])
    equal(machine.messages, [])


def delivers(bench):
    """a host with the right certificate gets the message"""
    for mode in MODES:
        with bench.server(mode) as machine:
            bench.send_one(machine, mode).check(
                "sent", stage="dot", code="250", enhanced="2.0.0")
            equal(machine.messages, [b"Subject: t\r\n\r\n.dot\r\n"])
            equal({secure for secure, line in machine.commands
                   if not line.startswith(("EHLO", "STARTTLS"))}, {True})


def refuses_authority(bench):
    """a certificate of an unknown CA is rejected"""
    for mode, stage in zip(MODES, ("starttls", "connect")):
        with bench.server(mode) as machine:
            result = bench.send_one(
                machine, mode, *bench.login, trusted=bench.other_ca.cert)
            result.check("deferred", scope="relay", stage=stage)
            contains(result.text, f"cannot connect to localhost port {machine.port}: ")
            says_nothing(machine)


def refuses_name(bench):
    """a certificate for another name is rejected"""
    for mode in MODES:
        for certificate, host in ((bench.other, "localhost"), (bench.good, "127.0.0.1")):
            with bench.server(mode, certificate) as machine:
                result = bench.send_one(machine, mode, *bench.login, host=host)
                result.check("deferred", scope="relay")
                says_nothing(machine)


def refuses_missing_authorities(bench):
    """a missing CA file is reported"""
    with bench.server("implicit") as machine:
        result = bench.send_one(machine, "implicit", trusted="/nonexistent")
        result.check("deferred", scope="relay")
        says_nothing(machine)


def refuses_stripped(bench):
    """missing STARTTLS is an error, and nothing is sent in clear"""
    with bench.server("starttls") as machine:
        machine.starttls = False
        machine.clear_lines = ["AUTH PLAIN LOGIN"]
        result = bench.send_one(machine, "starttls", *bench.login)
        result.check("deferred", scope="relay", stage="starttls")
        contains(result.text, "STARTTLS is required")
        says_nothing(machine)


def starttls_refused(bench):
    """rejected STARTTLS is a temporary or permanent error"""
    for reply, code in ((b"454 4.7.0 not now\r\n", "454"),
                        (b"502 5.5.1 what?\r\n", "502")):
        with bench.server("starttls") as machine:
            machine.starttls_reply = reply
            bench.send_one(machine, "starttls").check(
                "deferred", scope="relay", code=code, stage="starttls")
            says_nothing(machine)


def starttls_injected(bench):
    """bytes injected before the handshake end the connection"""
    with bench.server("starttls") as machine:
        machine.starttls_reply = b"220 go on\r\n250-lab.example\r\n250 SMTPUTF8\r\n"
        bench.send_one(machine, "starttls").check("deferred", scope="relay")
        says_nothing(machine)


def plain_host_with_tls(bench):
    """TLS on a plain-text port does not hang"""
    with bench.server("starttls") as machine:
        bench.send_one(machine, "implicit").check(
            "deferred", scope="relay", stage="connect")
        equal(machine.messages, [])


def logs_in(bench):
    """login with the right password, by PLAIN and LOGIN"""
    for mode in MODES:
        for mechanism in ("PLAIN", "LOGIN", "CRAM-MD5 PLAIN"):
            with bench.server(mode) as machine:
                machine.secure_lines = ["AUTH " + mechanism]
                bench.send_one(machine, mode, *bench.login).check(
                    "sent", stage="dot")
                equal(len(machine.messages), 1)


def login_refused(bench):
    """a wrong password has login scope, and is tried once"""
    for mode in MODES:
        with bench.server(mode) as machine:
            result = bench.send_one(machine, mode, *bench.wrong_login)
            result.check("deferred", scope="login", stage="auth", code="535",
                         enhanced="5.7.8")
            equal(result.text, "535 5.7.8 wrong user or password")
            equal(machine.verbs().count("AUTH"), 1)
            equal(machine.connections, 1)


def login_deferred(bench):
    """a temporary login failure has relay scope"""
    with bench.server("starttls") as machine:
        machine.auth_reply = b"454 4.7.0 the directory is away\r\n"
        bench.send_one(machine, "starttls", *bench.login).check(
            "deferred", scope="relay", stage="auth", code="454")


def login_not_offered(bench):
    """no mail is sent without AUTH if a login is configured"""
    for lines in (["SIZE 1000"], ["AUTH GSSAPI"], ["AUTH CRAM-MD5 NTLM"]):
        with bench.server("starttls") as machine:
            machine.secure_lines = lines
            bench.send_one(machine, "starttls", *bench.login).check(
                "deferred", scope="login", stage="auth")
            equal(machine.messages, [])
    # a relay on this machine that offers it within TLS only, as most do
    with bench.server("starttls") as machine:
        result = bench.send_one(machine, "off", *bench.login)
        result.check("deferred", scope="login", stage="auth")
        contains(result.text, 'set smtp.tls to "starttls"')
        says_nothing(machine)


def password_stays_home(bench):
    """a password is not sent to another host without TLS"""
    result = send("--host", "192.0.2.1", "--port", 25, "--tls", "off", *bench.login,
                  bench.message)[0]
    result.check("deferred", scope="relay", stage="connect")
    contains(result.text, "without TLS")


def extensions_of_tls_count(bench):
    """only extensions offered within TLS are used"""
    with bench.server("starttls") as machine:
        machine.clear_lines = ["SIZE 1"]
        machine.secure_lines = ["PIPELINING"]
        bench.send_one(machine, "starttls").check("sent")
        contains([line for _, line in machine.commands], "MAIL FROM:<a@a.example>")
    with bench.server("starttls") as machine:
        bench.send_one(machine, "starttls").check("sent")
        contains([line for _, line in machine.commands], "MAIL FROM:<a@a.example> SIZE=20")


def large_message(bench):
    """a message of several megabytes is unmodified over TLS"""
    text = b"Subject: big\r\n\r\n" + b"".join(
        b"%d .....\r\n.%d\r\n" % (i, i) for i in range(150000))
    path = bench.write("big", text)
    for mode in MODES:
        with bench.server(mode) as machine:
            send("--host", "localhost", "--port", machine.port, "--tls", mode,
                 "--ca", bench.ca.cert, path)[0].check("sent")
            if machine.messages != [text]:
                raise AssertionError("the message has changed on its way")


def one_connection(bench):
    """many messages use one connection"""
    with bench.server("implicit") as machine:
        results = send("--host", "localhost", "--port", machine.port, "--tls", "implicit",
                       "--ca", bench.ca.cert, *[bench.message] * 20)
        equal([result.outcome for result in results], ["sent"] * 20)
        equal(machine.connections, 1)


with Tap() as tap:
    tests = Bench(tap)
    for function in (delivers, refuses_authority, refuses_name, refuses_missing_authorities,
                     refuses_stripped, starttls_refused, starttls_injected,
                     plain_host_with_tls, logs_in, login_refused, login_deferred,
                     login_not_offered, password_stays_home, extensions_of_tls_count,
                     large_message, one_connection):
        tap.run(function, tests)
