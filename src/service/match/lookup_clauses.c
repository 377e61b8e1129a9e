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

/* A paper, as far as it is known. */
struct scanned {
	double factor;         /* of votes and age; 0: not searched */
	double relevance;      /* of the clauses so far */
	double others;         /* of those without =word */
	uint64_t found;        /* bits of the clauses that are true */
	struct rank_hits hits; /* of the current clause */
};

/* State of a collection. */
struct scan {
	struct lookup *lookup;
	struct store *store;
	struct scanned *papers; /* by seq */
	uint64_t bit;           /* of the current clause */
	/* Clauses each of which suffices: nothing else of the paper matters, unless it
	 * can be among the results. */
	uint64_t enough;
	const struct lookup_cap
	    *cap;             /* of the current clause; NULL: it is not ranked */
	double threshold;     /* score of a result; 0: not known */
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
	       (paper->relevance + scan->cap->rest) * LOOKUP_ROUNDING * paper->factor <
	           scan->threshold;
}

/* As archive_found. */
static void
add_row(void *data, int64_t seq, void *row)
{
	struct scan *scan = data;
	struct scanned *paper;
	unsigned columns[FTS_COLUMNS] = {0};

	if (seq < 0 || seq >= scan->lookup->papers)
		return;
	paper = &scan->papers[seq];
	if (paper->factor <= 0 || (paper->found & scan->enough && is_low(scan, paper)))
		return;
	archive_count_places(row, 0, columns);
	for (unsigned text = 0; text < G_N_ELEMENTS(paper->hits.texts); text++)
		if (scan->texts & 1U << text && columns[text]) {
			paper->hits.texts[text] += columns[text];
			paper->found |= scan->bit;
		}
}

/* @param is_rare  few papers have it */
static bool
find_phrase(struct scan *scan, const char *phrase, bool is_rare, GError **error)
{
	const struct lookup *lookup = scan->lookup;

	/* A backtest needs the last papers only. */
	return is_rare || lookup->next > lookup->papers / 2
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
		if (clause->papers[seq] && scan->papers[seq].factor > 0) {
			scan->papers[seq].hits.texts[0] = 1;
			scan->papers[seq].found |= scan->bit;
		}
}

/* Add the share of the current clause. */
static void
add_share(const struct scan *scan, guint seq)
{
	const struct lookup *lookup = scan->lookup;
	const struct paper_value *value = &lookup->values[seq];
	const unsigned words[] = {value->words[0], value->words[1]};
	struct scanned *paper = &scan->papers[seq];
	double share;

	if (!paper->hits.texts[0] && !paper->hits.texts[1])
		return;
	share =
	    rank_compute_clause(lookup->rank, scan->cap->clause, &paper->hits, words);
	paper->relevance += share;
	paper->others += scan->has_exact_words ? 0 : share;
	paper->hits = (struct rank_hits){0};
}

/* Rank the papers by the clauses so far. */
static void
rank_papers(struct scan *scan)
{
	struct lookup *lookup = scan->lookup;
	double threshold = 0;

	g_array_set_size(lookup->best, 0);
	for (guint seq = lookup->next; seq < lookup->papers; seq++) {
		const struct scanned *paper = &scan->papers[seq];
		double score;

		if (!paper->found || is_low(scan, paper))
			continue;
		add_share(scan, seq);
		score = paper->relevance * paper->factor / LOOKUP_ROUNDING;
		if (!scan->is_any || score <= threshold)
			continue;
		lookup_add_best(lookup, score);
		threshold = lookup_get_threshold(lookup);
	}
	scan->threshold = threshold;
}

/* @param bit  number of the clause */
static bool
find_clause(struct scan *scan, const struct fts_clause *clause, unsigned bit,
    const struct lookup_cap *cap, GError **error)
{
	scan->bit = 1ULL << bit;
	scan->enough = scan->is_any ? ALL_CLAUSES : scan->bit;
	scan->cap = cap;
	scan->has_exact_words = lookup_has_exact_words(clause->node);
	if (clause->papers)
		find_values(scan, clause);
	else if (!find_words(scan, clause, error))
		return false;
	if (cap)
		rank_papers(scan);
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
	double score = paper->relevance * paper->factor;
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
		lookup_add_best(lookup, score / LOOKUP_ROUNDING);
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

bool
lookup_clauses_run(struct lookup *lookup, struct store *store, GError **error)
{
	g_autofree struct scanned *papers = g_new0(struct scanned, lookup->papers);
	struct scan scan = {.lookup = lookup,
	    .store = store,
	    .papers = papers,
	    .is_any = lookup->is_exact && is_any(lookup->fts->root)};

	for (guint seq = lookup->next; seq < lookup->papers; seq++)
		if (lookup->values[seq].day >= lookup->oldest)
			papers[seq].factor =
			    lookup->rank ? lookup_blend(lookup, 1, &lookup->values[seq])
			                 : 1;
	if (!find_clauses(&scan, error))
		return false;
	add_candidates(&scan);
	return true;
}
