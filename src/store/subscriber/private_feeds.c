/*
 * private_feeds.c - feeds of a subscriber's matches.
 */
#include "store/subscriber/private_feeds.h"

#include <string.h>

#include "store/core/record.h"
#include "store/core/sql.h"
#include "store/paper/matches.h"

bool
private_feeds_load_since(
    struct store *store, int64_t subscriber_id, int64_t *since, GError **error)
{
	static const char sql[] =
	    "SELECT coalesce((SELECT feeds_since FROM"
	    " subscriber WHERE id = ?1 AND feeds_since >= 0), -1)";

	return sql_number(store, sql, since, error, SQL_INT(subscriber_id));
}

bool
private_feeds_turn_on(
    struct store *store, int64_t subscriber_id, int64_t now, GError **error)
{
	static const char sql[] = "UPDATE subscriber SET feeds_since ="
	                          " CASE WHEN abs(feeds_since) >= ?2"
	                          " THEN abs(feeds_since) + 1 ELSE ?2 END"
	                          " WHERE id = ?1";

	return sql_exec(store, sql, error, SQL_INT(subscriber_id), SQL_INT(now));
}

bool
private_feeds_turn_off(struct store *store, int64_t subscriber_id, GError **error)
{
	static const char sql[] =
	    "UPDATE subscriber SET feeds_since = -abs(feeds_since) WHERE id = ?1";

	return sql_exec(store, sql, error, SQL_INT(subscriber_id));
}

bool
private_feeds_find_filter(struct store *store, int64_t subscription_id,
    struct private_feed_filter **filter, GError **error)
{
	RECORD_LAYOUT(layout, private_feed_filter, "subscription", "int", (),
	    subscriber_id, created_at, label);
	static const char sql[] = "SELECT subscriber_id, created_at,"
	                          " coalesce(name, text) FROM subscription"
	                          " WHERE id = ?1 AND is_block = 0";

	return record_find(
	    store, sql, &layout, filter, error, SQL_INT(subscription_id));
}

struct filter {
	int64_t id; /* of the subscription */
	int64_t filter_id;
	bool is_block;
	const char *label;
	char since_day[11];
};

/* @return of struct filter *, by number */
static GPtrArray *
load_filters(struct store *store, int64_t subscriber_id, GError **error)
{
	RECORD_LAYOUT(layout, filter, "subscription", "iintd", (), id, filter_id,
	    is_block, label, since_day);
	static const char sql[] =
	    "SELECT id, filter_id, is_block, coalesce(name, text), since_day"
	    " FROM subscription WHERE subscriber_id = ?1 ORDER BY number";

	return record_load_all(store, sql, &layout, error, SQL_INT(subscriber_id));
}

/* A match of a filter. */
struct found {
	struct decided_match match;
	const struct filter *filter;
	bool is_shown;
	int64_t work; /* as in struct stored_paper */
};

/* By paper; filters stay in their order. */
static int
compare_found(const void *a, const void *b)
{
	int64_t one = ((const struct found *)a)->match.paper_seq;
	int64_t other = ((const struct found *)b)->match.paper_seq;

	return (one > other) - (one < other);
}

/*
 * Add the matches of a filter to show, or remove those of a block.
 *
 * @param found  of struct found; @param blocked  a set of paper.seq
 */
static bool
add_matches(struct store *store, const struct filter *filter, GArray *found,
    GHashTable *blocked, GError **error)
{
	g_autoptr(GArray) matches =
	    matches_load_decided(store, filter->filter_id, error);

	for (unsigned i = 0; matches && i < matches->len; i++) {
		struct decided_match match =
		    g_array_index(matches, struct decided_match, i);

		if (filter->is_block)
			g_hash_table_add(blocked,
			    g_memdup2(&match.paper_seq, sizeof(match.paper_seq)));
		else
			g_array_append_val(
			    found, ((struct found){match, filter, false, 0}));
	}
	return matches != NULL;
}

/* Show what was listed since its filter is there. @param count  at most SQL_LIST_MAX */
static bool
mark_shown(struct store *store, struct found *found, unsigned count, GError **error)
{
	static const char sql[] =
	    "SELECT seq, last_day, coalesce(work, 0) FROM paper WHERE seq IN"
	    " (" SQL_LIST("?") ")";
	struct sql_value values[SQL_LIST_MAX + 1] = {0};
	sql_auto *row = NULL;
	enum sql_step step = SQL_STEP_FAILED;

	for (unsigned i = 0; i < SQL_LIST_MAX; i++)
		values[i] = i < count ? SQL_INT(found[i].match.paper_seq) : SQL_NULL;
	row = sql_bind_values(store, sql, values, error);
	while (row && (step = record_next(row, "paper", "idn", error)) == SQL_STEP_ROW)
		for (unsigned i = 0; i < MIN(count, SQL_LIST_MAX); i++) {
			if (found[i].match.paper_seq != sql_get_int(row, 0))
				continue;
			found[i].is_shown = strcmp(sql_get_text(row, 1),
			                        found[i].filter->since_day) >= 0;
			found[i].work = sql_get_int(row, 2);
		}
	return step == SQL_STEP_DONE;
}

/* The newest first. */
static int
compare_entries(const void *a, const void *b)
{
	const struct private_feed_entry *one = *(void *const *)a;
	const struct private_feed_entry *other = *(void *const *)b;

	if (one->found_at != other->found_at)
		return one->found_at < other->found_at ? 1 : -1;
	return (one->paper_seq < other->paper_seq) -
	       (one->paper_seq > other->paper_seq);
}

/* Make the entry of a paper from its matches, which are adjacent. @return NULL if none
 * of them is shown */
static struct private_feed_entry *
make_entry(const struct found *found, unsigned count)
{
	g_autoptr(GString) labels = g_string_new(NULL);
	struct private_feed_entry *entry;
	int64_t found_at = -1;

	for (unsigned i = 0; i < count; i++) {
		if (!found[i].is_shown)
			continue;
		if (labels->len)
			g_string_append(labels, ", ");
		g_string_append(labels, found[i].filter->label);
		found_at = MAX(found_at, found[i].match.decided_at);
	}
	if (!labels->len)
		return NULL;
	/* In one block, as record_load_all() makes them. */
	entry = g_malloc0(sizeof(*entry) + labels->len + 1);
	entry->paper_seq = found->match.paper_seq;
	entry->work = found->work;
	entry->found_at = found_at;
	entry->filters = memcpy(entry + 1, labels->str, labels->len + 1);
	return entry;
}

/* Keep the record of each work that was found first. @param entries  newest first */
static void
unite_records(GPtrArray *entries)
{
	g_autoptr(GHashTable) works =
	    g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);

	for (unsigned i = entries->len; i-- > 0;) {
		int64_t work = ((struct private_feed_entry *)entries->pdata[i])->work;

		if (work && !g_hash_table_add(works, g_memdup2(&work, sizeof(work))))
			g_ptr_array_remove_index(entries, i);
	}
}

/* @param found  sorted, of struct found */
static GPtrArray *
make_entries(const GArray *found, GHashTable *blocked, unsigned limit)
{
	GPtrArray *entries = g_ptr_array_new_with_free_func(g_free);
	unsigned next;

	for (unsigned i = 0; i < found->len; i = next) {
		const struct found *first = &g_array_index(found, struct found, i);
		struct private_feed_entry *entry = NULL;

		for (next = i + 1; next < found->len; next++)
			if (compare_found(
			        first, &g_array_index(found, struct found, next)) != 0)
				break;
		if (!g_hash_table_contains(blocked, &first->match.paper_seq))
			entry = make_entry(first, next - i);
		if (entry)
			g_ptr_array_add(entries, entry);
	}
	g_ptr_array_sort(entries, compare_entries);
	unite_records(entries);
	g_ptr_array_set_size(entries, (int)MIN(entries->len, limit));
	return entries;
}

GPtrArray *
private_feeds_load(struct store *store, int64_t subscriber_id, int64_t subscription_id,
    unsigned limit, GError **error)
{
	g_autoptr(GPtrArray) filters = load_filters(store, subscriber_id, error);
	g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(struct found));
	g_autoptr(GHashTable) blocked =
	    g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);

	for (unsigned i = 0; filters && i < filters->len; i++) {
		const struct filter *filter = filters->pdata[i];

		if ((filter->is_block || !subscription_id ||
		        filter->id == subscription_id) &&
		    !add_matches(store, filter, found, blocked, error))
			return NULL;
	}
	if (!filters)
		return NULL;
	g_array_sort(found, compare_found);
	for (unsigned i = 0; i < found->len; i += SQL_LIST_MAX)
		if (!mark_shown(store, &g_array_index(found, struct found, i),
		        found->len - i, error))
			return NULL;
	return make_entries(found, blocked, limit);
}
