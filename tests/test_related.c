/*
 * test_related.c - terms related to a filter.
 */
#include <string.h>

#include "service/advice/related.h"
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
    "speech 大模型",
    "大模型",
    "genetic algorithm GA",
    "GA",
    "genetic algorithm",
};

static void
add_paper(struct matrix *matrix, const char *title)
{
	g_autoptr(GError) error = NULL;

	matrix_add(matrix, title, "", &error);
	g_assert_no_error(error);
}

static unsigned
count_papers(void *data, const struct matrix_term *term, unsigned at_least)
{
	uint32_t number;

	g_assert_true(matrix_find_term(data, term->text, &number));
	g_assert_cmpuint(matrix_get_term(data, number)->papers, >=, at_least);
	return matrix_get_term(data, number)->papers;
}

/* @return "term term" */
static char *
find(const struct query_fixture *fixture, const char *filter, unsigned limit)
{
	pb_auto(matrix) archive = matrix_new(fixture->tokenizer, true);
	pb_auto(matrix) matching = matrix_new(fixture->tokenizer, true);
	pb_auto(query) query = must_parse(fixture, filter);
	struct related_source source = {
	    .matrix = matching, .count = count_papers, .data = archive};
	g_autoptr(GPtrArray) terms = NULL;
	GString *list = g_string_new(NULL);
	double previous = G_MAXDOUBLE;

	for (size_t i = 0; i < COPIES * G_N_ELEMENTS(texts); i++) {
		pb_auto(query_document) document =
		    make_document(fixture, texts[i / COPIES], "", "", 0);

		add_paper(archive, texts[i / COPIES]);
		if (query_evaluate(query, document, QUERY_AS_REPORTED) == QUERY_TRUE)
			add_paper(matching, texts[i / COPIES]);
	}
	source.papers = matrix_count_papers(archive);
	source.matching = matrix_count_papers(matching);
	terms = related_find(query, &source, limit);
	g_assert_cmpuint(terms->len, <=, limit);
	for (unsigned i = 0; i < terms->len; i++) {
		const struct related_term *term = terms->pdata[i];

		g_assert_cmpfloat(term->score, <=, previous);
		previous = term->score;
		g_string_append_printf(list, "%s%s", i ? "; " : "", term->text);
	}
	return g_string_free(list, FALSE);
}

QUERY_TEST(acronyms_are_found_in_both_directions)
{
	static const struct {
		const char *filter;
		const char *first;
	} rows[] = {
	    {"\"low-rank adaptation\"", "lora"},
	    {"low rank adaptation", "lora"},
	    {"\"low rank adaptations\" OR unseen", "lora"},
	    {"GA", "genetic algorithm"},
	    {"speech", "transcription"},
	    /* Already there. */
	    {"LoRA OR \"low rank adaptation\"", "weight"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *found = find(fixture, rows[i].filter, 10);
		size_t len = strlen(rows[i].first);

		if (!g_str_has_prefix(found, rows[i].first) ||
		    (found[len] && found[len] != ';'))
			g_error("%s: %s", rows[i].filter, found);
	}
}

QUERY_TEST(terms_that_add_nothing_are_left_out)
{
	g_autofree char *found = find(fixture, "speech OR nowhere", 10);
	g_autofree char *none = find(fixture, "nowhere", 10);
	g_autofree char *limited = find(fixture, "\"low rank adaptation\"", 1);

	/* A word of the filter, and one that only papers on speech have. */
	g_assert_null(strstr(found, "speech"));
	g_assert_null(strstr(found, "recognition"));
	/* Nor pairs of characters. */
	g_assert_null(strstr(found, "模"));
	g_assert_cmpstr(none, ==, "");
	g_assert_cmpstr(limited, ==, "lora");
}

UNIT_MAIN
