/*
 * terms.c - what a paper must have for a filter to be worth asking about it.
 */
#include "query/eval/terms.h"

#include <string.h>

#include "base/bounds.h"
#include "query/eval/indexed_doc.h"
#include "query/parse/tree.h"

/* Longer beginnings are cut: each of a paper's words has few of them then. */
#define PREFIX_CHARS_MAX 12

/* Words side by side are so much rarer than the rarer one of them. */
#define PAIR_SHARE 16

/* Nobody counts names; most are in few papers. */
#define NAME_PAPERS 8

/* The terms of a part of a filter, and how many papers have one of them. */
struct choice {
	GPtrArray *terms; /* of struct term *; NULL: the part needs none */
	int64_t papers;
};

static void
choice_clear(struct choice *choice)
{
	g_clear_pointer(&choice->terms, g_ptr_array_unref);
}

#define choice_auto __attribute__((cleanup(choice_clear))) struct choice

void
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

/* Take a term instead of what was chosen, when it is rarer. @param text taken */
static void
offer(struct choice *choice, enum term_kind kind, char *text, int64_t papers)
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

/* A word, or the beginning of one, and in how many papers it is. */
static bool
load_rarity(const struct phrase *phrase, unsigned i,
    const struct document_frequency *rarity, struct term *term, int64_t *papers,
    GError **error)
{
	bool is_prefix = phrase->is_prefix && i + 1 == phrase->words->len;
	const char *text = phrase_get_word(phrase, i)->key.text;

	term->kind = is_prefix ? TERM_PREFIX : TERM_WORD;
	term->text = is_prefix ? cut_prefix(text) : g_strdup(text);
	return rarity->load(rarity->data, term, papers, error);
}

/* Its rarest word, or the rarest two side by side. */
static bool
choose_phrase(const struct phrase *phrase, const struct document_frequency *rarity,
    struct choice *choice, GError **error)
{
	int64_t before = 0;

	for (unsigned i = 0; i < phrase->words->len; i++) {
		const char *text = phrase_get_word(phrase, i)->key.text;
		struct term term = {0};
		int64_t papers = 0;
		bool is_ok = load_rarity(phrase, i, rarity, &term, &papers, error);

		if (!is_ok) {
			g_free(term.text);
			return false;
		}
		if (i > 0 && term.kind == TERM_WORD)
			offer(choice, TERM_PAIR,
			    g_strconcat(phrase_get_word(phrase, i - 1)->key.text, " ",
			        text, NULL),
			    MIN(before, papers) / PAIR_SHARE);
		offer(choice, term.kind, term.text, papers);
		before = papers;
	}
	return true;
}

/* All have to be there: those of the rarest will do. */
static bool
choose_near(const struct node *node, const struct document_frequency *rarity,
    struct choice *choice, GError **error)
{
	for (unsigned i = 0; i < node->phrases->len; i++)
		if (!choose_phrase(node->phrases->pdata[i], rarity, choice, error))
			return false;
	return true;
}

/* A part that stands there whole: given names may be initials.  The longest is rarest.
 */
static void
choose_name(const struct name *name, struct choice *choice)
{
	unsigned first = name->is_any_word ? 0 : name->parts->len - name->last;
	const char *longest = name_get_part(name, first);

	for (unsigned i = first + 1; i < name->parts->len; i++)
		if (strlen(name_get_part(name, i)) > strlen(longest))
			longest = name_get_part(name, i);
	offer(choice, TERM_NAME, g_strdup(longest), NAME_PAPERS);
}

static bool choose_node(const struct node *node,
    const struct document_frequency *rarity, struct choice *choice, GError **error);

/* The rarest operand that needs any. */
static bool
choose_and(const struct node *node, const struct document_frequency *rarity,
    struct choice *choice, GError **error)
{
	for (unsigned i = 0; i < node->operands->len; i++) {
		choice_auto one = {0};

		if (!choose_node(node->operands->pdata[i], rarity, &one, error))
			return false;
		if (!one.terms || (choice->terms && choice->papers <= one.papers))
			continue;
		choice_clear(choice);
		choice->terms = g_steal_pointer(&one.terms);
		choice->papers = one.papers;
	}
	return true;
}

/* Those of all operands; when one needs none, the whole needs none. */
static bool
choose_or(const struct node *node, const struct document_frequency *rarity,
    struct choice *choice, GError **error)
{
	for (unsigned i = 0; i < node->operands->len; i++) {
		choice_auto one = {0};

		if (!choose_node(node->operands->pdata[i], rarity, &one, error))
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

/* @param choice  empty, and left so when the node needs no term */
static bool
choose_node(const struct node *node, const struct document_frequency *rarity,
    struct choice *choice, GError **error)
{
	switch (node->kind) {
	case NODE_AND:
		return choose_and(node, rarity, choice, error);
	case NODE_OR:
		return choose_or(node, rarity, choice, error);
	case NODE_WORDS:
		return choose_phrase(node->phrase, rarity, choice, error);
	case NODE_NEAR:
		return choose_near(node, rarity, choice, error);
	case NODE_NAME:
		choose_name(node->name, choice);
		return true;
	case NODE_NOT:
	case NODE_FACT_WORDS:
	case NODE_FACT:
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
terms_select_required(
    const struct query *query, const struct document_frequency *rarity, GError **error)
{
	choice_auto choice = {0};

	if (!choose_node(query->root, rarity, &choice, error))
		return NULL;
	if (!choice.terms)
		offer(&choice, TERM_ALWAYS, g_strdup(""), 0);
	make_distinct(choice.terms);
	return g_steal_pointer(&choice.terms);
}

/* ---- of a paper ---- */

/* Who is told of a paper's terms. */
struct listener {
	void (*add)(void *data, enum term_kind kind, const char *text);
	void *data;
};

/* How many octets at the beginning of two texts are the same. */
static size_t
count_same(const char *a, const char *b)
{
	size_t same = 0;

	while (a[same] && a[same] == b[same])
		same++;
	return same;
}

/*
 * List the beginnings of a word.
 *
 * @param before  the word listed before it, in their order: what both begin with was
 *                listed already
 */
static void
list_prefixes(const struct listener *listener, const char *plain, const char *before,
    GString *text)
{
	const char *known = plain + count_same(plain, before);
	const char *end = plain;

	for (unsigned messages = 1; *end && messages <= PREFIX_CHARS_MAX; messages++) {
		end = g_utf8_next_char(end);
		if (messages < BOUNDS_PREFIX_CHARS || end <= known)
			continue;
		g_string_truncate(text, 0);
		g_string_append_len(text, plain, end - plain);
		listener->add(listener->data, TERM_PREFIX, text->str);
	}
}

static void
list_words(const struct listener *listener, const struct query_document *document)
{
	GHashTableIter words;
	gpointer key;

	g_hash_table_iter_init(&words, document->words);
	while (g_hash_table_iter_next(&words, &key, NULL))
		listener->add(listener->data, TERM_WORD,
		    ((const struct document_word *)key)->key.text);
}

static void
list_pairs(const struct listener *listener, const GArray *tokens, GString *pair)
{
	for (unsigned i = 1; i < tokens->len; i++) {
		const struct text_field_token *token =
		    &g_array_index(tokens, struct text_field_token, i);

		g_string_assign(pair, (token - 1)->key.text);
		g_string_append_c(pair, ' ');
		g_string_append(pair, token->key.text);
		listener->add(listener->data, TERM_PAIR, pair->str);
	}
}

void
terms_list(const struct query_document *document,
    void (*add)(void *data, enum term_kind kind, const char *text), void *data)
{
	const struct listener listener = {add, data};
	const GArray *plains = document_get_plains(document);
	g_autoptr(GString) text = g_string_new(NULL);
	const char *before = "";

	list_words(&listener, document);
	for (unsigned i = 0; i < DOCUMENT_TEXTS; i++)
		list_pairs(&listener, document->texts[i].tokens, text);
	for (unsigned i = 0; i < plains->len; i++) {
		const char *plain =
		    g_array_index(plains, struct indexed_doc_word, i).text;

		list_prefixes(&listener, plain, before, text);
		before = plain;
	}
	for (unsigned i = 0; i < document->names->len; i++) {
		const struct name *name = document->names->pdata[i];

		for (unsigned part = 0; name && part < name->parts->len; part++)
			add(data, TERM_NAME, name_get_part(name, part));
	}
}
