/*
 * stream_private.h - what stream.c and stream_open.c share.
 */
#ifndef PAPERBOY_NET_STREAM_PRIVATE_H
#define PAPERBOY_NET_STREAM_PRIVATE_H

#include <curl/curl.h>

#include "net/stream.h"

struct stream {
	CURL *easy;          /* NULL for a plain socket */
	int fd;              /* owned when easy is NULL */
	GPtrArray *hello;    /* of char * */
	GByteArray *inbound; /* came while we wrote; read first */
	bool is_ended;       /* the peer has closed its side */
	size_t n_written;    /* of the last call of stream_write() */
};

/** Make the stream object. @param easy taken @param hello taken */
struct stream *stream_new_connected(CURL *easy, int fd, GPtrArray *hello);

#endif
