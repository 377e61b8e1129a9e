/*
 * tree.h - a parsed filter: clauses joined by AND, OR and NOT.
 */
#ifndef PAPERBOY_QUERY_TREE_H
#define PAPERBOY_QUERY_TREE_H

#include <glib.h>
#include <stdint.h>

#include "query/field.h"
#include "query/name.h"
#include "query/phrase.h"

enum node_kind {
	NODE_AND,
	NODE_OR,
	NODE_NOT,
	NODE_WORDS,
	NODE_NAME,
	NODE_NUMBER,
};

struct node {
	enum node_kind kind;
	unsigned column;     /* of the clause or of the operator, where it was typed */
	GPtrArray *operands; /* of struct node *; AND, OR: any number, NOT: one */
	const struct field *field; /* of a clause */
	struct phrase *phrase;     /* NODE_WORDS */
	struct name *name;         /* NODE_NAME */
	int64_t min;               /* NODE_NUMBER: both ends belong to it */
	int64_t max;
};

struct query {
	struct node *root; /* simple, see node_simplify() */
};

struct node *node_new(enum node_kind kind, unsigned column);
void node_free(struct node *node);
PB_DEFINE_AUTO(node, node_free);

/** Add an operand. @param operand taken */
void node_add_operand(struct node *node, struct node *operand);

/**
 * Find what makes a filter hold for papers that have nothing of it.
 *
 * @return the clause or NOT that is without a positive one beside it; NULL when
 *         all is well
 */
const struct node *node_find_negative(const struct node *node);

/**
 * Make the tree canonical: AND in AND and OR in OR are one, NOT NOT is
 * nothing, operands are sorted (NOT last) and distinct.
 *
 * @param node  taken
 * @return the tree that means the same
 */
struct node *node_simplify(struct node *node);

/** Format a tree (format.c). */
void node_append(const struct node *node, GString *out);

#endif
