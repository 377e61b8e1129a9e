#!/usr/bin/env python3
"""update.py - make po/paperboy.pot from the sources, and merge it into po/*.po.

    update.py            write the template and the catalogues
    update.py --check    fail if the template is not that of the sources

Texts are marked in C by N_(), NC_(context, text) and PL_(one, many), in templates by
{{#_}}text{{/_}} and {{#_ context}}text{{/_}}, and are the keys `brief` and `help` of
src/service/command/command_help.ini.  Needs gettext.
"""

import configparser
import glob
import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TEMPLATE = os.path.join(TOP, "po", "paperboy.pot")
HEADER = """\
# Texts of mails and pages of paperboy.
# This file is distributed under the same license as paperboy.
#
msgid ""
msgstr ""
"Project-Id-Version: paperboy\\n"
"Language: \\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: nplurals=2; plural=n != 1;\\n"

"""


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        return file.read()


def quote(text):
    return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def template_calls(text):
    """The texts of a template as calls in C."""
    calls = []
    for context, body in re.findall(r"\{\{#_ ?([^}]*)\}\}(.*?)\{\{/_\}\}", text, re.S):
        body = quote(re.sub(r"\s+", " ", body))
        calls.append("NC_(%s, %s);" % (quote(context), body) if context else "N_(%s);" % body)
    return "\n".join(calls)


def help_calls(text):
    """The texts of `help` as calls in C, which have line ends as in a GKeyFile."""
    parser = configparser.RawConfigParser(delimiters="=", comment_prefixes="#")
    parser.read_string(text)
    return "\n".join("N_(%s);" % quote(parser[verb][key].replace("\\n", "\n"))
                     for verb in parser.sections() for key in ("brief", "help"))


def sources():
    """Files with texts: path, and what xgettext is to read."""
    for path in sorted(glob.glob("src/**/*.[ch]", root_dir=TOP, recursive=True)):
        text = read(path)
        if path != "src/base/po.h" and re.search(r"\b(N_|NC_|PL_)\(", text):
            yield path, text
    for path in sorted(glob.glob("etc/templates/*", root_dir=TOP)):
        calls = template_calls(read(path))
        if calls:
            yield path, calls
    yield ("src/service/command/command_help.ini",
           help_calls(read("src/service/command/command_help.ini")))


def examples():
    """{name: value}"""
    lines = [line for line in read("po/examples").splitlines() if not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def add_example(entry, values):
    """An entry of the template with its text in use, as a comment for translators."""
    texts = re.findall(r'^msgid(?:_plural)? ("(?:.|\n)*?")(?=\n(?:msg|$))', entry, re.M)
    text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', texts[-1])) if texts else ""
    names = re.findall(r"\{([a-z_]+)\}", text)
    if not names:
        return entry
    for name in names:
        text = text.replace("{%s}" % name, quote(values[name])[1:-1])
    text = text.replace('\\"', '"').replace("\\\\", "\\")
    comment = "".join("#. %s\n" % line for line in ("Example: " + text).split("\\n"))
    return comment.replace("#. \n", "#.\n") + entry


def make_template():
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for path, text in sources():
            os.makedirs(os.path.join(folder, os.path.dirname(path)), exist_ok=True)
            names.append(path)
            with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
                file.write(text)
        pot = subprocess.run(
            ["xgettext", "--language=C", "--from-code=UTF-8", "--keyword", "--keyword=N_",
             "--keyword=NC_:1c,2", "--keyword=PL_:1,2", "--add-location=file",
             "--omit-header", "--width=88", "--sort-by-file", "-o", "-"] + names,
            cwd=folder, check=True, capture_output=True, text=True).stdout
    values = examples()
    entries = [add_example(entry, values) for entry in pot.strip("\n").split("\n\n")]
    return HEADER + "\n\n".join(entries) + "\n"


def main(arguments):
    template = make_template()
    if arguments == ["--check"]:
        if template != read("po/paperboy.pot"):
            sys.exit("po/paperboy.pot is not that of the sources: run po/update.py")
        return
    with open(TEMPLATE, "w", encoding="utf-8") as file:
        file.write(template)
    for path in sorted(glob.glob(os.path.join(TOP, "po", "*.po"))):
        subprocess.run(["msgmerge", "--quiet", "--update", "--backup=none", "--width=88",
                        "--no-fuzzy-matching", "--sort-by-file", path, TEMPLATE], check=True)
        subprocess.run(["msgattrib", "--no-obsolete", "--width=88", "-o", path, path],
                       check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
