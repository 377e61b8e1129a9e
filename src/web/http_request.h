/*
 * http_request.h - strict reader of one HTTP/1.x request (RFC 9112).
 *
 * There is one request a connection: bytes behind it are ignored, so no request can be
 * smuggled in another one.  Everything that two programs could understand differently
 * is refused: Transfer-Encoding, repeated or malformed lengths and hosts, folded lines,
 * single CRs and LFs, and blanks around names.
 */
#pragma once

#include <glib.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"

#define HTTP_OK 200

enum http_method { HTTP_GET, HTTP_HEAD, HTTP_POST };

/* Fields that are read; others are checked and ignored. */
enum http_field {
	HTTP_HOST,
	HTTP_CONTENT_LENGTH,
	HTTP_CONTENT_TYPE,
	HTTP_TRANSFER_ENCODING,
	HTTP_EXPECT,
	HTTP_COOKIE,
	HTTP_ORIGIN,
	HTTP_SEC_FETCH_SITE,
	HTTP_ACCEPT_LANGUAGE,
	HTTP_IF_NONE_MATCH,
	HTTP_FORWARDED_FOR,
	HTTP_FIELDS
};

struct http_request {
	/* Valid after HTTP_OK; borrowed from the request. */
	enum http_method method;
	const char *path;                /* of RFC 3986, encoded; starts with / */
	const char *query;               /* without ?; "" if there is none */
	const char *fields[HTTP_FIELDS]; /* trimmed; NULL if absent */
	const char *body;                /* may contain NULs; "" if there is none */
	size_t body_size;

	/* The address of the client, as client_network_get_peer(); of the caller. */
	struct in6_addr peer;

	/* Internal. */
	char *head;
	size_t head_size, head_space;
	char *body_buffer;
	size_t body_left;
	bool has_line, has_head, is_known_method, is_foreign_method;
	int status;
};

struct http_request *http_request_new(void);
void http_request_free(struct http_request *request);
PB_DEFINE_AUTO(http_request, http_request_free);

/**
 * Add received bytes.  Memory is allocated for at most BOUNDS_WEB_HEAD_BYTES and, after
 * a valid head, for the announced body of at most BOUNDS_WEB_BODY_BYTES.
 *
 * @return 0 if more bytes are needed; HTTP_OK if the request is complete; else the
 *         status to refuse it with: 400, 405, 413, 414, 417, 431 or 501.  Stays the
 *         same then.
 */
int http_request_feed(struct http_request *request, const char *bytes, size_t size);

/** Whether the method is HEAD, also of a refused request: its reply has no body. */
bool http_request_is_head(const struct http_request *request);
