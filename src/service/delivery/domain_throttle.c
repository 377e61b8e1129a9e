/*
 * domain_throttle.c - rate limits and pauses per recipient domain.
 */
#include "service/delivery/domain_throttle.h"

#include <string.h>

#include "base/bounds.h"
#include "base/clock.h"
#include "service/log/event.h"
#include "transport/bounce_class.h"
#include "transport/token_bucket.h"

struct domain {
	struct token_bucket token_bucket;
	int64_t day_started_at; /* start of the two counters, s */
	unsigned attempts, refusals;
	int64_t pause_s; /* the last pause; 0: none since a message was accepted */
	int64_t paused_until;
	bool is_reported;        /* the pause was not caused by a reply */
	int64_t accepted_at;     /* the first message after that pause; 0: none yet */
	int64_t postponed_until; /* the latest time given to a message */
};

/* A domain that is paused or, with until 0, resumed. */
struct change {
	char *domain;
	int64_t since, until;
	const char *rule;
	char *reply;
};

struct domain_throttle {
	unsigned per_hour;
	GHashTable *all; /* of char *, struct domain * */
	GHashTable
	    *changed; /* of char *, struct domain *: as they were at the last commit */
	GPtrArray *changes; /* of struct change *, not saved yet */
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

struct domain_throttle *
domain_throttle_new(unsigned per_hour)
{
	struct domain_throttle *throttle = g_new0(struct domain_throttle, 1);

	throttle->per_hour = per_hour;
	throttle->all = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	throttle->changed =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	throttle->changes = g_ptr_array_new_with_free_func(change_free);
	return throttle;
}

void
domain_throttle_free(struct domain_throttle *throttle)
{
	if (!throttle)
		return;
	g_hash_table_unref(throttle->all);
	g_hash_table_unref(throttle->changed);
	g_ptr_array_unref(throttle->changes);
	g_free(throttle);
}

void
domain_throttle_set_limit(struct domain_throttle *throttle, unsigned per_hour)
{
	GHashTableIter iter;
	gpointer value;

	if (throttle->per_hour == per_hour)
		return;
	throttle->per_hour = per_hour;
	g_hash_table_iter_init(&iter, throttle->all);
	while (g_hash_table_iter_next(&iter, NULL, &value))
		token_bucket_init(
		    &((struct domain *)value)->token_bucket, per_hour, CLOCK_HOUR_S);
}

static void
end_pause(struct domain *domain)
{
	domain->attempts = domain->refusals = 0;
	domain->pause_s = domain->paused_until = domain->accepted_at = 0;
	domain->is_reported = false;
}

void
domain_throttle_resume(struct domain_throttle *throttle)
{
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, throttle->all);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		struct domain *domain = value;

		end_pause(domain);
		domain->postponed_until = 0;
	}
	throttle->is_resumed = true;
}

/* Whether an entry carries no state. */
static gboolean
is_idle(gpointer name, gpointer value, gpointer data)
{
	const struct domain *domain = value;
	int64_t now = *(const int64_t *)data;

	(void)name;
	return !domain->pause_s && domain->day_started_at + CLOCK_DAY_S < now &&
	       domain->paused_until <= now &&
	       token_bucket_get_available(&domain->token_bucket, now, 1) > 0;
}

/* @param name  in lower case @return NULL if there are too many */
static struct domain *
find_name(struct domain_throttle *throttle, const char *name, int64_t now)
{
	struct domain *domain = g_hash_table_lookup(throttle->all, name);

	if (domain)
		return domain;
	if (g_hash_table_size(throttle->all) >= BOUNDS_DOMAINS)
		g_hash_table_foreach_remove(throttle->all, is_idle, &now);
	if (g_hash_table_size(throttle->all) >= BOUNDS_DOMAINS)
		return NULL;
	domain = g_new0(struct domain, 1);
	token_bucket_init(&domain->token_bucket, throttle->per_hour, CLOCK_HOUR_S);
	g_hash_table_insert(throttle->all, g_strdup(name), domain);
	return domain;
}

/* @return in lower case; NULL for an address without a domain */
static char *
dup_domain(const char *recipient)
{
	const char *at = strrchr(recipient, '@');

	return at ? g_ascii_strdown(at + 1, -1) : NULL;
}

static struct domain *
find_domain(struct domain_throttle *throttle, const char *recipient, int64_t now)
{
	g_autofree char *name = dup_domain(recipient);

	return name ? find_name(throttle, name, now) : NULL;
}

static bool
is_paused(const struct domain *domain, int64_t now)
{
	/* A wait above the maximum: the clock was wrong when it began. */
	return now < domain->paused_until &&
	       domain->paused_until <= now + DOMAIN_THROTTLE_PAUSE_MAX_S;
}

bool
domain_throttle_allow(
    struct domain_throttle *throttle, const char *recipient, int64_t now, int64_t *next)
{
	g_autofree char *name = dup_domain(recipient);
	struct domain *domain = name ? find_name(throttle, name, now) : NULL;
	int64_t step_s = 1;

	if (!domain)
		return true;
	if (!g_hash_table_contains(throttle->changed, name))
		g_hash_table_insert(throttle->changed, g_steal_pointer(&name),
		    g_memdup2(domain, sizeof(*domain)));
	if (!is_paused(domain, now) &&
	    token_bucket_get_available(&domain->token_bucket, now, 1)) {
		token_bucket_take(&domain->token_bucket, now);
		/* After a pause one message goes first; others wait for its result. */
		if (domain->pause_s)
			domain->paused_until = now + 60;
		return true;
	}
	*next = is_paused(domain, now)
	            ? domain->paused_until
	            : token_bucket_get_next(&domain->token_bucket, now);
	step_s =
	    is_paused(domain, now) ? 0 : token_bucket_get_step_s(&domain->token_bucket);
	if (domain->postponed_until >= *next)
		*next = domain->postponed_until + step_s;
	domain->postponed_until = *next;
	return false;
}

void
domain_throttle_commit(struct domain_throttle *throttle)
{
	g_hash_table_remove_all(throttle->changed);
}

void
domain_throttle_undo(struct domain_throttle *throttle)
{
	GHashTableIter iter;
	gpointer name, before;

	g_hash_table_iter_init(&iter, throttle->changed);
	while (g_hash_table_iter_next(&iter, &name, &before)) {
		struct domain *domain = g_hash_table_lookup(throttle->all, name);

		if (domain)
			*domain = *(const struct domain *)before;
	}
	domain_throttle_commit(throttle);
}

void
domain_throttle_set_pause(
    struct domain_throttle *throttle, const struct domain_pause *pause, int64_t now)
{
	struct domain *domain = find_name(throttle, pause->domain, now);

	if (!domain || pause->until <= now || domain->paused_until >= pause->until)
		return;
	domain->is_reported = true;
	domain->accepted_at = 0;
	domain->pause_s = CLAMP(pause->until - pause->since, DOMAIN_THROTTLE_PAUSE_S,
	    DOMAIN_THROTTLE_PAUSE_MAX_S);
	domain->paused_until = pause->until;
}

bool
domain_throttle_load(
    struct domain_throttle *throttle, struct store *store, int64_t now, GError **error)
{
	g_autoptr(GPtrArray) pauses = NULL;

	if (throttle->is_resumed && !domain_pauses_delete(store, NULL, error))
		return false;
	throttle->is_resumed = false;
	pauses = domain_pauses_load(store, now, error);
	for (unsigned i = 0; pauses && i < pauses->len; i++)
		domain_throttle_set_pause(throttle, pauses->pdata[i], now);
	return pauses != NULL;
}

bool
domain_throttle_save(
    struct domain_throttle *throttle, struct store *store, GError **error)
{
	for (unsigned i = 0; i < throttle->changes->len; i++) {
		const struct change *change = throttle->changes->pdata[i];
		const struct domain_pause pause = {change->domain, change->since,
		    change->until, change->rule, change->reply};

		if (change->until ? !domain_pauses_save(store, &pause, error)
		                  : !domain_pauses_delete(store, change->domain, error))
			return false;
	}
	return true;
}

void
domain_throttle_drop(struct domain_throttle *throttle)
{
	g_ptr_array_set_size(throttle->changes, 0);
}

/* ---- results ---- */

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

/* Failures before RCPT do not concern the domain. */
static bool
is_of_domain(const struct delivery *delivery)
{
	return delivery->scope == DELIVERY_SCOPE_MESSAGE &&
	       delivery->stage >= SMTP_STAGE_RCPT;
}

void
domain_throttle_classify(struct delivery *delivery)
{
	struct bounce_verdict verdict;

	if (!is_of_domain(delivery) || delivery->code / 100 != 5)
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

/* @param pause_s  that begins; 0: it ends */
static void
add_change(struct domain_throttle *throttle, const char *recipient,
    const struct delivery *delivery, int64_t pause_s, int64_t now)
{
	struct change *change = g_new0(struct change, 1);
	g_autofree char *code =
	    g_strdup_printf("%d %s", delivery->code, delivery->enhanced);
	const char *domain = strrchr(recipient, '@') + 1;

	change->domain = g_ascii_strdown(domain, -1);
	change->since = now;
	change->until = pause_s ? now + pause_s : 0;
	change->rule = classify(delivery).rule;
	change->reply = g_strdup(delivery->text ? delivery->text : "");
	g_ptr_array_add(throttle->changes, change);
	if (pause_s)
		event_log(EVENT_DOMAIN_PAUSED, EVENT_WORD("domain", domain),
		    EVENT_SECONDS("next_in", pause_s), EVENT_TEXT(g_strchomp(code)));
	else
		event_log(EVENT_DOMAIN_RESUMED, EVENT_WORD("domain", domain));
}

/*
 * Record that the server of a domain has accepted a message, which ends a pause.  If
 * the pause was caused by reports about accepted messages, it is only ended by a
 * message that is accepted DOMAIN_THROTTLE_REPORT_S after the first one: until then a
 * report about that may arrive.
 *
 * @return whether the pause has ended
 */
static bool
report_accepted(struct domain *domain, int64_t now)
{
	if (!domain->pause_s)
		return false;
	if (domain->is_reported && !domain->accepted_at) {
		domain->accepted_at = now;
		domain->paused_until = now + DOMAIN_THROTTLE_REPORT_S;
		return false;
	}
	if (domain->is_reported && now < domain->accepted_at + DOMAIN_THROTTLE_REPORT_S)
		return false;
	end_pause(domain);
	return true;
}

static void
count_attempt(struct domain *domain, bool is_refused, int64_t now)
{
	if (now < domain->day_started_at ||
	    now >= domain->day_started_at + CLOCK_DAY_S) {
		domain->day_started_at = now;
		domain->attempts = domain->refusals = 0;
	}
	domain->attempts++;
	domain->refusals += is_refused;
}

static bool
is_refusing(const struct domain *domain)
{
	return domain->refusals >= DOMAIN_THROTTLE_REFUSALS &&
	       domain->refusals * 100 >= domain->attempts * DOMAIN_THROTTLE_PERCENT;
}

void
domain_throttle_report(struct domain_throttle *throttle, const char *recipient,
    const struct delivery *delivery, int64_t now)
{
	struct domain *domain =
	    is_of_domain(delivery) ? find_domain(throttle, recipient, now) : NULL;
	bool is_trial;

	if (!domain)
		return;
	count_attempt(domain, delivery->is_policy, now);
	if (!delivery->is_policy) {
		if (report_accepted(domain, now))
			add_change(throttle, recipient, delivery, 0, now);
		return;
	}
	is_trial = domain->pause_s > 0;
	if (!is_trial && !is_refusing(domain))
		return;
	/* Only the trial message, which sets paused_until to at most 60 s from now,
	 * extends the pause: not messages in flight when it began. */
	if (is_trial && domain->paused_until > now + 60)
		return;
	domain->pause_s = is_trial
	                      ? MIN(domain->pause_s * 2, DOMAIN_THROTTLE_PAUSE_MAX_S)
	                      : DOMAIN_THROTTLE_PAUSE_S;
	domain->paused_until = now + domain->pause_s;
	add_change(throttle, recipient, delivery, domain->pause_s, now);
}

unsigned
domain_throttle_count_paused(
    const struct domain_throttle *throttle, int64_t now, const char **name)
{
	unsigned count = 0;
	GHashTableIter iter;
	gpointer key, value;

	*name = NULL;
	g_hash_table_iter_init(&iter, throttle->all);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		if (!is_paused(value, now))
			continue;
		*name = key;
		count++;
	}
	return count;
}
