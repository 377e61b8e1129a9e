/*
 * mailbox.c - what is the same for all mailboxes.
 */
#include "mailbox/mailbox.h"

int
mailbox_rest(const struct mailbox_sink *sink, int64_t wait_ms)
{
	int64_t most_ms = sink->rest ? sink->rest(sink->data) * 1000 : 0;

	if (most_ms && (wait_ms < 0 || wait_ms > most_ms))
		wait_ms = most_ms;
	return (int)MIN(wait_ms, G_MAXINT);
}

void
mailbox_rise(const struct mailbox_sink *sink)
{
	if (sink->rise)
		sink->rise(sink->data);
}

bool
mailbox_serve(struct mailbox *mailbox, const struct mailbox_sink *sink, int stop_fd,
    GError **error)
{
	return mailbox->serve(mailbox, sink, stop_fd, error);
}

bool
mailbox_sweep(struct mailbox *mailbox, const struct mailbox_sink *sink, GError **error)
{
	return !mailbox->sweep || mailbox->sweep(mailbox, sink, error);
}

bool
mailbox_probe(struct mailbox *mailbox, char **told, GError **error)
{
	return mailbox->probe(mailbox, told, error);
}

void
mailbox_free(struct mailbox *mailbox)
{
	if (mailbox)
		mailbox->free(mailbox);
}
