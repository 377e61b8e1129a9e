/*
 * policy.h - who may subscribe (subscribe.policy): one decision for mail, page and
 * paperboyctl.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "config/settings.h"
#include "store/core/store.h"

/* Ways to be subscribed. */
enum policy_standing {
	POLICY_ASKED,   /* by a request of their own */
	POLICY_INVITED, /* by an invitation, or approved by the owner */
	POLICY_OPERATOR,
};

enum policy_verdict {
	POLICY_ALLOWED,
	POLICY_APPROVAL, /* once the owner has agreed */
	POLICY_OTHER_DOMAIN,
	POLICY_CLOSED,
	POLICY_FULL,
};

/**
 * Decide whether an address may be subscribed.
 *
 * Whether it is subscribed has no effect.
 *
 * @param address  an addr-spec of address_parse(): its domain is in A-labels
 * @param verdict  set
 * @return false if the store fails
 */
bool
policy_decide(struct store *store, const struct settings *settings, const char *address,
    enum policy_standing standing, enum policy_verdict *verdict, GError **error);

/** Load how many more people can subscribe (subscribe.max). */
bool policy_load_room(struct store *store, const struct settings *settings,
    int64_t *room, GError **error);

/** Decide by the domain of an address alone, as for a subscriber who changes it. */
bool policy_allows_domain(const struct settings *settings, const char *address);

/**
 * Find how an address would come to be subscribed: by an invitation that it got, or by
 * a request.
 */
bool policy_find_standing(struct store *store, const char *address_key, int64_t now,
    enum policy_standing *standing, GError **error);

/** Get the reason for a refusal, with {value} and {owner}. @return static, or NULL */
const char *policy_get_refusal(enum policy_verdict verdict);

/** Format {value} of a refusal: the domains. @return a new string */
char *policy_format_domains(const struct settings *settings);

/** Find an invalid domain in the settings. @return a problem, a new string; or NULL */
char *policy_find_problem(const struct settings *settings);
