/*
 * scorer.c - score papers by the words that a person likes and hides.
 */
#include "service/taste/scorer.h"

#include <math.h>
#include <string.h>

#include "base/bounds.h"
#include "service/taste/background.h"
#include "store/paper/papers.h"

/* Papers are forgotten when there are more. */
#define PAPERS_MAX 2000

/* Weights of papers are at most 2.5 (query/taste/vectors.c), and kept as integers. */
#define WEIGHT_SCALE 65536

/* An entry of a hash table with open addressing. */
struct word {
	uint32_t hash;
	uint32_t number; /* from 1; 0: the entry is free */
};

struct scored_term {
	uint32_t word; /* its number */
	int32_t weight;
};

struct scored_paper {
	int64_t seq;
	unsigned count;
	struct scored_term terms[];
};

struct scorer {
	struct store *store;           /* borrowed */
	struct background *background; /* NULL before its first use */
	GHashTable *papers;            /* seq -> struct scored_paper * */
	struct word *words;
	unsigned size;   /* of words, a power of 2 */
	GArray *weights; /* of int16_t: the person's, by the number of the word */
};

static void
init_papers(struct scorer *scorer)
{
	scorer->papers =
	    g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
	scorer->size = 1024;
	scorer->words = g_new0(struct word, scorer->size);
	scorer->weights = g_array_new(FALSE, TRUE, sizeof(int16_t));
	g_array_set_size(scorer->weights, 1);
}

static void
clear_papers(struct scorer *scorer)
{
	g_hash_table_unref(scorer->papers);
	g_free(scorer->words);
	g_array_unref(scorer->weights);
}

struct scorer *
scorer_new(struct store *store)
{
	struct scorer *scorer = g_new0(struct scorer, 1);

	scorer->store = store;
	init_papers(scorer);
	return scorer;
}

void
scorer_free(struct scorer *scorer)
{
	if (!scorer)
		return;
	clear_papers(scorer);
	background_free(scorer->background);
	g_free(scorer);
}

void
scorer_forget(struct scorer *scorer)
{
	clear_papers(scorer);
	init_papers(scorer);
}

/* ---- reading papers ---- */

/* @return of struct weighed_term; NULL with the store's error */
static GArray *
list_terms(struct scorer *scorer, int64_t seq, GError **error)
{
	pb_auto(stored_paper) stored = NULL;

	if (!scorer->background)
		scorer->background = background_load(scorer->store, NULL, error);
	stored = scorer->background ? papers_load(scorer->store, seq, error) : NULL;
	return stored ? background_list_terms(scorer->background, stored->paper->title,
	                    stored->paper->abstract, error)
	              : NULL;
}

/* @return the word's entry, or the free one where it belongs */
static struct word *
find_word(const struct scorer *scorer, uint32_t hash)
{
	unsigned mask = scorer->size - 1, at = hash & mask;

	while (scorer->words[at].number && scorer->words[at].hash != hash)
		at = (at + 1) & mask;
	return &scorer->words[at];
}

static void
grow(struct scorer *scorer)
{
	g_autofree struct word *old = scorer->words;
	unsigned size = scorer->size;

	scorer->size *= 2;
	scorer->words = g_new0(struct word, scorer->size);
	for (unsigned i = 0; i < size; i++)
		if (old[i].number)
			*find_word(scorer, old[i].hash) = old[i];
}

static uint32_t
number_word(struct scorer *scorer, uint32_t hash)
{
	struct word *word = find_word(scorer, hash);
	unsigned count = scorer->weights->len;

	if (word->number)
		return word->number;
	*word = (struct word){hash, count};
	g_array_set_size(scorer->weights, count + 1);
	if (2 * count > scorer->size)
		grow(scorer);
	return count;
}

static const struct scored_paper *
get_paper(struct scorer *scorer, int64_t seq, GError **error)
{
	struct scored_paper *paper = g_hash_table_lookup(scorer->papers, &seq);
	g_autoptr(GArray) terms = NULL;

	if (paper)
		return paper;
	terms = list_terms(scorer, seq, error);
	if (!terms)
		return NULL;
	paper = g_malloc(sizeof(*paper) + terms->len * sizeof(paper->terms[0]));
	paper->seq = seq;
	paper->count = terms->len;
	for (unsigned i = 0; i < terms->len; i++) {
		const struct weighed_term *term =
		    &g_array_index(terms, struct weighed_term, i);

		paper->terms[i].word = number_word(scorer, term->hash);
		paper->terms[i].weight = (int32_t)lroundf(term->weight * WEIGHT_SCALE);
	}
	g_hash_table_insert(scorer->papers, &paper->seq, paper);
	return paper;
}

/* ---- scores ---- */

/* @param numbers  set: numbers of the words of the vector, 0 for those of no paper */
static void
set_weights(struct scorer *scorer, const struct taste_vector *vector, uint32_t *numbers)
{
	/* The table is larger than the fastest cache. */
	for (unsigned i = 0; i < vector->weights->len; i++)
		__builtin_prefetch(&scorer->words[taste_vector_get(vector, i)->hash &
		                                  (scorer->size - 1)]);
	for (unsigned i = 0; i < vector->weights->len; i++) {
		const struct taste_weight *weight = taste_vector_get(vector, i);

		numbers[i] = find_word(scorer, weight->hash)->number;
		g_array_index(scorer->weights, int16_t, numbers[i]) =
		    (int16_t)weight->weight;
	}
}

static double
compute_score(const struct scored_paper *paper, const int16_t *weights)
{
	int64_t sum = 0;

	for (unsigned i = 0; i < paper->count; i++)
		sum += (int64_t)weights[paper->terms[i].word] * paper->terms[i].weight;
	return (double)sum;
}

bool
scorer_run(struct scorer *scorer, const struct taste_vector *vector,
    const int64_t *papers, unsigned count, double *scores, GError **error)
{
	g_autofree const struct scored_paper **found =
	    g_new(const struct scored_paper *, count);
	uint32_t numbers[BOUNDS_TASTE_TERMS];

	g_assert(vector->weights->len <= BOUNDS_TASTE_TERMS);
	if (g_hash_table_size(scorer->papers) > PAPERS_MAX)
		scorer_forget(scorer);
	for (unsigned i = 0; i < count; i++) {
		found[i] = get_paper(scorer, papers[i], error);
		if (!found[i])
			return false;
	}
	set_weights(scorer, vector, numbers);
	for (unsigned i = 0; i < count; i++)
		scores[i] = compute_score(found[i], (int16_t *)scorer->weights->data);
	for (unsigned i = 0; i < vector->weights->len; i++)
		g_array_index(scorer->weights, int16_t, numbers[i]) = 0;
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

/* @return of struct part, the largest first */
static GArray *
list_parts(const struct taste_vector *vector, const GArray *terms)
{
	GArray *parts = g_array_new(FALSE, FALSE, sizeof(struct part));

	for (unsigned i = 0; i < vector->weights->len; i++) {
		const struct taste_weight *weight = taste_vector_get(vector, i);

		for (unsigned j = 0; j < terms->len; j++) {
			const struct weighed_term *term =
			    &g_array_index(terms, struct weighed_term, j);
			struct part part = {
			    weight->word, weight->weight * (double)term->weight};

			if (term->hash == weight->hash)
				g_array_append_val(parts, part);
		}
	}
	g_array_sort(parts, compare_parts);
	return parts;
}

static char *
format_words(const GArray *parts, bool is_raised)
{
	GString *text = g_string_new(NULL);
	unsigned count = 0;

	for (unsigned i = 0; i < parts->len && count < SCORER_WORDS; i++) {
		const struct part *part = &g_array_index(parts, struct part, i);

		if ((part->product > 0) != is_raised)
			continue;
		g_string_append_printf(text, "%s`%s`", count++ ? ", " : "", part->word);
	}
	return g_string_free(text, FALSE);
}

bool
scorer_explain(struct scorer *scorer, const struct taste_vector *vector, int64_t paper,
    struct scorer_reasons *reasons, GError **error)
{
	g_autoptr(GArray) terms = list_terms(scorer, paper, error);
	g_autoptr(GArray) parts = NULL;

	if (!terms)
		return false;
	parts = list_parts(vector, terms);
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
