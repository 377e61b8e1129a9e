/*
 * scorer.c - score papers by the words that a person likes and hides.
 */
#include "service/taste/scorer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "query/taste/taste.h"
#include "store/paper/archive_cache.h"
#include "store/paper/papers.h"

/* Number of papers whose weighed terms are cached; with more, all are forgotten before
 * the next run. */
#define PAPERS_MAX 2000

/* Maximum number of words of an explanation, of each kind. */
#define WORDS_MAX 3

struct scored_term {
	uint32_t hash; /* taste_vector_hash() */
	float weight;
};

struct scored_paper {
	int64_t seq;
	unsigned count;
	struct scored_term terms[]; /* by hash */
};

struct scorer {
	struct store *store;       /* borrowed */
	struct matrix *background; /* NULL before its first use */
	GHashTable *papers;        /* seq -> struct scored_paper * */
};

struct scorer *
scorer_new(struct store *store)
{
	struct scorer *scorer = g_new0(struct scorer, 1);

	scorer->store = store;
	scorer->papers =
	    g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
	return scorer;
}

void
scorer_free(struct scorer *scorer)
{
	if (!scorer)
		return;
	g_hash_table_unref(scorer->papers);
	matrix_free(scorer->background);
	g_free(scorer);
}

void
scorer_forget(struct scorer *scorer)
{
	g_hash_table_remove_all(scorer->papers);
}

/* ---- reading papers ---- */

/*
 * Weigh the terms of a paper.
 *
 * @param weights  set, one for each term of the matrix; owned by the caller
 * @return a matrix of this paper; NULL with the store's error
 */
static struct matrix *
weigh(struct scorer *scorer, int64_t seq, double **weights, GError **error)
{
	pb_auto(matrix) matrix = matrix_new(store_get_tokenizer(scorer->store), false);
	pb_auto(stored_paper) stored = NULL;

	if (!scorer->background)
		scorer->background = background_load(scorer->store, error);
	stored = scorer->background ? papers_load(scorer->store, seq, error) : NULL;
	if (!stored ||
	    !matrix_add(matrix, stored->paper->title, stored->paper->abstract, error))
		return NULL;
	*weights = taste_weigh(scorer->background, matrix, 0);
	return g_steal_pointer(&matrix);
}

static int
compare_hashes(const void *a, const void *b)
{
	const struct scored_term *one = a, *other = b;

	return (one->hash > other->hash) - (one->hash < other->hash);
}

static const struct scored_paper *
get_paper(struct scorer *scorer, int64_t seq, GError **error)
{
	struct scored_paper *paper = g_hash_table_lookup(scorer->papers, &seq);
	g_autofree double *weights = NULL;
	pb_auto(matrix) matrix = NULL;

	if (paper)
		return paper;
	matrix = weigh(scorer, seq, &weights, error);
	if (!matrix)
		return NULL;
	paper = g_malloc(
	    sizeof(*paper) + matrix_count_terms(matrix) * sizeof(paper->terms[0]));
	paper->seq = seq;
	paper->count = matrix_count_terms(matrix);
	for (unsigned i = 0; i < paper->count; i++)
		paper->terms[i] = (struct scored_term){
		    taste_vector_hash(matrix_get_term(matrix, i)->text),
		    (float)weights[i]};
	qsort(paper->terms, paper->count, sizeof(paper->terms[0]), compare_hashes);
	g_hash_table_insert(scorer->papers, &paper->seq, paper);
	return paper;
}

/* ---- scores ---- */

static double
multiply(const struct scored_paper *paper, const struct taste_vector *vector)
{
	unsigned i = 0, j = 0;
	double sum = 0;

	while (i < paper->count && j < vector->weights->len) {
		const struct scored_term *term = &paper->terms[i];
		const struct taste_weight *weight = taste_vector_get(vector, j);

		if (term->hash == weight->hash)
			sum += term->weight * weight->weight;
		i += term->hash <= weight->hash;
		j += weight->hash <= term->hash;
	}
	return sum;
}

bool
scorer_run(struct scorer *scorer, const struct taste_vector *vector,
    const int64_t *papers, unsigned count, double *scores, GError **error)
{
	if (g_hash_table_size(scorer->papers) > PAPERS_MAX)
		scorer_forget(scorer);
	for (unsigned i = 0; i < count; i++) {
		const struct scored_paper *paper = get_paper(scorer, papers[i], error);

		if (!paper)
			return false;
		scores[i] = multiply(paper, vector);
	}
	return true;
}

/* ---- reasons ---- */

/* Contribution of a word to the score of a paper. */
struct part {
	const char *word;
	double product;
};

static int
compare_parts(const void *a, const void *b)
{
	const struct part *one = a, *other = b;
	double difference = fabs(other->product) - fabs(one->product);

	return difference != 0 ? (difference > 0 ? 1 : -1)
	                       : strcmp(one->word, other->word);
}

/* @param weights  of the terms of the matrix @return of struct part, largest first */
static GArray *
list_parts(const struct taste_vector *vector, const struct matrix *matrix,
    const double *weights)
{
	GArray *parts = g_array_new(FALSE, FALSE, sizeof(struct part));

	for (unsigned i = 0; i < vector->weights->len; i++) {
		const struct taste_weight *weight = taste_vector_get(vector, i);
		struct part part = {.word = weight->word};
		uint32_t term;

		if (!weight->is_shown || !matrix_find_term(matrix, weight->word, &term))
			continue;
		part.product = weight->weight * weights[term];
		g_array_append_val(parts, part);
	}
	g_array_sort(parts, compare_parts);
	return parts;
}

static char *
format_words(const GArray *parts, bool is_raised)
{
	GString *text = g_string_new(NULL);
	unsigned count = 0;

	for (unsigned i = 0; i < parts->len && count < WORDS_MAX; i++) {
		const struct part *part = &g_array_index(parts, struct part, i);

		if ((part->product > 0) != is_raised)
			continue;
		g_string_append_printf(text, "%s%s", count++ ? ", " : "", part->word);
	}
	return g_string_free(text, FALSE);
}

bool
scorer_explain(struct scorer *scorer, const struct taste_vector *vector, int64_t paper,
    struct scorer_reasons *reasons, GError **error)
{
	g_autofree double *weights = NULL;
	pb_auto(matrix) matrix = weigh(scorer, paper, &weights, error);
	g_autoptr(GArray) parts = NULL;

	if (!matrix)
		return false;
	parts = list_parts(vector, matrix, weights);
	reasons->raised = format_words(parts, true);
	reasons->lowered = format_words(parts, false);
	return true;
}

void
scorer_reasons_clear(struct scorer_reasons *reasons)
{
	g_clear_pointer(&reasons->raised, g_free);
	g_clear_pointer(&reasons->lowered, g_free);
}

/* ---- papers against which the words of others are weighed ---- */

/*
 * Maximum number of papers of the background: more would tell rare words apart better,
 * and take more time and memory.
 */
#define BACKGROUND_PAPERS 1000

struct matrix *
background_load(struct store *store, GError **error)
{
	struct store *archive = archive_cache_refresh(store, error);
	g_autoptr(GPtrArray) texts =
	    archive ? papers_load_texts(archive, BACKGROUND_PAPERS, error) : NULL;
	pb_auto(matrix) matrix =
	    texts ? matrix_new(store_get_tokenizer(store), false) : NULL;

	for (unsigned i = 0; texts && i < texts->len; i++) {
		const struct paper_text *text = texts->pdata[i];

		if (!matrix_add(matrix, text->title, text->abstract, error))
			return NULL;
	}
	return g_steal_pointer(&matrix);
}
