"""fts_archive.py - papers in an FTS5 table, and random filters for it and as typed."""

import itertools
import sqlite3

from normalize import normalize
from words import TOKENIZE, plural_class, tokens


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
            # SQLite has no pairs of characters; a single one is not searched here.
            row = [" ".join(tokens(normalize(paper[name] or "")))
                   for name in ("title", "abstract")]
            self.db.execute("INSERT INTO t(rowid, title, abstract) VALUES (?, ?, ?)",
                            [rowid, *row])
        self.papers = papers
        self.db.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, 'row')")
        self.vocabulary = [term for (term,) in self.db.execute("SELECT term FROM v")]

    def find(self, expression):
        rows = self.db.execute("SELECT rowid FROM t WHERE t MATCH ?", (expression,))
        return sorted(rowid for (rowid,) in rows)


def random_filter(rng, archive, folds, depth=0):
    """The same filter as typed, and for FTS5."""
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
    """A word or a phrase: as typed, and all its forms for FTS5."""
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
    """Two or three terms about that far apart in a text."""
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
