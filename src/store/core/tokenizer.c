/*
 * tokenizer.c - the tokenizer of the search index, for FTS5 and for the matcher.
 */
#include "store/core/tokenizer.h"

#include <limits.h>
#include <sqlite3.h>

#include "base/bigram.h"
#include "base/error.h"

/* Gets the API of FTS5 (https://sqlite.org/fts5.html section 7). */
static const char sql_get_api[] = "SELECT fts5(?1)";

typedef int (*token_found)(
    void *context, int flags, const char *token, int token_len, int start, int end);

struct bigram {
	struct tokenizer tokenizer; /* its self is this struct */
	fts5_tokenizer unicode61;
	Fts5Tokenizer *handle;
};

/* A part of a text, whose tokens have places in the whole text. */
struct part {
	token_found found;
	void *context;
	int offset;
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
pass_part(
    void *context, int flags, const char *token, int token_len, int start, int end)
{
	const struct part *part = context;

	return part->found(part->context, flags, token, token_len, part->offset + start,
	    part->offset + end);
}

/* Pass the pairs of a run, or its only character, and the last character of a text's
 * run at the place of the last pair. */
static int
split_run(struct part *part, const char *run, int len, bool is_query)
{
	int rc = SQLITE_OK;

	for (int at = 0, next; rc == SQLITE_OK && at < len; at = next) {
		int end = next = (int)(g_utf8_next_char(run + at) - run);
		bool is_last = at > 0 && next == len;

		if (next < len)
			end = (int)(g_utf8_next_char(run + next) - run);
		if (!is_last || !is_query)
			rc = pass_part(part, is_last ? FTS5_TOKEN_COLOCATED : 0,
			    run + at, end - at, at, end);
	}
	return rc;
}

/* Find the end of a run, or of a text without such characters. */
static int
measure_part(const char *text, int len, bool is_run)
{
	int end = 0;

	while (end < len && bigram_is_at(text + end, len - end) == is_run)
		end += is_run ? (int)(g_utf8_next_char(text + end) - (text + end)) : 1;
	return end;
}

static int
tokenize(Fts5Tokenizer *self, void *context, int flags, const char *text, int len,
    token_found found)
{
	const struct bigram *bigram = (const struct bigram *)(void *)self;
	struct part part = {found, context, 0};
	bool is_run = false;
	int rc = SQLITE_OK;

	for (int size; rc == SQLITE_OK && part.offset < len; part.offset += size) {
		const char *at = text + part.offset;

		size = measure_part(at, len - part.offset, is_run);
		if (size > 0 && is_run)
			rc = split_run(&part, at, size, flags & FTS5_TOKENIZE_QUERY);
		else if (size > 0)
			rc = bigram->unicode61.xTokenize(
			    bigram->handle, &part, flags, at, size, pass_part);
		is_run = !is_run;
	}
	return rc;
}

static int
pass_token(
    void *context, int flags, const char *token, int token_len, int start, int end)
{
	const struct listener *listener = context;

	(void)flags; /* neither has synonyms in queries */
	listener->found(
	    listener->data, token, (size_t)token_len, (size_t)start, (size_t)end);
	return SQLITE_OK;
}

static bool
split(void *self, const char *text, size_t len, tokenizer_found found, void *data)
{
	struct listener listener = {found, data};

	return len <= INT_MAX && tokenize(self, &listener, FTS5_TOKENIZE_QUERY, text,
	                             (int)len, pass_token) == SQLITE_OK;
}

static int
create(void *context, const char **arguments, int count, Fts5Tokenizer **created)
{
	static const char *unicode61_arguments[] = {"remove_diacritics", "2"};
	fts5_api *api = context;
	struct bigram *bigram = g_new0(struct bigram, 1);
	int rc = api->xFindTokenizer(api, "unicode61", &context, &bigram->unicode61);

	(void)arguments;
	(void)count;
	if (rc == SQLITE_OK)
		rc = bigram->unicode61.xCreate(context, unicode61_arguments,
		    G_N_ELEMENTS(unicode61_arguments), &bigram->handle);
	bigram->tokenizer.split = split;
	bigram->tokenizer.self = bigram;
	if (rc == SQLITE_OK)
		*created = (Fts5Tokenizer *)(void *)bigram;
	else
		g_free(bigram);
	return rc;
}

static void
destroy(Fts5Tokenizer *self)
{
	struct bigram *bigram = (struct bigram *)(void *)self;

	bigram->unicode61.xDelete(bigram->handle);
	g_free(bigram);
}

int
tokenizer_register(sqlite3 *db)
{
	fts5_tokenizer functions = {create, destroy, tokenize};
	fts5_api *api = tokenizer_get_api(db);

	return api ? api->xCreateTokenizer(api, "bigram", api, &functions, NULL)
	           : SQLITE_ERROR;
}

struct tokenizer *
tokenizer_new(sqlite3 *db, GError **error)
{
	fts5_api *api = tokenizer_get_api(db);
	Fts5Tokenizer *created;

	if (api && create(api, NULL, 0, &created) == SQLITE_OK)
		return &((struct bigram *)(void *)created)->tokenizer;
	pb_fail(error, PB_ERROR_PERMANENT,
	    "cannot create the tokenizer: SQLite has no FTS5");
	return NULL;
}

void
tokenizer_free(struct tokenizer *tokenizer)
{
	if (tokenizer)
		destroy(tokenizer->self);
}
