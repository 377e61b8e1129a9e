/*
 * connection_pool.h - threads that deliver, one transport each and no store.
 *
 * The post hands tasks in and takes them back with what became of them; the
 * queues between are all that they share.
 */
#ifndef PAPERBOY_SERVICE_DELIVERY_CONNECTION_POOL_H
#define PAPERBOY_SERVICE_DELIVERY_CONNECTION_POOL_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "service/log/heartbeat.h"
#include "store/mail/outbox.h"
#include "transport/transport.h"

/* What a sender is given, and gives back. */
struct delivery_task {
	struct delivery_job delivery_job; /* first: the transport gives it back */
	struct outbox_job *job;           /* owned; lends the recipient */
	GBytes *message; /* owned; NULL once its octets are not needed any more */
	char *id;        /* owned; of the envelope: the same at every attempt */
};

/**
 * @param job      taken
 * @param message  taken
 * @param id       taken
 * @param sender   where bounces go; borrowed from the job or the post
 */
struct delivery_task *delivery_task_new(
    struct outbox_job *job, GBytes *message, char *id, const char *sender);

void delivery_task_free(struct delivery_task *delivery_task);

struct connection_pool;

/**
 * Start threads.
 *
 * @param new_transport  called once for each, in this thread
 * @param pulses         where they promise to live on; or NULL
 * @param stop_fd        once readable no answer is waited for; borrowed; or NULL
 * @return NULL when a thread cannot be had
 */
struct connection_pool *
connection_pool_new(unsigned count, struct transport *(*new_transport)(void *data),
    void *data, struct heartbeats *heartbeats, const int *stop_fd, GError **error);

/** End the threads, which finish what they have. */
void connection_pool_free(struct connection_pool *senders);

/** Give a task to whoever is free first. @param task taken */
void connection_pool_push(
    struct connection_pool *senders, struct delivery_task *delivery_task);

/** Take a task back that nobody has begun. @return owned, or NULL */
struct delivery_task *connection_pool_take_back(struct connection_pool *senders);

/**
 * Take one that was delivered, or not.
 *
 * @param wait_us  how long to wait for it; 0 not at all, -1 for ever
 * @return owned, or NULL when there was none in time
 */
struct delivery_task *
connection_pool_pop(struct connection_pool *senders, int64_t wait_us);

#endif
