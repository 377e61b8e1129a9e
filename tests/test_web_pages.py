#!/usr/bin/env python3
"""test_web_pages.py - each page in Chromium, axe-core and lynx, and the feeds.

Sample replies (tests/lib/web_samples.ini) in all languages that ship and the test language
of tests/lib/po.py, in both colour schemes, served with their Content-Security-Policy.
"""

import contextlib
import glob
import html
import html.parser
import http.server
import json
import os
import re
import threading
import xml.parsers.expat

import lib  # the path
import browser
import po
from tap import (
    IS_LONG, Skip, Tap, read, read_text, run, top_builddir, top_srcdir,
    use_debian_python,
)

WIDTHS = (320, 390, 1280)
RFC3339 = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"


def make_pages(directory):
    """Render the samples.  @return names of the HTML pages"""
    po.write_test_language(os.path.join(top_srcdir(), "po/paperboy.pot"),
                           os.path.join(directory, "fa.po"))
    run([os.path.join(top_builddir(), "tests/helper_web_page"),
         os.path.join(top_srcdir(), "etc/templates"), directory, directory],
        env={**os.environ, "top_srcdir": top_srcdir()})
    return sorted(os.path.basename(path)[: -len(".html")]
                  for path in glob.glob(os.path.join(directory, "*.html")))


@contextlib.contextmanager
def serve(directory):
    """Serve the pages with their policies.  @return the base of their URLs"""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            stem = os.path.join(directory, os.path.basename(self.path.partition("?")[0]))
            if not os.path.exists(stem + ".html"):
                self.send_error(404)
                return
            body = read(stem + ".html")
            policy = read_text(stem + ".policy")
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Security-Policy", policy)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def collect(chromium, url, names, check):
    """check(name) on each page; fail with all that it returns."""
    found = []
    for name in names:
        chromium.open(url + name)
        found += [f"{name}: {text}" for text in check(name)]
    assert not found, "\n".join(found)


def choose(names):
    """Without PAPERBOY_LONG=1, pages in English, and some from right to left with long texts."""
    if IS_LONG:
        return names
    return [name for name in names if name.endswith((".en", ".fa"))]


def test_light(chromium, url, names):
    """axe-core finds nothing in light pages; none scrolls sideways at 320, 390 and 1280 px;
    styles apply under the policy, and nothing is blocked"""
    chromium.log()

    def check(_):
        yield from chromium.violations()
        for width in WIDTHS:
            chromium.resize(width)
            if chromium.overflow() > 0:
                yield f"{chromium.overflow()} px too wide at {width} px"
        width = chromium.run_script(
            "return getComputedStyle(document.querySelector('main')).maxWidth")
        if width == "none":
            yield "no styles"
        yield from chromium.log()

    collect(chromium, url, choose(names), check)


def test_dark(chromium, url, names):
    "axe-core finds nothing in the colours of dark pages"
    chromium.set_scheme(True)
    collect(chromium, url, names, lambda _: chromium.violations(browser.COLOURS))
    chromium.set_scheme(False)


def test_keyboard(chromium, url):
    "by keyboard: the first stop skips to the content, and the focus is visible"
    from selenium.webdriver.common.keys import Keys

    chromium.open(url + "home.en")
    chromium.find("body").send_keys(Keys.TAB)
    focused = chromium.driver.switch_to.active_element
    assert focused.text == "Skip to the content", focused.text
    outline = chromium.run_script(
        "return getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid", outline
    chromium.open(url + "home-error.en")
    focused = chromium.driver.switch_to.active_element
    assert focused.get_attribute("role") == "alert", focused.get_attribute("outerHTML")
    link = chromium.find("[role=alert] a")
    target = link.get_attribute("href").rpartition("#")[2]
    field = chromium.find("#" + target)
    described = field.get_attribute("aria-describedby").split()[0]
    assert link.text in chromium.find("#" + described).text


# Page and field; the name of the button that Enter in the field presses.
ENTER = {
    "home filter": "", "home address": "action_subscribe", "home-tried filter": "",
    "home-tried address": "action_subscribe", "home-tried zone": "action_subscribe",
    "filters name": "action_add", "filters max": "action_add",
    "filter name": "action_edit", "filter max": "action_edit",
    "filter note": "action_edit", "settings at": "action_set",
    "settings zone": "action_set", "settings max": "action_set",
    "settings name": "action_set", "settings until": "action_pause",
    "account address": "action_address", "taste paper": "action_like",
    "search filter": "",
}


def test_enter(chromium, url):
    "Enter in a field presses the button that a person expects"
    found = {}
    for page in sorted({key.partition(" ")[0] for key in ENTER}):
        chromium.open(f"{url}{page}.en")
        chromium.run_script(
            "document.querySelectorAll('details').forEach(part => part.open = true);"
            " addEventListener('submit', event => { window.pressed = event.submitter.name;"
            " event.preventDefault(); })")
        for field in chromium.find_all(
                "form input:not([type=submit]):not([type=hidden]):not([type=checkbox])"):
            if field.is_displayed():
                field.send_keys("\n")
                found[f"{page} {field.get_attribute('name')}"] = chromium.run_script(
                    "return window.pressed")
    assert found == ENTER, found


def test_lynx(directory, names):
    "lynx shows title, labels and buttons of each page, in order"
    for name in names:
        path = os.path.join(directory, name + ".html")
        source = read_text(path)
        shown = " ".join(browser.read_in_lynx(path).split())
        wanted = re.findall(
            r'<h[12][^>]*>(.*?)</h[12]>|<label[^>]*>(.*?)</label>|type="submit".* value="(.*?)">',
            source)
        at = 0
        for text in (html.unescape(re.sub("<.*?>", "", "".join(part))) for part in wanted):
            found = shown.find(" ".join(text.split()), at)
            assert found >= 0, f"{name}: {text!r} is not in order in {shown}"
            at = found


class Texts(html.parser.HTMLParser):
    """What a page says: texts, labels of buttons, descriptions."""

    def __init__(self, path):
        super().__init__()
        self.found, self.is_style = set(), False
        with open(path, encoding="utf-8") as file:
            # English in all languages: titles of papers, filters, a digest as a sample.
            self.feed(re.sub(r'<(a|bdi|div)[^>]* lang="en".*?</\1>', "", file.read(),
                             flags=re.S))

    def add(self, text):
        # The bidirectional isolates of a list of days are not words.
        words = " ".join(text.split())
        if re.search(r"[A-Za-z]{2}", words) and not self.is_style:
            self.found.add(words)

    def handle_starttag(self, tag, attrs):
        self.is_style = tag == "style"
        values = dict(attrs)
        for name in ("aria-label", "alt", "title", "placeholder"):
            self.add(values.get(name) or "")
        if values.get("type") == "submit":
            self.add(values["value"])

    def handle_endtag(self, tag):
        self.is_style = False

    def handle_data(self, data):
        self.add(data)


def test_translated(directory, names):
    "no text of a page but data is out of reach of translators"
    with open(os.path.join(top_srcdir(), "tests/lib/web_samples.ini"), encoding="utf-8") as file:
        data = " ".join(file.read().replace("\\", "").split())
    problems = []
    for name in names:
        if not name.endswith(".fa") or name.startswith("largest-"):
            continue
        for text in Texts(os.path.join(directory, name + ".html")).found:
            rest = re.sub(po.OPEN + ".*?" + po.CLOSE, "", text)
            left = [word for word in re.findall(r"[A-Za-z]{3,}", rest) if word not in data]
            if left and text not in ("Deutsch", "English", "Français", "Atom", "JSON",
                                     "JSON Feed"):
                problems.append(f"{name}: {text}")
    assert not problems, "\n".join(problems)


# ---- feeds ----


def test_atom(directory):
    "an Atom feed is well-formed and complete (RFC 4287)"
    path = os.path.join(directory, "feed-atom.en.feed")
    source = read(path)
    parser = xml.parsers.expat.ParserCreate(namespace_separator=" ")
    names = []
    parser.StartElementHandler = lambda name, _: names.append(name)
    parser.Parse(source, True)
    assert all(name.startswith("http://www.w3.org/2005/Atom ") for name in names), names
    for name in ("id", "title", "updated"):
        count = names.count("http://www.w3.org/2005/Atom " + name)
        assert count == 3, (name, count)
    try:
        import feedparser
    except ImportError:
        raise Skip("python3-feedparser is not installed") from None
    feed = feedparser.parse(source)
    assert not feed.bozo, feed.bozo_exception
    assert feed.version == "atom10", feed.version
    assert feed.feed.title == "paperboy: all filters"
    assert [link.rel for link in feed.feed.links] == ["self", "alternate"]
    first, second = feed.entries
    assert first.title_detail.type == "text/plain", first.title_detail
    assert first.title == 'Bits & Pieces of <T> "quoted"', first.title
    assert [author.name for author in first.authors] == ["Åsa Öberg", "B. O'Neil"]
    assert first.link == "https://arxiv.org/abs/2611.15202"
    assert first.summary.startswith("We show that x < y & z."), first.summary
    assert second.id == "urn:x-paper:2"


def test_json_feed(directory):
    "a JSON feed has what version 1.1 requires"
    feed = json.loads(read(os.path.join(directory, "feed-json.en.feed")))
    assert feed["version"] == "https://jsonfeed.org/version/1.1"
    assert feed["title"] == "paperboy: all filters"
    for key in ("home_page_url", "feed_url"):
        assert feed[key].startswith("https://papers.example.org/"), feed[key]
    assert feed["language"] == "en"
    allowed = {"id", "url", "title", "content_text", "summary", "date_published",
               "date_modified", "authors"}
    for item in feed["items"]:
        assert set(item) <= allowed, item
        assert isinstance(item["id"], str) and item["id"]
        assert item["content_text"]
        assert item.get("url", "https://").startswith("https://")
        for key in ("date_published", "date_modified"):
            assert re.fullmatch(RFC3339, item.get(key, "2026-01-01T00:00:00Z"))
        for author in item.get("authors", []):
            assert set(author) == {"name"}, author
    assert len({item["id"] for item in feed["items"]}) == 2


def main():
    use_debian_python("selenium")
    with Tap() as tap:
        directory = tap.subdirectory("pages")
        names = make_pages(directory)
        tap.run(test_atom, directory)
        tap.run(test_json_feed, directory)
        tap.run(test_lynx, directory, choose(names))
        tap.run(test_translated, directory, names)
        missing = browser.find_missing()
        if missing:
            tap.skip("pages in Chromium", missing)
            return
        url = tap.enter(serve(directory))
        chromium = tap.enter(browser.Browser())
        tap.run(test_light, chromium, url, names)
        tap.run(test_dark, chromium, url, names if IS_LONG else [
            name for name in names if name.endswith(".en")])
        tap.run(test_keyboard, chromium, url)
        tap.run(test_enter, chromium, url)


if __name__ == "__main__":
    main()
