/*
 * archive_cache.h - a machine's own copy of the papers, with their index.
 *
 * A database server has no index of the archive.  Each machine copies papers and
 * listings to an SQLite file, in which searches, backtests and the tokenizer run as in
 * any store (store/paper/archive.h).  The file contains nothing else: it is deleted and
 * made again when it is damaged.
 *
 * Papers are compared in blocks of adjacent numbers, by sums of what changes with them;
 * blocks that differ are copied, each in a transaction.  So the copy also follows a
 * database that was restored from a backup.
 */
#ifndef PAPERBOY_STORE_PAPER_ARCHIVE_CACHE_H
#define PAPERBOY_STORE_PAPER_ARCHIVE_CACHE_H

#include <glib.h>
#include <stdbool.h>

#include "store/core/store.h"

/**
 * Open the copy, or create it, and make it the archive of a store.
 *
 * @param path  of the file; one that is damaged or newer than this program is replaced
 */
bool archive_cache_open(struct store *store, const char *path, GError **error);

/**
 * Copy the papers that have changed.  The first copy of a large archive takes minutes.
 *
 * @return store_get_archive(); NULL on error
 */
struct store *archive_cache_refresh(struct store *store, GError **error);

/** Copy the papers and listings that differ, and index them. @param copied  blocks */
bool archive_cache_copy(
    struct store *from, struct store *cache, unsigned *copied, GError **error);

/** Count the blocks of papers that differ; for doctor. */
bool archive_cache_compare(
    struct store *from, struct store *cache, unsigned *blocks, GError **error);

#endif
