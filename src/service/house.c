/*
 * house.c - our own addresses, as the settings say.
 */
#include "service/house.h"

#include "mail/address.h"

char *
house_format_domain(const struct settings *settings)
{
	struct address address = {0};
	char *domain;

	if (*settings->mail_domain)
		return g_strdup(settings->mail_domain);
	if (!address_parse(settings->mail_from, &address, NULL))
		return g_strdup("localhost.localdomain");
	domain = g_strdup(address.domain);
	address_clear(&address);
	return domain;
}

static bool
read_bases(struct house *house, const struct settings *settings, GError **error)
{
	const char *delimiter = settings->commands_delimiter;
	const char *bounces = *settings->mail_envelope_from
	                          ? settings->mail_envelope_from
	                          : settings->commands_address;

	if (!extension_base_parse(
	        settings->commands_address, delimiter, &house->commands, error)) {
		g_prefix_error(error, "commands.address: ");
		return false;
	}
	house->has_commands = true;
	if (extension_base_parse(bounces, delimiter, &house->bounces, error))
		return true;
	g_prefix_error(error, "mail.envelope_from: ");
	return false;
}

struct house *
house_new(const struct settings *settings, GError **error)
{
	pb_auto(house) house = g_new0(struct house, 1);

	house->domain = house_format_domain(settings);
	if (*settings->commands_address && !read_bases(house, settings, error))
		return NULL;
	return g_steal_pointer(&house);
}

void
house_free(struct house *house)
{
	if (!house)
		return;
	extension_base_clear(&house->commands);
	extension_base_clear(&house->bounces);
	g_free(house->domain);
	g_free(house);
}
