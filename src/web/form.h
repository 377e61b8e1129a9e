/*
 * form.h - parse the fields of a posted form, and of the query of a URL.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/**
 * Parse the fields of a body, by its Content-Type: application/x-www-form-urlencoded
 * (also without a type), or multipart/form-data (RFC 7578) without files.
 *
 * Values are valid UTF-8; CR LF becomes LF, a tab a blank, and other controls are
 * refused.  Names consist of letters, hyphens and underscores.
 *
 * @param type    value of Content-Type, or NULL
 * @param body    any bytes
 * @return char * → char *, NULL if anything is invalid, repeated or too much
 */
GHashTable *form_parse(const char *type, const char *body, size_t size);

/**
 * Parse the named fields of a query.  Others are ignored: programs that forward links
 * append parameters of any form.
 *
 * @param names  ends with NULL
 * @return as form_parse(); NULL if one of these fields is invalid or repeated
 */
GHashTable *form_parse_query(const char *query, const char *const names[]);

/** Whether the fields are only those of a one-click request (RFC 8058 section 3.2). */
bool form_is_one_click(GHashTable *fields);
