/*
 * transport.c - interface of the transports: SMTP, LMTP, Maildir.
 */
#include "transport/transport.h"

/* A queue of one message. */
struct single {
	struct delivery_job job;
	bool is_taken;
};

static struct delivery_job *
take_single(void *data)
{
	struct single *single = data;

	if (single->is_taken)
		return NULL;
	single->is_taken = true;
	return &single->job;
}

static void
ignore(void *data, struct delivery_job *job)
{
	(void)data;
	(void)job;
}

void
transport_deliver(struct transport *transport, const struct envelope *envelope,
    struct delivery *result)
{
	struct single single = {.job = {.envelope = *envelope}};
	const struct job_queue queue = {
	    .next = take_single, .written = ignore, .done = ignore, .data = &single};

	delivery_clear(result);
	if (transport->ops->deliver) {
		transport->ops->deliver(transport, envelope, result);
		return;
	}
	transport->ops->run(transport, &queue);
	*result = single.job.result;
}

void
transport_run(struct transport *transport, const struct job_queue *queue)
{
	struct delivery_job *job;

	if (transport->ops->run) {
		transport->ops->run(transport, queue);
		return;
	}
	while ((job = queue->next(queue->data))) {
		transport_deliver(transport, &job->envelope, &job->result);
		queue->written(queue->data, job);
		queue->done(queue->data, job);
	}
}

int64_t
transport_get_wait_s(const struct transport *transport, size_t size_bytes)
{
	int64_t blocks = (int64_t)(size_bytes / TRANSPORT_BLOCK_BYTES) + 1;

	return transport->wait_s + blocks * transport->block_wait_s;
}

void
transport_close(struct transport *transport)
{
	transport->ops->close(transport);
}

void
transport_free(struct transport *transport)
{
	if (!transport)
		return;
	transport->ops->close(transport);
	transport->ops->free(transport);
}
