/*
 * message.c - a whole message from its fields and encoded parts (RFC 5322, RFC 2046).
 */
#include "mail/message.h"

#include <stdbool.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"

/* Room for the header and the lines between the parts. */
#define FRAME_BYTES 3072

static bool
refuse(GError **error, const char *why, const char *what)
{
	g_set_error(error, PB_ERROR, PB_ERROR_INPUT, "message %s%s", why, what);
	return false;
}

static bool
check_extra(const struct message_fields *fields, GError **error)
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

/* memchr() makes this fast where the first octet is rare, as a "=" is. */
static bool
has_text(const struct message_part *part, const char *text, size_t size)
{
	const char *end = part->data + part->size;

	for (const char *p = part->data; (size_t)(end - p) >= size; p++) {
		p = memchr(p, text[0], (size_t)(end - p) - size + 1);
		if (!p)
			return false;
		if (memcmp(p, text, size) == 0)
			return true;
	}
	return false;
}

/* RFC 2046 section 5.1.1. */
static bool
check_boundary(const struct message_fields *fields, GError **error)
{
	const char *boundary = fields->boundary;
	size_t size = boundary ? strlen(boundary) : 0;

	if (size == 0 || size > BOUNDS_BOUNDARY_BYTES)
		return refuse(error, "has a boundary of no or too many octets", "");
	for (const char *p = boundary; *p; p++) {
		if (!g_ascii_isalnum(*p) && !strchr("'()+_,-./:=?", *p))
			return refuse(error, "has a boundary of other characters", "");
	}
	if (has_text(&fields->text, boundary, size) ||
	    has_text(&fields->html, boundary, size) ||
	    has_text(&fields->file.part, boundary, size))
		return refuse(error, "has its boundary in a part", "");
	return true;
}

static bool
append_header(GString *out, const struct message_fields *fields, GError **error)
{
	if (!header_append_date(out, "Date", fields->date, fields->offset_min, error) ||
	    !header_append_mailboxes(out, "From", &fields->from, 1, error) ||
	    !header_append_mailboxes(out, "To", &fields->to, 1, error))
		return false;
	header_append_text(out, "Subject", fields->subject);
	if (!header_append_message_id(out, "Message-ID", fields->message_id, error) ||
	    !header_append_value(out, "MIME-Version", "1.0", error))
		return false;
	for (size_t i = 0; i < fields->extra_count; i++) {
		const struct message_field *field = &fields->extra[i];

		if (field->value &&
		    !header_append_value(out, field->name, field->value, error))
			return false;
	}
	return true;
}

static void
append_part(GString *out, const char *subtype, const struct message_part *part)
{
	g_string_append_printf(out,
	    "Content-Type: text/%s; charset=utf-8\r\n"
	    "Content-Transfer-Encoding: %s\r\n"
	    "\r\n",
	    subtype, encoding_get_name(part->encoding));
	g_string_append_len(out, part->data, (gssize)part->size);
}

/* RFC 2183; the name is ours, so it needs no encoding. */
static bool
append_mixed(GString *out, const struct message_fields *fields, GError **error)
{
	const struct message_file *file = &fields->file;
	static const char letters[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	    "0123456789._-";

	if (!check_boundary(fields, error))
		return false;
	if (!*file->name || strspn(file->name, letters) != strlen(file->name) ||
	    strlen(file->name) > BOUNDS_LINE_SOFT_BYTES)
		return refuse(error, "has a file with a name of other characters", "");
	g_string_append_printf(out,
	    "Content-Type: multipart/mixed; boundary=\"%s\"\r\n\r\n--%s\r\n",
	    fields->boundary, fields->boundary);
	append_part(out, "plain", &fields->text);
	g_string_append_printf(out,
	    "\r\n--%s\r\nContent-Type: %s; charset=utf-8\r\n"
	    "Content-Disposition: attachment; filename=\"%s\"\r\n"
	    "Content-Transfer-Encoding: %s\r\n\r\n",
	    fields->boundary, file->type, file->name,
	    encoding_get_name(file->part.encoding));
	g_string_append_len(out, file->part.data, (gssize)file->part.size);
	g_string_append_printf(out, "\r\n--%s--\r\n", fields->boundary);
	return true;
}

GBytes *
message_build(const struct message_fields *fields, GError **error)
{
	g_autoptr(GString) out =
	    g_string_sized_new(FRAME_BYTES + fields->text.size + fields->html.size);
	const char *boundary = fields->boundary;

	if (!check_extra(fields, error) || !append_header(out, fields, error))
		return NULL;
	if (fields->file.name) {
		if (!append_mixed(out, fields, error))
			return NULL;
		return g_string_free_to_bytes(g_steal_pointer(&out));
	}
	if (!fields->html.data) {
		append_part(out, "plain", &fields->text);
		return g_string_free_to_bytes(g_steal_pointer(&out));
	}
	if (!check_boundary(fields, error))
		return NULL;
	g_string_append_printf(out,
	    "Content-Type: multipart/alternative; boundary=\"%s\"\r\n\r\n--%s\r\n",
	    boundary, boundary);
	append_part(out, "plain", &fields->text);
	g_string_append_printf(out, "\r\n--%s\r\n", boundary);
	append_part(out, "html", &fields->html);
	g_string_append_printf(out, "\r\n--%s--\r\n", boundary);
	return g_string_free_to_bytes(g_steal_pointer(&out));
}
