/*
 * imap_fetch.c - finding, fetching and marking letters in the selected folder.
 */
#include <string.h>

#include "base/bounds.h"
#include "receive/imap_private.h"
#include "receive/imap_session.h"

/* Messages that one SEARCH looks at: so its answer is no longer than some KiB. */
#define PAGE_MESSAGES 1000

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

/* Messages first to last, behind the UID, that are not done. */
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
	switch (session->receiver) {
	case IMAP_DISPOSITION_KEYWORD:
		mailimap_search_key_multiple_add(
		    all, mailimap_search_key_new_unkeyword(copy_keyword()));
		break;
	case IMAP_DISPOSITION_MOVE:
		/* Without MOVE the originals stay, and are only marked so. */
		mailimap_search_key_multiple_add(
		    all, new_plain_key(MAILIMAP_SEARCH_KEY_UNDELETED));
		break;
	case IMAP_DISPOSITION_CURSOR:
		break;
	}
	return all;
}

/* @return false when there is room for no more */
static bool
add_found(GArray *uids, clist *found, uint32_t after_uid, GHashTable *skipped)
{
	for (clistiter *i = found ? clist_begin(found) : NULL; i; i = clist_next(i)) {
		uint32_t uid = *(const uint32_t *)clist_content(i);

		/* "UID n:*" names the last message even when it is before n. */
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
		if (!imap_session_check(session, result, "look for letters", error))
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

/* What one FETCH answer told of a message. */
struct reported {
	uint32_t uid, size; /* 0: not told; UINT32_MAX: not told */
	const struct mailimap_msg_att_body_section *body; /* or NULL */
};

static struct reported
read_answer(const struct mailimap_msg_att *answer)
{
	struct reported reported = {.size = UINT32_MAX};

	for (clistiter *i = clist_begin(answer->att_list); i; i = clist_next(i)) {
		const struct mailimap_msg_att_item *item = clist_content(i);
		const struct mailimap_msg_att_static *fact = item->att_data.att_static;

		if (item->att_type != MAILIMAP_MSG_ATT_ITEM_STATIC)
			continue;
		if (fact->att_type == MAILIMAP_MSG_ATT_UID)
			reported.uid = fact->att_data.att_uid;
		else if (fact->att_type == MAILIMAP_MSG_ATT_RFC822_SIZE)
			reported.size = fact->att_data.att_rfc822_size;
		else if (fact->att_type == MAILIMAP_MSG_ATT_BODY_SECTION)
			reported.body = fact->att_data.att_body_section;
	}
	return reported;
}

/* @param type  freed @param set  freed @return of answers, or NULL */
static clist *
fetch(struct imap_session *session, struct mailimap_set *set,
    struct mailimap_fetch_type *type, GError **error)
{
	clist *answers = NULL;
	int result = mailimap_uid_fetch(session->etpan, set, type, &answers);

	mailimap_fetch_type_free(type);
	mailimap_set_free(set);
	if (imap_session_check(session, result, "fetch a letter", error))
		return answers ? answers : clist_new();
	if (result == MAILIMAP_NO_ERROR && answers)
		mailimap_fetch_list_free(answers);
	return NULL;
}

bool
imap_session_fetch_sizes(struct imap_session *session, const uint32_t *uids,
    size_t count, uint32_t *sizes, GError **error)
{
	struct mailimap_fetch_type *type =
	    mailimap_fetch_type_new_fetch_att_list_empty();
	clist *answers;

	mailimap_fetch_type_new_fetch_att_list_add(type, mailimap_fetch_att_new_uid());
	mailimap_fetch_type_new_fetch_att_list_add(
	    type, mailimap_fetch_att_new_rfc822_size());
	imap_wire_begin(session->wire, session->options->times.command_ms, false);
	answers = fetch(session, new_set(uids, count), type, error);
	if (!answers)
		return false;
	for (size_t i = 0; i < count; i++)
		sizes[i] = UINT32_MAX;
	for (clistiter *i = clist_begin(answers); i; i = clist_next(i)) {
		struct reported reported = read_answer(clist_content(i));

		for (size_t k = 0; k < count; k++)
			if (uids[k] == reported.uid)
				sizes[k] = reported.size;
	}
	mailimap_fetch_list_free(answers);
	return true;
}

bool
imap_session_fetch(struct imap_session *session, uint32_t uid, uint32_t most_bytes,
    GBytes **raw, GError **error)
{
	struct mailimap_fetch_type *type =
	    mailimap_fetch_type_new_fetch_att_list_empty();
	GBytes *mail = NULL;
	clist *answers;

	mailimap_fetch_type_new_fetch_att_list_add(
	    type, mailimap_fetch_att_new_body_peek_section_partial(
	              mailimap_section_new(NULL), 0, most_bytes));
	imap_wire_begin(session->wire, session->options->times.mail_ms, true);
	answers = fetch(session, new_set(&uid, 1), type, error);
	if (!answers)
		return false;
	for (clistiter *i = clist_begin(answers); i && !mail; i = clist_next(i)) {
		struct reported reported = read_answer(clist_content(i));

		if (reported.body && reported.body->sec_body_part &&
		    reported.uid == uid)
			mail = g_bytes_new(
			    reported.body->sec_body_part, reported.body->sec_length);
	}
	mailimap_fetch_list_free(answers);
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
	return imap_session_check(session, result, "mark letters as done", error);
}

/* Only these go: plain EXPUNGE would take what others have deleted along. */
static bool
expunge(struct imap_session *session, struct mailimap_set *set, GError **error)
{
	if (!session->options->expunge || !session->has_uidplus)
		return true;
	imap_wire_begin(session->wire, session->options->times.command_ms, false);
	return imap_session_check(session, mailimap_uid_expunge(session->etpan, set),
	    "remove letters that are done", error);
}

/* By MOVE (RFC 6851), or by COPY, which leaves the original marked as deleted. */
static int
move_once(struct imap_session *session, struct mailimap_set *set)
{
	const char *folder = session->options->move_to;

	imap_wire_begin(session->wire, session->options->times.command_ms, false);
	return session->has_move ? mailimap_uid_move(session->etpan, set, folder)
	                         : mailimap_uid_copy(session->etpan, set, folder);
}

static bool
move(struct imap_session *session, struct mailimap_set *set, GError **error)
{
	g_autofree char *what =
	    g_strdup_printf("move letters to '%s'", session->options->move_to);
	int result = move_once(session, set);

	if (result == MAILIMAP_ERROR_UID_MOVE || result == MAILIMAP_ERROR_UID_COPY) {
		/* There may be no such folder yet. */
		imap_wire_begin(
		    session->wire, session->options->times.command_ms, false);
		if (mailimap_create(session->etpan, session->options->move_to) ==
		    MAILIMAP_NO_ERROR)
			result = move_once(session, set);
	}
	if (!imap_session_check(session, result, what, error))
		return false;
	return session->has_move || (store_flags(session, set, false, true, error) &&
	                                expunge(session, set, error));
}

bool
imap_session_mark(
    struct imap_session *session, const uint32_t *uids, size_t count, GError **error)
{
	bool is_removed = session->options->expunge;
	struct mailimap_set *set;
	bool is_good = true;

	if (count == 0)
		return true;
	set = new_set(uids, count);
	switch (session->receiver) {
	case IMAP_DISPOSITION_KEYWORD:
		is_good = store_flags(session, set, true, is_removed, error) &&
		          (!is_removed || expunge(session, set, error));
		break;
	case IMAP_DISPOSITION_MOVE:
		is_good = move(session, set, error);
		break;
	case IMAP_DISPOSITION_CURSOR:
		is_good =
		    !is_removed || (store_flags(session, set, false, true, error) &&
		                       expunge(session, set, error));
		break;
	}
	mailimap_set_free(set);
	return is_good;
}
