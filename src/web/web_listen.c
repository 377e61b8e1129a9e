/*
 * web_listen.c - listening sockets of paperboy-web.
 */
#include "web/web_listen.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#ifdef HAVE_SYSTEMD
#include <systemd/sd-daemon.h>
#endif

#include "base/error.h"
#include "base/file.h"
#include "base/listen_socket.h"

#define BACKLOG   1024
#define ANY_MODE  0666
#define ADDRESSES 8 /* sockets of systemd */

#ifdef HAVE_SYSTEMD
static bool
inherit(GArray *fds, GError **error)
{
	int count = sd_listen_fds(1);

	if (count > ADDRESSES)
		return pb_fail(error, PB_ERROR_INPUT,
		    "systemd passes %d sockets, more than %d", count, ADDRESSES);
	for (int i = 0; i < count; i++) {
		int fd = SD_LISTEN_FDS_START + i;

		g_array_append_val(fds, fd);
		if (sd_is_socket(fd, AF_UNSPEC, SOCK_STREAM, 1) <= 0)
			return pb_fail(error, PB_ERROR_INPUT,
			    "socket %d of systemd is not a listening one", i + 1);
		if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0)
			return pb_fail(error, PB_ERROR_TEMPORARY,
			    "cannot use a socket of systemd: %s", g_strerror(errno));
	}
	return true;
}
#else
static bool
inherit(GArray *fds, GError **error)
{
	(void)fds;
	(void)error;
	return true;
}
#endif

bool
web_listen_check(const char *text, GError **error)
{
	union listen_address address;
	socklen_t size;

	if (!g_path_is_absolute(text))
		return listen_address_parse(text, &address, &size, error);
	if (strlen(text) >= sizeof(((struct sockaddr_un *)0)->sun_path))
		return pb_fail(
		    error, PB_ERROR_INPUT, "socket path '%s' is too long", text);
	return true;
}

bool
web_listen_open(const char *text, GArray *fds, GError **error)
{
	int fd;

	if (!inherit(fds, error))
		return false;
	if (fds->len > 0)
		return true;
	if (!g_path_is_absolute(text)) {
		fd = listen_socket_open_loopback(text, BACKLOG, error);
		if (fd >= 0)
			g_array_append_val(fds, fd);
		return fd >= 0;
	}
	fd = listen_socket_bind_unix(text, error);
	if (fd < 0)
		return false;
	g_array_append_val(fds, fd);
	return (chmod(text, ANY_MODE) == 0 && listen(fd, BACKLOG) == 0) ||
	       file_set_error("cannot listen on", text, PB_ERROR_TEMPORARY, error);
}
