#!/usr/bin/env python3
"""oracle.py - reference implementation of the filter language: slow, small,
independent.

Written from the description of the language alone, to be compared with the program's
parser and matcher.  oracle_paper.py prepares papers, oracle_tree.py evaluates clauses,
oracle_parse.py parses filters; this is the entry point.

Where the description leaves room, it is read so:
- the innermost field counts: title:(a abs:b) is title:a abs:b;
- one negation per operand: "NOT -a" and "--a" are rejected, "-(-a)" is a;
- a word without a letter or digit is rejected, also one after + or #, and one after
  < or >, since that looks like a comparison without its field;
- the signs + and # after a word and the dots between two must be in the text as
  typed: c++ matches C++ and C++11, not C+; other signs only separate words, and
  letters are folded as always;
- =RAG is one word, exactly as typed; signs after it count as for other words;
- a star is after the last word of its term and nowhere else;
- words of a phrase are folded like single words, a prefix is not;
- in scripts without spaces words are the pairs of a run; in a text the last character of
  a run is a word, too, at the place of its last pair, with which a filter may begin; =
  and a star change nothing;
- a term is one word, phrase, name or comparison; depth counts parentheses;
- a name of several words is "Given Last" or "Last, Given".  Its given names are in
  that order among those of the author, equal or one the initial of the other; the
  first comes first, unless it is a particle ("van den Oord"), others may be missing;
- a name of one word is any whole word of a name, "LeCun," a last name; "Ben-David"
  is one word and not matched by "David"; Jr. and the like after a name do not count;
- a given name with a hyphen or an apostrophe is matched by each of its parts, too:
  Song is in Gui-Song; its initial is that of its first part;
- in names a run of a script without spaces is one word, and ・ separates words;
- a typographic mark where only a word can begin, and one that can close it, count as
  straight ones; a mark that may do either, or may be an apostrophe, is rejected;
- the number of a comparison has one to nine digits; upvotes:20 is equality;
- a range that is empty on every day (20..10, 2026..2025, 3d..7d) is rejected;
- NEAR( is one sign: "a NEAR(b c)" is a word and a group, and a boost follows its
  operand immediately;
- operands of NEAR and NEAR() are words: no groups, no words with a field of their own,
  no bare categories; all distances of a chain are equal, 10 by default;
- quotes around the value of cat, source, has, type, doi, id or date have no effect;
- a relative date counts from the day on which the paper was first seen; listings of
  that day or before that became known on a later one do not count for it;
- FTS5 lets operands of NEAR share words: NEAR(a a) is a.
"""

import argparse
import sys

from normalize import normalize
from oracle_paper import (  # re-exported
    AS_REPORTED, ENRICHED, FINALLY, MAY_CHANGE, NOTHING_SETTLED, Paper,
)
from oracle_parse import MAX_BYTES, FilterError, parse
from papers import load_papers
from words import plural_class

__all__ = """AS_TOLD ENRICHED FINALLY MAX_BYTES MAY_CHANGE NOTHING_SETTLED FilterError
    Paper match match_all parse""".split()


def match(source, paper, fold=plural_class, settled=NOTHING_SETTLED):
    """Verdict of one filter on one paper: True, False, None (unknown)."""
    if not isinstance(paper, Paper):
        paper = Paper(paper, fold)
    return parse(source).truth(paper, settled)


def match_all(filters, papers, truth=True, fold=plural_class):
    """For each filter, in order, the ids of the papers with that verdict."""
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
