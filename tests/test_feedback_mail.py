#!/usr/bin/env python3
"""test_feedback_mail.py - a reader answers papers by mail, and later digests follow.

Mail comes and goes through Maildirs; the links are those of the digests.
"""

import email.message
import email.policy
import email.utils
import json
import os
import re
import urllib.parse

import lib  # the path
from clock import DAY
from conversations import PARSER
from daemon import Instance, at_hour, days_after
from paperserver import element
from tap import Tap, save

HOME, EVA = "paperboy@news.example", "eva@home.example"
TITLES = ("Speech of birds", "Speech of children", "Vision of birds", "Vision in space")
LATER = ("Agents for vision", "Agents for speech", "Agents see by vision",
         "Agents hear speech", "Agents prove")
ORDER = ("SELECT p.title FROM digest_item i JOIN paper p ON p.seq = i.paper_seq"
         " WHERE i.digest_id = (SELECT max(id) FROM digest) ORDER BY i.position")


class Reader:
    """Eva, who reads her mail in a Maildir."""

    def __init__(self, directory, **options):
        self.inbox = os.path.join(directory, "inbox")
        self.out = os.path.join(directory, "out")
        for part in ("new", "cur", "tmp"):
            os.makedirs(os.path.join(self.inbox, part))
        self.instance = Instance(
            directory, maildir=self.out, commands__address=HOME,
            receive__maildir=self.inbox, receive__recipient_header="Delivered-To",
            receive__parser=PARSER)
        self.sent = 0
        self.seen = set()
        self.instance.ctl("subscriber", "add", EVA, "--consent", "asked", "--filter",
                          "agents OR speech OR vision", now=at_hour(days_after(DAY, -1), 6))
        for name, value in options.items():
            self.instance.ctl("subscriber", "set", EVA, f"--{name}", value,
                              now=at_hour(days_after(DAY, -1), 6))

    def write_day(self, day, first, titles):
        papers = [element(first + number) for number in range(len(titles))]
        for paper, title in zip(papers, titles):
            paper["paper"]["title"] = paper["title"] = title
        with open(os.path.join(self.instance.papers, f"daily_papers-{day}.json"), "w",
                  encoding="utf-8") as file:
            json.dump(papers, file)

    def run(self, now):
        """@return the mails that came since"""
        self.instance.once(now, wanted=0)
        found = []
        for name in sorted(os.listdir(os.path.join(self.out, "new"))):
            if name not in self.seen:
                self.seen.add(name)
                with open(os.path.join(self.out, "new", name), "rb") as file:
                    found.append(email.message_from_binary_file(
                        file, policy=email.policy.default))
        return found

    def write(self, address, subject, text="", answered=None):
        mail = email.message.EmailMessage()
        mail["Delivered-To"] = mail["To"] = address
        mail["Return-Path"] = f"<{EVA}>"
        mail["From"] = EVA
        mail["Subject"] = subject
        mail["Date"] = "Fri, 20 Nov 2026 09:00:00 +0000"
        mail["Message-ID"] = f"<m{self.sent}@home.example>"
        if answered:
            mail["In-Reply-To"] = answered["Message-ID"]
            mail["References"] = f"{answered['References'] or ''} {answered['Message-ID']}"
        mail.set_content(text)
        self.sent += 1
        name = f"{1000000000 + self.sent}.M{self.sent}P1.mail"
        save(os.path.join(self.inbox, "tmp", name), mail.as_bytes())
        os.rename(os.path.join(self.inbox, "tmp", name),
                  os.path.join(self.inbox, "new", name))

    def follow(self, link):
        """Send the mail of a mailto link, as it is."""
        address, _, query = link.removeprefix("mailto:").partition("?")
        (subject,) = urllib.parse.parse_qs(query)["subject"]
        self.write(urllib.parse.unquote(address), subject)


    def answer(self, mail, text, hour):
        """Reply to a mail of paperboy.  @return its answer"""
        self.write(mail["Reply-To"], "Re: " + mail["Subject"], text, mail)
        (found,) = self.run(at_hour(DAY, hour))
        return found


def text_of(mail):
    return mail.get_body(("plain",)).get_content().replace("\r\n", "\n")


def order(reader):
    return [title for title, in reader.instance.rows(ORDER)]


def links_of(digest, verb):
    """@return links by the id of the paper, the same in both parts"""
    pattern = rf"mailto:[^\s\">]+\?subject={verb}%20([\d.]+)"
    parts = [digest.get_body((kind,)).get_content() for kind in ("plain", "html")]
    found = [{link.group(1): link.group() for link in re.finditer(pattern, part)}
             for part in parts]
    assert found[0] == found[1] and found[0], found
    return found[0]


def first_digest(reader):
    reader.write_day(days_after(DAY, -1), 1, TITLES)
    (digest,) = [mail for mail in reader.run(at_hour(days_after(DAY, -1), 13))
                 if mail["List-Id"]]
    assert sorted(order(reader)) == sorted(TITLES)
    return digest


def replies_order_the_next_digest(tap):
    """like and hide in a reply raise and lower papers of the next day"""
    reader = Reader(tap.subdirectory("reply"))
    digest = first_digest(reader)
    assert "subject=like" not in text_of(digest)
    numbers = {title: number for number, title in enumerate(order(reader), 1)}
    reader.write(digest["Reply-To"], "Re: " + digest["Subject"],
                 f"like {numbers[TITLES[2]]} {numbers[TITLES[3]]}\n"
                 f"hide {numbers[TITLES[0]]}\nmore {numbers[TITLES[1]]}\ntaste\n")
    (reply,) = reader.run(at_hour(DAY, 5))
    text = text_of(reply)
    assert "come first: vision" in text and "4 done" in text and "It was made up." in text, text
    reader.write_day(DAY, 20, LATER)
    reader.run(at_hour(DAY, 13))
    titles = order(reader)
    assert sorted(titles) == sorted(LATER), titles
    assert {"Agents for vision", "Agents see by vision"} == set(titles[:2]), titles
    shown = reader.instance.ctl("why", EVA, "2611.00020")
    assert "raised   by likes: vision" in shown, shown
    shown = reader.instance.ctl("subscriber", "show", EVA)
    assert re.search(r"^answers +2 liked, 1 hidden; \d+ words learned$", shown, re.M), shown
    reader.write(digest["Reply-To"], "taste forget")
    (reply,) = reader.run(at_hour(DAY, 15))
    assert "3 answers and all that was learned" in text_of(reply), text_of(reply)
    assert reader.instance.rows("SELECT count(*) FROM taste") == [(0,)]


def links_answer_at_once(tap):
    """the links of a German digest are carried out without a confirmation"""
    reader = Reader(tap.subdirectory("links"), feedback="on", language="de")
    digest = first_digest(reader)
    likes, hides = links_of(digest, "like"), links_of(digest, "hide")
    ids = {title: f"2611.{number:05}" for number, title in enumerate(TITLES, 1)}
    assert sorted(likes) == sorted(hides) == sorted(ids.values())
    assert "mehr davon" in text_of(digest) and "weniger davon" in text_of(digest)
    reader.follow(likes[ids[TITLES[0]]])
    reader.follow(likes[ids[TITLES[1]]])
    reader.follow(hides[ids[TITLES[3]]])
    replies = reader.run(at_hour(DAY, 5))
    assert len(replies) == 3
    assert any("gemocht: 2611.00001" in text_of(reply) for reply in replies)
    assert any("ausgeblendet: 2611.00004" in text_of(reply) for reply in replies)
    reader.write_day(DAY, 20, LATER)
    (second,) = [mail for mail in reader.run(at_hour(DAY, 13)) if mail["List-Id"]]
    titles = order(reader)
    assert {"Agents for speech", "Agents hear speech"} == set(titles[:2]), titles
    assert text_of(second).index(titles[0]) < text_of(second).index(titles[1])


def a_dialogue_in_ordinary_words(tap):
    """numbers in a reply to an answer, proposals with their words, and corrections"""
    reader = Reader(tap.subdirectory("dialogue"))
    digest = first_digest(reader)
    answer = reader.answer(reader.answer(digest, "more 1", 5), "Why number 1?", 6)
    assert "It was mailed to you on" in text_of(answer), text_of(answer)
    reader.write(HOME, "", "I liked number 2")
    (answer,) = reader.run(at_hour(DAY, 7))
    assert order(reader)[1] in text_of(answer), text_of(answer)
    reader.write(HOME, "", "del Agents or speech or vision")
    (answer,) = reader.run(at_hour(DAY, 8))
    assert re.search(r"^- +del .*\n +agents OR speech", text_of(answer), re.M), text_of(answer)
    again = reader.answer(answer, "Yes, but filter 2 instead", 9)
    assert "Nothing was done yet" in text_of(again), text_of(again)
    assert reader.instance.value("SELECT count(*) FROM subscription") == 1
    answer = reader.answer(
        again, "No, I meant: please pause from 25 November until 4 December.", 10)
    text = text_of(answer)
    assert "pause until 2026-12-04" in text and "not on 2026-11-25" in text, text
    assert "Not understood" not in text and "left aside" not in text, text
    answer = reader.answer(answer, "Yes, starting now", 11)
    assert "no mail until Fri 4 Dec 2026" in text_of(answer), text_of(answer)
    reader.write(HOME, "", "resume")
    reader.run(at_hour(DAY, 12))
    assert reader.instance.value("SELECT count(*) FROM subscription") == 1


with Tap() as tap:
    tap.run(a_dialogue_in_ordinary_words, tap)
    tap.run(replies_order_the_next_digest, tap)
    tap.run(links_answer_at_once, tap)
