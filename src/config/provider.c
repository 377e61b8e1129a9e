/*
 * provider.c - mailbox providers: their servers, OAuth endpoints and limits.
 */
#include "config/provider.h"

#include <string.h>

#include "config/providers.h"

#define RESOURCE "/paperboy/config/providers.conf"

/* Fields of the file that are texts. */
#define TEXT(name)                                            \
	{                                                     \
#name, G_STRUCT_OFFSET(struct provider, name) \
	}
static const struct {
	const char *key;
	size_t offset;
} texts[] = {TEXT(title), TEXT(imap_host), TEXT(smtp_host), TEXT(app_passwords),
    TEXT(token_url), TEXT(authorization_url), TEXT(device_url), TEXT(imap_scope),
    TEXT(smtp_scope), TEXT(extra_scope), TEXT(client_scope), TEXT(tenant),
    TEXT(parameters), TEXT(redirect_host), TEXT(source)};

/* @param name  taken */
static void
read_provider(GKeyFile *file, char *name, struct provider *row)
{
	g_autofree char *subaddresses =
	    g_key_file_get_value(file, name, "subaddresses", NULL);

	row->name = name;
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
		G_STRUCT_MEMBER(char *, row, texts[i].offset) =
		    g_key_file_get_string(file, name, texts[i].key, NULL);
	row->domains = g_key_file_get_string_list(file, name, "domains", NULL, NULL);
	row->imap_port = g_key_file_get_integer(file, name, "imap_port", NULL);
	row->smtp_port = g_key_file_get_integer(file, name, "smtp_port", NULL);
	row->per_hour = g_key_file_get_integer(file, name, "per_hour", NULL);
	row->per_day = g_key_file_get_integer(file, name, "per_day", NULL);
	row->has_subaddresses = !subaddresses                      ? PROVIDER_UNKNOWN
	                        : strcmp(subaddresses, "yes") == 0 ? PROVIDER_YES
	                                                           : PROVIDER_NO;
	row->has_no_passwords = g_key_file_has_key(file, name, "no_passwords", NULL);
}

static gpointer
load(gpointer unused)
{
	g_autoptr(GKeyFile) file = g_key_file_new();
	g_autoptr(GBytes) bytes =
	    g_resource_lookup_data(providers_get_resource(), RESOURCE, 0, NULL);
	g_autofree char **names = NULL;
	struct provider *rows;
	gsize count;

	(void)unused;
	g_key_file_load_from_bytes(file, bytes, G_KEY_FILE_NONE, NULL);
	names = g_key_file_get_groups(file, &count);
	rows = g_new0(struct provider, count + 1);
	for (gsize i = 0; i < count; i++)
		read_provider(file, names[i], &rows[i]);
	return rows;
}

const struct provider *
provider_get_all(void)
{
	static GOnce once = G_ONCE_INIT;

	return g_once(&once, load, NULL);
}

const struct provider *
provider_find(const char *name)
{
	for (const struct provider *row = provider_get_all(); row->name; row++)
		if (g_ascii_strcasecmp(row->name, name) == 0)
			return row;
	return NULL;
}

static bool
has_domain(const struct provider *provider, const char *address)
{
	const char *at = strrchr(address, '@');

	for (char **domain = provider->domains; at && domain && *domain; domain++)
		if (g_ascii_strcasecmp(*domain, at + 1) == 0)
			return true;
	return false;
}

const struct provider *
provider_find_by_address(const char *address)
{
	for (const struct provider *row = provider_get_all(); row->name; row++)
		if (has_domain(row, address))
			return row;
	return NULL;
}

struct provider_limits
provider_get_limits(const struct settings *settings)
{
	const char *account = strchr(settings->smtp_user, '@') ? settings->smtp_user
	                                                       : settings->mail_from;
	struct provider_limits limits = {
	    (unsigned)settings->per_hour, (unsigned)settings->per_day};
	const struct provider *found = NULL;

	for (const struct provider *row = provider_get_all(); row->name; row++)
		if (g_ascii_strcasecmp(row->smtp_host, settings->smtp_host) == 0 &&
		    (!found || !has_domain(found, account)))
			found = row;
	if (found && !limits.per_hour)
		limits.per_hour = (unsigned)found->per_hour;
	if (found && !limits.per_day)
		limits.per_day = (unsigned)found->per_day;
	return limits;
}

/* @param text  or NULL. @return a new string */
static char *
insert_tenant(const char *text, const char *tenant)
{
	g_auto(GStrv) parts = g_strsplit(text ? text : "", "{tenant}", -1);

	return g_strjoinv(tenant ? tenant : "", parts);
}

static char *
join_scopes(const struct provider *provider, bool imap, bool smtp)
{
	GString *text = g_string_new(imap ? provider->imap_scope : NULL);

	if (smtp && (!imap || strcmp(provider->imap_scope, provider->smtp_scope) != 0))
		g_string_append_printf(
		    text, "%s%s", text->len ? " " : "", provider->smtp_scope);
	if (provider->extra_scope)
		g_string_append_printf(text, " %s", provider->extra_scope);
	return g_string_free(text, FALSE);
}

/* @param text  of a setting; replaces `*value` unless empty */
static void
override(char **value, const char *text)
{
	if (!*text)
		return;
	g_free(*value);
	*value = g_strdup(text);
}

void
provider_endpoints_init(struct provider_endpoints *endpoints,
    const struct settings *settings, bool imap, bool smtp)
{
	static const struct provider none = {.redirect_host = "127.0.0.1"};
	const struct provider *provider = provider_find(settings->oauth_provider);
	const char *tenant;

	if (!provider || !provider->token_url)
		provider = &none;
	tenant = *settings->oauth_tenant ? settings->oauth_tenant : provider->tenant;
	*endpoints = (struct provider_endpoints){
	    .token_url = insert_tenant(provider->token_url, tenant),
	    .authorization_url = insert_tenant(provider->authorization_url, tenant),
	    .device_url = insert_tenant(provider->device_url, tenant),
	    .scope =
	        provider == &none ? g_strdup("") : join_scopes(provider, imap, smtp),
	    .client_scope = insert_tenant(provider->client_scope, tenant),
	    .parameters = provider->parameters,
	    .redirect_host = provider->redirect_host,
	};
	override(&endpoints->token_url, settings->oauth_token_url);
	override(&endpoints->authorization_url, settings->oauth_authorization_url);
	override(&endpoints->device_url, settings->oauth_device_url);
	override(&endpoints->scope, settings->oauth_scope);
	override(&endpoints->client_scope, settings->oauth_scope);
}

void
provider_endpoints_clear(struct provider_endpoints *endpoints)
{
	g_clear_pointer(&endpoints->token_url, g_free);
	g_clear_pointer(&endpoints->authorization_url, g_free);
	g_clear_pointer(&endpoints->device_url, g_free);
	g_clear_pointer(&endpoints->scope, g_free);
	g_clear_pointer(&endpoints->client_scope, g_free);
}
