/*
 * transport.h - the way out for messages, whatever it is.
 *
 * One object for each sender thread, which alone uses it; calls block.  It keeps its
 * connection between messages.  Breaker, limits and the time of the next attempt are
 * the caller's.
 */
#ifndef PAPERBOY_TRANSPORT_TRANSPORT_H
#define PAPERBOY_TRANSPORT_TRANSPORT_H

#include "base/cleanup.h"
#include "transport/delivery.h"
#include "transport/envelope.h"

/* Octets that are written within one time-out. */
#define TRANSPORT_BLOCK_BYTES (64 * 1024)

struct transport;

/* A message on its way, and what became of it. */
struct delivery_job {
	struct envelope envelope;
	struct delivery result; /* all zero before, to be cleared by the owner */
};

/*
 * Where messages come from.  While one is on its way the next is asked for, so that
 * its envelope goes out with the other's last octets.
 */
struct job_queue {
	/* The next that is at hand at this moment, or NULL; never waits. */
	struct delivery_job *(*next)(void *data);
	/* Its octets are not looked at again, whatever becomes of it. */
	void (*written)(void *data, struct delivery_job *delivery_job);
	/* Its result is set; in the order of next(). */
	void (*done)(void *data, struct delivery_job *delivery_job);
	void *data;
};

struct transport_ops {
	/* One of deliver() and run() is NULL. */
	void (*deliver)(struct transport *transport, const struct envelope *envelope,
	    struct delivery *result);
	void (*close)(struct transport *transport);
	void (*free)(struct transport *transport);
	void (*run)(struct transport *transport, const struct job_queue *feed);
};

/* First member of every transport. */
struct transport {
	const struct transport_ops *class;
	/* The longest between two calls of a feed's functions, s, by its time-outs: for
	 * one message, and for each block of TRANSPORT_BLOCK_BYTES of it. */
	int64_t wait_s, block_wait_s;
	/* Once readable it ends every wait for the host; set by the owner, and
	 * borrowed; NULL: none. */
	const int *stop_fd;
};

/**
 * Try to deliver one message, once.
 *
 * @param result  initialised (all zero, or used before); overwritten
 */
void transport_deliver(struct transport *transport, const struct envelope *envelope,
    struct delivery *result);

/** Deliver, each once, until there is none at hand and all are done. */
void transport_run(struct transport *transport, const struct job_queue *feed);

/**
 * The longest between two calls of a feed's functions, s, by all time-outs.
 *
 * @param size_bytes  of the largest message at hand
 */
int64_t transport_get_wait_s(const struct transport *transport, size_t size_bytes);

/** Take leave of the host, as when there is nothing to send; the next delivery
 * connects again. */
void transport_close(struct transport *transport);

/** Close and free. NULL is fine. */
void transport_free(struct transport *transport);
PB_DEFINE_AUTO(transport, transport_free);

#endif
