/*
 * test_recall.c - the part of its subject that a filter finds.
 */
#include "query/taste/recall.h"

#include <math.h>

#include "query/taste/related.h"
#include "query/text/acronym.h"
#include "test_query.h"

#define assert_near(a, b) g_assert_cmpfloat_with_epsilon(a, b, 1e-9)

static void
the_subject_is_the_best_papers(struct query_fixture *fixture, const void *unused)
{
	const struct recall_word word = {.text = "adapter"};
	pb_local(recall) recall = {0};

	(void)fixture;
	(void)unused;
	recall_init(&recall);
	/* 16 papers match: the subject is twice RECALL_SUBJECT. */
	for (unsigned i = 0; i < 2 * RECALL_SUBJECT; i++)
		recall_add_paper(&recall, i < 40 ? 3 : 1, i % 10 == 0);
	g_assert_cmpfloat(recall_estimate(&recall, 1000, 16), ==, -1);
	g_array_append_val(recall.words, word);
	assert_near(recall_estimate(&recall, 1000, 16), 0.1);
	g_assert_cmpfloat(
	    recall_estimate(&recall, 1000, RECALL_MATCHING_MIN - 1), ==, -1);
	/* Others score less, then as much as most. */
	recall_add_paper(&recall, 0.5, true);
	assert_near(recall_estimate(&recall, 1000, 16), 0.1);
	for (unsigned i = 0; i < 70; i++)
		recall_add_paper(&recall, 1, true);
	assert_near(recall_estimate(&recall, 1000, 16), (4 + 77 / 2.0) / 110);
	/* At most half of the papers are on the subject. */
	assert_near(recall_estimate(&recall, 80, 16), 0.1);
}

static void
papers_without_words_are_alike(struct query_fixture *fixture, const void *unused)
{
	const struct recall_word word = {.text = "adapter"};
	pb_local(recall) recall = {0};

	(void)fixture;
	(void)unused;
	recall_init(&recall);
	g_array_append_val(recall.words, word);
	for (unsigned i = 0; i < 10; i++)
		recall_add_paper(&recall, 1, true);
	recall_add_paper(&recall, 0, false);
	/* 6 of the other 990 match. */
	assert_near(recall_estimate(&recall, 1000, 16), (10 + 100 * 6 / 990.0) / 110);
}

static void
other_forms_are_counted(struct query_fixture *fixture, const void *unused)
{
	(void)fixture;
	(void)unused;
	assert_near(recall_estimate_forms(30, 10), 0.75);
	g_assert_cmpfloat(recall_estimate_forms(RECALL_MATCHING_MIN - 1, 10), ==, -1);
}

static unsigned
count_many(void *data, const struct matrix_term *term, unsigned at_least)
{
	(void)data;
	(void)term;
	return at_least + RECALL_ROWS;
}

/* 60 papers on adapters, of which 45 have the filter's word, among 300. */
static void
words_of_an_archive_are_chosen(struct query_fixture *fixture, const void *unused)
{
	pb_auto(matrix) matrix = matrix_new(fixture->tokenizer, true);
	pb_auto(query) query = must_parse(fixture, "lora OR NEAR(low rank, 3)");
	pb_local(recall) recall = {0}, sampled = {0};
	bool matches[300] = {false};
	const struct related_source source = {.matrix = matrix, .matches = matches};
	const struct related_source sample = {.matrix = matrix,
	    .matches = matches,
	    .papers = 100 * RECALL_ROWS,
	    .count = count_many};
	const struct recall_word *word;
	g_autoptr(GError) error = NULL;

	(void)unused;
	for (unsigned i = 0; i < G_N_ELEMENTS(matches); i++) {
		g_autofree char *text = g_strdup_printf("%s paper %s own%u %s",
		    i < 45 ? "lora low rank" : "other", i < 60 ? "adapter" : "speech",
		    i, i < RECALL_SHARED_MIN - 1 ? "rare" : "");

		matrix_add(matrix, text, "", &error);
		g_assert_no_error(error);
		matches[i] = i < 45;
	}
	recall_init(&recall);
	recall_add_all(&recall, query, &source);
	g_assert_cmpuint(recall.words->len, ==, 1);
	word = &g_array_index(recall.words, struct recall_word, 0);
	g_assert_cmpstr(word->text, ==, "adapter");
	g_assert_cmpuint(word->papers, ==, 60);
	/* Log odds of 45 of 45, or 44 of 44, against 60 of 300. */
	assert_near(word->weight, log(45.5 / 0.5) - log(60.5 / 240.5));
	assert_near(word->own_weight, log(44.5 / 0.5) - log(59.5 / 240.5));
	/* 60 papers, then others of which none matches. */
	assert_near(recall_estimate(&recall, 300, 45), 45 / (55 * pow(45, 0.25)));
	/* Words of too many papers are not searched. */
	recall_init(&sampled);
	recall_choose_words(&sampled, query, &sample, 1);
	g_assert_cmpuint(sampled.words->len, ==, 0);
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

QUERY_MAIN(the_subject_is_the_best_papers, papers_without_words_are_alike,
    other_forms_are_counted, words_of_an_archive_are_chosen,
    forms_of_acronyms_are_listed)
