/*
 * proximity.c - words that stand near each other: a NEAR/5 b, NEAR(a b, 5).
 */
#include "query/parse/proximity.h"

#include <string.h>

#include "base/bounds.h"

/* Words between, where no number is given. */
#define NEAR_DISTANCE 10

static const char example[] = "reward NEAR/5 hacking";

G_STATIC_ASSERT(BOUNDS_NEAR_WORDS == 99);

bool
proximity_is_call(const struct parser *parser)
{
	const struct lexeme *near = parser_get_lexeme(parser, 0);

	return near->kind == LEXEME_NEAR && near->len == strlen("NEAR") &&
	       (near + 1)->kind == LEXEME_OPEN && (near + 1)->start == near->end;
}

bool
proximity_is_infix(const struct parser *parser)
{
	return parser_get_lexeme(parser, 0)->kind == LEXEME_NEAR &&
	       !proximity_is_call(parser);
}

static bool
read_distance(struct parser *parser, const char *text, size_t len, unsigned column,
    unsigned *distance)
{
	*distance = parser_read_int(text, len);
	if (*distance == 0)
		query_error_set(parser->problem, PB_ERROR_INPUT, column, example,
		    MSG_QUERY_NEAR_DISTANCE, "most", MSG_INT(BOUNDS_NEAR_WORDS), NULL);
	return *distance > 0;
}

/* NEAR stands where words of title and abstract do. */
static bool
check_field(struct parser *parser, const struct field *field)
{
	if (!field || field->kind == FIELD_WORDS)
		return true;
	query_error_set(parser->problem, PB_ERROR_INPUT,
	    parser_get_lexeme(parser, 0)->column, example, MSG_QUERY_NEAR_FIELD,
	    "field", field->name, NULL);
	return false;
}

static void
refuse_operand(struct parser *parser, const struct lexeme *lexeme)
{
	query_error_set(parser->problem, PB_ERROR_INPUT, lexeme->column,
	    lexeme->kind == LEXEME_FIELD ? "title:(reward NEAR/5 hacking)" : example,
	    MSG_QUERY_NEAR_OPERAND, NULL);
}

/* Read one of the words and phrases that NEAR joins; nothing else may stand there. */
static struct node *
parse_operand(struct parser *parser, const struct field *field)
{
	const struct lexeme *lexeme = parser_get_lexeme(parser, 0);
	pb_auto(node) node = NULL;

	if (lexeme->kind == LEXEME_WORD || lexeme->kind == LEXEME_PHRASE) {
		node = parser_parse_clause(parser, field);
		if (!node || node->kind == NODE_WORDS)
			return g_steal_pointer(&node);
	}
	refuse_operand(parser, lexeme);
	return NULL;
}

/* Read ", 8" and the ")" of a NEAR( ). */
static bool
parse_end(struct parser *parser, unsigned open_column, unsigned *distance)
{
	const struct lexeme *lexeme = parser_get_lexeme(parser, 0);

	if (lexeme->kind == LEXEME_COMMA) {
		lexeme++;
		if (!read_distance(parser, lexeme->text,
		        lexeme->kind == LEXEME_WORD ? lexeme->len : 0, lexeme->column,
		        distance))
			return false;
		parser->at += 2;
		lexeme++;
	}
	if (lexeme->kind == LEXEME_CLOSE) {
		parser->at++;
		return true;
	}
	if (lexeme->kind == LEXEME_END)
		parser_refuse_open(parser, open_column);
	else
		query_error_set(parser->problem, PB_ERROR_INPUT, lexeme->column,
		    example, MSG_QUERY_NEAR_CLOSE, NULL);
	return false;
}

struct node *
proximity_parse_call(struct parser *parser, const struct field *field)
{
	unsigned column = parser_get_lexeme(parser, 0)->column;
	pb_auto(node) near = node_new(NODE_NEAR, column);

	if (!check_field(parser, field))
		return NULL;
	near->distance = NEAR_DISTANCE;
	parser->at += 2;
	for (;;) {
		enum lexeme_kind kind = parser_get_lexeme(parser, 0)->kind;
		struct node *operand;

		if (kind == LEXEME_COMMA || kind == LEXEME_CLOSE || kind == LEXEME_END)
			break;
		operand = parse_operand(parser, field);
		if (!operand)
			return NULL;
		node_add_phrase(near, operand);
	}
	if (!parse_end(parser, column + strlen("NEAR"), &near->distance))
		return NULL;
	if (!near->phrases || near->phrases->len < 2) {
		query_error_set(parser->problem, PB_ERROR_INPUT, column, example,
		    MSG_QUERY_NEAR_FEW, NULL);
		return NULL;
	}
	node_finish_near(near);
	return g_steal_pointer(&near);
}

/* Read the distance of the NEAR that is here, which must be that of the chain. */
static bool
read_join(struct parser *parser, struct node *near)
{
	static const char sign[] = "NEAR/";
	const struct lexeme *lexeme = parser_get_lexeme(parser, 0);
	unsigned distance = NEAR_DISTANCE;

	if (lexeme->len >= strlen(sign) &&
	    !read_distance(parser, lexeme->text + strlen(sign),
	        lexeme->len - strlen(sign), lexeme->column + (unsigned)strlen(sign),
	        &distance))
		return false;
	if (near->phrases->len > 1 && near->distance != distance) {
		query_error_set(parser->problem, PB_ERROR_INPUT, lexeme->column,
		    example, MSG_QUERY_NEAR_CHAIN, NULL);
		return false;
	}
	near->distance = distance;
	parser->at++;
	return true;
}

struct node *
proximity_parse_chain(struct parser *parser, const struct field *field,
    const struct lexeme *first, struct node *operand)
{
	pb_auto(node) near = node_new(NODE_NEAR, first->column);
	pb_auto(node) taken = operand;

	if (!check_field(parser, field))
		return NULL;
	if (taken->kind != NODE_WORDS ||
	    (first->kind != LEXEME_WORD && first->kind != LEXEME_PHRASE)) {
		refuse_operand(parser, first);
		return NULL;
	}
	node_add_phrase(near, g_steal_pointer(&taken));
	while (proximity_is_infix(parser)) {
		if (!read_join(parser, near))
			return NULL;
		if (!parser_at_operand(parser_get_lexeme(parser, 0)->kind) &&
		    !proximity_is_call(parser)) {
			parser_error_missing(parser);
			return NULL;
		}
		taken = parse_operand(parser, field);
		if (!taken)
			return NULL;
		node_add_phrase(near, g_steal_pointer(&taken));
	}
	node_finish_near(near);
	return g_steal_pointer(&near);
}
