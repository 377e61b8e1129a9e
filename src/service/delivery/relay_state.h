/*
 * relay_state.h - whether the relay may be tried, and when its failures are logged.
 *
 * The circuit breaker (transport/breaker.h), which policy rejections open, too, if they
 * concern several domains: then they are the relay's own policy.  Used by the mailer's
 * thread alone.
 */
#ifndef PAPERBOY_SERVICE_DELIVERY_RELAY_STATE_H
#define PAPERBOY_SERVICE_DELIVERY_RELAY_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "transport/breaker.h"

struct relay_state {
	struct breaker breaker;
	bool is_proven;           /* it has handled a message since its last failure */
	bool is_failure_logged;   /* the recovery is not logged yet */
	unsigned policy_refusals; /* consecutive policy rejections (5.7.x) */
	char *policy_domain;      /* their domain; NULL: several domains */
};

/** Close the breaker: the next message is sent alone.  Initialises a zeroed state. */
void relay_state_reset(struct relay_state *relay);

void relay_state_clear(struct relay_state *relay);

/**
 * Report the result of a delivery, and log it if the relay has failed or recovered.
 *
 * Replies after MAIL FROM may contain the recipient's address in any form, so only
 * their code goes into log and status; the text stays in the queue.
 */
void relay_state_report(struct relay_state *relay, const char *recipient,
    const struct delivery *delivery, int64_t now);

/** Get how many messages the breaker allows: 0, 1 for a trial, or UINT_MAX. */
unsigned relay_state_get_limit(const struct relay_state *relay, int64_t now);

#endif
