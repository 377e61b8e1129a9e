/*
 * imap_session.c - IMAP session: connect, search, fetch, mark, IDLE.
 */
#include "receive/imap_session.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include <libetpan/mailimap.h>

#include "base/bounds.h"
#include "base/error.h"
#include "receive/imap_wire.h"

/* Messages per SEARCH: keeps its response at a few KiB. */
#define PAGE_MESSAGES 1000

struct imap_session {
	const struct imap_options *options; /* borrowed */
	struct imap_wire *wire;
	mailimap *etpan;
	const struct receiver_sink *sink; /* borrowed */
	int stop_fd;
	int64_t selected_at; /* g_get_monotonic_time() */
	unsigned n_idles;    /* for the tags */
	enum imap_disposition disposition;
	bool has_idle, has_move, has_uidplus;
};

/* ---- Connect and select ---- */

/* @return the server's response in printable ASCII, truncated; a new string */
static char *
format_response(const struct imap_session *session)
{
	const char *answer = session->etpan->imap_response;
	char *text = g_strndup(answer ? answer : "", BOUNDS_REPLY_TEXT_BYTES);

	for (char *p = text; *p; p++)
		if (!g_ascii_isprint(*p))
			*p = '?';
	return text;
}

/*
 * Turn libetpan's result of a command into an error.
 *
 * @param result  of libetpan: three codes mean success
 * @param what    "search in the folder"
 * @return whether the command succeeded
 */
static bool
check(struct imap_session *session, int result, const char *what, GError **error)
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
	if (result == MAILIMAP_ERROR_PARSE)
		return pb_fail(error, PB_ERROR_TEMPORARY,
		    "cannot %s: invalid response of the IMAP server", what);
	answer = format_response(session);
	return pb_fail(error, PB_ERROR_TEMPORARY, "cannot %s: %s", what,
	    *answer ? answer : "refused by the IMAP server");
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
read_capabilities(struct imap_session *session, GError **error)
{
	struct mailimap_capability_data *data = NULL;
	int result;

	/*
	 * libcurl drops data behind the login response, and capabilities may differ
	 * after the login: request them with the first command.
	 */
	imap_wire_begin(session->wire, session->options->times.command_ms, false);
	result = mailimap_capability(session->etpan, &data);
	if (!check(session, result, "read the server's capabilities", error))
		return false;
	if (data)
		mailimap_capability_data_free(data);
	session->has_idle = mailimap_has_extension(session->etpan, (char *)"IDLE");
	session->has_move = mailimap_has_extension(session->etpan, (char *)"MOVE");
	session->has_uidplus =
	    mailimap_has_extension(session->etpan, (char *)"UIDPLUS");
	return true;
}

/* Whether the folder stores our keyword; without PERMANENTFLAGS all (RFC 3501 section
 * 7.1). */
static bool
stores_keyword(const struct mailimap_selection_info *info)
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

static bool
select_folder(struct imap_session *session, GError **error)
{
	const struct imap_options *options = session->options;
	int result;
	g_autofree char *what =
	    g_strdup_printf("open the folder '%s'", options->folder);

	imap_wire_begin(session->wire, options->times.command_ms, false);
	result = mailimap_select(session->etpan, options->folder);
	if (!check(session, result, what, error)) {
		if (result == MAILIMAP_ERROR_SELECT && error && *error)
			(*error)->code = PB_ERROR_NOT_FOUND;
		return false;
	}
	if (!session->etpan->imap_selection_info)
		return pb_fail(error, PB_ERROR_TEMPORARY,
		    "cannot %s: the server sent no data about it", what);
	session->selected_at = g_get_monotonic_time();
	if (options->move_to)
		session->disposition = IMAP_DISPOSITION_MOVE;
	else if (stores_keyword(session->etpan->imap_selection_info))
		session->disposition = IMAP_DISPOSITION_KEYWORD;
	else
		session->disposition = IMAP_DISPOSITION_CURSOR;
	return true;
}

static struct stream *
open_stream(const struct imap_options *options, const int *stop_fd, bool *is_refused,
    GError **error)
{
	const struct stream_options stream_options = {.protocol = STREAM_PROTOCOL_IMAP,
	    .tls = options->tls,
	    .host = options->host,
	    .port = options->port,
	    .ca_file = options->ca_file,
	    .user = options->user,
	    .password = options->password,
	    .tokens = options->tokens,
	    .stop_fd = stop_fd,
	    .connect_ms = options->times.connect_ms,
	    .open_ms = options->times.open_ms};
	pb_local(stream_error) failure = {0};
	struct stream *stream = stream_open(&stream_options, &failure, error);

	if (!stream)
		*is_refused = failure.kind == STREAM_ERROR_LOGIN;
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
	if (!check(session, result, "start the IMAP session", error) ||
	    !read_capabilities(session, error) || !select_folder(session, error))
		return NULL;
	return g_steal_pointer(&session);
}

void
imap_session_free(struct imap_session *session)
{
	if (!session)
		return;
	/* libetpan sends LOGOUT and waits for the response: not for long. */
	imap_wire_begin(session->wire, 2000, false);
	mailimap_free(session->etpan);
	imap_wire_free(session->wire);
	g_free(session);
}

enum imap_disposition
imap_session_get_disposition(const struct imap_session *session)
{
	return session->disposition;
}

uint32_t
imap_session_get_uidvalidity(const struct imap_session *session)
{
	return session->etpan->imap_selection_info->sel_uidvalidity;
}

int64_t
imap_session_get_selected_at(const struct imap_session *session)
{
	return session->selected_at;
}

void
imap_session_disable_keywords(struct imap_session *session)
{
	if (session->disposition == IMAP_DISPOSITION_KEYWORD)
		session->disposition = IMAP_DISPOSITION_CURSOR;
}

/* ---- Search, fetch and mark ---- */

/* libetpan frees its strings with free(). */
static char *
copy_keyword(void)
{
	char *copy = strdup(IMAP_KEYWORD);

	g_assert(copy);
	return copy;
}

static struct mailimap_search_key *
new_plain_key(int type)
{
	return mailimap_search_key_new(type, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
	    NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL,
	    NULL, 0, NULL, NULL, NULL);
}

/* Key for unprocessed messages: sequence numbers first to last, UID > after_uid. */
static struct mailimap_search_key *
new_key(const struct imap_session *session, uint32_t first, uint32_t last,
    uint32_t after_uid)
{
	struct mailimap_search_key *all = mailimap_search_key_new_multiple_empty();

	mailimap_search_key_multiple_add(
	    all, mailimap_search_key_new_set(mailimap_set_new_interval(first, last)));
	if (after_uid > 0)
		mailimap_search_key_multiple_add(
		    all, mailimap_search_key_new_uid(
		             mailimap_set_new_interval(after_uid + 1, 0)));
	switch (session->disposition) {
	case IMAP_DISPOSITION_KEYWORD:
		mailimap_search_key_multiple_add(
		    all, mailimap_search_key_new_unkeyword(copy_keyword()));
		break;
	case IMAP_DISPOSITION_MOVE:
		/* Without MOVE the originals stay, flagged \Deleted. */
		mailimap_search_key_multiple_add(
		    all, new_plain_key(MAILIMAP_SEARCH_KEY_UNDELETED));
		break;
	case IMAP_DISPOSITION_CURSOR:
		break;
	}
	return all;
}

/* @return false if the limit is reached */
static bool
add_found(GArray *uids, clist *found, uint32_t after_uid, GHashTable *skipped)
{
	for (clistiter *i = found ? clist_begin(found) : NULL; i; i = clist_next(i)) {
		uint32_t uid = *(const uint32_t *)clist_content(i);

		/* "UID n:*" matches the last message even if its UID is less than n. */
		if (uid == 0 || uid <= after_uid ||
		    g_hash_table_contains(skipped, GUINT_TO_POINTER(uid)))
			continue;
		if (uids->len >= BOUNDS_IMAP_WAITING)
			return false;
		g_array_append_val(uids, uid);
	}
	return true;
}

static int
compare_uids(gconstpointer a, gconstpointer b)
{
	uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;

	return (one > other) - (one < other);
}

static void
sort_uids(GArray *uids)
{
	guint stored = 0;

	g_array_sort(uids, compare_uids);
	for (guint i = 0; i < uids->len; i++) {
		uint32_t uid = g_array_index(uids, uint32_t, i);

		if (stored == 0 || g_array_index(uids, uint32_t, stored - 1) != uid)
			g_array_index(uids, uint32_t, stored++) = uid;
	}
	g_array_set_size(uids, stored);
}

static void
add_skipped(GArray *uids, GHashTable *skipped)
{
	GHashTableIter iter;
	gpointer key;

	g_hash_table_iter_init(&iter, skipped);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		uint32_t uid = GPOINTER_TO_UINT(key);

		g_array_append_val(uids, uid);
	}
}

GArray *
imap_session_search(struct imap_session *session, uint32_t after_uid,
    GHashTable *skipped, bool *is_whole, GError **error)
{
	g_autoptr(GArray) uids = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	bool has_room = after_uid < UINT32_MAX;
	uint32_t first = 1, exists;

	imap_wire_take_untagged(session->wire);
	while (has_room && first <= (exists = imap_wire_get_exists(session->wire))) {
		uint32_t last = MIN(exists, first + PAGE_MESSAGES - 1);
		struct mailimap_search_key *key =
		    new_key(session, first, last, after_uid);
		clist *found = NULL;
		int result;

		imap_wire_begin(
		    session->wire, session->options->times.command_ms, false);
		result = mailimap_uid_search(session->etpan, NULL, key, &found);
		mailimap_search_key_free(key);
		if (result == MAILIMAP_NO_ERROR)
			has_room = add_found(uids, found, after_uid, skipped);
		if (found)
			mailimap_search_result_free(found);
		if (!check(session, result, "search for messages", error))
			return NULL;
		if (last == UINT32_MAX)
			break;
		first = last + 1;
	}
	add_skipped(uids, skipped);
	sort_uids(uids);
	*is_whole = has_room;
	return g_steal_pointer(&uids);
}

static struct mailimap_set *
new_set(const uint32_t *uids, size_t count)
{
	struct mailimap_set *set = mailimap_set_new_empty();

	for (size_t i = 0; i < count; i++)
		mailimap_set_add_single(set, uids[i]);
	return set;
}

/* One FETCH response. */
struct fetched {
	uint32_t uid, size; /* 0 and UINT32_MAX: not fetched */
	const struct mailimap_msg_att_body_section *body; /* or NULL */
};

static struct fetched
read_fetched(const struct mailimap_msg_att *answer)
{
	struct fetched fetched = {.size = UINT32_MAX};

	for (clistiter *i = clist_begin(answer->att_list); i; i = clist_next(i)) {
		const struct mailimap_msg_att_item *item = clist_content(i);
		const struct mailimap_msg_att_static *attribute =
		    item->att_data.att_static;

		if (item->att_type != MAILIMAP_MSG_ATT_ITEM_STATIC)
			continue;
		if (attribute->att_type == MAILIMAP_MSG_ATT_UID)
			fetched.uid = attribute->att_data.att_uid;
		else if (attribute->att_type == MAILIMAP_MSG_ATT_RFC822_SIZE)
			fetched.size = attribute->att_data.att_rfc822_size;
		else if (attribute->att_type == MAILIMAP_MSG_ATT_BODY_SECTION)
			fetched.body = attribute->att_data.att_body_section;
	}
	return fetched;
}

/* @param type, set  freed @return list of responses, or NULL */
static clist *
fetch(struct imap_session *session, struct mailimap_set *set,
    struct mailimap_fetch_type *type, GError **error)
{
	clist *responses = NULL;
	int result = mailimap_uid_fetch(session->etpan, set, type, &responses);

	mailimap_fetch_type_free(type);
	mailimap_set_free(set);
	if (check(session, result, "fetch a message", error))
		return responses ? responses : clist_new();
	if (result == MAILIMAP_NO_ERROR && responses)
		mailimap_fetch_list_free(responses);
	return NULL;
}

bool
imap_session_fetch_sizes(struct imap_session *session, const uint32_t *uids,
    size_t count, uint32_t *sizes, GError **error)
{
	struct mailimap_fetch_type *type =
	    mailimap_fetch_type_new_fetch_att_list_empty();
	clist *responses;

	mailimap_fetch_type_new_fetch_att_list_add(type, mailimap_fetch_att_new_uid());
	mailimap_fetch_type_new_fetch_att_list_add(
	    type, mailimap_fetch_att_new_rfc822_size());
	imap_wire_begin(session->wire, session->options->times.command_ms, false);
	responses = fetch(session, new_set(uids, count), type, error);
	if (!responses)
		return false;
	for (size_t i = 0; i < count; i++)
		sizes[i] = UINT32_MAX;
	for (clistiter *i = clist_begin(responses); i; i = clist_next(i)) {
		struct fetched fetched = read_fetched(clist_content(i));

		for (size_t k = 0; k < count; k++)
			if (uids[k] == fetched.uid)
				sizes[k] = fetched.size;
	}
	mailimap_fetch_list_free(responses);
	return true;
}

bool
imap_session_fetch(struct imap_session *session, uint32_t uid, uint32_t max_bytes,
    GBytes **raw, GError **error)
{
	struct mailimap_fetch_type *type =
	    mailimap_fetch_type_new_fetch_att_list_empty();
	GBytes *mail = NULL;
	clist *responses;

	mailimap_fetch_type_new_fetch_att_list_add(
	    type, mailimap_fetch_att_new_body_peek_section_partial(
	              mailimap_section_new(NULL), 0, max_bytes));
	imap_wire_begin(session->wire, session->options->times.mail_ms, true);
	responses = fetch(session, new_set(&uid, 1), type, error);
	if (!responses)
		return false;
	for (clistiter *i = clist_begin(responses); i && !mail; i = clist_next(i)) {
		struct fetched fetched = read_fetched(clist_content(i));

		if (fetched.body && fetched.body->sec_body_part && fetched.uid == uid)
			mail = g_bytes_new(
			    fetched.body->sec_body_part, fetched.body->sec_length);
	}
	mailimap_fetch_list_free(responses);
	*raw = mail;
	return true;
}

/* @param is_done  set our keyword @param is_deleted  set \Deleted */
static bool
store_flags(struct imap_session *session, struct mailimap_set *set, bool is_done,
    bool is_deleted, GError **error)
{
	struct mailimap_flag_list *flags = mailimap_flag_list_new_empty();
	struct mailimap_store_att_flags *change;
	int result;

	if (is_done)
		mailimap_flag_list_add(
		    flags, mailimap_flag_new_flag_keyword(copy_keyword()));
	if (is_deleted)
		mailimap_flag_list_add(flags, mailimap_flag_new_deleted());
	change = mailimap_store_att_flags_new_add_flags_silent(flags);
	imap_wire_begin(session->wire, session->options->times.command_ms, false);
	result = mailimap_uid_store(session->etpan, set, change);
	mailimap_store_att_flags_free(change);
	return check(session, result, "mark messages as processed", error);
}

/*
 * UID EXPUNGE (RFC 4315): plain EXPUNGE would remove what other clients have deleted.
 */
static bool
expunge(struct imap_session *session, struct mailimap_set *set, GError **error)
{
	if (!session->options->expunge || !session->has_uidplus)
		return true;
	imap_wire_begin(session->wire, session->options->times.command_ms, false);
	return check(session, mailimap_uid_expunge(session->etpan, set),
	    "expunge processed messages", error);
}

/* With MOVE (RFC 6851), or with COPY, after which the original is flagged \Deleted. */
static int
move_once(struct imap_session *session, struct mailimap_set *set)
{
	const char *folder = session->options->move_to;

	imap_wire_begin(session->wire, session->options->times.command_ms, false);
	return session->has_move ? mailimap_uid_move(session->etpan, set, folder)
	                         : mailimap_uid_copy(session->etpan, set, folder);
}

static bool
move_messages(struct imap_session *session, struct mailimap_set *set, GError **error)
{
	g_autofree char *what =
	    g_strdup_printf("move messages to '%s'", session->options->move_to);
	int result = move_once(session, set);

	if (result == MAILIMAP_ERROR_UID_MOVE || result == MAILIMAP_ERROR_UID_COPY) {
		/* The folder may not exist yet. */
		imap_wire_begin(
		    session->wire, session->options->times.command_ms, false);
		if (mailimap_create(session->etpan, session->options->move_to) ==
		    MAILIMAP_NO_ERROR)
			result = move_once(session, set);
	}
	return check(session, result, what, error) &&
	       (session->has_move || (store_flags(session, set, false, true, error) &&
	                                 expunge(session, set, error)));
}

bool
imap_session_mark(
    struct imap_session *session, const uint32_t *uids, size_t count, GError **error)
{
	bool is_expunged = session->options->expunge;
	struct mailimap_set *set;
	bool is_ok = true;

	if (count == 0)
		return true;
	set = new_set(uids, count);
	imap_wire_set_removing(session->wire, true);
	switch (session->disposition) {
	case IMAP_DISPOSITION_KEYWORD:
		is_ok = store_flags(session, set, true, is_expunged, error) &&
		        (!is_expunged || expunge(session, set, error));
		break;
	case IMAP_DISPOSITION_MOVE:
		is_ok = move_messages(session, set, error);
		break;
	case IMAP_DISPOSITION_CURSOR:
		is_ok =
		    !is_expunged || (store_flags(session, set, false, true, error) &&
		                        expunge(session, set, error));
		break;
	}
	imap_wire_set_removing(session->wire, false);
	mailimap_set_free(set);
	return is_ok;
}

/* ---- Wait for changes ---- */

/* Read until a line of this kind, or the tagged result. The wire counts messages. */
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

/* Wait within IDLE for changes or the timeout. */
static bool
wait_in_idle(struct imap_session *session, bool *has_changes, GError **error)
{
	int64_t end = g_get_monotonic_time() +
	              (int64_t)session->options->times.idle_s * G_USEC_PER_SEC;
	struct imap_line line;
	bool is_time_up = false;

	*has_changes = imap_wire_take_untagged(session->wire);
	while (!*has_changes) {
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
		if (line.kind == IMAP_LINE_RESULT)
			return pb_fail(
			    error, PB_ERROR_TEMPORARY, "the IMAP server ended IDLE");
		/* Or removed: a skipped one may be gone. */
		*has_changes = imap_wire_take_untagged(session->wire);
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
	bool has_changes = false;
	int64_t wait_us = (int64_t)times->command_ms * 1000;

	imap_wire_begin(session->wire, all_ms, false);
	if (!imap_wire_write(session->wire, command, error) ||
	    !read_until(session, IMAP_LINE_CONTINUE, g_get_monotonic_time() + wait_us,
	        &found, error))
		return false;
	if (found == IMAP_LINE_RESULT) {
		/* Refused although it was announced. */
		session->has_idle = false;
		return true;
	}
	return wait_in_idle(session, &has_changes, error) &&
	       imap_wire_write(session->wire, "DONE\r\n", error) &&
	       read_until(session, IMAP_LINE_RESULT, g_get_monotonic_time() + wait_us,
	           &found, error);
}

static bool
wait_for_changes(struct imap_session *session, GError **error)
{
	if (imap_wire_take_untagged(session->wire))
		return true;
	if (session->has_idle)
		return idle(session, error);
	if (!imap_wait(session->sink, session->stop_fd,
	        (int64_t)session->options->times.poll_s * 1000))
		return pb_fail(error, PB_ERROR_TEMPORARY, "interrupted by shutdown");
	imap_wire_begin(session->wire, session->options->times.command_ms, false);
	return check(
	    session, mailimap_noop(session->etpan), "poll for new messages", error);
}

bool
imap_session_wait(struct imap_session *session, GError **error)
{
	int64_t stale_us = (int64_t)session->options->times.idle_s * G_USEC_PER_SEC;

	if (!wait_for_changes(session, error))
		return false;
	/* Dovecot: a folder that was deleted and created again stays empty for sessions
	 * that have it selected. */
	return g_get_monotonic_time() - session->selected_at < stale_us ||
	       select_folder(session, error);
}
