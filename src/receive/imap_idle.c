/*
 * imap_idle.c - waiting for news on an IMAP connection (RFC 2177).
 *
 * Not by libetpan: when a server tells of news before its "+", libetpan's IDLE waits
 * for that "+" in vain and the news is lost.
 */
#include "base/error.h"
#include "receive/imap_private.h"
#include "receive/imap_session.h"

/* Read until the kind of line comes, or news when that ends it.  What the lines tell
 * is counted by the wire. */
static bool
read_until(struct imap_session *session, enum imap_line_kind kind, int64_t deadline,
    enum imap_line_kind *found, GError **error)
{
	struct imap_line line = {.kind = IMAP_LINE_OTHER};
	bool is_time_up;

	do {
		if (!imap_wire_read_line(
		        session->wire, deadline, &line, &is_time_up, error))
			return false;
	} while (line.kind != kind && line.kind != IMAP_LINE_RESULT);
	*found = line.kind;
	return true;
}

/* In IDLE: until there is news, or time is up. */
static bool
rest(struct imap_session *session, bool *has_news, GError **error)
{
	int64_t end = g_get_monotonic_time() +
	              (int64_t)session->options->times.idle_s * G_USEC_PER_SEC;
	struct imap_line line;
	bool is_time_up = false;

	*has_news = imap_wire_take_untagged(session->wire);
	while (!*has_news) {
		g_autoptr(GError) problem = NULL;
		int64_t left_ms = MAX((end - g_get_monotonic_time()) / 1000, 0);
		int64_t until = g_get_monotonic_time() +
		                receiver_pause(session->sink, left_ms) * INT64_C(1000);
		bool is_ok = imap_wire_read_line(
		    session->wire, until, &line, &is_time_up, &problem);

		receiver_wake(session->sink);
		if (!is_ok && is_time_up && left_ms > 0)
			continue;
		if (!is_ok) {
			if (is_time_up)
				return true;
			return pb_error_forward(error, &problem);
		}
		if (line.kind == IMAP_LINE_RESULT) {
			g_set_error_literal(error, PB_ERROR, PB_ERROR_TEMPORARY,
			    "the IMAP server has ended IDLE");
			return false;
		}
		/* A message that was skipped may be gone. */
		*has_news = imap_wire_take_untagged(session->wire) ||
		            line.kind == IMAP_LINE_EXPUNGED;
	}
	return true;
}

static bool
idle(struct imap_session *session, GError **error)
{
	const struct imap_times *times = &session->options->times;
	unsigned all_ms = times->idle_s * 1000 + 3 * times->command_ms;
	g_autofree char *command =
	    g_strdup_printf("idle%u IDLE\r\n", ++session->n_idles);
	enum imap_line_kind found;
	bool has_news = false;
	int64_t wait_us = (int64_t)times->command_ms * 1000;

	imap_wire_begin(session->wire, all_ms, false);
	if (!imap_wire_write(session->wire, command, error) ||
	    !read_until(session, IMAP_LINE_GO_ON, g_get_monotonic_time() + wait_us,
	        &found, error))
		return false;
	if (found == IMAP_LINE_RESULT) {
		/* It is not to be had, whatever was said of it. */
		session->has_idle = false;
		return true;
	}
	return rest(session, &has_news, error) &&
	       imap_wire_write(session->wire, "DONE\r\n", error) &&
	       read_until(session, IMAP_LINE_RESULT, g_get_monotonic_time() + wait_us,
	           &found, error);
}

static bool
wait_for_news(struct imap_session *session, GError **error)
{
	if (imap_wire_take_untagged(session->wire))
		return true;
	if (session->has_idle)
		return idle(session, error);
	if (!imap_wait(session->sink, session->stop_fd,
	        (int64_t)session->options->times.poll_s * 1000)) {
		g_set_error_literal(
		    error, PB_ERROR, PB_ERROR_TEMPORARY, "told to stop");
		return false;
	}
	imap_wire_begin(session->wire, session->options->times.command_ms, false);
	return imap_session_check(
	    session, mailimap_noop(session->etpan), "look for news", error);
}

bool
imap_session_wait(struct imap_session *session, GError **error)
{
	int64_t stale_us = (int64_t)session->options->times.idle_s * G_USEC_PER_SEC;

	if (!wait_for_news(session, error))
		return false;
	/* A folder that was removed and made anew behind us goes on as it was, empty,
	 * for those who have it selected (Dovecot). */
	return g_get_monotonic_time() - session->selected_at < stale_us ||
	       imap_session_select(session, error);
}
