/*
 * oauth.h - requests to the token endpoint of an OAuth 2 server (RFC 6749).
 *
 * Requests are forms over verified HTTPS; a public client has no secret.  Responses
 * are limited to BOUNDS_OAUTH_BYTES.  Errors name the server's error code and
 * description, and never a token, a code or a secret.
 *
 * Errors of all requests:
 *   PB_ERROR_TEMPORARY  no connection, HTTP 429 or 5xx, malformed response
 *   PB_ERROR_PERMANENT  the grant was rejected (invalid_grant, access_denied): the user
 *                       has to log in again
 *   PB_ERROR_INPUT      the client was rejected (invalid_client, invalid_scope, ...):
 *                       the configuration is wrong
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "net/http.h"

/* Strings are borrowed for the time of a call. */
struct oauth_client {
	const char *token_url; /* https */
	const char *client_id;
	const char *client_secret; /* or NULL */
};

struct oauth_response {
	char *access_token;
	char *refresh_token; /* NULL: an earlier one stays valid */
	char *scope;         /* granted; NULL: as requested */
	int64_t lifetime_s;  /* of the access token; at least 1 */
};

/** Erase and free the members; the struct may be used again. */
void oauth_response_clear(struct oauth_response *response);

/** Erase and free a secret. @param secret  or NULL */
void oauth_secret_free(char *secret);

/**
 * Parse a response of the token endpoint.
 *
 * @param status    of HTTP
 * @param response  set on success only
 */
bool oauth_parse_response(const char *body, size_t size, int status,
    struct oauth_response *response, GError **error);

/** Get a new access token (RFC 6749 section 6). @param response  set on success only */
bool oauth_refresh(struct http *http, const struct oauth_client *client,
    const char *refresh_token, struct oauth_response *response, GError **error);

/**
 * Check the id and secret of a client with a made-up refresh token, which the server
 * has to reject (invalid_grant) rather than the client.
 */
bool oauth_check_client(
    struct http *http, const struct oauth_client *client, GError **error);

/** A device authorization (RFC 8628 section 3.2). */
struct oauth_device {
	char *device_code; /* secret */
	char *user_code;   /* printable ASCII, as the others */
	char *url;         /* where to enter it */
	int64_t interval_s;
	int64_t lifetime_s;
};

void oauth_device_clear(struct oauth_device *device);

/** Start a login in a browser on any machine. @param device  set on success only */
bool oauth_start_device(struct http *http, const struct oauth_client *client,
    const char *device_url, const char *scope, struct oauth_device *device,
    GError **error);

/** Ask, at the pace of the server (http_pause()), until the user has logged in. */
bool oauth_await_device(struct http *http, const struct oauth_client *client,
    const struct oauth_device *device, struct oauth_response *response, GError **error);

/** An authorization request with PKCE (RFC 6749 section 4.1, RFC 7636). */
struct oauth_authorization {
	const char *url;
	const char *parameters; /* more of them, or NULL */
	const char *scope;
	const char *redirect_uri;
	const char *user;     /* hint for the login page */
	const char *state;    /* random */
	const char *verifier; /* random, secret: 43 to 128 characters */
};

/** Format the URL to open in a browser. @return a new string */
char *oauth_format_authorization(
    const struct oauth_client *client, const struct oauth_authorization *authorization);

/**
 * Redeem the code with which the browser was redirected.
 *
 * @param query  of the redirect, without "?": it is checked for the state, and for an
 *               error of the server
 */
bool oauth_redeem(struct http *http, const struct oauth_client *client,
    const struct oauth_authorization *authorization, const char *query,
    struct oauth_response *response, GError **error);

/** Get an access token for the client itself (RFC 6749 section 4.4). */
bool oauth_request_own(struct http *http, const struct oauth_client *client,
    const char *scope, struct oauth_response *response, GError **error);

/**
 * Decode the challenge by which a mail server explains a failed login (RFC 7628 section
 * 3.2.2, and the same of XOAUTH2).
 *
 * @param challenge  base64, `size` bytes, untrusted
 * @return "insufficient_scope", "invalid_token (scope mail)", printable ASCII, a new
 *         string; NULL if it is something else
 */
char *oauth_format_challenge(const char *challenge, size_t size);
