/*
 * fts_score.c - score of a row of an FTS5 query, as an SQL function.
 */
#include "store/core/fts_score.h"

#include <string.h>

#include "base/bounds.h"
#include "base/clock.h"
#include "model/hit.h"
#include "model/paper.h"
#include "store/core/tokenizer.h"

/* A row of the query. */
struct row {
	const Fts5ExtensionApi *api;
	Fts5Context *context;
};

/* Count a phrase in title and abstract; elsewhere it counts as in the title. */
static int
count_phrase(const struct row *row, int phrase, struct rank_hits *hits)
{
	Fts5PhraseIter at;
	int column, offset;
	int rc = row->api->xPhraseFirst(row->context, phrase, &at, &column, &offset);

	while (rc == SQLITE_OK && column >= 0) {
		hits->texts[column == HIT_FIELD_ABSTRACT]++;
		row->api->xPhraseNext(row->context, &at, &column, &offset);
	}
	return rc;
}

static int
count_clause(
    const struct row *row, const struct fts_clause *clause, struct rank_hits *hits)
{
	int rc = SQLITE_OK;

	memset(hits, 0, sizeof(*hits));
	/* A clause that FTS5 was not asked for counts as found. */
	hits->texts[HIT_FIELD_TITLE] = clause->count == 0;
	for (unsigned i = 0; rc == SQLITE_OK && i < clause->count; i++)
		rc = count_phrase(row, (int)(clause->first + i), hits);
	return rc;
}

static int
compute_score(const struct row *row, const struct fts_score *score, int64_t upvotes,
    int64_t age_days, double *value)
{
	const GArray *clauses = score->fts->clauses;
	struct rank_hits hits[BOUNDS_QUERY_TERMS];
	unsigned words[2];
	int rc = SQLITE_OK;

	for (int i = 0; rc == SQLITE_OK && i < 2; i++)
		rc = row->api->xColumnSize(row->context, i, (int *)&words[i]);
	for (guint i = 0; rc == SQLITE_OK && i < clauses->len; i++)
		rc = count_clause(
		    row, &g_array_index(clauses, struct fts_clause, i), &hits[i]);
	if (rc == SQLITE_OK)
		*value = rank_blend(
		    rank_compute(score->rank, hits, words), upvotes, age_days);
	return rc;
}

static void
call(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *context, int count,
    sqlite3_value **values)
{
	const struct row row = {api, fts};
	struct fts_score *score =
	    count == 3 ? sqlite3_value_pointer(values[0], FTS_SCORE_TYPE) : NULL;
	int64_t upvotes;
	double value;
	int rc;

	if (!score) {
		sqlite3_result_error_code(context, SQLITE_MISUSE);
		return;
	}
	upvotes = sqlite3_value_type(values[1]) == SQLITE_NULL
	              ? PAPER_UNKNOWN
	              : sqlite3_value_int64(values[1]);
	score->rows++;
	rc = compute_score(&row, score, upvotes,
	    MAX(score->now - sqlite3_value_int64(values[2]), 0) / CLOCK_DAY_S, &value);
	if (rc == SQLITE_OK)
		sqlite3_result_double(context, value);
	else
		sqlite3_result_error_code(context, rc);
}

int
fts_score_register(sqlite3 *db)
{
	fts5_api *api = tokenizer_get_api(db);

	return api ? api->xCreateFunction(api, "fts_score", NULL, call, NULL)
	           : SQLITE_ERROR;
}
