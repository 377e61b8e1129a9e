/*
 * feedback.h - papers that subscribers liked and hid, and what was learned from them.
 *
 * A row names a paper that exists: rows of merged papers are moved
 * (store/paper/papers_save.c).
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/taste_vector.h"
#include "store/core/store.h"

struct feedback {
	int64_t paper_seq;
	int64_t at;
	bool is_like;
};

/**
 * Save an answer in place of an earlier one, and delete the oldest above
 * BOUNDS_TASTE_ANSWERS.
 *
 * @param source  "mail", "page" or "operator"
 */
bool feedback_save(struct store *store, int64_t subscriber_id,
    const struct feedback *feedback, const char *source, GError **error);

/** Load the answers of a subscriber, the newest first. @return of struct feedback */
GArray *feedback_load(struct store *store, int64_t subscriber_id, GError **error);

/** Delete answers and what was learned from them. @param count  set: answers */
bool feedback_delete(
    struct store *store, int64_t subscriber_id, unsigned *count, GError **error);

/** Save what was learned; an empty vector deletes it. @param vector  sorted */
bool feedback_save_taste(struct store *store, int64_t subscriber_id,
    const struct taste_vector *vector, int64_t now, GError **error);

/**
 * Load what was learned.
 *
 * @param vector  initialized; stays empty if nothing was learned
 * @return false with PB_ERROR_DAMAGED if it cannot be read, or the store's error; then
 *         the vector can only be cleared
 */
bool feedback_load_taste(struct store *store, int64_t subscriber_id,
    struct taste_vector *vector, GError **error);
