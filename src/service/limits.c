/*
 * limits.c - how much is answered, lest somebody be flooded in another's name.
 */
#include "service/limits.h"

#include "base/clock.h"
#include "mail/address.h"
#include "service/door.h"
#include "store/allowance.h"
#include "store/tickets.h"

#define HOUR_S  3600
#define DAY_S   ((int64_t)CLOCK_DAY_S)
#define MONTH_S (30 * DAY_S)

#define DOMAIN_HOUR "confirmations-domain-hour"
#define ALL_HOUR    "confirmations-hour"

enum scope { SCOPE_PERSON, SCOPE_DOMAIN, SCOPE_ALL };

/* One limit: who is counted, of which kind, over how long, and how many may be. */
static const struct rule {
	enum limits_case what;
	enum allowance_kind kind;
	enum scope scope;
	int64_t span_s;
	size_t offset; /* of the setting, an int */
	int most;      /* not 0: the limit, which is not a setting */
	const char *why;
} rules[] = {
#define RULE(what, kind, scope, span, setting, why)                                 \
	{                                                                           \
		what, kind, scope, span, offsetof(struct settings, setting), 0, why \
	}
    RULE(LIMITS_CONFIRMATION, ALLOWANCE_CONFIRMATION, SCOPE_PERSON, MONTH_S,
        limit_confirmations_month, "confirmations-month"),
    RULE(LIMITS_CONFIRMATION, ALLOWANCE_CONFIRMATION, SCOPE_DOMAIN, HOUR_S,
        limit_confirmations_domain_hour, DOMAIN_HOUR),
    RULE(LIMITS_CONFIRMATION, ALLOWANCE_CONFIRMATION, SCOPE_ALL, HOUR_S,
        limit_confirmations_hour, ALL_HOUR),
    RULE(LIMITS_STRANGER, ALLOWANCE_STRANGER, SCOPE_PERSON, DAY_S, limit_stranger_day,
        "stranger-day"),
    RULE(LIMITS_STRANGER_HELP, ALLOWANCE_STRANGER, SCOPE_PERSON, DAY_S,
        limit_stranger_day, "stranger-day"),
    RULE(LIMITS_STRANGER_HELP, ALLOWANCE_HELP, SCOPE_PERSON, DAY_S, limit_help_day,
        "help-day"),
    RULE(LIMITS_ANSWER, ALLOWANCE_ANSWER, SCOPE_PERSON, DAY_S, limit_answers_day,
        "answers-day"),
    RULE(LIMITS_ANSWER_HELP, ALLOWANCE_ANSWER, SCOPE_PERSON, DAY_S, limit_answers_day,
        "answers-day"),
    RULE(LIMITS_ANSWER_HELP, ALLOWANCE_HELP, SCOPE_PERSON, DAY_S, limit_help_day,
        "help-day"),
    RULE(LIMITS_PROVEN, ALLOWANCE_PROVEN, SCOPE_PERSON, DAY_S, limit_answers_day,
        "answers-day"),
    {LIMITS_LEFT, ALLOWANCE_LEFT, SCOPE_PERSON, DAY_S, 0, 1, "left-day"},
    RULE(LIMITS_PROVEN_HELP, ALLOWANCE_PROVEN, SCOPE_PERSON, DAY_S, limit_answers_day,
        "answers-day"),
    RULE(LIMITS_PROVEN_HELP, ALLOWANCE_HELP, SCOPE_PERSON, DAY_S, limit_help_day,
        "help-day"),
    RULE(LIMITS_OWNER, ALLOWANCE_OWNER, SCOPE_ALL, DAY_S, limit_owner_day, "owner-day"),
#undef RULE
};

/* Whose rules apply. */
static enum limits_case
get_rules(enum limits_case what)
{
	return what == LIMITS_CONFIRMATION_VOUCHED ? LIMITS_CONFIRMATION : what;
}

static int64_t
get_most(const struct limits *limits, const struct rule *rule, enum limits_case what)
{
	const char *settings = (const char *)limits->settings;
	int64_t most =
	    rule->most ? rule->most : *(const int *)(settings + rule->offset);

	/* Forged requests of a whole domain, or of many, leave the rest to others. */
	if (what == LIMITS_CONFIRMATION && rule->scope != SCOPE_PERSON &&
	    *limits->settings->commands_authserv_id)
		most -= most / LIMITS_RESERVED_PART;
	return most;
}

static bool
count(const struct limits *limits, const struct rule *rule,
    const struct allowance_person *person, int64_t *found, GError **error)
{
	int64_t since = limits->now - rule->span_s;

	switch (rule->scope) {
	case SCOPE_PERSON:
		return allowance_count(
		    limits->store, rule->kind, person, since, found, error);
	case SCOPE_DOMAIN:
		return allowance_count_domain(
		    limits->store, rule->kind, person, since, found, error);
	case SCOPE_ALL:
		return allowance_count_all(
		    limits->store, rule->kind, since, found, error);
	}
	g_assert_not_reached();
}

static int64_t
get_interval_start(const struct limits *limits)
{
	return limits->now - limits->settings->limit_confirm_again_h * (int64_t)HOUR_S;
}

/* One confirmation is on its way still, or lies unread. */
static bool
check_again(const struct limits *limits, const struct allowance_person *person,
    const char **why, GError **error)
{
	int64_t found;

	if (!allowance_count(limits->store, ALLOWANCE_CONFIRMATION, person,
	        get_interval_start(limits), &found, error))
		return false;
	if (found)
		*why = "confirmation-pending";
	return true;
}

bool
limits_check(const struct limits *limits, enum limits_case what, const char *address,
    const char **why, GError **error)
{
	g_autofree char *limit_key = door_format_limit_key(address);
	struct allowance_person person;
	bool is_ok = true;

	*why = NULL;
	allowance_person_init(limits->key, limit_key, &person);
	if (get_rules(what) == LIMITS_CONFIRMATION)
		is_ok = check_again(limits, &person, why, error);
	for (size_t i = 0; is_ok && !*why && i < G_N_ELEMENTS(rules); i++) {
		int64_t found;

		if (rules[i].what != get_rules(what))
			continue;
		is_ok = count(limits, &rules[i], &person, &found, error);
		if (is_ok && found >= get_most(limits, &rules[i], what))
			*why = rules[i].why;
	}
	allowance_person_clear(&person);
	return is_ok;
}

/* The help has a limit of its own, which is no end of answers. */
static bool
is_of_day(const struct rule *rule)
{
	switch (rule->kind) {
	case ALLOWANCE_STRANGER:
	case ALLOWANCE_ANSWER:
	case ALLOWANCE_PROVEN:
		return true;
	case ALLOWANCE_CONFIRMATION:
	case ALLOWANCE_HELP:
	case ALLOWANCE_OWNER:
	case ALLOWANCE_LEFT:
		break;
	}
	return false;
}

bool
limits_find_last(const struct limits *limits, enum limits_case what,
    const char *address, unsigned *most, GError **error)
{
	g_autofree char *limit_key = door_format_limit_key(address);
	struct allowance_person person;
	unsigned last = 0;
	bool is_ok = true;

	allowance_person_init(limits->key, limit_key, &person);
	for (size_t i = 0; is_ok && i < G_N_ELEMENTS(rules); i++) {
		int64_t found;

		if (rules[i].what != what || !is_of_day(&rules[i]))
			continue;
		is_ok = count(limits, &rules[i], &person, &found, error);
		if (is_ok && found + 1 == get_most(limits, &rules[i], what))
			last = (unsigned)get_most(limits, &rules[i], what);
	}
	allowance_person_clear(&person);
	if (is_ok)
		*most = last;
	return is_ok;
}

bool
limits_is_exhausted(const char *why)
{
	return g_str_equal(why, DOMAIN_HOUR) || g_str_equal(why, ALL_HOUR);
}

bool
limits_count(const struct limits *limits, enum limits_case what, const char *address,
    GError **error)
{
	g_autofree char *limit_key = door_format_limit_key(address);
	struct allowance_person person;
	bool is_done[ALLOWANCE_LEFT + 1] = {false};
	bool is_ok = true;

	allowance_person_init(limits->key, limit_key, &person);
	for (size_t i = 0; is_ok && i < G_N_ELEMENTS(rules); i++) {
		if (rules[i].what != get_rules(what) || is_done[rules[i].kind])
			continue;
		is_done[rules[i].kind] = true;
		is_ok = allowance_insert(
		    limits->store, rules[i].kind, &person, limits->now, error);
	}
	allowance_person_clear(&person);
	return is_ok;
}

bool
limits_forgive(const struct limits *limits, const char *address, GError **error)
{
	g_autofree char *limit_key = door_format_limit_key(address);
	struct allowance_person person;
	bool is_ok;

	allowance_person_init(limits->key, limit_key, &person);
	is_ok = allowance_delete(limits->store, ALLOWANCE_CONFIRMATION, &person, error);
	allowance_person_clear(&person);
	return is_ok;
}

bool
limits_end_interval(const struct limits *limits, const char *address, GError **error)
{
	g_autofree char *limit_key = door_format_limit_key(address);
	struct allowance_person person;
	bool is_ok;

	allowance_person_init(limits->key, limit_key, &person);
	is_ok = allowance_date_back(limits->store, ALLOWANCE_CONFIRMATION, &person,
	    get_interval_start(limits), error);
	allowance_person_clear(&person);
	return is_ok;
}
