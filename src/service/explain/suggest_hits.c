/*
 * suggest_hits.c - the papers of a filter, and how frequent their words are.
 */
#include "service/explain/suggest_hits.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "query/text/acronym.h"
#include "service/match/search.h"
#include "store/paper/archive.h"

/* The filter's papers: those of these days, or all if they are few. */
#define HITS_DAYS 60
#define HITS_FEW  30

void
suggest_hits_init(struct suggest_hits *hits, struct store *store,
    const struct suggest_request *request, const struct query *query)
{
	*hits =
	    (struct suggest_hits){.store = store, .request = request, .query = query};
	hits->seqs = g_array_new(FALSE, FALSE, sizeof(int64_t));
	hits->own = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	hits->matrix = matrix_new(store_get_tokenizer(hits->store), true);
	hits->acronyms = g_ptr_array_new_with_free_func((GDestroyNotify)acronym_free);
	day_format(hits->request->now - HITS_DAYS * (int64_t)CLOCK_DAY_S, hits->oldest);
	day_format(
	    hits->request->now - SUGGEST_DAYS * (int64_t)CLOCK_DAY_S, hits->recent_day);
	hits->counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

void
suggest_hits_clear(struct suggest_hits *hits)
{
	g_array_unref(hits->seqs);
	g_hash_table_unref(hits->own);
	matrix_free(hits->matrix);
	g_ptr_array_unref(hits->acronyms);
	g_hash_table_unref(hits->counts);
	g_clear_error(&hits->problem);
}

/* ---- the filter's papers ---- */

static bool
add_hit(void *data, struct search_match *match, GError **error)
{
	struct suggest_hits *hits = data;

	(void)error;
	g_array_append_val(hits->seqs, match->seq);
	g_hash_table_add(hits->own, g_memdup2(&match->seq, sizeof(match->seq)));
	hits->recent += strcmp(match->day, hits->recent_day) >= 0;
	return true;
}

static bool
find_hits(struct suggest_hits *hits, GError **error)
{
	struct search_scope scope = {
	    .oldest_day = hits->oldest, .now = hits->request->now};
	struct archive_size size;

	hits->since = hits->oldest;
	if (!archive_load_size(hits->store, &size, error) ||
	    !archive_count_since(hits->store, hits->oldest, &hits->searched, error) ||
	    !search_foreach(
	        hits->store, hits->query, &scope, add_hit, hits, NULL, error))
		return false;
	hits->papers = size.papers;
	if (hits->seqs->len >= HITS_FEW) {
		hits->matching =
		    (unsigned)(hits->seqs->len * size.papers / MAX(hits->searched, 1));
		return true;
	}
	hits->since = scope.oldest_day = NULL;
	hits->searched = size.papers;
	hits->recent = 0;
	g_array_set_size(hits->seqs, 0);
	if (!search_foreach(
	        hits->store, hits->query, &scope, add_hit, hits, NULL, error))
		return false;
	hits->matching = hits->seqs->len;
	return true;
}

static bool
read_hits(struct suggest_hits *hits, GError **error)
{
	for (unsigned i = 0; i < MIN(hits->seqs->len, SUGGEST_HITS_SAMPLE); i++) {
		int64_t seq = g_array_index(hits->seqs, int64_t, i);
		g_autofree struct archive_text *text = NULL;
		g_autoptr(GPtrArray) defined = NULL;

		if (!archive_find_text(hits->store, seq, &text, error))
			return false;
		if (!text)
			continue;
		if (!matrix_add(hits->matrix, text->title, text->abstract, error))
			return false;
		defined = acronym_find(text->abstract);
		g_ptr_array_extend_and_steal(hits->acronyms, g_steal_pointer(&defined));
	}
	return true;
}

/* ---- frequencies ---- */

int64_t
suggest_hits_count_word(void *data, const char *folded)
{
	struct suggest_hits *hits = data;
	int64_t *known = g_hash_table_lookup(hits->counts, folded);
	int64_t papers = 0;

	if (known)
		return *known;
	if (!hits->problem)
		archive_count_class(hits->store, folded, &papers, &hits->problem);
	g_hash_table_insert(
	    hits->counts, g_strdup(folded), g_memdup2(&papers, sizeof(papers)));
	return papers;
}

/* About: between its papers here and those of its rarer word.  Counting takes longer
 * than all else, and the papers that it adds are counted later. */
static unsigned
estimate_pair(struct suggest_hits *hits, const char *text, unsigned at_least)
{
	g_auto(GStrv) words = g_strsplit(text, " ", 2);
	int64_t rarer = MIN(suggest_hits_count_word(hits, words[0]),
	    suggest_hits_count_word(hits, words[1]));

	return (unsigned)sqrt((double)rarer * at_least);
}

static unsigned
count_term(void *data, const struct matrix_term *term, unsigned at_least)
{
	struct suggest_hits *hits = data;

	if (term->papers < 2)
		return at_least;
	if (term->is_pair)
		return MAX(estimate_pair(hits, term->text, at_least), at_least);
	return MAX((unsigned)suggest_hits_count_word(hits, term->text), at_least);
}

struct related_source
suggest_hits_get_source(struct suggest_hits *hits)
{
	return (struct related_source){.matrix = hits->matrix,
	    .acronyms = hits->acronyms,
	    .papers = (unsigned)hits->papers,
	    .matching = MAX(hits->matching, matrix_count_papers(hits->matrix)),
	    .count = count_term,
	    .data = hits};
}

bool
suggest_hits_are_narrow(const struct suggest_hits *hits)
{
	return !hits->since;
}

/* How many times as often as all papers the filter finds those with a term. */
double
suggest_hits_get_lift(const struct suggest_hits *hits, double precision)
{
	return precision * (double)hits->papers / MAX(hits->matching, 1);
}

bool
suggest_hits_load(struct suggest_hits *hits, GError **error)
{
	return find_hits(hits, error) && read_hits(hits, error);
}
