/*
 * digest_decide.c - whether a paper is in a subscriber's next digest, and if not, why.
 */
#include "service/digest/digest_decide.h"

#include <string.h>

#include "base/clock.h"
#include "store/paper/paper_history.h"
#include "store/paper/works.h"
#include "store/subscriber/known.h"

void
digest_rules_free(struct digest_rules *rules)
{
	if (!rules)
		return;
	g_array_unref(rules->excluded);
	g_clear_pointer(&rules->delivered, g_hash_table_unref);
	g_clear_pointer(&rules->known, g_hash_table_unref);
	g_free(rules);
}

/* @return the index of the first filter of this subscriber or a later one */
static unsigned
find_subscriber(const GPtrArray *filters, int64_t subscriber_id)
{
	unsigned low = 0, high = filters->len;

	while (low < high) {
		unsigned middle = (low + high) / 2;
		const struct candidate_filter *filter = filters->pdata[middle];

		if (filter->subscriber_id < subscriber_id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct digest_rules *
digest_rules_load(struct digest_cache *cache, const struct subscriber *subscriber,
    const GPtrArray *filters, GError **error)
{
	const int *choice = subscriber->preferences.choice;
	struct candidate_previous *previous =
	    digest_cache_get_previous(cache, subscriber->id);
	unsigned first = find_subscriber(filters, subscriber->id);
	struct digest_rules *rules;

	if (!pb_error_forward(error, &previous->problem))
		return NULL;
	rules = g_new0(struct digest_rules, 1);
	rules->filters = filters->pdata + first;
	rules->filter_count = find_subscriber(filters, subscriber->id + 1) - first;
	rules->excluded = g_array_ref(previous->excluded);
	rules->wants_crosslist =
	    choice[PREFERENCE_CROSSLIST] == PREFERENCE_CROSSLIST_ON;
	rules->wants_updates = choice[PREFERENCE_UPDATES] == PREFERENCE_UPDATES_ON;
	rules->wants_records = choice[PREFERENCE_VERSIONS] == PREFERENCE_VERSIONS_ALL;
	rules->subscriber_id = subscriber->id;
	return rules;
}

static int
compare_candidates(gconstpointer a, gconstpointer b)
{
	const struct candidate *one = *(const struct candidate *const *)a;
	const struct candidate *other = *(const struct candidate *const *)b;

	if (one->paper == other->paper)
		return one->filter->number - other->filter->number;
	return listed_paper_compare(one->paper, other->paper);
}

GPtrArray *
digest_find_candidates(struct digest_cache *cache, const struct digest_rules *rules)
{
	g_autoptr(GPtrArray) candidates = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) papers = g_ptr_array_new();

	for (unsigned i = 0; i < rules->filter_count; i++) {
		const struct candidate_filter *filter = rules->filters[i];

		g_ptr_array_set_size(papers, 0);
		if (!filter->is_block)
			digest_cache_append_papers(
			    cache, filter->filter_id, filter->since_day, papers);
		for (unsigned j = 0; j < papers->len; j++) {
			const struct candidate candidate = {papers->pdata[j], filter};

			g_ptr_array_add(
			    candidates, g_memdup2(&candidate, sizeof(candidate)));
		}
	}
	g_ptr_array_sort(candidates, compare_candidates);
	return g_steal_pointer(&candidates);
}

/*
 * A paper that was new before the filter's first day and has only been replaced since
 * is not new to the filter.
 */
static enum digest_outcome
check_match(const struct digest_cache *cache, const struct digest_rules *rules,
    const struct digest_cache_paper *paper, const struct candidate *match)
{
	const char *day =
	    paper->matching_day[rules->wants_crosslist][rules->wants_updates];
	const char *since_day = match->filter->since_day;

	if (strcmp(match->paper->day, since_day) < 0)
		return DIGEST_OUTCOME_BEFORE_FILTER;
	if (strcmp(match->paper->day, cache->oldest_day) < 0)
		return DIGEST_OUTCOME_TOO_OLD;
	if (strcmp(day, since_day) < 0 || strcmp(day, cache->oldest_day) < 0)
		return DIGEST_OUTCOME_UNWANTED;
	return DIGEST_OUTCOME_INCLUDED;
}

/*
 * Blocks are evaluated now and not at the time of the listing: votes change.  A paper
 * whose block needs fields that are being looked up waits for a later digest.
 */
static bool
check_blocks(struct digest_cache *cache, const struct digest_rules *rules,
    const struct digest_cache_paper *paper, struct digest_decision *decision,
    GError **error)
{
	const struct query_document *document = NULL;

	for (unsigned i = 0; i < rules->filter_count; i++) {
		const struct candidate_filter *block = rules->filters[i];
		const struct query *query = NULL;
		enum query_verdict verdict = QUERY_FALSE;

		if (!block->is_block)
			continue;
		if (!document)
			document = digest_cache_get_document(cache, paper->seq, error);
		if (!document)
			return false;
		query = digest_cache_get_query(cache, block->filter_id);
		if (query)
			verdict = query_evaluate(query, document, QUERY_AS_REPORTED);
		if (verdict == QUERY_TRUE) {
			*decision = (struct digest_decision){
			    .outcome = DIGEST_OUTCOME_BLOCKED, .block = block};
			return true;
		}
		if (verdict == QUERY_UNKNOWN && !decision->block &&
		    paper->awaited & query_get_lookups(query))
			*decision = (struct digest_decision){
			    .outcome = DIGEST_OUTCOME_BLOCK_PENDING, .block = block};
	}
	return true;
}

/* Whether a paper was ever delivered, in that version or a later one. */
static bool
check_past(struct digest_cache *cache, struct digest_rules *rules, int64_t seq,
    int64_t replacement, bool *is_delivered, GError **error)
{
	const struct paper_history_delivery *delivery;

	if (!rules->delivered)
		rules->delivered = paper_history_load_deliveries(
		    cache->store, rules->subscriber_id, error);
	if (!rules->delivered)
		return false;
	delivery = g_hash_table_lookup(rules->delivered, &seq);
	*is_delivered = delivery && delivery->replacement >= replacement;
	return true;
}

/* Decide about a paper by the other records of its work. */
static bool
check_records(struct digest_cache *cache, struct digest_rules *rules,
    const struct listed_paper *listed, struct digest_decision *decision, GError **error)
{
	const GPtrArray *records = digest_cache_get_records(cache, listed->work, error);

	for (unsigned i = 0; records && i < records->len; i++) {
		const struct work_record *record = records->pdata[i];
		int64_t seq = record->seq;
		enum digest_exclusion exclusion =
		    candidates_find_exclusion(rules->excluded, seq, 0);
		bool is_excluded = exclusion == DIGEST_EXCLUSION_DELIVERED ||
		                   exclusion == DIGEST_EXCLUSION_IN_PROGRESS;

		if (seq == listed->seq)
			continue;
		if (!is_excluded &&
		    !check_past(cache, rules, seq, 0, &is_excluded, error))
			return false;
		if (!is_excluded)
			continue;
		decision->outcome = DIGEST_OUTCOME_RECORD;
		decision->record_id = record->id;
		return true;
	}
	return records != NULL;
}

/* Decide about a paper that would be included by all that was ever delivered. */
static bool
check_old(struct digest_cache *cache, struct digest_rules *rules,
    const struct digest_cache_paper *paper, const struct listed_paper *listed,
    struct digest_decision *decision, GError **error)
{
	bool is_delivered = false;

	if (paper->is_old &&
	    !check_past(cache, rules, listed->seq,
	        rules->wants_updates ? listed->replacement : 0, &is_delivered, error))
		return false;
	if (is_delivered)
		decision->outcome = DIGEST_OUTCOME_DELIVERED;
	return is_delivered || !listed->work || rules->wants_records ||
	       check_records(cache, rules, listed, decision, error);
}

/* Decide about a paper that would be included by what the subscriber knows. */
static bool
check_known(struct digest_cache *cache, struct digest_rules *rules,
    const struct listed_paper *listed, struct digest_decision *decision, GError **error)
{
	int64_t work = listed->work ? listed->work : listed->seq;

	if (!digest_cache_get_previous(cache, rules->subscriber_id)->has_known)
		return true;
	if (!rules->known)
		rules->known =
		    known_load_works(cache->store, rules->subscriber_id, error);
	if (rules->known && g_hash_table_contains(rules->known, &work))
		decision->outcome = DIGEST_OUTCOME_KNOWN;
	return rules->known != NULL;
}

bool
digest_decide(struct digest_cache *cache, struct digest_rules *rules,
    const struct digest_matches *matches, GPtrArray *eligible,
    struct digest_decision *decision, GError **error)
{
	static const enum digest_outcome excluded[] = {
	    [DIGEST_EXCLUSION_DELIVERED] = DIGEST_OUTCOME_DELIVERED,
	    [DIGEST_EXCLUSION_IN_PROGRESS] = DIGEST_OUTCOME_IN_PROGRESS,
	    [DIGEST_EXCLUSION_REJECTED] = DIGEST_OUTCOME_REJECTED,
	};
	const struct listed_paper *listed = matches->paper;
	enum digest_exclusion exclusion = candidates_find_exclusion(rules->excluded,
	    listed->seq, rules->wants_updates ? listed->replacement : 0);
	const struct digest_cache_paper *paper;
	guint before = eligible->len;

	decision->block = NULL;
	decision->outcome = excluded[exclusion];
	if (exclusion != DIGEST_EXCLUSION_NONE)
		return true;
	paper = digest_cache_get_paper(cache, listed->seq, error);
	if (!paper)
		return false;
	decision->outcome = DIGEST_OUTCOME_NOT_MATCHED;
	for (unsigned i = 0; i < matches->count; i++) {
		enum digest_outcome outcome =
		    check_match(cache, rules, paper, matches->candidates[i]);

		decision->outcome = MAX(decision->outcome, outcome);
		if (outcome == DIGEST_OUTCOME_INCLUDED)
			g_ptr_array_add(eligible, matches->candidates[i]);
	}
	if (decision->outcome == DIGEST_OUTCOME_INCLUDED &&
	    !check_blocks(cache, rules, paper, decision, error))
		return false;
	if (decision->outcome == DIGEST_OUTCOME_INCLUDED &&
	    !check_known(cache, rules, listed, decision, error))
		return false;
	if (decision->outcome == DIGEST_OUTCOME_INCLUDED &&
	    !check_old(cache, rules, paper, listed, decision, error))
		return false;
	if (decision->outcome != DIGEST_OUTCOME_INCLUDED)
		g_ptr_array_set_size(eligible, (int)before);
	return true;
}
