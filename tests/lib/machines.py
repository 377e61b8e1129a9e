"""machines.py - hosts in network namespaces on one switch, for tests of several machines.

    with Site() as site:
        host = site.add("one")
        child = Child(host.command(["paperboyd", ...]))
        host.disconnect()

The hosts share the file system, so that Unix sockets in it connect them, too.
"""

import concurrent.futures
import contextlib
import ctypes
import os
import socket

from tap import Skip, need_programs, run

NETWORK = "10.214.7"
HOSTS_MAX = 10
CLONE_NEWNET = 0x40000000  # sched.h
NOBODY = "02:00:00:00:00:00"  # the hardware address of no host


class Host:
    """A namespace with one interface and an address."""

    def __init__(self, site, name, number):
        self.site = site
        self.name = f"{site.prefix}-{name}"
        self.address = f"{NETWORK}.{number}"
        self.port = f"{site.prefix}p{number}"  # of the switch
        self.ip = site.ip
        self.run(["netns", "add", self.name])
        self.run(["link", "add", "name", "eth0", "netns", self.name, "type", "veth",
                  "peer", "name", self.port, "netns", site.switch])
        self.run(["-n", site.switch, "link", "set", self.port, "master", "switch", "up"])
        self.run(["-n", self.name, "address", "add", f"{self.address}/24", "dev", "eth0"])
        for interface in ("lo", "eth0"):
            self.run(["-n", self.name, "link", "set", interface, "up"])

    def run(self, arguments):
        return run([self.ip, *arguments])

    def command(self, arguments):
        """A command that runs on this host; its process is the program itself."""
        return [self.ip, "netns", "exec", self.name, *arguments]

    def listen(self, port=0):
        """A listening socket of this host, for a server in this process."""

        def make():  # in a thread, which alone enters the namespace
            with open(f"/run/netns/{self.name}", encoding="ascii") as namespace:
                if ctypes.CDLL(None).setns(namespace.fileno(), CLONE_NEWNET):
                    raise Skip("a namespace cannot be entered here")
            return socket.create_server((self.address, port))

        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            return pool.submit(make).result()

    def disconnect(self):
        """Drop all packets, as when a cable is pulled."""
        self.run(["-n", self.site.switch, "link", "set", self.port, "down"])

    def connect(self):
        self.run(["-n", self.site.switch, "link", "set", self.port, "up"])

    def separate(self, other):
        """Drop the packets between two hosts."""
        for host, to in ((self, other), (other, self)):
            host.run(["-n", host.name, "neighbour", "replace", to.address, "lladdr", NOBODY,
                      "nud", "permanent", "dev", "eth0"])

    def join(self, other):
        for host, to in ((self, other), (other, self)):
            host.run(["-n", host.name, "neighbour", "delete", to.address, "dev", "eth0"])


class Site:
    """A switch and its hosts, as a context manager."""

    def __init__(self):
        if os.geteuid() != 0:
            raise Skip("network namespaces need root")
        (self.ip,) = need_programs("ip")
        self.prefix = f"pb{os.getpid()}"
        self.switch = f"{self.prefix}-switch"
        self.hosts = []

    def __enter__(self):
        try:
            run([self.ip, "netns", "add", self.switch])
        except AssertionError as error:
            raise Skip(f"no network namespaces here: {error}") from None
        run([self.ip, "-n", self.switch, "link", "add", "name", "switch", "type", "bridge"])
        run([self.ip, "-n", self.switch, "link", "set", "switch", "up"])
        return self

    def add(self, name):
        assert len(self.hosts) < HOSTS_MAX
        self.hosts.append(Host(self, name, len(self.hosts) + 1))
        return self.hosts[-1]

    def __exit__(self, *_):
        for name in [*(host.name for host in self.hosts), self.switch]:
            with contextlib.suppress(AssertionError):
                run([self.ip, "netns", "delete", name])
