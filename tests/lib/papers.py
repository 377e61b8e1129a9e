"""papers.py - read papers from JSON files.

Three formats: Hugging Face's daily list (an array of {"paper": ...}), an array of
{"title", "summary"}, and our own {"id", "title", "abstract", "authors", "upvotes"}.
A value that is absent is None: unknown, not empty.  Keys as in oracle_paper.py.
"""

import json
import os


def paper_from_element(element, fallback_id):
    """One element of an array, with the keys of oracle_paper.py."""
    inner = element.get("paper", element)

    def first(*keys):
        for source in (inner, element):
            for key in keys:
                if source.get(key) is not None:
                    return source[key]
        return None

    authors = inner.get("authors")
    if authors is not None:
        authors = [
            a if isinstance(a, str) else a.get("name", "")
            for a in authors
            if isinstance(a, str) or not a.get("hidden")
        ]
    return {
        "id": first("id") or fallback_id,
        "title": first("title") or "",
        "abstract": first("abstract", "summary"),
        "authors": authors,
        "upvotes": first("upvotes"),
        "comments": first("numComments"),
        "stars": first("githubStars"),
        "code_url": first("githubRepo"),
        "project_url": first("projectPage"),
        "organization": (first("organization") or {}).get("fullname"),
        "keywords": first("ai_keywords"),
    }


def load_papers(path):
    """All papers of a file, in its order; a missing id becomes "NAME#N"."""
    with open(path, encoding="utf-8") as file:
        elements = json.load(file)
    if isinstance(elements, dict):
        elements = elements.get("papers") or [elements]
    stem = os.path.basename(path).rsplit(".", 1)[0]
    return [
        paper_from_element(element, f"{stem}#{number}")
        for number, element in enumerate(elements, 1)
    ]
