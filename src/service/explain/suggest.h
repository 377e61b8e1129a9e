/*
 * suggest.h - words and phrases that would find more papers like those of a filter.
 *
 * The newest papers that the filter finds are taken as relevant.  Terms that are
 * related to them (query/taste/related.h) are tried as alternatives to a clause of the
 * filter, and counted in the papers of the last SUGGEST_DAYS days.  A term is suggested
 * if it adds papers, but not many times those of the filter, and most of these resemble
 * the filter's own (service/explain/likeness.h).
 *
 * A filter that finds few papers may be offered two terms together, joined by " OR ".
 */
#ifndef PAPERBOY_SERVICE_EXPLAIN_SUGGEST_H
#define PAPERBOY_SERVICE_EXPLAIN_SUGGEST_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/subscriber.h"
#include "query/query.h"
#include "store/core/store.h"
#include "store/subscriber/proposals.h"

#define SUGGEST_DAYS 30
#define SUGGEST_MAX  3

struct suggestion {
	char *term; /* as people write it: tool use, LoRA, CUDA OR GPU */
	char *text; /* the filter with it, as typed otherwise */
	unsigned gained;
	unsigned similar; /* of these, %: resemble the filter's papers */
	char *title;      /* of the latest of these */
	double value;     /* the best of several */
	bool is_sure;     /* nearly all of these are like the filter's papers */
};

void suggestion_free(struct suggestion *suggestion);

struct suggest_request {
	const char *text; /* the filter as typed */
	int64_t subscriber_id,
	    subscription_id; /* leaves out what was refused; 0: all */
	int64_t now;         /* s */
};

/**
 * Find suggestions.
 *
 * @return of struct suggestion *, the best first, at most SUGGEST_MAX
 */
GPtrArray *suggest_find(
    struct store *store, const struct suggest_request *request, GError **error);

/**
 * Store a suggestion for a filter of a subscriber as a proposal.
 *
 * @param subscription  the filter; without an id: `add` is proposed instead of `edit`
 * @param offered       set; NULL if it was refused before. Free with g_free()
 */
bool suggest_offer_one(struct store *store, const struct subscription *subscription,
    const struct suggestion *suggestion, int64_t now, struct proposal **offered,
    GError **error);

/**
 * Find suggestions for a filter of a subscriber, and store all as proposals.
 *
 * @return of struct proposal *; empty for a block
 */
GPtrArray *suggest_offer(struct store *store, const struct subscription *subscription,
    int64_t now, GError **error);

#endif
