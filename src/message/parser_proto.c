/*
 * parser_proto.c - output format of paperboy-parser.
 */
#include "message/parser_proto.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "message/address.h"
#include "message/bibliography.h"

#define MAILBOX_BYTES (BOUNDS_ADDRESS_BYTES + 1 + BOUNDS_PERSON_NAME_BYTES)
/* Field names are limited by the line length. */
#define FIELD_BYTES   (BOUNDS_LINE_BYTES + 2 + BOUNDS_MAIL_VALUE_BYTES)

/* Kind of the data of a tag, and the type of the member that stores it. */
enum kind {
	KIND_FLAG,      /* bool */
	KIND_COUNT,     /* unsigned */
	KIND_TIME,      /* int64_t */
	KIND_CHOICE,    /* an enum */
	KIND_LINE,      /* char * */
	KIND_LINES,     /* char *: tabs and line ends are allowed */
	KIND_ID,        /* char * */
	KIND_ADDRESS,   /* char * */
	KIND_PATH,      /* char *: an address or nothing */
	KIND_IDS,       /* GPtrArray * of char * */
	KIND_TEXTS,     /* GPtrArray * of char * */
	KIND_MAILBOXES, /* GPtrArray * of struct inmail_address */
	KIND_FIELDS,    /* GPtrArray * of struct inmail_field */
	KIND_AUTHENTICATION,
	KIND_AUTH_SERVER,
	KIND_AUTH_RESULT,
	KIND_GROUP,
	KIND_GROUP_FIELD,
	KIND_REFUSED,
};

/* enum inmail_source from 1 */
static const char *const sources[] = {"plain", "html", NULL};

/* enum inmail_report from 1 */
static const char *const reports[] = {
    "delivery", "feedback", "disposition", "other", NULL};

#define FIELD(name) offsetof(struct inmail, name)

static const struct {
	enum kind kind;
	size_t bytes_max;
	unsigned count_max;
	size_t offset; /* in struct inmail */
	const char *const *choices;
} tags[PROTO_TAGS] = {
    [PROTO_TAG_REFUSED] = {KIND_REFUSED, BOUNDS_MAIL_VALUE_BYTES, 1},
    [PROTO_TAG_FILTERED] = {KIND_FLAG, 0, 1, FIELD(is_filtered)},
    [PROTO_TAG_FROM] = {KIND_MAILBOXES, MAILBOX_BYTES, BOUNDS_MAIL_ADDRESSES,
        FIELD(from)},
    [PROTO_TAG_SENDER] = {KIND_MAILBOXES, MAILBOX_BYTES, BOUNDS_MAIL_ADDRESSES,
        FIELD(sender)},
    [PROTO_TAG_REPLY_TO] = {KIND_MAILBOXES, MAILBOX_BYTES, BOUNDS_MAIL_ADDRESSES,
        FIELD(reply_to)},
    [PROTO_TAG_TO] = {KIND_MAILBOXES, MAILBOX_BYTES, BOUNDS_MAIL_ADDRESSES, FIELD(to)},
    [PROTO_TAG_CC] = {KIND_MAILBOXES, MAILBOX_BYTES, BOUNDS_MAIL_ADDRESSES, FIELD(cc)},
    [PROTO_TAG_FROM_FIELDS] = {KIND_COUNT, 10, 1, FIELD(from_fields)},
    [PROTO_TAG_RECEIVED] = {KIND_COUNT, 10, 1, FIELD(received)},
    [PROTO_TAG_SUBJECT] = {KIND_LINE, BOUNDS_MAIL_VALUE_BYTES, 1, FIELD(subject)},
    [PROTO_TAG_MESSAGE_ID] = {KIND_ID, BOUNDS_MESSAGE_ID_BYTES, 1, FIELD(message_id)},
    [PROTO_TAG_IN_REPLY_TO] = {KIND_IDS, BOUNDS_MESSAGE_ID_BYTES, BOUNDS_MAIL_IDS,
        FIELD(in_reply_to)},
    [PROTO_TAG_REFERENCE] = {KIND_IDS, BOUNDS_MESSAGE_ID_BYTES, BOUNDS_MAIL_IDS,
        FIELD(references)},
    [PROTO_TAG_DATE] = {KIND_TIME, 12, 1, FIELD(sent_at)},
    [PROTO_TAG_RETURN_PATH] = {KIND_PATH, BOUNDS_ADDRESS_BYTES, 1, FIELD(return_path)},
    [PROTO_TAG_DELIVERED_TO] = {KIND_ADDRESS, BOUNDS_ADDRESS_BYTES, 1,
        FIELD(delivered_to)},
    [PROTO_TAG_ORIGINAL_TO] = {KIND_ADDRESS, BOUNDS_ADDRESS_BYTES, 1,
        FIELD(original_to)},
    [PROTO_TAG_MARK] = {KIND_FIELDS, FIELD_BYTES, BOUNDS_MAIL_MARKS, FIELD(marks)},
    [PROTO_TAG_AUTHENTICATION] = {KIND_AUTHENTICATION, BOUNDS_MAIL_VALUE_BYTES,
        BOUNDS_MAIL_FIELDS},
    [PROTO_TAG_AUTH_SERVER] = {KIND_AUTH_SERVER, BOUNDS_MAIL_VALUE_BYTES,
        BOUNDS_MAIL_FIELDS},
    [PROTO_TAG_AUTH_RESULT] = {KIND_AUTH_RESULT, BOUNDS_MAIL_VALUE_BYTES,
        BOUNDS_MAIL_RESULTS},
    [PROTO_TAG_TEXT_SOURCE] = {KIND_CHOICE, 5, 1, FIELD(source), sources},
    [PROTO_TAG_TEXT_CUT] = {KIND_FLAG, 0, 1, FIELD(is_cut)},
    [PROTO_TAG_TEXT] = {KIND_LINES, BOUNDS_MAIL_TEXT_BYTES, 1, FIELD(text)},
    [PROTO_TAG_BODY] = {KIND_LINES, BOUNDS_MAIL_BODY_BYTES, 1, FIELD(body)},
    [PROTO_TAG_REPORT] = {KIND_CHOICE, 11, 1, FIELD(report), reports},
    [PROTO_TAG_REPORT_GROUP] = {KIND_GROUP, 0, BOUNDS_REPORT_GROUPS},
    [PROTO_TAG_REPORT_FIELD] = {KIND_GROUP_FIELD, FIELD_BYTES, BOUNDS_REPORT_FIELDS},
    [PROTO_TAG_RETURNED] = {KIND_FIELDS, FIELD_BYTES, BOUNDS_MAIL_FIELDS,
        FIELD(returned)},
    [PROTO_TAG_WORK] = {KIND_TEXTS, BIBLIOGRAPHY_WORK_BYTES, BIBLIOGRAPHY_ENTRIES,
        FIELD(works)},
    [PROTO_TAG_UNNAMED] = {KIND_COUNT, 10, 1, FIELD(unnamed_works)},
};

void
parser_proto_append(GVariantBuilder *out, enum proto_tag tag, const char *data)
{
	g_variant_builder_add(out, "(ys)", (guchar)tag, data);
}

static bool
refuse(GError **error, const char *why)
{
	g_set_error(error, PB_ERROR, PB_ERROR_INPUT, "paperboy-parser sent %s", why);
	return false;
}

static bool
is_plain_text(const char *data, bool has_lines)
{
	for (const char *p = data; *p; p = g_utf8_next_char(p)) {
		gunichar c = g_utf8_get_char(p);

		if (has_lines && (c == '\n' || c == '\t'))
			continue;
		if (c < 0x20 || (c >= 0x7f && c < 0xa0))
			return false;
	}
	return true;
}

/* ---- decoding ---- */

#define DATE_MAX G_GINT64_CONSTANT(253402300799) /* end of the year 9999 */

static bool
take_text(char **out, const char *data)
{
	g_free(*out);
	*out = g_strdup(data);
	return true;
}

static bool
take_address(char **out, const char *data, GError **error)
{
	pb_local(address) address = {0};

	if (!address_parse(data, &address, NULL) || strcmp(address.text, data) != 0)
		return refuse(error, "an invalid address");
	return take_text(out, data);
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
take_id(char **out, const char *data, GError **error)
{
	for (const char *p = data; *p; p++)
		if (!g_ascii_isgraph(*p) || *p == '<' || *p == '>')
			return refuse(error, "an invalid message id");
	return data[0] ? take_text(out, data) : refuse(error, "an invalid message id");
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

/* @param names  by value from 1 */
static bool
take_choice(unsigned *out, const char *data, const char *const *names, GError **error)
{
	for (unsigned i = 0; names[i]; i++) {
		if (!strcmp(data, names[i])) {
			*out = i + 1;
			return true;
		}
	}
	return refuse(error, "an unknown word");
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
	void *member = (char *)mail + tags[tag].offset;

	switch (tags[tag].kind) {
	case KIND_FLAG:
		*(bool *)member = true;
		return true;
	case KIND_COUNT:
		return take_count(member, data, error);
	case KIND_TIME:
		return take_number(member, data, DATE_MAX, error);
	case KIND_LINE:
	case KIND_LINES:
		return take_text(member, data);
	case KIND_ID:
		return take_id(member, data, error);
	case KIND_PATH:
		if (!data[0])
			return take_text(member, data);
		return take_address(member, data, error);
	case KIND_ADDRESS:
		return take_address(member, data, error);
	case KIND_IDS:
		return add_id(*(GPtrArray **)member, data, error);
	case KIND_TEXTS:
		g_ptr_array_add(*(GPtrArray **)member, g_strdup(data));
		return true;
	case KIND_MAILBOXES:
		return take_mailbox(*(GPtrArray **)member, data, error);
	case KIND_FIELDS:
		return add_field(*(GPtrArray **)member, data, error);
	case KIND_AUTHENTICATION:
		g_ptr_array_add(mail->authentications, auth_results_new(data));
		return true;
	case KIND_AUTH_SERVER:
		return take_server(mail, data, error);
	case KIND_AUTH_RESULT:
		return add_result(mail, data, error);
	case KIND_CHOICE:
		return take_choice(member, data, tags[tag].choices, error);
	case KIND_GROUP:
		inmail_add_group(mail);
		return true;
	case KIND_GROUP_FIELD:
		return add_report_field(mail, data, error);
	case KIND_REFUSED:
		return refuse(error, "a refusal and other records");
	}
	return false;
}

static bool
check_record(unsigned *counts, unsigned tag, const char *data, GError **error)
{
	if (tag >= PROTO_TAGS)
		return refuse(error, "an unknown tag");
	if (++counts[tag] > tags[tag].count_max)
		return refuse(error, "too many records of a tag");
	if (strlen(data) > tags[tag].bytes_max)
		return refuse(error, "a record that is too long");
	if (!is_plain_text(data, tags[tag].kind == KIND_LINES))
		return refuse(error, "data that is not plain text");
	return true;
}

bool
parser_decode(
    const char *data, size_t size, struct inmail **mail, char **refusal, GError **error)
{
	g_autoptr(GBytes) bytes = g_bytes_new_static(data, size);
	g_autoptr(GVariant) records = g_variant_ref_sink(
	    g_variant_new_from_bytes(G_VARIANT_TYPE(PROTO_TYPE), bytes, FALSE));
	pb_auto(inmail) made = inmail_new();
	unsigned counts[PROTO_TAGS] = {0};
	GVariantIter iter;
	const char *text;
	guchar tag;

	if (size > BOUNDS_PARSER_OUTPUT_BYTES)
		return refuse(error, "too much output");
	if (!g_variant_is_normal_form(records) || !g_variant_n_children(records))
		return refuse(error, "no records");
	g_variant_iter_init(&iter, records);
	while (g_variant_iter_next(&iter, "(y&s)", &tag, &text)) {
		if (!check_record(counts, tag, text, error))
			return false;
		if (tag == PROTO_TAG_REFUSED && g_variant_n_children(records) == 1) {
			*mail = NULL;
			*refusal = g_strdup(text);
			return true;
		}
		if (!take_record(made, (enum proto_tag)tag, text, error))
			return false;
	}
	*mail = g_steal_pointer(&made);
	*refusal = NULL;
	return true;
}
