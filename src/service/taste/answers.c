/*
 * answers.c - saves which papers a person likes and hides, and learns from them.
 */
#include "service/taste/answers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/taste/taste.h"
#include "service/taste/background.h"
#include "store/subscriber/feedback.h"

#define PER_CENT 100

/* ---- learning ---- */

static GArray *
list_papers(const GArray *all)
{
	GArray *papers =
	    g_array_sized_new(FALSE, FALSE, sizeof(int64_t), MAX(all->len, 1));

	for (unsigned i = 0; i < all->len; i++)
		g_array_append_val(
		    papers, g_array_index(all, struct feedback, i).paper_seq);
	return papers;
}

/* @return of unsigned: the papers with one kind of answer, by number */
static GArray *
list_numbers(const struct background *background, const GArray *all, bool is_like)
{
	GArray *numbers = g_array_new(FALSE, FALSE, sizeof(unsigned));

	for (unsigned i = 0; i < all->len; i++) {
		const struct feedback *one = &g_array_index(all, struct feedback, i);
		unsigned number;

		if (one->is_like == is_like &&
		    background_find(background, one->paper_seq, &number))
			g_array_append_val(numbers, number);
	}
	return numbers;
}

/* The largest weight becomes TASTE_VECTOR_SCALE. @param answers  their number */
static void
fill_vector(struct taste_vector *vector, const struct taste *taste, unsigned answers,
    const struct matrix *matrix)
{
	double largest = 0;

	vector->answers = answers;
	for (unsigned i = 0; i < taste->terms->len; i++)
		largest = MAX(largest,
		    fabs(g_array_index(taste->terms, struct taste_term, i).weight));
	for (unsigned i = 0; i < taste->terms->len; i++) {
		const struct taste_term *term =
		    &g_array_index(taste->terms, struct taste_term, i);

		taste_vector_add(vector, matrix_get_term(matrix, term->term)->text,
		    (int32_t)lround(term->weight / largest * TASTE_VECTOR_SCALE));
	}
	taste_vector_sort(vector);
}

/* @param all  of struct feedback */
static bool
learn(
    struct store *store, const GArray *all, struct taste_vector *vector, GError **error)
{
	g_autoptr(GArray) papers = list_papers(all);
	pb_auto(background) background = background_load(store, papers, error);
	g_autoptr(GArray) likes = NULL, hides = NULL;
	pb_auto(taste) taste = NULL;
	struct taste_answers answers;

	if (!background)
		return false;
	likes = list_numbers(background, all, true);
	hides = list_numbers(background, all, false);
	answers = (struct taste_answers){
	    (unsigned *)likes->data, likes->len, (unsigned *)hides->data, hides->len};
	taste = taste_learn(background_get_vectors(background), &answers, error);
	if (!taste)
		return false;
	fill_vector(vector, taste, all->len,
	    vectors_get_matrix(background_get_vectors(background)));
	return true;
}

/* ---- what is known ---- */

static void
word_free(void *data)
{
	struct answers_word *word = data;

	g_free(word->word);
	g_free(word);
}

static int
compare_words(gconstpointer a, gconstpointer b)
{
	const struct answers_word *one = *(const struct answers_word *const *)a;
	const struct answers_word *other = *(const struct answers_word *const *)b;
	int difference = abs(other->weight) - abs(one->weight);

	return difference ? difference : strcmp(one->word, other->word);
}

static int
to_per_cent(int32_t weight)
{
	return (int)lround(weight * (double)PER_CENT / TASTE_VECTOR_SCALE);
}

/* @return the weight of a word, 0 if it has none */
static int32_t
find_weight(const struct taste_vector *vector, uint32_t hash)
{
	for (unsigned i = 0; i < vector->weights->len; i++)
		if (taste_vector_get(vector, i)->hash == hash)
			return taste_vector_get(vector, i)->weight;
	return 0;
}

static void
add_words(struct answers *answers, const struct taste_vector *vector,
    const struct taste_vector *before)
{
	for (unsigned i = 0; i < vector->weights->len; i++) {
		const struct taste_weight *weight = taste_vector_get(vector, i);
		int per_cent = to_per_cent(weight->weight);
		struct answers_word *word;

		if (!per_cent)
			continue;
		word = g_new0(struct answers_word, 1);
		word->word = g_strdup(weight->word);
		word->weight = per_cent;
		word->change =
		    per_cent - to_per_cent(find_weight(before, weight->hash));
		g_ptr_array_add(
		    per_cent > 0 ? answers->raising : answers->lowering, word);
	}
	g_ptr_array_sort(answers->raising, compare_words);
	g_ptr_array_sort(answers->lowering, compare_words);
}

static void
fill_answers(struct answers *answers, const GArray *all,
    const struct taste_vector *vector, const struct taste_vector *before)
{
	*answers =
	    (struct answers){.raising = g_ptr_array_new_with_free_func(word_free),
	        .lowering = g_ptr_array_new_with_free_func(word_free)};
	for (unsigned i = 0; i < all->len; i++)
		if (g_array_index(all, struct feedback, i).is_like)
			answers->likes++;
		else
			answers->hides++;
	add_words(answers, vector, before);
}

void
answers_clear(struct answers *answers)
{
	g_clear_pointer(&answers->raising, g_ptr_array_unref);
	g_clear_pointer(&answers->lowering, g_ptr_array_unref);
}

/* A damaged value is as none: it is learned again with the next answer. */
static bool
load_taste(struct store *store, int64_t subscriber_id, struct taste_vector *vector,
    GError **error)
{
	g_autoptr(GError) problem = NULL;

	taste_vector_init(vector);
	if (feedback_load_taste(store, subscriber_id, vector, &problem))
		return true;
	if (!g_error_matches(problem, PB_ERROR, PB_ERROR_DAMAGED))
		return pb_error_forward(error, &problem);
	taste_vector_clear(vector);
	taste_vector_init(vector);
	return true;
}

bool
answers_load(
    struct store *store, int64_t subscriber_id, struct answers *answers, GError **error)
{
	g_autoptr(GArray) all = feedback_load(store, subscriber_id, error);
	pb_local(taste_vector) vector = {0};

	if (!all || !load_taste(store, subscriber_id, &vector, error))
		return false;
	fill_answers(answers, all, &vector, &vector);
	return true;
}

bool
answers_save(struct store *store, const struct answers_request *request,
    struct answers *answers, GError **error)
{
	pb_local(taste_vector) before = {0}, vector = {0};
	g_autoptr(GArray) all = NULL;

	for (unsigned i = 0; i < request->count; i++) {
		struct feedback one = {.paper_seq = request->papers[i],
		    .at = request->now,
		    .is_like = request->is_like};

		if (!feedback_save(
		        store, request->subscriber_id, &one, request->source, error))
			return false;
	}
	all = feedback_load(store, request->subscriber_id, error);
	taste_vector_init(&vector);
	if (!all || !load_taste(store, request->subscriber_id, &before, error) ||
	    !learn(store, all, &vector, error) ||
	    !feedback_save_taste(
	        store, request->subscriber_id, &vector, request->now, error))
		return false;
	fill_answers(answers, all, &vector, &before);
	return true;
}
