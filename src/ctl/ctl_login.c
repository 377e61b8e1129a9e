/*
 * ctl_login.c - paperboyctl login: OAuth 2 logins of the mail clients.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "ctl/ctl.h"
#include "service/setup/factory.h"

struct login {
	struct ctl *ctl;
	enum oauth_use use;
	struct oauth_client client;
	struct http *http;
};

/* @param name  "imap", "smtp", "both"; NULL: those that are configured */
static bool
find_use(const struct settings *settings, const char *name, enum oauth_use *use,
    GError **error)
{
	unsigned wanted =
	    (factory_uses_oauth(settings, OAUTH_USE_IMAP) ? OAUTH_USE_IMAP : 0) |
	    (factory_uses_oauth(settings, OAUTH_USE_SMTP) ? OAUTH_USE_SMTP : 0);

	*use = OAUTH_USE_BOTH;
	if (!name)
		*use = wanted ? (enum oauth_use)wanted : OAUTH_USE_BOTH;
	else if (strcmp(name, "imap") == 0)
		*use = OAUTH_USE_IMAP;
	else if (strcmp(name, "smtp") == 0)
		*use = OAUTH_USE_SMTP;
	else if (strcmp(name, "both") != 0)
		return pb_fail(error, PB_ERROR_INPUT,
		    "invalid argument '%s' (expected imap, smtp or both)", name);
	if ((wanted & *use) == *use)
		return true;
	return pb_fail(error, PB_ERROR_INPUT, "%s is not configured for OAuth: set %s",
	    wanted & OAUTH_USE_IMAP ? "smtp" : "imap",
	    wanted & OAUTH_USE_IMAP
	        ? "smtp.user and smtp.login = \"oauth\""
	        : "receive.imap_host and receive.imap_login = \"oauth\"");
}

/* @param path  "-" is standard input. @return for oauth_secret_free(), or NULL */
static char *
read_token(const char *path, GError **error)
{
	char line[BUFSIZ] = "";

	if (strcmp(path, "-") != 0)
		return settings_load_secret(path, NULL, error);
	if (fgets(line, sizeof(line), stdin))
		line[strcspn(line, "\r\n")] = '\0';
	if (*line)
		return g_strdup(line);
	pb_fail(error, PB_ERROR_INPUT, "no refresh token on standard input");
	return NULL;
}

/* A token of another program is tried at once. */
static bool
take_token(struct login *login, const char *path, struct oauth_response *response,
    GError **error)
{
	char *token = read_token(path, error);
	bool is_ok =
	    token && oauth_refresh(login->http, &login->client, token, response, error);

	if (is_ok && !response->refresh_token)
		response->refresh_token = g_steal_pointer(&token);
	oauth_secret_free(token);
	return is_ok;
}

struct login_options {
	char *token_path;
	gboolean is_own;
};

static bool
request(struct login *login, const struct login_options *options,
    struct oauth_response *response, GError **error)
{
	if (options->token_path)
		return take_token(login, options->token_path, response, error);
	if (options->is_own)
		return oauth_request_own(login->http, &login->client,
		    login->ctl->settings->oauth_scope, response, error);
	return pb_fail(error, PB_ERROR_INPUT,
	    "expected --refresh-token FILE or --client-credentials");
}

static bool
log_in(struct login *login, const struct login_options *options, GError **error)
{
	const struct ctl *ctl = login->ctl;
	pb_local(oauth_response) response = {0};
	g_autofree char *reply = NULL;

	if (!request(login, options, &response, error) ||
	    !oauth_login_save(ctl->settings->state_dir, login->use, &login->client,
	        &response, clock_get_now(&ctl->clock), error))
		return false;
	printf("Logged in for %s.\n", login->use == OAUTH_USE_BOTH
	                                  ? "imap and smtp"
	                                  : oauth_use_get_name(login->use));
	/* It waits for an hour after a failed login. */
	reply = ctl_ask_daemon(ctl, "reload");
	return true;
}

bool
ctl_run_login(struct ctl *ctl, int argc, char **argv, GError **error)
{
	const struct settings *settings = ctl->settings;
	struct login_options options = {0};
	const GOptionEntry entries[] = {{"refresh-token", 0, 0, G_OPTION_ARG_FILENAME,
	                                    &options.token_path, NULL, NULL},
	    {"client-credentials", 0, 0, G_OPTION_ARG_NONE, &options.is_own, NULL,
	        NULL},
	    {0}};
	struct login login = {.ctl = ctl};
	char *secret = NULL;
	bool is_ok;

	is_ok = ctl_parse_some(entries, 0, 1, &argc, &argv, error) &&
	        find_use(settings, argv[1], &login.use, error);
	if (is_ok && *settings->oauth_client_secret_file) {
		secret = settings_load_secret(
		    settings->oauth_client_secret_file, NULL, error);
		is_ok = secret != NULL;
	}
	login.client = (struct oauth_client){
	    .token_url = settings->oauth_token_url,
	    .client_id = settings->oauth_client_id,
	    .client_secret = secret,
	};
	login.http = oauth_source_new_http(
	    *settings->oauth_ca_file ? settings->oauth_ca_file : NULL, NULL);
	is_ok = is_ok && log_in(&login, &options, error);
	http_free(login.http);
	oauth_secret_free(secret);
	g_free(options.token_path);
	return is_ok;
}
