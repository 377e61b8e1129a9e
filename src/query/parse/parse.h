/*
 * parse.h - a filter's text as a tree: recursive descent over the lexemes.
 */
#ifndef PAPERBOY_QUERY_PARSE_PARSE_H
#define PAPERBOY_QUERY_PARSE_PARSE_H

#include "query/parse/tree.h"

/**
 * Parse the lexemes of a filter (lex.h) into a tree as it was typed.
 *
 * @param warnings  of char *, or NULL
 * @return NULL with a problem
 */
struct node *parse_tree(GArray *lexemes, const struct tokenizer *tokenizer,
    GPtrArray *warnings, struct query_error *problem);

#endif
