/*
 * ctl_setup.c - paperboyctl setup: write a configuration from five answers.
 *
 * After each answer the configuration so far is loaded as paperboyd does, and what the
 * answer names is tried: the mail hosts, the login, the sources.
 */
#include <errno.h>
#include <glib/gstdio.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "config/provider.h"
#include "config/text_file.h"
#include "ctl/ctl.h"
#include "ctl/setup_config.h"
#include "message/address.h"
#include "net/oauth.h"
#include "service/setup/startup.h"

/* A secret, of which nothing is left when the program is ended before it is certain. */
struct secret {
	char *path; /* of its file */
	int fd;     /* in memory; or -1: there is none */
};

struct setup {
	struct ctl *ctl;
	struct setup_config config;
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
	bool is_open; /* users can subscribe by mail */
};

#define ANSWERS_BYTES (64 * 1024)

static void
put(struct setup *setup, const char *setting, const char *text, const char *comment)
{
	setup_config_put(&setup->config, setting, text, comment);
}

/* The mailbox cannot be tried without a login. */
static struct settings *
load(const struct setup *setup, GError **error)
{
	return setup_config_load(
	    &setup->config, setup->has_login ? NULL : "receive.imap_", error);
}

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
	g_autofree char *draft = setup_config_make_file(path, error);

	if (!draft)
		return false;
	if (setup_config_write_file(draft, text, 0600, error)) {
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
	setup_config_put_number(&setup->config, "smtp.port", port);
	put(setup, "smtp.tls", port == 465 ? "implicit" : NULL,
	    "Port 465 has TLS from the start.");
}

static void
put_imap(struct setup *setup, const char *host, int port)
{
	put(setup, "receive.imap_host", host, "The mailbox to which users write.");
	setup_config_put_number(&setup->config, "receive.imap_port", port);
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
	pb_auto(settings) settings = NULL;

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
	settings = load(setup, error);
	return settings &&
	       ctl_try_relay(settings, &setup->ctl->clock, &setup->note, error);
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
	pb_auto(settings) settings = NULL;

	if (is_app && !setup->answers)
		remove_blanks(password);
	path = find_secret_path(setup, &setup->password, password, error);
	oauth_secret_free(password);
	if (!path)
		return false;
	put_password(setup, path);
	settings = load(setup, error);
	return settings &&
	       ctl_try_mailbox(settings, &setup->ctl->clock, &setup->note, error);
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
	const struct clock *clock = &setup->ctl->clock;
	pb_auto(settings) settings = load(setup, error);

	return settings &&
	       ctl_log_in(settings, clock, *answer ? answer : NULL, error) &&
	       ctl_try_mailbox(settings, clock, &setup->note, error);
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
	    "Postfix delivers mail for this address there: see README.");
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

static bool
take_categories(struct setup *setup, const char *answer, GError **error)
{
	pb_auto(settings) settings = NULL;

	put(setup, "arxiv.categories", strcmp(answer, "none") ? answer : "",
	    "Categories to collect, besides Hugging Face's Daily Papers.");
	settings = load(setup, error);
	return settings &&
	       ctl_try_sources(settings, &setup->ctl->clock, &setup->note, error);
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
    {"client_id", NULL, "Client id (how to get one: README, Mailboxes with OAuth 2)",
        NULL, take_client_id, has_oauth, false, false},
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
    {"categories", "5 of 5: Which papers, besides Hugging Face's Daily Papers?",
        "Categories of arXiv, such as cs.CL stat.ML, or none", "none", take_categories,
        NULL, false, false},
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
	GPtrArray *before = setup_config_copy(&setup->config);
	bool had_login = setup->has_login;

	if (take_answer(setup, question, answer, error)) {
		g_ptr_array_unref(before);
		return true;
	}
	setup_config_restore(&setup->config, before);
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
		       "    see README, Subscribe by e-mail, A\n",
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
	const char *path = setup->config.path;
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
	text = setup_config_format(&setup->config);
	if (!setup_config_write_file(path, text, 0644, error))
		return false;
	printf("\n%s is written.\n", path);
	if (old)
		printf("The old one is %s.\n", old);
	if (!ctl_try_mail(settings, &setup->ctl->clock, path, error))
		return false;
	printf("A test mail is on its way to %s.\n", settings->mail_owner);
	print_next(setup, settings);
	return true;
}

/* ---- The command ---- */

static void
setup_clear(struct setup *setup)
{
	setup_config_clear(&setup->config);
	secret_clear(&setup->password);
	secret_clear(&setup->client_secret);
	g_clear_pointer(&setup->answers, g_hash_table_unref);
	g_free(setup->note);
	g_free(setup->mailbox);
	g_free(setup->user);
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
	g_autofree char *directory = g_path_get_dirname(setup->config.path);

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
		if (!setup_config_fix(&setup->config, *at, error))
			return false;
	return check_base(setup, error) &&
	       (is_shipped(setup->config.path) ||
	           ctl_confirm_replace(setup->ctl, setup->config.path, error)) &&
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
	    .password.fd = -1,
	    .client_secret.fd = -1,
	};

	setup_config_init(&setup.config, path);
	return run(&setup, error);
}
