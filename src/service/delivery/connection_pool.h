/*
 * connection_pool.h - delivery threads with one transport each.
 *
 * The mailer puts tasks into a queue and collects them with their results; nothing else
 * is shared.
 */
#ifndef PAPERBOY_SERVICE_DELIVERY_CONNECTION_POOL_H
#define PAPERBOY_SERVICE_DELIVERY_CONNECTION_POOL_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "service/log/heartbeat.h"
#include "store/mail/outbox.h"
#include "transport/transport.h"

struct delivery_task {
	struct delivery_job delivery_job; /* first: the transport returns it */
	struct outbox_job *job;           /* owned; lends the recipient */
	GBytes *message;                  /* owned; NULL once it is not needed */
	char *id;     /* owned; envelope id, the same for every attempt */
	char *sender; /* owned; envelope sender */
};

/**
 * @param job      taken
 * @param message  taken
 * @param id       taken
 * @param sender   envelope sender; taken
 */
struct delivery_task *
delivery_task_new(struct outbox_job *job, GBytes *message, char *id, char *sender);

void delivery_task_free(struct delivery_task *task);

struct connection_pool;

/**
 * Start the threads.
 *
 * @param new_transport  called once for each, in the caller's thread
 * @param heartbeats     or NULL
 * @param stop_fd        readable: stop waiting for replies; borrowed; or NULL
 * @return NULL if a thread cannot be started
 */
struct connection_pool *
connection_pool_new(unsigned count, struct transport *(*new_transport)(void *data),
    void *data, struct heartbeats *heartbeats, const int *stop_fd, GError **error);

/** Stop the threads, which finish their tasks. */
void connection_pool_free(struct connection_pool *pool);

/** Queue a task: system mail before digests, since a person waits for it. @param task
 * taken
 */
void connection_pool_push(struct connection_pool *pool, struct delivery_task *task);

/** Take back a task that is not started yet. @return owned by the caller, or NULL */
struct delivery_task *connection_pool_reclaim(struct connection_pool *pool);

/**
 * Collect tasks with their results: all there are, once there are enough, or a few
 * milliseconds after the call any.
 *
 * After a failure of the relay no task is started until the next call.
 *
 * @param count    enough results, at least 1
 * @param wait_us  timeout for any result
 * @return of struct delivery_task *, owned by the caller; empty on timeout
 */
GPtrArray *
connection_pool_collect(struct connection_pool *pool, unsigned count, int64_t wait_us);

#endif
