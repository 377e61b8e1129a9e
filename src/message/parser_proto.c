/*
 * parser_proto.c - output format of paperboy-parser.
 */
#include "message/parser_proto.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"

#define FIRST_LINE "paperboy-parser 1\n"

/* Longer than any tag name. */
#define TAG_NAME_BYTES 20

/* Digits of BOUNDS_PARSER_OUTPUT_BYTES. */
#define LENGTH_DIGITS 7

#define MAILBOX_BYTES (BOUNDS_ADDRESS_BYTES + 1 + BOUNDS_PERSON_NAME_BYTES)
/* Field names are limited by the line length. */
#define FIELD_BYTES   (BOUNDS_LINE_BYTES + 2 + BOUNDS_MAIL_VALUE_BYTES)

static const struct {
	const char *name;
	size_t bytes_max;
	unsigned count_max;
	bool has_lines;
} tags[PROTO_TAGS] = {
    [PROTO_TAG_REFUSED] = {"refused", BOUNDS_MAIL_VALUE_BYTES, 1, false},
    [PROTO_TAG_FILTERED] = {"filtered", 0, 1, false},
    [PROTO_TAG_FROM] = {"from", MAILBOX_BYTES, BOUNDS_MAIL_ADDRESSES, false},
    [PROTO_TAG_SENDER] = {"sender", MAILBOX_BYTES, BOUNDS_MAIL_ADDRESSES, false},
    [PROTO_TAG_REPLY_TO] = {"reply-to", MAILBOX_BYTES, BOUNDS_MAIL_ADDRESSES, false},
    [PROTO_TAG_TO] = {"to", MAILBOX_BYTES, BOUNDS_MAIL_ADDRESSES, false},
    [PROTO_TAG_CC] = {"cc", MAILBOX_BYTES, BOUNDS_MAIL_ADDRESSES, false},
    [PROTO_TAG_FROM_FIELDS] = {"from-fields", 10, 1, false},
    [PROTO_TAG_RECEIVED] = {"received", 10, 1, false},
    [PROTO_TAG_SUBJECT] = {"subject", BOUNDS_MAIL_VALUE_BYTES, 1, false},
    [PROTO_TAG_MESSAGE_ID] = {"message-id", BOUNDS_MESSAGE_ID_BYTES, 1, false},
    [PROTO_TAG_IN_REPLY_TO] = {"in-reply-to", BOUNDS_MESSAGE_ID_BYTES, BOUNDS_MAIL_IDS,
        false},
    [PROTO_TAG_REFERENCE] = {"reference", BOUNDS_MESSAGE_ID_BYTES, BOUNDS_MAIL_IDS,
        false},
    [PROTO_TAG_DATE] = {"date", 12, 1, false},
    [PROTO_TAG_RETURN_PATH] = {"return-path", BOUNDS_ADDRESS_BYTES, 1, false},
    [PROTO_TAG_DELIVERED_TO] = {"delivered-to", BOUNDS_ADDRESS_BYTES, 1, false},
    [PROTO_TAG_ORIGINAL_TO] = {"original-to", BOUNDS_ADDRESS_BYTES, 1, false},
    [PROTO_TAG_MARK] = {"mark", FIELD_BYTES, BOUNDS_MAIL_MARKS, false},
    [PROTO_TAG_AUTHENTICATION] = {"authentication", BOUNDS_MAIL_VALUE_BYTES,
        BOUNDS_MAIL_FIELDS, false},
    [PROTO_TAG_AUTH_SERVER] = {"auth-server", BOUNDS_MAIL_VALUE_BYTES,
        BOUNDS_MAIL_FIELDS, false},
    [PROTO_TAG_AUTH_RESULT] = {"auth-result", BOUNDS_MAIL_VALUE_BYTES,
        BOUNDS_MAIL_RESULTS, false},
    [PROTO_TAG_TEXT_SOURCE] = {"text-source", 5, 1, false},
    [PROTO_TAG_TEXT_CUT] = {"text-cut", 0, 1, false},
    [PROTO_TAG_TEXT] = {"text", BOUNDS_MAIL_TEXT_BYTES, 1, true},
    [PROTO_TAG_BODY] = {"body", BOUNDS_MAIL_BODY_BYTES, 1, true},
    [PROTO_TAG_REPORT] = {"report", 11, 1, false},
    [PROTO_TAG_REPORT_GROUP] = {"report-group", 0, BOUNDS_REPORT_GROUPS, false},
    [PROTO_TAG_REPORT_FIELD] = {"report-field", FIELD_BYTES, BOUNDS_REPORT_FIELDS,
        false},
    [PROTO_TAG_RETURNED] = {"returned", FIELD_BYTES, BOUNDS_MAIL_FIELDS, false},
    [PROTO_TAG_END] = {"end", 0, 1, false},
};

struct wire {
	const char *at;
	size_t left;
	unsigned counts[PROTO_TAGS];
};

void
proto_record_free(struct proto_record *record)
{
	if (!record)
		return;
	g_free(record->data);
	g_free(record);
}

void
parser_proto_begin(GString *out)
{
	g_string_append(out, FIRST_LINE);
}

void
parser_proto_append(GString *out, enum proto_tag tag, const char *data)
{
	g_string_append_printf(out, "%s %zu\n%s\n", tags[tag].name, strlen(data), data);
}

static bool
refuse(GError **error, const char *why)
{
	g_set_error(error, PB_ERROR, PB_ERROR_INPUT, "paperboy-parser sent %s", why);
	return false;
}

static bool
read_tag(struct wire *wire, enum proto_tag *tag, GError **error)
{
	const char *end = memchr(wire->at, ' ', MIN(wire->left, TAG_NAME_BYTES));
	size_t size = end ? (size_t)(end - wire->at) : 0;

	for (unsigned i = 0; end && i < PROTO_TAGS; i++) {
		if (strlen(tags[i].name) != size ||
		    memcmp(tags[i].name, wire->at, size) != 0)
			continue;
		if (++wire->counts[i] > tags[i].count_max)
			return refuse(error, "too many records of a tag");
		wire->at += size + 1;
		wire->left -= size + 1;
		*tag = (enum proto_tag)i;
		return true;
	}
	return refuse(error, "an unknown tag");
}

static bool
read_length(struct wire *wire, size_t *length, GError **error)
{
	size_t digits = 0, value = 0;

	while (digits < wire->left && digits < LENGTH_DIGITS &&
	       g_ascii_isdigit(wire->at[digits]))
		value = value * 10 + (size_t)(wire->at[digits++] - '0');
	if (digits == 0 || (digits > 1 && wire->at[0] == '0') || digits == wire->left ||
	    wire->at[digits] != '\n')
		return refuse(error, "an invalid length");
	wire->at += digits + 1;
	wire->left -= digits + 1;
	*length = value;
	return true;
}

static bool
is_plain_text(const char *data, size_t size, bool has_lines)
{
	if (!g_utf8_validate_len(data, size, NULL))
		return false;
	for (const char *p = data; p < data + size; p = g_utf8_next_char(p)) {
		gunichar c = g_utf8_get_char(p);

		if (has_lines && (c == '\n' || c == '\t'))
			continue;
		if (c < 0x20 || (c >= 0x7f && c < 0xa0))
			return false;
	}
	return true;
}

static struct proto_record *
read_record(struct wire *wire, GError **error)
{
	struct proto_record *record;
	enum proto_tag tag = PROTO_TAG_END;
	size_t length = 0;

	if (!read_tag(wire, &tag, error) || !read_length(wire, &length, error))
		return NULL;
	if (length > tags[tag].bytes_max)
		refuse(error, "a record that is too long");
	else if (length >= wire->left || wire->at[length] != '\n')
		refuse(error, "a wrong length");
	else if (!is_plain_text(wire->at, length, tags[tag].has_lines))
		refuse(error, "data that is not plain text");
	else {
		record = g_new0(struct proto_record, 1);
		record->tag = tag;
		record->data = g_strndup(wire->at, length);
		wire->at += length + 1;
		wire->left -= length + 1;
		return record;
	}
	return NULL;
}

GPtrArray *
parser_proto_read(const char *data, size_t size, GError **error)
{
	g_autoptr(GPtrArray) records =
	    g_ptr_array_new_with_free_func((GDestroyNotify)proto_record_free);
	struct wire wire = {.at = data, .left = size};
	struct proto_record *record;

	if (size > BOUNDS_PARSER_OUTPUT_BYTES) {
		refuse(error, "too much output");
		return NULL;
	}
	if (size < strlen(FIRST_LINE) ||
	    memcmp(data, FIRST_LINE, strlen(FIRST_LINE)) != 0) {
		refuse(error, "an unknown first line");
		return NULL;
	}
	wire.at += strlen(FIRST_LINE);
	wire.left -= strlen(FIRST_LINE);
	for (;;) {
		if (wire.left == 0) {
			refuse(error, "no end record");
			return NULL;
		}
		record = read_record(&wire, error);
		if (!record)
			return NULL;
		if (record->tag == PROTO_TAG_END)
			break;
		g_ptr_array_add(records, record);
	}
	proto_record_free(record);
	if (wire.left > 0) {
		refuse(error, "data after the end");
		return NULL;
	}
	return g_steal_pointer(&records);
}
