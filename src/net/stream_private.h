/*
 * stream_private.h - constructor of an open stream, for stream_open.c.
 */
#pragma once

#include <curl/curl.h>

#include "net/stream.h"

/** Create a stream. @param easy, hello  takes them @param stop_fd  or -1 */
struct stream *stream_new_connected(CURL *easy, int fd, GPtrArray *hello, int stop_fd);
