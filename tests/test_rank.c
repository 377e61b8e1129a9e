/*
 * test_rank.c - ranking, against values computed by hand.
 */
#include <math.h>
#include <string.h>

#include "lib/unit.h"
#include "query/eval/rank.h"
#include "test_query.h"

#define assert_near(a, b) g_assert_cmpfloat_with_epsilon(a, b, 1e-6)

/* Of 100 papers: "rare" is in 1, "known" in 10, the prefix "comm" in 50. */
static bool
count(void *data, const char *word, bool is_prefix, int64_t *papers, GError **error)
{
	(void)data;
	(void)error;
	g_assert_true(is_prefix == (strcmp(word, "comm") == 0));
	*papers = strcmp(word, "rare") == 0 ? 1 : is_prefix ? 50 : 10;
	return true;
}

static const struct rank_corpus corpus = {
    .papers = 100, .title_words = 4, .abstract_words = 8, .count = count};

QUERY_TEST(relevance_follows_the_formula)
{
	/* idf: ln(1 + 99.5 / 1.5), ln(1 + 90.5 / 10.5), ln(1 + 50.5 / 50.5) */
	const double rare = 4.209655409, known = 2.263745260, common = 0.693147181;
	/* f = 3 in a title of mean length: 2.2 * 3 / 4.2; f = 1: 1; f = 2: 4.4 / 3.2 */
	const double title = 6.6 / 4.2, one = 1, two = 4.4 / 3.2;
	const struct {
		const char *query;
		const char *title; /* 4 words, abstracts 8, unless said otherwise */
		const char *abstract;
		double wanted;
	} rows[] = {
	    {"rare", "rare a b c", "a b c d e f g h", rare * title},
	    {"rare", "a b c d", "rare b c d e f g h", rare * one},
	    {"rare", "a b c d", "rare b rare d e f g h", rare * two},
	    /* Twice as long: 1 / (0.25 + 0.75 * 2) = 0.571428571 */
	    {"rare", "a b c d", "rare b c d e f g h i j k l m n o p",
	        rare * 2.2 * 0.571428571 / (0.571428571 + 1.2)},
	    {"title:rare", "a b c d", "rare b c d e f g h", 0},
	    {"rare known", "rare a b c", "known b c d e f g h",
	        rare * title + known * one},
	    {"rare^3 known", "rare a b c", "known b c d e f g h",
	        3 * rare * title + known * one},
	    {"(rare^2 OR known)^3", "rare a b c", "known b c d e f g h",
	        6 * rare * title + 3 * known * one},
	    /* A phrase is as rare as its rarest word. */
	    {"\"known rare\"", "known rare a b", "a b c d e f g h", rare * title},
	    {"known NEAR/2 rare", "known a rare b", "a b c d e f g h", rare * title},
	    {"comm*", "common a b c", "a b c d e f g h", common * title},
	    /* Clauses that are under a NOT or do not match add nothing. */
	    {"known NOT rare", "known a b c", "rare b c d e f g h", known * title},
	    {"known OR rare", "known a b c", "a b c d e f g h", known * title},
	    /* A true clause without words adds its boost. */
	    {"known author:ada^4", "known a b c", "a b c d e f g h", known * title + 4},
	    {"known author:bob^4", "known a b c", "a b c d e f g h", known * title},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(query) query =
		    query_parse(rows[i].query, fixture->tokenizer, NULL, NULL, NULL);
		struct paper *paper = paper_new();
		pb_auto(query_document) document = NULL;
		pb_auto(rank) rank = NULL;
		double got;

		paper->id = g_strdup("1");
		paper->title = g_strdup(rows[i].title);
		paper->abstract = g_strdup(rows[i].abstract);
		g_ptr_array_add(paper->authors, g_strdup("Ada Example"));
		document = query_document_new(paper, NULL, fixture->tokenizer, NULL);
		g_assert_nonnull(query);
		rank = rank_new(query, &corpus, NULL);
		got = rank_get_relevance(rank, document);
		if (fabs(got - rows[i].wanted) > 1e-6)
			g_test_fail_printf(
			    "%s: %f, not %f", rows[i].query, got, rows[i].wanted);
		paper_free(paper);
	}
}

TEST(votes_raise_and_age_lowers)
{
	assert_near(rank_blend(2, 0, 0), 2);
	assert_near(rank_blend(2, PAPER_UNKNOWN, 0), 2);
	assert_near(rank_blend(2, 1, 0), 2 * 1.1);
	assert_near(rank_blend(2, 127, 0), 2 * 1.7);
	assert_near(rank_blend(2, 0, 180), 2 * 0.75);
	assert_near(rank_blend(2, 0, 360), 2 * 0.625);
	assert_near(rank_blend(2, 127, 180), 2 * 1.7 * 0.75);
	g_assert_cmpfloat(rank_blend(2, 0, 100000), >=, 1);
	assert_near(rank_blend(0, 127, 0), 0);
}

static bool
fail(void *data, const char *word, bool is_prefix, int64_t *papers, GError **error)
{
	(void)data;
	(void)word;
	(void)is_prefix;
	(void)papers;
	g_set_error(error, PB_ERROR, PB_ERROR_TEMPORARY, "made-up trouble");
	return false;
}

QUERY_TEST(failing_lexicon_is_an_error)
{
	struct rank_corpus broken = corpus;
	pb_auto(query) query = NULL;

	query = query_parse("(a NEAR b) OR c", fixture->tokenizer, NULL, NULL, NULL);
	broken.count = fail;
	FAILS(PB_ERROR_TEMPORARY, rank_new(query, &broken, &error));
}

UNIT_MAIN
