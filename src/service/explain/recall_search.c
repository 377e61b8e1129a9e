/*
 * recall_search.c - estimates which part of the papers on its subject a filter finds in
 * the archive.
 */
#include "service/explain/recall_search.h"

#include "base/clock.h"
#include "base/day.h"
#include "query/taste/recall.h"
#include "store/paper/archive.h"
#include "store/paper/paper_values.h"

struct scoring {
	const struct recall_word *word;
	const GArray *values; /* of struct paper_value, by sequence number */
	int32_t oldest;       /* day of last listing, since the epoch */
	guint first;          /* paper of that day or later */
	GHashTable *sampled;  /* int64_t *, of the request */
	GArray *scores;       /* of double, by sequence number */
};

static void
add_weight(void *data, int64_t seq, void *row)
{
	struct scoring *scoring = data;
	const struct paper_value *value;

	(void)row;
	if (seq >= scoring->values->len)
		return;
	value = &g_array_index(scoring->values, struct paper_value, seq);
	if (value->day >= scoring->oldest)
		g_array_index(scoring->scores, double, seq) +=
		    g_hash_table_contains(scoring->sampled, &seq)
		        ? scoring->word->own_weight
		        : scoring->word->weight;
}

/* Words have letters and digits only, so that they need no escapes. */
static bool
score_word(struct store *store, struct scoring *scoring, GError **error)
{
	g_autoptr(GPtrArray) words =
	    archive_load_class(store, scoring->word->text, error);
	g_autofree char *joined = NULL, *match = NULL;

	if (!words || !words->len)
		return words != NULL;
	g_ptr_array_add(words, NULL);
	joined = g_strjoinv("\" OR \"", (char **)words->pdata);
	match = g_strdup_printf("{title abstract} : (\"%s\")", joined);
	return archive_find(store, match, scoring->first, add_weight, scoring, error);
}

/* Set all scores to 0. */
static bool
load_papers(struct store *store, const struct search_scope *scope,
    struct scoring *scoring, GError **error)
{
	const struct paper_values *all =
	    paper_values_load(store, PAPER_PART_DAYS, 0, error);

	if (!all)
		return false;
	scoring->values = all->values;
	if (scope->oldest_day)
		scoring->oldest = (int32_t)(day_start(scope->oldest_day) / CLOCK_DAY_S);
	while (scoring->first < scoring->values->len &&
	       g_array_index(scoring->values, struct paper_value, scoring->first).day <
	           scoring->oldest)
		scoring->first++;
	g_array_set_size(scoring->scores, scoring->values->len);
	return true;
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
	if (!load_papers(store, request->scope, &scoring, error))
		return false;
	recall_init(&estimate);
	recall_choose_words(&estimate, request->query, request->source,
	    (double)request->papers / MAX(request->source->papers, 1));
	for (guint i = 0; i < estimate.words->len; i++) {
		scoring.word = &g_array_index(estimate.words, struct recall_word, i);
		if (!score_word(store, &scoring, error))
			return false;
	}
	add_papers(&estimate, scores, request->hits);
	*recall = recall_estimate(
	    &estimate, request->papers, g_hash_table_size(request->hits));
	return true;
}
