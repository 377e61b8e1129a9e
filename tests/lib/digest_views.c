/*
 * digest_views.c - views of what digests contain, for the SQL of tests.
 */
#include "digest_views.h"

#include "model/digest_contents.h"

static const char views[] =
    "CREATE TEMP VIEW digest_item AS SELECT g.id AS digest_id, j.key + 1 AS position,"
    " coalesce((SELECT new_seq FROM paper_moved WHERE old_seq = j.value ->> 0),"
    "  j.value ->> 0) AS paper_seq, j.value ->> 1 AS day, j.value ->> 2 AS upvotes,"
    " j.value ->> 3 AS upvotes_before, j.value ->> 4 AS stars, j.value ->> 5 AS venue,"
    " j.value ->> 6 AS shown, j.value ->> 7 AS reasons, j.value ->> 8 AS replacement"
    " FROM main.digest g, json_each(digest_json(g.contents) -> 'papers') j;"
    "CREATE TEMP VIEW digest_head AS SELECT id,"
    " digest_json(contents) ->> 'coverage' AS coverage,"
    " digest_json(contents) ->> 'notices' AS notices,"
    " digest_json(contents) ->> 'filters' AS filters FROM main.digest;";

/* @param text  or NULL */
static void
append_text(GString *out, const char *text)
{
	if (!text) {
		g_string_append(out, "null");
		return;
	}
	g_string_append_c(out, '"');
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == '"' || *text == '\\')
			g_string_append_printf(out, "\\u%04x", *text);
		else
			g_string_append_c(out, *text);
	g_string_append_c(out, '"');
}

/* @param number  -1 is null */
static void
append_number(GString *out, int64_t number)
{
	if (number < 0)
		g_string_append(out, "null,");
	else
		g_string_append_printf(out, "%" G_GINT64_FORMAT ",", number);
}

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
append_paper(GString *out, const struct digest_contents *contents,
    const struct digest_contents_paper *paper)
{
	g_autofree char *reasons = format_reasons(contents, paper);

	g_string_append_c(out, '[');
	append_number(out, paper->seq);
	append_text(out, paper->day);
	g_string_append_c(out, ',');
	append_number(out, paper->upvotes);
	append_number(out, paper->upvotes_before);
	append_number(out, paper->stars);
	append_text(out, paper->venue);
	g_string_append_c(out, ',');
	append_number(out, paper->shown);
	append_text(out, reasons);
	g_string_append_printf(out, ",%" G_GINT64_FORMAT "]", paper->replacement);
}

static void
format_json(sqlite3_context *context, int count, sqlite3_value **values)
{
	pb_local(digest_contents) contents = {0};
	g_autoptr(GString) out = g_string_new("{\"coverage\":");
	g_autoptr(GError) error = NULL;
	g_autofree char *filters = NULL;

	(void)count;
	digest_contents_init(&contents);
	if (!digest_contents_unpack(&contents, sqlite3_value_blob(values[0]),
	        (size_t)sqlite3_value_bytes(values[0]), &error)) {
		sqlite3_result_error(context, error->message, -1);
		return;
	}
	append_text(out, contents.coverage);
	g_string_append(out, ",\"notices\":");
	append_text(out, contents.notices);
	g_string_append(out, ",\"filters\":");
	filters = format_filters(&contents);
	append_text(out, filters);
	g_string_append(out, ",\"papers\":[");
	for (unsigned i = 0; i < contents.papers->len; i++) {
		if (i)
			g_string_append_c(out, ',');
		append_paper(out, &contents, digest_contents_get_paper(&contents, i));
	}
	g_string_append(out, "]}");
	sqlite3_result_text(context, out->str, (int)out->len, SQLITE_TRANSIENT);
}

/* digest_show(contents, shown): with all papers shown so. */
static void
set_shown(sqlite3_context *context, int count, sqlite3_value **values)
{
	pb_local(digest_contents) contents = {0};
	g_autoptr(GByteArray) packed = NULL;

	(void)count;
	digest_contents_init(&contents);
	g_assert_true(digest_contents_unpack(&contents, sqlite3_value_blob(values[0]),
	    (size_t)sqlite3_value_bytes(values[0]), NULL));
	for (unsigned i = 0; i < contents.papers->len; i++)
		digest_contents_get_paper(&contents, i)->shown =
		    (enum digest_detail)sqlite3_value_int(values[1]);
	packed = digest_contents_pack(&contents);
	sqlite3_result_blob(context, packed->data, (int)packed->len, SQLITE_TRANSIENT);
}

void
digest_views_create(sqlite3 *db)
{
	sqlite3_create_function(
	    db, "digest_json", 1, SQLITE_UTF8, NULL, format_json, NULL, NULL);
	sqlite3_create_function(
	    db, "digest_show", 2, SQLITE_UTF8, NULL, set_shown, NULL, NULL);
	g_assert_cmpint(sqlite3_exec(db, views, NULL, NULL, NULL), ==, SQLITE_OK);
}
