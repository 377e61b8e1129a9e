/*
 * breaker.h - circuit breaker for a relay.
 *
 * Pure: gets results of deliveries and the time (seconds since the epoch, UTC), decides
 * whether another may be attempted. One per relay, used by a single thread for all its
 * connections.
 *
 * Opens immediately if connecting fails (timeout, rejected greeting, EHLO or STARTTLS),
 * and within a session after BREAKER_FAILURES consecutive failures of the relay. Stays
 * open for BREAKER_WAIT_S, doubled for each failed trial up to BREAKER_WAIT_MAX_S; then
 * one message is sent as a trial. Any reply of the relay about a message, even a
 * rejection, closes it.
 *
 * A failed login opens it for BREAKER_WAIT_MAX_S, and only a trial closes it: sessions
 * that were authenticated earlier prove nothing, and repeated logins may lock the
 * account.
 *
 * Deliveries that were not allowed do not count as attempts.
 */
#ifndef PAPERBOY_TRANSPORT_BREAKER_H
#define PAPERBOY_TRANSPORT_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

#include "transport/delivery.h"

#define BREAKER_FAILURES   5
#define BREAKER_WAIT_S     60
#define BREAKER_WAIT_MAX_S (30 * 60)

enum breaker_state {
	BREAKER_CLOSED,    /* deliveries are allowed */
	BREAKER_OPEN,      /* no delivery before retry_at */
	BREAKER_HALF_OPEN, /* one delivery is in progress; another one is allowed at
	                  retry_at */
};

struct breaker {
	enum breaker_state state;
	bool is_used;      /* the relay has replied about a message */
	bool is_login;     /* opened by a failed login: the operator must act */
	unsigned failures; /* of the relay, consecutive */
	int64_t wait_s;    /* last wait, 0 while closed */
	int64_t opened_at; /* since when not closed; set while not closed */
	int64_t retry_at;  /* time of the next attempt; set while not closed */
	char text[200];    /* last failure; empty if none */
};

/** Initialise as closed; also for an operator's "retry now". */
void breaker_init(struct breaker *breaker);

/**
 * Whether one message may be delivered now. In the open state this starts the trial, so
 * call it only if there is a message.
 */
bool breaker_allow(struct breaker *breaker, int64_t now);

/** Report the result of a delivery, including those started before it opened. */
void
breaker_report(struct breaker *breaker, const struct delivery *delivery, int64_t now);

/** Format what the relay does, for status: "accepts mail". @return a new string */
char *breaker_format(const struct breaker *breaker, int64_t now);

#endif
