/*
 * rate_log.c - recent replies by recipient, for rate limits.
 */
#include "store/mail/rate_log.h"

#include <string.h>

#include "base/clock.h"
#include "base/token.h"
#include "store/core/sql.h"

/* As in the schema. */
static const char *const kinds[] = {
    [RATE_CONFIRMATION] = "confirmation",
    [RATE_UNKNOWN] = "unknown",
    [RATE_REPLY] = "reply",
    [RATE_PROVEN] = "proven",
    [RATE_OWNER] = "owner",
    [RATE_LEFT] = "left",
    [RATE_LINK] = "link",
    [RATE_TYPED] = "typed",
    [RATE_INVITATION] = "invitation",
};

static const char *const budgets[RATE_BUDGETS] = {
    [RATE_BUDGET_MAIL] = "mail",
    [RATE_BUDGET_VERIFIED] = "verified",
    [RATE_BUDGET_PAGE] = "page",
};

void
rate_key_init(
    GBytes *secret, const char *address, enum rate_budget budget, struct rate_key *key)
{
	const char *at = strrchr(address, '@');

	key->address_hash = token_hash_string(secret, "limit-person", address);
	key->domain_hash =
	    token_hash_string(secret, "limit-domain", at ? at + 1 : address);
	key->budget = budget;
}

void
rate_key_clear(struct rate_key *key)
{
	g_clear_pointer(&key->address_hash, g_free);
	g_clear_pointer(&key->domain_hash, g_free);
}

bool
rate_log_insert(struct store *store, enum rate_kind kind, const struct rate_key *key,
    int64_t now, GError **error)
{
	static const char sql[] =
	    "INSERT INTO rate_log (kind, address_hash, domain_hash, at, budget)"
	    " VALUES (?1, ?2, ?3, ?4, ?5)";

	return sql_exec(store, sql, error, SQL_TEXT(kinds[kind]),
	    SQL_TEXT(key->address_hash), SQL_TEXT(key->domain_hash), SQL_INT(now),
	    SQL_TEXT(budgets[key->budget]));
}

bool
rate_log_delete(struct store *store, enum rate_kind kind, const struct rate_key *key,
    GError **error)
{
	static const char sql[] =
	    "DELETE FROM rate_log WHERE kind = ?1 AND address_hash = ?2";

	return sql_exec(
	    store, sql, error, SQL_TEXT(kinds[kind]), SQL_TEXT(key->address_hash));
}

bool
rate_log_backdate(struct store *store, enum rate_kind kind, const struct rate_key *key,
    int64_t at, GError **error)
{
	static const char sql[] = "UPDATE rate_log SET at = ?3"
	                          " WHERE kind = ?1 AND address_hash = ?2 AND at > ?3";

	return sql_exec(store, sql, error, SQL_TEXT(kinds[kind]),
	    SQL_TEXT(key->address_hash), SQL_INT(at));
}

bool
rate_log_count(struct store *store, enum rate_kind kind, const struct rate_key *key,
    int64_t since, int64_t *count, GError **error)
{
	static const char sql[] = "SELECT count(*) FROM rate_log"
	                          " WHERE kind = ?1 AND address_hash = ?2 AND at > ?3";

	return sql_number(store, sql, count, error, SQL_TEXT(kinds[kind]),
	    SQL_TEXT(key->address_hash), SQL_INT(since));
}

bool
rate_log_count_domain(struct store *store, enum rate_kind kind,
    const struct rate_key *key, int64_t since, int64_t *count, GError **error)
{
	static const char sql[] =
	    "SELECT count(*) FROM rate_log WHERE kind = ?1 AND domain_hash = ?2"
	    " AND budget = ?3 AND at > ?4";

	return sql_number(store, sql, count, error, SQL_TEXT(kinds[kind]),
	    SQL_TEXT(key->domain_hash), SQL_TEXT(budgets[key->budget]), SQL_INT(since));
}

bool
rate_log_count_all(struct store *store, enum rate_kind kind, enum rate_budget budget,
    int64_t since, int64_t *count, GError **error)
{
	static const char sql[] =
	    "SELECT count(*) FROM rate_log WHERE kind = ?1 AND budget = ?2 AND at > ?3";

	return sql_number(store, sql, count, error, SQL_TEXT(kinds[kind]),
	    SQL_TEXT(budgets[budget]), SQL_INT(since));
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
