/*
 * clause_match.h - evaluates a clause about texts that are not indexed.
 */
#ifndef PAPERBOY_QUERY_EVAL_CLAUSE_MATCH_H
#define PAPERBOY_QUERY_EVAL_CLAUSE_MATCH_H

#include "query/parse/tree.h"

/* Number of texts: HIT_FIELD_TITLE to HIT_FIELD_JOURNAL. */
#define CLAUSE_TEXTS (HIT_FIELD_JOURNAL + 1)

/**
 * Evaluate a clause as node_evaluate(), a missing field as false.
 *
 * @param texts  of a paper, as in its columns: one author or keyword per line; NULL:
 * not reported
 * @return QUERY_UNKNOWN for other clauses and when the tokenizer failed
 */
enum query_verdict clause_match(const struct node *node,
    const char *const texts[CLAUSE_TEXTS], const struct tokenizer *tokenizer);

/** Evaluate a NODE_VALUE or NODE_VALUE_WORDS. @param lines  its values, one per line */
enum query_verdict clause_match_values(
    const struct node *node, const char *lines, const struct tokenizer *tokenizer);

/** Whether that may be true, for a NODE_VALUE_WORDS; without tokenizing the lines. */
bool clause_may_match(const struct node *node, const char *lines);

#endif
