/*
 * match_cache.h - scores and hits of the matches of a run.
 *
 * The matches of a filter are one block.  Full, the cache frees the filters used least
 * recently.
 */
#ifndef PAPERBOY_SERVICE_DIGEST_MATCH_CACHE_H
#define PAPERBOY_SERVICE_DIGEST_MATCH_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lru.h"

struct match_cache {
	struct lru filters; /* of struct match_block */
};

/* A filter that matches a paper. */
struct cached_match {
	double score; /* query/eval/rank.h */
	const char
	    *hits; /* as stored (model/hit.h); borrowed until the next insertion */
};

void match_cache_init(struct match_cache *cache, size_t max_bytes);
void match_cache_clear(struct match_cache *cache);

bool match_cache_find(struct match_cache *cache, int64_t filter_id, int64_t paper_seq,
    struct cached_match *match);

/** Insert a match that the cache does not have. @param match  gets the cache's hits */
void match_cache_insert(struct match_cache *cache, int64_t filter_id, int64_t paper_seq,
    struct cached_match *match);

#endif
