/*
 * rate_log.c - how much was answered to whom lately, so that it can be limited.
 */
#include "store/mail/rate_log.h"

#include <string.h>

#include "base/clock.h"
#include "base/token.h"
#include "store/core/sql.h"

/* As the schema has them. */
static const char *const kinds[] = {
    [RATE_CONFIRMATION] = "confirmation",
    [RATE_UNKNOWN] = "stranger",
    [RATE_ANSWER] = "answer",
    [RATE_PROVEN] = "proven",
    [RATE_HELP] = "help",
    [RATE_OWNER] = "owner",
    [RATE_LEFT] = "left",
};

void
rate_key_init(GBytes *key, const char *limit_key, struct rate_key *person)
{
	const char *at = strrchr(limit_key, '@');

	person->person = token_hash_string(key, "limit-person", limit_key);
	person->domain =
	    token_hash_string(key, "limit-domain", at ? at + 1 : limit_key);
}

void
rate_key_clear(struct rate_key *person)
{
	g_clear_pointer(&person->person, g_free);
	g_clear_pointer(&person->domain, g_free);
}

bool
rate_log_insert(struct store *store, enum rate_kind kind, const struct rate_key *person,
    int64_t now, GError **error)
{
	static const char sql[] =
	    "INSERT INTO rate_log (kind, person, domain, at) VALUES (?1, ?2, ?3, ?4)";

	return sql_exec(store, sql, error, SQL_TEXT(kinds[kind]),
	    SQL_TEXT(person->person), SQL_TEXT(person->domain), SQL_INT(now));
}

bool
rate_log_delete(struct store *store, enum rate_kind kind, const struct rate_key *person,
    GError **error)
{
	static const char sql[] =
	    "DELETE FROM rate_log WHERE kind = ?1 AND person = ?2";

	return sql_exec(
	    store, sql, error, SQL_TEXT(kinds[kind]), SQL_TEXT(person->person));
}

bool
rate_log_date_back(struct store *store, enum rate_kind kind,
    const struct rate_key *person, int64_t at, GError **error)
{
	static const char sql[] = "UPDATE rate_log SET at = ?3"
	                          " WHERE kind = ?1 AND person = ?2 AND at > ?3";

	return sql_exec(store, sql, error, SQL_TEXT(kinds[kind]),
	    SQL_TEXT(person->person), SQL_INT(at));
}

bool
rate_log_count(struct store *store, enum rate_kind kind, const struct rate_key *person,
    int64_t since, int64_t *count, GError **error)
{
	static const char sql[] = "SELECT count(*) FROM rate_log"
	                          " WHERE kind = ?1 AND person = ?2 AND at > ?3";

	return sql_number(store, sql, count, error, SQL_TEXT(kinds[kind]),
	    SQL_TEXT(person->person), SQL_INT(since));
}

bool
rate_log_count_domain(struct store *store, enum rate_kind kind,
    const struct rate_key *person, int64_t since, int64_t *count, GError **error)
{
	static const char sql[] = "SELECT count(*) FROM rate_log"
	                          " WHERE kind = ?1 AND domain = ?2 AND at > ?3";

	return sql_number(store, sql, count, error, SQL_TEXT(kinds[kind]),
	    SQL_TEXT(person->domain), SQL_INT(since));
}

bool
rate_log_count_all(struct store *store, enum rate_kind kind, int64_t since,
    int64_t *count, GError **error)
{
	static const char sql[] =
	    "SELECT count(*) FROM rate_log WHERE kind = ?1 AND at > ?2";

	return sql_number(
	    store, sql, count, error, SQL_TEXT(kinds[kind]), SQL_INT(since));
}

/* Names of cursors. */
#define DROPPED_TOTAL   "dropped total"
#define DROPPED_LATELY  "dropped lately"
#define DROPPED_LAST_AT "dropped last at"

bool
rate_log_load_dropped(
    struct store *store, struct rate_log_dropped *dropped, GError **error)
{
	return store_load_cursor(store, DROPPED_TOTAL, 0, &dropped->total, error) &&
	       store_load_cursor(store, DROPPED_LATELY, 0, &dropped->lately, error) &&
	       store_load_cursor(store, DROPPED_LAST_AT, -1, &dropped->last_at, error);
}

bool
rate_log_save_dropped(struct store *store, int64_t now, GError **error)
{
	struct rate_log_dropped dropped;

	if (!rate_log_load_dropped(store, &dropped, error))
		return false;
	if (dropped.last_at < now - CLOCK_DAY_S)
		dropped.lately = 0;
	return store_save_cursor(store, DROPPED_TOTAL, dropped.total + 1, error) &&
	       store_save_cursor(store, DROPPED_LATELY, dropped.lately + 1, error) &&
	       store_save_cursor(store, DROPPED_LAST_AT, now, error);
}

bool
rate_log_prune(struct store *store, int64_t before, unsigned limit, unsigned *count,
    GError **error)
{
	static const char sql[] = "DELETE FROM rate_log WHERE id IN"
	                          " (SELECT id FROM rate_log WHERE at < ?1 LIMIT ?2)";

	return sql_exec_count(
	    store, sql, count, error, SQL_INT(before), SQL_INT(limit));
}
