/*
 * main.c - paperboy-web: sockets, connections and their responses, options.
 */
#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <glib.h>
#include <locale.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
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
responder_refuse(
    const struct responder *responder, const struct http_request *request, int status)
{
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
responder_answer(struct responder *responder, const struct http_request *request)
{
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

/* ---- connections: one request each, many at a time ----
 *
 * One thread reads and writes all connections without blocking; complete requests are
 * answered by a few threads.  Each phase of a connection has a deadline for the whole
 * of it, so slow clients cannot stay; when there are too many connections, those that
 * have been slow for longest are closed.
 */

/* Threads that wait for paperboyd, which answers two requests at a time. */
#define THREADS       8
#define ACCEPTS       64 /* of a listener, handled before other sources */
#define READ_BYTES    (16 * 1024)
#define TICK_MS       1000 /* interval of checks for slow connections */
#define OTHER_FILES   64   /* descriptors besides those of connections */
#define STATUS_LIMITS 503

/* In the order in which connections are closed when there are too many. */
enum phase {
	PHASE_LINGERING, /* answered; the client has to close */
	PHASE_READING,
	PHASE_SENDING,
	PHASE_WORKING, /* owned by a thread: never closed */
	PHASES
};

static const int phase_s[PHASES] = {
    [PHASE_LINGERING] = BOUNDS_WEB_LINGER_S,
    [PHASE_READING] = BOUNDS_WEB_REQUEST_S,
    [PHASE_SENDING] = BOUNDS_WEB_SEND_S,
    [PHASE_WORKING] = BOUNDS_WEB_ANSWER_S,
};

struct connection {
	int fd;
	guint source; /* that waits for it, once; 0: none */
	GList link;   /* in the queue of its phase */
	enum phase phase;
	gint64 deadline; /* monotonic, us; of the phase */
	struct server *server;
	struct http_request *request;
	GBytes *out;
	gsize sent;
};

struct server {
	struct responder *responder;
	const GArray *sockets; /* of int: listening */
	GMainLoop *loop;
	guint tick, signals[2];
	GArray *listeners; /* of guint, sources */
	GThreadPool *pool;
	GQueue queues[PHASES]; /* oldest deadline first */
	unsigned count, most;  /* connections */
	bool is_stopping;
};

static void
set_phase(struct server *server, struct connection *connection, enum phase phase)
{
	g_queue_unlink(&server->queues[connection->phase], &connection->link);
	connection->phase = phase;
	connection->deadline = g_get_monotonic_time() + phase_s[phase] * G_USEC_PER_SEC;
	g_queue_push_tail_link(&server->queues[phase], &connection->link);
}

static void
close_connection(struct server *server, struct connection *connection)
{
	g_clear_handle_id(&connection->source, g_source_remove);
	close(connection->fd);
	g_queue_unlink(&server->queues[connection->phase], &connection->link);
	http_request_free(connection->request);
	g_clear_pointer(&connection->out, g_bytes_unref);
	g_free(connection);
	server->count--;
	if (server->is_stopping && server->count == 0)
		g_main_loop_quit(server->loop);
}

static gboolean handle_connection(gint fd, GIOCondition condition, gpointer data);

static void
wait_for(struct connection *connection, GIOCondition condition)
{
	connection->source =
	    g_unix_fd_add(connection->fd, condition, handle_connection, connection);
}

/* Wait until the client closes: unread bytes would reset the connection, and the
 * client might lose the response (RFC 9112 section 9.6). */
static void
linger(struct server *server, struct connection *connection)
{
	g_clear_pointer(&connection->out, g_bytes_unref);
	if (shutdown(connection->fd, SHUT_WR) != 0) {
		close_connection(server, connection);
		return;
	}
	set_phase(server, connection, PHASE_LINGERING);
	wait_for(connection, G_IO_IN);
}

static void
send_more(struct server *server, struct connection *connection)
{
	gsize size;
	const char *data = g_bytes_get_data(connection->out, &size);
	gssize sent = send(connection->fd, data + connection->sent,
	    size - connection->sent, MSG_NOSIGNAL);

	if (sent < 0 && errno != EAGAIN && errno != EINTR) {
		close_connection(server, connection);
		return;
	}
	connection->sent += sent > 0 ? (gsize)sent : 0;
	if (connection->sent == size)
		linger(server, connection);
	else
		wait_for(connection, G_IO_OUT);
}

/* @param out  taken */
static void
start_sending(struct server *server, struct connection *connection, GBytes *out)
{
	connection->out = out;
	g_clear_pointer(&connection->request, http_request_free);
	set_phase(server, connection, PHASE_SENDING);
	send_more(server, connection);
}

static void
refuse(struct server *server, struct connection *connection, int status)
{
	start_sending(server, connection,
	    responder_refuse(server->responder, connection->request, status));
}

static void
finish_reading(struct server *server, struct connection *connection, int status)
{
	if (status == HTTP_OK &&
	    g_thread_pool_unprocessed(server->pool) >= BOUNDS_WEB_WAITING)
		status = STATUS_LIMITS;
	if (status != HTTP_OK) {
		refuse(server, connection, status);
		return;
	}
	set_phase(server, connection, PHASE_WORKING);
	g_thread_pool_push(server->pool, connection, NULL);
}

static void
read_more(struct server *server, struct connection *connection)
{
	char buffer[READ_BYTES];
	gssize size = recv(connection->fd, buffer, sizeof(buffer), 0);
	int status = 0;

	if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) {
		close_connection(server, connection);
		return;
	}
	if (size > 0 && connection->phase == PHASE_READING)
		status = http_request_feed(connection->request, buffer, (size_t)size);
	if (status)
		finish_reading(server, connection, status);
	else
		wait_for(connection, G_IO_IN);
}

/* Once: a connection is not watched while it is handled. */
static gboolean
handle_connection(gint fd, GIOCondition condition, gpointer data)
{
	struct connection *connection = data;

	(void)fd;
	(void)condition;
	connection->source = 0;
	if (connection->phase == PHASE_SENDING)
		send_more(connection->server, connection);
	else
		read_more(connection->server, connection);
	return G_SOURCE_REMOVE;
}

/* From the main loop. */
static gboolean
send_answer(gpointer data)
{
	struct connection *connection = data;
	struct server *server = connection->server;

	start_sending(server, connection, connection->out);
	return G_SOURCE_REMOVE;
}

static void
answer(gpointer data, gpointer user_data)
{
	struct connection *connection = data;
	const struct server *server = user_data;
	bool is_late = g_get_monotonic_time() > connection->deadline;

	connection->out =
	    is_late ? responder_refuse(
	                  server->responder, connection->request, STATUS_LIMITS)
	            : responder_answer(server->responder, connection->request);
	g_idle_add_full(G_PRIORITY_DEFAULT, send_answer, connection, NULL);
}

/* @return false if all connections are busy */
static bool
close_slowest(struct server *server)
{
	for (unsigned phase = 0; phase < PHASE_WORKING; phase++) {
		struct connection *slowest = g_queue_peek_head(&server->queues[phase]);

		if (slowest) {
			close_connection(server, slowest);
			return true;
		}
	}
	return false;
}

static gboolean
close_late(gpointer data)
{
	struct server *server = data;
	gint64 now = g_get_monotonic_time();

	for (unsigned phase = 0; phase < PHASE_WORKING; phase++) {
		struct connection *first;

		while ((first = g_queue_peek_head(&server->queues[phase])) &&
		       first->deadline <= now)
			close_connection(server, first);
	}
	if (server->count > 0)
		return G_SOURCE_CONTINUE;
	server->tick = 0;
	return G_SOURCE_REMOVE;
}

static void
add_connection(struct server *server, int fd, const struct sockaddr *peer)
{
	struct connection *connection;

	if (server->count >= server->most && !close_slowest(server)) {
		close(fd);
		return;
	}
	connection = g_new0(struct connection, 1);
	connection->fd = fd;
	connection->link.data = connection;
	connection->server = server;
	connection->request = http_request_new();
	connection->request->peer = client_network_get_peer(peer);
	connection->phase = PHASE_READING;
	connection->deadline =
	    g_get_monotonic_time() + BOUNDS_WEB_REQUEST_S * G_USEC_PER_SEC;
	g_queue_push_tail_link(&server->queues[PHASE_READING], &connection->link);
	server->count++;
	if (!server->tick)
		server->tick = g_timeout_add(TICK_MS, close_late, server);
	wait_for(connection, G_IO_IN);
}

static gboolean
handle_listener(gint listener, GIOCondition condition, gpointer data)
{
	struct server *server = data;

	(void)condition;
	for (unsigned i = 0; i < ACCEPTS; i++) {
		struct sockaddr_storage peer = {0};
		socklen_t size = sizeof(peer);
		int fd = accept4(listener, (struct sockaddr *)&peer, &size,
		    SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0)
			add_connection(server, fd, (struct sockaddr *)&peer);
		else if ((errno != EMFILE && errno != ENFILE && errno != ENOMEM) ||
		         !close_slowest(server))
			break;
	}
	return G_SOURCE_CONTINUE;
}

static void
close_phase(struct server *server, enum phase phase)
{
	struct connection *connection;

	while ((connection = g_queue_peek_head(&server->queues[phase])))
		close_connection(server, connection);
}

static void
remove_listeners(struct server *server)
{
	for (unsigned i = 0; i < server->listeners->len; i++)
		g_source_remove(g_array_index(server->listeners, guint, i));
	g_array_set_size(server->listeners, 0);
}

static gboolean
handle_signal(gpointer data)
{
	struct server *server = data;
	struct connection *connection;

	/* Accept waiting connections, which closing the listeners would reset. */
	for (unsigned i = 0; i < server->listeners->len; i++)
		handle_listener(
		    g_array_index(server->sockets, int, i), G_IO_IN, server);
	remove_listeners(server);
	server->is_stopping = true;
	while ((connection = g_queue_peek_head(&server->queues[PHASE_READING]))) {
		/* The request may have arrived, but not been read. */
		g_clear_handle_id(&connection->source, g_source_remove);
		read_more(server, connection);
		if (connection == g_queue_peek_head(&server->queues[PHASE_READING]))
			close_connection(server, connection);
	}
	if (server->count == 0)
		g_main_loop_quit(server->loop);
	return G_SOURCE_CONTINUE;
}

/* As many connections as there may be descriptors. */
static unsigned
allow_files(unsigned wanted)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return wanted;
	if (limit.rlim_cur < wanted + OTHER_FILES) {
		limit.rlim_cur = MIN(limit.rlim_max, wanted + OTHER_FILES);
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	return limit.rlim_cur > 2 * OTHER_FILES
	           ? (unsigned)MIN(wanted, limit.rlim_cur - OTHER_FILES)
	           : OTHER_FILES;
}

static void
server_free(struct server *server)
{
	if (!server)
		return;
	if (server->pool)
		g_thread_pool_free(server->pool, FALSE, TRUE);
	remove_listeners(server);
	g_clear_handle_id(&server->tick, g_source_remove);
	for (size_t i = 0; i < G_N_ELEMENTS(server->signals); i++)
		g_clear_handle_id(&server->signals[i], g_source_remove);
	for (unsigned phase = 0; phase < PHASES; phase++)
		close_phase(server, phase);
	g_main_loop_unref(server->loop);
	g_array_unref(server->listeners);
	g_free(server);
}
PB_DEFINE_AUTO(server, server_free);

/*
 * Start the threads and accept connections.
 *
 * @return NULL with PB_ERROR_TEMPORARY; owned by the caller
 */
static struct server *
server_new(struct responder *responder, const GArray *sockets, GError **error)
{
	pb_auto(server) server = g_new0(struct server, 1);

	server->responder = responder;
	server->sockets = sockets;
	server->listeners = g_array_new(FALSE, FALSE, sizeof(guint));
	server->most = allow_files(BOUNDS_WEB_CONNECTIONS);
	server->loop = g_main_loop_new(NULL, FALSE);
	server->signals[0] = g_unix_signal_add(SIGTERM, handle_signal, server);
	server->signals[1] = g_unix_signal_add(SIGINT, handle_signal, server);
	/* Exclusive: all threads start now, none later. */
	server->pool = g_thread_pool_new(answer, server, THREADS, TRUE, error);
	if (!server->pool)
		return NULL;
	for (unsigned i = 0; i < sockets->len; i++) {
		guint source = g_unix_fd_add(
		    g_array_index(sockets, int, i), G_IO_IN, handle_listener, server);

		g_array_append_val(server->listeners, source);
	}
	return g_steal_pointer(&server);
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

/* Serve until SIGTERM or SIGINT; requests that are complete are answered first. */
static bool
serve(const struct settings *settings, struct responder *responder, GError **error)
{
	g_autoptr(GArray) fds = g_array_new(FALSE, FALSE, sizeof(int));
	pb_auto(server) server = NULL;
	bool is_filtered;

	if (!web_listen_open(settings->web_listen, fds, error))
		return false;
	server = server_new(responder, fds, error);
	if (!server)
		return false;
	if (!sandbox_limit(SANDBOX_SERVER) ||
	    !sandbox_enter(SANDBOX_SERVER, &is_filtered))
		return pb_fail(error, PB_ERROR_PERMANENT,
		    "the kernel refuses to take permissions away");
	fprintf(stderr, "paperboy-web: paperboy-web %s started%s\n", PACKAGE_VERSION,
	    is_filtered ? "" : ", without a filter of system calls");
	notify_send("READY=1");
	g_main_loop_run(server->loop);
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
