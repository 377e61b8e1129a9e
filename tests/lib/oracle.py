#!/usr/bin/env python3
"""oracle.py - the filter language again: slow, small and obviously right.

Written from the description of the language alone, to be compared with the
program's own parser and matcher.  In scope: words, phrases, prefixes, =letters,
AND OR NOT in all spellings, parentheses, the fields title, abstract, text,
author and upvotes, and groups after a field.  The rest of the language raises
OutOfScope, so that a comparison skips it instead of calling it an error.

Where the description leaves room, this file reads it so:
- the innermost field counts: title:(a abs:b) is title:a abs:b;
- one negation an operand: "NOT -a" and "--a" are refused, "-(-a)" is a;
- a word without any letter or digit is refused, and one behind + or #;
- the signs + and # behind a word and the dots between two must stand in the text
  as they were typed: c++ finds C++ and C++11, not C+; other signs only part words,
  and letters fold as ever;
- a star stands behind the last word of its term and nowhere else;
- the words of a phrase are folded like single words, the prefix is not;
- one term is one word, phrase, name or comparison; depth counts parentheses;
- a name of several words is "Given Last" or "Last, Given".  Its given names stand in
  that order among those of the author, equal or one the initial of the other; the
  first stands first, unless it is a particle ("van den Oord"), others may be missing;
- a name of one word is any whole word of a name, "LeCun," a last name; "Ben-David"
  is one word and not found by "David"; Jr. and the like behind a name do not count;
- the number of a comparison has one to nine digits; upvotes:20 is equality;
- a range that holds nothing (20..10) is refused.
"""

import argparse
import collections
import difflib
import itertools
import re
import sys
import unicodedata

from normalize import normalize
from papers import load_papers
from words import plural_class, spans, tokens

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
PARTICLES = frozenset(
    """al bin da dal de del della den der di dos du el ibn la le st te ten ter van von
    zu zur""".split()
)
SUFFIXES = ("jr", "sr", "ii", "iii", "iv")
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

    def is_positive(self, is_negated=False):
        some = all if is_negated else any
        return some(part.is_positive(is_negated) for part in self.parts)


class Or:
    def __init__(self, parts):
        self.parts = parts

    def truth(self, paper):
        return truth_or(part.truth(paper) for part in self.parts)

    def is_positive(self, is_negated=False):
        some = any if is_negated else all
        return some(part.is_positive(is_negated) for part in self.parts)


class Not:
    def __init__(self, part, column):
        self.part = part
        self.column = column

    def truth(self, paper):
        return truth_not(self.part.truth(paper))

    def is_positive(self, is_negated=False):
        return self.part.is_positive(not is_negated)


class Leaf:
    def is_positive(self, is_negated=False):
        return not is_negated


def negative_column(node):
    """Where the first operand stands that would find nearly everything."""
    while not isinstance(node, Not):
        node = next(part for part in node.parts if not part.is_positive())
    return node.column


class Words(Leaf):
    """Words side by side in the title, the abstract, or either."""

    def __init__(self, field, typed, is_prefix, is_exact):
        self.field = field
        self.typed = typed
        self.spans = spans(typed)
        self.words = [word for word, _, _ in self.spans]
        self.is_prefix = is_prefix
        self.is_exact = is_exact

    def truth(self, paper):
        names = ("title", "abstract") if self.field == "text" else (self.field,)
        return truth_or(self.truth_in(paper.text[name]) for name in names)

    def truth_in(self, text):
        if text is None:
            return None
        places = range(len(text.plain))
        if len(self.words) > 1 or not self.is_prefix:
            # no more than a short cut: is_at() would say no anywhere else
            places = text.places.get(text.fold(self.words[0]), ())
        return any(self.is_at(text, at) for at in places)

    def is_at(self, text, at):
        end = at + len(self.words)
        if end > len(text.plain):
            return False
        if self.is_exact:
            return self.are_letters_at(text, at, end)
        for number, word in enumerate(self.words):
            is_last = number == len(self.words) - 1
            if is_last and self.is_prefix:
                if not text.plain[at + number].startswith(word):
                    return False
            elif text.folded[at + number] != text.fold(word):
                return False
            if not self.are_signs_behind(number, text, at + number):
                return False
        return True

    def are_signs_behind(self, number, text, at):
        """c++ and node.js: what stands behind a word as it was typed."""
        typed_gap = gap_behind(self.typed, self.spans, number)
        gap = gap_behind(text.raw, text.spans, at)
        if re.fullmatch(r"[+#.]+", typed_gap) and number + 1 < len(self.words):
            return gap == typed_gap
        signs = re.match(r"[+#.]*", typed_gap)[0].rstrip(".")
        return not signs or bool(re.match(re.escape(signs) + r"\.*(?![+#.])", gap))

    def are_letters_at(self, text, at, end):
        """The very letters, signs around and between the words too."""
        start = text.spans[at][1] - self.spans[0][1]
        after = len(self.typed) - self.spans[-1][2]
        stop = text.spans[end - 1][2] + after
        if self.is_prefix:
            last = self.spans[-1][2] - self.spans[-1][1]
            stop = text.spans[end - 1][1] + last + after
        if start < 0 or stop > len(text.raw):
            return False
        there = text.raw[start:stop]
        return there == self.typed and text.raw[stop : stop + 1] not in ("+", "#")


def gap_behind(text, places, number):
    """What stands between a word and the next one, or the end."""
    is_last = number + 1 == len(places)
    return text[places[number][2] : len(text) if is_last else places[number + 1][1]]


class Name(Leaf):
    """One author's name."""

    def __init__(self, typed):
        self.given, self.last, self.has_comma = read_name(typed)

    def truth(self, paper):
        if paper.authors is None:
            return None
        return any(self.is_name(author) for author in paper.authors)

    def is_name(self, author):
        given, last, _ = read_name(author)
        words = given + last
        if not self.given and not self.has_comma:
            runs = itertools.combinations(range(len(words) + 1), 2)
            return any(flat(words[a:b]) == flat(self.last) for a, b in runs)
        for at in range(len(words)):
            if flat(words[at:]) == flat(self.last):
                return are_given(flat(self.given), flat(words[:at]))
        return False


def flat(words):
    """The tokens of words: [["ben", "david"]] and [["ben"], ["david"]] are alike."""
    return [token for word in words for token in word]


def are_given(asked, printed):
    """Each asked for, in order; the first is the first, or a particle."""
    if asked and asked[0] not in PARTICLES:
        if not printed or not same_given(asked[0], printed[0]):
            return False
        asked, printed = asked[1:], printed[1:]
    rest = iter(printed)
    return all(any(same_given(mine, its) for its in rest) for mine in asked)


def split_name(name):
    """The words of a name, each a list of tokens; Jr., III at the end left out."""
    words = [word for word in map(tokens, re.split(r"[\s._,]+", name)) if word]
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
        self.operator = None  # where the last one stands, and where it ends

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
        start = self.at
        if sign is not None and self.look() == sign:
            self.at += 1
        elif self.look_word() == word:
            self.at += len(word)
        else:
            return False
        self.skip_blanks()
        self.operator = (start, self.at)
        return True

    def fail_missing(self):
        """An operand is wanted: told of the operator before, if there is one."""
        start, end = self.operator or (None, None)
        self.fail("a word is missing", start if end == self.at else None)

    def parse(self):
        self.skip_blanks()
        if not self.look():
            self.fail("there is nothing to search for", 0)
        tree = self.parse_or(None)
        if self.look():
            self.fail(f'unexpected "{self.look()}"')
        if not tree.is_positive():
            self.fail("nothing but negatives", negative_column(tree) - 1)
        return tree

    def parse_or(self, field):
        parts = [self.parse_and(field)]
        while self.take_operator("OR", "|"):
            parts.append(self.parse_and(field))
        return parts[0] if len(parts) == 1 else Or(parts)

    def parse_and(self, field):
        parts = [self.parse_not(field)]
        while True:
            column = self.at + 1
            if self.take_operator("ANDNOT"):
                parts.append(Not(self.parse_operand(field), column))
            elif self.take_operator("AND", "&"):
                parts.append(self.parse_not(field))
            elif self.look() in ("", ")", "|") or self.look_word() == "OR":
                return parts[0] if len(parts) == 1 else And(parts)
            else:
                parts.append(self.parse_not(field))

    def parse_not(self, field):
        column = self.at + 1
        if self.take_operator("NOT"):
            return Not(self.parse_operand(field), column)
        if self.look() in ("-", "!"):
            self.at += 1
            if not self.look() or self.look().isspace():
                self.fail("the sign stands directly before its word", self.at - 1)
            return Not(self.parse_operand(field), column)
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
        elif not word and here and here not in "|&" and (here != ")" or not self.depth):
            self.fail(f'a word or phrase is wanted, not "{here}"')
        elif not word:
            self.fail_missing()
        elif re.fullmatch(r"NEAR(/\d+)?", word):
            self.fail("NEAR is not known here", kind=OutOfScope)
        elif word == "NOT":
            self.fail("one NOT is enough")
        elif word in OPERATORS:
            self.fail_missing()
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
        if word[0] in "-!" and len(word) > 1:
            self.fail(f"the sign stands before the name of the field: -{name}:")
        if word[0] in "<>" or re.fullmatch(r"=\d+", word):
            self.fail(f'"{name}" is not a number field')
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
        start = self.at
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
            if high is not None and high < 0:
                self.fail("no number is below 0", start + len(match["op"]))
        if low is not None and high is not None and low > high:
            self.fail("the range is empty", start)
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
        if field == "author":
            return self.make_name(typed, start, is_exact)
        inner = start + (0 if is_word else 1) + is_exact
        text = typed[1:] if is_exact else typed.rstrip(" ")
        is_prefix = "*" in text
        if is_prefix and text.index("*") != len(text) - 1:
            self.fail("a star stands at the end of a word", inner + text.index("*"))
        text = text.removesuffix("*")
        places = spans(text)
        if not places:
            self.fail("a word or phrase is wanted", inner - is_exact)
        first, last = places[0][1], places[-1]
        if is_word and not is_exact and first and text[first - 1] in "+#":
            self.fail("a sign follows its word", inner + first - 1)
        if is_prefix and (len(last[0]) < MIN_PREFIX or last[2] != len(text)):
            self.fail("a prefix needs three characters", inner + last[1])
        return Words(field or "text", text, is_prefix, is_exact)

    def make_name(self, typed, start, is_exact):
        if is_exact:
            self.fail("letters of names are not known here", start, OutOfScope)
        if "*" in typed:
            self.fail("names are whole words", start)
        if not tokens(typed) or ("," in typed and not tokens(typed.partition(",")[0])):
            self.fail("a last name is wanted", start)
        return Name(typed)

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
        self.places = collections.defaultdict(list)
        for at, word in enumerate(self.folded):
            self.places[word].append(at)


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
