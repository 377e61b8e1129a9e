/*
 * rate_limit.h - how much is answered, lest somebody be flooded in another's name.
 *
 * Counted on the address without its +tag and dots.  Whoever is past a limit gets
 * silence, and the log a line.
 */
#ifndef PAPERBOY_SERVICE_INBOUND_RATE_LIMIT_H
#define PAPERBOY_SERVICE_INBOUND_RATE_LIMIT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "service/command/request.h"

/* What is about to be sent. */
enum rate_case {
	RATE_CASE_CONFIRMATION,         /* asks a stranger whether it was them */
	RATE_CASE_CONFIRMATION_VOUCHED, /* the same, and our mail server vouches for
	                                 * them
	                                 */
	RATE_CASE_UNKNOWN,              /* answers one otherwise */
	RATE_CASE_UNKNOWN_HELP,         /* the letter held no command */
	RATE_CASE_ANSWER,               /* a subscriber, as far as the From tells */
	RATE_CASE_ANSWER_HELP,
	RATE_CASE_PROVEN, /* a subscriber who proved it, or whoever has a good token */
	RATE_CASE_PROVEN_HELP, /* the same, of a letter without a command */
	RATE_CASE_OWNER,       /* a letter is passed on to the owner */
	RATE_CASE_LEFT, /* an unsubscribe token of an address that is unsubscribed */
};

/* The share of the hour's confirmations, in parts of all of them, that only senders
 * get for whom our mail server vouches; where it never does, there is none. */
#define RATE_CASE_RESERVED_PART 4

/**
 * Ask whether it may be sent.
 *
 * @param address  who gets it, an addr-spec
 * @param why      set: NULL when it may; else a word of ours, static
 * @return false when the store fails
 */
bool rate_limit_check(const struct request *request, enum rate_case what,
    const char *address, const char **why, GError **error);

/**
 * Ask whether what may be sent now is the last for a day.
 *
 * @param most  set: how many a day has, when this is the last of them; else 0
 * @return false when the store fails
 */
bool rate_limit_find_last(const struct request *request, enum rate_case what,
    const char *address, unsigned *most, GError **error);

/** Whether so many others were asked in the last hour that this one was not. */
bool rate_limit_is_exhausted(const char *why);

/** Count it as sent; in the caller's transaction. */
bool rate_limit_count(const struct request *request, enum rate_case what,
    const char *address, GError **error);

/** An address has confirmed: that it was asked does not count any more. */
bool
rate_limit_refund(const struct request *request, const char *address, GError **error);

/**
 * An address has refused a confirmation: the interval between two ends.
 *
 * The request still counts for the month, so that a refusal does not let somebody else
 * ask again and again in that name.
 */
bool rate_limit_end_interval(
    const struct request *request, const char *address, GError **error);

#endif
