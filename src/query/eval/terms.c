/*
 * terms.c - required terms of a filter, and terms of a paper, for the filter index.
 */
#include "query/eval/terms.h"

#include <string.h>

#include "base/bigram.h"
#include "base/bounds.h"
#include "base/text.h"
#include "query/eval/indexed_doc.h"
#include "query/parse/tree.h"

/* Maximum length of a prefix term, characters: it limits the terms of a paper. */
#define PREFIX_CHARS_MAX 12

/* Estimated ratio of a word's frequency to that of a pair with it. */
#define PAIR_SHARE 16

/* Estimated number of papers with a name, which is not counted. */
#define NAME_PAPERS 8

/* Terms chosen for a part of a filter, and the number of papers with any of them. */
struct choice {
	GPtrArray *terms; /* of struct term *; NULL: none are required */
	int64_t papers;
};

static void
choice_clear(struct choice *choice)
{
	g_clear_pointer(&choice->terms, g_ptr_array_unref);
}

static void
term_free(struct term *term)
{
	if (!term)
		return;
	g_free(term->text);
	g_free(term);
}

/* @param text  taken */
static void
add_term(GPtrArray *terms, enum term_kind kind, char *text)
{
	struct term *term = g_new(struct term, 1);

	term->kind = kind;
	term->text = text;
	g_ptr_array_add(terms, term);
}

/* Replace the choice by a rarer term. @param text taken */
static void
keep_rarer(struct choice *choice, enum term_kind kind, char *text, int64_t papers)
{
	if (choice->terms && choice->papers <= papers) {
		g_free(text);
		return;
	}
	choice_clear(choice);
	choice->terms = g_ptr_array_new_with_free_func((GDestroyNotify)term_free);
	choice->papers = papers;
	add_term(choice->terms, kind, text);
}

static char *
cut_prefix(const char *text)
{
	if (g_utf8_strlen(text, -1) <= PREFIX_CHARS_MAX)
		return g_strdup(text);
	return g_utf8_substring(text, 0, PREFIX_CHARS_MAX);
}

/* Load the number of papers with a word or prefix. */
static bool
load_frequency(const struct phrase *phrase, unsigned i,
    const struct document_frequency *frequency, struct term *term, int64_t *papers,
    GError **error)
{
	bool is_prefix = phrase->is_prefix && i + 1 == phrase->words->len;
	const char *text = phrase_get_word(phrase, i)->key.text;

	/* A paper's words are not the single characters of its runs. */
	is_prefix |= phrase_get_word(phrase, i)->is_char;
	term->kind = is_prefix ? TERM_PREFIX : TERM_WORD;
	term->text = is_prefix ? cut_prefix(text) : g_strdup(text);
	return frequency->load(frequency->data, term, papers, error);
}

/* Choose the rarest word or pair of adjacent words. */
static bool
choose_phrase(const struct phrase *phrase, const struct document_frequency *frequency,
    struct choice *choice, GError **error)
{
	int64_t before = 0;

	for (unsigned i = 0; i < phrase->words->len; i++) {
		const char *text = phrase_get_word(phrase, i)->key.text;
		struct term term = {0};
		int64_t papers = 0;
		bool is_ok =
		    load_frequency(phrase, i, frequency, &term, &papers, error);

		if (!is_ok) {
			g_free(term.text);
			return false;
		}
		if (i > 0 && term.kind == TERM_WORD &&
		    !phrase_get_word(phrase, i - 1)->is_char)
			keep_rarer(choice, TERM_PAIR,
			    g_strconcat(phrase_get_word(phrase, i - 1)->key.text, " ",
			        text, NULL),
			    MIN(before, papers) / PAIR_SHARE);
		keep_rarer(choice, term.kind, term.text, papers);
		before = papers;
	}
	return true;
}

/* All phrases are required: choose the rarest. */
static bool
choose_near(const struct node *node, const struct document_frequency *frequency,
    struct choice *choice, GError **error)
{
	for (unsigned i = 0; i < node->phrases->len; i++)
		if (!choose_phrase(node->phrases->pdata[i], frequency, choice, error))
			return false;
	return true;
}

/* Choose the longest whole part as the rarest; given names may be initials. */
static void
choose_name(const struct name *name, struct choice *choice)
{
	unsigned first = name->is_any_word ? 0 : name->parts->len - name->last;
	const char *longest = name_get_part(name, first);

	for (unsigned i = first + 1; i < name->parts->len; i++)
		if (strlen(name_get_part(name, i)) > strlen(longest))
			longest = name_get_part(name, i);
	keep_rarer(choice, TERM_NAME, g_strdup(longest), NAME_PAPERS);
}

static bool choose_node(const struct node *node,
    const struct document_frequency *frequency, struct choice *choice, GError **error);

/* Choose the rarest operand that requires terms. */
static bool
choose_and(const struct node *node, const struct document_frequency *frequency,
    struct choice *choice, GError **error)
{
	for (unsigned i = 0; i < node->operands->len; i++) {
		pb_local(choice) one = {0};

		if (!choose_node(node->operands->pdata[i], frequency, &one, error))
			return false;
		if (!one.terms || (choice->terms && choice->papers <= one.papers))
			continue;
		choice_clear(choice);
		choice->terms = g_steal_pointer(&one.terms);
		choice->papers = one.papers;
	}
	return true;
}

/* Take the terms of all operands, unless one requires none. */
static bool
choose_or(const struct node *node, const struct document_frequency *frequency,
    struct choice *choice, GError **error)
{
	for (unsigned i = 0; i < node->operands->len; i++) {
		pb_local(choice) one = {0};

		if (!choose_node(node->operands->pdata[i], frequency, &one, error))
			return false;
		if (!one.terms) {
			choice_clear(choice);
			return true;
		}
		if (!choice->terms)
			choice->terms = g_steal_pointer(&one.terms);
		else
			g_ptr_array_extend_and_steal(
			    choice->terms, g_steal_pointer(&one.terms));
		choice->papers += one.papers;
	}
	return true;
}

/* @param choice  empty; remains so when no term is required */
static bool
choose_node(const struct node *node, const struct document_frequency *frequency,
    struct choice *choice, GError **error)
{
	switch (node->kind) {
	case NODE_AND:
		return choose_and(node, frequency, choice, error);
	case NODE_OR:
		return choose_or(node, frequency, choice, error);
	case NODE_WORDS:
		return choose_phrase(node->phrase, frequency, choice, error);
	case NODE_NEAR:
		return choose_near(node, frequency, choice, error);
	case NODE_NAME:
		choose_name(node->name, choice);
		return true;
	case NODE_NOT:
	case NODE_VALUE_WORDS:
	case NODE_VALUE:
	case NODE_NUMBER:
	case NODE_DATE:
		break;
	}
	return true;
}

static int
compare_terms(const void *a, const void *b)
{
	const struct term *const *left = a, *const *right = b;

	if ((*left)->kind != (*right)->kind)
		return (*left)->kind < (*right)->kind ? -1 : 1;
	return strcmp((*left)->text, (*right)->text);
}

static void
make_distinct(GPtrArray *terms)
{
	g_ptr_array_sort(terms, compare_terms);
	for (unsigned i = 1; i < terms->len;)
		if (compare_terms(&terms->pdata[i - 1], &terms->pdata[i]) == 0)
			g_ptr_array_remove_index(terms, i);
		else
			i++;
}

GPtrArray *
terms_select_required(const struct query *query,
    const struct document_frequency *frequency, GError **error)
{
	pb_local(choice) choice = {0};

	if (!choose_node(query->root, frequency, &choice, error))
		return NULL;
	if (!choice.terms)
		keep_rarer(&choice, TERM_ALWAYS, g_strdup(""), 0);
	make_distinct(choice.terms);
	return g_steal_pointer(&choice.terms);
}

/* Terms of a paper */

/* Receiver of a paper's terms. */
struct term_sink {
	void (*add)(void *data, enum term_kind kind, const char *text);
	void *data;
};

/* Length of the common prefix, bytes. */
static size_t
count_same(const char *a, const char *b)
{
	size_t same = 0;

	while (a[same] && a[same] == b[same])
		same++;
	return same;
}

/*
 * List the prefixes of a word.
 *
 * @param before  the word listed before it, in sorted order: their common prefixes are
 *         done
 */
static void
list_prefixes(
    const struct term_sink *sink, const char *plain, const char *before, GString *text)
{
	const char *known = plain + count_same(plain, before);
	unsigned least = bigram_is_at(plain, -1) ? 1 : BOUNDS_PREFIX_CHARS;
	const char *end = plain;

	for (unsigned messages = 1; *end && messages <= PREFIX_CHARS_MAX; messages++) {
		end = g_utf8_next_char(end);
		if (messages < least || end <= known)
			continue;
		g_string_truncate(text, 0);
		g_string_append_len(text, plain, end - plain);
		sink->add(sink->data, TERM_PREFIX, text->str);
	}
}

/* List the words of a text and the pairs of adjacent ones. */
static void
list_words(const struct term_sink *sink, const GArray *tokens, GString *pair)
{
	for (unsigned i = 0; i < tokens->len; i++) {
		const struct text_field_token *token =
		    &g_array_index(tokens, struct text_field_token, i);

		sink->add(sink->data, TERM_WORD, token->key.text);
		if (i == 0)
			continue;
		g_string_assign(pair, (token - 1)->key.text);
		g_string_append_c(pair, ' ');
		g_string_append(pair, token->key.text);
		sink->add(sink->data, TERM_PAIR, pair->str);
	}
}

void
terms_list(const struct query_document *document,
    void (*add)(void *data, enum term_kind kind, const char *text), void *data)
{
	const struct term_sink sink = {add, data};
	g_autoptr(GPtrArray) plains = g_ptr_array_new();
	g_autoptr(GString) text = g_string_new(NULL);
	const char *before = "";

	for (unsigned i = 0; i < DOCUMENT_TEXTS; i++) {
		const GArray *tokens = document->texts[i].tokens;

		list_words(&sink, tokens, text);
		for (guint at = 0; at < tokens->len; at++) {
			const struct text_field_token *token =
			    text_field_get_token(&document->texts[i], (int)at);
			const char *last = bigram_find_last(token->plain,
			    strlen(token->plain), document->texts[i].text + token->end);

			g_ptr_array_add(plains, (char *)token->plain);
			if (last)
				g_ptr_array_add(plains, (char *)last);
		}
	}
	g_ptr_array_sort(plains, text_compare_pointers);
	for (unsigned i = 0; i < plains->len; i++) {
		const char *plain = plains->pdata[i];

		list_prefixes(&sink, plain, before, text);
		before = plain;
	}
	for (unsigned i = 0; i < document->names->len; i++) {
		const struct name *name = document->names->pdata[i];

		for (unsigned part = 0; name && part < name->parts->len; part++)
			add(data, TERM_NAME, name_get_part(name, part));
	}
}
