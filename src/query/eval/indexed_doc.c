/*
 * indexed_doc.c - in-memory index of a paper: its words and their places.
 */
#include "query/eval/indexed_doc.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "query/parse/tree.h"

/* ---- places where the phrases of a NODE_NEAR are near each other ---- */

/**
 * Find the next place of a phrase, by its index.
 *
 * @param after  its previous place, or -1; never decreases between two searches
 * @return index of its first word in the text, or -1
 */
typedef int (*near_next)(const void *data, guint phrase, int after);

/* As FTS5 does: advance the phrase that is too far behind the last one. */
static bool
find_interval(const struct node *node, near_next next, const void *data, int *places)
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
				places[i] = next(data, i, places[i]);
			if (places[i] < 0)
				return false;
			has_moved |= places[i] > last;
			last = MAX(last, places[i]);
		}
	}
	return true;
}

/*
 * Find the phrases near each other: at most `distance` words between the end of each
 * and the beginning of the last.
 *
 * @param places  for each phrase: all -1, or the previous result; set to the next
 * @return false when there is no further place
 */
static bool
near_find(const struct node *node, near_next next, const void *data, int *places)
{
	bool is_first = places[0] < 0;
	guint earliest = 0;

	for (guint i = 1; i < node->phrases->len; i++)
		if (places[i] < places[earliest])
			earliest = i;
	for (guint i = 0; i < node->phrases->len; i++) {
		if (!is_first && i != earliest)
			continue;
		places[i] = next(data, i, places[i]);
		if (places[i] < 0)
			return false;
	}
	return find_interval(node, next, data, places);
}

/* ---- indexed doc ---- */

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

		if (before && strcmp(before->text, plain->text) == 0)
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

static void
index_tokens(const struct text_field *text_field, int *first)
{
	for (unsigned i = 0; i < DOCUMENT_BUCKETS; i++)
		first[i] = -1;
	for (guint at = text_field->tokens->len; at-- > 0;) {
		struct text_field_token *token =
		    &g_array_index(text_field->tokens, struct text_field_token, at);
		int *bucket = &first[token->key.hash % DOCUMENT_BUCKETS];

		token->next = *bucket;
		*bucket = (int)at;
	}
}

static bool
add_texts(struct query_document *document, const struct paper *paper,
    const struct tokenizer *tokenizer)
{
	if (paper->summary) {
		document->summary = g_new0(struct text_field, 1);
		text_field_init(document->summary, paper->summary);
	}
	text_field_init(&document->texts[HIT_FIELD_TITLE], paper->title);
	text_field_init(&document->texts[HIT_FIELD_ABSTRACT], paper->abstract);
	for (unsigned i = 0; i < DOCUMENT_TEXTS; i++) {
		if (!text_field_split(
		        &document->texts[i], document->strings, tokenizer))
			return false;
		index_tokens(&document->texts[i], document->first[i]);
	}
	return true;
}

const struct text_field *
document_get_summary(const struct query_document *document)
{
	struct text_field *summary = document->summary;

	if (summary && !summary->tokens->len &&
	    !text_field_split(summary, document->strings, document->tokenizer))
		return NULL;
	return summary;
}

struct query_document *
query_document_new(const struct paper *paper, const char *first_day,
    const struct tokenizer *tokenizer, GError **error)
{
	pb_auto(query_document) document = g_new0(struct query_document, 1);

	document->plains = g_array_new(FALSE, FALSE, sizeof(struct indexed_doc_word));
	document->strings = g_string_chunk_new(4096);
	document->tokenizer = tokenizer;
	document->authors = g_ptr_array_new_with_free_func(g_free);
	document->names = g_ptr_array_new_with_free_func((GDestroyNotify)name_free);
	document->doc_values = doc_values_new(paper, first_day, tokenizer);
	if (!add_authors(document, paper, tokenizer) ||
	    !add_texts(document, paper, tokenizer)) {
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
	if (document->summary)
		text_field_clear(document->summary);
	g_free(document->summary);
	g_clear_pointer(&document->plains, g_array_unref);
	g_clear_pointer(&document->strings, g_string_chunk_free);
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

int
document_find_phrase(const struct query_document *document, const struct phrase *phrase,
    unsigned text, int after)
{
	const struct text_field *text_field = &document->texts[text];
	unsigned hash = phrase_get_word(phrase, 0)->key.hash;
	int at = after >= 0 ? text_field_get_token(text_field, after)->next
	                    : document->first[text][hash % DOCUMENT_BUCKETS];

	if (phrase->is_prefix && phrase->words->len == 1)
		return text_field_find_phrase(text_field, phrase, after + 1);
	while (at >= 0 && !text_field_has_phrase_at(text_field, phrase, at))
		at = text_field_get_token(text_field, at)->next;
	return at;
}

/* Sorting the words would take longer than to look at each once. */
static bool
scan_prefix(const struct query_document *document, const char *prefix, unsigned texts)
{
	size_t len = strlen(prefix);

	for (unsigned text = 0; text < DOCUMENT_TEXTS; text++) {
		const struct text_field *text_field = &document->texts[text];
		guint end = texts & 1U << text ? text_field->tokens->len : 0;

		for (guint at = 0; at < end; at++)
			if (strncmp(text_field_get_token(text_field, (int)at)->plain,
			        prefix, len) == 0)
				return true;
	}
	return false;
}

static bool
has_prefix(const struct query_document *document, const char *prefix, unsigned texts)
{
	const GArray *plains = document->plains;
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
	if (phrase->is_prefix && phrase->words->len == 1)
		return (document->plains->len ? has_prefix : scan_prefix)(
		    document, phrase_get_word(phrase, 0)->key.text, texts);
	for (unsigned text = 0; text < DOCUMENT_TEXTS; text++)
		if (texts & 1U << text &&
		    document_find_phrase(document, phrase, text, -1) >= 0)
			return true;
	return false;
}

/* A text of a document. */
struct near_text {
	const struct query_document *document;
	const struct node *node;
	unsigned text;
};

/* As near_next. */
static int
find_next_place(const void *data, guint phrase, int after)
{
	const struct near_text *near = data;

	return document_find_phrase(near->document,
	    g_ptr_array_index(near->node->phrases, phrase), near->text, after);
}

bool
document_find_near(const struct query_document *document, const struct node *node,
    unsigned text, int *places)
{
	const struct near_text near = {document, node, text};

	return near_find(node, find_next_place, &near, places);
}
