/*
 * compose.c - a whole message from its fields and encoded parts (RFC 5322, RFC 2046).
 */
#include "message/compose.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"

/* Room for the header and the lines between the parts. */
#define PAGE_BYTES 3072

/* Before the boundary within an outer one. */
#define INNER_MARK "alt-"

static bool
refuse(GError **error, const char *why, const char *what)
{
	g_set_error(error, PB_ERROR, PB_ERROR_INPUT, "message %s%s", why, what);
	return false;
}

static bool
check_extra(const struct compose_headers *fields, GError **error)
{
	static const char *const own[] = {"Date", "From", "To", "Subject", "Message-ID",
	    "MIME-Version", "Content-Type", "Content-Transfer-Encoding"};

	for (size_t i = 0; i < fields->extra_count; i++) {
		const char *name = fields->extra[i].name;

		for (size_t j = 0; j < G_N_ELEMENTS(own); j++) {
			if (g_ascii_strcasecmp(name, own[j]) == 0)
				return refuse(error, "has two fields ", name);
		}
		for (size_t j = 0; j < i; j++) {
			if (g_ascii_strcasecmp(name, fields->extra[j].name) == 0)
				return refuse(error, "has two fields ", name);
		}
	}
	return true;
}

static size_t
get_part_bytes(const struct compose_part *part)
{
	size_t size = 0;

	for (size_t i = 0; part->runs && i < part->run_count; i++)
		size += part->runs[i].size;
	return size;
}

/* Also where it begins in one run and ends in another. */
static bool
has_text(const struct compose_part *part, const char *text, size_t size)
{
	g_autoptr(GString) whole = g_string_sized_new(get_part_bytes(part));

	for (size_t i = 0; i < part->run_count; i++)
		g_string_append_len(
		    whole, part->runs[i].data, (gssize)part->runs[i].size);
	return memmem(whole->str, whole->len, text, size);
}

/* RFC 2046 section 5.1.1. */
static bool
check_boundary(const struct compose_headers *fields, GError **error)
{
	const char *boundary = fields->boundary;
	size_t size = boundary ? strlen(boundary) : 0;

	if (size == 0 ||
	    size + (fields->file.name ? strlen(INNER_MARK) : 0) > BOUNDS_BOUNDARY_BYTES)
		return refuse(error, "has a boundary of no or too many octets", "");
	for (const char *p = boundary; *p; p++) {
		if (!g_ascii_isalnum(*p) && !strchr("'()+_,-./:=?", *p))
			return refuse(error, "has a boundary of other characters", "");
	}
	if (!strstr(boundary, "=_") &&
	    (has_text(&fields->text, boundary, size) ||
	        has_text(&fields->html, boundary, size) ||
	        has_text(&fields->file.part, boundary, size)))
		return refuse(error, "has its boundary in a part", "");
	return true;
}

static bool
append_from(GString *out, const struct compose_headers *fields, GError **error)
{
	return header_append_mailboxes(out, "From", &fields->from, 1, error);
}

static bool
append_extra(GString *out, const struct compose_headers *fields, GError **error)
{
	if (!check_extra(fields, error))
		return false;
	for (size_t i = 0; i < fields->extra_count; i++) {
		const struct compose_header *field = &fields->extra[i];

		if (field->value &&
		    !header_append_folded(out, field->name, field->value, error))
			return false;
	}
	return true;
}

static bool
append_rest(GString *out, const struct compose_headers *fields, GError **error)
{
	return header_append_folded(out, "MIME-Version", "1.0", error) &&
	       append_extra(out, fields, error);
}

bool
compose_prefix_init(
    struct compose_prefix *fixed, const struct compose_headers *fields, GError **error)
{
	struct compose_prefix made = {g_string_new(NULL), g_string_new(NULL)};

	if (!append_from(made.from, fields, error) ||
	    !append_rest(made.rest, fields, error)) {
		compose_prefix_clear(&made);
		return false;
	}
	*fixed = made;
	return true;
}

void
compose_prefix_clear(struct compose_prefix *fixed)
{
	if (!fixed->from)
		return;
	g_string_free(g_steal_pointer(&fixed->from), TRUE);
	g_string_free(g_steal_pointer(&fixed->rest), TRUE);
}

static bool
append_fixed(GString *out, const GString *fixed)
{
	g_string_append_len(out, fixed->str, (gssize)fixed->len);
	return true;
}

static bool
append_header(GString *out, const struct compose_headers *fields, GError **error)
{
	const struct compose_prefix *fixed = fields->fixed;

	if (fields->date_field)
		g_string_append(out, fields->date_field);
	else if (!header_append_date(
	             out, "Date", fields->date, fields->offset_min, error))
		return false;
	if (!(fixed ? append_fixed(out, fixed->from)
	            : append_from(out, fields, error)) ||
	    !header_append_mailboxes(out, "To", &fields->to, 1, error))
		return false;
	if (fields->subject_field)
		g_string_append(out, fields->subject_field);
	else
		header_append_text(out, "Subject", fields->subject);
	return header_append_message_id(out, "Message-ID", fields->message_id, error) &&
	       (fixed ? append_fixed(out, fixed->rest) &&
	                    append_extra(out, fields, error)
	              : append_rest(out, fields, error));
}

/* Room is made once for all of them: there are many, and most are short. */
static void
append_runs(GString *out, const struct compose_part *part)
{
	size_t at = out->len;

	g_string_set_size(out, at + get_part_bytes(part));
	for (size_t i = 0; i < part->run_count; i++) {
		if (part->runs[i].size)
			memcpy(out->str + at, part->runs[i].data, part->runs[i].size);
		at += part->runs[i].size;
	}
}

/* Some texts, with room made once for all. */
static void
append_texts(GString *out, const char *const *texts, size_t count)
{
	size_t sizes[8], at = out->len, size = 0;

	g_assert(count <= G_N_ELEMENTS(sizes));
	for (size_t i = 0; i < count; i++)
		size += sizes[i] = strlen(texts[i]);
	g_string_set_size(out, at + size);
	for (size_t i = 0; i < count; i++) {
		memcpy(out->str + at, texts[i], sizes[i]);
		at += sizes[i];
	}
}

static void
append_part(GString *out, const char *subtype, const struct compose_part *part)
{
	const char *const texts[] = {"Content-Type: text/", subtype,
	    "; charset=utf-8\r\nContent-Transfer-Encoding: ",
	    encoding_get_name(part->encoding), "\r\n\r\n"};

	append_texts(out, texts, G_N_ELEMENTS(texts));
	append_runs(out, part);
}

static void
append_between(GString *out, const char *boundary, const char *end)
{
	const char *const texts[] = {"\r\n--", boundary, end};

	append_texts(out, texts, G_N_ELEMENTS(texts));
}

static bool
is_both(const struct compose_headers *fields)
{
	return fields->text.runs && fields->html.runs;
}

/* The text, the HTML, or both. @param boundary  of both */
static void
append_content(GString *out, const struct compose_headers *fields, const char *boundary)
{
	const char *const head[] = {
	    "Content-Type: multipart/alternative; boundary=\"", boundary, "\"\r\n"};

	if (!is_both(fields)) {
		append_part(out, fields->html.runs ? "html" : "plain",
		    fields->html.runs ? &fields->html : &fields->text);
		return;
	}
	append_texts(out, head, G_N_ELEMENTS(head));
	append_between(out, boundary, "\r\n");
	append_part(out, "plain", &fields->text);
	append_between(out, boundary, "\r\n");
	append_part(out, "html", &fields->html);
	append_between(out, boundary, "--\r\n");
}

/*
 * RFC 2183; the name is ours, so it needs no encoding.  No boundary begins with the
 * other, or a line of one would be taken for one of the other (RFC 2046 section 5.1.2).
 */
static bool
append_mixed(GString *out, const struct compose_headers *fields, GError **error)
{
	const struct compose_attachment *file = &fields->file;
	static const char messages[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	    "0123456789._-";
	g_autofree char *inner = g_strconcat(INNER_MARK, fields->boundary, NULL);

	if (!*file->name || strspn(file->name, messages) != strlen(file->name) ||
	    strlen(file->name) > BOUNDS_LINE_SOFT_BYTES)
		return refuse(error, "has a file with a name of other characters", "");
	g_string_append_printf(out,
	    "Content-Type: multipart/mixed; boundary=\"%s\"\r\n\r\n--%s\r\n",
	    fields->boundary, fields->boundary);
	append_content(out, fields, inner);
	g_string_append_printf(out,
	    "\r\n--%s\r\nContent-Type: %s; charset=utf-8\r\n"
	    "Content-Disposition: attachment; filename=\"%s\"\r\n"
	    "Content-Transfer-Encoding: %s\r\n\r\n",
	    fields->boundary, file->type, file->name,
	    encoding_get_name(file->part.encoding));
	append_runs(out, &file->part);
	g_string_append_printf(out, "\r\n--%s--\r\n", fields->boundary);
	return true;
}

GBytes *
compose_message(const struct compose_headers *fields, GError **error)
{
	g_autoptr(GString) out = g_string_sized_new(
	    PAGE_BYTES + get_part_bytes(&fields->text) + get_part_bytes(&fields->html) +
	    get_part_bytes(&fields->file.part));

	if (!append_header(out, fields, error) ||
	    ((is_both(fields) || fields->file.name) && !check_boundary(fields, error)))
		return NULL;
	if (!fields->file.name)
		append_content(out, fields, fields->boundary);
	else if (!append_mixed(out, fields, error))
		return NULL;
	return g_string_free_to_bytes(g_steal_pointer(&out));
}
