#!/usr/bin/env python3
#
# test_queue.py - the queue, digest and source commands of paperboyctl.

import contextlib
import glob
import json
import os
import subprocess

import lib  # the path
from daemon import Instance, at_hour, days_after, papers_of
from peers import SmtpSink, write
from smtp_fixture import Server
from tap import Tap, read, save

OK, USAGE, DATA, NOUSER, TEMPFAIL = 0, 64, 65, 67, 75
DAY = "2026-11-20"
LATER = b"450 4.7.1 later\r\n"


def reported(instance, *arguments, **more):
    return json.loads(instance.ctl("--json", *arguments, **more))


@contextlib.contextmanager
def queued_instance(tap, name, people=4):
    """An instance whose first digests are deferred."""
    relay = Server()
    instance = Instance(tap.subdirectory(name), port=relay.port)
    instance.write_day(DAY, range(3))
    instance.add_people(people, now=at_hour(DAY, 6))
    relay.act = lambda verb, _: LATER if verb == "RCPT" else None
    instance.once(at_hour(DAY), wanted=TEMPFAIL)
    relay.act = lambda verb, _: None
    try:
        yield instance, relay
    finally:
        relay.close()


def state_of(instance, number):
    return instance.value("SELECT state FROM outbox WHERE id = ?", number)


# ---- queue ------------------------------------------------------------------


def lists(tap):
    """queue list selects by state and address; queue show prints all of one"""
    with queued_instance(tap, "lists") as (instance, _):
        instance.change("UPDATE outbox SET state = 'FAILED', next_try_at = NULL,"
                        " ended_at = 5 WHERE id = 4")
        table = instance.ctl("queue")
        assert table == instance.ctl("queue", "list") and "450 4.7.1 later" in table, table
        for arguments, ids in (
            ([], [1, 2, 3]), (["--all"], [1, 2, 3, 4]),
            (["--state", "DEFERRED"], [1, 2, 3]), (["--state", "failed"], [4]),
            (["--state", "HELD"], []),
            (["--address", "Person-0002@EXAMPLE.org"], [2]),
            (["--all", "--address", "person-0004@example.org"], [4]),
        ):
            rows = reported(instance, "queue", "list", *arguments)
            assert [row["id"] for row in rows] == ids, (arguments, rows)
        assert "No such messages" in instance.ctl("queue", "list", "--state", "HELD")
        assert "invalid state" in instance.ctl("queue", "list", "--state", "gone", wanted=DATA)
        instance.ctl("queue", "list", "--address", "none@example.org", wanted=NOUSER)
        shown = instance.ctl("queue", "show", "1")
        for words in ("state        DEFERRED: failed temporarily", "person-0001@example.org",
                      "attempts     1", "last reply   450 4.7.1 later",
                      "3 papers, live", "digest show 1 --raw"):
            assert words in shown, (words, shown)
        row = reported(instance, "queue", "show", "1")
        assert row["state"] == "DEFERRED" and row["papers"] == 3 and row["code"] == 450
        assert row["slot"].startswith("first-") and row["held_why"] is None, row
        assert "no such message: 9" in instance.ctl("queue", "show", "9", wanted=NOUSER)
        for word in ("0", "x", "-1", ""):
            instance.ctl("queue", "show", "--", word, wanted=DATA)


MESSAGE = (b"Message-ID: <a1@example.org>\r\nSubject: Re: help\r\n\r\n"
          b"There is.\r\n.\r\n")


def add_message(instance, kind="answer", sender="", to="unknown@example.org"):
    ((number,),) = instance.change(
        "INSERT INTO outbox (kind, recipient, address_key, sender, message, state,"
        " queued_at, next_try_at) VALUES (?, ?, ?, ?, ?, 'NEW', 1, 1) RETURNING id",
        kind, to, to, sender, MESSAGE)
    return number


def stored_messages(tap):
    """a reply to an unknown sender is listed, sent as stored, and erased"""
    with queued_instance(tap, "messages", people=1) as (instance, relay):
        number = add_message(instance)
        dropped = add_message(instance, kind="notice")
        row = reported(instance, "queue", "list")[1]
        assert row["kind"] == "answer" and row["digest"] is None, row
        table = instance.ctl("queue", "list")
        assert "KIND" in table and "unknown@example.org" in table, table
        shown = instance.ctl("queue", "show", str(number))
        for words in ("kind         answer", "unknown@example.org (not a subscriber)",
                      "state        NEW"):
            assert words in shown, shown
        assert "digest" not in shown, shown
        row = reported(instance, "queue", "show", str(number))
        assert row["recipient_state"] is None and row["slot"] is None, row
        instance.ctl("queue", "drop", str(dropped), "--yes")
        instance.once(at_hour(DAY, 8, 0), wanted=TEMPFAIL)
        assert [(who, text) for who, text, _ in relay.arrived] == [
            ("unknown@example.org", MESSAGE)], relay.arrived
        assert instance.rows("SELECT id, state, message FROM outbox WHERE id > 1"
                          " ORDER BY id") == [
            (number, "SENT", None), (dropped, "CANCELLED", None)]


def retries(tap):
    """retry makes messages due now, and warns about one in doubt"""
    with queued_instance(tap, "retries") as (instance, relay):
        instance.change("UPDATE outbox SET state = 'UNKNOWN' WHERE id = 2")
        early = at_hour(DAY, 8, 0)  # before any of them is due
        instance.once(early, wanted=TEMPFAIL)
        assert relay.arrived == []
        assert "message 1: due now" in instance.ctl("queue", "retry", "1", now=early)
        said = instance.ctl("queue", "retry", "2", now=early)
        assert "may have arrived" in said and "same Message-ID" in said, said
        instance.once(early, wanted=TEMPFAIL)
        assert sorted(who for who, _, _ in relay.arrived) == [
            "person-0001@example.org", "person-0002@example.org"]
        said = instance.ctl("queue", "retry", "1", wanted=DATA)
        assert "already ended" in said, said
        instance.ctl("queue", "hold", "3")
        counts = reported(instance, "queue", "retry", "all", now=early)
        assert counts["done"] == 1 and counts["held"] == 1, counts
        instance.once(early, wanted=OK)
        assert state_of(instance, 3) == "HELD" and state_of(instance, 4) == "SENT"
        instance.ctl("queue", "retry", "3", now=early)  # named explicitly
        instance.once(early, wanted=OK)
        assert instance.states() == {"SENT": 4}
        assert "No such messages" in instance.ctl("queue", "retry", "all")
        rows = instance.rows("SELECT what, detail FROM audit_log WHERE what LIKE 'message%'")
        assert ("message retried", "outbox 1") in rows and \
            ("message held", "outbox 3") in rows, rows


def sending_is_left_alone(tap):
    """a message being sent is not changed, and the command reports it"""
    with queued_instance(tap, "sending") as (instance, _):
        instance.change("UPDATE outbox SET state = 'SENDING', next_try_at = NULL"
                        " WHERE id = 1")
        for verb, more in (("retry", []), ("hold", []), ("release", []),
                           ("drop", ["--yes"]), ("drop", ["--yes", "--delivered"])):
            said = instance.ctl("queue", verb, "1", *more, wanted=TEMPFAIL)
            assert "being sent now; not changed" in said, said
            assert state_of(instance, 1) == "SENDING"
        said = instance.ctl("queue", "retry", "all")
        assert "1 message: being sent" in said and "3 messages: due now" in said, said
        counts = reported(instance, "queue", "hold", "all")
        assert counts["done"] == 3 and counts["sending"] == 1, counts


def drops(tap):
    """dropped papers are in the next digest, or count as read with --delivered"""
    with queued_instance(tap, "drops") as (instance, relay):
        instance.change("UPDATE outbox SET state = 'UNKNOWN' WHERE id = 3")
        said = instance.ctl("queue", "drop", "1", wanted=DATA)
        assert "--yes" in said and state_of(instance, 1) == "DEFERRED"
        # all or nothing
        instance.ctl("queue", "drop", "1", "99", "--yes", wanted=NOUSER)
        assert state_of(instance, 1) == "DEFERRED"
        said = instance.ctl("queue", "drop", "1", "3", "--yes")
        assert "message 1: dropped; its papers are in the next digest" in said
        assert "message 3: dropped; its papers count as read" in said, said
        instance.ctl("queue", "drop", "2", "--delivered", "--yes")
        instance.once(at_hour(DAY, 9), wanted=OK)
        assert [who for who, _, _ in relay.arrived] == ["person-0004@example.org"]
        relay.arrived.clear()
        instance.write_day(days_after(DAY, 1), [7])
        instance.once(at_hour(days_after(DAY, 1)), wanted=OK)
        found = {who[:11]: papers_of(raw) for who, raw, _ in relay.arrived}
        assert found == {"person-0001": [0, 1, 2, 7], "person-0002": [7],
                         "person-0003": [7], "person-0004": [7]}, found


HELD_AFTER_CRASHES = (
    "UPDATE outbox SET state = 'HELD', next_try_at = NULL, claimed_at = 1,"
    " held_from = 'UNKNOWN', held_why = 'crash', possible_copies = 5, crashes = 5"
    " WHERE id IN (1, 2)")


def held_after_crashes(tap):
    """a message held after crashes is explained, and released once more or dropped"""
    with queued_instance(tap, "crashes") as (instance, relay):
        instance.change(HELD_AFTER_CRASHES)
        row = reported(instance, "queue", "list")[0]
        assert (row["possible_copies"], row["crashes"], row["held_why"]) == (
            5, 5, "crash"), row
        shown = instance.ctl("queue", "show", "1")
        assert "paperboyd was killed each time" in shown, shown
        assert "5 may have arrived; killed while sending: 5" in shown, shown
        problems = instance.ctl("status", wanted=(0, 1, 2))
        assert "queue release tries once more" in " ".join(problems.split()), problems
        said = instance.ctl("queue", "drop", "1", "--yes")
        assert "message 1: dropped; its papers count as read" in said, said
        said = instance.ctl("queue", "release", "2", now=at_hour(DAY, 9))
        assert "may have arrived" in said, said
        instance.once(at_hour(DAY, 9), wanted=OK)
        assert state_of(instance, 1) == "CANCELLED" and state_of(instance, 2) == "SENT"
        assert "person-0001@example.org" not in [who for who, _, _ in relay.arrived]


def releases(tap):
    """a released message goes out; one whose papers are all too old is cancelled"""
    with queued_instance(tap, "releases") as (instance, relay):
        instance.ctl("queue", "hold", "all")
        instance.once(at_hour(DAY, 9), wanted=OK)
        assert relay.arrived == [] and instance.states() == {"HELD": 4}
        assert "held; not changed" in instance.ctl("queue", "hold", "1", wanted=DATA)
        instance.ctl("queue", "release", "1", now=at_hour(days_after(DAY, 5)))
        # queued again, or it would expire at the first failure
        relay.act = lambda verb, _: LATER if verb == "RCPT" else None
        instance.set(sources__hf__enabled=False)
        instance.once(at_hour(days_after(DAY, 5)), wanted=TEMPFAIL)
        assert state_of(instance, 1) == "DEFERRED"
        relay.act = lambda verb, _: None
        instance.once(at_hour(days_after(DAY, 5), 12), wanted=OK)
        assert [who for who, _, _ in relay.arrived] == ["person-0001@example.org"]
        edge = at_hour(days_after(DAY, 30))
        said = instance.ctl("queue", "release", "2", now=edge)
        assert "message 2: due now" in said, said
        over = at_hour(days_after(DAY, 31))
        said = instance.ctl("queue", "release", "3", now=over)
        assert "message 3: cancelled: a digest older than 30 days" in said, said
        assert state_of(instance, 3) == "CANCELLED"
        said = instance.ctl("queue", "release", "3", wanted=DATA)


def relay_is_tried(tap):
    """a retry lets a running daemon try a relay that it had given up for a while"""
    with queued_instance(tap, "tried") as (instance, relay):
        relay.act = lambda verb, _: b"421 4.3.2 closed\r\n" if verb == "CONNECT" else None
        with instance.start() as child:
            child.wait_line("relay failed")
            child.wait_fact(
                lambda: (reported(instance, "status", wanted=(0, 1, 2))["relay"] or "").startswith(
                    "does not accept mail"), "what the daemon says of the relay")
            said = instance.ctl("status", wanted=2)
            assert "relay        does not accept mail, next attempt in" in said and "421 4.3.2" in said, said
            assert "paperboyctl queue retry all" in said
            relay.act = lambda verb, _: None
            instance.ctl("queue", "retry", "all")
            child.wait_fact(lambda: instance.states() == {"SENT": 4}, "an end of sending")
            child.wait_fact(lambda: "relay        accepts mail" in instance.ctl("status"),
                            "the relay's state")


# ---- digests ----------------------------------------------------------------


def content(tap):
    """digest show --raw prints the bytes that relay and Maildir got"""
    with SmtpSink(tap.subdirectory("sink")) as sink:
        maildir = os.path.join(tap.directory, "octets-mail")
        for name, where in (("smtp", {"port": sink.port}), ("mail", {"maildir": maildir})):
            instance = Instance(tap.subdirectory(f"octets-{name}"), **where)
            instance.write_day(DAY, range(4))
            instance.add_person("ada@example.org", "--name", "Ada Größe",
                             now=at_hour(DAY, 6))
            instance.once(at_hour(DAY), wanted=OK)
            for _ in range(2):  # also after a restart
                raw = raw_of(instance, "1")
                if name == "smtp":
                    (message,) = sink.wait_messages(1)
                    assert message.raw == raw, (message.raw, raw)
                else:
                    (path,) = glob.glob(os.path.join(maildir, "new", "*"))
                    lines = read(path).split(b"\n", 2)
                    assert lines[0].startswith(b"Return-Path: ")
                    assert lines[1].startswith(b"Delivered-To: ")
                    assert lines[2].replace(b"\n", b"\r\n") == raw
                instance.once(at_hour(DAY, 9), wanted=OK)


def raw_of(instance, number, note=b""):
    ctl = os.path.join(os.path.dirname(instance.daemon), "paperboyctl")
    done = subprocess.run([ctl, "-c", instance.config, "--now", at_hour(DAY, 12), "digest",
                           "show", number, "--raw"],
                          capture_output=True, check=True, timeout=300)
    assert (note in done.stderr) if note else done.stderr == b"", done.stderr
    return done.stdout


def difference_from_sent_bytes(tap):
    """digest show notes when the bytes differ from those sent"""
    with queued_instance(tap, "honest", people=3) as (instance, _):
        first = raw_of(instance, "1")
        instance.once(at_hour(DAY, 12), wanted=OK)
        assert raw_of(instance, "1") == first
        # the paper has changed meanwhile
        instance.change("UPDATE paper SET title = 'Retitled' WHERE seq = 1")
        assert raw_of(instance, "1", b"a paper or the subscriber's name has changed") != first
        instance.change("UPDATE paper SET title = 'Made-up paper number 0'"
                        " WHERE seq = 1")
        assert raw_of(instance, "1") == first
        instance.set(mail__from_name="Another")
        assert raw_of(instance, "1", b"templates or settings have changed") != first
        instance.change("DELETE FROM outbox WHERE id = 1")
        raw_of(instance, "1", b"record is deleted")
        instance.set(mail__from_name=None)


def digests(tap):
    """digest list lists all or one address, newest first"""
    with queued_instance(tap, "digests") as (instance, _):
        rows = reported(instance, "digest", "list")
        assert [row["digest"] for row in rows] == [4, 3, 2, 1], rows
        assert rows[0]["message"] == "DEFERRED" and rows[0]["papers"] == 3
        rows = reported(instance, "digest", "list", "--address", "person-0002@example.org")
        assert [row["recipient"] for row in rows] == ["person-0002@example.org"]
        assert len(reported(instance, "digest", "list", "--limit", "1")) == 1
        assert len(reported(instance, "digest", "list", "--limit", "10000")) == 4
        for limit in ("0", "-1", "10001"):
            said = instance.ctl("digest", "list", "--limit", limit, wanted=DATA)
            assert "from 1 to 10000" in said, said
        table = instance.ctl("digest", "list").splitlines()
        assert table[0].split() == [
            "DIGEST", "DATE", "MESSAGE", "PAPERS", "CREATED", "RECIPIENT"], table
    empty = Instance(tap.subdirectory("nodigests"))
    assert "No digests yet" in empty.ctl("digest", "list")


# ---- sources ----------------------------------------------------------------


def sources(tap):
    """source list shows state, pause and error of each source"""
    instance = Instance(tap.subdirectory("sources"))
    assert "on, not polled yet" in instance.ctl("source", "list")
    instance.write_day(DAY, range(3))
    instance.ctl("source", "fetch", "hf", now=at_hour(DAY))
    said = instance.ctl("source", "list", now=at_hour(DAY))
    for words in ("on, ok", "last good    2026-11-20 08:00 UTC",
                  "newest day   2026-11-20, with 3 papers", "if paperboyd runs"):
        assert words in said, (words, said)
    assert "on, LATE" in instance.ctl("source", "list", now=at_hour(days_after(DAY, 1)))
    said = instance.ctl("source", "fetch", "arxive", wanted=NOUSER)
    assert "no enabled source 'arxive' (enabled: hf)" in said, said
    instance.set(sources__hf__url="http://127.0.0.1:1/")
    instance.ctl("source", "fetch", now=at_hour(DAY, 9), wanted=TEMPFAIL)
    said = instance.ctl("source", "list", now=at_hour(DAY, 9))
    assert "on, FAILING" in said and "paused       until 2026-11-20 09:01 UTC" in said, said
    (row,) = reported(instance, "source", "list", now=at_hour(DAY, 9))
    assert row["on"] and row["error"] and row["paused_until"] == row["next_at"], row
    instance.set(sources__hf__enabled=False)
    (row,) = reported(instance, "source", "list")
    assert not row["on"] and row["next_at"] is None, row
    assert "state        off" in instance.ctl("source", "list")


def replays(tap):
    """replay fetches a past day; only new and recent papers are mailed"""
    maildir = os.path.join(tap.directory, "replays-mail")
    instance = Instance(tap.subdirectory("replays"), maildir=maildir)
    old = days_after(DAY, -20)
    instance.write_day(DAY, [0])
    instance.add_person("ada@example.org", now=at_hour(days_after(DAY, -40), 6))
    instance.change("UPDATE subscription SET since_day = '2026-01-01'")
    instance.once(at_hour(DAY), wanted=OK)
    assert instance.value("SELECT count(*) FROM paper") == 1
    # a day that is no longer polled, with a paper that was mailed
    instance.write_day(old, [0, 1])
    counts = reported(instance, "source", "replay", "hf", old, now=at_hour(DAY, 9))
    assert counts["fetched"] == 1 and counts["new"] == 1 and counts["matches"] == 1
    assert instance.rows("SELECT day, count(*) FROM listing GROUP BY 1") == [
        (old, 2), (DAY, 1)]
    counts = reported(instance, "source", "replay", "hf", old, now=at_hour(DAY, 9))
    assert counts["new"] == 0 and counts["matches"] == 0, counts
    # one day too old to be mailed, from a file
    saved = os.path.join(tap.directory, "kept.json")
    instance.write_day("2026-10-21", [2])
    os.rename(os.path.join(instance.papers, "daily_papers-2026-10-21.json"), saved)
    counts = reported(instance, "source", "replay", "hf", days_after(DAY, -30), "--from", saved,
                  now=at_hour(DAY, 9))
    assert counts["new"] == 1, counts
    instance.once(at_hour(days_after(DAY, 1)), wanted=OK)
    mails = []
    for path in glob.glob(os.path.join(maildir, "new", "*")):
        mails.append(papers_of(read(path)))
    assert sorted(mails) == [[0], [1]], mails
    instance.once(at_hour(days_after(DAY, 2)), wanted=OK)
    assert len(glob.glob(os.path.join(maildir, "new", "*"))) == 2


def limits(tap):
    """more than delivery.per_day waits, the oldest first, across restarts"""
    maildir = os.path.join(tap.directory, "limited")
    instance = Instance(tap.subdirectory("limits"), maildir=maildir, delivery__per_day=3)
    instance.write_day(DAY, range(3))
    instance.add_people(8, now=at_hour(DAY, 6))

    def sent():
        return [number for (number,) in instance.rows(
            "SELECT id FROM outbox WHERE state = 'SENT' ORDER BY id")]

    for hour in (8, 9, 23):
        instance.once(at_hour(DAY, hour))
        assert sent() == [1, 2, 3], (hour, sent())
    now = at_hour(DAY, 23)
    text = instance.ctl("status", now=now, wanted=(0, 1, 2))
    assert "3 of 3 messages in 24 hours" in text and "mail waits until" in text, text
    assert reported(instance, "status", now=now, wanted=(0, 1, 2))["limits"] == {
        "per_hour": 0, "sent_in_hour": 0, "per_day": 3, "sent_in_day": 3,
        "next_in_day": instance.value("SELECT max(ended_at) / 300 FROM outbox") * 300
                       + 86400 + 300}
    instance.once(at_hour(days_after(DAY, 1), 7))
    assert sent() == [1, 2, 3]
    # The limit of today is taken by the rest of yesterday's.
    instance.once(at_hour(days_after(DAY, 1), 9))
    assert sent() == [1, 2, 3, 4, 5, 6]
    instance.set(delivery__per_day=None, smtp__host="smtp.gmail.com")
    assert reported(instance, "status", now=at_hour(days_after(DAY, 1), 9), wanted=(0, 1, 2))[
        "limits"]["per_day"] == 2000  # of Workspace
    secret = write(os.path.join(tap.directory, "secret"), "secret\n", 0o600)
    instance.set(smtp__user="papers@Gmail.com", smtp__password_file=secret)
    assert reported(instance, "status", now=at_hour(days_after(DAY, 1), 9), wanted=(0, 1, 2))[
        "limits"]["per_day"] == 500
    instance.set(smtp__user=None)
    instance.once(at_hour(days_after(DAY, 1), 9, 1))
    assert len(sent()) == 8
    slow = Instance(tap.subdirectory("slow"), maildir=os.path.join(tap.directory, "slowly"),
                    delivery__per_hour=2)
    slow.write_day(DAY, range(3))
    slow.add_people(8, now=at_hour(DAY, 6))
    slow.once(at_hour(DAY, 8))
    text = slow.ctl("status", now=at_hour(DAY, 8), wanted=(0, 1, 2))
    assert "1 of 2 messages in an hour" in text, text
    assert "spreads new messages over 210 minutes, the oldest first" in text, text
    assert slow.rows("SELECT id FROM outbox WHERE state = 'SENT'") == [(1,)]


def bad_replays(tap):
    """an invalid day or file is reported, and nothing is recorded"""
    instance = Instance(tap.subdirectory("bad-replays"))
    bad = os.path.join(tap.directory, "bad.json")
    save(bad, "[{")
    instance.ctl("queue")
    for arguments, status, words in (
        (["hf", "2026-11-21"], DATA, "is not a past day"),
        (["hf", "2026-02-30"], DATA, "is not a date"),
        (["hf", "yesterday"], DATA, "is not a past day"),
        (["hf", "2026-10-01"], NOUSER, "source hf has no day"),
        (["nobody", "2026-10-01"], NOUSER, "no enabled source"),
        (["hf", "2026-10-01", "--from", bad], DATA, "bad.json"),
        (["hf", "2026-10-01", "--from", "/nonexistent"], NOUSER, "/nonexistent"),
    ):
        said = instance.ctl("source", "replay", *arguments, now=at_hour(DAY), wanted=status)
        assert words in said, (arguments, said)
    assert instance.value("SELECT count(*) FROM source_fetch") == 0


with Tap() as tap:
    for test in (
        lists, stored_messages, retries, sending_is_left_alone, drops, held_after_crashes, releases,
        relay_is_tried, content, difference_from_sent_bytes, digests, sources, replays, bad_replays,
        limits,
    ):
        tap.run(test, tap)
