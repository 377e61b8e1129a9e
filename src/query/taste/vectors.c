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
	double mean_length, mean_norm; /* unless they are repetitive */
};

/*
 * Compute a factor of each term of some papers: its idf in the archive, to the power of
 * an exponent.
 *
 * @param papers  the archive's matrix, or that of papers that count as if added to it
 * @param least   0 for terms of fewer papers
 */
static double *
compute_idf(const struct matrix *archive, const struct matrix *papers, double exponent,
    unsigned least)
{
	unsigned terms = matrix_count_terms(papers);
	bool is_other = papers != archive;
	double all = matrix_count_papers(archive) + is_other;
	double *factors = g_new(double, terms);

	for (uint32_t number = 0; number < terms; number++) {
		const struct matrix_term *term = matrix_get_term(papers, number);
		uint32_t same = number;
		unsigned with = is_other;

		if (!is_other || matrix_find_term(archive, term->text, &same))
			with += matrix_get_term(archive, same)->papers;
		factors[number] =
		    with < least
		        ? 0
		        : pow(log1p((all - with + 0.5) / (with + 0.5)), exponent);
	}
	return factors;
}

static double
get_log_tf(unsigned occurrences)
{
	return occurrences ? 1 + log(occurrences) : 0;
}

/* @param values  zeros; set, one for each count of the paper */
static void
fill_repetitive(
    const struct matrix *matrix, unsigned paper, const double *factors, float *values)
{
	size_t count;
	const struct matrix_count *counts = matrix_get_counts(matrix, paper, &count);
	double title = 0, abstract = 0;

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < count; i++) {
			double t, a;

			if (matrix_get_term(matrix, counts[i].term)->is_pair)
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
compute_norm(const float *values, size_t count)
{
	double squares = 0;

	for (size_t i = 0; i < count; i++)
		squares += (double)values[i] * values[i];
	return sqrt(squares);
}

/* @return the norm of the vector, which is not yet divided by it */
static double
fill_saturated(const struct matrix *matrix, unsigned paper, double mean_length,
    const double *factors, float *values)
{
	double relative = get_length(matrix, paper) / mean_length;
	size_t count;
	const struct matrix_count *counts = matrix_get_counts(matrix, paper, &count);

	for (size_t i = 0; i < count; i++) {
		uint32_t number = counts[i].term;

		values[i] = (float)(compute_saturated(matrix_get_term(matrix, number),
		                        &counts[i], relative) *
		                    factors[number]);
	}
	return compute_norm(values, count);
}

static void
divide(float *values, size_t count, double norm, double mean_norm)
{
	for (size_t i = 0; i < count; i++)
		values[i] /= (float)(NORM_PART * norm + (1 - NORM_PART) * mean_norm);
}

static void
fill_all_saturated(struct vectors *vectors)
{
	const struct matrix *matrix = vectors->matrix;
	unsigned papers = matrix_count_papers(matrix), filled = 0;
	g_autofree double *factors =
	    compute_idf(matrix, matrix, IDF_EXPONENT, SHARED_PAPERS);
	g_autofree double *norms = g_new(double, papers);
	double length = 0, norm = 0;

	for (unsigned paper = 0; paper < papers; paper++)
		length += get_length(matrix, paper);
	vectors->mean_length = length / papers;
	for (unsigned paper = 0; paper < papers; paper++) {
		norms[paper] = fill_saturated(matrix, paper, vectors->mean_length,
		    factors, vectors->values + matrix_get_first(matrix, paper));
		norm += norms[paper];
		filled += norms[paper] > 0;
	}
	if (!filled)
		return;
	vectors->mean_norm = norm / filled;
	for (unsigned paper = 0; paper < papers; paper++) {
		size_t first = matrix_get_first(matrix, paper);

		divide(vectors->values + first,
		    matrix_get_first(matrix, paper + 1) - first, norms[paper],
		    vectors->mean_norm);
	}
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
	    compute_idf(vectors->matrix, vectors->matrix, REPETITIVE_IDF_EXPONENT, 0);

	for (unsigned paper = 0; paper < papers; paper++)
		fill_repetitive(vectors->matrix, paper, factors,
		    vectors->values + matrix_get_first(vectors->matrix, paper));
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

float *
vectors_project(
    const struct vectors *vectors, const struct matrix *papers, unsigned paper)
{
	bool is_repetitive = vectors_is_repetitive(vectors);
	g_autofree double *factors = compute_idf(vectors->matrix, papers,
	    is_repetitive ? REPETITIVE_IDF_EXPONENT : IDF_EXPONENT,
	    is_repetitive ? 0 : SHARED_PAPERS);
	size_t count;
	float *values;

	matrix_get_counts(papers, paper, &count);
	values = g_new0(float, count);
	if (is_repetitive)
		fill_repetitive(papers, paper, factors, values);
	else if (vectors->mean_norm > 0)
		divide(values, count,
		    fill_saturated(
		        papers, paper, vectors->mean_length, factors, values),
		    vectors->mean_norm);
	return values;
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
