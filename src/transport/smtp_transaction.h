/*
 * smtp_transaction.h - one SMTP or LMTP transaction, from MAIL to the reply to the dot.
 *
 * Pure: produces the bytes that may be written and consumes the replies in order; the
 * caller owns the stream and the timeouts. Two positions move through the stages: the
 * last stage written, and the stage whose reply is awaited. With PIPELINING (RFC 2920)
 * the first runs ahead to DATA; without, a stage is written after all earlier replies.
 * Commands are appended to the caller's buffer, so that the next transaction may follow
 * the dot in the same write (section 3.1).
 *
 * A transaction rejected within a group ends after the replies to the rest of the
 * group. If a host replies 354 to DATA without a valid recipient, only the dot is sent.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "transport/delivery.h"
#include "transport/envelope.h"
#include "transport/reply.h"

/* Supported extensions in the reply to EHLO. */
struct extensions {
	bool has_size;       /* RFC 1870 */
	uint64_t max_bytes;  /* limit of SIZE, 0 if none */
	bool has_8bitmime;   /* RFC 6152 */
	bool has_smtputf8;   /* RFC 6531 */
	bool has_pipelining; /* RFC 2920 */
	bool has_dsn;        /* RFC 3461 */
	bool is_lmtp;        /* RFC 2033; set by the caller */
};

struct smtp_transaction {
	const struct envelope *envelope; /* borrowed */
	size_t size_bytes;               /* of the message */
	bool is_8bit;                    /* the message has bytes above 127 */
	bool needs_smtputf8;
	struct extensions extensions;
	enum smtp_stage written; /* last stage written */
	enum smtp_stage awaited; /* stage of the next reply */
	bool begins_with_reset;  /* RSET is sent before MAIL */
	bool is_reset_written;
	bool is_refused; /* result is set, but replies of the group are pending */
	bool is_over;    /* result is set, no reply is pending */
	bool is_last;    /* the connection must be closed */
	struct delivery *result; /* borrowed */
};

/** Parse the lines of an EHLO or LHLO reply; the first is the host name. */
void extensions_parse(const GPtrArray *hello, struct extensions *extensions);

/**
 * Initialise a transaction. It may be over at once: FAILED at SMTP_STAGE_NONE if the
 * envelope is invalid.
 *
 * @param envelope  borrowed; its message until that is written up to its dot
 * @param result    set when the transaction is over; borrowed
 */
void smtp_transaction_init(struct smtp_transaction *transaction,
    const struct envelope *envelope, struct delivery *result);

/**
 * Start the transaction on a connection, or restart it if the message has not been
 * written. It may be over at once: FAILED at MAIL if the host lacks SMTPUTF8 (5.6.7) or
 * 8BITMIME (5.6.3) but the message needs it, or if it is too large (5.3.4).
 *
 * @param needs_reset  the last transaction on the connection was rejected
 */
void smtp_transaction_start(struct smtp_transaction *transaction,
    const struct extensions *extensions, bool needs_reset);

/**
 * Append the bytes that may be written now.
 *
 * @return whether bytes were appended
 */
bool smtp_transaction_write(struct smtp_transaction *transaction, GString *out);

/** Process the next reply. */
void smtp_transaction_take_reply(
    struct smtp_transaction *transaction, const struct reply *reply);

/**
 * End it without a valid reply: lost connection, timeout, malformed reply.
 *
 * @param is_written  whether all bytes were written to the connection
 * @param why         text of the result; may be untrusted
 */
void smtp_transaction_break(
    struct smtp_transaction *transaction, bool is_written, const char *why);

/** End it before its content is written: DEFERRED. The connection is of no more use. */
void smtp_transaction_withdraw(struct smtp_transaction *transaction);

/** Set a result from the final reply at a stage. */
void smtp_transaction_set_result(
    struct delivery *result, enum smtp_stage stage, const struct reply *reply);

/** Set a result without a reply. @param why  may be untrusted */
void smtp_transaction_set_timeout(
    struct delivery *result, enum smtp_stage stage, const char *why);
