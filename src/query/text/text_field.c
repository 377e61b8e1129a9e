/*
 * text_field.c - a text of a paper with its tokens.
 */
#include "query/text/text_field.h"

#include <string.h>

#include "base/bigram.h"
#include "query/text/stem.h"

struct splitter {
	GArray *tokens;
	GStringChunk *strings;
};

void
text_field_init(struct text_field *text_field, const char *text)
{
	text_field->text = g_strdup(text);
	text_field->len = strlen(text);
	text_field->tokens = NULL;
}

void
text_field_clear(struct text_field *text_field)
{
	g_free(text_field->text);
	g_clear_pointer(&text_field->tokens, g_array_unref);
}

static void
add_token(void *data, const char *text, size_t text_len, size_t start, size_t end)
{
	const struct splitter *splitter = data;
	const char *plain =
	    g_string_chunk_insert_len(splitter->strings, text, (gssize)text_len);
	/* Most words are their own singular: share the string. */
	g_autofree char *folded =
	    stem_may_be_plural(text, text_len) ? stem_plural(text, text_len) : NULL;
	struct text_field_token token = {
	    .key.text =
	        folded ? g_string_chunk_insert(splitter->strings, folded) : plain,
	    .plain = plain,
	    .start = (uint32_t)start,
	    .end = (uint32_t)end,
	};

	token.key.hash = g_str_hash(token.key.text);
	g_array_append_val(splitter->tokens, token);
}

bool
text_field_split(struct text_field *text_field, GStringChunk *strings,
    const struct tokenizer *tokenizer)
{
	struct splitter splitter = {
	    g_array_new(FALSE, FALSE, sizeof(struct text_field_token)), strings};

	text_field->tokens = splitter.tokens;
	if (tokenizer->split(tokenizer->self, text_field->text, text_field->len,
	        add_token, &splitter))
		return true;
	g_clear_pointer(&text_field->tokens, g_array_unref);
	return false;
}

/* Whether the signs typed after a word follow it in the text: c++, node.js. */
static bool
has_signs(const struct text_field *text_field, const struct text_field_token *token,
    size_t end, const struct phrase_word *word)
{
	const char *behind = text_field->text + end;
	size_t len = text_field->len - end;
	size_t n, wanted;

	if (!word->signs)
		return true;
	n = phrase_count_signs(behind, len);
	wanted = strlen(word->signs);
	if (n < wanted || memcmp(behind, word->signs, wanted) != 0)
		return false;
	/* After the signs the next word of the phrase has to follow, or dots may: "c++"
	 * is in "in C++.", "c+" is not. */
	if (word->is_joined)
		return n == wanted && (token + 1)->start == end + n;
	return strspn(behind + wanted, ".") >= n - wanted;
}

static bool
has_alphas(const struct text_field *text_field, const struct text_field_token *token,
    const struct phrase_word *word)
{
	size_t len = token->end - token->start;

	return !word->exact_text ||
	       (strlen(word->exact_text) == len &&
	           memcmp(text_field->text + token->start, word->exact_text, len) == 0);
}

bool
text_field_find_word(const struct text_field *text_field, int at,
    const struct phrase *phrase, unsigned i, size_t *start, size_t *end)
{
	const struct phrase_word *word = phrase_get_word(phrase, i);
	const struct text_field_token *token = text_field_get_token(text_field, at);
	bool is_prefix = phrase->is_prefix && i + 1 == phrase->words->len;
	bool is_found = is_prefix ? g_str_has_prefix(token->plain, word->key.text)
	                          : phrase_key_equal(&word->key, &token->key);
	const char *last;

	*start = token->start;
	*end = token->end;
	if (!word->is_char)
		return is_found;
	if (is_found) {
		*end = *start + strlen(word->key.text);
		return true;
	}
	/* It has the place of the pair before: "5型" is not in "5大型". */
	*start = *end - strlen(word->key.text);
	last = bigram_find_last(
	    token->plain, strlen(token->plain), text_field->text + *end);
	return i == 0 && g_strcmp0(last, word->key.text) == 0;
}

static bool
has_phrase_at(const struct text_field *text_field, const struct phrase *phrase, int at)
{
	guint n = phrase->words->len;
	size_t start, end;

	if ((guint)at + n > text_field->tokens->len)
		return false;
	for (guint i = 0; i < n; i++, at++) {
		const struct phrase_word *word = phrase_get_word(phrase, i);
		const struct text_field_token *token =
		    text_field_get_token(text_field, at);

		if (!text_field_find_word(text_field, at, phrase, i, &start, &end) ||
		    !has_signs(text_field, token, end, word) ||
		    !has_alphas(text_field, token, word))
			return false;
	}
	return true;
}

int
text_field_find_phrase(
    const struct text_field *text_field, const struct phrase *phrase, int from)
{
	const struct phrase_word *first = phrase_get_word(phrase, 0);
	bool is_part = first->is_char || (phrase->is_prefix && phrase->words->len == 1);
	int end = (int)text_field->tokens->len - (int)phrase->words->len;

	for (int at = from; at <= end; at++) {
		const struct text_field_token *token =
		    text_field_get_token(text_field, at);
		/* Most tokens differ in this already. */
		bool is_like =
		    is_part ? first->is_char || token->plain[0] == first->key.text[0]
		            : token->key.hash == first->key.hash;

		if (is_like && has_phrase_at(text_field, phrase, at))
			return at;
	}
	return -1;
}
