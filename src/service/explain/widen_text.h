/*
 * widen_text.h - the text of a filter, with an alternative to one of its clauses.
 */
#ifndef PAPERBOY_SERVICE_EXPLAIN_WIDEN_TEXT_H
#define PAPERBOY_SERVICE_EXPLAIN_WIDEN_TEXT_H

#include "query/parse/tree.h"

/** Quote a phrase, or each of several terms joined by " OR ". @return a new string */
char *widen_text_quote(const char *term);

struct widen_text {
	const char *typed;
	const struct node *clause;   /* of the query typed */
	const char *alternative;     /* of widen_text_quote() */
	const struct query *widened; /* the query with it */
};

/**
 * Change what was typed where the clause is, or return the canonical text if that is
 * not possible.
 *
 * @return a new string
 */
char *
widen_text_format(const struct widen_text *change, const struct tokenizer *tokenizer);

#endif
