/*
 * headers.h - raw header fields of a message.
 *
 * Unlike RFC 5322 section 4.5, no blanks are allowed before the colon: a mail server
 * that removes forged fields may not treat such a line as a field either.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

struct headers_entry {
	const char *name; /* printable ASCII, not NUL-terminated */
	size_t name_size;
	const char *value; /* still folded, not NUL-terminated */
	size_t value_size;
};

/**
 * Parse a header.
 *
 * @param text  with LF line ends (prescan_normalize()), borrowed by the result
 * @return array of struct headers_entry, at most BOUNDS_MAIL_FIELDS
 */
GArray *headers_parse(const char *text, size_t size);

/**
 * Parse groups of fields separated by empty lines (RFC 3464 section 2.1).
 *
 * @return arrays as of headers_parse(), at most BOUNDS_REPORT_GROUPS, none empty
 */
GPtrArray *headers_parse_groups(const char *text, size_t size);

/** Whether a field has this name, case-insensitively. */
bool headers_is_named(const struct headers_entry *entry, const char *name);

/** @return the topmost field of this name, owned by the array, or NULL */
const struct headers_entry *headers_find(const GArray *fields, const char *name);
