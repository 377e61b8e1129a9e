/*
 * quote_patterns.h - attribution lines and other markers of quotes, by language.
 *
 * All texts are case-folded by g_utf8_casefold().
 */
#ifndef PAPERBOY_PARSER_QUOTE_PATTERNS_H
#define PAPERBOY_PARSER_QUOTE_PATTERNS_H

#include <stdbool.h>

/** Whether the text contains a verb for "wrote". */
bool quote_patterns_has_verb(const char *folded);

/** Whether a line starts like an attribution of several lines. */
bool quote_patterns_has_opening(const char *folded);

/** Whether a line introduces a forwarded or quoted message. */
bool quote_patterns_is_divider(const char *folded);

/** Whether a line was added by a mail program or phone ("sent from my ..."). */
bool quote_patterns_is_advertisement(const char *folded);

/** Whether a line is the From: line of a quoted header. */
bool quote_patterns_is_from(const char *folded);

/** Whether a line is another header line of a quoted message. */
bool quote_patterns_is_header(const char *folded);

#endif
