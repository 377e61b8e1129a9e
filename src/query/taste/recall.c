/*
 * recall.c - estimates which part of the papers on its subject a filter finds.
 */
#include "query/taste/recall.h"

#include <math.h>

#include "query/parse/tree.h"

struct score {
	double points;
	bool matches;
};

void
recall_init(struct recall *recall)
{
	*recall = (struct recall){
	    .words = g_array_new(FALSE, FALSE, sizeof(struct recall_word)),
	    .scores = g_array_new(FALSE, FALSE, sizeof(struct score))};
}

void
recall_clear(struct recall *recall)
{
	if (recall->words)
		g_array_unref(recall->words);
	if (recall->scores)
		g_array_unref(recall->scores);
}

/* ---- words ---- */

static void
add_words(const struct phrase *phrase, GHashTable *words)
{
	for (guint i = 0; i < phrase->words->len; i++)
		g_hash_table_add(words, (void *)phrase_get_word(phrase, i)->key.text);
}

static void
collect_words(const struct node *node, GHashTable *words)
{
	if (node->phrase)
		add_words(node->phrase, words);
	for (guint i = 0; node->phrases && i < node->phrases->len; i++)
		add_words(node->phrases->pdata[i], words);
	for (guint i = 0; node->operands && i < node->operands->len; i++)
		collect_words(node->operands->pdata[i], words);
}

static double
get_log_odds(double part, double all)
{
	return log((part + 0.5) / (all - part + 0.5));
}

/* @return 0 if it is not typical */
static double
get_weight(double shared, double matching, double with, double papers)
{
	double weight;

	if (shared < RECALL_SHARED_MIN)
		return 0;
	weight =
	    get_log_odds(shared, matching) - get_log_odds(MIN(with, papers), papers);
	return weight > RECALL_WEIGHT_MIN ? weight : 0;
}

/* @param shared  papers of the matrix that match and have the word, of `matching` */
static void
try_word(struct recall *recall, const struct related_source *source, uint32_t number,
    unsigned shared, unsigned matching)
{
	const struct matrix_term *term = matrix_get_term(source->matrix, number);
	double papers =
	    source->count ? source->papers : matrix_count_papers(source->matrix);
	struct recall_word word = {.text = term->text, .term = number};

	word.papers =
	    source->count ? source->count(source->data, term, shared) : term->papers;
	word.weight = get_weight(shared, matching, word.papers, papers);
	word.own_weight =
	    get_weight(shared - 1.0, matching - 1.0, word.papers - 1.0, papers - 1);
	word.order = word.weight * shared;
	if (word.weight > 0)
		g_array_append_val(recall->words, word);
}

static int
compare_words(const void *a, const void *b)
{
	const struct recall_word *first = a, *second = b;

	if (first->order != second->order)
		return first->order < second->order ? 1 : -1;
	return first->term < second->term ? -1 : first->term > second->term;
}

static void
select_words(GArray *words, double part)
{
	double rows = 0;
	guint chosen = 0;

	g_array_sort(words, compare_words);
	for (guint i = 0; i < words->len && chosen < RECALL_WORDS; i++) {
		struct recall_word word = g_array_index(words, struct recall_word, i);

		if (rows + word.papers * part > RECALL_ROWS)
			continue;
		rows += word.papers * part;
		g_array_index(words, struct recall_word, chosen++) = word;
	}
	g_array_set_size(words, chosen);
}

void
recall_choose_words(struct recall *recall, const struct query *query,
    const struct related_source *source, double part)
{
	g_autoptr(GHashTable) own = g_hash_table_new(g_str_hash, g_str_equal);
	unsigned terms = matrix_count_terms(source->matrix), matching = 0;
	g_autofree unsigned *shared = g_new0(unsigned, terms);

	collect_words(query->root, own);
	for (unsigned i = 0; i < matrix_count_papers(source->matrix); i++) {
		size_t count;
		const struct matrix_count *counts =
		    matrix_get_counts(source->matrix, i, &count);

		if (source->matches && !source->matches[i])
			continue;
		matching++;
		for (size_t j = 0; j < count; j++)
			shared[counts[j].term]++;
	}
	for (uint32_t i = 0; i < terms; i++) {
		const struct matrix_term *term = matrix_get_term(source->matrix, i);

		if (!term->is_pair && shared[i] >= RECALL_SHARED_MIN &&
		    !g_hash_table_contains(own, term->text))
			try_word(recall, source, i, shared[i], matching);
	}
	select_words(recall->words, part);
}

/* ---- papers ---- */

void
recall_add_paper(struct recall *recall, double score, bool matches)
{
	const struct score one = {score, matches};

	g_array_append_val(recall->scores, one);
}

void
recall_add_all(struct recall *recall, const struct query *query,
    const struct related_source *source)
{
	const struct matrix *matrix = source->matrix;
	g_autofree unsigned *numbers = g_new0(unsigned, matrix_count_terms(matrix));

	recall_choose_words(recall, query, source, 1);
	for (guint i = 0; i < recall->words->len; i++)
		numbers[g_array_index(recall->words, struct recall_word, i).term] =
		    i + 1;
	for (unsigned paper = 0; paper < matrix_count_papers(matrix); paper++) {
		bool matches = source->matches[paper];
		double score = 0;
		size_t count;
		const struct matrix_count *counts =
		    matrix_get_counts(matrix, paper, &count);

		for (size_t i = 0; i < count; i++) {
			unsigned number = numbers[counts[i].term];
			const struct recall_word *word;

			if (!number)
				continue;
			word = &g_array_index(
			    recall->words, struct recall_word, number - 1);
			score += matches ? word->own_weight : word->weight;
		}
		recall_add_paper(recall, score, matches);
	}
}

/* ---- the estimate ---- */

static int
compare_scores(const void *a, const void *b)
{
	const struct score *first = a, *second = b;

	return first->points < second->points   ? 1
	       : first->points > second->points ? -1
	                                        : 0;
}

/* Count the papers that match, among some with the highest scores; of those with the
 * same score, the same part. */
static double
count_matching(const GArray *scores, double papers, double matching, double wanted)
{
	double counted = 0, found = 0;
	guint i = 0;

	while (i < scores->len && counted < wanted) {
		double points = g_array_index(scores, struct score, i).points;
		double same = 0, same_found = 0;

		if (points <= 0)
			break;
		for (; i < scores->len &&
		       g_array_index(scores, struct score, i).points >= points;
		     i++) {
			same++;
			same_found += g_array_index(scores, struct score, i).matches;
		}
		papers -= same;
		matching -= same_found;
		found += same_found * MIN(1, (wanted - counted) / same);
		counted += same;
	}
	/* All others have none of the words. */
	if (counted < wanted && papers > 0)
		found += MAX(matching, 0) * (wanted - counted) / papers;
	return found;
}

double
recall_estimate(struct recall *recall, unsigned papers, unsigned matching)
{
	double subject = RECALL_SUBJECT * sqrt(sqrt(matching));

	if (matching < RECALL_MATCHING_MIN || !recall->words->len)
		return -1;
	subject = MIN(subject, papers / 2.0);
	g_array_sort(recall->scores, compare_scores);
	return MIN(
	    1, count_matching(recall->scores, papers, matching, subject) / subject);
}

double
recall_estimate_forms(unsigned matching, unsigned missed)
{
	return matching < RECALL_MATCHING_MIN ? -1
	                                      : matching / ((double)matching + missed);
}
