/*
 * upkeep.h - forgetting what has had its time.
 */
#ifndef PAPERBOY_SERVICE_UPKEEP_H
#define PAPERBOY_SERVICE_UPKEEP_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"

/* Days that rows are kept.  A paper can be mailed for EDITION_ELIGIBLE_DAYS, so what
 * says that it was has to outlive that. */
#define UPKEEP_MATCH_DAYS      45
#define UPKEEP_DELIVERED_DAYS  60
#define UPKEEP_OUTBOX_DAYS     14
#define UPKEEP_BATCH_DAYS      30
/* What a letter says that could not be handled, and by what letters are known again. */
#define UPKEEP_QUARANTINE_DAYS 14
#define UPKEEP_LETTER_DAYS     30
/* An answer to a digest proves who sent it for 30 days (service/proof.h), so that long
 * there has to be the digest.  Tickets stay for a week after their time, to tell what
 * was done from what never was. */
#define UPKEEP_DIGEST_DAYS     31
#define UPKEEP_TICKET_DAYS     7
#define UPKEEP_ALLOWANCE_DAYS  31

/** Once a day, unless the clock has jumped (clock_watch.h): drop old rows and filters
 * that nobody has; mend the archive. */
bool upkeep_run(struct store *store, int64_t now, GError **error);

/** When upkeep is to run next. @param at  s; in the past when it is due */
bool upkeep_load_due(struct store *store, int64_t now, int64_t *at, GError **error);

#endif
