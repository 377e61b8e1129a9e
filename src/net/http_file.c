/*
 * http_file.c - read a file:// URL in place of an HTTP response.
 */
#include "net/http_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

static GBytes *
read_descriptor(int fd, const char *path, size_t max_bytes, GError **error)
{
	g_autoptr(GByteArray) content = g_byte_array_new();
	guint8 buffer[16384];
	struct stat status;

	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
		pb_fail(error, PB_ERROR_INPUT, "'%s' is not a regular file", path);
		return NULL;
	}
	for (;;) {
		ssize_t got = read(fd, buffer, sizeof(buffer));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			pb_fail(error, PB_ERROR_TEMPORARY, "cannot read '%s': %s", path,
			    g_strerror(errno));
			return NULL;
		}
		if (got == 0)
			break;
		if ((size_t)got > max_bytes - content->len) {
			pb_fail(error, PB_ERROR_LIMIT, "'%s' is larger than %zu bytes",
			    path, max_bytes);
			return NULL;
		}
		g_byte_array_append(content, buffer, (guint)got);
	}
	return g_byte_array_free_to_bytes(g_steal_pointer(&content));
}

GBytes *
http_file_read(const char *url, size_t max_bytes, GError **error)
{
	g_autofree char *host = NULL;
	g_autofree char *path = g_filename_from_uri(url, &host, NULL);
	GBytes *content;
	int fd;

	if (!path || (host && strcmp(host, "localhost") != 0)) {
		pb_fail(
		    error, PB_ERROR_INPUT, "'%s' is not a URL of a local file", url);
		return NULL;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		pb_fail(error,
		    errno == ENOENT ? PB_ERROR_NOT_FOUND : PB_ERROR_TEMPORARY,
		    "cannot open '%s': %s", path, g_strerror(errno));
		return NULL;
	}
	content = read_descriptor(fd, path, max_bytes, error);
	close(fd);
	return content;
}
