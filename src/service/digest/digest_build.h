/*
 * digest_build.h - builds the digests that are due from matches.
 *
 * A digest, its items, its message in the outbox and the subscriber's next due time are
 * one commit; without new papers or events of papers (digest_news.h) only the due time
 * moves.  A first digest is due at once and covers DIGEST_FIRST_DAYS; several missed
 * slots make one digest.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/digest.h"
#include "render/catalog.h"
#include "store/core/store.h"

struct digest_build_report {
	unsigned due;       /* subscribers with a due slot */
	unsigned digests;   /* built */
	unsigned quiet;     /* subscribers without new papers */
	unsigned papers;    /* in all digests together */
	bool is_paused;     /* by the operator: nothing is built */
	int64_t held_until; /* most digests wait for a late list until then, s; or -1 */
};

/**
 * Build the digests that are due.  A stop (store_set_stop()) leaves the rest due. Calls
 * store_call_between() after each batch.
 *
 * @param key   derives Message-IDs
 * @param book  languages of coverage and notices; NULL: English
 */
bool digest_build_run(struct store *store, GBytes *key, const struct catalog *book,
    int64_t now, struct digest_build_report *report, GError **error);

/**
 * Build the digest that a subscriber would get now, without storing anything.
 *
 * @return without entries when there are no new papers
 */
struct digest *digest_build_preview(struct store *store, const struct catalog *book,
    int64_t subscriber_id, int64_t now, GError **error);
