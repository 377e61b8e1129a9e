/*
 * lmtp_session.h - one client's LMTP dialogue (RFC 2033), octets in and octets out.
 *
 * No sockets and no time: whoever has those feeds it.  Offered are SIZE, 8BITMIME,
 * SMTPUTF8, PIPELINING and ENHANCEDSTATUSCODES.  A letter ends with CRLF, dot, CRLF
 * and with nothing that looks like it.  It is taken once with all its recipients,
 * and each of them gets the same reply.
 */
#ifndef PAPERBOY_RECEIVE_LMTP_SESSION_H
#define PAPERBOY_RECEIVE_LMTP_SESSION_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "receive/receiver.h"

struct lmtp_session;

/** Begin: the greeting is in the output. @param sink  outlives it; note is not called
 */
struct lmtp_session *lmtp_session_new(const struct receiver_sink *sink);
void lmtp_session_free(struct lmtp_session *session);
PB_DEFINE_AUTO(lmtp_session, lmtp_session_free);

/** Take what the client sent; after the end it is left aside. */
void lmtp_session_feed(struct lmtp_session *session, const char *bytes, size_t size);

/** What is to be sent; the caller takes away what was. */
GString *lmtp_session_get_output(struct lmtp_session *session);

/** Whether the dialogue has ended: to be closed once the output is sent. */
bool lmtp_session_is_closed(const struct lmtp_session *session);

/** Letters that the sink was offered so far. */
unsigned lmtp_session_get_accepted(const struct lmtp_session *session);

/** End it from our side. @param reply  "421 4.3.2 going down", without the line's end
 */
void lmtp_session_end(struct lmtp_session *session, const char *reply);

#endif
