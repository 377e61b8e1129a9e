"""digest_views.py - views of what digests contain, for the SQL of tests.

See tests/lib/digest_views.h.  unpack() implements the format that
src/model/digest_contents.h describes a second time.
"""

import json

VERSION = 1
BYTE_BITS = 7

VIEWS = (
    """CREATE TEMP VIEW digest_item AS SELECT g.id AS digest_id, j.key + 1 AS position,
    coalesce((SELECT new_seq FROM paper_moved WHERE old_seq = j.value ->> 'seq'),
        j.value ->> 'seq') AS paper_seq, j.value ->> 'day' AS day,
    j.value ->> 'upvotes' AS upvotes, j.value ->> 'upvotes_before' AS upvotes_before,
    j.value ->> 'stars' AS stars, j.value ->> 'venue' AS venue,
    j.value ->> 'shown' AS shown, j.value ->> 'reasons' AS reasons,
    j.value ->> 'replacement' AS replacement
    FROM main.digest g, json_each(digest_json(g.contents) -> 'papers') j""",
    """CREATE TEMP VIEW digest_head AS SELECT id,
    digest_json(contents) ->> 'coverage' AS coverage,
    digest_json(contents) ->> 'notices' AS notices,
    digest_json(contents) ->> 'filters' AS filters FROM main.digest""",
    """CREATE TEMP VIEW delivered_paper AS SELECT d.subscriber_id,
    coalesce((SELECT new_seq FROM paper_moved WHERE old_seq = j.value ->> 0),
        j.value ->> 0) AS paper_seq, j.value ->> 1 AS replacement, d.digest_id, d.at
    FROM main.delivered d, json_each(delivered_json(d.papers)) j""",
)


class Unpacker:
    """Reads numbers and texts."""

    def __init__(self, value):
        self.value = value
        self.at = 0

    def number(self):
        number = shift = 0
        while True:
            byte = self.value[self.at]
            self.at += 1
            number |= (byte & (1 << BYTE_BITS) - 1) << shift
            shift += BYTE_BITS
            if byte < 1 << BYTE_BITS:
                return number

    def optional_number(self):
        number = self.number()
        return number - 1 if number else None

    def text(self):
        end = self.value.index(b"\0", self.at)
        text = self.value[self.at:end].decode()
        self.at = end + 1
        return text

    def optional_text(self):
        return self.text() if self.number() else None


def format_day(number):
    digits = f"{number:08}"
    return f"{digits[:4]}-{digits[4:6]}-{digits[6:]}"


def unpack_papers(source):
    """@return pairs of a paper and its version"""
    assert source.number() == VERSION
    return [(source.number(), source.number()) for _ in range(source.number())]


def unpack(value):
    """@return the contents as a dictionary"""
    source = Unpacker(value)
    heads = unpack_papers(source)
    style = [source.number() for _ in ("abstract", "format", "attach", "grouping")]
    language, coverage, notices = source.text(), source.text(), source.text()
    filters = [(source.number(), source.number(), source.text(), source.text())
               for _ in range(source.number())]
    newest_day = source.number()
    papers = []
    for seq, replacement in heads:
        paper = {"seq": seq, "replacement": replacement,
                 "day": format_day(newest_day - source.number())}
        for name in ("upvotes", "upvotes_before", "stars"):
            paper[name] = source.optional_number()
        paper["venue"] = source.optional_text()
        paper["shown"] = source.number()
        reasons = [(source.number(), source.text()) for _ in range(source.number())]
        paper["reasons"] = "\n".join(f"{filters[at][2]}\t{hits}" for at, hits in reasons)
        if style[2]:
            paper["reference"] = (
                source.optional_text(), source.optional_text(), source.optional_number(),
                source.optional_text(), source.optional_text())
        papers.append(paper)
    assert source.at == len(value), "bytes after the end"
    return {"style": style, "language": language, "coverage": coverage,
            "notices": notices, "papers": papers,
            "filters": "\n".join("\t".join(map(str, cells)) for cells in filters)}


def create(db):
    """Create the views as temporary ones of a connection.  @return it"""
    db.create_function("digest_json", 1, lambda value: json.dumps(unpack(value)))
    db.create_function("delivered_json", 1,
                       lambda value: json.dumps(unpack_papers(Unpacker(value))))
    for view in VIEWS:
        db.execute(view)
    return db
