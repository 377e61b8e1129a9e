"""daemon.py - run paperboyd and paperboyctl on a temporary configuration and store.

    instance = Instance(tap.subdirectory("instance"), port=sink.port)
    instance.write_day("2026-11-20", range(3))
    instance.add_people(20)
    run = instance.once("2026-11-20T08:00:00Z")
    assert run.status == 0, run.output
    instance.rows("SELECT state FROM outbox")

Tests read the store as tests/lib/stores.py describes.
"""

import collections
import datetime
import email
import email.policy
import json
import os
import shutil
import subprocess

import stores
from clock import Clock
from paperserver import element
from programs import install
from tap import Child, save, top_builddir, top_srcdir

EVERYTHING = "paper"  # a filter that matches each made-up paper
RUN_S = 300  # deadline of a run

Run = collections.namedtuple("Run", "status output")


def at_hour(day, hour=8, minute=0):
    """A time for --now, such as "2026-11-20T08:00:00Z"."""
    return f"{day}T{hour:02}:{minute:02}:00Z"


def days_after(day, count):
    return str(datetime.date.fromisoformat(day) + datetime.timedelta(days=count))


class Instance:
    """A configuration, a state directory, a directory of papers, and the two programs.

    port is that of a local SMTP relay; maildir is used instead of a relay.  Both
    programs get the time of self.clock unless a call names another one.  In names of
    further settings "__" stands for the dot: smtp__connections=1; that of a source is
    sources__NAME__OPTION.
    """

    def __init__(self, directory, port=None, maildir=None, papers=None, **settings):
        self.directory = directory
        self.clock = Clock()
        self.prefix = []  # of the programs' command lines: the host they run on
        self.programs = os.path.abspath(top_builddir())
        self.state = os.path.join(directory, "state")
        self.papers = papers or os.path.join(directory, "papers")
        self.config = os.path.join(directory, "paperboy.conf")
        self.settings = {
            "state_dir": self.state,
            "template_dir": os.path.join(top_srcdir(), "etc", "templates"),
            "log_level": "info",
            "mail.from": "paperboy@news.example",
            "mail.owner": "owner@news.example",
            "mail.alerts": False,
            "sources.hf.kind": "huggingface",
            "sources.hf.url": f"file://{self.papers}",
            "enrich.arxiv": False, "enrich.europepmc": False, "enrich.crossref": False,
            "enrich.huggingface": False,
        }
        if maildir:
            self.settings |= {"delivery.method": "maildir", "delivery.maildir": maildir}
        else:
            self.settings |= {"smtp.host": "127.0.0.1", "smtp.port": port or 1}
        os.makedirs(self.papers, exist_ok=True)
        os.makedirs(self.state, mode=0o700)
        self.db = stores.create(self.store, settings.get("store__url"))
        self.set(**{"store__url": self.db.url, **settings})

    # -- input --

    def set(self, **settings):
        """Change settings; None restores a default."""
        for name, value in settings.items():
            self.settings[name.replace("__", ".")] = value
        groups = collections.defaultdict(list)
        for name, value in self.settings.items():
            group, _, own = name.rpartition(".")
            if value is not None:
                groups[group].append(f"{own} = {json.dumps(value)};")
        lines = groups.pop("", [])
        lines += [f"{name}: {{ {' '.join(rows)} }};" for name, rows in groups.items()
                  if not name.startswith("sources.")]
        sources = [f'{{ name = "{name.partition(".")[2]}"; {" ".join(rows)} }}'
                   for name, rows in groups.items() if name.startswith("sources.")]
        lines.append(f"sources = ( {', '.join(sources)} );")
        save(self.config, "\n".join(lines) + "\n")

    def set_state(self, directory):
        """Use another state directory, which is created."""
        os.makedirs(directory, mode=0o700)
        self.state = directory
        self.db.move(self.store)
        self.set(state_dir=directory)

    def install(self):
        """Use programs and templates that every user can read."""
        self.programs = install(os.path.join(self.directory, "installed"))
        self.set(template_dir=os.path.join(self.programs, "templates"))

    def take_state(self, other):
        """Become a copy of another instance, which must not be running."""
        shutil.rmtree(self.state)
        shutil.copytree(other.state, self.state)
        self.db.take(other.db)

    def write_day(self, day, numbers):
        """Write the list of a day, with made-up papers."""
        path = os.path.join(self.papers, f"daily_papers-{day}.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump([element(number) for number in numbers], file)

    def add_person(self, address, *options, now=None, query=EVERYTHING):
        return self.ctl(
            "subscriber", "add", address, "--consent", "asked for it", "--filter",
            query, *options, now=now,
        )

    def add_people(self, count, now=None):
        """Add person-0001@example.org and so on, whose filter matches all papers.

        now must be before that of the first run.  The first is added by paperboyctl;
        the others are copies of its rows, which is faster.
        """
        self.add_person("person-0001@example.org", now=now)
        people = ", ".join(
            f"('person-{number:04}@example.org')" for number in range(2, count + 1))
        columns = stores.columns("subscriber", "id", "address", "address_key")
        others = stores.columns("subscription", "id", "subscriber_id")
        if people:
            self.change(
                f"INSERT INTO subscriber (address, address_key, {columns})"
                f" SELECT column1, column1, {columns} FROM subscriber,"
                f" (VALUES {people}) AS person WHERE id = 1 ORDER BY column1;"
                f"INSERT INTO subscription (subscriber_id, {others})"
                f" SELECT person, {others} FROM subscription, (SELECT id AS person"
                " FROM subscriber WHERE address LIKE 'person-%' AND id > 1) AS added"
                " WHERE subscriber_id = 1")

    # -- the programs --

    @property
    def daemon(self):
        return os.path.join(self.programs, "paperboyd")

    def once_command(self, now=None):
        return [self.daemon, "-c", self.config, "--once",
                "--now", now or self.clock.advance()]

    def once(self, now=None, wanted=None, prefix=(), deadline_s=RUN_S):
        """Run `paperboyd --once`.  @param wanted  the expected exit status, or None"""
        done = subprocess.run(
            [*prefix, *self.once_command(now)], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=deadline_s,
            check=False,
        )
        run = Run(done.returncode, done.stdout.decode("utf-8", "replace"))
        if wanted is not None and run.status != wanted:
            raise AssertionError(f"status {run.status}, not {wanted}\n{run.output}")
        return run

    def start_once(self, now=None):
        return Child(self.once_command(now))

    def start(self, now=None, **popen):
        """Start the daemon.  @param now  also sets self.clock"""
        if now:
            self.clock.set(now)
        return Child([*self.prefix, self.daemon, "-c", self.config, "--now",
                      now or self.clock.advance()], **popen)

    def ctl(self, *arguments, now=None, wanted=0):
        """Run paperboyctl.  @param wanted  expected exit status, or several  @return output"""
        done = subprocess.run(
            [*self.prefix, os.path.join(self.programs, "paperboyctl"), "-c", self.config,
             "--now", now or self.clock.now(), *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=RUN_S, check=False,
        )
        text = done.stdout.decode("utf-8", "replace")
        if done.returncode not in (wanted if isinstance(wanted, tuple) else (wanted,)):
            raise AssertionError(f"paperboyctl: status {done.returncode}\n{text}")
        return text

    # -- results --

    @property
    def store(self):
        return os.path.join(self.state, "paperboy.db")

    def rows(self, sql, *values):
        return self.db.rows(sql, *values)

    def change(self, sql, *values):
        return self.db.change(sql, *values)

    def value(self, sql, *values):
        return self.rows(sql, *values)[0][0]

    def states(self):
        """States of the outbox as {state: count}."""
        return dict(self.rows("SELECT state, count(*) FROM outbox GROUP BY state"))

    def check_store(self):
        self.db.check()


# ---- digests ----------------------------------------------------------------


def parse(raw):
    return email.message_from_bytes(raw, policy=email.policy.default)


def is_whole(raw):
    """Whether a digest is complete; a sink also stores truncated ones."""
    boundary = parse(raw).get_boundary()
    return bool(boundary) and raw.rstrip().endswith(f"--{boundary}--".encode())


def papers_of(raw):
    """The numbers of the made-up papers in a digest."""
    text = parse(raw).get_body(("plain",)).get_content()
    words = " ".join(text.split()).split("Made-up paper number ")[1:]
    return sorted({int(word.split()[0].strip(".,:;")) for word in words})
