/*
 * form.h - fields of a posted form, strictly.
 */
#ifndef PAPERBOY_WEB_FORM_H
#define PAPERBOY_WEB_FORM_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/**
 * Parse fields in application/x-www-form-urlencoded, also those of a query.
 *
 * Values are valid UTF-8; CR LF becomes LF, a tab a blank, and other controls are
 * refused.  Names consist of letters, hyphens and underscores.
 *
 * @param data  any bytes
 * @return char * → char *, NULL if anything is invalid, repeated or too much
 */
GHashTable *form_parse_urlencoded(const char *data, size_t size);

/**
 * Parse the fields of a body, by its Content-Type: application/x-www-form-urlencoded
 * (also without a type), or multipart/form-data (RFC 7578) without files.
 *
 * @param type    value of Content-Type, or NULL
 * @param status  set on failure: 400, or 415 for another type
 * @return as form_parse_urlencoded()
 */
GHashTable *form_parse(const char *type, const char *body, size_t size, int *status);

/** Whether the fields are only those of a one-click request (RFC 8058 section 3.2). */
bool form_is_one_click(GHashTable *fields);

#endif
