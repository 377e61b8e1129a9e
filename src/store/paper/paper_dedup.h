/*
 * paper_dedup.h - what is kept of a paper that several sources tell of.
 *
 * One rule a field, whichever source was first (the table is in paper_dedup_merge.c,
 * and in HACKING).  Merging the same again changes nothing.
 */
#ifndef PAPERBOY_STORE_PAPER_PAPER_DEDUP_H
#define PAPERBOY_STORE_PAPER_PAPER_DEDUP_H

#include "model/paper.h"

/**
 * Merge what is told of a paper into what is kept of it.
 *
 * @return a new paper, without appearances
 */
struct paper *
paper_dedup_merge(const struct paper *stored, const struct paper *reported);

/** Whether an id is better than another: arXiv's before a DOI before a source's own. */
bool paper_dedup_is_better_id(const char *id, const char *than);

#endif
