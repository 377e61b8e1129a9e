/*
 * canonical.h - canonical text of a filter: formatted from the tree, read clause by
 * clause without one.
 *
 * The parser accepts it like any filter; this reader is for evaluating many filters
 * while parsing each clause only once.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <string.h>

struct node;

#define CANONICAL_AND   " AND "
#define CANONICAL_OR    " OR "
#define CANONICAL_NOT   "NOT " /* joined by a space to the operand before it */
#define CANONICAL_OPEN  "("
#define CANONICAL_CLOSE ")"
#define CANONICAL_BOOST "^"

/** Append the canonical text of a tree. */
void node_append(const struct node *node, GString *out);

/** Append a clause with its field, without its boost. */
void node_append_clause(const struct node *node, GString *out);

/** Append the field of a clause: "title:", or nothing for title and abstract. */
void node_append_field(const struct node *node, GString *out);

/** Whether a token is at a place of a canonical text. */
static inline bool
canonical_is_at(const char *at, const char *token)
{
	return *at == *token && strncmp(at, token, strlen(token)) == 0;
}

/** Skip a token. @return false when it is not there */
static inline bool
canonical_accept(const char **at, const char *token)
{
	if (!canonical_is_at(*at, token))
		return false;
	*at += strlen(token);
	return true;
}

/** Skip a clause with its boost: up to a space or ")" that is not part of it. */
void canonical_skip_clause(const char **at);

/** Skip the boost of a group, if there is one. */
void canonical_skip_boost(const char **at);
