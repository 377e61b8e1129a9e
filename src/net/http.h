/*
 * http.h - HTTP client with limits.
 *
 * Transfers always end: the total time, connecting, stalling, the decompressed size,
 * the headers and redirects are limited. TLS certificates and host names are always
 * verified. Redirects keep the scheme or switch from http to https, and keep the port
 * or switch from 80 to 443.
 *
 * Connections to addresses that are not public (net/peer.h) are refused, so that
 * neither DNS nor a redirect can reach local services.  Exceptions are an address in
 * the requested URL, which callers take from the configuration, and
 * http_allow_private().
 *
 * A handle belongs to one thread at a time and reuses its connections. Proxy variables
 * in the environment are ignored.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

/* Zero and NULL select the default in the comment; strings are copied. */
struct http_settings {
	const char *user_agent; /* with contact data of the operator; never NULL */
	const char *ca_file;    /* NULL: the system's certificates */
	int64_t connect_ms;     /* 0: BOUNDS_HTTP_CONNECT_S */
	int64_t total_ms;       /* 0: BOUNDS_HTTP_TIME_S; including redirects */
	int64_t stall_s;        /* below 1 byte/s; 0: BOUNDS_HTTP_STALL_S */
	size_t body_bytes;      /* after decompression; 0: BOUNDS_HTTP_BODY_BYTES */
	bool allow_private; /* any requested name may have a private address, but not
	                       another host it redirects to */
	bool allow_file;    /* allow file:// URLs */
	bool no_redirects;  /* a redirect is the response */
	/* Sleep function of http_pause(), false if interrupted; NULL: no sleep */
	bool (*wait)(void *data, int64_t ms);
	void *wait_data;
	const int *stop;    /* borrowed, atomic: a value other than 0 aborts a transfer
	                       within about a second; or NULL */
	const int *stop_fd; /* borrowed; readable: the same; or NULL */
};

#define HTTP_RETRY_AFTER_UNKNOWN ((int64_t)-1)

/** @return a date with the name of a zone, s since the epoch; or -1 */
int64_t http_parse_date(const char *date);

struct http_response {
	int status;            /* 200 for a file */
	GBytes *body;          /* never NULL; empty with 304 */
	char *etag;            /* verbatim; or NULL */
	int64_t retry_after_s; /* of status >= 400, at most BOUNDS_HTTP_WAIT_S; or
	                          HTTP_RETRY_AFTER_UNKNOWN */
	int64_t served_at;     /* the server's Date, s since the epoch, or
	                          HTTP_RETRY_AFTER_UNKNOWN */
	char *final_url;       /* after redirects */
	char *redirect_url;    /* of a redirect that was not followed, or NULL */
};

/** Free the members. The response must be all zero before its first use. */
void http_response_clear(struct http_response *response);

struct http;

/**
 * Create a handle. Programs with threads call curl_global_init() before.
 *
 * @return never NULL
 */
struct http *http_new(const struct http_settings *settings);
void http_free(struct http *http);
PB_DEFINE_AUTO(http, http_free);

/** Allow the host of a URL to have a private address; other URLs have no effect. */
void http_allow_private(struct http *http, const char *url);

/**
 * Sleep before the next request, as the server's rules demand.
 *
 * @return false with PB_ERROR_TEMPORARY if interrupted
 */
bool http_pause(struct http *http, int64_t ms, GError **error);

/**
 * @return the Date of the last response since the last call that had one, s, or
 *         HTTP_RETRY_AFTER_UNKNOWN
 */
int64_t http_take_date(struct http *http);

/* Reasons for which a transfer failed. */
enum http_failure {
	HTTP_FAILURE_NONE,
	HTTP_FAILURE_NETWORK,   /* DNS, connection or timeout */
	HTTP_FAILURE_TLS,       /* or a certificate that has expired or a wrong name */
	HTTP_FAILURE_UNTRUSTED, /* a certificate of an unknown authority */
	HTTP_FAILURE_SIZE,      /* of the response */
};

/** Get the reason for which the last transfer failed. */
enum http_failure http_get_failure(const struct http *http);

/**
 * Post a body.  Redirects are not followed.  Otherwise as http_get().
 *
 * @param content_type  NULL: none is sent
 * @param field         another field, "Name: value"; or NULL
 */
bool http_post(struct http *http, const char *url, const char *content_type,
    const char *field, const char *body, struct http_response *response,
    GError **error);

/**
 * Fetch a document. Any final HTTP status is success.
 *
 * @param url       http, https, or file if allowed; at most BOUNDS_HTTP_URL_BYTES
 * @param etag      sent as If-None-Match, or NULL
 * @param response  set on success only; cleared by the caller
 * @return false with PB_ERROR_TEMPORARY for network errors, timeouts and interruption;
 *         PB_ERROR_LIMIT naming the limit; PB_ERROR_PERMANENT for a refused address or
 *         redirect; PB_ERROR_NOT_FOUND for a missing file; PB_ERROR_INPUT for an
 *         invalid URL or ETag
 */
bool http_get(struct http *http, const char *url, const char *etag,
    struct http_response *response, GError **error);
