/*
 * document.c - a paper made ready for many queries: every word and its places.
 */
#include "query/document.h"

#include <stdlib.h>
#include <string.h>

#include "query/plural.h"

struct builder {
	struct query_document *document;
	unsigned text;
};

static struct document_word *
intern_word(struct query_document *document, const char *folded)
{
	struct phrase_key key = {g_str_hash(folded), folded};
	struct document_word *word = g_hash_table_lookup(document->words, &key);

	if (word)
		return word;
	word = g_new(struct document_word, 1);
	word->key.hash = key.hash;
	word->key.text = g_string_chunk_insert_const(document->strings, folded);
	for (unsigned i = 0; i < DOCUMENT_TEXTS; i++)
		word->first[i] = word->last[i] = -1;
	g_hash_table_add(document->words, word);
	return word;
}

static void
add_token(void *data, const char *text, size_t text_len, size_t start, size_t end)
{
	const struct builder *builder = data;
	struct query_document *document = builder->document;
	GArray *tokens = document->tokens[builder->text];
	g_autofree char *plain = g_strndup(text, text_len);
	g_autofree char *folded = plural_fold(plain, text_len);
	struct document_word *word = intern_word(document, folded);
	int *last = &word->last[builder->text];
	struct document_token token = {
	    .word = word,
	    .plain = g_string_chunk_insert_const(document->strings, plain),
	    .start = start,
	    .end = end,
	    .next = -1,
	};
	struct document_plain entry = {token.plain, 1U << builder->text};

	if (*last < 0)
		word->first[builder->text] = (int)tokens->len;
	else
		g_array_index(tokens, struct document_token, *last).next =
		    (int)tokens->len;
	*last = (int)tokens->len;
	g_array_append_val(tokens, token);
	g_array_append_val(document->plains, entry);
}

static int
compare_plains(const void *a, const void *b)
{
	const struct document_plain *left = a, *right = b;

	return strcmp(left->text, right->text);
}

static void
sort_plains(GArray *plains)
{
	guint kept = 0;

	g_array_sort(plains, compare_plains);
	for (guint i = 0; i < plains->len; i++) {
		struct document_plain *plain =
		    &g_array_index(plains, struct document_plain, i);
		struct document_plain *before =
		    kept == 0 ? NULL
		              : &g_array_index(plains, struct document_plain, kept - 1);

		/* Equal texts are one string of the chunk. */
		if (before && before->text == plain->text)
			before->texts |= plain->texts;
		else
			g_array_index(plains, struct document_plain, kept++) = *plain;
	}
	g_array_set_size(plains, kept);
}

static void
free_name(void *data)
{
	name_free(data);
}

static bool
add_authors(struct query_document *document, const struct paper *paper,
    const struct tokenizer *tokenizer)
{
	for (guint i = 0; i < paper->authors->len; i++) {
		const char *author = g_ptr_array_index(paper->authors, i);
		struct name *name;

		if (!name_parse(author, strlen(author), tokenizer, &name))
			return false;
		g_ptr_array_add(document->authors, g_strdup(author));
		g_ptr_array_add(document->names, name);
	}
	return true;
}

static bool
fill_document(struct query_document *document, const struct paper *paper,
    const struct tokenizer *tokenizer)
{
	document->texts[QUERY_FIELD_TITLE] = g_strdup(paper->title);
	document->texts[QUERY_FIELD_ABSTRACT] = g_strdup(paper->abstract);
	document->upvotes = paper->upvotes;
	for (unsigned i = 0; i < DOCUMENT_TEXTS; i++) {
		struct builder builder = {document, i};

		document->text_len[i] = strlen(document->texts[i]);
		if (!tokenizer->split(tokenizer->self, document->texts[i],
		        document->text_len[i], add_token, &builder))
			return false;
	}
	sort_plains(document->plains);
	return add_authors(document, paper, tokenizer);
}

struct query_document *
query_document_new(
    const struct paper *paper, const struct tokenizer *tokenizer, GError **error)
{
	pb_auto(query_document) document = g_new0(struct query_document, 1);

	document->words =
	    g_hash_table_new_full(phrase_key_hash, phrase_key_equal, g_free, NULL);
	document->plains = g_array_new(FALSE, FALSE, sizeof(struct document_plain));
	document->strings = g_string_chunk_new(4096);
	document->authors = g_ptr_array_new_with_free_func(g_free);
	document->names = g_ptr_array_new_with_free_func(free_name);
	for (unsigned i = 0; i < DOCUMENT_TEXTS; i++)
		document->tokens[i] =
		    g_array_new(FALSE, FALSE, sizeof(struct document_token));
	if (!fill_document(document, paper, tokenizer)) {
		g_set_error(error, PB_ERROR, PB_ERROR_TEMPORARY,
		    "cannot cut paper %s into words", paper->id);
		return NULL;
	}
	return g_steal_pointer(&document);
}

void
query_document_free(struct query_document *document)
{
	if (!document)
		return;
	for (unsigned i = 0; i < DOCUMENT_TEXTS; i++) {
		g_free(document->texts[i]);
		g_array_unref(document->tokens[i]);
	}
	g_hash_table_unref(document->words);
	g_array_unref(document->plains);
	g_string_chunk_free(document->strings);
	g_ptr_array_unref(document->authors);
	g_ptr_array_unref(document->names);
	g_free(document);
}

const struct document_token *
document_get_token(const struct query_document *document, unsigned text, int at)
{
	return &g_array_index(document->tokens[text], struct document_token, at);
}

int64_t
document_get_number(const struct query_document *document, enum query_field field)
{
	switch (field) {
	case QUERY_FIELD_UPVOTES:
		return document->upvotes;
	case QUERY_FIELD_TITLE:
	case QUERY_FIELD_ABSTRACT:
	case QUERY_FIELD_AUTHOR:
		break;
	}
	return PAPER_UNKNOWN;
}

/* Whether the signs typed behind a word stand in the text too: c++, node.js. */
static bool
has_signs(const struct query_document *document, unsigned text,
    const struct document_token *token, const struct phrase_word *word)
{
	const char *behind = document->texts[text] + token->end;
	size_t len = document->text_len[text] - token->end;
	size_t n = phrase_measure_signs(behind, len);
	size_t wanted;

	if (!word->signs)
		return true;
	wanted = strlen(word->signs);
	if (n < wanted || memcmp(behind, word->signs, wanted) != 0)
		return false;
	/* A next word at once, or else only dots: "in C++." but not "c+" in "C++". */
	if (word->is_joined)
		return n == wanted && (token + 1)->start == token->end + n;
	return strspn(behind + wanted, ".") >= n - wanted;
}

static bool
is_phrase_at(const struct query_document *document, const struct phrase *phrase,
    unsigned text, int at)
{
	guint n = phrase->words->len;

	if ((guint)at + n > document->tokens[text]->len)
		return false;
	for (guint i = 0; i < n; i++) {
		const struct phrase_word *word = phrase_get_word(phrase, i);
		const struct document_token *token =
		    document_get_token(document, text, at + (int)i);

		if (phrase->is_prefix && i + 1 == n) {
			if (!g_str_has_prefix(token->plain, word->key.text))
				return false;
		} else if (!phrase_key_equal(&word->key, &token->word->key)) {
			return false;
		}
		if (!has_signs(document, text, token, word))
			return false;
	}
	return true;
}

int
document_find_phrase(const struct query_document *document, const struct phrase *phrase,
    unsigned text, int from)
{
	const struct document_word *word;

	if (phrase->is_prefix && phrase->words->len == 1) {
		for (int at = from; at < (int)document->tokens[text]->len; at++)
			if (is_phrase_at(document, phrase, text, at))
				return at;
		return -1;
	}
	word = g_hash_table_lookup(document->words, &phrase_get_word(phrase, 0)->key);
	if (!word)
		return -1;
	for (int at = word->first[text]; at >= 0;
	     at = document_get_token(document, text, at)->next)
		if (at >= from && is_phrase_at(document, phrase, text, at))
			return at;
	return -1;
}

static bool
has_prefix(const struct query_document *document, const char *prefix, unsigned texts)
{
	const GArray *plains = document->plains;
	size_t len = strlen(prefix);
	guint low = 0, high = plains->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (strcmp(g_array_index(plains, struct document_plain, middle).text,
		        prefix) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < plains->len; low++) {
		const struct document_plain *plain =
		    &g_array_index(plains, struct document_plain, low);

		if (strncmp(plain->text, prefix, len) != 0)
			return false;
		if (plain->texts & texts)
			return true;
	}
	return false;
}

bool
document_has_phrase(
    const struct query_document *document, const struct phrase *phrase, unsigned texts)
{
	const struct phrase_word *first = phrase_get_word(phrase, 0);
	const struct document_word *word;

	if (phrase->is_prefix && phrase->words->len == 1)
		return has_prefix(document, first->key.text, texts);
	word = g_hash_table_lookup(document->words, &first->key);
	if (!word)
		return false;
	for (unsigned text = 0; text < DOCUMENT_TEXTS; text++) {
		if (!(texts & 1U << text))
			continue;
		if (word->first[text] >= 0 && phrase->words->len == 1 && !first->signs)
			return true;
		for (int at = word->first[text]; at >= 0;
		     at = document_get_token(document, text, at)->next)
			if (is_phrase_at(document, phrase, text, at))
				return true;
	}
	return false;
}
