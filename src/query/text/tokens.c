/*
 * tokens.c - tokenizes a short text into an array.
 */
#include "query/text/tokens.h"

static void
clear_token(void *data)
{
	struct token *token = data;

	g_free(token->text);
}

static void
add_token(void *data, const char *text, size_t text_len, size_t start, size_t end)
{
	struct token token = {g_strndup(text, text_len), start, end};

	g_array_append_val((GArray *)data, token);
}

GArray *
tokens_split(const struct tokenizer *tokenizer, const char *text, size_t len)
{
	g_autoptr(GArray) tokens = g_array_new(FALSE, FALSE, sizeof(struct token));

	g_array_set_clear_func(tokens, clear_token);
	if (!tokenizer->split(tokenizer->self, text, len, add_token, tokens))
		return NULL;
	return g_steal_pointer(&tokens);
}
