/*
 * daemon_client.c - one request to paperboyd, blocking.
 */
#include "web/daemon_client.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"

#define LENGTH_BYTES 4

struct exchange {
	int fd;
	gint64 deadline; /* monotonic, us */
};

static void
exchange_clear(struct exchange *exchange)
{
	if (exchange->fd >= 0)
		close(exchange->fd);
}

static bool
fail(GError **error, const char *doing)
{
	return pb_fail(error, PB_ERROR_TEMPORARY, "cannot %s paperboyd: %s", doing,
	    g_strerror(errno));
}

/* @return false with errno at the deadline */
static bool
wait_for(const struct exchange *exchange, short events)
{
	struct pollfd poll_fd = {.fd = exchange->fd, .events = events};
	gint64 rest_ms;
	int count;

	do {
		rest_ms = (exchange->deadline - g_get_monotonic_time()) / 1000;
		count = rest_ms > 0 ? poll(&poll_fd, 1, (int)rest_ms) : 0;
	} while (count < 0 && errno == EINTR);
	if (count == 0)
		errno = ETIMEDOUT;
	return count > 0;
}

/* A full backlog makes connect() wait, for as long as SO_SNDTIMEO says. */
static bool
open_connection(
    struct exchange *exchange, const char *path, int timeout_s, GError **error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct timeval timeout = {.tv_sec = timeout_s};

	if (g_strlcpy(address.sun_path, path, sizeof(address.sun_path)) >=
	    sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return fail(error, "connect to");
	}
	exchange->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (exchange->fd < 0 ||
	    setsockopt(exchange->fd, SOL_SOCKET, SO_SNDTIMEO, &timeout,
	        sizeof(timeout)) != 0 ||
	    connect(exchange->fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		return fail(error, "connect to");
	return true;
}

static bool
send_all(const struct exchange *exchange, GBytes *frame, GError **error)
{
	gsize size;
	const char *data = g_bytes_get_data(frame, &size);

	while (size > 0) {
		gssize sent;

		if (!wait_for(exchange, POLLOUT))
			return fail(error, "write to");
		sent = send(exchange->fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent < 0 && errno != EINTR && errno != EAGAIN)
			return fail(error, "write to");
		if (sent > 0) {
			data += sent;
			size -= (gsize)sent;
		}
	}
	return true;
}

static bool
receive_all(const struct exchange *exchange, void *buffer, gsize size, GError **error)
{
	char *at = buffer;

	while (size > 0) {
		gssize got;

		if (!wait_for(exchange, POLLIN))
			return fail(error, "read from");
		got = recv(exchange->fd, at, size, MSG_DONTWAIT);
		if (got == 0)
			errno = ECONNRESET;
		if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN))
			return fail(error, "read from");
		if (got > 0) {
			at += got;
			size -= (gsize)got;
		}
	}
	return true;
}

struct web_reply *
daemon_client_call(
    const char *path, const struct web_request *request, int timeout_s, GError **error)
{
	pb_local(exchange) exchange = {
	    .fd = -1, .deadline = g_get_monotonic_time() + timeout_s * G_USEC_PER_SEC};
	g_autoptr(GBytes) frame = web_request_write(request);
	g_autoptr(GBytes) reply = NULL;
	guint8 length[LENGTH_BYTES];
	g_autofree guint8 *data = NULL;
	gsize size;

	if (!frame) {
		pb_fail(error, PB_ERROR_INPUT, "request to paperboyd too large");
		return NULL;
	}
	if (!open_connection(&exchange, path, timeout_s, error) ||
	    !send_all(&exchange, frame, error) ||
	    !receive_all(&exchange, length, sizeof(length), error))
		return NULL;
	size = web_proto_get_size(length, WEB_PROTO_REPLY_BYTES);
	if (!size) {
		pb_fail(error, PB_ERROR_INPUT, "invalid reply of paperboyd");
		return NULL;
	}
	data = g_malloc(size);
	if (!receive_all(&exchange, data, size, error))
		return NULL;
	reply = g_bytes_new_take(g_steal_pointer(&data), size);
	return web_reply_parse(reply, error);
}
