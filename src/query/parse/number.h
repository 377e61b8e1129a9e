/*
 * number.h - what is wanted of a number: a comparison, a range, a number.
 */
#ifndef PAPERBOY_QUERY_PARSE_NUMBER_H
#define PAPERBOY_QUERY_PARSE_NUMBER_H

#include "query/parse/clause.h"

/** Read it into a NODE_NUMBER, whose field is set. @return false with a problem */
bool number_read(
    const struct clause_source *source, struct node *node, struct query_error *problem);

#endif
