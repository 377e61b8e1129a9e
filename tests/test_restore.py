#!/usr/bin/env python3
#
# test_restore.py - a backup is complete, and a restore neither repeats nor loses mail.

import collections
import contextlib
import glob
import json
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import threading

import lib  # the path
import digest_views
from daemon import Instance, at_hour, days_after, papers_of, parse
from smtp_fixture import Server
from tap import IS_LONG, Tap, need_strace, read, read_text, save

OK, FAILING, DATA, NOUSER, UNAVAILABLE, TEMPFAIL = 0, 2, 65, 67, 69, 75
DAY = "2026-11-20"
PEOPLE = 3
MANY = 10000 if IS_LONG else 3000
# System calls of a kind, of which one is tried.
STEPS = {} if IS_LONG else {
    "pwrite64": 89, "openat": 83, "fdatasync": 7, "unlink": 7, "fsync": 3, "ftruncate": 3}


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def files_in(maildir):
    return sorted(glob.glob(os.path.join(maildir, "new", "*")))


def key_of(instance):
    return read(os.path.join(instance.state, "key"))


def get_subscribers(raws):
    return collections.Counter(parse(raw)["To"] for raw in raws)


def sent_instance(tap, name, day, **more):
    """Three subscribers whose first digest was sent on a day."""
    instance = Instance(tap.subdirectory(name), **more)
    instance.write_day(day, range(3))
    instance.add_people(PEOPLE, now=at_hour(day, 6))
    instance.once(at_hour(day), wanted=0)
    return instance


# ---- backup -----------------------------------------------------------------


def backup_is_whole(tap):
    """a backup is one private file with the store and the key, and is verified"""
    instance = sent_instance(tap, "whole", DAY, maildir=os.path.join(tap.directory, "whole-mail"))
    path = os.path.join(tap.directory, "whole.backup")
    said = instance.ctl("backup", path, now=at_hour(DAY, 9))
    assert f"{path} written and verified" in said and "secret key" in said, said
    assert mode_of(path) == 0o600
    assert glob.glob(path + "*") == [path], glob.glob(path + "*")
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert db.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        ((key,),) = db.execute("SELECT key FROM backup").fetchall()
        digest_views.create(db)
        assert db.execute("SELECT count(*) FROM delivered_paper").fetchone() == (9,)
    assert bytes.fromhex(key) == key_of(instance)
    # the store itself does not contain the key
    assert instance.rows("SELECT * FROM backup") == []
    assert instance.value("SELECT value FROM cursor WHERE name = 'backup made'") > 0
    assert "last backup  2026-11-20 09:00 UTC" in instance.ctl(
        "status", now=at_hour(DAY, 9), wanted=FAILING)
    reported = json.loads(instance.ctl("--json", "backup", path, "--yes"))
    assert reported == {"backup": path, "bytes": os.path.getsize(path)}, reported
    # A standby, which has no store, verifies it by a restore that leaves nothing.
    standby = Instance(tap.subdirectory("standby"), papers=instance.papers)
    shutil.rmtree(standby.state)
    os.mkdir(standby.state, 0o700)
    assert f"{path} can be restored" in standby.ctl("backup", path, "--verify")
    assert glob.glob(path + "*") == [path] and not os.listdir(standby.state)
    with open(path, "r+b") as file:
        file.seek(9000)
        file.write(bytes(4096))
    standby.ctl("backup", path, "--verify", wanted=69)
    assert glob.glob(path + "*") == [path], glob.glob(path + "*")


def backup_replaces_nothing(tap):
    """a backup replaces a file only on request, and never one of the store"""
    instance = sent_instance(tap, "place", DAY, maildir=os.path.join(tap.directory, "place-mail"))
    path = os.path.join(tap.directory, "place.backup")
    save(path, "mine")
    said = instance.ctl("backup", path, wanted=DATA)
    assert " exists: " in said and "--yes" in said, said
    assert read(path) == b"mine"
    instance.ctl("backup", path, "--yes")
    before = read(path)
    for name in ("paperboy.db", "key", "copy.db"):
        said = instance.ctl("backup", os.path.join(instance.state, name), "--yes", wanted=DATA)
        assert "choose another directory" in said, said
    instance.check_store()
    instance.ctl("backup", "/nonexistent/x", wanted=UNAVAILABLE)
    # as root it would replace /dev/null
    pipe = os.path.join(tap.directory, "pipe")
    os.mkfifo(pipe)
    for name in (pipe, tap.directory):
        said = instance.ctl("backup", name, "--yes", wanted=DATA)
        assert "not a regular file" in said, said
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)
    os.unlink(pipe)
    # a symbolic link is replaced, not its target
    link = os.path.join(tap.directory, "link.backup")
    os.symlink(path, link)
    instance.ctl("backup", link, "--yes")
    assert not os.path.islink(link) and read(path) == before
    assert not glob.glob(os.path.join(tap.directory, "*.new.*"))


def backup_under_load(tap):
    """a backup ends and is valid while another program commits all the time"""
    instance = sent_instance(tap, "load", DAY, maildir=os.path.join(tap.directory, "load-mail"))
    with contextlib.closing(sqlite3.connect(instance.store)) as db, db:
        db.execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
                   " WHERE i < 20000) INSERT INTO cursor SELECT 'row ' || i, 0 FROM n")
    stop = threading.Event()
    commits = []

    def hammer():
        with contextlib.closing(sqlite3.connect(instance.store, timeout=120)) as db:
            while not stop.is_set():
                with db:  # two rows that are always equal
                    db.execute("UPDATE cursor SET value = value + 1"
                               " WHERE name IN ('row 1', 'row 20000')")
                commits.append(1)
                stop.wait(0.0005)  # long enough for other writers

    writer = threading.Thread(target=hammer)
    writer.start()
    try:
        path = os.path.join(tap.directory, "load.backup")
        for _ in range(3):
            had = len(commits)
            instance.ctl("backup", path, "--yes")
            assert len(commits) > had, "nobody wrote meanwhile"
            with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro",
                                                    uri=True)) as db:
                pair = db.execute("SELECT value FROM cursor WHERE name IN"
                                  " ('row 1', 'row 20000')").fetchall()
            assert pair[0] == pair[1], pair
    finally:
        stop.set()
        writer.join()


def backup_while_messages_go_out(tap):
    """a backup while thousands of messages are sent, restored elsewhere, loses and sends none"""
    relay, other = Server(), Server()
    is_saved = threading.Event()

    def wait_for_backup(verb, _):
        if verb == "." and len(relay.arrived) > MANY // 2:
            is_saved.wait()

    relay.act = wait_for_backup
    instance = Instance(tap.subdirectory("many"), port=relay.port, smtp__connections=4)
    instance.write_day(DAY, [1])
    instance.add_people(MANY, now=at_hour(DAY, 6))
    path = os.path.join(tap.directory, "many.backup")
    with instance.start_once(at_hour(DAY)) as child:
        child.wait_fact(lambda: len(relay.arrived) >= MANY // 20, "messages")
        started = len(relay.arrived)
        instance.ctl("backup", path, now=at_hour(DAY, 9))
        ended = len(relay.arrived)
        is_saved.set()
        assert child.wait_exit(600) == 0
    assert started < ended < MANY == len(relay.arrived), (started, ended, len(relay.arrived))
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
    new = Instance(tap.subdirectory("elsewhere"), port=other.port, papers=instance.papers,
                smtp__connections=4)
    new.ctl("restore", path, "--yes", now=at_hour(DAY, 10))
    new.once(at_hour(DAY, 11), wanted=0)
    states = new.states()
    assert other.arrived == [], "sent by itself"
    assert set(states) == {"SENT", "HELD"} and sum(states.values()) == MANY, states
    assert 0 < states["SENT"] <= ended, states
    # None is lost: messages unsent in the backup are sent after a release.
    had = {row[0] for row in new.rows(
        "SELECT address FROM subscriber s JOIN outbox o ON o.subscriber_id = s.id"
        " WHERE o.state = 'SENT'")}
    new.ctl("queue", "release", "all", "--yes", now=at_hour(DAY, 12))
    new.once(at_hour(DAY, 13), wanted=0)
    late = [who for who, _, _ in other.arrived]
    assert len(late) == len(set(late)) == states["HELD"]
    assert not had & set(late) and len(had | set(late)) == MANY
    relay.close()
    other.close()


# ---- refusals ---------------------------------------------------------------


def restore_refuses(tap):
    """an invalid backup is rejected, and nothing is changed"""
    instance = sent_instance(tap, "refuse", DAY, maildir=os.path.join(tap.directory, "refuse-mail"))
    path = os.path.join(tap.directory, "refuse.backup")
    instance.ctl("backup", path)
    broken = os.path.join(tap.directory, "broken.backup")
    whole = read(path)

    def damage(change):
        content = bytearray(whole)
        change(content)
        save(broken, content)

    def cut(content):
        del content[-4096:]

    def rubbish(content):
        content[3 * 4096:5 * 4096] = b"\x55" * 8192

    def header(content):
        content[0] = 0

    names = sorted(os.listdir(instance.state))
    rows = instance.rows("SELECT * FROM outbox")
    for change in (cut, rubbish, header):
        damage(change)
        said = instance.ctl("restore", broken, "--yes", wanted=(DATA, UNAVAILABLE))
        assert "damaged" in said or "malformed" in said, (change.__name__, said)
    said = instance.ctl("restore", instance.store, "--yes", wanted=DATA)
    assert "not a backup: it contains no key" in said, said
    said = instance.ctl("restore", "/nonexistent/x", "--yes", wanted=NOUSER)
    said = instance.ctl("restore", path, wanted=DATA)
    assert "--yes" in said, said
    with instance.start() as child:
        child.wait_line("paperboyd .* started")
        said = instance.ctl("restore", path, "--yes", wanted=TEMPFAIL)
        assert "stop paperboyd first" in said, said
    assert instance.rows("SELECT * FROM outbox") == rows
    instance.check_store()
    assert sorted(set(os.listdir(instance.state)) - {"paperboy.db-wal", "paperboy.db-shm"}) \
        == names, os.listdir(instance.state)


# ---- nothing twice, nothing lost ----------------------------------------------


def restored_instance(tap, name, base, now=None):
    """Mail of two days, restored to the evening of the first.

    @return (instance, destination of mail from now on, mail sent since the backup)"""
    maildir = os.path.join(tap.directory, f"{name}-mail")
    instance = sent_instance(tap, name, base, maildir=maildir)
    path = os.path.join(tap.directory, f"{name}.backup")
    instance.ctl("backup", path, now=at_hour(base, 9))
    instance.write_day(days_after(base, 1), range(3, 5))
    instance.once(at_hour(days_after(base, 1)), wanted=0)
    assert instance.states() == {"SENT": 2 * PEOPLE}
    lost = [read(one) for one in files_in(maildir)][PEOPLE:]
    numbers = instance.value("SELECT max(id) FROM digest")
    shutil.move(maildir, maildir + "-before")
    said = instance.ctl("restore", path, "--yes", now=now)
    assert "Restored the state of" in said and "next digests\n  of 3 subscribers" in said
    assert instance.value("SELECT seq FROM sqlite_sequence WHERE name = 'digest'") == numbers
    return instance, maildir, lost


def nothing_by_itself(tap):
    """after a restore the daemon sends nothing by itself; released messages are sent once"""
    base = days_after(DAY, -3)
    instance, maildir, lost = restored_instance(tap, "story", base)
    assert len(lost) == PEOPLE
    said = instance.ctl("status", wanted=FAILING)
    assert "\nRESTORED     at " in said, said
    assert "the next digests of 3 subscribers" in said and "queue drop" in said
    said = instance.ctl("queue", "list", "--state", "held")
    assert "the next digests of 3 subscribers will be HELD" in said, said
    for _ in range(2):  # and no more after a restart
        with instance.start() as child:
            child.wait_line("collector done")
            child.wait_fact(lambda: instance.states().get("HELD") == PEOPLE,
                            "the held digests")
            assert child.stop() == 0, child.output
        assert instance.states() == {"SENT": PEOPLE, "HELD": PEOPLE}
        assert files_in(maildir) == []
    # these messages differ from those sent with the old numbers
    assert instance.value("SELECT min(id) FROM digest WHERE state = 'live'") > 2 * PEOPLE
    held = json.loads(instance.ctl("--json", "queue", "list", "--state", "held"))
    assert [row["held_why"] for row in held] == ["restore"] * PEOPLE, held
    assert "3 messages are held" in instance.ctl("status", wanted=FAILING)
    said = instance.ctl("queue", "release", "all", wanted=DATA)
    assert "--yes" in said
    with instance.start() as child:
        child.wait_line("paperboyd .* started")
        instance.ctl("queue", "release", "all", "--yes")
        child.wait_fact(lambda: instance.states() == {"SENT": 2 * PEOPLE}, "the released")
    mails = [read(one) for one in files_in(maildir)]
    assert set(get_subscribers(mails).values()) == {1} and len(mails) == PEOPLE
    assert all(papers_of(mail) == [3, 4] for mail in mails)
    said = instance.ctl("status", wanted=FAILING)  # for today's list, which is late
    assert "RESTORED" not in said and " 0 held" in said and "LATE" in said, said
    assert "No such messages." in instance.ctl("queue", "list", "--state", "held")
    # later mail is sent as usual
    tomorrow = days_after(DAY, 1)
    instance.write_day(tomorrow, [8])
    instance.once(at_hour(tomorrow), wanted=0)
    fresh = [read(one) for one in files_in(maildir) if read(one) not in mails]
    assert len(fresh) == PEOPLE and all(papers_of(mail) == [8] for mail in fresh)
    ids = [parse(mail)["Message-ID"] for mail in lost + mails + fresh]
    assert len(set(ids)) == len(ids), "a Message-ID was used twice"
    instance.check_store()


def dropped_as_delivered(tap):
    """held digests dropped as delivered are not sent again, others are"""
    for delivered, wanted in ((True, [8]), (False, [3, 4, 8])):
        instance, maildir, _ = restored_instance(
            tap, f"drop-{delivered}", DAY, at_hour(days_after(DAY, 2), 7))
        after = days_after(DAY, 2)
        instance.once(at_hour(after), wanted=0)
        assert instance.states() == {"SENT": PEOPLE, "HELD": PEOPLE}, instance.states()
        words = ["--delivered"] if delivered else []
        instance.ctl("queue", "drop", "all", *words, "--state", "HELD", wanted=DATA)
        instance.ctl("queue", "drop", "all", *words, "--state", "HELD", "--yes",
                  now=at_hour(after, 9))
        instance.write_day(days_after(after, 1), [8])
        instance.once(at_hour(days_after(after, 1)), wanted=0)
        mails = [read(one) for one in files_in(maildir)]
        assert len(mails) == PEOPLE, len(mails)
        assert all(papers_of(mail) == wanted for mail in mails), papers_of(mails[0])


def source_that_fails(tap):
    """while a source fails after a restore, digests stay held: it may list old papers"""
    instance, maildir, _ = restored_instance(tap, "deaf", DAY, at_hour(days_after(DAY, 2), 7))
    instance.set(sources__hf__url="http://127.0.0.1:1/")
    instance.once(at_hour(days_after(DAY, 2)), wanted=TEMPFAIL)
    assert instance.states() == {"SENT": PEOPLE}, instance.states()
    assert instance.value("SELECT count(*) FROM subscriber WHERE is_next_held") == PEOPLE
    instance.set(sources__hf__url=f"file://{instance.papers}")
    instance.once(at_hour(days_after(DAY, 3)), wanted=0)
    assert instance.states() == {"SENT": PEOPLE, "HELD": PEOPLE}, instance.states()
    assert instance.value("SELECT count(*) FROM subscriber WHERE is_next_held") == 0
    assert files_in(maildir) == []


def nobody_is_due(tap):
    """subscribers without a slot since the backup get the next digest as usual"""
    maildir = os.path.join(tap.directory, "soon-mail")
    instance = sent_instance(tap, "soon", DAY, maildir=maildir)
    path = os.path.join(tap.directory, "soon.backup")
    instance.ctl("backup", path, now=at_hour(DAY, 9))
    instance.ctl("restore", path, "--yes", now=at_hour(DAY, 10))
    instance.ctl("status", now=at_hour(DAY, 10), wanted=FAILING)
    instance.write_day(days_after(DAY, 1), [5])
    instance.once(at_hour(days_after(DAY, 1)), wanted=0)
    assert instance.states() == {"SENT": 2 * PEOPLE}


def unsent_is_held(tap):
    """a message unsent in the backup is held; released it has the same bytes"""
    relay = Server()
    instance = Instance(tap.subdirectory("unsent"), port=relay.port)
    instance.write_day(DAY, range(3))
    instance.add_people(PEOPLE, now=at_hour(DAY, 6))
    relay.act = lambda verb, _: b"450 4.7.1 later\r\n" if verb == "RCPT" else None
    instance.once(at_hour(DAY), wanted=TEMPFAIL)
    path = os.path.join(tap.directory, "unsent.backup")
    instance.ctl("backup", path, now=at_hour(DAY, 9))
    relay.act = lambda verb, _: None
    instance.once(at_hour(DAY, 10), wanted=0)
    before = {who: raw for who, raw, _ in relay.arrived}
    assert len(before) == PEOPLE
    relay.arrived.clear()
    instance.ctl("restore", path, "--yes", now=at_hour(DAY, 11))
    assert instance.states() == {"HELD": PEOPLE}
    for hour in (12, 23):
        instance.once(at_hour(DAY, hour), wanted=0)
    assert relay.arrived == [] and instance.states() == {"HELD": PEOPLE}
    # the source has changed the text, which is not used: the bytes must not change
    said = instance.ctl("queue", "drop", "1", "--delivered", "--yes", now=at_hour(DAY, 23))
    assert "count as read" in said, said
    instance.ctl("queue", "release", "2", now=at_hour(DAY, 23))
    instance.ctl("queue", "drop", "3", "--yes", now=at_hour(DAY, 23))
    instance.once(at_hour(DAY, 23, 30), wanted=0)
    assert [(who, raw) for who, raw, _ in relay.arrived] == [
        ("person-0002@example.org", before["person-0002@example.org"])]
    relay.arrived.clear()
    instance.write_day(days_after(DAY, 1), [7])
    instance.once(at_hour(days_after(DAY, 1)), wanted=0)
    found = {who: papers_of(raw) for who, raw, _ in relay.arrived}
    assert found == {"person-0001@example.org": [7], "person-0002@example.org": [7],
                     "person-0003@example.org": [0, 1, 2, 7]}, found
    relay.close()


def another_machine(tap):
    """on a new machine a restore brings the key, and numbers continue after all others"""
    maildir = os.path.join(tap.directory, "machine-mail")
    instance = sent_instance(tap, "machine", DAY, maildir=maildir)
    path = os.path.join(tap.directory, "machine.backup")
    instance.ctl("backup", path, now=at_hour(DAY, 9))
    raw = instance.ctl("digest", "show", "1", "--raw")
    for name, has_other in (("bare", False), ("other", True)):
        new = Instance(tap.subdirectory(name), papers=instance.papers, maildir=maildir + name)
        if has_other:
            new.ctl("subscriber", "list")
            new.once(at_hour(DAY), wanted=0)  # it has its own store and key
            assert key_of(new) != key_of(instance)
        new.ctl("restore", path, "--yes", now=at_hour(DAY, 10))
        assert key_of(new) == key_of(instance) and mode_of(new.store) == 0o600
        assert mode_of(os.path.join(new.state, "key")) == 0o600
        assert new.ctl("digest", "show", "1", "--raw") == raw
        assert new.rows("SELECT * FROM backup") == []
        assert new.value("SELECT count(*) FROM digest") == PEOPLE
        (aside,) = glob.glob(os.path.join(new.state, "before-restore-*"))
        assert bool(os.path.exists(os.path.join(aside, "key"))) == has_other
        seq = new.value("SELECT seq FROM sqlite_sequence WHERE name = 'digest'")
        assert seq > 10**11, seq
        new.once(at_hour(days_after(DAY, 1)), wanted=0)
        assert set(new.states()) == {"SENT"}


def damaged_store(tap):
    """an unreadable store is moved aside with its log"""
    maildir = os.path.join(tap.directory, "ill-mail")
    instance = sent_instance(tap, "ill", DAY, maildir=maildir)
    path = os.path.join(tap.directory, "ill.backup")
    instance.ctl("backup", path, now=at_hour(DAY, 9))
    for name in ("rubbish", "empty", "log"):
        if name == "log":
            os.unlink(instance.store)
        else:
            save(instance.store, b"\x55" * 9000 if name == "rubbish" else b"")
        save(instance.store + "-wal", name.encode() * 1000)
        instance.ctl("queue", wanted=UNAVAILABLE)
        instance.ctl("restore", path, "--yes", now=at_hour(DAY, 10))
        instance.check_store()
        asides = glob.glob(os.path.join(instance.state, "before-restore-*", "*-wal"))
        assert any(read(one) == name.encode() * 1000 for one in asides), (name, asides)
        if name == "rubbish":
            olds = glob.glob(os.path.join(instance.state, "before-restore-*", "damaged.db"))
            assert [len(read(one)) for one in olds] == [9000]
        assert instance.states() == {"SENT": PEOPLE}


def consent_carried_over(tap):
    """unsubscribes, suppressions and erasures since the backup survive the restore"""
    maildir = os.path.join(tap.directory, "consent-mail")
    instance = Instance(tap.subdirectory("consent"), maildir=maildir)
    instance.write_day(DAY, range(3))
    instance.add_people(6, now=at_hour(DAY, 6))
    instance.once(at_hour(DAY), wanted=0)
    path = os.path.join(tap.directory, "consent.backup")
    with contextlib.closing(sqlite3.connect(instance.store)) as db, db:
        db.execute("UPDATE subscriber SET feeds_since = 100 WHERE id = 6")
    instance.ctl("backup", path, now=at_hour(DAY, 9))
    # private feeds are turned off
    with contextlib.closing(sqlite3.connect(instance.store)) as db, db:
        db.execute("UPDATE subscriber SET feeds_since = -100 WHERE id = 6")
    # with a key that is not in the backup
    instance.ctl("key", "rotate", "--yes", now=at_hour(DAY, 10))
    name = "person-000{}@example.org".format
    instance.ctl("subscriber", "remove", name(1), "--yes", now=at_hour(DAY, 10))
    instance.ctl("suppression", "add", name(2), "--yes", now=at_hour(DAY, 10))
    instance.ctl("subscriber", "forget", name(3), "--yes", now=at_hour(DAY, 10))
    instance.ctl("subscriber", "forget", name(4), "--never-again", "--yes",
              now=at_hour(DAY, 10))
    instance.ctl("subscriber", "remove", name(5), "--yes", now=at_hour(DAY, 10))
    instance.ctl("subscriber", "add", name(5), "--consent", "again", now=at_hour(DAY, 11))
    later = os.path.join(tap.directory, "later.backup")
    instance.ctl("backup", later, now=at_hour(DAY, 11))
    for number in range(2):
        said = instance.ctl("restore", path, "--yes", now=at_hour(DAY, 12))
        if number == 0:
            assert "2 unsubscribed, 2 suppressed, 2 erased" in said, said
        people = dict(instance.rows("SELECT address, state FROM subscriber"))
        assert people == {name(1): "gone", name(2): "gone", name(5): "active",
                          name(6): "active"}, people
        assert instance.value("SELECT feeds_since FROM subscriber WHERE id = 6") == -100
        for who in (2, 4):
            said = instance.ctl("subscriber", "add", name(who), "--consent", "x",
                             wanted=DATA)
            assert "suppressed since" in said, said
        instance.check_store()
        assert name(3).encode() not in read(instance.store)
        assert "key" not in [row["check"] for row in json.loads(instance.ctl(
            "--json", "doctor", now=at_hour(DAY, 12), wanted=(OK, 1, DATA)))
            if not row["ok"]]
    # back to the newer one: a consent after leaving is preserved
    instance.ctl("restore", later, "--yes", now=at_hour(DAY, 13))
    assert instance.value("SELECT consent_text FROM subscriber WHERE address = ?",
                       name(5)) == "again"
    assert instance.value("SELECT state FROM subscriber WHERE address = ?",
                       name(5)) == "active"


def answers_carried_over(tap):
    """what was shared, learned or refused, and has ended since, does not come back"""
    instance = sent_instance(tap, "answers", DAY,
                             maildir=os.path.join(tap.directory, "answers-mail"))
    early, path, later = (os.path.join(tap.directory, name)
                          for name in ("early", "answers.backup", "answers-later"))
    start = instance.value("SELECT unixepoch(?)", DAY)

    def change(*statements):
        with contextlib.closing(sqlite3.connect(instance.store)) as db, db:
            for statement in statements:
                db.execute(statement, {"at": start})

    def propose(number, state):
        return ("INSERT INTO proposal (subscriber_id, number, subscription_id, filter, term,"
                " command, gained, lost, days, title, made_at, expires_at, ended_at, state)"
                f" VALUES (2, {number}, 0, '', 'term {number}', 'add x', 1, 0, 30, '', :at,"
                f" :at + 1000000, iif('{state}' = 'open', NULL, :at), '{state}')")

    def like(person, paper, after):
        return (f"INSERT INTO feedback VALUES ({person}, {paper}, 1, :at + {after}, 'mail')",
                f"INSERT OR REPLACE INTO taste VALUES ({person}, :at + {after}, x'0{paper}')")

    def share(name, subscription, hour):
        return ("INSERT INTO share (name, subscription_id, version, created_at)"
                f" VALUES ('{name}', {subscription}, 1, :at + {hour * 3600 + 60})")

    instance.ctl("backup", early, now=at_hour(DAY, 9))
    change(share("ended", 1, 9), share("kept", 3, 9),
           "INSERT INTO follow SELECT 2, 2, id, 1, 0, NULL FROM share WHERE name = 'ended'",
           *like(1, 1, 34000), *like(2, 1, 34000), propose(1, "open"), propose(2, "open"))
    instance.ctl("backup", path, now=at_hour(DAY, 10))
    instance.ctl("share", "remove", "ended", "--yes", now=at_hour(DAY, 11))
    change(*(f"DELETE FROM {table} WHERE subscriber_id = 1"
             for table in ("feedback", "taste")),
           *like(2, 2, 40000),
           "UPDATE proposal SET state = 'refused', ended_at = :at WHERE number = 1",
           propose(3, "refused"), propose(4, "applied"))
    instance.ctl("restore", path, "--yes", now=at_hour(DAY, 12))
    assert instance.rows("SELECT name FROM share") == [("kept",)]
    assert instance.rows("SELECT share_id, news FROM follow") == [(None, 0)]
    assert instance.rows("SELECT subscriber_id, paper_seq FROM feedback") == [(2, 1), (2, 2)]
    assert instance.rows("SELECT subscriber_id, words FROM taste") == [(2, b"\2")]
    assert instance.rows("SELECT number, state FROM proposal ORDER BY 1") == [
        (1, "refused"), (2, "open"), (3, "refused"), (4, "undone")]
    instance.check_store()
    # An older backup and then a newer one again: nothing of this was ended by anybody.
    instance.ctl("backup", later, now=at_hour(DAY, 13))
    instance.ctl("restore", early, "--yes", now=at_hour(DAY, 14))
    assert instance.rows("SELECT name FROM share") == []
    instance.ctl("restore", later, "--yes", now=at_hour(DAY, 15))
    assert instance.rows("SELECT name FROM share") == [("kept",)]
    assert instance.rows("SELECT count(*) FROM feedback") == [(2,)]
    instance.check_store()


# ---- killed ---------------------------------------------------------------------


def state_of(instance):
    """"old", or "new"; all rows of either, and the key that belongs to them."""
    instance.ctl("queue", "list")  # it opens
    instance.check_store()
    raw = instance.ctl("digest", "show", "1", "--raw")
    is_new = bool(instance.rows("SELECT 1 FROM cursor WHERE name = 'restored at'"))
    rows = instance.rows("SELECT id, subscriber_id, digest_id, state FROM outbox ORDER BY 1")
    return ("new" if is_new else "old"), rows, raw


def try_points(tap, fault, calls):
    strace = need_strace()
    name = fault.replace("=", "-")
    source = Instance(tap.subdirectory(f"from-{name}"),
                   maildir=os.path.join(tap.directory, "kill-mail"))
    source.write_day(DAY, range(3))
    source.add_people(2, now=at_hour(DAY, 6))
    source.once(at_hour(DAY), wanted=0)
    source.ctl("queue", "list")
    path = os.path.join(tap.directory, f"{name}.backup")
    source.ctl("backup", path, now=at_hour(DAY, 9))
    other = Instance(tap.subdirectory(f"onto-{name}"), papers=source.papers,
                  maildir=os.path.join(tap.directory, "kill-mail2"))
    other.add_people(4, now=at_hour(DAY, 6))
    other.once(at_hour(DAY), wanted=0)
    wanted = {"old": state_of(other)}
    points = collections.Counter()
    seen = collections.Counter()
    for call in calls:
        number = 1
        while True:
            instance = Instance(os.path.join(tap.directory, "point"), papers=source.papers,
                          maildir=os.path.join(tap.directory, "kill-mail3"))
            instance.take_state(other)
            trace = os.path.join(instance.directory, "trace")
            status, said = run_restore(instance, path, [
                strace, "-f", "-qq", "-o", trace, "-e", f"trace={call}", "-e",
                f"inject={call}:{fault}:when={number}"])
            assert os.path.exists(trace), f"no trace: status {status}, {said}"
            is_hit = status == -signal.SIGKILL or "(INJECTED)" in read_text(trace)
            where = f"{fault} at {call} number {number}: status {status}"
            try:
                found = state_of(instance)
                if found[0] == "new" and "new" not in wanted:
                    wanted["new"] = found
                assert found == wanted[found[0]], (where, found[:2])
                assert status != 0 or found[0] == "new", where
                # and the restore can be repeated
                instance.ctl("restore", path, "--yes", now=at_hour(DAY, 11))
                assert state_of(instance)[0] == "new", where
                assert key_of(instance) == key_of(source), where
            except AssertionError:
                tap.diag(where)
                raise
            seen[found[0]] += 1
            shutil.rmtree(instance.directory)
            if not is_hit:
                break
            points[call] += 1
            number += STEPS.get(call, 1)
    tap.diag(f"{fault}: {sum(points.values())} points {dict(points)}, left {dict(seen)}")
    assert points[calls[0]] and seen["old"] and seen["new"], (points, seen)


def run_restore(instance, path, prefix):
    """@return (exit status, output)"""
    ctl = os.path.join(os.path.dirname(instance.daemon), "paperboyctl")
    done = subprocess.run(
        [*prefix, ctl, "-c", instance.config, "--now", at_hour(DAY, 10), "restore", path,
         "--yes"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=300, check=False,
        # LeakSanitizer does not work under ptrace
        env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0"))
    return done.returncode, done.stdout.decode("utf-8", "replace")


def every_kill(tap):
    """killed at any step, either the old store is complete, or the new one with its key"""
    try_points(tap, "signal=KILL", (
        "renameat2", "rename", "fsync", "fdatasync", "unlink", "mkdir", "rmdir",
        "pwrite64", "ftruncate"))


def every_failure(tap):
    """after a failed call there is the old store, or the new one with its key"""
    try_points(tap, "error=ENOSPC", ("renameat2", "rename", "mkdir", "pwrite64"))
    try_points(tap, "error=EIO", ("fsync", "fdatasync", "rename"))


def plain_rename(tap):
    """without RENAME_EXCHANGE a hard link is used"""
    strace = need_strace()
    instance = sent_instance(tap, "plain", DAY, maildir=os.path.join(tap.directory, "plain-mail"))
    path = os.path.join(tap.directory, "plain.backup")
    instance.ctl("backup", path, now=at_hour(DAY, 9))
    status, said = run_restore(instance, path, [
        strace, "-f", "-qq", "-o", "/dev/null", "-e", "inject=renameat2:error=EINVAL"])
    assert status == 0, (status, said)
    instance.check_store()
    (aside,) = glob.glob(os.path.join(instance.state, "before-restore-*"))
    assert sorted(os.listdir(aside)) == ["key", "paperboy.db"], os.listdir(aside)


with Tap() as tap:
    for test in (
        backup_is_whole, backup_replaces_nothing, backup_under_load,
        backup_while_messages_go_out, restore_refuses,
        nothing_by_itself, dropped_as_delivered, source_that_fails, nobody_is_due,
        unsent_is_held, another_machine, damaged_store, consent_carried_over,
        answers_carried_over, plain_rename, every_kill,
        every_failure,
    ):
        tap.run(test, tap)
