/*
 * store_copy.c - copy all rows of one store to another, between any two engines.
 */
#include "store/core/store_copy.h"

#include <string.h>

#include "base/error.h"
#include "base/fnv1a.h"
#include "store/core/sql.h"

/* Rows that are read at once from a server: messages have up to a quarter of a
 * megabyte. SQLite reads one after the other, but pages by several columns would not
 * use an index.
 */
#define PAGE_ROWS "200"

/* A table of the catalog. */
struct table {
	char *name;
	GPtrArray *columns; /* of char *, by name */
	GPtrArray *keys;    /* of char *: columns of the primary key, in its order */
	char *identity;     /* column that the engine numbers, or NULL */
};

/* ---- the catalog ---- */

static void
table_free(void *data)
{
	struct table *table = data;

	g_free(table->name);
	g_ptr_array_unref(table->columns);
	g_ptr_array_unref(table->keys);
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

/* Its rows have to be read in an order. */
static bool
check_key(const struct table *table, GError **error)
{
	return table->keys->len || pb_fail(error, PB_ERROR_PERMANENT,
	                               "table '%s' has no primary key", table->name);
}

static struct table *
load_table(struct store *store, const char *name, GError **error)
{
	/* Columns, their places in the primary key, and whether they are numbered. */
	static const char sql[] =
	    "SELECT c.name, c.pk, c.pk = 1 AND EXISTS (SELECT 1 FROM sqlite_schema s"
	    " WHERE s.name = ?1 AND s.sql LIKE '%AUTOINCREMENT%')"
	    " FROM pragma_table_info(?1) c ORDER BY c.name";
	static const char sql_server[] =
	    "SELECT CAST(a.attname AS TEXT), coalesce((SELECT k.place FROM pg_index i,"
	    "  unnest(CAST(i.indkey AS int2[])) WITH ORDINALITY AS k (number, place)"
	    "  WHERE i.indrelid = a.attrelid AND i.indisprimary"
	    "  AND k.number = a.attnum), 0), CASE WHEN a.attidentity <> '' THEN 1"
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
	table->keys = g_ptr_array_new_with_free_func(g_free);
	while (statement && (step = sql_step(statement, error)) == SQL_STEP_ROW) {
		guint place = (guint)sql_get_int(statement, 1);

		g_ptr_array_add(table->columns, sql_dup_text(statement, 0));
		if (place > table->keys->len)
			g_ptr_array_set_size(table->keys, (gint)place);
		if (place)
			table->keys->pdata[place - 1] = sql_dup_text(statement, 0);
		if (sql_get_int(statement, 2) == 1)
			table->identity = sql_dup_text(statement, 0);
	}
	if (step == SQL_STEP_DONE && check_key(table, error))
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

static struct table *
find_table(const GPtrArray *tables, const char *name)
{
	for (guint i = 0; i < tables->len; i++)
		if (g_str_equal(((struct table *)tables->pdata[i])->name, name))
			return tables->pdata[i];
	return NULL;
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
		const struct table *table = (i < from->len ? from : to)->pdata[i];
		const struct table *one = find_table(from, table->name);
		const struct table *other = find_table(to, table->name);

		if (!one || !other || !are_equal(one->columns, other->columns) ||
		    !are_equal(one->keys, other->keys))
			return pb_fail(error, PB_ERROR_PERMANENT,
			    "the stores differ in table '%s'", table->name);
	}
	return true;
}

static void
add_after_parents(
    GPtrArray *order, const GPtrArray *tables, const GPtrArray *pairs, const char *name)
{
	struct table *table = find_table(tables, name);

	if (!table || g_ptr_array_find(order, table, NULL))
		return;
	for (guint i = 0; i + 1 < pairs->len; i += 2)
		if (g_str_equal(pairs->pdata[i], name) &&
		    !g_str_equal(pairs->pdata[i + 1], name))
			add_after_parents(order, tables, pairs, pairs->pdata[i + 1]);
	g_ptr_array_add(order, table);
}

/* References are checked with each row: those to rows that do not exist yet would not
 * be accepted, or would take long.  @return of struct table *, borrowed, after those
 * that they refer to */
static GPtrArray *
order_tables(struct store *to, const GPtrArray *tables, GError **error)
{
	/* Pairs of names: a table, and one that it refers to. */
	static const char sql[] =
	    "SELECT CASE half.column1 WHEN 1 THEN s.name ELSE f.\"table\" END"
	    " FROM sqlite_schema s, pragma_foreign_key_list(s.name) f,"
	    " (VALUES (1), (2)) AS half WHERE s.type = 'table'"
	    " ORDER BY s.name, f.\"table\", f.id, half.column1";
	static const char sql_server[] =
	    "SELECT CAST(unnest(ARRAY[c.relname, p.relname]) AS TEXT)"
	    " FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid"
	    " JOIN pg_class p ON p.oid = k.confrelid WHERE k.contype = 'f'"
	    " AND k.connamespace = current_schema()::regnamespace";
	g_autoptr(GPtrArray) pairs = to->postgresql
	                                 ? sql_load_texts(to, sql_server, error)
	                                 : sql_load_texts(to, sql, error);
	GPtrArray *order;

	if (!pairs)
		return NULL;
	order = g_ptr_array_new();
	for (guint i = 0; i < tables->len; i++)
		add_after_parents(
		    order, tables, pairs, ((struct table *)tables->pdata[i])->name);
	return order;
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

/* @param is_first  of the pages */
static const char *
make_select(const struct store *from, const struct table *table, bool is_first)
{
	g_autofree char *columns = join(table->columns);
	g_autofree char *keys = join(table->keys);
	g_autofree char *parameters = join_parameters(table->keys->len);
	g_autofree char *after =
	    is_first ? g_strdup("")
	             : g_strdup_printf(" WHERE (%s) > (%s)", keys, parameters);
	g_autofree char *page =
	    g_strdup_printf("%s ORDER BY %s LIMIT " PAGE_ROWS, after, keys);

	return intern(g_strdup_printf("SELECT %s, %s FROM \"%s\"%s", columns, keys,
	    table->name, from->postgresql ? page : ""));
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

/* Keys of the last row of a page. */
struct place {
	struct sql_value *values; /* ended by SQL_KIND_END */
	GPtrArray *texts;         /* of char *: theirs */
};

static void
place_init(struct place *place, const struct table *table)
{
	place->values = g_new0(struct sql_value, table->keys->len + 1);
	place->texts = g_ptr_array_new_with_free_func(g_free);
}

static void
place_clear(struct place *place)
{
	g_free(place->values);
	g_ptr_array_unref(place->texts);
}

static void
place_set(struct place *place, struct sql_statement *row, const struct table *table)
{
	g_ptr_array_set_size(place->texts, 0);
	for (guint i = 0; i < table->keys->len; i++) {
		struct sql_value value =
		    sql_get_value(row, (int)(table->columns->len + i));

		if (value.kind == SQL_KIND_TEXT) {
			value.text = g_strdup(value.text);
			g_ptr_array_add(place->texts, (char *)value.text);
		}
		place->values[i] = value;
	}
}

/* Rows being read, and written elsewhere. */
struct passing {
	struct store *from;
	struct store *to; /* NULL: they are only counted */
	const struct table *table;
	const char *select_first, *select, *insert;
	struct store_copy_table *sums;
	struct sql_value *values;
	GByteArray *bytes;
};

static bool
pass_row(struct passing *passing, struct sql_statement *row, GError **error)
{
	guint count = passing->table->columns->len;

	g_byte_array_set_size(passing->bytes, 0);
	for (guint i = 0; i < count; i++) {
		passing->values[i] = sql_get_value(row, (int)i);
		add_value(passing->bytes, &passing->values[i]);
	}
	passing->sums->rows++;
	passing->sums->checksum +=
	    (uint64_t)fnv1a_hash(passing->bytes->data, passing->bytes->len);
	return !passing->to ||
	       sql_exec_values(passing->to, passing->insert, passing->values, error);
}

/*
 * @param after    bound while the page is read
 * @param next     set to the last row, if any
 * @param is_last  set when there are no more
 */
static bool
pass_page(struct passing *passing, const struct place *after, struct place *next,
    bool *is_last, GError **error)
{
	bool is_first = after->values[0].kind == SQL_KIND_END;
	sql_auto *statement = sql_bind_values(passing->from,
	    is_first ? passing->select_first : passing->select, after->values, error);
	enum sql_step step = SQL_STEP_FAILED;

	*is_last = true;
	while (statement && (step = sql_step(statement, error)) == SQL_STEP_ROW) {
		if (!pass_row(passing, statement, error))
			return false;
		place_set(next, statement, passing->table);
		*is_last = false;
	}
	return step == SQL_STEP_DONE;
}

static bool
pass_rows(struct passing *passing, GError **error)
{
	pb_local(place) even = {0}, odd = {0};
	struct place *places[] = {&even, &odd};
	bool is_last = false;

	place_init(&even, passing->table);
	place_init(&odd, passing->table);
	for (int i = 0; !is_last; i = !i) {
		if (!pass_page(passing, places[i], places[!i], &is_last, error))
			return false;
		is_last = is_last || !passing->from->postgresql;
	}
	return true;
}

/* Read a table. @param to  also write it there; or NULL */
static struct store_copy_table *
pass_table(
    struct store *from, struct store *to, const struct table *table, GError **error)
{
	struct store_copy_table *sums = g_new0(struct store_copy_table, 1);
	struct passing passing = {
	    .from = from,
	    .to = to,
	    .table = table,
	    .select_first = make_select(from, table, true),
	    .select = make_select(from, table, false),
	    .insert = make_insert(table),
	    .sums = sums,
	    .values = g_new0(struct sql_value, table->columns->len + 1),
	    .bytes = g_byte_array_new(),
	};
	bool is_ok;

	sums->name = g_strdup(table->name);
	is_ok = pass_rows(&passing, error);
	g_free(passing.values);
	g_byte_array_unref(passing.bytes);
	if (is_ok)
		return sums;
	g_prefix_error(error, "table '%s': ", table->name);
	store_copy_table_free(sums);
	return NULL;
}

void
store_copy_table_free(struct store_copy_table *table)
{
	g_free(table->name);
	g_free(table);
}

/* ---- the copy ---- */

static bool
run(struct store *store, char *text, GError **error)
{
	return sql_exec(store, intern(text), error);
}

/* Triggers have made what they make in the other store.  @param triggers  set: of
 * char *, statements that make them again */
static bool
disable_triggers(
    struct store *to, const GPtrArray *tables, GPtrArray **triggers, GError **error)
{
	static const char sql[] =
	    "SELECT sql FROM sqlite_schema WHERE type = 'trigger'";
	static const char sql_drop[] =
	    "SELECT 'DROP TRIGGER ' || name FROM sqlite_schema WHERE type = 'trigger'";
	/* Only until the commit. */
	static const char sql_keys[] = "PRAGMA defer_foreign_keys = ON";
	g_autoptr(GPtrArray) made = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) drops = NULL;

	for (guint i = 0; to->postgresql && i < tables->len; i++) {
		const char *name = ((struct table *)tables->pdata[i])->name;

		g_ptr_array_add(made,
		    g_strdup_printf("ALTER TABLE \"%s\" ENABLE TRIGGER USER", name));
		if (!run(to,
		        g_strdup_printf(
		            "ALTER TABLE \"%s\" DISABLE TRIGGER USER", name),
		        error))
			return false;
	}
	if (!to->postgresql) {
		g_ptr_array_unref(made);
		made = sql_load_texts(to, sql, error);
		drops = made ? sql_load_texts(to, sql_drop, error) : NULL;
		if (!drops || !sql_exec(to, sql_keys, error))
			return false;
		for (guint i = 0; i < drops->len; i++)
			if (!run(to, g_strdup(drops->pdata[i]), error))
				return false;
	}
	*triggers = g_steal_pointer(&made);
	return true;
}

static bool
enable_triggers(struct store *to, const GPtrArray *triggers, GError **error)
{
	/* Checks that are pending forbid changes of tables. */
	static const char sql[] = "SET CONSTRAINTS ALL IMMEDIATE";

	if (to->postgresql && !sql_exec(to, sql, error))
		return false;
	for (guint i = 0; i < triggers->len; i++)
		if (!run(to, g_strdup(triggers->pdata[i]), error))
			return false;
	return true;
}

/* Delete the rows of a new store. */
static bool
clear_tables(struct store *to, const GPtrArray *tables, GError **error)
{
	/* A new store has rows in these only. */
	static const char *const filled[] = {"cursor", "job", NULL};

	for (guint i = 0; i < tables->len; i++) {
		const char *name = ((struct table *)tables->pdata[i])->name;
		char *has_rows =
		    g_strdup_printf("SELECT count(*) FROM (SELECT 1 FROM \"%s\""
		                    " LIMIT 1) AS found",
		        name);
		int64_t has = 0;

		if (g_strv_contains(filled, name)
		        ? !run(to, g_strdup_printf("DELETE FROM \"%s\"", name), error)
		        : !sql_number(to, intern(has_rows), &has, error))
			return false;
		if (has)
			return pb_fail(error, PB_ERROR_INPUT,
			    "the store to write is not empty: its table '%s' has rows",
			    name);
	}
	return true;
}

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
copy_table(struct store *from, struct store *to, const struct table *table,
    GPtrArray *copied, GError **error)
{
	struct store_copy_table *sums = pass_table(from, to, table, error);

	if (!sums)
		return false;
	g_ptr_array_add(copied, sums);
	return !table->identity || copy_sequence(from, to, table, error);
}

static bool
verify_table(struct store *to, const struct table *table,
    const struct store_copy_table *wanted, GError **error)
{
	struct store_copy_table *found = pass_table(to, NULL, table, error);
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

static int
compare_names(const void *a, const void *b)
{
	const struct store_copy_table *const *one = a, *const *other = b;

	return strcmp((*one)->name, (*other)->name);
}

bool
store_copy_rows(
    struct store *from, struct store *to, GPtrArray **tables, GError **error)
{
	g_autoptr(GPtrArray) copied =
	    g_ptr_array_new_with_free_func((GDestroyNotify)store_copy_table_free);
	g_autoptr(GPtrArray) wanted = load_tables(from, error);
	g_autoptr(GPtrArray) found = wanted ? load_tables(to, error) : NULL;
	g_autoptr(GPtrArray) order = NULL, triggers = NULL;

	if (!found || !compare_tables(wanted, found, error))
		return false;
	order = order_tables(to, found, error);
	if (!order || !disable_triggers(to, order, &triggers, error) ||
	    !clear_tables(to, order, error))
		return false;
	for (guint i = 0; i < order->len; i++)
		if (!copy_table(from, to, order->pdata[i], copied, error))
			return false;
	for (guint i = 0; i < order->len; i++)
		if (!verify_table(to, order->pdata[i], copied->pdata[i], error))
			return false;
	if (!enable_triggers(to, triggers, error))
		return false;
	g_ptr_array_sort(copied, compare_names);
	*tables = g_steal_pointer(&copied);
	return true;
}
