"""readme.py - the code in README, doc/ and the manuals, which tests execute."""

import os
import re
import textwrap

from tap import read_text, top_srcdir


def blocks(page):
    """The fenced blocks of a Markdown file, each a text."""
    with open(os.path.join(top_srcdir(), page), encoding="utf-8") as file:
        found = re.findall(r"^( *)```\w*\n(.*?)^\1```$", file.read(), re.S | re.M)
    return [textwrap.dedent(block) for _, block in found]


def adapt(text, replace):
    """Replace texts that must be there: {text there: text of this machine}."""
    for old, new in replace.items():
        assert old in text, f"{old!r} is not there"
        text = text.replace(old, str(new))
    return text


def manual_blocks(page, section, subsection=None):
    """The literal blocks of a section of a manual page: [(its first line, text)]

    The first line is a comment that says where a block belongs.
    """
    text = read_text(os.path.join(top_srcdir(), "man", page))
    part = re.search(rf"\n\.Sh {section}\n(.*?)\n\.Sh ", text, re.S)[1]
    if subsection:
        part = re.search(rf"^\.Ss {subsection}\n(.*?)(?:^\.Ss |\Z)", part, re.S | re.M)[1]
    found = re.findall(r"^\.Bd -literal.*?\n# (.*?)\n(.*?)^\.Ed$", part, re.S | re.M)
    return [(place, code.replace(r"\&", "").replace(r"\e", "\\")) for place, code in found]
