/*
 * feed_charset.c - the encoding that an XML declaration names.
 */
#include "sources/feed_charset.h"

#include <glib.h>
#include <string.h>

#include "base/bounds.h"

char *
feed_charset_find(const char *text, size_t length)
{
	static const char *const known[] = {"iso-8859-", "windows-125", "cp125",
	    "koi8-", "gb", "big5", "shift_jis", "euc-", "macintosh", "tis-620"};
	size_t head = MIN(length, 200);
	const char *end = g_strstr_len(text, (gssize)head, "?>");
	const char *at = end && length > 5 && memcmp(text, "<?xml", 5) == 0
	                     ? g_strstr_len(text, end - text, "encoding")
	                     : NULL;
	char name[BOUNDS_XML_CHARSET_BYTES + 1];
	size_t size = 0;

	if (!at)
		return NULL;
	at += strlen("encoding");
	at += strspn(at, " \t\r\n=");
	if (*at != '"' && *at != '\'')
		return NULL;
	for (at++; size < BOUNDS_XML_CHARSET_BYTES &&
	           (g_ascii_isalnum(*at) || (*at && strchr("-_", *at)));
	     at++)
		name[size++] = g_ascii_tolower(*at);
	name[size] = '\0';
	if (strcmp(name, "iso-8859-1") == 0)
		return NULL;
	for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
		if (g_str_has_prefix(name, known[i]))
			return g_strdup(name);
	return NULL;
}
