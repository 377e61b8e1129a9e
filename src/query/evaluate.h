/*
 * evaluate.h - the truth of one part of a filter for one paper.
 */
#ifndef PAPERBOY_QUERY_EVALUATE_H
#define PAPERBOY_QUERY_EVALUATE_H

#include "query/tree.h"

enum query_truth node_evaluate(const struct node *node,
    const struct query_document *document, enum query_mode mode);

#endif
