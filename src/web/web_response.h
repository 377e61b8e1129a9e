/*
 * web_response.h - HTTP responses; each closes its connection.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct web_response {
	int status;
	const char *type;           /* Content-Type, or NULL */
	const char *content_policy; /* Content-Security-Policy, or NULL */
	const char *allow;          /* for 405 */
	const char *tag;            /* entity tag without quotes, or NULL */
	bool is_private;            /* not to be indexed */
	GBytes *body;               /* or NULL */
};

/**
 * Format a response.
 *
 * @param now           seconds since the epoch, for Date
 * @param without_body  the reply to HEAD: only the length of the body is sent
 * @return owned by the caller
 */
GBytes *web_response_format(
    const struct web_response *response, int64_t now, bool without_body);
