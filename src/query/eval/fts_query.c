/*
 * fts_query.c - FTS5 query that preselects papers of the archive for a filter.
 */
#include "query/eval/fts_query.h"

#include "query/parse/tree.h"

/* Maximum number of variants of a phrase; with more, words are searched separately. */
#define VARIANTS_MAX 16

static bool format_node(const struct node *node, const struct term_frequencies *lexicon,
    char **expression, GError **error);

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
append_variants(GString *out, const GPtrArray *classes, unsigned ways, bool is_prefix)
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
		g_string_append(out, way ? " OR " : "");
		append_string(out, text->str);
		g_string_append(out, is_prefix ? " *" : "");
	}
}

/* Append the words separately: (a) AND (model OR models). */
static void
append_apart(GString *out, const GPtrArray *classes, bool is_prefix)
{
	for (unsigned i = 0; i < classes->len; i++) {
		const GPtrArray *words = classes->pdata[i];

		g_string_append(out, i ? " AND (" : "(");
		for (unsigned n = 0; n < words->len; n++) {
			g_string_append(out, n ? " OR " : "");
			append_string(out, words->pdata[n]);
		}
		g_string_append(out, is_prefix && i + 1 == classes->len ? " *)" : ")");
	}
}

static bool
append_phrase(GString *out, const struct phrase *phrase,
    const struct term_frequencies *lexicon, GError **error)
{
	g_autoptr(GPtrArray) classes =
	    g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
	unsigned ways = 1;

	for (unsigned i = 0; i < phrase->words->len; i++) {
		GPtrArray *words = load_words(phrase, i, lexicon, error);

		if (!words)
			return false;
		g_ptr_array_add(classes, words);
		ways = MIN(ways * words->len, VARIANTS_MAX + 1);
	}
	if (ways <= VARIANTS_MAX)
		append_variants(out, classes, ways, phrase->is_prefix);
	else
		append_apart(out, classes, phrase->is_prefix);
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
format_words(const struct node *node, const struct term_frequencies *lexicon,
    char **expression, GError **error)
{
	g_autoptr(GString) out = g_string_new(get_columns(node->field));

	g_string_append(out, " : (");
	if (!append_phrase(out, node->phrase, lexicon, error))
		return false;
	g_string_append_c(out, ')');
	*expression = g_strdup(out->str);
	return true;
}

static bool
format_near(const struct node *node, const struct term_frequencies *lexicon,
    char **expression, GError **error)
{
	g_autoptr(GString) out = g_string_new(get_columns(node->field));

	g_string_append(out, " : (");
	for (unsigned i = 0; i < node->phrases->len; i++) {
		g_string_append(out, i ? " AND (" : "(");
		if (!append_phrase(out, node->phrases->pdata[i], lexicon, error))
			return false;
		g_string_append_c(out, ')');
	}
	g_string_append_c(out, ')');
	*expression = g_strdup(out->str);
	return true;
}

/* The last name is always whole; given names may be initials. */
static char *
format_name(const struct name *name)
{
	g_autoptr(GString) out = g_string_new("{authors} : (");
	unsigned first = name->is_any_word ? 0 : name->parts->len - name->last;

	for (unsigned i = first; i < name->parts->len; i++) {
		g_string_append(out, i > first ? " AND " : "");
		append_string(out, name_get_part(name, i));
	}
	g_string_append_c(out, ')');
	return g_strdup(out->str);
}

/* An AND ignores operands without an expression; an OR with one has none. */
static bool
format_operands(const struct node *node, const struct term_frequencies *lexicon,
    char **expression, GError **error)
{
	bool is_and = node->kind == NODE_AND;
	g_autoptr(GString) out = g_string_new(NULL);

	for (guint i = 0; i < node->operands->len; i++) {
		g_autofree char *operand = NULL;

		if (!format_node(node->operands->pdata[i], lexicon, &operand, error))
			return false;
		if (!operand && !is_and)
			return true;
		if (operand)
			g_string_append_printf(out, "%s(%s)",
			    out->len ? (is_and ? " AND " : " OR ") : "", operand);
	}
	*expression = out->len ? g_strdup(out->str) : NULL;
	return true;
}

/* @param expression  NULL, and remains so when the node has no words */
static bool
format_node(const struct node *node, const struct term_frequencies *lexicon,
    char **expression, GError **error)
{
	switch (node->kind) {
	case NODE_AND:
	case NODE_OR:
		return format_operands(node, lexicon, expression, error);
	case NODE_WORDS:
		return format_words(node, lexicon, expression, error);
	case NODE_NEAR:
		return format_near(node, lexicon, expression, error);
	case NODE_NAME:
		*expression = format_name(node->name);
		return true;
	case NODE_NOT:
	case NODE_VALUE_WORDS:
	case NODE_VALUE:
	case NODE_NUMBER:
	case NODE_DATE:
		break;
	}
	return true;
}

bool
fts_query_format(const struct query *query, const struct term_frequencies *lexicon,
    char **expression, GError **error)
{
	char *found = NULL;

	if (!format_node(query->root, lexicon, &found, error))
		return false;
	*expression = found;
	return true;
}
