#!/usr/bin/env python3
#
# test_ctl_bounce.py - paperboyctl bounce, and the counts of bounces in other commands.

import calendar
import json
import time

import lib  # the path
from daemon import Instance, at_hour
from tap import Tap

OK, FAILING, NOUSER = 0, 2, 67
DAY = "2026-11-20"
NOW = at_hour(DAY, 12)
DEAD = "550 5.1.1 <ada@example.org>: no such user"
CLASSES = ("dead", "full", "temporary", "sender", "complaint")


def seconds(day, hour=9):
    return calendar.timegm(time.strptime(f"{day} {hour}", "%Y-%m-%d %H"))


def execute(instance, sql, *values):
    instance.change(sql, *values)


def add_bounce(instance, address, day, message, name="dead", line=DEAD):
    execute(
        instance,
        "INSERT INTO bounce (subscriber_id, message, at, class, is_scored, rule, status,"
        " code, agent, line) SELECT id, ?, ?, ?, ?, 'no-such-user', '5.1.1', 550,"
        " 'dns; mx.example.org', ? FROM subscriber WHERE address = ?",
        message, seconds(day), name, name in CLASSES[:3], line, address)


def suspend(instance, address):
    execute(instance, "UPDATE subscriber SET state = 'suspended', next_due_at = NULL"
            " WHERE address = ?", address)


def make_instance(tap, name, *addresses):
    instance = Instance(tap.subdirectory(name))
    for address in addresses:
        instance.add_person(address, now=at_hour("2026-11-01", 6))
    return instance


def ctl(instance, *words, now=NOW, wanted=OK):
    return instance.ctl(*words, now=now, wanted=wanted)


def ctl_json(instance, *words, **more):
    return json.loads(ctl(instance, "--json", *words, **more))


def list_counts_by_class(tap):
    """bounce list has a row per subscriber with evidence: counts and the last line"""
    instance = make_instance(tap, "list", "ada@example.org", "bob@example.org",
                             "eve@example.org")
    assert ctl(instance, "bounce", "list") == "No mail was returned.\n"
    assert ctl_json(instance, "bounce", "list") == []
    add_bounce(instance, "ada@example.org", "2026-11-18", "digest-1")
    add_bounce(instance, "ada@example.org", "2026-11-19", "digest-2", line="552 later")
    add_bounce(instance, "eve@example.org", "2026-11-17", "mail-3", "full")
    rows = ctl_json(instance, "bounce", "list")
    assert [row["address"] for row in rows] == ["ada@example.org", "eve@example.org"]
    assert rows[0]["dead"] == 2 and rows[1]["full"] == 1, rows
    assert rows[0]["last_line"] == "552 later" and rows[1]["state"] == "active", rows
    assert rows[0]["last_at"] == seconds("2026-11-19"), rows
    lines = ctl(instance, "bounce", "list").splitlines()
    assert lines[0].split() == ["ADDRESS", "STATE", *map(str.upper, CLASSES), "LAST",
                                "LINE"], lines
    assert "552 later" in lines[1] and len(lines) == 3, lines


def list_is_paged(tap):
    """more subscribers than a page are all listed"""
    instance = make_instance(tap, "pages", "ada@example.org")
    execute(instance, "WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n"
            " WHERE i < 1203) INSERT INTO subscriber (id, address, address_key, state,"
            " frequency, weekdays, minute, zone, max_full, created_at, consent_at,"
            " consent_text, next_due_at) SELECT i, i || '@a.example', i || '@a.example',"
            " 'active', 'daily', 127, 0, 'UTC', 20, 1, 1, 'asked', 1 FROM n")
    execute(instance, "INSERT INTO bounce (subscriber_id, message, at, class, is_scored,"
            " rule) SELECT id, 'digest-1', 5, 'dead', 1, 'x' FROM subscriber")
    assert len(ctl_json(instance, "bounce", "list")) == 1203


def show_explains_what_follows(tap):
    """bounce show lists the bounces and states what happens next"""
    instance = make_instance(tap, "show", "ada@example.org")

    def next_step(wanted, now=NOW):
        shown = ctl_json(instance, "bounce", "show", "ada@example.org", now=now)
        assert wanted in shown["next"], shown
        assert f"next         {shown['next']}\n" in ctl(
            instance, "bounce", "show", "ada@example.org", now=now)
        return shown

    assert next_step("nothing counts against the address")["bounces"] == []
    add_bounce(instance, "ada@example.org", "2026-11-17", "digest-1", "full", "552 full")
    next_step("if mail is returned for 28 days")
    add_bounce(instance, "ada@example.org", "2026-11-18", "digest-2")
    add_bounce(instance, "ada@example.org", "2026-11-19", "digest-3", "sender", "spam?")
    add_bounce(instance, "ada@example.org", "2026-11-20", "digest-4")
    shown = next_step("a probe message is sent by 2026-11-21; if it is returned")
    assert [row["class"] for row in shown["bounces"]] == [
        "full", "dead", "sender", "dead"], shown
    assert [row["is_counted"] for row in shown["bounces"]] == [True, True, False, True]
    assert shown["bounces"][1] == {
        "at": seconds("2026-11-18"), "class": "dead", "is_counted": True,
        "message": "digest-2", "status": "5.1.1", "code": 550, "rule": "no-such-user",
        "agent": "dns; mx.example.org", "line": DEAD}, shown
    execute(instance, "INSERT INTO bounce_probe VALUES (1, 9, ?)", seconds("2026-11-21"))
    shown = next_step("otherwise the evidence is cleared by 2026-11-27",
                      now=at_hour("2026-11-21", 12))
    assert shown["probe_at"] == seconds("2026-11-21"), shown
    add_bounce(instance, "ada@example.org", "2026-11-21", "mail-9")
    next_step("was returned: the subscriber is suspended by 2026-11-22",
              now=at_hour("2026-11-22", 1))
    suspend(instance, "ada@example.org")
    next_step("nothing is sent until the subscriber writes")
    # Evidence decays after 45 days.
    shown = next_step("nothing is sent", now=at_hour("2027-01-10", 12))
    assert not any(row["is_counted"] for row in shown["bounces"]), shown
    ctl(instance, "bounce", "show", "none@example.org", wanted=NOUSER)


def an_outage_stops_decisions(tap):
    """bounce show names the outage of a provider"""
    people = [f"p{i}@big.example" for i in range(12)]
    instance = make_instance(tap, "outage", *people)
    for address in people:
        add_bounce(instance, address, "2026-11-18", "digest-1")
        add_bounce(instance, address, "2026-11-19", "digest-2")
    shown = ctl_json(instance, "bounce", "show", people[0])
    assert "nobody there is probed or suspended" in shown["next"], shown
    assert (shown["domain_bounced"], shown["domain_subscribers"]) == (12, 12), shown
    assert "domain       12 of 12 subscribers bounced within a week\n" in ctl(
        instance, "bounce", "show", people[0])


def cleared_evidence_restores(tap):
    """bounce forget clears evidence and probe, restores, and is in the audit log"""
    instance = make_instance(tap, "forget", "ada@example.org", "bob@example.org")
    for address in ("ada@example.org", "bob@example.org"):
        add_bounce(instance, address, "2026-11-18", "digest-1")
        add_bounce(instance, address, "2026-11-19", "digest-2")
    execute(instance, "INSERT INTO bounce_probe VALUES (1, 9, 5)")
    suspend(instance, "ada@example.org")
    done = ctl_json(instance, "bounce", "forget", "ada@example.org")
    assert done == {"address": "ada@example.org", "restored": True}, done
    shown = ctl_json(instance, "bounce", "show", "ada@example.org")
    assert shown["state"] == "active" and shown["probe_at"] is None, shown
    assert [row["is_counted"] for row in shown["bounces"]] == [False, False], shown
    ada = ctl_json(instance, "subscriber", "show", "ada@example.org")
    assert ada["state"] == "active" and ada["next_due_at"], ada
    assert "digests are sent again" not in ctl(
        instance, "bounce", "forget", "bob@example.org")
    log = [(row["who"].split()[0], row["what"], row["address"])
           for row in ctl_json(instance, "log")]
    assert ("operator", "subscriber restored", "ada@example.org") in log, log
    for address in ("ada@example.org", "bob@example.org"):
        assert ("operator", "bounces forgotten", address) in log, log
    assert ctl(instance, "bounce", "forget", "none@example.org", wanted=NOUSER)


def other_commands_count_bounces(tap):
    """subscriber show, status and metrics count bounces, domains and pauses"""
    instance = make_instance(tap, "counts", "ada@example.org", "bob@example.org",
                             *[f"p{i}@big.example" for i in range(10)])
    none = dict.fromkeys(CLASSES, 0)
    assert "bounces      none in the last 7 days\n" in ctl(
        instance, "status", wanted=FAILING)
    assert ctl_json(instance, "subscriber", "show", "ada@example.org")["bounces"] == none
    assert "bounces" not in ctl(instance, "subscriber", "show", "ada@example.org")
    add_bounce(instance, "ada@example.org", "2026-10-19", "digest-1")
    add_bounce(instance, "ada@example.org", "2026-11-19", "digest-2")
    add_bounce(instance, "ada@example.org", "2026-11-18", "digest-3", "sender")
    for i in range(10):
        add_bounce(instance, f"p{i}@big.example", "2026-11-19", "digest-2", "full")
    suspend(instance, "bob@example.org")
    execute(instance, "INSERT INTO domain_pause VALUES ('strict.example', 1, ?,"
            " 'reverse-dns', '550 no PTR')", seconds(DAY, 13))
    execute(instance, "INSERT INTO domain_pause VALUES ('over.example', 1, ?,"
            " 'policy', '550 no')", seconds(DAY, 10))

    ada = ctl_json(instance, "subscriber", "show", "ada@example.org")
    assert ada["bounces"] == none | {"dead": 2, "sender": 1}, ada
    assert ("bounces      2 dead, 1 sender; last 2026-11-19 09:00 UTC: see paperboyctl"
            " bounce show\n") in ctl(instance, "subscriber", "show", "ada@example.org")
    status = ctl_json(instance, "status", wanted=FAILING)
    assert status["people"]["suspended"] == 1, status
    assert status["bounces"] == none | {
        "dead": 1, "sender": 1, "full": 10,
        "domains": [{"domain": "big.example", "bounced": 10, "subscribers": 10}],
        "paused": [{"domain": "strict.example", "since": 1,
                    "until": seconds(DAY, 13), "rule": "reverse-dns",
                    "reply": "550 no PTR"}]}, status["bounces"]
    problems = {row["check"]: row for row in status["problems"]}
    assert "(550 no PTR)" in problems["domain-paused"]["text"], problems
    assert "PTR record" in problems["domain-paused"]["action"], problems
    assert "10 of 10" in problems["provider-outage"]["text"], problems
    shown = ctl(instance, "status", wanted=FAILING)
    for line in ("bounces      1 dead, 10 full, 1 sender in the last 7 days: see"
                 " paperboyctl bounce list\n             10 of 10 subscribers at"
                 " big.example\nPAUSED       strict.example until 2026-11-20 13:00 UTC\n",
                 ", 1 suspended;"):
        assert line in shown, shown
    metrics = ctl(instance, "metrics").splitlines()
    for line in ('bounces_last_week{class="dead"} 1', 'bounces_last_week{class="full"} 10',
                 'bounces_last_week{class="complaint"} 0',
                 'bounced_subscribers{domain="big.example"} 10', "paused_domains 1",
                 'subscribers{state="suspended"} 1', 'problems{check="domain-paused"} 1',
                 'problems{check="provider-outage"} 1'):
        assert f"paperboy_{line}" in metrics, metrics


with Tap() as tap:
    tap.run(list_counts_by_class, tap)
    tap.run(list_is_paged, tap)
    tap.run(show_explains_what_follows, tap)
    tap.run(an_outage_stops_decisions, tap)
    tap.run(other_commands_count_bounces, tap)
    tap.run(cleared_evidence_restores, tap)
