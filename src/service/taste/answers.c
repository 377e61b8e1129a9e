/*
 * answers.c - saves which papers a person likes and hides, and learns from them.
 */
#include "service/taste/answers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/taste/taste.h"
#include "service/taste/scorer.h"
#include "store/paper/papers.h"
#include "store/subscriber/feedback.h"

/* ---- learning ---- */

/*
 * Scale the weights: the largest absolute one becomes TASTE_VECTOR_SCALE.
 *
 * @param terms  of struct taste_term
 */
static void
fill_vector(
    struct taste_vector *vector, const GArray *terms, const struct matrix *papers)
{
	const struct taste_term *all = (const struct taste_term *)terms->data;

	for (unsigned i = 0; i < terms->len; i++)
		taste_vector_add(vector, matrix_get_term(papers, all[i].term)->text,
		    (int32_t)lround(
		        all[i].weight / fabs(all[0].weight) * TASTE_VECTOR_SCALE),
		    all[i].is_shown);
	taste_vector_sort(vector);
}

/* @param all  of struct feedback @param is_like  set, one for each */
static struct matrix *
load_papers(struct store *store, const GArray *all, bool *is_like, GError **error)
{
	pb_auto(matrix) papers = matrix_new(store_get_tokenizer(store), false);

	for (unsigned i = 0; i < all->len; i++) {
		const struct feedback *one = &g_array_index(all, struct feedback, i);
		pb_auto(stored_paper) stored =
		    papers_load(store, one->paper_seq, error);

		if (!stored || !matrix_add(papers, stored->paper->title,
		                   stored->paper->abstract, error))
			return NULL;
		is_like[i] = one->is_like;
	}
	return g_steal_pointer(&papers);
}

/* @param all  of struct feedback */
static bool
learn(
    struct store *store, const GArray *all, struct taste_vector *vector, GError **error)
{
	pb_auto(matrix) background = background_load(store, error);
	g_autofree bool *is_like = g_new(bool, MAX(all->len, 1));
	pb_auto(matrix) papers =
	    background ? load_papers(store, all, is_like, error) : NULL;
	g_autoptr(GArray) terms = NULL;

	if (!papers)
		return false;
	terms = taste_learn(background, papers, is_like);
	vector->answers = all->len;
	fill_vector(vector, terms, papers);
	return true;
}

/* ---- what is known ---- */

static int
compare_weights(gconstpointer a, gconstpointer b)
{
	const struct taste_weight *one = *(const struct taste_weight *const *)a;
	const struct taste_weight *other = *(const struct taste_weight *const *)b;
	int difference = abs(other->weight) - abs(one->weight);

	return difference ? difference : strcmp(one->word, other->word);
}

static void
add_words(struct answers *answers, const struct taste_vector *vector)
{
	g_autoptr(GPtrArray) shown = g_ptr_array_new();

	for (unsigned i = 0; i < vector->weights->len; i++) {
		const struct taste_weight *weight = taste_vector_get(vector, i);

		if (weight->is_shown)
			g_ptr_array_add(shown, (void *)weight);
		else
			answers->other_words++;
	}
	g_ptr_array_sort(shown, compare_weights);
	for (unsigned i = 0; i < shown->len; i++) {
		const struct taste_weight *weight = shown->pdata[i];

		g_ptr_array_add(
		    weight->weight > 0 ? answers->raising : answers->lowering,
		    g_strdup(weight->word));
	}
}

static void
fill_answers(
    struct answers *answers, const GArray *all, const struct taste_vector *vector)
{
	*answers = (struct answers){.raising = g_ptr_array_new_with_free_func(g_free),
	    .lowering = g_ptr_array_new_with_free_func(g_free)};
	for (unsigned i = 0; i < all->len; i++)
		if (g_array_index(all, struct feedback, i).is_like)
			answers->likes++;
		else
			answers->hides++;
	add_words(answers, vector);
}

void
answers_clear(struct answers *answers)
{
	g_clear_pointer(&answers->raising, g_ptr_array_unref);
	g_clear_pointer(&answers->lowering, g_ptr_array_unref);
}

char *
answers_format_words(const GPtrArray *words, unsigned most)
{
	GString *text = g_string_new(NULL);

	for (unsigned i = 0; i < words->len && i < most; i++)
		g_string_append_printf(
		    text, "%s%s", i ? ", " : "", (char *)words->pdata[i]);
	return g_string_free(text, FALSE);
}

/* Load what was learned; a damaged value counts as nothing learned, until it is learned
 * again with the next answer. */
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
	fill_answers(answers, all, &vector);
	return true;
}

bool
answers_save(struct store *store, const struct answers_request *request,
    struct answers *answers, GError **error)
{
	pb_local(taste_vector) vector = {0};
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
	if (!all || !learn(store, all, &vector, error) ||
	    !feedback_save_taste(
	        store, request->subscriber_id, &vector, request->now, error))
		return false;
	fill_answers(answers, all, &vector);
	return true;
}
