/*
 * reply.h - reading the replies of an SMTP server (RFC 5321 section 4.2).
 *
 * Bounded: at most BOUNDS_REPLY_LINES lines of BOUNDS_REPLY_LINE_BYTES without
 * their line ends, and none of it is kept but the code, the enhanced code and
 * BOUNDS_REPLY_TEXT_BYTES of text.  Fed with bytes as they come, in pieces of any
 * size.  Does no I/O; what a reply means is in classify.h.
 */
#ifndef PAPERBOY_TRANSPORT_REPLY_H
#define PAPERBOY_TRANSPORT_REPLY_H

#include <glib.h>
#include <stddef.h>

#include "base/bounds.h"

struct reply {
	int code;          /* 200 to 599 */
	char enhanced[12]; /* RFC 3463, of the first line that has one whose class is
	                      the code's first digit (RFC 2034 section 3); else empty */
	char text[BOUNDS_REPLY_TEXT_BYTES + 1]; /* code and all lines as one line, valid
	                                           UTF-8, all printable */
};

enum reply_progress {
	REPLY_MORE,      /* not at its end yet */
	REPLY_WHOLE,     /* the reply is there */
	REPLY_MALFORMED, /* this is no reply, or it is past a limit: drop the connection
	                  */
};

struct reply_parser {
	struct reply reply;
	GString *text; /* of all lines so far, bounded, as it came */
	unsigned n_lines;
	size_t n_line; /* octets of the line so far, with a CR at its end */
	enum reply_progress progress;
	char line[BOUNDS_REPLY_LINE_BYTES + 1];
};

void reply_parser_init(struct reply_parser *parser);
void reply_parser_clear(struct reply_parser *parser);

/**
 * Feed bytes up to the end of one reply.  After REPLY_WHOLE the next call begins
 * the next reply; after REPLY_MALFORMED it stays malformed.
 *
 * Lines end with CRLF; a bare LF is taken too.  Malformed are: no three digits from
 * 200 to 599, another mark than space, hyphen or line end behind them, lines of one
 * reply with different codes, a NUL, a line too long, too many lines.
 *
 * @param n_used  set: how many bytes belonged to this reply
 */
enum reply_progress reply_parser_feed(
    struct reply_parser *parser, const void *data, size_t size, size_t *n_used);

/** Get the reply; valid after REPLY_WHOLE until the next feed. */
const struct reply *reply_parser_get(const struct reply_parser *parser);

/**
 * Make foreign text fit for a log line: valid UTF-8, one line, no control, format or
 * separator characters, runs of white space as one space, at most limit bytes cut at
 * a character.  What cannot be shown is '?'.
 *
 * @return a new string
 */
char *reply_format_printable(const char *text, size_t size, size_t limit);

#endif
