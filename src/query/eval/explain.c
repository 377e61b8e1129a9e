/*
 * explain.c - explains why a filter matches a paper, on one line or as a tree.
 */
#include "query/query.h"

#include <string.h>

#include "base/bounds.h"
#include "query/eval/evaluate.h"
#include "query/eval/highlight.h"
#include "query/parse/canonical.h"

static const char ellipsis[] = "…";

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

/* Message for the hits of a field; MSG_NONE: the hits alone. */
static const struct {
	enum msg_id id;
	enum msg_id one; /* for the number 1, or MSG_NONE */
} messages[] = {
    [QUERY_FIELD_TITLE] = {MSG_HIT_TITLE, MSG_NONE},
    [QUERY_FIELD_ABSTRACT] = {MSG_HIT_ABSTRACT, MSG_NONE},
    [QUERY_FIELD_AUTHOR] = {MSG_HIT_AUTHOR, MSG_NONE},
    [QUERY_FIELD_ORGANIZATION] = {MSG_HIT_ORGANIZATION, MSG_NONE},
    [QUERY_FIELD_KEYWORD] = {MSG_HIT_KEYWORD, MSG_NONE},
    [QUERY_FIELD_COMMENT] = {MSG_HIT_COMMENT, MSG_NONE},
    [QUERY_FIELD_JOURNAL] = {MSG_HIT_JOURNAL, MSG_NONE},
    [QUERY_FIELD_PRIMARY] = {MSG_HIT_PRIMARY, MSG_NONE},
    [QUERY_FIELD_CATEGORY] = {MSG_NONE, MSG_NONE},
    [QUERY_FIELD_SOURCE] = {MSG_HIT_SOURCE, MSG_NONE},
    [QUERY_FIELD_TYPE] = {MSG_HIT_TYPE, MSG_NONE},
    [QUERY_FIELD_DATE] = {MSG_HIT_DATE, MSG_NONE},
    [QUERY_FIELD_ID] = {MSG_HIT_ID, MSG_NONE},
    [QUERY_FIELD_DOI] = {MSG_HIT_DOI, MSG_NONE},
    [QUERY_FIELD_UPVOTES] = {MSG_HIT_UPVOTES_MANY, MSG_HIT_UPVOTES_ONE},
    [QUERY_FIELD_COMMENTS] = {MSG_HIT_COMMENTS_MANY, MSG_HIT_COMMENTS_ONE},
    [QUERY_FIELD_STARS] = {MSG_HIT_STARS_MANY, MSG_HIT_STARS_ONE},
    [QUERY_FIELD_AUTHORS] = {MSG_HIT_AUTHORS_MANY, MSG_HIT_AUTHORS_ONE},
    [QUERY_FIELD_HAS] = {MSG_NONE, MSG_NONE},
};

static bool
is_text(enum query_field field)
{
	return field == QUERY_FIELD_TITLE || field == QUERY_FIELD_ABSTRACT ||
	       (field >= QUERY_FIELD_ORGANIZATION && field <= QUERY_FIELD_JOURNAL);
}

static void
append_hit(GString *hits, const struct query_hit *hit)
{
	bool is_quoted =
	    is_text(hit->field) && !hit->is_near && strchr(hit->words, ' ');

	g_string_append_printf(hits, "%s%s%s%s", hits->len ? ", " : "",
	    is_quoted ? "\"" : "", hit->words, is_quoted ? "\"" : "");
}

/* Append all hits of a field and empty `hits`. */
static void
append_field(
    GString *out, GString *hits, enum query_field field, const char *const *texts)
{
	enum msg_id id = messages[field].id;
	g_autofree char *part = NULL;

	if (messages[field].one && strcmp(hits->str, "1") == 0)
		id = messages[field].one;
	if (id) {
		const char *const args[] = {"hits", hits->str, NULL};

		part = msg_fill(texts ? texts[id] : msg_get_english(id), args);
	}
	g_string_append_printf(
	    out, "%s%s", out->len ? "; " : "", part ? part : hits->str);
	g_string_truncate(hits, 0);
}

/* Cut at the last space that leaves room for the ellipsis. */
static void
cut_at_word(GString *out, glong limit_chars)
{
	const char *limit, *cut;

	if (g_utf8_strlen(out->str, -1) <= limit_chars)
		return;
	limit = g_utf8_offset_to_pointer(out->str, limit_chars - 2);
	cut = g_strrstr_len(out->str, limit + 1 - out->str, " ");
	g_string_truncate(out, (cut ? cut : limit) - out->str);
	g_string_append_printf(out, cut ? " %s" : "%s", ellipsis);
}

/* A word counts once in all texts; 3 votes and 3 authors are different. */
static char *
make_key(const struct query_hit *hit)
{
	unsigned field = is_text(hit->field)                 ? QUERY_FIELD_TITLE
	                 : hit->field == QUERY_FIELD_PRIMARY ? QUERY_FIELD_CATEGORY
	                                                     : (unsigned)hit->field;

	return g_strdup_printf("%u %s", field, hit->folded);
}

char *
query_explain_text(const struct query *query, const struct query_document *document,
    const char *const *texts)
{
	g_autoptr(GPtrArray) hits = query_explain(query, document);
	g_autoptr(GHashTable) reported =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(GString) part = g_string_new(NULL);
	enum query_field field = QUERY_FIELD_TITLE;
	GString *out = g_string_new(NULL);

	for (guint i = 0; i < hits->len; i++) {
		const struct query_hit *hit = g_ptr_array_index(hits, i);

		if (!g_hash_table_add(reported, make_key(hit)))
			continue;
		if (part->len && hit->field != field)
			append_field(out, part, field, texts);
		append_hit(part, hit);
		field = hit->field;
	}
	if (part->len)
		append_field(out, part, field, texts);
	cut_at_word(out, BOUNDS_QUERY_EXPLAIN_CHARS);
	return g_string_free(out, FALSE);
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
