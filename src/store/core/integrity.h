/*
 * integrity.h - whether a store is what it has to be: its pages, references and rows.
 *
 * Everything here only reads, and works while others write.
 */
#ifndef PAPERBOY_STORE_CORE_INTEGRITY_H
#define PAPERBOY_STORE_CORE_INTEGRITY_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/* What is always so, whatever was done and whenever it was killed. */
struct integrity_rule {
	const char *name;   /* stable, for scripts */
	const char *wrong;  /* behind a count: "3 digests are under way without ..." */
	const char *advice; /* what to do */
};

/** The rules, ended by a row without name. */
extern const struct integrity_rule integrity_rules[];

/**
 * Count the rows that break a rule.
 *
 * @param rule  an index into integrity_rules
 * @param now   s
 */
bool integrity_count(
    struct store *store, unsigned rule, int64_t now, int64_t *count, GError **error);

/**
 * Look at every page (PRAGMA integrity_check).
 *
 * @param problems  of char *: SQLite's words are appended, at most ten
 * @return false when it cannot even look; then the file is not sound
 */
bool integrity_check_pages(struct store *store, GPtrArray *problems, GError **error);

/** Look for rows that refer to none: what PRAGMA foreign_key_check knows of, and
 * match. As integrity_check_pages() */
bool
integrity_check_references(struct store *store, GPtrArray *problems, GError **error);

/* A filter as it is stored. */
struct integrity_filter {
	int64_t id;
	char *canonical;
	char *hash;
};

void integrity_filter_free(struct integrity_filter *filter);

/** Load a page of filters, by id. @return of struct integrity_filter * */
GPtrArray *integrity_load_filters(
    struct store *store, int64_t after, unsigned limit, GError **error);

/** The zones of those who have not left, each once. @return of char * */
GPtrArray *integrity_load_zones(struct store *store, GError **error);

/** The newest time at which anything was done. @param at -1 for an empty store */
bool integrity_load_newest_time(struct store *store, int64_t *at, GError **error);

#endif
