/*
 * query_stats.c - suggestions for a filter from statistics of the archive.
 */
#include "service/match/query_stats.h"

#include <string.h>

#include "base/bigram.h"
#include "message/sanitize.h"
#include "query/parse/canonical.h"
#include "query/parse/widen.h"
#include "query/text/stem.h"
#include "query/text/tokens.h"
#include "store/paper/archive.h"
#include "store/paper/papers.h"

/* Maximum number of alternatives to a clause, those that most papers define first. */
#define FORMS_MAX 2

/* Maximum length of the title of a further paper. */
#define TITLE_CHARS 60

/* Papers in which the spelling of a short form is looked for. */
#define SHOWN_IN_MAX 10

/* State of a collection. */
struct query_stats {
	struct store *store;
	const struct query *query;
	const struct search_scope *scope;
	const GArray *found; /* int64_t: matches of the query, newest first */
	GPtrArray *notes;
	GHashTable *reported; /* words handled so far, char * */
};

/* Papers that a changed query finds and the query does not. */
struct gain {
	const struct tokenizer *tokenizer;
	GArray *found;      /* as in struct query_stats */
	const char *folded; /* a short form, of one word; or NULL */
	unsigned papers;
	char *title; /* of the latest one */
	char *shown; /* the short form as that paper writes it; or NULL */
};

static void
gain_clear(struct gain *gain)
{
	g_free(gain->title);
	g_free(gain->shown);
}

/* Find a word as a text writes it, in the singular. */
static char *
find_word(const struct tokenizer *tokenizer, const char *text, const char *folded)
{
	g_autoptr(GArray) tokens = tokens_split(tokenizer, text, strlen(text));

	for (unsigned i = 0; tokens && i < tokens->len; i++) {
		struct token *token = &g_array_index(tokens, struct token, i);
		g_autofree char *singular =
		    stem_plural(token->text, strlen(token->text));
		size_t plural = strlen(token->text) - strlen(singular);

		if (g_str_equal(singular, folded))
			return g_strndup(
			    text + token->start, token->end - token->start - plural);
	}
	return NULL;
}

static int
compare_seqs(const void *a, const void *b)
{
	const int64_t *left = a, *right = b;

	return (*left < *right) - (*left > *right);
}

static bool
count_gain(void *data, struct search_match *match, GError **error)
{
	struct gain *gain = data;
	bool wants_form = gain->folded && !gain->shown && gain->papers < SHOWN_IN_MAX;
	const struct paper *paper;

	if (g_array_binary_search(gain->found, &match->seq, compare_seqs, NULL))
		return true;
	gain->papers++;
	if (gain->title && !wants_form)
		return true;
	if (!search_match_load(match, error))
		return false;
	paper = match->stored->paper;
	if (!gain->title)
		gain->title = sanitize_paper_text(paper->title, TITLE_CHARS);
	if (wants_form)
		gain->shown = find_word(gain->tokenizer, paper->title, gain->folded);
	if (wants_form && !gain->shown)
		gain->shown = find_word(gain->tokenizer, paper->abstract, gain->folded);
	return true;
}

/* Count the papers that an alternative to a clause adds. @param text  unquoted */
static bool
add_alternative(const struct query_stats *query_stats, const struct node *clause,
    const char *text, bool is_short, GError **error)
{
	struct store *store = query_stats->store;
	bool is_word = is_short && !strchr(text, ' ');
	g_autofree char *quoted = g_strdup_printf(is_word ? "%s" : "\"%s\"", text);
	pb_auto(query) gained = query_replace(
	    query_stats->query, clause, clause, quoted, store_get_tokenizer(store));
	g_autoptr(GString) form = g_string_new(NULL);
	pb_local(gain) gain = {.tokenizer = store_get_tokenizer(store),
	    .found = (GArray *)query_stats->found,
	    .folded = is_word ? text : NULL};
	unsigned step;

	if (!gained)
		return true;
	if (!search_foreach(
	        store, gained, query_stats->scope, count_gain, &gain, &step, error))
		return false;
	if (!gain.papers)
		return true;
	gain.papers *= step;
	node_append_clause(clause, form);
	g_string_append(form, CANONICAL_OR);
	node_append_field(clause, form);
	g_string_append(form, gain.shown ? gain.shown : quoted);
	g_ptr_array_add(query_stats->notes,
	    msg_new_count(PL_("1 more paper with {form}: {title}",
	                      "{count} more papers with {form}, the latest: {title}"),
	        gain.papers, "form", form->str, "title", gain.title, NULL));
	return true;
}

/* Add notes on the long forms of an acronym, or on the acronyms of a phrase. */
static bool
add_alternatives(
    const struct query_stats *query_stats, const struct node *clause, GError **error)
{
	const struct phrase *phrase = clause->phrase;
	/* Look for the acronyms of a phrase; else for the long forms of a word. */
	bool is_short = phrase->words->len > 1;
	g_autofree char *folded = phrase_join(phrase);
	g_autoptr(GPtrArray) forms = NULL;

	if (phrase->is_prefix || !query_stats->scope)
		return true;
	forms = archive_load_forms(query_stats->store, folded, FORMS_MAX, error);
	if (!forms)
		return false;
	for (unsigned i = 0; i < forms->len; i++) {
		const struct archive_acronym *form = forms->pdata[i];

		if (!add_alternative(query_stats, clause, form->shown, is_short, error))
			return false;
	}
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
		    msg_new(N_("{word}: in no paper"), "word", folded, NULL));
		return true;
	}
	near_folded = stem_plural(near, strlen(near));
	if (!archive_count_papers(query_stats->store, near_folded, &papers, error))
		return false;
	g_ptr_array_add(query_stats->notes,
	    msg_new(N_("{word}: in no paper; {near} is in {count}"), "word", folded,
	        "near", near, "count", MSG_INT(papers), NULL));
	return true;
}

static bool
add_phrase(struct query_stats *query_stats, const struct phrase *phrase, GError **error)
{
	for (guint i = 0; i < phrase->words->len; i++) {
		const char *text = phrase_get_word(phrase, i)->key.text;
		bool is_prefix = phrase->is_prefix && i + 1 == phrase->words->len;
		int64_t papers;

		/* Pairs of a longer run are mostly not words. */
		if (bigram_is_at(text, -1) && phrase->words->len > 1)
			continue;
		if (!g_hash_table_add(query_stats->reported,
		        g_strdup_printf("%s%s", text, is_prefix ? "*" : "")))
			continue;
		if (is_prefix ? !archive_count_prefix(
		                    query_stats->store, text, &papers, error)
		              : !archive_count_class(
		                    query_stats->store, text, &papers, error))
			return false;
		if (!papers && is_prefix && !phrase_get_word(phrase, i)->is_char)
			g_ptr_array_add(query_stats->notes,
			    msg_new(N_("{word}*: no word starts with this"), "word",
			        text, NULL));
		else if (!papers && !add_unknown(query_stats, text, error))
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
		return add_phrase(query_stats, node->phrase, error) &&
		       add_alternatives(query_stats, node, error);
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
    const struct search_scope *scope, const GArray *found, GPtrArray *notes,
    GError **error)
{
	g_autoptr(GHashTable) reported =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	struct query_stats query_stats = {store, query, scope, found, notes, reported};
	int64_t newest;

	/* In an empty archive every word is unknown. */
	return papers_load_newest_revision(store, &newest, error) &&
	       (!newest || add_node(&query_stats, query->root, error));
}
