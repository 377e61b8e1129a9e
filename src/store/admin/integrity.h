/*
 * integrity.h - consistency checks of the database: pages, references, invariants.
 *
 * These functions only read, and run concurrently with writers.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/* An invariant that holds after any operation and any crash. */
struct integrity_rule {
	const char *name;   /* stable, for scripts */
	const char *wrong;  /* after a count: "3 digests are under way without ..." */
	const char *advice; /* action for the operator */
	const char *sql;    /* counts the rows that violate it; ?1 is the time */
	/* Counts them instead of `sql`, or NULL. */
	bool (*count)(struct store *store, int64_t now, int64_t *count, GError **error);
};

/* Ends with a row without name. */
extern const struct integrity_rule integrity_rules[];

/**
 * Count the rows that violate a rule.
 *
 * @param rule  an index into integrity_rules
 * @param now   s
 */
bool integrity_count(
    struct store *store, unsigned rule, int64_t now, int64_t *count, GError **error);

/**
 * Check every page (PRAGMA integrity_check), with a server those of
 * store_get_archive().
 *
 * @param problems  of char *: messages of SQLite are added, at most ten
 * @return false when the check itself fails, which means that the file is damaged
 */
bool integrity_check_pages(struct store *store, GPtrArray *problems, GError **error);

/** Find dangling references (PRAGMA foreign_key_check, and match.filter_id), and
 * append descriptions.
 */
bool
integrity_check_references(struct store *store, GPtrArray *problems, GError **error);

struct integrity_filter {
	int64_t id;
	const char *canonical;
	const char *hash;
};

/** Load a batch of filters, by id. @return of struct integrity_filter * */
GPtrArray *integrity_load_filters(
    struct store *store, int64_t after, unsigned limit, GError **error);

/** Load the distinct time zones of current subscribers. @return of char * */
GPtrArray *integrity_load_zones(struct store *store, GError **error);

/** Load the newest timestamp in the store. @param at  s; -1 for an empty store */
bool integrity_load_newest_time(struct store *store, int64_t *at, GError **error);
