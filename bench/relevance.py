#!/usr/bin/env python3
"""relevance.py - how well answers order papers, against plain centroids.

relevance.py [--acronyms] [--authors N] [--reviews N]: N authors with 12 to 60 papers (0: all), N
draws of each review.  Task A: an author likes their first k papers; candidates are
1,000 random later papers and their own later ones.  Task B: k included papers of a
systematic review are liked; candidates are all others.  The measure is nDCG@10, the
baselines are centroids of tf-idf vectors (1 + ln tf, title counted twice, cosine) of
words, and of words and pairs.  Five hidden papers are the best ones that are not
wanted; they are not candidates.

Acronyms, with --acronyms these only: pairs of a long and a short form that papers of an
archive define at least twice, found by a second implementation (A. Schwartz and M.
Hearst, 2003), if some paper has the short one only.  Is the short form among the terms
related to the long one (bench/related), and is it suggested (bench/suggest)?  So with
all definitions deleted.  The archives are two halves of the daily lists and three of
the reviews.

Prints means, the ratio to the better baseline and
its 95 % interval, by bootstrap over authors, or over draws of the reviews.

Reads ../shared/data; needs `make bench/rank bench/related bench/suggest`.
"""

import argparse
import collections
import csv
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import unicodedata

TOP = os.environ.get("top_builddir", "build")
DATA = os.path.join(os.environ.get("top_srcdir", "."), "..", "shared", "data")
WORD = re.compile(r"[^\W_]+")
STOP = frozenset("""a about after all also an and any are as at be been between both but
    by can do each for from has have how in into is it its more most no not of on one or
    other our over such than that the their then there these they this those through to
    under use used using via was we were what when where which while who with within
    without""".split())
# Short forms that are words of every text.
ACRONYM_WORDS = frozenset("all am an are as can do it its is may no or".split())
GAIN = [1 / math.log2(place + 2) for place in range(10)]


def ndcg(relevant, total):
    best = sum(GAIN[:min(10, total)])
    return sum(gain for gain, hit in zip(GAIN, relevant) if hit) / best


class Centroid:
    """Vectors of all papers; similar() scores papers against the mean of some."""

    def __init__(self, papers, has_pairs):
        found = {p["id"]: self.count(p, has_pairs) for p in papers}
        papers_with = collections.Counter(t for terms in found.values() for t in terms)
        self.vectors = {}
        for name, terms in found.items():
            weights = {t: (1 + math.log(n)) * math.log(len(papers) / papers_with[t])
                       for t, n in terms.items()}
            norm = math.sqrt(sum(w * w for w in weights.values())) or 1
            self.vectors[name] = {t: w / norm for t, w in weights.items()}

    @staticmethod
    def count(paper, has_pairs):
        terms = collections.Counter()
        for text, weight in ((paper["title"], 2), (paper["summary"], 1)):
            plain = unicodedata.normalize("NFKD", text.lower())
            plain = "".join(c for c in plain if not unicodedata.combining(c))
            before = None
            for word in WORD.findall(plain):
                if word in STOP:
                    before = None
                    continue
                terms[word] += weight
                if has_pairs and before:
                    terms[before + " " + word] += weight
                before = word
        return terms

    def rank(self, likes, candidates):
        mean = collections.Counter()
        for like in likes:
            mean.update(self.vectors[like])
        score = {c: sum(w * mean.get(t, 0) for t, w in self.vectors[c].items())
                 for c in candidates}
        return sorted(candidates, key=lambda c: -score[c])


class Programs:
    """bench/rank on one corpus."""

    def __init__(self, papers, directory):
        self.directory = directory
        with open(self.path("corpus"), "w", encoding="utf-8") as file:
            for paper in papers:
                file.write(json.dumps({**paper, "authors": []}) + "\n")

    def path(self, name):
        return os.path.join(self.directory, name)

    def rank(self, likes, candidates, hides=()):
        lists = [("likes", likes)] + [("hides", hides)] * bool(hides)
        lists.append(("candidates", candidates))
        for name, ids in lists:
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.writelines(i + "\n" for i in ids)
        run = subprocess.run([os.path.join(TOP, "bench/rank"), self.path("corpus")]
                             + [self.path(name) for name, _ in lists],
                             check=True, capture_output=True, text=True)
        return [line.split("\t")[0] for line in run.stdout.splitlines()]


def load_papers():
    with open(os.path.join(DATA, "corpus-before-2025-10.jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def load_review(path):
    """([paper], {wanted id})"""
    csv.field_size_limit(10 ** 8)
    papers, wanted = [], set()
    with open(path, encoding="utf-8-sig", newline="") as file:
        for number, row in enumerate(csv.DictReader(file)):
            papers.append({"id": f"r{number}", "title": row["title"] or "",
                           "summary": row["abstract"] or ""})
            if row["label_included"] == "1":
                wanted.add(f"r{number}")
    return papers, wanted


def load_reviews():
    """{name: ([paper], {wanted id})}"""
    directory = os.path.join(DATA, "reviews")
    return {name.removesuffix(".csv"): load_review(os.path.join(directory, name))
            for name in sorted(os.listdir(directory))}


def list_author_cases(papers, k, most):
    """[(likes, candidates, wanted)]"""
    papers = sorted(papers, key=lambda p: (p["date"], p["id"]))
    own = collections.defaultdict(list)
    for place, paper in enumerate(papers):
        for author in set(paper["authors"]):
            own[author].append(place)
    authors = sorted(a for a, places in own.items() if 12 <= len(places) <= 60)
    randoms = random.Random(20)
    cases = []
    for author in sorted(randoms.sample(authors, min(most or len(authors), len(authors)))):
        likes, wanted = own[author][:k], own[author][k:]
        later = [i for i in range(likes[-1] + 1, len(papers)) if i not in wanted]
        candidates = wanted + randoms.sample(later, min(1000, len(later)))
        randoms.shuffle(candidates)
        cases.append(([papers[i]["id"] for i in likes],
                      [papers[i]["id"] for i in candidates],
                      {papers[i]["id"] for i in wanted}))
    return cases


def list_review_cases(papers, wanted, k, draws):
    randoms = random.Random(20)
    for _ in range(draws):
        likes = randoms.sample(sorted(wanted), k)
        yield likes, [p["id"] for p in papers if p["id"] not in likes], wanted - set(likes)


def run_case(programs, centroids, case):
    """[rank, words, words and pairs, with hides, the same without] of one case"""
    likes, candidates, wanted = case
    ranked = programs.rank(likes, candidates)
    hides = [i for i in ranked if i not in wanted][:5]
    rest = [i for i in ranked if i not in hides]
    orders = [ranked] + [c.rank(likes, candidates) for c in centroids]
    orders += [programs.rank(likes, rest, hides), rest]
    return [ndcg([i in wanted for i in order[:10]], len(wanted)) for order in orders]


DEFINITION = re.compile(r"\(\s*([A-Za-z][A-Za-z0-9-]{1,9}?)s?\s*\)")


def find_long_form(short, text):
    """The words before a definition that contain the characters of a short form, in order."""
    place = len(text)
    for index in range(len(short) - 1, -1, -1):
        place -= 1
        while place >= 0 and (text[place].lower() != short[index].lower() or
                              index == 0 and text[place - 1:place].isalnum()):
            place -= 1
        if place < 0:
            return None
    words = text[place:].split()
    return " ".join(words) if 2 <= len(words) <= len(short) + 2 else None


def fold(text):
    return " ".join(word if len(word) < 4 else re.sub("(?<![siu])s$", "", word)
                    for word in WORD.findall(text.lower()))


def delete_definitions(paper):
    return {**paper, "summary": DEFINITION.sub(" ", paper["summary"]),
            "title": DEFINITION.sub(" ", paper["title"])}


class Texts:
    """Which papers have words."""

    def __init__(self, papers):
        self.texts = [f" {fold(p['title'])} . {fold(p['summary'])} " for p in papers]

    def find(self, words):
        return {i for i, text in enumerate(self.texts) if f" {fold(words)} " in text}


def list_pairs(papers):
    """{(long form, short form)}: defined at least twice, frequent without that"""
    pairs = collections.Counter()
    for paper in papers:
        for match in DEFINITION.finditer(paper["summary"]):
            before = re.split(r"[.,;:()]", paper["summary"][:match.start()])[-1].rstrip()
            if sum(c.isupper() for c in match[1]) >= 2:
                pairs[fold(find_long_form(match[1], before) or ""), match[1].lower()] += 1
    texts = Texts([delete_definitions(paper) for paper in papers])
    return {(long, short) for (long, short), times in pairs.items()
            if long and times >= 2 and short not in ACRONYM_WORDS and
            min(len(texts.find(long)), len(texts.find(short))) >= 5}


def count_places(lines, pairs):
    """{pair: place of the short form among the terms of the long one}"""
    found = collections.defaultdict(list)
    for line in lines:
        phrase, term = line.split("\t")[:2]
        if term:
            found[phrase].append(fold(term))
    return {(long, short): found[f'"{long}"'].index(fold(short)) for long, short in pairs
            if fold(short) in found[f'"{long}"']}


def show_acronyms(title, papers, pairs, directory):
    texts = Texts(papers)
    pairs = sorted(p for p in pairs if texts.find(p[1]) - texts.find(p[0]))
    corpus = Programs(papers, directory).path("corpus")
    store = os.path.join(directory, title.replace(" ", "-") + ".db")
    for name, arguments in (("related", [corpus]),
                            ("suggest", [store, "2026-11-01", corpus])):
        run = subprocess.run([os.path.join(TOP, "bench", name)] + arguments, text=True,
                             input="".join(f'"{long}"\n' for long, _ in pairs),
                             check=True, capture_output=True)
        places = count_places(run.stdout.splitlines(), pairs)
        print(f"{title:28} {name}  n={len(pairs):<3}", *(
            f"first {n}: {sum(p < n for p in places.values()) / len(pairs):.3f}"
            for n in (1, 3, 5)), flush=True)
        print("  not in the first five:", *(
            f"{long} ({short});" for long, short in pairs
            if places.get((long, short), 5) >= 5))


def show_all_acronyms(papers, directory):
    papers = sorted(papers, key=lambda p: (p["date"], p["id"]))
    reviews = {name: [{**p, "id": f"{name}-{p['id']}", "title": p["title"].strip() or "-"}
                      for p in found] for name, (found, _) in load_reviews().items()}
    archives = {"first half": papers[:len(papers) // 2],
                "second half": papers[len(papers) // 2:],
                "ADHD": reviews["ADHD"], "Kitchenham": reviews["Kitchenham_2010"],
                "drugs": reviews["OralHypoglycemics"] + reviews["Triptans"]}
    for name, archive in archives.items():
        pairs = list_pairs(archive)
        show_acronyms(f"{name}, defined", archive, pairs, directory)
        show_acronyms(f"{name}, deleted", [delete_definitions(p) for p in archive], pairs,
                      directory)


def mean(values):
    return sum(values) / len(values)


def show(title, rows):
    if not rows:
        return
    columns = list(zip(*rows))
    better = max(columns[1], columns[2], key=mean)
    randoms = random.Random(1)
    ratios = []
    for _ in range(1000):
        places = randoms.choices(range(len(rows)), k=len(rows))
        base = mean([better[i] for i in places])
        ratios.append(mean([columns[0][i] for i in places]) / base if base else 1)
    ratios.sort()
    print(f"{title:24} n={len(rows):<4} rank {mean(columns[0]):.3f}"
          f"  words {mean(columns[1]):.3f}  pairs {mean(columns[2]):.3f}"
          f"  ratio {mean(columns[0]) / (mean(better) or 1):.3f}"
          f" [{ratios[25]:.3f}, {ratios[974]:.3f}]"
          f"  hides {mean(columns[3]):.3f} against {mean(columns[4]):.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--acronyms", action="store_true")
    parser.add_argument("--authors", type=int, default=60)
    parser.add_argument("--reviews", type=int, default=10)
    options = parser.parse_args()
    if not os.path.isdir(DATA):
        print("SKIP: no ../shared/data")
        return 0
    with tempfile.TemporaryDirectory() as directory:
        papers = load_papers()
        show_all_acronyms(papers, directory)
        if options.acronyms:
            return 0
        programs = Programs(papers, directory)
        centroids = [Centroid(papers, False), Centroid(papers, True)]
        for k in (3, 10):
            cases = list_author_cases(papers, k, options.authors)
            rows = [run_case(programs, centroids, case) for case in cases]
            show(f"A, k={k}", rows)
            show(f"A, k={k}, even authors", rows[::2])
            show(f"A, k={k}, odd authors", rows[1::2])
        results = {3: [], 10: []}
        for name, (papers, wanted) in load_reviews().items():
            programs = Programs(papers, directory)
            centroids = [Centroid(papers, False), Centroid(papers, True)]
            for k, all_rows in results.items():
                rows = [run_case(programs, centroids, case) for case in
                        list_review_cases(papers, wanted, k, options.reviews)]
                show(f"B, k={k}, {name}", rows)
                all_rows += rows
        for k, rows in results.items():
            show(f"B, k={k}", rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
