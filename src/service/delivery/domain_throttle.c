/*
 * domain_throttle.c - how fast each domain may be written to, and which ones are left
 * alone.
 */
#include "service/delivery/domain_throttle.h"

#include <string.h>

#include "base/bounds.h"
#include "base/clock.h"
#include "transport/token_bucket.h"

struct domain {
	struct token_bucket token_bucket;
	unsigned refusals; /* by policy, in a row */
	int64_t pause_s;   /* the last one; 0: none since something was taken */
	int64_t paused_until;
	int64_t put_off_until; /* the latest time that was given */
};

struct domain_throttle {
	unsigned per_hour;
	GHashTable *all; /* of char *, struct domain * */
};

struct domain_throttle *
domain_throttle_new(unsigned per_hour)
{
	struct domain_throttle *domains = g_new0(struct domain_throttle, 1);

	domains->per_hour = per_hour;
	domains->all = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	return domains;
}

void
domain_throttle_free(struct domain_throttle *domains)
{
	if (!domains)
		return;
	g_hash_table_unref(domains->all);
	g_free(domains);
}

void
domain_throttle_set_limit(struct domain_throttle *domains, unsigned per_hour)
{
	GHashTableIter iter;
	gpointer value;

	if (domains->per_hour == per_hour)
		return;
	domains->per_hour = per_hour;
	g_hash_table_iter_init(&iter, domains->all);
	while (g_hash_table_iter_next(&iter, NULL, &value))
		token_bucket_init(
		    &((struct domain *)value)->token_bucket, per_hour, CLOCK_HOUR_S);
}

void
domain_throttle_resume(struct domain_throttle *domains)
{
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, domains->all);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		struct domain *domain = value;

		domain->refusals = 0;
		domain->pause_s = domain->paused_until = domain->put_off_until = 0;
	}
}

/* What has nothing to remember may be forgotten. */
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
find(struct domain_throttle *domains, const char *recipient, int64_t now)
{
	const char *at = strrchr(recipient, '@');
	g_autofree char *name = NULL;
	struct domain *domain;

	if (!at)
		return NULL;
	name = g_ascii_strdown(at + 1, -1);
	domain = g_hash_table_lookup(domains->all, name);
	if (domain)
		return domain;
	if (g_hash_table_size(domains->all) >= BOUNDS_DOMAINS)
		g_hash_table_foreach_remove(domains->all, is_idle, &now);
	if (g_hash_table_size(domains->all) >= BOUNDS_DOMAINS)
		return NULL;
	domain = g_new0(struct domain, 1);
	token_bucket_init(&domain->token_bucket, domains->per_hour, CLOCK_HOUR_S);
	g_hash_table_insert(domains->all, g_steal_pointer(&name), domain);
	return domain;
}

static bool
is_paused(const struct domain *domain, int64_t now)
{
	/* A wait longer than the longest: the clock was wrong when it began. */
	return now < domain->paused_until &&
	       domain->paused_until <= now + DOMAIN_THROTTLE_PAUSE_MAX_S;
}

bool
domain_throttle_allow(
    struct domain_throttle *domains, const char *recipient, int64_t now, int64_t *next)
{
	struct domain *domain = find(domains, recipient, now);
	int64_t step_s = 1;

	if (!domain)
		return true;
	if (!is_paused(domain, now) &&
	    token_bucket_get_available(&domain->token_bucket, now, 1)) {
		token_bucket_take(&domain->token_bucket, now);
		/* The first behind a pause goes alone: others wait for what it says. */
		if (domain->pause_s)
			domain->paused_until = now + 60;
		return true;
	}
	*next = is_paused(domain, now)
	            ? domain->paused_until
	            : token_bucket_get_next(&domain->token_bucket, now);
	step_s =
	    is_paused(domain, now) ? 0 : token_bucket_get_step_s(&domain->token_bucket);
	if (domain->put_off_until >= *next)
		*next = domain->put_off_until + step_s;
	domain->put_off_until = *next;
	return false;
}

const char *
domain_throttle_report(struct domain_throttle *domains, const char *recipient,
    const struct delivery *delivery, int64_t now, int64_t *pause_s)
{
	struct domain *domain;
	bool is_trial;

	/* What broke before its RCPT says nothing of the domain. */
	if (delivery->scope != DELIVERY_SCOPE_MESSAGE ||
	    delivery->stage < SMTP_STAGE_RCPT)
		return NULL;
	domain = find(domains, recipient, now);
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
	/* Those that were under way when it began do not lengthen it. */
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
    const struct domain_throttle *domains, int64_t now, const char **name)
{
	unsigned count = 0;
	GHashTableIter iter;
	gpointer key, value;

	*name = NULL;
	g_hash_table_iter_init(&iter, domains->all);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		if (!is_paused(value, now))
			continue;
		*name = key;
		count++;
	}
	return count;
}
