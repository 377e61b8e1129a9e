/*
 * source_lists.c - the configured source lists, and their state on a day.
 */
#include "store/paper/source_lists.h"

#include "base/error.h"
#include "query/query.h"
#include "store/core/record.h"

static bool
is_same(const struct source_list *one, const struct source_list *other)
{
	return g_strcmp0(one->name, other->name) == 0 &&
	       g_strcmp0(one->label, other->label) == 0 &&
	       one->expected_by == other->expected_by && one->wait_s == other->wait_s;
}

static bool
are_same(const GPtrArray *one, const GPtrArray *other)
{
	for (unsigned i = 0; i < one->len && one->len == other->len; i++)
		if (!is_same(one->pdata[i], other->pdata[i]))
			return false;
	return one->len == other->len;
}

bool
source_lists_save(struct store *store, const GPtrArray *lists, GError **error)
{
	static const char sql_clear[] = "DELETE FROM source_list";
	static const char sql[] =
	    "INSERT INTO source_list (position, name, label, expected_by, wait_s)"
	    " VALUES (?1, ?2, ?3, ?4, ?5)";
	g_autoptr(GPtrArray) stored = source_lists_load(store, error);

	/* Avoid a write: the lists seldom change. */
	if (!stored || are_same(stored, lists))
		return stored != NULL;
	if (!sql_exec(store, sql_clear, error))
		return false;
	for (unsigned i = 0; i < lists->len; i++) {
		const struct source_list *list = lists->pdata[i];

		if (!sql_exec(store, sql, error, SQL_INT(i), SQL_TEXT(list->name),
		        SQL_TEXT(list->label), SQL_INT_OR_NULL(list->expected_by),
		        SQL_INT(list->wait_s)))
			return false;
	}
	return true;
}

GPtrArray *
source_lists_load(struct store *store, GError **error)
{
	static const char sql[] = "SELECT name, label, expected_by, wait_s FROM "
	                          "source_list ORDER BY position";
	RECORD_LAYOUT(layout, source_list, "source_list", "ttNn", (), name, label,
	    expected_by, wait_s);

	return record_load_all(store, sql, &layout, error);
}

bool
source_lists_load_day(struct store *store, const char *name, const char *day,
    struct source_list_day *found, GError **error)
{
	static const char sql[] =
	    "SELECT (SELECT count FROM source_fetch WHERE source = ?1 AND day = ?2"
	    "  AND status = 'ok' ORDER BY id DESC LIMIT 1),"
	    " (SELECT count(*) FROM listing WHERE source = ?1 AND day = ?2),"
	    " EXISTS (SELECT 1 FROM source_fetch WHERE source = ?1 AND day = ?2"
	    "  AND status = 'empty'),"
	    /*
	     * A later success for any day ends a failure, unless that is specific to
	     * its day.
	     */
	    " coalesce((SELECT status FROM source_fetch f WHERE source = ?1 AND day = "
	    "?2"
	    "  AND (status <> 'failed' OR is_of_day = 1 OR NOT EXISTS (SELECT 1"
	    "   FROM source_fetch g WHERE g.source || '' = ?1 AND g.id > f.id"
	    "   AND g.status <> 'failed'))"
	    "  ORDER BY id DESC LIMIT 1), '')";
	sql_auto *statement =
	    sql_bind(store, sql, error, SQL_TEXT(name), SQL_TEXT(day));

	if (!statement ||
	    record_next(statement, "source_fetch", "Nnnt", error) != SQL_STEP_ROW)
		return false;
	found->listed = sql_get_int(statement, 0);
	found->stored = sql_get_int(statement, 1);
	found->is_empty = sql_get_int(statement, 2) == 1;
	g_strlcpy(found->status, sql_get_text(statement, 3), sizeof(found->status));
	return true;
}

bool
source_lists_load_sum(struct store *store, const char *name, const char *after,
    const char *through, struct source_list_sum *sum, GError **error)
{
	static const char sql[] =
	    "SELECT (SELECT coalesce(sum(f.count), 0) FROM source_fetch f"
	    "  WHERE f.source = ?1 AND f.day > ?2 AND f.day <= ?3 AND f.status = 'ok'"
	    "  AND f.id = (SELECT max(g.id) FROM source_fetch g WHERE g.source = ?1"
	    "   AND g.day = f.day AND g.status = 'ok')),"
	    " (SELECT count(*) FROM listing WHERE source = ?1 AND day > ?2"
	    "  AND day <= ?3)";
	sql_auto *statement = sql_bind(
	    store, sql, error, SQL_TEXT(name), SQL_TEXT(after), SQL_TEXT(through));

	if (!statement ||
	    record_next(statement, "source_fetch", "nn", error) != SQL_STEP_ROW)
		return false;
	sum->listed = sql_get_int(statement, 0);
	sum->stored = sql_get_int(statement, 1);
	return true;
}

bool
source_lists_load_history(struct store *store, const char *name,
    struct source_list_history *history, GError **error)
{
	static const char sql[] =
	    "SELECT (SELECT fetched_at FROM source_fetch WHERE source = ?1"
	    "  ORDER BY id LIMIT 1),"
	    " (SELECT fetched_at FROM source_fetch WHERE source = ?1"
	    "  AND status <> 'failed' ORDER BY id DESC LIMIT 1),"
	    " (SELECT count FROM source_fetch WHERE source = ?1 AND status = 'ok'"
	    "  ORDER BY day DESC, id DESC LIMIT 1),"
	    " coalesce((SELECT status FROM source_fetch WHERE source = ?1"
	    "  ORDER BY id DESC LIMIT 1), '') = 'failed',"
	    " coalesce((SELECT day FROM source_fetch WHERE source = ?1 AND status = "
	    "'ok'"
	    "  ORDER BY day DESC, id DESC LIMIT 1), '')";
	sql_auto *statement = sql_bind(store, sql, error, SQL_TEXT(name));

	if (!statement ||
	    record_next(statement, "source_fetch", "NNNnD", error) != SQL_STEP_ROW)
		return false;
	history->fetched_at = sql_get_int(statement, 0);
	history->good_at = sql_get_int(statement, 1);
	history->listed = sql_get_int(statement, 2);
	history->is_failing = sql_get_int(statement, 3) == 1;
	g_strlcpy(history->newest_day, sql_get_text(statement, 4),
	    sizeof(history->newest_day));
	return true;
}

/* ---- another name ---- */

struct renaming {
	struct store *store;
	const char *from, *to;
	GRegex *clause; /* a clause on the old name, up to the name */
};

struct text_row {
	int64_t id;
	const char *text;
};

static bool
has_name(struct store *store, const char *name, bool *has, GError **error)
{
	static const char sql[] =
	    "SELECT EXISTS (SELECT 1 FROM listing WHERE source = ?1"
	    "  OR substr(source, 1, length(?1) + 1) = ?1 || '/')"
	    " OR EXISTS (SELECT 1 FROM source_fetch WHERE source = ?1"
	    "  OR substr(source, 1, length(?1) + 1) = ?1 || '/')";

	return sql_has(store, sql, has, error, SQL_TEXT(name));
}

static bool
names_source(const struct query *query, const char *name)
{
	g_autoptr(GPtrArray) names = query_list_sources(query);

	return g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL);
}

static char *
replace_name(const struct renaming *renaming, const char *text)
{
	g_autofree char *with = g_strconcat("\\1", renaming->to, NULL);

	return g_regex_replace(renaming->clause, text, -1, 0, with, 0, NULL);
}

/*
 * Replace the name in a filter.
 *
 * @param text       as typed, or canonical
 * @param canonical  set to the new canonical text; NULL: the filter is not about the
 *                   source
 * @return the new text: as typed if that is possible, else canonical
 */
static char *
rename_filter(const struct renaming *renaming, const char *text, char **canonical)
{
	const struct tokenizer *tokenizer = store_get_tokenizer(renaming->store);
	pb_auto(query) query = query_parse_canonical(text, tokenizer, NULL);
	g_autofree char *old = NULL, *middle = NULL, *typed = NULL, *retyped = NULL;
	pb_auto(query) renamed = NULL;
	pb_auto(query) again = NULL;

	*canonical = NULL;
	if (!query || !names_source(query, renaming->from))
		return NULL;
	old = query_format(query);
	middle = replace_name(renaming, old);
	renamed = query_parse_canonical(middle, tokenizer, NULL);
	if (!renamed)
		return NULL;
	*canonical = query_format(renamed);
	typed = replace_name(renaming, text);
	again = query_parse_canonical(typed, tokenizer, NULL);
	retyped = again ? query_format(again) : NULL;
	return g_strdup(g_strcmp0(retyped, *canonical) == 0 ? typed : *canonical);
}

static GPtrArray *
load_texts(const struct renaming *renaming, const char *sql, GError **error)
{
	RECORD_LAYOUT(layout, text_row, "filter", "it", (), id, text);

	return record_load_all(
	    renaming->store, sql, &layout, error, SQL_TEXT(renaming->from));
}

/* @param filters  increased by the number of changed filters */
static bool
rename_filters(const struct renaming *renaming, unsigned *filters, GError **error)
{
	static const char sql_load[] = "SELECT id, canonical FROM filter"
	                               " WHERE canonical LIKE '%source:' || ?1 || '%'";
	static const char sql[] =
	    "UPDATE filter SET canonical = ?2, hash = ?3 WHERE id = ?1"
	    " AND NOT EXISTS (SELECT 1 FROM filter f WHERE f.canonical = ?2)";
	/* Somebody has the new one already. */
	static const char sql_move[] =
	    "UPDATE subscription SET filter_id ="
	    "  (SELECT f.id FROM filter f WHERE f.canonical = ?2) WHERE filter_id = ?1"
	    " AND NOT EXISTS (SELECT 1 FROM subscription s JOIN filter f"
	    "  ON f.id = s.filter_id WHERE f.canonical = ?2"
	    "  AND s.subscriber_id = subscription.subscriber_id)";
	g_autoptr(GPtrArray) rows = load_texts(renaming, sql_load, error);

	for (unsigned i = 0; rows && i < rows->len; i++) {
		const struct text_row *row = rows->pdata[i];
		g_autofree char *canonical = NULL;
		g_autofree char *text = rename_filter(renaming, row->text, &canonical);
		g_autofree char *hash = text ? g_compute_checksum_for_string(
		                                   G_CHECKSUM_SHA256, canonical, -1)
		                             : NULL;
		unsigned count;

		if (!text)
			continue;
		if (!sql_exec_count(renaming->store, sql, &count, error,
		        SQL_INT(row->id), SQL_TEXT(canonical), SQL_TEXT(hash)) ||
		    (!count && !sql_exec(renaming->store, sql_move, error,
		                   SQL_INT(row->id), SQL_TEXT(canonical))))
			return false;
		(*filters)++;
	}
	return rows != NULL;
}

/* Change filters as typed.  @param sql_load  to load ids and texts */
static bool
rename_typed(const struct renaming *renaming, const char *sql_load, const char *sql,
    GError **error)
{
	g_autoptr(GPtrArray) rows = load_texts(renaming, sql_load, error);

	for (unsigned i = 0; rows && i < rows->len; i++) {
		const struct text_row *row = rows->pdata[i];
		g_autofree char *canonical = NULL;
		g_autofree char *text = rename_filter(renaming, row->text, &canonical);

		if (text && !sql_exec(renaming->store, sql, error, SQL_INT(row->id),
		                SQL_TEXT(text), SQL_TEXT(row->text)))
			return false;
	}
	return rows != NULL;
}

#define IS_LIST "(source = ?1 OR substr(source, 1, length(?1) + 1) = ?1 || '/')"

/* Statements with the old and the new name. */
static const char *const sql_rename[] = {
    "UPDATE listing SET source = ?2 || substr(source, length(?1) + 1) WHERE " IS_LIST,
    "UPDATE source_fetch SET source = ?2 || substr(source, length(?1) + 1)"
    " WHERE " IS_LIST,
    "DELETE FROM source_list WHERE name = ?1 OR name = ?2"
    " OR substr(name, 1, length(?1) + 1) = ?1 || '/'",
    /* Identifiers of its own, see model/paper_id.h. */
    "UPDATE paper SET id = ?2 || substr(id, length(?1) + 1)"
    " WHERE substr(id, 1, length(?1) + 1) = ?1 || ':'",
    "UPDATE paper_alias SET name = ?2 || substr(name, length(?1) + 1)"
    " WHERE substr(name, 1, length(?1) + 1) = ?1 || ':'",
    "UPDATE paper_alias SET name = 'post=' || ?2 || substr(name, length(?1) + 6)"
    " WHERE substr(name, 1, length(?1) + 6) = 'post=' || ?1 || ':'",
};

bool
source_lists_rename(struct store *store, const char *from, const char *to,
    unsigned *filters, GError **error)
{
	g_autofree char *pattern =
	    g_strdup_printf("(source:\\s*\"?)%s(?![a-z0-9-])", from);
	g_autoptr(GRegex) clause = g_regex_new(pattern, G_REGEX_CASELESS, 0, NULL);
	const struct renaming renaming = {store, from, to, clause};
	bool has_old, has_new;

	*filters = 0;
	if (!has_name(store, from, &has_old, error) ||
	    !has_name(store, to, &has_new, error))
		return false;
	if (!has_old)
		return pb_fail(
		    error, PB_ERROR_NOT_FOUND, "no source '%s' has been fetched", from);
	if (has_new)
		return pb_fail(error, PB_ERROR_INPUT,
		    "there is a source '%s' already: choose another name", to);
	for (size_t i = 0; i < G_N_ELEMENTS(sql_rename); i++)
		if (!sql_exec(
		        store, sql_rename[i], error, SQL_TEXT(from), SQL_TEXT(to)))
			return false;
	return rename_filters(&renaming, filters, error) &&
	       rename_typed(&renaming,
	           "SELECT id, text FROM subscription WHERE lower(text) LIKE"
	           " '%source:%' || ?1 || '%'",
	           "UPDATE subscription SET text = ?2 WHERE id = ?1 AND text = ?3",
	           error) &&
	       rename_typed(&renaming,
	           "SELECT share_id, text FROM share_version WHERE lower(text) LIKE"
	           " '%source:%' || ?1 || '%'",
	           "UPDATE share_version SET text = ?2 WHERE share_id = ?1"
	           " AND text = ?3",
	           error);
}
