/*
 * outbox_queue.h - what an operator sees of one message, and may do to one that waits.
 *
 * None of these functions opens a transaction.  A message that is SENDING belongs to
 * the post, one that has ended to nobody: callers look first, in one transaction.
 */
#ifndef PAPERBOY_STORE_MAIL_OUTBOX_QUEUE_H
#define PAPERBOY_STORE_MAIL_OUTBOX_QUEUE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "store/core/store.h"

/* Everything that is known of one message. */
struct outbox_message {
	int64_t id;
	char *kind;            /* "digest", or that of a letter */
	int64_t digest_id;     /* or -1 */
	int64_t subscriber_id; /* or -1: a stranger */
	char *recipient;
	char *recipient_state; /* "active", ...; NULL: a stranger */
	char *state;
	unsigned attempt;
	unsigned copies;  /* that may have arrived */
	unsigned crashes; /* of the daemon with it in flight */
	int64_t queued_at;
	int64_t next_try_at;  /* or -1 */
	int64_t claimed_at;   /* the last attempt, or -1 */
	int64_t ended_at;     /* or -1 */
	int code;             /* of the relay's last answer, or -1 */
	char *reply;          /* that answer, or NULL */
	char *cache_key;      /* of the octets that were sent first, or NULL */
	int64_t message_hash; /* fingerprint of what was composed last, or -1 */
	char *held_from;      /* the state before HELD, or NULL */
	char *held_why;       /* "restore", "operator", "crash", or NULL */
	/* Of a digest; else NULL, -1 and 0. */
	char *slot;
	char *date;
	char *digest_state;
	int64_t created_at;
	int64_t papers;
	char *newest_day; /* of its papers */
};

void outbox_message_free(struct outbox_message *message);
PB_DEFINE_AUTO(outbox_message, outbox_message_free);

/** @return NULL with PB_ERROR_NOT_FOUND when there is no message with that number */
struct outbox_message *
outbox_load_message(struct store *store, int64_t id, GError **error);

/** Find the message of a digest. @param message  set; NULL when it was pruned */
bool outbox_find_digest(struct store *store, int64_t digest_id,
    struct outbox_message **message, GError **error);

/**
 * Load a page of numbers of messages that have not ended, by number.
 *
 * @param state  or NULL for any
 * @return GArray of int64_t
 */
GArray *outbox_load_ids(struct store *store, const char *state, int64_t after,
    unsigned limit, GError **error);

/** Let a NEW, DEFERRED or UNKNOWN message be due now. */
bool outbox_save_due(struct store *store, int64_t id, int64_t now, GError **error);

/** Hold a NEW, DEFERRED or UNKNOWN message. @param why "restore" or "operator" */
bool outbox_hold(struct store *store, int64_t id, const char *why, GError **error);

/** Hold the message of a person's digest that was made just now. */
bool outbox_hold_slot(struct store *store, int64_t subscriber_id, const char *slot,
    const char *why, GError **error);

/** Let a HELD message be what it was, and due now, as if it were queued now. */
bool outbox_release(struct store *store, int64_t id, int64_t now, GError **error);

/** Count messages that may have arrived and are not given up: SENDING, UNKNOWN, or HELD
 * after that. */
bool outbox_count_in_doubt(struct store *store, int64_t *count, GError **error);

/** Count HELD messages. @param why "restore", "operator", "crash", or NULL for all */
bool
outbox_count_held(struct store *store, const char *why, int64_t *count, GError **error);

/**
 * Find the oldest message that has not ended and is not HELD.
 *
 * @param is_deferred  only among DEFERRED messages
 * @param message      set; NULL when there is none
 */
bool outbox_find_oldest(struct store *store, bool is_deferred,
    struct outbox_message **message, GError **error);

/** Find the message that failed last, after a time. @param message  set; NULL for none
 */
bool outbox_find_last_failed(struct store *store, int64_t after,
    struct outbox_message **message, GError **error);

/** Count messages that failed after a time. */
bool outbox_count_failed_since(
    struct store *store, int64_t after, int64_t *count, GError **error);

#endif
