/*
 * server.c - connections of paperboy-web: one request each, many at a time.
 */
#include "web/server.h"

#include <errno.h>
#include <glib-unix.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/error.h"
#include "web/client_network.h"

#define EVENTS        64 /* handled before other sources */
#define ACCEPTS       64 /* of a listener, handled before other sources */
#define READ_BYTES    (16 * 1024)
#define TICK_MS       1000
#define OTHER_FILES   64 /* descriptors besides those of connections */
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

/* A descriptor of epoll. */
struct watch {
	void (*ready)(struct server *server, struct watch *watch);
	int fd;
};

struct connection {
	struct watch watch; /* fd is -1 when it is closed */
	GList link;         /* in the queue of its phase */
	enum phase phase;
	gint64 deadline; /* monotonic, us; of the phase */
	bool is_known;   /* by epoll */
	struct server *server;
	struct http_request *request;
	GBytes *out;
	gsize sent;
};

struct server {
	const struct server_options *options;
	GMainLoop *loop;
	guint source, tick, signals[2];
	int epoll;
	struct watch *listeners;
	GThreadPool *pool;
	GQueue queues[PHASES]; /* oldest deadline first */
	GPtrArray *closed;     /* freed after all events have been handled */
	unsigned count, most;  /* connections */
	bool is_stopping;
};

/* ---- connections ---- */

static void
connection_free(gpointer data)
{
	struct connection *connection = data;

	http_request_free(connection->request);
	g_clear_pointer(&connection->out, g_bytes_unref);
	g_free(connection);
}

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
	close(connection->watch.fd);
	connection->watch.fd = -1;
	g_queue_unlink(&server->queues[connection->phase], &connection->link);
	g_ptr_array_add(server->closed, connection);
	server->count--;
	if (server->is_stopping && server->count == 0)
		g_main_loop_quit(server->loop);
}

/* Once; a connection is not watched while it is handled. */
static void
wait_for(struct server *server, struct connection *connection, uint32_t events)
{
	struct epoll_event event = {
	    .events = events | EPOLLONESHOT, .data.ptr = &connection->watch};

	if (epoll_ctl(server->epoll,
	        connection->is_known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD,
	        connection->watch.fd, &event) != 0)
		close_connection(server, connection);
	connection->is_known = true;
}

/* Wait until the client closes: unread bytes would reset the connection, and the
 * client might lose the response (RFC 9112 section 9.6). */
static void
linger(struct server *server, struct connection *connection)
{
	g_clear_pointer(&connection->out, g_bytes_unref);
	if (shutdown(connection->watch.fd, SHUT_WR) != 0) {
		close_connection(server, connection);
		return;
	}
	set_phase(server, connection, PHASE_LINGERING);
	wait_for(server, connection, EPOLLIN);
}

static void
send_more(struct server *server, struct connection *connection)
{
	gsize size;
	const char *data = g_bytes_get_data(connection->out, &size);
	gssize sent = send(connection->watch.fd, data + connection->sent,
	    size - connection->sent, MSG_NOSIGNAL);

	if (sent < 0 && errno != EAGAIN && errno != EINTR) {
		close_connection(server, connection);
		return;
	}
	connection->sent += sent > 0 ? (gsize)sent : 0;
	if (connection->sent == size)
		linger(server, connection);
	else
		wait_for(server, connection, EPOLLOUT);
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
	const struct server_options *options = server->options;

	start_sending(server, connection,
	    options->refuse(options->data, connection->request, status));
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
	gssize size = recv(connection->watch.fd, buffer, sizeof(buffer), 0);
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
		wait_for(server, connection, EPOLLIN);
}

static void
handle_connection(struct server *server, struct watch *watch)
{
	struct connection *connection = (struct connection *)watch;

	if (connection->phase == PHASE_SENDING)
		send_more(server, connection);
	else
		read_more(server, connection);
}

/* ---- threads ---- */

/* From the main loop. */
static gboolean
send_answer(gpointer data)
{
	struct connection *connection = data;
	struct server *server = connection->server;

	start_sending(server, connection, connection->out);
	g_ptr_array_set_size(server->closed, 0);
	return G_SOURCE_REMOVE;
}

static void
answer(gpointer data, gpointer user_data)
{
	struct connection *connection = data;
	const struct server *server = user_data;
	const struct server_options *options = server->options;
	bool is_late = g_get_monotonic_time() > connection->deadline;

	connection->out =
	    is_late ? options->refuse(options->data, connection->request, STATUS_LIMITS)
	            : options->answer(options->data, connection->request);
	g_idle_add_full(G_PRIORITY_DEFAULT, send_answer, connection, NULL);
}

/* ---- new connections ---- */

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
	g_ptr_array_set_size(server->closed, 0);
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
	connection->watch = (struct watch){handle_connection, fd};
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
	wait_for(server, connection, EPOLLIN);
}

static void
handle_listener(struct server *server, struct watch *watch)
{
	for (unsigned i = 0; i < ACCEPTS; i++) {
		struct sockaddr_storage peer = {0};
		socklen_t size = sizeof(peer);
		int fd = accept4(watch->fd, (struct sockaddr *)&peer, &size,
		    SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0)
			add_connection(server, fd, (struct sockaddr *)&peer);
		else if (errno != EMFILE && errno != ENFILE && errno != ENOMEM)
			return;
		else if (!close_slowest(server))
			return;
	}
}

/* ---- end ---- */

static void
close_phase(struct server *server, enum phase phase)
{
	struct connection *connection;

	while ((connection = g_queue_peek_head(&server->queues[phase])))
		close_connection(server, connection);
}

static gboolean
handle_signal(gpointer data)
{
	struct server *server = data;
	struct connection *connection;

	for (unsigned i = 0; i < server->options->listener_count; i++) {
		/* Connections that wait would be reset. */
		handle_listener(server, &server->listeners[i]);
		epoll_ctl(
		    server->epoll, EPOLL_CTL_DEL, server->options->listeners[i], NULL);
	}
	server->is_stopping = true;
	while ((connection = g_queue_peek_head(&server->queues[PHASE_READING]))) {
		/* The request may have arrived, but not been read. */
		read_more(server, connection);
		if (connection == g_queue_peek_head(&server->queues[PHASE_READING]))
			close_connection(server, connection);
	}
	g_ptr_array_set_size(server->closed, 0);
	if (server->count == 0)
		g_main_loop_quit(server->loop);
	return G_SOURCE_CONTINUE;
}

/* ---- main loop ---- */

static gboolean
handle_events(gint fd, GIOCondition condition, gpointer data)
{
	struct server *server = data;
	struct epoll_event events[EVENTS];
	int count = epoll_wait(fd, events, EVENTS, 0);

	(void)condition;
	for (int i = 0; i < count; i++) {
		struct watch *watch = events[i].data.ptr;

		/* Others may have been closed by an earlier event. */
		if (watch->fd >= 0)
			watch->ready(server, watch);
	}
	g_ptr_array_set_size(server->closed, 0);
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

static bool
watch_all(struct server *server)
{
	const struct server_options *options = server->options;

	server->epoll = epoll_create1(EPOLL_CLOEXEC);
	for (unsigned i = 0; server->epoll >= 0 && i < options->listener_count; i++) {
		struct watch *watch = &server->listeners[i];
		struct epoll_event event = {.events = EPOLLIN, .data.ptr = watch};

		*watch = (struct watch){handle_listener, options->listeners[i]};
		if (epoll_ctl(server->epoll, EPOLL_CTL_ADD, watch->fd, &event) != 0)
			return false;
	}
	return server->epoll >= 0;
}

struct server *
server_new(const struct server_options *options, GError **error)
{
	pb_auto(server) server = g_new0(struct server, 1);

	server->options = options;
	server->epoll = -1;
	server->listeners = g_new0(struct watch, options->listener_count);
	server->most = allow_files(options->max_connections);
	server->loop = g_main_loop_new(NULL, FALSE);
	server->closed = g_ptr_array_new_with_free_func(connection_free);
	if (!watch_all(server)) {
		pb_fail(error, PB_ERROR_TEMPORARY, "cannot wait for connections: %s",
		    g_strerror(errno));
		return NULL;
	}
	server->signals[0] = g_unix_signal_add(SIGTERM, handle_signal, server);
	server->signals[1] = g_unix_signal_add(SIGINT, handle_signal, server);
	/* Exclusive: all threads start now, none later. */
	server->pool =
	    g_thread_pool_new(answer, server, (int)options->threads, TRUE, error);
	if (!server->pool)
		return NULL;
	server->source = g_unix_fd_add(server->epoll, G_IO_IN, handle_events, server);
	return g_steal_pointer(&server);
}

void
server_run(struct server *server)
{
	g_main_loop_run(server->loop);
}

void
server_free(struct server *server)
{
	if (!server)
		return;
	if (server->pool)
		g_thread_pool_free(server->pool, FALSE, TRUE);
	g_clear_handle_id(&server->source, g_source_remove);
	g_clear_handle_id(&server->tick, g_source_remove);
	for (size_t i = 0; i < G_N_ELEMENTS(server->signals); i++)
		g_clear_handle_id(&server->signals[i], g_source_remove);
	for (unsigned phase = 0; phase < PHASES; phase++)
		close_phase(server, phase);
	g_ptr_array_unref(server->closed);
	if (server->epoll >= 0)
		close(server->epoll);
	g_main_loop_unref(server->loop);
	g_free(server->listeners);
	g_free(server);
}
