/*
 * record.c - structs loaded from the rows of a statement, by a table of their columns.
 */
#include "store/core/record.h"

#include <string.h>

#include "base/day.h"
#include "base/error.h"

/* Words in the order of the enum.  Without words: a number from 0 to `most`. */
static const struct {
	const char *table, *column;
	const char *words[9];
	int most;
} rows[ENUMERATIONS] = {
    [ENUMERATION_SUBSCRIBER_STATE] = {"subscriber", "state",
        {"pending", "active", "paused", "suspended", "gone"}, 0},
    [ENUMERATION_SUBSCRIBER_FREQUENCY] = {"subscriber", "frequency",
        {"daily", "now", "weekdays", "weekly"}, 0},
    [ENUMERATION_SUBSCRIBER_SORTING] = {"subscriber", "sorting",
        {"score", "votes", "date"}, 0},
    [ENUMERATION_SUBSCRIBER_ABSTRACT] = {"subscriber", "abstract",
        {"brief", "short", "full", "none"}, 0},
    [ENUMERATION_SUBSCRIBER_FORMAT] = {"subscriber", "format", {"both", "text", "html"},
        0},
    [ENUMERATION_SUBSCRIBER_EMPTY_DIGEST] = {"subscriber", "empty_digest",
        {"off", "note"}, 0},
    [ENUMERATION_SUBSCRIBER_UPDATES] = {"subscriber", "updates", {"off", "on"}, 0},
    [ENUMERATION_SUBSCRIBER_CROSSLIST] = {"subscriber", "crosslist", {"on", "off"}, 0},
    [ENUMERATION_SUBSCRIBER_ATTACH] = {"subscriber", "attach",
        {"none", "bibtex", "ris", "markdown"}, 0},
    [ENUMERATION_SUBSCRIBER_GROUPING] = {"subscriber", "grouping", {"off", "on"}, 0},
    [ENUMERATION_SUBSCRIBER_FEEDBACK] = {"subscriber", "feedback", {"off", "on"}, 0},
    [ENUMERATION_SUBSCRIBER_CHECKUP] = {"subscriber", "checkup", {"on", "off"}, 0},
    [ENUMERATION_SUBSCRIBER_VERSIONS] = {"subscriber", "versions", {"one", "all"}, 0},
    [ENUMERATION_SUBSCRIBER_RETRACTIONS] = {"subscriber", "retractions",
        {"digest", "mail"}, 0},
    [ENUMERATION_SUPPRESSION_REASON] = {"suppression", "reason",
        {"operator", "never-again", "complaint", "dead"}, 0},
    [ENUMERATION_PAPER_SOURCE] = {"paper", "source_rank", {NULL}, 2},
    [ENUMERATION_LISTING_TYPE] = {"listing", "type",
        {"new", "cross", "replace", "replace-cross"}, 0},
    [ENUMERATION_PAPER_EVENT_KIND] = {"paper_event", "kind",
        {"retracted", "published", "version", "code"}, 0},
    [ENUMERATION_SOURCE_FETCH_STATUS] = {"source_fetch", "status",
        {"ok", "same", "empty", "not-yet", "stale", "failed"}, 0},
    [ENUMERATION_DIGEST_STATE] = {"digest", "state",
        {"live", "sent", "failed", "cancelled"}, 0},
    [ENUMERATION_OUTBOX_KIND] = {"outbox", "kind",
        {"digest", "answer", "confirmation", "notice"}, 0},
    [ENUMERATION_OUTBOX_STATE] = {"outbox", "state",
        {"NEW", "SENDING", "SENT", "DEFERRED", "FAILED", "UNKNOWN", "CANCELLED",
            "HELD"},
        0},
    [ENUMERATION_OUTBOX_HELD_FROM] = {"outbox", "held_from",
        {"NEW", "DEFERRED", "UNKNOWN"}, 0},
    [ENUMERATION_OUTBOX_HELD_WHY] = {"outbox", "held_why",
        {"restore", "operator", "crash"}, 0},
    [ENUMERATION_CONFIRMATION_PURPOSE] = {"confirmation", "purpose",
        {"confirm", "undo", "address", "forget", "approval", "invitation"}, 0},
    [ENUMERATION_INBOX_RECEIVER] = {"inbox", "receiver", {"lmtp", "maildir", "imap"},
        0},
    [ENUMERATION_INBOX_STATE] = {"inbox", "state", {"new", "done", "quarantined"}, 0},
    [ENUMERATION_BOUNCE_CLASS] = {"bounce", "class",
        {"dead", "full", "temporary", "sender", "complaint"}, 0},
    [ENUMERATION_PROPOSAL_STATE] = {"proposal", "state",
        {"open", "applied", "undone", "refused"}, 0},
};

void
record_get_word_column(enum enumeration which, const char **table, const char **column)
{
	*table = rows[which].table;
	*column = rows[which].column;
}

static bool
is_known(struct sql_statement *row, int column, enum enumeration which)
{
	const char *const *words = rows[which].words;
	const char *text = words[0] ? sql_get_text(row, column) : NULL;
	int64_t number = words[0] ? -1 : sql_get_int(row, column);

	/* NULL is -1. */
	return text ? g_strv_contains(words, text)
	            : number >= 0 && number <= rows[which].most;
}

bool
record_check_word(
    struct sql_statement *row, int column, enum enumeration which, GError **error)
{
	const char *key;

	if (is_known(row, column, which))
		return true;
	key = sql_get_text(row, 0);
	return pb_fail(error, PB_ERROR_DAMAGED,
	    "damaged row: table %s, row %s: invalid value in column %s; run "
	    "paperboyctl doctor",
	    rows[which].table, key ? key : "NULL", rows[which].column);
}

int
record_get_word_number(struct sql_statement *row, int column, enum enumeration which)
{
	const char *const *words = rows[which].words;
	const char *text = sql_get_text(row, column);
	int value = 0;

	if (!words[0])
		return sql_get_int(row, column);
	while (words[value] && g_strcmp0(words[value], text) != 0)
		value++;
	return value;
}

const char *
record_get_word(enum enumeration which, unsigned value)
{
	return rows[which].words[value];
}

static bool
is_number(struct sql_statement *row, int column, int64_t least)
{
	int64_t number = sql_get_int(row, column);

	return sql_get_kind(row, column) == SQL_KIND_INT && number >= least &&
	       number <= SQL_NUMBER_MAX;
}

static bool
is_text(struct sql_statement *row, int column)
{
	struct sql_bytes bytes = sql_get_bytes(row, column);

	/* A NUL inside is not valid. */
	return sql_get_kind(row, column) == SQL_KIND_TEXT &&
	       g_utf8_validate(bytes.data, (gssize)bytes.size, NULL);
}

static bool
is_valid(struct sql_statement *row, int column, char code)
{
	enum sql_kind kind = sql_get_kind(row, column);

	if (g_ascii_isupper(code) && kind == SQL_KIND_NULL)
		return true;
	if (code == 'D' && kind == SQL_KIND_TEXT && !*sql_get_text(row, column))
		return true;
	switch (g_ascii_tolower(code)) {
	case 'i':
		return is_number(row, column, 1);
	case 'n':
		return is_number(row, column, -SQL_NUMBER_MAX);
	case 't':
	case 'l':
		return is_text(row, column);
	case 'd':
		return is_text(row, column) && day_is_valid(sql_get_text(row, column));
	case 'b':
		return kind == SQL_KIND_BLOB;
	default:
		/* Words have been checked. */
		g_assert(strchr("*wW", code));
		return true;
	}
}

/* Longer keys are not shown. */
#define KEY_BYTES 100

static const char *
get_key(struct sql_statement *row, int column)
{
	bool is_shown =
	    sql_get_kind(row, column) == SQL_KIND_INT ||
	    (is_text(row, column) && strlen(sql_get_text(row, column)) <= KEY_BYTES);

	return is_shown ? sql_get_text(row, column) : "?";
}

bool
record_check(
    struct sql_statement *row, const char *table, const char *columns, GError **error)
{
	int key = (int)strcspn(columns, "i");

	for (int i = 0; columns[i]; i++)
		if (!is_valid(row, i, columns[i]))
			return pb_fail(error, PB_ERROR_DAMAGED,
			    "damaged row: table %s, row %s has %s; run paperboyctl "
			    "doctor",
			    table, get_key(row, columns[key] ? key : 0),
			    sql_get_kind(row, i) == SQL_KIND_NULL
			        ? "no value where one is needed"
			        : "an invalid value");
	return true;
}

enum sql_step
record_next(struct sql_statement *statement, const char *table, const char *columns,
    GError **error)
{
	enum sql_step step = sql_step(statement, error);

	return step == SQL_STEP_ROW && !record_check(statement, table, columns, error)
	           ? SQL_STEP_FAILED
	           : step;
}

/* Their error names the column. */
static bool
check_words(
    struct sql_statement *row, const struct record_layout *layout, GError **error)
{
	const enum enumeration *word = layout->words;

	for (int i = 0; layout->checks[i]; i++) {
		char code = layout->checks[i];

		if (g_ascii_tolower(code) != 'w')
			continue;
		if ((code == 'w' || sql_get_kind(row, i) != SQL_KIND_NULL) &&
		    !record_check_word(row, i, *word, error))
			return false;
		word++;
	}
	return true;
}

enum sql_step
record_step(
    struct sql_statement *statement, const struct record_layout *layout, GError **error)
{
	enum sql_step step = sql_step(statement, error);

	g_assert(strlen(layout->checks) >= layout->count);
	if (step != SQL_STEP_ROW)
		return step;
	g_assert((int)strlen(layout->checks) <= sql_count_columns(statement));
	return check_words(statement, layout, error) &&
	               record_check(statement, layout->table, layout->checks, error)
	           ? SQL_STEP_ROW
	           : SQL_STEP_FAILED;
}

/* @param block  where to copy to, advanced; NULL for the heap */
static char *
copy_text(struct sql_statement *row, int i, char **block)
{
	const char *text = sql_get_text(row, i);
	char *copy = *block;
	size_t size;

	if (!text || !copy)
		return g_strdup(text);
	size = strlen(text) + 1;
	*block += size;
	return memcpy(copy, text, size);
}

static void
cut_line(char *text)
{
	if (text)
		text[strcspn(text, "\n")] = '\0';
}

/* @param word  enumeration of the column, or NULL */
static void
load_member(struct sql_statement *row, int i, const struct record_column *column,
    const enum enumeration *word, void *member, char **block)
{
	const char *text;

	switch (column->type) {
	case RECORD_INT64:
		*(int64_t *)member = sql_get_int(row, i);
		break;
	case RECORD_INT:
		*(int *)member = word ? record_get_word_number(row, i, *word)
		                      : (int)sql_get_int(row, i);
		break;
	case RECORD_BOOL:
		*(bool *)member = sql_get_int(row, i) == 1;
		break;
	case RECORD_TEXT:
		*(char **)member = copy_text(row, i, block);
		break;
	case RECORD_CHARS:
		text = sql_get_text(row, i);
		g_strlcpy(member, text ? text : "", column->size);
		break;
	}
}

static size_t
measure_texts(struct sql_statement *row, const struct record_layout *layout)
{
	size_t size = 0;

	for (size_t i = 0; i < layout->count; i++) {
		const char *text = layout->columns[i].type == RECORD_TEXT
		                       ? sql_get_text(row, (int)i)
		                       : NULL;

		size += text ? strlen(text) + 1 : 0;
	}
	return size;
}

void *
record_load(struct sql_statement *row, const struct record_layout *layout)
{
	char *record = layout->make
	                   ? layout->make()
	                   : g_malloc0(layout->size + measure_texts(row, layout));
	char *block = layout->make ? NULL : record + layout->size;
	const enum enumeration *word = layout->words;

	for (size_t i = 0; i < layout->count; i++) {
		char code = g_ascii_tolower(layout->checks[i]);
		char *member = record + layout->columns[i].offset;

		load_member(row, (int)i, &layout->columns[i],
		    code == 'w' ? word++ : NULL, member, &block);
		if (code == 'l')
			cut_line(*(char **)(void *)member);
	}
	return record;
}

bool
record_find_values(struct store *store, const char *sql, const struct sql_value *values,
    const struct record_layout *layout, void *found, GError **error)
{
	sql_auto *statement = sql_bind_values(store, sql, values, error);
	enum sql_step step =
	    statement ? record_step(statement, layout, error) : SQL_STEP_FAILED;
	void *record;

	if (step == SQL_STEP_FAILED)
		return false;
	record = step == SQL_STEP_ROW ? record_load(statement, layout) : NULL;
	memcpy(found, &record, sizeof(record));
	return true;
}

GPtrArray *
record_load_all_values(struct store *store, const char *sql,
    const struct sql_value *values, const struct record_layout *layout, GError **error)
{
	sql_auto *statement = sql_bind_values(store, sql, values, error);
	g_autoptr(GPtrArray) records =
	    g_ptr_array_new_with_free_func(layout->free ? layout->free : g_free);
	enum sql_step step;

	if (!statement)
		return NULL;
	while ((step = record_step(statement, layout, error)) == SQL_STEP_ROW)
		g_ptr_array_add(records, record_load(statement, layout));
	return step == SQL_STEP_DONE ? g_steal_pointer(&records) : NULL;
}
