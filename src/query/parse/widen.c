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

/* Parse a word or phrase in the field of a clause. @return NULL if it is not one */
static struct query *
parse_words(
    const struct node *clause, const char *text, const struct tokenizer *tokenizer)
{
	g_autoptr(GString) alternative = g_string_new(NULL);
	pb_auto(query) added = NULL;

	node_append_field(clause, alternative);
	g_string_append(alternative, text);
	added = query_parse_clause(alternative->str, tokenizer);
	if (!added || added->root->kind != NODE_WORDS)
		return NULL;
	added->root->boost = clause->boost;
	return g_steal_pointer(&added);
}

/* @param is_either  whether the part stays, too */
static struct query *
change(const struct query *query, const struct node *part, struct query *added,
    bool is_either, const struct tokenizer *tokenizer)
{
	/* A canonical text is parsed to an equal tree. */
	g_autofree char *canonical = query_format(query);
	pb_auto(query) copy = query_parse_canonical(canonical, tokenizer, NULL);
	struct node **place, *either;

	if (!copy)
		return NULL;
	place = find_place(query->root, part, &copy->root);
	g_assert(place);
	if (is_either) {
		either = node_new(NODE_OR, part->column);
		node_add_operand(either, *place);
		node_add_operand(either, g_steal_pointer(&added->root));
		*place = either;
	} else {
		node_free(*place);
		*place = g_steal_pointer(&added->root);
	}
	copy->root = node_simplify(copy->root);
	return g_steal_pointer(&copy);
}

struct query *
query_widen(const struct query *query, const struct node *part,
    const struct node *clause, const char *text, const struct tokenizer *tokenizer)
{
	pb_auto(query) added = parse_words(clause, text, tokenizer);

	return added ? change(query, part, added, true, tokenizer) : NULL;
}

struct query *
query_replace(const struct query *query, const struct node *part,
    const struct node *clause, const char *text, const struct tokenizer *tokenizer)
{
	pb_auto(query) added = parse_words(clause, text, tokenizer);
	pb_auto(query) again = added ? parse_words(clause, text, tokenizer) : NULL;
	pb_auto(query) replaced =
	    again ? change(query, part, again, false, tokenizer) : NULL;
	struct node *both;

	if (!replaced)
		return NULL;
	/* The alternative is often the rarest part, by which papers are found. */
	both = node_new(NODE_AND, clause->column);
	node_add_operand(both, g_steal_pointer(&added->root));
	node_add_operand(both, g_steal_pointer(&replaced->root));
	replaced->root = node_simplify(both);
	return g_steal_pointer(&replaced);
}
