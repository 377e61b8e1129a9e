/*
 * paper_values.c - votes, days and lengths of all papers, in memory.
 */
#include "store/paper/paper_values.h"

#include <string.h>

#include "base/clock.h"
#include "base/day.h"
#include "base/error.h"
#include "query/parse/date.h"
#include "store/core/sql.h"
#include "store/paper/papers.h"

/* Numbers of papers are not reused, but few are without a paper. */
#define SEQS_PER_PAPER 8
#define SEQS_MORE      100000

struct paper_values {
	GArray *values;  /* of struct paper_value */
	int64_t papers;  /* number of papers ... */
	int64_t changes; /* and of updates and deletions, when they were read */
};

static void
paper_values_free(void *data)
{
	struct paper_values *paper_values = data;

	g_array_unref(paper_values->values);
	g_free(paper_values);
}

static struct paper_value *
get_value(GArray *values, int64_t seq)
{
	return seq >= 0 && seq < values->len
	           ? &g_array_index(values, struct paper_value, seq)
	           : NULL;
}

static GArray *
new_values(struct store *store, int64_t papers, GError **error)
{
	static const char sql[] = "SELECT coalesce(max(seq), 0) FROM paper";
	const struct paper_value none = {.day = PAPER_VALUE_NONE};
	GArray *values;
	int64_t last;

	if (!sql_number(store, sql, &last, error))
		return NULL;
	if (last < 0 || last > papers * SEQS_PER_PAPER + SEQS_MORE) {
		pb_fail(error, PB_ERROR_PERMANENT,
		    "store: a paper has the number %" G_GINT64_FORMAT, last);
		return NULL;
	}
	values = g_array_sized_new(
	    FALSE, FALSE, sizeof(struct paper_value), (guint)last + 1);
	for (int64_t i = 0; i <= last; i++)
		g_array_append_val(values, none);
	return values;
}

static bool
load_days(struct store *store, GArray *values, GError **error)
{
	static const char sql[] =
	    "SELECT seq, upvotes, last_day FROM paper INDEXED BY paper_rank";
	sql_auto *statement = sql_bind(store, sql, error);
	struct paper_value last = {0};
	char last_day[DAY_BYTES] = "";
	enum sql_step step;

	if (!statement)
		return false;
	while ((step = sql_step(statement, error)) == SQL_STEP_ROW) {
		struct paper_value *value =
		    get_value(values, sqlite3_column_int64(statement, 0));
		const char *day = (const char *)sqlite3_column_text(statement, 2);

		/* Papers of a day are adjacent. */
		if (strcmp(day, last_day) != 0) {
			g_strlcpy(last_day, day, sizeof(last_day));
			last.day = (int32_t)(day_start(day) / CLOCK_DAY_S);
			last.date = date_read_day(day);
		}
		last.upvotes = sql_get_int(statement, 1);
		if (value)
			*value = last;
	}
	return step == SQL_STEP_DONE;
}

/* Read a variable-length integer of SQLite, of at most 16 bits. */
static uint16_t
read_number(const uint8_t **at, const uint8_t *end)
{
	uint32_t number = 0;

	while (*at < end && **at & 0x80 && number <= G_MAXUINT16)
		number = number << 7 | (*(*at)++ & 0x7f);
	if (*at < end)
		number = number << 7 | *(*at)++;
	return (uint16_t)MIN(number, G_MAXUINT16);
}

/* The full-text index has the numbers of words of its columns. */
static bool
load_words(struct store *store, GArray *values, GError **error)
{
	static const char sql[] = "SELECT id, sz FROM paper_fts_docsize";
	sql_auto *statement = sql_bind(store, sql, error);
	enum sql_step step;

	if (!statement)
		return false;
	while ((step = sql_step(statement, error)) == SQL_STEP_ROW) {
		struct paper_value *value =
		    get_value(values, sqlite3_column_int64(statement, 0));
		const uint8_t *at = sqlite3_column_blob(statement, 1);
		const uint8_t *end = at + sqlite3_column_bytes(statement, 1);

		for (unsigned i = 0; value && i < G_N_ELEMENTS(value->words); i++)
			value->words[i] = read_number(&at, end);
	}
	return step == SQL_STEP_DONE;
}

const GArray *
paper_values_load(struct store *store, GError **error)
{
	struct paper_values *paper_values = store->paper_values;
	g_autoptr(GArray) values = NULL;
	int64_t papers, changes;

	if (!store_load_count(store, "paper", &papers, error) ||
	    !papers_load_changes(store, &changes, error))
		return NULL;
	if (paper_values && paper_values->papers == papers &&
	    paper_values->changes == changes)
		return paper_values->values;
	values = new_values(store, papers, error);
	if (!values || !load_days(store, values, error) ||
	    !load_words(store, values, error))
		return NULL;
	g_clear_pointer(&store->paper_values, paper_values_free);
	paper_values = g_new(struct paper_values, 1);
	*paper_values =
	    (struct paper_values){g_steal_pointer(&values), papers, changes};
	store->paper_values = paper_values;
	store->free_paper_values = paper_values_free;
	return paper_values->values;
}
