/*
 * smtp.c - delivery over SMTP or LMTP to one relay.
 */
#include "transport/smtp.h"

#include "transport/dialogue.h"
#include "transport/session.h"

/* A message that is under way on the connection. */
struct transaction {
	struct parcel *parcel; /* NULL: there is none */
	struct dialogue dialogue;
	bool is_begun; /* its dialogue was started on this very connection */
	bool was_kept; /* ... which had served others before */
};

struct smtp {
	struct transport transport;
	struct session session;
	const struct transport_feed *feed; /* while it runs */
	struct transaction now;            /* whose replies are awaited */
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
	struct parcel *parcel = smtp->feed->next(smtp->feed->data);

	*transaction = (struct transaction){.parcel = parcel};
	if (!parcel)
		return false;
	dialogue_init(&transaction->dialogue, &parcel->envelope, &parcel->result);
	return true;
}

static void
tell_written(struct smtp *smtp, const struct transaction *transaction)
{
	smtp->feed->written(smtp->feed->data, transaction->parcel);
}

/* The first is done, and the one behind it moves up. */
static void
finish(struct smtp *smtp)
{
	struct parcel *parcel = smtp->now.parcel;

	dialogue_clear(&smtp->now.dialogue);
	smtp->now = smtp->ahead;
	smtp->ahead = (struct transaction){0};
	smtp->feed->done(smtp->feed->data, parcel);
}

static void
drop(struct smtp *smtp)
{
	session_drop(&smtp->session);
	smtp->now.is_begun = smtp->ahead.is_begun = false;
}

/* ---- One write, one reply --------------------------------------------------- */

static void
start(struct smtp *smtp, struct transaction *transaction, bool was_kept)
{
	struct session *session = &smtp->session;

	session->n_messages++;
	dialogue_start(
	    &transaction->dialogue, &session->extensions, session->needs_reset);
	session->needs_reset = false;
	transaction->is_begun = true;
	transaction->was_kept = was_kept;
}

/*
 * Behind a message goes the envelope of the next one, if it is at hand and this
 * connection may carry it: one round trip for each message (RFC 2920 section 3.1).
 */
static void
look_ahead(struct smtp *smtp)
{
	struct session *session = &smtp->session;

	if (!session->extensions.has_pipelining || smtp->ahead.parcel ||
	    smtp->now.dialogue.is_refused || session_is_spent(session) ||
	    !take_next(smtp, &smtp->ahead) || smtp->ahead.dialogue.is_over)
		return;
	start(smtp, &smtp->ahead, true);
	dialogue_give_bytes(&smtp->ahead.dialogue, session->out);
}

/* @param is_written  set: the first message's bytes have been handed over */
static bool
write_group(struct smtp *smtp, bool *is_written, GError **error)
{
	struct dialogue *dialogue = &smtp->now.dialogue;
	struct session *session = &smtp->session;
	size_t n_own;

	*is_written = true;
	if (!dialogue_give_bytes(dialogue, session->out))
		return true;
	n_own = session->out->len;
	if (dialogue->given == SMTP_STAGE_DOT) {
		tell_written(smtp, &smtp->now);
		look_ahead(smtp);
	}
	if (session_write(session, error))
		return true;
	*is_written = stream_get_written(session->stream) >= n_own;
	return false;
}

static unsigned
get_wait_ms(const struct smtp_times *times, const struct dialogue *dialogue)
{
	if (dialogue->awaited == SMTP_STAGE_DOT && !dialogue->is_refused)
		return times->dot_ms;
	return dialogue->awaited == SMTP_STAGE_DATA ? times->data_ms
	                                            : times->command_ms;
}

/*
 * Write what may be written, read what is awaited, until it is over.  Where writing
 * fails, the host may have said why before it hung up.
 */
static void
talk(struct smtp *smtp)
{
	struct dialogue *dialogue = &smtp->now.dialogue;
	const struct smtp_times *times = &smtp->session.options->times;

	while (!dialogue->is_over) {
		g_autoptr(GError) error = NULL;
		const struct reply *reply;
		bool is_written;
		bool is_whole = write_group(smtp, &is_written, &error);

		reply = session_read_reply(&smtp->session,
		    is_whole ? get_wait_ms(times, dialogue) : 0,
		    is_whole ? &error : NULL);
		if (reply && (is_written || reply->code >= 400))
			dialogue_take_reply(dialogue, reply);
		else
			dialogue_break(dialogue, is_written, error->message);
		dialogue->is_last |= !is_whole;
	}
}

/* ---- The connection ---------------------------------------------------------- */

/* The host has gone away from a kept connection, and has taken nothing. */
static bool
is_stale(const struct transaction *transaction)
{
	const struct delivery *result = transaction->dialogue.result;

	return transaction->was_kept && transaction->dialogue.is_last &&
	       result->stage == SMTP_STAGE_MAIL &&
	       (result->code == 0 || result->code == 421);
}

/* See that there is a connection which has begun with the message. */
static bool
begin(struct smtp *smtp)
{
	struct session *session = &smtp->session;
	bool was_kept;

	if (smtp->now.is_begun)
		return true;
	if (session->stream && session_is_spent(session))
		session_close(session);
	was_kept = session->stream != NULL;
	if (!was_kept && !session_open(session, smtp->now.dialogue.result))
		return false;
	start(smtp, &smtp->now, was_kept);
	return true;
}

static void
deliver(struct smtp *smtp)
{
	struct transaction *now = &smtp->now;

	if (!now->dialogue.is_over) {
		if (!begin(smtp)) {
			finish(smtp);
			return;
		}
		talk(smtp);
		if (now->dialogue.given >= SMTP_STAGE_MAIL)
			smtp->session.needs_reset =
			    now->dialogue.result->outcome != DELIVERY_SENT;
		if (now->dialogue.is_last) {
			bool is_again = is_stale(now);

			drop(smtp);
			if (is_again) {
				now->dialogue.is_over = false;
				return;
			}
		}
	}
	finish(smtp);
}

static void
smtp_run(struct transport *transport, const struct transport_feed *feed)
{
	struct smtp *smtp = (struct smtp *)transport;

	smtp->feed = feed;
	smtp->session.stop_fd = transport->stop_fd;
	while (smtp->now.parcel || take_next(smtp, &smtp->now))
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
	static const struct transport_class class = {
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
