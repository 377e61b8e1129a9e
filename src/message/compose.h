/*
 * compose.h - compose a message from header fields and encoded parts (RFC 5322, RFC
 * 2046).
 *
 * Pure: no clock, no random boundary. The same input gives the same bytes, so a message
 * can be composed again instead of being stored.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "message/encoding.h"
#include "message/header.h"

/* Bytes of a part. */
struct compose_span {
	const char *data;
	size_t size;
};

/* A text part, already encoded (message/encoding.h) and ending with CRLF, in one or
 * more spans. */
struct compose_part {
	const struct compose_span *spans; /* NULL: no such part */
	size_t span_count;
	enum encoding encoding;
};

/* An additional header field: a structured value for header_append_folded(). */
struct compose_header {
	const char *name;
	const char *value; /* NULL: field omitted */
};

/* An attachment: UTF-8 text, already encoded. */
struct compose_attachment {
	const char *name; /* file name, [A-Za-z0-9._-]; NULL: no attachment */
	const char *type; /* "application/json" */
	struct compose_part part;
};

struct compose_headers {
	int64_t date; /* s since the epoch, UTC */
	struct header_mailbox from;
	struct header_mailbox to;
	const char *subject;                /* any text */
	const char *message_id;             /* without angle brackets */
	const struct compose_header *extra; /* must not repeat other fields */
	size_t extra_count;
	const char *boundary;     /* needed only for more than one part */
	struct compose_part text; /* text or html may be absent */
	struct compose_part html;
	struct compose_attachment file;
};

/**
 * Compose the message: Date, From, To, Subject, Message-ID, MIME-Version, the extra
 * fields in order, then the text, or multipart/alternative with the text first, or
 * multipart/mixed with an attachment. CRLF line ends, 7-bit unless an address is not
 * ASCII, header lines of at most 998 bytes.
 *
 * @return NULL with PB_ERROR_INPUT for an invalid or repeated field, or a boundary that
 *         is malformed or occurs in a part. The parts are not searched for a boundary
 *         with "=_", which occurs in neither encoding (RFC 2045 section 6.7)
 */
GBytes *compose_message(const struct compose_headers *fields, GError **error);
