/*
 * paper_dedup.h - merge the data of a paper from several sources.
 *
 * Each field has one rule (fields[] in paper_dedup.c).  The order in which sources
 * report a paper matters only for RULE_LATEST, and for values that a rule ranks
 * equally.  Merging is idempotent.
 */
#pragma once

#include "model/paper.h"

/**
 * Merge reported data into a stored paper.
 *
 * @return a new paper, without listings
 */
struct paper *
paper_dedup_merge(const struct paper *stored, const struct paper *reported);

/**
 * Compare two lists of authors.
 *
 * @return more than 0 if the first one has more authors, or as many with fuller names
 */
int paper_dedup_compare_names(const GPtrArray *names, const GPtrArray *with);

/** Whether an id is preferred to another: arXiv, then DOI, then the source's own. */
bool paper_dedup_is_better_id(const char *id, const char *than);
