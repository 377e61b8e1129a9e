/*
 * maintenance.h - forgetting what has had its time.
 */
#ifndef PAPERBOY_SERVICE_HEALTH_MAINTENANCE_H
#define PAPERBOY_SERVICE_HEALTH_MAINTENANCE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/* Days that rows are kept.  A paper can be mailed for DIGEST_ELIGIBLE_DAYS, so what
 * says that it was has to outlive that. */
#define MAINTENANCE_MATCH_DAYS      45
#define MAINTENANCE_DELIVERED_DAYS  60
#define MAINTENANCE_OUTBOX_DAYS     14
#define MAINTENANCE_BATCH_DAYS      30
/* What a letter says that could not be handled, and by what letters are known again. */
#define MAINTENANCE_QUARANTINE_DAYS 14
#define MAINTENANCE_INBOX_DAYS      30
/* An answer to a digest proves who sent it for 30 days (service/delivery/mail_token.h),
 * so that long there has to be the digest.  Tickets stay for a week after their time,
 * to tell what was done from what never was. */
#define MAINTENANCE_DIGEST_DAYS     31
#define MAINTENANCE_TICKET_DAYS     7
#define MAINTENANCE_ALLOWANCE_DAYS  31

/** Once a day, unless the clock has jumped (clock_watch.h): drop old rows and filters
 * that nobody has; mend the archive. */
bool maintenance_run(struct store *store, int64_t now, GError **error);

/** When upkeep is to run next. @param at  s; in the past when it is due */
bool
maintenance_load_due(struct store *store, int64_t now, int64_t *at, GError **error);

#endif
