/*
 * parse.c - a filter's text as a tree: recursive descent over the lexemes.
 */
#include "query/parse/parse.h"

#include <string.h>

#include "base/bounds.h"
#include "query/parse/parser.h"
#include "query/parse/proximity.h"

/* The field is that of the group around, or NULL. */
static struct node *parse_or(struct parser *parser, const struct field *field);

static bool
ends_operand(enum lexeme_kind kind)
{
	return kind == LEXEME_WORD || kind == LEXEME_PHRASE || kind == LEXEME_CLOSE;
}

/* Refuse a lexeme that no operand begins with. */
static void
refuse_lexeme(struct parser *parser)
{
	const struct lexeme *lexeme = parser_get_lexeme(parser, 0);
	enum msg_id id = MSG_NONE;

	switch (lexeme->kind) {
	case LEXEME_CLOSE:
		if (parser->depth > 0) {
			parser_error_missing(parser);
			return;
		}
		id = MSG_QUERY_CLOSE_ALONE;
		break;
	case LEXEME_CARET:
		id = MSG_QUERY_CARET;
		break;
	case LEXEME_COMMA:
		id = MSG_QUERY_COMMA;
		break;
	case LEXEME_COLON:
		id = MSG_QUERY_COLON;
		break;
	case LEXEME_NOT:
		id = MSG_QUERY_NOT_TWICE;
		break;
	case LEXEME_END:
	case LEXEME_AND:
	case LEXEME_OR:
	case LEXEME_ANDNOT:
	case LEXEME_OPEN:
	case LEXEME_FIELD:
	case LEXEME_PHRASE:
	case LEXEME_WORD:
		parser_error_missing(parser);
		return;
	case LEXEME_NEAR:
		if (parser->at < 2 ||
		    parser_get_lexeme(parser, -2)->kind != LEXEME_CARET) {
			parser_error_missing(parser);
			return;
		}
		id = MSG_QUERY_NEAR_WEIGHT;
		break;
	}
	query_error_set(
	    parser->problem, PB_ERROR_INPUT, lexeme->column, NULL, id, NULL);
}

/* "or", "near" and "near/5" too. */
static bool
is_lower_operator(const struct lexeme *word, const char *operator)
{
	size_t len = strlen(operator);

	return word->len >= len &&
	       g_ascii_strncasecmp(operator, word->text, len) == 0 &&
	       (word->len == len ||
	           (strcmp(operator, "NEAR") == 0 && word->text[len] == '/'));
}

/* Lower-case operators are words; whoever types one between words is warned. */
static void
warn_of_operator(struct parser *parser)
{
	static const char *const operators[] = {"AND", "OR", "NOT", "ANDNOT", "NEAR"};
	const struct lexeme *word = parser_get_lexeme(parser, 0);
	enum lexeme_kind next = (word + 1)->kind;
	bool follows_operand =
	    parser->at > 0 && ends_operand(parser_get_lexeme(parser, -1)->kind);
	g_autofree char *text = NULL;

	if (!parser->warnings || word->kind != LEXEME_WORD ||
	    (next != LEXEME_NEAR && !parser_at_operand(next)))
		return;
	text = g_strndup(word->text, word->len);
	for (size_t i = 0; i < G_N_ELEMENTS(operators); i++) {
		bool needs_left = strcmp(operators[i], "NOT") != 0;

		if (!is_lower_operator(word, operators[i]) ||
		    (needs_left && !follows_operand))
			continue;
		g_ptr_array_add(parser->warnings,
		    msg_new(MSG_WARN_OPERATOR, "column", MSG_INT(word->column), "word",
		        text, "operator", operators[i], NULL));
	}
}

static struct node *
parse_group(struct parser *parser, const struct field *field)
{
	unsigned column = parser_get_lexeme(parser, 0)->column;
	struct node *inner;
	pb_auto(node) node = NULL;

	if (parser->depth == BOUNDS_QUERY_DEPTH) {
		query_error_set(parser->problem, PB_ERROR_LIMIT, column, NULL,
		    MSG_QUERY_TOO_DEEP, "most", MSG_INT(BOUNDS_QUERY_DEPTH), NULL);
		return NULL;
	}
	parser->at++;
	if (parser_get_lexeme(parser, 0)->kind == LEXEME_CLOSE) {
		query_error_set(parser->problem, PB_ERROR_INPUT, column,
		    "title:(mamba OR ssm)", MSG_QUERY_GROUP_EMPTY, NULL);
		return NULL;
	}
	parser->depth++;
	inner = parse_or(parser, field);
	if (!inner)
		return NULL;
	/* One clause in it is still a group, to NEAR and to a weight. */
	node = node_new(NODE_OR, column);
	node_add_operand(node, inner);
	if (parser_get_lexeme(parser, 0)->kind != LEXEME_CLOSE) {
		parser_refuse_open(parser, column);
		return NULL;
	}
	parser->depth--;
	parser->at++;
	return g_steal_pointer(&node);
}

static struct node *
parse_fielded(struct parser *parser)
{
	const struct lexeme *name = parser_get_lexeme(parser, 0);
	const struct lexeme *value = parser_get_lexeme(parser, 1);
	const struct field *field = clause_find_field(name, parser->problem);

	if (!field)
		return NULL;
	parser->at++;
	if (value->start == name->end) {
		if (value->kind == LEXEME_OPEN)
			return parse_group(parser, field);
		if (value->kind == LEXEME_WORD || value->kind == LEXEME_PHRASE)
			return parser_parse_clause(parser, field);
		if (proximity_is_call(parser))
			return proximity_parse_call(parser, field);
	}
	clause_refuse_value(name, value, field, parser->problem);
	return NULL;
}

static struct node *
parse_primary(struct parser *parser, const struct field *field)
{
	switch (parser_get_lexeme(parser, 0)->kind) {
	case LEXEME_OPEN:
		return parse_group(parser, field);
	case LEXEME_FIELD:
		return parse_fielded(parser);
	case LEXEME_WORD:
		warn_of_operator(parser);
		return parser_parse_clause(parser, field);
	case LEXEME_PHRASE:
		return parser_parse_clause(parser, field);
	case LEXEME_NEAR:
		if (proximity_is_call(parser))
			return proximity_parse_call(parser, field);
		break;
	case LEXEME_END:
	case LEXEME_CLOSE:
	case LEXEME_AND:
	case LEXEME_OR:
	case LEXEME_NOT:
	case LEXEME_ANDNOT:
	case LEXEME_CARET:
	case LEXEME_COMMA:
	case LEXEME_COLON:
		break;
	}
	refuse_lexeme(parser);
	return NULL;
}

/* A clause or a group, or several clauses that NEAR joins. */
static struct node *
parse_near(struct parser *parser, const struct field *field)
{
	const struct lexeme *first = parser_get_lexeme(parser, 0);
	struct node *operand = parse_primary(parser, field);

	if (!operand || !proximity_is_infix(parser))
		return operand;
	return proximity_parse_chain(parser, field, first, operand);
}

/* speech^3, (a OR b)^2 */
static struct node *
parse_boost(struct parser *parser, const struct field *field)
{
	pb_auto(node) node = parse_near(parser, field);
	const struct lexeme *caret = parser_get_lexeme(parser, 0);
	const struct lexeme *number = caret + 1;
	unsigned boost = 0;

	if (!node || caret->kind != LEXEME_CARET || caret->start != (caret - 1)->end)
		return g_steal_pointer(&node);
	if (number->kind == LEXEME_WORD && number->start == caret->end)
		boost = parser_read_int(number->text, number->len);
	if (boost < 1 || boost > BOUNDS_BOOST) {
		query_error_set(parser->problem, PB_ERROR_INPUT, caret->column + 1,
		    "speech^3 recognition", MSG_QUERY_WEIGHT, "most",
		    MSG_INT(BOUNDS_BOOST), NULL);
		return NULL;
	}
	node->boost = boost;
	parser->at += 2;
	return g_steal_pointer(&node);
}

static struct node *
negate(struct node *operand, unsigned column)
{
	struct node *node;

	if (!operand)
		return NULL;
	node = node_new(NODE_NOT, column);
	node_add_operand(node, operand);
	return node;
}

static struct node *
parse_not(struct parser *parser, const struct field *field)
{
	const struct lexeme *lexeme = parser_get_lexeme(parser, 0);

	if (lexeme->kind != LEXEME_NOT)
		return parse_boost(parser, field);
	parser->at++;
	return negate(parse_boost(parser, field), lexeme->column);
}

/* Whether the operands of an AND are all read: parse_and() refuses other ")". */
static bool
ends_and(const struct parser *parser)
{
	enum lexeme_kind kind = parser_get_lexeme(parser, 0)->kind;

	return kind == LEXEME_END || kind == LEXEME_OR ||
	       (kind == LEXEME_CLOSE && parser->depth > 0);
}

/* Read one more operand of an AND, which may stand there without the word. */
static struct node *
parse_further(struct parser *parser, const struct field *field)
{
	const struct lexeme *lexeme = parser_get_lexeme(parser, 0);

	switch (lexeme->kind) {
	case LEXEME_CLOSE:
		return parse_primary(parser, field);
	case LEXEME_AND:
		parser->at++;
		break;
	case LEXEME_ANDNOT:
		parser->at++;
		return negate(parse_boost(parser, field), lexeme->column);
	case LEXEME_END:
	case LEXEME_OR:
	case LEXEME_OPEN:
	case LEXEME_NOT:
	case LEXEME_NEAR:
	case LEXEME_CARET:
	case LEXEME_COMMA:
	case LEXEME_COLON:
	case LEXEME_FIELD:
	case LEXEME_PHRASE:
	case LEXEME_WORD:
		break;
	}
	return parse_not(parser, field);
}

/* One operand alone is what it is. */
static struct node *
parse_and(struct parser *parser, const struct field *field)
{
	unsigned column = parser_get_lexeme(parser, 0)->column;
	struct node *operand = parse_not(parser, field);
	pb_auto(node) node = NULL;

	if (operand && ends_and(parser))
		return operand;
	node = node_new(NODE_AND, column);
	while (operand) {
		node_add_operand(node, operand);
		if (ends_and(parser))
			return g_steal_pointer(&node);
		operand = parse_further(parser, field);
	}
	return NULL;
}

static struct node *
parse_or(struct parser *parser, const struct field *field)
{
	unsigned column = parser_get_lexeme(parser, 0)->column;
	struct node *operand = parse_and(parser, field);
	pb_auto(node) node = NULL;

	if (operand && parser_get_lexeme(parser, 0)->kind != LEXEME_OR)
		return operand;
	node = node_new(NODE_OR, column);
	while (operand) {
		node_add_operand(node, operand);
		if (parser_get_lexeme(parser, 0)->kind != LEXEME_OR)
			return g_steal_pointer(&node);
		parser->at++;
		operand = parse_and(parser, field);
	}
	return NULL;
}

struct node *
parse_tree(GArray *lexemes, const struct tokenizer *tokenizer, GPtrArray *warnings,
    struct query_error *problem)
{
	struct parser parser = {
	    .lexemes = lexemes,
	    .tokenizer = tokenizer,
	    .warnings = warnings,
	    .problem = problem,
	};

	/* Only an end ends the outermost level: parse_and() refuses a ")" there. */
	return parse_or(&parser, NULL);
}
