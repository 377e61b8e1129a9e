/*
 * match_batch.h - matches a batch of papers with the filters that have seen all others.
 *
 * Only filters that require a term of a paper are evaluated (percolator.h), in pages of
 * one commit each, which includes the position.
 */
#ifndef PAPERBOY_SERVICE_MATCH_MATCH_BATCH_H
#define PAPERBOY_SERVICE_MATCH_MATCH_BATCH_H

#include <glib.h>
#include <stdbool.h>

#include "service/match/match.h"
#include "service/match/match_page.h"
#include "store/core/store.h"

/** Match all new papers. @param report  added to */
bool match_batch_run(struct store *store, const struct page_context *context,
    struct match_report *report, GError **error);

#endif
