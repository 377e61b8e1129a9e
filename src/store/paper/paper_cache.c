/*
 * paper_cache.c - cache of papers.
 */
#include "store/paper/paper_cache.h"

#include "base/bounds.h"
#include "store/paper/papers.h"

struct paper_cache {
	struct store *store;
	GHashTable *papers; /* seq -> struct paper * */
	guint limit;        /* number of papers before those not in use are forgotten */
	int64_t changes;    /* papers_load_changes() of the papers */
};

static void
free_paper(void *paper)
{
	paper_free(paper);
}

struct paper_cache *
paper_cache_new(struct store *store)
{
	struct paper_cache *paper_cache = g_new0(struct paper_cache, 1);

	paper_cache->store = store;
	paper_cache->limit = BOUNDS_CACHE_PAPERS;
	paper_cache->papers =
	    g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_paper);
	return paper_cache;
}

void
paper_cache_free(struct paper_cache *paper_cache)
{
	if (!paper_cache)
		return;
	g_hash_table_unref(paper_cache->papers);
	g_free(paper_cache);
}

bool
paper_cache_refresh(struct paper_cache *paper_cache, GError **error)
{
	int64_t changes;

	if (!papers_load_changes(paper_cache->store, &changes, error))
		return false;
	if (changes != paper_cache->changes)
		g_hash_table_remove_all(paper_cache->papers);
	paper_cache->changes = changes;
	return true;
}

static gboolean
is_unused(void *seq, void *paper, void *data)
{
	(void)seq;
	(void)data;
	return g_atomic_int_get(&((struct paper *)paper)->shares) == 0;
}

/* Forget the papers that no digest has: forgetting others would free nothing, and the
 * next digest would have a copy. */
static void
forget_unused(struct paper_cache *paper_cache)
{
	GHashTable *papers = paper_cache->papers;

	g_hash_table_foreach_remove(papers, is_unused, NULL);
	paper_cache->limit = g_hash_table_size(papers) + BOUNDS_CACHE_PAPERS;
}

struct paper *
paper_cache_get(struct paper_cache *paper_cache, int64_t seq, GError **error)
{
	struct paper *paper = g_hash_table_lookup(paper_cache->papers, &seq);
	pb_auto(stored_paper) stored = NULL;

	if (paper)
		return paper_share(paper);
	stored = papers_load(paper_cache->store, seq, error);
	if (!stored)
		return NULL;
	if (g_hash_table_size(paper_cache->papers) >= paper_cache->limit)
		forget_unused(paper_cache);
	paper = g_steal_pointer(&stored->paper);
	g_hash_table_insert(paper_cache->papers, g_memdup2(&seq, sizeof(seq)), paper);
	return paper_share(paper);
}
