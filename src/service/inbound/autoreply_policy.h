/*
 * autoreply_policy.h - who stands at the door with a letter, and whether to open.
 *
 * Pure judgement of what a letter and its envelope say: nothing is looked up, so
 * nothing is proven yet but what the operator's own mail server vouches for.  After
 * RFC 3834 section 2, and what robots do in spite of it.
 */
#ifndef PAPERBOY_SERVICE_INBOUND_AUTOREPLY_POLICY_H
#define PAPERBOY_SERVICE_INBOUND_AUTOREPLY_POLICY_H

#include <glib.h>
#include <stdbool.h>

#include "base/cleanup.h"
#include "message/subaddress.h"
#include "model/inmail.h"
#include "receive/receiver.h"

/* What is ours.  Borrowed. */
struct autoreply_settings {
	const struct subaddress_base *base;    /* where commands go */
	const struct subaddress_base *bounces; /* what envelope senders are made of */
	const char *from;                      /* where digests come from */
	const char *message_domain;            /* right side of our Message-IDs */
	/* The authserv-id of the operator's mail server, in any case, which takes it
	 * out of what strangers send (RFC 8601 section 5); "": nobody vouches. */
	const char *authserv_id;
};

/* One of our addresses. */
struct autoreply_target {
	enum subaddress_kind kind;
	char *token; /* or "" */
};

struct autoreply_verdict {
	/* The addresses that it came to, struct door_target *: all that have a token,
	 * or else the one that says most. */
	GPtrArray *targets;
	enum subaddress_kind kind; /* of the one selected, the first to begin with */
	const char *token;         /* the same; borrowed */

	/* A word of ours that says why this letter is not to be answered, whatever is
	 * asked; NULL: it may be.  Static. */
	const char *reason;

	/* Who says to have written it; all NULL when that cannot be told. */
	char *address; /* an addr-spec */
	char *key;     /* as address_format_key() */
	char *domain;
	char *name;      /* or NULL */
	bool is_vouched; /* our mail server says that this is who wrote it */
};

/** @param judgement  zeroed by the caller; autoreply_clear() it */
void
autoreply_check(const struct autoreply_settings *settings, const struct inmail *mail,
    const struct receive_mail *envelope, struct autoreply_verdict *judgement);

void autoreply_clear(struct autoreply_verdict *judgement);

/** Select one of the targets. */
void autoreply_select(struct autoreply_verdict *judgement, unsigned index);

/**
 * What an address counts as where limits are kept: without its +tag and dots, since
 * one person can have any number of these.  Not for telling people apart.
 *
 * @param address  an addr-spec as address_parse() takes it
 * @return owned by the caller
 */
char *autoreply_format_rate_key(const char *address);

#endif
