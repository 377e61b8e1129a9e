/*
 * compose.c - compose a message from header fields and encoded parts (RFC 5322, RFC
 * 2046).
 */
#include "message/compose.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"

/* Estimate for the header and the lines between parts. */
#define PAGE_BYTES 3072

/* Prefix of the inner boundary. */
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
				return refuse(error, "has a repeated field ", name);
		}
		for (size_t j = 0; j < i; j++) {
			if (g_ascii_strcasecmp(name, fields->extra[j].name) == 0)
				return refuse(error, "has a repeated field ", name);
		}
	}
	return true;
}

static size_t
get_part_bytes(const struct compose_part *part)
{
	size_t size = 0;

	for (size_t i = 0; part->spans && i < part->span_count; i++)
		size += part->spans[i].size;
	return size;
}

/* Finds text that crosses spans, too. */
static bool
has_text(const struct compose_part *part, const char *text, size_t size)
{
	g_autoptr(GString) whole = g_string_sized_new(get_part_bytes(part));

	for (size_t i = 0; i < part->span_count; i++)
		g_string_append_len(
		    whole, part->spans[i].data, (gssize)part->spans[i].size);
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
		return refuse(error, "has an empty or too long boundary", "");
	for (const char *p = boundary; *p; p++) {
		if (!g_ascii_isalnum(*p) && !strchr("'()+_,-./:=?", *p))
			return refuse(
			    error, "has an invalid character in its boundary", "");
	}
	if (!strstr(boundary, "=_") &&
	    (has_text(&fields->text, boundary, size) ||
	        has_text(&fields->html, boundary, size) ||
	        has_text(&fields->file.part, boundary, size)))
		return refuse(error, "has its boundary in a part", "");
	return true;
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
append_header(GString *out, const struct compose_headers *fields, GError **error)
{
	if (!header_append_date(out, "Date", fields->date, error) ||
	    !header_append_mailboxes(out, "From", &fields->from, 1, error) ||
	    !header_append_mailboxes(out, "To", &fields->to, 1, error))
		return false;
	header_append_text(out, "Subject", fields->subject);
	return header_append_message_id(out, "Message-ID", fields->message_id, error) &&
	       header_append_folded(out, "MIME-Version", "1.0", error) &&
	       append_extra(out, fields, error);
}

static void
append_spans(GString *out, const struct compose_part *part)
{
	for (size_t i = 0; i < part->span_count; i++)
		g_string_append_len(
		    out, part->spans[i].data, (gssize)part->spans[i].size);
}

static void
append_part(GString *out, const char *subtype, const struct compose_part *part)
{
	g_string_append_printf(out,
	    "Content-Type: text/%s; charset=utf-8\r\n"
	    "Content-Transfer-Encoding: %s\r\n\r\n",
	    subtype, encoding_get_name(part->encoding));
	append_spans(out, part);
}

static bool
is_both(const struct compose_headers *fields)
{
	return fields->text.spans && fields->html.spans;
}

/* Append the text, the HTML, or both. @param boundary  for both */
static void
append_content(GString *out, const struct compose_headers *fields, const char *boundary)
{
	if (!is_both(fields)) {
		append_part(out, fields->html.spans ? "html" : "plain",
		    fields->html.spans ? &fields->html : &fields->text);
		return;
	}
	g_string_append_printf(out,
	    "Content-Type: multipart/alternative; boundary=\"%s\"\r\n\r\n--%s\r\n",
	    boundary, boundary);
	append_part(out, "plain", &fields->text);
	g_string_append_printf(out, "\r\n--%s\r\n", boundary);
	append_part(out, "html", &fields->html);
	g_string_append_printf(out, "\r\n--%s--\r\n", boundary);
}

/* RFC 2183; the restricted name needs no encoding. Neither boundary is a prefix of the
 * other (RFC 2046 section 5.1.2). */
static bool
append_mixed(GString *out, const struct compose_headers *fields, GError **error)
{
	const struct compose_attachment *file = &fields->file;
	static const char allowed[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	    "0123456789._-";
	g_autofree char *inner = g_strconcat(INNER_MARK, fields->boundary, NULL);

	if (!*file->name || strspn(file->name, allowed) != strlen(file->name) ||
	    strlen(file->name) > BOUNDS_LINE_SOFT_BYTES)
		return refuse(error, "has an invalid attachment name", "");
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
	append_spans(out, &file->part);
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
