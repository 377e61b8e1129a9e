/*
 * settings_check.c - semantic checks of settings.
 */
#include "service/setup/factory.h"

#include <errno.h>
#include <gio/gio.h>
#include <grp.h>
#include <string.h>
#include <unistd.h>

#include "base/zone.h"
#include "config/provider.h"
#include "config/web_url.h"
#include "message/address.h"
#include "model/schedule.h"
#include "receive/lmtp_listen.h"
#include "service/people/policy.h"

struct check {
	const struct settings *settings;
	GPtrArray *problems;
};

static void G_GNUC_PRINTF(3, 4)
    add_problem(const struct check *check, const char *name, const char *format, ...)
{
	g_autofree char *place = settings_format_place(check->settings, name);
	g_autofree char *problem = NULL;
	va_list arguments;

	va_start(arguments, format);
	problem = g_strdup_vprintf(format, arguments);
	va_end(arguments);

	g_ptr_array_add(
	    check->problems, g_strdup_printf("%s: %s: %s", place, name, problem));
}

/* Whether a setting has a value that the parser has accepted. */
static bool
has_valid_value(const struct check *check, const char *name, const char *text)
{
	return *text && !settings_has_error(check->settings, name);
}

static void
check_address(const struct check *check, const char *name, const char *text)
{
	pb_local(address) address = {0};
	g_autoptr(GError) problem = NULL;

	if (!has_valid_value(check, name, text))
		return;
	if (!address_parse(text, &address, &problem))
		add_problem(check, name, "%s", problem->message);
}

/* Check an address to which tokens are added. */
static void
check_base(const struct check *check, const char *name, const char *text)
{
	const char *delimiter = check->settings->commands_delimiter;
	pb_local(subaddress_base) base = {0};
	g_autoptr(GError) problem = NULL;

	if (!has_valid_value(check, name, text))
		return;
	if (!subaddress_base_parse(text, delimiter, &base, &problem))
		add_problem(check, name, "%s", problem->message);
}

static void
check_commands(const struct check *check)
{
	const struct settings *settings = check->settings;

	check_base(check, "commands.address", settings->commands_address);
	if (!*settings->commands_address || !*settings->mail_envelope_from)
		check_address(
		    check, "mail.envelope_from", settings->mail_envelope_from);
	else
		check_base(check, "mail.envelope_from", settings->mail_envelope_from);
}

static void
check_domain(const struct check *check, const char *name, const char *text)
{
	g_autoptr(GError) problem = NULL;
	g_autofree char *domain = NULL;

	if (!has_valid_value(check, name, text))
		return;
	domain = address_parse_domain(text, &problem);
	if (!domain)
		add_problem(check, name, "%s", problem->message);
}

/* Check for a loopback address or the path of a Unix socket. */
static void
check_web_listen(const struct check *check, const char *name, const char *text)
{
	g_autoptr(GError) problem = NULL;

	if (has_valid_value(check, name, text) && *text != '/' &&
	    !lmtp_listen_check(text, &problem))
		add_problem(check, name, "%s", problem->message);
}

static void
check_policy(const struct check *check)
{
	g_autofree char *problem = policy_find_problem(check->settings);

	if (problem && !settings_has_error(check->settings, "subscribe.domains") &&
	    !settings_has_error(check->settings, "subscribe.policy"))
		add_problem(check, "subscribe.domains", "%s", problem);
}

static void
check_web_url(const struct check *check, const char *name, const char *url)
{
	g_autoptr(GError) problem = NULL;

	if (!has_valid_value(check, name, url))
		return;
	if (!web_url_check(url, &problem))
		add_problem(check, name, "%s", problem->message);
	else if (!*check->settings->commands_address)
		add_problem(check, name,
		    "needs commands.address, for confirmations and replies");
}

static void
check_url(const struct check *check, const char *name, const char *url)
{
	if (has_valid_value(check, name, url) && !factory_is_url(url))
		add_problem(check, name,
		    "'%s' is not a URL (expected https://, http:// or "
		    "file:///directory)",
		    url);
}

/* Check a URL to which requests are posted, so not a file. */
static void
check_web_address(const struct check *check, const char *name, const char *url)
{
	if (has_valid_value(check, name, url) && g_str_has_prefix(url, "file:"))
		add_problem(
		    check, name, "'%s' is a file (expected https:// or http://)", url);
	else
		check_url(check, name, url);
}

/* A host name or an address, without a port. */
static void
check_host(const struct check *check, const char *name, const char *host)
{
	const char *colon = strrchr(host, ':');
	bool is_literal6 = *host == '[';
	const char *start = host + is_literal6;
	size_t size = strcspn(start, "]");

	if (!has_valid_value(check, name, host) || g_hostname_is_ip_address(host))
		return;
	if (colon && colon > host && colon[1] &&
	    strspn(colon + 1, "0123456789") == strlen(colon + 1))
		add_problem(check, name,
		    "'%s' contains a port: write host = \"%.*s\"; port = %s;", host,
		    (int)MIN(size, (size_t)(colon - start)), start, colon + 1);
	else if (is_literal6)
		add_problem(
		    check, name, "'%s': write the address without brackets", host);
	else if (strpbrk(host, ":/@[]() \t,"))
		add_problem(check, name,
		    "'%s' is not a host name or an address (expected, for example, "
		    "mail.example.org)",
		    host);
}

static void
check_file(const struct check *check, const char *name, const char *path)
{
	if (!has_valid_value(check, name, path))
		return;
	if (!g_file_test(path, G_FILE_TEST_EXISTS))
		add_problem(check, name, "no such file: '%s'", path);
	else if (!g_file_test(path, G_FILE_TEST_IS_REGULAR))
		add_problem(check, name, "'%s' is not a regular file", path);
	else if (access(path, R_OK) != 0)
		add_problem(check, name, "'%s': %s", path, g_strerror(errno));
}

static void
check_time(const struct check *check)
{
	const struct settings *settings = check->settings;
	g_autoptr(GTimeZone) zone = NULL;
	g_autoptr(GError) problem = NULL;
	int minute;

	if (has_valid_value(check, "digest.zone", settings->digest_zone)) {
		zone = zone_load(settings->digest_zone, &problem);
		if (!zone)
			add_problem(check, "digest.zone", "%s", problem->message);
		g_clear_error(&problem);
	}
	if (has_valid_value(check, "digest.at", settings->digest_at) &&
	    !schedule_parse_minute(settings->digest_at, &minute, &problem))
		add_problem(check, "digest.at", "%s", problem->message);
}

static void
check_password(const struct check *check, const char *credentials, const char *name,
    const char *path)
{
	g_autoptr(GError) problem = NULL;
	char *password;

	if (!has_valid_value(check, name, path))
		return;
	password = settings_load_secret(path, credentials, &problem);
	if (!password)
		add_problem(check, name, "%s", problem->message);
	oauth_secret_free(password);
}

static void
check_templates(const struct check *check)
{
	static const guint8 test_key[32];
	const char *directory = check->settings->template_dir;
	g_autoptr(GBytes) key = g_bytes_new_static(test_key, sizeof(test_key));
	pb_auto(renderer) renderer = NULL;
	g_autoptr(GError) problem = NULL;

	if (!has_valid_value(check, "template_dir", directory))
		return;
	if (!g_file_test(directory, G_FILE_TEST_IS_DIR)) {
		add_problem(
		    check, "template_dir", "no such directory: '%s'", directory);
		return;
	}
	if (*check->settings->alerts_url) {
		const char *type;
		pb_auto(template) alert =
		    factory_new_alert_template(check->settings, &type, &problem);

		if (!alert) {
			add_problem(check, "alerts.template", "%s", problem->message);
			return;
		}
	}
	/* Rendering needs valid addresses and names. */
	if (check->problems->len)
		return;
	renderer = factory_new_renderer(check->settings, key, &problem);
	if (!renderer)
		add_problem(check,
		    g_str_has_prefix(problem->message, check->settings->po_dir)
		        ? "po_dir"
		        : "template_dir",
		    "%s", problem->message);
}

static void
check_absolute(const struct check *check, const char *name, const char *path)
{
	if (has_valid_value(check, name, path) && !g_path_is_absolute(path))
		add_problem(check, name, "'%s' is not an absolute path", path);
}

static void
check_https(
    const struct check *check, const char *name, const char *url, bool is_needed)
{
	if ((*url || is_needed) && !g_str_has_prefix(url, "https://"))
		add_problem(check, name, "must be an https URL for a login by oauth");
}

static void
check_store(const struct check *check, const char *credentials)
{
	const struct settings *settings = check->settings;
	g_autoptr(GError) problem = NULL;

	if (!*settings->store_url)
		return;
	if (!store_is_server(settings->store_url))
		add_problem(
		    check, "store.url", "expected postgresql://USER@HOST/DATABASE");
	else if (!store_check_url(settings->store_url, &problem))
		add_problem(check, "store.url", "%s", problem->message);
	if (*settings->store_password_file)
		check_password(check, credentials, "store.password_file",
		    settings->store_password_file);
}

static void
check_oauth(const struct check *check, const char *credentials)
{
	const struct settings *settings = check->settings;
	const struct provider *provider = provider_find(settings->oauth_provider);
	pb_local(provider_endpoints) endpoints = {0};

	if (!factory_uses_oauth(settings, OAUTH_USE_IMAP) &&
	    !factory_uses_oauth(settings, OAUTH_USE_SMTP))
		return;
	if (!*settings->oauth_client_id)
		add_problem(check, "oauth.client_id",
		    "must be set for a login by oauth: register paperboy with the "
		    "provider");
	if (*settings->oauth_provider && !(provider && provider->token_url))
		add_problem(check, "oauth.provider", "%s",
		    provider
		        ? "this provider uses a password instead of oauth"
		        : "unknown provider (paperboyctl provider list shows them)");
	provider_endpoints_init(&endpoints, settings, true, true);
	check_https(check, "oauth.token_url", endpoints.token_url, true);
	check_https(
	    check, "oauth.authorization_url", endpoints.authorization_url, false);
	check_https(check, "oauth.device_url", endpoints.device_url, false);
	check_password(check, credentials, "oauth.client_secret_file",
	    settings->oauth_client_secret_file);
	check_file(check, "oauth.ca_file", settings->oauth_ca_file);
}

static void
check_imap(const struct check *check, const char *credentials)
{
	const struct settings *settings = check->settings;
	g_autofree char *problem = NULL;

	if (!*settings->imap_host)
		return;
	check_host(check, "receive.imap_host", settings->imap_host);
	check_file(check, "receive.imap_ca_file", settings->imap_ca_file);
	if (!factory_uses_oauth(settings, OAUTH_USE_IMAP))
		check_password(check, credentials, "receive.imap_password_file",
		    settings->imap_password_file);
	problem = factory_find_imap_problem(settings);
	if (problem)
		add_problem(check, "receive.imap_host", "%s", problem);
}

static void
check_mailboxes(const struct check *check)
{
	const struct settings *settings = check->settings;
	const char *group = settings->lmtp_group;
	const char *field = settings->recipient_header;
	g_autoptr(GError) problem = NULL;

	check_absolute(check, "receive.lmtp_socket", settings->lmtp_socket);
	check_absolute(check, "receive.maildir", settings->receive_maildir);
	check_absolute(check, "receive.parser", settings->parser_program);
	if (strlen(settings->lmtp_socket) > LMTP_LISTEN_PATH_BYTES)
		add_problem(check, "receive.lmtp_socket",
		    "name too long for a socket (limit 107 bytes)");
	if (has_valid_value(check, "receive.lmtp_listen", settings->lmtp_listen) &&
	    !lmtp_listen_check(settings->lmtp_listen, &problem))
		add_problem(check, "receive.lmtp_listen", "%s", problem->message);
	if (has_valid_value(check, "receive.lmtp_group", group) && !getgrnam(group))
		add_problem(check, "receive.lmtp_group", "no such group: '%s'", group);
	/* RFC 5322 section 2.2. */
	for (const char *at = field; *at; at++)
		if (!g_ascii_isgraph(*at) || *at == ':') {
			add_problem(check, "receive.recipient_header",
			    "expected the name of a header field, such as "
			    "\"Delivered-To\"");
			break;
		}
}

void
factory_check(
    const struct settings *settings, const char *credentials, GPtrArray *problems)
{
	const struct check check = {settings, problems};

	check_address(&check, "mail.from", settings->mail_from);
	check_address(&check, "mail.owner", settings->mail_owner);
	check_commands(&check);
	check_domain(&check, "mail.domain", settings->mail_domain);
	check_domain(&check, "mail.list_id", settings->mail_list_id);
	check_policy(&check);
	check_web_address(&check, "alerts.url", settings->alerts_url);
	check_web_address(&check, "alerts.ping_url", settings->alerts_ping_url);
	check_password(
	    &check, credentials, "alerts.secret_file", settings->alerts_secret_file);
	check_url(&check, "enrich.arxiv_url", settings->enrich_arxiv_url);
	check_url(&check, "enrich.europepmc_url", settings->enrich_europepmc_url);
	check_url(&check, "enrich.crossref_url", settings->enrich_crossref_url);
	factory_check_sources(settings, problems);
	check_time(&check);
	if (settings->smtp_protocol != SETTINGS_PROTOCOL_LMTP ||
	    *settings->smtp_host != '/')
		check_host(&check, "smtp.host", settings->smtp_host);
	check_file(&check, "smtp.ca_file", settings->smtp_ca_file);
	/* Not used without a user. */
	if (*settings->smtp_user && !factory_uses_oauth(settings, OAUTH_USE_SMTP))
		check_password(&check, credentials, "smtp.password_file",
		    settings->smtp_password_file);
	check_mailboxes(&check);
	check_web_url(&check, "web.url", settings->web_url);
	check_absolute(&check, "web.socket", settings->web_socket);
	check_web_listen(&check, "web.listen", settings->web_listen);
	check_file(&check, "web.ca_file", settings->web_ca_file);
	check_store(&check, credentials);
	check_oauth(&check, credentials);
	check_imap(&check, credentials);
	check_templates(&check);
}
