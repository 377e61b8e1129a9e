/*
 * domain_refusals.c - the meaning of refusals, and the domains that are paused for
 * them.
 */
#include "service/delivery/domain_refusals.h"

#include <string.h>

#include "service/log/event.h"
#include "store/mail/bounces.h"
#include "transport/bounce_class.h"

/* A domain that is paused or, with until 0, resumed. */
struct change {
	char *domain;
	int64_t since, until;
	const char *rule;
	char *reply;
};

struct domain_refusals {
	struct store *store;
	struct domain_throttle *throttle;
	GPtrArray *changes; /* of struct change *, not committed yet */
	bool is_resumed;    /* all stored pauses are to be deleted */
};

static void
change_free(gpointer data)
{
	struct change *change = data;

	g_free(change->domain);
	g_free(change->reply);
	g_free(change);
}

struct domain_refusals *
domain_refusals_new(struct store *store, struct domain_throttle *throttle)
{
	struct domain_refusals *refusals = g_new0(struct domain_refusals, 1);

	refusals->store = store;
	refusals->throttle = throttle;
	refusals->changes = g_ptr_array_new_with_free_func(change_free);
	return refusals;
}

void
domain_refusals_free(struct domain_refusals *refusals)
{
	if (!refusals)
		return;
	g_ptr_array_unref(refusals->changes);
	g_free(refusals);
}

static struct bounce_verdict
classify(const struct delivery *delivery)
{
	const struct bounce_refusal refusal = {
	    .stage = delivery->stage,
	    .code = delivery->code,
	    .status = delivery->enhanced,
	    .text = delivery->text,
	};

	return bounce_classify(&refusal);
}

static bool
is_refusal(const struct delivery *delivery)
{
	return delivery->scope == DELIVERY_SCOPE_MESSAGE &&
	       delivery->stage >= SMTP_STAGE_RCPT && delivery->code / 100 == 5;
}

void
domain_refusals_classify(struct delivery *delivery)
{
	struct bounce_verdict verdict;

	if (!is_refusal(delivery))
		return;
	verdict = classify(delivery);
	if (verdict.class == BOUNCE_SENDER && verdict.fault == BOUNCE_FAULT_DOMAIN) {
		delivery->outcome = DELIVERY_DEFERRED;
		delivery->is_policy = true;
	} else if (verdict.class == BOUNCE_DEAD) {
		delivery->outcome = DELIVERY_FAILED;
		delivery->is_policy = false;
	}
}

static void
add_change(struct domain_refusals *refusals, const char *domain, int64_t since,
    int64_t until, const struct delivery *delivery)
{
	struct change *change = g_new0(struct change, 1);

	change->domain = g_ascii_strdown(domain, -1);
	change->since = since;
	change->until = until;
	change->rule = classify(delivery).rule;
	change->reply = g_strdup(delivery->text ? delivery->text : "");
	g_ptr_array_add(refusals->changes, change);
}

void
domain_refusals_report(struct domain_refusals *refusals, const char *recipient,
    const struct delivery *delivery, int64_t now)
{
	g_autofree char *code =
	    g_strdup_printf("%d %s", delivery->code, delivery->enhanced);
	const char *at = strrchr(recipient, '@');
	int64_t pause_s;

	switch (domain_throttle_report(
	    refusals->throttle, recipient, delivery, now, &pause_s)) {
	case DOMAIN_THROTTLE_PAUSED:
		add_change(refusals, at + 1, now, now + pause_s, delivery);
		event_log(EVENT_DOMAIN_PAUSED, EVENT_WORD("domain", at + 1),
		    EVENT_SECONDS("next_in", pause_s), EVENT_TEXT(g_strchomp(code)));
		break;
	case DOMAIN_THROTTLE_RESUMED:
		add_change(refusals, at + 1, 0, 0, delivery);
		event_log(EVENT_DOMAIN_RESUMED, EVENT_WORD("domain", at + 1));
		break;
	case DOMAIN_THROTTLE_UNCHANGED:
		break;
	}
}

bool
domain_refusals_load(struct domain_refusals *refusals, int64_t now, GError **error)
{
	g_autoptr(GPtrArray) pauses = NULL;

	if (refusals->is_resumed && !domain_pauses_delete(refusals->store, NULL, error))
		return false;
	refusals->is_resumed = false;
	pauses = domain_pauses_load(refusals->store, now, error);
	if (!pauses)
		return false;
	for (unsigned i = 0; i < pauses->len; i++) {
		const struct domain_pause *pause = pauses->pdata[i];

		domain_throttle_set_pause(
		    refusals->throttle, pause->domain, pause->since, pause->until, now);
	}
	return true;
}

bool
domain_refusals_save(struct domain_refusals *refusals, GError **error)
{
	for (unsigned i = 0; i < refusals->changes->len; i++) {
		const struct change *change = refusals->changes->pdata[i];
		const struct domain_pause pause = {change->domain, change->since,
		    change->until, change->rule, change->reply};

		if (change->until
		        ? !domain_pauses_save(refusals->store, &pause, error)
		        : !domain_pauses_delete(refusals->store, change->domain, error))
			return false;
	}
	return true;
}

void
domain_refusals_drop(struct domain_refusals *refusals)
{
	g_ptr_array_set_size(refusals->changes, 0);
}

void
domain_refusals_resume(struct domain_refusals *refusals)
{
	domain_throttle_resume(refusals->throttle);
	refusals->is_resumed = true;
}
