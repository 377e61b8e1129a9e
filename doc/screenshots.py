#!/usr/bin/env python3
"""screenshots.py - the pictures of README.md, of the sample papers; run by `make screenshots`.

    screenshots.py DIRECTORY

Chromium shows a digest on a phone, and a filter on the page of paperboy-web.
"""

import os
import sys
import tempfile
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tests", "lib"))

from browser import Browser
from daemon import Instance
from tap import Child, free_port, top_builddir, top_srcdir, use_debian_python

WIDTH, HEIGHT = 390, 780  # of a phone, CSS pixels
NOW = "2026-11-20T18:00:00Z"  # the evening of the last sample day
READER = "ada@example.org"
FILTERS = {"diffusion": "diffusion", "ssm": '"state space" OR mamba',
           "agents": "agent* -survey"}
TRIED = '"language model*" -survey'


def read_samples(directory):
    """An instance with a digest of the sample papers."""
    instance = Instance(
        os.path.join(directory, "home"), maildir=os.path.join(directory, "Maildir"),
        papers=os.path.join(top_srcdir(), "samples"),
        commands__address="paperboy@news.example", web__url="http://127.0.0.1:8080",
        web__listen=f"127.0.0.1:{free_port()}",
        web__socket=os.path.join(directory, "page.socket"))
    instance.ctl("subscriber", "add", READER, "--consent", "sample", now=NOW)
    for name, query in FILTERS.items():
        instance.ctl("filter", "add", READER, query, "--name", name, now=NOW)
    instance.once(NOW, wanted=0)
    return instance


def show_digest(instance, chromium, path):
    page = os.path.join(instance.directory, "digest.html")
    with open(page, "w", encoding="utf-8") as file:
        file.write(instance.ctl("digest", "show", "last", "--html", now=NOW))
    chromium.open(f"file://{page}")
    chromium.driver.save_screenshot(path)


def show_page(instance, chromium, path):
    """The page "Try it", served as in daily use."""
    web = os.path.join(top_builddir(), "paperboy-web")
    with instance.start(NOW) as daemon:
        daemon.wait_line("paperboyd .* started")
        with Child([web, "-c", instance.config]) as page:
            page.wait_line("started")
            query = urllib.parse.urlencode({"filter": TRIED})
            chromium.open(f"http://{instance.settings['web.listen']}/?{query}")
            chromium.driver.save_screenshot(path)


def main(target):
    with tempfile.TemporaryDirectory() as directory:
        instance = read_samples(directory)
        with Browser(WIDTH, HEIGHT) as chromium:
            show_digest(instance, chromium, os.path.join(target, "digest.png"))
            show_page(instance, chromium, os.path.join(target, "try-it.png"))


if __name__ == "__main__":
    use_debian_python("selenium")
    main(*sys.argv[1:])
