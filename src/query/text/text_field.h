/*
 * text_field.h - one text of a paper with its words and their places.
 */
#ifndef PAPERBOY_QUERY_TEXT_TEXT_FIELD_H
#define PAPERBOY_QUERY_TEXT_TEXT_FIELD_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "query/text/phrase.h"

struct text_field_token {
	struct phrase_key key; /* the word, folded */
	const char *plain;
	uint32_t start; /* in the text, octets */
	uint32_t end;
	int next; /* the next token that is the same word, or -1; see indexed_doc.h */
};

struct text_field {
	char *text;
	size_t len;
	GArray *tokens; /* of struct text_field_token, whose strings stay elsewhere */
};

/** Take a text, without tokens yet. */
void text_field_init(struct text_field *passage, const char *text);
void text_field_clear(struct text_field *passage);

/**
 * Cut the text.
 *
 * @param strings  keeps the words as long as the passage lives
 * @return false when the tokenizer failed
 */
bool text_field_split(struct text_field *passage, GStringChunk *strings,
    const struct tokenizer *tokenizer);

static inline const struct text_field_token *
text_field_get_token(const struct text_field *passage, int at)
{
	return &g_array_index(passage->tokens, struct text_field_token, at);
}

/** Whether a phrase stands at a token. @param at  its index */
bool text_field_has_phrase_at(
    const struct text_field *passage, const struct phrase *phrase, int at);

/** Find a phrase by looking at every token. @return where it begins, or -1 */
int text_field_find_phrase(
    const struct text_field *passage, const struct phrase *phrase, int from);

#endif
