/*
 * lookup.c - collects the papers of the archive that may match a query.
 */
#include "service/match/lookup.h"

#include <string.h>

#include "base/clock.h"
#include "query/parse/tree.h"
#include "service/match/lookup_clauses.h"
#include "store/paper/archive.h"

/* Candidates of which all are evaluated. */
#define COUNTED_MAX 300

int64_t
lookup_get_age_days(int64_t now, int64_t day)
{
	return MAX(now - day * CLOCK_DAY_S, 0) / CLOCK_DAY_S;
}

double
lookup_blend(struct lookup *lookup, double relevance, const struct paper_value *value)
{
	int64_t age_days = lookup_get_age_days(lookup->now, value->day);
	int64_t upvotes = MAX(value->upvotes, 0);

	if (age_days >= LOOKUP_AGES || upvotes >= LOOKUP_VOTES)
		return rank_blend(relevance, upvotes, age_days);
	if (lookup->ages[age_days] <= 0)
		lookup->ages[age_days] = rank_get_age_factor(age_days);
	if (lookup->votes[upvotes] <= 0)
		lookup->votes[upvotes] = rank_get_votes_factor(upvotes);
	return relevance * lookup->votes[upvotes] * lookup->ages[age_days];
}

double
lookup_get_threshold(const struct lookup *lookup)
{
	return lookup->best->len < lookup->limit
	           ? 0
	           : g_array_index(lookup->best, struct lookup_best, lookup->limit - 1)
	                 .score;
}

void
lookup_add_best(struct lookup *lookup, int64_t seq, double score)
{
	const struct lookup_best fresh = {score, seq};
	guint at;

	for (guint i = 0; i < lookup->best->len; i++)
		if (g_array_index(lookup->best, struct lookup_best, i).seq == seq) {
			g_array_remove_index(lookup->best, i);
			break;
		}
	at = lookup->best->len;
	while (at > 0 &&
	       g_array_index(lookup->best, struct lookup_best, at - 1).score < score)
		at--;
	g_array_insert_val(lookup->best, at, fresh);
	if (lookup->best->len > lookup->limit)
		g_array_set_size(lookup->best, lookup->limit);
}

/* @return the exact text of a word of the clause, or NULL */
static const char *
find_exact_word(const struct node *node)
{
	const char *exact = NULL;

	for (guint i = 0; node->kind == NODE_WORDS && i < node->phrase->words->len; i++)
		if (phrase_get_word(node->phrase, i)->exact_text)
			exact = phrase_get_word(node->phrase, i)->exact_text;
	return exact;
}

bool
lookup_has_exact_words(const struct node *node)
{
	return find_exact_word(node) != NULL;
}

/* Words do not overlap: it occurs at most so often. */
static unsigned
count_text(const char *text, const char *wanted)
{
	unsigned count = 0;

	for (const char *at = text; (at = strstr(at, wanted)); at += strlen(wanted))
		count++;
	return count;
}

double
lookup_compute_bound(struct lookup *lookup, const struct candidate *candidate,
    const char *const texts[2])
{
	const struct paper_value *value = &lookup->values[candidate->seq];
	const unsigned words[] = {value->words[0], value->words[1]};
	double relevance = candidate->others;

	for (guint i = 0; i < lookup->fts->clauses->len; i++) {
		const struct node *node =
		    g_array_index(lookup->fts->clauses, struct fts_clause, i).node;
		const char *exact = find_exact_word(node);
		struct rank_hits hits = {0};

		for (unsigned text = 0; exact && text < 2; text++)
			if (node->field->texts & 1U << text)
				hits.texts[text] = count_text(texts[text], exact);
		relevance += rank_compute_clause(lookup->rank, i, &hits, words);
	}
	return lookup_blend(lookup, relevance * LOOKUP_ROUNDING, value);
}

void
lookup_count(struct lookup *lookup, enum query_verdict verdict)
{
	lookup->matches += verdict == QUERY_TRUE;
	lookup->unknown += verdict == QUERY_UNKNOWN;
}

bool
lookup_wants_all(const struct lookup *lookup)
{
	return lookup->unknown && lookup->matches + lookup->unknown <= COUNTED_MAX;
}

/* The relevance of the clauses without =word. */
static double
compute_others(const struct lookup *lookup, const unsigned words[2])
{
	double relevance = 0;

	for (guint i = 0; i < lookup->fts->clauses->len; i++)
		if (!lookup_has_exact_words(
		        g_array_index(lookup->fts->clauses, struct fts_clause, i).node))
			relevance += rank_compute_clause(
			    lookup->rank, i, &lookup->hits[i], words);
	return relevance;
}

static void
classify(struct lookup *lookup, int64_t seq, const struct paper_value *value, void *row)
{
	const struct fts_paper known = {.seq = seq,
	    .count = archive_count_places,
	    .list = archive_list_places,
	    .row = row};
	const unsigned words[] = {value->words[0], value->words[1]};
	struct candidate candidate = {.seq = seq, .day = value->day};

	candidate.verdict =
	    fts_query_classify(lookup->fts, &known, lookup->hits, &candidate.found);
	if (candidate.verdict == QUERY_FALSE)
		return;
	lookup_count(lookup, candidate.verdict);
	if (lookup->rank) {
		candidate.bound = lookup_blend(
		    lookup, rank_compute(lookup->rank, lookup->hits, words), value);
		if (candidate.bound < lookup_get_threshold(lookup))
			return;
		if (lookup->is_exact)
			lookup_add_best(lookup, seq, candidate.bound);
		else
			candidate.others = compute_others(lookup, words);
	}
	g_array_append_val(lookup->candidates, candidate);
}

/* Classify papers that the expression does not match, up to one. */
static void
classify_others(struct lookup *lookup, int64_t end)
{
	for (; lookup->next < end; lookup->next++) {
		const struct paper_value *value = &lookup->values[lookup->next];

		if (value->day >= lookup->oldest)
			classify(lookup, lookup->next, value, NULL);
	}
}

/* Count the clauses only until a paper cannot be among the results. */
static bool
may_be_best(
    struct lookup *lookup, int64_t seq, const struct paper_value *value, void *row)
{
	const struct fts_paper known = {.seq = seq,
	    .count = archive_count_places,
	    .list = archive_list_places,
	    .row = row};
	const unsigned words[] = {value->words[0], value->words[1]};
	double threshold = lookup_get_threshold(lookup), relevance = 0;

	for (guint i = 0; threshold > 0 && i < lookup->caps->len; i++) {
		const struct lookup_cap *cap =
		    &g_array_index(lookup->caps, struct lookup_cap, i);
		struct rank_hits hits;

		if (lookup_blend(lookup, (relevance + cap->rest) * LOOKUP_ROUNDING,
		        value) < threshold)
			return false;
		fts_query_count_clause(&g_array_index(lookup->fts->clauses,
		                           struct fts_clause, cap->clause),
		    &known, &hits);
		relevance +=
		    rank_compute_clause(lookup->rank, cap->clause, &hits, words);
	}
	return true;
}

static void
add_row(void *data, int64_t seq, void *row)
{
	struct lookup *lookup = data;
	const struct paper_value *value;

	if (seq < 0 || seq >= lookup->papers)
		return;
	value = &lookup->values[seq];
	if (value->day < lookup->oldest)
		return;
	if (!lookup->fts->is_required) {
		classify_others(lookup, seq);
		lookup->next = (guint)seq + 1;
	}
	if (lookup->fts->is_match && lookup->rank &&
	    !may_be_best(lookup, seq, value, row))
		lookup->matches++;
	else
		classify(lookup, seq, value, row);
}

void
lookup_init(struct lookup *lookup, const struct fts_query *fts, int32_t oldest,
    guint first, int64_t now)
{
	*lookup = (struct lookup){
	    .fts = fts,
	    .is_exact = fts_query_is_exact(fts),
	    .now = now,
	    .oldest = oldest,
	    .next = first,
	    .hits = g_new(struct rank_hits, fts->clauses->len),
	    .candidates = g_array_new(FALSE, FALSE, sizeof(struct candidate)),
	    .best = g_array_new(FALSE, FALSE, sizeof(struct lookup_best)),
	    .caps = g_array_new(FALSE, FALSE, sizeof(struct lookup_cap)),
	    .ages = g_new0(double, LOOKUP_AGES),
	};
}

void
lookup_clear(struct lookup *lookup)
{
	if (!lookup->fts)
		return;
	g_free(lookup->hits);
	g_free(lookup->ages);
	g_array_unref(lookup->candidates);
	g_array_unref(lookup->best);
	g_array_unref(lookup->caps);
}

static int
compare_caps(const void *a, const void *b)
{
	const struct lookup_cap *left = a, *right = b;

	return (left->most < right->most) - (left->most > right->most);
}

void
lookup_set_rank(struct lookup *lookup, const struct rank *rank, unsigned limit)
{
	static const struct rank_hits unknown = {
	    {RANK_HITS_UNKNOWN, RANK_HITS_UNKNOWN}};
	static const unsigned words[] = {0, 0};
	double rest = 0;

	lookup->rank = rank;
	lookup->limit = limit;
	for (guint i = 0; i < lookup->fts->clauses->len; i++) {
		const struct lookup_cap cap = {
		    i, rank_compute_clause(rank, i, &unknown, words), 0};

		g_array_append_val(lookup->caps, cap);
	}
	g_array_sort(lookup->caps, compare_caps);
	for (guint i = lookup->caps->len; i-- > 0;) {
		struct lookup_cap *cap =
		    &g_array_index(lookup->caps, struct lookup_cap, i);

		cap->rest = rest += cap->most;
	}
}

/* Papers before the first one that are to be read. */
static void
add_singles(struct lookup *lookup)
{
	for (guint seq = 0; seq < MIN(lookup->next, lookup->papers); seq++) {
		const struct candidate candidate = {.seq = seq,
		    .day = lookup->values[seq].day,
		    .verdict = QUERY_UNKNOWN,
		    .is_single = true};

		if (candidate.day >= lookup->oldest)
			g_array_append_val(lookup->candidates, candidate);
	}
}

bool
lookup_run(struct lookup *lookup, struct store *store, GError **error)
{
	const struct fts_query *fts = lookup->fts;
	const struct paper_values *values = paper_values_load(store, 0, 0, error);

	if (!values)
		return false;
	lookup->values = (const struct paper_value *)(void *)values->values->data;
	lookup->papers = values->values->len;
	add_singles(lookup);
	if (lookup_is_by_clauses(lookup))
		return lookup_clauses_run(lookup, store, error);
	if (fts->expression &&
	    !archive_find(store, fts->expression, lookup->next, add_row, lookup, error))
		return false;
	if (!fts->is_required)
		classify_others(lookup, lookup->papers);
	return true;
}
