#!/usr/bin/env python3
"""test_oracle.py - the independent matcher: examples, refusals, agreement with FTS5."""

import itertools
import os
import random
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

import plain_scan
from normalize import normalize
from oracle import FilterError, OutOfScope, Paper, match, match_all, parse
from papers import load_papers
from tap import Tap, real_data
from words import SqliteWords, TOKENIZE, plural_class, tokens

NO, YES, UNKNOWN = False, True, None

DIFFUSION = {
    "title": "Scalable Diffusion Models with Transformers",
    "abstract": "We quantize large language models (LLMs) for image synthesis.",
    "authors": ["William Peebles", "Yann A. LeCun", "Aaron van den Oord"],
    "upvotes": 20,
}
AGENT = {
    "title": "RAGs to Riches: Retrieval for Self-Play Agents",
    "abstract": "A survey of agents. State space models in C++11, Node.js and C#"
    " by Müller.",
    "authors": ["Mary Smith-Jones", "Y. LeCun"],
    "upvotes": None,
}

# filter, truth about DIFFUSION, truth about AGENT
EXAMPLES = [
    ("diffusion", YES, NO),
    ("diffusion model", YES, NO),
    ('"diffusion model"', YES, NO),
    ('"large language model*" OR LLM', YES, NO),
    ("=RAG", NO, NO),
    ("=RAGs", NO, YES),
    ("=rags", NO, NO),
    ("RAG", NO, YES),
    ("quantiz*", YES, NO),
    ("agent -survey -benchmark", NO, NO),
    ("agent -benchmark", NO, YES),
    ('title:"state space"', NO, NO),
    ('abs:"state space"', NO, YES),
    ("title:(mamba OR diffusion)", YES, NO),
    ('author:"Yann LeCun" OR au:"Y LeCun"', YES, YES),
    ("upvotes:>=20", YES, UNKNOWN),
    ("diffusion upvotes:>=20", YES, NO),
    ("agent upvotes:>=20", NO, UNKNOWN),
    ("agent -upvotes:>=20", NO, UNKNOWN),
    ("survey OR upvotes:>=20", YES, YES),
    ("ti:diffusion ANDNOT (ti:survey OR abs:molecule)", YES, NO),
    # spellings
    ("diffusion AND image", YES, NO),
    ("diffusion & image", YES, NO),
    ("diffusion&image", YES, NO),
    ("mamba | image", YES, NO),
    ("mamba|image", YES, NO),
    ("agent NOT survey", NO, NO),
    ("agent AND NOT survey", NO, NO),
    ("agent !benchmark", NO, YES),
    ("agent AND -benchmark", NO, YES),
    ('agent -"a survey"', NO, NO),
    ("agent -(survey OR image)", NO, NO),
    ("agent -title:survey", NO, YES),
    ("(image OR agent) models", YES, YES),
    ("image OR agent models", YES, YES),
    ("image OR survey -survey", YES, NO),
    ("survey -survey OR image", YES, NO),
    ("-(-image)", YES, NO),
    ("-(-image survey) image", YES, NO),
    ("TITLE:diffusion", YES, NO),
    ("all:image", YES, NO),
    ("text:image", YES, NO),
    ("title:image", NO, NO),
    ("title:(diffusion abstract:image)", YES, NO),
    ("title:(diffusion image)", NO, NO),
    ("DIFFUSION", YES, NO),
    ("or", NO, NO),
    # words
    ("self-play", NO, YES),
    ('"self play agent"', NO, YES),
    ("play self", NO, YES),
    ('"play self"', NO, NO),
    ('"transformers we"', NO, NO),
    ("muller", NO, YES),
    ("Müller", NO, YES),
    ("M\u0075\u0308ller", NO, YES),
    ("models", YES, YES),
    ("model*", YES, YES),
    ("modelling", NO, NO),
    ("c++", NO, YES),
    ("C+", NO, NO),
    ("c#", NO, YES),
    ("=c#", NO, NO),
    ("=C#", NO, YES),
    ("node.js", NO, YES),
    ("node-js", NO, YES),
    ("nodes.js", NO, YES),
    ("node.jsx", NO, NO),
    ('"state in C++"', NO, NO),
    ('"models in C++"', NO, YES),
    ('"models in C+"', NO, NO),
    ("c++-Node", NO, NO),
    ("c++ node", NO, YES),
    ("agents.", NO, YES),
    ("self-pla*", NO, YES),
    ('"language model"', YES, NO),
    ('"languages model"', YES, NO),
    ("dif*", YES, NO),
    ("news", NO, NO),
    # names
    ("author:lecun", YES, YES),
    ("author:yann", YES, NO),
    ('author:"LeCun, Yann"', YES, YES),
    ('author:"Yann A LeCun"', YES, NO),
    ('author:"A. LeCun"', NO, NO),
    ('author:"Zoe LeCun"', NO, NO),
    ('author:"William LeCun"', NO, NO),
    ('author:"van den Oord"', YES, NO),
    ('author:"van den Oord, Aaron"', YES, NO),
    ('author:"van den Oord, A."', YES, NO),
    ('author:"Oord Aaron"', NO, NO),
    ("author:jones", NO, NO),
    ("author:smith-jones", NO, YES),
    ('author:"M. Smith-Jones"', NO, YES),
    ("author:peeble", NO, NO),
    ('author:"LeCun,"', YES, YES),
    ('author:"Yann,"', NO, NO),
    ('author:"Aaron Oord"', YES, NO),
    ('author:"den Oord"', YES, NO),
    ('author:"Smith Jones, Mary"', NO, YES),
    ('author:"Y. LeCun, Jr."', YES, YES),
    ("author:yan", NO, NO),
    ('author:"y"', NO, YES),
    ("author:(peebles OR smith-jones)", YES, YES),
    ("lecun", NO, NO),
    # numbers
    ("upvotes:20", YES, UNKNOWN),
    ("upvotes:=20", YES, UNKNOWN),
    ("upvotes:>20", NO, UNKNOWN),
    ("upvotes:<20", NO, UNKNOWN),
    ("upvotes:<=20", YES, UNKNOWN),
    ("upvotes:10..20", YES, UNKNOWN),
    ("upvotes:21..", NO, UNKNOWN),
    ("upvotes:..19", NO, UNKNOWN),
    ("upvotes:0..999999999", YES, UNKNOWN),
]

# filter, column
REFUSED = [
    ("", 1), ("   ", 1), ("foo:bar", 1), ("titel:bar", 1), ("()", 1), ("a ()", 3),
    ("title:()", 7), ("-a", 1), ("NOT a", 1), ("-a -b", 1), ("a OR -b", 6),
    ("-(a b)", 1), ("ab*", 1), ("a ab*", 3), ('"abc de*"', 6), ('"abc', 1), ("(a", 1),
    ("a)", 2), ("a OR", 3), ("OR a", 1), ("a AND", 3), ("AND a", 1), ("a NOT", 3),
    ("a OR OR b", 3), ("a - b", 3), ("a --b", 4), ("a NOT -b", 7), ("a NOT NOT b", 7),
    ("title:", 7), ("title: a", 7), ("title:title:a", 7), ("title:>=3", 7),
    ("upvotes:>=ten", 11), ("upvotes:", 9), ("upvotes:(20)", 9), ("upvotes:>=", 11),
    ("upvotes:>=1234567890", 11), ("upvotes:20..10", 9), ("upvotes:7d..", 9),
    ("a\tb", 2), ("a\x7fb", 2), ("a, b", 2), ("...", 1), ('""', 2), ('" "', 2),
    ("=", 1), ("*", 1), ("a ||b", 3), ("a &&b", 3), ('author:", Yann"', 8), (":a", 1),
    ("author:pee*", 8), ('author:"..."', 8), ("-a OR -b", 1), ("a OR (-b -c)", 7),
    ("a #b", 3), ("ab*c", 3), ("abc-*", 1), ("upvotes:20x", 9), ("upvotes:<0", 10),
    ("title:-a", 7), ("a title:!b", 9), ("(a OR) b", 4),
]

OUT_OF_SCOPE = [
    "cat:cs.CL", "cs.CL", "hep-th", "source:hf", "first:hinton", "a NEAR b",
    "a NEAR/5 b", "speech^3 a", "has:code", "date:7d..", "authors:<=3 protein",
    "type:new", "org:(a OR b)", "author:=LeCun",
]

PLURALS = {
    "models": "model", "gpus": "gpu", "llms": "llm", "agents": "agent",
    "queries": "query", "studies": "study", "ties": "tie", "movies": "movie",
    "boxes": "box", "losses": "loss", "classes": "class", "approaches": "approach",
    "meshes": "mesh", "caches": "cache", "databases": "database", "cases": "case",
    "sizes": "size", "biases": "bias", "lenses": "lens", "analyses": "analysis",
    "hypotheses": "hypothesis", "axes": "axis",
    "news": "news", "bias": "bias", "analysis": "analysis", "lens": "lens",
    "physics": "physics", "loss": "loss", "class": "class", "corpus": "corpus",
    "basis": "basis", "gas": "gas", "its": "its", "was": "was", "series": "series",
    "species": "species", "robotics": "robotics", "dynamics": "dynamics",
    "metrics": "metric", "topics": "topic", "llama2s": "llama2s", "αs": "αs",
    "50ms": "50ms", "3dmms": "3dmm", "heroes": "hero", "shoes": "shoe",
    "matrices": "matrix", "apis": "api", "axis": "axis", "quizzes": "quiz",
}

TEX = {
    r"L\'evy": "Lévy",
    r"Schr{\"o}dinger": "Schrödinger",
    r"$\alpha$": "α",
    r"Pi\v{z}urica and J\"org Kra{\ss}": "Pižurica and Jörg Kraß",
    r"$\mu$LO": "μLO",
    r"Mart\'{\i}n": "Martín",
    r"{\'\i}": "í",
    r"\v Cech": "Čech",
    r"S\o{}ren H{\o}eg \O rsted": "Søren Høeg Ørsted",
    r"{\AA}ngstr\"{o}m": "Ångström",
    r"Erd\H{o}s": "Erdős",
    r"\c{c}a": "ça",
    r"$5 and $6": "$5 and $6",
    r"\textsc{Aiev} and \foo{Bar}": r"Aiev and \foo{Bar}",
    r"\textbf{a \emph{b}} {\it vs.} {\sc Own text}": "a b vs. Own text",
    r"GPT-4o\'s, they\'re and l\'s\'e": "GPT-4o's, they're and l\'s\u00e9",
    r"360{\deg} at 5\,m, e.g.\ so": "360° at 5 m, e.g. so",
    "textit{O}bstacles": "textit{O}bstacles",
    "a\n  b\u00a0 c ": "a b c",
    "e\u0301": "é",
    r"A\&B 5\%": "A&B 5%",
}


def test_examples(tap):
    for source, *wanted in EXAMPLES:
        got = [match(source, paper) for paper in (DIFFUSION, AGENT)]
        tap.equal(got, wanted, f"{source} means what it says")


def test_refusals(tap):
    for source, column in REFUSED:
        try:
            parse(source)
            got = None
        except FilterError as error:
            got = error.column if not isinstance(error, OutOfScope) else "out of scope"
        tap.equal(got, column, f"{source!r} is refused at column {column}")


def test_scope():
    """what the oracle does not know raises OutOfScope"""
    for source in OUT_OF_SCOPE:
        try:
            parse(source)
        except OutOfScope:
            continue
        raise AssertionError(source)


def accepts(source):
    try:
        parse(source)
    except FilterError:
        return False
    return True


def test_limits():
    """limits hold at the number and refuse one past it"""
    assert accepts("a" * 512) and not accepts("a" * 513)
    assert accepts("ü" * 256) and not accepts("ü" * 256 + "a")
    assert accepts(" ".join(["ab"] * 40)) and not accepts(" ".join(["ab"] * 41))
    assert accepts("(" * 8 + "a" + ")" * 8) and not accepts("(" * 9 + "a" + ")" * 9)
    assert accepts("abc*") and not accepts("ab*")
    assert accepts("upvotes:>=999999999") and not accepts("upvotes:>=1000000000")


def test_three_truths():
    """unknown is neither yes nor no, in the whole truth table"""
    values = {"y": YES, "n": NO, "u": UNKNOWN}
    paper = {"title": "yyy", "abstract": None, "authors": None, "upvotes": None}
    leaf = {"y": "title:yyy", "n": "title:nnn", "u": "upvotes:1"}
    for (a, left), (b, right) in itertools.product(leaf.items(), leaf.items()):
        truths = [values[a], values[b]]
        both = NO if NO in truths else UNKNOWN if UNKNOWN in truths else YES
        either = YES if YES in truths else UNKNOWN if UNKNOWN in truths else NO
        assert match(f"{left} {right}", paper) is both, (a, b)
        assert match(f"{left} OR {right}", paper) is either, (a, b)
    assert match("title:yyy -upvotes:1", paper) is UNKNOWN
    assert match("yyy", paper) is YES  # one known field is enough for yes
    assert match("nnn", paper) is UNKNOWN
    assert match("author:a", paper) is UNKNOWN
    assert match("author:a", dict(paper, authors=[])) is NO
    assert match("nnn", dict(paper, abstract="")) is NO


def test_plurals():
    """plurals fold as the table says, and folding twice changes nothing"""
    for word, wanted in PLURALS.items():
        assert plural_class(word) == wanted, (word, plural_class(word))
        assert plural_class(wanted) == wanted, wanted


def test_tex():
    """text is normalised as the language says, and twice changes nothing"""
    for text, wanted in TEX.items():
        assert normalize(text) == wanted, (text, normalize(text))
        assert normalize(wanted) == wanted, wanted


def test_match_all():
    """match_all keeps the order of filters and names papers by id"""
    papers = [dict(DIFFUSION, id="d"), dict(AGENT, id="a")]
    assert match_all(["agent", "models", "agent"], papers) == [["a"], ["d", "a"], ["a"]]
    assert match_all(["upvotes:20"], papers, truth=None) == [["a"]]


# ---- against SQLite ---------------------------------------------------------


def made_up_papers(rng, count):
    """Few words, many collisions: every operator meets every case."""
    pool = """model models news new lens graph graphs Müller muller self-play GPU
        gpus gpu-based C++ analysis analyses state space π^3 naïve queries query
        大模型 x2""".split()
    for number in range(count):
        yield {
            "id": number,
            "title": " ".join(rng.choices(pool, k=rng.randint(1, 6))),
            "abstract": ", ".join(rng.choices(pool, k=rng.randint(0, 25))),
        }


class Archive:
    """The papers in an FTS5 table; leaves and booleans are SQLite's own."""

    def __init__(self, papers):
        self.db = sqlite3.connect(":memory:")
        self.db.execute(
            f"CREATE VIRTUAL TABLE t USING fts5(title, abstract, tokenize='{TOKENIZE}')"
        )
        for rowid, paper in enumerate(papers):
            row = [normalize(paper[name] or "") for name in ("title", "abstract")]
            self.db.execute("INSERT INTO t(rowid, title, abstract) VALUES (?, ?, ?)",
                            [rowid, *row])
        self.papers = papers
        self.db.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, 'row')")
        self.vocabulary = [term for (term,) in self.db.execute("SELECT term FROM v")]

    def find(self, expression):
        rows = self.db.execute("SELECT rowid FROM t WHERE t MATCH ?", (expression,))
        return sorted(rowid for (rowid,) in rows)


def random_filter(rng, archive, folds, depth=0):
    """The same filter twice: as people type it, and as FTS5 wants it."""
    if depth < 3 and rng.random() < 0.55:
        left = random_filter(rng, archive, folds, depth + 1)
        right = random_filter(rng, archive, folds, depth + 1)
        kind = rng.choice(("AND", "OR", "NOT"))
        sign = {
            "AND": rng.choice((" ", " AND ", " & ")),
            "OR": rng.choice((" OR ", " | ")),
            "NOT": rng.choice((" NOT ", " -", " !", " ANDNOT ", " AND NOT ", " AND -")),
        }[kind]
        return f"({left[0]}){sign}({right[0]})", f"({left[1]}) {kind} ({right[1]})"
    text = rng.choice(archive.papers)[rng.choice(("title", "abstract"))] or "model"
    row = tokens(normalize(text)) or ["model"]
    size = rng.choice((1, 1, 1, 2, 3))
    at = rng.randrange(max(1, len(row) - size + 1))
    part = row[at : at + size]
    if rng.random() < 0.15:
        rng.shuffle(part)
    field = rng.choice(("", "", "title", "abstract"))
    columns = f"{{{field or 'title abstract'}}} : "
    typed = " ".join(part)
    is_prefix = len(part[-1]) >= 3 and rng.random() < 0.25
    if is_prefix:
        cut = rng.randint(3, len(part[-1]))
        part = part[:-1] + [part[-1][:cut]]
        typed = " ".join(part) + "*"
    alternatives = []
    for number, word in enumerate(part):
        if folds and not (is_prefix and number == len(part) - 1):
            same = plural_class(word)
            forms = [w for w in archive.vocabulary if plural_class(w) == same]
            alternatives.append(forms or [word])
        else:
            alternatives.append([word])
    phrases = [
        columns + '"' + " ".join(words) + '"' + ("*" if is_prefix else "")
        for words in itertools.product(*alternatives)
    ]
    typed = f'"{typed}"' if len(part) > 1 or rng.random() < 0.3 else typed
    wanted = " OR ".join(f"({phrase})" for phrase in phrases)
    return (f"{field}:" if field else "") + typed, wanted


def agree(archive, rng, rounds, folds):
    """How many filters found something; any difference is an AssertionError."""
    fold = plural_class if folds else (lambda word: word)
    ready = [Paper(paper, fold) for paper in archive.papers]
    hits = 0
    for _ in range(rounds):
        ours, theirs = random_filter(rng, archive, folds)
        try:
            tree = parse(ours)
        except OutOfScope:
            continue
        got = [number for number, paper in enumerate(ready) if tree.truth(paper)]
        wanted = archive.find(theirs)
        assert got == wanted, f"{ours}\n{theirs}\n{got}\n{wanted}"
        hits += bool(got)
    return hits


def test_made_up_agreement():
    """words, phrases, prefixes and booleans agree with FTS5 on made-up papers"""
    rng = random.Random(1)
    archive = Archive(list(made_up_papers(rng, 60)))
    assert agree(archive, rng, 1500, folds=False) > 500


def test_made_up_plurals():
    """with plurals folded they agree with FTS5 asked for all forms"""
    rng = random.Random(2)
    archive = Archive(list(made_up_papers(rng, 60)))
    assert agree(archive, rng, 1500, folds=True) > 500


def test_real_agreement():
    """they agree with FTS5 on a day of real papers"""
    papers = load_papers(real_data("daily_papers-2026-08-21.json"))
    papers += load_papers(real_data("daily_papers-2025-07-22.next-day.json"))
    assert len(papers) > 30
    archive, rng = Archive(papers), random.Random(3)
    assert agree(archive, rng, 120, folds=False) > 30
    assert agree(archive, rng, 120, folds=True) > 30


def test_tokens():
    """tokens are those of unicode61 in every alphabet, and in samples beyond"""
    sqlite = SqliteWords()
    points = list(range(1, 0x3100)) + list(range(0x3100, 0xD800, 41))
    points += list(range(0xE000, 0x30000, 41))
    for start in range(0, len(points), 64):
        row = [chr(point) for point in points[start : start + 64]]
        text = " ".join(f"a{c}b {c}c {c}{c}" for c in row)
        assert tokens(text) == sqlite.tokens(text), hex(points[start])


def test_real_tokens():
    """tokens are those of unicode61 on real papers"""
    sqlite = SqliteWords()
    for paper in load_papers(real_data("daily_papers-2025-07-22.next-day.json")):
        for text in (paper["title"], paper["abstract"], " ".join(paper["authors"])):
            assert tokens(text) == sqlite.tokens(text), text


def test_plain_scan_by_hand():
    """the plain scan finds whole words, phrases and prefixes"""
    texts = {
        "GPU": True, "gpus": True, "GPU-based": True, "a GPUDirect b": True,
        "xgpu": False,
        "HPC": True, "HPCs.": True, "hpcx": False, "high-performance\ncomputing": True,
        "high performance computer": False, "ahigh performance computing": False,
        "performance computing": False, "": False,
    }
    papers = [{"id": text, "title": text, "abstract": None} for text in texts]
    assert plain_scan.plain_scan(papers) == [t for t, is_hit in texts.items() if is_hit]
    assert match_all([plain_scan.FILTER], papers)[0] == plain_scan.plain_scan(papers)


def test_third_opinion():
    """oracle, FTS5 and the plain scan find the same of the 71 seed papers"""
    papers = load_papers(real_data("seed-papers.json"))
    assert len(papers) == 71
    scanned = plain_scan.plain_scan(papers)
    assert 0 < len(scanned) < 71
    assert match_all([plain_scan.FILTER], papers)[0] == scanned
    found = Archive(papers).find('"high performance computing" OR HPC OR GPU*')
    assert [papers[rowid]["id"] for rowid in found] == scanned


def main():
    with Tap() as tap:
        test_examples(tap)
        test_refusals(tap)
        for test in (
            test_scope, test_limits, test_three_truths, test_plurals, test_tex,
            test_match_all, test_tokens, test_made_up_agreement, test_made_up_plurals,
            test_plain_scan_by_hand, test_real_tokens, test_real_agreement,
            test_third_opinion,
        ):
            tap.run(test)


if __name__ == "__main__":
    main()
