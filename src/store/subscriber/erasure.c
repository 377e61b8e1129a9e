/*
 * erasure.c - taking a person out of every table.
 */
#include "store/subscriber/erasure.h"

#include "store/core/sql.h"

bool
erasure_delete_person(struct store *store, int64_t subscriber_id, GError **error)
{
	static const char sql_outbox[] = "DELETE FROM outbox WHERE subscriber_id = ?1";
	/* And what went to the address before it was a person's here. */
	static const char sql_system_mail[] =
	    "DELETE FROM outbox WHERE address_key ="
	    " (SELECT address_key FROM subscriber WHERE id = ?1)";
	/* What is in a digest goes with it. */
	static const char sql_digest[] = "DELETE FROM digest WHERE subscriber_id = ?1";
	static const char sql_delivered[] =
	    "DELETE FROM delivered WHERE subscriber_id = ?1";
	static const char sql_refused[] =
	    "DELETE FROM digest_rejected WHERE subscriber_id = ?1";
	static const char sql_subscription[] =
	    "DELETE FROM subscription WHERE subscriber_id = ?1";
	static const char sql_exec_count[] =
	    "DELETE FROM audit_log WHERE subscriber_id = ?1";
	/* Also those that the person asked for before being one. */
	static const char sql_confirmation[] =
	    "DELETE FROM confirmation WHERE subscriber_id = ?1 OR address_key ="
	    " (SELECT address_key FROM subscriber WHERE id = ?1)";
	static const char sql_pending[] =
	    "DELETE FROM pending_erasure WHERE address_key ="
	    " (SELECT address_key FROM subscriber WHERE id = ?1)";
	static const char sql_subscriber[] = "DELETE FROM subscriber WHERE id = ?1";
	static const char sql_erased[] =
	    "INSERT OR IGNORE INTO erased (number) VALUES (?1)";
	/* Filters that were taken away before are the person's words, too. */
	static const char sql_filter[] =
	    "DELETE FROM filter WHERE NOT EXISTS"
	    " (SELECT 1 FROM subscription s WHERE s.filter_id = filter.id)";
	/* Of letters that were handled nothing is left that names anybody. */
	static const char sql_inbox[] =
	    "DELETE FROM inbox WHERE state = 'quarantined' AND EXISTS"
	    " (SELECT 1 FROM"
	    "   (SELECT address FROM subscriber WHERE id = ?1"
	    "    UNION SELECT address FROM confirmation WHERE subscriber_id = ?1"
	    "    UNION SELECT recipient FROM outbox"
	    "     WHERE subscriber_id = ?1 AND recipient IS NOT NULL) s"
	    "  WHERE inbox.sender = s.address COLLATE NOCASE"
	    "   OR instr(inbox.raw, CAST(s.address AS BLOB)))";
	/* Where the second letter of a move went that was asked for. */
	static const char sql_others[] =
	    "DELETE FROM outbox WHERE subscriber_id IS NULL AND recipient IN"
	    " (SELECT recipient FROM confirmation WHERE subscriber_id = ?1)";
	struct sql_value id = SQL_INT(subscriber_id);

	return sql_exec(store, sql_inbox, error, id) &&
	       sql_exec(store, sql_others, error, id) &&
	       sql_exec(store, sql_outbox, error, id) &&
	       sql_exec(store, sql_system_mail, error, id) &&
	       sql_exec(store, sql_digest, error, id) &&
	       sql_exec(store, sql_delivered, error, id) &&
	       sql_exec(store, sql_refused, error, id) &&
	       sql_exec(store, sql_subscription, error, id) &&
	       sql_exec(store, sql_exec_count, error, id) &&
	       sql_exec(store, sql_confirmation, error, id) &&
	       sql_exec(store, sql_pending, error, id) &&
	       sql_exec(store, sql_subscriber, error, id) &&
	       sql_exec(store, sql_erased, error, id) &&
	       sql_exec(store, sql_filter, error);
}

bool
erasure_delete_address(struct store *store, const char *address_key,
    const char *address, unsigned *count, GError **error)
{
	static const char sql_outbox[] =
	    "DELETE FROM outbox WHERE subscriber_id IS NULL AND address_key = ?1";
	static const char sql_confirmation[] =
	    "DELETE FROM confirmation WHERE subscriber_id IS NULL AND address_key = ?1";
	static const char sql_pending[] =
	    "DELETE FROM pending_erasure WHERE address_key = ?1";
	static const char sql_inbox[] =
	    "DELETE FROM inbox WHERE state = 'quarantined' AND"
	    " (sender = ?1 COLLATE NOCASE OR instr(raw, CAST(?1 AS BLOB)))";
	struct sql_value key = SQL_TEXT(address_key);
	unsigned outbox, ticket, pending, mail;

	if (!sql_exec_count(store, sql_outbox, &outbox, error, key) ||
	    !sql_exec_count(store, sql_confirmation, &ticket, error, key) ||
	    !sql_exec_count(store, sql_pending, &pending, error, key) ||
	    !sql_exec_count(store, sql_inbox, &mail, error, SQL_TEXT(address)))
		return false;
	*count = outbox + ticket + pending + mail;
	return true;
}

bool
erasure_insert_pending(struct store *store, const char *address_key,
    const char *address, int64_t outbox_id, int64_t now, GError **error)
{
	static const char sql[] = "INSERT OR REPLACE INTO pending_erasure "
	                          "(address_key, address, outbox_id, at)"
	                          " VALUES (?1, ?2, ?3, ?4)";

	return sql_exec(store, sql, error, SQL_TEXT(address_key), SQL_TEXT(address),
	    SQL_INT(outbox_id), SQL_INT(now));
}

bool
erasure_find_pending(struct store *store, char **address, GError **error)
{
	/* One that is in doubt may be sent once more: it has not ended. */
	static const char sql[] = "SELECT f.address FROM pending_erasure f"
	                          " LEFT JOIN outbox o ON o.id = f.outbox_id"
	                          " WHERE o.id IS NULL OR o.ended_at IS NOT NULL"
	                          " ORDER BY f.at, f.address_key LIMIT 1";
	sql_auto *statement = sql_bind(store, sql, error);

	enum sql_step step = statement ? sql_step(statement, error) : SQL_STEP_FAILED;

	if (step == SQL_STEP_FAILED)
		return false;
	*address = step == SQL_STEP_ROW ? sql_dup_text(statement, 0) : NULL;
	return true;
}

bool
erasure_has_pending(struct store *store, bool *has, GError **error)
{
	static const char sql[] = "SELECT EXISTS (SELECT 1 FROM pending_erasure)";
	int64_t found;

	if (!sql_number(store, sql, &found, error))
		return false;
	*has = found == 1;
	return true;
}
