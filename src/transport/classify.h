/*
 * classify.h - classification of SMTP replies by stage and code.
 *
 * A table; the first matching row decides. Principles:
 *
 * - Before RCPT nothing has been said about the recipient. Rejections of the greeting,
 *   EHLO and STARTTLS concern the relay whatever their code: no message is lost because
 *   a relay is misconfigured.
 * - 421 closes the session and concerns the relay, in any stage (RFC 5321 section 3.8).
 * - 530, 534, 535 and 538 (RFC 4954 section 6), and every 5yz to AUTH, concern our
 *   login.
 * - 500, 502 and 503 before the dot mean that client and server are out of step: retry
 *   on another connection. They never fail a message, and at RCPT and DATA they count
 *   against that message only.
 * - 4yz at MAIL concerns the relay, because MAIL identifies only us, unless the
 *   enhanced code is about an address, a mailbox or the content (4.1.x, 4.2.x, 4.6.x),
 *   or is 4.3.4 (message too big).
 * - 4yz at RCPT, DATA and the dot concerns the message, unless the enhanced code is
 *   about the mail system (4.3.x), or is missing and the code is 452 at RCPT:
 *   insufficient storage (RFC 5321 section 4.2.2).
 * - 552 at RCPT is temporary like 452 (RFC 5321 section 4.5.3.1.10); at the dot it is
 *   permanent, except for 5.2.2 (mailbox full).
 * - 5yz at MAIL concerns the relay, unless it is about this message: 552, 5.3.4 (too
 *   big), 5.6.x (content).
 * - 5.7.x at RCPT, DATA and the dot is a policy about us rather than the recipient or
 *   the message: temporary, and reported to the caller, since many in a row concern the
 *   relay.
 * - All other 5yz are permanent.
 * - A timeout, a lost connection or a malformed reply is temporary up to the dot and
 *   UNKNOWN after it. It concerns the relay, since one message cannot be distinguished
 *   from all.
 */
#pragma once

#include <stdbool.h>

#include "transport/delivery.h"
#include "transport/reply.h"

struct reply_class {
	enum delivery_outcome outcome;
	enum delivery_scope scope;
	bool is_policy; /* see struct delivery */
	bool is_last;   /* the connection must be closed */
};

/** Whether a reply is positive: 354 for DATA, 2yz otherwise. */
bool classify_is_positive(enum smtp_stage stage, const struct reply *reply);

/**
 * Classify a final reply: one that is not positive, or a positive one to the dot.
 *
 * @param stage  not SMTP_STAGE_NONE
 */
struct reply_class classify_reply(enum smtp_stage stage, const struct reply *reply);

/** Classify a missing or malformed reply. */
struct reply_class classify_timeout(enum smtp_stage stage);
