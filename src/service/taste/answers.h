/*
 * answers.h - saves which papers a person likes and hides, and learns from them.
 *
 * Answers order papers within digests (service/digest/digest_order.h) and lead to
 * proposed edits and blocks; they never add or remove a paper.
 *
 * Learned words stay until the next answer: they are named by their text, so that
 * they are valid for any archive, and only the newest papers, against which they were
 * weighed, have changed since.  Each answer learns all of it again.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "model/taste_vector.h"
#include "store/core/store.h"

struct answers_request {
	int64_t subscriber_id;
	const int64_t *papers;
	unsigned count;
	bool is_like;
	const char *source; /* as feedback_save() */
	int64_t now;
};

struct answers {
	unsigned likes, hides;
	/* Learned words that people recognize, of char *, by weight. */
	GPtrArray *raising, *lowering;
	unsigned other_words; /* number of other words */
};

/**
 * Save answers, and learn again.  A later answer replaces an earlier one.
 *
 * @param answers  set: what is known now
 */
bool answers_save(struct store *store, const struct answers_request *request,
    struct answers *answers, GError **error);

/** Load what is known. */
bool answers_load(struct store *store, int64_t subscriber_id, struct answers *answers,
    GError **error);
void answers_clear(struct answers *answers);

/** @param words  of char * @return a new string: "reward model, rlhf" */
char *answers_format_words(const GPtrArray *words, unsigned most);
