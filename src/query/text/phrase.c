/*
 * phrase.c - a word or several adjacent words; the last may be a prefix.
 */
#include "query/text/phrase.h"

#include <string.h>

#include "base/bounds.h"
#include "query/text/stem.h"
#include "query/text/tokens.h"

gboolean
phrase_key_equal(const void *a, const void *b)
{
	const struct phrase_key *left = a, *right = b;

	return left->hash == right->hash && strcmp(left->text, right->text) == 0;
}

char *
phrase_join(const struct phrase *phrase)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < phrase->words->len; i++)
		g_string_append_printf(
		    text, "%s%s", i ? " " : "", phrase_get_word(phrase, i)->key.text);
	return g_string_free(text, FALSE);
}

size_t
phrase_count_signs(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && strchr("+#.", text[n]) && text[n])
		n++;
	return n;
}

static void
clear_word(void *data)
{
	struct phrase_word *word = data;

	g_free((char *)word->key.text);
	g_free(word->signs);
	g_free(word->exact_text);
}

void
phrase_free(struct phrase *phrase)
{
	if (!phrase)
		return;
	g_array_unref(phrase->words);
	g_free(phrase);
}

static unsigned
measure_column(const struct phrase_source *source, size_t offset)
{
	return source->column +
	       (unsigned)g_utf8_pointer_to_offset(source->text, source->text + offset);
}

/* Read the signs that belong to a word. A dot counts only when the next word follows
 * immediately; at the end of a word it is punctuation. */
static void
read_signs(struct phrase_word *word, const char *gap, size_t gap_len, bool is_last)
{
	size_t n = phrase_count_signs(gap, gap_len);

	word->is_joined = n > 0 && n == gap_len && !is_last;
	while (n > 0 && !word->is_joined && gap[n - 1] == '.')
		n--;
	if (n > 0)
		word->signs = g_strndup(gap, n);
}

/* Find the length without a trailing "*". @return false for a "*" elsewhere */
static bool
check_star(const struct phrase_source *source, size_t *len, struct query_error *problem)
{
	const char *star = memchr(source->text, '*', source->len);

	*len = source->len;
	while (*len > 0 && source->text[*len - 1] == ' ')
		(*len)--;
	if (!star)
		return true;
	if ((size_t)(star - source->text) + 1 != *len) {
		query_error_set(problem, PB_ERROR_INPUT,
		    measure_column(source, star - source->text), "quantiz*",
		    N_("\"*\" is only allowed at the end of a word or phrase"), NULL);
		return false;
	}
	(*len)--;
	return true;
}

static void
error_empty(const struct phrase_source *source, struct query_error *problem)
{
	g_autofree char *text = g_strndup(source->text, source->len);

	if (source->len == 0)
		query_error_set(problem, PB_ERROR_INPUT, source->column, NULL,
		    N_("the phrase is empty"), NULL);
	else if (source->len == 1 && strchr("-!", source->text[0]))
		query_error_set(problem, PB_ERROR_INPUT, source->column,
		    "agent -survey", N_("\"{sign}\" must be directly before its word"),
		    "sign", text, NULL);
	else
		query_error_set(problem, PB_ERROR_INPUT, source->column, NULL,
		    N_("no letter or digit in \"{text}\""), "text", text, NULL);
}

/* Reject "#a" rather than searching for "a". @param text  of the tokens */
static bool
check_first_sign(const struct phrase_source *source, const char *text,
    const GArray *tokens, struct query_error *problem)
{
	const struct token *first = &g_array_index(tokens, struct token, 0);
	const char *sign = text + first->start - 1;

	if (source->is_quoted || first->start == 0 || !strchr("+#", *sign))
		return true;
	query_error_set(problem, PB_ERROR_INPUT,
	    source->column + source->is_exact +
	        (unsigned)g_utf8_pointer_to_offset(text, sign),
	    "c++", N_("\"{sign}\" may follow a word, but not precede it"), "sign",
	    ((char[]){*sign, '\0'}), NULL);
	return false;
}

static bool
check_tokens(const struct phrase_source *source, const GArray *tokens, bool is_prefix,
    size_t len, struct query_error *problem)
{
	const struct token *last;

	if (tokens->len == 0) {
		error_empty(source, problem);
		return false;
	}
	if (!check_first_sign(source, source->text, tokens, problem))
		return false;
	last = &g_array_index(tokens, struct token, tokens->len - 1);
	if (is_prefix &&
	    (last->end != len || g_utf8_strlen(last->text, -1) < BOUNDS_PREFIX_CHARS)) {
		query_error_set(problem, PB_ERROR_INPUT,
		    measure_column(source, last->start), "quantiz*",
		    N_("expected at least {least} letters before \"*\""), "least",
		    MSG_INT(BOUNDS_PREFIX_CHARS), NULL);
		return false;
	}
	return true;
}

/* Check "=RAG": one word, not a prefix. */
static bool
check_exact(const struct phrase_source *source, const char *text, const GArray *tokens,
    bool is_prefix, struct query_error *problem)
{
	if (tokens->len == 1 && !is_prefix)
		return check_first_sign(source, text, tokens, problem);
	query_error_set(problem, PB_ERROR_INPUT, source->column, "=RAG",
	    tokens->len > 0
	        ? N_("\"=\" (exact spelling) applies to one whole word")
	        : N_("\"=\" (exact spelling) must be directly before its word"),
	    NULL);
	return false;
}

/* Build words from tokens. @param text  of the tokens */
static struct phrase *
make_phrase(GArray *tokens, const char *text, size_t len, bool is_prefix, bool is_exact)
{
	struct phrase *phrase = g_new0(struct phrase, 1);

	phrase->is_prefix = is_prefix;
	phrase->words =
	    g_array_sized_new(FALSE, FALSE, sizeof(struct phrase_word), tokens->len);
	g_array_set_clear_func(phrase->words, clear_word);
	for (guint i = 0; i < tokens->len; i++) {
		struct token *token = &g_array_index(tokens, struct token, i);
		bool is_last = i + 1 == tokens->len;
		size_t next = is_last ? len : (token + 1)->start;
		struct phrase_word word = {0};

		word.key.text = is_last && is_prefix
		                    ? g_steal_pointer(&token->text)
		                    : stem_plural(token->text, strlen(token->text));
		word.key.hash = g_str_hash(word.key.text);
		if (is_exact)
			word.exact_text =
			    g_strndup(text + token->start, token->end - token->start);
		read_signs(&word, text + token->end, next - token->end, is_last);
		g_array_append_val(phrase->words, word);
	}
	return phrase;
}

struct phrase *
phrase_parse(const struct phrase_source *source, const struct tokenizer *tokenizer,
    struct query_error *problem)
{
	g_autoptr(GArray) tokens = NULL;
	bool is_prefix = memchr(source->text, '*', source->len) != NULL;
	const char *text = source->text;
	size_t len;

	if (source->is_exact)
		len = source->len;
	else if (!check_star(source, &len, problem))
		return NULL;
	tokens = tokens_split(tokenizer, text, len);
	if (!tokens) {
		query_error_set(problem, PB_ERROR_TEMPORARY, source->column, NULL,
		    N_("cannot tokenize the text"), NULL);
		return NULL;
	}
	if (source->is_exact ? !check_exact(source, text, tokens, is_prefix, problem)
	                     : !check_tokens(source, tokens, is_prefix, len, problem))
		return NULL;
	return make_phrase(tokens, text, len, is_prefix, source->is_exact);
}

void
phrase_append(const struct phrase *phrase, GString *out)
{
	bool is_quoted = phrase->words->len > 1;

	if (is_quoted)
		g_string_append_c(out, '"');
	for (guint i = 0; i < phrase->words->len; i++) {
		const struct phrase_word *word = phrase_get_word(phrase, i);

		if (word->exact_text)
			g_string_append_c(out, '=');
		g_string_append(
		    out, word->exact_text ? word->exact_text : word->key.text);
		if (word->signs)
			g_string_append(out, word->signs);
		if (i + 1 < phrase->words->len && !word->is_joined)
			g_string_append_c(out, ' ');
	}
	if (phrase->is_prefix)
		g_string_append_c(out, '*');
	if (is_quoted)
		g_string_append_c(out, '"');
}
