/*
 * likeness.c - how much papers resemble those that a filter finds.
 */
#include "service/explain/likeness.h"

#include <math.h>
#include <string.h>

#include "query/parse/tree.h"
#include "store/paper/archive.h"

#define IDF_EXPONENT 1.2
#define SHARED_MIN   2 /* of the filter's papers, with a word */

/* A word of a paper, and what it adds to the paper's product. */
struct element {
	uint32_t term;
	double product;
};

struct likeness {
	struct store *store;
	GHashTable *own;        /* char *: words of the filter */
	GHashTable *weights;    /* char * -> double * */
	struct matrix *papers;  /* that were read */
	GHashTable *numbers;    /* int64_t seq of each -> its number, from 1; 0: gone */
	GPtrArray *products;    /* of GArray *, by number from 0: of struct element */
	double mean, deviation; /* of the products of all papers */
};

void
likeness_free(struct likeness *likeness)
{
	if (!likeness)
		return;
	g_hash_table_unref(likeness->own);
	g_hash_table_unref(likeness->weights);
	g_hash_table_unref(likeness->numbers);
	g_ptr_array_unref(likeness->products);
	matrix_free(likeness->papers);
	g_free(likeness);
}

static void
collect_words(const struct node *node, GHashTable *words)
{
	for (guint i = 0; node->phrase && i < node->phrase->words->len; i++)
		g_hash_table_add(
		    words, g_strdup(phrase_get_word(node->phrase, i)->key.text));
	for (guint i = 0; node->operands && i < node->operands->len; i++)
		collect_words(node->operands->pdata[i], words);
}

static double
get_frequency(const struct matrix_count *count)
{
	return 1 + log(2 * count->title + count->abstract);
}

/* Length of a paper's vector. */
static double
get_norm(const struct matrix *matrix, const struct matrix_count *counts, size_t count)
{
	double norm = 0;

	for (size_t i = 0; i < count; i++)
		if (!matrix_get_term(matrix, counts[i].term)->is_pair)
			norm += pow(get_frequency(&counts[i]), 2);
	return norm > 0 ? sqrt(norm) : 1;
}

/*
 * Add the papers' vectors without idf.
 *
 * @param usual  set: mean of their elements
 * @return the sum, one for each term
 */
static double *
add_papers(const struct matrix *matrix, double *usual)
{
	double *sum = g_new0(double, matrix_count_terms(matrix));
	double all = 0;
	size_t elements = 0;

	for (unsigned paper = 0; paper < matrix_count_papers(matrix); paper++) {
		size_t count;
		const struct matrix_count *counts =
		    matrix_get_counts(matrix, paper, &count);
		double norm = get_norm(matrix, counts, count);

		for (size_t i = 0; i < count; i++) {
			double element = get_frequency(&counts[i]) / norm;

			sum[counts[i].term] += element;
			if (matrix_get_term(matrix, counts[i].term)->is_pair)
				continue;
			all += element;
			elements++;
		}
	}
	*usual = all / (double)MAX(elements, 1);
	return sum;
}

static void
set_weights(struct likeness *likeness, const struct likeness_source *source)
{
	const struct matrix *matrix = source->matrix;
	double usual, variance = 0;
	g_autofree double *sum = add_papers(matrix, &usual);

	for (uint32_t i = 0; i < matrix_count_terms(matrix); i++) {
		const struct matrix_term *term = matrix_get_term(matrix, i);
		double weight, share;

		if (term->is_pair || term->papers < SHARED_MIN ||
		    g_hash_table_contains(likeness->own, term->text))
			continue;
		share =
		    (double)MAX(source->count(source->data, term->text), term->papers) /
		    (double)source->papers;
		share = MIN(share, 1);
		/* Once for each of the two vectors. */
		weight = sum[i] * pow(-log(share), 2 * IDF_EXPONENT);
		g_hash_table_insert(likeness->weights, g_strdup(term->text),
		    g_memdup2(&weight, sizeof(weight)));
		likeness->mean += usual * weight * share;
		variance += usual * usual * weight * weight * share * (1 - share);
	}
	likeness->deviation = sqrt(variance);
}

/* Multiply a paper's vector by the sum of the filter's. */
static GArray *
multiply(const struct likeness *likeness, unsigned paper)
{
	size_t count;
	const struct matrix_count *counts =
	    matrix_get_counts(likeness->papers, paper, &count);
	double norm = get_norm(likeness->papers, counts, count);
	GArray *elements = g_array_new(FALSE, FALSE, sizeof(struct element));

	for (size_t i = 0; i < count; i++) {
		const struct matrix_term *term =
		    matrix_get_term(likeness->papers, counts[i].term);
		const double *weight =
		    term->is_pair ? NULL
		                  : g_hash_table_lookup(likeness->weights, term->text);
		struct element element = {counts[i].term, 0};

		if (!weight)
			continue;
		element.product = *weight * get_frequency(&counts[i]) / norm;
		g_array_append_val(elements, element);
	}
	return elements;
}

/* Read a paper. @param number  set: in the matrix, from 1; 0: gone */
static bool
read_paper(struct likeness *likeness, int64_t seq, unsigned *number, GError **error)
{
	gpointer known = g_hash_table_lookup(likeness->numbers, &seq);
	g_autofree struct archive_text *text = NULL;

	*number = GPOINTER_TO_UINT(known);
	if (known)
		return true;
	if (!archive_find_text(likeness->store, seq, &text, error))
		return false;
	if (!text)
		return true;
	if (!matrix_add(likeness->papers, text->title, text->abstract, error))
		return false;
	*number = matrix_count_papers(likeness->papers);
	g_ptr_array_add(likeness->products, multiply(likeness, *number - 1));
	g_hash_table_insert(
	    likeness->numbers, g_memdup2(&seq, sizeof(seq)), GUINT_TO_POINTER(*number));
	return true;
}

static double
add_products(const struct likeness *likeness, unsigned number, char *const *without)
{
	const GArray *elements = likeness->products->pdata[number - 1];
	double sum = 0;

	for (guint i = 0; i < elements->len; i++)
		sum += g_array_index(elements, struct element, i).product;
	for (char *const *word = without; *word; word++) {
		uint32_t term;

		if (!matrix_find_term(likeness->papers, *word, &term))
			continue;
		for (guint i = 0; i < elements->len; i++)
			if (g_array_index(elements, struct element, i).term == term)
				sum -=
				    g_array_index(elements, struct element, i).product;
	}
	return sum;
}

struct likeness *
likeness_new(struct store *store, const struct likeness_source *source)
{
	struct likeness *likeness = g_new0(struct likeness, 1);

	likeness->store = store;
	likeness->own = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	likeness->weights =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	likeness->numbers =
	    g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	likeness->products =
	    g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
	likeness->papers = matrix_new(store_get_tokenizer(store), true);
	collect_words(source->query->root, likeness->own);
	set_weights(likeness, source);
	return likeness;
}

/* Whether a word or a pair of words is in the title of a paper. */
static bool
is_titled(const struct likeness *likeness, unsigned number, const char *text)
{
	size_t count;
	const struct matrix_count *counts =
	    matrix_get_counts(likeness->papers, number - 1, &count);
	uint32_t term;

	if (!matrix_find_term(likeness->papers, text, &term))
		return false;
	for (size_t i = 0; i < count; i++)
		if (counts[i].term == term)
			return counts[i].title > 0;
	return false;
}

bool
likeness_compute(struct likeness *likeness, int64_t seq, const char *term,
    struct likeness_paper *paper, GError **error)
{
	g_auto(GStrv) words = g_strsplit(term, " ", -1);
	unsigned number;

	*paper = (struct likeness_paper){0};
	if (!read_paper(likeness, seq, &number, error))
		return false;
	if (!number || likeness->deviation <= 0)
		return true;
	paper->is_titled = is_titled(likeness, number, term);
	paper->value = (add_products(likeness, number, words) - likeness->mean) /
	               likeness->deviation;
	return true;
}
