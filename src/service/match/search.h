/*
 * search.h - papers of the archive that a query finds, the best first.
 *
 * The archive's index names candidates; the same evaluator that matches live papers
 * decides on each.  What was not told of a paper counts as false here, so that there
 * is an answer now.
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

/* Where to look. */
struct search_scope {
	const char *oldest_day; /* papers listed last before it are left out; or NULL */
	unsigned most; /* papers to ask about, the newest; 0: the usual bound */
	int64_t now;   /* ages are measured from it */
	/* For what was hit: of a language, by enum msg_id; NULL is English */
	const char *const *texts;
};

/** Told of each paper that a query finds. @return false to end, with the error set */
typedef bool (*search_found)(void *data, const struct stored_paper *stored,
    const struct query_document *document, GError **error);

/**
 * Go through what a query finds, newest first.
 *
 * @param found   must not look into the archive itself
 * @param is_cut  NULL, or set to whether older papers were not asked about
 */
bool search_each(struct store *store, const struct query *query,
    const struct search_scope *scope, search_found found, void *data, bool *is_cut,
    GError **error);

/** Make ready to rank what a query finds, by the words of the archive. */
struct rank *
search_make_rank(struct store *store, const struct query *query, GError **error);

struct search_result {
	struct stored_paper *stored; /* owned */
	double score;                /* see query/eval/rank.h */
	char *words;                 /* what was hit, for a reader */
};

struct search_answer {
	char *canonical;
	GPtrArray *warnings; /* of struct msg * */
	GPtrArray *results;  /* of struct search_result *, best first */
	unsigned found;      /* how many there are, told or not */
	bool is_cut;         /* of the newest BOUNDS_SEARCH_PAPERS candidates only */
};

/**
 * Search the archive.
 *
 * @param text     as typed
 * @param limit    results that are told, 1 to BOUNDS_SEARCH_RESULTS
 * @param problem  NULL, or cleared by the caller: filled when the text is refused
 * @return NULL with PB_ERROR_INPUT, PB_ERROR_LIMIT or what the store says
 */
struct search_answer *
search_run(struct store *store, const char *text, const struct search_scope *scope,
    unsigned limit, struct query_error *problem, GError **error);
void search_answer_free(struct search_answer *answer);
PB_DEFINE_AUTO(search_answer, search_answer_free);

#endif
