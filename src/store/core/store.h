/*
 * store.h - open the database, and transactions.
 *
 * A handle belongs to one thread.  WAL with synchronous=FULL: a commit that returned is
 * on disk.  Opening a file for writing migrates it; a newer, foreign or damaged file is
 * rejected and never replaced.
 *
 * store_transact() is the only way to write several rows in one commit.  It is called
 * in src/service, which decides what is one commit; a function of src/store that runs
 * several statements runs them in its caller's transaction.  Only backup.c opens one
 * itself, in the store that it creates.
 *
 * No statement stays open across a commit: read in batches, by key.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "query/tokenizer_ops.h"

struct store;

/**
 * Open the store, or create it with mode 0600.
 *
 * @param path  the file; its directory must exist.  Or the URL of a database server
 * that needs no password, see store_open_server()
 * @return NULL with PB_ERROR_PERMANENT when the file is damaged, newer than this
 *         program, accessible to others or not a store; PB_ERROR_TEMPORARY when it is
 *         locked
 */
struct store *store_open(const char *path, GError **error);

/**
 * Open an existing store read-only, without migration.
 *
 * Its mode is not checked: a backup may be on a file system without permissions.  Its
 * version may be older, see store_get_data_version().
 *
 * @return NULL with PB_ERROR_NOT_FOUND when there is no file, else as store_open()
 */
struct store *store_open_for_reading(const char *path, GError **error);

/* A database server. */
struct store_server {
	const char *url;      /* postgresql://..., without a password */
	const char *password; /* or NULL */
	bool is_read_only;
	const char *history_path; /* see store/core/history.h; or NULL */
};

/** Whether the name of a store is that of a server. */
bool store_is_server(const char *name);

/** Check the URL of a server. @return false with PB_ERROR_INPUT if it is wrong */
bool store_check_url(const char *url, GError **error);

/**
 * Open the store in a database of PostgreSQL, and create or migrate its schema; or
 * read-only, as store_open_for_reading().
 *
 * @return NULL with PB_ERROR_INPUT for a wrong URL, PB_ERROR_TEMPORARY without a
 *         connection, else as store_open()
 */
struct store *store_open_server(const struct store_server *server, GError **error);

/* A server ends a statement after ten minutes, unless it hangs. */
#define STORE_WAIT_S 620

/* For work without that limit. */
#define STORE_WAIT_LONG_S (24 * 60 * 60)

/**
 * Set the maximum time to wait for a result of a server; then the connection is lost.
 */
void store_set_wait(struct store *store, int64_t wait_s);

/** @param version  of the file; @param ours  of this program */
bool
store_get_data_version(struct store *store, int *version, int *ours, GError **error);

void store_free(struct store *store);
PB_DEFINE_AUTO(store, store_free);

/**
 * Whether several machines work on this store at a time.  Otherwise the lock of the
 * state directory allows one instance (store/core/instances.h).
 */
bool store_is_shared(const struct store *store);
/** For tests: as if several machines worked on an SQLite file. */
void store_set_shared(struct store *store);

/**
 * Whether the database server was replaced by another one since the handle was opened,
 * such as a standby that was promoted: its last commits may be lost.
 *
 * Later statements fail, so that nothing is written which depends on such a commit.
 * All handles of a process, and what they have read, are to be given up.
 */
bool store_is_outdated(const struct store *store);

/** The instance that this handle works for; 0: none. */
void store_set_holder(struct store *store, int64_t holder);
int64_t store_get_holder(const struct store *store);

/**
 * Get the store with the index of all papers: the store itself, or this machine's copy
 * of the papers of a database server (store/paper/archive_cache.h).
 */
struct store *store_get_archive(struct store *store);

/** Get the tokenizer of the search index (tokenizer.h); for the thread of this handle
 * only. */
const struct tokenizer *store_get_tokenizer(struct store *store);

/** @param data  of the caller @return false with an error to roll back */
typedef bool store_work(struct store *store, void *data, GError **error);

/**
 * Run statements in one transaction (BEGIN IMMEDIATE) and commit it.
 *
 * A database server rejects a transaction that conflicts with another.  It is rolled
 * back and the work runs again, a few times at most.  So a work function
 *   - sets its outputs as if it had not run before,
 *   - frees what it made when it fails,
 *   - changes nothing outside of the store: messages, log lines, files, wake-ups and
 *     state in memory follow after store_transact() has succeeded.
 *
 * Inside another transaction it is a savepoint: it is rolled back alone when the work
 * fails, and is committed and run again with the outer transaction only.
 *
 * @return false with the error of the work or the commit, rolled back;
 *         PB_ERROR_TEMPORARY when there was a conflict each time
 */
bool store_transact(struct store *store, store_work *work, void *data, GError **error);

/**
 * Run work in a transaction, without conflicts with reading: for work that depends only
 * on rows that it locks (SQL_LOCK_ROWS(), UPDATE, DELETE), or says why it need not.
 *
 * On a server store_transact() is SERIALIZABLE, and this is READ COMMITTED: each
 * statement reads the last commits, and one that locks or changes a row waits for its
 * writer and checks its condition on the new version.  Serializable transactions are
 * protected from each other only, so that what they and this work depend on must be in
 * rows that both change (PostgreSQL's manual, sections 13.2.1, 13.2.3 and 13.3.2).
 * Only deadlocks run it again.
 */
bool
store_transact_rows(struct store *store, store_work *work, void *data, GError **error);

/**
 * Run work in a transaction, all of it from the snapshot of its first statement, which
 * is to lock what the work depends on; the rest may have changed before the commit.
 *
 * On a server this is REPEATABLE READ: the work runs again if a row that it locks or
 * changes was changed after the snapshot.
 */
bool store_transact_snapshot(
    struct store *store, store_work *work, void *data, GError **error);

/**
 * Call a function after the commit of the current transaction, or at once if there is
 * none.  It is not called if the transaction, or a savepoint around this call, is
 * rolled back.
 *
 * @param call  must not use the store  @param data  ownership moves to free
 */
void store_after_commit(
    struct store *store, void (*call)(void *data), void *data, GDestroyNotify free);

/**
 * For tests: run each work function twice, and roll back the first run.  The store must
 * be the same as after one run.
 */
void store_set_rerun(struct store *store, bool runs_twice);

/* Ends at the end of its scope. */
struct store_snapshot {
	struct store *store; /* NULL when none is open */
};

#define pb_snapshot __attribute__((cleanup(store_end_reading))) struct store_snapshot

/**
 * Read from one snapshot until its end; nothing can be written meanwhile.  Reading does
 * not conflict, so it is not run again.  Inside a transaction there is nothing to do.
 */
bool store_begin_reading(
    struct store *store, struct store_snapshot *snapshot, GError **error);
void store_end_reading(struct store_snapshot *snapshot);

/** Set a function to call after each commit, such as a heartbeat.  It must not use the
 * store.  NULL: none. */
void store_set_commit_hook(struct store *store, void (*hook)(void *data), void *data);

/**
 * Let a waiting writer in.  For long jobs that would begin their next transaction
 * immediately.
 */
void store_yield(void);

/**
 * Set a flag that stops long jobs after their next commit once *stop is not 0; the next
 * run continues there.  @param stop  borrowed, or NULL
 */
void store_set_stop(struct store *store, const int *stop);
bool store_is_stopped(const struct store *store);

/**
 * Set a function that long jobs call between two of their commits, for work that must
 * not wait for their end.  It may use the store.  NULL: none.
 */
void store_set_between(struct store *store, void (*between)(void *data), void *data);
void store_call_between(const struct store *store);

/**
 * Do not sync the next commits of this handle, whose effects are in the store alone.
 *
 * A power loss undoes all since the last sync of any handle, so that no commit is lost
 * before a later one: a message that another handle has claimed was synced with the
 * claim.  On a server synchronous_commit is off meanwhile.
 */
void store_defer_sync(struct store *store);

/** Sync these commits, and each of the next ones. */
bool store_resume_sync(struct store *store, GError **error);

/** Truncate the write-ahead log if there is no reader; at shutdown.  Nothing on a
 * server. */
void store_checkpoint(struct store *store);

/**
 * Remove deleted rows from the files: from free pages, from unused parts of pages and
 * from the write-ahead log.  Rewrites the whole file (VACUUM), which needs as much free
 * disk space again.  On a server, lets later rows overwrite them (VACUUM), while others
 * use the tables: its log, archive and backups have their own retention in any case.
 *
 * @return false with PB_ERROR_TEMPORARY while others read or write
 */
bool store_erase(struct store *store, GError **error);

/**
 * Count rows in an index: a million take about 30 ms.
 *
 * @param name  of those in store.c, such as "outbox SENDING"
 */
bool
store_load_count(struct store *store, const char *name, int64_t *count, GError **error);

/**
 * Load or save the MAC of the key file, to detect a wrong or damaged key.
 *
 * @param mac  set: a new string; NULL when there is no key yet
 */
bool store_load_key_check(struct store *store, char **mac, GError **error);
bool store_save_key_check(struct store *store, const char *mac, GError **error);

/** List the names of the cursors that begin with a prefix and are above 0, by name.
 * @return array of char * */
GPtrArray *store_list_cursors(struct store *store, const char *prefix, GError **error);

/** Load a named number from the table cursor. @param fallback  for one never saved */
bool store_load_cursor(struct store *store, const char *name, int64_t fallback,
    int64_t *value, GError **error);
/** Load one that may have any 64 bits, such as a hash or a generation;
 * others are at most SQL_NUMBER_MAX. */
bool store_load_int64(struct store *store, const char *name, int64_t fallback,
    int64_t *value, GError **error);
bool
store_save_cursor(struct store *store, const char *name, int64_t value, GError **error);

/* Statements since the store was opened, and those of them that write rows. */
struct store_work {
	unsigned statements, writes;
};

/** Get what was done: a request can do as much as another one. */
struct store_work store_get_work(const struct store *store);
