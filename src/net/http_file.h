/*
 * http_file.h - read a file:// URL in place of an HTTP response.
 */
#pragma once

#include <glib.h>
#include <stddef.h>

/**
 * Read a regular file; never blocks on a pipe or device.
 *
 * @param url        file:// URL of this host
 * @param max_bytes  maximum size
 * @return its content; or NULL with PB_ERROR_NOT_FOUND if it does not exist,
 *         PB_ERROR_LIMIT if it is larger, PB_ERROR_INPUT for another URL,
 *         PB_ERROR_TEMPORARY if it cannot be read
 */
GBytes *http_file_read(const char *url, size_t max_bytes, GError **error);
