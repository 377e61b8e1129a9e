/*
 * corpus.h - word frequencies of the archive for rankings (query/eval/rank.h).
 */
#pragma once

#include <glib.h>

#include "query/eval/rank.h"
#include "store/core/store.h"

/* The size of the archive is read by corpus_new(), the count of each word at its first
 * use. */
struct corpus;

struct corpus *corpus_new(struct store *store, GError **error);
void corpus_free(struct corpus *corpus);
PB_DEFINE_AUTO(corpus, corpus_free);

/** Prepare a ranking. @param query  borrowed for the life of the rank */
struct rank *
corpus_make_rank(struct corpus *corpus, const struct query *query, GError **error);
