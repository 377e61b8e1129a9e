/*
 * tree.h - tree of a parsed filter.
 */
#pragma once

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
	NODE_WORDS,       /* in title or abstract */
	NODE_NEAR,        /* several of these near each other in one text */
	NODE_VALUE_WORDS, /* within one organization, keyword, comment, journal */
	NODE_NAME,
	NODE_VALUE, /* a whole value: category, source, id, doi, has, type */
	NODE_NUMBER,
	NODE_DATE,
};

struct node {
	enum node_kind kind;
	unsigned column; /* of the clause or operator as typed */
	unsigned boost;  /* 1 to BOUNDS_BOOST; 1 under a NOT */
	GPtrArray
	    *operands; /* of struct node *: one for NOT, any number for AND and OR */
	const struct field *field; /* of a clause */
	struct phrase *phrase;     /* NODE_WORDS, NODE_VALUE_WORDS */
	GPtrArray *phrases;        /* NODE_NEAR: of struct phrase *, two or more */
	unsigned distance;         /* NODE_NEAR: maximum number of words between */
	struct name *name;         /* NODE_NAME */
	char *value;               /* NODE_VALUE: in canonical spelling */
	bool is_prefix;            /* NODE_VALUE: value is a prefix or an archive */
	int64_t min;               /* NODE_NUMBER: inclusive */
	int64_t max;
	struct date_range dates; /* NODE_DATE */
};

struct query {
	struct node *root; /* simplified, see node_simplify() */
};

struct node *node_new(enum node_kind kind, unsigned column);
void node_free(struct node *node);
PB_DEFINE_AUTO(node, node_free);

/** Add an operand. @param operand taken */
void node_add_operand(struct node *node, struct node *operand);

/** Add a phrase to a NODE_NEAR. @param words a NODE_WORDS, taken */
void node_add_phrase(struct node *near, struct node *words);

/** Make a NODE_NEAR canonical: sorted, distinct; a single phrase becomes NODE_WORDS. */
void node_finish_near(struct node *near);

/**
 * Find the part that makes a filter true for papers with none of its words.
 *
 * @return the clause or NOT without a positive clause beside it; NULL when there is
 *         none
 */
const struct node *node_find_negative(const struct node *node);

/**
 * Make the tree canonical: merge nested AND and OR, cancel NOT NOT, sort operands (NOT
 * last), drop duplicates.
 *
 * @param node  taken
 * @return the equivalent tree
 */
struct node *node_simplify(struct node *node);

/**
 * Parse one clause of a canonical text, which may be one that a whole filter may not
 * be, such as a negation. @return NULL on error
 */
struct query *query_parse_clause(const char *text, const struct tokenizer *tokenizer);
