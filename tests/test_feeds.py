#!/usr/bin/env python3
#
# test_feeds.py - a post of several feeds, or republished, is mailed once; authors of
# recorded feeds are found; the servers of feeds may have private addresses only if that
# is configured.  Several sources of a kind; a source that is only tried.

import contextlib
import http.server
import json
import os
import re
import socket
import threading
import xml.etree.ElementTree

import lib  # the path
from daemon import Instance, at_hour, days_after, parse
from clock import DAY
from machines import Site
from paperserver import FEED as ARXIV, element, feed_item
from peers import write
from readme import blocks
from tap import Tap, read_text, real_data

ITEM = ("<item><title>{0}</title><link>{1}</link><guid isPermaLink='false'>{2}</guid>"
        "<description>A mamba is a snake.</description></item>")
FEED = ("<rss version='2.0'><channel><title>F</title>"
        "<link>https://example.org/</link>{}</channel></rss>")
LONG = "A made-up post about a snake"


def settings(feeds):
    """Settings with feeds, {name: URL}, as the only sources."""
    return {"sources__hf__enabled": False} | {
        f"sources__{name}__{option}": value for name, url in feeds.items()
        for option, value in (("kind", "feed"), ("url", url))}


class Feeds:
    """Two feeds in files, and a subscriber to all their posts."""

    def __init__(self, tap, name):
        self.directory = tap.subdirectory(name)
        self.out = os.path.join(self.directory, "out")
        self.days = 0
        self.write("lab")
        self.write("planet")
        self.instance = Instance(
            os.path.join(self.directory, "home"), maildir=self.out,
            **settings({feed: f"file://{self.path(feed)}" for feed in ("lab", "planet")}))
        self.run()
        self.instance.add_person("ada@example.org", now=at_hour(DAY, 8, 30), query="mamba")

    def path(self, feed):
        return os.path.join(self.directory, f"{feed}.xml")

    def write(self, feed, *items):
        """Write a feed with items (title, link, guid)."""
        with open(self.path(feed), "w", encoding="utf-8") as file:
            file.write(FEED.format("".join(ITEM.format(*item) for item in items)))

    def run(self):
        """The next day.  @return all titles mailed so far, in order"""
        self.instance.once(at_hour(days_after(DAY, self.days), 8), wanted=0)
        self.days += 1
        titles = []
        for digest in self.instance.rows("SELECT id FROM digest ORDER BY id"):
            titles += [title for (title,) in self.instance.rows(
                "SELECT p.title FROM digest_item i JOIN paper p ON p.seq = i.paper_seq"
                " WHERE i.digest_id = ? ORDER BY i.position", digest[0])]
        return titles

    def mails(self):
        directory = os.path.join(self.out, "new")
        return [parse(open(os.path.join(directory, name), "rb").read())
                for name in sorted(os.listdir(directory))]


def two_feeds(tap):
    """one link in two feeds is one paper and one mail, today and later"""
    feeds = Feeds(tap, "two")
    feeds.write("lab", (LONG, "https://example.org/post/1", "1"))
    feeds.write("planet", (f"Elsewhere: {LONG}",
                           "http://www.example.org/post/1/?utm_source=planet#top", "a"))
    assert feeds.run() == [LONG]
    before = feeds.instance.value("SELECT revision FROM paper")
    assert feeds.run() == [LONG]
    # The title does not alternate.
    assert feeds.instance.value("SELECT revision FROM paper") == before
    assert len(feeds.mails()) == 1, feeds.mails()
    # A post listed by one feed today and by the other tomorrow.
    feeds.write("planet", ("Mamba", "https://example.org/post/2", "b"))
    assert feeds.run() == [LONG, "Mamba"]
    feeds.write("lab", ("Mamba again", "https://www.example.org/post/2", "2"))
    assert feeds.run() == [LONG, "Mamba"]
    assert len(feeds.mails()) == 2, feeds.mails()


def two_titles(tap):
    """one DOI with two titles is mailed once, with the first title"""
    feeds = Feeds(tap, "titles")
    feeds.write("planet", (LONG, "https://doi.org/10.1000/x", "a"))
    assert feeds.run() == [LONG]
    feeds.write("lab", ("Another mamba", "https://dx.doi.org/10.1000/X?utm_source=x", "1"))
    assert feeds.run() == [LONG]
    before = feeds.instance.value("SELECT revision FROM paper")
    assert feeds.run() == [LONG]
    assert feeds.instance.value("SELECT revision FROM paper") == before
    # The feed that was first may correct the title.
    feeds.write("planet", ("A corrected mamba", "https://doi.org/10.1000/x", "a"))
    assert feeds.run() == ["A corrected mamba"]
    assert len(feeds.mails()) == 1, feeds.mails()


def republished(tap):
    """a post that was mailed is not mailed again under a new guid and a new link"""
    feeds = Feeds(tap, "republished")
    feeds.write("lab", (LONG, "https://example.org/post/1", "1"))
    assert feeds.run() == [LONG]
    feeds.write("lab", (LONG, "https://example.org/2026/made-up-post", "2"))
    assert feeds.run() == [LONG]
    feeds.write("lab", (LONG, "https://example.org/2026/made-up-post", "2"),
                ("Mamba", "https://example.org/post/2", "3"))
    assert feeds.run() == [LONG, "Mamba"]
    assert len(feeds.mails()) == 2, feeds.mails()


def different(tap):
    """posts that share only the title, or only the page of the feed, are distinct"""
    feeds = Feeds(tap, "different")
    feeds.write("lab", (LONG, "https://example.org/post/1", "1"))
    feeds.write("planet", (LONG, "https://example.net/post/1", "1"))
    assert feeds.run() == [LONG] * 2
    feeds.write("lab", ("Mamba 1", "https://example.org/", "2"))
    feeds.write("planet")
    feeds.run()
    feeds.write("lab", ("Mamba 2", "https://example.org/", "3"))
    assert feeds.run() == [LONG, LONG, "Mamba 1", "Mamba 2"]


@contextlib.contextmanager
def serve(listener, answers):
    """Serve feeds, and redirects to URLs: {path: feed or URL}."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            answer = answers[self.path]
            is_feed = answer.startswith("<")
            self.send_response(200 if is_feed else 302)
            self.send_header("Location", answer)
            self.end_headers()
            self.wfile.write(answer.encode() if is_feed else b"")

        def log_message(self, *_):
            pass

    with listener, http.server.ThreadingHTTPServer(
            ("", 0), Handler, bind_and_activate=False) as server:
        server.socket.close()
        server.socket = listener
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            server.shutdown()
            thread.join()


def fetch(tap, name, url, wanted, host=None, **others):
    """Fetch a feed.  @return output and number of papers"""
    instance = Instance(tap.subdirectory(name), **settings({"lab": url}), **others)
    instance.prefix = host.command([]) if host else []
    text = instance.ctl("source", "fetch", wanted=wanted)
    return text, instance.value("SELECT count(*) FROM paper")


def private_names(tap):
    """a name with a private address is refused unless its source may have one"""
    feed = FEED.format(ITEM.format(LONG, "https://example.org/post/1", "1"))
    with serve(socket.create_server(("127.0.0.1", 0)), {"/feed": feed}) as port:
        # libcurl resolves all names below "localhost" to the loopback addresses.
        url = f"http://lab.localhost:{port}/feed"
        for private in "hf", "enrich":
            other = {"sources__hf__private" if private == "hf" else "enrich__private": True}
            text, papers = fetch(tap, private, url, 75, **other)
            assert ("lab.localhost: address is not public (private = true in its group"
                    " allows it)") in text, text
            assert papers == 0
        assert fetch(tap, "allowed", url, 0, sources__lab__private=True)[1] == 1
        assert fetch(tap, "literal", f"http://127.0.0.1:{port}/feed", 0)[1] == 1


def redirects(tap):
    """a redirect leads from port 80 to 443 with https, and to no other port"""
    with Site() as site:
        host = site.add("feeds")
        url = f"http://{host.address}"
        others = (f"{url}:81/", f"{url}:443/", f"https://{host.address}:81/")
        answers = {f"/{number}": other for number, other in enumerate(others)}
        with serve(host.listen(80), answers | {"/tls": f"https://{host.address}/"}):
            # Nobody listens there.
            text, _ = fetch(tap, "tls", f"{url}/tls", 75, host)
            assert f"cannot fetch from {host.address}: " in text, text
            for number, other in enumerate(others):
                text, _ = fetch(tap, f"port-{number}", f"{url}/{number}", 75, host)
                assert f"refused the redirect of {host.address} to '{other}'" in text, text


def read_authors(path):
    """[(title, [(given names, family name)])] of a recorded feed."""
    papers = []
    for item in xml.etree.ElementTree.parse(path).iter():
        if item.tag.rpartition("}")[2] != "item":
            continue
        fields = [(child.tag.rpartition("}")[2], " ".join((child.text or "").split()))
                  for child in item]
        creators = [text for name, text in fields if name == "creator"]
        if len(creators) == 1 and "," in creators[0]:
            names = [(given, family) for family, given in
                     re.findall(r"([^,]+), ([^,]+)(?:, |$)", creators[0])]
        else:
            names = [tuple(name.rsplit(" ", 1)) for name in creators]
        papers.append((dict(fields)["title"], names))
    return papers


def recorded_authors(tap):
    """each author of recorded feeds is found by both orders of the name"""
    paths = {name: real_data(f"sources/{path}") for name, path in (
        ("bio", "netnewswire/bio.rdf"), ("one", "miniflux-biorxiv-2019-11-29.rdf"),
        ("pubmed", "pubmed-rss-mock-2026-07.xml"), ("preprint", "pair/preprint.rdf"),
        ("published", "pair/published.xml"))}
    instance = Instance(
        os.path.join(tap.subdirectory("recorded"), "home"),
        **settings({name: f"file://{path}" for name, path in paths.items()}))
    instance.once(at_hour(DAY, 8), wanted=0)
    total = 0
    for path in paths.values():
        for title, names in read_authors(path):
            rows = instance.rows("SELECT id FROM paper WHERE title = ?", title)
            for at in range(0, len(names), 6):  # a query has at most 512 bytes
                for order in ("{0} {1}", "{1}, {0}"):
                    query = " ".join(f'author:"{order.format(*name)}"'
                                     for name in names[at:at + 6])
                    found = instance.ctl("search", f"authors:={len(names)} {query}")
                    assert any(row[0] in found for row in rows), (title, query, found)
            total += len(names)
    tap.diag(f"{total} authors")


def two_of_each_kind(tap):
    """two sources of each kind are stored, listed and searched by their names"""
    directory = tap.subdirectory("kinds")
    def place(name, file, text):
        os.makedirs(os.path.join(directory, name))
        write(os.path.join(directory, name, file), text)
        return f"file://{directory}/{name}"
    options, number = {}, 0
    for name, kind in (("daily", "huggingface"), ("arxiv", "arxiv"), ("maths", "arxiv"),
                       ("lab", "feed"), ("club", "feed")):
        number += 1
        options[f"sources__{name}__kind"] = kind
        if kind == "huggingface":
            url = place(name, f"daily_papers-{DAY}.json", json.dumps([element(number)]))
        elif kind == "arxiv":
            options[f"sources__{name}__categories"] = ["cs.CL", "cs.CL"]
            url = place(name, "cs.CL.xml", ARXIV % ("cs.CL", 18, feed_item(number)))
        else:
            url = place(name, "feed.xml", FEED.format(ITEM.format(
                f"Post {number}", f"https://example.org/{number}", number))) + "/feed.xml"
        options[f"sources__{name}__url"] = url
    instance = Instance(os.path.join(directory, "home"), **options)
    instance.write_day(DAY, [9])
    instance.ctl("source", "fetch")
    names = ["arxiv/cs.CL", "club", "daily", "hf", "lab", "maths/cs.CL"]
    assert instance.rows("SELECT source, count(*) FROM listing GROUP BY 1 ORDER BY 1") == [
        (name, 1) for name in names]
    for name in "arxiv", "club", "daily", "hf", "lab", "maths":
        found = json.loads(instance.ctl("--json", "search", f"source:{name}"))
        assert len(found["results"]) == 1, (name, found)
    listed = json.loads(instance.ctl("--json", "source", "list"))
    assert sorted(row["source"] for row in listed if row["on"]) == names, listed
    checks = instance.ctl("check", "--wait", "0", wanted=(0, 65))
    for name in names:
        assert re.search(f"source {name} +answers: 1 papers", checks), checks
    instance.set(sources__club__enabled=False, sources__maths__categories=["math.AG"])
    listed = json.loads(instance.ctl("--json", "source", "list"))
    assert sorted(row["source"] for row in listed if row["on"]) == [
        "arxiv/cs.CL", "daily", "hf", "lab", "maths/math.AG"], listed


def preprint(doi, title, category):
    """An element of bioRxiv's list of a day."""
    return {"doi": doi, "title": title, "authors": "Muster, A. B.; Beispiel, C.",
            "date": DAY, "version": "1", "category": category, "abstract": "Cells move.",
            "published": "NA"}


def kinds_of_other_sciences(tap):
    """bioRxiv, medRxiv, Europe PMC and Crossref: one paper in all is stored once"""
    directory = tap.subdirectory("sciences")
    doi = "10.1101/2026.09.01.123456"
    pages = {
        "biorxiv": {"messages": [{"status": "ok", "count": 2, "total": "2"}],
                    "collection": [preprint(doi, "Cells that move", "neuroscience"),
                                   preprint("10.1101/029900", "Plants", "plant biology")]},
        "medrxiv": {"messages": [{"status": "no posts found"}], "collection": []},
        "europepmc": {"hitCount": 1, "nextCursorMark": "*", "resultList": {"result": [
            {"id": "PPR1", "source": "PPR", "doi": doi.upper(), "title": "Cells that move.",
             "authorString": "Muster AB, Beispiel C.", "abstractText": "Cells move."}]}},
        "crossref": {"status": "ok", "message": {"total-results": 1, "items": [
            {"DOI": doi, "title": ["Cells that move"], "container-title": ["Cell"],
             "author": [{"given": "Anna B.", "family": "Muster"}],
             "created": {"date-parts": [[int(part) for part in DAY.split("-")]]}}]}},
    }
    needed = {"europepmc": {"query": "SRC:PPR"}, "crossref": {"issn": "0092-8674"},
              "biorxiv": {"categories": ["Neuroscience"]}}
    options = {"sources__hf__enabled": False}
    for kind, page in pages.items():
        os.makedirs(os.path.join(directory, kind))
        write(os.path.join(directory, kind, f"{kind}-{DAY}.json"), json.dumps(page))
        group = {"kind": kind, "url": f"file://{directory}/{kind}"} | needed.get(kind, {})
        options |= {f"sources__{kind}__{name}": value for name, value in group.items()}
    instance = Instance(os.path.join(directory, "home"), **options)
    instance.ctl("source", "fetch")
    assert instance.rows("SELECT count(*) FROM paper") == [(1,)]
    assert instance.rows("SELECT source FROM listing ORDER BY 1") == [
        ("biorxiv",), ("crossref",), ("europepmc",)]
    for query in ("cat:neuroscience", f"doi:{doi}", "source:crossref", "journal:cell",
                  'author:"Muster, Anna"'):
        found = json.loads(instance.ctl("--json", "search", query))
        assert len(found["results"]) == 1, (query, found)
    said = instance.ctl("source", "try", "biorxiv", f"url=file://{directory}/biorxiv",
                        "--day", DAY)
    assert "2 papers; without abstract: 0, categories: 0, authors: 0\n" in said, said


def recipes(tap):
    """the sources of doc/sources.md: ACL Anthology and a saved search of PubMed"""
    directory = tap.subdirectory("recipes")
    acl = write(os.path.join(directory, "acl.xml"), FEED.format("".join(
        ITEM.format(f"Paper {name}", f"https://aclanthology.org/{name}/", name)
        for name in ("2026.acl-long.7", "2026.findings-emnlp.12", "2026.lrec-1.3"))))
    instance = Instance(os.path.join(directory, "home"), sources__hf__enabled=False)
    groups = blocks("doc/sources.md")
    for group, path in zip(groups, (acl, real_data("sources/pubmed-rss-mock-2026-07.xml")),
                           strict=True):
        text = read_text(instance.config)
        group = re.sub('url = "https://[^"]*"', f'url = "file://{path}"', group)
        write(instance.config, text.replace("sources = (", f"sources = ( {group},"))
    instance.once(at_hour(DAY, 8), wanted=0)
    assert instance.rows("SELECT source, count(*) FROM listing GROUP BY 1 ORDER BY 1") == [
        ("acl", 3), ("asthma", 1)]
    assert instance.rows("SELECT doi FROM paper ORDER BY doi") == [
        (None,), ("10.1093/icb/icag118",), ("10.18653/v1/2026.acl-long.7",),
        ("10.18653/v1/2026.findings-emnlp.12",)]
    assert "Stress, Sex, Cysts" in instance.ctl("search", "pmid:42476553")


def renamed(tap):
    """a renamed source has its listings, and its filters in each notation; no mail twice"""
    feeds = Feeds(tap, "renamed")
    instance = feeds.instance
    for number, query in enumerate((
            "mamba source:lab", "source:(LAB OR planet) snake", 'NOT source:lab mamba',
            "mamba source:planet", "mamba source:lab-2",
            'source:lab OR title:"the source:lab effect"')):
        instance.add_person(f"bo{number}@example.org", now=at_hour(DAY, 8, 30), query=query)
    feeds.write("lab", (LONG, "https://example.org/post/1", "1"))
    feeds.run()
    before = len(feeds.mails())
    said = instance.ctl("source", "rename", "lab", "snakes", wanted=65)
    assert "no source 'snakes' in paperboy.conf: change its name there first" in said, said
    text = read_text(instance.config)
    write(instance.config, text.replace('name = "lab"', 'name = "snakes"'))
    assert instance.ctl("source", "rename", "lab", "snakes") == (
        "lab is now snakes; 4 filters changed\n")
    assert instance.rows("SELECT text FROM subscription ORDER BY id")[1:] == [
        ("mamba source:snakes",), ("snake AND (source:planet OR source:snakes)",),
        ("NOT source:snakes mamba",), ("mamba source:planet",), ("mamba source:lab-2",),
        ('source:snakes OR title:"the source lab effect"',)]
    assert not instance.rows("SELECT 1 FROM filter WHERE canonical GLOB '*source:lab[^-]*'")
    assert instance.rows("SELECT DISTINCT source FROM listing") == [("snakes",)]
    # The feed has the post still, and another one.
    feeds.write("lab", (LONG, "https://example.org/post/1", "1"),
                ("Another mamba", "https://example.org/post/2", "2"))
    feeds.run()
    assert instance.value("SELECT count(*) FROM paper") == 2
    assert len(feeds.mails()) == 2 * before, (before, len(feeds.mails()))
    for names in (("lab", "snakes"), ("snakes", "planet")):
        assert instance.ctl("source", "rename", *names, wanted=65 if "planet" in names else 67)


def tried(tap):
    """a source is tried: papers, what they lack, the group; and wrong arguments"""
    instance = Instance(tap.subdirectory("tried"), **settings({}))
    instance.write_day(DAY, range(1, 13))
    path = f"file://{instance.papers}"
    text = instance.ctl("source", "try", "huggingface", f"url={path}", "--day", DAY)
    assert len(re.findall("^2611[.]", text, re.MULTILINE)) == 10, text
    assert "12 papers; without abstract: 0, categories: 12, authors: 0\n" in text, text
    group = text.splitlines()[-1]
    assert group == f'{{ name = "hf"; kind = "huggingface"; url = "{path}"; }}', text
    feed = write(os.path.join(instance.papers, "feed.xml"), FEED.format(
        ITEM.format("A post", "https://example.org/1", "1")))
    said = json.loads(instance.ctl(
        "--json", "source", "try", "feed", "name=lab", f"url=file://{feed}", "private=true"))
    assert said == {
        "papers": [{"id": said["papers"][0]["id"], "title": "A post"}], "count": 1,
        "without_abstract": 0, "without_categories": 1, "without_authors": 1,
        "group": f'{{ name = "lab"; kind = "feed"; url = "file://{feed}"; private = true; }}'}
    # The group is valid.
    text = read_text(instance.config)
    write(instance.config, re.sub("sources = .*", f"sources = ( {said['group']} );", text))
    assert instance.ctl("config", "sources") == f"( {said['group']} )\n"
    assert not os.path.exists(instance.store)
    for arguments, problem in (
            (["gopher"], 'unknown kind "gopher" (expected one of huggingface, arxiv, biorxiv,'
             ' medrxiv, europepmc, crossref, feed)'),
            (["medrxiv", "categories=cardiology"],
             "'cardiology' is not a category of bioRxiv or medRxiv: did you mean"),
            (["europepmc"], "query is missing: the kind europepmc needs it"),
            (["crossref"], "issn or prefix is missing: the kind crossref needs one of them"),
            (["crossref", "issn=92-8674"],
             "issn: '92-8674' is not an ISSN (expected one such as 0092-8674)"),
            (["crossref", "prefix=11.1101"],
             "prefix: '11.1101' is not a DOI prefix (expected one such as 10.1101)"),
            (["arxiv", "categories=cs.CL,cs.LGG"],
             "'cs.LGG' is not a category of arXiv: did you mean cs.LG?"),
            (["feed", "url"], "expected NAME=VALUE, not 'url'"),
            (["arxiv", "categories=cs", "request_interval_s=1s"],
             "request_interval_s must be a whole number from 0 to 600"),
            (["feed", "url=https://a.example/", "--day", "2026-11-31"], "2026-11-31")):
        said = instance.ctl("source", "try", *arguments, wanted=65)
        assert problem in said, said


with Tap() as tap:
    for test in (two_feeds, two_titles, republished, different, recorded_authors,
                 private_names, redirects, two_of_each_kind, kinds_of_other_sciences, recipes,
                 renamed, tried):
        tap.run(test, tap)
