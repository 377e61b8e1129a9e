/*
 * breaker.h - when to leave a relay alone.
 *
 * Pure: told what became of deliveries and what time it is (seconds since the
 * epoch, UTC), it answers whether another may be tried.  One breaker a relay, shared
 * by its senders through the one thread that owns it.
 *
 * It opens at once when a connection cannot be had (no answer, refused greeting,
 * EHLO or STARTTLS): with one connection a sender the next message would find the
 * same.  Within a session it takes BREAKER_FAILURES failures of the relay in
 * a row.  It stays open BREAKER_WAIT_S, doubled for each trial that fails, up to
 * BREAKER_WAIT_MAX_S; then one message goes out as a trial.  Any word of the relay
 * about a message, be it a refusal, closes it.
 *
 * A failed login opens it at the longest wait, and only a trial closes it
 * again: connections that logged in before prove nothing, and asking again may lock
 * the account.
 *
 * Deliveries that it stops are no attempts.
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
	BREAKER_CLOSED, /* deliveries go */
	BREAKER_OPEN,   /* none goes before retry_at */
	BREAKER_TRIAL,  /* one is under way; another goes if it is not heard of by then
	                 */
};

struct breaker {
	enum breaker_state state;
	bool is_login;     /* opened by a refused login: somebody has to mend it */
	unsigned failures; /* of the relay, in a row */
	int64_t wait_s;    /* the last wait, 0 while closed */
	int64_t opened_at; /* when it opened, trials or not; set while not closed */
	int64_t retry_at;  /* when the next trial may go; set while not closed */
	char text[200];    /* the last failure; empty while closed with none */
};

/** Begin closed. Also what an operator's "try again now" does. */
void breaker_init(struct breaker *breaker);

/**
 * Ask for leave to deliver one message.  In the open state the one that gets leave is
 * the trial, so ask only with a message at hand.
 */
bool breaker_allow(struct breaker *breaker, int64_t now);

/** Tell what became of a delivery, of a trial or of one begun before. */
void
breaker_report(struct breaker *breaker, const struct delivery *delivery, int64_t now);

/** Format one line for a status display. @return a new string */
char *breaker_format(const struct breaker *breaker, int64_t now);

#endif
