"""words.py - words as SQLite's unicode61 sees them, and plurals as we fold them.

Two things both implementations of the filter language must agree on letter by
letter, each in one place: tokens(), and plural_class() with its tables.
"""

import functools
import sqlite3
import unicodedata

TOKENIZE = "unicode61 remove_diacritics 2"


class SqliteWords:
    """Tokens straight from SQLite: an FTS5 table read back through fts5vocab."""

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
    """What unicode61 makes of one character: (may start, may continue, folded)."""
    if c == "\0" or 0xD800 <= ord(c) <= 0xDFFF:
        return (False, False, "")
    alone = _sqlite.tokens(c)
    between = _sqlite.tokens(f"a{c}b")
    if len(between) != 1:
        return (bool(alone), False, alone[0] if alone else "")
    return (bool(alone), True, between[0][1:-1])


def spans(text):
    """Tokens of text with their places: a list of (token, start, end)."""
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


def fold_letters(text):
    """Text with case and diacritics taken off but every sign kept."""
    decomposed = unicodedata.normalize("NFD", text)
    plain = "".join(c for c in decomposed if not unicodedata.combining(c))
    return unicodedata.normalize("NFC", plain).lower()


# ---- plurals ----------------------------------------------------------------
# Folding does harm only where it joins two different words (news and new), so a
# form that is wrong but joins nothing ("alway") needs no entry here.

# Words in -s that are no plurals, or whose form without it is another word.
NOT_PLURAL = frozenset(
    """
    news bias lens physics analysis
    acoustics aerodynamics aesthetics analytics basics bioinformatics
    dynamics economics electronics ethics genomics graphics hydrodynamics
    informatics kinematics kinetics linguistics logistics mathematics mechanics
    neurodynamics optics photonics politics pragmatics proteomics robotics
    semantics statistics thermodynamics
    alias atlas canvas chaos christmas cosmos gas pancreas kansas texas
    series species means does whereas towards https always perhaps
    """.split()
)

# Plurals that the rules below would fold wrongly.
IRREGULAR = {
    # -us and -is are kept by rule; these are plain plurals nevertheless
    "apus": "apu", "cpus": "cpu", "dpus": "dpu", "gpus": "gpu", "ipus": "ipu",
    "npus": "npu", "tpus": "tpu", "vpus": "vpu", "xpus": "xpu", "lpus": "lpu",
    "menus": "menu", "apis": "api", "emojis": "emoji", "kpis": "kpi",
    "pois": "poi", "rois": "roi", "guis": "gui", "wikis": "wiki",
    # -es on a word in -s, or -es that stands for -is
    "aliases": "alias", "atlases": "atlas", "biases": "bias", "buses": "bus",
    "canvases": "canvas", "corpuses": "corpus", "gases": "gas",
    "lenses": "lens", "statuses": "status", "viruses": "virus",
    "focuses": "focus", "campuses": "campus", "consensuses": "consensus",
    "analyses": "analysis", "axes": "axis", "diagnoses": "diagnosis",
    "hypotheses": "hypothesis", "metanalyses": "metanalysis",
    "parentheses": "parenthesis", "prognoses": "prognosis",
    "syntheses": "synthesis", "theses": "thesis",
    # -ches of a word in -che
    "aches": "ache", "avalanches": "avalanche", "caches": "cache",
    "headaches": "headache", "niches": "niche", "psyches": "psyche",
    # -ies of a word in -ie
    "calories": "calorie", "cookies": "cookie", "movies": "movie",
    "prairies": "prairie", "selfies": "selfie", "zombies": "zombie",
    # -oes, -zzes
    "echoes": "echo", "heroes": "hero", "mosquitoes": "mosquito",
    "potatoes": "potato", "tomatoes": "tomato", "torpedoes": "torpedo",
    "vetoes": "veto", "quizzes": "quiz",
}

SHORTEST_PLURAL = 4  # "gpus"; never "gas", "its", "was"


def plural_class(token):
    """The name of the class that a word and its plural share.

    Only words of plain a-z are folded.  Rules in order, the first that fits.
    """
    if len(token) < SHORTEST_PLURAL or not token.isascii() or not token.isalpha():
        return token
    if token in NOT_PLURAL:
        return token
    if token in IRREGULAR:
        return IRREGULAR[token]
    if not token.endswith("s") or token.endswith(("ss", "us", "is")):
        return token
    if token.endswith("ies"):
        # four letters are ties, lies, pies
        return token[:-3] + "y" if len(token) > 4 else token[:-1]
    if token.endswith(("sses", "xes", "ches", "shes")):
        return token[:-2]
    return token[:-1]
