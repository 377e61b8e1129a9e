/*
 * main.c - paperboy-web: options, settings, exit status.
 */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <locale.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sysexits.h>
#include <unistd.h>

#ifdef HAVE_SYSTEMD
#include <systemd/sd-daemon.h>
#endif

#include "base/bounds.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/listen_socket.h"
#include "base/notify.h"
#include "base/sandbox.h"
#include "config/settings.h"
#include "config/web_url.h"
#include "web/client_network.h"
#include "web/daemon_client.h"
#include "web/http_request.h"
#include "web/negotiate.h"
#include "web/routes.h"
#include "web/server.h"
#include "web/web_page.h"
#include "web/web_response.h"

/* ---- listening sockets ---- */

#define BACKLOG   1024
#define ANY_MODE  0666
#define ADDRESSES 8 /* sockets of systemd */

static bool
inherit(GArray *fds, GError **error)
{
#ifdef HAVE_SYSTEMD
	int count = sd_listen_fds(1);

	if (count > ADDRESSES)
		return pb_fail(error, PB_ERROR_INPUT,
		    "systemd passes %d sockets, more than %d", count, ADDRESSES);
	for (int i = 0; i < count; i++) {
		int fd = SD_LISTEN_FDS_START + i;

		g_array_append_val(fds, fd);
		if (sd_is_socket(fd, AF_UNSPEC, SOCK_STREAM, 1) <= 0)
			return pb_fail(error, PB_ERROR_INPUT,
			    "socket %d of systemd is not a listening one", i + 1);
		if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0)
			return pb_fail(error, PB_ERROR_TEMPORARY,
			    "cannot use a socket of systemd: %s", g_strerror(errno));
	}
#else
	(void)fds;
	(void)error;
#endif
	return true;
}

/* Check a value of web.listen. @return false with PB_ERROR_INPUT */
static bool
web_listen_check(const char *text, GError **error)
{
	union listen_address address;
	socklen_t size;

	if (!g_path_is_absolute(text))
		return listen_address_parse(text, &address, &size, error);
	if (strlen(text) >= sizeof(((struct sockaddr_un *)0)->sun_path))
		return pb_fail(
		    error, PB_ERROR_INPUT, "socket path '%s' is too long", text);
	return true;
}

/*
 * Take the listening sockets that systemd passes (sd_listen_fds(3)), or open one.
 *
 * @param listen  loopback address and port, or absolute path of a Unix socket, which
 *                any user may connect to who can reach it
 * @param fds     of int: the sockets are added, also before a failure
 */
static bool
web_listen_open(const char *text, GArray *fds, GError **error)
{
	int fd;

	if (!inherit(fds, error))
		return false;
	if (fds->len > 0)
		return true;
	if (!g_path_is_absolute(text)) {
		fd = listen_socket_open_loopback(text, BACKLOG, error);
		if (fd >= 0)
			g_array_append_val(fds, fd);
		return fd >= 0;
	}
	fd = listen_socket_bind_unix(text, error);
	if (fd < 0)
		return false;
	g_array_append_val(fds, fd);
	return (chmod(text, ANY_MODE) == 0 && listen(fd, BACKLOG) == 0) ||
	       file_set_error("cannot listen on", text, PB_ERROR_TEMPORARY, error);
}

/* ---- responses to HTTP requests ---- */

#define METHOD_NOT_ALLOWED 405
#define UNAVAILABLE        503

/* Methods of all routes. */
#define ALL_METHODS "GET, HEAD, POST"

struct responder {
	struct web_pages *pages;
	char *origin, *socket;
	GArray *proxies;
	struct routes routes;
	gint has_failed; /* atomic: the last exchange with paperboyd */
};

static void
responder_free(struct responder *responder)
{
	if (!responder)
		return;
	web_pages_free(responder->pages);
	g_free(responder->origin);
	g_free(responder->socket);
	g_clear_pointer(&responder->proxies, g_array_unref);
	g_free(responder);
}

PB_DEFINE_AUTO(responder, responder_free);

/* Load the pages. @return NULL with an error; owned by the caller */
static struct responder *
responder_new(const struct settings *settings, GError **error)
{
	pb_auto(responder) responder = g_new0(struct responder, 1);

	responder->pages = web_pages_load(
	    settings->template_dir, settings->po_dir, settings->web_url, error);
	if (!responder->pages)
		return NULL;
	responder->proxies =
	    client_network_parse_proxies(settings->web_trusted_proxy, error);
	if (!responder->proxies)
		return NULL;
	responder->origin = negotiate_get_origin(settings->web_url);
	responder->socket = g_strdup(settings->web_socket);
	responder->routes = (struct routes){.pages = responder->pages,
	    .origin = responder->origin,
	    .proxies = responder->proxies};
	return g_steal_pointer(&responder);
}

/* Once for each change.  The error names no token and no address. */
static void
report(struct responder *responder, const GError *error)
{
	if (g_atomic_int_compare_and_exchange(
	        &responder->has_failed, error == NULL, error != NULL))
		fprintf(stderr, "paperboy-web: %s\n",
		    error ? error->message : "paperboyd responds again");
}

static GBytes *
format(const struct web_response *response, const struct http_request *request)
{
	return web_response_format(response, g_get_real_time() / G_USEC_PER_SEC,
	    http_request_is_head(request));
}

static GBytes *
format_error(const struct responder *responder, const struct http_request *request,
    int status, const char *language, const char *allow)
{
	pb_local(web_body) body = {0};

	web_page_render_error(responder->pages, (unsigned)status, language, &body);
	return format(&(struct web_response){.status = status,
	                  .type = body.type,
	                  .content_policy = body.content_policy,
	                  .allow = allow,
	                  .is_private = true,
	                  .body = body.bytes},
	    request);
}

static GBytes *
responder_refuse(void *data, const struct http_request *request, int status)
{
	const struct responder *responder = data;
	g_autofree char *language = routes_get_language(&responder->routes, request);

	return format_error(responder, request, status, language,
	    status == METHOD_NOT_ALLOWED ? ALL_METHODS : NULL);
}

/* @return false if the daemon's reply is not usable */
static bool
format_reply(const struct responder *responder, const struct http_request *request,
    const struct web_request *asked, const struct web_reply *reply, GBytes **out,
    GError **error)
{
	pb_local(web_body) body = {0};
	struct web_response response = {.status = (int)web_page_statuses[reply->status],
	    .is_private = routes_is_private(asked->op)};

	if (reply->status != WEB_STATUS_NOT_MODIFIED) {
		if (!web_page_render(
		        responder->pages, reply, request->path, &body, error))
			return false;
		response.type = body.type;
		response.content_policy = body.content_policy;
		response.body = body.bytes;
	}
	if (asked->op == WEB_OP_FEED)
		g_variant_lookup(reply->values, "etag", "&s", &response.tag);
	*out = format(&response, request);
	return true;
}

static GBytes *
responder_answer(void *data, const struct http_request *request)
{
	struct responder *responder = data;
	struct route_refusal refusal;
	pb_auto(web_request) asked =
	    routes_parse(&responder->routes, request, &refusal);
	pb_auto(web_reply) reply = NULL;
	g_autoptr(GError) error = NULL;
	GBytes *out = NULL;
	int status = UNAVAILABLE;

	if (!asked) {
		g_autofree char *language =
		    routes_get_language(&responder->routes, request);

		return format_error(
		    responder, request, refusal.status, language, refusal.allow);
	}
	reply =
	    daemon_client_call(responder->socket, asked, BOUNDS_WEB_ANSWER_S, &error);
	if (reply) {
		bool has_page = reply->page != WEB_PAGE_NONE ||
		                reply->status == WEB_STATUS_OK ||
		                reply->status == WEB_STATUS_NOT_MODIFIED;

		status = (int)web_page_statuses[reply->status];
		if (has_page &&
		    !format_reply(responder, request, asked, reply, &out, &error))
			status = UNAVAILABLE;
	}
	report(responder, error);
	return out ? out
	           : format_error(responder, request, status, asked->language, NULL);
}

/* ---- the command line of paperboy-web ---- */

struct web_options {
	char *config; /* or NULL */
	gboolean is_check, is_version;
};

#define DEFAULT_CONFIG PAPERBOY_SYSCONFDIR "/paperboy.conf"

static const char description[] =
    "Serves the page of paperboyd, behind a web server with TLS. Takes its listening\n"
    "sockets from systemd, or listens on web.listen. Runs in the foreground until\n"
    "SIGTERM.";

static const char after_options[] =
    "Exit status: 0 success; 78 invalid configuration; others as in sysexits.h.";

/* @return false with an error of G_OPTION_ERROR */
static bool
web_options_parse(struct web_options *options, int *argc, char ***argv, GError **error)
{
	const GOptionEntry entries[] = {
	    {"config", 'c', 0, G_OPTION_ARG_FILENAME, &options->config,
	        "Read FILE instead of " DEFAULT_CONFIG, "FILE"},
	    {"check", 0, 0, G_OPTION_ARG_NONE, &options->is_check,
	        "Check the configuration, report errors and exit", NULL},
	    {"version", 0, 0, G_OPTION_ARG_NONE, &options->is_version,
	        "Print the version and exit", NULL},
	    {0},
	};
	GOptionContext *context = g_option_context_new(NULL);
	bool is_ok;

	g_option_context_set_summary(context, description);
	g_option_context_set_description(context, after_options);
	g_option_context_add_main_entries(context, entries, NULL);
	is_ok = g_option_context_parse(context, argc, argv, error);
	g_option_context_free(context);
	if (is_ok && *argc > 1) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
		    "unexpected argument '%s'", (*argv)[1]);
		return false;
	}
	return is_ok;
}

static void
web_options_clear(struct web_options *options)
{
	g_free(options->config);
}

/* @param error  taken */
static void
add_problem(GPtrArray *problems, const char *path, const char *name, GError **error)
{
	g_ptr_array_add(
	    problems, g_strdup_printf("%s: %s: %s", path, name, (*error)->message));
	g_clear_error(error);
}

/*
 * Load the configuration, and check what the page needs.
 *
 * @param problems  of char *; all errors are added
 * @return NULL if there were any; owned by the caller
 */
static struct settings *
web_options_load(const struct web_options *options, GPtrArray *problems)
{
	const char *path = options->config ? options->config : DEFAULT_CONFIG;
	pb_auto(settings) settings = settings_load(path, problems, NULL);
	g_autoptr(GArray) proxies = NULL;
	g_autoptr(GError) error = NULL;

	if (!settings)
		return NULL;
	if (!*settings->web_url)
		g_ptr_array_add(
		    problems, g_strdup_printf("%s: web.url is not set", path));
	else if (!web_url_check(settings->web_url, &error))
		add_problem(problems, path, "web.url", &error);
	if (!web_listen_check(settings->web_listen, &error))
		add_problem(problems, path, "web.listen", &error);
	proxies = client_network_parse_proxies(settings->web_trusted_proxy, &error);
	if (!proxies)
		add_problem(problems, path, "web.trusted_proxy", &error);
	return problems->len == 0 ? g_steal_pointer(&settings) : NULL;
}

/* ---- main ---- */

/* They only wait for paperboyd, which answers two requests at a time. */
#define THREADS 8

static bool
serve(const struct settings *settings, struct responder *responder, GError **error)
{
	g_autoptr(GArray) fds = g_array_new(FALSE, FALSE, sizeof(int));
	struct server_options options = {.max_connections = BOUNDS_WEB_CONNECTIONS,
	    .threads = THREADS,
	    .answer = responder_answer,
	    .refuse = responder_refuse,
	    .data = responder};
	pb_auto(server) server = NULL;
	bool is_filtered;

	if (!web_listen_open(settings->web_listen, fds, error))
		return false;
	options.listeners = (const int *)(void *)fds->data;
	options.listener_count = fds->len;
	server = server_new(&options, error);
	if (!server)
		return false;
	if (!sandbox_limit(SANDBOX_SERVER) ||
	    !sandbox_enter(SANDBOX_SERVER, &is_filtered))
		return pb_fail(error, PB_ERROR_PERMANENT,
		    "the kernel refuses to take permissions away");
	fprintf(stderr, "paperboy-web: paperboy-web %s started%s\n", PACKAGE_VERSION,
	    is_filtered ? "" : ", without a filter of system calls");
	notify_send("READY=1");
	server_run(server);
	notify_send("STOPPING=1");
	fputs("paperboy-web: paperboy-web ended\n", stderr);
	return true;
}

static int
run(const struct web_options *options)
{
	g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
	pb_auto(settings) settings = web_options_load(options, problems);
	pb_auto(responder) responder = NULL;
	g_autoptr(GError) error = NULL;

	for (unsigned i = 0; i < problems->len; i++)
		fprintf(stderr, "paperboy-web: %s\n", (char *)problems->pdata[i]);
	if (!settings)
		return EX_CONFIG;
	responder = responder_new(settings, &error);
	if (responder && (options->is_check || serve(settings, responder, &error)))
		return EX_OK;
	fprintf(stderr, "paperboy-web: %s\n", error->message);
	return pb_error_exit_status(error);
}

int
main(int argc, char **argv)
{
	pb_local(web_options) options = {0};
	g_autoptr(GError) error = NULL;

	setlocale(LC_ALL, "C.UTF-8");
	signal(SIGPIPE, SIG_IGN);
	umask(0077);
	if (!web_options_parse(&options, &argc, &argv, &error)) {
		fprintf(stderr, "paperboy-web: %s\nTry 'paperboy-web --help'.\n",
		    error->message);
		return EX_USAGE;
	}
	if (!options.is_version)
		return run(&options);
	printf("paperboy-web %s\n", PACKAGE_VERSION);
	return EX_OK;
}
