/*
 * test_archive.c - the archive indexes exactly the words of its papers.
 */
#include <string.h>

#include "lib/cases.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "service/match/corpus.h"
#include "store/core/sql.h"
#include "store/core/transaction.h"
#include "store/paper/archive.h"
#include "store/paper/paper_history.h"

#define DAY "2026-11-20"
#define AT  store_fixture_time("2026-11-20T12:00:00Z")

#define WORDS \
	"SELECT text || '/' || folded || '/' || papers FROM vocabulary ORDER BY text"
#define FORMS "SELECT short, replace(long, ' ', '_'), papers FROM acronym ORDER BY 1, 2"

static void
list(struct store_fixture *fixture, const char *id, const char *title,
    const char *abstract)
{
	store_fixture_save(
	    fixture, "hf", DAY, AT, store_fixture_paper(id, title, abstract));
}

static void
assert_sound(struct store_fixture *fixture)
{
	g_autofree char *problem = store_fixture_check_archive(fixture);

	g_assert_cmpstr(problem, ==, NULL);
	store_fixture_assert_idle(fixture);
}

STORE_TEST(locale_format_are_counted_by_papers_and_follow_a_revision)
{
	list(fixture, "1", "Models of a model", "A model");
	list(fixture, "2", "M\xc3\xbcller's models", "");
	assert_rows(fixture, WORDS,
	    "a/a/1 model/model/1 models/model/2 muller/muller/1 of/of/1 s/s/1");
	list(fixture, "1", "Models of diffusion", "Another model");
	assert_rows(fixture, WORDS,
	    "another/another/1 diffusion/diffusion/1 model/model/1 models/model/2"
	    " muller/muller/1 of/of/1 s/s/1");
	assert_sound(fixture);
	/* The same paper again, or other votes, change nothing. */
	list(fixture, "1", "Models of diffusion", "Another model");
	assert_sound(fixture);
	assert_rows(fixture, "SELECT rowid FROM paper_fts('diffusion')", "1");
	assert_rows(fixture, "SELECT rowid FROM paper_fts('authors : ada')", "1 2");
}

STORE_TEST(words_of_a_run_are_its_pairs_and_last_character)
{
	struct archive_size size;
	int64_t papers;

	list(fixture, "1", "大模型1", "型号");
	assert_rows(fixture, WORDS,
	    "1/1/1 号/号/1 型/型/1 型号/型号/1 大模/大模/1 模型/模型/1");
	assert_rows(fixture, "SELECT rowid FROM paper_fts('模型')", "1");
	assert_rows(fixture, "SELECT rowid FROM paper_fts('title : 型')", "1");
	assert_rows(fixture, "SELECT rowid FROM paper_fts('\"大模型 1\"')", "1");
	g_assert_true(archive_count_prefix(fixture->store, "号", &papers, NULL));
	g_assert_cmpint(papers, ==, 1);
	g_assert_true(archive_load_size(fixture->store, &size, NULL));
	g_assert_cmpfloat(size.title_words, ==, 3);
	list(fixture, "1", "None", "no");
	assert_rows(fixture, WORDS, "no/no/1 none/none/1");
	assert_sound(fixture);
}

STORE_TEST(acronyms_are_added_and_removed)
{
	g_autoptr(GPtrArray) forms = NULL;
	struct archive_acronym *form;

	list(fixture, "1", "On LoRA",
	    "Low-rank adaptation (LoRA), low-rank adaptation (LoRA)");
	list(fixture, "2", "LoRAs",
	    "low-rank adaptations (LoRAs); low-rank adapters (LoRA)");
	assert_rows(
	    fixture, FORMS, "lora|low_rank_adaptation|2 lora|low_rank_adapter|1");
	forms = archive_load_forms(fixture->store, "lora", 1, NULL);
	g_assert_cmpuint(forms->len, ==, 1);
	form = forms->pdata[0];
	g_assert_cmpstr(form->shown, ==, "Low-rank adaptation");
	g_assert_cmpint(form->papers, ==, 2);
	g_ptr_array_unref(forms);
	forms = archive_load_forms(fixture->store, "low rank adapter", 1, NULL);
	g_assert_cmpuint(forms->len, ==, 1);
	form = forms->pdata[0];
	g_assert_cmpstr(form->shown, ==, "lora");
	g_assert_cmpint(form->papers, ==, 1);
	list(fixture, "2", "None", "No more.");
	assert_rows(fixture, FORMS, "lora|low_rank_adaptation|1");
	assert_sound(fixture);
}

/* Printed with their counts for inspection; not checked one by one. */
STORE_TEST(real_papers_teach_short_forms)
{
	g_autofree char *rows = NULL;
	g_auto(GStrv) lines = NULL;

	if (!store_fixture_fill_real(fixture)) {
		g_test_skip(STORE_FIXTURE_NO_REAL_DATA);
		return;
	}
	rows = store_fixture_text(fixture,
	    "SELECT papers || '~' || replace(short, ' ', '_') || '~' "
	    "|| replace(shown, ' ', '_')"
	    " FROM acronym ORDER BY papers DESC, short, long");
	lines = g_strsplit(rows, " ", -1);
	for (char **line = lines; *line; line++)
		g_test_message("%s", g_strdelimit(*line, "_", ' '));
	g_test_message("%u pairs of short and long forms", g_strv_length(lines));
	g_assert_cmpuint(g_strv_length(lines), >, 300);
	assert_rows(fixture,
	    "SELECT long FROM acronym WHERE short = 'moe' AND papers > 5",
	    "mixture of expert");
	assert_sound(fixture);
}

STORE_TEST(closest_word_is_found)
{
	list(fixture, "1", "Diffusion mamba tree", "robot robust");
	list(fixture, "2", "robot", "rabat");
	CASES_FOREACH(row, "archive_closest", *typed, *nearest) {
		g_autofree char *nearest = NULL;

		g_assert_true(
		    archive_find_nearest(fixture->store, row->typed, &nearest, NULL));
		g_assert_cmpstr(nearest, ==, row->nearest);
	}
}

STORE_TEST(words_are_counted_on_request)
{
	struct archive_size size;
	int64_t papers;

	list(fixture, "1", "Model models", "modelling");
	list(fixture, "2", "Models", "of");
	g_assert_true(archive_count_class(fixture->store, "model", &papers, NULL));
	g_assert_cmpint(papers, ==, 3); /* the first has both */
	g_assert_true(archive_count_papers(fixture->store, "model", &papers, NULL));
	g_assert_cmpint(papers, ==, 2);
	g_assert_true(archive_count_papers(fixture->store, "nothing", &papers, NULL));
	g_assert_cmpint(papers, ==, 0);
	g_assert_true(archive_count_prefix(fixture->store, "modell", &papers, NULL));
	g_assert_cmpint(papers, ==, 1);
	g_assert_true(archive_count_prefix(fixture->store, "modem", &papers, NULL));
	g_assert_cmpint(papers, ==, 0);
	g_assert_true(archive_load_size(fixture->store, &size, NULL));
	g_assert_cmpint(size.papers, ==, 2);
	g_assert_cmpfloat(size.title_words, ==, 1.5);
	g_assert_cmpfloat(size.abstract_words, ==, 1);
}

TEST(wrong_entries_are_found_and_rebuilt)
{
	CASES_FOREACH(row, "archive_wrong", *damage, *says, *is_seen_at_a_glance) {
		pb_auto(store_fixture) fixture = store_fixture_new();
		g_autofree char *problem = NULL, *glance = NULL;

		list(fixture, "1", "Diffusion of mamba", "low-rank adaptation (LoRA)");
		list(fixture, "2", "of mambas", "");
		assert_sound(fixture);
		store_fixture_run(fixture, row->damage);
		problem = store_fixture_check_archive(fixture);
		if (!problem || !strstr(problem, row->says))
			g_test_fail_printf("%s: %s", row->damage, problem);
		g_assert_true(archive_check_counts(fixture->store, &glance, NULL));
		g_assert_true(
		    (glance != NULL) == cases_is_yes(row->is_seen_at_a_glance));
		NO_ERROR(archive_rebuild(fixture->store, &error));
		assert_sound(fixture);
	}
}

static bool
call_rebuild(struct store_fixture *fixture, void *data, GError **error)
{
	pb_transaction transaction = {0};

	(void)data;
	return store_begin(fixture->store, &transaction, error) &&
	       archive_rebuild(fixture->store, error) &&
	       store_commit(&transaction, error);
}

static bool
call_learn(struct store_fixture *fixture, void *data, GError **error)
{
	g_autoptr(GPtrArray) listings =
	    g_ptr_array_new_with_free_func((GDestroyNotify)listing_free);
	const struct source_fetch batch = {
	    .source = "hf", .day = DAY, .fetched_at = 5, .status = SOURCE_FETCH_OK};
	struct papers_saved saved;
	pb_transaction transaction = {0};

	(void)data;
	g_ptr_array_add(listings,
	    listing_new(
	        store_fixture_paper("1", "Mamba", "Vision transformer (ViT)"), DAY));
	g_ptr_array_add(
	    listings, listing_new(store_fixture_paper("3", "Trees", ""), DAY));
	return store_begin(fixture->store, &transaction, error) &&
	       papers_save_fetch(fixture->store, &batch, listings, &saved, error) &&
	       store_commit(&transaction, error);
}

STORE_TEST(a_failure_anywhere_leaves_words_and_papers_together)
{
	list(fixture, "1", "Diffusion of mamba", "low-rank adaptation (LoRA)");
	list(fixture, "2", "of mambas", "");
	g_assert_cmpuint(
	    store_fixture_fail_everywhere(fixture, call_learn, NULL, true), >=, 20);
	assert_sound(fixture);
	store_fixture_run(fixture, "DELETE FROM vocabulary; DELETE FROM cursor");
	g_assert_cmpuint(
	    store_fixture_fail_everywhere(fixture, call_rebuild, NULL, true), >=, 10);
	assert_sound(fixture);
}

/* Numbers of papers that may match, the newest first, or the best. */
static char *
find(struct store_fixture *fixture, const char *text, const char *oldest_day,
    bool is_best)
{
	pb_auto(query) query =
	    query_parse(text, store_get_tokenizer(fixture->store), NULL, NULL, NULL);
	pb_auto(fts_query) fts = fts_query_new(query);
	pb_auto(corpus) corpus = corpus_new(fixture->store, NULL);
	pb_auto(rank) rank = corpus_make_rank(corpus, query, NULL);
	const struct archive_selection selection = {.fts = fts,
	    .oldest_day = oldest_day,
	    .rank = rank,
	    .now = store_fixture_time("2026-11-20T12:00:00Z"),
	    .limit = 2};
	g_autoptr(GError) error = NULL;
	int64_t count = -1;
	g_autoptr(GArray) found =
	    is_best ? archive_find_best(fixture->store, &selection, &count, &error)
	            : archive_find_newest(fixture->store, &selection, &error);
	GString *seqs = g_string_new(NULL);

	g_assert_no_error(error);
	for (guint i = 0; i < found->len; i++)
		g_string_append_printf(seqs, "%" G_GINT64_FORMAT " ",
		    g_array_index(found, struct archive_candidate, i).seq);
	g_string_append_printf(
	    seqs, "of %" G_GINT64_FORMAT, is_best ? count : (int64_t)found->len);
	store_fixture_assert_idle(fixture);
	return g_string_free(seqs, FALSE);
}

STORE_TEST(candidates_are_the_newest_or_the_best)
{
	store_fixture_list(fixture, "2026-11-18", "1", "Mamba", PAPER_UNKNOWN);
	store_fixture_list(fixture, "2026-11-19", "2", "Trees", 2);
	store_fixture_list(fixture, "2026-11-20", "3", "Mamba or mamba", 3);
	CASES_FOREACH(
	    row, "archive_candidates", *query, *oldest_day, *is_best, *wanted) {
		g_autofree char *found = find(
		    fixture, row->query, row->oldest_day, cases_is_yes(row->is_best));

		g_assert_cmpstr(found, ==, row->wanted);
	}
}

STORE_TEST(enriched_values_are_indexed)
{
	g_autofree char *before = NULL, *after = NULL;

	store_fixture_list(fixture, "2026-11-18", "1", "Mamba", PAPER_UNKNOWN);
	before = find(fixture, "comment:neurips cat:cs.CL", NULL, false);
	g_assert_cmpstr(before, ==, "of 0");
	store_fixture_run(
	    fixture, "UPDATE paper SET categories = 'cs.CL', comment = 'At NeurIPS'");
	after = find(fixture, "comment:neurips cat:cs.CL", NULL, false);
	g_assert_cmpstr(after, ==, "1 of 1");
}

STORE_TEST(searches_use_their_indexes)
{
	g_autofree char *found = NULL;
	g_autofree char *searches = NULL, *plans = NULL;
	int64_t papers;
	g_autoptr(GPtrArray) words = NULL, digests = NULL;
	struct paper_history_delivery delivery;

	g_hash_table_remove_all(fixture->store->statements);
	found = find(fixture, "a", "2026-11-18", false);
	searches = store_fixture_format_plans(fixture);
	g_assert_null(strstr(searches, "TEMP B-TREE"));
	g_assert_true(archive_count_class(fixture->store, "a", &papers, NULL));
	g_assert_true(archive_count_prefix(fixture->store, "a", &papers, NULL));
	words = archive_load_class(fixture->store, "a", NULL);
	digests = paper_history_load_digests(fixture->store, 1, 1, NULL);
	g_assert_true(
	    paper_history_load_delivery(fixture->store, 1, 1, &delivery, NULL));
	plans = store_fixture_format_plans(fixture);
	g_test_message("%s", plans);
	/* Only FTS5's own tables are "scanned", by their index. */
	g_assert_false(g_regex_match_simple(
	    "SCAN (?!CONSTANT|paper_fts VIRTUAL)\\S++(?! USING (COVERING )?INDEX)",
	    plans, 0, 0));
	g_assert_nonnull(strstr(plans, "COVERING INDEX paper_rank"));
	g_assert_nonnull(strstr(plans, "vocabulary_class (folded=?)"));
	g_assert_nonnull(strstr(plans, "(text>? AND text<?)"));
}

UNIT_MAIN
