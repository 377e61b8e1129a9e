/*
 * relay_state.h - whether the relay accepts mail: its circuit breaker, and events.
 *
 * Gets results of deliveries and the time (seconds since the epoch, UTC), decides
 * whether another may be attempted.  Used by the mailer's thread alone, for all
 * connections.
 *
 * The breaker opens immediately if connecting fails (timeout, rejected greeting, EHLO
 * or STARTTLS), and within a session after BREAKER_FAILURES consecutive failures of the
 * relay, or policy rejections that concern several domains: then they are the relay's
 * own policy.  It stays open for BREAKER_WAIT_S, doubled for each failed trial up to
 * BREAKER_WAIT_MAX_S; then one message is sent as a trial.  Any reply of the relay
 * about a message, even a rejection, closes it.
 *
 * A failed login opens it for BREAKER_WAIT_MAX_S, and only a trial closes it: sessions
 * that were authenticated earlier prove nothing, and repeated logins may lock the
 * account.
 *
 * Deliveries that were not allowed do not count as attempts.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "transport/delivery.h"

/* Number of consecutive failures of the relay in a session that open the breaker. */
#define BREAKER_FAILURES 5

/* Time until the first trial, s. */
#define BREAKER_WAIT_S 60

/* Maximum time between two trials, s; mail waits at most that long after the relay
 * works again. */
#define BREAKER_WAIT_MAX_S (30 * 60)

enum breaker {
	BREAKER_CLOSED,    /* deliveries are allowed */
	BREAKER_OPEN,      /* no delivery before retry_at */
	BREAKER_HALF_OPEN, /* one delivery is in progress; another one is allowed at
	                  retry_at */
};

/* Zeroed: closed, not tried yet. */
struct relay_state {
	enum breaker breaker;
	bool is_used;             /* it has replied about a message */
	bool is_login;            /* opened by a failed login: the operator must act */
	bool is_proven;           /* it has handled a message since its last failure */
	bool is_failure_logged;   /* the recovery is not logged yet */
	unsigned failures;        /* consecutive */
	int64_t wait_s;           /* last wait, 0 while closed */
	int64_t opened_at;        /* since when not closed; set while not closed */
	int64_t retry_at;         /* time of the next attempt; set while not closed */
	char text[200];           /* last failure; empty if none */
	unsigned policy_refusals; /* consecutive policy rejections (5.7.x) */
	char *policy_domain;      /* their domain; NULL: several domains */
};

/** Close the breaker: the next message is sent alone. */
void relay_state_reset(struct relay_state *relay);

void relay_state_clear(struct relay_state *relay);

/** Get how many messages the breaker allows: 0, 1 for a trial, or UINT_MAX. */
unsigned relay_state_get_limit(const struct relay_state *relay, int64_t now);

/**
 * Whether one message may be delivered now. In the open state this starts the trial, so
 * call it only if there is a message.
 */
bool relay_state_allow(struct relay_state *relay, int64_t now);

/**
 * Report the result of a delivery, including those started before the breaker opened,
 * and log it if the relay has failed or recovered.
 *
 * Replies after MAIL FROM may contain the recipient's address in any form, so only
 * their code goes into log and status; the text stays in the queue.
 */
void relay_state_report(struct relay_state *relay, const char *recipient,
    const struct delivery *delivery, int64_t now);

/** Format what the relay does, for status: "accepts mail". @return a new string */
char *relay_state_format(const struct relay_state *relay, int64_t now);
