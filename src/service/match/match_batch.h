/*
 * match_batch.h - the filters that have seen all papers so far, moved on as one.
 *
 * Each batch of papers is shown to those filters alone that have one of its terms
 * (percolator.h), in pages, each one commit with the place where it stands.
 */
#ifndef PAPERBOY_SERVICE_MATCH_MATCH_BATCH_H
#define PAPERBOY_SERVICE_MATCH_MATCH_BATCH_H

#include <glib.h>
#include <stdbool.h>

#include "service/match/match.h"
#include "service/match/match_page.h"
#include "store/core/store.h"

/** Show the crowd what it has not seen. @param report added to */
bool match_batch_run(struct store *store, const struct page_context *moment,
    struct match_report *report, GError **error);

#endif
