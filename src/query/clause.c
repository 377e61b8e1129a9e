/*
 * clause.c - one clause of a filter: a field and what is wanted of it.
 */
#include "query/clause.h"

#include <string.h>

#include "query/category.h"
#include "query/number.h"
#include "query/value.h"

const struct field *
clause_find_field(const struct lexeme *name, struct query_problem *problem)
{
	const struct field *field = field_find(name->text, name->len);
	const struct field *nearest;

	if (field)
		return field;
	nearest = field_find_nearest(name->text, name->len);
	query_problem_set(problem, PB_ERROR_INPUT, name->column, nearest->example,
	    "there is no field \"%.*s\"; the nearest is \"%s\"", (int)name->len,
	    name->text, nearest->name);
	return NULL;
}

/* What is wanted behind a field's name. */
static const char *
describe_value(enum field_kind kind)
{
	switch (kind) {
	case FIELD_WORDS:
	case FIELD_FACT_WORDS:
	case FIELD_NAME:
		return "a word, a phrase or \"(\" is wanted right after";
	case FIELD_CATEGORY:
		return "a category such as cs.CL or cs is wanted right after";
	case FIELD_WHOLE:
	case FIELD_SOURCE:
	case FIELD_CHOICE:
		return "a value is wanted right after";
	case FIELD_NUMBER:
		return "a number is wanted after";
	case FIELD_DATE:
		return "a day such as 2026-07-31 or a time such as 7d is wanted after";
	}
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
		    "agent -title:survey",
		    "\"%.*s\" stands before the field's name: %.*s%s:", (int)value->len,
		    value->text, (int)value->len, value->text, field->name);
	else if (value->kind == LEXEME_FIELD && value->start == name->end)
		query_problem_set(problem, PB_ERROR_INPUT, behind, field->example,
		    "a second \":\" follows after \"%s:\"; one field a word, and a "
		    "value "
		    "that has a \":\" in quotes",
		    field->name);
	else
		query_problem_set(problem, PB_ERROR_INPUT, behind, field->example,
		    "%s \"%s:\"", describe_value(field->kind), field->name);
}

/* Refuse words that begin with a sign which means something else there. */
static bool
check_word(const struct clause_source *source, struct query_problem *problem)
{
	const struct lexeme *lexeme = source->lexeme;
	const struct field *field = source->field;
	bool has_words = field->kind == FIELD_WORDS || field->kind == FIELD_FACT_WORDS;

	if (lexeme->kind != LEXEME_WORD || !strchr("<>=", lexeme->text[0]))
		return true;
	if (lexeme->text[0] != '=')
		query_problem_set(problem, PB_ERROR_INPUT, lexeme->column,
		    "diffusion upvotes:>=10",
		    "a comparison follows the name of a number's field");
	else if (!has_words)
		query_problem_set(problem, PB_ERROR_INPUT, lexeme->column,
		    field->example,
		    "\"=\" (these very letters) is for words, not for \"%s:\"",
		    field->name);
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

static bool
read_words(const struct clause_source *source, struct node *node,
    struct query_problem *problem)
{
	const struct lexeme *lexeme = source->lexeme;
	bool is_quoted = lexeme->kind == LEXEME_PHRASE;
	bool is_exact = !is_quoted && lexeme->text[0] == '=';
	const struct phrase_source phrase = {
	    .text = lexeme->text + is_exact,
	    .len = lexeme->len - is_exact,
	    .column = lexeme->column + is_quoted,
	    .is_quoted = is_quoted,
	    .is_exact = is_exact,
	};

	node->phrase = phrase_parse(&phrase, source->tokenizer, problem);
	return node->phrase != NULL;
}

static bool
read_dates(const struct clause_source *source, struct node *node,
    struct query_problem *problem)
{
	const struct lexeme *lexeme = source->lexeme;
	unsigned column = lexeme->column + (lexeme->kind == LEXEME_PHRASE);

	return date_parse(lexeme->text, lexeme->len, column, &node->dates, problem);
}

/* How the value of a field is read, and into which kind of node. */
static const struct {
	enum node_kind kind;
	bool (*read)(const struct clause_source *source, struct node *node,
	    struct query_problem *problem);
} readers[] = {
    [FIELD_WORDS] = {NODE_WORDS, read_words},
    [FIELD_FACT_WORDS] = {NODE_FACT_WORDS, read_words},
    [FIELD_NAME] = {NODE_NAME, read_name},
    [FIELD_CATEGORY] = {NODE_FACT, value_read},
    [FIELD_WHOLE] = {NODE_FACT, value_read},
    [FIELD_SOURCE] = {NODE_FACT, value_read},
    [FIELD_CHOICE] = {NODE_FACT, value_read},
    [FIELD_NUMBER] = {NODE_NUMBER, number_read},
    [FIELD_DATE] = {NODE_DATE, read_dates},
};

/* A category's name alone is the category. */
static const struct field *
choose_field(const struct clause_source *source)
{
	const struct lexeme *lexeme = source->lexeme;

	if (source->field)
		return source->field;
	return lexeme->kind == LEXEME_WORD && category_find(lexeme->text, lexeme->len)
	           ? field_get_category()
	           : field_get_text();
}

struct node *
clause_parse(const struct clause_source *source, struct query_problem *problem)
{
	struct clause_source chosen = *source;
	pb_auto(node) node = NULL;

	chosen.field = choose_field(source);
	node = node_new(readers[chosen.field->kind].kind, source->lexeme->column);
	node->field = chosen.field;
	if (node->kind != NODE_NUMBER && node->kind != NODE_DATE &&
	    !check_word(&chosen, problem))
		return NULL;
	if (!readers[chosen.field->kind].read(&chosen, node, problem))
		return NULL;
	return g_steal_pointer(&node);
}
