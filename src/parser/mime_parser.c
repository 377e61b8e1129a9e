/*
 * mime_parser.c - parse an untrusted message into records (message/parser_proto.h).
 */
#include "parser/mime_parser.h"

#include <errno.h>
#include <libetpan/mailimf.h>
#include <libetpan/mailmime.h>
#include <libetpan/mmapstring.h>
#include <stdint.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/cleanup.h"
#include "base/html.h"
#include "base/sandbox.h"
#include "message/address.h"
#include "message/bibliography.h"
#include "message/parser_proto.h"
#include "message/sanitize.h"
#include "parser/authentication.h"
#include "parser/charset.h"
#include "parser/encoded_word.h"
#include "parser/flowed.h"
#include "parser/headers.h"
#include "parser/prescan.h"
#include "parser/quote_strip.h"

/* ---- MIME parts (RFC 2045, RFC 2046) ---- */

struct part_tree {
	struct mailmime *root;
};

/*
 * Parse a message that passed prescan_check().
 *
 * @param text  borrowed by the tree
 * @return NULL if it cannot be parsed
 */
static struct part_tree *
part_tree_new(const char *text, size_t size)
{
	struct part_tree *tree = g_new0(struct part_tree, 1);
	size_t at = 0;

	if (mailmime_parse(text, size, &at, &tree->root) != MAILIMF_NO_ERROR) {
		g_free(tree);
		return NULL;
	}
	return tree;
}

static void
part_tree_free(struct part_tree *tree)
{
	if (!tree)
		return;
	mailmime_free(tree->root);
	g_free(tree);
}

PB_DEFINE_AUTO(part_tree, part_tree_free);

static const char *
get_type(const struct mailmime_type *type)
{
	if (type->tp_type == MAILMIME_TYPE_DISCRETE_TYPE) {
		switch (type->tp_data.tp_discrete_type->dt_type) {
		case MAILMIME_DISCRETE_TYPE_TEXT:
			return "text";
		case MAILMIME_DISCRETE_TYPE_EXTENSION:
			return type->tp_data.tp_discrete_type->dt_extension;
		default:
			return "other";
		}
	}
	switch (type->tp_data.tp_composite_type->ct_type) {
	case MAILMIME_COMPOSITE_TYPE_MESSAGE:
		return "message";
	case MAILMIME_COMPOSITE_TYPE_MULTIPART:
		return "multipart";
	default:
		return "other";
	}
}

/* Whether a part has a media type, e.g. "text" and "html", case-insensitively. */
static bool
part_is(const struct mailmime *part, const char *type, const char *subtype)
{
	const struct mailmime_content *content = part->mm_content_type;
	const char *known;

	/* The default type (RFC 2045 section 5.2). */
	if (!content || !content->ct_type)
		return !strcmp(type, "text") && !strcmp(subtype, "plain");
	known = get_type(content->ct_type);
	return known && !g_ascii_strcasecmp(known, type) && content->ct_subtype &&
	       !g_ascii_strcasecmp(content->ct_subtype, subtype);
}

/* @return a parameter of the Content-Type, owned by the tree, or NULL */
static const char *
part_get_parameter(const struct mailmime *part, const char *name)
{
	clist *parameters =
	    part->mm_content_type ? part->mm_content_type->ct_parameters : NULL;

	if (!parameters)
		return NULL;
	for (clistiter *i = clist_begin(parameters); i; i = clist_next(i)) {
		const struct mailmime_parameter *parameter = clist_content(i);

		if (parameter->pa_name && !g_ascii_strcasecmp(parameter->pa_name, name))
			return parameter->pa_value;
	}
	return NULL;
}

/* @return NULL if there is none */
static const struct mailmime_disposition *
get_disposition(const struct mailmime *part)
{
	clist *fields = part->mm_mime_fields ? part->mm_mime_fields->fld_list : NULL;

	for (clistiter *i = fields ? clist_begin(fields) : NULL; i; i = clist_next(i)) {
		const struct mailmime_field *field = clist_content(i);

		if (field->fld_type == MAILMIME_FIELD_DISPOSITION)
			return field->fld_data.fld_disposition;
	}
	return NULL;
}

/* Whether the name of a file is that of BibTeX or RIS; it may be encoded. */
static bool
is_bibliography_name(const char *name)
{
	pb_auto(charset_set) none = charset_set_new("", 0);
	g_autofree char *decoded =
	    encoded_word_decode(none, name, strlen(name), BOUNDS_MAIL_VALUE_BYTES);
	g_autofree char *lower = g_ascii_strdown(decoded, -1);

	return g_str_has_suffix(lower, ".bib") || g_str_has_suffix(lower, ".ris");
}

/* Whether a part is a file of a reference manager, by its type or name (RFC 2231 splits
 * long names). */
static bool
is_bibliography(const struct mailmime *part)
{
	const struct mailmime_content *content = part->mm_content_type;
	const struct mailmime_disposition *disposition = get_disposition(part);
	const char *subtype = content && content->ct_subtype ? content->ct_subtype : "";
	clist *list = content ? content->ct_parameters : NULL;

	if (!g_ascii_strcasecmp(subtype, "x-bibtex") ||
	    !g_ascii_strcasecmp(subtype, "bibtex") ||
	    !g_ascii_strcasecmp(subtype, "x-research-info-systems"))
		return true;
	for (clistiter *i = list ? clist_begin(list) : NULL; i; i = clist_next(i)) {
		const struct mailmime_parameter *one = clist_content(i);

		if (one->pa_value &&
		    !g_ascii_strncasecmp(one->pa_name, "name", strlen("name")) &&
		    is_bibliography_name(one->pa_value))
			return true;
	}
	list = disposition ? disposition->dsp_parms : NULL;
	for (clistiter *i = list ? clist_begin(list) : NULL; i; i = clist_next(i)) {
		const struct mailmime_disposition_parm *one = clist_content(i);

		if ((one->pa_type == MAILMIME_DISPOSITION_PARM_FILENAME &&
		        is_bibliography_name(one->pa_data.pa_filename)) ||
		    (one->pa_type == MAILMIME_DISPOSITION_PARM_PARAMETER &&
		        is_bibliography_name(one->pa_data.pa_parameter->pa_value)))
			return true;
	}
	return false;
}

static bool
is_attached(const struct mailmime *part)
{
	const struct mailmime_disposition *disposition = get_disposition(part);

	return (disposition && disposition->dsp_type->dsp_type ==
	                           MAILMIME_DISPOSITION_TYPE_ATTACHMENT) ||
	       is_bibliography(part);
}

static const struct mailmime *
get_top(const struct part_tree *tree)
{
	const struct mailmime *root = tree->root;

	return root->mm_type == MAILMIME_MESSAGE ? root->mm_data.mm_message.mm_msg_mime
	                                         : root;
}

/* @return the encoded body */
static const char *
get_body(const struct mailmime *part, size_t *size)
{
	const struct mailmime_data *body = part->mm_body;

	if (!body || body->dt_type != MAILMIME_DATA_TEXT)
		return NULL;
	*size = body->dt_data.dt_text.dt_length;
	return body->dt_data.dt_text.dt_data;
}

static bool
has_text(const struct mailmime *part)
{
	size_t size = 0;
	const char *body = get_body(part, &size);

	for (size_t i = 0; body && i < size; i++)
		if (!g_ascii_isspace(body[i]))
			return true;
	return false;
}

/* prescan_check() limits the depth; the check here is for tests without it. */
static const struct mailmime *
find_of_type(const struct mailmime *part, const char *subtype, unsigned depth)
{
	const struct mailmime *found = NULL;

	if (!part || depth > BOUNDS_MAIL_DEPTH || is_attached(part))
		return NULL;
	if (part->mm_type == MAILMIME_SINGLE)
		return part_is(part, "text", subtype) && has_text(part) ? part : NULL;
	if (part->mm_type != MAILMIME_MULTIPLE)
		return NULL;
	for (clistiter *i = clist_begin(part->mm_data.mm_multipart.mm_mp_list);
	     i && !found; i = clist_next(i))
		found = find_of_type(clist_content(i), subtype, depth + 1);
	return found;
}

/*
 * The first child with text of either type: a text/plain footer that a list appends to
 * a text/html body is not the body.
 */
static const struct mailmime *
find_text(const struct mailmime *part, unsigned depth)
{
	const struct mailmime *found = NULL;

	if (!part || depth > BOUNDS_MAIL_DEPTH)
		return NULL;
	if (part->mm_type == MAILMIME_MULTIPLE &&
	    !part_is(part, "multipart", "alternative") && !is_attached(part)) {
		clist *list = part->mm_data.mm_multipart.mm_mp_list;

		for (clistiter *i = clist_begin(list); i && !found; i = clist_next(i))
			found = find_text(clist_content(i), depth + 1);
		return found;
	}
	found = find_of_type(part, "plain", depth);
	return found ? found : find_of_type(part, "html", depth);
}

/*
 * Find the body: the first text/plain that is neither an attachment nor empty (also
 * within multipart/alternative), else the first such text/html. Forwarded messages are
 * not searched.
 *
 * @return owned by the tree, or NULL
 */
static const struct mailmime *
part_find_text(const struct part_tree *tree)
{
	return find_text(get_top(tree), 0);
}

/* @return the message if its parts may be a report, owned by the tree, or NULL */
static const struct mailmime *
part_find_report(const struct part_tree *tree)
{
	const struct mailmime *top = get_top(tree);

	return top && top->mm_type == MAILMIME_MULTIPLE &&
	               (part_is(top, "multipart", "report") ||
	                   part_is(top, "multipart", "mixed"))
	           ? top
	           : NULL;
}

/* @return children of a multipart: array of struct mailmime, which the tree owns */
static GPtrArray *
part_get_children(const struct mailmime *part)
{
	GPtrArray *children = g_ptr_array_new();

	if (part->mm_type != MAILMIME_MULTIPLE)
		return children;
	for (clistiter *i = clist_begin(part->mm_data.mm_multipart.mm_mp_list); i;
	     i = clist_next(i))
		g_ptr_array_add(children, clist_content(i));
	return children;
}

/* Convert CR LF and CR in decoded text to LF. */
static void
normalize_line_ends(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		if (*from == '\r' && from[1] == '\n')
			continue;
		*to++ = *from == '\r' ? '\n' : *from;
	}
	*to = '\0';
}

/* Decode the transfer encoding. @return for mmap_string_unref(), or NULL */
static char *
decode_transfer(const struct mailmime *part, size_t *decoded_size)
{
	size_t size = 0, at = 0;
	const char *body = get_body(part, &size);
	char *decoded = NULL;

	if (!body || mailmime_part_parse(body, size, &at, part->mm_body->dt_encoding,
	                 &decoded, decoded_size) != MAILIMF_NO_ERROR)
		return NULL;
	return decoded;
}

/*
 * Decode the transfer encoding and the charset of a part.
 *
 * @return valid UTF-8 with LF line ends, at most max_bytes, owned by the caller
 */
static char *
part_decode(const struct mailmime *part, struct charset_set *charsets, size_t max_bytes)
{
	size_t decoded_size = 0;
	char *decoded = decode_transfer(part, &decoded_size);
	char *text;

	if (!decoded)
		return g_strdup("");
	text = charset_decode(charsets, part_get_parameter(part, "charset"), decoded,
	    decoded_size, max_bytes);
	mmap_string_unref(decoded);
	normalize_line_ends(text);
	return text;
}

/* ---- parse reports (RFC 6522) ---- */

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

/* Append a field as a record "Name: value", with encoded words decoded. */
static void
dsn_append_field(GVariantBuilder *out, enum proto_tag tag,
    const struct headers_entry *entry, struct charset_set *charsets)
{
	g_autofree char *value = encoded_word_decode(
	    charsets, entry->value, entry->value_size, BOUNDS_MAIL_VALUE_BYTES);
	g_autofree char *field =
	    g_strdup_printf("%.*s: %s", (int)entry->name_size, entry->name, value);

	parser_proto_append(out, tag, field);
}

static void
append_groups(GVariantBuilder *out, const char *text, struct charset_set *charsets)
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
append_returned(GVariantBuilder *out, const char *text, struct charset_set *charsets)
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

/*
 * Append the kind of a report, its groups of fields, and the header of the returned
 * message.  Of a message in a multipart/mixed without a report only the header is
 * appended.
 */
static void
dsn_append(
    GVariantBuilder *out, const struct part_tree *tree, struct charset_set *charsets)
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

/* ---- addresses, message ids and dates of a header as records ---- */

#define MINUTE_S 60

struct address_list {
	GVariantBuilder *out;
	enum proto_tag tag;
	struct charset_set *charsets;
	unsigned left;
};

static void
append_mailbox(struct address_list *list, const char *spec, const char *name)
{
	g_autofree char *display_name =
	    name ? encoded_word_decode(
	               list->charsets, name, strlen(name), BOUNDS_PERSON_NAME_BYTES)
	         : NULL;
	g_autofree char *record = NULL;
	pb_local(address) address = {0};

	if (list->left == 0 || !spec || !address_parse(spec, &address, NULL))
		return;
	record =
	    g_strdup_printf("%s %s", address.text, display_name ? display_name : "");
	parser_proto_append(list->out, list->tag, record);
	list->left--;
}

static void
append_parsed(struct address_list *list, const clist *addresses)
{
	for (clistiter *i = clist_begin(addresses); i; i = clist_next(i)) {
		const struct mailimf_address *one = clist_content(i);
		const struct mailimf_mailbox_list *members;

		if (one->ad_type == MAILIMF_ADDRESS_MAILBOX) {
			const struct mailimf_mailbox *box = one->ad_data.ad_mailbox;

			append_mailbox(list, box->mb_addr_spec, box->mb_display_name);
			continue;
		}
		members = one->ad_data.ad_group->grp_mb_list;
		if (!members)
			continue;
		for (clistiter *j = clist_begin(members->mb_list); j;
		     j = clist_next(j)) {
			const struct mailimf_mailbox *box = clist_content(j);

			append_mailbox(list, box->mb_addr_spec, box->mb_display_name);
		}
	}
}

/* @return the unfolded value, its bytes unchanged; NULL if empty */
static char *
unfold(const struct headers_entry *entry)
{
	char *value = g_strndup(entry->value, entry->value_size);

	g_strdelimit(value, "\n\t", ' ');
	g_strstrip(value);
	if (value[0] == '\0')
		g_clear_pointer(&value, g_free);
	return value;
}

static void
append_parsed_value(struct address_list *list, const struct headers_entry *entry)
{
	g_autofree char *value = unfold(entry);
	struct mailimf_address_list *parsed = NULL;
	size_t at = 0;

	if (!value || mailimf_address_list_parse(value, strlen(value), &at, &parsed) !=
	                  MAILIMF_NO_ERROR)
		return;
	append_parsed(list, parsed->ad_list);
	mailimf_address_list_free(parsed);
}

/*
 * Append the valid addresses in all fields of a name, including group members.
 *
 * @return number of such fields
 */
static unsigned
address_fields_append_mailboxes(GVariantBuilder *out, const GArray *fields,
    const char *name, enum proto_tag tag, struct charset_set *charsets)
{
	struct address_list list = {out, tag, charsets, BOUNDS_MAIL_ADDRESSES};
	unsigned count = 0;

	for (guint i = 0; i < fields->len; i++) {
		const struct headers_entry *entry =
		    &g_array_index(fields, struct headers_entry, i);

		if (!headers_is_named(entry, name))
			continue;
		append_parsed_value(&list, entry);
		count++;
	}
	return count;
}

/*
 * Append the single address in the topmost field of a name.
 *
 * @param has_null  whether to append an empty record for "<>"
 */
static void
address_fields_append_address(GVariantBuilder *out, const GArray *fields,
    const char *name, enum proto_tag tag, bool has_null)
{
	const struct headers_entry *entry = headers_find(fields, name);
	g_autofree char *value = entry ? unfold(entry) : NULL;
	pb_local(address) address = {0};
	char *spec = value;

	if (!value)
		return;
	if (value[0] == '<' && g_str_has_suffix(value, ">")) {
		spec = value + 1;
		spec[strlen(spec) - 1] = '\0';
	}
	if (spec[0] == '\0' && has_null)
		parser_proto_append(out, tag, "");
	else if (address_parse(spec, &address, NULL))
		parser_proto_append(out, tag, address.text);
}

static bool
is_id(const char *id)
{
	size_t size = strlen(id);

	for (size_t i = 0; i < size; i++)
		if (!g_ascii_isgraph(id[i]))
			return false;
	return size > 0 && size <= BOUNDS_MESSAGE_ID_BYTES;
}

/* More lenient than RFC 5322 section 3.6.4: anything in angle brackets. */
static void
address_fields_append_ids(GVariantBuilder *out, const GArray *fields, const char *name,
    enum proto_tag tag, unsigned count)
{
	const struct headers_entry *entry = headers_find(fields, name);
	g_autofree char *value = entry ? unfold(entry) : NULL;
	g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);

	for (const char *at = value ? strchr(value, '<') : NULL; at;
	     at = strchr(at, '<')) {
		size_t size = strcspn(++at, "<>");
		g_autofree char *id = g_strndup(at, size);

		if (at[size] == '>' && is_id(id))
			g_ptr_array_add(ids, g_steal_pointer(&id));
		at += size;
	}
	for (guint i = ids->len > count ? ids->len - count : 0; i < ids->len; i++)
		parser_proto_append(out, tag, ids->pdata[i]);
}

/* The zone is hours and minutes in one number: -330 is 3.5 hours west. */
static bool
parse_date(const struct mailimf_date_time *date, int64_t *at)
{
	int zone_min = date->dt_zone / 100 * 60 + date->dt_zone % 100;
	g_autoptr(GDateTime) time = NULL;

	if (date->dt_year < 1970 || date->dt_year > 9999 || ABS(zone_min) > 24 * 60)
		return false;
	/* A leap second becomes second 59. */
	time = g_date_time_new_utc(date->dt_year, date->dt_month, date->dt_day,
	    date->dt_hour, date->dt_min, MIN(date->dt_sec, 59));
	if (!time)
		return false;
	*at = g_date_time_to_unix(time) - (int64_t)zone_min * MINUTE_S;
	return *at >= 0;
}

/* Append the topmost Date if valid, years 1970 to 9999. */
static void
address_fields_append_date(GVariantBuilder *out, const GArray *fields)
{
	const struct headers_entry *entry = headers_find(fields, "Date");
	g_autofree char *value = entry ? unfold(entry) : NULL;
	struct mailimf_date_time *date = NULL;
	size_t at = 0;
	int64_t time = 0;

	if (!value || mailimf_date_time_parse(value, strlen(value), &at, &date) !=
	                  MAILIMF_NO_ERROR)
		return;
	if (parse_date(date, &time)) {
		g_autofree char *record =
		    g_strdup_printf("%" G_GINT64_FORMAT, (gint64)time);

		parser_proto_append(out, PROTO_TAG_DATE, record);
	}
	mailimf_date_time_free(date);
}

#define READ_BYTES (64 * 1024)

struct mime_parser {
	char *text; /* with LF line ends; NULL if refused */
	size_t size;
	GError *refusal;
	struct charset_set *charsets;
};

/* Fields of automatic messages (RFC 3834 section 2, and common practice). */
static const char *const marks[] = {"Auto-Submitted", "Precedence",
    "X-Auto-Response-Suppress", "X-Autoreply", "X-Autoreply-From", "X-Mail-Autoreply",
    "X-Vacation", "X-Autorespond", "X-Autoresponse", "X-Auto-Reply", "X-Autogenerated",
    "X-Loop", "X-Failed-Recipients", "Feedback-ID"};

struct mime_parser *
mime_parser_new(const char *raw, size_t size, bool is_scanned)
{
	struct mime_parser *parser = g_new0(struct mime_parser, 1);

	if (is_scanned) {
		parser->text =
		    prescan_normalize(raw, size, &parser->size, &parser->refusal);
		if (parser->text &&
		    !prescan_check(parser->text, parser->size, &parser->refusal))
			g_clear_pointer(&parser->text, g_free);
	} else {
		parser->text = g_strndup(raw, size);
		parser->size = size;
	}
	if (parser->text)
		parser->charsets = charset_set_new(parser->text, parser->size);
	return parser;
}

void
mime_parser_free(struct mime_parser *parser)
{
	if (!parser)
		return;
	charset_set_free(parser->charsets);
	g_clear_error(&parser->refusal);
	g_free(parser->text);
	g_free(parser);
}

static bool
is_mark(const struct headers_entry *entry)
{
	if (entry->name_size > strlen("List-") &&
	    !g_ascii_strncasecmp(entry->name, "List-", strlen("List-")))
		return true;
	for (size_t i = 0; i < G_N_ELEMENTS(marks); i++)
		if (headers_is_named(entry, marks[i]))
			return true;
	return false;
}

static void
append_authentication(GVariantBuilder *out, const struct headers_entry *entry,
    struct charset_set *charsets, unsigned *left)
{
	g_autofree char *raw = charset_decode(
	    charsets, NULL, entry->value, entry->value_size, BOUNDS_MAIL_VALUE_BYTES);
	g_autofree char *line = sanitize_line(raw, 0);

	authentication_append(out, line, left);
}

static void
append_number(GVariantBuilder *out, enum proto_tag tag, unsigned number)
{
	g_autofree char *record = g_strdup_printf("%u", number);

	parser_proto_append(out, tag, record);
}

/* Append fields of automatic messages, signatures, authentication results. */
static void
append_fields(GVariantBuilder *out, const GArray *fields, struct charset_set *charsets)
{
	unsigned marks_left = BOUNDS_MAIL_MARKS;
	unsigned signatures_left = BOUNDS_MAIL_SIGNATURES;
	unsigned results_left = BOUNDS_MAIL_RESULTS;
	unsigned received = 0;

	for (guint i = 0; i < fields->len; i++) {
		const struct headers_entry *entry =
		    &g_array_index(fields, struct headers_entry, i);

		received += headers_is_named(entry, "Received");
		if (headers_is_named(entry, "Authentication-Results"))
			append_authentication(out, entry, charsets, &results_left);
		/* Limited separately, so that signatures cannot crowd out the other
		 * fields. */
		if (headers_is_named(entry, "DKIM-Signature") && signatures_left > 0) {
			dsn_append_field(out, PROTO_TAG_MARK, entry, charsets);
			signatures_left--;
		}
		if (!is_mark(entry) || marks_left == 0)
			continue;
		dsn_append_field(out, PROTO_TAG_MARK, entry, charsets);
		marks_left--;
	}
	append_number(out, PROTO_TAG_RECEIVED, received);
}

static void
append_addresses(
    GVariantBuilder *out, const GArray *fields, struct charset_set *charsets)
{
	static const struct {
		const char *name;
		enum proto_tag tag;
	} lists[] = {
	    {"Sender", PROTO_TAG_SENDER},
	    {"Reply-To", PROTO_TAG_REPLY_TO},
	    {"To", PROTO_TAG_TO},
	    {"Cc", PROTO_TAG_CC},
	};

	append_number(out, PROTO_TAG_FROM_FIELDS,
	    address_fields_append_mailboxes(
	        out, fields, "From", PROTO_TAG_FROM, charsets));
	for (size_t i = 0; i < G_N_ELEMENTS(lists); i++)
		address_fields_append_mailboxes(
		    out, fields, lists[i].name, lists[i].tag, charsets);
	address_fields_append_ids(out, fields, "Message-ID", PROTO_TAG_MESSAGE_ID, 1);
	address_fields_append_ids(
	    out, fields, "In-Reply-To", PROTO_TAG_IN_REPLY_TO, BOUNDS_MAIL_IDS);
	address_fields_append_ids(
	    out, fields, "References", PROTO_TAG_REFERENCE, BOUNDS_MAIL_IDS);
	address_fields_append_date(out, fields);
	address_fields_append_address(
	    out, fields, "Return-Path", PROTO_TAG_RETURN_PATH, true);
	address_fields_append_address(
	    out, fields, "Delivered-To", PROTO_TAG_DELIVERED_TO, false);
	address_fields_append_address(
	    out, fields, "X-Original-To", PROTO_TAG_ORIGINAL_TO, false);
}

static void
append_subject(GVariantBuilder *out, const GArray *fields, struct charset_set *charsets)
{
	const struct headers_entry *entry = headers_find(fields, "Subject");
	g_autofree char *subject = NULL;

	if (!entry)
		return;
	subject = encoded_word_decode(
	    charsets, entry->value, entry->value_size, BOUNDS_MAIL_VALUE_BYTES);
	parser_proto_append(out, PROTO_TAG_SUBJECT, subject);
}

/* Remove control and formatting characters except line ends and tabs. */
static void
sanitize(char *text)
{
	char *to = text;

	for (const char *from = text; *from;) {
		gunichar c = g_utf8_get_char(from);
		size_t size = (size_t)(g_utf8_next_char(from) - from);
		bool is_dropped =
		    (g_unichar_type(c) == G_UNICODE_CONTROL && c != '\n' &&
		        c != '\t') ||
		    c == 0xad || c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
		    (c >= 0x202a && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) ||
		    c == 0xfeff || (c & 0xfffe) == 0xfffe ||
		    (c >= 0xe0000 && c <= 0xe0fff);

		if (c == 0x2028 || c == 0x2029) {
			*to++ = '\n';
		} else if (!is_dropped) {
			memmove(to, from, size);
			to += size;
		}
		from += size;
	}
	*to = '\0';
}

/* Cut after the last line that fits, or within the first. @return whether it was cut */
static bool
cut_lines(char *text, size_t max_bytes)
{
	size_t at = max_bytes;

	if (strlen(text) <= max_bytes)
		return false;
	while (at > 0 && text[at - 1] != '\n')
		at--;
	if (at == 0)
		for (at = max_bytes; ((guchar)text[at] & 0xc0) == 0x80;)
			at--;
	text[at] = '\0';
	return true;
}

static void
append_text(
    GVariantBuilder *out, const struct part_tree *tree, struct charset_set *charsets)
{
	const struct mailmime *part = part_find_text(tree);
	bool is_html = part && part_is(part, "text", "html");
	const char *format = part ? part_get_parameter(part, "format") : NULL;
	const char *deleted = part ? part_get_parameter(part, "delsp") : NULL;
	g_autofree char *decoded = NULL;
	g_autofree char *body = NULL;
	g_autofree char *text = NULL;

	if (!part)
		return;
	decoded = part_decode(part, charsets, BOUNDS_MAIL_DECODE_BYTES);
	if (is_html)
		body = html_format_text(decoded, strlen(decoded));
	else if (format && !g_ascii_strcasecmp(format, "flowed"))
		body = flowed_decode(
		    decoded, deleted && !g_ascii_strcasecmp(deleted, "yes"));
	else
		body = g_steal_pointer(&decoded);
	sanitize(body);
	text = quote_strip(body);
	parser_proto_append(out, PROTO_TAG_TEXT_SOURCE, is_html ? "html" : "plain");
	if (cut_lines(text, BOUNDS_MAIL_TEXT_BYTES))
		parser_proto_append(out, PROTO_TAG_TEXT_CUT, "");
	parser_proto_append(out, PROTO_TAG_TEXT, text);
	cut_lines(body, BOUNDS_MAIL_BODY_BYTES);
	parser_proto_append(out, PROTO_TAG_BODY, body);
}

/* Add the works of a part, or of those in it, to those found before. */
static void
add_works(struct bibliography *all, const struct mailmime *part, unsigned depth)
{
	pb_auto(bibliography) found = NULL;
	size_t size = 0;
	char *decoded;

	if (!part || depth > BOUNDS_MAIL_DEPTH)
		return;
	if (part->mm_type == MAILMIME_MULTIPLE) {
		g_autoptr(GPtrArray) children = part_get_children(part);

		for (guint i = 0; i < children->len; i++)
			add_works(all, children->pdata[i], depth + 1);
		return;
	}
	/* EndNote calls its files .txt. */
	if (part->mm_type != MAILMIME_SINGLE || !is_attached(part) ||
	    !(decoded = decode_transfer(part, &size)))
		return;
	if (is_bibliography(part) || bibliography_is_likely(decoded, size))
		found = bibliography_parse(decoded, size);
	mmap_string_unref(decoded);
	if (!found)
		return;
	g_ptr_array_extend_and_steal(all->works, g_steal_pointer(&found->works));
	all->unnamed += found->unnamed;
}

/* Append the works of attached files, as far as they fit; the others count as unnamed.
 */
static void
append_works(GVariantBuilder *out, const struct part_tree *tree)
{
	pb_auto(bibliography) all = bibliography_parse("", 0);
	size_t left = BIBLIOGRAPHY_BYTES;

	add_works(all, get_top(tree), 0);
	for (guint i = 0; i < all->works->len; i++) {
		const char *work = all->works->pdata[i];

		if (i >= BIBLIOGRAPHY_ENTRIES || strlen(work) > left) {
			all->unnamed++;
			continue;
		}
		left -= strlen(work);
		parser_proto_append(out, PROTO_TAG_WORK, work);
	}
	if (all->unnamed)
		append_number(out, PROTO_TAG_UNNAMED, all->unnamed);
}

static void
append_message(GVariantBuilder *out, struct mime_parser *parser)
{
	pb_auto(part_tree) tree = part_tree_new(parser->text, parser->size);
	g_autoptr(GArray) fields = headers_parse(parser->text, parser->size);

	append_addresses(out, fields, parser->charsets);
	append_subject(out, fields, parser->charsets);
	append_fields(out, fields, parser->charsets);
	if (!tree)
		return;
	append_text(out, tree, parser->charsets);
	dsn_append(out, tree, parser->charsets);
	append_works(out, tree);
}

GVariant *
mime_parser_read(struct mime_parser *parser, bool is_filtered)
{
	GVariantBuilder out;

	g_variant_builder_init(&out, G_VARIANT_TYPE(PROTO_TYPE));
	if (!parser->text) {
		parser_proto_append(&out, PROTO_TAG_REFUSED, parser->refusal->message);
	} else {
		if (is_filtered)
			parser_proto_append(&out, PROTO_TAG_FILTERED, "");
		append_message(&out, parser);
	}
	return g_variant_ref_sink(g_variant_builder_end(&out));
}

/* Read to the end, but at most one byte more than the limit. */
static bool
read_input(GString *input)
{
	g_autofree char *buffer = g_malloc(READ_BYTES);

	while (input->len <= BOUNDS_MAIL_BYTES) {
		ssize_t got = read(STDIN_FILENO, buffer, READ_BYTES);

		if (got == 0)
			return true;
		if (got > 0)
			g_string_append_len(input, buffer, got);
		else if (errno != EINTR)
			return false;
	}
	return true;
}

static bool
write_output(GVariant *records)
{
	const char *output = g_variant_get_data(records);
	size_t size = g_variant_get_size(records);

	for (size_t done = 0; done < size;) {
		ssize_t written = write(STDOUT_FILENO, output + done, size - done);

		if (written >= 0)
			done += (size_t)written;
		else if (errno != EINTR)
			return false;
	}
	return true;
}

int
mime_parser_run(bool is_scanned)
{
	g_autoptr(GString) input = g_string_new(NULL);
	g_autoptr(GVariant) records = NULL;
	pb_auto(mime_parser) parser = NULL;
	bool is_filtered = false;

	if (!sandbox_limit(SANDBOX_PARSER) || !read_input(input))
		return EX_OSERR;
	parser = mime_parser_new(input->str, input->len, is_scanned);
	if (!sandbox_enter(SANDBOX_PARSER, &is_filtered))
		return EX_OSERR;
	records = mime_parser_read(parser, is_filtered);
	return write_output(records) ? EX_OK : EX_OSERR;
}
