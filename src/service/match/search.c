/*
 * search.c - searches the archive for papers that match a query.
 */
#include "service/match/search.h"

#include <string.h>

#include "base/bounds.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/msg.h"
#include "service/match/corpus.h"
#include "store/paper/archive.h"
#include "store/paper/archive_cache.h"

/* ---- all matches ---- */

void
search_match_clear(struct search_match *match)
{
	g_clear_pointer(&match->document, query_document_free);
	g_clear_pointer(&match->stored, stored_paper_free);
}

bool
search_match_load(struct search_match *match, GError **error)
{
	char first_day[DAY_BYTES];

	if (match->document)
		return true;
	match->stored = papers_load(match->store, match->seq, error);
	if (!match->stored)
		return false;
	day_format(match->stored->first_seen_at, first_day);
	match->document = query_document_new(
	    match->stored->paper, first_day, store_get_tokenizer(match->store), error);
	if (!match->document)
		return false;
	query_document_finalize(match->document, QUERY_FINALITY_ALL);
	return true;
}

/*
 * Decide about a candidate.
 *
 * @param is_match  in: whether FTS5 has decided "yes"; out: the verdict
 */
static bool
decide(struct search_match *match, const struct query *query, bool *is_match,
    GError **error)
{
	if (*is_match)
		return true;
	if (!search_match_load(match, error))
		return false;
	*is_match =
	    query_evaluate(query, match->document, QUERY_AS_REPORTED) == QUERY_TRUE;
	return true;
}

/* Remove candidates that are not in a list; both have the newest first. */
static void
keep_only(GArray *candidates, const GArray *seqs)
{
	guint next = 0, kept = 0;

	for (guint i = 0; i < candidates->len; i++) {
		const struct archive_candidate one =
		    g_array_index(candidates, struct archive_candidate, i);

		while (next < seqs->len && g_array_index(seqs, int64_t, next) > one.seq)
			next++;
		if (next < seqs->len && g_array_index(seqs, int64_t, next) == one.seq)
			g_array_index(candidates, struct archive_candidate, kept++) =
			    one;
	}
	g_array_set_size(candidates, kept);
}

bool
search_foreach(struct store *store, const struct query *query,
    const struct search_scope *scope, search_found found, void *data, unsigned *step,
    GError **error)
{
	struct store *archive = archive_cache_refresh(store, error);
	pb_auto(fts_query) fts = fts_query_new(query);
	const struct archive_selection selection = {
	    .fts = fts, .oldest_day = scope->oldest_day};
	g_autoptr(GArray) candidates = NULL;
	pb_snapshot snapshot = {0};
	guint distance = 1;

	if (!archive || !store_begin_reading(archive, &snapshot, error))
		return false;
	candidates = archive_find_newest(archive, &selection, error);
	if (!candidates)
		return false;
	if (scope->only)
		keep_only(candidates, scope->only);
	if (!fts->is_match && scope->sample)
		distance =
		    MAX(1, (candidates->len + scope->sample - 1) / scope->sample);
	if (step)
		*step = distance;
	for (guint i = 0; i < candidates->len; i += distance) {
		const struct archive_candidate *candidate =
		    &g_array_index(candidates, struct archive_candidate, i);
		pb_local(search_match)
		    match = {.store = archive, .seq = candidate->seq};
		bool is_match = fts->is_match;

		g_strlcpy(match.day, candidate->day, sizeof(match.day));
		if (!decide(&match, query, &is_match, error) ||
		    (is_match && !found(data, &match, error)))
			return false;
	}
	return true;
}

/* ---- the best matches ---- */

/* Number of candidates read beyond the limit of a search: of several records of a work
 * only the best is shown.  With more such records the search shows fewer papers. */
#define EXTRA_RECORDS 20

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

static bool
is_better(const struct search_result *one, const struct search_result *other)
{
	int by_day;

	if (one->score != other->score)
		return one->score > other->score;
	by_day = strcmp(one->stored->day, other->stored->day);
	return by_day ? by_day > 0 : one->stored->seq > other->stored->seq;
}

/* State of a search. */
struct search {
	const struct query *query;
	const struct rank *rank;
	const struct search_scope *scope;
	unsigned limit;
	GHashTable *works; /* of which there is a result */
	unsigned repeated; /* other records of these */
	struct search_answer *answer;
};

/* Add a match, unless all results are better. */
static void
add_result(struct search *search, struct search_match *match)
{
	const struct stored_paper *stored = match->stored;
	int64_t age_s = MAX(search->scope->now - day_start(stored->day), 0);
	GPtrArray *results = search->answer->results;
	struct search_result one = {.stored = match->stored};
	struct search_result *result;
	guint at = results->len;

	one.score = rank_blend(rank_get_relevance(search->rank, match->document),
	    stored->paper->upvotes, age_s / CLOCK_DAY_S);
	while (at > 0 && is_better(&one, results->pdata[at - 1]))
		at--;
	if (at == search->limit)
		return;
	result = g_new0(struct search_result, 1);
	result->score = one.score;
	result->stored = g_steal_pointer(&match->stored);
	result->words =
	    query_explain_text(search->query, match->document, search->scope->po);
	g_ptr_array_insert(results, (int)at, result);
	if (results->len > search->limit)
		g_ptr_array_remove_index(results, search->limit);
}

/* Whether another record of the same work was found before. */
static bool
is_repeated(struct search *search, const struct stored_paper *stored)
{
	if (!stored->work ||
	    g_hash_table_add(search->works, g_memdup2(&stored->work, sizeof(int64_t))))
		return false;
	search->repeated++;
	return true;
}

/* Read the candidates, best first, until enough match. */
static bool
read_candidates(struct search *search, struct store *archive, const GArray *candidates,
    bool is_match, GError **error)
{
	struct search_answer *answer = search->answer;

	for (guint i = 0; i < candidates->len && answer->found < BOUNDS_SEARCH_COUNTED;
	     i++) {
		pb_local(search_match) match = {.store = archive,
		    .seq = g_array_index(candidates, struct archive_candidate, i).seq};
		bool is_found = is_match;

		if (!decide(&match, search->query, &is_found, error))
			return false;
		if (!is_found)
			continue;
		if (!search_match_load(&match, error))
			return false;
		if (is_repeated(search, match.stored))
			continue;
		answer->found++;
		add_result(search, &match);
	}
	answer->is_more = answer->found == BOUNDS_SEARCH_COUNTED ||
	                  candidates->len == BOUNDS_SEARCH_EVALUATED;
	answer->is_cut = answer->is_more && answer->found < BOUNDS_SEARCH_COUNTED;
	return true;
}

static bool
run(struct search *search, struct store *archive, GError **error)
{
	struct search_answer *answer = search->answer;
	pb_auto(fts_query) fts = fts_query_new(search->query);
	const struct archive_selection selection = {.fts = fts,
	    .oldest_day = search->scope->oldest_day,
	    .rank = search->rank,
	    .now = search->scope->now,
	    .limit = fts->is_match ? search->limit + EXTRA_RECORDS
	                           : BOUNDS_SEARCH_EVALUATED};
	g_autoptr(GArray) candidates = NULL;
	pb_snapshot snapshot = {0};
	int64_t found;

	if (!store_begin_reading(archive, &snapshot, error))
		return false;
	candidates = archive_find_best(archive, &selection, &found, error);
	if (!candidates ||
	    !read_candidates(search, archive, candidates, fts->is_match, error))
		return false;
	if (fts->is_match)
		answer->found = (unsigned)found - search->repeated;
	return true;
}

static void
warn_of_relative_date(const struct query *query, int64_t now, GPtrArray *warnings)
{
	char day[DAY_BYTES];

	if (!query_has_relative_date(query))
		return;
	day_format(now - 7 * (int64_t)CLOCK_DAY_S, day);
	g_ptr_array_add(warnings,
	    msg_new(N_("a relative date is measured from the day on which a paper was "
	               "first seen; for the last week write date:{day}.."),
	        "day", day, NULL));
}

struct search_answer *
search_run(struct store *store, const char *text, const struct search_scope *scope,
    unsigned limit, struct query_error *problem, GError **error)
{
	struct store *archive = archive_cache_refresh(store, error);
	pb_auto(search_answer) answer = g_new0(struct search_answer, 1);
	pb_auto(query) query = NULL;
	pb_auto(corpus) corpus = NULL;
	pb_auto(rank) rank = NULL;
	g_autoptr(GHashTable) works = NULL;
	struct search search = {.scope = scope, .limit = limit, .answer = answer};

	if (!archive)
		return NULL;
	if (limit < 1 || limit > BOUNDS_SEARCH_RESULTS) {
		pb_fail(error, PB_ERROR_INPUT, "a search returns 1 to %d papers",
		    BOUNDS_SEARCH_RESULTS);
		return NULL;
	}
	query = query_parse(
	    text, store_get_tokenizer(archive), &answer->warnings, problem, error);
	corpus = query ? corpus_new(archive, error) : NULL;
	rank = corpus ? corpus_make_rank(corpus, query, error) : NULL;
	if (!rank)
		return NULL;
	answer->canonical = query_format(query);
	warn_of_relative_date(query, scope->now, answer->warnings);
	answer->results = g_ptr_array_new_with_free_func(search_result_free);
	search.query = query;
	search.rank = rank;
	works = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	search.works = works;
	return run(&search, archive, error) ? g_steal_pointer(&answer) : NULL;
}
