/*
 * match_cache.h - the papers that filters match, with scores and hits.
 *
 * The matches of a filter are one block.  Full, the cache frees the filters used least
 * recently.  Most filters match nothing: these are a bit each, beside the limit.
 */
#ifndef PAPERBOY_SERVICE_DIGEST_MATCH_CACHE_H
#define PAPERBOY_SERVICE_DIGEST_MATCH_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lru.h"
#include "store/paper/papers.h"

struct match_cache {
	struct lru filters; /* of struct match_block */
	GByteArray *empty;  /* bits by id: filters without matches */
};

/* Why a filter matches a paper. */
struct match_details {
	double score;     /* query/eval/rank.h */
	const char *hits; /* as stored (model/hit.h) */
};

void match_cache_init(struct match_cache *cache, size_t max_bytes);
void match_cache_clear(struct match_cache *cache);

/**
 * Insert a filter that the cache does not have.
 *
 * @param papers  that it matches, of struct listed_paper *, which are borrowed
 */
void match_cache_insert(
    struct match_cache *cache, int64_t filter_id, const GPtrArray *papers);

bool match_cache_has(struct match_cache *cache, int64_t filter_id);

/**
 * Append the papers that a filter of the cache matches, listed on or after a day.
 *
 * @param papers  gets struct listed_paper *, in the order of listed_paper_compare()
 */
void match_cache_append_papers(struct match_cache *cache, int64_t filter_id,
    const char *since_day, GPtrArray *papers);

/**
 * Find the details of a match in the cache.
 *
 * @param details  set; hits are borrowed until the next insertion
 * @return false if they have not been set
 */
bool match_cache_find_details(struct match_cache *cache, int64_t filter_id,
    const struct listed_paper *paper, struct match_details *details);

/** Set the details of a match in the cache. @param details  gets the cache's hits */
void match_cache_set_details(struct match_cache *cache, int64_t filter_id,
    const struct listed_paper *paper, struct match_details *details);

#endif
