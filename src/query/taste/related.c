/*
 * related.c - words and phrases related to a filter, from the papers that it matches.
 */
#include "query/taste/related.h"

#include <math.h>
#include <string.h>

#include "base/bounds.h"
#include "base/text.h"
#include "query/parse/tree.h"
#include "query/text/acronym.h"
#include "query/text/stem.h"

#define PAPERS_MIN 5 /* minimum number of papers with a term */
#define SHARED_MIN 2 /* of them that match the filter */

/* Other forms of acronyms: minimum number of papers that define one, and the part
 * (1 / FORM_PART) of those that define the most frequent one. */
#define FORM_DEFINITIONS 2
#define FORM_PART        5

struct search {
	const struct related_source *source;
	const struct matrix *matrix;
	GPtrArray *phrases; /* of char *: words and phrases of the filter */
	GHashTable *words;  /* char *: the words of these */
	unsigned papers;
	unsigned matching;
	unsigned sampled; /* of these, in the matrix */
	unsigned *titles; /* by term: of these, with it in the title */
	GPtrArray *found; /* of struct related_term * */
};

void
related_term_free(struct related_term *term)
{
	if (!term)
		return;
	g_free(term->text);
	g_free(term);
}

static char *
join_words(const struct phrase *phrase)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < phrase->words->len; i++)
		g_string_append_printf(
		    text, "%s%s", i ? " " : "", phrase_get_word(phrase, i)->key.text);
	return g_string_free(text, FALSE);
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
		words = join_words(operand->phrase);
		g_string_append_printf(text, "%s%s", text->len ? " " : "", words);
	}
	if (text->len)
		add_phrase(search, g_strdup(text->str));
}

static void
collect_phrases(struct search *search, const struct node *node)
{
	if (node->kind == NODE_WORDS)
		add_phrase(search, join_words(node->phrase));
	for (guint i = 0; node->kind == NODE_NEAR && i < node->phrases->len; i++)
		add_phrase(search, join_words(node->phrases->pdata[i]));
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

static double
compute_ratio(const struct search *search, unsigned shared, unsigned with_term)
{
	return related_compute_ratio(
	    search->papers, search->matching, with_term, shared);
}

/*
 * Whether a term may be an acronym of the filter, or the reverse.
 *
 * @param change_case  g_ascii_strup(): letters begin words or continue;
 *                     g_ascii_strdown(): they may be within words
 */
static bool
is_acronym(const struct search *search, const struct matrix_term *term,
    char *(*change_case)(const char *text, gssize len))
{
	g_autofree char *short_text = change_case(term->text, -1);

	for (guint i = 0; i < search->phrases->len; i++) {
		const char *phrase = search->phrases->pdata[i];
		bool has_words = strchr(phrase, ' ') != NULL;
		g_autofree char *own_text = change_case(phrase, -1);

		if (!term->is_pair && has_words && acronym_matches(short_text, phrase))
			return true;
		if (term->is_pair && !has_words &&
		    acronym_matches(own_text, term->text))
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
add_found(struct search *search, const struct related_term *term)
{
	struct related_term *found = g_memdup2(term, sizeof(*term));

	found->text = g_strdup(term->text);
	g_ptr_array_add(search->found, found);
}

/* Papers with a term. @param in_matrix  that match */
static void
count_papers(const struct search *search, const struct matrix_term *term,
    unsigned in_matrix, unsigned *shared, unsigned *papers)
{
	const struct related_source *source = search->source;

	*shared = in_matrix;
	*papers = term->papers;
	if (!source->count)
		return;
	*shared = (unsigned)((uint64_t)in_matrix * search->matching / search->sampled);
	*papers = source->count(source->data, term, *shared);
}

static void
try_term(struct search *search, uint32_t number, unsigned in_matrix)
{
	const struct matrix_term *term = matrix_get_term(search->matrix, number);
	unsigned shared, papers;
	struct related_term found;
	double ratio;

	/* Of a sample, one is chance. */
	if (search->source->count && in_matrix < SHARED_MIN)
		return;
	if (has_only_words_of(search->words, term->text))
		return;
	count_papers(search, term, in_matrix, &shared, &papers);
	ratio = compute_ratio(search, shared, papers);
	found = (struct related_term){.text = (char *)term->text,
	    .score = ratio,
	    .precision = (double)shared / papers,
	    .titles = search->titles[number]};
	if (is_acronym(search, term, g_ascii_strup)) {
		found.score = RELATED_PRIOR * (1 + ratio);
		add_found(search, &found);
	} else if (ratio > 0 && is_acronym(search, term, g_ascii_strdown)) {
		found.score = RELATED_WEAK_PRIOR * ratio;
		add_found(search, &found);
	} else if (ratio > 0 && in_matrix >= SHARED_MIN && shared < papers &&
	           papers >= PAPERS_MIN) {
		add_found(search, &found);
	}
}

static void
try_terms(struct search *search)
{
	const bool *matches = search->source->matches;
	unsigned papers = matrix_count_papers(search->matrix);
	unsigned terms = matrix_count_terms(search->matrix);
	g_autofree unsigned *shared = g_new0(unsigned, terms);

	for (unsigned paper = 0; paper < papers; paper++) {
		size_t count;
		const struct matrix_count *counts =
		    matrix_get_counts(search->matrix, paper, &count);

		for (size_t i = 0; (!matches || matches[paper]) && i < count; i++) {
			shared[counts[i].term]++;
			search->titles[counts[i].term] += counts[i].title > 0;
		}
	}
	for (uint32_t term = 0; term < terms; term++)
		if (shared[term])
			try_term(search, term, shared[term]);
}

/* Fold the words of a long form: "Low-Rank Adaptations" is "low rank adaptation". */
static char *
fold_long_form(const char *text)
{
	g_autofree char *lower = g_utf8_strdown(text, -1);
	g_auto(GStrv) words = g_strsplit_set(lower, " -/", -1);
	GString *folded = g_string_new(NULL);

	for (char **word = words; *word; word++) {
		g_autofree char *singular = stem_plural(*word, strlen(*word));

		if (*singular)
			g_string_append_printf(
			    folded, "%s%s", folded->len ? " " : "", singular);
	}
	return g_string_free(folded, FALSE);
}

/* Long forms of three or more words, of an acronym in the filter. */
static void
try_long_forms(struct search *search, const GPtrArray *acronyms)
{
	g_autoptr(GHashTable) papers =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	GHashTableIter iter;
	gpointer key, value;

	for (guint i = 0; i < acronyms->len; i++) {
		const struct acronym *acronym = acronyms->pdata[i];
		g_autofree char *short_text = fold_long_form(acronym->short_text);
		char *text;
		guint count;

		if (!g_hash_table_contains(search->words, short_text))
			continue;
		text = fold_long_form(acronym->long_text);
		count = GPOINTER_TO_UINT(g_hash_table_lookup(papers, text));
		g_hash_table_insert(papers, text, GUINT_TO_POINTER(count + 1));
	}
	g_hash_table_iter_init(&iter, papers);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		unsigned count = MIN(GPOINTER_TO_UINT(value), search->matching);
		uint32_t term;

		if (!matrix_find_term(search->matrix, key, &term) &&
		    !has_only_words_of(search->words, key))
			add_found(search,
			    &(const struct related_term){.text = key,
			        .score = RELATED_PRIOR *
			                 (1 + compute_ratio(search, count, count)),
			        .precision = 1});
	}
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

/* Whether all words of one of two texts are in the other. */
static bool
is_contained(const char *a, const char *b)
{
	g_autofree char *first = g_strconcat(" ", a, " ", NULL);
	g_autofree char *second = g_strconcat(" ", b, " ", NULL);

	return strstr(first, second) || strstr(second, first);
}

static GPtrArray *
select_best(const GPtrArray *found, unsigned limit)
{
	GPtrArray *best =
	    g_ptr_array_new_with_free_func((GDestroyNotify)related_term_free);

	for (guint i = 0; i < found->len && best->len < limit; i++) {
		const struct related_term *term = found->pdata[i];
		struct related_term *copy;
		bool is_repeated = false;

		for (guint j = 0; j < best->len; j++)
			is_repeated |= is_contained(
			    term->text, ((struct related_term *)best->pdata[j])->text);
		if (is_repeated)
			continue;
		copy = g_memdup2(term, sizeof(*term));
		copy->text = g_strdup(term->text);
		g_ptr_array_add(best, copy);
	}
	return best;
}

GPtrArray *
related_find(
    const struct query *query, const struct related_source *source, unsigned limit)
{
	g_autoptr(GPtrArray) phrases = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) found =
	    g_ptr_array_new_with_free_func((GDestroyNotify)related_term_free);
	g_autoptr(GHashTable) words =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autofree unsigned *titles =
	    g_new0(unsigned, matrix_count_terms(source->matrix));
	struct search search = {.source = source,
	    .titles = titles,
	    .matrix = source->matrix,
	    .phrases = phrases,
	    .words = words,
	    .papers = source->papers,
	    .matching = source->matching,
	    .sampled = matrix_count_papers(source->matrix),
	    .found = found};

	if (source->matches) {
		search.papers = search.sampled;
		for (unsigned paper = 0; paper < search.papers; paper++)
			search.matching += source->matches[paper];
	}
	collect_phrases(&search, query->root);
	try_terms(&search);
	try_long_forms(&search, source->acronyms);
	g_ptr_array_sort(found, compare_terms);
	return select_best(found, limit);
}

/* Count the other form of an acronym, of which the filter has one. */
static void
count_form(
    const struct search *search, const struct acronym *acronym, GHashTable *papers)
{
	char *forms[] = {
	    fold_long_form(acronym->short_text), fold_long_form(acronym->long_text)};
	bool has[2] = {false};

	for (guint i = 0; i < search->phrases->len; i++)
		for (unsigned j = 0; j < 2; j++)
			has[j] |= strcmp(search->phrases->pdata[i], forms[j]) == 0;
	for (unsigned j = 0; j < 2; j++) {
		guint count = GPOINTER_TO_UINT(g_hash_table_lookup(papers, forms[j]));

		if (has[1 - j] && !has[j])
			g_hash_table_insert(papers, g_steal_pointer(&forms[j]),
			    GUINT_TO_POINTER(count + 1));
		g_free(forms[j]);
	}
}

GPtrArray *
related_list_forms(const struct query *query, const GPtrArray *acronyms)
{
	g_autoptr(GPtrArray) phrases = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GHashTable) words =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(GHashTable) papers =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	struct search search = {.phrases = phrases, .words = words};
	GPtrArray *forms = g_ptr_array_new_with_free_func(g_free);
	GHashTableIter iter;
	gpointer form, count;
	guint most = 0;

	if (query->root->kind == NODE_AND)
		return forms;
	collect_phrases(&search, query->root);
	for (guint i = 0; i < acronyms->len; i++)
		count_form(&search, acronyms->pdata[i], papers);
	g_hash_table_iter_init(&iter, papers);
	while (g_hash_table_iter_next(&iter, NULL, &count))
		most = MAX(most, GPOINTER_TO_UINT(count));
	g_hash_table_iter_init(&iter, papers);
	while (g_hash_table_iter_next(&iter, &form, &count))
		if (GPOINTER_TO_UINT(count) >= FORM_DEFINITIONS &&
		    GPOINTER_TO_UINT(count) * FORM_PART >= most)
			g_ptr_array_add(forms, g_strdup(form));
	g_ptr_array_sort(forms, text_compare_pointers);
	return forms;
}
