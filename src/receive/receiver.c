/*
 * receiver.c - what is the same for all mailboxes.
 */
#include "receive/receiver.h"

#include <string.h>

int
receiver_pause(const struct receiver_sink *sink, int64_t wait_ms)
{
	int64_t most_ms = sink->rest ? sink->rest(sink->data) * 1000 : 0;

	if (most_ms && (wait_ms < 0 || wait_ms > most_ms))
		wait_ms = most_ms;
	return (int)MIN(wait_ms, G_MAXINT);
}

void
receiver_wake(const struct receiver_sink *sink)
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
receiver_run(struct receiver *mailbox, const struct receiver_sink *sink, int stop_fd,
    GError **error)
{
	return mailbox->serve(mailbox, sink, stop_fd, error);
}

bool
receiver_poll_once(
    struct receiver *mailbox, const struct receiver_sink *sink, GError **error)
{
	return !mailbox->sweep || mailbox->sweep(mailbox, sink, error);
}

bool
receiver_probe(struct receiver *mailbox, char **reported, GError **error)
{
	return mailbox->probe(mailbox, reported, error);
}

void
receiver_free(struct receiver *mailbox)
{
	if (mailbox)
		mailbox->free(mailbox);
}
