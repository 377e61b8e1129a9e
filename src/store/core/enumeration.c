/*
 * enumeration.c - columns with a fixed set of values, checked when they are read.
 */
#include "store/core/enumeration.h"

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
    [ENUMERATION_SUPPRESSION_REASON] = {"suppression", "reason",
        {"operator", "never-again", "complaint", "dead"}, 0},
    [ENUMERATION_PAPER_SOURCE] = {"paper", "source_rank", {NULL}, 2},
    [ENUMERATION_LISTING_TYPE] = {"listing", "type",
        {"new", "cross", "replace", "replace-cross"}, 0},
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
        {"confirm", "undo", "address", "forget"}, 0},
    [ENUMERATION_INBOX_RECEIVER] = {"inbox", "receiver", {"lmtp", "maildir", "imap"},
        0},
    [ENUMERATION_INBOX_STATE] = {"inbox", "state", {"new", "done", "quarantined"}, 0},
    [ENUMERATION_BOUNCE_CLASS] = {"bounce", "class",
        {"dead", "full", "temporary", "sender", "complaint"}, 0},
    [ENUMERATION_PROPOSAL_STATE] = {"proposal", "state",
        {"open", "applied", "undone", "refused"}, 0},
};

void
enumeration_get_name(enum enumeration which, const char **table, const char **column)
{
	*table = rows[which].table;
	*column = rows[which].column;
}

static bool
has_word(enum enumeration which, const char *word)
{
	return word && g_strv_contains((const char *const *)rows[which].words, word);
}

static bool
is_valid(struct sql_statement *statement, const struct enumeration_column *column)
{
	bool is_null = sql_get_kind(statement, column->column) == SQL_KIND_NULL;

	if (is_null)
		return column->shape != ENUMERATION_VALUE;
	if (!rows[column->which].words[0]) {
		int64_t number = sql_get_int(statement, column->column);

		return number >= 0 && number <= rows[column->which].most;
	}
	return has_word(column->which, sql_get_text(statement, column->column));
}

bool
enumeration_check(
    struct sql_statement *row, const struct enumeration_column *column, GError **error)
{
	const char *name;

	if (column->shape == ENUMERATION_NONE || is_valid(row, column))
		return true;
	name = sql_get_text(row, column->row);
	return pb_fail(error, PB_ERROR_DAMAGED,
	    "damaged row: table %s, row %s: invalid value in column %s; run "
	    "paperboyctl doctor",
	    rows[column->which].table, name ? name : "NULL",
	    rows[column->which].column);
}

int
enumeration_get_value(struct sql_statement *row, int column, enum enumeration which)
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
enumeration_get_word(enum enumeration which, unsigned value)
{
	return rows[which].words[value];
}
