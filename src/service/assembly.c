/*
 * assembly.c - parts of the program, built as the settings say.
 */
#include "service/assembly.h"

#include <errno.h>
#include <gio/gio.h>
#include <grp.h>
#include <string.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/error.h"
#include "base/zone.h"
#include "mail/address.h"
#include "mail/inert.h"
#include "mailbox/incoming.h"
#include "mailbox/lmtp.h"
#include "model/rhythm.h"
#include "service/house.h"
#include "service/imap_road.h"
#include "sources/arxiv.h"
#include "sources/huggingface.h"
#include "sources/newsfeed.h"
#include "transport/maildir.h"
#include "transport/smtp.h"

#define FILE_SCHEME  "file://"
#define WAIT_STEP_MS 100

struct assembly_outlet {
	char *maildir; /* NULL for SMTP */
	char *host;
	char *ca_file;
	char *user;
	char *password;
	char *hello;
	struct smtp_options smtp; /* borrows the texts above */
};

/* What assembly_check() has in hand. */
struct check {
	const struct settings *settings;
	GPtrArray *problems;
};

static void
add_problem(const struct check *check, const char *name, const char *problem)
{
	g_autofree char *place = settings_format_place(check->settings, name);

	g_ptr_array_add(
	    check->problems, g_strdup_printf("%s: %s: %s", place, name, problem));
}

/* Whether there is anything to check that was not found wrong before. */
static bool
is_said(const struct check *check, const char *name, const char *text)
{
	return *text && !settings_is_wrong(check->settings, name);
}

static void
check_address(const struct check *check, const char *name, const char *text)
{
	struct address address = {0};
	g_autoptr(GError) problem = NULL;

	if (!is_said(check, name, text))
		return;
	if (!address_parse(text, &address, &problem))
		add_problem(check, name, problem->message);
	address_clear(&address);
}

/* Whether there is room for tokens beside it. */
static void
check_base(const struct check *check, const char *name, const char *text)
{
	const char *delimiter = check->settings->commands_delimiter;
	struct extension_base base = {0};
	g_autoptr(GError) problem = NULL;

	if (!is_said(check, name, text))
		return;
	if (!extension_base_parse(text, delimiter, &base, &problem))
		add_problem(check, name, problem->message);
	extension_base_clear(&base);
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

	if (!is_said(check, name, text))
		return;
	domain = address_parse_domain(text, &problem);
	if (!domain)
		add_problem(check, name, problem->message);
}

static void
check_url(const struct check *check, const char *name, const char *url)
{
	static const char *const schemes[] = {"https://", "http://", FILE_SCHEME "/"};
	g_autofree char *problem = NULL;

	if (!is_said(check, name, url))
		return;
	for (size_t i = 0; i < G_N_ELEMENTS(schemes); i++)
		if (g_str_has_prefix(url, schemes[i]) && url[strlen(schemes[i])])
			return;
	problem = g_strdup_printf(
	    "'%s' is no https:// or http:// URL, nor file:///folder", url);
	add_problem(check, name, problem);
}

static void
check_categories(const struct check *check)
{
	const char *text = check->settings->arxiv_categories;
	g_auto(GStrv) names = g_strsplit(text, " ", -1);

	if (!is_said(check, "arxiv.categories", text))
		return;
	for (char **name = names; *name; name++) {
		g_autofree char *problem = NULL;

		if (!**name || arxiv_is_category(*name))
			continue;
		problem = g_strdup_printf("'%s' is no category of arXiv: cs.CL and "
		                          "hep-th are, with blanks between them",
		    *name);
		add_problem(check, "arxiv.categories", problem);
	}
}

/* What is wrong with NAME=URL. @return NULL for nothing */
static char *
find_feed_problem(const char *feed, GHashTable *names)
{
	const char *equals = strchr(feed, '=');
	g_autofree char *name =
	    g_strndup(feed, equals ? (gsize)(equals - feed) : strlen(feed));

	if (!equals)
		return g_strdup_printf(
		    "'%s' is no NAME=URL, such as nature=https://example.org/rss",
		    feed);
	if (!newsfeed_is_name(name))
		return g_strdup_printf("a feed cannot be called '%s': a name is of a "
		                       "to z, digits and hyphens, and no other "
		                       "source has it",
		    name);
	if (!g_hash_table_add(names, g_steal_pointer(&name)))
		return g_strdup_printf(
		    "two feeds are called '%.*s'", (int)(equals - feed), feed);
	if (g_str_has_prefix(equals + 1, "https://") ||
	    g_str_has_prefix(equals + 1, "http://") ||
	    g_str_has_prefix(equals + 1, FILE_SCHEME "/"))
		return NULL;
	return g_strdup_printf(
	    "'%s' is no https:// or http:// URL, nor file:///file", equals + 1);
}

static void
check_feeds(const struct check *check)
{
	const char *text = check->settings->feeds_urls;
	g_auto(GStrv) feeds = g_strsplit(text, " ", -1);
	g_autoptr(GHashTable) names =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	if (!is_said(check, "feeds.urls", text))
		return;
	for (char **feed = feeds; *feed; feed++) {
		g_autofree char *problem =
		    **feed ? find_feed_problem(*feed, names) : NULL;

		if (problem)
			add_problem(check, "feeds.urls", problem);
	}
}

/* A name or an address, and nothing else: people write the port behind it. */
static void
check_host(const struct check *check, const char *name, const char *host)
{
	const char *colon = strrchr(host, ':');
	g_autofree char *problem = NULL;

	if (!is_said(check, name, host) || g_hostname_is_ip_address(host))
		return;
	if (colon && colon > host && colon[1] &&
	    strspn(colon + 1, "0123456789") == strlen(colon + 1))
		problem = g_strdup_printf("'%s' has a port in it: write host = "
		                          "\"%.*s\"; port = %s;",
		    host, (int)(colon - host), host, colon + 1);
	else if (strpbrk(host, ":/@[]() \t,"))
		problem = g_strdup_printf("'%s' is no name of a host, and no address: "
		                          "mail.example.org is one",
		    host);
	if (problem)
		add_problem(check, name, problem);
}

static void
check_file(const struct check *check, const char *name, const char *path)
{
	g_autofree char *problem = NULL;

	if (!is_said(check, name, path))
		return;
	if (!g_file_test(path, G_FILE_TEST_EXISTS))
		problem = g_strdup_printf("there is no file '%s'", path);
	else if (!g_file_test(path, G_FILE_TEST_IS_REGULAR))
		problem = g_strdup_printf("'%s' is no regular file", path);
	else if (access(path, R_OK) != 0)
		problem = g_strdup_printf("'%s': %s", path, g_strerror(errno));
	if (problem)
		add_problem(check, name, problem);
}

static void
check_time(const struct check *check)
{
	const struct settings *settings = check->settings;
	g_autoptr(GTimeZone) zone = NULL;
	g_autoptr(GError) problem = NULL;
	int minute;

	if (is_said(check, "digest.zone", settings->digest_zone)) {
		zone = zone_load(settings->digest_zone, &problem);
		if (!zone)
			add_problem(check, "digest.zone", problem->message);
		g_clear_error(&problem);
	}
	if (is_said(check, "digest.at", settings->digest_at) &&
	    !rhythm_parse_minute(settings->digest_at, &minute, &problem))
		add_problem(check, "digest.at", problem->message);
}

static void
check_password(const struct check *check, const char *credentials, const char *name,
    const char *path)
{
	g_autoptr(GError) problem = NULL;
	char *password;

	if (!is_said(check, name, path))
		return;
	password = settings_load_secret(path, credentials, &problem);
	if (!password) {
		add_problem(check, name, problem->message);
		return;
	}
	explicit_bzero(password, strlen(password));
	g_free(password);
}

static void
check_templates(const struct check *check)
{
	static const guint8 sham_key[32];
	const char *folder = check->settings->template_dir;
	g_autoptr(GBytes) key = g_bytes_new_static(sham_key, sizeof(sham_key));
	g_autofree char *missing = NULL;
	pb_auto(renderer) renderer = NULL;
	g_autoptr(GError) problem = NULL;

	if (!is_said(check, "template_dir", folder))
		return;
	if (!g_file_test(folder, G_FILE_TEST_IS_DIR)) {
		missing = g_strdup_printf("there is no folder '%s'", folder);
		add_problem(check, "template_dir", missing);
		return;
	}
	/* Composing needs the addresses and names to be right. */
	if (check->problems->len)
		return;
	renderer = assembly_new_renderer(check->settings, key, &problem);
	if (!renderer)
		add_problem(check, "template_dir", problem->message);
}

static void
check_absolute(const struct check *check, const char *name, const char *path)
{
	g_autofree char *problem = NULL;

	if (!is_said(check, name, path) || g_path_is_absolute(path))
		return;
	problem = g_strdup_printf("'%s' is no absolute path: it begins with /", path);
	add_problem(check, name, problem);
}

static void
check_imap(const struct check *check, const char *credentials)
{
	const struct settings *settings = check->settings;
	g_autofree char *problem = NULL;

	if (!*settings->imap_host)
		return;
	check_host(check, "mailbox.imap_host", settings->imap_host);
	check_file(check, "mailbox.imap_ca_file", settings->imap_ca_file);
	check_password(check, credentials, "mailbox.imap_password_file",
	    settings->imap_password_file);
	problem = imap_road_find_problem(settings);
	if (problem)
		add_problem(check, "mailbox.imap_host", problem);
}

static void
check_mailboxes(const struct check *check)
{
	const struct settings *settings = check->settings;
	const char *group = settings->lmtp_group;
	const char *field = settings->recipient_header;
	g_autoptr(GError) problem = NULL;
	g_autofree char *wrong = NULL;

	check_absolute(check, "mailbox.lmtp_socket", settings->lmtp_socket);
	check_absolute(check, "mailbox.maildir", settings->incoming);
	check_absolute(check, "mailbox.reader", settings->letter_program);
	if (strlen(settings->lmtp_socket) > LMTP_PATH_BYTES)
		add_problem(check, "mailbox.lmtp_socket",
		    "the name is too long for a socket: at most 107 octets");
	if (is_said(check, "mailbox.lmtp_listen", settings->lmtp_listen) &&
	    !lmtp_check_listen(settings->lmtp_listen, &problem))
		add_problem(check, "mailbox.lmtp_listen", problem->message);
	if (is_said(check, "mailbox.lmtp_group", group) && !getgrnam(group)) {
		wrong = g_strdup_printf("there is no group '%s'", group);
		add_problem(check, "mailbox.lmtp_group", wrong);
	}
	/* RFC 5322 section 2.2. */
	for (const char *at = field; *at; at++)
		if (!g_ascii_isgraph(*at) || *at == ':') {
			add_problem(check, "mailbox.recipient_header",
			    "a field's name is wanted, such as \"Delivered-To\"");
			break;
		}
}

void
assembly_check(
    const struct settings *settings, const char *credentials, GPtrArray *problems)
{
	const struct check check = {settings, problems};

	check_address(&check, "mail.from", settings->mail_from);
	check_address(&check, "mail.owner", settings->mail_owner);
	check_commands(&check);
	check_domain(&check, "mail.domain", settings->mail_domain);
	check_domain(&check, "mail.list_id", settings->mail_list_id);
	check_url(&check, "huggingface.url", settings->huggingface_url);
	check_url(&check, "arxiv.url", settings->arxiv_url);
	check_url(&check, "arxiv.api_url", settings->arxiv_api_url);
	check_categories(&check);
	check_feeds(&check);
	check_time(&check);
	if (settings->smtp_protocol != SETTINGS_PROTOCOL_LMTP ||
	    *settings->smtp_host != '/')
		check_host(&check, "smtp.host", settings->smtp_host);
	check_file(&check, "smtp.ca_file", settings->smtp_ca_file);
	/* Without a user nobody reads it. */
	if (*settings->smtp_user)
		check_password(&check, credentials, "smtp.password_file",
		    settings->smtp_password_file);
	check_mailboxes(&check);
	check_imap(&check, credentials);
	check_templates(&check);
}

struct store *
assembly_open_store(const struct settings *settings, GError **error)
{
	g_autofree char *path =
	    g_build_filename(settings->state_dir, "paperboy.db", NULL);

	return store_open(path, error);
}

/* @param stop  int *, or NULL. @return false when it was set meanwhile */
static bool
wait_or_stop(void *stop, int64_t ms)
{
	/* Short naps: whoever stops the program does not wait for arXiv's rules. */
	for (int64_t left = ms; left > 0; left -= WAIT_STEP_MS) {
		if (stop && g_atomic_int_get((int *)stop))
			return false;
		g_usleep((gulong)MIN(left, WAIT_STEP_MS) * 1000);
	}
	return true;
}

struct http *
assembly_new_http(const struct settings *settings, const int *stop)
{
	const char *contact = *settings->collect_contact ? settings->collect_contact
	                                                 : settings->mail_owner;
	g_autofree char *agent =
	    g_strdup_printf("paperboy/%s (mailto:%s)", PACKAGE_VERSION, contact);
	const struct http_settings options = {
	    .user_agent = agent,
	    /* The operator named the host: it may be one of their own. */
	    .allow_private = true,
	    /* Only what the operator wrote is asked for: no redirect leads to a file.
	     */
	    .allow_file = true,
	    .wait = wait_or_stop,
	    .wait_data = (void *)stop,
	    .stop = stop,
	};

	return http_new(&options);
}

const struct arxiv_options *
assembly_get_arxiv(const struct settings *settings, struct arxiv_options *options)
{
	*options = (struct arxiv_options){
	    .feed_url = settings->arxiv_url,
	    .api_url = settings->arxiv_api_url,
	    .gap_ms = settings->arxiv_gap_s * (int64_t)1000,
	};
	return settings->arxiv_enrich ? options : NULL;
}

static bool
has_source(const GPtrArray *sources, const char *name)
{
	for (unsigned i = 0; i < sources->len; i++)
		if (strcmp(((struct source *)sources->pdata[i])->name, name) == 0)
			return true;
	return false;
}

/* One twice, or too many: it is not asked twice. */
static void
add_source(GPtrArray *sources, struct source *source)
{
	if (has_source(sources, source->name) || sources->len == BOUNDS_SOURCE_LISTS)
		source_free(source);
	else
		g_ptr_array_add(sources, source);
}

static void
add_categories(const struct settings *settings, GPtrArray *sources)
{
	g_auto(GStrv) names = g_strsplit(settings->arxiv_categories, " ", -1);
	struct arxiv_options options;

	assembly_get_arxiv(settings, &options);
	for (char **name = names; *name; name++)
		if (arxiv_is_category(*name))
			add_source(sources, arxiv_new(&options, *name));
}

static void
add_feeds(const struct settings *settings, GPtrArray *sources)
{
	g_auto(GStrv) feeds = g_strsplit(settings->feeds_urls, " ", -1);

	for (char **feed = feeds; *feed; feed++) {
		char *url = strchr(*feed, '=');

		if (!url)
			continue;
		*url = '\0';
		if (newsfeed_is_name(*feed))
			add_source(sources, newsfeed_new(*feed, url + 1));
	}
}

GPtrArray *
assembly_new_sources(const struct settings *settings)
{
	GPtrArray *sources =
	    g_ptr_array_new_with_free_func((GDestroyNotify)source_free);

	if (settings->huggingface_enabled)
		g_ptr_array_add(sources, huggingface_new(settings->huggingface_url));
	add_categories(settings, sources);
	add_feeds(settings, sources);
	return sources;
}

struct renderer *
assembly_new_renderer(const struct settings *settings, GBytes *key, GError **error)
{
	g_autofree char *domain = house_format_domain(settings);
	pb_auto(house) house = house_new(settings, error);
	g_autofree char *list_id = *settings->mail_list_id
	                               ? g_strdup(settings->mail_list_id)
	                               : g_strdup_printf("digest.%s", domain);
	const struct renderer_settings options = {
	    .template_dir = settings->template_dir,
	    .from_name = *settings->mail_from_name ? settings->mail_from_name : NULL,
	    .from_address = settings->mail_from,
	    .message_domain = domain,
	    .list_id = list_id,
	    .list_name = "paperboy",
	    .owner_address = settings->mail_owner,
	    .commands = house && house->has_commands ? &house->commands : NULL,
	    .key = key,
	};

	if (!house)
		return NULL;
	return renderer_new(&options, error);
}

static bool
is_loopback(const char *host)
{
	g_autoptr(GInetAddress) address = g_inet_address_new_from_string(host);

	return address ? g_inet_address_get_is_loopback(address)
	               : g_ascii_strcasecmp(host, "localhost") == 0;
}

static enum stream_tls
tls_of(const struct settings *settings)
{
	switch ((enum settings_tls)settings->smtp_tls) {
	case SETTINGS_TLS_AUTO:
		break;
	case SETTINGS_TLS_OFF:
		return STREAM_TLS_OFF;
	case SETTINGS_TLS_STARTTLS:
		return STREAM_TLS_STARTTLS;
	case SETTINGS_TLS_IMPLICIT:
		return STREAM_TLS_IMPLICIT;
	}
	return is_loopback(settings->smtp_host) ? STREAM_TLS_OFF : STREAM_TLS_STARTTLS;
}

static char *
text_or_null(const char *text)
{
	return *text ? g_strdup(text) : NULL;
}

struct assembly_outlet *
assembly_new_outlet(
    const struct settings *settings, const char *credentials, GError **error)
{
	struct assembly_outlet *outlet = g_new0(struct assembly_outlet, 1);

	if (settings->delivery == SETTINGS_DELIVERY_MAILDIR) {
		outlet->maildir = g_strdup(settings->maildir);
		return outlet;
	}
	if (*settings->smtp_user) {
		outlet->password = settings_load_secret(
		    settings->smtp_password_file, credentials, error);
		if (!outlet->password) {
			assembly_free_outlet(outlet);
			return NULL;
		}
	}
	outlet->host = g_strdup(settings->smtp_host);
	outlet->ca_file = text_or_null(settings->smtp_ca_file);
	outlet->user = text_or_null(settings->smtp_user);
	outlet->hello = *settings->smtp_ehlo_name ? g_strdup(settings->smtp_ehlo_name)
	                                          : house_format_domain(settings);
	outlet->smtp = (struct smtp_options){
	    .stream =
	        {
	            .protocol = STREAM_PROTOCOL_SMTP,
	            .tls = settings->smtp_protocol == SETTINGS_PROTOCOL_LMTP
	                       ? STREAM_TLS_OFF
	                       : tls_of(settings),
	            .host = outlet->host,
	            .port = (uint16_t)settings->smtp_port,
	            .ca_file = outlet->ca_file,
	            .user = outlet->user,
	            .password = outlet->password,
	            .hello = outlet->hello,
	        },
	    .times = SMTP_TIMES_STANDARD,
	    .is_lmtp = settings->smtp_protocol == SETTINGS_PROTOCOL_LMTP,
	    .use_messages = SMTP_USE_MESSAGES,
	    .use_s = SMTP_USE_S,
	};
	return outlet;
}

void
assembly_free_outlet(struct assembly_outlet *outlet)
{
	if (!outlet)
		return;
	if (outlet->password)
		explicit_bzero(outlet->password, strlen(outlet->password));
	g_free(outlet->password);
	g_free(outlet->maildir);
	g_free(outlet->host);
	g_free(outlet->ca_file);
	g_free(outlet->user);
	g_free(outlet->hello);
	g_free(outlet);
}

bool
assembly_is_same_outlet(
    const struct assembly_outlet *one, const struct assembly_outlet *other)
{
	return g_strcmp0(one->maildir, other->maildir) == 0 &&
	       g_strcmp0(one->host, other->host) == 0 &&
	       g_strcmp0(one->ca_file, other->ca_file) == 0 &&
	       g_strcmp0(one->user, other->user) == 0 &&
	       g_strcmp0(one->password, other->password) == 0 &&
	       g_strcmp0(one->hello, other->hello) == 0 &&
	       one->smtp.is_lmtp == other->smtp.is_lmtp &&
	       one->smtp.stream.port == other->smtp.stream.port &&
	       one->smtp.stream.tls == other->smtp.stream.tls;
}

/* So long it may take a person to look on. */
#define PROBE_MS (20 * 1000)

bool
assembly_probe_outlet(const struct assembly_outlet *outlet, char **told, GError **error)
{
	const struct smtp_options *smtp = &outlet->smtp;
	struct stream_options options = smtp->stream;
	struct stream_failure failure = {0};
	pb_auto(stream) stream = NULL;
	const GPtrArray *hello;
	GString *text;

	if (outlet->maildir) {
		*told =
		    g_strdup_printf("messages go to the Maildir %s", outlet->maildir);
		return true;
	}
	options.connect_ms = options.open_ms = PROBE_MS;
	stream = smtp->open ? smtp->open(&options, smtp->open_data, &failure, error)
	                    : stream_open(&options, &failure, error);
	stream_failure_clear(&failure);
	if (!stream)
		return false;
	text = g_string_new(outlet->host);
	g_string_append(text, options.tls == STREAM_TLS_OFF ? ", no TLS" : ", TLS");
	g_string_append(text, options.user ? ", logged in; it offers" : "; it offers");
	hello = stream_get_hello(stream);
	for (unsigned i = 1; i < hello->len; i++) {
		g_autofree char *line = inert_format_line(hello->pdata[i], 40);

		g_string_append_printf(text, "%s %s", i > 1 ? "," : "", line);
	}
	*told = g_string_free(text, FALSE);
	return true;
}

struct transport *
assembly_new_transport(const struct assembly_outlet *outlet)
{
	if (outlet->maildir)
		return transport_maildir_new(outlet->maildir);
	return smtp_new(&outlet->smtp);
}

const char *
assembly_get_envelope_from(const struct settings *settings)
{
	return *settings->mail_envelope_from ? settings->mail_envelope_from
	                                     : settings->mail_from;
}

const char *
assembly_get_road_name(enum assembly_road road)
{
	static const char *const names[ASSEMBLY_ROADS] = {
	    [ASSEMBLY_ROAD_LMTP] = "lmtp",
	    [ASSEMBLY_ROAD_MAILDIR] = "maildir",
	    [ASSEMBLY_ROAD_IMAP] = "imap",
	};

	return names[road];
}

static struct mailbox *
new_lmtp(const struct settings *settings)
{
	const struct lmtp_options options = {
	    .path = *settings->lmtp_socket ? settings->lmtp_socket : NULL,
	    .group = *settings->lmtp_group ? settings->lmtp_group : NULL,
	    .listen = *settings->lmtp_listen ? settings->lmtp_listen : NULL,
	    .times = LMTP_TIMES_STANDARD,
	};

	return options.path || options.listen ? lmtp_new(&options) : NULL;
}

bool
assembly_new_mailbox(const struct settings *settings, const char *credentials,
    enum assembly_road road, struct store *const *store, struct mailbox **mailbox,
    GError **error)
{
	switch (road) {
	case ASSEMBLY_ROAD_LMTP:
		*mailbox = new_lmtp(settings);
		return true;
	case ASSEMBLY_ROAD_MAILDIR:
		*mailbox =
		    *settings->incoming ? incoming_new(settings->incoming) : NULL;
		return true;
	case ASSEMBLY_ROAD_IMAP:
		*mailbox = NULL;
		if (*settings->imap_host)
			*mailbox = imap_road_new(settings, credentials, store, error);
		return !*settings->imap_host || *mailbox;
	case ASSEMBLY_ROADS:
		break;
	}
	g_assert_not_reached();
}
