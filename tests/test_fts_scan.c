/*
 * test_fts_scan.c - the papers of a phrase are those that FTS5 finds, and their places.
 */
#include <glib.h>
#include <string.h>

#include "base/error.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "store/core/fts_scan.h"
#include "store/core/sql.h"
#include "store/core/transaction.h"
#include "store/paper/archive.h"

#define PAPERS 40

/* Places of all words, as fts5vocab has them. */
#define PLACES                                                                      \
	"SELECT term || ':' || doc || ':' ||"                                       \
	" CASE col WHEN 'title' THEN 0 WHEN 'abstract' THEN 1 ELSE 2 END || ':' ||" \
	" offset FROM temp.place"

static void
append_text(GRand *random, GString *sql)
{
	static const char *const words[] = {"a", "the", "model", "models", "mode",
	    "data", "database", "zoo", "of", "office", "m\xc3\xbcller", "x1"};
	int count = g_rand_int_range(random, 0, 8);

	for (int i = 0; i < count; i++) {
		/* The first ones are frequent, and some papers repeat one of them. */
		guint bound =
		    (guint)g_rand_int_range(random, 1, G_N_ELEMENTS(words) + 1);
		const char *word = words[g_rand_int_range(random, 0, (gint)bound)];
		int times = g_rand_int_range(random, 0, 9) ? 1 : 100;

		while (times-- > 0)
			g_string_append_printf(sql, "%s ", word);
	}
}

/* Give some papers other texts, in one commit: a new segment of the index. */
static void
change_papers(struct store_fixture *fixture, GRand *random)
{
	g_autoptr(GString) sql = g_string_new("BEGIN;");

	for (int i = g_rand_int_range(random, 1, PAPERS / 2); i > 0; i--) {
		g_string_append(sql, "UPDATE paper SET title = 'x ");
		append_text(random, sql);
		g_string_append(sql, "', abstract = '");
		append_text(random, sql);
		g_string_append_printf(
		    sql, "' WHERE seq = %d;", g_rand_int_range(random, 1, PAPERS + 1));
	}
	g_string_append(sql, "COMMIT");
	store_fixture_run(fixture, sql->str);
}

/* A phrase, and the text to which its places are added. */
struct places {
	const char *word;
	GString *text;
	int64_t last; /* seq */
};

static void
add_places(void *data, int64_t seq, void *row)
{
	struct places *places = data;
	GArray *columns[FTS_ROW_COLUMNS];
	unsigned counts[FTS_ROW_COLUMNS] = {0};

	g_assert_cmpint(seq, >, places->last);
	places->last = seq;
	fts_row_count(row, 0, counts);
	g_assert_cmpuint(counts[0] + counts[1] + counts[2], >, 0);
	for (unsigned i = 0; i < FTS_ROW_COLUMNS; i++)
		columns[i] = g_array_new(FALSE, FALSE, sizeof(int));
	fts_row_list(row, 0, columns);
	for (unsigned i = 0; i < FTS_ROW_COLUMNS; i++) {
		g_assert_cmpuint(counts[i], ==, columns[i]->len);
		g_assert_cmpint(fts_row_has(row, 0, 1U << i), ==, columns[i]->len > 0);
		for (guint n = 0; n < columns[i]->len; n++)
			g_string_append_printf(places->text,
			    "%s%s:%" G_GINT64_FORMAT ":%u:%d",
			    places->text->len ? " " : "", places->word, seq, i,
			    g_array_index(columns[i], int, n));
		g_array_unref(columns[i]);
	}
}

static void
scan(
    struct store_fixture *fixture, const char *phrase, int64_t least_seq, GString *text)
{
	g_auto(GStrv) parts = g_strsplit(phrase, " ", -1);
	g_autoptr(GPtrArray) words = g_ptr_array_new();
	struct places places = {.word = phrase, .text = text};
	g_autoptr(GError) error = NULL;

	for (char **part = parts; *part; part++)
		g_ptr_array_add(words, *part);
	fts_scan_phrase(fixture->store, words, least_seq, add_places, &places, &error);
	g_assert_no_error(error);
}

static void
compare_phrases(struct store_fixture *fixture, int64_t least_seq)
{
	static const char *const phrases[] = {"a", "the", "model", "office", "a the",
	    "the a", "a a", "a a a the", "model models", "x a the", "of a model",
	    "zoo office", "zoos a", "a zoos"};

	for (size_t i = 0; i < G_N_ELEMENTS(phrases); i++) {
		g_autofree char *match = g_strdup_printf("\"%s\"", phrases[i]);
		g_autoptr(GString) text = g_string_new(NULL);
		g_autoptr(GString) wanted = g_string_new(NULL);
		struct places places = {.word = phrases[i], .text = wanted};

		scan(fixture, phrases[i], least_seq, text);
		g_assert_true(archive_find(
		    fixture->store, match, least_seq, add_places, &places, NULL));
		g_assert_cmpstr(text->str, ==, wanted->str);
	}
}

static void
compare(struct store_fixture *fixture)
{
	static const char *const missing[] = {"m", "mod", "zoos"};
	g_autofree char *wanted = store_fixture_text(fixture, PLACES);
	g_autofree char *terms =
	    store_fixture_text(fixture, "SELECT DISTINCT term FROM temp.place");
	g_auto(GStrv) words = g_strsplit(terms, " ", -1);
	g_autoptr(GString) text = g_string_new(NULL);
	pb_snapshot snapshot = {0};
	bool is_possible;

	g_assert_true(fts_scan_is_possible(fixture->store, &is_possible, NULL));
	g_assert_false(is_possible);
	g_assert_true(store_begin_reading(fixture->store, &snapshot, NULL));
	g_assert_true(fts_scan_is_possible(fixture->store, &is_possible, NULL));
	g_assert_true(is_possible);
	for (char **word = words; *word; word++)
		scan(fixture, *word, 0, text);
	g_assert_cmpstr(text->str, ==, wanted);
	g_string_truncate(text, 0);
	for (unsigned i = 0; i < G_N_ELEMENTS(missing); i++)
		scan(fixture, missing[i], 0, text);
	g_assert_cmpstr(text->str, ==, "");
	for (int64_t least_seq = 0; least_seq <= PAPERS + 1;
	     least_seq += 1 + least_seq / 2)
		compare_phrases(fixture, least_seq);
}

static struct store_fixture *
new_fixture(int page_bytes)
{
	struct store_fixture *fixture = store_fixture_new();
	g_autofree char *sql = g_strdup_printf(
	    "INSERT INTO paper_fts (paper_fts, rank) VALUES ('pgsz', %d)", page_bytes);

	store_fixture_run(fixture, sql);
	store_fixture_run(fixture, "CREATE VIRTUAL TABLE temp.place USING "
	                           "fts5vocab(main, paper_fts, instance)");
	for (unsigned i = 1; i <= PAPERS; i++) {
		g_autofree char *id = g_strdup_printf("%u", i);

		store_fixture_save(fixture, "hf", "2026-11-20",
		    store_fixture_time("2026-11-20T12:00:00Z"),
		    store_fixture_paper(id, "Mode", "of a model"));
	}
	return fixture;
}

static void
places_of_phrases_are_those_that_fts5_finds(void)
{
	static const int pages[] = {32, 64, 400, 4050};
	/* Of merges, some of which end in the middle of a segment. */
	static const char *const merges[] = {"SELECT 1",
	    "INSERT INTO paper_fts (paper_fts, rank) VALUES ('merge', 1)",
	    "INSERT INTO paper_fts (paper_fts, rank) VALUES ('merge', -4)",
	    "INSERT INTO paper_fts (paper_fts) VALUES ('optimize')"};
	g_autoptr(GRand) random = g_rand_new_with_seed(20261123);

	for (size_t i = 0; i < G_N_ELEMENTS(pages); i++) {
		pb_auto(store_fixture) fixture = new_fixture(pages[i]);

		for (unsigned round = 0; round < 14; round++) {
			guint merge =
			    round % 7 == 6 ? 3 : (guint)g_rand_int_range(random, 0, 3);

			change_papers(fixture, random);
			compare(fixture);
			store_fixture_run(fixture, merges[merge]);
			compare(fixture);
		}
	}
}

static void
papers_of_a_transaction_are_found(void)
{
	pb_auto(store_fixture) fixture = new_fixture(64);
	g_autoptr(GString) text = g_string_new(NULL);
	pb_transaction transaction = {0};
	bool is_possible;

	g_assert_true(store_begin(fixture->store, &transaction, NULL));
	store_fixture_run(
	    fixture, "INSERT INTO paper_fts (rowid, title) VALUES (99, 'zebra')");
	g_assert_true(fts_scan_is_possible(fixture->store, &is_possible, NULL));
	g_assert_true(is_possible);
	scan(fixture, "zebra", 0, text);
	g_assert_cmpstr(text->str, ==, "zebra:99:0:0");
	store_rollback(&transaction);
	compare(fixture);
}

static void
ignore_row(void *data, int64_t seq, void *row)
{
	GArray *columns[FTS_ROW_COLUMNS];
	unsigned *found = data;

	(void)seq;
	++*found;
	for (unsigned i = 0; i < FTS_ROW_COLUMNS; i++)
		columns[i] = g_array_new(FALSE, FALSE, sizeof(int));
	fts_row_list(row, 0, columns);
	for (unsigned i = 0; i < FTS_ROW_COLUMNS; i++)
		g_array_unref(columns[i]);
}

static void
damage_is_an_error_or_other_papers(void)
{
	static const char sql[] =
	    "UPDATE paper_fts_data SET block = CASE ?3 WHEN 0"
	    " THEN substr(block, 1, ?1 % length(block))"
	    " ELSE CAST(substr(block, 1, ?1 % length(block)) ||"
	    " ?2 || substr(block, ?1 % length(block) + 2) AS BLOB)"
	    " END WHERE id = (SELECT id FROM paper_fts_data"
	    " ORDER BY id LIMIT 1"
	    " OFFSET ?4 % (SELECT count(*) FROM paper_fts_data))";
	pb_auto(store_fixture) fixture = new_fixture(64);
	g_autoptr(GRand) random = g_rand_new_with_seed(20261123);
	g_autoptr(GPtrArray) words = g_ptr_array_new();
	unsigned errors = 0, found = 0;

	for (unsigned i = 0; i < 5; i++)
		change_papers(fixture, random);
	store_fixture_run(
	    fixture, "CREATE TABLE saved AS SELECT * FROM paper_fts_data");
	for (unsigned i = 0; i < 400; i++) {
		const uint8_t byte = (uint8_t)g_rand_int_range(random, 0, 256);
		pb_snapshot snapshot = {0};

		g_assert_true(sql_exec(fixture->store, sql, NULL,
		    SQL_INT(g_rand_int_range(random, 0, G_MAXINT)), SQL_BLOB(&byte, 1),
		    SQL_INT(g_rand_int_range(random, 0, 4)),
		    SQL_INT(g_rand_int_range(random, 0, G_MAXINT))));
		g_assert_true(store_begin_reading(fixture->store, &snapshot, NULL));
		g_ptr_array_set_size(words, 0);
		if (i % 2)
			g_ptr_array_add(words, (gpointer) "of");
		g_ptr_array_add(words, (gpointer) "a");
		errors += !fts_scan_phrase(
		    fixture->store, words, 0, ignore_row, &found, NULL);
		store_end_reading(&snapshot);
		store_fixture_run(fixture,
		    "INSERT OR REPLACE INTO paper_fts_data SELECT * FROM saved");
	}
	g_test_message("%u errors, %u papers", errors, found);
	g_assert_cmpuint(errors, >, 10);
	g_assert_cmpuint(found, >, 100);
}

static void
numbers_of_nine_bytes_are_read(void)
{
	static const char *const values[] = {
	    "72057594037927935", "72057594037927936", "9223372036854775807"};
	pb_auto(store_fixture) fixture = new_fixture(64);

	for (size_t i = 0; i < G_N_ELEMENTS(values); i++) {
		g_autofree char *sql =
		    g_strdup_printf("INSERT INTO paper_fts (rowid, title, abstract)"
		                    " VALUES (%s, 'zoo', 'the zoo')",
		        values[i]);

		store_fixture_run(fixture, sql);
	}
	compare(fixture);
}

/* @param block  expression of SQL that replaces the list of segments */
static void
assert_damaged(struct store_fixture *fixture, const char *block)
{
	g_autofree char *sql = g_strdup_printf(
	    "UPDATE paper_fts_data SET block = CAST(%s AS BLOB) WHERE id = 10", block);
	g_autoptr(GPtrArray) words = g_ptr_array_new();
	g_autoptr(GError) error = NULL;
	unsigned found = 0;

	g_ptr_array_add(words, (gpointer) "of");
	store_fixture_run(fixture, sql);
	g_assert_false(
	    fts_scan_phrase(fixture->store, words, 0, ignore_row, &found, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_PERMANENT);
	store_fixture_run(
	    fixture, "INSERT OR REPLACE INTO paper_fts_data SELECT * FROM saved");
}

static void
damaged_list_of_segments_is_an_error(void)
{
	/* Segment 0, one that does not fit into an id, leaves 2 to 1. */
	static const char *const segments[] = {"000101", "8480000101", "010201"};
	pb_auto(store_fixture) fixture = new_fixture(64);
	int64_t size;

	store_fixture_run(
	    fixture, "CREATE TABLE saved AS SELECT * FROM paper_fts_data");
	size = store_fixture_number(
	    fixture, "SELECT length(block) FROM saved WHERE id = 10");
	g_assert_cmpint(size, >, 10);
	for (int64_t i = 0; i < size; i++) {
		g_autofree char *start =
		    g_strdup_printf("substr(block, 1, %" G_GINT64_FORMAT ")", i);

		assert_damaged(fixture, start);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(segments); i++) {
		g_autofree char *block = g_strdup_printf(
		    "substr(block, 1, 4) || x'0101010001%s'", segments[i]);

		assert_damaged(fixture, block);
	}
}

static void
damaged_places_are_in_no_other_column(void)
{
	/* A great offset; a great column; the second place is cut. */
	static const uint8_t offset[] = {0x89, 0x80, 0x80, 0x80, 0x00};
	static const uint8_t column[] = {0x01, 0x88, 0x80, 0x80, 0x80, 0x00, 0x02};
	static const uint8_t cut[] = {0x02, 0x83, 0x00};
	struct fts_row rows[] = {{.places = offset, .size = sizeof(offset)},
	    {.places = column, .size = sizeof(column)},
	    {.places = cut, .size = sizeof(cut) - 1}};
	GArray *columns[FTS_ROW_COLUMNS];

	for (unsigned i = 0; i < FTS_ROW_COLUMNS; i++)
		columns[i] = g_array_new(FALSE, FALSE, sizeof(int));
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		fts_row_list(&rows[i], 0, columns);
		g_assert_cmpint(rows[i].rc, ==, i ? SQLITE_CORRUPT_VTAB : SQLITE_OK);
	}
	g_assert_cmpuint(columns[0]->len, ==, 2);
	g_assert_cmpint(g_array_index(columns[0], int, 0), >=, 0);
	g_assert_cmpint(g_array_index(columns[0], int, 1), ==, 0);
	for (unsigned i = 0; i < FTS_ROW_COLUMNS; i++)
		g_array_unref(columns[i]);
}

static void
count_columns(void *data, int64_t seq, void *row)
{
	unsigned counts[10] = {0};

	(void)data;
	(void)seq;
	fts_row_count(row, 0, counts);
	for (unsigned i = FTS_ROW_COLUMNS; i < G_N_ELEMENTS(counts); i++)
		g_assert_cmpuint(counts[i], ==, 0);
}

static void
damaged_columns_of_fts5_are_an_error(void)
{
	pb_auto(store_fixture) fixture = new_fixture(64);
	g_autoptr(GError) error = NULL;

	/* The first place of an author becomes one in column 9. */
	store_fixture_run(fixture,
	    "UPDATE paper_fts_data SET block ="
	    " CAST(replace(block, x'06010202', x'06010902') AS BLOB)"
	    " WHERE id > 10");
	g_assert_false(
	    archive_find(fixture->store, "ada", 0, count_columns, NULL, &error));
	g_assert_nonnull(error);
}

UNIT_MAIN(places_of_phrases_are_those_that_fts5_finds,
    papers_of_a_transaction_are_found, damage_is_an_error_or_other_papers,
    numbers_of_nine_bytes_are_read, damaged_list_of_segments_is_an_error,
    damaged_places_are_in_no_other_column, damaged_columns_of_fts5_are_an_error)
