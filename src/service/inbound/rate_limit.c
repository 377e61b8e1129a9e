/*
 * rate_limit.c - rate limits on replies, against backscatter.
 */
#include "service/inbound/rate_limit.h"

#include "base/clock.h"
#include "message/address.h"
#include "service/inbound/autoreply_policy.h"
#include "store/mail/rate_log.h"

#define HOUR_S  3600
#define DAY_S   ((int64_t)CLOCK_DAY_S)
#define MONTH_S (30 * DAY_S)

/* Links mailed to a person; each works for a day, so the limit locks nobody out. */
#define LINKS_A_DAY 3

/* Invitations by a subscriber. */
#define INVITATIONS_A_DAY 10

#define DOMAIN_HOUR "confirmations-per-domain-hour"
#define ALL_HOUR    "confirmations-per-hour"
#define ALL_PENDING "requests-pending"

enum scope { SCOPE_PERSON, SCOPE_DOMAIN, SCOPE_ALL, SCOPE_PENDING };

/* A limit on a kind of mail, by scope and time span. */
static const struct rule {
	enum rate_case rate_case;
	enum rate_kind kind;
	enum scope scope;
	int64_t span_s;
	size_t offset; /* of the setting, an int */
	int most;      /* 0: by the setting */
	const char *reason;
} rules[] = {
#define RULE(rate_case, kind, scope, span, setting, why)                             \
	{                                                                            \
		rate_case, kind, scope, span, offsetof(struct settings, setting), 0, \
		    why                                                              \
	}
    RULE(RATE_CASE_CONFIRMATION, RATE_CONFIRMATION, SCOPE_PERSON, MONTH_S,
        limit_confirmations_per_month, "confirmations-per-month"),
    RULE(RATE_CASE_CONFIRMATION, RATE_CONFIRMATION, SCOPE_DOMAIN, HOUR_S,
        limit_confirmations_per_domain_hour, DOMAIN_HOUR),
    RULE(RATE_CASE_CONFIRMATION, RATE_CONFIRMATION, SCOPE_ALL, HOUR_S,
        limit_confirmations_per_hour, ALL_HOUR),
    RULE(RATE_CASE_CONFIRMATION, RATE_CONFIRMATION, SCOPE_PENDING, 0, subscribe_pending,
        ALL_PENDING),
    RULE(RATE_CASE_UNKNOWN, RATE_UNKNOWN, SCOPE_PERSON, DAY_S,
        limit_unknown_sender_per_day, "unknown-sender-per-day"),
    RULE(RATE_CASE_UNPROVEN, RATE_REPLY, SCOPE_PERSON, DAY_S, limit_replies_per_day,
        "replies-per-day"),
    RULE(RATE_CASE_PROVEN, RATE_PROVEN, SCOPE_PERSON, DAY_S, limit_replies_per_day,
        "replies-per-day"),
    RULE(RATE_CASE_LEAVING, RATE_LEFT, SCOPE_PERSON, DAY_S, limit_replies_per_day,
        "replies-per-day"),
    {RATE_CASE_REMOVED, RATE_LEFT, SCOPE_PERSON, DAY_S, 0, 1, "unsubscribed-per-day"},
    {RATE_CASE_LINK, RATE_LINK, SCOPE_PERSON, DAY_S, 0, LINKS_A_DAY, "links-per-day"},
    {RATE_CASE_TYPED, RATE_TYPED, SCOPE_PERSON, DAY_S, 0, LINKS_A_DAY, "links-per-day"},
    {RATE_CASE_INVITATION, RATE_INVITATION, SCOPE_PERSON, DAY_S, 0, INVITATIONS_A_DAY,
        "invitations-per-day"},
    RULE(RATE_CASE_OWNER, RATE_OWNER, SCOPE_ALL, DAY_S, limit_owner_mail_per_day,
        "owner-mail-per-day"),
#undef RULE
};

static enum rate_case
get_base_case(enum rate_case rate_case)
{
	return rate_case == RATE_CASE_CONFIRMATION_VERIFIED ||
	               rate_case == RATE_CASE_CONFIRMATION_PAGE
	           ? RATE_CASE_CONFIRMATION
	           : rate_case;
}

static void
init_key(const struct request *request, enum rate_case rate_case, const char *address,
    struct rate_key *key)
{
	g_autofree char *limit_key = autoreply_format_rate_key(address);
	enum rate_budget budget = RATE_BUDGET_MAIL;

	if (rate_case == RATE_CASE_CONFIRMATION_VERIFIED)
		budget = RATE_BUDGET_VERIFIED;
	if (rate_case == RATE_CASE_CONFIRMATION_PAGE)
		budget = RATE_BUDGET_PAGE;
	rate_key_init(request->key, limit_key, budget, key);
}

static int64_t
get_most(const struct request *request, const struct rule *rule)
{
	const char *settings = (const char *)request->settings;

	return rule->most ? rule->most : *(const int *)(settings + rule->offset);
}

static bool
count(const struct request *request, const struct rule *rule,
    const struct rate_key *key, int64_t *found, GError **error)
{
	int64_t since = request->now - rule->span_s;

	switch (rule->scope) {
	case SCOPE_PERSON:
		return rate_log_count(
		    request->store, rule->kind, key, since, found, error);
	case SCOPE_DOMAIN:
		return rate_log_count_domain(
		    request->store, rule->kind, key, since, found, error);
	case SCOPE_ALL:
		return rate_log_count_all(
		    request->store, rule->kind, key->budget, since, found, error);
	case SCOPE_PENDING:
		return confirmations_count_pending(
		    request->store, request->now, found, error);
	}
	g_assert_not_reached();
}

static int64_t
get_interval_start(const struct request *request)
{
	return request->now -
	       request->settings->limit_confirm_interval_h * (int64_t)HOUR_S;
}

/* One request may still be on its way, or unread. */
static bool
check_interval(const struct request *request, const struct rate_key *person,
    const char **reason, GError **error)
{
	int64_t found;

	if (!rate_log_count(request->store, RATE_CONFIRMATION, person,
	        get_interval_start(request), &found, error))
		return false;
	if (found)
		*reason = "confirmation-pending";
	return true;
}

/* @param reason  left alone if no limit is reached */
static bool
check_rules(const struct request *request, enum rate_case rate_case,
    const struct rate_key *key, enum scope least, const char **reason, GError **error)
{
	bool is_ok = true;

	for (size_t i = 0; is_ok && !*reason && i < G_N_ELEMENTS(rules); i++) {
		int64_t found;

		if (rules[i].rate_case != get_base_case(rate_case) ||
		    rules[i].scope < least)
			continue;
		is_ok = count(request, &rules[i], key, &found, error);
		if (is_ok && found >= get_most(request, &rules[i]))
			*reason = rules[i].reason;
	}
	return is_ok;
}

bool
rate_limit_check(const struct request *request, enum rate_case rate_case,
    const char *address, const char **reason, GError **error)
{
	pb_local(rate_key) key = {0};

	*reason = NULL;
	init_key(request, rate_case, address, &key);
	return (get_base_case(rate_case) != RATE_CASE_CONFIRMATION ||
	           check_interval(request, &key, reason, error)) &&
	       check_rules(request, rate_case, &key, SCOPE_PERSON, reason, error);
}

bool
rate_limit_check_shared(const struct request *request, enum rate_case rate_case,
    const char *address, const char **reason, GError **error)
{
	pb_local(rate_key) key = {0};

	*reason = NULL;
	init_key(request, rate_case, address, &key);
	return check_rules(request, rate_case, &key, SCOPE_DOMAIN, reason, error);
}

/* The limit on help does not end other replies. */
static bool
limits_replies(const struct rule *rule)
{
	return rule->kind == RATE_UNKNOWN || rule->kind == RATE_REPLY ||
	       rule->kind == RATE_PROVEN;
}

bool
rate_limit_find_last(const struct request *request, enum rate_case rate_case,
    const char *address, unsigned *most, GError **error)
{
	pb_local(rate_key) person = {0};
	unsigned last = 0;
	bool is_ok = true;

	init_key(request, rate_case, address, &person);
	for (size_t i = 0; is_ok && i < G_N_ELEMENTS(rules); i++) {
		int64_t found;

		if (rules[i].rate_case != rate_case || !limits_replies(&rules[i]))
			continue;
		is_ok = count(request, &rules[i], &person, &found, error);
		if (is_ok && found + 1 == get_most(request, &rules[i]))
			last = (unsigned)get_most(request, &rules[i]);
	}
	if (is_ok)
		*most = last;
	return is_ok;
}

bool
rate_limit_is_exhausted(const char *reason)
{
	return g_str_equal(reason, DOMAIN_HOUR) || g_str_equal(reason, ALL_HOUR) ||
	       g_str_equal(reason, ALL_PENDING);
}

bool
rate_limit_count(const struct request *request, enum rate_case rate_case,
    const char *address, GError **error)
{
	pb_local(rate_key) person = {0};
	bool is_done[RATE_INVITATION + 1] = {false};
	bool is_ok = true;

	init_key(request, rate_case, address, &person);
	for (size_t i = 0; is_ok && i < G_N_ELEMENTS(rules); i++) {
		if (rules[i].rate_case != get_base_case(rate_case) ||
		    is_done[rules[i].kind])
			continue;
		is_done[rules[i].kind] = true;
		is_ok = rate_log_insert(
		    request->store, rules[i].kind, &person, request->now, error);
	}
	return is_ok;
}

bool
rate_limit_refund(const struct request *request, const char *address, GError **error)
{
	pb_local(rate_key) person = {0};

	init_key(request, RATE_CASE_CONFIRMATION, address, &person);
	return rate_log_delete(request->store, RATE_CONFIRMATION, &person, error);
}

bool
rate_limit_end_interval(
    const struct request *request, const char *address, GError **error)
{
	pb_local(rate_key) person = {0};

	init_key(request, RATE_CASE_CONFIRMATION, address, &person);
	return rate_log_backdate(request->store, RATE_CONFIRMATION, &person,
	    get_interval_start(request), error);
}
