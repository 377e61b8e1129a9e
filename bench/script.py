#!/usr/bin/env python3
"""script.py - what one would write instead: script.py PAPERS.json PEOPLE.tsv PORT"""

import csv
import itertools
import json
import re
import smtplib
import sys
from email.message import EmailMessage

TERM = re.compile(r'(?:^|\s)(?:title:)?(?:"([^"]+)"|(\w+))(\*?)')
END = {"": r"\b", "*": ""}
TEXT = "{title}\nhttps://huggingface.co/papers/{id}\n\n{summary}\n\n"
HTML = "<h2><a href='https://huggingface.co/papers/{id}'>{title}</a></h2><p>{summary}</p>\n"


def pattern(text):
    """Alternatives of terms in any order; a negated term is ignored."""
    return "|".join("".join(rf"(?=.*\b{phrase or word}{END[star]})"
                            for phrase, word, star in TERM.findall(part))
                    for part in text.split(" OR "))


papers = [element["paper"] for element in json.load(open(sys.argv[1], encoding="utf-8"))]
rows = csv.reader(open(sys.argv[2], encoding="utf-8"), delimiter="\t", quoting=csv.QUOTE_NONE)
smtp = smtplib.SMTP("127.0.0.1", int(sys.argv[3]))
for address, filters in itertools.groupby(rows, lambda row: row[0]):
    wanted = re.compile("|".join(pattern(row[3]) for row in filters), re.I | re.S)
    found = [p for p in papers if wanted.match(p["title"] + "\n" + p["summary"])]
    if found:
        message = EmailMessage()
        message["From"], message["To"] = "paperboy@news.example", address
        message["Subject"] = f"{len(found)} papers: {' '.join(found[0]['title'].split())}"
        message.set_content("".join(TEXT.format(**paper) for paper in found[:10]))
        message.add_alternative("".join(HTML.format(**paper) for paper in found[:10]), "html")
        smtp.send_message(message)
