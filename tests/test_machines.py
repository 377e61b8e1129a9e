#!/usr/bin/env python3
"""test_machines.py - the commands of paperboy-machines(7), executed as documented.

Only hosts' keys are added.  Each machine has namespaces of its own; systemctl and ssh are
replaced, since there is neither systemd nor sshd (tests/lib/installation.py).
"""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

from clock import DAY
from daemon import at_hour, days_after, papers_of, parse
from installation import STATE, USER
from recipe import Recipe
from tap import Skip, Tap, need_programs, run, wait_until


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
    for name in ("service", "timer"):
        unit = f"paperboy-backup.{name}"
        text = recipe.two.read(f"/etc/systemd/system/{unit}")
        with open(os.path.join(directory, unit), "w", encoding="utf-8") as file:
            file.write(text)
    said = run([analyze, "verify", os.path.join(directory, "paperboy-backup.timer")],
               check=False)
    assert "paperboy-backup" not in said, said
    (when,) = re.findall(r"^OnCalendar=(.*)$", text, re.M)
    assert "Next elapse" in run([analyze, "calendar", when])


def set_up(tap, recipe):
    """a standby fetches backups, with a key that allows nothing else"""
    one, two = recipe.one, recipe.two
    recipe.configure()
    one.start()
    for name in ("ada", "cleo"):
        add(one, f"{name}@example.org")
    recipe.wait_mails(2)
    recipe.follow(1)  # a key
    public = two.read("/etc/paperboy/backup-key.pub").strip()
    recipe.follow(2, {"ssh-ed25519 AAAA... backup": public})
    recipe.follow(3)  # units
    assert two.enabled == {"paperboy-backup.timer"}, two.enabled
    two.start_service("paperboy-backup.service")
    found = two.run("ls -l /var/backups/paperboy")
    assert re.search(rf"^-rw------- 1 {USER} {USER} .* latest$", found, re.M), found


def take_over(recipe):
    """it takes over: what may have been sent is held until it is released"""
    one, two = recipe.one, recipe.two
    one.run("paperboyctl subscriber forget cleo@example.org --yes")
    add(one, "eva@example.org")
    recipe.wait_mails(3)
    one.stop()
    recipe.write_day(1, [11])
    recipe.installation.clock.set(at_hour(days_after(DAY, 1), 12))
    one.start()  # sends a digest that the backup does not know
    recipe.wait_mails(5)
    one.stop()

    recipe.follow(1)
    assert two.enabled == {"paperboyd"}, two.enabled
    assert two.read(f"{STATE}/key") == one.read(f"{STATE}/key")
    people = two.run("paperboyctl subscriber list")
    assert "cleo@example.org" in people and "eva@example.org" not in people, people
    wait_held(two, 2)
    add(two, "bob@example.org")
    recipe.wait_mails(6)  # new mail is sent
    recipe.follow(1)
    found = recipe.wait_mails(8)
    for person, papers, copies in (("ada", [1], 1), ("ada", [11], 2), ("eva", [11], 1),
                                   ("cleo", [11], 1), ("bob", [1, 11], 1)):
        mails = [parse(raw) for to, raw in found
                 if to == f"{person}@example.org" and papers_of(raw) == papers]
        assert len(mails) == copies, (person, papers, len(mails))
        assert len({mail["Message-ID"] for mail in mails}) == 1, mails


def go_back(recipe):
    """back on the first machine, which carries over what was erased there"""
    recipe.follow(3)
    one, two = recipe.one, recipe.two
    assert (one.enabled, two.enabled) == ({"paperboyd"}, {"paperboy-backup.timer"})
    people = one.run("paperboyctl subscriber list")
    assert "bob@example.org" in people and "cleo@example.org" not in people, people
    two.start_service("paperboy-backup.service")
    assert not recipe.blocks, recipe.blocks


def standby(tap):
    recipe = Recipe(tap, "A STANDBY")
    tap.run(set_up, tap, recipe)
    tap.run(check_units, tap, recipe)
    tap.run(take_over, recipe)
    tap.run(go_back, recipe)


def main():
    with Tap() as tap:
        try:
            standby(tap)
        except Skip as reason:
            tap.skip("paperboy-machines(7)", reason)


main()
