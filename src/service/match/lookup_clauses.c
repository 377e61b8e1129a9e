/*
 * lookup_clauses.c - collects the papers of a lookup clause by clause.
 */
#include "service/match/lookup_clauses.h"

#include <string.h>

#include "query/parse/tree.h"
#include "store/paper/archive.h"

/* Maximum number of words with a prefix that are scanned one by one. */
#define PREFIX_WORDS 1000

/* Papers of a word of which FTS5's rows take less time than to begin its scan. */
#define RARE_PAPERS 300

/* Clauses of a query. */
#define ALL_CLAUSES G_MAXUINT64

/* Papers, by which the rows of a statement take less time than FTS5's own scan of all
 * papers. */
#define SCANNED_PER_ROW 4

/* A paper, as far as it is known. */
struct scanned {
	uint64_t found;   /* bits of the clauses that are true */
	float factor;     /* of votes and age; 0: not searched */
	float relevance;  /* of the clauses so far */
	float others;     /* of those without =word */
	float weights[2]; /* of an occurrence in title and abstract */
	float often;      /* sum of these in the current clause */
};

/* State of a collection. */
struct scan {
	struct lookup *lookup;
	struct store *store;
	struct scanned *papers; /* by seq */
	uint32_t *changed;      /* seqs of the papers with the current clause ... */
	guint changes;          /* ... and their number */
	uint64_t bit;           /* of the current clause */
	/* Clauses each of which suffices: nothing else of the paper matters, unless it
	 * can be among the results. */
	uint64_t enough;
	const struct lookup_cap
	    *cap;             /* of the current clause; NULL: it is not ranked */
	float rest;           /* of that */
	float threshold;      /* score of a result; 0: not known */
	unsigned texts;       /* bits of title and abstract, of the current clause */
	bool has_exact_words; /* of the current clause */
	bool is_any;          /* each clause alone makes a match */
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
	if (clause->node->kind == NODE_WORDS)
		return clause->phrases &&
		       (clause->is_exact || clause->node->phrase->words->len == 1);
	return clause->papers != NULL;
}

static bool
are_scannable(const GArray *clauses)
{
	for (guint i = 0; i < clauses->len; i++)
		if (!is_scannable(&g_array_index(clauses, struct fts_clause, i)))
			return false;
	return true;
}

bool
lookup_is_by_clauses(const struct fts_query *fts)
{
	/* FTS5 scans only the rarest word of an AND, but merges all words of a prefix
	 * before. */
	return !fts->excluded->len && are_scannable(fts->clauses) &&
	       are_scannable(fts->negated) &&
	       (fts->root->kind != NODE_AND || !fts->is_required ||
	           has_prefix(fts->clauses));
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

/* As archive_found. */
static void
add_row(void *data, int64_t seq, void *row)
{
	struct scan *scan = data;
	struct scanned *paper;
	unsigned columns[FTS_COLUMNS] = {0};
	float often = 0;

	if (seq < scan->lookup->next || seq >= scan->lookup->papers)
		return;
	paper = &scan->papers[seq];
	if (paper->factor <= 0)
		return;
	if (is_low(scan, paper)) {
		if (!(paper->found & scan->enough) &&
		    archive_has_place(row, 0, scan->texts))
			paper->found |= scan->bit;
		return;
	}
	archive_count_places(row, 0, columns);
	for (unsigned text = 0; text < G_N_ELEMENTS(paper->weights); text++)
		if (scan->texts & 1U << text)
			often += (float)columns[text] * paper->weights[text];
	if (often > 0)
		add_often(scan, (guint)seq, often);
}

/* @param is_rare  few papers have it */
static bool
find_phrase(struct scan *scan, const char *phrase, bool is_rare, GError **error)
{
	const struct lookup *lookup = scan->lookup;
	bool is_recent = lookup->papers - MIN(lookup->next, lookup->papers) <
	                 lookup->papers / SCANNED_PER_ROW;

	return is_rare || is_recent
	           ? archive_find(
	                 scan->store, phrase, lookup->next, add_row, scan, error)
	           : archive_find_phrase(scan->store, phrase, add_row, scan, error);
}

static bool
find_each(struct scan *scan, const GPtrArray *words, GError **error)
{
	bool is_ok = true;

	for (guint i = 0; is_ok && i < words->len; i++) {
		const struct archive_word *word = words->pdata[i];
		g_autofree char *phrase = g_strdup_printf("\"%s\"", word->text);

		is_ok = find_phrase(scan, phrase, word->papers < RARE_PAPERS, error);
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
	return words->len > PREFIX_WORDS ? find_phrase(scan, phrase, true, error)
	                                 : find_each(scan, words, error);
}

static bool
find_words(struct scan *scan, const struct fts_clause *clause, GError **error)
{
	const GPtrArray *phrases = scan->lookup->fts->phrases;
	bool is_ok = true;

	scan->texts = clause->node->field->texts;
	if (is_prefix(clause->node))
		return find_prefix(
		    scan, clause->node, phrases->pdata[clause->first], error);
	for (guint i = 0; is_ok && i < clause->phrases; i++)
		is_ok =
		    find_phrase(scan, phrases->pdata[clause->first + i], false, error);
	return is_ok;
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
		paper->others += scan->has_exact_words ? 0 : share;
		score = paper->relevance * paper->factor;
		if (!scan->is_any || score <= scan->threshold)
			continue;
		lookup_add_best(lookup, scan->changed[i], score / LOOKUP_ROUNDING);
		scan->threshold = (float)lookup_get_threshold(lookup);
	}
	scan->changes = 0;
}

/* @param bit  number of the clause */
static bool
find_clause(struct scan *scan, const struct fts_clause *clause, unsigned bit,
    const struct lookup_cap *cap, GError **error)
{
	scan->bit = 1ULL << bit;
	scan->enough = scan->is_any ? ALL_CLAUSES : scan->bit;
	scan->cap = cap;
	scan->rest = cap ? (float)(cap->rest * LOOKUP_ROUNDING) : 0;
	scan->has_exact_words = lookup_has_exact_words(clause->node);
	if (clause->papers)
		find_values(scan, clause);
	else if (!find_words(scan, clause, error))
		return false;
	if (cap)
		add_shares(scan);
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
decide(const struct scan *scan, uint64_t found)
{
	if (scan->is_any)
		return found ? QUERY_TRUE : QUERY_FALSE;
	return fts_query_decide(scan->lookup->fts, found, NULL, NULL);
}

static void
add_candidate(struct scan *scan, guint seq, enum query_verdict verdict)
{
	struct lookup *lookup = scan->lookup;
	const struct scanned *paper = &scan->papers[seq];
	double score = (double)paper->relevance * paper->factor;
	const struct candidate candidate = {.seq = seq,
	    .bound = lookup->rank ? score * LOOKUP_ROUNDING : 0,
	    .others = paper->others,
	    .day = lookup->values[seq].day,
	    .verdict = verdict,
	    .found = paper->found};

	lookup->matches++;
	if (lookup->rank && candidate.bound < lookup_get_threshold(lookup))
		return;
	if (lookup->rank && lookup->is_exact && !scan->is_any)
		lookup_add_best(lookup, seq, score / LOOKUP_ROUNDING);
	g_array_append_val(lookup->candidates, candidate);
}

static void
add_candidates(struct scan *scan)
{
	/* Many papers have the same clauses. */
	uint64_t known = 0;
	enum query_verdict verdict = decide(scan, known);

	for (guint seq = scan->lookup->next; seq < scan->lookup->papers; seq++) {
		const struct scanned *paper = &scan->papers[seq];

		if (paper->found != known) {
			known = paper->found;
			verdict = decide(scan, known);
		}
		if (verdict != QUERY_FALSE && paper->factor > 0)
			add_candidate(scan, seq, verdict);
	}
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
	struct scan scan = {.lookup = lookup,
	    .store = store,
	    .papers = papers,
	    .changed = changed,
	    .is_any = lookup->is_exact && is_any(lookup->fts->root)};

	set_papers(&scan);
	if (!find_clauses(&scan, error))
		return false;
	add_candidates(&scan);
	return true;
}
