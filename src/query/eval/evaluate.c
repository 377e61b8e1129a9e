/*
 * evaluate.c - evaluates a filter for one paper.
 */
#include "query/query.h"

#include "base/bounds.h"
#include "query/eval/evaluate.h"
#include "query/eval/indexed_doc.h"

static bool
has_author(const struct query_document *document, const struct node *node)
{
	guint n = document->names->len;

	for (guint i = 0; i < (node->field->is_first ? MIN(n, 1) : n); i++) {
		const struct name *name = g_ptr_array_index(document->names, i);

		if (name && name_is_match(node->name, name))
			return true;
	}
	return false;
}

static bool
has_near(const struct query_document *document, const struct node *node)
{
	int places[BOUNDS_QUERY_TERMS];

	for (unsigned text = 0; text < DOCUMENT_TEXTS; text++) {
		if (!(node->field->texts & 1U << text))
			continue;
		for (guint i = 0; i < node->phrases->len; i++)
			places[i] = -1;
		if (document_find_near(document, node, text, places))
			return true;
	}
	return false;
}

/* Minimum of the operands' verdicts for AND, maximum for OR. */
static enum query_verdict
evaluate_operands(const struct node *node, const struct query_document *document,
    enum query_mode mode)
{
	bool is_and = node->kind == NODE_AND;
	enum query_verdict decisive = is_and ? QUERY_FALSE : QUERY_TRUE;
	enum query_verdict truth = is_and ? QUERY_TRUE : QUERY_FALSE;

	for (guint i = 0; i < node->operands->len && truth != decisive; i++) {
		enum query_verdict one =
		    node_evaluate(g_ptr_array_index(node->operands, i), document, mode);

		truth = is_and ? MIN(truth, one) : MAX(truth, one);
	}
	return truth;
}

enum query_verdict
node_evaluate(const struct node *node, const struct query_document *document,
    enum query_mode mode)
{
	switch (node->kind) {
	case NODE_AND:
	case NODE_OR:
		return evaluate_operands(node, document, mode);
	case NODE_NOT:
		return QUERY_TRUE - node_evaluate(g_ptr_array_index(node->operands, 0),
		                        document, mode);
	case NODE_WORDS:
		return document_has_phrase(document, node->phrase, node->field->texts)
		           ? QUERY_TRUE
		           : QUERY_FALSE;
	case NODE_NEAR:
		return has_near(document, node) ? QUERY_TRUE : QUERY_FALSE;
	case NODE_NAME:
		return has_author(document, node) ? QUERY_TRUE : QUERY_FALSE;
	case NODE_VALUE_WORDS:
		return doc_values_evaluate_words(document->doc_values, node);
	case NODE_VALUE:
		return doc_values_evaluate_value(document->doc_values, node);
	case NODE_NUMBER:
		return doc_values_evaluate_number(document->doc_values, node, mode);
	case NODE_DATE:
		return doc_values_evaluate_date(document->doc_values, node);
	}
	g_assert_not_reached();
}

enum query_verdict
query_evaluate(const struct query *query, const struct query_document *document,
    enum query_mode mode)
{
	return node_evaluate(query->root, document, mode);
}
