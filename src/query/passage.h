/*
 * passage.h - one text of a paper with its words and their places.
 */
#ifndef PAPERBOY_QUERY_PASSAGE_H
#define PAPERBOY_QUERY_PASSAGE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "query/phrase.h"

struct passage_token {
	struct phrase_key key; /* the word, folded */
	const char *plain;
	uint32_t start; /* in the text, octets */
	uint32_t end;
	int next; /* the next token that is the same word, or -1; see document.h */
};

struct passage {
	char *text;
	size_t len;
	GArray *tokens; /* of struct passage_token, whose strings stay elsewhere */
};

/** Take a text, without tokens yet. */
void passage_init(struct passage *passage, const char *text);
void passage_clear(struct passage *passage);

/**
 * Cut the text.
 *
 * @param strings  keeps the words as long as the passage lives
 * @return false when the tokenizer failed
 */
bool passage_split(
    struct passage *passage, GStringChunk *strings, const struct tokenizer *tokenizer);

static inline const struct passage_token *
passage_get_token(const struct passage *passage, int at)
{
	return &g_array_index(passage->tokens, struct passage_token, at);
}

/** Whether a phrase stands at a token. @param at  its index */
bool passage_has_phrase_at(
    const struct passage *passage, const struct phrase *phrase, int at);

/** Find a phrase by looking at every token. @return where it begins, or -1 */
int passage_find_phrase(
    const struct passage *passage, const struct phrase *phrase, int from);

#endif
