/*
 * http_retry_after.h - parser for Retry-After and rate limit headers.
 *
 * Pure: a date in Retry-After is relative to the server's own Date, so that wrong
 * clocks do not matter.
 */
#ifndef PAPERBOY_NET_HTTP_RETRY_AFTER_H
#define PAPERBOY_NET_HTTP_RETRY_AFTER_H

#include <stdint.h>

#define HTTP_RETRY_AFTER_UNKNOWN ((int64_t)-1)

/**
 * @param retry_after  value of Retry-After (RFC 9110 section 10.2.3), or NULL
 * @param date         value of Date, or NULL
 * @return seconds, capped at BOUNDS_HTTP_WAIT_S; or HTTP_RETRY_AFTER_UNKNOWN
 */
int64_t http_retry_after_parse(const char *retry_after, const char *date);

/**
 * Parse Hugging Face's `ratelimit: "api";r=0;t=291`: no requests remain, and a new
 * window starts in t seconds; one second is added because of rounding.
 *
 * @return seconds as above; HTTP_RETRY_AFTER_UNKNOWN if absent, malformed or r is not 0
 */
int64_t http_retry_after_parse_ratelimit(const char *ratelimit);

/** @return an HTTP date in s since the epoch, or HTTP_RETRY_AFTER_UNKNOWN */
int64_t http_retry_after_parse_date(const char *date);

#endif
