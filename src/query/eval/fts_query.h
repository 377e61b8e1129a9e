/*
 * fts_query.h - which papers of an archive a filter is worth asking about: an
 * expression of FTS5 (https://sqlite.org/fts5.html section 3).
 *
 * The expression finds every paper that the filter finds, and others: NOT, NEAR's
 * distance, signs and letters, given names, and whatever is no word of a text are
 * left out of it.  The evaluator decides.
 */
#ifndef PAPERBOY_QUERY_EVAL_FTS_QUERY_H
#define PAPERBOY_QUERY_EVAL_FTS_QUERY_H

#include <glib.h>
#include <stdbool.h>

#include "query/query.h"

/* The words of an archive: columns title, abstract, authors. */
struct term_frequencies {
	/* The words of a plural class that are in it. @return of char *, owned */
	GPtrArray *(*load_class)(void *data, const char *folded, GError **error);
	void *data;
};

/**
 * Make the expression for a query.
 *
 * @param expression  set to a new string; NULL when nothing in it narrows the papers
 *                    down, so that all have to be asked
 * @return false with the lexicon's error
 */
bool fts_query_format(const struct query *query, const struct term_frequencies *lexicon,
    char **expression, GError **error);

#endif
