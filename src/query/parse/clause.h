/*
 * clause.h - one clause of a filter: a field and what is wanted of it.
 */
#ifndef PAPERBOY_QUERY_PARSE_CLAUSE_H
#define PAPERBOY_QUERY_PARSE_CLAUSE_H

#include <stdbool.h>

#include "query/parse/lex.h"
#include "query/parse/tree.h"

struct clause_source {
	const struct lexeme *lexeme; /* LEXEME_WORD or LEXEME_PHRASE */
	const struct field *field;   /* or NULL: none was named, here or before a "(" */
	const struct tokenizer *tokenizer;
};

/** Make a clause. @return NULL with a problem */
struct node *
clause_parse(const struct clause_source *source, struct query_error *problem);

/** Find the field of a LEXEME_FIELD. @return NULL with a problem */
const struct field *
clause_find_field(const struct lexeme *name, struct query_error *problem);

/** Refuse what stands behind a field's name and is no value of it. */
void clause_refuse_value(const struct lexeme *name, const struct lexeme *value,
    const struct field *field, struct query_error *problem);

#endif
