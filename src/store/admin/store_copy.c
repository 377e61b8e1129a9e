/*
 * store_copy.c - copy all rows of one store to another, between any two engines.
 */
#include "store/admin/store_copy.h"

#include <string.h>

#include "base/error.h"
#include "base/fnv1a.h"
#include "store/core/engine.h"
#include "store/core/sql.h"

/* A cursor of a store that is being written, which the copied rows replace. */
#define UNFINISHED "copy unfinished"

/* Rows between two calls of the caller. */
#define PROGRESS_ROWS 1000

/* A table of the catalog. */
struct table {
	char *name;
	GPtrArray *columns; /* of char *, by name */
	char *identity;     /* column that the engine numbers, or NULL */
};

/* ---- the catalog ---- */

static void
table_free(void *data)
{
	struct table *table = data;

	g_free(table->name);
	g_ptr_array_unref(table->columns);
	g_free(table->identity);
	g_free(table);
}

/* The index of the archive, and what is of one engine. */
static bool
is_local(const char *name)
{
	static const char *const names[] = {"acronym", "store_version", "vocabulary"};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (g_str_equal(name, names[i]))
			return true;
	return g_str_has_prefix(name, "paper_fts") || g_str_has_prefix(name, "sqlite_");
}

static struct table *
load_table(struct store *store, const char *name, GError **error)
{
	/* Columns, and whether they are numbered. */
	static const char sql[] =
	    "SELECT c.name, c.pk = 1 AND EXISTS (SELECT 1 FROM sqlite_schema s"
	    " WHERE s.name = ?1 AND s.sql LIKE '%AUTOINCREMENT%')"
	    " FROM pragma_table_info(?1) c ORDER BY c.name";
	static const char sql_server[] =
	    "SELECT CAST(a.attname AS TEXT), CASE WHEN a.attidentity <> '' THEN 1"
	    "  ELSE 0 END FROM pg_attribute a WHERE a.attrelid ="
	    " to_regclass(quote_ident(?1)) AND a.attnum > 0 AND NOT a.attisdropped"
	    " ORDER BY CAST(a.attname AS TEXT) COLLATE \"C\"";
	struct table *table = g_new0(struct table, 1);
	sql_auto *statement = store->postgresql
	                          ? sql_bind(store, sql_server, error, SQL_TEXT(name))
	                          : sql_bind(store, sql, error, SQL_TEXT(name));
	enum sql_step step = SQL_STEP_FAILED;

	table->name = g_strdup(name);
	table->columns = g_ptr_array_new_with_free_func(g_free);
	while (statement && (step = sql_step(statement, error)) == SQL_STEP_ROW) {
		g_ptr_array_add(table->columns, sql_dup_text(statement, 0));
		if (sql_get_int(statement, 1) == 1)
			table->identity = sql_dup_text(statement, 0);
	}
	if (step == SQL_STEP_DONE)
		return table;
	table_free(table);
	return NULL;
}

/* @return of struct table *, by name */
static GPtrArray *
load_tables(struct store *store, GError **error)
{
	static const char sql[] =
	    "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
	static const char sql_server[] =
	    "SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname ="
	    " current_schema() ORDER BY CAST(tablename AS TEXT) COLLATE \"C\"";
	g_autoptr(GPtrArray) tables = g_ptr_array_new_with_free_func(table_free);
	g_autoptr(GPtrArray) names = store->postgresql
	                                 ? sql_load_texts(store, sql_server, error)
	                                 : sql_load_texts(store, sql, error);

	for (guint i = 0; names && i < names->len; i++) {
		struct table *table;

		if (is_local(names->pdata[i]))
			continue;
		table = load_table(store, names->pdata[i], error);
		if (!table)
			return NULL;
		g_ptr_array_add(tables, table);
	}
	return names ? g_steal_pointer(&tables) : NULL;
}

static bool
are_equal(const GPtrArray *one, const GPtrArray *other)
{
	if (one->len != other->len)
		return false;
	for (guint i = 0; i < one->len; i++)
		if (!g_str_equal(one->pdata[i], other->pdata[i]))
			return false;
	return true;
}

/* Both stores have the same version, unless one was changed by hand. */
static bool
compare_tables(const GPtrArray *from, const GPtrArray *to, GError **error)
{
	for (guint i = 0; i < MAX(from->len, to->len); i++) {
		const struct table *one = i < from->len ? from->pdata[i] : NULL;
		const struct table *other = i < to->len ? to->pdata[i] : NULL;

		if (!one || !other || !g_str_equal(one->name, other->name) ||
		    !are_equal(one->columns, other->columns))
			return pb_fail(error, PB_ERROR_PERMANENT,
			    "the stores differ in table '%s'",
			    one ? one->name : other->name);
	}
	return true;
}

/* ---- rows ---- */

/* A static string for sql.h. @param text  taken */
static const char *
intern(char *text)
{
	const char *sql = g_intern_string(text);

	g_free(text);
	return sql;
}

/* @param text  taken */
static bool
run(struct store *store, char *text, GError **error)
{
	return sql_exec(store, intern(text), error);
}

/* Names in quotes, with commas. */
static char *
join(const GPtrArray *names)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < names->len; i++)
		g_string_append_printf(
		    text, "%s\"%s\"", i ? ", " : "", (char *)names->pdata[i]);
	return g_string_free(text, FALSE);
}

static char *
join_parameters(guint count)
{
	GString *text = g_string_new(NULL);

	for (guint i = 1; i <= count; i++)
		g_string_append_printf(text, "%s?%u", i > 1 ? ", " : "", i);
	return g_string_free(text, FALSE);
}

static const char *
make_select(const struct table *table)
{
	g_autofree char *columns = join(table->columns);

	return intern(g_strdup_printf("SELECT %s FROM \"%s\"", columns, table->name));
}

static const char *
make_insert(const struct table *table)
{
	g_autofree char *columns = join(table->columns);
	g_autofree char *parameters = join_parameters(table->columns->len);

	return intern(g_strdup_printf(
	    "INSERT INTO \"%s\" (%s) VALUES (%s)", table->name, columns, parameters));
}

static void
add_number(GByteArray *bytes, int64_t number)
{
	int64_t fixed = GINT64_TO_BE(number);

	g_byte_array_append(bytes, (const guint8 *)&fixed, sizeof(fixed));
}

static void
add_value(GByteArray *bytes, const struct sql_value *value)
{
	bool is_text = value->kind == SQL_KIND_TEXT;
	int64_t size = is_text ? (int64_t)strlen(value->text) : value->number;

	add_number(bytes, value->kind);
	add_number(bytes, size);
	if (is_text || value->kind == SQL_KIND_BLOB)
		g_byte_array_append(bytes, value->text, (guint)size);
}

static void
report(const struct store_copy_progress *progress, const char *doing, const char *what,
    int64_t rows)
{
	if (progress)
		progress->call(progress->data, doing, what, rows);
}

/* Rows being read, and written elsewhere. */
struct passing {
	struct store *to; /* NULL: they are only counted */
	const struct table *table;
	const char *insert;
	const struct store_copy_progress *progress;
	struct store_copy_table *sums;
	struct sql_value *values;
	GByteArray *bytes;
};

/* A text with a NUL character would be cut, and a server stores none. */
static bool
take_value(
    struct passing *passing, struct sql_statement *row, guint column, GError **error)
{
	struct sql_value *value = &passing->values[column];

	*value = sql_get_value(row, (int)column);
	if (value->kind == SQL_KIND_TEXT &&
	    strlen(value->text) != sql_get_bytes(row, (int)column).size)
		return pb_fail(error, PB_ERROR_INPUT,
		    "column '%s' of row %" G_GINT64_FORMAT " has a NUL character,"
		    " which must be removed",
		    (char *)passing->table->columns->pdata[column],
		    passing->sums->rows + 1);
	add_value(passing->bytes, value);
	return true;
}

static bool
pass_row(struct passing *passing, struct sql_statement *row, GError **error)
{
	g_byte_array_set_size(passing->bytes, 0);
	for (guint i = 0; i < passing->table->columns->len; i++)
		if (!take_value(passing, row, i, error))
			return false;
	if (passing->sums->rows++ % PROGRESS_ROWS == 0)
		report(passing->progress, passing->to ? "copying" : "reading",
		    passing->sums->name, passing->sums->rows);
	passing->sums->checksum +=
	    (uint64_t)fnv1a_hash(passing->bytes->data, passing->bytes->len);
	return !passing->to ||
	       sql_exec_values(passing->to, passing->insert, passing->values, error);
}

static bool
pass_rows(
    struct store *from, struct passing *passing, const char *select, GError **error)
{
	sql_auto *row = sql_bind(from, select, error);
	enum sql_step step = SQL_STEP_FAILED;

	while (row && (step = sql_step(row, error)) == SQL_STEP_ROW)
		if (!pass_row(passing, row, error))
			return false;
	return step == SQL_STEP_DONE;
}

/* libpq has all rows of a result in memory, so a server's are fetched in parts. */
static bool
pass_server_rows(
    struct store *from, struct passing *passing, const char *select, GError **error)
{
	const char *name = passing->table->name;
	const char *fetch =
	    intern(g_strdup_printf("FETCH 1000 FROM \"copy_%s\"", name));
	int64_t before;

	if (!run(from,
	        g_strdup_printf("DECLARE \"copy_%s\" CURSOR FOR %s", name, select),
	        error))
		return false;
	do {
		before = passing->sums->rows;
		if (!pass_rows(from, passing, fetch, error))
			return false;
	} while (passing->sums->rows > before);
	return run(from, g_strdup_printf("CLOSE \"copy_%s\"", name), error);
}

static void
store_copy_table_free(struct store_copy_table *table)
{
	g_free(table->name);
	g_free(table);
}

/* Read a table. @param to  also write it there; or NULL */
static struct store_copy_table *
pass_table(struct store *from, struct store *to, const struct table *table,
    const struct store_copy_progress *progress, GError **error)
{
	struct store_copy_table *sums = g_new0(struct store_copy_table, 1);
	struct passing passing = {
	    .to = to,
	    .table = table,
	    .insert = to ? make_insert(table) : NULL,
	    .progress = progress,
	    .sums = sums,
	    .values = g_new0(struct sql_value, table->columns->len + 1),
	    .bytes = g_byte_array_new(),
	};
	bool is_ok;

	sums->name = g_strdup(table->name);
	is_ok = (from->postgresql ? pass_server_rows : pass_rows)(
	    from, &passing, make_select(table), error);
	g_free(passing.values);
	g_byte_array_unref(passing.bytes);
	if (is_ok)
		return sums;
	g_prefix_error(error, "table '%s': ", table->name);
	store_copy_table_free(sums);
	return NULL;
}

/* ---- tables without indexes, triggers and references ---- */

/* @param commands  of char * */
static bool
run_all(struct store *store, const GPtrArray *commands,
    const struct store_copy_progress *progress, GError **error)
{
	for (guint i = 0; i < commands->len; i++) {
		report(progress, "indexing", NULL, i + 1);
		if (!run(store, g_strdup(commands->pdata[i]), error))
			return false;
	}
	return true;
}

#define OF_SCHEMA " = CAST(current_schema() AS regnamespace)"
#define IS_KEY    "k.contype IN ('p', 'u')"

/* Keys, references, other indexes and triggers, in an order in which they can be made,
 * or dropped.  @return of char *, commands; NULL on error */
static GPtrArray *
load_server_parts(struct store *to, bool drops, GError **error)
{
	static const char sql[] =
	    "SELECT CASE WHEN ?1 = 1 THEN dropping ELSE making END FROM ("
	    "SELECT CASE WHEN " IS_KEY " THEN 1 ELSE 3 END AS place,"
	    " format('ALTER TABLE %s DROP CONSTRAINT %I', CAST(k.conrelid AS regclass),"
	    "  k.conname) AS dropping,"
	    " format('ALTER TABLE %s ADD CONSTRAINT %I %s', CAST(k.conrelid AS "
	    "regclass),"
	    "  k.conname, pg_get_constraintdef(k.oid)) AS making"
	    " FROM pg_constraint k WHERE k.connamespace" OF_SCHEMA
	    " AND k.contype IN ('f', 'p', 'u') "
	    "UNION ALL "
	    "SELECT 2, format('DROP INDEX %s', CAST(i.indexrelid AS regclass)),"
	    " pg_get_indexdef(i.indexrelid) FROM pg_index i JOIN pg_class c"
	    " ON c.oid = i.indrelid WHERE c.relnamespace" OF_SCHEMA
	    " AND NOT EXISTS (SELECT 1 FROM pg_constraint k"
	    "  WHERE k.conindid = i.indexrelid AND " IS_KEY ") "
	    "UNION ALL "
	    "SELECT 4, format('ALTER TABLE %s DISABLE TRIGGER USER',"
	    "  CAST(c.oid AS regclass)), format('ALTER TABLE %s ENABLE TRIGGER USER',"
	    "  CAST(c.oid AS regclass)) FROM pg_class c WHERE c.relnamespace" OF_SCHEMA
	    " AND EXISTS (SELECT 1 FROM pg_trigger t WHERE t.tgrelid = c.oid"
	    "  AND NOT t.tgisinternal)"
	    ") AS part ORDER BY CASE WHEN ?1 = 1 THEN -place ELSE place END, making";

	return sql_load_texts(to, sql, error, SQL_INT(drops));
}

/* To write many rows is faster without them, and triggers have made what they make in
 * the other store.  @return of char *, commands that make them again, from their own
 * definitions; NULL on error */
static GPtrArray *
drop_parts(struct store *to, GError **error)
{
	static const char sql[] =
	    "SELECT sql FROM sqlite_schema WHERE type IN ('index', 'trigger')"
	    " AND sql IS NOT NULL ORDER BY rowid";
	static const char sql_drop[] =
	    "SELECT 'DROP ' || type || ' ' || name FROM sqlite_schema"
	    " WHERE type IN ('index', 'trigger') AND sql IS NOT NULL";
	g_autoptr(GPtrArray) made = to->postgresql ? load_server_parts(to, false, error)
	                                           : sql_load_texts(to, sql, error);
	g_autoptr(GPtrArray) drops = NULL;

	if (!made)
		return NULL;
	drops = to->postgresql ? load_server_parts(to, true, error)
	                       : sql_load_texts(to, sql_drop, error);
	return drops && run_all(to, drops, NULL, error) ? g_steal_pointer(&made) : NULL;
}

/* ---- the copy ---- */

/* No timeouts: a table may take long, and one store waits for the other.  No snapshot
 * where the tables are locked: what was written before the lock is seen. */
static bool
set_up(struct store *from, struct store *to, GError **error)
{
	static const char sql_isolation[] =
	    "SET TRANSACTION ISOLATION LEVEL READ COMMITTED";
	static const char sql[] =
	    "SELECT set_config('statement_timeout', '0', true),"
	    " set_config('idle_in_transaction_session_timeout', '0', true)";

	store_set_wait(from, STORE_WAIT_LONG_S);
	store_set_wait(to, STORE_WAIT_LONG_S);
	return (!to->postgresql ||
	           (sql_exec(to, sql_isolation, error) && sql_exec(to, sql, error))) &&
	       (!from->postgresql || sql_exec(from, sql, error));
}

static bool
lock_tables(struct store *to, const GPtrArray *tables, GError **error)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	g_autofree char *list = NULL;

	if (!to->postgresql)
		return true;
	for (guint i = 0; i < tables->len; i++)
		g_ptr_array_add(names, ((struct table *)tables->pdata[i])->name);
	list = join(names);
	return run(to, g_strdup_printf("LOCK TABLE %s", list), error);
}

/* A new store has rows in these only. */
static bool
is_filled(const struct table *table)
{
	return g_str_equal(table->name, "cursor") || g_str_equal(table->name, "job");
}

static bool
check_empty(struct store *to, const GPtrArray *tables, GError **error)
{
	for (guint i = 0; i < tables->len; i++) {
		const struct table *table = tables->pdata[i];
		char *sql = g_strdup_printf("SELECT count(*) FROM (SELECT 1 FROM \"%s\""
		                            " LIMIT 1) AS found",
		    table->name);
		int64_t has = 0;

		if (!sql_number(to, intern(sql), &has, error))
			return false;
		if (has && !is_filled(table))
			return pb_fail(error, PB_ERROR_INPUT,
			    "the store to write is not empty: its table '%s' has rows",
			    table->name);
	}
	return true;
}

static bool
clear_tables(struct store *to, const GPtrArray *tables, GError **error)
{
	for (guint i = 0; i < tables->len; i++) {
		const struct table *table = tables->pdata[i];

		if ((to->postgresql || is_filled(table)) &&
		    !run(to,
		        g_strdup_printf("%s \"%s\"",
		            to->postgresql ? "TRUNCATE" : "DELETE FROM", table->name),
		        error))
			return false;
	}
	return true;
}

struct copying {
	struct store *from, *to;
	const struct store_copy_progress *progress;
};

/* Numbers are never used again: continue after the last one that was. */
static bool
copy_sequence(
    struct store *from, struct store *to, const struct table *table, GError **error)
{
	static const char sql[] = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence"
	                          " WHERE name = ?1";
	static const char sql_server[] =
	    "SELECT coalesce(pg_sequence_last_value(CAST(pg_get_serial_sequence("
	    "quote_ident(?1), ?2) AS regclass)), 0)";
	static const char sql_delete[] = "DELETE FROM sqlite_sequence WHERE name = ?1";
	static const char sql_set[] =
	    "INSERT INTO sqlite_sequence (name, seq) VALUES (?1, ?2)";
	static const char sql_set_server[] =
	    "SELECT setval(CAST(pg_get_serial_sequence(quote_ident(?1), ?2) AS "
	    "regclass),"
	    " ?3)";
	char *newest = g_strdup_printf("SELECT coalesce(max(\"%s\"), 0) FROM \"%s\"",
	    table->identity, table->name);
	int64_t last, most;

	if (!sql_number(from, intern(newest), &most, error) ||
	    !(from->postgresql
	            ? sql_number(from, sql_server, &last, error, SQL_TEXT(table->name),
	                  SQL_TEXT(table->identity))
	            : sql_number(from, sql, &last, error, SQL_TEXT(table->name))))
		return false;
	last = MAX(last, most);
	if (!last)
		return true;
	if (to->postgresql)
		return sql_exec(to, sql_set_server, error, SQL_TEXT(table->name),
		    SQL_TEXT(table->identity), SQL_INT(last));
	return sql_exec(to, sql_delete, error, SQL_TEXT(table->name)) &&
	       sql_exec(to, sql_set, error, SQL_TEXT(table->name), SQL_INT(last));
}

static bool
copy_table(const struct copying *copying, const struct table *table, GPtrArray *copied,
    GError **error)
{
	struct store *from = copying->from, *to = copying->to;
	struct store_copy_table *sums =
	    pass_table(from, to, table, copying->progress, error);

	if (!sums)
		return false;
	g_ptr_array_add(copied, sums);
	return (!table->identity || copy_sequence(from, to, table, error)) &&
	       (!to->postgresql ||
	           run(to, g_strdup_printf("ANALYZE \"%s\"", table->name), error));
}

static bool
verify_table(const struct copying *copying, const struct table *table,
    const struct store_copy_table *wanted, GError **error)
{
	struct store_copy_table *found =
	    pass_table(copying->to, NULL, table, copying->progress, error);
	bool is_same;

	if (!found)
		return false;
	is_same = found->rows == wanted->rows && found->checksum == wanted->checksum;
	if (!is_same)
		pb_fail(error, PB_ERROR_PERMANENT,
		    "the copy of table '%s' differs: %" G_GINT64_FORMAT
		    " rows with checksum %016" G_GINT64_MODIFIER
		    "x instead of %" G_GINT64_FORMAT " with %016" G_GINT64_MODIFIER "x",
		    table->name, found->rows, found->checksum, wanted->rows,
		    wanted->checksum);
	store_copy_table_free(found);
	return is_same;
}

/* @param tables  of `to`, empty and locked  @return of struct store_copy_table * */
static GPtrArray *
copy_tables(const struct copying *copying, const GPtrArray *tables, GError **error)
{
	struct store *to = copying->to;
	g_autoptr(GPtrArray) copied =
	    g_ptr_array_new_with_free_func((GDestroyNotify)store_copy_table_free);
	g_autoptr(GPtrArray) parts = drop_parts(to, error);

	if (!parts || !clear_tables(to, tables, error))
		return NULL;
	for (guint i = 0; i < tables->len; i++)
		if (!copy_table(copying, tables->pdata[i], copied, error))
			return NULL;
	if (!run_all(to, parts, copying->progress, error))
		return NULL;
	for (guint i = 0; i < tables->len; i++)
		if (!verify_table(copying, tables->pdata[i], copied->pdata[i], error))
			return NULL;
	return g_steal_pointer(&copied);
}

bool
store_copy_rows(struct store *from, struct store *to,
    const struct store_copy_progress *progress, GPtrArray **tables, GError **error)
{
	const struct copying copying = {from, to, progress};
	g_autoptr(GPtrArray) wanted = NULL, found = NULL;
	GPtrArray *copied;

	if (!set_up(from, to, error))
		return false;
	wanted = load_tables(from, error);
	found = wanted ? load_tables(to, error) : NULL;
	if (!found || !compare_tables(wanted, found, error) ||
	    !lock_tables(to, found, error) || !check_empty(to, found, error))
		return false;
	copied = copy_tables(&copying, found, error);
	if (!copied)
		return false;
	*tables = copied;
	return true;
}

bool
store_copy_prepare(struct store *to, GError **error)
{
	static const char sql_files[] = "PRAGMA temp_store = FILE";
	/* The other store has checked references, some of which are to later rows. */
	static const char sql_keys[] = "PRAGMA foreign_keys = OFF";

	return to->postgresql ||
	       (sql_exec(to, sql_files, error) && sql_exec(to, sql_keys, error));
}

bool
store_copy_mark(struct store *to, GError **error)
{
	g_autoptr(GPtrArray) tables = load_tables(to, error);

	return tables && check_empty(to, tables, error) &&
	       store_save_cursor(to, UNFINISHED, 1, error);
}

bool
store_copy_check(struct store *store, const char *name, GError **error)
{
	int64_t is_unfinished;

	if (!store_load_cursor(store, UNFINISHED, 0, &is_unfinished, error))
		return false;
	return !is_unfinished ||
	       pb_fail(error, PB_ERROR_PERMANENT,
	           "'%s' is the result of a copy that did not end: run paperboyctl"
	           " store copy again",
	           name);
}
