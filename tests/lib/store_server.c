/*
 * store_server.c - databases of a PostgreSQL server for store fixtures.
 */
#include "store_server.h"

#include <string.h>

#include "errors.h"
#include "store/core/engine.h"

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

static void
run_at(const char *url, const char *sql)
{
	PGconn *connection = PQconnectdb(url);
	PGresult *result = PQexec(connection, sql);

	if (PQresultStatus(result) != PGRES_COMMAND_OK)
		g_error("%s: %s", sql, PQerrorMessage(connection));
	PQclear(result);
	PQfinish(connection);
}

/* Run a command in the server's own database. */
static void
run(const char *format, const char *name, const char *other)
{
	g_autofree char *url = format_url("postgres");
	g_autofree char *sql = g_strdup_printf(
	    "%s %s%s%s", format, name, other ? " TEMPLATE " : "", other ? other : "");

	run_at(url, sql);
}

/* Functions and views of SQLite that the SQL of tests uses. */
static void
add_functions(const char *url)
{
	const char *top = g_getenv("top_srcdir");
	g_autofree char *path =
	    g_build_filename(top ? top : ".", "tests", "lib", "store_server.sql", NULL);
	g_autofree char *sql = NULL;

	NO_ERROR(g_file_get_contents(path, &sql, NULL, &error));
	run_at(url, sql);
}

/* A database with the schema, made once by each program. */
static gpointer
create_template(gpointer data)
{
	char *name = g_strdup_printf("template_%08x", g_random_int());
	g_autofree char *url = format_url(name);

	(void)data;
	run("CREATE DATABASE", name, NULL);
	store_free(NO_ERROR(store_open(url, &error)));
	add_functions(url);
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

/* SQL of tests that is SQLite's, with the functions of store_server.sql. */
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
    {"\\b((?:FROM|JOIN) (\\((?:[^()']|'[^']*'|(?2))*\\)))"
     "(?=$| *[;,)]| (?:WHERE|GROUP|ORDER|LIMIT|JOIN|LEFT|UNION|EXCEPT|ON)\\b)",
        "\\1 AS unnamed"},
    {"([\\w.]+) GLOB +('[^']*'(?: \\|\\| \\w+)*)", "sqlite.glob(\\2, \\1)"},
    {"([\\w.]+) NOT GLOB +('[^']*')", "NOT sqlite.glob(\\2, \\1)"},
    {"\\bsubstr\\(([\\w.]+), -(\\d+)\\)", "right(\\1, \\2)"},
    {"\\bifnull\\(([\\w.]+), ('[^']*')\\)", "coalesce(CAST(\\1 AS TEXT), \\2)"},
    {"\\bifnull\\(", "coalesce("},
    {"\\bINSERT OR IGNORE (INTO [^;]*)", "INSERT \\1 ON CONFLICT DO NOTHING"},
    {"\\bchar\\((\\d+)\\)", "chr(\\1)"},
    {"(?<![.\\w])((?:unixepoch|strftime|date|datetime|printf|iif|instr|quote|hex"
     "|group_concat|pragma_\\w+)\\(|(?:sqlite_schema|pragma_foreign_key_check)\\b)",
        "sqlite.\\1"},
    {"\\bPRAGMA foreign_key_check", "SELECT 1 WHERE false"},
    {"\\bPRAGMA integrity_check", "SELECT 'ok'"},
    {"^BEGIN;?$|;? *COMMIT$", ""}, /* each call is a transaction */
    {"\\bPRAGMA (synchronous|secure_delete) = OFF", "SELECT 1"},
    {"\\bDROP TRIGGER (\\w+)", "DROP FUNCTION \\1() CASCADE"},
    {"\\bCREATE (?:TEMP )?TRIGGER (\\w+) (AFTER .*?) ON (\\w+) BEGIN (.*?;) END",
        "CREATE FUNCTION \\1() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN \\4"
        " RETURN NULL; END $body$; CREATE TRIGGER \\1 \\2 ON \\3 FOR EACH ROW"
        " EXECUTE FUNCTION \\1()"},
    {"\\bCREATE TRIGGER (\\w+) (.*?) ON (\\w+) WHEN (.*?) BEGIN SELECT"
     " RAISE\\(\\w+, ('[^']*')\\); END",
        "CREATE FUNCTION \\1() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN"
        " RAISE EXCEPTION \\5 USING ERRCODE = 'integrity_constraint_violation';"
        " END $body$; CREATE TRIGGER \\1 \\2 ON \\3 FOR EACH ROW WHEN (\\4)"
        " EXECUTE FUNCTION \\1()"},
};

static char *
translate(const char *sql)
{
	char *text = g_strdup(sql);

	/* Twice: subqueries may be nested. */
	for (unsigned n = 0; n < 2 * G_N_ELEMENTS(rules); n++) {
		unsigned i = n % G_N_ELEMENTS(rules);
		g_autoptr(GRegex) regex = g_regex_new(rules[i].pattern, 0, 0, NULL);
		char *replaced =
		    g_regex_replace(regex, text, -1, 0, rules[i].replacement, 0, NULL);

		g_free(text);
		text = replaced;
	}
	return text;
}

/* As SQLite calls them. */
static const char *const constraints[][2] = {
    {" (23502)", "NOT NULL"}, {" (23503)", "FOREIGN KEY"}, {" (23505)", "UNIQUE"},
    {" (23514)", "CHECK"}, {" (22P02)", "INTEGER"},
    {" (54000)", "CHECK"}, /* a NUL in text */
};

/* The message of a trigger, or a constraint: "store: ... (23514)". */
static char *
format_refusal(const char *message)
{
	const char *start = message + strlen("store: ");

	for (unsigned i = 0; i < G_N_ELEMENTS(constraints); i++)
		if (g_str_has_suffix(message, constraints[i][0]))
			return g_strdup_printf("%s: %s", constraints[i][1], start);
	return g_str_has_suffix(message, " (23000)")
	           ? g_strndup(start, strlen(start) - strlen(" (23000)"))
	           : g_strdup(message);
}

char *
store_server_try(struct store *store, const char *sql)
{
	g_autofree char *text = translate(sql);
	g_autofree char *block =
	    g_strdup_printf("DO $test$ BEGIN EXECUTE $sql$%s$sql$; END $test$", text);
	g_autoptr(GError) error = NULL;

	sql_exec(store, g_intern_string(block), &error);
	return error ? format_refusal(error->message) : NULL;
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

/* One statement of all tables. */
static char *
format_hash(struct store *store)
{
	g_autofree char *tables = store_server_text(store,
	    "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1");
	g_auto(GStrv) names = g_strsplit(tables, " ", -1);
	GString *sql = g_string_new(NULL);

	for (char **name = names; *name; name++)
		g_string_append_printf(sql,
		    "%sSELECT '%s', md5(string_agg(CAST(t AS TEXT), ' '"
		    " ORDER BY CAST(t AS TEXT))) FROM %s t",
		    sql->len ? " UNION ALL " : "", *name, *name);
	g_string_append(sql, " ORDER BY 1");
	return g_string_free(sql, FALSE);
}

char *
store_server_hash(struct store *store)
{
	static char *sql;

	if (!sql)
		sql = format_hash(store);
	return store_server_text(store, sql);
}

/* ---- failures ---- */

/* Of store_server_fail_at(). */
static struct {
	const struct sql_engine *engine; /* the real one */
	struct store *store;
	int left; /* number of statements until the failure; 0: none */
	bool fails_commit;
	struct sql_statement *statement; /* that fails when it is run */
} failure;

/* @param runs_later  as an error of a statement that nothing is to be known about */
static bool
fail(bool runs_later, GError **error)
{
	static const char sql[] = "DELETE FROM cursor WHERE sqlite.fail()";
	static const struct sql_value none = {0};
	unsigned count;

	return failure.engine->exec(
	    failure.store, sql, &none, runs_later ? NULL : &count, error);
}

static bool
is_failing(void)
{
	return failure.left && !--failure.left;
}

/* Whether a statement without a transaction, which is a commit of its own, fails. */
static bool
fails_alone(const struct store *store)
{
	return failure.fails_commit && !failure.engine->is_open(store);
}

static struct sql_statement *
bind_failing(struct store *store, const char *sql, const struct sql_value *values,
    GError **error)
{
	struct sql_statement *statement =
	    failure.engine->bind(store, sql, values, error);

	statement->engine = store->engine;
	if (is_failing() || (fails_alone(store) && !g_str_has_prefix(sql, "SELECT ")))
		failure.statement = statement;
	return statement;
}

static enum sql_step
step_failing(struct sql_statement *statement, GError **error)
{
	if (statement != failure.statement)
		return failure.engine->step(statement, error);
	failure.statement = NULL;
	fail(false, error);
	return SQL_STEP_FAILED;
}

static bool
exec_failing(struct store *store, const char *sql, const struct sql_value *values,
    unsigned *count, GError **error)
{
	return is_failing() || fails_alone(store)
	           ? fail(!count, error)
	           : failure.engine->exec(store, sql, values, count, error);
}

static bool
begin_failing(struct store *store, enum sql_begin kind, GError **error)
{
	return is_failing() ? fail(false, error)
	                    : failure.engine->begin(store, kind, error);
}

static bool
commit_failing(struct store *store, bool is_inner, GError **error)
{
	if (is_failing() || (failure.fails_commit && !is_inner))
		return fail(false, error);
	return failure.engine->commit(store, is_inner, error);
}

static void
install(struct store *store)
{
	static struct sql_engine engine;

	if (store->engine == &engine)
		return;
	failure.engine = store->engine;
	engine = *store->engine;
	engine.bind = bind_failing;
	engine.step = step_failing;
	engine.exec = exec_failing;
	engine.begin = begin_failing;
	engine.commit = commit_failing;
	store->engine = &engine;
}

void
store_server_fail_at(struct store *store, int nth)
{
	install(store);
	failure.store = store;
	failure.left = nth;
	failure.statement = NULL;
}

void
store_server_fail_commits(struct store *store, bool fails)
{
	install(store);
	failure.store = store;
	failure.fails_commit = fails;
}
