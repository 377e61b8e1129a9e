/*
 * provider.c - mailbox providers: their servers, OAuth endpoints and limits.
 */
#include "config/provider.h"

#include <string.h>

#define LOOPBACK "127.0.0.1"

#define MICROSOFT "https://login.microsoftonline.com/{tenant}/oauth2/v2.0"
/* Entra ignores the port of a redirect to localhost. */
#define MICROSOFT_OAUTH(default_tenant)                                               \
	.token_url = MICROSOFT "/token", .authorization_url = MICROSOFT "/authorize", \
	.device_url = MICROSOFT "/devicecode",                                        \
	.imap_scope = "https://outlook.office.com/IMAP.AccessAsUser.All",             \
	.smtp_scope = "https://outlook.office.com/SMTP.Send",                         \
	.extra_scope = "offline_access",                                              \
	.client_scope = "https://outlook.office365.com/.default",                     \
	.tenant = (default_tenant), .redirect_host = "localhost",                     \
	.has_no_passwords = true

/*
 * No device_url: the scope of mail is not allowed there.  Without the parameters there
 * is no refresh token after the first time.
 */
#define GOOGLE                                                               \
	.imap_host = "imap.gmail.com", .imap_port = 993,                     \
	.smtp_host = "smtp.gmail.com", .smtp_port = 587,                     \
	.has_subaddresses = PROVIDER_YES,                                    \
	.app_passwords = "https://myaccount.google.com/apppasswords",        \
	.token_url = "https://oauth2.googleapis.com/token",                  \
	.authorization_url = "https://accounts.google.com/o/oauth2/v2/auth", \
	.imap_scope = "https://mail.google.com/",                            \
	.smtp_scope = "https://mail.google.com/",                            \
	.parameters = "access_type=offline&prompt=consent", .redirect_host = LOOPBACK

const struct provider providers[] = {
    {.name = "gmail",
        .title = "Gmail",
        .domains = {"gmail.com", "googlemail.com"},
        .per_day = 500,
        GOOGLE,
        .source = "developers.google.com/identity/protocols/OAuth2ForDevices, "
                  "support.google.com/accounts/answer/185833, "
                  "support.google.com/mail/answer/22839"},
    {.name = "google",
        .title = "Google Workspace",
        .per_day = 2000, /* 500 for trial accounts */
        GOOGLE,
        .source = "developers.google.com/identity/protocols/OAuth2ForDevices, "
                  "support.google.com/a/answer/166852"},
    {.name = "microsoft",
        .title = "Microsoft 365",
        .imap_host = "outlook.office365.com",
        .imap_port = 993,
        .smtp_host = "smtp.office365.com",
        .smtp_port = 587,
        .has_subaddresses = PROVIDER_YES,
        .per_hour = 1800, /* 30 a minute */
        .per_day = 10000, /* recipients */
        MICROSOFT_OAUTH("organizations"),
        .source = "learn.microsoft.com: Authenticate an IMAP, POP or SMTP connection "
                  "using OAuth; Plus Addressing in Exchange Online"},
    {.name = "outlook",
        .title = "Outlook.com and Hotmail",
        .imap_host = "outlook.office365.com",
        .imap_port = 993,
        .smtp_host = "smtp-mail.outlook.com",
        .smtp_port = 587,
        .domains = {"outlook.com", "hotmail.com", "live.com", "msn.com"},
        .has_subaddresses = PROVIDER_YES,
        MICROSOFT_OAUTH("consumers"),
        .source = "learn.microsoft.com: Authenticate an IMAP, POP or SMTP connection "
                  "using OAuth"},
    {.name = "fastmail",
        .title = "Fastmail",
        .imap_host = "imap.fastmail.com",
        .imap_port = 993,
        .smtp_host = "smtp.fastmail.com",
        .smtp_port = 465,
        .domains = {"fastmail.com", "fastmail.fm"},
        .app_passwords = "Settings, Privacy & Security",
        .token_url = "https://api.fastmail.com/oauth/refresh",
        .authorization_url = "https://api.fastmail.com/oauth/authorize",
        .imap_scope = "https://www.fastmail.com/dev/protocol-imap",
        .smtp_scope = "https://www.fastmail.com/dev/protocol-smtp",
        .redirect_host = "localhost",
        .source = "www.fastmail.com/for-developers/oauth, "
                  "www.fastmail.com/help/clients/apppassword.html, "
                  "www.fastmail.com/help/technical/servernamesandports.html"},
    {.name = "yahoo",
        .title = "Yahoo Mail",
        .imap_host = "imap.mail.yahoo.com",
        .imap_port = 993,
        .smtp_host = "smtp.mail.yahoo.com",
        .smtp_port = 465,
        .domains = {"yahoo.com", "ymail.com", "rocketmail.com"},
        .app_passwords = "Account Info, Account Security",
        .has_subaddresses = PROVIDER_NO,
        .token_url = "https://api.login.yahoo.com/oauth2/get_token",
        .authorization_url = "https://api.login.yahoo.com/oauth2/request_auth",
        .imap_scope = "mail-w",
        .smtp_scope = "mail-w",
        .redirect_host = LOOPBACK,
        .source = "senders.yahooinc.com/developer/documentation, "
                  "help.yahoo.com/kb/SLN15241.html"},
    {.name = "zoho",
        .title = "Zoho Mail",
        .imap_host = "imappro.zoho.com",
        .imap_port = 993,
        .smtp_host = "smtppro.zoho.com",
        .smtp_port = 465,
        .source = "third-party descriptions; other hosts outside of the US"},
    {.name = "mailbox.org",
        .title = "mailbox.org",
        .imap_host = "imap.mailbox.org",
        .imap_port = 993,
        .smtp_host = "smtp.mailbox.org",
        .smtp_port = 465,
        .domains = {"mailbox.org"},
        .source = "kb.mailbox.org/en/private/e-mail/e-mail-configuration"},
    {.name = "proton",
        .title = "Proton Mail, by its Bridge on this machine",
        .imap_host = LOOPBACK,
        .imap_port = 1143,
        .smtp_host = LOOPBACK,
        .smtp_port = 1025,
        .domains = {"proton.me", "protonmail.com", "pm.me"},
        .source = "Bridge shows the ports and the password"},
    {0},
};

const struct provider *
provider_find(const char *name)
{
	for (const struct provider *row = providers; row->name; row++)
		if (g_ascii_strcasecmp(row->name, name) == 0)
			return row;
	return NULL;
}

static bool
has_domain(const struct provider *provider, const char *address)
{
	const char *at = strrchr(address, '@');

	for (size_t i = 0; at && i < G_N_ELEMENTS(provider->domains); i++)
		if (provider->domains[i] &&
		    g_ascii_strcasecmp(provider->domains[i], at + 1) == 0)
			return true;
	return false;
}

const struct provider *
provider_find_by_address(const char *address)
{
	for (const struct provider *row = providers; row->name; row++)
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

	for (const struct provider *row = providers; row->name; row++)
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
	static const struct provider none = {.redirect_host = LOOPBACK};
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
