/*
 * digest_overview.h - what a digest says about itself, frozen when it is built.
 */
#ifndef PAPERBOY_SERVICE_DIGEST_DIGEST_OVERVIEW_H
#define PAPERBOY_SERVICE_DIGEST_DIGEST_OVERVIEW_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "service/digest/digest_cache.h"

/* A digest has more papers than usual if it has more than twice and over five more than
 * usual: the mean of at least five digests, or, after a longer time than usual, what
 * came per day. */
#define DIGEST_USUAL_DIGESTS 5
#define DIGEST_USUAL_FACTOR  2
#define DIGEST_USUAL_MARGIN  5

struct digest_overview {
	const char *coverage; /* of the sources; borrowed from the cache */
	char *filters;        /* as in struct digest */
	char *notices;        /* likewise */
};

/**
 * Describe a digest.
 *
 * @param candidates  of struct candidate *, which the items index
 * @param items       of struct digest_record_item *
 * @param overview    set on success; digest_overview_clear() it
 * @return false if the store fails
 */
bool digest_overview_init(struct digest_overview *overview, struct digest_cache *cache,
    int64_t subscriber_id, const GPtrArray *candidates, const GPtrArray *items,
    GError **error);
void digest_overview_clear(struct digest_overview *overview);

/** Append the name of a filter in a digest, one line without tabs. */
void digest_overview_append_label(GString *text, const char *label);

/** How many papers are usual. @return 0 if not enough is known */
unsigned digest_overview_find_usual(const struct digest_history *history, int64_t now);

#endif
