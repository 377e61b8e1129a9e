/*
 * queue.c - queue administration: retry, hold, release and drop messages.
 */
#include "service/delivery/queue.h"

#include <string.h>

#include "base/clock.h"
#include "base/day.h"
#include "model/digest.h"
#include "store/mail/outbox.h"
#include "store/subscriber/audit.h"

/* Messages of a commit: the mailer waits for those that it has. */
#define BATCH 100

static const char *const done_names[] = {
    [QUEUE_RETRY] = "message retried",
    [QUEUE_HOLD] = "message held",
    [QUEUE_RELEASE] = "message released",
    [QUEUE_DROP] = "message dropped",
    [QUEUE_DROP_DELIVERED] = "message dropped as delivered",
};

static bool
is_state(const char *state, const char *expected)
{
	return g_strcmp0(state, expected) == 0;
}

/* Whether an earlier copy may have arrived. */
static bool
is_doubtful(const struct outbox_message *message)
{
	return is_state(message->state, "UNKNOWN") ||
	       (is_state(message->state, "HELD") &&
	           is_state(message->held_from, "UNKNOWN"));
}

static bool
retry(struct store *store, const struct outbox_message *message, int64_t now,
    enum queue_outcome *outcome, GError **error)
{
	*outcome = is_doubtful(message) ? QUEUE_DOUBTFUL : QUEUE_DONE;
	return outbox_save_due(store, message->id, now, error);
}

static bool
drop(struct store *store, const struct outbox_message *message, bool is_delivered,
    int64_t now, enum queue_outcome *outcome, GError **error)
{
	bool counts = is_delivered || is_doubtful(message);

	*outcome = counts ? QUEUE_DELIVERED : QUEUE_DONE;
	return outbox_cancel_one(store, message->id, counts, now, error);
}

/* Whether the message is obsolete. */
static bool
is_too_old(const struct outbox_message *message, int64_t now)
{
	char oldest[DAY_BYTES];

	if (message->digest_id < 0)
		return message->queued_at <
		       now - QUEUE_MAIL_DAYS * (int64_t)CLOCK_DAY_S;
	day_format(now - DIGEST_ELIGIBLE_DAYS * (int64_t)CLOCK_DAY_S, oldest);
	return strcmp(message->newest_day, oldest) < 0;
}

static bool
release(struct store *store, const struct outbox_message *message, int64_t now,
    enum queue_outcome *outcome, GError **error)
{
	if (is_too_old(message, now)) {
		bool is_ok = drop(store, message, false, now, outcome, error);

		*outcome = QUEUE_TOO_OLD;
		return is_ok;
	}
	*outcome = is_doubtful(message) ? QUEUE_DOUBTFUL : QUEUE_DONE;
	return outbox_release(store, message->id, now, error);
}

/* @param is_named  the operator named this message */
static bool
apply(struct store *store, const struct queue_request *request,
    const struct outbox_message *message, bool is_named, enum queue_outcome *outcome,
    GError **error)
{
	bool is_held = is_state(message->state, "HELD");
	bool is_delivered = false;

	switch (request->action) {
	case QUEUE_RETRY:
		if (is_held && is_named)
			return release(store, message, request->now, outcome, error);
		if (is_held)
			break;
		return retry(store, message, request->now, outcome, error);
	case QUEUE_HOLD:
		if (is_held)
			break;
		*outcome = QUEUE_DONE;
		return outbox_hold(store, message->id, "operator", error);
	case QUEUE_RELEASE:
		if (is_held)
			return release(store, message, request->now, outcome, error);
		*outcome = QUEUE_NOT_HELD;
		return true;
	case QUEUE_DROP_DELIVERED:
		is_delivered = true;
		/* fall through */
	case QUEUE_DROP:
		return drop(store, message, is_delivered, request->now, outcome, error);
	}
	*outcome = QUEUE_IS_HELD;
	return true;
}

static bool
change_one(struct store *store, const struct queue_request *request, int64_t id,
    bool is_named, enum queue_outcome *outcome, GError **error)
{
	g_autofree struct outbox_message *message =
	    outbox_lock_message(store, id, error);
	g_autofree char *detail = g_strdup_printf("outbox %" G_GINT64_FORMAT, id);

	if (!message)
		return false;
	if (message->ended_at >= 0) {
		*outcome = QUEUE_HAS_ENDED;
		return true;
	}
	if (is_state(message->state, "SENDING")) {
		*outcome = QUEUE_SENDING;
		return true;
	}
	if (!apply(store, request, message, is_named, outcome, error))
		return false;
	if (*outcome > QUEUE_TOO_OLD)
		return true;
	return audit_insert(store, request->now, request->who,
	    done_names[request->action], MAX(message->subscriber_id, 0), detail, error);
}

/* Changes in one transaction, which depend on messages that change_one() locks. */
struct changes {
	const struct queue_request *request;
	const int64_t *ids;
	unsigned count;
	bool are_named;
	enum queue_outcome *outcomes;
};

static bool
change_some(struct store *store, void *data, GError **error)
{
	const struct changes *changes = data;

	for (unsigned i = 0; i < changes->count; i++)
		if (!change_one(store, changes->request, changes->ids[i],
		        changes->are_named, &changes->outcomes[i], error))
			return false;
	return true;
}

bool
queue_change(struct store *store, const struct queue_request *request,
    const int64_t *ids, unsigned count, enum queue_outcome *outcomes, GError **error)
{
	struct changes changes = {request, ids, count, true, outcomes};

	return store_transact_rows(store, change_some, &changes, error);
}

bool
queue_change_all(struct store *store, const struct queue_request *request,
    const char *state, unsigned counts[QUEUE_OUTCOMES], GError **error)
{
	enum queue_outcome outcomes[BATCH];
	struct changes changes = {.request = request, .outcomes = outcomes};
	int64_t after = 0;

	do {
		g_autoptr(GArray) ids =
		    outbox_load_ids(store, state, after, BATCH, error);

		if (!ids)
			return false;
		changes.ids = (const int64_t *)(const void *)ids->data;
		changes.count = ids->len;
		if (!store_transact_rows(store, change_some, &changes, error))
			return false;
		for (guint i = 0; i < ids->len; i++)
			counts[outcomes[i]]++;
		if (ids->len)
			after = changes.ids[ids->len - 1];
	} while (changes.count == BATCH);
	return true;
}

/* ---- pause ---- */

struct pause {
	bool is_paused;
	const char *who;
	int64_t now;
	int64_t since; /* set */
};

static bool
save_pause(struct store *store, void *data, GError **error)
{
	struct pause *pause = data;

	if (!outbox_load_pause(store, &pause->since, error))
		return false;
	if (pause->is_paused == (pause->since >= 0))
		return true;
	return outbox_save_pause(store, pause->is_paused ? pause->now : -1, error) &&
	       audit_insert(store, pause->now, pause->who,
	           pause->is_paused ? "delivery paused" : "delivery resumed", 0, NULL,
	           error);
}

bool
queue_pause(struct store *store, bool is_paused, const char *who, int64_t now,
    int64_t *since, GError **error)
{
	struct pause pause = {is_paused, who, now, -1};

	if (!store_transact(store, save_pause, &pause, error))
		return false;
	*since = pause.since;
	return true;
}
