/*
 * candidates.c - what the papers of a subscriber's next digest are chosen from.
 */
#include "store/mail/candidates.h"

#include "base/clock.h"
#include "base/error.h"
#include "model/digest.h"
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
	static const char sql[] = SQL_WITH_LIST(
	    "SELECT s.subscriber_id, s.filter_id, s.number, coalesce(s.name, s.text),"
	    " s.text, s.since_day, s.created_at, coalesce(s.max_papers, 0), s.is_block"
	    " FROM subscription s WHERE s.subscriber_id IN (",
	    "?", "?", ") ORDER BY s.subscriber_id, s.number");
	RECORD_LAYOUT(layout, candidate_filter, "subscription", "iinttdnnn", (),
	    subscriber_id, filter_id, number, label, text, since_day, created_at,
	    max_papers, is_block);
	g_autoptr(GArray) ids = list_ids(subscribers, count);
	g_autoptr(GPtrArray) filters = g_ptr_array_new_with_free_func(g_free);

	for (unsigned i = 0; i < count; i += SQL_LIST_MAX) {
		struct sql_value values[SQL_LIST_MAX + 1] = {0};
		unsigned some_count = MIN(count - i, SQL_LIST_MAX);
		GPtrArray *some;

		sql_fill_list(values, &g_array_index(ids, int64_t, i), some_count);
		some = record_load_all_values(store, sql, values, &layout, error);
		if (!some)
			return NULL;
		g_ptr_array_extend_and_steal(filters, some);
	}
	return g_steal_pointer(&filters);
}

/* Somebody with wide filters has ten thousands of them. */
struct excluded {
	int64_t seq;
	int64_t replacement : 60;
	int64_t exclusion : 4; /* enum digest_exclusion */
};

static int
compare_excluded(const void *a, const void *b)
{
	const struct excluded *one = a, *other = b;

	return (one->seq > other->seq) - (one->seq < other->seq);
}

/* A row of a subscriber: some of the papers of all. */
struct part {
	struct candidate_previous *previous;
	enum digest_exclusion exclusion;
	unsigned first, end;
};

static void
add_papers(const struct part *part, const GArray *papers)
{
	for (unsigned i = part->first; i < part->end; i++) {
		const struct digest_contents_version *paper =
		    packed_papers_get(papers, i);
		const struct excluded excluded = {
		    paper->seq, paper->replacement, part->exclusion};

		g_array_append_val(part->previous->excluded, excluded);
	}
}

/* Kinds of rows. */
enum previous_row {
	/* Up to DIGEST_EXCLUSION_REJECTED: papers that are excluded. */
	PREVIOUS_ROW_SLOT = DIGEST_EXCLUSION_REJECTED + 1,
	PREVIOUS_ROW_DIGESTS,
	PREVIOUS_ROW_TASTE,
	PREVIOUS_ROW_KNOWN,
	PREVIOUS_ROW_WATCHED,
};

/*
 * Of a list j of subscribers and slots: subscriber, row, packed papers, paper.  A left
 * join begins with the list, also while a table is empty, when plans are made.  Of the
 * papers delivered these are the ones in digests after the last one that was delivered
 * before a time.
 */
#define PREVIOUS_ROWS                                                                 \
	") SELECT j.id, 1, d.papers, 0 FROM j LEFT JOIN delivered d"                  \
	" ON d.subscriber_id = j.id AND d.digest_id > coalesce("                      \
	"  (SELECT max(k.digest_id) FROM delivered k WHERE k.at ="                    \
	"   (SELECT max(m.at) FROM delivered m WHERE m.at < CAST(? AS BIGINT))), -1)" \
	" WHERE coalesce(d.digest_id, -1) >= 0"                                       \
	" UNION ALL SELECT j.id, 2, g.contents, 0 FROM j LEFT JOIN digest g"          \
	" ON g.subscriber_id = j.id AND g.state = 'live'"                             \
	" WHERE coalesce(g.id, 0) > 0"                                                \
	" UNION ALL SELECT j.id, 3, NULL, r.paper_seq FROM j"                         \
	" LEFT JOIN digest_rejected r ON r.subscriber_id = j.id AND r.times >= 2"     \
	" WHERE coalesce(r.paper_seq, 0) > 0"                                         \
	" UNION ALL SELECT j.id, 4, NULL, 0 FROM j LEFT JOIN digest g"                \
	" ON g.subscriber_id = j.id AND g.slot = j.slot WHERE coalesce(g.id, 0) > 0"  \
	" UNION ALL SELECT j.id, 5, NULL, 0 FROM j WHERE (SELECT g.id"                \
	"  FROM digest g WHERE g.subscriber_id = j.id LIMIT 1) > 0"                   \
	" UNION ALL SELECT j.id, 6, NULL, 0 FROM j LEFT JOIN taste t"                 \
	" ON t.subscriber_id = j.id WHERE coalesce(t.learned_at, -1) >= 0"            \
	" UNION ALL SELECT j.id, 7, NULL, 0 FROM j WHERE (SELECT length(k.name)"      \
	"  FROM known k WHERE k.subscriber_id = j.id LIMIT 1) > 0"                    \
	" UNION ALL SELECT j.id, 8, NULL, 0 FROM j WHERE (SELECT w.paper_seq"         \
	"  FROM watch w WHERE w.subscriber_id = j.id LIMIT 1) > 0"

/* @param parts  gets a part for the papers of the row, which are added to all */
static void
add_row(struct sql_statement *row, struct candidate_previous *previous, GArray *papers,
    GArray *parts)
{
	int64_t kind = sql_get_int(row, 1);
	struct part part = {previous, (enum digest_exclusion)kind, papers->len, 0};
	const struct digest_contents_version paper = {.seq = sql_get_int(row, 3)};

	previous->has_slot |= kind == PREVIOUS_ROW_SLOT;
	previous->has_digests |= kind == PREVIOUS_ROW_DIGESTS;
	previous->has_taste |= kind == PREVIOUS_ROW_TASTE;
	previous->has_known |= kind == PREVIOUS_ROW_KNOWN;
	previous->has_watched |= kind == PREVIOUS_ROW_WATCHED;
	if (kind > DIGEST_EXCLUSION_REJECTED || previous->problem)
		return;
	if (kind == DIGEST_EXCLUSION_REJECTED)
		g_array_append_val(papers, paper);
	else if (!packed_papers_add(row, 2, papers, &previous->problem))
		g_array_set_size(papers, part.first);
	part.end = papers->len;
	previous->papers += part.end - part.first;
	g_array_append_val(parts, part);
}

static bool
load_rows(struct store *store, struct candidate_previous **all, unsigned count,
    int64_t since, GArray *papers, GArray *parts, GError **error)
{
	static const char sql[] = SQL_WITH_LIST("WITH j (id, slot) AS (VALUES ",
	    "(CAST(? AS BIGINT), CAST(? AS TEXT))", "(?, ?)", PREVIOUS_ROWS);
	struct sql_value values[2 * SQL_LIST_MAX + 2] = {0};
	sql_auto *statement = NULL;
	enum sql_step step = SQL_STEP_FAILED;

	for (unsigned i = 0; i < SQL_LIST_MAX; i++) {
		values[2 * i] = i < count ? SQL_INT(all[i]->subscriber_id) : SQL_NULL;
		values[2 * i + 1] = i < count ? SQL_TEXT(all[i]->slot) : SQL_NULL;
	}
	values[2 * SQL_LIST_MAX] = SQL_INT(since);
	statement = sql_bind_values(store, sql, values, error);
	while (statement && (step = record_next(statement, "delivered", "inBn",
	                         error)) == SQL_STEP_ROW) {
		int64_t id = sql_get_int(statement, 0);
		unsigned i = 0;

		while (all[i]->subscriber_id != id)
			i++;
		add_row(statement, all[i], papers, parts);
	}
	return step == SQL_STEP_DONE;
}

bool
candidates_load_previous(struct store *store, struct candidate_previous **all,
    unsigned count, int64_t now, GError **error)
{
	int64_t since = now - DIGEST_RECENT_DAYS * (int64_t)CLOCK_DAY_S;
	g_autoptr(GArray) papers = packed_papers_new();
	g_autoptr(GArray) parts = g_array_new(FALSE, FALSE, sizeof(struct part));

	for (unsigned i = 0; i < count; i += SQL_LIST_MAX)
		if (!load_rows(store, all + i, MIN(count - i, SQL_LIST_MAX), since,
		        papers, parts, error))
			return false;
	if (!packed_papers_follow(store, papers, error))
		return false;
	for (unsigned i = 0; i < count; i++)
		all[i]->excluded = g_array_sized_new(
		    FALSE, FALSE, sizeof(struct excluded), all[i]->papers);
	for (unsigned i = 0; i < parts->len; i++)
		add_papers(&g_array_index(parts, struct part, i), papers);
	for (unsigned i = 0; i < count; i++)
		g_array_sort(all[i]->excluded, compare_excluded);
	return true;
}

void
candidate_previous_free(struct candidate_previous *previous)
{
	if (!previous)
		return;
	g_clear_error(&previous->problem);
	g_clear_pointer(&previous->excluded, g_array_unref);
	g_free(previous->slot);
	g_free(previous);
}

enum digest_exclusion
candidates_find_exclusion(const GArray *excluded, int64_t seq, int64_t replacement)
{
	const struct excluded *all = (const struct excluded *)excluded->data;
	const struct excluded key = {.seq = seq};
	enum digest_exclusion found = DIGEST_EXCLUSION_NONE;
	guint at;

	if (!g_array_binary_search((GArray *)excluded, &key, compare_excluded, &at))
		return found;
	while (at && all[at - 1].seq == seq)
		at--;
	for (; at < excluded->len && all[at].seq == seq; at++)
		if ((all[at].exclusion != DIGEST_EXCLUSION_DELIVERED ||
		        all[at].replacement >= replacement) &&
		    (!found || all[at].exclusion < (int)found))
			found = (enum digest_exclusion)all[at].exclusion;
	return found;
}
