/*
 * smtp.c - delivery over SMTP or LMTP to one relay.
 */
#include "transport/smtp.h"

#include "transport/session.h"
#include "transport/smtp_transaction.h"

/* A message that is under way on the connection. */
struct transaction {
	struct delivery_job *delivery_job; /* NULL: there is none */
	struct smtp_transaction smtp_transaction;
	bool is_begun;   /* its dialogue was started on this very connection */
	bool was_stored; /* ... which had served others before */
};

struct smtp {
	struct transport transport;
	struct session session;
	const struct job_queue *feed; /* while it runs */
	struct transaction now;       /* whose replies are awaited */
	struct transaction ahead; /* whose envelope went out behind the other's dot */
};

static void
smtp_close(struct transport *transport)
{
	session_close(&((struct smtp *)transport)->session);
}

/* ---- Messages and their order ---------------------------------------------- */

/* Take the next message from the feed, if there is one at hand. */
static bool
take_next(struct smtp *smtp, struct transaction *transaction)
{
	struct delivery_job *delivery_job = smtp->feed->next(smtp->feed->data);

	*transaction = (struct transaction){.delivery_job = delivery_job};
	if (!delivery_job)
		return false;
	smtp_transaction_init(&transaction->smtp_transaction, &delivery_job->envelope,
	    &delivery_job->result);
	return true;
}

static void
tell_written(struct smtp *smtp, const struct transaction *transaction)
{
	smtp->feed->written(smtp->feed->data, transaction->delivery_job);
}

/* The first is done, and the one behind it moves up. */
static void
finish(struct smtp *smtp)
{
	struct delivery_job *delivery_job = smtp->now.delivery_job;

	smtp_transaction_clear(&smtp->now.smtp_transaction);
	smtp->now = smtp->ahead;
	smtp->ahead = (struct transaction){0};
	smtp->feed->done(smtp->feed->data, delivery_job);
}

static void
drop(struct smtp *smtp)
{
	session_drop(&smtp->session);
	smtp->now.is_begun = smtp->ahead.is_begun = false;
}

/* ---- One write, one reply --------------------------------------------------- */

static void
start(struct smtp *smtp, struct transaction *transaction, bool was_stored)
{
	struct session *session = &smtp->session;

	session->n_messages++;
	smtp_transaction_start(
	    &transaction->smtp_transaction, &session->extensions, session->needs_reset);
	session->needs_reset = false;
	transaction->is_begun = true;
	transaction->was_stored = was_stored;
}

/*
 * Behind a message goes the envelope of the next one, if it is at hand and this
 * connection may carry it: one round trip for each message (RFC 2920 section 3.1).
 */
static void
look_ahead(struct smtp *smtp)
{
	struct session *session = &smtp->session;

	if (!session->extensions.has_pipelining || smtp->ahead.delivery_job ||
	    smtp->now.smtp_transaction.is_refused || session_is_spent(session) ||
	    !take_next(smtp, &smtp->ahead) || smtp->ahead.smtp_transaction.is_over)
		return;
	start(smtp, &smtp->ahead, true);
	smtp_transaction_give_bytes(&smtp->ahead.smtp_transaction, session->out);
}

/* @param is_written  set: the first message's bytes have been handed over */
static bool
write_group(struct smtp *smtp, bool *is_written, GError **error)
{
	struct smtp_transaction *smtp_transaction = &smtp->now.smtp_transaction;
	struct session *session = &smtp->session;
	size_t n_own;

	*is_written = true;
	if (!smtp_transaction_give_bytes(smtp_transaction, session->out))
		return true;
	n_own = session->out->len;
	if (smtp_transaction->given == SMTP_STAGE_DOT) {
		tell_written(smtp, &smtp->now);
		look_ahead(smtp);
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

/*
 * Write what may be written, read what is awaited, until it is over.  Where writing
 * fails, the host may have said why before it hung up.
 */
static void
talk(struct smtp *smtp)
{
	struct smtp_transaction *smtp_transaction = &smtp->now.smtp_transaction;
	const struct smtp_times *times = &smtp->session.options->times;

	while (!smtp_transaction->is_over) {
		g_autoptr(GError) error = NULL;
		const struct reply *reply;
		bool is_written;
		bool is_whole = write_group(smtp, &is_written, &error);

		reply = session_read_reply(&smtp->session,
		    is_whole ? get_wait_ms(times, smtp_transaction) : 0,
		    is_whole ? &error : NULL);
		if (reply && (is_written || reply->code >= 400))
			smtp_transaction_take_reply(smtp_transaction, reply);
		else
			smtp_transaction_break(
			    smtp_transaction, is_written, error->message);
		smtp_transaction->is_last |= !is_whole;
	}
}

/* ---- The connection ---------------------------------------------------------- */

/* The host has gone away from a kept connection, and has taken nothing. */
static bool
is_stale(const struct transaction *transaction)
{
	const struct delivery *result = transaction->smtp_transaction.result;

	return transaction->was_stored && transaction->smtp_transaction.is_last &&
	       result->stage == SMTP_STAGE_MAIL &&
	       (result->code == 0 || result->code == 421);
}

/* See that there is a connection which has begun with the message. */
static bool
begin(struct smtp *smtp)
{
	struct session *session = &smtp->session;
	bool was_stored;

	if (smtp->now.is_begun)
		return true;
	if (session->stream && session_is_spent(session))
		session_close(session);
	was_stored = session->stream != NULL;
	if (!was_stored && !session_open(session, smtp->now.smtp_transaction.result))
		return false;
	start(smtp, &smtp->now, was_stored);
	return true;
}

static void
deliver(struct smtp *smtp)
{
	struct transaction *now = &smtp->now;

	if (!now->smtp_transaction.is_over) {
		if (!begin(smtp)) {
			finish(smtp);
			return;
		}
		talk(smtp);
		if (now->smtp_transaction.given >= SMTP_STAGE_MAIL)
			smtp->session.needs_reset =
			    now->smtp_transaction.result->outcome != DELIVERY_SENT;
		if (now->smtp_transaction.is_last) {
			bool is_again = is_stale(now);

			drop(smtp);
			if (is_again) {
				now->smtp_transaction.is_over = false;
				return;
			}
		}
	}
	finish(smtp);
}

static void
smtp_run(struct transport *transport, const struct job_queue *feed)
{
	struct smtp *smtp = (struct smtp *)transport;

	smtp->feed = feed;
	smtp->session.stop_fd = transport->stop_fd;
	while (smtp->now.delivery_job || take_next(smtp, &smtp->now))
		deliver(smtp);
	smtp->feed = NULL;
}

static void
smtp_free(struct transport *transport)
{
	struct smtp *smtp = (struct smtp *)transport;

	session_clear(&smtp->session);
	g_free(smtp);
}

/*
 * All steps at their slowest, and all once more: a connection that was kept and is
 * dead is replaced once.
 */
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
	static const struct transport_ops class = {
	    .close = smtp_close,
	    .free = smtp_free,
	    .run = smtp_run,
	};
	struct smtp *smtp = g_new0(struct smtp, 1);

	g_assert(options->use_messages > 0);
	smtp->transport.class = &class;
	set_waits(&smtp->transport, &options->times);
	session_init(&smtp->session, options);
	return &smtp->transport;
}
