/*
 * query.c - public interface of the parser, and properties of queries.
 */
#include "query/query.h"

#include <string.h>

#include "base/bounds.h"
#include "query/parse/canonical.h"
#include "query/parse/lex.h"
#include "query/parse/parse.h"
#include "query/parse/tree.h"

/* Column of the character at a byte offset. */
static unsigned
find_column(const char *text, size_t offset)
{
	const char *end;

	(void)g_utf8_validate(text, (gssize)offset, &end);
	return (unsigned)g_utf8_strlen(text, end - text) + 1;
}

static struct query *
new_query(struct node *root)
{
	struct query *query = g_new0(struct query, 1);

	query->root = node_simplify(root);
	return query;
}

static struct query *
parse_text(const char *text, size_t limit_bytes, const struct tokenizer *tokenizer,
    GPtrArray *warnings, struct query_error *problem)
{
	g_autoptr(GArray) lexemes = NULL;
	pb_auto(node) root = NULL;
	const struct node *negative;

	if (strnlen(text, limit_bytes + 1) > limit_bytes) {
		query_error_set(problem, PB_ERROR_LIMIT, find_column(text, limit_bytes),
		    NULL, N_("longer than {most} bytes"), "most",
		    MSG_INT((int64_t)limit_bytes), NULL);
		return NULL;
	}
	lexemes = lex_split(text, problem);
	if (!lexemes)
		return NULL;
	root = parse_tree(text, lexemes, tokenizer, warnings, problem);
	if (!root)
		return NULL;
	negative = node_find_negative(root);
	if (negative) {
		query_error_set(problem, PB_ERROR_INPUT, negative->column,
		    "agent -survey",
		    N_("this would match every paper without a word: combine it by AND "
		       "with one that must occur"),
		    NULL);
		return NULL;
	}
	return new_query(g_steal_pointer(&root));
}

struct query *
query_parse(const char *text, const struct tokenizer *tokenizer, GPtrArray **warnings,
    struct query_error *problem, GError **error)
{
	g_autoptr(GPtrArray) noted =
	    g_ptr_array_new_with_free_func((GDestroyNotify)msg_unref);
	/* Papers are in NFC. GLib would read beyond the end of invalid text. */
	g_autofree char *composed = g_utf8_validate(text, -1, NULL)
	                                ? g_utf8_normalize(text, -1, G_NORMALIZE_NFC)
	                                : NULL;
	struct query_error found = {0};
	struct query *query = parse_text(
	    composed ? composed : text, BOUNDS_QUERY_BYTES, tokenizer, noted, &found);

	if (query) {
		if (warnings)
			*warnings = g_steal_pointer(&noted);
		return query;
	}
	query_error_set_error(&found, error);
	if (problem)
		*problem = found;
	else
		query_error_clear(&found);
	return NULL;
}

struct query *
query_parse_canonical(
    const char *text, const struct tokenizer *tokenizer, GError **error)
{
	pb_local(query_error) found = {0};
	struct query *query =
	    parse_text(text, BOUNDS_QUERY_CANONICAL_BYTES, tokenizer, NULL, &found);

	if (!query)
		query_error_set_error(&found, error);
	return query;
}

struct query *
query_parse_clause(const char *text, const struct tokenizer *tokenizer)
{
	pb_local(query_error) problem = {0};
	g_autoptr(GArray) lexemes = lex_split(text, &problem);
	pb_auto(node) root = NULL;

	if (lexemes)
		root = parse_tree(text, lexemes, tokenizer, NULL, &problem);
	return root ? new_query(g_steal_pointer(&root)) : NULL;
}

void
query_free(struct query *query)
{
	if (!query)
		return;
	node_free(query->root);
	g_free(query);
}

/* Whether a clause is on a field with such an availability. */
static bool
has_availability(const struct node *node, enum field_availability least,
    enum field_availability most)
{
	if (node->field)
		return node->field->availability >= least &&
		       node->field->availability <= most;
	for (guint i = 0; i < node->operands->len; i++)
		if (has_availability(g_ptr_array_index(node->operands, i), least, most))
			return true;
	return false;
}

static void
add_sources(const struct node *node, GPtrArray *names)
{
	if (node->field && node->field->kind == FIELD_SOURCE)
		g_ptr_array_add(names, node->value);
	for (guint i = 0; !node->field && i < node->operands->len; i++)
		add_sources(g_ptr_array_index(node->operands, i), names);
}

GPtrArray *
query_list_sources(const struct query *query)
{
	GPtrArray *names = g_ptr_array_new();

	add_sources(query->root, names);
	return names;
}

static void
free_slow(void *data)
{
	struct query_slow *slow = data;

	g_free(slow->text);
	g_free(slow);
}

static void
add_slow(const struct node *node, bool is_negated, GPtrArray *list)
{
	GString *text;
	struct query_slow *slow;

	for (guint i = 0; !node->field && i < node->operands->len; i++)
		add_slow(node->operands->pdata[i],
		    is_negated != (node->kind == NODE_NOT), list);
	if (!node->field || node->field->availability != FIELD_AVAILABLE_LATE)
		return;
	text = g_string_new(is_negated ? "NOT " : NULL);
	node_append_clause(node, text);
	slow = g_new(struct query_slow, 1);
	slow->name = node->kind == NODE_VALUE ? node->value : node->field->name;
	slow->text = g_string_free(text, FALSE);
	slow->is_negated = is_negated;
	g_ptr_array_add(list, slow);
}

GPtrArray *
query_list_slow(const struct query *query)
{
	GPtrArray *list = g_ptr_array_new_with_free_func(free_slow);

	add_slow(query->root, false, list);
	return list;
}

static void
add_clauses(const struct node *node, bool is_negated, GPtrArray *list)
{
	if (node->field) {
		GString *text = g_string_new(is_negated ? CANONICAL_NOT : NULL);

		node_append_clause(node, text);
		g_ptr_array_add(list, g_string_free(text, FALSE));
		return;
	}
	for (guint i = 0; i < node->operands->len; i++)
		add_clauses(node->operands->pdata[i],
		    is_negated != (node->kind == NODE_NOT), list);
}

GPtrArray *
query_list_new_clauses(const struct query *before, const struct query *after)
{
	g_autoptr(GPtrArray) old = g_ptr_array_new_with_free_func(g_free);
	GPtrArray *list = g_ptr_array_new_with_free_func(g_free);

	add_clauses(before->root, false, old);
	add_clauses(after->root, false, list);
	for (guint i = list->len; i-- > 0;)
		if (g_ptr_array_find_with_equal_func(
		        old, list->pdata[i], g_str_equal, NULL))
			g_ptr_array_remove_index(list, i);
	return list;
}

static bool
has_relative_date(const struct node *node)
{
	if (node->field)
		return node->kind == NODE_DATE && date_is_relative(&node->dates);
	for (guint i = 0; i < node->operands->len; i++)
		if (has_relative_date(node->operands->pdata[i]))
			return true;
	return false;
}

bool
query_has_relative_date(const struct query *query)
{
	return has_relative_date(query->root);
}

bool
query_is_time_dependent(const struct query *query)
{
	return has_availability(
	    query->root, FIELD_AVAILABLE_ENRICHED, FIELD_AVAILABLE_LATE);
}

bool
query_needs_enrichment(const struct query *query)
{
	return has_availability(
	    query->root, FIELD_AVAILABLE_ENRICHED, FIELD_AVAILABLE_ENRICHED);
}
