"""postgresql.py - a PostgreSQL server, and the store's statements for it.

    with Server(tap.subdirectory("postgresql")) as server:
        server.run(postgresql_schema.translate_schema(migrate()))
"""

import contextlib
import glob
import os
import re
import signal
import sys

from tap import Child, Skip, need_programs, read_text, run, save, top_srcdir

sys.path.insert(0, os.path.join(top_srcdir(), "src", "store"))

import postgresql_schema

PROGRAMS = "/usr/lib/postgresql/*/bin"
USER = "postgres"
NAME = "paperboy"
SLOW_S = 300  # enough for a busy machine


def migrate():
    """An empty store of SQLite, with all migrations."""
    return postgresql_schema.migrate(sorted(glob.glob(os.path.join(
        top_srcdir(), "src", "store", "migrations", "*.sql"))))


# ---- statements -------------------------------------------------------------


def translate_statement(sql):
    """A statement of src/store, as the driver prepares it."""
    last = 0

    def number(match):
        nonlocal last
        here = int(match[1]) if match[1] else last + 1
        last = max(last, here)
        return f"${here}"

    return re.sub(r"\?(\d*)", number, re.sub(r"/\*!(.*?)\*/", r"\1", sql))


# ---- server -----------------------------------------------------------------


class Server:
    """A PostgreSQL server of its own on a Unix socket, as a context manager.

    host: of machines.Site, on which it listens at the usual port, too.
    """

    def __init__(self, directory, host=None, settings=("fsync=off",)):
        found = sorted(glob.glob(PROGRAMS))
        if not found:
            raise Skip("PostgreSQL is not installed")
        self.directory = directory
        self.data = os.path.join(directory, "data")
        self.host = host
        self.settings = settings
        self.programs = found[-1]
        self.psql = os.path.join(self.programs, "psql")  # that of /usr/bin starts Perl
        self.child = None
        # It does not run as root.
        self.user = []
        if os.geteuid() == 0:
            (setpriv,) = need_programs("setpriv")
            self.user = [setpriv, f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
            run(["chown", USER, directory])

    @property
    def url(self):
        return f"postgresql://{USER}@{self.host.address}/{NAME}?sslmode=disable"

    def launch(self):
        command = [*self.user, os.path.join(self.programs, "postgres"), "-D", self.data,
                   "-k", self.directory,
                   "-c", f"listen_addresses={self.host.address if self.host else ''}",
                   *(word for one in self.settings for word in ("-c", one))]
        self.child = Child(self.host.command(command) if self.host else command,
                           name="postgres", cwd=self.directory)

    def wait_started(self):
        self.child.wait_line("database system is ready to accept connections", SLOW_S)

    def start(self):
        self.launch()
        self.wait_started()

    def signal_children(self, number):
        path = f"/proc/{self.child.pid}/task/{self.child.pid}/children"
        children = [int(pid) for pid in read_text(path).split()]
        for pid in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def kill(self):
        """Kill all its processes, as a power failure.  @return whether it was running"""
        self.child.signal(signal.SIGSTOP)  # it starts no more
        self.signal_children(signal.SIGKILL)
        return self.child.kill() == -signal.SIGKILL

    @contextlib.contextmanager
    def stopped(self):
        """It accepts connections, and answers nothing."""
        self.child.signal(signal.SIGSTOP)
        self.signal_children(signal.SIGSTOP)
        try:
            yield
        finally:
            self.signal_children(signal.SIGCONT)
            self.child.signal(signal.SIGCONT)

    def __enter__(self):
        run([*self.user, os.path.join(self.programs, "initdb"), "--auth=trust",
             f"--username={USER}", "--locale=C", "--encoding=UTF8", "--no-sync", self.data],
            SLOW_S, cwd=self.directory)
        if self.host:
            with open(os.path.join(self.data, "pg_hba.conf"), "a", encoding="ascii") as file:
                file.write("host all all samenet trust\n")
        try:
            self.start()
            self.run(f"CREATE DATABASE {NAME}", database="postgres")
        except BaseException:
            if self.child:
                self.child.stop()
            raise
        return self

    def __exit__(self, *_):
        self.child.signal(signal.SIGINT)  # fast shutdown
        self.child.wait_exit(SLOW_S)
        self.child.stop()

    def run(self, sql, database=NAME, is_strict=True):
        """Run statements in one session.  @return rows and errors as text"""
        path = os.path.join(self.directory, "input.sql")
        save(path, sql)
        return run([*self.client(), "-v", f"ON_ERROR_STOP={int(is_strict)}", "-f", path,
                    database], SLOW_S)

    def client(self):
        return [self.psql, "-X", "-q", "-A", "-t", "-h", self.directory, "-U", USER]

    @contextlib.contextmanager
    def hold(self, sql):
        """Another session with a statement in an open transaction."""
        read_end, write_end = os.pipe()
        with os.fdopen(read_end) as stdin, os.fdopen(write_end, "w") as pipe:
            with Child([*self.client(), NAME], stdin=stdin) as child:
                pipe.write(f"BEGIN;\n{sql};\n\\echo done\n")
                pipe.flush()
                child.wait_line("^done$")
                yield

    def run_each(self, statements):
        """Run statements, also after errors.  @return the lines of each"""
        text = self.run("".join(f"\\echo @@\n{sql};\n" for sql in statements),
                        is_strict=False)
        return [part.strip("\n").split("\n") for part in text.split("@@\n")[1:]]
