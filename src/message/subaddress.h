/*
 * subaddress.h - the addresses of ours that say what a letter is for.
 *
 *     paperboy@host                      commands
 *     paperboy+subscribe@host            one command, whatever the letter holds
 *     paperboy+c-TOKEN@host              confirms
 *     paperboy+r-TOKEN@host              answers a digest, as the person it was for
 *     paperboy+u-TOKEN@host              unsubscribes
 *     paperboy+b-TOKEN@host              the envelope sender: what came back
 *     paperboy+check-TOKEN@host          a mail to itself, to see what comes back
 *     paperboy+owner@host                goes to a person
 *
 * Local part, host and the `+` are the operator's.  Mail servers fold the case of
 * local parts, so it does not count.
 */
#ifndef PAPERBOY_MESSAGE_SUBADDRESS_H
#define PAPERBOY_MESSAGE_SUBADDRESS_H

#include <glib.h>
#include <stdbool.h>

#include "message/address.h"

/* What derived tokens are for (base/token.h): the digest's or subscriber's number, and
 * when that row was made. */
#define SUBADDRESS_TOKEN_REPLY         "reply"         /* a digest */
#define SUBADDRESS_TOKEN_ANSWER        "reply-answer"  /* a subscriber, and the day */
#define SUBADDRESS_TOKEN_LEAVE         "unsubscribe"   /* a subscriber */
#define SUBADDRESS_TOKEN_BOUNCE        "bounce"        /* a digest */
#define SUBADDRESS_TOKEN_BOUNCE_TICKET "bounce-ticket" /* a confirmation */

enum subaddress_kind {
	SUBADDRESS_COMMANDS,
	SUBADDRESS_SUBSCRIBE,
	SUBADDRESS_UNSUBSCRIBE, /* +unsubscribe: of whoever writes */
	SUBADDRESS_HELP,
	SUBADDRESS_OWNER,
	SUBADDRESS_CONFIRM, /* from here on with a token */
	SUBADDRESS_REPLY,
	SUBADDRESS_LEAVE, /* +u-TOKEN: of whoever the token is for */
	SUBADDRESS_BOUNCE,
	SUBADDRESS_CHECK,   /* paperboyctl check: a mail to itself */
	SUBADDRESS_UNKNOWN, /* ours, but it says nothing that we know */
};

/* What our addresses are made of. */
struct subaddress_base {
	struct address address; /* paperboy@host */
	char delimiter;         /* '+' */
};

/**
 * Read what the operator says.
 *
 * @param delimiter  one of + - = _ .
 * @param base       set on success only; subaddress_base_clear() it
 * @return false with PB_ERROR_INPUT when it is no address, one that can hold no token
 *         in 64 octets, or no such delimiter
 */
bool subaddress_base_parse(const char *address, const char *delimiter,
    struct subaddress_base *base, GError **error);
void subaddress_base_clear(struct subaddress_base *base);

/**
 * Tell what an address is for.
 *
 * @param address  any text
 * @param kind     set when it is ours
 * @param token    set when it is ours: the token in lower case, "" where the kind has
 *                 none; owned by the caller
 * @return whether it is one of ours
 */
bool subaddress_parse(const struct subaddress_base *base, const char *address,
    enum subaddress_kind *kind, char **token);

/**
 * Format one of our addresses.
 *
 * @param token  for kinds that have one, [a-z2-7]; else NULL
 * @return owned by the caller
 */
char *subaddress_format(
    const struct subaddress_base *base, enum subaddress_kind kind, const char *token);

/** The same as a mailto link (RFC 6068) without a subject. */
char *subaddress_format_mailto(
    const struct subaddress_base *base, enum subaddress_kind kind, const char *token);

/* One kind of address, or a link to it, without its token: for many of them. */
struct subaddress_template {
	char *before;
	char *behind;
};

/** @param kind  one that has a token  @param is_link  as subaddress_format_mailto() */
void subaddress_template_init(struct subaddress_template *form,
    const struct subaddress_base *base, enum subaddress_kind kind, bool is_link);
void subaddress_template_clear(struct subaddress_template *form);

/** Put a token in. @return as subaddress_format() or subaddress_format_mailto() */
char *
subaddress_template_expand(const struct subaddress_template *form, const char *token);

#endif
