/*
 * backup.h - a store as one file that is whole with its key, and back again.
 *
 * A backup is a store of paperboy in a file of its own, without a log beside it, whose
 * table `backup` has the key and the time.  It is copied from one snapshot while others
 * write (SQLite's backup API inside a read transaction: it never begins anew).
 *
 * What was mailed after the backup was made is not in it.  So a store that is made
 * from one sends nothing by itself that its people may have: what is unsent is HELD,
 * and so is the next edition of everybody whose slot has passed since.  Nor does it let
 * anything be done twice: no ticket outlives it, for one may have been used since, and
 * letters that were not handled yet are quarantined.
 */
#ifndef PAPERBOY_STORE_CORE_BACKUP_H
#define PAPERBOY_STORE_CORE_BACKUP_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/* Pages copied between two calls of a progress function. */
#define BACKUP_STEP_PAGES 512

/* Told between the steps of a copy; or NULL. */
typedef void (*backup_progress)(void *data, int done_pages, int all_pages);

struct backup_plan {
	GBytes *key; /* the secret of the state folder */
	int64_t now;
	backup_progress progress;
	void *data;
};

/**
 * Write a backup into a file that does not exist, mode 0600, and check it whole.
 *
 * @return false with the file gone again
 */
bool backup_write(struct store *store, const char *path, const struct backup_plan *plan,
    GError **error);

struct backup_info {
	int64_t made_at;
	int64_t subscribers; /* who have not left */
	int64_t unsent;      /* messages that had not ended */
};

/**
 * Check a backup whole: header, version, every page, every reference, the key.
 *
 * @return false with PB_ERROR_INPUT when it is none or not sound, else as store_open()
 */
bool backup_check(const char *path, struct backup_info *info, GError **error);

struct backup_restored {
	int64_t made_at;
	int64_t held;     /* messages */
	int64_t people;   /* whose next edition will be HELD */
	int64_t tickets;  /* void now, that waited for somebody's word */
	int64_t messages; /* quarantined now */
};

/*
 * Make a store of a backup that was checked, under a name that does not exist.
 * Numbers of digests and messages go on behind newest_id: one that was used since the
 * backup was made has named another message.
 */
struct backup_make {
	const char *path;  /* of the backup */
	const char *draft; /* of the store */
	int64_t newest_id; /* see above; -1 when nothing knows it */
	int64_t now;
	const char *who;    /* for the audit */
	int64_t generation; /* of the counter file (service/state/generation.h) */
};

bool backup_make_store(
    const struct backup_make *make, struct backup_restored *restored, GError **error);

/**
 * Hold what may have been mailed, as in a store made from a backup, in a database that
 * is older than the mail that was sent (service/state/generation.h).
 *
 * @param generation  what the database's counter becomes: it is noticed once
 */
bool backup_hold_stale(struct store *store, int64_t generation, int64_t now,
    struct backup_restored *held, GError **error);

/** The newest number of a digest or message. @return false when that cannot be read */
bool backup_load_newest_id(const char *path, int64_t *id, GError **error);

/**
 * Fold the log of a store into its file, which then is all of it.
 *
 * @return false with PB_ERROR_TEMPORARY when somebody has it open, PB_ERROR_PERMANENT
 *         when it is not sound
 */
bool backup_vacuum_into(const char *path, GError **error);

/** Put keys into the store, for backup_load_key(). */
bool backup_save_key(struct store *store, GBytes *keys, int64_t now, GError **error);

/** The key that came with the store. @param key set to NULL for none */
bool backup_load_key(struct store *store, GBytes **key, GError **error);
/** It is in its file now. */
bool backup_delete_key(struct store *store, GError **error);

/* When a store was restored, and from when. */
struct backup_restored_from {
	int64_t restored_at;  /* -1: never */
	int64_t made_at;      /* the backup it came from, or -1 */
	int64_t last_made_at; /* the last backup of this store, or -1 */
	int64_t fetched_at;   /* when all sources had been asked since, or -1 */
	int64_t people;       /* active, whose next edition will be HELD */
};

bool backup_load_restored_from(
    struct store *store, struct backup_restored_from *past, GError **error);

/** Record that a backup was made, or that all sources were asked since a restore. */
bool backup_save_completed(struct store *store, int64_t now, GError **error);
bool backup_save_requested(struct store *store, int64_t now, GError **error);

/** Is the next edition of that person to be HELD? */
bool backup_is_next_held(
    struct store *store, int64_t subscriber_id, bool *is_held, GError **error);
bool backup_clear_next_held(struct store *store, int64_t subscriber_id, GError **error);

/** The next edition of everybody is HELD; for a day that may have been mailed. */
bool backup_hold_on_next_start(struct store *store, GError **error);

#endif
