#!/usr/bin/env python3
"""oracle.py - the filter language again: slow, small and obviously right.

Written from the description of the language alone, to be compared with the
program's own parser and matcher.  In scope: words, phrases, prefixes, =letters,
AND OR NOT in all spellings, parentheses, the fields title, abstract, text,
author and upvotes, and groups after a field.  The rest of the language raises
OutOfScope, so that a comparison skips it instead of calling it an error.

Where the description leaves room, this file reads it so:
- the innermost field counts: title:(a abs:b) is title:a abs:b;
- one negation an operand: "NOT -a" and "--a" are refused;
- a word without any letter or digit is refused;
- a word with + # or an inner dot must stand in the text sign by sign, case and
  diacritics aside, and not go on with + or #: c++ finds C++ and C++11, not C+;
- a star belongs to the last word of its term, other stars are separators;
- the words of a phrase are folded like single words, the prefix is not;
- one term is one word, phrase, name or comparison; depth counts parentheses;
- a name in the query is "Given Last", "Last, Given" or "Last"; its given names
  stand in that order among those of the author, equal or one the initial of the
  other; "Smith-Jones" is one last name and not found by "Jones";
- the number of a comparison has one to nine digits; upvotes:20 is equality;
- a range that holds nothing (20..10) is refused.
"""

import argparse
import difflib
import re
import sys
import unicodedata

from normalize import normalize
from papers import load_papers
from words import fold_letters, plural_class, spans, tokens

MAX_BYTES = 512
MAX_TERMS = 40
MAX_DEPTH = 8
MIN_PREFIX = 3

FIELDS = {
    "title": "title", "ti": "title",
    "abstract": "abstract", "abs": "abstract",
    "text": "text", "all": "text",
    "author": "author", "au": "author",
    "upvotes": "upvotes",
}
OTHER_FIELDS = frozenset(
    """first cat primary source org kw comment co journal jr doi id has comments
    stars authors date type""".split()
)
OPERATORS = frozenset(("AND", "OR", "NOT", "ANDNOT"))
NOT_IN_WORDS = frozenset(',():"|&^')
CATEGORY = re.compile(
    r"(?:(?:astro-ph|cond-mat|cs|econ|eess|math|nlin|physics|q-bio|q-fin|stat)"
    r"\.[A-Za-z-]{2,15}|gr-qc|hep-(?:ex|lat|ph|th)|math-ph|nucl-(?:ex|th)|quant-ph"
    r"|astro-ph|cond-mat|q-bio|q-fin)"
)
NUMBERS = re.compile(
    r"(?P<op>>=|<=|>|<|=)(?P<value>\d{1,9})"
    r"|(?P<low>\d{1,9})\.\.(?P<high>\d{1,9})?"
    r"|\.\.(?P<top>\d{1,9})"
    r"|(?P<same>\d{1,9})"
)


class FilterError(Exception):
    """A filter that is refused; column counts characters from 1."""

    def __init__(self, column, message):
        super().__init__(f"column {column}: {message}")
        self.column = column


class OutOfScope(FilterError):
    """A part of the language that this file does not know."""


# ---- truth: True, False, or None for unknown --------------------------------


def truth_not(a):
    return None if a is None else not a


def truth_and(values):
    values = list(values)
    return False if False in values else None if None in values else True


def truth_or(values):
    values = list(values)
    return True if True in values else None if None in values else False


# ---- what a filter is made of -----------------------------------------------


class And:
    def __init__(self, parts):
        self.parts = parts

    def truth(self, paper):
        return truth_and(part.truth(paper) for part in self.parts)

    def is_positive(self):
        return any(part.is_positive() for part in self.parts)


class Or:
    def __init__(self, parts):
        self.parts = parts

    def truth(self, paper):
        return truth_or(part.truth(paper) for part in self.parts)

    def is_positive(self):
        return all(part.is_positive() for part in self.parts)


class Not:
    def __init__(self, part):
        self.part = part

    def truth(self, paper):
        return truth_not(self.part.truth(paper))

    def is_positive(self):
        return False


class Leaf:
    def is_positive(self):
        return True


class Words(Leaf):
    """Words side by side in the title, the abstract, or either."""

    def __init__(self, field, words, is_prefix, letters=None, is_exact=False):
        self.field = field
        self.words = words
        self.is_prefix = is_prefix
        self.letters = letters
        self.is_exact = is_exact

    def truth(self, paper):
        names = ("title", "abstract") if self.field == "text" else (self.field,)
        return truth_or(self.truth_in(paper.text[name]) for name in names)

    def truth_in(self, text):
        if text is None:
            return None
        return any(self.is_at(text, at) for at in range(len(text.plain)))

    def is_at(self, text, at):
        end = at + len(self.words)
        if end > len(text.plain):
            return False
        if self.letters is not None:
            return self.are_letters_at(text, at, end)
        for number, word in enumerate(self.words):
            is_last = number == len(self.words) - 1
            if is_last and self.is_prefix:
                if not text.plain[at + number].startswith(word):
                    return False
            elif text.folded[at + number] != text.fold(word):
                return False
        return True

    def are_letters_at(self, text, at, end):
        """The signs around and between the words too, as they were typed."""
        own = spans(self.letters)
        start = text.spans[at][1] - own[0][1]
        after = len(self.letters) - own[-1][2]
        stop = text.spans[end - 1][2] + (0 if self.is_prefix else after)
        if self.is_prefix:
            own_last = own[-1][2] - own[-1][1]
            stop = text.spans[end - 1][1] + own_last + after
        if start < 0 or stop > len(text.raw):
            return False
        there, wanted = text.raw[start:stop], self.letters
        if not self.is_exact:
            there, wanted = fold_letters(there), fold_letters(wanted)
        return there == wanted and text.raw[stop : stop + 1] not in ("+", "#")


class Name(Leaf):
    """One author's name."""

    def __init__(self, given, last, is_prefix, letters):
        self.given = given
        self.last = last
        self.is_prefix = is_prefix
        self.letters = letters

    def truth(self, paper):
        if paper.authors is None:
            return None
        return any(self.is_name(author) for author in paper.authors)

    def is_name(self, author):
        if self.letters is not None:
            end = "" if self.is_prefix else r"(?!\w)"
            if not re.search(rf"(?<!\w){re.escape(self.letters)}{end}", author):
                return False
        parts = name_parts(author)
        count = len(self.last)
        if len(parts) < count or not self.is_last_name(parts[-count:]):
            return False
        given = iter([word for part in parts[:-count] for word in part])
        return all(any(same_given(mine, its) for its in given) for mine in self.given)

    def is_last_name(self, parts):
        if not self.is_prefix:
            return parts == self.last
        return (
            parts[:-1] == self.last[:-1]
            and len(parts[-1]) == len(self.last[-1])
            and parts[-1][:-1] == self.last[-1][:-1]
            and parts[-1][-1].startswith(self.last[-1][-1])
        )


def split_name(name):
    """The parts of a name at blanks and dots, each a list of words."""
    return [part for part in map(tokens, re.split(r"[\s.]+", name)) if part]


def name_parts(name):
    """Parts in spoken order: "LeCun, Yann" is [[yann], [lecun]]."""
    last, _, given = name.partition(",")
    return split_name(given) + split_name(last)


def same_given(a, b):
    """Equal, or one is the initial of the other."""
    return a == b or (min(len(a), len(b)) == 1 and a[0] == b[0])


class Votes(Leaf):
    """A number between two bounds, both inside; None is no bound."""

    def __init__(self, low, high):
        self.low = low
        self.high = high

    def truth(self, paper):
        if paper.upvotes is None:
            return None
        return (self.low is None or paper.upvotes >= self.low) and (
            self.high is None or paper.upvotes <= self.high
        )


# ---- parser -----------------------------------------------------------------


class Parser:
    """Recursive descent along the grammar, a character at a time."""

    def __init__(self, source):
        self.source = source
        self.at = 0
        self.depth = 0
        self.terms = 0

    def fail(self, message, at=None, kind=FilterError):
        raise kind((self.at if at is None else at) + 1, message)

    def look(self):
        return self.source[self.at : self.at + 1]

    def look_word(self):
        end = self.at
        while end < len(self.source) and is_word_character(self.source[end]):
            end += 1
        return self.source[self.at : end]

    def skip_blanks(self):
        while self.look().isspace():
            self.at += 1

    def take_operator(self, word, sign=None):
        self.skip_blanks()
        if sign is not None and self.look() == sign:
            self.at += 1
        elif self.look_word() == word:
            self.at += len(word)
        else:
            return False
        self.skip_blanks()
        return True

    def parse(self):
        self.skip_blanks()
        if not self.look():
            self.fail("a word is wanted")
        tree = self.parse_or(None)
        if self.look():
            self.fail(f'unexpected "{self.look()}"')
        if not tree.is_positive():
            self.fail("nothing but negatives", 0)
        return tree

    def parse_or(self, field):
        parts = [self.parse_and(field)]
        while self.take_operator("OR", "|"):
            parts.append(self.parse_and(field))
        return parts[0] if len(parts) == 1 else Or(parts)

    def parse_and(self, field):
        parts = [self.parse_not(field)]
        while True:
            if self.take_operator("ANDNOT"):
                parts.append(Not(self.parse_operand(field)))
            elif self.take_operator("AND", "&"):
                parts.append(self.parse_not(field))
            elif self.look() in ("", ")", "|") or self.look_word() == "OR":
                return parts[0] if len(parts) == 1 else And(parts)
            else:
                parts.append(self.parse_not(field))

    def parse_not(self, field):
        if self.take_operator("NOT"):
            return Not(self.parse_operand(field))
        if self.look() in ("-", "!"):
            self.at += 1
            if not self.look() or self.look().isspace():
                self.fail("the sign stands directly before its word", self.at - 1)
            return Not(self.parse_operand(field))
        return self.parse_operand(field)

    def parse_operand(self, field):
        here = self.look()
        word = self.look_word()
        if here in ("-", "!"):
            self.fail("one negation is enough")
        if here == "(":
            node = self.parse_group(field)
        elif here == '"':
            node = self.parse_phrase(field)
        elif not word:
            self.fail(f'a word or phrase is wanted, not "{here or "the end"}"')
        elif re.fullmatch(r"NEAR(/\d+)?", word):
            self.fail("NEAR is not known here", kind=OutOfScope)
        elif word in OPERATORS:
            self.fail(f"a word or phrase is wanted, not {word}")
        elif self.source[self.at + len(word) : self.at + len(word) + 1] == ":":
            node = self.parse_fielded(word)
        elif field is None and CATEGORY.fullmatch(word):
            self.fail("categories are not known here", kind=OutOfScope)
        else:
            node = self.parse_word(field)
        if self.look() == "^":
            self.fail("weights are not known here", kind=OutOfScope)
        return node

    def parse_group(self, field):
        start = self.at
        self.at += 1
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail("too deep", start)
        self.skip_blanks()
        if self.look() == ")":
            self.fail("empty group", start)
        node = self.parse_or(field)
        if self.look() != ")":
            self.fail("a parenthesis is not closed", start)
        self.at += 1
        self.depth -= 1
        return node

    def parse_fielded(self, name):
        start = self.at
        key = name.lower()
        if key in OTHER_FIELDS:
            self.fail(f"field {key} is not known here", kind=OutOfScope)
        if key not in FIELDS:
            near = difflib.get_close_matches(key, list(FIELDS) + list(OTHER_FIELDS), 1)
            hint = f", meant {near[0]}?" if near else ""
            self.fail(f'unknown field "{name}"{hint}')
        field = FIELDS[key]
        self.at += len(name) + 1
        if field == "upvotes":
            return self.parse_numbers()
        if self.look() == "(":
            return self.parse_group(field)
        if self.look() == '"':
            return self.parse_phrase(field)
        word = self.look_word()
        if not word or word in OPERATORS:
            self.fail(f'a word or phrase is wanted after "{name}:"')
        if word[0] in "<>" or re.fullmatch(r"=\d+", word):
            self.fail(f'"{name}" is not a number field', start)
        if self.source[self.at + len(word) : self.at + len(word) + 1] == ":":
            self.fail("one field a word")
        return self.parse_word(field)

    def parse_numbers(self):
        word = self.look_word()
        match = NUMBERS.fullmatch(word)
        if not match:
            sign = re.match("[<>=]*", word).end()
            self.fail("a number is wanted", self.at + sign)
        self.count_term()
        self.at += len(word)
        low, high = match["low"], match["high"] or match["top"]
        if match["same"]:
            low = high = match["same"]
        low = None if low is None else int(low)
        high = None if high is None else int(high)
        if match["op"]:
            value = int(match["value"])
            low, high = {
                ">=": (value, None), "<=": (None, value), "=": (value, value),
                ">": (value + 1, None), "<": (None, value - 1),
            }[match["op"]]
        if low is not None and high is not None and low > high:
            self.fail("the range is empty")
        return Votes(low, high)

    def parse_phrase(self, field):
        start = self.at
        end = self.source.find('"', start + 1)
        if end < 0:
            self.fail("a quote is not closed", start)
        self.at = end + 1
        return self.make_term(field, self.source[start + 1 : end], start, is_word=False)

    def parse_word(self, field):
        start = self.at
        word = self.look_word()
        self.at += len(word)
        return self.make_term(field, word, start, is_word=True)

    def make_term(self, field, typed, start, is_word):
        self.count_term()
        is_exact = is_word and typed.startswith("=")
        text = typed[1:] if is_exact else typed.strip()
        is_prefix = text.endswith("*")
        text = text[:-1] if is_prefix else text
        words = tokens(text)
        if not words:
            self.fail("a word or phrase is wanted", start)
        if is_prefix and len(words[-1]) < MIN_PREFIX:
            self.fail("a prefix needs three characters", start)
        if field == "author":
            last, comma, given = text.partition(",")
            last, given = split_name(last), split_name(given)
            if not last:
                self.fail("a last name is wanted", start)
            if not comma:
                last, given = last[-1:], last[:-1]
            given = [word for part in given for word in part]
            return Name(given, last, is_prefix, text if is_exact else None)
        has_signs = is_word and bool(set("+#") & set(text) or "." in text.strip("."))
        letters = text if is_exact or has_signs else None
        return Words(field or "text", words, is_prefix, letters, is_exact)

    def count_term(self):
        self.terms += 1
        if self.terms > MAX_TERMS:
            self.fail("too many terms")


def is_word_character(c):
    return not c.isspace() and c not in NOT_IN_WORDS


def parse(source):
    """The filter as a tree; FilterError with the column if it is refused."""
    source = unicodedata.normalize("NFC", source)
    for at, c in enumerate(source):
        if unicodedata.category(c) == "Cc":
            raise FilterError(at + 1, "a control character")
    if len(source.encode("utf-8")) > MAX_BYTES:
        raise FilterError(MAX_BYTES + 1, "too long")
    return Parser(source).parse()


# ---- papers -----------------------------------------------------------------


class Text:
    """One field of a paper: as it is read, its words, their plural classes."""

    def __init__(self, raw, fold):
        self.raw = normalize(raw)
        self.fold = fold
        self.spans = spans(self.raw)
        self.plain = [token for token, _, _ in self.spans]
        self.folded = [fold(token) for token in self.plain]


class Paper:
    """A paper made ready; a missing or None field is unknown."""

    def __init__(self, paper, fold=plural_class):
        self.id = paper.get("id")
        self.text = {}
        for name in ("title", "abstract"):
            raw = paper.get(name)
            self.text[name] = None if raw is None else Text(raw, fold)
        authors = paper.get("authors")
        self.authors = None if authors is None else [normalize(a) for a in authors]
        self.upvotes = paper.get("upvotes")


def match(source, paper, fold=plural_class):
    """The truth of one filter about one paper: True, False, None (unknown)."""
    if not isinstance(paper, Paper):
        paper = Paper(paper, fold)
    return parse(source).truth(paper)


def match_all(filters, papers, truth=True, fold=plural_class):
    """For each filter, in order, the ids of the papers with that truth."""
    ready = [Paper(paper, fold) for paper in papers]
    trees = {source: parse(source) for source in dict.fromkeys(filters)}
    found = {
        source: [paper.id for paper in ready if tree.truth(paper) is truth]
        for source, tree in trees.items()
    }
    return [found[source] for source in filters]


def main(argv):
    parser = argparse.ArgumentParser(description="List the papers that a filter finds.")
    flag = {"action": "store_true"}
    parser.add_argument("--waiting", help="list the unknown instead", **flag)
    parser.add_argument("--titles", help="print the titles too", **flag)
    parser.add_argument("filter", metavar="FILTER")
    parser.add_argument("files", metavar="FILE.json", nargs="+")
    options = parser.parse_args(argv[1:])
    papers = [paper for path in options.files for paper in load_papers(path)]
    titles = {paper["id"]: normalize(paper["title"]) for paper in papers}
    wanted = None if options.waiting else True
    try:
        found = match_all([options.filter], papers, wanted)[0]
    except FilterError as error:
        sys.stderr.write(f"oracle.py: {error}\n")
        return 2
    for name in dict.fromkeys(found):
        print(f"{name}\t{titles[name]}" if options.titles else name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
