#!/usr/bin/env python3
#
# paperserver.py - a fake paper server that can misbehave.
#
# Prints "port N" and then a line per request: "GET TARGET if-none-match=VALUE".  Ends at
# the end of its standard input, that is, with the test that started it.
#
#   paperserver.py [--dir DIRECTORY] [--mode DAY=MODE]... [--tls FILE]
#
# /api/daily_papers?date=DAY&limit=N&p=P responds as the real API, from
# DIRECTORY/daily_papers-DAY.json; a missing day is an empty list.  A mode changes that for
# one day (--mode, or GET /_mode/DAY/MODE while it runs), or for requests whose path starts
# with it: http://127.0.0.1:PORT/MODE is a base URL of its own.  --tls serves https with
# the certificate and key in FILE.

import argparse
import gzip
import hashlib
import http.server
import json
import os
import re
import ssl
import sys
import threading
from urllib.parse import parse_qs, urlsplit

OPTIONS = None
LOCK = threading.Lock()
NOW = "Wed, 18 Nov 2026 12:00:00 GMT"


def say(line):
    with LOCK:
        print(line, flush=True)


def element(number, upvotes=1):
    """A made-up paper with the mandatory fields."""
    return {
        "paper": {
            "id": "2611.%05d" % number,
            "authors": [{"_id": "a%d" % number, "name": "Ada Example", "hidden": False}],
            "publishedAt": "2026-11-17T00:00:00.000Z",
            "title": "Made-up paper number %d" % number,
            "summary": "It was made up.",
            "upvotes": upvotes,
        },
        "publishedAt": "2026-11-16T19:00:00.000Z",
        "title": "Made-up paper number %d" % number,
        "numComments": 0,
    }


FEED = """<?xml version='1.0' encoding='UTF-8'?>
<rss xmlns:arxiv="http://arxiv.org/schemas/atom"
 xmlns:dc="http://purl.org/dc/elements/1.1/" version="2.0"><channel><title>%s</title>
<lastBuildDate>Wed, 18 Nov 2026 05:00:05 +0000</lastBuildDate>
<pubDate>Wed, %d Nov 2026 00:00:00 -0500</pubDate>
<skipDays><day>Sunday</day><day>Saturday</day></skipDays>%s</channel></rss>
"""
LAUGHS = """<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY a "ha">%s]>
<rss><channel><title>&j;</title></channel></rss>
""" % "".join('<!ENTITY %s "%s">' % (b, ("&%s;" % a) * 10)
              for a, b in zip("abcdefghi", "bcdefghij"))


def feed_item(number, kind="new", version=1):
    return """<item><title>Made-up listing number %d of many</title>
<link>https://arxiv.org/abs/2611.%05d</link>
<description>arXiv:2611.%05dv%d Announce Type: %s \nAbstract: It was made up.</description>
<guid isPermaLink="false">oai:arXiv.org:2611.%05dv%d</guid><category>cs.CL</category>
<arxiv:announce_type>%s</arxiv:announce_type><dc:creator>Ada Example, Bo Li</dc:creator>
</item>""" % (number, number, number, version, kind, number, version, kind)


def preprint(number, versions):
    return {"doi": "10.64898/2026.11.%05d" % (number // versions + 1000),
            "version": str(number % versions + 1),
            "title": "Number %d" % number, "authors": "Example, A.; Li, B. C.",
            "date": "2026-11-18", "category": "cell biology"}


def load(day):
    path = os.path.join(OPTIONS.dir, "daily_papers-%s.json" % day)
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return []


class Handler(http.server.BaseHTTPRequestHandler):
    version = 1  # of arXiv's papers
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # it delays each body by 40 ms

    def log_message(self, *args):
        pass

    def date_time_string(self, timestamp=None):
        return NOW

    def reply(self, status, body=b"", headers=(), kind="application/json; charset=utf-8"):
        if not isinstance(body, bytes):
            body = json.dumps(body, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        if status != 304:
            self.wfile.write(body)

    def page(self, elements):
        limit = int(self.query.get("limit", ["50"])[0])
        page = int(self.query.get("p", ["0"])[0])
        if limit > 100:
            return self.mode_error()
        return self.reply(200, elements[page * limit:(page + 1) * limit])

    def redirect(self, location, status=302):
        self.reply(status, headers=[("Location", location)])

    # Each mode_NAME is a mode; "-" in a name is "_" here.

    def mode_ok(self):
        self.page(load(self.day))

    def mode_etag(self):
        body = json.dumps(load(self.day) or [element(1)]).encode()
        etag = 'W/"%s"' % hashlib.sha256(body).hexdigest()[:16]
        if self.headers.get("If-None-Match") == etag:
            return self.reply(304, headers=[("ETag", etag)])
        return self.reply(200, body, [("ETag", etag)])

    def mode_etag_raw(self):
        if self.headers.get("If-None-Match") == "0123abcd":
            return self.reply(304)
        return self.reply(200, [element(1)], [("ETag", "0123abcd")])

    def mode_etag_bad(self):
        self.reply(200, [element(1)], [("ETag", '"a\x01b"')])

    def mode_many(self):
        """230 papers; the first of each later page was the last of the one before."""
        page = int(self.query.get("p", ["0"])[0])
        first = page * 100 - page
        self.reply(200, [element(n) for n in range(first, min(first + 100, 230))],
                   [("ETag", 'W/"many"')])

    def mode_hundred(self):
        self.page([element(n) for n in range(100)])

    def mode_same(self):
        """Ignores p."""
        self.reply(200, [element(n) for n in range(100)])

    def mode_papers(self):
        """/papers-N: a day with N papers."""
        self.page([element(n) for n in range(self.count)])

    def mode_late_429(self):
        if self.query.get("p") == ["0"]:
            return self.mode_hundred()
        return self.mode_429_ratelimit()

    def mode_429(self):
        self.reply(429, b"<html>slow down</html>", kind="text/html")

    def mode_429_ratelimit(self):
        self.reply(429, {"error": "We had to rate limit you"},
                   [("RateLimit", '"api";r=0;t=291'),
                    ("RateLimit-Policy", '"fixed window";"api";q=500;w=300'),
                    ("Retry-After", "7")])

    def mode_429_retry(self):
        self.reply(429, {"error": "slow down"}, [("Retry-After", "120")])

    def mode_429_date(self):
        self.reply(429, {"error": "slow down"},
                   [("Retry-After", "Wed, 18 Nov 2093 12:01:30 GMT")])

    def mode_500(self):
        self.reply(500, {"error": "Internal Error"})

    def mode_503(self):
        self.reply(503, b"", [("Retry-After", "60")])

    def mode_403(self):
        self.reply(403, {"error": "You are\r\nblocked"})

    def mode_404(self):
        self.reply(404, {"error": "Sorry, we can't find the page"})

    def mode_204(self):
        self.reply(204)

    def mode_304(self):
        self.reply(304)

    def mode_error(self):
        self.reply(400, {"error": "✖ Too big: expected number to be <=100\n  → at limit"})

    def mode_error_200(self):
        self.reply(200, {"error": "something broke"})

    def mode_future(self):
        self.reply(400, {"error": "✖ Too big: expected date to be <="
                                  "2026-11-17T00:00:00.000Z\n  → at date"})

    def mode_future_200(self):
        self.reply(200, {"error": "✖ Invalid date\n  → at date"})

    def mode_empty(self):
        self.reply(200, [])

    def mode_object(self):
        self.reply(200, {"papers": []})

    def mode_cut(self):
        body = json.dumps([element(1), element(2)]).encode()
        self.reply(200, body[:len(body) // 2])

    def mode_cut_length(self):
        self.send_response(200)
        self.send_header("Content-Length", "5000")
        self.end_headers()
        self.wfile.write(b"[{")
        self.close_connection = True

    def mode_html(self):
        self.reply(200, b"<!doctype html><title>Sign in</title>", kind="text/html")

    def mode_close(self):
        self.close_connection = True

    def mode_garbage(self):
        self.wfile.write(b"220 mail.example.org ESMTP\r\n")
        self.close_connection = True

    def mode_redirect(self):
        """/redirect-N: N redirects, then the day."""
        self.redirect("/redirect-%d/api/daily_papers?%s" % (self.count - 1, self.query_text)
                      if self.count > 1 else "/api/daily_papers?%s" % self.query_text)

    def mode_redirect_loop(self):
        self.redirect(self.path)

    def mode_redirect_file(self):
        self.redirect("file:///etc/hostname")

    def mode_redirect_down(self):
        """From https, if --tls, to http."""
        self.redirect("http://localhost:%d/api/daily_papers" % self.server.server_port)

    def mode_redirect_user(self):
        self.redirect("http://user:pass@127.0.0.1:%d/" % self.server.server_port)

    def mode_redirect_port(self):
        self.redirect("http://127.0.0.1:1/")

    def mode_redirect_host(self):
        """To another private host."""
        self.mode_redirect_down()

    def mode_redirect_none(self):
        self.reply(302)

    def mode_drip(self):
        """One byte at a time, until the client disconnects."""
        self.send_response(200)
        self.end_headers()
        self.close_connection = True
        while not self.server.done.wait(0.05):
            self.wfile.write(b" ")
            self.wfile.flush()

    def mode_hang(self):
        self.close_connection = True
        self.server.done.wait()

    def mode_stall(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"[")
        self.wfile.flush()
        self.mode_hang()

    def mode_endless(self):
        self.send_response(200)
        self.end_headers()
        self.close_connection = True
        while not self.server.done.is_set():
            self.wfile.write(b" " * 65536)

    def mode_headers(self):
        self.send_response(200)
        self.flush_headers()
        self.close_connection = True
        while not self.server.done.is_set():
            self.wfile.write(b"X-Filler: " + b"x" * 4000 + b"\r\n")

    def mode_bomb(self):
        """64 MiB of blanks in 64 KiB."""
        body = gzip.compress(b"[" + b" " * (64 << 20) + b"]")
        self.reply(200, body, [("Content-Encoding", "gzip")])

    def mode_gzip(self):
        self.reply(200, gzip.compress(json.dumps([element(1)]).encode()),
                   [("Content-Encoding", "gzip")])

    def mode_gzip_bad(self):
        self.reply(200, b"this is not gzip", [("Content-Encoding", "gzip")])

    def mode_bytes(self):
        """/bytes-N: a body of N bytes."""
        self.reply(200, b"x" * self.count)

    def mode_bytes_chunked(self):
        """/bytes-chunked-N: without Content-Length."""
        self.send_response(200)
        self.close_connection = True
        self.end_headers()
        self.wfile.write(b"x" * self.count)

    # Feeds: /MODE/rss/CATEGORY is DIRECTORY/CATEGORY.xml, or a made-up feed.

    def feed(self, entries=(), status=200, headers=(), title="made-up updates", day=18):
        body = FEED % (title, day, "".join(entries))
        self.reply(status, body.encode(), headers, kind="application/rss+xml")

    def mode_feed(self):
        name = urlsplit(self.path).path.rsplit("/", 1)[-1]
        try:
            with open(os.path.join(OPTIONS.dir, name + ".xml"), "rb") as file:
                self.reply(200, file.read(), kind="application/rss+xml")
        except FileNotFoundError:
            self.mode_feed_unknown()

    def mode_feed_made(self):
        """/feed-made-N: papers 1 to N, as new ones."""
        self.feed(feed_item(n) for n in range(1, self.count + 1))

    def mode_feed_empty(self):
        self.feed()

    def mode_feed_unknown(self):
        self.feed(status=400, title="Feed error for query: cs.ZZ")

    def mode_feed_etag(self):
        """As arXiv does: 64 digits without quotes."""
        etag = "0123456789abcdef" * 4
        if self.headers.get("If-None-Match") == etag:
            return self.reply(304)
        return self.feed([feed_item(1)], headers=[("ETag", etag)])

    def mode_feed_api(self):
        """The API about an id_list: papers are of cs.CL if the id ends in 3, or cs.LG."""
        ids = [name for name in self.query.get("id_list", [""])[0].split(",") if name]
        entries = "".join(
            "<entry><id>http://arxiv.org/abs/%sv%d</id><title>Told</title>"
            "%s<arxiv:primary_category term='cs.%s'/>"
            "<arxiv:comment>Accepted at NeurIPS</arxiv:comment>"
            "<arxiv:doi>10.1000/%s</arxiv:doi></entry>"
            % (name, self.version, *(("", "CL") if name.endswith("3") else
                       ("<category term='stat.ML'/>", "LG")), name) for name in ids)
        self.reply(200, ("<feed xmlns='http://www.w3.org/2005/Atom'"
                         " xmlns:arxiv='http://arxiv.org/schemas/atom'>%s</feed>"
                         % entries).encode())

    def mode_feed_found(self):
        """/feed-found-N: a search of the API that finds N papers, in pages."""
        start = int(self.query["start"][0])
        end = min(self.count, start + int(self.query["max_results"][0]))
        entries = "".join(
            "<entry><id>http://arxiv.org/abs/2611.%05dv1</id><title>Found</title>"
            "<published>2026-11-14T00:00:00Z</published><category term='cs.LG'/>"
            "<category term='cs.CL'/><arxiv:primary_category term='%s'/></entry>"
            % (n, "cs.LG" if n % 2 else "cs.CL") for n in range(start, end))
        self.reply(200, ("<feed xmlns='http://www.w3.org/2005/Atom'"
                         " xmlns:s='http://a9.com/-/spec/opensearch/1.1/'"
                         " xmlns:arxiv='http://arxiv.org/schemas/atom'>"
                         "<s:totalResults>%d</s:totalResults>%s</feed>"
                         % (self.count, entries)).encode())

    def mode_feed_cut(self):
        self.reply(200, (FEED % ("x", 18, feed_item(1))).encode()[:-40])

    def mode_feed_laughs(self):
        self.reply(200, LAUGHS.encode())

    def mode_feed_limit(self):
        self.reply(429, b"Rate exceeded.", kind="text/plain")

    def mode_feed_deep(self):
        """/feed-deep-N: N nested elements, including the root."""
        inner = "<a>" * (self.count - 1) + "</a>" * (self.count - 1)
        self.reply(200, ("<rss>%s</rss>" % inner).encode())

    # Services with pages of JSON, tests/test_json_pages.c.

    def preprints(self, first, last, total, versions=1):
        """Records of a page; 30 in a page, and numbers as strings, as bioRxiv has them."""
        records = [preprint(n, versions) for n in range(first, min(first + 30, last))]
        if not records:
            return self.reply(200, {"messages": [{"status": "no posts found"}],
                                    "collection": []})
        return self.reply(200, {
            "messages": [{"status": "ok", "count": str(len(records)), "total": str(total)}],
            "collection": records})

    @property
    def cursor(self):
        return int(urlsplit(self.path).path.split("/")[-2])

    def mode_preprints(self):
        """/preprints-N: a day with N records."""
        self.preprints(self.cursor, self.count, self.count)

    def mode_preprints_versions(self):
        """/preprints-versions-N: N records, of two versions of each paper."""
        self.preprints(self.cursor, self.count, self.count, 2)

    def mode_preprints_overstated(self):
        """/preprints-overstated-N: the total is larger by 31."""
        self.preprints(self.cursor, self.count, self.count + 31)

    def mode_preprints_shift(self):
        """70 records; one more arrives at the head of the list after the first page."""
        has_grown = self.server.requests > 1
        self.preprints(self.cursor - has_grown, 70, 70 + has_grown)

    def mode_preprints_withdrawn(self):
        """70 records; the first one disappears after the first page."""
        is_gone = self.server.requests > 1
        self.preprints(self.cursor + is_gone, 70, 70 - is_gone)

    def mode_preprints_rush(self):
        """One more record arrives with each request."""
        self.preprints(self.cursor - self.server.requests, 70, 70 + self.server.requests)

    def mode_preprints_failed(self):
        self.reply(200, {"messages": [{"status": "error: no connection"}]})

    def mode_preprints_lost(self):
        self.reply(200, {"messages": [{"status": "ok", "total": 7}], "collection": []})

    def mode_articles(self):
        """/articles-N: Europe PMC; the last page repeats its mark."""
        size = int(self.query["pageSize"][0])
        mark = self.query["cursorMark"][0]
        at = 0 if mark == "*" else int(mark.strip("+/="))
        found = [{"source": "MED", "id": str(n), "title": "A title."}
                 for n in range(at, min(at + size, self.count))]
        self.reply(200, {"hitCount": self.count, "resultList": {"result": found},
                         "nextCursorMark": f"+/={at + size}" if found else mark})

    def mode_articles_lost(self):
        self.reply(200, {"hitCount": 7, "resultList": {"result": []}})

    def mode_articles_failed(self):
        self.reply(200, {"errCode": 503, "errMsg": "The service is <b>busy</b>"})

    def mode_articles_refused(self):
        self.reply(200, {"errCode": "404", "errMsg": "No such field"})

    def mode_works(self):
        """/works-N: Crossref; the cursor is always the same."""
        size = int(self.query["rows"][0])
        at = size * (self.server.requests - 1)
        found = [{"DOI": f"10.5555/{n}", "title": ["A title"]}
                 for n in range(at, min(at + size, self.count))]
        self.reply(200, {"message": {"items": found, "next-cursor": "a+b/c="}})

    # Lookups of papers by DOI; those that end in 0 are not known.

    def mode_find_articles(self):
        """Europe PMC about a query of DOIs and PMIDs."""
        names = [(doi or "10.5555/" + pmid,
                  pmid or "4" + re.sub(r"\D", "", doi.split("/")[1])[-8:])
                 for doi, pmid in re.findall(
                     r'DOI:"([^"]*)"|EXT_ID:(\d+)', self.query["query"][0])]
        found = [{
            "source": "MED", "id": pmid, "title": "A title.", "doi": doi,
            "pmid": pmid, "pmcid": f"PMC{pmid}",
            "abstractText": "<h4>Aim</h4>Told by <i>Europe PMC</i>.",
            "journalInfo": {"journal": {"title": "Made-Up Letters"}},
            "authorList": {"author": [{"fullName": "Example A"}, {"fullName": "Li BC"}]},
            "meshHeadingList": {"meshHeading": [{"descriptorName": "Alzheimer Disease"}]},
        } for doi, pmid in names if not doi.endswith("0")]
        self.reply(200, {"hitCount": len(found), "resultList": {"result": found},
                         "nextCursorMark": "x"})

    def mode_find_works(self):
        """Crossref about a filter of DOIs."""
        dois = [part.removeprefix("doi:") for part in self.query["filter"][0].split(",")]
        self.reply(200, {"message": {"items": [{
            "DOI": doi.upper(), "title": ["A title"], "container-title": ["Letters, Made Up"],
            "short-container-title": ["Lett. Made Up"],
            "abstract": "<jats:p>Told by Crossref.</jats:p>",
            "author": [{"given": "Ada", "family": "Example"},
                       {"given": "Bo C.", "family": "Li"}],
        } for doi in dois if not doi.endswith("0")]}})

    def mode_watched(self):
        """/watched-N: all services, which know of code from N = 1 on, of a version 2 from
        2 on, of a journal from 3 on, and then of a retraction."""
        path = urlsplit(self.path).path
        text = self.query.get("filter", self.query.get("query", [""]))[0]
        if "/api/papers/" in path:
            paper = element(int(path.rsplit(".")[-1]))["paper"]
            if self.count >= 1:
                paper["githubRepo"] = "https://github.com/made/up"
            return self.reply(200, paper)
        if path.endswith("/api/query"):
            self.query.setdefault("id_list", ["2611.00001,2611.00003"])
            self.version = 1 + (self.count >= 2)
            return self.mode_feed_api()
        if path.endswith("/works"):
            items = [{"DOI": "10.5555/1", "title": ["A title"]}]
            if self.count >= 3:
                items[0]["container-title"] = ["Letters, Made Up"]
            if "update-type:retraction" in text:
                items = [{"DOI": "10.5555/notice", "title": ["Notice"], "update-to": [
                    {"type": "retraction", "DOI": "10.5555/1"}]}] * (self.count >= 4)
            return self.reply(200, {"message": {"items": items}})
        items = [{"source": "MED", "id": "41", "title": "A title.", "doi": "10.5555/1",
                  "pmid": "41"}]
        if "Retraction of" in text:
            items = [{"source": "MED", "id": "99", "title": "Notice.",
                      "commentCorrectionList": {"commentCorrection": [
                          {"type": "Retraction of", "source": "MED", "id": "41"}]}}
                     ] * (self.count >= 5)
        return self.reply(200, {"resultList": {"result": items}})

    def mode_agent(self):
        self.reply(200, self.headers.get("User-Agent", "").encode())

    def do_POST(self):
        self.posted = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.do_GET()

    def mode_posted(self):
        kind = self.headers.get("Content-Type", "none")
        self.reply(200, kind.encode() + b" " + self.posted)

    def do_GET(self):
        parts = urlsplit(self.path)
        self.query_text = parts.query
        self.query = parse_qs(parts.query)
        self.day = self.query.get("date", [""])[0]
        steps = [step for step in parts.path.split("/") if step]
        self.server.requests += 1
        say("GET %s if-none-match=%s" % (self.path, self.headers.get("If-None-Match", "")))
        if steps[:1] == ["_mode"] and len(steps) == 3:
            OPTIONS.modes[steps[1]] = steps[2]
            return self.reply(200, {})
        name = OPTIONS.modes.get(self.day, "ok")
        if steps and steps[0] != "api":
            name = steps[0]
        return self.run(name)

    def run(self, name):
        """`redirect-3` is mode redirect with the count 3."""
        method = getattr(self, "mode_" + name.replace("-", "_"), None)
        counted = re.fullmatch(r"(.*)-(\d+)", name)
        if not method and counted:
            self.count = int(counted[2])
            method = getattr(self, "mode_" + counted[1].replace("-", "_"), None)
        try:
            return method() if method else self.mode_404()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
            return None


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request, client_address):
        pass


def main():
    global OPTIONS
    parser = argparse.ArgumentParser()
    parser.add_argument("--dir", default=".")
    parser.add_argument("--mode", action="append", default=[], metavar="DAY=MODE")
    parser.add_argument("--tls", metavar="FILE")
    OPTIONS = parser.parse_args()
    OPTIONS.modes = dict(mode.split("=", 1) for mode in OPTIONS.mode)
    server = Server(("127.0.0.1", 0), Handler)
    server.done = threading.Event()
    server.requests = 0
    if OPTIONS.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(OPTIONS.tls)
        server.socket = context.wrap_socket(server.socket, server_side=True,
                                            do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    say("port %d" % server.server_port)
    while sys.stdin.buffer.read(4096):
        pass
    # Do not wait for handlers that are still sending.
    os._exit(0)


if __name__ == "__main__":
    main()
