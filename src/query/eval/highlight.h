/*
 * highlight.h - where one clause of a filter hit a paper.
 */
#ifndef PAPERBOY_QUERY_EVAL_HIGHLIGHT_H
#define PAPERBOY_QUERY_EVAL_HIGHLIGHT_H

#include "query/eval/indexed_doc.h"

/** Make an empty array of struct query_hit *. */
GPtrArray *highlight_new_list(void);

/** Add every place of a clause; none when it is not true as told. */
void highlight_add_clause(
    GPtrArray *hits, const struct node *clause, const struct query_document *document);

/** Put hits in the order of fields and places, and drop what is there twice. */
void highlight_sort(GPtrArray *hits);

#endif
