/*
 * bounce_admin.c - explain and clear the evidence against an address.
 */
#include "service/bounce/bounce_admin.h"

#include "base/clock.h"
#include "service/bounce/bounce.h"
#include "service/people/subscribe.h"
#include "store/core/audit.h"
#include "store/mail/bounces.h"
#include "store/mail/digests.h"

/* Days until all evidence has decayed. */
#define FORECAST_DAYS (BOUNCE_DECAY_S / CLOCK_DAY_S + 1)

struct evidence {
	GPtrArray *rows; /* scored, of struct bounce_row * */
	struct bounce_probe *probe;
	int64_t last_built;
	bool is_outage;
};

static void
evidence_clear(struct evidence *evidence)
{
	g_clear_pointer(&evidence->rows, g_ptr_array_unref);
	g_clear_pointer(&evidence->probe, g_free);
}

static bool
load_evidence(struct store *store, const struct subscriber *subscriber, int64_t now,
    struct evidence *evidence, GError **error)
{
	struct bounce_domain counts;

	evidence->rows = bounces_load_scored(
	    store, subscriber->id, now - BOUNCE_DECAY_S, now, error);
	if (!evidence->rows ||
	    !bounces_find_probe(store, subscriber->id, &evidence->probe, error) ||
	    !digests_load_last_built(
	        store, subscriber->id, &evidence->last_built, error) ||
	    !bounces_count_domain(
	        store, subscriber->address, now - BOUNCE_OUTAGE_S, &counts, error))
		return false;
	evidence->is_outage = bounce_is_outage(&counts);
	return true;
}

/* Decide for now and the start of each following day. @param at  set */
static enum bounce_decision
forecast(const struct evidence *evidence, int64_t now, int64_t *at)
{
	for (int day = 0; day < FORECAST_DAYS; day++) {
		g_autoptr(GPtrArray) rows = g_ptr_array_new();
		enum bounce_decision decision;

		*at = day ? (now / CLOCK_DAY_S + day) * CLOCK_DAY_S : now;
		for (unsigned i = 0; i < evidence->rows->len; i++) {
			const struct bounce_row *row = evidence->rows->pdata[i];

			if (row->at >= *at - BOUNCE_DECAY_S)
				g_ptr_array_add(rows, evidence->rows->pdata[i]);
		}
		decision =
		    bounce_decide(rows, evidence->probe, evidence->last_built, *at);
		if (decision != BOUNCE_WAIT)
			return decision;
	}
	return BOUNCE_WAIT;
}

static char *
explain_evidence(const struct evidence *evidence, int64_t now)
{
	int64_t at;
	enum bounce_decision decision = forecast(evidence, now, &at);
	g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(at);
	g_autofree char *day = g_date_time_format(time, "%Y-%m-%d");

	switch (decision) {
	case BOUNCE_PROBE:
		return g_strdup_printf("a probe message is sent by %s; if it is "
		                       "returned, too, after mail of %d days, the "
		                       "subscriber is suspended",
		    day, BOUNCE_DEAD_DAYS);
	case BOUNCE_SUSPEND:
		return g_strdup_printf(
		    "the probe message was returned: the subscriber is suspended by %s",
		    day);
	case BOUNCE_CLEAR:
		return g_strdup_printf(
		    "a probe message has been sent: if it is returned, "
		    "the subscriber is suspended, otherwise the "
		    "evidence is cleared by %s",
		    day);
	case BOUNCE_WAIT:
		break;
	}
	return g_strdup_printf("digests continue; a probe message follows if mail is "
	                       "returned for %d days",
	    (int)(BOUNCE_RUN_S / CLOCK_DAY_S));
}

char *
bounce_admin_explain(struct store *store, const struct subscriber *subscriber,
    int64_t now, GError **error)
{
	pb_local(evidence) evidence = {0};

	switch (subscriber->state) {
	case SUBSCRIBER_PENDING:
		return g_strdup("nothing: the subscription is not confirmed yet");
	case SUBSCRIBER_PAUSED:
		return g_strdup("nothing until the subscriber resumes");
	case SUBSCRIBER_SUSPENDED:
		return g_strdup("nothing is sent until the subscriber writes, or until "
		                "paperboyctl bounce forget");
	case SUBSCRIBER_GONE:
		return g_strdup("nothing is sent: the subscriber has left");
	case SUBSCRIBER_ACTIVE:
		break;
	}
	if (!load_evidence(store, subscriber, now, &evidence, error))
		return NULL;
	if (!evidence.rows->len && !evidence.probe)
		return g_strdup("digests continue: nothing counts against the address");
	if (evidence.is_outage)
		return g_strdup(
		    "digests continue: many subscribers of the domain bounce, "
		    "so nobody there is probed or suspended");
	return explain_evidence(&evidence, now);
}

static bool
forget(struct store *store, struct subscriber *subscriber,
    const struct subscribe_change *change, GError **error)
{
	bool *is_restored = change->data;

	*is_restored = subscriber->state == SUBSCRIBER_SUSPENDED;
	return bounces_reset(store, subscriber->id, error) &&
	       bounce_restore(store, subscriber, change->who, change->now, error) &&
	       audit_insert(store, change->now, change->who, "bounces forgotten",
	           subscriber->id, NULL, error);
}

struct subscriber *
bounce_admin_forget(struct store *store, const char *address, const char *who,
    int64_t now, bool *is_restored, GError **error)
{
	const struct subscribe_change change = {address, who, now, forget, is_restored};

	return subscribe_transact(store, &change, error);
}
