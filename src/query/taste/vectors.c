/*
 * vectors.c - papers as weighted vectors of terms, so that products compare them.
 */
#include "query/taste/vectors.h"

#include <math.h>

/* Papers that seldom repeat their words. */
#define SATURATION    0.6 /* k1 of BM25 */
#define LENGTH_PART   0.3 /* b of BM25 */
#define TITLE_FACTOR  2
#define IDF_EXPONENT  1.6
#define PAIR_FACTOR   0.7
#define NORM_PART     0.4
#define SHARED_PAPERS 2 /* minimum number of papers with a term */

/* Papers that repeat their words. */
#define TITLE_WEIGHT            0.3
#define REPETITIVE_IDF_EXPONENT 1.3

/* Minimum of the mean occurrences of a word. */
#define REPETITIVE 1.56

struct vectors {
	const struct matrix *matrix;
	float *values; /* one for each count of the matrix */
	double repetition;
};

/* Compute a factor of each term: its idf, to the power of an exponent. */
static double *
compute_idf(const struct matrix *matrix, double exponent)
{
	unsigned terms = matrix_count_terms(matrix);
	double all = matrix_count_papers(matrix);
	double *factors = g_new(double, terms);

	for (uint32_t number = 0; number < terms; number++) {
		double papers = matrix_get_term(matrix, number)->papers;

		factors[number] =
		    pow(log1p((all - papers + 0.5) / (papers + 0.5)), exponent);
	}
	return factors;
}

static double
get_log_tf(unsigned occurrences)
{
	return occurrences ? 1 + log(occurrences) : 0;
}

static void
fill_repetitive(struct vectors *vectors, unsigned paper, const double *factors)
{
	size_t count;
	const struct matrix_count *counts =
	    matrix_get_counts(vectors->matrix, paper, &count);
	float *values = vectors->values + matrix_get_first(vectors->matrix, paper);
	double title = 0, abstract = 0;

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < count; i++) {
			double t, a;

			if (matrix_get_term(vectors->matrix, counts[i].term)->is_pair)
				continue;
			t = get_log_tf(counts[i].title) * factors[counts[i].term];
			a = get_log_tf(counts[i].abstract) * factors[counts[i].term];
			if (pass == 0) {
				title += t * t;
				abstract += a * a;
				continue;
			}
			values[i] =
			    (float)((title > 0 ? TITLE_WEIGHT * t / sqrt(title) : 0) +
			            (abstract > 0 ? a / sqrt(abstract) : 0));
		}
}

static double
compute_saturated(const struct matrix_term *term, const struct matrix_count *count,
    double relative_length)
{
	double t = TITLE_FACTOR * count->title + count->abstract;
	double slope = SATURATION * (1 - LENGTH_PART + LENGTH_PART * relative_length);

	if (term->papers < SHARED_PAPERS)
		return 0;
	return (SATURATION + 1) * t / (t + slope) * (term->is_pair ? PAIR_FACTOR : 1);
}

static unsigned
get_length(const struct matrix *matrix, unsigned paper)
{
	unsigned lengths[2];

	matrix_get_lengths(matrix, paper, lengths);
	return TITLE_FACTOR * lengths[0] + lengths[1];
}

static double
compute_norm(const struct vectors *vectors, unsigned paper)
{
	const float *values = vectors_get(vectors, paper);
	double squares = 0;
	size_t count;

	matrix_get_counts(vectors->matrix, paper, &count);
	for (size_t i = 0; i < count; i++)
		squares += (double)values[i] * values[i];
	return sqrt(squares);
}

/* @return the norm of the vector, which is not yet divided by it */
static double
fill_saturated(
    struct vectors *vectors, unsigned paper, double mean_length, const double *factors)
{
	const struct matrix *matrix = vectors->matrix;
	float *values = vectors->values + matrix_get_first(matrix, paper);
	double relative = get_length(matrix, paper) / mean_length;
	size_t count;
	const struct matrix_count *counts = matrix_get_counts(matrix, paper, &count);

	for (size_t i = 0; i < count; i++) {
		uint32_t number = counts[i].term;

		values[i] = (float)(compute_saturated(matrix_get_term(matrix, number),
		                        &counts[i], relative) *
		                    factors[number]);
	}
	return compute_norm(vectors, paper);
}

static void
fill_all_saturated(struct vectors *vectors)
{
	const struct matrix *matrix = vectors->matrix;
	unsigned papers = matrix_count_papers(matrix), filled = 0;
	g_autofree double *factors = compute_idf(matrix, IDF_EXPONENT);
	g_autofree double *norms = g_new(double, papers);
	double length = 0, norm = 0;

	for (unsigned paper = 0; paper < papers; paper++)
		length += get_length(matrix, paper);
	for (unsigned paper = 0; paper < papers; paper++) {
		norms[paper] = fill_saturated(vectors, paper, length / papers, factors);
		norm += norms[paper];
		filled += norms[paper] > 0;
	}
	for (unsigned paper = 0; filled && paper < papers; paper++)
		for (size_t i = matrix_get_first(matrix, paper);
		     i < matrix_get_first(matrix, paper + 1); i++)
			vectors->values[i] /= (float)(NORM_PART * norms[paper] +
			                              (1 - NORM_PART) * norm / filled);
}

static double
compute_repetition(const struct matrix *matrix)
{
	unsigned papers = matrix_count_papers(matrix);
	size_t count;
	const struct matrix_count *counts = matrix_get_counts(matrix, 0, &count);
	double words = 0, occurrences = 0;

	for (size_t i = 0; i < matrix_get_first(matrix, papers); i++) {
		if (matrix_get_term(matrix, counts[i].term)->is_pair)
			continue;
		words++;
		occurrences += counts[i].title + counts[i].abstract;
	}
	return words > 0 ? occurrences / words : 1;
}

static void
fill_all_repetitive(struct vectors *vectors)
{
	unsigned papers = matrix_count_papers(vectors->matrix);
	g_autofree double *factors =
	    compute_idf(vectors->matrix, REPETITIVE_IDF_EXPONENT);

	for (unsigned paper = 0; paper < papers; paper++)
		fill_repetitive(vectors, paper, factors);
}

struct vectors *
vectors_new(const struct matrix *matrix)
{
	struct vectors *vectors = g_new0(struct vectors, 1);

	vectors->matrix = matrix;
	vectors->values =
	    g_new0(float, matrix_get_first(matrix, matrix_count_papers(matrix)));
	vectors->repetition = compute_repetition(matrix);
	if (vectors_is_repetitive(vectors))
		fill_all_repetitive(vectors);
	else
		fill_all_saturated(vectors);
	return vectors;
}

void
vectors_free(struct vectors *vectors)
{
	if (!vectors)
		return;
	g_free(vectors->values);
	g_free(vectors);
}

const struct matrix *
vectors_get_matrix(const struct vectors *vectors)
{
	return vectors->matrix;
}

bool
vectors_is_repetitive(const struct vectors *vectors)
{
	return vectors->repetition >= REPETITIVE;
}

double
vectors_get_repetition(const struct vectors *vectors)
{
	return vectors->repetition;
}

const float *
vectors_get(const struct vectors *vectors, unsigned paper)
{
	return vectors->values + matrix_get_first(vectors->matrix, paper);
}

double
vectors_multiply(const struct vectors *vectors, unsigned paper, const double *weights)
{
	const float *values = vectors_get(vectors, paper);
	double product = 0;
	size_t count;
	const struct matrix_count *counts =
	    matrix_get_counts(vectors->matrix, paper, &count);

	for (size_t i = 0; i < count; i++)
		product += values[i] * weights[counts[i].term];
	return product;
}

void
vectors_add(
    const struct vectors *vectors, unsigned paper, double factor, double *weights)
{
	const float *values = vectors_get(vectors, paper);
	size_t count;
	const struct matrix_count *counts =
	    matrix_get_counts(vectors->matrix, paper, &count);

	for (size_t i = 0; i < count; i++)
		weights[counts[i].term] += factor * values[i];
}
