/*
 * letter_wire.h - how paperboy-letter tells what it read.
 *
 *     paperboy-letter 1\n
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
#ifndef PAPERBOY_MAIL_LETTER_WIRE_H
#define PAPERBOY_MAIL_LETTER_WIRE_H

#include <glib.h>
#include <stdbool.h>

enum letter_tag {
	LETTER_TAG_REFUSED,  /* why the message is not read; nothing else is told */
	LETTER_TAG_FILTERED, /* empty: system calls are limited */
	LETTER_TAG_FROM,     /* an address, a blank, the display name or nothing */
	LETTER_TAG_SENDER,
	LETTER_TAG_REPLY_TO,
	LETTER_TAG_TO,
	LETTER_TAG_CC,
	LETTER_TAG_FROM_FIELDS, /* a number */
	LETTER_TAG_RECEIVED,    /* a number */
	LETTER_TAG_SUBJECT,
	LETTER_TAG_MESSAGE_ID,
	LETTER_TAG_IN_REPLY_TO,
	LETTER_TAG_REFERENCE,
	LETTER_TAG_DATE,        /* a number: s since the epoch */
	LETTER_TAG_RETURN_PATH, /* an address or nothing */
	LETTER_TAG_DELIVERED_TO,
	LETTER_TAG_ORIGINAL_TO,
	LETTER_TAG_MARK,           /* name, colon, blank, value */
	LETTER_TAG_AUTHENTICATION, /* a raw value; the next two are about it */
	LETTER_TAG_AUTH_SERVER,
	LETTER_TAG_AUTH_RESULT,  /* method, blank, result, blank, properties */
	LETTER_TAG_TEXT_SOURCE,  /* plain or html */
	LETTER_TAG_TEXT_CUT,     /* empty */
	LETTER_TAG_TEXT,         /* lines */
	LETTER_TAG_BODY,         /* lines */
	LETTER_TAG_REPORT,       /* delivery, feedback, disposition or other */
	LETTER_TAG_REPORT_GROUP, /* empty: the next fields are its */
	LETTER_TAG_REPORT_FIELD, /* name, colon, blank, value */
	LETTER_TAG_RETURNED,     /* name, colon, blank, value */
	LETTER_TAG_END,          /* empty, and the last */
};

#define LETTER_TAGS (LETTER_TAG_END + 1)

struct letter_record {
	enum letter_tag tag;
	char *data; /* valid UTF-8 without NUL; of one line save for texts */
};

void letter_record_free(struct letter_record *record);

/** Begin what letter_wire_append() goes on with. */
void letter_wire_begin(GString *out);

/** Append a record; the text is fit for its tag already. */
void letter_wire_append(GString *out, enum letter_tag tag, const char *data);

/**
 * Read a whole output.  Refused are: more than BOUNDS_READER_OUTPUT_BYTES, another
 * first line, unknown tags, lengths with signs, leading zeros or more than there is,
 * data that is longer than its tag may have, is not UTF-8 or has control characters,
 * more records of a tag than it may have, an end that is missing or not the last.
 *
 * @return struct letter_record in order, without the end, owned by the caller; or
 * NULL with PB_ERROR_INPUT
 */
GPtrArray *letter_wire_read(const char *data, size_t size, GError **error);

#endif
