/*
 * edition.h - from matches to digests: one edition for each person who is due.
 *
 * The digest, its items, its place in the outbox and the person's next due
 * time are one commit; a person with nothing to read only moves on.  A first
 * edition is due at once and has the papers of the last days; after a long
 * sleep there is one edition, not one for each missed slot.
 */
#ifndef PAPERBOY_SERVICE_EDITION_H
#define PAPERBOY_SERVICE_EDITION_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/digest.h"
#include "render/phrases.h"
#include "store/store.h"

/* A paper can be in a digest for so long after it was last listed. */
#define EDITION_ELIGIBLE_DAYS 30

/* A new filter's first digest goes back so far. */
#define EDITION_FIRST_DAYS 3

struct edition_report {
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
bool edition_run(struct store *store, GBytes *key, const struct phrasebook *book,
    int64_t now, struct edition_report *report, GError **error);

/**
 * Make the digest that a person would get now, without storing anything.
 *
 * @return with an empty entries array when there is nothing new
 */
struct digest *edition_preview(struct store *store, const struct phrasebook *book,
    int64_t subscriber_id, int64_t now, GError **error);

#endif
