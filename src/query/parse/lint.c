/*
 * lint.c - warns of operators of other search languages.
 */
#include "query/parse/lint.h"

#include <stdbool.h>
#include <string.h>

/* Maximum length of a side of "&" in a word such as R&D or Q&A, bytes. */
#define SHORT_SIDE 2

static const struct {
	const char *signs;
	enum msg_id id;
} foreign_signs[] = {
    {"[]{}", MSG_WARN_BRACKET},
    {"?~", MSG_WARN_WILDCARD},
    {"<>=", MSG_WARN_COMPARISON},
    {"%", MSG_WARN_PERCENT},
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
				return msg_new(foreign_signs[i].id, "column",
				    MSG_INT(word->column +
				            g_utf8_pointer_to_offset(word->text, p)),
				    "sign", ((char[]){*p, '\0'}), NULL);
	}
	return NULL;
}

void
lint_query(const struct lexeme *word, const struct field *field, GPtrArray *warnings)
{
	bool has_words = !field || field->kind == FIELD_WORDS ||
	                 field->kind == FIELD_VALUE_WORDS || field->kind == FIELD_NAME;
	const struct lexeme *next = word + 1;
	struct msg *warning = NULL;

	if (word->kind != LEXEME_WORD)
		return;
	if (has_words && is_single_quote(g_utf8_get_char(word->text)))
		warning = msg_new(
		    MSG_WARN_SINGLE_QUOTE, "column", MSG_INT(word->column), NULL);
	else if (next->start == word->end && next->kind == LEXEME_OPEN)
		warning =
		    msg_new(MSG_WARN_GROUP, "column", MSG_INT(next->column), NULL);
	else if (next->start == word->end && next->kind == LEXEME_AND &&
	         (next + 1)->start == next->end &&
	         (is_short(word) || is_short(next + 1)))
		warning =
		    msg_new(MSG_WARN_AMPERSAND, "column", MSG_INT(next->column), NULL);
	else if (has_words)
		warning = find_foreign_sign(word);
	if (warning)
		g_ptr_array_add(warnings, warning);
}
