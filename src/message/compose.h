/*
 * compose.h - a whole message from its fields and encoded parts (RFC 5322, RFC 2046).
 *
 * A pure function: no clock, no random boundary.  The same fields give the
 * same octets, so that a message can be composed again instead of kept.
 */
#ifndef PAPERBOY_MESSAGE_COMPOSE_H
#define PAPERBOY_MESSAGE_COMPOSE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "message/encoding.h"
#include "message/header.h"

/* Some octets of a part. */
struct compose_span {
	const char *data;
	size_t size;
};

/*
 * A text part that is encoded already (message/encoding.h) and ends with CRLF: one run,
 * or many that are copied one after the other.
 */
struct compose_part {
	const struct compose_span *runs; /* NULL: there is no such part */
	size_t run_count;
	enum encoding encoding;
};

/* One more header field: a structured value for header_append_folded(). */
struct compose_header {
	const char *name;
	const char *value; /* NULL: the field is left out */
};

/* A file that goes with the text: UTF-8 text, encoded already. */
struct compose_attachment {
	const char *name; /* of the file: [A-Za-z0-9._-]; NULL: there is none */
	const char *type; /* "application/json" */
	struct compose_part part;
};

struct compose_headers {
	int64_t date;           /* s since the epoch, UTC */
	int offset_min;         /* zone of the Date field, minutes east of UTC */
	const char *date_field; /* both by header_append_date(), made before; or NULL */
	struct header_mailbox from;
	struct header_mailbox to;
	const char *subject; /* any text */
	const char
	    *subject_field;     /* that by header_append_text(), made before; or NULL */
	const char *message_id; /* without angle brackets */
	const struct compose_header *extra; /* none that the others make */
	size_t extra_count;
	const char *boundary;     /* asked for only where there is more than one part */
	struct compose_part text; /* one of the two may be without runs: then the */
	struct compose_part html; /* other is all there is */
	struct compose_attachment file;
	const struct compose_prefix *fixed; /* or NULL */
};

/*
 * What is the same in many messages: the fields From, and MIME-Version with all that
 * follows it.  With it `from` is not looked at, and `extra` comes behind it.
 */
struct compose_prefix {
	GString *from;
	GString *rest;
};

/** Make the fixed fields. @return as compose_message(); then nothing is to be cleared
 */
bool compose_prefix_init(
    struct compose_prefix *fixed, const struct compose_headers *fields, GError **error);
void compose_prefix_clear(struct compose_prefix *fixed);

/**
 * Build the message: Date, From, To, Subject, Message-ID, MIME-Version, the extra
 * fields in their order, then the text, or multipart/alternative with the text
 * first, or multipart/mixed with a file.  CRLF everywhere, 7-bit unless an address is
 * not ASCII, header lines of at most 998 octets.
 *
 * @return NULL with PB_ERROR_INPUT where a field is no such field, comes twice, or
 *         the boundary is malformed or stands in a part.  It is not looked for where
 *         it has "=_" in it, which comes in neither encoding (RFC 2045 section 6.7)
 */
GBytes *compose_message(const struct compose_headers *fields, GError **error);

#endif
