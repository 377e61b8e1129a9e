/*
 * tree.h - a parsed filter: clauses joined by AND, OR and NOT.
 */
#ifndef PAPERBOY_QUERY_PARSE_TREE_H
#define PAPERBOY_QUERY_PARSE_TREE_H

#include <glib.h>
#include <stdint.h>

#include "query/parse/date.h"
#include "query/parse/field.h"
#include "query/parse/name.h"
#include "query/text/phrase.h"
#include "query/tokenizer_ops.h"

enum node_kind {
	NODE_AND,
	NODE_OR,
	NODE_NOT,
	NODE_WORDS,      /* in title or abstract */
	NODE_NEAR,       /* several of them near each other in one text */
	NODE_FACT_WORDS, /* within one organization, keyword, comment, journal */
	NODE_NAME,
	NODE_FACT, /* a whole value: category, source, id, doi, has, type */
	NODE_NUMBER,
	NODE_DATE,
};

struct node {
	enum node_kind kind;
	unsigned column;     /* of the clause or of the operator, where it was typed */
	unsigned boost;      /* weight in ranking, 1 to BOUNDS_BOOST; 1 under a NOT */
	GPtrArray *operands; /* of struct node *; AND, OR: any number, NOT: one */
	const struct field *field; /* of a clause */
	struct phrase *phrase;     /* NODE_WORDS, NODE_FACT_WORDS */
	GPtrArray *phrases;        /* NODE_NEAR: of struct phrase *, two or more */
	unsigned distance;         /* NODE_NEAR: words between, at most */
	struct name *name;         /* NODE_NAME */
	char *value;               /* NODE_FACT: in its canonical spelling */
	bool is_beginning;         /* NODE_FACT: of values that begin so; an archive */
	int64_t min;               /* NODE_NUMBER: both ends belong to it */
	int64_t max;
	struct date_range dates; /* NODE_DATE */
};

struct query {
	struct node *root; /* simple, see node_simplify() */
};

struct node *node_new(enum node_kind kind, unsigned column);
void node_free(struct node *node);
PB_DEFINE_AUTO(node, node_free);

/** Add an operand. @param operand taken */
void node_add_operand(struct node *node, struct node *operand);

/** Give a NODE_NEAR one more phrase. @param words a NODE_WORDS, taken */
void node_add_phrase(struct node *near, struct node *words);

/** Make a NODE_NEAR canonical: sorted, distinct; with one left it is NODE_WORDS. */
void node_finish_near(struct node *near);

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

/**
 * Parse a part of a canonical text (query.c): one that would find every paper is no
 * filter, and yet may be a clause of one.  @return NULL when it cannot be read
 */
struct query *query_parse_clause(const char *text, const struct tokenizer *tokenizer);

#endif
