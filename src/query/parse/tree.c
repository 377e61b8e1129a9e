/*
 * tree.c - tree of a parsed filter.
 */
#include "query/parse/tree.h"

#include <string.h>

#include "base/bounds.h"
#include "query/parse/canonical.h"

struct node *
node_new(enum node_kind kind, unsigned column)
{
	struct node *node = g_new0(struct node, 1);

	node->kind = kind;
	node->column = column;
	node->boost = 1;
	return node;
}

void
node_free(struct node *node)
{
	if (!node)
		return;
	if (node->operands)
		g_ptr_array_unref(node->operands);
	phrase_free(node->phrase);
	g_clear_pointer(&node->phrases, g_ptr_array_unref);
	g_free(node->value);
	name_free(node->name);
	g_free(node);
}

void
node_add_operand(struct node *node, struct node *operand)
{
	if (!node->operands)
		node->operands =
		    g_ptr_array_new_with_free_func((GDestroyNotify)node_free);
	g_ptr_array_add(node->operands, operand);
}

static char *
format_phrase(const struct phrase *phrase)
{
	GString *text = g_string_new(NULL);

	phrase_append(phrase, text);
	return g_string_free(text, FALSE);
}

static int
compare_phrases(const void *a, const void *b)
{
	g_autofree char *left = format_phrase(*(struct phrase *const *)a);
	g_autofree char *right = format_phrase(*(struct phrase *const *)b);

	return strcmp(left, right);
}

void
node_add_phrase(struct node *near, struct node *words)
{
	if (!near->phrases)
		near->phrases =
		    g_ptr_array_new_with_free_func((GDestroyNotify)phrase_free);
	near->field = words->field;
	g_ptr_array_add(near->phrases, g_steal_pointer(&words->phrase));
	node_free(words);
}

void
node_finish_near(struct node *near)
{
	GPtrArray *phrases = near->phrases;

	g_ptr_array_sort(phrases, compare_phrases);
	for (guint i = phrases->len; i-- > 1;)
		if (compare_phrases(&phrases->pdata[i], &phrases->pdata[i - 1]) == 0)
			g_ptr_array_remove_index(phrases, i);
	if (phrases->len > 1)
		return;
	near->kind = NODE_WORDS;
	near->phrase = g_ptr_array_index(phrases, 0);
	g_ptr_array_set_free_func(phrases, NULL);
	g_clear_pointer(&near->phrases, g_ptr_array_unref);
}

/* A tree, or its negation, is safe when it is false for a paper without any of its
 * words, names and numbers. */
static bool
is_safe(const struct node *node, bool is_negated)
{
	bool needs_all;

	if (node->field)
		return !is_negated;
	if (node->kind == NODE_NOT)
		return is_safe(g_ptr_array_index(node->operands, 0), !is_negated);
	needs_all = (node->kind == NODE_OR) != is_negated;
	for (guint i = 0; i < node->operands->len; i++)
		if (is_safe(g_ptr_array_index(node->operands, i), is_negated) !=
		    needs_all)
			return !needs_all;
	return needs_all;
}

const struct node *
node_find_negative(const struct node *node)
{
	if (is_safe(node, false))
		return NULL;
	while (node->kind == NODE_AND || node->kind == NODE_OR) {
		guint i = 0;

		/* The loop ends: the node itself is not safe. */
		while (is_safe(g_ptr_array_index(node->operands, i), false))
			i++;
		node = g_ptr_array_index(node->operands, i);
	}
	return node;
}

/* Boosts rank matches, and a NOT matches nothing. */
static void
drop_boosts(struct node *node)
{
	node->boost = 1;
	for (guint i = 0; node->operands && i < node->operands->len; i++)
		drop_boosts(g_ptr_array_index(node->operands, i));
}

struct sortable {
	char *text; /* without the boost of the operand itself */
	struct node *node;
};

static char *
format_unboosted(struct node *node)
{
	GString *text = g_string_new(NULL);
	unsigned boost = node->boost;

	node->boost = 1;
	node_append(node, text);
	node->boost = boost;
	return g_string_free(text, FALSE);
}

static int
compare_sortables(const void *a, const void *b)
{
	const struct sortable *left = a, *right = b;
	int left_is_not = left->node->kind == NODE_NOT;
	int right_is_not = right->node->kind == NODE_NOT;

	if (left_is_not != right_is_not)
		return left_is_not - right_is_not;
	return strcmp(left->text, right->text);
}

static void
sort_operands(struct node *node)
{
	g_autoptr(GArray) sorted = g_array_new(FALSE, FALSE, sizeof(struct sortable));
	g_autoptr(GPtrArray) old = g_steal_pointer(&node->operands);
	const struct sortable *before = NULL;

	for (guint i = 0; i < old->len; i++) {
		struct node *operand = g_ptr_array_index(old, i);
		struct sortable sortable = {format_unboosted(operand), operand};

		g_array_append_val(sorted, sortable);
	}
	g_ptr_array_set_free_func(old, NULL);
	g_array_sort(sorted, compare_sortables);
	for (guint i = 0; i < sorted->len; i++) {
		struct sortable *sortable = &g_array_index(sorted, struct sortable, i);

		/* Of equal operands the highest boost stays. */
		if (before && strcmp(before->text, sortable->text) == 0) {
			before->node->boost =
			    MAX(before->node->boost, sortable->node->boost);
			node_free(sortable->node);
			continue;
		}
		node_add_operand(node, sortable->node);
		before = sortable;
	}
	for (guint i = 0; i < sorted->len; i++)
		g_free(g_array_index(sorted, struct sortable, i).text);
}

/* Simplify the operands; merge those of the same kind that have no boost. */
static void
flatten_operands(struct node *node)
{
	g_autoptr(GPtrArray) old = g_steal_pointer(&node->operands);

	g_ptr_array_set_free_func(old, NULL);
	for (guint i = 0; i < old->len; i++) {
		pb_auto(node) operand = node_simplify(g_ptr_array_index(old, i));

		if (operand->kind != node->kind || operand->boost > 1) {
			node_add_operand(node, g_steal_pointer(&operand));
			continue;
		}
		g_ptr_array_set_free_func(operand->operands, NULL);
		for (guint j = 0; j < operand->operands->len; j++)
			node_add_operand(node, g_ptr_array_index(operand->operands, j));
	}
}

/* Replace a node by its only operand; boosts multiply. */
static struct node *
unwrap(struct node *node)
{
	struct node *operand = g_ptr_array_steal_index(node->operands, 0);

	if (operand->kind != NODE_NOT)
		operand->boost = MIN(node->boost * operand->boost, BOUNDS_BOOST);
	node_free(node);
	return operand;
}

struct node *
node_simplify(struct node *node)
{
	struct node *operand;

	if (node->field)
		return node;
	if (node->kind == NODE_NOT) {
		operand = unwrap(node);
		drop_boosts(operand);
		operand = node_simplify(operand);
		if (operand->kind == NODE_NOT)
			return unwrap(operand);
		node = node_new(NODE_NOT, operand->column);
		node_add_operand(node, operand);
		return node;
	}
	flatten_operands(node);
	if (node->operands->len > 1)
		sort_operands(node);
	return node->operands->len == 1 ? unwrap(node) : node;
}
