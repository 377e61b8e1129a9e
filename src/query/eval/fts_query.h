/*
 * fts_query.h - FTS5 query that preselects papers of the archive for a filter
 * (https://sqlite.org/fts5.html section 3).
 *
 * It matches a superset: NOT, the distance of NEAR, signs, exact words, given names and
 * fields without words are ignored. The evaluator decides.
 */
#ifndef PAPERBOY_QUERY_EVAL_FTS_QUERY_H
#define PAPERBOY_QUERY_EVAL_FTS_QUERY_H

#include <glib.h>
#include <stdbool.h>

#include "query/query.h"

/* Words of an archive: columns title, abstract, authors. */
struct term_frequencies {
	/* Words that fold to the same singular. @return of char *, owned */
	GPtrArray *(*load_class)(void *data, const char *folded, GError **error);
	void *data;
};

/**
 * Format the expression for a query.
 *
 * @param expression  set to a new string; NULL when the query does not restrict the
 *                    papers, so that all must be evaluated
 * @return false with the lexicon's error
 */
bool fts_query_format(const struct query *query, const struct term_frequencies *lexicon,
    char **expression, GError **error);

#endif
