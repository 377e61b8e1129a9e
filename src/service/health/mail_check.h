/*
 * mail_check.h - end-to-end check of configuration, sources, relay and receivers.
 *
 * Fetches each source once, connects to the relay and to each receiver, then sends a
 * mail through the relay to the address for commands and waits until the running daemon
 * has received it.  Reports whether it arrived, and its DKIM signature, and whether the
 * page unsubscribes with one click.  Each step blocks for some seconds.  Only the row
 * of that mail and the result of the page are stored.  DNS is not queried for records
 * of mail.
 */
#ifndef PAPERBOY_SERVICE_HEALTH_MAIL_CHECK_H
#define PAPERBOY_SERVICE_HEALTH_MAIL_CHECK_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/random.h"
#include "config/settings.h"
#include "service/health/health.h"
#include "store/core/store.h"

/* Borrowed. */
struct mail_check {
	const struct settings *settings;
	struct store *store;
	const struct clock *clock;
	const struct random_source *random;
	GBytes *key; /* of the state directory */
	bool is_daemon_running;
	int64_t wait_s; /* timeout for the mail, 0: send none; and, up to
	                 * WEB_CHECK_RESPONSE_S, for each response of the page */
};

/** @return of struct health_finding *, in the order of the steps */
GPtrArray *mail_check_run(const struct mail_check *check);

#endif
