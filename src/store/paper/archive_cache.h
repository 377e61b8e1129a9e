/*
 * archive_cache.h - a machine's own copy of the papers, with their index.
 *
 * A database server has no index of the archive.  Each machine copies papers and
 * listings to an SQLite file, in which searches, backtests and the tokenizer run as in
 * any store (store/paper/archive.h).  The file contains nothing else: it is deleted and
 * made again when it is damaged.
 *
 * The database numbers the changes of its papers (papers_load_changes()), and the copy
 * asks for those after the last one it has.  It starts anew if the database is another
 * one, and if the numbers of papers or listings differ afterwards.
 */
#pragma once

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
 * @return store_get_archive(); NULL on error, PB_ERROR_STOPPED after store_set_stop()
 */
struct store *archive_cache_refresh(struct store *store, GError **error);

/** Compare the numbers of papers and listings; for doctor. */
bool archive_cache_compare(
    struct store *from, struct store *cache, bool *is_same, GError **error);
