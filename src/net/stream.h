/*
 * stream.h - a verified, authenticated byte stream to a mail host.
 *
 * libcurl connects, does STARTTLS, checks the certificate and the host's name,
 * says EHLO (of IMAP: CAPABILITY) and logs in.  From then on the stream carries bytes
 * for a dialogue that is ours.  Calls block up to a deadline; one thread uses a stream
 * at a time.  Deadlines are g_get_monotonic_time() values, in microseconds: they
 * measure a wait and are no time of day.
 *
 * Bytes that a peer sent behind its last answer to libcurl are lost.  So the
 * first command on a new stream is one whose answer changes nothing (NOOP).
 *
 * The process ignores SIGPIPE.  libcurl initialises itself at the first open,
 * which is safe in several threads since 7.84.
 */
#ifndef PAPERBOY_NET_STREAM_H
#define PAPERBOY_NET_STREAM_H

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
	STREAM_TLS_OFF,      /* plain text; no login but to this machine itself */
	STREAM_TLS_STARTTLS, /* required: a host that does not offer it is an error */
	STREAM_TLS_IMPLICIT, /* TLS from the first byte (RFC 8314 section 3.3) */
	/* IMPLICIT, or STARTTLS where the host does not answer as TLS does.  Not for
	 * SMTP: some servers refuse clients that speak before the greeting. */
	STREAM_TLS_DETECT,
};

/* All strings are borrowed for the time of the call. */
struct stream_options {
	enum stream_protocol protocol;
	enum stream_tls tls;
	const char *host;     /* name or address literal, without brackets */
	uint16_t port;        /* not 0 */
	const char *ca_file;  /* PEM, the only CAs trusted; NULL: the system's */
	const char *user;     /* NULL: no login */
	const char *password; /* not NULL when user is given */
	const char
	    *hello; /* our name in EHLO: letters, digits and ".-:[]"; not IMAP's */
	const int *stop_fd;  /* once readable it ends every wait, an opening within a
	                        second; NULL: none.  The file outlives the stream */
	unsigned connect_ms; /* for name and TCP, seen to the second; not 0 */
	unsigned open_ms;    /* for all of it: TCP, TLS, EHLO, login; not 0 */
};

/* How far an opening came: the step that was under way when it failed. */
enum stream_step {
	STREAM_STEP_CONNECT,  /* name, TCP, implicit TLS, greeting */
	STREAM_STEP_HELLO,    /* EHLO or HELO; CAPABILITY */
	STREAM_STEP_STARTTLS, /* the command, or the handshake behind it */
	STREAM_STEP_LOGIN,    /* AUTH, AUTHENTICATE, LOGIN */
};

/* What a failed opening tells its caller to do, with the GError code. */
enum stream_error_kind {
	STREAM_ERROR_SETTINGS,    /* INPUT: options that cannot work */
	STREAM_ERROR_UNREACHABLE, /* TEMPORARY: no connection, cut, or time is up */
	STREAM_ERROR_REFUSED,     /* TEMPORARY: the host answered, but not now */
	STREAM_ERROR_PROTOCOL,    /* TEMPORARY: an answer that is none */
	STREAM_ERROR_INSECURE,    /* PERMANENT: certificate or name is wrong, or
	                             STARTTLS is not there; nothing was sent in clear */
	STREAM_ERROR_LOGIN,       /* PERMANENT: user or password refused, or no AUTH
	                             offered; trying again may lock the account */
};

struct stream_error {
	enum stream_error_kind fault;
	enum stream_step step;
	bool is_not_tls; /* the TLS handshake with a host failed at its first answer */
	char *reply;     /* owned: the peer's last reply as it came, lines ending in \n;
	                    NULL when a refusing reply did not end the opening */
};

/** Free what a failure owns. NULL reply is fine; the struct may be used again. */
void stream_error_clear(struct stream_error *failure);

/**
 * Open a stream.
 *
 * @param failure  set on failure only, to be cleared by the caller; may be NULL
 * @return a new stream, or NULL with the code that stream_error_kind names; the message
 *         names host and port, is printable ASCII and never holds the password
 */
struct stream *stream_open(
    const struct stream_options *options, struct stream_error *failure, GError **error);

/**
 * Make a stream of a connected socket, as if it had been opened: for tests.
 *
 * @param fd       taken; made non-blocking
 * @param hello    lines of the EHLO answer without code, NULL-terminated; may be NULL
 */
struct stream *stream_new_socket(int fd, const char *const *hello);

/** Let a file end every wait once it is readable. @param stop_fd  borrowed; -1: none */
void stream_set_stop(struct stream *stream, int stop_fd);

void stream_free(struct stream *stream);
PB_DEFINE_AUTO(stream, stream_free);

/** Whether a file that ends waits is readable. @param stop_fd  or -1 */
bool stream_is_stopped(int stop_fd);

/**
 * Get the last answer to EHLO: the one inside TLS when there is TLS.  IMAP has none
 * here.
 *
 * @return borrowed array of char *, each line without its code and line end; the
 *         first is the host's name for itself.  Foreign bytes, but at most
 *         BOUNDS_REPLY_LINES lines of BOUNDS_REPLY_LINE_BYTES without a NUL (libcurl
 *         itself gives up at some tens of KiB).
 */
const GPtrArray *stream_get_hello(const struct stream *stream);

/**
 * Write all of it.  While the peer does not take bytes, those that it sends are
 * taken in (up to BOUNDS_STREAM_INBOUND_BYTES), so that two full pipes never wait
 * for each other.
 *
 * @return false with TEMPORARY when the connection failed or the deadline passed: then
 *         the last byte of data has not been handed to the peer.  What came in before
 *         can still be read.
 */
bool stream_write(struct stream *stream, const void *data, size_t size,
    int64_t deadline, GError **error);

/** How many octets of the last stream_write() have been handed to the peer. */
size_t stream_get_written(const struct stream *stream);

/**
 * Read what is there, waiting for the first byte.
 *
 * @param size  room in buffer, at least 1
 * @return the number of bytes, at least 1; 0 when the peer has closed; -1 with
 *         TEMPORARY when the connection failed or the deadline passed
 */
gssize stream_read(
    struct stream *stream, void *buffer, size_t size, int64_t deadline, GError **error);

#endif
