/*
 * connection_pool.h - threads that compose and deliver messages, with one transport
 * each.
 *
 * The mailer puts tasks into a queue and collects them with their results; nothing but
 * the renderer is shared besides.  While the host handles a message, the next one is
 * composed.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/digest.h"
#include "render/renderer.h"
#include "service/log/heartbeat.h"
#include "store/mail/outbox.h"
#include "transport/transport.h"

/* All members are owned, those that are not needed any more are NULL. */
struct delivery_task {
	struct delivery_job delivery_job; /* first: the transport returns it */
	struct outbox_job *job;           /* lends the recipient */
	struct digest *digest;            /* to be composed, or NULL: */
	GBytes *message;
	char *id;      /* envelope id, the same for every attempt */
	char *sender;  /* envelope sender */
	char *field;   /* "Name: value" and CRLF, before the message; or NULL */
	GError *error; /* instead of a result: it cannot be composed */
};

void delivery_task_free(struct delivery_task *task);

struct connection_pool;

struct connection_pool_options {
	unsigned count;            /* of connections */
	struct renderer *renderer; /* borrowed */
	/* Called once for each connection, in the caller's thread. */
	struct transport *(*new_transport)(void *data);
	void *data;
	struct heartbeats *heartbeats; /* borrowed; or NULL */
	/* Readable: stop waiting for replies; borrowed; or NULL. */
	const int *stop_fd;
	/* Whether messages may be sent; checked before each is started, and before its
	 * content is written.  From any thread. */
	bool (*may_send)(const void *data);
	const void *may_send_data;
};

/**
 * Start the threads.
 *
 * @param options  copied
 * @return NULL if a thread cannot be started
 */
struct connection_pool *
connection_pool_new(const struct connection_pool_options *options, GError **error);

/** Stop the threads, which finish their tasks. */
void connection_pool_free(struct connection_pool *pool);

/** Queue a task, by priority. @param task  taken */
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
