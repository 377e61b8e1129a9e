#!/usr/bin/env python3
"""show.py - show the mails of paperboy in a language, as its PO file says now.

    po/show.py LANGUAGE      such as it; a new language gets po/it.po first

Writes to standard output the digest of the sample day, and replies to commands and
mistakes.  It needs a build (./setup demo) and gettext; the build need
not be repeated after a change of a PO file.
"""

import email
import email.policy
import glob
import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DAY = "2026-11-20"  # the last one of samples/
HOME = "paperboy@demo.example"
CONFIG = """\
state_dir = "{place}/state";
template_dir = "{top}/etc/templates";
po_dir = "{top}/po";
log_level = "warning";
mail: {{ from = "{home}"; owner = "owner@demo.example"; }};
delivery: {{ method = "maildir"; maildir = "{place}/out"; }};
sources = ( {{ name = "hf"; kind = "huggingface"; url = "file://{top}/samples"; }} );
commands: {{ address = "{home}"; }};
receive: {{ maildir = "{place}/in"; parser = "{build}/paperboy-parser"; }};
"""

# Mails of a subscriber: questions, mistakes, help, and changes that are to be confirmed.
MAILS = (
    "list\nstatus\nwhy 2611.10003\ntest diffusion\nsearch max=3 agent*\nadd ti:\nset foo bar",
    "help\nhelp set",
    "add robot*\nset max 5",
    "unsubscribe",
)


def run(arguments):
    done = subprocess.run(arguments, capture_output=True, text=True)
    if done.returncode not in (0, os.EX_TEMPFAIL):
        sys.exit(f"{' '.join(arguments)}:\n{done.stdout}{done.stderr}")
    return done.stdout


def show(path):
    with open(path, "rb") as file:
        mail = email.message_from_binary_file(file, policy=email.policy.default)
    print(f"{'=' * 72}\nTo: {mail['To']}\nSubject: {mail['Subject']}\n")
    print(mail.get_body(("plain",)).get_content())


def main(arguments):
    if len(arguments) != 1 or not re.fullmatch("[a-z][a-z]", arguments[0]):
        sys.exit(__doc__)
    language = arguments[0]
    path = os.path.join(TOP, "po", language + ".po")
    build = os.path.join(TOP, "build")
    if language != "en" and not os.path.exists(path):
        run(["msginit", "--no-translator", "--width=88", "--locale", language, "--input",
             os.path.join(TOP, "po", "paperboy.pot"), "--output", path])
    if os.path.exists(path):
        run(["msgfmt", "--check-format", "-o", os.devnull, path])
    with tempfile.TemporaryDirectory() as place:
        for name in ("state", "in/new", "in/cur", "in/tmp"):
            os.makedirs(os.path.join(place, name), mode=0o700)
        config = os.path.join(place, "paperboy.conf")
        with open(config, "w", encoding="utf-8") as file:
            file.write(CONFIG.format(place=place, top=TOP, home=HOME, language=language,
                                     build=build))
        ctl = [os.path.join(build, "paperboyctl"), "-c", config, "--now", DAY + "T06:00:00Z"]
        once = [os.path.join(build, "paperboyd"), "-c", config, "--once", "--now"]
        run(ctl + ["subscriber", "add", "ada@demo.example", "--consent", "sample", "--max",
                   "5", "--filter", "model*", "--filter", "diffusion OR agent*"])
        run(ctl + ["subscriber", "set", "ada@demo.example", "--language", language])
        run(once + [DAY + "T18:00:00Z"])
        for number, text in enumerate(MAILS):
            with open(os.path.join(place, "in", "new", str(number)), "w",
                      encoding="utf-8") as file:
                file.write(f"From: ada@demo.example\nTo: {HOME}\nSubject: mail {number}\n"
                           f"Message-ID: <{number}@demo.example>\n\n{text}\n")
            run(once + [f"{DAY}T19:0{number}:00Z"])
        for mail in sorted(glob.glob(os.path.join(place, "out", "new", "*")),
                           key=os.path.getmtime):
            show(mail)


if __name__ == "__main__":
    main(sys.argv[1:])
