/*
 * paper_aliases.h - find papers by any of their identifiers, and merge duplicates.
 *
 * For src/store only.
 */
#pragma once

#include "store/paper/papers.h"

/**
 * Find the rows of a reported paper, most reliable match first: by id, DOI, link, the
 * GUID of the source, title and first author, and, if all these find nothing, by feed
 * and title.
 *
 * Two entries of one source are not merged by title and first author alone.  The rows
 * may be distinct from each other.
 *
 * @return of struct stored_paper *; NULL on failure
 */
GPtrArray *paper_aliases_find(
    struct store *store, const struct paper *reported, int64_t now, GError **error);

/** Whether two papers have different arXiv ids or, with_doi, different DOIs. */
bool paper_aliases_are_distinct(
    const struct paper *one, const struct paper *other, bool with_doi);

/**
 * Record all aliases of a paper.  An alias of another paper stays with that paper,
 * except for the id, which is of the row for which it was reported last.
 */
bool paper_aliases_add(
    struct store *store, const struct paper *paper, int64_t seq, GError **error);

/** Record two rows as duplicates. */
bool paper_aliases_add_duplicates(
    struct store *store, int64_t one, int64_t other, GError **error);

/** Forget that two rows were duplicates. */
bool paper_aliases_remove_duplicates(
    struct store *store, int64_t one, int64_t other, GError **error);

/**
 * Load recorded duplicates.
 *
 * @return GArray of int64_t, two for each pair, at most limit pairs
 */
GArray *
paper_aliases_load_duplicates(struct store *store, unsigned limit, GError **error);

/**
 * Move all references from one row to another and delete it: listings, aliases,
 * matches, refusals and answers.  Digests and deliveries still name the deleted row
 * (store/paper/packed_papers.h).
 *
 * The caller assigns the other row a new revision, since filters have not seen its
 * text.  The deleted row must not be in a message that may have been delivered.
 */
bool paper_aliases_move(
    struct store *store, const struct stored_paper *from, int64_t to, GError **error);
