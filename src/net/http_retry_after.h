/*
 * http_retry_after.h - how long a server asks us to stay away.
 *
 * Pure: a date in Retry-After is counted from the server's own Date, so nobody's
 * clock is asked and nobody's wrong clock matters.
 */
#ifndef PAPERBOY_NET_HTTP_RETRY_AFTER_H
#define PAPERBOY_NET_HTTP_RETRY_AFTER_H

#include <stdint.h>

#define HTTP_RETRY_AFTER_UNKNOWN ((int64_t)-1)

/**
 * @param retry_after  value of Retry-After (RFC 9110 section 10.2.3), or NULL
 * @param date         value of Date, or NULL
 * @return seconds, 0 to BOUNDS_HTTP_WAIT_S (more is taken as that); or
 * HTTP_RETRY_AFTER_UNKNOWN
 */
int64_t http_retry_after_parse(const char *retry_after, const char *date);

/**
 * Read Hugging Face's `ratelimit: "api";r=0;t=291`: the window is used up, and a new
 * one begins in t seconds; one second is added, for the fractions.
 *
 * @return seconds as above; HTTP_RETRY_AFTER_UNKNOWN when absent, malformed or r is not
 * 0
 */
int64_t http_retry_after_parse_ratelimit(const char *ratelimit);

/** @return an HTTP date in s since the epoch, or HTTP_RETRY_AFTER_UNKNOWN */
int64_t http_retry_after_parse_date(const char *date);

#endif
