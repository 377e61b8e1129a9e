/*
 * paper_aliases.h - find papers by any of their identifiers, and merge duplicates.  For
 * src/store only.
 */
#ifndef PAPERBOY_STORE_PAPER_PAPER_ALIASES_H
#define PAPERBOY_STORE_PAPER_PAPER_ALIASES_H

#include "store/paper/papers.h"

/**
 * The rows that are the paper by what is told of it, the surest first: by id, by DOI,
 * by link, by what the source calls it, by title and first author, and, when all these
 * find none, by feed and title.
 *
 * Two arXiv ids or two DOIs are two papers, whatever else they share, and one title and
 * first author do not make one of two entries of one source.
 *
 * @return of struct stored_paper *; NULL on failure
 */
GPtrArray *paper_aliases_find(
    struct store *store, const struct paper *reported, int64_t now, GError **error);

/** Note all names of a paper; one that another paper has stays with that. */
bool paper_aliases_add(
    struct store *store, const struct paper *paper, int64_t seq, GError **error);

/** Note two rows that are one paper. */
bool paper_aliases_add_duplicates(
    struct store *store, int64_t one, int64_t other, GError **error);

/** Pairs that were noted. @return GArray of int64_t, two a pair, at most limit pairs */
GArray *
paper_aliases_load_duplicates(struct store *store, unsigned limit, GError **error);

/**
 * Let everything that speaks of one row speak of another, and remove it: its listings,
 * names, matches, deliveries, refusals and places in digests.  The caller renews the
 * other's revision, since filters have not seen its text.  The row is in no message
 * that may have reached its reader.
 */
bool paper_aliases_move(
    struct store *store, const struct stored_paper *from, int64_t to, GError **error);

#endif
