"""idle.py - wake-ups of an idle paperboyd.

They are the voluntary context switches of all threads, which run and send heartbeats, as
under systemd with WatchdogSec=120s.
"""

import os
import re
import socket
import subprocess
import tempfile
import threading
import time

from daemon import Instance
from harness import Row
from tap import Skip

WATCHDOG_US = 120_000_000
SETTLE_S = 5  # the first poll of the sources, and the first check for alerts
READY_S = 60


def number(path, name):
    """@return a number of a file like /proc/PID/status"""
    with open(path, encoding="ascii", errors="replace") as file:
        return int(re.search(rf"^{name}:\s+(\d+)", file.read(), re.M).group(1))


def switches(pid):
    """How often threads waited and were woken so far."""
    task = f"/proc/{pid}/task"
    return sum(number(f"{task}/{tid}/status", "voluntary_ctxt_switches")
               for tid in os.listdir(task))


def megabytes(pid):
    return number(f"/proc/{pid}/status", "VmRSS") / 1024


def start(instance, notify, prefix):
    """@return the process once it is ready"""
    environment = os.environ | {
        "NOTIFY_SOCKET": notify.getsockname(), "WATCHDOG_USEC": str(WATCHDOG_US)}
    child = subprocess.Popen([*prefix, instance.daemon, "-c", instance.config, "--now",
                              instance.clock.advance()], env=environment,
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    while b"READY=1" not in notify.recv(4096):
        pass
    return child


def hear(notify, is_over):
    """As systemd does: an unread message would block its sender."""
    notify.settimeout(1)
    while not is_over.is_set():
        try:
            notify.recv(4096)
        except TimeoutError:
            pass


def bench_idle(options, prefix=()):
    people = min(options.crowd)
    directory = tempfile.mkdtemp(dir=options.directory)
    instance = Instance(directory, port=1,
                        receive__lmtp_socket=os.path.join(directory, "lmtp"),
                        receive__maildir=os.path.join(directory, "Maildir"))
    os.makedirs(os.path.join(directory, "Maildir", "new"))
    instance.add_people(people)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.bind(os.path.join(directory, "notify"))
        notify.settimeout(READY_S)
        try:
            child = start(instance, notify, prefix)
        except TimeoutError:
            raise Skip("built without systemd: nothing tells when it is ready") from None
        is_over = threading.Event()
        listener = threading.Thread(target=hear, args=(notify, is_over))
        listener.start()
        try:
            time.sleep(SETTLE_S)
            before, begin = switches(child.pid), time.monotonic()
            time.sleep(options.idle_s)
            rate = (switches(child.pid) - before) / (time.monotonic() - begin)
            yield Row(f"idle, {people:,} people", rate, "/s", 1,
                      f"{megabytes(child.pid):.0f} MB")
            if prefix:
                yield Row("  memory", megabytes(child.pid), "MB", 24)
        finally:
            child.terminate()
            child.wait()
            is_over.set()
            listener.join()
