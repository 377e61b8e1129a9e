/*
 * imap_session.c - connecting to an IMAP server, and selecting the folder.
 */
#include "receive/imap_session.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "receive/imap_private.h"

/* Printable ASCII of what the server said, not too long. @return a new string */
static char *
format_answer(const struct imap_session *session)
{
	const char *answer = session->etpan->imap_response;
	char *text = g_strndup(answer ? answer : "", BOUNDS_REPLY_TEXT_BYTES);

	for (char *p = text; *p; p++)
		if (!g_ascii_isprint(*p))
			*p = '?';
	return text;
}

bool
imap_session_check(
    struct imap_session *session, int result, const char *what, GError **error)
{
	const GError *problem = imap_wire_get_problem(session->wire);
	g_autofree char *answer = NULL;

	if (result <= MAILIMAP_NO_ERROR_NON_AUTHENTICATED && !problem)
		return true;
	imap_wire_close(session->wire);
	if (problem) {
		g_propagate_error(error, g_error_copy(problem));
		return false;
	}
	if (result == MAILIMAP_ERROR_PARSE) {
		g_set_error(error, PB_ERROR, PB_ERROR_TEMPORARY,
		    "cannot %s: the IMAP server's answer cannot be read", what);
		return false;
	}
	answer = format_answer(session);
	g_set_error(error, PB_ERROR, PB_ERROR_TEMPORARY, "cannot %s: %s", what,
	    *answer ? answer : "the IMAP server refused");
	return false;
}

bool
imap_wait(const struct receiver_sink *sink, int stop_fd, int64_t wait_ms)
{
	struct pollfd item = {.fd = stop_fd, .events = POLLIN};
	int64_t end = g_get_monotonic_time() + wait_ms * 1000;

	for (;;) {
		int64_t left_us = end - g_get_monotonic_time();
		int n = poll(
		    &item, 1, receiver_pause(sink, MAX((left_us + 999) / 1000, 0)));

		receiver_wake(sink);
		if (n > 0)
			return false;
		if (left_us <= 0)
			return true;
	}
}

static bool
ask_capabilities(struct imap_session *session, GError **error)
{
	struct mailimap_capability_data *data = NULL;
	int result;

	/* libcurl may have lost what followed the login: this is the first command,
	 * and what is offered to those who are logged in may differ. */
	imap_wire_begin(session->wire, session->options->times.command_ms, false);
	result = mailimap_capability(session->etpan, &data);
	if (!imap_session_check(session, result, "ask what the server can do", error))
		return false;
	if (data)
		mailimap_capability_data_free(data);
	session->has_idle = mailimap_has_extension(session->etpan, (char *)"IDLE");
	session->has_move = mailimap_has_extension(session->etpan, (char *)"MOVE");
	session->has_uidplus =
	    mailimap_has_extension(session->etpan, (char *)"UIDPLUS");
	return true;
}

/* Whether the folder keeps our keyword; a server that tells nothing keeps all. */
static bool
keeps_keyword(const struct mailimap_selection_info *info)
{
	if (info->sel_perm == MAILIMAP_MAILBOX_READONLY)
		return false;
	if (!info->sel_perm_flags)
		return true;
	for (clistiter *i = clist_begin(info->sel_perm_flags); i; i = clist_next(i)) {
		const struct mailimap_flag_perm *perm = clist_content(i);
		const struct mailimap_flag *flag = perm->fl_flag;

		if (perm->fl_type == MAILIMAP_FLAG_PERM_ALL)
			return true;
		if (flag && flag->fl_type == MAILIMAP_FLAG_KEYWORD &&
		    g_ascii_strcasecmp(flag->fl_data.fl_keyword, IMAP_KEYWORD) == 0)
			return true;
	}
	return false;
}

bool
imap_session_select(struct imap_session *session, GError **error)
{
	const struct imap_options *options = session->options;
	int result;
	g_autofree char *what =
	    g_strdup_printf("open the folder '%s'", options->folder);

	imap_wire_begin(session->wire, options->times.command_ms, false);
	result = mailimap_select(session->etpan, options->folder);
	if (!imap_session_check(session, result, what, error)) {
		if (result == MAILIMAP_ERROR_SELECT && error && *error)
			(*error)->code = PB_ERROR_NOT_FOUND;
		return false;
	}
	if (!session->etpan->imap_selection_info) {
		g_set_error(error, PB_ERROR, PB_ERROR_TEMPORARY,
		    "cannot %s: the server tells nothing of it", what);
		return false;
	}
	session->selected_at = g_get_monotonic_time();
	if (options->move_to)
		session->receiver = IMAP_DISPOSITION_MOVE;
	else if (keeps_keyword(session->etpan->imap_selection_info))
		session->receiver = IMAP_DISPOSITION_KEYWORD;
	else
		session->receiver = IMAP_DISPOSITION_CURSOR;
	return true;
}

static struct stream *
open_stream(const struct imap_options *options, const int *stop_fd, bool *is_refused,
    GError **error)
{
	const struct stream_options wanted = {.protocol = STREAM_PROTOCOL_IMAP,
	    .tls = options->tls,
	    .host = options->host,
	    .port = options->port,
	    .ca_file = options->ca_file,
	    .user = options->user,
	    .password = options->password,
	    .stop_fd = stop_fd,
	    .connect_ms = options->times.connect_ms,
	    .open_ms = options->times.open_ms};
	struct stream_error failure = {0};
	struct stream *stream = stream_open(&wanted, &failure, error);

	if (!stream)
		*is_refused = failure.fault == STREAM_ERROR_LOGIN;
	stream_error_clear(&failure);
	return stream;
}

struct imap_session *
imap_session_open(const struct imap_options *options, const struct receiver_sink *sink,
    int stop_fd, bool *is_refused, GError **error)
{
	pb_auto(imap_session) session = NULL;
	struct stream *stream;
	mailstream_low *low;
	int result;

	*is_refused = false;
	stream = open_stream(options, &stop_fd, is_refused, error);
	if (!stream)
		return NULL;
	session = g_new0(struct imap_session, 1);
	session->options = options;
	session->sink = sink;
	session->stop_fd = stop_fd;
	session->wire = imap_wire_new(stream);
	session->etpan = mailimap_new(0, NULL);
	g_assert(session->etpan);
	low = imap_wire_new_plain(session->wire);
	imap_wire_begin(session->wire, options->times.command_ms, false);
	result = mailimap_connect(session->etpan, mailstream_new(low, 4096));
	if (!imap_session_check(session, result, "begin", error) ||
	    !ask_capabilities(session, error) || !imap_session_select(session, error))
		return NULL;
	return g_steal_pointer(&session);
}

void
imap_session_free(struct imap_session *session)
{
	if (!session)
		return;
	/* libetpan says LOGOUT and waits for the answer: not for long. */
	imap_wire_begin(session->wire, 2000, false);
	mailimap_free(session->etpan);
	imap_wire_free(session->wire);
	g_free(session);
}

enum imap_disposition
imap_session_get_disposition(const struct imap_session *session)
{
	return session->receiver;
}

uint32_t
imap_session_get_uidvalidity(const struct imap_session *session)
{
	return session->etpan->imap_selection_info->sel_uidvalidity;
}

void
imap_session_disable_keywords(struct imap_session *session)
{
	if (session->receiver == IMAP_DISPOSITION_KEYWORD)
		session->receiver = IMAP_DISPOSITION_CURSOR;
}
