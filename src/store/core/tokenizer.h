/*
 * tokenizer.h - the tokenizer of SQLite's FTS5, for the matcher.
 */
#ifndef PAPERBOY_STORE_CORE_TOKENIZER_H
#define PAPERBOY_STORE_CORE_TOKENIZER_H

#include <glib.h>

#include "base/cleanup.h"
#include "query/tokenizer_ops.h"

struct fts5_api;
struct sqlite3;

/** Get the API of FTS5; NULL when SQLite has none. */
struct fts5_api *tokenizer_get_api(struct sqlite3 *db);

/**
 * Create FTS5's `unicode61 remove_diacritics 2`: tokens are runs of letters and digits,
 * in lower case, without diacritics.
 *
 * Not thread-safe: a shared tokenizer returns wrong tokens.
 *
 * @param db  outlives the tokenizer
 * @return NULL with PB_ERROR_PERMANENT when SQLite has no FTS5
 */
struct tokenizer *tokenizer_new_unicode61(struct sqlite3 *db, GError **error);
void tokenizer_free(struct tokenizer *tokenizer);
PB_DEFINE_AUTO(tokenizer, tokenizer_free);

#endif
