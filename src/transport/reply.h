/*
 * reply.h - parser for SMTP replies (RFC 5321 section 4.2).
 *
 * Bounded: at most BOUNDS_REPLY_LINES lines of BOUNDS_REPLY_LINE_BYTES without their
 * line ends; only the code, the enhanced code and BOUNDS_REPLY_TEXT_BYTES of text are
 * stored. Input may come in chunks of any size. Does no I/O; classify.h interprets the
 * replies.
 */
#pragma once

#include <glib.h>
#include <stddef.h>

#include "base/bounds.h"

struct reply {
	int code;          /* 200 to 599 */
	char enhanced[12]; /* RFC 3463, of the first line that has one with the class of
	                      the code (RFC 2034 section 3); or empty */
	char text[BOUNDS_REPLY_TEXT_BYTES +
	          1]; /* code and all lines as one printable UTF-8 line */
};

enum reply_progress {
	REPLY_MORE,      /* incomplete */
	REPLY_COMPLETE,  /* complete */
	REPLY_MALFORMED, /* invalid or beyond a limit: drop the connection */
};

struct reply_parser {
	struct reply reply;
	GString *text; /* of all lines so far, truncated, unmodified */
	unsigned n_lines;
	size_t n_line; /* bytes of the current line including CR */
	enum reply_progress progress;
	char line[BOUNDS_REPLY_LINE_BYTES + 1];
};

void reply_parser_init(struct reply_parser *parser);
void reply_parser_clear(struct reply_parser *parser);

/**
 * Parse bytes up to the end of one reply.  After REPLY_COMPLETE the next call starts
 * the next reply; REPLY_MALFORMED is permanent.
 *
 * Lines end with CRLF or LF.  Malformed: no code from 200 to 599, other characters than
 * space, hyphen or line end after it, different codes within a reply, a NUL, a line too
 * long, too many lines.
 *
 * @param n_used  set: number of bytes consumed
 */
enum reply_progress reply_parser_feed(
    struct reply_parser *parser, const void *data, size_t size, size_t *n_used);

/** The reply; valid after REPLY_COMPLETE until the next call of reply_parser_feed(). */
const struct reply *reply_parser_get(const struct reply_parser *parser);

/**
 * Sanitize untrusted text for a log line: valid UTF-8, one line, no control, format or
 * separator characters, collapsed white space, at most limit bytes cut at a character.
 * Unprintable characters become '?'.
 *
 * @return a new string
 */
char *reply_format_printable(const char *text, size_t size, size_t limit);
