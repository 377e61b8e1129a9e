/*
 * highlight.h - finds where a clause of a filter matches a paper.
 */
#ifndef PAPERBOY_QUERY_EVAL_HIGHLIGHT_H
#define PAPERBOY_QUERY_EVAL_HIGHLIGHT_H

#include "query/eval/indexed_doc.h"

/** Allocate an empty array of struct query_hit *. */
GPtrArray *highlight_new_list(void);

/** Add every place of a clause; none unless it is true as reported. */
void highlight_add_clause(
    GPtrArray *hits, const struct node *clause, const struct query_document *document);

/** Add every place of the phrases of a clause on the abstract in the summary. */
void highlight_add_summary(
    GPtrArray *hits, const struct node *clause, const struct query_document *document);

/** Sort hits by field and place, and drop duplicates. */
void highlight_sort(GPtrArray *hits);

#endif
