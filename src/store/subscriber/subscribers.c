/*
 * subscribers.c - subscribers, their filters, and the shared table of filters.
 */
#include "store/subscriber/subscribers.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "store/core/record.h"
#include "store/paper/filter_index.h"
#include "store/paper/filter_progress.h"
#include "store/subscriber/shares.h"

#define SUBSCRIBER_COLUMNS                                                           \
	"id, address, address_key, name, state, frequency, weekdays, minute, zone, " \
	"max_full, created_at, consent_at, consent_text, is_first_due, next_due_at," \
	" paused_until, language, coalesce(catch_up, 0), sorting, abstract, format," \
	" empty_digest, updates, crosslist, attach, grouping, feedback, checkup, "   \
	"versions, retractions, moved_at, wrote_at"

#define PREFERENCE(preference) preferences.choice[PREFERENCE_##preference]
RECORD_LAYOUT_OF(subscriber_layout, subscriber, "subscriber",
    "ittTwwnntnnNTnNDTnwwwwwwwwwwwwNN",
    (ENUMERATION_SUBSCRIBER_STATE, ENUMERATION_SUBSCRIBER_FREQUENCY,
        ENUMERATION_SUBSCRIBER_SORTING, ENUMERATION_SUBSCRIBER_ABSTRACT,
        ENUMERATION_SUBSCRIBER_FORMAT, ENUMERATION_SUBSCRIBER_EMPTY_DIGEST,
        ENUMERATION_SUBSCRIBER_UPDATES, ENUMERATION_SUBSCRIBER_CROSSLIST,
        ENUMERATION_SUBSCRIBER_ATTACH, ENUMERATION_SUBSCRIBER_GROUPING,
        ENUMERATION_SUBSCRIBER_FEEDBACK, ENUMERATION_SUBSCRIBER_CHECKUP,
        ENUMERATION_SUBSCRIBER_VERSIONS, ENUMERATION_SUBSCRIBER_RETRACTIONS),
    (.make = (void *(*)(void))subscriber_new, .free = (GDestroyNotify)subscriber_free),
    id, address, address_key, name, state, schedule.frequency, schedule.weekdays,
    schedule.minute, zone, max_full, created_at, consent_at, consent_text, is_first_due,
    next_due_at, paused_until, language, catch_up, PREFERENCE(ORDER),
    PREFERENCE(ABSTRACT), PREFERENCE(FORMAT), PREFERENCE(EMPTY), PREFERENCE(UPDATES),
    PREFERENCE(CROSSLIST), PREFERENCE(ATTACH), PREFERENCE(GROUP), PREFERENCE(FEEDBACK),
    PREFERENCE(CHECKUP), PREFERENCE(VERSIONS), PREFERENCE(RETRACTIONS), moved_at,
    wrote_at);

/* An unset day is stored as NULL. */
#define SQL_PAUSED_UNTIL(subscriber) \
	SQL_TEXT(*(subscriber)->paused_until ? (subscriber)->paused_until : NULL)

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
	    SQL_TEXT(get_word(subscriber, PREFERENCE_ATTACH)),                   \
	    SQL_TEXT(get_word(subscriber, PREFERENCE_GROUP)),                    \
	    SQL_TEXT(get_word(subscriber, PREFERENCE_FEEDBACK)),                 \
	    SQL_TEXT(get_word(subscriber, PREFERENCE_CHECKUP)),                  \
	    SQL_TEXT(get_word(subscriber, PREFERENCE_VERSIONS)),                 \
	    SQL_TEXT(get_word(subscriber, PREFERENCE_RETRACTIONS))

bool
subscribers_insert(struct store *store, struct subscriber *subscriber, GError **error)
{
	static const char sql[] =
	    "INSERT INTO subscriber (address, address_key, name, state, frequency,"
	    " weekdays,"
	    " minute, zone, max_full, created_at, consent_at, consent_text,"
	    " next_due_at, is_first_due, paused_until, language, catch_up, sorting,"
	    " abstract, format, empty_digest, updates, crosslist, attach, grouping,"
	    " feedback, checkup, versions, retractions, checkup_at)"
	    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14,"
	    " ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28,"
	    " ?29, 86400 * (?30 + (SELECT coalesce(max(id), 0) FROM subscriber) % 28))"
	    " RETURNING id";
	const struct schedule *schedule = &subscriber->schedule;
	/* Monthly reports begin after a month, those of an import not all at once, nor
	 * in the past. */
	int64_t report_day = MAX(subscriber->created_at / CLOCK_DAY_S + 30,
	    subscriber->next_due_at / CLOCK_DAY_S + 1);

	return sql_number(store, sql, &subscriber->id, error,
	    SQL_TEXT(subscriber->address), SQL_TEXT(subscriber->address_key),
	    SQL_TEXT(subscriber->name),
	    SQL_TEXT(subscriber_state_name(subscriber->state)),
	    SQL_TEXT(schedule_frequency_name(schedule->frequency)),
	    SQL_INT(schedule->weekdays), SQL_INT(schedule->minute),
	    SQL_TEXT(subscriber->zone), SQL_INT(subscriber->max_full),
	    SQL_INT(subscriber->created_at), SQL_INT_OR_NULL(subscriber->consent_at),
	    SQL_TEXT(subscriber->consent_text),
	    SQL_INT_OR_NULL(subscriber->next_due_at), SQL_INT(subscriber->is_first_due),
	    SQL_PAUSED_UNTIL(subscriber), SQL_PREFERENCES(subscriber),
	    SQL_INT(report_day));
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
	    " crosslist = ?22, attach = ?23, grouping = ?24, feedback = ?25, checkup ="
	    " ?26, versions = ?27, retractions = ?28"
	    " WHERE id = ?1";
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

	return record_find(
	    store, sql, &subscriber_layout, subscriber, error, SQL_TEXT(address_key));
}

bool
subscribers_find_id(
    struct store *store, int64_t id, struct subscriber **subscriber, GError **error)
{
	static const char sql[] =
	    "SELECT " SUBSCRIBER_COLUMNS " FROM subscriber WHERE id = ?1";

	return record_find(
	    store, sql, &subscriber_layout, subscriber, error, SQL_INT(id));
}

struct subscriber *
subscribers_load(struct store *store, int64_t id, GError **error)
{
	struct subscriber *subscriber = NULL;

	if (subscribers_find_id(store, id, &subscriber, error) && !subscriber)
		pb_fail(error, PB_ERROR_NOT_FOUND, "no such subscriber");
	return subscriber;
}

GPtrArray *
subscribers_load_batch(
    struct store *store, int64_t after, unsigned limit, GError **error)
{
	static const char sql[] =
	    "SELECT " SUBSCRIBER_COLUMNS " FROM subscriber"
	    " WHERE id > ?1 AND state <> 'gone' ORDER BY id LIMIT ?2";

	return record_load_all(
	    store, sql, &subscriber_layout, error, SQL_INT(after), SQL_INT(limit));
}

#define NEWEST_REVISION "(SELECT coalesce(max(revision), 0) FROM paper)"

/* As in the index subscriber_urgent. */
#define IS_URGENT "(is_first_due = 1 OR frequency = 'now')"

/* Mostly all filters have been matched: check that once, not for each. */
#define SELECT_DUE(condition)                                                    \
	"SELECT " SUBSCRIBER_COLUMNS " FROM subscriber"                          \
	" WHERE state = 'active' AND " condition " AND next_due_at <= ?1"        \
	" AND (" NEWEST_REVISION " <= " FILTER_PROGRESS_LEAST " OR NOT EXISTS"   \
	"  (SELECT 1 FROM subscription s JOIN filter f ON f.id = s.filter_id"    \
	"   WHERE s.subscriber_id = subscriber.id AND " FILTER_PROGRESS_REVISION \
	"    < " NEWEST_REVISION "))"                                            \
	" ORDER BY next_due_at, id LIMIT ?2" SQL_LOCK_FREE_ROWS("subscriber")

GPtrArray *
subscribers_load_due(
    struct store *store, int64_t now, int64_t through, unsigned limit, GError **error)
{
	static const char sql_urgent[] = SELECT_DUE(IS_URGENT);
	static const char sql_rest[] = SELECT_DUE("NOT " IS_URGENT);
	g_autoptr(GPtrArray) due = record_load_all(
	    store, sql_urgent, &subscriber_layout, error, SQL_INT(now), SQL_INT(limit));
	GPtrArray *others;

	if (!due)
		return NULL;
	others = record_load_all(store, sql_rest, &subscriber_layout, error,
	    SQL_INT(MIN(now, through)), SQL_INT(limit - due->len));
	if (!others)
		return NULL;
	g_ptr_array_extend_and_steal(due, others);
	return g_steal_pointer(&due);
}

GPtrArray *
subscribers_load_due_after(
    struct store *store, int64_t after, unsigned limit, GError **error)
{
	static const char sql[] = "SELECT " SUBSCRIBER_COLUMNS " FROM subscriber"
	                          " WHERE state = 'active' AND next_due_at > ?1 ORDER "
	                          "BY next_due_at, id LIMIT ?2";

	return record_load_all(
	    store, sql, &subscriber_layout, error, SQL_INT(after), SQL_INT(limit));
}

GPtrArray *
subscribers_load_pause_ended(
    struct store *store, int64_t now, unsigned limit, GError **error)
{
	static const char sql[] =
	    "SELECT " SUBSCRIBER_COLUMNS " FROM subscriber"
	    " WHERE paused_until IS NOT NULL AND next_due_at <= ?1"
	    " ORDER BY next_due_at, id LIMIT ?2";

	return record_load_all(
	    store, sql, &subscriber_layout, error, SQL_INT(now), SQL_INT(limit));
}

GPtrArray *
subscribers_load_checkups(
    struct store *store, int64_t now, unsigned limit, GError **error)
{
	RECORD_LAYOUT(layout, checkup_due, "subscriber", "in", (), subscriber_id, at);
	static const char sql[] =
	    "SELECT id, checkup_at FROM subscriber WHERE state = 'active'"
	    " AND checkup = 'on' AND checkup_at <= ?1 ORDER BY checkup_at, id LIMIT ?2";

	return record_load_all(
	    store, sql, &layout, error, SQL_INT(now), SQL_INT(limit));
}

bool
subscribers_save_checkup(struct store *store, int64_t id, int64_t at, GError **error)
{
	static const char sql[] = "UPDATE subscriber SET checkup_at = ?2 WHERE id = ?1";

	return sql_exec(store, sql, error, SQL_INT(id), SQL_INT(at));
}

bool
subscribers_save_wrote(struct store *store, int64_t id, int64_t at, GError **error)
{
	static const char sql[] = "UPDATE subscriber SET wrote_at = ?2 WHERE id = ?1";

	return sql_exec(store, sql, error, SQL_INT(id), SQL_INT(at));
}

bool
subscribers_load_next_checkup(struct store *store, int64_t *at, GError **error)
{
	static const char sql[] = "SELECT min(checkup_at) FROM subscriber"
	                          " WHERE state = 'active' AND checkup = 'on'";

	return sql_number(store, sql, at, error);
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

/* @param count  at most SQL_LIST_MAX */
static bool
save_due(struct store *store, const struct subscriber_due *const *dues, unsigned count,
    GError **error)
{
	static const char sql[] =
	    SQL_WITH_LIST("WITH j (subscriber_id, next_at) AS (VALUES ",
	        "(CAST(? AS BIGINT), CAST(? AS BIGINT))", "(?, ?)",
	        ") UPDATE subscriber SET next_due_at = j.next_at, is_first_due = 0,"
	        " catch_up = NULL FROM j WHERE subscriber.id = j.subscriber_id");
	struct sql_value values[2 * SQL_LIST_MAX + 1] = {0};

	for (unsigned i = 0; i < SQL_LIST_MAX; i++) {
		bool has = i < count;

		values[2 * i] = has ? SQL_INT(dues[i]->id) : SQL_NULL;
		values[2 * i + 1] = has ? SQL_INT_OR_NULL(dues[i]->next_at) : SQL_NULL;
	}
	return sql_exec_values(store, sql, values, error);
}

bool
subscribers_save_due(struct store *store, const struct subscriber_due *const *dues,
    unsigned count, GError **error)
{
	for (unsigned i = 0; i < count; i += SQL_LIST_MAX)
		if (!save_due(store, dues + i, MIN(count - i, SQL_LIST_MAX), error))
			return false;
	return true;
}

bool
subscribers_postpone(struct store *store, int64_t id, int64_t due_at, GError **error)
{
	static const char sql[] = "UPDATE subscriber SET next_due_at = ?2"
	                          " WHERE id = ?1 AND next_due_at < ?2";

	return sql_exec(store, sql, error, SQL_INT(id), SQL_INT(due_at));
}

RECORD_LAYOUT_OF(subscription_layout, subscription, "subscription", "iinnTttdnnnT", (),
    (.make = (void *(*)(void))subscription_new,
        .free = (GDestroyNotify)subscription_free),
    id, subscriber_id, number, filter_id, name, text, canonical, since_day, created_at,
    is_block, max_papers, note);

GPtrArray *
subscribers_load_subscriptions(
    struct store *store, int64_t subscriber_id, GError **error)
{
	static const char sql[] =
	    "SELECT s.id, s.subscriber_id, s.number, s.filter_id, s.name, s.text,"
	    " f.canonical, s.since_day, s.created_at, s.is_block,"
	    " coalesce(s.max_papers, 0), s.note"
	    " FROM subscription s JOIN filter f ON f.id = s.filter_id"
	    " WHERE s.subscriber_id = ?1 ORDER BY s.number";

	return record_load_all(
	    store, sql, &subscription_layout, error, SQL_INT(subscriber_id));
}

GPtrArray *
subscribers_load_before_change(struct store *store, int64_t proposal_id, GError **error)
{
	static const char sql[] =
	    "SELECT c.subscription_id, p.subscriber_id, c.number, 0, c.name, c.text,"
	    " c.canonical, c.since_day, c.created_at, c.is_block,"
	    " coalesce(c.max_papers, 0), c.note"
	    " FROM proposal_change c JOIN proposal p ON p.id = c.proposal_id"
	    " WHERE c.proposal_id = ?1 AND c.is_after = 0 ORDER BY c.subscription_id";

	return record_load_all(
	    store, sql, &subscription_layout, error, SQL_INT(proposal_id));
}

/* Find or insert the row of a canonical filter. */
static bool
save_filter(struct store *store, struct subscription *subscription, const char *hash,
    int64_t matched_revision, int64_t now, GError **error)
{
	static const char sql_insert[] =
	    "INSERT INTO filter (canonical, hash, matched_revision, created_at)"
	    " VALUES (?1, ?2, " FILTER_PROGRESS_JOINED(
	        "?3") ", ?4) ON CONFLICT (hash) DO NOTHING";
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
	    " SELECT number + 1 FROM subscription WHERE subscriber_id = ?1) AS next"
	    " WHERE n NOT IN (SELECT number FROM subscription"
	    " WHERE subscriber_id = ?1)";
	static const char sql[] =
	    "INSERT INTO subscription (subscriber_id, number, filter_id, name, text,"
	    " since_day, created_at, is_block, max_papers, note)"
	    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) RETURNING id";
	int64_t owner = subscription->subscriber_id, number;

	if (!save_filter(store, subscription, hash, matched_revision, now, error) ||
	    !sql_number(store, sql_has, &number, error, SQL_INT(owner),
	        SQL_INT(subscription->filter_id)))
		return false;
	if (number) {
		return pb_error_set(error, PB_ERROR_INPUT,
		    N_("filter {number} is the same: {filter}"), "number",
		    MSG_INT(number), "filter", subscription->canonical, NULL);
	}
	number = subscription->number;
	if ((!number &&
	        !sql_number(store, sql_number_free, &number, error, SQL_INT(owner))) ||
	    !sql_number(store, sql, &subscription->id, error, SQL_INT(owner),
	        SQL_INT(number), SQL_INT(subscription->filter_id),
	        SQL_TEXT(subscription->name), SQL_TEXT(subscription->text),
	        SQL_TEXT(subscription->since_day), SQL_INT(now),
	        SQL_INT(subscription->is_block),
	        subscription->max_papers ? SQL_INT(subscription->max_papers) : SQL_NULL,
	        SQL_TEXT(subscription->note)))
		return false;
	subscription->created_at = now;
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
	static const char sql_is_same[] =
	    "SELECT EXISTS (SELECT 1 FROM subscription WHERE id = ?1 AND filter_id ="
	    " ?2)";
	static const char sql[] =
	    "UPDATE subscription SET filter_id = ?2, text = ?3,"
	    " since_day = ?4, name = ?5, max_papers = ?6, note = ?7"
	    " WHERE id = ?1";
	int64_t number;
	bool is_same;

	if (!save_filter(store, subscription, hash, matched_revision, now, error) ||
	    !sql_number(store, sql_has, &number, error,
	        SQL_INT(subscription->subscriber_id), SQL_INT(subscription->filter_id),
	        SQL_INT(subscription->id)))
		return false;
	if (number) {
		return pb_error_set(error, PB_ERROR_INPUT,
		    N_("filter {number} is the same: {filter}"), "number",
		    MSG_INT(number), "filter", subscription->canonical, NULL);
	}
	return sql_has(store, sql_is_same, &is_same, error, SQL_INT(subscription->id),
	           SQL_INT(subscription->filter_id)) &&
	       sql_exec(store, sql, error, SQL_INT(subscription->id),
	           SQL_INT(subscription->filter_id), SQL_TEXT(subscription->text),
	           SQL_TEXT(subscription->since_day), SQL_TEXT(subscription->name),
	           subscription->max_papers ? SQL_INT(subscription->max_papers)
	                                    : SQL_NULL,
	           SQL_TEXT(subscription->note)) &&
	       (is_same || shares_record_edit(store, subscription->id,
	                       subscription->text, now, error));
}

bool
subscribers_restore_subscription(struct store *store,
    const struct subscription *subscription, int64_t matched_revision, int64_t now,
    GError **error)
{
	static const char sql[] =
	    "INSERT INTO subscription (id, subscriber_id, number, filter_id, name, "
	    "text,"
	    " since_day, created_at, is_block, max_papers, note)"
	    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
	g_autofree char *hash = g_compute_checksum_for_string(
	    G_CHECKSUM_SHA256, subscription->canonical, -1);
	pb_auto(subscription) copy = subscription_copy(subscription);

	return save_filter(store, copy, hash, matched_revision, now, error) &&
	       sql_exec(store, sql, error, SQL_INT(copy->id),
	           SQL_INT(copy->subscriber_id), SQL_INT(copy->number),
	           SQL_INT(copy->filter_id), SQL_TEXT(copy->name), SQL_TEXT(copy->text),
	           SQL_TEXT(copy->since_day), SQL_INT(copy->created_at),
	           SQL_INT(copy->is_block),
	           copy->max_papers ? SQL_INT(copy->max_papers) : SQL_NULL,
	           SQL_TEXT(copy->note));
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

	unsigned count;

	if (!sql_exec_count(
	        store, sql, &count, error, SQL_INT(subscriber_id), SQL_INT(number)))
		return false;
	if (count)
		return true;
	return pb_error_set(error, PB_ERROR_NOT_FOUND, N_("no such filter: {number}"),
	    "number", MSG_INT(number), NULL);
}

bool
subscribers_delete_subscriptions(
    struct store *store, int64_t subscriber_id, GError **error)
{
	static const char sql[] = "DELETE FROM subscription WHERE subscriber_id = ?1";

	return sql_exec(store, sql, error, SQL_INT(subscriber_id));
}
