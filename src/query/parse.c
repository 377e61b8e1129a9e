/*
 * parse.c - a filter's text as a tree: recursive descent over the lexemes.
 */
#include "query/parse.h"

#include <string.h>

#include "base/bounds.h"
#include "query/clause.h"
#include "query/lex.h"

/* Words between, where no number is given. */
#define NEAR_DISTANCE 10

static const char near_example[] = "reward NEAR/5 hacking";

G_STATIC_ASSERT(BOUNDS_NEAR_WORDS == 99);

struct parser {
	GArray *lexemes;
	guint at;
	unsigned depth;
	unsigned terms;
	const struct tokenizer *tokenizer;
	GPtrArray *warnings; /* or NULL */
	struct query_problem *problem;
};

/* The field is that of the group around, or NULL. */
static struct node *parse_or(struct parser *parser, const struct field *field);

static const struct lexeme *
get_lexeme(const struct parser *parser, int ahead)
{
	return &g_array_index(parser->lexemes, struct lexeme, parser->at + ahead);
}

/* "NEAR(" as in FTS5; "a NEAR (" joins a to a group. */
static bool
is_near_call(const struct parser *parser)
{
	const struct lexeme *near = get_lexeme(parser, 0);

	return near->kind == LEXEME_NEAR && near->len == strlen("NEAR") &&
	       (near + 1)->kind == LEXEME_OPEN && (near + 1)->start == near->end;
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
	       kind == LEXEME_ANDNOT || kind == LEXEME_NEAR;
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
	case LEXEME_CARET:
		message =
		    "\"^\" (a weight) stands once, directly behind a word or a group";
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
	case LEXEME_NEAR:
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
	static const char *const operators[] = {"AND", "OR", "NOT", "ANDNOT", "NEAR"};
	const struct lexeme *word = get_lexeme(parser, 0);
	const char *slash = memchr(word->text, '/', word->len);
	/* near/5 */
	size_t len = slash ? (size_t)(slash - word->text) : word->len;
	bool follows_operand =
	    parser->at > 0 && ends_operand(get_lexeme(parser, -1)->kind);

	if (!parser->warnings || word->kind != LEXEME_WORD ||
	    !begins_operand(get_lexeme(parser, 1)->kind))
		return;
	for (size_t i = 0; i < G_N_ELEMENTS(operators); i++) {
		bool needs_left = strcmp(operators[i], "NOT") != 0;

		if (strlen(operators[i]) != len ||
		    g_ascii_strncasecmp(operators[i], word->text, len) != 0 ||
		    (needs_left && !follows_operand))
			continue;
		g_ptr_array_add(parser->warnings,
		    g_strdup_printf("column %u: \"%.*s\" is searched "
		                    "as a word; meant %s?",
		        word->column, (int)word->len, word->text, operators[i]));
	}
}

static struct node *
parse_clause(struct parser *parser, const struct field *field)
{
	const struct clause_source source = {
	    .lexeme = get_lexeme(parser, 0),
	    .field = field,
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

/* Read the one or two digits that a text is made of; 0 for anything else. */
static unsigned
read_small(const char *text, size_t len)
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

static bool
read_distance(struct parser *parser, const char *text, size_t len, unsigned column,
    unsigned *distance)
{
	*distance = read_small(text, len);
	if (*distance == 0)
		query_problem_set(parser->problem, PB_ERROR_INPUT, column, near_example,
		    "the words between are a number from 1 to %d", BOUNDS_NEAR_WORDS);
	return *distance > 0;
}

/* NEAR stands where words of title and abstract do. */
static bool
check_near_field(struct parser *parser, const struct field *field)
{
	if (!field || field->kind == FIELD_WORDS)
		return true;
	query_problem_set(parser->problem, PB_ERROR_INPUT,
	    get_lexeme(parser, 0)->column, near_example,
	    "NEAR is for title, abstract and text, not for \"%s:\"", field->name);
	return false;
}

/* Read one of the words and phrases that NEAR joins; nothing else may stand there. */
static struct node *
parse_near_operand(struct parser *parser, const struct field *field)
{
	const struct lexeme *lexeme = get_lexeme(parser, 0);
	pb_auto(node) node = NULL;

	if (lexeme->kind == LEXEME_WORD || lexeme->kind == LEXEME_PHRASE) {
		node = parse_clause(parser, field);
		if (!node || node->kind == NODE_WORDS)
			return g_steal_pointer(&node);
	}
	query_problem_set(parser->problem, PB_ERROR_INPUT, lexeme->column, near_example,
	    "NEAR joins words, phrases and prefixes, nothing else");
	return NULL;
}

/* Read ", 8" and the ")" of a NEAR( ). */
static bool
parse_near_end(struct parser *parser, unsigned open_column, unsigned *distance)
{
	const struct lexeme *lexeme = get_lexeme(parser, 0);

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
		query_problem_set(parser->problem, PB_ERROR_INPUT, open_column,
		    near_example, "\"(\" has no \")\" after it");
	else
		query_problem_set(parser->problem, PB_ERROR_INPUT, lexeme->column,
		    near_example, "\")\" is wanted behind the number of words");
	return false;
}

/* NEAR("chain of thought" faithful*, 8) */
static struct node *
parse_near_call(struct parser *parser, const struct field *field)
{
	unsigned column = get_lexeme(parser, 0)->column;
	pb_auto(node) near = node_new(NODE_NEAR, column);

	if (!check_near_field(parser, field))
		return NULL;
	near->distance = NEAR_DISTANCE;
	parser->at += 2;
	for (;;) {
		enum lexeme_kind kind = get_lexeme(parser, 0)->kind;
		struct node *operand;

		if (kind == LEXEME_COMMA || kind == LEXEME_CLOSE || kind == LEXEME_END)
			break;
		operand = parse_near_operand(parser, field);
		if (!operand)
			return NULL;
		node_add_phrase(near, operand);
	}
	if (!parse_near_end(parser, column + strlen("NEAR"), &near->distance))
		return NULL;
	if (!near->phrases || near->phrases->len < 2) {
		query_problem_set(parser->problem, PB_ERROR_INPUT, column, near_example,
		    "NEAR joins two words or more");
		return NULL;
	}
	node_finish_near(near);
	return g_steal_pointer(&near);
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
		if (value->kind == LEXEME_OPEN)
			return parse_group(parser, field);
		if (value->kind == LEXEME_WORD || value->kind == LEXEME_PHRASE)
			return parse_clause(parser, field);
		if (is_near_call(parser))
			return parse_near_call(parser, field);
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
		return parse_clause(parser, field);
	case LEXEME_PHRASE:
		return parse_clause(parser, field);
	case LEXEME_NEAR:
		if (is_near_call(parser))
			return parse_near_call(parser, field);
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

/* The distance of the NEAR that is here, which must be that of the chain. */
static bool
read_near(struct parser *parser, const struct node *near, unsigned *distance)
{
	static const char sign[] = "NEAR/";
	const struct lexeme *lexeme = get_lexeme(parser, 0);

	*distance = NEAR_DISTANCE;
	if (lexeme->len >= strlen(sign) &&
	    !read_distance(parser, lexeme->text + strlen(sign),
	        lexeme->len - strlen(sign), lexeme->column + (unsigned)strlen(sign),
	        distance))
		return false;
	if (near->phrases && near->distance != *distance) {
		query_problem_set(parser->problem, PB_ERROR_INPUT, lexeme->column,
		    near_example, "a chain of NEAR has one distance");
		return false;
	}
	return true;
}

static bool
is_near_join(const struct parser *parser)
{
	return get_lexeme(parser, 0)->kind == LEXEME_NEAR && !is_near_call(parser);
}

/* a NEAR/5 b NEAR/5 c: one group. */
static struct node *
parse_near(struct parser *parser, const struct field *field)
{
	const struct lexeme *first = get_lexeme(parser, 0);
	struct node *operand = parse_primary(parser, field);
	pb_auto(node) near = node_new(NODE_NEAR, first->column);

	if (!operand || !is_near_join(parser))
		return operand;
	if (check_near_field(parser, field) &&
	    (operand->kind != NODE_WORDS ||
	        (first->kind != LEXEME_WORD && first->kind != LEXEME_PHRASE)))
		query_problem_set(parser->problem, PB_ERROR_INPUT, first->column,
		    near_example,
		    "NEAR joins words, phrases and prefixes, nothing else");
	if (parser->problem->message) {
		node_free(operand);
		return NULL;
	}
	while (is_near_join(parser)) {
		const struct lexeme *next = get_lexeme(parser, 1);

		if (!read_near(parser, near, &near->distance)) {
			node_free(operand);
			return NULL;
		}
		node_add_phrase(near, operand);
		parser->at++;
		if (!begins_operand(next->kind) && !is_near_call(parser)) {
			refuse_missing(parser);
			return NULL;
		}
		operand = parse_near_operand(parser, field);
		if (!operand)
			return NULL;
	}
	node_add_phrase(near, operand);
	node_finish_near(near);
	return g_steal_pointer(&near);
}

/* speech^3, (a OR b)^2 */
static struct node *
parse_boost(struct parser *parser, const struct field *field)
{
	pb_auto(node) node = parse_near(parser, field);
	const struct lexeme *caret = get_lexeme(parser, 0);
	const struct lexeme *number = caret + 1;
	unsigned boost = 0;

	if (!node || caret->kind != LEXEME_CARET || caret->start != (caret - 1)->end)
		return g_steal_pointer(&node);
	if (number->kind == LEXEME_WORD && number->start == caret->end)
		boost = read_small(number->text, number->len);
	if (boost < 1 || boost > BOUNDS_BOOST) {
		query_problem_set(parser->problem, PB_ERROR_INPUT, caret->column + 1,
		    "speech^3 recognition", "a weight is a number from 1 to %d",
		    BOUNDS_BOOST);
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
	const struct lexeme *lexeme = get_lexeme(parser, 0);

	if (lexeme->kind != LEXEME_NOT)
		return parse_boost(parser, field);
	parser->at++;
	return negate(parse_boost(parser, field), lexeme->column);
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
			operand = negate(parse_boost(parser, field), lexeme->column);
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
	return parse_or(&parser, NULL);
}
