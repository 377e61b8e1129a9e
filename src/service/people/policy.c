/*
 * policy.c - who may subscribe (subscribe.policy).
 */
#include "service/people/policy.h"

#include <string.h>

#include "base/po.h"
#include "message/address.h"
#include "store/subscriber/confirmations.h"
#include "store/subscriber/subscribers.h"

static char **
split_domains(const struct settings *settings)
{
	g_autofree char *text = g_strdup(settings->subscribe_domains);
	GStrvBuilder *words = g_strv_builder_new();
	g_auto(GStrv) parts = g_strsplit(g_strdelimit(text, ",;\t", ' '), " ", -1);
	char **domains;

	for (char **part = parts; *part; part++)
		if (**part)
			g_strv_builder_add(words, *part);
	domains = g_strv_builder_end(words);
	g_strv_builder_unref(words);
	return domains;
}

/* @return in A-labels; of subdomains that of one, with the label "x"; or NULL */
static char *
parse_entry(const char *entry, GError **error)
{
	g_autofree char *text = g_strconcat(*entry == '.' ? "x" : "", entry, NULL);

	return address_parse_domain(text, error);
}

/* @param entry  "example.org", or ".example.org" for its subdomains */
static bool
matches(const char *entry, const char *domain)
{
	g_autofree char *name = parse_entry(entry, NULL);

	if (!name)
		return false;
	return *entry == '.' ? g_str_has_suffix(domain, name + 1)
	                     : strcmp(name, domain) == 0;
}

bool
policy_allows_domain(const struct settings *settings, const char *address)
{
	g_auto(GStrv) domains = split_domains(settings);
	pb_local(address) parsed = {0};
	bool is_found = false;

	if (settings->subscribe_policy != SETTINGS_POLICY_DOMAINS)
		return true;
	if (!address_parse(address, &parsed, NULL))
		return false;
	for (char **entry = domains; *entry && !is_found; entry++)
		is_found = matches(*entry, parsed.domain);
	return is_found;
}

bool
policy_load_room(
    struct store *store, const struct settings *settings, int64_t *room, GError **error)
{
	int64_t all = 0, gone = 0;

	*room = G_MAXINT64;
	if (!settings->subscribe_max)
		return true;
	if (!store_load_count(store, "subscriber", &all, error) ||
	    !store_load_count(store, "subscriber gone", &gone, error))
		return false;
	*room = MAX(settings->subscribe_max - (all - gone), 0);
	return true;
}

bool
policy_decide(struct store *store, const struct settings *settings, const char *address,
    enum policy_standing standing, enum policy_verdict *verdict, GError **error)
{
	static const enum policy_verdict verdicts[] = {
	    [SETTINGS_POLICY_OPEN] = POLICY_ALLOWED,
	    [SETTINGS_POLICY_DOMAINS] = POLICY_ALLOWED,
	    [SETTINGS_POLICY_APPROVAL] = POLICY_APPROVAL,
	    [SETTINGS_POLICY_CLOSED] = POLICY_CLOSED,
	};
	int64_t room;

	if (!policy_load_room(store, settings, &room, error))
		return false;
	if (!room)
		*verdict = POLICY_FULL;
	else if (standing != POLICY_ASKED)
		*verdict = POLICY_ALLOWED;
	else if (!policy_allows_domain(settings, address))
		*verdict = POLICY_OTHER_DOMAIN;
	else
		*verdict = verdicts[settings->subscribe_policy];
	return true;
}

bool
policy_find_standing(struct store *store, const char *address_key, int64_t now,
    enum policy_standing *standing, GError **error)
{
	g_autofree struct confirmation *invitation = NULL;

	if (!confirmations_find_pending(
	        store, CONFIRMATION_INVITATION, address_key, now, &invitation, error))
		return false;
	*standing = invitation ? POLICY_INVITED : POLICY_ASKED;
	return true;
}

const char *
policy_get_refusal(enum policy_verdict verdict)
{
	switch (verdict) {
	case POLICY_ALLOWED:
	case POLICY_APPROVAL:
		return NULL;
	case POLICY_OTHER_DOMAIN:
		return N_("Subscriptions here are for addresses at {value} only. To "
		          "ask for an exception, write to {owner}, a person.");
	case POLICY_CLOSED:
		return N_("Subscriptions here are by invitation only. To ask for one, "
		          "write to {owner}, a person.");
	case POLICY_FULL:
		return N_("No more people can subscribe here at present. Questions go "
		          "to {owner}, a person.");
	}
	g_assert_not_reached();
}

char *
policy_format_domains(const struct settings *settings)
{
	g_auto(GStrv) domains = split_domains(settings);

	return g_strjoinv(", ", domains);
}

char *
policy_find_problem(const struct settings *settings)
{
	g_auto(GStrv) domains = split_domains(settings);

	for (char **entry = domains; *entry; entry++) {
		g_autoptr(GError) problem = NULL;
		g_autofree char *name = parse_entry(*entry, &problem);

		if (!name)
			return g_strdup_printf("'%s': %s", *entry, problem->message);
	}
	return settings->subscribe_policy == SETTINGS_POLICY_DOMAINS && !*domains
	           ? g_strdup("must be set for the policy domains")
	           : NULL;
}
