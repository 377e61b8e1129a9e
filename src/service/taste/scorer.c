/*
 * scorer.c - score papers by the words that a person likes and hides.
 */
#include "service/taste/scorer.h"

#include <math.h>
#include <string.h>

#define PREFIX_SHIFT (32 - SCORER_PREFIX_BITS)

/* Terms that are looked at in one go. */
#define BATCH 256

void
scorer_init(struct scorer *scorer, const struct taste_vector *vector)
{
	scorer->vector = vector;
	memset(scorer->first, 0, sizeof(scorer->first));
	for (unsigned i = vector->weights->len; i > 0; i--) {
		uint32_t hash = taste_vector_get(vector, i - 1)->hash;

		scorer->first[hash >> PREFIX_SHIFT] = (uint16_t)i;
	}
}

/* @param at  index of the first weight to look at @return 0: there is none */
static int32_t
find_weight(const struct taste_vector *vector, unsigned at, uint32_t hash)
{
	for (; at < vector->weights->len; at++) {
		const struct taste_weight *weight = taste_vector_get(vector, at);

		if (weight->hash >= hash)
			return weight->hash == hash ? weight->weight : 0;
	}
	return 0;
}

/*
 * Find words that may have a weight.  A branch for each would often be predicted wrong,
 * since any word may have one.
 */
static unsigned
find_terms(const struct scorer *scorer, const struct weighed_term *terms,
    unsigned count, uint16_t found[BATCH])
{
	unsigned used = 0;

	for (unsigned i = 0; i < count; i++) {
		found[used] = (uint16_t)i;
		used += scorer->first[terms[i].hash >> PREFIX_SHIFT] != 0;
	}
	return used;
}

double
scorer_score(const struct scorer *scorer, const GArray *terms)
{
	double sum = 0;

	for (unsigned start = 0; start < terms->len; start += BATCH) {
		const struct weighed_term *batch =
		    &g_array_index(terms, struct weighed_term, start);
		uint16_t found[BATCH];
		unsigned count =
		    find_terms(scorer, batch, MIN(terms->len - start, BATCH), found);

		for (unsigned i = 0; i < count; i++) {
			const struct weighed_term *term = batch + found[i];
			unsigned first = scorer->first[term->hash >> PREFIX_SHIFT];

			sum += find_weight(scorer->vector, first - 1, term->hash) *
			       (double)term->weight;
		}
	}
	return sum;
}

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

void
scorer_explain(const struct taste_vector *vector, const GArray *terms,
    struct scorer_reasons *reasons)
{
	g_autoptr(GArray) parts = list_parts(vector, terms);

	reasons->raised = format_words(parts, true);
	reasons->lowered = format_words(parts, false);
}

void
scorer_reasons_clear(struct scorer_reasons *reasons)
{
	g_clear_pointer(&reasons->raised, g_free);
	g_clear_pointer(&reasons->lowered, g_free);
}
