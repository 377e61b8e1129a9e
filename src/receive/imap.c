/*
 * imap.c - IMAP receiver: connect, poll the folder, wait for changes, reconnect.
 */
#include "receive/imap.h"

#include <libetpan/mailimap.h>
#include <poll.h>
#include <string.h>

#include "base/bounds.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "receive/imap_wire.h"

/* ---- a session: one connection, logged in, a folder selected ---- */

/*
 * After a failed call the session can only be freed: late responses would be taken for
 * those of later commands.
 */

/* How processed messages are told from new ones. */
enum imap_disposition {
	IMAP_DISPOSITION_KEYWORD, /* they get a keyword */
	IMAP_DISPOSITION_MOVE,    /* they are moved to another folder */
	IMAP_DISPOSITION_CURSOR,  /* their UID is saved, nothing on the server */
};

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

/* Wait for a time or for stop_fd. @return true after the whole time */
static bool
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

static void
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

PB_DEFINE_AUTO(imap_session, imap_session_free);

/*
 * Connect, log in and select the folder.
 *
 * @param sink        its pause and wake are called, in later calls too; borrowed
 * @param stop_fd     ends every wait, in later calls too
 * @param is_refused  set on failure: whether the login was refused
 * @return NULL with the codes of stream_open(), or PB_ERROR_TEMPORARY, or
 *         PB_ERROR_NOT_FOUND if the folder does not exist
 */
static struct imap_session *
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

static uint32_t
get_uidvalidity(const struct imap_session *session)
{
	return session->etpan->imap_selection_info->sel_uidvalidity;
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

/*
 * Find unprocessed messages, in order of UID.
 *
 * @param after_uid  only UIDs greater than this; 0: all
 * @param skipped    UIDs that are added in any case, and not counted
 * @param is_whole   set: false if there are more than BOUNDS_IMAP_WAITING
 * @return array of uint32_t, or NULL with PB_ERROR_TEMPORARY
 */
static GArray *
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

/*
 * Fetch RFC822.SIZE of messages.
 *
 * @param sizes  one per UID, bytes; UINT32_MAX if not reported
 */
static bool
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

/*
 * Fetch a message or its beginning, without setting \Seen.
 *
 * @param max_bytes  at most BOUNDS_MAIL_BYTES + 1
 * @param raw        set on success: at most max_bytes; NULL if the message is gone
 */
static bool
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

/* Mark messages as processed; IMAP_DISPOSITION_CURSOR only expunges. */
static bool
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

/*
 * Wait for new messages, at most for one IDLE or poll interval.
 *
 * @return false with PB_ERROR_TEMPORARY: the connection failed, or stop_fd is readable
 */
static bool
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

/* ---- one IMAP poll cycle ---- */

struct imap_poll {
	const struct imap_options *options; /* borrowed */
	struct imap_cursor cursor;          /* as last loaded or saved */
	uint32_t uidvalidity;               /* of the UIDs below; 0: none */
	int64_t selected_at;                /* time of the SELECT that returned it */
	GHashTable *stored;  /* stored UIDs; value: whether marked, too */
	GHashTable *broken;  /* UID: number of connections that broke on it */
	GHashTable *skipped; /* UIDs recorded by the sink as skipped */
	uint32_t fetching;   /* UID being fetched, or 0 */
	uint64_t n_taken;    /* messages stored; the caller resets it */
	bool keywords_lost;  /* the server accepts keywords but does not store them */
};

enum imap_poll_result {
	IMAP_POLL_EMPTY,     /* nothing to do, or all of it was skipped */
	IMAP_POLL_DONE,      /* messages were stored, none is left */
	IMAP_POLL_MORE,      /* more messages than one cycle handles */
	IMAP_POLL_POSTPONED, /* the sink cannot accept messages now */
};

/* Messages marked by one command. After a crash at most these are received again. */
#define GROUP_MESSAGES 25

/* Outcome for one message. */
enum outcome {
	OUTCOME_STORED,    /* mark it on the server */
	OUTCOME_GONE,      /* removed by another client */
	OUTCOME_SKIPPED,   /* left unchanged, recorded as skipped */
	OUTCOME_POSTPONED, /* the sink cannot accept it now */
	OUTCOME_FAILED,    /* the session failed */
};

static void
imap_poll_init(struct imap_poll *poll, const struct imap_options *options)
{
	poll->options = options;
	poll->stored = g_hash_table_new(NULL, NULL);
	poll->broken = g_hash_table_new(NULL, NULL);
	poll->skipped = g_hash_table_new(NULL, NULL);
}

static void
imap_poll_clear(struct imap_poll *poll)
{
	g_hash_table_unref(poll->stored);
	g_hash_table_unref(poll->broken);
	g_hash_table_unref(poll->skipped);
}

/* Load the cursor; call before the first connection. */
static void
imap_poll_begin(struct imap_poll *poll)
{
	poll->options->cursor_store.load(
	    poll->options->cursor_store.data, &poll->cursor);
}

/* Name of a message for the sink. A UID alone is ambiguous. */
static char *
format_name(const struct imap_poll *poll, uint32_t uid)
{
	return g_strdup_printf("%u.%u", poll->uidvalidity, uid);
}

/* @return the UID; 0 for another UIDVALIDITY */
static uint32_t
parse_name(const struct imap_poll *poll, const char *name)
{
	char *end;
	uint64_t validity = g_ascii_strtoull(name, &end, 10);

	if (validity != poll->uidvalidity || *end != '.')
		return 0;
	return (uint32_t)g_ascii_strtoull(end + 1, NULL, 10);
}

/* Messages of another UIDVALIDITY cannot be identified: they are recorded again. */
static bool
load_skipped(struct imap_poll *poll, const struct receiver_sink *sink, GError **error)
{
	g_autoptr(GPtrArray) names = sink->load_skipped(sink->data, error);

	g_hash_table_remove_all(poll->skipped);
	for (guint i = 0; names && i < names->len; i++) {
		uint32_t uid = parse_name(poll, names->pdata[i]);

		if (uid)
			g_hash_table_add(poll->skipped, GUINT_TO_POINTER(uid));
		else if (!sink->unskip(sink->data, names->pdata[i], error))
			return false;
	}
	return names != NULL;
}

/* UIDs are valid for one UIDVALIDITY; without one, for one SELECT. */
static bool
check_uidvalidity(struct imap_poll *poll, const struct imap_session *session,
    const struct receiver_sink *sink, GError **error)
{
	uint32_t validity = get_uidvalidity(session);

	if (poll->uidvalidity == validity &&
	    (validity != 0 || poll->selected_at == session->selected_at))
		return true;
	poll->uidvalidity = validity;
	poll->selected_at = session->selected_at;
	poll->fetching = 0;
	g_hash_table_remove_all(poll->stored);
	g_hash_table_remove_all(poll->broken);
	if (load_skipped(poll, sink, error))
		return true;
	poll->uidvalidity = 0;
	poll->selected_at = 0;
	return false;
}

static uint32_t
get_cursor_uid(const struct imap_poll *poll)
{
	return poll->cursor.uidvalidity == poll->uidvalidity && poll->uidvalidity != 0
	           ? poll->cursor.uid
	           : 0;
}

/* Count a broken connection as a failure of the message that was being fetched. */
static void
count_broken_fetch(struct imap_poll *poll)
{
	gpointer key = GUINT_TO_POINTER(poll->fetching);
	guint n;

	if (poll->fetching == 0)
		return;
	n = GPOINTER_TO_UINT(g_hash_table_lookup(poll->broken, key)) + 1;
	g_hash_table_insert(poll->broken, key, GUINT_TO_POINTER(n));
	poll->fetching = 0;
}

/* Drop messages that are no longer found, so that the table stays bounded. */
static void
prune_stored(struct imap_poll *poll, const GArray *uids)
{
	g_autoptr(GHashTable) stored = g_hash_table_new(NULL, NULL);

	for (guint i = 0; i < uids->len; i++) {
		gpointer key = GUINT_TO_POINTER(g_array_index(uids, uint32_t, i));
		gpointer value;

		if (g_hash_table_lookup_extended(poll->stored, key, NULL, &value))
			g_hash_table_insert(stored, key, value);
	}
	g_hash_table_unref(poll->stored);
	poll->stored = g_steal_pointer(&stored);
}

/* Whether a marked message is found unmarked: the server did not store the keyword. */
static bool
has_marked_again(const struct imap_poll *poll, const GArray *uids)
{
	for (guint i = 0; i < uids->len; i++)
		if (GPOINTER_TO_INT(g_hash_table_lookup(poll->stored,
		        GUINT_TO_POINTER(g_array_index(uids, uint32_t, i)))))
			return true;
	return false;
}

/* List unprocessed messages by UID, with skipped ones that may be gone by now. */
static GArray *
search(struct imap_poll *poll, struct imap_session *session, bool *is_whole,
    GError **error)
{
	g_autoptr(GArray) uids = NULL;
	bool is_by_cursor;

	/* The server accepts keywords but does not store them. */
	if (poll->keywords_lost && session->disposition == IMAP_DISPOSITION_KEYWORD)
		session->disposition = IMAP_DISPOSITION_CURSOR;
	is_by_cursor = session->disposition == IMAP_DISPOSITION_CURSOR;
	uids = imap_session_search(session, is_by_cursor ? get_cursor_uid(poll) : 0,
	    poll->skipped, is_whole, error);
	if (!uids)
		return NULL;
	if (session->disposition == IMAP_DISPOSITION_KEYWORD &&
	    has_marked_again(poll, uids)) {
		poll->keywords_lost = true;
		g_array_unref(g_steal_pointer(&uids));
		return search(poll, session, is_whole, error);
	}
	if (*is_whole)
		prune_stored(poll, uids);
	return g_steal_pointer(&uids);
}

/* Record a message as skipped. @param head  NULL if unknown */
static enum outcome
skip(struct imap_poll *poll, const struct receiver_sink *sink, uint32_t uid,
    const struct receive_mail *head, const char *reason)
{
	g_autofree char *name = format_name(poll, uid);

	if (!sink->skip(sink->data, name, head, reason, NULL))
		return OUTCOME_POSTPONED;
	g_hash_table_add(poll->skipped, GUINT_TO_POINTER(uid));
	return OUTCOME_SKIPPED;
}

/*
 * @param raw   beginning of the message, with as much of the header as fits
 * @param size  of the whole message, bytes
 */
static enum outcome
skip_large(struct imap_poll *poll, const struct receiver_sink *sink, uint32_t uid,
    GBytes *raw, size_t size)
{
	g_autofree char *reason = g_strdup_printf(
	    "message with UID %u in '%s' has %zu bytes, the limit is %d", uid,
	    poll->options->folder, size, BOUNDS_MAIL_BYTES);
	struct receive_mail head = {.full_size = size};

	head.raw = g_bytes_get_data(raw, &head.size);
	head.size = receiver_measure_header(head.raw, head.size);
	if (head.size > BOUNDS_MAIL_HEADER_BYTES)
		head.size = 0;
	return skip(poll, sink, uid, head.size ? &head : NULL, reason);
}

static enum outcome
deliver(
    struct imap_poll *poll, const struct receiver_sink *sink, uint32_t uid, GBytes *raw)
{
	g_autoptr(GError) refusal = NULL;
	struct receive_mail mail = {0};

	mail.raw = g_bytes_get_data(raw, &mail.size);
	if (!mail.raw)
		mail.raw = "";
	if (sink->take(sink->data, &mail, &refusal)) {
		poll->n_taken++;
		return OUTCOME_STORED;
	}
	if (g_error_matches(refusal, PB_ERROR, PB_ERROR_INPUT) ||
	    g_error_matches(refusal, PB_ERROR, PB_ERROR_LIMIT))
		return skip(poll, sink, uid, NULL, refusal->message);
	return OUTCOME_POSTPONED;
}

static enum outcome
skip_broken(struct imap_poll *poll, const struct receiver_sink *sink, uint32_t uid)
{
	g_autofree char *reason =
	    g_strdup_printf("cannot fetch message with UID %u in '%s': the connection "
	                    "broke %d times",
	        uid, poll->options->folder, IMAP_TRIES);

	if (g_hash_table_contains(poll->skipped, GUINT_TO_POINTER(uid)))
		return OUTCOME_SKIPPED;
	return skip(poll, sink, uid, NULL, reason);
}

static unsigned
get_breaks(const struct imap_poll *poll, uint32_t uid)
{
	return GPOINTER_TO_UINT(
	    g_hash_table_lookup(poll->broken, GUINT_TO_POINTER(uid)));
}

/* Fetch a message, or the header of one that is too large (@param size). */
static enum outcome
fetch_and_deliver(struct imap_poll *poll, struct imap_session *session,
    const struct receiver_sink *sink, uint32_t uid, uint32_t size, GError **error)
{
	g_autoptr(GBytes) raw = NULL;
	bool is_large = size > BOUNDS_MAIL_BYTES;

	poll->fetching = uid;
	/* One more byte than the limit detects a message larger than announced. */
	if (!imap_session_fetch(session, uid,
	        is_large ? BOUNDS_MAIL_HEADER_BYTES + 2 : BOUNDS_MAIL_BYTES + 1, &raw,
	        error))
		return OUTCOME_FAILED;
	poll->fetching = 0;
	/*
	 * Its size was reported just now. If it was removed, the next cycle skips it.
	 */
	if (!raw) {
		g_autofree char *reason =
		    g_strdup_printf("the server does not send message UID %u of '%s'",
		        uid, poll->options->folder);

		return skip(poll, sink, uid, NULL, reason);
	}
	if (is_large || g_bytes_get_size(raw) > BOUNDS_MAIL_BYTES)
		return skip_large(
		    poll, sink, uid, raw, MAX(size, g_bytes_get_size(raw)));
	return deliver(poll, sink, uid, raw);
}

/* @param size  UINT32_MAX: not found */
static enum outcome
handle(struct imap_poll *poll, struct imap_session *session,
    const struct receiver_sink *sink, uint32_t uid, uint32_t size, GError **error)
{
	gpointer key = GUINT_TO_POINTER(uid);

	if (g_hash_table_contains(poll->stored, key))
		return OUTCOME_STORED;
	if (size == UINT32_MAX)
		return OUTCOME_GONE;
	if (get_breaks(poll, uid) >= IMAP_TRIES)
		return skip_broken(poll, sink, uid);
	if (size > BOUNDS_MAIL_BYTES && g_hash_table_contains(poll->skipped, key))
		return OUTCOME_SKIPPED;
	return fetch_and_deliver(poll, session, sink, uid, size, error);
}

static bool
unskip(struct imap_poll *poll, const struct receiver_sink *sink, uint32_t uid,
    GError **error)
{
	g_autofree char *name = NULL;

	if (!g_hash_table_contains(poll->skipped, GUINT_TO_POINTER(uid)))
		return true;
	name = format_name(poll, uid);
	if (!sink->unskip(sink->data, name, error))
		return false;
	g_hash_table_remove(poll->skipped, GUINT_TO_POINTER(uid));
	return true;
}

/* Save the cursor if the server does not store marks. */
static bool
save_cursor(struct imap_poll *poll, uint32_t uid, GError **error)
{
	struct imap_cursor cursor = {poll->uidvalidity, uid};

	if (cursor.uid <= get_cursor_uid(poll))
		return true;
	if (!poll->options->cursor_store.save(
	        poll->options->cursor_store.data, &cursor, error))
		return false;
	poll->cursor = cursor;
	return true;
}

static bool
mark_group(struct imap_poll *poll, struct imap_session *session, GArray *stored,
    GError **error)
{
	const uint32_t *uids = (const uint32_t *)(void *)stored->data;

	if (stored->len == 0)
		return true;
	/* UIDVALIDITY changed: the UIDs would name messages that were not stored. */
	if (get_uidvalidity(session) != poll->uidvalidity)
		return pb_fail(
		    error, PB_ERROR_TEMPORARY, "UIDVALIDITY of the folder has changed");
	if (!imap_session_mark(session, uids, stored->len, error))
		return false;
	for (guint i = 0; i < stored->len; i++)
		g_hash_table_insert(
		    poll->stored, GUINT_TO_POINTER(uids[i]), GINT_TO_POINTER(TRUE));
	return true;
}

/* @return outcome of the last message, or of the one that ended the group early */
static enum outcome
run_group(struct imap_poll *poll, struct imap_session *session,
    const struct receiver_sink *sink, const uint32_t *uids, size_t count,
    GError **error)
{
	uint32_t sizes[GROUP_MESSAGES];
	g_autoptr(GArray) stored = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	enum outcome last = OUTCOME_STORED;
	uint32_t done = 0;

	if (!imap_session_fetch_sizes(session, uids, count, sizes, error))
		return OUTCOME_FAILED;
	for (size_t i = 0; i < count; i++) {
		last = handle(poll, session, sink, uids[i], sizes[i], error);
		if (last == OUTCOME_FAILED)
			return last;
		if (last == OUTCOME_POSTPONED)
			break;
		done = uids[i];
		if (last == OUTCOME_SKIPPED)
			continue;
		if (!unskip(poll, sink, done, error))
			return OUTCOME_FAILED;
		if (last != OUTCOME_STORED)
			continue;
		g_array_append_val(stored, done);
		if (!g_hash_table_contains(poll->stored, GUINT_TO_POINTER(done)))
			g_hash_table_insert(poll->stored, GUINT_TO_POINTER(done), NULL);
	}
	if (!mark_group(poll, session, stored, error))
		return OUTCOME_FAILED;
	if (session->disposition == IMAP_DISPOSITION_CURSOR && done != 0 &&
	    !save_cursor(poll, done, error))
		return OUTCOME_FAILED;
	return last;
}

/*
 * Store and mark all unprocessed messages.
 *
 * @param stop_fd  checked between groups of messages
 * @param result   set on success only
 * @return false if the session failed or stop_fd is readable
 */
static bool
imap_poll_run(struct imap_poll *poll, struct imap_session *session,
    const struct receiver_sink *sink, int stop_fd, enum imap_poll_result *result,
    GError **error)
{
	g_autoptr(GArray) uids = NULL;
	uint64_t n_before = poll->n_taken;
	guint n_skipped;
	bool is_whole = true;

	count_broken_fetch(poll);
	if (!check_uidvalidity(poll, session, sink, error))
		return false;
	n_skipped = g_hash_table_size(poll->skipped);
	uids = search(poll, session, &is_whole, error);
	if (!uids)
		return false;
	for (guint i = 0; i < uids->len; i += GROUP_MESSAGES) {
		const uint32_t *group = &g_array_index(uids, uint32_t, i);

		if (stream_is_stopped(stop_fd))
			return pb_fail(
			    error, PB_ERROR_TEMPORARY, "interrupted by shutdown");
		switch (run_group(poll, session, sink, group,
		    MIN(uids->len - i, GROUP_MESSAGES), error)) {
		case OUTCOME_FAILED:
			return false;
		case OUTCOME_POSTPONED:
			*result = IMAP_POLL_POSTPONED;
			return true;
		case OUTCOME_STORED:
		case OUTCOME_GONE:
		case OUTCOME_SKIPPED:
			break;
		}
	}
	if (!is_whole &&
	    (poll->n_taken > n_before || g_hash_table_size(poll->skipped) > n_skipped))
		*result = IMAP_POLL_MORE;
	else
		*result = poll->n_taken > n_before ? IMAP_POLL_DONE : IMAP_POLL_EMPTY;
	return true;
}

/* ---- imap ---- */

/* A connection that lasted this long resets the retry delay. */
#define STABLE_CONNECTION_US  (60 * G_USEC_PER_SEC)
/* Consecutive polls without a message before polling is slowed down. */
#define MAX_EMPTY_POLLS       3
#define MAX_EMPTY_DELAY_STEPS 30

/* Limits the retry delay after a successful poll to about half a minute. */
#define FAILURES_AFTER_POLL 4

struct imap_receiver {
	struct receiver receiver; /* first member */
	struct imap_options options;
	struct imap_poll poll;
	char *reported;    /* last problem reported to the sink, or NULL */
	unsigned failures; /* consecutive */
};

/* Report a problem once; NULL: resolved. */
static void
report(
    struct imap_receiver *self, const struct receiver_sink *sink, const GError *problem)
{
	if (g_strcmp0(self->reported, problem ? problem->message : NULL) == 0)
		return;
	g_free(self->reported);
	self->reported = problem ? g_strdup(problem->message) : NULL;
	sink->report(sink->data, problem);
}

/* Add up to 25 % jitter, so that clients do not reconnect at the same time. */
static int64_t
add_jitter(const struct imap_receiver *self, int64_t wait_ms)
{
	double part = self->options.random(self->options.random_data);

	return wait_ms + (int64_t)((double)wait_ms * CLAMP(part, 0, 1) / 4);
}

static int64_t
choose_retry_ms(const struct imap_receiver *self, bool is_refused)
{
	const struct imap_times *times = &self->options.times;
	int64_t wait_ms = is_refused ? times->login_failed_ms : times->retry_ms;
	int64_t max_ms = MAX(wait_ms, (int64_t)times->retry_max_ms);

	for (unsigned i = 1; i < self->failures && wait_ms < max_ms; i++)
		wait_ms *= 2;
	return add_jitter(self, MIN(wait_ms, max_ms));
}

/* Limit the rate of polls if the server announces messages that do not exist. */
static bool
pause_after_empty(struct imap_receiver *self, const struct receiver_sink *sink,
    int stop_fd, unsigned n_empty, int64_t waited_us)
{
	if (n_empty <= MAX_EMPTY_POLLS || waited_us >= G_USEC_PER_SEC)
		return true;
	return imap_wait(sink, stop_fd,
	    MIN(n_empty - MAX_EMPTY_POLLS, MAX_EMPTY_DELAY_STEPS) *
	        (int64_t)self->options.times.retry_ms / 2);
}

/* Use one connection until it ends. @return false with the reason */
static bool
run_connection(struct imap_receiver *self, struct imap_session *session,
    const struct receiver_sink *sink, int stop_fd, GError **error)
{
	unsigned n_empty = 0;

	for (;;) {
		enum imap_poll_result result = IMAP_POLL_EMPTY;
		int64_t began_at;

		if (!imap_poll_run(&self->poll, session, sink, stop_fd, &result, error))
			return false;
		self->failures = MIN(self->failures, FAILURES_AFTER_POLL);
		report(self, sink, NULL);
		began_at = g_get_monotonic_time();
		switch (result) {
		case IMAP_POLL_MORE:
			n_empty = 0;
			continue;
		case IMAP_POLL_POSTPONED:
			n_empty = 0;
			imap_wait(sink, stop_fd,
			    add_jitter(self, self->options.times.postponed_ms));
			continue;
		case IMAP_POLL_DONE:
			n_empty = 0;
			break;
		case IMAP_POLL_EMPTY:
			n_empty++;
			break;
		}
		if (!imap_session_wait(session, error))
			return false;
		if (!pause_after_empty(self, sink, stop_fd, n_empty,
		        g_get_monotonic_time() - began_at))
			return true;
	}
}

static bool
imap_run(struct receiver *receiver, const struct receiver_sink *sink, int stop_fd,
    GError **error)
{
	struct imap_receiver *self = (struct imap_receiver *)receiver;

	(void)error; /* server problems may be transient: always retried */
	imap_poll_begin(&self->poll);
	while (!stream_is_stopped(stop_fd)) {
		pb_auto(imap_session) session = NULL;
		g_autoptr(GError) problem = NULL;
		int64_t began_at = g_get_monotonic_time();
		bool is_refused = false;
		bool was_stable = false;

		session = imap_session_open(
		    &self->options, sink, stop_fd, &is_refused, &problem);
		if (session) {
			run_connection(self, session, sink, stop_fd, &problem);
			was_stable =
			    self->poll.n_taken > 0 ||
			    g_get_monotonic_time() - began_at >= STABLE_CONNECTION_US;
			self->poll.n_taken = 0;
		}
		if (stream_is_stopped(stop_fd))
			break;
		/* Servers close long-lived connections; this is not reported. */
		if (problem && !was_stable)
			report(self, sink, problem);
		self->failures = was_stable ? 1 : self->failures + 1;
		imap_wait(sink, stop_fd, choose_retry_ms(self, is_refused));
	}
	return true;
}

/* Use one connection until all that can be received now is received. */
static bool
imap_poll_once(
    struct receiver *receiver, const struct receiver_sink *sink, GError **error)
{
	struct imap_receiver *self = (struct imap_receiver *)receiver;
	pb_auto(imap_session) session = NULL;
	enum imap_poll_result result = IMAP_POLL_MORE;
	bool is_refused;

	imap_poll_begin(&self->poll);
	session = imap_session_open(&self->options, sink, -1, &is_refused, error);
	while (session && result == IMAP_POLL_MORE) {
		if (!imap_poll_run(&self->poll, session, sink, -1, &result, error))
			return false;
		report(self, sink, NULL);
	}
	return session != NULL;
}

static bool
imap_check(struct receiver *receiver, char **reported, GError **error)
{
	struct imap_receiver *self = (struct imap_receiver *)receiver;
	static const struct receiver_sink no_sink;
	bool is_refused;
	pb_auto(imap_session) session =
	    imap_session_open(&self->options, &no_sink, -1, &is_refused, error);

	if (!session)
		return false;
	*reported = g_strdup_printf("logged in to %s as %s, folder %s exists",
	    self->options.host, self->options.user, self->options.folder);
	return true;
}

static void
imap_free(struct receiver *receiver)
{
	struct imap_receiver *self = (struct imap_receiver *)receiver;
	struct imap_options *options = &self->options;

	if (options->cursor_store.free)
		options->cursor_store.free(options->cursor_store.data);
	imap_poll_clear(&self->poll);
	g_free((char *)options->host);
	g_free((char *)options->ca_file);
	g_free((char *)options->user);
	g_free((char *)options->password);
	g_free((char *)options->folder);
	g_free((char *)options->move_to);
	g_free(self->reported);
	g_free(self);
}

/* Names are sent unchanged: libetpan quotes them but does not encode them. */
static bool
is_folder_name(const char *name)
{
	size_t length = strlen(name);

	if (length == 0 || length > BOUNDS_IMAP_NAME_BYTES)
		return false;
	for (size_t i = 0; i < length; i++)
		if (!g_ascii_isprint(name[i]) || strchr("*%", name[i]))
			return false;
	return true;
}

static bool
check_options(const struct imap_options *options, GError **error)
{
	const char *wrong = NULL;

	if (!options->user || !*options->user ||
	    (!options->password && !options->tokens))
		wrong = "missing user or password";
	else if (!is_folder_name(options->folder) ||
	         (options->move_to && !is_folder_name(options->move_to)))
		wrong = "a folder name is empty, too long or not printable ASCII "
		        "(other characters need modified UTF-7, e.g. Entw&APw-rfe)";
	else if (options->move_to && strcmp(options->folder, options->move_to) == 0)
		wrong = "cannot move messages to the folder that they are in";
	if (!wrong)
		return true;
	return pb_fail(error, PB_ERROR_INPUT, "cannot use the IMAP folder: %s", wrong);
}

struct receiver *
imap_receiver_new(const struct imap_options *options, GError **error)
{
	struct imap_receiver *self;

	if (!check_options(options, error))
		return NULL;
	self = g_new0(struct imap_receiver, 1);
	self->receiver = (struct receiver){.kind = "imap",
	    .run = imap_run,
	    .poll_once = imap_poll_once,
	    .check = imap_check,
	    .free = imap_free};
	self->options = *options;
	self->options.host = g_strdup(options->host);
	self->options.ca_file = g_strdup(options->ca_file);
	self->options.user = g_strdup(options->user);
	self->options.password = g_strdup(options->password);
	self->options.folder = g_strdup(options->folder);
	self->options.move_to = g_strdup(options->move_to);
	imap_poll_init(&self->poll, &self->options);
	return &self->receiver;
}
