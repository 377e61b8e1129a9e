"""oracle_paper.py - a paper prepared for the oracle: texts with their words.

A paper is a dict: id, title, abstract, authors, upvotes, comments, stars, code_url,
project_url, video_url, organization, keywords, categories, comment, journal, journal_names, doi, pmid,
pmcid, mesh, and listings, a list of (source, day, type), followed by "late" when it became
known on a later day than the paper.  Missing or None is "not reported".  looked_up is the
sum of the services that have answered; if it is missing, all have if there are categories.
"""

import collections
import re

from normalize import normalize
from words import is_unspaced, plural_class, spans

# Fields that are final: missing values are false.  Fields that are looked up are final
# after two hours, all after 14 days.
NOTHING_SETTLED, ENRICHED, FINALLY = range(3)

# Services at which papers are looked up, and the fields that each can tell.
ARXIV, EUROPEPMC, CROSSREF = 1, 2, 4
TOLD_BY = {
    "cat": ARXIV, "primary": ARXIV, "comment": ARXIV, "doi": ARXIV | EUROPEPMC,
    "journal": ARXIV | EUROPEPMC | CROSSREF, "mesh": EUROPEPMC, "pmid": EUROPEPMC,
}
ARXIV_ID = re.compile(r"\d{4}\.\d{4,5}|[a-z-]+(\.[A-Z]{2})?/\d{7}")

# When a missing field is final.  Other fields are always known: title, abstract,
# author, first, authors, id, source, type, date.
SETTLED = {
    "cat": ENRICHED, "primary": ENRICHED, "comment": ENRICHED, "journal": ENRICHED,
    "doi": ENRICHED, "mesh": ENRICHED, "pmid": ENRICHED,
    "upvotes": FINALLY, "comments": FINALLY, "stars": FINALLY, "has": FINALLY,
    "org": FINALLY, "kw": FINALLY,
}

# Modes: as reported, or "may it change?", where numbers that change count as missing
# until they are final.
AS_REPORTED, MAY_CHANGE = False, True


def not_known(paper, field, settled):
    """Verdict of a clause on a missing field: unknown, later false; false at once if
    nobody can be asked.
    """
    if field in TOLD_BY and not TOLD_BY[field] & paper.awaited:
        return False
    return None if settled < SETTLED[field] else False


def awaited(paper):
    """The services that know an identity of the paper and have not answered."""
    doi = paper.get("doi")
    services = 0
    if ARXIV_ID.fullmatch(paper.get("id") or ""):
        services |= ARXIV
    if doi and not doi.lower().startswith("10.48550/arxiv."):
        services |= EUROPEPMC | CROSSREF
    if paper.get("pmid") or paper.get("pmcid"):
        services |= EUROPEPMC
    every = ARXIV | EUROPEPMC | CROSSREF
    return services & ~paper.get("looked_up", every if paper.get("categories") is not None
                                 else 0)


class Text:
    """One text: raw, its words, their plural classes."""

    def __init__(self, raw, fold):
        self.raw = normalize(raw)
        self.fold = fold
        self.spans = spans(self.raw)
        self.plain = [token for token, _, _ in self.spans]
        # The last character of a run is at the place of its last pair, too.
        self.lasts = [token[-1] if is_unspaced(token[0])
                      and not is_unspaced(self.raw[end:][:1] or " ") else None
                      for token, _, end in self.spans]
        self.folded = [fold(token) for token in self.plain]
        self.places = collections.defaultdict(list)
        for at, word in enumerate(self.folded):
            self.places[word].append(at)


class Paper:
    """A paper prepared once, for many filters.

    today: YYYY-MM-DD, UTC, when it was first seen: origin of relative dates.
    """

    def __init__(self, paper, fold=plural_class, today="2026-08-21"):
        self.today = today
        self.id = paper.get("id")
        self.awaited = awaited(paper)
        self.pubmed = [value for value in (paper.get("pmid"), paper.get("pmcid")) if value]
        self.authors = [normalize(name) for name in paper.get("authors") or ()]
        self.categories = paper.get("categories")
        self.doi = paper.get("doi")
        self.numbers = {"authors": len(self.authors)}
        for name in ("upvotes", "comments", "stars"):
            self.numbers[name] = paper.get(name)
        self.links = {
            kind for kind in ("code", "project", "video") if paper.get(f"{kind}_url")
        }
        self.listings = [tuple(row) for row in paper.get("listings") or ()]

        def texts(values):
            return None if values is None else [Text(v, fold) for v in values if v]

        def one(value):
            return None if value is None else [value]

        # Each field of words is a list of texts, or None: missing.  A clause is true
        # when it is true within one of them.
        self.texts = {
            "title": texts([paper.get("title")]),
            "abstract": texts([paper.get("abstract")]),
            "org": texts(one(paper.get("organization"))),
            "kw": texts(paper.get("keywords")),
            "comment": texts(one(paper.get("comment"))),
            "journal": texts(paper.get("journal") and [
                paper["journal"], *(paper.get("journal_names") or ())]),
            "mesh": texts(paper.get("mesh") or None),
        }
        self.texts["text"] = self.texts["title"] + self.texts["abstract"]
