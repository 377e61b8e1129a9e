/*
 * classify.h - what a reply, or none, means for a message, by stage and code.
 *
 * A table, read from the top; the first row that fits decides.  Its principles:
 *
 * - Before RCPT nothing has been said about the recipient.  Refusals of the
 *   greeting, EHLO and STARTTLS are the relay's, whatever their digit: no message
 *   is lost because a relay is set up wrongly.
 * - 421 closes the session and is the relay's, anywhere (RFC 5321 section 3.8).
 * - 530, 534, 535 and 538 (RFC 4954 section 6), and every 5yz to AUTH, are our
 *   login's.
 * - 500, 502 and 503 before the dot mean that the two sides are out of step: later,
 *   on another connection.  They never lose a message, and at RCPT and DATA they
 *   count against the one message only.
 * - 4yz at MAIL is the relay's, for MAIL names nobody but us; unless the enhanced code
 *   speaks of an address, a mailbox or the content (4.1.x, 4.2.x, 4.6.x), or the code
 *   says 4.3.4 (this message is too big).
 * - 4yz at RCPT, DATA and the dot is the message's, unless the enhanced code speaks
 *   of the mail system (4.3.x), or there is none and the code is 452 behind
 *   RCPT: no room for anything (RFC 5321 section 4.2.2).
 * - 552 at RCPT is temporary, as 452 (RFC 5321 section 4.5.3.1.10); at the dot it is
 *   final, but for 5.2.2: a full mailbox may be emptied.
 * - 5yz at MAIL is the relay's too, for it is about us, unless it speaks of this
 *   message: 552, 5.3.4 (too big), 5.6.x (its content).
 * - 5.7.x at RCPT, DATA and the dot is a policy about us, seldom about one reader
 *   or paper: later, and the caller is told, since many in a row are the relay's.
 * - All other 5yz are final.
 * - Silence, a cut or a malformed reply is temporary up to the dot and UNKNOWN
 *   behind it; it is the relay's, since one message can not be told from all.
 */
#ifndef PAPERBOY_TRANSPORT_CLASSIFY_H
#define PAPERBOY_TRANSPORT_CLASSIFY_H

#include <stdbool.h>

#include "transport/delivery.h"
#include "transport/reply.h"

struct reply_class {
	enum delivery_outcome outcome;
	enum delivery_scope scope;
	bool is_policy; /* see struct delivery */
	bool is_last;   /* the connection cannot be used again */
};

/** Tell whether a reply lets the session go on: 354 for DATA, 2yz for all else. */
bool classify_is_positive(enum smtp_stage stage, const struct reply *reply);

/**
 * Find what a reply means that is the last word on a message: any that is not
 * positive, or a positive one to the dot.
 *
 * @param stage  not SMTP_STAGE_NONE
 */
struct reply_class classify_reply(enum smtp_stage stage, const struct reply *reply);

/** Find what it means that no reply came, or one that is malformed. */
struct reply_class classify_timeout(enum smtp_stage stage);

#endif
