/*
 * transport.c - the way out for messages, whatever it is.
 */
#include "transport/transport.h"

/* A feed of one. */
struct single {
	struct parcel parcel;
	bool is_taken;
};

static struct parcel *
take_single(void *data)
{
	struct single *single = data;

	if (single->is_taken)
		return NULL;
	single->is_taken = true;
	return &single->parcel;
}

static void
ignore(void *data, struct parcel *parcel)
{
	(void)data;
	(void)parcel;
}

void
transport_deliver(struct transport *transport, const struct envelope *envelope,
    struct delivery *result)
{
	struct single single = {.parcel = {.envelope = *envelope}};
	const struct transport_feed feed = {take_single, ignore, ignore, &single};

	delivery_clear(result);
	if (transport->class->deliver) {
		transport->class->deliver(transport, envelope, result);
		return;
	}
	transport->class->run(transport, &feed);
	*result = single.parcel.result;
}

void
transport_run(struct transport *transport, const struct transport_feed *feed)
{
	struct parcel *parcel;

	if (transport->class->run) {
		transport->class->run(transport, feed);
		return;
	}
	while ((parcel = feed->next(feed->data))) {
		transport_deliver(transport, &parcel->envelope, &parcel->result);
		feed->written(feed->data, parcel);
		feed->done(feed->data, parcel);
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
