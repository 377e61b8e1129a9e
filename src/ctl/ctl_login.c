/*
 * ctl_login.c - paperboyctl login and provider: OAuth 2 logins of the mail clients.
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/random.h"
#include "config/provider.h"
#include "ctl/ctl.h"
#include "ctl/table.h"
#include "service/setup/factory.h"

/* Time to log in with a browser. */
#define BROWSER_MS    (30 * 60 * 1000)
/* A browser that connects sends its request within this time. */
#define REQUEST_S     5
#define REQUEST_BYTES 8192

#define SECRET_BYTES 32

struct login {
	const struct settings *settings;
	const struct clock *clock;
	enum oauth_use use;
	struct provider_endpoints endpoints;
	struct oauth_client client;
	char *secret; /* of the client, or NULL */
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
	    *use & ~wanted & OAUTH_USE_IMAP ? "imap" : "smtp",
	    *use & ~wanted & OAUTH_USE_IMAP
	        ? "receive.imap_host and receive.imap_login = \"oauth\""
	        : "smtp.user and smtp.login = \"oauth\"");
}

/* ---- A token of another program ---- */

/* @param path  "-" is standard input. @return for oauth_secret_free(), or NULL */
static char *
read_token(const char *path, GError **error)
{
	char *line;

	if (strcmp(path, "-") != 0)
		return settings_load_secret(path, NULL, error);
	line = ctl_read_line(stdin);
	if (line && *line)
		return line;
	oauth_secret_free(line);
	pb_fail(error, PB_ERROR_INPUT, "no refresh token on standard input");
	return NULL;
}

/* It is tried at once. */
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

/* ---- A browser on any machine ---- */

static bool
use_device(struct login *login, struct oauth_response *response, GError **error)
{
	pb_local(oauth_device) device = {0};

	if (!*login->endpoints.device_url)
		return pb_fail(error, PB_ERROR_INPUT,
		    "the provider has no device codes (oauth.device_url): use "
		    "--browser");
	if (!oauth_start_device(login->http, &login->client,
	        login->endpoints.device_url, login->endpoints.scope, &device, error))
		return false;
	printf("Open %s in a browser on any machine, log in to the mailbox,\n"
	       "and enter the code %s.\n",
	    device.url, device.user_code);
	fflush(stdout);
	return oauth_await_device(
	    login->http, &login->client, &device, response, error);
}

/* ---- A browser on this machine ---- */

/* @return the port of a redirect URI of this machine; 0: any */
static uint16_t
get_redirect_port(const char *uri)
{
	g_autofree char *host = NULL;
	int port = -1;

	if (!g_uri_split_network(uri, G_URI_FLAGS_NONE, NULL, &host, &port, NULL) ||
	    port < 0 ||
	    (strcmp(host, "localhost") != 0 && strcmp(host, "127.0.0.1") != 0))
		return 0;
	return (uint16_t)port;
}

/* @param port  in/out: 0 for a free one @return a socket, or -1 */
static int
listen_loopback(uint16_t *port, GError **error)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	    .sin_port = htons(*port)};
	socklen_t size = sizeof(address);
	const int one = 1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0 &&
	    bind(fd, (struct sockaddr *)&address, size) == 0 && listen(fd, 1) == 0 &&
	    getsockname(fd, (struct sockaddr *)&address, &size) == 0) {
		*port = ntohs(address.sin_port);
		return fd;
	}
	pb_fail(error, PB_ERROR_TEMPORARY, "cannot listen on the loopback address: %s",
	    g_strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

/* @return the query of a redirect, a new string; NULL for other texts */
static char *
find_query(const char *text)
{
	const char *query = strchr(text, '?');
	g_autofree char *found =
	    query ? g_strndup(query + 1, strcspn(query + 1, " #\r\n")) : NULL;

	return found && (strstr(found, "code=") || strstr(found, "error="))
	           ? g_steal_pointer(&found)
	           : NULL;
}

/* Answer a request of the browser, which also asks for an icon. */
static char *
take_request(int listener)
{
	static const char found[] =
	    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"
	    "You can close this page; paperboyctl shows whether the login succeeded.\n";
	static const char other[] =
	    "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
	const struct timeval wait = {.tv_sec = REQUEST_S};
	char request[REQUEST_BYTES + 1];
	size_t size = 0;
	ssize_t count = 1;
	char *query = NULL;
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return NULL;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	request[0] = '\0';
	while (count > 0 && size < REQUEST_BYTES && !strstr(request, "\r\n\r\n")) {
		count = recv(fd, request + size, REQUEST_BYTES - size, 0);
		size += (size_t)MAX(count, 0);
		request[size] = '\0';
	}
	request[strcspn(request, "\r\n")] = '\0';
	if (g_str_has_prefix(request, "GET "))
		query = find_query(request);
	send(fd, query ? found : other, strlen(query ? found : other), MSG_NOSIGNAL);
	close(fd);
	return query;
}

/* Wait for the browser, or for its address on standard input. @return the query */
static char *
await_redirect(int listener, GError **error)
{
	struct pollfd items[] = {
	    {.fd = listener, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
	char line[REQUEST_BYTES];
	char *query = NULL;

	while (!query && poll(items, G_N_ELEMENTS(items), BROWSER_MS) > 0) {
		if (items[0].revents)
			query = take_request(listener);
		if (!items[1].revents || query)
			continue;
		if (!fgets(line, sizeof(line), stdin))
			items[1].fd = -1;
		else if (!(query = find_query(line)))
			fputs("This address has no code; copy all of it.\n", stderr);
	}
	if (!query)
		pb_fail(error, PB_ERROR_PERMANENT, "nobody has logged in");
	return query;
}

static char *
format_random(void)
{
	guint8 bytes[SECRET_BYTES];
	GString *text = g_string_sized_new(2 * SECRET_BYTES + 1);

	random_system.fill(random_system.data, bytes, sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i++)
		g_string_append_printf(text, "%02x", bytes[i]);
	return g_string_free(text, FALSE);
}

static bool
use_browser(struct login *login, struct oauth_response *response, GError **error)
{
	const struct settings *settings = login->settings;
	const struct provider_endpoints *endpoints = &login->endpoints;
	g_autofree char *state = format_random();
	g_autofree char *verifier = format_random();
	g_autofree char *redirect_uri = NULL, *url = NULL, *query = NULL;
	struct oauth_authorization authorization = {
	    .url = endpoints->authorization_url,
	    .parameters = endpoints->parameters,
	    .scope = endpoints->scope,
	    .user =
	        login->use & OAUTH_USE_SMTP ? settings->smtp_user : settings->imap_user,
	    .state = state,
	    .verifier = verifier,
	};
	uint16_t port = get_redirect_port(settings->oauth_redirect_uri);
	int listener;

	if (!*endpoints->authorization_url)
		return pb_fail(error, PB_ERROR_INPUT,
		    "oauth.provider or oauth.authorization_url must be set");
	listener = listen_loopback(&port, error);
	if (listener < 0)
		return false;
	redirect_uri =
	    *settings->oauth_redirect_uri
	        ? g_strdup(settings->oauth_redirect_uri)
	        : g_strdup_printf("http://%s:%u", endpoints->redirect_host, port);
	authorization.redirect_uri = redirect_uri;
	url = oauth_format_authorization(&login->client, &authorization);
	printf("Open this address in a browser, and log in to the mailbox:\n\n%s\n\n"
	       "If the browser runs on another machine, it shows an error at the end: "
	       "paste the\naddress of that page here.\n",
	    url);
	fflush(stdout);
	query = await_redirect(listener, error);
	close(listener);
	return query && oauth_redeem(login->http, &login->client, &authorization, query,
	                    response, error);
}

/* ---- The command ---- */

static bool
request(struct login *login, const struct ctl_options *options,
    struct oauth_response *response, GError **error)
{
	bool has_device = *login->endpoints.device_url;

	if (options->token_path)
		return take_token(login, options->token_path, response, error);
	if (options->is_own)
		return oauth_request_own(login->http, &login->client,
		    login->endpoints.client_scope, response, error);
	if (options->is_device || (has_device && !options->is_browser))
		return use_device(login, response, error);
	return use_browser(login, response, error);
}

/* A server may grant less than was requested (RFC 6749 section 3.3). */
static void
warn_scope(const char *wanted, const char *granted)
{
	g_auto(GStrv) words = g_strsplit(wanted, " ", -1);
	g_auto(GStrv) found = g_strsplit(granted ? granted : wanted, " ", -1);

	for (char **word = words; *word; word++)
		/* Not listed by some servers. */
		if (**word && strcmp(*word, "offline_access") != 0 &&
		    !g_strv_contains((const char *const *)found, *word))
			fprintf(stderr,
			    "paperboyctl: warning: the server did not grant the scope "
			    "%s\n",
			    *word);
}

static bool
log_in(struct login *login, const struct ctl_options *options, GError **error)
{
	pb_local(oauth_response) response = {0};

	if (!request(login, options, &response, error))
		return false;
	if (!options->is_own && !response.refresh_token)
		return pb_fail(error, PB_ERROR_INPUT,
		    "the server gave no refresh token: add the scope for it "
		    "(offline_access on many servers) to oauth.scope");
	if (!oauth_login_save(login->settings->state_dir, login->use, &login->client,
	        &response, clock_get_now(login->clock), error))
		return false;
	if (!options->is_own && !options->token_path)
		warn_scope(login->endpoints.scope, response.scope);
	printf("Logged in for %s.\n", login->use == OAUTH_USE_BOTH
	                                  ? "imap and smtp"
	                                  : oauth_use_get_name(login->use));
	return true;
}

/* Before somebody has logged in with a browser, and must again. */
static bool
check_endpoints(const struct provider_endpoints *endpoints, GError **error)
{
	const char *const urls[] = {
	    endpoints->token_url, endpoints->authorization_url, endpoints->device_url};

	for (size_t i = 0; i < G_N_ELEMENTS(urls); i++)
		if (*urls[i] && !g_str_has_prefix(urls[i], "https://"))
			return pb_fail(error, PB_ERROR_INPUT,
			    "'%s' in the oauth group is not an https URL", urls[i]);
	return true;
}

static bool
check_options(const struct ctl_options *options, GError **error)
{
	if (options->is_device + options->is_browser + options->is_own +
	        (options->token_path != NULL) <=
	    1)
		return true;
	return pb_fail(error, PB_ERROR_INPUT,
	    "--device, --browser, --refresh-token and --client-credentials exclude "
	    "each other");
}

static bool
load_client(struct login *login, GError **error)
{
	const struct settings *settings = login->settings;

	if (*settings->oauth_client_secret_file) {
		login->secret = settings_load_secret(
		    settings->oauth_client_secret_file, NULL, error);
		if (!login->secret)
			return false;
	}
	login->client = (struct oauth_client){
	    .token_url = login->endpoints.token_url,
	    .client_id = settings->oauth_client_id,
	    .client_secret = login->secret,
	};
	if (*login->client.token_url && *login->client.client_id)
		return true;
	return pb_fail(error, PB_ERROR_INPUT,
	    "oauth.client_id, and oauth.provider or oauth.token_url, must be set");
}

static void
login_clear(struct login *login)
{
	http_free(login->http);
	provider_endpoints_clear(&login->endpoints);
	oauth_secret_free(login->secret);
}

/* @param use  as for find_use() */
static bool
login_init(struct login *login, const struct settings *settings,
    const struct clock *clock, const char *use, GError **error)
{
	login->settings = settings;
	login->clock = clock;
	if (!find_use(settings, use, &login->use, error))
		return false;
	provider_endpoints_init(&login->endpoints, settings,
	    login->use & OAUTH_USE_IMAP, login->use & OAUTH_USE_SMTP);
	login->http = oauth_source_new_http(
	    *settings->oauth_ca_file ? settings->oauth_ca_file : NULL, NULL);
	return check_endpoints(&login->endpoints, error) && load_client(login, error);
}

bool
ctl_check_client(
    const struct settings *settings, const struct clock *clock, GError **error)
{
	pb_local(login) login = {0};
	pb_local(oauth_device) device = {0};

	if (!login_init(&login, settings, clock, NULL, error))
		return false;
	if (*login.endpoints.device_url)
		return oauth_start_device(login.http, &login.client,
		    login.endpoints.device_url, login.endpoints.scope, &device, error);
	return oauth_check_client(login.http, &login.client, error);
}

bool
ctl_log_in(const struct settings *settings, const struct clock *clock,
    const char *token_path, GError **error)
{
	const struct ctl_options options = {.token_path = (char *)token_path};
	pb_local(login) login = {0};

	return login_init(&login, settings, clock, NULL, error) &&
	       log_in(&login, &options, error);
}

/* A daemon waits for an hour after a failed login. */
static void
reload_daemon(const struct ctl *ctl)
{
	g_autofree char *reply = ctl_ask_daemon(ctl, "reload");

	if (reply && !g_str_has_prefix(reply, "ok"))
		fputs("paperboyctl: warning: paperboyd rejects the configuration: see "
		      "paperboyctl reload\n",
		    stderr);
}

bool
ctl_run_login(struct ctl *ctl, GError **error)
{
	pb_local(login) login = {0};

	if (!check_options(&ctl->options, error) ||
	    !login_init(&login, ctl->settings, &ctl->clock, ctl->argv[1], error) ||
	    !log_in(&login, &ctl->options, error))
		return false;
	reload_daemon(ctl);
	return true;
}

/* ---- Providers ---- */

static char *
format_imap(const void *row)
{
	const struct provider *provider = row;

	return g_strdup_printf("%s:%d", provider->imap_host, provider->imap_port);
}

static char *
format_smtp(const void *row)
{
	const struct provider *provider = row;

	return g_strdup_printf("%s:%d", provider->smtp_host, provider->smtp_port);
}

static char *
format_login(const void *row)
{
	const struct provider *provider = row;

	if (!provider->token_url)
		return g_strdup("password");
	return g_strconcat(provider->app_passwords ? "app password or " : "",
	    provider->device_url ? "oauth, device" : "oauth, browser", NULL);
}

static char *
format_subaddresses(const void *row)
{
	static const char *const names[] = {
	    [PROVIDER_UNKNOWN] = NULL,
	    [PROVIDER_YES] = "yes",
	    [PROVIDER_NO] = "no",
	};

	return g_strdup(names[((const struct provider *)row)->has_subaddresses]);
}

static char *
format_limit(const void *row)
{
	const struct provider *provider = row;

	return provider->per_day ? g_strdup_printf("%d", provider->per_day) : NULL;
}

static const struct table_column provider_columns[] = {
    TABLE_COLUMN("PROVIDER", "provider", TABLE_TEXT, provider, name),
    TABLE_COLUMN_STRING("LOGIN", "login", format_login),
    TABLE_COLUMN_STRING("IMAP", "imap", format_imap),
    TABLE_COLUMN_STRING("SMTP", "smtp", format_smtp),
    TABLE_COLUMN_STRING("NAME+TAG", "subaddresses", format_subaddresses),
    TABLE_COLUMN_STRING("PER DAY", "per_day", format_limit),
    TABLE_COLUMN(NULL, "title", TABLE_TEXT, provider, title),
    TABLE_COLUMN(NULL, "source", TABLE_TEXT, provider, source),
    {0},
};

bool
ctl_run_provider_list(struct ctl *ctl, GError **error)
{
	const struct table table = {.columns = provider_columns, .empty_text = ""};
	g_autoptr(GPtrArray) rows = g_ptr_array_new();

	(void)error;
	for (const struct provider *row = provider_get_all(); row->name; row++)
		g_ptr_array_add(rows, (gpointer)row);
	table_print(ctl, &table, rows);
	return true;
}
