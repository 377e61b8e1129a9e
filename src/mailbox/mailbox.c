/*
 * mailbox.c - what is the same for all mailboxes.
 */
#include "mailbox/mailbox.h"

#include <string.h>

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

size_t
mailbox_measure_header(const void *raw, size_t size)
{
	const char *text = raw, *end = text + size, *line = text;

	while (line < end) {
		const char *feed = memchr(line, '\n', (size_t)(end - line));

		if (!feed)
			return 0;
		if (feed == line || (feed == line + 1 && *line == '\r'))
			return (size_t)(feed + 1 - text);
		line = feed + 1;
	}
	return 0;
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
