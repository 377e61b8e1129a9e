/*
 * tokenizer.c - the tokenizer of SQLite's FTS5, for the matcher.
 */
#include "store/core/tokenizer.h"

#include <limits.h>
#include <sqlite3.h>

#include "base/error.h"

/* Gets the API of FTS5 (https://sqlite.org/fts5.html section 7). */
static const char sql_get_api[] = "SELECT fts5(?1)";

struct unicode61 {
	struct tokenizer tokenizer; /* its self is this struct */
	fts5_tokenizer functions;
	Fts5Tokenizer *handle;
};

struct listener {
	tokenizer_found found;
	void *data;
};

fts5_api *
tokenizer_get_api(sqlite3 *db)
{
	sqlite3_stmt *statement = NULL;
	fts5_api *api = NULL;

	if (sqlite3_prepare_v2(db, sql_get_api, -1, &statement, NULL) == SQLITE_OK) {
		sqlite3_bind_pointer(statement, 1, &api, "fts5_api_ptr", NULL);
		sqlite3_step(statement);
	}
	sqlite3_finalize(statement);
	return api;
}

static int
pass_token(
    void *context, int flags, const char *token, int token_len, int start, int end)
{
	const struct listener *listener = context;

	(void)flags; /* unicode61 has no synonyms */
	listener->found(
	    listener->data, token, (size_t)token_len, (size_t)start, (size_t)end);
	return SQLITE_OK;
}

static bool
split(void *self, const char *text, size_t len, tokenizer_found found, void *data)
{
	const struct unicode61 *unicode61 = self;
	struct listener listener = {found, data};

	if (len > INT_MAX)
		return false;
	return unicode61->functions.xTokenize(unicode61->handle, &listener,
	           FTS5_TOKENIZE_DOCUMENT, text, (int)len, pass_token) == SQLITE_OK;
}

struct tokenizer *
tokenizer_new_unicode61(sqlite3 *db, GError **error)
{
	static const char *arguments[] = {"remove_diacritics", "2"};
	fts5_api *api = tokenizer_get_api(db);
	struct unicode61 *unicode61;
	void *context = NULL;

	if (!api) {
		pb_fail(error, PB_ERROR_PERMANENT,
		    "cannot create the tokenizer: SQLite has no FTS5");
		return NULL;
	}
	unicode61 = g_new0(struct unicode61, 1);
	if (api->xFindTokenizer(api, "unicode61", &context, &unicode61->functions) !=
	        SQLITE_OK ||
	    unicode61->functions.xCreate(context, arguments, G_N_ELEMENTS(arguments),
	        &unicode61->handle) != SQLITE_OK) {
		pb_fail(
		    error, PB_ERROR_PERMANENT, "cannot create the tokenizer unicode61");
		g_free(unicode61);
		return NULL;
	}
	unicode61->tokenizer.split = split;
	unicode61->tokenizer.self = unicode61;
	return &unicode61->tokenizer;
}

void
tokenizer_free(struct tokenizer *tokenizer)
{
	struct unicode61 *unicode61;

	if (!tokenizer)
		return;
	unicode61 = tokenizer->self;
	unicode61->functions.xDelete(unicode61->handle);
	g_free(unicode61);
}
