/*
 * fts_query.h - translates a filter to an FTS5 query that selects its candidates in the
 * archive (https://sqlite.org/fts5.html section 3).
 *
 * FTS5 decides words, phrases and prefixes exactly.  NEAR, signs (c++), =words, names
 * and values become the words that a match must have; what FTS5 cannot express (votes,
 * dates, links, sources) is left out.  So the expression selects a superset, and the
 * evaluator decides about it unless is_match is set.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "query/query.h"

/* The phrases of a clause in the expression. */
struct fts_clause {
	unsigned first; /* number of the first one */
	unsigned count; /* 0: the clause was left out */
};

struct fts_query {
	char *expression; /* NULL: papers without any words may match */
	bool is_match;    /* each paper that the expression selects is a match */
	GArray *clauses;  /* of struct fts_clause: those that are not under a NOT, in
	                     the order of struct rank */
	int64_t upvotes;  /* minimum number of every match; -1: also unknown ones */
};

struct fts_query *fts_query_new(const struct query *query);
void fts_query_free(struct fts_query *fts);
PB_DEFINE_AUTO(fts_query, fts_query_free);
