#!/usr/bin/env python3
#
# test_watchdog.py - systemd is notified while no thread's heartbeat is overdue.

import os
import socket

import lib  # the path
from daemon import Instance
from stopped import Stopped, find_thread
from tap import Skip, Tap, save

WATCHDOG_US = 6_000_000  # one heartbeat a second; three missed are overdue
THREADS = (
    "collector", "scheduler", "mailer", "connection-1", "lmtp", "maildir", "imap", "web-1")


class Notify:
    """The notification socket, in place of systemd's."""

    def __init__(self, path):
        self.path = path
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        self.socket.settimeout(120)

    def wait(self, text):
        while text not in (reported := self.socket.recv(4096).decode()):
            pass
        return reported

    def count_waiting(self, text):
        """Number of such messages so far."""
        count = 0
        self.socket.setblocking(False)
        try:
            while True:
                count += text in self.socket.recv(4096).decode()
        except BlockingIOError:
            return count
        finally:
            self.socket.settimeout(120)


def mailbox_of(thread, directory):
    """Settings that make the daemon start a thread; no IMAP server listens."""
    if thread == "lmtp":
        return {"receive__lmtp_socket": os.path.join(directory, "lmtp.sock")}
    if thread == "maildir":
        return {"receive__maildir": os.path.join(directory, "Maildir")}
    if thread == "imap":
        secret = os.path.join(directory, "password")
        save(secret, "secret\n")
        os.chmod(secret, 0o600)
        return {"receive__imap_host": "127.0.0.1", "receive__imap_port": 1,
                "receive__imap_tls": "off", "receive__imap_user": "paperboy",
                "receive__imap_password_file": secret}
    if thread == "web-1":
        return {"web__url": "https://papers.example.org",
                "commands__address": "paperboy@news.example",
                "web__socket": os.path.join(directory, "web.sock")}
    return {}


def watch(tap, thread):
    path = os.path.join(tap.directory, f"notify-{thread}")
    notify = Notify(path)
    directory = tap.subdirectory(thread)
    instance = Instance(directory, port=1, **mailbox_of(thread, directory))
    environment = os.environ | {"NOTIFY_SOCKET": path, "WATCHDOG_USEC": str(WATCHDOG_US)}
    with instance.start(env=environment) as child:
        if "READY=1" not in notify.wait("=1"):
            raise Skip("built without systemd")
        notify.wait("WATCHDOG=1")
        notify.wait("WATCHDOG=1")
        reported = f"thread stuck thread={thread}"
        with Stopped(find_thread(child.pid, thread)):
            child.wait_line(reported)
            notify.count_waiting("")
            child.wait_line(reported)
            child.wait_line(reported)
            assert notify.count_waiting("WATCHDOG=1") == 0
        notify.wait("WATCHDOG=1")


def run_all(tap):
    for thread in THREADS:
        def each():
            watch(tap, thread)
        each.__doc__ = f"a stuck thread is reported and the watchdog not notified: {thread}"
        tap.run(each)


with Tap() as tap:
    run_all(tap)
