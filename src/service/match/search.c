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
#include "query/eval/clause_match.h"
#include "query/eval/fts_query.h"
#include "service/match/clause_papers.h"
#include "service/match/corpus.h"
#include "service/match/lookup.h"
#include "store/paper/archive.h"
#include "store/paper/archive_cache.h"

/* Maximum number of papers that were listed again, to be read one by one. */
#define SINGLES_MAX 100

/* Papers of which the values are read in the time of those of one paper alone. */
#define PAPERS_PER_SELECTED 100

/* Day before which papers are skipped. */
static int32_t
get_oldest(const struct search_scope *scope)
{
	return scope->oldest_day ? (int32_t)(day_start(scope->oldest_day) / CLOCK_DAY_S)
	                         : PAPER_VALUE_NONE + 1;
}

static GPtrArray *
load_class(void *data, const char *folded, GError **error)
{
	return archive_load_class(data, folded, error);
}

/* Whether few papers match the expression at most. @param seqs  set to these */
static bool
is_selective(struct store *archive, const struct fts_query *fts,
    const struct paper_values *values, GArray **seqs, GError **error)
{
	unsigned most = values->values->len / PAPERS_PER_SELECTED;

	if (!fts->is_required || !fts->expression || fts->has_prefix)
		return false;
	*seqs = archive_load_matches(archive, fts->expression, most + 1, error);
	return !*seqs || (*seqs)->len <= most;
}

/* Load the votes, days and lengths of all papers, or at least of those that may match.
 */
static const struct paper_values *
load_values(struct store *archive, const struct search_scope *scope, bool is_ranked,
    const struct fts_query *fts, GError **error)
{
	const unsigned parts =
	    PAPER_PART_DAYS | (is_ranked && fts->expression ? PAPER_PART_WORDS : 0);
	const struct paper_values *values = paper_values_load(archive, 0, 0, error);
	g_autoptr(GArray) seqs = NULL;

	if (!values || !(parts & ~values->parts))
		return values;
	if (scope->oldest_day && !is_ranked)
		return paper_values_load_since(archive, get_oldest(scope), error);
	if (!scope->oldest_day && is_selective(archive, fts, values, &seqs, error))
		return seqs ? paper_values_load_some(archive, seqs, error) : NULL;
	return paper_values_load(archive, parts, 0, error);
}

/*
 * Begin a lookup, in a transaction.
 *
 * @param few  number of papers that may be read one by one; 0: they are ranked
 */
static bool
begin_lookup(struct store *archive, const struct search_scope *scope, unsigned few,
    struct fts_query *fts, struct lookup *lookup, GError **error)
{
	const struct paper_values *values =
	    load_values(archive, scope, few == 0, fts, error);
	int32_t oldest = get_oldest(scope);
	guint first = values ? paper_values_find_first(values, oldest, few) : 0;

	if (!values || !clause_papers_load(archive, oldest, first, fts, error))
		return false;
	lookup_init(lookup, fts, oldest, first, scope->now);
	return true;
}

static struct fts_query *
make_fts_query(struct store *store, const struct query *query, GError **error)
{
	const struct term_frequencies lexicon = {load_class, store};

	return fts_query_new(query, &lexicon, error);
}

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

/* The clauses of a candidate that its texts decide. */
struct decision {
	struct lookup *lookup;
	struct candidate *candidate;
	const struct tokenizer *tokenizer;
	const char *const *texts; /* by enum hit_field */
};

/* As fts_decide. */
static enum query_verdict
decide_clause(const void *data, const struct node *node)
{
	const struct decision *decision = data;

	return clause_match(node, decision->texts, decision->tokenizer);
}

static void
decide_by_texts(void *data, const char *const texts[ARCHIVE_COLUMNS])
{
	struct decision *decision = data;
	struct candidate *candidate = decision->candidate;

	decision->texts = texts;
	candidate->verdict = fts_query_decide(
	    decision->lookup->fts, candidate->found, decide_clause, decision);
	if (decision->lookup->rank && candidate->verdict == QUERY_TRUE)
		candidate->bound = MIN(candidate->bound,
		    lookup_compute_bound(decision->lookup, candidate, texts));
}

/* Evaluate a query for a candidate that the index does not decide. */
static bool
decide(struct search_match *match, const struct query *query, struct lookup *lookup,
    struct candidate *candidate, GError **error)
{
	struct decision decision = {.lookup = lookup,
	    .candidate = candidate,
	    .tokenizer = store_get_tokenizer(match->store)};

	if (!candidate->is_single &&
	    !archive_read(match->store, match->seq, decide_by_texts, &decision, error))
		return false;
	if (candidate->verdict == QUERY_UNKNOWN) {
		if (!search_match_load(match, error))
			return false;
		candidate->verdict =
		    query_evaluate(query, match->document, QUERY_AS_REPORTED);
	}
	return true;
}

/* Whether a paper is one of these. @param next  position; papers come newest first */
static bool
is_among(const GArray *seqs, guint *next, int64_t seq)
{
	while (*next < seqs->len && g_array_index(seqs, int64_t, *next) > seq)
		++*next;
	return *next < seqs->len && g_array_index(seqs, int64_t, *next) == seq;
}

bool
search_foreach(struct store *store, const struct query *query,
    const struct search_scope *scope, search_found found, void *data, bool *is_cut,
    GError **error)
{
	struct store *archive = archive_cache_refresh(store, error);
	pb_auto(fts_query) fts = archive ? make_fts_query(archive, query, error) : NULL;
	pb_local(lookup) lookup = {0};
	unsigned left = scope->most ? scope->most : BOUNDS_SEARCH_PAPERS;
	pb_snapshot snapshot = {0};
	guint next = 0;

	if (!fts || !store_begin_reading(archive, &snapshot, error) ||
	    !begin_lookup(archive, scope, SINGLES_MAX, fts, &lookup, error) ||
	    !lookup_run(&lookup, archive, error))
		return false;
	if (is_cut)
		*is_cut = false;
	for (guint i = lookup.candidates->len; i-- > 0;) {
		struct candidate *candidate =
		    &g_array_index(lookup.candidates, struct candidate, i);
		bool is_unknown = candidate->verdict == QUERY_UNKNOWN;
		pb_local(search_match) match = {.store = archive,
		    .seq = candidate->seq,
		    .upvotes = lookup.values[candidate->seq].upvotes};

		if (scope->only && !is_among(scope->only, &next, candidate->seq))
			continue;
		if (is_unknown && !candidate->is_single && left-- == 0) {
			if (is_cut)
				*is_cut = true;
			return true;
		}
		day_format(candidate->day * (int64_t)CLOCK_DAY_S, match.day);
		if (is_unknown && !decide(&match, query, &lookup, candidate, error))
			return false;
		if (candidate->verdict == QUERY_TRUE && !found(data, &match, error))
			return false;
	}
	return true;
}

/* ---- the best matches ---- */

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
	return by_day ? by_day > 0
	              : strcmp(one->stored->paper->id, other->stored->paper->id) > 0;
}

/* State of a search. */
struct search {
	struct store *store;
	const struct query *query;
	const struct search_scope *scope;
	struct lookup lookup;
	struct search_answer *answer;
};

/* Add a match, unless all results are better. */
static void
add_result(struct search *search, struct search_match *match)
{
	const struct stored_paper *stored = match->stored;
	int64_t day = day_start(stored->day) / CLOCK_DAY_S;
	GPtrArray *results = search->answer->results;
	struct search_result one = {.stored = match->stored};
	struct search_result *result;
	guint at = results->len;

	one.score = rank_blend(rank_get_relevance(search->lookup.rank, match->document),
	    stored->paper->upvotes, lookup_get_age_days(search->scope->now, day));
	while (at > 0 && is_better(&one, results->pdata[at - 1]))
		at--;
	if (at == search->lookup.limit)
		return;
	result = g_new0(struct search_result, 1);
	result->score = one.score;
	result->stored = g_steal_pointer(&match->stored);
	result->words =
	    query_explain_text(search->query, match->document, search->scope->texts);
	g_ptr_array_insert(results, (int)at, result);
	if (results->len > search->lookup.limit)
		g_ptr_array_remove_index(results, search->lookup.limit);
}

/* Whether the results are better than all candidates with a bound. */
static bool
is_done(const struct search *search, double bound)
{
	const GPtrArray *results = search->answer->results;
	const struct search_result *last =
	    results->len == search->lookup.limit
	        ? results->pdata[search->lookup.limit - 1]
	        : NULL;

	return last && last->score > bound;
}

/* A candidate in a heap by bounds: most are never sorted. */
struct entry {
	double bound;
	guint candidate; /* index; those that follow have greater seqs */
};

static bool
is_above(const struct entry *one, const struct entry *other)
{
	return one->bound != other->bound ? one->bound > other->bound
	                                  : one->candidate > other->candidate;
}

/* Sift an entry of a heap down. */
static void
sift(struct entry *heap, guint len, guint at)
{
	const struct entry moved = heap[at];
	guint below;

	while ((below = 2 * at + 1) < len) {
		below += below + 1 < len && is_above(&heap[below + 1], &heap[below]);
		if (!is_above(&heap[below], &moved))
			break;
		heap[at] = heap[below];
		at = below;
	}
	heap[at] = moved;
}

static struct entry *
make_heap(const GArray *candidates)
{
	struct entry *heap = g_new(struct entry, candidates->len);

	for (guint i = 0; i < candidates->len; i++)
		heap[i] = (struct entry){
		    g_array_index(candidates, struct candidate, i).bound, i};
	for (guint i = candidates->len / 2; i-- > 0;)
		sift(heap, candidates->len, i);
	return heap;
}

/*
 * Evaluate a candidate: decide about it, which may lower its bound, or else add it to
 * the results.
 */
static bool
evaluate(struct search *search, struct candidate *candidate, GError **error)
{
	pb_local(search_match) match = {.store = search->store, .seq = candidate->seq};

	if (candidate->verdict == QUERY_UNKNOWN) {
		candidate->is_decided = true;
		if (!decide(&match, search->query, &search->lookup, candidate, error))
			return false;
		search->lookup.unknown--;
		search->lookup.matches += candidate->verdict == QUERY_TRUE;
		return true;
	}
	candidate->verdict = QUERY_FALSE;
	if (is_done(search, candidate->bound))
		return true;
	if (!search_match_load(&match, error))
		return false;
	add_result(search, &match);
	return true;
}

/* Evaluate the candidates in order of their bounds. */
static bool
rank_candidates(struct search *search, GError **error)
{
	struct search_answer *answer = search->answer;
	GArray *candidates = search->lookup.candidates;
	g_autofree struct entry *heap = make_heap(candidates);
	unsigned most =
	    search->scope->most ? search->scope->most : BOUNDS_SEARCH_PAPERS;
	bool wants_all = lookup_wants_all(&search->lookup);
	guint left = candidates->len;

	while (left && (wants_all || !is_done(search, heap[0].bound))) {
		struct candidate *first =
		    &g_array_index(candidates, struct candidate, heap[0].candidate);

		answer->is_cut = !first->is_decided && most-- == 0;
		if (answer->is_cut)
			break;
		if (!evaluate(search, first, error))
			return false;
		heap[0].bound = first->bound;
		if (first->verdict == QUERY_FALSE)
			heap[0] = heap[--left];
		sift(heap, left, 0);
	}
	answer->found = search->lookup.matches;
	answer->is_more = search->lookup.unknown > 0;
	return true;
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

static bool
run(struct search *search, const struct rank *rank, unsigned limit, GError **error)
{
	pb_auto(fts_query) fts = make_fts_query(search->store, search->query, error);
	pb_snapshot snapshot = {0};
	bool is_ok;

	if (!fts || !store_begin_reading(search->store, &snapshot, error) ||
	    !begin_lookup(search->store, search->scope, 0, fts, &search->lookup, error))
		return false;
	lookup_set_rank(&search->lookup, rank, limit);
	is_ok = lookup_run(&search->lookup, search->store, error) &&
	        rank_candidates(search, error);
	lookup_clear(&search->lookup);
	return is_ok;
}

struct search_answer *
search_run(struct store *store, const char *text, const struct search_scope *scope,
    unsigned limit, struct query_error *problem, GError **error)
{
	pb_auto(search_answer) answer = g_new0(struct search_answer, 1);
	pb_auto(query) query = NULL;
	pb_auto(corpus) corpus = NULL;
	pb_auto(rank) rank = NULL;
	struct search search = {.store = archive_cache_refresh(store, error),
	    .scope = scope,
	    .answer = answer};

	if (!search.store)
		return NULL;
	if (limit < 1 || limit > BOUNDS_SEARCH_RESULTS) {
		pb_fail(error, PB_ERROR_INPUT, "a search returns 1 to %d papers",
		    BOUNDS_SEARCH_RESULTS);
		return NULL;
	}
	query = query_parse(
	    text, store_get_tokenizer(search.store), &answer->warnings, problem, error);
	corpus = query ? corpus_new(search.store, error) : NULL;
	rank = corpus ? corpus_make_rank(corpus, query, error) : NULL;
	if (!rank)
		return NULL;
	answer->canonical = query_format(query);
	warn_of_relative_date(query, scope->now, answer->warnings);
	answer->results = g_ptr_array_new_with_free_func(search_result_free);
	search.query = query;
	return run(&search, rank, limit, error) ? g_steal_pointer(&answer) : NULL;
}
