/*
 * dsn.c - parse reports (RFC 6522): DSN, MDN, ARF.
 */
#include "parser/dsn.h"

#include <string.h>

#include "base/bounds.h"
#include "message/parser_proto.h"
#include "parser/encoded_word.h"
#include "parser/headers.h"

static const struct {
	const char *subtype; /* of message/ (RFC 3464, 6533, 5965, 8098) */
	const char *kind;
} kinds[] = {
    {"delivery-status", "delivery"},
    {"global-delivery-status", "delivery"},
    {"feedback-report", "feedback"},
    {"disposition-notification", "disposition"},
    {"global-disposition-notification", "disposition"},
};

/* Types of the returned message or header. */
static const char *const returned[][2] = {
    {"message", "rfc822"},
    {"text", "rfc822-headers"},
    {"message", "global"},
    {"message", "global-headers"},
};

void
dsn_append_field(GString *out, enum proto_tag tag, const struct headers_entry *entry,
    struct charset_set *charsets)
{
	g_autofree char *value = encoded_word_decode(
	    charsets, entry->value, entry->value_size, BOUNDS_MAIL_VALUE_BYTES);
	g_autofree char *field =
	    g_strdup_printf("%.*s: %s", (int)entry->name_size, entry->name, value);

	parser_proto_append(out, tag, field);
}

static void
append_groups(GString *out, const char *text, struct charset_set *charsets)
{
	g_autoptr(GPtrArray) groups = headers_parse_groups(text, strlen(text));
	unsigned left = BOUNDS_REPORT_FIELDS;

	for (guint i = 0; i < groups->len; i++) {
		const GArray *fields = groups->pdata[i];

		parser_proto_append(out, PROTO_TAG_REPORT_GROUP, "");
		for (guint j = 0; j < fields->len && left > 0; j++, left--)
			dsn_append_field(out, PROTO_TAG_REPORT_FIELD,
			    &g_array_index(fields, struct headers_entry, j), charsets);
	}
}

static void
append_returned(GString *out, const char *text, struct charset_set *charsets)
{
	g_autoptr(GArray) fields = headers_parse(text, strlen(text));

	for (guint i = 0; i < fields->len; i++)
		dsn_append_field(out, PROTO_TAG_RETURNED,
		    &g_array_index(fields, struct headers_entry, i), charsets);
}

static const char *
find_kind(const struct mailmime *part)
{
	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
		if (part_is(part, "message", kinds[i].subtype))
			return kinds[i].kind;
	return NULL;
}

static bool
is_returned(const struct mailmime *part)
{
	for (size_t i = 0; i < G_N_ELEMENTS(returned); i++)
		if (part_is(part, returned[i][0], returned[i][1]))
			return true;
	return false;
}

void
dsn_append(GString *out, const struct part_tree *tree, struct charset_set *charsets)
{
	const struct mailmime *report = part_find_report(tree);
	bool is_report = report && part_is(report, "multipart", "report");
	g_autoptr(GPtrArray) children = NULL;
	const struct mailmime *status_part = NULL, *returned_part = NULL;
	g_autofree char *status_text = NULL;
	g_autofree char *header = NULL;

	if (!report)
		return;
	children = part_get_children(report);
	for (guint i = 0; i < children->len; i++) {
		const struct mailmime *part = children->pdata[i];

		if (!status_part && find_kind(part))
			status_part = part;
		else if (!returned_part && is_returned(part))
			returned_part = part;
	}
	if (status_part || is_report)
		parser_proto_append(out, PROTO_TAG_REPORT,
		    status_part ? find_kind(status_part) : "other");
	if (status_part) {
		status_text =
		    part_decode(status_part, charsets, BOUNDS_MAIL_HEADER_BYTES);
		append_groups(out, status_text, charsets);
	}
	if (returned_part) {
		header = part_decode(returned_part, charsets, BOUNDS_MAIL_HEADER_BYTES);
		append_returned(out, header, charsets);
	}
}
