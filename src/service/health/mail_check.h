/*
 * mail_check.h - tries everything that paperboy needs, as it will be used.
 *
 * Configuration, store, each source once, the relay, each mailbox; then a mail to
 * itself through the relay to the address for commands, which the running daemon takes
 * in: did it come back, and how was it signed.  Blocks, for some seconds each.  Nothing
 * is kept but the mail's row.  DNS is not asked.
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
	bool is_daemon_running;
	int64_t wait_s; /* for the mail to come back; 0: none is sent */
};

/** @return of struct health_finding *, in the order in which they were tried */
GPtrArray *mail_check_run(const struct mail_check *check);

#endif
