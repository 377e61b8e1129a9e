# test_smtp_sink.py - results with Postfix's smtp-sink and its simulated faults.
import contextlib
import glob
import os
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
import smtp_fixture
from smtp_fixture import equal, send

PATH = os.environ.get("PATH", "") + ":/usr/sbin:/usr/lib/postfix/sbin"
SINK = shutil.which("smtp-sink", path=PATH)
if not SINK:
    smtp_fixture.skip_all("smtp-sink is not there")

directory = smtp_fixture.Directory()
os.chmod(directory.path, 0o755)
message = directory.file("message", b"Subject: t\r\n\r\n.dot\r\n")


def find_port(process):
    """Its port, from its sockets and the list of listeners."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        links = []
        with contextlib.suppress(OSError):
            for name in os.listdir(f"/proc/{process.pid}/fd"):
                links.append(os.readlink(f"/proc/{process.pid}/fd/{name}"))
        with open("/proc/net/tcp") as table:
            for row in table.readlines()[1:]:
                words = row.split()
                if words[3] == "0A" and f"socket:[{words[9]}]" in links:
                    return int(words[1].split(":")[1], 16)
        os.sched_yield()
    raise AssertionError("smtp-sink does not listen")


@contextlib.contextmanager
def sink(*options):
    user = ["-u", "nobody"] if os.geteuid() == 0 else []
    process = subprocess.Popen([SINK, *user, *options, "127.0.0.1:0", "10"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield find_port(process)
    finally:
        process.terminate()
        process.wait()


def send_to(port, *files, **options):
    return send("--host", "127.0.0.1", "--port", port, *(files or [message]), **options)


COMMANDS = ("CONNECT", "EHLO,HELO", "MAIL", "RCPT", "DATA", ".")
STAGES = ("connect", "ehlo", "mail", "rcpt", "data", "dot")

# Behaviour of the sink, its reply if not the default, the code, and for each of the
# stages above the outcome (deferred, failed, unknown) and scope (message, relay, login).
FAULTS = (
    (["-q"], None, 0, "dr dr dr dr dr ur"),
    (["-Q"], None, 421, "dr dr dr dr dr dr"),
    (["-r"], None, 450, "dr dr dr dr dr dr"),
    (["-f"], None, 500, "dr dr dr dm dm fm"),
    (["-r"], "450 4.7.1 come back later", 450, "dr dr dr dm dm dm"),
    (["-r"], "452 4.3.1 no room", 452, "dr dr dr dr dr dr"),
    (["-r"], "452 4.2.2 mailbox full", 452, "dr dr dm dm dm dm"),
    (["-r"], "451 4.3.0 try again", 451, "dr dr dr dr dr dr"),
    (["-f"], "550 5.1.1 nobody", 550, "dr dr dr fm fm fm"),
    (["-f"], "552 5.2.2 mailbox full", 552, "dr dr fm dm dm dm"),
    (["-f"], "550 5.7.26 not authentic", 550, "dr dr dr dm dm dm"),
    (["-f"], "530 5.7.0 log in first", 530, "dr dr dl dl dl dl"),
)


def faults_have_outcomes(option, reply, code, cells):
    flag = option[0]
    extra = [] if not reply else ["-b" if flag == "-r" else "-B", reply]
    for command, stage, cell in zip(COMMANDS, STAGES, cells.split()):
        with sink(*extra, flag, command) as port:
            result = send_to(port)[0]
        found = result.outcome[0] + result.fields["scope"][0]
        equal((command, found, result.fields["stage"], int(result.fields["code"]),
               result.text),
              (command, cell, stage, code, result.text))


def accepts():
    """messages are accepted unmodified over one connection"""
    dumps = directory.file("dumps")
    os.mkdir(dumps)
    os.chmod(dumps, 0o777)
    with sink("-d", dumps + "/%M.") as port:
        results = send_to(port, *[message] * 50)
        equal([result.outcome for result in results], ["sent"] * 50)
    files = glob.glob(dumps + "/*")
    equal(len(files), 50)
    for path in files:
        with open(path, "rb") as stream:
            text = stream.read()
        if not text.endswith(b"Subject: t\n\n.dot\n\n") and \
                not text.endswith(b"Subject: t\n\n.dot\n"):
            raise AssertionError(repr(text))


def plain_hosts():
    """hosts without extensions, or without EHLO, work, too"""
    for options in (["-8"], ["-N"], ["-E"], ["-p"], ["-e"], ["-8", "-N", "-E", "-p", "-a"]):
        with sink(*options) as port:
            send_to(port)[0].check("sent", stage="dot", code="250")


def refused_early():
    """a rejection within the message is read"""
    with sink("-A", "0") as port:
        send_to(port)[0].check("failed", scope="message", code="550")


def slow_answer():
    """a slow reply to the dot is awaited, and UNKNOWN at the timeout"""
    with sink("-W", ".:1") as port:
        send_to(port, wait_ms=20000)[0].check("sent")
    with sink("-W", ".:20") as port:
        send_to(port, wait_ms=300)[0].check("unknown", scope="relay", stage="dot")


def others_go_on():
    """a rejected recipient does not affect the next message"""
    with sink("-f", "RCPT", "-B", "550 5.1.1 nobody") as port:
        results = send_to(port, message, message, message)
        equal([result.outcome for result in results], ["failed"] * 3)


tap = smtp_fixture.Tap()
tap.run(accepts)
tap.run(plain_hosts)
tap.run(refused_early)
tap.run(slow_answer)
tap.run(others_go_on)
for row in FAULTS:
    def check(row=row):
        faults_have_outcomes(*row)
    check.__doc__ = f"smtp-sink {row[0][0]}, {row[1] or 'its own reply'}"
    tap.run(check)
directory.remove()
tap.end()
