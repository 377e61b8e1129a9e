/*
 * imap_wire.c - an IMAP connection for libetpan, limited in size and time.
 */
#include "receive/imap_wire.h"

#include <stdlib.h>
#include <string.h>

#include <libetpan/mailstream_low.h>

#include "base/bounds.h"
#include "base/error.h"

struct imap_wire {
	struct stream *stream;
	GByteArray *buffered; /* received, not yet passed on */
	size_t checked;       /* bytes at its beginning that may be passed on */
	size_t literal_left;  /* bytes of a literal, passed on without a check */
	size_t n_bytes;       /* in the response of the command, without its literal */
	uint32_t exists;
	bool has_changes; /* EXISTS has increased, or EXPUNGE of others */
	bool is_removing; /* EXPUNGE is ours */
	int64_t deadline;
	bool may_have_message; /* one literal is still allowed */
	bool is_in_line;       /* after a literal, within the same line */
	bool is_closed;
	GError *problem; /* or NULL */
};

struct imap_wire *
imap_wire_new(struct stream *stream)
{
	struct imap_wire *wire = g_new0(struct imap_wire, 1);
	static const char greeting[] = "* PREAUTH here\r\n";

	wire->stream = stream;
	wire->buffered = g_byte_array_new();
	/* libcurl has read the greeting, but libetpan waits for one. */
	g_byte_array_append(
	    wire->buffered, (const guint8 *)greeting, sizeof(greeting) - 1);
	wire->checked = wire->buffered->len;
	return wire;
}

void
imap_wire_free(struct imap_wire *wire)
{
	if (!wire)
		return;
	stream_free(wire->stream);
	g_byte_array_unref(wire->buffered);
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
	bool has_changes = wire->has_changes;

	wire->has_changes = false;
	return has_changes;
}

void
imap_wire_set_removing(struct imap_wire *wire, bool is_removing)
{
	wire->is_removing = is_removing;
}

/* @param problem  takes it */
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

/* @return false if the wire is closed, or on timeout */
static bool
receive(struct imap_wire *wire, int64_t deadline, bool *is_time_up)
{
	guint8 chunk[16 * 1024];
	GError *problem = NULL;
	gssize n = stream_read(wire->stream, chunk, sizeof(chunk), deadline, &problem);

	if (n > 0) {
		g_byte_array_append(wire->buffered, chunk, (guint)n);
		return true;
	}
	if (n == 0)
		return fail_with(wire, "the IMAP server closed the connection");
	if (is_time_up && wire->buffered->len == 0 &&
	    g_get_monotonic_time() >= deadline) {
		g_error_free(problem);
		*is_time_up = true;
		return false;
	}
	g_prefix_error(&problem, "IMAP: ");
	return fail(wire, problem);
}

/* Whether libetpan or IDLE gets to see the line. */
static bool
is_passed_on(const struct imap_line *line)
{
	return line->kind != IMAP_LINE_OTHER && line->kind != IMAP_LINE_BYE;
}

static bool
record_line(struct imap_wire *wire, const struct imap_line *line)
{
	if (line->kind == IMAP_LINE_BYE)
		return fail_with(wire, "the IMAP server sent BYE");
	if (line->has_literal && !wire->may_have_message)
		return fail_with(wire, "the IMAP server sent an unexpected literal");
	if (line->kind == IMAP_LINE_EXISTS) {
		wire->has_changes |= line->number > wire->exists;
		wire->exists = line->number;
	}
	if (line->kind == IMAP_LINE_EXPUNGED) {
		wire->has_changes |= !wire->is_removing;
		if (wire->exists > 0)
			wire->exists--;
	}
	wire->is_in_line = line->has_literal;
	if (line->has_literal) {
		wire->may_have_message = false;
		wire->literal_left = line->literal_bytes;
	}
	return true;
}

/* Receive and check a whole line; drop those that are not passed on. */
static bool
fetch_line(
    struct imap_wire *wire, int64_t deadline, struct imap_line *line, bool *is_time_up)
{
	for (;;) {
		GByteArray *buffered = wire->buffered;
		const guint8 *end = buffered->len > 0
		                        ? memchr(buffered->data, '\n', buffered->len)
		                        : NULL;
		size_t size = end ? (size_t)(end - buffered->data) + 1 : buffered->len;
		GError *problem = NULL;

		if (size > BOUNDS_IMAP_LINE_BYTES)
			return fail_with(
			    wire, "the IMAP server sent a line that is too long");
		if (!end && receive(wire, deadline, is_time_up))
			continue;
		if (!end)
			return false;
		wire->n_bytes += size;
		if (wire->n_bytes > BOUNDS_IMAP_ANSWER_BYTES)
			return fail_with(
			    wire, "the IMAP server sent a response that is too large");
		if (!imap_line_parse((const char *)buffered->data, size,
		        wire->is_in_line, line, &problem))
			return fail(wire, problem);
		if (!record_line(wire, line))
			return false;
		if (is_passed_on(line)) {
			wire->checked = size;
			return true;
		}
		g_byte_array_remove_range(buffered, 0, (guint)size);
	}
}

static void
drop_checked(struct imap_wire *wire, size_t size)
{
	g_byte_array_remove_range(wire->buffered, 0, (guint)size);
	wire->checked -= size;
}

/* Read for libetpan: never more than one line, or part of a literal. */
static ssize_t
wire_read(mailstream_low *low, void *buffer, size_t size)
{
	struct imap_wire *wire = low->data;
	struct imap_line line;
	size_t n;

	if (wire->is_closed)
		return -1;
	if (wire->checked == 0 && wire->literal_left > 0) {
		if (wire->buffered->len == 0 && !receive(wire, wire->deadline, NULL))
			return -1;
		wire->checked = MIN(wire->literal_left, wire->buffered->len);
		wire->literal_left -= wire->checked;
	} else if (wire->checked == 0 && !fetch_line(wire, wire->deadline, &line, NULL))
		return -1;
	n = MIN(size, wire->checked);
	memcpy(buffer, wire->buffered->data, n);
	drop_checked(wire, n);
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
propagate_problem(const struct imap_wire *wire, GError **error)
{
	if (wire->problem)
		g_propagate_error(error, g_error_copy(wire->problem));
	else
		pb_fail(error, PB_ERROR_TEMPORARY, "the IMAP connection is closed");
	return false;
}

bool
imap_wire_write(struct imap_wire *wire, const char *text, GError **error)
{
	GError *problem = NULL;

	if (wire->is_closed)
		return propagate_problem(wire, error);
	if (stream_write(wire->stream, text, strlen(text), wire->deadline, &problem))
		return true;
	g_prefix_error(&problem, "IMAP: ");
	fail(wire, problem);
	return propagate_problem(wire, error);
}

bool
imap_wire_read_line(struct imap_wire *wire, int64_t deadline, struct imap_line *line,
    bool *is_time_up, GError **error)
{
	*is_time_up = false;
	if (wire->is_closed)
		return propagate_problem(wire, error);
	g_assert(wire->checked == 0 && wire->literal_left == 0);
	if (fetch_line(wire, MIN(deadline, wire->deadline), line, is_time_up)) {
		drop_checked(wire, wire->checked);
		return true;
	}
	if (*is_time_up)
		pb_fail(error, PB_ERROR_TEMPORARY, "timeout");
	else
		propagate_problem(wire, error);
	return false;
}
