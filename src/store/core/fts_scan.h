/*
 * fts_scan.h - the papers of a phrase, from the segments of the full-text index; for
 * src/store only.
 *
 * FTS5's own scan takes several times as long: it merges the segments row by row and
 * gives each place by a call.  This reads the same blocks of `paper_fts_data`
 * (https://sqlite.org/fts5.html section 9, and the head of fts5_index.c).
 */
#ifndef PAPERBOY_STORE_CORE_FTS_SCAN_H
#define PAPERBOY_STORE_CORE_FTS_SCAN_H

#include <glib.h>
#include <stdbool.h>

#include "store/core/fts_row.h"
#include "store/core/store.h"

/** Whether FTS5 would read the same blocks: in a transaction, of this format. */
bool fts_scan_is_possible(struct store *store, bool *is_possible, GError **error);

/**
 * Call a function for each paper with words that follow each other, oldest first.
 *
 * @param words      of char *, at least one, as the tokenizer gives them
 * @param least_seq  skips papers before it; at least 0
 * @param found      the phrase is number 0 of the row; must not use the store
 */
bool fts_scan_phrase(struct store *store, const GPtrArray *words, int64_t least_seq,
    fts_row_found found, void *data, GError **error);

#endif
