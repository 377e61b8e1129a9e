/*
 * html.h - the text of an HTML message, as its reader would see it.
 *
 * Not a browser: a tokenizer and a bounded stack of elements.  What does not show
 * (scripts, styles, hidden parts, comments) goes.  What mail programs mark as quoted is
 * on lines that begin with ">", one for each level, so that text and HTML are cut
 * alike (parser/quote_strip.h); what they mark as a signature goes.
 */
#ifndef PAPERBOY_BASE_HTML_H
#define PAPERBOY_BASE_HTML_H

#include <stddef.h>

/**
 * Make text of HTML.
 *
 * @param html  valid UTF-8
 * @return valid UTF-8 with LF line ends, at most about BOUNDS_MAIL_DECODE_BYTES;
 * owned by the caller
 */
char *html_format_text(const char *html, size_t size);

#endif
