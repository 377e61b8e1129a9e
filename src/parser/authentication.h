/*
 * authentication.h - Authentication-Results fields, taken apart (RFC 8601).
 *
 * Who may be believed is not decided here.
 */
#ifndef PAPERBOY_PARSER_AUTHENTICATION_H
#define PAPERBOY_PARSER_AUTHENTICATION_H

#include <glib.h>

/**
 * Append one field as records: its raw value, its authserv-id, its results.
 *
 * @param value  one harmless line
 * @param left   how many results may still be told, lowered by those that were
 */
void authentication_append(GString *out, const char *value, unsigned *left);

#endif
