/*
 * widen.h - a copy of a filter with an alternative to one of its clauses.
 */
#pragma once

#include "query/parse/tree.h"

/**
 * Copy a filter and replace a part by "part OR alternative", in the field and with the
 * boost of a clause.
 *
 * @param part    a node of the filter
 * @param clause  a NODE_WORDS of the filter
 * @param text    a word, or a phrase in quotation marks, without field
 * @return NULL when text is not one, or the tokenizer failed
 */
struct query *query_widen(const struct query *query, const struct node *part,
    const struct node *clause, const char *text, const struct tokenizer *tokenizer);

/**
 * Copy a filter and replace a part by an alternative, which all papers then have, as
 * query_widen() does.  What the result finds and the filter does not is what the
 * alternative adds.
 *
 * @param part  not under a NOT
 */
struct query *query_replace(const struct query *query, const struct node *part,
    const struct node *clause, const char *text, const struct tokenizer *tokenizer);
