/*
 * widen.c - a copy of a filter with an alternative to one of its clauses.
 */
#include "query/parse/widen.h"

#include "query/parse/canonical.h"
#include "query/query.h"

/* Find a node's place in a copy of the tree. @return NULL when it is not below */
static struct node **
find_place(const struct node *tree, const struct node *wanted, struct node **copy)
{
	if (tree == wanted)
		return copy;
	if (!tree->operands)
		return NULL;
	for (guint i = 0; i < tree->operands->len; i++) {
		struct node **place = find_place(tree->operands->pdata[i], wanted,
		    (struct node **)&(*copy)->operands->pdata[i]);

		if (place)
			return place;
	}
	return NULL;
}

struct query *
query_widen(const struct query *query, const struct node *clause, const char *text,
    const struct tokenizer *tokenizer)
{
	/* A canonical text is parsed to an equal tree. */
	g_autofree char *canonical = query_format(query);
	pb_auto(query) copy = query_parse_canonical(canonical, tokenizer, NULL);
	g_autoptr(GString) alternative = g_string_new(NULL);
	pb_auto(query) added = NULL;
	struct node **place, *either;

	node_append_field(clause, alternative);
	g_string_append(alternative, text);
	added = query_parse_clause(alternative->str, tokenizer);
	if (!copy || !added || added->root->kind != NODE_WORDS)
		return NULL;
	place = find_place(query->root, clause, &copy->root);
	g_assert(place);
	either = node_new(NODE_OR, clause->column);
	added->root->boost = clause->boost;
	node_add_operand(either, *place);
	node_add_operand(either, g_steal_pointer(&added->root));
	*place = either;
	copy->root = node_simplify(copy->root);
	return g_steal_pointer(&copy);
}
