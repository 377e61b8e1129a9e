/*
 * oauth_login.h - OAuth 2 logins of the mail clients, and their access tokens.
 *
 * The file "oauth" in the state directory has the tokens.  A server may replace the
 * refresh token at each use, and the newest one must not be lost: the space for it is
 * reserved before it is requested, it is written to a draft and synced before the
 * access token is used, and a complete draft of a killed program takes the place of the
 * file. A lock of the directory (flock(2)) lets one thread of one program request
 * tokens at a time; the others then find the new token in the file.
 *
 * A rejected refresh token is marked in the file, and not used again: an operator has
 * to log in (paperboyctl login).
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "net/oauth.h"
#include "net/stream.h"

/* Use of a login, as bits; one login may serve both. */
enum oauth_use {
	OAUTH_USE_IMAP = 1,
	OAUTH_USE_SMTP = 2,
	OAUTH_USE_BOTH = 3,
};

/** "imap", "smtp" or "both": argument of paperboyctl login. */
const char *oauth_use_get_name(enum oauth_use use);

struct oauth_login {
	enum oauth_use use;
	char *token_url;     /* that has issued the tokens; NULL: there is no login */
	char *client_id;     /* to which */
	char *refresh_token; /* NULL: client credentials (RFC 6749 section 4.4) */
	char *access_token;  /* NULL: none yet */
	int64_t logged_in_at;
	int64_t issued_at; /* of the access token, s */
	int64_t expires_at;
	int64_t rejected_at; /* of the refresh token, s */
	char *rejection;     /* NULL: it was not */
};

void oauth_login_clear(struct oauth_login *login);

/** Load the login for IMAP or SMTP. @param login  token_url is NULL if there is none */
bool oauth_login_find(const char *state_dir, enum oauth_use use,
    struct oauth_login *login, GError **error);

/**
 * Save a new login, which replaces the ones for the same use.
 *
 * @param response  tokens of the new login
 */
bool oauth_login_save(const char *state_dir, enum oauth_use use,
    const struct oauth_client *client, const struct oauth_response *response,
    int64_t now, GError **error);

/** Load the file, for a backup. @param text  set: a new string, or NULL */
bool oauth_login_load_file(const char *state_dir, char **text, GError **error);

/** Write the file of a backup, unless there is one: the server may reject older tokens.
 */
bool oauth_login_restore_file(const char *state_dir, const char *text, GError **error);

/* All strings are copied. */
struct oauth_source_options {
	const char *state_dir;
	enum oauth_use use; /* IMAP or SMTP */
	struct oauth_client client;
	const char *scope;         /* for a client that logs in as itself */
	const char *ca_file;       /* of the token endpoint; NULL: the system's */
	const struct clock *clock; /* borrowed */
};

/* A source of access tokens; may be shared by threads. */
struct oauth_source;

struct oauth_source *oauth_source_new(const struct oauth_source_options *options);
void oauth_source_free(struct oauth_source *source);
PB_DEFINE_AUTO(oauth_source, oauth_source_free);

/** Whether both use the same client of the same server. */
bool
oauth_source_is_same(const struct oauth_source *one, const struct oauth_source *other);

/**
 * Get the functions for a stream. An error other than PB_ERROR_TEMPORARY says what the
 * operator has to do.
 *
 * @return borrowed from the source
 */
const struct stream_tokens *oauth_source_get_tokens(const struct oauth_source *source);

/** Create a handle for requests to an OAuth server. @param stop_fd  or NULL */
struct http *oauth_source_new_http(const char *ca_file, const int *stop_fd);
