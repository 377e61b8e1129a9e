/*
 * imap_poll.c - one round through a folder: everything that is not done, once.
 */
#include "receive/imap_poll.h"

#include "base/bounds.h"
#include "base/error.h"
#include "receive/imap_private.h"

/* Letters between two marks: killed in between, so many come again. */
#define GROUP_MESSAGES 25

/* What became of one letter. */
enum handed {
	HANDED_SETTLED,   /* stored: mark it */
	HANDED_GONE,      /* somebody else removed it */
	HANDED_SKIPPED,   /* stays as it is, and that is recorded */
	HANDED_POSTPONED, /* the sink cannot take it now */
	HANDED_FAILED,    /* the session is gone */
};

void
imap_poll_init(struct imap_poll *round, const struct imap_options *options)
{
	round->options = options;
	round->settled = g_hash_table_new(NULL, NULL);
	round->broken = g_hash_table_new(NULL, NULL);
	round->skipped = g_hash_table_new(NULL, NULL);
}

void
imap_poll_clear(struct imap_poll *round)
{
	g_hash_table_unref(round->settled);
	g_hash_table_unref(round->broken);
	g_hash_table_unref(round->skipped);
}

void
imap_poll_begin(struct imap_poll *round)
{
	round->options->keeper.load(round->options->keeper.data, &round->mark);
}

/* The name of a message for the sink: the UID alone names another one later. */
static char *
format_name(const struct imap_poll *round, uint32_t uid)
{
	return g_strdup_printf("%u.%u", round->uidvalidity, uid);
}

/* @return the UID, 0 when the name is of another UIDVALIDITY */
static uint32_t
parse_name(const struct imap_poll *round, const char *name)
{
	char *end;
	uint64_t validity = g_ascii_strtoull(name, &end, 10);

	if (validity != round->uidvalidity || *end != '.')
		return 0;
	return (uint32_t)g_ascii_strtoull(end + 1, NULL, 10);
}

/* Messages of another UIDVALIDITY cannot be found again: each is recorded anew. */
static bool
load_skipped(struct imap_poll *round, const struct receiver_sink *sink, GError **error)
{
	g_autoptr(GPtrArray) names = sink->load_skipped(sink->data, error);

	g_hash_table_remove_all(round->skipped);
	for (guint i = 0; names && i < names->len; i++) {
		uint32_t uid = parse_name(round, names->pdata[i]);

		if (uid)
			g_hash_table_add(round->skipped, GUINT_TO_POINTER(uid));
		else if (!sink->unskip(sink->data, names->pdata[i], error))
			return false;
	}
	return names != NULL;
}

/*
 * UIDs of another UIDVALIDITY name other messages; those of a server that has none are
 * good for one selection.
 */
static bool
follow_validity(struct imap_poll *round, const struct imap_session *session,
    const struct receiver_sink *sink, GError **error)
{
	uint32_t validity = imap_session_get_uidvalidity(session);

	if (round->uidvalidity == validity &&
	    (validity != 0 || round->selected_at == session->selected_at))
		return true;
	round->uidvalidity = validity;
	round->selected_at = session->selected_at;
	round->fetching = 0;
	g_hash_table_remove_all(round->settled);
	g_hash_table_remove_all(round->broken);
	if (load_skipped(round, sink, error))
		return true;
	round->uidvalidity = 0;
	round->selected_at = 0;
	return false;
}

static uint32_t
get_mark_uid(const struct imap_poll *round)
{
	return round->mark.uidvalidity == round->uidvalidity && round->uidvalidity != 0
	           ? round->mark.uid
	           : 0;
}

/* The connection broke while a letter was fetched: perhaps on that letter. */
static void
count_break(struct imap_poll *round)
{
	gpointer key = GUINT_TO_POINTER(round->fetching);
	guint n;

	if (round->fetching == 0)
		return;
	n = GPOINTER_TO_UINT(g_hash_table_lookup(round->broken, key)) + 1;
	g_hash_table_insert(round->broken, key, GUINT_TO_POINTER(n));
	round->fetching = 0;
}

/* Forget letters that are not found any more: so this does not grow for ever. */
static void
erase_others(struct imap_poll *round, const GArray *uids)
{
	g_autoptr(GHashTable) stored = g_hash_table_new(NULL, NULL);

	for (guint i = 0; i < uids->len; i++) {
		gpointer key = GUINT_TO_POINTER(g_array_index(uids, uint32_t, i));
		gpointer value;

		if (g_hash_table_lookup_extended(round->settled, key, NULL, &value))
			g_hash_table_insert(stored, key, value);
	}
	g_hash_table_unref(round->settled);
	round->settled = g_steal_pointer(&stored);
}

/* A letter that we marked is found again as not marked: the server said yes and kept
 * nothing. */
static bool
finds_marked_again(const struct imap_poll *round, const GArray *uids)
{
	for (guint i = 0; i < uids->len; i++)
		if (GPOINTER_TO_INT(g_hash_table_lookup(round->settled,
		        GUINT_TO_POINTER(g_array_index(uids, uint32_t, i)))))
			return true;
	return false;
}

/* List open messages in order of UID, with those skipped that may be gone by now. */
static GArray *
search(struct imap_poll *round, struct imap_session *session, bool *is_whole,
    GError **error)
{
	g_autoptr(GArray) uids = NULL;
	bool is_by_mark;

	if (round->forgets_keyword)
		imap_session_disable_keywords(session);
	is_by_mark = imap_session_get_disposition(session) == IMAP_DISPOSITION_CURSOR;
	uids = imap_session_search(session, is_by_mark ? get_mark_uid(round) : 0,
	    round->skipped, is_whole, error);
	if (!uids)
		return NULL;
	if (imap_session_get_disposition(session) == IMAP_DISPOSITION_KEYWORD &&
	    finds_marked_again(round, uids)) {
		round->forgets_keyword = true;
		g_array_unref(g_steal_pointer(&uids));
		return search(round, session, is_whole, error);
	}
	if (*is_whole)
		erase_others(round, uids);
	return g_steal_pointer(&uids);
}

/* Record that a message stays as it is. @param head  NULL: not known */
static enum handed
skip(struct imap_poll *round, const struct receiver_sink *sink, uint32_t uid,
    const struct receive_mail *head, const char *reason)
{
	g_autofree char *name = format_name(round, uid);

	if (!sink->skip(sink->data, name, head, reason, NULL))
		return HANDED_POSTPONED;
	g_hash_table_add(round->skipped, GUINT_TO_POINTER(uid));
	return HANDED_SKIPPED;
}

/* @param raw   its begin, as much as there is of the header
 * @param size  of the whole message */
static enum handed
skip_large(struct imap_poll *round, const struct receiver_sink *sink, uint32_t uid,
    GBytes *raw, size_t size)
{
	g_autofree char *reason = g_strdup_printf(
	    "message with UID %u in '%s' has %zu bytes, more than the %d that are read",
	    uid, round->options->folder, size, BOUNDS_MAIL_BYTES);
	struct receive_mail head = {.full_size = size};

	head.raw = g_bytes_get_data(raw, &head.size);
	head.size = mailbox_measure_header(head.raw, head.size);
	if (head.size > BOUNDS_MAIL_HEADER_BYTES)
		head.size = 0;
	return skip(round, sink, uid, head.size ? &head : NULL, reason);
}

/* Hand a letter over. */
static enum handed
hand(struct imap_poll *round, const struct receiver_sink *sink, uint32_t uid,
    GBytes *raw)
{
	g_autoptr(GError) refusal = NULL;
	struct receive_mail mail = {0};

	mail.raw = g_bytes_get_data(raw, &mail.size);
	if (!mail.raw)
		mail.raw = "";
	if (sink->take(sink->data, &mail, &refusal)) {
		round->n_taken++;
		return HANDED_SETTLED;
	}
	if (g_error_matches(refusal, PB_ERROR, PB_ERROR_INPUT) ||
	    g_error_matches(refusal, PB_ERROR, PB_ERROR_LIMIT))
		return skip(round, sink, uid, NULL, refusal->message);
	return HANDED_POSTPONED;
}

/* The connection broke on a message too often. */
static enum handed
skip_broken(struct imap_poll *round, const struct receiver_sink *sink, uint32_t uid)
{
	g_autofree char *reason =
	    g_strdup_printf("message with UID %u in '%s' cannot be fetched: the "
	                    "connection broke on it %d times",
	        uid, round->options->folder, IMAP_TRIES);

	if (g_hash_table_contains(round->skipped, GUINT_TO_POINTER(uid)))
		return HANDED_SKIPPED;
	return skip(round, sink, uid, NULL, reason);
}

static unsigned
get_breaks(const struct imap_poll *round, uint32_t uid)
{
	return GPOINTER_TO_UINT(
	    g_hash_table_lookup(round->broken, GUINT_TO_POINTER(uid)));
}

/* Fetch a message, or of one that is too large the header. @param size  as was said */
static enum handed
fetch_and_hand(struct imap_poll *round, struct imap_session *session,
    const struct receiver_sink *sink, uint32_t uid, uint32_t size, GError **error)
{
	g_autoptr(GBytes) raw = NULL;
	bool is_large = size > BOUNDS_MAIL_BYTES;

	round->fetching = uid;
	/* One byte more than is taken tells a message that is larger than was said. */
	if (!imap_session_fetch(session, uid,
	        is_large ? BOUNDS_MAIL_HEADER_BYTES + 2 : BOUNDS_MAIL_BYTES + 1, &raw,
	        error))
		return HANDED_FAILED;
	round->fetching = 0;
	/* Its size was told just now; if it is gone, the next round sees that. */
	if (!raw) {
		g_autofree char *reason = g_strdup_printf(
		    "the server does not send the message with UID %u in '%s'", uid,
		    round->options->folder);

		return skip(round, sink, uid, NULL, reason);
	}
	if (is_large || g_bytes_get_size(raw) > BOUNDS_MAIL_BYTES)
		return skip_large(
		    round, sink, uid, raw, MAX(size, g_bytes_get_size(raw)));
	return hand(round, sink, uid, raw);
}

/* Do what one message wants. @param size  UINT32_MAX: it is not there */
static enum handed
handle(struct imap_poll *round, struct imap_session *session,
    const struct receiver_sink *sink, uint32_t uid, uint32_t size, GError **error)
{
	gpointer key = GUINT_TO_POINTER(uid);

	if (g_hash_table_contains(round->settled, key))
		return HANDED_SETTLED;
	if (size == UINT32_MAX)
		return HANDED_GONE;
	if (get_breaks(round, uid) >= IMAP_TRIES)
		return skip_broken(round, sink, uid);
	if (size > BOUNDS_MAIL_BYTES && g_hash_table_contains(round->skipped, key))
		return HANDED_SKIPPED;
	return fetch_and_hand(round, session, sink, uid, size, error);
}

/* A skipped message was taken, or is gone. */
static bool
unskip(struct imap_poll *round, const struct receiver_sink *sink, uint32_t uid,
    GError **error)
{
	g_autofree char *name = NULL;

	if (!g_hash_table_contains(round->skipped, GUINT_TO_POINTER(uid)))
		return true;
	name = format_name(round, uid);
	if (!sink->unskip(sink->data, name, error))
		return false;
	g_hash_table_remove(round->skipped, GUINT_TO_POINTER(uid));
	return true;
}

/* Keep how far we are, where the server does not. @param uid  all up to it are done */
static bool
keep_mark(struct imap_poll *round, uint32_t uid, GError **error)
{
	struct imap_cursor mark = {round->uidvalidity, uid};

	if (mark.uid <= get_mark_uid(round))
		return true;
	if (!round->options->keeper.save(round->options->keeper.data, &mark, error))
		return false;
	round->mark = mark;
	return true;
}

/* Mark those that are settled, in a group. */
static bool
mark_group(struct imap_poll *round, struct imap_session *session, GArray *settled,
    GError **error)
{
	const uint32_t *uids = (const uint32_t *)(void *)settled->data;

	if (settled->len == 0)
		return true;
	/* Told in between: these UIDs would name messages that nobody has stored. */
	if (imap_session_get_uidvalidity(session) != round->uidvalidity) {
		g_set_error_literal(error, PB_ERROR, PB_ERROR_TEMPORARY,
		    "the folder was replaced while it was read");
		return false;
	}
	if (!imap_session_mark(session, uids, settled->len, error))
		return false;
	for (guint i = 0; i < settled->len; i++)
		g_hash_table_insert(
		    round->settled, GUINT_TO_POINTER(uids[i]), GINT_TO_POINTER(TRUE));
	return true;
}

/* @return how the last letter of the group went, or what ended it before */
static enum handed
run_group(struct imap_poll *round, struct imap_session *session,
    const struct receiver_sink *sink, const uint32_t *uids, size_t count,
    GError **error)
{
	uint32_t sizes[GROUP_MESSAGES];
	g_autoptr(GArray) settled = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	enum handed last = HANDED_SETTLED;
	uint32_t done = 0;

	if (!imap_session_fetch_sizes(session, uids, count, sizes, error))
		return HANDED_FAILED;
	for (size_t i = 0; i < count; i++) {
		last = handle(round, session, sink, uids[i], sizes[i], error);
		if (last == HANDED_FAILED)
			return last;
		if (last == HANDED_POSTPONED)
			break;
		done = uids[i];
		if (last == HANDED_SKIPPED)
			continue;
		if (!unskip(round, sink, done, error))
			return HANDED_FAILED;
		if (last != HANDED_SETTLED)
			continue;
		g_array_append_val(settled, done);
		if (!g_hash_table_contains(round->settled, GUINT_TO_POINTER(done)))
			g_hash_table_insert(
			    round->settled, GUINT_TO_POINTER(done), NULL);
	}
	if (!mark_group(round, session, settled, error))
		return HANDED_FAILED;
	if (imap_session_get_disposition(session) == IMAP_DISPOSITION_CURSOR &&
	    done != 0 && !keep_mark(round, done, error))
		return HANDED_FAILED;
	return last;
}

bool
imap_poll_run(struct imap_poll *round, struct imap_session *session,
    const struct receiver_sink *sink, int stop_fd, enum imap_poll_result *result,
    GError **error)
{
	g_autoptr(GArray) uids = NULL;
	uint64_t n_before = round->n_taken;
	guint n_skipped;
	bool is_whole = true;

	count_break(round);
	if (!follow_validity(round, session, sink, error))
		return false;
	n_skipped = g_hash_table_size(round->skipped);
	uids = search(round, session, &is_whole, error);
	if (!uids)
		return false;
	for (guint i = 0; i < uids->len; i += GROUP_MESSAGES) {
		const uint32_t *group = &g_array_index(uids, uint32_t, i);

		if (stream_is_stopped(stop_fd)) {
			g_set_error_literal(
			    error, PB_ERROR, PB_ERROR_TEMPORARY, "told to stop");
			return false;
		}
		switch (run_group(round, session, sink, group,
		    MIN(uids->len - i, GROUP_MESSAGES), error)) {
		case HANDED_FAILED:
			return false;
		case HANDED_POSTPONED:
			*result = IMAP_POLL_POSTPONED;
			return true;
		case HANDED_SETTLED:
		case HANDED_GONE:
		case HANDED_SKIPPED:
			break;
		}
	}
	if (!is_whole && (round->n_taken > n_before ||
	                     g_hash_table_size(round->skipped) > n_skipped))
		*result = IMAP_POLL_MORE;
	else
		*result = round->n_taken > n_before ? IMAP_POLL_DONE : IMAP_POLL_EMPTY;
	return true;
}
