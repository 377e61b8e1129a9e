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
    " digest_json(contents) ->> 'filters' AS filters FROM main.digest;"
    "CREATE TEMP VIEW delivered_paper AS SELECT d.subscriber_id,"
    " coalesce((SELECT new_seq FROM paper_moved WHERE old_seq = j.value ->> 0),"
    "  j.value ->> 0) AS paper_seq, j.value ->> 1 AS replacement, d.digest_id, d.at"
    " FROM main.delivered d, json_each(delivered_json(d.papers)) j;"
    "CREATE TEMP TRIGGER delivered_paper_insert INSTEAD OF INSERT ON delivered_paper"
    " BEGIN INSERT INTO delivered (subscriber_id, digest_id, at, papers)"
    " VALUES (NEW.subscriber_id, NEW.digest_id, NEW.at,"
    "  delivered_add(NULL, NEW.paper_seq, coalesce(NEW.replacement, 0)))"
    " ON CONFLICT DO UPDATE SET papers ="
    "  delivered_add(papers, NEW.paper_seq, coalesce(NEW.replacement, 0)); END;";

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

/* @param value  delivered papers, or NULL */
static GArray *
unpack_papers(sqlite3_context *context, sqlite3_value *value)
{
	g_autoptr(GArray) papers =
	    g_array_new(FALSE, FALSE, sizeof(struct digest_contents_version));
	g_autoptr(GError) error = NULL;

	if (sqlite3_value_type(value) != SQLITE_NULL &&
	    !digest_contents_unpack_papers(sqlite3_value_blob(value),
	        (size_t)sqlite3_value_bytes(value), papers, NULL, &error)) {
		sqlite3_result_error(context, error->message, -1);
		return NULL;
	}
	return g_steal_pointer(&papers);
}

static void
format_papers(sqlite3_context *context, int count, sqlite3_value **values)
{
	g_autoptr(GArray) papers = unpack_papers(context, values[0]);
	g_autoptr(GString) out = g_string_new("[");

	(void)count;
	for (unsigned i = 0; papers && i < papers->len; i++) {
		const struct digest_contents_version *paper =
		    &g_array_index(papers, struct digest_contents_version, i);

		g_string_append_printf(out,
		    "%s[%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT "]", i ? "," : "",
		    paper->seq, paper->replacement);
	}
	g_string_append_c(out, ']');
	if (papers)
		sqlite3_result_text(context, out->str, (int)out->len, SQLITE_TRANSIENT);
}

/* delivered_add(papers, seq, replacement) */
static void
add_delivered(sqlite3_context *context, int count, sqlite3_value **values)
{
	g_autoptr(GArray) papers = unpack_papers(context, values[0]);
	pb_local(digest_contents) contents = {0};
	g_autoptr(GByteArray) packed = NULL;
	struct digest_contents_paper added = {
	    .seq = sqlite3_value_int64(values[1]),
	    .replacement = sqlite3_value_int64(values[2]),
	};

	(void)count;
	digest_contents_init(&contents);
	for (unsigned i = 0; papers && i < papers->len; i++) {
		const struct digest_contents_version *paper =
		    &g_array_index(papers, struct digest_contents_version, i);

		g_array_append_val(
		    contents.papers, ((struct digest_contents_paper){.seq = paper->seq,
		                         .replacement = paper->replacement}));
	}
	g_array_append_val(contents.papers, added);
	packed = digest_contents_pack_papers(&contents);
	if (papers)
		sqlite3_result_blob(
		    context, packed->data, (int)packed->len, SQLITE_TRANSIENT);
}

void
digest_views_create(sqlite3 *db)
{
	sqlite3_create_function(
	    db, "digest_json", 1, SQLITE_UTF8, NULL, format_json, NULL, NULL);
	sqlite3_create_function(
	    db, "digest_show", 2, SQLITE_UTF8, NULL, set_shown, NULL, NULL);
	sqlite3_create_function(
	    db, "delivered_json", 1, SQLITE_UTF8, NULL, format_papers, NULL, NULL);
	sqlite3_create_function(
	    db, "delivered_add", 3, SQLITE_UTF8, NULL, add_delivered, NULL, NULL);
	g_assert_cmpint(sqlite3_exec(db, views, NULL, NULL, NULL), ==, SQLITE_OK);
}
