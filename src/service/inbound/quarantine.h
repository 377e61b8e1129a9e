/*
 * quarantine.h - what an operator does to letters that could not be handled.
 *
 *   retry  it is new and due now, without failed tries
 *   drop   it is done: what it says is forgotten, and coming again it is not taken
 *
 * Both may be done to a letter that is still new.  One that is done stays so.
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
	const char *who; /* for the audit */
	int64_t now;
};

/**
 * Do it to named letters, all in one commit.
 *
 * @param is_done  set on success, for each: it was done before, and left alone
 * @return false with PB_ERROR_NOT_FOUND when one does not exist; then nothing is done
 */
bool quarantine_change(struct store *store, const struct quarantine_request *request,
    const int64_t *ids, unsigned count, bool *is_done, GError **error);

/** Do it to all that are quarantined, in pages of one commit each. @param count  added
 * to
 */
bool quarantine_change_all(struct store *store,
    const struct quarantine_request *request, unsigned *count, GError **error);

#endif
