/*
 * rate_log.h - recent replies by recipient, for rate limits.
 *
 * Addresses and domains are stored as HMACs, like suppressions: they can be counted but
 * not read.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

enum rate_kind {
	RATE_CONFIRMATION, /* to an address that is not subscribed */
	RATE_UNKNOWN,      /* any other reply to such an address */
	RATE_REPLY,        /* to a subscriber, without a valid token */
	RATE_PROVEN,       /* to a subscriber, with a valid token */
	RATE_OWNER,        /* forwarded to the owner */
	RATE_LEFT,         /* about an unsubscription, after it */
	RATE_LINK,       /* with a link to the preferences, by the token of a digest */
	RATE_TYPED,      /* the same, for an address typed on the page */
	RATE_INVITATION, /* invited somebody */
};

/* How requests come in.  What is counted for a domain or for all is counted for each of
 * these, so that a flood of one does not close the others. */
enum rate_budget {
	RATE_BUDGET_MAIL,
	RATE_BUDGET_VERIFIED, /* mail whose sender our mail server has verified */
	RATE_BUDGET_PAGE,
	RATE_BUDGETS
};

struct rate_key {
	char *address_hash; /* HMACs, 64 hexadecimal digits each */
	char *domain_hash;
	enum rate_budget budget;
};

/**
 * @param secret   the keys of the state directory
 * @param address  autoreply_format_rate_key() of the address
 * @param key      set; rate_key_clear() it
 */
void rate_key_init(
    GBytes *secret, const char *address, enum rate_budget budget, struct rate_key *key);
void rate_key_clear(struct rate_key *key);

bool rate_log_insert(struct store *store, enum rate_kind kind,
    const struct rate_key *key, int64_t now, GError **error);

/** Delete the entries of a kind for this address. */
bool rate_log_delete(struct store *store, enum rate_kind kind,
    const struct rate_key *key, GError **error);

/** Set the time of later entries of a kind for this address back to a time. */
bool rate_log_backdate(struct store *store, enum rate_kind kind,
    const struct rate_key *key, int64_t at, GError **error);

/** Count the entries since a time: for the address, and of one budget for its domain
 * and for all. */
bool rate_log_count(struct store *store, enum rate_kind kind,
    const struct rate_key *key, int64_t since, int64_t *count, GError **error);
bool rate_log_count_domain(struct store *store, enum rate_kind kind,
    const struct rate_key *key, int64_t since, int64_t *count, GError **error);
bool rate_log_count_all(struct store *store, enum rate_kind kind,
    enum rate_budget budget, int64_t since, int64_t *count, GError **error);

/* Requests without a confirmation, because a global limit was reached. */
struct rate_log_dropped {
	int64_t total;   /* ever */
	int64_t lately;  /* since the last day without one */
	int64_t last_at; /* s; -1: never */
};

bool rate_log_load_dropped(
    struct store *store, struct rate_log_dropped *dropped, GError **error);

/** Count one more dropped request. */
bool rate_log_save_dropped(struct store *store, int64_t now, GError **error);
