/*
 * confirmations.c - pending actions: double opt-in, undo, erasure.
 */
#include "store/subscriber/confirmations.h"

#include <string.h>

#include "base/error.h"
#include "store/core/enumeration.h"
#include "store/core/sql.h"

static const char *const purposes[] = {
    [CONFIRMATION_CONFIRM] = "confirm",
    [CONFIRMATION_UNDO] = "undo",
    [CONFIRMATION_ADDRESS] = "address",
    [CONFIRMATION_FORGET] = "forget",
};

void
confirmation_free(struct confirmation *confirmation)
{
	if (!confirmation)
		return;
	g_free(confirmation->hash);
	g_free(confirmation->address);
	g_free(confirmation->address_key);
	g_free(confirmation->recipient);
	g_free(confirmation->action);
	g_free(confirmation->details);
	g_free(confirmation);
}

const char *
confirmation_purpose_name(enum confirmation_purpose purpose)
{
	return purposes[purpose];
}

static enum confirmation_purpose
parse_purpose(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(purposes); i++)
		if (strcmp(purposes[i], name) == 0)
			return (enum confirmation_purpose)i;
	/* The schema allows no other value. */
	g_assert_not_reached();
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
	    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";

	if (!sql_exec(store, sql, error, SQL_TEXT(confirmation->hash),
	        SQL_TEXT(confirmation_purpose_name(confirmation->purpose)),
	        SQL_TEXT(confirmation->address), SQL_TEXT(confirmation->address_key),
	        SQL_TEXT(confirmation->recipient),
	        SQL_INT_OR_NULL(
	            confirmation->subscriber_id ? confirmation->subscriber_id : -1),
	        SQL_TEXT(confirmation->action), SQL_TEXT(confirmation->details),
	        SQL_INT(confirmation->made_at), SQL_INT(confirmation->expires_at)))
		return false;
	confirmation->id = sqlite3_last_insert_rowid(store->db);
	confirmation->used_at = -1;
	confirmation->questioned_at = -1;
	return true;
}

#define COLUMNS                                               \
	"id, hash, purpose, address, address_key, recipient," \
	" subscriber_id, action, details, made_at, expires_at, used_at, questioned_at"

static const struct enumeration_column enumerations[] = {
    {2, ENUMERATION_CONFIRMATION_PURPOSE, ENUMERATION_VALUE, 0}};

/* Load the current row of a statement stepped by ENUMERATION_STEP(). */
static struct confirmation *
read_row(sqlite3_stmt *statement)
{
	struct confirmation *confirmation = g_new0(struct confirmation, 1);

	confirmation->id = sql_get_int(statement, 0);
	confirmation->hash = sql_dup_text(statement, 1);
	confirmation->purpose =
	    parse_purpose((const char *)sqlite3_column_text(statement, 2));
	confirmation->address = sql_dup_text(statement, 3);
	confirmation->address_key = sql_dup_text(statement, 4);
	confirmation->recipient = sql_dup_text(statement, 5);
	confirmation->subscriber_id = MAX(sql_get_int(statement, 6), 0);
	confirmation->action = sql_dup_text(statement, 7);
	confirmation->details = sql_dup_text(statement, 8);
	confirmation->made_at = sql_get_int(statement, 9);
	confirmation->expires_at = sql_get_int(statement, 10);
	confirmation->used_at = sql_get_int(statement, 11);
	confirmation->questioned_at = sql_get_int(statement, 12);
	return confirmation;
}

static bool
find_one(sqlite3_stmt *statement, struct confirmation **confirmation, GError **error)
{
	enum sql_step step = statement
	                         ? ENUMERATION_STEP(statement, enumerations, error)
	                         : SQL_STEP_FAILED;

	if (step == SQL_STEP_FAILED)
		return false;
	*confirmation = step == SQL_STEP_ROW ? read_row(statement) : NULL;
	return true;
}

bool
confirmations_find(struct store *store, const char *hash,
    struct confirmation **confirmation, GError **error)
{
	static const char sql[] =
	    "SELECT " COLUMNS " FROM confirmation WHERE hash = ?1";
	sql_auto *statement = sql_bind(store, sql, error, SQL_TEXT(hash));

	return find_one(statement, confirmation, error);
}

bool
confirmations_find_id(
    struct store *store, int64_t id, struct confirmation **confirmation, GError **error)
{
	static const char sql[] = "SELECT " COLUMNS " FROM confirmation WHERE id = ?1";
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(id));

	return find_one(statement, confirmation, error);
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
	sql_auto *statement =
	    sql_bind(store, sql, error, SQL_TEXT(confirmation_purpose_name(purpose)),
	        SQL_TEXT(address_key), SQL_INT(now));

	return find_one(statement, confirmation, error);
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
	g_set_error(error, PB_ERROR, PB_ERROR_INPUT, "this was done already");
	return false;
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

GPtrArray *
confirmations_load_page(
    struct store *store, int64_t now, int64_t after, unsigned limit, GError **error)
{
	static const char sql[] = "SELECT " COLUMNS " FROM confirmation"
	                          " WHERE id > ?1 AND used_at IS NULL AND expires_at > "
	                          "?2 ORDER BY id LIMIT ?3";
	sql_auto *statement =
	    sql_bind(store, sql, error, SQL_INT(after), SQL_INT(now), SQL_INT(limit));
	g_autoptr(GPtrArray) page =
	    g_ptr_array_new_with_free_func((GDestroyNotify)confirmation_free);
	enum sql_step step;

	if (!statement)
		return NULL;
	while (
	    (step = ENUMERATION_STEP(statement, enumerations, error)) == SQL_STEP_ROW)
		g_ptr_array_add(page, read_row(statement));
	return step == SQL_STEP_DONE ? g_steal_pointer(&page) : NULL;
}

bool
confirmations_prune(struct store *store, int64_t before, unsigned limit,
    unsigned *count, GError **error)
{
	static const char sql[] =
	    "DELETE FROM confirmation WHERE id IN"
	    " (SELECT id FROM confirmation WHERE expires_at < ?1 LIMIT ?2)";

	return sql_exec_count(
	    store, sql, count, error, SQL_INT(before), SQL_INT(limit));
}
