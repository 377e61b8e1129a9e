#!/usr/bin/env python3
"""test_site.py - the pages of `make site` are valid and accessible, and lead where they say."""

import os
import re
import sys

import lib  # the path
from browser import Browser, find_missing
from tap import Tap, need_programs, run, skip_all, top_srcdir, use_debian_python



def read_pages(directory):
    pages = {}
    for name in sorted(os.listdir(directory)):
        if name.endswith(".html"):
            with open(os.path.join(directory, name), encoding="utf-8") as file:
                pages[name] = file.read()
    return pages


def pages_are_valid(pages):
    """no page has an HTML error"""
    import html5lib

    for name, text in pages.items():
        parser = html5lib.HTMLParser()
        parser.parse(text)
        assert not parser.errors, (name, parser.errors)


def links_lead_somewhere(pages, directory):
    """links within the site, and to places in pages, are right"""
    for name, text in pages.items():
        for link in re.findall(r'(?:href|src)="([^"]*)"', text):
            path, _, place = link.partition("#")
            if re.match(r"\w+:", link):
                continue
            assert os.path.exists(os.path.join(directory, path or name)), (name, link)
            assert not place or f'id="{place}"' in pages[path or name], (name, link)


def pages_are_accessible(pages, directory):
    """axe-core finds nothing, light and dark"""
    for is_dark in (False, True):
        with Browser(is_dark=is_dark) as browser:
            for name in pages:
                browser.open(f"file://{directory}/{name}")
                found = browser.violations()
                assert not found, (name, found)


need_programs("cmark-gfm", "mandoc")
missing = use_debian_python("html5lib") or find_missing()
if missing:
    skip_all(missing)
with Tap() as tap:
    site = tap.subdirectory("site")
    run([sys.executable, "-B", os.path.join(top_srcdir(), "doc", "site.py"), site], 300)
    made = read_pages(site)
    tap.run(pages_are_valid, made)
    tap.run(links_lead_somewhere, made, site)
    tap.run(pages_are_accessible, made, site)
