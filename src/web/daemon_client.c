/*
 * daemon_client.c - one request to paperboyd, blocking.
 */
#include "web/daemon_client.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/frame.h"

static void
fail(GError **error, const char *doing)
{
	pb_fail(error, PB_ERROR_TEMPORARY, "cannot %s paperboyd: %s", doing,
	    g_strerror(errno));
}

/* A full backlog makes connect() wait, for as long as SO_SNDTIMEO says. */
static int
open_connection(const char *path, int timeout_s, GError **error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct timeval timeout = {.tv_sec = timeout_s};
	int fd = -1;

	if (g_strlcpy(address.sun_path, path, sizeof(address.sun_path)) >=
	    sizeof(address.sun_path))
		errno = ENAMETOOLONG;
	else
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) == 0 &&
	    connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	fail(error, "connect to");
	if (fd >= 0)
		close(fd);
	return -1;
}

struct web_reply *
daemon_client_call(
    const char *path, const struct web_request *request, int timeout_s, GError **error)
{
	gint64 deadline_us = g_get_monotonic_time() + timeout_s * G_USEC_PER_SEC;
	g_autoptr(GBytes) frame = web_request_write(request);
	g_autoptr(GBytes) reply = NULL;
	int fd;

	if (!frame) {
		pb_fail(error, PB_ERROR_INPUT, "request to paperboyd too large");
		return NULL;
	}
	fd = open_connection(path, timeout_s, error);
	if (fd < 0)
		return NULL;
	if (!frame_send(fd, frame, deadline_us))
		fail(error, "write to");
	else if (!(reply = frame_receive(fd, WEB_PROTO_REPLY_BYTES, deadline_us)))
		fail(error, "read from");
	close(fd);
	return reply ? web_reply_parse(reply, error) : NULL;
}
