/*
 * proximity.h - words that stand near each other: a NEAR/5 b, NEAR(a b, 5).
 */
#ifndef PAPERBOY_QUERY_PARSE_PROXIMITY_H
#define PAPERBOY_QUERY_PARSE_PROXIMITY_H

#include "query/parse/parser.h"

/** Tell whether "NEAR(" is here, as in FTS5; "a NEAR (b)" joins a to a group. */
bool proximity_is_call(const struct parser *parser);

/** Tell whether a NEAR is here that joins what stands on both sides. */
bool proximity_is_infix(const struct parser *parser);

/** Read NEAR("chain of thought" faithful*, 8). @return NULL with a problem */
struct node *proximity_parse_call(struct parser *parser, const struct field *field);

/**
 * Read "NEAR/5 b NEAR/5 c" behind its first operand: one group.
 *
 * @param first    the lexeme that the first operand begins with
 * @param operand  the first operand, taken
 * @return NULL with a problem
 */
struct node *proximity_parse_chain(struct parser *parser, const struct field *field,
    const struct lexeme *first, struct node *operand);

#endif
