/*
 * terms.h - required terms of a filter, and terms of a paper, for the filter index.
 *
 * A filter is false, now and later, for a paper with none of its required terms. So
 * filters indexed by their terms and evaluated only for papers that have one match the
 * same papers as if all were evaluated. An AND requires the terms of any one operand,
 * an OR those of all operands; fields other than texts and authors require none. Of
 * several choices the terms in the fewest papers are taken, which matters for speed
 * alone.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "query/query.h"

/* Stored: the numbers must not change. */
enum term_kind {
	TERM_ALWAYS = 0, /* of every paper; its text is empty */
	TERM_WORD = 1,   /* folded word of title or abstract */
	TERM_PAIR = 2,   /* two adjacent ones with a space between */
	TERM_PREFIX = 3, /* prefix of an unfolded word, or a run's last character */
	TERM_NAME = 4,   /* folded part of an author's name */
};

struct term {
	enum term_kind kind;
	char *text;
};

/* Approximate number of papers with a TERM_WORD or TERM_PREFIX; 0: not seen before. */
struct document_frequency {
	bool (*load)(
	    void *data, const struct term *term, int64_t *papers, GError **error);
	void *data;
};

/**
 * Choose the required terms of a filter.
 *
 * @return of struct term *, distinct, at least one, about BOUNDS_QUERY_TERMS at most;
 *         NULL with the error of the frequency
 */
GPtrArray *terms_select_required(const struct query *query,
    const struct document_frequency *frequency, GError **error);

/**
 * List all terms of a paper, except TERM_ALWAYS.
 *
 * @param add  called for each, possibly several times for one; the text lives for the
 *             call
 */
void terms_list(const struct query_document *document,
    void (*add)(void *data, enum term_kind kind, const char *text), void *data);
