/*
 * test_batch_eval.c - evaluating a filter for a batch of papers agrees with single
 * evaluation.
 */
#include <string.h>

#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "query/eval/batch_eval.h"
#include "query/query.h"

/* A full batch. */
#define PAPERS BATCH_EVAL_PAPERS

struct paper_cache {
	struct query_document *documents[PAPERS];
	struct paper *papers[PAPERS];
};

static bool
bitset_has(const struct bitset *set, unsigned paper)
{
	return set->bits[paper / 64] >> paper % 64 & 1;
}

/* Papers with all combinations of some words, votes and categories. */
static struct paper_cache *
new_cache(const struct tokenizer *tokenizer)
{
	static const char *const words[] = {
	    "diffusion", "models", "state space", "survey", "quantized", "node.js"};
	struct paper_cache *paper_cache = g_new0(struct paper_cache, 1);

	for (unsigned i = 0; i < PAPERS; i++) {
		g_autofree char *id = g_strdup_printf("2611.%05u", i + 1);
		GString *title = g_string_new("On");

		for (unsigned n = 0; n < G_N_ELEMENTS(words); n++)
			if (i >> n & 1)
				g_string_append_printf(title, " %s", words[n]);
		paper_cache->papers[i] = store_fixture_paper(
		    id, title->str, i % 3 ? "A survey of models." : "None.");
		paper_cache->papers[i]->upvotes = i % 4 ? (int64_t)i : -1;
		if (i % 5 == 0) {
			paper_cache->papers[i]->categories =
			    g_ptr_array_new_with_free_func(g_free);
			g_ptr_array_add(
			    paper_cache->papers[i]->categories, g_strdup("cs.CV"));
		}
		paper_cache->documents[i] =
		    query_document_new(paper_cache->papers[i], NULL, tokenizer, NULL);
		g_string_free(title, TRUE);
	}
	return paper_cache;
}

static void
free_cache(struct paper_cache *paper_cache)
{
	for (unsigned i = 0; i < PAPERS; i++) {
		query_document_free(paper_cache->documents[i]);
		paper_free(paper_cache->papers[i]);
	}
	g_free(paper_cache);
}

/* All but every third paper. */
static struct bitset
choose_papers(void)
{
	struct bitset papers = {0};

	for (unsigned i = 0; i < PAPERS; i++)
		if (i % 3)
			bitset_add(&papers, i);
	return papers;
}

static void
assert_same(struct batch_eval *batch, const struct paper_cache *paper_cache,
    const struct query *query, const struct bitset *papers)
{
	g_autofree char *canonical = query_format(query);
	struct batch_result answer;

	NO_ERROR(batch_eval_run(batch, canonical, papers, &answer, &error));
	for (unsigned i = 0; i < PAPERS; i++) {
		const struct query_document *document = paper_cache->documents[i];
		bool is_asked = bitset_has(papers, i);
		bool is_yes =
		    query_evaluate(query, document, QUERY_AS_REPORTED) == QUERY_TRUE;
		bool is_waiting =
		    !is_yes && query_is_time_dependent(query) &&
		    query_evaluate(query, document, QUERY_MAY_CHANGE) != QUERY_FALSE;

		if (bitset_has(&answer.yes, i) != (is_asked && is_yes) ||
		    bitset_has(&answer.waiting, i) != (is_asked && is_waiting))
			g_error("%s: not so of paper %u", canonical, i);
	}
}

STORE_TEST(batch_agrees_with_single_evaluation)
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
	const struct tokenizer *tokenizer = store_get_tokenizer(fixture->store);
	struct paper_cache *paper_cache = new_cache(tokenizer);
	pb_auto(batch_eval) batch = batch_eval_new(tokenizer);
	struct bitset some = choose_papers(), all;

	memset(&all, 0xff, sizeof(all));
	for (unsigned i = 0; i < PAPERS; i++)
		batch_eval_add(batch, paper_cache->documents[i]);
	/* Twice: the second round finds verdicts of the first. */
	for (unsigned round = 0; round < 2; round++)
		for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
			pb_auto(query) query = NO_ERROR(
			    query_parse(texts[i], tokenizer, NULL, NULL, &error));

			assert_same(batch, paper_cache, query, round ? &all : &some);
		}
	free_cache(paper_cache);
}

STORE_TEST(evicted_clauses_are_evaluated_again)
{
	const struct tokenizer *tokenizer = store_get_tokenizer(fixture->store);
	struct paper_cache *paper_cache = new_cache(tokenizer);
	pb_auto(batch_eval) batch = batch_eval_new(tokenizer);
	struct bitset some = choose_papers();

	for (unsigned i = 0; i < PAPERS; i++)
		batch_eval_add(batch, paper_cache->documents[i]);
	/* More clauses than the cache holds. */
	for (unsigned i = 0; i < 20000; i++) {
		g_autofree char *text = g_strdup_printf("diffusion OR novelty%u", i);
		pb_auto(query) query = query_parse(text, tokenizer, NULL, NULL, NULL);

		if (i % 500 == 0)
			assert_same(batch, paper_cache, query, &some);
		else {
			g_autofree char *canonical = query_format(query);
			struct batch_result answer;

			g_assert_true(
			    batch_eval_run(batch, canonical, &some, &answer, NULL));
		}
	}
	free_cache(paper_cache);
}

STORE_TEST(text_that_is_not_a_filter_is_an_error)
{
	static const char *const texts[] = {"", "(", "diffusion AND", "diffusion )",
	    "(diffusion", "\"diffusion", "nofield:x", "diffusion OR ",
	    "((((((((((diffusion))))))))))"};
	const struct tokenizer *tokenizer = store_get_tokenizer(fixture->store);
	pb_auto(batch_eval) batch = batch_eval_new(tokenizer);
	const struct bitset none = {0};

	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		g_autoptr(GError) error = NULL;
		struct batch_result answer;
		pb_auto(query) query = query_parse_canonical(texts[i], tokenizer, NULL);

		g_test_message("%s", texts[i]);
		g_assert_true(
		    batch_eval_run(batch, texts[i], &none, &answer, &error) == !!query);
		g_assert_true(!query == !!error);
	}
}

UNIT_MAIN
