/*
 * fts_score.h - score of a row of an FTS5 query, as an SQL function; for src/store
 * only.
 */
#pragma once

#include <sqlite3.h>
#include <stdint.h>

#include "query/eval/fts_query.h"
#include "query/eval/rank.h"

/* A ranking, and the expression of the same query. */
struct fts_score {
	const struct rank *rank;
	const struct fts_query *fts;
	int64_t now;  /* origin of ages, s */
	int64_t rows; /* incremented for each row */
};

#define FTS_SCORE_TYPE "struct fts_score"

/**
 * Register the auxiliary function fts_score(TABLE, SCORE, UPVOTES, LISTED_AT), the
 * score of a paper by query/eval/rank.h (https://sqlite.org/fts5.html section 7). SCORE
 * is bound with SQL_POINTER(); LISTED_AT is in seconds since the epoch.
 *
 * @return SQLite's code
 */
int fts_score_register(sqlite3 *db);
