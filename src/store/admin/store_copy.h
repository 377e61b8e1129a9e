/*
 * store_copy.h - copy all rows of one store to another, between any two engines.
 *
 * Tables and columns are those of the databases' own catalogs.  Tables that each
 * machine makes from the papers are not copied (store/paper/archive.h).
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

struct store_copy_table {
	char *name;
	int64_t rows;
	uint64_t checksum; /* of the rows in any order, the same on each engine */
};

/* Called now and then. */
struct store_copy_progress {
	/* @param doing  what is done; @param table  or NULL; @param count  of rows, or
	 * of indexes */
	void (*call)(void *data, const char *doing, const char *table, int64_t count);
	void *data;
};

/**
 * Copy all rows, in a transaction of `to`, and compare counts and checksums.
 *
 * A row at a time is in memory.  Indexes, triggers and references are made after the
 * rows; on a server, its tables are locked.
 *
 * @param from      of this version, in a snapshot
 * @param progress  or NULL
 * @param tables    set: of struct store_copy_table *, by name
 * @return false with PB_ERROR_INPUT when `to` has rows already, PB_ERROR_PERMANENT when
 *         the rows that were written differ
 */
bool store_copy_rows(struct store *from, struct store *to,
    const struct store_copy_progress *progress, GPtrArray **tables, GError **error);

/** Before the transactions of a copy: sort large tables in files, not in memory, and do
 * not check references. */
bool store_copy_prepare(struct store *to, GError **error);

/** Before a copy, in a transaction: mark a new store as one that is not to be used. */
bool store_copy_mark(struct store *to, GError **error);

/** @return false with PB_ERROR_PERMANENT when a copy to this store did not end */
bool store_copy_check(struct store *store, const char *name, GError **error);
