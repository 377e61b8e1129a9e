/*
 * candidates.c - what the papers of a subscriber's next digest are chosen from.
 */
#include "store/mail/candidates.h"

#include "model/subscriber.h"
#include "store/core/record.h"
#include "store/paper/packed_papers.h"

GPtrArray *
candidates_load_filters(
    struct store *store, const gpointer *subscribers, unsigned count, GError **error)
{
	/* One statement is faster than one for each subscriber. */
	static const char sql[] =
	    "SELECT s.subscriber_id, s.filter_id, s.number, coalesce(s.name, s.text),"
	    " s.text, s.since_day, s.created_at, ifnull(s.max_papers, 0), s.is_block"
	    " FROM json_each(?1) j CROSS JOIN subscription s"
	    " ON s.subscriber_id = j.value ORDER BY s.subscriber_id, s.number";
#define COLUMN(...) RECORD_COLUMN(candidate_filter, __VA_ARGS__)
	static const struct record_column columns[] = {COLUMN(subscriber_id),
	    COLUMN(filter_id), COLUMN(number), COLUMN(label), COLUMN(text),
	    COLUMN(since_day), COLUMN(created_at), COLUMN(max_papers),
	    COLUMN(is_block)};
#undef COLUMN
	static const struct record_layout layout =
	    RECORD_LAYOUT(candidate_filter, columns);
	g_autoptr(GString) list = g_string_new("[");
	sql_auto *statement = NULL;

	for (unsigned i = 0; i < count; i++)
		g_string_append_printf(list, "%s%" G_GINT64_FORMAT, i ? "," : "",
		    ((const struct subscriber *)subscribers[i])->id);
	g_string_append_c(list, ']');
	statement = sql_bind(store, sql, error, SQL_TEXT(list->str));
	return record_load_all(statement, &layout, error);
}

struct excluded {
	int64_t seq, replacement;
	enum digest_exclusion exclusion;
};

static int
compare_excluded(gconstpointer a, gconstpointer b)
{
	const struct excluded *one = a, *other = b;

	if (one->seq != other->seq)
		return one->seq < other->seq ? -1 : 1;
	return (int)one->exclusion - (int)other->exclusion;
}

/* Add delivered and rejected papers. */
static bool
load_history(
    struct store *store, int64_t subscriber_id, GArray *excluded, GError **error)
{
	/* The numbers are those of the enumeration. */
	static const char sql[] =
	    "SELECT paper_seq, replacement, 1 FROM delivered WHERE subscriber_id = ?1"
	    " UNION ALL SELECT paper_seq, 0, 3 FROM digest_rejected"
	    " WHERE subscriber_id = ?1 AND times >= 2";
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(subscriber_id));
	enum sql_step step = SQL_STEP_FAILED;

	while (statement && (step = sql_step(statement, error)) == SQL_STEP_ROW) {
		const struct excluded row = {sql_get_int(statement, 0),
		    sql_get_int(statement, 1),
		    (enum digest_exclusion)sql_get_int(statement, 2)};

		g_array_append_val(excluded, row);
	}
	return step == SQL_STEP_DONE;
}

static bool
load_in_progress(
    struct store *store, int64_t subscriber_id, GArray *excluded, GError **error)
{
	static const char sql[] = "SELECT contents FROM digest"
	                          " WHERE subscriber_id = ?1 AND state = 'live'";
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(subscriber_id));
	g_autoptr(GArray) papers = packed_papers_new();
	enum sql_step step = SQL_STEP_FAILED;

	while (statement && (step = sql_step(statement, error)) == SQL_STEP_ROW)
		if (!packed_papers_add(statement, 0, papers, error))
			return false;
	if (step != SQL_STEP_DONE || !packed_papers_follow(store, papers, error))
		return false;
	for (unsigned i = 0; i < papers->len; i++) {
		const struct excluded row = {
		    packed_papers_get(papers, i)->seq, 0, DIGEST_EXCLUSION_IN_PROGRESS};

		g_array_append_val(excluded, row);
	}
	return true;
}

GArray *
candidates_load_excluded(struct store *store, int64_t subscriber_id, GError **error)
{
	g_autoptr(GArray) excluded = g_array_new(FALSE, FALSE, sizeof(struct excluded));

	if (!load_history(store, subscriber_id, excluded, error) ||
	    !load_in_progress(store, subscriber_id, excluded, error))
		return NULL;
	g_array_sort(excluded, compare_excluded);
	return g_steal_pointer(&excluded);
}

enum digest_exclusion
candidates_find_exclusion(const GArray *excluded, int64_t seq, int64_t replacement)
{
	unsigned low = 0, high = excluded->len;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (g_array_index(excluded, struct excluded, middle).seq < seq)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < excluded->len; low++) {
		const struct excluded *row =
		    &g_array_index(excluded, struct excluded, low);

		if (row->seq != seq)
			break;
		if (row->exclusion != DIGEST_EXCLUSION_DELIVERED ||
		    row->replacement >= replacement)
			return row->exclusion;
	}
	return DIGEST_EXCLUSION_NONE;
}
