/*
 * candidates.c - what the papers of a subscriber's next digest are chosen from.
 */
#include "store/mail/candidates.h"

#include "model/subscriber.h"
#include "store/core/record.h"
#include "store/paper/packed_papers.h"

static int
compare_ids(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

	return (left > right) - (left < right);
}

/* @return of int64_t, ascending */
static GArray *
list_ids(const gpointer *subscribers, unsigned count)
{
	GArray *ids = g_array_sized_new(FALSE, FALSE, sizeof(int64_t), count);

	for (unsigned i = 0; i < count; i++)
		g_array_append_val(
		    ids, ((const struct subscriber *)subscribers[i])->id);
	g_array_sort(ids, compare_ids);
	return ids;
}

GPtrArray *
candidates_load_filters(
    struct store *store, const gpointer *subscribers, unsigned count, GError **error)
{
	static const char sql[] =
	    "SELECT s.subscriber_id, s.filter_id, s.number, coalesce(s.name, s.text),"
	    " s.text, s.since_day, s.created_at, coalesce(s.max_papers, 0), s.is_block"
	    " FROM subscription s WHERE s.subscriber_id IN (" SQL_LIST(
	        "?") ")"
	             " ORDER BY s.subscriber_id, s.number";
#define COLUMN(...) RECORD_COLUMN(candidate_filter, __VA_ARGS__)
	static const struct record_column columns[] = {COLUMN(subscriber_id),
	    COLUMN(filter_id), COLUMN(number), COLUMN(label), COLUMN(text),
	    COLUMN(since_day), COLUMN(created_at), COLUMN(max_papers),
	    COLUMN(is_block)};
#undef COLUMN
	static const struct record_layout layout =
	    RECORD_LAYOUT(candidate_filter, columns);
	g_autoptr(GArray) ids = list_ids(subscribers, count);
	g_autoptr(GPtrArray) filters = g_ptr_array_new_with_free_func(g_free);

	for (unsigned i = 0; i < count; i += SQL_LIST_MAX) {
		struct sql_value values[SQL_LIST_MAX + 1] = {0};
		sql_auto *statement = NULL;
		GPtrArray *some;

		sql_fill_list(
		    values, SQL_LIST_MAX, &g_array_index(ids, int64_t, i), count - i);
		statement = sql_bind_values(store, sql, values, error);
		some = record_load_all(statement, &layout, error);
		if (!some)
			return NULL;
		g_ptr_array_extend_and_steal(filters, some);
	}
	return g_steal_pointer(&filters);
}

/* A slot of a hash table with open addressing; without a paper it is free. */
struct excluded {
	int64_t seq, replacement;
	enum digest_exclusion exclusion;
};

/* @param size  a power of 2 */
static unsigned
find_slot(int64_t seq, unsigned size)
{
	/* Knuth's multiplicative hash. */
	return (unsigned)((uint64_t)seq * 0x9e3779b97f4a7c15 >> 32) & (size - 1);
}

static void
insert_papers(GArray *excluded, const GArray *papers, enum digest_exclusion exclusion)
{
	for (unsigned i = 0; i < papers->len; i++) {
		const struct digest_contents_version *paper =
		    packed_papers_get(papers, i);
		unsigned at = find_slot(paper->seq, excluded->len);

		while (g_array_index(excluded, struct excluded, at).seq)
			at = (at + 1) & (excluded->len - 1);
		g_array_index(excluded, struct excluded, at) =
		    (struct excluded){paper->seq, paper->replacement, exclusion};
	}
}

/* @param rows  of paper, or packed papers */
static bool
load_papers(
    struct store *store, struct sql_statement *rows, GArray *papers, GError **error)
{
	enum sql_step step = SQL_STEP_FAILED;

	while (rows && (step = sql_step(rows, error)) == SQL_STEP_ROW) {
		if (sql_get_kind(rows, 0) == SQL_KIND_BLOB) {
			if (!packed_papers_add(rows, 0, papers, error))
				return false;
		} else {
			const struct digest_contents_version paper = {
			    .seq = sql_get_int(rows, 0)};

			g_array_append_val(papers, paper);
		}
	}
	return step == SQL_STEP_DONE && packed_papers_follow(store, papers, error);
}

/* @param papers  gets an array for each exclusion */
static bool
load_all_papers(struct store *store, int64_t subscriber_id,
    GArray *papers[DIGEST_EXCLUSION_REJECTED + 1], GError **error)
{
	static const char delivered[] =
	    "SELECT papers FROM delivered WHERE subscriber_id = ?1";
	static const char live[] =
	    "SELECT contents FROM digest WHERE subscriber_id = ?1 AND state = 'live'";
	static const char rejected[] =
	    "SELECT paper_seq FROM digest_rejected WHERE subscriber_id = ?1"
	    " AND times >= 2";
	static const char *const statements[DIGEST_EXCLUSION_REJECTED + 1] = {
	    [DIGEST_EXCLUSION_DELIVERED] = delivered,
	    [DIGEST_EXCLUSION_IN_PROGRESS] = live,
	    [DIGEST_EXCLUSION_REJECTED] = rejected,
	};

	for (unsigned i = DIGEST_EXCLUSION_DELIVERED; i < G_N_ELEMENTS(statements);
	     i++) {
		sql_auto *rows =
		    sql_bind(store, statements[i], error, SQL_INT(subscriber_id));

		papers[i] = packed_papers_new();
		if (!load_papers(store, rows, papers[i], error))
			return false;
	}
	return true;
}

GArray *
candidates_load_excluded(struct store *store, int64_t subscriber_id, GError **error)
{
	GArray *papers[DIGEST_EXCLUSION_REJECTED + 1] = {NULL};
	g_autoptr(GArray) excluded = g_array_new(FALSE, TRUE, sizeof(struct excluded));
	bool is_ok = load_all_papers(store, subscriber_id, papers, error);
	unsigned count = 0, size = 1;

	for (unsigned i = 0; i < G_N_ELEMENTS(papers); i++)
		count += papers[i] ? papers[i]->len : 0;
	while (count && size < 2 * count)
		size *= 2;
	g_array_set_size(excluded, count ? size : 0);
	for (unsigned i = 0; i < G_N_ELEMENTS(papers); i++)
		if (papers[i]) {
			insert_papers(excluded, papers[i], (enum digest_exclusion)i);
			g_array_unref(papers[i]);
		}
	return is_ok ? g_steal_pointer(&excluded) : NULL;
}

enum digest_exclusion
candidates_find_exclusion(const GArray *excluded, int64_t seq, int64_t replacement)
{
	enum digest_exclusion found = DIGEST_EXCLUSION_NONE;
	const struct excluded *slot;
	unsigned at;

	if (!excluded->len)
		return found;
	for (at = find_slot(seq, excluded->len);
	     (slot = &g_array_index(excluded, struct excluded, at))->seq;
	     at = (at + 1) & (excluded->len - 1))
		if (slot->seq == seq &&
		    (slot->exclusion != DIGEST_EXCLUSION_DELIVERED ||
		        slot->replacement >= replacement) &&
		    (!found || slot->exclusion < found))
			found = slot->exclusion;
	return found;
}
