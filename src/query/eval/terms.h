/*
 * terms.h - what a paper must have for a filter to be worth asking about it.
 *
 * A filter has a set of terms, each of which the paper may have: with none of them
 * it is false for the paper, whatever is told or changes later.  So filters filed
 * under their terms, and asked only about papers that have one, find what they would
 * find if all were asked.  AND needs the terms of any one of its operands, OR those of
 * all; what is no word of a text or of a name needs none.  Among the choices the terms
 * that fewest papers have are taken, which matters for speed alone.
 */
#ifndef PAPERBOY_QUERY_EVAL_TERMS_H
#define PAPERBOY_QUERY_EVAL_TERMS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "query/query.h"

/* Kept in the store: numbers stay what they are. */
enum term_kind {
	TERM_ALWAYS = 0, /* every paper has it; its text is empty */
	TERM_WORD = 1,   /* a folded word of the title or the abstract */
	TERM_PAIR = 2,   /* two of them side by side, a blank between */
	TERM_PREFIX = 3, /* the beginning of a plain word */
	TERM_NAME = 4,   /* a folded part of an author's name */
};

struct term {
	enum term_kind kind;
	char *text;
};

/* In how many papers a TERM_WORD or a TERM_PREFIX is, roughly; 0: it was never seen. */
struct document_frequency {
	bool (*load)(
	    void *data, const struct term *term, int64_t *papers, GError **error);
	void *data;
};

void term_free(struct term *term);

/**
 * Choose the terms of a filter.
 *
 * @return of struct term *, distinct, at least one, at most BOUNDS_QUERY_TERMS or so;
 *         NULL with the error of the rarity
 */
GPtrArray *terms_select_required(
    const struct query *query, const struct document_frequency *rarity, GError **error);

/**
 * Tell all terms of a paper, but TERM_ALWAYS.
 *
 * @param add  called for each, for some more than once; the text lives for the call
 */
void terms_list(const struct query_document *document,
    void (*add)(void *data, enum term_kind kind, const char *text), void *data);

#endif
