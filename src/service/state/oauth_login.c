/*
 * oauth_login.c - OAuth 2 logins of the mail clients, and their access tokens.
 */
#include "service/state/oauth_login.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/error.h"
#include "base/file.h"

#define FILE_NAME  "oauth"
#define DRAFT_NAME "oauth.new"
/* The last line of a complete draft. */
#define END_MARK   "\n# end\n"

/* An access token is renewed this long before it expires, or after nine tenths of its
 * lifetime. */
#define MARGIN_S     300
#define MARGIN_PARTS 10

/* Another program may hold the lock for as long as a request takes. */
#define LOCK_S       (2 * BOUNDS_OAUTH_S)
#define LOCK_STEP_MS 50

const char *
oauth_use_get_name(enum oauth_use use)
{
	switch (use) {
	case OAUTH_USE_IMAP:
		return "imap";
	case OAUTH_USE_SMTP:
		return "smtp";
	case OAUTH_USE_BOTH:
		return "both";
	}
	g_assert_not_reached();
}

void
oauth_login_clear(struct oauth_login *login)
{
	g_clear_pointer(&login->token_url, g_free);
	g_clear_pointer(&login->client_id, g_free);
	g_clear_pointer(&login->refresh_token, oauth_secret_free);
	g_clear_pointer(&login->access_token, oauth_secret_free);
	g_clear_pointer(&login->rejection, g_free);
}

static char *
format_path(const char *state_dir)
{
	return g_build_filename(state_dir, FILE_NAME, NULL);
}

/* ---- The file: a group for each login, with the name of its use ---- */

bool
oauth_login_load_file(const char *state_dir, char **text, GError **error)
{
	g_autofree char *path = format_path(state_dir);
	g_autoptr(GError) problem = NULL;

	*text = NULL;
	if (g_file_get_contents(path, text, NULL, &problem) ||
	    g_error_matches(problem, G_FILE_ERROR, G_FILE_ERROR_NOENT))
		return true;
	return pb_fail(error, PB_ERROR_PERMANENT, "cannot read the OAuth logins: %s",
	    problem->message);
}

/* @return NULL on failure; empty if there is no file */
static GKeyFile *
load(const char *state_dir, GError **error)
{
	g_autoptr(GKeyFile) file = g_key_file_new();
	g_autoptr(GError) problem = NULL;
	char *text;

	if (!oauth_login_load_file(state_dir, &text, error))
		return NULL;
	if (text)
		g_key_file_load_from_data(
		    file, text, strlen(text), G_KEY_FILE_NONE, &problem);
	oauth_secret_free(text);
	if (!problem)
		return g_steal_pointer(&file);
	pb_fail(error, PB_ERROR_PERMANENT,
	    "'%s/" FILE_NAME "' is damaged: remove it, then run paperboyctl login",
	    state_dir);
	return NULL;
}

static enum oauth_use
find_use(GKeyFile *file, enum oauth_use use)
{
	return g_key_file_has_group(file, oauth_use_get_name(use)) ? use
	                                                           : OAUTH_USE_BOTH;
}

static void
read_login(GKeyFile *file, enum oauth_use use, struct oauth_login *login)
{
	const char *group;

	use = find_use(file, use);
	group = oauth_use_get_name(use);
	*login = (struct oauth_login){
	    .use = use,
	    .token_url = g_key_file_get_string(file, group, "token_url", NULL),
	    .client_id = g_key_file_get_string(file, group, "client_id", NULL),
	    .refresh_token = g_key_file_get_string(file, group, "refresh_token", NULL),
	    .access_token = g_key_file_get_string(file, group, "access_token", NULL),
	    .logged_in_at = g_key_file_get_int64(file, group, "logged_in_at", NULL),
	    .issued_at = g_key_file_get_int64(file, group, "issued_at", NULL),
	    .expires_at = g_key_file_get_int64(file, group, "expires_at", NULL),
	    .rejected_at = g_key_file_get_int64(file, group, "rejected_at", NULL),
	    .rejection = g_key_file_get_string(file, group, "rejection", NULL),
	};
}

bool
oauth_login_find(const char *state_dir, enum oauth_use use, struct oauth_login *login,
    GError **error)
{
	g_autoptr(GKeyFile) file = load(state_dir, error);

	if (file)
		read_login(file, use, login);
	return file != NULL;
}

static void
set_tokens(GKeyFile *file, const char *group, const struct oauth_response *response,
    int64_t now)
{
	g_key_file_set_string(file, group, "access_token", response->access_token);
	g_key_file_set_int64(file, group, "issued_at", now);
	g_key_file_set_int64(file, group, "expires_at", now + response->lifetime_s);
	if (response->refresh_token)
		g_key_file_set_string(
		    file, group, "refresh_token", response->refresh_token);
}

/* ---- Replacing the file ---- */

/* A new file with reserved space, which takes the place of the file.  There is one at a
 * time, under the lock. */
struct draft {
	char *path;
	int fd;
};

static void
draft_clear(struct draft *draft)
{
	if (draft->fd >= 0) {
		close(draft->fd);
		g_unlink(draft->path);
	}
	g_free(draft->path);
}

/* Root writes files of the daemon's user (paperboyctl setup). */
static bool
give_to_owner(int fd, const char *state_dir)
{
	GStatBuf status;

	return geteuid() != 0 || (g_stat(state_dir, &status) == 0 &&
	                             fchown(fd, status.st_uid, status.st_gid) == 0);
}

static bool
draft_init(struct draft *draft, const char *state_dir, GError **error)
{
	draft->path = g_build_filename(state_dir, DRAFT_NAME, NULL);
	/* Incomplete: left over from a killed program. */
	g_unlink(draft->path);
	draft->fd = g_open(draft->path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	if (draft->fd >= 0 && give_to_owner(draft->fd, state_dir))
		errno = posix_fallocate(draft->fd, 0, BOUNDS_OAUTH_BYTES);
	if (draft->fd >= 0 && errno == 0)
		return true;
	return file_set_error("cannot create", draft->path, PB_ERROR_TEMPORARY, error);
}

static bool
write_all(int fd, const char *text, size_t size)
{
	for (size_t at = 0; at < size;) {
		ssize_t count = pwrite(fd, text + at, size - at, (off_t)at);

		if (count < 0 && errno != EINTR)
			return false;
		at += (size_t)MAX(count, 0);
	}
	return ftruncate(fd, (off_t)size) == 0 && fsync(fd) == 0;
}

static bool
draft_install(
    struct draft *draft, const char *state_dir, const char *text, GError **error)
{
	g_autofree char *path = format_path(state_dir);

	if (!write_all(draft->fd, text, strlen(text)) || rename(draft->path, path) != 0)
		return file_set_error(
		    "cannot write", draft->path, PB_ERROR_TEMPORARY, error);
	close(draft->fd);
	draft->fd = -1;
	return file_sync_directory(state_dir, PB_ERROR_TEMPORARY, error);
}

static bool
install(struct draft *draft, const char *state_dir, GKeyFile *file, GError **error)
{
	char *data = g_key_file_to_data(file, NULL, NULL);
	char *text = g_strconcat(data, END_MARK, NULL);
	bool is_ok = draft_install(draft, state_dir, text, error);

	oauth_secret_free(data);
	oauth_secret_free(text);
	return is_ok;
}

/* Complete the work of a program that was killed before the rename. */
static void
recover_draft(const char *state_dir)
{
	g_autofree char *draft = g_build_filename(state_dir, DRAFT_NAME, NULL);
	g_autofree char *path = format_path(state_dir);
	char *text = NULL;

	/* Reserved space that was not written is NULs, which end the text. */
	if (g_file_get_contents(draft, &text, NULL, NULL) &&
	    g_str_has_suffix(text, END_MARK) &&
	    truncate(draft, (off_t)strlen(text)) == 0 &&
	    file_sync(draft, PB_ERROR_TEMPORARY, NULL))
		rename(draft, path);
	oauth_secret_free(text);
}

/* @return a descriptor that holds the lock until it is closed, or -1 */
static int
take_lock(const char *state_dir, const int *stop_fd, GError **error)
{
	int64_t end = g_get_monotonic_time() + LOCK_S * G_USEC_PER_SEC;
	int fd = g_open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	struct pollfd stop = {.fd = stop_fd ? *stop_fd : -1, .events = POLLIN};

	while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
		if ((errno != EWOULDBLOCK && errno != EINTR) ||
		    g_get_monotonic_time() >= end || poll(&stop, 1, LOCK_STEP_MS) > 0) {
			close(fd);
			fd = -1;
		}
	}
	if (fd < 0)
		file_set_error("cannot lock", state_dir, PB_ERROR_TEMPORARY, error);
	else
		recover_draft(state_dir);
	return fd;
}

static bool
save_locked(const char *state_dir, enum oauth_use use,
    const struct oauth_client *client, const struct oauth_response *response,
    int64_t now, GError **error)
{
	static const enum oauth_use uses[] = {OAUTH_USE_IMAP, OAUTH_USE_SMTP};
	g_autoptr(GKeyFile) file = load(state_dir, error);
	const char *group = oauth_use_get_name(use);
	pb_local(draft) draft = {.fd = -1};

	if (!file || !draft_init(&draft, state_dir, error))
		return false;
	/* A login for both remains for the other one. */
	for (size_t i = 0; i < G_N_ELEMENTS(uses); i++) {
		const char *name = oauth_use_get_name(uses[i]);
		g_auto(GStrv) keys = g_key_file_get_keys(file, "both", NULL, NULL);

		if (use & uses[i])
			g_key_file_remove_group(file, name, NULL);
		else if (!g_key_file_has_group(file, name))
			for (char **key = keys; key && *key; key++) {
				g_autofree char *value =
				    g_key_file_get_value(file, "both", *key, NULL);

				g_key_file_set_value(file, name, *key, value);
			}
	}
	g_key_file_remove_group(file, "both", NULL);
	g_key_file_set_string(file, group, "token_url", client->token_url);
	g_key_file_set_string(file, group, "client_id", client->client_id);
	g_key_file_set_int64(file, group, "logged_in_at", now);
	set_tokens(file, group, response, now);
	return install(&draft, state_dir, file, error);
}

bool
oauth_login_save(const char *state_dir, enum oauth_use use,
    const struct oauth_client *client, const struct oauth_response *response,
    int64_t now, GError **error)
{
	int lock = take_lock(state_dir, NULL, error);
	bool is_ok =
	    lock >= 0 && save_locked(state_dir, use, client, response, now, error);

	if (lock >= 0)
		close(lock);
	return is_ok;
}

bool
oauth_login_restore_file(const char *state_dir, const char *text, GError **error)
{
	g_autofree char *path = format_path(state_dir);
	pb_local(draft) draft = {.fd = -1};
	int lock = take_lock(state_dir, NULL, error);
	bool is_ok =
	    lock >= 0 && (g_file_test(path, G_FILE_TEST_EXISTS) ||
	                     (draft_init(&draft, state_dir, error) &&
	                         draft_install(&draft, state_dir, text, error)));

	if (lock >= 0)
		close(lock);
	return is_ok;
}

/* ---- Access tokens ---- */

struct oauth_source {
	struct stream_tokens tokens;
	struct oauth_source_options options;
};

static bool
is_valid(const struct oauth_login *login, const char *rejected, int64_t margin_s,
    int64_t now)
{
	/* After a clock was set back, the lifetime is unknown. */
	return login->access_token && g_strcmp0(login->access_token, rejected) != 0 &&
	       now >= login->issued_at && now < login->expires_at - margin_s;
}

static int64_t
get_margin_s(const struct oauth_login *login)
{
	return MIN(MARGIN_S, (login->expires_at - login->issued_at) / MARGIN_PARTS);
}

/* Whether tokens may be requested with the login. */
static bool
check_login(
    const struct oauth_source *source, const struct oauth_login *login, GError **error)
{
	const struct oauth_source_options *options = &source->options;

	if (!login->token_url)
		return pb_fail(error, PB_ERROR_PERMANENT,
		    "no OAuth login yet: run paperboyctl login %s",
		    oauth_use_get_name(options->use));
	/* A refresh token must not be sent to another server. */
	if (g_strcmp0(login->token_url, options->client.token_url) != 0 ||
	    g_strcmp0(login->client_id, options->client.client_id) != 0)
		return pb_fail(error, PB_ERROR_PERMANENT,
		    "the OAuth login is for another provider or client: run "
		    "paperboyctl login %s",
		    oauth_use_get_name(login->use));
	if (login->rejection)
		return pb_fail(error, PB_ERROR_PERMANENT,
		    "%s: run paperboyctl login %s", login->rejection,
		    oauth_use_get_name(login->use));
	return true;
}

static bool
request(const struct oauth_source *source, const struct oauth_login *login,
    const int *stop_fd, struct oauth_response *response, GError **error)
{
	const struct oauth_source_options *options = &source->options;
	pb_auto(http) http = oauth_source_new_http(options->ca_file, stop_fd);

	if (login->refresh_token)
		return oauth_refresh(
		    http, &options->client, login->refresh_token, response, error);
	return oauth_request_own(
	    http, &options->client, options->scope, response, error);
}

/* Mark the refresh token as rejected; it is tried again if that fails. */
static void
save_rejection(struct draft *draft, const struct oauth_source *source, GKeyFile *file,
    const struct oauth_login *login, const char *rejection, int64_t now)
{
	const char *group = oauth_use_get_name(login->use);

	g_key_file_set_string(file, group, "rejection", rejection);
	g_key_file_set_int64(file, group, "rejected_at", now);
	g_key_file_remove_key(file, group, "access_token", NULL);
	install(draft, source->options.state_dir, file, NULL);
}

/* Request a new access token, and save it. @return it, or NULL */
static char *
renew(const struct oauth_source *source, GKeyFile *file,
    const struct oauth_login *login, const char *rejected, const int *stop_fd,
    GError **error)
{
	int64_t now = clock_get_now(source->options.clock);
	pb_local(draft) draft = {.fd = -1};
	pb_local(oauth_response) response = {0};
	g_autoptr(GError) problem = NULL;

	if (!draft_init(&draft, source->options.state_dir, error))
		return NULL;
	if (request(source, login, stop_fd, &response, &problem)) {
		now = clock_get_now(source->options.clock);
		set_tokens(file, oauth_use_get_name(login->use), &response, now);
		return install(&draft, source->options.state_dir, file, error)
		           ? g_steal_pointer(&response.access_token)
		           : NULL;
	}
	/* The old one may last until the server is back. */
	if (g_error_matches(problem, PB_ERROR, PB_ERROR_TEMPORARY) &&
	    is_valid(login, rejected, 0, now))
		return g_strdup(login->access_token);
	if (g_error_matches(problem, PB_ERROR, PB_ERROR_PERMANENT)) {
		save_rejection(&draft, source, file, login, problem->message, now);
		pb_fail(error, PB_ERROR_PERMANENT, "%s: run paperboyctl login %s",
		    problem->message, oauth_use_get_name(login->use));
		return NULL;
	}
	pb_error_forward(error, &problem);
	return NULL;
}

static char *
get_locked(const struct oauth_source *source, const char *rejected, const int *stop_fd,
    GError **error)
{
	const struct oauth_source_options *options = &source->options;
	g_autoptr(GKeyFile) file = load(options->state_dir, error);
	pb_local(oauth_login) login = {0};

	if (!file)
		return NULL;
	read_login(file, options->use, &login);
	if (!check_login(source, &login, error))
		return NULL;
	/* Another thread or program may have renewed it meanwhile. */
	if (is_valid(
	        &login, rejected, get_margin_s(&login), clock_get_now(options->clock)))
		return g_steal_pointer(&login.access_token);
	return renew(source, file, &login, rejected, stop_fd, error);
}

static char *
get_token(void *data, const char *rejected, const int *stop_fd, GError **error)
{
	const struct oauth_source *source = data;
	const struct oauth_source_options *options = &source->options;
	pb_local(oauth_login) login = {0};
	char *token;
	int lock;

	if (!oauth_login_find(options->state_dir, options->use, &login, error) ||
	    !check_login(source, &login, error))
		return NULL;
	if (is_valid(
	        &login, rejected, get_margin_s(&login), clock_get_now(options->clock)))
		return g_steal_pointer(&login.access_token);
	lock = take_lock(options->state_dir, stop_fd, error);
	if (lock < 0)
		return NULL;
	token = get_locked(source, rejected, stop_fd, error);
	close(lock);
	return token;
}

/* @param stop_fd  const int *, or NULL */
static bool
wait_or_stop(void *stop_fd, int64_t ms)
{
	struct pollfd stop = {.fd = stop_fd ? *(int *)stop_fd : -1, .events = POLLIN};

	return poll(&stop, 1, (int)ms) <= 0;
}

struct http *
oauth_source_new_http(const char *ca_file, const int *stop_fd)
{
	const struct http_settings settings = {
	    .user_agent = "paperboy/" PACKAGE_VERSION,
	    .ca_file = ca_file,
	    .total_ms = BOUNDS_OAUTH_S * 1000,
	    .body_bytes = BOUNDS_OAUTH_BYTES / 2,
	    /* The server may be internal. */
	    .allow_private = true,
	    .no_redirects = true,
	    .wait = wait_or_stop,
	    .wait_data = (void *)stop_fd,
	    .stop_fd = stop_fd,
	};

	return http_new(&settings);
}

bool
oauth_source_is_same(const struct oauth_source *one, const struct oauth_source *other)
{
	const struct oauth_source_options *a = &one->options, *b = &other->options;

	return strcmp(a->client.token_url, b->client.token_url) == 0 &&
	       strcmp(a->client.client_id, b->client.client_id) == 0 &&
	       g_strcmp0(a->client.client_secret, b->client.client_secret) == 0 &&
	       strcmp(a->scope, b->scope) == 0 &&
	       g_strcmp0(a->ca_file, b->ca_file) == 0;
}

const struct stream_tokens *
oauth_source_get_tokens(const struct oauth_source *source)
{
	return &source->tokens;
}

struct oauth_source *
oauth_source_new(const struct oauth_source_options *options)
{
	struct oauth_source *source = g_new0(struct oauth_source, 1);
	struct oauth_source_options *own = &source->options;

	source->tokens = (struct stream_tokens){.get = get_token, .data = source};
	*own = *options;
	own->state_dir = g_strdup(options->state_dir);
	own->client.token_url = g_strdup(options->client.token_url);
	own->client.client_id = g_strdup(options->client.client_id);
	own->client.client_secret = g_strdup(options->client.client_secret);
	own->scope = g_strdup(options->scope);
	own->ca_file = g_strdup(options->ca_file);
	return source;
}

void
oauth_source_free(struct oauth_source *source)
{
	if (!source)
		return;
	g_free((char *)source->options.state_dir);
	g_free((char *)source->options.client.token_url);
	g_free((char *)source->options.client.client_id);
	oauth_secret_free((char *)source->options.client.client_secret);
	g_free((char *)source->options.scope);
	g_free((char *)source->options.ca_file);
	g_free(source);
}
