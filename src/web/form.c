/*
 * form.c - parse the fields of a posted form, and of the query of a URL.
 */
#include "web/form.h"

#include <string.h>

#include "base/bounds.h"
#include "message/web_proto.h"

#define URLENCODED "application/x-www-form-urlencoded"
#define MULTIPART  "multipart/form-data"

static bool
is_name(const char *text)
{
	size_t size = strspn(text, "abcdefghijklmnopqrstuvwxyz"
	                           "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_");

	return size > 0 && size <= WEB_PROTO_NAME_BYTES && !text[size];
}

/* Convert line ends in place. @return whether it is text */
static bool
clean_value(GString *value)
{
	gsize size = 0;

	if (!g_utf8_validate(value->str, (gssize)value->len, NULL))
		return false;
	for (const char *at = value->str; *at; at++) {
		if (*at == '\r' && at[1] == '\n')
			continue;
		if (g_ascii_iscntrl(*at) && *at != '\n' && *at != '\t')
			return false;
		value->str[size++] = *at == '\t' ? ' ' : *at;
	}
	g_string_truncate(value, size);
	return size <= WEB_PROTO_FIELD_BYTES;
}

/* @param value  taken */
static bool
add_field(GHashTable *fields, const char *name, GString *value)
{
	bool is_ok = is_name(name) && clean_value(value) &&
	             g_hash_table_size(fields) < WEB_PROTO_FIELDS &&
	             !g_hash_table_contains(fields, name);
	char *text = g_string_free(value, !is_ok);

	if (is_ok)
		g_hash_table_insert(fields, g_strdup(name), text);
	return is_ok;
}

static GHashTable *
new_fields(void)
{
	return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

/* ---- application/x-www-form-urlencoded ---- */

static bool
add_pair(GHashTable *fields, const char *pair, size_t size)
{
	const char *equals = memchr(pair, '=', size);
	size_t name_size = equals ? (size_t)(equals - pair) : size;
	g_autofree char *name = g_strndup(pair, name_size);
	g_autofree char *escaped = NULL;
	g_autoptr(GBytes) value = NULL;

	if (!equals || memchr(pair, '\0', size))
		return false;
	escaped = g_strdelimit(g_strndup(equals + 1, size - name_size - 1), "+", ' ');
	value = g_uri_unescape_bytes(escaped, -1, NULL, NULL);
	return value && add_field(fields, name,
	                    g_string_new_len(g_bytes_get_data(value, NULL),
	                        (gssize)g_bytes_get_size(value)));
}

static GHashTable *
parse_urlencoded(const char *data, size_t size)
{
	g_autoptr(GHashTable) fields = new_fields();
	const char *end = data + size;

	while (data < end) {
		const char *and = memchr(data, '&', (size_t)(end - data));
		size_t part = (size_t)((and? and : end) - data);

		if (!add_pair(fields, data, part) || (and&&and+1 == end))
			return NULL;
		data += part + (and? 1 : 0);
	}
	return g_steal_pointer(&fields);
}

static bool
has_name(const char *pair, size_t size, const char *name)
{
	size_t name_size = strlen(name);

	return size > name_size && pair[name_size] == '=' &&
	       memcmp(pair, name, name_size) == 0;
}

GHashTable *
form_parse_query(const char *query, const char *const names[])
{
	g_autoptr(GHashTable) fields = new_fields();

	while (*query) {
		size_t size = strcspn(query, "&");

		for (const char *const *name = names; *name; name++)
			if (has_name(query, size, *name) &&
			    !add_pair(fields, query, size))
				return NULL;
		query += size + (query[size] ? 1 : 0);
	}
	return g_steal_pointer(&fields);
}

/* ---- multipart/form-data ---- */

/*
 * Find a parameter in a list of them: ;name=value;other="value".
 *
 * @param is_only  no other ones are allowed
 * @return NULL if it is missing or repeated, or the list is malformed
 */
static char *
parse_parameters(const char *text, const char *name, bool is_only)
{
	g_autofree char *found = NULL;

	while (*text == ';') {
		const char *key = text + 1 + strspn(text + 1, " \t");
		size_t key_size = strcspn(key, "=; \t\"");
		const char *value = key + key_size + 1;
		bool is_quoted, is_it;
		size_t size;

		if (!key_size || key[key_size] != '=')
			return NULL;
		is_it = strlen(name) == key_size &&
		        g_ascii_strncasecmp(key, name, key_size) == 0;
		is_quoted = *value == '"';
		value += is_quoted ? 1 : 0;
		size = strcspn(value, is_quoted ? "\"\\" : " \t;\"\\");
		if ((is_quoted && value[size] != '"') || (is_it ? !!found : is_only))
			return NULL;
		if (is_it)
			found = g_strndup(value, size);
		text = value + size + (is_quoted ? 1 : 0);
		text += strspn(text, " \t");
	}
	return *text ? NULL : g_steal_pointer(&found);
}

/* Encodings that change nothing, as some clients say (deprecated by RFC 7578). */
static bool
is_identity(const char *encoding)
{
	return g_ascii_strcasecmp(encoding, "7bit") == 0 ||
	       g_ascii_strcasecmp(encoding, "8bit") == 0 ||
	       g_ascii_strcasecmp(encoding, "binary") == 0;
}

/* @return the value of a header line, or NULL if it has another name */
static const char *
match_line(const char *line, const char *name)
{
	size_t size = strlen(name);

	return g_ascii_strncasecmp(line, name, size) == 0
	           ? line + size + strspn(line + size, " \t")
	           : NULL;
}

/* The header of a part. @return the field's name; NULL if anything is unusual */
static char *
parse_part_head(const char *head)
{
	g_auto(GStrv) lines = g_strsplit(head, "\r\n", -1);
	g_autofree char *name = NULL;

	for (char **line = lines; *line; line++) {
		const char *disposition = match_line(*line, "Content-Disposition:");
		const char *encoding = match_line(*line, "Content-Transfer-Encoding:");

		if (match_line(*line, "Content-Type:") ||
		    match_line(*line, "Content-Length:") ||
		    (encoding && is_identity(encoding)))
			continue;
		disposition = disposition ? match_line(disposition, "form-data") : NULL;
		if (name || !disposition)
			return NULL;
		name = parse_parameters(disposition, "name", true);
		if (!name)
			return NULL;
	}
	return g_steal_pointer(&name);
}

/* @param part  between the line end behind a boundary and the one before the next */
static bool
add_part(GHashTable *fields, const char *part, size_t size)
{
	const char *empty = g_strstr_len(part, (gssize)size, "\r\n\r\n");
	g_autofree char *head = empty ? g_strndup(part, (gsize)(empty - part)) : NULL;
	g_autofree char *name = head ? parse_part_head(head) : NULL;

	return name && add_field(fields, name,
	                   g_string_new_len(
	                       empty + 4, (gssize)(size - (size_t)(empty + 4 - part))));
}

/* RFC 2046 section 5.1.1; no preamble, and only a line end behind the last boundary. */
static GHashTable *
parse_multipart(const char *boundary, const char *body, size_t size)
{
	g_autofree char *first = g_strconcat("--", boundary, NULL);
	g_autofree char *next = g_strconcat("\r\n", first, NULL);
	g_autoptr(GHashTable) fields = new_fields();
	size_t length = strlen(first);
	const char *end = body + size, *at = body + length;

	if (memchr(body, '\0', size) || size < length ||
	    memcmp(body, first, length) != 0)
		return NULL;
	while (end - at >= 2 && memcmp(at, "\r\n", 2) == 0) {
		const char *part = at + 2;

		at = g_strstr_len(part, end - part, next);
		if (!at || !add_part(fields, part, (size_t)(at - part)))
			return NULL;
		at += length + 2;
	}
	if (end - at < 2 || memcmp(at, "--", 2) != 0)
		return NULL;
	at += 2;
	if (at != end && !(end - at == 2 && memcmp(at, "\r\n", 2) == 0))
		return NULL;
	return g_steal_pointer(&fields);
}

GHashTable *
form_parse(const char *type, const char *body, size_t size)
{
	size_t length = type ? strcspn(type, "; \t") : 0;
	const char *parameters =
	    type ? type + length + strspn(type + length, " \t") : "";
	GHashTable *fields = NULL;

	if (!type || (length == strlen(URLENCODED) &&
	                 g_ascii_strncasecmp(type, URLENCODED, length) == 0))
		fields = parse_urlencoded(body, size);
	else if (length == strlen(MULTIPART) &&
	         g_ascii_strncasecmp(type, MULTIPART, length) == 0) {
		g_autofree char *boundary =
		    parse_parameters(parameters, "boundary", false);

		if (boundary && *boundary && strlen(boundary) <= BOUNDS_BOUNDARY_BYTES)
			fields = parse_multipart(boundary, body, size);
	}
	return fields;
}

bool
form_is_one_click(GHashTable *fields)
{
	const char *value = g_hash_table_lookup(fields, "List-Unsubscribe");

	return value && strcmp(value, "One-Click") == 0 &&
	       g_hash_table_size(fields) == 1;
}
