/*
 * packed_papers.h - papers in packed values: digests and delivered papers.
 *
 * For src/store only.  When two rows of a paper are merged, packed values still name
 * the deleted one; the table paper_moved says with which row it was merged.  Rows of
 * paper_moved are never deleted: only reading all packed values would tell which ones
 * are still needed, and they are few (20 bytes each, a few a day).
 */
#pragma once

#include "model/digest_contents.h"
#include "store/core/sql.h"

/** Allocate an array of struct digest_contents_version. */
GArray *packed_papers_new(void);

#define packed_papers_get(papers, i) \
	(&g_array_index(papers, struct digest_contents_version, i))

/** Append the papers of a packed column. @return false with PB_ERROR_DAMAGED */
bool packed_papers_add(
    struct sql_statement *row, int column, GArray *papers, GError **error);

/** Replace deleted rows by those with which they were merged. */
bool packed_papers_follow(struct store *store, GArray *papers, GError **error);

/**
 * Find the row with which a deleted one was merged.
 *
 * @return false with PB_ERROR_DAMAGED if it is not known
 */
bool packed_papers_find_moved(
    struct store *store, int64_t seq, int64_t *moved, GError **error);
