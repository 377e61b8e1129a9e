/*
 * recall.h - estimates which part of the papers on its subject a filter finds.
 *
 * Terms that are related to the papers that the filter matches are a second way to find
 * the subject (capture and recapture): if they are independent of the filter's own
 * words, the filter finds as large a part of the subject as of the papers with them.
 * The RECALL_TERMS terms with the largest log-likelihood ratio are taken together.
 *
 * An acronym and its long form are the same subject by definition, so that the papers
 * with one of them are counted instead, where the filter has the other.
 */
#ifndef PAPERBOY_QUERY_TASTE_RECALL_H
#define PAPERBOY_QUERY_TASTE_RECALL_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "query/query.h"
#include "query/taste/matrix.h"

#define RECALL_TERMS 20

/* Minimum number of papers that match, of papers with a term, and of both. */
#define RECALL_MATCHING_MIN 10
#define RECALL_PAPERS_MIN   5
#define RECALL_SHARED_MIN   2

struct recall {
	unsigned papers;   /* in the archive */
	unsigned matching; /* of them, that the filter matches */
	GArray *terms;
};

void recall_init(struct recall *recall, unsigned papers, unsigned matching);
void recall_clear(struct recall *recall);

/**
 * Add a word, or pair of words, none of which is in the filter. Those in few papers, or
 * not related to the filter, are ignored.
 *
 * @param papers  number of papers in the archive with it
 * @param shared  of them, that the filter matches
 */
void recall_add(struct recall *recall, unsigned papers, unsigned shared);

/** Add all terms of the archive. @param matches  by paper: whether the filter matches
 */
void recall_add_all(struct recall *recall, const struct query *query,
    const struct matrix *matrix, const bool *matches);

/**
 * Estimate the part that the filter finds.
 *
 * @param missed  number of other papers with one of related_list_forms(); -1 if there
 *                is no form
 * @return from 0 to 1; -1 if too few papers match or no term is related
 */
double recall_estimate(const struct recall *recall, int64_t missed);

#endif
