/*
 * taste.c - learns which words a person wants from papers that they liked and hid.
 */
#include "query/taste/taste.h"

#include <math.h>
#include <string.h>

#include "base/bigram.h"
#include "base/bounds.h"
#include "query/text/stem.h"

/* Number of times that an occurrence in the title counts; one in the abstract counts
 * once.  A larger one gives titles more influence on the order of papers. */
#define TITLE_FACTOR 2

/*
 * Factor, 0 to 1, of the mean weight that a word has in the hidden papers; it lowers
 * papers with words that no liked paper has.  Words of liked papers are never lowered:
 * most hidden papers resemble liked ones, and subtracting their words, too, orders
 * papers worse than ignoring the hidden papers (bench/relevance.py).
 */
#define HIDDEN_PART 0.25

/*
 * Minimum part, 0 to 1, of the papers with a word that have it in the title; words
 * below are not shown to users.  With a smaller one their lists of words contain some
 * such as "remaining"; with a larger one subjects are missing.
 */
#define TITLE_PART 0.1

/*
 * Minimum number of papers with a word for it to be shown to users: the answered ones
 * and those of the background are added, so that a paper in both counts twice.  With a
 * smaller one their lists contain names of systems that no other paper mentions, which
 * have no effect on the order of papers.
 */
#define SHOWN_PAPERS 3

/* @return the background's term with the same text, or one that no paper has */
static struct matrix_term
find_term(const struct matrix *background, const struct matrix_term *term)
{
	struct matrix_term none = {0};
	uint32_t same;

	return matrix_find_term(background, term->text, &same)
	           ? *matrix_get_term(background, same)
	           : none;
}

double *
taste_weigh(
    const struct matrix *background, const struct matrix *papers, unsigned paper)
{
	size_t count;
	const struct matrix_count *counts = matrix_get_counts(papers, paper, &count);
	double all = matrix_count_papers(background), squares = 0;
	double *weights = g_new0(double, MAX(count, 1));

	for (size_t i = 0; i < count; i++) {
		const struct matrix_term *term =
		    matrix_get_term(papers, counts[i].term);
		double t = TITLE_FACTOR * counts[i].title + counts[i].abstract;

		if (term->is_pair)
			continue;
		weights[i] =
		    (1 + log(t)) *
		    log((all + 1) / (find_term(background, term).papers + 0.5));
		squares += weights[i] * weights[i];
	}
	for (size_t i = 0; i < count && squares > 0; i++)
		weights[i] /= sqrt(squares);
	return weights;
}

/* Add the mean of the papers with one kind of answer. @param weights  by term */
static void
add_mean(const struct matrix *background, const struct matrix *papers,
    const bool *is_like, bool is_liked, double *weights)
{
	unsigned answers = 0;

	for (unsigned i = 0; i < matrix_count_papers(papers); i++)
		answers += is_like[i] == is_liked;
	for (unsigned i = 0; i < matrix_count_papers(papers); i++) {
		size_t count;
		const struct matrix_count *counts =
		    matrix_get_counts(papers, i, &count);
		g_autofree double *own = NULL;

		if (is_like[i] != is_liked)
			continue;
		own = taste_weigh(background, papers, i);
		for (size_t j = 0; j < count; j++)
			weights[counts[j].term] += own[j] / answers;
	}
}

static int
compare_terms(const void *a, const void *b)
{
	const struct taste_term *first = a, *second = b;
	double difference = fabs(second->weight) - fabs(first->weight);

	if (difference != 0)
		return difference > 0 ? 1 : -1;
	return first->term < second->term ? -1 : first->term > second->term;
}

static bool
is_recognized(const struct matrix *background, const struct matrix_term *term)
{
	struct matrix_term other = find_term(background, term);
	unsigned papers = term->papers + other.papers;

	/* Pairs of characters are mostly parts of words. */
	return term->titles && strlen(term->text) > 1 &&
	       !bigram_is_at(term->text, -1) && papers >= SHOWN_PAPERS &&
	       term->titles + other.titles >= TITLE_PART * papers;
}

/* Of singular and plural, the one with the larger weight is shown. */
static void
choose_shown(
    const struct matrix *background, const struct matrix *papers, GArray *terms)
{
	g_autoptr(GHashTable) shown =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (unsigned i = 0; i < terms->len; i++) {
		struct taste_term *entry = &g_array_index(terms, struct taste_term, i);
		const struct matrix_term *term = matrix_get_term(papers, entry->term);

		entry->is_shown = is_recognized(background, term) &&
		                  g_hash_table_add(shown,
		                      stem_plural(term->text, strlen(term->text)));
	}
}

GArray *
taste_learn(
    const struct matrix *background, const struct matrix *papers, const bool *is_like)
{
	GArray *terms = g_array_new(FALSE, FALSE, sizeof(struct taste_term));
	unsigned count = matrix_count_terms(papers);
	g_autofree double *liked = g_new0(double, count + 1);
	g_autofree double *hidden = g_new0(double, count + 1);

	add_mean(background, papers, is_like, true, liked);
	add_mean(background, papers, is_like, false, hidden);
	for (uint32_t i = 0; i < count; i++) {
		struct taste_term term = {.term = i,
		    .weight = liked[i] > 0 ? liked[i] : -HIDDEN_PART * hidden[i]};

		if (term.weight != 0)
			g_array_append_val(terms, term);
	}
	g_array_sort(terms, compare_terms);
	if (terms->len > BOUNDS_TASTE_TERMS)
		g_array_set_size(terms, BOUNDS_TASTE_TERMS);
	choose_shown(background, papers, terms);
	return terms;
}
