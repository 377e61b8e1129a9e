/*
 * allowance.c - how much was answered to whom lately, so that it can be limited.
 */
#include "store/allowance.h"

#include <string.h>

#include "base/clock.h"
#include "base/token.h"
#include "store/sql.h"

/* As the schema has them. */
static const char *const kinds[] = {
    [ALLOWANCE_CONFIRMATION] = "confirmation",
    [ALLOWANCE_STRANGER] = "stranger",
    [ALLOWANCE_ANSWER] = "answer",
    [ALLOWANCE_PROVEN] = "proven",
    [ALLOWANCE_HELP] = "help",
    [ALLOWANCE_OWNER] = "owner",
    [ALLOWANCE_LEFT] = "left",
};

void
allowance_person_init(
    GBytes *key, const char *limit_key, struct allowance_person *person)
{
	const char *at = strrchr(limit_key, '@');

	person->person = token_hash_text(key, "limit-person", limit_key);
	person->domain = token_hash_text(key, "limit-domain", at ? at + 1 : limit_key);
}

void
allowance_person_clear(struct allowance_person *person)
{
	g_clear_pointer(&person->person, g_free);
	g_clear_pointer(&person->domain, g_free);
}

bool
allowance_insert(struct store *store, enum allowance_kind kind,
    const struct allowance_person *person, int64_t now, GError **error)
{
	static const char sql[] =
	    "INSERT INTO allowance (kind, person, domain, at) VALUES (?1, ?2, ?3, ?4)";

	return sql_run(store, sql, error, SQL_TEXT(kinds[kind]),
	    SQL_TEXT(person->person), SQL_TEXT(person->domain), SQL_INT(now));
}

bool
allowance_delete(struct store *store, enum allowance_kind kind,
    const struct allowance_person *person, GError **error)
{
	static const char sql[] =
	    "DELETE FROM allowance WHERE kind = ?1 AND person = ?2";

	return sql_run(
	    store, sql, error, SQL_TEXT(kinds[kind]), SQL_TEXT(person->person));
}

bool
allowance_date_back(struct store *store, enum allowance_kind kind,
    const struct allowance_person *person, int64_t at, GError **error)
{
	static const char sql[] = "UPDATE allowance SET at = ?3"
	                          " WHERE kind = ?1 AND person = ?2 AND at > ?3";

	return sql_run(store, sql, error, SQL_TEXT(kinds[kind]),
	    SQL_TEXT(person->person), SQL_INT(at));
}

bool
allowance_count(struct store *store, enum allowance_kind kind,
    const struct allowance_person *person, int64_t since, int64_t *count,
    GError **error)
{
	static const char sql[] = "SELECT count(*) FROM allowance"
	                          " WHERE kind = ?1 AND person = ?2 AND at > ?3";

	return sql_number(store, sql, count, error, SQL_TEXT(kinds[kind]),
	    SQL_TEXT(person->person), SQL_INT(since));
}

bool
allowance_count_domain(struct store *store, enum allowance_kind kind,
    const struct allowance_person *person, int64_t since, int64_t *count,
    GError **error)
{
	static const char sql[] = "SELECT count(*) FROM allowance"
	                          " WHERE kind = ?1 AND domain = ?2 AND at > ?3";

	return sql_number(store, sql, count, error, SQL_TEXT(kinds[kind]),
	    SQL_TEXT(person->domain), SQL_INT(since));
}

bool
allowance_count_all(struct store *store, enum allowance_kind kind, int64_t since,
    int64_t *count, GError **error)
{
	static const char sql[] =
	    "SELECT count(*) FROM allowance WHERE kind = ?1 AND at > ?2";

	return sql_number(
	    store, sql, count, error, SQL_TEXT(kinds[kind]), SQL_INT(since));
}

/* Names of cursors. */
#define DROPPED_TOTAL   "dropped total"
#define DROPPED_LATELY  "dropped lately"
#define DROPPED_LAST_AT "dropped last at"

bool
allowance_load_dropped(
    struct store *store, struct allowance_dropped *dropped, GError **error)
{
	return store_load_cursor(store, DROPPED_TOTAL, 0, &dropped->total, error) &&
	       store_load_cursor(store, DROPPED_LATELY, 0, &dropped->lately, error) &&
	       store_load_cursor(store, DROPPED_LAST_AT, -1, &dropped->last_at, error);
}

bool
allowance_save_dropped(struct store *store, int64_t now, GError **error)
{
	struct allowance_dropped dropped;

	if (!allowance_load_dropped(store, &dropped, error))
		return false;
	if (dropped.last_at < now - CLOCK_DAY_S)
		dropped.lately = 0;
	return store_save_cursor(store, DROPPED_TOTAL, dropped.total + 1, error) &&
	       store_save_cursor(store, DROPPED_LATELY, dropped.lately + 1, error) &&
	       store_save_cursor(store, DROPPED_LAST_AT, now, error);
}

bool
allowance_prune(struct store *store, int64_t before, unsigned limit, unsigned *count,
    GError **error)
{
	static const char sql[] = "DELETE FROM allowance WHERE id IN"
	                          " (SELECT id FROM allowance WHERE at < ?1 LIMIT ?2)";

	return sql_change(store, sql, count, error, SQL_INT(before), SQL_INT(limit));
}
