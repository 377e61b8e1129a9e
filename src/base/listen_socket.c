/*
 * listen_socket.c - listening sockets: loopback addresses and Unix sockets.
 */
#include "base/listen_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

/* "127.0.0.1:24" or "[::1]:24". @param size  set on success */
static bool
parse_listen(const char *text, union listen_address *address, socklen_t *size)
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
listen_address_parse(
    const char *text, union listen_address *address, socklen_t *size, GError **error)
{
	if (parse_listen(text, address, size))
		return true;
	return pb_fail(error, PB_ERROR_INPUT,
	    "'%s' is not a loopback address with a port (expected e.g. 127.0.0.1:24)",
	    text);
}

static int
new_socket(int family)
{
	return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

int
listen_socket_open_loopback(const char *text, int backlog, GError **error)
{
	union listen_address address;
	socklen_t size;
	int fd, one = 1;

	if (!listen_address_parse(text, &address, &size, error))
		return -1;
	fd = new_socket(address.any.sa_family);
	if (fd >= 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0 &&
	    bind(fd, &address.any, size) == 0 && listen(fd, backlog) == 0)
		return fd;
	file_set_error("cannot listen on", text, PB_ERROR_TEMPORARY, error);
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Remove a stale socket, but not one in use. */
static bool
remove_stale(const char *path, const struct sockaddr_un *address, GError **error)
{
	struct stat status;
	bool is_alive;
	int fd;

	if (lstat(path, &status) != 0)
		return errno == ENOENT || file_set_error("cannot use the socket", path,
		                              PB_ERROR_TEMPORARY, error);
	if (!S_ISSOCK(status.st_mode))
		return pb_fail(
		    error, PB_ERROR_PERMANENT, "'%s' exists and is not a socket", path);
	fd = new_socket(AF_UNIX);
	is_alive = fd >= 0 && (connect(fd, (const struct sockaddr *)address,
	                           sizeof(*address)) == 0 ||
	                          errno == EAGAIN);
	if (fd >= 0)
		close(fd);
	if (is_alive)
		return pb_fail(
		    error, PB_ERROR_TEMPORARY, "socket '%s' is in use", path);
	return unlink(path) == 0 ||
	       file_set_error("cannot remove", path, PB_ERROR_TEMPORARY, error);
}

int
listen_socket_bind_unix(const char *path, GError **error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd;

	if (g_strlcpy(address.sun_path, path, sizeof(address.sun_path)) >=
	    sizeof(address.sun_path)) {
		pb_fail(error, PB_ERROR_INPUT, "socket path '%s' is too long", path);
		return -1;
	}
	if (!remove_stale(path, &address, error))
		return -1;
	fd = new_socket(AF_UNIX);
	if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	file_set_error("cannot create the socket", path, PB_ERROR_TEMPORARY, error);
	if (fd >= 0)
		close(fd);
	return -1;
}
