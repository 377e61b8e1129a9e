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
};

struct senders {
	struct sender *all;
	unsigned started;
	GAsyncQueue *tasks; /* of struct task *; `end` ends a sender */
	GAsyncQueue *done;  /* of struct task * */
	struct task end;
};

void
task_free(struct task *task)
{
	if (!task)
		return;
	outbox_job_free(task->job);
	g_bytes_unref(task->message);
	g_free(task->id);
	delivery_clear(&task->delivery);
	g_free(task);
}

static gpointer
run_sender(gpointer data)
{
	struct sender *sender = data;
	struct senders *senders = sender->senders;
	bool is_idle = false;

	for (;;) {
		struct task *task =
		    is_idle ? g_async_queue_pop(senders->tasks)
		            : g_async_queue_timeout_pop(senders->tasks, IDLE_US);

		is_idle = !task;
		if (!task) {
			transport_close(sender->transport);
		} else if (task == &senders->end) {
			break;
		} else {
			const struct envelope envelope = {
			    .id = task->id,
			    .sender = task->sender,
			    .recipient = task->job->recipient,
			    .message = task->message,
			};

			transport_deliver(
			    sender->transport, &envelope, &task->delivery);
			g_async_queue_push(senders->done, task);
		}
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
