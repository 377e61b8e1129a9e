/*
 * http_file.c - read a file:// URL in place of an HTTP response.
 */
#include "net/http_file.h"

#include <string.h>

#include "base/error.h"
#include "base/file.h"

GBytes *
http_file_read(const char *url, size_t max_bytes, GError **error)
{
	g_autofree char *host = NULL;
	g_autofree char *path = g_filename_from_uri(url, &host, NULL);
	struct stat status;
	GByteArray *content;

	if (!path || (host && strcmp(host, "localhost") != 0)) {
		pb_fail(
		    error, PB_ERROR_INPUT, "'%s' is not a URL of a local file", url);
		return NULL;
	}
	content = file_read(path, max_bytes, &status, error);
	if (content)
		return g_byte_array_free_to_bytes(content);
	g_prefix_error(error, "cannot read '%s': ", path);
	return NULL;
}
