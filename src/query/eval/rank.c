/*
 * rank.c - ranks the papers that match a filter.
 */
#include "query/eval/rank.h"

#include <math.h>

#include "query/eval/indexed_doc.h"
#include "query/parse/tree.h"

/* k1 of BM25F: the larger, the more further occurrences of a clause count. */
#define SATURATION 1.2

/* b of BM25F, 0 to 1: how much an occurrence counts less in a longer text. */
#define LENGTH_WEIGHT 0.75

/* Weight of an occurrence in the title; one in the abstract has 1. */
#define TITLE_WEIGHT 3.0

/* Part of the relevance that is added each time the votes of a paper double. */
#define VOTES_WEIGHT 0.1

/* Part of the score that a paper loses with age, 0 to 1. */
#define AGE_WEIGHT 0.5

/* Time in which half of that part is lost, days. */
#define HALF_LIFE 180.0

/* A clause that is not under a NOT. */
struct leaf {
	const struct node *node;
	double boost;
	double idf; /* of words; else 0 */
};

struct rank {
	const struct node *root;
	GArray *leaves; /* of struct leaf */
	double title_words;
	double abstract_words;
};

static bool
count_phrase(const struct phrase *phrase, const struct rank_corpus *corpus,
    int64_t *papers, GError **error)
{
	int64_t least = *papers;

	for (guint i = 0; i < phrase->words->len; i++) {
		bool is_prefix = phrase->is_prefix && i + 1 == phrase->words->len;
		int64_t count;

		if (!corpus->count(corpus->data, phrase_get_word(phrase, i)->key.text,
		        is_prefix, &count, error))
			return false;
		least = MIN(least, count);
	}
	*papers = least;
	return true;
}

static bool
add_leaf(struct rank *rank, const struct node *node, double boost,
    const struct rank_corpus *corpus, GError **error)
{
	struct leaf leaf = {.node = node, .boost = boost};
	int64_t papers = corpus->papers;

	if (node->kind == NODE_WORDS &&
	    !count_phrase(node->phrase, corpus, &papers, error))
		return false;
	for (guint i = 0; node->kind == NODE_NEAR && i < node->phrases->len; i++)
		if (!count_phrase(node->phrases->pdata[i], corpus, &papers, error))
			return false;
	if (node->kind == NODE_WORDS || node->kind == NODE_NEAR)
		leaf.idf = log(1 + ((double)(corpus->papers - papers) + 0.5) /
		                       ((double)papers + 0.5));
	g_array_append_val(rank->leaves, leaf);
	return true;
}

static bool
add_node(struct rank *rank, const struct node *node, double boost,
    const struct rank_corpus *corpus, GError **error)
{
	boost *= node->boost;
	if (node->kind == NODE_NOT)
		return true;
	for (guint i = 0; node->operands && i < node->operands->len; i++)
		if (!add_node(rank, node->operands->pdata[i], boost, corpus, error))
			return false;
	if (node->operands)
		return true;
	return add_leaf(rank, node, boost, corpus, error);
}

struct rank *
rank_new(const struct query *query, const struct rank_corpus *corpus, GError **error)
{
	pb_auto(rank) rank = g_new0(struct rank, 1);

	rank->root = query->root;
	rank->leaves = g_array_new(FALSE, FALSE, sizeof(struct leaf));
	rank->title_words = corpus->title_words;
	rank->abstract_words = corpus->abstract_words;
	return add_node(rank, query->root, 1, corpus, error) ? g_steal_pointer(&rank)
	                                                     : NULL;
}

void
rank_free(struct rank *rank)
{
	if (!rank)
		return;
	g_array_unref(rank->leaves);
	g_free(rank);
}

static unsigned
count_phrase_hits(
    const struct query_document *document, const struct phrase *phrase, unsigned text)
{
	unsigned count = 0;

	for (int at = -1; (at = text_field_find_phrase(
	                       &document->texts[text], phrase, at + 1)) >= 0;)
		count++;
	return count;
}

static unsigned
count_near_hits(
    const struct query_document *document, const struct node *node, unsigned text)
{
	g_autofree int *places = g_new(int, node->phrases->len);
	unsigned count = 0;

	for (guint i = 0; i < node->phrases->len; i++)
		places[i] = -1;
	while (document_find_near(document, node, text, places))
		count++;
	return count;
}

static bool
is_in_text(const struct leaf *leaf)
{
	return leaf->node->kind == NODE_WORDS || leaf->node->kind == NODE_NEAR;
}

/* Frequency of a clause in a text, normalised by its length. */
static double
normalize(unsigned hits, unsigned words, double mean)
{
	return hits /
	       (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * (mean > 0 ? words / mean : 1));
}

static double
compute_leaf(const struct rank *rank, const struct leaf *leaf,
    const struct rank_hits *hits, const unsigned words[2])
{
	double often;

	if (!is_in_text(leaf))
		return hits->texts[0] ? leaf->boost : 0;
	often = TITLE_WEIGHT * normalize(hits->texts[0], words[0], rank->title_words) +
	        normalize(hits->texts[1], words[1], rank->abstract_words);
	return leaf->boost * leaf->idf * (SATURATION + 1) * often /
	       (often + SATURATION);
}

/*
 * Sum the scores of the clauses below a node.
 *
 * @param leaf  index of its first clause; advanced past the last one
 * @return 0 if one operand of an AND below the root has none
 */
static double
compute_node(const struct rank *rank, const struct node *node,
    const struct rank_hits *hits, const unsigned words[2], guint *leaf)
{
	bool is_false = false;
	double sum = 0;

	if (!node->operands) {
		sum =
		    compute_leaf(rank, &g_array_index(rank->leaves, struct leaf, *leaf),
		        &hits[*leaf], words);
		++*leaf;
		return sum;
	}
	for (guint i = 0; i < node->operands->len; i++) {
		const struct node *operand = node->operands->pdata[i];
		double one;

		if (operand->kind == NODE_NOT)
			continue;
		one = compute_node(rank, operand, hits, words, leaf);
		is_false |= node->kind == NODE_AND && one <= 0;
		sum += one;
	}
	return is_false && node != rank->root ? 0 : sum;
}

double
rank_compute(
    const struct rank *rank, const struct rank_hits *hits, const unsigned words[2])
{
	guint leaf = 0;

	return compute_node(rank, rank->root, hits, words, &leaf);
}

static void
count_leaf(const struct leaf *leaf, const struct query_document *document,
    struct rank_hits *hits)
{
	if (!is_in_text(leaf)) {
		hits->texts[0] = node_evaluate(leaf->node, document,
		                     QUERY_AS_REPORTED) == QUERY_TRUE;
		return;
	}
	for (unsigned text = 0; text < DOCUMENT_TEXTS; text++)
		if (leaf->node->field->texts & 1U << text)
			hits->texts[text] =
			    leaf->node->kind == NODE_NEAR
			        ? count_near_hits(document, leaf->node, text)
			        : count_phrase_hits(document, leaf->node->phrase, text);
}

/*
 * Count the hits of the clauses below a node; those of an AND below the root that is
 * false stay 0.
 *
 * @param leaf  as for compute_node()
 */
static void
count_node(const struct rank *rank, const struct node *node,
    const struct query_document *document, bool is_true, struct rank_hits *hits,
    guint *leaf)
{
	if (!node->operands) {
		if (is_true)
			count_leaf(&g_array_index(rank->leaves, struct leaf, *leaf),
			    document, &hits[*leaf]);
		++*leaf;
		return;
	}
	if (is_true && node->kind == NODE_AND && node != rank->root)
		is_true =
		    node_evaluate(node, document, QUERY_AS_REPORTED) == QUERY_TRUE;
	for (guint i = 0; i < node->operands->len; i++) {
		const struct node *operand = node->operands->pdata[i];

		if (operand->kind != NODE_NOT)
			count_node(rank, operand, document, is_true, hits, leaf);
	}
}

double
rank_get_relevance(const struct rank *rank, const struct query_document *document)
{
	g_autofree struct rank_hits *hits = g_new0(struct rank_hits, rank->leaves->len);
	unsigned words[DOCUMENT_TEXTS];
	guint leaf = 0;

	for (unsigned text = 0; text < DOCUMENT_TEXTS; text++)
		words[text] = document->texts[text].tokens->len;
	count_node(rank, rank->root, document, true, hits, &leaf);
	return rank_compute(rank, hits, words);
}

double
rank_blend(double relevance, int64_t upvotes, int64_t age_days)
{
	double votes = 1 + VOTES_WEIGHT * log2(1 + (double)MAX(upvotes, 0));
	double age = 1 - AGE_WEIGHT + AGE_WEIGHT * exp2(-(double)age_days / HALF_LIFE);

	return relevance * votes * age;
}
