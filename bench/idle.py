#!/usr/bin/env python3
"""idle.py - resource usage of an idle paperboyd.

    idle.py --people 100000 --seconds 600

Prints wake-ups a second (context switches of all threads), CPU, memory, and how long
it took from its start to READY=1.  All threads run and send heartbeats, as under systemd
with WatchdogSec=120s.
"""

import argparse
import collections
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tests", "lib"))

from daemon import Instance
from tap import top_builddir

WATCHDOG_US = 120_000_000
SETTLE_S = 5  # the first poll of the sources, and the first check for alerts
READY_S = 60

Idle = collections.namedtuple("Idle", "people seconds wakeups cpu rss_kb anon_kb ready_ms")


def read(path):
    with open(path, encoding="ascii", errors="replace") as file:
        return file.read()


def switches(pid):
    """Context switches of all threads so far."""
    count = 0
    for tid in os.listdir(f"/proc/{pid}/task"):
        reported = read(f"/proc/{pid}/task/{tid}/status")
        count += sum(map(int, re.findall(r"ctxt_switches:\s+(\d+)", reported)))
    return count


def cpu_s(pid):
    fields = read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def kilobytes(pid, name):
    return int(re.search(rf"^{name}:\s+(\d+)", read(f"/proc/{pid}/status"), re.M).group(1))


def start(instance, notify):
    """@return the process, and the time until it was ready, ms"""
    environment = os.environ | {
        "NOTIFY_SOCKET": notify.getsockname(), "WATCHDOG_USEC": str(WATCHDOG_US)}
    begin = time.monotonic()
    child = subprocess.Popen([instance.daemon, "-c", instance.config, "--now",
                              instance.clock.advance()], env=environment,
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    while b"READY=1" not in notify.recv(4096):
        pass
    return child, (time.monotonic() - begin) * 1000


def hear(notify, is_over):
    """As systemd does: an unread message would block its sender."""
    notify.settimeout(1)
    while not is_over.is_set():
        try:
            notify.recv(4096)
        except TimeoutError:
            pass


def measure(directory, people, seconds):
    """@return figures, or None where it was built without systemd"""
    instance = Instance(directory, port=1,
                  receive__lmtp_socket=os.path.join(directory, "lmtp"),
                  receive__maildir=os.path.join(directory, "Maildir"))
    os.makedirs(os.path.join(directory, "Maildir", "new"))
    instance.add_people(people)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.bind(os.path.join(directory, "notify"))
        notify.settimeout(READY_S)
        try:
            child, ready_ms = start(instance, notify)
        except TimeoutError:
            return None
        is_over = threading.Event()
        listener = threading.Thread(target=hear, args=(notify, is_over))
        listener.start()
        try:
            time.sleep(SETTLE_S)
            woken, used, begin = switches(child.pid), cpu_s(child.pid), time.monotonic()
            time.sleep(seconds)
            passed = time.monotonic() - begin
            return Idle(people, passed, (switches(child.pid) - woken) / passed,
                        (cpu_s(child.pid) - used) / passed,
                        kilobytes(child.pid, "VmRSS"), kilobytes(child.pid, "RssAnon"),
                        ready_ms)
        finally:
            child.terminate()
            child.wait()
            is_over.set()
            listener.join()


def format_idle(idle):
    if not idle:
        return "  built without systemd: nothing tells when it is ready"
    return (f"  {idle.people:,} people, {idle.seconds:.0f} s: {idle.wakeups:.2f} wake-ups/s,"
            f" {idle.cpu * 100:.3f} % CPU, {idle.rss_kb / 1024:.1f} MB"
            f" ({idle.anon_kb / 1024:.1f} of its own); ready after {idle.ready_ms:.0f} ms")


def main(argv):
    parser = argparse.ArgumentParser(description="Measure paperboyd while it is idle.")
    parser.add_argument("--people", type=int, default=100000)
    parser.add_argument("--seconds", type=int, default=600)
    options = parser.parse_args(argv[1:])
    os.umask(0o077)
    with tempfile.TemporaryDirectory(prefix="idle-", dir=top_builddir()) as directory:
        print(format_idle(measure(directory, options.people, options.seconds)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
