/*
 * paper_cache.h - papers that were read, kept to be read again.
 *
 * The digests of a day are of some hundred papers.  A shelf belongs to one handle of
 * the store; it notices when another handle has written (PRAGMA data_version), and
 * then a paper is read again but stays the same one as long as its texts do.
 */
#ifndef PAPERBOY_STORE_PAPER_PAPER_CACHE_H
#define PAPERBOY_STORE_PAPER_PAPER_CACHE_H

#include <glib.h>
#include <stdbool.h>

#include "base/cleanup.h"
#include "model/paper.h"
#include "store/core/store.h"

struct paper_cache;

/** Allocate a shelf of at most BOUNDS_CACHE_PAPERS papers. @param store borrowed */
struct paper_cache *paper_cache_new(struct store *store);
void paper_cache_free(struct paper_cache *paper_cache);
PB_DEFINE_AUTO(paper_cache, paper_cache_free);

/** Look whether somebody has written; before papers are taken. */
bool paper_cache_refresh(struct paper_cache *paper_cache, GError **error);

/**
 * Get a paper as a digest shows it: only what is told of it in a digest, id, texts,
 * authors and links, is sure to be as stored.
 *
 * @return shared: paper_free() it, and do not change it; NULL on failure, with
 *         PB_ERROR_NOT_FOUND for no such paper
 */
struct paper *
paper_cache_get(struct paper_cache *paper_cache, int64_t seq, GError **error);

#endif
