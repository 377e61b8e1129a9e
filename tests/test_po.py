#!/usr/bin/env python3
"""test_po.py - translations: complete, consistent, read as gettext reads them."""

import gettext
import glob
import json
import os
import re
import sys

import lib  # the path
import conversations
from daemon import EVERYTHING, Instance, at_hour, days_after, parse
from po import CLOSE, LISTS, OPEN, read_entries, write_test_language
from tap import Tap, need_programs, read, read_text, run, save, top_builddir, top_srcdir

PO = os.path.join(top_srcdir(), "po")
TEMPLATE = os.path.join(PO, "paperboy.pot")

# Rules of languages whose plurals differ; the texts of each form are made up.
RULES = {
    "ja": "nplurals=1; plural=0;",
    "fr": "nplurals=2; plural=n > 1;",
    "ru": "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 ||"
          " n%100>=20) ? 1 : 2);",
    "pl": "nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2);",
    "sl": "nplurals=4; plural=(n%100==1 ? 0 : n%100==2 ? 1 : n%100==3 || n%100==4 ? 2 : 3);",
    "ar": "nplurals=6; plural=n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 :"
          " n%100>=11 && n%100<=99 ? 4 : 5;",
}


def catalogs():
    return sorted(glob.glob(os.path.join(PO, "*.po")))


def name(entry):
    return f"{entry.context}: {entry.id}" if entry.context else entry.id


def test_template():
    "the template has the texts of the sources, each placeholder with an example"
    need_programs("xgettext")
    run([sys.executable, "-B", os.path.join(PO, "update.py"), "--check"])


def test_format(path):
    "msgfmt --check accepts a catalogue, and msgcat writes the same file"
    need_programs("msgfmt", "msgcat")
    run(["msgfmt", "--check", "-o", "/dev/null", path])
    text = read_text(path)
    assert run(["msgcat", "--width=88", path]) == text, "not as msgcat writes it"


def test_complete(path):
    "every text is translated, and no text is left that the program does not have"
    wanted = {(entry.context, entry.id, entry.plural) for entry in read_entries(TEMPLATE)}
    entries = read_entries(path)
    problems = [name(e) for e in entries if not all(e.forms) or e.flags & {"fuzzy", "obsolete"}]
    found = {(entry.context, entry.id, entry.plural) for entry in entries}
    problems += [str(key) for key in wanted ^ found]
    assert not problems, "\n".join(problems)


def parts(text, pattern):
    return sorted(re.findall(pattern, text))


def check_form(entry, form):
    """@return what is wrong with a translation"""
    original = entry.plural or entry.id
    wanted, found = set(parts(original, r"\{[a-z_]+\}")), set(parts(form, r"\{[a-z_]+\}"))
    if found != wanted and found | {"{count}"} != wanted:
        yield "placeholders"
    if parts(form, r"<[^>]*>") != parts(original, r"<[^>]*>"):
        yield "markup"
    if form.count("{{") or form.count("}}"):
        yield "a tag instead of a placeholder"
    if len(form) - len(form.lstrip(" ")) != len(original) - len(original.lstrip(" ")):
        yield "indentation"
    if form.endswith("\n") or form.count("\n\n") != original.count("\n\n"):
        yield "paragraphs"
    if original.startswith(LISTS) and len(form.split(" ")) != len(original.split(" ")):
        yield "number of words"


def test_lint(path):
    "translations have the placeholders, markup, paragraphs and lists of the English text"
    problems = [f"{problem}: {name(entry)}\n  {form}" for entry in read_entries(path)
                for form in entry.forms for problem in check_form(entry, form)]
    assert not problems, "\n".join(problems)


def test_lint_finds():
    "the check finds each kind of mistake"
    entry = read_entries(TEMPLATE)[0]
    for original, form, wanted in (
            ("{a} of {b}", "{a}", "placeholders"), ("{a}", "{a} {b}", "placeholders"),
            ("<b>x</b>", "<b>x<b>", "markup"), ("x", "{{x}}", "placeholders"),
            ("   x", "x", "indentation"), ("a\n\nb", "a b", "paragraphs"),
            ("Mon Tue", "Mo", "number of words")):
        found = list(check_form(entry._replace(id=original, plural=None), form))
        if wanted == "placeholders" and "{{" in form:
            wanted = "a tag instead of a placeholder"
        assert wanted in found, (original, form, found)
    plural = entry._replace(id="1 paper", plural="{count} papers")
    assert not list(check_form(plural, "ein Artikel"))
    assert list(check_form(plural, "{n} Artikel")) == ["placeholders"]


def key(entry):
    return f"{entry.context}\4{entry.id}" if entry.context else entry.id


def read_by_program(path, entries, counts, directory):
    """The translations of each entry: for each count if it has plural forms."""
    keys = os.path.join(directory, "keys")
    save(keys, "\1".join(key(one) + ("\2" + one.plural if one.plural else "")
                         for one in entries))
    with open(keys, "rb") as file:
        output = run([os.path.join(top_builddir(), "tests/helper_po"), path, counts],
                     stdin=file)
    return [row.split("\2") for row in output.split("\1")[:-1]]


def read_by_gettext(path, entries, counts, directory):
    compiled = os.path.join(directory, "x.mo")
    run(["msgfmt", "-o", compiled, path])
    with open(compiled, "rb") as file:
        catalog = gettext.GNUTranslations(file)
    return [[catalog.ngettext(one.id, one.plural, n) for n in range(counts)] if one.plural
            else [catalog.gettext(key(one))] for one in entries]


def write_forms(path, rule):
    forms = int(rule[len("nplurals=")])
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
                   f'"Plural-Forms: {rule}\\n"\n\nmsgid "one"\nmsgid_plural "many"\n')
        for number in range(forms):
            file.write(f'msgstr[{number}] "form {number}\\n\\t\\"\\\\ é"\n')


def test_gettext(directory):
    "the program reads files, and chooses plural forms, as gettext does"
    need_programs("msgfmt")
    for path in catalogs():
        entries = read_entries(path)
        ours = read_by_program(path, entries, 3, directory)
        assert ours == read_by_gettext(path, entries, 3, directory), path
    for language, rule in RULES.items():
        path = os.path.join(directory, f"{language}.po")
        write_forms(path, rule)
        entries = read_entries(path)
        ours = read_by_program(path, entries, 300, directory)
        assert ours == read_by_gettext(path, entries, 300, directory), rule


# ---- mails in the test language ----

# Verbs and their arguments, which are the same in all languages.
COMMANDS = os.path.join(top_srcdir(), "src/service/command/command_table.c")

DAY = "2026-11-20"
READER = "reader@example.org"

# Lines that show each kind of reply; a person who is not authenticated may send them.
QUESTIONS = (
    "list", "status", "why 2611.10000", "test made-up", "test ti:", "test upvotes:>=ten",
    "test NOT paper", "search paper", "more 2611.10000", "last", "sources", "taste", "set",
    "pause 9999d", "frobnicate", "helo", "undo abc", "help", "help set", "info")
CHANGES = ("add robot*\nset max 3\npause 5d", "like 1\nhide 2", "forget me", "export",
           f"address new-{READER}", "subscribe", "yes", "unsubscribe")

# Words that are not translated: verdicts, values and names in the language of filters.
DATA = re.compile(
    r"https?://\S+|[\w.+-]+@[\w.-]+|\b(?:error|wait|NOT|AND|OR|Europe/\w+|UTC|paperboy|huggingface|hf)\b")


def send(inbox, number, text, subject="question"):
    raw = (f"From: Reader <{READER}>\nTo: {conversations.HOME}\n"
           f"Delivered-To: {conversations.HOME}\nSubject: {subject}\n"
           f"Message-ID: <{number}@home.example>\n\n{text}\n")
    save(os.path.join(inbox, "new", f"{number:03}"), raw)


def untranslated(text):
    """Words of a mail that are neither in brackets nor data."""
    lines = [line for line in text.splitlines() if not line.startswith((">", "undo ", "confirm "))]
    rest = re.sub(f"{OPEN}[^{OPEN}]*{CLOSE}", " ", "\n".join(lines))
    return set(re.findall(r"[A-Za-z]{3,}", DATA.sub(" ", rest)))


def test_mails(tap):
    "no text of a mail but data is out of reach of translators"
    directory = tap.subdirectory("mails")
    inbox, outbox, po_dir = (os.path.join(directory, name) for name in ("in", "out", "po"))
    for name in ("new", "cur", "tmp"):
        os.makedirs(os.path.join(inbox, name))
    os.makedirs(po_dir)
    write_test_language(TEMPLATE, os.path.join(po_dir, "fa.po"))
    instance = Instance(
        os.path.join(directory, "home"), maildir=outbox, po_dir=po_dir, log_level="warning",
        commands__address=conversations.HOME, receive__parser=conversations.PARSER,
        receive__maildir=inbox, receive__recipient_header="Delivered-To")
    instance.write_day(DAY, range(30))
    instance.add_person(READER, "--max", "3", now=at_hour(DAY, 1))
    instance.ctl("subscriber", "set", READER, "--language", "fa", now=at_hour(DAY, 1))
    instance.once(at_hour(DAY, 8), wanted=0)
    with open(os.path.join(instance.papers, f"daily_papers-{DAY}.json"), encoding="utf-8") as file:
        data = json.dumps(json.load(file)) + " ".join(
            QUESTIONS + CHANGES) + EVERYTHING + " set when weekly"
    data += read_text(COMMANDS)
    for number, text in enumerate(QUESTIONS + CHANGES):
        send(inbox, number, text)
        # No more than ten replies go to one address in a day.
        instance.once(at_hour(days_after(DAY, number // 8), 9 + number % 8), wanted=0)
    mails, problems = 0, set()
    for path in glob.glob(os.path.join(outbox, "new", "*")):
        mail = parse(read(path))
        mails += 1
        for part in mail.walk():
            if part.get_content_type() == "text/plain":
                problems |= {word for word in untranslated(part.get_content())
                             if word not in data}
    assert mails > len(QUESTIONS), mails
    assert not problems, sorted(problems)


def test_operator(directory):
    "a wrong file of the operator is an error of po_dir, with file and line"
    instance = Instance(os.path.join(directory, "operator"), maildir=directory, po_dir=directory)
    path = os.path.join(directory, "de.po")
    save(path, 'msgid "nevr"\nmsgstr "nie"\n')
    said = run([instance.daemon, "-c", instance.config, "--check"], check=False)
    assert f"po_dir: {path}:2: the program has no text: nevr" in said, said


with Tap() as tap:
    directory = tap.subdirectory("po")
    tap.run(test_template)
    for path in catalogs():
        for test in (test_format, test_complete, test_lint):
            tap.run(test, path)
    tap.run(test_lint_finds)
    tap.run(test_gettext, directory)
    tap.run(test_mails, tap)
    tap.run(test_operator, tap.subdirectory("operator"))
