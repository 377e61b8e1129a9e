"""sample_digests.py - digests of real papers, and an empty one, built by the program.

    for sample in SAMPLES:
        digest = build(sample, tap.subdirectory(sample.name))
        digest.html, digest.text, digest.raw
"""

import collections
import copy
import glob
import json
import os

import messages
from oracle import Paper, parse
from papers import paper_from_element
from programs import FROM, Paperboy, as_sent
from tap import read, real_files, top_srcdir

READER = "reader@example.org"
EXTRA = f"""commands: {{ address = "{FROM}"; }};
web: {{ url = "https://papers.example.org"; }};"""

# Name ("" for none) and text of the filters, which find most papers.
FILTERS = (
    ("agents", 'agent* OR "tool use"'),
    ("language models", '"language model*" OR LLM OR tokenizer*'),
    ("vision", "image* OR video* OR visual OR 3D OR multimodal"),
    ("", 'reasoning OR "reinforcement learning" OR reward*'),
    ("data", "benchmark* OR dataset* OR evaluat*"),
    ("", "upvotes:>=10"),
)

NAMED = FILTERS[:3] + (("reasoning", FILTERS[3][1]),)

# Texts that real days lack: (field, text), for the first papers of a sample.
SCRIPTS = (
    ("ai_summary", "نقدم معيارا جديدا يقيس reasoning في 5 لغات."),
    ("ai_summary", "本文提出了一种新的强化学习方法，在12个基准测试上平均提高了3.5%。"),
    ("title", "دراسة GPT-4 على 12 مهمة"), ("title", "נתונים: 5 מודלים"),
    ("title", "نماذج اللغة الكبيرة: دراسة GPT-4 على 12 مهمة (2026)"),
    ("title", "מודלי שפה גדולים: RLHF ב-3 שלבים"),
    ("title", "大型语言模型的推理能力：面向中文数学问题的基准测试与强化学习方法研究及其在多模态智能体中的应用"),
    ("title", "大規模言語モデルによる対話エージェントの評価（第2版）"),
    ("title", "A Hebrew benchmark: שאלות ותשובות in 7 domains"),
)

# count: papers; pick: True for an element that the sample should have
Sample = collections.namedtuple(
    "Sample", "name count filters settings preferences extra pick texts",
    defaults=(FILTERS, {}, {}, EXTRA, None, ()))
Digest = collections.namedtuple("Digest", "sample raw text html ids")


def has_tex(element):
    return any(sign in element["paper"]["title"] + element["paper"]["summary"]
               for sign in "$\\")


TEN = NAMED + tuple((name, name) for name in (
    "diffusion", "speech", "robot", "retrieval", "safety", "training"))

# first: the newest list came before the reader subscribed, so that the digest is the
# first one, which says welcome; else it is the second.
SAMPLES = (
    Sample("one", 1),
    Sample("three", 3, extra=""),
    Sample("five", 5, filters=NAMED[:1]),
    Sample("twenty", 20, filters=NAMED),
    Sample("ten-filters", 56, filters=TEN, settings={"max": 20}),
    Sample("large", 147, settings={"max": 20}),
    Sample("sixty", 60),
    Sample("grouped", 20, preferences={"group": "on"}, settings={"max": 8}),
    Sample("grouped-large", 56, filters=NAMED, preferences={"group": "on"},
           settings={"max": 20}),
    Sample("answers", 20, filters=NAMED, preferences={"feedback": "on"}),
    Sample("tex", 12, pick=has_tex),
    Sample("scripts", 12, settings={"max": 8}, preferences={"order": "votes"},
           filters=(("نماذج", "model*"),) + FILTERS, texts=SCRIPTS),
    Sample("nothing", 0, filters=(("", "zymurgy"),), preferences={"quiet": "note"}),
    Sample("german", 20, preferences={"language": "de"},
           settings={"cadence": "weekly"}),
    Sample("german-large", 56, preferences={"language": "de"}, settings={"max": 20}),
)
WEEK = ("2026-08-10", "2026-08-17")  # Mondays


def load_elements():
    """Elements of the API of all real days, the newest day first, without copies."""
    found = {}
    for path in reversed(real_files("daily_papers-????-??-??.json")):
        with open(path, encoding="utf-8") as file:
            for element in json.load(file):
                found.setdefault(element["paper"]["id"], element)
    return list(found.values())


def choose(sample, elements):
    """The first elements that the sample's filters find."""
    if not sample.count:
        return elements[:1]
    trees = [parse(text) for _, text in sample.filters]
    chosen = []
    for element in elements:
        if sample.pick and not sample.pick(element):
            continue
        paper = Paper(paper_from_element(element, ""))
        if any(tree.truth(paper) for tree in trees):
            chosen.append(copy.deepcopy(element))
            if len(chosen) == sample.count:
                break
    for element, (field, text) in zip(chosen, sample.texts):
        element["paper"][field] = text
        if field == "title":
            element["title"] = text
    return chosen


def build(sample, directory, elements=None):
    """Build and deliver the digest of a sample.  @param elements  its papers"""
    if elements is None:
        elements = choose(sample, load_elements())
    assert len(elements) == max(sample.count, 1), (sample.name, len(elements))
    source = os.path.join(directory, "source")
    os.makedirs(source)
    first, last = WEEK
    day = first
    if not sample.settings.get("cadence"):
        day, last = "2026-08-14", "2026-08-15"
    with open(os.path.join(source, f"daily_papers-{day}.json"), "w",
              encoding="utf-8") as file:
        json.dump(elements, file)
    paperboy = Paperboy(directory, f"file://{source}", extra=sample.extra)
    settings = {"zone": "UTC", "at": "07:30", "max": 100} | sample.settings
    now = f"{first}T00:00:00Z"
    paperboy.add(READER, [], now=now, **settings)
    for name, text in sample.filters:
        options = ["--name", name] if name else []
        paperboy.ctl("filter", "add", READER, text, *options, now=now)
    for name, value in sample.preferences.items():
        paperboy.ctl("subscriber", "set", READER, f"--{name}", value, now=now)
    paperboy.run_once(f"{last}T08:00:00Z")
    (raw,) = [raw for raw in map(as_sent, paperboy.new_mails())
              if messages.paper_ids(raw) or not sample.count]
    text, html = messages.parts(raw)
    return Digest(sample, raw, text, html, messages.paper_ids(raw))


def build_shipped(directory):
    """A digest of the newest made-up day that ships."""
    path = sorted(glob.glob(os.path.join(top_srcdir(), "samples",
                                         "daily_papers-*.json")))[-1]
    elements = json.loads(read(path))
    sample = Sample("shipped", len(elements), filters=(("", "upvotes:>=0"),))
    return build(sample, directory, elements)
