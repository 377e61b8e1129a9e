/*
 * query.c - parses a filter by recursive descent, and properties of queries.
 */
#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "base/bounds.h"
#include "query/parse/canonical.h"
#include "query/parse/clause.h"
#include "query/parse/field.h"
#include "query/parse/lex.h"
#include "query/parse/tree.h"
#include "query/query.h"

/* ---- warns of operators of other search languages ---- */

/* Maximum length of a side of "&" in a word such as R&D or Q&A, bytes. */
#define SHORT_SIDE 2

static const struct {
	const char *signs;
	const char *message;
} foreign_signs[] = {
    {"[]{}", N_("column {column}: \"{sign}\" is ignored; write a field before its "
                "word, as in title:diffusion")},
    {"?~", N_("column {column}: \"{sign}\" is ignored; \"*\" finds other endings, as "
              "in quantiz*")},
    {"<>=", N_("column {column}: \"{sign}\" is ignored; compare a number after a "
               "colon, as in upvotes:>=20")},
    {"%", N_("column {column}: \"{sign}\" is ignored; type characters as they are, not "
             "percent-encoded")},
};

/* Also an apostrophe at the end of a word. */
static bool
is_single_quote(gunichar c)
{
	return c == '\'' || c == '`' || c == 0x2018 || c == 0x201A || c == 0x2039;
}

static bool
is_short(const struct lexeme *word)
{
	return word->kind == LEXEME_WORD && word->len <= SHORT_SIDE;
}

static struct msg *
find_foreign_sign(const struct lexeme *word)
{
	const char *end = word->text + word->len;

	for (const char *p = word->text; p < end; p = g_utf8_next_char(p)) {
		/* =RAG */
		if (p == word->text && *p == '=')
			continue;
		for (size_t i = 0; i < G_N_ELEMENTS(foreign_signs); i++)
			if (strchr(foreign_signs[i].signs, *p))
				return msg_new(foreign_signs[i].message, "column",
				    MSG_INT(word->column +
				            g_utf8_pointer_to_offset(word->text, p)),
				    "sign", ((char[]){*p, '\0'}), NULL);
	}
	return NULL;
}

/*
 * Warn of a sign in or next to a word that has no effect: [ti] of PubMed, wildcards ?
 * and ~, a comparison without a field, single quotes; and of "&" or "(" that splits a
 * word.
 *
 * @param word      a word or a phrase, followed by at least one more lexeme
 * @param field     of the word, or NULL; values that are not words keep their signs
 * @param warnings  of struct msg *; at most one is added
 */
static void
lint_query(const struct lexeme *word, const struct field *field, GPtrArray *warnings)
{
	bool has_words = !field || field->kind == FIELD_WORDS ||
	                 field->kind == FIELD_VALUE_WORDS || field->kind == FIELD_NAME;
	const struct lexeme *next = word + 1;
	struct msg *warning = NULL;

	if (word->kind != LEXEME_WORD)
		return;
	if (has_words && is_single_quote(g_utf8_get_char(word->text)))
		warning = msg_new(N_("column {column}: this quotation mark is ignored; "
		                     "put phrases in \"double quotes\""),
		    "column", MSG_INT(word->column), NULL);
	else if (next->start == word->end && next->kind == LEXEME_OPEN)
		warning = msg_new(N_("column {column}: \"(\" starts a group here; put "
		                     "a value that contains it in quotes"),
		    "column", MSG_INT(next->column), NULL);
	else if (next->start == word->end && next->kind == LEXEME_AND &&
	         (next + 1)->start == next->end &&
	         (is_short(word) || is_short(next + 1)))
		warning = msg_new(N_("column {column}: \"&\" means AND here; put a "
		                     "name such as \"R&D\" in quotes"),
		    "column", MSG_INT(next->column), NULL);
	else if (has_words)
		warning = find_foreign_sign(word);
	if (warning)
		g_ptr_array_add(warnings, warning);
}

/* ---- parse ---- */

/* Default maximum number of words between the operands of NEAR. */
#define NEAR_DISTANCE 10

G_STATIC_ASSERT(BOUNDS_NEAR_WORDS == 99);

static const char near_example[] = "reward NEAR/5 hacking";

struct parser {
	GArray *lexemes;
	guint at;
	unsigned depth;
	unsigned terms;
	const struct tokenizer *tokenizer;
	GPtrArray *warnings; /* or NULL */
	struct query_error *problem;
};

/* The field is that of the enclosing group, or NULL. */
static struct node *parse_or(struct parser *parser, const struct field *field);

static inline const struct lexeme *
get_lexeme(const struct parser *parser, int ahead)
{
	return &g_array_index(parser->lexemes, struct lexeme, parser->at + ahead);
}

static bool
starts_operand(enum lexeme_kind kind)
{
	return kind == LEXEME_OPEN || kind == LEXEME_FIELD || kind == LEXEME_PHRASE ||
	       kind == LEXEME_WORD || kind == LEXEME_NOT;
}

static bool
is_operator(enum lexeme_kind kind)
{
	return kind == LEXEME_AND || kind == LEXEME_OR || kind == LEXEME_NOT ||
	       kind == LEXEME_ANDNOT || kind == LEXEME_NEAR;
}

static void
error_open(struct parser *parser, unsigned column)
{
	query_error_set(parser->problem, PB_ERROR_INPUT, column, "title:(mamba OR ssm)",
	    N_("\"(\" without \")\""), NULL);
}

static void
error_missing(struct parser *parser)
{
	const struct lexeme *here = get_lexeme(parser, 0);
	const struct lexeme *before = parser->at > 0 ? get_lexeme(parser, -1) : NULL;
	const char *message = N_("expected a word after \"{sign}\"");
	const struct lexeme *sign = before;
	g_autofree char *text = NULL;

	if (!before && here->kind == LEXEME_END) {
		query_error_set(parser->problem, PB_ERROR_INPUT, 1, "diffusion",
		    N_("the query is empty"), NULL);
		return;
	}
	if (before && before->kind == LEXEME_OPEN && here->kind == LEXEME_END) {
		error_open(parser, before->column);
		return;
	}
	if (!before || !is_operator(before->kind)) {
		message = N_("expected a word before \"{sign}\"");
		sign = here;
	}
	text = g_strndup(sign->text, sign->len);
	query_error_set(parser->problem, PB_ERROR_INPUT, sign->column,
	    "diffusion OR \"flow matching\"", message, "sign", text, NULL);
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
		query_error_set(parser->problem, PB_ERROR_LIMIT, source.lexeme->column,
		    NULL, N_("more than {most} words and phrases"), "most",
		    MSG_INT(BOUNDS_QUERY_TERMS), NULL);
		return NULL;
	}
	if (parser->warnings)
		lint_query(source.lexeme, field, parser->warnings);
	parser->at++;
	return clause_parse(&source, parser->problem);
}

static unsigned
read_int(const char *text, size_t len)
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
is_near_call(const struct parser *parser)
{
	const struct lexeme *near = get_lexeme(parser, 0);

	return near->kind == LEXEME_NEAR && near->len == strlen("NEAR") &&
	       (near + 1)->kind == LEXEME_OPEN && (near + 1)->start == near->end;
}

static bool
is_near_infix(const struct parser *parser)
{
	return get_lexeme(parser, 0)->kind == LEXEME_NEAR && !is_near_call(parser);
}

static bool
read_distance(struct parser *parser, const char *text, size_t len, unsigned column,
    unsigned *distance)
{
	*distance = read_int(text, len);
	if (*distance == 0)
		query_error_set(parser->problem, PB_ERROR_INPUT, column, near_example,
		    N_("the distance must be a number of words from 1 to {most}"),
		    "most", MSG_INT(BOUNDS_NEAR_WORDS), NULL);
	return *distance > 0;
}

/* NEAR joins words of title and abstract only. */
static bool
check_near_field(struct parser *parser, const struct field *field)
{
	if (!field || field->kind == FIELD_WORDS)
		return true;
	query_error_set(parser->problem, PB_ERROR_INPUT, get_lexeme(parser, 0)->column,
	    near_example,
	    N_("NEAR applies to title, abstract and text, not to \"{field}:\""),
	    "field", field->name, NULL);
	return false;
}

static void
error_near_operand(struct parser *parser, const struct lexeme *lexeme)
{
	query_error_set(parser->problem, PB_ERROR_INPUT, lexeme->column,
	    lexeme->kind == LEXEME_FIELD ? "title:(reward NEAR/5 hacking)"
	                                 : near_example,
	    N_("NEAR can only join words, phrases and prefixes"), NULL);
}

/* Parse an operand of NEAR: only a word or a phrase. */
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
	error_near_operand(parser, lexeme);
	return NULL;
}

/* Parse the distance and the ")" of NEAR(a b, 8). */
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
		error_open(parser, open_column);
	else
		query_error_set(parser->problem, PB_ERROR_INPUT, lexeme->column,
		    near_example, N_("expected \")\" after the number of words"), NULL);
	return false;
}

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
		query_error_set(parser->problem, PB_ERROR_INPUT, column, near_example,
		    N_("NEAR needs at least two words"), NULL);
		return NULL;
	}
	node_finish_near(near);
	return g_steal_pointer(&near);
}

/* Read the distance of an infix NEAR, which must be the same in a chain. */
static bool
read_near_infix(struct parser *parser, struct node *near)
{
	static const char sign[] = "NEAR/";
	const struct lexeme *lexeme = get_lexeme(parser, 0);
	unsigned distance = NEAR_DISTANCE;

	if (lexeme->len >= strlen(sign) &&
	    !read_distance(parser, lexeme->text + strlen(sign),
	        lexeme->len - strlen(sign), lexeme->column + (unsigned)strlen(sign),
	        &distance))
		return false;
	if (near->phrases->len > 1 && near->distance != distance) {
		query_error_set(parser->problem, PB_ERROR_INPUT, lexeme->column,
		    near_example, N_("all NEAR of a chain must have the same distance"),
		    NULL);
		return false;
	}
	near->distance = distance;
	parser->at++;
	return true;
}

static struct node *
parse_near_chain(struct parser *parser, const struct field *field,
    const struct lexeme *first, struct node *operand)
{
	pb_auto(node) near = node_new(NODE_NEAR, first->column);
	pb_auto(node) taken = operand;

	if (!check_near_field(parser, field))
		return NULL;
	if (taken->kind != NODE_WORDS ||
	    (first->kind != LEXEME_WORD && first->kind != LEXEME_PHRASE)) {
		error_near_operand(parser, first);
		return NULL;
	}
	node_add_phrase(near, g_steal_pointer(&taken));
	while (is_near_infix(parser)) {
		if (!read_near_infix(parser, near))
			return NULL;
		if (!starts_operand(get_lexeme(parser, 0)->kind) &&
		    !is_near_call(parser)) {
			error_missing(parser);
			return NULL;
		}
		taken = parse_near_operand(parser, field);
		if (!taken)
			return NULL;
		node_add_phrase(near, g_steal_pointer(&taken));
	}
	node_finish_near(near);
	return g_steal_pointer(&near);
}

static bool
ends_operand(enum lexeme_kind kind)
{
	return kind == LEXEME_WORD || kind == LEXEME_PHRASE || kind == LEXEME_CLOSE;
}

/* Report a lexeme that cannot begin an operand. */
static void
error_lexeme(struct parser *parser)
{
	static const char *const errors[] = {
	    [LEXEME_CLOSE] = N_("\")\" without \"(\""),
	    [LEXEME_CARET] =
	        N_("\"^\" (a weight) may occur once, directly after a word or a group"),
	    [LEXEME_COMMA] =
	        N_("unexpected comma: a space means AND, write OR for either"),
	    [LEXEME_COLON] = N_("expected a field name before \":\""),
	    [LEXEME_NOT] = N_("duplicate NOT"),
	    [LEXEME_NEAR] =
	        N_("a weight applies to all of NEAR and comes last: a NEAR b^2"),
	};
	const struct lexeme *lexeme = get_lexeme(parser, 0);
	enum lexeme_kind kind = lexeme->kind;
	bool is_missing = kind >= G_N_ELEMENTS(errors) || !errors[kind];

	if (kind == LEXEME_CLOSE)
		is_missing = parser->depth > 0;
	else if (kind == LEXEME_NEAR)
		is_missing =
		    parser->at < 2 || get_lexeme(parser, -2)->kind != LEXEME_CARET;
	if (is_missing)
		error_missing(parser);
	else
		query_error_set(parser->problem, PB_ERROR_INPUT, lexeme->column, NULL,
		    errors[kind], NULL);
}

/* Also "or", "near" and "near/5". */
static bool
is_lower_operator(const struct lexeme *word, const char *operator)
{
	size_t len = strlen(operator);

	return word->len >= len &&
	       g_ascii_strncasecmp(operator, word->text, len) == 0 &&
	       (word->len == len ||
	           (strcmp(operator, "NEAR") == 0 && word->text[len] == '/'));
}

/* Operators in lower case are words: warn of one between operands. */
static void
warn_of_operator(struct parser *parser)
{
	static const char *const operators[] = {"AND", "OR", "NOT", "ANDNOT", "NEAR"};
	const struct lexeme *word = get_lexeme(parser, 0);
	enum lexeme_kind next = (word + 1)->kind;
	bool follows_operand =
	    parser->at > 0 && ends_operand(get_lexeme(parser, -1)->kind);
	g_autofree char *text = NULL;

	if (!parser->warnings || word->kind != LEXEME_WORD ||
	    (next != LEXEME_NEAR && !starts_operand(next)))
		return;
	text = g_strndup(word->text, word->len);
	for (size_t i = 0; i < G_N_ELEMENTS(operators); i++) {
		bool needs_left = strcmp(operators[i], "NOT") != 0;

		if (!is_lower_operator(word, operators[i]) ||
		    (needs_left && !follows_operand))
			continue;
		g_ptr_array_add(parser->warnings,
		    msg_new(N_("column {column}: \"{word}\" is searched as a word: did "
		               "you mean {operator}?"),
		        "column", MSG_INT(word->column), "word", text, "operator",
		        operators[i], NULL));
	}
}

static struct node *
parse_group(struct parser *parser, const struct field *field)
{
	unsigned column = get_lexeme(parser, 0)->column;
	struct node *inner;
	pb_auto(node) node = NULL;

	if (parser->depth == BOUNDS_QUERY_DEPTH) {
		query_error_set(parser->problem, PB_ERROR_LIMIT, column, NULL,
		    N_("parentheses are nested deeper than {most}"), "most",
		    MSG_INT(BOUNDS_QUERY_DEPTH), NULL);
		return NULL;
	}
	parser->at++;
	if (get_lexeme(parser, 0)->kind == LEXEME_CLOSE) {
		query_error_set(parser->problem, PB_ERROR_INPUT, column,
		    "title:(mamba OR ssm)", N_("empty parentheses"), NULL);
		return NULL;
	}
	parser->depth++;
	inner = parse_or(parser, field);
	if (!inner)
		return NULL;
	/* A group of one clause is still a group for NEAR and boosts. */
	node = node_new(NODE_OR, column);
	node_add_operand(node, inner);
	if (get_lexeme(parser, 0)->kind != LEXEME_CLOSE) {
		error_open(parser, column);
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
		if (value->kind == LEXEME_OPEN)
			return parse_group(parser, field);
		if (value->kind == LEXEME_WORD || value->kind == LEXEME_PHRASE)
			return parse_clause(parser, field);
		if (is_near_call(parser))
			return parse_near_call(parser, field);
	}
	clause_error_value(name, value, field, parser->problem);
	return NULL;
}

static struct node *
parse_primary(struct parser *parser, const struct field *field)
{
	enum lexeme_kind kind = get_lexeme(parser, 0)->kind;

	if (kind == LEXEME_OPEN)
		return parse_group(parser, field);
	if (kind == LEXEME_FIELD)
		return parse_fielded(parser);
	if (kind == LEXEME_WORD)
		warn_of_operator(parser);
	if (kind == LEXEME_WORD || kind == LEXEME_PHRASE)
		return parse_clause(parser, field);
	if (is_near_call(parser))
		return parse_near_call(parser, field);
	error_lexeme(parser);
	return NULL;
}

/* Parse a clause or group, or a chain of clauses with NEAR. */
static struct node *
parse_proximity(struct parser *parser, const struct field *field)
{
	const struct lexeme *first = get_lexeme(parser, 0);
	struct node *operand = parse_primary(parser, field);

	if (!operand || !is_near_infix(parser))
		return operand;
	return parse_near_chain(parser, field, first, operand);
}

/* speech^3, (a OR b)^2 */
static struct node *
parse_boost(struct parser *parser, const struct field *field)
{
	pb_auto(node) node = parse_proximity(parser, field);
	const struct lexeme *caret = get_lexeme(parser, 0);
	const struct lexeme *number = caret + 1;
	unsigned boost = 0;

	if (!node || caret->kind != LEXEME_CARET || caret->start != (caret - 1)->end)
		return g_steal_pointer(&node);
	if (number->kind == LEXEME_WORD && number->start == caret->end)
		boost = read_int(number->text, number->len);
	if (boost < 1 || boost > BOUNDS_BOOST) {
		query_error_set(parser->problem, PB_ERROR_INPUT, caret->column + 1,
		    "speech^3 recognition", N_("a weight is a number from 1 to {most}"),
		    "most", MSG_INT(BOUNDS_BOOST), NULL);
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

/* Whether an AND ends here; parse_and() reports an unmatched ")". */
static bool
ends_and(const struct parser *parser)
{
	enum lexeme_kind kind = get_lexeme(parser, 0)->kind;

	return kind == LEXEME_END || kind == LEXEME_OR ||
	       (kind == LEXEME_CLOSE && parser->depth > 0);
}

/* Parse another operand of an AND, whose operator is optional. */
static struct node *
parse_further(struct parser *parser, const struct field *field)
{
	const struct lexeme *lexeme = get_lexeme(parser, 0);

	if (lexeme->kind == LEXEME_CLOSE)
		return parse_primary(parser, field);
	if (lexeme->kind == LEXEME_AND || lexeme->kind == LEXEME_ANDNOT)
		parser->at++;
	if (lexeme->kind == LEXEME_ANDNOT)
		return negate(parse_boost(parser, field), lexeme->column);
	return parse_not(parser, field);
}

/* A single operand is returned as it is. */
static struct node *
parse_and(struct parser *parser, const struct field *field)
{
	unsigned column = get_lexeme(parser, 0)->column;
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
	unsigned column = get_lexeme(parser, 0)->column;
	struct node *operand = parse_and(parser, field);
	pb_auto(node) node = NULL;

	if (operand && get_lexeme(parser, 0)->kind != LEXEME_OR)
		return operand;
	node = node_new(NODE_OR, column);
	while (operand) {
		node_add_operand(node, operand);
		if (get_lexeme(parser, 0)->kind != LEXEME_OR)
			return g_steal_pointer(&node);
		parser->at++;
		operand = parse_and(parser, field);
	}
	return NULL;
}

/* ---- AND inside OR ---- */

/* An operand of the outermost level: bytes of the text, without a NOT before it. */
struct item {
	size_t start, end;
	bool is_or;      /* joined to the one before by OR */
	bool is_negated; /* by NOT or ANDNOT before it */
};

/* Whether a lexeme begins an operand: the first one, or one after another. */
static bool
begins_item(const struct lexeme *one, enum lexeme_kind before)
{
	bool is_near = one->kind == LEXEME_NEAR && (one + 1)->kind == LEXEME_OPEN &&
	               (one + 1)->start == one->end;

	return (starts_operand(one->kind) || is_near) &&
	       (ends_operand(before) || before == LEXEME_AND || before == LEXEME_OR ||
	           before == LEXEME_ANDNOT);
}

/* @return of struct item */
static GArray *
list_items(const GArray *lexemes)
{
	GArray *items = g_array_new(FALSE, FALSE, sizeof(struct item));
	enum lexeme_kind before = LEXEME_AND;
	unsigned depth = 0;

	for (unsigned i = 0; i + 1 < lexemes->len; i++) {
		const struct lexeme *one = &g_array_index(lexemes, struct lexeme, i);
		bool is_not = one->kind == LEXEME_NOT;

		if (depth == 0 && begins_item(one, before)) {
			struct item item = {.start = one[is_not].start,
			    .is_or = before == LEXEME_OR,
			    .is_negated = is_not || before == LEXEME_ANDNOT};

			g_array_append_val(items, item);
		}
		depth += one->kind == LEXEME_OPEN;
		depth -= one->kind == LEXEME_CLOSE;
		before = one->kind;
		if (depth > 0 || (before != LEXEME_AND && before != LEXEME_OR &&
		                     before != LEXEME_ANDNOT))
			g_array_index(items, struct item, items->len - 1).end =
			    one->end;
	}
	return items;
}

/* Write the operands with brackets around those that OR joins, or else AND. */
static char *
format_items(const GArray *items, const char *text, bool is_or)
{
	GString *out = g_string_new(NULL);

	for (unsigned i = 0, end; i < items->len; i = end) {
		bool is_group;

		for (end = i + 1;
		     end < items->len &&
		     g_array_index(items, struct item, end).is_or == is_or;)
			end++;
		is_group = end > i + 1;
		if (i)
			g_string_append(out, is_or ? " " : " OR ");
		g_string_append(out, is_group ? "(" : "");
		for (unsigned j = i; j < end; j++) {
			const struct item *item = &g_array_index(items, struct item, j);

			g_string_append_printf(out, "%s%s%.*s",
			    j == i  ? ""
			    : is_or ? " OR "
			            : " ",
			    item->is_negated ? "NOT " : "",
			    (int)(item->end - item->start), text + item->start);
		}
		g_string_append(out, is_group ? ")" : "");
	}
	return g_string_free(out, FALSE);
}

/* Warn of `a OR b c`, which is a OR (b c), and name the other reading. */
static void
warn_of_mixed(const struct parser *parser, const char *text)
{
	g_autoptr(GArray) items = list_items(parser->lexemes);
	g_autofree char *meant = NULL, *other = NULL;
	unsigned ors = 0;

	for (unsigned i = 1; i < items->len; i++) {
		const struct item *item = &g_array_index(items, struct item, i);

		ors += item->is_or;
		/* An OR with a negated operand would be refused. */
		if (item->is_negated && i + 1 < items->len && (item + 1)->is_or)
			return;
	}
	if (ors == 0 || ors + 1 >= items->len)
		return;
	meant = format_items(items, text, false);
	other = format_items(items, text, true);
	g_ptr_array_add(parser->warnings,
	    msg_new(QUERY_MIXED, "meant", meant, "reading", other, NULL));
}

/*
 * Parse lexemes (lex.h) into a tree that is not simplified.
 *
 * @param text      that the lexemes are of
 * @param warnings  of struct msg *, or NULL
 * @return NULL and sets problem on error
 */
static struct node *
parse_tree(const char *text, GArray *lexemes, const struct tokenizer *tokenizer,
    GPtrArray *warnings, struct query_error *problem)
{
	struct parser parser = {
	    .lexemes = lexemes,
	    .tokenizer = tokenizer,
	    .warnings = warnings,
	    .problem = problem,
	};

	struct node *root;

	/* The outermost level ends only at the end: parse_and() reports a ")". */
	root = parse_or(&parser, NULL);
	if (root && warnings)
		warn_of_mixed(&parser, text);
	return root;
}

/* Column of the character at a byte offset. */
static unsigned
find_column(const char *text, size_t offset)
{
	const char *end;

	(void)g_utf8_validate(text, (gssize)offset, &end);
	return (unsigned)g_utf8_strlen(text, end - text) + 1;
}

static struct query *
new_query(struct node *root)
{
	struct query *query = g_new0(struct query, 1);

	query->root = node_simplify(root);
	return query;
}

static struct query *
parse_text(const char *text, size_t limit_bytes, const struct tokenizer *tokenizer,
    GPtrArray *warnings, struct query_error *problem)
{
	g_autoptr(GArray) lexemes = NULL;
	pb_auto(node) root = NULL;
	const struct node *negative;

	if (strnlen(text, limit_bytes + 1) > limit_bytes) {
		query_error_set(problem, PB_ERROR_LIMIT, find_column(text, limit_bytes),
		    NULL, N_("longer than {most} bytes"), "most",
		    MSG_INT((int64_t)limit_bytes), NULL);
		return NULL;
	}
	lexemes = lex_split(text, problem);
	if (!lexemes)
		return NULL;
	root = parse_tree(text, lexemes, tokenizer, warnings, problem);
	if (!root)
		return NULL;
	negative = node_find_negative(root);
	if (negative) {
		query_error_set(problem, PB_ERROR_INPUT, negative->column,
		    "agent -survey",
		    N_("this would match every paper without a word: combine it by AND "
		       "with one that must occur"),
		    NULL);
		return NULL;
	}
	return new_query(g_steal_pointer(&root));
}

struct query *
query_parse(const char *text, const struct tokenizer *tokenizer, GPtrArray **warnings,
    struct query_error *problem, GError **error)
{
	g_autoptr(GPtrArray) noted =
	    g_ptr_array_new_with_free_func((GDestroyNotify)msg_unref);
	/* Papers are in NFC. GLib would read beyond the end of invalid text. */
	g_autofree char *composed = g_utf8_validate(text, -1, NULL)
	                                ? g_utf8_normalize(text, -1, G_NORMALIZE_NFC)
	                                : NULL;
	struct query_error found = {0};
	struct query *query = parse_text(
	    composed ? composed : text, BOUNDS_QUERY_BYTES, tokenizer, noted, &found);

	if (query) {
		if (warnings)
			*warnings = g_steal_pointer(&noted);
		return query;
	}
	query_error_set_error(&found, error);
	if (problem)
		*problem = found;
	else
		query_error_clear(&found);
	return NULL;
}

struct query *
query_parse_canonical(
    const char *text, const struct tokenizer *tokenizer, GError **error)
{
	pb_local(query_error) found = {0};
	struct query *query =
	    parse_text(text, BOUNDS_QUERY_CANONICAL_BYTES, tokenizer, NULL, &found);

	if (!query)
		query_error_set_error(&found, error);
	return query;
}

struct query *
query_parse_clause(const char *text, const struct tokenizer *tokenizer)
{
	pb_local(query_error) problem = {0};
	g_autoptr(GArray) lexemes = lex_split(text, &problem);
	pb_auto(node) root = NULL;

	if (lexemes)
		root = parse_tree(text, lexemes, tokenizer, NULL, &problem);
	return root ? new_query(g_steal_pointer(&root)) : NULL;
}

void
query_free(struct query *query)
{
	if (!query)
		return;
	node_free(query->root);
	g_free(query);
}

static void
add_sources(const struct node *node, GPtrArray *names)
{
	if (node->field && node->field->kind == FIELD_SOURCE)
		g_ptr_array_add(names, node->value);
	for (guint i = 0; !node->field && i < node->operands->len; i++)
		add_sources(g_ptr_array_index(node->operands, i), names);
}

GPtrArray *
query_list_sources(const struct query *query)
{
	GPtrArray *names = g_ptr_array_new();

	add_sources(query->root, names);
	return names;
}

static void
free_slow(void *data)
{
	struct query_slow *slow = data;

	g_free(slow->text);
	g_free(slow);
}

static void
add_slow(const struct node *node, bool is_negated, GPtrArray *list)
{
	GString *text;
	struct query_slow *slow;

	for (guint i = 0; !node->field && i < node->operands->len; i++)
		add_slow(node->operands->pdata[i],
		    is_negated != (node->kind == NODE_NOT), list);
	if (!node->field || node->field->availability != FIELD_AVAILABLE_LATE)
		return;
	text = g_string_new(is_negated ? "NOT " : NULL);
	node_append_clause(node, text);
	slow = g_new(struct query_slow, 1);
	slow->name = node->kind == NODE_VALUE ? node->value : node->field->name;
	slow->text = g_string_free(text, FALSE);
	slow->is_negated = is_negated;
	g_ptr_array_add(list, slow);
}

GPtrArray *
query_list_slow(const struct query *query)
{
	GPtrArray *list = g_ptr_array_new_with_free_func(free_slow);

	add_slow(query->root, false, list);
	return list;
}

static void
add_clauses(const struct node *node, bool is_negated, GPtrArray *list)
{
	if (node->field) {
		GString *text = g_string_new(is_negated ? CANONICAL_NOT : NULL);

		node_append_clause(node, text);
		g_ptr_array_add(list, g_string_free(text, FALSE));
		return;
	}
	for (guint i = 0; i < node->operands->len; i++)
		add_clauses(node->operands->pdata[i],
		    is_negated != (node->kind == NODE_NOT), list);
}

GPtrArray *
query_list_new_clauses(const struct query *before, const struct query *after)
{
	g_autoptr(GPtrArray) old = g_ptr_array_new_with_free_func(g_free);
	GPtrArray *list = g_ptr_array_new_with_free_func(g_free);

	add_clauses(before->root, false, old);
	add_clauses(after->root, false, list);
	for (guint i = list->len; i-- > 0;)
		if (g_ptr_array_find_with_equal_func(
		        old, list->pdata[i], g_str_equal, NULL))
			g_ptr_array_remove_index(list, i);
	return list;
}

static bool
has_relative_date(const struct node *node)
{
	if (node->field)
		return node->kind == NODE_DATE && date_is_relative(&node->dates);
	for (guint i = 0; i < node->operands->len; i++)
		if (has_relative_date(node->operands->pdata[i]))
			return true;
	return false;
}

bool
query_has_relative_date(const struct query *query)
{
	return has_relative_date(query->root);
}

static bool
is_time_dependent(const struct node *node)
{
	if (node->field)
		return node->field->availability != FIELD_AVAILABLE_AT_ONCE;
	for (guint i = 0; i < node->operands->len; i++)
		if (is_time_dependent(node->operands->pdata[i]))
			return true;
	return false;
}

bool
query_is_time_dependent(const struct query *query)
{
	return is_time_dependent(query->root);
}

static unsigned
get_lookups(const struct node *node)
{
	unsigned lookups = 0;

	if (node->field)
		return node->field->lookups;
	for (guint i = 0; i < node->operands->len; i++)
		lookups |= get_lookups(node->operands->pdata[i]);
	return lookups;
}

unsigned
query_get_lookups(const struct query *query)
{
	return get_lookups(query->root);
}
