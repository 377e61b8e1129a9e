/*
 * receiver.c - functions common to all receivers.
 */
#include "receive/receiver.h"

#include <string.h>

int
receiver_pause(const struct receiver_sink *sink, int64_t wait_ms)
{
	int64_t max_ms = sink->pause ? sink->pause(sink->data) * 1000 : 0;

	if (max_ms && (wait_ms < 0 || wait_ms > max_ms))
		wait_ms = max_ms;
	return (int)MIN(wait_ms, G_MAXINT);
}

void
receiver_wake(const struct receiver_sink *sink)
{
	if (sink->wake)
		sink->wake(sink->data);
}

size_t
receiver_measure_header(const void *raw, size_t size)
{
	const char *text = raw, *end = text + size, *line = text;

	while (line < end) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));

		if (!newline)
			return 0;
		if (newline == line || (newline == line + 1 && *line == '\r'))
			return (size_t)(newline + 1 - text);
		line = newline + 1;
	}
	return 0;
}

bool
receiver_run(struct receiver *receiver, const struct receiver_sink *sink, int stop_fd,
    GError **error)
{
	return receiver->run(receiver, sink, stop_fd, error);
}

bool
receiver_poll_once(
    struct receiver *receiver, const struct receiver_sink *sink, GError **error)
{
	return !receiver->poll_once || receiver->poll_once(receiver, sink, error);
}

bool
receiver_check(struct receiver *receiver, char **reported, GError **error)
{
	return receiver->check(receiver, reported, error);
}

void
receiver_free(struct receiver *receiver)
{
	if (receiver)
		receiver->free(receiver);
}
