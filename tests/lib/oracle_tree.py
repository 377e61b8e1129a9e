"""oracle_tree.py - nodes of a filter, and their verdicts on papers.

Each node has truth(paper, settled, mode): True, False, or None for unknown.
"""

import calendar
import datetime
import itertools
import re

from oracle_paper import AS_REPORTED, FINALLY, MAY_CHANGE, NOTHING_SETTLED, not_known
from words import is_unspaced, spans, whole_tokens

PARTICLES = frozenset(
    """al bin da dal de del della den der di dos du el ibn la le st te ten ter van von
    zu zur""".split()
)
SUFFIXES = ("jr", "sr", "ii", "iii", "iv")


def truth_not(a):
    return None if a is None else not a


def truth_and(values):
    is_unknown = False
    for value in values:
        if value is False:
            return False
        is_unknown = is_unknown or value is None
    return None if is_unknown else True


def truth_or(values):
    return truth_not(truth_and(truth_not(value) for value in values))


# ---- operators --------------------------------------------------------------


class And:
    def __init__(self, parts):
        self.parts = parts

    def truth(self, paper, settled=NOTHING_SETTLED, mode=AS_REPORTED):
        return truth_and(part.truth(paper, settled, mode) for part in self.parts)

    def is_positive(self, is_negated=False):
        some = all if is_negated else any
        return some(part.is_positive(is_negated) for part in self.parts)


class Or:
    def __init__(self, parts):
        self.parts = parts

    def truth(self, paper, settled=NOTHING_SETTLED, mode=AS_REPORTED):
        return truth_or(part.truth(paper, settled, mode) for part in self.parts)

    def is_positive(self, is_negated=False):
        some = any if is_negated else all
        return some(part.is_positive(is_negated) for part in self.parts)


class Not:
    def __init__(self, part, column):
        self.part = part
        self.column = column

    def truth(self, paper, settled=NOTHING_SETTLED, mode=AS_REPORTED):
        return truth_not(self.part.truth(paper, settled, mode))

    def is_positive(self, is_negated=False):
        return self.part.is_positive(not is_negated)


class Leaf:
    def is_positive(self, is_negated=False):
        return not is_negated


def negative_column(node):
    """Column of the first operand that would match nearly everything."""
    while not isinstance(node, Not):
        node = next(part for part in node.parts if not part.is_positive())
    return node.column


# ---- words ------------------------------------------------------------------


class Words(Leaf):
    """Adjacent words in one text of a field."""

    def __init__(self, field, typed, is_prefix, is_exact):
        self.field = field
        self.typed = typed
        self.spans = spans(typed)
        self.words = [word for word, _, _ in self.spans]
        self.is_prefix = is_prefix
        self.is_exact = is_exact

    def truth(self, paper, settled=NOTHING_SETTLED, mode=AS_REPORTED):
        texts = paper.texts[self.field]
        if texts is None:
            return not_known(paper, self.field, settled)
        return any(self.find_in(text) for text in texts)

    def find_in(self, text):
        """Each place in a text: (first word, the word after the last one)."""
        places = range(len(text.plain))
        if not is_char(self.words[0]) and (len(self.words) > 1 or not self.is_prefix):
            # only a shortcut: is_at() is false anywhere else
            places = text.places.get(text.fold(self.words[0]), ())
        return [(at, at + len(self.words)) for at in places if self.is_at(text, at)]

    def is_at(self, text, at):
        if at + len(self.words) > len(text.plain):
            return False
        for number, word in enumerate(self.words):
            is_last = number == len(self.words) - 1
            end = text.spans[at + number][2]
            if is_char(word):
                plain = text.plain[at + number]
                if plain == word or (is_last and plain[0] == word):
                    end = text.spans[at + number][1] + 1
                elif number or text.lasts[at] != word:
                    return False
            elif self.is_exact:
                if self.raw_word(number) != raw_word(text, at + number):
                    return False
            elif is_last and self.is_prefix:
                if not text.plain[at + number].startswith(word):
                    return False
            elif text.folded[at + number] != text.fold(word):
                return False
            if not self.are_signs_after(number, text, at + number, end):
                return False
        return True

    def raw_word(self, number):
        _, start, end = self.spans[number]
        return self.typed[start:end]

    def are_signs_after(self, number, text, at, end):
        """c++ and node.js: the signs after a word as typed."""
        typed_gap = gap_after(self.typed, self.spans, number, self.spans[number][2])
        gap = gap_after(text.raw, text.spans, at, end)
        if re.fullmatch(r"[+#.]+", typed_gap) and number + 1 < len(self.words):
            return gap == typed_gap
        signs = re.match(r"[+#.]*", typed_gap)[0].rstrip(".")
        return not signs or bool(re.match(re.escape(signs) + r"\.*(?![+#.])", gap))


def raw_word(text, at):
    _, start, end = text.spans[at]
    return text.raw[start:end]


def gap_after(text, places, number, end):
    """Text between the end of a word and the next one, or the end."""
    is_last = number + 1 == len(places)
    return text[end : len(text) if is_last else places[number + 1][1]]


def is_char(word):
    """A query of one character of a script without spaces, found at any place."""
    return len(word) == 1 and is_unspaced(word)


class Near(Leaf):
    """All operands in one text within a distance, in any order."""

    def __init__(self, field, operands, distance):
        self.field = field
        self.operands = operands
        self.distance = distance

    def truth(self, paper, settled=NOTHING_SETTLED, mode=AS_REPORTED):
        return any(self.is_in(text) for text in paper.texts[self.field])

    def is_in(self, text):
        found = [operand.find_in(text) for operand in self.operands]
        lasts = {start for places in found for start, _ in places}
        return any(self.is_clump(found, last) for last in lasts)

    def is_clump(self, found, last):
        """The last operand begins here, and all others end within the distance before
        it.
        """
        return all(
            any(start <= last and last - end <= self.distance for start, end in places)
            for places in found
        )


# ---- names ------------------------------------------------------------------


class Name(Leaf):
    """Name of an author, or of the first author."""

    def __init__(self, field, typed):
        self.field = field
        self.given, self.last, self.has_comma = read_name(typed)

    def truth(self, paper, settled=NOTHING_SETTLED, mode=AS_REPORTED):
        authors = paper.authors[:1] if self.field == "first" else paper.authors
        return any(self.is_name(author) for author in authors)

    def is_name(self, author):
        given, last, _ = read_name_once(author)
        words = given + last
        if not self.given and not self.has_comma:
            parts = [[part] for part in flat(given)]
            return any(flat(row[a:b]) == flat(self.last) for row in (words, parts)
                       for a, b in itertools.combinations(range(len(row) + 1), 2))
        for at in range(len(words)):
            if flat(words[at:]) == flat(self.last):
                return are_given(flat(self.given), words[:at])
        return False


def flat(words):
    """Tokens of words: [["ben", "david"]] and [["ben"], ["david"]] are alike."""
    return [token for word in words for token in word]


def are_given(asked, words):
    """Each given name in order; the first is the first or a part of it, or a particle."""
    printed = flat(words)
    if asked and asked[0] not in PARTICLES:
        if not printed:
            return False
        if not same_given(asked[0], printed[0]):
            if asked[0] not in words[0]:
                return False
            printed = printed[words[0].index(asked[0]) :]
        asked, printed = asked[1:], printed[1:]
    rest = iter(printed)
    return all(any(same_given(mine, its) for its in rest) for mine in asked)


def split_name(name):
    """Words of a name, each a list of tokens, without a trailing Jr. or III."""
    words = [word for word in map(whole_tokens, re.split(r"[\s._,・]+", name)) if word]
    while len(words) > 1 and len(words[-1]) == 1 and words[-1][0] in SUFFIXES:
        words.pop()
    return words


def read_name(name):
    """A name as (given, last, has_comma)."""
    last, comma, given = name.partition(",")
    last, given = split_name(last), split_name(given)
    if given and all(len(word) == 1 and word[0] in SUFFIXES for word in given):
        comma, given = "", []
    if not comma or not last:
        words = given + last
        return words[:-1], words[-1:], bool(comma)
    if all(token in PARTICLES for token in flat(last[:-1])):
        given, last = given + last[:-1], last[-1:]
    return given, last, True


_names = {}


def read_name_once(name):
    if name not in _names:
        _names[name] = read_name(name)
    return _names[name]


def same_given(a, b):
    """Equal, or one is the initial of the other."""
    return a == b or (min(len(a), len(b)) == 1 and a[0] == b[0])


# ---- numbers and days -------------------------------------------------------


class Number(Leaf):
    """A number between two inclusive bounds; None is no bound."""

    def __init__(self, field, low, high):
        self.field = field
        self.low = low
        self.high = high

    def truth(self, paper, settled=NOTHING_SETTLED, mode=AS_REPORTED):
        value = paper.numbers[self.field]
        if self.field != "authors":
            if value is None:
                return not_known(paper, self.field, settled)
            if mode == MAY_CHANGE and settled < FINALLY:
                return None
        return (self.low is None or value >= self.low) and (
            self.high is None or value <= self.high
        )


class Days(Leaf):
    """Listed on a day between two; each is "YYYY-MM-DD", (7, "d") or None."""

    def __init__(self, low, high):
        self.low = low
        self.high = high

    def truth(self, paper, settled=NOTHING_SETTLED, mode=AS_REPORTED):
        low, high = (as_day(day, paper.today) for day in (self.low, self.high))
        is_relative = (low, high) != (self.low, self.high)
        return any(
            (low is None or low <= day) and (high is None or day <= high)
            for _, day, _, *late in paper.listings
            if not (late and is_relative)
        )


def as_day(day, today):
    """A day; resolves one that is relative to today."""
    if day is None or isinstance(day, str):
        return day
    count, unit = day
    now = datetime.date.fromisoformat(today)
    if unit in "dw":
        return str(now - datetime.timedelta(days=count * (7 if unit == "w" else 1)))
    months = now.year * 12 + now.month - 1 - count * (12 if unit == "y" else 1)
    year, month = months // 12, months % 12 + 1
    last = calendar.monthrange(year, month)[1]
    return str(datetime.date(year, month, min(now.day, last)))


# ---- values of sources ------------------------------------------------------


class Category(Leaf):
    """One of the categories, or the first one, is this or in this archive."""

    def __init__(self, field, name, is_archive):
        self.field = field
        self.name = name
        self.is_archive = is_archive

    def truth(self, paper, settled=NOTHING_SETTLED, mode=AS_REPORTED):
        if not paper.categories:
            return not_known(paper, self.field, settled)
        few = paper.categories[:1] if self.field == "primary" else paper.categories
        return any(
            name == self.name or (self.is_archive and name.startswith(self.name + "."))
            for name in few
        )


class Whole(Leaf):
    """The whole id, DOI or PMID, or a prefix; case-insensitive in ASCII."""

    def __init__(self, field, typed, is_prefix):
        self.field = field
        self.is_prefix = is_prefix
        self.value = ascii_lower(typed)
        if field == "id" and not is_prefix:
            self.value = bare_id(self.value)

    def truth(self, paper, settled=NOTHING_SETTLED, mode=AS_REPORTED):
        values = {"doi": [paper.doi] if paper.doi else [], "pmid": paper.pubmed,
                  "id": [paper.id, *paper.pubmed]}[self.field]
        if not values:
            return not_known(paper, self.field, settled)
        return any(ascii_lower(value).startswith(self.value) if self.is_prefix
                   else ascii_lower(value) == self.value for value in values)


def ascii_lower(text):
    return "".join(c.lower() if c.isascii() else c for c in text)


def bare_id(name):
    """arxiv:2401.00001v2 and hep-th/9901001v1 without prefix and version."""
    new = r"\d{4}\.\d{4,5}"
    old = r"[a-z-]+(?:\.[a-z]{2})?/\d{7}"
    match = re.fullmatch(f"({new}|{old})(?:v[0-9]+)?", name.removeprefix("arxiv:"))
    return match[1] if match else name


class Listing(Leaf):
    """A listing has this source or type."""

    def __init__(self, field, value):
        self.at = {"source": 0, "type": 2}[field]
        self.value = ascii_lower(value)

    def truth(self, paper, settled=NOTHING_SETTLED, mode=AS_REPORTED):
        return any(ascii_lower(row[self.at]) == self.value for row in paper.listings)


class Has(Leaf):
    """A link exists; a missing one may still be reported."""

    def __init__(self, kind):
        self.kind = kind

    def truth(self, paper, settled=NOTHING_SETTLED, mode=AS_REPORTED):
        return True if self.kind in paper.links else not_known(paper, "has", settled)
