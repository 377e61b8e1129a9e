/*
 * smtp.c - delivery over SMTP to one relay.
 */
#include "transport/smtp.h"

#include <string.h>

#include "base/error.h"
#include "transport/dialogue.h"
#include "transport/meaning.h"
#include "transport/reply.h"

#define BLOCK_BYTES (64 * 1024)

struct smtp {
	struct transport transport;
	const struct smtp_options *options;
	struct stream *stream; /* NULL without a connection */
	struct extensions extensions;
	struct reply_parser parser;
	GString *out;        /* scratch for what is written */
	unsigned n_messages; /* transactions begun on this connection */
	int64_t opened_us;   /* by the monotonic clock */
	bool needs_reset;    /* the last transaction was refused */
	size_t n_input, input_at;
	char input[4096]; /* read and not yet parsed: [input_at, n_input) */
};

static int64_t
deadline_after(unsigned wait_ms)
{
	return g_get_monotonic_time() + (int64_t)wait_ms * 1000;
}

static void
drop(struct smtp *smtp)
{
	g_clear_pointer(&smtp->stream, stream_free);
}

static bool
write_out(struct smtp *smtp, GError **error)
{
	unsigned n_blocks = (unsigned)(smtp->out->len / BLOCK_BYTES) + 1;
	int64_t deadline = g_get_monotonic_time() +
	                   (int64_t)smtp->options->times.block_ms * 1000 * n_blocks;
	bool is_written =
	    stream_write(smtp->stream, smtp->out->str, smtp->out->len, deadline, error);

	g_string_truncate(smtp->out, 0);
	return is_written;
}

/* Read one reply; whatever is wrong with it is an error. */
static const struct reply *
read_reply(struct smtp *smtp, unsigned wait_ms, GError **error)
{
	int64_t deadline = deadline_after(wait_ms);

	for (;;) {
		enum reply_progress progress;
		size_t n_used = 0;
		gssize n;

		progress =
		    reply_parser_feed(&smtp->parser, smtp->input + smtp->input_at,
		        smtp->n_input - smtp->input_at, &n_used);
		smtp->input_at += n_used;
		if (progress == REPLY_WHOLE)
			return reply_parser_get(&smtp->parser);
		if (progress == REPLY_MALFORMED) {
			g_set_error_literal(error, PB_ERROR, PB_ERROR_TEMPORARY,
			    "the answer is no SMTP reply, or too long");
			return NULL;
		}
		n = stream_read(
		    smtp->stream, smtp->input, sizeof(smtp->input), deadline, error);
		if (n <= 0) {
			if (n == 0)
				g_set_error_literal(error, PB_ERROR, PB_ERROR_TEMPORARY,
				    "the host has closed the connection");
			return NULL;
		}
		smtp->input_at = 0;
		smtp->n_input = (size_t)n;
	}
}

static const struct reply *
say(struct smtp *smtp, const char *command, unsigned wait_ms, GError **error)
{
	g_string_assign(smtp->out, command);
	if (!write_out(smtp, error))
		return NULL;
	return read_reply(smtp, wait_ms, error);
}

/* ---- Opening -------------------------------------------------------------- */

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

/* The host's own words where it had some, else what the stream says. */
static void
tell_opening(
    const struct stream_failure *failure, const GError *error, struct delivery *result)
{
	enum smtp_stage stage = stage_from_step(failure->step);
	struct reply_parser parser;
	size_t n_used;

	reply_parser_init(&parser);
	if (failure->reply && reply_parser_feed(&parser, failure->reply,
	                          strlen(failure->reply), &n_used) == REPLY_WHOLE) {
		dialogue_set_result(result, stage, reply_parser_get(&parser));
	} else {
		dialogue_set_silence(result, stage, error->message);
	}
	reply_parser_clear(&parser);
	result->scope = failure->fault == STREAM_FAULT_LOGIN ? DELIVERY_SCOPE_LOGIN
	                                                     : DELIVERY_SCOPE_RELAY;
	result->needs_operator = failure->fault == STREAM_FAULT_LOGIN ||
	                         failure->fault == STREAM_FAULT_INSECURE ||
	                         failure->fault == STREAM_FAULT_SETTINGS;
}

static void
forget_input(struct smtp *smtp)
{
	smtp->n_input = smtp->input_at = 0;
	reply_parser_clear(&smtp->parser);
	reply_parser_init(&smtp->parser);
}

static bool
connect_host(struct smtp *smtp, struct delivery *result)
{
	struct stream_options options = smtp->options->stream;
	struct stream_failure failure = {0};
	g_autoptr(GError) error = NULL;

	options.connect_ms = smtp->options->times.connect_ms;
	options.open_ms = smtp->options->times.open_ms;
	if (smtp->options->open)
		smtp->stream = smtp->options->open(
		    &options, smtp->options->open_data, &failure, &error);
	else
		smtp->stream = stream_open(&options, &failure, &error);
	if (!smtp->stream) {
		tell_opening(&failure, error, result);
		stream_failure_clear(&failure);
		return false;
	}
	extensions_parse(stream_get_hello(smtp->stream), &smtp->extensions);
	forget_input(smtp);
	smtp->n_messages = 0;
	smtp->needs_reset = false;
	smtp->opened_us = g_get_monotonic_time();
	return true;
}

/* Connect, and say NOOP: bytes behind the opening's last answer may be lost. */
static bool
open_connection(struct smtp *smtp, struct delivery *result)
{
	g_autoptr(GError) error = NULL;
	const struct reply *reply;

	if (!connect_host(smtp, result))
		return false;
	reply = say(smtp, "NOOP\r\n", smtp->options->times.command_ms, &error);
	if (reply && reply->code != 421)
		return true;
	if (reply)
		dialogue_set_result(result, SMTP_STAGE_EHLO, reply);
	else
		dialogue_set_silence(result, SMTP_STAGE_EHLO, error->message);
	drop(smtp);
	return false;
}

static void
smtp_close(struct transport *transport)
{
	struct smtp *smtp = (struct smtp *)transport;

	if (!smtp->stream)
		return;
	say(smtp, "QUIT\r\n", smtp->options->times.quit_ms, NULL);
	drop(smtp);
}

/* A kept connection, cleared of the last transaction; none if it has died. */
static bool
prepare_kept(struct smtp *smtp)
{
	const struct reply *reply;

	if (!smtp->stream)
		return false;
	if (smtp->n_messages >= smtp->options->use_messages ||
	    g_get_monotonic_time() - smtp->opened_us >=
	        (int64_t)smtp->options->use_s * G_USEC_PER_SEC) {
		smtp_close(&smtp->transport);
		return false;
	}
	if (!smtp->needs_reset)
		return true;
	reply = say(smtp, "RSET\r\n", smtp->options->times.command_ms, NULL);
	smtp->needs_reset = false;
	if (reply && reply->code / 100 == 2)
		return true;
	drop(smtp);
	return false;
}

/* ---- One message ---------------------------------------------------------- */

static unsigned
get_wait_ms(const struct smtp_times *times, enum smtp_stage stage)
{
	if (stage == SMTP_STAGE_DOT)
		return times->dot_ms;
	return stage == SMTP_STAGE_DATA ? times->data_ms : times->command_ms;
}

/*
 * Write what may be written, read what is awaited, until it is over.  Where writing
 * fails, the host may have said why before it hung up.
 */
static void
run(struct smtp *smtp, struct dialogue *dialogue)
{
	const struct smtp_times *times = &smtp->options->times;

	while (!dialogue->is_over) {
		g_autoptr(GError) error = NULL;
		const struct reply *reply;
		bool is_written = true;

		if (dialogue_give_bytes(dialogue, smtp->out))
			is_written = write_out(smtp, &error);
		if (is_written)
			reply = read_reply(
			    smtp, get_wait_ms(times, dialogue->awaited), &error);
		else
			reply = read_reply(smtp, 0, NULL);
		if (reply && (is_written || reply->code >= 400))
			dialogue_take_reply(dialogue, reply);
		else
			dialogue_break(dialogue, is_written, error->message);
		dialogue->is_last |= !is_written;
	}
}

/* The host has gone away from a kept connection, and has taken nothing. */
static bool
is_stale(const struct dialogue *dialogue, bool was_kept)
{
	const struct delivery *result = dialogue->result;

	return was_kept && dialogue->is_last && result->stage == SMTP_STAGE_MAIL &&
	       (result->code == 0 || result->code == 421);
}

static void
smtp_deliver(struct transport *transport, const struct envelope *envelope,
    struct delivery *result)
{
	struct smtp *smtp = (struct smtp *)transport;
	struct dialogue dialogue;
	bool was_kept;

	dialogue_init(&dialogue, envelope, result);
	if (dialogue.is_over) {
		dialogue_clear(&dialogue);
		return;
	}
	was_kept = prepare_kept(smtp);
	for (;;) {
		if (!was_kept && !open_connection(smtp, result))
			break;
		smtp->n_messages++;
		dialogue_start(&dialogue, &smtp->extensions);
		run(smtp, &dialogue);
		if (dialogue.is_last)
			drop(smtp);
		else
			smtp->needs_reset = result->outcome != DELIVERY_SENT &&
			                    dialogue.given >= SMTP_STAGE_MAIL;
		if (!is_stale(&dialogue, was_kept))
			break;
		was_kept = false;
	}
	dialogue_clear(&dialogue);
}

static void
smtp_free(struct transport *transport)
{
	struct smtp *smtp = (struct smtp *)transport;

	g_clear_pointer(&smtp->stream, stream_free);
	reply_parser_clear(&smtp->parser);
	g_string_free(smtp->out, TRUE);
	g_free(smtp);
}

struct transport *
smtp_new(const struct smtp_options *options)
{
	static const struct transport_class class = {
	    .deliver = smtp_deliver,
	    .close = smtp_close,
	    .free = smtp_free,
	};
	struct smtp *smtp = g_new0(struct smtp, 1);

	g_assert(options->use_messages > 0);
	smtp->transport.class = &class;
	smtp->options = options;
	smtp->out = g_string_new(NULL);
	reply_parser_init(&smtp->parser);
	return &smtp->transport;
}
