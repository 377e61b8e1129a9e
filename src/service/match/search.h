/*
 * search.h - searches the archive for papers that match a query, best first.
 *
 * The full-text index supplies candidates, as in matching, and decides where words and
 * values in memory suffice (service/match/clause_papers.h); else the evaluator does.
 * Here a field that is not reported counts as false, so that there is a result now.
 *
 * Candidates are evaluated in the order of an upper bound of their score, until the
 * results are better than all remaining bounds: they are the same as if every paper was
 * evaluated. The bound has the true votes, age and lengths
 * (store/paper/paper_values.h), and at least as many occurrences of words as the paper;
 * values that are not in memory count as found (src/query/eval/fts_query.h). If
 * the index decides, the bounds are the scores; the words of a paper are counted only
 * until it cannot be a result, the rarest first.
 */
#ifndef PAPERBOY_SERVICE_MATCH_SEARCH_H
#define PAPERBOY_SERVICE_MATCH_SEARCH_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/day.h"
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
	unsigned most; /* maximum number of papers to evaluate; 0: the default */
	int64_t now;   /* origin of ages, s */
	/* Language of explanations, by enum msg_id; NULL: English */
	const char *const *texts;
};

/* A match, valid during the call. */
struct search_match {
	int64_t seq;
	char day[DAY_BYTES]; /* last listed */
	int64_t upvotes;     /* or PAPER_UNKNOWN */
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
 * @param is_cut  NULL, or set to whether older candidates were skipped
 */
bool search_foreach(struct store *store, const struct query *query,
    const struct search_scope *scope, search_found found, void *data, bool *is_cut,
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
	unsigned found;      /* number of matches ... */
	bool is_more;        /* ... at least; lower candidates were not evaluated */
	bool is_cut; /* only BOUNDS_SEARCH_PAPERS papers were evaluated: better ones may
	                be missing */
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

#endif
