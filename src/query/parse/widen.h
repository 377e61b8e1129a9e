/*
 * widen.h - a copy of a filter with an alternative to one of its clauses.
 */
#ifndef PAPERBOY_QUERY_PARSE_WIDEN_H
#define PAPERBOY_QUERY_PARSE_WIDEN_H

#include "query/parse/tree.h"

/**
 * Copy a filter and replace a clause by "clause OR alternative", in the clause's field
 * and with its boost.
 *
 * @param clause  a NODE_WORDS of the filter
 * @param text    a word, or a phrase in quotation marks, without field
 * @return NULL when text is not one, or the tokenizer failed
 */
struct query *query_widen(const struct query *query, const struct node *clause,
    const char *text, const struct tokenizer *tokenizer);

#endif
