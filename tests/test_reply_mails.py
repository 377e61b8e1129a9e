#!/usr/bin/env python3
"""test_reply_mails.py - the confirmation, the welcome and other replies as mails.

Each has a text part and an HTML part, which is shown to Chromium and axe-core.
PAPERBOY_SHOTS=DIRECTORY saves pictures.
"""

import email.message
import html
import os
import re

import lib  # the path
import browser
import mail_clients
from conversations import COMMANDS, CONFIRMATION, HOME, Mailbox, make_step
from daemon import days_after
from tap import Tap, save, use_debian_python

DAY = "2026-11-20"
URL = "https://papers.example.org"
SHOTS = os.environ.get("PAPERBOY_SHOTS")
HOSTILE = '"a <b>bold</b> & claim"'
STEPS = {
    "en": (("confirmation", COMMANDS, "subscribe", f"add paper\nadd {HOSTILE}\n"),
           ("welcome", CONFIRMATION, "{subject}", ""),
           ("list", COMMANDS, "list", ""), ("unknown", COMMANDS, "", "What is the weather?\n")),
    "de": (("confirmation", COMMANDS, "Anmeldung",
            f"Guten Tag,\nbitte melden Sie mich an.\nlearning\nadd {HOSTILE}\n"),
           ("welcome", CONFIRMATION, "{subject}", "ja\n"),
           ("list", COMMANDS, "liste", ""), ("unknown", COMMANDS, "", "Wie wird das Wetter?\n")),
}
SUBJECTS = {"en": "Confirm: papers about paper and more by mail",
            "de": "Bitte bestätigen: Artikel über learning und mehr per Mail"}
FIRST = {"en": ("Do you want new research papers by mail?", "Welcome!", "> list"),
         "de": ("Möchtest du neue Forschungsartikel per Mail?", "Willkommen!",
                "> liste")}
NO_SUBJECT = {"en": f"Your message to {HOME}", "de": f"Deine Mail an {HOME}"}
BUTTONS = {"en": "Confirm", "de": "Bestätigen"}


def play(tap, language):
    """@return {name of the step: its reply}"""
    mailbox = Mailbox(tap.subdirectory(language), web__url=URL)
    mailbox.instance.write_day(DAY, [1, 2])
    mailbox.instance.write_day(days_after(DAY, -1), [3])
    replies = {}
    for number, (name, to, subject, text) in enumerate(STEPS[language], 1):
        asked = replies.get("confirmation", email.message.Message())
        headers = {"In_Reply_To": asked["Message-ID"]} if to == CONFIRMATION else {}
        before = {mail["Message-ID"] for mail in mailbox.mails()}
        mailbox.deliver(number, make_step(
            name, to, subject.format(subject=f"Re: {asked['Subject']}"), text, **headers))
        mailbox.instance.once(f"{DAY}T12:{number:02}:00Z")
        (replies[name],) = [mail for mail in mailbox.mails()
                            if mail["Message-ID"] not in before and not mail["List-Id"]]
    mailbox.instance.ctl("subscriber", "set", "eva@example.org", "--format", "text",
                         now=f"{DAY}T13:00:00Z")
    return mailbox, replies


def parts_of(mail):
    assert mail.get_content_type() == "multipart/alternative", mail.get_content_type()
    plain, page = mail.iter_parts()
    assert plain.get_content_type() == "text/plain"
    assert page.get_content_type() == "text/html"
    return plain.get_content(), page.get_content()


def test_texts(language, replies):
    "the first line answers, and both parts say the same"
    assert replies["confirmation"]["Subject"] == SUBJECTS[language], replies["confirmation"]
    for (name, mail), first in zip(replies.items(), FIRST[language]):
        text, page = parts_of(mail)
        assert text.startswith(first), (name, text)
        assert mail["Auto-Submitted"] == "auto-replied" and mail["In-Reply-To"]
        assert f'lang="{language}"' in page
        shown = re.sub(r"<[^>]*>", " ", re.sub(r"(?s)^.*</head>|<!--.*?-->", "", page))
        words = html.unescape(shown).split()
        left = [word for word in re.sub(r"https://\S+", "", text).split()
                if word not in " ".join(words) and word != "-"]
        assert not left, (name, left)
    text, _ = parts_of(replies["confirmation"])
    assert text.rstrip().split("\n")[-1].startswith("confirm "), text
    assert replies["unknown"]["Subject"] == NO_SUBJECT[language]
    text, page = parts_of(replies["unknown"])
    assert re.search(":\n\n(  .*\n)*  add diffusion {3,}", text), text
    assert re.search("\n\u2022 add diffusion \u2013 ", page), page


def test_button(language, replies):
    "the link of the confirmation is a button"
    text, page = parts_of(replies["confirmation"])
    (link,) = re.findall(r"https://\S+", text)
    assert link.startswith(URL + "/c/"), link
    ((target, label),) = re.findall(r'<a href="([^"]*)"[^>]*>([^<]*)</a>', page)
    assert (target, label) == (link, BUTTONS[language])


def test_escaping(_, replies):
    "what was typed is escaped, and nothing is loaded"
    _, page = parts_of(replies["confirmation"])
    assert html.escape(HOSTILE) in page and "<b>" not in page
    for mail in replies.values():
        _, page = parts_of(mail)
        assert not re.search(r"url\(|@import|<img|<link|<script|src=", page)


def test_features(replies):
    "each element, attribute, selector, property and unit is in the table"
    problems = {problem for mail in replies for feature in
                mail_clients.find_features(parts_of(mail)[1])
                if (problem := mail_clients.find_problem(feature))}
    assert not problems, "\n".join(sorted(problems))


def test_text_only(mailbox):
    "subscribers of `format text` get text only"
    mailbox.deliver(9, make_step("list", COMMANDS, "list"))
    mailbox.instance.once(f"{DAY}T13:01:00Z")
    assert [mail for mail in mailbox.mails() if mail["To"] == "eva@example.org"
            and mail.get_content_type() == "text/plain"]


def test_browser(tap, chromium, replies):
    "axe-core finds nothing, light and dark, and nothing scrolls sideways"
    path = os.path.join(tap.directory, "reply.html")
    for name, mail in replies.items():
        save(path, parts_of(mail)[1])
        for is_dark in (False, True):
            chromium.set_scheme(is_dark)
            for width in (320, 390, 640):
                chromium.resize(width)
                chromium.open(f"file://{path}")
                assert chromium.overflow() <= 0, (name, width)
                if SHOTS:
                    os.makedirs(SHOTS, exist_ok=True)
                    chromium.save(os.path.join(
                        SHOTS, f"{name}-{width}-{'dark' if is_dark else 'light'}.png"))
            violations = list(chromium.violations())
            assert not violations, (name, violations)
    chromium.set_scheme(False)


use_debian_python("selenium")
with Tap() as tap:
    pages = {}
    for language in STEPS:
        mailbox, replies = play(tap, language)
        pages |= {f"{name}-{language}": mail for name, mail in replies.items()}
        tap.run(test_texts, language, replies)
        tap.run(test_button, language, replies)
        tap.run(test_escaping, language, replies)
        tap.run(test_text_only, mailbox)
    missing = mail_clients.find_missing()
    if missing:
        tap.skip("the table of supported features", missing)
    else:
        tap.run(test_features, pages.values())
    missing = browser.find_missing()
    if missing:
        tap.skip("replies in Chromium", missing)
    else:
        tap.run(test_browser, tap, tap.enter(browser.Browser()), pages)
