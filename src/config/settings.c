/*
 * settings.c - the table of settings.
 */
#include "config/settings.h"

#include <string.h>

#include "config/setting.h"

static const char *const delivery_choices[] = {"smtp", "maildir", NULL};
static const char *const tls_choices[] = {"auto", "off", "starttls", "implicit", NULL};

static const char *const protocol_choices[] = {"smtp", "lmtp", NULL};

static const char *const login_choices[] = {"password", "oauth", NULL};

static const char *const log_levels[] = {"error", "warning", "info", "debug", NULL};

#define TEXT(n, field, value, least, about)                                  \
	{                                                                    \
		.name = (n), .type = TYPE_TEXT,                              \
		.offset = offsetof(struct settings, field), .text = (value), \
		.minimum = (least), .help = (about)                          \
	}
#define INT(n, field, value, least, most, about)                               \
	{                                                                      \
		.name = (n), .type = TYPE_INT,                                 \
		.offset = offsetof(struct settings, field), .number = (value), \
		.minimum = (least), .maximum = (most), .help = (about)         \
	}
#define BOOL(n, field, value, about)                                           \
	{                                                                      \
		.name = (n), .type = TYPE_BOOL,                                \
		.offset = offsetof(struct settings, field), .number = (value), \
		.help = (about)                                                \
	}
#define CHOICE(n, field, value, list, about)                                   \
	{                                                                      \
		.name = (n), .type = TYPE_CHOICE,                              \
		.offset = offsetof(struct settings, field), .number = (value), \
		.choices = (list), .help = (about)                             \
	}

/* A text with a minimum length of 1 and no default must be set. */
const struct setting setting_table[] = {
    {.name = "state_dir",
        .type = TYPE_TEXT,
        .offset = offsetof(struct settings, state_dir),
        .text = PAPERBOY_STATEDIR,
        .minimum = 1,
        .help = "directory of the store and the key; accessible to its owner only",
        .needs_restart = true},
    TEXT("template_dir", template_dir, PAPERBOY_TEMPLATEDIR, 1,
        "directory of the templates"),
    TEXT("po_dir", po_dir, PAPERBOY_SYSCONFDIR "/po", 1,
        "directory of translations that replace those of the program"),
    {.name = "log_level",
        .type = TYPE_TEXT,
        .offset = offsetof(struct settings, log_level),
        .text = "info",
        .minimum = 1,
        .choices = log_levels,
        .help = "error, warning, info or debug"},
    {.name = "store.url",
        .type = TYPE_TEXT,
        .offset = offsetof(struct settings, store_url),
        .text = "",
        .help = "PostgreSQL database of several machines; empty: a file in state_dir",
        .needs_restart = true},
    {.name = "store.password_file",
        .type = TYPE_TEXT,
        .offset = offsetof(struct settings, store_password_file),
        .text = "",
        .help = "file with the password, as smtp.password_file; empty: none",
        .needs_restart = true},
    TEXT("mail.from", mail_from, "", 1, "From address of digests"),
    TEXT("mail.from_name", mail_from_name, "paperboy", 0, "From name of digests"),
    TEXT("mail.owner", mail_owner, "", 1, "address of the operator"),
    BOOL("mail.alerts", mail_alerts, true, "mail alerts to mail.owner"),
    TEXT("mail.envelope_from", mail_envelope_from, "", 0,
        "envelope sender, for bounces; empty: mail.from"),
    TEXT("mail.domain", mail_domain, "", 0,
        "domain of Message-IDs; empty: domain of mail.from"),
    TEXT("mail.list_id", mail_list_id, "", 0, "List-Id; empty: digest.DOMAIN"),
    TEXT("commands.address", commands_address, "", 0,
        "address for commands by mail; empty: none"),
    TEXT("commands.delimiter", commands_delimiter, "+", 0,
        "subaddress delimiter of the mail server (RFC 5233); empty: it has none"),
    TEXT("commands.authserv_id", commands_authserv_id, "", 0,
        "trusted authserv-id of Authentication-Results; empty: none"),
    TEXT("web.url", web_url, "", 0,
        "base of links, \"https://papers.example.org\"; empty: no page"),
    TEXT("web.listen", web_listen, "127.0.0.1:8080", 1,
        "ADDRESS:PORT or path of a socket of paperboy-web, without socket activation"),
    TEXT("web.socket", web_socket, "/run/paperboy-web/daemon", 1,
        "Unix socket on which paperboyd serves paperboy-web"),
    TEXT("web.trusted_proxy", web_trusted_proxy, "127.0.0.0/8 ::1", 0,
        "addresses and networks of web servers whose X-Forwarded-For names the client"),
    TEXT("web.ca_file", web_ca_file, "", 0,
        "certificates of authorities that check trusts; empty: the system's"),
    BOOL("web.search", web_search, false, "anybody may search the archive"),
    INT("limits.confirm_interval_h", limit_confirm_interval_h, 24, 1, 72,
        "hours between two confirmation requests to an unknown sender"),
    INT("limits.confirmations_per_month", limit_confirmations_per_month, 3, 1, 100,
        "confirmation requests to an unknown sender in 30 days"),
    INT("limits.confirmations_per_hour", limit_confirmations_per_hour, 60, 1, 100000,
        "the same to all, by mail, by mail that passed DMARC, and by the page each"),
    INT("limits.confirmations_per_domain_hour", limit_confirmations_per_domain_hour, 30,
        1, 100000, "the same to one domain"),
    INT("limits.forms_per_network_hour", limit_forms_per_network_hour, 10, 1, 100000,
        "forms to subscribe, from one /24 (IPv4) or /48 (IPv6) of clients"),
    INT("limits.unknown_sender_per_day", limit_unknown_sender_per_day, 3, 0, 100,
        "other replies to an unknown sender"),
    INT("limits.replies_per_day", limit_replies_per_day, 10, 1, 1000,
        "replies to a subscriber; as many again if authenticated"),
    INT("limits.owner_mail_per_day", limit_owner_mail_per_day, 50, 0, 10000,
        "messages forwarded to mail.owner"),
    TEXT("digest.zone", digest_zone, "UTC", 1, "time zone of a new subscriber"),
    TEXT("digest.at", digest_at, "07:30", 1, "local time of a new subscriber's digest"),
    INT("digest.max", digest_max, 20, 1, 200,
        "papers with abstract in a new subscriber's digest"),
    INT("collect.interval_s", collect_interval_s, 1800, 60, 86400,
        "seconds between two fetches from the sources"),
    TEXT("collect.contact", collect_contact, "", 0,
        "contact in the User-Agent; empty: mail.owner"),
    TEXT("collect.private", collect_private, "", 0,
        "sources whose host names may have private addresses: hf, arxiv, or feeds"),
    INT("collect.wait_min", collect_wait_min, 60, 0, 720,
        "minutes that digests wait for a late list"),
    BOOL("huggingface.enabled", huggingface_enabled, true,
        "collect Hugging Face's Daily Papers"),
    TEXT("huggingface.url", huggingface_url, "https://huggingface.co", 1,
        "the service, or a mirror; file:///dir reads daily_papers-DAY.json there"),
    TEXT("arxiv.categories", arxiv_categories, "", 0,
        "categories to collect, separated by blanks, such as \"cs.CL stat.ML\""),
    BOOL("arxiv.enrich", arxiv_enrich, true,
        "fetch missing categories, comment, journal and DOI from arXiv"),
    TEXT("arxiv.url", arxiv_url, "https://rss.arxiv.org", 1,
        "the feeds, or a mirror; file:///dir reads CATEGORY.xml there"),
    TEXT("arxiv.api_url", arxiv_api_url, "https://export.arxiv.org", 1,
        "the API, or a mirror"),
    INT("arxiv.request_interval_s", arxiv_request_interval_s, 3, 0, 600,
        "seconds between requests; arXiv's terms require at least 3"),
    TEXT("feeds.urls", feeds_urls, "", 0,
        "RSS and Atom feeds as NAME=URL, separated by blanks"),
    CHOICE("delivery.method", delivery, SETTINGS_DELIVERY_SMTP, delivery_choices,
        "smtp, or maildir for a local Maildir"),
    TEXT("delivery.maildir", maildir, "", 0, "the Maildir, for the method maildir"),
    INT("delivery.expire_h", expire_h, 36, 1, 120,
        "hours after which an undeliverable digest fails"),
    INT("delivery.per_second", per_second, 0, 0, 1000,
        "maximum messages per second; 0: no limit"),
    INT("delivery.per_hour", per_hour, 0, 0, 1000000,
        "maximum messages per hour, evenly spread; 0: the provider's, if known"),
    INT("delivery.per_day", per_day, 0, 0, 1000000,
        "maximum messages in 24 hours; 0: the provider's limit, if known"),
    INT("delivery.domain_per_hour", domain_per_hour, 0, 0, 1000000,
        "maximum messages per hour to each recipient domain; 0: no limit"),
    CHOICE("smtp.protocol", smtp_protocol, SETTINGS_PROTOCOL_SMTP, protocol_choices,
        "smtp; or lmtp to a host that delivers locally, without TLS and login"),
    TEXT("smtp.host", smtp_host, "localhost", 1,
        "the relay; with lmtp also the path of a socket"),
    INT("smtp.port", smtp_port, 25, 1, 65535, "its port"),
    CHOICE("smtp.tls", smtp_tls, SETTINGS_TLS_AUTO, tls_choices,
        "auto (starttls, but off on loopback), off, starttls or implicit"),
    TEXT("smtp.ca_file", smtp_ca_file, "", 0,
        "trusted CA certificates; empty: those of the system"),
    TEXT("smtp.user", smtp_user, "", 0, "user name for login; empty: no login"),
    CHOICE("smtp.login", smtp_login, SETTINGS_LOGIN_PASSWORD, login_choices,
        "password, or oauth (see the oauth group)"),
    TEXT("smtp.password_file", smtp_password_file, "", 0,
        "file with the password, mode 0600; a bare name is a systemd credential"),
    TEXT("smtp.ehlo_name", smtp_ehlo_name, "", 0,
        "host name in EHLO; empty: mail.domain"),
    INT("smtp.connections", smtp_connections, 2, 1, 50,
        "maximum number of parallel connections"),
    INT("smtp.shutdown_timeout_s", smtp_shutdown_timeout_s, 60, 1, 3600,
        "timeout for replies on shutdown; less than systemd's TimeoutStopSec"),
    TEXT("receive.lmtp_socket", lmtp_socket, "", 0,
        "Unix socket for LMTP from the mail server"),
    TEXT("receive.lmtp_group", lmtp_group, "", 0,
        "group that may connect; empty: only the daemon's user"),
    TEXT("receive.lmtp_listen", lmtp_listen, "", 0,
        "loopback address and port for LMTP: 127.0.0.1:24"),
    TEXT("receive.maildir", receive_maildir, "", 0,
        "Maildir into which the mail server delivers"),
    TEXT("receive.imap_host", imap_host, "", 0, "IMAP server to poll"),
    INT("receive.imap_port", imap_port, 993, 1, 65535, "its port"),
    CHOICE("receive.imap_tls", imap_tls, SETTINGS_TLS_AUTO, tls_choices,
        "auto (993: implicit, 143: starttls, else detected), off, "
        "starttls or implicit"),
    TEXT("receive.imap_ca_file", imap_ca_file, "", 0,
        "trusted CA certificates; empty: those of the system"),
    TEXT("receive.imap_user", imap_user, "", 0, "user name for login"),
    CHOICE("receive.imap_login", imap_login, SETTINGS_LOGIN_PASSWORD, login_choices,
        "password, or oauth (see the oauth group)"),
    TEXT("receive.imap_password_file", imap_password_file, "", 0,
        "file with the password, mode 0600; a bare name is a systemd credential"),
    TEXT("receive.imap_folder", imap_folder, "INBOX", 1, "folder to read"),
    TEXT("receive.imap_move_to", imap_move_to, "", 0,
        "folder to move stored messages to; empty: only mark them"),
    BOOL("receive.imap_expunge", imap_expunge, false,
        "expunge messages from the server once they are stored"),
    INT("receive.imap_poll_s", imap_poll_s, 60, 10, 3600,
        "seconds between two polls of a server without IDLE"),
    TEXT("receive.recipient_header", recipient_header, "", 0,
        "header with the envelope recipient, if not LMTP; only the topmost one counts"),
    INT("receive.min_free_mb", min_free_mb, 100, 0, 1000000,
        "free disk space in MB below which mail is deferred"),
    TEXT("receive.parser", parser_program, "", 0,
        "path of paperboy-parser; empty: the installed one"),
    TEXT("oauth.provider", oauth_provider, "", 0,
        "gmail, google, microsoft, outlook, fastmail or yahoo; empty: by the URLs "
        "below"),
    TEXT("oauth.client_id", oauth_client_id, "", 0,
        "client id, under which paperboy is registered with the provider"),
    TEXT("oauth.client_secret_file", oauth_client_secret_file, "", 0,
        "file with the client secret, as for passwords; empty: none"),
    TEXT("oauth.tenant", oauth_tenant, "", 0,
        "tenant of Microsoft Entra; empty: organizations, or consumers for outlook"),
    TEXT("oauth.token_url", oauth_token_url, "", 0,
        "token endpoint, https; empty: the provider's"),
    TEXT("oauth.authorization_url", oauth_authorization_url, "", 0,
        "page on which a browser logs in; empty: the provider's"),
    TEXT("oauth.device_url", oauth_device_url, "", 0,
        "endpoint for device codes; empty: the provider's, if it has one"),
    TEXT("oauth.redirect_uri", oauth_redirect_uri, "", 0,
        "registered redirect URI, such as http://localhost:8085/; empty: any port"),
    TEXT("oauth.scope", oauth_scope, "", 0,
        "scopes, separated by blanks; empty: the provider's"),
    TEXT("oauth.ca_file", oauth_ca_file, "", 0,
        "trusted CA certificates; empty: those of the system"),
};

const size_t setting_count = G_N_ELEMENTS(setting_table);

struct settings *
settings_new(void)
{
	struct settings *settings = g_new0(struct settings, 1);

	settings->origins = g_new0(struct setting_origin, setting_count);
	for (size_t i = 0; i < setting_count; i++) {
		switch (setting_table[i].type) {
		case TYPE_TEXT:
			*setting_get_text(settings, &setting_table[i]) =
			    g_strdup(setting_table[i].text);
			break;
		case TYPE_BOOL:
			*setting_get_bool(settings, &setting_table[i]) =
			    setting_table[i].number;
			break;
		case TYPE_INT:
		case TYPE_CHOICE:
			*setting_get_int(settings, &setting_table[i]) =
			    setting_table[i].number;
			break;
		}
	}
	return settings;
}

void
settings_free(struct settings *settings)
{
	if (!settings)
		return;
	for (size_t i = 0; i < setting_count; i++) {
		if (setting_table[i].type == TYPE_TEXT)
			g_free(*setting_get_text(settings, &setting_table[i]));
		g_free(settings->origins[i].file);
	}
	g_free(settings->origins);
	g_free(settings->path);
	g_free(settings);
}

/* libconfig has no octal escapes and takes non-ASCII text unescaped. */
static char *
format_text(const char *text)
{
	GString *out = g_string_new("\"");

	for (const char *p = text; *p; p++) {
		if (g_ascii_iscntrl(*p)) {
			g_string_append_printf(out, "\\x%02X", (unsigned)*p);
			continue;
		}
		if (*p == '"' || *p == '\\')
			g_string_append_c(out, '\\');
		g_string_append_c(out, *p);
	}
	g_string_append_c(out, '"');
	return g_string_free(out, FALSE);
}

static char *
format_value(const struct setting *setting, struct settings *settings)
{
	switch (setting->type) {
	case TYPE_TEXT:
		return format_text(*setting_get_text(settings, setting));
	case TYPE_INT:
		return g_strdup_printf("%d", *setting_get_int(settings, setting));
	case TYPE_BOOL:
		return g_strdup(
		    *setting_get_bool(settings, setting) ? "true" : "false");
	case TYPE_CHOICE:
		return g_strdup_printf(
		    "\"%s\"", setting->choices[*setting_get_int(settings, setting)]);
	}
	return NULL;
}

static char *
format_range(const struct setting *setting)
{
	g_autofree char *list = NULL;

	switch (setting->type) {
	case TYPE_INT:
		return g_strdup_printf(
		    "from %d to %d", setting->minimum, setting->maximum);
	case TYPE_CHOICE:
		list = g_strjoinv("\", \"", (char **)setting->choices);
		return g_strdup_printf("one of \"%s\"", list);
	case TYPE_BOOL:
	case TYPE_TEXT:
		break;
	}
	return g_strdup("");
}

/* The addresses of etc/paperboy.conf. */
bool
settings_is_default(const struct settings *settings)
{
	return g_ascii_strcasecmp(settings->mail_from, "paperboy@example.org") == 0 ||
	       g_ascii_strcasecmp(settings->mail_owner, "postmaster@example.org") == 0;
}

void
settings_foreach(const struct settings *settings,
    void (*callback)(const struct settings_row *row, void *data), void *data)
{
	for (size_t i = 0; i < setting_count; i++) {
		g_autofree char *value =
		    format_value(&setting_table[i], (struct settings *)settings);
		g_autofree char *range = format_range(&setting_table[i]);
		const struct settings_row row = {setting_table[i].name,
		    setting_table[i].help, range, value,
		    setting_table[i].needs_restart};

		callback(&row, data);
	}
}

GPtrArray *
settings_list_changes(
    const struct settings *before, const struct settings *after, bool needs_restart)
{
	GPtrArray *names = g_ptr_array_new();

	for (size_t i = 0; i < setting_count; i++) {
		const struct setting *setting = &setting_table[i];
		g_autofree char *old = format_value(setting, (struct settings *)before);
		g_autofree char *new = format_value(setting, (struct settings *)after);

		if (strcmp(old, new) != 0 && (setting->needs_restart || !needs_restart))
			g_ptr_array_add(names, (gpointer)setting->name);
	}
	return names;
}
