/*
 * upkeep.c - forgetting what has had its time.
 */
#include "service/upkeep.h"

#include "base/clock.h"
#include "store/editions.h"
#include "store/matches.h"
#include "store/outbox.h"
#include "store/papers.h"
#include "store/people.h"

#define LAST_RUN "upkeep"

static int64_t
days_before(int64_t now, int days)
{
	return now - days * (int64_t)CLOCK_DAY_S;
}

bool
upkeep_run(struct store *store, int64_t now, GError **error)
{
	pb_transaction transaction = {0};

	return store_begin(store, &transaction, error) &&
	       matches_prune(store, days_before(now, UPKEEP_MATCH_DAYS), error) &&
	       editions_prune(store, days_before(now, UPKEEP_DELIVERED_DAYS), error) &&
	       outbox_prune(store, days_before(now, UPKEEP_OUTBOX_DAYS), error) &&
	       papers_prune_batches(
	           store, days_before(now, UPKEEP_BATCH_DAYS), error) &&
	       people_prune_filters(store, error) &&
	       store_save_cursor(store, LAST_RUN, now, error) &&
	       store_commit(&transaction, error);
}

bool
upkeep_load_due(struct store *store, int64_t *at, GError **error)
{
	int64_t last;

	if (!store_load_cursor(store, LAST_RUN, 0, &last, error))
		return false;
	*at = last + CLOCK_DAY_S;
	return true;
}
