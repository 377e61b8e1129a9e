/*
 * connection_pool.c - delivery threads with one transport each.
 */
#include "service/delivery/connection_pool.h"

#include "base/fnv1a.h"

/* Idle time after which a connection is closed. */
#define IDLE_US (5 * G_USEC_PER_SEC)

/* Added to network timeouts, for slow disks and busy machines. */
#define SLACK_S 60

struct connection {
	GThread *thread;
	struct connection_pool *pool;
	struct transport *transport;
	struct heartbeat *heartbeat;
	size_t largest;              /* size of the current message, bytes */
	struct delivery_task *first; /* to be started; or NULL */
	bool is_ending;
};

struct connection_pool {
	struct connection *all;
	unsigned started;
	GAsyncQueue *tasks; /* of struct delivery_task *; `end` ends a connection */
	GAsyncQueue *done;  /* of struct delivery_task * */
	struct delivery_task end;
};

struct delivery_task *
delivery_task_new(struct outbox_job *job, GBytes *message, char *id, char *sender)
{
	struct delivery_task *task = g_new0(struct delivery_task, 1);

	task->job = job;
	task->message = message;
	task->id = id;
	task->sender = sender;
	task->delivery_job.envelope = (struct envelope){
	    .id = id,
	    .sender = sender,
	    .recipient = job->recipient,
	    .message = message,
	};
	return task;
}

void
delivery_task_free(struct delivery_task *task)
{
	if (!task)
		return;
	g_free(task->job);
	g_clear_pointer(&task->message, g_bytes_unref);
	g_free(task->id);
	g_free(task->sender);
	delivery_clear(&task->delivery_job.result);
	g_free(task);
}

/* The transport calls back in time, whatever the relay does. */
static void
arm_heartbeat(struct connection *connection)
{
	heartbeat_arm(connection->heartbeat,
	    SLACK_S + transport_get_wait_s(connection->transport, connection->largest));
}

/* Callbacks of struct job_queue (transport/transport.h). */
static struct delivery_job *
next_task(void *data)
{
	struct connection *connection = data;
	struct delivery_task *task = g_steal_pointer(&connection->first);

	if (!task && !connection->is_ending)
		task = g_async_queue_try_pop(connection->pool->tasks);
	if (task == &connection->pool->end) {
		connection->is_ending = true;
		return NULL;
	}
	if (!task)
		return NULL;
	task->job->message_hash = fnv1a_hash_bytes(task->message);
	connection->largest = MAX(connection->largest, g_bytes_get_size(task->message));
	arm_heartbeat(connection);
	return &task->delivery_job;
}

static void
free_message(void *data, struct delivery_job *delivery_job)
{
	struct delivery_task *task = (struct delivery_task *)delivery_job;

	arm_heartbeat(data);
	delivery_job->envelope.message = NULL;
	g_clear_pointer(&task->message, g_bytes_unref);
}

static void
put_result(void *data, struct delivery_job *delivery_job)
{
	struct connection *connection = data;

	arm_heartbeat(connection);
	g_async_queue_push(connection->pool->done, delivery_job);
}

/* @return the next task, which may be the end; NULL on timeout */
static struct delivery_task *
wait_for_task(struct connection *connection, bool is_idle)
{
	GAsyncQueue *tasks = connection->pool->tasks;
	int64_t end = is_idle ? INT64_MAX : g_get_monotonic_time() + IDLE_US;
	struct delivery_task *task;

	do {
		int64_t left_us = end - g_get_monotonic_time();
		int64_t beat_s = heartbeat_idle(connection->heartbeat);

		if (is_idle && !beat_s)
			return g_async_queue_pop(tasks);
		if (beat_s)
			left_us = MIN(left_us, beat_s * G_USEC_PER_SEC);
		task = g_async_queue_timeout_pop(tasks, (guint64)MAX(left_us, 1));
	} while (!task && g_get_monotonic_time() < end);
	return task;
}

static gpointer
run_connection(gpointer data)
{
	struct connection *connection = data;
	const struct job_queue queue = {
	    .next = next_task,
	    .written = free_message,
	    .done = put_result,
	    .data = connection,
	};
	bool is_idle = false;

	while (!connection->is_ending) {
		connection->first = wait_for_task(connection, is_idle);
		is_idle = !connection->first;
		connection->largest = 0;
		arm_heartbeat(connection);
		if (is_idle)
			transport_close(connection->transport);
		else
			transport_run(connection->transport, &queue);
	}
	transport_close(connection->transport);
	return NULL;
}

struct connection_pool *
connection_pool_new(unsigned count, struct transport *(*new_transport)(void *data),
    void *data, struct heartbeats *heartbeats, const int *stop_fd, GError **error)
{
	struct connection_pool *pool = g_new0(struct connection_pool, 1);

	pool->tasks = g_async_queue_new();
	pool->done = g_async_queue_new();
	pool->all = g_new0(struct connection, count);
	for (unsigned i = 0; i < count; i++) {
		struct connection *connection = &pool->all[i];
		g_autofree char *name = g_strdup_printf("connection-%u", i + 1);

		connection->pool = pool;
		connection->transport = new_transport(data);
		connection->transport->stop_fd = stop_fd;
		connection->heartbeat = heartbeat_new(heartbeats, name);
		connection->thread =
		    g_thread_try_new(name, run_connection, connection, error);
		pool->started++;
		if (!connection->thread) {
			connection_pool_free(pool);
			return NULL;
		}
	}
	return pool;
}

void
connection_pool_free(struct connection_pool *pool)
{
	if (!pool)
		return;
	for (unsigned i = 0; i < pool->started; i++)
		g_async_queue_push(pool->tasks, &pool->end);
	for (unsigned i = 0; i < pool->started; i++) {
		if (pool->all[i].thread)
			g_thread_join(pool->all[i].thread);
		transport_free(pool->all[i].transport);
		heartbeat_free(pool->all[i].heartbeat);
	}
	g_async_queue_unref(pool->tasks);
	g_async_queue_unref(pool->done);
	g_free(pool->all);
	g_free(pool);
}

void
connection_pool_push(struct connection_pool *pool, struct delivery_task *task)
{
	g_async_queue_push(pool->tasks, task);
}

struct delivery_task *
connection_pool_reclaim(struct connection_pool *pool)
{
	return g_async_queue_try_pop(pool->tasks);
}

struct delivery_task *
connection_pool_pop(struct connection_pool *pool, int64_t wait_us)
{
	if (wait_us < 0)
		return g_async_queue_pop(pool->done);
	if (wait_us == 0)
		return g_async_queue_try_pop(pool->done);
	return g_async_queue_timeout_pop(pool->done, (guint64)wait_us);
}
