/*
 * filter_index.c - index of filters by the terms that a matching paper must contain.
 */
#include "store/paper/filter_index.h"

#include "store/core/record.h"
#include "store/core/transaction.h"
#include "store/paper/archive.h"
#include "store/paper/filter_progress.h"

/* Cursors: papers in the archive at the last rebuild; the last filter of a rebuild in
 * progress, or 0. */
#define INDEXED_PAPERS "indexed papers"
#define INDEXED_FILTER "indexed filter"

/* Number of papers as which the size of a smaller archive counts: its growth up to this
 * number does not make all filters be indexed again. */
#define ARCHIVE_LEAST 1000

static bool
load_papers(void *data, const struct term *term, int64_t *papers, GError **error)
{
	return term->kind == TERM_PREFIX
	           ? archive_count_prefix(data, term->text, papers, error)
	           : archive_count_class(data, term->text, papers, error);
}

static bool
insert_term(
    struct store *store, int64_t filter_id, const struct term *term, GError **error)
{
	static const char sql[] = "INSERT INTO filter_term (kind, term, filter_id)"
	                          " VALUES (?1, ?2, ?3)";

	return sql_exec(store, sql, error, SQL_INT(term->kind), SQL_TEXT(term->text),
	    SQL_INT(filter_id));
}

bool
filter_index_save(
    struct store *store, int64_t filter_id, const char *canonical, GError **error)
{
	static const char sql_delete[] = "DELETE FROM filter_term WHERE filter_id = ?1";
	static const struct term always = {TERM_ALWAYS, (char *)""};
	const struct document_frequency frequency = {load_papers, store};
	pb_auto(query) query =
	    query_parse_canonical(canonical, store_get_tokenizer(store), NULL);
	g_autoptr(GPtrArray) terms = NULL;

	if (query) {
		terms = terms_select_required(query, &frequency, error);
		if (!terms)
			return false;
	}
	if (!sql_exec(store, sql_delete, error, SQL_INT(filter_id)))
		return false;
	if (!terms)
		return insert_term(store, filter_id, &always, error);
	for (unsigned i = 0; i < terms->len; i++)
		if (!insert_term(store, filter_id, terms->pdata[i], error))
			return false;
	return true;
}

/* Fill in pairs of the index and the text of a term. @return how many fit */
static unsigned
fill_terms(const GPtrArray *texts, unsigned first, struct sql_value *values)
{
	unsigned count = MIN(texts->len - first, SQL_LIST_MAX);

	for (unsigned i = 0; i < SQL_LIST_MAX; i++) {
		bool has = first + i < texts->len;

		values[2 * i] = has ? SQL_INT(first + i) : SQL_NULL;
		values[2 * i + 1] = has ? SQL_TEXT(texts->pdata[first + i]) : SQL_NULL;
	}
	return count;
}

bool
filter_index_find(struct store *store, const struct filter_index_terms *terms,
    const struct filter_index_range *range,
    void (*found)(void *data, unsigned term, int64_t filter_id), void *data,
    GError **error)
{
	/* One statement for sorted terms: adjacent ones are mostly on the same page. */
	static const char sql[] =
	    SQL_WITH_LIST("WITH j (number, text) AS (VALUES ", "(?, ?)", "(?, ?)",
	        ") SELECT j.number, t.filter_id FROM j CROSS JOIN filter_term t"
	        " WHERE t.kind = ? AND t.term = j.text"
	        " AND t.filter_id" SQL_NO_INDEX " > ?"
	        " AND t.filter_id" SQL_NO_INDEX " <= ?");
	struct sql_value values[2 * SQL_LIST_MAX + 4];
	unsigned count;

	for (unsigned first = 0; first < terms->texts->len; first += count) {
		sql_auto *statement = NULL;
		enum sql_step step = SQL_STEP_FAILED;
		struct sql_value *last;

		count = fill_terms(terms->texts, first, values);
		last = &values[2 * SQL_LIST_MAX];
		last[0] = SQL_INT(terms->kind);
		last[1] = SQL_INT(range->after);
		last[2] = SQL_INT(range->through);
		last[3] = (struct sql_value){0};
		statement = sql_bind_values(store, sql, values, error);
		while (statement && (step = record_next(statement, "filter_term", "ni",
		                         error)) == SQL_STEP_ROW)
			found(data, (unsigned)sql_get_int(statement, 0),
			    sql_get_int(statement, 1));
		if (step != SQL_STEP_DONE)
			return false;
	}
	return true;
}

static bool
index_all(struct store *store, const GPtrArray *filters, GError **error)
{
	for (unsigned i = 0; i < filters->len; i++) {
		const struct stored_filter *filter = filters->pdata[i];

		if (!filter_index_save(store, filter->id, filter->canonical, error))
			return false;
	}
	return true;
}

/* @param data  struct filter_index_range * */
static bool
repair_range(struct store *store, void *data, GError **error)
{
	const struct filter_index_range *range = data;
	g_autoptr(GPtrArray) filters = filter_progress_load_unindexed(
	    store, range->after, range->through, G_MAXUINT, error);

	return filters && index_all(store, filters, error);
}

bool
filter_index_repair(struct store *store, unsigned limit, GError **error)
{
	struct filter_index_range range = {0};

	for (;;) {
		/* Reads every filter: before the transaction, so that no writer waits.
		 */
		g_autoptr(GPtrArray) filters = filter_progress_load_unindexed(
		    store, range.through, INT64_MAX, limit, error);
		const struct stored_filter *last;

		if (!filters)
			return false;
		if (!filters->len)
			return true;
		last = filters->pdata[filters->len - 1];
		range = (struct filter_index_range){range.through, last->id};
		if (!store_transact(store, repair_range, &range, error))
			return false;
	}
}

/*
 * Whether the archive has doubled or halved in size, so that rare terms may have become
 * common or vice versa.
 */
static bool
is_stale(int64_t indexed, int64_t papers)
{
	indexed = MAX(indexed, ARCHIVE_LEAST);
	papers = MAX(papers, ARCHIVE_LEAST);
	return papers >= 2 * indexed || indexed >= 2 * papers;
}

bool
filter_index_rebuild(struct store *store, unsigned limit, bool *is_done, GError **error)
{
	struct archive_size size;
	int64_t indexed, after;
	g_autoptr(GPtrArray) filters = NULL;

	if (!archive_load_size(store, &size, error) ||
	    !store_load_cursor(store, INDEXED_PAPERS, 0, &indexed, error) ||
	    !store_load_cursor(store, INDEXED_FILTER, 0, &after, error))
		return false;
	*is_done = !is_stale(indexed, size.papers);
	if (*is_done)
		return true;
	filters = filter_progress_load_filters(store, after, limit, error);
	if (!filters || !index_all(store, filters, error))
		return false;
	if (filters->len == limit) {
		const struct stored_filter *last = filters->pdata[limit - 1];

		return store_save_cursor(store, INDEXED_FILTER, last->id, error);
	}
	*is_done = true;
	return store_save_cursor(store, INDEXED_FILTER, 0, error) &&
	       store_save_cursor(store, INDEXED_PAPERS, size.papers, error);
}
