"""store_engines.py - matching and building digests on PostgreSQL, next to SQLite.

The server is a new one on this host with Debian's defaults, so commits are synced.  Its
stores are copies of those that SQLite works on.  CPU time on a server is that of the
program and of the server's process for it; a round trip is a wait for the server.
"""

import os
import re
import subprocess

from daemon import Instance
from harness import DAY, Different, figure, print_row, program
from postgresql import Server

ARCHIVE = "archive.db"  # the local copy of the papers


class Engines:
    """A store, and its copies in databases of a server."""

    def __init__(self, server, store):
        self.server, self.store = server, store

    def url(self, database):
        return f"postgresql:///{database}?host={self.server.directory}&user=postgres"

    def run(self, name, store, *arguments):
        """Run a program of this directory.  @return as harness.call()"""
        archive = os.path.join(self.store.directory, ARCHIVE)
        done = subprocess.run([program(name), store, *arguments], stdout=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, text=True, check=True,
                              env={**os.environ, "BENCH_ARCHIVE": archive})
        values = {key: float(value) for key, value in re.findall(r"(\w+)=(\S+)", done.stdout)}
        return values | {"cpu": values["cpu"] + values["server"]}

    def copy(self, path, database):
        """Make a database of the rows of a file, with statistics."""
        self.server.run(f"CREATE DATABASE {database}", database="postgres")
        instance = Instance(os.path.join(self.store.directory, f"copy-{database}"))
        source = os.path.join(instance.state, "from.db")
        os.link(path, source)
        instance.ctl("store", "copy", source, self.url(database), now=f"{DAY}T12:00:00Z")
        self.server.run("VACUUM ANALYZE", database=database)

    def count_rows(self, database):
        """Rows that were written so far."""
        return int(self.server.run(
            "SELECT tup_inserted + tup_updated + tup_deleted FROM pg_stat_database"
            f" WHERE datname = '{database}'", database="postgres"))

    def measure(self, name, path, database, *arguments):
        """@return results with SQLite, and on the server with rows, in a new database"""
        ours = self.run(name, self.store.copy(path, f"{name}-run"), *arguments)
        self.copy(path, database)
        self.server.run("CHECKPOINT", database="postgres")
        before = self.count_rows(database)
        theirs = self.run(name, self.url(database), *arguments)
        return ours, theirs | {"rows": self.count_rows(database) - before}


def check(name, ours, theirs):
    if ours[name] != theirs[name]:
        raise Different(f"{name}: {ours[name]:,.0f} with SQLite, {theirs[name]:,.0f} with"
                        " PostgreSQL")


def print_pair(what, ours, theirs, count, unit):
    """The server's figures are ours."""
    print_row(what, "s", 1, figure([theirs]), figure([ours]))
    print(f"    takes {theirs['wall'] / ours['wall']:.1f} times as long;"
          f" {theirs['rows'] / count:.2f}"
          f" rows and {theirs['trips'] / count:.3f} round trips a {unit};"
          f" CPU {theirs['cpu'] - theirs['server']:.2f} s here,"
          f" {theirs['server']:.2f} s in the server")


def bench_engines(directory, store):
    """Print the rows of one size.  @param store  with .matched"""
    place = os.path.join(directory, f"server-{store.people}")
    os.makedirs(place)
    os.chmod(directory, 0o711)  # the server is another user's
    with Server(place, settings=()) as server:
        engines = Engines(server, store)
        ours, theirs = engines.measure("match_papers", store.path, "matched", "day")
        check("pairs", ours, theirs)
        print_pair(f"matching, {store.people:,} people", ours, theirs, ours["written"],
                   "row")
        ours, theirs = engines.measure("build_digests", store.matched, "built")
        check("papers", ours, theirs)
        print_pair(f"building, {store.people:,} people", ours, theirs, ours["digests"],
                   "digest")
