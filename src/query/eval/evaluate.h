/*
 * evaluate.h - evaluates a part of a filter for one paper.
 */
#ifndef PAPERBOY_QUERY_EVAL_EVALUATE_H
#define PAPERBOY_QUERY_EVAL_EVALUATE_H

#include "query/parse/tree.h"

/** As query_evaluate(), for any node of the tree. */
enum query_verdict node_evaluate(const struct node *node,
    const struct query_document *document, enum query_mode mode);

#endif
