/*
 * fts_query.c - FTS5 query that preselects papers of the archive for a filter.
 */
#include "query/eval/fts_query.h"

#include <string.h>

#include "base/bounds.h"
#include "query/eval/near.h"
#include "query/parse/tree.h"

/* Maximum number of variants of a phrase; with more, words are searched separately. */
#define VARIANTS_MAX 16

static const char AND[] = " AND ", OR[] = " OR ";

/* State of formatting. */
struct formatter {
	const struct term_frequencies *lexicon;
	struct fts_query *fts;
	GString *out;
	bool is_exact;   /* the phrases of the clause say the same as it */
	bool is_match;   /* the expression says the same as the nodes */
	bool is_negated; /* clauses under a NOT are not ranked */
	/* Joins parts of a clause: AND; below an OR likewise OR, since FTS5 would not
	 * give the places of an AND that is false, and of some that are true. */
	const char *join;
	GArray *near; /* of the current clause */
};

static bool
format_node(struct formatter *formatter, const struct node *node, GError **error);

/* Append an FTS5 string: tokens have no quotation marks, names may. */
static void
append_string(GString *out, const char *text)
{
	g_string_append_c(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			g_string_append_c(out, '"');
		g_string_append_c(out, *text);
	}
	g_string_append_c(out, '"');
}

/* Append a phrase of the expression. */
static void
append_single(struct formatter *formatter, const char *words, bool is_prefix)
{
	g_autoptr(GString) text = g_string_new(NULL);

	append_string(text, words);
	g_string_append(text, is_prefix ? " *" : "");
	formatter->fts->has_prefix |= is_prefix;
	g_string_append(formatter->out, text->str);
	g_ptr_array_add(
	    formatter->fts->phrases, g_string_free(g_steal_pointer(&text), FALSE));
}

/* Load the words that fold to a word of a phrase, and the word itself. */
static GPtrArray *
load_words(const struct phrase *phrase, unsigned i,
    const struct term_frequencies *lexicon, GError **error)
{
	const char *text = phrase_get_word(phrase, i)->key.text;
	bool is_prefix = phrase->is_prefix && i + 1 == phrase->words->len;
	g_autoptr(GPtrArray) words = NULL;

	if (is_prefix)
		words = g_ptr_array_new_with_free_func(g_free);
	else
		words = lexicon->load_class(lexicon->data, text, error);
	if (!words)
		return NULL;
	for (unsigned n = 0; n < words->len; n++)
		if (g_str_equal(words->pdata[n], text))
			return g_steal_pointer(&words);
	g_ptr_array_add(words, g_strdup(text));
	return g_steal_pointer(&words);
}

/* Append all variants of the phrase: ("a model" OR "a models"). */
static void
append_variants(struct formatter *formatter, const GPtrArray *classes, unsigned ways,
    bool is_prefix)
{
	for (unsigned way = 0; way < ways; way++) {
		g_autoptr(GString) text = g_string_new(NULL);
		unsigned rest = way;

		for (unsigned i = 0; i < classes->len; i++) {
			const GPtrArray *words = classes->pdata[i];

			g_string_append_printf(text, "%s%s", i ? " " : "",
			    (const char *)words->pdata[rest % words->len]);
			rest /= words->len;
		}
		g_string_append(formatter->out, way ? " OR " : "");
		append_single(formatter, text->str, is_prefix);
	}
}

/* Append the words separately: (a) AND (model OR models). */
static void
append_apart(struct formatter *formatter, const GPtrArray *classes, bool is_prefix)
{
	for (unsigned i = 0; i < classes->len; i++) {
		const GPtrArray *words = classes->pdata[i];

		g_string_append_printf(formatter->out, "%s(", i ? formatter->join : "");
		for (unsigned n = 0; n < words->len; n++) {
			g_string_append(formatter->out, n ? " OR " : "");
			append_single(formatter, words->pdata[n],
			    is_prefix && i + 1 == classes->len);
		}
		g_string_append_c(formatter->out, ')');
	}
	formatter->is_exact &= classes->len == 1;
}

static bool
append_phrase(struct formatter *formatter, const struct phrase *phrase, GError **error)
{
	g_autoptr(GPtrArray) classes =
	    g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
	unsigned ways = 1;

	for (unsigned i = 0; i < phrase->words->len; i++) {
		const struct phrase_word *word = phrase_get_word(phrase, i);
		GPtrArray *words = load_words(phrase, i, formatter->lexicon, error);

		if (!words)
			return false;
		g_ptr_array_add(classes, words);
		ways = MIN(ways * words->len, VARIANTS_MAX + 1);
		formatter->is_exact &= !word->signs && !word->exact_text;
	}
	if (ways <= VARIANTS_MAX)
		append_variants(formatter, classes, ways, phrase->is_prefix);
	else
		append_apart(formatter, classes, phrase->is_prefix);
	return true;
}

static const char *
get_columns(const struct field *field)
{
	switch (field->texts) {
	case FIELD_IN_TITLE:
		return "{title}";
	case FIELD_IN_ABSTRACT:
		return "{abstract}";
	}
	return "{title abstract}";
}

static bool
format_words(struct formatter *formatter, const struct node *node, GError **error)
{
	g_string_append_printf(formatter->out, "%s : (", get_columns(node->field));
	if (!append_phrase(formatter, node->phrase, error))
		return false;
	g_string_append_c(formatter->out, ')');
	return true;
}

static void
fts_near_clear(void *data)
{
	struct fts_near *near = data;

	for (unsigned i = 0; i < FTS_COLUMNS; i++)
		g_array_unref(near->places[i]);
}

static bool
format_near(struct formatter *formatter, const struct node *node, GError **error)
{
	formatter->near = g_array_new(FALSE, FALSE, sizeof(struct fts_near));
	g_array_set_clear_func(formatter->near, fts_near_clear);
	/* Places in other columns do no harm, and a filter takes time. */
	if (node->field->texts != (FIELD_IN_TITLE | FIELD_IN_ABSTRACT))
		g_string_append_printf(
		    formatter->out, "%s : ", get_columns(node->field));
	g_string_append_c(formatter->out, '(');
	for (unsigned i = 0; i < node->phrases->len; i++) {
		struct fts_near near = {.first = formatter->fts->phrases->len};

		g_string_append_printf(formatter->out, "%s(", i ? formatter->join : "");
		if (!append_phrase(formatter, node->phrases->pdata[i], error))
			return false;
		g_string_append_c(formatter->out, ')');
		near.phrases = formatter->fts->phrases->len - near.first;
		for (unsigned n = 0; n < FTS_COLUMNS; n++)
			near.places[n] = g_array_new(FALSE, FALSE, sizeof(int));
		g_array_append_val(formatter->near, near);
	}
	g_string_append_c(formatter->out, ')');
	return true;
}

/*
 * The last name is always whole; a given name may be an initial in the paper, and is
 * left out below an OR.
 */
static void
format_name(struct formatter *formatter, const struct name *name)
{
	bool is_or = formatter->join == OR;
	unsigned given = name->is_any_word ? 0 : name->parts->len - name->last;
	gsize start;

	g_string_append(formatter->out, "{authors} : (");
	start = formatter->out->len;
	for (unsigned i = 0; i < name->parts->len; i++) {
		const char *part = name_get_part(name, i);
		g_autofree char *initial = g_utf8_substring(part, 0, 1);

		/* An initial in the query may be any name. */
		if (i < given && (is_or || strcmp(part, initial) == 0))
			continue;
		if (formatter->out->len > start)
			g_string_append(formatter->out, formatter->join);
		g_string_append(formatter->out, i < given ? "(" : "");
		append_single(formatter, part, false);
		if (i >= given)
			continue;
		g_string_append(formatter->out, " OR ");
		append_single(formatter, initial, false);
		g_string_append_c(formatter->out, ')');
	}
	g_string_append_c(formatter->out, ')');
	formatter->is_exact = false;
}

static bool
has_words_itself(const struct node *node)
{
	return node->kind == NODE_WORDS || node->kind == NODE_NEAR ||
	       node->kind == NODE_NAME;
}

static void
add_clause(struct formatter *formatter, const struct fts_clause *clause)
{
	g_array_append_vals(
	    formatter->is_negated ? formatter->fts->negated : formatter->fts->clauses,
	    clause, 1);
}

/* Format a clause with words. */
static bool
format_clause(struct formatter *formatter, const struct node *node, GError **error)
{
	struct fts_clause clause = {
	    .node = node, .first = formatter->fts->phrases->len};
	bool is_ok = true;

	formatter->is_exact = true;
	if (node->kind == NODE_WORDS)
		is_ok = format_words(formatter, node, error);
	else if (node->kind == NODE_NEAR)
		is_ok = format_near(formatter, node, error);
	else
		format_name(formatter, node->name);
	clause.phrases = formatter->fts->phrases->len - clause.first;
	clause.near = g_steal_pointer(&formatter->near);
	clause.is_exact = formatter->is_exact;
	formatter->is_match &= clause.is_exact && !clause.near;
	add_clause(formatter, &clause);
	return is_ok;
}

/* Record the clauses of a node that is left out of the expression. */
static void
skip_node(struct formatter *formatter, const struct node *node)
{
	const struct fts_clause clause = {.node = node};
	bool was_negated = formatter->is_negated;

	formatter->is_match = false;
	formatter->is_negated |= node->kind == NODE_NOT;
	for (guint i = 0; node->operands && i < node->operands->len; i++)
		skip_node(formatter, node->operands->pdata[i]);
	formatter->is_negated = was_negated;
	if (!node->operands)
		add_clause(formatter, &clause);
}

/* Whether a paper with none of its words cannot match the node. */
static bool
has_words(const struct node *node)
{
	bool is_and = node->kind == NODE_AND;

	if (!is_and && node->kind != NODE_OR)
		return has_words_itself(node);
	for (guint i = 0; i < node->operands->len; i++)
		if (has_words(node->operands->pdata[i]) == is_and)
			return is_and;
	return !is_and;
}

/* Append "NOT (...)" if that excludes no other papers. */
static bool
exclude(struct formatter *formatter, const struct node *node, GError **error)
{
	const struct node *operand = node->operands->pdata[0];
	const struct formatter before = *formatter;
	guint clauses = formatter->fts->negated->len;
	guint phrases = formatter->fts->phrases->len;
	gsize len = formatter->out->len;
	bool is_ok = true;

	formatter->is_match = formatter->is_negated = has_words(operand);
	if (formatter->is_match) {
		g_string_append(formatter->out, " NOT (");
		is_ok = format_node(formatter, operand, error);
		g_string_append_c(formatter->out, ')');
	}
	if (!formatter->is_match) {
		g_string_truncate(formatter->out, len);
		g_ptr_array_set_size(formatter->fts->phrases, (gint)phrases);
		g_array_set_size(formatter->fts->negated, clauses);
		skip_node(formatter, node);
	}
	formatter->is_negated = before.is_negated;
	formatter->is_match &= before.is_match;
	return is_ok;
}

/* An AND leaves out operands without words; its NOTs are the last. */
static bool
format_and(struct formatter *formatter, const struct node *node, GError **error)
{
	gsize start = formatter->out->len;

	for (guint i = 0; i < node->operands->len; i++) {
		const struct node *operand = node->operands->pdata[i];

		if (operand->kind == NODE_NOT) {
			if (!exclude(formatter, operand, error))
				return false;
			continue;
		}
		if (!has_words(operand)) {
			skip_node(formatter, operand);
			continue;
		}
		if (formatter->out->len > start)
			g_string_append(formatter->out, AND);
		g_string_append_c(formatter->out, '(');
		if (!format_node(formatter, operand, error))
			return false;
		g_string_append_c(formatter->out, ')');
	}
	return true;
}

/*
 * Join all clauses with words by OR, those under a NOT, too.
 *
 * @param start  of the expression in the output
 */
static bool
format_any(
    struct formatter *formatter, const struct node *node, gsize start, GError **error)
{
	bool was_negated = formatter->is_negated;

	if (!node->operands && !has_words_itself(node)) {
		skip_node(formatter, node);
		return true;
	}
	if (!node->operands) {
		if (formatter->out->len > start)
			g_string_append(formatter->out, OR);
		g_string_append_c(formatter->out, '(');
		if (!format_clause(formatter, node, error))
			return false;
		g_string_append_c(formatter->out, ')');
		return true;
	}
	formatter->is_match &= node->kind == NODE_OR;
	formatter->is_negated |= node->kind == NODE_NOT;
	for (guint i = 0; i < node->operands->len; i++)
		if (!format_any(formatter, node->operands->pdata[i], start, error))
			return false;
	formatter->is_negated = was_negated;
	return true;
}

/* @param node  has_words() */
static bool
format_node(struct formatter *formatter, const struct node *node, GError **error)
{
	if (node->kind == NODE_AND)
		return format_and(formatter, node, error);
	if (node->kind == NODE_OR) {
		const char *join = formatter->join;
		bool is_ok;

		formatter->join = OR;
		is_ok = format_any(formatter, node, formatter->out->len, error);
		formatter->join = join;
		return is_ok;
	}
	return format_clause(formatter, node, error);
}

static void
fts_clause_clear(void *data)
{
	struct fts_clause *clause = data;

	g_free(clause->papers);
	g_clear_pointer(&clause->near, g_array_unref);
}

static GArray *
new_clauses(void)
{
	GArray *clauses = g_array_new(FALSE, FALSE, sizeof(struct fts_clause));

	g_array_set_clear_func(clauses, fts_clause_clear);
	return clauses;
}

struct fts_query *
fts_query_new(
    const struct query *query, const struct term_frequencies *lexicon, GError **error)
{
	pb_auto(fts_query) fts = g_new0(struct fts_query, 1);
	g_autoptr(GString) out = g_string_new(NULL);
	struct formatter formatter = {
	    .lexicon = lexicon, .fts = fts, .out = out, .is_match = true};

	fts->root = query->root;
	fts->clauses = new_clauses();
	fts->negated = new_clauses();
	fts->phrases = g_ptr_array_new_with_free_func(g_free);
	fts->is_required = has_words(query->root);
	formatter.join = fts->is_required ? AND : OR;
	if (!(fts->is_required ? format_node(&formatter, query->root, error)
	                       : format_any(&formatter, query->root, 0, error)))
		return NULL;
	fts->expression = out->len ? g_strdup(out->str) : NULL;
	fts->is_match = fts->is_required && formatter.is_match;
	return g_steal_pointer(&fts);
}

static bool
are_exact(const GArray *clauses)
{
	for (guint i = 0; i < clauses->len; i++)
		if (!g_array_index(clauses, struct fts_clause, i).is_exact)
			return false;
	return true;
}

bool
fts_query_is_exact(const struct fts_query *fts)
{
	return are_exact(fts->clauses) && are_exact(fts->negated);
}

void
fts_query_free(struct fts_query *fts)
{
	if (!fts)
		return;
	g_free(fts->expression);
	g_array_unref(fts->clauses);
	g_array_unref(fts->negated);
	g_ptr_array_unref(fts->phrases);
	g_free(fts);
}

/* ---- classification by the index ---- */

/* Count a clause with words, at most. */
static void
count_words(const struct fts_clause *clause, const struct fts_paper *paper,
    struct rank_hits *hits)
{
	unsigned columns[FTS_COLUMNS] = {0};

	if (!clause->phrases) {
		hits->texts[HIT_FIELD_TITLE] = hits->texts[HIT_FIELD_ABSTRACT] =
		    RANK_HITS_UNKNOWN;
		return;
	}
	for (unsigned i = 0; paper->row && i < clause->phrases; i++)
		paper->count(paper->row, clause->first + i, columns);
	if (clause->node->kind == NODE_NAME)
		hits->texts[0] = columns[FTS_AUTHORS] > 0;
	else
		memcpy(hits->texts, columns, sizeof(hits->texts));
}

static int
compare_places(const void *a, const void *b)
{
	const int *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

/* Mostly only one of the phrases is there. */
static void
sort_places(GArray *places)
{
	bool is_sorted = true;

	for (guint i = 1; is_sorted && i < places->len; i++)
		is_sorted =
		    g_array_index(places, int, i - 1) <= g_array_index(places, int, i);
	if (!is_sorted)
		g_array_sort(places, compare_places);
}

/* The phrases of a NODE_NEAR in a column. */
struct near_column {
	GArray *phrases; /* of struct fts_near */
	unsigned column;
};

/* As near_next. */
static int
find_next_place(const void *data, guint phrase, int after)
{
	const struct near_column *near = data;
	struct fts_near *one = &g_array_index(near->phrases, struct fts_near, phrase);
	const GArray *places = one->places[near->column];

	while (
	    one->next < places->len && g_array_index(places, int, one->next) <= after)
		one->next++;
	return one->next < places->len ? g_array_index(places, int, one->next) : -1;
}

static void
list_places(GArray *phrases, const struct fts_paper *paper)
{
	for (guint i = 0; i < phrases->len; i++) {
		struct fts_near *near = &g_array_index(phrases, struct fts_near, i);

		for (unsigned n = 0; n < FTS_COLUMNS; n++)
			g_array_set_size(near->places[n], 0);
		for (unsigned n = 0; n < near->phrases; n++)
			paper->list(paper->row, near->first + n, near->places);
		for (unsigned n = 0; near->phrases > 1 && n < FTS_AUTHORS; n++)
			sort_places(near->places[n]);
	}
}

static void
count_near(const struct fts_clause *clause, const struct fts_paper *paper,
    struct rank_hits *hits)
{
	int places[BOUNDS_QUERY_TERMS];

	list_places(clause->near, paper);
	for (unsigned text = 0; text < G_N_ELEMENTS(hits->texts); text++) {
		const struct near_column column = {clause->near, text};

		for (guint i = 0; i < clause->near->len; i++) {
			g_array_index(clause->near, struct fts_near, i).next = 0;
			places[i] = -1;
		}
		while (near_find(clause->node, find_next_place, &column, places))
			hits->texts[text]++;
	}
}

void
fts_query_count_clause(const struct fts_clause *clause, const struct fts_paper *paper,
    struct rank_hits *hits)
{
	*hits = (struct rank_hits){0};
	if (clause->near && clause->is_exact) {
		if (paper->row)
			count_near(clause, paper, hits);
	} else if (has_words_itself(clause->node))
		count_words(clause, paper, hits);
	else
		hits->texts[0] = !clause->papers || clause->papers[paper->seq];
}

/* One bit for each clause, then for those under a NOT. */
G_STATIC_ASSERT(BOUNDS_QUERY_TERMS <= 64);

/* Verdicts of all clauses. */
struct verdicts {
	const struct fts_query *fts;
	uint64_t found;    /* clauses that may be true */
	fts_decide decide; /* NULL: clauses that are not exact are unknown */
	const void *data;
	unsigned clause, negated; /* next ones */
};

static enum query_verdict
get_verdict(
    const struct verdicts *verdicts, const struct fts_clause *clause, unsigned bit)
{
	if (!(verdicts->found & 1ULL << bit))
		return QUERY_FALSE;
	if (clause->is_exact)
		return QUERY_TRUE;
	return verdicts->decide ? verdicts->decide(verdicts->data, clause->node)
	                        : QUERY_UNKNOWN;
}

static enum query_verdict
classify(struct verdicts *verdicts, const struct node *node, bool is_negated)
{
	const struct fts_query *fts = verdicts->fts;
	bool is_and = node->kind == NODE_AND;
	enum query_verdict verdict = is_and ? QUERY_TRUE : QUERY_FALSE;

	if (node->kind == NODE_NOT)
		return QUERY_TRUE - classify(verdicts, node->operands->pdata[0], true);
	if (!node->operands) {
		unsigned i = is_negated ? verdicts->negated++ : verdicts->clause++;

		return get_verdict(verdicts,
		    &g_array_index(
		        is_negated ? fts->negated : fts->clauses, struct fts_clause, i),
		    is_negated ? fts->clauses->len + i : i);
	}
	for (guint i = 0; i < node->operands->len; i++) {
		enum query_verdict one =
		    classify(verdicts, node->operands->pdata[i], is_negated);

		verdict = is_and ? MIN(verdict, one) : MAX(verdict, one);
	}
	return verdict;
}

enum query_verdict
fts_query_decide(
    const struct fts_query *fts, uint64_t found, fts_decide decide, const void *data)
{
	struct verdicts verdicts = {fts, found, decide, data, 0, 0};

	return classify(&verdicts, fts->root, false);
}

static bool
is_found(const struct rank_hits *hits)
{
	return hits->texts[0] || hits->texts[1];
}

enum query_verdict
fts_query_classify(const struct fts_query *fts, const struct fts_paper *paper,
    struct rank_hits *hits, uint64_t *found)
{
	*found = 0;
	for (guint i = 0; i < fts->clauses->len; i++) {
		fts_query_count_clause(
		    &g_array_index(fts->clauses, struct fts_clause, i), paper,
		    &hits[i]);
		*found |= (uint64_t)is_found(&hits[i]) << i;
	}
	for (guint i = 0; i < fts->negated->len; i++) {
		struct rank_hits negated;

		fts_query_count_clause(
		    &g_array_index(fts->negated, struct fts_clause, i), paper,
		    &negated);
		*found |= (uint64_t)is_found(&negated) << (fts->clauses->len + i);
	}
	return fts_query_decide(fts, *found, NULL, NULL);
}
