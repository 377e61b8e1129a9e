#!/usr/bin/env python3
"""site.py - the project's site: README.md, doc/, the manuals and a sample digest as pages.

    site.py DIRECTORY

Run by `make site`; needs cmark-gfm and mandoc.  The pages are static and have no scripts.
"""

import glob
import html
import os
import re
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "tests", "lib")]

from screenshots import NOW, read_samples
from tap import run, top_builddir, top_srcdir

TEXTS = ("COPYING", "HACKING", "NEWS")
PICTURES = ("doc/architecture.svg", "doc/digest.png", "doc/try-it.png")
MENU = (("index.html", "paperboy"), ("install.html", "Install"),
        ("paperboy.7.html", "Manuals"), ("sample.html", "A sample digest"),
        ("NEWS.html", "News"))

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ background: #fff; color: #222; }}
body {{ max-width: 50rem; margin: 0 auto; padding: 1rem; font: 1rem/1.5 sans-serif;
  overflow-wrap: break-word; }}
nav a {{ margin-right: 1rem; }}
a {{ color: #0645ad; }}
@media (prefers-color-scheme: dark) {{
  body {{ background: #111; color: #ddd; }}
  a {{ color: #8ab4f8; }}
}}
pre, table {{ overflow-x: auto; display: block; }}
pre, code {{ font-size: .9rem; }}
td, th {{ border: 1px solid #888; padding: .25rem .5rem; text-align: left; }}
table {{ border-collapse: collapse; }}
h1.Sh {{ font-size: 1.4rem; }}
a.permalink {{ color: inherit; text-decoration: none; }}
img {{ max-width: 100%; height: auto; }}
</style>
</head>
<body>
<nav aria-label="Site">{menu}</nav>
<main>
{body}
</main>
</body>
</html>
"""


def write_page(directory, name, title, body):
    menu = " ".join(f'<a href="{to}">{label}</a>' for to, label in MENU)
    with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
        file.write(PAGE.format(title=html.escape(title), menu=menu, body=body))


def page_of(path):
    """The page of a file of the tree."""
    name = os.path.basename(path)
    return "index.html" if name == "README.md" else name.removesuffix(".md") + ".html"


def redirect(link):
    """A link of a Markdown file, to the page or picture on the site."""
    path, mark, fragment = link.partition("#")
    if "://" in link or not path:
        return link
    if path.endswith((".png", ".svg")):
        return os.path.basename(path)
    return page_of(path) + mark + fragment


def write_markdown(directory, path):
    with open(os.path.join(top_srcdir(), path), encoding="utf-8") as file:
        text = file.read()
    body = run(["cmark-gfm", "-e", "table", os.path.join(top_srcdir(), path)])
    body = re.sub(r'(href|src)="([^"]*)"',
                  lambda found: f'{found[1]}="{redirect(found[2])}"', body)
    body = body.replace("<th></th>", "<td></td>")
    # A scrolling block can be reached with the keyboard.
    body = re.sub(r"<(pre|table)>", r'<\1 tabindex="0">', body)
    body = re.sub(r"\b(paperboy[\w.-]*)\(([578])\)", r'<a href="\1.\2.html">\1(\2)</a>', body)
    title = re.search(r"^# (.*)", text, re.M)[1]
    write_page(directory, page_of(path), title, body)


def write_manual(directory, path):
    name = os.path.basename(path)
    body = run(["mandoc", "-T", "html", "-O", "fragment,man=%N.%S.html", path])
    # Other systems have the manuals of other programs.
    body = re.sub(r'<a class="Xr" href="(?!paperboy)[^"]*">(.*?)</a>', r"\1", body)
    body = re.sub(r'<table class="(head|foot)">.*?</table>', "", body, flags=re.S)
    body = body.replace("<pre>", '<pre tabindex="0">')
    write_page(directory, name + ".html", name, f"<h1>{name}</h1>\n{body}")


def write_sample(directory):
    with tempfile.TemporaryDirectory() as place:
        instance = read_samples(place)
        body = instance.ctl("digest", "show", "last", "--html", now=NOW)
    with open(os.path.join(directory, "sample.html"), "w", encoding="utf-8") as file:
        file.write(body)


def write_site(directory):
    os.makedirs(directory, exist_ok=True)
    sources = glob.glob(os.path.join(top_srcdir(), "*.md"))
    sources += glob.glob(os.path.join(top_srcdir(), "doc", "*.md"))
    for path in sources:
        write_markdown(directory, os.path.relpath(path, top_srcdir()))
    for name in TEXTS:
        with open(os.path.join(top_srcdir(), name), encoding="utf-8") as file:
            write_page(directory, page_of(name), name,
                       f'<h1>{name}</h1>\n<pre tabindex="0">{html.escape(file.read())}</pre>')
    for path in glob.glob(os.path.join(top_builddir(), "man", "paperboy*.[578]")):
        write_manual(directory, path)
    for path in PICTURES:
        shutil.copy(os.path.join(top_srcdir(), path), directory)
    write_sample(directory)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: site.py DIRECTORY")
    write_site(sys.argv[1])
