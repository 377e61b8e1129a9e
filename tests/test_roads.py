#!/usr/bin/env python3
"""test_roads.py - letters that real mail servers hand in, by every road there is.

A Postfix delivers by LMTP, by a pipe to paperboyctl receive, and through a Dovecot
into a Maildir: the same letters end as equal rows.
"""

import os
import re
import smtplib
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

from daemon import House
from letters import letters
from peers import Dovecot, Postfix, make_ca
from tap import Tap, top_builddir, wait_until

COUNT = 200
SENDER = "eva@people.example"
TAGGED = "paperboy+r-mfrggzdf"
ROADS = ("lmtp", "pipe", "maildir")
TRACES = rb"(?mi)^(received|return-path|delivered-to|x-original-to):.*(\n[ \t].*)*\n"

# user= may be nobody who has to do with the mail system itself
PIPE = """\
paperboy  unix - n n - - pipe flags=DR user=nobody:mail
  argv={ctl} -c {config} --now {now} receive --recipient ${{original_recipient}} --sender ${{sender}}
"""


def reader():
    return os.path.join(top_builddir(), "paperboy-letter")


def new_house(tap, name, **settings):
    return House(tap.subfolder(name), maildir=os.path.join(tap.folder, name, "out"),
                 **{"mailbox__reader": reader(), "huggingface__enabled": True} | settings)


class Post:
    """Three houses, a road to each; or one house with all roads."""

    def __init__(self, tap, name, reader_path, is_one):
        self.folder = tap.subfolder(name)
        self.dovecot_mail = os.path.join(self.folder, "dovecot", "mail", "example.org")
        sockets = {road: os.path.join(self.folder, f"{road}.sock") for road in ROADS}
        # Dovecot puts the tagged address into the Maildir of the plain one
        inbox = os.path.join(self.dovecot_mail, "paperboy")
        # where Dovecot tells what RCPT said
        field = {"mailbox__recipient_header": "Delivered-To"}
        if is_one:
            house = new_house(
                tap, name + "-house", mailbox__lmtp_socket=sockets["lmtp"],
                mailbox__lmtp_group="postfix", mailbox__maildir=inbox,
                mailbox__reader=reader_path, **field)
            self.houses = dict.fromkeys(ROADS, house)
            # what the group of Postfix may write to, a pipe's user may not
            sockets["pipe"] = sockets["lmtp"]
        else:
            self.houses = {
                "lmtp": new_house(
                    tap, name + "-lmtp", mailbox__lmtp_socket=sockets["lmtp"],
                    mailbox__lmtp_group="postfix", mailbox__reader=reader_path),
                "pipe": new_house(
                    tap, name + "-pipe", mailbox__lmtp_socket=sockets["pipe"],
                    mailbox__lmtp_group="mail", mailbox__reader=reader_path),
                "maildir": new_house(
                    tap, name + "-maildir", mailbox__maildir=inbox,
                    mailbox__reader=reader_path, **field),
            }
        ca = make_ca(self.folder)
        os.makedirs(os.path.join(self.folder, "dovecot"))
        self.dovecot = tap.enter(Dovecot(
            os.path.join(self.folder, "dovecot"), ca,
            extra="protocol lmtp {\n  lmtp_save_to_detail_mailbox = no\n}\n"))
        transports = {
            "lmtp.example": f"lmtp:unix:{sockets['lmtp']}",
            "pipe.example": "paperboy:",
            "example.org": f"lmtp:unix:{self.dovecot.lmtp}",
        }
        listed = ", ".join(f"{{{name} = {value}}}" for name, value in transports.items())
        os.makedirs(os.path.join(self.folder, "postfix"))
        self.postfix = tap.enter(Postfix(
            os.path.join(self.folder, "postfix"), ca, lmtp=self.dovecot.lmtp,
            settings={"transport_maps": f"inline:{{{listed}}}",
                      "paperboy_destination_recipient_limit": "1",
                      "message_size_limit": "10485760"},
            services=PIPE.format(
                ctl=os.path.join(os.path.abspath(top_builddir()), "paperboyctl"),
                config=self.houses["pipe"].config,
                now=self.houses["pipe"].clock.now())))
        self.daemons = {id(house): house for house in self.houses.values()}
        self.children = {key: tap.enter(house.start())
                         for key, house in self.daemons.items()}
        for road in set(ROADS[:1] if is_one else ROADS) - {"maildir"}:
            self.children[id(self.houses[road])].wait_file(sockets[road])

    def send(self, raws, domains=("lmtp.example", "pipe.example", "example.org")):
        with smtplib.SMTP("127.0.0.1", self.postfix.port) as smtp:
            for raw in raws:
                smtp.sendmail(SENDER, [f"{TAGGED}@{domain}" for domain in domains], raw,
                              ["BODY=8BITMIME"])

    def wait(self, road, count, state, deadline_s=120):
        house = self.houses[road]
        self.children[id(house)].wait_fact(
            lambda: house.value("SELECT count(*) FROM letter WHERE state = ?", state)
            >= count, f"{count} letters {state} by {road}", deadline_s)


def bare(raw):
    """A letter without what the roads add."""
    return re.sub(TRACES, b"", raw.replace(b"\r\n", b"\n")).rstrip(b"\n")


def rows_of(house):
    return {
        key: (sender, recipient.split("@")[0] if recipient else None, bare(raw))
        for key, sender, recipient, raw in house.rows(
            "SELECT key, sender, recipient, raw FROM letter WHERE state = 'new'")
    }


def every_road_gives_equal_rows(tap):
    """200 letters of all kinds by LMTP, a pipe and a Maildir end as equal rows"""
    post = Post(tap, "equal", "/nonexistent/reader", is_one=False)
    sent = letters(COUNT)
    post.send(sent)
    for road in ROADS:
        post.wait(road, COUNT, "new")
    rows = {road: rows_of(post.houses[road]) for road in ROADS}
    assert len(rows["lmtp"]) == COUNT, len(rows["lmtp"])
    assert {row[2] for row in rows["lmtp"].values()} == {bare(raw) for raw in sent}
    for road in ROADS[1:]:
        assert rows[road].keys() == rows["lmtp"].keys(), f"{road}: other keys"
        for key, row in rows[road].items():
            wanted = rows["lmtp"][key]
            assert row[1:] == wanted[1:], (road, row, wanted)
            # a Maildir does not tell the sender; its Return-Path does
            assert row[0] == (None if road == "maildir" else SENDER), (road, row[0])
    assert {row[1] for row in rows["lmtp"].values()} == {TAGGED}
    # no try was counted while the reader was not there
    for road in ROADS:
        house = post.houses[road]
        assert house.value("SELECT sum(tries) FROM letter") == 0
        house.set(mailbox__reader=reader())
        house.ctl("reload")
    for road in ROADS:
        post.wait(road, COUNT, "done")
    ends = [
        post.houses[road].rows(
            "SELECT key, state, tries, verdict, sender, recipient, raw FROM letter"
            " ORDER BY key") for road in ROADS]
    assert ends[0] == ends[1] == ends[2]
    assert all(row[1:] == ("done", 0, "no handler", None, None, None) for row in ends[0])
    inbox = os.path.join(post.dovecot_mail, "paperboy")
    assert os.listdir(os.path.join(inbox, "new")) == []
    seen = os.listdir(os.path.join(inbox, "cur"))
    assert len(seen) == COUNT and all(name.endswith(":2,S") for name in seen)


def all_roads_count_once(tap):
    """the same letters by two roads into one house count once each"""
    post = Post(tap, "once", reader(), is_one=True)
    post.send(letters(30), ("lmtp.example", "example.org"))
    post.postfix.wait_empty(60)
    inbox = os.path.join(post.dovecot_mail, "paperboy")
    wait_until(lambda: len(os.listdir(os.path.join(inbox, "cur"))) == 30, "all seen")
    post.wait("lmtp", 30, "done")
    assert post.houses["lmtp"].value("SELECT count(*) FROM letter") == 30


def away_means_later(tap):
    """while the daemon is away Postfix keeps the letters; then they come"""
    post = Post(tap, "away", reader(), is_one=False)
    daemons = [post.children[id(post.houses[road])] for road in ("lmtp", "pipe")]
    for daemon in daemons:
        daemon.wait_line("started")
        assert daemon.stop() == 0
    post.send(letters(3), ("lmtp.example", "pipe.example"))
    post.postfix.wait_queued(3)
    wait_until(lambda: sum(" status=deferred " in line for line in post.postfix.log) >= 6,
               "six deferrals")
    assert not any(" status=bounced " in line for line in post.postfix.log)
    for road in ("lmtp", "pipe"):
        house = post.houses[road]
        post.children[id(house)] = tap.enter(house.start())
        post.children[id(house)].wait_line("started")
    post.postfix.flush()
    for road in ("lmtp", "pipe"):
        post.wait(road, 3, "done")
    post.postfix.wait_empty(60)


with Tap() as tap:
    tap.run(every_road_gives_equal_rows, tap)
    tap.run(all_roads_count_once, tap)
    tap.run(away_means_later, tap)
