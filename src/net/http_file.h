/*
 * http_file.h - read a file:// URL as if it came from a server.
 */
#ifndef PAPERBOY_NET_HTTP_FILE_H
#define PAPERBOY_NET_HTTP_FILE_H

#include <glib.h>
#include <stddef.h>

/**
 * Read a regular file; never waits on a pipe or a device.
 *
 * @param url        file:// URL of this machine
 * @param max_bytes  limit of its size
 * @return its content; or NULL with PB_ERROR_NOT_FOUND when there is none,
 * PB_ERROR_LIMIT when it is larger, PB_ERROR_INPUT for another URL, PB_ERROR_TEMPORARY
 * when it cannot be read
 */
GBytes *http_file_read(const char *url, size_t max_bytes, GError **error);

#endif
