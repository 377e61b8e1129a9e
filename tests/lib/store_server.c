/*
 * store_server.c - databases of a PostgreSQL server for store fixtures.
 */
#include "store_server.h"

#include <string.h>

#include "store/core/sql.h"

#ifdef HAVE_POSTGRESQL
#include <libpq-fe.h>

/* The name of a database is in place of %s. */
static char *
format_url(const char *name)
{
	const char *server = g_getenv("PAPERBOY_TEST_STORE");
	g_auto(GStrv) parts = g_strsplit(server, "%s", 2);

	g_assert_nonnull(parts[1]);
	return g_strconcat(parts[0], name, parts[1], NULL);
}

/* Run a command in the server's own database. */
static void
run(const char *format, const char *name, const char *other)
{
	g_autofree char *url = format_url("postgres");
	g_autofree char *sql = g_strdup_printf(
	    "%s %s%s%s", format, name, other ? " TEMPLATE " : "", other ? other : "");
	PGconn *connection = PQconnectdb(url);
	PGresult *result = PQexec(connection, sql);

	if (PQresultStatus(result) != PGRES_COMMAND_OK)
		g_error("%s: %s", sql, PQerrorMessage(connection));
	PQclear(result);
	PQfinish(connection);
}

/* A database with the schema, made once by each program. */
static gpointer
create_template(gpointer data)
{
	char *name = g_strdup_printf("template_%08x", g_random_int());
	g_autofree char *url = format_url(name);
	g_autoptr(GError) error = NULL;

	(void)data;
	run("CREATE DATABASE", name, NULL);
	store_free(store_open(url, &error));
	g_assert_no_error(error);
	return name;
}

char *
store_server_create(void)
{
	static GOnce once = G_ONCE_INIT;
	static int last;
	g_autofree char *name = NULL;

	if (!g_getenv("PAPERBOY_TEST_STORE"))
		return NULL;
	g_once(&once, create_template, NULL);
	name = g_strdup_printf("test_%08x_%d", g_random_int(), ++last);
	run("CREATE DATABASE", name, once.retval);
	return format_url(name);
}

void
store_server_drop(const char *url)
{
	const char *name = strstr(url, "test_");
	g_autofree char *copy = g_strndup(name, strspn(name, "test_0123456789abcdef"));
	g_autofree char *forced = g_strconcat(copy, " WITH (FORCE)", NULL);

	run("DROP DATABASE", forced, NULL);
}
#else
char *
store_server_create(void)
{
	return NULL;
}

void
store_server_drop(const char *url)
{
	(void)url;
}
#endif

/* SQL of tests that is SQLite's. */
static const struct {
	const char *pattern, *replacement;
} rules[] = {
    {"\\bx'([0-9a-fA-F]*)'", "CAST('\\\\x\\1' AS BYTEA)"},
    {"\\bhex\\(zeroblob\\((\\d+)\\)\\)", "repeat('00', \\1)"},
    {"\\bzeroblob\\((\\d+)\\)", "decode(repeat('00', \\1), 'hex')"},
    {"\\bCAST\\(((?:\\w+\\.)?(?:message|raw)) AS TEXT\\)", "convert_from(\\1, 'UTF8')"},
    {"json_each\\('\\[' \\|\\| papers \\|\\| '\\]'\\)",
        "LATERAL (SELECT CAST(number AS BIGINT) AS value"
        " FROM string_to_table(papers, ',') number) each"},
    {"(FROM match_pending\\))(?! (?:[a-z]\\b|AS\\b))", "\\1 AS found"},
    {"\\bsubstr\\(([\\w.]+), -(\\d+)\\)", "right(\\1, \\2)"},
    {"\\bifnull\\(", "coalesce("},
    {"\\bchar\\((\\d+)\\)", "chr(\\1)"},
    {"\\bgroup_concat\\(([^(),]+)\\)", "string_agg(CAST(\\1 AS TEXT), ',')"},
};

static char *
translate(const char *sql)
{
	char *text = g_strdup(sql);

	for (unsigned i = 0; i < G_N_ELEMENTS(rules); i++) {
		g_autoptr(GRegex) regex = g_regex_new(rules[i].pattern, 0, 0, NULL);
		char *replaced =
		    g_regex_replace(regex, text, -1, 0, rules[i].replacement, 0, NULL);

		g_free(text);
		text = replaced;
	}
	return text;
}

char *
store_server_try(struct store *store, const char *sql)
{
	g_autofree char *text = translate(sql);
	g_autofree char *block =
	    g_strdup_printf("DO $test$ BEGIN EXECUTE $sql$%s$sql$; END $test$", text);
	g_autoptr(GError) error = NULL;

	sql_exec(store, g_intern_string(block), &error);
	return error ? g_strdup(error->message) : NULL;
}

static struct sql_statement *
bind(struct store *store, const char *sql)
{
	g_autofree char *text = translate(sql);

	return sql_bind(store, g_intern_string(text), NULL);
}

int64_t
store_server_number(struct store *store, const char *sql)
{
	sql_auto *statement = bind(store, sql);
	g_autoptr(GError) error = NULL;
	int64_t number = -1;

	if (sql_step(statement, &error) == SQL_STEP_ROW)
		number = sql_get_int(statement, 0);
	g_assert_no_error(error);
	return number;
}

char *
store_server_text(struct store *store, const char *sql)
{
	sql_auto *statement = bind(store, sql);
	g_autoptr(GError) error = NULL;
	GString *text = g_string_new(NULL);

	while (sql_step(statement, &error) == SQL_STEP_ROW) {
		if (text->len)
			g_string_append_c(text, ' ');
		for (int i = 0; i < sql_count_columns(statement); i++) {
			const char *cell = sql_get_text(statement, i);

			g_string_append_printf(
			    text, "%s%s", i ? "|" : "", cell ? cell : "-");
		}
	}
	g_assert_no_error(error);
	return g_string_free(text, FALSE);
}
