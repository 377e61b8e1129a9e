/*
 * backup_service.h - backups are made, and restored.
 *
 * A backup is one file (store/core/backup.h): the store and the key.  It is made while
 * paperboyd and others are at work, under another name in the same folder, checked,
 * and renamed when it is whole.
 *
 * A restore exchanges the store in one step (rename(2) with RENAME_EXCHANGE): killed
 * anywhere, the folder has the old store, whole, or the new one, whole.  The key comes
 * in the store and is put into its file by whoever loads it next.  What was there is
 * kept in a folder before-restore-TIME.
 */
#ifndef PAPERBOY_SERVICE_HEALTH_BACKUP_SERVICE_H
#define PAPERBOY_SERVICE_HEALTH_BACKUP_SERVICE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/settings.h"
#include "store/core/backup.h"

struct backup_service_request {
	const char *path; /* of the backup */
	bool may_replace; /* a file that is there */
	int64_t now;
	const char *who; /* for the audit */
	backup_progress progress;
	void *data;
};

/**
 * Make a backup.
 *
 * @param size_bytes  set on success
 * @return false with PB_ERROR_INPUT when the file is there already, or would lie in the
 *         state folder; what was there is untouched
 */
bool backup_service_run(const struct settings *settings, struct store *store,
    const struct backup_service_request *request, int64_t *size_bytes, GError **error);

struct backup_service_report {
	struct backup_restored restored;
	char *aside; /* the folder with what was there */
	/* Carried over from the database that was replaced, since the backup. */
	bool is_carried; /* false: it was damaged, missing, or had another key */
	unsigned unsubscribed, suppressed, erased;
};

/**
 * Put a backup in the place of the store.
 *
 * @param report  set on success; the caller frees aside
 * @return false with PB_ERROR_TEMPORARY while paperboyd or paperboyctl is at work,
 *         PB_ERROR_INPUT when the file is no sound backup; then nothing has changed
 */
bool backup_service_restore(const struct settings *settings, const char *path,
    int64_t now, const char *who, struct backup_service_report *report, GError **error);

#endif
