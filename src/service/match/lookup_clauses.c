/*
 * lookup_clauses.c - collects the papers of a lookup clause by clause.
 */
#include "service/match/lookup_clauses.h"

#include <string.h>

#include "query/parse/tree.h"
#include "service/match/lookup_near.h"
#include "store/paper/archive.h"

/* Maximum number of words with a prefix that are scanned one by one. */
#define PREFIX_WORDS 1000

/* Share of the papers that the words of an AND have at least, so that FTS5 takes longer
 * to join them than to scan one by one. */
#define PAPERS_PER_FREQUENT 8

/* A paper, as far as it is known. */
struct scanned {
	uint64_t found;   /* bits of the clauses that are true */
	float factor;     /* of votes and age; 0: not searched */
	float relevance;  /* of the clauses so far, at most */
	float certain;    /* of those that the index decides */
	float weights[2]; /* of an occurrence in title and abstract */
	float often;      /* sum of these in the current clause */
};

/* The verdict of papers with the same clauses. */
struct verdict {
	uint64_t found;
	enum query_verdict verdict;
};

/* Number of verdicts that are not computed again for the next papers. */
#define VERDICTS 256

/* State of a collection. */
struct scan {
	struct lookup *lookup;
	struct store *store;
	struct scanned *papers; /* by seq */
	float *others;          /* by seq: relevance of the clauses without =word;
	                           NULL: all are */
	uint32_t *changed;      /* seqs of the papers with the current clause ... */
	guint changes;          /* ... and their number */
	uint64_t bit;           /* of the current clause */
	uint64_t required;      /* clauses without which a paper does not match ... */
	uint64_t missing;       /* ... that were not scanned yet */
	/* Clauses each of which suffices: nothing else of the paper matters, unless it
	 * can be among the results. */
	uint64_t enough;
	uint64_t exact; /* likewise, of the whole query */
	const struct lookup_cap
	    *cap;             /* of the current clause; NULL: it is not ranked */
	float rest;           /* of that */
	float threshold;      /* score of a result; 0: not known */
	unsigned columns;     /* bits of title, abstract and authors, of the clause */
	bool is_exact;        /* likewise: the index decides it */
	bool has_exact_words; /* likewise */
	bool is_any;          /* each clause alone makes a match */
	struct lookup_near *near;          /* of the clause; or NULL */
	struct verdict verdicts[VERDICTS]; /* by the last bits found */
};

static bool
is_prefix(const struct node *node)
{
	return node->kind == NODE_WORDS && node->phrase->is_prefix &&
	       node->phrase->words->len == 1;
}

static bool
has_prefix(const GArray *clauses)
{
	for (guint i = 0; i < clauses->len; i++)
		if (is_prefix(g_array_index(clauses, struct fts_clause, i).node))
			return true;
	return false;
}

/* Whether the places of the phrases say how often a clause is true, at most. */
static bool
is_scannable(const struct fts_clause *clause)
{
	switch (clause->node->kind) {
	case NODE_WORDS:
	case NODE_NEAR:
	case NODE_NAME:
		return clause->phrases > 0;
	default:
		return clause->papers != NULL;
	}
}

static bool
are_scannable(const GArray *clauses)
{
	for (guint i = 0; i < clauses->len; i++)
		if (!is_scannable(&g_array_index(clauses, struct fts_clause, i)))
			return false;
	return true;
}

/* Whether the clause is false in papers without its phrases, as it is formatted for an
 * OR: the expression of an AND excludes more of them. */
static bool
is_same_in_or(const struct fts_clause *clause)
{
	const struct node *node = clause->node;

	return clause->papers || (clause->is_exact && !clause->near) ||
	       (node->kind == NODE_WORDS && node->phrase->words->len == 1);
}

static bool
are_same_in_or(const GArray *clauses)
{
	for (guint i = 0; i < clauses->len; i++)
		if (!is_same_in_or(&g_array_index(clauses, struct fts_clause, i)))
			return false;
	return true;
}

/* Whether FTS5 has to merge many words for an AND. */
static bool
has_only_ors(const struct node *node)
{
	for (guint i = 0; i < node->operands->len; i++) {
		const struct node *operand = node->operands->pdata[i];

		if (operand->kind == NODE_WORDS || operand->kind == NODE_NEAR ||
		    operand->kind == NODE_NAME || operand->kind == NODE_NOT)
			return false;
	}
	return true;
}

/* Operands that FTS5 joins by AND. */
static unsigned
count_required(const struct node *node)
{
	unsigned count = 0;

	for (guint i = 0; node->kind == NODE_AND && i < node->operands->len; i++)
		count +=
		    ((const struct node *)node->operands->pdata[i])->kind != NODE_NOT;
	return count;
}

/* Whether FTS5 would join many papers. */
static bool
is_frequent(const struct lookup *lookup)
{
	if (!lookup->rank)
		return false;
	for (guint i = 0; i < lookup->fts->clauses->len; i++)
		if (rank_get_papers(lookup->rank, i) <
		    lookup->papers / PAPERS_PER_FREQUENT)
			return false;
	return true;
}

bool
lookup_is_by_clauses(const struct lookup *lookup)
{
	const struct fts_query *fts = lookup->fts;

	if (!are_scannable(fts->clauses) || !are_scannable(fts->negated))
		return false;
	if (!fts->is_required || fts->root->kind == NODE_OR ||
	    (fts->root->kind == NODE_AND && !fts->is_match && has_only_ors(fts->root)))
		return true;
	/* FTS5 scans only the rarest word of an AND, but merges all words of a prefix
	 * before. */
	return are_same_in_or(fts->clauses) && are_same_in_or(fts->negated) &&
	       (count_required(fts->root) < 2 || has_prefix(fts->clauses) ||
	           is_frequent(lookup));
}

static bool
is_any(const struct node *node)
{
	for (guint i = 0; node->operands && i < node->operands->len; i++)
		if (node->kind != NODE_OR || !is_any(node->operands->pdata[i]))
			return false;
	return true;
}

/* Whether a paper cannot be among the results, or there is no ranking. */
static bool
is_low(const struct scan *scan, const struct scanned *paper)
{
	return !scan->cap ||
	       (paper->relevance + scan->rest) * paper->factor < scan->threshold;
}

/* Note that the current clause is true. @param often  as in struct scanned; > 0 */
static void
add_often(struct scan *scan, guint seq, float often)
{
	struct scanned *paper = &scan->papers[seq];

	paper->found |= scan->bit;
	if (!scan->cap)
		return;
	if (paper->often <= 0)
		scan->changed[scan->changes++] = seq;
	paper->often += often;
}

static float
count_places(const struct scan *scan, const struct scanned *paper, void *row)
{
	unsigned columns[FTS_COLUMNS] = {0};
	float often = 0;

	if (scan->columns & 1U << FTS_AUTHORS)
		return archive_has_place(row, 0, scan->columns);
	archive_count_places(row, 0, columns);
	for (unsigned text = 0; text < G_N_ELEMENTS(paper->weights); text++)
		if (scan->columns & 1U << text)
			often += (float)columns[text] * paper->weights[text];
	return often;
}

/* As archive_found. */
static void
add_row(void *data, int64_t seq, void *row)
{
	struct scan *scan = data;
	struct scanned *paper;
	float often;

	if (seq < scan->lookup->next || seq >= scan->lookup->papers)
		return;
	paper = &scan->papers[seq];
	if (paper->factor <= 0 || scan->required & ~(scan->missing | paper->found))
		return;
	if (is_low(scan, paper) && (!scan->near || paper->found & scan->enough)) {
		if (!(paper->found & scan->enough) &&
		    archive_has_place(row, 0, scan->columns))
			paper->found |= scan->bit;
		return;
	}
	if (scan->near) {
		lookup_near_add(scan->near, (guint)seq, row);
		return;
	}
	often = count_places(scan, paper, row);
	if (often > 0)
		add_often(scan, (guint)seq, often);
}

static bool
find_phrase(struct scan *scan, const char *phrase, GError **error)
{
	return archive_find_phrase(
	    scan->store, phrase, scan->lookup->next, add_row, scan, error);
}

static bool
find_each(struct scan *scan, const GPtrArray *words, GError **error)
{
	bool is_ok = true;

	for (guint i = 0; is_ok && i < words->len; i++) {
		const struct archive_word *word = words->pdata[i];
		g_autofree char *phrase = g_strdup_printf("\"%s\"", word->text);

		is_ok = find_phrase(scan, phrase, error);
	}
	return is_ok;
}

static bool
find_prefix(
    struct scan *scan, const struct node *node, const char *phrase, GError **error)
{
	const char *prefix = phrase_get_word(node->phrase, 0)->key.text;
	g_autoptr(GPtrArray) words =
	    archive_load_prefix(scan->store, prefix, PREFIX_WORDS + 1, error);

	if (!words)
		return false;
	return words->len > PREFIX_WORDS ? find_phrase(scan, phrase, error)
	                                 : find_each(scan, words, error);
}

static bool
find_words(struct scan *scan, const struct fts_clause *clause, GError **error)
{
	const GPtrArray *phrases = scan->lookup->fts->phrases;
	bool is_ok = true;

	if (is_prefix(clause->node))
		return find_prefix(
		    scan, clause->node, phrases->pdata[clause->first], error);
	for (guint i = 0; is_ok && i < clause->phrases; i++)
		is_ok = find_phrase(scan, phrases->pdata[clause->first + i], error);
	return is_ok;
}

/* As lookup_near_found. */
static void
add_near(void *data, guint seq, const struct rank_hits *hits)
{
	struct scan *scan = data;
	const struct scanned *paper = &scan->papers[seq];

	add_often(scan, seq,
	    scan->cap ? (float)hits->texts[0] * paper->weights[0] +
	                    (float)hits->texts[1] * paper->weights[1]
	              : 1);
}

static bool
find_near(struct scan *scan, const struct fts_clause *clause, GError **error)
{
	const GPtrArray *phrases = scan->lookup->fts->phrases;
	pb_auto(lookup_near) near = lookup_near_new(clause, scan->lookup->papers);
	bool is_ok = true;
	int phrase;

	scan->near = near;
	while (is_ok && (phrase = lookup_near_next(near)) >= 0)
		is_ok = find_phrase(scan, phrases->pdata[phrase], error);
	scan->near = NULL;
	if (is_ok)
		lookup_near_foreach(near, add_near, scan);
	return is_ok;
}

/* The last word of a name is there in any case. */
static bool
find_name(struct scan *scan, const struct fts_clause *clause, GError **error)
{
	guint last = clause->first + clause->phrases - 1;

	return find_phrase(scan, scan->lookup->fts->phrases->pdata[last], error);
}

static void
find_values(struct scan *scan, const struct fts_clause *clause)
{
	for (guint seq = scan->lookup->next; seq < scan->lookup->papers; seq++)
		if (clause->papers[seq] && scan->papers[seq].factor > 0)
			add_often(scan, seq, 1);
}

/* Add the share of the current clause to the papers that have it. */
static void
add_shares(struct scan *scan)
{
	struct lookup *lookup = scan->lookup;

	for (guint i = 0; i < scan->changes; i++) {
		struct scanned *paper = &scan->papers[scan->changed[i]];
		float share = (float)rank_compute_share(
		    lookup->rank, scan->cap->clause, paper->often);
		float score;

		paper->often = 0;
		paper->relevance += share;
		paper->certain += scan->is_exact ? share : 0;
		if (scan->others && !scan->has_exact_words)
			scan->others[scan->changed[i]] += share;
		score = paper->certain * paper->factor;
		if (!scan->is_any || score <= scan->threshold)
			continue;
		lookup_add_best(lookup, scan->changed[i], score / LOOKUP_ROUNDING);
		scan->threshold = (float)lookup_get_threshold(lookup);
	}
	scan->changes = 0;
}

static bool
find_papers(struct scan *scan, const struct fts_clause *clause, GError **error)
{
	switch (clause->node->kind) {
	case NODE_WORDS:
		return find_words(scan, clause, error);
	case NODE_NEAR:
		return clause->is_exact ? find_near(scan, clause, error)
		                        : find_words(scan, clause, error);
	case NODE_NAME:
		return find_name(scan, clause, error);
	default:
		find_values(scan, clause);
		return true;
	}
}

/* @param bit  number of the clause */
static bool
find_clause(struct scan *scan, const struct fts_clause *clause, unsigned bit,
    const struct lookup_cap *cap, GError **error)
{
	scan->bit = 1ULL << bit;
	scan->enough = scan->is_any ? scan->exact | scan->bit : scan->bit;
	scan->cap = cap;
	scan->rest = cap ? (float)(cap->rest * LOOKUP_ROUNDING) : 0;
	scan->is_exact = clause->is_exact;
	scan->has_exact_words = lookup_has_exact_words(clause->node);
	scan->columns = clause->node->kind == NODE_NAME ? 1U << FTS_AUTHORS
	                                                : clause->node->field->texts;
	if (!find_papers(scan, clause, error))
		return false;
	if (cap)
		add_shares(scan);
	scan->missing &= ~scan->bit;
	return true;
}

static bool
find_clauses(struct scan *scan, GError **error)
{
	const struct lookup *lookup = scan->lookup;
	const GArray *clauses = lookup->fts->clauses, *negated = lookup->fts->negated;
	bool is_ok = true;

	for (guint i = 0; is_ok && i < clauses->len; i++) {
		const struct lookup_cap *cap =
		    lookup->rank ? &g_array_index(lookup->caps, struct lookup_cap, i)
		                 : NULL;
		guint clause = cap ? cap->clause : i;

		is_ok = find_clause(scan,
		    &g_array_index(clauses, struct fts_clause, clause), clause, cap,
		    error);
	}
	for (guint i = 0; is_ok && i < negated->len; i++)
		is_ok = find_clause(scan, &g_array_index(negated, struct fts_clause, i),
		    clauses->len + i, NULL, error);
	return is_ok;
}

static enum query_verdict
decide(struct scan *scan, uint64_t found)
{
	struct verdict *same =
	    &scan->verdicts[(found ^ found >> 8 ^ found >> 16) % VERDICTS];

	if (scan->is_any && found)
		return found & scan->exact ? QUERY_TRUE : QUERY_UNKNOWN;
	if (same->found != found) {
		same->found = found;
		same->verdict = fts_query_decide(scan->lookup->fts, found, NULL, NULL);
	}
	return same->verdict;
}

static void
count_matches(struct scan *scan)
{
	for (guint seq = scan->lookup->next; seq < scan->lookup->papers; seq++)
		if (scan->papers[seq].factor > 0)
			lookup_count(
			    scan->lookup, decide(scan, scan->papers[seq].found));
}

static void
add_candidate(struct scan *scan, guint seq)
{
	struct lookup *lookup = scan->lookup;
	const struct scanned *paper = &scan->papers[seq];
	double score = (double)paper->relevance * paper->factor;
	const struct candidate candidate = {.seq = seq,
	    .bound = lookup->rank ? score * LOOKUP_ROUNDING : 0,
	    .others = scan->others ? scan->others[seq] : paper->relevance,
	    .day = lookup->values[seq].day,
	    .verdict = (uint8_t)decide(scan, paper->found),
	    .found = paper->found};

	if (candidate.verdict == QUERY_FALSE)
		return;
	if (lookup->rank && !lookup_wants_all(lookup) &&
	    candidate.bound < lookup_get_threshold(lookup))
		return;
	if (lookup->rank && lookup->is_exact && !scan->is_any)
		lookup_add_best(lookup, seq, score / LOOKUP_ROUNDING);
	g_array_append_val(lookup->candidates, candidate);
}

static bool
has_exact_words(const GArray *clauses)
{
	for (guint i = 0; i < clauses->len; i++)
		if (lookup_has_exact_words(
		        g_array_index(clauses, struct fts_clause, i).node))
			return true;
	return false;
}

/* Bits of the clauses that the index decides. */
static uint64_t
get_exact_clauses(const GArray *clauses)
{
	uint64_t exact = 0;

	for (guint i = 0; i < clauses->len; i++)
		if (g_array_index(clauses, struct fts_clause, i).is_exact)
			exact |= 1ULL << i;
	return exact;
}

/* Bits of the clauses that an AND joins. */
static uint64_t
get_required_clauses(const struct fts_query *fts)
{
	uint64_t required = 0;

	for (guint i = 0; fts->root->kind == NODE_AND && i < fts->clauses->len; i++)
		if (g_ptr_array_find(fts->root->operands,
		        g_array_index(fts->clauses, struct fts_clause, i).node, NULL))
			required |= 1ULL << i;
	return required;
}

/* Set what does not depend on clauses. */
static void
set_papers(struct scan *scan)
{
	struct lookup *lookup = scan->lookup;

	for (guint seq = lookup->next; seq < lookup->papers; seq++) {
		const struct paper_value *value = &lookup->values[seq];
		const unsigned words[] = {value->words[0], value->words[1]};
		struct scanned *paper = &scan->papers[seq];
		double weights[2];

		if (value->day < lookup->oldest)
			continue;
		paper->factor = 1;
		if (!lookup->rank)
			continue;
		paper->factor = (float)lookup_blend(lookup, 1, value);
		rank_get_weights(lookup->rank, words, weights);
		paper->weights[0] = (float)weights[0];
		paper->weights[1] = (float)weights[1];
	}
}

bool
lookup_clauses_run(struct lookup *lookup, struct store *store, GError **error)
{
	g_autofree struct scanned *papers = g_new0(struct scanned, lookup->papers);
	g_autofree uint32_t *changed =
	    lookup->rank ? g_new(uint32_t, lookup->papers) : NULL;
	g_autofree float *others = lookup->rank && has_exact_words(lookup->fts->clauses)
	                               ? g_new0(float, lookup->papers)
	                               : NULL;
	struct scan scan = {.lookup = lookup,
	    .store = store,
	    .papers = papers,
	    .changed = changed,
	    .others = others,
	    .required = get_required_clauses(lookup->fts),
	    .missing = UINT64_MAX,
	    .exact = get_exact_clauses(lookup->fts->clauses),
	    .is_any = is_any(lookup->fts->root)};

	for (unsigned i = 0; i < VERDICTS; i++)
		scan.verdicts[i].verdict = fts_query_decide(lookup->fts, 0, NULL, NULL);
	set_papers(&scan);
	if (!find_clauses(&scan, error))
		return false;
	count_matches(&scan);
	for (guint seq = lookup->next; seq < lookup->papers; seq++)
		if (papers[seq].factor > 0)
			add_candidate(&scan, seq);
	return true;
}
