/*
 * paper_cache.h - cache of papers.
 *
 * The digests of a day share some hundred papers.  A cache belongs to one handle of the
 * store.  After a paper was changed, all are read again.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/cleanup.h"
#include "model/paper.h"
#include "store/core/store.h"

struct paper_cache;

/** Allocate a cache of at most BOUNDS_CACHE_PAPERS papers besides those that digests
 * have. @param store  borrowed */
struct paper_cache *paper_cache_new(struct store *store);
void paper_cache_free(struct paper_cache *paper_cache);
PB_DEFINE_AUTO(paper_cache, paper_cache_free);

/** Forget papers that were changed; call before getting papers. */
bool paper_cache_refresh(struct paper_cache *paper_cache, GError **error);

/**
 * Get a paper for a digest.
 *
 * @return shared: paper_free() it, and do not change it; NULL on failure, with
 *   PB_ERROR_NOT_FOUND if it does not exist
 */
struct paper *
paper_cache_get(struct paper_cache *paper_cache, int64_t seq, GError **error);
