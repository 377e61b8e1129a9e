/*
 * transport.h - interface of the transports: SMTP, LMTP, Maildir.
 *
 * One object per connection thread; calls block. It keeps its connection between
 * messages. The circuit breaker, rate limits and retries are the caller's.
 */
#pragma once

#include "base/cleanup.h"
#include "transport/delivery.h"
#include "transport/envelope.h"

/* Bytes written within one timeout. */
#define TRANSPORT_BLOCK_BYTES (64 * 1024)

struct transport;

/* A message being delivered, and its result. */
struct delivery_job {
	struct envelope envelope;
	struct delivery result; /* initially all zero; cleared by the owner */
};

/* Source of messages. The next one is requested while one is being delivered, so that
 * its envelope can be pipelined. */
struct job_queue {
	/* Next available message, or NULL; never waits. */
	struct delivery_job *(*next)(void *data);
	/* Or NULL.  Asked before the content of a message is written: if false, it is
	 * DEFERRED and the connection is closed.  Not all transports call it. */
	bool (*may_write)(void *data);
	/* Its content is no longer needed, whatever the result. */
	void (*written)(void *data, struct delivery_job *job);
	/* Its result is set; called in the order of next(). */
	void (*done)(void *data, struct delivery_job *job);
	/* Or NULL.  The host handles a message, which leaves time to prepare the next
	 * one.  Not all transports call it. */
	void (*waiting)(void *data);
	void *data;
};

struct transport_ops {
	/* Either deliver() or run() is NULL. */
	void (*deliver)(struct transport *transport, const struct envelope *envelope,
	    struct delivery *result);
	void (*close)(struct transport *transport);
	void (*free)(struct transport *transport);
	void (*run)(struct transport *transport, const struct job_queue *queue);
};

/* First member of every transport. */
struct transport {
	const struct transport_ops *ops;
	/* The longest between two calls of a queue's functions, s, by its time-outs:
	 * for one message, and for each block of TRANSPORT_BLOCK_BYTES of it. */
	int64_t wait_s, block_wait_s;
	/* Readable: ends every wait for the host. Set by the owner, borrowed; or
	 * NULL. */
	const int *stop_fd;
};

/**
 * Attempt to deliver one message.
 *
 * @param result  initialised (all zero or used before); overwritten
 */
void transport_deliver(struct transport *transport, const struct envelope *envelope,
    struct delivery *result);

/** Attempt to deliver all messages until the queue is empty. */
void transport_run(struct transport *transport, const struct job_queue *queue);

/**
 * The longest between two calls of a queue's functions, s, by all time-outs.
 *
 * @param size_bytes  of the largest message
 */
int64_t transport_get_wait_s(const struct transport *transport, size_t size_bytes);

/** Disconnect, e.g. when idle; the next delivery connects again. */
void transport_close(struct transport *transport);

/** Close and free; NULL is allowed. */
void transport_free(struct transport *transport);
PB_DEFINE_AUTO(transport, transport_free);
