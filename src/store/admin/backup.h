/*
 * backup.h - back up a store with its key to one file, and restore it.
 *
 * A backup is a store without a log, whose table `backup` contains the key and the
 * time. It is copied from one snapshot while others write: SQLite's backup API inside a
 * read transaction never restarts.
 *
 * Mail sent after the backup is not in it.  A restored store therefore sends nothing by
 * itself that may have been sent: unsent messages are HELD, and so is the next digest
 * of everyone whose slot has passed.  Nothing is done twice either: confirmations are
 * deleted, since they may have been used, and unhandled inbound messages are
 * quarantined.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/* Pages copied between two calls of a progress function. */
#define BACKUP_STEP_PAGES 512

/* Called between the steps of a copy; or NULL. */
typedef void (*backup_progress)(void *data, int done_pages, int all_pages);

struct backup_plan {
	GBytes *key;       /* keys of the state directory */
	const char *oauth; /* file of OAuth logins, or NULL */
	int64_t now;
	backup_progress progress;
	void *data;
};

/**
 * Write a backup to a new file, mode 0600, and check it.
 *
 * @return false after removing the file
 */
bool backup_write(struct store *store, const char *path, const struct backup_plan *plan,
    GError **error);

struct backup_info {
	int64_t made_at;
	int64_t subscribers; /* that have not left */
	int64_t unsent;      /* messages */
};

/**
 * Check a backup: header, version, all pages and references, the key.
 *
 * @return false with PB_ERROR_INPUT when it is damaged or not a backup, else as
 *         store_open()
 */
bool backup_check(const char *path, struct backup_info *info, GError **error);

/* A table of a store, to compare it before and after an upgrade. */
struct backup_table {
	char *name, *sql; /* as in sqlite_schema */
	int64_t rows;
};

/** Load the tables by name, without those of the search index. */
GPtrArray *backup_load_tables(struct store *store, GError **error);

struct backup_restored {
	int64_t made_at;
	unsigned held;         /* messages */
	int64_t people;        /* subscribers whose next digest will be HELD */
	int64_t confirmations; /* pending confirmations that were deleted */
	unsigned messages;     /* inbound, quarantined */
};

/*
 * Which of several copies of a store is the newest (service/state/generation.h): each
 * claim of messages adds 1, and a restore raises it above all that are known.
 */
struct backup_generation {
	int64_t own;
	int64_t newest; /* of another copy that was announced; 0: none */
};

/* Maximum of a generation that is announced: the next restores can still raise it. */
#define BACKUP_GENERATION_MAX (INT64_MAX / 2)

bool backup_load_generation(
    struct store *store, struct backup_generation *generation, GError **error);

/** Load the generation of another copy from its file, such as a backup. */
bool backup_load_file_generation(const char *path, int64_t *generation, GError **error);

/** Record the generation of another copy.  If it is newer, the store is superseded. */
bool backup_announce(struct store *store, int64_t generation, GError **error);

/** Whether there is a newer copy: then nothing is sent.  A shared store has no copies.
 */
bool backup_is_superseded(struct store *store, bool *is_superseded, GError **error);

/** Make the store the newest copy. @param known  newest generation that is known */
bool backup_supersede(struct store *store, int64_t known, GError **error);

/*
 * Restore a checked backup to a new file.  Ids of digests and messages continue after
 * those that were used since the backup, which have named other messages.  They are
 * known if the replaced store is newer than the backup.
 */
struct backup_make {
	const char *path;  /* of the backup */
	const char *draft; /* path of the new store */
	int64_t now;
	const char *who;    /* for the audit */
	int64_t generation; /* of the counter file (service/state/generation.h) */
	/* Of the replaced store; zero if it is missing or damaged. */
	struct backup_generation replaced;
	int64_t newest_id; /* of a digest or message */
};

bool backup_make_store(
    const struct backup_make *make, struct backup_restored *restored, GError **error);

/**
 * Hold mail as after a restore, in a database that is older than the mail that was sent
 * (service/state/generation.h).
 *
 * @param generation  new value of the counter, so that this happens once
 */
bool backup_hold_stale(struct store *store, int64_t generation, int64_t now,
    struct backup_restored *held, GError **error);

/** Load the newest id and the generation of the store that is replaced. */
bool backup_load_replaced(const char *path, struct backup_make *make, GError **error);

/**
 * Checkpoint the log of a store and remove it.
 *
 * @return false with PB_ERROR_TEMPORARY when the store is in use, PB_ERROR_PERMANENT
 * when it is damaged
 */
bool backup_vacuum_into(const char *path, GError **error);

/** Store the keys, for backup_load_key(). */
bool backup_save_key(struct store *store, GBytes *keys, int64_t now, GError **error);

/** Load the keys in the store. @param key  set; NULL for none */
bool backup_load_key(struct store *store, GBytes **key, GError **error);

/** Load the file of OAuth logins in the store. @param oauth  set; NULL for none */
bool backup_load_oauth(struct store *store, char **oauth, GError **error);

/** Delete keys and logins once they are in their files. */
bool backup_delete_key(struct store *store, GError **error);

/* Times in s; -1: never. */
struct backup_restored_from {
	int64_t restored_at;
	int64_t made_at;      /* time of the restored backup */
	int64_t last_made_at; /* time of the last backup of this store */
	int64_t fetched_at;   /* when all sources had been fetched after the restore */
	int64_t people;       /* active subscribers whose next digest will be HELD */
};

bool backup_load_restored_from(
    struct store *store, struct backup_restored_from *previous, GError **error);

/** Record that a backup was made, or that all sources were fetched after a restore. */
bool backup_save_completed(struct store *store, int64_t now, GError **error);
bool backup_save_requested(struct store *store, int64_t now, GError **error);

/** Whether the next digest of a subscriber is to be HELD. */
bool backup_is_next_held(
    struct store *store, int64_t subscriber_id, bool *is_held, GError **error);
bool backup_clear_next_held(struct store *store, int64_t subscriber_id, GError **error);

/** Hold the next digest of every subscriber, which may have been mailed. */
bool backup_hold_on_next_start(struct store *store, GError **error);
