/*
 * suggest.h - words and phrases that would find more papers like those of a filter.
 *
 * Acronyms that papers define for a phrase of the filter, and long forms of its
 * acronyms, are tried first, then terms that are related to the newest papers that it
 * finds (service/advice/related.h).  Each is tried as an alternative to a clause of the
 * filter, and all papers that have it are counted: it is suggested if it adds papers of
 * the last SUGGEST_DAYS days, and the filter finds a good part of the papers with it.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/subscriber.h"
#include "store/core/store.h"
#include "store/subscriber/proposals.h"

#define SUGGEST_DAYS 30
#define SUGGEST_MAX  3

struct suggestion {
	char *term;      /* as people write it: tool use, LoRA */
	char *text;      /* the filter with it, as typed otherwise */
	unsigned gained; /* papers that only the filter with it finds */
	char *title;     /* of the latest of these */
};

struct suggest_request {
	const char *text; /* the filter as typed */
	int64_t subscriber_id,
	    subscription_id; /* leaves out what was refused; 0: all */
	int64_t now;         /* s */
};

/**
 * Find suggestions.
 *
 * @return of struct suggestion *, the best first, at most SUGGEST_MAX; empty if the
 *   index does not decide about more than BOUNDS_SEARCH_EVALUATED candidates
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
