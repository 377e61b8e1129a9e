/*
 * ctl_setup.c - paperboyctl setup: write a configuration from five answers.
 *
 * After each answer the configuration so far is loaded as paperboyd does, and what the
 * answer names is tried: the mail hosts, the login, the sources.
 */
#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/day.h"
#include "base/error.h"
#include "base/file.h"
#include "base/random.h"
#include "base/token.h"
#include "config/provider.h"
#include "config/settings.h"
#include "config/text_file.h"
#include "ctl/ctl.h"
#include "message/address.h"
#include "message/compose.h"
#include "net/oauth.h"
#include "receive/receiver.h"
#include "service/setup/factory.h"
#include "service/setup/startup.h"
#include "service/state/own_addresses.h"
#include "sources/source.h"

/* ---- the configuration that is composed ---- */

/* A secret, of which nothing is left when the program is ended before it is certain. */
struct secret {
	char *path; /* of its file */
	int fd;     /* in memory; or -1: there is none */
};

struct setup {
	struct ctl *ctl;
	const char *path;    /* of the configuration; drafts are made beside it */
	GPtrArray *entries;  /* of struct entry *, in the order of the file */
	GHashTable *answers; /* char *name -> char *; NULL: from a terminal */
	char *note;          /* what the last answer has shown, or NULL */
	char *mailbox;
	char *user;                      /* of the login */
	const struct provider *provider; /* or NULL */
	struct secret password;
	struct secret client_secret;
	bool is_local;   /* the relay is on this machine */
	bool is_oauth;   /* instead of a password */
	bool has_secret; /* the OAuth client */
	bool has_login;
	bool is_open;   /* users can subscribe by mail */
	char *proposal; /* sources for the sciences, or NULL */
};

/* How the groups of sources begin. */
#define SOURCES "sources."

/* A line of the configuration.  Names are interned. */
struct entry {
	const char *group; /* "": none; "sources.hf": a source */
	const char *name;
	const char *comment; /* static; or NULL */
	char *value;         /* as libconfig reads it */
	bool is_fixed;
};

static void
entry_free(void *data)
{
	struct entry *entry = data;

	g_free(entry->value);
	g_free(entry);
}

/* @param source  a struct entry */
static void *
copy_entry(const void *source, void *data)
{
	struct entry *entry = g_memdup2(source, sizeof(*entry));

	(void)data;
	entry->value = g_strdup(entry->value);
	return entry;
}

/* @return NULL if it is not set */
static struct entry *
find_entry(const struct setup *setup, const char *group, const char *name)
{
	for (unsigned i = 0; i < setup->entries->len; i++) {
		struct entry *entry = setup->entries->pdata[i];

		if (strcmp(entry->group, group) == 0 && strcmp(entry->name, name) == 0)
			return entry;
	}
	return NULL;
}

/* Set a value; NULL removes it.  @param value  taken */
static void
put_value(struct setup *setup, const char *setting, char *value, const char *comment,
    bool is_fixed)
{
	const char *dot = strrchr(setting, '.');
	g_autofree char *prefix = g_strndup(setting, dot ? (size_t)(dot - setting) : 0);
	const char *group = g_intern_string(prefix);
	const char *name = g_intern_string(dot ? dot + 1 : setting);
	struct entry *entry = find_entry(setup, group, name);

	if (!value || (entry && entry->is_fixed && !is_fixed)) {
		if (entry && !entry->is_fixed)
			g_ptr_array_remove(setup->entries, entry);
		g_free(value);
		return;
	}
	if (!entry) {
		entry = g_new0(struct entry, 1);
		entry->group = group;
		entry->name = name;
		g_ptr_array_add(setup->entries, entry);
	}
	g_free(entry->value);
	entry->value = value;
	entry->comment = comment;
	entry->is_fixed = is_fixed;
}

/*
 * Set a text, or remove the setting.
 *
 * @param setting  "group.name", or "name"
 * @param text     NULL removes it
 * @param comment  static, for the line above; or NULL
 */
static void
put(struct setup *setup, const char *setting, const char *text, const char *comment)
{
	put_value(setup, setting, text ? settings_quote(text) : NULL, comment, false);
}

/* Set a number, without a comment. */
static void
put_number(struct setup *setup, const char *setting, int number)
{
	put_value(setup, setting, g_strdup_printf("%d", number), NULL, false);
}

/* Set "NAME=VALUE" for good: other functions do not change it. */
static bool
fix(struct setup *setup, const char *text, GError **error)
{
	g_auto(GStrv) parts = g_strsplit(text, "=", 2);
	bool is_plain;

	if (!*parts[0] || !parts[1])
		return pb_fail(error, PB_ERROR_INPUT,
		    "--set: expected NAME=VALUE, not '%s'", text);
	is_plain = strcmp(parts[1], "true") == 0 || strcmp(parts[1], "false") == 0 ||
	           (*parts[1] && !parts[1][strspn(parts[1], "0123456789")]);
	put_value(setup, parts[0],
	    is_plain ? g_strdup(parts[1]) : settings_quote(parts[1]), NULL, true);
	return true;
}

/* @param without  as for format() */
static bool
is_left_out(const struct entry *entry, const char *without)
{
	g_autofree char *setting = g_strconcat(entry->group, ".", entry->name, NULL);

	return without && g_str_has_prefix(setting, without);
}

static void
append_group(
    const struct setup *setup, const char *group, const char *without, GString *out)
{
	const char *indent = *group ? "\t" : "";

	g_string_append_printf(out, *group ? "\n%s: {\n" : "\n%s", group);
	for (unsigned i = 0; i < setup->entries->len; i++) {
		const struct entry *entry = setup->entries->pdata[i];

		if (entry->group != group || is_left_out(entry, without))
			continue;
		if (entry->comment)
			g_string_append_printf(out, "%s# %s\n", indent, entry->comment);
		g_string_append_printf(
		    out, "%s%s = %s;\n", indent, entry->name, entry->value);
	}
	g_string_append(out, *group ? "};\n" : "");
}

/* Those without a kind are left out: only --set has named them. */
static void
append_sources(const struct setup *setup, GString *out)
{
	g_autoptr(GString) list = g_string_new(NULL);

	for (unsigned i = 0; i < setup->entries->len; i++) {
		const struct entry *kind = setup->entries->pdata[i];

		if (!g_str_has_prefix(kind->group, SOURCES) ||
		    strcmp(kind->name, "kind") != 0)
			continue;
		g_string_append_printf(list, "%s\t{ name = \"%s\"; ",
		    list->len ? ",\n" : "", kind->group + strlen(SOURCES));
		for (unsigned j = 0; j < setup->entries->len; j++) {
			const struct entry *entry = setup->entries->pdata[j];

			if (entry->group == kind->group)
				g_string_append_printf(
				    list, "%s = %s; ", entry->name, entry->value);
		}
		g_string_append_c(list, '}');
	}
	if (list->len)
		g_string_append_printf(out,
		    "\n# Sources of papers: see SOURCES in paperboy.conf(5).\n"
		    "sources = (\n%s\n);\n",
		    list->str);
}

/*
 * Format the configuration file.
 *
 * @param without  settings to leave out: how their names begin; or NULL
 * @return a new string
 */
static char *
format(const struct setup *setup, const char *without)
{
	GString *out =
	    g_string_new("# Configuration of paperboyd and paperboyctl, made by "
	                 "paperboyctl setup.\n"
	                 "# paperboy.conf(5) has all settings.  Check a change "
	                 "with: paperboyd --check\n");
	g_autoptr(GHashTable) done = g_hash_table_new(NULL, NULL);

	for (unsigned i = 0; i < setup->entries->len; i++) {
		const struct entry *entry = setup->entries->pdata[i];

		if (g_hash_table_add(done, (void *)entry->group) &&
		    !g_str_has_prefix(entry->group, SOURCES))
			append_group(setup, entry->group, without, out);
	}
	append_sources(setup, out);
	return g_string_free(out, FALSE);
}

/* Replace a file. */
static bool
write_file(const char *path, const char *text, int mode, GError **error)
{
	g_autoptr(GError) problem = NULL;

	if (!g_file_set_contents_full(
	        path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, mode, &problem))
		return pb_fail(error, PB_ERROR_PERMANENT, "%s", problem->message);
	/* The umask is for the state directory. */
	if (g_chmod(path, mode) != 0)
		return file_set_error("cannot chmod", path, PB_ERROR_PERMANENT, error);
	return true;
}

/* Create an empty file beside another one, mode 0600. @return its path, a new string;
 * or NULL */
static char *
make_file(const char *path, GError **error)
{
	g_autofree char *template = g_strconcat(path, ".XXXXXX", NULL);
	int fd = g_mkstemp(template); /* mode 0600 */

	if (fd < 0) {
		file_set_error("cannot create", template, PB_ERROR_PERMANENT, error);
		return NULL;
	}
	close(fd);
	return g_steal_pointer(&template);
}

/*
 * Remove the file and the line of "file:line: setting: message", and the setting if an
 * answer gave its value.
 */
static const char *
skip_names(const struct setup *setup, const char *problem)
{
	const char *start = strstr(problem, ": ");
	g_auto(GStrv) parts = g_strsplit(start ? start + 2 : problem, ": ", 2);
	g_auto(GStrv) names = g_strsplit(parts[0], ".", 2);
	const struct entry *entry =
	    parts[1] && names[1] ? find_entry(setup, names[0], names[1]) : NULL;

	if (entry && !entry->is_fixed)
		return start + 2 + strlen(parts[0]) + 2;
	return start ? start + 2 : problem;
}

/*
 * Format the settings, and load and check them as paperboyd does; without those of the
 * IMAP mailbox before the login, without which it cannot be tried.
 *
 * @return NULL with the first problem.  It begins with the name of the setting, except
 * if an answer to a question gave its value: the user does not know that name
 */
static struct settings *
load(const struct setup *setup, GError **error)
{
	g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *text =
	    format(setup, setup->has_login ? NULL : "receive.imap_");
	g_autofree char *path = make_file(setup->path, error);
	struct settings *settings = NULL;

	if (!path || !write_file(path, text, 0644, error))
		return NULL;
	settings = startup_load_checked(path, NULL, problems);
	g_unlink(path);
	if (!settings)
		pb_fail(error, PB_ERROR_INPUT, "%s",
		    problems->len ? skip_names(setup, problems->pdata[0])
		                  : "invalid configuration");
	return settings;
}

#define ANSWERS_BYTES (64 * 1024)

static bool
check(const struct setup *setup, GError **error)
{
	pb_auto(settings) settings = load(setup, error);

	return settings;
}

/* ---- Secrets ---- */

static char *
format_fd_path(int fd)
{
	return g_strdup_printf("/proc/self/fd/%d", fd);
}

static bool
secret_hold(struct secret *secret, const char *text, GError **error)
{
	size_t size = strlen(text);

	if (secret->fd < 0)
		secret->fd = memfd_create("secret", MFD_CLOEXEC);
	if (secret->fd >= 0 && fchmod(secret->fd, 0600) == 0 &&
	    ftruncate(secret->fd, 0) == 0 &&
	    pwrite(secret->fd, text, size, 0) == (ssize_t)size)
		return true;
	return file_set_error("cannot hold", "the secret", PB_ERROR_TEMPORARY, error);
}

/* Write a file for the daemon's user. */
static bool
install_secret(const char *path, const char *text, GError **error)
{
	const struct passwd *user = geteuid() == 0 ? getpwnam("paperboy") : NULL;
	g_autofree char *draft = make_file(path, error);

	if (!draft)
		return false;
	if (write_file(draft, text, 0600, error)) {
		if ((!user || chown(draft, user->pw_uid, user->pw_gid) == 0) &&
		    g_rename(draft, path) == 0)
			return true;
		file_set_error("cannot write", path, PB_ERROR_PERMANENT, error);
	}
	g_unlink(draft);
	return false;
}

static bool
secret_install(const struct secret *secret, GError **error)
{
	g_autofree char *path = format_fd_path(secret->fd);
	char *text, *line;
	bool is_ok;

	text = settings_load_secret(path, NULL, error);
	if (!text)
		return false;
	line = g_strconcat(text, "\n", NULL);
	is_ok = install_secret(secret->path, line, error);
	oauth_secret_free(text);
	oauth_secret_free(line);
	return is_ok;
}

static void
secret_clear(struct secret *secret)
{
	if (secret->fd >= 0)
		close(secret->fd);
	g_free(secret->path);
}

/*
 * Get the path of a file with a secret.
 *
 * @param answer  the secret; in a file with answers, the path
 * @return a new string, or NULL
 */
static char *
find_secret_path(const struct setup *setup, struct secret *secret, const char *answer,
    GError **error)
{
	if (setup->answers)
		return g_strdup(answer);
	return secret_hold(secret, answer, error) ? format_fd_path(secret->fd) : NULL;
}

/* ---- trying what the answers name; what was found is noted ---- */

static bool
try_relay(struct setup *setup, GError **error)
{
	pb_auto(settings) settings = load(setup, error);
	struct factory_transport *transport =
	    settings ? factory_new_transport_options(
	                   settings, NULL, &setup->ctl->clock, error)
	             : NULL;
	bool is_ok;

	if (!transport)
		return false;
	is_ok = factory_check_transport(transport, &setup->note, error);
	factory_free_transport(transport);
	if (!is_ok)
		g_prefix_error(error, "sending: ");
	else if (setup->note)
		/* the extensions of ESMTP */
		setup->note[strcspn(setup->note, ";")] = '\0';
	return is_ok;
}

/* Log in to the relay and to the mailbox. */
static bool
try_mailbox(struct setup *setup, GError **error)
{
	struct store *none = NULL;
	pb_auto(settings) settings = NULL;
	pb_auto(receiver) mailbox = NULL;
	g_autofree char *relay = NULL;
	g_autofree char *reported = NULL;

	if (!try_relay(setup, error) || !(settings = load(setup, error)) ||
	    !factory_new_receiver(settings, NULL, FACTORY_RECEIVER_IMAP,
	        &setup->ctl->clock, &none, &mailbox, error))
		return false;
	if (!receiver_check(mailbox, &reported, error)) {
		g_prefix_error(error, "receiving: ");
		return false;
	}
	relay = g_steal_pointer(&setup->note);
	setup->note = g_strconcat(relay, "; ", reported, NULL);
	return true;
}

/* @return false unless it may work later: then that is noted */
static bool
try_source(struct source *source, struct http *http, const char *day, GString *found,
    GError **error)
{
	pb_local(source_answer) answer = {0};
	g_autoptr(GError) problem = NULL;
	bool is_ok;

	source_answer_init(&answer);
	is_ok = source_fetch_current(source, http, day, &answer, &problem);
	if (!is_ok && !g_error_matches(problem, PB_ERROR, PB_ERROR_TEMPORARY)) {
		g_prefix_error(&problem, "source %s: ", source->name);
		return pb_error_forward(error, &problem);
	}
	g_string_append_printf(found, "%s%s: ", found->len ? ", " : "", source->label);
	if (is_ok)
		g_string_append_printf(found, "%zu papers", answer.count);
	else
		g_string_append_printf(found, "not tested (%s)", problem->message);
	return true;
}

static bool
try_sources(struct setup *setup, GError **error)
{
	pb_auto(settings) settings = load(setup, error);
	g_autoptr(GPtrArray) sources = settings ? factory_new_sources(settings) : NULL;
	pb_auto(http) http = settings ? factory_new_http(settings, NULL) : NULL;
	g_autoptr(GString) found = g_string_new(NULL);
	char day[DAY_BYTES];

	day_format(clock_get_now(&setup->ctl->clock), day);
	for (unsigned i = 0; sources && i < sources->len; i++)
		if (!try_source(sources->pdata[i], http, day, found, error))
			return false;
	setup->note = g_strdup(found->str);
	return settings != NULL;
}

static GBytes *
compose(const struct setup *setup, const struct settings *settings, const char *id,
    GError **error)
{
	g_autofree char *text = g_strdup_printf(
	    "paperboy can send mail: its configuration is %s.\r\n", setup->path);
	const struct compose_span run = {text, strlen(text)};
	const struct compose_header extra[] = {{"Auto-Submitted", "auto-generated"}};
	const struct compose_headers fields = {
	    .date = clock_get_now(&setup->ctl->clock),
	    .from = {settings->mail_from_name, settings->mail_from},
	    .to = {NULL, settings->mail_owner},
	    .subject = "paperboyctl setup",
	    .message_id = id,
	    .extra = extra,
	    .extra_count = G_N_ELEMENTS(extra),
	    .text = {&run, 1, ENCODING_QUOTED_PRINTABLE},
	};

	return compose_message(&fields, error);
}

/* Send a mail to the owner. */
static bool
try_mail(const struct setup *setup, const struct settings *settings, GError **error)
{
	struct factory_transport *options =
	    factory_new_transport_options(settings, NULL, &setup->ctl->clock, error);
	g_autofree char *domain = own_addresses_format_domain(settings);
	uint8_t bytes[TOKEN_RANDOM_BYTES];
	g_autofree char *token = NULL;
	g_autofree char *id = NULL;
	g_autoptr(GBytes) message = NULL;
	struct transport *transport;
	struct envelope envelope = {.sender = factory_get_envelope_from(settings),
	    .recipient = settings->mail_owner};
	pb_local(delivery) result = {0};

	if (!options)
		return false;
	random_system.fill(random_system.data, bytes, sizeof(bytes));
	token = token_format_random(bytes);
	id = g_strdup_printf("setup.%s@%s", token, domain);
	message = compose(setup, settings, id, error);
	envelope.id = id;
	envelope.message = message;
	transport = factory_new_transport(options);
	if (message)
		transport_deliver(transport, &envelope, &result);
	transport_free(transport);
	factory_free_transport(options);
	if (!message || result.outcome == DELIVERY_SENT)
		return message;
	return pb_fail(error, PB_ERROR_TEMPORARY,
	    "the test mail to %s was not accepted: %s", settings->mail_owner,
	    result.text);
}

/* ---- 1: the owner ---- */

/*
 * Check what is not asked, before the first question: the directory of templates, and
 * the settings of --set.  The addresses are replaced by answers.
 */
static bool
check_base(struct setup *setup, GError **error)
{
	put(setup, "mail.from", "setup@paperboy.invalid", "From address of digests.");
	put(setup, "mail.owner", "setup@paperboy.invalid", NULL);
	return check(setup, error);
}

static bool
take_owner(struct setup *setup, const char *answer, GError **error)
{
	put(setup, "mail.owner", answer,
	    "The operator, who gets alerts by mail (alerts = false: none).");
	return check(setup, error);
}

/* ---- 2: the mailbox ---- */

static bool
take_mailbox(struct setup *setup, const char *answer, GError **error)
{
	pb_local(address) address = {0};

	if (!address_parse(answer, &address, error))
		return false;
	g_free(setup->mailbox);
	setup->mailbox = g_strdup(address.text);
	g_clear_pointer(&setup->user, g_free);
	put(setup, "mail.from", address.text, "From address of digests.");
	return check(setup, error);
}

/*
 * "host", "host:port", "2001:db8::1", "[2001:db8::1]:port".
 *
 * @param port  set if there is one. @return the host, a new string; or NULL
 */
static char *
parse_host(const char *text, int *port, GError **error)
{
	g_autoptr(GRegex) regex = g_regex_new(
	    "^(?|\\[([0-9A-Fa-f:.]+)\\]|([^\\[\\]:]+))(?::([0-9]{1,5}))?$", 0, 0, NULL);
	g_autoptr(GMatchInfo) match = NULL;
	g_autofree char *number = NULL;

	if (g_hostname_is_ip_address(text))
		return g_strdup(text);
	if (!g_regex_match(regex, text, 0, &match)) {
		pb_fail(error, PB_ERROR_INPUT,
		    "'%s' is not a server: expected HOST, HOST:PORT or [IPv6]:PORT",
		    text);
		return NULL;
	}
	number = g_match_info_fetch(match, 2);
	if (number && *number)
		*port = (int)g_ascii_strtoll(number, NULL, 10);
	return g_match_info_fetch(match, 1);
}

static void
put_smtp(struct setup *setup, const char *host, int port)
{
	put(setup, "smtp.host", host, "The server that takes our mail.");
	put_number(setup, "smtp.port", port);
	put(setup, "smtp.tls", port == 465 ? "implicit" : NULL,
	    "Port 465 has TLS from the start.");
}

static void
put_imap(struct setup *setup, const char *host, int port)
{
	put(setup, "receive.imap_host", host, "The mailbox to which users write.");
	put_number(setup, "receive.imap_port", port);
}

static void
remove_all(struct setup *setup, const char *const *settings)
{
	for (; *settings; settings++)
		put(setup, *settings, NULL, NULL);
}

static const char *const receiver_settings[] = {"receive.imap_host",
    "receive.imap_port", "receive.imap_user", "receive.imap_login",
    "receive.imap_password_file", NULL};

static const char *const login_settings[] = {"smtp.user", "smtp.login",
    "smtp.password_file", "receive.imap_user", "receive.imap_login",
    "receive.imap_password_file", "oauth.provider", "oauth.tenant", "oauth.client_id",
    "oauth.client_secret_file", NULL};

/* "IMAP-HOST[:PORT] SMTP-HOST[:PORT]". */
static bool
put_servers(struct setup *setup, const char *answer, GError **error)
{
	g_auto(GStrv) words = g_strsplit(answer, " ", 2);
	g_autofree char *imap = NULL, *smtp = NULL;
	int imap_port = 993, smtp_port = 587;

	if (!words[1])
		return pb_fail(error, PB_ERROR_INPUT,
		    "expected a provider, IMAP-HOST SMTP-HOST, or local");
	imap = parse_host(words[0], &imap_port, error);
	smtp = imap ? parse_host(g_strstrip(words[1]), &smtp_port, error) : NULL;
	if (!smtp)
		return false;
	put_imap(setup, imap, imap_port);
	put_smtp(setup, smtp, smtp_port);
	return true;
}

/* A provider, two servers, or "local". */
static bool
take_servers(struct setup *setup, const char *answer, GError **error)
{
	const struct provider *provider = provider_find(answer);

	setup->provider = provider;
	setup->is_local = strcmp(answer, "local") == 0;
	setup->is_oauth = provider && provider->has_no_passwords;
	setup->has_login = false;
	remove_all(setup, login_settings);
	remove_all(setup, receiver_settings);
	if (setup->is_local) {
		put_smtp(setup, "localhost", 25);
	} else if (provider) {
		put_imap(setup, provider->imap_host, provider->imap_port);
		put_smtp(setup, provider->smtp_host, provider->smtp_port);
	} else if (!put_servers(setup, answer, error)) {
		return false;
	}
	put(setup, "commands.delimiter",
	    provider && provider->has_subaddresses == PROVIDER_NO ? "" : NULL,
	    "The provider has no subaddresses (name+tag).");
	return try_relay(setup, error);
}

/* ---- The login of the mailbox ---- */

static bool
has_mailbox(const struct setup *setup)
{
	return !setup->is_local;
}

static bool
has_choice(const struct setup *setup)
{
	return setup->provider && setup->provider->token_url &&
	       !setup->provider->has_no_passwords;
}

static bool
has_password(const struct setup *setup)
{
	return has_mailbox(setup) && !setup->is_oauth;
}

static bool
has_oauth(const struct setup *setup)
{
	return setup->is_oauth;
}

static bool
has_tenant(const struct setup *setup)
{
	return setup->is_oauth && setup->provider->tenant;
}

/* Clients that log in with a device code have none. */
static bool
has_client_secret(const struct setup *setup)
{
	return setup->is_oauth && !setup->provider->device_url;
}

static bool
take_user(struct setup *setup, const char *answer, GError **error)
{
	(void)error;
	g_free(setup->user);
	setup->user = g_strdup(answer);
	return true;
}

static bool
take_login(struct setup *setup, const char *answer, GError **error)
{
	setup->is_oauth = strcmp(answer, "oauth") == 0;
	setup->has_login = false;
	remove_all(setup, login_settings);
	if (setup->is_oauth || strcmp(answer, "password") == 0)
		return true;
	return pb_fail(error, PB_ERROR_INPUT, "expected \"password\" or \"oauth\"");
}

/* Providers show app passwords in groups of letters. */
static void
remove_blanks(char *text)
{
	char *end = text;

	for (; *text; text++)
		if (*text != ' ')
			*end++ = *text;
	*end = '\0';
}

static void
put_password(struct setup *setup, const char *path)
{
	put(setup, "smtp.user", setup->user, NULL);
	put(setup, "smtp.password_file", path, NULL);
	put(setup, "receive.imap_user", setup->user, NULL);
	put(setup, "receive.imap_password_file", path, NULL);
	setup->has_login = true;
}

static bool
take_password(struct setup *setup, const char *answer, GError **error)
{
	bool is_app = setup->provider && setup->provider->app_passwords;
	char *password = g_strdup(answer);
	g_autofree char *path = NULL;

	if (is_app && !setup->answers)
		remove_blanks(password);
	path = find_secret_path(setup, &setup->password, password, error);
	oauth_secret_free(password);
	if (!path)
		return false;
	put_password(setup, path);
	return try_mailbox(setup, error);
}

/* A domain or id, which becomes a part of URLs. */
static bool
take_tenant(struct setup *setup, const char *answer, GError **error)
{
	for (const char *at = answer; *at; at++)
		if (!g_ascii_isalnum(*at) && *at != '.' && *at != '-')
			return pb_fail(error, PB_ERROR_INPUT,
			    "expected a domain, the tenant's id, organizations or "
			    "consumers");
	put(setup, "oauth.tenant",
	    strcmp(answer, setup->provider->tenant) ? answer : NULL, NULL);
	return true;
}

/* Before somebody logs in, which would be in vain. */
static bool
check_state_dir(const struct settings *settings, GError **error)
{
	if (g_access(settings->state_dir, R_OK | W_OK | X_OK) == 0)
		return true;
	return pb_fail(error, PB_ERROR_PERMANENT,
	    "cannot use the state directory '%s': %s%s", settings->state_dir,
	    g_strerror(errno),
	    errno == ENOENT ? "; paperboyd creates it when it starts" : "");
}

static bool
check_client(const struct setup *setup, GError **error)
{
	pb_auto(settings) settings = load(setup, error);

	return settings && ctl_check_client(settings, &setup->ctl->clock, error);
}

static bool
take_client_id(struct setup *setup, const char *answer, GError **error)
{
	pb_auto(settings) settings = NULL;

	put(setup, "smtp.user", setup->user, NULL);
	put(setup, "smtp.login", "oauth", NULL);
	put(setup, "receive.imap_user", setup->user, NULL);
	put(setup, "receive.imap_login", "oauth", NULL);
	put(setup, "oauth.provider", setup->provider->name,
	    "Access tokens instead of a password; see paperboyctl login.");
	put(setup, "oauth.client_id", answer, NULL);
	put(setup, "oauth.client_secret_file", NULL, NULL);
	setup->has_secret = false;
	setup->has_login = true;
	settings = load(setup, error);
	return settings && check_state_dir(settings, error) &&
	       (has_client_secret(setup) || check_client(setup, error));
}

static bool
take_client_secret(struct setup *setup, const char *answer, GError **error)
{
	g_autofree char *path = NULL;

	setup->has_secret = *answer != '\0';
	if (setup->has_secret) {
		path = find_secret_path(setup, &setup->client_secret, answer, error);
		if (!path)
			return false;
	}
	put(setup, "oauth.client_secret_file", path, NULL);
	return check_client(setup, error);
}

/* @param answer  path of a file with a refresh token; "": log in with a browser */
static bool
take_token(struct setup *setup, const char *answer, GError **error)
{
	pb_auto(settings) settings = load(setup, error);

	return settings &&
	       ctl_log_in(
	           settings, &setup->ctl->clock, *answer ? answer : NULL, error) &&
	       try_mailbox(setup, error);
}

/* ---- 3 to 5 ---- */

static bool
take_subscribers(struct setup *setup, const char *answer, GError **error)
{
	bool is_open = strcmp(answer, "anyone") == 0;
	bool has_socket = is_open && setup->is_local;
	pb_auto(settings) settings = NULL;

	setup->is_open = is_open;
	if (!is_open && strcmp(answer, "invited") != 0)
		return pb_fail(
		    error, PB_ERROR_INPUT, "expected \"anyone\" or \"invited\"");
	put(setup, "commands.address", is_open ? setup->mailbox : NULL,
	    "Who writes \"subscribe\" there is asked to confirm.");
	put(setup, "receive.lmtp_socket", has_socket ? "/run/paperboy/lmtp" : NULL,
	    "Postfix delivers mail for this address there: see doc/mail.md.");
	put(setup, "receive.lmtp_group", has_socket ? "paperboy" : NULL, NULL);
	settings = load(setup, error);
	if (!settings ||
	    g_ascii_strcasecmp(settings->commands_address, settings->mail_owner) != 0)
		return settings;
	return pb_fail(error, PB_ERROR_INPUT,
	    "%s is your own address, and paperboy would read all mail there: answer "
	    "\"invited\", or return to give it another one",
	    settings->mail_owner);
}

/* "07:30 Europe/Berlin" */
static bool
take_time(struct setup *setup, const char *answer, GError **error)
{
	g_auto(GStrv) words = g_strsplit(answer, " ", 2);

	if (!words[1])
		return pb_fail(error, PB_ERROR_INPUT,
		    "expected a time and a time zone: 07:30 Europe/Berlin");
	put(setup, "digest.at", words[0],
	    "Time of new subscribers' digests; they can change it.");
	put(setup, "digest.zone", g_strstrip(words[1]), NULL);
	return check(setup, error);
}

/* The sources that are proposed for each science. */
static const struct {
	const char *name, *sources;
} sciences[] = {
    {"machine-learning", "cs.LG stat.ML"},
    {"computer-science", "cs"},
    {"linguistics", "cs.CL acl"},
    {"mathematics", "math math-ph"},
    {"statistics", "stat"},
    {"physics", "physics cond-mat hep-ex hep-lat hep-ph hep-th gr-qc quant-ph nucl-ex "
                "nucl-th nlin"},
    {"astronomy", "astro-ph"},
    {"economics", "econ q-fin"},
    {"engineering", "eess"},
    {"biology", "biorxiv q-bio"},
    {"medicine", "medrxiv"},
};

static bool
take_sciences(struct setup *setup, const char *answer, GError **error)
{
	g_auto(GStrv) names = g_strsplit_set(answer, " ,", -1);
	g_autoptr(GString) sources = g_string_new(NULL);

	for (char **name = names; *name; name++) {
		size_t i = 0;

		if (!**name || strcmp(*name, "none") == 0)
			continue;
		while (
		    i < G_N_ELEMENTS(sciences) && strcmp(sciences[i].name, *name) != 0)
			i++;
		if (i == G_N_ELEMENTS(sciences))
			return pb_fail(error, PB_ERROR_INPUT,
			    "'%s' is not one of them; any category can be the next "
			    "answer",
			    *name);
		g_string_append_printf(
		    sources, "%s%s", sources->len ? " " : "", sciences[i].sources);
	}
	g_free(setup->proposal);
	setup->proposal = g_strdup(sources->len ? sources->str : "none");
	return true;
}

/* Categories of arXiv, and names of sources that need no other options. */
static bool
take_categories(struct setup *setup, const char *answer, GError **error)
{
	static const struct {
		const char *name, *kind, *url;
	} others[] = {
	    {"biorxiv", "biorxiv", NULL},
	    {"medrxiv", "medrxiv", NULL},
	    {"acl", "feed", "https://aclanthology.org/papers/index.xml"},
	};
	g_auto(GStrv) names = g_strsplit_set(answer, " ,", -1);
	g_autoptr(GString) list = g_string_new(NULL);
	bool is_wanted[G_N_ELEMENTS(others)] = {false};

	for (char **name = names; *name; name++) {
		g_autofree char *quoted = settings_quote(*name);
		bool is_other = !**name || strcmp(*name, "none") == 0;

		for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
			is_wanted[i] |= strcmp(others[i].name, *name) == 0;
			is_other |= strcmp(others[i].name, *name) == 0;
		}
		if (!is_other)
			g_string_append_printf(
			    list, "%s %s", list->len ? "," : "[", quoted);
	}
	put(setup, "sources.hf.kind", "huggingface", NULL);
	put(setup, "sources.arxiv.kind", list->len ? "arxiv" : NULL, NULL);
	put_value(setup, "sources.arxiv.categories",
	    list->len ? g_strconcat(list->str, " ]", NULL) : NULL, NULL, false);
	for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
		g_autofree char *kind =
		    g_strconcat(SOURCES, others[i].name, ".kind", NULL);
		g_autofree char *url =
		    g_strconcat(SOURCES, others[i].name, ".url", NULL);

		put(setup, kind, is_wanted[i] ? others[i].kind : NULL, NULL);
		put(setup, url, is_wanted[i] ? others[i].url : NULL, NULL);
	}
	return try_sources(setup, error);
}

/* ---- Asking ---- */

static const struct question {
	const char *name;    /* in a file with answers */
	const char *heading; /* before it, or NULL */
	const char *text;
	const char *usual; /* for an empty answer; or NULL: one is needed */
	bool (*take)(struct setup *setup, const char *answer, GError **error);
	bool (*applies)(const struct setup *setup); /* NULL: always */
	bool is_secret;
	bool may_be_other; /* a wrong answer may be the one before */
} questions[] = {
    {"owner", "1 of 5: Who are you?", "Your mail address", NULL, take_owner, NULL,
        false, false},
    {"mailbox", "2 of 5: Where is the mail of paperboy?",
        "Its address, a mailbox of its own", NULL, take_mailbox, NULL, false, false},
    {"servers", NULL,
        "Provider (gmail, google for Workspace, microsoft for Microsoft 365, outlook,\n"
        "fastmail, yahoo, zoho, mailbox.org, proton),\nor IMAP-HOST SMTP-HOST, or "
        "local for Postfix on this machine",
        NULL, take_servers, NULL, false, false},
    {"user", NULL, "User name of the mailbox", NULL, take_user, has_mailbox, false,
        false},
    {"login", NULL,
        "Log in by password (an app password, made in the account's settings) or oauth",
        "password", take_login, has_choice, false, false},
    {"password_file", NULL, "Password of the mailbox", NULL, take_password,
        has_password, true, true},
    {"tenant", NULL, "Tenant: domain or id of your organization", NULL, take_tenant,
        has_tenant, false, false},
    {"client_id", NULL, "Client id (how to get one: doc/oauth.md)", NULL,
        take_client_id, has_oauth, false, false},
    {"client_secret_file", NULL, "Client secret, or Enter if there is none", "",
        take_client_secret, has_client_secret, true, true},
    {"refresh_token_file", NULL,
        "Enter to log in with a browser, or a file with a refresh token", "",
        take_token, has_oauth, false, false},
    {"subscribers", "3 of 5: Who may subscribe?",
        "anyone who writes to the mailbox, or invited: those whom you add", "anyone",
        take_subscribers, NULL, false, false},
    {"time", "4 of 5: When do digests come?", "Local time and time zone", "07:30 UTC",
        take_time, NULL, false, false},
    {"sciences", "5 of 5: Which papers, besides Hugging Face's Daily Papers?",
        "Sciences: machine-learning, computer-science, linguistics, mathematics,\n"
        "statistics, physics, astronomy, economics, engineering, biology, medicine; or "
        "none",
        "none", take_sciences, NULL, false, false},
    {"categories", NULL,
        "Sources for them: categories of arXiv, such as cs.CL stat.ML; biorxiv;\n"
        "medrxiv; acl; or none",
        "none", take_categories, NULL, false, false},
};

static bool
applies(const struct setup *setup, const struct question *question)
{
	return !question->applies || question->applies(setup);
}

/* @return the question before; the first one has none */
static int
find_previous(const struct setup *setup, int i)
{
	while (i > 0 && !applies(setup, &questions[--i]))
		;
	return i;
}

static const char *
get_usual(const struct setup *setup, const struct question *question)
{
	const struct provider *provider;

	if (question->take == take_servers) {
		provider = provider_find_by_address(setup->mailbox);
		return provider ? provider->name : NULL;
	}
	if (question->take == take_user)
		return setup->user ? setup->user : setup->mailbox;
	if (question->take == take_categories && setup->proposal)
		return setup->proposal;
	return question->take == take_tenant ? setup->provider->tenant
	                                     : question->usual;
}

/* @return a new string */
static char *
format_text(const struct setup *setup, const struct question *question)
{
	const struct provider *provider = setup->provider;

	if (question->take != take_password || !provider || !provider->app_passwords)
		return g_strdup(question->text);
	return g_strdup_printf(
	    "App password (%s: %s)", provider->title, provider->app_passwords);
}

/* @return a new string, or NULL at the end of the input */
static char *
ask(const struct setup *setup, const struct question *question, const char *usual)
{
	g_autofree char *text = format_text(setup, question);

	if (question->heading)
		printf("\n%s\n", question->heading);
	if (question->is_secret)
		return ctl_ask_secret(text);
	return ctl_ask(text, usual && *usual ? usual : NULL);
}

static char *
find_answer(const struct setup *setup, const struct question *question, GError **error)
{
	const char *usual = get_usual(setup, question);
	g_autofree char *answer =
	    setup->answers
	        ? g_strdup(g_hash_table_lookup(setup->answers, question->name))
	        : ask(setup, question, usual);

	if (!setup->answers && !answer) {
		pb_fail(error, PB_ERROR_INPUT, "not done: no answer");
		return NULL;
	}
	if (answer && *answer)
		return g_steal_pointer(&answer);
	return g_strdup(usual ? usual : "");
}

static bool
take_answer(struct setup *setup, const struct question *question, const char *answer,
    GError **error)
{
	if (!*answer && !get_usual(setup, question))
		return pb_fail(error, PB_ERROR_INPUT, "an answer is needed");
	for (const char *at = answer; *at; at++)
		if (g_ascii_iscntrl(*at))
			return pb_fail(
			    error, PB_ERROR_INPUT, "control characters in the answer");
	return question->take(setup, answer, error);
}

/* The settings of a wrong answer are removed: later answers would fail by them. */
static bool
try_answer(struct setup *setup, const struct question *question, const char *answer,
    GError **error)
{
	GPtrArray *before = g_ptr_array_copy(setup->entries, copy_entry, NULL);
	bool had_login = setup->has_login;

	if (take_answer(setup, question, answer, error)) {
		g_ptr_array_unref(before);
		return true;
	}
	g_ptr_array_unref(setup->entries);
	setup->entries = before;
	setup->has_login = had_login;
	return false;
}

/* Ask a question. @param next  set: the question to ask next */
static bool
ask_one(struct setup *setup, int number, int *next, GError **error)
{
	const struct question *question = &questions[number];
	g_autofree char *answer = find_answer(setup, question, error);
	g_autoptr(GError) problem = NULL;

	if (!answer)
		return false;
	*next = number + 1;
	g_clear_pointer(&setup->note, g_free);
	if (!setup->answers && !question->is_secret && strcmp(answer, "back") == 0) {
		*next = find_previous(setup, number);
		return true;
	}
	if (try_answer(setup, question, answer, &problem)) {
		printf("ok%s%s%s%s\n", setup->answers ? ": " : "",
		    setup->answers ? question->name : "", setup->note ? ": " : "",
		    setup->note ? setup->note : "");
	} else if (setup->answers) {
		g_prefix_error(&problem, "%s: ", question->name);
	} else {
		printf("wrong: %s\n", problem->message);
		g_clear_error(&problem);
		*next = question->may_be_other ? find_previous(setup, number) : number;
	}
	if (question->is_secret)
		explicit_bzero(answer, strlen(answer));
	return pb_error_forward(error, &problem);
}

static bool
ask_all(struct setup *setup, GError **error)
{
	if (!setup->answers)
		puts(
		    "Each answer is tried at once.  \"back\" returns to the question "
		    "before, and\nCtrl-C ends this; no file is written before the last "
		    "answer.");
	for (int i = 0; i < (int)G_N_ELEMENTS(questions);) {
		if (!applies(setup, &questions[i]))
			i++;
		else if (!ask_one(setup, i, &i, error))
			return false;
	}
	return true;
}

static bool
add_answer(struct setup *setup, char *line)
{
	g_auto(GStrv) parts = g_strsplit(g_strstrip(line), ":", 2);
	bool is_known = false;

	if (!*line || *line == '#')
		return true;
	for (size_t i = 0; i < G_N_ELEMENTS(questions); i++)
		is_known |= strcmp(parts[0], questions[i].name) == 0;
	if (!is_known || !parts[1])
		return false;
	g_hash_table_insert(
	    setup->answers, g_strdup(parts[0]), g_strdup(g_strstrip(parts[1])));
	return true;
}

/* Lines of "name: answer". */
static bool
read_answers(struct setup *setup, const char *path, GError **error)
{
	g_autofree char *problem = NULL;
	g_auto(GStrv) lines = NULL;
	pb_local(text_file) file = {0};

	problem = text_file_load(&file, path, ANSWERS_BYTES);
	if (problem)
		return pb_fail(error, PB_ERROR_INPUT, "'%s': %s", path, problem);
	setup->answers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	lines = g_strsplit(file.text, "\n", -1);
	for (unsigned i = 0; lines[i]; i++)
		if (!add_answer(setup, lines[i]))
			return pb_fail(error, PB_ERROR_INPUT,
			    "%s:%u: expected \"owner: ANSWER\" or another question",
			    path, i + 1);
	return true;
}

/* ---- The end ---- */

/* Secrets of a terminal get files. */
static bool
install_secrets(struct setup *setup, GError **error)
{
	if (setup->answers || setup->is_local)
		return true;
	if (!setup->is_oauth) {
		put_password(setup, setup->password.path);
		return secret_install(&setup->password, error);
	}
	if (!setup->has_secret)
		return true;
	put(setup, "oauth.client_secret_file", setup->client_secret.path, NULL);
	return secret_install(&setup->client_secret, error);
}

/*
 * Keep the old configuration, beside the new one.
 *
 * @param copy  set to its path, a new string, if there is an old one
 */
static bool
keep_old(const char *path, char **copy, GError **error)
{
	for (int i = 1;; i++) {
		g_autofree char *number = i > 1 ? g_strdup_printf("%d", i) : NULL;
		g_autofree char *name = g_strconcat(path, ".old", number, NULL);

		if (link(path, name) == 0) {
			*copy = g_steal_pointer(&name);
			return true;
		}
		if (errno == ENOENT)
			return true;
		if (errno != EEXIST)
			return file_set_error("cannot keep the old configuration as",
			    name, PB_ERROR_PERMANENT, error);
	}
}

static void
print_next(const struct setup *setup, const struct settings *settings)
{
	puts("\nNext:");
	if (*settings->lmtp_socket)
		printf("  let Postfix deliver mail for %s to %s:\n"
		       "    see doc/mail.md, A\n",
		    settings->commands_address, settings->lmtp_socket);
	puts("  start paperboyd, or restart it, then run paperboyctl check");
	if (setup->is_open)
		printf("  write \"subscribe\" to %s\n", settings->commands_address);
	else
		puts("  paperboyctl subscriber add ADDRESS --consent TEXT --filter "
		     "QUERY");
}

static bool
finish(struct setup *setup, GError **error)
{
	const char *path = setup->path;
	g_autofree char *text = NULL;
	g_autofree char *old = NULL;
	pb_auto(settings) settings = NULL;

	if (!keep_old(path, &old, error) || !install_secrets(setup, error))
		return false;
	if (!setup->is_open)
		remove_all(setup, receiver_settings);
	settings = load(setup, error);
	if (!settings)
		return false;
	text = format(setup, NULL);
	if (!write_file(path, text, 0644, error))
		return false;
	printf("\n%s is written.\n", path);
	if (old)
		printf("The old one is %s.\n", old);
	if (!try_mail(setup, settings, error))
		return false;
	printf("A test mail is on its way to %s.\n", settings->mail_owner);
	print_next(setup, settings);
	return true;
}

/* ---- The command ---- */

static void
setup_clear(struct setup *setup)
{
	g_ptr_array_unref(setup->entries);
	secret_clear(&setup->password);
	secret_clear(&setup->client_secret);
	g_clear_pointer(&setup->answers, g_hash_table_unref);
	g_free(setup->note);
	g_free(setup->mailbox);
	g_free(setup->user);
	g_free(setup->proposal);
}

/* Whether nobody has changed a setting: only the sample addresses are not defaults. */
static bool
is_shipped(const char *path)
{
	g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
	pb_auto(settings) defaults = settings_new();
	pb_auto(settings) settings = startup_load_settings(path, problems);
	g_autoptr(GPtrArray) changes =
	    settings ? settings_list_changes(defaults, settings, false) : NULL;

	return changes && changes->len == 2 && settings_is_default(settings);
}

static bool
run(struct setup *setup, GError **error)
{
	const char *answers = setup->ctl->options.answers_path;
	g_autofree char *directory = g_path_get_dirname(setup->path);

	if (answers && !read_answers(setup, answers, error))
		return false;
	if (!answers && !isatty(STDIN_FILENO))
		return pb_fail(error, PB_ERROR_INPUT,
		    "questions need a terminal, or --answers FILE");
	setup->password.path = g_build_filename(directory, "password", NULL);
	setup->client_secret.path = g_build_filename(directory, "client-secret", NULL);
	if (g_access(directory, W_OK) != 0)
		return file_set_error(
		    "cannot write to", directory, PB_ERROR_PERMANENT, error);
	for (char **at = setup->ctl->options.settings; at && *at; at++)
		if (!fix(setup, *at, error))
			return false;
	return check_base(setup, error) &&
	       (is_shipped(setup->path) ||
	           ctl_confirm_replace(setup->ctl, setup->path, error)) &&
	       (answers ||
	           (ctl_confirm_replace(setup->ctl, setup->password.path, error) &&
	               ctl_confirm_replace(
	                   setup->ctl, setup->client_secret.path, error))) &&
	       ask_all(setup, error) && finish(setup, error);
}

bool
ctl_run_setup(struct ctl *ctl, GError **error)
{
	g_autofree char *path = g_canonicalize_filename(ctl->config_path, NULL);
	pb_local(setup) setup = {
	    .ctl = ctl,
	    .path = path,
	    .entries = g_ptr_array_new_with_free_func(entry_free),
	    .password.fd = -1,
	    .client_secret.fd = -1,
	};

	return run(&setup, error);
}
