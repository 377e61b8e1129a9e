/*
 * search.c - searches the archive for papers that match a query.
 */
#include "service/match/search.h"

#include <string.h>

#include "base/bounds.h"
#include "base/clock.h"
#include "base/day.h"
#include "base/error.h"
#include "base/msg.h"
#include "query/eval/fts_query.h"
#include "service/match/match.h"
#include "store/paper/archive.h"

/* A scan of candidates. */
struct scan {
	struct store *store;
	const struct query *query;
	int64_t now;
	search_found found;
	void *data;
};

static GPtrArray *
load_class(void *data, const char *folded, GError **error)
{
	return archive_load_class(data, folded, error);
}

static bool
decide(void *data, const struct stored_paper *stored, GError **error)
{
	struct scan *state = data;
	pb_auto(query_document) document =
	    match_make_document(state->store, stored, state->now, error);

	if (!document)
		return false;
	query_document_finalize(document, QUERY_FINALITY_ALL);
	if (query_evaluate(state->query, document, QUERY_AS_REPORTED) != QUERY_TRUE)
		return true;
	return state->found(state->data, stored, document, error);
}

bool
search_foreach(struct store *store, const struct query *query,
    const struct search_scope *scope, search_found found, void *data, bool *is_cut,
    GError **error)
{
	const struct term_frequencies lexicon = {load_class, store};
	struct scan state = {.store = store,
	    .query = query,
	    .now = scope->now,
	    .found = found,
	    .data = data};
	g_autofree char *expression = NULL;
	struct archive_scan scan = {
	    .oldest_day = scope->oldest_day,
	    .most = scope->most ? scope->most : BOUNDS_SEARCH_PAPERS,
	};
	bool is_more;

	if (!fts_query_format(query, &lexicon, &expression, error))
		return false;
	scan.match = expression;
	if (!archive_scan(store, &scan, decide, &state, &is_more, error))
		return false;
	if (is_cut)
		*is_cut = is_more;
	return true;
}

static void
search_result_free(void *data)
{
	struct search_result *result = data;

	stored_paper_free(result->stored);
	g_free(result->words);
	g_free(result);
}

void
search_answer_free(struct search_answer *answer)
{
	if (!answer)
		return;
	g_free(answer->canonical);
	g_clear_pointer(&answer->warnings, g_ptr_array_unref);
	g_clear_pointer(&answer->results, g_ptr_array_unref);
	g_free(answer);
}

/* The best results so far. */
struct ranking {
	struct store *store;
	const struct query *query;
	const struct rank *rank;
	int64_t now;
	unsigned limit;
	GPtrArray *results; /* of struct search_result *, best first */
	unsigned found;
	const char *const *texts;
};

static bool
is_better(const struct search_result *one, const struct search_result *other)
{
	int by_day;

	if (one->score != other->score)
		return one->score > other->score;
	by_day = strcmp(one->stored->day, other->stored->day);
	return by_day ? by_day > 0
	              : strcmp(one->stored->paper->id, other->stored->paper->id) > 0;
}

static bool
add_result(void *data, const struct stored_paper *stored,
    const struct query_document *document, GError **error)
{
	struct ranking *ranking = data;
	int64_t age_s = ranking->now - day_start(stored->day);
	struct search_result one = {.stored = (struct stored_paper *)stored};
	struct search_result *result;
	guint at = ranking->results->len;

	ranking->found++;
	one.score = rank_blend(rank_get_relevance(ranking->rank, document),
	    stored->paper->upvotes, MAX(age_s, 0) / CLOCK_DAY_S);
	while (at > 0 && is_better(&one, ranking->results->pdata[at - 1]))
		at--;
	if (at == ranking->limit)
		return true;
	result = g_new0(struct search_result, 1);
	result->score = one.score;
	result->words = query_explain_text(ranking->query, document, ranking->texts);
	g_ptr_array_insert(ranking->results, (int)at, result);
	if (ranking->results->len > ranking->limit)
		g_ptr_array_remove_index(ranking->results, ranking->limit);
	/* Load a copy: the scan reuses its row. */
	result->stored = papers_load(ranking->store, stored->seq, error);
	return result->stored != NULL;
}

static bool
count_word(
    void *data, const char *word, bool is_prefix, int64_t *papers, GError **error)
{
	return is_prefix ? archive_count_prefix(data, word, papers, error)
	                 : archive_count_class(data, word, papers, error);
}

struct rank *
search_make_rank(struct store *store, const struct query *query, GError **error)
{
	struct rank_corpus corpus = {.count = count_word, .data = store};
	struct archive_size size;

	if (!archive_load_size(store, &size, error))
		return NULL;
	corpus.papers = size.papers;
	corpus.title_words = size.title_words;
	corpus.abstract_words = size.abstract_words;
	return rank_new(query, &corpus, error);
}

static void
warn_of_relative_date(const struct query *query, int64_t now, GPtrArray *warnings)
{
	char day[DAY_BYTES];

	if (!query_has_relative_date(query))
		return;
	day_format(now - 7 * (int64_t)CLOCK_DAY_S, day);
	g_ptr_array_add(warnings, msg_new(MSG_NOTE_RELATIVE_DATE, "day", day, NULL));
}

struct search_answer *
search_run(struct store *store, const char *text, const struct search_scope *scope,
    unsigned limit, struct query_error *problem, GError **error)
{
	pb_auto(search_answer) answer = g_new0(struct search_answer, 1);
	pb_auto(query) query = NULL;
	pb_auto(rank) rank = NULL;
	struct ranking ranking = {
	    .store = store, .now = scope->now, .texts = scope->texts, .limit = limit};

	if (limit < 1 || limit > BOUNDS_SEARCH_RESULTS) {
		pb_fail(error, PB_ERROR_INPUT, "a search returns 1 to %d papers",
		    BOUNDS_SEARCH_RESULTS);
		return NULL;
	}
	query = query_parse(
	    text, store_get_tokenizer(store), &answer->warnings, problem, error);
	rank = query ? search_make_rank(store, query, error) : NULL;
	if (!rank)
		return NULL;
	answer->canonical = query_format(query);
	warn_of_relative_date(query, scope->now, answer->warnings);
	answer->results = g_ptr_array_new_with_free_func(search_result_free);
	ranking.query = query;
	ranking.rank = rank;
	ranking.results = answer->results;
	if (!search_foreach(
	        store, query, scope, add_result, &ranking, &answer->is_cut, error))
		return NULL;
	answer->found = ranking.found;
	return g_steal_pointer(&answer);
}
