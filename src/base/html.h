/*
 * html.h - convert an HTML message to plain text.
 *
 * Implemented as a tokenizer and a bounded stack of elements.  Invisible content
 * (scripts, styles, hidden elements, comments) is removed.  Text that mail clients mark
 * as quoted is prefixed with one ">" per level, so that quotes are stripped from text
 * and HTML alike (parser/quote_strip.h).  Marked signatures are removed.
 */
#pragma once

#include <stddef.h>

/**
 * Convert HTML to text.
 *
 * @param html  valid UTF-8
 * @return valid UTF-8 with LF line ends, at most about BOUNDS_MAIL_DECODE_BYTES;
 * owned by the caller
 */
char *html_format_text(const char *html, size_t size);
