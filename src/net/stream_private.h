/*
 * stream_private.h - what stream.c and stream_open.c share, and stream_imap.c.
 */
#ifndef PAPERBOY_NET_STREAM_PRIVATE_H
#define PAPERBOY_NET_STREAM_PRIVATE_H

#include <curl/curl.h>

#include "net/stream.h"

struct stream {
	CURL *easy;          /* NULL for a plain socket */
	int fd;              /* owned when easy is NULL */
	int stop_fd;         /* ends a wait once readable, or -1 */
	GPtrArray *hello;    /* of char * */
	GByteArray *inbound; /* came while we wrote; read first */
	bool is_ended;       /* the peer has closed its side */
	size_t n_written;    /* of the last call of stream_write() */
};

/* One opening under way, and what the peer has answered to libcurl so far. */
struct connecting {
	const struct stream_options *options;
	CURL *easy;
	enum stream_step step;
	GPtrArray *hello;    /* lines of the last EHLO answer */
	GString *reply;      /* the reply being read, or the last one */
	unsigned code;       /* of that reply; 0 when none has come */
	unsigned n_lines;    /* of that reply */
	bool is_reply_whole; /* its last line has come */
	bool is_secured;     /* STARTTLS was accepted */
	bool is_logged_in;
	bool is_any_login; /* not only PLAIN and LOGIN of SASL */
	bool is_garbled;   /* a line that is no reply, or too much of it */
	bool is_abandoned; /* no TCP connection within connect_ms */
	int64_t started_us;
};

/**
 * Take a line of an IMAP server's answer to libcurl, and follow its steps: CAPABILITY
 * is STREAM_STEP_HELLO.  `code` becomes 200 for OK, 400 for a refusal that may pass
 * (RFC 5530 section 3, BYE), 500 for NO and BAD.
 *
 * @return false when it is none, or too much
 */
bool
stream_imap_note_line(struct connecting *connecting, const char *line, size_t size);

/** Make the stream object. @param easy taken @param hello taken @param stop_fd or -1 */
struct stream *stream_new_connected(CURL *easy, int fd, GPtrArray *hello, int stop_fd);

#endif
