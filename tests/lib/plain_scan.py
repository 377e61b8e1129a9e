#!/usr/bin/env python3
"""plain_scan.py - one filter by regular expressions alone, as a third opinion.

The filter is  "high performance computing" OR HPC OR GPU*  over title and
abstract.  No parser, no tokenizer, only the reader of JSON files is shared with the oracle.
"""

import re
import sys

from papers import load_papers

FILTER = '"high performance computing" OR HPC OR GPU*'

# [^\W_] is a letter or digit; a word must not touch one on either side.
WORDS = re.compile(
    r"(?<![^\W_])"
    r"(?:high[\W_]+performance[\W_]+computings?(?![^\W_])"
    r"|hpcs?(?![^\W_])"
    r"|gpu)",
    re.IGNORECASE,
)


def plain_scan(papers):
    """Ids of the papers that FILTER finds, in the order given."""
    return [
        paper["id"]
        for paper in papers
        if WORDS.search(paper["title"]) or WORDS.search(paper["abstract"] or "")
    ]


def main(argv):
    if len(argv) < 2:
        sys.stderr.write("usage: plain_scan.py FILE.json...\n")
        return 2
    for path in argv[1:]:
        for name in plain_scan(load_papers(path)):
            print(name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
