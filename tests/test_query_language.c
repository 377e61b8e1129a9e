/*
 * test_query_language.c - the documented language: every field, example and category.
 */
#include <string.h>

#include "lib/cases.h"
#include "query/parse/category.h"
#include "query/parse/field.h"
#include "test_query.h"

/* A paper with all fields, and one that has just been listed. */
static struct query_document *
make_settled(const struct query_fixture *fixture)
{
	pb_auto(paper) paper = paper_new();
	struct query_document *document;

	paper->id = g_strdup("2607.01234");
	paper->title =
	    g_strdup("Diffusion model agents: State Space RAG for protein graphs");
	paper->abstract =
	    g_strdup("Mamba and quantization for a large language model in "
	             "speech recognition. Reward models against hacking: "
	             "chain of thought may be faithfully told.");
	g_ptr_array_add(paper->authors, g_strdup("Geoffrey Hinton"));
	g_ptr_array_add(paper->authors, g_strdup("Yann A. LeCun"));
	paper->upvotes = 23;
	paper->comments = 4;
	paper->stars = 120;
	paper->code_url = g_strdup("https://example.org/code");
	paper->organization = g_strdup("Allen Institute for AI");
	paper->keywords = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(paper->keywords, g_strdup("reward model"));
	g_ptr_array_add(paper->keywords, g_strdup("state space"));
	paper->categories = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(paper->categories, g_strdup("cs.CL"));
	g_ptr_array_add(paper->categories, g_strdup("cs.LG"));
	g_ptr_array_add(paper->categories, g_strdup("math-ph"));
	paper->looked_up = PAPER_LOOKUP_ALL;
	paper->comment = g_strdup("Accepted at NeurIPS, 12 pages");
	paper->journal = g_strdup("Nature 12 (2026) 34");
	paper->doi = g_strdup("10.1145/3292500.3330701");
	paper->pmid = g_strdup("41792208");
	paper->pmcid = g_strdup("PMC12938590");
	paper->mesh = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(paper->mesh, g_strdup("Alzheimer Disease"));
	g_ptr_array_add(paper->mesh, g_strdup("Humans"));
	paper_add_listing(paper, "hf", "2026-07-30", LISTING_NEW);
	paper_add_listing(paper, "arxiv", "2026-08-03", LISTING_CROSS);
	document = NO_ERROR(
	    query_document_new(paper, "2026-08-05", fixture->tokenizer, &error));
	return document;
}

static const char *
get_verdict(const struct query *query, const struct query_document *document)
{
	static const char *const names[] = {[QUERY_FALSE] = "false",
	    [QUERY_UNKNOWN] = "unknown",
	    [QUERY_TRUE] = "true"};

	return names[query_evaluate(query, document, QUERY_AS_REPORTED)];
}

/*
 * Columns: the verdict for the paper with all fields, and that for the one with texts
 * only.
 */
static void
check_table(const struct query_fixture *fixture, const char *name)
{
	pb_auto(query_document) reported = make_settled(fixture);
	pb_auto(query_document) blank = make_document(
	    fixture, "Protein diffusion model", "", "Ada Smith", PAPER_UNKNOWN);

	CASES_FOREACH(row, name, *text, *canonical, *reported, *blank) {
		pb_auto(query) query = must_parse(fixture, row->text);
		g_autofree char *text = query_format(query);
		pb_auto(query) again = must_parse(fixture, text);
		g_autofree char *same = query_format(again);

		g_test_message("%s", row->text);
		g_assert_cmpstr(text, ==, row->canonical);
		g_assert_cmpstr(same, ==, text);
		g_assert_cmpstr(get_verdict(query, reported), ==, row->reported);
		g_assert_cmpstr(get_verdict(query, blank), ==, row->blank);
		g_assert_cmpstr(get_verdict(again, reported), ==, row->reported);
	}
}

QUERY_TEST(every_example_has_its_canonical_text_and_verdicts)
{
	check_table(fixture, "query_language_examples");
}

QUERY_TEST(every_field_has_an_example_that_parses)
{
	check_table(fixture, "query_language_fields");
}

QUERY_TEST(every_name_and_alias_of_a_field_is_found)
{
	static const char *const names[] = {"title", "ti", "abstract", "abs", "text",
	    "all", "author", "au", "first", "cat", "primary", "source", "org", "kw",
	    "comment", "co", "journal", "jr", "mesh", "doi", "pmid", "id", "has",
	    "upvotes", "comments", "stars", "authors", "date", "type"};
	size_t spellings = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		g_assert_nonnull(field_find(names[i], strlen(names[i])));
	for (size_t i = 0; field_get(i); i++) {
		const struct field *field = field_get(i);

		spellings += field->alias ? 2 : 1;
		/* The examples in error messages are valid. */
		query_free(must_parse(fixture, field->example));
	}
	g_assert_cmpuint(spellings, ==, G_N_ELEMENTS(names));
}

/* "author, au" of each item of the list of fields in the manual page. */
static GPtrArray *
read_manual(void)
{
	const char *top = g_getenv("top_srcdir");
	g_autofree char *path =
	    g_build_filename(top ? top : ".", "man", "paperboy-filters.7.in", NULL);
	g_autofree char *page = NULL;
	g_auto(GStrv) lines = NULL;
	GPtrArray *items = g_ptr_array_new_with_free_func(g_free);

	NO_ERROR(g_file_get_contents(path, &page, NULL, &error));
	lines = g_strsplit(page, "\n", -1);
	for (guint i = 0; lines[i]; i++)
		if (g_str_has_prefix(lines[i], ".It Cm ") && !strstr(lines[i], " Ta "))
			g_ptr_array_add(items, g_strdup(lines[i] + strlen(".It Cm ")));
	return items;
}

QUERY_TEST(manual_page_lists_the_fields_of_the_program)
{
	g_autoptr(GPtrArray) items = read_manual();
	g_autoptr(GHashTable) reported = g_hash_table_new(g_str_hash, g_str_equal);
	guint n = 0;

	for (guint i = 0; i < items->len; i++)
		g_assert_true(g_hash_table_add(reported, items->pdata[i]));
	for (; field_get(n); n++) {
		const struct field *field = field_get(n);
		g_autofree char *item =
		    g_strconcat(field->name, field->alias ? " , Cm " : "",
		        field->alias ? field->alias : "", NULL);

		if (!g_hash_table_contains(reported, item))
			g_error("the manual page has no '.It Cm %s'", item);
	}
	g_assert_cmpuint(n, ==, items->len);
}

QUERY_TEST(every_category_is_found)
{
	static const char *const archives[] = {"astro-ph", "cond-mat", "cs", "econ",
	    "eess", "gr-qc", "hep-ex", "hep-lat", "hep-ph", "hep-th", "math", "math-ph",
	    "nlin", "nucl-ex", "nucl-th", "physics", "q-bio", "q-fin", "quant-ph",
	    "stat"};
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
	size_t n = 0;

	for (; category_get(n); n++) {
		const char *name = category_get(n);
		g_autofree char *upper = g_ascii_strup(name, -1);
		g_autofree char *text = g_strconcat("cat:", name, NULL);
		g_autofree char *bare = canonical(fixture, upper);

		g_assert_cmpstr(bare, ==, text);
		g_assert_true(g_hash_table_add(seen, (gpointer)name));
	}
	g_assert_cmpuint(n, ==, 155);
	for (size_t i = 0; i < G_N_ELEMENTS(archives); i++) {
		g_autofree char *text = g_strconcat("cat:", archives[i], NULL);
		g_autofree char *same = canonical(fixture, text);

		g_assert_cmpstr(same, ==, text);
	}
}

UNIT_MAIN
