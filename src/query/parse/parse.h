/*
 * parse.h - builds the tree of a filter from its lexemes.
 */
#pragma once

#include "query/parse/tree.h"

/**
 * Parse lexemes (lex.h) into a tree that is not simplified.
 *
 * @param text      that the lexemes are of
 * @param warnings  of struct msg *, or NULL
 * @return NULL and sets problem on error
 */
struct node *
parse_tree(const char *text, GArray *lexemes, const struct tokenizer *tokenizer,
    GPtrArray *warnings, struct query_error *problem);
