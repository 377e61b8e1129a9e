/*
 * crowd.h - the filters that have seen all papers so far, moved on as one.
 *
 * Each batch of papers is shown to those filters alone that have one of its terms
 * (percolator.h), in pages, each one commit with the place where it stands.
 */
#ifndef PAPERBOY_SERVICE_CROWD_H
#define PAPERBOY_SERVICE_CROWD_H

#include <glib.h>
#include <stdbool.h>

#include "service/match.h"
#include "service/showing.h"
#include "store/store.h"

/** Show the crowd what it has not seen. @param report added to */
bool crowd_match(struct store *store, const struct showing_moment *moment,
    struct match_report *report, GError **error);

#endif
