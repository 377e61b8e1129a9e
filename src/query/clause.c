/*
 * clause.c - one clause of a filter: a field and what is wanted of it.
 */
#include "query/clause.h"

#include <string.h>

#include "base/bounds.h"
#include "query/category.h"

/* The longer ones first. */
static const char *const comparisons[] = {">=", "<=", ">", "<", "="};

static const char number_example[] = "diffusion upvotes:>=10";

static bool
is_later(const struct field *field)
{
	return (field->kind != FIELD_WORDS && field->kind != FIELD_NAME &&
	           field->hit != QUERY_FIELD_UPVOTES) ||
	       (field->kind == FIELD_NAME && field->is_first);
}

const struct field *
clause_find_field(const struct lexeme *name, struct query_problem *problem)
{
	const struct field *field = field_find(name->text, name->len);

	if (!field)
		query_problem_set(problem, PB_ERROR_INPUT, name->column, "title:mamba",
		    "there is no field \"%.*s\"; the nearest is \"%s\"", (int)name->len,
		    name->text, field_find_nearest(name->text, name->len)->name);
	else if (is_later(field))
		query_problem_set(problem, PB_ERROR_INPUT, name->column, "title:mamba",
		    "the field \"%s\" is not supported yet", field->name);
	else
		return field;
	return NULL;
}

void
clause_refuse_value(const struct lexeme *name, const struct lexeme *value,
    const struct field *field, struct query_problem *problem)
{
	unsigned behind =
	    name->column + (unsigned)g_utf8_strlen(name->text, name->len) + 1;

	if (value->kind == LEXEME_NOT && value->start == name->end && value->len == 1)
		query_problem_set(problem, PB_ERROR_INPUT, value->column,
		    "-title:survey",
		    "\"%.*s\" stands before the field's name: %.*s%s:", (int)value->len,
		    value->text, (int)value->len, value->text, field->name);
	else if (field->kind == FIELD_NUMBER)
		query_problem_set(problem, PB_ERROR_INPUT, behind, number_example,
		    "a number is wanted after \"%s:\"", field->name);
	else
		query_problem_set(problem, PB_ERROR_INPUT, behind, "title:mamba",
		    "a word, a phrase or \"(\" is wanted right after \"%s:\"",
		    field->name);
}

static size_t
measure_comparison(const char *text, size_t len)
{
	for (size_t i = 0; i < G_N_ELEMENTS(comparisons); i++) {
		size_t n = strlen(comparisons[i]);

		if (len >= n && memcmp(text, comparisons[i], n) == 0)
			return n;
	}
	return 0;
}

/* Read the digits a text is made of; @after is what they stand behind. */
static bool
read_number(const char *text, size_t len, unsigned column, const char *after,
    int64_t *number, struct query_problem *problem)
{
	int64_t value = 0;
	size_t digits = 0;

	while (digits < len && g_ascii_isdigit(text[digits]))
		digits++;
	if (digits == 0 || digits < len) {
		query_problem_set(problem, PB_ERROR_INPUT, column, number_example,
		    "a number is wanted after \"%s\"", after);
		return false;
	}
	if (digits > BOUNDS_NUMBER_DIGITS) {
		query_problem_set(problem, PB_ERROR_LIMIT, column, number_example,
		    "a number has at most %d digits", BOUNDS_NUMBER_DIGITS);
		return false;
	}
	for (size_t i = 0; i < digits; i++)
		value = value * 10 + (text[i] - '0');
	*number = value;
	return true;
}

static bool
read_comparison(const struct lexeme *lexeme, size_t sign_len, struct node *node,
    struct query_problem *problem)
{
	g_autofree char *sign = g_strndup(lexeme->text, sign_len);
	unsigned column = lexeme->column + (unsigned)sign_len;
	int64_t number;

	if (!read_number(lexeme->text + sign_len, lexeme->len - sign_len, column, sign,
	        &number, problem))
		return false;
	node->min = 0;
	node->max = INT64_MAX;
	if (sign[0] == '>' || sign[0] == '=')
		node->min = number + (strcmp(sign, ">") == 0);
	if (sign[0] == '<' || sign[0] == '=')
		node->max = number - (strcmp(sign, "<") == 0);
	if (node->max < 0) {
		query_problem_set(problem, PB_ERROR_INPUT, column, number_example,
		    "no number is below 0");
		return false;
	}
	return true;
}

static bool
read_range(const struct lexeme *lexeme, const char *dots, struct node *node,
    struct query_problem *problem)
{
	size_t left = dots - lexeme->text;
	size_t right = lexeme->len - left - 2;
	unsigned column =
	    lexeme->column + (unsigned)g_utf8_strlen(lexeme->text, left) + 2;

	node->min = 0;
	node->max = INT64_MAX;
	if (left > 0 && !read_number(lexeme->text, left, lexeme->column,
	                    node->field->name, &node->min, problem))
		return false;
	if ((right > 0 || left == 0) &&
	    !read_number(dots + 2, right, column, "..", &node->max, problem))
		return false;
	if (node->min > node->max) {
		query_problem_set(problem, PB_ERROR_INPUT, lexeme->column,
		    number_example, "the range ends before it begins");
		return false;
	}
	return true;
}

static bool
read_numbers(
    const struct lexeme *lexeme, struct node *node, struct query_problem *problem)
{
	size_t sign_len = measure_comparison(lexeme->text, lexeme->len);
	const char *dots = g_strstr_len(lexeme->text, lexeme->len, "..");

	if (lexeme->kind == LEXEME_WORD && sign_len > 0)
		return read_comparison(lexeme, sign_len, node, problem);
	if (lexeme->kind == LEXEME_WORD && dots)
		return read_range(lexeme, dots, node, problem);
	if (lexeme->kind == LEXEME_WORD && g_ascii_isdigit(*lexeme->text)) {
		if (!read_number(lexeme->text, lexeme->len, lexeme->column,
		        node->field->name, &node->min, problem))
			return false;
		node->max = node->min;
		return true;
	}
	query_problem_set(problem, PB_ERROR_INPUT, lexeme->column, number_example,
	    "a comparison such as >=10 or a range such as "
	    "10..20 is wanted after \"%s:\"",
	    node->field->name);
	return false;
}

/* Refuse words that mean, or will mean, something else than their letters. */
static bool
check_word(const struct clause_source *source, struct query_problem *problem)
{
	const struct lexeme *lexeme = source->lexeme;

	if (lexeme->kind != LEXEME_WORD)
		return true;
	if (lexeme->text[0] == '=')
		query_problem_set(problem, PB_ERROR_INPUT, lexeme->column, NULL,
		    "\"=\" before a word (these very letters) is not supported yet");
	else if (lexeme->text[0] == '<' || lexeme->text[0] == '>')
		query_problem_set(problem, PB_ERROR_INPUT, lexeme->column,
		    number_example,
		    "a comparison follows the name of a number's field");
	else if (source->is_bare && category_is_name(lexeme->text, lexeme->len))
		query_problem_set(problem, PB_ERROR_INPUT, lexeme->column, NULL,
		    "the category %.*s is not supported yet", (int)lexeme->len,
		    lexeme->text);
	else
		return true;
	return false;
}

/* ", Yann": the last name was forgotten, and Yann is none. */
static bool
begins_with_comma(const struct lexeme *lexeme)
{
	const char *comma = memchr(lexeme->text, ',', lexeme->len);

	for (const char *p = lexeme->text; comma && p < comma; p = g_utf8_next_char(p))
		if (g_unichar_isalnum(g_utf8_get_char(p)))
			return false;
	return comma != NULL;
}

static bool
read_name(const struct clause_source *source, struct node *node,
    struct query_problem *problem)
{
	const struct lexeme *lexeme = source->lexeme;
	const char *star = memchr(lexeme->text, '*', lexeme->len);

	if (star) {
		query_problem_set(problem, PB_ERROR_INPUT, lexeme->column,
		    "author:\"Yann LeCun\"", "names are whole words: no \"*\"");
		return false;
	}
	if (!name_parse(lexeme->text, lexeme->len, source->tokenizer, &node->name)) {
		query_problem_set(problem, PB_ERROR_TEMPORARY, lexeme->column, NULL,
		    "cannot cut the text into words");
		return false;
	}
	if (node->name && !begins_with_comma(lexeme))
		return true;
	if (node->name)
		query_problem_set(problem, PB_ERROR_INPUT, lexeme->column,
		    "author:\"LeCun, Yann\"", "a last name is wanted before the comma");
	else
		query_problem_set(problem, PB_ERROR_INPUT, lexeme->column,
		    "author:\"Yann LeCun\"", "there is no name in \"%.*s\"",
		    (int)lexeme->len, lexeme->text);
	return false;
}

struct node *
clause_parse(const struct clause_source *source, struct query_problem *problem)
{
	const struct lexeme *lexeme = source->lexeme;
	pb_auto(node) node = NULL;
	bool is_good = false;

	switch (source->field->kind) {
	case FIELD_WORDS:
	case FIELD_FACT_WORDS:
	case FIELD_CATEGORY:
	case FIELD_WHOLE:
	case FIELD_SOURCE:
	case FIELD_CHOICE:
	case FIELD_DATE:
		node = node_new(NODE_WORDS, lexeme->column);
		break;
	case FIELD_NAME:
		node = node_new(NODE_NAME, lexeme->column);
		break;
	case FIELD_NUMBER:
		node = node_new(NODE_NUMBER, lexeme->column);
		break;
	}
	node->field = source->field;
	if (node->kind == NODE_NUMBER) {
		is_good = read_numbers(lexeme, node, problem);
	} else if (!check_word(source, problem)) {
		is_good = false;
	} else if (node->kind == NODE_NAME) {
		is_good = read_name(source, node, problem);
	} else {
		const struct phrase_source phrase = {
		    .text = lexeme->text,
		    .len = lexeme->len,
		    .column = lexeme->column + (lexeme->kind == LEXEME_PHRASE),
		    .is_quoted = lexeme->kind == LEXEME_PHRASE,
		};

		node->phrase = phrase_parse(&phrase, source->tokenizer, problem);
		is_good = node->phrase != NULL;
	}
	return is_good ? g_steal_pointer(&node) : NULL;
}
