/*
 * lmtp_server.c - a mailbox that a mail server hands letters to (LMTP, RFC 2033).
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

/* When there is no descriptor for another client, look again so much later, ms. */
#define SHORT_OF_MS 1000

struct client {
	int fd;
	struct lmtp_session *session;
	int64_t heard_at;  /* of the monotonic clock, us: octets went either way */
	int64_t mail_at;   /* the last letter, or when it came */
	unsigned messages; /* of its session, as seen last */
};

struct lmtp {
	struct receiver mailbox;
	struct lmtp_listen listen;
	struct lmtp_times times;
	GPtrArray *clients;
	char *buffer;
	bool is_short; /* of descriptors */
};

/* ---- clients ---- */

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
	ssize_t put;

	if (!out->len)
		return;
	put = send(client->fd, out->str, out->len, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (put > 0) {
		g_string_erase(out, 0, put);
		client->heard_at = now;
	} else if (put < 0 && errno != EAGAIN && errno != EINTR) {
		/* Nobody is there any more. */
		lmtp_session_end(client->session, "421 4.4.2 gone");
		g_string_truncate(out, 0);
	}
}

static void
accept_client(
    struct lmtp *lmtp, int listener, const struct receiver_sink *sink, int64_t now)
{
	static const char crowded[] = "421 4.3.2 too many clients at a time\r\n";
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct client *client;

	if (fd < 0) {
		lmtp->is_short = errno == EMFILE || errno == ENFILE ||
		                 errno == ENOMEM || errno == ENOBUFS;
		return;
	}
	if (lmtp->clients->len >= BOUNDS_LMTP_CLIENTS) {
		/* A fresh socket has room for a line. */
		ssize_t put =
		    send(fd, crowded, strlen(crowded), MSG_NOSIGNAL | MSG_DONTWAIT);

		(void)put;
		close(fd);
		return;
	}
	client = g_new0(struct client, 1);
	client->fd = fd;
	client->session = lmtp_session_new(sink);
	client->heard_at = client->mail_at = now;
	g_ptr_array_add(lmtp->clients, client);
	flush_output(client, now);
}

static void
hear(struct lmtp *lmtp, struct client *client)
{
	ssize_t got = recv(client->fd, lmtp->buffer, READ_BYTES, MSG_DONTWAIT);
	unsigned messages;

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		lmtp_session_end(client->session, "421 4.4.2 gone");
		g_string_truncate(lmtp_session_get_output(client->session), 0);
		return;
	}
	lmtp_session_feed(client->session, lmtp->buffer, (size_t)got);
	/* Storing takes its time, and that is not the client's. */
	client->heard_at = g_get_monotonic_time();
	messages = lmtp_session_get_accepted(client->session);
	if (messages != client->messages)
		client->mail_at = client->heard_at;
	client->messages = messages;
}

static int64_t
deadline_of(const struct lmtp *lmtp, const struct client *client)
{
	return MIN(client->heard_at + lmtp->times.idle * 1000,
	    client->mail_at + lmtp->times.mail * 1000);
}

static short
events_of(struct client *client)
{
	size_t waiting = lmtp_session_get_output(client->session)->len;
	short events = waiting ? POLLOUT : 0;

	/* Who does not read is not heard any further. */
	if (!lmtp_session_is_closed(client->session) &&
	    waiting < BOUNDS_LMTP_OUTPUT_BYTES)
		events |= POLLIN;
	return events;
}

/* @return whether it is done with */
static bool
attend(struct lmtp *lmtp, struct client *client, short events, int64_t now)
{
	struct lmtp_session *session = client->session;

	if ((events & (POLLIN | POLLHUP | POLLERR)) && !lmtp_session_is_closed(session))
		hear(lmtp, client);
	if (now >= deadline_of(lmtp, client)) {
		/* What it does not read it has to do without. */
		if (lmtp_session_get_output(session)->len)
			return true;
		lmtp_session_end(session, "421 4.4.2 that took too long");
	}
	flush_output(client, now);
	return lmtp_session_is_closed(session) &&
	       !lmtp_session_get_output(session)->len;
}

/* ---- the loop ---- */

/* Those who wait for a command are told; who is in the middle of something sees. */
static void
say_goodbye(struct lmtp *lmtp)
{
	for (unsigned i = 0; i < lmtp->clients->len; i++) {
		struct client *client = lmtp->clients->pdata[i];

		lmtp_session_end(client->session, "421 4.3.2 paperboy stops");
		flush_output(client, 0);
	}
	g_ptr_array_set_size(lmtp->clients, 0);
}

static int
find_wait_ms(const struct lmtp *lmtp, int64_t now)
{
	int64_t next = lmtp->is_short ? now + SHORT_OF_MS * 1000 : INT64_MAX;

	for (unsigned i = 0; i < lmtp->clients->len; i++)
		next = MIN(next, deadline_of(lmtp, lmtp->clients->pdata[i]));
	return next == INT64_MAX ? -1
	                         : (int)CLAMP((next - now + 999) / 1000, 0, G_MAXINT);
}

/* One round. @return false when it is to end */
static bool
run_round(struct lmtp *lmtp, const struct receiver_sink *sink, int stop_fd)
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
		    (struct pollfd){.fd = client->fd, .events = events_of(client)};
	}
	if (poll(fds, 1 + LMTP_LISTEN_COUNT + count,
	        receiver_pause(sink, find_wait_ms(lmtp, now))) < 0)
		return errno == EINTR;
	receiver_wake(sink);
	if (fds[0].revents)
		return false;
	lmtp->is_short = false;
	/* From behind, so that those before keep their places. */
	for (unsigned i = count; i-- > 0;)
		if (attend(lmtp, lmtp->clients->pdata[i],
		        fds[1 + LMTP_LISTEN_COUNT + i].revents, g_get_monotonic_time()))
			g_ptr_array_remove_index(lmtp->clients, i);
	for (int i = 0; i < LMTP_LISTEN_COUNT; i++)
		if (fds[1 + i].revents)
			accept_client(
			    lmtp, lmtp->listen.fds[i], sink, g_get_monotonic_time());
	return true;
}

static bool
lmtp_serve(struct receiver *mailbox, const struct receiver_sink *sink, int stop_fd,
    GError **error)
{
	struct lmtp *lmtp = (struct lmtp *)mailbox;

	if (!lmtp_listen_open(&lmtp->listen, error))
		return false;
	sink->note(sink->data, NULL);
	while (run_round(lmtp, sink, stop_fd))
		continue;
	/* First nobody else comes, then those who are here are told. */
	lmtp_listen_close(&lmtp->listen);
	say_goodbye(lmtp);
	return true;
}

static bool
lmtp_probe(struct receiver *mailbox, char **reported, GError **error)
{
	const struct lmtp_listen *at = &((const struct lmtp *)mailbox)->listen;

	if (!lmtp_listen_probe(at, error))
		return false;
	*reported =
	    g_strdup_printf("paperboyd answers on %s", at->path ? at->path : at->tcp);
	return true;
}

static void
lmtp_free(struct receiver *mailbox)
{
	struct lmtp *lmtp = (struct lmtp *)mailbox;

	lmtp_listen_clear(&lmtp->listen);
	g_ptr_array_unref(lmtp->clients);
	g_free(lmtp->buffer);
	g_free(lmtp);
}

struct receiver *
lmtp_new(const struct lmtp_options *options)
{
	struct lmtp *lmtp = g_new0(struct lmtp, 1);

	lmtp->mailbox = (struct receiver){.receiver = "lmtp",
	    .serve = lmtp_serve,
	    .probe = lmtp_probe,
	    .free = lmtp_free};
	lmtp_listen_init(&lmtp->listen, options->path, options->group, options->listen);
	lmtp->times = options->times;
	lmtp->clients = g_ptr_array_new_with_free_func((GDestroyNotify)client_free);
	lmtp->buffer = g_malloc(READ_BYTES);
	return &lmtp->mailbox;
}
