/*
 * parser_proto.c - output format of paperboy-parser.
 */
#include "message/parser_proto.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "message/address.h"

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

struct proto_record {
	enum proto_tag tag;
	char *data; /* valid UTF-8 without NUL; one line except for texts */
};

struct wire {
	const char *at;
	size_t left;
	unsigned counts[PROTO_TAGS];
};

static void
free_record(struct proto_record *record)
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

/* @return of struct proto_record *, without the end; NULL with PB_ERROR_INPUT */
static GPtrArray *
read_records(const char *data, size_t size, GError **error)
{
	g_autoptr(GPtrArray) records =
	    g_ptr_array_new_with_free_func((GDestroyNotify)free_record);
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
	free_record(record);
	if (wire.left > 0) {
		refuse(error, "data after the end");
		return NULL;
	}
	return g_steal_pointer(&records);
}

/* ---- decoding ---- */

#define DATE_MAX G_GINT64_CONSTANT(253402300799) /* end of the year 9999 */

static bool
take_address(char **out, const char *data, GError **error)
{
	struct address address = {0};

	if (!address_parse(data, &address, NULL) || strcmp(address.text, data) != 0) {
		address_clear(&address);
		return refuse(error, "an invalid address");
	}
	g_free(*out);
	*out = g_steal_pointer(&address.text);
	address_clear(&address);
	return true;
}

static bool
take_mailbox(GPtrArray *list, const char *data, GError **error)
{
	const char *blank = strchr(data, ' ');
	g_autofree char *spec = blank ? g_strndup(data, (size_t)(blank - data)) : NULL;
	g_autofree char *address = NULL;

	if (!blank)
		return refuse(error, "a mailbox without a blank");
	if (!take_address(&address, spec, error))
		return false;
	g_ptr_array_add(list, inmail_address_new(address, blank[1] ? blank + 1 : NULL));
	return true;
}

static bool
take_number(int64_t *out, const char *data, int64_t max, GError **error)
{
	gint64 value = 0;

	if (!g_ascii_string_to_signed(data, 10, 0, max, &value, NULL))
		return refuse(error, "an invalid number");
	*out = value;
	return true;
}

static bool
take_count(unsigned *out, const char *data, GError **error)
{
	int64_t value = 0;

	if (!take_number(&value, data, G_MAXINT, error))
		return false;
	*out = (unsigned)value;
	return true;
}

static bool
is_id(const char *data)
{
	for (const char *p = data; *p; p++)
		if (!g_ascii_isgraph(*p) || *p == '<' || *p == '>')
			return false;
	return data[0] != '\0';
}

static bool
take_id(char **out, const char *data, GError **error)
{
	if (!is_id(data))
		return refuse(error, "an invalid message id");
	g_free(*out);
	*out = g_strdup(data);
	return true;
}

static bool
add_id(GPtrArray *list, const char *data, GError **error)
{
	char *id = NULL;

	if (!take_id(&id, data, error))
		return false;
	g_ptr_array_add(list, id);
	return true;
}

static bool
add_field(GPtrArray *list, const char *data, GError **error)
{
	const char *colon = strstr(data, ": ");
	g_autofree char *name = colon ? g_strndup(data, (size_t)(colon - data)) : NULL;

	if (!colon || colon == data)
		return refuse(error, "a field without a name");
	for (const char *p = name; *p; p++)
		if (!g_ascii_isgraph(*p))
			return refuse(error, "an invalid field name");
	g_ptr_array_add(list, inmail_field_new(name, colon + 2));
	return true;
}

static bool
take_text(char **out, const char *data)
{
	g_free(*out);
	*out = g_strdup(data);
	return true;
}

static struct auth_results *
get_authentication(struct inmail *mail, GError **error)
{
	GPtrArray *all = mail->authentications;

	if (all->len > 0)
		return all->pdata[all->len - 1];
	refuse(error, "a result without authentication");
	return NULL;
}

static bool
add_result(struct inmail *mail, const char *data, GError **error)
{
	struct auth_results *of = get_authentication(mail, error);
	g_auto(GStrv) words = g_strsplit(data, " ", 3);

	if (!of)
		return false;
	if (g_strv_length(words) != 3 || !words[0][0] || !words[1][0])
		return refuse(error, "an invalid result");
	g_ptr_array_add(of->results, auth_result_new(words[0], words[1], words[2]));
	return true;
}

static bool
take_server(struct inmail *mail, const char *data, GError **error)
{
	struct auth_results *of = get_authentication(mail, error);

	return of && take_text(&of->server, data);
}

static bool
take_source(struct inmail *mail, const char *data, GError **error)
{
	if (!strcmp(data, "plain"))
		mail->source = INMAIL_SOURCE_PLAIN;
	else if (!strcmp(data, "html"))
		mail->source = INMAIL_SOURCE_HTML;
	else
		return refuse(error, "an invalid text source");
	return true;
}

static bool
take_report(struct inmail *mail, const char *data, GError **error)
{
	static const struct {
		const char *name;
		enum inmail_report report;
	} reports[] = {
	    {"delivery", INMAIL_REPORT_DELIVERY},
	    {"feedback", INMAIL_REPORT_FEEDBACK},
	    {"disposition", INMAIL_REPORT_DISPOSITION},
	    {"other", INMAIL_REPORT_OTHER},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(reports); i++) {
		if (!strcmp(data, reports[i].name)) {
			mail->report = reports[i].report;
			return true;
		}
	}
	return refuse(error, "an invalid kind of report");
}

static bool
add_report_field(struct inmail *mail, const char *data, GError **error)
{
	GPtrArray *groups = mail->groups;

	if (groups->len == 0)
		return refuse(error, "a field without a group");
	return add_field(groups->pdata[groups->len - 1], data, error);
}

static bool
take_record(struct inmail *mail, enum proto_tag tag, const char *data, GError **error)
{
	switch (tag) {
	case PROTO_TAG_REFUSED:
		return refuse(error, "a refusal and other records");
	case PROTO_TAG_FILTERED:
		mail->is_filtered = true;
		return true;
	case PROTO_TAG_FROM:
		return take_mailbox(mail->from, data, error);
	case PROTO_TAG_SENDER:
		return take_mailbox(mail->sender, data, error);
	case PROTO_TAG_REPLY_TO:
		return take_mailbox(mail->reply_to, data, error);
	case PROTO_TAG_TO:
		return take_mailbox(mail->to, data, error);
	case PROTO_TAG_CC:
		return take_mailbox(mail->cc, data, error);
	case PROTO_TAG_FROM_FIELDS:
		return take_count(&mail->from_fields, data, error);
	case PROTO_TAG_RECEIVED:
		return take_count(&mail->received, data, error);
	case PROTO_TAG_SUBJECT:
		return take_text(&mail->subject, data);
	case PROTO_TAG_MESSAGE_ID:
		return take_id(&mail->message_id, data, error);
	case PROTO_TAG_IN_REPLY_TO:
		return add_id(mail->in_reply_to, data, error);
	case PROTO_TAG_REFERENCE:
		return add_id(mail->references, data, error);
	case PROTO_TAG_DATE:
		return take_number(&mail->sent_at, data, DATE_MAX, error);
	case PROTO_TAG_RETURN_PATH:
		return data[0] ? take_address(&mail->return_path, data, error)
		               : take_text(&mail->return_path, data);
	case PROTO_TAG_DELIVERED_TO:
		return take_address(&mail->delivered_to, data, error);
	case PROTO_TAG_ORIGINAL_TO:
		return take_address(&mail->original_to, data, error);
	case PROTO_TAG_MARK:
		return add_field(mail->marks, data, error);
	case PROTO_TAG_AUTHENTICATION:
		g_ptr_array_add(mail->authentications, auth_results_new(data));
		return true;
	case PROTO_TAG_AUTH_SERVER:
		return take_server(mail, data, error);
	case PROTO_TAG_AUTH_RESULT:
		return add_result(mail, data, error);
	case PROTO_TAG_TEXT_SOURCE:
		return take_source(mail, data, error);
	case PROTO_TAG_TEXT_CUT:
		mail->is_cut = true;
		return true;
	case PROTO_TAG_TEXT:
		return take_text(&mail->text, data);
	case PROTO_TAG_BODY:
		return take_text(&mail->body, data);
	case PROTO_TAG_REPORT:
		return take_report(mail, data, error);
	case PROTO_TAG_REPORT_GROUP:
		inmail_add_group(mail);
		return true;
	case PROTO_TAG_REPORT_FIELD:
		return add_report_field(mail, data, error);
	case PROTO_TAG_RETURNED:
		return add_field(mail->returned, data, error);
	case PROTO_TAG_END:
		break;
	}
	g_assert_not_reached();
}

bool
parser_decode(
    const char *data, size_t size, struct inmail **mail, char **refusal, GError **error)
{
	g_autoptr(GPtrArray) records = read_records(data, size, error);
	pb_auto(inmail) made = inmail_new();

	if (!records)
		return false;
	if (records->len == 1) {
		const struct proto_record *only = records->pdata[0];

		if (only->tag == PROTO_TAG_REFUSED) {
			*mail = NULL;
			*refusal = g_strdup(only->data);
			return true;
		}
	}
	for (guint i = 0; i < records->len; i++) {
		const struct proto_record *record = records->pdata[i];

		if (!take_record(made, record->tag, record->data, error))
			return false;
	}
	*mail = g_steal_pointer(&made);
	*refusal = NULL;
	return true;
}
