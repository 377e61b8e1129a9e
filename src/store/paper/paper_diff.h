/*
 * paper_diff.h - what an answer tells of a paper that is not known yet.
 */
#ifndef PAPERBOY_STORE_PAPER_PAPER_DIFF_H
#define PAPERBOY_STORE_PAPER_PAPER_DIFF_H

#include <stdbool.h>

#include "model/paper.h"

struct paper_news {
	bool is_text; /* other words: all filters look again, and the archive learns */
	bool are_links;  /* other links, for readers and for has: */
	bool is_changed; /* something that matches wait for */
	bool is_anew;    /* something that filters took for known: all look again */
};

/**
 * Compare what is told of a paper with what is kept.  What is not told is no news.
 *
 * @param is_settled  nobody waits for what arXiv tells any more: it counted as
 *                    false, and so is news to all filters
 */
void paper_diff_find(const struct paper *reported, const struct paper *stored,
    bool is_settled, struct paper_news *news);

/** The same of what arXiv tells alone: categories, comment, journal, DOI. */
void paper_diff_find_enrichment(const struct paper *reported,
    const struct paper *stored, bool is_settled, struct paper_news *news);

#endif
