/*
 * lmtp_listen.c - listening sockets of the LMTP server.
 */
#include "receive/lmtp_listen.h"

#include <errno.h>
#include <grp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/listen_socket.h"

#define BACKLOG 64

/* Timeout of a check. */
#define CHECK_S 5

bool
lmtp_listen_check(const char *text, GError **error)
{
	union listen_address address;
	socklen_t size;

	return listen_address_parse(text, &address, &size, error);
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

static bool
listen_tcp(struct lmtp_listen *at, GError **error)
{
	int fd = listen_socket_open_loopback(at->tcp, BACKLOG, error);

	at->fds[LMTP_LISTEN_TCP] = fd;
	return fd >= 0;
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
	int fd = listen_socket_bind_unix(at->path, error);

	if (fd < 0)
		return false;
	at->fds[LMTP_LISTEN_UNIX] = fd;
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
	struct timeval wait = {.tv_sec = CHECK_S};
	char greeting[3];

	return setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) == 0 &&
	       setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait)) == 0 &&
	       connect(fd, address, size) == 0 &&
	       recv(fd, greeting, sizeof(greeting), MSG_WAITALL) == sizeof(greeting) &&
	       memcmp(greeting, "220", sizeof(greeting)) == 0;
}

static bool
check_one(const char *name, int family, const struct sockaddr *address, socklen_t size,
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
lmtp_listen_connect(const struct lmtp_listen *at, GError **error)
{
	struct sockaddr_un path = {.sun_family = AF_UNIX};
	union listen_address address;
	socklen_t size;

	if (at->path) {
		g_strlcpy(path.sun_path, at->path, sizeof(path.sun_path));
		if (!check_one(at->path, AF_UNIX, (const struct sockaddr *)&path,
		        sizeof(path), error))
			return false;
	}
	if (!at->tcp)
		return true;
	return listen_address_parse(at->tcp, &address, &size, error) &&
	       check_one(at->tcp, address.any.sa_family, &address.any, size, error);
}
