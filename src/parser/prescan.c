/*
 * prescan.c - structural limits, checked before the MIME parser runs.
 */
#include "parser/prescan.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"

/* An open multipart. */
struct level {
	const char *boundary;
	size_t size;
	unsigned depth; /* of its parts */
};

struct scan {
	struct level levels[BOUNDS_MAIL_DEPTH];
	unsigned level_count;
	unsigned depth; /* enclosing multiparts and messages */
	unsigned parts;
	unsigned types;      /* lines that may be a Content-Type, anywhere */
	unsigned boundaries; /* boundary parameters in these lines */

	/* Of the possible field that this line belongs to. */
	unsigned parentheses;
	const char *type; /* its value if it is a Content-Type */
	const char
	    *content_type; /* Content-Type to evaluate at the end of the header */
	size_t content_type_size;

	bool is_header;
	size_t header_bytes;
	unsigned fields;
};

static bool
refuse(GError **error, const char *what, unsigned limit)
{
	return pb_fail(
	    error, PB_ERROR_LIMIT, "message has more than %u %s", limit, what);
}

static bool
refuse_with(GError **error, const char *why)
{
	return pb_fail(error, PB_ERROR_LIMIT, "%s", why);
}

char *
prescan_normalize(const char *raw, size_t size, size_t *size_out, GError **error)
{
	g_autofree char *text = NULL;
	bool is_header = true;
	size_t nuls = 0, returns = 0, n = 0;

	if (size > BOUNDS_MAIL_BYTES) {
		refuse(error, "bytes", BOUNDS_MAIL_BYTES);
		return NULL;
	}
	text = g_malloc(size + 1);
	if (size >= 5 && memcmp(raw, "From ", 5) == 0) {
		const char *end = memchr(raw, '\n', size);
		size_t line = end ? (size_t)(end + 1 - raw) : size;

		raw += line;
		size -= line;
	}
	for (size_t i = 0; i < size; i++) {
		size_t run = i;

		while (run < size && raw[run] == '\r')
			run++;
		if (run > i && run < size && raw[run] == '\n') {
			i = run;
		} else if (raw[i] == '\r' && is_header) {
			returns++;
		}
		nuls += raw[i] == '\0';
		text[n] = raw[i] == '\r' ? '\n' : raw[i];
		if (text[n] == '\n' && (n == 0 || text[n - 1] == '\n'))
			is_header = false;
		n++;
	}
	if (nuls > BOUNDS_MAIL_NULS)
		refuse_with(error, "message contains a NUL");
	else if (returns > BOUNDS_MAIL_HEADER_CRS)
		refuse_with(error, "header contains a bare CR");
	else {
		text[n] = '\0';
		*size_out = n;
		return g_steal_pointer(&text);
	}
	return NULL;
}

static bool
has_prefix(const char *text, const char *end, const char *prefix)
{
	size_t size = strlen(prefix);

	return (size_t)(end - text) >= size &&
	       g_ascii_strncasecmp(text, prefix, size) == 0;
}

static const char *
skip_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t' || *at == '\n'))
		at++;
	return at;
}

/* Read a parameter value after "=".  @return its end */
static const char *
read_value(const char *at, const char *end, const char **value)
{
	at = skip_blanks(at, end);
	if (at < end && *at == '"') {
		*value = ++at;
		while (at < end && *at != '"')
			at++;
		return at;
	}
	*value = at;
	while (at < end && !strchr(" \t\n;()\"", *at))
		at++;
	return at;
}

/* Count all boundary parameters in a possible Content-Type; the first one is used. */
static bool
find_boundary(struct scan *scan, const char *at, const char *end, const char **boundary,
    size_t *size, GError **error)
{
	for (; at < end; at++) {
		const char *value, *stop;

		if ((*at != 'b' && *at != 'B') || !has_prefix(at, end, "boundary"))
			continue;
		at += strlen("boundary");
		while (at < end && (*at == '*' || g_ascii_isdigit(*at)))
			at++;
		at = skip_blanks(at, end);
		if (at == end || *at != '=')
			continue;
		stop = read_value(at + 1, end, &value);
		if (++scan->boundaries > BOUNDS_MAIL_BOUNDARIES)
			return refuse(error, "boundaries", BOUNDS_MAIL_BOUNDARIES);
		if (stop - value > BOUNDS_MAIL_BOUNDARY_BYTES)
			return refuse(
			    error, "bytes in a boundary", BOUNDS_MAIL_BOUNDARY_BYTES);
		if (!*boundary) {
			*boundary = value;
			*size = (size_t)(stop - value);
		}
		at = stop;
	}
	return true;
}

/* End of a field: evaluate it if it may be a Content-Type. */
static bool
end_field(struct scan *scan, const char *end, GError **error)
{
	const char *type = scan->type;
	const char *boundary = NULL;
	size_t size = 0;

	scan->parentheses = 0;
	scan->type = NULL;
	if (!type)
		return true;
	if (scan->is_header && !scan->content_type) {
		scan->content_type = type;
		scan->content_type_size = (size_t)(end - type);
		return true;
	}
	return find_boundary(scan, type, end, &boundary, &size, error);
}

static bool
enter_level(struct scan *scan, GError **error)
{
	if (++scan->depth > BOUNDS_MAIL_DEPTH)
		return refuse(error, "levels of nested parts", BOUNDS_MAIL_DEPTH);
	return true;
}

static void
begin_header(struct scan *scan)
{
	scan->is_header = true;
	scan->header_bytes = 0;
	scan->fields = 0;
	scan->content_type = NULL;
}

/* End of a header: parts, another header or a body follows. */
static bool
end_header(struct scan *scan, GError **error)
{
	const char *at = scan->content_type;
	const char *boundary = NULL;
	const char *end;
	size_t size = 0;

	scan->is_header = false;
	if (!at)
		return true;
	end = at + scan->content_type_size;
	scan->content_type = NULL;
	if (!find_boundary(scan, at, end, &boundary, &size, error))
		return false;
	at = skip_blanks(at, end);
	if (has_prefix(at, end, "message/rfc822") ||
	    has_prefix(at, end, "message/global") ||
	    has_prefix(at, end, "message/news")) {
		begin_header(scan);
		return enter_level(scan, error);
	}
	if (!has_prefix(at, end, "multipart") || !boundary || size == 0)
		return true;
	if (!enter_level(scan, error))
		return false;
	/* The depth includes all levels, so there is room for one more. */
	scan->levels[scan->level_count++] = (struct level){boundary, size, scan->depth};
	return true;
}

/* Find the innermost multipart whose boundary the line is (RFC 2046 section 5.1.1). */
static bool
find_level(const struct scan *scan, const char *line, size_t size, unsigned *found)
{
	if (size < 2 || line[0] != '-' || line[1] != '-')
		return false;
	for (unsigned i = scan->level_count; i > 0; i--) {
		const struct level *level = &scan->levels[i - 1];

		if (size - 2 >= level->size &&
		    memcmp(line + 2, level->boundary, level->size) == 0) {
			*found = i - 1;
			return true;
		}
	}
	return false;
}

static bool
scan_boundary(
    struct scan *scan, unsigned found, const char *line, size_t size, GError **error)
{
	const struct level *level = &scan->levels[found];
	size_t behind = 2 + level->size;
	bool is_last = size >= behind + 2 && memcmp(line + behind, "--", 2) == 0;

	if (scan->is_header && !end_header(scan, error))
		return false;
	scan->is_header = false;
	scan->level_count = is_last ? found : found + 1;
	scan->depth = is_last ? level->depth - 1 : level->depth;
	if (is_last)
		return true;
	if (++scan->parts > BOUNDS_MAIL_PARTS)
		return refuse(error, "parts", BOUNDS_MAIL_PARTS);
	begin_header(scan);
	return true;
}

static bool
begin_field(struct scan *scan, const char *line, size_t size, GError **error)
{
	static const char name[] = "content-type";
	const char *end = line + size;
	const char *colon;

	if (!has_prefix(line, end, name))
		return true;
	if (++scan->types > 2 * BOUNDS_MAIL_PARTS)
		return refuse(error, "content types", 2 * BOUNDS_MAIL_PARTS);
	colon = memchr(line, ':', size);
	scan->type = colon ? colon + 1 : line + strlen(name);
	return true;
}

static bool
scan_line(struct scan *scan, const char *line, size_t size, GError **error)
{
	bool is_continued = size > 0 && (line[0] == ' ' || line[0] == '\t');
	unsigned found;

	if (size > BOUNDS_MAIL_LINE_BYTES)
		return refuse(error, "bytes in a line", BOUNDS_MAIL_LINE_BYTES);
	if (!is_continued && !end_field(scan, line, error))
		return false;
	for (size_t i = 0; i < size; i++)
		scan->parentheses += line[i] == '(';
	if (scan->parentheses > BOUNDS_MAIL_PARENTHESES)
		return refuse(error, "parentheses in a field", BOUNDS_MAIL_PARENTHESES);
	if (find_level(scan, line, size, &found))
		return scan_boundary(scan, found, line, size, error);
	if (!is_continued && !begin_field(scan, line, size, error))
		return false;
	if (!scan->is_header)
		return true;
	if (size == 0)
		return end_header(scan, error);
	scan->header_bytes += size + 1;
	scan->fields += !is_continued;
	if (scan->header_bytes > BOUNDS_MAIL_HEADER_BYTES)
		return refuse(error, "bytes in a header", BOUNDS_MAIL_HEADER_BYTES);
	if (scan->fields > BOUNDS_MAIL_FIELDS)
		return refuse(error, "fields in a header", BOUNDS_MAIL_FIELDS);
	return true;
}

bool
prescan_check(const char *text, size_t size, GError **error)
{
	struct scan scan = {.is_header = true};
	const char *end = text + size;

	if (size > BOUNDS_MAIL_BYTES)
		return refuse(error, "bytes", BOUNDS_MAIL_BYTES);
	for (const char *line = text; line < end;) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		size_t length = (size_t)((newline ? newline : end) - line);

		if (!scan_line(&scan, line, length, error))
			return false;
		line += length + 1;
	}
	return end_field(&scan, end, error) &&
	       (!scan.is_header || end_header(&scan, error));
}
