"""language.py - random filters of the whole language, and papers with made-up values.

Deterministic for a given random.Random.  Words, names and values come from the papers,
mostly from one paper per filter, so that many filters match some.
"""

import datetime
import re

from categories import CATEGORIES, PARTED, WHOLE
from normalize import normalize
from oracle_parse import ALIASES, MAX_BYTES
from words import plural_class, spans

TODAY = "2026-08-21"

# Weights of the kinds of clauses: a field, or a form without one.
CLAUSES = {
    "": 40, "near": 10, "category": 5,
    "title": 7, "abstract": 4, "text": 2, "author": 9, "first": 3, "cat": 7,
    "primary": 2, "source": 2, "org": 5, "kw": 5, "comment": 3, "journal": 2, "doi": 1,
    "pmid": 1, "mesh": 2, "id": 1, "has": 4, "type": 3, "upvotes": 5, "comments": 2, "stars": 2, "authors": 3,
    "date": 6,
}
FIELDS = [field for field in CLAUSES if field not in ("", "near", "category")]
TEXTS = ("", "title", "abstract", "text")
WORDS = (*TEXTS, "org", "kw", "comment", "journal", "mesh")

AND = (" ", " ", " ", " AND ", " & ", "&")
OR = (" OR ", " OR ", " | ", "|")
NOT = (" -", " -", " NOT ", " !", " ANDNOT ", " AND NOT ", " AND -", " & !")

NAMES = (
    r"Zo\"e M\"uller", r"Paul L\'evy", r"Ana Garc{\'i}a-L\'opez", r"S\o{}ren Kierke",
    "Ada B. Example", "A. Example", "Bo Example Jr.", "Jan van der Berg", "Xu",
    r"Erd\H{o}s, P\'al", "María José de la Cruz", "O'Neil Smith-Jones", "李 明",
    r"{\L}ukasz Wo{\'z}ny", "Gui-Song Xia", "Gui\u2010Song A. Xia", "De\u2019Aira Bryant",
    "Jean le Rond d\u2019Alembert", "Conan O'Brien", "Anna-Maria-Jose van der Berg",
)
QUOTES = ("“”", "””", "„“", "„”", "«»", "»«", "「」", "‘’", "‚‘", "‹›", '"”', '“"')
ORGANIZATIONS = (
    "Allen Institute for AI", "Made-Up Labs", "École Inventée", "Deep Example",
    "University of Examples",
)
KEYWORDS = (
    "large language models", "diffusion", "state space models", "RAG", "C++", "agents",
    "chain of thought", "node.js", "naïve Bayes", "self-play",
)
COMMENTS = (
    "12 pages, 3 figures", "Accepted at ICML 2026", "Code: https://example.org/c++",
    r"To appear in Ann. Inst. Poincar\'e", "v2: typos fixed; 10 tables",
)
JOURNALS = ("J. Made-Up Res. 7 (2026) 1-9", "Phys. Rev. X 12, 031001", "Nature 1, 2")
ABBREVIATIONS = ("Phys. Rev. X", "Phys Rev X", "Made-Up Res", "2 Nature")
POOL = """model models Model news new lens graph graphs Müller muller self-play GPU gpus
    gpu-based C++ C# c node.js Node.js analysis analyses state space π^3 naïve NAÏVE
    queries query 大模型 x2 RAG rag RAGs Rag chain of thought reward hacking or NEAR bias
    physics boxes box class classes =x 3D ti:x a b a^2 $\\alpha$ e\u0301tude""".split()


# ---- papers -----------------------------------------------------------------


def make_paper(rng, number):
    """Few words, many collisions: every operator meets every case."""
    ids = (f"2608.{number:05}", f"hep-th/26{number:05}", f"acl:{number}")
    return add_values(rng, {
        "id": rng.choice(ids),
        "title": " ".join(rng.choices(POOL, k=rng.randint(1, 8))),
        "abstract": rng.choice((" ", ", ", ". ")).join(
            rng.choices(POOL, k=rng.choice((0, 5, 25, 60)))),
        "authors": rng.sample(NAMES, rng.randint(0, 5)),
    })


def add_values(rng, paper):
    """The paper with missing values made up, or left missing."""
    paper = dict(paper)
    for name, top in (("upvotes", 60), ("comments", 9), ("stars", 500)):
        if paper.get(name) is None and rng.random() < 0.7:
            paper[name] = rng.choice((0, 1, rng.randint(0, top)))
    for kind in ("code", "project", "video"):
        if rng.random() < 0.3:
            paper[f"{kind}_url"] = f"https://example.org/{kind}"
    if rng.random() < 0.5:
        paper.setdefault("organization", rng.choice(ORGANIZATIONS))
    if rng.random() < 0.5:
        paper.setdefault("keywords", rng.sample(KEYWORDS, rng.randint(0, 4)))
    if rng.random() < 0.75:  # arXiv has answered
        few = rng.choices(("cs.CL", "cs.LG", "cs.CV", "stat.ML", "hep-th"), k=2)
        few.append(rng.choice(CATEGORIES))
        paper["categories"] = list(dict.fromkeys(few))[: rng.randint(0, 3)]
        paper["comment"] = rng.choice((None, *COMMENTS))
        paper["journal"] = rng.choice((None, None, *JOURNALS))
        if paper["journal"] and rng.random() < 0.5:
            paper["journal_names"] = rng.sample(ABBREVIATIONS, rng.randint(0, 2))
        paper["doi"] = rng.choice((None, "10.1145/3292500.%d" % rng.randint(1, 9),
                                   "10.1016/S0370-2693(97)0%dA" % rng.randint(1, 9)))
    if rng.random() < 0.3:  # Europe PMC has answered, or another service
        paper["looked_up"] = rng.randint(0, 7)
        paper["pmid"] = rng.choice((None, "4179220%d" % rng.randint(1, 9)))
        paper["pmcid"] = rng.choice((None, "PMC1293859%d" % rng.randint(1, 9)))
        paper["mesh"] = rng.choice((None, rng.sample(KEYWORDS, rng.randint(0, 3))))
    rows = [make_appearance(rng) for _ in range(rng.choice((0, 1, 1, 1, 2, 3)))]
    paper["listings"] = sorted(rows, key=lambda row: (row[1], row[0]))
    return paper


def make_appearance(rng):
    source = rng.choice(("hf", "arxiv", "Made-Up"))
    day = day_before(rng, rng.choice((9, 99, 800)))
    late = ("late",) * rng.choice((0, 0, 0, 1))
    return source, day, rng.choice(("new", "new", "cross", "replace")), *late


def day_before(rng, count):
    today = datetime.date.fromisoformat(TODAY)
    return str(today - datetime.timedelta(days=rng.randint(0, count)))


# ---- filters ----------------------------------------------------------------


class Filters:
    """Generates filters about these papers."""

    def __init__(self, rng, papers):
        self.rng = rng
        self.papers = papers
        self.anchor = papers[0]
        self.rows = {}  # words of a text, by text

    def valid(self):
        """A valid filter."""
        while True:
            self.anchor = self.rng.choice(self.papers)
            text = self.sequence(self.rng.choice((0, 0, 1, 1, 2, 3)), "")
            if len(text.encode()) <= MAX_BYTES:
                return text

    def broken(self):
        """A filter with an extra sign, a missing one, or an unknown name."""
        rng, text = self.rng, self.valid()
        kind = rng.random()
        if kind < 0.4:
            at = rng.randrange(len(text) + 1)
            return text[:at] + rng.choice(' ()"-!*:,&|^+#.=/<>ü0“”„«»‘’') + text[at:]
        if kind < 0.7:
            at = rng.randrange(len(text))
            return text[:at] + text[at + 1 :]
        wrong = rng.choice(WRONG)
        form = rng.choice(("{0}", "{0} {1}", "{1} {0}", "({0}) {1}"))
        return form.format(wrong, text)

    def paper(self):
        """The paper that this filter is about, or another."""
        return self.anchor if self.rng.random() < 0.75 else self.rng.choice(self.papers)

    # -- operators --

    def sequence(self, depth, field):
        """Adjacent operands; the first one of each part of an OR is not negative."""
        rng = self.rng
        text = self.operand(depth, field)
        for _ in range(rng.choice((0, 1, 1, 2, 3) if depth else (0, 0, 0, 1))):
            kind = rng.choice((AND, OR, OR, NOT))
            text += rng.choice(kind) + self.operand(depth, field)
        if field in WORDS and rng.random() < 0.03:
            text += rng.choice((" or ", " and ", " not ", " near "))
            text += self.operand(0, field)
        return f" {text} " if rng.random() < 0.03 else text

    def operand(self, depth, field):
        rng = self.rng
        kind = rng.random()
        if depth and kind < 0.3:
            text = f"({self.sequence(depth - 1, field)})"
        elif depth and kind < 0.4:
            inner = rng.choice(FIELDS)
            text = f"{self.name(inner)}:({self.sequence(depth - 1, inner)})"
        elif field and kind < 0.9:
            text = self.value(field)
        else:
            text = self.clause(field)
        if rng.random() < 0.06:
            text += f"^{rng.randint(1, 10)}"
        return text

    def name(self, field):
        """A field in one of its spellings."""
        names = [field] + [alias for alias, name in ALIASES.items() if name == field]
        name = self.rng.choice(names)
        return name.upper() if self.rng.random() < 0.05 else name

    def clause(self, around):
        """A clause with its field, or without in a group of a text field."""
        rng = self.rng
        field = rng.choices(list(CLAUSES), list(CLAUSES.values()))[0]
        if around not in TEXTS and field not in FIELDS:
            field = "title"
        if field == "near":
            return self.near()
        if field == "category":
            return self.category()
        return f"{self.name(field)}:{self.value(field)}" if field else self.value("")

    def value(self, field):
        """Value after the colon."""
        if field in WORDS:
            return self.words(field)
        if field in ("author", "first"):
            return self.person(field)
        if field in ("upvotes", "comments", "stars", "authors"):
            return self.number(field)
        return {
            "cat": self.category_value, "primary": self.category_value,
            "source": self.source, "doi": self.doi, "pmid": self.pmid, "id": self.id, "has": self.has,
            "type": self.type, "date": self.date,
        }[field]()

    # -- words --

    def row(self, field):
        """Words of one text of the paper, as written there."""
        paper, rng = self.paper(), self.rng
        texts = {
            "": [paper["title"], paper.get("abstract")], "title": [paper["title"]],
            "abstract": [paper.get("abstract")],
            "org": [paper.get("organization") or rng.choice(ORGANIZATIONS)],
            "kw": paper.get("keywords") or KEYWORDS,
            "comment": [paper.get("comment") or rng.choice(COMMENTS)],
            "journal": [paper.get("journal") or rng.choice(JOURNALS),
                        *(paper.get("journal_names") or ())],
            "mesh": paper.get("mesh") or KEYWORDS,
        }
        text = rng.choice(texts[field if field in texts else ""]) or "model"
        if text not in self.rows:
            raw = normalize(text)
            self.rows[text] = [raw[a:b] for _, a, b in spans(raw)] or ["model"]
        return self.rows[text]

    def words(self, field):
        """A word, a phrase, a prefix, =word, a word with signs."""
        rng, row = self.rng, self.row(field)
        at = rng.randrange(len(row))
        kind = rng.random()
        if kind < 0.45:
            return self.word(row[at])
        if kind < 0.55:
            word = row[at]
            return "=" + rng.choice((word, word, word.lower(), word.upper()))
        if kind < 0.65:
            return self.prefix(row[at])
        if kind < 0.7:
            return rng.choice(("c++", "C#", "node.js", "Node.js", "self-play", "news",
                               "=C#", "=c++", "c++11", "gpu-based", "naive", "π^3"[:1]))
        few = row[at : at + rng.choice((2, 2, 3))]
        if rng.random() < 0.1:
            rng.shuffle(few)
        phrase = rng.choice((" ", " ", " ", "-", ", ")).join(few)
        if rng.random() < 0.15 and len(few[-1]) > 3:
            phrase += "*"
        return self.quoted(phrase)

    def quoted(self, text):
        """In quotation marks, some of them typographic."""
        if self.rng.random() < 0.8 or "’" in text:
            return f'"{text}"'
        first, last = self.rng.choice(QUOTES)
        return first + text + last

    def word(self, word):
        """A word in a variant: plural, capitals, quoted."""
        rng, kind = self.rng, self.rng.random()
        if kind < 0.15:
            word = plural_class(word.lower())
        elif kind < 0.25:
            word = word.lower() + "s"
        elif kind < 0.35:
            word = word.swapcase()
        is_operator = word in ("AND", "OR", "NOT", "ANDNOT", "NEAR")
        return f'"{word}"' if is_operator or rng.random() < 0.1 else word

    def prefix(self, word):
        if len(word) < 3 or not word.isascii():
            return "mod*"
        return word[: self.rng.randint(3, max(3, len(word) - 1))] + "*"

    def near(self):
        """Words about that far apart in a text."""
        rng = self.rng
        field = rng.choice(TEXTS)
        row = self.row(field)
        distance = rng.choice((1, 2, 3, 5, 8, 10, 20, 99))
        begin = rng.randrange(len(row))
        operands = []
        for _ in range(rng.choice((2, 2, 2, 3, 4))):
            at = min(len(row) - 1, begin + rng.randint(0, 2 + distance))
            kind = rng.random()
            word = row[at]
            if kind < 0.2:
                word = '"' + " ".join(row[at : at + 2]) + '"'
            elif kind < 0.35:
                word = "=" + word
            elif kind < 0.5:
                word = self.prefix(word)
            else:
                word = self.word(word)
            operands.append(word)
        shown = "" if distance == 10 and rng.random() < 0.5 else str(distance)
        comma = rng.choice((", ", ",", " , "))
        group = f"NEAR({' '.join(operands)}{shown and comma + shown})"
        chain = f" NEAR{shown and '/' + shown} ".join(operands)
        if field:
            name = self.name(field)
            return rng.choice((f"{name}:{group}", f"{name}:({chain})"))
        return rng.choice((group, f"({chain})"))

    # -- names, numbers, days --

    def person(self, field):
        rng = self.rng
        authors = self.paper().get("authors") or NAMES
        name = authors[0] if field == "first" else rng.choice(authors)
        words = normalize(name).replace('"', "").split() or ["x"]
        given, last = words[:-1], words[-1]
        first = given[0] if given else last
        part = rng.choice([one for one in re.split(r"\W", first) if one] or [last])
        other = normalize(rng.choice(NAMES)).split()[-1]
        typed = rng.choice((
            " ".join(words), last, last + ",", f"{first} {last}", f"{first[0]}. {last}",
            f"{last}, {' '.join(given)}", f"{last}, {first[0]}", first,
            f"{words[-2]} {last}" if given else last, f"{last} {first}",
            " ".join(words) + " Jr.", f"{first} {other}", last[:-1],
            " ".join(words[1:]), part, f"{part} {last}",
        )).strip(" *")
        if not re.search(r"\w", typed.partition(",")[0]):
            typed = "Example"
        if re.fullmatch(r"\w+", typed) and typed not in ("AND", "OR", "NOT", "NEAR"):
            return rng.choice((typed, f'"{typed}"'))
        return self.quoted(typed)

    def number(self, field):
        rng, paper = self.rng, self.paper()
        value = paper.get(field)
        value = len(value or ()) if field == "authors" else value
        if value is None or rng.random() < 0.3:
            value = rng.choice((0, 1, 3, 20, rng.randint(0, 100), 999999999))
        return rng.choice((
            f">={value}", f"<={value}", f">{value}", f"<{max(value, 1)}", f"={value}",
            f"{value}", f"{value}..", f"..{value}", f"{value // 2}..{value}",
            f"{value}..{value}", f">={value + 1}"[:11], f"{max(value - 2, 0)}.."
        ))

    def date(self):
        rng = self.rng
        days = [day for _, day, *_ in self.paper().get("listings") or ()]
        day = rng.choice(days or [day_before(rng, 99)])
        if rng.random() < 0.3:
            day = day_before(rng, 400)
        day = rng.choice((day, day[:7], day[:4]))
        unit = rng.choice("ddwmy")
        length = f"{rng.choice((0, 1, 2, 7, 30, 90, 365, rng.randint(0, 60)))}{unit}"
        longer = f"{rng.randint(400, 999)}d"
        return rng.choice((
            day, f"{day}..", f"..{day}", f"{day}..{TODAY}", f"2024-01..{day}",
            length, f"{length}..", f"..{length}", f"{longer}..{rng.randint(0, 57)}w",
            f"{day}..0d", f"{rng.randint(2, 30)}w..{rng.randint(0, 14)}d",
            f"{rng.randint(1, 3)}y..{rng.randint(0, 12)}m", f"..{TODAY}",
            f"{day}..2026",
        ))

    # -- values of sources --

    def category(self):
        reported = self.paper().get("categories") or ()
        few = [name for name in reported if name in CATEGORIES]
        name = self.rng.choice(few or CATEGORIES)
        return name.lower() if self.rng.random() < 0.2 else name

    def category_value(self):
        name, rng = self.category(), self.rng
        if rng.random() < 0.3:
            end = ".*" if "." in name else ""
            name = name.partition(".")[0] + rng.choice(("", end))
        return name if rng.random() < 0.9 else rng.choice((*PARTED, *WHOLE)).upper()

    def source(self):
        return self.rng.choice(("hf", "arxiv", "HF", "made-up", "acl", '"Made-Up"'))

    def doi(self):
        rng = self.rng
        doi = self.paper().get("doi") or "10.1145/3292500.7"
        kind = rng.random()
        if kind < 0.3:
            return rng.choice(("10.1145*", "10.1016/s*", "10.*", "11.1*"))
        doi = doi.swapcase() if kind < 0.5 else doi
        return f'"{doi}"' if re.search(r"[()]", doi) or kind > 0.8 else doi

    def pmid(self):
        paper, rng = self.paper(), self.rng
        known = [paper.get("pmid") or "41792208", paper.get("pmcid") or "PMC12938590"]
        return rng.choice((*known, "4179*", "pmc1*", f'"{known[1].lower()}"'))

    def id(self):
        rng, name = self.rng, str(self.paper()["id"])
        if rng.random() < 0.2:
            return self.pmid()
        kind = rng.random()
        if not re.fullmatch(r"[\w./-]+", name):
            return f'"{name}"'
        if kind < 0.3:
            return name[: rng.randint(3, len(name))] + "*"
        return rng.choice((name, name.upper(), f'"{name}"', name + "v3"))

    def has(self):
        return self.rng.choice(("code", "project", "video", "Code"))

    def type(self):
        return self.rng.choice(("new", "cross", "replace", "New"))


# Filters that the language rejects, or reads in an unexpected way.
WRONG = """
    foo:bar titel:x cat:cs.XX cat:= cat:cs.C* primary:x has:codes has: type:old
    upvotes:>=ten upvotes:20..10 upvotes:-3 upvotes:1234567890 stars:7d authors:=
    date:2026-02-30 date:>=2026 date:3d..7d date:2026-13 date:2026..2025 date:soon
    date:1234d date:2026-1 date:.. id:26* doi:1* source: a^0 a^11 a^ ^3 a^2^2 a^2x
    NEAR(a) NEAR() NEAR(a_b,0) NEAR/3 NEAR ( ) () (" "" ab* *ab a*b =a* =a-b =
    =x title:=y author:=x au:"x,y,z" first:x* org:=A kw:ab* -- -(-a) (-a) ! & | OR AND
    NOT ANDNOT or near not : a: :a title: title:(-a) title:a:b cs cs.CL. hep-th* =cs.CL
    quant-ph^2 astro-ph q-bio source:hf* id:2608.00001v id:(2608* cat:cs.*.* \u00e4* >=3
    title:(>=3) co:=3 date:(=3) has:(code type:cross:x c+++ c#x #c node..js .js js. ++
    """.split()
WRONG += """
    a NEAR (b c)
    (a b) NEAR c
    a NEAR upvotes:3
    a NEAR/3 b NEAR/4 c
    a NEAR/3 b NEAR c
    a NEAR/0 b
    a NEAR/100 b
    a NEAR -b
    title:a NEAR b
    a NEAR title:b
    a^2 NEAR b
    a NEAR b^2^3
    cs.LG NEAR a
    a NEAR cs.LG
    a NEAR(b c)
    NEAR (a b)
    NEAR(a b
    NEAR(a b, 100)
    NEAR(a b, 0)
    NEAR(a b,)
    NEAR(a b 5)
    NEAR(a (b))
    NEAR(a OR b)
    NEAR(a cs.LG)
    NEAR(a -b)
    NEAR(=a b)
    NEAR(title:a b)
    org:(a NEAR b)
    author:(a NEAR b)
    ="a b"
    title:="a"
    cat:"cs CL"
    a OR
    a AND
    a NOT
    a - b
    a ^2
    -a -b
    a OR -b
    upvotes:(>=3 OR x)
    date:(7d OR x)
    upvotes:"3"
    date:"2026"
    """.strip().split("\n    ")
