/*
 * alerts.h - mail to the owner about what wants a person.
 *
 * At most one a day for each subject (a source, the relay, the disk, the quarantine,
 * paused domains), all that are due in one letter, as long as it lasts.  What was told
 * is kept in the store, so a restart does not repeat it.  What may be gone in a moment
 * is told once it has lasted, and sources and the relay only when somebody is
 * subscribed or has asked to be.
 */
#ifndef PAPERBOY_SERVICE_HEALTH_ALERTS_H
#define PAPERBOY_SERVICE_HEALTH_ALERTS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/random.h"
#include "config/settings.h"
#include "service/delivery/mailer.h"
#include "service/state/own_addresses.h"
#include "store/core/store.h"

/* How often to look, s. */
#define ALERTS_INTERVAL_S (10 * 60)

/* What has to last so long before it is told, s. */
#define ALERTS_SOURCE_S (3 * 3600)
#define ALERTS_RELAY_S  (15 * 60)

/* Borrowed. */
struct alerts {
	struct store *store;
	const struct settings *settings;
	const struct own_addresses *own_addresses;
	const struct mailer_relay *relay; /* NULL: not known */
	const struct random_source *random;
};

/**
 * Look, and put a letter to mail.owner into the outbox when there is something new.
 * Nothing with mail.alerts switched off.
 *
 * @param told  set on success: subjects in the letter; 0: there is none
 */
bool alerts_run(
    const struct alerts *alerts, int64_t now, unsigned *reported, GError **error);

#endif
