"""examples.py - filters written by hand: their matches, and errors with their columns.

The examples of the language's description are among them, line by line.
"""

from oracle import ENRICHED, FINALLY, NOTHING_SETTLED

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
    # typographic marks
    ("“diffusion model”", YES, NO), ("„diffusion model“", YES, NO),
    ("«model diffusion»", NO, NO), ("»diffusion model«", YES, NO),
    ("« diffusion model »", YES, NO), ("‘self play’", NO, YES),
    ("“play self”", NO, NO), ("author:“Yann LeCun”", YES, YES),
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

# A paper with all values reported but a video, as of 2026-08-21.
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
    "categories": ["cs.CL", "stat.ML", "hep-th", "astro-ph.GA", "math-ph"],
    "comment": "12 pages, accepted at ICML 2026",
    "journal": "J. Made-Up Res. 7 (2026) 1-9",
    "journal_names": ["Mu. Lett.", "Mu Lett B"], "doi": "10.1145/3292500.AbC",
    "listings": [("arxiv", "2026-07-31", "cross"), ("hf", "2026-08-14", "new"),
                    ("made-up", "2026-05-01", "new", "late")],
}
TODAY = "2026-08-21"

# filter, whether it finds FULL (a missing video is unknown)
FIELDS = [
    # the table of examples, line by line
    ("speech^3 (recognition OR synthesis)", NO),
    ("rag^3 (recognition OR hacking)", YES),
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
    ("math-ph", YES), ("cat:math-ph", YES), ("cat:math.*", NO),
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
    ('"two three" NEAR/1 "three four"', YES),
    ('NEAR("seven chain" "of thought", 1)', YES),
    ("=RAG NEAR/1 reasoning", YES), ("=rag NEAR/1 reasoning", NO),
    ("=RAGs NEAR rag", YES),
    ("=RAGs NEAR =Rag", NO), ("a NEAR/1 rag", YES), ("diff* NEAR/1 prot*", YES),
    ("c++ NEAR node.js", YES), ("c# NEAR node.js", NO), ("one near seven", NO),
    ("-(one NEAR/4 seven) rag", YES), ("rag -NEAR(one seven, 5)", NO),
    ("(one NEAR/5 seven)^4 rag", YES), ("one NEAR/5 seven^4", YES),
    # weights
    ("rag^1", YES), ("rag^10 one", YES), ("-survey^2 rag", YES), ("title:rag^2", YES),
    ("upvotes:>=20^2 rag", YES), ('"chain of thought"^5', YES), ("cs.CL^5", YES),
    # words of other fields
    ("org:allen", YES), ("org:Institutes", YES), ("org:=allen", NO),
    ("org:=Allen", YES),
    ('org:"institute allen"', NO), ("org:inst*", YES), ("org:(allen -deepmind)", YES),
    ('kw:"language model"', YES), ('kw:"model state"', NO), ("kw:(large space)", YES),
    ("kw:=RAG", YES), ("kw:=rag", NO), ("kw:exam*", YES), ("kw:diffusion", NO),
    ("comment:icml", YES), ("co:(icml 2026)", YES), ('co:"accepted at icml"', YES),
    ("journal:2026", YES), ("jr:made-up", YES), ("jr:nature", NO),
    ('jr:"mu lett"', YES), ('jr:"Mu. Lett. B"', YES), ("jr:(2026 mu)", YES),
    ('jr:"9 mu"', NO), ('jr:"lett mu"', NO), ("jr:=MU", NO), ("rag -jr:lett", NO),
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
    ("date:2026-09..", NO), ("date:..2026-07", YES), ("date:..2026-04", NO),
    ("date:2026-08-01..2026-08-13", NO), ("date:2026-08-01..2026-08-14", YES),
    ("date:..2025", NO), ("date:2025..2026", YES), ("date:7d..", YES), ("date:7d", YES),
    ("date:6d..", NO), ("date:1w", YES), ("date:0d..", NO), ("date:..3w", YES),
    ("date:..22d", NO), ("date:..21d", YES), ("date:7d..7d", YES), ("date:20d..8d", NO),
    ("date:1m..1w", YES), ("date:1y..", YES), ("date:..1m", NO),
    ("date:2026-08..1w", YES), ("date:2026-05", YES), ("date:..2026-05", YES),
    ("date:..2m", NO), ("date:2026-05-01..15w", NO), ("date:1y..2m", NO),
    ("date:(2025 OR 7d)", YES), ("-date:7d rag", NO), ("date:(2026-07 2026-08)", YES),
    # another field inside a group is that field
    ("title:(rag abs:reward)", YES), ("title:(rag OR (author:lecun))", YES),
    ("author:(lecun title:rag)", YES), ("author:(hinton OR lecun) rag", YES),
    ("a ANDNOT b", YES), ("a AND NOT b", YES), ("a & !b", YES), ("b | a", YES),
]

# today, a duration, the day
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
    ("(", 1), ("a (", 3), ("(a OR (", 7), ("“a", 1), ("a”", 2), ("«a \"b\" c»", 4),
    ('"a “b” c"', 4), ("‘a’ b’", 1), ("’a b’", 1), ("」a", 1),
    # fields
    ("categroy:cs.CL", 1), ("cat:cs.XX", 5), ("primary:foo", 9),
    ("cat:(cs.CL OR x)", 15),
    ("cat:cs.C*", 5), ("cat:=cs.CL", 5), ("cat:", 5), ("cat:()", 5), ("source:", 8),
    ("has:codes", 5), ("has:(code OR vid)", 14), ("type:old", 6), ("has:=code", 5),
    ("id:", 4), ("id:26*", 4), ("doi:10*45", 7), ("id:=2608.01234", 4),
    ("source:=hf", 8),
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
    ("a^11", 2), ("a^0", 2), ("a^", 2), ("a^x", 2), ("^3", 1), ("a^2^3", 4),
    ("a^100", 2),
    # letters
    ("=a*", 1), ("=a-b", 1), ('="a b"', 1), ("title:=a*", 7),
]

# Papers by the services that know them: clauses, and the time when each is final without
# a value.
LATE = [
    ("upvotes:>=0", FINALLY), ("comments:>=0", FINALLY), ("stars:>=0", FINALLY),
    ("has:code", FINALLY), ("has:project", FINALLY), ("has:video", FINALLY),
    ("org:a", FINALLY), ("kw:a", FINALLY),
]
NOT_KNOWN = {
    "arxiv": ({"id": "2608.01234", "title": "yyy"}, [
        ("cat:cs.CL", ENRICHED), ("cs.CL", ENRICHED), ("primary:cs.CL", ENRICHED),
        ("comment:a", ENRICHED), ("journal:a", ENRICHED), ("doi:10.1/a", ENRICHED),
        ("mesh:a", NOTHING_SETTLED), ("pmid:1", NOTHING_SETTLED), *LATE]),
    "doi": ({"id": "doi:10.1/b", "doi": "10.1/b", "title": "yyy"}, [
        ("cat:cs.CL", NOTHING_SETTLED), ("comment:a", NOTHING_SETTLED),
        ("journal:a", ENRICHED), ("mesh:a", ENRICHED), ("pmid:1", ENRICHED), *LATE]),
    "pmcid": ({"id": "doi:10.1/b", "pmcid": "PMC1", "title": "yyy"}, [
        ("journal:a", ENRICHED), ("mesh:a", ENRICHED), ("doi:10.1/a", ENRICHED),
        ("comment:a", NOTHING_SETTLED), *LATE]),
    "nobody": ({"id": "a", "title": "yyy"}, [
        (source, NOTHING_SETTLED) for source in (
            "cat:cs.CL", "comment:a", "journal:a", "doi:10.1/a", "mesh:a", "pmid:1")]),
}
