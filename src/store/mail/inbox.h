/*
 * inbox.h - letters that came in: kept raw until they are handled, by key after that.
 *
 * A letter is `new`, then `done` or `quarantined`; an operator can make a quarantined
 * one new again, and `done` is final.  Of what is done the key, the receiver, the size,
 * the times and the verdict stay.  None of these functions opens a transaction.
 */
#ifndef PAPERBOY_STORE_MAIL_INBOX_H
#define PAPERBOY_STORE_MAIL_INBOX_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "store/core/store.h"

/* What is stored of a letter that comes.  All borrowed. */
struct inbox_new {
	const char *key;       /* dedup_key_format() */
	const char *receiver;  /* "lmtp", "maildir" or "imap" */
	const char *sender;    /* "" is the null one, NULL: not told */
	const char *recipient; /* one a line; NULL: not known */
	const void *raw;
	size_t size;
	size_t full_size; /* of the message, when raw is its header alone; else 0 */
};

/* One row, without what the letter says. */
struct inbox_row {
	int64_t id;
	char *key;
	char *receiver;
	char *sender;    /* NULL: not told, or done */
	char *recipient; /* the same */
	int64_t received_at;
	int64_t size; /* of the message; raw may be its header alone */
	char *state;  /* "new", "done" or "quarantined" */
	unsigned tries;
	unsigned started;    /* tries of which nothing was heard */
	int64_t next_try_at; /* or -1 */
	int64_t ended_at;    /* or -1 */
	char *verdict;       /* or NULL */
};

void inbox_row_free(struct inbox_row *row);
PB_DEFINE_AUTO(inbox_row, inbox_row_free);

/**
 * Store a letter, unless its key is known.
 *
 * A copy that comes while the first is new can bring another of our addresses: the
 * longer one is kept, since a tag tells more than none.
 *
 * @param is_fresh  set on success: it was not known
 */
bool inbox_insert(struct store *store, const struct inbox_new *mail, int64_t now,
    bool *is_fresh, GError **error);

/** Load what is new and due, the oldest first. @return of int64_t, at most limit */
GArray *
inbox_load_due(struct store *store, int64_t now, unsigned limit, GError **error);

/** When the next is due. @param at  s, or -1 when none is new */
bool inbox_load_next_due(struct store *store, int64_t *at, GError **error);

/**
 * Load one.
 *
 * @param raw  set to what it says, or to NULL when it is done; NULL: not wanted
 * @return NULL with PB_ERROR_NOT_FOUND when there is none
 */
struct inbox_row *
inbox_load(struct store *store, int64_t id, GBytes **raw, GError **error);

/**
 * Load a page for people, the newest first.
 *
 * @param state   NULL: new and quarantined ones
 * @param before  only numbers below it; the last of the page before, or INT64_MAX
 * @return of struct inbox_row *
 */
GPtrArray *inbox_load_page(struct store *store, const char *state, int64_t before,
    unsigned limit, GError **error);

/** Mark a new or quarantined one as done and forget what it says. */
bool inbox_mark_done(
    struct store *store, int64_t id, const char *verdict, int64_t now, GError **error);

/** Note how many tries of a new one were begun, of which nothing was heard. */
bool
inbox_mark_started(struct store *store, int64_t id, unsigned started, GError **error);

/** @param id  of the newest, or 0 */
bool inbox_load_newest(struct store *store, int64_t *id, GError **error);

/** Count a failed try of a new one, which is due again at next_try_at. */
bool inbox_save_failure(struct store *store, int64_t id, const char *verdict,
    int64_t next_try_at, GError **error);

/** Count a failed try of a new one, which is the last. */
bool inbox_save_quarantined(
    struct store *store, int64_t id, const char *verdict, int64_t now, GError **error);

/** Make one that is new or quarantined due now, without failed tries. */
bool inbox_retry_at(struct store *store, int64_t id, int64_t now, GError **error);

/** Count letters that wait. @param oldest_at  when the first came, s; -1 for none */
bool inbox_count_new(
    struct store *store, int64_t *count, int64_t *oldest_at, GError **error);

/** Count letters that are quarantined. */
bool inbox_count_quarantined(struct store *store, int64_t *count, GError **error);

/** Forget what quarantined ones say that are so since before that time. */
bool inbox_prune_quarantine(struct store *store, int64_t before, unsigned limit,
    unsigned *count, GError **error);

/** Drop the keys of those that are done and came before that time. */
bool inbox_prune(struct store *store, int64_t before, unsigned limit, unsigned *count,
    GError **error);

#endif
