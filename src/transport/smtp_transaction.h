/*
 * smtp_transaction.h - one SMTP or LMTP transaction, from MAIL to the answer to its
 * dot.
 *
 * Pure: it tells which bytes may be written now and takes the replies in their
 * order; whoever owns the stream moves the bytes and keeps the time.  Two marks run
 * through the stages: what has been given out for writing, and whose reply is
 * awaited.  Where the host offers PIPELINING (RFC 2920) the first runs ahead to DATA;
 * else a stage is given out when all replies before it are in.  Commands are appended
 * to the caller's buffer, so the next transaction's may follow this one's dot in the
 * same write (section 3.1).
 *
 * Refused in the middle of a group, it is over when the replies to the rest of the
 * group are in.  A host that answers 354 to a DATA without a recipient gets a lone
 * dot, and nothing of the message.
 */
#ifndef PAPERBOY_TRANSPORT_SMTP_TRANSACTION_H
#define PAPERBOY_TRANSPORT_SMTP_TRANSACTION_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "transport/delivery.h"
#include "transport/envelope.h"
#include "transport/reply.h"

/* What a host offers in its answer to EHLO, as far as we use it. */
struct extensions {
	bool has_size;       /* RFC 1870 */
	uint64_t most_bytes; /* SIZE's number, or 0 for none told */
	bool has_8bitmime;   /* RFC 6152 */
	bool has_smtputf8;   /* RFC 6531 */
	bool has_pipelining; /* RFC 2920 */
	bool has_dsn;        /* RFC 3461 */
	bool is_lmtp;        /* RFC 2033; set by who has connected */
};

struct smtp_transaction {
	const struct envelope *envelope; /* borrowed */
	GString
	    *data; /* owned: the message on the wire, with its dot; NULL once given */
	size_t size_bytes; /* of the message */
	bool is_8bit;
	bool needs_smtputf8;
	struct extensions extensions;
	enum smtp_stage given;   /* last stage whose bytes were given out */
	enum smtp_stage awaited; /* stage whose reply comes next */
	bool begins_with_reset;  /* RSET comes before MAIL, and its reply is awaited */
	bool is_reset_given;
	bool is_refused; /* result is set, and replies to the rest of the group come */
	bool is_over;    /* result is set, and nothing is awaited */
	bool is_last;    /* the connection cannot be used again */
	struct delivery *result; /* borrowed */
};

/** Read the lines of an EHLO or LHLO answer; the first is the host's name. */
void extensions_parse(const GPtrArray *hello, struct extensions *extensions);

/**
 * Begin a transaction.  It may be over at once: FAILED at SMTP_STAGE_NONE when the
 * envelope cannot be written at all.
 *
 * @param envelope  borrowed until smtp_transaction_clear()
 * @param result    written when the dialogue is over; borrowed likewise
 */
void smtp_transaction_init(struct smtp_transaction *smtp_transaction,
    const struct envelope *envelope, struct delivery *result);
void smtp_transaction_clear(struct smtp_transaction *smtp_transaction);

/**
 * Begin, or begin again while the message was not given out, on a connection.  It may
 * be over at once: FAILED at MAIL when the host lacks SMTPUTF8 (5.6.7) or 8BITMIME
 * (5.6.3) that the message needs, or takes none of that size (5.3.4).
 *
 * @param needs_reset  the connection's last transaction was refused
 */
void smtp_transaction_start(struct smtp_transaction *smtp_transaction,
    const struct extensions *extensions, bool needs_reset);

/**
 * Append what may be written now; nothing while only replies are awaited.
 *
 * @return true if bytes were appended
 */
bool
smtp_transaction_give_bytes(struct smtp_transaction *smtp_transaction, GString *out);

/** Take the reply that was awaited. */
void smtp_transaction_take_reply(
    struct smtp_transaction *smtp_transaction, const struct reply *reply);

/**
 * End it without a reply: cut, silent, malformed.
 *
 * @param is_written  all that was given out has been handed to the connection
 * @param why         for the result's text; foreign bytes allowed
 */
void smtp_transaction_break(
    struct smtp_transaction *smtp_transaction, bool is_written, const char *why);

/** Set a delivery from a reply that is the last word at a stage. */
void smtp_transaction_set_result(
    struct delivery *result, enum smtp_stage stage, const struct reply *reply);

/** Set a delivery from the lack of a reply. @param why foreign bytes allowed */
void smtp_transaction_set_timeout(
    struct delivery *result, enum smtp_stage stage, const char *why);

#endif
