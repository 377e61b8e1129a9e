/*
 * indexed_doc.c - in-memory index of a paper: its words and their places.
 */
#include "query/eval/indexed_doc.h"

#include <stdlib.h>
#include <string.h>

#include "query/text/stem.h"

/* Maximum length of words on the stack, bytes. */
#define SHORT_WORD_BYTES 64

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
	word->key.text = g_string_chunk_insert(document->strings, folded);
	for (unsigned i = 0; i < DOCUMENT_TEXTS; i++)
		word->first[i] = word->last[i] = -1;
	g_hash_table_add(document->words, word);
	return word;
}

/* Most words are their own singular: share the string. */
static const char *
intern_plain(struct query_document *document, const struct document_word *word,
    const char *plain)
{
	return strcmp(word->key.text, plain) == 0
	           ? word->key.text
	           : g_string_chunk_insert_const(document->strings, plain);
}

static void
add_token(void *data, const char *text, size_t text_len, size_t start, size_t end)
{
	const struct builder *builder = data;
	struct query_document *document = builder->document;
	GArray *tokens = document->texts[builder->text].tokens;
	/* On the stack: this is the hot loop of a search. */
	char shorter[SHORT_WORD_BYTES];
	g_autofree char *longer =
	    text_len < sizeof(shorter) ? NULL : g_strndup(text, text_len);
	g_autofree char *folded =
	    stem_may_be_plural(text, text_len) ? stem_plural(text, text_len) : NULL;
	const char *plain = longer ? longer : shorter;
	struct document_word *word;
	int *last;
	struct text_field_token token = {
	    .start = (uint32_t)start,
	    .end = (uint32_t)end,
	    .next = -1,
	};

	if (!longer) {
		memcpy(shorter, text, text_len);
		shorter[text_len] = '\0';
	}
	word = intern_word(document, folded ? folded : plain);
	token.key = word->key;
	token.plain = intern_plain(document, word, plain);
	last = &word->last[builder->text];
	if (*last < 0)
		word->first[builder->text] = (int)tokens->len;
	else
		g_array_index(tokens, struct text_field_token, *last).next =
		    (int)tokens->len;
	*last = (int)tokens->len;
	g_array_append_val(tokens, token);
}

static int
compare_plains(const void *a, const void *b)
{
	const struct indexed_doc_word *left = a, *right = b;

	return strcmp(left->text, right->text);
}

static void
sort_plains(GArray *plains)
{
	guint stored = 0;

	g_array_sort(plains, compare_plains);
	for (guint i = 0; i < plains->len; i++) {
		struct indexed_doc_word *plain =
		    &g_array_index(plains, struct indexed_doc_word, i);
		struct indexed_doc_word *before =
		    stored == 0
		        ? NULL
		        : &g_array_index(plains, struct indexed_doc_word, stored - 1);

		/* Equal words share a string of the chunk. */
		if (before && before->text == plain->text)
			before->texts |= plain->texts;
		else
			g_array_index(plains, struct indexed_doc_word, stored++) =
			    *plain;
	}
	g_array_set_size(plains, stored);
}

const GArray *
document_get_plains(const struct query_document *document)
{
	if (document->plains->len)
		return document->plains;
	for (unsigned text = 0; text < DOCUMENT_TEXTS; text++)
		for (guint at = 0; at < document->texts[text].tokens->len; at++) {
			struct indexed_doc_word plain = {
			    text_field_get_token(&document->texts[text], (int)at)
			        ->plain,
			    1U << text};

			g_array_append_val(document->plains, plain);
		}
	sort_plains(document->plains);
	return document->plains;
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
	text_field_init(&document->texts[QUERY_FIELD_TITLE], paper->title);
	text_field_init(&document->texts[QUERY_FIELD_ABSTRACT], paper->abstract);
	for (unsigned i = 0; i < DOCUMENT_TEXTS; i++) {
		struct builder builder = {document, i};

		if (!tokenizer->split(tokenizer->self, document->texts[i].text,
		        document->texts[i].len, add_token, &builder))
			return false;
	}
	return add_authors(document, paper, tokenizer);
}

struct query_document *
query_document_new(const struct paper *paper, const char *first_day,
    const struct tokenizer *tokenizer, GError **error)
{
	pb_auto(query_document) document = g_new0(struct query_document, 1);

	document->words =
	    g_hash_table_new_full(phrase_key_hash, phrase_key_equal, g_free, NULL);
	document->plains = g_array_new(FALSE, FALSE, sizeof(struct indexed_doc_word));
	document->strings = g_string_chunk_new(4096);
	document->authors = g_ptr_array_new_with_free_func(g_free);
	document->names = g_ptr_array_new_with_free_func((GDestroyNotify)name_free);
	document->doc_values = doc_values_new(paper, first_day, tokenizer);
	if (!fill_document(document, paper, tokenizer)) {
		pb_fail(
		    error, PB_ERROR_TEMPORARY, "cannot tokenize paper %s", paper->id);
		return NULL;
	}
	return g_steal_pointer(&document);
}

void
query_document_free(struct query_document *document)
{
	if (!document)
		return;
	for (unsigned i = 0; i < DOCUMENT_TEXTS; i++)
		text_field_clear(&document->texts[i]);
	g_hash_table_unref(document->words);
	g_array_unref(document->plains);
	g_string_chunk_free(document->strings);
	g_ptr_array_unref(document->authors);
	g_ptr_array_unref(document->names);
	doc_values_free(document->doc_values);
	g_free(document);
}

void
query_document_finalize(struct query_document *document, enum query_finality settled)
{
	document->doc_values->settled = settled;
}

/* Find the first place of a phrase's first word after `after`. */
static int
find_start(const struct query_document *document, const struct phrase *phrase,
    unsigned text, int after)
{
	const struct document_word *word;

	if (after >= 0)
		return text_field_get_token(&document->texts[text], after)->next;
	word = g_hash_table_lookup(document->words, &phrase_get_word(phrase, 0)->key);
	return word ? word->first[text] : -1;
}

int
document_find_phrase(const struct query_document *document, const struct phrase *phrase,
    unsigned text, int after)
{
	const struct text_field *text_field = &document->texts[text];

	if (phrase->is_prefix && phrase->words->len == 1)
		return text_field_find_phrase(text_field, phrase, after + 1);
	for (int at = find_start(document, phrase, text, after); at >= 0;
	     at = text_field_get_token(text_field, at)->next)
		if (text_field_has_phrase_at(text_field, phrase, at))
			return at;
	return -1;
}

static bool
has_prefix(const struct query_document *document, const char *prefix, unsigned texts)
{
	const GArray *plains = document_get_plains(document);
	size_t len = strlen(prefix);
	guint low = 0, high = plains->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (strcmp(g_array_index(plains, struct indexed_doc_word, middle).text,
		        prefix) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < plains->len; low++) {
		const struct indexed_doc_word *plain =
		    &g_array_index(plains, struct indexed_doc_word, low);

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
	bool is_plain = phrase->words->len == 1 && !first->signs && !first->exact_text;
	const struct document_word *word;

	if (phrase->is_prefix && phrase->words->len == 1)
		return has_prefix(document, first->key.text, texts);
	word = g_hash_table_lookup(document->words, &first->key);
	if (!word)
		return false;
	for (unsigned text = 0; text < DOCUMENT_TEXTS; text++) {
		if (!(texts & 1U << text))
			continue;
		if (word->first[text] >= 0 && is_plain)
			return true;
		for (int at = word->first[text]; at >= 0;
		     at = text_field_get_token(&document->texts[text], at)->next)
			if (text_field_has_phrase_at(
			        &document->texts[text], phrase, at))
				return true;
	}
	return false;
}

/* As FTS5 does: advance the phrase that is too far behind the last one. */
static bool
find_interval(const struct query_document *document, const struct node *node,
    unsigned text, int *places)
{
	guint n = node->phrases->len;
	int last = places[0];
	bool has_moved = true;

	for (guint i = 1; i < n; i++)
		last = MAX(last, places[i]);
	while (has_moved) {
		has_moved = false;
		for (guint i = 0; i < n; i++) {
			const struct phrase *phrase =
			    g_ptr_array_index(node->phrases, i);
			int earliest =
			    last - (int)node->distance - (int)phrase->words->len;

			while (places[i] >= 0 && places[i] < earliest)
				places[i] = document_find_phrase(
				    document, phrase, text, places[i]);
			if (places[i] < 0)
				return false;
			has_moved |= places[i] > last;
			last = MAX(last, places[i]);
		}
	}
	return true;
}

bool
document_find_near(const struct query_document *document, const struct node *node,
    unsigned text, int *places)
{
	bool is_first = places[0] < 0;
	guint earliest = 0;

	for (guint i = 1; i < node->phrases->len; i++)
		if (places[i] < places[earliest])
			earliest = i;
	for (guint i = 0; i < node->phrases->len; i++) {
		if (!is_first && i != earliest)
			continue;
		places[i] = document_find_phrase(
		    document, g_ptr_array_index(node->phrases, i), text, places[i]);
		if (places[i] < 0)
			return false;
	}
	return find_interval(document, node, text, places);
}
