/*
 * lmtp.c - a mailbox that a mail server hands letters to (LMTP, RFC 2033).
 */
#include "mailbox/lmtp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "mailbox/lmtp_session.h"

#define READ_BYTES (64 * 1024)
#define BACKLOG    64

/* When there is no descriptor for another client, look again so much later, ms. */
#define SHORT_OF_MS 1000

/* A probe waits so long for an answer. */
#define PROBE_S 5

enum listener { LISTENER_UNIX, LISTENER_TCP, N_LISTENERS };

struct client {
	int fd;
	struct lmtp_session *session;
	int64_t heard_at;  /* of the monotonic clock, us: octets went either way */
	int64_t letter_at; /* the last letter, or when it came */
	unsigned letters;  /* of its session, as seen last */
};

struct lmtp {
	struct mailbox mailbox;
	char *path, *group, *listen;
	struct lmtp_times times;
	int listeners[N_LISTENERS]; /* or -1 */
	bool is_bound;              /* the socket's name is ours to take away */
	GPtrArray *clients;
	char *buffer;
	bool is_short; /* of descriptors */
};

static bool
fail(GError **error, const char *what, const char *name)
{
	int code = errno;

	g_set_error(error, PB_ERROR, PB_ERROR_TEMPORARY, "cannot %s '%s': %s", what,
	    name, g_strerror(code));
	return false;
}

/* ---- where to listen ---- */

union any_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* "127.0.0.1:24" or "[::1]:24". @param size  set on success */
static bool
parse_listen(const char *text, union any_address *address, socklen_t *size)
{
	const char *colon = strrchr(text, ':');
	g_autofree char *host = colon ? g_strndup(text, (gsize)(colon - text)) : NULL;
	size_t length = host ? strlen(host) : 0;
	guint64 port;

	memset(address, 0, sizeof(*address));
	if (!colon ||
	    !g_ascii_string_to_unsigned(colon + 1, 10, 1, UINT16_MAX, &port, NULL))
		return false;
	if (inet_pton(AF_INET, host, &address->v4.sin_addr) == 1) {
		address->v4.sin_family = AF_INET;
		address->v4.sin_port = htons((uint16_t)port);
		*size = sizeof(address->v4);
		return ntohl(address->v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	}
	if (length < 2 || host[0] != '[' || host[length - 1] != ']')
		return false;
	host[length - 1] = '\0';
	address->v6.sin6_family = AF_INET6;
	address->v6.sin6_port = htons((uint16_t)port);
	*size = sizeof(address->v6);
	return inet_pton(AF_INET6, host + 1, &address->v6.sin6_addr) == 1 &&
	       IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr);
}

bool
lmtp_check_listen(const char *text, GError **error)
{
	union any_address address;
	socklen_t size;

	if (parse_listen(text, &address, &size))
		return true;
	g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
	    "'%s' is no address of this machine alone: 127.0.0.1:24 is one", text);
	return false;
}

static int
new_socket(int family)
{
	return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static bool
listen_tcp(struct lmtp *lmtp, GError **error)
{
	union any_address address;
	socklen_t size;
	int fd, one = 1;

	if (!lmtp_check_listen(lmtp->listen, error))
		return false;
	parse_listen(lmtp->listen, &address, &size);
	fd = new_socket(address.any.sa_family);
	lmtp->listeners[LISTENER_TCP] = fd;
	if (fd < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) != 0 ||
	    bind(fd, &address.any, size) != 0 || listen(fd, BACKLOG) != 0)
		return fail(error, "listen on", lmtp->listen);
	return true;
}

/* What a killed daemon left is taken away; what somebody listens on is not. */
static bool
clear_path(const char *path, const struct sockaddr_un *address, GError **error)
{
	struct stat status;
	bool is_alive;
	int fd;

	if (lstat(path, &status) != 0)
		return errno == ENOENT || fail(error, "use the socket", path);
	if (!S_ISSOCK(status.st_mode)) {
		g_set_error(error, PB_ERROR, PB_ERROR_PERMANENT,
		    "'%s' is no socket, and stays as it is", path);
		return false;
	}
	fd = new_socket(AF_UNIX);
	is_alive = fd >= 0 && (connect(fd, (const struct sockaddr *)address,
	                           sizeof(*address)) == 0 ||
	                          errno == EAGAIN);
	if (fd >= 0)
		close(fd);
	if (is_alive) {
		g_set_error(error, PB_ERROR, PB_ERROR_TEMPORARY,
		    "somebody else listens on '%s'", path);
		return false;
	}
	return unlink(path) == 0 || fail(error, "remove", path);
}

/* Ours already, in a sandbox that lets nobody change owners. */
static bool
has_group(const char *path, gid_t group)
{
	struct stat status;

	return lstat(path, &status) == 0 && status.st_gid == group;
}

/* The group first: with the mode alone a wrong one would have its chance. */
static bool
open_to_group(const struct lmtp *lmtp, GError **error)
{
	const struct group *group;

	if (!lmtp->group)
		return chmod(lmtp->path, 0600) == 0 ||
		       fail(error, "change the mode of", lmtp->path);
	group = getgrnam(lmtp->group);
	if (!group) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT, "there is no group '%s'",
		    lmtp->group);
		return false;
	}
	return ((has_group(lmtp->path, group->gr_gid) ||
	            chown(lmtp->path, (uid_t)-1, group->gr_gid) == 0) &&
	           chmod(lmtp->path, 0660) == 0) ||
	       fail(error, "change the group of", lmtp->path);
}

static bool
listen_unix(struct lmtp *lmtp, GError **error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd;

	if (g_strlcpy(address.sun_path, lmtp->path, sizeof(address.sun_path)) >=
	    sizeof(address.sun_path)) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "socket '%s': the name is too long", lmtp->path);
		return false;
	}
	if (!clear_path(lmtp->path, &address, error))
		return false;
	fd = new_socket(AF_UNIX);
	lmtp->listeners[LISTENER_UNIX] = fd;
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		return fail(error, "make the socket", lmtp->path);
	lmtp->is_bound = true;
	/* Nobody can connect before it listens, and then the mode is right. */
	return open_to_group(lmtp, error) &&
	       (listen(fd, BACKLOG) == 0 || fail(error, "listen on", lmtp->path));
}

static void
close_listeners(struct lmtp *lmtp)
{
	for (int i = 0; i < N_LISTENERS; i++) {
		if (lmtp->listeners[i] >= 0)
			close(lmtp->listeners[i]);
		lmtp->listeners[i] = -1;
	}
	if (lmtp->is_bound)
		unlink(lmtp->path);
	lmtp->is_bound = false;
}

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
    struct lmtp *lmtp, int listener, const struct mailbox_sink *sink, int64_t now)
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
	client->heard_at = client->letter_at = now;
	g_ptr_array_add(lmtp->clients, client);
	flush_output(client, now);
}

static void
hear(struct lmtp *lmtp, struct client *client)
{
	ssize_t got = recv(client->fd, lmtp->buffer, READ_BYTES, MSG_DONTWAIT);
	unsigned letters;

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
	letters = lmtp_session_get_letters(client->session);
	if (letters != client->letters)
		client->letter_at = client->heard_at;
	client->letters = letters;
}

static int64_t
deadline_of(const struct lmtp *lmtp, const struct client *client)
{
	return MIN(client->heard_at + lmtp->times.idle * 1000,
	    client->letter_at + lmtp->times.letter * 1000);
}

static short
events_of(struct client *client)
{
	size_t waiting = lmtp_session_get_output(client->session)->len;
	short events = waiting ? POLLOUT : 0;

	/* Who does not read is not heard any further. */
	if (!lmtp_session_is_over(client->session) &&
	    waiting < BOUNDS_LMTP_OUTPUT_BYTES)
		events |= POLLIN;
	return events;
}

/* @return whether it is done with */
static bool
attend(struct lmtp *lmtp, struct client *client, short events, int64_t now)
{
	struct lmtp_session *session = client->session;

	if ((events & (POLLIN | POLLHUP | POLLERR)) && !lmtp_session_is_over(session))
		hear(lmtp, client);
	if (now >= deadline_of(lmtp, client)) {
		/* What it does not read it has to do without. */
		if (lmtp_session_get_output(session)->len)
			return true;
		lmtp_session_end(session, "421 4.4.2 that took too long");
	}
	flush_output(client, now);
	return lmtp_session_is_over(session) && !lmtp_session_get_output(session)->len;
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
run_round(struct lmtp *lmtp, const struct mailbox_sink *sink, int stop_fd)
{
	struct pollfd fds[1 + N_LISTENERS + BOUNDS_LMTP_CLIENTS];
	unsigned count = lmtp->clients->len;
	int64_t now = g_get_monotonic_time();

	fds[0] = (struct pollfd){.fd = stop_fd, .events = POLLIN};
	for (int i = 0; i < N_LISTENERS; i++)
		fds[1 + i] = (struct pollfd){
		    .fd = lmtp->is_short ? -1 : lmtp->listeners[i], .events = POLLIN};
	for (unsigned i = 0; i < count; i++) {
		struct client *client = lmtp->clients->pdata[i];

		fds[1 + N_LISTENERS + i] =
		    (struct pollfd){.fd = client->fd, .events = events_of(client)};
	}
	if (poll(fds, 1 + N_LISTENERS + count,
	        mailbox_rest(sink, find_wait_ms(lmtp, now))) < 0)
		return errno == EINTR;
	mailbox_rise(sink);
	if (fds[0].revents)
		return false;
	lmtp->is_short = false;
	/* From behind, so that those before keep their places. */
	for (unsigned i = count; i-- > 0;)
		if (attend(lmtp, lmtp->clients->pdata[i],
		        fds[1 + N_LISTENERS + i].revents, g_get_monotonic_time()))
			g_ptr_array_remove_index(lmtp->clients, i);
	for (int i = 0; i < N_LISTENERS; i++)
		if (fds[1 + i].revents)
			accept_client(
			    lmtp, lmtp->listeners[i], sink, g_get_monotonic_time());
	return true;
}

static bool
lmtp_serve(struct mailbox *mailbox, const struct mailbox_sink *sink, int stop_fd,
    GError **error)
{
	struct lmtp *lmtp = (struct lmtp *)mailbox;

	if ((lmtp->path && !listen_unix(lmtp, error)) ||
	    (lmtp->listen && !listen_tcp(lmtp, error))) {
		close_listeners(lmtp);
		return false;
	}
	sink->note(sink->data, NULL);
	while (run_round(lmtp, sink, stop_fd))
		continue;
	/* First nobody else comes, then those who are here are told. */
	close_listeners(lmtp);
	say_goodbye(lmtp);
	return true;
}

/* As a mail server would begin. @return whether there was a greeting */
static bool
is_greeted(int fd, const struct sockaddr *address, socklen_t size)
{
	struct timeval wait = {.tv_sec = PROBE_S};
	char greeting[3];

	return setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) == 0 &&
	       setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait)) == 0 &&
	       connect(fd, address, size) == 0 &&
	       recv(fd, greeting, sizeof(greeting), MSG_WAITALL) == sizeof(greeting) &&
	       memcmp(greeting, "220", sizeof(greeting)) == 0;
}

static bool
probe_one(const char *name, int family, const struct sockaddr *address, socklen_t size,
    GError **error)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool is_ok;

	errno = 0;
	is_ok = fd >= 0 && is_greeted(fd, address, size);
	if (!is_ok) {
		if (!errno)
			errno = EPROTO;
		fail(error, "hand letters in at", name);
	}
	if (fd >= 0)
		close(fd);
	return is_ok;
}

static bool
lmtp_probe(struct mailbox *mailbox, char **told, GError **error)
{
	const struct lmtp *lmtp = (const struct lmtp *)mailbox;
	struct sockaddr_un path = {.sun_family = AF_UNIX};
	union any_address address;
	socklen_t size;

	if (lmtp->path) {
		g_strlcpy(path.sun_path, lmtp->path, sizeof(path.sun_path));
		if (!probe_one(lmtp->path, AF_UNIX, (const struct sockaddr *)&path,
		        sizeof(path), error))
			return false;
	}
	if (lmtp->listen) {
		if (!lmtp_check_listen(lmtp->listen, error))
			return false;
		parse_listen(lmtp->listen, &address, &size);
		if (!probe_one(
		        lmtp->listen, address.any.sa_family, &address.any, size, error))
			return false;
	}
	*told = g_strdup_printf(
	    "paperboyd answers on %s", lmtp->path ? lmtp->path : lmtp->listen);
	return true;
}

static void
lmtp_free(struct mailbox *mailbox)
{
	struct lmtp *lmtp = (struct lmtp *)mailbox;

	close_listeners(lmtp);
	g_ptr_array_unref(lmtp->clients);
	g_free(lmtp->buffer);
	g_free(lmtp->path);
	g_free(lmtp->group);
	g_free(lmtp->listen);
	g_free(lmtp);
}

struct mailbox *
lmtp_new(const struct lmtp_options *options)
{
	struct lmtp *lmtp = g_new0(struct lmtp, 1);

	lmtp->mailbox = (struct mailbox){.road = "lmtp",
	    .serve = lmtp_serve,
	    .probe = lmtp_probe,
	    .free = lmtp_free};
	lmtp->path = g_strdup(options->path);
	lmtp->group = g_strdup(options->group);
	lmtp->listen = g_strdup(options->listen);
	lmtp->times = options->times;
	lmtp->clients = g_ptr_array_new_with_free_func((GDestroyNotify)client_free);
	lmtp->buffer = g_malloc(READ_BYTES);
	for (int i = 0; i < N_LISTENERS; i++)
		lmtp->listeners[i] = -1;
	return &lmtp->mailbox;
}
