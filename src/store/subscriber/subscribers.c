/*
 * subscribers.c - subscribers, their filters, and the shared table of filters.
 */
#include "store/subscriber/subscribers.h"

#include <string.h>

#include "base/error.h"
#include "store/core/enumeration.h"
#include "store/core/row_count.h"
#include "store/core/sql.h"
#include "store/paper/filter_index.h"
#include "store/paper/filter_progress.h"

/* Columns in the order of load_subscriber(). */
#define SUBSCRIBER_COLUMNS                                                           \
	"id, address, address_key, name, state, frequency, weekdays, minute, zone, " \
	"max_full,"                                                                  \
	" created_at, consent_at, consent_text, is_first_due, next_due_at, "         \
	"paused_until, language, catch_up, sorting, abstract, format, empty_digest," \
	" updates, crosslist, attach, moved_at"

/* An unset day is stored as NULL. */
#define SQL_PAUSED_UNTIL(subscriber) \
	SQL_TEXT(*(subscriber)->paused_until ? (subscriber)->paused_until : NULL)

#define COLUMN_PREFERENCES 18 /* first one, in the order of the enum */
#define COLUMN_MOVED_AT    (COLUMN_PREFERENCES + PREFERENCE_COUNT)

static const char *
get_word(const struct subscriber *subscriber, enum preference preference)
{
	return preferences_get_word(&subscriber->preferences, preference);
}

/* In the order of the INSERT and UPDATE statements. */
#define SQL_PREFERENCES(subscriber)                                              \
	SQL_TEXT(*(subscriber)->language ? (subscriber)->language : NULL),       \
	    (subscriber)->catch_up ? SQL_INT((subscriber)->catch_up) : SQL_NULL, \
	    SQL_TEXT(get_word(subscriber, PREFERENCE_ORDER)),                    \
	    SQL_TEXT(get_word(subscriber, PREFERENCE_ABSTRACT)),                 \
	    SQL_TEXT(get_word(subscriber, PREFERENCE_FORMAT)),                   \
	    SQL_TEXT(get_word(subscriber, PREFERENCE_EMPTY)),                    \
	    SQL_TEXT(get_word(subscriber, PREFERENCE_UPDATES)),                  \
	    SQL_TEXT(get_word(subscriber, PREFERENCE_CROSSLIST)),                \
	    SQL_TEXT(get_word(subscriber, PREFERENCE_ATTACH))

static void
load_preferences(sqlite3_stmt *row, struct subscriber *subscriber)
{
	if (sqlite3_column_type(row, 16) != SQLITE_NULL)
		g_strlcpy(subscriber->language,
		    (const char *)sqlite3_column_text(row, 16),
		    sizeof(subscriber->language));
	subscriber->catch_up = MAX((int)sql_get_int(row, 17), 0);
	for (int i = 0; i < PREFERENCE_COUNT; i++)
		preferences_choose(&subscriber->preferences, (enum preference)i,
		    (const char *)sqlite3_column_text(row, COLUMN_PREFERENCES + i),
		    NULL);
}

static const struct enumeration_column subscriber_enumerations[] = {
    {4, ENUMERATION_SUBSCRIBER_STATE, ENUMERATION_VALUE, 0},
    {5, ENUMERATION_SUBSCRIBER_FREQUENCY, ENUMERATION_VALUE, 0},
    {COLUMN_PREFERENCES, ENUMERATION_SUBSCRIBER_SORTING, ENUMERATION_VALUE, 0},
    {COLUMN_PREFERENCES + 1, ENUMERATION_SUBSCRIBER_ABSTRACT, ENUMERATION_VALUE, 0},
    {COLUMN_PREFERENCES + 2, ENUMERATION_SUBSCRIBER_FORMAT, ENUMERATION_VALUE, 0},
    {COLUMN_PREFERENCES + 3, ENUMERATION_SUBSCRIBER_EMPTY_DIGEST, ENUMERATION_VALUE, 0},
    {COLUMN_PREFERENCES + 4, ENUMERATION_SUBSCRIBER_UPDATES, ENUMERATION_VALUE, 0},
    {COLUMN_PREFERENCES + 5, ENUMERATION_SUBSCRIBER_CROSSLIST, ENUMERATION_VALUE, 0},
    {COLUMN_PREFERENCES + 6, ENUMERATION_SUBSCRIBER_ATTACH, ENUMERATION_VALUE, 0},
};

/* Load the current row of a statement stepped by ENUMERATION_STEP(). */
static struct subscriber *
load_subscriber(sqlite3_stmt *row)
{
	struct subscriber *subscriber = subscriber_new();

	subscriber->id = sql_get_int(row, 0);
	subscriber->address = sql_dup_text(row, 1);
	subscriber->address_key = sql_dup_text(row, 2);
	subscriber->name = sql_dup_text(row, 3);
	subscriber->state =
	    subscriber_parse_state((const char *)sqlite3_column_text(row, 4));
	schedule_parse_frequency((const char *)sqlite3_column_text(row, 5),
	    &subscriber->schedule.frequency, NULL);
	subscriber->schedule.weekdays = (unsigned)sql_get_int(row, 6);
	subscriber->schedule.minute = (int)sql_get_int(row, 7);
	subscriber->zone = sql_dup_text(row, 8);
	subscriber->max_full = (int)sql_get_int(row, 9);
	subscriber->created_at = sql_get_int(row, 10);
	subscriber->consent_at = sql_get_int(row, 11);
	subscriber->consent_text = sql_dup_text(row, 12);
	subscriber->is_first_due = sql_get_int(row, 13) == 1;
	subscriber->next_due_at = sql_get_int(row, 14);
	if (sqlite3_column_type(row, 15) != SQLITE_NULL)
		g_strlcpy(subscriber->paused_until,
		    (const char *)sqlite3_column_text(row, 15),
		    sizeof(subscriber->paused_until));
	load_preferences(row, subscriber);
	subscriber->moved_at = sql_get_int(row, COLUMN_MOVED_AT);
	return subscriber;
}

/* @param subscriber  set; NULL if there is no row */
static bool
find_one(sqlite3_stmt *statement, struct subscriber **subscriber, GError **error)
{
	enum sql_step step =
	    statement ? ENUMERATION_STEP(statement, subscriber_enumerations, error)
	              : SQL_STEP_FAILED;

	if (step == SQL_STEP_FAILED)
		return false;
	*subscriber = step == SQL_STEP_ROW ? load_subscriber(statement) : NULL;
	return true;
}

static GPtrArray *
load_all(sqlite3_stmt *statement, GError **error)
{
	g_autoptr(GPtrArray) people =
	    g_ptr_array_new_with_free_func((GDestroyNotify)subscriber_free);
	enum sql_step step;

	if (!statement)
		return NULL;
	while ((step = ENUMERATION_STEP(statement, subscriber_enumerations, error)) ==
	       SQL_STEP_ROW)
		g_ptr_array_add(people, load_subscriber(statement));
	return step == SQL_STEP_DONE ? g_steal_pointer(&people) : NULL;
}

bool
subscribers_insert(struct store *store, struct subscriber *subscriber, GError **error)
{
	static const char sql[] =
	    "INSERT INTO subscriber (address, address_key, name, state, frequency,"
	    " weekdays,"
	    " minute, zone, max_full, created_at, consent_at, consent_text,"
	    " next_due_at, is_first_due, paused_until, language, catch_up, sorting,"
	    " abstract, format, empty_digest, updates, crosslist, attach)"
	    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14,"
	    " ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24)";
	const struct schedule *schedule = &subscriber->schedule;

	if (!sql_exec(store, sql, error, SQL_TEXT(subscriber->address),
	        SQL_TEXT(subscriber->address_key), SQL_TEXT(subscriber->name),
	        SQL_TEXT(subscriber_state_name(subscriber->state)),
	        SQL_TEXT(schedule_frequency_name(schedule->frequency)),
	        SQL_INT(schedule->weekdays), SQL_INT(schedule->minute),
	        SQL_TEXT(subscriber->zone), SQL_INT(subscriber->max_full),
	        SQL_INT(subscriber->created_at),
	        SQL_INT_OR_NULL(subscriber->consent_at),
	        SQL_TEXT(subscriber->consent_text),
	        SQL_INT_OR_NULL(subscriber->next_due_at),
	        SQL_INT(subscriber->is_first_due), SQL_PAUSED_UNTIL(subscriber),
	        SQL_PREFERENCES(subscriber)))
		return false;
	subscriber->id = sqlite3_last_insert_rowid(store->db);
	return true;
}

bool
subscribers_update(
    struct store *store, const struct subscriber *subscriber, GError **error)
{
	static const char sql[] =
	    "UPDATE subscriber SET address = ?2, name = ?3, state = ?4, frequency = ?5,"
	    " weekdays = ?6, minute = ?7, zone = ?8, max_full = ?9, consent_at = ?10,"
	    " consent_text = ?11, is_first_due = ?12, next_due_at = ?13,"
	    " paused_until = ?14, language = ?15, catch_up = ?16, sorting = ?17,"
	    " abstract = ?18, format = ?19, empty_digest = ?20, updates = ?21,"
	    " crosslist = ?22, attach = ?23 WHERE id = ?1";
	const struct schedule *schedule = &subscriber->schedule;

	return sql_exec(store, sql, error, SQL_INT(subscriber->id),
	    SQL_TEXT(subscriber->address), SQL_TEXT(subscriber->name),
	    SQL_TEXT(subscriber_state_name(subscriber->state)),
	    SQL_TEXT(schedule_frequency_name(schedule->frequency)),
	    SQL_INT(schedule->weekdays), SQL_INT(schedule->minute),
	    SQL_TEXT(subscriber->zone), SQL_INT(subscriber->max_full),
	    SQL_INT_OR_NULL(subscriber->consent_at), SQL_TEXT(subscriber->consent_text),
	    SQL_INT(subscriber->is_first_due), SQL_INT_OR_NULL(subscriber->next_due_at),
	    SQL_PAUSED_UNTIL(subscriber), SQL_PREFERENCES(subscriber));
}

bool
subscribers_change_address(
    struct store *store, const struct subscriber *subscriber, GError **error)
{
	/*
	 * Rows about the old address from before the subscription get the id, so that
	 * they are erased with the subscriber.
	 */
	static const char sql_system_mail[] =
	    "UPDATE outbox SET subscriber_id = ?1 WHERE subscriber_id IS NULL"
	    " AND address_key = (SELECT address_key FROM subscriber WHERE id = ?1)";
	static const char sql_confirmations[] =
	    "UPDATE confirmation SET subscriber_id = ?1 WHERE subscriber_id IS NULL"
	    " AND address_key = (SELECT address_key FROM subscriber WHERE id = ?1)";
	/* Pending actions of the old address expire. */
	static const char sql_waiting[] =
	    "DELETE FROM confirmation WHERE subscriber_id = ?1 AND used_at IS NULL";
	static const char sql[] =
	    "UPDATE subscriber SET address = ?2, address_key = ?3,"
	    " moved_at = ?4 WHERE id = ?1";
	struct sql_value id = SQL_INT(subscriber->id);

	return sql_exec(store, sql_system_mail, error, id) &&
	       sql_exec(store, sql_confirmations, error, id) &&
	       sql_exec(store, sql_waiting, error, id) &&
	       sql_exec(store, sql, error, id, SQL_TEXT(subscriber->address),
	           SQL_TEXT(subscriber->address_key),
	           SQL_INT_OR_NULL(subscriber->moved_at));
}

bool
subscribers_find(struct store *store, const char *address_key,
    struct subscriber **subscriber, GError **error)
{
	static const char sql[] =
	    "SELECT " SUBSCRIBER_COLUMNS " FROM subscriber WHERE address_key = ?1";
	sql_auto *statement = sql_bind(store, sql, error, SQL_TEXT(address_key));

	return find_one(statement, subscriber, error);
}

bool
subscribers_find_id(
    struct store *store, int64_t id, struct subscriber **subscriber, GError **error)
{
	static const char sql[] =
	    "SELECT " SUBSCRIBER_COLUMNS " FROM subscriber WHERE id = ?1";
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(id));

	return find_one(statement, subscriber, error);
}

struct subscriber *
subscribers_load(struct store *store, int64_t id, GError **error)
{
	struct subscriber *subscriber = NULL;

	if (subscribers_find_id(store, id, &subscriber, error) && !subscriber)
		g_set_error(error, PB_ERROR, PB_ERROR_NOT_FOUND, "no such subscriber");
	return subscriber;
}

GPtrArray *
subscribers_load_page(
    struct store *store, int64_t after, unsigned limit, GError **error)
{
	static const char sql[] =
	    "SELECT " SUBSCRIBER_COLUMNS " FROM subscriber"
	    " WHERE id > ?1 AND state <> 'gone' ORDER BY id LIMIT ?2";
	sql_auto *statement =
	    sql_bind(store, sql, error, SQL_INT(after), SQL_INT(limit));

	return load_all(statement, error);
}

GPtrArray *
subscribers_load_due(
    struct store *store, int64_t now, int64_t through, unsigned limit, GError **error)
{
	static const char sql[] =
	    "SELECT " SUBSCRIBER_COLUMNS " FROM subscriber"
	    " WHERE state = 'active' AND next_due_at <= ?1"
	    " AND (next_due_at <= ?3 OR is_first_due = 1 OR frequency = 'now')"
	    " AND NOT EXISTS"
	    "  (SELECT 1 FROM subscription s JOIN filter f ON f.id = s.filter_id"
	    "   WHERE s.subscriber_id = subscriber.id AND " FILTER_PROGRESS_REVISION
	    "    < (SELECT coalesce(max(revision), 0) FROM paper))"
	    " ORDER BY next_due_at, id LIMIT ?2";
	sql_auto *statement =
	    sql_bind(store, sql, error, SQL_INT(now), SQL_INT(limit), SQL_INT(through));

	return load_all(statement, error);
}

GPtrArray *
subscribers_load_due_after(
    struct store *store, int64_t after, unsigned limit, GError **error)
{
	static const char sql[] = "SELECT " SUBSCRIBER_COLUMNS " FROM subscriber"
	                          " WHERE state = 'active' AND next_due_at > ?1 ORDER "
	                          "BY next_due_at, id LIMIT ?2";
	sql_auto *statement =
	    sql_bind(store, sql, error, SQL_INT(after), SQL_INT(limit));

	return load_all(statement, error);
}

GPtrArray *
subscribers_load_pause_ended(
    struct store *store, int64_t now, unsigned limit, GError **error)
{
	static const char sql[] =
	    "SELECT " SUBSCRIBER_COLUMNS " FROM subscriber"
	    " WHERE paused_until IS NOT NULL AND next_due_at <= ?1"
	    " ORDER BY next_due_at, id LIMIT ?2";
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(now), SQL_INT(limit));

	return load_all(statement, error);
}

bool
subscribers_limit_since_day(
    struct store *store, const char *today, const char *since_day, GError **error)
{
	static const char sql[] =
	    "UPDATE subscription SET since_day = ?2 WHERE since_day > ?1";

	return sql_exec(store, sql, error, SQL_TEXT(today), SQL_TEXT(since_day));
}

bool
subscribers_load_next_due(struct store *store, int64_t *due_at, GError **error)
{
	static const char sql[] =
	    "SELECT min(next_due_at) FROM subscriber WHERE state = 'active'";
	static const char sql_waking[] =
	    "SELECT min(next_due_at) FROM subscriber WHERE paused_until IS NOT NULL";
	int64_t due, waking;

	if (!sql_number(store, sql, &due, error) ||
	    !sql_number(store, sql_waking, &waking, error))
		return false;
	*due_at = due < 0 || (waking >= 0 && waking < due) ? waking : due;
	return true;
}

bool
subscribers_save_due(
    struct store *store, int64_t id, int64_t next_due_at, GError **error)
{
	static const char sql[] =
	    "UPDATE subscriber SET next_due_at = ?2, is_first_due = 0, catch_up = NULL"
	    " WHERE id = ?1";

	return sql_exec(store, sql, error, SQL_INT(id), SQL_INT_OR_NULL(next_due_at));
}

bool
subscribers_postpone(struct store *store, int64_t id, int64_t due_at, GError **error)
{
	static const char sql[] =
	    "UPDATE subscriber SET next_due_at = ?2 WHERE id = ?1";

	return sql_exec(store, sql, error, SQL_INT(id), SQL_INT(due_at));
}

bool
subscribers_count_states(struct store *store, int64_t *counts, GError **error)
{
	int64_t found[SUBSCRIBER_GONE + 1];

	for (int state = 0; state <= SUBSCRIBER_GONE; state++) {
		g_autofree char *name = g_strconcat("subscriber ",
		    subscriber_state_name((enum subscriber_state)state), NULL);

		if (!row_count_load(store, name, &found[state], error))
			return false;
	}
	memcpy(counts, found, sizeof(found));
	return true;
}

GPtrArray *
subscribers_load_subscriptions(
    struct store *store, int64_t subscriber_id, GError **error)
{
	static const char sql[] =
	    "SELECT s.id, s.number, s.filter_id, s.name, s.text, f.canonical,"
	    " s.since_day, s.created_at, s.is_block, s.max_papers, s.note"
	    " FROM subscription s JOIN filter f ON f.id = s.filter_id"
	    " WHERE s.subscriber_id = ?1 ORDER BY s.number";
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(subscriber_id));
	g_autoptr(GPtrArray) all =
	    g_ptr_array_new_with_free_func((GDestroyNotify)subscription_free);
	enum sql_step step;

	if (!statement)
		return NULL;
	while ((step = sql_step(statement, error)) == SQL_STEP_ROW) {
		struct subscription *subscription = subscription_new();

		subscription->subscriber_id = subscriber_id;
		subscription->id = sql_get_int(statement, 0);
		subscription->number = (int)sql_get_int(statement, 1);
		subscription->filter_id = sql_get_int(statement, 2);
		subscription->name = sql_dup_text(statement, 3);
		subscription->text = sql_dup_text(statement, 4);
		subscription->canonical = sql_dup_text(statement, 5);
		g_strlcpy(subscription->since_day,
		    (const char *)sqlite3_column_text(statement, 6),
		    sizeof(subscription->since_day));
		subscription->created_at = sql_get_int(statement, 7);
		subscription->is_block = sql_get_int(statement, 8) == 1;
		subscription->max_papers = MAX((int)sql_get_int(statement, 9), 0);
		subscription->note = sql_dup_text(statement, 10);
		g_ptr_array_add(all, subscription);
	}
	return step == SQL_STEP_DONE ? g_steal_pointer(&all) : NULL;
}

/* Find or insert the row of a canonical filter. */
static bool
save_filter(struct store *store, struct subscription *subscription, const char *hash,
    int64_t matched_revision, int64_t now, GError **error)
{
	static const char sql_insert[] =
	    "INSERT INTO filter (canonical, hash, matched_revision, created_at)"
	    " VALUES (?1, ?2, " FILTER_PROGRESS_JOINED(
	        "?3") ", ?4) ON CONFLICT DO NOTHING";
	static const char sql_find[] = "SELECT id FROM filter WHERE hash = ?1";
	unsigned count;

	return sql_exec_count(store, sql_insert, &count, error,
	           SQL_TEXT(subscription->canonical), SQL_TEXT(hash),
	           SQL_INT(matched_revision), SQL_INT(now)) &&
	       sql_number(
	           store, sql_find, &subscription->filter_id, error, SQL_TEXT(hash)) &&
	       (!count || filter_index_save(store, subscription->filter_id,
	                      subscription->canonical, error));
}

bool
subscribers_insert_subscription(struct store *store, struct subscription *subscription,
    const char *hash, int64_t matched_revision, int64_t now, GError **error)
{
	static const char sql_has[] =
	    "SELECT coalesce((SELECT number FROM subscription"
	    " WHERE subscriber_id = ?1 AND filter_id = ?2), 0)";
	/*
	 * First gap: 1, or the successor of a number in use that is not in use itself.
	 */
	static const char sql_number_free[] =
	    "SELECT min(n) FROM (SELECT 1 AS n UNION ALL"
	    " SELECT number + 1 FROM subscription WHERE subscriber_id = ?1)"
	    " WHERE n NOT IN (SELECT number FROM subscription"
	    " WHERE subscriber_id = ?1)";
	static const char sql[] =
	    "INSERT INTO subscription (subscriber_id, number, filter_id, name, text,"
	    " since_day, created_at, is_block, max_papers, note)"
	    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
	int64_t owner = subscription->subscriber_id, number;

	if (!save_filter(store, subscription, hash, matched_revision, now, error) ||
	    !sql_number(store, sql_has, &number, error, SQL_INT(owner),
	        SQL_INT(subscription->filter_id)))
		return false;
	if (number) {
		return pb_error_set(error, PB_ERROR_INPUT, MSG_FILTER_SAME, "number",
		    MSG_INT(number), "filter", subscription->canonical, NULL);
	}
	number = subscription->number;
	if ((!number &&
	        !sql_number(store, sql_number_free, &number, error, SQL_INT(owner))) ||
	    !sql_exec(store, sql, error, SQL_INT(owner), SQL_INT(number),
	        SQL_INT(subscription->filter_id), SQL_TEXT(subscription->name),
	        SQL_TEXT(subscription->text), SQL_TEXT(subscription->since_day),
	        SQL_INT(now), SQL_INT(subscription->is_block),
	        subscription->max_papers ? SQL_INT(subscription->max_papers) : SQL_NULL,
	        SQL_TEXT(subscription->note)))
		return false;
	subscription->created_at = now;
	subscription->id = sqlite3_last_insert_rowid(store->db);
	subscription->number = (int)number;
	return true;
}

bool
subscribers_change_subscription(struct store *store, struct subscription *subscription,
    const char *hash, int64_t matched_revision, int64_t now, GError **error)
{
	static const char sql_has[] =
	    "SELECT coalesce((SELECT number FROM subscription"
	    " WHERE subscriber_id = ?1 AND filter_id = ?2 AND id <> ?3), 0)";
	static const char sql[] =
	    "UPDATE subscription SET filter_id = ?2, text = ?3,"
	    " since_day = ?4, name = ?5, max_papers = ?6, note = ?7"
	    " WHERE id = ?1";
	int64_t number;

	if (!save_filter(store, subscription, hash, matched_revision, now, error) ||
	    !sql_number(store, sql_has, &number, error,
	        SQL_INT(subscription->subscriber_id), SQL_INT(subscription->filter_id),
	        SQL_INT(subscription->id)))
		return false;
	if (number) {
		return pb_error_set(error, PB_ERROR_INPUT, MSG_FILTER_SAME, "number",
		    MSG_INT(number), "filter", subscription->canonical, NULL);
	}
	return sql_exec(store, sql, error, SQL_INT(subscription->id),
	    SQL_INT(subscription->filter_id), SQL_TEXT(subscription->text),
	    SQL_TEXT(subscription->since_day), SQL_TEXT(subscription->name),
	    subscription->max_papers ? SQL_INT(subscription->max_papers) : SQL_NULL,
	    SQL_TEXT(subscription->note));
}

bool
subscribers_name_subscription(
    struct store *store, int64_t id, const char *name, GError **error)
{
	static const char sql[] = "UPDATE subscription SET name = ?2 WHERE id = ?1";

	return sql_exec(store, sql, error, SQL_INT(id), SQL_TEXT(name));
}

bool
subscribers_number_subscription(
    struct store *store, int64_t id, int number, GError **error)
{
	static const char sql[] = "UPDATE subscription SET number = ?2 WHERE id = ?1";

	return sql_exec(store, sql, error, SQL_INT(id), SQL_INT(number));
}

bool
subscribers_delete_subscription(
    struct store *store, int64_t subscriber_id, int number, GError **error)
{
	static const char sql[] =
	    "DELETE FROM subscription WHERE subscriber_id = ?1 AND number = ?2";

	if (!sql_exec(store, sql, error, SQL_INT(subscriber_id), SQL_INT(number)))
		return false;
	if (sqlite3_changes(store->db))
		return true;
	return pb_error_set(error, PB_ERROR_NOT_FOUND, MSG_FILTER_NONE, "number",
	    MSG_INT(number), NULL);
}

bool
subscribers_delete_subscriptions(
    struct store *store, int64_t subscriber_id, GError **error)
{
	static const char sql[] = "DELETE FROM subscription WHERE subscriber_id = ?1";

	return sql_exec(store, sql, error, SQL_INT(subscriber_id));
}

bool
subscribers_prune_filters(struct store *store, int64_t before, unsigned limit,
    unsigned *count, GError **error)
{
	static const char sql[] =
	    "DELETE FROM filter WHERE id IN (SELECT f.id FROM filter f"
	    " WHERE f.created_at < ?1 AND NOT EXISTS"
	    " (SELECT 1 FROM subscription s WHERE s.filter_id = f.id) LIMIT ?2)";

	return sql_exec_count(
	    store, sql, count, error, SQL_INT(before), SQL_INT(limit));
}

bool
subscribers_count_filters(struct store *store, int64_t *count, GError **error)
{
	return row_count_load(store, "filter", count, error);
}
