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
from oracle import (
    ENRICHED, FINALLY, MAY_CHANGE, NOTHING_SETTLED, FilterError, Paper, match, match_all,
    parse,
)
from oracle_tree import as_day
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

# A paper of which everything was told but a video, as of 2026-08-21.
FULL = {
    "id": "2608.01234", "title": "Faithful Reasoning with RAG for Protein Diffusion",
    "abstract": "One two three four five six seven chain of thought eight nine ten."
    " A rag of RAGs; reward models and their hacking. C++ and node.js.",
    "authors": ["Geoffrey E. Hinton", "Yann LeCun", "Ada Example"],
    "upvotes": 20, "comments": 3, "stars": 5,
    "code_url": "https://example.org/code", "project_url": "https://example.org/",
    "video_url": None,
    "organization": "Allen Institute for AI",
    "keywords": ["large language models", "state space", "RAG example"],
    "categories": ["cs.CL", "stat.ML", "hep-th", "astro-ph.GA"],
    "comment": "12 pages, accepted at ICML 2026",
    "journal": "J. Made-Up Res. 7 (2026) 1-9", "doi": "10.1145/3292500.AbC",
    "appearances": [("arxiv", "2026-07-31", "cross"), ("hf", "2026-08-14", "new")],
}
TODAY = "2026-08-21"

# filter, whether it finds FULL (a missing video is unknown)
FIELDS = [
    # the table of examples, line by line
    ("speech^3 (recognition OR synthesis)", NO), ("rag^3 (recognition OR hacking)", YES),
    ("=RAG", YES), ("=Rag", NO), ("=rag", YES), ("title:=rag", NO), ("rags", YES),
    ("first:hinton", YES), ("first:lecun", NO), ('first:"G. Hinton"', YES),
    ("cat:cs.CL NOT cat:cs.CV", YES), ("cat:cs.CL NOT cat:stat.ML", NO),
    ("title:(mamba OR ssm) cs.LG", NO), ("title:(mamba OR rag) cs.CL", YES),
    ("source:hf upvotes:>=20", YES), ("source:hf upvotes:>20", NO),
    ("reward NEAR/5 hacking", YES), ("hacking NEAR/3 reward", YES),
    ("reward NEAR/2 hacking", NO),
    ('NEAR("chain of thought" eight*, 8)', YES),
    ('NEAR("chain of thought" faithful*, 8)', NO),
    ('org:(deepmind OR "allen institute") has:code', YES),
    ("type:new date:7d.. authors:<=3 protein", YES),
    ("ti:protein ANDNOT (ti:survey OR abs:molecule)", YES),
    # bare categories and archives
    ("cs.CL", YES), ("CS.cl", YES), ("hep-th", YES), ("quant-ph", NO), ("cs", NO),
    ("math", NO), ('"cs.CL"', NO), ("-cs.CV rag", YES), ("-cs.CL rag", NO),
    ("cat:cs", YES), ("cat:cs.*", YES), ("cat:CS.CL", YES), ("cat:math", NO),
    ("cat:astro-ph", YES), ("cat:hep-th", YES), ("cat:hep-ph", NO),
    ("primary:cs", YES), ("primary:cs.CL", YES), ("primary:stat.ML", NO),
    ("cat:(cs.CV OR stat.ML)", YES), ("cat:(cs.CV stat.ML)", NO),
    ("cat:(cs.CL -cs.CV)", YES), ("cat:(cs.CL stat upvotes:20)", YES),
    ("title:(hep-th OR cs.CL)", NO),
    # NEAR
    ("one NEAR/5 seven", YES), ("one NEAR/4 seven", NO), ("seven NEAR/5 one", YES),
    ("one NEAR three NEAR seven", YES), ("one NEAR/4 three NEAR/4 seven", NO),
    ("one NEAR/5 three NEAR/5 seven", YES), ("NEAR(one seven three, 5)", YES),
    ("one NEAR chain", YES), ("one NEAR nine", YES), ("one NEAR ten", NO),
    ("NEAR(one eight)", YES), ("NEAR(one eight,8)", NO), ("NEAR(one eight , 10)", YES),
    ("faithful NEAR/99 one", NO), ("title:NEAR(faithful diffusion)", YES),
    ("title:(faithful NEAR diffusion)", YES), ("abs:(faithful NEAR diffusion)", NO),
    ("text:NEAR(faithful diffusion)", YES), ("rag NEAR/1 rag", YES),
    ('"two three" NEAR/1 "three four"', YES), ('NEAR("seven chain" "of thought", 1)', YES),
    ("=RAG NEAR/1 reasoning", YES), ("=rag NEAR/1 reasoning", NO), ("=RAGs NEAR rag", YES),
    ("=RAGs NEAR =Rag", NO), ("a NEAR/1 rag", YES), ("diff* NEAR/1 prot*", YES),
    ("c++ NEAR node.js", YES), ("c# NEAR node.js", NO), ("one near seven", NO),
    ("-(one NEAR/4 seven) rag", YES), ("rag -NEAR(one seven, 5)", NO),
    ("(one NEAR/5 seven)^4 rag", YES), ("one NEAR/5 seven^4", YES),
    # weights
    ("rag^1", YES), ("rag^10 one", YES), ("-survey^2 rag", YES), ("title:rag^2", YES),
    ("upvotes:>=20^2 rag", YES), ('"chain of thought"^5', YES), ("cs.CL^5", YES),
    # words of other fields
    ("org:allen", YES), ("org:Institutes", YES), ("org:=allen", NO), ("org:=Allen", YES),
    ('org:"institute allen"', NO), ("org:inst*", YES), ("org:(allen -deepmind)", YES),
    ('kw:"language model"', YES), ('kw:"model state"', NO), ("kw:(large space)", YES),
    ("kw:=RAG", YES), ("kw:=rag", NO), ("kw:exam*", YES), ("kw:diffusion", NO),
    ("comment:icml", YES), ("co:(icml 2026)", YES), ('co:"accepted at icml"', YES),
    ("journal:2026", YES), ("jr:made-up", YES), ("jr:nature", NO),
    # ids
    ("id:2608.01234", YES), ("id:2608.01234v3", YES), ("id:2608.0123", NO),
    ("id:2608*", YES), ("id:260*", YES), ("id:2607*", NO), ("id:(2608.* OR 1)", YES),
    ("doi:10.1145/3292500.abc", YES), ("doi:10.1145", NO), ("doi:10.1145*", YES),
    ('doi:"10.1145/3292500.ABC"', YES), ("doi:10.1146*", NO),
    # sources and kinds
    ("source:HF", YES), ("source:arxiv", YES), ("source:acl", NO),
    ("source:(acl OR hf)", YES), ("type:cross", YES), ("type:New", YES),
    ("type:replace", NO), ("type:(replace OR cross)", YES), ("has:code", YES),
    ("has:project", YES), ("has:video", UNKNOWN), ("-has:video rag", UNKNOWN),
    ("has:(video OR code)", YES), ("has:(code project)", YES),
    # numbers
    ("upvotes:(>=30 OR 20)", YES), ("upvotes:(>=20 <20)", NO), ("comments:3", YES),
    ("comments:4..", NO), ("stars:1..5", YES), ("stars:..4", NO), ("authors:3", YES),
    ("authors:>3", NO), ("authors:1..2", NO), ("upvotes:(>=20 stars:5)", YES),
    # days
    ("date:2026", YES), ("date:2025", NO), ("date:2026-07", YES), ("date:2026-06", NO),
    ("date:2026-07-31", YES), ("date:2026-07-30", NO), ("date:2026-08..", YES),
    ("date:2026-09..", NO), ("date:..2026-07", YES), ("date:..2026-06", NO),
    ("date:2026-08-01..2026-08-13", NO), ("date:2026-08-01..2026-08-14", YES),
    ("date:..2025", NO), ("date:2025..2026", YES), ("date:7d..", YES), ("date:7d", YES),
    ("date:6d..", NO), ("date:1w", YES), ("date:0d..", NO), ("date:..3w", YES),
    ("date:..22d", NO), ("date:..21d", YES), ("date:7d..7d", YES), ("date:20d..8d", NO),
    ("date:1m..1w", YES), ("date:1y..", YES), ("date:..1m", NO), ("date:2026-08..1w", YES),
    ("date:(2025 OR 7d)", YES), ("-date:7d rag", NO), ("date:(2026-07 2026-08)", YES),
    # another field inside a group is that field
    ("title:(rag abs:reward)", YES), ("title:(rag OR (author:lecun))", YES),
    ("author:(lecun title:rag)", YES), ("author:(hinton OR lecun) rag", YES),
    ("a ANDNOT b", YES), ("a AND NOT b", YES), ("a & !b", YES), ("b | a", YES),
]

# today, what is told as a length of time, the day
LENGTHS = [
    ("2026-08-21", (7, "d"), "2026-08-14"), ("2026-03-01", (1, "d"), "2026-02-28"),
    ("2024-03-01", (1, "d"), "2024-02-29"), ("2026-01-01", (2, "w"), "2025-12-18"),
    ("2026-03-31", (1, "m"), "2026-02-28"), ("2024-03-31", (1, "m"), "2024-02-29"),
    ("2026-03-31", (4, "m"), "2025-11-30"), ("2026-01-15", (1, "m"), "2025-12-15"),
    ("2026-12-31", (3, "m"), "2026-09-30"), ("2024-02-29", (1, "y"), "2023-02-28"),
    ("2024-02-29", (4, "y"), "2020-02-29"), ("2026-08-21", (0, "d"), "2026-08-21"),
    ("2026-08-21", (25, "m"), "2024-07-21"), ("2026-08-21", (12, "m"), "2025-08-21"),
]

# filter, column
REFUSED = [
    ("", 1), ("   ", 1), ("foo:bar", 1), ("titel:bar", 1), ("()", 1), ("a ()", 3),
    ("title:()", 7), ("-a", 1), ("NOT a", 1), ("-a -b", 1), ("a OR -b", 6),
    ("-(a b)", 1), ("ab*", 1), ("a ab*", 3), ('"abc de*"', 6), ('"abc', 1), ("(a", 1),
    ("a)", 2), ("a OR", 3), ("OR a", 1), ("a AND", 3), ("AND a", 1), ("a NOT", 3),
    ("a OR OR b", 3), ("a - b", 3), ("a --b", 4), ("a NOT -b", 7), ("a NOT NOT b", 7),
    ("title:", 7), ("title: a", 7), ("title:title:a", 7), ("title:>=3", 7),
    ("upvotes:>=ten", 11), ("upvotes:", 9), ("upvotes:>=", 11),
    ("upvotes:>=1234567890", 11), ("upvotes:20..10", 9), ("upvotes:7d..", 9),
    ("a\tb", 2), ("a\x7fb", 2), ("a, b", 2), ("...", 1), ('""', 2), ('" "', 2),
    ("=", 1), ("*", 1), ("a ||b", 3), ("a &&b", 3), ('author:", Yann"', 8), (":a", 1),
    ("author:pee*", 8), ('author:"..."', 8), ("-a OR -b", 1), ("a OR (-b -c)", 7),
    ("a #b", 3), ("ab*c", 3), ("abc-*", 1), ("upvotes:20x", 9), ("upvotes:<0", 10),
    ("title:-a", 7), ("a title:!b", 9), ("(a OR) b", 4),
    # fields
    ("categroy:cs.CL", 1), ("cat:cs.XX", 5), ("primary:foo", 9), ("cat:(cs.CL OR x)", 15),
    ("cat:cs.C*", 5), ("cat:=cs.CL", 5), ("cat:", 5), ("cat:()", 5), ("source:", 8),
    ("has:codes", 5), ("has:(code OR vid)", 14), ("type:old", 6), ("has:=code", 5),
    ("id:", 4), ("id:26*", 4), ("doi:10*45", 7), ("id:=2608.01234", 4), ("source:=hf", 8),
    ("author:=LeCun", 8), ("first:=LeCun", 7), ("first:hin*", 7), ("org:", 5),
    ("org:in*", 5), ("kw:>=3", 4), ("comments:few", 10), ("stars:>=", 9),
    ("authors:<x", 10), ("upvotes:(>=20 OR ten)", 18), ("upvotes:(>= OR 3)", 12),
    # days
    ("date:", 6), ("date:>=2026", 6), ("date:=2026", 6), ("date:<7d", 6),
    ("date:2026-02-30", 6), ("date:2026-13", 6), ("date:7x", 6), ("date:soon", 6),
    ("date:2026..2025", 6), ("date:3d..7d", 6), ("date:2026-07-01..2026-06", 6),
    ("date:2023-02-29..", 6), ("date:1234d", 6), ("date:20260701", 6), ("date:..", 6),
    # NEAR
    ("a NEAR (b c)", 8), ("(a b) NEAR c", 1), ("a NEAR upvotes:3", 8), ("a NEAR", 3),
    ("NEAR a", 1), ("a NEAR author:b", 8), ("a NEAR -b", 8), ("a NEAR NOT b", 8),
    ("a NEAR/0 b", 3), ("a NEAR/100 b", 3), ("NEAR(a)", 1), ("NEAR()", 1),
    ("NEAR(a (b))", 8), ("NEAR(a b, 0)", 11), ("NEAR(a b, 100)", 11),
    ("NEAR(a upvotes:3)", 8), ("a NEAR/3 b NEAR/4 c", 12), ("org:(a NEAR b)", 8),
    ("NEAR(a b", 1), ("org:NEAR(a b)", 5), ("NEAR(a b, five)", 11),
    # weights
    ("a^11", 2), ("a^0", 2), ("a^", 2), ("a^x", 2), ("^3", 1), ("a^2^3", 4), ("a^100", 2),
    # letters
    ("=a*", 1), ("=a-b", 1), ('="a b"', 1), ("title:=a*", 7),
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
    full = Paper(FULL, today=TODAY)
    for source, wanted in FIELDS:
        tap.equal(match(source, full), wanted, f"{source} means what it says")


def test_lengths_of_time():
    """so long before today is a day of the calendar, at the ends of months too"""
    for today, length, wanted in LENGTHS:
        assert as_day(length, today) == wanted, (today, length, as_day(length, today))


def test_refusals(tap):
    for source, column in REFUSED:
        try:
            parse(source)
            got = None
        except FilterError as error:
            got = error.column
        tap.equal(got, column, f"{source!r} is refused at column {column}")


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
    paper = {"title": "yyy", "abstract": None, "upvotes": None}
    leaf = {"y": "title:yyy", "n": "title:nnn", "u": "upvotes:1"}
    for (a, left), (b, right) in itertools.product(leaf.items(), leaf.items()):
        truths = [values[a], values[b]]
        both = NO if NO in truths else UNKNOWN if UNKNOWN in truths else YES
        either = YES if YES in truths else UNKNOWN if UNKNOWN in truths else NO
        assert match(f"{left} {right}", paper) is both, (a, b)
        assert match(f"{left} OR {right}", paper) is either, (a, b)
    assert match("title:yyy -upvotes:1", paper) is UNKNOWN
    # texts, names and where it was listed are always known
    for source in ("nnn", "author:a", "first:a", "source:hf", "type:new", "date:2026"):
        assert match(source, paper) is NO, source


# field, a clause, when it is decided though nobody told
NOT_TOLD = [
    ("cat:cs.CL", ENRICHED), ("cs.CL", ENRICHED), ("primary:cs.CL", ENRICHED),
    ("comment:a", ENRICHED), ("journal:a", ENRICHED), ("doi:10.1/a", ENRICHED),
    ("upvotes:>=0", FINALLY), ("comments:>=0", FINALLY), ("stars:>=0", FINALLY),
    ("has:code", FINALLY), ("has:project", FINALLY), ("has:video", FINALLY),
    ("org:a", FINALLY), ("kw:a", FINALLY),
]


def test_settlements():
    """what nobody told is unknown, and false once its time is over"""
    paper = Paper({"id": "a", "title": "yyy"})
    levels = (NOTHING_SETTLED, ENRICHED, FINALLY)
    for source, settled in NOT_TOLD:
        for level in levels:
            wanted = UNKNOWN if level < settled else NO
            assert parse(source).truth(paper, level) is wanted, (source, level)
            negated = parse(f"yyy -{source}").truth(paper, level)
            assert negated is (UNKNOWN if level < settled else YES), (source, level)
    told = Paper(dict(FULL, comment=None, journal=None, doi=None))
    for source in ("comment:a", "journal:a", "doi:10.1/a", "upvotes:<3", "kw:nothing"):
        assert parse(source).truth(told) is NO, source
    assert parse("has:video").truth(told) is UNKNOWN  # a link may come


def test_may_change():
    """what may change is unknown though it is told, until all is settled"""
    paper = Paper(FULL)
    for source in ("upvotes:>=20", "comments:<3", "stars:5", "has:video"):
        tree = parse(source)
        for level in (NOTHING_SETTLED, ENRICHED):
            assert tree.truth(paper, level, MAY_CHANGE) is UNKNOWN, source
        assert tree.truth(paper, FINALLY, MAY_CHANGE) is tree.truth(paper, FINALLY)
    for source in ("authors:3", "has:code", "cat:cs.CL", "kw:example", "diffusion"):
        assert parse(source).truth(paper, NOTHING_SETTLED, MAY_CHANGE) is YES, source


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
    field = rng.choice(("", "", "title", "abstract"))
    columns = f"{{{field or 'title abstract'}}} : "
    if rng.random() < 0.2:
        typed, wanted = random_near(rng, archive, folds, row, field)
    else:
        size = rng.choice((1, 1, 1, 2, 3))
        at = rng.randrange(max(1, len(row) - size + 1))
        typed, wanted = random_term(rng, archive, folds, row[at : at + size])
        typed = (f"{field}:" if field else "") + typed
    return typed, " OR ".join(f"({columns}{one})" for one in wanted)


def random_term(rng, archive, folds, part):
    """A word or a phrase: as it is typed, and all its forms for FTS5."""
    if rng.random() < 0.15:
        rng.shuffle(part)
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
    wanted = [
        '"' + " ".join(words) + '"' + ("*" if is_prefix else "")
        for words in itertools.product(*alternatives)
    ]
    typed = f'"{typed}"' if len(part) > 1 or rng.random() < 0.3 else typed
    return typed, wanted


def random_near(rng, archive, folds, row, field):
    """Two or three terms that stand about so far apart in a text."""
    distance = rng.choice((1, 1, 2, 3, 5, 8, 10, 20, 99))
    count = rng.choice((2, 2, 2, 3))
    begin = rng.randrange(len(row))
    terms = []
    for _ in range(count):
        at = min(len(row) - 1, begin + rng.randint(0, 2 + distance))
        size = rng.choice((1, 1, 1, 2))
        terms.append(random_term(rng, archive, folds, row[at : at + size]))
    operands = [typed for typed, _ in terms]
    shown = "" if distance == 10 and rng.random() < 0.5 else str(distance)
    group = f"NEAR({' '.join(operands)}{shown and ', ' + shown})"
    chain = f" NEAR{shown and '/' + shown} ".join(operands)
    if field:
        typed = rng.choice((f"{field}:{group}", f"{field}:({chain})"))
    else:
        typed = rng.choice((group, f"({chain})", f"text:{group}"))
    products = itertools.product(*(wanted for _, wanted in terms))
    return typed, [f"NEAR({' '.join(one)}, {distance})" for one in products]


def agree(archive, rng, rounds, folds):
    """How many filters found something; any difference is an AssertionError."""
    fold = plural_class if folds else (lambda word: word)
    ready = [Paper(paper, fold) for paper in archive.papers]
    hits = 0
    for _ in range(rounds):
        ours, theirs = random_filter(rng, archive, folds)
        tree = parse(ours)
        got = [number for number, paper in enumerate(ready) if tree.truth(paper)]
        wanted = archive.find(theirs)
        assert got == wanted, f"{ours}\n{theirs}\n{got}\n{wanted}"
        hits += bool(got)
    return hits


def test_made_up_agreement():
    """words, phrases, prefixes, NEAR and booleans are FTS5's on made-up papers"""
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
            test_limits, test_lengths_of_time, test_three_truths, test_settlements,
            test_may_change, test_plurals, test_tex,
            test_match_all, test_tokens, test_made_up_agreement, test_made_up_plurals,
            test_plain_scan_by_hand, test_real_tokens, test_real_agreement,
            test_third_opinion,
        ):
            tap.run(test)


if __name__ == "__main__":
    main()
