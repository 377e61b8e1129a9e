/*
 * private_feeds.h - feeds of a subscriber's matches.
 *
 * Their tokens contain the time at which the subscriber turned them on, so that turning
 * them off revokes the tokens for good.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/** Load since when a subscriber's feeds are on. @param since  set, s; -1: off */
bool private_feeds_load_since(
    struct store *store, int64_t subscriber_id, int64_t *since, GError **error);

/** Turn them on; if they are on, only their tokens change. */
bool private_feeds_turn_on(
    struct store *store, int64_t subscriber_id, int64_t now, GError **error);
bool private_feeds_turn_off(struct store *store, int64_t subscriber_id, GError **error);

/** The owner of a feed of one filter. */
struct private_feed_filter {
	int64_t subscriber_id;
	int64_t created_at; /* of the subscription */
	const char *label;  /* name or text */
};

/** @param filter  set; NULL if there is none; g_free() it */
bool private_feeds_find_filter(struct store *store, int64_t subscription_id,
    struct private_feed_filter **filter, GError **error);

struct private_feed_entry {
	int64_t paper_seq;
	int64_t found_at;    /* s */
	int64_t work;        /* as in struct stored_paper */
	const char *filters; /* labels, separated by commas */
};

/**
 * Load the newest matches of a subscriber, without those that a block matches; of the
 * records of a work the first.
 *
 * @param subscription_id  of one filter; 0: all
 * @return of struct private_feed_entry *, newest first
 */
GPtrArray *private_feeds_load(struct store *store, int64_t subscriber_id,
    int64_t subscription_id, unsigned limit, GError **error);
