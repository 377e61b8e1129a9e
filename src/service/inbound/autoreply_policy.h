/*
 * autoreply_policy.h - whether a message may get a reply, and from whom it claims to
 * be.
 *
 * Pure: decides by message and envelope alone (RFC 3834 section 2).  Only results of
 * the operator's mail server authenticate a sender.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/cleanup.h"
#include "message/subaddress.h"
#include "model/inmail.h"
#include "receive/receiver.h"

/* Our own addresses.  Borrowed. */
struct autoreply_settings {
	const struct subaddress_base *base;    /* address of commands */
	const struct subaddress_base *bounces; /* base of envelope senders */
	const char *from;                      /* From of digests */
	const char *message_domain;            /* domain of our Message-IDs */
	/* authserv-id of the operator's mail server, which removes it from inbound mail
	 * (RFC 8601 section 5); "": no verification. */
	const char *authserv_id;
};

/* One of our addresses as recipient, or what takes its place without subaddresses. */
struct autoreply_target {
	enum subaddress_kind kind;
	char *token; /* "": none */
	/* Of a reply: the token is that of the Message-ID that it names, which anybody
	 * can know who has seen the message forwarded or quoted. */
	bool is_message_id;
};

struct autoreply_verdict {
	/* struct autoreply_target *: all recipients with a token, or else the most
	 * specific one. */
	GPtrArray *targets;
	enum subaddress_kind kind; /* of the selected target, initially the first */
	const char *token;         /* the same; borrowed */
	bool is_message_id;        /* the same */

	/* Subject without its token, if that is a target; else NULL. */
	char *subject;

	/* Reason to send no reply, a keyword; NULL: reply.  Static. */
	const char *reason;

	/* Address in From, not proven; NULL unless there is exactly one. */
	char *address; /* an addr-spec */
	char *key;     /* as address_format_key() */
	char *domain;
	char *name; /* or NULL */
	/* By the operator's mail server, for the domain of From: */
	bool is_verified; /* DMARC passed */
	bool is_aligned;  /* DMARC, DKIM or SPF passed, and DMARC did not fail */
	bool is_failed;   /* DMARC failed */
};

/** @param verdict  zeroed by the caller; autoreply_clear() it */
void
autoreply_check(const struct autoreply_settings *settings, const struct inmail *mail,
    const struct receive_mail *envelope, struct autoreply_verdict *verdict);

void autoreply_clear(struct autoreply_verdict *verdict);

void autoreply_select(struct autoreply_verdict *verdict, unsigned index);

/**
 * Format the key of an address for rate limits: without subaddress and dots, of which
 * one person may have any number.  Not an identity.
 *
 * @param text  an addr-spec
 * @return owned by the caller
 */
char *autoreply_format_rate_key(const char *text);
