/*
 * lint.h - signs that mean something in other search languages, and nothing here.
 */
#ifndef PAPERBOY_QUERY_PARSE_LINT_H
#define PAPERBOY_QUERY_PARSE_LINT_H

#include <glib.h>

#include "query/parse/field.h"
#include "query/parse/lex.h"

/**
 * Warn of a sign in a word, or directly around it, that is not searched: PubMed's
 * [ti], another's ? and ~, a comparison without its colon, single quotes; and of a "&"
 * or a "(" that cuts a word in two.
 *
 * @param word      a word or a phrase, followed by at least one more lexeme
 * @param field     the word's, or NULL; what is no text keeps its signs
 * @param warnings  of struct msg *; at most one is added
 */
void
lint_query(const struct lexeme *word, const struct field *field, GPtrArray *warnings);

#endif
