/*
 * recall_search.c - estimates which part of the papers on its subject a filter finds in
 * the archive.
 */
#include "service/explain/recall_search.h"

#include "query/taste/recall.h"

struct scoring {
	const struct recall_word *word;
	GHashTable *sampled; /* int64_t *, of the request */
	GArray *scores;      /* of double, by sequence number */
};

static bool
add_weight(void *data, struct search_match *match, GError **error)
{
	struct scoring *scoring = data;
	bool is_own = g_hash_table_contains(scoring->sampled, &match->seq);
	guint seq = (guint)match->seq;

	(void)error;
	if (seq >= scoring->scores->len)
		g_array_set_size(scoring->scores, seq + 1);
	g_array_index(scoring->scores, double, seq) +=
	    is_own ? scoring->word->own_weight : scoring->word->weight;
	return true;
}

static bool
score_word(struct store *store, struct scoring *scoring,
    const struct search_scope *scope, GError **error)
{
	g_autofree char *text = g_strdup_printf("text:%s", scoring->word->text);
	pb_auto(query) query =
	    query_parse(text, store_get_tokenizer(store), NULL, NULL, NULL);

	return !query ||
	       search_foreach(store, query, scope, add_weight, scoring, NULL, error);
}

static void
add_papers(struct recall *recall, const GArray *scores, GHashTable *hits)
{
	for (int64_t seq = 0; seq < scores->len; seq++) {
		double score = g_array_index(scores, double, seq);

		if (score > 0)
			recall_add_paper(
			    recall, score, g_hash_table_contains(hits, &seq));
	}
}

bool
recall_search(struct store *store, const struct recall_request *request, double *recall,
    GError **error)
{
	g_autoptr(GArray) scores = g_array_new(FALSE, TRUE, sizeof(double));
	g_autoptr(GHashTable) sampled = g_hash_table_new(g_int64_hash, g_int64_equal);
	struct scoring scoring = {.sampled = sampled, .scores = scores};
	pb_local(recall) estimate = {0};

	for (guint i = 0; i < request->sampled->len; i++)
		g_hash_table_add(sampled, &g_array_index(request->sampled, int64_t, i));
	recall_init(&estimate);
	recall_choose_words(&estimate, request->query, request->source,
	    (double)request->papers / MAX(request->source->papers, 1));
	for (guint i = 0; i < estimate.words->len; i++) {
		scoring.word = &g_array_index(estimate.words, struct recall_word, i);
		if (!score_word(store, &scoring, request->scope, error))
			return false;
	}
	add_papers(&estimate, scores, request->hits);
	*recall = recall_estimate(
	    &estimate, request->papers, g_hash_table_size(request->hits));
	return true;
}
