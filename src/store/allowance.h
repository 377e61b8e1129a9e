/*
 * allowance.h - how much was answered to whom lately, so that it can be limited.
 *
 * An address and its domain are kept as HMACs, like suppressions: they can be counted,
 * and none can be read.  None of these functions opens a transaction.
 */
#ifndef PAPERBOY_STORE_ALLOWANCE_H
#define PAPERBOY_STORE_ALLOWANCE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"

enum allowance_kind {
	ALLOWANCE_CONFIRMATION, /* to somebody who is no subscriber */
	ALLOWANCE_STRANGER,     /* any other answer to such */
	ALLOWANCE_ANSWER,       /* to a subscriber, on an unproven letter */
	ALLOWANCE_PROVEN,       /* to a subscriber who proved to be that */
	ALLOWANCE_HELP,         /* unasked: the letter held no command */
	ALLOWANCE_OWNER,        /* passed on to the owner */
	ALLOWANCE_LEFT,         /* about an unsubscription, after it */
};

/* Whom it was for, without telling. */
struct allowance_person {
	char *person; /* 64 hexadecimal digits each */
	char *domain;
};

/**
 * @param limit_key  door_format_limit_key() of the address
 * @param person     set; allowance_person_clear() it
 */
void allowance_person_init(
    GBytes *key, const char *limit_key, struct allowance_person *person);
void allowance_person_clear(struct allowance_person *person);

bool allowance_insert(struct store *store, enum allowance_kind kind,
    const struct allowance_person *person, int64_t now, GError **error);

/** Forget all of a kind to this address. */
bool allowance_delete(struct store *store, enum allowance_kind kind,
    const struct allowance_person *person, GError **error);

/** Date all of a kind to this address back to a time, where they are later. */
bool allowance_date_back(struct store *store, enum allowance_kind kind,
    const struct allowance_person *person, int64_t at, GError **error);

/** How many to this address, or to this domain, or to anybody, since a time. */
bool allowance_count(struct store *store, enum allowance_kind kind,
    const struct allowance_person *person, int64_t since, int64_t *count,
    GError **error);
bool allowance_count_domain(struct store *store, enum allowance_kind kind,
    const struct allowance_person *person, int64_t since, int64_t *count,
    GError **error);
bool allowance_count_all(struct store *store, enum allowance_kind kind, int64_t since,
    int64_t *count, GError **error);

/* Requests that no confirmation was sent for, since limits for all were reached. */
struct allowance_dropped {
	int64_t total;   /* ever */
	int64_t lately;  /* since there was last a day without one */
	int64_t last_at; /* s; -1: never */
};

bool allowance_load_dropped(
    struct store *store, struct allowance_dropped *dropped, GError **error);

/** Count one more. */
bool allowance_save_dropped(struct store *store, int64_t now, GError **error);

/** Forget up to a limit of rows from before a time. @param count set */
bool allowance_prune(struct store *store, int64_t before, unsigned limit,
    unsigned *count, GError **error);

#endif
