/*
 * domain_throttle.c - rate limits and pauses per recipient domain.
 */
#include "service/delivery/domain_throttle.h"

#include <string.h>

#include "base/bounds.h"
#include "base/clock.h"
#include "transport/token_bucket.h"

struct domain {
	struct token_bucket token_bucket;
	unsigned refusals; /* consecutive policy rejections */
	int64_t pause_s;   /* the last pause; 0: none since a message was accepted */
	int64_t paused_until;
	int64_t postponed_until; /* the latest time given to a message */
};

struct domain_throttle {
	unsigned per_hour;
	GHashTable *all; /* of char *, struct domain * */
};

struct domain_throttle *
domain_throttle_new(unsigned per_hour)
{
	struct domain_throttle *throttle = g_new0(struct domain_throttle, 1);

	throttle->per_hour = per_hour;
	throttle->all = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	return throttle;
}

void
domain_throttle_free(struct domain_throttle *throttle)
{
	if (!throttle)
		return;
	g_hash_table_unref(throttle->all);
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

void
domain_throttle_resume(struct domain_throttle *throttle)
{
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, throttle->all);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		struct domain *domain = value;

		domain->refusals = 0;
		domain->pause_s = domain->paused_until = domain->postponed_until = 0;
	}
}

/* Whether an entry carries no state. */
static gboolean
is_idle(gpointer name, gpointer value, gpointer data)
{
	const struct domain *domain = value;
	int64_t now = *(const int64_t *)data;

	(void)name;
	return !domain->refusals && domain->paused_until <= now &&
	       token_bucket_get_available(&domain->token_bucket, now, 1) > 0;
}

/* @return NULL for an address without a domain */
static struct domain *
find_domain(struct domain_throttle *throttle, const char *recipient, int64_t now)
{
	const char *at = strrchr(recipient, '@');
	g_autofree char *name = NULL;
	struct domain *domain;

	if (!at)
		return NULL;
	name = g_ascii_strdown(at + 1, -1);
	domain = g_hash_table_lookup(throttle->all, name);
	if (domain)
		return domain;
	if (g_hash_table_size(throttle->all) >= BOUNDS_DOMAINS)
		g_hash_table_foreach_remove(throttle->all, is_idle, &now);
	if (g_hash_table_size(throttle->all) >= BOUNDS_DOMAINS)
		return NULL;
	domain = g_new0(struct domain, 1);
	token_bucket_init(&domain->token_bucket, throttle->per_hour, CLOCK_HOUR_S);
	g_hash_table_insert(throttle->all, g_steal_pointer(&name), domain);
	return domain;
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
	struct domain *domain = find_domain(throttle, recipient, now);
	int64_t step_s = 1;

	if (!domain)
		return true;
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

const char *
domain_throttle_report(struct domain_throttle *throttle, const char *recipient,
    const struct delivery *delivery, int64_t now, int64_t *pause_s)
{
	struct domain *domain;
	bool is_trial;

	/* Failures before RCPT do not concern the domain. */
	if (delivery->scope != DELIVERY_SCOPE_MESSAGE ||
	    delivery->stage < SMTP_STAGE_RCPT)
		return NULL;
	domain = find_domain(throttle, recipient, now);
	if (!domain)
		return NULL;
	if (!delivery->is_policy) {
		domain->refusals = 0;
		domain->pause_s = domain->paused_until = 0;
		return NULL;
	}
	is_trial = domain->pause_s > 0;
	domain->refusals++;
	if (!is_trial && domain->refusals < DOMAIN_THROTTLE_REFUSALS)
		return NULL;
	/* Messages in flight when the pause began do not extend it. */
	if (is_trial && domain->paused_until > now + 60)
		return NULL;
	domain->pause_s = is_trial
	                      ? MIN(domain->pause_s * 2, DOMAIN_THROTTLE_PAUSE_MAX_S)
	                      : DOMAIN_THROTTLE_PAUSE_S;
	domain->paused_until = now + domain->pause_s;
	domain->refusals = 0;
	*pause_s = domain->pause_s;
	return strrchr(recipient, '@') + 1;
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
