/*
 * store.h - the SQLite file: opening it, and transactions.
 *
 * One handle belongs to one thread.  WAL with synchronous=FULL: what a commit
 * returned from is on the disk.  Migrations run when a file is opened for
 * writing; a newer, foreign or damaged file is refused and never replaced.
 *
 * No statement stays open across a commit: read in pages by key.
 */
#ifndef PAPERBOY_STORE_CORE_STORE_H
#define PAPERBOY_STORE_CORE_STORE_H

#include <glib.h>
#include <stdbool.h>

#include "base/cleanup.h"
#include "query/tokenizer_ops.h"

struct store;

/**
 * Open the store, making it (mode 0600) when it does not exist yet.
 *
 * @param path  the file; its folder must exist
 * @return NULL with PB_ERROR_PERMANENT when the file is damaged, newer than this
 *         program, open to others or no store of paperboy; PB_ERROR_TEMPORARY when
 *         it is locked
 */
struct store *store_open(const char *path, GError **error);

/**
 * Open a store that exists, to read it only; nothing is made, changed or migrated.
 *
 * Its mode is not looked at: a backup on a strange disk may be anybody's to read.  It
 * may be of an older version, see store_get_data_version().
 *
 * @return NULL with PB_ERROR_NOT_FOUND when there is no file, else as store_open()
 */
struct store *store_open_for_reading(const char *path, GError **error);

/** The version of the file, and the one that this program writes. */
bool
store_get_data_version(struct store *store, int *version, int *ours, GError **error);
void store_free(struct store *store);
PB_DEFINE_AUTO(store, store_free);

/** The tokenizer of this handle: SQLite's unicode61, for this thread only. */
const struct tokenizer *store_get_tokenizer(struct store *store);

/* A transaction rolls back by itself unless its commit was reached. */
struct store_transaction {
	struct store *store; /* NULL when none is open */
	bool is_inner;       /* a savepoint of another one */
};

/** Have somebody told of each commit of this handle, which shows that a long work gets
 * on; in its thread, and without a word to the store.  NULL: nobody. */
void
store_set_commit_hook(struct store *store, void (*reported)(void *data), void *data);

/**
 * Begin at once as the writer (BEGIN IMMEDIATE).
 *
 * Within another transaction of the handle, which must be a writer's, it is a part of
 * that one (SAVEPOINT): rolled back it leaves the rest alone, committed it stays only
 * if the other one does.  They end in the reverse order of their beginnings.
 */
bool
store_begin(struct store *store, struct store_transaction *transaction, GError **error);

/**
 * Between two transactions of a long work that would begin the next one at once: who
 * waits to write gets in now, and not by chance.
 */
void store_yield(void);

/**
 * Ask a long work to end behind its next commit, once *stop is not 0: the next run
 * goes on there.  @param stop  borrowed; NULL: nobody asks
 */
void store_set_stop(struct store *store, const int *stop);
bool store_is_stopped(const struct store *store);

/** Begin to read: one state of the store, whoever writes meanwhile. */
bool store_begin_reading(
    struct store *store, struct store_transaction *transaction, GError **error);
bool store_commit(struct store_transaction *transaction, GError **error);
void store_rollback(struct store_transaction *transaction);

#define pb_transaction __attribute__((cleanup(store_rollback))) struct store_transaction

/** Truncate the write-ahead log when nobody reads; for a clean end. */
void store_checkpoint(struct store *store);

/**
 * Make sure that what was deleted is not in the files any more: neither in free
 * pages, nor in copies that moving rows left in pages that are in use, nor in the
 * write-ahead log.  The whole file is written anew, so this takes as long as
 * copying it, and as much room again on the disk until it is done.
 *
 * @return false with PB_ERROR_TEMPORARY while others read or write
 */
bool store_erase(struct store *store, GError **error);

/** A named number that outlives the process. @return fallback when never set */
bool store_load_cursor(struct store *store, const char *name, int64_t fallback,
    int64_t *value, GError **error);
bool
store_save_cursor(struct store *store, const char *name, int64_t value, GError **error);

#endif
