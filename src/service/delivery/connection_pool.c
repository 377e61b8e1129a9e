/*
 * connection_pool.c - delivery threads with one transport each.
 */
#include "service/delivery/connection_pool.h"

#include "base/fnv1a.h"

/* Idle time after which a connection is closed. */
#define IDLE_US (5 * G_USEC_PER_SEC)

/* Added to network timeouts, for slow disks and busy machines. */
#define SLACK_S 60

/* Maximum wait for a group of results to be complete. */
#define GROUP_US (G_USEC_PER_SEC / 100)

struct connection {
	GThread *thread;
	struct connection_pool *pool;
	struct transport *transport;
	struct heartbeat *heartbeat;
	size_t largest;              /* size of the current message, bytes */
	struct delivery_task *first; /* to be started; or NULL */
};

struct connection_pool {
	struct connection *all;
	unsigned started;
	GMutex lock; /* of the members below */
	GCond has_task, has_results;
	GQueue tasks;    /* of struct delivery_task * */
	GPtrArray *done; /* likewise, with results */
	unsigned wanted; /* number of results that end a wait */
	/* The relay has failed: nothing else is started until that is known. */
	bool is_paused;
	bool is_ending;
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

/* In the lock. @return NULL if there is none */
static struct delivery_task *
take_task(struct connection_pool *pool)
{
	return pool->is_paused ? NULL : g_queue_pop_head(&pool->tasks);
}

/* Callbacks of struct job_queue (transport/transport.h). */
static struct delivery_job *
next_task(void *data)
{
	struct connection *connection = data;
	struct delivery_task *task = g_steal_pointer(&connection->first);

	if (!task) {
		g_mutex_lock(&connection->pool->lock);
		task = take_task(connection->pool);
		g_mutex_unlock(&connection->pool->lock);
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

/* Whether others may fail likewise (transport/breaker.h). */
static bool
is_failure_of_relay(const struct delivery *delivery)
{
	return delivery->scope != DELIVERY_SCOPE_MESSAGE || delivery->is_policy;
}

static void
put_result(void *data, struct delivery_job *delivery_job)
{
	struct connection *connection = data;
	struct connection_pool *pool = connection->pool;

	arm_heartbeat(connection);
	g_mutex_lock(&pool->lock);
	g_ptr_array_add(pool->done, delivery_job);
	pool->is_paused |= is_failure_of_relay(&delivery_job->result);
	if (pool->is_paused || pool->done->len >= pool->wanted)
		g_cond_signal(&pool->has_results);
	g_mutex_unlock(&pool->lock);
}

/* @return the next task; NULL on timeout, or if there will be none */
static struct delivery_task *
wait_for_task(struct connection *connection, bool is_idle)
{
	struct connection_pool *pool = connection->pool;
	int64_t now = g_get_monotonic_time();
	int64_t end = is_idle ? INT64_MAX : now + IDLE_US;
	struct delivery_task *task;

	g_mutex_lock(&pool->lock);
	while (!(task = take_task(pool)) && !pool->is_ending && now < end) {
		int64_t beat_s = heartbeat_idle(connection->heartbeat);

		if (is_idle && !beat_s)
			g_cond_wait(&pool->has_task, &pool->lock);
		else
			g_cond_wait_until(&pool->has_task, &pool->lock,
			    beat_s ? MIN(end, now + beat_s * G_USEC_PER_SEC) : end);
		now = g_get_monotonic_time();
	}
	g_mutex_unlock(&pool->lock);
	return task;
}

static bool
is_ending(struct connection_pool *pool)
{
	bool is_ending;

	g_mutex_lock(&pool->lock);
	is_ending = pool->is_ending;
	g_mutex_unlock(&pool->lock);
	return is_ending;
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

	do {
		connection->first = wait_for_task(connection, is_idle);
		is_idle = !connection->first;
		connection->largest = 0;
		arm_heartbeat(connection);
		if (is_idle)
			transport_close(connection->transport);
		else
			transport_run(connection->transport, &queue);
	} while (!is_idle || !is_ending(connection->pool));
	return NULL;
}

struct connection_pool *
connection_pool_new(unsigned count, struct transport *(*new_transport)(void *data),
    void *data, struct heartbeats *heartbeats, const int *stop_fd, GError **error)
{
	struct connection_pool *pool = g_new0(struct connection_pool, 1);

	g_mutex_init(&pool->lock);
	g_cond_init(&pool->has_task);
	g_cond_init(&pool->has_results);
	g_queue_init(&pool->tasks);
	pool->done = g_ptr_array_new();
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
	g_mutex_lock(&pool->lock);
	pool->is_paused = false;
	pool->is_ending = true;
	g_cond_broadcast(&pool->has_task);
	g_mutex_unlock(&pool->lock);
	for (unsigned i = 0; i < pool->started; i++) {
		if (pool->all[i].thread)
			g_thread_join(pool->all[i].thread);
		transport_free(pool->all[i].transport);
		heartbeat_free(pool->all[i].heartbeat);
	}
	g_mutex_clear(&pool->lock);
	g_cond_clear(&pool->has_task);
	g_cond_clear(&pool->has_results);
	g_ptr_array_unref(pool->done);
	g_free(pool->all);
	g_free(pool);
}

void
connection_pool_push(struct connection_pool *pool, struct delivery_task *task)
{
	g_mutex_lock(&pool->lock);
	if (task->job->kind == OUTBOX_DIGEST)
		g_queue_push_tail(&pool->tasks, task);
	else
		g_queue_push_head(&pool->tasks, task);
	g_cond_signal(&pool->has_task);
	g_mutex_unlock(&pool->lock);
}

struct delivery_task *
connection_pool_reclaim(struct connection_pool *pool)
{
	struct delivery_task *task;

	g_mutex_lock(&pool->lock);
	task = g_queue_pop_head(&pool->tasks);
	g_mutex_unlock(&pool->lock);
	return task;
}

/* In the lock. @return false on timeout */
static bool
wait_for_results(struct connection_pool *pool, unsigned count, int64_t wait_us)
{
	int64_t end = g_get_monotonic_time() + wait_us;

	pool->wanted = count;
	while (pool->done->len < count && !(pool->is_paused && pool->done->len))
		if (!g_cond_wait_until(&pool->has_results, &pool->lock, end))
			return false;
	return true;
}

GPtrArray *
connection_pool_collect(struct connection_pool *pool, unsigned count, int64_t wait_us)
{
	GPtrArray *done;

	g_mutex_lock(&pool->lock);
	if (pool->is_paused)
		g_cond_broadcast(&pool->has_task);
	pool->is_paused = false;
	if (!wait_for_results(pool, count, MIN(GROUP_US, wait_us)))
		wait_for_results(pool, 1, wait_us);
	done = g_steal_pointer(&pool->done);
	pool->done = g_ptr_array_new();
	g_mutex_unlock(&pool->lock);
	return done;
}
