/*
 * hit.h - where one clause of a filter hit a paper.
 */
#ifndef PAPERBOY_QUERY_HIT_H
#define PAPERBOY_QUERY_HIT_H

#include "query/document.h"

/** Make an empty array of struct query_hit *. */
GPtrArray *hit_new_list(void);

/** Add every place of a clause; none when it is not true as told. */
void hit_add_clause(
    GPtrArray *hits, const struct node *clause, const struct query_document *document);

/** Put hits in the order of fields and places, and drop what is there twice. */
void hit_sort(GPtrArray *hits);

#endif
