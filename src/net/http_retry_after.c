/*
 * http_retry_after.c - parser for Retry-After and rate limit headers.
 */
#include "net/http_retry_after.h"

#include <curl/curl.h>
#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "base/bounds.h"

/* An unsigned number of any length. @return false if there is none */
static bool
parse_seconds(const char *text, size_t length, int64_t *seconds)
{
	int64_t value = 0;

	if (length == 0)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (!g_ascii_isdigit(text[i]))
			return false;
		value = MIN(value * 10 + (text[i] - '0'), BOUNDS_HTTP_WAIT_S);
	}
	*seconds = value;
	return true;
}

int64_t
http_retry_after_parse_date(const char *date)
{
	int64_t at = date ? (int64_t)curl_getdate(date, NULL) : -1;

	return at >= 0 ? at : HTTP_RETRY_AFTER_UNKNOWN;
}

int64_t
http_retry_after_parse(const char *retry_after, const char *date)
{
	int64_t seconds, until, from;

	if (!retry_after)
		return HTTP_RETRY_AFTER_UNKNOWN;
	if (parse_seconds(retry_after, strlen(retry_after), &seconds))
		return seconds;
	/* curl_getdate() accepts "-5" and "12:00"; an HTTP date starts with a day
	 * name. */
	if (!g_ascii_isalpha(*retry_after))
		return HTTP_RETRY_AFTER_UNKNOWN;
	until = http_retry_after_parse_date(retry_after);
	from = http_retry_after_parse_date(date);
	if (until == HTTP_RETRY_AFTER_UNKNOWN || from == HTTP_RETRY_AFTER_UNKNOWN)
		return HTTP_RETRY_AFTER_UNKNOWN;
	return CLAMP(until - from, 0, BOUNDS_HTTP_WAIT_S);
}

int64_t
http_retry_after_parse_ratelimit(const char *ratelimit)
{
	g_auto(GStrv) parts = NULL;
	int64_t remaining = -1, reset = -1;

	if (!ratelimit)
		return HTTP_RETRY_AFTER_UNKNOWN;
	parts = g_strsplit(ratelimit, ";", 8);
	for (size_t i = 0; parts[i]; i++) {
		const char *part = g_strstrip(parts[i]);

		if (g_str_has_prefix(part, "r="))
			parse_seconds(part + 2, strlen(part + 2), &remaining);
		else if (g_str_has_prefix(part, "t="))
			parse_seconds(part + 2, strlen(part + 2), &reset);
	}
	if (remaining != 0 || reset < 0)
		return HTTP_RETRY_AFTER_UNKNOWN;
	return MIN(reset + 1, BOUNDS_HTTP_WAIT_S);
}
