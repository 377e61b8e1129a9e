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
import sys
import unicodedata
import xml.etree.ElementTree as tree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

import digest_reader
import messages
from digest_reader import PHRASES, number_of, one_line
from normalize import normalize
from oracle import ENRICHED, FINALLY, NOTHING_SETTLED, Paper, parse
from oracle_paper import Text
from oracle_tree import Category, Has, Name, Near, Not, Number, Words
from papers import paper_from_element
from programs import FROM, Paperboy, as_sent
from tap import Skip, Tap, real_files, use_debian_python
from words import plural_class

IS_LONG = os.environ.get("PAPERBOY_LONG", "") not in ("", "0")
FIRST_DAYS = datetime.timedelta(days=3)  # of the first digest
ONE_DAY = datetime.timedelta(days=1)
ARXIV_DAY = datetime.date(2025, 8, 20)
EXTRA = f"""commands: {{{{ address = "{FROM}"; }}}};
web: {{{{ url = "https://papers.example.org"; }}}};
arxiv: {{{{ categories = "cs.AI"; url = "file://{{}}"; enrich = false; }}}};"""
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
COVERAGE = r"Hugging Face: (\d+) (?:listed|genannt), (\d+) (?:read|gelesen)"
MANY = 8  # papers, with the first three at the top
FULL_ABSTRACTS = 3  # with abstract brief

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
        with open(path, encoding="utf-8") as file:
            self.lists[date] = json.load(file)
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


# ---- the checks -----------------------------------------------------------------


class Check:
    """Compares one entry with the sources; problems are texts."""

    def __init__(self, days, mail, entry):
        self.phrases = PHRASES[mail.person.preferences["language"]]
        self.mail, self.entry, self.days = mail, entry, days
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
        self.trees = {name or text: parse(text) for name, text in mail.person.filters}
        self.matching = {name for name, tree in self.trees.items()
                         if is_true(tree, self.paper)}

    def expect(self, kind, got, wanted):
        self.counts[kind] += 1
        if got != wanted:
            self.problems.append(f"{kind} of {self.id}: {got!r}, not {wanted!r}")

    def run(self):
        self.check_texts()
        self.check_details()
        self.check_links()
        self.check_reasons()
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
        has_abstract = depth == "full" or (
            depth == "brief" and entry.number <= FULL_ABSTRACTS) or depth == "short"
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
            self.check_shown("sentence", self.entry.sentence, summary)
        elif not self.entry.abstract:
            self.expect("generated", self.entry.is_generated, False)
            self.counts["sentence of the abstract"] += 1
            abstract = normalize(self.raw["summary"])
            at = abstract.find((self.entry.sentence or "\0").rstrip("…"))
            if TEX.search(abstract):
                return
            if at < 0 or (at and abstract[at - 2] not in ".!?)\"'”"):
                self.problems.append(f"sentence of {self.id}: {self.entry.sentence!r}")

    def check_details(self):
        details = list(self.entry.details)
        votes, change = self.raw["upvotes"] or None, None
        if votes:
            shown = re.fullmatch(f"{self.phrases.votes}(?:{self.phrases.change})?",
                                 details.pop() if details else "")
            if not shown:
                self.problems.append(f"details of {self.id}: {self.entry.details}")
                return
            before = self.days.votes_before(self.id, self.mail.time)
            change = votes - before if before is not None else 0
            self.expect("votes", number_of(shown[1]), votes)
            self.expect("change", number_of(shown[2] or "0"), change)
        if not self.entry.is_full:
            self.expect("details of a title", details, [])
            return
        names = [normalize(name) for name in self.dict["authors"]]
        if names:
            shown = details.pop(0)
            more = re.search(self.phrases.more_names + "$", shown)
            few = shown[:more.start()] if more else shown
            listed = few.split(", ")
            self.expect("authors", listed, names[:len(listed)])
            self.expect("other authors", number_of(more[1]) if more else 0,
                        len(names) - len(listed))
        venue = self.raw.get("journal") or (self.raw.get("categories") or [None])[0]
        if venue and details and details[0].endswith("…"):
            venue = normalize(venue)[:len(details[0]) - 1] + "…"
        self.expect("venue", details, [venue] if venue else [])

    def check_links(self):
        links = {re.sub(r" \(.*", "", label): (label, url)
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
            shown = re.search(self.phrases.stars, links["Code"][0])
            self.expect("stars", shown and number_of(shown[1]), self.raw["githubStars"])

    def check_reasons(self):
        shown = {name for name, _ in self.entry.reasons}
        if self.entry.is_full:
            self.expect("filters", shown, self.matching)
        else:
            self.counts["filter of a title"] += 1
            if not (len(shown) == 1 and shown <= self.matching):
                self.problems.append(f"filters of {self.id}: {shown}")
        for name, words in self.entry.reasons:
            is_cut = (words or "").endswith("…")
            groups = (words or "").rstrip(" …").split("; ")
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
        for kind, wanted in (("hit_votes", "upvotes"), ("stars", "stars")):
            match = re.fullmatch(getattr(self.phrases, kind), group)
            if match:
                self.expect("number", number_of(match[1]), self.dict[wanted])
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


def compare_parts(one, other, phrases):
    """Problems of an entry of the HTML and that of the text."""
    if (one.title, one.url) != (other.title, other.url):
        yield f"title or URL: {other}"
    middle = [one.sentence] if one.sentence else []
    middle += [f"({phrases.generated})"] if one.is_generated else []
    if one_line(" ".join(middle + [" · ".join(one.details)])) != other.details:
        yield f"sentence and details: {middle} {one.details} and {other.details}"
    if [name for name, _ in one.reasons] != [
            name for line in other.reasons
            for name, _ in one.reasons if line == name or line.startswith(name + ":")]:
        yield f"filters: {one.reasons} and {other.reasons}"
    if one.links != other.links:
        yield f"links: {one.links} and {other.links}"
    if one.abstract != other.abstract:
        yield f"abstracts: {one.abstract} and {other.abstract}"


def check_mail(days, mail):
    """@return problems, counts"""
    language = mail.person.preferences["language"]
    html = digest_reader.read_html(mail.html)
    text = digest_reader.read_text(mail.text, language)
    problems, counts = [], collections.Counter(digests=1)
    numbers = [entry.number for entry in html.entries]
    if html.language != language:
        problems.append(f"language {html.language}")
    if numbers != list(range(1, len(numbers) + 1)):
        problems.append(f"numbers {numbers}")
    if numbers != [entry.number for entry in text.entries]:
        problems.append(f"{len(numbers)} papers in HTML, {len(text.entries)} in text")
    for one, other in zip(html.entries, text.entries):
        problems += [f"paper {one.number}: {problem}" for problem in
                     compare_parts(one, other, PHRASES[language])]
    for page, entries in (("HTML", html.entries), ("text", text.entries)):
        for entry in entries if page == "HTML" else text_entries(html, text):
            check = Check(days, mail, entry)
            if page == "HTML":
                check.run()
            else:
                check.check_reasons()
            counts += check.counts
            problems += [f"{page}: {problem}" for problem in check.problems]
    problems += check_overview(days, mail, html, counts)
    if (html.counts, html.top) != (text.counts, text.top):
        problems.append(f"overviews: {html[2:4]} and {text[2:4]}")
    for kind, line in (("subject", mail.subject), ("heading", html.heading),
                       ("first line", text.heading)):
        counts["count"] += 1
        if number_of(re.search(r"\d+", line)[0]) != len(numbers):
            problems.append(f"{kind}: {line}")
    return problems, counts


def check_overview(days, mail, page, counts):
    """Papers of each filter, and the first papers if there are many."""
    checks = [Check(days, mail, entry) for entry in page.entries]
    matched = [(name or text, sum((name or text) in check.matching for check in checks))
               for name, text in mail.person.filters]
    matched = [(name, count) for name, count in matched if count]
    wanted = matched if len(matched) > 1 else []
    counts["count of a filter"] += len(wanted)
    if page.counts != wanted:
        yield f"counts: {page.counts}, not {wanted}"
    for part in (mail.text, mail.html):
        for listed, read in re.findall(COVERAGE, part):
            counts["papers of a source"] += 1
            if not int(listed) == int(read) == days.count_listed(mail):
                yield f"coverage: {listed}, {read}, not {days.count_listed(mail)}"
    is_grouped = mail.person.preferences["group"] == "on"
    is_short = mail.person.preferences["abstract"] == "none" and not is_grouped
    wanted = 3 if len(page.entries) > MANY and not is_short else 0
    counts["title at the top"] += wanted
    if len(page.top) != wanted:
        yield f"at the top: {page.top}"
    for place, (number, title) in enumerate(page.top, 1):
        entry = page.entries[number - 1]
        if not is_grouped and number != place or not entry.title.startswith(
                title.rstrip("…")):
            yield f"at the top: {number}. {title}"


def text_entries(html, text):
    """Entries of the HTML with the reasons of the text, which has all words."""
    for one, other in zip(html.entries, text.entries):
        reasons = []
        for (name, _), line in zip(one.reasons, other.reasons):
            reasons.append((name, line[len(name):].removeprefix(":").strip() or None))
        yield one._replace(reasons=reasons)


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


UNMARKED = r"(<(?:h2|p) dir=\"auto\">[^\n]*?)<b>([^<]*)</b>"

# A true digest, and what is wrong in it: (pattern, replacement) of HTML and text.
LIES = (
    (r"(\d+) votes", lambda match: f"{int(match[1]) + 1} votes"),
    (r"arxiv.org/pdf/\d", "arxiv.org/pdf/9"),
    (r"\((\d+) stars", lambda match: f"({int(match[1]) + 1} stars"),
    (r"</b>( \w)", r"\1</b>"), (UNMARKED, r"\1\2"),
    (r"<p dir=\"auto\">(\w)", r"<p>Not \1"),
    (r"(<h2[^>]*><a[^>]*>(?:<b>)?)(\w)", r"\1A \2"), (r"<i[^>]*>(\w)", r"<i>x\1"),
    (r"and (\d+) more", lambda match: f"and {int(match[1]) + 1} more"),
    (r"<h1>(\d+)", lambda match: f"<h1>{int(match[1]) + 1}"),
    (r" in the abstract", " in the comment"), (r"\(AI\)", ""),
    (r"(<li class=\"paper\">)", r"<li>x</li>\1"),
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
