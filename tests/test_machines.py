#!/usr/bin/env python3
"""test_machines.py - the commands of paperboy-machines(7), executed as documented.

Only hosts' keys are added.  Each machine has namespaces of its own; systemctl and ssh are
replaced, since there is neither systemd nor sshd (tests/lib/installation.py).
"""

import json
import os
import re

import lib  # the path
from clock import DAY
from daemon import at_hour, days_after, papers_of, parse
from installation import STATE, USER
from recipe import ONE, TWO, Recipe
from tap import Skip, Tap, need_programs, run, save, wait_until


def add(machine, address):
    machine.run(f"paperboyctl subscriber add {address} --filter paper"
                " --consent 'asked for it'")


def wait_held(machine, count):
    def is_held():
        listed = machine.run("paperboyctl --json queue list --state HELD")
        return len(json.loads(listed)) == count

    wait_until(is_held, f"{count} messages are held")


def check_units(tap, recipe):
    """systemd accepts the units of the manual"""
    (analyze,) = need_programs("systemd-analyze")
    directory = tap.subdirectory("units")
    for kind in ("service", "timer"):
        unit = f"paperboy-backup@.{kind}"
        text = recipe.two.read(f"/etc/systemd/system/{unit}")
        save(os.path.join(directory, unit), text)
    said = run([analyze, "verify",
                os.path.join(directory, f"paperboy-backup@{ONE}.timer")], check=False)
    assert "paperboy-backup" not in said, said
    (when,) = re.findall(r"^OnCalendar=(.*)$", text, re.M)
    assert "Next elapse" in run([analyze, "calendar", when])


def fetch(machine, other):
    return machine.start_service(f"paperboy-backup@{other.name}.service")


def units(*others):
    return {f"paperboy-backup@{name}.{kind}"
            for name in others for kind in ("service", "timer")}


def is_superseded(machine):
    return "another machine has a newer copy" in machine.run("paperboyctl status", (0, 1, 2))


def wait_superseded(machine):
    wait_until(lambda: "store superseded" in "\n".join(machine.daemon.lines),
               f"{machine.name} knows of a newer copy")


def begin_day(recipe, number, paper, *machines):
    """Start paperboyd of machines at noon of another day, with a new paper."""
    recipe.write_day(number, [paper])
    for machine in machines:
        machine.stop()
    recipe.installation.clock.set(at_hour(days_after(DAY, number), 12))
    for machine in machines:
        machine.start()


def check_copies(recipe, *expected):
    """@param expected  (person, papers, number of copies, with one Message-ID)"""
    for person, papers, copies in expected:
        mails = [parse(raw) for to, raw in recipe.mails()
                 if to == f"{person}@example.org" and papers_of(raw) == papers]
        assert len(mails) == copies, (person, papers, len(mails))
        assert len({mail["Message-ID"] for mail in mails}) <= 1, mails


def set_up(tap, recipe):
    """a standby fetches backups, with a key that allows nothing else"""
    one, two = recipe.one, recipe.two
    recipe.configure()
    one.start()
    for name in ("ada", "cleo"):
        add(one, f"{name}@example.org")
    recipe.wait_mails(2)
    one.enabled.add("paperboyd")
    recipe.follow(3)
    public = two.read("/etc/paperboy/backup-key.pub").strip()
    recipe.follow(1, {"ssh-ed25519 AAAA... backup": public})
    recipe.follow(4)  # units
    assert two.enabled == units(ONE), two.enabled
    fetch(two, one)
    found = two.run("ls -l /var/backups/paperboy")
    assert re.search(rf"^-rw------- 1 {USER} {USER} .* latest$", found, re.M), found
    fetch(one, two)  # has nothing newer
    found = one.run("ls -l /var/backups/paperboy")
    assert "latest" not in found and re.search(r"^-rw------- .* own$", found, re.M), found
    assert not is_superseded(one)


def take_over(recipe):
    """it takes over: what may have been sent is held until it is released"""
    one, two = recipe.one, recipe.two
    one.run("paperboyctl subscriber forget cleo@example.org --yes")
    add(one, "eva@example.org")
    recipe.wait_mails(3)
    begin_day(recipe, 1, 11, one)  # sends a digest that the backup does not know
    recipe.wait_mails(5)
    one.stop()
    one.is_cut_off = True

    recipe.begin("Taking over")
    recipe.blocks.pop(0)  # with the disk
    recipe.follow(1)
    assert two.enabled == {"paperboyd", *units(ONE)}, two.enabled
    assert two.read(f"{STATE}/key") == one.read(f"{STATE}/key")
    people = two.run("paperboyctl subscriber list")
    assert "cleo@example.org" in people and "eva@example.org" not in people, people
    wait_held(two, 2)
    add(two, "bob@example.org")
    recipe.wait_mails(6)  # new mail is sent
    recipe.follow(1)
    recipe.wait_mails(8)
    check_copies(recipe, ("ada", [1], 1), ("ada", [11], 2), ("eva", [11], 1),
                 ("cleo", [11], 1), ("bob", [1, 11], 1))


def boot_again(recipe):
    """a failed machine that boots again learns what has happened, and sends nothing"""
    one, two = recipe.one, recipe.two
    one.is_cut_off = False
    begin_day(recipe, 2, 12, one)
    wait_superseded(one)
    assert is_superseded(one)
    wait_until(lambda: len(json.loads(one.run("paperboyctl --json queue list"))) == 2,
               "digests are built")
    begin_day(recipe, 2, 12, two)
    recipe.wait_mails(11)
    one.run("paperboyctl queue retry all")
    check_copies(recipe, ("ada", [12], 1), ("cleo", [12], 1), ("bob", [12], 1),
                 ("eva", [12], 0))
    assert not is_superseded(two)


def go_back(recipe):
    """back on the first machine, which carries over what was erased there"""
    one, two = recipe.one, recipe.two
    recipe.begin("Going back")
    recipe.follow(2)
    assert not recipe.blocks, recipe.blocks
    assert one.enabled == {"paperboyd", *units(TWO)} and two.enabled == units(ONE)
    found = one.run("ls -l /var/backups/paperboy")
    assert re.search(rf"^-rw------- 1 {USER} {USER} .* latest$", found, re.M), found
    people = one.run("paperboyctl subscriber list")
    assert "bob@example.org" in people and "cleo@example.org" not in people, people
    assert is_superseded(two) and not is_superseded(one)
    fetch(two, one)
    add(one, "fay@example.org")
    recipe.wait_mails(12)


def copy_disk(recipe):
    """with the state directory of the failed machine nothing is lost, repeated or held"""
    one, two = recipe.one, recipe.two
    one.run("paperboyctl subscriber forget bob@example.org --yes")
    begin_day(recipe, 3, 13, one)
    recipe.wait_mails(14)
    wait_until(lambda: one.run("paperboyctl queue list") == "The queue is empty.\n",
               "results")
    one.kill()
    two.run("mkdir /root/disk; ssh root@one.example.org tar -C / -c var/lib/paperboy"
            " | tar -C /root/disk -xp")
    one.is_cut_off = True
    recipe.begin("Taking over")
    recipe.follow(1, {"/mnt": "/root/disk"})
    people = two.run("paperboyctl subscriber list")
    assert "fay@example.org" in people and "bob@example.org" not in people, people
    begin_day(recipe, 4, 14, two)
    recipe.wait_mails(16)
    check_copies(recipe, *((person, [paper], 1) for person in ("ada", "fay")
                           for paper in (13, 14)), ("fay", [1, 11, 12], 1))
    assert json.loads(two.run("paperboyctl --json queue list")) == []


def announce(recipe):
    """a machine that was cut off when it started learns from the other one"""
    one, two = recipe.one, recipe.two
    one.start()
    one.is_cut_off = False
    assert not is_superseded(one)
    fetch(two, one)
    assert is_superseded(one) and not is_superseded(two)
    add(one, "gil@example.org")
    wait_superseded(one)
    wait_until(lambda: "gil@example.org" in one.run("paperboyctl queue list"), "a digest")
    check_copies(recipe, ("gil", [1, 11, 12, 13], 0))
    recipe.begin("Going back")
    recipe.follow(2)
    assert is_superseded(two) and not is_superseded(one)


def release(recipe):
    """the operator decides which machine sends"""
    one, two = recipe.one, recipe.two
    two.start()
    before = len(recipe.mails())
    add(two, "hal@example.org")
    wait_superseded(two)
    wait_until(lambda: "hal@example.org" in two.run("paperboyctl queue list"), "a digest")
    assert len(recipe.mails()) == before
    two.run("paperboyctl queue release all", wanted=65)
    two.run("paperboyctl queue release all --yes")
    recipe.wait_mails(before + 1)
    assert not is_superseded(two)
    fetch(one, two)
    assert is_superseded(one)
    recipe.begin("Erased data")
    recipe.follow(1)
    for machine in (one, two):
        assert machine.run("ls /var/backups/paperboy; cd /var/lib;"
                           " ls -d paperboy?* paperboy/before-restore-*", 2).count(
                               "cannot access") == 2, machine.name


def standby(tap):
    recipe = Recipe(tap, "A STANDBY")
    tap.run(set_up, tap, recipe)
    tap.run(check_units, tap, recipe)
    for step in (take_over, boot_again, go_back, copy_disk, announce, release):
        tap.run(step, recipe)


with Tap() as tap:
    try:
        standby(tap)
    except Skip as reason:
        tap.skip("paperboy-machines(7)", reason)
