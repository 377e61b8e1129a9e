"""digest_reader.py - read digests as a person does: the mail alone, each part by itself.

    html = read_html(html_part)
    text = read_text(text_part)

Nothing of the program is used but the phrases of its templates that stand around the
details; they are given here.
"""

import collections
import re

Phrases = collections.namedtuple("Phrases", "generated title abstract author org keywords"
                                 " hit_stars orders")
PHRASES = {
    "en": Phrases("AI", r"(.+) in the title", r"(.+) in the abstract", r"by (.+)",
                  r"(.+) in the organization", r"(.+) in the keywords",
                  r"([\d,]+) stars?", {"score": "best first", "votes": "most votes first",
                                       "date": "newest first", "group": "by filter"}),
    "de": Phrases("KI", r"(.+) im Titel", r"(.+) in der Zusammenfassung", r"von (.+)",
                  r"(.+) in der Einrichtung", r"(.+) in den Schlagwörtern",
                  r"([\d.]+) Sterne?",
                  {"score": "die besten zuerst", "votes": "die meisten Stimmen zuerst",
                   "date": "die neuesten zuerst", "group": "nach Filter"}),
}

# votes: their line; byline: first author, number of the others, venue; names: of filters,
# with that of its group; links: [(label, URL)]; marks: the places of <mark> in title,
# sentence and abstract; unseen: the words of filters, if none is marked
Entry = collections.namedtuple(
    "Entry", "number is_full title url sentence is_generated votes byline names links"
    " abstract unseen marks")
# In the text part title, sentence, details and the words of each filter are one text.
TextEntry = collections.namedtuple("TextEntry", "number body url abstract group")
# counts: [(label of a filter, papers)]; head: the text before the first paper
Page = collections.namedtuple("Page", "language heading order counts entries")
TextPage = collections.namedtuple("TextPage", "heading head entries")


def number_of(text):
    """A number without the separators of thousands."""
    return int(re.sub(r"[.,\u202f]", "", text).replace("−", "-"))


def one_line(text):
    return " ".join(text.split())


# ---- HTML -----------------------------------------------------------------------


class Runs:
    """Text of an element with white space collapsed, and the places of its <mark>."""

    def __init__(self):
        self.text = ""
        self.marks = []

    def add(self, text):
        for c in text or "":
            if not c.isspace():
                self.text += c
            elif self.text and self.text[-1] != " ":
                self.text += " "

    def add_element(self, element, skip=()):
        """Add all but the children whose class is in skip."""
        self.add(element.text)
        for child in element:
            if child.get("class") not in skip:
                start = len(self.text)
                self.add_element(child, skip)
                if child.tag == "mark":
                    self.marks.append((start, len(self.text.rstrip())))
            self.add(child.tail)


def runs_of(element, skip=()):
    runs = Runs()
    runs.add_element(element, skip)
    runs.text = runs.text.strip()
    return runs


def text_of(element):
    return runs_of(element).text


def has_class(element, name):
    return name in (element.get("class") or "").split()


def read_item(item, number, group, phrases):
    """One paper, a cell of the table.  @return the entry, the name of its group"""
    found = {"sentence": None, "is_generated": False, "votes": None, "byline": "",
             "names": [], "links": [], "abstract": None, "unseen": None}
    marks, title = {}, None
    for part in item:
        if has_class(part, "group"):
            group = text_of(part) if part.get("dir") else None
        elif has_class(part, "filters"):
            found["names"] = [name for names in part.iter("b")
                              for name in text_of(names).split(", ")]
            shown, _, votes = text_of(part).partition("\u25b2 ")
            found["votes"] = votes or None
            assert re.match(rf"{number}\b", shown), (number, shown)
        elif part.tag in ("h2", "h3"):
            title, is_full = part, True
        elif has_class(part, "abstract"):
            body = runs_of(part)
            found["abstract"], marks["abstract"] = body.text, body.marks
        elif has_class(part, "found"):
            found["unseen"] = text_of(part)
        elif has_class(part, "meta"):
            found["links"] = [(text_of(a), a.get("href")) for a in part.iter("a")]
            found["byline"] = text_of(next(iter(part.iter("span"))))
        elif title is None:
            title, is_full = part, False
        else:
            body = runs_of(part, skip=("ai",))
            found["sentence"], marks["sentence"] = body.text, body.marks
            label = [text_of(child) for child in part if has_class(child, "ai")]
            found["is_generated"] = label == [f"({phrases.generated})"]
            assert found["is_generated"] or not label, label
    if group and is_full:
        found["names"].insert(0, group)
    runs = runs_of(title)
    marks["title"] = runs.marks
    anchor = next(iter(title.iter("a")), None)
    return Entry(number, is_full, runs.text,
                 anchor.get("href") if anchor is not None else None, marks=marks,
                 **found), group


def read_counts(line):
    """Filters and their numbers of papers: [(label, number)]"""
    found = [re.fullmatch(r"(.*) (\d+)", part.strip()) for part in line.split(" · ")]
    assert all(found), line
    return [(match[1], int(match[2])) for match in found]


def read_html(html):
    import html5lib

    tree = html5lib.parse(html, namespaceHTMLElements=False)
    language = tree.get("lang")
    entries, counts, order, group = [], [], None, None
    for cell in tree.iter("td"):
        if has_class(cell, "paper"):
            entry, group = read_item(cell, len(entries) + 1, group, PHRASES[language])
            entries.append(entry)
    for line in tree.iter("p"):
        if has_class(line, "counts"):
            counts = read_counts(text_of(line))
    for part in tree.iter("span"):
        if has_class(part, "order"):
            order = text_of(part)
    (heading,) = tree.iter("h1")
    return Page(language, text_of(heading), order, counts, entries)


# ---- plain text -------------------------------------------------------------------

START = re.compile(r"(?=.{3}\.) *(\d+)\. (.*)")
GROUP = re.compile(r"== (.*) ==")


def read_block(number, lines, group):
    """One paper: a text, its link, and perhaps the abstract."""
    at = next((at for at, line in enumerate(lines) if line.startswith("http")), len(lines))
    body = " ".join(line for line in lines[:at] if line)
    return TextEntry(number, body, lines[at] if at < len(lines) else None,
                     " ".join(lines[at + 1:]).strip() or None, group)


def read_text(text):
    entries, lines, group, start_of = [], None, None, None
    for line in text.split("\n") + ["end"]:
        start = START.match(line)
        is_next = start and int(start[1]) == len(entries) + 1 + (lines is not None)
        if lines is not None and (is_next or line.strip() and not line.startswith("     ")):
            entries.append(read_block(len(entries) + 1, lines, start_of))
            lines = None
        if is_next:
            lines, start_of = [start[2]], group
        elif lines is not None:
            lines.append(line.strip())
        elif line:
            found = GROUP.fullmatch(line)
            group = found[1] if found else None
    head = text.partition("\n  1. ")[0]
    return TextPage(text.split("\n")[0], one_line(head), entries)
