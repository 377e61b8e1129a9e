/*
 * test_taste.c - papers are ordered by what a person liked and hid.
 */
#include <math.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "base/text.h"
#include "lib/cases.h"
#include "query/taste/taste.h"
#include "test_query.h"

static void
must_add(struct matrix *matrix, const char *title, const char *abstract)
{
	NO_ERROR(matrix_add(matrix, title, abstract, &error));
}

/* "term title+abstract" of the first paper, sorted. */
static char *
list_counts(const struct matrix *matrix)
{
	g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
	GString *list = g_string_new(NULL);
	size_t count;
	const struct matrix_count *counts = matrix_get_counts(matrix, 0, &count);

	for (size_t i = 0; i < count; i++)
		g_ptr_array_add(
		    texts, g_strdup_printf("%s %u+%u",
		               matrix_get_term(matrix, counts[i].term)->text,
		               counts[i].title, counts[i].abstract));
	g_ptr_array_sort(texts, text_compare_pointers);
	for (unsigned i = 0; i < texts->len; i++)
		g_string_append_printf(
		    list, "%s%s", i ? "; " : "", (char *)texts->pdata[i]);
	return g_string_free(list, FALSE);
}

QUERY_TEST(words_and_pairs_are_counted)
{
	CASES_FOREACH(row, "taste_words", *title, *abstract, *folds_plurals, *counts) {
		pb_auto(matrix) matrix =
		    matrix_new(fixture->tokenizer, cases_is_yes(row->folds_plurals));
		g_autofree char *counts = NULL;

		must_add(matrix, row->title, row->abstract);
		counts = list_counts(matrix);
		g_assert_cmpstr(counts, ==, row->counts);
	}
}

QUERY_TEST(a_term_knows_its_papers)
{
	pb_auto(matrix) matrix = matrix_new(fixture->tokenizer, false);
	uint32_t term;

	must_add(matrix, "diffusion", "diffusion");
	must_add(matrix, "speech", "");
	must_add(matrix, "speech", "diffusion");
	g_assert_cmpuint(matrix_count_papers(matrix), ==, 3);
	g_assert_true(matrix_find_term(matrix, "diffusion", &term));
	g_assert_cmpuint(matrix_get_term(matrix, term)->papers, ==, 2);
	g_assert_cmpuint(matrix_get_term(matrix, term)->titles, ==, 1);
	g_assert_false(matrix_find_term(matrix, "absent", &term));
}

QUERY_TEST(a_matrix_has_limits)
{
	pb_auto(matrix) matrix = matrix_new(fixture->tokenizer, false);
	g_autofree char *title = g_strnfill(BOUNDS_PAPER_TITLE_BYTES, 'x');
	g_autofree char *longer = g_strnfill(BOUNDS_PAPER_TITLE_BYTES + 1, 'x');
	g_autofree char *abstract = g_strnfill(BOUNDS_PAPER_ABSTRACT_BYTES, 'x');
	g_autofree char *more = g_strnfill(BOUNDS_PAPER_ABSTRACT_BYTES + 1, 'x');

	must_add(matrix, title, abstract);
	FAILS(PB_ERROR_LIMIT, matrix_add(matrix, longer, "", &error));
	FAILS(PB_ERROR_LIMIT, matrix_add(matrix, "", more, &error));
	while (matrix_count_papers(matrix) < BOUNDS_MATRIX_PAPERS)
		must_add(matrix, "", "");
	FAILS(PB_ERROR_LIMIT, matrix_add(matrix, "", "", &error));
}

/* Add a paper with 5 words of one of two subjects, and words of its own. */
static void
add_subject(struct matrix *matrix, bool is_speech, unsigned number)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (unsigned i = 0; i < 5; i++)
		g_string_append_printf(text, "%s%u own%u. ",
		    is_speech ? "speech" : "vision", (number / 2 + i * i) % 11,
		    number * 7 + i);
	must_add(matrix, "", text->str);
}

/* @param liked_subject  0: vision, 1: speech @return of struct taste_term */
static GArray *
learn(const struct query_fixture *fixture, const struct matrix *background,
    unsigned likes, unsigned hides, unsigned liked_subject, struct matrix **answered)
{
	g_autofree bool *is_like = g_new(bool, likes + hides + 1);

	*answered = matrix_new(fixture->tokenizer, false);
	for (unsigned i = 0; i < likes + hides; i++) {
		is_like[i] = i < likes;
		add_subject(*answered, is_like[i] == (liked_subject == 1), 1000 + i);
	}
	return taste_learn(background, *answered, is_like);
}

static double
score(const struct matrix *background, unsigned paper, const struct matrix *answered,
    const GArray *terms)
{
	g_autofree double *weights = taste_weigh(background, background, paper);
	size_t count;
	const struct matrix_count *counts =
	    matrix_get_counts(background, paper, &count);
	double sum = 0;

	for (unsigned i = 0; i < terms->len; i++)
		for (size_t j = 0; j < count; j++) {
			const struct taste_term *term =
			    &g_array_index(terms, struct taste_term, i);

			if (strcmp(matrix_get_term(answered, term->term)->text,
			        matrix_get_term(background, counts[j].term)->text) == 0)
				sum += term->weight * weights[j];
		}
	return sum;
}

QUERY_TEST(answers_order_papers)
{
	pb_auto(matrix) background = matrix_new(fixture->tokenizer, false);
	static const unsigned counts[][2] = {
	    {1, 0}, {3, 0}, {40, 0}, {0, 3}, {3, 5}, {20, 20}};

	for (unsigned i = 0; i < 100; i++)
		add_subject(background, i % 2, i);
	for (size_t i = 0; i < G_N_ELEMENTS(counts); i++)
		for (unsigned subject = 0; subject < 2; subject++) {
			pb_auto(matrix) answered = NULL;
			g_autoptr(GArray) terms = learn(fixture, background,
			    counts[i][0], counts[i][1], subject, &answered);
			double means[2] = {0, 0};

			for (unsigned paper = 0; paper < 100; paper++)
				means[paper % 2] +=
				    score(background, paper, answered, terms);
			g_assert_cmpfloat(means[subject], >, means[1 - subject]);
			g_assert_cmpint(means[subject] > 0, ==, counts[i][0] > 0);
			g_assert_cmpint(
			    (means[1 - subject] < 0), ==, (counts[i][1] > 0));
		}
}

QUERY_TEST(weights_are_those_of_the_formula)
{
	pb_auto(matrix) background = matrix_new(fixture->tokenizer, false);
	pb_auto(matrix) papers = matrix_new(fixture->tokenizer, false);
	const struct {
		const char *text;
		double weight;
	} rows[] = {
	    {"speech", (1 + log(3)) * log(4 / 2.5)},
	    {"noise", log(4 / 0.5)},
	    {"speech noise", 0},
	};
	g_autofree double *weights = NULL;
	double squares = 0;

	must_add(background, "speech", "speech");
	must_add(background, "", "speech");
	must_add(background, "vision", "");
	must_add(papers, "Speech", "Speech noise");
	weights = taste_weigh(background, papers, 0);
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		squares += rows[i].weight * rows[i].weight;
	g_assert_cmpuint(matrix_count_terms(papers), ==, G_N_ELEMENTS(rows));
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		uint32_t term;

		g_assert_true(matrix_find_term(papers, rows[i].text, &term));
		g_assert_cmpfloat_with_epsilon(
		    weights[term], rows[i].weight / sqrt(squares), 1e-9);
	}
}

static double
find_weight(const GArray *terms, const struct matrix *papers, const char *word)
{
	for (unsigned i = 0; i < terms->len; i++) {
		const struct taste_term *term =
		    &g_array_index(terms, struct taste_term, i);

		if (strcmp(matrix_get_term(papers, term->term)->text, word) == 0)
			return term->weight;
	}
	return 0;
}

/* A hidden paper lowers its words by less than they rise for a like, liked words not.
 */
QUERY_TEST(hidden_papers_lower_words_that_no_liked_one_has)
{
	static const bool both[] = {true, false}, likes[] = {true, true};
	pb_auto(matrix) background = matrix_new(fixture->tokenizer, false);
	pb_auto(matrix) papers = matrix_new(fixture->tokenizer, false);
	g_autoptr(GArray) hidden = NULL, liked = NULL;

	must_add(papers, "vision birds", "");
	must_add(papers, "vision robots", "");
	hidden = taste_learn(background, papers, both);
	liked = taste_learn(background, papers, likes);
	/* The mean of one liked paper with two words of equal weight, and of two. */
	g_assert_cmpfloat_with_epsilon(
	    find_weight(hidden, papers, "vision"), sqrt(0.5), 1e-9);
	g_assert_cmpfloat_with_epsilon(
	    find_weight(hidden, papers, "birds"), sqrt(0.5), 1e-9);
	g_assert_cmpfloat_with_epsilon(
	    find_weight(liked, papers, "vision"), sqrt(0.5), 1e-9);
	g_assert_cmpfloat_with_epsilon(
	    find_weight(liked, papers, "robots"), sqrt(0.5) / 2, 1e-9);
	g_assert_cmpfloat(find_weight(hidden, papers, "robots"), <, 0);
	g_assert_cmpfloat(find_weight(hidden, papers, "robots"), >, -sqrt(0.5));
}

QUERY_TEST(a_taste_has_limits)
{
	pb_auto(matrix) background = matrix_new(fixture->tokenizer, false);
	pb_auto(matrix) most = NULL;
	pb_auto(matrix) none = NULL;
	g_autoptr(GArray) terms =
	    learn(fixture, background, BOUNDS_TASTE_ANSWERS, 0, 0, &most);
	g_autoptr(GArray) empty = learn(fixture, background, 0, 0, 0, &none);

	g_assert_cmpuint(terms->len, ==, BOUNDS_TASTE_TERMS);
	for (unsigned i = 1; i < terms->len; i++)
		g_assert_cmpfloat(
		    fabs(g_array_index(terms, struct taste_term, i - 1).weight), >=,
		    fabs(g_array_index(terms, struct taste_term, i).weight));
	g_assert_cmpuint(empty->len, ==, 0);
}

/* Words of titles that others have in titles, too; of singular and plural, one. Pairs
 * of characters are counted only. */
QUERY_TEST(words_of_titles_are_shown)
{
	static const bool is_like[] = {true, false};
	pb_auto(matrix) background = matrix_new(fixture->tokenizer, false);
	pb_auto(matrix) papers = matrix_new(fixture->tokenizer, false);
	g_autoptr(GArray) terms = NULL;
	g_autoptr(GPtrArray) shown = g_ptr_array_new();
	g_autofree char *list = NULL;

	for (unsigned i = 0; i < 30; i++)
		must_add(background, i % 3 ? "Robots 模型" : "Diffusion",
		    "the remaining: data; hungry");
	must_add(papers, "Hungry: Diffusion", "remaining: diffusions, flow");
	must_add(papers, "Robots 模型", "a robot");
	terms = taste_learn(background, papers, is_like);
	for (unsigned i = 0; i < terms->len; i++) {
		const struct taste_term *term =
		    &g_array_index(terms, struct taste_term, i);

		if (term->is_shown)
			g_ptr_array_add(
			    shown, (void *)matrix_get_term(papers, term->term)->text);
	}
	g_ptr_array_sort(shown, text_compare_pointers);
	g_ptr_array_add(shown, NULL);
	list = g_strjoinv(", ", (char **)shown->pdata);
	g_assert_cmpstr(list, ==, "diffusion, robots");
}

UNIT_MAIN
