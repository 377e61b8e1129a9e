/*
 * imap_line.h - one line that an IMAP server says, looked at before it is believed.
 *
 * libetpan parses by recursion, allocates what a literal's size says, and mistakes a
 * BYE for a result.  So no byte reaches it that was not judged here first: what it
 * need not see is dropped, and what could harm it ends the connection.
 */
#ifndef PAPERBOY_RECEIVE_IMAP_LINE_H
#define PAPERBOY_RECEIVE_IMAP_LINE_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum imap_line_kind {
	IMAP_LINE_RESULT,   /* a tag and OK, NO or BAD */
	IMAP_LINE_GO_ON,    /* "+" */
	IMAP_LINE_BYE,      /* the server leaves */
	IMAP_LINE_STATUS,   /* untagged OK, NO or BAD */
	IMAP_LINE_EXISTS,   /* how many messages there are: number */
	IMAP_LINE_EXPUNGED, /* one message fewer */
	IMAP_LINE_FETCH,    /* what a message is: number */
	IMAP_LINE_DATA,     /* CAPABILITY, FLAGS, SEARCH, RECENT */
	IMAP_LINE_REST,     /* what follows a literal */
	IMAP_LINE_OTHER,    /* nothing that we asked for */
};

struct imap_line {
	enum imap_line_kind kind;
	uint32_t number; /* of a message, or of messages; 0 where there is none */
	bool has_literal;
	uint32_t literal_bytes; /* that follow the line */
};

/**
 * Judge one line.
 *
 * @param text     with its line end; at most BOUNDS_IMAP_LINE_BYTES
 * @param is_rest  whether it goes on behind a literal
 * @param line     set on success only
 * @return false with PB_ERROR_TEMPORARY for what no good server says: a NUL, an
 *         announced literal of more than BOUNDS_MAIL_BYTES + 1 or where none can be,
 *         more than BOUNDS_IMAP_PARENTHESES
 */
bool imap_line_parse(const char *text, size_t size, bool is_rest,
    struct imap_line *line, GError **error);

#endif
