/*
 * lex.h - splits the text of a filter into lexemes.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "query/query_error.h"

enum lexeme_kind {
	LEXEME_END,
	LEXEME_OPEN,
	LEXEME_CLOSE,
	LEXEME_AND,    /* AND & */
	LEXEME_OR,     /* OR | */
	LEXEME_NOT,    /* NOT, or - and ! immediately before an operand */
	LEXEME_ANDNOT, /* as in arXiv's own search */
	LEXEME_NEAR,   /* NEAR, NEAR/5 */
	LEXEME_CARET,
	LEXEME_COMMA,
	LEXEME_COLON,  /* without a field name before it */
	LEXEME_FIELD,  /* field name with colon; text is the name */
	LEXEME_PHRASE, /* text is without the quotation marks */
	LEXEME_WORD,
};

struct lexeme {
	enum lexeme_kind kind;
	unsigned column; /* from 1, in characters */
	size_t start;    /* of the whole lexeme, bytes */
	size_t end;
	const char *text; /* borrowed from the filter's text */
	size_t len;
};

/** Whether a character is a double quotation mark in any language. */
bool lex_is_quote(gunichar c);

/**
 * Split the text of a filter, which need not be valid UTF-8.
 *
 * @return of struct lexeme, ending with LEXEME_END; NULL and sets problem on error:
 *         invalid UTF-8, a control character, an unmatched quotation mark
 */
GArray *lex_split(const char *text, struct query_error *problem);
