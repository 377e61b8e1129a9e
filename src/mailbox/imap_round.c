/*
 * imap_round.c - one round through a folder: everything that is not done, once.
 */
#include "mailbox/imap_round.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "mailbox/imap_private.h"

/* Letters between two marks: killed in between, so many come again. */
#define GROUP_LETTERS 25

/* What became of one letter. */
enum handed {
	HANDED_SETTLED,   /* taken, refused for good, or too large: mark it */
	HANDED_GONE,      /* somebody else removed it */
	HANDED_PASSED,    /* passed over for now */
	HANDED_POSTPONED, /* the sink cannot take it now */
	HANDED_FAILED,    /* the session is gone */
};

void
imap_round_init(struct imap_round *round, const struct imap_options *options)
{
	round->options = options;
	round->settled = g_hash_table_new(NULL, NULL);
	round->broken = g_hash_table_new(NULL, NULL);
	round->problems = g_ptr_array_new_with_free_func((GDestroyNotify)g_error_free);
}

void
imap_round_clear(struct imap_round *round)
{
	g_hash_table_unref(round->settled);
	g_hash_table_unref(round->broken);
	g_ptr_array_unref(round->problems);
}

void
imap_round_begin(struct imap_round *round)
{
	round->options->keeper.load(round->options->keeper.data, &round->mark);
}

/* UIDs of another UIDVALIDITY name other letters. */
static void
follow_validity(struct imap_round *round, const struct imap_session *session)
{
	uint32_t validity = imap_session_get_uidvalidity(session);

	if (round->uidvalidity == validity)
		return;
	round->uidvalidity = validity;
	round->fetching = 0;
	round->held = 0;
	g_hash_table_remove_all(round->settled);
	g_hash_table_remove_all(round->broken);
}

static uint32_t
get_mark_uid(const struct imap_round *round)
{
	return round->mark.uidvalidity == round->uidvalidity && round->uidvalidity != 0
	           ? round->mark.uid
	           : 0;
}

static void tell(struct imap_round *round, enum pb_error code, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

static void
tell(struct imap_round *round, enum pb_error code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	g_ptr_array_add(round->problems,
	    g_error_new_valist(PB_ERROR, (int)code, format, arguments));
	va_end(arguments);
}

/* The connection broke while a letter was fetched: perhaps on that letter. */
static void
count_break(struct imap_round *round)
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
forget_others(struct imap_round *round, const GArray *uids)
{
	g_autoptr(GHashTable) kept = g_hash_table_new(NULL, NULL);

	for (guint i = 0; i < uids->len; i++) {
		gpointer key = GUINT_TO_POINTER(g_array_index(uids, uint32_t, i));
		gpointer value;

		if (g_hash_table_lookup_extended(round->settled, key, NULL, &value))
			g_hash_table_insert(kept, key, value);
	}
	g_hash_table_unref(round->settled);
	round->settled = g_steal_pointer(&kept);
}

/* A letter that we marked is found again as not marked: the server said yes and kept
 * nothing. */
static bool
finds_marked_again(const struct imap_round *round, const GArray *uids)
{
	for (guint i = 0; i < uids->len; i++)
		if (GPOINTER_TO_INT(g_hash_table_lookup(round->settled,
		        GUINT_TO_POINTER(g_array_index(uids, uint32_t, i)))))
			return true;
	return false;
}

static GArray *
search(struct imap_round *round, struct imap_session *session, bool *is_whole,
    GError **error)
{
	g_autoptr(GArray) uids = NULL;
	bool is_by_mark;

	if (round->forgets_keyword)
		imap_session_give_up_keywords(session);
	is_by_mark = imap_session_get_road(session) == IMAP_ROAD_MARK;
	uids = imap_session_search(
	    session, is_by_mark ? get_mark_uid(round) : 0, is_whole, error);
	if (!uids)
		return NULL;
	if (imap_session_get_road(session) == IMAP_ROAD_KEYWORD &&
	    finds_marked_again(round, uids)) {
		round->forgets_keyword = true;
		g_array_unref(g_steal_pointer(&uids));
		return search(round, session, is_whole, error);
	}
	if (*is_whole)
		forget_others(round, uids);
	return g_steal_pointer(&uids);
}

/* Hand a letter over. */
static enum handed
hand(struct imap_round *round, const struct mailbox_sink *sink, uint32_t uid,
    GBytes *raw)
{
	g_autoptr(GError) refusal = NULL;
	struct mailbox_letter letter = {0};

	letter.raw = g_bytes_get_data(raw, &letter.size);
	if (letter.size > BOUNDS_LETTER_BYTES) {
		tell(round, PB_ERROR_LIMIT,
		    "letter %u in '%s' is larger than it was said to be, and than %d "
		    "octets: not fetched",
		    uid, round->options->folder, BOUNDS_LETTER_BYTES);
		return HANDED_SETTLED;
	}
	if (!letter.raw)
		letter.raw = "";
	if (!sink->take(sink->data, &letter, &refusal) &&
	    !g_error_matches(refusal, PB_ERROR, PB_ERROR_INPUT) &&
	    !g_error_matches(refusal, PB_ERROR, PB_ERROR_LIMIT))
		return HANDED_POSTPONED;
	round->n_taken++;
	return HANDED_SETTLED;
}

/* Whether the connection broke on a letter too often; that is told once. */
static bool
is_passed_over(struct imap_round *round, uint32_t uid)
{
	gpointer key = GUINT_TO_POINTER(uid);
	guint n = GPOINTER_TO_UINT(g_hash_table_lookup(round->broken, key));

	if (n == IMAP_TRIES) {
		tell(round, PB_ERROR_LIMIT,
		    "letter %u in '%s' cannot be fetched: the connection broke on it "
		    "%d times; it stays where it is",
		    uid, round->options->folder, IMAP_TRIES);
		g_hash_table_insert(round->broken, key, GUINT_TO_POINTER(n + 1));
	}
	return n >= IMAP_TRIES;
}

static enum handed
fetch_and_hand(struct imap_round *round, struct imap_session *session,
    const struct mailbox_sink *sink, uint32_t uid, uint32_t size, GError **error)
{
	gpointer key = GUINT_TO_POINTER(uid);
	g_autoptr(GBytes) raw = NULL;

	if (g_hash_table_contains(round->settled, key))
		return HANDED_SETTLED;
	if (is_passed_over(round, uid))
		return HANDED_PASSED;
	if (size == UINT32_MAX)
		return HANDED_GONE;
	if (size > BOUNDS_LETTER_BYTES) {
		tell(round, PB_ERROR_LIMIT,
		    "letter %u in '%s' has %u octets, more than %d: not fetched", uid,
		    round->options->folder, size, BOUNDS_LETTER_BYTES);
		return HANDED_SETTLED;
	}
	round->fetching = uid;
	if (!imap_session_fetch(session, uid, &raw, error))
		return HANDED_FAILED;
	round->fetching = 0;
	return raw ? hand(round, sink, uid, raw) : HANDED_GONE;
}

/* Keep how far we are, where the server does not. @param uid  all up to it are done */
static bool
keep_mark(struct imap_round *round, uint32_t uid, GError **error)
{
	struct imap_mark mark = {round->uidvalidity, uid};

	if (round->held != 0 && uid >= round->held)
		mark.uid = round->held - 1;
	if (mark.uid <= get_mark_uid(round))
		return true;
	if (!round->options->keeper.save(round->options->keeper.data, &mark, error))
		return false;
	round->mark = mark;
	return true;
}

/* Mark those that are settled, in a group. */
static bool
mark_group(struct imap_round *round, struct imap_session *session, GArray *settled,
    GError **error)
{
	const uint32_t *uids = (const uint32_t *)(void *)settled->data;

	if (settled->len == 0)
		return true;
	if (!imap_session_mark(session, uids, settled->len, error))
		return false;
	for (guint i = 0; i < settled->len; i++)
		g_hash_table_insert(
		    round->settled, GUINT_TO_POINTER(uids[i]), GINT_TO_POINTER(TRUE));
	return true;
}

/* @return how the last letter of the group went, or what ended it before */
static enum handed
run_group(struct imap_round *round, struct imap_session *session,
    const struct mailbox_sink *sink, const uint32_t *uids, size_t count, GError **error)
{
	uint32_t sizes[GROUP_LETTERS];
	g_autoptr(GArray) settled = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	enum handed last = HANDED_SETTLED;
	uint32_t done = 0;

	if (!imap_session_fetch_sizes(session, uids, count, sizes, error))
		return HANDED_FAILED;
	for (size_t i = 0; i < count; i++) {
		last = fetch_and_hand(round, session, sink, uids[i], sizes[i], error);
		if (last == HANDED_FAILED)
			return last;
		if (last == HANDED_POSTPONED)
			break;
		done = uids[i];
		if (last == HANDED_PASSED && (round->held == 0 || done < round->held))
			round->held = done;
		if (last != HANDED_SETTLED)
			continue;
		g_array_append_val(settled, done);
		if (!g_hash_table_contains(round->settled, GUINT_TO_POINTER(done)))
			g_hash_table_insert(
			    round->settled, GUINT_TO_POINTER(done), NULL);
	}
	if (!mark_group(round, session, settled, error))
		return HANDED_FAILED;
	if (imap_session_get_road(session) == IMAP_ROAD_MARK && done != 0 &&
	    !keep_mark(round, done, error))
		return HANDED_FAILED;
	return last;
}

bool
imap_round_run(struct imap_round *round, struct imap_session *session,
    const struct mailbox_sink *sink, int stop_fd, enum imap_round_result *result,
    GError **error)
{
	g_autoptr(GArray) uids = NULL;
	uint64_t n_before = round->n_taken;
	bool is_whole = true;

	count_break(round);
	follow_validity(round, session);
	g_ptr_array_set_size(round->problems, 0);
	uids = search(round, session, &is_whole, error);
	if (!uids)
		return false;
	for (guint i = 0; i < uids->len; i += GROUP_LETTERS) {
		const uint32_t *group = &g_array_index(uids, uint32_t, i);

		if (stream_is_stopped(stop_fd)) {
			g_set_error_literal(
			    error, PB_ERROR, PB_ERROR_TEMPORARY, "told to stop");
			return false;
		}
		switch (run_group(round, session, sink, group,
		    MIN(uids->len - i, GROUP_LETTERS), error)) {
		case HANDED_FAILED:
			return false;
		case HANDED_POSTPONED:
			*result = IMAP_ROUND_POSTPONED;
			return true;
		case HANDED_SETTLED:
		case HANDED_GONE:
		case HANDED_PASSED:
			break;
		}
	}
	if (round->n_taken == n_before)
		*result = IMAP_ROUND_EMPTY;
	else
		*result = is_whole ? IMAP_ROUND_DONE : IMAP_ROUND_MORE;
	return true;
}
