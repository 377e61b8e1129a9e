/*
 * parser.h - where the reading of a filter stands; shared by parse.c and proximity.c.
 */
#ifndef PAPERBOY_QUERY_PARSE_PARSER_H
#define PAPERBOY_QUERY_PARSE_PARSER_H

#include "query/parse/clause.h"
#include "query/parse/lex.h"
#include "query/parse/tree.h"

struct parser {
	GArray *lexemes;
	guint at;
	unsigned depth;
	unsigned terms;
	const struct tokenizer *tokenizer;
	GPtrArray *warnings; /* or NULL */
	struct query_error *problem;
};

/** Get the lexeme that is so far ahead of where the parser stands. */
static inline const struct lexeme *
parser_get_lexeme(const struct parser *parser, int ahead)
{
	return &g_array_index(parser->lexemes, struct lexeme, parser->at + ahead);
}

/** Whether an operand can begin with such a lexeme. */
bool parser_at_operand(enum lexeme_kind kind);

/** Refuse a group without its end. @param column  of its "(" */
void parser_refuse_open(struct parser *parser, unsigned column);

/** Refuse an operator, an end or a ")" that stands where an operand is wanted. */
void parser_error_missing(struct parser *parser);

/**
 * Read the word or phrase that is here.
 *
 * @param field  that of the group around, or the one named; NULL: none
 * @return NULL with a problem
 */
struct node *parser_parse_clause(struct parser *parser, const struct field *field);

/** Read the one or two digits that a text is made of. @return 0 for anything else */
unsigned parser_read_int(const char *text, size_t len);

#endif
