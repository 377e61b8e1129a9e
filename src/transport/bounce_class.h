/*
 * bounce_class.h - the meaning of a refusal for the recipient's address.
 *
 * The rules of etc/bounces/rules, which are compiled in, are for SMTP replies and for
 * the refusals that bounce reports quote.  They are tried in order and the first that
 * matches decides, so the order is the precedence when code and text disagree:
 *
 *  1. words for greylisting, loops and failures of local delivery, for limits on what
 *     we send, and for a full mailbox, whatever the code;
 *  2. words about us: authentication, reputation, blocked or unnamed hosts, sender
 *     address ("5.1.1 ... spam" is ours, not a dead address), and X.1.7 and X.1.8;
 *  3. "user unknown" with a lasting reply to RCPT ("550 5.7.1 user unknown", also in a
 *     text about relaying or policy, is a dead address);
 *  4. words about relaying, policy, size and content;
 *  5. words about the address: no such domain; temporary; moved, disabled, no such
 *     user, in ten languages; "message rejected";
 *  6. any other reply before RCPT, when the recipient is not known yet;
 *  7. words about the network and the host;
 *  8. the enhanced status code (RFC 3463), then the reply code.
 *
 * Conditions, guesses and advice in a text ("the address may be misspelled") say
 * nothing about the address.  Refusals before RCPT do not either.  After DATA the
 * server has accepted the recipient: words like "unknown user" then count only with an
 * enhanced code that says the same, because some providers answer so to filtered mail;
 * whole sentences ("this user doesn't have an account") count.
 * Anything else is UNKNOWN, which counts for nothing.
 */
#pragma once

#include <stdbool.h>

#include "transport/delivery.h"

enum bounce_class {
	BOUNCE_UNKNOWN,
	BOUNCE_DEAD,      /* no such address or domain, disabled, moved */
	BOUNCE_FULL,      /* mailbox full */
	BOUNCE_TEMPORARY, /* network, host or mailbox out of order; greylisting */
	BOUNCE_SENDER, /* our fault: authentication, reputation, policy, content, ... */
	BOUNCE_COMPLAINT, /* feedback report (RFC 5965) */
	BOUNCE_AUTO,      /* auto-reply, or receipt (RFC 8098) */
	BOUNCE_DELIVERED,
};

/* Object of BOUNCE_SENDER. */
enum bounce_fault {
	BOUNCE_FAULT_NONE,
	BOUNCE_FAULT_DOMAIN,  /* authentication, reputation, policy, relaying, rate */
	BOUNCE_FAULT_MESSAGE, /* content or size of this message */
};

/* One refusal; strings are borrowed. */
struct bounce_refusal {
	enum smtp_stage stage; /* SMTP_STAGE_NONE: not known */
	int code;              /* 0: none */
	const char *status;    /* RFC 3463, "5.1.1"; "" or NULL: none */
	const char *text;      /* UTF-8, any length; the first 4 KiB count */
};

struct bounce_verdict {
	enum bounce_class class;
	enum bounce_fault fault;
	const char *rule; /* name of the rule; static; "none" for UNKNOWN */
};

/* From any thread.  The rules are read by the first call. */
struct bounce_verdict bounce_classify(const struct bounce_refusal *refusal);

/** Stable names: "dead", "full", "temporary", "sender", "complaint", ... */
const char *bounce_class_get_name(enum bounce_class class);
