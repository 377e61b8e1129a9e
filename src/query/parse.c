/*
 * parse.c - a filter's text as a tree: recursive descent over the lexemes.
 */
#include "query/parse.h"

#include <string.h>

#include "base/bounds.h"
#include "query/clause.h"
#include "query/lex.h"

struct parser {
	GArray *lexemes;
	guint at;
	unsigned depth;
	unsigned terms;
	const struct tokenizer *tokenizer;
	GPtrArray *warnings; /* or NULL */
	struct query_problem *problem;
};

static struct node *parse_or(struct parser *parser, const struct field *field);

static const struct lexeme *
get_lexeme(const struct parser *parser, int ahead)
{
	return &g_array_index(parser->lexemes, struct lexeme, parser->at + ahead);
}

static bool
begins_operand(enum lexeme_kind kind)
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
ends_operand(enum lexeme_kind kind)
{
	return kind == LEXEME_WORD || kind == LEXEME_PHRASE || kind == LEXEME_CLOSE;
}

static bool
is_operator(enum lexeme_kind kind)
{
	return kind == LEXEME_AND || kind == LEXEME_OR || kind == LEXEME_NOT ||
	       kind == LEXEME_ANDNOT;
}

/* Refuse an operator, an end or a ")" that stands where an operand is wanted. */
static void
refuse_missing(struct parser *parser)
{
	const struct lexeme *here = get_lexeme(parser, 0);
	const struct lexeme *before = parser->at > 0 ? get_lexeme(parser, -1) : NULL;
	const char *side = "after";
	const struct lexeme *sign = before;

	if (!before && here->kind == LEXEME_END) {
		query_problem_set(parser->problem, PB_ERROR_INPUT, 1, "diffusion",
		    "there is nothing to search for");
		return;
	}
	if (!before || !is_operator(before->kind)) {
		side = "before";
		sign = here;
	}
	query_problem_set(parser->problem, PB_ERROR_INPUT, sign->column,
	    "diffusion OR \"flow matching\"", "a word is missing %s \"%.*s\"", side,
	    (int)sign->len, sign->text);
}

/* Refuse a lexeme that no operand begins with. */
static void
refuse_lexeme(struct parser *parser)
{
	const struct lexeme *lexeme = get_lexeme(parser, 0);
	const char *message = NULL;

	switch (lexeme->kind) {
	case LEXEME_CLOSE:
		if (parser->depth > 0) {
			refuse_missing(parser);
			return;
		}
		message = "\")\" has no \"(\" before it";
		break;
	case LEXEME_NEAR:
		message = "NEAR is not supported yet";
		break;
	case LEXEME_CARET:
		message = "\"^\" (a weight) is not supported yet";
		break;
	case LEXEME_COMMA:
		message =
		    "a comma joins nothing: a space means AND, write OR for either";
		break;
	case LEXEME_COLON:
		message = "a field's name is wanted before \":\"";
		break;
	case LEXEME_NOT:
		message = "one NOT is enough";
		break;
	case LEXEME_END:
	case LEXEME_AND:
	case LEXEME_OR:
	case LEXEME_ANDNOT:
	case LEXEME_OPEN:
	case LEXEME_FIELD:
	case LEXEME_PHRASE:
	case LEXEME_WORD:
		refuse_missing(parser);
		return;
	}
	query_problem_set(
	    parser->problem, PB_ERROR_INPUT, lexeme->column, NULL, "%s", message);
}

/* Lower-case operators are words; whoever types one between words is warned. */
static void
warn_of_operator(struct parser *parser)
{
	static const char *const operators[] = {"AND", "OR", "NOT", "ANDNOT"};
	const struct lexeme *word = get_lexeme(parser, 0);
	bool follows_operand =
	    parser->at > 0 && ends_operand(get_lexeme(parser, -1)->kind);

	if (!parser->warnings || word->kind != LEXEME_WORD ||
	    !begins_operand(get_lexeme(parser, 1)->kind))
		return;
	for (size_t i = 0; i < G_N_ELEMENTS(operators); i++) {
		bool needs_left = strcmp(operators[i], "NOT") != 0;

		if (strlen(operators[i]) != word->len ||
		    g_ascii_strncasecmp(operators[i], word->text, word->len) != 0 ||
		    (needs_left && !follows_operand))
			continue;
		g_ptr_array_add(parser->warnings,
		    g_strdup_printf("column %u: \"%.*s\" is searched "
		                    "as a word; meant %s?",
		        word->column, (int)word->len, word->text, operators[i]));
	}
}

static struct node *
parse_clause(struct parser *parser, const struct field *field, bool is_bare)
{
	const struct clause_source source = {
	    .lexeme = get_lexeme(parser, 0),
	    .field = field,
	    .is_bare = is_bare,
	    .tokenizer = parser->tokenizer,
	};

	if (++parser->terms > BOUNDS_QUERY_TERMS) {
		query_problem_set(parser->problem, PB_ERROR_LIMIT,
		    source.lexeme->column, NULL, "more than %d words and phrases",
		    BOUNDS_QUERY_TERMS);
		return NULL;
	}
	parser->at++;
	return clause_parse(&source, parser->problem);
}

static struct node *
parse_group(struct parser *parser, const struct field *field)
{
	unsigned column = get_lexeme(parser, 0)->column;
	pb_auto(node) node = NULL;

	if (parser->depth == BOUNDS_QUERY_DEPTH) {
		query_problem_set(parser->problem, PB_ERROR_LIMIT, column, NULL,
		    "parentheses are nested deeper than %d", BOUNDS_QUERY_DEPTH);
		return NULL;
	}
	parser->at++;
	if (get_lexeme(parser, 0)->kind == LEXEME_CLOSE) {
		query_problem_set(parser->problem, PB_ERROR_INPUT, column,
		    "title:(mamba OR ssm)", "there is nothing between \"(\" and \")\"");
		return NULL;
	}
	parser->depth++;
	node = parse_or(parser, field);
	if (!node)
		return NULL;
	if (get_lexeme(parser, 0)->kind != LEXEME_CLOSE) {
		query_problem_set(parser->problem, PB_ERROR_INPUT, column,
		    "title:(mamba OR ssm)", "\"(\" has no \")\" after it");
		return NULL;
	}
	parser->depth--;
	parser->at++;
	return g_steal_pointer(&node);
}

static struct node *
parse_fielded(struct parser *parser)
{
	const struct lexeme *name = get_lexeme(parser, 0);
	const struct lexeme *value = get_lexeme(parser, 1);
	const struct field *field = clause_find_field(name, parser->problem);

	if (!field)
		return NULL;
	parser->at++;
	if (value->start == name->end) {
		if (value->kind == LEXEME_OPEN && field->kind != FIELD_NUMBER)
			return parse_group(parser, field);
		if (value->kind == LEXEME_WORD || value->kind == LEXEME_PHRASE)
			return parse_clause(parser, field, false);
	}
	clause_refuse_value(name, value, field, parser->problem);
	return NULL;
}

static struct node *
parse_primary(struct parser *parser, const struct field *field)
{
	switch (get_lexeme(parser, 0)->kind) {
	case LEXEME_OPEN:
		return parse_group(parser, field);
	case LEXEME_FIELD:
		return parse_fielded(parser);
	case LEXEME_WORD:
		warn_of_operator(parser);
		return parse_clause(parser, field, true);
	case LEXEME_PHRASE:
		return parse_clause(parser, field, false);
	case LEXEME_END:
	case LEXEME_CLOSE:
	case LEXEME_AND:
	case LEXEME_OR:
	case LEXEME_NOT:
	case LEXEME_ANDNOT:
	case LEXEME_NEAR:
	case LEXEME_CARET:
	case LEXEME_COMMA:
	case LEXEME_COLON:
		break;
	}
	refuse_lexeme(parser);
	return NULL;
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
	const struct lexeme *lexeme = get_lexeme(parser, 0);

	if (lexeme->kind != LEXEME_NOT)
		return parse_primary(parser, field);
	parser->at++;
	return negate(parse_primary(parser, field), lexeme->column);
}

static struct node *
parse_and(struct parser *parser, const struct field *field)
{
	pb_auto(node) node = node_new(NODE_AND, get_lexeme(parser, 0)->column);
	struct node *operand = parse_not(parser, field);

	while (operand) {
		const struct lexeme *lexeme = get_lexeme(parser, 0);

		node_add_operand(node, operand);
		switch (lexeme->kind) {
		case LEXEME_END:
		case LEXEME_OR:
			return g_steal_pointer(&node);
		case LEXEME_CLOSE:
			if (parser->depth > 0)
				return g_steal_pointer(&node);
			operand = parse_primary(parser, field);
			break;
		case LEXEME_AND:
			parser->at++;
			operand = parse_not(parser, field);
			break;
		case LEXEME_ANDNOT:
			parser->at++;
			operand = negate(parse_primary(parser, field), lexeme->column);
			break;
		case LEXEME_OPEN:
		case LEXEME_NOT:
		case LEXEME_NEAR:
		case LEXEME_CARET:
		case LEXEME_COMMA:
		case LEXEME_COLON:
		case LEXEME_FIELD:
		case LEXEME_PHRASE:
		case LEXEME_WORD:
			operand = parse_not(parser, field);
			break;
		}
	}
	return NULL;
}

static struct node *
parse_or(struct parser *parser, const struct field *field)
{
	pb_auto(node) node = node_new(NODE_OR, get_lexeme(parser, 0)->column);
	struct node *operand = parse_and(parser, field);

	while (operand) {
		node_add_operand(node, operand);
		if (get_lexeme(parser, 0)->kind != LEXEME_OR)
			return g_steal_pointer(&node);
		parser->at++;
		operand = parse_and(parser, field);
	}
	return NULL;
}

struct node *
parse_tree(GArray *lexemes, const struct tokenizer *tokenizer, GPtrArray *warnings,
    struct query_problem *problem)
{
	struct parser parser = {
	    .lexemes = lexemes,
	    .tokenizer = tokenizer,
	    .warnings = warnings,
	    .problem = problem,
	};

	/* Only an end ends the outermost level: parse_and() refuses a ")" there. */
	return parse_or(&parser, field_get_text());
}
