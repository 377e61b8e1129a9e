/*
 * extension.h - the addresses of ours that say what a letter is for.
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
#ifndef PAPERBOY_MAIL_EXTENSION_H
#define PAPERBOY_MAIL_EXTENSION_H

#include <glib.h>
#include <stdbool.h>

#include "mail/address.h"

/* What derived tokens are for (base/token.h): the digest's or subscriber's number, and
 * when that row was made. */
#define EXTENSION_TOKEN_REPLY         "reply"         /* a digest */
#define EXTENSION_TOKEN_ANSWER        "reply-answer"  /* a subscriber, and the day */
#define EXTENSION_TOKEN_LEAVE         "unsubscribe"   /* a subscriber */
#define EXTENSION_TOKEN_BOUNCE        "bounce"        /* a digest */
#define EXTENSION_TOKEN_BOUNCE_TICKET "bounce-ticket" /* a confirmation */

enum extension_kind {
	EXTENSION_COMMANDS,
	EXTENSION_SUBSCRIBE,
	EXTENSION_UNSUBSCRIBE, /* +unsubscribe: of whoever writes */
	EXTENSION_HELP,
	EXTENSION_OWNER,
	EXTENSION_CONFIRM, /* from here on with a token */
	EXTENSION_REPLY,
	EXTENSION_LEAVE, /* +u-TOKEN: of whoever the token is for */
	EXTENSION_BOUNCE,
	EXTENSION_CHECK,   /* paperboyctl check: a mail to itself */
	EXTENSION_UNKNOWN, /* ours, but it says nothing that we know */
};

/* What our addresses are made of. */
struct extension_base {
	struct address address; /* paperboy@host */
	char delimiter;         /* '+' */
};

/**
 * Read what the operator says.
 *
 * @param delimiter  one of + - = _ .
 * @param base       set on success only; extension_base_clear() it
 * @return false with PB_ERROR_INPUT when it is no address, one that can hold no token
 *         in 64 octets, or no such delimiter
 */
bool extension_base_parse(const char *address, const char *delimiter,
    struct extension_base *base, GError **error);
void extension_base_clear(struct extension_base *base);

/**
 * Tell what an address is for.
 *
 * @param address  any text
 * @param kind     set when it is ours
 * @param token    set when it is ours: the token in lower case, "" where the kind has
 *                 none; owned by the caller
 * @return whether it is one of ours
 */
bool extension_parse(const struct extension_base *base, const char *address,
    enum extension_kind *kind, char **token);

/**
 * Format one of our addresses.
 *
 * @param token  for kinds that have one, [a-z2-7]; else NULL
 * @return owned by the caller
 */
char *extension_format(
    const struct extension_base *base, enum extension_kind kind, const char *token);

/** The same as a mailto link (RFC 6068) without a subject. */
char *extension_format_mailto(
    const struct extension_base *base, enum extension_kind kind, const char *token);

/* One kind of address, or a link to it, without its token: for many of them. */
struct extension_form {
	char *before;
	char *behind;
};

/** @param kind  one that has a token  @param is_link  as extension_format_mailto() */
void extension_form_init(struct extension_form *form, const struct extension_base *base,
    enum extension_kind kind, bool is_link);
void extension_form_clear(struct extension_form *form);

/** Put a token in. @return as extension_format() or extension_format_mailto() */
char *extension_form_fill(const struct extension_form *form, const char *token);

#endif
