#!/usr/bin/env python3
"""test_subscriber_csv.py - commands on subscribers: tables, pauses, confirmation, erasure."""
import json
import os
import pty
import re
import select
import stat
import subprocess

import lib  # the path
from programs import Paperboy, built
from tap import (
    DEADLINE_S, Child, Tap, read_text, top_builddir, top_srcdir,
)

CTL = built("paperboyctl")
NOW = "2026-11-20T18:00:00Z"
OK, USAGE, DATA, NOUSER = 0, 64, 65, 67
SAMPLES = "file://" + os.path.join(top_srcdir(), "samples")


class Instance(Paperboy):
    """An instance whose commands return status and both outputs."""

    def __init__(self, tap, name):
        super().__init__(tap.subdirectory(name), SAMPLES)
        self.clock.set(NOW)

    def say(self, *arguments, stdin=subprocess.DEVNULL, text=None, status=OK, out="",
            err=""):
        """Run a command and check status and outputs. @return its output"""
        more = {"input": text.encode()} if text is not None else {"stdin": stdin}
        done = subprocess.run([CTL, "-c", self.config, "--now", NOW, *arguments],
                              capture_output=True, timeout=120, **more)
        reported = f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert done.returncode == status, reported
        for words in [out] if isinstance(out, str) else out:
            assert words in done.stdout.decode(), (words, reported)
        for words in [err] if isinstance(err, str) else err:
            assert words in done.stderr.decode(), (words, reported)
        if not err:
            assert done.stderr == b"", reported
        return done.stdout.decode()

    def json(self, *arguments, **more):
        return json.loads(self.say("--json", *arguments, **more))

    def people(self):
        return [one["address"] for one in self.json("subscriber", "list")]

    def at_terminal(self, answer, *arguments):
        """Run a command at a terminal and answer its question.

        answer: typed once the question is shown; None: the terminal is closed @return
        status, output on the terminal
        """
        ours, theirs = pty.openpty()
        child = subprocess.Popen([CTL, "-c", self.config, "--now", NOW, *arguments],
                                 stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        shown = b""
        while True:
            assert select.select([ours], [], [], DEADLINE_S)[0], shown
            try:
                piece = os.read(ours, 1000)
            except OSError:  # the peer has closed
                break
            if not piece:
                break
            shown += piece
            if shown.endswith(b"? [y/N] "):
                os.write(ours, b"\x04" if answer is None else answer.encode() + b"\n")
        os.close(ours)
        return child.wait(timeout=DEADLINE_S), shown.decode().replace("\r\n", "\n")


# ---- confirmation -----------------------------------------------------------------

DESTRUCTIVE = [
    (["subscriber", "remove", "ada@example.org"], "Remove ada@example.org with all filters"),
    (["subscriber", "forget", "ada@example.org"], "Erase all data of ada@example.org permanently"),
    (["filter", "remove", "ada@example.org", "1"],
     "Remove filter 1 of ada@example.org, mamba"),
    (["suppression", "add", "ada@example.org"],
     "Remove the subscriber ada@example.org and suppress the address"),
    (["suppression", "remove", "bob@example.org"], "Stop suppressing bob@example.org"),
]


def test_asking(tap):
    """destructive commands ask on a terminal, and only y or yes confirms"""
    for number, (arguments, question) in enumerate(DESTRUCTIVE):
        instance = Instance(tap, f"asking-{number}")
        instance.add("ada@example.org", ["mamba"], now=NOW)
        instance.say("suppression", "add", "bob@example.org", out="bob@example.org suppressed")
        before = state_of(instance)
        for answer in ("", "n", "no", "yy", "ja", "never", None):
            status, shown = instance.at_terminal(answer, *arguments)
            assert status == DATA, (answer, shown)
            assert shown.startswith(question + "? [y/N] "), shown
            assert "paperboyctl: not done\n" in shown, shown
            assert state_of(instance) == before, (arguments, answer)
        status, shown = instance.at_terminal(("y", "YES", "Y", "yes", "y")[number], *arguments)
        assert status == OK and "not done" not in shown, shown
        assert state_of(instance) != before, arguments


def state_of(instance):
    return (instance.json("subscriber", "list"), instance.json("suppression", "list"),
            instance.rows("SELECT number, text FROM subscription"))


def test_no_terminal(instance):
    """without a terminal and --yes nothing is done, status 65"""
    instance.add("ada@example.org", ["mamba"], now=NOW)
    instance.say("suppression", "add", "bob@example.org", out="bob@example.org suppressed")
    before = state_of(instance)
    for arguments, _ in DESTRUCTIVE:
        instance.say(*arguments, status=DATA, err="confirmation needs a terminal, or --yes")
        instance.say(*arguments, text="y\n", status=DATA, err="needs a terminal")
        assert state_of(instance) == before
    # The least destructive one first, the erasure last.
    for arguments, _ in (DESTRUCTIVE[4], DESTRUCTIVE[2], DESTRUCTIVE[0], DESTRUCTIVE[1]):
        instance.say(*arguments, "--yes", out="")
    # Without a match there is no question.
    instance.say("subscriber", "forget", "ada@example.org", status=NOUSER,
              err="is not a subscriber")
    instance.say("suppression", "add", "carl@example.org", out="carl@example.org suppressed")


# ---- tables -----------------------------------------------------------------


def test_round_trip(tap, instance):
    """export, import elsewhere and export again give the same bytes"""
    instance.add("ada@example.org", ['"state space" OR mamba', "-survey diffusion"], now=NOW,
              name="=Ada, \"A.\"", cadence="weekly:mon,thu")
    instance.add("+odd@example.org", ["größe"], now=NOW, zone="Asia/Tokyo")
    instance.say("filter", "remove", "ada@example.org", "1", "--yes", out="removed")
    instance.say("filter", "add", "ada@example.org", "survey", "--block", "--note", "too many")
    instance.say("filter", "add", "ada@example.org", "reward", "--max", "3", "--name", "r")
    instance.say("subscriber", "set", "ada@example.org", "--order", "score", "--attach",
              "bibtex", "--language", "de", "--quiet", "note")
    instance.say("subscriber", "pause", "ada@example.org", "--until", "2026-12-01",
              out="paused until 2026-12-01; next digest 2026-12-03")
    whole = instance.say("subscriber", "export", "--filters")
    assert whole.splitlines()[0] == (
        "address,name,state,cadence,weekdays,at,zone,max,paused_until,order,abstract,"
        "format,quiet,updates,crosslist,attach,group,feedback,checkup,versions,retractions,language,"
        "catch_up,consent_at,consent_text,created_at,filters"), whole
    assert '"\'=Ada, ""A."""' in whole and "\n'+odd@example.org," in whole, whole
    path = os.path.join(instance.directory, "people.csv")
    instance.say("subscriber", "export", path, "--filters", out=f"2 subscribers in {path}")
    assert os.stat(path).st_mode & 0o777 == 0o600
    instance.say("subscriber", "export", path, status=DATA, err="not done: confirmation needs a terminal")
    assert instance.json("subscriber", "export", path, "--filters", "--yes") == {
        "file": path, "exported": 2}
    other = Instance(tap, "other")
    other.say("subscriber", "import", path, out="2 added")
    assert other.say("subscriber", "export", "-", "--filters") == whole
    other.say("subscriber", "import", "-", text=whole,
              out="2 already subscribers; not changed")
    assert instance.json("subscriber", "export") == [
        {key: value for key, value in one.items() if key != "filters"}
        for one in instance.json("subscriber", "export", "--filters")]
    assert "filters" not in instance.say("subscriber", "export")


def test_suspended(instance):
    """suspended subscribers are exported on their own, and stay so when imported"""
    for name in ("ada", "bob"):
        instance.add(f"{name}@example.org", ["diffusion"])
    instance.change("UPDATE subscriber SET state = 'suspended', next_due_at = NULL"
                    " WHERE address = 'bob@example.org'")
    text = instance.say("subscriber", "export", "-", "--state", "suspended")
    assert text.count("\n") == 2 and "\nbob@example.org," in text, text
    assert [one["address"] for one in instance.json(
        "subscriber", "export", "--state", "suspended")] == ["bob@example.org"]
    path = os.path.join(instance.directory, "suspended.csv")
    assert instance.json("subscriber", "export", path, "--state", "suspended") == {
        "file": path, "exported": 1}
    instance.say("subscriber", "export", "--state", "dead", status=DATA,
                 err="invalid state 'dead' (expected active, paused, suspended or pending)")
    for more in ([], ["--take-back"], ["--first"]):
        instance.say("subscriber", "import", path, *more, out="1 already subscribers")
    assert instance.json("subscriber", "show", "bob@example.org")["state"] == "suspended"
    instance.say("subscriber", "remove", "bob@example.org", "--yes", out="removed")
    instance.say("subscriber", "import", path, "--take-back", "--first",
                 out="1 added again after leaving")
    bob = instance.json("subscriber", "show", "bob@example.org")
    assert bob["state"] == "suspended" and bob["next_due_at"] is None, bob


def test_import(instance):
    """all errors of a table are reported with line and column, and nothing is stored"""
    table = ("address,zone,max\ngood@example.org,,\nnobody,Europe/Berlni,0\n"
             "b@example.org,,x\n")
    instance.say("subscriber", "import", "-", "--consent", "on paper", text=table,
              status=DATA, err=[
                  "-:3: column address: address has no '@'\n",
                  "-:3: column zone: unknown time zone 'Europe/Berlni': did you mean "
                  "Europe/Berlin?\n",
                  "-:3: column max: max must be from 1 to 200\n", "-:4: column max: ",
                  "paperboyctl: 2 lines are invalid in -; nothing was stored\n"])
    assert instance.people() == []
    report = instance.json("subscriber", "import", "-", "--consent", "x", "--dry-run",
                        "--skip-bad", text=table)
    assert report == {
        "dry_run": True, "added": 1, "full": 0, "blocked": 0, "unfiltered": 1,
        "ignored": None, "resubscribed": 0, "present": 0, "left": 0,
        "suppressed": 0, "bad": 2, "problems": report["problems"]}, report
    assert len(report["problems"]) == 4 and instance.people() == []
    instance.say("subscriber", "import", "-", "--consent", "x", "--dry-run", text=table,
              status=DATA, err="nothing was stored")
    instance.say("subscriber", "import", "-", "--consent", "x", "--skip-bad", text=table,
              out=["1 added\n", "2 invalid lines skipped\n"], err="-:3: column address")
    for name in ("email", "E-Mail", "Email address", "e_mail", "mail"):
        instance.say("subscriber", "import", "-", "--consent", "x",
                     text=f"{name}\ngood@example.org\n", out="1 already subscribers")
    instance.say("subscriber", "import", "-", "--consent", "x", status=DATA,
                 text="email,address\na@b.example,c@d.example\n", err="address: duplicate")
    instance.say("subscriber", "remove", "good@example.org", "--yes", out="removed")
    instance.say("subscriber", "import", "-", "--consent", "x",
              text="address\ngood@example.org\n",
              out=["0 added\n", "1 not added: they had left (--take-back"])
    instance.say("subscriber", "import", "-", "--consent", "x", "--take-back", "--first",
              text="address\ngood@example.org\n", out="1 added again after leaving")
    instance.say("subscriber", "forget", "good@example.org", "--yes", "--never-again",
              out="good@example.org erased and suppressed")
    instance.say("subscriber", "import", "-", "--consent", "x", "--take-back",
              text="address\ngood@example.org\n", out=["0 added", "1 not added: suppressed"])
    instance.say("subscriber", "import", "/nonexistent.csv", status=DATA,
              err="cannot read '/nonexistent.csv': No such file")
    instance.say("subscriber", "export", "/nonexistent/people.csv", status=DATA,
              err="cannot write: ")
    # as root it would replace /dev/null
    pipe = os.path.join(instance.directory, "pipe")
    os.mkfifo(pipe)
    instance.say("subscriber", "export", pipe, status=DATA, err="not a regular file")
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)


# ---- one subscriber -------------------------------------------------------------


def test_schedule(instance):
    """a schedule is changed and paused, and show prints it"""
    instance.add("ada@example.org", ["mamba"], now=NOW)
    # The first digest is due and remains due.
    instance.say("subscriber", "set", "ada@example.org", "--zone", "Asia/Tokyo", "--at",
              "6:30", "--cadence", "weekly:sat,tue", "--max", "7", "--name", "Ada",
              out="is now weekly on tue,sat at 06:30 Asia/Tokyo, 7 papers with abstract")
    instance.say("subscriber", "show", "ada@example.org", out=[
        "name         Ada\n", "state        active\n",
        "schedule     weekly on tue,sat at 06:30 Asia/Tokyo\n",
        "max          7 papers", "added        2026-11-20 18:00 UTC\n"])
    instance.say("subscriber", "set", "ada@example.org", "--zone", "Tokio", status=DATA,
              err="unknown time zone 'Tokio': did you mean Asia/Tokyo?")
    for max_full in ("0", "201", "-1"):
        instance.say("subscriber", "set", "ada@example.org", "--max", max_full, status=DATA,
                  err="max must be from 1 to 200")
    paused = instance.json("subscriber", "pause", "ada@example.org", "--until", "14d")
    assert paused["state"] == "paused" and paused["paused_until"] == "2026-12-05", paused
    assert paused["next_due_at"] == 1796419800, paused  # Saturday, 06:30 in Tokyo
    instance.say("subscriber", "show", "ada@example.org",
              out="state        paused until 2026-12-05\n")
    instance.say("subscriber", "list", out="paused until 2026-12-05  2026-12-04 21:30 UTC")
    instance.say("subscriber", "pause", "ada@example.org", "--until", "2026-11-21",
              status=DATA, err="a pause must end in the future")
    instance.say("subscriber", "pause", "ada@example.org", out="paused; next digest -")
    instance.say("subscriber", "resume", "ada@example.org",
              out="active; the next digest has the papers missed; next digest 2026-11-20 18:00 UTC")
    instance.say("subscriber", "resume", "ada@example.org", status=DATA, err="is not paused")


def test_filters(instance):
    """filters are changed, moved, renamed and tested"""
    instance.add("ada@example.org", ["model", "diffusion", "mamba"], now=NOW)
    assert instance.json("filter", "move", "ada@example.org", "3", "1") == {
        "from": 3, "to": 1}
    assert instance.json("filter", "rename", "ada@example.org", "1", "mine") == {
        "number": 1, "name": "mine"}
    instance.say("filter", "edit", "ada@example.org", "1", "ssm OR mambas",
              out="filter 1: mamba OR ssm")
    listed = [(one["number"], one["name"], one["text"])
              for one in instance.json("filter", "list", "ada@example.org")]
    assert listed == [(1, "mine", "ssm OR mambas"), (2, None, "model"),
                      (3, None, "diffusion")], listed
    instance.say("filter", "rename", "ada@example.org", "1", "", out="no longer has "
                                                                     "a name")
    instance.say("filter", "edit", "ada@example.org", "1", "ti:", status=DATA,
              err=["error  column 4", "invalid filter"])
    instance.say("filter", "move", "ada@example.org", "9", "1", status=NOUSER,
              err="no such filter: 9")
    instance.say("filter", "move", "ada@example.org", "1", "0", status=DATA,
              err="invalid filter number '0'")
    instance.say("filter", "test", "model", out=["30 days: 0 papers, 0.0 a day",
                                              "paperboyctl source fetch"])
    instance.say("source", "fetch", out="33 new papers")
    before = instance.rows("SELECT count(*), max(id) FROM filter")
    instance.say("filter", "test", "Models", out=[
        "model\n30 days: 31 papers, ", "The archive covers 3 of these days.",
        "Newest:\n", "in the title"])
    tried = instance.json("filter", "test", "--address", "ada@example.org", "2", "--days", "2")
    assert tried["canonical"] == "model" and tried["days"] == 2, tried
    assert tried["found"] > 5, tried
    assert len(tried["newest"]) == 5 and tried["newest"][0]["words"], tried
    assert instance.json("filter", "test", "cat or dog", err="")["notes"], tried
    instance.say("filter", "test", "--", "-survey diffusion", out="diffusion NOT survey")
    instance.say("filter", "test", "upvotes:>=ten", status=DATA, err="error  column 11")
    instance.say("filter", "test", "x", "--days", "366", status=DATA,
              err="days must be from 1 to 365")
    assert instance.rows("SELECT count(*), max(id) FROM filter") == before


# ---- settings and the audit log -------------------------------------------------


def test_config(instance):
    """the settings are shown with their values and defaults"""
    table = instance.say("config", out="SETTING")
    lines = {line.split()[0]: line.split()[1:] for line in table.splitlines()}
    assert lines["mail.owner"] == ["file", '"owner@example.org"'], table
    assert lines["smtp.port"] == ["default", "25"], table
    settings = {one["name"]: one for one in instance.json("config")}
    assert settings["mail.owner"]["value"] == "owner@example.org"
    assert settings["mail.owner"]["is_default"] is False
    assert settings["smtp.port"] == {"name": "smtp.port", "value": "25", "default": "25",
                                     "is_default": True}
    page = read_text(os.path.join(top_builddir(), "man", "paperboy.conf.5"))
    for name in settings:
        assert name.split(".")[-1] in page, name
    assert instance.say("config", "mail.from") == "paperboy@news.example\n"
    assert instance.json("config", "state_dir")["value"] == instance.state
    instance.say("config", "mail.form", status=DATA,
              err="unknown setting 'mail.form': did you mean mail.from?")
    instance.say("config", "nonsense", status=DATA, err="paperboyctl config lists all")
    # It needs no store and creates none.
    assert os.listdir(instance.state) == []
    os.rmdir(instance.state)
    instance.say("config", "log_level", out="warning")


def test_log(instance):
    """the audit log shows who changed what, when and how"""
    instance.say("log", out="No changes.")
    instance.add("ada@example.org", ["mamba"], now="2026-11-18T08:00:00Z")
    instance.add("bob@example.org", [], now="2026-11-19T08:00:00Z")
    instance.say("subscriber", "pause", "ada@example.org", out="paused")
    instance.say("subscriber", "remove", "ada@example.org", "--yes", out="removed")
    rows = instance.json("log")
    assert [row["what"] for row in rows] == [
        "subscriber added", "subscriber added", "subscriber paused",
        "subscriber removed"], rows
    assert rows[0]["who"].startswith("operator ") and rows[0]["address"] == \
        "ada@example.org" and rows[0]["detail"] == "asked in a test", rows
    assert rows[0]["at"] == 1794988800, rows
    table = instance.say("log", "--address", "ada@example.org").splitlines()
    assert table[0].split() == ["TIME", "WHO", "WHAT", "ADDRESS", "DETAIL"] and \
        len(table) == 4, table
    assert len(instance.json("log", "--since", "2026-11-19")) == 3
    assert len(instance.json("log", "--since", "2026-11-19T08:00:01Z")) == 2
    assert [row["what"] for row in instance.json("log", "--limit", "1")] == [
        "subscriber removed"]
    instance.say("log", "--since", "noon", status=DATA, err="'noon' is not a time")
    for limit in ("0", "100001"):
        instance.say("log", "--limit", limit, status=DATA, err="--limit must be from 1 to 100000")
    instance.say("log", "--limit", "100000", out="subscriber added")
    instance.say("log", "--address", "none@example.org", status=NOUSER,
              err="none@example.org is not a subscriber")


# ---- erasure -------------------------------------------------------------


def test_erase(instance):
    """with the daemon running, no byte of an erased person stays in its files"""
    words = ["quagga", "xylophonia", "numbatword"]
    daemon = built("paperboyd")
    with Child([daemon, "-c", instance.config, "--now", NOW]) as child:
        child.wait_socket(os.path.join(instance.state, "control"))
        for number in range(20):
            instance.add(f"p{number}@example.org", ["model"])
        instance.add("zebra.quagga@example.org", ["numbatword OR model"], name="Xylophonia")
        for word in words:
            assert find_in_files(instance.state, word), word
        instance.say("subscriber", "forget", "zebra.quagga@example.org", "--yes",
                  out="zebra.quagga@example.org erased")
        for word in words:
            assert not find_in_files(instance.state, word), word
        assert child.stop() == 0
    for word in words:
        assert not find_in_files(instance.state, word), word
    assert len(instance.people()) == 20


def find_in_files(directory, word):
    found = []
    for name in os.listdir(directory):
        path = os.path.join(directory, name)
        if os.path.isfile(path):
            with open(path, "rb") as file:
                if re.search(word.encode(), file.read(), re.I):
                    found.append(name)
    return found


with Tap() as tap:
    tap.run(test_asking, tap)
    tap.run(test_round_trip, tap, Instance(tap, "round-trip"))
    for test in (test_no_terminal, test_import, test_suspended, test_schedule, test_filters, test_config,
                 test_log, test_erase):
        tap.run(test, Instance(tap, test.__name__))
