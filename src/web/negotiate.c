/*
 * negotiate.c - what the fields of a request ask for: language, cached tag, origin.
 */
#include "web/negotiate.h"

#include <string.h>

#define TAG_BYTES_MAX 100

/* Thousandths, of "en;q=0.8"; 0 if it is malformed. */
static unsigned
parse_weight(const char *item)
{
	const char *at = strchr(item, ';');
	unsigned weight = 0;

	if (!at)
		return 1000;
	at += 1 + strspn(at + 1, " \t");
	if (g_ascii_strncasecmp(at, "q=", 2) != 0 || (at[2] != '0' && at[2] != '1'))
		return 0;
	weight = (unsigned)(at[2] - '0') * 1000;
	at += 3;
	if (*at == '.')
		at++;
	for (unsigned scale = 100; scale && g_ascii_isdigit(*at); scale /= 10)
		weight += (unsigned)(*at++ - '0') * scale;
	return MIN(weight, 1000);
}

char *
negotiate_language(const char *accept, bool (*has)(const void *data, const char *code),
    const void *data)
{
	g_auto(GStrv) items = g_strsplit(accept ? accept : "", ",", -1);
	g_autofree char *found = NULL;
	unsigned best = 0;

	for (char **item = items; *item; item++) {
		const char *text = g_strstrip(*item);
		unsigned weight = parse_weight(text);
		g_autofree char *code =
		    g_ascii_strdown(text, (gssize)strcspn(text, "-; \t"));

		if (weight > best && has(data, code)) {
			best = weight;
			g_free(found);
			found = g_steal_pointer(&code);
		}
	}
	return found ? g_steal_pointer(&found) : g_strdup("");
}

char *
negotiate_tag(const char *if_none_match)
{
	const char *text = if_none_match ? if_none_match : "";
	size_t size;

	if (g_str_has_prefix(text, "W/"))
		text += 2;
	if (*text != '"')
		return g_strdup("");
	size = strcspn(++text, "\"");
	if (text[size] != '"' || size > TAG_BYTES_MAX)
		return g_strdup("");
	for (size_t i = 0; i < size; i++)
		if (!g_ascii_isgraph(text[i]))
			return g_strdup("");
	return g_strndup(text, size);
}

char *
negotiate_get_origin(const char *url)
{
	const char *host = strstr(url, "://");

	return host ? g_strndup(url, (gsize)(host + 3 - url) + strcspn(host + 3, "/?#"))
	            : g_strdup(url);
}

bool
negotiate_is_same_origin(const char *own, const char *origin, const char *site)
{
	if (origin && strcmp(origin, "null") != 0 &&
	    g_ascii_strcasecmp(origin, own) != 0)
		return false;
	/* "none": entered by the user. */
	return !site || strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0;
}
