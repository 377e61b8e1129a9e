/*
 * fts_query.c - translates a filter to an FTS5 query that selects its candidates.
 */
#include "query/eval/fts_query.h"

#include <string.h>

#include "query/parse/tree.h"
#include "query/text/stem.h"

/* Maximum number of spellings of a phrase that are listed (a word may be a singular or
 * a plural); of a phrase with more, the words are searched separately. */
#define SPELLINGS_MAX 64

struct translation {
	struct fts_query *fts;
	GString *out;
	unsigned phrases; /* in the output so far */
	bool is_exact;    /* FTS5 decides all that was translated */
	bool is_negated;  /* below a NOT: its clauses are not ranked */
};

/* Append an FTS5 string: tokens have no quotation marks, values may. */
static void
append_string(struct translation *translation, const char *text, bool is_prefix)
{
	GString *out = translation->out;

	g_string_append_c(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			g_string_append_c(out, '"');
		g_string_append_c(out, *text);
	}
	g_string_append(out, is_prefix ? "\" *" : "\"");
	translation->phrases++;
}

/* The spellings of each word of a phrase. @return of GPtrArray * of char * */
static GPtrArray *
list_spellings(const struct phrase *phrase)
{
	GPtrArray *words =
	    g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);

	for (unsigned i = 0; i < phrase->words->len; i++) {
		const char *text = phrase_get_word(phrase, i)->key.text;
		GPtrArray *spellings;

		if (phrase->is_prefix && i + 1 == phrase->words->len) {
			spellings = g_ptr_array_new_with_free_func(g_free);
			g_ptr_array_add(spellings, g_strdup(text));
		} else {
			spellings = stem_list_spellings(text);
		}
		g_ptr_array_add(words, spellings);
	}
	return words;
}

/* Append all spellings of the phrase: "a model" OR "a models". */
static void
append_together(struct translation *translation, const GPtrArray *words, unsigned count,
    bool is_prefix)
{
	for (unsigned i = 0; i < count; i++) {
		g_autoptr(GString) text = g_string_new(NULL);
		unsigned rest = i;

		for (unsigned n = 0; n < words->len; n++) {
			const GPtrArray *spellings = words->pdata[n];

			g_string_append_printf(text, "%s%s", n ? " " : "",
			    (const char *)spellings->pdata[rest % spellings->len]);
			rest /= spellings->len;
		}
		g_string_append(translation->out, i ? " OR " : "");
		append_string(translation, text->str, is_prefix);
	}
}

/* Append the words separately: ("a") AND ("model" OR "models"). */
static void
append_apart(struct translation *translation, const GPtrArray *words, bool is_prefix)
{
	for (unsigned i = 0; i < words->len; i++) {
		const GPtrArray *spellings = words->pdata[i];

		g_string_append(translation->out, i ? " AND (" : "(");
		for (unsigned n = 0; n < spellings->len; n++) {
			g_string_append(translation->out, n ? " OR " : "");
			append_string(translation, spellings->pdata[n],
			    is_prefix && i + 1 == words->len);
		}
		g_string_append_c(translation->out, ')');
	}
	translation->is_exact = false;
}

static void
append_phrase(struct translation *translation, const struct phrase *phrase)
{
	g_autoptr(GPtrArray) words = list_spellings(phrase);
	unsigned count = 1;

	for (unsigned i = 0; i < words->len; i++) {
		const struct phrase_word *word = phrase_get_word(phrase, i);
		const GPtrArray *spellings = words->pdata[i];

		count = MIN(count * spellings->len, SPELLINGS_MAX + 1);
		if (word->signs || word->exact_text || (word->is_char && i > 0))
			translation->is_exact = false;
	}
	if (count <= SPELLINGS_MAX)
		append_together(translation, words, count, phrase->is_prefix);
	else
		append_apart(translation, words, phrase->is_prefix);
}

static void
append_near(struct translation *translation, const struct node *node)
{
	for (unsigned i = 0; i < node->phrases->len; i++) {
		g_string_append(translation->out, i ? " AND (" : "(");
		append_phrase(translation, node->phrases->pdata[i]);
		g_string_append_c(translation->out, ')');
	}
	translation->is_exact = false;
}

/* The last name is always whole; a given name may be an initial in the paper, and an
 * initial in the filter any given name. */
static void
append_name(struct translation *translation, const struct name *name)
{
	unsigned given = name->is_any_word ? 0 : name->parts->len - name->last;
	gsize start = translation->out->len;

	for (unsigned i = 0; i < name->parts->len; i++) {
		const char *part = name_get_part(name, i);
		g_autofree char *initial = g_utf8_substring(part, 0, 1);

		if (i < given && strcmp(part, initial) == 0)
			continue;
		g_string_append(
		    translation->out, translation->out->len > start ? " AND (" : "(");
		append_string(translation, part, false);
		if (i < given) {
			g_string_append(translation->out, " OR ");
			append_string(translation, initial, false);
		}
		g_string_append_c(translation->out, ')');
	}
	translation->is_exact = false;
}

/* Whether the tokenizer finds a word in a value: FTS5 finds nothing without. */
static bool
has_token(const char *value)
{
	while (*value && !g_ascii_isalnum(*value))
		value++;
	return *value != '\0';
}

/* Whether a paper with none of its words in the index cannot match the node. */
static bool
has_words(const struct node *node)
{
	bool is_and = node->kind == NODE_AND;

	if (node->kind == NODE_NOT)
		return false;
	if (!node->operands)
		return node->field->column &&
		       (node->kind != NODE_VALUE || has_token(node->value));
	for (guint i = 0; i < node->operands->len; i++)
		if (has_words(node->operands->pdata[i]) == is_and)
			return is_and;
	return !is_and;
}

static void
add_clause(struct translation *translation, const struct fts_clause *clause)
{
	if (!translation->is_negated)
		g_array_append_vals(translation->fts->clauses, clause, 1);
}

static void
append_clause(struct translation *translation, const struct node *node)
{
	struct fts_clause clause = {.first = translation->phrases};

	g_string_append_printf(translation->out, "{%s} : (", node->field->column);
	if (node->kind == NODE_WORDS || node->kind == NODE_VALUE_WORDS)
		append_phrase(translation, node->phrase);
	else if (node->kind == NODE_NEAR)
		append_near(translation, node);
	else if (node->kind == NODE_NAME)
		append_name(translation, node->name);
	else
		append_string(translation, node->value, node->is_prefix);
	g_string_append_c(translation->out, ')');
	if (node->kind != NODE_WORDS)
		translation->is_exact = false;
	clause.count = translation->phrases - clause.first;
	add_clause(translation, &clause);
}

/* Leave a node out of the expression. */
static void
skip_node(struct translation *translation, const struct node *node)
{
	static const struct fts_clause none = {0};

	translation->is_exact = false;
	for (guint i = 0; node->operands && i < node->operands->len; i++)
		if (node->kind != NODE_NOT)
			skip_node(translation, node->operands->pdata[i]);
	if (!node->operands)
		add_clause(translation, &none);
}

static void append_node(struct translation *translation, const struct node *node);

/* Append "NOT (...)" if FTS5 decides what is excluded. */
static void
append_not(struct translation *translation, const struct node *node)
{
	struct translation before = *translation;
	gsize len = translation->out->len;

	translation->is_negated = translation->is_exact = true;
	if (has_words(node)) {
		g_string_append(translation->out, " NOT (");
		append_node(translation, node);
		g_string_append_c(translation->out, ')');
	} else {
		translation->is_exact = false;
	}
	if (!translation->is_exact) {
		g_string_truncate(translation->out, len);
		translation->phrases = before.phrases;
		before.is_exact = false;
	}
	translation->is_exact = before.is_exact;
	translation->is_negated = before.is_negated;
}

/* @param node  has_words(); its NOTs are the last operands */
static void
append_node(struct translation *translation, const struct node *node)
{
	gsize start = translation->out->len;

	if (!node->operands) {
		append_clause(translation, node);
		return;
	}
	for (guint i = 0; i < node->operands->len; i++) {
		const struct node *operand = node->operands->pdata[i];

		if (operand->kind == NODE_NOT) {
			append_not(translation, operand->operands->pdata[0]);
			continue;
		}
		if (!has_words(operand)) {
			skip_node(translation, operand);
			continue;
		}
		if (translation->out->len > start)
			g_string_append(translation->out,
			    node->kind == NODE_AND ? " AND " : " OR ");
		g_string_append_c(translation->out, '(');
		append_node(translation, operand);
		g_string_append_c(translation->out, ')');
	}
}

/* The number of votes that every match has at least. */
static int64_t
get_upvotes(const struct node *node)
{
	int64_t least = -1;

	if (node->kind == NODE_NUMBER && node->field->hit == HIT_FIELD_UPVOTES)
		return node->min;
	for (guint i = 0; node->kind == NODE_AND && i < node->operands->len; i++)
		least = MAX(least, get_upvotes(node->operands->pdata[i]));
	return least;
}

struct fts_query *
fts_query_new(const struct query *query)
{
	struct fts_query *fts = g_new0(struct fts_query, 1);
	struct translation translation = {
	    .fts = fts, .out = g_string_new(NULL), .is_exact = true};

	fts->clauses = g_array_new(FALSE, FALSE, sizeof(struct fts_clause));
	fts->upvotes = get_upvotes(query->root);
	if (has_words(query->root))
		append_node(&translation, query->root);
	else
		skip_node(&translation, query->root);
	fts->is_match = translation.is_exact;
	fts->expression = g_string_free(translation.out, translation.out->len == 0);
	return fts;
}

void
fts_query_free(struct fts_query *fts)
{
	if (!fts)
		return;
	g_free(fts->expression);
	g_array_unref(fts->clauses);
	g_free(fts);
}
