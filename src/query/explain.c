/*
 * explain.c - why a filter found a paper: for a reader, and as the whole tree.
 */
#include "query/query.h"

#include <string.h>

#include "base/bounds.h"
#include "query/evaluate.h"
#include "query/hit.h"

static const char ellipsis[] = "…";

/* What is false says nothing; nor does what is under a NOT. */
static void
add_hits(
    GPtrArray *hits, const struct node *node, const struct query_document *document)
{
	if (node->kind != NODE_AND && node->kind != NODE_OR) {
		hit_add_clause(hits, node, document);
		return;
	}
	if (node_evaluate(node, document, QUERY_AS_TOLD) == QUERY_FALSE)
		return;
	for (guint i = 0; i < node->operands->len; i++)
		add_hits(hits, g_ptr_array_index(node->operands, i), document);
}

GPtrArray *
query_explain(const struct query *query, const struct query_document *document)
{
	GPtrArray *hits = hit_new_list();

	add_hits(hits, query->root, document);
	hit_sort(hits);
	return hits;
}

/* How hits of a field are told: "by X, Y", "X in the title", "primary X". */
static const struct {
	const char *before; /* the first one */
	const char *one;    /* behind the last one */
	const char *many;   /* ... for every number but 1 */
} phrasings[] = {
    [QUERY_FIELD_TITLE] = {"", " in the title", NULL},
    [QUERY_FIELD_ABSTRACT] = {"", " in the abstract", NULL},
    [QUERY_FIELD_AUTHOR] = {"by ", "", NULL},
    [QUERY_FIELD_ORGANIZATION] = {"", " in the organization", NULL},
    [QUERY_FIELD_KEYWORD] = {"", " in the keywords", NULL},
    [QUERY_FIELD_COMMENT] = {"", " in the comment", NULL},
    [QUERY_FIELD_JOURNAL] = {"", " in the journal", NULL},
    [QUERY_FIELD_PRIMARY] = {"primary ", "", NULL},
    [QUERY_FIELD_CATEGORY] = {"", "", NULL},
    [QUERY_FIELD_SOURCE] = {"listed by ", "", NULL},
    [QUERY_FIELD_TYPE] = {"announced as ", "", NULL},
    [QUERY_FIELD_DATE] = {"listed on ", "", NULL},
    [QUERY_FIELD_ID] = {"id ", "", NULL},
    [QUERY_FIELD_DOI] = {"doi ", "", NULL},
    [QUERY_FIELD_UPVOTES] = {"", " vote", " votes"},
    [QUERY_FIELD_COMMENTS] = {"", " comment", " comments"},
    [QUERY_FIELD_STARS] = {"", " star", " stars"},
    [QUERY_FIELD_AUTHORS] = {"", " author", " authors"},
    [QUERY_FIELD_HAS] = {"", "", NULL},
};

static bool
is_text(enum query_field field)
{
	return field == QUERY_FIELD_TITLE || field == QUERY_FIELD_ABSTRACT ||
	       (field >= QUERY_FIELD_ORGANIZATION && field <= QUERY_FIELD_JOURNAL);
}

/* One hit; the first of a field begins its part. */
static void
append_hit(GString *out, const struct query_hit *hit, bool is_first)
{
	bool is_quoted =
	    is_text(hit->field) && !hit->is_near && strchr(hit->words, ' ');

	g_string_append(out, out->len == 0 ? "" : is_first ? "; " : ", ");
	g_string_append(out, is_first ? phrasings[hit->field].before : "");
	g_string_append(out, is_quoted ? "\"" : "");
	g_string_append(out, hit->words);
	g_string_append(out, is_quoted ? "\"" : "");
}

/* The last hit of a field ends its part. */
static void
append_field_end(GString *out, const struct query_hit *hit)
{
	bool is_many = phrasings[hit->field].many && strcmp(hit->words, "1") != 0;

	g_string_append(
	    out, is_many ? phrasings[hit->field].many : phrasings[hit->field].one);
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

/* Words are told once for all texts; 3 votes and 3 authors are two things. */
static char *
make_key(const struct query_hit *hit)
{
	unsigned field = is_text(hit->field)                 ? QUERY_FIELD_TITLE
	                 : hit->field == QUERY_FIELD_PRIMARY ? QUERY_FIELD_CATEGORY
	                                                     : (unsigned)hit->field;

	return g_strdup_printf("%u %s", field, hit->folded);
}

char *
query_explain_text(const struct query *query, const struct query_document *document)
{
	g_autoptr(GPtrArray) hits = query_explain(query, document);
	g_autoptr(GHashTable) told =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	const struct query_hit *before = NULL;
	GString *out = g_string_new(NULL);

	for (guint i = 0; i < hits->len; i++) {
		const struct query_hit *hit = g_ptr_array_index(hits, i);
		bool is_first = !before || before->field != hit->field;

		if (!g_hash_table_add(told, make_key(hit)))
			continue;
		if (before && is_first)
			append_field_end(out, before);
		append_hit(out, hit, is_first);
		before = hit;
	}
	if (before)
		append_field_end(out, before);
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

static void
free_step(void *data)
{
	query_step_free(data);
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
	step->truth = node_evaluate(node, document, QUERY_AS_TOLD);
	step->is_final =
	    node_evaluate(node, document, QUERY_MAY_CHANGE) != QUERY_UNKNOWN;
	step->hits = hit_new_list();
	hit_add_clause(step->hits, node, document);
	hit_sort(step->hits);
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
	GPtrArray *steps = g_ptr_array_new_with_free_func(free_step);

	add_steps(steps, query->root, 0, document);
	return steps;
}
