/*
 * parser_proto.h - how paperboy-parser tells what it read.
 *
 *     paperboy-parser 1\n
 *     from 21\n
 *     eva@example.org Eva E\n
 *     ...
 *     end 0\n
 *     \n
 *
 * A record is the name of its tag, a blank, the number of octets, a line feed, the
 * octets, and a line feed.  Whoever reads treats the writer as hostile: it parses
 * foreign messages, and may have been taken over by one.
 */
#ifndef PAPERBOY_MESSAGE_PARSER_PROTO_H
#define PAPERBOY_MESSAGE_PARSER_PROTO_H

#include <glib.h>
#include <stdbool.h>

enum proto_tag {
	PROTO_TAG_REFUSED,  /* why the message is not read; nothing else is told */
	PROTO_TAG_FILTERED, /* empty: system calls are limited */
	PROTO_TAG_FROM,     /* an address, a blank, the display name or nothing */
	PROTO_TAG_SENDER,
	PROTO_TAG_REPLY_TO,
	PROTO_TAG_TO,
	PROTO_TAG_CC,
	PROTO_TAG_FROM_FIELDS, /* a number */
	PROTO_TAG_RECEIVED,    /* a number */
	PROTO_TAG_SUBJECT,
	PROTO_TAG_MESSAGE_ID,
	PROTO_TAG_IN_REPLY_TO,
	PROTO_TAG_REFERENCE,
	PROTO_TAG_DATE,        /* a number: s since the epoch */
	PROTO_TAG_RETURN_PATH, /* an address or nothing */
	PROTO_TAG_DELIVERED_TO,
	PROTO_TAG_ORIGINAL_TO,
	PROTO_TAG_MARK,           /* name, colon, blank, value */
	PROTO_TAG_AUTHENTICATION, /* a raw value; the next two are about it */
	PROTO_TAG_AUTH_SERVER,
	PROTO_TAG_AUTH_RESULT,  /* method, blank, result, blank, properties */
	PROTO_TAG_TEXT_SOURCE,  /* plain or html */
	PROTO_TAG_TEXT_CUT,     /* empty */
	PROTO_TAG_TEXT,         /* lines */
	PROTO_TAG_BODY,         /* lines */
	PROTO_TAG_REPORT,       /* delivery, feedback, disposition or other */
	PROTO_TAG_REPORT_GROUP, /* empty: the next fields are its */
	PROTO_TAG_REPORT_FIELD, /* name, colon, blank, value */
	PROTO_TAG_RETURNED,     /* name, colon, blank, value */
	PROTO_TAG_END,          /* empty, and the last */
};

#define PROTO_TAGS (PROTO_TAG_END + 1)

struct proto_record {
	enum proto_tag tag;
	char *data; /* valid UTF-8 without NUL; of one line save for texts */
};

void proto_record_free(struct proto_record *record);

/** Begin what parser_proto_append() goes on with. */
void parser_proto_begin(GString *out);

/** Append a record; the text is fit for its tag already. */
void parser_proto_append(GString *out, enum proto_tag tag, const char *data);

/**
 * Read a whole output.  Refused are: more than BOUNDS_PARSER_OUTPUT_BYTES, another
 * first line, unknown tags, lengths with signs, leading zeros or more than there is,
 * data that is longer than its tag may have, is not UTF-8 or has control characters,
 * more records of a tag than it may have, an end that is missing or not the last.
 *
 * @return struct proto_record in order, without the end, owned by the caller; or
 * NULL with PB_ERROR_INPUT
 */
GPtrArray *parser_proto_read(const char *data, size_t size, GError **error);

#endif
