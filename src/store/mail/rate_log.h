/*
 * rate_log.h - how much was answered to whom lately, so that it can be limited.
 *
 * An address and its domain are kept as HMACs, like suppressions: they can be counted,
 * and none can be read.  None of these functions opens a transaction.
 */
#ifndef PAPERBOY_STORE_MAIL_RATE_LOG_H
#define PAPERBOY_STORE_MAIL_RATE_LOG_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

enum rate_kind {
	RATE_CONFIRMATION, /* to somebody who is no subscriber */
	RATE_UNKNOWN,      /* any other answer to such */
	RATE_ANSWER,       /* to a subscriber, on an unproven letter */
	RATE_PROVEN,       /* to a subscriber who proved to be that */
	RATE_HELP,         /* unasked: the letter held no command */
	RATE_OWNER,        /* passed on to the owner */
	RATE_LEFT,         /* about an unsubscription, after it */
};

/* Whom it was for, without telling. */
struct rate_key {
	char *person; /* 64 hexadecimal digits each */
	char *domain;
};

/**
 * @param limit_key  autoreply_format_rate_key() of the address
 * @param person     set; rate_key_clear() it
 */
void rate_key_init(GBytes *key, const char *limit_key, struct rate_key *person);
void rate_key_clear(struct rate_key *person);

bool rate_log_insert(struct store *store, enum rate_kind kind,
    const struct rate_key *person, int64_t now, GError **error);

/** Forget all of a kind to this address. */
bool rate_log_delete(struct store *store, enum rate_kind kind,
    const struct rate_key *person, GError **error);

/** Date all of a kind to this address back to a time, where they are later. */
bool rate_log_date_back(struct store *store, enum rate_kind kind,
    const struct rate_key *person, int64_t at, GError **error);

/** How many to this address, or to this domain, or to anybody, since a time. */
bool rate_log_count(struct store *store, enum rate_kind kind,
    const struct rate_key *person, int64_t since, int64_t *count, GError **error);
bool rate_log_count_domain(struct store *store, enum rate_kind kind,
    const struct rate_key *person, int64_t since, int64_t *count, GError **error);
bool rate_log_count_all(struct store *store, enum rate_kind kind, int64_t since,
    int64_t *count, GError **error);

/* Requests that no confirmation was sent for, since limits for all were reached. */
struct rate_log_dropped {
	int64_t total;   /* ever */
	int64_t lately;  /* since there was last a day without one */
	int64_t last_at; /* s; -1: never */
};

bool rate_log_load_dropped(
    struct store *store, struct rate_log_dropped *dropped, GError **error);

/** Count one more. */
bool rate_log_save_dropped(struct store *store, int64_t now, GError **error);

/** Forget up to a limit of rows from before a time. @param count set */
bool rate_log_prune(struct store *store, int64_t before, unsigned limit,
    unsigned *count, GError **error);

#endif
