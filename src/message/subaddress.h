/*
 * subaddress.h - subaddresses of our address (RFC 5233) and their purposes.
 *
 *     paperboy@host                      commands
 *     paperboy+subscribe@host            one command, whatever the text is
 *     paperboy+c-TOKEN@host              confirms a request
 *     paperboy+r-TOKEN@host              reply to a digest, identifies the subscriber
 *     paperboy+u-TOKEN@host              unsubscribes
 *     paperboy+p-TOKEN@host              pauses
 *     paperboy+w-TOKEN@host              digests come weekly
 *     paperboy+f-TOKEN@host              digests show fewer papers
 *     paperboy+b-TOKEN@host              envelope sender (VERP): bounces
 *     paperboy+check-TOKEN@host          mail of paperboyctl check
 *     paperboy+owner@host                forwarded to the operator
 *     paperboy+fbl@host                  complaints from feedback loops
 *
 * Local part, host and the `+` are configured.  Case is ignored, because mail servers
 * change the case of local parts.
 *
 * Mail servers without subaddresses have an empty delimiter.  Then all mail goes to
 * paperboy@host, and what the subaddress says is said by the message:
 *
 *     [c-TOKEN] in the subject           confirms; [u-TOKEN], [p-TOKEN], [w-TOKEN],
 *                                        [f-TOKEN] and [check-TOKEN] as above
 *     In-Reply-To: our Message-ID        replies to a digest or a reply
 *     SUBADDRESS_BOUNCE_FIELD: TOKEN     in the header of a returned message
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "message/address.h"

/*
 * Purposes of derived tokens (base/token.h).  They contain the id of a digest,
 * subscriber (ANSWER: and the day), confirmation or system mail, and when the row was
 * created.
 */
#define SUBADDRESS_TOKEN_REPLY               "reply"
#define SUBADDRESS_TOKEN_ANSWER              "reply-answer"
#define SUBADDRESS_TOKEN_LEAVE               "unsubscribe"
#define SUBADDRESS_TOKEN_BOUNCE              "bounce"
#define SUBADDRESS_TOKEN_BOUNCE_CONFIRMATION "bounce-confirmation"
#define SUBADDRESS_TOKEN_BOUNCE_MAIL         "bounce-mail"

/*
 * Purposes of tokens in URLs of the page.  VIEW is bound like REPLY, to a digest and
 * its created_at.  LEAVE is shared with addresses; CHECK takes its place when the page
 * tests itself, with a number instead of a subscriber.
 */
#define SUBADDRESS_TOKEN_VIEW        "view"        /* /d/TOKEN */
#define SUBADDRESS_TOKEN_CHECK       "web-check"   /* /u/TOKEN */
#define SUBADDRESS_TOKEN_PREFERENCES "preferences" /* /p/TOKEN, see web_private.h */
#define SUBADDRESS_TOKEN_FEED        "feed"        /* /f/TOKEN.atom: all filters */
#define SUBADDRESS_TOKEN_FILTER_FEED "filter-feed" /* /f/TOKEN.atom: one filter */

enum subaddress_kind {
	SUBADDRESS_COMMANDS,
	SUBADDRESS_SUBSCRIBE,
	SUBADDRESS_UNSUBSCRIBE, /* +unsubscribe: the sender */
	SUBADDRESS_HELP,
	SUBADDRESS_OWNER,
	SUBADDRESS_FEEDBACK, /* +fbl: complaints (RFC 5965) */
	SUBADDRESS_CONFIRM,  /* from here on with a token */
	SUBADDRESS_REPLY,
	SUBADDRESS_LEAVE, /* +u-TOKEN: the subscriber of the token */
	SUBADDRESS_BOUNCE,
	SUBADDRESS_CHECK,   /* a mail of paperboyctl check */
	SUBADDRESS_PAUSE,   /* +p-TOKEN: the subscriber of a token of LEAVE */
	SUBADDRESS_WEEKLY,  /* +w-TOKEN: the subscriber of a token of LEAVE */
	SUBADDRESS_FEWER,   /* +f-TOKEN: the subscriber of a token of LEAVE */
	SUBADDRESS_UNKNOWN, /* ours, with an unknown subaddress */
};

/* Base of our addresses. */
struct subaddress_base {
	struct address address; /* paperboy@host */
	char delimiter;         /* '+'; 0: no subaddresses */
};

/* Header field with the token of a bounce address, without subaddresses. */
#define SUBADDRESS_BOUNCE_FIELD "X-Paperboy-Bounce"

/**
 * Parse the configured address.
 *
 * @param delimiter  one of + - = _ . or empty
 * @param base       set on success only; subaddress_base_clear() it
 * @return false with PB_ERROR_INPUT for an invalid address or delimiter, or a local
 *         part too long for a token within 64 bytes
 */
bool subaddress_base_parse(const char *address, const char *delimiter,
    struct subaddress_base *base, GError **error);
void subaddress_base_clear(struct subaddress_base *base);

/**
 * Find the purpose of an address.
 *
 * @param text   any text
 * @param kind   set if it is ours
 * @param token  set if it is ours: lower-case token, "" if the kind has none; owned
 *               by the caller
 * @return whether it is one of ours
 */
bool subaddress_parse(const struct subaddress_base *base, const char *text,
    enum subaddress_kind *kind, char **token);

/**
 * Format an address; without subaddresses always the same one.
 *
 * @param token  for kinds that have one, [a-z2-7]; else NULL
 * @return owned by the caller
 */
char *subaddress_format(
    const struct subaddress_base *base, enum subaddress_kind kind, const char *token);

/** Format what says the same in a subject, "[u-TOKEN]" or "help". */
char *subaddress_format_tag(enum subaddress_kind kind, const char *token);

/**
 * Find the first tag in a subject.
 *
 * @param kind   set if there is one, of those listed above
 * @param token  set if there is one: in lower case, owned by the caller
 * @return the subject without the tag, owned by the caller; NULL without a tag
 */
char *
subaddress_take_tag(const char *subject, enum subaddress_kind *kind, char **token);

/** Format an address as mailto URI (RFC 6068), with a subject only without
 * subaddresses. */
char *subaddress_format_mailto(
    const struct subaddress_base *base, enum subaddress_kind kind, const char *token);

/* A precomputed address, tag or mailto URI of one kind, without its token. */
struct subaddress_template {
	char *before;
	char *behind;
};

/** @param kind  one that has a token  @param is_link  as subaddress_format_mailto() */
void subaddress_template_init(struct subaddress_template *template,
    const struct subaddress_base *base, enum subaddress_kind kind, bool is_link);
void subaddress_template_clear(struct subaddress_template *template);

/**
 * Insert a token.
 *
 * @return as subaddress_format_mailto() or subaddress_format(), but as
 *         subaddress_format_tag() without subaddresses
 */
char *subaddress_template_expand(
    const struct subaddress_template *template, const char *token);
