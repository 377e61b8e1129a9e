/*
 * recall.c - estimates which part of the papers on its subject a filter finds.
 */
#include "query/taste/recall.h"

#include <string.h>

#include "query/parse/tree.h"
#include "query/taste/related.h"

struct term {
	double ratio;
	unsigned papers;
	unsigned shared;
};

void
recall_init(struct recall *recall, unsigned papers, unsigned matching)
{
	*recall = (struct recall){.papers = papers,
	    .matching = matching,
	    .terms = g_array_new(FALSE, FALSE, sizeof(struct term))};
}

void
recall_clear(struct recall *recall)
{
	if (recall->terms)
		g_array_unref(recall->terms);
}

void
recall_add(struct recall *recall, unsigned papers, unsigned shared)
{
	struct term term = {.papers = papers, .shared = shared};

	if (papers < RECALL_PAPERS_MIN || shared < RECALL_SHARED_MIN)
		return;
	term.ratio =
	    related_compute_ratio(recall->papers, recall->matching, papers, shared);
	if (term.ratio > 0)
		g_array_append_val(recall->terms, term);
}

static void
collect_words(const struct node *node, GHashTable *words)
{
	for (guint i = 0; node->phrase && i < node->phrase->words->len; i++)
		g_hash_table_add(
		    words, (void *)phrase_get_word(node->phrase, i)->key.text);
	for (guint i = 0; node->phrases && i < node->phrases->len; i++) {
		const struct phrase *phrase = node->phrases->pdata[i];

		for (guint j = 0; j < phrase->words->len; j++)
			g_hash_table_add(
			    words, (void *)phrase_get_word(phrase, j)->key.text);
	}
	for (guint i = 0; node->operands && i < node->operands->len; i++)
		collect_words(node->operands->pdata[i], words);
}

static bool
has_word_of(GHashTable *words, const char *text)
{
	const char *space = strchr(text, ' ');
	g_autofree char *first = space ? g_strndup(text, (gsize)(space - text)) : NULL;

	return g_hash_table_contains(words, space ? first : text) ||
	       (space && g_hash_table_contains(words, space + 1));
}

void
recall_add_all(struct recall *recall, const struct query *query,
    const struct matrix *matrix, const bool *matches)
{
	g_autoptr(GHashTable) words = g_hash_table_new(g_str_hash, g_str_equal);
	g_autofree unsigned *shared = g_new0(unsigned, matrix_count_terms(matrix));

	collect_words(query->root, words);
	for (unsigned paper = 0; paper < matrix_count_papers(matrix); paper++) {
		size_t count;
		const struct matrix_count *counts =
		    matrix_get_counts(matrix, paper, &count);

		for (size_t i = 0; matches[paper] && i < count; i++)
			shared[counts[i].term]++;
	}
	for (uint32_t number = 0; number < matrix_count_terms(matrix); number++) {
		const struct matrix_term *term = matrix_get_term(matrix, number);

		if (shared[number] >= RECALL_SHARED_MIN &&
		    !has_word_of(words, term->text))
			recall_add(recall, term->papers, shared[number]);
	}
}

static int
compare_terms(const void *a, const void *b)
{
	const struct term *first = a, *second = b;

	if (first->ratio != second->ratio)
		return first->ratio < second->ratio ? 1 : -1;
	return first->papers < second->papers   ? 1
	       : first->papers > second->papers ? -1
	                                        : 0;
}

double
recall_estimate(const struct recall *recall, int64_t missed)
{
	double papers = 0, shared = 0;

	if (recall->matching < RECALL_MATCHING_MIN)
		return -1;
	if (missed >= 0)
		return recall->matching / ((double)recall->matching + (double)missed);
	g_array_sort(recall->terms, compare_terms);
	for (guint i = 0; i < MIN(recall->terms->len, RECALL_TERMS); i++) {
		const struct term *term = &g_array_index(recall->terms, struct term, i);

		papers += term->papers;
		shared += term->shared;
	}
	return papers > 0 ? shared / papers : -1;
}
