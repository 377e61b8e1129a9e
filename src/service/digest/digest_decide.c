/*
 * digest_decide.c - whether a paper is in a subscriber's next digest, and if not, why.
 */
#include "service/digest/digest_decide.h"

#include <string.h>

#include "base/clock.h"
#include "model/digest.h"

void
digest_rules_free(struct digest_rules *rules)
{
	if (!rules)
		return;
	g_ptr_array_unref(rules->blocks);
	g_free(rules);
}

struct digest_rules *
digest_rules_load(
    struct digest_cache *cache, const struct subscriber *subscriber, GError **error)
{
	const int *choice = subscriber->preferences.choice;
	GPtrArray *blocks = digests_load_blocks(cache->store, subscriber->id, error);
	struct digest_rules *rules;

	if (!blocks)
		return NULL;
	rules = g_new0(struct digest_rules, 1);
	rules->blocks = blocks;
	rules->wants_crosslist =
	    choice[PREFERENCE_CROSSLIST] == PREFERENCE_CROSSLIST_ON;
	rules->wants_updates = choice[PREFERENCE_UPDATES] == PREFERENCE_UPDATES_ON;
	day_format(cache->now - DIGEST_ELIGIBLE_DAYS * (int64_t)CLOCK_DAY_S,
	    rules->oldest_day);
	return rules;
}

/*
 * A paper that was new before the filter's first day and has only been replaced since
 * is not new to the filter.
 */
static enum digest_outcome
check_match(const struct digest_rules *rules, const struct digest_cache_paper *paper,
    const struct candidate *match)
{
	const char *day =
	    paper->matching_day[rules->wants_crosslist][rules->wants_updates];

	if (strcmp(match->day, match->since_day) < 0)
		return DIGEST_OUTCOME_BEFORE_FILTER;
	if (strcmp(match->day, rules->oldest_day) < 0)
		return DIGEST_OUTCOME_TOO_OLD;
	if (strcmp(day, match->since_day) < 0 || strcmp(day, rules->oldest_day) < 0)
		return DIGEST_OUTCOME_UNWANTED;
	return DIGEST_OUTCOME_INCLUDED;
}

/*
 * Blocks are evaluated now and not at the time of the listing: votes change.  A paper
 * whose block needs the enrichment waits for a later digest.
 */
static void
check_blocks(struct digest_cache *cache, const struct digest_rules *rules,
    const struct digest_cache_paper *paper, struct digest_decision *decision)
{
	for (unsigned i = 0; i < rules->blocks->len; i++) {
		const struct candidate *block = rules->blocks->pdata[i];
		const struct query *query = digest_cache_get_query(cache, block);
		enum query_verdict verdict = QUERY_FALSE;

		if (query)
			verdict =
			    query_evaluate(query, paper->document, QUERY_AS_REPORTED);
		if (verdict == QUERY_TRUE) {
			*decision =
			    (struct digest_decision){DIGEST_OUTCOME_BLOCKED, block};
			return;
		}
		if (verdict == QUERY_UNKNOWN && paper->awaits_enrichment &&
		    !decision->block && query_needs_enrichment(query))
			*decision = (struct digest_decision){
			    DIGEST_OUTCOME_BLOCK_PENDING, block};
	}
}

bool
digest_decide(struct digest_cache *cache, const struct digest_rules *rules,
    const struct digest_matches *matches, GPtrArray *eligible,
    struct digest_decision *decision, GError **error)
{
	static const enum digest_outcome excluded[] = {
	    [DIGEST_EXCLUSION_DELIVERED] = DIGEST_OUTCOME_DELIVERED,
	    [DIGEST_EXCLUSION_IN_PROGRESS] = DIGEST_OUTCOME_IN_PROGRESS,
	    [DIGEST_EXCLUSION_REJECTED] = DIGEST_OUTCOME_REJECTED,
	};
	const struct digest_cache_paper *paper;
	guint before = eligible->len;

	decision->block = NULL;
	decision->outcome = excluded[matches->exclusion];
	if (matches->exclusion != DIGEST_EXCLUSION_NONE)
		return true;
	paper = digest_cache_get_paper(cache, matches->paper_seq, error);
	if (!paper)
		return false;
	decision->outcome = DIGEST_OUTCOME_NOT_MATCHED;
	for (unsigned i = 0; i < matches->count; i++) {
		enum digest_outcome outcome =
		    check_match(rules, paper, matches->candidates[i]);

		decision->outcome = MAX(decision->outcome, outcome);
		if (outcome == DIGEST_OUTCOME_INCLUDED)
			g_ptr_array_add(eligible, matches->candidates[i]);
	}
	if (decision->outcome == DIGEST_OUTCOME_INCLUDED)
		check_blocks(cache, rules, paper, decision);
	if (decision->outcome != DIGEST_OUTCOME_INCLUDED)
		g_ptr_array_set_size(eligible, (int)before);
	return true;
}
