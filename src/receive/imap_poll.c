/*
 * imap_poll.c - one IMAP poll cycle: receive and mark all unprocessed messages.
 */
#include "receive/imap_poll.h"

#include "base/bounds.h"
#include "base/error.h"

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

void
imap_poll_init(struct imap_poll *poll, const struct imap_options *options)
{
	poll->options = options;
	poll->stored = g_hash_table_new(NULL, NULL);
	poll->broken = g_hash_table_new(NULL, NULL);
	poll->skipped = g_hash_table_new(NULL, NULL);
}

void
imap_poll_clear(struct imap_poll *poll)
{
	g_hash_table_unref(poll->stored);
	g_hash_table_unref(poll->broken);
	g_hash_table_unref(poll->skipped);
}

void
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
	uint32_t validity = imap_session_get_uidvalidity(session);

	if (poll->uidvalidity == validity &&
	    (validity != 0 ||
	        poll->selected_at == imap_session_get_selected_at(session)))
		return true;
	poll->uidvalidity = validity;
	poll->selected_at = imap_session_get_selected_at(session);
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

/* Blame a broken connection on the message that was being fetched. */
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

	if (poll->keywords_lost)
		imap_session_disable_keywords(session);
	is_by_cursor = imap_session_get_disposition(session) == IMAP_DISPOSITION_CURSOR;
	uids = imap_session_search(session, is_by_cursor ? get_cursor_uid(poll) : 0,
	    poll->skipped, is_whole, error);
	if (!uids)
		return NULL;
	if (imap_session_get_disposition(session) == IMAP_DISPOSITION_KEYWORD &&
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
	if (imap_session_get_uidvalidity(session) != poll->uidvalidity)
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
	if (imap_session_get_disposition(session) == IMAP_DISPOSITION_CURSOR &&
	    done != 0 && !save_cursor(poll, done, error))
		return OUTCOME_FAILED;
	return last;
}

bool
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
