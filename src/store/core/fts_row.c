/*
 * fts_row.c - a row of an FTS5 query and the places where it matches.
 */
#include "store/core/fts_row.h"

#include "store/core/tokenizer.h"

static void
set_code(struct fts_row *row, int rc)
{
	if (row->rc == SQLITE_OK)
		row->rc = rc;
}

bool
fts_row_has(struct fts_row *row, unsigned phrase, unsigned columns)
{
	Fts5PhraseIter at;
	int column = -1, rc = SQLITE_RANGE;

	if (phrase < row->phrases)
		rc = row->api->xPhraseFirstColumn(
		    row->context, (int)phrase, &at, &column);
	if (rc != SQLITE_OK) {
		set_code(row, rc);
		return false;
	}
	while (column >= 0 && !(columns & 1U << column))
		row->api->xPhraseNextColumn(row->context, &at, &column);
	return column >= 0;
}

/* Find the first place of a phrase. @param column  set; -1: none */
static void
find_first(
    struct fts_row *row, unsigned phrase, Fts5PhraseIter *at, int *column, int *offset)
{
	int rc = SQLITE_RANGE;

	*column = -1;
	if (phrase < row->phrases)
		rc = row->api->xPhraseFirst(
		    row->context, (int)phrase, at, column, offset);
	if (rc == SQLITE_OK)
		return;
	*column = -1;
	set_code(row, rc);
}

void
fts_row_count(struct fts_row *row, unsigned phrase, unsigned *columns)
{
	Fts5PhraseIter at;
	int column, offset;

	find_first(row, phrase, &at, &column, &offset);
	for (; column >= 0; row->api->xPhraseNext(row->context, &at, &column, &offset))
		columns[column]++;
}

void
fts_row_list(struct fts_row *row, unsigned phrase, GArray *const *columns)
{
	Fts5PhraseIter at;
	int column, offset;

	find_first(row, phrase, &at, &column, &offset);
	for (; column >= 0; row->api->xPhraseNext(row->context, &at, &column, &offset))
		g_array_append_val(columns[column], offset);
}

/* A scan of a phrase. */
struct phrase_scan {
	fts_row_found found;
	void *data;
};

static int
pass(const Fts5ExtensionApi *api, Fts5Context *context, void *data)
{
	const struct phrase_scan *scan = data;
	struct fts_row row = {.api = api, .context = context, .phrases = 1};

	scan->found(scan->data, api->xRowid(context), &row);
	return row.rc;
}

void
fts_row_foreach(struct fts_row *row, unsigned phrase, fts_row_found found, void *data)
{
	struct phrase_scan scan = {found, data};

	set_code(row, row->api->xQueryPhrase(row->context, (int)phrase, &scan, pass));
}

static void
call(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *context, int count,
    sqlite3_value **values)
{
	struct fts_callback *callback =
	    count > 0 ? sqlite3_value_pointer(values[0], FTS_CALLBACK_TYPE) : NULL;
	struct fts_row row = {
	    .api = api, .context = fts, .phrases = (unsigned)api->xPhraseCount(fts)};

	if (!callback) {
		sqlite3_result_error_code(context, SQLITE_MISUSE);
		return;
	}
	callback->call(callback->data, &row, values + 1);
	if (row.rc != SQLITE_OK)
		sqlite3_result_error_code(context, row.rc);
}

int
fts_row_register(sqlite3 *db)
{
	fts5_api *api = tokenizer_get_api(db);

	return api ? api->xCreateFunction(api, "fts_call", NULL, call, NULL)
	           : SQLITE_ERROR;
}
