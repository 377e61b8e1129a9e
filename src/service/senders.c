/*
 * senders.c - threads that deliver, one transport each and no store.
 */
#include "service/senders.h"

/* A sender that has had nothing to do for so long takes leave of the relay. */
#define IDLE_US (5 * G_USEC_PER_SEC)

struct sender {
	GThread *thread;
	struct senders *senders;
	struct transport *transport;
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
	return task ? &task->parcel : NULL;
}

static void
forget_octets(void *data, struct parcel *parcel)
{
	struct task *task = (struct task *)parcel;

	(void)data;
	parcel->envelope.message = NULL;
	g_clear_pointer(&task->message, g_bytes_unref);
}

static void
give_back(void *data, struct parcel *parcel)
{
	struct sender *sender = data;

	g_async_queue_push(sender->senders->done, parcel);
}

static gpointer
run_sender(gpointer data)
{
	struct sender *sender = data;
	GAsyncQueue *tasks = sender->senders->tasks;
	const struct transport_feed feed = {
	    .next = take_task,
	    .written = forget_octets,
	    .done = give_back,
	    .data = sender,
	};
	bool is_idle = false;

	while (!sender->is_ending) {
		sender->first = is_idle ? g_async_queue_pop(tasks)
		                        : g_async_queue_timeout_pop(tasks, IDLE_US);
		is_idle = !sender->first;
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
    GError **error)
{
	struct senders *senders = g_new0(struct senders, 1);

	senders->tasks = g_async_queue_new();
	senders->done = g_async_queue_new();
	senders->all = g_new0(struct sender, count);
	for (unsigned i = 0; i < count; i++) {
		struct sender *sender = &senders->all[i];
		g_autofree char *name = g_strdup_printf("sender %u", i + 1);

		sender->senders = senders;
		sender->transport = new_transport(data);
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
