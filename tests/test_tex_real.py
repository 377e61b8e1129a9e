#!/usr/bin/env python3
"""test_tex_real.py - TeX in real titles, names, abstracts and comments, as shown.

A formula is found here by pandoc's rule for dollars, and its text is compared with what
shows: both must have the same letters, digits and signs in the same order.  Neither
uses the tables of src/base.
"""

import csv
import json
import os
import re
import subprocess
import sys
import unicodedata
import xml.etree.ElementTree as tree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
from tap import Tap, real_files, top_builddir, top_srcdir

FORMULA = re.compile(
    r"\\\(.+?\\\)|\\\[.+?\\\]|\$\$[^$]+\$\$"
    r"|(?<!\\)\$(?=[^\s$])(?:[^$\\]|\\.)*?(?<=[^\s])\$(?![0-9])"
)
COMMAND = re.compile(r"\\([A-Za-z]+|.)")
# Commands of the real formulas that change the look of letters, and spacing.
NO_TEXT = re.compile(r"\\(mathcal|mathbb|mathbf|mkern-?\d+mu|left|right|[!,;: ])")
SIGNS = {"times": "×", "sqrt": "√", "pm": "±", "leq": "≤", "geq": "≥", "in": "∈",
         "sim": "∼", "approx": "≈", "to": "→", "cdot": "·", "infty": "∞", "ell": "ℓ",
         "log": "log", "max": "max", "min": "min", "circ": "∘"}
JSON_KEYS = ("title", "summary", "abstract", "ai_summary", "name", "comment")
XML_NAMES = ("title", "summary", "description", "name", "creator", "comment")


def json_texts(value):
    """All texts of a decoded document that are shown to people."""
    if isinstance(value, list):
        for item in value:
            yield from json_texts(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key in JSON_KEYS and isinstance(item, str):
                yield item
            elif key in ("authors", "ai_keywords"):
                yield from (text for text in item or [] if isinstance(text, str))
            if key not in ("submittedBy", "user"):
                yield from json_texts(item)


def all_texts():
    for path in real_files("*.json"):
        with open(path, encoding="utf-8") as file:
            yield from json_texts(json.load(file))
    for path in real_files("*.jsonl"):
        with open(path, encoding="utf-8") as file:
            for line in file:
                yield from json_texts(json.loads(line))
    for path in real_files("arxiv-*.xml"):
        if "truncated" not in path:
            for element in tree.parse(path).iter():
                if element.tag.rsplit("}")[-1] in XML_NAMES and element.text:
                    yield element.text
    for path in real_files("reviews/*.csv") + real_files("abstract-sentences.csv"):
        with open(path, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                yield from (row[key] for key in ("title", "abstract", "authors")
                            if row.get(key))


def show(texts):
    """[(stored, shown)]"""
    lines = "".join(" ".join(text.split()) + "\n" for text in texts)
    done = subprocess.run([os.path.join(top_builddir(), "tests", "helper_tex")],
                          input=lines.encode(), capture_output=True, check=True,
                          timeout=120)
    return [tuple(line.split("\t")) for line in done.stdout.decode().splitlines()]


def skeleton(text):
    """Letters, digits and signs, without type style, height and grouping."""
    plain = unicodedata.normalize("NFKC", text).replace("−", "-")
    return re.sub(r"[\s(){}]", "", plain)


def read_formula(formula):
    """The skeleton of a formula, or None if it has a command that is not known here."""
    inner = re.sub(r"^(\$\$?|\\.)|(\$\$?|\\.)$", "", formula)
    inner = NO_TEXT.sub("", inner)

    def sign(match):
        name = match[1]
        if not name.isalpha():
            return name
        if name in SIGNS:
            return SIGNS[name]
        case = "CAPITAL" if name[0].isupper() else "SMALL"
        return unicodedata.lookup(f"GREEK {case} LETTER {name.upper()}")

    try:
        return skeleton(re.sub(r"[\^_{}]", "", COMMAND.sub(sign, inner)))
    except KeyError:
        return None


def check_formulas(stored, shown):
    """@return found, left, and the converted ones that could not be compared

    A formula that is left is the same, as a whole.
    """
    before, after = FORMULA.findall(stored), FORMULA.findall(shown)
    unknown, at = 0, 0
    text = skeleton(FORMULA.sub("", shown))
    rest = list(after)
    for formula in before:
        if rest and rest[0] == formula:
            rest.pop(0)
            continue
        wanted = read_formula(formula)
        if wanted is None:
            unknown += 1
            continue
        found = text.find(wanted, at)
        assert found >= 0, (formula, wanted, shown)
        at = found + len(wanted)
    assert not rest, (rest, stored, shown)
    return len(before), len(after), unknown


def test_all(tap):
    """real formulas show the same text, and no backslash is outside of others"""
    texts = sorted(set(all_texts()))
    pairs = show(texts)
    found = left = unknown = changed = backslashes = 0
    for stored, shown in pairs:
        counts = check_formulas(stored, shown)
        found, left, unknown = (
            a + b for a, b in zip((found, left, unknown), counts))
        changed += stored != shown
        backslashes += "\\" in FORMULA.sub("", shown)
    in_source = sum(len(FORMULA.findall(" ".join(text.split()))) for text in texts)
    tap.diag(f"{len(texts)} texts, {in_source} formulas; stored: {found} formulas")
    tap.diag(f"shown: {found - left} formulas converted ({unknown} not compared), "
             f"{left} left; {changed} texts differ from the stored ones")
    tap.diag(f"texts with a backslash outside of formulas: {backslashes}")
    assert len(pairs) == len(texts) and backslashes == 0
    assert unknown == 0 and left <= found / 2, (found, left, unknown)


def test_users():
    """only text that people read is converted, positions are those of stored text"""
    allowed = ("src/base/tex.", "src/message/sanitize.", "src/render/", "src/ctl/",
               "src/service/command/", "src/service/explain/suggest.c",
               "src/service/match/query_stats.c", "src/service/web/", "src/web/")
    for directory, _, names in os.walk(os.path.join(top_srcdir(), "src")):
        for name in names:
            path = os.path.relpath(os.path.join(directory, name), top_srcdir())
            with open(os.path.join(directory, name), encoding="utf-8") as file:
                is_user = re.search(r"tex_display|sanitize_paper_text\(", file.read())
            assert not is_user or path.startswith(allowed), path


def main():
    with Tap() as tap:
        tap.run(test_all, tap)
        tap.run(test_users)


if __name__ == "__main__":
    main()
