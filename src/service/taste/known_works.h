/*
 * known_works.h - marks works as known to a subscriber: they are never sent.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

struct known_works {
	int64_t subscriber_id;
	const GPtrArray *works; /* of char *: names as in bibliography.works */
	const char *source;     /* as feedback_save() */
	int64_t now;
	unsigned added;  /* set: works that were not known by each of their names */
	unsigned absent; /* set: works of which no source has listed a paper */
};

/**
 * Save works, in the caller's transaction.  Papers of them that are here count as
 * liked, so that digests are ordered by them.
 *
 * @return false with PB_ERROR_LIMIT if the subscriber has more than KNOWN_MAX
 */
bool known_works_save(struct store *store, struct known_works *works, GError **error);
