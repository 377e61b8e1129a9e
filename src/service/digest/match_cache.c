/*
 * match_cache.c - the papers that filters match, with scores and hits.
 */
#include "service/digest/match_cache.h"

#include <string.h>

/* About what the table of the blocks needs for each. */
#define ENTRY_BYTES 32

/* Ids from here on have blocks only, so that the bits need at most 2 MB. */
#define EMPTY_IDS_MAX (1 << 24)

struct match {
	const struct listed_paper *paper;
	double score;
	size_t hits; /* offset; 0: score and hits are not known */
};

struct match_block {
	struct lru_entry entry;
	char *hits; /* texts; the first byte is not used */
	size_t hits_bytes, hits_size;
	size_t count;
	struct match matches[]; /* in the order of listed_paper_compare() */
};

static void
free_block(void *data)
{
	struct match_block *block = data;

	g_free(block->hits);
	g_free(block);
}

void
match_cache_init(struct match_cache *cache, size_t max_bytes)
{
	lru_init(&cache->filters, max_bytes, free_block);
	cache->empty = g_byte_array_new();
}

void
match_cache_clear(struct match_cache *cache)
{
	lru_clear(&cache->filters);
	g_byte_array_unref(cache->empty);
}

static bool
is_empty(const struct match_cache *cache, int64_t filter_id)
{
	return filter_id / 8 < (int64_t)cache->empty->len &&
	       cache->empty->data[filter_id / 8] >> filter_id % 8 & 1;
}

static void
set_empty(struct match_cache *cache, int64_t filter_id)
{
	guint before = cache->empty->len, size = (guint)(filter_id / 8) + 1;

	if (size > before) {
		g_byte_array_set_size(cache->empty, size);
		memset(cache->empty->data + before, 0, size - before);
	}
	cache->empty->data[filter_id / 8] |= (guint8)(1 << filter_id % 8);
}

static int
compare_matches(gconstpointer a, gconstpointer b)
{
	const struct match *one = a, *other = b;

	return listed_paper_compare(one->paper, other->paper);
}

void
match_cache_insert(
    struct match_cache *cache, int64_t filter_id, const GPtrArray *papers)
{
	size_t size = sizeof(struct match_block) + papers->len * sizeof(struct match);
	struct match_block *block;

	if (!papers->len && filter_id < EMPTY_IDS_MAX) {
		set_empty(cache, filter_id);
		return;
	}
	block = g_malloc0(size);
	block->count = papers->len;
	for (unsigned i = 0; i < papers->len; i++)
		block->matches[i].paper = papers->pdata[i];
	qsort(block->matches, block->count, sizeof(*block->matches), compare_matches);
	lru_insert(&cache->filters, block, filter_id, size + ENTRY_BYTES);
}

bool
match_cache_has(struct match_cache *cache, int64_t filter_id)
{
	return is_empty(cache, filter_id) || lru_find(&cache->filters, filter_id);
}

void
match_cache_append_papers(struct match_cache *cache, int64_t filter_id,
    const char *since_day, GPtrArray *papers)
{
	const struct match_block *block = lru_find(&cache->filters, filter_id);

	for (size_t i = 0; block && i < block->count; i++)
		if (strcmp(block->matches[i].paper->day, since_day) >= 0)
			g_ptr_array_add(papers, (gpointer)block->matches[i].paper);
}

static struct match *
find_match(struct match_block *block, const struct listed_paper *paper)
{
	const struct match key = {.paper = paper};

	return bsearch(
	    &key, block->matches, block->count, sizeof(key), compare_matches);
}

bool
match_cache_find_details(struct match_cache *cache, int64_t filter_id,
    const struct listed_paper *paper, struct match_details *details)
{
	struct match_block *block = lru_find(&cache->filters, filter_id);
	const struct match *match = find_match(block, paper);

	if (!match->hits)
		return false;
	*details = (struct match_details){match->score, block->hits + match->hits};
	return true;
}

/* Make room for the hits of one more match. */
static void
reserve(struct lru *filters, struct match_block *block, size_t bytes)
{
	size_t before = block->hits_size;

	if (!block->hits_bytes)
		block->hits_bytes = 1;
	if (block->hits_bytes + bytes <= before)
		return;
	block->hits_size = (block->hits_bytes + bytes) * 3 / 2;
	block->hits = g_realloc(block->hits, block->hits_size);
	lru_grow(filters, block, block->hits_size - before);
}

void
match_cache_set_details(struct match_cache *cache, int64_t filter_id,
    const struct listed_paper *paper, struct match_details *details)
{
	struct match_block *block = lru_find(&cache->filters, filter_id);
	struct match *match = find_match(block, paper);
	size_t bytes = strlen(details->hits) + 1;

	reserve(&cache->filters, block, bytes);
	match->score = details->score;
	match->hits = block->hits_bytes;
	details->hits = memcpy(block->hits + match->hits, details->hits, bytes);
	block->hits_bytes += bytes;
}
