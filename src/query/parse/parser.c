/*
 * parser.c - what all parts of the reading of a filter need.
 */
#include "query/parse/parser.h"

#include "base/bounds.h"
#include "query/parse/lint.h"

bool
parser_at_operand(enum lexeme_kind kind)
{
	switch (kind) {
	case LEXEME_OPEN:
	case LEXEME_FIELD:
	case LEXEME_PHRASE:
	case LEXEME_WORD:
	case LEXEME_NOT:
		return true;
	case LEXEME_END:
	case LEXEME_CLOSE:
	case LEXEME_AND:
	case LEXEME_OR:
	case LEXEME_ANDNOT:
	case LEXEME_NEAR:
	case LEXEME_CARET:
	case LEXEME_COMMA:
	case LEXEME_COLON:
		return false;
	}
	return false;
}

static bool
is_operator(enum lexeme_kind kind)
{
	return kind == LEXEME_AND || kind == LEXEME_OR || kind == LEXEME_NOT ||
	       kind == LEXEME_ANDNOT || kind == LEXEME_NEAR;
}

void
parser_refuse_open(struct parser *parser, unsigned column)
{
	query_error_set(parser->problem, PB_ERROR_INPUT, column, "title:(mamba OR ssm)",
	    MSG_QUERY_OPEN_ALONE, NULL);
}

void
parser_error_missing(struct parser *parser)
{
	const struct lexeme *here = parser_get_lexeme(parser, 0);
	const struct lexeme *before =
	    parser->at > 0 ? parser_get_lexeme(parser, -1) : NULL;
	enum msg_id id = MSG_QUERY_WORD_AFTER;
	const struct lexeme *sign = before;
	g_autofree char *text = NULL;

	if (!before && here->kind == LEXEME_END) {
		query_error_set(parser->problem, PB_ERROR_INPUT, 1, "diffusion",
		    MSG_QUERY_EMPTY, NULL);
		return;
	}
	if (before && before->kind == LEXEME_OPEN && here->kind == LEXEME_END) {
		parser_refuse_open(parser, before->column);
		return;
	}
	if (!before || !is_operator(before->kind)) {
		id = MSG_QUERY_WORD_BEFORE;
		sign = here;
	}
	text = g_strndup(sign->text, sign->len);
	query_error_set(parser->problem, PB_ERROR_INPUT, sign->column,
	    "diffusion OR \"flow matching\"", id, "sign", text, NULL);
}

struct node *
parser_parse_clause(struct parser *parser, const struct field *field)
{
	const struct clause_source source = {
	    .lexeme = parser_get_lexeme(parser, 0),
	    .field = field,
	    .tokenizer = parser->tokenizer,
	};

	if (++parser->terms > BOUNDS_QUERY_TERMS) {
		query_error_set(parser->problem, PB_ERROR_LIMIT, source.lexeme->column,
		    NULL, MSG_QUERY_TOO_MANY, "most", MSG_INT(BOUNDS_QUERY_TERMS),
		    NULL);
		return NULL;
	}
	if (parser->warnings)
		lint_query(source.lexeme, field, parser->warnings);
	parser->at++;
	return clause_parse(&source, parser->problem);
}

unsigned
parser_read_int(const char *text, size_t len)
{
	unsigned number = 0;

	if (len > 2)
		return 0;
	for (size_t i = 0; i < len; i++) {
		if (!g_ascii_isdigit(text[i]))
			return 0;
		number = number * 10 + (unsigned)(text[i] - '0');
	}
	return number;
}
