/*
 * clause.c - one clause of a filter: a field and what is wanted of it.
 */
#include "query/parse/clause.h"

#include <string.h>

#include "query/parse/category.h"
#include "query/parse/number.h"
#include "query/parse/value.h"

const struct field *
clause_find_field(const struct lexeme *name, struct query_error *problem)
{
	const struct field *field = field_find(name->text, name->len);
	const struct field *nearest;
	g_autofree char *text = NULL;

	if (field)
		return field;
	text = g_strndup(name->text, name->len);
	nearest = field_find_nearest(name->text, name->len);
	query_error_set(problem, PB_ERROR_INPUT, name->column, nearest->example,
	    MSG_QUERY_FIELD, "text", text, "nearest", nearest->name, NULL);
	return NULL;
}

/* What is wanted behind a field's name. */
static enum msg_id
choose_wanted(enum field_kind kind)
{
	switch (kind) {
	case FIELD_WORDS:
	case FIELD_FACT_WORDS:
	case FIELD_NAME:
		return MSG_QUERY_WANTS_WORDS;
	case FIELD_CATEGORY:
		return MSG_QUERY_WANTS_CATEGORY;
	case FIELD_WHOLE:
	case FIELD_SOURCE:
	case FIELD_CHOICE:
		return MSG_QUERY_WANTS_VALUE;
	case FIELD_NUMBER:
		return MSG_QUERY_WANTS_NUMBER;
	case FIELD_DATE:
		return MSG_QUERY_WANTS_DATE;
	}
	return MSG_QUERY_WANTS_VALUE;
}

void
clause_refuse_value(const struct lexeme *name, const struct lexeme *value,
    const struct field *field, struct query_error *problem)
{
	unsigned behind =
	    name->column + (unsigned)g_utf8_strlen(name->text, name->len) + 1;
	g_autofree char *text = g_strndup(value->text, value->len);

	if (value->kind == LEXEME_NOT && value->start == name->end && value->len == 1)
		query_error_set(problem, PB_ERROR_INPUT, value->column,
		    "agent -title:survey", MSG_QUERY_NOT_BEFORE_FIELD, "sign", text,
		    "field", field->name, NULL);
	else if (value->kind == LEXEME_FIELD && value->start == name->end)
		query_error_set(problem, PB_ERROR_INPUT, behind, field->example,
		    MSG_QUERY_COLON_TWICE, "field", field->name, NULL);
	else
		query_error_set(problem, PB_ERROR_INPUT, behind, field->example,
		    choose_wanted(field->kind), "field", field->name, NULL);
}

/* Refuse words that begin with a sign which means something else there. */
static bool
check_word(const struct clause_source *source, struct query_error *problem)
{
	const struct lexeme *lexeme = source->lexeme;
	const struct field *field = source->field;
	bool has_words = field->kind == FIELD_WORDS || field->kind == FIELD_FACT_WORDS;

	if (lexeme->kind != LEXEME_WORD || !strchr("<>=", lexeme->text[0]))
		return true;
	if (lexeme->text[0] != '=')
		query_error_set(problem, PB_ERROR_INPUT, lexeme->column,
		    "diffusion upvotes:>=10", MSG_QUERY_COMPARES_NOTHING, NULL);
	else if (!has_words)
		query_error_set(problem, PB_ERROR_INPUT, lexeme->column, field->example,
		    MSG_QUERY_EXACT_FIELD, "field", field->name, NULL);
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
read_name(
    const struct clause_source *source, struct node *node, struct query_error *problem)
{
	const struct lexeme *lexeme = source->lexeme;
	const char *star = memchr(lexeme->text, '*', lexeme->len);
	g_autofree char *text = g_strndup(lexeme->text, lexeme->len);

	if (star) {
		query_error_set(problem, PB_ERROR_INPUT, lexeme->column,
		    "author:\"Yann LeCun\"", MSG_QUERY_NAME_STAR, NULL);
		return false;
	}
	if (!name_parse(lexeme->text, lexeme->len, source->tokenizer, &node->name)) {
		query_error_set(problem, PB_ERROR_TEMPORARY, lexeme->column, NULL,
		    MSG_QUERY_CUT, NULL);
		return false;
	}
	if (node->name && !begins_with_comma(lexeme))
		return true;
	if (node->name)
		query_error_set(problem, PB_ERROR_INPUT, lexeme->column,
		    "author:\"LeCun, Yann\"", MSG_QUERY_NAME_COMMA, NULL);
	else
		query_error_set(problem, PB_ERROR_INPUT, lexeme->column,
		    "author:\"Yann LeCun\"", MSG_QUERY_NAME_NONE, "text", text, NULL);
	return false;
}

static bool
read_words(
    const struct clause_source *source, struct node *node, struct query_error *problem)
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
read_dates(
    const struct clause_source *source, struct node *node, struct query_error *problem)
{
	const struct lexeme *lexeme = source->lexeme;
	unsigned column = lexeme->column + (lexeme->kind == LEXEME_PHRASE);

	return date_parse(lexeme->text, lexeme->len, column, &node->dates, problem);
}

/* How the value of a field is read, and into which kind of node. */
static const struct {
	enum node_kind kind;
	bool (*read)(const struct clause_source *source, struct node *node,
	    struct query_error *problem);
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
clause_parse(const struct clause_source *source, struct query_error *problem)
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
