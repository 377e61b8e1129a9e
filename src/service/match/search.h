/*
 * search.h - searches the archive for papers that match a query, best first.
 *
 * The full-text index supplies candidates and the evaluator decides, as in matching.
 * Here a field that is not reported counts as false, so that there is a result now.
 */
#ifndef PAPERBOY_SERVICE_MATCH_SEARCH_H
#define PAPERBOY_SERVICE_MATCH_SEARCH_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "query/eval/rank.h"
#include "query/query.h"
#include "store/core/store.h"
#include "store/paper/papers.h"

/* Papers to search. */
struct search_scope {
	const char *oldest_day; /* skips papers last listed before; or NULL */
	unsigned most; /* maximum number of candidates, newest first; 0: the default */
	int64_t now;   /* origin of ages, s */
	/* Language of explanations, by enum msg_id; NULL: English */
	const char *const *texts;
};

/** Called for each match. @return false to stop, with the error set */
typedef bool (*search_found)(void *data, const struct stored_paper *stored,
    const struct query_document *document, GError **error);

/**
 * Call a function for each match, newest first.
 *
 * @param found   must not use the archive itself
 * @param is_cut  NULL, or set to whether older candidates were skipped
 */
bool search_foreach(struct store *store, const struct query *query,
    const struct search_scope *scope, search_found found, void *data, bool *is_cut,
    GError **error);

/** Prepare a ranking of matches by the word frequencies of the archive. */
struct rank *
search_make_rank(struct store *store, const struct query *query, GError **error);

struct search_result {
	struct stored_paper *stored; /* owned */
	double score;                /* see query/eval/rank.h */
	char *words;                 /* explanation */
};

struct search_answer {
	char *canonical;
	GPtrArray *warnings; /* of struct msg * */
	GPtrArray *results;  /* of struct search_result *, best first */
	unsigned found;      /* total number of matches */
	bool
	    is_cut; /* only the newest BOUNDS_SEARCH_PAPERS candidates were evaluated */
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
