#!/usr/bin/env python3
"""test_people.py - the commands on people: tables, pauses, asking, forgetting."""
import json
import os
import pty
import re
import select
import stat
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

from programs import Paperboy, built  # noqa: E402
from tap import DEADLINE_S, Child, Tap, top_builddir, top_srcdir  # noqa: E402

CTL = built("paperboyctl")
NOW = "2026-11-20T18:00:00Z"
OK, USAGE, DATA, NOUSER = 0, 64, 65, 67
SAMPLES = "file://" + os.path.join(top_srcdir(), "samples")


class House(Paperboy):
    """A Paperboy whose commands tell status and both outputs."""

    def __init__(self, tap, name):
        super().__init__(tap.subfolder(name), SAMPLES)
        self.clock.set(NOW)

    def say(self, *arguments, stdin=subprocess.DEVNULL, text=None, status=OK, out="",
            err=""):
        """Run a command; words that have to be in its outputs.  @return its output"""
        more = {"input": text.encode()} if text is not None else {"stdin": stdin}
        done = subprocess.run([CTL, "-c", self.config, "--now", NOW, *arguments],
                              capture_output=True, timeout=120, **more)
        told = f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert done.returncode == status, told
        for words in [out] if isinstance(out, str) else out:
            assert words in done.stdout.decode(), (words, told)
        for words in [err] if isinstance(err, str) else err:
            assert words in done.stderr.decode(), (words, told)
        if not err:
            assert done.stderr == b"", told
        return done.stdout.decode()

    def json(self, *arguments, **more):
        return json.loads(self.say("--json", *arguments, **more))

    def people(self):
        return [one["address"] for one in self.json("subscriber", "list")]

    def at_terminal(self, answer, *arguments):
        """Run a command at a terminal and answer its question.

        answer: typed once the question is there; None: the terminal is closed
        @return status, all that stood on the terminal
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
            except OSError:  # the last one there has gone
                break
            if not piece:
                break
            shown += piece
            if shown.endswith(b"? [y/N] "):
                os.write(ours, b"\x04" if answer is None else answer.encode() + b"\n")
        os.close(ours)
        return child.wait(timeout=DEADLINE_S), shown.decode().replace("\r\n", "\n")


# ---- asking -----------------------------------------------------------------

DESTRUCTIVE = [
    (["subscriber", "remove", "ada@example.org"], "Remove ada@example.org with all filters"),
    (["subscriber", "forget", "ada@example.org"], "Forget ada@example.org, for good"),
    (["filter", "remove", "ada@example.org", "1"],
     "Remove filter 1 of ada@example.org, mamba"),
    (["suppression", "add", "ada@example.org"],
     "Remove the subscriber ada@example.org, never to be mailed again"),
    (["suppression", "remove", "bob@example.org"], "Let bob@example.org be mailed again"),
]


def test_asking(tap):
    """what destroys asks on a terminal, and only y or yes does it"""
    for number, (arguments, question) in enumerate(DESTRUCTIVE):
        house = House(tap, f"asking-{number}")
        house.add("ada@example.org", ["mamba"], now=NOW)
        house.say("suppression", "add", "bob@example.org", out="is suppressed")
        before = state_of(house)
        for answer in ("", "n", "no", "yy", "ja", "never", None):
            status, shown = house.at_terminal(answer, *arguments)
            assert status == DATA, (answer, shown)
            assert shown.startswith(question + "? [y/N] "), shown
            assert "paperboyctl: not done\n" in shown, shown
            assert state_of(house) == before, (arguments, answer)
        status, shown = house.at_terminal(("y", "YES", "Y", "yes", "y")[number], *arguments)
        assert status == OK and "not done" not in shown, shown
        assert state_of(house) != before, arguments


def state_of(house):
    return (house.json("subscriber", "list"), house.json("suppression", "list"),
            house.rows("SELECT number, text FROM subscription"))


def test_no_terminal(house):
    """without a terminal it wants --yes, says so, and does nothing, status 65"""
    house.add("ada@example.org", ["mamba"], now=NOW)
    house.say("suppression", "add", "bob@example.org", out="is suppressed")
    before = state_of(house)
    for arguments, _ in DESTRUCTIVE:
        house.say(*arguments, status=DATA, err="there is no terminal to ask on; --yes")
        house.say(*arguments, text="y\n", status=DATA, err="no terminal")
        assert state_of(house) == before
    # The one that takes away least first, and the person last.
    for arguments, _ in (DESTRUCTIVE[4], DESTRUCTIVE[2], DESTRUCTIVE[0], DESTRUCTIVE[1]):
        house.say(*arguments, "--yes", out="")
    # Where nobody is there is nothing to ask.
    house.say("subscriber", "forget", "ada@example.org", status=NOUSER,
              err="is not a subscriber")
    house.say("suppression", "add", "carl@example.org", out="is suppressed")


# ---- tables -----------------------------------------------------------------


def test_round_trip(tap, house):
    """export, import elsewhere and export again give the same bytes"""
    house.add("ada@example.org", ['"state space" OR mamba', "-survey diffusion"], now=NOW,
              name="=Ada, \"A.\"", cadence="weekly:mon,thu")
    house.add("+odd@example.org", ["größe"], now=NOW, zone="Asia/Tokyo")
    house.say("filter", "remove", "ada@example.org", "1", "--yes", out="removed")
    house.say("filter", "add", "ada@example.org", "survey", "--block", "--note", "too many")
    house.say("filter", "add", "ada@example.org", "reward", "--max", "3", "--name", "r")
    house.say("subscriber", "set", "ada@example.org", "--order", "score", "--attach",
              "bibtex", "--language", "de", "--quiet", "note")
    house.say("subscriber", "pause", "ada@example.org", "--until", "2026-12-01",
              out="paused until 2026-12-01; next digest 2026-12-03")
    whole = house.say("subscriber", "export", "--filters")
    assert whole.splitlines()[0] == (
        "address,name,state,cadence,weekdays,at,zone,max,paused_until,order,abstract,"
        "format,quiet,updates,crosslist,attach,language,catch_up,consent_at,"
        "consent_text,created_at,filters"), whole
    assert '"\'=Ada, ""A."""' in whole and "\n'+odd@example.org," in whole, whole
    path = os.path.join(house.folder, "people.csv")
    house.say("subscriber", "export", path, "--filters", out=f"2 subscribers in {path}")
    assert os.stat(path).st_mode & 0o777 == 0o600
    house.say("subscriber", "export", path, status=DATA, err="not done: there is no terminal")
    assert house.json("subscriber", "export", path, "--filters", "--yes") == {
        "file": path, "exported": 2}
    other = House(tap, "other")
    other.say("subscriber", "import", path, out="2 added")
    assert other.say("subscriber", "export", "-", "--filters") == whole
    other.say("subscriber", "import", "-", text=whole,
              out="2 there already, and left alone")
    assert house.json("subscriber", "export") == [
        {key: value for key, value in one.items() if key != "filters"}
        for one in house.json("subscriber", "export", "--filters")]
    assert "filters" not in house.say("subscriber", "export")


def test_import(house):
    """all mistakes of a table are told with line and column, and nothing is stored"""
    table = ("address,zone,max\ngood@example.org,,\nnobody,Europe/Berlni,0\n"
             "b@example.org,,x\n")
    house.say("subscriber", "import", "-", "--consent", "on paper", text=table,
              status=DATA, err=[
                  "-:3: column address: address has no '@'\n",
                  "-:3: column zone: unknown time zone 'Europe/Berlni': did you mean "
                  "Europe/Berlin?\n",
                  "-:3: column max: max must be from 1 to 200\n", "-:4: column max: ",
                  "paperboyctl: 2 lines are wrong in -, and nothing was stored\n"])
    assert house.people() == []
    report = house.json("subscriber", "import", "-", "--consent", "x", "--dry-run",
                        "--skip-bad", text=table)
    assert report == {
        "dry_run": True, "added": 1, "taken_back": 0, "present": 0, "left": 0,
        "suppressed": 0, "bad": 2, "problems": report["problems"]}, report
    assert len(report["problems"]) == 4 and house.people() == []
    house.say("subscriber", "import", "-", "--consent", "x", "--dry-run", text=table,
              status=DATA, err="nothing was stored")
    house.say("subscriber", "import", "-", "--consent", "x", "--skip-bad", text=table,
              out=["1 added\n", "2 bad lines left out\n"], err="-:3: column address")
    house.say("subscriber", "remove", "good@example.org", "--yes", out="removed")
    house.say("subscriber", "import", "-", "--consent", "x",
              text="address\ngood@example.org\n",
              out=["0 added\n", "1 had left, and stay away: --take-back"])
    house.say("subscriber", "import", "-", "--consent", "x", "--take-back", "--first",
              text="address\ngood@example.org\n", out="1 had left and taken back")
    house.say("subscriber", "forget", "good@example.org", "--yes", "--never-again",
              out="good@example.org forgotten, and never to be mailed again")
    house.say("subscriber", "import", "-", "--consent", "x", "--take-back",
              text="address\ngood@example.org\n", out=["0 added", "1 never to be mailed"])
    house.say("subscriber", "import", "/nonexistent.csv", status=DATA,
              err="cannot read '/nonexistent.csv': No such file")
    house.say("subscriber", "export", "/nonexistent/people.csv", status=DATA,
              err="cannot write: ")
    # root would lose /dev/null
    pipe = os.path.join(house.folder, "pipe")
    os.mkfifo(pipe)
    house.say("subscriber", "export", pipe, status=DATA, err="no regular file")
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)


# ---- one person -------------------------------------------------------------


def test_rhythm(house):
    """a rhythm is changed and paused, and show tells all of it"""
    house.add("ada@example.org", ["mamba"], now=NOW)
    # The first digest is due already, and stays so.
    house.say("subscriber", "set", "ada@example.org", "--zone", "Asia/Tokyo", "--at",
              "6:30", "--cadence", "weekly:sat,tue", "--max", "7", "--name", "Ada",
              out="is now weekly on tue,sat at 06:30 Asia/Tokyo, 7 papers with abstract")
    house.say("subscriber", "show", "ada@example.org", out=[
        "name         Ada\n", "state        active\n",
        "rhythm       weekly on tue,sat at 06:30 Asia/Tokyo\n",
        "max          7 papers", "added        2026-11-20 18:00 UTC\n"])
    house.say("subscriber", "set", "ada@example.org", "--zone", "Tokio", status=DATA,
              err="unknown time zone 'Tokio': did you mean Asia/Tokyo?")
    for max_full in ("0", "201", "-1"):
        house.say("subscriber", "set", "ada@example.org", "--max", max_full, status=DATA,
                  err="max must be from 1 to 200")
    paused = house.json("subscriber", "pause", "ada@example.org", "--until", "14d")
    assert paused["state"] == "paused" and paused["paused_until"] == "2026-12-05", paused
    assert paused["next_due_at"] == 1796419800, paused  # Saturday, 06:30 in Tokyo
    house.say("subscriber", "show", "ada@example.org",
              out="state        paused until 2026-12-05\n")
    house.say("subscriber", "list", out="paused until 2026-12-05  2026-12-04 21:30 UTC")
    house.say("subscriber", "pause", "ada@example.org", "--until", "2026-11-21",
              status=DATA, err="a pause ends on a day to come")
    house.say("subscriber", "pause", "ada@example.org", out="paused; next digest -")
    house.say("subscriber", "resume", "ada@example.org",
              out="active, with what was missed; next digest 2026-11-20 18:00 UTC")
    house.say("subscriber", "resume", "ada@example.org", status=DATA, err="is not paused")


def test_filters(house):
    """filters are changed, moved, named and tried"""
    house.add("ada@example.org", ["model", "diffusion", "mamba"], now=NOW)
    assert house.json("filter", "move", "ada@example.org", "3", "1") == {
        "from": 3, "to": 1}
    assert house.json("filter", "rename", "ada@example.org", "1", "mine") == {
        "number": 1, "name": "mine"}
    house.say("filter", "edit", "ada@example.org", "1", "ssm OR mambas",
              out="filter 1: mamba OR ssm")
    listed = [(one["number"], one["name"], one["text"])
              for one in house.json("filter", "list", "ada@example.org")]
    assert listed == [(1, "mine", "ssm OR mambas"), (2, None, "model"),
                      (3, None, "diffusion")], listed
    house.say("filter", "rename", "ada@example.org", "1", "", out="has no name now")
    house.say("filter", "edit", "ada@example.org", "1", "ti:", status=DATA,
              err=["error  column 4", "the filter was refused, and nothing was stored"])
    house.say("filter", "move", "ada@example.org", "9", "1", status=NOUSER,
              err="there is no filter 9")
    house.say("filter", "move", "ada@example.org", "1", "0", status=DATA,
              err="'0' is no filter number")
    house.say("filter", "test", "model", out=["30 days: 0 papers, 0.0 a day",
                                              "paperboyctl source fetch"])
    house.say("source", "fetch", out="33 new papers")
    before = house.rows("SELECT count(*), max(id) FROM filter")
    house.say("filter", "test", "Models", out=[
        "model\n30 days: 31 papers, ", "The archive knows 3 of these days.",
        "Newest:\n", "in the title"])
    tried = house.json("filter", "test", "--address", "ada@example.org", "2", "--days", "2")
    assert tried["canonical"] == "model" and tried["days"] == 2, tried
    assert tried["found"] > 5, tried
    assert len(tried["newest"]) == 5 and tried["newest"][0]["words"], tried
    assert house.json("filter", "test", "cat or dog", err="")["notes"], tried
    house.say("filter", "test", "--", "-survey diffusion", out="diffusion NOT survey")
    house.say("filter", "test", "upvotes:>=ten", status=DATA, err="error  column 11")
    house.say("filter", "test", "x", "--days", "366", status=DATA,
              err="days must be from 1 to 365")
    assert house.rows("SELECT count(*), max(id) FROM filter") == before


# ---- settings and the audit -------------------------------------------------


def test_config(house):
    """the settings are shown with their values, and which are the defaults"""
    table = house.say("config", out="SETTING")
    lines = {line.split()[0]: line.split()[1:] for line in table.splitlines()}
    assert lines["mail.owner"] == ["file", '"owner@example.org"'], table
    assert lines["smtp.port"] == ["default", "25"], table
    settings = {one["name"]: one for one in house.json("config")}
    assert settings["mail.owner"]["value"] == "owner@example.org"
    assert settings["mail.owner"]["is_default"] is False
    assert settings["smtp.port"] == {"name": "smtp.port", "value": "25", "default": "25",
                                     "is_default": True}
    with open(os.path.join(top_builddir(), "man", "paperboy.conf.5"),
              encoding="utf-8") as file:
        page = file.read()
    for name in settings:
        assert name.split(".")[-1] in page, name
    assert house.say("config", "mail.from") == "paperboy@news.example\n"
    assert house.json("config", "state_dir")["value"] == house.state
    house.say("config", "mail.form", status=DATA,
              err="there is no setting 'mail.form': did you mean mail.from?")
    house.say("config", "nonsense", status=DATA, err="paperboyctl config lists all")
    # It needs no store, and makes none.
    assert os.listdir(house.state) == []
    os.rmdir(house.state)
    house.say("config", "log_level", out="warning")


def test_log(house):
    """the log tells who changed what, when and how it was asked"""
    house.say("log", out="Nothing was changed.")
    house.add("ada@example.org", ["mamba"], now="2026-11-18T08:00:00Z")
    house.add("bob@example.org", [], now="2026-11-19T08:00:00Z")
    house.say("subscriber", "pause", "ada@example.org", out="paused")
    house.say("subscriber", "remove", "ada@example.org", "--yes", out="removed")
    rows = house.json("log")
    assert [row["what"] for row in rows] == [
        "subscriber added", "subscriber added", "subscriber paused",
        "subscriber removed"], rows
    assert rows[0]["who"].startswith("operator ") and rows[0]["address"] == \
        "ada@example.org" and rows[0]["how"] == "asked in a test", rows
    assert rows[0]["at"] == 1794988800, rows
    table = house.say("log", "--address", "ada@example.org").splitlines()
    assert table[0].split() == ["TIME", "WHO", "WHAT", "ADDRESS", "HOW"] and \
        len(table) == 4, table
    assert len(house.json("log", "--since", "2026-11-19")) == 3
    assert len(house.json("log", "--since", "2026-11-19T08:00:01Z")) == 2
    assert [row["what"] for row in house.json("log", "--limit", "1")] == [
        "subscriber removed"]
    house.say("log", "--since", "noon", status=DATA, err="'noon' is no time")
    for limit in ("0", "100001"):
        house.say("log", "--limit", limit, status=DATA, err="the limit is from 1 to 100000")
    house.say("log", "--limit", "100000", out="subscriber added")
    house.say("log", "--address", "none@example.org", status=NOUSER,
              err="none@example.org is not a subscriber")


# ---- forgetting -------------------------------------------------------------


def test_forget(house):
    """with the daemon at work, no byte of a forgotten person stays in its files"""
    words = ["quagga", "xylophonia", "numbatword"]
    daemon = built("paperboyd")
    with Child([daemon, "-c", house.config, "--now", NOW]) as child:
        child.wait_file(os.path.join(house.state, "control"))
        for number in range(20):
            house.add(f"p{number}@example.org", ["model"])
        house.add("zebra.quagga@example.org", ["numbatword OR model"], name="Xylophonia")
        for word in words:
            assert find_in_files(house.state, word), word
        house.say("subscriber", "forget", "zebra.quagga@example.org", "--yes",
                  out="zebra.quagga@example.org forgotten")
        for word in words:
            assert not find_in_files(house.state, word), word
        assert child.stop() == 0
    for word in words:
        assert not find_in_files(house.state, word), word
    assert len(house.people()) == 20


def find_in_files(folder, word):
    found = []
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            with open(path, "rb") as file:
                if re.search(word.encode(), file.read(), re.I):
                    found.append(name)
    return found


def main():
    with Tap() as tap:
        tap.run(test_asking, tap)
        tap.run(test_round_trip, tap, House(tap, "round-trip"))
        for test in (test_no_terminal, test_import, test_rhythm, test_filters, test_config,
                     test_log, test_forget):
            tap.run(test, House(tap, test.__name__))


if __name__ == "__main__":
    main()
