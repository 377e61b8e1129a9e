/*
 * batch_eval.c - bit-parallel evaluation of filters for a batch of papers.
 */
#include "query/eval/batch_eval.h"

#include <string.h>

#include "base/bounds.h"
#include "query/parse/canonical.h"
#include "query/parse/tree.h"

/* Maximum number of clauses in the cache, about 10 MB; a full cache is emptied. */
#define CLAUSES_MAX 16384

#define MODES (QUERY_MAY_CHANGE + 1)

#define WORDS (BATCH_EVAL_PAPERS / 64)

/* Sets of papers for which something is true, and for which it is not false. */
struct verdicts {
	struct bitset yes;
	struct bitset maybe;
};

/* A clause and its verdicts so far, valid for the papers that are evaluated. */
struct clause {
	struct query *query;
	bool is_time_dependent;
	struct bitset evaluated[MODES];
	struct verdicts verdicts[MODES];
};

struct batch_eval {
	const struct tokenizer *tokenizer;
	const struct query_document *documents[BATCH_EVAL_PAPERS];
	unsigned count;
	GHashTable *clauses; /* canonical text -> struct clause * */
	GString *text;       /* buffer for the text of a clause */
};

/* Evaluation of one canonical text in one mode. */
struct evaluation {
	struct batch_eval *batch;
	const char *at;
	enum query_mode mode;
	unsigned depth;
	bool is_time_dependent; /* any clause is */
	bool is_bad;            /* the text is not canonical */
};

bool
bitset_is_empty(const struct bitset *set)
{
	uint64_t any = 0;

	for (unsigned i = 0; i < WORDS; i++)
		any |= set->bits[i];
	return any == 0;
}

unsigned
bitset_count(const struct bitset *set)
{
	unsigned count = 0;

	for (unsigned i = 0; i < WORDS; i++)
		count += (unsigned)__builtin_popcountll(set->bits[i]);
	return count;
}

unsigned
bitset_find(const struct bitset *set, unsigned paper)
{
	for (; paper < BATCH_EVAL_PAPERS; paper = (paper / 64 + 1) * 64) {
		uint64_t rest = set->bits[paper / 64] >> paper % 64;

		if (rest)
			return paper + (unsigned)__builtin_ctzll(rest);
	}
	return BATCH_EVAL_PAPERS;
}

static struct bitset
intersect(const struct bitset *a, const struct bitset *b)
{
	struct bitset set;

	for (unsigned i = 0; i < WORDS; i++)
		set.bits[i] = a->bits[i] & b->bits[i];
	return set;
}

static struct bitset
unite(const struct bitset *a, const struct bitset *b)
{
	struct bitset set;

	for (unsigned i = 0; i < WORDS; i++)
		set.bits[i] = a->bits[i] | b->bits[i];
	return set;
}

static struct bitset
subtract(const struct bitset *a, const struct bitset *b)
{
	struct bitset set;

	for (unsigned i = 0; i < WORDS; i++)
		set.bits[i] = a->bits[i] & ~b->bits[i];
	return set;
}

static void
free_clause(gpointer data)
{
	struct clause *clause = data;

	query_free(clause->query);
	g_free(clause);
}

struct batch_eval *
batch_eval_new(const struct tokenizer *tokenizer)
{
	struct batch_eval *batch = g_new0(struct batch_eval, 1);

	batch->tokenizer = tokenizer;
	batch->clauses =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_clause);
	batch->text = g_string_new(NULL);
	return batch;
}

void
batch_eval_free(struct batch_eval *batch)
{
	if (!batch)
		return;
	g_hash_table_unref(batch->clauses);
	g_string_free(batch->text, TRUE);
	g_free(batch);
}

void
batch_eval_add(struct batch_eval *batch, const struct query_document *document)
{
	g_assert(batch->count < BATCH_EVAL_PAPERS);
	batch->documents[batch->count++] = document;
}

/* Add a clause to the cache. @param query  taken; NULL gives NULL */
static struct clause *
add_clause(struct batch_eval *batch, const char *text, struct query *query)
{
	struct clause *clause;

	if (!query)
		return NULL;
	clause = g_new0(struct clause, 1);
	clause->query = query;
	clause->is_time_dependent = query_is_time_dependent(query);
	if (g_hash_table_size(batch->clauses) >= CLAUSES_MAX)
		g_hash_table_remove_all(batch->clauses);
	g_hash_table_insert(batch->clauses, g_strdup(text), clause);
	return clause;
}

/* Get the clause whose text is in the buffer. @return NULL when it is not one */
static struct clause *
get_clause(struct batch_eval *batch)
{
	const char *text = batch->text->str;
	struct clause *clause = g_hash_table_lookup(batch->clauses, text);

	if (clause)
		return clause;
	return add_clause(batch, text, query_parse_clause(text, batch->tokenizer));
}

static struct verdicts
evaluate_clause(const struct batch_eval *batch, struct clause *clause,
    enum query_mode wanted, const struct bitset *papers)
{
	enum query_mode mode = clause->is_time_dependent ? wanted : QUERY_AS_REPORTED;
	struct bitset missing = subtract(papers, &clause->evaluated[mode]);
	struct verdicts *verdicts = &clause->verdicts[mode];

	for (unsigned paper = bitset_find(&missing, 0); paper < batch->count;
	     paper = bitset_find(&missing, paper + 1)) {
		enum query_verdict verdict =
		    query_evaluate(clause->query, batch->documents[paper], mode);

		if (verdict == QUERY_TRUE)
			bitset_add(&verdicts->yes, paper);
		if (verdict != QUERY_FALSE)
			bitset_add(&verdicts->maybe, paper);
	}
	clause->evaluated[mode] = unite(&clause->evaluated[mode], papers);
	return (struct verdicts){
	    intersect(&verdicts->yes, papers), intersect(&verdicts->maybe, papers)};
}

static struct verdicts
read_clause(struct evaluation *evaluation, const struct bitset *papers)
{
	struct batch_eval *batch = evaluation->batch;
	const char *start = evaluation->at;
	struct clause *clause;

	canonical_skip_clause(&evaluation->at);
	g_string_truncate(batch->text, 0);
	g_string_append_len(batch->text, start, evaluation->at - start);
	clause = get_clause(batch);
	if (!clause) {
		evaluation->is_bad = true;
		return (struct verdicts){0};
	}
	evaluation->is_time_dependent |= clause->is_time_dependent;
	return evaluate_clause(batch, clause, evaluation->mode, papers);
}

static struct verdicts
read_or(struct evaluation *evaluation, const struct bitset *papers);

static struct verdicts
read_group(struct evaluation *evaluation, const struct bitset *papers)
{
	struct verdicts verdicts = {0};

	if (!canonical_accept(&evaluation->at, CANONICAL_OPEN))
		return read_clause(evaluation, papers);
	if (++evaluation->depth <= BOUNDS_QUERY_DEPTH)
		verdicts = read_or(evaluation, papers);
	if (evaluation->depth > BOUNDS_QUERY_DEPTH ||
	    !canonical_accept(&evaluation->at, CANONICAL_CLOSE))
		evaluation->is_bad = true;
	evaluation->depth--;
	if (!evaluation->is_bad)
		canonical_skip_boost(&evaluation->at);
	return verdicts;
}

static struct verdicts
read_not(struct evaluation *evaluation, const struct bitset *papers)
{
	struct verdicts verdicts;

	if (!canonical_accept(&evaluation->at, CANONICAL_NOT))
		return read_group(evaluation, papers);
	verdicts = read_group(evaluation, papers);
	return (struct verdicts){
	    subtract(papers, &verdicts.maybe), subtract(papers, &verdicts.yes)};
}

/* Skip what joins the operands of an AND: a space alone before a NOT. */
static bool
accept_and(struct evaluation *evaluation)
{
	if (canonical_accept(&evaluation->at, CANONICAL_AND))
		return true;
	if (!canonical_is_at(evaluation->at, " " CANONICAL_NOT))
		return false;
	evaluation->at++;
	return true;
}

/* Each operand is evaluated only for papers whose verdict it can still change. */
static struct verdicts
read_and(struct evaluation *evaluation, const struct bitset *papers)
{
	struct verdicts all = read_not(evaluation, papers);

	while (!evaluation->is_bad && accept_and(evaluation)) {
		struct verdicts one = read_not(evaluation, &all.maybe);

		all.yes = intersect(&all.yes, &one.yes);
		all.maybe = one.maybe;
	}
	return all;
}

static struct verdicts
read_or(struct evaluation *evaluation, const struct bitset *papers)
{
	struct verdicts any = read_and(evaluation, papers);

	while (!evaluation->is_bad && canonical_accept(&evaluation->at, CANONICAL_OR)) {
		struct bitset rest = subtract(papers, &any.yes);
		struct verdicts one = read_and(evaluation, &rest);

		any.yes = unite(&any.yes, &one.yes);
		any.maybe = unite(&any.maybe, &one.maybe);
	}
	return any;
}

/* @return false when the text is not canonical */
static bool
evaluate_text(struct evaluation *evaluation, const char *canonical,
    enum query_mode mode, const struct bitset *papers, struct verdicts *verdicts)
{
	evaluation->at = canonical;
	evaluation->mode = mode;
	*verdicts = read_or(evaluation, papers);
	return !evaluation->is_bad && !*evaluation->at;
}

/* Evaluate a text in which read_or() did not find the clauses, since it is not quite
 * canonical: parse the whole text, and evaluate it as one clause. */
static bool
evaluate_whole(struct batch_eval *batch, const char *text, const struct bitset *papers,
    struct batch_result *result, GError **error)
{
	struct clause *clause = add_clause(
	    batch, text, query_parse_canonical(text, batch->tokenizer, error));
	struct bitset rest;

	if (!clause)
		return false;
	result->yes = evaluate_clause(batch, clause, QUERY_AS_REPORTED, papers).yes;
	rest = subtract(papers, &result->yes);
	result->waiting = (struct bitset){0};
	if (clause->is_time_dependent)
		result->waiting =
		    evaluate_clause(batch, clause, QUERY_MAY_CHANGE, &rest).maybe;
	return true;
}

bool
batch_eval_run(struct batch_eval *batch, const char *canonical,
    const struct bitset *papers, struct batch_result *result, GError **error)
{
	struct evaluation evaluation = {.batch = batch};
	struct batch_result found = {0};
	struct verdicts verdicts;

	if (!evaluate_text(
	        &evaluation, canonical, QUERY_AS_REPORTED, papers, &verdicts))
		return evaluate_whole(batch, canonical, papers, result, error);
	found.yes = verdicts.yes;
	if (evaluation.is_time_dependent) {
		struct bitset rest = subtract(papers, &found.yes);

		if (!evaluate_text(
		        &evaluation, canonical, QUERY_MAY_CHANGE, &rest, &verdicts))
			return evaluate_whole(batch, canonical, papers, result, error);
		found.waiting = verdicts.maybe;
	}
	*result = found;
	return true;
}
