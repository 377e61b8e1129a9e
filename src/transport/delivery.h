/*
 * delivery.h - what became of one attempt to deliver one message.
 */
#ifndef PAPERBOY_TRANSPORT_DELIVERY_H
#define PAPERBOY_TRANSPORT_DELIVERY_H

#include <glib.h>
#include <stdbool.h>

enum delivery_outcome {
	DELIVERY_SENT,     /* the next hop has taken it and answers for it */
	DELIVERY_DEFERRED, /* not taken; the same message may go later */
	DELIVERY_FAILED,   /* refused for good: this message will never go */
	DELIVERY_UNKNOWN, /* cut after the final dot: it may have been taken (RFC 1047);
	                     send it again with the same Message-ID */
};

/* Whom a failure is about, so who has to wait. */
enum delivery_scope {
	DELIVERY_SCOPE_MESSAGE, /* this message or its recipient */
	DELIVERY_SCOPE_RELAY,   /* the relay, the network or the folder: all messages */
	DELIVERY_SCOPE_LOGIN,   /* our login: all messages, until somebody mends it */
};

/* The step whose answer, or silence, decided.  In the order of a session. */
enum smtp_stage {
	SMTP_STAGE_NONE, /* before any connection, or no SMTP at all */
	SMTP_STAGE_CONNECT,
	SMTP_STAGE_EHLO,
	SMTP_STAGE_STARTTLS,
	SMTP_STAGE_AUTH,
	SMTP_STAGE_MAIL,
	SMTP_STAGE_RCPT,
	SMTP_STAGE_DATA, /* the command, and the message up to its dot */
	SMTP_STAGE_DOT,  /* the dot is on its way */
};

struct delivery {
	enum delivery_outcome outcome;
	enum delivery_scope scope;
	enum smtp_stage stage;
	int code;          /* of the reply, or 0 without one */
	char enhanced[12]; /* RFC 3463, as "5.1.1", or empty */
	bool is_policy; /* refused by a policy (5.7.x) at RCPT or later: many in a row
	                   mean that we are not wanted, and no message is to blame */
	bool needs_operator; /* our settings, our login or the host's certificate: time
	                        alone will not mend it */
	char *text; /* owned; one printable line that stands by itself: the reply
	               with its code, or what broke.  NULL until set */
};

/** Free what it owns and make it ready for the next attempt. */
void delivery_clear(struct delivery *delivery);

/** Short stable nouns for log and queue: "sent", "relay", "rcpt". */
const char *delivery_outcome_get_name(enum delivery_outcome outcome);
const char *delivery_scope_get_name(enum delivery_scope scope);
const char *smtp_stage_get_name(enum smtp_stage stage);

#endif
