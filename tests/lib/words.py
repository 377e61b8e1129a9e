"""words.py - words as SQLite's unicode61 splits them, with pairs of characters of scripts
without spaces, and plurals as the program folds them.

Both implementations of the filter language must agree on these exactly: tokens(), and
plural_class() with its tables.
"""

import functools
import itertools
import re
import sqlite3
import unicodedata

TOKENIZE = "unicode61 remove_diacritics 2"


class SqliteWords:
    """Tokens from SQLite itself: an FTS5 table read back through fts5vocab."""

    def __init__(self):
        self.db = sqlite3.connect(":memory:")
        self.db.execute(
            f"CREATE VIRTUAL TABLE t USING fts5(x, tokenize = '{TOKENIZE}')"
        )
        self.db.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, 'instance')")

    def tokens(self, text):
        self.db.execute("DELETE FROM t")
        self.db.execute("INSERT INTO t(rowid, x) VALUES (1, ?)", (text,))
        rows = self.db.execute('SELECT term FROM v ORDER BY "offset"')
        return [term for (term,) in rows]


_sqlite = SqliteWords()


@functools.lru_cache(maxsize=None)
def character_kind(c):
    """Class of a character in unicode61: (may start, may continue, folded)."""
    if c == "\0" or 0xD800 <= ord(c) <= 0xDFFF:
        return (False, False, "")
    alone = _sqlite.tokens(c)
    between = _sqlite.tokens(f"a{c}b")
    if len(between) != 1:
        return (bool(alone), False, alone[0] if alone else "")
    return (bool(alone), True, between[0][1:-1])


UNSPACED = re.compile(
    r"CJK (?:UNIFIED|COMPATIBILITY) IDEOGRAPH-|IDEOGRAPHIC (?:ITERATION|CLOSING) MARK"
    r"|IDEOGRAPHIC NUMBER ZERO|HIRAGANA |(?:HALFWIDTH )?KATAKANA[ -]|THAI CHARACTER "
    r"|(?:COMBINING )?KATAKANA-HIRAGANA |HENTAIGANA ")


@functools.lru_cache(maxsize=None)
def is_unspaced(c):
    """Whether it is part of a word in Chinese, Japanese or Thai."""
    is_name = UNSPACED.match(unicodedata.name(c, ""))
    return bool(is_name) and unicodedata.category(c) not in ("Po", "Pd")


def runs(text):
    """Parts of a text by script: (whether without spaces, start, end)."""
    for is_run, places in itertools.groupby(
            range(len(text)), key=lambda at: is_unspaced(text[at])):
        places = list(places)
        yield is_run, places[0], places[-1] + 1


def spans(text):
    """Tokens of text with their places: a list of (token, start, end).

    Those of a run without spaces are its pairs, or its only character.
    """
    found = []
    for is_run, start, end in runs(text):
        if is_run:
            found += [(text[at : at + 2][: end - at], at, min(at + 2, end))
                      for at in range(start, max(start + 1, end - 1))]
        else:
            found += [(token, start + a, start + b)
                      for token, a, b in word_spans(text[start:end])]
    return found


def whole_tokens(text):
    """As tokens(), but whole runs: names."""
    return [token for is_run, start, end in runs(text)
            for token in ([text[start:end]] if is_run
                          else [word for word, _, _ in word_spans(text[start:end])])]


def word_spans(text):
    """Tokens of unicode61 in text with their places."""
    found = []
    word, start = "", None
    for at, c in enumerate(text):
        starts, continues, folded = character_kind(c)
        if start is None and starts:
            word, start = folded, at
        elif start is not None and continues:
            word += folded
        elif start is not None:
            found.append((word, start, at))
            start = None
    if start is not None:
        found.append((word, start, len(text)))
    return found


def tokens(text):
    """The words of text: lower case, without diacritics."""
    return [token for token, _, _ in spans(text)]


# ---- plurals ----------------------------------------------------------------
# Folding does harm only where it joins two different words (news and new), so a
# wrong singular that joins nothing ("alway") needs no entry here.

# Words in -s that are not plurals, or whose form without it is another word.
NOT_PLURAL = frozenset(
    """
    acoustics adams aesthetics alias always analytics arkansas atlas axis basics
    bayes besides canvas chaos christmas collins cosmos cybernetics does economics
    electronics ethos genetics genomics goes graphics haptics hawkes hermes https
    iris jones kansas keras kinematics kinetics kubernetes lens linguistics
    logistics lvis macos mars mathematics means mechanics mers news onus optics opus
    ovis pancreas pathos perhaps phonetics photonics plus politics pragmatics
    proteomics rabies robotics sars semantics series sometimes species stokes texas
    this thus towards whereas
    """.split()
)

# Plurals that the rules below would fold wrongly.
IRREGULAR = {
    "aches": "ache", "aliases": "alias", "analyses": "analysis",
    "apparatuses": "apparatus", "appendices": "appendix", "atlases": "atlas",
    "avalanches": "avalanche", "axes": "axis", "biases": "bias", "bonuses": "bonus",
    "buses": "bus", "caches": "cache", "calories": "calorie", "campuses": "campus",
    "canoes": "canoe", "canvases": "canvas", "censuses": "census",
    "consensuses": "consensus", "cookies": "cookie", "corpuses": "corpus",
    "cortices": "cortex", "crises": "crisis", "diagnoses": "diagnosis",
    "emojis": "emoji", "fibroses": "fibrosis", "focuses": "focus", "gases": "gas",
    "headaches": "headache", "helices": "helix", "hypotheses": "hypothesis",
    "indices": "index", "irises": "iris", "lenses": "lens", "matrices": "matrix",
    "menus": "menu", "metanalyses": "metanalysis", "metastases": "metastasis",
    "movies": "movie", "niches": "niche", "parentheses": "parenthesis",
    "plateaus": "plateau", "pluses": "plus", "prairies": "prairie",
    "prognoses": "prognosis", "prostheses": "prosthesis", "psyches": "psyche",
    "quizzes": "quiz", "relus": "relu", "selfies": "selfie", "simplices": "simplex",
    "statuses": "status", "submatrices": "submatrix", "syntheses": "synthesis",
    "taxis": "taxi", "theses": "thesis", "tsunamis": "tsunami", "vertices": "vertex",
    "viruses": "virus", "vortices": "vortex", "wikis": "wiki", "zombies": "zombie",
}

SHORTEST_PLURAL = 4  # "gpus"; never "gas", "its", "was"

# Endings, the first that fits: the part removed, its replacement, and the minimum
# length of the word.  Shorter words: gpus, ties, shoes, axes.
ENDINGS = (
    (("bias", "dynamics", "ethics", "informatics", "physics", "ss"), 0, "", 4),
    (("us", "is"), 0, "", 5),
    (("ies",), 3, "y", 5),
    (("oes",), 2, "", 6),
    (("ches", "shes", "sses", "xes", "zzes"), 2, "", 5),
    (("s",), 1, "", 4),
)


def plural_class(token):
    """Name of the class that a word and its plural share.

    1980s and 50ms are numbers with a sign, not plurals.
    """
    if len(token) < SHORTEST_PLURAL or token in NOT_PLURAL:
        return token
    if token in IRREGULAR:
        return IRREGULAR[token]
    if re.search("[0-9]m?s$", token):
        return token
    for endings, cut, put, shortest in ENDINGS:
        if token.endswith(endings) and len(token) >= shortest:
            return token[: len(token) - cut] + put
    return token
