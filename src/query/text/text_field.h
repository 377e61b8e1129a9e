/*
 * text_field.h - a text of a paper with its tokens.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "query/text/phrase.h"

struct text_field_token {
	struct phrase_key key; /* the word, folded */
	const char *plain;
	uint32_t start; /* in the text, bytes */
	uint32_t end;
};

struct text_field {
	char *text;
	size_t len;
	/* Of struct text_field_token, whose strings are not owned; NULL: not split. */
	GArray *tokens;
};

/** Set the text, without tokens. */
void text_field_init(struct text_field *text_field, const char *text);
void text_field_clear(struct text_field *text_field);

/**
 * Tokenize the text.
 *
 * @param strings  owns the words; lives as long as the text field
 * @return false when the tokenizer failed
 */
bool text_field_split(struct text_field *text_field, GStringChunk *strings,
    const struct tokenizer *tokenizer);

static inline const struct text_field_token *
text_field_get_token(const struct text_field *text_field, int at)
{
	return &g_array_index(text_field->tokens, struct text_field_token, at);
}

/**
 * Find a word of a phrase in a token. A single character of a script without spaces
 * may be a part of the token: its beginning or, if it is the first word, the end of a
 * run.
 *
 * @param at     index of the token
 * @param i      index of the word
 * @param start  set, with end, to the bytes of the word in the text
 * @return whether the token has the word
 */
bool text_field_find_word(const struct text_field *text_field, int at,
    const struct phrase *phrase, unsigned i, size_t *start, size_t *end);

/** Find a phrase by scanning all tokens. @return index of its first token, or -1 */
int text_field_find_phrase(
    const struct text_field *text_field, const struct phrase *phrase, int from);
