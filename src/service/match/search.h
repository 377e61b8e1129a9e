/*
 * search.h - searches the archive for papers that match a query.
 *
 * The full-text index selects candidates.  If it decides the query by itself
 * (query/eval/fts_query.h), it also counts and orders them; else the evaluator decides
 * about each one.  A field that is not reported is false: unlike matches, no result
 * waits.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/day.h"
#include "base/po.h"
#include "query/eval/rank.h"
#include "query/query.h"
#include "store/core/store.h"
#include "store/paper/papers.h"

/* Papers to search. */
struct search_scope {
	const char *oldest_day; /* skips papers last listed before; or NULL */
	/* Searches only these papers, of int64_t, newest first; for search_foreach().
	 * NULL: all. */
	const GArray *only;
	/* Approximate number of candidates evaluated by search_foreach(); 0: all. */
	unsigned sample;
	int64_t now; /* origin of ages, s */
	/* Translations of explanations; NULL: English */
	const struct po *po;
};

/* A match, valid during the call. */
struct search_match {
	int64_t seq;
	char day[DAY_BYTES]; /* last listed */
	/* Valid after search_match_load(). */
	struct stored_paper *stored;
	struct query_document *document;
	struct store *store; /* private */
};

/** Read and index the paper: many matches are known without that. */
bool search_match_load(struct search_match *match, GError **error);
void search_match_clear(struct search_match *match);

/** Called for each match. @return false to stop, with the error set */
typedef bool (*search_found)(void *data, struct search_match *match, GError **error);

/**
 * Call a function for each match, newest first.
 *
 * If the evaluator has to decide and the scope has a sample, only every n-th candidate
 * is evaluated, so that these are about scope->sample.
 *
 * @param step  NULL, or set to n; 1: all were evaluated
 */
bool search_foreach(struct store *store, const struct query *query,
    const struct search_scope *scope, search_found found, void *data, unsigned *step,
    GError **error);

struct search_result {
	struct stored_paper *stored; /* owned */
	double score;                /* see query/eval/rank.h */
	char *words;                 /* explanation */
};

struct search_answer {
	char *canonical;
	GPtrArray *warnings; /* of struct msg * */
	GPtrArray *results;  /* of struct search_result *, best first */
	unsigned found;      /* number of matches; a minimum if is_more */
	bool is_more;        /* not all candidates were evaluated */
	bool is_cut; /* too few of those evaluated matched: papers may be missing */
};

/**
 * Search the archive.
 *
 * @param text     as typed
 * @param limit    maximum number of results, 1 to BOUNDS_SEARCH_RESULTS
 * @param problem  NULL, or cleared by the caller: filled on a syntax error
 * @return NULL with PB_ERROR_INPUT, PB_ERROR_LIMIT or the store's error
 */
struct search_answer *
search_run(struct store *store, const char *text, const struct search_scope *scope,
    unsigned limit, struct query_error *problem, GError **error);
void search_answer_free(struct search_answer *answer);
PB_DEFINE_AUTO(search_answer, search_answer_free);
