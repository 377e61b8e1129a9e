/*
 * clause.h - parses one clause of a filter: the value of a field.
 */
#pragma once

#include <stdbool.h>

#include "query/parse/lex.h"
#include "query/parse/tree.h"

struct clause_source {
	const struct lexeme *lexeme; /* LEXEME_WORD or LEXEME_PHRASE */
	const struct field *field;   /* of the clause or the enclosing group; or NULL */
	const struct tokenizer *tokenizer;
};

/** Parse a clause. @return NULL and sets problem on error */
struct node *
clause_parse(const struct clause_source *source, struct query_error *problem);

/**
 * Find the field of a LEXEME_FIELD. @return NULL and sets problem when there is none
 */
const struct field *
clause_find_field(const struct lexeme *name, struct query_error *problem);

/** Report that a field name is followed by something other than its value. */
void clause_error_value(const struct lexeme *name, const struct lexeme *value,
    const struct field *field, struct query_error *problem);
