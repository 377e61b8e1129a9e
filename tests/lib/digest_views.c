/*
 * digest_views.c - tables of what digests contain, for the SQL of tests.
 */
#include "digest_views.h"

#include <string.h>

#include "errors.h"
#include "model/digest_contents.h"
#include "store/core/sql.h"

static const struct {
	const char *name, *create, *clear;
} tables[] = {
    {"digest_item",
        "CREATE TEMP TABLE IF NOT EXISTS digest_item (digest_id BIGINT,"
        " position BIGINT, paper_seq BIGINT, day TEXT, upvotes BIGINT,"
        " upvotes_before BIGINT, stars BIGINT, venue TEXT, shown BIGINT, reasons TEXT,"
        " replacement BIGINT)",
        "DELETE FROM digest_item"},
    {"digest_head",
        "CREATE TEMP TABLE IF NOT EXISTS digest_head (id BIGINT, coverage TEXT,"
        " notices TEXT, filters TEXT)",
        "DELETE FROM digest_head"},
    {"delivered_paper",
        "CREATE TEMP TABLE IF NOT EXISTS delivered_paper (subscriber_id BIGINT,"
        " paper_seq BIGINT, replacement BIGINT DEFAULT 0, digest_id BIGINT, at BIGINT)",
        "DELETE FROM delivered_paper"},
};

static const char insert_item[] =
    "INSERT INTO digest_item VALUES (?1, ?2,"
    " coalesce((SELECT new_seq FROM paper_moved WHERE old_seq = ?3), ?3),"
    " ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
static const char insert_delivered[] =
    "INSERT INTO delivered_paper VALUES (?1,"
    " coalesce((SELECT new_seq FROM paper_moved WHERE old_seq = ?2), ?2), ?3, ?4, ?5)";

static char *
format_reasons(
    const struct digest_contents *contents, const struct digest_contents_paper *paper)
{
	GString *lines = g_string_new(NULL);

	for (unsigned i = 0; i < paper->reasons; i++) {
		const struct digest_contents_reason *reason =
		    digest_contents_get_reason(contents, paper->first_reason + i);

		g_string_append_printf(lines, "%s%s\t%s", i ? "\n" : "",
		    digest_contents_get_filter(contents, reason->filter)->label,
		    reason->hits);
	}
	return g_string_free(lines, FALSE);
}

static char *
format_filters(const struct digest_contents *contents)
{
	GString *lines = g_string_new(NULL);

	for (unsigned i = 0; i < contents->filters->len; i++) {
		const struct digest_filter *filter =
		    digest_contents_get_filter(contents, i);

		g_string_append_printf(lines, "%s%d\t%u\t%s\t%s", i ? "\n" : "",
		    filter->number, filter->papers, filter->label, filter->query);
	}
	return g_string_free(lines, FALSE);
}

static void
load_digest(struct store *store, struct sql_statement *row)
{
	struct sql_bytes packed = sql_get_bytes(row, 1);
	struct sql_value id = SQL_INT(sql_get_int(row, 0));
	pb_local(digest_contents) contents = {0};
	g_autofree char *filters = NULL;

	digest_contents_init(&contents);
	NO_ERROR(digest_contents_unpack(&contents, packed.data, packed.size, &error));
	filters = format_filters(&contents);
	NO_ERROR(sql_exec(store, "INSERT INTO digest_head VALUES (?1, ?2, ?3, ?4)",
	    &error, id, SQL_TEXT(contents.coverage), SQL_TEXT(contents.notices),
	    SQL_TEXT(filters)));
	for (unsigned i = 0; i < contents.papers->len; i++) {
		const struct digest_contents_paper *paper =
		    digest_contents_get_paper(&contents, i);
		g_autofree char *reasons = format_reasons(&contents, paper);

		NO_ERROR(sql_exec(store, insert_item, &error, id, SQL_INT(i + 1),
		    SQL_INT(paper->seq), SQL_TEXT(paper->day),
		    SQL_INT_OR_NULL(paper->upvotes),
		    SQL_INT_OR_NULL(paper->upvotes_before),
		    SQL_INT_OR_NULL(paper->stars), SQL_TEXT(paper->venue),
		    SQL_INT(paper->shown), SQL_TEXT(reasons),
		    SQL_INT(paper->replacement)));
	}
}

/* @return of struct digest_contents_version */
static GArray *
unpack_papers(struct sql_bytes packed)
{
	GArray *papers =
	    g_array_new(FALSE, FALSE, sizeof(struct digest_contents_version));

	NO_ERROR(digest_contents_unpack_papers(
	    packed.data, packed.size, papers, NULL, &error));
	return papers;
}

static void
load_delivered(struct store *store, struct sql_statement *row)
{
	g_autoptr(GArray) papers = unpack_papers(sql_get_bytes(row, 3));

	for (unsigned i = 0; i < papers->len; i++) {
		const struct digest_contents_version *paper =
		    &g_array_index(papers, struct digest_contents_version, i);

		NO_ERROR(
		    sql_exec(store, insert_delivered, &error, sql_get_value(row, 0),
		        SQL_INT(paper->seq), SQL_INT(paper->replacement),
		        sql_get_value(row, 1), sql_get_value(row, 2)));
	}
}

static void
foreach(struct store *store, const char *sql,
    void (*call)(struct store *store, struct sql_statement *row))
{
	sql_auto *row = sql_bind(store, sql, NULL);
	g_autoptr(GError) error = NULL;

	while (sql_step(row, &error) == SQL_STEP_ROW)
		call(store, row);
	g_assert_no_error(error);
}

static bool
is_inserting(const char *sql)
{
	return strstr(sql, "INTO delivered_paper") != NULL;
}

void
digest_views_load(struct store *store, const char *sql)
{
	if (!strstr(sql, "digest_item") && !strstr(sql, "digest_head") &&
	    !strstr(sql, "delivered_paper"))
		return;
	for (unsigned i = 0; i < G_N_ELEMENTS(tables); i++) {
		NO_ERROR(sql_exec(store, tables[i].create, &error));
		NO_ERROR(sql_exec(store, tables[i].clear, &error));
	}
	if (strstr(sql, "digest_item") || strstr(sql, "digest_head"))
		foreach(store, "SELECT id, contents FROM digest", load_digest);
	if (strstr(sql, "delivered_paper") && !is_inserting(sql))
		foreach(store,
		    "SELECT subscriber_id, digest_id, at, papers FROM delivered",
		    load_delivered);
}

/* Append a paper to contents that has nothing but its version. */
static void
add_paper(struct digest_contents *contents, int64_t seq, int64_t replacement)
{
	struct digest_contents_paper paper = {.seq = seq, .replacement = replacement};

	g_array_append_val(contents->papers, paper);
}

static void
save_delivered(struct store *store, struct sql_statement *row)
{
	struct sql_value subscriber = sql_get_value(row, 0),
	                 digest = sql_get_value(row, 1);
	pb_local(digest_contents) contents = {0};
	g_autoptr(GByteArray) packed = NULL;
	g_autoptr(GError) error = NULL;
	sql_auto *old = sql_bind(store,
	    "SELECT papers FROM delivered WHERE subscriber_id = ?1 AND digest_id = ?2",
	    NULL, subscriber, digest);

	digest_contents_init(&contents);
	if (sql_step(old, &error) == SQL_STEP_ROW) {
		g_autoptr(GArray) papers = unpack_papers(sql_get_bytes(old, 0));

		for (unsigned i = 0; i < papers->len; i++) {
			const struct digest_contents_version *paper =
			    &g_array_index(papers, struct digest_contents_version, i);

			add_paper(&contents, paper->seq, paper->replacement);
		}
	}
	g_assert_no_error(error);
	add_paper(&contents, sql_get_int(row, 3), sql_get_int(row, 4));
	packed = digest_contents_pack_papers(&contents);
	sql_exec(store,
	    "INSERT INTO delivered (subscriber_id, digest_id, at, papers)"
	    " VALUES (?1, ?2, ?3, ?4) ON CONFLICT (subscriber_id, digest_id)"
	    " DO UPDATE SET papers = excluded.papers",
	    &error, subscriber, digest, sql_get_value(row, 2),
	    SQL_BLOB(packed->data, packed->len));
	g_assert_no_error(error);
}

void
digest_views_save(struct store *store, const char *sql)
{
	if (is_inserting(sql))
		foreach(store,
		    "SELECT subscriber_id, digest_id, at, paper_seq, replacement"
		    " FROM delivered_paper",
		    save_delivered);
}

void
digest_views_set_shown(struct store *store, enum digest_detail shown)
{
	sql_auto *row = sql_bind(store, "SELECT id, contents FROM digest", NULL);
	g_autoptr(GError) error = NULL;

	while (sql_step(row, &error) == SQL_STEP_ROW) {
		struct sql_bytes old = sql_get_bytes(row, 1);
		pb_local(digest_contents) contents = {0};
		g_autoptr(GByteArray) packed = NULL;

		digest_contents_init(&contents);
		digest_contents_unpack(&contents, old.data, old.size, &error);
		g_assert_no_error(error);
		for (unsigned i = 0; i < contents.papers->len; i++)
			digest_contents_get_paper(&contents, i)->shown = shown;
		packed = digest_contents_pack(&contents);
		sql_exec(store, "UPDATE digest SET contents = ?1 WHERE id = ?2", &error,
		    SQL_BLOB(packed->data, packed->len), sql_get_value(row, 0));
	}
	g_assert_no_error(error);
}
