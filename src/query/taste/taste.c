/*
 * taste.c - learns what a person wants from liked and hidden papers, to order others.
 */
#include "query/taste/taste.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"

/* Centroid. */
#define HIDDEN_PART  0.08 /* of the mean of hidden papers that is subtracted */
#define FLATTENING   0.7  /* exponent of weights among repetitive papers */
#define PRIOR_PAPERS 2    /* mean papers added to those with a term */

/* Repetitive papers that are ranked together. */
#define POOL_PAPERS 100 /* minimum number */
#define POOL_PART   3   /* their norm, in norms of a taste of one liked paper */

/* Regression. */
#define STEPS             80
#define PENALTY           0.1 /* of the squared norm */
#define BACKGROUND_PAPERS 200
#define BACKGROUND_HIDES  10 /* background papers weigh as much as that many hides */

/* Maximum number of answers that are left out, one at a time. */
#define LEFT_OUT_MAX 30

/* A paper and its class, for the regression. */
struct example {
	unsigned paper;
	bool is_liked;
	double weight;
};

/* Learning from answers; all arrays are by term or paper of the matrix. */
struct learner {
	const struct vectors *vectors;
	unsigned terms;
	unsigned papers;
	char *answered;     /* by paper: whether it is an answer */
	GArray *background; /* of unsigned: other papers, evenly spaced */
};

static void
learner_clear(struct learner *learner)
{
	g_free(learner->answered);
	if (learner->background)
		g_array_unref(learner->background);
}

static void
learner_init(struct learner *learner, const struct vectors *vectors,
    const struct taste_answers *answers)
{
	const struct matrix *matrix = vectors_get_matrix(vectors);
	unsigned step;

	*learner = (struct learner){.vectors = vectors,
	    .terms = matrix_count_terms(matrix),
	    .papers = matrix_count_papers(matrix),
	    .background = g_array_new(FALSE, FALSE, sizeof(unsigned))};
	learner->answered = g_new0(char, learner->papers);
	for (unsigned i = 0; i < answers->like_count; i++)
		learner->answered[answers->likes[i]] = 1;
	for (unsigned i = 0; i < answers->hide_count; i++)
		learner->answered[answers->hides[i]] = 1;
	step = MAX(learner->papers / BACKGROUND_PAPERS, 1);
	for (unsigned paper = 0; paper < learner->papers; paper += step)
		if (!learner->answered[paper])
			g_array_append_val(learner->background, paper);
}

/*
 * Multiply each term by the square root of how much papers with it resemble the vector,
 * against others.
 */
static void
scale_by_resemblance(const struct learner *learner, double *weights)
{
	const struct matrix *matrix = vectors_get_matrix(learner->vectors);
	g_autofree double *sums = g_new0(double, learner->terms);
	g_autofree unsigned *others = g_new0(unsigned, learner->terms);
	unsigned papers = 0;
	double mean = 0;

	for (unsigned paper = 0; paper < learner->papers; paper++) {
		double score;
		size_t count;
		const struct matrix_count *counts =
		    matrix_get_counts(matrix, paper, &count);

		if (learner->answered[paper])
			continue;
		score = MAX(vectors_multiply(learner->vectors, paper, weights), 0);
		mean += score;
		papers++;
		for (size_t i = 0; i < count; i++) {
			sums[counts[i].term] += score;
			others[counts[i].term]++;
		}
	}
	if (mean <= 0)
		return;
	mean /= papers;
	for (unsigned term = 0; term < learner->terms; term++)
		weights[term] *= sqrt(
		    (sums[term] / mean + PRIOR_PAPERS) / (others[term] + PRIOR_PAPERS));
}

/* Hidden papers share most words with liked ones, and must not weaken these. */
static void
subtract_hides(
    const struct learner *learner, const struct taste_answers *answers, double *weights)
{
	g_autofree double *hidden = g_new0(double, learner->terms);

	for (unsigned i = 0; i < answers->hide_count; i++)
		vectors_add(learner->vectors, answers->hides[i],
		    HIDDEN_PART / answers->hide_count, hidden);
	for (unsigned term = 0; term < learner->terms; term++)
		if (weights[term] == 0)
			weights[term] = -hidden[term];
}

static void
learn_centroid(
    const struct learner *learner, const struct taste_answers *answers, double *weights)
{
	bool is_repetitive = vectors_is_repetitive(learner->vectors);

	memset(weights, 0, learner->terms * sizeof(*weights));
	for (unsigned i = 0; i < answers->like_count; i++)
		vectors_add(learner->vectors, answers->likes[i],
		    1.0 / answers->like_count, weights);
	subtract_hides(learner, answers, weights);
	if (!is_repetitive)
		scale_by_resemblance(learner, weights);
	for (unsigned term = 0; is_repetitive && term < learner->terms; term++)
		weights[term] =
		    copysign(pow(fabs(weights[term]), FLATTENING), weights[term]);
}

/* Likes weigh 1 together, hides and background 1 together. */
static GArray *
list_examples(const struct learner *learner, const struct taste_answers *answers)
{
	GArray *examples = g_array_new(FALSE, FALSE, sizeof(struct example));
	double hides = answers->hide_count;

	for (unsigned i = 0; i < answers->like_count; i++) {
		struct example like = {
		    answers->likes[i], true, 1.0 / answers->like_count};

		g_array_append_val(examples, like);
	}
	for (unsigned i = 0; i < answers->hide_count; i++) {
		struct example hide = {
		    answers->hides[i], false, 1 / (hides + BACKGROUND_HIDES)};

		g_array_append_val(examples, hide);
	}
	for (unsigned i = 0; i < learner->background->len; i++) {
		struct example other = {g_array_index(learner->background, unsigned, i),
		    false,
		    BACKGROUND_HIDES / (hides + BACKGROUND_HIDES) /
		        learner->background->len};

		g_array_append_val(examples, other);
	}
	return examples;
}

/* Largest squared norm of a paper: the curvature of the loss is at most half of it. */
static double
get_squared_norm(const struct vectors *vectors, const GArray *examples)
{
	double most = 1;

	for (unsigned i = 0; i < examples->len; i++) {
		unsigned paper = g_array_index(examples, struct example, i).paper;
		const float *values = vectors_get(vectors, paper);
		double squares = 0;
		size_t count;

		matrix_get_counts(vectors_get_matrix(vectors), paper, &count);
		for (size_t j = 0; j < count; j++)
			squares += (double)values[j] * values[j];
		most = MAX(most, squares);
	}
	return most;
}

/* List the terms of some papers. @return of uint32_t */
static GArray *
list_example_terms(const struct learner *learner, const GArray *examples)
{
	GArray *terms = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_autofree char *is_listed = g_new0(char, learner->terms);

	for (unsigned i = 0; i < examples->len; i++) {
		size_t count;
		const struct matrix_count *counts =
		    matrix_get_counts(vectors_get_matrix(learner->vectors),
		        g_array_index(examples, struct example, i).paper, &count);

		for (size_t j = 0; j < count; j++) {
			uint32_t term = counts[j].term;

			if (!is_listed[term])
				g_array_append_val(terms, term);
			is_listed[term] = 1;
		}
	}
	return terms;
}

/* Compute the gradient of the loss by each product. @return the sum, by the bias */
static double
compute_errors(const struct learner *learner, const GArray *examples,
    const double *weights, double bias, double *errors)
{
	double sum = 0;

	for (unsigned i = 0; i < examples->len; i++) {
		const struct example *example =
		    &g_array_index(examples, struct example, i);
		double product =
		    vectors_multiply(learner->vectors, example->paper, weights);

		errors[i] = example->weight *
		            (1 / (1 + exp(-product - bias)) - example->is_liked);
		sum += errors[i];
	}
	return sum;
}

/* Accelerated gradient descent (Y. Nesterov, 1983) with a fixed number of steps. */
static void
learn_regression(
    const struct learner *learner, const struct taste_answers *answers, double *weights)
{
	g_autoptr(GArray) examples = list_examples(learner, answers);
	g_autoptr(GArray) terms = list_example_terms(learner, examples);
	g_autofree double *previous = g_new0(double, learner->terms);
	g_autofree double *errors = g_new(double, examples->len);
	double norm = get_squared_norm(learner->vectors, examples);
	double step = 1 / (0.5 * (norm + 1) + PENALTY), bias = 0;

	memset(weights, 0, learner->terms * sizeof(*weights));
	for (unsigned round = 0; round < STEPS; round++) {
		double momentum = round / (round + 3.0);

		for (unsigned i = 0; i < terms->len; i++) {
			uint32_t term = g_array_index(terms, uint32_t, i);
			double old = weights[term];

			weights[term] += momentum * (old - previous[term]);
			previous[term] = old;
		}
		bias -= step * compute_errors(learner, examples, weights, bias, errors);
		for (unsigned i = 0; i < terms->len; i++)
			weights[g_array_index(terms, uint32_t, i)] *=
			    1 - step * PENALTY;
		for (unsigned i = 0; i < examples->len; i++)
			vectors_add(learner->vectors,
			    g_array_index(examples, struct example, i).paper,
			    -step * errors[i], weights);
	}
}

typedef void (*learner_method)(const struct learner *learner,
    const struct taste_answers *answers, double *weights);

static int
compare_terms(const void *a, const void *b)
{
	const struct taste_term *first = a, *second = b;
	double difference = fabs(second->weight) - fabs(first->weight);

	if (difference != 0)
		return difference > 0 ? 1 : -1;
	return first->term < second->term ? -1 : first->term > second->term;
}

/* List the terms with the largest weights. */
static GArray *
list_terms(const double *weights, unsigned count)
{
	GArray *terms = g_array_new(FALSE, FALSE, sizeof(struct taste_term));

	for (uint32_t term = 0; term < count; term++) {
		struct taste_term entry = {term, weights[term]};

		if (weights[term] != 0)
			g_array_append_val(terms, entry);
	}
	g_array_sort(terms, compare_terms);
	if (terms->len > BOUNDS_TASTE_TERMS)
		g_array_set_size(terms, BOUNDS_TASTE_TERMS);
	return terms;
}

static GArray *
learn(const struct learner *learner, const struct taste_answers *answers,
    learner_method method)
{
	g_autofree double *weights = g_new(double, learner->terms);

	method(learner, answers, weights);
	return list_terms(weights, learner->terms);
}

/* Part of some papers, from 0 to 1, that score less than a paper. */
static double
count_lower(const struct taste *taste, const struct vectors *vectors, unsigned paper,
    const unsigned *others, unsigned count, unsigned left_out)
{
	g_autofree double *scores = g_new(double, count);
	double own, lower = 0;
	unsigned compared = 0;

	taste_score(taste, vectors, &paper, 1, &own);
	taste_score(taste, vectors, others, count, scores);
	for (unsigned i = 0; i < count; i++) {
		if (others[i] == left_out)
			continue;
		compared++;
		lower += scores[i] < own ? 1 : scores[i] == own ? 0.5 : 0;
	}
	return compared ? lower / compared : 0.5;
}

/* Learn without one answer and see how it compares with papers of the other kind. */
static double
leave_out(const struct learner *learner, const struct taste_answers *answers,
    unsigned answer, learner_method method)
{
	bool is_like = answer < answers->like_count;
	unsigned at = is_like ? answer : answer - answers->like_count;
	unsigned count = is_like ? answers->like_count : answers->hide_count;
	const unsigned *all = is_like ? answers->likes : answers->hides;
	g_autofree unsigned *rest = g_new(unsigned, count);
	struct taste_answers less = *answers;
	struct taste taste = {0};
	double result;

	memcpy(rest, all, at * sizeof(*rest));
	memcpy(rest + at, all + at + 1, (count - at - 1) * sizeof(*rest));
	if (is_like) {
		less.likes = rest;
		less.like_count--;
	} else {
		less.hides = rest;
		less.hide_count--;
	}
	learner->answered[all[at]] = 0;
	taste.terms = learn(learner, &less, method);
	learner->answered[all[at]] = 1;
	if (is_like && !answers->hide_count)
		result = count_lower(&taste, learner->vectors, all[at],
		    (const unsigned *)learner->background->data,
		    learner->background->len, all[at]);
	else if (is_like)
		result = count_lower(&taste, learner->vectors, all[at], answers->hides,
		             answers->hide_count, all[at]) /
		             2 +
		         count_lower(&taste, learner->vectors, all[at],
		             (const unsigned *)learner->background->data,
		             learner->background->len, all[at]) /
		             2;
	else
		result = 1 - count_lower(&taste, learner->vectors, all[at],
		                 answers->likes, answers->like_count, all[at]);
	g_array_unref(taste.terms);
	return result;
}

static double
leave_one_out(const struct learner *learner, const struct taste_answers *answers,
    learner_method method)
{
	unsigned count = answers->like_count + answers->hide_count;
	unsigned rounds = MIN(count, LEFT_OUT_MAX);
	double sum = 0;

	for (unsigned i = 0; i < rounds; i++)
		sum += leave_out(
		    learner, answers, (unsigned)((uint64_t)i * count / rounds), method);
	return sum;
}

struct taste *
taste_learn(
    const struct vectors *vectors, const struct taste_answers *answers, GError **error)
{
	unsigned count = answers->like_count + answers->hide_count;
	pb_local(learner) learner = {0};
	struct taste *taste;

	if (answers->like_count > BOUNDS_TASTE_ANSWERS ||
	    answers->hide_count > BOUNDS_TASTE_ANSWERS ||
	    count > BOUNDS_TASTE_ANSWERS) {
		pb_fail(error, PB_ERROR_LIMIT, "more than %d answers",
		    BOUNDS_TASTE_ANSWERS);
		return NULL;
	}
	learner_init(&learner, vectors, answers);
	taste = g_new0(struct taste, 1);
	taste->is_regression = count >= TASTE_REGRESSION_ANSWERS &&
	                       answers->like_count > 1 &&
	                       leave_one_out(&learner, answers, learn_regression) >
	                           leave_one_out(&learner, answers, learn_centroid);
	taste->likes = answers->like_count;
	taste->terms = learn(&learner, answers,
	    taste->is_regression ? learn_regression : learn_centroid);
	return taste;
}

void
taste_free(struct taste *taste)
{
	if (!taste)
		return;
	g_array_unref(taste->terms);
	g_free(taste);
}

static double
get_norm(const double *weights, unsigned count)
{
	double squares = 0;

	for (unsigned i = 0; i < count; i++)
		squares += weights[i] * weights[i];
	return sqrt(squares);
}

/* Add to a taste the papers to rank, each multiplied by its score. */
static void
add_pool(const struct taste *taste, const struct vectors *vectors,
    const unsigned *papers, size_t count, double *weights)
{
	unsigned terms = matrix_count_terms(vectors_get_matrix(vectors));
	g_autofree double *pool = g_new0(double, terms);
	double norm, factor;

	for (size_t i = 0; i < count; i++)
		vectors_add(vectors, papers[i],
		    vectors_multiply(vectors, papers[i], weights), pool);
	norm = get_norm(pool, terms);
	if (norm <= 0)
		return;
	factor = POOL_PART * get_norm(weights, terms) / norm / taste->likes;
	for (unsigned term = 0; term < terms; term++)
		weights[term] += factor * pool[term];
}

void
taste_score(const struct taste *taste, const struct vectors *vectors,
    const unsigned *papers, size_t count, double *scores)
{
	g_autofree double *weights =
	    g_new0(double, matrix_count_terms(vectors_get_matrix(vectors)));

	for (unsigned i = 0; i < taste->terms->len; i++) {
		const struct taste_term *term =
		    &g_array_index(taste->terms, struct taste_term, i);

		weights[term->term] = term->weight;
	}
	if (vectors_is_repetitive(vectors) && !taste->is_regression && taste->likes &&
	    count >= POOL_PAPERS)
		add_pool(taste, vectors, papers, count, weights);
	for (size_t i = 0; i < count; i++)
		scores[i] = vectors_multiply(vectors, papers[i], weights);
}
