/*
 * digest_overview.h - what a digest says about itself, frozen when it is built.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "service/digest/digest_cache.h"
#include "store/mail/digests.h"

/* Minimum number of earlier digests to know the usual number of papers: their mean, or,
 * if that is more, their rate times the time since the latest one. */
#define DIGEST_USUAL_DIGESTS 5

/* A digest says that it has more papers than usual if it has more than so many times
 * the usual number. */
#define DIGEST_USUAL_FACTOR 2

/* Number of papers above the usual number that it must also exceed, so that small
 * numbers are not reported. */
#define DIGEST_USUAL_MARGIN 5

/**
 * Describe a digest: its coverage, notices and filters.
 *
 * @param candidates  of struct candidate *, which the items index
 * @param items       of struct digest_item *
 * @param contents    gets the description; its coverage is borrowed from the cache
 * @return false if the store fails
 */
bool digest_overview_add(struct digest_cache *cache,
    const struct subscriber *subscriber, const GPtrArray *candidates,
    const GPtrArray *items, struct digest_contents *contents, GError **error);

/** @return the usual number of papers; 0 if not enough is known */
unsigned digest_overview_find_usual(const struct digest_history *history, int64_t now);
