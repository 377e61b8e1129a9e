/*
 * senders.c - threads that deliver, one transport each and no store.
 */
#include "service/senders.h"

/* A sender that has had nothing to do for so long takes leave of the relay. */
#define IDLE_US (5 * G_USEC_PER_SEC)

/* What is no time-out of the network's takes less: a slow disk, a busy machine. */
#define SLACK_S 60

struct sender {
	GThread *thread;
	struct senders *senders;
	struct transport *transport;
	struct pulse *pulse;
	size_t largest;     /* of the messages in hand, octets */
	struct task *first; /* was waited for, and is not handed on yet; or NULL */
	bool is_ending;
};

struct senders {
	struct sender *all;
	unsigned started;
	GAsyncQueue *tasks; /* of struct task *; `end` ends a sender */
	GAsyncQueue *done;  /* of struct task * */
	struct task end;
};

struct task *
task_new(struct outbox_job *job, GBytes *message, char *id, const char *sender)
{
	struct task *task = g_new0(struct task, 1);

	task->job = job;
	task->message = message;
	task->id = id;
	task->parcel.envelope = (struct envelope){
	    .id = id,
	    .sender = sender,
	    .recipient = job->recipient,
	    .message = message,
	};
	return task;
}

void
task_free(struct task *task)
{
	if (!task)
		return;
	outbox_job_free(task->job);
	g_clear_pointer(&task->message, g_bytes_unref);
	g_free(task->id);
	delivery_clear(&task->parcel.result);
	g_free(task);
}

/* The transport comes back to us before that, whatever the relay does. */
static void
promise(struct sender *sender)
{
	pulse_promise(sender->pulse,
	    SLACK_S + transport_get_wait_s(sender->transport, sender->largest));
}

/* What the transport takes from and gives back to (transport/transport.h). */
static struct parcel *
take_task(void *data)
{
	struct sender *sender = data;
	struct task *task = g_steal_pointer(&sender->first);

	if (!task && !sender->is_ending)
		task = g_async_queue_try_pop(sender->senders->tasks);
	if (task == &sender->senders->end) {
		sender->is_ending = true;
		return NULL;
	}
	if (!task)
		return NULL;
	sender->largest = MAX(sender->largest, g_bytes_get_size(task->message));
	promise(sender);
	return &task->parcel;
}

static void
forget_octets(void *data, struct parcel *parcel)
{
	struct task *task = (struct task *)parcel;

	promise(data);
	parcel->envelope.message = NULL;
	g_clear_pointer(&task->message, g_bytes_unref);
}

static void
give_back(void *data, struct parcel *parcel)
{
	struct sender *sender = data;

	promise(sender);
	g_async_queue_push(sender->senders->done, parcel);
}

/* @return the next task, which may be the end; NULL when there was none in time */
static struct task *
wait_for_task(struct sender *sender, bool is_idle)
{
	GAsyncQueue *tasks = sender->senders->tasks;
	int64_t end = is_idle ? INT64_MAX : g_get_monotonic_time() + IDLE_US;
	struct task *task;

	do {
		int64_t left_us = end - g_get_monotonic_time();
		int64_t beat_s = pulse_rest(sender->pulse);

		if (is_idle && !beat_s)
			return g_async_queue_pop(tasks);
		if (beat_s)
			left_us = MIN(left_us, beat_s * G_USEC_PER_SEC);
		task = g_async_queue_timeout_pop(tasks, (guint64)MAX(left_us, 1));
	} while (!task && g_get_monotonic_time() < end);
	return task;
}

static gpointer
run_sender(gpointer data)
{
	struct sender *sender = data;
	const struct transport_feed feed = {
	    .next = take_task,
	    .written = forget_octets,
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

struct senders *
senders_new(unsigned count, struct transport *(*new_transport)(void *data), void *data,
    struct pulses *pulses, const int *stop_fd, GError **error)
{
	struct senders *senders = g_new0(struct senders, 1);

	senders->tasks = g_async_queue_new();
	senders->done = g_async_queue_new();
	senders->all = g_new0(struct sender, count);
	for (unsigned i = 0; i < count; i++) {
		struct sender *sender = &senders->all[i];
		g_autofree char *name = g_strdup_printf("sender-%u", i + 1);

		sender->senders = senders;
		sender->transport = new_transport(data);
		sender->transport->stop_fd = stop_fd;
		sender->pulse = pulse_new(pulses, name);
		sender->thread = g_thread_try_new(name, run_sender, sender, error);
		senders->started++;
		if (!sender->thread) {
			senders_free(senders);
			return NULL;
		}
	}
	return senders;
}

void
senders_free(struct senders *senders)
{
	if (!senders)
		return;
	for (unsigned i = 0; i < senders->started; i++)
		g_async_queue_push(senders->tasks, &senders->end);
	for (unsigned i = 0; i < senders->started; i++) {
		if (senders->all[i].thread)
			g_thread_join(senders->all[i].thread);
		transport_free(senders->all[i].transport);
		pulse_free(senders->all[i].pulse);
	}
	g_async_queue_unref(senders->tasks);
	g_async_queue_unref(senders->done);
	g_free(senders->all);
	g_free(senders);
}

void
senders_push(struct senders *senders, struct task *task)
{
	g_async_queue_push(senders->tasks, task);
}

struct task *
senders_take_back(struct senders *senders)
{
	return g_async_queue_try_pop(senders->tasks);
}

struct task *
senders_pop(struct senders *senders, int64_t wait_us)
{
	if (wait_us < 0)
		return g_async_queue_pop(senders->done);
	if (wait_us == 0)
		return g_async_queue_try_pop(senders->done);
	return g_async_queue_timeout_pop(senders->done, (guint64)wait_us);
}
