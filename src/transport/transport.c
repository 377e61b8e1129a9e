/*
 * transport.c - the way out for messages, whatever it is.
 */
#include "transport/transport.h"

/* A feed of one. */
struct single {
	struct delivery_job delivery_job;
	bool is_taken;
};

static struct delivery_job *
take_single(void *data)
{
	struct single *single = data;

	if (single->is_taken)
		return NULL;
	single->is_taken = true;
	return &single->delivery_job;
}

static void
ignore(void *data, struct delivery_job *delivery_job)
{
	(void)data;
	(void)delivery_job;
}

void
transport_deliver(struct transport *transport, const struct envelope *envelope,
    struct delivery *result)
{
	struct single single = {.delivery_job = {.envelope = *envelope}};
	const struct job_queue feed = {take_single, ignore, ignore, &single};

	delivery_clear(result);
	if (transport->class->deliver) {
		transport->class->deliver(transport, envelope, result);
		return;
	}
	transport->class->run(transport, &feed);
	*result = single.delivery_job.result;
}

void
transport_run(struct transport *transport, const struct job_queue *feed)
{
	struct delivery_job *delivery_job;

	if (transport->class->run) {
		transport->class->run(transport, feed);
		return;
	}
	while ((delivery_job = feed->next(feed->data))) {
		transport_deliver(
		    transport, &delivery_job->envelope, &delivery_job->result);
		feed->written(feed->data, delivery_job);
		feed->done(feed->data, delivery_job);
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
	transport->class->close(transport);
}

void
transport_free(struct transport *transport)
{
	if (!transport)
		return;
	transport->class->close(transport);
	transport->class->free(transport);
}
