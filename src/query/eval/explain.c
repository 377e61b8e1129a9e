/*
 * explain.c - explains why a filter matches a paper, on one line or as a tree.
 */
#include "query/query.h"

#include <string.h>

#include "base/bounds.h"
#include "query/eval/evaluate.h"
#include "query/eval/highlight.h"
#include "query/parse/canonical.h"

/* False parts have no hits, nor have parts under a NOT. */
static void
add_hits(
    GPtrArray *hits, const struct node *node, const struct query_document *document)
{
	if (node->kind != NODE_AND && node->kind != NODE_OR) {
		highlight_add_clause(hits, node, document);
		return;
	}
	if (node_evaluate(node, document, QUERY_AS_REPORTED) == QUERY_FALSE)
		return;
	for (guint i = 0; i < node->operands->len; i++)
		add_hits(hits, g_ptr_array_index(node->operands, i), document);
}

GPtrArray *
query_explain(const struct query *query, const struct query_document *document)
{
	GPtrArray *hits = highlight_new_list();

	add_hits(hits, query->root, document);
	highlight_sort(hits);
	return hits;
}

/* Likewise in the summary, which filters do not ask for. */
static void
add_summary_hits(
    GPtrArray *hits, const struct node *node, const struct query_document *document)
{
	if (node_evaluate(node, document, QUERY_AS_REPORTED) != QUERY_TRUE)
		return;
	if (node->kind == NODE_AND || node->kind == NODE_OR)
		for (guint i = 0; i < node->operands->len; i++)
			add_summary_hits(
			    hits, g_ptr_array_index(node->operands, i), document);
	else
		highlight_add_summary(hits, node, document);
}

struct hit_list {
	GPtrArray *hits;     /* of struct hit * */
	GPtrArray *repeated; /* likewise */
	GArray *words;       /* of struct listed_word */
	size_t chars, repeated_chars;
};

/* A word, or a form of it, that the list has; few of them, so that a scan is fast. */
struct listed_word {
	unsigned kind;
	const char *text; /* borrowed */
};

/* @return false if the list has it */
static bool
add_listed(struct hit_list *list, unsigned kind, const char *text)
{
	const struct listed_word added = {kind, text};

	for (guint i = 0; i < list->words->len; i++) {
		const struct listed_word *word =
		    &g_array_index(list->words, struct listed_word, i);

		if (word->kind == kind && strcmp(word->text, text) == 0)
			return false;
	}
	g_array_append_val(list->words, added);
	return true;
}

/* A word counts once in all texts; 3 votes and 3 authors are different. */
static bool
add_listed_word(struct hit_list *list, const struct query_hit *hit)
{
	unsigned field = hit_field_is_text(hit->field)     ? HIT_FIELD_TITLE
	                 : hit->field == HIT_FIELD_PRIMARY ? HIT_FIELD_CATEGORY
	                                                   : (unsigned)hit->field;

	return add_listed(list, field, hit->folded);
}

/* Marking needs each form of a word once per text. */
static bool
add_listed_form(struct hit_list *list, enum hit_field field, const char *words)
{
	return add_listed(list, HIT_FIELDS + (unsigned)field, words);
}

static void
add_hit(
    struct hit_list *list, enum hit_field field, bool is_repeated, const char *words)
{
	size_t *chars = is_repeated ? &list->repeated_chars : &list->chars;

	if (*chars > BOUNDS_QUERY_EXPLAIN_CHARS)
		return;
	if (is_repeated && !add_listed_form(list, field, words))
		return;
	*chars += (size_t)g_utf8_strlen(words, -1);
	g_ptr_array_add(is_repeated ? list->repeated : list->hits,
	    hit_new(field, is_repeated, words));
}

static void
add_document_hits(struct hit_list *list, const GPtrArray *hits)
{
	for (guint i = 0; i < hits->len; i++) {
		const struct query_hit *hit = g_ptr_array_index(hits, i);
		const char *words = hit->phrases ? hit->phrases : hit->words;
		bool is_repeated = !add_listed_word(list, hit);

		if (!is_repeated)
			add_listed_form(list, hit->field, words);
		if (!is_repeated || hit->field <= HIT_FIELD_ABSTRACT)
			add_hit(list, hit->field, is_repeated, words);
	}
}

GPtrArray *
query_list_hits(const struct query *query, const struct query_document *document)
{
	g_autoptr(GPtrArray) found = query_explain(query, document);
	g_autoptr(GPtrArray) summary = highlight_new_list();
	g_autoptr(GArray) words = g_array_new(FALSE, FALSE, sizeof(struct listed_word));
	struct hit_list list = {
	    .hits = hits_new(), .repeated = hits_new(), .words = words};

	add_document_hits(&list, found);
	add_summary_hits(summary, query->root, document);
	for (guint i = 0; i < summary->len; i++)
		add_hit(&list, HIT_FIELD_ABSTRACT, true,
		    ((const struct query_hit *)g_ptr_array_index(summary, i))->words);
	g_ptr_array_extend_and_steal(list.hits, list.repeated);
	return list.hits;
}

char *
query_explain_text(const struct query *query, const struct query_document *document,
    const char *const *texts)
{
	g_autoptr(GPtrArray) hits = query_list_hits(query, document);

	return hits_format(hits, texts);
}

void
query_step_free(struct query_step *step)
{
	if (!step)
		return;
	g_free(step->text);
	g_ptr_array_unref(step->hits);
	g_free(step);
}

static struct query_step *
make_step(
    const struct node *node, unsigned depth, const struct query_document *document)
{
	static const char *const names[] = {"AND", "OR", "NOT"};
	struct query_step *step = g_new0(struct query_step, 1);
	GString *text = g_string_new(NULL);

	step->kind = node->kind <= NODE_NOT ? (enum query_step_kind)node->kind
	                                    : QUERY_STEP_CLAUSE;
	step->depth = depth;
	step->boost = node->boost;
	if (step->kind == QUERY_STEP_CLAUSE)
		node_append_clause(node, text);
	else
		g_string_append(text, names[step->kind]);
	step->text = g_string_free(text, FALSE);
	step->truth = node_evaluate(node, document, QUERY_AS_REPORTED);
	step->is_final =
	    node_evaluate(node, document, QUERY_MAY_CHANGE) != QUERY_UNKNOWN;
	step->hits = highlight_new_list();
	highlight_add_clause(step->hits, node, document);
	highlight_sort(step->hits);
	return step;
}

static void
add_steps(GPtrArray *steps, const struct node *node, unsigned depth,
    const struct query_document *document)
{
	g_ptr_array_add(steps, make_step(node, depth, document));
	for (guint i = 0; node->operands && i < node->operands->len; i++)
		add_steps(
		    steps, g_ptr_array_index(node->operands, i), depth + 1, document);
}

GPtrArray *
query_explain_tree(const struct query *query, const struct query_document *document)
{
	GPtrArray *steps =
	    g_ptr_array_new_with_free_func((GDestroyNotify)query_step_free);

	add_steps(steps, query->root, 0, document);
	return steps;
}
