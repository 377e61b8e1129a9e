# test_stream.py - connections are verified and authenticated, or nothing is sent.
import contextlib
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
import smtp_fixture
from smtp_fixture import contains, equal, send

if not shutil.which("openssl"):
    smtp_fixture.skip_all("openssl is not there to make certificates")

directory = smtp_fixture.Directory()
ca = smtp_fixture.make_ca(directory, "ca")
other_ca = smtp_fixture.make_ca(directory, "other-ca")
good = smtp_fixture.make_certificate(directory, "ca", "good", "localhost")
other = smtp_fixture.make_certificate(directory, "ca", "other", "other.example")
message = directory.file("message", b"Subject: t\r\n\r\n.dot\r\n")
right = directory.file("right", b"secret\n")
wrong = directory.file("wrong", b"guess\n")
MODES = ("starttls", "implicit")


@contextlib.contextmanager
def server(mode, certificate=good):
    machine = smtp_fixture.Server(certificate, implicit=mode == "implicit")
    try:
        yield machine
    finally:
        machine.close()


def send_one(machine, mode, *arguments, host="localhost", trusted=ca):
    return send("--host", host, "--port", machine.port, "--tls", mode, "--ca", trusted,
                *arguments, message)[0]


def says_nothing(machine):
    """Neither commands after TLS nor a password were sent."""
    equal([verb for verb in machine.verbs() if verb not in ("EHLO", "STARTTLS")], [])
    equal(machine.messages, [])


def delivers():
    """a host with the right certificate gets the message"""
    for mode in MODES:
        with server(mode) as machine:
            send_one(machine, mode).check("sent", stage="dot", code="250", enhanced="2.0.0")
            equal(machine.messages, [b"Subject: t\r\n\r\n.dot\r\n"])
            equal({secure for secure, line in machine.commands
                   if not line.startswith(("EHLO", "STARTTLS"))}, {True})


def refuses_authority():
    """a certificate of an unknown CA is rejected"""
    for mode, stage in zip(MODES, ("starttls", "connect")):
        with server(mode) as machine:
            result = send_one(machine, mode, "--user", "ann", "--password-file", right,
                              trusted=other_ca)
            result.check("deferred", scope="relay", stage=stage)
            contains(result.text, f"cannot connect to localhost port {machine.port}: ")
            says_nothing(machine)


def refuses_name():
    """a certificate for another name is rejected"""
    for mode in MODES:
        for certificate, host in ((other, "localhost"), (good, "127.0.0.1")):
            with server(mode, certificate) as machine:
                result = send_one(machine, mode, "--user", "ann", "--password-file", right,
                                  host=host)
                result.check("deferred", scope="relay")
                says_nothing(machine)


def refuses_missing_authorities():
    """a missing CA file is reported"""
    with server("implicit") as machine:
        result = send_one(machine, "implicit", trusted=directory.file("nothing"))
        result.check("deferred", scope="relay")
        says_nothing(machine)


def refuses_stripped():
    """missing STARTTLS is an error, and nothing is sent in clear"""
    with server("starttls") as machine:
        machine.starttls = False
        machine.clear_lines = ["AUTH PLAIN LOGIN"]
        result = send_one(machine, "starttls", "--user", "ann", "--password-file", right)
        result.check("deferred", scope="relay", stage="starttls")
        contains(result.text, "STARTTLS is required")
        says_nothing(machine)


def starttls_refused():
    """rejected STARTTLS is a temporary or permanent error"""
    for reply, code in ((b"454 4.7.0 not now\r\n", "454"),
                        (b"502 5.5.1 what?\r\n", "502")):
        with server("starttls") as machine:
            machine.starttls_reply = reply
            send_one(machine, "starttls").check("deferred", scope="relay", code=code,
                                            stage="starttls")
            says_nothing(machine)


def starttls_injected():
    """bytes injected before the handshake end the connection"""
    with server("starttls") as machine:
        machine.starttls_reply = b"220 go on\r\n250-lab.example\r\n250 SMTPUTF8\r\n"
        send_one(machine, "starttls").check("deferred", scope="relay")
        says_nothing(machine)


def plain_host_with_tls():
    """TLS on a plain-text port does not hang"""
    with server("starttls") as machine:
        send_one(machine, "implicit").check("deferred", scope="relay", stage="connect")
        equal(machine.messages, [])


def logs_in():
    """login with the right password, by PLAIN and LOGIN"""
    for mode in MODES:
        for mechanism in ("PLAIN", "LOGIN", "CRAM-MD5 PLAIN"):
            with server(mode) as machine:
                machine.secure_lines = ["AUTH " + mechanism]
                send_one(machine, mode, "--user", "ann", "--password-file", right).check(
                    "sent", stage="dot")
                equal(len(machine.messages), 1)


def login_refused():
    """a wrong password has login scope, and is tried once"""
    for mode in MODES:
        with server(mode) as machine:
            result = send_one(machine, mode, "--user", "ann", "--password-file", wrong)
            result.check("deferred", scope="login", stage="auth", code="535",
                         enhanced="5.7.8")
            equal(result.text, "535 5.7.8 wrong user or password")
            equal(machine.verbs().count("AUTH"), 1)
            equal(machine.connections, 1)


def login_deferred():
    """a temporary login failure has relay scope"""
    with server("starttls") as machine:
        machine.auth_reply = b"454 4.7.0 the directory is away\r\n"
        send_one(machine, "starttls", "--user", "ann", "--password-file", right).check(
            "deferred", scope="relay", stage="auth", code="454")


def login_not_offered():
    """no mail is sent without AUTH if a login is configured"""
    for lines in (["SIZE 1000"], ["AUTH GSSAPI"], ["AUTH CRAM-MD5 NTLM"]):
        with server("starttls") as machine:
            machine.secure_lines = lines
            send_one(machine, "starttls", "--user", "ann", "--password-file", right).check(
                "deferred", scope="login", stage="auth")
            equal(machine.messages, [])
    # a relay on this machine that offers it within TLS only, as most do
    with server("starttls") as machine:
        result = send_one(machine, "off", "--user", "ann", "--password-file", right)
        result.check("deferred", scope="login", stage="auth")
        contains(result.text, 'set smtp.tls to "starttls"')
        says_nothing(machine)


def password_stays_home():
    """a password is not sent to another host without TLS"""
    result = send("--host", "192.0.2.1", "--port", 25, "--tls", "off", "--user", "ann",
                  "--password-file", right, message)[0]
    result.check("deferred", scope="relay", stage="connect")
    contains(result.text, "without TLS")


def extensions_of_tls_count():
    """only extensions offered within TLS are used"""
    with server("starttls") as machine:
        machine.clear_lines = ["SIZE 1"]
        machine.secure_lines = ["PIPELINING"]
        send_one(machine, "starttls").check("sent")
        contains([line for _, line in machine.commands], "MAIL FROM:<a@a.example>")
    with server("starttls") as machine:
        send_one(machine, "starttls").check("sent")
        contains([line for _, line in machine.commands], "MAIL FROM:<a@a.example> SIZE=20")


def large_message():
    """a message of several megabytes is unmodified over TLS"""
    text = b"Subject: big\r\n\r\n" + b"".join(
        b"%d .....\r\n.%d\r\n" % (i, i) for i in range(150000))
    path = directory.file("big", text)
    for mode in MODES:
        with server(mode) as machine:
            send("--host", "localhost", "--port", machine.port, "--tls", mode, "--ca", ca,
                 path)[0].check("sent")
            if machine.messages != [text]:
                raise AssertionError("the message has changed on its way")


def one_connection():
    """many messages use one connection"""
    with server("implicit") as machine:
        results = send("--host", "localhost", "--port", machine.port, "--tls", "implicit",
                       "--ca", ca, *[message] * 20)
        equal([result.outcome for result in results], ["sent"] * 20)
        equal(machine.connections, 1)


tap = smtp_fixture.Tap()
for function in (delivers, refuses_authority, refuses_name, refuses_missing_authorities,
                 refuses_stripped, starttls_refused, starttls_injected,
                 plain_host_with_tls, logs_in, login_refused, login_deferred,
                 login_not_offered, password_stays_home, extensions_of_tls_count,
                 large_message, one_connection):
    tap.run(function)
directory.remove()
tap.end()
