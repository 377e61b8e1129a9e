/*
 * http.h - fetch one document over HTTP, within limits.
 *
 * Whatever a server does, http_get() ends: there are bounds on the time as a whole,
 * on connecting, on stalling, on the octets after decompression, on the headers and
 * on redirects.  TLS is always verified against CA and name.  A redirect may go to the
 * same scheme or up to https, never down, never to another protocol.
 *
 * Addresses that are not public (net/peer.h) are refused when connecting, so that
 * neither a name nor a redirect can point us at the machine's own services.
 *
 * A handle belongs to one thread at a time and keeps its connections.  The
 * environment's proxy variables are not read.
 */
#ifndef PAPERBOY_NET_HTTP_H
#define PAPERBOY_NET_HTTP_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "net/http_retry_after.h"

/* Zero and NULL mean what the comment says; strings are copied. */
struct http_settings {
	const char *user_agent; /* with a way to reach the operator; never NULL */
	const char *ca_file;    /* NULL: the system's authorities */
	int64_t connect_ms;     /* 0: BOUNDS_HTTP_CONNECT_S */
	int64_t total_ms;       /* 0: BOUNDS_HTTP_TIME_S; redirects together */
	int64_t stall_s;        /* without an octet a second; 0: BOUNDS_HTTP_STALL_S */
	size_t body_bytes;      /* after decompression; 0: BOUNDS_HTTP_BODY_BYTES */
	bool allow_private;     /* the asked host may be private; redirects from it to
	                           another private host are refused all the same */
	bool allow_file;        /* file:// is read too */
	/* Waits between requests for http_pause(), false: stopped; NULL: does not wait
	 */
	bool (*wait)(void *data, int64_t ms);
	void *wait_data;
	const int *stop; /* borrowed; read with g_atomic_int_get(): not 0 ends a
	                    transfer within about a second; or NULL */
};

struct http_response {
	int status;            /* 200 for a file */
	GBytes *body;          /* never NULL; empty with 304 */
	char *etag;            /* verbatim, to be given back as it is; or NULL */
	int64_t retry_after_s; /* of status >= 400, or HTTP_RETRY_AFTER_UNKNOWN */
	int64_t served_at; /* the server's Date, s, UTC, or HTTP_RETRY_AFTER_UNKNOWN */
	char *final_url;   /* after redirects */
};

/** A response is caller's memory: all zero before use. */
void http_response_clear(struct http_response *response);

struct http;

/**
 * Make a handle.  A program with threads calls curl_global_init() before its first.
 *
 * @return never NULL
 */
struct http *http_new(const struct http_settings *settings);
void http_free(struct http *http);
PB_DEFINE_AUTO(http, http_free);

/**
 * Leave a server alone for so long before the next request, as its rules ask for.
 *
 * @return false with PB_ERROR_TEMPORARY when it was stopped meanwhile
 */
bool http_pause(struct http *http, int64_t ms, GError **error);

/** Take the Date of the last response that had one, s, or HTTP_RETRY_AFTER_UNKNOWN:
 * none since it was taken before. */
int64_t http_take_date(struct http *http);

/**
 * Get a document.  Any final HTTP status is a success of this function.
 *
 * @param url       http, https, or file where allowed; at most BOUNDS_HTTP_URL_BYTES
 * @param etag      sent as If-None-Match, or NULL
 * @param response  filled on success only; cleared by the caller
 * @return false with PB_ERROR_TEMPORARY when the network, the peer or the time-out
 * failed it, or it was stopped; PB_ERROR_LIMIT when body, headers or redirects are too
 *         many, the message names the limit; PB_ERROR_PERMANENT for a refused address
 * or redirect; PB_ERROR_NOT_FOUND for a missing file; PB_ERROR_INPUT for a bad URL or
 * ETag
 */
bool http_get(struct http *http, const char *url, const char *etag,
    struct http_response *response, GError **error);

#endif
