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

/* A place of a phrase. */
struct place {
	int column; /* -1: none */
	int offset;
	Fts5PhraseIter at; /* of FTS5, or both ends of what to read */
};

static void
read_next(struct fts_row *row, struct place *place)
{
	uint64_t number;

	if (place->at.a == place->at.b) {
		place->column = -1;
		return;
	}
	number = fts_read_number(&place->at.a);
	if (number == FTS_NEXT_COLUMN) {
		uint64_t column = fts_read_number(&place->at.a);

		place->column = column < FTS_ROW_COLUMNS ? (int)column : -1;
		place->offset = 0;
		number = fts_read_number(&place->at.a);
	}
	number += (uint64_t)place->offset - FTS_NEXT_COLUMN - 1;
	place->offset = (int)(number & G_MAXINT);
	if (place->at.a <= place->at.b && place->column >= 0)
		return;
	place->column = -1;
	set_code(row, SQLITE_CORRUPT_VTAB);
}

/* FTS5 does not check the columns of a damaged index. */
static void
check_column(struct fts_row *row, struct place *place)
{
	if (place->column < FTS_ROW_COLUMNS)
		return;
	place->column = -1;
	set_code(row, SQLITE_CORRUPT_VTAB);
}

static void
find_next(struct fts_row *row, struct place *place)
{
	if (row->places) {
		read_next(row, place);
		return;
	}
	row->api->xPhraseNext(row->context, &place->at, &place->column, &place->offset);
	check_column(row, place);
}

static void
find_first(struct fts_row *row, unsigned phrase, struct place *place)
{
	int rc = SQLITE_RANGE;

	*place = (struct place){0};
	if (row->places) {
		place->at = (Fts5PhraseIter){row->places, row->places + row->size};
		read_next(row, place);
		return;
	}
	if (phrase < row->phrases)
		rc = row->api->xPhraseFirst(row->context, (int)phrase, &place->at,
		    &place->column, &place->offset);
	if (rc == SQLITE_OK) {
		check_column(row, place);
		return;
	}
	place->column = -1;
	set_code(row, rc);
}

bool
fts_row_has(struct fts_row *row, unsigned phrase, unsigned columns)
{
	struct place place;

	find_first(row, phrase, &place);
	while (place.column >= 0 && !(columns & 1U << place.column))
		find_next(row, &place);
	return place.column >= 0;
}

/* As fts_row_count(). */
static void
count_places(struct fts_row *row, unsigned *columns)
{
	const uint8_t *at = row->places, *end = at + row->size;
	uint64_t column = 0;

	while (at < end) {
		if (fts_read_number(&at) != FTS_NEXT_COLUMN) {
			columns[column]++;
			continue;
		}
		column = fts_read_number(&at);
		if (column >= FTS_ROW_COLUMNS) {
			set_code(row, SQLITE_CORRUPT_VTAB);
			return;
		}
	}
}

void
fts_row_count(struct fts_row *row, unsigned phrase, unsigned *columns)
{
	struct place place;

	if (row->places) {
		count_places(row, columns);
		return;
	}
	find_first(row, phrase, &place);
	for (; place.column >= 0; find_next(row, &place))
		columns[place.column]++;
}

void
fts_row_list(struct fts_row *row, unsigned phrase, GArray *const *columns)
{
	struct place place;

	find_first(row, phrase, &place);
	for (; place.column >= 0; find_next(row, &place))
		g_array_append_val(columns[place.column], place.offset);
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
