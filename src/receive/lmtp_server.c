/*
 * lmtp_server.c - LMTP server (RFC 2033): sockets, clients and timeouts.
 */
#include "receive/lmtp_server.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "receive/lmtp_listen.h"
#include "receive/lmtp_session.h"

#define READ_BYTES (64 * 1024)

/* Without a free file descriptor, accept again after this time, ms. */
#define ACCEPT_RETRY_MS 1000

struct client {
	int fd;
	struct lmtp_session *session;
	int64_t active_at; /* monotonic time of the last transfer, us */
	int64_t mail_at;   /* time of the last message, or of the connection */
	unsigned messages; /* lmtp_session_get_accepted() as last read */
};

struct lmtp {
	struct receiver receiver;
	struct lmtp_listen listen;
	struct lmtp_times times;
	GPtrArray *clients;
	char *buffer;
	bool is_short; /* of file descriptors */
};

/* ---- Clients ---- */

static void
client_free(struct client *client)
{
	close(client->fd);
	lmtp_session_free(client->session);
	g_free(client);
}

static void
flush_output(struct client *client, int64_t now)
{
	GString *out = lmtp_session_get_output(client->session);
	ssize_t sent;

	if (!out->len)
		return;
	sent = send(client->fd, out->str, out->len, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (sent > 0) {
		g_string_erase(out, 0, sent);
		client->active_at = now;
	} else if (sent < 0 && errno != EAGAIN && errno != EINTR) {
		/* The connection is lost. */
		lmtp_session_end(client->session, "421 4.4.2 Lost connection");
		g_string_truncate(out, 0);
	}
}

static void
accept_client(
    struct lmtp *lmtp, int listener, const struct receiver_sink *sink, int64_t now)
{
	static const char too_many[] = "421 4.3.2 Too many connections\r\n";
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct client *client;

	if (fd < 0) {
		lmtp->is_short = errno == EMFILE || errno == ENFILE ||
		                 errno == ENOMEM || errno == ENOBUFS;
		return;
	}
	if (lmtp->clients->len >= BOUNDS_LMTP_CLIENTS) {
		/* The buffer of a new socket has room for a line. */
		ssize_t sent =
		    send(fd, too_many, strlen(too_many), MSG_NOSIGNAL | MSG_DONTWAIT);

		(void)sent;
		close(fd);
		return;
	}
	client = g_new0(struct client, 1);
	client->fd = fd;
	client->session = lmtp_session_new(sink);
	client->active_at = client->mail_at = now;
	g_ptr_array_add(lmtp->clients, client);
	flush_output(client, now);
}

static void
read_input(struct lmtp *lmtp, struct client *client)
{
	ssize_t got = recv(client->fd, lmtp->buffer, READ_BYTES, MSG_DONTWAIT);
	unsigned messages;

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		lmtp_session_end(client->session, "421 4.4.2 Lost connection");
		g_string_truncate(lmtp_session_get_output(client->session), 0);
		return;
	}
	lmtp_session_feed(client->session, lmtp->buffer, (size_t)got);
	/* The time spent storing does not count as idle. */
	client->active_at = g_get_monotonic_time();
	messages = lmtp_session_get_accepted(client->session);
	if (messages != client->messages)
		client->mail_at = client->active_at;
	client->messages = messages;
}

static int64_t
get_deadline(const struct lmtp *lmtp, const struct client *client)
{
	return MIN(client->active_at + lmtp->times.idle * 1000,
	    client->mail_at + lmtp->times.mail * 1000);
}

static short
get_events(struct client *client)
{
	size_t waiting = lmtp_session_get_output(client->session)->len;
	short events = waiting ? POLLOUT : 0;

	/* Stop reading from a client that does not read its replies. */
	if (!lmtp_session_is_closed(client->session) &&
	    waiting < BOUNDS_LMTP_OUTPUT_BYTES)
		events |= POLLIN;
	return events;
}

/* @return whether the client is finished */
static bool
serve_client(struct lmtp *lmtp, struct client *client, short events, int64_t now)
{
	struct lmtp_session *session = client->session;

	if ((events & (POLLIN | POLLHUP | POLLERR)) && !lmtp_session_is_closed(session))
		read_input(lmtp, client);
	if (now >= get_deadline(lmtp, client)) {
		/* Unread replies are dropped. */
		if (lmtp_session_get_output(session)->len)
			return true;
		lmtp_session_end(session, "421 4.4.2 Error: timeout exceeded");
	}
	flush_output(client, now);
	return lmtp_session_is_closed(session) &&
	       !lmtp_session_get_output(session)->len;
}

/* ---- Event loop ---- */

/* Send 421 to all clients (RFC 5321 section 3.8). */
static void
disconnect_all(struct lmtp *lmtp)
{
	for (unsigned i = 0; i < lmtp->clients->len; i++) {
		struct client *client = lmtp->clients->pdata[i];

		lmtp_session_end(client->session, "421 4.3.2 Service shutting down");
		flush_output(client, 0);
	}
	g_ptr_array_set_size(lmtp->clients, 0);
}

static int
get_wait_ms(const struct lmtp *lmtp, int64_t now)
{
	int64_t next = lmtp->is_short ? now + ACCEPT_RETRY_MS * 1000 : INT64_MAX;

	for (unsigned i = 0; i < lmtp->clients->len; i++)
		next = MIN(next, get_deadline(lmtp, lmtp->clients->pdata[i]));
	return next == INT64_MAX ? -1
	                         : (int)CLAMP((next - now + 999) / 1000, 0, G_MAXINT);
}

/* Handle one set of events. @return false when stop_fd is readable */
static bool
run_once(struct lmtp *lmtp, const struct receiver_sink *sink, int stop_fd)
{
	struct pollfd fds[1 + LMTP_LISTEN_COUNT + BOUNDS_LMTP_CLIENTS];
	unsigned count = lmtp->clients->len;
	int64_t now = g_get_monotonic_time();

	fds[0] = (struct pollfd){.fd = stop_fd, .events = POLLIN};
	for (int i = 0; i < LMTP_LISTEN_COUNT; i++)
		fds[1 + i] = (struct pollfd){
		    .fd = lmtp->is_short ? -1 : lmtp->listen.fds[i], .events = POLLIN};
	for (unsigned i = 0; i < count; i++) {
		struct client *client = lmtp->clients->pdata[i];

		fds[1 + LMTP_LISTEN_COUNT + i] =
		    (struct pollfd){.fd = client->fd, .events = get_events(client)};
	}
	if (poll(fds, 1 + LMTP_LISTEN_COUNT + count,
	        receiver_pause(sink, get_wait_ms(lmtp, now))) < 0)
		return errno == EINTR;
	receiver_wake(sink);
	if (fds[0].revents)
		return false;
	lmtp->is_short = false;
	/* Backwards, because removal moves the clients after it. */
	for (unsigned i = count; i-- > 0;)
		if (serve_client(lmtp, lmtp->clients->pdata[i],
		        fds[1 + LMTP_LISTEN_COUNT + i].revents, g_get_monotonic_time()))
			g_ptr_array_remove_index(lmtp->clients, i);
	for (int i = 0; i < LMTP_LISTEN_COUNT; i++)
		if (fds[1 + i].revents)
			accept_client(
			    lmtp, lmtp->listen.fds[i], sink, g_get_monotonic_time());
	return true;
}

static bool
lmtp_run(struct receiver *receiver, const struct receiver_sink *sink, int stop_fd,
    GError **error)
{
	struct lmtp *lmtp = (struct lmtp *)receiver;

	if (!lmtp_listen_open(&lmtp->listen, error))
		return false;
	sink->report(sink->data, NULL);
	while (run_once(lmtp, sink, stop_fd))
		continue;
	/* Stop accepting before disconnecting. */
	lmtp_listen_close(&lmtp->listen);
	disconnect_all(lmtp);
	return true;
}

static bool
lmtp_check(struct receiver *receiver, char **reported, GError **error)
{
	const struct lmtp_listen *listen = &((const struct lmtp *)receiver)->listen;

	if (!lmtp_listen_connect(listen, error))
		return false;
	*reported = g_strdup_printf("paperboyd accepts connections on %s",
	    listen->path ? listen->path : listen->tcp);
	return true;
}

static void
lmtp_free(struct receiver *receiver)
{
	struct lmtp *lmtp = (struct lmtp *)receiver;

	lmtp_listen_clear(&lmtp->listen);
	g_ptr_array_unref(lmtp->clients);
	g_free(lmtp->buffer);
	g_free(lmtp);
}

struct receiver *
lmtp_new(const struct lmtp_options *options)
{
	struct lmtp *lmtp = g_new0(struct lmtp, 1);

	lmtp->receiver = (struct receiver){
	    .kind = "lmtp", .run = lmtp_run, .check = lmtp_check, .free = lmtp_free};
	lmtp_listen_init(&lmtp->listen, options->path, options->group, options->listen);
	lmtp->times = options->times;
	lmtp->clients = g_ptr_array_new_with_free_func((GDestroyNotify)client_free);
	lmtp->buffer = g_malloc(READ_BYTES);
	return &lmtp->receiver;
}
