/*
 * imap_wire.c - an IMAP connection as libetpan may see it: bounded in bytes and in
 * time.
 */
#include "receive/imap_wire.h"

#include <stdlib.h>
#include <string.h>

#include <libetpan/mailstream_low.h>

#include "base/bounds.h"
#include "base/error.h"

struct imap_wire {
	struct stream *stream;
	GByteArray *inbound; /* came and was not judged, or not handed over */
	size_t judged;       /* so much of it may be handed over */
	size_t literal_left; /* of a literal, not judged and not to be */
	size_t n_bytes;      /* of the command's answer, without its literal */
	uint32_t exists;
	bool has_news; /* there are more messages than there were */
	int64_t deadline;
	bool may_have_message; /* one literal may still come */
	bool is_in_line;       /* a literal ends; its line goes on */
	bool is_closed;
	GError *problem; /* or NULL */
};

struct imap_wire *
imap_wire_new(struct stream *stream)
{
	struct imap_wire *wire = g_new0(struct imap_wire, 1);
	static const char greeting[] = "* PREAUTH here\r\n";

	wire->stream = stream;
	wire->inbound = g_byte_array_new();
	/* libcurl has heard the greeting, and libetpan waits for one. */
	g_byte_array_append(
	    wire->inbound, (const guint8 *)greeting, sizeof(greeting) - 1);
	wire->judged = wire->inbound->len;
	return wire;
}

void
imap_wire_free(struct imap_wire *wire)
{
	if (!wire)
		return;
	stream_free(wire->stream);
	g_byte_array_unref(wire->inbound);
	g_clear_error(&wire->problem);
	g_free(wire);
}

void
imap_wire_begin(struct imap_wire *wire, unsigned wait_ms, bool may_have_message)
{
	wire->deadline = g_get_monotonic_time() + (int64_t)wait_ms * 1000;
	wire->n_bytes = 0;
	wire->may_have_message = may_have_message;
}

void
imap_wire_close(struct imap_wire *wire)
{
	wire->is_closed = true;
}

const GError *
imap_wire_get_problem(const struct imap_wire *wire)
{
	return wire->problem;
}

uint32_t
imap_wire_get_exists(const struct imap_wire *wire)
{
	return wire->exists;
}

bool
imap_wire_take_untagged(struct imap_wire *wire)
{
	bool has_news = wire->has_news;

	wire->has_news = false;
	return has_news;
}

/* @param problem  taken */
static bool
fail(struct imap_wire *wire, GError *problem)
{
	wire->is_closed = true;
	if (wire->problem)
		g_error_free(problem);
	else
		wire->problem = problem;
	return false;
}

static bool
fail_with(struct imap_wire *wire, const char *message)
{
	return fail(wire, g_error_new_literal(PB_ERROR, PB_ERROR_TEMPORARY, message));
}

/* Wait for bytes. @return false when the wire has closed, or time is up */
static bool
receive(struct imap_wire *wire, int64_t deadline, bool *is_time_up)
{
	guint8 chunk[16 * 1024];
	GError *problem = NULL;
	gssize n = stream_read(wire->stream, chunk, sizeof(chunk), deadline, &problem);

	if (n > 0) {
		g_byte_array_append(wire->inbound, chunk, (guint)n);
		return true;
	}
	if (n == 0)
		return fail_with(wire, "the IMAP server has cut the connection");
	if (is_time_up && wire->inbound->len == 0 &&
	    g_get_monotonic_time() >= deadline) {
		g_error_free(problem);
		*is_time_up = true;
		return false;
	}
	g_prefix_error(&problem, "IMAP: ");
	return fail(wire, problem);
}

/* Whether libetpan, or IDLE, is to see such a line. */
static bool
is_wanted(const struct imap_line *line)
{
	return line->kind != IMAP_LINE_OTHER && line->kind != IMAP_LINE_BYE;
}

static bool
note_line(struct imap_wire *wire, const struct imap_line *line)
{
	if (line->kind == IMAP_LINE_BYE)
		return fail_with(wire, "the IMAP server has said goodbye");
	if (line->has_literal && !wire->may_have_message)
		return fail_with(
		    wire, "the IMAP server sent a literal where none belongs");
	if (line->kind == IMAP_LINE_EXISTS) {
		wire->has_news |= line->number > wire->exists;
		wire->exists = line->number;
	}
	if (line->kind == IMAP_LINE_EXPUNGED && wire->exists > 0)
		wire->exists--;
	wire->is_in_line = line->has_literal;
	if (line->has_literal) {
		wire->may_have_message = false;
		wire->literal_left = line->literal_bytes;
	}
	return true;
}

/* Have a whole line at the front, judged; those that nobody wants are dropped. */
static bool
fetch_line(
    struct imap_wire *wire, int64_t deadline, struct imap_line *line, bool *is_time_up)
{
	for (;;) {
		GByteArray *inbound = wire->inbound;
		const guint8 *end =
		    inbound->len > 0 ? memchr(inbound->data, '\n', inbound->len) : NULL;
		size_t size = end ? (size_t)(end - inbound->data) + 1 : inbound->len;
		GError *problem = NULL;

		if (size > BOUNDS_IMAP_LINE_BYTES)
			return fail_with(wire, "the IMAP server sent too long a line");
		if (!end && receive(wire, deadline, is_time_up))
			continue;
		if (!end)
			return false;
		wire->n_bytes += size;
		if (wire->n_bytes > BOUNDS_IMAP_ANSWER_BYTES)
			return fail_with(wire, "the IMAP server sent too much");
		if (!imap_line_parse((const char *)inbound->data, size,
		        wire->is_in_line, line, &problem))
			return fail(wire, problem);
		if (!note_line(wire, line))
			return false;
		if (is_wanted(line)) {
			wire->judged = size;
			return true;
		}
		g_byte_array_remove_range(inbound, 0, (guint)size);
	}
}

static void
drop_judged(struct imap_wire *wire, size_t size)
{
	g_byte_array_remove_range(wire->inbound, 0, (guint)size);
	wire->judged -= size;
}

/* What libetpan reads: never more than one line, or what follows of a literal. */
static ssize_t
wire_read(mailstream_low *low, void *buffer, size_t size)
{
	struct imap_wire *wire = low->data;
	struct imap_line line;
	size_t n;

	if (wire->is_closed)
		return -1;
	if (wire->judged == 0 && wire->literal_left > 0) {
		if (wire->inbound->len == 0 && !receive(wire, wire->deadline, NULL))
			return -1;
		wire->judged = MIN(wire->literal_left, wire->inbound->len);
		wire->literal_left -= wire->judged;
	} else if (wire->judged == 0 && !fetch_line(wire, wire->deadline, &line, NULL))
		return -1;
	n = MIN(size, wire->judged);
	memcpy(buffer, wire->inbound->data, n);
	drop_judged(wire, n);
	return (ssize_t)n;
}

static ssize_t
wire_write(mailstream_low *low, const void *data, size_t size)
{
	struct imap_wire *wire = low->data;
	GError *problem = NULL;

	if (wire->is_closed)
		return -1;
	if (stream_write(wire->stream, data, size, wire->deadline, &problem))
		return (ssize_t)size;
	g_prefix_error(&problem, "IMAP: ");
	fail(wire, problem);
	return -1;
}

static int
wire_close(mailstream_low *low)
{
	struct imap_wire *wire = low->data;

	wire->is_closed = true;
	return 0;
}

static int
wire_get_fd(mailstream_low *low)
{
	(void)low;
	return -1;
}

static void
wire_free(mailstream_low *low)
{
	free(low);
}

static void
wire_cancel(mailstream_low *low)
{
	(void)low;
}

mailstream_low *
imap_wire_new_plain(struct imap_wire *wire)
{
	static mailstream_low_driver driver = {
	    .mailstream_read = wire_read,
	    .mailstream_write = wire_write,
	    .mailstream_close = wire_close,
	    .mailstream_get_fd = wire_get_fd,
	    .mailstream_free = wire_free,
	    .mailstream_cancel = wire_cancel,
	};
	mailstream_low *low = mailstream_low_new(wire, &driver);

	g_assert(low);
	return low;
}

static bool
tell_problem(const struct imap_wire *wire, GError **error)
{
	if (wire->problem)
		g_propagate_error(error, g_error_copy(wire->problem));
	else
		g_set_error_literal(error, PB_ERROR, PB_ERROR_TEMPORARY,
		    "the IMAP connection is closed");
	return false;
}

bool
imap_wire_write(struct imap_wire *wire, const char *text, GError **error)
{
	GError *problem = NULL;

	if (wire->is_closed)
		return tell_problem(wire, error);
	if (stream_write(wire->stream, text, strlen(text), wire->deadline, &problem))
		return true;
	g_prefix_error(&problem, "IMAP: ");
	fail(wire, problem);
	return tell_problem(wire, error);
}

bool
imap_wire_read_line(struct imap_wire *wire, int64_t deadline, struct imap_line *line,
    bool *is_time_up, GError **error)
{
	*is_time_up = false;
	if (wire->is_closed)
		return tell_problem(wire, error);
	g_assert(wire->judged == 0 && wire->literal_left == 0);
	if (fetch_line(wire, MIN(deadline, wire->deadline), line, is_time_up)) {
		drop_judged(wire, wire->judged);
		return true;
	}
	if (*is_time_up)
		g_set_error_literal(
		    error, PB_ERROR, PB_ERROR_TEMPORARY, "no news in time");
	else
		tell_problem(wire, error);
	return false;
}
