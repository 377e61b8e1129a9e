/*
 * test_related.c - terms related to a filter.
 */
#include <string.h>

#include "query/taste/related.h"
#include "query/text/acronym.h"
#include "test_query.h"

#define COPIES 6 /* more papers than a term needs */

/* Each is the title of COPIES papers. */
static const char *const texts[] = {
    "low rank adaptation of weights",
    "low rank adaptation with adapters",
    "LoRA weights",
    "LoRA and low rank adaptation",
    "adapters for tuning",
    "speech recognition of words",
    "speech transcription",
    "speech transcription by recognition",
    "weights",
    "transcription of meetings",
    "retrieval augmented generation of answers",
    "RAG answers",
};

static struct matrix *
make_matrix(const struct query_fixture *fixture)
{
	struct matrix *matrix = matrix_new(fixture->tokenizer, true);
	g_autoptr(GError) error = NULL;

	for (size_t i = 0; i < COPIES * G_N_ELEMENTS(texts); i++) {
		matrix_add(matrix, texts[i / COPIES], "", &error);
		g_assert_no_error(error);
	}
	return matrix;
}

/* @param long_form  of RAG, which one paper defines; or NULL @return "term term" */
static char *
find(const struct query_fixture *fixture, const char *filter, const char *long_form,
    unsigned limit)
{
	pb_auto(matrix) matrix = make_matrix(fixture);
	pb_auto(query) query = must_parse(fixture, filter);
	bool matches[COPIES * G_N_ELEMENTS(texts)];
	struct acronym acronym = {"RAG", (char *)long_form};
	g_autoptr(GPtrArray) acronyms = g_ptr_array_new(), terms = NULL;
	GString *list = g_string_new(NULL);
	double previous = G_MAXDOUBLE;

	for (size_t i = 0; i < G_N_ELEMENTS(matches); i++) {
		pb_auto(query_document) document =
		    make_document(fixture, texts[i / COPIES], "", "", 0);

		matches[i] =
		    query_evaluate(query, document, QUERY_AS_REPORTED) == QUERY_TRUE;
	}
	if (long_form)
		g_ptr_array_add(acronyms, &acronym);
	terms = related_find(query,
	    &(const struct related_source){
	        .matrix = matrix, .matches = matches, .acronyms = acronyms},
	    limit);
	g_assert_cmpuint(terms->len, <=, limit);
	for (unsigned i = 0; i < terms->len; i++) {
		const struct related_term *term = terms->pdata[i];

		g_assert_cmpfloat(term->score, <=, previous);
		previous = term->score;
		g_string_append_printf(list, "%s%s", i ? "; " : "", term->text);
	}
	return g_string_free(list, FALSE);
}

static void
acronyms_are_found_in_both_directions(struct query_fixture *fixture, const void *unused)
{
	static const struct {
		const char *filter;
		const char *long_form;
		const char *first;
	} rows[] = {
	    {"\"low-rank adaptation\"", NULL, "lora"},
	    {"low rank adaptation", NULL, "lora"},
	    {"\"low rank adaptations\" OR unseen", NULL, "lora"},
	    {"RAG", "Retrieval-Augmented Generation", "retrieval augmented generation"},
	    {"speech", NULL, "transcription"},
	    /* Already there. */
	    {"LoRA OR \"low rank adaptation\"", NULL, "weight"},
	};

	(void)unused;
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *found =
		    find(fixture, rows[i].filter, rows[i].long_form, 10);
		size_t len = strlen(rows[i].first);

		if (!g_str_has_prefix(found, rows[i].first) ||
		    (found[len] && found[len] != ';'))
			g_error("%s: %s", rows[i].filter, found);
	}
}

static void
terms_that_add_nothing_are_left_out(struct query_fixture *fixture, const void *unused)
{
	g_autofree char *found = find(fixture, "speech OR nowhere", NULL, 10);
	g_autofree char *none = find(fixture, "nowhere", NULL, 10);
	g_autofree char *limited = find(fixture, "\"low rank adaptation\"", NULL, 1);

	(void)unused;
	/* A word of the filter, and one that only papers on speech have. */
	g_assert_null(strstr(found, "speech"));
	g_assert_null(strstr(found, "recognition"));
	g_assert_cmpstr(none, ==, "");
	g_assert_cmpstr(limited, ==, "lora");
}

QUERY_MAIN(acronyms_are_found_in_both_directions, terms_that_add_nothing_are_left_out)
