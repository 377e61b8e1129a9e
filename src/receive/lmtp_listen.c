/*
 * lmtp_listen.c - listening sockets of the LMTP server.
 */
#include "receive/lmtp_listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

#define BACKLOG 64

/* Timeout of a probe. */
#define PROBE_S 5

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

static bool
parse_address(
    const char *text, union any_address *address, socklen_t *size, GError **error)
{
	if (parse_listen(text, address, size))
		return true;
	return pb_fail(error, PB_ERROR_INPUT,
	    "'%s' is not a loopback address with a port (expected e.g. 127.0.0.1:24)",
	    text);
}

bool
lmtp_listen_check(const char *text, GError **error)
{
	union any_address address;
	socklen_t size;

	return parse_address(text, &address, &size, error);
}

void
lmtp_listen_init(
    struct lmtp_listen *at, const char *path, const char *group, const char *tcp)
{
	*at = (struct lmtp_listen){
	    .path = g_strdup(path),
	    .group = g_strdup(group),
	    .tcp = g_strdup(tcp),
	};
	for (int i = 0; i < LMTP_LISTEN_COUNT; i++)
		at->fds[i] = -1;
}

void
lmtp_listen_clear(struct lmtp_listen *at)
{
	lmtp_listen_close(at);
	g_free(at->path);
	g_free(at->group);
	g_free(at->tcp);
}

static int
new_socket(int family)
{
	return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static bool
listen_tcp(struct lmtp_listen *at, GError **error)
{
	union any_address address;
	socklen_t size;
	int fd, one = 1;

	if (!parse_address(at->tcp, &address, &size, error))
		return false;
	fd = new_socket(address.any.sa_family);
	at->fds[LMTP_LISTEN_TCP] = fd;
	if (fd < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) != 0 ||
	    bind(fd, &address.any, size) != 0 || listen(fd, BACKLOG) != 0)
		return file_set_error(
		    "cannot listen on", at->tcp, PB_ERROR_TEMPORARY, error);
	return true;
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

/* The group may be right although chown() is forbidden. */
static bool
has_group(const char *path, gid_t group)
{
	struct stat status;

	return lstat(path, &status) == 0 && status.st_gid == group;
}

/* Group before mode, so that no other group gets access. */
static bool
set_permissions(const struct lmtp_listen *at, GError **error)
{
	const struct group *group;

	if (!at->group)
		return chmod(at->path, 0600) == 0 ||
		       file_set_error("cannot change the mode of", at->path,
		           PB_ERROR_TEMPORARY, error);
	group = getgrnam(at->group);
	if (!group)
		return pb_fail(error, PB_ERROR_INPUT, "no such group '%s'", at->group);
	return ((has_group(at->path, group->gr_gid) ||
	            chown(at->path, (uid_t)-1, group->gr_gid) == 0) &&
	           chmod(at->path, 0660) == 0) ||
	       file_set_error(
	           "cannot change the group of", at->path, PB_ERROR_TEMPORARY, error);
}

static bool
listen_unix(struct lmtp_listen *at, GError **error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd;

	if (g_strlcpy(address.sun_path, at->path, sizeof(address.sun_path)) >=
	    sizeof(address.sun_path))
		return pb_fail(
		    error, PB_ERROR_INPUT, "socket path '%s' is too long", at->path);
	if (!remove_stale(at->path, &address, error))
		return false;
	fd = new_socket(AF_UNIX);
	at->fds[LMTP_LISTEN_UNIX] = fd;
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		return file_set_error(
		    "cannot create the socket", at->path, PB_ERROR_TEMPORARY, error);
	at->is_bound = true;
	/* Connections are refused until listen(), when the mode is set. */
	return set_permissions(at, error) &&
	       (listen(fd, BACKLOG) == 0 || file_set_error("cannot listen on", at->path,
	                                        PB_ERROR_TEMPORARY, error));
}

void
lmtp_listen_close(struct lmtp_listen *at)
{
	for (int i = 0; i < LMTP_LISTEN_COUNT; i++) {
		if (at->fds[i] >= 0)
			close(at->fds[i]);
		at->fds[i] = -1;
	}
	if (at->is_bound)
		unlink(at->path);
	at->is_bound = false;
}

bool
lmtp_listen_open(struct lmtp_listen *at, GError **error)
{
	if ((at->path && !listen_unix(at, error)) ||
	    (at->tcp && !listen_tcp(at, error))) {
		lmtp_listen_close(at);
		return false;
	}
	return true;
}

/* @return whether a 220 greeting was received */
static bool
read_greeting(int fd, const struct sockaddr *address, socklen_t size)
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
	is_ok = fd >= 0 && read_greeting(fd, address, size);
	if (!is_ok) {
		if (!errno)
			errno = EPROTO;
		file_set_error(
		    "no LMTP greeting from", name, PB_ERROR_TEMPORARY, error);
	}
	if (fd >= 0)
		close(fd);
	return is_ok;
}

bool
lmtp_listen_probe(const struct lmtp_listen *at, GError **error)
{
	struct sockaddr_un path = {.sun_family = AF_UNIX};
	union any_address address;
	socklen_t size;

	if (at->path) {
		g_strlcpy(path.sun_path, at->path, sizeof(path.sun_path));
		if (!probe_one(at->path, AF_UNIX, (const struct sockaddr *)&path,
		        sizeof(path), error))
			return false;
	}
	if (!at->tcp)
		return true;
	return parse_address(at->tcp, &address, &size, error) &&
	       probe_one(at->tcp, address.any.sa_family, &address.any, size, error);
}
