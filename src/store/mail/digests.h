/*
 * digests.h - digests: their content, and delivered papers.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/digest.h"
#include "model/digest_contents.h"
#include "store/core/store.h"
#include "store/mail/outbox.h"
#include "store/paper/paper_cache.h"

struct digest_record {
	int64_t subscriber_id;
	const char *slot;
	const char *message_token;
	const char *date; /* local, YYYY-MM-DD */
	int64_t created_at;
	/* No papers: a "nothing new" notice.  References are set when it is stored. */
	struct digest_contents *contents;
	int64_t event_id; /* the newest of papers that it could report; 0: none */
	int64_t id;       /* set by digests_insert() */
};

/**
 * Store digests of different subscribers.
 *
 * The caller queues their messages and advances the due times in the same transaction.
 */
bool digests_insert(struct store *store, struct digest_record *const *digest_records,
    unsigned count, GError **error);

/** Queue the messages of digests. @param ids  of int64_t, ascending */
bool digests_queue(struct store *store, const GArray *ids,
    enum outbox_priority priority, GError **error);

/**
 * Load the creation time of the subscriber's last live or sent digest.
 *
 * @param made_at  s; -1: none
 */
bool digests_load_latest(
    struct store *store, int64_t subscriber_id, int64_t *made_at, GError **error);

/**
 * Load what such digests could report.
 *
 * @param event_id  set to the newest event of papers; 0: none
 * @param made_at   set to when the last digest was created, s, but for those that a
 *                  wrong clock has created after now; -1: none
 */
bool digests_load_reported(struct store *store, int64_t subscriber_id, int64_t now,
    int64_t *event_id, int64_t *made_at, GError **error);

/* A subscriber's live and sent digests. */
struct digest_history {
	int64_t digests; /* with papers */
	int64_t papers;
	int64_t oldest_at; /* of all, s; -1: none */
	int64_t latest_at;
};

bool digests_load_history(struct store *store, int64_t subscriber_id,
    struct digest_history *history, GError **error);

/** Find a digest, without what is in it. @param digest  set; NULL when there is none */
bool digests_find_head(
    struct store *store, int64_t digest_id, struct digest **digest, GError **error);

/**
 * Load a digest as it was frozen, with its papers and the subscriber's address.
 *
 * @return NULL with PB_ERROR_NOT_FOUND when it does not exist
 */
struct digest *digests_load(struct store *store, int64_t digest_id, GError **error);

/**
 * Load a digest, as digests_load().  Its papers are shared with the cache, except those
 * of a digest with an attached file, which shows papers as they were.
 *
 * @param paper_cache  of that store; NULL: no papers are shared
 * @return NULL also with PB_ERROR_DAMAGED
 */
struct digest *digests_load_shared(struct store *store, struct paper_cache *paper_cache,
    int64_t digest_id, GError **error);

/* A line of paperboyctl digest list. */
struct digest_row {
	int64_t id;
	const char *recipient;
	const char *slot;
	const char *date;
	const char *state;
	const char *
	    message_state; /* of its place in the outbox; NULL when that is forgotten */
	int64_t created_at;
	int64_t papers;
};

/**
 * Load the newest digests, newest first.
 *
 * @param subscriber_id  or 0 for all
 * @return of struct digest_row *
 */
GPtrArray *digests_load_newest(
    struct store *store, int64_t subscriber_id, unsigned limit, GError **error);

/** Load the id of the newest digest. @return false with PB_ERROR_NOT_FOUND for none */
bool digests_load_last(struct store *store, int64_t *digest_id, GError **error);

/** Count the digests built since a time, s, that were sent. */
bool
digests_count_sent(struct store *store, int64_t since, int64_t *count, GError **error);

/** Load when the last digest of a subscriber was built, s. @param at  -1 for never */
bool digests_load_last_built(
    struct store *store, int64_t subscriber_id, int64_t *at, GError **error);

/**
 * Find a digest by the token in its Message-ID: its message_token and the id of its
 * subscriber, of whose few digests it is one.
 *
 * @param token          untrusted
 * @param digest_id      set; 0 for none
 * @param subscriber_id  set; 0 if it was sent to a former address
 */
bool digests_find_by_token(struct store *store, const char *token, int64_t *digest_id,
    int64_t *subscriber_id, GError **error);
