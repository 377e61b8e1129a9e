/*
 * stream.c - I/O on an open stream, with deadlines.
 */
#include "net/stream.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <glib-unix.h>

#include "base/bounds.h"
#include "base/error.h"
#include "net/stream_private.h"

struct stream {
	CURL *easy;          /* NULL for a plain socket */
	int fd;              /* owned when easy is NULL */
	int stop_fd;         /* readable: ends a wait; or -1 */
	GPtrArray *hello;    /* of char * */
	GByteArray *inbound; /* received while writing; read first */
	bool is_ended;       /* end of file from the peer */
	size_t n_written;    /* of the last stream_write() */
};

enum progress {
	PROGRESS_SOME,  /* bytes transferred; 0 bytes received: end of file */
	PROGRESS_AGAIN, /* not ready */
	PROGRESS_BROKEN,
};

struct stream *
stream_new_connected(CURL *easy, int fd, GPtrArray *hello, int stop_fd)
{
	struct stream *stream = g_new0(struct stream, 1);

	stream->easy = easy;
	stream->fd = fd;
	stream->stop_fd = stop_fd;
	stream->hello = hello;
	stream->inbound = g_byte_array_new();
	return stream;
}

struct stream *
stream_new_socket(int fd, const char *const *hello)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);

	for (; hello && *hello; hello++)
		g_ptr_array_add(lines, g_strdup(*hello));
	if (!g_unix_set_fd_nonblocking(fd, TRUE, NULL))
		g_assert_not_reached();
	return stream_new_connected(NULL, fd, lines, -1);
}

void
stream_free(struct stream *stream)
{
	if (!stream)
		return;
	if (stream->easy)
		curl_easy_cleanup(stream->easy);
	else
		close(stream->fd);
	g_ptr_array_unref(stream->hello);
	g_byte_array_unref(stream->inbound);
	g_free(stream);
}

const GPtrArray *
stream_get_hello(const struct stream *stream)
{
	return stream->hello;
}

static enum progress
progress_from_errno(GError **error)
{
	int number = errno;

	if (number == EAGAIN || number == EWOULDBLOCK || number == EINTR)
		return PROGRESS_AGAIN;
	pb_fail(error, PB_ERROR_TEMPORARY, "connection lost: %s", g_strerror(number));
	return PROGRESS_BROKEN;
}

static enum progress
progress_from_curl(CURLcode code, GError **error)
{
	if (code == CURLE_OK)
		return PROGRESS_SOME;
	if (code == CURLE_AGAIN)
		return PROGRESS_AGAIN;
	pb_fail(
	    error, PB_ERROR_TEMPORARY, "connection lost: %s", curl_easy_strerror(code));
	return PROGRESS_BROKEN;
}

static enum progress
send_some(struct stream *stream, const void *data, size_t size, size_t *n_sent,
    GError **error)
{
	ssize_t n;

	if (stream->easy)
		return progress_from_curl(
		    curl_easy_send(stream->easy, data, size, n_sent), error);
	n = send(stream->fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n < 0)
		return progress_from_errno(error);
	*n_sent = (size_t)n;
	return PROGRESS_SOME;
}

static enum progress
receive_some(struct stream *stream, void *buffer, size_t size, size_t *n_received,
    GError **error)
{
	ssize_t n;

	if (stream->easy)
		return progress_from_curl(
		    curl_easy_recv(stream->easy, buffer, size, n_received), error);
	n = recv(stream->fd, buffer, size, MSG_DONTWAIT);
	if (n < 0)
		return progress_from_errno(error);
	*n_received = (size_t)n;
	return PROGRESS_SOME;
}

void
stream_set_stop(struct stream *stream, int stop_fd)
{
	stream->stop_fd = stop_fd;
}

bool
stream_is_stopped(int stop_fd)
{
	struct pollfd item = {.fd = stop_fd, .events = POLLIN};

	return poll(&item, 1, 0) > 0;
}

/* Wait for any of the events. @return false at the deadline */
static bool
wait_ready(const struct stream *stream, short events, int64_t deadline, GError **error)
{
	struct pollfd items[] = {{.fd = stream->fd, .events = events},
	    {.fd = stream->stop_fd, .events = POLLIN}};

	for (;;) {
		int64_t left_us = deadline - g_get_monotonic_time();
		int n;

		if (left_us <= 0)
			break;
		n = poll(items, G_N_ELEMENTS(items),
		    (int)MIN((left_us + 999) / 1000, INT_MAX));
		if (n > 0 && items[1].revents)
			return pb_fail(
			    error, PB_ERROR_TEMPORARY, "interrupted by shutdown");
		if (n > 0)
			return true;
		if (n < 0 && errno != EINTR)
			return pb_fail(error, PB_ERROR_TEMPORARY,
			    "cannot wait for the peer: %s", g_strerror(errno));
	}
	return pb_fail(error, PB_ERROR_TEMPORARY, "timed out waiting for the server");
}

/* Read while writing. Errors are ignored here: the following write fails as well, and
 * data received before stays readable. */
static void
take_inbound(struct stream *stream)
{
	uint8_t chunk[4096];

	while (
	    !stream->is_ended && stream->inbound->len < BOUNDS_STREAM_INBOUND_BYTES) {
		size_t room = BOUNDS_STREAM_INBOUND_BYTES - stream->inbound->len;
		size_t n = 0;

		if (receive_some(stream, chunk, MIN(sizeof(chunk), room), &n, NULL) !=
		    PROGRESS_SOME)
			return;
		if (n == 0)
			stream->is_ended = true;
		g_byte_array_append(stream->inbound, chunk, (guint)n);
	}
}

bool
stream_write(struct stream *stream, const void *data, size_t size, int64_t deadline,
    GError **error)
{
	const uint8_t *bytes = data;

	stream->n_written = 0;
	while (size > 0) {
		size_t n = 0;
		short events = POLLOUT;

		switch (send_some(stream, bytes, size, &n, error)) {
		case PROGRESS_SOME:
			bytes += n;
			size -= n;
			stream->n_written += n;
			continue;
		case PROGRESS_BROKEN:
			take_inbound(stream);
			return false;
		case PROGRESS_AGAIN:
			break;
		}
		take_inbound(stream);
		if (!stream->is_ended &&
		    stream->inbound->len < BOUNDS_STREAM_INBOUND_BYTES)
			events |= POLLIN;
		if (!wait_ready(stream, events, deadline, error))
			return false;
	}
	return true;
}

size_t
stream_get_written(const struct stream *stream)
{
	return stream->n_written;
}

gssize
stream_read(
    struct stream *stream, void *buffer, size_t size, int64_t deadline, GError **error)
{
	g_assert(size > 0);
	if (stream->inbound->len > 0) {
		size_t n = MIN(size, stream->inbound->len);

		memcpy(buffer, stream->inbound->data, n);
		g_byte_array_remove_range(stream->inbound, 0, (guint)n);
		return (gssize)n;
	}
	while (!stream->is_ended) {
		size_t n = 0;

		switch (receive_some(stream, buffer, size, &n, error)) {
		case PROGRESS_SOME:
			if (n > 0)
				return (gssize)n;
			stream->is_ended = true;
			continue;
		case PROGRESS_BROKEN:
			return -1;
		case PROGRESS_AGAIN:
			break;
		}
		if (!wait_ready(stream, POLLIN, deadline, error))
			return -1;
	}
	return 0;
}
