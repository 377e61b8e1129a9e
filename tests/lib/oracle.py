#!/usr/bin/env python3
"""oracle.py - the filter language again: slow, small and obviously right.

Written from the description of the language alone, to be compared with the
program's own parser and matcher.  Papers are made ready by oracle_paper.py, clauses
are decided by oracle_tree.py, filters read by oracle_parse.py; this is the door.

Where the description leaves room, it is read so:
- the innermost field counts: title:(a abs:b) is title:a abs:b;
- one negation an operand: "NOT -a" and "--a" are refused, "-(-a)" is a;
- a word without any letter or digit is refused, one behind + or #, and one behind
  < or >, since that looks like a comparison without its field;
- the signs + and # behind a word and the dots between two must stand in the text
  as they were typed: c++ finds C++ and C++11, not C+; other signs only part words,
  and letters fold as ever;
- =RAG is one word whose letters are these; signs behind it count as with others;
- a star stands behind the last word of its term and nowhere else;
- the words of a phrase are folded like single words, the prefix is not;
- one term is one word, phrase, name or comparison; depth counts parentheses;
- a name of several words is "Given Last" or "Last, Given".  Its given names stand in
  that order among those of the author, equal or one the initial of the other; the
  first stands first, unless it is a particle ("van den Oord"), others may be missing;
- a name of one word is any whole word of a name, "LeCun," a last name; "Ben-David"
  is one word and not found by "David"; Jr. and the like behind a name do not count;
- a given name with a hyphen or an apostrophe is found by each of its parts, too: Song
  is in Gui-Song; its initial is that of its first part;
- a typographic mark that stands where only a word can begin and one that can close it
  are straight ones; where one may do either, or may be an apostrophe, it is refused;
- the number of a comparison has one to nine digits; upvotes:20 is equality;
- a range that holds nothing (20..10, 2026..2025, 3d..7d) is refused, where that is
  certain whatever day it is;
- NEAR( is one sign: "a NEAR(b c)" is a word and a group, and a weight stands directly
  behind its operand;
- beside NEAR and in NEAR() stand words: no groups, no words with a field of their own,
  no bare categories; all distances of a chain are equal, 10 where none is told;
- quotes around the value of cat, source, has, type, doi, id or date do nothing;
- a relative date is measured from the day on which the paper was first seen; listings
  of that day or before that became known on a later one do not count for it;
- FTS5 lets operands of NEAR share words: NEAR(a a) is a.
"""

import argparse
import sys

from normalize import normalize
from oracle_paper import (  # for whoever imports the oracle
    AS_REPORTED, ENRICHED, FINALLY, MAY_CHANGE, NOTHING_SETTLED, Paper,
)
from oracle_parse import MAX_BYTES, FilterError, parse
from papers import load_papers
from words import plural_class

__all__ = """AS_TOLD ENRICHED FINALLY MAX_BYTES MAY_CHANGE NOTHING_SETTLED FilterError
    Paper match match_all parse""".split()


def match(source, paper, fold=plural_class, settled=NOTHING_SETTLED):
    """The truth of one filter about one paper: True, False, None (unknown)."""
    if not isinstance(paper, Paper):
        paper = Paper(paper, fold)
    return parse(source).truth(paper, settled)


def match_all(filters, papers, truth=True, fold=plural_class):
    """For each filter, in order, the ids of the papers with that truth."""
    ready = [Paper(paper, fold) for paper in papers]
    trees = {source: parse(source) for source in dict.fromkeys(filters)}
    found = {
        source: [paper.id for paper in ready if tree.truth(paper) is truth]
        for source, tree in trees.items()
    }
    return [found[source] for source in filters]


def main(argv):
    parser = argparse.ArgumentParser(description="List the papers that a filter finds.")
    flag = {"action": "store_true"}
    parser.add_argument("--waiting", help="list the unknown instead", **flag)
    parser.add_argument("--titles", help="print the titles too", **flag)
    parser.add_argument("filter", metavar="FILTER")
    parser.add_argument("files", metavar="FILE.json", nargs="+")
    options = parser.parse_args(argv[1:])
    papers = [paper for path in options.files for paper in load_papers(path)]
    titles = {paper["id"]: normalize(paper["title"]) for paper in papers}
    wanted = None if options.waiting else True
    try:
        found = match_all([options.filter], papers, wanted)[0]
    except FilterError as error:
        sys.stderr.write(f"oracle.py: {error}\n")
        return 2
    for name in dict.fromkeys(found):
        print(f"{name}\t{titles[name]}" if options.titles else name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
