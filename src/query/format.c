/*
 * format.c - the canonical text of a filter, and its hash.
 */
#include "query/query.h"

#include <inttypes.h>

#include "base/bounds.h"
#include "query/tree.h"

G_STATIC_ASSERT(BOUNDS_NUMBER_DIGITS == 9);
#define LARGEST_NUMBER 999999999

static void
append_number(const struct node *node, GString *out)
{
	if (node->min == node->max)
		g_string_append_printf(out, "=%" PRId64, node->min);
	else if (node->max < INT64_MAX && node->min > 0)
		g_string_append_printf(
		    out, "%" PRId64 "..%" PRId64, node->min, node->max);
	else if (node->max < INT64_MAX)
		g_string_append_printf(out, "<=%" PRId64, node->max);
	else if (node->min > LARGEST_NUMBER)
		g_string_append_printf(out, ">%" PRId64, node->min - 1);
	else
		g_string_append_printf(out, ">=%" PRId64, node->min);
}

static void
append_operand(const struct node *operand, bool is_grouped, GString *out)
{
	if (is_grouped)
		g_string_append_c(out, '(');
	node_append(operand, out);
	if (is_grouped)
		g_string_append_c(out, ')');
}

static void
append_operands(const struct node *node, GString *out)
{
	for (guint i = 0; i < node->operands->len; i++) {
		const struct node *operand = g_ptr_array_index(node->operands, i);

		if (i > 0 && node->kind == NODE_OR)
			g_string_append(out, " OR ");
		else if (i > 0)
			g_string_append(out, operand->kind == NODE_NOT ? " " : " AND ");
		/* AND binds before OR. */
		append_operand(
		    operand, node->kind == NODE_AND && operand->kind == NODE_OR, out);
	}
}

void
node_append(const struct node *node, GString *out)
{
	const struct node *operand;

	switch (node->kind) {
	case NODE_AND:
	case NODE_OR:
		append_operands(node, out);
		return;
	case NODE_NOT:
		operand = g_ptr_array_index(node->operands, 0);
		g_string_append(out, "NOT ");
		append_operand(operand,
		    operand->kind == NODE_AND || operand->kind == NODE_OR, out);
		return;
	case NODE_WORDS:
	case NODE_NAME:
	case NODE_NUMBER:
		break;
	}
	if (node->field != field_get_text())
		g_string_append_printf(out, "%s:", node->field->name);
	if (node->kind == NODE_WORDS)
		phrase_append(node->phrase, out);
	else if (node->kind == NODE_NAME)
		name_append(node->name, out);
	else
		append_number(node, out);
}

char *
query_format(const struct query *query)
{
	GString *out = g_string_new(NULL);

	node_append(query->root, out);
	return g_string_free(out, FALSE);
}

char *
query_hash(const struct query *query)
{
	g_autofree char *text = query_format(query);

	return g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);
}
