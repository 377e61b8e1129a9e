#!/usr/bin/env python3
"""Parses the messages of helper_messages with Python's email package."""

import email
import email.policy
import html.parser
import os
import pathlib
import re
import subprocess
import tempfile

import lib  # the path
from tap import Tap, top_builddir

BIDI = re.compile("[\u202a-\u202e\u2066-\u2069\u200e\u200f]")


class Page(html.parser.HTMLParser):
    """Collects links, tags and attributes of an HTML part."""

    def __init__(self, text):
        super().__init__()
        self.links, self.tags, self.names, self.headings, self.text = [], set(), set(), [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.names.update(name for name, _ in attrs)
        if tag in ("h1", "h2", "h3"):
            self.headings.append(tag)
        if tag == "a":
            self.links.append(dict(attrs)["href"])

    def handle_data(self, data):
        self.text.append(data)


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def parse(raw):
    message = email.message_from_bytes(raw, policy=email.policy.default)
    for part in message.walk():
        check(not part.defects, f"defects: {part.defects}")
        for name, value in part.items():
            check(not value.defects, f"{name}: {value.defects}")
    return message


def check_bytes(raw):
    check(b"\0" not in raw and raw.isascii(), "not 7-bit")
    check(raw.endswith(b"\r\n"), "no line end at the end")
    check(not re.search(rb"(?<!\r)\n|\r(?!\n)", raw), "a bare CR or LF")
    header, body = raw.split(b"\r\n\r\n", 1)
    for line in header.split(b"\r\n"):
        check(len(line) <= 998, f"header line of {len(line)}")
        check(len(line) <= 78 or line.count(b" ") == 1, f"line could be folded: {line}")
        check(b"=?" not in line or len(line) <= 76, f"encoded line of {len(line)}")
        for word in re.findall(rb"=\?[^ ]*?\?[QB]\?[^ ?]*\?=", line):
            check(len(word) <= 75, f"encoded word of {len(word)}")
    for line in body.split(b"\r\n"):
        check(len(line) <= 76, f"body line of {len(line)}")
        check(not line.startswith((b".", b"From ")), f"body line {line}")
        check(line == line.rstrip(), f"trailing blank: {line}")
    return header


def check_once(header):
    names = [l.split(b":")[0].lower() for l in header.split(b"\r\n") if l[:1] not in b" \t"]
    check(len(names) == len(set(names)), f"a field comes twice: {sorted(names)}")
    return names


def parts_of(message):
    check(message.get_content_type() == "multipart/alternative", "not alternative")
    text, page = message.iter_parts()
    check(text.get_content_type() == "text/plain", "text is not first")
    check(page.get_content_type() == "text/html", "html is not last")
    check(text.get_content_charset() == page.get_content_charset() == "utf-8", "charset")
    return [part.get_content().replace("\r\n", "\n") for part in (text, page)]


def check_digest(raw):
    header = check_bytes(raw)
    names = check_once(header)
    for wanted in ("date from to subject message-id mime-version list-id list-unsubscribe "
                   "list-owner list-post auto-submitted precedence "
                   "x-auto-response-suppress content-type").split():
        check(wanted.encode() in names, f"no {wanted}")
    for unwanted in (b"bcc", b"references", b"in-reply-to", b"cc"):
        check(unwanted not in names, f"there is {unwanted}")
    message = parse(raw)
    text, page = parts_of(message)
    check(text.split(" · ", 1)[0] == re.search(r"<h1.*?>(.*?)</h1>", page).group(1),
          "the headings differ")
    preheader = re.search(r"mso-hide:all\">\n(.*?)</div>", page).group(1)
    check(1 <= len(html.unescape(preheader)) <= 100, f"preheader {preheader!r}")
    parsed = Page(page)
    links = [l for l in parsed.links if not l.startswith("mailto:")]
    urls = re.findall(r"^ *(?:[A-Z]\w+(?: \([^()]*\))?: )?(https?://\S+)$", text, re.M)
    # The text part has one link for each paper.
    check([link for link in links if link in urls] == urls, f"links differ: {links} {urls}")
    check(all(re.match(r"https?://", l) for l in links), "a strange link")
    allowed = {"html", "head", "meta", "title", "style", "body", "div", "h1", "h2", "p", "a",
               "b", "mark", "span", "table", "tbody", "tr", "td"}
    check(parsed.tags <= allowed, f"strange tags: {parsed.tags - allowed}")
    check(not {n for n in parsed.names if n.startswith("on") or n == "src"}, "strange attributes")
    check(parsed.headings[0] == "h1" and set(parsed.headings[1:]) <= {"h2"}, "headings")
    for part in (text, page, str(message["subject"]), str(message["to"])):
        check(not BIDI.search(part), "a bidi control")
        check(not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", part.replace("\r\n", "\n")),
              "a control character")
    for line in text.split("\n"):
        check(line == line.rstrip() and line != "--", f"text line {line!r}")
    raw_html = raw[raw.index(b"text/html"):]
    check(len(raw_html.split(b"\r\n\r\n", 1)[1]) <= 80 * 1024 + 100, "html over its limit")
    return message, text, page


def digest_is_whole(directory):
    message, text, page = check_digest((directory / "digest.eml").read_bytes())
    check(str(message["subject"]).startswith("11 new papers: Sparse Routing"),
          message["subject"])
    check(message["date"] == "Sat, 21 Nov 2026 06:30:00 +0000", message["date"])
    check(message["to"] == "Robin Reader <robin@reader.example>", message["to"])
    check(re.fullmatch(r"<digest\.[a-z2-7]+@papers\.example\.org>",
                       message["message-id"]), message["message-id"])
    check(message["list-id"] == "paperboy <digest.papers.example.org>", message["list-id"])
    check(text == (directory / "digest.txt").read_text(), "the text is not what was meant")
    check(page == (directory / "digest.html").read_text(), "the page is not what was meant")
    check(text.startswith("11 new papers · "), "the first line")
    check("And 3 more papers" in text and "And 3 more papers" in page, "the count")
    check(all("Ada Example +17" in " ".join(part.split()) for part in (text, page)), "the authors")
    for line in text.split("\n"):
        check(len(line) <= 72 or " " not in line.strip() or "://" in line or "_in_file_names" in line, line)


def hostile_is_sanitized(directory):
    message, text, page = check_digest((directory / "hostile.eml").read_bytes())
    check(len(message["to"].addresses) == 1, message["to"])
    check(message["to"].addresses[0].addr_spec == "robin@reader.example", message["to"])
    shown = " ".join("".join(Page(page).text).split())
    for part in (shown, text):
        for piece in ("</a><img src=x onerror=alert(1)>", "\"onmouseover=\"alert(1)",
                      "{{7*7}} {{{papers}}} {{#full}}", "line Bcc: victim@example.net body",
                      "&lt;b&gt; &amp;amp;"):
            check(piece in part, f"lost: {piece}")
        check("49" not in part, "a template ran")


def large_fits(directory):
    _, text, page = check_digest((directory / "large.eml").read_bytes())
    check(text.startswith("500 new papers · "), text[:60])
    rest = int(re.search(r"And (\d+) more papers", text).group(1))
    check(rest == 500 - len(re.findall(r"^ *\d+\. ", text, re.M)), f"rest {rest}")
    check(rest == 500 - len(re.findall(r'href="https://papers\.', page)), f"rest {rest}")
    check("More by title" in text and '<h2 class="group">More by title' in page, "no titles")


def subjects_come_back(directory):
    for path in sorted(directory.glob("*.subject")):
        raw = path.with_suffix(".eml").read_bytes()
        check_once(check_bytes(raw))
        message = parse(raw)
        wanted = path.read_text().strip()
        check(message["subject"] == wanted, f"{path.name}: {message['subject']!r}")
        check(message["from"].addresses[0].display_name == 'Zoë "the" Sender, Dr.', "from")
        check(message["from"].addresses[0].addr_spec == "sender@xn--bcher-kva.example", "from")
        check(message["to"].addresses[0].display_name == "王小明", "to")
        check(message["date"] == "Sat, 21 Nov 2026 06:30:00 +0000", message["date"])
        check(message.get_content() == "text\r\n", "text")


def locale_changes_nothing(directory):
    with tempfile.TemporaryDirectory() as other:
        env = dict(os.environ, LC_ALL="de_DE.UTF-8", LANG="de_DE.UTF-8", TZ="Pacific/Apia")
        subprocess.run([HELPER, other], check=True, env=env)
        for path in sorted(directory.iterdir()):
            check(path.read_bytes() == (pathlib.Path(other) / path.name).read_bytes(), path.name)


HELPER = os.path.join(top_builddir(), "tests", "helper_messages")


with Tap() as tap:
    directory = pathlib.Path(tap.directory)
    subprocess.run([HELPER, directory], check=True)
    for test in (digest_is_whole, hostile_is_sanitized, large_fits, subjects_come_back,
                 locale_changes_nothing):
        tap.run(test, directory)
