/*
 * scorer.c - score papers by the words that a person likes and hides.
 */
#include "service/taste/scorer.h"

#include <math.h>
#include <string.h>

G_STATIC_ASSERT(SCORER_SLOTS > 3 * BOUNDS_TASTE_TERMS);

/* @return the slot of a hash, or an empty one */
static unsigned
find_slot(const struct scorer *scorer, uint32_t hash)
{
	unsigned slot = hash % SCORER_SLOTS;

	while (scorer->slots[slot].weight && scorer->slots[slot].hash != hash)
		slot = (slot + 1) % SCORER_SLOTS;
	return slot;
}

void
scorer_init(struct scorer *scorer, const struct taste_vector *vector)
{
	memset(scorer, 0, sizeof(*scorer));
	for (unsigned i = 0; i < MIN(vector->weights->len, BOUNDS_TASTE_TERMS); i++) {
		const struct taste_weight *weight = taste_vector_get(vector, i);

		scorer->bits[weight->hash / 64 % G_N_ELEMENTS(scorer->bits)] |=
		    UINT64_C(1) << weight->hash % 64;
		scorer->slots[find_slot(scorer, weight->hash)] =
		    (struct scorer_slot){weight->hash, weight->weight};
	}
}

double
scorer_score(const struct scorer *scorer, const GArray *terms)
{
	double sum = 0;

	for (unsigned i = 0; i < terms->len; i++) {
		const struct weighed_term *term =
		    &g_array_index(terms, struct weighed_term, i);

		if (!(scorer->bits[term->hash / 64 % G_N_ELEMENTS(scorer->bits)] >>
		            term->hash % 64 &
		        1))
			continue;
		sum += scorer->slots[find_slot(scorer, term->hash)].weight *
		       (double)term->weight;
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
