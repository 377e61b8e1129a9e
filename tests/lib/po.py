"""po.py - PO files in tests: their entries, and a language to test with.

The test language is English with accents on all letters, each text in brackets, half as
long again, and written from right to left, under a code of which there is no catalogue
(fa): what is not in brackets cannot be translated,
and what does not fit or is turned around shows on a page.
"""

import ast
import collections
import re

Entry = collections.namedtuple("Entry", "context id plural forms flags")

OPEN, CLOSE = "⟦", "⟧"
ACCENTED = str.maketrans("AEIOUYaeiouycnsz", "ÀÉÎÕÜÝàéîõüýçñšž")
# Lists of words, of which each is one text.
LISTS = ("Mon Tue", "Jan Feb", "Monday Tuesday", "January February")


def read_entries(path):
    """@return list of Entry, without the header"""
    with open(path, encoding="utf-8") as file:
        blocks = re.split(r"\n\s*\n", file.read())
    entries = []
    for block in blocks:
        texts, flags, key = {}, set(), None
        for line in block.splitlines():
            if line.startswith("#,"):
                flags |= set(line[2:].replace(" ", "").split(","))
            elif line.startswith("#~"):
                flags.add("obsolete")
            elif not line.startswith("#"):
                word, _, quoted = line.partition('"')
                key = word.strip() or key
                texts[key] = texts.get(key, "") + ast.literal_eval('"' + quoted)
        forms = [texts[key] for key in sorted(texts) if key.startswith("msgstr")]
        if texts.get("msgid") or "obsolete" in flags:
            entries.append(Entry(texts.get("msgctxt"), texts.get("msgid"),
                                 texts.get("msgid_plural"), forms, flags))
    return entries


def distort(text):
    """A text of the test language."""
    if text.startswith(LISTS):
        return " ".join(OPEN + word.translate(ACCENTED) + CLOSE for word in text.split(" "))
    lines = []
    for line in text.split("\n"):
        blank, words, rest = re.fullmatch(r"(\s*)(.*?)(\s*)", line).groups()
        parts = re.split(r"(\{[a-z_]+\}|<[^>]*>|&[a-z]+;)", words)
        parts[::2] = [part.translate(ACCENTED) for part in parts[::2]]
        longer = " ~~~~" * (len(words) // 10)
        lines.append(f"{blank}{OPEN}{''.join(parts)}{longer}{CLOSE}{rest}" if words else line)
    return "\n".join(lines)


def quote(text):
    return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def write_test_language(template, path):
    """Translate the template to the test language."""
    with open(path, "w", encoding="utf-8") as file:
        file.write('msgid ""\nmsgstr ""\n"Plural-Forms: nplurals=2; plural=n != 1;\\n"\n')
        for entry in read_entries(template):
            if entry.context:
                file.write(f"\nmsgctxt {quote(entry.context)}")
            file.write(f"\nmsgid {quote(entry.id)}\n")
            if entry.plural:
                file.write(f"msgid_plural {quote(entry.plural)}\n"
                           f"msgstr[0] {quote(distort(entry.id))}\n"
                           f"msgstr[1] {quote(distort(entry.plural))}\n")
            elif entry.context == "text direction":
                file.write('msgstr "rtl"\n')
            else:
                file.write(f"msgstr {quote(distort(entry.id))}\n")
