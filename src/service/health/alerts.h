/*
 * alerts.h - reports to the operator about problems, by mail and by HTTP.
 *
 * The problems are those of the health checks with HEALTH_ALERT (health.h).  Each is
 * reported once, again after a day while it lasts, and when it has ended; one that
 * comes back within an hour is reported after that hour.  Reports that are due at the
 * same time are one mail, or one request.  Times are cursors in the store, one of each
 * way, so that a restart does not repeat a report, and one that could not be posted is
 * posted later.
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

/* Interval of the checks: with the time that the relay must have been away, a failure
 * of the relay is posted within five minutes. */
#define ALERTS_INTERVAL_S (2 * 60)

/* When to try again after a failure. */
struct alerts_retry {
	int64_t at;     /* s; 0: now */
	int64_t wait_s; /* before the last attempt */
};

/* One for each URL: a failure of one does not delay the other.  All zero at the start.
 */
struct alerts_retries {
	struct alerts_retry post, ping;
};

/* Borrowed. */
struct alerts {
	struct store *store;
	const struct settings *settings;
	const struct own_addresses *own_addresses;
	const struct mailer_relay *relay; /* NULL: not known */
	const struct random_source *random;
	struct alerts_retries *retries;
};

/** Queue a mail to mail.owner, in the caller's transaction. */
bool alerts_queue_mail(const struct alerts *alerts, const char *subject,
    const char *text, int64_t now, GError **error);

/**
 * Run the checks; queue a mail to mail.owner, and post to alerts.url, what is to be
 * reported there; request alerts.ping_url if there is no problem.  A request that takes
 * long is given up: it fails without an error of this function, and is logged.
 *
 * @param mailed  set on success: number of problems in the mail, begun or ended;
 *                0: none was queued
 */
bool
alerts_run(const struct alerts *alerts, int64_t now, unsigned *mailed, GError **error);
