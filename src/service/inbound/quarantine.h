/*
 * quarantine.h - retry or drop messages that could not be processed.
 *
 *   retry  make it new and due now, without failed tries
 *   drop   mark it done: its content is deleted, and duplicates are ignored
 *
 * New messages can be retried or dropped, too.  Those done are left alone.
 */
#ifndef PAPERBOY_SERVICE_INBOUND_QUARANTINE_H
#define PAPERBOY_SERVICE_INBOUND_QUARANTINE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

enum quarantine_action { QUARANTINE_RETRY, QUARANTINE_DROP };

struct quarantine_request {
	enum quarantine_action action;
	const char *who; /* for the audit log */
	int64_t now;
};

/**
 * Retry or drop some messages, in one commit.
 *
 * @param is_done  set on success for each: it was done before
 * @return false with PB_ERROR_NOT_FOUND if one does not exist; then none is changed
 */
bool quarantine_change(struct store *store, const struct quarantine_request *request,
    const int64_t *ids, unsigned count, bool *is_done, GError **error);

/** Retry or drop all quarantined messages, in pages. @param count  increased */
bool quarantine_change_all(struct store *store,
    const struct quarantine_request *request, unsigned *count, GError **error);

#endif
