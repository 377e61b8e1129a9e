/*
 * factory.c - the composition root: parts of the program, built from the settings.
 */
#include "service/setup/factory.h"

#include <errno.h>
#include <gio/gio.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "config/provider.h"
#include "config/settings.h"
#include "message/address.h"
#include "message/sanitize.h"
#include "receive/imap.h"
#include "receive/lmtp_server.h"
#include "receive/maildir_in.h"
#include "receive/receiver.h"
#include "service/state/one_click.h"
#include "service/state/own_addresses.h"
#include "store/admin/store_copy.h"
#include "store/core/store.h"
#include "store/paper/archive_cache.h"
#include "transport/maildir.h"
#include "transport/smtp.h"

/* ---- the IMAP receiver, with its cursor in the store ---- */

#define IMAP_PORT  143
#define IMAPS_PORT 993

/* Owned by the receiver. */
struct imap_parts {
	struct store *const *store;
	char *cursor;
	struct oauth_source *oauth; /* NULL: a password is used */
};

/* Hashed, since names of users must not be in names of cursors. */
static char *
format_cursor(const struct settings *settings)
{
	g_autofree char *place = g_strdup_printf("%s\n%s\n%s", settings->imap_host,
	    settings->imap_user, settings->imap_folder);
	g_autofree char *hash =
	    g_compute_checksum_for_string(G_CHECKSUM_SHA256, place, -1);

	return g_strdup_printf("imap %.16s", hash);
}

static void
load_cursor(void *data, struct imap_cursor *cursor)
{
	const struct imap_parts *parts = data;
	int64_t value = 0;

	/* Without it all messages are fetched again, and known as duplicates. */
	if (!store_load_int64(*parts->store, parts->cursor, 0, &value, NULL))
		return;
	cursor->uidvalidity = (uint32_t)((uint64_t)value >> 32);
	cursor->uid = (uint32_t)((uint64_t)value & UINT32_MAX);
}

static bool
save_cursor(void *data, const struct imap_cursor *cursor, GError **error)
{
	const struct imap_parts *parts = data;
	uint64_t value = (uint64_t)cursor->uidvalidity << 32 | cursor->uid;

	return store_save_cursor(*parts->store, parts->cursor, (int64_t)value, error);
}

static double
random_fraction(void *data)
{
	(void)data;
	return g_random_double();
}

static enum stream_tls
get_usual_tls(const struct settings *settings)
{
	switch (settings->imap_port) {
	case IMAP_PORT:
		return STREAM_TLS_STARTTLS;
	case IMAPS_PORT:
		return STREAM_TLS_IMPLICIT;
	}
	return STREAM_TLS_DETECT;
}

/* @param usual  for SETTINGS_TLS_AUTO */
static enum stream_tls
choose_tls(enum settings_tls wanted, enum stream_tls usual)
{
	switch (wanted) {
	case SETTINGS_TLS_AUTO:
		break;
	case SETTINGS_TLS_OFF:
		return STREAM_TLS_OFF;
	case SETTINGS_TLS_STARTTLS:
		return STREAM_TLS_STARTTLS;
	case SETTINGS_TLS_IMPLICIT:
		return STREAM_TLS_IMPLICIT;
	}
	return usual;
}

static struct imap_options
options_of(const struct settings *settings, const char *password,
    const struct stream_tokens *tokens)
{
	struct imap_options options = {
	    .host = settings->imap_host,
	    .port = (uint16_t)settings->imap_port,
	    .tls = choose_tls(
	        (enum settings_tls)settings->imap_tls, get_usual_tls(settings)),
	    .ca_file = *settings->imap_ca_file ? settings->imap_ca_file : NULL,
	    .user = settings->imap_user,
	    .password = password,
	    .tokens = tokens,
	    .folder = settings->imap_folder,
	    .move_to = *settings->imap_move_to ? settings->imap_move_to : NULL,
	    .expunge = settings->imap_expunge,
	    .random = random_fraction,
	    .times = IMAP_TIMES_STANDARD,
	};

	options.times.poll_s = (unsigned)settings->imap_poll_s;
	return options;
}

char *
factory_find_imap_problem(const struct settings *settings)
{
	const struct imap_options options = options_of(settings, "", NULL);
	g_autoptr(GError) problem = NULL;
	struct receiver *mailbox = imap_receiver_new(&options, &problem);

	receiver_free(mailbox);
	return problem ? g_strdup(problem->message) : NULL;
}

static void
imap_parts_free(void *data)
{
	struct imap_parts *parts = data;

	oauth_source_free(parts->oauth);
	g_free(parts->cursor);
	g_free(parts);
}

/* @return NULL, also for an OAuth login */
static char *
load_password(const struct settings *settings, const char *credentials, GError **error)
{
	if (factory_uses_oauth(settings, OAUTH_USE_IMAP))
		return NULL;
	return settings_load_secret(settings->imap_password_file, credentials, error);
}

/*
 * @param credentials  $CREDENTIALS_DIRECTORY, or NULL
 * @param clock        for the expiry of access tokens; borrowed
 * @param store        where the store will be when the receiver runs
 * @return NULL with PB_ERROR_INPUT
 */
static struct receiver *
new_imap_receiver(const struct settings *settings, const char *credentials,
    const struct clock *clock, struct store *const *store, GError **error)
{
	struct imap_parts *parts = g_new0(struct imap_parts, 1);
	char *password = load_password(settings, credentials, error);
	struct imap_options options;
	struct receiver *mailbox = NULL;

	parts->store = store;
	parts->cursor = format_cursor(settings);
	if (factory_uses_oauth(settings, OAUTH_USE_IMAP))
		parts->oauth = factory_new_oauth(
		    settings, OAUTH_USE_IMAP, credentials, clock, error);
	if (password || parts->oauth) {
		options = options_of(settings, password,
		    parts->oauth ? oauth_source_get_tokens(parts->oauth) : NULL);
		options.cursor_store = (struct imap_cursor_store){
		    load_cursor, save_cursor, imap_parts_free, parts};
		mailbox = imap_receiver_new(&options, error);
	}
	oauth_secret_free(password);
	if (!mailbox)
		imap_parts_free(parts);
	return mailbox;
}

#define WAIT_STEP_MS 100

struct factory_transport {
	/* Borrowed from the settings; NULL if empty. */
	const char *maildir; /* NULL for SMTP */
	const char *host, *ca_file, *user;
	char *password;
	char *hello;
	struct oauth_source *oauth; /* NULL: the password is used */
	int64_t logged_in_at;       /* by OAuth, s */
	struct smtp_options smtp;   /* borrows the above */
};

/* @param store  taken; NULL: failed already  @param name  path or URL */
static struct store *
check_copied(struct store *store, const char *name, GError **error)
{
	if (store && store_copy_check(store, name, error))
		return store;
	store_free(store);
	return NULL;
}

static struct store *
open_server(const struct settings *settings, bool is_read_only, GError **error)
{
	const char *file = settings->store_password_file;
	g_autofree char *password =
	    *file ? settings_load_secret(file, g_getenv("CREDENTIALS_DIRECTORY"), error)
	          : NULL;
	g_autofree char *history =
	    g_build_filename(settings->state_dir, "server", NULL);
	const struct store_server server = {
	    .url = settings->store_url,
	    .password = password,
	    .is_read_only = is_read_only,
	    .history_path = history,
	};
	g_autofree char *archive =
	    g_build_filename(settings->state_dir, "archive.db", NULL);
	pb_auto(store) store = NULL;

	if (*file && !password) {
		g_prefix_error(error, "store.password_file: ");
		return NULL;
	}
	store =
	    check_copied(store_open_server(&server, error), settings->store_url, error);
	return store && archive_cache_open(store, archive, error)
	           ? g_steal_pointer(&store)
	           : NULL;
}

struct store *
factory_open_store(const struct settings *settings, GError **error)
{
	g_autofree char *path =
	    g_build_filename(settings->state_dir, "paperboy.db", NULL);
	g_autofree char *key = g_build_filename(settings->state_dir, "key", NULL);

	if (*settings->store_url)
		return open_server(settings, false, error);
	/* The store is created before its key, so check in the opposite order. */
	if (g_file_test(key, G_FILE_TEST_EXISTS) &&
	    !g_file_test(path, G_FILE_TEST_EXISTS)) {
		pb_fail(error, PB_ERROR_PERMANENT,
		    "'%s' is missing although its key '%s' exists: restore both from a "
		    "backup (paperboyctl restore FILE), or move the key away to start "
		    "with an empty store",
		    path, key);
		return NULL;
	}
	return check_copied(store_open(path, error), path, error);
}

struct store *
factory_open_store_for_reading(const struct settings *settings, GError **error)
{
	g_autofree char *path =
	    g_build_filename(settings->state_dir, "paperboy.db", NULL);

	return *settings->store_url
	           ? open_server(settings, true, error)
	           : check_copied(store_open_for_reading(path, error), path, error);
}

/* @param stop  int *, or NULL. @return false when it was set meanwhile */
static bool
wait_or_stop(void *stop, int64_t ms)
{
	/* In short steps, so that a shutdown does not wait for arXiv's interval. */
	for (int64_t left = ms; left > 0; left -= WAIT_STEP_MS) {
		if (stop && g_atomic_int_get((int *)stop))
			return false;
		g_usleep((gulong)MIN(left, WAIT_STEP_MS) * 1000);
	}
	return true;
}

/* Hosts that may have private addresses. */
static void
allow_private(struct http *http, const struct settings *settings)
{
	for (unsigned i = 0; i < settings->sources->len; i++) {
		const struct settings_source *source = settings->sources->pdata[i];

		if (strcmp(settings_get_option(source, "private"), "true") != 0)
			continue;
		http_allow_private(http, settings_get_option(source, "url"));
		http_allow_private(http, settings_get_option(source, "api_url"));
		http_allow_private(http, settings_get_option(source, "feed_url"));
	}
	if (settings->enrich_private) {
		http_allow_private(http, settings->enrich_arxiv_url);
		http_allow_private(http, settings->enrich_europepmc_url);
		http_allow_private(http, settings->enrich_crossref_url);
		http_allow_private(http, settings->enrich_huggingface_url);
	}
}

/* The file is .json, or text. */
struct template *
factory_new_alert_template(
    const struct settings *settings, const char **type, GError **error)
{
	static const char *const names[] = {"about", "action", "check", "detail",
	    "ended", "is_last", "problems", "service", "since", "subject", "text",
	    "title", NULL};
	g_autofree char *usual =
	    g_build_filename(settings->template_dir, "alert.json", NULL);
	const char *path =
	    *settings->alerts_template ? settings->alerts_template : usual;
	g_autofree char *text = template_load_file(path, error);
	bool is_json = g_str_has_suffix(path, ".json");

	*type = is_json ? "application/json" : "text/plain; charset=utf-8";
	return text ? template_parse(path, text,
	                  is_json ? TEMPLATE_JSON : TEMPLATE_TEXT, names, error)
	            : NULL;
}

const char *
factory_get_contact(const struct settings *settings)
{
	return *settings->collect_contact ? settings->collect_contact
	                                  : settings->mail_owner;
}

struct http *
factory_new_http(const struct settings *settings, const int *stop)
{
	g_autofree char *agent = g_strdup_printf(
	    "paperboy/%s (mailto:%s)", PACKAGE_VERSION, factory_get_contact(settings));
	const struct http_settings options = {
	    .user_agent = agent,
	    .total_ms = settings->collect_timeout_s * 1000,
	    /* For configured URLs only: redirects to files are refused. */
	    .allow_file = true,
	    .wait = wait_or_stop,
	    .wait_data = (void *)stop,
	    .stop = stop,
	};
	struct http *http = http_new(&options);

	allow_private(http, settings);
	return http;
}

void
factory_get_lookups(
    const struct settings *settings, struct source_options lookups[COLLECT_LOOKUPS])
{
	const struct {
		const char *name;
		bool is_on;
		const char *url;
		int64_t interval_s;
	} services[COLLECT_LOOKUPS] = {
	    [COLLECT_LOOKUP_ARXIV] = {"arxiv", settings->enrich_arxiv,
	        settings->enrich_arxiv_url, settings->enrich_arxiv_interval_s},
	    [COLLECT_LOOKUP_EUROPEPMC] = {"europepmc", settings->enrich_europepmc,
	        settings->enrich_europepmc_url, settings->enrich_europepmc_interval_s},
	    [COLLECT_LOOKUP_CROSSREF] = {"crossref", settings->enrich_crossref,
	        settings->enrich_crossref_url, settings->enrich_crossref_interval_s},
	    [COLLECT_LOOKUP_HUGGINGFACE] = {"huggingface", settings->enrich_huggingface,
	        settings->enrich_huggingface_url,
	        settings->enrich_huggingface_interval_s},
	};

	for (unsigned i = 0; i < COLLECT_LOOKUPS; i++)
		lookups[i] = (struct source_options){
		    .name = services[i].name,
		    .url = services[i].is_on ? services[i].url : NULL,
		    .contact = factory_get_contact(settings),
		    .request_interval_ms = services[i].interval_s * 1000,
		};
}

static char *
get_feedback_path(const struct settings *settings)
{
	return g_build_filename(settings->state_dir, "cfbl-signed", NULL);
}

static bool
has_feedback(const struct settings *settings)
{
	g_autofree char *path = get_feedback_path(settings);

	return g_file_test(path, G_FILE_TEST_EXISTS);
}

bool
factory_save_feedback(const struct settings *settings, bool is_signed)
{
	g_autofree char *path = get_feedback_path(settings);

	if (!is_signed)
		return g_unlink(path) == 0 || errno == ENOENT;
	return g_file_set_contents_full(
	    path, "", 0, G_FILE_SET_CONTENTS_CONSISTENT, 0600, NULL);
}

char *
factory_format_list_id(const struct settings *settings)
{
	g_autofree char *domain = own_addresses_format_domain(settings);

	return *settings->mail_list_id ? g_strdup(settings->mail_list_id)
	                               : g_strdup_printf("digest.%s", domain);
}

struct renderer *
factory_new_renderer(const struct settings *settings, GBytes *key, GError **error)
{
	g_autofree char *domain = own_addresses_format_domain(settings);
	pb_auto(own_addresses) own_addresses = own_addresses_new(settings, error);
	g_autofree char *list_id = factory_format_list_id(settings);
	const struct renderer_settings options = {
	    .template_dir = settings->template_dir,
	    .po_dir = settings->po_dir,
	    .from_name = *settings->mail_from_name ? settings->mail_from_name : NULL,
	    .from_address = settings->mail_from,
	    .message_domain = domain,
	    .list_id = list_id,
	    .list_name = "paperboy",
	    .owner_address = settings->mail_owner,
	    .commands = own_addresses && own_addresses->has_commands
	                    ? &own_addresses->commands
	                    : NULL,
	    .has_feedback = has_feedback(settings),
	    .web_url = *settings->web_url ? settings->web_url : NULL,
	    .has_one_click = one_click_is_offered(settings),
	    .key = key,
	};

	if (!own_addresses)
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
get_relay_tls(const struct settings *settings)
{
	return choose_tls((enum settings_tls)settings->smtp_tls,
	    is_loopback(settings->smtp_host) ? STREAM_TLS_OFF : STREAM_TLS_STARTTLS);
}

static const char *
text_or_null(const char *text)
{
	return *text ? text : NULL;
}

bool
factory_uses_oauth(const struct settings *settings, enum oauth_use use)
{
	if (use == OAUTH_USE_IMAP)
		return *settings->imap_host &&
		       settings->imap_login == SETTINGS_LOGIN_OAUTH;
	return settings->delivery == SETTINGS_DELIVERY_SMTP && *settings->smtp_user &&
	       settings->smtp_login == SETTINGS_LOGIN_OAUTH;
}

struct oauth_source *
factory_new_oauth(const struct settings *settings, enum oauth_use use,
    const char *credentials, const struct clock *clock, GError **error)
{
	pb_local(provider_endpoints) endpoints = {0};
	struct oauth_source_options options = {
	    .state_dir = settings->state_dir,
	    .use = use,
	    .client.client_id = settings->oauth_client_id,
	    .ca_file = *settings->oauth_ca_file ? settings->oauth_ca_file : NULL,
	    .clock = clock,
	};
	struct oauth_source *source;
	char *secret = NULL;

	if (*settings->oauth_client_secret_file) {
		secret = settings_load_secret(
		    settings->oauth_client_secret_file, credentials, error);
		if (!secret)
			return NULL;
	}
	provider_endpoints_init(&endpoints, settings, true, true);
	options.client.token_url = endpoints.token_url;
	options.client.client_secret = secret;
	options.scope = endpoints.client_scope;
	source = oauth_source_new(&options);
	oauth_secret_free(secret);
	return source;
}

static bool
load_login(struct factory_transport *transport, const struct settings *settings,
    const char *credentials, const struct clock *clock, GError **error)
{
	pb_local(oauth_login) login = {0};

	if (!*settings->smtp_user)
		return true;
	if (!factory_uses_oauth(settings, OAUTH_USE_SMTP)) {
		transport->password = settings_load_secret(
		    settings->smtp_password_file, credentials, error);
		return transport->password != NULL;
	}
	transport->oauth =
	    factory_new_oauth(settings, OAUTH_USE_SMTP, credentials, clock, error);
	/* Without a login the error is that of each connection. */
	if (oauth_login_find(settings->state_dir, OAUTH_USE_SMTP, &login, NULL))
		transport->logged_in_at = login.logged_in_at;
	return transport->oauth != NULL;
}

struct factory_transport *
factory_new_transport_options(const struct settings *settings, const char *credentials,
    const struct clock *clock, GError **error)
{
	struct factory_transport *transport = g_new0(struct factory_transport, 1);

	if (settings->delivery == SETTINGS_DELIVERY_MAILDIR) {
		transport->maildir = settings->maildir;
		return transport;
	}
	if (!load_login(transport, settings, credentials, clock, error)) {
		factory_free_transport(transport);
		return NULL;
	}
	transport->host = settings->smtp_host;
	transport->ca_file = text_or_null(settings->smtp_ca_file);
	transport->user = text_or_null(settings->smtp_user);
	transport->hello = *settings->smtp_ehlo_name
	                       ? g_strdup(settings->smtp_ehlo_name)
	                       : own_addresses_format_domain(settings);
	transport->smtp = (struct smtp_options){
	    .stream =
	        {
	            .protocol = STREAM_PROTOCOL_SMTP,
	            .tls = settings->smtp_protocol == SETTINGS_PROTOCOL_LMTP
	                       ? STREAM_TLS_OFF
	                       : get_relay_tls(settings),
	            .host = transport->host,
	            .port = (uint16_t)settings->smtp_port,
	            .ca_file = transport->ca_file,
	            .user = transport->user,
	            .password = transport->password,
	            .tokens = transport->oauth
	                          ? oauth_source_get_tokens(transport->oauth)
	                          : NULL,
	            .hello = transport->hello,
	        },
	    .times = SMTP_TIMES_STANDARD,
	    .is_lmtp = settings->smtp_protocol == SETTINGS_PROTOCOL_LMTP,
	    .use_messages = SMTP_USE_MESSAGES,
	    .use_s = SMTP_USE_S,
	};
	return transport;
}

void
factory_free_transport(struct factory_transport *transport)
{
	if (!transport)
		return;
	oauth_secret_free(transport->password);
	oauth_source_free(transport->oauth);
	g_free(transport->hello);
	g_free(transport);
}

bool
factory_is_same_transport(
    const struct factory_transport *one, const struct factory_transport *other)
{
	return g_strcmp0(one->maildir, other->maildir) == 0 &&
	       g_strcmp0(one->host, other->host) == 0 &&
	       g_strcmp0(one->ca_file, other->ca_file) == 0 &&
	       g_strcmp0(one->user, other->user) == 0 &&
	       g_strcmp0(one->password, other->password) == 0 &&
	       !one->oauth == !other->oauth &&
	       (!one->oauth || oauth_source_is_same(one->oauth, other->oauth)) &&
	       one->logged_in_at == other->logged_in_at &&
	       g_strcmp0(one->hello, other->hello) == 0 &&
	       one->smtp.is_lmtp == other->smtp.is_lmtp &&
	       one->smtp.stream.port == other->smtp.stream.port &&
	       one->smtp.stream.tls == other->smtp.stream.tls;
}

/* Timeout of an interactive check. */
#define CHECK_MS (20 * 1000)

/* Maximum length of the server's reply to a failed login, as shown to the operator. */
#define CHECK_REPLY_CHARS 300

bool
factory_check_transport(
    const struct factory_transport *transport, char **reported, GError **error)
{
	const struct smtp_options *smtp = &transport->smtp;
	struct stream_options options = smtp->stream;
	pb_local(stream_error) failure = {0};
	pb_auto(stream) stream = NULL;
	g_autoptr(GError) problem = NULL;
	g_autofree char *reply = NULL;
	const GPtrArray *hello;
	GString *text;

	if (transport->maildir) {
		*reported =
		    g_strdup_printf("writes to the Maildir %s", transport->maildir);
		return true;
	}
	options.connect_ms = options.open_ms = CHECK_MS;
	stream = smtp->open ? smtp->open(&options, smtp->open_data, &failure, &problem)
	                    : stream_open(&options, &failure, &problem);
	if (!stream && failure.reply) {
		/* It says, for example, that an app password is needed. */
		reply = sanitize_line(failure.reply, CHECK_REPLY_CHARS);
		return pb_fail(error, problem->code, "%s: %s", problem->message, reply);
	}
	if (!stream)
		return pb_error_forward(error, &problem);
	text = g_string_new(transport->host);
	g_string_append(text, options.tls == STREAM_TLS_OFF ? ", no TLS" : ", TLS");
	g_string_append(text, options.user ? ", logged in; it offers" : "; it offers");
	hello = stream_get_hello(stream);
	for (unsigned i = 1; i < hello->len; i++) {
		g_autofree char *line = sanitize_line(hello->pdata[i], 40);

		g_string_append_printf(text, "%s %s", i > 1 ? "," : "", line);
	}
	*reported = g_string_free(text, FALSE);
	return true;
}

struct transport *
factory_new_transport(const struct factory_transport *transport)
{
	if (transport->maildir)
		return transport_maildir_new(transport->maildir);
	return smtp_new(&transport->smtp);
}

const char *
factory_get_envelope_from(const struct settings *settings)
{
	return *settings->mail_envelope_from ? settings->mail_envelope_from
	                                     : settings->mail_from;
}

const char *
factory_get_receiver_name(enum factory_receiver receiver)
{
	static const char *const names[FACTORY_RECEIVERS] = {
	    [FACTORY_RECEIVER_LMTP] = "lmtp",
	    [FACTORY_RECEIVER_MAILDIR] = "maildir",
	    [FACTORY_RECEIVER_IMAP] = "imap",
	};

	return names[receiver];
}

static struct receiver *
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
factory_new_receiver(const struct settings *settings, const char *credentials,
    enum factory_receiver receiver, const struct clock *clock,
    struct store *const *store, struct receiver **mailbox, GError **error)
{
	switch (receiver) {
	case FACTORY_RECEIVER_LMTP:
		*mailbox = new_lmtp(settings);
		return true;
	case FACTORY_RECEIVER_MAILDIR:
		*mailbox = *settings->receive_maildir
		               ? maildir_in_new(settings->receive_maildir)
		               : NULL;
		return true;
	case FACTORY_RECEIVER_IMAP:
		*mailbox = NULL;
		if (*settings->imap_host)
			*mailbox = new_imap_receiver(
			    settings, credentials, clock, store, error);
		return !*settings->imap_host || *mailbox;
	case FACTORY_RECEIVERS:
		break;
	}
	g_assert_not_reached();
}
