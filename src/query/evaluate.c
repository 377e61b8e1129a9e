/*
 * evaluate.c - is this paper theirs: yes, no, or not known yet.
 */
#include "query/query.h"

#include "query/document.h"
#include "query/evaluate.h"

static bool
has_author(const struct query_document *document, const struct name *asked)
{
	for (guint i = 0; i < document->names->len; i++) {
		const struct name *name = g_ptr_array_index(document->names, i);

		if (name && name_is_match(asked, name))
			return true;
	}
	return false;
}

static enum query_truth
evaluate_number(const struct node *node, const struct query_document *document,
    enum query_mode mode)
{
	int64_t number = document_get_number(document, node->field->hit);

	if (mode == QUERY_MAY_CHANGE && node->field->changes)
		return QUERY_UNKNOWN;
	if (number == PAPER_UNKNOWN)
		return mode == QUERY_UNKNOWN_IS_FALSE ? QUERY_FALSE : QUERY_UNKNOWN;
	return number >= node->min && number <= node->max ? QUERY_TRUE : QUERY_FALSE;
}

/* The least of all operands' truths (AND), or the greatest (OR). */
static enum query_truth
evaluate_operands(const struct node *node, const struct query_document *document,
    enum query_mode mode)
{
	bool is_and = node->kind == NODE_AND;
	enum query_truth decisive = is_and ? QUERY_FALSE : QUERY_TRUE;
	enum query_truth truth = is_and ? QUERY_TRUE : QUERY_FALSE;

	for (guint i = 0; i < node->operands->len && truth != decisive; i++) {
		enum query_truth one =
		    node_evaluate(g_ptr_array_index(node->operands, i), document, mode);

		truth = is_and ? MIN(truth, one) : MAX(truth, one);
	}
	return truth;
}

enum query_truth
node_evaluate(const struct node *node, const struct query_document *document,
    enum query_mode mode)
{
	bool is_there = false;

	switch (node->kind) {
	case NODE_AND:
	case NODE_OR:
		return evaluate_operands(node, document, mode);
	case NODE_NOT:
		return QUERY_TRUE - node_evaluate(g_ptr_array_index(node->operands, 0),
		                        document, mode);
	case NODE_NUMBER:
		return evaluate_number(node, document, mode);
	case NODE_WORDS:
		is_there =
		    document_has_phrase(document, node->phrase, node->field->texts);
		break;
	case NODE_NAME:
		is_there = has_author(document, node->name);
		break;
	}
	return is_there ? QUERY_TRUE : QUERY_FALSE;
}

enum query_truth
query_evaluate(const struct query *query, const struct query_document *document,
    enum query_mode mode)
{
	return node_evaluate(query->root, document, mode);
}
