/*
 * suppression.c - suppression list: addresses that must not be mailed.
 */
#include "store/core/suppression.h"

#include <sqlite3.h>

#include "base/error.h"
#include "base/token.h"
#include "store/core/record.h"

char *
suppression_hash(GBytes *key, const char *address_key)
{
	return token_hash_string(key, "suppression", address_key);
}

static char *
hash_with(GBytes *keys, unsigned number, const char *address_key)
{
	g_autoptr(GBytes) key = token_get_key(keys, number);

	return suppression_hash(key, address_key);
}

static void
run_hashes(sqlite3_context *context, int count, sqlite3_value **values)
{
	const char *address_key = (const char *)sqlite3_value_text(values[1]);
	g_autoptr(GBytes) keys = NULL;
	GString *list;

	(void)count;
	if (!address_key)
		return;
	keys = g_bytes_new(
	    sqlite3_value_blob(values[0]), (gsize)sqlite3_value_bytes(values[0]));
	list = g_string_new("[");
	for (unsigned i = 0; i < token_count_keys(keys); i++) {
		g_autofree char *hash = hash_with(keys, i, address_key);

		g_string_append_printf(list, "%s\"%s\"", i ? "," : "", hash);
	}
	g_string_append_c(list, ']');
	sqlite3_result_text(context, g_string_free(list, FALSE), -1, g_free);
}

int
suppression_register(struct sqlite3 *db)
{
	return sqlite3_create_function(db, "suppression_hashes", 2,
	    SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL, run_hashes,
	    NULL, NULL);
}

bool
suppression_insert(struct store *store, const char *hash, const char *reason,
    int64_t now, GError **error)
{
	static const char sql[] =
	    "INSERT INTO suppression (hash, reason, at) VALUES (?1, ?2, ?3)"
	    " ON CONFLICT (hash) DO NOTHING";

	return sql_exec(
	    store, sql, error, SQL_TEXT(hash), SQL_TEXT(reason), SQL_INT(now));
}

bool
suppression_delete(
    struct store *store, GBytes *keys, const char *address_key, GError **error)
{
	static const char sql[] = "DELETE FROM suppression WHERE hash = ?1";
	unsigned sum = 0, count;

	for (unsigned i = 0; i < token_count_keys(keys); i++) {
		g_autofree char *hash = hash_with(keys, i, address_key);

		if (!sql_exec_count(store, sql, &count, error, SQL_TEXT(hash)))
			return false;
		sum += count;
	}
	if (sum)
		return true;
	return pb_fail(error, PB_ERROR_NOT_FOUND, "the address is not suppressed");
}

#define COLUMN(...) RECORD_COLUMN(suppression, __VA_ARGS__)
static const struct record_column columns[] = {
    COLUMN(hash), COLUMN(reason, RECORD_CHECK(SUPPRESSION_REASON)), COLUMN(at)};
static const struct record_layout layout = RECORD_LAYOUT(suppression, columns);

bool
suppression_find(struct store *store, GBytes *keys, const char *address_key,
    struct suppression **suppression, GError **error)
{
	static const char sql[] =
	    "SELECT hash, reason, at FROM suppression WHERE hash = ?1";
	g_autofree struct suppression *oldest = NULL;

	for (unsigned i = 0; i < token_count_keys(keys); i++) {
		g_autofree char *hash = hash_with(keys, i, address_key);
		sql_auto *statement = sql_bind(store, sql, error, SQL_TEXT(hash));
		g_autofree struct suppression *found = NULL;

		if (!record_find(statement, &layout, &found, error))
			return false;
		if (found && (!oldest || found->at < oldest->at)) {
			g_free(oldest);
			oldest = g_steal_pointer(&found);
		}
	}
	*suppression = g_steal_pointer(&oldest);
	return true;
}

GPtrArray *
suppression_load_page(
    struct store *store, const char *after, unsigned limit, GError **error)
{
	static const char sql[] = "SELECT hash, reason, at FROM suppression"
	                          " WHERE hash > ?1 ORDER BY hash LIMIT ?2";
	sql_auto *statement =
	    sql_bind(store, sql, error, SQL_TEXT(after), SQL_INT(limit));

	return record_load_all(statement, &layout, error);
}

bool
suppression_count(struct store *store, int64_t *count, GError **error)
{
	static const char sql[] = "SELECT count(*) FROM suppression";

	return sql_number(store, sql, count, error);
}
