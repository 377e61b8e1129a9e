/*
 * paper_cache.c - cache of papers.
 */
#include "store/paper/paper_cache.h"

#include <string.h>

#include "base/bounds.h"
#include "store/paper/papers.h"

struct paper_cache {
	struct store *store;
	GHashTable *papers; /* paper seq -> struct cached_paper * */
	struct hits_cache *hits;
	int64_t commit;  /* of another handle at the last check */
	int64_t version; /* papers_load_changes(), likewise */
};

struct cached_paper {
	struct paper *paper;
	int64_t version; /* likewise, when last read */
};

static void
cached_paper_free(void *data)
{
	struct cached_paper *cached_paper = data;

	paper_free(cached_paper->paper);
	g_free(cached_paper);
}

struct paper_cache *
paper_cache_new(struct store *store)
{
	struct paper_cache *paper_cache = g_new0(struct paper_cache, 1);

	paper_cache->store = store;
	paper_cache->commit = -1;
	paper_cache->hits = hits_cache_new();
	paper_cache->papers = g_hash_table_new_full(
	    g_int64_hash, g_int64_equal, g_free, cached_paper_free);
	return paper_cache;
}

void
paper_cache_free(struct paper_cache *paper_cache)
{
	if (!paper_cache)
		return;
	g_hash_table_unref(paper_cache->papers);
	hits_cache_free(paper_cache->hits);
	g_free(paper_cache);
}

struct hits_cache *
paper_cache_get_hits(const struct paper_cache *paper_cache)
{
	return paper_cache->hits;
}

bool
paper_cache_refresh(struct paper_cache *paper_cache, GError **error)
{
	/* On a server there is always another commit. */
	bool is_shared = store_is_shared(paper_cache->store);
	int64_t commit = -1;

	if (!is_shared && !store_load_other_commit(paper_cache->store, &commit, error))
		return false;
	if (!is_shared && commit == paper_cache->commit)
		return true;
	if (!papers_load_changes(paper_cache->store, &paper_cache->version, error))
		return false;
	paper_cache->commit = commit;
	return true;
}

/* @param a  or NULL; likewise b */
static bool
is_same_list(const GPtrArray *a, const GPtrArray *b)
{
	if (!a || !b)
		return a == b;
	if (a->len != b->len)
		return false;
	for (unsigned i = 0; i < a->len; i++)
		if (strcmp(a->pdata[i], b->pdata[i]) != 0)
			return false;
	return true;
}

/* Compare the fields shown in a digest and its attachments; it has its own numbers. */
static bool
is_same(const struct paper *a, const struct paper *b)
{
	return strcmp(a->id, b->id) == 0 && strcmp(a->title, b->title) == 0 &&
	       strcmp(a->abstract, b->abstract) == 0 && strcmp(a->url, b->url) == 0 &&
	       g_strcmp0(a->code_url, b->code_url) == 0 &&
	       g_strcmp0(a->project_url, b->project_url) == 0 &&
	       g_strcmp0(a->video_url, b->video_url) == 0 &&
	       g_strcmp0(a->summary, b->summary) == 0 &&
	       g_strcmp0(a->journal, b->journal) == 0 &&
	       g_strcmp0(a->doi, b->doi) == 0 && a->published_at == b->published_at &&
	       is_same_list(a->authors, b->authors) &&
	       is_same_list(a->categories, b->categories) &&
	       is_same_list(a->keywords, b->keywords);
}

struct paper *
paper_cache_get(struct paper_cache *paper_cache, int64_t seq, GError **error)
{
	struct cached_paper *cached_paper =
	    g_hash_table_lookup(paper_cache->papers, &seq);
	pb_auto(stored_paper) stored = NULL;

	if (cached_paper && cached_paper->version == paper_cache->version)
		return paper_share(cached_paper->paper);
	stored = papers_load(paper_cache->store, seq, error);
	if (!stored)
		return NULL;
	if (!cached_paper) {
		if (g_hash_table_size(paper_cache->papers) >= BOUNDS_CACHE_PAPERS)
			g_hash_table_remove_all(paper_cache->papers);
		cached_paper = g_new0(struct cached_paper, 1);
		g_hash_table_insert(
		    paper_cache->papers, g_memdup2(&seq, sizeof(seq)), cached_paper);
	}
	if (!cached_paper->paper || !is_same(cached_paper->paper, stored->paper)) {
		paper_free(cached_paper->paper);
		cached_paper->paper = g_steal_pointer(&stored->paper);
	}
	cached_paper->version = paper_cache->version;
	return paper_share(cached_paper->paper);
}
