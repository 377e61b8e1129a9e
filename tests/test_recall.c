/*
 * test_recall.c - the part of its subject that a filter finds.
 */
#include "query/taste/recall.h"
#include "query/taste/related.h"
#include "query/text/acronym.h"
#include "test_query.h"

#define assert_near(a, b) g_assert_cmpfloat_with_epsilon(a, b, 1e-9)

static void
terms_are_taken_together(struct query_fixture *fixture, const void *unused)
{
	pb_local(recall) recall = {0};

	(void)fixture;
	(void)unused;
	recall_init(&recall, 1000, 50);
	g_assert_cmpfloat(recall_estimate(&recall, -1), ==, -1);
	recall_add(&recall, 40, 30);
	recall_add(&recall, 20, 15);
	assert_near(recall_estimate(&recall, -1), 45 / 60.0);
	/* Few papers, or no more in common than by chance. */
	recall_add(&recall, RECALL_PAPERS_MIN - 1, RECALL_SHARED_MIN);
	recall_add(&recall, 100, RECALL_SHARED_MIN - 1);
	recall_add(&recall, 400, 20);
	assert_near(recall_estimate(&recall, -1), 45 / 60.0);
	/* Weaker terms are ignored if there are enough. */
	for (unsigned i = 0; i < RECALL_TERMS; i++)
		recall_add(&recall, 30, 27);
	assert_near(recall_estimate(&recall, -1), 27 / 30.0);
}

static void
other_forms_are_counted(struct query_fixture *fixture, const void *unused)
{
	pb_local(recall) recall = {0};
	pb_local(recall) few = {0};

	(void)fixture;
	(void)unused;
	recall_init(&recall, 1000, 30);
	recall_add(&recall, 20, 2);
	assert_near(recall_estimate(&recall, 10), 0.75);
	assert_near(recall_estimate(&recall, 0), 1);
	recall_init(&few, 1000, RECALL_MATCHING_MIN - 1);
	recall_add(&few, 20, 5);
	g_assert_cmpfloat(recall_estimate(&few, -1), ==, -1);
	g_assert_cmpfloat(recall_estimate(&few, 10), ==, -1);
}

/* 20 papers on adapters, of which 15 have the filter's word, among 100. */
static void
terms_of_an_archive_are_added(struct query_fixture *fixture, const void *unused)
{
	pb_auto(matrix) matrix = matrix_new(fixture->tokenizer, true);
	pb_auto(query) query = must_parse(fixture, "lora OR NEAR(low rank, 3)");
	pb_local(recall) recall = {0};
	bool matches[100] = {false};
	g_autoptr(GError) error = NULL;

	(void)unused;
	for (unsigned i = 0; i < G_N_ELEMENTS(matches); i++) {
		g_autofree char *text =
		    g_strdup_printf("%s %s own%u", i < 15 ? "lora low rank" : "other",
		        i < 20 ? "adapter" : "speech", i);

		matrix_add(matrix, text, "", &error);
		g_assert_no_error(error);
		matches[i] = i < 15;
	}
	recall_init(&recall, G_N_ELEMENTS(matches), 15);
	recall_add_all(&recall, query, matrix, matches);
	assert_near(recall_estimate(&recall, -1), 0.75);
}

static void
forms_of_acronyms_are_listed(struct query_fixture *fixture, const void *unused)
{
	static const struct {
		const char *filter;
		const char *forms;
	} rows[] = {
	    {"RAG", "retrieval augmented generation"},
	    {"rag OR speech", "retrieval augmented generation"},
	    {"\"retrieval-augmented generation\"", "rag"},
	    {"RAG OR \"retrieval augmented generation\"", ""},
	    {"RAG speech", ""},
	    {"speech", ""},
	    {"once", ""},
	};
	struct acronym defined[] = {
	    {"RAG", "Retrieval-Augmented Generations"},
	    {"RAG", "retrieval augmented generation"},
	    {"RAG", "Random Access Graph"},
	    {"ONCE", "only never counted extra"},
	};
	g_autoptr(GPtrArray) acronyms = g_ptr_array_new();

	(void)unused;
	for (size_t i = 0; i < G_N_ELEMENTS(defined); i++)
		g_ptr_array_add(acronyms, &defined[i]);
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(query) query = must_parse(fixture, rows[i].filter);
		g_autoptr(GPtrArray) forms = related_list_forms(query, acronyms);
		g_autofree char *text = NULL;

		g_ptr_array_add(forms, NULL);
		text = g_strjoinv("; ", (char **)forms->pdata);
		g_assert_cmpstr(text, ==, rows[i].forms);
	}
}

QUERY_MAIN(terms_are_taken_together, other_forms_are_counted,
    terms_of_an_archive_are_added, forms_of_acronyms_are_listed)
