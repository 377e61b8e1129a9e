/*
 * headers.c - raw header fields of a message.
 */
#include "parser/headers.h"

#include <string.h>

#include "base/bounds.h"

/* Maximum length of a field name; real names are much shorter. */
#define NAME_BYTES 200

/* @return end of a field with its continuation lines */
static const char *
find_field_end(const char *at, const char *end)
{
	do {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		at = newline ? newline + 1 : end;
	} while (at < end && (*at == ' ' || *at == '\t'));
	return at;
}

static size_t
measure_name(const char *at, const char *end)
{
	size_t n = 0;

	while (
	    at + n < end && n <= NAME_BYTES && g_ascii_isgraph(at[n]) && at[n] != ':')
		n++;
	return at + n < end && n <= NAME_BYTES && at[n] == ':' ? n : 0;
}

/* Parse up to an empty line. @return where it stopped */
static const char *
parse_block(GArray *fields, const char *at, const char *end)
{
	while (at < end && *at != '\n') {
		const char *next = find_field_end(at, end);
		size_t name = measure_name(at, next);
		struct headers_entry entry = {.name = at, .name_size = name};

		if (name > 0 && fields->len < BOUNDS_MAIL_FIELDS) {
			entry.value = at + name + 1;
			entry.value_size = (size_t)(next - entry.value);
			g_array_append_val(fields, entry);
		}
		at = next;
	}
	return at;
}

static GArray *
new_fields(void)
{
	return g_array_new(FALSE, FALSE, sizeof(struct headers_entry));
}

GArray *
headers_parse(const char *text, size_t size)
{
	GArray *fields = new_fields();

	parse_block(fields, text, text + size);
	return fields;
}

GPtrArray *
headers_parse_groups(const char *text, size_t size)
{
	GPtrArray *groups =
	    g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
	const char *end = text + size;

	while (text < end && groups->len < BOUNDS_REPORT_GROUPS) {
		GArray *fields;

		while (text < end && *text == '\n')
			text++;
		fields = new_fields();
		text = parse_block(fields, text, end);
		if (fields->len > 0)
			g_ptr_array_add(groups, fields);
		else
			g_array_unref(fields);
	}
	return groups;
}

bool
headers_is_named(const struct headers_entry *entry, const char *name)
{
	return strlen(name) == entry->name_size &&
	       g_ascii_strncasecmp(entry->name, name, entry->name_size) == 0;
}

const struct headers_entry *
headers_find(const GArray *fields, const char *name)
{
	for (guint i = 0; i < fields->len; i++) {
		const struct headers_entry *entry =
		    &g_array_index(fields, struct headers_entry, i);

		if (headers_is_named(entry, name))
			return entry;
	}
	return NULL;
}
