/*
 * alerts.h - mail to the owner about problems.
 *
 * The problems are those of the health checks with HEALTH_ALERT (health.h).  Each is
 * mailed at most once a day while it lasts, all that are due in one mail.  Times are
 * cursors in the store, so a restart does not repeat an alert.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/random.h"
#include "config/settings.h"
#include "service/delivery/mailer.h"
#include "service/state/own_addresses.h"
#include "store/core/store.h"

/* Interval of the checks. */
#define ALERTS_INTERVAL_S (10 * 60)

/* Borrowed. */
struct alerts {
	struct store *store;
	const struct settings *settings;
	const struct own_addresses *own_addresses;
	const struct mailer_relay *relay; /* NULL: not known */
	const struct random_source *random;
};

/**
 * Run the checks, and queue a mail to mail.owner if there is a new problem; does
 * nothing if mail.alerts is off.
 *
 * @param reported  set on success: number of problems in the mail; 0: none was queued
 */
bool alerts_run(
    const struct alerts *alerts, int64_t now, unsigned *reported, GError **error);
