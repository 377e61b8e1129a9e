/*
 * explain.c - where a filter hit a paper, for highlighting and for a reader.
 */
#include "query/query.h"

#include <inttypes.h>
#include <string.h>

#include "base/bounds.h"
#include "query/document.h"
#include "query/evaluate.h"

static const char ellipsis[] = "…";

void
query_hit_free(struct query_hit *hit)
{
	if (!hit)
		return;
	g_free(hit->words);
	g_free(hit->folded);
	g_free(hit);
}

static void
free_hit(void *data)
{
	query_hit_free(data);
}

static void
add_words_hit(GPtrArray *hits, const struct query_document *document,
    const struct phrase *phrase, unsigned text, int at)
{
	const struct phrase_word *last =
	    phrase_get_word(phrase, phrase->words->len - 1);
	struct query_hit *hit = g_new0(struct query_hit, 1);
	GString *folded = g_string_new(NULL);

	for (guint i = 0; i < phrase->words->len; i++) {
		const struct document_token *token =
		    document_get_token(document, text, at + (int)i);

		if (i == 0)
			hit->start = token->start;
		else
			g_string_append_c(folded, ' ');
		hit->end = token->end;
		g_string_append(folded, token->word->key.text);
	}
	if (last->signs) {
		hit->end += strlen(last->signs);
		g_string_append(folded, last->signs);
	}
	hit->field = (enum query_field)text;
	hit->words =
	    g_strndup(document->texts[text] + hit->start, hit->end - hit->start);
	hit->folded = g_string_free(folded, FALSE);
	g_ptr_array_add(hits, hit);
}

static void
add_words(
    GPtrArray *hits, const struct node *node, const struct query_document *document)
{
	for (unsigned text = 0; text < DOCUMENT_TEXTS; text++) {
		int at = 0;

		if (!(node->field->texts & 1U << text))
			continue;
		while ((at = document_find_phrase(document, node->phrase, text, at)) >=
		       0) {
			add_words_hit(hits, document, node->phrase, text, at);
			at++;
		}
	}
}

static void
add_authors(
    GPtrArray *hits, const struct node *node, const struct query_document *document)
{
	for (guint i = 0; i < document->names->len; i++) {
		const struct name *name = g_ptr_array_index(document->names, i);
		const char *author = g_ptr_array_index(document->authors, i);
		struct query_hit *hit;

		if (!name || !name_is_match(node->name, name))
			continue;
		hit = g_new0(struct query_hit, 1);
		hit->field = QUERY_FIELD_AUTHOR;
		hit->item = i;
		hit->end = strlen(author);
		hit->words = g_strdup(author);
		hit->folded = g_utf8_casefold(author, -1);
		g_ptr_array_add(hits, hit);
	}
}

static void
add_number(
    GPtrArray *hits, const struct node *node, const struct query_document *document)
{
	struct query_hit *hit = g_new0(struct query_hit, 1);

	hit->field = node->field->hit;
	hit->words = g_strdup_printf(
	    "%" PRId64, document_get_number(document, node->field->hit));
	hit->folded = g_strdup(hit->words);
	g_ptr_array_add(hits, hit);
}

/* What is false, or not known yet, says nothing; nor does what is under a NOT. */
static void
add_hits(
    GPtrArray *hits, const struct node *node, const struct query_document *document)
{
	enum query_truth truth = node_evaluate(node, document, QUERY_AS_TOLD);

	if (truth == QUERY_FALSE)
		return;
	switch (node->kind) {
	case NODE_AND:
	case NODE_OR:
		for (guint i = 0; i < node->operands->len; i++)
			add_hits(hits, g_ptr_array_index(node->operands, i), document);
		break;
	case NODE_NOT:
		break;
	case NODE_WORDS:
		add_words(hits, node, document);
		break;
	case NODE_NAME:
		add_authors(hits, node, document);
		break;
	case NODE_NUMBER:
		if (truth == QUERY_TRUE)
			add_number(hits, node, document);
		break;
	}
}

static int
compare_places(const struct query_hit *a, const struct query_hit *b)
{
	if (a->field != b->field)
		return a->field < b->field ? -1 : 1;
	if (a->item != b->item)
		return a->item < b->item ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	/* The longer one first: a phrase before its first word. */
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return 0;
}

static int
compare_hits(const void *a, const void *b)
{
	return compare_places(
	    *(const struct query_hit *const *)a, *(const struct query_hit *const *)b);
}

GPtrArray *
query_explain(const struct query *query, const struct query_document *document)
{
	GPtrArray *hits = g_ptr_array_new_with_free_func(free_hit);
	guint at = 1;

	add_hits(hits, query->root, document);
	g_ptr_array_sort(hits, compare_hits);
	while (at < hits->len) {
		if (compare_places(g_ptr_array_index(hits, at - 1),
		        g_ptr_array_index(hits, at)) == 0)
			g_ptr_array_remove_index(hits, at);
		else
			at++;
	}
	return hits;
}

static void
append_words(GString *out, const struct query_hit *hit)
{
	bool is_quoted = strchr(hit->words, ' ') != NULL;

	g_string_append_printf(out, is_quoted ? "\"%s\"" : "%s", hit->words);
}

/* One hit; the first of a field begins its part, the last one ends it. */
static void
append_hit(GString *out, const struct query_hit *hit, bool is_first)
{
	const char *separator = out->len == 0 ? "" : is_first ? "; " : ", ";

	g_string_append(out, separator);
	switch (hit->field) {
	case QUERY_FIELD_TITLE:
	case QUERY_FIELD_ABSTRACT:
		append_words(out, hit);
		break;
	case QUERY_FIELD_AUTHOR:
		g_string_append_printf(out, "%s%s", is_first ? "by " : "", hit->words);
		break;
	case QUERY_FIELD_UPVOTES:
		g_string_append_printf(out, "%s %s", hit->words,
		    strcmp(hit->words, "1") == 0 ? "vote" : "votes");
		break;
	}
}

static void
append_field_end(GString *out, enum query_field field)
{
	switch (field) {
	case QUERY_FIELD_TITLE:
		g_string_append(out, " in the title");
		break;
	case QUERY_FIELD_ABSTRACT:
		g_string_append(out, " in the abstract");
		break;
	case QUERY_FIELD_AUTHOR:
	case QUERY_FIELD_UPVOTES:
		break;
	}
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

char *
query_explain_text(const struct query *query, const struct query_document *document)
{
	g_autoptr(GPtrArray) hits = query_explain(query, document);
	g_autoptr(GHashTable) told = g_hash_table_new(g_str_hash, g_str_equal);
	const struct query_hit *before = NULL;
	GString *out = g_string_new(NULL);

	for (guint i = 0; i < hits->len; i++) {
		const struct query_hit *hit = g_ptr_array_index(hits, i);
		bool is_first = !before || before->field != hit->field;

		if (!g_hash_table_add(told, hit->folded))
			continue;
		if (before && is_first)
			append_field_end(out, before->field);
		append_hit(out, hit, is_first);
		before = hit;
	}
	if (before)
		append_field_end(out, before->field);
	cut_at_word(out, BOUNDS_QUERY_EXPLAIN_CHARS);
	return g_string_free(out, FALSE);
}
