/*
 * batch_eval.c - a filter's answer for many papers at once.
 */
#include "query/eval/batch_eval.h"

#include <string.h>

#include "base/bounds.h"
#include "query/parse/tree.h"

/* When so many clauses are kept, they are forgotten: some 10 MB. */
#define CLAUSES_MOST 16384

#define MODES (QUERY_MAY_CHANGE + 1)

#define WORDS (BATCH_EVAL_PAPERS / 64)

/* Of some papers: for which it is true, and for which it is not false. */
struct truths {
	struct bitset yes;
	struct bitset maybe;
};

/* A clause, and what is known of it so far. */
struct clause {
	struct query *query;
	bool is_changing;
	struct bitset known[MODES];
	struct truths truths[MODES];
};

struct batch_eval {
	const struct tokenizer *tokenizer;
	const struct query_document *documents[BATCH_EVAL_PAPERS];
	unsigned count;
	GHashTable *clauses; /* canonical text -> struct clause * */
	GString *text;       /* of the clause that is being read */
};

/* A canonical text that is being read. */
struct mime_parser {
	struct batch_eval *bulk;
	const char *at;
	enum query_mode mode;
	unsigned depth;
	bool is_changing; /* a clause waits, or may change */
	bool is_bad;      /* this is no canonical text */
};

bool
bitset_is_empty(const struct bitset *mask)
{
	uint64_t any = 0;

	for (unsigned i = 0; i < WORDS; i++)
		any |= mask->bits[i];
	return any == 0;
}

unsigned
bitset_count(const struct bitset *mask)
{
	unsigned count = 0;

	for (unsigned i = 0; i < WORDS; i++)
		count += (unsigned)__builtin_popcountll(mask->bits[i]);
	return count;
}

unsigned
bitset_find(const struct bitset *mask, unsigned paper)
{
	for (; paper < BATCH_EVAL_PAPERS; paper = (paper / 64 + 1) * 64) {
		uint64_t rest = mask->bits[paper / 64] >> paper % 64;

		if (rest)
			return paper + (unsigned)__builtin_ctzll(rest);
	}
	return BATCH_EVAL_PAPERS;
}

static struct bitset
intersect(const struct bitset *a, const struct bitset *b)
{
	struct bitset mask;

	for (unsigned i = 0; i < WORDS; i++)
		mask.bits[i] = a->bits[i] & b->bits[i];
	return mask;
}

static struct bitset
unite(const struct bitset *a, const struct bitset *b)
{
	struct bitset mask;

	for (unsigned i = 0; i < WORDS; i++)
		mask.bits[i] = a->bits[i] | b->bits[i];
	return mask;
}

/* What is in a and not in b. */
static struct bitset
subtract(const struct bitset *a, const struct bitset *b)
{
	struct bitset mask;

	for (unsigned i = 0; i < WORDS; i++)
		mask.bits[i] = a->bits[i] & ~b->bits[i];
	return mask;
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
	struct batch_eval *bulk = g_new0(struct batch_eval, 1);

	bulk->tokenizer = tokenizer;
	bulk->clauses =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_clause);
	bulk->text = g_string_new(NULL);
	return bulk;
}

void
batch_eval_free(struct batch_eval *bulk)
{
	if (!bulk)
		return;
	g_hash_table_unref(bulk->clauses);
	g_string_free(bulk->text, TRUE);
	g_free(bulk);
}

void
batch_eval_add(struct batch_eval *bulk, const struct query_document *document)
{
	g_assert(bulk->count < BATCH_EVAL_PAPERS);
	bulk->documents[bulk->count++] = document;
}

/* @param query  of that text, taken; NULL gives NULL */
static struct clause *
keep_clause(struct batch_eval *bulk, const char *text, struct query *query)
{
	struct clause *clause;

	if (!query)
		return NULL;
	clause = g_new0(struct clause, 1);
	clause->query = query;
	clause->is_changing = query_is_time_dependent(query);
	if (g_hash_table_size(bulk->clauses) >= CLAUSES_MOST)
		g_hash_table_remove_all(bulk->clauses);
	g_hash_table_insert(bulk->clauses, g_strdup(text), clause);
	return clause;
}

/* The clause with the text that was read; NULL when it is none. */
static struct clause *
get_clause(struct batch_eval *bulk)
{
	const char *text = bulk->text->str;
	struct clause *clause = g_hash_table_lookup(bulk->clauses, text);

	return clause
	           ? clause
	           : keep_clause(bulk, text, query_parse_part(text, bulk->tokenizer));
}

static struct truths
ask_clause(const struct batch_eval *bulk, struct clause *clause, enum query_mode wanted,
    const struct bitset *papers)
{
	enum query_mode mode = clause->is_changing ? wanted : QUERY_AS_REPORTED;
	struct bitset missing = subtract(papers, &clause->known[mode]);
	struct truths *truths = &clause->truths[mode];

	for (unsigned paper = bitset_find(&missing, 0); paper < bulk->count;
	     paper = bitset_find(&missing, paper + 1)) {
		enum query_verdict truth =
		    query_evaluate(clause->query, bulk->documents[paper], mode);

		if (truth == QUERY_TRUE)
			bulk_mask_add(&truths->yes, paper);
		if (truth != QUERY_FALSE)
			bulk_mask_add(&truths->maybe, paper);
	}
	clause->known[mode] = unite(&clause->known[mode], papers);
	return (struct truths){
	    intersect(&truths->yes, papers), intersect(&truths->maybe, papers)};
}

/* A clause ends at a blank or a ")" that is neither quoted nor in its own NEAR(). */
static void
read_text(struct mime_parser *reader)
{
	const char *start = reader->at;
	bool is_quoted = false;
	unsigned depth = 0;

	for (; *reader->at; reader->at++) {
		if (*reader->at == '"')
			is_quoted = !is_quoted;
		if (is_quoted)
			continue;
		if (!depth && (*reader->at == ' ' || *reader->at == ')'))
			break;
		depth += *reader->at == '(';
		depth -= *reader->at == ')';
	}
	g_string_truncate(reader->bulk->text, 0);
	g_string_append_len(reader->bulk->text, start, reader->at - start);
}

static struct truths
read_clause(struct mime_parser *reader, const struct bitset *papers)
{
	struct clause *clause;

	read_text(reader);
	clause = get_clause(reader->bulk);
	reader->is_bad = reader->is_bad || !clause;
	if (!clause)
		return (struct truths){0};
	reader->is_changing = reader->is_changing || clause->is_changing;
	return ask_clause(reader->bulk, clause, reader->mode, papers);
}

static struct truths read_or(struct mime_parser *reader, const struct bitset *papers);

static inline bool
is_at(const struct mime_parser *reader, const char *word)
{
	return *reader->at == *word && strncmp(reader->at, word, strlen(word)) == 0;
}

static inline bool
read_word(struct mime_parser *reader, const char *word)
{
	if (!is_at(reader, word))
		return false;
	reader->at += strlen(word);
	return true;
}

/* A group may have a weight behind it, which says nothing here. */
static struct truths
read_group(struct mime_parser *reader, const struct bitset *papers)
{
	struct truths truths = {0};

	if (!read_word(reader, "("))
		return read_clause(reader, papers);
	if (++reader->depth <= BOUNDS_QUERY_DEPTH)
		truths = read_or(reader, papers);
	reader->is_bad = reader->is_bad || reader->depth > BOUNDS_QUERY_DEPTH ||
	                 !read_word(reader, ")");
	reader->depth--;
	if (!reader->is_bad && read_word(reader, "^"))
		reader->at += strspn(reader->at, "0123456789");
	return truths;
}

static struct truths
read_not(struct mime_parser *reader, const struct bitset *papers)
{
	struct truths truths, turned;

	if (!read_word(reader, "NOT "))
		return read_group(reader, papers);
	truths = read_group(reader, papers);
	turned.yes = subtract(papers, &truths.maybe);
	turned.maybe = subtract(papers, &truths.yes);
	return turned;
}

/* Of each operand only those papers are asked for that it can still turn. */
static struct truths
read_and(struct mime_parser *reader, const struct bitset *papers)
{
	struct truths all = read_not(reader, papers);

	while (
	    !reader->is_bad && (read_word(reader, " AND ") || is_at(reader, " NOT "))) {
		struct truths one;

		(void)read_word(reader, " ");
		one = read_not(reader, &all.maybe);
		all.yes = intersect(&all.yes, &one.yes);
		all.maybe = one.maybe;
	}
	return all;
}

static struct truths
read_or(struct mime_parser *reader, const struct bitset *papers)
{
	struct truths any = read_and(reader, papers);

	while (!reader->is_bad && read_word(reader, " OR ")) {
		struct bitset rest = subtract(papers, &any.yes);
		struct truths one = read_and(reader, &rest);

		any.yes = unite(&any.yes, &one.yes);
		any.maybe = unite(&any.maybe, &one.maybe);
	}
	return any;
}

/* @return false when the text is not as it is formatted */
static bool
read_all(struct mime_parser *reader, const char *canonical, enum query_mode mode,
    const struct bitset *papers, struct truths *truths)
{
	reader->at = canonical;
	reader->mode = mode;
	*truths = read_or(reader, papers);
	return !reader->is_bad && !*reader->at;
}

/* A filter whose text is none of ours: the parser may know better. */
static bool
ask_whole(struct batch_eval *bulk, const char *text, const struct bitset *papers,
    struct batch_result *answer, GError **error)
{
	struct clause *clause = keep_clause(
	    bulk, text, query_parse_canonical(text, bulk->tokenizer, error));
	struct bitset rest;

	if (!clause)
		return false;
	answer->yes = ask_clause(bulk, clause, QUERY_AS_REPORTED, papers).yes;
	rest = subtract(papers, &answer->yes);
	answer->waiting = (struct bitset){0};
	if (clause->is_changing)
		answer->waiting =
		    ask_clause(bulk, clause, QUERY_MAY_CHANGE, &rest).maybe;
	return true;
}

bool
batch_eval_run(struct batch_eval *bulk, const char *canonical,
    const struct bitset *papers, struct batch_result *answer, GError **error)
{
	struct mime_parser reader = {.bulk = bulk};
	struct batch_result found = {0};
	struct truths truths;

	if (!read_all(&reader, canonical, QUERY_AS_REPORTED, papers, &truths))
		return ask_whole(bulk, canonical, papers, answer, error);
	found.yes = truths.yes;
	if (reader.is_changing) {
		struct bitset rest = subtract(papers, &found.yes);

		if (!read_all(&reader, canonical, QUERY_MAY_CHANGE, &rest, &truths))
			return ask_whole(bulk, canonical, papers, answer, error);
		found.waiting = truths.maybe;
	}
	*answer = found;
	return true;
}
