/*
 * connection_pool.c - threads that deliver, one transport each and no store.
 */
#include "service/delivery/connection_pool.h"

/* A sender that has had nothing to do for so long takes leave of the relay. */
#define IDLE_US (5 * G_USEC_PER_SEC)

/* What is no time-out of the network's takes less: a slow disk, a busy machine. */
#define SLACK_S 60

struct sender {
	GThread *thread;
	struct connection_pool *senders;
	struct transport *transport;
	struct heartbeat *heartbeat;
	size_t largest; /* of the messages in hand, octets */
	struct delivery_task
	    *first; /* was waited for, and is not handed on yet; or NULL */
	bool is_ending;
};

struct connection_pool {
	struct sender *all;
	unsigned started;
	GAsyncQueue *tasks; /* of struct task *; `end` ends a sender */
	GAsyncQueue *done;  /* of struct task * */
	struct delivery_task end;
};

struct delivery_task *
delivery_task_new(struct outbox_job *job, GBytes *message, char *id, const char *sender)
{
	struct delivery_task *delivery_task = g_new0(struct delivery_task, 1);

	delivery_task->job = job;
	delivery_task->message = message;
	delivery_task->id = id;
	delivery_task->delivery_job.envelope = (struct envelope){
	    .id = id,
	    .sender = sender,
	    .recipient = job->recipient,
	    .message = message,
	};
	return delivery_task;
}

void
delivery_task_free(struct delivery_task *delivery_task)
{
	if (!delivery_task)
		return;
	outbox_job_free(delivery_task->job);
	g_clear_pointer(&delivery_task->message, g_bytes_unref);
	g_free(delivery_task->id);
	delivery_clear(&delivery_task->delivery_job.result);
	g_free(delivery_task);
}

/* The transport comes back to us before that, whatever the relay does. */
static void
promise(struct sender *sender)
{
	heartbeat_arm(sender->heartbeat,
	    SLACK_S + transport_get_wait_s(sender->transport, sender->largest));
}

/* What the transport takes from and gives back to (transport/transport.h). */
static struct delivery_job *
take_task(void *data)
{
	struct sender *sender = data;
	struct delivery_task *delivery_task = g_steal_pointer(&sender->first);

	if (!delivery_task && !sender->is_ending)
		delivery_task = g_async_queue_try_pop(sender->senders->tasks);
	if (delivery_task == &sender->senders->end) {
		sender->is_ending = true;
		return NULL;
	}
	if (!delivery_task)
		return NULL;
	sender->largest =
	    MAX(sender->largest, g_bytes_get_size(delivery_task->message));
	promise(sender);
	return &delivery_task->delivery_job;
}

static void
erase_bytes(void *data, struct delivery_job *delivery_job)
{
	struct delivery_task *delivery_task = (struct delivery_task *)delivery_job;

	promise(data);
	delivery_job->envelope.message = NULL;
	g_clear_pointer(&delivery_task->message, g_bytes_unref);
}

static void
give_back(void *data, struct delivery_job *delivery_job)
{
	struct sender *sender = data;

	promise(sender);
	g_async_queue_push(sender->senders->done, delivery_job);
}

/* @return the next task, which may be the end; NULL when there was none in time */
static struct delivery_task *
wait_for_task(struct sender *sender, bool is_idle)
{
	GAsyncQueue *tasks = sender->senders->tasks;
	int64_t end = is_idle ? INT64_MAX : g_get_monotonic_time() + IDLE_US;
	struct delivery_task *delivery_task;

	do {
		int64_t left_us = end - g_get_monotonic_time();
		int64_t beat_s = heartbeat_idle(sender->heartbeat);

		if (is_idle && !beat_s)
			return g_async_queue_pop(tasks);
		if (beat_s)
			left_us = MIN(left_us, beat_s * G_USEC_PER_SEC);
		delivery_task =
		    g_async_queue_timeout_pop(tasks, (guint64)MAX(left_us, 1));
	} while (!delivery_task && g_get_monotonic_time() < end);
	return delivery_task;
}

static gpointer
run_sender(gpointer data)
{
	struct sender *sender = data;
	const struct job_queue feed = {
	    .next = take_task,
	    .written = erase_bytes,
	    .done = give_back,
	    .data = sender,
	};
	bool is_idle = false;

	while (!sender->is_ending) {
		sender->first = wait_for_task(sender, is_idle);
		is_idle = !sender->first;
		sender->largest = 0;
		promise(sender);
		if (is_idle)
			transport_close(sender->transport);
		else
			transport_run(sender->transport, &feed);
	}
	transport_close(sender->transport);
	return NULL;
}

struct connection_pool *
connection_pool_new(unsigned count, struct transport *(*new_transport)(void *data),
    void *data, struct heartbeats *heartbeats, const int *stop_fd, GError **error)
{
	struct connection_pool *senders = g_new0(struct connection_pool, 1);

	senders->tasks = g_async_queue_new();
	senders->done = g_async_queue_new();
	senders->all = g_new0(struct sender, count);
	for (unsigned i = 0; i < count; i++) {
		struct sender *sender = &senders->all[i];
		g_autofree char *name = g_strdup_printf("connection-%u", i + 1);

		sender->senders = senders;
		sender->transport = new_transport(data);
		sender->transport->stop_fd = stop_fd;
		sender->heartbeat = heartbeat_new(heartbeats, name);
		sender->thread = g_thread_try_new(name, run_sender, sender, error);
		senders->started++;
		if (!sender->thread) {
			connection_pool_free(senders);
			return NULL;
		}
	}
	return senders;
}

void
connection_pool_free(struct connection_pool *senders)
{
	if (!senders)
		return;
	for (unsigned i = 0; i < senders->started; i++)
		g_async_queue_push(senders->tasks, &senders->end);
	for (unsigned i = 0; i < senders->started; i++) {
		if (senders->all[i].thread)
			g_thread_join(senders->all[i].thread);
		transport_free(senders->all[i].transport);
		heartbeat_free(senders->all[i].heartbeat);
	}
	g_async_queue_unref(senders->tasks);
	g_async_queue_unref(senders->done);
	g_free(senders->all);
	g_free(senders);
}

void
connection_pool_push(
    struct connection_pool *senders, struct delivery_task *delivery_task)
{
	g_async_queue_push(senders->tasks, delivery_task);
}

struct delivery_task *
connection_pool_take_back(struct connection_pool *senders)
{
	return g_async_queue_try_pop(senders->tasks);
}

struct delivery_task *
connection_pool_pop(struct connection_pool *senders, int64_t wait_us)
{
	if (wait_us < 0)
		return g_async_queue_pop(senders->done);
	if (wait_us == 0)
		return g_async_queue_try_pop(senders->done);
	return g_async_queue_timeout_pop(senders->done, (guint64)wait_us);
}
