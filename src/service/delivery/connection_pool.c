/*
 * connection_pool.c - delivery threads with one transport each.
 */
#include "service/delivery/connection_pool.h"

#include <string.h>

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
	size_t largest;             /* size of the current message, bytes */
	struct delivery_task *next; /* composed, not started; in the pool's lock */
};

/*
 * No wake-up is lost: a thread checks its condition in the lock before it waits, and
 * the thread that makes the condition true wakes it.  A connection counts as idle from
 * before that check until after its wait, so a task that is added while none is idle is
 * found by the next check; the end of a pause wakes all.  The mailer waits for exactly
 * `wanted` results, or for any in a pause; only results begin a pause.
 *
 * A task is in `tasks`, in `next` of one connection, with a transport, or in `done`.
 */
struct connection_pool {
	struct connection_pool_options options;
	struct connection *all;
	unsigned started;
	GMutex lock; /* of the members below */
	GCond has_task, has_results;
	GQueue tasks;    /* of struct delivery_task * */
	unsigned idle;   /* number of connections that wait for a task */
	GPtrArray *done; /* of struct delivery_task *, with results */
	unsigned wanted; /* number of results that end a wait */
	/* The relay has failed, or nothing may be sent: no other message is started
	 * until that is known. */
	bool is_paused;
	bool is_ending;
};

void
delivery_task_free(struct delivery_task *task)
{
	if (!task)
		return;
	g_free(task->job);
	digest_free(task->digest);
	g_clear_pointer(&task->message, g_bytes_unref);
	g_clear_error(&task->error);
	g_free(task->id);
	g_free(task->sender);
	g_free(task->field);
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

/* Whether other messages may fail for the same reason (relay_state.h). */
static bool
is_failure_of_relay(const struct delivery *delivery)
{
	return delivery->scope != DELIVERY_SCOPE_MESSAGE || delivery->is_policy;
}

static void
finish_task(struct connection_pool *pool, struct delivery_task *task)
{
	bool is_awaited;

	g_mutex_lock(&pool->lock);
	g_ptr_array_add(pool->done, task);
	pool->is_paused |= is_failure_of_relay(&task->delivery_job.result);
	is_awaited = pool->is_paused || pool->done->len == pool->wanted;
	g_mutex_unlock(&pool->lock);
	if (is_awaited)
		g_cond_signal(&pool->has_results);
}

static void
prepend(const char *field, GBytes **message)
{
	g_autoptr(GBytes) bare = *message;
	gsize size;
	const char *bytes = g_bytes_get_data(bare, &size);
	GString *whole = g_string_sized_new(strlen(field) + size);

	g_string_append(whole, field);
	g_string_append_len(whole, bytes, (gssize)size);
	*message = g_string_free_to_bytes(whole);
}

static bool
compose(struct connection_pool *pool, struct delivery_task *task)
{
	if (!task->message)
		task->message = renderer_compose(
		    pool->options.renderer, task->digest, &task->error);
	g_clear_pointer(&task->digest, digest_free);
	if (!task->message)
		return false;
	if (task->field)
		prepend(task->field, &task->message);
	task->job->message_hash = fnv1a_hash_bytes(task->message);
	task->delivery_job.envelope = (struct envelope){
	    .id = task->id,
	    .sender = task->sender,
	    .recipient = task->job->recipient,
	    .message = task->message,
	};
	return true;
}

/* @param is_early  leave tasks to connections that are idle */
static struct delivery_task *
take_task(struct connection *connection, bool is_early)
{
	struct connection_pool *pool = connection->pool;
	struct delivery_task *task = NULL;

	g_mutex_lock(&pool->lock);
	if (connection->next && !is_early && !pool->is_paused)
		task = g_steal_pointer(&connection->next);
	else if (!connection->next && !pool->is_paused &&
	         pool->tasks.length > (is_early ? pool->idle : 0))
		task = g_queue_pop_head(&pool->tasks);
	g_mutex_unlock(&pool->lock);
	return task;
}

static struct delivery_task *
take_composed(struct connection *connection, bool is_early)
{
	struct delivery_task *task;

	while ((task = take_task(connection, is_early))) {
		arm_heartbeat(connection);
		/* A prepared message is composed already. */
		if (task->delivery_job.envelope.message ||
		    compose(connection->pool, task))
			break;
		finish_task(connection->pool, task);
	}
	return task;
}

static bool
may_send(void *data)
{
	const struct connection *connection = data;
	const struct connection_pool_options *options = &connection->pool->options;

	return options->may_send(options->may_send_data);
}

/* Whether the relay has failed while a message was composed, or nothing may be sent any
 * more: it is not started then. */
static bool
keep_if_paused(struct connection *connection, struct delivery_task *task)
{
	struct connection_pool *pool = connection->pool;
	bool is_paused;

	g_mutex_lock(&pool->lock);
	is_paused = pool->is_paused |= !may_send(connection);
	if (is_paused)
		connection->next = task;
	g_mutex_unlock(&pool->lock);
	return is_paused;
}

/* Callbacks of struct job_queue (transport/transport.h). */
static struct delivery_job *
next_task(void *data)
{
	struct connection *connection = data;
	struct delivery_task *task = take_composed(connection, false);

	if (!task || keep_if_paused(connection, task))
		return NULL;
	connection->largest = MAX(connection->largest, g_bytes_get_size(task->message));
	arm_heartbeat(connection);
	return &task->delivery_job;
}

static void
prepare_task(void *data)
{
	struct connection *connection = data;
	struct delivery_task *task = take_composed(connection, true);

	if (!task)
		return;
	g_mutex_lock(&connection->pool->lock);
	connection->next = task;
	g_mutex_unlock(&connection->pool->lock);
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
	finish_task(connection->pool, (struct delivery_task *)delivery_job);
}

enum wait {
	WAIT_TASK,    /* there is a task */
	WAIT_TIMEOUT, /* none for IDLE_US */
	WAIT_END,     /* there will be none */
};

/* In the lock. */
static bool
has_task(const struct connection *connection)
{
	const struct connection_pool *pool = connection->pool;

	return (connection->next || pool->tasks.length) && !pool->is_paused;
}

static enum wait
wait_for_task(struct connection *connection, bool is_idle)
{
	struct connection_pool *pool = connection->pool;
	int64_t now = g_get_monotonic_time();
	int64_t end = is_idle ? INT64_MAX : now + IDLE_US;
	enum wait result;

	g_mutex_lock(&pool->lock);
	pool->idle++;
	while (!has_task(connection) && !pool->is_ending && now < end) {
		int64_t beat_s = heartbeat_idle(connection->heartbeat);

		if (is_idle && !beat_s)
			g_cond_wait(&pool->has_task, &pool->lock);
		else
			g_cond_wait_until(&pool->has_task, &pool->lock,
			    beat_s ? MIN(end, now + beat_s * G_USEC_PER_SEC) : end);
		now = g_get_monotonic_time();
	}
	pool->idle--;
	if (has_task(connection))
		result = WAIT_TASK;
	else
		result = pool->is_ending ? WAIT_END : WAIT_TIMEOUT;
	g_mutex_unlock(&pool->lock);
	return result;
}

static gpointer
run_connection(gpointer data)
{
	struct connection *connection = data;
	const struct job_queue queue = {
	    .next = next_task,
	    .may_write = may_send,
	    .written = free_message,
	    .waiting = prepare_task,
	    .done = put_result,
	    .data = connection,
	};
	enum wait wait = WAIT_TASK;

	while (wait != WAIT_END) {
		wait = wait_for_task(connection, wait == WAIT_TIMEOUT);
		connection->largest = 0;
		arm_heartbeat(connection);
		if (wait == WAIT_TASK)
			transport_run(connection->transport, &queue);
		else
			transport_close(connection->transport);
	}
	return NULL;
}

struct connection_pool *
connection_pool_new(const struct connection_pool_options *options, GError **error)
{
	struct connection_pool *pool = g_new0(struct connection_pool, 1);

	pool->options = *options;
	g_mutex_init(&pool->lock);
	g_cond_init(&pool->has_task);
	g_cond_init(&pool->has_results);
	g_queue_init(&pool->tasks);
	pool->done = g_ptr_array_new();
	pool->all = g_new0(struct connection, options->count);
	for (unsigned i = 0; i < options->count; i++) {
		struct connection *connection = &pool->all[i];
		g_autofree char *name = g_strdup_printf("connection-%u", i + 1);

		connection->pool = pool;
		connection->transport = options->new_transport(options->data);
		connection->transport->stop_fd = options->stop_fd;
		connection->heartbeat = heartbeat_new(options->heartbeats, name);
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

static enum outbox_priority
get_priority(const struct delivery_task *task)
{
	return task->job->priority;
}

void
connection_pool_push(struct connection_pool *pool, struct delivery_task *task)
{
	bool is_awaited;
	GList *at;

	g_mutex_lock(&pool->lock);
	at = pool->tasks.tail;
	while (at && get_priority(at->data) < get_priority(task))
		at = at->prev;
	g_queue_insert_after(&pool->tasks, at, task);
	is_awaited = pool->idle > 0;
	g_mutex_unlock(&pool->lock);
	if (is_awaited)
		g_cond_signal(&pool->has_task);
}

struct delivery_task *
connection_pool_reclaim(struct connection_pool *pool)
{
	struct delivery_task *task;

	g_mutex_lock(&pool->lock);
	task = g_queue_pop_head(&pool->tasks);
	for (unsigned i = 0; !task && i < pool->started; i++)
		task = g_steal_pointer(&pool->all[i].next);
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
