/*
 * lex.h - a filter's text as lexemes with their columns.
 */
#ifndef PAPERBOY_QUERY_PARSE_LEX_H
#define PAPERBOY_QUERY_PARSE_LEX_H

#include <glib.h>
#include <stdbool.h>

#include "query/query_error.h"

enum lexeme_kind {
	LEXEME_END,
	LEXEME_OPEN,
	LEXEME_CLOSE,
	LEXEME_AND,    /* AND & */
	LEXEME_OR,     /* OR | */
	LEXEME_NOT,    /* NOT, or - and ! directly before an operand */
	LEXEME_ANDNOT, /* as in arXiv's own searches */
	LEXEME_NEAR,   /* NEAR, NEAR/5 */
	LEXEME_CARET,
	LEXEME_COMMA,
	LEXEME_COLON,  /* one that no field name stands before */
	LEXEME_FIELD,  /* a name with its colon; the text is the name */
	LEXEME_PHRASE, /* the text is what stands between the quotation marks,
	                * which has none of lex_is_quote() in it */
	LEXEME_WORD,
};

struct lexeme {
	enum lexeme_kind kind;
	unsigned column; /* from 1, in characters */
	size_t start;    /* of the whole lexeme, octets */
	size_t end;
	const char *text; /* borrowed from the filter's text */
	size_t len;
};

/** Whether a character is a double quotation mark of any language. */
bool lex_is_quote(gunichar c);

/**
 * Cut a filter's text, which need not be valid UTF-8.
 *
 * @return of struct lexeme, the last one LEXEME_END; NULL with a problem: invalid
 *         UTF-8, a control character, a quotation mark without its other one
 */
GArray *lex_split(const char *text, struct query_error *problem);

#endif
