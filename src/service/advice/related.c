/*
 * related.c - words and phrases related to a filter, from papers that it matches.
 */
#include "service/advice/related.h"

#include <math.h>
#include <string.h>

#include "base/bigram.h"
#include "query/parse/tree.h"
#include "query/text/acronym.h"

/* Minimum number of papers of the archive with a term: of fewer, chance decides. */
#define PAPERS_MIN 5

/* Minimum number of the matching papers that were read with a term; one is chance. */
#define SHARED_MIN 2

struct search {
	const struct related_source *source;
	GPtrArray *phrases; /* of char *: words and phrases of the filter */
	GHashTable *words;  /* char *: the words of these */
	GPtrArray *found;   /* of struct related_term * */
};

static void
related_term_free(struct related_term *term)
{
	if (!term)
		return;
	g_free(term->text);
	g_free(term);
}

static void
add_phrase(struct search *search, char *text)
{
	g_auto(GStrv) words = g_strsplit(text, " ", -1);

	for (char **word = words; *word; word++)
		g_hash_table_add(search->words, g_strdup(*word));
	g_ptr_array_add(search->phrases, text);
}

static int
compare_columns(const void *a, const void *b)
{
	const struct node *first = *(struct node *const *)a;
	const struct node *second = *(struct node *const *)b;

	return first->column < second->column ? -1 : first->column > second->column;
}

/* Words side by side may be a phrase without quotation marks. */
static void
add_typed_phrase(struct search *search, const struct node *node)
{
	g_autoptr(GPtrArray) operands = g_ptr_array_new();
	g_autoptr(GString) text = g_string_new(NULL);

	for (guint i = 0; i < node->operands->len; i++)
		g_ptr_array_add(operands, node->operands->pdata[i]);
	g_ptr_array_sort(operands, compare_columns);
	for (guint i = 0; i < operands->len; i++) {
		const struct node *operand = operands->pdata[i];
		g_autofree char *words = NULL;

		if (operand->kind != NODE_WORDS)
			continue;
		words = phrase_join(operand->phrase);
		g_string_append_printf(text, "%s%s", text->len ? " " : "", words);
	}
	if (text->len)
		add_phrase(search, g_strdup(text->str));
}

static void
collect_phrases(struct search *search, const struct node *node)
{
	if (node->kind == NODE_WORDS)
		add_phrase(search, phrase_join(node->phrase));
	for (guint i = 0; node->kind == NODE_NEAR && i < node->phrases->len; i++)
		add_phrase(search, phrase_join(node->phrases->pdata[i]));
	if (node->kind == NODE_AND)
		add_typed_phrase(search, node);
	if (node->kind == NODE_AND || node->kind == NODE_OR)
		for (guint i = 0; i < node->operands->len; i++)
			collect_phrases(search, node->operands->pdata[i]);
}

static double
entropy(double count)
{
	return count > 0 ? count * log(count) : 0;
}

double
related_compute_ratio(double all, double query, double term, double shared)
{
	if (shared * all <= query * term)
		return 0;
	return 2 * (entropy(shared) + entropy(query - shared) + entropy(term - shared) +
	               entropy(all - query - term + shared) + entropy(all) -
	               entropy(query) - entropy(all - query) - entropy(term) -
	               entropy(all - term));
}

/* Whether a term may be the acronym of a phrase of the filter, or a phrase whose
 * acronym is in the filter. */
static bool
is_acronym(const struct search *search, const struct matrix_term *term)
{
	for (guint i = 0; i < search->phrases->len; i++) {
		const char *phrase = search->phrases->pdata[i];
		bool has_words = strchr(phrase, ' ') != NULL;

		if (!term->is_pair && has_words && acronym_matches(term->text, phrase))
			return true;
		if (term->is_pair && !has_words && acronym_matches(phrase, term->text))
			return true;
	}
	return false;
}

static bool
has_only_words_of(GHashTable *words, const char *text)
{
	g_auto(GStrv) parts = g_strsplit(text, " ", -1);

	for (char **part = parts; *part; part++)
		if (!g_hash_table_contains(words, *part))
			return false;
	return true;
}

static void
try_term(struct search *search, const struct matrix_term *term)
{
	const struct related_source *source = search->source;
	unsigned sampled = matrix_count_papers(source->matrix);
	unsigned shared =
	    (unsigned)((uint64_t)term->papers * source->matching / sampled);
	unsigned papers;
	double ratio;
	bool is_form;
	struct related_term *found;

	/* Pairs of characters are mostly parts of words. */
	if (bigram_is_at(term->text, -1) ||
	    has_only_words_of(search->words, term->text))
		return;
	is_form = is_acronym(search, term);
	if ((!is_form || term->is_pair) && term->papers < SHARED_MIN)
		return;
	papers = source->count(source->data, term, shared);
	ratio = related_compute_ratio(source->papers, source->matching, papers, shared);
	if (is_form)
		ratio = RELATED_PRIOR * (1 + ratio);
	else if (shared == papers || papers < PAPERS_MIN)
		return;
	if (ratio <= 0)
		return;
	found = g_new0(struct related_term, 1);
	found->text = g_strdup(term->text);
	found->score = ratio;
	found->is_acronym = is_form;
	g_ptr_array_add(search->found, found);
}

static int
compare_terms(const void *a, const void *b)
{
	const struct related_term *first = *(struct related_term *const *)a;
	const struct related_term *second = *(struct related_term *const *)b;

	if (first->score != second->score)
		return first->score < second->score ? 1 : -1;
	/* A pair says more than its words. */
	if (!strchr(first->text, ' ') != !strchr(second->text, ' '))
		return strchr(first->text, ' ') ? -1 : 1;
	return strcmp(first->text, second->text);
}

/* Whether one of two terms is equal to the other, or is one of its words. */
static bool
is_contained(const char *a, const char *b)
{
	g_autofree char *first = g_strconcat(" ", a, " ", NULL);
	g_autofree char *second = g_strconcat(" ", b, " ", NULL);

	return strstr(first, second) || strstr(second, first);
}

/* Move the best to another array, without those that are contained in a better one. */
static GPtrArray *
select_best(const GPtrArray *found, unsigned limit)
{
	GPtrArray *best =
	    g_ptr_array_new_with_free_func((GDestroyNotify)related_term_free);

	for (guint i = 0; i < found->len && best->len < limit; i++) {
		const struct related_term *term = found->pdata[i];
		bool is_repeated = false;

		for (guint j = 0; j < best->len; j++)
			is_repeated |= is_contained(
			    term->text, ((struct related_term *)best->pdata[j])->text);
		if (!is_repeated)
			g_ptr_array_add(best, g_steal_pointer(&found->pdata[i]));
	}
	return best;
}

GPtrArray *
related_find(
    const struct query *query, const struct related_source *source, unsigned limit)
{
	g_autoptr(GPtrArray) phrases = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GHashTable) words =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(GPtrArray) found =
	    g_ptr_array_new_with_free_func((GDestroyNotify)related_term_free);
	struct search search = {
	    .source = source, .phrases = phrases, .words = words, .found = found};

	collect_phrases(&search, query->root);
	for (uint32_t i = 0; i < matrix_count_terms(source->matrix); i++)
		try_term(&search, matrix_get_term(source->matrix, i));
	g_ptr_array_sort(found, compare_terms);
	return select_best(found, limit);
}
