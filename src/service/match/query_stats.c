/*
 * query_stats.c - suggestions for a filter from statistics of the archive.
 */
#include "service/match/query_stats.h"

#include <string.h>

#include "query/parse/tree.h"
#include "query/text/stem.h"
#include "store/paper/archive.h"

/* Maximum number of long forms of an acronym, most frequent first. */
#define FORMS_MAX 2

/* State of a collection. */
struct query_stats {
	struct store *store;
	const struct query *query;
	const struct search_scope *scope;
	GPtrArray *notes;
	GHashTable *reported; /* words handled so far, char * */
};

static bool
count_others(void *data, struct search_match *match, GError **error)
{
	void **pair = data;
	const struct query *query = pair[0];

	if (!search_match_load(match, error))
		return false;
	if (query_evaluate(query, match->document, QUERY_AS_REPORTED) != QUERY_TRUE)
		++*(unsigned *)pair[1];
	return true;
}

/* Count papers in scope that have a long form but do not match the filter. */
static bool
add_long_form(const struct query_stats *query_stats, const struct archive_acronym *form,
    GError **error)
{
	g_autofree char *text = g_strconcat("\"", form->shown, "\"", NULL);
	pb_auto(query) query = query_parse(
	    text, store_get_tokenizer(query_stats->store), NULL, NULL, NULL);
	unsigned count = 0;
	void *pair[] = {(void *)query_stats->query, &count};

	if (!query)
		return true;
	if (!search_foreach(query_stats->store, query, query_stats->scope, count_others,
	        pair, NULL, error))
		return false;
	if (count)
		g_ptr_array_add(query_stats->notes,
		    msg_new(count == 1 ? MSG_NOTE_FORM_ONE : MSG_NOTE_FORM_MANY,
		        "count", MSG_INT(count), "form", text, NULL));
	return true;
}

static bool
add_forms(const struct query_stats *query_stats, const char *folded, GError **error)
{
	g_autoptr(GPtrArray) forms =
	    archive_load_acronyms(query_stats->store, folded, FORMS_MAX, error);

	if (!forms)
		return false;
	for (unsigned i = 0; i < forms->len; i++)
		if (!add_long_form(query_stats, forms->pdata[i], error))
			return false;
	return true;
}

static bool
add_unknown(const struct query_stats *query_stats, const char *folded, GError **error)
{
	g_autofree char *near = NULL, *near_folded = NULL;
	int64_t papers;

	if (!archive_find_nearest(query_stats->store, folded, &near, error))
		return false;
	if (!near) {
		g_ptr_array_add(query_stats->notes,
		    msg_new(MSG_NOTE_UNKNOWN, "word", folded, NULL));
		return true;
	}
	near_folded = stem_plural(near, strlen(near));
	if (!archive_count_papers(query_stats->store, near_folded, &papers, error))
		return false;
	g_ptr_array_add(
	    query_stats->notes, msg_new(MSG_NOTE_UNKNOWN_NEAR, "word", folded, "near",
	                            near, "count", MSG_INT(papers), NULL));
	return true;
}

static bool
add_phrase(struct query_stats *query_stats, const struct phrase *phrase, GError **error)
{
	for (guint i = 0; i < phrase->words->len; i++) {
		const char *text = phrase_get_word(phrase, i)->key.text;
		bool is_prefix = phrase->is_prefix && i + 1 == phrase->words->len;
		int64_t papers;

		if (!g_hash_table_add(query_stats->reported,
		        g_strdup_printf("%s%s", text, is_prefix ? "*" : "")))
			continue;
		if (is_prefix ? !archive_count_prefix(
		                    query_stats->store, text, &papers, error)
		              : !archive_count_class(
		                    query_stats->store, text, &papers, error))
			return false;
		if (!papers && is_prefix)
			g_ptr_array_add(query_stats->notes,
			    msg_new(MSG_NOTE_PREFIX, "word", text, NULL));
		if (!papers && !is_prefix && !add_unknown(query_stats, text, error))
			return false;
		if (!is_prefix && phrase->words->len == 1 &&
		    !add_forms(query_stats, text, error))
			return false;
	}
	return true;
}

/* Words under a NOT need no suggestions. */
static bool
add_node(struct query_stats *query_stats, const struct node *node, GError **error)
{
	GPtrArray *phrases = node->kind == NODE_NEAR ? node->phrases : NULL;

	if (node->kind == NODE_WORDS)
		return add_phrase(query_stats, node->phrase, error);
	for (guint i = 0; phrases && i < phrases->len; i++)
		if (!add_phrase(query_stats, phrases->pdata[i], error))
			return false;
	if (node->kind != NODE_AND && node->kind != NODE_OR)
		return true;
	for (guint i = 0; i < node->operands->len; i++)
		if (!add_node(query_stats, node->operands->pdata[i], error))
			return false;
	return true;
}

bool
query_stats_add(struct store *store, const struct query *query,
    const struct search_scope *scope, GPtrArray *notes, GError **error)
{
	g_autoptr(GHashTable) reported =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	struct query_stats query_stats = {store, query, scope, notes, reported};
	int64_t papers;

	/* In an empty archive every word is unknown. */
	return store_load_count(store, "paper", &papers, error) &&
	       (!papers || add_node(&query_stats, query->root, error));
}
