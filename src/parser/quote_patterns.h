/*
 * quote_patterns.h - how mail programs begin what they quote, in many languages.
 *
 * All in the folded case of g_utf8_casefold().
 */
#ifndef PAPERBOY_PARSER_QUOTE_PATTERNS_H
#define PAPERBOY_PARSER_QUOTE_PATTERNS_H

#include <stdbool.h>

/** Tell whether a folded text has a word for "wrote" in it. */
bool quote_patterns_has_verb(const char *folded);

/** Tell whether a folded line begins as an attribution of several lines does. */
bool quote_patterns_has_opening(const char *folded);

/** Tell whether a folded line announces a forwarded or quoted message. */
bool quote_patterns_is_divider(const char *folded);

/** Tell whether a folded line is what a program or a telephone adds. */
bool quote_patterns_is_advertisement(const char *folded);

/** Tell whether a folded line is the header line that says who wrote. */
bool quote_patterns_is_from(const char *folded);

/** Tell whether a folded line is another header line of a quoted message. */
bool quote_patterns_is_header(const char *folded);

#endif
