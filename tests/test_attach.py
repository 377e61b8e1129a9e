#!/usr/bin/env python3
"""test_attach.py - attached files of papers, read by independent parsers.

bibutils and pybtex read BibTeX, bibutils reads RIS, cmark-gfm and PyYAML read Markdown.  A
file may cause no warning, and must have all papers of the digest with their titles,
authors, days, ids and links; so must files of papers with hostile texts.
"""

import datetime
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree as tree

import lib  # the path
import messages
from papers import load_papers
from programs import Paperboy, as_sent, built
from tap import (
    IS_LONG, Tap, read, real_files, save, skip_all, top_srcdir, use_debian_python,
)

MODS = "{http://www.loc.gov/mods/v3}"
CMARK = "{http://commonmark.org/xml/1.0}"
TEX = {r"{\textbackslash}": "\\", r"{\textbraceleft}": "{", r"{\textbraceright}": "}",
       r"{\textasciitilde}": "~", r"{\textasciicircum}": "^"}
DEPTHS = ("brief", "short", "full", "none")
TYPES = {"bibtex": "text/x-bibtex", "ris": "application/x-research-info-systems",
         "markdown": "text/markdown"}

# Fields of BibTeX that are not text.
VERBATIM = ("title", "eprint", "archivePrefix", "primaryClass", "doi", "url")
# Elements of the Markdown.
ELEMENTS = ("document", "heading", "paragraph", "text", "link", "list", "item")
AUTHORS = 3  # that a digest names, and a fourth if it is the last

HOSTILE = [
    r"100% {of} $x_1$ & C# ~ \alpha^2", "}", "{", "}}}{{{", r"{\bf x", "trailing \\",
    r"\end{document}\input{/etc/passwd}", r"\write18{x} ^^M $$\sum_{i}$$", r"\{", "$",
    "ER  - ", "TY  - JOUR", "x ER  -", "AU  - Mallory", "%", "@article{x, title={y}}",
    "---", "--- x", "...", "*** x ***", "=====", "==mark== %%hidden%%", "- item",
    "+ item", "1. item", "1) item", "# Heading", "#tag ^block [[wiki]] {.class}",
    "> quote", "| a | b |", "```", "`code` *em* __strong__ ~~gone~~", "~~~", ": x",
    "](http://evil.example/)", "[x](javascript:alert(1))", "[x]: http://evil.example",
    "![x](http://evil.example/i.png)", "<http://evil.example>", "[^1]: x", "&#x3c;b>",
    "http://evil.example www.evil.example mallory@evil.example", "<!-- x", "<![CDATA[",
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "&lt;b&gt; &amp; &copy;",
    '"quoted": yes', "title: {a: b}", "'", '"', "!!python/object:x", "? x", "null",
    "مرحبا بالعالم (1)", "面向长文档的稀疏路由", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 🚀 ﬁ", "Zoë–naïve—“x”",
]
HOSTILE_NAMES = [
    "Ada Example", "José Núñez-O'Hara", "王小明", "OpenAI", "Research and Development",
    "Ludwig van Beethoven", "Guy Van den Broeck", "Hal Daumé III", "Kimi Team",
    "x} and {y z", "<b>Bold</b> Face", "[a](http://evil.example) b", "100% A&B \\",
    "and", "Jean de Dieu Nyandwi", "Sammy Davis Jr.", "😀 Smile", "محمد علي", "- x y",
]
METADATA = {"doi": "10.1000/a_b(c);2-#x", "journal": "J. of {x} & \\y, 1 (2026) ER  -\nAbbr. & J",
         "categories": "cs.CL\nstat.ML"}


class File:
    """An attached file, on disk with the bytes as sent."""

    def __init__(self, directory, part):
        data = part.get_payload(decode=True)
        assert data.count(b"\n") == data.count(b"\r\n") and data.endswith(b"\r\n")
        assert part.get_content_charset() == "utf-8"
        self.name = part.get_filename()
        self.kind = part.get_content_type()
        self.path = os.path.join(directory, self.name)
        self.text = data.decode("utf-8").replace("\r\n", "\n")
        save(self.path, data)


def run(*arguments):
    """Output and messages of a program that must succeed."""
    done = subprocess.run(arguments, capture_output=True, check=True, timeout=300)
    return done.stdout.decode("utf-8"), done.stderr.decode("utf-8")


def show(texts):
    """The texts as people read them."""
    lines = "".join(" ".join(text.split()) + "\n" for text in texts)
    done = subprocess.run([built("tests", "helper_tex")], input=lines.encode(),
                          capture_output=True, check=True, timeout=300)
    shown = [line.split("\t")[1] for line in done.stdout.decode().split("\n")[:-1]]
    assert len(shown) == len(texts)
    return shown


def load_wanted(path, metadata):
    """The values that a file must have of each paper of a day, by id."""
    inner = [element["paper"] for element in json.loads(read(path))]
    papers = load_papers(path)
    texts = []
    for paper in papers:
        texts += [paper["title"], paper["abstract"], *paper["authors"],
                  *filter(None, paper["keywords"] or ())]
    shown = iter(show(texts))
    (journal,) = show([metadata.get("journal", "").split("\n")[0]])
    wanted = {}
    for paper, element in zip(papers, inner):
        wanted[paper["id"]] = {
            "id": paper["id"], "title": next(shown), "abstract": next(shown),
            "authors": [next(shown) for _ in paper["authors"]],
            "keywords": [next(shown) for _ in filter(None, paper["keywords"] or ())],
            "day": element["publishedAt"][:10], "code": paper["code_url"],
            "page": f"https://arxiv.org/abs/{paper['id']}",
            "pdf": f"https://arxiv.org/pdf/{paper['id']}",
            "doi": metadata.get("doi"), "journal": journal or None,
            "category": metadata.get("categories", "").split("\n")[0] or None,
            "summary": element.get("ai_summary"),
        }
    return wanted


# ---- BibTeX and RIS ---------------------------------------------------------


def read_mods(program, path):
    """Records of bibutils, which may say nothing but their number."""
    options = ["--verbose"] if program == "ris2xml" else []
    output, said = run(program, *options, "-nt", "-un", path)
    records = tree.fromstring(output).findall(MODS + "mods")
    said = [line for line in said.splitlines() if line.startswith(program)]
    assert said == [f"{program}: Processed {len(records)} references."], said
    return [read_record(record) for record in records]


def read_record(record):
    def texts(path):
        return [item.text for item in
                record.findall("/".join(MODS + name for name in path.split("/")))]

    ids = {item.get("type"): item.text for item in record.findall(MODS + "identifier")}
    urls = texts("location/url")
    notes = texts("note")
    return {
        "id": record.get("ID"), "title": "".join(texts("titleInfo/title")),
        "abstract": "".join(texts("abstract")), "doi": ids.get("doi"),
        "authors": [read_name(name) for name in record.findall(MODS + "name")],
        "keywords": texts("subject/topic"), "page": urls[0] if urls else None,
        "pdf": urls[1] if urls[1:] else None,
        "day": "".join(texts("originInfo/dateIssued") +
                       texts("relatedItem/part/date")),
        "journal": "".join(texts("relatedItem/titleInfo/title")) or None,
        "code": notes[0].removeprefix("Code: ") if notes else None,
    }


def read_name(name):
    """A name in the order in which it is spoken."""
    parts = {kind: [] for kind in ("given", "family", "suffix", None)}
    for part in name.findall(MODS + "namePart"):
        parts[part.get("type")].append(part.text)
    return " ".join(sum(parts.values(), []))


def untex(text):
    """The text of an escaped field, which may have no other TeX."""
    plain = re.sub(r"\\[&%$#_{}]", "", text)
    for tex in TEX:
        plain = plain.replace(tex, "")
    assert not set(plain) & set("\\{}$&#%^~"), text
    for tex, char in TEX.items():
        text = text.replace(tex, char)
    return re.sub(r"\\([&%$#_{}])", r"\1", text)


def join_names(names):
    """Names without what bibutils drops or adds: marks, blanks, "and", copies."""
    text = " ".join(dict.fromkeys(names)).replace(" and ", " ")
    return re.sub(r"[^\w]", "", text)


def read_person(person):
    parts = (person.first_names + person.middle_names + person.prelast_names +
             person.last_names + person.lineage_names)
    text = " ".join(parts)
    is_group = text.startswith("{") and text.endswith("}") and len(parts) == 1
    return untex(text[1:-1] if is_group and text not in TEX else text)


def read_entry(key, entry):
    """An entry of pybtex."""
    fields = entry.fields
    known = {name: untex(fields[name]) for name in fields if name not in VERBATIM}
    month = datetime.datetime.strptime(fields["month"], "%B").month
    return {
        "id": key, "title": untex(fields["title"][1:-1]),
        "abstract": known.get("abstract", ""), "doi": fields.get("doi"),
        "authors": [read_person(one) for one in entry.persons.get("author", ())],
        "keywords": known["keywords"].split(", ") if "keywords" in known else [],
        "page": fields.get("url"), "eprint": fields.get("eprint"),
        "day": f"{fields['year']}-{month:02}", "journal": known.get("journal"),
        "code": known.get("annote", "").removeprefix("Code: ") or None,
        "category": fields.get("primaryClass"), "kind": entry.type,
    }


def typeset(text):
    """A text as bibutils reads it: with TeX's quotes and dashes, not its backslash."""
    for plain, sign in (("\\", "\\textbackslash"), ("\"", "”"), ("''", "”"),
                        ("``", "“"), ("'", "’"), ("`", "‘"), ("^", "⌃"), ("---", "—"),
                        ("--", "–")):
        text = text.replace(plain, sign)
    return text


def compare(found, wanted, keys):
    for key in keys:
        assert found[key] == wanted[key], (wanted["id"], key, found[key], wanted[key])


def check_bibtex(file, papers, _):
    from pybtex import errors
    from pybtex.database import parse_string

    errors.set_strict_mode(True)
    entries = parse_string(file.text, "bibtex").entries
    assert list(entries) == [paper["id"] for paper in papers]
    for (key, entry), paper, second in zip(
            entries.items(), papers, read_mods("bib2xml", file.path), strict=True):
        first = read_entry(key, entry)
        paper = paper | {
            "kind": "article" if paper["journal"] else "misc", "eprint": paper["id"],
            "keywords": ", ".join(paper["keywords"]).split(", ")
            if paper["keywords"] else [], "day": paper["day"][:7],
        }
        compare(first, paper, ("id", "title", "abstract", "authors", "keywords", "day",
                               "doi", "journal", "code", "page", "eprint", "category",
                               "kind"))
        paper |= {key: typeset(paper[key]) for key in ("title", "abstract")}
        compare(second, paper, ("id", "title", "abstract", "doi", "page", "day"))


def check_ris(file, papers, _):
    records = read_mods("ris2xml", file.path)
    lines = file.text.split("\n")
    assert all(re.match(r"[A-Z][A-Z0-9]  - |$", line) for line in lines)
    kinds = [line[6:] for line in lines if line.startswith("TY")]
    assert kinds == ["JOUR" if paper["journal"] else "UNPB" for paper in papers]
    # bibutils reads only DOIs whose prefix has four digits.
    dois = [line[6:] for line in lines if line.startswith("DO  - ")]
    assert dois == [paper["doi"] or f"10.48550/arXiv.{paper['id']}" for paper in papers]
    for found, paper in zip(records, map(dict, papers), strict=True):
        for record in (paper, found):
            record["authors"] = join_names(record["authors"])
            record["keywords"] = list(dict.fromkeys(record["keywords"]))
        compare(found, paper, ("id", "title", "abstract", "authors", "keywords", "day",
                               "doi", "journal", "code", "page", "pdf"))


# ---- Markdown ---------------------------------------------------------------


def node_text(node):
    return "".join(node.itertext()).replace("\n", "") if node is not None else ""


def node_texts(node):
    return "".join(text.text or "" for text in node.iter(CMARK + "text"))


def split_yaml(file):
    import yaml

    head, body = re.fullmatch(r"---\n(.*?\n)---\n(.*)", file.text, re.S).groups()
    return yaml.safe_load(head), body


def check_markdown(file, papers, depth):
    head, body = split_yaml(file)
    ids = [paper["id"] for paper in papers]
    assert head == {"title": head["title"], "date": head["date"], "list": "paperboy",
                    "count": len(ids), "papers": ids}, head
    assert isinstance(head["title"], str) and str(head["date"]) in file.name
    path = file.path + ".body"
    save(path, body)
    root = tree.fromstring(run("cmark-gfm", "--to", "xml", path)[0])
    assert {node.tag for node in root.iter()} <= {CMARK + name for name in ELEMENTS}
    # Links that GitHub's extension would make of text.
    assert not re.search(r"(?<!\\)(://|www\.|@)", re.sub(r"\]\([^)]*\)", "", body), re.I)
    sections, titles = split_sections(root)
    assert len(sections) + len(titles) == len(papers)
    for paper, (title, *paragraphs) in zip(papers, sections):
        check_section(paper, title, paragraphs, depth, len(papers) == 1)
    for paper, item in zip(papers[len(sections):], titles):
        check_title(paper, item)
    return len(titles)


def split_sections(root):
    """Headings with their paragraphs, and items of the last list."""
    sections, titles = [], []
    for node in root:
        if node.tag == CMARK + "heading":
            sections.append([node])
        elif node.tag == CMARK + "list":
            titles = list(node)
            assert node_texts(sections.pop()[0]) == "More by title"
        else:
            sections[-1].append(node)
    return sections, titles


def links_of(node):
    return [(node_texts(link), link.get("destination"))
            for link in node.iter(CMARK + "link")]


def check_title(paper, node):
    assert links_of(node) == [(paper["title"], paper["page"])], (paper, links_of(node))
    assert node_texts(node) == paper["title"]


def check_section(paper, title, paragraphs, depth, is_single):
    check_title(paper, title)
    texts = [node_texts(node) for node in paragraphs]
    if paper["authors"]:
        authors = paragraphs.pop(0)
        shown = 4 if len(paper["authors"]) == 4 else AUTHORS
        more = len(paper["authors"]) - shown
        wanted = ", ".join(paper["authors"][:shown])
        assert texts.pop(0) == wanted + (f" and {more} more" if more > 0 else "")
        assert not links_of(authors)
    metadata = paragraphs.pop(0)
    links = [(name, paper[key]) for name, key in (("PDF", "pdf"), ("Code", "code"))
             if paper[key]]
    if paper["doi"]:
        links.insert(0, (paper["doi"], "https://doi.org/" + paper["doi"]))
    links = [(name, url.replace("(", "%28").replace(")", "%29")) for name, url in links]
    assert links_of(metadata) == links, (links_of(metadata), links)
    words = [paper["day"], paper["journal"], "arXiv:" + paper["id"], paper["category"],
             *(name for name, _ in links)]
    assert texts.pop(0) == " · ".join(word for word in words if word)
    assert not any(map(links_of, paragraphs))
    check_summary(paper, texts, depth, is_single)


def check_summary(paper, texts, depth, is_single):
    """The generated sentence is marked, the rest is of the abstract."""
    if depth == "brief" and paper["summary"]:
        (summary,) = show([paper["summary"]])
        sentence = texts.pop(0)
        assert sentence.endswith(" (AI)"), sentence
        assert summary.startswith(sentence.removesuffix(" (AI)").rstrip("…")), sentence
        wanted = [paper["abstract"]] if is_single else []
    elif depth == "full" or depth == "brief" and is_single:
        wanted = [paper["abstract"]]
    elif depth == "none":
        wanted = []
    else:
        wanted = texts[:1]
        for text in texts:
            assert text.rstrip(" \u2026") in paper["abstract"], (text, paper["abstract"])
    assert texts == [text for text in wanted if text], (paper["id"], texts, wanted)


# ---- days -------------------------------------------------------------------

CHECKS = {"bibtex": check_bibtex, "ris": check_ris, "markdown": check_markdown}


def preview(paperboy, directory, now, kind, depth):
    """@return the file, and the ids in the order of the mail"""
    address = kind + "@example.org"
    paperboy.ctl("subscriber", "set", address, "--attach", kind, "--abstract", depth,
                 now=now)
    raw = as_sent(paperboy.ctl("preview", address, "--raw", now=now).encode())
    (part,) = [part for part in messages.parse(raw).walk() if part.get_filename()]
    assert part.get_content_type() == TYPES[kind]
    return File(directory, part), messages.paper_ids(raw)


def check_day(tap, path, depths=("brief",), metadata=None, limit=200):
    """Check the files of a digest of a whole day. @return papers, titles"""
    name = os.path.basename(path)
    day = re.search(r"\d{4}-\d\d-\d\d", name)[0]
    now = f"{day}T23:00:00Z"
    directory = tempfile.mkdtemp(dir=tap.directory)
    paperboy = Paperboy(directory, f"file://{directory}/none")
    paperboy.ctl("source", "replay", "hf", day, "--from", path, now=now)
    if metadata:
        names = ", ".join(f"{name} = ?" for name in metadata)
        paperboy.change(f"UPDATE paper SET {names}", *metadata.values())
    wanted = load_wanted(path, metadata or {})
    titles = 0
    for kind, check in CHECKS.items():
        paperboy.add(kind + "@example.org", ["upvotes:>=0"], now=now, max=limit)
        for depth in depths if kind == "markdown" else depths[:1]:
            file, ids = preview(paperboy, directory, now, kind, depth)
            assert set(ids) == set(wanted), set(ids) ^ set(wanted)
            titles += check(file, [wanted[one] for one in ids], depth) or 0
    return len(wanted), titles


def test_sample_days(tap):
    """the days that ship, with every depth of the abstract"""
    for path in sorted(glob.glob(os.path.join(top_srcdir(), "samples", "*.json"))):
        check_day(tap, path, DEPTHS)


def write_hostile(directory):
    names = HOSTILE_NAMES
    elements = [{"title": title, "numComments": 0, "paper": {
        "id": f"2611.{10000 + number}", "title": title,
        "summary": " ".join(HOSTILE[number:number + 3]),
        "authors": [{"name": name} for name in names[number % 5:number % 5 + number % 9]],
        "publishedAt": f"2026-{1 + number % 12:02}-02T00:00:00.000Z", "upvotes": number,
        "ai_keywords": ["x & y", "50%_{z}", title.replace(",", "").replace(";", "")],
        "ai_summary": HOSTILE[-number] if number % 2 else None,
        "githubRepo": f"https://code.example/a_b/~c(d)?e={number}&copy;=1#f%20g",
    }} for number, title in enumerate(HOSTILE)]
    path = os.path.join(directory, "daily_papers-2026-11-20.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(elements, file)
    return path


def test_hostile(tap):
    """hostile texts stay text"""
    path = write_hostile(tap.directory)
    papers, titles = check_day(tap, path, DEPTHS, limit=40)
    assert papers == len(HOSTILE) and titles == len(DEPTHS) * (papers - 40)


def test_metadata(tap):
    """journals and DOIs"""
    check_day(tap, write_hostile(tap.subdirectory("metadata")), metadata=METADATA)


def test_real_days(tap):
    """real days: all with PAPERBOY_LONG=1, else some"""
    step = 1 if IS_LONG else 6
    papers = [check_day(tap, path)[0] for path in real_files("daily_papers-*.json")[::step]]
    tap.diag(f"{len(papers)} days, {sum(papers)} papers in each format, no warnings")


missing = use_debian_python("pybtex", "yaml") + [
    name for name in ("bib2xml", "ris2xml", "cmark-gfm") if not shutil.which(name)]
if missing:
    skip_all(f"{missing[0]} is not installed")
with Tap() as tap:
    tap.run(test_sample_days, tap)
    tap.run(test_hostile, tap)
    tap.run(test_metadata, tap)
    tap.run(test_real_days, tap)
