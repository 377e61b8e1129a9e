/*
 * test_proximity.c - NEAR agrees with FTS5 and stays within one text.
 */
#include <sqlite3.h>

#include "test_query.h"

static bool
is_found(const struct query_fixture *fixture, const struct query_document *document,
    const char *text)
{
	pb_auto(query) query = must_parse(fixture, text);

	return query_evaluate(query, document, QUERY_AS_REPORTED) == QUERY_TRUE;
}

QUERY_TEST(every_near_match_is_a_hit_with_its_place)
{
	static const struct {
		enum hit_field field;
		size_t start, end;
		const char *words, *folded;
	} rows[] = {
	    {HIT_FIELD_TITLE, 0, 11, "Betas near alpha", "beta near alpha"},
	    {HIT_FIELD_TITLE, 6, 17, "alpha near beta", "alpha near beta"},
	    {HIT_FIELD_ABSTRACT, 2, 19, "alphas near \"beta zeta\"",
	        "alpha near beta zeta"},
	};
	pb_auto(query_document) document = make_document(
	    fixture, "Betas alpha, beta.", "x alphas, beta zeta", "", PAPER_UNKNOWN);
	pb_auto(query) query = must_parse(
	    fixture, "title:(alpha NEAR/1 beta) abs:NEAR(\"beta zeta\" alpha)");
	g_autoptr(GPtrArray) hits = query_explain(query, document);
	g_autofree char *reported = query_explain_text(query, document, NULL);

	g_assert_cmpuint(hits->len, ==, G_N_ELEMENTS(rows));
	for (guint i = 0; i < hits->len; i++) {
		const struct query_hit *hit = g_ptr_array_index(hits, i);

		g_assert_cmpint(hit->field, ==, rows[i].field);
		g_assert_cmpuint(hit->start, ==, rows[i].start);
		g_assert_cmpuint(hit->end, ==, rows[i].end);
		g_assert_cmpstr(hit->words, ==, rows[i].words);
		g_assert_cmpstr(hit->folded, ==, rows[i].folded);
		g_assert_nonnull(hit->phrases);
	}
	g_assert_cmpstr(reported, ==,
	    "Betas near alpha, alpha near beta in the title; "
	    "alphas near \"beta zeta\" in the abstract");
}

/* ---- FTS5 ---- */

#define ROUNDS  4000
#define LONGEST 24

static const char *const vocabulary[] = {"alpha", "beta", "gamma", "型", "大模型"};

static const char *
choose_word(GRand *rand)
{
	return vocabulary[g_rand_int_range(rand, 0, G_N_ELEMENTS(vocabulary))];
}

static char *
make_text(GRand *rand)
{
	GString *text = g_string_new(NULL);

	for (int n = g_rand_int_range(rand, 1, LONGEST); n > 0; n--)
		g_string_append_printf(text, "%s ", choose_word(rand));
	return g_string_free(text, FALSE);
}

/* Two to four words, phrases and prefixes, with a distance. */
static char *
make_near(GRand *rand)
{
	GString *text = g_string_new("NEAR(");

	for (int n = g_rand_int_range(rand, 2, 5); n > 0; n--) {
		int words = g_rand_int_range(rand, 1, 3);

		g_string_append_c(text, '"');
		for (int i = 0; i < words; i++)
			g_string_append_printf(
			    text, "%s%s", i > 0 ? " " : "", choose_word(rand));
		g_string_append(text, "\" ");
	}
	g_string_append_printf(text, ", %d)", g_rand_int_range(rand, 1, 7));
	return g_string_free(text, FALSE);
}

static bool
is_found_by_search(sqlite3 *db, const char *paper, const char *near)
{
	g_autofree char *columns = g_strconcat("{t} : ", near, NULL);
	sqlite3_stmt *statement;
	bool is_there;

	sqlite3_prepare_v2(
	    db, "UPDATE n SET t = ?1 WHERE rowid = 1", -1, &statement, NULL);
	sqlite3_bind_text(statement, 1, paper, -1, SQLITE_TRANSIENT);
	g_assert_cmpint(sqlite3_step(statement), ==, SQLITE_DONE);
	sqlite3_finalize(statement);
	sqlite3_prepare_v2(
	    db, "SELECT count(*) FROM n WHERE n MATCH ?1", -1, &statement, NULL);
	sqlite3_bind_text(statement, 1, columns, -1, SQLITE_TRANSIENT);
	g_assert_cmpint(sqlite3_step(statement), ==, SQLITE_ROW);
	is_there = sqlite3_column_int(statement, 0) == 1;
	sqlite3_finalize(statement);
	return is_there;
}

QUERY_TEST(proximity_agrees_with_fts5)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed(11);
	unsigned seen[2] = {0};

	g_assert_cmpint(tokenizer_register(fixture->db), ==, SQLITE_OK);
	g_assert_cmpint(sqlite3_exec(fixture->db,
	                    "CREATE VIRTUAL TABLE n USING fts5(t, tokenize = bigram); "
	                    "INSERT INTO n (rowid, t) VALUES (1, '')",
	                    NULL, NULL, NULL),
	    ==, SQLITE_OK);
	for (int i = 0; i < ROUNDS; i++) {
		g_autofree char *paper = make_text(rand);
		g_autofree char *near = make_near(rand);
		pb_auto(query_document) document =
		    make_document(fixture, paper, "", "", PAPER_UNKNOWN);
		bool ours = is_found(fixture, document, near);

		if (ours != is_found_by_search(fixture->db, paper, near))
			g_error("'%s' is %d in '%s'", near, ours, paper);
		seen[ours]++;
	}
	g_assert_cmpuint(seen[0], >, ROUNDS / 10);
	g_assert_cmpuint(seen[1], >, ROUNDS / 10);
}

UNIT_MAIN
