/*
 * stream.h - a verified, authenticated byte stream to a mail host.
 *
 * libcurl connects, negotiates STARTTLS, verifies the certificate and the host name,
 * sends EHLO (IMAP: CAPABILITY) and logs in.  Then the stream carries the bytes of our
 * own protocol implementation.  Calls block up to a deadline; one thread uses a stream
 * at a time.  Deadlines are values of g_get_monotonic_time(), us.
 *
 * Bytes after the peer's last reply to libcurl are lost.  Therefore the first command
 * on a new stream should be without effect (NOOP).
 *
 * The process ignores SIGPIPE. libcurl initialises itself at the first open, which is
 * thread-safe since 7.84.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

struct stream;

enum stream_protocol {
	STREAM_PROTOCOL_SMTP,
	STREAM_PROTOCOL_IMAP,
};

enum stream_tls {
	STREAM_TLS_OFF,      /* plain text; login to localhost only */
	STREAM_TLS_STARTTLS, /* mandatory: an error if the host does not support it */
	STREAM_TLS_IMPLICIT, /* TLS from the first byte (RFC 8314 section 3.3) */
	/* IMPLICIT, or STARTTLS if the host does not respond to a TLS handshake. Not
	 * for SMTP: some servers reject clients that send before the greeting. */
	STREAM_TLS_DETECT,
};

/* A source of access tokens (OAuth 2), which may be shared by threads. */
struct stream_tokens {
	/*
	 * Get an access token, and renew it before it expires.
	 *
	 * @param rejected  a token that the host has rejected, so that another one is
	 *                  needed; or NULL
	 * @param stop_fd   as in struct stream_options
	 * @return a new string for oauth_secret_free(), or NULL with the code of
	 *         oauth.h
	 */
	char *(*get)(
	    void *data, const char *rejected, const int *stop_fd, GError **error);
	void *data;
};

/* Strings are borrowed for the time of the call. */
struct stream_options {
	enum stream_protocol protocol;
	enum stream_tls tls;
	const char *host; /* name or address literal, without brackets */
	uint16_t port;
	const char *ca_file;  /* PEM, the only trusted CAs; NULL: the system's */
	const char *user;     /* NULL: no login */
	const char *password; /* for a user without tokens */
	const struct stream_tokens *tokens; /* log in by OAUTHBEARER (RFC 7628) or
	                                       XOAUTH2; NULL: by the password */
	const char
	    *hello; /* our name in EHLO: [A-Za-z0-9.:-] or in brackets; not for IMAP */
	const int *stop_fd;  /* readable: ends every wait, while opening within 1 s;
	                        NULL: none; must outlive the stream */
	unsigned connect_ms; /* for DNS and TCP, granularity 1 s; not 0 */
	unsigned open_ms;    /* total: TCP, TLS, EHLO, login; not 0 */
};

/* Step at which opening failed. */
enum stream_step {
	STREAM_STEP_CONNECT,  /* DNS, TCP, implicit TLS, greeting */
	STREAM_STEP_HELLO,    /* EHLO or HELO; CAPABILITY */
	STREAM_STEP_STARTTLS, /* the command or the handshake */
	STREAM_STEP_LOGIN,    /* AUTH, AUTHENTICATE, LOGIN */
};

/* Kinds of failure, each with its GError code. */
enum stream_error_kind {
	STREAM_ERROR_SETTINGS,    /* INPUT: invalid options */
	STREAM_ERROR_UNREACHABLE, /* TEMPORARY: no connection, connection lost, or
	                             timeout */
	STREAM_ERROR_REFUSED,     /* TEMPORARY: rejected by the host */
	STREAM_ERROR_PROTOCOL,    /* TEMPORARY: malformed reply */
	STREAM_ERROR_INSECURE, /* PERMANENT: wrong certificate or name, or no STARTTLS;
	                          nothing was sent in clear */
	STREAM_ERROR_LOGIN, /* PERMANENT: wrong user, password or token, no token, or no
	                       supported AUTH mechanism; retrying may lock the account
	                     */
};

struct stream_error {
	enum stream_error_kind kind;
	enum stream_step step;
	bool is_token_rejected; /* another access token may be accepted */
	bool is_not_tls; /* the first response to the TLS handshake was not TLS */
	char *reply;     /*
	                  * owned: last reply of the peer, lines ending in \
	                  * ; NULL unless a negative reply was the reason
	                  */
};

/** Free the members; the struct may be used again. */
void stream_error_clear(struct stream_error *failure);

/**
 * Open a stream.
 *
 * @param failure  set on failure only, cleared by the caller; may be NULL
 * @return a new stream, or NULL with the code of stream_error_kind; the message names
 *         host and port, is printable ASCII and never contains a password or token
 */
struct stream *stream_open(
    const struct stream_options *options, struct stream_error *failure, GError **error);

/**
 * Create a stream for a connected socket, for tests.
 *
 * @param fd     takes it; made non-blocking
 * @param hello  lines of the EHLO reply without code, NULL-terminated; may be NULL
 */
struct stream *stream_new_socket(int fd, const char *const *hello);

/** End every wait when stop_fd is readable. @param stop_fd  borrowed; -1: none */
void stream_set_stop(struct stream *stream, int stop_fd);

void stream_free(struct stream *stream);
PB_DEFINE_AUTO(stream, stream_free);

/** @param stop_fd  or -1 @return whether it is readable */
bool stream_is_stopped(int stop_fd);

/**
 * The last reply to EHLO (within TLS if used); empty for IMAP.
 *
 * @return borrowed array of char *, lines without code and line end; the first is the
 *         host's name. Untrusted bytes without NUL, at most BOUNDS_REPLY_LINES lines of
 *         BOUNDS_REPLY_LINE_BYTES
 */
const GPtrArray *stream_get_hello(const struct stream *stream);

/**
 * Write all bytes. While the peer does not accept any, its own data is read (up to
 * BOUNDS_STREAM_INBOUND_BYTES), so that full buffers on both sides cannot deadlock.
 *
 * @return false with PB_ERROR_TEMPORARY if the connection failed or the deadline
 *         passed: then the last byte has not been written. Data received before can
 *         still be read
 */
bool stream_write(struct stream *stream, const void *data, size_t size,
    int64_t deadline, GError **error);

/** @return bytes written by the last stream_write() */
size_t stream_get_written(const struct stream *stream);

/**
 * Read available bytes, waiting for the first one.
 *
 * @param size  capacity of the buffer, at least 1
 * @return number of bytes, at least 1; 0 if the peer has closed; -1 with
 *         PB_ERROR_TEMPORARY if the connection failed or the deadline passed
 */
gssize stream_read(
    struct stream *stream, void *buffer, size_t size, int64_t deadline, GError **error);
