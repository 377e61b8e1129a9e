/*
 * parser_proto.h - output format of paperboy-parser.
 *
 * A serialised GVariant in the byte order of the machine: an array of records, each a
 * tag and its data.
 * The reader treats the writer as hostile: it may have been compromised by the message
 * it parses.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#include "model/inmail.h"

enum proto_tag {
	PROTO_TAG_REFUSED,  /* reason; no other records */
	PROTO_TAG_FILTERED, /* empty: system calls are filtered */
	PROTO_TAG_FROM,     /* address, blank, display name or nothing */
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
	PROTO_TAG_RETURN_PATH, /* address or nothing */
	PROTO_TAG_DELIVERED_TO,
	PROTO_TAG_ORIGINAL_TO,
	PROTO_TAG_MARK,           /* name, colon, blank, value */
	PROTO_TAG_AUTHENTICATION, /* raw value; followed by the next two */
	PROTO_TAG_AUTH_SERVER,
	PROTO_TAG_AUTH_RESULT,  /* method, blank, result, blank, properties */
	PROTO_TAG_TEXT_SOURCE,  /* plain or html */
	PROTO_TAG_TEXT_CUT,     /* empty */
	PROTO_TAG_TEXT,         /* lines */
	PROTO_TAG_BODY,         /* lines */
	PROTO_TAG_REPORT,       /* delivery, feedback, disposition or other */
	PROTO_TAG_REPORT_GROUP, /* empty: starts a group of fields */
	PROTO_TAG_REPORT_FIELD, /* name, colon, blank, value */
	PROTO_TAG_RETURNED,     /* name, colon, blank, value */
	PROTO_TAG_WORK,         /* its names, separated by blanks */
	PROTO_TAG_UNNAMED,      /* a number: entries without a name */
};

#define PROTO_TAGS (PROTO_TAG_UNNAMED + 1)

#define PROTO_TYPE "a(ys)"

/**
 * Append a record.
 *
 * @param out   of PROTO_TYPE
 * @param data  valid for the tag
 */
void parser_proto_append(GVariantBuilder *out, enum proto_tag tag, const char *data);

/**
 * Decode a complete output. Everything is validated again: the parser is not trusted.
 * Rejected: more than BOUNDS_PARSER_OUTPUT_BYTES, anything but the normal form of the
 * type, no records, unknown tags, data that is too long for its tag, not UTF-8 or with
 * control characters, too many records of a tag.
 *
 * @param mail     set on success only; NULL if the message was refused
 * @param refusal  set on success only: why it was refused, owned by the caller, or NULL
 * @return false with PB_ERROR_INPUT for invalid output
 */
bool parser_decode(const char *data, size_t size, struct inmail **mail, char **refusal,
    GError **error);
