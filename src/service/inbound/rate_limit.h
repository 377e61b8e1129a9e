/*
 * rate_limit.h - rate limits on replies, against backscatter.
 *
 * Counted by address without subaddress and dots.  Requests above a limit get no reply,
 * and a line in the log.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "service/command/request.h"

/* Mail about to be sent, by its recipient. */
enum rate_case {
	RATE_CASE_CONFIRMATION,          /* request to confirm: unknown sender */
	RATE_CASE_CONFIRMATION_VERIFIED, /* the same, verified by our mail server */
	RATE_CASE_CONFIRMATION_PAGE,     /* the same, by the form of the page */
	RATE_CASE_UNKNOWN,               /* reply: unknown sender */
	RATE_CASE_UNPROVEN,              /* reply: subscriber by From alone */
	RATE_CASE_PROVEN,     /* reply: proven subscriber, or with a valid token */
	RATE_CASE_OWNER,      /* forwarded to the owner */
	RATE_CASE_LEAVING,    /* unsubscribes by the token of a digest */
	RATE_CASE_REMOVED,    /* unsubscribed before, by the token of a digest */
	RATE_CASE_LINK,       /* link to the preferences, by the token of a digest */
	RATE_CASE_TYPED,      /* the same, for an address typed on the page */
	RATE_CASE_INVITATION, /* to somebody whom a subscriber invites; by the latter */
};

/**
 * Check whether a mail may be sent.
 *
 * @param address  its recipient, an addr-spec
 * @param reason   set: NULL if it may; else a keyword, static
 * @return false if the store fails
 */
bool rate_limit_check(const struct request *request, enum rate_case rate_case,
    const char *address, const char **reason, GError **error);

/**
 * The same, by the limits on all recipients of a domain and on all recipients only: the
 * result tells nothing about the address.
 */
bool rate_limit_check_shared(const struct request *request, enum rate_case rate_case,
    const char *address, const char **reason, GError **error);

/**
 * Find out whether a mail is the last one allowed within a day.
 *
 * @param most  set: the limit if it is the last one; else 0
 * @return false if the store fails
 */
bool rate_limit_find_last(const struct request *request, enum rate_case rate_case,
    const char *address, unsigned *most, GError **error);

/** Whether the reason is a limit on all senders of a domain, or on all. */
bool rate_limit_is_exhausted(const char *reason);

/** Count a mail as sent, in the caller's transaction. */
bool rate_limit_count(const struct request *request, enum rate_case rate_case,
    const char *address, GError **error);

/** Uncount the confirmation requests of an address that has confirmed. */
bool
rate_limit_refund(const struct request *request, const char *address, GError **error);

/**
 * End the interval between two requests to an address that has declined one.
 *
 * The request still counts for the month, so that requests with a forged sender cannot
 * be repeated without limit.
 */
bool rate_limit_end_interval(
    const struct request *request, const char *address, GError **error);
