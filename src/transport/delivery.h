/*
 * delivery.h - result of one attempt to deliver one message.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

enum delivery_outcome {
	DELIVERY_SENT,     /* the next hop has accepted responsibility */
	DELIVERY_DEFERRED, /* not accepted; retry later */
	DELIVERY_FAILED,   /* rejected permanently */
	DELIVERY_UNKNOWN, /* connection lost after the final dot: possibly accepted (RFC
	                     1047); retry with the same Message-ID */
};

/* The object that a failure concerns, which determines the messages to defer. */
enum delivery_scope {
	DELIVERY_SCOPE_MESSAGE, /* this message or its recipient */
	DELIVERY_SCOPE_RELAY,   /* relay, network or Maildir: all messages */
	DELIVERY_SCOPE_LOGIN,   /* our login: all messages, until the operator acts */
};

/* The stage whose reply, or lack of one, decided; in the order of a session. */
enum smtp_stage {
	SMTP_STAGE_NONE, /* before connecting, or not SMTP */
	SMTP_STAGE_CONNECT,
	SMTP_STAGE_EHLO,
	SMTP_STAGE_STARTTLS,
	SMTP_STAGE_AUTH,
	SMTP_STAGE_MAIL,
	SMTP_STAGE_RCPT,
	SMTP_STAGE_DATA, /* DATA, and the message up to its dot */
	SMTP_STAGE_DOT,  /* the dot has been written */
};

struct delivery {
	enum delivery_outcome outcome;
	enum delivery_scope scope;
	enum smtp_stage stage;
	int code;          /* of the reply, 0 if none */
	char enhanced[12]; /* RFC 3463, e.g. "5.1.1"; or empty */
	bool is_policy;    /* rejected by policy (5.7.x) at RCPT or later: many in a row
	                      concern us, not the messages */
	char *text; /* owned; one printable line: the reply with its code, or the error;
	               NULL until set */
};

/** Free its members and reset it. */
void delivery_clear(struct delivery *delivery);

/** Stable names for log and queue: "relay", "rcpt". */
const char *delivery_scope_get_name(enum delivery_scope scope);
const char *smtp_stage_get_name(enum smtp_stage stage);
