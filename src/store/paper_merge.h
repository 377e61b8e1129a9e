/*
 * paper_merge.h - what is kept of a paper that several sources tell of.
 *
 * One rule a field, whichever source was first (the table is in paper_merge.c, and in
 * HACKING).  Merging the same again changes nothing.
 */
#ifndef PAPERBOY_STORE_PAPER_MERGE_H
#define PAPERBOY_STORE_PAPER_MERGE_H

#include "model/paper.h"

/**
 * Merge what is told of a paper into what is kept of it.
 *
 * @return a new paper, without appearances
 */
struct paper *paper_merge(const struct paper *kept, const struct paper *told);

/** Whether an id is better than another: arXiv's before a DOI before a source's own. */
bool paper_merge_is_better_id(const char *id, const char *than);

#endif
