/*
 * test_query_terms.c - required terms of filters, and terms of papers.
 */
#include <glib.h>
#include <string.h>

#include "lib/cases.h"
#include "query/eval/terms.h"
#include "test_query.h"

/* Number of papers with each; others were never seen. */
static const struct {
	const char *text;
	int64_t papers;
} seen[] = {
    {"model", 9000},
    {"deep", 5000},
    {"diffusion", 800},
    {"mamba", 40},
    {"quantiz", 300},
    {"lear", 6000},
    {"语言", 700},
    {"言模", 700},
    {"号", 9000},
};

static bool
load_frequency(void *data, const struct term *term, int64_t *papers, GError **error)
{
	(void)data;
	(void)error;
	*papers = 0;
	for (size_t i = 0; i < G_N_ELEMENTS(seen); i++)
		if (strcmp(seen[i].text, term->text) == 0)
			*papers = seen[i].papers;
	return true;
}

static const char *const kinds[] = {"always", "word", "pair", "prefix", "name"};

QUERY_TEST(rarest_required_terms_are_chosen)
{
	const struct document_frequency frequency = {load_frequency, NULL};

	CASES_FOREACH(row, "query_terms", *filter, *terms) {
		pb_auto(query) query = must_parse(fixture, row->filter);
		g_autoptr(GPtrArray) terms =
		    terms_select_required(query, &frequency, NULL);
		g_autoptr(GString) text = g_string_new(NULL);

		for (unsigned n = 0; n < terms->len; n++) {
			const struct term *term = terms->pdata[n];

			g_string_append_printf(text, "%s%s:%s", n ? " " : "",
			    kinds[term->kind], term->text);
		}
		g_assert_cmpstr(text->str, ==, row->terms);
	}
}

static bool
refuse(void *data, const struct term *term, int64_t *papers, GError **error)
{
	unsigned *left = data;

	*papers = 1;
	if (term->kind == TERM_WORD && (*left)-- > 0)
		return true;
	g_set_error(error, PB_ERROR, PB_ERROR_TEMPORARY, "made up");
	return false;
}

QUERY_TEST(failing_frequency_is_an_error)
{
	pb_auto(query) query =
	    must_parse(fixture, "\"a b\" (c OR (d NEAR/3 e)) -f author:g");

	for (unsigned steps = 0; steps < 5; steps++) {
		unsigned left = steps;
		const struct document_frequency frequency = {refuse, &left};

		FAILS(PB_ERROR_TEMPORARY,
		    terms_select_required(query, &frequency, &error));
	}
}

static int
compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void
append_term(void *data, enum term_kind kind, const char *text)
{
	g_ptr_array_add(data, g_strdup_printf("%s:%s", kinds[kind], text));
}

/* List the terms of a paper, sorted. @return a new string */
static char *
format_terms(const struct query_document *document)
{
	g_autoptr(GPtrArray) terms = g_ptr_array_new_with_free_func(g_free);

	terms_list(document, append_term, terms);
	g_ptr_array_sort(terms, compare_texts);
	g_ptr_array_add(terms, NULL);
	return g_strjoinv(" ", (char **)terms->pdata);
}

QUERY_TEST(terms_of_a_paper_are_words_pairs_prefixes_and_names)
{
	pb_auto(query_document) document = make_document(
	    fixture, "Deep Models", "Ab électrons", "Shai Ben-David;--", 0);
	g_autofree char *text = format_terms(document);

	/* Pairs do not span the two texts. */
	g_assert_cmpstr(text, ==,
	    "name:ben name:david name:shai pair:ab electron pair:deep model"
	    " prefix:dee prefix:deep prefix:ele prefix:elec prefix:elect"
	    " prefix:electr prefix:electro prefix:electron prefix:electrons"
	    " prefix:mod prefix:mode prefix:model prefix:models word:ab word:deep"
	    " word:electron word:model");
}

QUERY_TEST(terms_of_a_run_are_its_pairs_and_characters)
{
	pb_auto(query_document) document =
	    make_document(fixture, "大模型 号1", "", "王小明", 0);
	g_autofree char *text = format_terms(document);

	g_assert_cmpstr(text, ==,
	    "name:王小明 pair:号 1 pair:大模 模型 pair:模型 号"
	    " prefix:号 prefix:型 prefix:大 prefix:大模 prefix:模 prefix:模型"
	    " word:1 word:号 word:大模 word:模型");
}

UNIT_MAIN
