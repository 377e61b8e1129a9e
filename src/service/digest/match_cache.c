/*
 * match_cache.c - scores and hits of the matches of a run.
 */
#include "service/digest/match_cache.h"

#include <string.h>

/* First size of a block: a few matches. */
#define BLOCK_BYTES 192

/* About what the table of the blocks needs for each. */
#define ENTRY_BYTES 32

struct match {
	int64_t paper_seq;
	double score;
	size_t hits; /* offset from the end of the block */
};

/* Matches, sorted by paper, grow from the start of `data`, and hits from its end. */
struct match_block {
	struct lru_entry entry;
	size_t count, hits_bytes, size;
	char *data;
};

static void
free_block(void *data)
{
	struct match_block *block = data;

	g_free(block->data);
	g_free(block);
}

void
match_cache_init(struct match_cache *cache, size_t max_bytes)
{
	lru_init(&cache->filters, max_bytes, free_block);
}

void
match_cache_clear(struct match_cache *cache)
{
	lru_clear(&cache->filters);
}

static struct match *
get_matches(const struct match_block *block)
{
	return (struct match *)(void *)block->data;
}

/* @return the index of the first match with this paper or a later one */
static size_t
find_place(const struct match_block *block, int64_t paper_seq)
{
	const struct match *matches = get_matches(block);
	size_t low = 0, high = block->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (matches[middle].paper_seq < paper_seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct cached_match
make_result(const struct match_block *block, size_t at)
{
	const struct match *match = get_matches(block) + at;

	return (struct cached_match){
	    match->score, block->data + block->size - match->hits};
}

bool
match_cache_find(struct match_cache *cache, int64_t filter_id, int64_t paper_seq,
    struct cached_match *match)
{
	const struct match_block *block = lru_find(&cache->filters, filter_id);
	size_t at = block ? find_place(block, paper_seq) : 0;

	if (!block || at == block->count ||
	    get_matches(block)[at].paper_seq != paper_seq)
		return false;
	*match = make_result(block, at);
	return true;
}

static struct match_block *
make_block(struct lru *filters, int64_t filter_id)
{
	struct match_block *block = g_new0(struct match_block, 1);

	block->size = BLOCK_BYTES;
	block->data = g_malloc(block->size);
	lru_insert(
	    filters, block, filter_id, sizeof(*block) + block->size + ENTRY_BYTES);
	return block;
}

/* Make room for one more match. */
static void
reserve(struct lru *filters, struct match_block *block, size_t hits_bytes)
{
	size_t used = block->count * sizeof(struct match) + block->hits_bytes;
	size_t needed = used + sizeof(struct match) + hits_bytes, before = block->size;

	if (needed <= before)
		return;
	block->size = needed + needed / 2;
	block->data = g_realloc(block->data, block->size);
	memmove(block->data + block->size - block->hits_bytes,
	    block->data + before - block->hits_bytes, block->hits_bytes);
	lru_grow(filters, block, block->size - before);
}

void
match_cache_insert(struct match_cache *cache, int64_t filter_id, int64_t paper_seq,
    struct cached_match *match)
{
	struct match_block *block = lru_find(&cache->filters, filter_id);
	size_t hits_bytes = strlen(match->hits) + 1, at;
	struct match *place;

	if (!block)
		block = make_block(&cache->filters, filter_id);
	reserve(&cache->filters, block, hits_bytes);
	at = find_place(block, paper_seq);
	place = get_matches(block) + at;
	memmove(place + 1, place, (block->count - at) * sizeof(*place));
	block->count++;
	block->hits_bytes += hits_bytes;
	*place = (struct match){paper_seq, match->score, block->hits_bytes};
	memcpy(block->data + block->size - block->hits_bytes, match->hits, hits_bytes);
	*match = make_result(block, at);
}
