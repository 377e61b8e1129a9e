/*
 * lint.h - warns of operators of other search languages.
 */
#ifndef PAPERBOY_QUERY_PARSE_LINT_H
#define PAPERBOY_QUERY_PARSE_LINT_H

#include <glib.h>

#include "query/parse/field.h"
#include "query/parse/lex.h"

/**
 * Warn of a sign in or next to a word that has no effect: [ti] of PubMed, wildcards ?
 * and ~, a comparison without a field, single quotes; and of "&" or "(" that splits a
 * word.
 *
 * @param word      a word or a phrase, followed by at least one more lexeme
 * @param field     of the word, or NULL; values that are not words keep their signs
 * @param warnings  of struct msg *; at most one is added
 */
void
lint_query(const struct lexeme *word, const struct field *field, GPtrArray *warnings);

#endif
