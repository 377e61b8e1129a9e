#!/usr/bin/env python3
"""test_digest_reader.py - everything that digests of real days say is true.

Digests are read as mail (tests/lib/digest_reader.py) and compared with the files of the
sources and with the second implementation of the filter language (tests/lib/oracle.py),
never with the store.  PAPERBOY_LONG=1 reads more than 500 digests.
"""

import collections
import datetime
import json
import os
import random
import re
import shutil
import unicodedata
import xml.etree.ElementTree as tree

import lib  # the path
import digest_reader
import messages
from digest_reader import PHRASES, number_of, one_line
from normalize import normalize
from oracle import ENRICHED, FINALLY, NOTHING_SETTLED, Paper, parse
from oracle_paper import Text
from oracle_tree import Category, Has, Name, Near, Not, Words
from papers import paper_from_element
from programs import FROM, Paperboy, as_sent
from tap import IS_LONG, Skip, Tap, read, real_files, use_debian_python
from words import plural_class

FIRST_DAYS = datetime.timedelta(days=3)  # of the first digest
ONE_DAY = datetime.timedelta(days=1)
ARXIV_DAY = datetime.date(2025, 8, 20)
EXTRA = f"""commands: {{{{ address = "{FROM}"; }}}};
web: {{{{ url = "https://papers.example.org"; }}}};
sources = ( {{{{ name = "hf"; kind = "huggingface"; url = "file://{{0}}"; }}}},
  {{{{ name = "arxiv"; kind = "arxiv"; categories = [ "cs.AI" ]; url = "file://{{0}}"; }}}} );
enrich: {{{{ arxiv = false; europepmc = false; crossref = false; }}}};"""
PEOPLE = 30 if IS_LONG else 8
DAYS = 60 if IS_LONG else 6

# (name or None, text)
FILTERS = (
    ("agents", 'agent* OR "tool use"'), (None, '"large language model*" OR LLM'),
    ("vision", "image OR video -survey"), (None, "reasoning"), ("data", "benchmark*"),
    (None, '"reinforcement learning" OR reward*'), ("hot", "upvotes:>=20"),
    (None, "diffusion model"), ("titles", "title:(benchmark OR model OR learning)"),
    (None, "=RAG OR =LLMs OR retrieval"), ("near", "reward NEAR/5 model"),
    (None, "quantiz* OR distill* OR prun*"), ("wang", "author:Wang OR author:Zhang"),
    ("code", "has:code generation"), (None, "abstract:(speech OR audio OR music)"),
    ("3d", "3D OR gaussian OR geometry"), (None, "robot* OR embodied"),
    ("multi", "multimodal^3 (benchmark OR evaluation)"), (None, "state-of-the-art"),
    ("text", 'NEAR("language model" training, 8)'), (None, "safety OR alignment"),
    ("long", "kw:diffusion OR org:university OR transformer"), (None, "medical"),
    ("few", "authors:<=4 model"), ("ai", "cat:cs.AI agent*"), (None, "cat:cs.CL OR cs.CV"),
    ("lists", "source:arxiv learning"), (None, "attention memory"), ("c", "C++ OR python"),
)
PREFERENCES = {"abstract": ("brief", "brief", "brief", "short", "full", "none"),
               "order": ("score", "votes", "date"), "group": ("off", "off", "on"),
               "language": ("en", "en", "de")}
COVERAGE = r"Hugging Face: (\d+) (?:new papers? checked|neuer? Artikel geprüft)"
FEW = 4  # papers whose order is not said

# Text that is shown in another form than it is stored.
TEX = re.compile(r"[\\$~^]|``|''|--")

Person = collections.namedtuple("Person", "address filters preferences max")
Mail = collections.namedtuple("Mail", "person time raw html text subject")


def make_people(rand, count):
    people = []
    for number in range(count):
        chosen = rand.sample(FILTERS, rand.randint(1, 6))
        preferences = {name: rand.choice(values) for name, values in PREFERENCES.items()}
        people.append(Person(f"p{number}@example.org", chosen, preferences,
                             rand.choice((3, 10, 40, 100))))
    return people


def load_arxiv(path):
    """Papers of a list of arXiv as elements of the other source's API, by id."""
    atom, own = "{http://www.w3.org/2005/Atom}", "{http://arxiv.org/schemas/atom}"
    names = "{http://purl.org/dc/elements/1.1/}creator"
    found = {}
    for entry in tree.parse(path).getroot().findall(atom + "entry"):
        name = re.sub(r"^oai:arXiv.org:|v\d+$", "", entry.findtext(atom + "id"))
        found[name] = {"paper": {
            "id": name, "title": entry.findtext(atom + "title"), "upvotes": None,
            "summary": entry.findtext(atom + "summary").split("Abstract:", 1)[1],
            "authors": [{"name": author} for author in
                        entry.findtext(names, "").split(", ") if author],
            "categories": [category.get("term") for category in
                           entry.findall(atom + "category")],
            "doi": entry.findtext(own + "DOI"),
            "journal": entry.findtext(own + "journal_reference"),
            "type": entry.findtext(own + "announce_type")}}
    return found


class Days:
    """Real days with votes of two mornings, the mails, and the files by time."""

    def __init__(self, directory, people, count):
        self.source = os.path.join(directory, "source")
        os.mkdir(self.source)
        extra = EXTRA.format(self.source)
        self.paperboy = Paperboy(directory, f"file://{self.source}", extra=extra)
        self.people = {person.address: person for person in people}
        self.written = []  # (time, elements by id)
        self.lists = {}    # elements by day, as published
        self.sizes = []    # (time, day, papers)
        self.mails = []
        dates = {re.search(r"\d{4}-\d\d-\d\d", os.path.basename(path))[0]: path
                 for path in real_files("daily_papers-????-??-??.json")}
        (self.arxiv,) = real_files(f"arxiv-atom-cs.AI-{ARXIV_DAY}.xml")
        few = sorted(date for date in dates
                     if date.startswith(("2025-07", "2025-08", "2026-08")))
        few = few[-count:] + few[10:10 + count] + [f"{ARXIV_DAY}"]
        self.run_all({datetime.date.fromisoformat(date): dates[date] for date in few})

    def run_all(self, paths):
        self.add_people(f"{min(paths)}T00:00:00Z")
        for date in sorted(set(paths) | {date + ONE_DAY for date in paths}):
            before = paths.get(date - ONE_DAY, "").replace(".json", ".next-day.json")
            if os.path.exists(before):
                self.run(f"{date}T02:30:00Z", date - ONE_DAY, before)
            if date == ARXIV_DAY:
                shutil.copy(self.arxiv, os.path.join(self.source, "cs.AI.xml"))
                self.written.append((f"{date}T09:00:00Z", load_arxiv(self.arxiv)))
            if date in paths:
                self.run(f"{date}T09:00:00Z", date, paths[date])
            else:
                self.run(f"{date}T09:00:00Z")

    def add_people(self, now):
        for person in self.people.values():
            self.paperboy.add(person.address, [], now=now, zone="UTC", at="07:30",
                              max=person.max)
            for name, text in person.filters:
                options = ["--name", name] if name else []
                self.paperboy.ctl("filter", "add", person.address, text, *options, now=now)
            options = [f"--{key}={value}" for key, value in person.preferences.items()]
            self.paperboy.ctl("subscriber", "set", person.address, *options, now=now)

    def write(self, time, date, path):
        """Publish a list; older ones with its papers have their new values, too."""
        self.lists[date] = json.loads(read(path))
        self.sizes.append((time, f"{date}", len(self.lists[date])))
        news = {element["paper"]["id"]: element for element in self.lists[date]}
        self.written.append((time, news))
        for day, elements in self.lists.items():
            self.lists[day] = [news.get(element["paper"]["id"], element)
                               for element in elements]
            if day == date or any(element["paper"]["id"] in news for element in elements):
                with open(os.path.join(self.source, f"daily_papers-{day}.json"), "w",
                          encoding="utf-8") as file:
                    json.dump(self.lists[day], file)

    def run(self, time, date=None, path=None):
        if path:
            self.write(time, date, path)
        self.paperboy.run_once(time, wanted=(0, 75))  # arXiv has one list only
        for raw in map(as_sent, self.paperboy.new_mails()):
            if messages.paper_ids(raw):
                text, html = messages.parts(raw)
                message = messages.parse(raw)
                self.mails.append(Mail(self.people[str(message["To"])], time, raw, html,
                                       text, str(message["Subject"])))

    def count_listed(self, mail):
        """Papers of the days since the last digest, or of the newest day."""
        before = [older.time for older in self.mails
                  if older.person == mail.person and older.time < mail.time]
        after = str(datetime.date.fromisoformat(mail.time[:10]) - FIRST_DAYS)
        after = before[-1][:10] if before else after
        sizes = {day: count for at, day, count in self.sizes if at <= mail.time}
        return sum(count for day, count in sizes.items() if day > after) or (
            sizes[max(sizes)])

    def element(self, name, time):
        """The newest element of a paper at a time, or None; both sources' fields."""
        found = {}
        for at, elements in self.written:
            if at <= time and name in elements:
                older = found.get("paper", {})
                found = {**found, **elements[name]}
                found["paper"] = {**older, **elements[name]["paper"]}
        return found or None

    def votes_before(self, name, time):
        """The last number of votes of the day before, or None."""
        element = self.element(name, f"{time[:10]}T00:00:00Z")
        return element["paper"]["upvotes"] if element else None


# ---- what a filter asks for -----------------------------------------------------


def leaves(node):
    """Clauses that are not negated."""
    if isinstance(node, Not):
        return
    if hasattr(node, "parts"):
        for part in node.parts:
            yield from leaves(part)
    else:
        yield node


def is_true(tree, paper):
    """True in some state of the fields that are not known yet."""
    return any(tree.truth(paper, settled) is True
               for settled in (NOTHING_SETTLED, ENRICHED, FINALLY))


def places_in(clause, shown, field):
    """Characters of a shown text that a clause asks for: (required, allowed)."""
    if getattr(clause, "field", None) not in ("text", field):
        return [], []
    text = Text(shown, plural_class)
    if isinstance(clause, Words):
        return characters(text, clause), []
    if isinstance(clause, Near):
        return [], [place for operand in clause.operands
                    for place in characters(text, operand)]
    return [], []


def characters(text, words):
    return [(text.spans[first][1], text.spans[after - 1][2])
            for first, after in words.find_in(text)]


def characters_of(places):
    return {at for start, end in places for at in range(start, end)}


def label_of(name, text):
    """How a digest calls a filter: by its name, or by its first word or phrase."""
    if name:
        return name
    text = re.sub(r"^(?:title:|abstract:|[ (=])*", "", text)
    return text[1:].partition('"')[0] if text[0] == '"' else re.split("[ (),]", text)[0]


# ---- the checks -----------------------------------------------------------------


class Check:
    """Compares one entry with the sources; problems are texts."""

    def __init__(self, days, mail, entry, is_single):
        self.phrases = PHRASES[mail.person.preferences["language"]]
        self.mail, self.entry, self.days, self.is_single = mail, entry, days, is_single
        self.problems, self.counts = [], collections.Counter()
        self.id = re.search(r"/(?:papers|abs)/([^/]+)$", entry.url)[1]
        self.element = days.element(self.id, mail.time)
        self.raw = self.element["paper"]
        self.dict = paper_from_element(self.element, "")
        for key in ("categories", "doi", "journal"):
            self.dict[key] = self.raw.get(key)
        kind = self.raw.get("type")
        self.dict["listings"] = [("arxiv", f"{ARXIV_DAY}", kind)] if kind else []
        self.paper = Paper(self.dict, today=mail.time[:10])
        self.trees = {label_of(name, text): parse(text)
                      for name, text in mail.person.filters}
        self.matching = {name for name, tree in self.trees.items()
                         if is_true(tree, self.paper)}

    def expect(self, kind, got, wanted):
        self.counts[kind] += 1
        if got != wanted:
            self.problems.append(f"{kind} of {self.id}: {got!r}, not {wanted!r}")

    def run(self, names):
        """@param names  of the filters of the entry"""
        self.check_texts()
        self.check_details()
        self.check_links()
        self.check_names(names)
        for field in ("title", "sentence", "abstract"):
            shown = getattr(self.entry, field)
            if shown:
                self.check_marks(field, shown)

    def check_shown(self, kind, shown, raw):
        """A shown text is the source's, but for its TeX."""
        wanted = normalize(raw)
        if TEX.search(wanted):
            self.counts[f"{kind} with TeX"] += 1
            if skeleton(shown) == skeleton(wanted.replace("\\", "")):
                return  # an unknown command, shown by its name
            shown, wanted = skeleton(shown), skeleton(wanted)
        self.expect(kind, shown, wanted)

    def check_texts(self):
        entry, depth = self.entry, self.mail.person.preferences["abstract"]
        self.check_shown("title", entry.title, self.raw["title"])
        if not entry.is_full:
            self.expect("title without texts", (entry.sentence, entry.abstract),
                        (None, None))
            return
        has_abstract = depth in ("full", "short") or (
            depth == "brief" and self.is_single)
        self.expect("abstract is shown", bool(entry.abstract),
                    has_abstract and bool(self.raw["summary"]))
        if entry.abstract and depth == "short":
            self.counts["excerpt"] += 1
            if not skeleton(self.raw["summary"]).startswith(
                    skeleton(entry.abstract)[:60]):
                self.problems.append(f"excerpt of {self.id}: {entry.abstract}")
        elif entry.abstract:
            self.check_shown("abstract", entry.abstract, self.raw["summary"])
        if depth == "brief":
            self.check_sentence()
        else:
            self.expect("no sentence", entry.sentence, None)

    def check_sentence(self):
        summary = self.raw.get("ai_summary")
        if summary:
            self.expect("generated", self.entry.is_generated, True)
            self.check_summary(self.entry.sentence, normalize(summary))
        elif not self.entry.abstract:
            self.expect("generated", self.entry.is_generated, False)
            self.counts["sentence of the abstract"] += 1
            abstract = normalize(self.raw["summary"])
            at = abstract.find((self.entry.sentence or "\0").rstrip("…"))
            if TEX.search(abstract):
                return
            if at < 0 or (at and abstract[at - 2] not in ".!?)\"'”"):
                self.problems.append(f"sentence of {self.id}: {self.entry.sentence!r}")

    def check_summary(self, shown, summary):
        """The first sentence of what the source generated."""
        self.counts["sentence of the source"] += 1
        is_cut, shown = shown.endswith("…"), shown.rstrip("…")
        if not skeleton(summary.replace("\\", "")).startswith(skeleton(shown)):
            self.problems.append(f"sentence of {self.id}: {shown!r}, not {summary!r}")
        elif not (TEX.search(summary) or is_cut or summary == shown
                  or shown[-1] in ".!?" and summary[len(shown)] == " "):
            self.problems.append(f"end of the sentence of {self.id}: {shown!r}")

    def check_details(self):
        votes, change = self.raw["upvotes"] or None, 0
        if votes:
            shown = re.fullmatch(r"(\d+)(?: \(([+−]\d+)\))?", self.entry.votes or "")
            before = self.days.votes_before(self.id, self.mail.time)
            change = votes - before if before is not None else 0
            self.expect("votes", shown and number_of(shown[1]), votes)
            self.expect("change", shown and number_of(shown[2] or "0"), change)
        else:
            self.expect("no votes", self.entry.votes, None)
        if not self.entry.is_full:
            self.expect("byline of a title", self.entry.byline, "")
            return
        names = [normalize(name) for name in self.dict["authors"]]
        venue = self.raw.get("journal") or (self.raw.get("categories") or [""])[0]
        others = f" +{len(names) - 1}" if len(names) > 1 else ""
        wanted = " · ".join(filter(None, ["".join(names[:1]) + others, normalize(venue)]))
        shown = self.entry.byline
        if shown.endswith("…"):
            wanted = wanted[:len(shown) - 1] + "…"
        self.expect("byline", shown, wanted)

    def check_links(self):
        links = {re.sub(r" \d.*", "", label): (label, url)
                 for label, url in self.entry.links}
        wanted = {}
        if self.entry.is_full:
            wanted["PDF"] = f"https://arxiv.org/pdf/{self.id}"
            for key, label in (("githubRepo", "Code"), ("projectPage", "Project")):
                if self.raw.get(key):
                    wanted[label] = self.raw[key]
        shown = {label.replace("Projekt", "Project"): url
                 for label, (_, url) in links.items() if label != "Video"}
        self.expect("links", shown, wanted)
        urls = json.dumps(self.element)
        for _, url in self.entry.links:
            if "arxiv.org/pdf" not in url and url not in urls:
                self.problems.append(f"link of {self.id}: {url}")
        if "Code" in links and self.raw.get("githubStars"):
            shown = re.search(r" (\d+)★$", links["Code"][0])
            self.expect("stars", shown and number_of(shown[1]), self.raw["githubStars"])

    def check_names(self, names):
        if self.entry.is_full:
            self.expect("filters", set(names), self.matching)
        else:
            self.counts["filter of a title"] += 1
            if not (len(names) == 1 and set(names) <= self.matching):
                self.problems.append(f"filters of {self.id}: {names}")

    def check_reason(self, name, words):
        """@param words  that a filter matched, of the text part"""
        is_cut = words.endswith("…")
        groups = words.rstrip(" …").split("; ")
        for number, group in enumerate(filter(None, groups), 1):
            self.counts["reason"] += 1
            if is_cut and number == len(groups):
                self.counts["reason that is cut"] += 1
            else:
                self.check_words(name, group)

    def check_words(self, name, group):
        """A reason is true, and the filter asks for it."""
        asked = list(leaves(self.trees[name]))
        for field in ("title", "abstract", "author", "org", "keywords"):
            match = re.fullmatch(getattr(self.phrases, field), group)
            if match:
                break
        else:
            self.check_value(group, asked)
            return
        for words in split_words(match[1]):
            if not self.is_asked(field, words, asked):
                self.problems.append(f"reason of {self.id}: {words!r} in {group!r}, {name}")

    def is_asked(self, field, words, asked):
        if field == "author":
            return words in map(normalize, self.dict["authors"]) and any(
                isinstance(clause, Name) and clause.is_name(words) for clause in asked)
        texts = {"title": [self.raw["title"]], "abstract": [self.raw["summary"]],
                 "org": [self.dict["organization"] or ""],
                 "keywords": self.dict["keywords"] or []}[field]
        names = {"title": ("title", "text"), "abstract": ("abstract", "text"),
                 "org": ("org",), "keywords": ("kw",)}[field]
        if not any(part in normalize(text) for text in texts
                   for part in [words] + words.split(" near ")[:1]):
            return False
        return any(getattr(clause, "field", None) in names and any(
            operand.find_in(Text(words, plural_class))
            for operand in getattr(clause, "operands", [clause])) for clause in asked
            if isinstance(clause, (Words, Near)))

    def check_value(self, group, asked):
        match = re.fullmatch(self.phrases.hit_stars, group)
        if match:
            self.expect("number", number_of(match[1]), self.dict["stars"])
            return
        match = re.fullmatch(r"(\d+) (?:authors?|Autor(?:en)?)", group)
        if match:
            self.expect("number", int(match[1]), len(self.dict["authors"]))
        elif group in ("listed by arxiv", "genannt von arxiv"):
            self.expect("source", [row[0] for row in self.dict["listings"]], ["arxiv"])
        elif re.match(r"[a-z]+\.[A-Z]", group):
            names = {clause.name for clause in asked if isinstance(clause, Category)}
            self.expect("categories", group.split(", "),
                        [name for name in self.dict["categories"] if name in names])
        elif not (any(isinstance(clause, Has) for clause in asked)
                  and group.casefold() in ("code", "project", "video")):
            self.problems.append(f"reason of {self.id}: {group!r}")

    def check_marks(self, field, shown):
        """Marks are all the words that the filters ask for, and no others."""
        self.counts[f"marks in {field}"] += len(self.entry.marks[field])
        required, allowed, near = set(), set(), []
        for name in self.matching:
            for clause in leaves(self.trees[name]):
                where = "title" if field == "title" else "abstract"
                must, may = places_in(clause, shown, where)
                allowed |= characters_of(must + may)
                if must and is_true(clause, self.paper):
                    required |= characters_of(must)
                if isinstance(clause, Near) and may:
                    text = Text(shown, plural_class)
                    near += [characters_of(characters(text, operand))
                             for operand in clause.operands if clause.is_in(text)]
        got = characters_of(self.entry.marks[field])
        words = {at for at in got if shown[at].isalnum()}
        extra = {at for at in words if at not in allowed}
        lacking = set().union(*(places for places in near if not places & got))
        lacking |= {at for at in required if shown[at].isalnum() and at not in got}
        for url in re.finditer(r"\w+://\S*", shown):
            lacking -= set(range(*url.span()))
        if extra:
            self.problems.append(f"marks in {field} of {self.id}: {cut(shown, extra)}")
        if lacking:
            self.problems.append(
                f"no marks in {field} of {self.id}: {cut(shown, lacking)}")


def skeleton(text):
    """Letters and digits of a text with TeX, in their order."""
    return re.sub(r"\\[a-zA-Z]+|\W|_", "", unicodedata.normalize("NFKC", text))


def split_words(text):
    """Words and quoted phrases of a reason."""
    return [words.replace('"', "") for words in
            re.findall(r'(?:"[^"]*"|[^,"])+', text) if words.strip()
            for words in [words.strip()]]


def cut(text, places):
    first, last = min(places), max(places)
    return text[max(0, first - 20):last + 20]


def compare_parts(check, one, other, names):
    """Problems of an entry of the text, and the words of each filter in it."""
    if one.url != other.url:
        yield f"URL: {other}"
    wanted = [one.title, one.sentence]
    wanted += [f"({check.phrases.generated})"] if one.is_generated else []
    details = [one.byline] if one.byline else []
    details += ["\u25b2 " + one.votes] if one.votes else []
    start = one_line(" ".join(filter(None, wanted + [" · ".join(details)])))
    body = one_line(other.body)
    if not body.startswith(one_line(start)):
        yield f"title, sentence and details: {start!r}, not {body!r}"
        return
    rest = body[len(start):].strip().removeprefix("· ")
    reasons = rest.split(" · ") if rest else []
    has_words = one.is_full and any(reason not in names for reason in reasons)
    wanted = rest if has_words and not any(one.marks.values()) else None
    check.expect("unseen words", one.unseen, wanted)
    hidden = [name for name in names if name == other.group or not one.names]
    for reason in reasons:
        name = next((name for name in names if name not in hidden and (
            reason == name or reason.startswith(name + ": "))), None)
        words = reason[len(name or "") + 2:] if name else reason
        if name:
            names = [other for other in names if other != name]
        elif hidden:
            name = hidden.pop()
            names = [other for other in names if other != name]
        else:
            yield f"reason: {reason!r}"
            continue
        check.check_reason(name, words)
    if [name for name in names if name not in hidden]:
        yield f"no filters {names}: {reasons}"
    if one.abstract != other.abstract:
        yield f"abstracts: {one.abstract} and {other.abstract}"


def check_mail(days, mail):
    """@return problems, counts"""
    language = mail.person.preferences["language"]
    html = digest_reader.read_html(mail.html)
    text = digest_reader.read_text(mail.text)
    problems, counts = [], collections.Counter(digests=1)
    total = len(html.entries)
    if html.language != language:
        problems.append(f"language {html.language}")
    if total != len(text.entries):
        problems.append(f"{total} papers in HTML, {len(text.entries)} in text")
    checks = [Check(days, mail, entry, total == 1) for entry in html.entries]
    found = [label_of(name, text) for name, text in mail.person.filters
             if any(label_of(name, text) in check.matching for check in checks)]
    for check, one, other in zip(checks, html.entries, text.entries):
        # With one filter no paper says by which one it was found.
        names = one.names or found[:1]
        check.run(names)
        problems += [f"paper {one.number}: {problem}"
                     for problem in compare_parts(check, one, other, names)]
        counts += check.counts
        problems += check.problems
    problems += check_overview(days, mail, html, text, checks, counts)
    for kind, line in (("subject", mail.subject), ("heading", html.heading),
                       ("first line", text.heading)):
        counts["count"] += 1
        if number_of(re.search(r"\d+", line)[0]) != total:
            problems.append(f"{kind}: {line}")
    return problems, counts


def check_overview(days, mail, page, text, checks, counts):
    """Papers of each filter, and how they are ordered."""
    matched = [(name, sum(name in check.matching for check in checks))
               for name in (label_of(*one) for one in mail.person.filters)]
    matched = [(name, count) for name, count in matched if count]
    wanted = matched if len(matched) > 1 and len(checks) > 1 else []
    counts["count of a filter"] += len(wanted)
    if page.counts != wanted:
        yield f"counts: {page.counts}, not {wanted}"
    if " · ".join(f"{name} {count}" for name, count in wanted) not in text.head:
        yield f"counts of the text: {text.head}"
    for part in (mail.text, mail.html):
        for listed in re.findall(COVERAGE, part):
            counts["papers of a source"] += 1
            if int(listed) != days.count_listed(mail):
                yield f"coverage: {listed}, not {days.count_listed(mail)}"
    preferences = mail.person.preferences
    is_grouped = preferences["group"] == "on"
    order = PHRASES[page.language].orders["group" if is_grouped else preferences["order"]]
    total, full = len(checks), sum(check.entry.is_full for check in checks)
    between = "von" if page.language == "de" else "of"
    wanted = order if full == total else f"{full} {between} {total}, {order}"
    counts["order"] += 1
    if page.order != (wanted if total > FEW else None) or (page.order or "") not in text.head:
        yield f"order: {page.order} and {text.head}, not {wanted}"


def test_all(tap, days):
    "each number, title, sentence, reason, link and mark is true; both parts agree"
    counts, found = collections.Counter(), []
    for mail in days.mails:
        problems, more = check_mail(days, mail)
        counts += more
        found += [f"{mail.person.address} {mail.time}: {problem}" for problem in problems]
    for kind, count in sorted(counts.items()):
        tap.diag(f"{count} {kind}")
    assert counts["digests"] >= (500 if IS_LONG else 40), counts
    assert not found, "\n".join([f"{len(found)} problems"] + found[:60])


UNMARKED = r"(<(?:h[23]|p) dir=\"auto\"[^>]*>[^\n]*?)<mark>([^<]*)</mark>"

# A true digest, and what is wrong in it: (pattern, replacement) of HTML and text.
LIES = (
    (r"▲\u00a0(\d+)", lambda match: f"▲\u00a0{int(match[1]) + 1}"),
    (r"arxiv.org/pdf/\d", "arxiv.org/pdf/9"),
    (r"(\d+)★", lambda match: f"{int(match[1]) + 1}★"),
    (r"</mark>( \w)", r"\1</mark>"), (UNMARKED, r"\1\2"),
    (r"<p dir=\"auto\"([^>]*)>(\w)", r"<p\1>Not \2"),
    (r"(<h[23] dir[^>]*><a[^>]*>(?:<mark>)?)(\w)", r"\1A \2"),
    (r"(<b[^>]*>)(\w)", r"\1x\2"),
    (r"\+(\d+)</span>", lambda match: f"+{int(match[1]) + 1}</span>"),
    (r"<h1>(\d+)", lambda match: f"<h1>{int(match[1]) + 1}"),
    (r"\"order\">(\d+)", lambda match: f"\"order\">{int(match[1]) + 1}"),
    (r" in the abstract", " in the comment"), (r"\(AI\)", ""),
    (r"<tr><td class=\"paper\">",
     r"<tr><td class='paper'><p class='filters'>1</p><p>x</p></td></tr>\g<0>"),
)


def test_lies(days):
    "one wrong number, word, mark or link is noticed"
    noticed = 0
    # In an order of their own: that of delivery varies.
    mails = sorted(days.mails, key=lambda mail: (mail.person.address, mail.time))
    for mail in mails[:: len(mails) // 15]:
        if check_mail(days, mail)[0]:
            continue
        # Only one mark of each phrase of a NEAR is required.
        has_near = any("NEAR" in text for _, text in mail.person.filters)
        for pattern, wrong in LIES:
            if pattern == UNMARKED and has_near:
                continue
            lie = mail._replace(html=re.sub(pattern, wrong, mail.html, count=1),
                                text=re.sub(pattern, wrong, mail.text, count=1))
            if (lie.html, lie.text) == (mail.html, mail.text):
                continue
            try:
                problems = check_mail(days, lie)[0]
            except (AssertionError, KeyError, TypeError, AttributeError):
                problems = ["cannot be read"]
            assert problems, (pattern, mail.person, mail.time)
            noticed += 1
    assert noticed > 3 * len(LIES), noticed


def main():
    missing = use_debian_python("html5lib")
    with Tap() as tap:
        if missing:
            tap.skip("digests are true", "python3-html5lib is not installed")
            return
        people = make_people(random.Random(19), PEOPLE)
        try:
            days = Days(tap.subdirectory("days"), people, DAYS)
        except Skip as reason:
            tap.skip("digests are true", reason)
            return
        tap.run(test_all, tap, days)
        tap.run(test_lies, days)


if __name__ == "__main__":
    main()
