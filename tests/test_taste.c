/*
 * test_taste.c - papers are ordered by what a person liked and hid.
 */
#include <math.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "base/text.h"
#include "query/taste/taste.h"
#include "test_query.h"

static void
must_add(struct matrix *matrix, const char *title, const char *abstract)
{
	g_autoptr(GError) error = NULL;

	matrix_add(matrix, title, abstract, &error);
	g_assert_no_error(error);
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

static void
words_and_pairs_are_counted(struct query_fixture *fixture, const void *unused)
{
	static const struct {
		const char *title;
		const char *abstract;
		bool folds_plurals;
		const char *counts;
	} rows[] = {
	    {"State Space Models", "A state, space.", false,
	        "models 1+0; space 1+1; space models 1+0; state 1+1; state space 1+0"},
	    {"Models", "the model of models", true, "model 1+2"},
	    {"Self-play in Go", "", false, "go 1+0; play 1+0; self 1+0; self play 1+0"},
	    {"", "", false, ""},
	};

	(void)unused;
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(matrix) matrix =
		    matrix_new(fixture->tokenizer, rows[i].folds_plurals);
		g_autofree char *counts = NULL;

		must_add(matrix, rows[i].title, rows[i].abstract);
		counts = list_counts(matrix);
		g_assert_cmpstr(counts, ==, rows[i].counts);
	}
}

static void
a_term_knows_its_papers(struct query_fixture *fixture, const void *unused)
{
	pb_auto(matrix) matrix = matrix_new(fixture->tokenizer, false);
	uint32_t term;

	(void)unused;
	must_add(matrix, "diffusion", "diffusion");
	must_add(matrix, "speech", "");
	must_add(matrix, "speech", "diffusion");
	g_assert_cmpuint(matrix_count_papers(matrix), ==, 3);
	g_assert_true(matrix_find_term(matrix, "diffusion", &term));
	g_assert_cmpuint(matrix_get_term(matrix, term)->papers, ==, 2);
	g_assert_false(matrix_find_term(matrix, "absent", &term));
}

static void
a_matrix_has_limits(struct query_fixture *fixture, const void *unused)
{
	pb_auto(matrix) matrix = matrix_new(fixture->tokenizer, false);
	g_autofree char *title = g_strnfill(BOUNDS_PAPER_TITLE_BYTES, 'x');
	g_autofree char *longer = g_strnfill(BOUNDS_PAPER_TITLE_BYTES + 1, 'x');
	g_autofree char *abstract = g_strnfill(BOUNDS_PAPER_ABSTRACT_BYTES, 'x');
	g_autofree char *more = g_strnfill(BOUNDS_PAPER_ABSTRACT_BYTES + 1, 'x');
	g_autoptr(GError) error = NULL;

	(void)unused;
	must_add(matrix, title, abstract);
	g_assert_false(matrix_add(matrix, longer, "", &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_LIMIT);
	g_clear_error(&error);
	g_assert_false(matrix_add(matrix, "", more, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_LIMIT);
	g_clear_error(&error);
	while (matrix_count_papers(matrix) < BOUNDS_MATRIX_PAPERS)
		must_add(matrix, "", "");
	g_assert_false(matrix_add(matrix, "", "", &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_LIMIT);
}

/* Papers with 5 words of one of two subjects, and words of their own. */
static struct matrix *
make_two_subjects(const struct query_fixture *fixture, unsigned papers)
{
	struct matrix *matrix = matrix_new(fixture->tokenizer, false);

	for (unsigned i = 0; i < papers; i++) {
		g_autoptr(GString) text = g_string_new(NULL);
		const char *subject = i % 2 ? "speech" : "vision";

		for (unsigned j = 0; j < 5; j++)
			g_string_append_printf(text, "%s%u own%u. ", subject,
			    (i / 2 + j * j) % 11, i * 7 + j);
		must_add(matrix, "", text->str);
	}
	return matrix;
}

static GArray *
make_answers(unsigned from, unsigned count)
{
	GArray *papers = g_array_new(FALSE, FALSE, sizeof(unsigned));

	for (unsigned i = 0; i < count; i++) {
		unsigned paper = from + 2 * i;

		g_array_append_val(papers, paper);
	}
	return papers;
}

static struct taste *
must_learn(const struct vectors *vectors, const GArray *likes, const GArray *hides)
{
	struct taste_answers answers = {.likes = (unsigned *)likes->data,
	    .like_count = likes->len,
	    .hides = (unsigned *)hides->data,
	    .hide_count = hides->len};
	g_autoptr(GError) error = NULL;
	struct taste *taste = taste_learn(vectors, &answers, &error);

	g_assert_no_error(error);
	return taste;
}

static double
score(const struct taste *taste, const struct vectors *vectors, unsigned paper)
{
	double result;

	taste_score(taste, vectors, &paper, 1, &result);
	return result;
}

/* Mean score of the last ten papers of each subject: 0: vision, 1: speech */
static void
score_last(const struct taste *taste, const struct vectors *vectors, double means[2])
{
	unsigned papers = matrix_count_papers(vectors_get_matrix(vectors));

	means[0] = means[1] = 0;
	for (unsigned i = papers - 20; i < papers; i++)
		means[i % 2] += score(taste, vectors, i) / 10;
}

static void
papers_like_liked_ones_come_first(struct query_fixture *fixture, const void *unused)
{
	pb_auto(matrix) matrix = make_two_subjects(fixture, 200);
	pb_auto(vectors) vectors = vectors_new(matrix);
	static const unsigned counts[] = {1, 3, 20, 40};

	(void)unused;
	for (size_t i = 0; i < G_N_ELEMENTS(counts); i++)
		for (unsigned subject = 0; subject < 2; subject++) {
			g_autoptr(GArray) likes = make_answers(subject, counts[i]);
			g_autoptr(GArray) hides = make_answers(0, 0);
			pb_auto(taste) taste = must_learn(vectors, likes, hides);
			double means[2];

			score_last(taste, vectors, means);
			g_assert_cmpfloat(means[subject], >, means[1 - subject]);
		}
}

static void
papers_like_hidden_ones_come_last(struct query_fixture *fixture, const void *unused)
{
	pb_auto(matrix) matrix = make_two_subjects(fixture, 200);
	pb_auto(vectors) vectors = vectors_new(matrix);
	static const unsigned counts[][2] = {{0, 3}, {3, 5}, {20, 20}};

	(void)unused;
	for (size_t i = 0; i < G_N_ELEMENTS(counts); i++) {
		g_autoptr(GArray) likes = make_answers(0, counts[i][0]);
		g_autoptr(GArray) hides = make_answers(1, counts[i][1]);
		pb_auto(taste) taste = must_learn(vectors, likes, hides);
		double means[2];

		score_last(taste, vectors, means);
		g_assert_cmpfloat(means[1], <, 0);
		g_assert_cmpfloat(means[0], >=, 0);
	}
}

static void
nothing_is_learned_without_answers(struct query_fixture *fixture, const void *unused)
{
	pb_auto(matrix) matrix = make_two_subjects(fixture, 20);
	pb_auto(vectors) vectors = vectors_new(matrix);
	g_autoptr(GArray) none = make_answers(0, 0);
	pb_auto(taste) taste = must_learn(vectors, none, none);

	(void)unused;
	g_assert_cmpuint(taste->terms->len, ==, 0);
	g_assert_cmpfloat(score(taste, vectors, 0), ==, 0);
}

static void
a_taste_has_limits(struct query_fixture *fixture, const void *unused)
{
	pb_auto(matrix) matrix =
	    make_two_subjects(fixture, 2 * BOUNDS_TASTE_ANSWERS + 4);
	pb_auto(vectors) vectors = vectors_new(matrix);
	g_autoptr(GArray) likes = make_answers(0, 60);
	g_autoptr(GArray) many = make_answers(0, BOUNDS_TASTE_ANSWERS);
	g_autoptr(GArray) none = make_answers(0, 0);
	g_autoptr(GArray) one = make_answers(1, 1);
	pb_auto(taste) taste = must_learn(vectors, likes, none);
	pb_auto(taste) most = must_learn(vectors, many, none);
	struct taste_answers more = {
	    (unsigned *)many->data, many->len, (unsigned *)one->data, one->len};
	g_autoptr(GError) error = NULL;

	(void)unused;
	g_assert_cmpuint(taste->terms->len, <=, BOUNDS_TASTE_TERMS);
	for (unsigned i = 1; i < taste->terms->len; i++)
		g_assert_cmpfloat(
		    fabs(g_array_index(taste->terms, struct taste_term, i - 1).weight),
		    >=, fabs(g_array_index(taste->terms, struct taste_term, i).weight));
	g_assert_cmpuint(most->terms->len, <=, BOUNDS_TASTE_TERMS);
	g_assert_null(taste_learn(vectors, &more, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_LIMIT);
}

static void
repetition_is_recognized(struct query_fixture *fixture, const void *unused)
{
	pb_auto(matrix) none = matrix_new(fixture->tokenizer, false);
	pb_auto(matrix) once = matrix_new(fixture->tokenizer, false);
	pb_auto(matrix) twice = matrix_new(fixture->tokenizer, false);
	pb_auto(vectors) empty = vectors_new(none);
	pb_auto(vectors) varied = NULL;
	pb_auto(vectors) repetitive = NULL;

	(void)unused;
	must_add(once, "insulin", "glucose insulin");
	must_add(twice, "insulin", "glucose insulin. glucose insulin");
	varied = vectors_new(once);
	repetitive = vectors_new(twice);
	g_assert_cmpfloat(vectors_get_repetition(empty), ==, 1);
	g_assert_cmpfloat(vectors_get_repetition(varied), ==, 1.5);
	g_assert_cmpfloat(vectors_get_repetition(repetitive), ==, 2.5);
	g_assert_false(vectors_is_repetitive(varied));
	g_assert_true(vectors_is_repetitive(repetitive));
}

/*
 * The liked paper is about sleep; of others, "sleep" is often with "melatonin", which
 * is therefore part of the subject when all are ranked together.
 */
static void
papers_ranked_together_add_their_subject(
    struct query_fixture *fixture, const void *unused)
{
	pb_auto(matrix) matrix = matrix_new(fixture->tokenizer, false);
	pb_auto(vectors) vectors = NULL;
	pb_auto(taste) taste = NULL;
	g_autoptr(GArray) likes = make_answers(0, 1);
	g_autoptr(GArray) none = make_answers(0, 0);
	unsigned papers[160];
	double scores[160];

	(void)unused;
	for (unsigned i = 0; i <= G_N_ELEMENTS(papers); i++) {
		g_autofree char *own = g_strdup_printf("own%u", i);
		g_autofree char *text = g_strdup_printf("%s %s %s. %s %s", own,
		    i % 3 ? "other" : "sleep", i % 3 && i % 4 ? "control" : "melatonin",
		    own, i == 0 ? "dream dream" : "rest rest");

		must_add(matrix, "", i == 0 ? "sleep sleep dream dream" : text);
		if (i > 0)
			papers[i - 1] = i;
	}
	vectors = vectors_new(matrix);
	g_assert_true(vectors_is_repetitive(vectors));
	taste = must_learn(vectors, likes, none);
	/* 4 has "other" and "melatonin", 1 "other" and "control". */
	taste_score(taste, vectors, papers, 20, scores);
	g_assert_cmpfloat(scores[3], ==, scores[0]);
	taste_score(taste, vectors, papers, G_N_ELEMENTS(papers), scores);
	g_assert_cmpfloat(scores[3], >, scores[0]);
	g_assert_cmpfloat(scores[2], >, scores[3]);
}

/* Add papers, which repeat their words or do not. */
static void
add_papers(struct matrix *matrix, bool is_repetitive)
{
	for (unsigned i = 0; i < 300; i++) {
		g_autofree char *title = g_strdup_printf("t%u x%u", i % 7, i / 2);
		g_autofree char *text = g_strdup_printf(
		    is_repetitive ? "a%1$u b%2$u. a%1$u b%2$u. a%1$u c%3$u"
		                  : "a%1$u b%2$u c%3$u",
		    i % 50, i / 3, i % 3);

		must_add(matrix, title, text);
	}
}

static void
a_projected_paper_has_the_weights_of_an_added_one(
    struct query_fixture *fixture, const void *unused)
{
	(void)unused;
	for (int is_repetitive = 0; is_repetitive <= 1; is_repetitive++) {
		pb_auto(matrix) all = matrix_new(fixture->tokenizer, false);
		pb_auto(matrix) others = matrix_new(fixture->tokenizer, false);
		pb_auto(matrix) one = matrix_new(fixture->tokenizer, false);
		pb_auto(vectors) with = NULL;
		pb_auto(vectors) without = NULL;
		g_autofree float *projected = NULL;
		const float *added;
		size_t count, count_added;

		add_papers(others, is_repetitive);
		add_papers(all, is_repetitive);
		must_add(all, "insulin t1 new", "a1 b2 insulin1 unheard c2");
		must_add(one, "insulin t1 new", "a1 b2 insulin1 unheard c2");
		with = vectors_new(all);
		without = vectors_new(others);
		g_assert_cmpint(vectors_is_repetitive(with), ==, is_repetitive);
		g_assert_cmpint(vectors_is_repetitive(without), ==, is_repetitive);
		projected = vectors_project(without, one, 0);
		added = vectors_get(with, 300);
		matrix_get_counts(one, 0, &count);
		matrix_get_counts(all, 300, &count_added);
		g_assert_cmpuint(count, ==, count_added);
		for (size_t i = 0; i < count; i++)
			g_assert_cmpfloat_with_epsilon(
			    projected[i], added[i], 0.01 * (0.1 + fabs(added[i])));
	}
}

QUERY_MAIN(words_and_pairs_are_counted, a_term_knows_its_papers, a_matrix_has_limits,
    papers_like_liked_ones_come_first, papers_like_hidden_ones_come_last,
    nothing_is_learned_without_answers, a_taste_has_limits, repetition_is_recognized,
    papers_ranked_together_add_their_subject,
    a_projected_paper_has_the_weights_of_an_added_one)
