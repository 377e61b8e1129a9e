"""instances.py - sending from a store on PostgreSQL, beside SQLite, and by two machines.

Beside SQLite: `paperboyd --once` on a store of built digests, into smtp-sink, and on a
copy of that store in a database of a local server with its usual settings: it syncs each
commit.  CPU is that of the daemon and the server.

Two machines: paperboyd twice on one database, with a relay 20 ms away and as many
connections each as by default.  The delay bounds the rate, not the processors, which
they share here.
"""

import contextlib
import os
import re
import selectors
import shutil
import socket
import stat
import tempfile
import threading
import time

from daemon import Instance
from harness import (DAY, Different, Distance, FAR_MS, Sink, Store, alternate, call,
                     count_connections, print_row, program, run_once)
from postgresql import USER, Server
from tap import wait_until
from whole import CONNECTIONS, new_instance

# Parts of a mailing between which all machines send, for their rate.
MIDDLE = (0.4, 0.9)
FAR_S = 600
HOLDERS = "SELECT count(DISTINCT holder) FROM outbox WHERE state = 'SENDING'"

COUNTED = ("commits", "rows", "wal_bytes")
COUNTERS = """
    SELECT xact_commit, tup_inserted + tup_updated + tup_deleted,
           pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')
    FROM pg_stat_database WHERE datname = '%s'
"""


def cpu_of(path):
    """CPU time of a process and of its children that have ended, s; 0 after its end."""
    try:
        with open(os.path.join(path, "stat"), encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


class Database:
    """A server with databases that are copies of one store."""

    def __init__(self, directory):
        os.makedirs(directory)
        for one in (directory, os.path.dirname(directory)):
            os.chmod(one, stat.S_IRWXU | stat.S_IXGRP | stat.S_IXOTH)
        self.server = Server(directory, settings=())
        self.directory = directory

    def __enter__(self):
        self.server.__enter__()
        return self

    def __exit__(self, *exception):
        self.server.__exit__(*exception)

    def url(self, name, directory=None):
        return f"postgresql:///{name}?host={directory or self.directory}&user={USER}"

    def run(self, sql, name="postgres"):
        return self.server.run(sql, database=name)

    def cpu(self):
        """Of the server, s."""
        pid = self.server.child.pid
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            children = file.read().split()
        # The server last: it has the time of those that end meanwhile.
        return sum(cpu_of(f"/proc/{one}") for one in (*children, pid))

    def copy_store(self, path):
        """Copy a store into the database `made`."""
        self.run("CREATE DATABASE made")
        instance = Instance(os.path.join(self.directory, "copy"))
        instance.ctl("store", "copy", path, self.url("made"))
        shutil.rmtree(instance.directory)
        self.run("VACUUM ANALYZE", "made")

    def reset(self, name):
        """Make a database a copy of `made`, with nothing left to write."""
        self.run(f"DROP DATABASE IF EXISTS {name};"
                 f"CREATE DATABASE {name} TEMPLATE made; CHECKPOINT")

    def counters(self, name):
        return [int(float(value)) for value in self.run(COUNTERS % name).split("|")]


class RoundTrips:
    """A socket before that of the server, which counts requests that wait for an answer."""

    NAME = ".s.PGSQL.5432"

    def __init__(self, directory, server):
        self.directory, self.server, self.trips = directory, server, 0
        os.makedirs(directory)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(os.path.join(directory, self.NAME))
        self.listener.listen()
        self.thread = threading.Thread(target=self.serve, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.listener.close()

    def serve(self):
        with selectors.DefaultSelector() as selector:
            selector.register(self.listener, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    if key.fileobj is not self.listener:
                        if key.fileobj.fileno() >= 0:
                            self.forward(selector, key)
                        continue
                    try:
                        client = self.listener.accept()[0]
                    except OSError:
                        return
                    server = socket.socket(socket.AF_UNIX)
                    server.connect(os.path.join(self.server, self.NAME))
                    turn = {"is_asking": False}
                    selector.register(client, selectors.EVENT_READ, (server, True, turn))
                    selector.register(server, selectors.EVENT_READ, (client, False, turn))

    def forward(self, selector, key):
        other, is_client, turn = key.data
        data = key.fileobj.recv(1 << 20)
        self.trips += is_client and not turn["is_asking"]
        turn["is_asking"] = is_client
        if data:
            other.sendall(data)
            return
        for end in (key.fileobj, other):
            selector.unregister(end)
            end.close()


class Sending:
    """Sending the digests of a store, from its file and from a database."""

    def __init__(self, store, sink, database, directory):
        self.store, self.sink, self.database = store, sink, database
        self.place = os.path.join(directory, "instance")
        self.digests = 0

    def build(self):
        call(program("match_papers"), self.store.copy(self.store.path, "matched"), "day")
        values = call(program("build_digests"), self.store.copy(self.store.matched, "made"))
        self.digests = int(values["digests"])
        self.database.copy_store(self.store.made)

    def check(self, states):
        if states != {"SENT": self.digests}:
            raise Different(f"the outbox came to {states}")

    def by_sqlite(self, connections):
        instance = new_instance(os.path.join(self.place, "file"), self.store.made,
                                port=self.sink.port, smtp__connections=connections)
        values = run_once(instance, 12)
        self.check(instance.states())
        return values

    def states(self, name):
        text = self.database.run("SELECT state, count(*) FROM outbox GROUP BY 1", name)
        return {state: int(count) for state, count in re.findall(r"(\w+)\|(\d+)", text)}

    def new_machine(self, name, url, port, **settings):
        """An instance on a database, whose local archive is complete after the first."""
        place = os.path.join(self.place, name)
        settings["web__socket"] = os.path.join(place, "web")
        archive = os.path.join(self.place, "archive.db")
        instance = new_instance(place, self.store.made, port=port, store__url=url,
                                **settings)
        os.unlink(instance.store)
        if os.path.exists(archive):
            shutil.copy(archive, instance.state)
        return instance

    def by_server(self, connections, directory=None):
        self.database.reset("run")
        instance = self.new_machine(
            "one", self.database.url("run", directory), self.sink.port,
            smtp__connections=connections)
        before = self.database.cpu()
        counters = self.database.counters("run")
        values = run_once(instance, 12)
        server = self.database.cpu() - before
        self.check(self.states("run"))
        counters = [b - a for a, b in zip(counters, self.database.counters("run"))]
        shutil.copy(os.path.join(instance.state, "archive.db"), self.place)
        return (values | dict(zip(COUNTED, counters)) |
                {"cpu": values["cpu"] + server, "server_cpu": server})

    def count_trips(self, connections):
        """@return round trips to the server"""
        with RoundTrips(self.place + "-proxy", self.database.directory) as proxy:
            self.by_server(connections, proxy.directory)
        shutil.rmtree(proxy.directory)
        return proxy.trips

    def count_ended(self):
        return self.states("run").get("SENT", 0)

    def start(self, stack, names, port):
        """Start machines with one key."""
        key = None
        for name in names:
            instance = self.new_machine(name, self.database.url("run"), port)
            if key:
                shutil.copy(key, instance.state)
            stack.enter_context(instance.start(now=f"{DAY}T12:00:00Z"))
            key = os.path.join(instance.state, "key")
            wait_until(lambda made=key: os.path.exists(made), "the key")

    def by_machines(self, names, port):
        """@return messages a second in the middle of a mailing"""
        self.database.reset("run")
        times = []
        with contextlib.ExitStack() as stack:
            self.start(stack, names, port)
            for part in MIDDLE:
                wait_until(lambda wanted=part * self.digests: self.count_ended() >= wanted,
                           "messages", deadline_s=FAR_S)
                times.append((time.monotonic(), self.count_ended()))
                holders = int(self.database.run(HOLDERS, "run"))
                if holders != len(names):
                    raise Different(f"{holders} machines send")
        (start, before), (end, after) = times
        return (after - before) / (end - start)


def bench_machines(sending, sink):
    """Print the rate of one machine and of two, with a relay that is far away."""
    with Distance(sink.port, FAR_MS / 2) as far:
        one = sending.by_machines(("one",), far.port)
        two = sending.by_machines(("one", "two"), far.port)
    print(f"  {FAR_MS} ms away, connections as by default: one machine {one:,.0f} messages/s,"
          f" two {two:,.0f}, which is {two / one:.2f} times")


def bench_instances(directory, titles, people, runs):
    """Print the rows of one size."""
    store = Store(directory, people, titles)
    with tempfile.TemporaryDirectory(prefix="bench-") as place, contextlib.ExitStack() as stack:
        sink = stack.enter_context(Sink())
        database = stack.enter_context(Database(os.path.join(place, "server")))
        sending = Sending(store, sink, database, directory)
        sending.build()
        sending.by_server(CONNECTIONS)  # which leaves its archive to the others
        lines = []
        for connections in (2, CONNECTIONS):
            ours, theirs = alternate(runs, lambda: sending.by_server(connections),
                                     lambda: sending.by_sqlite(connections))
            print_row(f"{sending.digests:,} digests, {count_connections(connections)}", "us",
                      1e6 / sending.digests, ours, theirs)
            each = {name: ours.values[name] / sending.digests for name in COUNTED}
            lines.append(
                f"  {count_connections(connections)}, per digest:"
                f" {sending.count_trips(connections) / sending.digests:.2f} round trips,"
                f" {each['rows']:.1f} rows written, {each['wal_bytes']:,.0f} bytes of log,"
                f" {each['commits']:.2f} commits; the server takes"
                f" {ours.values['server_cpu'] * 1e6 / sending.digests:,.0f} us of CPU")
        print("\n".join(lines))
        bench_machines(sending, sink)
    store.remove()
