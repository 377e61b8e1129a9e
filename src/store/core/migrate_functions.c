/*
 * migrate_functions.c - SQL functions of migrations, for what SQL cannot express.
 */
#include "store/core/migrate_functions.h"

#include <string.h>

#include "model/digest_contents.h"
#include "store/core/sqlite.h"

/* ---- version 1: digests with a row per paper ---- */

static const char sql_digest[] =
    "SELECT abstract, format, attach, grouping, language, coverage, notices, filters"
    " FROM digest WHERE id = ?1";
static const char sql_items[] =
    "SELECT i.paper_seq, i.replacement, i.day, i.upvotes, i.upvotes_before, i.stars,"
    " i.venue, i.shown, i.reasons, r.journal, r.doi, r.published_at, r.categories,"
    " r.keywords FROM digest_item i LEFT JOIN digest_reference r"
    " ON r.digest_id = i.digest_id AND r.position = i.position"
    " WHERE i.digest_id = ?1 ORDER BY i.position";

/* -1 for NULL. */
static int64_t
get_number(sqlite3_stmt *row, int column)
{
	return sqlite3_column_type(row, column) == SQLITE_NULL
	           ? -1
	           : sqlite3_column_int64(row, column);
}

/* @return NULL for NULL */
static const char *
keep(struct digest_contents *contents, sqlite3_stmt *row, int column)
{
	const char *text = (const char *)sqlite3_column_text(row, column);

	return text ? digest_contents_keep(contents, text) : NULL;
}

/* @param words  ends with NULL */
static int
find_word(sqlite3_stmt *row, int column, const char *const *words)
{
	const char *text = (const char *)sqlite3_column_text(row, column);
	int i = 0;

	while (words[i] && g_strcmp0(words[i], text) != 0)
		i++;
	return words[i] ? i : 0;
}

/* Add a line of number, papers, label and query, with tabs between them. */
static void
add_filter(struct digest_contents *contents, const char *line)
{
	g_auto(GStrv) cells = g_strsplit(line, "\t", 4);
	struct digest_filter filter;

	if (g_strv_length(cells) < 4)
		return;
	filter.number = (int)g_ascii_strtoll(cells[0], NULL, 10);
	filter.papers = (unsigned)g_ascii_strtoull(cells[1], NULL, 10);
	filter.label = digest_contents_keep(contents, cells[2]);
	filter.query = digest_contents_keep(contents, cells[3]);
	g_array_append_val(contents->filters, filter);
}

/* Digests made before they stored their filters have these in the reasons only. */
static unsigned
find_filter(struct digest_contents *contents, const char *label)
{
	struct digest_filter added = {.query = ""};
	unsigned i;

	for (i = 0; i < contents->filters->len; i++)
		if (strcmp(digest_contents_get_filter(contents, i)->label, label) == 0)
			return i;
	added.label = digest_contents_keep(contents, label);
	g_array_append_val(contents->filters, added);
	return i;
}

static void
add_head(struct digest_contents *contents, sqlite3_stmt *row)
{
	static const char *const abstracts[] = {"brief", "short", "full", "none", NULL};
	static const char *const formats[] = {"both", "text", "html", NULL};
	static const char *const files[] = {"none", "bibtex", "ris", "markdown", NULL};
	static const char *const groupings[] = {"off", "on", NULL};
	const char *language = (const char *)sqlite3_column_text(row, 4);
	const char *filters = (const char *)sqlite3_column_text(row, 7);
	g_auto(GStrv) lines = g_strsplit(filters ? filters : "", "\n", -1);

	contents->style = (struct digest_style){
	    .abstract = (enum preference_abstract)find_word(row, 0, abstracts),
	    .format = (enum preference_format)find_word(row, 1, formats),
	    .attach = (enum preference_attach)find_word(row, 2, files),
	    .group = (enum preference_group)find_word(row, 3, groupings),
	};
	g_strlcpy(contents->style.language, language ? language : "",
	    sizeof(contents->style.language));
	contents->coverage = keep(contents, row, 5);
	contents->notices = keep(contents, row, 6);
	for (char **line = lines; *line; line++)
		add_filter(contents, *line);
}

static void
add_paper(struct digest_contents *contents, sqlite3_stmt *row)
{
	const char *reasons = (const char *)sqlite3_column_text(row, 8);
	g_auto(GStrv) lines = g_strsplit(reasons ? reasons : "", "\n", -1);
	struct digest_contents_paper paper = {
	    .seq = get_number(row, 0),
	    .replacement = get_number(row, 1),
	    .upvotes = get_number(row, 3),
	    .upvotes_before = get_number(row, 4),
	    .stars = get_number(row, 5),
	    .venue = keep(contents, row, 6),
	    .shown = (enum digest_detail)CLAMP(
	        get_number(row, 7), DIGEST_DETAIL_FULL, DIGEST_DETAIL_COUNT),
	    .reference = {.journal = keep(contents, row, 9),
	        .doi = keep(contents, row, 10),
	        .published_at = get_number(row, 11),
	        .categories = keep(contents, row, 12),
	        .keywords = keep(contents, row, 13)},
	};

	g_strlcpy(paper.day, (const char *)sqlite3_column_text(row, 2), DAY_BYTES);
	g_array_append_val(contents->papers, paper);
	for (char **line = lines; *line; line++) {
		char *tab = strchr(*line, '\t');

		if (tab)
			*tab = '\0';
		digest_contents_add_reason(
		    contents, find_filter(contents, *line), tab ? tab + 1 : "");
	}
}

/* Call a function for each row about a digest. @return SQLITE_DONE, or an error */
static int
add_rows(sqlite3 *db, const char *sql, sqlite3_int64 id,
    struct digest_contents *contents,
    void (*add)(struct digest_contents *contents, sqlite3_stmt *row))
{
	sqlite3_stmt *statement = NULL;
	int rc = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_bind_int64(statement, 1, id);
	if (rc == SQLITE_OK)
		while ((rc = sqlite3_step(statement)) == SQLITE_ROW)
			add(contents, statement);
	sqlite3_finalize(statement);
	return rc;
}

static void
migrate_digest(sqlite3_context *context, int count, sqlite3_value **values)
{
	sqlite3 *db = sqlite3_context_db_handle(context);
	sqlite3_int64 id = sqlite3_value_int64(values[0]);
	pb_local(digest_contents) contents = {0};
	g_autoptr(GByteArray) packed = NULL;
	int rc;

	(void)count;
	digest_contents_init(&contents);
	rc = add_rows(db, sql_digest, id, &contents, add_head);
	if (rc == SQLITE_DONE)
		rc = add_rows(db, sql_items, id, &contents, add_paper);
	if (rc != SQLITE_DONE) {
		sqlite3_result_error_code(context, rc);
		return;
	}
	packed = digest_contents_pack(&contents);
	sqlite3_result_blob(context, packed->data, (int)packed->len, SQLITE_TRANSIENT);
}

/* ---- version 1: delivered papers, a row each ---- */

/* Delivered papers of one digest. */
struct delivery {
	sqlite3_stmt *insert;
	struct digest_contents contents;
	sqlite3_int64 subscriber_id, digest_id, at;
};

/* Insert and empty the papers that were collected. @return SQLITE_OK, or an error */
static int
flush_delivery(struct delivery *delivery)
{
	g_autoptr(GByteArray) packed = NULL;
	int rc;

	if (!delivery->contents.papers->len)
		return SQLITE_OK;
	packed = digest_contents_pack_papers(&delivery->contents);
	sqlite3_bind_int64(delivery->insert, 1, delivery->subscriber_id);
	sqlite3_bind_int64(delivery->insert, 2, delivery->digest_id);
	sqlite3_bind_int64(delivery->insert, 3, delivery->at);
	sqlite3_bind_blob(
	    delivery->insert, 4, packed->data, (int)packed->len, SQLITE_STATIC);
	rc = sqlite3_step(delivery->insert);
	sqlite3_reset(delivery->insert);
	g_array_set_size(delivery->contents.papers, 0);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* @return SQLITE_OK, or an error */
static int
add_delivered(struct delivery *delivery, sqlite3_stmt *row)
{
	struct digest_contents_paper paper = {
	    .seq = sqlite3_column_int64(row, 3),
	    .replacement = sqlite3_column_int64(row, 4),
	};
	sqlite3_int64 subscriber_id = sqlite3_column_int64(row, 0);
	sqlite3_int64 digest_id = sqlite3_column_int64(row, 1);
	bool is_same = subscriber_id == delivery->subscriber_id &&
	               digest_id == delivery->digest_id;
	int rc = is_same ? SQLITE_OK : flush_delivery(delivery);

	delivery->subscriber_id = subscriber_id;
	delivery->digest_id = digest_id;
	delivery->at = sqlite3_column_int64(row, 2);
	g_array_append_val(delivery->contents.papers, paper);
	return rc;
}

static int
copy_delivered(struct delivery *delivery, sqlite3_stmt *rows)
{
	int rc;

	while ((rc = sqlite3_step(rows)) == SQLITE_ROW) {
		rc = add_delivered(delivery, rows);
		if (rc != SQLITE_OK)
			return rc;
	}
	return rc == SQLITE_DONE ? flush_delivery(delivery) : rc;
}

static void
migrate_delivered(sqlite3_context *context, int count, sqlite3_value **values)
{
	/* Sorted for one subscriber at a time, since the table is. */
	static const char sql[] =
	    "SELECT subscriber_id, digest_id, at, paper_seq, replacement FROM delivered"
	    " ORDER BY subscriber_id, digest_id";
	static const char sql_insert[] =
	    "INSERT INTO delivered_packed (subscriber_id, digest_id, at, papers)"
	    " VALUES (?1, ?2, ?3, ?4)";
	sqlite3 *db = sqlite3_context_db_handle(context);
	struct delivery delivery = {0};
	sqlite3_stmt *rows = NULL;
	int rc = sqlite3_prepare_v2(db, sql, -1, &rows, NULL);

	(void)count;
	(void)values;
	digest_contents_init(&delivery.contents);
	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(db, sql_insert, -1, &delivery.insert, NULL);
	if (rc == SQLITE_OK)
		rc = copy_delivered(&delivery, rows);
	sqlite3_finalize(rows);
	sqlite3_finalize(delivery.insert);
	digest_contents_clear(&delivery.contents);
	if (rc != SQLITE_OK)
		sqlite3_result_error_code(context, rc);
}

bool
migrate_functions_register(sqlite3 *db, GError **error)
{
	int rc = sqlite3_create_function(
	    db, "migrate_digest", 1, SQLITE_UTF8, NULL, migrate_digest, NULL, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_create_function(db, "migrate_delivered", 0, SQLITE_UTF8,
		    NULL, migrate_delivered, NULL, NULL);
	if (rc == SQLITE_OK)
		return true;
	sqlite_set_error(error, db, rc, "cannot migrate");
	return false;
}
