/*
 * transport.h - the way out for messages, whatever it is.
 *
 * One object for each sender thread, which alone uses it; calls block.  It keeps its
 * connection between messages.  Breaker, limits and the time of the next attempt are
 * the caller's.
 */
#ifndef PAPERBOY_TRANSPORT_TRANSPORT_H
#define PAPERBOY_TRANSPORT_TRANSPORT_H

#include "base/auto.h"
#include "transport/delivery.h"
#include "transport/envelope.h"

struct transport;

struct transport_class {
	void (*deliver)(struct transport *transport, const struct envelope *envelope,
	    struct delivery *result);
	void (*close)(struct transport *transport);
	void (*free)(struct transport *transport);
};

/* First member of every transport. */
struct transport {
	const struct transport_class *class;
};

/**
 * Try to deliver one message, once.
 *
 * @param result  initialised (all zero, or used before); overwritten
 */
void transport_deliver(struct transport *transport, const struct envelope *envelope,
    struct delivery *result);

/** Take leave of the host, as when there is nothing to send; the next delivery
 * connects again. */
void transport_close(struct transport *transport);

/** Close and free. NULL is fine. */
void transport_free(struct transport *transport);
PB_DEFINE_AUTO(transport, transport_free);

#endif
