"""programs.py - run paperboyd, paperboyctl and the query helper from a test.

    paperboy = Paperboy(tap.subdirectory("one"), papers="file:///some/directory")
    paperboy.add("ada@example.org", ["diffusion"], now="2026-11-18T08:00:00Z")
    paperboy.run_once("2026-11-18T09:00:00Z")
    for mail in paperboy.mails(): ...

Each Paperboy has a state directory and a configuration of its own; without a relay
its mail goes to a Maildir beside them.
"""

import json
import os
import re
import shutil
import subprocess
import time

import stores
from clock import Clock
from papers import load_papers
from tap import Child, read, run, top_builddir, top_srcdir

OWNER = "owner@example.org"
FROM = "paperboy@news.example"

CONFIG = """\
# made for one test
state_dir = "{state}";
template_dir = "{templates}";
log_level = "{log_level}";
mail: {{ from = "{sender}"; owner = "{owner}"; }};
{sources}
{delivery}
{store}
{extra}
"""
SOURCES = '''sources = ( {{ name = "hf"; kind = "huggingface"; url = "{}"; }} );
enrich: {{ arxiv = false; europepmc = false; crossref = false; }};'''
MAILDIR = 'delivery: {{ method = "maildir"; maildir = "{}"; }};'
SMTP = 'smtp: {{ host = "127.0.0.1"; port = {}; connections = {}; }};'


def built(*names):
    return os.path.join(top_builddir(), *names)


def install(directory):
    """Copy the programs, templates and sample papers to where every user can read them.

    Others than the owner cannot enter a source tree in a home directory of mode 0700.
    @return directory, which is created
    """
    os.makedirs(directory)
    for name in ("paperboyd", "paperboyctl", "paperboy-parser"):
        shutil.copy(built(name), directory)
    for name in ("etc/templates", "samples"):
        shutil.copytree(os.path.join(top_srcdir(), name),
                        os.path.join(directory, os.path.basename(name)))
    run(["chmod", "-R", "u+rwX,a+rX", directory])
    return directory


class Paperboy:
    """A state directory, a configuration, and the programs that use them.

    papers:  URL of Hugging Face
    relay:   port of a local SMTP server, or None for a Maildir
    extra:   additional lines of the configuration; may have the list of sources
    """

    def __init__(self, directory, papers, relay=None, connections=2, log_level="warning",
                 extra=""):
        self.directory = directory
        self.clock = Clock()
        self.state = os.path.join(directory, "state")
        self.maildir = os.path.join(directory, "Maildir")
        self.config = os.path.join(directory, "paperboy.conf")
        self.db = stores.create(os.path.join(self.state, "paperboy.db"))
        self.seconds = []  # duration of each run
        self._seen = set()
        os.makedirs(self.state, mode=0o700, exist_ok=True)
        deliver = SMTP.format(relay, connections) if relay else MAILDIR.format(
            self.maildir)
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(
                CONFIG.format(
                    state=self.state, templates=os.path.join(top_srcdir(), "etc",
                    "templates"), log_level=log_level, sender=FROM, owner=OWNER,
                    delivery=deliver, extra=extra, store=self.db.config,
                    sources="" if "sources = " in extra else SOURCES.format(papers),
                )
            )

    def take_state(self, other):
        """Copy the state of another Paperboy, which must not be running."""
        shutil.rmtree(self.state)
        shutil.copytree(other.state, self.state)
        self.db.take(other.db)

    def ctl(self, *arguments, now=None, check=True):
        """Run paperboyctl.  @return its output"""
        return run([built("paperboyctl"), "-c", self.config, "--now",
                    now or self.clock.now(), *arguments], check=check)

    def add(self, address, filters, now=None, **settings):
        """Add a subscriber; settings are options of paperboyctl: zone="UTC", max=200."""
        options = [f"--{name}={value}" for name, value in settings.items()]
        options += [f"--filter={text}" for text in filters]
        self.ctl("subscriber", "add", address, "--consent=asked in a test", *options,
                 now=now)

    def run_once(self, now, wanted=0):
        """Run `paperboyd --once`.  @param wanted  status, or several  @return output"""
        begin = time.monotonic()
        done = subprocess.run(
            [built("paperboyd"), "-c", self.config, "--once", "--now", now],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=300, text=True,
        )
        self.seconds.append(time.monotonic() - begin)
        statuses = wanted if isinstance(wanted, tuple) else (wanted,)
        assert done.returncode in statuses, (now, done.returncode, done.stdout)
        return done.stdout

    def start(self, name="paperboyd"):
        """Start the daemon; a context manager that stops it."""
        return Child([built("paperboyd"), "-c", self.config, "--now",
                      self.clock.advance()], name=name)

    def new_mails(self):
        """Mails (bytes) that arrived in the Maildir since the last call."""
        place = os.path.join(self.maildir, "new")
        names = set(os.listdir(place)) if os.path.isdir(place) else set()
        found = []
        for name in sorted(names - self._seen):
            found.append(read(os.path.join(place, name)))
        self._seen = names
        return found

    def rows(self, sql, *values):
        return self.db.rows(sql, *values)

    def change(self, sql, *values):
        return self.db.change(sql, *values)

    def count_sent(self):
        """Messages that the relay has accepted, according to the store."""
        return self.rows("SELECT count(*) FROM outbox WHERE state = 'SENT'")[0][0]


# ---- mail -------------------------------------------------------------------


def as_sent(raw):
    """A mail file as it was on the wire: lines end in CRLF."""
    return re.sub(rb"\r?\n", b"\r\n", raw)


# ---- papers -----------------------------------------------------------------


def api_element(paper):
    """A paper of papers.load_papers() as an element of the API's list."""
    inner = {
        "id": paper["id"],
        "title": paper["title"],
        "summary": paper["abstract"] or "",
        "authors": [{"name": name} for name in paper["authors"] or ()],
        "publishedAt": "2026-01-01T00:00:00.000Z",
    }
    if paper["upvotes"] is not None:
        inner["upvotes"] = paper["upvotes"]
    return {"paper": inner, "title": paper["title"], "numComments": 0}


def write_day(directory, day, papers):
    """Write a day for a source: papers of load_papers(), or a copy of a file."""
    path = os.path.join(directory, f"daily_papers-{day}.json")
    temporary = path + ".new"
    if isinstance(papers, str):
        shutil.copyfile(papers, temporary)
    else:
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump([api_element(paper) for paper in papers], file)
    os.replace(temporary, path)
    return path


def load_days(paths):
    """Papers of several files by id; the last file wins."""
    return {paper["id"]: paper for path in paths for paper in load_papers(path)}


# ---- the filter language ----------------------------------------------------


def helper_query(*arguments, lines):
    """Lines that tests/helper_query prints for lines of input."""
    done = subprocess.run(
        [built("tests", "helper_query"), *arguments],
        input="".join(f"{line}\n" for line in lines).encode(),
        stdout=subprocess.PIPE, check=True, timeout=3000,
    )
    rows = done.stdout.decode().split("\n")[:-1]
    assert len(rows) == len(lines), (len(rows), len(lines))
    return rows


def fold_words(words):
    """The program's stem of each word."""
    return helper_query("fold", lines=words)


class Evaluated:
    """The program's result for one filter.

    column, reason:  position and text of a parse error, or None
    canonical:       the canonical text
    again:           its canonical text, if that differs
    truths:          six strings with a digit for each paper (0 no, 1 unknown, 2 yes):
                     with no field final, enriched, all final; then the same three for
                     fields that may still change
    """

    def __init__(self, row):
        kind, *fields = row.split("\t")
        self.column = self.reason = self.canonical = self.again = None
        self.truths = ()
        if kind == "invalid":
            self.column, self.reason = int(fields[0]), fields[1]
        elif kind == "changed":
            self.canonical, self.again = fields
        else:
            self.canonical, *self.truths = fields


def evaluate(path, today, filters):
    """Evaluate each filter on each paper of a file of JSON lines."""
    return [Evaluated(row)
            for row in helper_query("evaluate", path, today, lines=filters)]
