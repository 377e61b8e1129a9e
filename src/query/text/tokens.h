/*
 * tokens.h - tokenizes a short text into an array.
 */
#pragma once

#include <glib.h>

#include "query/tokenizer_ops.h"

struct token {
	char *text;   /* as the tokenizer returns it, not folded */
	size_t start; /* in the text, bytes */
	size_t end;
};

/** Tokenize a text. @return of struct token; NULL when the tokenizer failed */
GArray *tokens_split(const struct tokenizer *tokenizer, const char *text, size_t len);
