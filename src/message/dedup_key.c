/*
 * dedup_key.c - key for duplicate suppression, computed without a MIME parser.
 */
#include "message/dedup_key.h"

#include <glib.h>
#include <string.h>

#include "base/bounds.h"

/* A line without its line end. */
struct line {
	const char *text;
	size_t size;
};

/* The unread part of a message. */
struct rest {
	const char *at;
	size_t size;
};

/* @return false at the end */
static bool
next_line(struct rest *rest, struct line *line)
{
	const char *end;

	if (!rest->size)
		return false;
	end = memchr(rest->at, '\n', rest->size);
	line->text = rest->at;
	line->size = end ? (size_t)(end - rest->at) : rest->size;
	rest->at += line->size + (end ? 1 : 0);
	rest->size -= line->size + (end ? 1 : 0);
	if (line->size && line->text[line->size - 1] == '\r')
		line->size--;
	return true;
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* @return offset of the value; 0 if the line is not of this field */
static size_t
match_name(const struct line *line, const char *name)
{
	size_t at = strlen(name);

	if (line->size <= at || g_ascii_strncasecmp(line->text, name, at) != 0)
		return 0;
	/* Blanks before the colon are obsolete but valid (RFC 5322 section 4.5). */
	while (at < line->size && is_blank(line->text[at]))
		at++;
	return at < line->size && line->text[at] == ':' ? at + 1 : 0;
}

static void
append_parsed_value(GString *value, const char *text, size_t size)
{
	for (size_t i = 0; i < size && value->len < BOUNDS_MAIL_VALUE_BYTES; i++)
		g_string_append_c(value, g_ascii_iscntrl(text[i]) ? ' ' : text[i]);
}

/*
 * Find a field.
 *
 * @param rest     in: the header, out: the body
 * @param is_last  find the lowest field of that name, not the topmost
 */
static char *
find_field(struct rest *rest, const char *name, bool is_last)
{
	GString *value = NULL;
	bool is_ours = false;
	struct line line;

	while (next_line(rest, &line) && line.size) {
		size_t at;

		if (is_blank(*line.text)) {
			if (is_ours)
				append_parsed_value(value, line.text, line.size);
			continue;
		}
		at = match_name(&line, name);
		is_ours = at && (is_last || !value);
		if (!is_ours)
			continue;
		if (!value)
			value = g_string_new(NULL);
		g_string_truncate(value, 0);
		append_parsed_value(value, line.text + at, line.size - at);
	}
	return value ? g_strstrip(g_string_free(value, FALSE)) : NULL;
}

char *
dedup_key_find_field(const void *raw, size_t size, const char *name)
{
	struct rest rest = {raw, size};

	return find_field(&rest, name, false);
}

char *
dedup_key_find_address(const void *raw, size_t size, const char *name)
{
	g_autofree char *value = dedup_key_find_field(raw, size, name);
	size_t length = value ? strlen(value) : 0;

	if (!length)
		return NULL;
	if (value[0] == '<' && value[length - 1] == '>') {
		value[length - 1] = '\0';
		memmove(value, value + 1, length - 1);
		length -= 2;
	}
	if (length > BOUNDS_ADDRESS_BYTES || strpbrk(value, " <>,;") ||
	    !g_utf8_validate(value, -1, NULL))
		return NULL;
	return g_steal_pointer(&value);
}

/* The address is in the last angle brackets, or the whole value. */
static void
add_author(GChecksum *sum, const char *from)
{
	const char *open = strrchr(from, '<');
	const char *close = open ? strchr(open, '>') : NULL;
	const char *end = close ? close : from + strlen(from);

	for (const char *at = close ? open + 1 : from; at < end; at++) {
		guchar c = (guchar)g_ascii_tolower(*at);

		if (!is_blank((char)c))
			g_checksum_update(sum, &c, 1);
	}
}

static void
add_field(GChecksum *sum, const void *raw, size_t size, const char *name, bool is_last)
{
	struct rest rest = {raw, size};
	g_autofree char *value = find_field(&rest, name, is_last);

	if (value)
		g_checksum_update(sum, (const guchar *)value, (gssize)strlen(value));
	/* The separator keeps values from running into each other. */
	g_checksum_update(sum, (const guchar *)"", 1);
}

static void
add_body(GChecksum *sum, struct rest body)
{
	size_t empty = 0;
	struct line line;

	while (next_line(&body, &line)) {
		if (!line.size) {
			empty++;
			continue;
		}
		/* Empty lines are hashed only if another line follows. */
		for (; empty; empty--)
			g_checksum_update(sum, (const guchar *)"\n", 1);
		g_checksum_update(sum, (const guchar *)line.text, (gssize)line.size);
		g_checksum_update(sum, (const guchar *)"\n", 1);
	}
}

char *
dedup_key_format(const void *raw, size_t size)
{
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	struct rest rest = {raw, size};
	g_autofree char *from = find_field(&rest, "From", false);
	g_autofree char *id = dedup_key_find_field(raw, size, "Message-ID");

	if (id && *id) {
		add_field(sum, raw, size, "Message-ID", false);
	} else {
		add_field(sum, raw, size, "Date", false);
		add_field(sum, raw, size, "Subject", false);
		add_field(sum, raw, size, "Received", true);
	}
	if (from)
		add_author(sum, from);
	g_checksum_update(sum, (const guchar *)"", 1);
	add_body(sum, rest);
	return g_strdup(g_checksum_get_string(sum));
}
