/*
 * frame.c - frames on a socket.
 */
#include "base/frame.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

static bool
wait_for(int fd, short events, gint64 deadline_us)
{
	struct pollfd poll_fd = {.fd = fd, .events = events};
	gint64 rest_ms;
	int count;

	do {
		rest_ms = (deadline_us - g_get_monotonic_time()) / 1000;
		count = rest_ms > 0 ? poll(&poll_fd, 1, (int)rest_ms) : 0;
	} while (count < 0 && errno == EINTR);
	if (count == 0)
		errno = ETIMEDOUT;
	return count > 0;
}

/* Move all bytes. @param events  POLLIN: receive them; POLLOUT: send them */
static bool
transfer(int fd, short events, void *data, gsize size, gint64 deadline_us)
{
	char *at = data;

	while (size > 0) {
		gssize count;

		if (!wait_for(fd, events, deadline_us))
			return false;
		count = events == POLLIN
		            ? recv(fd, at, size, MSG_DONTWAIT)
		            : send(fd, at, size, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (count == 0)
			errno = ECONNRESET;
		if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN))
			return false;
		if (count > 0) {
			at += count;
			size -= (gsize)count;
		}
	}
	return true;
}

GBytes *
frame_receive(int fd, gsize maximum, gint64 deadline_us)
{
	guint32 size;
	g_autofree void *data = NULL;

	if (!transfer(fd, POLLIN, &size, sizeof(size), deadline_us))
		return NULL;
	size = GUINT32_FROM_LE(size);
	if (!size || size > maximum) {
		errno = EMSGSIZE;
		return NULL;
	}
	data = g_malloc(size);
	return transfer(fd, POLLIN, data, size, deadline_us)
	           ? g_bytes_new_take(g_steal_pointer(&data), size)
	           : NULL;
}

bool
frame_send(int fd, GBytes *frame, gint64 deadline_us)
{
	gsize size;
	const void *data = g_bytes_get_data(frame, &size);

	return transfer(fd, POLLOUT, (void *)data, size, deadline_us);
}
