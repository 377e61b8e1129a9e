/*
 * smtp.c - delivery over SMTP (RFC 5321) or LMTP (RFC 2033) to one relay.
 */
#include "transport/smtp.h"

#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "transport/lmtp.h"
#include "transport/reply.h"
#include "transport/smtp_transaction.h"

/* ---- one connection to an SMTP or LMTP server, reused for several messages ---- */

struct session {
	const struct smtp_options *options; /* borrowed */
	const int *stop_fd;    /* for new streams, as in stream.h; or NULL */
	struct stream *stream; /* NULL if not connected */
	struct extensions extensions;
	struct reply_parser parser;
	GString *out;        /* pending output */
	unsigned n_messages; /* transactions started on this connection */
	int64_t opened_us;   /* monotonic time, us */
	bool needs_reset;    /* the last transaction was rejected: send RSET */
	size_t n_input, input_at;
	char input[4096]; /* read but not yet parsed: [input_at, n_input) */
};

#define BLOCK_BYTES (64 * 1024)

static int64_t
deadline_after(unsigned wait_ms)
{
	return g_get_monotonic_time() + (int64_t)wait_ms * 1000;
}

static void
session_init(struct session *session, const struct smtp_options *options)
{
	*session = (struct session){.options = options, .out = g_string_new(NULL)};
	reply_parser_init(&session->parser);
}

/* Disconnect without QUIT. */
static void
session_drop(struct session *session)
{
	g_clear_pointer(&session->stream, stream_free);
}

static void
session_clear(struct session *session)
{
	session_drop(session);
	reply_parser_clear(&session->parser);
	g_string_free(session->out, TRUE);
}

/* Write and clear `out`. @return as stream_write() */
static bool
session_write(struct session *session, GError **error)
{
	unsigned n_blocks = (unsigned)(session->out->len / BLOCK_BYTES) + 1;
	int64_t deadline = g_get_monotonic_time() +
	                   (int64_t)session->options->times.block_ms * 1000 * n_blocks;
	bool is_written = stream_write(
	    session->stream, session->out->str, session->out->len, deadline, error);

	g_string_truncate(session->out, 0);
	return is_written;
}

/* @return borrowed until the next call; NULL on a timeout, lost connection or malformed
 * reply */
static const struct reply *
session_read_reply(struct session *session, unsigned wait_ms, GError **error)
{
	int64_t deadline = deadline_after(wait_ms);

	for (;;) {
		enum reply_progress progress;
		size_t n_used = 0;
		gssize n;

		progress = reply_parser_feed(&session->parser,
		    session->input + session->input_at,
		    session->n_input - session->input_at, &n_used);
		session->input_at += n_used;
		if (progress == REPLY_COMPLETE)
			return reply_parser_get(&session->parser);
		if (progress == REPLY_MALFORMED) {
			pb_fail(error, PB_ERROR_TEMPORARY,
			    "invalid or too long SMTP reply");
			return NULL;
		}
		n = stream_read(session->stream, session->input, sizeof(session->input),
		    deadline, error);
		if (n <= 0) {
			if (n == 0)
				pb_fail(error, PB_ERROR_TEMPORARY, "lost connection");
			return NULL;
		}
		session->input_at = 0;
		session->n_input = (size_t)n;
	}
}

static const struct reply *
send_command(
    struct session *session, const char *command, unsigned wait_ms, GError **error)
{
	g_string_assign(session->out, command);
	if (!session_write(session, error))
		return NULL;
	return session_read_reply(session, wait_ms, error);
}

static enum smtp_stage
stage_from_step(enum stream_step step)
{
	switch (step) {
	case STREAM_STEP_CONNECT:
		return SMTP_STAGE_CONNECT;
	case STREAM_STEP_HELLO:
		return SMTP_STAGE_EHLO;
	case STREAM_STEP_STARTTLS:
		return SMTP_STAGE_STARTTLS;
	case STREAM_STEP_LOGIN:
		return SMTP_STAGE_AUTH;
	}
	g_assert_not_reached();
}

/* Use the host's reply if there is one, else the error of the stream. */
static void
set_open_failure(
    const struct stream_error *failure, const GError *error, struct delivery *result)
{
	enum smtp_stage stage = stage_from_step(failure->step);
	struct reply_parser parser;
	size_t n_used;

	reply_parser_init(&parser);
	if (failure->reply && reply_parser_feed(&parser, failure->reply,
	                          strlen(failure->reply), &n_used) == REPLY_COMPLETE) {
		smtp_transaction_set_result(result, stage, reply_parser_get(&parser));
	} else {
		smtp_transaction_set_timeout(result, stage, error->message);
	}
	reply_parser_clear(&parser);
	result->scope = failure->kind == STREAM_ERROR_LOGIN ? DELIVERY_SCOPE_LOGIN
	                                                    : DELIVERY_SCOPE_RELAY;
}

static void
erase_input(struct session *session)
{
	session->n_input = session->input_at = 0;
	reply_parser_clear(&session->parser);
	reply_parser_init(&session->parser);
}

static bool
connect_host(struct session *session, struct delivery *result)
{
	struct stream_options options = session->options->stream;
	pb_local(stream_error) failure = {0};
	g_autoptr(GError) error = NULL;

	if (session->stop_fd && stream_is_stopped(*session->stop_fd)) {
		smtp_transaction_set_timeout(
		    result, SMTP_STAGE_CONNECT, "interrupted by shutdown");
		return false;
	}
	options.connect_ms = session->options->times.connect_ms;
	options.open_ms = session->options->times.open_ms;
	options.stop_fd = session->stop_fd;
	if (session->options->open)
		session->stream = session->options->open(
		    &options, session->options->open_data, &failure, &error);
	else if (session->options->is_lmtp)
		session->stream = lmtp_open(&options, &failure, &error);
	else
		session->stream = stream_open(&options, &failure, &error);
	if (!session->stream) {
		set_open_failure(&failure, error, result);
		return false;
	}
	extensions_parse(stream_get_hello(session->stream), &session->extensions);
	session->extensions.is_lmtp = session->options->is_lmtp;
	erase_input(session);
	session->n_messages = 0;
	session->needs_reset = false;
	session->opened_us = g_get_monotonic_time();
	return true;
}

/*
 * Connect and send NOOP, because stream_open() may drop bytes after its last reply.
 *
 * @param result  set on failure
 */
static bool
session_open(struct session *session, struct delivery *result)
{
	g_autoptr(GError) error = NULL;
	const struct reply *reply;

	if (!connect_host(session, result))
		return false;
	reply = send_command(
	    session, "NOOP\r\n", session->options->times.command_ms, &error);
	if (reply && reply->code != 421)
		return true;
	if (reply)
		smtp_transaction_set_result(result, SMTP_STAGE_EHLO, reply);
	else
		smtp_transaction_set_timeout(result, SMTP_STAGE_EHLO, error->message);
	session_drop(session);
	return false;
}

/* Send QUIT if connected, and disconnect. */
static void
session_close(struct session *session)
{
	if (!session->stream)
		return;
	send_command(session, "QUIT\r\n", session->options->times.quit_ms, NULL);
	session_drop(session);
}

/* Whether it has reached its maximum number of messages or age. */
static bool
session_is_spent(const struct session *session)
{
	return session->n_messages >= session->options->use_messages ||
	       g_get_monotonic_time() - session->opened_us >=
	           (int64_t)session->options->use_s * G_USEC_PER_SEC;
}

/* ---- smtp ---- */

/* A message in progress on the connection. */
struct transaction {
	struct delivery_job *job; /* NULL: none */
	struct smtp_transaction smtp_transaction;
	bool is_started; /* its transaction was started on the current connection */
	bool was_reused; /* the connection was used before */
};

struct smtp {
	struct transport transport;
	struct session session;
	const struct job_queue *queue; /* while smtp_run() runs */
	struct transaction current;    /* waiting for replies */
	struct transaction next;       /* its envelope is already written */
};

static void
smtp_close(struct transport *transport)
{
	session_close(&((struct smtp *)transport)->session);
}

/* ---- Messages and their order ---------------------------------------------- */

/* Take the next message if there is one. */
static bool
take_next(struct smtp *smtp, struct transaction *transaction)
{
	struct delivery_job *job = smtp->queue->next(smtp->queue->data);

	*transaction = (struct transaction){.job = job};
	if (!job)
		return false;
	smtp_transaction_init(
	    &transaction->smtp_transaction, &job->envelope, &job->result);
	return true;
}

static void
report_written(struct smtp *smtp, const struct transaction *transaction)
{
	smtp->queue->written(smtp->queue->data, transaction->job);
}

/* The current message is finished; the next one takes its place. */
static void
finish(struct smtp *smtp)
{
	struct delivery_job *job = smtp->current.job;

	smtp->current = smtp->next;
	smtp->next = (struct transaction){0};
	smtp->queue->done(smtp->queue->data, job);
}

static void
drop(struct smtp *smtp)
{
	session_drop(&smtp->session);
	smtp->current.is_started = smtp->next.is_started = false;
}

/* ---- One write, one reply --------------------------------------------------- */

static void
start(struct smtp *smtp, struct transaction *transaction, bool was_reused)
{
	struct session *session = &smtp->session;

	session->n_messages++;
	smtp_transaction_start(
	    &transaction->smtp_transaction, &session->extensions, session->needs_reset);
	session->needs_reset = false;
	transaction->is_started = true;
	transaction->was_reused = was_reused;
}

/*
 * Write the envelope of the next message after the current one, if there is one and the
 * connection may carry it: one round trip per message (RFC 2920 section 3.1).
 */
static void
start_ahead(struct smtp *smtp)
{
	struct session *session = &smtp->session;

	if (!session->extensions.has_pipelining || smtp->next.job ||
	    smtp->current.smtp_transaction.is_refused || session_is_spent(session) ||
	    !take_next(smtp, &smtp->next) || smtp->next.smtp_transaction.is_over)
		return;
	start(smtp, &smtp->next, true);
	smtp_transaction_write(&smtp->next.smtp_transaction, session->out);
}

/* @param is_written  set: all bytes of the current message were written */
static bool
write_group(struct smtp *smtp, bool *is_written, GError **error)
{
	struct smtp_transaction *smtp_transaction = &smtp->current.smtp_transaction;
	struct session *session = &smtp->session;
	size_t n_own;

	*is_written = true;
	if (!smtp_transaction_write(smtp_transaction, session->out))
		return true;
	n_own = session->out->len;
	if (smtp_transaction->written == SMTP_STAGE_DOT) {
		report_written(smtp, &smtp->current);
		start_ahead(smtp);
	}
	if (session_write(session, error))
		return true;
	*is_written = stream_get_written(session->stream) >= n_own;
	return false;
}

static unsigned
get_wait_ms(
    const struct smtp_times *times, const struct smtp_transaction *smtp_transaction)
{
	if (smtp_transaction->awaited == SMTP_STAGE_DOT &&
	    !smtp_transaction->is_refused)
		return times->dot_ms;
	return smtp_transaction->awaited == SMTP_STAGE_DATA ? times->data_ms
	                                                    : times->command_ms;
}

/* Write and read a reply. After a write error the host's reply is still read, which may
 * give the reason. */
static void
exchange(struct smtp *smtp)
{
	struct smtp_transaction *smtp_transaction = &smtp->current.smtp_transaction;
	const struct smtp_times *times = &smtp->session.options->times;
	g_autoptr(GError) error = NULL;
	const struct reply *reply;
	bool is_written;
	bool is_whole = write_group(smtp, &is_written, &error);

	if (smtp_transaction->awaited == SMTP_STAGE_DOT && smtp->queue->waiting)
		smtp->queue->waiting(smtp->queue->data);
	reply = session_read_reply(&smtp->session,
	    is_whole ? get_wait_ms(times, smtp_transaction) : 0,
	    is_whole ? &error : NULL);
	if (reply && (is_written || reply->code >= 400))
		smtp_transaction_take_reply(smtp_transaction, reply);
	else
		smtp_transaction_break(smtp_transaction, is_written, error->message);
	smtp_transaction->is_last |= !is_whole;
}

/* Whether the content is to be written next, and the queue does not want that. */
static bool
is_withdrawn(const struct smtp *smtp)
{
	const struct smtp_transaction *smtp_transaction =
	    &smtp->current.smtp_transaction;

	return smtp_transaction->awaited == SMTP_STAGE_DOT &&
	       smtp_transaction->written < SMTP_STAGE_DOT &&
	       !smtp_transaction->is_refused && smtp->queue->may_write &&
	       !smtp->queue->may_write(smtp->queue->data);
}

static void
run_transaction(struct smtp *smtp)
{
	struct smtp_transaction *smtp_transaction = &smtp->current.smtp_transaction;

	while (!smtp_transaction->is_over)
		if (is_withdrawn(smtp))
			smtp_transaction_withdraw(smtp_transaction);
		else
			exchange(smtp);
}

/* ---- The connection ---------------------------------------------------------- */

/* A reused connection failed before the host accepted anything. */
static bool
is_stale(const struct transaction *transaction)
{
	const struct delivery *result = transaction->smtp_transaction.result;

	return transaction->was_reused && transaction->smtp_transaction.is_last &&
	       result->stage == SMTP_STAGE_MAIL &&
	       (result->code == 0 || result->code == 421);
}

/* Connect if necessary, and start the transaction. */
static bool
begin(struct smtp *smtp)
{
	struct session *session = &smtp->session;
	bool was_reused;

	if (smtp->current.is_started)
		return true;
	if (session->stream && session_is_spent(session))
		session_close(session);
	was_reused = session->stream != NULL;
	if (!was_reused &&
	    !session_open(session, smtp->current.smtp_transaction.result))
		return false;
	start(smtp, &smtp->current, was_reused);
	return true;
}

static void
deliver(struct smtp *smtp)
{
	struct transaction *current = &smtp->current;

	if (!current->smtp_transaction.is_over) {
		if (!begin(smtp)) {
			finish(smtp);
			return;
		}
		run_transaction(smtp);
		if (current->smtp_transaction.written >= SMTP_STAGE_MAIL)
			smtp->session.needs_reset =
			    current->smtp_transaction.result->outcome != DELIVERY_SENT;
		if (current->smtp_transaction.is_last) {
			bool is_again = is_stale(current);

			drop(smtp);
			if (is_again) {
				current->smtp_transaction.is_over = false;
				return;
			}
		}
	}
	finish(smtp);
}

static void
smtp_run(struct transport *transport, const struct job_queue *queue)
{
	struct smtp *smtp = (struct smtp *)transport;

	smtp->queue = queue;
	smtp->session.stop_fd = transport->stop_fd;
	while (smtp->current.job || take_next(smtp, &smtp->current))
		deliver(smtp);
	smtp->queue = NULL;
}

static void
smtp_free(struct transport *transport)
{
	struct smtp *smtp = (struct smtp *)transport;

	session_clear(&smtp->session);
	g_free(smtp);
}

/* All timeouts, twice: a stale connection is replaced once. */
static void
set_waits(struct transport *transport, const struct smtp_times *times)
{
	int64_t steps_ms = (int64_t)times->quit_ms + times->connect_ms +
	                   times->open_ms + 4 * (int64_t)times->command_ms +
	                   times->data_ms + times->dot_ms +
	                   2 * (int64_t)times->block_ms;

	transport->wait_s = 2 * steps_ms / 1000 + 1;
	transport->block_wait_s = 2 * (int64_t)times->block_ms / 1000 + 1;
}

struct transport *
smtp_new(const struct smtp_options *options)
{
	static const struct transport_ops ops = {
	    .close = smtp_close,
	    .free = smtp_free,
	    .run = smtp_run,
	};
	struct smtp *smtp = g_new0(struct smtp, 1);

	g_assert(options->use_messages > 0);
	smtp->transport.ops = &ops;
	set_waits(&smtp->transport, &options->times);
	session_init(&smtp->session, options);
	return &smtp->transport;
}
