/*
 * own_addresses.c - our own addresses, from the settings.
 */
#include "service/state/own_addresses.h"

#include "message/address.h"

char *
own_addresses_format_domain(const struct settings *settings)
{
	pb_local(address) address = {0};
	char *domain;

	if (*settings->mail_domain)
		return g_strdup(settings->mail_domain);
	if (!address_parse(settings->mail_from, &address, NULL))
		return g_strdup("localhost.localdomain");
	domain = g_strdup(address.domain);
	return domain;
}

static bool
read_bases(struct own_addresses *own_addresses, const struct settings *settings,
    GError **error)
{
	const char *delimiter = settings->commands_delimiter;
	const char *bounces = *settings->mail_envelope_from
	                          ? settings->mail_envelope_from
	                          : settings->commands_address;

	if (!subaddress_base_parse(settings->commands_address, delimiter,
	        &own_addresses->commands, error)) {
		g_prefix_error(error, "commands.address: ");
		return false;
	}
	own_addresses->has_commands = true;
	if (subaddress_base_parse(bounces, delimiter, &own_addresses->bounces, error))
		return true;
	g_prefix_error(error, "mail.envelope_from: ");
	return false;
}

struct own_addresses *
own_addresses_new(const struct settings *settings, GError **error)
{
	pb_auto(own_addresses) own_addresses = g_new0(struct own_addresses, 1);

	own_addresses->domain = own_addresses_format_domain(settings);
	if (*settings->commands_address && !read_bases(own_addresses, settings, error))
		return NULL;
	return g_steal_pointer(&own_addresses);
}

void
own_addresses_free(struct own_addresses *own_addresses)
{
	if (!own_addresses)
		return;
	subaddress_base_clear(&own_addresses->commands);
	subaddress_base_clear(&own_addresses->bounces);
	g_free(own_addresses->domain);
	g_free(own_addresses);
}
