/*
 * backup_service.h - making and restoring backups.
 *
 * A backup is one file (store/admin/backup.h) with the store, the key and OAuth logins.
 * It is written while paperboyd runs, under another name in the same directory,
 * verified, and renamed.
 *
 * A restore replaces the store in one step (renameat2(2) with RENAME_EXCHANGE): after a
 * crash the directory has either the old store or the new one, complete.  The key is in
 * the store, and is written to its file by the next program that loads it, as are OAuth
 * logins if there are none: those of the directory are newer.  The old
 * files are kept in a directory before-restore-TIME.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/settings.h"
#include "store/admin/backup.h"

struct backup_service_request {
	const char *path; /* of the backup */
	bool may_replace; /* an existing file */
	int64_t now;
	const char *who; /* for the audit log */
	backup_progress progress;
	void *data;
};

/**
 * Make a backup.
 *
 * @param size_bytes  set on success
 * @return false with PB_ERROR_INPUT when the file exists, or would be in the state
 *         directory; nothing has changed then
 */
bool backup_service_run(const struct settings *settings, struct store *store,
    const struct backup_service_request *request, int64_t *size_bytes, GError **error);

struct backup_service_report {
	struct backup_restored restored;
	char *aside; /* the directory with the old files */
	/* Carried over from the replaced database: changes since the backup. */
	bool is_carried; /* false: it was damaged, missing, or had another key */
	unsigned unsubscribed, suppressed, erased;
};

/**
 * Replace the store by a backup.
 *
 * @param report  set on success; the caller frees aside
 * @return false with PB_ERROR_TEMPORARY while paperboyd or paperboyctl is running,
 *         PB_ERROR_INPUT if the file is not a valid backup; nothing has changed then
 */
bool backup_service_restore(const struct settings *settings, const char *path,
    int64_t now, const char *who, struct backup_service_report *report, GError **error);
