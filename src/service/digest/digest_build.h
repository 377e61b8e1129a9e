/*
 * digest_build.h - from matches to digests: one edition for each person who is due.
 *
 * The digest, its items, its place in the outbox and the person's next due
 * time are one commit; a person with nothing to read only moves on.  A first
 * edition is due at once and has the papers of the last days; after a long
 * sleep there is one edition, not one for each missed slot.
 */
#ifndef PAPERBOY_SERVICE_DIGEST_DIGEST_BUILD_H
#define PAPERBOY_SERVICE_DIGEST_DIGEST_BUILD_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/digest.h"
#include "render/catalog.h"
#include "store/core/store.h"

struct digest_build_report {
	unsigned due;       /* people whose slot had come */
	unsigned digests;   /* made */
	unsigned quiet;     /* people with nothing new */
	unsigned papers;    /* in all digests together */
	int64_t held_until; /* most who are due wait for a late list; -1: none */
};

/**
 * Make the editions of everybody who is due, or, asked to stop (store_set_stop()), of
 * the first ones: the others stay due.
 *
 * @param key   for their Message-IDs
 * @param book  in whose languages the reasons are; NULL: English
 */
bool digest_build_run(struct store *store, GBytes *key, const struct catalog *book,
    int64_t now, struct digest_build_report *report, GError **error);

/**
 * Make the digest that a person would get now, without storing anything.
 *
 * @return with an empty entries array when there is nothing new
 */
struct digest *digest_build_preview(struct store *store, const struct catalog *book,
    int64_t subscriber_id, int64_t now, GError **error);

#endif
