/*
 * lmtp_session.h - protocol state of one LMTP client (RFC 2033): bytes in, bytes out.
 *
 * Without sockets and time. Extensions: SIZE, 8BITMIME, SMTPUTF8, PIPELINING,
 * ENHANCEDSTATUSCODES. Only CRLF, dot, CRLF ends a message. A message is passed to the
 * sink once with all its recipients, and each recipient gets the same reply.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "receive/receiver.h"

struct lmtp_session;

/** Create a session with the greeting in its output. @param sink  outlives it */
struct lmtp_session *lmtp_session_new(const struct receiver_sink *sink);
void lmtp_session_free(struct lmtp_session *session);
PB_DEFINE_AUTO(lmtp_session, lmtp_session_free);

/** Process input; ignored after the end. */
void lmtp_session_feed(struct lmtp_session *session, const char *bytes, size_t size);

/** Pending output; the caller removes the part sent. */
GString *lmtp_session_get_output(struct lmtp_session *session);

/** Whether to close the connection once the output is sent. */
bool lmtp_session_is_closed(const struct lmtp_session *session);

/** Number of messages passed to the sink. */
unsigned lmtp_session_get_accepted(const struct lmtp_session *session);

/** End the session. @param reply  "421 4.3.2 Service shutting down", without CRLF */
void lmtp_session_end(struct lmtp_session *session, const char *reply);
