/*
 * shelf.h - papers that were read, kept to be read again.
 *
 * The digests of a day are of some hundred papers.  A shelf belongs to one handle of
 * the store; it notices when another handle has written (PRAGMA data_version), and
 * then a paper is read again but stays the same one as long as its texts do.
 */
#ifndef PAPERBOY_STORE_SHELF_H
#define PAPERBOY_STORE_SHELF_H

#include <glib.h>
#include <stdbool.h>

#include "base/auto.h"
#include "model/paper.h"
#include "store/store.h"

struct shelf;

/** Allocate a shelf of at most BOUNDS_SHELF_PAPERS papers. @param store borrowed */
struct shelf *shelf_new(struct store *store);
void shelf_free(struct shelf *shelf);
PB_DEFINE_AUTO(shelf, shelf_free);

/** Look whether somebody has written; before papers are taken. */
bool shelf_look(struct shelf *shelf, GError **error);

/**
 * Get a paper as a digest shows it: only what is told of it in a digest, id, texts,
 * authors and links, is sure to be as stored.
 *
 * @return shared: paper_free() it, and do not change it; NULL on failure, with
 *         PB_ERROR_NOT_FOUND for no such paper
 */
struct paper *shelf_get(struct shelf *shelf, int64_t seq, GError **error);

#endif
