#!/usr/bin/env python3
"""test_web_browser.py - a subscription by the web page, from first to last, in Chromium.

paperboyd, paperboy-web, nginx as doc/web.md configures it, and a real Postfix and Dovecot.
Links are taken from the mails as they were received.  Widths are those of a telephone and,
with PAPERBOY_LONG=1, of a screen; pages fit both.
"""

import html
import http.client
import json
import os
import re
import threading

import lib  # the path
import browser
from clock import DAY
from daemon import Instance, days_after, parse
from nginx import nginx_of_readme
from paperserver import element
from peers import Ca, Dovecot, Postfix
from tap import (
    IS_LONG, Child, Skip, Tap, free_port, skip_all, top_builddir, use_debian_python,
    wait_until,
)

SERVICE = "paperboy@news.example"
MAIL_S = 120
WIDTHS = (390, 1280)

# Tables that only people's own decisions change.
CHOICES = ("confirmation", "erased", "feedback", "filter", "follow", "known", "pending_erasure",
           "proposal", "share", "subscription", "suppression", "taste", "watch")


class Site:
    """The whole installation behind one URL."""

    def __init__(self, tap):
        self.directory = tap.subdirectory("site")
        self.ca = Ca(self.directory)
        parts = {}
        for name in ("dovecot", "postfix", "home", "nginx"):
            parts[name] = os.path.join(self.directory, name)
            os.makedirs(parts[name])
            os.chmod(parts[name], 0o755)
        lmtp = os.path.join(self.directory, "lmtp")
        self.dovecot = tap.enter(Dovecot(parts["dovecot"], self.ca))
        self.postfix = tap.enter(Postfix(
            parts["postfix"], self.ca, lmtp=self.dovecot.lmtp, settings={
                "virtual_mailbox_domains": "example.org, news.example",
                "transport_maps": f"inline:{{ {SERVICE}=lmtp:unix:{lmtp} }}"}))
        web_port = free_port()
        self.nginx = tap.enter(nginx_of_readme(
            parts["nginx"], self.ca.make_chain("localhost"), web_port))
        self.url = self.nginx.url
        self.instance = Instance(
            parts["home"], port=self.postfix.port, mail__from=SERVICE,
            smtp__host="localhost", commands__address=SERVICE,
            receive__lmtp_socket=lmtp, receive__lmtp_group="postfix",
            receive__parser=os.path.join(top_builddir(), "paperboy-parser"),
            web__url=self.url, web__listen=f"127.0.0.1:{web_port}", web__search=True,
            web__socket=os.path.join(self.directory, "daemon"))
        self.write_days()
        self.child = tap.enter(self.instance.start())
        self.child.wait_line("paperboyd .* started")
        self.child.wait_socket(lmtp)
        self.web = tap.enter(Child([os.path.join(top_builddir(), "paperboy-web"), "-c",
                                    self.instance.config]))
        self.web.wait_line("started")

    def write_days(self):
        """Three days with a paper that the filter finds, and one that it does not."""
        for back in range(3):
            papers = [element(2 * back + 1), element(2 * back + 2)]
            for paper, title in zip(papers, ("A diffusion model", "A survey of agents")):
                paper["title"] = paper["paper"]["title"] = f"{title} {back}"
            path = os.path.join(self.instance.papers,
                                f"daily_papers-{days_after(DAY, -back)}.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(papers, file)

    def row(self, sql, *values):
        return self.instance.rows(sql, *values)[0]

    def choices(self):
        """All that people have chosen, asked for and confirmed."""
        return {table: self.instance.rows(f"SELECT * FROM {table}") for table in CHOICES}


class Reader:
    """A person at a browser, with a mailbox."""

    def __init__(self, site, address, width):
        self.site = site
        self.address = address
        self.width = width
        self.browser = browser.Browser(width=width)
        self.seen = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.browser.__exit__()

    def read(self):
        """The next mail."""
        mails = wait_until(self.load_new, f"a mail for {self.address}", MAIL_S,
                           lambda _: threading.Event().wait(0.5))
        self.seen += 1
        return parse(mails[0])

    def load_new(self):
        return self.site.dovecot.mails(self.address)[self.seen:]

    def read_until(self, matches):
        """The next mail of a kind; others are skipped."""
        while True:
            mail = self.read()
            if matches(mail):
                return mail

    def find_link(self, mail, kind):
        """A link to the page in the text of a mail."""
        text = mail.get_body(("plain",)).get_content()
        found = re.search(re.escape(self.site.url) + rf"/{kind}/[a-z2-7]+", text)
        assert found, f"no link to /{kind}/ in:\n{text}"
        return found[0]

    def fetch(self, url, method="GET", **fields):
        """A request without the browser.  @return response, body"""
        host, _, path = url.removeprefix("https://").partition("/")
        connection = http.client.HTTPSConnection(
            host, context=self.site.ca.client_context(), timeout=MAIL_S)
        connection.request(method, "/" + path, headers={
            name.replace("_", "-"): value for name, value in fields.items()})
        response = connection.getresponse()
        return response, response.read()

    def follow_links(self, mail):
        """GET and HEAD of each link to the page: as scanners of mail do, which act for nobody."""
        before = self.site.choices()
        parts = [mail.get_body((kind,)).get_content() for kind in ("plain", "html")]
        links = set(re.findall(rf"{re.escape(self.site.url)}[^\s\"<>)]*",
                               html.unescape("\n".join(parts)) + str(mail["List-Unsubscribe"])))
        for link in {link.partition("#")[0] for link in links}:
            for method in ("HEAD", "GET"):
                response, _ = self.fetch(link, method)
                assert response.status == 200, (method, link, response.status)
        assert self.site.choices() == before, links
        return links

    def stored(self, columns):
        return self.site.row(f"SELECT {columns} FROM subscriber WHERE address = ?",
                             self.address)

    def filters(self, is_block=0):
        """[(text, name, max)] in their order."""
        return self.site.instance.rows(
            "SELECT subscription.text, subscription.name, subscription.max_papers FROM"
            " subscription JOIN subscriber ON subscriber.id = subscriber_id"
            " WHERE address = ? AND is_block = ? ORDER BY number", self.address, is_block)

    def check_page(self):
        """The page is accessible and fits; nothing was blocked or is reported."""
        page = self.browser
        assert page.violations() == [], "\n".join(page.violations())
        for width in WIDTHS if self.width == WIDTHS[0] else WIDTHS[1:]:
            page.resize(width)
            assert page.overflow() <= 0, (width, page.overflow())
        page.resize(self.width)
        problems = [text for text in page.log() if "status of" not in text]
        assert problems == [], problems


def is_digest(mail):
    return mail["List-Id"] is not None


def subscribe(reader):
    """Try a filter, subscribe, confirm.  @return the first digest"""
    page = reader.browser
    page.open(reader.site.url + "/")
    reader.check_page()
    page.click("agent*")
    assert "A survey of agents 0" in page.text, page.text
    page.fill("What do you want to read about?", "diffusion (")
    page.enter("What do you want to read about?")
    assert "Problem: " in page.title, page.title
    caret = page.find("pre").text
    assert "^" in caret, caret
    reader.check_page()
    page.fill("What do you want to read about?", "diffusion")
    page.click("Try it")
    assert "A diffusion model 0" in page.text and "survey of" not in page.text, page.text
    assert page.find("svg").get_attribute("aria-label")
    reader.check_page()
    page.fill("Mail address", reader.address)
    page.choose("Time zone", "Tokyo (UTC+9)")
    page.enter("Mail address")
    assert page.find("h1").text == "Please check your mail", page.text
    reader.check_page()
    asked = reader.read()
    assert asked["List-Unsubscribe"] is None
    assert len(reader.follow_links(asked)) >= 1
    page.open(reader.find_link(asked, "c"))
    reader.check_page()
    assert reader.site.instance.rows("SELECT 1 FROM subscriber WHERE address = ?",
                                     reader.address) == [], "GET has confirmed"
    page.click("Confirm")
    reader.check_page()
    digest = reader.read_until(is_digest)
    assert "A diffusion model 0" in digest.get_body(("plain",)).get_content()
    assert len(reader.follow_links(digest)) >= 3
    return digest


def mail_link(reader, digest):
    """From a digest to the preferences: the link is mailed."""
    page = reader.browser
    page.open(reader.find_link(digest, "u"))
    reader.check_page()
    page.click("Mail me my preferences link")
    reader.check_page()
    link = reader.find_link(reader.read_until(
        lambda mail: mail["Subject"] == "Your preferences"), "p")
    page.open(link)
    reader.check_page()
    assert reader.address not in page.driver.current_url
    return link


def change_filters(reader):
    page = reader.browser
    assert page.find("h1").text == "Your filters", page.text
    page.fill("Filter", "agents NEAR")
    page.fill("Name (optional)", "agents")
    page.click("Add")
    reader.check_page()
    assert "^" in page.find("pre").text and len(reader.filters()) == 1, page.text
    page.fill("Filter", "survey agents")
    page.click("Try it")
    assert "A survey of agents 1" in page.text and len(reader.filters()) == 1, page.text
    reader.check_page()
    page.fill("Papers in one digest, at most (optional)", "7")
    page.click("Add")
    assert reader.filters() == [("diffusion", None, None), ("survey agents", "agents", 7)]
    reader.check_page()

    page.click("agents")
    assert page.find("h1").text == "agents", page.text
    assert "A survey of agents 1" in page.text, page.text
    reader.check_page()
    page.fill("Filter", "survey OR benchmark")
    page.fill("Name (optional)", "overviews")
    page.fill("Papers in one digest, at most (optional)", "")
    page.fill("Note to yourself (optional)", "for the seminar")
    page.click("Save")
    assert page.field("Note to yourself (optional)").get_attribute("value") == (
        "for the seminar")
    assert reader.filters()[1] == ("survey OR benchmark", "overviews", None), page.text
    reader.check_page()
    page.click("Filters")
    page.click("overviews")
    page.click("Move up")
    assert [row[0] for row in reader.filters()] == ["survey OR benchmark", "diffusion"]
    reader.check_page()
    page.click("Filters")
    page.click("overviews")
    page.click("Move down")
    assert [row[0] for row in reader.filters()] == ["diffusion", "survey OR benchmark"]
    page.click("Filters")
    page.click("overviews")
    page.click("Remove this filter")
    assert [row[0] for row in reader.filters()] == ["diffusion"], page.text
    reader.check_page()


def change_blocks(reader):
    page = reader.browser
    page.click("Blocks")
    reader.check_page()
    page.fill("Block", "author:nobody")
    page.click("Block")
    assert [row[0] for row in reader.filters(is_block=1)] == ["author:nobody"], page.text
    reader.check_page()
    page.click("Remove")
    assert reader.filters(is_block=1) == [], page.text


# label, what is typed or chosen; column, its new value
SETTINGS = [
    ("How often", "weekly", "frequency", "weekly"),
    ("Time zone", "Berlin (UTC+1)", "zone", "Europe/Berlin"),
    ("Papers with abstract", "9", "max_full", 9),
    ("Order", "newest first", "sorting", "date"),
    ("Abstracts", "the first two sentences", "abstract", "short"),
    ("New versions of papers", "include", "updates", "on"),
    ("Papers from other sections", "leave out", "crosslist", "off"),
    ("Days without papers", "a short note", "empty_digest", "note"),
    ("Your name", "Eva Example", "name", "Eva Example"),
    ("Format", "text only", "format", "text"),
    ("Attachment", "Markdown", "attach", "markdown"),
]


def change_settings(reader):
    page = reader.browser
    page.click("Settings")
    reader.check_page()
    page.fill("Or another city", "Atlantis")
    page.enter("Or another city")
    assert page.field("Or another city").get_attribute("aria-invalid") == "true", page.text
    reader.check_page()
    for day in ("mon", "thu"):
        page.find(f"[name=day_{day}]").click()
    page.run_script("document.querySelector('#f-at').value = '21:15'")
    for label, value, _, _ in SETTINGS:
        if page.field(label).tag_name == "select":
            page.choose(label, value)
        else:
            page.fill(label, value)
    page.click("Save")
    reader.check_page()
    assert reader.stored("weekdays, minute") == (0b1001, 21 * 60 + 15), page.text
    for label, _, column, stored in SETTINGS:
        assert reader.stored(column) == (stored,), (label, reader.stored(column), page.text)

    page.click("Pause")
    assert reader.stored("state") == ("paused",), page.text
    reader.check_page()
    page.click("Resume")
    assert reader.stored("state, paused_until") == ("active", None), page.text
    page.click("Settings")
    until = days_after(DAY, 20)
    page.run_script(f"document.querySelector('#f-until').value = '{until}'")
    page.click("Pause")
    assert reader.stored("state, paused_until") == ("paused", until), page.text
    page.click("Resume")

    page.click("Settings")
    page.choose("Language", "Deutsch")
    page.click("Save")
    assert reader.stored("language") == ("de",), page.text
    page.click("Deutsch")
    assert page.find("html").get_attribute("lang") == "de"
    assert page.find("h1").text == "Deine Einstellungen", page.text
    reader.check_page()
    page.click("English")


def find_feeds(page):
    """The links to the feeds on a page, Atom and JSON."""
    return [link.get_attribute("href") for link in page.find_all("main a[href*='/f/']")]


def change_account(reader):
    page = reader.browser
    import feedparser

    page.click("Data")
    reader.check_page()
    page.click("Create feeds")
    reader.check_page()
    before, _ = find_feeds(page)
    assert reader.fetch(before)[0].status == 200
    page.click("Create new links")
    assert reader.fetch(before)[0].status == 404, "the old link works"
    atom, as_json = find_feeds(page)
    response, body = reader.fetch(atom)
    parsed = feedparser.parse(body)
    assert not parsed.bozo, parsed.bozo_exception
    assert "A diffusion model 0" in [entry.title for entry in parsed.entries], body
    etag = response.getheader("ETag")
    assert reader.fetch(atom, If_None_Match=etag)[0].status == 304
    titles = [item["title"] for item in json.loads(reader.fetch(as_json)[1])["items"]]
    assert "A diffusion model 0" in titles, titles
    page.click("Filters")
    page.click("Filter 1")
    assert reader.fetch(find_feeds(page)[0])[0].status == 200
    page.click("Data")
    page.click("Turn feeds off")
    assert reader.fetch(atom)[0].status == 404
    page.fill("New address", "nobody@")
    page.click("Change address")
    assert page.field("New address").get_attribute("aria-invalid") == "true", page.text
    reader.check_page()
    page.fill("New address", "other-" + reader.address)
    page.click("Change address")
    reader.check_page()
    for action in ("Mail me my data", "Erase my data"):
        page.click(action)
        reader.check_page()
        assert reader.stored("1") == (1,), "it was not confirmed by mail"


def leave_and_return(reader, digest):
    page = reader.browser
    link = reader.find_link(digest, "u")
    page.open(link)
    page.click("One mail a week")
    assert reader.stored("frequency") == ("weekly",), page.text
    reader.check_page()
    page.open(link)
    page.choose("Papers in one digest", "3")
    page.click("Send fewer papers")
    assert reader.stored("max_full") == (3,), page.text
    page.open(link)
    page.choose("Pause for", "2 weeks")
    page.click("Pause")
    assert reader.stored("state") == ("paused",), page.text
    page.open(link)
    page.click("Unsubscribe")
    assert reader.stored("state") == ("gone",), page.text
    reader.check_page()
    page.click("Undo")
    assert reader.stored("state") == ("paused",), page.text
    reader.check_page()


def read_in_browser(reader, digest):
    page = reader.browser
    link = reader.find_link(digest, "d")
    html = digest.get_body(("html",)).get_content()
    _, body = reader.fetch(link)
    # In the browser each paper has its abstract, on demand.
    assert b"<details" in body and "<details" not in html, body
    page.open(link)
    assert "A diffusion model 0" in page.text
    width = page.run_script(
        "return getComputedStyle(document.querySelector('.page')).maxWidth")
    assert width != "none", "the styles are blocked"
    reader.check_page()
    page.set_scheme(is_dark=True)
    reader.check_page()
    page.set_scheme(is_dark=False)


def search(reader):
    page = reader.browser
    page.open(reader.site.url + "/search")
    reader.check_page()
    page.fill("Filter", "survey")
    page.click("Search")
    assert "A survey of agents 1" in page.text, page.text
    reader.check_page()


def follow(tap, site, width):
    """Subscribe, change everything, leave and return: each step is a test."""
    with Reader(site, f"eva-{width}@example.org", width) as reader:
        digest = subscribe(reader)
        steps = (
            ("read a digest in the browser", read_in_browser, (digest,)),
            ("search", search, ()),
            ("get a link to the preferences", mail_link, (digest,)),
            ("change filters", change_filters, ()),
            ("change blocks", change_blocks, ()),
            ("change settings", change_settings, ()),
            ("change the account", change_account, ()),
            ("leave and return", leave_and_return, (digest,)),
        )
        for name, step, arguments in steps:
            step.__doc__ = f"{width} px: {name}"
            tap.run(step, reader, *arguments)


def subscribe_in_german(site):
    """in German: page, confirmation and digest"""
    with Reader(site, "else@example.org", 390) as reader:
        page = reader.browser
        page.open(site.url + "/?lang=de")
        page.fill("Worüber willst du lesen?", "diffusion")
        page.click("Ausprobieren")
        page.fill("Mailadresse", reader.address)
        page.click("Per Mail schicken")
        assert page.find("h1").text == "Bitte sieh in deinem Postfach nach", page.text
        asked = reader.read()
        assert asked["Subject"].startswith("Bitte bestätigen"), asked["Subject"]
        page.open(reader.find_link(asked, "c") + "?lang=de")
        page.click("Bestätigen")
        reader.check_page()
        digest = reader.read_until(is_digest)
        assert "3 neue Artikel" in digest.get_body(("plain",)).get_content()
        page.open(reader.find_link(digest, "u") + "?lang=de")
        page.click("Abmelden")
        assert reader.stored("state, language") == ("gone", "de"), page.text
        reader.check_page()


def main():
    use_debian_python("selenium")
    missing = browser.find_missing()
    if missing:
        skip_all(missing)
    with Tap() as tap:
        try:
            site = Site(tap)
        except Skip as reason:
            tap.skip("a subscription in Chromium", reason)
            return
        for width in WIDTHS if IS_LONG else WIDTHS[:1]:
            follow(tap, site, width)
        tap.run(subscribe_in_german, site)
        with open(site.nginx.access_log, encoding="utf-8") as file:
            assert file.read() == ""
        site.instance.check_store()


if __name__ == "__main__":
    main()
