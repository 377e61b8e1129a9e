"""oracle_parse.py - the oracle's parser: follows the grammar, one character at a time."""

import calendar
import difflib
import re
import unicodedata

from categories import (ARCHIVES, CATEGORIES, find_archive, find_category,
                        find_preprint)
from oracle_tree import (
    And, Listing, Category, Days, Has, Name, Near, Not, Number, Or, Whole, Words,
    negative_column,
)
from words import is_unspaced, spans, tokens

MAX_BYTES = 512
MAX_TERMS = 40
MAX_DEPTH = 8
MIN_PREFIX = 3
MAX_BOOST = 10
MAX_DISTANCE = 99
DISTANCE = 10

TEXT_FIELDS = ("title", "abstract", "text")
WORD_FIELDS = (*TEXT_FIELDS, "org", "kw", "comment", "journal", "mesh")
NAME_FIELDS = ("author", "first")
CATEGORY_FIELDS = ("cat", "primary")
NUMBER_FIELDS = ("upvotes", "comments", "stars", "authors")
WHOLE_FIELDS = ("doi", "pmid", "id")
CHOICES = {"has": ("code", "project", "video"), "type": ("new", "cross", "replace")}
ALIASES = {
    "ti": "title", "abs": "abstract", "all": "text", "au": "author", "co": "comment",
    "jr": "journal",
}
FIELDS = {
    name: name
    for name in (*WORD_FIELDS, *NAME_FIELDS, *CATEGORY_FIELDS, *NUMBER_FIELDS,
                 *WHOLE_FIELDS, *CHOICES, "source", "date")
} | ALIASES

OPERATORS = frozenset(("AND", "OR", "NOT", "ANDNOT"))
NOT_IN_WORDS = frozenset(',():"|&^')
NEAR = re.compile(r"NEAR(?:/(.*))?")
NUMBERS = re.compile(
    r"(?P<op>>=|<=|>|<|=)(?P<value>[0-9]{1,9})"
    r"|(?P<low>[0-9]{1,9})\.\.(?P<high>[0-9]{1,9})?"
    r"|\.\.(?P<top>[0-9]{1,9})"
    r"|(?P<same>[0-9]{1,9})"
)
DAY = re.compile(
    r"(?P<year>[0-9]{4})(?:-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2}))?)?"
    r"|(?P<count>[0-9]{1,3})(?P<unit>[dwmy])"
)


class FilterError(Exception):
    """A filter that is rejected; column counts characters from 1.

    is_sure: whether the description of the language allows no other column.
    """

    def __init__(self, column, message, is_sure=True):
        super().__init__(f"column {column}: {message}")
        self.column = column
        self.is_sure = is_sure


class Parser:
    """One method per rule of the grammar; `field` is that of the enclosing group."""

    def __init__(self, source, is_limited):
        self.source = source
        self.is_limited = is_limited
        self.at = 0
        self.depth = 0
        self.terms = 0
        self.operator = None  # start and end of the last one

    # -- characters --

    def fail(self, message, at=None, is_sure=True):
        raise FilterError((self.at if at is None else at) + 1, message, is_sure)

    def peek(self):
        return self.source[self.at : self.at + 1]

    def look_word(self):
        end = self.at
        while end < len(self.source) and is_word_character(self.source[end]):
            end += 1
        return self.source[self.at : end]

    def look_behind_word(self):
        end = self.at + len(self.look_word())
        return self.source[end : end + 1]

    def skip_blanks(self):
        while self.peek().isspace():
            self.at += 1

    def is_operator(self, word):
        """Whether this operator is here; with a colon it would be a field."""
        return self.look_word() == word and self.look_behind_word() != ":"

    def take_operator(self, word, sign=None):
        self.skip_blanks()
        start = self.at
        if sign is not None and self.peek() == sign:
            self.at += 1
        elif self.is_operator(word):
            self.at += len(word)
        else:
            return False
        self.skip_blanks()
        self.operator = (start, self.at)
        return True

    def fail_missing(self):
        """An operand is missing: report the operator before, if there is one."""
        start, end = self.operator or (None, None)
        self.fail("a word is missing", start if end == self.at else None)

    # -- query, or, and, not, boost --

    def parse(self):
        self.skip_blanks()
        if not self.peek():
            self.fail("the query is empty", 0)
        tree = self.parse_or(None)
        if self.peek():
            self.fail(f'unexpected "{self.peek()}"')
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
            self.skip_blanks()
            column = self.at + 1
            if self.take_operator("ANDNOT"):
                parts.append(Not(self.parse_boost(field), column))
            elif self.take_operator("AND", "&"):
                parts.append(self.parse_not(field))
            elif self.peek() in ("", ")", "|") or self.is_operator("OR"):
                return parts[0] if len(parts) == 1 else And(parts)
            else:
                parts.append(self.parse_not(field))

    def parse_not(self, field):
        column = self.at + 1
        if self.take_operator("NOT"):
            return Not(self.parse_boost(field), column)
        if self.peek() in ("-", "!"):
            self.at += 1
            if not self.peek() or self.peek().isspace():
                self.fail("the sign stands directly before its word", self.at - 1)
            self.operator = (self.at - 1, self.at)
            return Not(self.parse_boost(field), column)
        return self.parse_boost(field)

    def parse_boost(self, field):
        """A boost only affects the order of results: parsed and dropped."""
        node = self.parse_near(field)
        if self.peek() != "^":
            return node
        start = self.at
        digits = re.match(r"\^([0-9]*)", self.source[start:])[1]
        if not 1 <= len(digits) <= 2 or not 1 <= int(digits) <= MAX_BOOST:
            self.fail("a weight is 1 to 10", start, is_sure=False)
        self.at += 1 + len(digits)
        if self.peek() == "^":
            self.fail("one weight is enough")
        if self.peek() and not self.peek().isspace() and self.peek() not in ")|&,":
            self.fail("a weight is 1 to 10", start, is_sure=False)
        return node

    # -- near --

    def parse_near(self, field):
        self.skip_blanks()
        start = self.at
        node = self.parse_prim(field)
        operands = [(start, node)]
        distances = []
        while True:
            end = self.at
            self.skip_blanks()
            match = NEAR.fullmatch(self.look_word())
            if not match or self.look_behind_word() == ":" or self.is_near_group():
                break
            if (field or "text") not in TEXT_FIELDS:
                self.fail("NEAR is for texts", is_sure=False)
            self.check_operand(*operands[-1])
            distances.append(self.read_distance(match[1], self.at))
            if distances[-1] != distances[0]:
                self.fail("one distance in a chain", is_sure=False)
            self.take_operator(match[0])
            operands.append((self.at, self.parse_prim(field)))
        self.at = end
        if not distances:
            return node
        self.check_operand(*operands[-1])
        return Near(field or "text", [node for _, node in operands], distances[0])

    def check_operand(self, at, node):
        is_bare = self.source[at] not in "(-!" and not self.is_fielded_at(at)
        if not is_bare or not isinstance(node, Words):
            self.fail("a word or a phrase is wanted beside NEAR", at)

    def is_near_group(self):
        return self.look_word() == "NEAR" and self.look_behind_word() == "("

    def read_distance(self, text, at):
        if text is None:
            return DISTANCE
        if not re.fullmatch("[0-9]{1,2}", text) or not 1 <= int(text) <= MAX_DISTANCE:
            self.fail("a distance is 1 to 99", at, is_sure=False)
        return int(text)

    def is_fielded_at(self, at):
        """Whether a field is named here: title:x, but also NEAR(."""
        rest = self.source[at:]
        return bool(re.match(r'[^\s,():"|&^]+:|NEAR\(', rest))

    def parse_near_group(self, field):
        """NEAR(a "b c" d*, 5)"""
        start = self.at
        if (field or "text") not in TEXT_FIELDS:
            self.fail("NEAR is for texts", start, is_sure=False)
        self.at += len("NEAR(")
        operands = []
        while True:
            self.skip_blanks()
            word = self.look_word()
            if self.peek() in (")", ","):
                break
            if not self.peek():
                self.fail("a parenthesis is not closed", start, is_sure=False)
            is_word = word and word[0] not in "-!" and self.look_behind_word() != ":"
            is_word = is_word and word not in OPERATORS and not NEAR.fullmatch(word)
            is_word = is_word and (field or not find_category(word))
            if self.peek() == '"':
                operands.append(self.parse_phrase(field))
            elif is_word:
                operands.append(self.parse_word(field))
            else:
                self.fail("a word or a phrase is wanted in NEAR", is_sure=word != "")
        distance = DISTANCE
        if self.peek() == ",":
            distance = self.take_distance()
        if self.peek() != ")":
            self.fail("a parenthesis is wanted", is_sure=False)
        self.at += 1
        if len(operands) < 2:
            self.fail("NEAR stands between words", start, is_sure=False)
        return Near(field or "text", operands, distance)

    def take_distance(self):
        """, 5"""
        self.at += 1
        self.skip_blanks()
        word = self.look_word()
        if not re.fullmatch("[0-9]+", word):
            self.fail("a distance is 1 to 99", is_sure=False)
        distance = self.read_distance(word, self.at)
        self.at += len(word)
        self.skip_blanks()
        return distance

    # -- prim --

    def parse_prim(self, field):
        here = self.peek()
        word = self.look_word()
        behind = self.look_behind_word()
        if here and here in "-!":
            self.fail("one negation is enough")
        if here == "(":
            return self.parse_group(field)
        if here == '"':
            return self.parse_phrase(field)
        if not word and here and here not in "|&" and (here != ")" or not self.depth):
            is_operator_before = bool(self.operator) and self.operator[1] == self.at
            self.fail(f'a word is wanted, not "{here}"', is_sure=not is_operator_before)
        if not word:
            self.fail_missing()
        if self.is_near_group():
            return self.parse_near_group(field)
        if behind == ":":
            return self.parse_fielded(word)
        if word == "NOT":
            self.fail("duplicate NOT")
        if word in OPERATORS or NEAR.fullmatch(word):
            self.fail_missing()
        if field is None and find_category(word):
            self.count_term()
            self.at += len(word)
            return Category("cat", find_category(word), is_archive=False)
        return self.parse_word(field)

    def parse_group(self, field):
        start = self.at
        self.at += 1
        self.depth += 1
        if self.is_limited and self.depth > MAX_DEPTH:
            self.fail("too deep", start)
        self.skip_blanks()
        if self.peek() in ("", ")"):
            self.fail("an empty group", start)
        node = self.parse_or(field)
        if self.peek() != ")":
            self.fail("a parenthesis is not closed", start)
        self.at += 1
        self.depth -= 1
        return node

    def parse_fielded(self, name):
        key = name.lower()
        if key not in FIELDS:
            near = difflib.get_close_matches(key, list(FIELDS), 1)
            hint = f", meant {near[0]}?" if near else ""
            self.fail(f'unknown field "{name}"{hint}')
        field = FIELDS[key]
        self.at += len(name) + 1
        if self.peek() == "(":
            return self.parse_group(field)
        if self.peek() == '"':
            return self.parse_phrase(field)
        word = self.look_word()
        if self.is_near_group():
            return self.parse_near_group(field)
        if not word or word in OPERATORS or NEAR.fullmatch(word):
            self.fail(f'a word or phrase is wanted after "{name}:"')
        if word[0] in "-!":
            self.fail(f"the sign stands before the name of the field: -{name}:")
        if self.look_behind_word() == ":":
            self.fail("one field a word", is_sure=field in WORD_FIELDS)
        return self.parse_word(field)

    # -- text --

    def parse_phrase(self, field):
        start = self.at
        end = self.source.find('"', start + 1)
        if end < 0:
            self.fail("a quote is not closed", start)
        self.at = end + 1
        inside = self.source[start + 1 : end]
        return self.make_term(field or "text", inside, start, is_word=False)

    def parse_word(self, field):
        start = self.at
        word = self.look_word()
        self.at += len(word)
        return self.make_term(field or "text", word, start, is_word=True)

    def make_term(self, field, typed, start, is_word):
        """Clause of a field for a typed word or the inside of a phrase."""
        self.count_term()
        if is_word and typed[:1] in ("<", ">") and field not in NUMBER_FIELDS:
            self.fail("a comparison is for a field of numbers", start)
        if field in WORD_FIELDS:
            return self.make_words(field, typed, start, is_word)
        if not is_word and field in NUMBER_FIELDS:
            self.fail("a number has no quotes", start, is_sure=False)
        if field in NUMBER_FIELDS:
            return self.make_number(field, typed, start)
        if is_word and typed.startswith("="):
            self.fail("= is for words", start)
        if field in NAME_FIELDS:
            return self.make_name(field, typed, start)
        typed = typed.strip(" ")
        if field == "date":
            return self.make_days(typed, start)
        if not tokens(typed):
            self.fail("there is no letter or digit", start, is_sure=is_word)
        if field in CATEGORY_FIELDS:
            return self.make_category(field, typed, start)
        if field in WHOLE_FIELDS:
            return self.make_whole(field, typed, start, is_word)
        if field == "source":
            if "*" in typed:
                self.fail("the name of a source is whole", start, is_sure=False)
            return Listing(field, typed)
        return self.make_choice(field, typed, start)

    def make_words(self, field, typed, start, is_word):
        is_exact = is_word and typed.startswith("=")
        inner = start + (0 if is_word else 1) + is_exact
        text = typed[1:] if is_exact else typed.rstrip(" ")
        if is_exact and "*" in text:
            self.fail("= is for one whole word", start, is_sure=False)
        is_prefix = "*" in text
        if is_prefix and text.index("*") != len(text) - 1:
            self.fail("a star stands at the end of a word", inner + text.index("*"))
        text = text.removesuffix("*")
        places = spans(text)
        if not places:
            self.fail("a word or phrase is wanted", inner - is_exact)
        is_run = all(map(is_unspaced, text[places[0][1] : places[-1][2]]))
        if is_exact and len(places) > 1 and not is_run:
            self.fail("= is for one whole word", start, is_sure=False)
        first, last = places[0][1], places[-1]
        if is_word and first and text[first - 1] in "+#":
            self.fail("a sign follows its word", inner + first - 1)
        least = 1 if is_unspaced(last[0][0]) else MIN_PREFIX
        if is_prefix and (len(last[0]) < least or last[2] != len(text)):
            self.fail("a prefix needs three characters", inner + last[1])
        return Words(field, text, is_prefix, is_exact)

    # -- names --

    def make_name(self, field, typed, start):
        if "*" in typed:
            self.fail("names are whole words", start)
        if not tokens(typed) or ("," in typed and not tokens(typed.partition(",")[0])):
            self.fail("a last name is wanted", start)
        return Name(field, typed)

    def make_category(self, field, typed, start):
        name = find_category(typed)
        if name and name not in ARCHIVES:
            return Category(field, name, is_archive=False)
        name = find_preprint(typed)
        if name:
            return Category(field, name, is_archive=False)
        name = find_archive(typed)
        if name:
            return Category(field, name, is_archive=True)
        near = difflib.get_close_matches(typed, CATEGORIES + ARCHIVES, 1, 0)
        self.fail(f'no category "{typed}", meant {near[0]}?', start)

    def make_whole(self, field, typed, start, is_word):
        is_prefix = typed.endswith("*")
        text = typed.removesuffix("*")
        if "*" in text:
            inner = start + (0 if is_word else 1)
            self.fail("a star stands at the end", inner + text.index("*"), is_word)
        if is_prefix and len(text) < MIN_PREFIX:
            self.fail("a beginning needs three characters", start, is_word)
        return Whole(field, text, is_prefix)

    def make_choice(self, field, typed, start):
        choices = CHOICES[field]
        if typed.lower() not in choices:
            near = difflib.get_close_matches(typed, choices, 1, 0)
            self.fail(f'"{field}" is {", ".join(choices)}; meant {near[0]}?', start)
        return Has(typed.lower()) if field == "has" else Listing(field, typed)

    # -- numbers and days --

    def make_number(self, field, word, start):
        match = NUMBERS.fullmatch(word)
        if not match:
            sign = re.match("[<>]=?|=?", word).end()
            is_sure = not re.match(r"[<>=]*[0-9]|\.\.", word) and "=" not in word[sign:]
            self.fail("a number is wanted", start + sign, is_sure)
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
                self.fail("numbers cannot be negative", start + len(match["op"]))
        if low is not None and high is not None and low > high:
            self.fail("the range is empty", start)
        return Number(field, low, high)

    def make_days(self, word, start):
        low, dots, high = word.partition("..")
        if not dots:
            low, high = self.read_day(low, start), None
            if isinstance(low[0], tuple):  # 7d is 7d..
                return Days(low[0], None)
            return Days(*low)
        if not low and not high:
            self.fail("a day is wanted", start, is_sure=False)
        first = self.read_day(low, start)[0] if low else None
        behind = start + len(low) + len(dots)
        last = self.read_day(high, behind)[1] if high else None
        if is_turned(first, last):
            self.fail("the range is empty", start, is_sure=False)
        return Days(first, last)

    def read_day(self, text, at):
        """First and last day of a typed day, month or year."""
        match = DAY.fullmatch(text)
        if not match:
            self.fail("a day is wanted", at, is_sure=False)
        if match["unit"]:
            value = (int(match["count"]), match["unit"])
            return value, value
        year, month, day = (match[name] for name in ("year", "month", "day"))
        is_real = int(year) >= 1 and 1 <= int(month or 1) <= 12
        if is_real and day:
            is_real = 1 <= int(day) <= calendar.monthrange(int(year), int(month))[1]
        if not is_real:
            self.fail("there is no such day", at, is_sure=False)
        if day:
            return text, text
        if not month:
            return f"{year}-01-01", f"{year}-12-31"
        last = calendar.monthrange(int(year), int(month))[1]
        return f"{text}-01", f"{text}-{last:02}"

    def count_term(self):
        self.terms += 1
        if self.is_limited and self.terms > MAX_TERMS:
            self.fail("too many terms", is_sure=False)


# ---- quotation marks --------------------------------------------------------

CLOSERS = {
    '"': '"', "“": "”", "”": "”", "„": "“”", "‟": "”", "«": "»", "»": "«", "「": "」",
    "『": "』", "〝": "〞〟", "＂": "＂",
}
DOUBLE = frozenset("".join(CLOSERS) + "".join(CLOSERS.values()))
CURLY = frozenset('"“”„‟＂')
SINGLE = {"‘": "’", "’": "’", "‚": "‘’", "‛": "’", "‹": "›", "›": "‹"}
SINGLE_START = re.compile(r'(?:^|[\s(),:|&^"])[-–—−!]?$')
DOUBLE_START = re.compile(
    r"(?:^|[\s(,:|&^])(?:[-–—−!]|AND|OR|NOT|ANDNOT|NEAR|NEAR/[^\s()]*)?$")


def straighten(source):
    """The filter with straight marks only; FilterError where these are ambiguous."""
    out = list(source)
    at = 0
    while at < len(source):
        end = None
        before = "".join(out[:at])
        if source[at] in DOUBLE:
            end = find_double_end(source, at, not DOUBLE_START.search(before))
            space = len(source[at + 1 : end]) - len(source[at + 1 : end].rstrip())
            out[end - space : end] = " " * space
        elif source[at] in SINGLE and SINGLE_START.search(before):
            end = find_single_end(source, at)
        if end is not None:
            out[at] = out[end] = '"'
            at = end
        at += 1
    return "".join(out)


def find_double_end(source, at, is_attached):
    here = source[at]
    if here not in CLOSERS or (here != '"' and is_attached and ends_word(source, at)):
        raise FilterError(at + 1, f"{here} opens nothing")
    end = next((n for n in range(at + 1, len(source)) if source[n] in DOUBLE), None)
    if end is None:
        raise FilterError(at + 1, "a quote is not closed")
    mark = source[end]
    is_alike = mark == here or {mark, here} <= CURLY
    if mark in CLOSERS[here] or (is_alike and ends_word(source, end)):
        return end
    raise FilterError(end + 1, f"{mark} may open another phrase")


def find_single_end(source, at):
    """None: the mark is an apostrophe."""
    ends = []
    for n in range(at + 1, len(source)):
        mark = source[n]
        if mark in SINGLE[source[at]] and ends_word(source, n):
            ends.append(n)
        elif mark in DOUBLE or (mark in SINGLE and not is_in_word(source, at, n)):
            break
    if not ends:
        return None
    if len(ends) > 1 or source[at] == "’":
        raise FilterError(at + 1, f"{source[at]} may be an apostrophe")
    return ends[0]


def is_in_word(source, start, at):
    return at - 1 > start and source[at - 1].isalnum()


def ends_word(source, at):
    """Whether the mark is at the end of a word."""
    behind = source[at + 1 : at + 2]
    is_end = not behind or behind.isspace() or behind in "(),:|&^"
    return is_end and at > 0 and not source[at - 1].isspace()


def is_turned(first, last):
    """Whether a range is empty on every day."""
    if first is None or last is None or isinstance(first, str) != isinstance(last, str):
        return False
    if isinstance(first, str):
        return first > last
    size = {"d": 1, "w": 7, "m": 1, "y": 12}
    is_alike = (first[1] in "dw") == (last[1] in "dw")
    return is_alike and first[0] * size[first[1]] < last[0] * size[last[1]]


def is_word_character(c):
    return not c.isspace() and c not in NOT_IN_WORDS


def parse(source, is_limited=True):
    """The filter as a tree; FilterError with the column if it is rejected.

    is_limited: as typed; a canonical text may be longer and deeper.
    """
    source = unicodedata.normalize("NFC", source)
    for at, c in enumerate(source):
        if unicodedata.category(c) == "Cc":
            raise FilterError(at + 1, "a control character")
    if is_limited and len(source.encode("utf-8")) > MAX_BYTES:
        raise FilterError(MAX_BYTES + 1, "too long", is_sure=False)
    return Parser(straighten(source), is_limited).parse()
