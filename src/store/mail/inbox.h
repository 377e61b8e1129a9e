/*
 * inbox.h - queue of inbound messages.
 *
 * A message is `new`, then `done` or `quarantined`; an operator can make a quarantined
 * one new again, and `done` is final.  Of a done message only the dedup key, receiver,
 * size, times and verdict are retained.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/* A received message.  All borrowed. */
struct inbox_new {
	const char *key;       /* dedup_key_format() */
	const char *receiver;  /* "lmtp", "maildir" or "imap" */
	const char *sender;    /* "": the null sender, NULL: unknown */
	const char *recipient; /* one a line; NULL: not known */
	const void *raw;
	size_t size;
	size_t full_size; /* of the message, when raw is only its header; else 0 */
};

/* A row without the message itself; freed with g_free(), as all rows of the store. */
struct inbox_row {
	int64_t id;
	const char *key;
	const char *receiver;
	const char *sender;    /* NULL: unknown, or done */
	const char *recipient; /* NULL: unknown, or done */
	int64_t received_at;
	int64_t size;      /* of the message, bytes; raw may be only its header */
	const char *state; /* "new", "done" or "quarantined" */
	unsigned tries;
	unsigned started;    /* attempts without a result: paperboyd crashed */
	int64_t next_try_at; /* or -1 */
	int64_t ended_at;    /* or -1 */
	const char *verdict; /* or NULL */
};

/**
 * Store a message, unless its key is known.  The recipient of a further copy is added
 * while the first is new.
 *
 * @param is_stored  set on success: it was stored
 */
bool inbox_insert(struct store *store, const struct inbox_new *mail, int64_t now,
    bool *is_stored, GError **error);

/** Load the ids of new messages that are due, oldest first. @return of int64_t */
GArray *
inbox_load_due(struct store *store, int64_t now, unsigned limit, GError **error);

/** When the next message is due. @param at  s; -1: there is none */
bool inbox_load_next_due(struct store *store, int64_t *at, GError **error);

/**
 * Load a message.
 *
 * @param raw  NULL, or set to its bytes; to NULL when it is done
 * @return NULL with PB_ERROR_NOT_FOUND when there is none
 */
struct inbox_row *
inbox_load(struct store *store, int64_t id, GBytes **raw, GError **error);

/**
 * Load a batch, newest first.
 *
 * @param state   NULL: new and quarantined
 * @param before  only ids below it; INT64_MAX for the first batch
 * @return of struct inbox_row *
 */
GPtrArray *inbox_load_batch(struct store *store, const char *state, int64_t before,
    unsigned limit, GError **error);

/** Mark a message as done and delete its content. */
bool inbox_mark_done(
    struct store *store, int64_t id, const char *verdict, int64_t now, GError **error);

/** Record the number of attempts without a result. */
bool
inbox_mark_started(struct store *store, int64_t id, unsigned started, GError **error);

/** @param id  of the newest message, or 0 */
bool inbox_load_newest(struct store *store, int64_t *id, GError **error);

/** Record a failed attempt; retry at next_try_at. */
bool inbox_save_failure(struct store *store, int64_t id, const char *verdict,
    int64_t next_try_at, GError **error);

/** Record the last failed attempt. */
bool inbox_save_quarantined(
    struct store *store, int64_t id, const char *verdict, int64_t now, GError **error);

/** Make a new or quarantined message due now, and reset its attempts. */
bool inbox_retry_at(struct store *store, int64_t id, int64_t now, GError **error);

/** Count new messages. @param oldest_at  when the first was received, s; -1: none */
bool inbox_count_new(
    struct store *store, int64_t *count, int64_t *oldest_at, GError **error);

bool inbox_count_quarantined(struct store *store, int64_t *count, GError **error);

/** @return of char *: "3 rate limited: replies-per-day", for messages without a reply
 */
GPtrArray *inbox_load_unanswered(struct store *store, int64_t since, GError **error);
