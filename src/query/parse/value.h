/*
 * value.h - a whole value in a filter: a category, a source, an id, code.
 */
#ifndef PAPERBOY_QUERY_PARSE_VALUE_H
#define PAPERBOY_QUERY_PARSE_VALUE_H

#include "query/parse/clause.h"

/** Read it into a NODE_FACT, whose field is set. @return false with a problem */
bool value_read(
    const struct clause_source *source, struct node *node, struct query_error *problem);

#endif
