"""unspaced.py - random papers and filters in scripts without spaces between words.

Few characters, so that most filters match some papers and not others: Chinese, Japanese
and Thai, with Latin and Korean words, digits and signs between them.
"""

import unicodedata

SCRIPTS = ("大模型语言的人々〇𠀀", "モデルーガがかｶﾞゝ゜", "การีรู้เ")
OTHERS = ("BERT", "bert", "GPT4", "C++", "c#", "2", "models", "Müller", "한국어", "x")
SIGNS = ("", "", "", " ", " ", "　", "，", "、", "（", "）", "。", "・", "-", "+", ".")
NAMES = ("王小明", "李 明", "明 李", "ヤン・ルカン", "Bo 大人", "大人", "小 王", "人A型", "Ann Lee")


def make_run(rng):
    return "".join(rng.choices(rng.choice(SCRIPTS), k=rng.choice((1, 1, 2, 2, 3, 4, 7))))


def make_text(rng, words):
    text = ""
    for _ in range(words):
        text += rng.choice(SIGNS)
        text += rng.choice(OTHERS) if rng.random() < 0.2 else make_run(rng)
    return text


def make_papers(rng, count):
    return [{
        "id": str(number), "title": make_text(rng, rng.randint(1, 6)),
        "abstract": make_text(rng, rng.choice((0, 5, 20))),
        "authors": rng.sample(NAMES, 2), "keywords": [make_run(rng), make_text(rng, 2)],
        "listings": [["hf", "2026-08-21", "new"]],
    } for number in range(count)]


def make_filter(rng, papers, depth=0):
    kind = rng.random()
    if depth < 2 and kind < 0.25:
        sign = rng.choice((" ", " OR ", " -", " NOT "))
        left, right = (make_filter(rng, papers, depth + 1) for _ in range(2))
        return f"({left}){sign}({right})"
    paper = rng.choice(papers)
    text = paper["title"] + " " + paper["abstract"]
    if kind < 0.35:
        return "author:" + rng.choice((make_run(rng), rng.choice(NAMES).replace(" ", "-"),
                                       f'"{rng.choice(NAMES)}"', rng.choice(NAMES)[:1]))
    if kind < 0.45:
        words = [make_word(rng, text) for _ in range(2)]
        return f"NEAR({' '.join(words)}, {rng.choice((1, 2, 5))})"
    return rng.choice(("", "", "title:", "abstract:", "kw:")) + make_word(rng, text)


def make_word(rng, text):
    """A part of a text, or nearly: bare, quoted, a prefix, an =word, decomposed."""
    size = rng.choice((1, 1, 2, 2, 2, 3, 4, 6))
    at = rng.randrange(max(1, len(text) - size))
    part = text[at : at + size].strip() or make_run(rng)
    if rng.random() < 0.15:
        part = part[:-1] + rng.choice(text)
    if rng.random() < 0.1:
        part = unicodedata.normalize("NFD", part)
    kind = rng.random()
    if kind < 0.2:
        part += "*"
    elif kind < 0.3:
        return "=" + part.split(" ")[0]
    return f'"{part}"' if " " in part or rng.random() < 0.2 else part
