/*
 * headers.h - the header fields of a message, as they stand.
 *
 * Stricter than the standard in one thing: a name ends at its colon.  With a blank
 * before it (RFC 5322 section 4.5) the line is no field, for the mail server that
 * removes forged fields may not have seen one either.
 */
#ifndef PAPERBOY_PARSER_HEADERS_H
#define PAPERBOY_PARSER_HEADERS_H

#include <glib.h>
#include <stdbool.h>

struct headers_entry {
	const char *name; /* printable ASCII, not ended by a NUL */
	size_t name_size;
	const char *value; /* with its folds, not ended by a NUL */
	size_t value_size;
};

/**
 * Parse a header block.
 *
 * @param text  with plain line ends (parser/prescan.h), borrowed by the result
 * @return struct headers_entry, at most BOUNDS_MAIL_FIELDS
 */
GArray *headers_parse(const char *text, size_t size);

/**
 * Parse groups of fields with empty lines between them (RFC 3464 section 2.1).
 *
 * @return arrays as of headers_parse(), at most BOUNDS_REPORT_GROUPS, none empty
 */
GPtrArray *headers_parse_groups(const char *text, size_t size);

/** Tell whether a field has that name, in any case. */
bool headers_is_named(const struct headers_entry *entry, const char *name);

/** Find the topmost field of a name. @return it, of the array, or NULL */
const struct headers_entry *headers_find(const GArray *fields, const char *name);

#endif
