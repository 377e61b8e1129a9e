/*
 * recall_search.h - estimates which part of the papers on its subject a filter finds in
 * the archive (query/taste/recall.h).
 */
#ifndef PAPERBOY_SERVICE_EXPLAIN_RECALL_SEARCH_H
#define PAPERBOY_SERVICE_EXPLAIN_RECALL_SEARCH_H

#include "query/query.h"
#include "query/taste/related.h"
#include "service/match/search.h"

struct recall_request {
	const struct query *query;
	const struct related_source *source; /* the filter's papers, or a sample */
	const GArray *sampled; /* of int64_t: the sequence numbers of these */
	const struct search_scope *scope;
	unsigned papers;  /* number of papers in the scope */
	GHashTable *hits; /* int64_t *: those of them that the filter matches */
};

/**
 * Search the scope for papers like those of the filter.
 *
 * @param recall  set: from 0 to 1; -1: unknown
 */
bool recall_search(struct store *store, const struct recall_request *request,
    double *recall, GError **error);

#endif
