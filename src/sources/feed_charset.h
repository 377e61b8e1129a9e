/*
 * feed_charset.h - the encoding that an XML declaration names.
 */
#ifndef PAPERBOY_SOURCES_FEED_CHARSET_H
#define PAPERBOY_SOURCES_FEED_CHARSET_H

#include <stddef.h>

/**
 * Find an encoding that expat does not know and GLib may: one of those that keep ASCII
 * as it is, so that the declaration could be read.
 *
 * @return a new string in lower case, or NULL
 */
char *feed_charset_find(const char *text, size_t length);

#endif
