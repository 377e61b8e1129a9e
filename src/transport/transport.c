/*
 * transport.c - the way out for messages, whatever it is.
 */
#include "transport/transport.h"

void
transport_deliver(struct transport *transport, const struct envelope *envelope,
    struct delivery *result)
{
	delivery_clear(result);
	transport->class->deliver(transport, envelope, result);
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
