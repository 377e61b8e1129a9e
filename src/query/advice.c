/*
 * advice.c - signs that mean something in other search languages, and nothing here.
 */
#include "query/advice.h"

#include <stdbool.h>
#include <string.h>

/* R&D and Q&A are words; mamba&ssm is two. */
#define SHORT_SIDE 2

static const struct {
	const char *signs;
	const char *words;
} habits[] = {
    {"[]{}", "a field stands before its word, as in title:diffusion"},
    {"?~", "other endings are found by \"*\", as in quantiz*"},
    {"<>=", "a number is asked for with a colon, as in upvotes:>=20"},
    {"%", "what an address of the web has with \"%\" is typed as it is"},
};

/* They open a quotation; at the end of a word they may be an apostrophe. */
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

static char *
find_habit(const struct lexeme *word)
{
	const char *end = word->text + word->len;

	for (const char *p = word->text; p < end; p = g_utf8_next_char(p)) {
		/* =RAG */
		if (p == word->text && *p == '=')
			continue;
		for (size_t i = 0; i < G_N_ELEMENTS(habits); i++)
			if (strchr(habits[i].signs, *p))
				return g_strdup_printf("column %u: \"%c\" is not "
				                       "searched; %s",
				    word->column + (unsigned)g_utf8_pointer_to_offset(
				                       word->text, p),
				    *p, habits[i].words);
	}
	return NULL;
}

void
advice_add(const struct lexeme *word, const struct field *field, GPtrArray *warnings)
{
	bool has_words = !field || field->kind == FIELD_WORDS ||
	                 field->kind == FIELD_FACT_WORDS || field->kind == FIELD_NAME;
	const struct lexeme *next = word + 1;
	char *warning = NULL;

	if (word->kind != LEXEME_WORD)
		return;
	if (has_words && is_single_quote(g_utf8_get_char(word->text)))
		warning = g_strdup_printf(
		    "column %u: this quotation mark is not searched; phrases stand in "
		    "\"double ones\"",
		    word->column);
	else if (next->start == word->end && next->kind == LEXEME_OPEN)
		warning = g_strdup_printf(
		    "column %u: \"(\" begins a group here; a value that has one stands "
		    "in quotes",
		    next->column);
	else if (next->start == word->end && next->kind == LEXEME_AND &&
	         (next + 1)->start == next->end &&
	         (is_short(word) || is_short(next + 1)))
		warning = g_strdup_printf("column %u: \"&\" is AND here; for a name "
		                          "such as \"R&D\" use quotes",
		    next->column);
	else if (has_words)
		warning = find_habit(word);
	if (warning)
		g_ptr_array_add(warnings, warning);
}
