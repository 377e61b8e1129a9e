/*
 * session.c - one connection to an SMTP or LMTP server, reused for several messages.
 */
#include "transport/session.h"

#include <string.h>

#include "base/error.h"
#include "transport/lmtp.h"

#define BLOCK_BYTES (64 * 1024)

static int64_t
deadline_after(unsigned wait_ms)
{
	return g_get_monotonic_time() + (int64_t)wait_ms * 1000;
}

void
session_init(struct session *session, const struct smtp_options *options)
{
	*session = (struct session){.options = options, .out = g_string_new(NULL)};
	reply_parser_init(&session->parser);
}

void
session_clear(struct session *session)
{
	session_drop(session);
	reply_parser_clear(&session->parser);
	g_string_free(session->out, TRUE);
}

void
session_drop(struct session *session)
{
	g_clear_pointer(&session->stream, stream_free);
}

bool
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

const struct reply *
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
	result->needs_operator = failure->kind == STREAM_ERROR_LOGIN ||
	                         failure->kind == STREAM_ERROR_INSECURE ||
	                         failure->kind == STREAM_ERROR_SETTINGS;
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

bool
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

void
session_close(struct session *session)
{
	if (!session->stream)
		return;
	send_command(session, "QUIT\r\n", session->options->times.quit_ms, NULL);
	session_drop(session);
}

bool
session_is_spent(const struct session *session)
{
	return session->n_messages >= session->options->use_messages ||
	       g_get_monotonic_time() - session->opened_us >=
	           (int64_t)session->options->use_s * G_USEC_PER_SEC;
}
