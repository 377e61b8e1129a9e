/*
 * tokenizer.h - the tokenizer of the search index, for FTS5 and for the matcher.
 *
 * Tokens are the words of FTS5's `unicode61 remove_diacritics 2`: runs of letters and
 * digits, in lower case, without diacritics; and pairs of adjacent characters of
 * scripts without spaces (base/bigram.h).
 */
#pragma once

#include <glib.h>

#include "base/cleanup.h"
#include "query/tokenizer_ops.h"

struct fts5_api;
struct sqlite3;

/** Get the API of FTS5; NULL when SQLite has none. */
struct fts5_api *tokenizer_get_api(struct sqlite3 *db);

/**
 * Register it with FTS5 as `bigram` (https://sqlite.org/fts5.html section 7.1).
 *
 * @return SQLite's code
 */
int tokenizer_register(struct sqlite3 *db);

/**
 * Create one for the matcher.
 *
 * Not thread-safe: a shared tokenizer returns wrong tokens.
 *
 * @param db  outlives the tokenizer
 * @return NULL with PB_ERROR_PERMANENT when SQLite has no FTS5
 */
struct tokenizer *tokenizer_new(struct sqlite3 *db, GError **error);
void tokenizer_free(struct tokenizer *tokenizer);
PB_DEFINE_AUTO(tokenizer, tokenizer_free);
