/*
 * clause_papers.h - papers that match a clause about other fields than texts and
 * authors, from their values (store/paper/paper_values.h).
 */
#ifndef PAPERBOY_SERVICE_MATCH_CLAUSE_PAPERS_H
#define PAPERBOY_SERVICE_MATCH_CLAUSE_PAPERS_H

#include "query/eval/fts_query.h"
#include "store/core/store.h"

/**
 * Find the papers of these clauses, as struct fts_clause has them: all that match, of
 * keywords, comments and journals also some that do not.
 *
 * A field that is not reported counts as false.  In the transaction that uses the
 * result.
 *
 * @param oldest  papers last listed before may be missing; as in struct paper_value
 * @param first   papers before may be missing
 */
bool clause_papers_load(struct store *store, int32_t oldest, guint first,
    struct fts_query *fts, GError **error);

#endif
