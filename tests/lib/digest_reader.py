"""digest_reader.py - read digests as a person does: the mail alone, each part by itself.

    html = read_html(html_part, language)
    text = read_text(text_part, language)

Nothing of the program is used but the phrases of its templates that stand around the
details; they are given here.
"""

import collections
import re

Phrases = collections.namedtuple("Phrases", "found_by generated votes change more_names"
                                 " title abstract author org keywords stars hit_votes"
                                 " by_filter overlapping")
PHRASES = {
    "en": Phrases("found by", "AI", r"([\d,]+) votes?",
                  r" \(([+−][\d,]+) since yesterday\)", r" and ([\d,]+) more",
                  r"(.+) in the title", r"(.+) in the abstract", r"by (.+)",
                  r"(.+) in the organization", r"(.+) in the keywords",
                  r"([\d,]+) stars?", r"([\d,]+) votes?", "By filter: ",
                  " (some match several)"),
    "de": Phrases("gefunden von", "KI", r"([\d.]+) Stimmen?",
                  r" \(([+−][\d.]+) seit gestern\)", r" und ([\d.]+) weitere",
                  r"(.+) im Titel", r"(.+) in der Zusammenfassung", r"von (.+)",
                  r"(.+) in der Einrichtung", r"(.+) in den Schlagwörtern",
                  r"([\d.]+) Sterne?", r"([\d.]+) Stimmen?", "Nach Filter: ",
                  " (manche passen zu mehreren)"),
}

# details: texts; reasons: [(filter, words)]; links: [(label, URL)]; marks: the places of
# <b> in title, sentence and abstract
Entry = collections.namedtuple(
    "Entry", "number is_full title url sentence is_generated details reasons links abstract"
    " marks")
# counts: [(label of a filter, papers)]; top: [(number, title)]
Page = collections.namedtuple("Page", "language heading counts top entries")
TOP = re.compile(r"(\d+)\. (.*)")


def number_of(text):
    """A number without the separators of thousands."""
    return int(re.sub(r"[.,\u202f]", "", text).replace("−", "-"))


def one_line(text):
    return " ".join(text.split())


# ---- HTML -----------------------------------------------------------------------


class Runs:
    """Text of an element with white space collapsed, and the places of its <b>."""

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
                if child.tag == "b":
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


def read_meta(element, phrases):
    """The line below a title.  @return details, reasons"""
    before, reasons = Runs(), []
    before.add(element.text)
    for child in element:
        if child.tag == "a":
            continue
        if child.tag != "i":
            before.add_element(child)
            before.add(child.tail)
            continue
        tail = one_line(child.tail or "").removesuffix("·").strip()
        reasons.append((text_of(child), tail.removeprefix(":").strip() or None))
    details = before.text.strip().removesuffix(phrases.found_by).split(" ·")
    return [fact.strip() for fact in details if fact.strip(" ·")], reasons


def read_item(item, number, phrases):
    """One paper."""
    found = {"sentence": None, "is_generated": False, "details": [], "reasons": [],
             "links": [], "abstract": None}
    marks = {}
    headings = [child for child in item if child.tag == "h2"]
    title = headings[0] if headings else item
    runs = runs_of(title, skip=("meta",))
    marks["title"] = runs.marks
    anchor = next(iter(title.iter("a")), None)
    for part in item:
        if has_class(part, "abstract"):
            body = runs_of(part)
            found["abstract"], marks["abstract"] = body.text, body.marks
        elif part.tag == "p" and not part.get("class"):
            body = runs_of(part, skip=("meta",))
            found["sentence"], marks["sentence"] = body.text, body.marks
            label = [text_of(child) for child in part if has_class(child, "meta")]
            found["is_generated"] = label == [f"({phrases.generated})"]
            assert found["is_generated"] or not label, label
        elif has_class(part, "meta"):
            found["links"] = [(text_of(a), a.get("href")) for a in part.iter("a")]
            found["details"], found["reasons"] = read_meta(part, phrases)
        else:
            assert part.tag in ("h2", "a", "b"), (part.tag, part.get("class"))
    return Entry(number, bool(headings), runs.text,
                 anchor.get("href") if anchor is not None else None, marks=marks, **found)


def read_counts(line, phrases):
    """Filters and their numbers of papers: [(label, number)]"""
    line = line.strip().removeprefix(phrases.by_filter)
    line = line.removesuffix(phrases.overlapping)
    found = [re.fullmatch(r"(.*) ([\d.,]+)", part.strip()) for part in line.split(" · ")]
    assert all(found), line
    return [(match[1], number_of(match[2])) for match in found]


def read_html(html):
    import html5lib

    tree = html5lib.parse(html, namespaceHTMLElements=False)
    language = tree.get("lang")
    phrases = PHRASES[language]
    entries, top, counts = [], [], []
    for block in tree.iter("ol"):
        number = int(block.get("start", 1))
        for item in block.iter("li"):
            entries.append(read_item(item, number, phrases))
            number += 1
    for line in tree.iter("p"):
        if has_class(line, "counts"):
            counts = read_counts(text_of(line), phrases)
        elif has_class(line, "best") and (match := TOP.fullmatch(text_of(line))):
            top.append((int(match[1]), match[2]))
    (heading,) = tree.iter("h1")
    return Page(language, text_of(heading), counts, top, entries)


# ---- plain text -------------------------------------------------------------------

START = re.compile(r"(?=.{3}\.) *(\d+)\. (.*)")
LINK = re.compile(r"(\S.*): (https?://\S+)$")


def join_links(lines):
    """Lines with each long URL after its label again."""
    joined = []
    for line in lines:
        if line.startswith("http") and len(joined) > 1 and joined[-1].endswith(":"):
            joined[-1] += " " + line
        else:
            joined.append(line)
    return joined


def read_block(number, lines, phrases):
    """One paper.  The sentence and the details after it are one text: details."""
    lines = join_links(lines)
    title, at = [lines[0]], 1
    while at < len(lines) and lines[at] and not lines[at].startswith("http"):
        title.append(lines[at])
        at += 1
    url = lines[at] if at < len(lines) and lines[at].startswith("http") else None
    at += bool(url)
    middle, reasons, links = [], [], []
    while at < len(lines) and lines[at]:
        link = LINK.fullmatch(lines[at])
        if lines[at].startswith(phrases.found_by + " "):
            reasons.append([lines[at].removeprefix(phrases.found_by + " ")])
        elif link:
            links.append(link.groups())
        else:
            (reasons[-1] if reasons else middle).append(lines[at])
        at += 1
    abstract = " ".join(lines[at:]).strip()
    return Entry(number, None, " ".join(title), url, None, None, " ".join(middle),
                 [" ".join(reason) for reason in reasons], links, abstract or None, None)


def read_overview(text, phrases):
    """The lines before the first paper.  @return counts, top"""
    paragraphs = [line.split("\n") for line in text.split("\n\n")]
    counts, top = [], []
    for lines in paragraphs:
        for at, line in enumerate(lines):
            if line.startswith(phrases.by_filter):
                counts = read_counts(" ".join(lines[at:]), phrases)
            elif match := TOP.fullmatch(line):
                top.append((int(match[1]), match[2]))
    return counts, top


def read_text(text, language):
    phrases = PHRASES[language]
    entries, lines, number = [], None, 0
    for line in text.split("\n") + ["end"]:
        start = START.match(line)
        if start and int(start[1]) == number + 1:
            if lines:
                entries.append(read_block(number, lines, phrases))
            number += 1
            lines = [start[2]]
        elif lines is not None and (line.startswith("     ") or not line):
            lines.append(line.strip())
        elif lines is not None:
            entries.append(read_block(number, lines, phrases))
            lines = None
    counts, top = read_overview(text.partition("\n  1. ")[0], phrases)
    return Page(language, text.split("\n")[0], counts, top, entries)
