/*
 * test_query_bulk.c - a filter asked about many papers at once says what it says of
 * each alone.
 */
#include <glib.h>
#include <string.h>

#include "lib/lab.h"
#include "query/bulk.h"
#include "query/query.h"

/* As many as there may be. */
#define PAPERS BULK_PAPERS

struct shelf {
	struct query_document *documents[PAPERS];
	struct paper *papers[PAPERS];
};

/* Papers with all ways to have and not to have some words, votes and categories. */
static struct shelf *
new_shelf(const struct tokenizer *tokenizer)
{
	static const char *const words[] = {
	    "diffusion", "models", "state space", "survey", "quantized", "node.js"};
	struct shelf *shelf = g_new0(struct shelf, 1);

	for (unsigned i = 0; i < PAPERS; i++) {
		g_autofree char *id = g_strdup_printf("2611.%05u", i + 1);
		GString *title = g_string_new("On");

		for (unsigned n = 0; n < G_N_ELEMENTS(words); n++)
			if (i >> n & 1)
				g_string_append_printf(title, " %s", words[n]);
		shelf->papers[i] =
		    lab_paper(id, title->str, i % 3 ? "A survey of models." : "None.");
		shelf->papers[i]->upvotes = i % 4 ? (int64_t)i : -1;
		if (i % 5 == 0) {
			shelf->papers[i]->categories =
			    g_ptr_array_new_with_free_func(g_free);
			g_ptr_array_add(
			    shelf->papers[i]->categories, g_strdup("cs.CV"));
		}
		shelf->documents[i] =
		    query_document_new(shelf->papers[i], NULL, tokenizer, NULL);
		g_string_free(title, TRUE);
	}
	return shelf;
}

static void
free_shelf(struct shelf *shelf)
{
	for (unsigned i = 0; i < PAPERS; i++) {
		query_document_free(shelf->documents[i]);
		paper_free(shelf->papers[i]);
	}
	g_free(shelf);
}

/* Every third paper is not asked about. */
static struct bulk_mask
choose_papers(void)
{
	struct bulk_mask papers = {0};

	for (unsigned i = 0; i < PAPERS; i++)
		if (i % 3)
			bulk_mask_add(&papers, i);
	return papers;
}

static void
assert_same(struct bulk *bulk, const struct shelf *shelf, const struct query *query,
    const struct bulk_mask *papers)
{
	g_autofree char *canonical = query_format(query);
	g_autoptr(GError) error = NULL;
	struct bulk_answer answer;

	bulk_ask(bulk, canonical, papers, &answer, &error);
	g_assert_no_error(error);
	for (unsigned i = 0; i < PAPERS; i++) {
		const struct query_document *document = shelf->documents[i];
		bool is_asked = bulk_mask_has(papers, i);
		bool is_yes =
		    query_evaluate(query, document, QUERY_AS_TOLD) == QUERY_TRUE;
		bool is_waiting =
		    !is_yes && query_is_changing(query) &&
		    query_evaluate(query, document, QUERY_MAY_CHANGE) != QUERY_FALSE;

		if (bulk_mask_has(&answer.yes, i) != (is_asked && is_yes) ||
		    bulk_mask_has(&answer.waiting, i) != (is_asked && is_waiting))
			g_error("%s: not so of paper %u", canonical, i);
	}
}

static void
it_says_of_many_papers_what_it_says_of_each(void)
{
	static const char *const texts[] = {
	    "diffusion",
	    "\"state space\"",
	    "diffusion models",
	    "diffusion OR quant*",
	    "diffusion -survey",
	    "diffusion -(survey OR models)",
	    "(diffusion OR \"state space\") (models OR survey) -quantized",
	    "diffusion OR (models -(survey \"state space\"))",
	    "node.js OR title:survey",
	    "diffusion NEAR/3 models",
	    "(diffusion NEAR/9 \"state space\") OR title:(survey NEAR/1 quantized)",
	    "upvotes:>=20 diffusion",
	    "diffusion -upvotes:>=20",
	    "diffusion -upvotes:>=20 -cat:cs.CV",
	    "cat:cs.CV models",
	    "models -cat:cs.CV",
	    "models (cat:cs.CV OR upvotes:10..50)",
	    "survey (diffusion OR -cat:cs.LG)",
	    "diffusion^3 (models OR survey)^2",
	    "(diffusion -survey)^2 OR models",
	    "author:\"Example, Ada\" OR author:ada diffusion",
	    "id:\"2611.00001\" OR has:code survey",
	    "date:2026-11..2026-12 diffusion",
	    "nothing has this",
	};
	pb_auto(lab) lab = lab_new();
	const struct tokenizer *tokenizer = store_get_tokenizer(lab->store);
	struct shelf *shelf = new_shelf(tokenizer);
	pb_auto(bulk) bulk = bulk_new(tokenizer);
	struct bulk_mask some = choose_papers(), all;

	memset(&all, 0xff, sizeof(all));
	for (unsigned i = 0; i < PAPERS; i++)
		bulk_add(bulk, shelf->documents[i]);
	/* Twice: what is known of a clause for some papers is used for the others. */
	for (unsigned round = 0; round < 2; round++)
		for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
			g_autoptr(GError) error = NULL;
			pb_auto(query) query =
			    query_parse(texts[i], tokenizer, NULL, NULL, &error);

			g_assert_no_error(error);
			assert_same(bulk, shelf, query, round ? &all : &some);
		}
	free_shelf(shelf);
}

static void
clauses_that_are_forgotten_are_asked_again(void)
{
	pb_auto(lab) lab = lab_new();
	const struct tokenizer *tokenizer = store_get_tokenizer(lab->store);
	struct shelf *shelf = new_shelf(tokenizer);
	pb_auto(bulk) bulk = bulk_new(tokenizer);
	struct bulk_mask some = choose_papers();

	for (unsigned i = 0; i < PAPERS; i++)
		bulk_add(bulk, shelf->documents[i]);
	/* More clauses than are kept. */
	for (unsigned i = 0; i < 20000; i++) {
		g_autofree char *text = g_strdup_printf("diffusion OR novelty%u", i);
		pb_auto(query) query = query_parse(text, tokenizer, NULL, NULL, NULL);

		if (i % 500 == 0)
			assert_same(bulk, shelf, query, &some);
		else {
			g_autofree char *canonical = query_format(query);
			struct bulk_answer answer;

			g_assert_true(bulk_ask(bulk, canonical, &some, &answer, NULL));
		}
	}
	free_shelf(shelf);
}

static void
what_is_no_filter_is_refused(void)
{
	static const char *const texts[] = {"", "(", "diffusion AND", "diffusion )",
	    "(diffusion", "\"diffusion", "nofield:x", "diffusion OR ",
	    "((((((((((diffusion))))))))))"};
	pb_auto(lab) lab = lab_new();
	const struct tokenizer *tokenizer = store_get_tokenizer(lab->store);
	pb_auto(bulk) bulk = bulk_new(tokenizer);
	const struct bulk_mask none = {0};

	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		g_autoptr(GError) error = NULL;
		struct bulk_answer answer;
		pb_auto(query) query = query_parse_canonical(texts[i], tokenizer, NULL);

		g_test_message("%s", texts[i]);
		g_assert_true(
		    bulk_ask(bulk, texts[i], &none, &answer, &error) == !!query);
		g_assert_true(!query == !!error);
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
#define ADD(name) g_test_add_func("/bulk/" #name, name)
	ADD(it_says_of_many_papers_what_it_says_of_each);
	ADD(clauses_that_are_forgotten_are_asked_again);
	ADD(what_is_no_filter_is_refused);
	return g_test_run();
}
