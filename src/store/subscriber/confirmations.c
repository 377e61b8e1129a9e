/*
 * confirmations.c - pending actions: double opt-in, undo, erasure.
 */
#include "store/subscriber/confirmations.h"

#include "base/error.h"
#include "store/core/record.h"

const char *
confirmation_purpose_name(enum confirmation_purpose purpose)
{
	return record_get_word(ENUMERATION_CONFIRMATION_PURPOSE, purpose);
}

bool
confirmations_revoke(struct store *store, enum confirmation_purpose purpose,
    const char *address_key, GError **error)
{
	/* For a change of address, one of the two may have been used already. */
	static const char sql[] =
	    "DELETE FROM confirmation WHERE purpose = ?1 AND address_key = ?2"
	    " AND (used_at IS NULL OR purpose = 'address')";

	return sql_exec(store, sql, error, SQL_TEXT(confirmation_purpose_name(purpose)),
	    SQL_TEXT(address_key));
}

bool
confirmations_insert(
    struct store *store, struct confirmation *confirmation, GError **error)
{
	static const char sql[] =
	    "INSERT INTO confirmation (hash, purpose, address, address_key, recipient,"
	    " subscriber_id, action, details, made_at, expires_at)"
	    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) RETURNING id";

	if (!sql_number(store, sql, &confirmation->id, error,
	        SQL_TEXT(confirmation->hash),
	        SQL_TEXT(confirmation_purpose_name(confirmation->purpose)),
	        SQL_TEXT(confirmation->address), SQL_TEXT(confirmation->address_key),
	        SQL_TEXT(confirmation->recipient),
	        SQL_INT_OR_NULL(
	            confirmation->subscriber_id ? confirmation->subscriber_id : -1),
	        SQL_TEXT(confirmation->action), SQL_TEXT(confirmation->details),
	        SQL_INT(confirmation->made_at), SQL_INT(confirmation->expires_at)))
		return false;
	confirmation->used_at = -1;
	confirmation->questioned_at = -1;
	return true;
}

#define COLUMNS                                                                       \
	"id, hash, purpose, address, address_key, recipient,"                         \
	" coalesce(subscriber_id, 0), action, details, made_at, expires_at, used_at," \
	" questioned_at"

RECORD_LAYOUT(layout, confirmation, "confirmation", "itwtttntTnnNN",
    (ENUMERATION_CONFIRMATION_PURPOSE), id, hash, purpose, address, address_key,
    recipient, subscriber_id, action, details, made_at, expires_at, used_at,
    questioned_at);

bool
confirmations_find(struct store *store, const char *hash,
    struct confirmation **confirmation, GError **error)
{
	static const char sql[] =
	    "SELECT " COLUMNS " FROM confirmation WHERE hash = ?1";

	return record_find(store, sql, &layout, confirmation, error, SQL_TEXT(hash));
}

bool
confirmations_find_id(
    struct store *store, int64_t id, struct confirmation **confirmation, GError **error)
{
	static const char sql[] = "SELECT " COLUMNS " FROM confirmation WHERE id = ?1";

	return record_find(store, sql, &layout, confirmation, error, SQL_INT(id));
}

bool
confirmations_find_pending(struct store *store, enum confirmation_purpose purpose,
    const char *address_key, int64_t now, struct confirmation **confirmation,
    GError **error)
{
	static const char sql[] =
	    "SELECT " COLUMNS
	    " FROM confirmation WHERE purpose = ?1 AND address_key = ?2"
	    " AND used_at IS NULL AND expires_at > ?3 ORDER BY id DESC LIMIT 1";

	return record_find(store, sql, &layout, confirmation, error,
	    SQL_TEXT(confirmation_purpose_name(purpose)), SQL_TEXT(address_key),
	    SQL_INT(now));
}

bool
confirmations_consume(struct store *store, int64_t id, int64_t now, GError **error)
{
	static const char sql[] = "UPDATE confirmation SET used_at = ?2, action = ''"
	                          " WHERE id = ?1 AND used_at IS NULL";
	unsigned count;

	if (!sql_exec_count(store, sql, &count, error, SQL_INT(id), SQL_INT(now)))
		return false;
	if (count == 1)
		return true;
	return pb_fail(error, PB_ERROR_INPUT, "this is already done");
}

bool
confirmations_save_questioned(
    struct store *store, int64_t id, int64_t now, GError **error)
{
	static const char sql[] =
	    "UPDATE confirmation SET questioned_at = ?2 WHERE id = ?1";

	return sql_exec(store, sql, error, SQL_INT(id), SQL_INT(now));
}

bool
confirmations_delete(struct store *store, int64_t id, GError **error)
{
	static const char sql[] = "DELETE FROM confirmation WHERE id = ?1";

	return sql_exec(store, sql, error, SQL_INT(id));
}

bool
confirmations_count_used(struct store *store, enum confirmation_purpose purpose,
    const char *address_key, int64_t *count, GError **error)
{
	static const char sql[] = "SELECT count(*) FROM confirmation"
	                          " WHERE purpose = ?1 AND address_key = ?2"
	                          " AND used_at IS NOT NULL";

	return sql_number(store, sql, count, error,
	    SQL_TEXT(confirmation_purpose_name(purpose)), SQL_TEXT(address_key));
}

bool
confirmations_count_pending(
    struct store *store, int64_t now, int64_t *count, GError **error)
{
	static const char sql[] = "SELECT count(*) FROM confirmation WHERE used_at IS "
	                          "NULL AND expires_at > ?1"
	                          " AND purpose <> 'undo'";

	return sql_number(store, sql, count, error, SQL_INT(now));
}

bool
confirmations_count_approvals(
    struct store *store, int64_t now, int64_t *count, GError **error)
{
	static const char sql[] = "SELECT count(*) FROM confirmation WHERE used_at IS "
	                          "NULL AND expires_at > ?1 AND purpose = 'approval'";

	return sql_number(store, sql, count, error, SQL_INT(now));
}

GPtrArray *
confirmations_load_batch(
    struct store *store, int64_t now, int64_t after, unsigned limit, GError **error)
{
	static const char sql[] = "SELECT " COLUMNS " FROM confirmation"
	                          " WHERE id > ?1 AND used_at IS NULL AND expires_at > "
	                          "?2 ORDER BY id LIMIT ?3";

	return record_load_all(
	    store, sql, &layout, error, SQL_INT(after), SQL_INT(now), SQL_INT(limit));
}
